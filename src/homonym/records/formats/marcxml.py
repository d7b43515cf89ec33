"""MARCXML: MARC 21 records of library catalogues, in collections, harvests over OAI-PMH and answers of SRU.

Reads title, abstract, year, venue, subjects, classification, DOI, OCLC number and DOIs of references, and per
author name, affiliations, e-mail, ORCID, ISNI, VIAF, GND and Library of Congress identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_address, plain_email
from homonym.records.fields.authority_ids import add_authority_id
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.people import SUFFIX, folded
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.xml_stream import (
    PREFIX,
    Element,
    cut_records,
    element_of,
    even_text,
    is_xml,
    prefixes_of,
)
from homonym.records.reader import Columns, Format, Records

# Harvests and answers have a record around the record of MARC, which begins with its leader or its fields.
_RECORD = re.compile(
    rb"<(" + PREFIX + rb"record)(?=[^<>]{0,150}>\s{0,50}<" + PREFIX + rb"(?:leader|controlfield|datafield)[\s>])"
)
_INSIDE = re.compile(rb"</?" + PREFIX + rb"(?:leader|controlfield|datafield|subfield)[\s>]")

# Roles of people who are authors, as codes ($4) and as words ($e); people without a role are authors, too.
_AUTHOR_CODES = frozenset({"aut", "cre", "dis", "aus", "inv", "prg"})
_AUTHOR_WORDS = re.compile(r"\b(?:co-?)?(?:auth|aut\b|creator|verfasser|autor|auteur|dissertant|writer)", re.IGNORECASE)

# Main and added entries: people, bodies, meetings. A person with this first indicator is a family.
_ENTRIES = (("100", "110", "111"), ("700", "710", "711"))
_PEOPLE = ("100", "700")
_FAMILY = "3"

_YEAR = re.compile(r"(?<!\d)(?:1[4-9]|20)\d\d(?!\d)")
_END_MARKS = " /:;,=."
_INITIAL_LAST = re.compile(r"(?:^|[\s.-])[^\W\d_]\.$")
_DATES = re.compile(r"[,\s]*\(?\d{4}\s?-\s?(?:\d{4})?\)?\.?$")

Field = tuple[str, str, str, list[tuple[str, str]]]
"""Tag, first and second indicator, and subfields (code and text) of a field."""


def parse_record(record: bytes, around: bytes = b"") -> Parsed | None:
    """Read one record; None for a record of an authority file.

    >>> document, _ = parse_record(
    ...     b'<record><controlfield tag="001">7</controlfield><datafield tag="100" ind1="1"><subfield code="a">'
    ...     b'Doe, Jane,</subfield><subfield code="d">1950-</subfield></datafield><datafield tag="245" ind1="1">'
    ...     b'<subfield code="a">On ice :</subfield><subfield code="b">a study /</subfield></datafield></record>'
    ... )
    >>> document.id, document.title, document.authors[0].name
    ('7', 'On ice: a study', 'Doe, Jane')
    """
    controls, fields, leader = _fields(element_of(record, around))
    if not fields:
        raise BrokenRecordError("no fields with data")
    if leader[6:7] == "z" or not any(field[0] in {"245", "100", "700", "773"} for field in fields):
        return None
    notes: list[Note] = []
    number = " ".join(controls.get("001", "").split())
    agency = controls.get("003", "").strip()
    document = Document(
        id=f"({agency}){number}" if agency and number else number,
        authors=_authors(fields, notes),
        title=_title(fields),
        abstract=" ".join(_values(fields, {"520"}, "ab")),
        year=_year(fields, controls, notes),
        venue=_venue(fields),
        categories=_distinct(_values(fields, {"072"}, "a2")),
        keywords=_distinct(_subjects(fields)),
        references=_distinct(_cited(fields)),
        ids=_ids(fields, notes),
    )
    return document, notes


def _fields(element: Element) -> tuple[dict[str, str], list[Field], str]:
    """The control fields, the other fields and the leader of a record."""
    controls: dict[str, str] = {}
    fields: list[Field] = []
    leader = ""
    for child in element:
        name = child.tag.rpartition("}")[2]
        if name == "leader":
            leader = child.text or ""
        elif name == "controlfield":
            controls.setdefault(child.get("tag") or "", child.text or "")
        elif name == "datafield":
            parts = [(part.get("code", ""), part.text or "") for part in child if part.tag.endswith("subfield")]
            fields.append((child.get("tag") or "", child.get("ind1") or " ", child.get("ind2") or " ", parts))
    return controls, fields, leader


def _values(fields: list[Field], tags: set[str], codes: str) -> list[str]:
    """The texts of all subfields with these codes in all fields with these tags."""
    found = [text for tag, _, _, parts in fields if tag in tags for code, text in parts if code in codes and text]
    return [*filter(None, map(even_text, found))]


def _distinct(texts: Iterator[str] | list[str]) -> list[str]:
    return [*filter(None, dict.fromkeys(texts))]


def _first(parts: list[tuple[str, str]], code: str) -> str:
    return even_text(next((text for given, text in parts if given == code and text), ""))


def _title(fields: list[Field]) -> str:
    for tag, _, _, parts in fields:
        if tag == "245":
            texts = [even_text(text).strip(_END_MARKS) for code, text in parts if code in "abnp"]
            return ": ".join(filter(None, texts))
    return ""


def _year(fields: list[Field], controls: dict[str, str], notes: list[Note]) -> int | None:
    """The year of the imprint, else of the fixed field, else of the host or the thesis."""
    imprints = _values(fields, {"264", "260"}, "c")
    given = [*imprints, controls.get("008", "")[7:11], *_values(fields, {"773"}, "gd"), *_values(fields, {"502"}, "d")]
    for text in given:
        if found := _YEAR.search(text):
            return publication_year(found[0], notes)
    return publication_year(imprints[0], notes) if imprints else None


def _venue(fields: list[Field]) -> str:
    """The host of a part, else the series, else the publisher."""
    for tags, code in (({"773"}, "t"), ({"773"}, "p"), ({"490", "830", "440"}, "a"), ({"264", "260"}, "b")):
        if found := _values(fields, tags, code):
            return found[0].strip(_END_MARKS)
    return ""


def _subjects(fields: list[Field]) -> Iterator[str]:
    for word in _values(fields, {"600", "610", "611", "630", "647", "648", "650", "651", "653", "655", "689"}, "a"):
        yield word.strip(_END_MARKS)


def _ids(fields: list[Field], notes: list[Note]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for tag, first, _, parts in fields:
        if tag == "024" and first == "7" and _first(parts, "2").lower() == "doi":
            identifiers.add(ids, "doi", _first(parts, "a"), notes)
        elif tag == "035" and (number := _first(parts, "a")).startswith("(OCoLC)"):
            ids.setdefault("oclc", identifiers.number(number) or number)
    if "doi" not in ids:
        addresses = (identifiers.doi(text) for text in _values(fields, {"856"}, "u") if "doi.org/" in text)
        ids |= {"doi": doi} if (doi := next(filter(None, addresses), None)) else {}
    return {kind: value for kind, value in ids.items() if value}


def _cited(fields: list[Field]) -> Iterator[str]:
    """DOIs of references, which some repositories put into field 999 C5, and others into 510 or 787."""
    for tag, first, second, parts in fields:
        if (tag == "999" and first + second == "C5") or tag in {"510", "787"}:
            yield from (doi for code, text in parts if code in "aoux" and (doi := identifiers.doi(text)))


def _authors(fields: list[Field], notes: list[Note]) -> list[Author]:
    """The people of the main entry and of the added entries who are authors, each once; other entries are noted."""
    authors: list[Author] = []
    seen: set[str] = set()
    position = 0  # in the fields of people; those of bodies are lists of their own
    entries = [field for tags in _ENTRIES for field in fields if field[0] in tags]
    for tag, kind, _, parts in entries:
        if any(code == "t" for code, _ in parts) or not _is_author(parts):
            continue  # works that the record is related to
        is_group = kind == _FAMILY or tag not in _PEOPLE
        name = _group_name(parts) if is_group else _name(parts)
        if not folded(name):
            notes.append(("author", f"field {tag} has no name"))
        elif is_group:
            note_contributor(name, notes)
        elif name in seen:
            continue
        else:
            seen.add(name)
            authors.append(_author(position, name, parts, notes))
        position += tag in _PEOPLE
    return authors


def _is_author(parts: list[tuple[str, str]]) -> bool:
    """Whether the roles of a person include that of an author, or there are none."""
    codes = {text.rpartition("/")[2].strip(" .").lower()[:3] for code, text in parts if code == "4"}
    words = [text for code, text in parts if code == "e"]
    if codes & _AUTHOR_CODES or any(map(_AUTHOR_WORDS.search, words)):
        return True
    return not codes and not words


def _group_name(parts: list[tuple[str, str]]) -> str:
    """The name of a body with its units."""
    return ", ".join(filter(None, (even_text(text).strip(_END_MARKS) for code, text in parts if code in "ab")))


def _name(parts: list[tuple[str, str]]) -> str:
    given = next((text for code, text in parts if code == "a"), "")
    suffix = next((text for code, text in parts if code == "c"), "")
    return _joined(given, suffix)


@lru_cache(maxsize=1 << 14)
def _joined(given: str, suffix: str) -> str:
    """A name without the marks around it, with a suffix such as "Jr."; titles and dates are left out."""
    name = _DATES.sub("", even_text(given)).strip(" ,;:/")
    suffix = suffix.strip(" ,;:/()")
    name = name if _INITIAL_LAST.search(name) else name.rstrip(".")
    return f"{name}, {suffix}" if SUFFIX.fullmatch(suffix) else name


def _author(position: int, name: str, parts: list[tuple[str, str]], notes: list[Note]) -> Author:
    author = Author(position, name)
    for code, text in parts:
        if code in "01":
            add_authority_id(author.ids, "", text.strip(), notes)
        elif code in "uv" and text:
            add_address(author, text)
        elif code == "m" and "@" in text:
            author.emails.append(plain_email(text))
        elif code in "ij" and ("orcid" in text.lower() or text.startswith("0000-")):  # as INSPIRE and CERN write it
            add_authority_id(author.ids, "orcid", text, notes)
    return author


def _recognises(source: Source) -> bool:
    return is_xml(source.head) and _RECORD.search(source.head) is not None and b"subfield" in source.head


def _open(source: Source, columns: Columns) -> Records:
    return Records(cut_records(source.blocks(), _RECORD, _INSIDE), context=prefixes_of(source.head, _RECORD))


FORMAT = Format(name="marcxml", title="MARCXML", recognises=_recognises, open=_open, parse=parse_record)
