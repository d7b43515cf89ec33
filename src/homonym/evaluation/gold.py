"""Labels: which mention belongs to which person, from documents, mentions or tables.

The label is the field `author` of documents and mentions, or any identifier that they have, such as an ORCID. Labels
may be in the data or in separate files; only labelled mentions are kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from homonym.errors import InputError, counted
from homonym.io.inputs import COLUMNAR, Source, expand, require_files
from homonym.io.outputs import Paths
from homonym.io.tables import OnBroken, TableReader, has_text, scalar_text, string_batches
from homonym.records.fields.identifiers import bare_orcid
from homonym.records.formats.documents import document_object
from homonym.records.reader import detect_format, read_documents
from homonym.records.unknown_files import own_result
from homonym.schema import GOLD
from homonym.settings import identifier_kind

AUTHOR = "author"
"""The label in the field `author`; any other label is the name of an identifier."""

AUTHOR_COLUMNS = ("author", "author_id")
"""Columns that may hold that label; the first one present is used."""

EXPECTED = (
    "expected documents or mentions as JSON lines, or CSV, TSV or Parquet with mention_id (or document_id and "
    "position) and author"
)
# Columns that together say which mention a row is about.
PLACE_COLUMNS = ("document_id", "position")


@dataclass(frozen=True)
class Gold:
    """Labels, one row per mention (`schema.GOLD`).

    `skipped` counts lines that could not be parsed, `several` mentions left out because of several identifiers.
    """

    table: pa.Table
    skipped: int
    several: int = 0


def unused_labels(skipped: int, several: int) -> list[str]:
    """Human-readable counts of the labels that could not be used.

    >>> unused_labels(1, 0)
    ['1 line of the labels could not be parsed']
    """
    parts = [f"{counted(skipped, 'line')} of the labels could not be parsed"] if skipped else []
    return parts + ([f"{counted(several, 'mention')} with several different identifiers left out"] if several else [])


def read_gold(paths: Paths, label: str = AUTHOR) -> Gold:
    """Read labels from one or more files; mentions without a label are left out.

    `label` is "author" or the name of an identifier, in any spelling: "ResearcherID" finds "researcher_id".

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "gold.jsonl")
    ...     _ = path.write_text('{"id": "W1", "authors": [{"name": "Doe, J"}, {"name": "Roe, R", "author": "R1"}]}')
    ...     read_gold(path).table.to_pylist()
    [{'mention_id': 'W1#1', 'author': 'R1'}]
    """
    files, _ = expand(paths)
    require_files(files)
    reader = _LabelReader(label)
    tables = [pa.Table.from_batches(reader.labels(path), schema=GOLD) for path in files]
    table = pa.concat_tables(tables)
    if not table.num_rows:
        raise InputError(_no_label_found(files, reader))
    return Gold(_each_once(table, dict(zip(files, tables, strict=True))), len(reader.broken), reader.several)


class AnnotatedFile:
    """A file of documents, mentions or labels, whose format is detected once: an export, or a table."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        form = detect_format(source)
        # The table of documents in a result directory is read like an export.
        is_export = form is not None and (form.name != "documents" or source.head.startswith(COLUMNAR))
        if form is not None and form.name == "table" and own_result(source):  # mentions, as `export` writes them
            is_export = False
        self.table = None if is_export else TableReader(source, "mention_id")

    @property
    def columns_table(self) -> TableReader | None:
        """The table, if the file has columns rather than objects (documents or mentions)."""
        return self.table if self.table is not None and self.table.format != "jsonl" else None

    def objects(self, on_broken: OnBroken) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield JSON objects with their line numbers; documents of an export are converted to such objects."""
        if self.table is not None:
            yield from self.table.objects(on_broken)
            return
        for raw, document, problems in read_documents(self.path):
            for problem in problems:
                if problem.lost == "record":
                    on_broken(problem.line, problem.reason)
            if document:
                yield raw.number, document_object(document)


@contextmanager
def open_annotated(path: Path) -> Iterator[AnnotatedFile]:
    """Open a file of documents, mentions or labels."""
    with Source(path) as source:
        yield AnnotatedFile(source)


def plain_identifier(value: object) -> str | None:
    """An identifier as text; an ORCID without its URL and in upper case.

    >>> plain_identifier("https://orcid.org/0000-0002-1825-009x"), plain_identifier(" H-1234-2011 ")
    ('0000-0002-1825-009X', 'H-1234-2011')
    """
    text = (scalar_text(value) or "").strip()
    return bare_orcid(text) or text or None


def identifiers(values: Iterable[object]) -> list[str]:
    """The distinct identifiers among values, each of which is one identifier or a list.

    >>> identifiers([["0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097"], None])
    ['0000-0002-1825-0097']
    """
    flat = [part for value in values for part in (value if isinstance(value, list) else [value])]
    return sorted({text for text in map(plain_identifier, flat) if text is not None})


@dataclass
class _LabelReader:
    """Reads labels of one kind from files; counts what could not be used."""

    label: str
    several: int = 0
    broken: list[tuple[int | None, str]] = field(default_factory=list)
    identifiers_seen: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name of the label for comparison."""
        return identifier_kind(self.label)

    def skip(self, number: int | None, reason: str) -> None:
        """Record a line that could not be used."""
        self.broken.append((number, reason))

    def labels(self, path: Path) -> Iterator[pa.RecordBatch]:
        """Yield the labelled mentions of a file, as `schema.GOLD`."""
        with open_annotated(path) as file:
            table = file.columns_table
            labels = string_batches(self._object_labels(file), GOLD.names) if not table else self._column_labels(table)
            for batch in labels:
                yield batch.cast(GOLD)

    def _object_labels(self, file: AnnotatedFile) -> Iterator[tuple[str, str]]:
        for number, row in file.objects(self.skip):
            try:
                labels = [(mention, self._label(author)) for mention, author in mentions_of(row)]
            except ValueError as error:
                self.skip(number, str(error))
            else:
                yield from ((mention, label) for mention, label in labels if label)

    def _label(self, author: dict[str, Any]) -> str | None:
        """The label of a document's author or of a mention."""
        if self.key == AUTHOR:
            column = "author" if "author" in author or "mention_id" not in author else "author_id"
            return scalar_text(author.get(column))
        ids = author.get("ids")
        ids = ids if isinstance(ids, dict) else {}
        for name, value in ids.items():
            if value:
                self.identifiers_seen.setdefault(identifier_kind(name), name)
        # JSON lines may also be a table, with the identifier in a column of its own.
        fields = [*ids.items(), *(author.items() if "mention_id" in author else ())]
        return self._only(value for name, value in fields if identifier_kind(name) == self.key)

    def _only(self, values: Iterable[object]) -> str | None:
        """The one identifier among values; mentions with several different ones are counted."""
        found = identifiers(values)
        self.several += len(found) > 1
        return found[0] if len(found) == 1 else None

    def _column_labels(self, table: TableReader) -> Iterator[pa.RecordBatch]:
        column = self._label_column(table.columns)
        place = ["mention_id"] if "mention_id" in table.columns else list(PLACE_COLUMNS)
        if not {*place} <= {*table.columns} or column is None:
            expected = EXPECTED if self.key == AUTHOR else f"expected mention_id and {self.label}"
            raise InputError(f"{table.name} has the columns {', '.join(table.columns)}; {expected}.")
        for batch in table.batches([*place, column], self.skip):
            *which, label = batch.columns
            if self.key == AUTHOR and pa.types.is_nested(label.type):
                raise InputError(f"{table.name}: the column {column} has lists; a mention has one label.")
            mention = which[0] if len(which) == 1 else _mention_ids(*which)
            if self.key != AUTHOR:
                label = pa.array([self._only([value]) for value in label.to_pylist()], pa.string())
            has_label, has_mention = has_text(label), has_text(mention)
            for _ in range(pc.sum(pc.and_(pc.invert(has_mention), has_label)).as_py() or 0):
                self.skip(None, "a label without mention_id")
            labels = pa.RecordBatch.from_arrays([mention, label], names=GOLD.names)
            yield labels.filter(pc.and_(has_mention, has_label))

    def _label_column(self, columns: list[str]) -> str | None:
        if self.key == AUTHOR:
            return next((column for column in AUTHOR_COLUMNS if column in columns), None)
        return next((column for column in columns if identifier_kind(column) == self.key), None)


def _mention_ids(document: pa.Array, position: pa.Array) -> pa.Array:
    """The ids of mentions at positions of documents; none where one of both is missing.

    >>> _mention_ids(pa.array(["W1", "W2", None]), pa.array(["0", "1.0", "2"])).to_pylist()
    ['W1#0', 'W2#1', None]
    """
    known = pc.and_(has_text(document), has_text(position))
    whole = pc.replace_substring_regex(position, r"\.0$", "")  # as tables with missing values write whole numbers
    return pc.if_else(known, pc.binary_join_element_wise(document, whole, "#"), None)


def mentions_of(row: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The mentions of a document or of a mention with bags: mention_id, and the object that describes the author.

    >>> mentions_of({"id": 7, "authors": ["Poe, E", {"name": "Doe, J", "author": "J1"}]})
    [('7#0', {'name': 'Poe, E'}), ('7#1', {'name': 'Doe, J', 'author': 'J1'})]
    >>> mentions_of({"mention_id": "m1", "author": "J1"})
    [('m1', {'mention_id': 'm1', 'author': 'J1'})]
    """
    if "mention_id" not in row and all(row.get(name) is not None for name in PLACE_COLUMNS):
        row = row | {"mention_id": f"{row['document_id']}#{row['position']}"}
    if "mention_id" in row:
        mention = scalar_text(row["mention_id"])
        if mention is None:
            raise ValueError("a mention without mention_id")
        return [(mention, row)]
    document, authors = scalar_text(row.get("id")), row.get("authors") or []
    if document is None or not isinstance(authors, list):
        raise ValueError("neither a mention nor a document")
    described = (author if isinstance(author, dict) else {"name": author} for author in authors)
    return [(f"{document}#{i}", author) for i, author in enumerate(described)]


def _no_label_found(files: list[Path], reader: _LabelReader) -> str:
    place = " and ".join(map(str, files))
    unread = ""
    if reader.broken:
        number, reason = reader.broken[0]
        unread = f" ({counted(len(reader.broken), 'line')} could not be parsed; line {number}: {reason})"
    if reader.key == AUTHOR:
        return f"{place} holds no label{unread}; {EXPECTED}."
    if reader.several:
        return f"{place}: all {counted(reader.several, 'mention')} with {reader.label} have several different ones."
    if not reader.identifiers_seen:
        return f"{place}: no author has the identifier {reader.label} or any other{unread}; use the label author."
    choices = ", ".join(sorted(reader.identifiers_seen.values()))
    return f"{place}: no author has the identifier {reader.label}{unread}; use one of {choices}, or the label author."


def _each_once(table: pa.Table, files: dict[Path, pa.Table]) -> pa.Table:
    """Drop repeated labels; two different labels for one mention are an error."""
    if pc.count_distinct(table["mention_id"]).as_py() == table.num_rows:
        return table
    grouped = table.group_by("mention_id", use_threads=False).aggregate([("author", "min"), ("author", "max")])
    conflicts = grouped.filter(pc.not_equal(grouped["author_min"], grouped["author_max"]))
    if conflicts.num_rows:
        conflict = conflicts.slice(0, 1).to_pylist()[0]
        mention = conflict["mention_id"]
        having = [str(path) for path, part in files.items() if pc.any(pc.equal(part["mention_id"], mention)).as_py()]
        raise InputError(
            f"{' and '.join(having)}: mention {mention} has two labels, {conflict['author_min']} and "
            f"{conflict['author_max']}; keep the right one."
        )
    return grouped.select(["mention_id", "author_min"]).rename_columns(GOLD.names).cast(GOLD)
