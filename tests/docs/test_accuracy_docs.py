"""The page about accuracy: its tables are those of the script, and the script says what it cannot measure."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benchmarks.accuracy import DATA, SETS, TABLES, LabelledSet, Measured, address_pairs, baselines_table, f1_at, filled
from benchmarks.across_names import COLLECTIONS, COLUMNS

from homonym.clustering.arrays import Bags, Frequencies
from homonym.measures.agreement import NameScores
from homonym.measures.methods import LabelledNames
from tests.support.real_data import needs_real_data

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "accuracy.md"


def test_the_page_has_each_table_once_and_filled() -> None:
    found = re.findall(r"<!-- table (\w+) -->\n(.*?)<!-- end -->", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    columns = {"across": COLUMNS, **{name: columns for name, (columns, _) in TABLES.items()}}
    assert sorted(name for name, _ in found) == sorted(columns)
    for name, content in found:
        head, *lines = content.strip().splitlines()
        assert head == f"| {' | '.join(columns[name])} |"
        assert len({line.count("|") for line in [head, *lines]}) == 1, f"a line of the table {name} is cut"


def test_tables_take_their_places_and_nothing_else_changes() -> None:
    text = "a <!-- table x -->\nold\n<!-- end --> b <!-- table y --><!-- end --> c"
    assert filled(text, {"x": "1", "y": "2"}) == (
        "a <!-- table x -->\n1\n<!-- end --> b <!-- table y -->\n2\n<!-- end --> c"
    )
    with pytest.raises(SystemExit, match="one place for the table z"):
        filled(text, {"z": "3"})


@pytest.mark.slow
@pytest.mark.parametrize(("script", "sets"), [("accuracy", SETS), ("across_names", COLLECTIONS)])
def test_a_missing_set_is_named(tmp_path: Path, script: str, sets: tuple[LabelledSet, ...]) -> None:
    command = [sys.executable, "-m", f"benchmarks.{script}", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    for kind in sets:
        assert f"{kind.title}: not measured, there is no {tmp_path}" in done.stdout


def test_a_set_is_judged_over_mentions_or_over_sizes() -> None:
    names = _names(block=[3, 1], author=[0, 0, 1, 2])
    scores = NameScores(np.array([[0.5], [1.0]]), np.array([[1.0], [1.0]]))
    assert f1_at(scores, names, "mentions") == pytest.approx([2 * 0.625 / 1.625])
    assert f1_at(scores, names, "sizes") == pytest.approx([(2 * 0.5 / 1.5 + 1) / 2])


def test_pairs_with_one_address_are_counted_once_and_inside_names() -> None:
    # Mentions 0 and 1 share both addresses, 2 one of them under another label; 3 has it in another name.
    names = _names(block=[3, 1], author=[0, 0, 1, 0], bags=[[0, 1], [0, 1], [1], [1]])
    assert address_pairs(names) == (1, 3)


@pytest.mark.slow
@needs_real_data
@pytest.mark.parametrize("kind", SETS, ids=[kind.title for kind in SETS])
def test_baselines_are_as_the_page_says(kind: object, tmp_path: Path) -> None:
    measured = Measured.of(next(one for one in SETS if one is kind), DATA, tmp_path)
    written = PAGE.read_text(encoding="utf-8")
    for line in list(baselines_table(measured))[:3]:
        assert line in written, "run make accuracy"


def _names(block: list[int], author: list[int], bags: list[list[int]] | None = None) -> LabelledNames:
    """Names with so many mentions, by these authors, with e-mail addresses as their only features."""
    held = bags or [[] for _ in author]
    feature = np.array([one for bag in held for one in bag], np.int32)
    start = np.concatenate([[0], np.cumsum([len(bag) for bag in held])])
    return LabelledNames(
        key=[str(number) for number in range(len(block))],
        bags=Bags(np.concatenate([[0], np.cumsum(block)]), start, feature, np.ones(len(feature))),
        frequencies=Frequencies(("email",), np.array([0, 2]), np.array([4.0, 4.0]), np.array([8.0]), len(author)),
        author=np.array(author),
        written=[None] * len(author),
    )
