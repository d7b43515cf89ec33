"""The file of constraint conflicts: written, read and replaced block by block."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.constraints.conflicts import ConstraintConflict, read_conflicts, replace_conflicts, write_conflicts

DOE = ConstraintConflict("name", "DOE, J", ("a#0", "b#0"), "a#0 and b#0 have different names.")
ROE = ConstraintConflict("orcid", "ROE, R", ("c#0", "d#1", "e#2"), 'c#0 and d#1, "both"\nof one author.')
ZOE = ConstraintConflict("document", "ZOË, Z", ("f#0",), "=1+1")


@pytest.mark.parametrize("excel", [True, False])
def test_conflicts_are_read_as_they_were_written(tmp_path: Path, excel: bool) -> None:
    path = tmp_path / "conflicts.csv"
    assert read_conflicts(path) == []
    write_conflicts(path, [DOE, ROE], excel=excel)
    assert read_conflicts(path) == [DOE, ROE]
    write_conflicts(path, [])
    assert not path.exists()


def test_damaged_rows_of_conflicts_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "conflicts.csv"
    write_conflicts(path, [DOE])
    with path.open("a") as stream:
        stream.write("name,B\nname,B,a#0,what,more\n\n")
    assert read_conflicts(path) == [DOE]


def test_conflicts_of_some_blocks_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "conflicts.csv"
    write_conflicts(path, [DOE, ROE, ZOE])
    new = ConstraintConflict("pair", "ROE, R", ("c#0", "x#0"), "new")
    replace_conflicts(path, {"ROE, R"}, {"c#0", "x#0"}, [new])
    assert read_conflicts(path) == [DOE, new, ZOE]
    replace_conflicts(path, {"ROE, R"}, set(), [])
    assert read_conflicts(path) == [DOE, ZOE]


def test_conflicts_of_other_blocks_that_name_a_mention_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "conflicts.csv"
    write_conflicts(path, [DOE, ROE, ZOE])
    replace_conflicts(path, {"POE, E"}, {"b#0", "nothing"}, [])
    assert read_conflicts(path) == [ROE, ZOE]


def test_conflicts_are_in_the_order_of_blocks(tmp_path: Path) -> None:
    path = tmp_path / "conflicts.csv"
    write_conflicts(path, [ROE])
    replace_conflicts(path, {"DOE, J", "ZOË, Z"}, set(), [ZOE, DOE])
    assert read_conflicts(path) == [DOE, ROE, ZOE]
    replace_conflicts(path, {"DOE, J", "ROE, R", "ZOË, Z"}, set(), [])
    assert not path.exists()
