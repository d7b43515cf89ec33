"""Applies the decisions of users to the authors of some blocks. A decision may be about mentions of two blocks.

The *undecided* authors are those that the method finds without decisions. The authors that a result shows depend only
on the undecided authors and on the decisions in force, so an undo restores them. Authors that `same` connects become
one. If users call two mentions of an author different, the mentions of that author are clustered again with these
cannot-links and without a limit: each mention stays with one of the sides. Each mention of a wrong record becomes an
author of its own.

The parts of a divided author keep the ids under which the result showed them before, so that an id stays with a person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from homonym.clustering.arrays import connected_components
from homonym.clustering.union_find import UnionFind
from homonym.constraints.evidence import UserPairs
from homonym.corpus.decision_state import RELATIONS, DecisionState, decision_state
from homonym.corpus.decision_store import DIFFERENT, SAME, WRONG_RECORD, Decision, read_decisions
from homonym.corpus.id_matching import match_authors
from homonym.corpus.ids import mint

Pair = tuple[int, int, bool]
"""Two rows, and whether they are one author."""

Split = Callable[[pa.Table, UserPairs], Sequence[int]]
"""Clusters rows of one author again with must-links and cannot-links; returns the part of each row."""


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
            joins = (relation == SAME) == (row.number in active)
            others = dict.fromkeys((row.mention_b, *row.members))
            found += [Cause(number, joins, row.mention_a, other) for other in others]
        elif row.kind == WRONG_RECORD:
            found.append(Cause(number, row.number not in active, row.mention_a))
    return tuple(found)


@dataclass(frozen=True)
class Decided:
    """All that the decisions in force say, by mention id, and what decisions and undos may have caused."""

    pairs: tuple[tuple[str, str, bool], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    wrong: frozenset[str] = frozenset()
    curated: frozenset[str] = frozenset()
    causes: tuple[Cause, ...] = ()

    @classmethod
    def read(cls, result: Path, renames: Path | None = None) -> Decided:
        """Read the decisions of a result; `renames` is the folder of the table of renamed mentions, if it differs."""
        rows = read_decisions(result, renames)
        state = decision_state(rows)
        pairs = tuple((a, b, same) for (a, b), same in state.pairs.items())
        return cls(pairs, state.names, frozenset(state.wrong_records), frozenset(state.curated), _causes(rows, state))

    @property
    def mentions(self) -> set[str]:
        """The mentions of all pairs."""
        return {mention for a, b, _ in self.pairs for mention in (a, b)}


def apply_decisions(
    rows: pa.Table, year: Sequence[int | None], decided: Decided, split: Split, shown: Mapping[str, str] = {}
) -> list[str]:
    """The author ids of rows after decisions; the rows are whole blocks with undecided authors.

    `year` is that of each row's document. `shown` are the authors that the result has shown so far, by mention id.
    """
    ids: list[str] = rows["author_id"].to_pylist()
    mention_ids = rows["mention_id"].to_pylist()
    place = {mention: number for number, mention in enumerate(mention_ids)}
    pairs = [(place[a], place[b], same) for a, b, same in decided.pairs if a in place and b in place]
    alone = [number for number, one in enumerate(rows["document_id"].to_pylist()) if one in decided.wrong]
    if not pairs and not alone:
        return ids
    chosen, part_of, usable = _by_row(pairs), dict[int, int](), dict[int, str | None]()
    undecided = set(ids)
    for members in _concerned_authors(ids, pairs, alone):
        inside = sorted({pair for row in members for pair in chosen[row]})
        parts = _parts(rows, members, inside, {*alone}.intersection(members), mention_ids, split)
        first, own = 2 * len(part_of), {ids[row] for row in members}
        part_of |= {row: first + part for row, part in zip(members, parts, strict=True)}
        before = {row: shown.get(mention_ids[row]) for row in members}
        usable |= {row: None if one in undecided and one not in own else one for row, one in before.items()}
    kept = _kept_ids(ids, part_of, usable)
    _name_parts(part_of, kept, ids, rows["block"].to_pylist(), mention_ids, year)
    return ids


def _kept_ids(ids: Sequence[str], part_of: Mapping[int, int], usable: Mapping[int, str | None]) -> dict[int, str]:
    """The id that each part keeps: the one it was shown under, else that of an undecided author, if it is free."""
    parts = list(part_of.values())
    kept = match_authors(list(usable.values()), parts)
    used = {*kept.values()}
    free = [None if part in kept or ids[row] in used else ids[row] for row, part in part_of.items()]
    return kept | match_authors(free, parts)


def _by_row(pairs: Iterable[Pair]) -> dict[int, list[Pair]]:
    """The pairs that contain each row."""
    found: dict[int, list[Pair]] = defaultdict(list)
    for pair in pairs:
        found[pair[0]].append(pair)
        found[pair[1]].append(pair)
    return found


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
    members: Sequence[int],
    pairs: Sequence[Pair],
    alone: set[int],
    mention_ids: Sequence[str],
    split: Split,
) -> list[int]:
    """The part of each row of connected authors, by number; each row of a wrong record is a part of its own."""
    here = {row: number for number, row in enumerate(members)}
    inside = [(a, b, same) for a, b, same in pairs if a in here and b in here and not {a, b} & alone]
    parts = [0] * len(members)
    if any(not same for *_, same in inside):
        chosen = UserPairs(
            tuple(mention_ids[a] for a, _, _ in inside),
            tuple(mention_ids[b] for _, b, _ in inside),
            tuple(same for *_, same in inside),
        )
        kept = [row for row in members if row not in alone]
        for row, part in zip(kept, split(rows.take(pa.array(kept)), chosen), strict=True):
            parts[here[row]] = part
    for number, row in enumerate(sorted(alone), len(members)):
        parts[here[row]] = number
    return parts


def _name_parts(
    part_of: Mapping[int, int],
    kept: Mapping[int, str],
    ids: list[str],
    block: Sequence[str],
    mention_ids: Sequence[str],
    year: Sequence[int | None],
) -> None:
    """Give each part the id that it keeps, or a new one from its anchor."""
    taken = {*ids, *kept.values()}
    rows_of: dict[int, list[int]] = defaultdict(list)
    for row, part in part_of.items():
        rows_of[part].append(row)
    for part, own in sorted(rows_of.items(), key=lambda item: min(mention_ids[row] for row in item[1])):
        name = kept.get(part)
        if name is None:
            anchor = anchor_of(own, mention_ids, year)
            name = mint(block[anchor], mention_ids[anchor], taken)
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
    every = list(pairs)
    same = [(a, b) for a, b, is_same in every if is_same]
    left, right = (np.array([pair[side] for pair in same], np.int64) for side in (0, 1))
    unit = connected_components(len(parts), left, right).tolist()
    union = UnionFind[int]()
    forbidden: dict[int, set[int]] = defaultdict(set)
    for a, b, is_same in every:
        if not is_same:
            forbidden[unit[a]].add(unit[b])
            forbidden[unit[b]].add(unit[a])
    first: dict[int, list[int]] = defaultdict(list)
    for row, part in enumerate(parts):
        own = union.find(unit[row])
        for other in first[part]:
            target = union.find(other)
            if own == target:
                break
            if target not in set(map(union.find, forbidden[own])):
                union.join(target, own)
                forbidden[target] |= forbidden[own]
                break
        else:
            first[part].append(own)
    number: dict[int, int] = {}
    return [number.setdefault(union.find(one), len(number)) for one in unit]


def complete_parts(parts: Sequence[int], apart: Iterable[tuple[int, int]]) -> list[int]:
    """The same parts, merged: a part that no cannot-link separates from a larger part becomes part of it.

    `apart` has pairs of rows with a cannot-link. The largest part comes first; ties go to the part with the first row.

    >>> complete_parts([0, 0, 1, 2], [(0, 2)])
    [0, 0, 1, 0]
    """
    size, first = Counter(parts), {part: parts.index(part) for part in set(parts)}
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
