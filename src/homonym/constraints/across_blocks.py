"""Unites authors of different blocks that are one person according to an identifier or the user's pairs.

Blocks are clustered one by one. Then authors of different blocks are united if they share an ORCID or ISNI, or if the
user calls mentions of them the same. Whole authors are united: their other mentions are never compared across blocks,
so an identifier cannot join mentions of different names that do not have it. Identifiers are sometimes wrong, such as
one ORCID for all authors of a paper. So a link across blocks is made only if

- no other mention on the same document has the same identifier;
- the identifier is on mentions of at most MAX_BLOCKS blocks;
- the names have a word in common (surname or given name; one letter may be missing, and ä equals ae);
- no two of the united authors are on the same document, are called different by the user, have different identifiers
  of a kind that outranks this one, or are in the same block. So the authors inside a block do not depend on other
  blocks.

Links that are not made for such a reason are reported as conflicts. The functions take rows of mentions in the order of
the result, so that all engines give the same answer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from homonym.clustering.union_find import UnionFind
from homonym.collection.layout import PLACED_IDENTIFIERS
from homonym.constraints.conflicts import ConstraintConflict
from homonym.constraints.evidence import UserPairs
from homonym.constraints.must_link import DOCUMENT, NAME, PAIR, link_rank
from homonym.errors import counted
from homonym.names.compatibility import compatible
from homonym.names.parse import Name, parse_name
from homonym.records.fields.identifiers import PERSON_ASSIGNED
from homonym.settings import Settings

# Maximum number of blocks that one identifier links, and that one author may have mentions in. A person has a few
# forms of a name; an identifier on more names than this is a placeholder or an error.
MAX_BLOCKS = 20
# The kinds of conflicts between two authors of one block, and between authors that an update must leave as they are.
BLOCK, KNOWN = "block", "known authors"
# Maximum number of mentions that a conflict lists.
LISTED_MENTIONS = 100
# Words of at least this many letters count as equal if one lacks a single letter of the other.
LONG_WORD = 6
# Maximum number of different names of an identifier that are compared with each other for the report.
COMPARED_NAMES = 50

#: All mentions of the authors in question, in the order of the result; `confidence` has three decimals.
CANDIDATE_ROWS = pa.schema(
    [("place", pa.int64()), ("mention_id", pa.string()), ("document_id", pa.string()), ("name", pa.string()),
     ("block", pa.string()), ("year", pa.int32()), ("author_id", pa.string()), ("constraint", pa.string()),
     ("confidence", pa.float64())]
)  # fmt: skip
#: What changes: the new values of all mentions of united authors.
UNITED_ROWS = pa.schema(
    [("place", pa.int64()), ("author_id", pa.string()), ("constraint", pa.string()),
     ("author_confidence", pa.float64())]
)  # fmt: skip


class UnitedAuthors(NamedTuple):
    """Authors of different blocks that were united.

    `rows` has the schema UNITED_ROWS. `gone` is the number of authors that are now part of another one. `links` is the
    number of links by kind, and `linked` the number of mentions that had no must-link before.
    """

    rows: pa.Table
    gone: int
    links: dict[str, int]
    linked: int
    conflicts: list[ConstraintConflict]


def linking_kinds(settings: Settings) -> tuple[str, ...]:
    """The trusted kinds of identifiers that link mentions of different blocks."""
    return tuple(kind for kind in PERSON_ASSIGNED if kind in settings.trusted)


class _Mention(NamedTuple):
    """A row of CANDIDATE_ROWS."""

    place: int
    mention_id: str
    document_id: str | None
    name: str | None
    block: str
    year: int | None
    author_id: str
    constraint: str | None
    confidence: float | None

    @property
    def written_name(self) -> str:
        return self.name or self.block


@dataclass
class _Author:
    """An author inside its block, with what decides whether it can be united with others."""

    mentions: list[_Mention] = field(default_factory=list)
    ids: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @property
    def anchor(self) -> tuple[bool, int, str]:
        """The sort key of the earliest mention. Of united authors, the one with the smallest anchor keeps its id."""
        return min((one.year is None, one.year or 0, one.mention_id) for one in self.mentions)


class _Link(NamedTuple):
    """Mentions that are linked across blocks by an identifier of a kind, or by the user."""

    kind: str
    mentions: Sequence[_Mention]

    @property
    def authors(self) -> list[str]:
        return list(dict.fromkeys(one.author_id for one in self.mentions))


def unite_authors(
    rows: pa.Table,
    ids: pa.Table,
    pairs: UserPairs | None,
    trusted: Sequence[str] = PERSON_ASSIGNED,
    known: Set[str] = frozenset(),
) -> UnitedAuthors:
    """Unite authors of different blocks; `rows` and `ids` have the schemas CANDIDATE_ROWS and PLACED_IDENTIFIERS.

    `trusted` has the kinds of identifiers in the order in which the column `constraint` lists them. Of the authors in
    `known`, no two are united. In an update, authors may have mentions of several blocks already.
    """
    mentions = [_Mention(*row) for row in zip(*rows.select(CANDIDATE_ROWS.names).to_pydict().values(), strict=True)]
    having = _by_identifier(mentions, ids)
    authors = _authors(mentions, having)
    same, different = _user_pairs(mentions, pairs)
    conflicts: list[ConstraintConflict] = []
    links = [_Link(PAIR, pair) for pair in same]
    for (kind, identifier), found in sorted(having.items(), key=lambda item: (link_rank(item[0][0]), item[0])):
        usable = _usable(kind, identifier, found, conflicts)
        links += (_Link(kind, _of_one_known(kind, identifier, group, known, conflicts)) for group in usable)
    component = _Components(authors, different, conflicts, known)
    for kind in sorted({link.kind for link in links}, key=link_rank):
        component.join(kind, [link for link in links if link.kind == kind])
    made = [link for link in links if len({component.of[author] for author in link.authors}) == 1]
    counts: dict[str, int] = {}
    for link in made:
        counts[link.kind] = counts.get(link.kind, 0) + len(link.authors) - 1
    united, gone = component.united()
    table, linked = _united_rows(united, authors, made, (*trusted, PAIR))
    return UnitedAuthors(table, gone, counts, linked, conflicts)


def _by_identifier(mentions: Sequence[_Mention], ids: pa.Table) -> dict[tuple[str, str], list[_Mention]]:
    """The mentions that have each identifier."""
    at = {one.place: one for one in mentions}
    found: dict[tuple[str, str], list[_Mention]] = defaultdict(list)
    for place, kind, identifier in zip(*ids.select(PLACED_IDENTIFIERS.names).to_pydict().values(), strict=True):
        found[kind, identifier].append(at[place])
    for mentions_having in found.values():
        mentions_having.sort(key=lambda one: one.place)
    return found


def _authors(mentions: Sequence[_Mention], having: dict[tuple[str, str], list[_Mention]]) -> dict[str, _Author]:
    authors: dict[str, _Author] = defaultdict(_Author)
    for one in mentions:
        authors[one.author_id].mentions.append(one)
    for (kind, identifier), found in having.items():
        for one in found:
            authors[one.author_id].ids[kind].add(identifier)
    return dict(authors)


MentionPair = tuple[_Mention, _Mention]


def _user_pairs(mentions: Sequence[_Mention], pairs: UserPairs | None) -> tuple[list[MentionPair], list[MentionPair]]:
    """The user's pairs: mentions of different blocks that are the same person, and mentions that are not."""
    same: list[MentionPair] = []
    different: list[MentionPair] = []
    by_id = {one.mention_id: one for one in mentions} if pairs else {}
    for a, b, is_same in sorted(set(zip(pairs.a, pairs.b, pairs.same, strict=True))) if pairs else ():
        if a in by_id and b in by_id and (not is_same or by_id[a].block != by_id[b].block):
            (same if is_same else different).append((by_id[a], by_id[b]))
    return same, different


def _usable(
    kind: str, identifier: str, mentions: Sequence[_Mention], conflicts: list[ConstraintConflict]
) -> list[list[_Mention]]:
    """The mentions that an identifier links, as groups of several blocks; adds what it does not link to `conflicts`."""
    kept, what = [], f"the {kind} {identifier}"
    for document, group in _grouped(mentions, lambda one: one.document_id).items():
        if document is None or len(group) == 1:
            kept += group
        elif _blocks(mentions) > 1:
            reason = f"have {what}, but both are on document {document}; it does not link mentions on this document"
            conflicts.append(_conflict(DOCUMENT, _of_two_blocks(group), reason, group))
    if _blocks(kept) > MAX_BLOCKS:
        reason = (
            f"have {what}, but so have mentions of {counted(_blocks(kept), 'name')}, more than {MAX_BLOCKS}; "
            "it links no mentions of different names"
        )
        conflicts.append(_conflict(NAME, _of_two_blocks(kept), reason, kept))
        return []
    kept.sort(key=lambda one: one.place)
    groups = _of_one_name(kept)
    if len(groups) > 1:
        two = groups[0][0], groups[1][0]
        names = " and ".join(one.written_name for one in two)
        reason = f"have {what}, but their names have no word in common: {names}; they are not linked by it"
        conflicts.append(_conflict(NAME, two, reason, kept))
    usable = [group for group in groups if _blocks(group) > 1]
    for group in usable:
        if clash := _incompatible(group):
            names = " and ".join(one.written_name for one in clash)
            reason = f"have {what}, but their names exclude each other: {names}; they stay linked"
            conflicts.append(_conflict(NAME, clash, reason, group))
    return usable


def _of_one_known(
    kind: str, identifier: str, mentions: list[_Mention], known: Set[str], conflicts: list[ConstraintConflict]
) -> list[_Mention]:
    """The mentions, without those of known authors except the largest; adds what is left out to `conflicts`."""
    count = Counter(one.author_id for one in mentions if one.author_id in known)
    if len(count) < 2:
        return mentions
    chosen = max(count, key=lambda author: count[author])  # of equal ones the first
    first = next(one for one in mentions if one.author_id == chosen)
    other = next(one for one in mentions if one.author_id in known and one.author_id != chosen)
    reason = f"have the {kind} {identifier}, but are of two authors that the mode assign leaves as they are"
    conflicts.append(_conflict(KNOWN, (first, other), reason, mentions))
    return [one for one in mentions if one.author_id == chosen or one.author_id not in known]


def _grouped(mentions: Iterable[_Mention], key: Callable[[_Mention], Hashable]) -> dict[Hashable, list[_Mention]]:
    found: dict[Hashable, list[_Mention]] = defaultdict(list)
    for one in mentions:
        found[key(one)].append(one)
    return found


def _blocks(mentions: Iterable[_Mention]) -> int:
    return len({one.block for one in mentions})


def _of_two_blocks(mentions: Sequence[_Mention]) -> MentionPair:
    """The first mention, and the first one of another block; the second one if all are of one block."""
    return mentions[0], next((one for one in mentions if one.block != mentions[0].block), mentions[1])


def _conflict(kind: str, two: MentionPair, reason: str, mentions: Sequence[_Mention]) -> ConstraintConflict:
    """A conflict about two mentions; it lists the first of all mentions."""
    what = f"{two[0].mention_id} and {two[1].mention_id} {reason}."
    return ConstraintConflict(kind, two[0].block, tuple(one.mention_id for one in mentions[:LISTED_MENTIONS]), what)


def _of_one_name(mentions: Sequence[_Mention]) -> list[list[_Mention]]:
    """The mentions in groups whose names are connected by words in common; mentions of one block are in one group."""
    words: dict[str, set[str]] = defaultdict(set)
    for block, name in sorted({(one.block, one.written_name) for one in mentions}):
        words[block] |= _words(name)
    union = UnionFind[str]()
    for a, b in combinations(words, 2):
        if _share_word(words[a], words[b]):
            union.join(a, b)
    return list(_grouped(mentions, lambda one: union.find(one.block)).values())


def _words(name: str) -> set[str]:
    """The words of a name that other forms of the name may share; without initials, and with ä equal to ae.

    >>> sorted(_words("Müller-Schmidt, Anna K."))
    ['ANNA', 'MULLER', 'MULLERSCHMIDT', 'SCHMIDT']
    """
    parsed = parse_name(name)
    surname = parsed.surname.replace(" ", "") or name.upper()
    given = [word for word in parsed.given if len(word) > 1]
    words = {surname, *parsed.surname.replace("-", " ").split(), *given, "".join(given)}
    return {_without_umlauts(word) for word in words if len(word) > 1 or word == surname}


def _without_umlauts(word: str) -> str:
    return word.replace("AE", "A").replace("OE", "O").replace("UE", "U")


def _share_word(a: set[str], b: set[str]) -> bool:
    """Whether a word of one is a word of the other, or lacks one letter of it.

    >>> _share_word({"HARRISON"}, {"HARISON"}), _share_word({"ZHANG"}, {"ZHENG"})
    (True, False)
    """
    return bool(a & b) or bool(_shortened(a) & b) or bool(a & _shortened(b))


def _shortened(words: set[str]) -> set[str]:
    return {word[:i] + word[i + 1 :] for word in words if len(word) >= LONG_WORD for i in range(len(word))}


def _incompatible(mentions: Sequence[_Mention]) -> MentionPair | None:
    """Two mentions of different blocks with the same surname whose given names exclude each other, if there are any."""
    names: dict[str, tuple[_Mention, Name]] = {}
    for one in mentions:
        if one.written_name not in names and len(names) < COMPARED_NAMES:
            names[one.written_name] = one, parse_name(one.written_name)
    for (one, name), (other, other_name) in combinations(names.values(), 2):
        if one.block != other.block and name.surname == other_name.surname and not compatible(name, other_name):
            return one, other
    return None


class _Components:
    """Authors that are united, kind by kind in the order of their rank; `of` is the component of each author."""

    def __init__(
        self,
        authors: dict[str, _Author],
        different: Sequence[MentionPair],
        conflicts: list[ConstraintConflict],
        known: Set[str],
    ) -> None:
        self.authors, self.conflicts, self.known = authors, conflicts, known
        self.of = {author: author for author in authors}
        self.different = defaultdict[str, list[MentionPair]](list)
        for pair in different:
            self.different[pair[0].author_id].append(pair)

    def join(self, kind: str, links: Sequence[_Link]) -> None:
        """Join components by the links of a kind, except those that would have a conflict."""
        union, first = UnionFind[str](), dict[str, _Link]()
        for link in links:
            start, *others = link.authors
            for other in others:
                union.join(self.of[start], self.of[other])
        for link in links:
            first.setdefault(union.find(self.of[link.mentions[0].author_id]), link)
        members = self._members(union, set(first))
        for representative, link in first.items():
            parts = members[representative]
            if len(parts) > 1 and not self._conflicts(kind, link, parts):
                name = min(author for part in parts.values() for author in part)
                self.of.update((author, name) for part in parts.values() for author in part)

    def _members(self, union: UnionFind[str], wanted: set[str]) -> dict[str, dict[str, list[str]]]:
        """The authors of each joined component, grouped by their former component."""
        found: dict[str, dict[str, list[str]]] = {one: defaultdict(list) for one in wanted}
        for author, before in self.of.items():
            if (representative := union.find(before)) in found:
                found[representative][before].append(author)
        return found

    def _conflicts(self, kind: str, link: _Link, parts: dict[str, list[str]]) -> bool:
        """Whether a cannot-link separates parts of a joined component; if so, adds the reason to the conflicts."""
        mentions = [one for part in parts.values() for author in part for one in self.authors[author].mentions]
        mentions.sort(key=lambda one: one.place)
        for cannot, two, why in self._cannot_links(kind, parts, mentions):
            reason = f"are of authors linked by {kind}, but {why}; none of the links of these authors by {kind} is made"
            self.conflicts.append(_conflict(cannot, two, reason, link.mentions))
            return True
        return False

    def _cannot_links(
        self, kind: str, parts: dict[str, list[str]], mentions: Sequence[_Mention]
    ) -> Iterator[tuple[str, MentionPair, str]]:
        """What separates mentions of different parts: the kind, two mentions, and a reason."""
        if kind != PAIR and _blocks(mentions) > MAX_BLOCKS:
            yield NAME, _of_two_blocks(mentions), f"they have {_blocks(mentions)} names, more than {MAX_BLOCKS}"
        for one in mentions:
            for a, b in self.different.get(one.author_id, ()):
                if self.of[a.author_id] != self.of[b.author_id] and self.of.get(b.author_id) in parts:
                    yield PAIR, (a, b), "the user's pairs call them different"
        for document, group in _grouped(mentions, lambda one: one.document_id).items():
            others = [one for one in group if self.of[one.author_id] != self.of[group[0].author_id]]
            if document is not None and others:
                yield DOCUMENT, (group[0], others[0]), f"both are on document {document}"
        for other in PERSON_ASSIGNED:
            if link_rank(other) < link_rank(kind) and (two := self._different_ids(other, parts)):
                yield other, two, f"their {other} differ"
        for block, group in _grouped(mentions, lambda one: one.block).items():
            others = [one for one in group if one.author_id != group[0].author_id]
            if others:
                yield BLOCK, (group[0], others[0]), f"they are different authors of the name {block}"
        old = [one for one in mentions if one.author_id in self.known]
        others = [one for one in old if one.author_id != old[0].author_id]
        if others:
            yield KNOWN, (old[0], others[0]), "the mode assign leaves their authors as they are"

    def _different_ids(self, kind: str, parts: dict[str, list[str]]) -> MentionPair | None:
        """A mention of each of two parts with different identifiers of a kind, if there are any."""
        of_part = {
            part: set[str]().union(*(self.authors[author].ids.get(kind, set()) for author in authors))
            for part, authors in parts.items()
        }
        having = sorted(part for part, ids in of_part.items() if ids)
        if len(having) < 2 or len(set[str]().union(*of_part.values())) < 2:
            return None
        a, b = (min(parts[part]) for part in having[:2])
        return self.authors[a].mentions[0], self.authors[b].mentions[0]

    def united(self) -> tuple[dict[str, list[str]], int]:
        """The authors of components with several blocks, by the author that keeps its id; and how many disappear."""
        groups = defaultdict[str, list[str]](list)
        for author, component in self.of.items():
            groups[component].append(author)
        several = [group for group in groups.values() if self._has_several_blocks(group)]
        by_id = {min(group, key=lambda author: self.authors[author].anchor): group for group in several}
        return by_id, sum(len(group) - 1 for group in several)

    def _has_several_blocks(self, group: Sequence[str]) -> bool:
        return _blocks(one for author in group for one in self.authors[author].mentions) > 1


def _united_rows(
    united: dict[str, list[str]], authors: dict[str, _Author], links: Sequence[_Link], order: Sequence[str]
) -> tuple[pa.Table, int]:
    """The rows of all mentions of united authors, and how many of them had no must-link before."""
    kinds = defaultdict[int, set[str]](set)
    for link in links:
        for one in link.mentions:
            kinds[one.place].add(link.kind)
    found, linked = [], 0
    for author_id, group in united.items():
        mentions = [one for author in group for one in authors[author].mentions]
        confidence = _mean([one.confidence for one in mentions])
        for one in mentions:
            linked += bool(kinds[one.place]) and "same:" not in (one.constraint or "")
            found.append((one.place, author_id, _with_links(one.constraint, kinds[one.place], order), confidence))
    columns = zip(*sorted(found), strict=True) if found else ([], [], [], [])
    return pa.table([pa.array(column, kind.type) for column, kind in zip(columns, UNITED_ROWS, strict=True)],
                    schema=UNITED_ROWS), linked  # fmt: skip


def _mean(confidence: Sequence[float | None]) -> float | None:
    """The mean of values of three decimals, computed exactly; None if there are none."""
    known = [round(one * 1000) for one in confidence if one is not None and not np.isnan(one)]
    return round(sum(known) / (1000 * len(known)), 3) if known else None


def _with_links(constraint: str | None, kinds: set[str], order: Sequence[str]) -> str | None:
    """The column `constraint` with more must-links; `order` is that of all kinds of must-links.

    >>> _with_links("same:email;not:name", {"orcid"}, ("orcid", "email")), _with_links(None, set(), ())
    ('same:orcid;same:email;not:name', None)
    """
    words = constraint.split(";") if constraint else []
    linked = [f"same:{kind}" for kind in order if kind in kinds or f"same:{kind}" in words]
    return ";".join([*linked, *(word for word in words if not word.startswith("same:"))]) or None
