"""arXiv JSON: the metadata snapshot (from Kaggle), unarXive, and lists of papers that scripts save from arXiv's API.

Reads title, abstract, year of the first version, journal reference, categories, arXiv number, DOI, and per author
name, affiliations and e-mail. Harvests in XML are read by `oai_pmh`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails
from homonym.records.fields.markup import latex_to_text
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import load_record, member, whole_name
from homonym.records.parsing.json_stream import names_in, open_json
from homonym.records.reader import Format

_SNAPSHOT = frozenset({"authors_parsed", "journal-ref", "report-no", "update_date", "submitter", "versions"})
_NAMES = frozenset(
    {"authors", "authors_parsed", "title", "abstract", "summary", "categories", "published", "metadata", "paper_id"}
)
_FROM_API = re.compile(
    rb'"(?:id|entry_id|arxiv_id|link|url|pdf_url)"\s*:\s*"https?:(?:\\?/){2}(?:\w+\.)?arxiv\.org\\?/'
)

_NUMBER = re.compile(rf"(?:^|[/:\s])({identifiers.ARXIV_NUMBER})(?:v\d+)?(?:\.pdf)?$", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")

# An entry of authors_parsed has family name, given names and suffix; affiliations follow.
_NAME_PARTS = 3

# LaTeX inside words: an accent, a special letter or a font change.
_IN_WORDS = re.compile(
    r"""\\(?:["'`^~=.]\s*+[{\\A-Za-z]|[cvuHkrb][{ ]|(?:ss|ae|AE|oe|OE|aa|AA|[oOlLij]|em|it|bf|tt|emph|text\w{2})\b)"""
)
_BETWEEN_NAMES = re.compile(r"[,;&:]|\band\b")
_ON_BEHALF = re.compile(r"(?:for|on behalf of)\s+(?=the\b)", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)
_MARKS_ONLY = re.compile(r"(?:\d|\band\b|\b[a-z]\b|[\s,;*†‡&])*+")
_MARK = re.compile(r"\d+|\b[a-z]\b")
_LEGEND = re.compile(r"\((\d{1,3}|[a-z])\)\s*([^()]+)")


def parse_record(text: bytes, context: object = None) -> Parsed:
    r"""Read one paper.

    >>> document, _ = parse_record(
    ...     rb'{"id": "0704.9999", "title": "On Gr\\\"obner\n  bases", "categories": "math.AC cs.SC",'
    ...     rb'"versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}],'
    ...     rb'"authors_parsed": [["Doe", "Jo", "II"], ["The Ice Collaboration", "", ""]]}'
    ... )
    >>> document.title, document.year, document.categories, [author.name for author in document.authors]
    ('On Gröbner bases', 2007, ['math.AC', 'cs.SC'], ['Doe, Jo, II', 'The Ice Collaboration'])
    """
    raw = load_record(text)
    if isinstance(raw.get("metadata"), dict):  # unarXive: papers with their full text
        raw = {"abstract": member(raw, "abstract", "text")} | raw["metadata"]
    if "authors" not in raw and "authors_parsed" not in raw:
        raise BrokenRecordError("neither 'authors_parsed' nor 'authors': not an arXiv record")
    notes: list[Note] = []
    number = _number(raw)
    ids = {"arxiv": identifiers.arxiv(number) or number} if number else {}
    if isinstance(given := raw.get("doi"), str) and (doi := identifiers.doi(given)):
        ids["doi"] = doi
    document = Document(
        id=number or _plain(raw.get("id")),
        authors=_authors(raw, notes),
        title=_plain(raw.get("title")),
        abstract=_abstract(raw.get("abstract") or raw.get("summary")),
        year=_year(raw, number),
        venue=_plain(raw.get("journal-ref") or raw.get("journal_ref")),
        categories=_categories(raw.get("categories") or raw.get("tags")),
        ids=ids,
    )
    return document, notes


def _number(raw: dict[str, Any]) -> str:
    """The arXiv number of a paper without version and address."""
    for key in ("id", "arxiv_id", "entry_id", "link", "url", "pdf_url"):
        value = raw.get(key)
        if isinstance(value, str) and (found := _NUMBER.search(value.strip())):
            return found[1]
    return ""


def _year(raw: dict[str, Any], number: str) -> int | None:
    """The year of the first version, from its date or from the arXiv number."""
    versions = raw.get("versions")
    if isinstance(versions, list) and versions and isinstance(versions[0], dict):
        created = str(versions[0].get("created"))
        if (usual := created[-17:-13]).isdecimal():  # Mon, 2 Apr 2007 19:18:42 GMT
            return int(usual)
        if found := _YEAR.search(created):
            return int(found[0])
    for key in ("published", "created"):
        if isinstance(raw.get(key), str) and (year := publication_year(raw[key], [])):
            return year
    digits = number.rpartition("/")[2][:2]
    if digits:
        return int(digits) + (1900 if int(digits) >= 91 else 2000)
    return publication_year(raw.get("update_date"), [])


def _categories(value: Any) -> list[str]:
    if isinstance(value, str):
        return value.split()
    if not isinstance(value, list):
        return []
    terms = (term.get("term") if isinstance(term, dict) else term for term in value)
    return [part for term in terms if isinstance(term, str) for part in term.split()]


def _authors(raw: dict[str, Any], notes: list[Note]) -> list[Author]:
    parsed, written = raw.get("authors_parsed"), raw.get("authors")
    if isinstance(parsed, list) and parsed:
        people: Iterable[tuple[str, list[Any]]] = map(_parsed_author, parsed)
    elif isinstance(written, list):
        people = map(_listed_author, written)
    else:
        people = _written_authors(written) if isinstance(written, str) else []
    authors = []
    for position, (name, places) in enumerate(people):
        if name:
            affiliations, emails = affiliations_and_emails(_places(places, written)) if places else ([], [])
            authors.append(Author(position, name, affiliations, emails, None, None, {}))
        else:
            notes.append(("author", f"author {position} has no name"))
    return authors


def _parsed_author(entry: Any) -> tuple[str, list[Any]]:
    """Name and affiliations of an entry of `authors_parsed`: family name, given names, suffix, affiliations."""
    if not isinstance(entry, list):
        return _listed_author(entry)
    try:
        return (_name(*entry), []) if len(entry) == _NAME_PARTS else (_name(*entry[:_NAME_PARTS]), entry[_NAME_PARTS:])
    except TypeError:  # parts are missing or not texts
        return "", []


def _listed_author(entry: Any) -> tuple[str, list[Any]]:
    """Name and affiliations of an entry that is a name or an object with a name."""
    name, places = (entry.get("name"), entry.get("affiliation")) if isinstance(entry, dict) else (entry, None)
    return _name(name) if isinstance(name, str) else "", places if isinstance(places, list) else [places]


@lru_cache(maxsize=1 << 14)
def _name(family: str, given: str = "", suffix: str = "") -> str:
    """A name as plain text; empty if it has no letters."""
    name = family + ", " + given if family and given else family or given or ""
    return whole_name(_plain(name + ", " + suffix if suffix else name))


def _written_authors(text: str) -> list[tuple[str, list[str]]]:
    """Names in one text such as "A. Doe (Ice Lab), B. Roe Jr. and C. Poe", each with its affiliations in brackets.

    >>> _written_authors("A. Doe (Ice Lab, Oslo (Norway)), B. Roe, Jr. and C. P\\\\'oe, et al")
    [('A. Doe', ['Ice Lab, Oslo (Norway)']), ('B. Roe, Jr.', []), ('C. Póe', []), ('et al', [])]
    """
    people: list[tuple[str, list[str]]] = []
    for outside, inside in _bracketed(_plain(text.partition("((")[0])):
        for piece in map(str.strip, _BETWEEN_NAMES.split(outside)):
            if people and _SUFFIX.fullmatch(piece):
                people[-1] = (f"{people[-1][0]}, {piece}", people[-1][1])
            elif whole_name(piece):
                people.append((_ON_BEHALF.sub("", piece, count=1), []))
        if people and inside:
            people[-1][1].append(inside)
    return people


def _bracketed(text: str) -> list[tuple[str, str]]:
    """Pieces of a text, each with the text in brackets after it. Nested brackets stay."""
    pieces, depth, start, opened = [], 0, 0, 0
    for bracket in re.finditer(r"[()]", text):
        at = bracket.start()
        if bracket[0] == "(":
            opened = at if depth == 0 else opened
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                pieces.append((text[start:opened], text[opened + 1 : at].strip()))
                start = at + 1
    return [*pieces, (text[start : opened if depth else len(text)], "")]


def _places(places: list[Any], written: Any) -> list[str]:
    """Affiliations; marks such as "1 and 2" are replaced by their entries in the list after the authors.

    >>> _places(["1 and 2", "Fog Lab"], "A. Doe (1 and 2) ((1) Ice Lab, (2) Snow Lab)")
    ['Ice Lab', 'Snow Lab', 'Fog Lab']
    """
    found, legend = [], _legend(written) if isinstance(written, str) and "((" in written else {}
    for place in map(_plain, places):
        if _MARKS_ONLY.fullmatch(place):
            found += [legend[mark] for mark in _MARK.findall(place) if mark in legend]
        else:
            found.append(place)
    return found


def _legend(authors: str) -> dict[str, str]:
    """The list of affiliations after the authors: "…, C. Poe (1) ((1) Ice Lab, Oslo, (2) Snow Lab)"."""
    return {mark: _plain(place).strip(" ,;") for mark, place in _LEGEND.findall("(" + authors.partition("((")[2])}


def _plain(value: Any) -> str:
    """A text without LaTeX, markup and line ends. Most texts have only line ends."""
    if not isinstance(value, str):
        return ""
    if "\\" in value or "$" in value or "{" in value or "~" in value or "<" in value or "&" in value:
        return latex_to_text(value)
    return _one_line(value)


def _one_line(value: str) -> str:
    """A text with white space collapsed. Nearly all need only their line ends replaced, which is fast."""
    text = value.replace("\n", " ").strip()
    simple = text.isascii() and "  " not in text and "\t" not in text and "\r" not in text
    return text if simple else " ".join(text.split())


def _abstract(value: Any) -> str:
    """An abstract. If only formulas are LaTeX, they stay: there are many, and they are not words."""
    if not isinstance(value, str):
        return ""
    if "<" in value or "&" in value or ("\\" in value and _IN_WORDS.search(value)):
        return latex_to_text(value)
    return _one_line(value)


def _recognises(source: Source) -> bool:
    """Two names of the snapshot, or papers whose id is an address at arXiv."""
    names = names_in(source.head)
    if "authors_parsed" in names or len(_SNAPSHOT & names) > 1:
        return True
    return "authors" in names and _FROM_API.search(source.head) is not None


FORMAT = Format(
    name="arxiv",
    title="arXiv metadata JSON",
    recognises=_recognises,
    open=lambda source, columns: open_json(source, _NAMES),
    parse=parse_record,
)
