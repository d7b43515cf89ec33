"""Parquet files with some row groups replaced: any reader gets the rows of a file that was written as a whole."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.io.row_groups import UnusualLayoutError, splice_row_groups
from homonym.io.tables import parquet_writing, write_table
from tests.support.profiles import examples

SCHEMA = pa.schema([("id", pa.string()), ("words", pa.list_(pa.string())), ("number", pa.int64())])
WRITING = parquet_writing(SCHEMA)

row: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "id": st.text(max_size=5),
        "words": st.none() | st.lists(st.text(max_size=5), max_size=3),
        "number": st.integers(-9, 9),
    }
)


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


@given(rows=st.lists(row, max_size=60), data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_copied_and_new_row_groups_are_read_like_any_others(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "a.parquet"), Path(folder, "b.parquet")
        write_table(source, SCHEMA, [table(rows)], row_group=3)
        number = pq.read_metadata(source).num_row_groups
        old = st.integers(0, number - 1) if number else st.nothing()
        parts = data.draw(st.lists(old | st.lists(row, max_size=4).map(table), max_size=20))
        splice_row_groups(source, target, parts, WRITING)
        with pq.ParquetFile(source) as file:
            expected = pa.concat_tables(
                [SCHEMA.empty_table(), *(file.read_row_group(one) if isinstance(one, int) else one for one in parts)]
            )
        assert pq.read_table(target).equals(expected)
        assert pq.read_metadata(target).num_rows == len(expected)
        with duckdb.connect() as connection:
            counted = connection.execute("SELECT count(*), sum(number) FROM read_parquet(?)", [str(target)]).fetchall()
        assert counted == [(len(expected), sum(expected["number"].to_pylist()) if len(expected) else None)]


def test_splicing_twice_gives_the_bytes_of_splicing_once(tmp_path: Path) -> None:
    source, rows = tmp_path / "a.parquet", [{"id": str(number), "words": [], "number": number} for number in range(50)]
    write_table(source, SCHEMA, [table(rows)], row_group=2)
    splice_row_groups(source, tmp_path / "b.parquet", [table(rows[:3]), *range(1, 25)], WRITING)
    splice_row_groups(tmp_path / "b.parquet", tmp_path / "c.parquet", [table(rows[:2]), *range(1, 25)], WRITING)
    assert (tmp_path / "c.parquet").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("number", [1, 14, 15, 16, 300])
def test_any_number_of_row_groups_is_copied(tmp_path: Path, number: int) -> None:
    rows = table([{"id": f"{one}" * 40, "words": ["w"] * (one % 5), "number": -one} for one in range(number)])
    write_table(tmp_path / "a.parquet", SCHEMA, [rows], row_group=1)
    new = table([{"id": "new", "words": None, "number": 1 << 40}])
    splice_row_groups(tmp_path / "a.parquet", tmp_path / "b.parquet", [new, *range(number)], WRITING)
    assert pq.read_table(tmp_path / "b.parquet").equals(pa.concat_tables([new, rows]))
    assert pq.read_metadata(tmp_path / "b.parquet").num_row_groups == number + 1


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        (["new", 0, 1], 0),
        ([1, 0], 0),
        ([0, 2], 1),
        ([0, 1, "new", 2], 2),
        (["empty", 0, 1, 2], 3),
        ([0, 1, 2, "new"], 3),
    ],
)
def test_returns_how_many_bytes_at_the_beginning_are_those_of_the_source(
    tmp_path: Path, parts: list[int | str], kept: int
) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    rows = [{"id": f"{one}" * 9, "words": ["w"], "number": one} for one in range(6)]
    write_table(source, SCHEMA, [table(rows)], row_group=2)
    tables = {"new": table(rows[3:4]), "empty": table([])}
    same = splice_row_groups(source, target, [tables[one] if isinstance(one, str) else one for one in parts], WRITING)
    metadata = pq.read_metadata(source)
    groups = [metadata.row_group(group) for group in range(kept)]
    sizes = [group.column(column).total_compressed_size for group in groups for column in range(group.num_columns)]
    assert same == 4 + sum(sizes)
    assert target.read_bytes()[:same] == source.read_bytes()[:same]


def test_row_groups_are_copied_where_the_system_cannot_do_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table([{"id": "a", "words": ["b"], "number": one} for one in range(9)])
    write_table(tmp_path / "a.parquet", SCHEMA, [rows], row_group=3)
    splice_row_groups(tmp_path / "a.parquet", tmp_path / "b.parquet", [2, 0], WRITING)

    def refuse(*_: Any) -> int:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("os.copy_file_range", refuse)
    splice_row_groups(tmp_path / "a.parquet", tmp_path / "c.parquet", [2, 0], WRITING)
    monkeypatch.delattr("os.copy_file_range")
    splice_row_groups(tmp_path / "a.parquet", tmp_path / "d.parquet", [2, 0], WRITING)
    for name in ("c", "d"):
        assert (tmp_path / f"{name}.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_refuses_other_schemas_and_page_indexes(tmp_path: Path) -> None:
    rows = table([{"id": "a", "words": ["b"], "number": 1}])
    pq.write_table(rows.rename_columns(["id", "words", "other"]), tmp_path / "named.parquet")
    pq.write_table(rows, tmp_path / "indexed.parquet", write_page_index=True)
    for name in ("named", "indexed"):
        with pytest.raises(UnusualLayoutError):
            splice_row_groups(tmp_path / f"{name}.parquet", tmp_path / "b.parquet", [0, rows], WRITING)
    assert not (tmp_path / "b.parquet").exists()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 40 + b"\x28\0\0\0PAR1", b"x" * 100])
def test_refuses_damaged_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(UnusualLayoutError):
        splice_row_groups(tmp_path / "a.parquet", tmp_path / "b.parquet", [], WRITING)
    assert not (tmp_path / "b.parquet").exists()
