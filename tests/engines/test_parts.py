"""Parts of the local engine as checkpoints: written as a whole, found by their key, removed if they are not used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from homonym.collection.parts import Chunk, PartReport
from homonym.collection.statistics import GivenStatistics
from homonym.engines.local_checkpoints import (
    encoding_key,
    find_part,
    part_name,
    remove_other_parts,
    table_key,
    write_part_checkpoint,
)
from homonym.records.model import Problem
from homonym.records.parsing.splitting import Raw
from homonym.runtime.checkpoints import Manifest
from homonym.settings import Settings

REPORT = PartReport(
    read=3, records=2, mentions=5, problems=[Problem("a.jsonl", 1, "field", "wrong")], rejects=[b'{"id": 1}']
)


def write_bags(chunk: Chunk, settings: Settings, folder: Path, *, strict: bool) -> PartReport:
    for name in ("bags", "mentions"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / f"{chunk.sequence:015d}.parquet").write_text(f"{name} of {chunk.file}")
    return REPORT


def fail(chunk: Chunk, settings: Settings, folder: Path, *, strict: bool) -> PartReport:
    (folder / "half").touch()
    raise KeyboardInterrupt


def write(work: Path, sequence: int, writer: Any = write_bags, key: str = "key") -> list[str]:
    chunk = Chunk("a.jsonl", sequence, [Raw(1, b"{}")])
    return write_part_checkpoint(writer, chunk, Settings(), Manifest(work), key, strict=False).files


def test_a_part_is_found_by_its_key_with_its_report(tmp_path: Path) -> None:
    files = write(tmp_path, 3)
    assert files == ["bags/000000000000003.parquet", "mentions/000000000000003.parquet"]
    found = find_part(Manifest(tmp_path), 3, "key")
    assert found is not None
    assert (found.report, found.files) == (REPORT, files)
    assert find_part(Manifest(tmp_path), 3, "other") is None
    assert find_part(Manifest(tmp_path), 2, "key") is None


def test_a_part_that_fails_leaves_no_unfinished_files_and_those_before_it(tmp_path: Path) -> None:
    write(tmp_path, 3)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, 4, fail)
    assert find_part(Manifest(tmp_path), 3, "key") is not None
    assert not [path for path in tmp_path.rglob("*") if path.name == "half"]


def test_parts_that_are_not_used_are_removed(tmp_path: Path) -> None:
    written = [file for sequence in range(4) for file in write(tmp_path, sequence)]
    used = {file for file in written if file.endswith(("1.parquet", "2.parquet"))} - {
        "mentions/000000000000002.parquet"
    }
    remove_other_parts(tmp_path, used, {part_name(1), part_name(2)})
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.parquet")} == used
    assert sorted(Manifest(tmp_path).names("read")) == [part_name(1), part_name(2)]
    remove_other_parts(tmp_path, set(), set())
    assert not (tmp_path / "bags").exists()
    assert not Manifest(tmp_path)


def test_names_of_parts_are_in_order() -> None:
    assert sorted(map(part_name, range(0, 2000, 7))) == list(map(part_name, range(0, 2000, 7)))


def test_path_number_and_content_of_a_table_are_part_of_its_key(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("one")
    keys = [table_key(tmp_path / "a", 0), table_key(tmp_path / "a", 1), table_key(tmp_path / "b", 0)]
    assert table_key(tmp_path / "a", 0) == keys[0]
    (tmp_path / "a").write_text("two")
    assert len({*keys, table_key(tmp_path / "a", 0)}) == 4


def test_parts_statistics_and_background_are_part_of_the_key_of_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    (tmp_path / "b").write_text("two")
    given = GivenStatistics(tmp_path / "a", 10, {"term": 2.0})
    keys = [
        encoding_key(["x", "y"], None),
        encoding_key(["y", "x"], None),
        encoding_key(["x"], None),
        encoding_key(["x", "y"], None, background=True),
        encoding_key(["x", "y"], given),
        encoding_key(["x", "y"], replace(given, path=tmp_path / "b")),
        encoding_key(["x", "y"], replace(given, mentions=11)),
        encoding_key(["x", "y"], replace(given, mass={"term": 3.0})),
    ]
    assert len({*keys}) == len(keys)
    assert encoding_key(["x", "y"], None, background=False) == keys[0]
