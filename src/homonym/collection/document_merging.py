"""Merges the copies of one document, such as its records in the Web of Science and in Scopus, into one document.

The result does not depend on the order of the copies:

- id: that of the best copy, see `id_rank`. Adding a source never renames the documents of a better one.
- title, abstract, venue: the longest, of equally long ones the last in code point order. Year: the earliest.
- keywords, categories, references, cited and other authors: those of all copies, without repetition (see `_united`).
- ids: those of all copies; of several of one kind, the first in code point order.
- authors: the list of one copy, the longest (see `_best_list`). An author gets the affiliations, e-mail addresses and
  identifiers of the same author in the other copies, and the fullest form of the name (see `author_places`). What
  cannot be kept is noted: an author of another copy who is not in the list, an identifier of a person or a label of
  which there are two, and the identifiers of an author who has another name at the same position.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from homonym.collection.same_names import can_be_one_name, have_other_given_names
from homonym.names.parse import name_key, parse_name
from homonym.records.fields.identifiers import TITLES
from homonym.records.fields.people import AuthorIndex, authors_by_form, folded, plain_letters, surname_and_initial
from homonym.records.model import Author, Document, Note

# Formats in the order in which their ids are preferred. First those whose ids users have in their own files.
PREFERRED = (
    "documents", "table", "wos", "wos-tab", "scopus", "pubmed", "nbib", "europepmc", "openalex", "crossref", "datacite",
    "dimensions", "lens", "semanticscholar", "services", "jats", "dblp", "arxiv", "arxiv-oai", "s2and", "aminer",
    "aminer-xml", "marcxml", "mods", "ris", "bibtex", "pubmed-text", "cochrane", "ovid", "zotero", "endnote-xml",
    "refer", "refworks", "noteexpress", "orcid",
)  # fmt: skip

# The name of a label in messages.
_LABEL = "label"


class Copy(NamedTuple):
    """One record of a document, and the name of its format."""

    document: Document
    form: str


@dataclass(frozen=True)
class Merged:
    """A merged document, and what was lost of each copy, in the order of the copies."""

    document: Document
    notes: list[list[Note]]


def id_rank(copy: Copy) -> tuple[bool, bool, int, str]:
    """The copy whose id has the smallest rank names the merged document.

    An identifier of a source comes before an id that a user chose, this before one that was made from the content.
    Then comes the order of the formats, then that of the code points.
    """
    document, form = copy
    made = not document.id_is_key and document.id.startswith(("h:", *(f"{kind}:" for kind in document.ids)))
    place = PREFERRED.index(form) if form in PREFERRED else len(PREFERRED)
    return not document.id_is_key, made, place, document.id


def merge(copies: Sequence[Copy]) -> Merged:
    """Merge all copies of one document.

    >>> wos = Document("WOS:1", [Author(0, "Doe, Jane", ["MIT"])], "On coins", keywords=["Coins"], year=2015)
    >>> scopus = Document("2-s2.0-1", [Author(0, "Doe J.", ids={"scopus": "7"})], "On coins!", keywords=["coins"])
    >>> found = merge([Copy(scopus, "scopus"), Copy(wos, "wos")]).document
    >>> found.id, found.title, found.year, found.keywords
    ('WOS:1', 'On coins!', 2015, ['coins'])
    >>> found.authors
    [Author(position=0, name='Doe, Jane', affiliations=['MIT'], emails=[], label=None, block=None, ids={'scopus': '7'})]
    """
    documents = [copy.document for copy in copies]
    if all(document == documents[0] for document in documents[1:]):  # as in exports that overlap
        return Merged(documents[0], [[] for _ in copies])
    named = min(copies, key=id_rank).document
    notes: list[list[Note]] = [[] for _ in copies]

    def longest(field: str) -> str:
        texts: list[str] = [getattr(document, field) for document in documents]
        return max(texts, key=lambda text: (len(text), text))

    def united(field: str, key: Callable[[str], str]) -> list[str]:
        return _united([getattr(document, field) for document in documents], key)

    document = Document(
        id=named.id,
        authors=_merge_authors([document.authors for document in documents], notes),
        title=longest("title"),
        abstract=longest("abstract"),
        year=min((document.year for document in documents if document.year is not None), default=None),
        venue=longest("venue"),
        categories=united("categories", folded),
        keywords=united("keywords", folded),
        references=united("references", str),
        referenced_authors=united("referenced_authors", name_key),
        other_authors=united("other_authors", name_key),
        other_contributors=united("other_contributors", folded),
        ids={kind: min(values) for kind, values in sorted(_by_kind(document.ids for document in documents).items())},
        id_is_key=named.id_is_key,
    )
    return Merged(document, notes)


def _united(lists: Sequence[Sequence[str]], key: Callable[[str], str]) -> list[str]:
    """The texts of all lists in code point order. Texts with one key are taken from the list that has most of them.

    >>> _united([["b", "a", "b"], ["B", "c"]], str.lower)
    ['a', 'b', 'b', 'c']
    """
    chosen: dict[str, tuple[int, list[str]]] = {}
    for texts in lists:
        alike = defaultdict(list)
        for text in texts:
            alike[key(text) or text].append(text)
        for shared, found in alike.items():
            found.sort()
            chosen[shared] = max(chosen.get(shared, (0, [])), (len(found), found))
    return sorted(text for _, found in chosen.values() for text in found)


def _by_kind(several: Iterable[dict[str, str]]) -> dict[str, set[str]]:
    values: defaultdict[str, set[str]] = defaultdict(set)
    for ids in several:
        for kind, value in ids.items():
            values[kind].add(value)
    return values


# Authors


def _merge_authors(lists: Sequence[Sequence[Author]], notes: list[list[Note]]) -> list[Author]:
    """The best list of authors, with what the other lists know of them."""
    best = max(lists, key=_best_list)
    others: list[list[tuple[int, Author]]] = [[] for _ in best]  # for each author the same in other copies
    for copy, authors in enumerate(lists):
        for author, place in zip(authors, author_places(authors, best), strict=True):
            if place is None:
                notes[copy].append(("author", f"{author.name} is not among the authors of the other copies"))
                continue
            known = author
            if not place.by_name:
                known = Author(author.position, author.name, author.affiliations)
                if known != author:
                    other = f"the same author is {best[place.number].name} in another copy"
                    notes[copy].append(("field", f"the identifiers of {author.name} are not used, because {other}"))
            others[place.number].append((copy, known))
    return [_merge_author(author, same, notes) for author, same in zip(best, others, strict=True)]


def _best_list(authors: Sequence[Author]) -> tuple[int, int, list[str], list[int], str]:
    """The order of lists: more authors, then more letters in their names, then code points."""
    names = [author.name for author in authors]
    return len(names), sum(map(len, map(folded, names))), names, [author.position for author in authors], repr(authors)


class Place(NamedTuple):
    """The number of an author in the best list. An author who is not found there `by_name` may be another person."""

    number: int
    by_name: bool


def author_places(authors: Sequence[Author], best: Sequence[Author]) -> list[Place | None]:
    """The place of each author in the best list; None if there is none, or if another author has it.

    In lists of the same length, an author with a similar name at the same position comes first. The others are found by
    name, unless given names of the same initial are those of two people. If most are found, a name that is in one list
    only is a misspelling of the one at its position.

    >>> def people(*names: str) -> list[Author]:
    ...     return [Author(position, name) for position, name in enumerate(names)]
    >>> best = people("Doe, Jane", "Li, Xu", "Roe, Rita", "Müller, K")
    >>> [place and place.number for place in author_places(people("Roe, R", "Li, X", "Doe, J", "Muler, K"), best)]
    [2, 1, 0, 3]
    >>> author_places(people("Doe, John"), best)
    [None]
    """
    aligned = len(authors) == len(best)
    places: list[Place | None] = [None] * len(authors)
    if aligned:
        here, there = {author.name for author in authors}, {author.name for author in best}
        for number, (a, b) in enumerate(zip(authors, best, strict=True)):
            is_elsewhere = a.name in there or b.name in here
            if a.name == b.name or (not is_elsewhere and can_be_one_name(a.name, b.name)):
                places[number] = Place(number, by_name=True)
    if None in places:
        _find_by_name(places, authors, best)
        found = sum(place is not None for place in places)
        if aligned and found < len(best) < 2 * found:
            _find_by_position(places, authors, best)
    return places


def _find_by_name(places: list[Place | None], authors: Sequence[Author], best: Sequence[Author]) -> None:
    """Add the places of authors whose names are in the rest of the best list."""
    taken = {place.number for place in places if place}
    free = [number for number in range(len(best)) if number not in taken]
    index = AuthorIndex([(best[number].name,) for number in free])
    found = {number: index.find(authors[number].name) for number, place in enumerate(places) if place is None}
    for number, other in found.items():
        if other is not None and _are_two_people(authors[number].name, best[free[other]].name):
            found[number] = None
    if None in found.values():
        _find_by_parsed_name(found, authors, [best[number] for number in free])
    candidates: dict[int, list[int]] = defaultdict(list)
    for number, place in found.items():
        if place is not None:
            candidates[place].append(number)
    for place, numbers in candidates.items():
        if len(numbers) > 1:  # "Doe, J" and "Doe, Jane" can both be "Doe, J", who is the one with the same name
            name = folded(best[free[place]].name)
            numbers = [number for number in numbers if folded(authors[number].name) == name]
        if len(numbers) == 1:
            places[numbers[0]] = Place(free[place], by_name=True)


def _are_two_people(one: str, other: str) -> bool:
    """Whether two names with the same surname and initial have other given names."""
    return folded(one) != folded(other) and have_other_given_names(one, other)


def _find_by_parsed_name(found: dict[int, int | None], authors: Sequence[Author], free: Sequence[Author]) -> None:
    """Add the places of authors whose names are written in another order, such as "Jane Doe" and "Doe, J".

    >>> found, free = {0: None, 1: None}, [Author(0, "Roe, Ann"), Author(1, "Doe, J")]
    >>> _find_by_parsed_name(found, [Author(0, "Jane Doe"), Author(1, "Roe R")], free)
    >>> found
    {0: 1, 1: None}
    """
    index = authors_by_form((place, parse_name(author.name).first_initial_key) for place, author in enumerate(free))
    for number, place in found.items():
        name = authors[number].name
        other = index.get(parse_name(name).first_initial_key) if place is None else None
        if other is not None and can_be_one_name(name, free[other].name):
            found[number] = other


def _find_by_position(places: list[Place | None], authors: Sequence[Author], best: Sequence[Author]) -> None:
    """Add the places of authors whose names are only in one of two lists of the same length."""
    taken = {place.number for place in places if place}
    here, there = (Counter(surname_and_initial(author.name) for author in some) for some in (authors, best))
    for number, place in enumerate(places):
        if place is None and number not in taken:
            ours, theirs = surname_and_initial(authors[number].name), surname_and_initial(best[number].name)
            is_only_pair = ours == theirs and here[ours] == there[ours] == 1
            if is_only_pair or (ours not in there and theirs not in here):
                places[number] = Place(number, by_name=False)


def _merge_author(author: Author, same: list[tuple[int, Author]], notes: list[list[Note]]) -> Author:
    """One author with everything that the copies know; `same` are all copies of the author, with their numbers."""
    known = [one for _, one in same]
    kinds = _by_kind(one.ids | ({_LABEL: one.label} if one.label is not None else {}) for one in known)
    ids: dict[str, str] = {}
    for kind, values in sorted(kinds.items()):
        if len(values) == 1:
            ids[kind] = min(values)
            continue
        named = f"{' and '.join(sorted(values))} are both the {TITLES.get(kind, kind)} of {author.name}"
        for copy, one in same:
            if kind in one.ids or (kind == _LABEL and one.label is not None):
                notes[copy].append(("field", named))
    label = ids.pop(_LABEL, None)
    return Author(
        position=author.position,
        name=max((one.name for one in known if can_be_one_name(one.name, author.name)), key=_fullness),
        affiliations=_united([one.affiliations for one in known], folded),
        emails=_united([one.emails for one in known], str.lower),
        label=label,
        block=min((one.block for one in known if one.block is not None), default=None),
        ids=ids,
    )


def _fullness(name: str) -> tuple[int, bool, str]:
    return len(plain_letters(name)), "," in name, name
