"""Scopus: files from "Export > CSV", in the old and the new layout, with any choice of columns.

The new layout separates names by semicolons and has a column of full names with author ids; the old one separates them
by commas: "Doe J., Roe A.B.". The columns have the names of the language in which the web site is used. Reads authors
with ids, affiliations and e-mail addresses, the title, abstract, year, source, keywords, identifiers and the authors of
references; columns that were not exported may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache

from homonym.errors import InputError, counted
from homonym.io.inputs import Source
from homonym.io.table_text import EXCEL_CELL, Header, read_header
from homonym.records.fields import exported_ids, identifiers
from homonym.records.fields.affiliations import add_address, emails_in, remove_repeats
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.exported_ids import SCOPUS_AUTHORS, SCOPUS_CONTRIBUTORS, SCOPUS_DOCUMENT
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import SUFFIXES, AuthorIndex, folded, is_placeholder, scopus_cited_authors
from homonym.records.model import Author, Document, Note, Parsed, publication_year
from homonym.records.parsing.delimited import (
    LONGEST_HEADER,
    Checks,
    find_header,
    is_empty_row,
    is_header,
    mark_cut_lists,
    rows_by_header,
    usable_cells,
)
from homonym.records.parsing.splitting import Raw, decoded
from homonym.records.reader import Columns, Format, Records

# Columns that only Scopus has, and columns that identify Scopus only in combination.
_AUTHOR_IDS = "Author(s) ID"
_OWN = frozenset({_AUTHOR_IDS, "Authors with affiliations", "EID"})
_USUAL = frozenset(
    {"Source title", "Art. No.", "Page start", "Page count", "Cited by", "Author Keywords", "Index Keywords"}
    | {"Abbreviated Source Title", "Publication Stage", "Correspondence Address", "Author full names", "PubMed ID"}
    | {"Language of Original Document", "Molecular Sequence Numbers", "Conference code", "Document Type"}
)
_PEOPLE = frozenset({"Authors", "Author full names"})
_WORK = frozenset({"Title", "Year", "Source title", "Link", "DOI"})
_WEB_OF_SCIENCE = frozenset({"Article Title", "UT (Unique WOS ID)", "Keywords Plus"})  # which has similar columns

# A header is one of the first lines or, where lines are out of order, has at least this number of known columns.
_FIRST_LINES, _WIDE = 5, 12

_NOTHING = frozenset({"", "NA", "[No abstract available]", "[No author name available]", "[No author id found]"})
_INITIALS_FIRST = re.compile(r"((?:[^\W\d_]{1,2}\.[- ]?)++)(\S.*)")
_LONGEST_NAME = 60
_INITIALS = re.compile(r"[^\W\d_]{1,2}\.(?:[- ]?[^\W\d_]{1,2}\.)*+")

# Since August 2025 some exports have "J.A., Doe, Jane A." in place of "Doe J.A.".
_INITIALS_TWICE = re.compile(r"(?:[^\W\d_]{1,2}\.[- ]?){1,6}+, (?=[^,]{2,60}+, [^,]{1,60}+$)")


# The columns that are read, in lower case.
_COLUMNS = (
    "authors", "author full names", "author(s) id", "title", "year", "source title", "doi", "link", "affiliations",
    "authors with affiliations", "abstract", "author keywords", "index keywords", "references",
    "correspondence address", "pubmed id", "eid", SCOPUS_DOCUMENT, SCOPUS_AUTHORS,
    SCOPUS_CONTRIBUTORS,
)  # fmt: skip

# How a header in another language begins: with the column of authors.
_FOREIGN_HEADERS = tuple(
    (mark + quote + name).encode()
    for mark in ("", "\ufeff")
    for quote in ("", '"')
    for name in ("作者", "著者", "Автор")
)


@cache
def _translations() -> dict[str, str]:
    """The English names of columns by their names in other languages, in lower case and without blanks."""
    from importlib.resources import files  # slow to import, and rarely needed

    table = files("homonym.records.formats").joinpath("scopus_columns.tsv").read_text(encoding="utf-8")
    return dict(line.split("\t") for line in table.splitlines()[1:])


@lru_cache(maxsize=64)
def english_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of columns in English; names that Scopus does not use stay as they are.

    >>> english_names(("作者", "Author full names", "文献标题", "EID", "Note"))
    ('Authors', 'Author full names', 'Title', 'EID', 'Note')
    """
    if all(map(str.isascii, names)):
        return names
    return tuple(_translations().get(name.lower().replace(" ", ""), name) for name in names)


Row = dict[str, str]
"""Column to cell of one row, for all columns that are read; the cells of missing columns are empty."""


@lru_cache(maxsize=8)
def _places(header: Header) -> tuple[int, ...]:
    """The places of the columns that are read; -1 for a missing column."""
    names = [name.lower() for name in english_names(header.names)]
    return tuple([names.index(name) if name in names else -1 for name in _COLUMNS])


@lru_cache(maxsize=8)
def _repeats(header: Header) -> tuple[tuple[str, int], ...]:
    """Name and place of columns that occur again; they count where the columns before them are empty."""
    names = [name.lower() for name in english_names(header.names)]
    return tuple((name, place) for place, name in enumerate(names) if name in _COLUMNS and name in names[:place])


# Cells of these columns can be told from those of others.
_PATTERNS = {
    "author(s) id": re.compile(r"(?:\d++;?\s*+)++|\[No author id found\]"),
    "year": re.compile(r"(?:1[5-9]|20)\d\d"),
    "doi": re.compile(r"10\.\d{4,9}/\S+"),
    "link": re.compile(r"https?://\S+"),
    "pubmed id": re.compile(r"\d{1,8}"),
    "eid": re.compile(r"2-s2\.0-\d+"),
}


@lru_cache(maxsize=8)
def _checks(header: Header) -> Checks:
    names = enumerate(map(str.lower, english_names(header.names)))
    return {place: _PATTERNS[name] for place, name in names if name in _PATTERNS}


def _is_scopus(names: tuple[str, ...]) -> bool:
    found = frozenset(english_names(names))
    if not found & _PEOPLE or not found & _WORK or found & _WEB_OF_SCIENCE:
        return False
    # The translations of this column are names that any table may have.
    own = _OWN if _AUTHOR_IDS in names else _OWN - {_AUTHOR_IDS}
    return bool(found & own) or len(found & (_USUAL | {_AUTHOR_IDS})) >= 3


def _is_wide(names: tuple[str, ...]) -> bool:
    return _is_scopus(names) and len({*english_names(names)} & (_OWN | _USUAL | _PEOPLE | _WORK)) >= _WIDE


def _header(source: Source) -> Header | None:
    if b"uthor" not in source.head and not any(map(source.head.__contains__, _FOREIGN_HEADERS)):
        return None
    return find_header(source, _is_scopus, lines=_FIRST_LINES) or find_header(source, _is_wide)


def _recognises(source: Source) -> bool:
    return source.head.lstrip()[:1] not in {b"{", b"[", b"<", b"@", b"%"} and _header(source) is not None


def _open(source: Source, columns: Columns) -> Records:
    header = _header(source)
    if header is None:
        raise InputError(
            f"{source.name} has no header with the columns of Scopus (Authors, Title, Year, …, EID); "
            "export it again as CSV, or read it with --format table."
        )
    return Records(_rows(source, header), "line", header)


def _rows(source: Source, first: Header) -> Iterator[Raw]:
    """The rows of a file; those under another header, where files were joined, are preceded by it."""
    for header, raw in rows_by_header(source, first, _header_in, _checks):
        yield raw if header == first or raw.broken else raw._replace(text=_written(header) + raw.text)


@lru_cache(maxsize=64)
def _header_in(line: bytes) -> Header | None:
    is_english = b"uthor" in line and b"Title" in line
    return read_header(decoded(line), _is_scopus) if is_english or line.startswith(_FOREIGN_HEADERS) else None


def _written(header: Header) -> bytes:
    return (header.separator.join(f'"{name}"' for name in header.names) + "\n").encode()


def own_header(text: bytes, first: Header) -> tuple[Header, bytes]:
    """The header of a row, and the row without it."""
    line, end, row = text.partition(b"\n")
    header = _header_in(line) if end and len(line) <= LONGEST_HEADER else None
    return (header, row) if header and row else (first, text)


def parse(text: bytes, header: Header) -> Parsed | None:
    """The document in one row; None for a repeated header and for an empty row.

    >>> header = Header(("Authors", "Author(s) ID", "Title", "Year", "EID"), ",")
    >>> document, _ = parse(b'"Doe J., Roe A.B., Jr.","7;8;",On names,2010,2-s2.0-1', header)
    >>> document.id, [(author.name, author.ids) for author in document.authors]
    ('2-s2.0-1', [('Doe J.', {'scopus': '7'}), ('Roe A.B., Jr.', {'scopus': '8'})])
    """
    header, text = own_header(text, header)
    if is_empty_row(text, header.separator):
        return None
    places = _places(header)
    author_places = [place for place in places[:2] if place >= 0]
    cells, notes = usable_cells(text, header, _checks(header), author_places)
    if len(text) >= EXCEL_CELL:
        notes += mark_cut_lists(cells, author_places)
    if is_header(cells, header):
        return None
    cells.append("")  # at place -1, for missing columns
    row: Row = {name: cells[place] for name, place in zip(_COLUMNS, places, strict=True)}
    for name, place in _repeats(header):
        row[name] = row[name] if row[name].strip() else cells[place]
    ids = _ids(row, notes)
    keywords = plain_text(f"{_given(row['author keywords'])};{_given(row['index keywords'])}").split(";")
    document = Document(
        id=ids.get("scopus") or row["eid"].strip(),
        authors=_authors(row, notes),
        title=plain_text(row["title"]),
        abstract=plain_text(_given(row["abstract"])),
        year=publication_year(_given(row["year"]), notes),
        venue=plain_text(_given(row["source title"])),
        keywords=list(dict.fromkeys(filter(None, map(str.strip, keywords)))),
        referenced_authors=scopus_cited_authors(row["references"]),
        ids=ids,
    )
    exported_ids.add_exported_ids(document, row[SCOPUS_DOCUMENT], row[SCOPUS_AUTHORS], notes)
    exported_ids.note_exported_contributors(row[SCOPUS_CONTRIBUTORS], notes)
    return document, notes


def _given(cell: str) -> str:
    """The text of a cell; empty if it only says that there is none."""
    text = cell.strip()
    return "" if text in _NOTHING else text


def _ids(row: Row, notes: list[Note]) -> dict[str, str]:
    eid = identifiers.scopus_document(row["eid"].strip() or row["link"])
    ids = {"scopus": eid} if eid else {}
    identifiers.add(ids, "doi", _given(row["doi"]), notes)
    identifiers.add(ids, "pmid", _given(row["pubmed id"]), notes)
    return ids


def _authors(row: Row, notes: list[Note]) -> list[Author]:
    short = short_names(plain_text(row["authors"]))
    full = _full_names(plain_text(row["author full names"]))
    for name in filter(None, (name.strip() for name in row["authors"].split(";"))):
        if is_placeholder(name) and folded(name):
            note_contributor(name, notes)
    if len(full) < len(short):  # one of the two cells is damaged; the longer one has all authors
        full = []
    names = [name for name, _ in full] or list(map(_without_initials_before, short))
    numbers = _numbers(row["author(s) id"], [number for _, number in full] or [""] * len(short), notes)
    authors = [Author(place, name, ids=_scopus_id(numbers[place])) for place, name in enumerate(names)]
    if len(short) != len(names):
        short = names
    if authors:
        _add_affiliations(authors, short, row)
        if "@" in row["correspondence address"]:
            _add_corresponding_emails(authors, short, row["correspondence address"])
    return remove_repeats(authors)


def _numbers(cell: str, in_names: list[str], notes: list[Note]) -> list[str]:
    """The ids of the authors: those behind their names, otherwise those in the column of ids if it has one for each."""
    if all(in_names):
        return in_names
    numbers = [number.strip() for number in _given(cell).rstrip("; ").split(";")]
    if len(numbers) == len(in_names):
        return [number or other for number, other in zip(in_names, numbers, strict=True)]
    if numbers != [""]:
        found = f"{counted(len(numbers), 'author id')} for {counted(len(in_names), 'author')}"
        notes.append(("field", f"there are {found}, so it is unclear whose they are"))
    return in_names


def _scopus_id(number: str) -> dict[str, str]:
    valid = number.lstrip("0") if number.isdecimal() else identifiers.number(number)
    return {"scopus": valid} if valid else {}


def _add_affiliations(authors: list[Author], names: list[str], row: Row) -> None:
    """Add the affiliations to their authors; without names, only if there is one author or one affiliation."""
    distinct = [text for part in plain_text(row["affiliations"]).split(";") if (text := part.strip())]
    if with_names := plain_text(row["authors with affiliations"]):
        by_author = affiliations_by_author(with_names, distinct, names)
    else:
        by_author = [distinct if len(authors) == 1 or len(distinct) == 1 else []] * len(authors)
    for author, affiliations in zip(authors, by_author, strict=True):
        for text in affiliations:
            add_address(author, text)


def _add_corresponding_emails(authors: list[Author], names: list[str], cell: str) -> None:
    """Add the e-mail addresses in "J. Doe; University of X; email: jd@x.org; A. Roe; …" to the authors before them."""
    index = _ScopusAuthors(authors, names)
    current, may_follow = 0 if len(authors) == 1 else None, True
    for part in map(str.strip, cell.split(";")):
        if "@" in part:
            if current is not None:
                authors[current].emails += emails_in(part)
            may_follow = True
        elif len(part) <= _LONGEST_NAME and (may_follow or part[-1:] == "." or _INITIALS_FIRST.match(part)):
            current, may_follow = index.find(_family_first(part), otherwise=current), False


class _ScopusAuthors:
    """The authors of a record by their short names; other spellings are compared only if the exact one is not found."""

    def __init__(self, authors: list[Author], names: list[str]) -> None:
        self._authors, self._names = authors, names
        self._places: dict[str, int | None] = {}
        for place, name in enumerate(names):
            self._places[name] = None if name in self._places else place

    def find(self, name: str, otherwise: int | None) -> int | None:
        """The author that a name refers to; None if there are several, `otherwise` if there is none."""
        short = name.replace(",", "", 1)
        if short in self._places:
            return self._places[short]
        found = self._spellings.find(name)
        return otherwise if found is None else found

    @cached_property
    def _spellings(self) -> AuthorIndex:
        both = zip(self._authors, self._names, strict=True)
        return AuthorIndex([(author.name, _with_comma(name)) for author, name in both])


def _with_comma(name: str) -> str:
    family, _, given = name.rpartition(" ")
    return name if "," in name or not family else f"{family}, {given}"


def _family_first(name: str) -> str:
    """A name in the notation of addresses, "J.-C. Doe", in that of lists, "Doe, J.-C."."""
    found = _INITIALS_FIRST.match(name)
    return f"{found[2]}, {found[1].strip()}" if found else _with_comma(name)


def short_names(cell: str) -> list[str]:
    """The names in the column of authors, separated by semicolons or, until 2022, by commas.

    >>> short_names("Doe J.; Roe A.B."), short_names("Doe, J., Roe, A.B.")
    (['Doe J.', 'Roe A.B.'], ['Doe, J.', 'Roe, A.B.'])
    >>> short_names("Doe J., Roe A.B., Jr., Poe E.-A.")
    ['Doe J.', 'Roe A.B., Jr.', 'Poe E.-A.']
    """
    if ";" in cell:
        names = [part.strip() for part in cell.split(";")]
    elif _INITIALS_TWICE.match(cell):
        names = [cell.strip()]
    else:
        names = []
        for part in cell.split(","):
            part = part.strip()
            if names and (part.lower() in SUFFIXES or (names[-1][-1:] != "." and _INITIALS.fullmatch(part))):
                names[-1] += f", {part}"
            else:
                names.append(part)
    return [name for name in names if not is_placeholder(name)]


def _without_initials_before(name: str) -> str:
    """A name without the initials that some exports put before it.

    >>> _without_initials_before("J.A., Doe, Jane A."), _without_initials_before("Doe, J.")
    ('Doe, Jane A.', 'Doe, J.')
    """
    return _INITIALS_TWICE.sub("", name) if "., " in name else name


def _full_names(cell: str) -> list[tuple[str, str]]:
    """The names in the column of full names, each with the id behind it.

    >>> _full_names("Doe, Jane (57); Roe, Amy")
    [('Doe, Jane', '57'), ('Roe, Amy', '')]
    """
    authors = []
    for part in cell.split(";"):
        name, _, number = part.strip().rpartition(" (")
        if not (name and number[-1:] == ")" and number[:-1].isdecimal()):
            name, number = part.strip(), ""
        if not is_placeholder(name):
            authors.append((name, number[:-1]))
    return authors


def affiliations_by_author(cell: str, distinct: Sequence[str], names: Sequence[str]) -> list[list[str]]:
    """The affiliations of each author, from the column that has them behind the authors' names.

    Several affiliations of one author are joined by commas; the list of distinct affiliations shows where each ends.

    >>> cell = "Doe, J., Univ. A, Rome, Dept. B, Oslo; Roe, A.; Poe, E., Dept. B, Oslo"
    >>> affiliations_by_author(cell, ["Univ. A, Rome", "Dept. B, Oslo"], ["Doe J.", "Roe A.", "Poe E."])
    [['Univ. A, Rome', 'Dept. B, Oslo'], [], ['Dept. B, Oslo']]
    """
    found: list[list[str]] = [[] for _ in names]
    entries, splitter, others, place = cell.split("; "), _AffiliationSplitter(distinct), None, -1
    for number, entry in enumerate(entries):
        name = names[place + 1] if place + 1 < len(names) else ""
        if name and entry.startswith(name) and entry[len(name) : len(name) + 2] in ("", ", "):  # as almost always
            place, entry = place + 1, entry[len(name) + 2 :]
        else:
            others = others or _NamesBeforeAffiliations(names)
            place, entry = others.split(entry, place, number if len(entries) == len(names) else None)
        if place >= 0:
            found[place] += splitter.split(entry)
    return found


class _NamesBeforeAffiliations:
    """Recognises the names of authors before affiliations, in any notation."""

    def __init__(self, names: Sequence[str]) -> None:
        self._keys = [_name_key(name) for name in names]
        self._places = dict(zip(reversed(self._keys), range(len(names) - 1, -1, -1), strict=True))

    def split(self, entry: str, before: int, in_order: int | None) -> tuple[int, str]:
        """The author of an entry, and the affiliations in it: the next author if possible, else any that it names.

        An entry that begins with no author's name continues the affiliation of the author before.
        """
        parts = entry.split(", ", 3)
        place = before + 1
        taken = _name_length(parts, self._keys[place]) if place < len(self._keys) else 0
        if not taken and (other := self._named(parts)):
            place, taken = other
        elif not taken and in_order is not None and (taken := _any_name_length(parts)):
            place = in_order  # though spelled differently
        return (place, ", ".join(parts[taken:])) if taken else (before, entry)

    def _named(self, parts: list[str]) -> tuple[int, int] | None:
        key = ""
        for size, part in enumerate(parts[:3], 1):
            key += part.replace(" ", "")
            if key in self._places:
                return self._places[key], size
        return None


def _name_length(parts: list[str], key: str) -> int:
    """The number of parts that a name takes: one in "Doe J., Rome", two in "Doe, J., Rome", three with "Jr."."""
    first = parts[0].replace(" ", "")
    if first == key:
        return 1
    if not key.startswith(first) or len(parts) == 1:
        return 0
    second = first + parts[1].replace(" ", "")
    return 2 if second == key else 3 if len(parts) > 2 and second + parts[2] == key else 0


def _any_name_length(parts: list[str]) -> int:
    return 1 if parts[0][-1:] == "." else 2 if len(parts) > 1 and _INITIALS.fullmatch(parts[1]) else 0


def _name_key(name: str) -> str:
    """Family name and initials without separators, equal for "Doe J., Jr." and "Doe, J., Jr."."""
    family, comma, given = name.partition(", ")
    if comma and "." not in family and not _INITIALS.match(given):
        given = "".join(f"{word[0]}." for word in given.split())
    return (family + given).replace(" ", "").replace(",", "")


class _AffiliationSplitter:
    """Splits the affiliations of one author, by means of the distinct affiliations of the document."""

    def __init__(self, distinct: Sequence[str]) -> None:
        self._distinct = frozenset(distinct)

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for text in sorted(self._distinct, key=len, reverse=True):
            table.setdefault(text.partition(",")[0], []).append(text)
        return table

    def split(self, text: str) -> list[str]:
        """The affiliations in a text that joins them with commas."""
        parts, rest = [], text.strip(" ,")
        while rest:
            part = rest if rest in self._distinct else self._first_of(rest)
            parts.append(part)
            rest = rest[len(part) :].lstrip(" ,")
        return parts

    def _first_of(self, rest: str) -> str:
        candidates = self._by_beginning.get(rest.partition(",")[0], ())
        return next((text for text in candidates if rest.startswith(f"{text},")), rest)


FORMAT = Format(name="scopus", title="Scopus CSV", recognises=_recognises, open=_open, parse=parse)
