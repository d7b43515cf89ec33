"""Merges the copies of one document, such as its records in the Web of Science and in Scopus, into one document.

The result does not depend on the order of the copies:

- id: that of the best copy, see `id_rank`. Adding a source never renames the documents of a better one.
- title, abstract, venue: the longest, of equally long ones the last in code point order. Year: the earliest.
- keywords, categories, references, cited and other authors: those of all copies, without repetition (see `_united`).
- ids: those of all copies; of several of one kind, the first in code point order.
- authors: the list of one copy, the longest (see `_best_list`). An author gets the affiliations, e-mail addresses and
  identifiers of the same author in the other copies, and the fullest form of the name. A copy of the same length whose
  names mostly agree is compared position by position, other copies by name. What cannot be kept is noted: an author of
  another copy who is not in the list, and an identifier of a person or a label of which there are two.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from homonym.names.compatibility import given_compatible, language_of
from homonym.names.parse import name_key, parse_name
from homonym.records.fields.identifiers import TITLES
from homonym.records.fields.people import AuthorIndex, folded, plain_letters
from homonym.records.model import Author, Document, Note

# Formats in the order in which their ids are preferred. First those whose ids users have in their own files.
PREFERRED = (
    "documents", "table", "wos", "wos-tab", "scopus", "pubmed", "nbib", "openalex", "crossref", "datacite", "dblp",
    "arxiv", "arxiv-oai", "s2and", "aminer", "aminer-xml", "ris", "bibtex",
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
            else:
                others[place].append((copy, author))
    return [_merge_author(author, same, notes) for author, same in zip(best, others, strict=True)]


def _best_list(authors: Sequence[Author]) -> tuple[int, int, list[str], list[int], str]:
    """The order of lists: more authors, then more letters in their names, then code points."""
    names = [author.name for author in authors]
    return len(names), sum(map(len, map(folded, names))), names, [author.position for author in authors], repr(authors)


def author_places(authors: Sequence[Author], best: Sequence[Author]) -> list[int | None]:
    """The place of each author in the best list; None if there is none, or if another author has it."""
    if len(authors) == len(best):
        agreeing = sum(_is_same_name(a.name, b.name) for a, b in zip(authors, best, strict=True))
        if 2 * agreeing > len(best) or not best:
            return list(range(len(best)))
    index = AuthorIndex([(author.name,) for author in best])
    found = [index.find(author.name) for author in authors]
    times = Counter(found)
    return [place if times[place] == 1 else None for place in found]


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
        name=max((one.name for one in known if _is_same_name(one.name, author.name)), key=_fullness),
        affiliations=_united([one.affiliations for one in known], folded),
        emails=_united([one.emails for one in known], str.lower),
        label=label,
        block=min((one.block for one in known if one.block is not None), default=None),
        ids=ids,
    )


def _fullness(name: str) -> tuple[int, bool, str]:
    return len(plain_letters(name)), "," in name, name


def _is_same_name(one: str, other: str) -> bool:
    """Whether two names can be those of one person: the same surname and compatible given names, or both swapped.

    >>> [_is_same_name("Doe, Jane", other) for other in ("Doe J.", "JANE DOE", "Jane, Doe", "Doe, John", "Roe, Jane")]
    [True, True, True, False, False]
    """
    if one == other:
        return True
    a, b = parse_name(one), parse_name(other)
    surnames = plain_letters(a.surname), plain_letters(b.surname)
    if surnames[0] == surnames[1]:
        return bool(surnames[0]) and given_compatible(a.given, b.given, language_of(a.surname))
    return surnames == (plain_letters("".join(b.given)), plain_letters("".join(a.given)))
