"""Where the real, labelled collections are. They are not part of the project."""

from __future__ import annotations

from pathlib import Path

#: The directory next to the project that holds real data.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SAMPLES = DATA / "samples"
