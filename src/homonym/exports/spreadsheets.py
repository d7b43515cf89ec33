"""Tables for spreadsheets and for bibliometrix: CSV and Excel."""

from __future__ import annotations

import csv
import io
import tempfile
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from homonym.errors import SettingsError, counted
from homonym.exports.labels import short_name
from homonym.exports.plain_lines import joined, one_line
from homonym.exports.reference_files import (
    READERS,
    WrittenIds,
    accession_number,
    addresses_of,
    cited_authors,
    editors_of,
    emails_of,
    groups_of,
    identified,
    labels_of,
)
from homonym.exports.result_tables import ExportedDocument, ResultTables
from homonym.io.outputs import atomic_path, open_atomic
from homonym.io.table_text import EXCEL_CELL, protected
from homonym.records.fields.exported_ids import (
    BIBLIOMETRIX_AUTHORS,
    WOS_CONTRIBUTORS,
    WOS_DOCUMENT,
    encoded,
    written_contributors,
)

AUTHOR_COLUMNS = (
    "author_id", "label", "name", "variants", "mentions", "documents", "first_year", "last_year", "affiliations",
    "coauthors", "ids", "confidence",
)  # fmt: skip
PAPER_COLUMNS = (
    "document_id", "title", "year", "venue", "authors", "author_ids", "other_contributors", "doi", "ids", "keywords",
    "abstract", "homonym_authors",
)  # fmt: skip
MENTION_COLUMNS = (
    "author_id", "label", "name", "mention_id", "document_id", "position", "year", "title", "venue", "authors",
    "affiliations", "orcid", "doi", "confidence", "other_contributors",
)  # fmt: skip
# Widths of the columns of a workbook, in characters.
COLUMN_WIDTHS = {
    "author_id": 28, "label": 24, "name": 24, "variants": 30, "affiliations": 40, "coauthors": 40, "document_id": 24,
    "mention_id": 26,
    "title": 60, "venue": 30, "authors": 40, "author_ids": 40, "homonym_authors": 20, "other_contributors": 30,
    "doi": 28, "orcid": 20, "ids": 30, "keywords": 30, "abstract": 40,
}  # fmt: skip
OTHER_WIDTH = 12
YEAR = MENTION_COLUMNS.index("year")
# Papers without a year come last.
UNKNOWN_YEAR = 1 << 32

# Maximum number of authors in each row of a document. Otherwise the file size would grow with their square.
MAX_LISTED = 100

# Maximum number of rows of a sheet in Excel, with the header.
EXCEL_ROWS = 1 << 20

Row = Sequence[str | int | float | None]


def write_csv(result: ResultTables, path: Path) -> None:
    """People with their papers, as CSV for spreadsheets: one row for each author of each document."""
    with open_atomic(path) as stream:
        stream.write("\ufeff".encode())
        stream.write(_csv_line(MENTION_COLUMNS))
        stream.writelines(_csv_line(row) for row in people_rows(result, path.parent))
    result.warn_of_documents_without_authors()


def _csv_line(row: Iterable[Any], *, protect: bool = True) -> bytes:
    line = io.StringIO()
    cells = [protected(cell) if protect and isinstance(cell, str) else cell for cell in row]
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue().encode()


def author_rows(result: ResultTables) -> Iterator[Row]:
    """One row per author."""
    for row, label in zip(result.author_rows(), result.labels, strict=True):
        yield (
            row["author_id"], label, one_line(row["name"] or ""), _counts(row["variants"], "name"), row["mentions"],
            row["documents"], row["first_year"], row["last_year"], _counts(row["affiliations"], "affiliation"),
            _counts(row["coauthors"], "name"),
            joined(f"{each['kind']}:{each['id']}" for each in row["ids"] or ()), row["confidence"],
        )  # fmt: skip


def _counts(values: Iterable[dict[str, Any]] | None, name: str) -> str:
    return joined(f"{value[name]} ({value['count']})" for value in values or ())


def paper_rows(documents: Iterable[ExportedDocument], ids: WrittenIds) -> Iterator[Row]:
    """One row per document."""
    for found in documents:
        document = found.document
        yield (
            one_line(document.id), one_line(document.title), document.year, one_line(document.venue),
            "; ".join(labels_of(found)), "; ".join(mention.person.author_id for mention in found.mentions),
            joined(document.other_contributors), document.ids.get("doi", ""),
            joined(f"{kind}:{value}" for kind, value in document.ids.items()), joined(document.keywords),
            one_line(document.abstract), ids.of(found),
        )  # fmt: skip


def people_rows(result: ResultTables, folder: Path) -> Iterator[Row]:
    """One row for each author of each document, by author, year and document.

    The rows are sorted in a temporary file, because they may not fit into memory.
    """
    author, year, start = array("q"), array("q"), array("q")
    with tempfile.TemporaryFile(dir=folder) as waiting:
        for number, row in _mention_rows(result.documents()):
            author.append(number)
            year.append(known if isinstance(known := row[YEAR], int) else UNKNOWN_YEAR)
            start.append(waiting.tell())
            waiting.write(orjson.dumps(row) + b"\n")
        # Rows of one author and year stay in the order of the documents.
        for place in np.lexsort((np.array(year), np.array(author))).tolist():
            waiting.seek(start[place])
            yield orjson.loads(waiting.readline())


def _mention_rows(documents: Iterable[ExportedDocument]) -> Iterator[tuple[int, Row]]:
    """The number of the author and the row for each author of each document."""
    for found in documents:
        document, labels = found.document, labels_of(found)
        title, venue = one_line(document.title), one_line(document.venue)
        everyone = "; ".join(labels[:MAX_LISTED])
        if len(labels) > MAX_LISTED:
            everyone += f"; and {len(labels) - MAX_LISTED:,} more"
        for mention in found.mentions:
            entry = mention.entry
            yield mention.person.number, (
                one_line(mention.person.author_id), mention.person.label, one_line(entry.name),
                one_line(f"{document.id}#{entry.position}"), one_line(document.id), entry.position, document.year,
                title, venue, everyone, joined(entry.affiliations), entry.ids.get("orcid", ""),
                document.ids.get("doi", ""), mention.confidence, joined(document.other_contributors),
            )  # fmt: skip


def write_excel(result: ResultTables, path: Path) -> None:
    """A workbook with the sheets authors, papers and mentions."""
    xlsxwriter = _library()
    cut: Counter[str] = Counter()
    ids = WrittenIds(READERS["excel"])
    with atomic_path(path) as partial, _workbook(xlsxwriter, partial) as book:
        sheets: list[tuple[str, Sequence[str], Callable[[], Iterable[Row]]]] = [
            ("authors", AUTHOR_COLUMNS, lambda: author_rows(result)),
            ("papers", PAPER_COLUMNS, lambda: paper_rows(result.documents(), ids)),
            ("mentions", MENTION_COLUMNS, lambda: people_rows(result, path.parent)),
        ]
        for name, columns, rows in sheets:
            _write_sheets(book, name, columns, rows(), cut)
    ids.warn(result)
    if cut:
        places = ", ".join(f"{number:,} of {column}" for column, number in sorted(cut.items()))
        result.warnings.append(
            f"{counted(sum(cut.values()), 'cell')} shortened to the {EXCEL_CELL:,} characters that Excel allows "
            f"({places}); --to csv has them whole."
        )


@contextmanager
def _workbook(xlsxwriter: Any, path: Path) -> Iterator[Any]:
    """A workbook that is written when the block ends; its temporary files are removed even if that fails."""
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with tempfile.TemporaryDirectory(prefix=".homonym-", dir=path.parent) as folder:
        try:
            with xlsxwriter.Workbook(str(path), {**options, "tmpdir": folder}) as book:
                yield book
        except xlsxwriter.exceptions.FileCreateError as error:
            raise error.args[0] from None  # the error of the system, such as a full disk


def _library() -> Any:
    try:
        import xlsxwriter
    except ImportError:
        raise SettingsError(
            "Excel files need the package xlsxwriter; install it with: pip install xlsxwriter, or use --to csv."
        ) from None
    return xlsxwriter


def _write_sheets(book: Any, name: str, columns: Sequence[str], rows: Iterable[Row], cut: Counter[str]) -> None:
    """Write rows to a sheet, and to further sheets where one is full."""
    sheet, place, number = None, 0, 0
    for row in rows:
        if sheet is None or place == EXCEL_ROWS:
            number, place = number + 1, 1
            sheet = _new_sheet(book, name if number == 1 else f"{name} {number}", columns)
        _write_row(sheet, place, columns, row, cut)
        place += 1
        if place == EXCEL_ROWS:
            sheet.autofilter(0, 0, place - 1, len(columns) - 1)
    sheet = sheet or _new_sheet(book, name, columns)
    sheet.autofilter(0, 0, max(place - 1, 0), len(columns) - 1)


def _new_sheet(book: Any, name: str, columns: Sequence[str]) -> Any:
    sheet = book.add_worksheet(name)
    sheet.freeze_panes(1, 0)
    bold = book.add_format({"bold": True})
    for place, column in enumerate(columns):
        sheet.set_column(place, place, COLUMN_WIDTHS.get(column, OTHER_WIDTH))
        sheet.write_string(0, place, column, bold)
    return sheet


def _write_row(sheet: Any, place: int, columns: Sequence[str], row: Row, cut: Counter[str]) -> None:
    for column, cell in enumerate(row):
        if isinstance(cell, str):
            if len(cell) > EXCEL_CELL:
                cut[columns[column]] += 1
            if cell:
                sheet.write_string(place, column, cell[:EXCEL_CELL])
        elif cell is not None:
            sheet.write_number(place, column, cell)


# bibliometrix

BIBLIOMETRIX_COLUMNS = (
    "AU", "AF", "TI", "SO", "JI", "AB", "DE", "ID", "C1", "RP", "EM", "RI", "OI", "CR", "PY", "DI", "PM", "WC", "TC",
    "UT", "DB", "SR", "SR_FULL", "CA", "BE", BIBLIOMETRIX_AUTHORS, "DOCUMENT_ID", WOS_DOCUMENT, WOS_CONTRIBUTORS,
)  # fmt: skip


def write_bibliometrix(result: ResultTables, path: Path) -> None:
    """The data frame of bibliometrix as CSV: the columns of `convert2df`, in capitals, lists with semicolons."""
    names: Counter[str] = Counter()
    ids = WrittenIds(READERS["wos"])
    with open_atomic(path) as stream:
        stream.write(_csv_line(BIBLIOMETRIX_COLUMNS, protect=False))
        for found in result.documents():
            values = _bibliometrix_values(found) | {BIBLIOMETRIX_AUTHORS: ids.of(found)}
            values["SR"] = _row_name(values["SR_FULL"], names)
            stream.write(_csv_line((values.get(column, "") for column in BIBLIOMETRIX_COLUMNS), protect=False))
    ids.warn(result)


def _row_name(name: str, names: Counter[str]) -> str:
    """A unique name of a document, because names of rows in R must be unique."""
    names[name] += 1
    return name if names[name] == 1 else f"{name}, {names[name]}"


def _bibliometrix_values(found: ExportedDocument) -> dict[str, str]:
    """The value of each column. Ids keep their case."""
    document, ids, labels = found.document, found.document.ids, labels_of(found)
    authors = [short_name(label).replace(",", "") for label in labels]
    values = {
        "AU": ";".join(authors),
        "AF": ";".join(labels),
        "TI": one_line(document.title),
        "SO": one_line(document.venue),
        "JI": one_line(document.venue),
        "AB": one_line(document.abstract),
        "DE": joined(document.keywords, ";"),
        "C1": ";".join(
            f"[{'; '.join(who)}] {address.replace(';', ',')}" for address, who in addresses_of(found).items()
        ),
        "EM": joined(emails_of(found), ";"),
        "CR": joined(cited_authors(found), ";"),
        "PY": str(document.year or ""),
        "WC": joined(document.categories, ";"),
        "DB": "ISI",
        "SR_FULL": ", ".join([authors[0] if authors else "NA", str(document.year or "NA"), one_line(document.venue)]),
    }
    values = {column: value.upper() for column, value in values.items()}
    return values | {
        "RI": ";".join(f"{label}/{value}" for label, value in identified(found, "researcherid")),
        "OI": ";".join(f"{label}/{value}" for label, value in identified(found, "orcid")),
        "DI": one_line(ids.get("doi", "")),
        "PM": one_line(ids.get("pmid", "")),
        "UT": accession_number(found),
        "CA": joined(groups_of(found), ";"),
        "BE": joined(editors_of(found), ";"),
        "DOCUMENT_ID": one_line(document.id),
        WOS_DOCUMENT: encoded(document.id),
        WOS_CONTRIBUTORS: written_contributors(document.other_contributors),
    }
