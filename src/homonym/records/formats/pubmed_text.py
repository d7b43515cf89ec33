"""PubMed's abstract text: numbered citations with title, authors, "Author information:", abstract, DOI and PMID.

PubMed's web site saves it as "Save: Format: Abstract (text)", its API returns it with rettype=abstract. Reads title,
abstract, year, venue, DOI, PMID and PMCID, and per author name, affiliations and e-mail. Names have initials only and
there are no ORCIDs and keywords; MEDLINE text (`nbib`) and XML (`pubmed`) have more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import add_emails, address_and_emails, remove_repeats
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import is_group, is_placeholder
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.splitting import split_at
from homonym.records.parsing.tagged_lines import is_name, lines_of
from homonym.records.reader import Columns, Format, Records

# A number at the beginning of a line after two blank lines begins a record. After one blank line it does only before a
# citation: old abstracts have numbered paragraphs. The pattern begins with a digit and looks behind only then, which
# makes the search much faster.
_YEAR = r"(?:1[5-9]|20)\d\d"
_CITATION = rf"[^.\r\n]{{2,120}}\. {_YEAR}(?:[;:.]| (?:[A-Z][a-z]{{2}}|\d))"
_BEGINNING = re.compile(
    (
        r"[1-9](?<![^\r\n].)(?:"
        rf"(?:(?<=\n\n\n.)|(?<=\n\r\n\r\n.)|(?<=\r\r\r.))\d{{0,6}}\. ?(?=\S)"
        rf"|(?:(?<=\n\n.)|(?<=\n\r\n.)|(?<=\r\r.))\d{{0,6}}\. (?={_CITATION})"
        r")"
    ).encode(),
    re.DOTALL,
)
_FIRST = re.compile(rb"\s*+1\. ?(?=[^\r\n])")
_NUMBERS = re.compile(rb"(?:PMID: (?<![^\r\n].{6})\d|Author information:(?<![^\r\n].{19})[ \t]*[\r\n])", re.DOTALL)

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
_NUMBER = re.compile(r"\d{1,7}\. ?")
_JOURNAL = re.compile(rf"(.{{2,300}}?)\. ({_YEAR})\b")
_ANY_YEAR = re.compile(rf"\b{_YEAR}\b")
_LANGUAGE = re.compile(r"\[Article in [^\]]{3,60}\]\.?")
_ID_LINE = re.compile(r"\n(DOI|PMCID|PMID):? *([^\n]+)")
_INFORMATION = "Author information:"
_GROUP = ";"

# What may stand between the authors and the abstract, or behind the abstract.
_OTHER_PARAGRAPHS = (
    "Collaborators", "Comment in", "Comment on", "Erratum in", "Erratum for", "Update in", "Update of", "Republished",
    "Retraction", "Expression of concern", "Corrected and", "Summary for patients", "Publisher: ", "Copyright", "©",
    "(c) ", "(©)", "Conflict of interest statement", "DOI: ", "PMID: ", "PMCID: ",
)  # fmt: skip

# Numbers of affiliations, and signs for equal contributions, behind a name.
_MARKS = re.compile(r"\((\d{1,4}|#|\*)\)")
_SUFFIX = r"(?: (?:Jr|Sr|2nd|3rd|[4-9]th|II|III|IV))?"
_NAME = re.compile(rf"([^\d(),;:\[\]]{{1,80}}?) ((?:[^\W\d_a-z]|-){{1,6}})({_SUFFIX})")
_NEXT_NAME = re.compile(r"([,;]) (?=\D)")

# Maximum number of e-mail addresses that are read from one affiliation.
_MAX_EMAILS = 20
_PLACE = re.compile(r"\n\((\d{1,4}|#|\*)\)")

Numbered = tuple[str, list[str]]
"""A name and the numbers of its affiliations."""


def _parse(text: bytes, context: None) -> Parsed | None:
    lines = lines_of(text)
    citation, *paragraphs = _PARAGRAPHS.split(lines.strip())
    if not _NUMBER.match(citation) and "PMID:" not in lines:
        return None
    places = dict[str, str]()
    rest: list[str] = []
    for paragraph in paragraphs:
        if paragraph.startswith(_INFORMATION) and not places:
            places = _places(paragraph)
        elif not _LANGUAGE.fullmatch(paragraph):
            rest.append(paragraph)
    notes: list[Note] = []
    title, names, rest = _title_and_names(rest)
    document = _document(lines, citation, title, notes)
    document.authors = _authors(names, places, notes)
    document.abstract = plain_text(" ".join(_abstract(rest)))
    if not document.title and not document.authors:
        raise BrokenRecordError("neither title nor authors")
    return document, notes


def _document(lines: str, citation: str, title: str, notes: list[Note]) -> Document:
    line = plain_text(_NUMBER.sub("", citation, count=1))
    journal = _JOURNAL.match(line)
    year = _ANY_YEAR.search(line)
    given = dict(_ID_LINE.findall(lines))  # the last ones: a line of an abstract may begin with "DOI:", too
    found = {
        "pmid": identifiers.number(given.get("PMID", "")),
        "doi": identifiers.doi(given.get("DOI", "")) or identifiers.doi(line.partition("doi: ")[2]),
        "pmcid": given.get("PMCID", "").upper().partition(" ")[0],
    }
    if not found["pmid"]:
        notes.append(("field", "the PMID is missing or not a number"))
    return Document(
        id=found["pmid"] or "",
        authors=[],
        title=title,
        year=publication_year(journal[2] if journal else year[0] if year else "", notes),
        venue=journal[1] if journal else _book(line),
        ids={kind: value for kind, value in found.items() if value},
    )


def _book(citation: str) -> str:
    """The title of the book that a chapter is in.

    >>> _book("In: StatPearls [Internet]. Treasure Island (FL): StatPearls Publishing; 2024 Jan-.")
    'StatPearls'
    """
    beginning, _, rest = citation.partition("In: ")
    return "" if beginning else rest.partition(". ")[0].removesuffix(" [Internet]")


def _title_and_names(paragraphs: list[str]) -> tuple[str, list[Numbered], list[str]]:
    """The title and the names of the authors, which are the first two paragraphs, and the other paragraphs."""
    if not paragraphs or paragraphs[0].startswith(_OTHER_PARAGRAPHS):
        return "", [], paragraphs
    if _MARKS.search(paragraphs[0]) and (names := _names(paragraphs[0])):  # a record without title
        return "", names, paragraphs[1:]
    title, *rest = paragraphs
    if rest and (names := _names(rest[0])):
        return plain_text(title), names, rest[1:]
    if rest and is_placeholder(rest[0].strip(" .[]")):
        return plain_text(title), [(rest[0].strip(" ."), [])], rest[1:]
    return plain_text(title), [], rest


def _names(paragraph: str) -> list[Numbered]:
    """The names in a list of authors, each with the numbers of its affiliations; none if it is another paragraph.

    Groups follow a semicolon and have no initials. The semicolon is then their mark.

    >>> _names("Doe JA(1)(2), van der Roe B Jr(2); NAMES Study Group.")
    [('Doe, JA', ['1', '2']), ('van der Roe, B, Jr', ['2']), ('NAMES Study Group', [';'])]
    >>> _names("BACKGROUND: Names, in general, are short.")
    []
    """
    text = plain_text(paragraph)
    if not text.endswith(".") or paragraph.startswith(_OTHER_PARAGRAPHS):
        return []
    entries = ["", *_NEXT_NAME.split(text[:-1])]
    found: list[Numbered] = []
    groups: list[Numbered] = []
    likely = 0
    for separator, entry in zip(["", *entries[2::2]], entries[1::2], strict=True):
        name, marks = _MARKS.sub("", entry).strip(), _MARKS.findall(entry)
        parts = _NAME.fullmatch(name)
        likely += parts is not None or bool(marks)
        if parts or separator != ";":
            found.append((_surname_first(parts) if parts else name, marks))
        else:
            groups.append((name, [_GROUP]))
    return [*found, *groups] if 2 * likely >= len(found) else []


def _surname_first(name: re.Match[str]) -> str:
    return ", ".join(filter(None, (part.strip() for part in name.groups())))


def _places(paragraph: str) -> dict[str, str]:
    """The affiliations by their numbers; one without a number is that of all authors."""
    parts = _PLACE.split("\n" + paragraph.removeprefix(_INFORMATION).strip())
    places = {mark: place for mark, place in zip(parts[1::2], parts[2::2], strict=True) if mark.isdigit()}
    return {**places, "": parts[0].strip()} if parts[0].strip() else places


def _authors(names: list[Numbered], places: dict[str, str], notes: list[Note]) -> list[Author]:
    authors: list[Author] = []
    found = {mark: address_and_emails(place) for mark, place in places.items()}
    owners: dict[str, list[Author]] = {mark: [] for mark in places}
    for position, (name, marks) in enumerate(names):
        if not is_name(name):
            notes.append(("author", f"author {position} has no name"))
            continue
        if _GROUP in marks or is_placeholder(name) or is_group(name):
            note_contributor(name, notes)
            continue
        marks = [mark for mark in (*marks, "") if mark in places]
        authors.append(Author(position, name, [found[mark][0] for mark in marks if found[mark][0]]))
        for mark in marks:
            owners[mark].append(authors[-1])
    for mark, whose in owners.items():
        add_emails(whose, found[mark][1][:_MAX_EMAILS], [(author.name, "") for author in whose])
    return remove_repeats(authors)


def _abstract(paragraphs: list[str]) -> Iterator[str]:
    """The paragraphs of the abstract: all after the authors, up to the copyright or the identifiers."""
    has_begun = False
    for paragraph in paragraphs:
        if not paragraph.startswith(_OTHER_PARAGRAPHS):
            has_begun = True
            yield paragraph
        elif has_begun:
            return


def _recognises(source: Source) -> bool:
    """A file that begins with a citation, or has one after others, and has PMIDs or affiliations as lines."""
    if not _NUMBERS.search(source.head):
        return False
    return _FIRST.match(source.head) is not None or _BEGINNING.search(source.head) is not None


def _open(source: Source, columns: Columns) -> Records:
    return Records(split_at(source.blocks(), _BEGINNING))


FORMAT = Format(name="pubmed-text", title="PubMed abstract text", recognises=_recognises, open=_open, parse=_parse)
