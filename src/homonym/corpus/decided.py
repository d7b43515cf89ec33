"""Applies the decisions of users to the authors of some blocks. A decision may be about mentions of two blocks.

The *undecided* authors are those that the method finds without decisions. The authors that a result shows depend only
on the undecided authors and on the decisions in force, so an undo restores them. Authors that `same` connects become
one, as far as this joins no two mentions that are called different; the largest authors come first. An author that
cannot stay whole is divided: its mentions are clustered again with cannot-links and without a limit, so that each goes
to one of the sides. Each mention of a wrong record becomes an author of its own.

The parts of a divided author keep the ids under which the result showed them before, so that an id stays with a person.
An id stays with most of its mentions: if they are now part of another author, the id becomes a redirect to that author.
A mention that is not the author, or left it, and one of a wrong record do not take the id with them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from homonym.clustering.arrays import connected_components
from homonym.clustering.union_find import UnionFind
from homonym.constraints.evidence import UserPairs
from homonym.corpus.decision_state import RELATIONS, DecisionState, decision_state
from homonym.corpus.decision_store import DIFFERENT, IS, SAME, UNDO, WRONG_RECORD, Decision, read_decisions
from homonym.corpus.ids import NO_IDS, GivenIds

Pair = tuple[int, int, bool]
"""Two rows, and whether they are one author."""

Split = Callable[[pa.Table, Sequence[int], UserPairs], Sequence[int]]
"""Clusters rows of some authors again with must-links and cannot-links, each author for itself.

Takes the rows, the number of the author of each row, and the pairs; returns the part of each row.
"""


class Cause(NamedTuple):
    """The number of a decision or an undo, and its effect on two mentions: it joins them or separates them.

    A wrong record affects all mentions of a document. Then `a` is the document, and `b` is empty.
    """

    number: int
    joins: bool
    a: str
    b: str = ""


def _causes(rows: Iterable[Decision], state: DecisionState) -> tuple[Cause, ...]:
    """The effects of the decisions in force, and of the undos of other decisions."""
    active = {row.number for row in state.active}
    found: list[Cause] = []
    for row in rows:
        if row.number not in active and row.number not in state.undone:
            continue
        number = row.number if row.number in active else state.undone[row.number].number
        relation = RELATIONS.get(row.kind)
        if relation in {SAME, DIFFERENT}:
            holds = row.number in active
            found.append(Cause(number, (relation == SAME) == holds, row.mention_a, row.mention_b))
            others = dict.fromkeys(one for one in row.members if one != row.mention_b)
            found += [Cause(number, not holds, row.mention_a, other) for other in others]
        elif row.kind == WRONG_RECORD:
            found.append(Cause(number, row.number not in active, row.mention_a))
    return tuple(found)


def _named(rows: Iterable[Decision]) -> set[str]:
    """The mentions that decisions are about."""
    of_mentions = (row for row in rows if row.kind not in {WRONG_RECORD, UNDO})
    return {one for row in of_mentions for one in (row.mention_a, row.mention_b, *row.members) if one}


@dataclass(frozen=True)
class Decided:
    """All that the decisions in force say, by mention id.

    `last` is the number of the last row that was read, an undo included. `left` has the mentions that are not an author
    or left it, each with the mentions of that author. `moved` has the mentions that are an author, each with a mention
    of that author. `find_causes` finds what decisions and undos may have caused, and `find_named` the mentions of all
    decisions, undone ones included; few updates need these.
    """

    pairs: tuple[tuple[str, str, bool], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    wrong: frozenset[str] = frozenset()
    curated: frozenset[str] = frozenset()
    find_causes: Callable[[], tuple[Cause, ...]] = tuple
    last: int = 0
    left: Mapping[str, Sequence[str]] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)
    find_named: Callable[[], set[str]] = set

    @classmethod
    def read(cls, result: Path, renames: Path | None = None) -> Decided:
        """Read the decisions of a result; `renames` is the folder of the table of renamed mentions, if it differs."""
        rows = read_decisions(result, renames)
        state = decision_state(rows)
        pairs = tuple((a, b, same) for (a, b), same in state.pairs.items())
        return cls(
            pairs, state.names, frozenset(state.wrong_records), frozenset(state.curated), partial(_causes, rows, state),
            rows[-1].number if rows else 0, _left(state.active),
            {row.mention_a: row.mention_b for row in state.active if row.kind == IS}, partial(_named, rows),
        )  # fmt: skip

    @property
    def mentions(self) -> set[str]:
        """The mentions of all pairs."""
        return {mention for a, b, _ in self.pairs for mention in (a, b)}


def apply_decisions(
    rows: pa.Table,
    year: Sequence[int | None],
    decided: Decided,
    split: Split,
    shown: Mapping[str, str] = {},
    given: GivenIds = NO_IDS,
) -> list[str]:
    """The author ids of rows after decisions; the rows are whole blocks with undecided authors.

    `year` is that of each row's document. `shown` are the authors that the result has shown so far, by mention id, and
    `given` all ids that it has ever given in these blocks.
    """
    ids: list[str] = rows["author_id"].to_pylist()
    mention_ids = rows["mention_id"].to_pylist()
    place = {mention: number for number, mention in enumerate(mention_ids)}
    pairs = [(place[a], place[b], same) for a, b, same in decided.pairs if a in place and b in place]
    linked = {row for a, b, same in pairs if same for row in (a, b)}
    documents = rows["document_id"].to_pylist()
    alone = [row for row, one in enumerate(documents) if one in decided.wrong and row not in linked]
    if not pairs and not alone:
        return ids
    groups = _concerned_authors(ids, pairs, alone)
    part_of = _parts(rows, ids, [row for group in groups for row in group], pairs, {*alone}, mention_ids, split)
    undecided, usable = set(ids), dict[int, str | None]()
    for group in groups:
        own, before = {ids[row] for row in group}, {row: shown.get(mention_ids[row]) for row in group}
        usable |= {row: None if one in undecided and one not in own else one for row, one in before.items()}
    original: dict[int, str | None] = {row: ids[row] for row in part_of}
    for claims in (usable, original):
        _leave_ids(claims, part_of, decided, place, mention_ids, alone)
    _return_ids(usable, original, part_of, pairs, alone)
    kept = _kept_ids(part_of, usable, original)
    sources = {row: {ids[row], shown.get(mention_ids[row], ids[row])} for row in part_of}
    _name_parts(part_of, kept, ids, rows["block"].to_pylist(), mention_ids, year, given, sources)
    return ids


def _left(active: Iterable[Decision]) -> dict[str, list[str]]:
    """The mentions that are not an author or left it, each with the mentions of all such authors."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in active:
        if row.members:
            found[row.mention_a].extend(row.members)
    return found


def _leave_ids(
    usable: dict[int, str | None],
    part_of: Mapping[int, int],
    decided: Decided,
    place: Mapping[str, int],
    mention_ids: Sequence[str],
    alone: Sequence[int],
) -> None:
    """Take the id from rows of wrong records, and from rows that left an author, if others of the author still have it.

    So if all leave, the last one keeps the id. A row that moved to an author takes no id there.
    """
    wrong = {*alone}
    staying = {one for row, one in usable.items() if row not in wrong}
    for row in alone:
        if usable[row] in staying:
            usable[row] = None
    for row, one in usable.items():
        if one is None:
            continue
        target = place.get(decided.moved.get(mention_ids[row], ""), row)
        if usable.get(target) not in {None, one} and part_of[target] == part_of[row]:
            usable[row] = None
            continue
        others = (place[other] for other in decided.left.get(mention_ids[row], ()) if other in place)
        if any(usable.get(other) == one and part_of[other] != part_of[row] for other in others):
            usable[row] = None


def _return_ids(
    usable: dict[int, str | None],
    original: Mapping[int, str | None],
    part_of: Mapping[int, int],
    pairs: Iterable[Pair],
    alone: Sequence[int],
) -> None:
    """Let an id that only a wrong record shows return to the other rows of its undecided author.

    These rows may have been wrong records themselves that are so no more. Parts with a row that users call different
    from the wrong record are other people, and keep the id that they have.
    """
    wrong = {row: one for row in alone if (one := usable[row]) is not None}
    if not wrong:
        return
    apart: dict[int, set[int]] = defaultdict(set)
    for a, b, same in pairs:
        if not same and a in part_of and b in part_of:
            apart[a].add(part_of[b])
            apart[b].add(part_of[a])
    claimed: dict[str | None, list[int]] = defaultdict(list)
    for row in original.keys() - {*alone}:
        claimed[original[row]].append(row)
    for row, one in wrong.items():
        others = [other for other in claimed.get(one, ()) if part_of[other] not in apart[row]]
        if others:
            usable[row] = None
            usable.update(dict.fromkeys(others, one))


def _kept_ids(
    part_of: Mapping[int, int], usable: Mapping[int, str | None], original: Mapping[int, str | None]
) -> dict[int, str]:
    """The id that each part keeps: one that it was shown under, else the `original` one of an undecided author.

    Rows that are shown under an id of their own, which no undecided author has, do not claim the original one.
    """
    kept = _ids_of_largest_parts(part_of, usable)
    used, undecided = {*kept.values()}, {*original.values(), None}
    free = {row: None if one in used or usable[row] not in undecided else one for row, one in original.items()}
    return _ids_of_largest_parts(part_of, free) | kept


def _ids_of_largest_parts(part_of: Mapping[int, int], claims: Mapping[int, str | None]) -> dict[int, str]:
    """An id for each part with most of the rows that have this id; of several such ids, that of most rows.

    No part gets an id of which another part has more rows. Otherwise what is left of an author would take the id,
    though most of the author is elsewhere: the id would mean another person.

    >>> _ids_of_largest_parts({0: 7, 1: 7, 2: 8, 3: 7, 4: 7, 5: 7}, dict(enumerate("aaabbb")))
    {7: 'b'}
    """
    rows: dict[str, Counter[int]] = defaultdict(Counter)
    for row in sorted(part_of):
        if (one := claims[row]) is not None:
            rows[one][part_of[row]] += 1
    found: dict[int, tuple[int, str]] = {}
    for one, counts in sorted(rows.items()):
        part, number = counts.most_common(1)[0]  # of equal numbers, the part with the first row
        if part not in found or number > found[part][0]:
            found[part] = (number, one)
    return {part: one for part, (_, one) in found.items()}


def _concerned_authors(ids: Sequence[str], pairs: Sequence[Pair], alone: Iterable[int]) -> list[list[int]]:
    """The rows of authors that decisions change, in lists; authors that must become one are in the same list."""
    code = {author: number for number, author in enumerate(dict.fromkeys(ids))}
    links = [(code[ids[a]], code[ids[b]]) for a, b, same in pairs if same]
    left, right = (np.array([pair[side] for pair in links], np.int64) for side in (0, 1))
    root = connected_components(len(code), left, right)
    concerned = {int(root[one]) for one in left}
    for a, b, same in pairs:
        first, second = int(root[code[ids[a]]]), int(root[code[ids[b]]])
        if not same and first == second:
            concerned.add(first)
    concerned |= {int(root[code[ids[one]]]) for one in alone}
    members: dict[int, list[int]] = defaultdict(list)
    for number, author in enumerate(ids):
        if (found := int(root[code[author]])) in concerned:
            members[found].append(number)
    return list(members.values())


def _parts(
    rows: pa.Table,
    ids: Sequence[str],
    members: Sequence[int],
    pairs: Sequence[Pair],
    alone: Set[int],
    mention_ids: Sequence[str],
    split: Split,
) -> dict[int, int]:
    """The part of each row of some authors, by number; wrong records are alone."""
    kept = [row for row in sorted(members) if row not in alone]
    here = {row: number for number, row in enumerate(kept)}
    units = _Units([(here[a], here[b], same) for a, b, same in pairs if a in here and b in here])
    divided = [one for one in _by_size([ids[row] for row in kept]) if not units.join_all(one)]
    if divided:
        _keep_joined_authors_apart(units, divided, [ids[row] for row in kept])
        chosen = [kept[number] for author in divided for number in author]
        author_of = [number for number, author in enumerate(divided) for _ in author]
        stated = [pair for author in divided for pair in units.pairs_among(author)]
        names = [(mention_ids[kept[a]], mention_ids[kept[b]], same) for a, b, same in stated]
        a, b, same = zip(*names, strict=True)
        found = split(rows.take(pa.array(chosen)), author_of, UserPairs(a, b, same))
        units.join_parts([here[row] for row in chosen], found)
    part_of = {row: units.root(number) for row, number in here.items()}
    return part_of | {row: len(kept) + number for number, row in enumerate(sorted(alone))}


def _keep_joined_authors_apart(units: _Units, divided: Sequence[Sequence[int]], authors: Sequence[str]) -> None:
    """Add cannot-links between units of a divided author that have mentions of other authors.

    No decision joins these others, so the division of an author must not do it either.
    """
    found: dict[int, set[str]] = defaultdict(set)
    for place, author in enumerate(authors):
        found[units.root(place)].add(author)
    for some in divided:
        joined = sorted({root for one in some if len(found[root := units.root(one)]) > 1})
        for a, b in combinations(joined, 2):
            units.separate(a, b)


def _by_size(authors: Sequence[str]) -> list[list[int]]:
    """The places of each author, the largest author first, of equal ones the first."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, author in enumerate(authors):
        places[author].append(place)
    return sorted(places.values(), key=lambda some: (-len(some), some[0]))


class _Units:
    """Mentions that are together, with cannot-links between such units; mentions are numbers."""

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self._union = UnionFind[int]()
        self._apart: dict[int, set[int]] = defaultdict(set)
        different = []
        for a, b, same in pairs:
            if same:
                self.join(a, b)
            else:
                different.append((a, b))
        for a, b in different:
            self.separate(a, b)

    def separate(self, a: int, b: int) -> None:
        """Add a cannot-link between the units of two mentions."""
        x, y = self.root(a), self.root(b)
        self._apart[x].add(y)
        self._apart[y].add(x)

    def root(self, one: int) -> int:
        """The mention that represents the unit of another."""
        return self._union.find(one)

    def join(self, a: int, b: int) -> None:
        """Make one unit of two."""
        x, y = self.root(a), self.root(b)
        if x == y:
            return
        if len(self._apart.get(x, ())) < len(self._apart.get(y, ())):
            x, y = y, x
        self._union.join(x, y)
        for other in self._apart.pop(y, ()):
            self._apart[other].discard(y)
            self._apart[other].add(x)
            self._apart[x].add(other)

    def are_apart(self, a: int, b: int) -> bool:
        """Whether a cannot-link is between the units of two mentions."""
        return self.root(b) in self._apart.get(self.root(a), ())

    def join_all(self, some: Sequence[int]) -> bool:
        """Make one unit of some mentions, unless a cannot-link forbids it; whether it did."""
        roots = {self.root(one) for one in some}
        if any(not roots.isdisjoint(self._apart.get(one, ())) for one in roots):
            return False
        for one in some:
            self.join(some[0], one)
        return True

    def join_parts(self, some: Sequence[int], parts: Sequence[int]) -> None:
        """Join mentions of the same part; one that a cannot-link keeps from the first goes with a later one."""
        first: dict[int, list[int]] = defaultdict(list)
        for one, part in zip(some, parts, strict=True):
            partner = next((other for other in first[part] if not self.are_apart(one, other)), None)
            if partner is None:
                first[part].append(one)
            else:
                self.join(partner, one)

    def pairs_among(self, some: Sequence[int]) -> Iterator[Pair]:
        """What units and cannot-links say about some mentions."""
        first: dict[int, int] = {}
        for one in some:
            if (head := first.setdefault(self.root(one), one)) != one:
                yield head, one, True
        for unit, one in first.items():
            yield from ((one, first[other], False) for other in sorted(self._apart.get(unit, ())) if other in first)


def _name_parts(
    part_of: Mapping[int, int],
    kept: Mapping[int, str],
    ids: list[str],
    block: Sequence[str],
    mention_ids: Sequence[str],
    year: Sequence[int | None],
    given: GivenIds,
    sources: Mapping[int, Set[str]],
) -> None:
    """Give each part the id that it keeps, or a new one from its anchor; `sources` are the authors that rows had."""
    taken = {*ids, *kept.values()}
    rows_of: dict[int, list[int]] = defaultdict(list)
    for row, part in part_of.items():
        rows_of[part].append(row)
    for part, own in sorted(rows_of.items(), key=lambda item: min(mention_ids[row] for row in item[1])):
        name = kept.get(part)
        if name is None:
            anchor = anchor_of(own, mention_ids, year)
            name = given.mint(block[anchor], mention_ids[anchor], sources[anchor], taken)
            taken.add(name)
        for row in own:
            ids[row] = name


def anchor_of(rows: Iterable[int], mention_ids: Sequence[str], year: Sequence[int | None]) -> int:
    """The earliest row: by year (rows without a year last), then by mention id (see collection/author_ids.py)."""
    return min(rows, key=lambda row: (year[row] is None, year[row] or 0, mention_ids[row]))


def consistent_parts(parts: Sequence[int], pairs: Iterable[Pair]) -> list[int]:
    """The same parts, changed so that all must-links hold and no part contains a cannot-link.

    Clustering works block by block and does not see the consequences of pairs of mentions of different blocks. Here,
    rows that must-links connect come together, and a part is divided if it then contains a cannot-link. The pairs must
    not contradict each other.

    >>> consistent_parts([0, 0, 1, 1], [(0, 2, True), (1, 3, False)])
    [0, 0, 0, 1]
    """
    units = _Units(pairs)
    units.join_parts(range(len(parts)), parts)
    number: dict[int, int] = {}
    return [number.setdefault(units.root(row), len(number)) for row in range(len(parts))]


def complete_parts(parts: Sequence[int], apart: Iterable[tuple[int, int]]) -> list[int]:
    """The same parts, merged: a part that no cannot-link separates from a larger part becomes part of it.

    `apart` has pairs of rows with a cannot-link. The largest part comes first; ties go to the part with the first row.

    >>> complete_parts([0, 0, 1, 2], [(0, 2)])
    [0, 0, 1, 0]
    """
    size, first = Counter(parts), dict[int, int]()
    for row, part in enumerate(parts):
        first.setdefault(part, row)
    forbidden: dict[int, set[int]] = defaultdict(set)
    for a, b in apart:
        forbidden[parts[a]].add(parts[b])
        forbidden[parts[b]].add(parts[a])
    joined: dict[int, int] = {}
    heads: dict[int, set[int]] = {}
    for part in sorted(size, key=lambda one: (-size[one], first[one])):
        head = next((one for one, others in heads.items() if part not in others), part)
        joined[part] = head
        heads.setdefault(head, set()).update(forbidden[part])
    return [joined[part] for part in parts]
