"""Files of settings that are wrong, huge, or made to exhaust the parser."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.errors import HomonymError
from homonym.settings import load_settings

HARMFUL = {
    "unknown_key": "unknown_key = 1",
    "wrong_type": "kappa = [1]",
    "not_a_number": "kappa = nan",
    "twice": "kappa = 1\nkappa = 2",
    "nested_lists": "kappa = " + "[" * 20_000 + "]" * 20_000,
    "dotted_key": ".".join(["a"] * 50_000) + " = 1",  # took 40 seconds and 10 GB
    "spaced_dotted_key": " . ".join(['"a"'] * 50_000) + " = 1",
    "long_number": "kappa = " + "9" * 5_000,
    "too_large": "#" * (17 << 20),
    "zero_bytes": "\0" * 10,
}


@pytest.mark.parametrize("text", HARMFUL.values(), ids=HARMFUL.keys())
def test_harmful_settings_are_refused_with_the_name_of_the_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(HomonymError, match=r"settings\.toml"):
        load_settings(path)


def test_a_weight_for_each_of_many_types_is_no_long_key(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("[weights]\n" + "".join(f'"t.{n}" = 0.001\n' for n in range(1_000)))
    assert len(load_settings(path).weights) == 1_000
