"""One reader for every table: the same rows whatever the format, separator, encoding or compression."""

from __future__ import annotations

import bz2
import csv
import gzip
import os
import threading
from collections.abc import Callable, Iterator
from io import BufferedReader, BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather

from homonym.errors import InputError, OutputError, SettingsError
from homonym.io import tables
from homonym.io.arrow_messages import ArrowLayout
from homonym.io.inputs import Source
from homonym.io.tables import look_up, open_table, write_table
from tests.support.profiles import examples

ROWS = {"mention_id": ["W1#0", "W2#0", "W3#0"], "name": ['Doe, "J"', "two\nlines", "Müller"], "author": ["1", "", "3"]}
COLUMNS = list(ROWS)


def as_csv(rows: dict[str, list[str]], separator: str = ",", end: str = "\n") -> str:
    text = StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=end)
    writer.writerows([list(rows), *zip(*rows.values(), strict=True)])
    return text.getvalue()


def read(path: Path, columns: list[str] = COLUMNS, **options: Any) -> dict[str, list[Any]]:
    with open_table(path, "mention_id") as table:
        found: dict[str, list[Any]] = pa.Table.from_batches(list(table.batches(columns, **options))).to_pydict()
        return found


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, zstd])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_reads_csv_in_any_form(tmp_path: Path, pack: Callable[[bytes], bytes], encoding: str, separator: str) -> None:
    (tmp_path / "table").write_bytes(pack(as_csv(ROWS, separator).encode(encoding)))
    assert read(tmp_path / "table") == ROWS


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz", "t.jsonl", "t.jsonl.gz"])
def test_reads_what_it_writes_whatever_the_suffix(tmp_path: Path, name: str) -> None:
    table = pa.table(ROWS)
    write_table(tmp_path / name, table.schema, [table])
    renamed = (tmp_path / name).rename(tmp_path / "renamed.txt")
    assert {column: [cell or "" for cell in cells] for column, cells in read(renamed).items()} == ROWS


@pytest.mark.parametrize("compression", ["uncompressed", "lz4"])
def test_reads_arrow_files(tmp_path: Path, compression: str) -> None:
    feather.write_feather(pa.table(ROWS), tmp_path / "t", compression=compression)
    assert read(tmp_path / "t") == ROWS


@pytest.mark.parametrize(
    "text",
    [
        "sep=;\nmention_id;name;author\nW1#0;x;1\n",
        "\nsep=;\n\nmention_id;name;author\nW1#0;x;1\n",
        "\n \nmention_id,name,author\r\n\r\nW1#0,x,1\r\n",
        "mention_id,name,author\rW1#0,x,1\r",
        'mention_id, "name" ,author\nW1#0,x,1',
        '{"mention_id": "W1#0", "name": "x", "author": 1}\n',
        'garbage\n{"mention_id": "W1#0", "author": 1, "name": "x"}\n',
    ],
)
def test_tolerates_variants_of_text_tables(tmp_path: Path, text: str) -> None:
    (tmp_path / "t").write_text(text, newline="")
    assert read(tmp_path / "t", on_broken=lambda *_: None) == {"mention_id": ["W1#0"], "name": ["x"], "author": ["1"]}


def test_the_note_about_the_separator_is_no_header(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("sep=;\nmention_id;author\n")
    with open_table(tmp_path / "t", "mention_id") as table:
        assert table.columns == ["mention_id", "author"]
    (tmp_path / "t").write_text("sep=;\n")
    with (
        pytest.raises(InputError, match="t holds nothing but blank lines; check how it was made"),
        open_table(tmp_path / "t", "mention_id"),
    ):
        pass


@pytest.mark.parametrize(("lines", "form"), [(99, "jsonl"), (100, "csv")])
def test_json_lines_may_begin_with_some_lines_of_text(tmp_path: Path, lines: int, form: str) -> None:
    (tmp_path / "t").write_text("text\n\n" * lines + '{"mention_id": "a"}\n')
    with open_table(tmp_path / "t", "mention_id") as table:
        assert table.format == form


def test_names_of_columns_are_shown_in_part_if_they_are_long(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(",".join(["a" * 99] * 5) + "\n")
    with open_table(tmp_path / "t", "mention_id") as table, pytest.raises(InputError) as caught:
        table.require(["mention_id"])
    shown = ", ".join(["a" * 99] * 2)[:200]
    assert str(caught.value) == f"{tmp_path / 't'} has the columns {shown}; expected mention_id."


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_a_place_is_a_line_where_rows_are_lines(tmp_path: Path, name: str) -> None:
    rows = pa.table({"mention_id": ["a", "b\nb", "c"]})
    write_table(tmp_path / name, rows.schema, [rows])
    with open_table(tmp_path / name, "mention_id") as table:
        places = [table.place(row).removeprefix(f"{tmp_path / name}, ") for row in range(4)]
    assert (
        places
        == {
            "t.csv": ["line 2", "line 3", "line 5", "row 4"],
            "t.jsonl": ["line 1", "line 2", "line 3", "row 4"],
            "t.parquet": ["row 1", "row 2", "row 3", "row 4"],
        }[name]
    )


def test_a_missing_table_is_empty_and_a_damaged_one_an_error(tmp_path: Path) -> None:
    rows = pa.table({"id": ["a", "b"]})
    assert tables.read_or_empty(tmp_path / "t.parquet", rows.schema).equals(rows.slice(0, 0))
    write_table(tmp_path / "t.parquet", rows.schema, [rows])
    assert tables.read_or_empty(tmp_path / "t.parquet", rows.schema).equals(rows)
    content = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(content[:20] + b"?" + content[21:])
    with pytest.raises(InputError, match="run homonym check on the result"):
        tables.read_or_empty(tmp_path / "t.parquet", rows.schema)


def test_row_groups_with_some_texts_are_found(tmp_path: Path) -> None:
    texts = ["b", "d", "d", "f", None, None, "a", "z"]
    pq.write_table(pa.table({"text": texts}), tmp_path / "t.parquet", row_group_size=2)
    with pq.ParquetFile(tmp_path / "t.parquet") as file:
        found = {one: tables.row_groups_with(file, "text", pa.array([one])) for one in "abcdfhz~"}
        assert tables.row_groups_with(file, "text", pa.array(["z", "b"])) == [0, 3]
        assert tables.column_limits(file, 1, "text") == (b"d", b"f")
        assert tables.column_limits(file, 2, "text") is None
    assert found == {"a": [3], "b": [0], "c": [], "d": [0, 1], "f": [1], "h": [], "z": [3], "~": []}


def test_a_header_without_rows_is_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("mention_id,author")
    with open_table(tmp_path / "t", "mention_id") as table:
        assert table.columns == ["mention_id", "author"]
        assert [batch.num_rows for batch in table.batches(["author"])] in ([], [0])


def test_a_key_in_the_header_makes_it_csv_although_cells_look_like_json(tmp_path: Path) -> None:
    (tmp_path / "t").write_text('mention_id,author\nW1#0,"\n{""a"": 1}"\n')
    assert read(tmp_path / "t", ["author"]) == {"author": ['\n{"a": 1}']}


def test_types_other_than_strings_can_be_asked_for(tmp_path: Path) -> None:
    numbers = pa.table({"mention_id": ["a", "b"], "count": [1.5, 1e-7]})
    for name in ("t.parquet", "t.csv", "t.jsonl"):
        write_table(tmp_path / name, numbers.schema, [numbers])
        assert read(tmp_path / name, ["count"], types={"count": pa.float64()}) == {"count": [1.5, 1e-7]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('mention_id,author\n\n"a\nb",1\nm2\n', r"t, line 5: expected 2 columns, got 1; correct or remove the row\.$"),
        (
            '{"mention_id": "a", "author": "b"}\n\n{"mention',
            r"t, line 3: not valid JSON .*; correct or remove the line\.$",
        ),
        ('{"mention_id": "a", "author": [1]}\n', r"t, line 1: author: an id or label is a string or a number"),
        ('{\n"mention_id"\n', r"t, line 1: not valid JSON"),
        (" \n\n", "t holds nothing but blank lines"),
        ("PAR1 and nothing else", "t cannot be read as Parquet or Arrow .*; download or write it again"),
        ("ARROW1 and nothing else", "t cannot be read as Parquet or Arrow"),
        ("mention_id,person\na,b\n", "t has the columns mention_id, person; expected mention_id, author"),
    ],
)
def test_errors_are_one_sentence_with_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "t").write_text(text)

    def read_strictly() -> None:
        with open_table(tmp_path / "t", "mention_id") as table:
            table.require(["mention_id", "author"])
            list(table.batches(["mention_id", "author"]))

    with pytest.raises(InputError, match=message) as caught:
        read_strictly()
    assert len(str(caught.value).splitlines()) == 1


def test_rejects_compressed_parquet(tmp_path: Path) -> None:
    table = pa.table(ROWS)
    write_table(tmp_path / "t.parquet", table.schema, [table])
    (tmp_path / "t.gz").write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    with pytest.raises(InputError, match="decompress it first"):
        read(tmp_path / "t.gz")


def test_rejects_truncated_gzip(tmp_path: Path) -> None:
    packed = gzip.compress(as_csv({"mention_id": [os.urandom(9).hex() for _ in range(20_000)]}).encode())
    (tmp_path / "t").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match="truncated or damaged"):
        read(tmp_path / "t", ["mention_id"])


def test_broken_rows_can_be_skipped(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("mention_id,author\na,1\nb\nc,2,3\nd,4\n")
    skipped: list[tuple[int | None, str]] = []
    found = read(tmp_path / "t", ["mention_id"], on_broken=lambda number, reason: skipped.append((number, reason)))
    assert found == {"mention_id": ["a", "d"]}
    assert skipped == [(3, "expected 2 columns, got 1"), (4, "expected 2 columns, got 3")]


def test_reads_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(as_csv(ROWS).encode())))
    writer.start()
    with open_table(pipe, "mention_id") as table:
        assert pa.Table.from_batches(list(table.batches(COLUMNS))).to_pydict() == ROWS
        assert table.place(2) == f"{pipe}, row 3"
    writer.join()


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=20)


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=30), st.sampled_from([",", ";", "\t"]))
def test_cells_are_those_of_the_csv_module(rows: list[tuple[str, str]], separator: str) -> None:
    from tempfile import TemporaryDirectory

    rows = [(f"m{number}{first}", second) for number, (first, second) in enumerate(rows)]
    table = {"mention_id": [first for first, _ in rows], "author": [second for _, second in rows]}
    with TemporaryDirectory() as folder:
        Path(folder, "t").write_text(as_csv(table, separator), newline="", encoding="utf-8")
        assert read(Path(folder, "t"), list(table)) == table
        Path(folder, "t").write_bytes(b"".join(orjson.dumps({"mention_id": a, "author": b}) + b"\n" for a, b in rows))
        assert read(Path(folder, "t"), ["author"]) == {"author": [second or None for _, second in rows]}


def test_cells_do_not_depend_on_the_size_of_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"mention_id": [f"m{number}" for number in range(20_000)], "author": ["Müller\n,é"] * 20_000}
    (tmp_path / "t").write_text(as_csv(table), encoding="utf-8")
    for size in (997, 70_000, 1 << 26):
        monkeypatch.setattr(tables, "BATCH_BYTES", size)
        assert read(tmp_path / "t", list(table)) == table


@settings(max_examples=examples(200))
@given(
    texts=st.lists(st.none() | st.text(max_size=3), max_size=30),
    wanted=st.lists(st.none() | st.text(max_size=3), max_size=5),
    rows=st.integers(1, 40),
    statistics=st.booleans(),
    at_once=st.sampled_from([1, 200, 1 << 23]),
)
def test_look_up_finds_the_rows_with_some_values(
    texts: list[str | None], wanted: list[str | None], rows: int, statistics: bool, at_once: int
) -> None:
    """In any order, with row groups of any size, with and without their lowest and highest values."""
    table = pa.table({"number": pa.array(range(len(texts)), pa.int64()), "text": pa.array(texts, pa.string())})
    wanted += texts[::7]
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.parquet")
        pq.write_table(table, path, row_group_size=rows, write_statistics=statistics)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tables, "LOOKED_UP_BYTES", at_once)
            found = look_up(path, "text", pa.array(wanted, pa.string()), ["number"])
    known = {text for text in wanted if text is not None}
    assert found["number"].to_pylist() == [number for number, text in enumerate(texts) if text in known]


def test_look_up_refuses_what_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"broken.parquet cannot be read: .*; run homonym check on the result\."):
        look_up(tmp_path / "broken.parquet", "text", pa.array(["a"]))
    with pytest.raises(InputError, match=r"missing.parquet is missing; run homonym check"):
        look_up(tmp_path / "missing.parquet", "text", pa.array(["a"]))


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_reads_rows_that_are_large_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(tables, "_PIECE_BYTES", 10)
    path = tmp_path / "large.parquet"
    pq.write_table(pa.table({"text": [f"{number}" * 100 for number in range(rows)]}), path)
    found = list(tables.columnar_batches(str(path), ["text"], 1_000))
    assert pa.Table.from_batches(found).equals(pq.read_table(path))


MAPS = pa.array([[("a", 1)], [("b", 2)]], pa.map_(pa.string(), pa.int64()))


def test_row_groups_have_65536_rows_however_the_rows_arrive(tmp_path: Path) -> None:
    table = pa.table({"number": pa.array(range((1 << 17) + 1), pa.int64())})
    for number, parts in enumerate(([table], [table.slice(0, 7), table.slice(7)])):
        write_table(tmp_path / f"{number}.parquet", table.schema, parts)
    metadata = pq.read_metadata(tmp_path / "0.parquet")
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [1 << 16, 1 << 16, 1]
    assert (tmp_path / "0.parquet").read_bytes() == (tmp_path / "1.parquet").read_bytes()


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (pa.array(["ab", None, "ab", "c"]).dictionary_encode(), 5),
        (pa.array([], pa.string()).dictionary_encode(), 0),
        (pa.array([None], pa.string()).dictionary_encode(), 0),
        (pa.array(["ab", "", None]), 2),
        (pa.array([], pa.string()), 0),
        (pa.array([None], pa.large_string()), 0),
        (pa.array([b"abc"], pa.binary()), 3),
        (pa.array([["a", "bc"], [], None]), 15),
        (pa.array([["a"]], pa.large_list(pa.string())), 5),
        (pa.array([{"a": "bc", "b": "d"}, None]), 3),
        (pa.array([1, 2], pa.int64()), 16),
        (pa.nulls(3), 0),
        (MAPS, 2 * MAPS.get_total_buffer_size()),  # at most
    ],
)
def test_size_of_a_column_in_which_every_row_has_its_own_value(array: pa.Array, size: int) -> None:
    assert tables._expanded_size(array) == size


def test_reads_a_table_with_an_empty_row_group(tmp_path: Path) -> None:
    path = tmp_path / "some.parquet"
    table = pa.table({"number": pa.array([1, 2], pa.int64())})
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table.slice(0, 0))
        writer.write_table(table)
    assert pa.Table.from_batches(tables.columnar_batches(str(path), ["number"], 10)).equals(table)


@pytest.mark.parametrize(("rows", "expected"), [(5, [3, 3, 3]), (6, [6, 3]), (8, [6, 3]), (9, [9]), (10, [9])])
def test_small_batches_are_joined_up_to_the_number_of_rows(rows: int, expected: list[int]) -> None:
    parts = [pa.RecordBatch.from_pydict({"number": [1, 2, 3]})] * 3
    assert [batch.num_rows for batch in tables._gathered(parts, rows)] == expected


def test_rows_read_at_a_time_do_not_depend_on_the_place_in_the_file(tmp_path: Path) -> None:
    table = pa.table({"words": [["word" * 1000]] * 1000})
    pq.write_table(pa.concat_tables([table] * 3), tmp_path / "t.parquet", row_group_size=1000)
    metadata = pq.read_metadata(tmp_path / "t.parquet")
    chunks = [metadata.row_group(number).column(0) for number in range(3)]
    assert len({tables._chunk_rows(chunk, 1000) for chunk in chunks}) == 1


def write_arrow(path: Path, *batches: pa.RecordBatch) -> Path:
    with pa.ipc.new_file(path, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return path


def columnar(path: Path, columns: list[str]) -> list[Any]:
    with Source(path) as source:
        assert tables.columnar_columns(source) == tuple(pq.read_schema(path).names if path.suffix else columns)
        return list(tables.columnar_rows(source, columns))


def test_rows_of_columnar_files(tmp_path: Path) -> None:
    table = pa.table({"a": ["x", None, "x"], "b": [[1], [], None]})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    write_arrow(tmp_path / "t", *table.to_batches(max_chunksize=2))
    assert columnar(tmp_path / "t.parquet", ["b", "a"]) == columnar(tmp_path / "t", ["a", "b"]) == table.to_pylist()
    assert columnar(tmp_path / "t.parquet", ["a"]) == table.select(["a"]).to_pylist()
    with open_table(tmp_path / "t.parquet", "a") as first, open_table(tmp_path / "t", "a") as second:
        assert (first.format, first.columns, second.format, second.columns) == (
            "parquet",
            ["a", "b"],
            "arrow",
            ["a", "b"],
        )


def test_of_columns_with_one_name_the_first_value_counts(tmp_path: Path) -> None:
    arrays = [pa.array(["a", "", None, None]), pa.array(["b", "c", "d", None]), pa.array([1, 2, 3, 4])]
    write_arrow(tmp_path / "t", pa.RecordBatch.from_arrays(arrays, names=["x", "x", "y"]))
    with Source(tmp_path / "t") as source:
        found = list(tables.columnar_rows(source, ["x", "y"]))
    assert found == [{"x": "a", "y": 1}, {"x": "c", "y": 2}, {"x": "d", "y": 3}, {"x": None, "y": 4}]


@pytest.mark.parametrize(("rows", "gone"), [(1, "1 row is lost"), (3, "3 rows are lost")])
def test_a_part_that_cannot_be_read_is_reported_once_for_each_of_its_rows(tmp_path: Path, rows: int, gone: str) -> None:
    parts = [pa.table({"a": ["x" * 99] * size}) for size in (2, rows, 1)]
    path = tmp_path / "t.parquet"
    with pq.ParquetWriter(
        path, parts[0].schema, use_dictionary=False, compression="none", write_page_checksum=True
    ) as writer:
        for part in parts:
            writer.write_table(part)
    content = bytearray(path.read_bytes())
    page = pq.read_metadata(path).row_group(1).column(0)
    content[page.data_page_offset + page.total_compressed_size - 5] ^= 1
    path.write_bytes(content)
    found = columnar(path, ["a"])
    reason = found[2]
    assert found == [{"a": "x" * 99}] * 2 + [reason] * rows + [{"a": "x" * 99}]
    assert reason.startswith("row group 2 cannot be read (")
    assert reason.endswith(f"); {gone}")


def test_errors_after_the_last_row_of_a_part_are_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(file: pq.ParquetFile, number: int, columns: list[str]) -> Iterator[pa.RecordBatch]:
        yield from file.read_row_group(number, columns).to_batches()
        raise OSError("damaged end")

    pq.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "t.parquet")
    monkeypatch.setattr(tables, "_row_group", failing)
    reason = "row group 1 cannot be read (damaged end); 1 row is lost"
    assert columnar(tmp_path / "t.parquet", ["a"]) == [{"a": "x"}, {"a": "y"}, reason]


def test_parts_with_fewer_or_more_rows_than_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"a": ["x", "y", "z"]}), tmp_path / "t.parquet", row_group_size=1)
    more = {0: ["a", "b"], 1: ["c"], 2: []}
    monkeypatch.setattr(
        tables,
        "_row_group",
        lambda file, number, columns: [pa.record_batch({"a": pa.array(more[number], pa.string())})],
    )
    reason = "row group 3 ends before its last row; 1 row is lost"
    assert columnar(tmp_path / "t.parquet", ["a"]) == [{"a": "a"}, {"a": "b"}, {"a": "c"}, reason]


def test_record_batches_whose_description_is_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_arrow(tmp_path / "t", *[pa.RecordBatch.from_pydict({"a": [name]}) for name in "xyz"])
    monkeypatch.setattr(tables, "read_layout", lambda path: ArrowLayout(9, [1, None, 1]))
    reason = "record batch 2 cannot be read (its description is damaged); 1 row is lost"
    assert columnar(path, ["a"]) == [{"a": "x"}, reason, {"a": "z"}]
    with pytest.raises(pa.ArrowInvalid, match=r"^record batch 2 is damaged$"):
        list(tables.columnar_batches(str(path), ["a"], 10))


def test_values_that_python_does_not_have_are_lost_with_those_next_to_them(tmp_path: Path) -> None:
    batch = pa.RecordBatch.from_pydict({"a": pa.array([0, 2**62], pa.timestamp("us"))})
    reason = "this row and those next to it cannot be read (date value out of range)"
    assert columnar(write_arrow(tmp_path / "t", batch), ["a"]) == [reason] * 2


def test_files_that_are_not_columnar_are_damaged(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"PAR1 and nothing more")
    with Source(tmp_path / "t") as source:
        for read_file in (tables.columnar_columns, lambda source: list(tables.columnar_rows(source, ["a"]))):
            with pytest.raises(
                InputError, match=r"t cannot be read as Parquet or Arrow .*; download or write it again"
            ):
                read_file(source)


def test_parquet_is_read_from_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"mention_id": ["a"]}), "!t")
    assert read(Path("!t"), ["mention_id"]) == {"mention_id": ["a"]}
    content = Path("!t").read_bytes()
    Path("t.gz").write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match=r"t\.gz: compressed Parquet and Arrow files cannot be read; decompress it"):
        read(Path("t.gz"), ["mention_id"])
    Path("-").write_bytes(content)  # a file, but `-` means standard input
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BufferedReader(BytesIO(content))))
    os.mkfifo("pipe")
    for path, name in ((Path("-"), "standard input"), (Path("pipe"), "pipe")):
        if path.is_fifo():
            writer = threading.Thread(target=path.write_bytes, args=(content,))
            writer.start()
        with pytest.raises(InputError, match=f"^{name}: Parquet and Arrow are read from files only; save it"):
            read(path, ["mention_id"])
    writer.join()


def test_large_pieces_are_halved_down_to_single_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pa.RecordBatch.from_pydict({"a": pa.array(["x" * 10] * 5)})
    (tmp_path / "t").write_bytes(bytes(100))
    sizes = {}
    for most in (50, 49, 20, 19, 9):
        monkeypatch.setattr(tables, "_PIECE_BYTES", most)
        sizes[most] = [piece.num_rows for piece in tables._Expansion(str(tmp_path / "t")).pieces(batch)]
    assert sizes == {50: [5], 49: [2, 3], 20: [2, 1, 2], 19: [1] * 5, 9: [1] * 5}


def test_rows_of_many_row_groups_are_looked_up(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"id": [str(number) for number in range(60)], "x": list(range(60))})
    pq.write_table(table, path, row_group_size=3)
    assert look_up(path, "id", table["id"]) == table
    assert look_up(path, "id", pa.array(["7", "59", "0", "none"]))["x"].to_pylist() == [0, 7, 59]
    with pq.ParquetFile(path) as file:
        assert tables.row_groups_with(file, "id", pa.array(["59", "4", "5", "none"])) == [1, 19]
        assert tables.row_groups_with(file, "id", pa.array(["none"])) == []


def test_small_pieces_of_large_record_batches(tmp_path: Path) -> None:
    path = write_arrow(tmp_path / "t", pa.RecordBatch.from_pydict({"a": list(range(2050)), "b": ["x"] * 2050}))
    pieces = [one for one in tables._readable_batches(str(path), ["a"]) if isinstance(one, pa.RecordBatch)]
    assert [piece.num_rows for piece in pieces] == [1024, 1024, 2]
    assert pa.Table.from_batches(pieces).to_pydict() == {"a": list(range(2050))}


def test_text_that_can_be_a_formula_is_restored_only_in_csv_for_spreadsheets(tmp_path: Path) -> None:
    cells = pa.table({"mention_id": ["=a", "'=b", "'c"], "n": pa.array([-1, 2, 3], pa.int64())})
    for name, excel in (("a.csv", True), ("b.csv", False), ("c.csv.gz", True), ("d.parquet", True), ("e.jsonl", True)):
        write_table(tmp_path / name, cells.schema, [cells, cells], excel=excel)
        found = read(tmp_path / name, ["mention_id", "n"], types={"n": pa.int64()})
        assert found["mention_id"] == ["=a", "'=b", "'c"] * 2
        assert [int(one) for one in found["n"]] == [-1, 2, 3] * 2
    start = b'\xef\xbb\xbf"mention_id","n"\n"\'=a",-1\n"\'\'=b",2\n"\'c",3\n'
    assert (tmp_path / "a.csv").read_bytes() == start + start.partition(b"\n")[2]
    assert (tmp_path / "b.csv").read_bytes().startswith(b'"mention_id","n"\n"=a",-1\n"\'=b",2\n')
    (tmp_path / "b.csv").write_bytes(b'mention_id\n"\'=b"\n')
    assert read(tmp_path / "b.csv", ["mention_id"]) == {"mention_id": ["'=b"]}
    with open_table(tmp_path / "e.jsonl", "mention_id") as table:
        table.source.has_mark = True
        assert pa.Table.from_batches(table.batches(["mention_id"]))["mention_id"].to_pylist()[1] == "'=b"


def test_writing_to_parquet() -> None:
    def options(**types: pa.DataType) -> dict[str, Any]:
        writing = tables.parquet_writing(pa.schema(types))
        assert writing.schema == pa.schema(types)
        return dict(writing.options)

    usual = {"compression": "zstd", "use_dictionary": False, "write_page_checksum": True}
    assert options(a=pa.string(), record=pa.string(), b=pa.int64()) == {**usual, "write_statistics": ["a", "b"]}
    counts, numbers = pa.list_(pa.float32()), pa.list_(pa.int32())
    assert options(a=counts, b=numbers, c=pa.list_(pa.string()), d=pa.struct([("x", pa.int64())]), e=pa.string()) == {
        **usual,
        "write_statistics": ["e"],
        "use_dictionary": ["a.list.element"],
        "column_encoding": {"b.list.element": "BYTE_STREAM_SPLIT"},
    }


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz", "t.jsonl", "t.jsonl.gz", "t.txt", "csv", "t.CSV"])
def test_the_suffix_is_checked_before_any_work(tmp_path: Path, name: str) -> None:
    if name.startswith("t.") and name not in {"t.txt", "t.CSV"}:
        tables.require_table_path(tmp_path / name)
    else:
        with pytest.raises(
            OutputError, match=r"the suffix chooses the format; use one of \.parquet, \.csv, \.csv\.gz, "
        ):
            tables.require_table_path(tmp_path / name)
    if name in {"t.csv", "t.csv.gz"}:
        tables.require_excel_path(tmp_path / name)
    else:
        with pytest.raises(
            SettingsError, match=rf"^--excel is about CSV, but .*{name} is another format; end its name"
        ):
            tables.require_excel_path(tmp_path / name)
    with pytest.raises(OutputError):
        tables.require_table_path(tmp_path / "missing" / "t.csv")


def test_cells_as_text(tmp_path: Path) -> None:
    assert [tables.scalar_text(one) for one in ("a", "", None, 0, 1.5, -3)] == ["a", None, None, "0", "1.5", "-3"]
    for wrong in (True, ["a"], {"a": 1}):
        with pytest.raises(ValueError, match="an id or label is a string or a number; got "):
            tables.scalar_text(wrong)
    (tmp_path / "t").write_text('{"mention_id": "a", "x": [1]}\n{"mention_id": 2, "x": true}\n{"mention_id": ""}\n')
    found = read(tmp_path / "t", ["mention_id", "x"], unchecked={"x"})
    assert found == {"mention_id": ["a", "2", None], "x": ["[1]", "True", None]}
    assert tables.has_text(pa.array(["a", "", None])).to_pylist() == [True, False, False]


def test_broken_lines_of_json_are_reported_for_each_column(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(
        '{"mention_id": [], "x": true}\nno\n{"mention_id": "a", "x": {}}\n{"mention_id": "b"}\n'
    )
    broken: list[tuple[int | None, str]] = []
    with open_table(tmp_path / "t", "mention_id") as table:
        rows = table.batches(["mention_id", "x"], on_broken=lambda number, reason: broken.append((number, reason)))
        assert pa.Table.from_batches(rows).to_pydict() == {"mention_id": ["b"], "x": [None]}
    kind = "an id or label is a string or a number; got"
    assert broken == [
        (1, f"mention_id: {kind} []"), (1, f"x: {kind} True"), (2, broken[2][1]), (3, f"x: {kind} {{}}")
    ]  # fmt: skip


def test_lists_stay_lists(tmp_path: Path) -> None:
    for kind in (pa.list_(pa.int64()), pa.large_list(pa.int64())):
        write_arrow(tmp_path / "t", pa.RecordBatch.from_arrays([pa.array([[1, 2], None], kind)], names=["mention_id"]))
        assert read(tmp_path / "t", ["mention_id"]) == {"mention_id": [["1", "2"], None]}


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("text", ["", "abcdefg", "äöü€😀"])
def test_blocks_are_handed_out_in_any_size(tmp_path: Path, size: int, text: str) -> None:
    (tmp_path / "t").write_text(text, encoding="utf-8")
    with Source(tmp_path / "t") as source:
        stream = tables._Utf8Stream(source)
        parts = list(iter(lambda: stream.read(size), b""))
        assert not stream.closed
        stream.close()
        assert stream.closed
    assert b"".join(parts) == f"{text}\n".encode()
    assert [len(part) for part in parts[:-1]] == [size] * (len(parts) - 1)
    assert list(tables._valid_utf8([b"a\xc3", b"\xa4", b"b\xff", b"\xe2\x82"])) == [
        b"a",
        "ä".encode(),
        "bÿ".encode(),
        b"",
        "â‚".encode(),
    ]


def test_columns_read_as_dictionaries_are_texts_outside_of_lists(tmp_path: Path) -> None:
    table = pa.table({"a": ["x"] * 9, "b": ["x"] * 9, "l": [["x"]] * 9, "n": [1] * 9, "p": ["x"] * 9})
    pq.write_table(table, tmp_path / "t", use_dictionary=["a", "b", "l.list.element", "n"], row_group_size=5)
    metadata = pq.read_metadata(tmp_path / "t")
    names = ["a", "b", "l.list.element", "n", "p"]
    assert tables._dictionary_columns(metadata, names) == ["a", "b"]
    assert tables._dictionary_columns(metadata, ["b", "n", "p"]) == ["b"]
    assert tables._dictionary_columns(metadata, []) == []


class Chunk(NamedTuple):
    """The description of a column in a row group, as Arrow gives it."""

    physical_type: str = "BYTE_ARRAY"
    path_in_schema: str = "a"
    total_uncompressed_size: int = 1 << 20
    total_compressed_size: int = 1 << 18
    num_values: int = 1000
    has_dictionary_page: bool = False
    dictionary_page_offset: int = 0
    data_page_offset: int = 0
    encodings: tuple[str, ...] = ("PLAIN",)


LISTED = Chunk(path_in_schema="a.list.element", has_dictionary_page=True, dictionary_page_offset=100)


@pytest.mark.parametrize(
    ("chunk", "rows", "expected"),
    [
        (Chunk(), 1000, 256_000),
        (Chunk(total_uncompressed_size=0), 1, 1 << 28),
        (Chunk("INT64"), 1000, 33_554_432),
        (Chunk("DOUBLE", num_values=0), 10, 10 << 28),
        (Chunk("FIXED_LEN_BYTE_ARRAY"), 1000, 256_000),
        (Chunk(has_dictionary_page=True), 1000, 256_000),
        (Chunk(encodings=("RLE", "DELTA_BYTE_ARRAY")), 1000, 2048),
        # a dictionary of 100 bytes that expands to four times as much, for each of 1000 values
        (LISTED._replace(data_page_offset=200), 10, 2560),
        (LISTED._replace(data_page_offset=20_100, num_values=4000), 10, (1 << 31) * 10 // (80_000 * 4000)),
        (LISTED._replace(data_page_offset=1 << 20), 100, (1 << 31) * 100 // ((1 << 20) * 1000)),
        (LISTED._replace(data_page_offset=0), 1_000, 256_000),
        (LISTED._replace(data_page_offset=200, total_uncompressed_size=1 << 10), 10, 214_748),  # compressed in vain
        (
            LISTED._replace(data_page_offset=1 << 20, total_compressed_size=0),
            100,
            (1 << 31) * 100 // ((1 << 20) * 1000),
        ),
        (LISTED._replace(physical_type="FIXED_LEN_BYTE_ARRAY", path_in_schema="a", data_page_offset=1 << 20), 100, 204),
    ],
)
def test_rows_that_are_read_at_a_time(chunk: Chunk, rows: int, expected: int) -> None:
    assert tables._chunk_rows(chunk, rows) == expected


class Group(NamedTuple):
    """The description of a row group, as Arrow gives it."""

    num_rows: int
    columns: tuple[Chunk, ...]

    @property
    def num_columns(self) -> int:
        return len(self.columns)

    def column(self, number: int) -> Chunk:
        return self.columns[number]


def test_the_longest_values_of_the_columns_limit_the_rows() -> None:
    groups = [Group(1000, (Chunk(), Chunk(path_in_schema="b.list.element", total_uncompressed_size=1 << 30)))]
    groups += [Group(1000, (Chunk(total_uncompressed_size=1 << 28), Chunk(path_in_schema="b.list.element")))]
    assert tables._batch_rows(groups, ["a"], 1 << 20) == 1000
    assert tables._batch_rows(groups, ["a"], 999) == 999
    assert tables._batch_rows(groups, ["b"], 1 << 20) == tables._batch_rows(groups, ["b.list.element"], 1 << 20) == 250
    assert tables._batch_rows(groups, ["c"], 1 << 20) == 1 << 20
    assert tables._batch_rows(groups, ["c"], 15) == tables._batch_rows([], ["a"], 1) == 16
    assert tables._batch_rows([Group(0, (Chunk(total_uncompressed_size=1 << 20),))], ["a"], 1 << 20) == 256


def test_damaged_pages_of_results_are_noticed(tmp_path: Path) -> None:
    path, table = tmp_path / "t.parquet", pa.table({"id": ["x" * 99] * 9})
    write_table(path, table.schema, [table])
    assert tables.read_or_empty(path, table.schema) == look_up(path, "id", pa.array(["x" * 99])) == table
    page = pq.read_metadata(path).row_group(0).column(0)
    content = bytearray(path.read_bytes())
    content[page.data_page_offset + page.total_compressed_size - 1] ^= 1
    path.write_bytes(content)
    readers: list[Callable[[], pa.Table]] = [
        lambda: tables.read_or_empty(path, table.schema),
        lambda: look_up(path, "id", pa.array(["x" * 99])),
    ]
    for read_file in readers:
        with pytest.raises(InputError, match=r"t\.parquet cannot be read: .*CRC.*; run homonym check on the result"):
            read_file()
