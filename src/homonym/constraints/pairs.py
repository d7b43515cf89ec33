"""A user's own statements: pairs of mentions that are the same person, or are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from homonym.errors import InputError
from homonym.records import arrow_tables
from homonym.records.problems import BrokenRecordError
from homonym.records.rows import find_header, is_header, row_cells, rows
from homonym.sources import Source

COLUMNS = ("mention_a", "mention_b", "relation")
SAME, DIFFERENT = "same", "different"

Row = tuple[str, list[str]]
"""The place of a row, as messages call it, and its values in the order of COLUMNS."""


@dataclass(frozen=True)
class Pairs:
    """Statements about mentions, each of two ids and whether they are the same person."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    same: tuple[bool, ...]


def read_pairs(path: Path) -> Pairs:
    """Read a table of pairs: CSV with any separator, packed or not, or Parquet.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pairs.csv").write_text("mention_a,mention_b,relation\\nW1#0,W2#0,same\\n")
    ...     read_pairs(Path(folder, "pairs.csv"))
    Pairs(a=('W1#0',), b=('W2#0',), same=(True,))
    """
    with Source(path) as source:
        table = _parquet_rows(source) if source.head[:4] == arrow_tables.PARQUET else _csv_rows(source)
        found = [pair for place, row in table if (pair := _pair(place, *row)) is not None]
    return Pairs(tuple(a for a, _, _ in found), tuple(b for _, b, _ in found), tuple(same for *_, same in found))


def _pair(place: str, a: str, b: str, relation: str) -> tuple[str, str, bool] | None:
    """One statement; that a mention is the same as itself says nothing."""
    if not a or not b:
        raise InputError(f"{place}: a mention is missing; give both mention_a and mention_b.")
    if relation.lower() not in {SAME, DIFFERENT}:
        raise InputError(f"{place}: the relation is {relation!r}; write {SAME} or {DIFFERENT}.")
    same = relation.lower() == SAME
    if a != b:
        return a, b, same
    if not same:
        raise InputError(f"{place}: {a} cannot be different from itself; correct or remove the row.")
    return None


def _csv_rows(source: Source) -> Iterator[Row]:
    header = find_header(source, lambda names: set(COLUMNS) <= set(names), lines=1)
    if header is None:
        first = source.head.partition(b"\n")[0].decode(errors="replace").strip()
        raise InputError(f"{source.name} begins with {first[:100]!r}; expected the columns {', '.join(COLUMNS)}.")
    chosen = [header.names.index(column) for column in COLUMNS]
    for raw in rows(source, header):
        place = f"{source.name}, line {raw.number}"
        try:
            cells = row_cells(raw.text, header)
        except BrokenRecordError as broken:
            raise InputError(f"{place}: the row {broken}; correct or remove it.") from None
        if not is_header(cells, header):
            yield place, [cells[column].strip() for column in chosen]


def _parquet_rows(source: Source) -> Iterator[Row]:
    names = arrow_tables.require_column_names(source)
    if not set(COLUMNS) <= set(names):
        raise InputError(f"{source.name} has the columns {', '.join(names)}; expected {', '.join(COLUMNS)}.")
    for number, row in enumerate(arrow_tables.rows(source, COLUMNS), 1):
        place = f"{source.name}, row {number}"
        if isinstance(row, str):
            raise InputError(f"{place}: {row}; write the file again.")
        yield place, ["" if row[column] is None else str(row[column]).strip() for column in COLUMNS]
