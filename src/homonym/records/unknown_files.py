"""What a file is that has no records in a known format: one of homonym's own results, a table, or anything else."""

from __future__ import annotations

import re
from typing import NamedTuple

from homonym.errors import InputError
from homonym.io.inputs import COLUMNAR, Source
from homonym.io.table_text import Header, read_header
from homonym.records.parsing.json_fields import load
from homonym.records.parsing.json_stream import names_in
from homonym.records.parsing.splitting import decoded, is_western

# Number of first lines that are examined.
_LINES = 20

# Number of columns that a message names, and the maximum length of a column name.
_NAMED_COLUMNS, _LONGEST_COLUMN = 6, 60

# Text that begins so is JSON, XML, BibTeX or tags.
_NOT_TABLES = (b"{", b"[", b"<", b"@", b"%")
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")
_SETTING = re.compile(
    rb"^(?:variant|joint|scope|epsilon|gamma|weights|blocking|constraints|identifiers) = ", re.MULTILINE
)


# Exports that people have, but that are made to be read by people or lack the authors: a mark, and what to do.
_OTHER_EXPORTS = tuple(
    (re.compile(mark, re.MULTILINE), what)
    for mark, what in (
        (rb"^Document \d+ of \d+\s*$|^ProQuest document link", "it is a text of ProQuest: export RIS there"),
        (rb"^<\d+>\r?\n(?:Unique Identifier|Accession Number|Title)\s*$", "it is a text of Ovid: export RIS there"),
        (rb"^\d{1,6}: [^\n]{2,300}\n?[^\n]{0,200}\bPMID: \d", "it is a summary of PubMed: save the format PubMed"),
        (rb"\A\s*+\d{5,8}\r?\n\d{5,8}\r?\n\d{5,8}\s", "it is a list of PubMed numbers: save the format PubMed"),
        (rb"<eSummaryResult", "it is a summary of PubMed: use efetch with retmode=xml, or esummary with retmode=json"),
        (rb"zotero\.org/namespaces/export", "it is RDF of Zotero: export CSL JSON, RIS or BibTeX there"),
        (rb"<(?:doi_records|crossref_result)\b|crossref\.org/(?:schema|xschema)",
         "it is XML of Crossref: ask its REST API for JSON (api.crossref.org/works)"),
        (rb"datacite\.org/schema/kernel", "it is XML of DataCite: ask its REST API for JSON (api.datacite.org/dois)"),
        (rb"abstracts-retrieval-response|elsevier\.com/xml/svapi",
         "it is XML of the API of Scopus: ask it for JSON, or export CSV on the web site"),
        (rb"schema/wok\d", "it is XML of the API of the Web of Science: ask it for JSON, or export plain text"),
        (rb"www\.tei-c\.org/ns", "it is TEI: export BibTeX, as with GROBID's processHeaderDocument"),
        (rb"openaire\.eu/cerif-profile|<CERIF", "it is CERIF: harvest Dublin Core (metadataPrefix=oai_dc)"),
        (rb"officeDocument/2006/bibliography", "it is a list of sources of Word: export RIS or BibTeX"),
        (rb"\A%PDF", "it is a PDF"),
        (rb"\A\d{5}[a-z][a-z ]{3}.22\d{5}.{3}4500",
         "it is binary MARC: convert it to MARCXML, as with yaz-marcdump -o marcxml or MarcEdit"),
        (rb'\A\s*+\{\s*+"(?:errors?|fault|service-error)"\s*+:', "it is the error message of a service: ask it again"),
        (rb'"(?:results?|items|data|hits|entries|records)"\s*+:\s*+\[\s*+\]',
         "it is the answer of a service without any record: check the query"),
        (rb'"expanded-result"\s*:', "it is a list of people of ORCID: download their records (docs/formats.md)"),
    )
)  # fmt: skip

# How a web page and compressed data begin.
_PAGE = re.compile(rb"\s*+(?:<!--.{0,500}?-->\s*+)?(?:<!doctype html|<html|<table)", re.IGNORECASE | re.DOTALL)
_COMPRESSED = (b"\x1f\x8b\x08", b"BZh", b"\x28\xb5\x2f\xfd", b"\xfd7zX")


class OwnResult(NamedTuple):
    """A kind of file that homonym writes: names of columns or members that only it has, and the use of the file."""

    names: frozenset[str]
    description: str


def _own(names: str, description: str) -> OwnResult:
    return OwnResult(frozenset(names.split()), description)


_OWN_RESULTS = (
    _own("mention_id author_id", "a table of authors, the result of disambiguate; use homonym evaluate"),
    _own("mention_id features", "a table of mentions with bags, the result of extract; use homonym cluster"),
    _own("mention_id author", "a table of labels; use it as --gold of homonym evaluate"),
    _own("mention_a mention_b relation", "a table of pairs; use it as --pairs of homonym disambiguate"),
    _own("type feature count", "a table of statistics; use it as --statistics of homonym disambiguate"),
    _own("kind block mentions what", "the list of the constraint conflicts of homonym disambiguate"),
    _own("author_a author_b kind score evidence", "the list of possible name variants of homonym disambiguate"),
    _own("block round clusters merges", "the trace of homonym disambiguate"),
    _own("bcubed pairwise k_metric", "an evaluation, the result of homonym evaluate --json"),
    _own("results left_out differences", "an evaluation, the result of homonym evaluate --json"),
    _own("lost reason file", "the list of what a run of homonym rejected (--rejects)"),
    _own("homonym began inputs outputs", "the log of a run of homonym"),
    _own("parameters names_by_authors", "the description of a corpus of homonym generate; name its documents"),
    _own("collection split runs baselines findings", "the figures of homonym study; open its report.html"),
)
_SETTINGS = "the settings of a run; use the file as --settings of homonym disambiguate"


def own_result(source: Source) -> str:
    """What a file is that homonym has written, and which command it belongs to; empty for other files.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.csv").write_text("mention_a,mention_b,relation\\n")
    ...     with Source(Path(folder, "a.csv")) as source:
    ...         own_result(source)
    'a table of pairs; use it as --pairs of homonym disambiguate'
    """
    found = _names(source)
    for names, description in _OWN_RESULTS:
        if names <= found:
            return description
    return _SETTINGS if len(set(_SETTING.findall(source.head))) > 2 else ""


def advice(source: Source) -> str:
    """What users can do with a file that is in no known format, as the end of a sentence."""
    if source.head.startswith(_COMPRESSED):
        return "it is compressed twice: decompress it once"
    if _PAGE.match(source.head):
        return (
            "it is a web page. Some databases write tables so, with the suffix .xls: open such a file in a spreadsheet "
            "program and save it as XLSX. It may also be a page for signing in instead of an export: export it again"
        )
    for mark, what in _OTHER_EXPORTS:
        if mark.search(source.head):
            return what
    is_foreign = is_western(source.head.rpartition(b"\n")[0])
    if header := _header(source):
        names = ", ".join(header.names[:_NAMED_COLUMNS]) + (", …" if len(header.names) > _NAMED_COLUMNS else "")
        return (
            f"if it is a table, say which of its columns ({names}) has the authors and which the title, as in "
            "--columns authors=Names,title=Title; where each row has one author, as in "
            '--columns family="Last name",given="First name",id=Title'
            + ("; if the names of the columns are garbled here, save the table as UTF-8 first" if is_foreign else "")
        )
    if is_foreign:
        return "it is not in UTF-8: if it is text in another encoding, such as Shift-JIS or GB18030, save it as UTF-8"
    return (
        "--format has their list. Export it from its source in one of them (RIS and BibTeX are common), or save it as "
        "a CSV table with a column of authors and one of titles"
    )


def _names(source: Source) -> frozenset[str]:
    """The columns of a table, or the names in a JSON file; of JSON lines, those that all of the first lines have."""
    if source.head.startswith(COLUMNAR):
        from homonym.io.tables import columnar_columns  # imports Arrow

        try:
            return frozenset(columnar_columns(source))
        except InputError:
            return frozenset()
    if source.head.lstrip()[:1] in (b"{", b"["):
        return _json_names(source.head)
    header = _header(source)
    return frozenset(header.names) if header else frozenset()


def _json_names(head: bytes) -> frozenset[str]:
    lines = [line for line in head.split(b"\n")[:_LINES] if line.strip()]
    try:
        objects = [load(line) for line in (lines[:-1] or lines)]
    except ValueError:
        return names_in(head)
    found = [frozenset(value) for value in objects if isinstance(value, dict)]
    return frozenset.intersection(*found) if found else frozenset()


def _header(source: Source) -> Header | None:
    """The header of a table of text: a line of different names, and a next line with as many cells."""
    if source.head.lstrip()[:1] in _NOT_TABLES:
        return None
    lines = [decoded(line) for line in _LINE_ENDS.split(source.head)[:_LINES] if line.strip()]
    header = read_header(lines[0], _may_be_columns) if lines else None
    if header is None:
        return None
    cells = [line.count(header.separator) + 1 for line in lines[1:]]
    return header if not cells or max(cells) >= len(header.names) else None


def _may_be_columns(names: tuple[str, ...]) -> bool:
    """Whether these can be names of columns. Control characters are a sign of a file that is not text."""
    return len({*names}) == len(names) and all(
        0 < len(name) <= _LONGEST_COLUMN and name.isprintable() for name in names
    )
