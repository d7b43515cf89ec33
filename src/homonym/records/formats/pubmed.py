"""PubMed XML: answers of its API (efetch), the yearly baseline and the daily updates.

Reads title, abstract, year, venue, MeSH headings and keywords, cited PMIDs, PMID, DOI and PMCID, and per author
name, affiliations, e-mail and ORCID. The text format of PubMed's web export is read by `nbib`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_address, numbered_addresses
from homonym.records.fields.contributors import note_contributor
from homonym.records.model import FOUR_DIGITS, Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.xml_stream import (
    Element,
    children_of,
    cut_records,
    element_of,
    even_text,
    first_text,
    is_xml,
    text_of,
)
from homonym.records.reader import Columns, Format, Records

_ARTICLES = re.compile(rb"<(Pubmed(?:Book)?Article)(?=[\s>])")
# In sets from before 2017, which have no articles around citations.
_CITATIONS = re.compile(rb"<(MedlineCitation)(?=[\s>])")
_INSIDE = re.compile(rb"</?(?:MedlineCitation|Article|ArticleTitle|AuthorList|Author|PubmedArticle|PubmedData)[\s>]")
_MARK = re.compile(rb"<(?:Pubmed(?:Book)?Article(?:Set)?|MedlineCitation(?:Set)?)[\s>]")

_NO_TITLE = {"", "Not Available", "In Process Citation"}

Children = dict[str, list[Element]]


def parse_article(record: bytes, context: object = None) -> Parsed:
    """Read one article, book chapter or citation.

    >>> document, _ = parse_article(
    ...     b"<MedlineCitation><PMID>7</PMID><Article><AuthorList><Author><LastName>Doe</LastName>"
    ...     b"<Initials>J</Initials></Author></AuthorList></Article></MedlineCitation>"
    ... )
    >>> document.id, document.authors[0].name
    ('7', 'Doe, J')
    """
    element = element_of(record)
    if element.tag == "PubmedBookArticle":
        return _book(children_of(element))
    parts = {"MedlineCitation": [element]} if element.tag == "MedlineCitation" else children_of(element)
    if "MedlineCitation" not in parts:
        raise BrokenRecordError("no MedlineCitation")
    citation = children_of(parts["MedlineCitation"][0])
    if "Article" not in citation:
        raise BrokenRecordError("no Article")
    article = children_of(citation["Article"][0])
    data = children_of(parts["PubmedData"][0]) if "PubmedData" in parts else {}
    journal = children_of(article["Journal"][0]) if "Journal" in article else {}
    notes: list[Note] = []
    pmid = identifiers.number(first_text(citation, "PMID")) or ""
    document = Document(
        id=pmid,
        authors=_authors(article.get("AuthorList", ()), notes, article.get("Affiliation", ())),
        title=_title(article),
        abstract=_abstract(article) or _abstract(citation),
        year=_year(journal, article, notes),
        venue=first_text(journal, "Title", "ISOAbbreviation") or _venue(citation),
        keywords=_keywords(citation),
        references=_references(citation, data),
        ids=_ids(pmid, article.get("ELocationID", ()), data),
    )
    return document, notes


def _book(parts: Children) -> Parsed:
    """Read a book of PubMed's bookshelf, or a chapter of one, with its own title and authors if it has them."""
    if "BookDocument" not in parts:
        raise BrokenRecordError("no BookDocument")
    chapter = children_of(parts["BookDocument"][0])
    book = children_of(chapter["Book"][0]) if "Book" in chapter else {}
    data = children_of(parts["PubmedBookData"][0]) if "PubmedBookData" in parts else {}
    notes: list[Note] = []
    pmid = identifiers.number(first_text(chapter, "PMID")) or ""
    title, whole = first_text(chapter, "ArticleTitle"), first_text(book, "BookTitle")
    document = Document(
        id=pmid,
        authors=_authors(chapter.get("AuthorList", ()), notes) or _authors(book.get("AuthorList", ()), notes),
        title=title or whole,
        abstract=_abstract(chapter),
        year=_year_of(book, "PubDate", notes) or _year_of(chapter, "ContributionDate", notes),
        venue=whole if title else first_text(book, "CollectionTitle"),
        keywords=_keywords(chapter),
        references=_references({}, chapter),
        ids=_ids(
            pmid,
            book.get("ELocationID", ()),
            {"ArticleIdList": chapter.get("ArticleIdList", []) + data.get("ArticleIdList", [])},
        ),
    )
    return document, notes


def _authors(lists: Iterable[Element], notes: list[Note], places: Iterable[Element] = ()) -> list[Author]:
    """The people in lists of authors. The first one gets the places, the only ones in articles until 2013."""
    authors: list[Author] = []
    position, first_is_named = 0, True
    for entries in lists:
        if entries.get("Type") == "editors":
            continue
        for entry in entries:
            if entry.tag != "Author" or entry.get("ValidYN") == "N":  # replaced by a corrected name
                continue
            author, group = _author(entry, position, notes)
            if author.name:
                authors.append(author)
            elif group:
                note_contributor(group, notes)
            else:
                notes.append(("author", f"author {position} has no name"))
                first_is_named = first_is_named and bool(authors)
            position += 1
    for place in places if authors and first_is_named else ():
        _add_address(authors[0], place)
    return authors


def _author(entry: Element, position: int, notes: list[Note]) -> tuple[Author, str]:
    """An author, without a name if the entry is a group, and the name of the group."""
    author = Author(position, "")
    names: dict[str, str] = {}
    for part in entry:
        tag = part.tag
        if tag == "AffiliationInfo":
            for place in part.iterchildren("Affiliation"):
                _add_address(author, place)
        elif tag == "Affiliation":  # directly in the author until 2014
            _add_address(author, part)
        elif tag == "Identifier":
            if part.get("Source") == "ORCID":
                identifiers.add(author.ids, "orcid", text_of(part), notes)
        else:
            names[tag] = "".join(part.itertext()) if len(part) else part.text or ""
    given = names.get("ForeName") or _old_forename(names) or names.get("Initials") or ""
    author.name = _name(names.get("LastName", ""), given, names.get("Suffix", ""))
    return author, even_text(names["CollectiveName"]) if "CollectiveName" in names else ""


def _old_forename(names: dict[str, str]) -> str:
    """The given names from two elements, as records until 2003 have them."""
    return f"{names.get('FirstName', '')} {names.get('MiddleName', '')}".strip()


@lru_cache(maxsize=1 << 14)
def _name(family: str, given: str, suffix: str) -> str:
    parts = [even_text(part) for part in (family, given, suffix if given else "")]
    return ", ".join(filter(None, parts))


def _add_address(author: Author, place: Element) -> None:
    for address in numbered_addresses(text_of(place)):
        add_address(author, address)


def _title(article: Children) -> str:
    """The English title, or the title in the language of the article if there is none."""
    title = first_text(article, "ArticleTitle")
    return title if title.strip("[].") not in _NO_TITLE else first_text(article, "VernacularTitle") or title


def _abstract(parts: Children) -> str:
    """All parts of an abstract without their labels, or an abstract in another language."""
    for element in (*parts.get("Abstract", ()), *parts.get("OtherAbstract", ())):
        if text := " ".join(text_of(part) for part in element if part.tag == "AbstractText"):
            return text
    return ""


def _year(journal: Children, article: Children, notes: list[Note]) -> int | None:
    issue = children_of(journal["JournalIssue"][0]) if "JournalIssue" in journal else {}
    return _year_of(issue, "PubDate", notes) or _year_of(article, "ArticleDate", notes)


def _year_of(parts: Children, name: str, notes: list[Note]) -> int | None:
    """The year of a date, or the first year of a MedlineDate such as "1998 Dec-1999 Jan"."""
    for date in parts.get(name, ()):
        found = FOUR_DIGITS.search(first_text(children_of(date), "Year", "MedlineDate"))
        if found and (year := publication_year(found[0], notes)):
            return year
    return None


def _venue(citation: Children) -> str:
    return next((text for info in citation.get("MedlineJournalInfo", ()) if (text := info.findtext("MedlineTA"))), "")


def _keywords(parts: Children) -> list[str]:
    """MeSH headings without their qualifiers, then keywords."""
    lists = [*parts.get("MeshHeadingList", ()), *parts.get("KeywordList", ())]
    words = [_heading(word) for words in lists for word in words.iter("DescriptorName", "Descriptor", "Keyword")]
    return [word for word in dict.fromkeys(words) if word]


def _heading(element: Element) -> str:
    return text_of(element) if len(element) else _plain_heading(element.text or "")


_plain_heading = lru_cache(maxsize=1 << 14)(even_text)


def _references(citation: Children, data: Children) -> list[str]:
    """PMIDs of cited articles, from the list of references or, in older records, from the list of corrections."""
    cited = [
        identifiers.number(number.text or "")
        for references in data.get("ReferenceList", ())
        for number in references.iter("ArticleId")
        if number.get("IdType") == "pubmed"
    ]
    cited += [
        identifiers.number(entry.findtext("PMID", ""))
        for entries in citation.get("CommentsCorrectionsList", ())
        for entry in entries
        if entry.get("RefType") == "Cites"
    ]
    return [number for number in dict.fromkeys(cited) if number]


def _ids(pmid: str, locations: Iterable[Element], data: Children) -> dict[str, str]:
    """Identifiers of the article itself."""
    given = [(place.get("EIdType"), place.text) for place in locations if place.get("ValidYN") != "N"]
    given += [(number.get("IdType"), number.text) for numbers in data.get("ArticleIdList", ()) for number in numbers]
    ids = {"pmid": pmid} if pmid else {}
    for kind, text in given:
        if kind == "doi" and "doi" not in ids and (doi := identifiers.doi(text or "")):
            ids["doi"] = doi
        elif kind == "pmc" and (number := (text or "").strip().upper()):
            ids["pmcid"] = number
    return ids


def _recognises(source: Source) -> bool:
    return is_xml(source.head) and _MARK.search(source.head) is not None


def _open(source: Source, columns: Columns) -> Records:
    beginning = _ARTICLES if b"<Pubmed" in source.head else _CITATIONS
    return Records(cut_records(source.blocks(), beginning, _INSIDE))


FORMAT = Format(name="pubmed", title="PubMed/MEDLINE XML", recognises=_recognises, open=_open, parse=parse_article)
