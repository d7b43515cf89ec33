"""RIS, as reference managers, databases and publishers write it; no two of them agree on its tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from homonym.records import identifiers, scopus_names
from homonym.records.formats import Columns, Format, Records
from homonym.records.markup import plain_text
from homonym.records.model import Author, Document, Note, Parsed, publication_year
from homonym.records.problems import BrokenRecordError
from homonym.records.ris_authors import authors_of
from homonym.records.splitting import Raw, split_at
from homonym.records.tagged import (
    Field,
    Tags,
    by_tag,
    check_unfinished,
    cut_at,
    first,
    lines_of,
    require_header,
    split_fields,
    without_cut_line,
)
from homonym.sources import Source


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
_EID = re.compile(r"2-s2\.0-\d+")
_ARXIV = re.compile(r"arxiv\.org/(?:abs|pdf)/([a-z.-]+/\d{7}|\d{4}\.\d{4,5})", re.IGNORECASE)
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
    eid = _EID.search(addresses)
    arxiv = _ARXIV.search(addresses) if "xiv.org" in addresses else None
    found = {
        "wos": identifiers.web_of_science(accession) if accession.startswith(("WOS:", "ISI:")) else None,
        "scopus": eid[0] if eid else None,
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
