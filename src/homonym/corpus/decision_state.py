"""What the decisions of users mean: must-links and cannot-links between mentions, names, and wrong records.

Decisions are read from the newest to the oldest. A decision is in force unless it is undone, or a newer one on the same
pair replaces it, or it contradicts newer ones: a new `different a c` overrules the older of `same a b` and `same b c`.
So the decisions in force never contradict each other, and the newest decision always holds.

`is-not M X` is a cannot-link of the mention with all mentions that the author had at the time of the decision, so that
M leaves the author and not a part of the author with it. `is M X` is a must-link of the mention with the anchor of the
author, and a cannot-link with the other mentions of the author that M had, so that M comes alone.

The mentions of a wrong record are alone. A newer `same` or `is` takes its mention out of this; older ones do not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from homonym.clustering.union_find import UnionFind
from homonym.corpus.decision_store import (
    DIFFERENT,
    IS,
    IS_NOT,
    NAME,
    SAME,
    UNDO,
    UNSURE,
    WRONG_RECORD,
    Decision,
    undone_rows,
)

Pair = tuple[str, str]

_NOTHING_APART: dict[int, Decision] = {}
# What each kind says about two mentions.
RELATIONS = {SAME: SAME, IS: SAME, DIFFERENT: DIFFERENT, IS_NOT: DIFFERENT, UNSURE: UNSURE}


class Overruled(NamedTuple):
    """A decision without effect and the newer ones that overrule it: the first of them contradicts it."""

    decision: Decision
    by: tuple[Decision, ...]


@dataclass(frozen=True)
class DecisionState:
    """The state that a list of decisions leads to.

    `active` has the decisions in force, in the order of their numbers, and `pairs` their must-links (True) and
    cannot-links. `replaced` and `undone` map numbers to the row responsible; `overruled` has contradicted decisions.
    """

    active: list[Decision] = field(default_factory=list)
    pairs: dict[Pair, bool] = field(default_factory=dict)
    replaced: dict[int, Decision] = field(default_factory=dict)
    overruled: dict[int, Overruled] = field(default_factory=dict)
    undone: dict[int, Decision] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, str]:
        """The names that users gave to authors, by the anchor mention of the author at the time of the decision."""
        return {row.mention_a: row.b for row in self.active if row.kind == NAME}

    def are_apart(self, a: str, b: str) -> bool:
        """Whether a decision in force calls two mentions different."""
        return self.pairs.get((a, b) if a < b else (b, a)) is False

    @cached_property
    def wrong_records(self) -> set[str]:
        """The ids of the documents that users called wrong."""
        return {row.mention_a for row in self.active if row.kind == WRONG_RECORD}

    @cached_property
    def linked(self) -> set[str]:
        """The mentions that must be together with others."""
        return {mention for pair, same in self.pairs.items() if same for mention in pair}

    def is_alone(self, mention: str, document: str) -> bool:
        """Whether a mention is alone, because its record is wrong and no newer decision is about it."""
        return document in self.wrong_records and mention not in self.linked

    @property
    def curated(self) -> set[str]:
        """The mentions that decisions in force are about; those of wrong records are not among them."""
        rows = (row for row in self.active if row.kind != WRONG_RECORD)
        return {mention for row in rows for mention in (row.mention_a, row.mention_b) if mention}


def decision_state(rows: Iterable[Decision]) -> DecisionState:
    """The state after these rows.

    >>> rows = [Decision(1, "", "ann", "same", "x", "y", "x", "y", "")]
    >>> rows += [Decision(2, "", "bob", "same", "y", "z", "y", "z", "")]
    >>> rows += [Decision(3, "", "eve", "different", "x", "z", "x", "z", "")]
    >>> found = decision_state(rows)
    >>> found.pairs
    {('x', 'z'): False, ('y', 'z'): True}
    >>> [(one.decision.user, [row.user for row in one.by]) for one in found.overruled.values()]
    [('ann', ['eve', 'bob'])]
    """
    rows = list(rows)
    state = DecisionState(undone=undone_rows(rows))
    valid = [row for row in rows if row.kind != UNDO and row.number not in state.undone and not is_about_one(row)]
    newest_first = sorted(valid, key=itemgetter(0), reverse=True)
    statements = _Statements(newest_first)
    singles: dict[tuple[str, str], Decision] = {}
    for row in newest_first:
        if row.kind in RELATIONS:
            _weigh(row, statements, state, singles)
        elif (newer := singles.setdefault((row.kind, row.mention_a), row)) is row:
            state.active.append(row)
        else:
            state.replaced[row.number] = newer
    state.active.reverse()
    state.pairs.update(statements.named_pairs())
    return state


def is_about_one(row: Decision) -> bool:
    """Whether both mentions of a decision are one now: their documents have become one. Then it says nothing."""
    return row.kind in RELATIONS and row.mention_a == row.mention_b


def _weigh(
    row: Decision, statements: _Statements, state: DecisionState, singles: Mapping[tuple[str, str], Decision]
) -> None:
    """Decide whether a decision is in force, given the newer ones; `singles` are those by kind and document."""
    relation, a, b = RELATIONS[row.kind], *statements.numbers(row)
    newer = statements.newer(a, b, row)
    # A repeated statement replaces the older one, unless the older one is about more mentions.
    if newer is not row and not (row.members and relation == RELATIONS[newer.kind]):
        state.replaced[row.number] = newer
    elif singles and relation == SAME and (wrong := _wrong_record(row, singles)):
        state.overruled[row.number] = Overruled(row, (wrong,))
    elif by := statements.contradiction(relation, a, b):
        state.overruled[row.number] = Overruled(row, by)
    else:
        statements.add(relation, a, b, row)
        state.active.append(row)


def _wrong_record(row: Decision, singles: Mapping[tuple[str, str], Decision]) -> Decision | None:
    """The newer decision that calls the record of one of both mentions wrong."""
    documents = (document_of(one) for one in (row.mention_a, row.mention_b))
    return next((found for one in documents if (found := singles.get((WRONG_RECORD, one)))), None)


def document_of(mention: str) -> str:
    """The document of a mention.

    >>> document_of("pmid:7#0")
    'pmid:7'
    """
    return mention.rpartition("#")[0]


class _Statements:
    """The statements in force so far: connected components of must-links, and cannot-links between components.

    Mentions are numbers here, and a pair is one number, because that is faster.
    """

    def __init__(self, rows: Sequence[Decision]) -> None:
        of_mentions = [row for row in rows if row.kind in RELATIONS]
        self._mentions = list(
            dict.fromkeys(text for row in of_mentions for text in (row.mention_a, row.mention_b, *row.members))
        )
        self._number = {mention: number for number, mention in enumerate(self._mentions)}
        self._decided: dict[int, Decision] = {}
        self._pairs: dict[int, bool] = {}
        self._leaving = _mentions_leaving(of_mentions)
        self._moving = {row.mention_a for row in of_mentions if row.kind in {IS, IS_NOT}}
        self._union = UnionFind[int]()
        # For each component, the components that a cannot-link separates from it, each with its decision.
        self._apart: dict[int, dict[int, Decision]] = {}
        # The must-links as rooted trees, one for each component: the next mention on the way to the root.
        self._towards_root: dict[int, tuple[int, Decision]] = {}
        self._size = [1] * len(self._mentions)

    def named_pairs(self) -> Iterator[tuple[Pair, bool]]:
        """The pairs in force by mention ids, the smaller id first; True for a must-link."""
        for pair, same in self._pairs.items():
            number, other = divmod(pair, len(self._mentions))
            a, b = self._mentions[number], self._mentions[other]
            yield (a, b) if a < b else (b, a), same

    def numbers(self, row: Decision) -> tuple[int, int]:
        """The numbers of both mentions of a decision."""
        return self._number[row.mention_a], self._number[row.mention_b]

    def newer(self, a: int, b: int, row: Decision) -> Decision:
        """The newest decision on a pair: this one, if there is no newer one."""
        return self._decided.setdefault(self._pair(a, b), row)

    def contradiction(self, relation: str, a: int, b: int) -> tuple[Decision, ...]:
        """The newer decisions that together exclude a statement: what separates both mentions comes first."""
        if relation == UNSURE:
            return ()
        x, y = self._union.find(a), self._union.find(b)
        if relation == SAME and (apart := self._apart.get(x, _NOTHING_APART).get(y)):
            return (apart, *self._links(a, b, apart))
        return tuple(self._path(a, b)) if relation == DIFFERENT and x == y else ()

    def add(self, relation: str, a: int, b: int, row: Decision) -> None:
        """Add a decision that contradicts nothing."""
        if relation == SAME:
            self._join(a, b, row)
            for member in row.members:
                if member not in self._moving and self._is_open(a, number := self._number[member]):
                    self._separate(a, number, row)
        elif relation == DIFFERENT:
            self._separate(a, b, row)
            leaving = self._leaving.get(row.mention_b, set())
            for member in row.members:
                if member not in leaving and self._is_open(a, number := self._number[member]):
                    self._separate(a, number, row)

    def _pair(self, a: int, b: int) -> int:
        return (a * len(self._mentions) + b) if a < b else (b * len(self._mentions) + a)

    def _is_open(self, a: int, b: int) -> bool:
        """Whether no newer decision is about this mention and this other mention of the author that it left."""
        return a != b and self._pair(a, b) not in self._decided and self._union.find(a) != self._union.find(b)

    def _join(self, a: int, b: int, row: Decision) -> None:
        self._pairs[self._pair(a, b)] = True
        x, y = self._union.find(a), self._union.find(b)
        if x == y:
            return
        if self._weight(x) < self._weight(y):
            a, b, x, y = b, a, y, x
        self._hang(b, a, row)
        self._union.join(x, y)
        self._size[x] += self._size[y]
        for other, why in self._apart.pop(y, {}).items():
            del self._apart[other][y]
            self._keep_apart(x, other, why)

    def _weight(self, root: int) -> int:
        return self._size[root] + len(self._apart.get(root, ()))

    def _hang(self, mention: int, below: int, row: Decision) -> None:
        """Make a mention the root of its tree, and hang the tree below a mention of another one."""
        while True:
            former = self._towards_root.get(mention)
            self._towards_root[mention] = (below, row)
            if former is None:
                return
            below, mention, row = mention, *former

    def _separate(self, a: int, b: int, row: Decision) -> None:
        self._pairs[self._pair(a, b)] = False
        self._keep_apart(self._union.find(a), self._union.find(b), row)

    def _keep_apart(self, x: int, y: int, row: Decision) -> None:
        self._apart.setdefault(x, {}).setdefault(y, row)
        self._apart.setdefault(y, {}).setdefault(x, row)

    def _links(self, a: int, b: int, apart: Decision) -> Iterator[Decision]:
        """The must-links that connect two mentions with the mentions that a decision keeps apart."""
        ends = self.numbers(apart)
        if self._union.find(a) != self._union.find(ends[0]):
            ends = ends[::-1]
        for mention, end in zip((a, b), ends, strict=True):
            yield from self._path(mention, end)

    def _path(self, a: int, b: int) -> Iterator[Decision]:
        """The must-links that connect two mentions; none if they are in different components."""
        ways = [list(self._way(mention)) for mention in (a, b)]
        while ways[0] and ways[1] and ways[0][-1] == ways[1][-1]:  # both paths share their end, from where they meet
            for way in ways:
                way.pop()
        if self._union.find(a) == self._union.find(b):
            yield from (row for way in ways for row in way)

    def _way(self, mention: int) -> Iterator[Decision]:
        """The must-links from a mention to the root of its tree."""
        while (following := self._towards_root.get(mention)) is not None:
            mention, row = following
            yield row


def _mentions_leaving(rows: Iterable[Decision]) -> dict[str, set[str]]:
    """By the anchor of an author, the mentions that users said are not by this author."""
    leaving: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.kind == IS_NOT:
            leaving[row.mention_b].add(row.mention_a)
    return leaving
