"""Scopus: CSV exports in the old and the new layout, and with any choice of columns.

The new layout parts names by semicolons and has a column of full names with ids, the old one parts them by commas:
"Doe J., Roe A.B.". The columns that were not ticked are missing.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import NamedTuple

from homonym.errors import InputError
from homonym.io.inputs import Source
from homonym.io.table_text import Header
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import addresses_in, distinct, give_address
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import AuthorIndex
from homonym.records.formats import scopus_names
from homonym.records.formats.table_columns import identify
from homonym.records.model import Author, Document, Note, Parsed, publication_year
from homonym.records.parsing.delimited import find_header, is_header, row_cells, rows
from homonym.records.registry import Columns, Format, Records

#: Columns that no other export has under these names, and those that tell only together.
_TELLING = frozenset({"Author(s) ID", "Authors with affiliations", "EID"})
_USUAL = frozenset(
    {"Source title", "Art. No.", "Page start", "Page count", "Cited by", "Author Keywords", "Index Keywords"}
    | {"Abbreviated Source Title", "Publication Stage", "Correspondence Address", "Author full names", "PubMed ID"}
    | {"Language of Original Document", "Molecular Sequence Numbers", "Conference code", "Document Type"}
)
_PEOPLE = frozenset({"Authors", "Author full names"})
_WORK = frozenset({"Title", "Year", "Source title", "Link", "DOI"})
_WEB_OF_SCIENCE = frozenset({"Article Title", "UT (Unique WOS ID)", "Keywords Plus"})  # its tables have like names

#: A header is one of the first lines, or so wide that it can be nothing else, as where lines are out of order.
_FIRST_LINES, _WIDE = 5, 12

_NOTHING = frozenset({"", "NA", "[No abstract available]", "[No author name available]", "[No author id found]"})
_EID = re.compile(r"\b2-s2\.0-\d+")
_INITIALS_FIRST = re.compile(r"((?:[^\W\d_]{1,2}\.[- ]?)++)(\S.*)")
_LONGEST_NAME = 60


class _Cells(NamedTuple):
    """The columns that are read, by their place; -1 where one is missing."""

    authors: int
    full_names: int
    author_ids: int
    title: int
    year: int
    venue: int
    doi: int
    link: int
    affiliations: int
    with_affiliations: int
    abstract: int
    author_keywords: int
    index_keywords: int
    references: int
    correspondence: int
    pubmed: int
    eid: int


_NAMES = (
    "authors", "author full names", "author(s) id", "title", "year", "source title", "doi", "link", "affiliations",
    "authors with affiliations", "abstract", "author keywords", "index keywords", "references",
    "correspondence address", "pubmed id", "eid",
)  # fmt: skip


@lru_cache(maxsize=8)
def _places(header: Header) -> _Cells:
    names = [name.lower() for name in header.names]
    return _Cells._make(names.index(name) if name in names else -1 for name in _NAMES)


def _is_scopus(names: tuple[str, ...]) -> bool:
    found = frozenset(names)
    if not found & _PEOPLE or not found & _WORK or found & _WEB_OF_SCIENCE:
        return False
    return bool(found & _TELLING) or len(found & _USUAL) >= 3


def _is_wide(names: tuple[str, ...]) -> bool:
    return _is_scopus(names) and len({*names} & (_TELLING | _USUAL | _PEOPLE | _WORK)) >= _WIDE


def _header(source: Source) -> Header | None:
    if b"uthor" not in source.head:
        return None
    return find_header(source, _is_scopus, lines=_FIRST_LINES) or find_header(source, _is_wide)


def _recognises(source: Source) -> bool:
    return source.head.lstrip()[:1] not in {b"{", b"[", b"<", b"@", b"%"} and _header(source) is not None


def _open(source: Source, columns: Columns) -> Records:
    header = _header(source)
    if header is None:
        raise InputError(
            f"{source.name} does not begin with the names of Scopus' columns (Authors, Title, Year, …, EID); "
            "export it again as CSV, or read it with --format table."
        )
    return Records(rows(source, header), "line", header)


def parse(text: bytes, header: Header) -> Parsed | None:
    """One row to a document.

    >>> header = Header(("Authors", "Author(s) ID", "Title", "Year", "EID"), ",")
    >>> document, _ = parse(b'"Doe J., Roe A.B., Jr.","7;8;",On names,2010,2-s2.0-1', header)
    >>> document.id, [(author.name, author.ids) for author in document.authors]
    ('2-s2.0-1', [('Doe J.', {'scopus': '7'}), ('Roe A.B., Jr.', {'scopus': '8'})])
    """
    cells = row_cells(text, header)
    if is_header(cells, header):
        return None
    cells.append("")  # which is at place -1
    at = _places(header)
    notes: list[Note] = []
    ids = _ids(cells, at, notes)
    document = Document(
        id=ids.get("scopus") or cells[at.eid].strip(),
        authors=_authors(cells, at, notes),
        title=plain_text(cells[at.title]),
        abstract=plain_text(_given(cells[at.abstract])),
        year=publication_year(_given(cells[at.year]), notes),
        venue=plain_text(_given(cells[at.venue])),
        keywords=_keywords(_given(cells[at.author_keywords]), _given(cells[at.index_keywords])),
        referenced_authors=scopus_names.referenced(cells[at.references]),
        ids=ids,
    )
    return document, notes


def _given(cell: str) -> str:
    text = cell.strip()
    return "" if text in _NOTHING else text


def _ids(cells: list[str], at: _Cells, notes: list[Note]) -> dict[str, str]:
    found = _EID.search(cells[at.eid].strip() or cells[at.link])
    ids = {"scopus": found[0]} if found else {}
    if doi := _given(cells[at.doi]):
        identify(ids, "doi", doi, notes)
    if pmid := _given(cells[at.pubmed]):
        identify(ids, "pmid", pmid, notes)
    return ids


def _keywords(author: str, index: str) -> list[str]:
    found = dict.fromkeys(map(str.strip, plain_text(f"{author};{index}").split(";")))
    return list(filter(None, found))


def _authors(cells: list[str], at: _Cells, notes: list[Note]) -> list[Author]:
    short = scopus_names.listed(plain_text(cells[at.authors]))
    full = scopus_names.full(plain_text(cells[at.full_names]))
    if len(full) < len(short):  # one of the two cells is damaged: the longer one has everybody
        full = []
    names = [name for name, _ in full] or list(map(scopus_names.without_initials_before, short))
    numbers = _numbers(cells[at.author_ids], [number for _, number in full] or [""] * len(short), notes)
    authors = [Author(place, name, ids=_scopus_id(numbers[place])) for place, name in enumerate(names)]
    if len(short) != len(names):
        short = names
    if authors:
        _affiliate(authors, short, plain_text(cells[at.with_affiliations]), plain_text(cells[at.affiliations]))
        if "@" in cells[at.correspondence]:
            _correspond(authors, short, cells[at.correspondence])
    return distinct(authors)


def _numbers(cell: str, beside: list[str], notes: list[Note]) -> list[str]:
    """The ids of the authors: those beside their names, else those of the column of ids if it has one for each."""
    if all(beside):
        return beside
    numbers = [number.strip() for number in _given(cell).rstrip("; ").split(";")]
    if len(numbers) == len(beside):
        return [number or other for number, other in zip(beside, numbers, strict=True)]
    if numbers != [""]:
        notes.append(("field", f"{len(numbers)} author ids for {len(beside)} authors"))
    return beside


def _scopus_id(number: str) -> dict[str, str]:
    valid = number.lstrip("0") if number.isdecimal() else identifiers.number(number)
    return {"scopus": valid} if valid else {}


def _affiliate(authors: list[Author], names: list[str], with_names: str, affiliations: str) -> None:
    """Give the authors their affiliations. A list without names says whose they are only if it leaves no choice."""
    known = [text.strip() for text in affiliations.split(";") if text.strip()]
    if with_names:
        for author, own in zip(authors, scopus_names.affiliations(with_names, known, names), strict=True):
            for text in own:
                give_address(author, text)
    elif len(authors) == 1 or len(known) == 1:
        for author in authors:
            for text in known:
                give_address(author, text)


def _correspond(authors: list[Author], names: list[str], cell: str) -> None:
    """Give the addresses in "J. Doe; University of X; email: jd@x.org; A. Roe; …" to those before them."""
    people = _ScopusPeople(authors, names)
    current, may_follow = 0 if len(authors) == 1 else None, True
    for part in map(str.strip, cell.split(";")):
        if "@" in part:
            if current is not None:
                authors[current].emails += addresses_in(part)
            may_follow = True
        elif len(part) <= _LONGEST_NAME and (may_follow or part[-1:] == "." or _INITIALS_FIRST.match(part)):
            current, may_follow = people.find(_family_first(part), otherwise=current), False


class _ScopusPeople:
    """The authors by the names in a list; other spellings are looked for only where a name is not written so."""

    def __init__(self, authors: list[Author], names: list[str]) -> None:
        self._authors, self._names = authors, names
        self._places: dict[str, int | None] = {}
        for place, name in enumerate(names):
            self._places[name] = None if name in self._places else place

    def find(self, name: str, otherwise: int | None) -> int | None:
        """The author that a name means; None if it means several, and what is given otherwise if it is no author's."""
        short = name.replace(",", "", 1)
        if short in self._places:
            return self._places[short]
        found = self._others.find(name)
        return otherwise if found is None else found

    @cached_property
    def _others(self) -> AuthorIndex:
        both = zip(self._authors, self._names, strict=True)
        return AuthorIndex([(author.name, _with_comma(name)) for author, name in both])


def _with_comma(name: str) -> str:
    family, _, given = name.rpartition(" ")
    return name if "," in name or not family else f"{family}, {given}"


def _family_first(name: str) -> str:
    """Turn a name as it stands in addresses into one as it stands in lists: "J.-C. Doe" is "Doe, J.-C."."""
    found = _INITIALS_FIRST.match(name)
    return f"{found[2]}, {found[1].strip()}" if found else _with_comma(name)


FORMAT = Format(name="scopus", title="Scopus CSV", recognises=_recognises, open=_open, parse=parse)
