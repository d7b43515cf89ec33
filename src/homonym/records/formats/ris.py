"""RIS, as reference managers, databases and publishers write it; no two of them agree on its tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_address, add_shared_address, remove_repeats
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import AuthorIndex, is_placeholder
from homonym.records.formats import scopus_names
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.splitting import Raw, split_at
from homonym.records.parsing.tagged_lines import (
    Field,
    Tags,
    by_tag,
    check_unfinished,
    cut_at,
    first,
    is_name,
    lines_of,
    require_header,
    split_fields,
    without_cut_line,
)
from homonym.records.registry import Columns, Format, Records

_AUTHOR_TAGS = ("AU", "A1")

_GROUP = re.compile(
    r"\b(?:academ(?:y|ie)|agency|alliance|association|bureau|cent(?:er|re)s?|clinic|collaborat(?:ion|ive|ors)|college"
    r"|commission|committee|company|conference|consortium|corporation|council|department|federation|foundation|gmbh"
    r"|government|group|hospital|inc|initiative|institut[eo]?|investigators|laborator(?:y|ies)|limited|ltd|ministry"
    r"|museum|national|network|office|organi[sz]ation|panel|partnership|program(?:me)?|project|registry|research|school"
    r"|secretariat|services?|society|stud(?:y|ies)|survey|task force|team|trial|trust|union|universit(?:y|é|ät|à|at)"
    r"|universidade?|working party)\b",
    re.IGNORECASE,
)
_SMALL_WORDS = (" of ", " for ", " the ", " and ", " für ")
_INITIAL = re.compile(r"(?:^|[\s.-])[^\W\d_]\.")
_COUNTRY = ("U.S. ", "U.K. ", "U.N. ")
_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,4}")

# Bounded and possessive throughout: addresses can be long. "Doe, J.: address", "Doe, J., e-mail", "J. Doe, address".
_NAMED = re.compile(
    r"([^:;@()]{2,60}+): ?"
    r"|([^,;@]{2,40}+,[^,;@]{1,40}+), (?=[^\s,]{1,80}@)"
    r"|((?:[^\W\d_]\.[ -]?){1,5}+[^,.;:@]{2,40}+)[,;] "
)
_INITIALS_FIRST = re.compile(r"((?:[^\W\d_]\.[ -]?){1,5}+)(\S.*)")
_BRACKETED = re.compile(r"\(([^()]{2,5000}+)\) ?(?=\S)")
_CORRESPONDENCE = re.compile(r"Correspondence Address: ([^;@]{2,80}+); ?")
_NEXT_ADDRESS = re.compile(r"\n(?=\S)|; ?")


#: A name that stands before an address is not longer.
_LONGEST_BEFORE_ADDRESS = 80


class _Index:
    """The authors by name; other spellings are looked for only where a name is not written as in the list."""

    def __init__(self, authors: list[Author]) -> None:
        self._places: dict[str, int] = {}
        for place, author in enumerate(authors):
            self._places.setdefault(author.name, place)
        self._authors = authors

    def beginning(self, address: str) -> tuple[int | None, str]:
        """The author whose name an address begins with, and the rest: Ovid's "Doe, Jane A. Department, Town"."""
        end = address.find(". ", 0, _LONGEST_BEFORE_ADDRESS)
        while end > 0:
            place = self._places.get(address[:end], self._places.get(address[: end + 1]))
            if place is not None:
                return place, address[end + 2 :]
            end = address.find(". ", end + 1, _LONGEST_BEFORE_ADDRESS)
        return None, address

    def find(self, name: str) -> int | None:
        """The place of the author that a name means."""
        place = self._places.get(name, self._places.get(name.removesuffix(".")))
        return self._others.find(name) if place is None else place

    @cached_property
    def _others(self) -> AuthorIndex:
        return AuthorIndex([(author.name,) for author in self._authors])


def authors_of(fields: list[Field], tags: Tags, notes: list[Note]) -> list[Author]:
    """The persons among the authors, with what the record says of each."""
    authors: list[Author] = []
    for position, (name, orcid) in enumerate(_names(tags)):
        if not is_name(name):
            notes.append(("author", f"author {position} has no name"))
            continue
        authors.append(Author(position, name))
        if orcid:
            _give_orcid(authors[-1], orcid, notes)
    if authors and not tags.keys().isdisjoint(("AD", "AI", "OI", "M1", "N1")):
        index = _Index(authors)
        _give_identifiers(authors, index, tags, notes)
        _give_named_addresses(authors, index, tags)
        _give_addresses(authors, index, fields, tags)
    return remove_repeats(authors)


def _names(tags: Tags) -> Iterator[tuple[str, str]]:
    """Names of persons and the ORCID behind each. Some exports give all authors twice, as AU and as A1."""
    known: set[str] = set()
    for tag in [tag for tag in tags if tag in _AUTHOR_TAGS]:
        entries = [_without_orcid(entry) for value in tags[tag] for entry in _entries(plain_text(value))]
        for name, orcid in entries:
            if not name or not (is_placeholder(name) or is_group(name) or name in known):
                yield name.rstrip(", "), orcid
        if "AU" in tags and "A1" in tags:
            known.update(name for name, _ in entries)


def _entries(text: str) -> list[str]:
    """The authors in one field, of which there should be one.

    >>> _entries("Doe, J.; Roe, A."), _entries("Doe, John, Jr."), _entries("Doe, John and Roe, Ann")
    (['Doe, J.', 'Roe, A.'], ['Doe, John, Jr.'], ['Doe, John', 'Roe, Ann'])
    >>> _entries("John Doe, Ann Roe, Li Xu"), _entries("Doe, J., Roe, A."), _entries("Health and Safety Executive")
    (['John Doe', 'Ann Roe', 'Li Xu'], ['Doe, J.', 'Roe, A.'], ['Health and Safety Executive'])
    """
    if ";" not in text and " and " not in text and "&" not in text and text.count(",") < 2:
        return [text]
    text = text.replace(" & ", " and ")
    if ";" in text:
        return [part.strip() for part in text.split(";") if part.strip()]
    if " and " in text and not is_group(text.replace(" and ", " ")):
        several = [part.strip(", ") for part in text.split(" and ")]
        if all(" " in part for part in several):
            return [entry for part in several for entry in _entries(part)]
    return _between_commas(text) if text.count(",") > 1 else [text]


def _between_commas(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) > 2 and all(" " in part for part in parts):
        return parts
    if len(parts) > 3 and len(parts) % 2 == 0 and all(map(_INITIALS.fullmatch, parts[1::2])):
        return [f"{surname}, {initials}" for surname, initials in zip(parts[::2], parts[1::2], strict=True)]
    return [text]


def _without_orcid(text: str) -> tuple[str, str]:
    """A name and the ORCID that some repositories write behind it.

    >>> _without_orcid("Doe, Jane (ORCID: 0000-0002-1825-0097)")
    ('Doe, Jane', '0000-0002-1825-0097')
    """
    for before, orcid in identifiers.split_at_orcids(text):
        return identifiers.without_orcid_label(before), orcid
    return text, ""


def is_group(name: str) -> bool:
    """Tell a body or group from a person, as far as its words do; a name of surname and given name is a person's.

    >>> [is_group(name) for name in ("World Health Organization", "U.S. Geological Survey", "Bank of England,")]
    [True, True, True]
    >>> [is_group(name) for name in ("Doe, Jane", "W. H. Center", "In Ho Kim", "Nguyen The Anh", "ATLAS Team, The")]
    [False, False, False, False, False]
    """
    if name.count(" ") > 1 and any(map(name.__contains__, _SMALL_WORDS)):
        return True
    if "," in name[:-1] or " " not in name or not _GROUP.search(name):
        return False
    return name.startswith(_COUNTRY) or _INITIAL.search(name) is None


def _give_orcid(author: Author, text: str, notes: list[Note]) -> None:
    if orcid := identifiers.orcid(text):
        author.ids.setdefault("orcid", orcid)
    else:
        notes.append(("field", f"{text!r} is no ORCID"))


def _give_identifiers(authors: list[Author], index: _Index, tags: Tags, notes: list[Note]) -> None:
    """Read "Doe, J; ORCID: 0000-…, Roe, A; ORCID: 0000-…": each ORCID belongs to the name before it.

    Ovid writes "http://orcid.org/" before the name as well.
    """
    for value in (value for tag in ("AI", "OI") for value in tags.get(tag, ())):
        for before, orcid in identifiers.split_at_orcids(plain_text(value)):
            name = identifiers.without_orcid_label(before[-200:])
            owner = index.find(name) if name else 0 if len(authors) == 1 else None
            if owner is None:
                notes.append(("field", f"ORCID {orcid} is of {name or 'nobody'!r}, not of an author"))
            else:
                _give_orcid(authors[owner], orcid, notes)


def _give_named_addresses(authors: list[Author], index: _Index, tags: Tags) -> None:
    """Give addresses that begin with names: Embase's "(Doe J., e-mail; Roe A.) address", Scopus' for correspondence."""
    for value in tags.get("M1", ()):
        if value[:1] == "(" and (found := _BRACKETED.match(value)):
            _give_bracketed(authors, index, found[1], value[found.end() :])
    for value in tags.get("N1", ()):
        if (found := _CORRESPONDENCE.match(value)) and (owner := index.find(surname_first(found[1]))) is not None:
            add_address(authors[owner], value[found.end() :])


def _give_addresses(authors: list[Author], index: _Index, fields: list[Field], tags: Tags) -> None:
    """Give addresses that name nobody only where it is clear whose they are.

    Scopus and the Web of Science list the different addresses of a document: even where these are as many as the
    authors, two of them may be one author's. Only an address that stands between authors is of the one before it.
    """
    given = tags.get("AD", ())
    if given and len(authors) > 1 and _each_has_its_own(fields):
        _give_to_those_before(authors, index, fields)
        return
    addresses = [address for value in given for address in _unnamed(authors, index, value)]
    if len(authors) == 1 or len(addresses) == 1:
        for address in addresses:
            add_shared_address(authors, address)


def _each_has_its_own(fields: list[Field]) -> bool:
    """Whether addresses stand between authors, and behind the first of them; authors given twice do not count."""
    order = [tag for tag, _ in fields if tag == "AD" or tag in _AUTHOR_TAGS]
    first = order.index("AD")
    return first > 0 and len({*order}) == 2 == len({*order[first:]})


def _give_to_those_before(authors: list[Author], index: _Index, fields: list[Field]) -> None:
    owner = None
    for tag, value in fields:
        if tag in _AUTHOR_TAGS:
            owner = index.find(_without_orcid(plain_text(value))[0].rstrip(", "))
        elif tag == "AD":
            for address in _unnamed(authors, index, value):
                if owner is not None:
                    add_address(authors[owner], address)


def _give_bracketed(authors: list[Author], index: _Index, names: str, address: str) -> None:
    for entry in names.split(";"):
        name, _, email = entry.strip().partition(", ")
        if "@" not in email:  # then the comma is one of the name
            name, email = entry.strip(), ""
        if (owner := index.find(name)) is not None:
            add_address(authors[owner], f"{address} {email}")


def _unnamed(authors: list[Author], index: _Index, value: str) -> list[str]:
    """The addresses of a field, less those that name their author, which are given to him or her."""
    unnamed = []
    several = _NEXT_ADDRESS.split(value) if ";" in value or "\n" in value else [value]
    for address in filter(None, map(str.strip, several)):
        named = _NAMED.match(address) if ":" in address or "@" in address or address[1:2] == "." else None
        name = next(filter(None, named.groups())) if named else ""
        owner = index.find(surname_first(name)) if name else None
        rest = address[named.end() :] if named else ""
        if owner is None:
            owner, rest = index.beginning(address)
        if owner is None:
            unnamed.append(address)
        else:
            add_address(authors[owner], rest)
    return unnamed


def surname_first(name: str) -> str:
    """A name that begins with initials, the other way round; any other as it is.

    >>> surname_first("J.-P. van Doe"), surname_first("Doe, J.")
    ('van Doe, J.-P.', 'Doe, J.')
    """
    found = _INITIALS_FIRST.fullmatch(name.strip())
    return f"{found[2]}, {found[1].strip()}" if found else name


class _Marks(NamedTuple):
    """Where records begin and end, and what only a record has, in a file of capitals or of small letters.

    Each looks behind only after its letters, so that the search runs over all else at full speed. One blank and none
    are seen too; then something must follow that no sentence has.
    """

    beginning: re.Pattern[bytes]
    end: re.Pattern[bytes]
    author: re.Pattern[bytes]
    title: re.Pattern[bytes]


def _marks(ty: bytes, er: bytes, a: bytes, t: bytes) -> _Marks:
    first_in_line = rb"(?<![^\r\n]..)"
    return _Marks(
        re.compile(ty + first_in_line + rb"(?:  -|[ \t]{0,4}-[ \t]*[A-Za-z]{3})", re.DOTALL),
        re.compile(er + first_in_line + rb"(?:  -[^\r\n]*|[ \t]{0,4}-[ \t]*(?=[\r\n]|\Z))[\r\n]*", re.DOTALL),
        re.compile(a + rb"(?:[U1]|u)" + first_in_line + rb"[ \t]{1,4}-", re.DOTALL),
        re.compile(t + rb"(?:[I1]|i)" + first_in_line + rb"[ \t]{1,4}-", re.DOTALL),
    )


_CAPITAL, _SMALL = _marks(b"TY", b"ER", b"A", b"T"), _marks(b"ty", b"er", b"a", b"t")
_BEHIND_END = re.compile(rb"(?<=\nER  -\n)|(?<=\nER  - \n)|(?<=\nER  -\r\n)|(?<=\nER  - \r\n)")
_ANY_TAG = re.compile(rb"([A-Z][A-Z0-9])  - (?<![^\r\n].{6})", re.DOTALL)
_LONG_TAG = re.compile(rb"(?:PMID|STAT|OWN |FAU |JID )- (?<![^\r\n].{6})", re.DOTALL)  # MEDLINE has the short ones too

_TAG = re.compile(r"\n([A-Z][A-Z0-9])  -[ \t]?")
_LAX_END = re.compile(r"\n(?:ER|er)[ \t]{0,4}-[ \t]*\n")
_KNOWN_TAGS = (
    "A[1-4UDBIN]|BT|C[1-8ANPRTY]|D[ABOP]|E[DPRT]|ID|IS|J[12AFIO]|K[W1]|L[1-4AB]|M[1-3]|N[12]|OP|P[BMPY]|RP|S[ENOPT]"
    "|T[1-3AIY]|U[1-5R]|VL|VO|Y[12R]"
)
_LAX_TAG = re.compile(rf"\n((?:{_KNOWN_TAGS})(?=[ \t]+-|-[ \t\n]))[ \t]*-[ \t]*", re.IGNORECASE)

_YEAR = re.compile(r"\d{4}")
_ARXIV = re.compile(rf"arxiv\.org/(?:abs|pdf)/({identifiers.ARXIV_NUMBER})", re.IGNORECASE)
_PUBMED = re.compile(r"(?:pubmed(?:\.ncbi\.nlm\.nih\.gov)?/|PMID:? ?(?:NLM)?|PUBMED )(\d{4,8})\b")
_PUBMED_WORDS = ("pubmed", "PMID", "PUBMED")
_PMID_TAGS = {"Scopus": "C2", "Embase": "C5", "MEDLINE": "AN", "Medline": "AN", "PubMed": "AN", "NLM": "AN"}
_VIEW = re.compile(r"[?#&].*|/(?:abstract|e?pdf|full(?:text)?|html|meta)$", re.DOTALL)
_REFERENCES = "References: "
_CITED = re.compile(r"([^\W\d][^,()&]{1,40}+, [A-Z]{1,4})\b[^()]{0,300}+\((?:1[89]|20)\d\d")


def _recognises(source: Source) -> bool:
    for marks in _CAPITAL, _SMALL:
        if mark := marks.beginning.search(source.head):
            return not source.head[: mark.start()].lstrip().startswith((b"<", b"{", b"[", b"@"))
    return len(set(_ANY_TAG.findall(source.head))) >= 4 and not _LONG_TAG.search(source.head)


def _open(source: Source, columns: Columns) -> Records:
    small = _SMALL.beginning.search(source.head) and not _CAPITAL.beginning.search(source.head)
    marks = _SMALL if small else _CAPITAL
    cut = _BEHIND_END if _has_types_inside(source.head) else marks.beginning
    return Records(part for raw in split_at(source.blocks(), cut) for part in _parted(raw, marks))


def _has_types_inside(head: bytes) -> bool:
    """Whether most records have their type not in the first line, as R packages write them; one may be damaged."""
    places = [mark.start() for mark in _CAPITAL.beginning.finditer(head)]
    inside = sum(_ANY_TAG.match(_last_line(head[:place][-2000:])) is not None for place in places)
    return 2 * inside > len(places)


def _last_line(text: bytes) -> bytes:
    """The line before, with its end cut off; nothing if that is the end of a record or blank."""
    line = text.removesuffix(b"\n").removesuffix(b"\r").rpartition(b"\n")[2]
    return b"" if line.startswith(b"ER") else line + b" "


def _parted(raw: Raw, marks: _Marks) -> Iterator[Raw]:
    """Part a record from a next one whose type is missing; remarks behind an end mark stay where they are."""
    ends = [] if raw.broken else [mark.end() for mark in marks.end.finditer(raw.text)]
    last = _last_of_a_record(raw.text, ends[0], marks) if ends and ends[0] < len(raw.text) else 0
    return cut_at(raw, [end for end in ends if end <= last])


def _last_of_a_record(text: bytes, start: int, marks: _Marks) -> int:
    """Where the last line begins that only a record has."""
    return max((mark.start() for kind in (marks.author, marks.title) for mark in kind.finditer(text, start)), default=0)


def _parse(text: bytes, context: None) -> Parsed | None:
    lines = lines_of(text)
    fields, finished = _fields(lines)
    if not fields:
        require_header(lines)
        return None
    if not finished:
        fields = without_cut_line(fields, text)
    tags = by_tag(fields)
    notes: list[Note] = []
    authors = authors_of(fields, tags, notes)
    title = first(tags, "TI", "T1", "BT", "CT", "ST", "TT")
    if not finished:
        check_unfinished("ER", title, len(authors), notes)
    if not title and not authors and "TY" not in tags:
        raise BrokenRecordError("cut off before its beginning")
    if len(tags.get("TY", ())) > 1:
        raise BrokenRecordError("two records, as an end mark ER is missing")
    if len(tags) < 2:
        raise BrokenRecordError("nothing but its type")
    if " TY  - " in lines:
        notes.append(("record", "the indented record behind it is not read (take away the blanks before its tags)"))
    return _document(tags, title, authors, notes), notes


def _document(tags: Tags, title: str, authors: list[Author], notes: list[Note]) -> Document:
    ids = _ids(tags)
    return Document(
        id=_id(tags, ids),
        authors=authors,
        title=title,
        abstract=_abstract(tags),
        year=_year(tags, notes),
        venue=_venue(tags, title),
        keywords=_keywords(tags),
        referenced_authors=_referenced_authors(tags),
        ids=ids,
        id_is_key=bool(ids),
    )


def _fields(lines: str) -> tuple[list[Field], bool]:
    """The fields up to the end mark, and whether there is one; what comes behind it are remarks."""
    end = lines.find("\nER  -")
    if end < 0 and (mark := _LAX_END.search(lines)):
        end = mark.start()
    inside = lines if end < 0 else lines[:end]
    fields = split_fields(inside, _TAG)
    if len(fields) < 4 or fields[0][0] != "TY":
        lax = [(tag.upper(), value) for tag, value in split_fields(inside, _LAX_TAG)]
        fields = max(fields, lax, key=len)
    return fields, end >= 0


def _abstract(tags: Tags) -> str:
    found = (plain_text(" ".join(tags.get(tag, ()))) for tag in ("AB", "N2"))
    return next((text for text in found if text not in ("", "NA")), "")  # R writes NA where there is nothing


def _year(tags: Tags, notes: list[Note]) -> int | None:
    """The year of publication: "2019//", "2019/05/01/Spring", "May 2019"; other dates of a record are no help."""
    for tag in "PY", "Y1", "YR", "DA":
        for value in tags.get(tag, ()):
            if (found := _YEAR.search(value)) and (year := publication_year(found[0], [])):
                return year
    return publication_year(first(tags, "PY", "Y1", "YR"), notes)


def _venue(tags: Tags, title: str) -> str:
    """The journal, book or meeting, full names first."""
    venues = (first(tags, tag) for tag in ("JF", "T2", "JO", "BT", "SO", "JA", "JI", "J2", "J9", "J1", "T3"))
    return next((venue for venue in venues if venue and venue != title), "")


def _keywords(tags: Tags) -> list[str]:
    """One keyword a field, a line, or between semicolons; Ovid marks the main ones with a star."""
    given = plain_text(";".join(tags.get("KW", ())).replace("\n", ";"))
    return list(filter(None, dict.fromkeys([word.strip("* ") for word in given.split(";")])))


def _referenced_authors(tags: Tags) -> list[str]:
    """First authors of the references that Ovid's PsycInfo gives in full, and all that Scopus gives in one."""
    cited = [found[1] for value in tags.get("M1", ()) if (found := _CITED.match(value))]
    for value in tags.get("N1", ()):
        if value.startswith(_REFERENCES):
            cited += scopus_names.referenced(value[len(_REFERENCES) :].replace("\n", " "))
    return list(dict.fromkeys(cited)) if cited else cited


def _ids(tags: Tags) -> dict[str, str]:
    accession = first(tags, "AN", "UT")
    addresses = " ".join(value.strip() for tag in ("UR", "L2") for value in tags.get(tag, ()))
    arxiv = _ARXIV.search(addresses) if "xiv.org" in addresses else None
    found = {
        "wos": identifiers.web_of_science(accession) if accession.startswith(("WOS:", "ISI:")) else None,
        "scopus": identifiers.scopus_document(addresses),
        "doi": _doi(tags),
        "pmid": _pmid(tags, accession, addresses),
        "pmcid": other if (other := first(tags, "C2").upper()).startswith("PMC") else None,
        "arxiv": arxiv[1].lower() if arxiv else None,
    }
    return {kind: value for kind, value in found.items() if value}


def _doi(tags: Tags) -> str | None:
    """The DOI: in its own field, alone in one for other things, or in an address of the document."""
    for tag in "DO", "DI", "L3", "M3", "N1", "UR", "L2":
        for value in tags.get(tag, ()):
            if tag in ("M3", "N1") and not value.lower().startswith(("doi", "http", "10.")):
                continue
            if ("/" in value or "%" in value) and len(value) < 1000 and (doi := identifiers.doi(unquote(value))):
                return _VIEW.sub("", doi) if tag in ("UR", "L2") else doi
    return None


def _pmid(tags: Tags, accession: str, addresses: str) -> str | None:
    """The number in PubMed: each database has a field of its own for it, and so have those who import from it."""
    source = first(tags, "DB") + first(tags, "DP")
    for database, tag in _PMID_TAGS.items() if source else ():
        if database in source and (number := first(tags, tag)).isdigit():
            return identifiers.number(number)
    if "Ovid MEDLINE" in source and (number := first(tags, "ID")).isdigit():
        return identifiers.number(number)
    if own := first(tags, "PM"):
        return identifiers.number(own)
    places_of_others = f"{addresses} {first(tags, 'C3')} {accession} {first(tags, 'N1')[:1000]}"
    if not any(map(places_of_others.__contains__, _PUBMED_WORDS)):
        return None
    noted = _PUBMED.search(places_of_others)
    return identifiers.number(noted[1]) if noted else None


def _id(tags: Tags, ids: dict[str, str]) -> str:
    """What the record is known by, else what somebody called it."""
    if "wos" in ids:
        return f"WOS:{ids['wos']}"
    known = (ids.get(kind) for kind in ("scopus", "doi", "pmid", "pmcid", "arxiv"))
    return next((value for value in known if value), "") or first(tags, "AN", "ID", "U2", "LB")


FORMAT = Format(name="ris", title="RIS", recognises=_recognises, open=_open, parse=_parse)
