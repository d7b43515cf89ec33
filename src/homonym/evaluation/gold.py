"""Annotation: which mention belongs to which person, from whatever files say so.

The truth is the field `author` of documents and mentions, or any identifier that they carry, such as an ORCID. Labels
may stand in the data or in files of their own; of a whole catalogue only the labelled mentions are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from homonym.errors import InputError
from homonym.evaluation.table_reader import (
    as_text,
    batches_of,
    column_batches,
    columns_of,
    filled,
    format_of,
    json_rows,
)
from homonym.io.inputs import expand, require_files
from homonym.io.outputs import Paths
from homonym.messages import counted
from homonym.records.fields.identifiers import bare_orcid
from homonym.schema import GOLD

AUTHOR = "author"
"""The label that documents and mentions carry in a field of its own."""

AUTHOR_COLUMNS = ("author", "author_id")
"""Columns that may hold that label, the first one present counts."""

EXPECTED = "expected documents or mentions as JSON lines, or CSV, TSV or Parquet with mention_id and author"


@dataclass(frozen=True)
class Gold:
    """Labels with each mention once (`schema.GOLD`), and what could not be used.

    `skipped` lines could not be parsed; mentions with `several` different identifiers have no label.
    """

    table: pa.Table
    skipped: int
    several: int = 0


def unusable(skipped: int, several: int) -> list[str]:
    """Say what of the labels could not be used.

    >>> unusable(1, 0)
    ['1 line of the labels could not be parsed']
    """
    parts = [f"{counted(skipped, 'line')} of the labels could not be parsed"] if skipped else []
    return parts + ([f"{counted(several, 'mention')} with several different identifiers left out"] if several else [])


def read_gold(paths: Paths, label: str = AUTHOR) -> Gold:
    """Read which mention belongs to which person from one or more files; mentions without a label are left out.

    `label` is "author", or the name of an identifier, written in any way: "ResearcherID" finds "researcher_id".

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "gold.jsonl")
    ...     _ = path.write_text('{"id": "W1", "authors": [{"name": "Doe, J"}, {"name": "Roe, R", "author": "R1"}]}')
    ...     read_gold(path).table.to_pylist()
    [{'mention_id': 'W1#1', 'author': 'R1'}]
    """
    files, _ = expand(paths)
    require_files(files)
    reading = _Reading(label)
    tables = [pa.Table.from_batches(reading.labels(path), schema=GOLD) for path in files]
    table = pa.concat_tables(tables)
    if not table.num_rows:
        raise InputError(_nothing_found(files, reading))
    return Gold(_each_once(table, dict(zip(files, tables, strict=True))), len(reading.broken), reading.several)


@lru_cache(maxsize=1024)
def plain_key(name: str) -> str:
    """Write the name of an identifier in the one way in which names are compared.

    >>> plain_key("Researcher-ID"), plain_key("researcher_id"), plain_key("ORCID iD")
    ('researcherid', 'researcherid', 'orcidid')
    """
    return re.sub(r"[-_\s]", "", name).casefold()


def plain_identifier(value: object) -> str | None:
    """Give an identifier as text; an ORCID without its address and in capitals.

    >>> plain_identifier("https://orcid.org/0000-0002-1825-009x"), plain_identifier(" H-1234-2011 ")
    ('0000-0002-1825-009X', 'H-1234-2011')
    """
    text = (as_text(value) or "").strip()
    return bare_orcid(text) or text or None


def identifiers(values: Iterable[object]) -> list[str]:
    """Give the different identifiers among values, each of them one or a list.

    >>> identifiers([["0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097"], None])
    ['0000-0002-1825-0097']
    """
    flat = [part for value in values for part in (value if isinstance(value, list) else [value])]
    return sorted({text for text in map(plain_identifier, flat) if text is not None})


@dataclass
class _Reading:
    """Labels of files under one name, with what is met on the way."""

    label: str
    several: int = 0
    broken: list[tuple[int | None, str]] = field(default_factory=list)
    met: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of the label as names are compared."""
        return plain_key(self.label)

    def skip(self, number: int | None, reason: str) -> None:
        """Note a line that could not be used."""
        self.broken.append((number, reason))

    def labels(self, path: Path) -> Iterator[pa.RecordBatch]:
        """Yield the labelled mentions of a file, as `schema.GOLD`."""
        batches = batches_of(self._of_json(path), GOLD.names) if format_of(path) == "jsonl" else self._of_columns(path)
        for batch in batches:
            yield batch.cast(GOLD)

    def _of_json(self, path: Path) -> Iterator[tuple[str, str]]:
        for number, row in json_rows(path, self.skip):
            try:
                labels = [(mention, self._label(holder)) for mention, holder in holders_of(row)]
            except ValueError as strange:
                self.skip(number, str(strange))
            else:
                yield from ((mention, label) for mention, label in labels if label)

    def _label(self, holder: dict[str, Any]) -> str | None:
        """The label of a document's author or of a mention."""
        if self.key == AUTHOR:
            column = "author" if "author" in holder or "mention_id" not in holder else "author_id"
            return as_text(holder.get(column))
        ids = holder.get("ids")
        ids = ids if isinstance(ids, dict) else {}
        for name, value in ids.items():
            if value:
                self.met.setdefault(plain_key(name), name)
        # JSON lines may also be a table, with the identifier in a column of its own.
        places = [*ids.items(), *(holder.items() if "mention_id" in holder else ())]
        return self._only(value for name, value in places if plain_key(name) == self.key)

    def _only(self, values: Iterable[object]) -> str | None:
        """The one identifier among values; a mention with several different ones is counted."""
        found = identifiers(values)
        self.several += len(found) > 1
        return found[0] if len(found) == 1 else None

    def _of_columns(self, path: Path) -> Iterator[pa.RecordBatch]:
        present = columns_of(path)
        column = self._column(present)
        if "mention_id" not in present or column is None:
            expected = EXPECTED if self.key == AUTHOR else f"expected mention_id and {self.label}"
            raise InputError(f"{path} has the columns {', '.join(present)}; {expected}.")
        for batch in column_batches(path, ["mention_id", column], self.skip):
            mention, label = batch.columns
            if self.key != AUTHOR:
                label = pa.array([self._only([value]) for value in label.to_pylist()], pa.string())
            labelled, known = filled(label), filled(mention)
            for _ in range(pc.sum(pc.and_(pc.invert(known), labelled)).as_py() or 0):
                self.skip(None, "a label without mention_id")
            kept = pa.RecordBatch.from_arrays([mention, label], names=GOLD.names)
            yield kept.filter(pc.and_(known, labelled))

    def _column(self, present: list[str]) -> str | None:
        if self.key == AUTHOR:
            return next((column for column in AUTHOR_COLUMNS if column in present), None)
        return next((column for column in present if plain_key(column) == self.key), None)


def holders_of(row: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Give the mentions of a document or of a mention with bags: mention_id, and the object that describes it.

    >>> holders_of({"id": 7, "authors": ["Poe, E", {"name": "Doe, J", "author": "J1"}]})
    [('7#0', {'name': 'Poe, E'}), ('7#1', {'name': 'Doe, J', 'author': 'J1'})]
    >>> holders_of({"mention_id": "m1", "author": "J1"})
    [('m1', {'mention_id': 'm1', 'author': 'J1'})]
    """
    if "mention_id" in row:
        mention = as_text(row["mention_id"])
        if mention is None:
            raise ValueError("a mention without mention_id")
        return [(mention, row)]
    document, authors = as_text(row.get("id")), row.get("authors") or []
    if document is None or not isinstance(authors, list):
        raise ValueError("neither a mention nor a document")
    described = (author if isinstance(author, dict) else {"name": author} for author in authors)
    return [(f"{document}#{i}", author) for i, author in enumerate(described)]


def _nothing_found(files: list[Path], reading: _Reading) -> str:
    place = " and ".join(map(str, files))
    unread = ""
    if reading.broken:
        number, reason = reading.broken[0]
        unread = f" ({counted(len(reading.broken), 'line')} could not be parsed; line {number}: {reason})"
    if reading.key == AUTHOR:
        return f"{place} holds no label{unread}; {EXPECTED}."
    if reading.several:
        return f"{place}: all {counted(reading.several, 'mention')} with {reading.label} have several different ones."
    if not reading.met:
        return f"{place}: no author has the identifier {reading.label} or any other{unread}; use the label author."
    there = ", ".join(sorted(reading.met.values()))
    return f"{place}: no author has the identifier {reading.label}{unread}; choose one of {there}, or the label author."


def _each_once(table: pa.Table, files: dict[Path, pa.Table]) -> pa.Table:
    """Drop repetitions; two different labels for one mention are an error."""
    if pc.count_distinct(table["mention_id"]).as_py() == table.num_rows:
        return table
    grouped = table.group_by("mention_id", use_threads=False).aggregate([("author", "min"), ("author", "max")])
    clashes = grouped.filter(pc.not_equal(grouped["author_min"], grouped["author_max"]))
    if clashes.num_rows:
        clash = clashes.slice(0, 1).to_pylist()[0]
        mention = clash["mention_id"]
        holding = [str(path) for path, part in files.items() if pc.any(pc.equal(part["mention_id"], mention)).as_py()]
        raise InputError(
            f"{' and '.join(holding)}: mention {mention} has two labels, {clash['author_min']} and "
            f"{clash['author_max']}; keep the right one."
        )
    return grouped.select(["mention_id", "author_min"]).rename_columns(GOLD.names).cast(GOLD)
