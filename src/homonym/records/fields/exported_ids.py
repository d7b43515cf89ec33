"""Ids of homonym in files of other formats: `homonym export` writes them, and the readers of these formats find them.

So a file that was exported, and perhaps edited in another program, has the documents and authors of the result when it
is read again. The id of an author becomes an identifier of the kind `homonym`. All characters that have a meaning in
some format are percent-encoded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import quote_plus, unquote_plus

from homonym.errors import counted
from homonym.records.fields.contributors import group_and_person, is_marked_person, note_contributor
from homonym.records.fields.people import plain_letters
from homonym.records.model import Author, Document, Note

KIND = "homonym"
"""The kind of identifier."""

# Names of the fields: of BibTeX, of the Web of Science (tags), of Scopus (columns in lower case), of RIS (in notes), of
# the table of bibliometrix, which otherwise has the tags of the Web of Science, and of the signatures of S2AND.
DOCUMENT_FIELD, AUTHORS_FIELD, CONTRIBUTORS_FIELD = "homonym-id", "homonym-authors", "homonym-contributors"
# A field of BibTeX for affiliations that its field of addresses cannot have as they are.
AFFILIATIONS_FIELD = "homonym-affiliations"
WOS_DOCUMENT, WOS_AUTHORS, WOS_CONTRIBUTORS = "X2", "X1", "X3"
BIBLIOMETRIX_AUTHORS, S2AND_AUTHOR = "AU_ID", "homonym_id"
SCOPUS_DOCUMENT, SCOPUS_AUTHORS, SCOPUS_CONTRIBUTORS = "homonym id", "homonym authors", "homonym contributors"

# What stands before the accession number of a document that has none in the database of the format.
PREFIX = "HOMONYM:"

_ALSO_ENCODED = str.maketrans({"_": "%5F", "~": "%7E", "-": "%2D"})
_NOTE = re.compile(rf"(?:<p>)?\s*({DOCUMENT_FIELD}|{AUTHORS_FIELD}|{CONTRIBUTORS_FIELD}): *([^\s<]++(?: [^\s<]++)*+)")


def encoded(text: str) -> str:
    """An id without characters that any format, LaTeX included, changes.

    >>> encoded("DOE, J/6f0c41d27a93"), encoded("a_b--{c}; d")
    ('DOE,+J/6f0c41d27a93', 'a%5Fb%2D%2D%7Bc%7D%3B+d')
    """
    return quote_plus(text, safe=",/:").translate(_ALSO_ENCODED)


def written_author_ids(ids: Mapping[int, str]) -> str:
    """Position to id of the authors of a document as text; a position without author stays empty.

    >>> written_author_ids({0: "DOE, J/1", 2: "ROE, R/2"})
    'DOE,+J/1;;ROE,+R/2'
    """
    return ";".join(encoded(ids.get(position, "")) for position in range(max(ids, default=-1) + 1))


def written_contributors(names: Iterable[str]) -> str:
    """The groups, editors and other entries that are no authors of a document as text.

    >>> written_contributors(["Planck Collaboration", "Doe, Jane (Ed.)"])
    'Planck+Collaboration;Doe,+Jane+%28Ed.%29'
    """
    return ";".join(map(encoded, names))


def listed_affiliation(text: str) -> str:
    """An affiliation as it comes back from a list that is separated by semicolons and ends with a dot.

    >>> listed_affiliation("Dept. A; Univ. X.")
    'Dept. A, Univ. X'
    """
    return text.replace(";", ",").rstrip(" .,")


def written_affiliations(texts: Iterable[str]) -> str:
    """Those of some affiliations that a list changes, as text; an empty text if there is none.

    Of two affiliations that a list makes equal, neither is written: it could not be told which one an author has.

    >>> written_affiliations(["MIT", "Dept A; Univ X"]), written_affiliations(["Lab B; Y", "Lab B, Y"])
    ('Dept+A%3B+Univ+X', '')
    """
    distinct = dict.fromkeys(texts)
    listed = Counter(map(listed_affiliation, distinct))
    changed = [text for text in distinct if (form := listed_affiliation(text)) != text and listed[form] == 1]
    return ";".join(map(encoded, changed))


def restore_affiliations(authors: Iterable[Author], written: str) -> None:
    """Give affiliations of authors the form that they had before an export wrote them as a list.

    >>> from homonym.records.model import Author
    >>> restore_affiliations([found := Author(0, "Doe, J", ["MIT", "Dept A, Univ X"])], "Dept+A%3B+Univ+X")
    >>> found.affiliations
    ['MIT', 'Dept A; Univ X']
    """
    texts = [unquote_plus(text.strip(), errors="replace") for text in written.split(";")]
    former = {listed_affiliation(text): text for text in texts}
    for author in authors:
        author.affiliations = [former.get(text, text) for text in author.affiliations]


def note_exported_contributors(contributors: str, notes: list[Note]) -> None:
    """Note the contributors that an export wrote, in place of those that the format has noted itself.

    >>> note_exported_contributors("Ice+Watch", notes := [("contributor", "ICE WATCH"), ("contributor", "WHO")]), notes
    (None, [('contributor', 'Ice Watch'), ('contributor', 'WHO')])
    """
    if not contributors:
        return
    names = [name for text in contributors.split(";") if (name := unquote_plus(text.strip(), errors="replace"))]
    if names:
        known = set(map(plain_letters, names))
        others = [note for note in notes if note[0] != "contributor" or plain_letters(note[1]) not in known]
        notes[:] = [*(("contributor", name) for name in names), *others]


def add_exported_ids(document: Document, document_id: str, author_ids: str, notes: list[Note]) -> None:
    """Give a document, and its authors, the ids that an export wrote; empty texts change nothing.

    Names that the reader left out have no place in the list of authors, so that their number must be right.

    >>> from homonym.records.model import Author
    >>> found = Document("", [Author(0, "Doe, J"), Author(1, "Roe, R")])
    >>> add_exported_ids(found, "W%2D1", "DOE,+J/1;;ROE,+R/2", [])
    >>> found.id, [(author.position, author.ids) for author in found.authors]
    ('W-1', [(0, {'homonym': 'DOE, J/1'}), (2, {'homonym': 'ROE, R/2'})])
    """
    if document_id and (given := unquote_plus(document_id.strip(), errors="replace")):
        document.id, document.id_is_key = given, True
    if not author_ids.strip():
        return
    ids = [unquote_plus(text.strip(), errors="replace") for text in author_ids.split(";")]
    places = [place for place, text in enumerate(ids) if text]
    authors = document.authors
    if len(places) != len(authors):  # groups that the format itself does not recognise have no ids
        authors = [author for author in authors if is_marked_person(author) or group_and_person(author.name)[1]]
    if len(places) != len(authors):
        notes.append(
            ("field", f"{counted(len(places), 'id')} of homonym for {counted(len(document.authors), 'author')}")
        )
        return
    if authors is not document.authors:
        kept = set(map(id, authors))
        for author in document.authors:
            if id(author) not in kept:
                note_contributor(author.name, notes)
        document.authors = authors
    for place, author in zip(places, authors, strict=True):
        author.position = place
        author.ids[KIND] = ids[place]


def exported_note(text: str) -> tuple[str, str] | None:
    """The field and the ids in a note of an exported RIS file, also if a program made it HTML.

    >>> exported_note("homonym-id: W1"), exported_note("<p>homonym-authors: DOE,+J/1; ROE,+R/2</p>"), exported_note("x")
    (('homonym-id', 'W1'), ('homonym-authors', 'DOE,+J/1; ROE,+R/2'), None)
    """
    found = _NOTE.match(text) if "homonym-" in text else None
    return (found[1], found[2]) if found else None
