"""Known labels, from whatever file carries them, and the mentions of a result that they speak about.

Documents, mentions, CSV and Parquet are told apart by content. Everything streams: of a whole catalogue only the
labelled mentions are kept.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homonym.errors import InputError
from homonym.evaluation.measures import Codes
from homonym.files import read_lines, require_files
from homonym.records.documents import load_object
from homonym.records.problems import BrokenRecordError
from homonym.schema import GOLD
from homonym.wording import first_line

Format = Literal["parquet", "csv", "jsonl"]
OnBroken = Callable[[int | None], None]
"""Called for each line that cannot be parsed, with its number where it is known."""

ROWS_PER_BATCH = 1 << 20
RESULT_COLUMNS = ("mention_id", "block", "author_id")
"""What a result must hold to be compared with labels."""

RESULT = pa.schema([(column, pa.string()) for column in RESULT_COLUMNS])

LABEL_COLUMNS = ("author", "author_id")
"""Columns that may hold the label, the first one present counts."""

EXPECTED = "expected documents or mentions as JSON lines, or CSV, TSV or Parquet with mention_id and author"


@dataclass(frozen=True)
class Gold:
    """Labels with each mention once (`schema.GOLD`), and how many lines could not be parsed."""

    table: pa.Table
    skipped: int


def read_gold(path: Path | str) -> Gold:
    """Read which mention belongs to which person; mentions without a label are left out.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "gold.jsonl")
    ...     _ = path.write_text('{"id": "W1", "authors": [{"name": "Doe, J"}, {"name": "Roe, R", "author": "R1"}]}')
    ...     read_gold(path).table.to_pylist()
    [{'mention_id': 'W1#1', 'author': 'R1'}]
    """
    path = Path(path)
    require_files([path])
    broken: list[int | None] = []
    batches = _json_labels(path, broken.append) if format_of(path) == "jsonl" else _column_labels(path, broken.append)
    table = pa.Table.from_batches(batches, schema=GOLD)
    if not table.num_rows:
        unread = f" ({len(broken)} lines could not be parsed)" if broken else ""
        raise InputError(f"{path} holds no label{unread}; {EXPECTED}.")
    return Gold(_each_once(table, path), len(broken))


@dataclass(frozen=True, eq=False)
class Matched:
    """Codes of the mentions that have both a label and an author, and the counts of those that have only one."""

    names: Codes
    authors: Codes
    clusters: Codes
    mentions_without_label: int
    labels_without_mention: int


def match(authors: Path, gold: Gold) -> Matched:
    """Join a result with labels by mention; only labelled mentions are kept in memory."""
    labelled = gold.table["mention_id"]
    rows: list[pa.Array] = []
    kept: list[pa.RecordBatch] = []
    seen = 0
    for batch in author_batches(authors):
        row = pc.index_in(batch["mention_id"], value_set=labelled)
        rows.append(row.drop_null())
        kept.append(batch.filter(row.is_valid()))
        seen += batch.num_rows
    row, table = pa.chunked_array(rows, pa.int32()).to_numpy(), pa.Table.from_batches(kept, RESULT)
    _require_each_once(row, labelled, authors)
    return Matched(
        names=_codes(table["block"]),
        authors=_codes(gold.table["author"])[row],
        clusters=_codes(table["author_id"]),
        mentions_without_label=seen - len(row),
        labels_without_mention=len(labelled) - len(row),
    )


def author_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield mention_id, block and author_id of a result (Parquet, CSV or JSON lines), all as strings."""
    if format_of(path) == "jsonl":
        yield from _json_authors(path)
        return
    present = columns_of(path)
    if missing := [column for column in RESULT_COLUMNS if column not in present]:
        raise InputError(_lacks(str(path), missing, present))
    for batch in column_batches(path, RESULT_COLUMNS, None):
        if any(column.null_count for column in batch.columns):
            raise InputError(
                f"{path} has rows without {', '.join(RESULT_COLUMNS[:-1])} or {RESULT_COLUMNS[-1]}; each row needs all."
            )
        yield batch


def _json_authors(path: Path) -> Iterator[pa.RecordBatch]:
    def broken(number: int | None) -> None:
        raise InputError(f"{path}, line {number} is not a JSON object; write the result again.")

    def rows() -> Iterator[tuple[str, ...]]:
        for number, row in json_rows(path, broken):
            if missing := [column for column in RESULT_COLUMNS if not isinstance(row.get(column), str | int)]:
                raise InputError(_lacks(f"{path}, line {number}", missing, list(row)))
            yield tuple(str(row[column]) for column in RESULT_COLUMNS)

    yield from batches_of(rows(), RESULT)


def _lacks(where: str, missing: list[str], present: list[str]) -> str:
    expected, found = ", ".join(RESULT_COLUMNS), ", ".join(present) or "nothing"
    return (
        f"{where} lacks {', '.join(missing)}: expected {expected}, found {found}; "
        "give the file that disambiguate or cluster wrote."
    )


def _require_each_once(row: Codes, labelled: pa.ChunkedArray, path: Path) -> None:
    times = np.bincount(row, minlength=1)
    twice = int(times.argmax())
    if times[twice] > 1:
        raise InputError(f"{path} has mention {labelled[twice]} {times[twice]} times; each may have one author only.")


def _codes(column: pa.ChunkedArray) -> Codes:
    codes: Codes = column.dictionary_encode().unify_dictionaries().combine_chunks().indices.to_numpy()
    return codes


def format_of(path: Path) -> Format:
    """Tell Parquet, CSV (any of tab, comma, semicolon) and JSON lines apart by what the file begins with."""
    with path.open("rb") as stream:
        if stream.read(4) == b"PAR1":
            return "parquet"
    start = [line.text for line in islice(read_lines(path), 100)]
    if start and "mention_id" in _header(start[0])[0]:
        return "csv"
    if any(text.lstrip().startswith(b"{") for text in start):
        return "jsonl"
    return "csv"


def columns_of(path: Path) -> list[str]:
    """Name the columns of a Parquet or CSV file."""
    if format_of(path) == "parquet":
        with _readable(path):
            return list(_parquet(path).schema_arrow.names)
    return _csv_header(path)[0]


def column_batches(path: Path, columns: Sequence[str], on_broken: OnBroken | None) -> Iterator[pa.RecordBatch]:
    """Yield columns of a Parquet or CSV file as strings, in batches; without `on_broken` a broken row is an error."""
    schema = pa.schema([(column, pa.string()) for column in columns])
    with _readable(path):
        for batch in _raw_batches(path, columns, on_broken):
            # Integers are as good an id as strings; everything after this compares strings.
            yield pa.RecordBatch.from_arrays([batch[column].cast(pa.string()) for column in columns], schema=schema)


def json_rows(path: Path, on_broken: OnBroken) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the JSON objects of a file with their line numbers."""
    for line in read_lines(path):
        try:
            row = load_object(line.text)
        except BrokenRecordError:
            on_broken(line.number)
        else:
            yield line.number, row


def batches_of(rows: Iterator[tuple[str, ...]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Pack rows of strings into batches."""
    while batch := list(islice(rows, ROWS_PER_BATCH)):
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in zip(*batch, strict=True)], schema=schema)


def as_text(value: object) -> str | None:
    """Give an id or label as a string: numbers are written out, null and the empty string are none.

    >>> as_text(17), as_text("a"), as_text(""), as_text(None)
    ('17', 'a', None, None)
    """
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"an id or label is a string or a number; got {value!r}")


def _json_labels(path: Path, on_broken: OnBroken) -> Iterator[pa.RecordBatch]:
    def pairs() -> Iterator[tuple[str, str]]:
        for number, row in json_rows(path, on_broken):
            try:
                yield from labels_of(row)
            except ValueError:
                on_broken(number)

    yield from batches_of(pairs(), GOLD)


def labels_of(row: dict[str, Any]) -> list[tuple[str, str]]:
    """Give the labelled mentions of a document or of a mention with bags, as (mention_id, label).

    >>> labels_of({"id": 7, "authors": [{"name": "Doe, J", "author": "J1"}, {"name": "Roe, R"}]})
    [('7#0', 'J1')]
    >>> labels_of({"mention_id": "m1", "author": "J1"})
    [('m1', 'J1')]
    """
    if "mention_id" in row:
        mention, label = as_text(row["mention_id"]), as_text(row.get("author", row.get("author_id")))
        if mention is None:
            raise ValueError("a mention without mention_id")
        return [(mention, label)] if label else []
    document, authors = as_text(row.get("id")), row.get("authors") or []
    if document is None or not isinstance(authors, list):
        raise ValueError("neither a mention nor a document")
    labels = [as_text(author.get("author")) if isinstance(author, dict) else None for author in authors]
    return [(f"{document}#{i}", label) for i, label in enumerate(labels) if label]


def _column_labels(path: Path, on_broken: OnBroken) -> Iterator[pa.RecordBatch]:
    present = columns_of(path)
    label = next((column for column in LABEL_COLUMNS if column in present), None)
    if "mention_id" not in present or label is None:
        raise InputError(f"{path} has the columns {', '.join(present)}; {EXPECTED}.")
    for batch in column_batches(path, ["mention_id", label], on_broken):
        mention, author = (_filled(column) for column in batch.columns)
        for _ in range(pc.sum(pc.and_(pc.invert(mention), author)).as_py() or 0):
            on_broken(None)
        kept = batch.filter(pc.and_(mention, author))
        yield pa.RecordBatch.from_arrays(kept.columns, schema=GOLD)


def _filled(column: pa.Array) -> pa.Array:
    return pc.fill_null(pc.not_equal(column, ""), False)


def _each_once(table: pa.Table, path: Path) -> pa.Table:
    """Drop repetitions; two different labels for one mention are an error."""
    if pc.count_distinct(table["mention_id"]).as_py() == table.num_rows:
        return table
    grouped = table.group_by("mention_id", use_threads=False).aggregate([("author", "min"), ("author", "max")])
    clashes = grouped.filter(pc.not_equal(grouped["author_min"], grouped["author_max"]))
    if clashes.num_rows:
        clash = clashes.slice(0, 1).to_pylist()[0]
        raise InputError(
            f"{path}: mention {clash['mention_id']} has two labels, {clash['author_min']} and {clash['author_max']}; "
            "keep the right one."
        )
    return grouped.select(["mention_id", "author_min"]).rename_columns(GOLD.names).cast(GOLD)


def _raw_batches(path: Path, columns: Sequence[str], on_broken: OnBroken | None) -> Iterator[pa.RecordBatch]:
    if format_of(path) == "parquet":
        yield from _parquet(path).iter_batches(ROWS_PER_BATCH, columns=list(columns))
        return
    from pyarrow import csv as arrow_csv

    def skip(row: Any) -> str:
        assert on_broken is not None
        on_broken(row.number)
        return "skip"

    _, separator = _csv_header(path)
    handler = skip if on_broken else None
    yield from arrow_csv.open_csv(
        _opened(path),
        arrow_csv.ReadOptions(block_size=1 << 26, use_threads=False),
        arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=handler),
        arrow_csv.ConvertOptions(include_columns=columns, column_types=dict.fromkeys(columns, pa.string())),
    )


def _opened(path: Path) -> Any:
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    return pa.input_stream(str(path), compression="gzip" if packed else None)


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as broken:
        raise InputError(
            f"{path} cannot be read: {first_line(broken)}; check that the file is whole and UTF-8."
        ) from broken


def _csv_header(path: Path) -> tuple[list[str], str]:
    for line in read_lines(path):
        return _header(line.text)
    raise InputError(f"{path} holds nothing but blank lines; {EXPECTED}.")


def _header(line: bytes) -> tuple[list[str], str]:
    """Split a header line at its most frequent separator; give the columns and the separator."""
    text = line.decode(errors="replace").strip("\r\n")
    delimiter = max("\t,;", key=text.count)
    return next(csv.reader([text], delimiter=delimiter), []), delimiter
