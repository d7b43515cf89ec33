"""MEDLINE text (.nbib or .txt), which PubMed's web site exports as "Send to: Citation manager" or "Save: PubMed".

Reads title, abstract, year, venue, MeSH headings and keywords, PMID, DOI and PMCID, and per author name,
affiliations, e-mail, ORCID and ResearcherID. PubMed's XML is read by `pubmed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_address, numbered_addresses, remove_repeats
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import is_placeholder
from homonym.records.model import FOUR_DIGITS, Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.splitting import Raw, split_at
from homonym.records.parsing.tagged_lines import (
    Field,
    Tags,
    by_tag,
    check_unfinished,
    cut_at,
    fields_of,
    first,
    is_name,
    without_cut_line,
)
from homonym.records.reader import Columns, Format, Records

# The lookbehind comes second: a pattern that begins with literal characters is searched much faster.
_BEGINNING = re.compile(rb"PMID(?<![^\r\n].{4}) ?- ?\d", re.DOTALL)
_OWNER = re.compile(rb"OWN(?<![^\r\n].{3}) {0,2}-", re.DOTALL)
_TAG = re.compile(r"\n([A-Z]{2,4}) {0,2}-(?: |(?=\n))")
_TYPICAL = re.compile(rb"(?:AUID|CRDT|DCOM|EDAT|FAU |JID |MHDA|OWN |PHST|STAT)- (?<![^\r\n].{6})", re.DOTALL)

# Tags of other contributors: groups (CN), editors and investigators. Fields after them, up to the next author, are
# not those of an author.
_OTHERS = frozenset({"CN", "ED", "FED", "FIR", "IR"})


def _recognises(source: Source) -> bool:
    return _BEGINNING.search(source.head) is not None or len(set(_TYPICAL.findall(source.head))) >= 4


def _open(source: Source, columns: Columns) -> Records:
    return Records(part for raw in split_at(source.blocks(), _BEGINNING) for part in _split_at_owner(raw))


def _split_at_owner(raw: Raw) -> Iterator[Raw]:
    """Split off a next record whose PMID is damaged: its second line has the tag OWN again."""
    owners = [] if raw.broken else [mark.start() for mark in _OWNER.finditer(raw.text)]
    return cut_at(raw, [_line_between(raw.text, *both) for both in pairwise(owners)])


def _line_between(text: bytes, start: int, place: int) -> int:
    """Start of the line before the line of `place`, 0 if it begins before `start`."""
    end = place - 2 if text[place - 2 : place] == b"\r\n" else place - 1
    return max(text.rfind(b"\n", start, end), text.rfind(b"\r", start, end)) + 1


def _parse(text: bytes, context: None) -> Parsed | None:
    fields = fields_of(text, _TAG)
    if not fields:
        return None
    finished = any(tag == "SO" for tag, _ in fields)  # the last line of every record
    if not finished:
        fields = without_cut_line(fields, text)
    tags = by_tag(fields)
    notes: list[Note] = []
    authors = _authors(fields, notes)
    title = first(tags, "TI", "BTI", "CTI", "TT")
    if not finished:
        check_unfinished("SO", title, len(authors), notes)
    if not title and not authors:
        raise BrokenRecordError("neither title nor authors")
    return _document(tags, title, authors, notes), notes


def _document(tags: Tags, title: str, authors: list[Author], notes: list[Note]) -> Document:
    ids = _ids(tags)
    if "pmid" not in ids:
        notes.append(("field", "the PMID is missing or not a number"))
    date = first(tags, "DP", "DEP")
    year = FOUR_DIGITS.search(date)
    return Document(
        id=ids.get("pmid", ""),
        authors=authors,
        title=title,
        abstract=first(tags, "AB"),
        year=publication_year(year[0] if year else date, notes),
        venue=first(tags, "JT", "TA") or (first(tags, "BTI", "CTI") if "TI" in tags else ""),
        keywords=_keywords(tags),
        ids=ids,
    )


def _keywords(tags: Tags) -> list[str]:
    """MeSH headings without qualifiers, then the authors' keywords. A star, which marks main topics, is removed.

    >>> _keywords({"MH": ["*Exercise/physiology", "Aged"], "OT": ["*ageing"]})
    ['Exercise', 'Aged', 'ageing']
    """
    headings = [plain_text(value).partition("/")[0].strip("* ") for value in tags.get("MH", ())]
    others = [plain_text(value).strip("* ") for value in tags.get("OT", ())]
    return [word for word in dict.fromkeys(headings + others) if word]


def _ids(tags: Tags) -> dict[str, str]:
    marked = [value for tag in ("LID", "AID") for value in tags.get(tag, ()) if "[doi]" in value]
    found = {
        "pmid": identifiers.number(first(tags, "PMID")),
        "doi": identifiers.doi(marked[0] if marked else first(tags, "SO")),
        "pmcid": first(tags, "PMC").upper(),
    }
    return {kind: value for kind, value in found.items() if value}


def _authors(fields: list[Field], notes: list[Note]) -> list[Author]:
    """Authors with the fields after each of them. In old records an address before them is the first author's."""
    authors: list[Author] = []
    author: Author | None = None
    has_full_name = False
    early: list[str] = []
    for tag, value in fields:
        if tag == "FAU" or (tag == "AU" and not has_full_name):
            author = _author(value, len(authors), notes)
            authors.append(author)
            has_full_name = tag == "FAU"
        elif tag == "AU":
            has_full_name = False
        elif tag in _OTHERS:
            author = None
            if tag == "CN" and (group := plain_text(value)):
                note_contributor(group, notes)
        elif tag == "AD":
            if author is not None:
                _add_addresses(author, value)
            elif not authors:
                early.append(value)
        elif tag == "AUID" and author is not None:
            _add_id(author, value, notes)
    for value in early if authors else ():
        _add_addresses(authors[0], value)
    return remove_repeats([author for author in authors if author.name])


def _author(value: str, position: int, notes: list[Note]) -> Author:
    name = plain_text(value)
    if is_name(name) and not is_placeholder(name):
        return Author(position, name)
    if is_name(name):
        note_contributor(name, notes)
    else:
        notes.append(("author", f"author {position} has no name"))
    return Author(position, "")


def _add_addresses(author: Author, value: str) -> None:
    for address in numbered_addresses(value):
        add_address(author, address)


def _add_id(author: Author, value: str, notes: list[Note]) -> None:
    """Add an identifier such as "ORCID: 0000-0002-1825-0097". Kinds other than ORCID and ResearcherID are ignored."""
    kind, _, number = plain_text(value).rpartition(": ")
    kind = kind.lower() or "orcid"
    if kind in {"orcid", "researcherid"}:
        identifiers.add(author.ids, kind, number, notes)


FORMAT = Format(name="nbib", title="MEDLINE text (nbib)", recognises=_recognises, open=_open, parse=_parse)
