"""What the decisions of users mean: pairs of mentions that must, or cannot, be one author, names, and wrong records.

Decisions are read from the newest to the oldest. A decision is in force unless it is undone, or a newer one on the same
pair replaces it, or it contradicts newer ones: `different a c` overrules the older one of `same a b` and `same b c`.
So the decisions in force never contradict each other, and the newest decision always holds.

`is M X` is a must-link of the mention with the anchor of the author, `is-not M X` a cannot-link with all mentions that
the author had at the time of the decision, so that M leaves the author and not a part of the author with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from homonym.constraints.evidence import UserPairs
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
    read_decisions,
    undone_rows,
)

Pair = tuple[str, str]

# What each kind says about two mentions.
RELATIONS = {SAME: SAME, IS: SAME, DIFFERENT: DIFFERENT, IS_NOT: DIFFERENT, UNSURE: UNSURE}


class Overruled(NamedTuple):
    """A decision without effect and the newer ones that overrule it: the first of them contradicts it."""

    decision: Decision
    by: tuple[Decision, ...]


@dataclass(frozen=True)
class DecisionState:
    """What holds of a list of decisions.

    `active` are the decisions in force, in the order of their numbers, and `pairs` what they say about mentions: True
    for a must-link. `replaced` and `undone` map numbers to the row responsible; `overruled` have a contradiction.
    """

    active: list[Decision] = field(default_factory=list)
    pairs: dict[Pair, bool] = field(default_factory=dict)
    replaced: dict[int, Decision] = field(default_factory=dict)
    overruled: dict[int, Overruled] = field(default_factory=dict)
    undone: dict[int, Decision] = field(default_factory=dict)


def active_decisions(result: Path) -> list[Decision]:
    """The decisions in force, in the order of their numbers; none if the result has no file of decisions."""
    return decision_state(read_decisions(result)).active


def decision_pairs(result: Path) -> UserPairs | None:
    """The must-link and cannot-link pairs of the decisions in force, in the order of mention ids; None if none."""
    return pairs_of(decision_state(read_decisions(result)))


def pairs_of(state: DecisionState) -> UserPairs | None:
    """The pairs of a state, in the order of mention ids; None if there are none."""
    if not state.pairs:
        return None
    rows = sorted(state.pairs.items())
    return UserPairs(tuple(a for (a, _), _ in rows), tuple(b for (_, b), _ in rows), tuple(same for _, same in rows))


def decided_names(result: Path) -> dict[str, str]:
    """The names that users gave to authors, by the anchor mention of the author at the time of the decision."""
    return {row.mention_a: row.b for row in active_decisions(result) if row.kind == NAME}


def wrong_records(result: Path) -> set[str]:
    """The ids of the documents that users called wrong."""
    return {row.mention_a for row in active_decisions(result) if row.kind == WRONG_RECORD}


def curated_mentions(result: Path) -> set[str]:
    """The mentions that decisions in force are about; those of wrong records are not among them."""
    rows = (row for row in active_decisions(result) if row.kind != WRONG_RECORD)
    return {mention for row in rows for mention in (row.mention_a, row.mention_b) if mention}


def decision_state(rows: Iterable[Decision]) -> DecisionState:
    """What holds of these rows.

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
    valid = [row for row in rows if row.kind != UNDO and row.number not in state.undone]
    newest_first = sorted(valid, key=lambda row: -row.number)
    statements = _Statements(_removed_from(newest_first))
    singles: dict[tuple[str, str], Decision] = {}
    for row in newest_first:
        if row.kind in RELATIONS:
            _weigh(row, statements, state)
        elif (newer := singles.setdefault((row.kind, row.mention_a), row)) is row:
            state.active.append(row)
        else:
            state.replaced[row.number] = newer
    state.active.reverse()
    state.pairs.update(statements.pairs)
    return state


def _weigh(row: Decision, statements: _Statements, state: DecisionState) -> None:
    """Decide whether a decision is in force, given the newer ones."""
    pair = ordered(row.mention_a, row.mention_b)
    newer = statements.decided.get(pair)
    # The same statement once more replaces the older one, unless that has more mentions.
    if newer and not (row.members and RELATIONS[row.kind] == RELATIONS[newer.kind]):
        state.replaced[row.number] = newer
        return
    statements.decided.setdefault(pair, row)
    if by := statements.contradiction(row):
        state.overruled[row.number] = Overruled(row, by)
    else:
        statements.add(row)
        state.active.append(row)


def ordered(a: str, b: str) -> Pair:
    """A pair of mentions with the smaller id first.

    >>> ordered("W2#0", "W1#0")
    ('W1#0', 'W2#0')
    """
    return (a, b) if a <= b else (b, a)


def _removed_from(rows: Iterable[Decision]) -> dict[str, set[str]]:
    """By the anchor of an author, the mentions that were said not to be the author."""
    removed: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.kind == IS_NOT:
            removed[row.mention_b].add(row.mention_a)
    return removed


class _Statements:
    """The statements in force so far: connected components of must-links, and cannot-links between components."""

    def __init__(self, removed: dict[str, set[str]]) -> None:
        self.decided: dict[Pair, Decision] = {}
        self.pairs: dict[Pair, bool] = {}
        self._removed = removed
        self._parent: dict[str, str] = {}
        # For each component the components it is apart from, each with the decision that says so.
        self._apart: dict[str, dict[str, Decision]] = defaultdict(dict)
        self._edges: dict[str, list[tuple[str, Decision]]] = defaultdict(list)

    def contradiction(self, row: Decision) -> tuple[Decision, ...]:
        """The newer decisions that together exclude this one: what separates or joins both mentions comes first."""
        a, b, relation = row.mention_a, row.mention_b, RELATIONS[row.kind]
        x, y = self._root(a), self._root(b)
        if relation == SAME and (apart := self._apart[x].get(y)):
            return (apart, *self._links(a, b, apart))
        if relation == DIFFERENT and x == y:
            return tuple(self._path(a, b))
        return ()

    def add(self, row: Decision) -> None:
        """Take a decision that contradicts nothing."""
        relation = RELATIONS[row.kind]
        if relation == SAME:
            self._join(row)
        elif relation == DIFFERENT:
            self._separate(row, row.mention_b)
            leaving = self._removed[row.mention_b] if row.kind == IS_NOT else set()
            for member in row.members:
                if member not in leaving and self._is_open(row.mention_a, member):
                    self._separate(row, member)

    def _is_open(self, a: str, b: str) -> bool:
        """Whether no newer decision says something else about a mention and another one of the author it left."""
        return a != b and ordered(a, b) not in self.decided and self._root(a) != self._root(b)

    def _root(self, mention: str) -> str:
        parent = self._parent
        while (above := parent.get(mention, mention)) != mention:
            parent[mention] = parent.get(above, above)
            mention = above
        return mention

    def _join(self, row: Decision) -> None:
        a, b = row.mention_a, row.mention_b
        self.pairs[ordered(a, b)] = True
        self._edges[a].append((b, row))
        self._edges[b].append((a, row))
        x, y = self._root(a), self._root(b)
        if x == y:
            return
        if len(self._apart[x]) < len(self._apart[y]):
            x, y = y, x
        self._parent[y] = x
        for other, why in self._apart.pop(y).items():
            del self._apart[other][y]
            self._apart[x].setdefault(other, why)
            self._apart[other].setdefault(x, why)

    def _separate(self, row: Decision, b: str) -> None:
        self.pairs[ordered(row.mention_a, b)] = False
        x, y = self._root(row.mention_a), self._root(b)
        self._apart[x].setdefault(y, row)
        self._apart[y].setdefault(x, row)

    def _links(self, a: str, b: str, apart: Decision) -> Iterator[Decision]:
        """The must-links that connect two mentions with the mentions that a decision keeps apart."""
        ends = (apart.mention_a, apart.mention_b)
        if self._root(a) != self._root(ends[0]):
            ends = ends[::-1]
        for mention, end in zip((a, b), ends, strict=True):
            yield from self._path(mention, end)

    def _path(self, a: str, b: str) -> Sequence[Decision]:
        """The must-links on a shortest path between two mentions; none if they are in different components."""
        before: dict[str, tuple[str, Decision]] = {}
        seen, frontier = {a}, [a]
        while frontier and b not in seen:
            following = []
            for mention in frontier:
                for other, row in self._edges[mention]:
                    if other not in seen:
                        seen.add(other)
                        before[other] = (mention, row)
                        following.append(other)
            frontier = following
        path: list[Decision] = []
        while b != a and b in before:
            b, row = before[b]
            path.append(row)
        return path
