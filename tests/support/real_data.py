"""Real, labelled collections, which are not part of the project. Tests that need them are skipped without them."""

from __future__ import annotations

from pathlib import Path

import pytest

#: The directory next to the project that holds real data.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SAMPLES = DATA / "samples"

needs_real_data = pytest.mark.skipif(not DATA.is_dir(), reason="there is no labelled data in ../shared/data")
