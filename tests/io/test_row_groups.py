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

from homonym.io import row_groups
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


def test_refuses_row_groups_that_do_not_lie_one_after_another(tmp_path: Path) -> None:
    rows = table([{"id": f"{one}", "words": [], "number": one} for one in range(3)])
    write_table(tmp_path / "a.parquet", SCHEMA, [rows], row_group=1)
    content = (tmp_path / "a.parquet").read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    footer = row_groups._Footer.parse(content[-8 - length : -8])
    for order in ([1, 0, 2], [1, 2], [0, 2]):
        with pytest.raises(UnusualLayoutError):
            row_groups._Footer.parse(footer.with_groups([footer.groups[one] for one in order]))
    assert row_groups._Footer.parse(footer.with_groups(footer.groups[:2])).groups == footer.groups[:2]


def test_a_source_that_is_cut_while_it_is_copied_is_unusual(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_groups, "_copied_by_system", lambda *_: 0)
    (tmp_path / "a").write_bytes(b"abc")
    with (tmp_path / "a").open("rb") as source, (tmp_path / "b").open("w+b") as target:
        row_groups._copy(source, target, 1, 2)
        target.seek(0)
        assert target.read() == b"bc"
        with pytest.raises(UnusualLayoutError):
            row_groups._copy(source, target, 1, 3)


@pytest.mark.parametrize("number", [1, 14, 15, 16, 300])
def test_all_row_groups_of_a_file_are_the_same_file(tmp_path: Path, number: int) -> None:
    rows = table([{"id": f"{one}", "words": [], "number": one} for one in range(number)])
    write_table(tmp_path / "a.parquet", SCHEMA, [rows], row_group=1)
    parts = splice_row_groups(tmp_path / "a.parquet", tmp_path / "b.parquet", range(number), WRITING)
    content = (tmp_path / "b.parquet").read_bytes()
    assert content == (tmp_path / "a.parquet").read_bytes()
    assert sum(part.size for part in parts) == len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert len(parts) == number + 1


@pytest.mark.parametrize(
    ("parts", "copied"),
    [
        (["new", 0, 1], [None, 0, 1]),
        ([1, 0], [1, 0]),
        ([0, 2], [0, 2]),
        ([0, 1, "new", "new", 2], [0, 1, None, None, 2]),
        (["empty", 0, 1, 2], [0, 1, 2]),
        ([0, 1, 2, "new"], [0, 1, 2, None]),
    ],
)
def test_returns_the_parts_of_the_new_file_and_their_places_in_the_source(
    tmp_path: Path, parts: list[int | str], copied: list[int | None]
) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    rows = [{"id": f"{one}" * 9, "words": ["w"], "number": one} for one in range(6)]
    write_table(source, SCHEMA, [table(rows)], row_group=2)
    tables = {"new": table(rows[3:4]), "empty": table([])}
    found = splice_row_groups(source, target, [tables[one] if isinstance(one, str) else one for one in parts], WRITING)
    metadata, place = pq.read_metadata(source), 4
    groups = [metadata.row_group(group) for group in range(3)]
    size = [sum(group.column(one).total_compressed_size for one in range(group.num_columns)) for group in groups]
    assert found[0] == (4, 0)
    assert [part.origin for part in found[1:]] == [None if one is None else 4 + sum(size[:one]) for one in copied]
    for part in found[1:]:
        if part.origin is not None:
            own, other = target.read_bytes()[place:], source.read_bytes()[part.origin :]
            assert own[: part.size] == other[: part.size]
        place += part.size
    content = target.read_bytes()
    assert place == len(content) - 8 - int.from_bytes(content[-8:-4], "little")


def test_many_new_row_groups_stay_in_order(tmp_path: Path) -> None:
    source, target = tmp_path / "a.parquet", tmp_path / "b.parquet"
    write_table(source, SCHEMA, [table([{"id": "old", "words": [], "number": 0}])])
    new = [table([{"id": "new", "words": [], "number": one}]) for one in range(1, 70)]
    splice_row_groups(source, target, [0, *new, 0], WRITING)
    assert pq.read_table(target)["number"].to_pylist() == [*range(70), 0]
    assert pq.read_metadata(target).num_row_groups == 71


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


# The compact protocol of Thrift, written literally: values as pairs of type and content.

Value = tuple[int, Any]


def encoded(kind: int, content: Any) -> bytes:
    """The bytes of a value; those of a Boolean are in its type."""
    if kind in {1, 2}:
        return b""
    if kind == 3:
        return bytes([content])
    if kind in {4, 5, 6}:
        return row_groups._signed(content)
    if kind == 7:
        return bytes(8)
    if kind == 8:
        return row_groups._unsigned(len(content)) + bytes(content)
    if kind in {9, 10}:
        inner, values = content
        size = len(values)
        head = bytes([size << 4 | inner]) if size < 15 else bytes([0xF0 | inner]) + row_groups._unsigned(size)
        return head + b"".join(b"\x01" if inner in {1, 2} else encoded(inner, value) for value in values)
    return structure(content)


def structure(fields: list[tuple[int, Value]]) -> bytes:
    """The bytes of a structure of fields, by number: a step of more than 15 has the number itself."""
    text, last = b"", 0
    for number, (kind, content) in fields:
        step = number - last
        head = bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + row_groups._signed(number)
        text, last = text + head + encoded(kind, content), number
    return text + b"\0"


def contents(kind: int) -> st.SearchStrategy[Any]:
    """Contents of a simple type."""
    if kind in {4, 5, 6}:
        return st.integers(-(1 << 40), 1 << 40)
    return {3: st.integers(0, 255), 8: st.binary(max_size=200)}.get(kind, st.none())


simple = st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8]).flatmap(lambda kind: st.tuples(st.just(kind), contents(kind)))
lists = st.sampled_from([1, 3, 5, 7, 8]).flatmap(
    lambda kind: st.tuples(st.sampled_from([9, 10]), st.tuples(st.just(kind), st.lists(contents(kind), max_size=20)))
)


def fields_of(values: st.SearchStrategy[Value]) -> st.SearchStrategy[list[tuple[int, Value]]]:
    """Fields with rising numbers."""
    return st.dictionaries(st.integers(1, 60), values, max_size=5).map(lambda found: sorted(found.items()))


structures: st.SearchStrategy[Value] = fields_of(simple | lists).map(lambda fields: (12, fields))
deep = fields_of(
    simple
    | lists
    | structures
    | st.lists(structures, max_size=17).map(lambda found: (9, (12, [fields for _, fields in found])))
)


@given(fields=deep, before=st.binary(max_size=3), after=st.binary(max_size=3))
@settings(max_examples=examples(500), deadline=None)
def test_fields_of_a_structure_are_found(fields: list[tuple[int, Value]], before: bytes, after: bytes) -> None:
    text = before + structure(fields) + after
    found = list(row_groups._fields(text, len(before)))
    assert [(field.number, field.kind) for field in found] == [(number, kind) for number, (kind, _) in fields]
    assert [text[field.begin : field.end] for field in found] == [encoded(*value) for _, value in fields]
    assert row_groups._end(text, len(before), 12) == len(text) - len(after)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        (1, [None] * 3),
        (2, [None] * 20),
        (3, [7, 8]),
        (6, [1, 300, -1]),
        (7, [None, None]),
        (8, [b"", b"ab"]),
        (12, [[(1, (3, 9))], []]),
        (6, []),
    ],
)
def test_end_of_a_list_is_found(kind: int, content: list[Any]) -> None:
    text = encoded(9, (kind, content)) + b"\xff"
    assert row_groups._end(text, 0, 9) == len(text) - 1


@given(value=st.integers(-(1 << 63), (1 << 63) - 1), before=st.binary(max_size=2))
@settings(max_examples=examples(300))
def test_numbers_are_read_as_they_were_written(value: int, before: bytes) -> None:
    text = before + row_groups._signed(value)
    assert row_groups._read_signed(text, len(before)) == (value, len(text))
    zigzag = 2 * value if value >= 0 else -2 * value - 1
    assert row_groups._read_unsigned(text, len(before)) == (zigzag, len(text))
    assert row_groups._end(text, len(before), 6) == len(text)


@pytest.mark.parametrize("value", [0, 1, -1, 63, 64, -64, -65, 8191, 8192, 1 << 40])
def test_numbers_are_as_short_as_they_can_be(value: int) -> None:
    zigzag = 2 * value if value >= 0 else -2 * value - 1
    assert len(row_groups._signed(value)) == max(1, -(-zigzag.bit_length() // 7))


@given(fields=deep, distance=st.integers(-5, 1 << 40))
@settings(max_examples=examples(300), deadline=None)
def test_only_places_are_moved(fields: list[tuple[int, Value]], distance: int) -> None:
    """Field 1 is a place, field 2 a structure or a list of structures with a place in field 3; 0 is no place."""
    kept = [one for one in fields if one[0] > 3]
    inner = [(3, (6, 100)), (4, (6, 7))]
    text = structure([(1, (6, 50)), (2, (9, (12, [inner, [(3, (6, 0))]]))), (3, (12, inner)), *kept])
    places: Any = {1: None, 2: {3: None}, 3: {3: None}}
    moved = row_groups._shifted(text, places, distance)
    there = [(3, (6, 100 + distance)), (4, (6, 7))]
    expected = [(1, (6, 50 + distance)), (2, (9, (12, [there, [(3, (6, 0))]]))), (3, (12, there)), *kept]
    assert moved == structure(expected)
