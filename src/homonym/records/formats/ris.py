"""RIS, as reference managers (EndNote, Zotero, Mendeley), databases (Scopus, Ovid, Embase) and publishers export it.

Each source uses the tags differently; this module knows the habits of the large ones. Reads authors with their
addresses, e-mail addresses and ORCIDs, the title, abstract, year, venue, keywords, identifiers and cited authors.

RIS is parsed here and not by rispy, which silently merges or loses damaged records; here damage stays in its record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from homonym.io.inputs import Source
from homonym.records.fields import exported_ids, identifiers
from homonym.records.fields.affiliations import add_address, add_shared_address, remove_repeats
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.degrees import is_degree, without_degrees
from homonym.records.fields.exported_ids import AUTHORS_FIELD, CONTRIBUTORS_FIELD, DOCUMENT_FIELD
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import (
    SUFFIXES,
    AuthorIndex,
    authors_by_form,
    is_group,
    is_placeholder,
    scopus_cited_authors,
    surname_first,
)
from homonym.records.model import FOUR_DIGITS, Author, BrokenRecordError, Document, Note, Parsed, publication_year
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
from homonym.records.reader import Columns, Format, Records

_AUTHOR_TAGS = ("AU", "A1")

# Tags of other formats that RIS does not have: corporate authors, and editors in the place of authors.
GROUPS, EDITORS = "groups", "editors"

_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,4}")
_DIGIT = re.compile(r"\d")
_WORDS_AND_COMMA = re.compile(r"[^\s,]+ [^,]+,")

# "Doe, J.: address", "Doe, J., e-mail", "J. Doe, address". Bounded and possessive throughout: addresses can be long.
_NAMED = re.compile(
    r"((?:[^\W\d_]\.[ -]?){1,5}+[^,.;:@]{2,40}+)[,;] "
    r"|([^:;@()]{2,60}+): ?"
    r"|([^,;@]{2,40}+,[^,;@]{1,40}+), (?=[^\s,]{1,80}@)"
)
BRACKETED = re.compile(r"\(([^()]{2,5000}+)\) ?(?=\S)")
# Scopus writes one note for each remark, or one for all of them.
_CORRESPONDENCE = re.compile(r"(?<![^;])\s?Correspondence Address: ([^;@]{2,80}+); ?")
_NEXT_REMARK = re.compile(r"; (?!e-?mail)(?=[A-Z][A-Za-z ]{2,30}: )", re.IGNORECASE)
_NAME_END = re.compile(r"\.,? |, ")
_NEXT_ADDRESS = re.compile(r"\n(?=\S)|; ?")

# Maximum length of a name before an address.
_LONGEST_BEFORE_ADDRESS = 80


class _Marks(NamedTuple):
    """Patterns of tags in upper or in lower case: first and last field of a record, and fields of authors and titles.

    Each pattern begins with letters and looks behind only then, which makes the search much faster. Tags with one
    blank or none occur, too; then something must follow that does not occur in sentences.
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
_AFTER_END = re.compile(rb"(?<=\nER  -\n)|(?<=\nER  - \n)|(?<=\nER  -\r\n)|(?<=\nER  - \r\n)")
_ANY_TAG = re.compile(rb"([A-Z][A-Z0-9])  - (?<![^\r\n].{6})", re.DOTALL)
_LONG_TAG = re.compile(
    rb"(?:PMID|STAT|OWN |FAU |JID )- (?<![^\r\n].{6})", re.DOTALL
)  # only MEDLINE has these, next to short tags

_TAG = re.compile(r"\n([A-Z][A-Z0-9])  -[ \t]?")
_LAX_END = re.compile(r"\n(?:ER|er)[ \t]{0,4}-[ \t]*\n")
_KNOWN_TAGS = (
    "A[1-4UDBIN]|BT|C[1-8ANPRTY]|D[ABOP]|E[DPRT]|ID|IS|J[12AFIO]|K[W1]|L[1-4AB]|M[1-3]|N[12]|OP|P[BMPY]|RP|S[ENOPT]"
    "|T[1-3AIY]|U[1-5R]|VL|VO|Y[12R]"
)
_LAX_TAG = re.compile(rf"\n((?:{_KNOWN_TAGS})(?=[ \t]+-|-[ \t\n]))[ \t]*-[ \t]*", re.IGNORECASE)

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
    cut = _AFTER_END if _has_types_inside(source.head) else marks.beginning
    return Records(part for raw in split_at(source.blocks(), cut) for part in _cut_after_ends(raw, marks))


def _has_types_inside(head: bytes) -> bool:
    """Whether most records have their type (TY) after other fields, as R packages write them."""
    places = [mark.start() for mark in _CAPITAL.beginning.finditer(head)]
    inside = sum(_ANY_TAG.match(_last_line(head[:place][-2000:])) is not None for place in places)
    return 2 * inside > len(places)


def _last_line(text: bytes) -> bytes:
    """The last line of a text, with a blank for its line end; empty if it is the last field of a record."""
    line = text.removesuffix(b"\n").removesuffix(b"\r").rpartition(b"\n")[2]
    return b"" if line.startswith(b"ER") else line + b" "


def _cut_after_ends(raw: Raw, marks: _Marks) -> Iterator[Raw]:
    """Cut a record off from the next one if that lacks its type; remarks after an end mark stay where they are."""
    ends = [] if raw.broken else [mark.end() for mark in marks.end.finditer(raw.text)]
    last = _last_author_or_title(raw.text, ends[0], marks) if ends and ends[0] < len(raw.text) else 0
    return cut_at(raw, [end for end in ends if end <= last])


def _last_author_or_title(text: bytes, start: int, marks: _Marks) -> int:
    """The place of the last field of an author or a title, which only a record has."""
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
    document = _document_of(fields, tags, notes)
    if not finished:
        check_unfinished("ER", document.title, len(document.authors), notes)
    if not document.title and not document.authors and "TY" not in tags:
        raise BrokenRecordError("the beginning of the record is missing")
    if len(tags.get("TY", ())) > 1:
        raise BrokenRecordError("two records have run together: the end mark ER of the first is missing")
    if len(tags) < 2:
        raise BrokenRecordError("the record has only its type (TY) and no other field")
    if " TY  - " in lines:
        notes.append(("record", "the indented record after it is not read (remove the blanks before its tags)"))
    return document, notes


def parse_renamed(fields: list[Field]) -> Parsed:
    """Read a record of another reference manager, whose fields have been renamed to the RIS tags of the same kinds."""
    notes: list[Note] = []
    document = _document_of(fields, by_tag(fields), notes)
    if not document.title and not document.authors:
        raise BrokenRecordError("neither title nor authors")
    return document, notes


def _document_of(fields: list[Field], tags: Tags, notes: list[Note]) -> Document:
    """The document that the fields of a record describe, which are also given by tag."""
    authors = authors_of(fields, tags, notes)
    title = first(tags, "TI", "T1", "BT", "CT", "ST", "TT")
    ids = _ids(tags)
    document = Document(
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
    _add_exported_ids(document, tags, notes)
    return document


def _add_exported_ids(document: Document, tags: Tags, notes: list[Note]) -> None:
    """Add the ids that `homonym export` wrote as notes."""
    found = _exported_notes(tags)
    if not found:
        return
    document_id, author_ids = (found.get(name, "") for name in (DOCUMENT_FIELD, AUTHORS_FIELD))
    exported_ids.add_exported_ids(document, document_id, author_ids, notes)
    exported_ids.note_exported_contributors(found.get(CONTRIBUTORS_FIELD, ""), notes)


def _exported_notes(tags: Tags) -> dict[str, str]:
    """What `homonym export` wrote as notes, by name."""
    return dict(filter(None, map(exported_ids.exported_note, tags.get("N1", ()))))


def _fields(lines: str) -> tuple[list[Field], bool]:
    """The fields before the end mark, and whether there is one; text after it is ignored."""
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
    return next((text for text in found if text not in ("", "NA")), "")  # R writes NA for missing values


def _year(tags: Tags, notes: list[Note]) -> int | None:
    """The year of publication, from "2019//", "2019/05/01/Spring" or "May 2019"."""
    for tag in "PY", "Y1", "YR", "DA":
        for value in tags.get(tag, ()):
            if (found := FOUR_DIGITS.search(value)) and (year := publication_year(found[0], [])):
                return year
    return publication_year(first(tags, "PY", "Y1", "YR"), notes)


def _venue(tags: Tags, title: str) -> str:
    """The journal, book or meeting, full names first."""
    venues = (first(tags, tag) for tag in ("JF", "T2", "JO", "BT", "SO", "JA", "JI", "J2", "J9", "J1", "T3"))
    return next((venue for venue in venues if venue and venue != title), "")


def _keywords(tags: Tags) -> list[str]:
    """Keywords, one per field or line or separated by semicolons; Ovid marks the main ones with a star."""
    given = plain_text(";".join(tags.get("KW", ())).replace("\n", ";"))
    return list(filter(None, dict.fromkeys([word.strip("* ") for word in given.split(";")])))


def _referenced_authors(tags: Tags) -> list[str]:
    """First authors of the references in Ovid's PsycInfo (one per field), all authors of those in Scopus (one note)."""
    cited = [found[1] for value in tags.get("M1", ()) if (found := _CITED.match(value))]
    for value in tags.get("N1", ()):
        if value.startswith(_REFERENCES):
            cited += scopus_cited_authors(value[len(_REFERENCES) :].replace("\n", " "))
    return list(dict.fromkeys(cited)) if cited else cited


def _ids(tags: Tags) -> dict[str, str]:
    accession = first(tags, "AN", "UT")
    addresses = " ".join(value.strip() for tag in ("UR", "L2") for value in tags.get(tag, ()))
    papers = [address for address in addresses.replace(";", " ").split() if "arxiv.org/" in address.lower()]
    found = {
        "wos": identifiers.web_of_science(accession) if accession.startswith(("WOS:", "ISI:")) else None,
        "scopus": identifiers.scopus_document(addresses),
        "doi": _doi(tags),
        "pmid": _pmid(tags, accession, addresses),
        "pmcid": other if (other := first(tags, "C2").upper()).startswith("PMC") else None,
        "arxiv": next(filter(None, map(identifiers.arxiv, papers)), None),
    }
    return {kind: value for kind, value in found.items() if value}


def _doi(tags: Tags) -> str | None:
    """The DOI, from its own field, from the beginning of a field for remarks, or from an address of the document."""
    for tag in "DO", "DI", "L3", "M3", "N1", "UR", "L2":
        for value in tags.get(tag, ()):
            if tag in ("M3", "N1") and not value.lower().startswith(("doi", "http", "10.")):
                continue
            if ("/" in value or "%" in value) and len(value) < 1000 and (doi := identifiers.doi(value)):
                return _VIEW.sub("", doi) if tag in ("UR", "L2") else doi
    return None


def _pmid(tags: Tags, accession: str, addresses: str) -> str | None:
    """The PubMed number; each database, and each tool that imports from it, has another field for it."""
    source = first(tags, "DB") + first(tags, "DP")
    for database, tag in _PMID_TAGS.items() if source else ():
        if database in source and (number := first(tags, tag)).isdigit():
            return identifiers.number(number)
    if "Ovid MEDLINE" in source and (number := first(tags, "ID")).isdigit():
        return identifiers.number(number)
    if own := first(tags, "PM"):
        return identifiers.number(own)
    other_places = f"{addresses} {first(tags, 'C3')} {accession} {first(tags, 'N1')[:1000]}"
    if not any(map(other_places.__contains__, _PUBMED_WORDS)):
        return None
    noted = _PUBMED.search(other_places)
    return identifiers.number(noted[1]) if noted else None


def _id(tags: Tags, ids: dict[str, str]) -> str:
    """A public identifier of the record, otherwise the key that the exporting tool gave it."""
    if "wos" in ids:
        return f"WOS:{ids['wos']}"
    public = (ids.get(kind) for kind in ("scopus", "doi", "pmid", "pmcid", "arxiv"))
    return next(filter(None, public), "") or first(tags, "AN", "ID", "U2", "LB")


def _first_word(text: str) -> str:
    return text.partition(" ")[0].rstrip(",.")


class _AuthorsByName:
    """The authors of a record by their names; other spellings are compared only if the exact one is not found.

    A name of two authors refers to none of them, unless their ids, where the record has `ids` of all, are the same.
    """

    def __init__(self, authors: list[Author], ids: Sequence[str] = ()) -> None:
        first: dict[str | int, int] = {}
        people: Sequence[str | int] = ids if len(ids) == len(authors) else range(len(authors))
        places = [first.setdefault(person, place) for place, person in enumerate(people)]
        self._places = authors_by_form((place, author.name) for place, author in zip(places, authors, strict=True))
        self._authors = authors

    def beginning(self, address: str) -> tuple[int | None, str]:
        """The author whose name an address begins with, and the rest; no author if several have this name.

        Ovid has "Doe, Jane A. Department, Town" or "Doe, Jane A.: Department", EBSCO "Doe, Jane A., Department, Town".
        """
        colon = address.find(": ", 0, _LONGEST_BEFORE_ADDRESS)
        if colon > 0 and address[:colon] in self._places:
            return self._places[address[:colon]], address[colon + 2 :]
        if _first_word(address) not in self._first_words:
            return None, address
        for found in _NAME_END.finditer(address, 0, _LONGEST_BEFORE_ADDRESS):
            for name in (address[: found.start()], address[: found.start() + 1]):
                if name in self._places:
                    return self._places[name], address[found.end() :]
        return None, address

    def find(self, name: str) -> int | None:
        """The number of the author that a name refers to; None if there is none, or more than one."""
        place = self._places.get(name, self._places.get(name.removesuffix(".")))
        return self._spellings.find(name) if place is None else place

    @cached_property
    def _first_words(self) -> set[str]:
        return {_first_word(author.name) for author in self._authors}

    @cached_property
    def _spellings(self) -> AuthorIndex:
        return AuthorIndex([(author.name,) for author in self._authors])


def authors_of(fields: list[Field], tags: Tags, notes: list[Note]) -> list[Author]:
    """The authors that are persons, with their addresses and identifiers."""
    authors: list[Author] = []
    for value in tags.get(EDITORS, ()):
        for name in _entries(plain_text(value)):
            note_contributor(f"{name} (Ed.)", notes)
    for group in filter(None, map(plain_text, tags.get(GROUPS, ()))):
        note_contributor(group, notes)
    for position, (name, orcid) in enumerate(_names(tags)):
        if (is_placeholder(name) or is_group(name) or _is_marked(name)) and is_name(name):
            note_contributor(name.rstrip(", "), notes)
            continue
        name = name.rstrip(", ")
        if not is_name(name):
            notes.append(("author", f"author {position} has no name"))
            continue
        authors.append(Author(position, name))
        if orcid:
            identifiers.add(authors[-1].ids, "orcid", orcid, notes)
    if authors and not tags.keys().isdisjoint(("AD", "AI", "OI", "M1", "N1")):
        ids = _exported_notes(tags).get(AUTHORS_FIELD, "")
        index = _AuthorsByName(authors, [one for one in ids.split(";") if one])
        _add_orcids(authors, index, tags, notes)
        _add_named_addresses(authors, index, tags)
        _add_unnamed_addresses(authors, index, fields, tags)
    return remove_repeats(authors)


def _names(tags: Tags) -> Iterator[tuple[str, str]]:
    """The names in the author fields, each with the ORCID behind it. Some exports list all twice, as AU and as A1."""
    listed: set[str] = set()
    for tag in [tag for tag in tags if tag in _AUTHOR_TAGS]:
        entries = [_without_orcid(entry) for value in tags[tag] for entry in _entries(plain_text(value))]
        yield from (entry for entry in entries if entry[0] not in listed)
        if "AU" in tags and "A1" in tags:
            listed.update(name for name, _ in entries)


def _is_marked(name: str) -> bool:
    """Whether a comma at the end of a name marks a group, as EndNote asks for.

    >>> [_is_marked(name) for name in ("Ice Watch,", "Doe, Jane,", "Doe,", "van Dijk,")]
    [True, False, False, False]
    """
    return name[-1:] == "," and _WORDS_AND_COMMA.fullmatch(name) is not None and not name[0].islower()


def _entries(text: str) -> list[str]:
    """The authors in one field, which should have only one.

    >>> _entries("Doe, J.; Roe, A."), _entries("Doe, John, Jr."), _entries("Doe, John and Roe, Ann")
    (['Doe, J.', 'Roe, A.'], ['Doe, John, Jr.'], ['Doe, John', 'Roe, Ann'])
    >>> _entries("Smith, John, MD, PhD"), _entries("Doe, Jane, Roe, Richard")
    (['Smith, John'], ['Doe, Jane', 'Roe, Richard'])
    >>> _entries("King, Martin, Luther, Junior"), _entries("University of X, Dept, Lab, City")
    (['King, Martin, Luther, Junior'], ['University of X, Dept, Lab, City'])
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
    plain = without_degrees(text)
    if plain != text and not all(map(_is_family, parts[2::2])):
        return _between_commas(plain)
    families, given = parts[::2], parts[1::2]
    if len(parts) < 4 or len(parts) % 2 or not all(map(_is_family, families)) or any(map(_is_suffix, given)):
        return [text]
    if all(map(_INITIALS.fullmatch, given)) or all(" " not in family for family in families):
        return [f"{family}, {name}" for family, name in zip(families, given, strict=True)]
    return [text]


def _is_family(text: str) -> bool:
    """Whether a text at the place of a family name may be one, and is no degree, no suffix and no group."""
    return not (_is_suffix(text) or is_degree(text, has_given=True) or is_group(text) or _DIGIT.search(text))


def _is_suffix(text: str) -> bool:
    return text.lower() in SUFFIXES or text.lower() in {"junior", "senior"}


def _without_orcid(text: str) -> tuple[str, str]:
    """A name and the ORCID that some repositories write behind it.

    >>> _without_orcid("Doe, Jane (ORCID: 0000-0002-1825-0097)")
    ('Doe, Jane', '0000-0002-1825-0097')
    """
    found = identifiers.split_at_orcids(text)
    return (identifiers.without_orcid_label(found[0][0]), found[0][1]) if found else (text, "")


def _add_orcids(authors: list[Author], index: _AuthorsByName, tags: Tags, notes: list[Note]) -> None:
    """Add the ORCIDs of "Doe, J; ORCID: 0000-…, Roe, A; ORCID: 0000-…", each to the author before it.

    Ovid also writes "http://orcid.org/" before the name.
    """
    for value in (value for tag in ("AI", "OI") for value in tags.get(tag, ())):
        for before, orcid in identifiers.split_at_orcids(plain_text(value)):
            name = identifiers.without_orcid_label(before[-200:])
            owner = index.find(name) if name else 0 if len(authors) == 1 else None
            if owner is None:
                notes.append(
                    ("field", f"ORCID {orcid} follows {name!r}, which is not the name of one author of this record")
                )
            else:
                identifiers.add(authors[owner].ids, "orcid", orcid, notes)


def _add_named_addresses(authors: list[Author], index: _AuthorsByName, tags: Tags) -> None:
    """Add addresses that begin with names: Embase's "(Doe J., e-mail; Roe A.) address", Scopus' for correspondence."""
    for value in tags.get("M1", ()):
        if value[:1] == "(" and (found := BRACKETED.match(value)):
            _add_bracketed(authors, index, found[1], value[found.end() :])
    for value in tags.get("N1", ()):
        found = _CORRESPONDENCE.search(value) if "Correspondence" in value else None
        if found and (owner := index.find(surname_first(found[1]))) is not None:
            add_address(authors[owner], _NEXT_REMARK.split(value[found.end() :])[0])


def _add_unnamed_addresses(authors: list[Author], index: _AuthorsByName, fields: list[Field], tags: Tags) -> None:
    """Add addresses without names, but only if it is clear which authors they belong to.

    Scopus and the Web of Science list the distinct addresses of a document. Even if there are as many as authors, two
    of them may belong to one author. An address between two author fields belongs to the author before it.
    """
    given = tags.get("AD", ())
    if given and len(authors) > 1 and _addresses_follow_authors(fields):
        _add_to_author_before(authors, index, fields)
        return
    addresses = [address for value in given for address in _unassigned(authors, index, value)]
    if len(authors) == 1 or len(addresses) == 1:
        for address in addresses:
            add_shared_address(authors, address)


def _addresses_follow_authors(fields: list[Field]) -> bool:
    """Whether address fields are between author fields, after the first author; not if authors are listed twice."""
    order = [tag for tag, _ in fields if tag == "AD" or tag in _AUTHOR_TAGS]
    first = order.index("AD")
    return first > 0 and len({*order}) == 2 == len({*order[first:]})


def _add_to_author_before(authors: list[Author], index: _AuthorsByName, fields: list[Field]) -> None:
    owner, following = None, 0
    for tag, value in fields:
        if tag in _AUTHOR_TAGS:
            name = _without_orcid(plain_text(value))[0].rstrip(", ")
            is_next = following < len(authors) and authors[following].name == name
            owner = following if is_next else index.find(name)
            following = following if owner is None else owner + 1
        elif tag == "AD":
            for address in _unassigned(authors, index, value, owner):
                if owner is not None:
                    add_address(authors[owner], address)


def _add_bracketed(authors: list[Author], index: _AuthorsByName, names: str, address: str) -> None:
    for entry in names.split(";"):
        name, _, email = entry.strip().partition(", ")
        if "@" not in email:  # then the comma is one of the name
            name, email = entry.strip(), ""
        if (owner := index.find(name)) is not None:
            add_address(authors[owner], f"{address} {email}")


def _unassigned(authors: list[Author], index: _AuthorsByName, value: str, before: int | None = None) -> list[str]:
    """Add the addresses of a field that begin with an author's name to that author; return the others.

    A name of several authors refers to the one `before` the field, if that author has it.
    """
    others = []
    several = _NEXT_ADDRESS.split(value) if ";" in value or "\n" in value else [value]
    for address in filter(None, map(str.strip, several)):
        owner, rest = index.beginning(address)
        if owner is None and rest != address:  # a name of several authors
            if before is None or not address.startswith(authors[before].name):
                continue
            owner = before
        if owner is None and (":" in address or "@" in address or address[1:2] == "."):
            named = _NAMED.match(address)
            name = next(filter(None, named.groups())) if named else ""
            owner = index.find(surname_first(name)) if name else None
            rest = address[named.end() :] if named else ""
        if owner is None:
            others.append(address)
        else:
            add_address(authors[owner], rest)
    return others


FORMAT = Format(name="ris", title="RIS", recognises=_recognises, open=_open, parse=_parse)
