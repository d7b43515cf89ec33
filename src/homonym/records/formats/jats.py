"""JATS: articles of journals in XML, as PubMed Central, Europe PMC, bioRxiv and publishers give them.

A file has one article or several. Only the front matter and the list of references are parsed, so the full text costs
little time. Reads title, abstract, year, venue, subjects, keywords, DOI, PMID and PMCID, cited DOIs and authors, and
per author name, affiliations, e-mail and ORCID.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import (
    add_address,
    add_emails,
    add_shared_address,
    address_and_emails,
    plain_email,
    remove_repeats,
)
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.people import is_placeholder
from homonym.records.model import (
    FIRST_YEAR,
    LAST_YEAR,
    Author,
    BrokenRecordError,
    Document,
    Note,
    Parsed,
    require_few_authors,
)
from homonym.records.parsing.json_fields import split_name, whole_name
from homonym.records.parsing.xml_stream import (
    PREFIX,
    Element,
    cut_records,
    element_of,
    even_text,
    is_xml,
    local_name,
    prefixes_of,
    start_of,
    text_of,
)
from homonym.records.reader import Columns, Format, Records

_MARK = re.compile(rb"<" + PREFIX + rb"(?:article-meta|journal-meta|article-id|contrib-group)[\s>]")
_ARTICLE = re.compile(rb"<" + PREFIX + rb"article[\s>]")
_INSIDE = re.compile(rb"</?" + PREFIX + rb"(?:front|article-meta|journal-meta|contrib-group|contrib|ref-list)[\s>]")
_FRONT = re.compile(rb"<(" + PREFIX + rb"front)[\s>]")
_BACK = re.compile(rb"<(" + PREFIX + rb"back)[\s>]")

# Roles of contributors that are authors; others are editors, reviewers, translators and so on.
_AUTHORS = frozenset({"", "author", "auth", "aut", "corresp", "corresponding author", "first author", "person"})

# Elements with the name of a group, and those in them that list its members.
_GROUPS = frozenset({"collab", "collab-alternatives", "on-behalf-of"})
_MEMBERS = frozenset({"contrib-group", "xref", "fn", "aff"})

# Dates of publication; others are those of submission, review or release in an archive.
_DATES = frozenset({"", "ppub", "epub", "pub", "collection", "epub-ppub", "original", "publication", "preprint"})

# Subjects that are types of articles.
_TYPES = re.compile(
    r"(?:original |full |research |review |short |brief |case |regular )*"
    r"(?:article|paper|report|research|review|letter|note|communication|editorial|commentary|correspondence|erratum"
    r"|correction|news|perspective|opinion|feature|contribution|study|investigation)s?",
    re.IGNORECASE,
)

# Elements that are no part of a text or of an address: marks of footnotes, labels, and formulas in TeX.
_NOT_IN_TEXT = frozenset({"xref", "fn", "tex-math", "graphic", "inline-graphic", "object-id"})
_NOT_IN_ADDRESS = frozenset({"xref", "fn", "label", "sup", "institution-id"})
_PARAGRAPHS = frozenset({"p", "title", "sec", "list-item"})
_ADDRESS_PARTS = frozenset({"institution", "addr-line", "city", "state", "country", "named-content", "postal-code"})
_COMMAS = re.compile(r"(?:\s*+,)++\s*+")

# The first character behind the Latin letters.
_AFTER_LATIN = "\u0250"

# Namespaces are declared in this number of first bytes of an article.
_START_BYTES = 4096


def parse_article(record: bytes, context: object = None) -> Parsed:
    """Read one article.

    >>> document, _ = parse_article(
    ...     b"<article><front><article-meta><article-id pub-id-type='doi'>10.1000/X</article-id><contrib-group>"
    ...     b"<contrib contrib-type='author'><name><surname>Doe</surname><given-names>J</given-names></name><xref "
    ...     b"ref-type='aff' rid='a1'>1</xref></contrib></contrib-group><aff id='a1'><label>1</label>MIT</aff>"
    ...     b"</article-meta></front></article>"
    ... )
    >>> document.id, document.authors[0].name, document.authors[0].affiliations
    ('10.1000/x', 'Doe, J', ['MIT'])
    """
    front = _part(record, _FRONT)
    if front is None:
        raise BrokenRecordError("no front matter")
    meta = _child(front, "article-meta")
    if meta is None:
        raise BrokenRecordError("no article-meta")
    notes: list[Note] = []
    ids = _ids(meta, notes)
    cited = _reference_list(record, notes)
    journal = _child(front, "journal-meta")
    document = Document(
        id=ids.get("doi") or ids.get("pmcid") or ids.get("pmid") or "",
        authors=_authors(meta, notes),
        title=_title(meta),
        abstract=_abstract(meta),
        year=_year(meta, notes),
        venue=_venue(journal),
        categories=_categories(meta),
        keywords=_distinct(text_of(word) for group in _children(meta, "kwd-group") for word in group.iter("kwd")),
        references=_distinct(doi for entry in cited if (doi := _cited_doi(entry))),
        referenced_authors=_distinct(name for entry in cited for name in _cited_names(entry)),
        ids=ids,
    )
    return document, notes


def _part(record: bytes, beginning: re.Pattern[bytes]) -> Element | None:
    """One element of an article, without namespaces; None if it is missing. The other text is not parsed."""
    first = beginning.search(record)
    if first is None:
        return None
    closing = b"</" + first[1] + b">"
    end = record.find(closing, first.end())
    if end < 0:
        raise BrokenRecordError(f"cut off before {closing.decode()}")
    element = element_of(record[first.start() : end + len(closing)], prefixes_of(record[:_START_BYTES], first.re))
    if b":" in first[1]:
        for inner in element.iter():
            inner.tag = local_name(inner)
    return element


def _children(element: Element | None, name: str) -> list[Element]:
    return [child for child in element if child.tag == name] if element is not None else []


def _child(element: Element | None, name: str) -> Element | None:
    return next(iter(_children(element, name)), None)


def _descendant_text(element: Element | None, *names: str) -> str:
    """The first text of a descendant with one of the names, in the order of the names."""
    found = (text_of(one) for name in names for one in (element.iter(name) if element is not None else ()))
    return next(filter(None, found), "")


def _distinct(texts: Iterable[str]) -> list[str]:
    return [*filter(None, dict.fromkeys(texts))]


def _plain(element: Element) -> str:
    """The text of an element without marks of footnotes and sources of formulas."""
    return even_text("".join(_texts(element, _NOT_IN_TEXT, _PARAGRAPHS, " ")))


def _address(place: Element) -> str:
    """The text of an affiliation, with commas between its parts.

    >>> _address(element_of(b"<aff><label>1</label><institution>MIT</institution><country>USA</country></aff>"))
    'MIT, USA'
    """
    return _COMMAS.sub(", ", even_text("".join(_texts(place, _NOT_IN_ADDRESS, _ADDRESS_PARTS, ", ")))).strip(", ")


def _texts(element: Element, left_out: frozenset[str], parts: frozenset[str], separator: str) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag not in left_out:
            yield from _texts(child, left_out, parts, separator)
            if child.tag in parts and not (child.tail or "").strip():
                yield separator
        yield child.tail or ""


def _ids(meta: Element, notes: list[Note]) -> dict[str, str]:
    ids: dict[str, str] = {}
    for number in _children(meta, "article-id"):
        kind, written = number.get("pub-id-type"), text_of(number)
        if kind in {"doi", "pmid"}:
            identifiers.add(ids, kind, written, notes)
        elif kind in {"pmc", "pmcid", "pmcaid"} and written and "pmcid" not in ids:
            ids["pmcid"] = identifiers.pmcid(written)
    return ids


def _title(meta: Element) -> str:
    group = _child(meta, "title-group")
    parts = [_child(group, "article-title"), _child(group, "subtitle")]
    return ": ".join(filter(None, (_plain(part) for part in parts if part is not None)))


def _abstract(meta: Element) -> str:
    """The abstract itself, else a special one such as that for readers who are not experts, else a translation."""
    found = _children(meta, "abstract")
    ordered = sorted(found, key=lambda one: one.get("abstract-type") is not None) + _children(meta, "trans-abstract")
    for abstract in ordered:
        parts = [child for child in abstract if child.tag not in {"title", "label", "object-id"}]
        if text := " ".join(filter(None, map(_plain, parts))):
            return text
    return ""


def _year(meta: Element, notes: list[Note]) -> int | None:
    """The earliest year of publication."""
    dates = [date for date in meta.iter("pub-date") if (date.get("pub-type") or date.get("date-type") or "") in _DATES]
    written = [_descendant_text(date, "year", "string-date") for date in dates or list(meta.iter("pub-date"))]
    years = [int(digits[0]) for text in written if (digits := re.search(r"(?<!\d)\d{4}(?!\d)", text))]
    if years := [year for year in years if FIRST_YEAR <= year <= LAST_YEAR]:
        return min(years)
    notes.extend(("field", f"year {text!r} is not a year") for text in written[:1] if text)
    return None


def _venue(journal: Element | None) -> str:
    return _descendant_text(journal, "journal-title", "abbrev-journal-title") or next(
        (text_of(name) for name in _children(journal, "journal-id") if name.get("journal-id-type") == "nlm-ta"), ""
    )


def _categories(meta: Element) -> list[str]:
    subjects = (
        text_of(subject) for group in _children(meta, "article-categories") for subject in group.iter("subject")
    )
    return _distinct(subject for subject in subjects if not _TYPES.fullmatch(subject))


def _authors(meta: Element, notes: list[Note]) -> list[Author]:
    shared = {place.get("id"): _SharedPlace(place) for place in meta.iter("aff", "corresp") if place.get("id")}
    authors: list[Author] = []
    position = 0
    for group in _children(meta, "contrib-group"):
        if "editor" in (group.get("content-type") or ""):
            continue
        in_group: list[Author] = []
        for contributor in filter(_is_author, group):
            require_few_authors(position + 1)
            if name := _name(contributor):
                in_group.append(author := _author(position, name, contributor, notes))
                _add_shared(author, contributor, shared)
            elif collective := _collective(contributor):
                note_contributor(collective, notes)
            else:
                notes.append(("author", f"author {position} has no name"))
            position += 1
        _add_places(in_group, _children(group, "aff") or _children(meta, "aff"))
        authors += in_group
    for place in shared.values():
        add_emails(place.people, place.emails, [(author.name, "") for author in place.people])
    return remove_repeats(authors)


def _is_author(element: Element) -> bool:
    """Whether a part of a group of contributors is an author; old articles have groups without `contrib`."""
    is_one = element.tag == "contrib" and (element.get("contrib-type") or "").lower() in _AUTHORS
    return is_one or element.tag in _GROUPS


def _collective(contributor: Element) -> str:
    """The name of a group, without its members, or the word for an anonymous author; empty if there is none."""
    for child in (contributor, *contributor):
        if child.tag == "anonymous":
            return "Anonymous"
        if child.tag in _GROUPS and (name := even_text("".join(_texts(child, _MEMBERS, frozenset(), "")))):
            return name
    return ""


def _name(contributor: Element) -> str:
    for child in contributor:
        if child.tag == "name-alternatives":  # in several scripts; other sources have the name in Latin letters
            names = list(filter(None, map(_written_name, child)))
            return next((name for name in names if name[0] < _AFTER_LATIN), names[0] if names else "")
        if child.tag in {"name", "string-name"} and (name := _written_name(child)):
            return name
    return ""


def _written_name(name: Element) -> str:
    parts = {child.tag: "".join(child.itertext()) if len(child) else child.text or "" for child in name}
    if "surname" in parts or "given-names" in parts:
        return _joined(parts.get("surname", ""), parts.get("given-names", ""), parts.get("suffix", ""))
    return whole_name(text_of(name))


@lru_cache(maxsize=1 << 14)
def _joined(family: str, given: str, suffix: str) -> str:
    return split_name(family, given, suffix)


def _author(position: int, name: str, contributor: Element, notes: list[Note]) -> Author:
    author = Author(position, name)
    for number in contributor.iter("contrib-id", "uri", "ext-link"):
        _add_id(author, number, notes)
    for place in _children(contributor, "aff"):
        add_address(author, _address(place))
    author.emails += [plain_email(text_of(email)) for email in contributor.iter("email")]
    return author


def _add_id(author: Author, number: Element, notes: list[Note]) -> None:
    kind = (number.get("contrib-id-type") or number.get("content-type") or number.get("ext-link-type") or "").lower()
    written = text_of(number) or next((value for name, value in number.attrib.items() if name.endswith("href")), "")
    if kind == "orcid" or "orcid.org" in written:
        identifiers.add(author.ids, "orcid", written, notes)
    elif kind in {"researcherid", "scopus"} and number.tag == "contrib-id":
        identifiers.add(author.ids, kind, written, notes)


class _SharedPlace:
    """An affiliation or a note for correspondence, and the authors who refer to it. Its text is read once."""

    def __init__(self, place: Element) -> None:
        self.people: list[Author] = []
        self.address, self.emails = address_and_emails(_address(place)) if place.tag == "aff" else ("", ())
        if place.tag == "corresp":
            self.emails = tuple(plain_email(text_of(email)) for email in place.iter("email"))


def _add_shared(author: Author, contributor: Element, shared: dict[str, _SharedPlace]) -> None:
    """Add the affiliations to which an author refers; whose the e-mail addresses are is decided at the end."""
    numbers = (number for mark in contributor.iter("xref") for number in (mark.get("rid") or "").split())
    for number in dict.fromkeys(numbers):
        if number in shared:
            shared[number].people.append(author)
            author.affiliations += [shared[number].address] if shared[number].address else []


def _add_places(authors: list[Author], places: list[Element]) -> None:
    """Add affiliations to which no author refers: to all authors if there is one affiliation, or to the only author."""
    if any(author.affiliations for author in authors) or (len(places) > 1 and len(authors) > 1):
        return
    for place in places if authors else ():
        add_shared_address(authors, _address(place))


def _reference_list(record: bytes, notes: list[Note]) -> list[Element]:
    try:
        found = _part(record, _BACK)
    except BrokenRecordError as broken:
        notes.append(("field", f"the list of references is {broken}"))
        return []
    return list(found.iter("ref")) if found is not None else []


def _cited_doi(entry: Element) -> str:
    for number in entry.iter("pub-id"):
        if number.get("pub-id-type") == "doi":
            return identifiers.doi(text_of(number)) or ""
    return ""


def _cited_names(entry: Element) -> Iterator[str]:
    """The authors of a cited work; its editors are in a group of their own."""
    for name in entry.iter("name", "string-name"):
        if name.getparent().get("person-group-type", "author") == "author" and (written := _written_name(name)):
            yield from () if is_placeholder(written) else (written,)


def _recognises(source: Source) -> bool:
    head = source.head
    return is_xml(head) and _MARK.search(head) is not None and _ARTICLE.search(head) is not None


def _open(source: Source, columns: Columns) -> Records:
    return Records(cut_records(source.blocks(), start_of(b"article", source.head), _INSIDE))


FORMAT = Format(name="jats", title="JATS articles", recognises=_recognises, open=_open, parse=parse_article)
