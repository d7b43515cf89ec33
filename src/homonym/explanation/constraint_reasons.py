"""The constraints between two clusters, as sentences with the names, titles and identifiers that cause them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from homonym.clustering.arrays import Integers
from homonym.constraints.found_constraints import FoundConstraints
from homonym.constraints.must_link import DOCUMENT, NAME, PAIR
from homonym.explanation.explained import ExplainedMention

Found = tuple[str, int, int]
"""The kind of a constraint, and the two mentions that it is about."""


@dataclass(frozen=True, eq=False)
class ConstraintReasons:
    """The constraints of one block; `identifiers` has those of each mention by kind.

    Among all blocks of `found` and `identifiers`, this one is `block`, and its first mention is `begin`.
    """

    found: FoundConstraints | None
    mentions: Sequence[ExplainedMention]
    identifiers: dict[tuple[int, str], str]
    block: int = 0
    begin: int = 0

    def barriers(self, C: Sequence[int], D: Sequence[int]) -> tuple[str, ...]:
        """Why C and D cannot be one author: one sentence for each kind of cannot-link."""
        return tuple(self._barrier(*one) for one in self._cannot_links(C, D))

    def links(self, C: Sequence[int], D: Sequence[int]) -> tuple[str, ...]:
        """Why C and D must be one author: one sentence for each kind of must-link, or one about indirect links."""
        direct = tuple(self._link(kind, x) for kind, x, _ in self._must_links(C, D))
        return direct or ("They are linked by way of other mentions, by identifiers or the user's pairs.",)

    def unused(self, C: Sequence[int], D: Sequence[int]) -> tuple[str, ...]:
        """Identifiers that mentions of C and D share, though their kind links nothing: one sentence for each kind."""
        used = self.found.evidence.ids.keys() if self.found else ()
        shared = sorted(self._identifiers(C) & self._identifiers(D), reverse=True)
        by_kind = {kind: value for kind, value in shared if kind not in used}
        return tuple(
            f"Both have the {kind} id {value}, but this kind of identifier was not used (--identifiers)."
            for kind, value in sorted(by_kind.items())
        )

    def _identifiers(self, mentions: Sequence[int]) -> set[tuple[str, str]]:
        return {one for x in mentions for one in self._by_mention.get(x, ())}

    @cached_property
    def _by_mention(self) -> dict[int, list[tuple[str, str]]]:
        """Kind and value of the identifiers of each mention of the block."""
        found: dict[int, list[tuple[str, str]]] = {}
        for (place, kind), value in self.identifiers.items():
            if 0 <= place - self.begin < len(self.mentions):
                found.setdefault(place - self.begin, []).append((kind, value))
        return found

    def _cannot_links(self, C: Sequence[int], D: Sequence[int]) -> Iterator[Found]:
        if self.found is None:
            return
        evidence = self.found.evidence
        x, y = self._pairs(C, D)
        block = np.full(len(x), self.block, np.int64)
        apart = {NAME: evidence.names.are_incompatible(block, evidence.names.number[x], evidence.names.number[y])}
        for kind, ids in evidence.separating_ids.items():
            apart[kind] = (ids[x] >= 0) & (ids[y] >= 0) & (ids[x] != ids[y])
        document = evidence.shared_document
        apart[DOCUMENT] = (document[x] >= 0) & (document[x] == document[y])
        apart[PAIR] = _are_among(evidence.different_pairs, x, y)
        for kind, pairs in apart.items():
            if pairs.any():
                yield kind, int(x[pairs.argmax()]) - self.begin, int(y[pairs.argmax()]) - self.begin

    def _pairs(self, C: Sequence[int], D: Sequence[int]) -> tuple[Integers, Integers]:
        """All pairs of mentions of C and D, as mentions of `found`."""
        x, y = np.meshgrid(np.array(C) + self.begin, np.array(D) + self.begin, indexing="ij")
        return x.ravel(), y.ravel()

    def _must_links(self, C: Sequence[int], D: Sequence[int]) -> Iterator[Found]:
        if self.found is None:
            return
        evidence = self.found.evidence
        x, y = self._pairs(C, D)
        same = {kind: (ids[x] >= 0) & (ids[x] == ids[y]) for kind, ids in evidence.ids.items()}
        same[PAIR] = _are_among(evidence.same_pairs, x, y)
        for kind, pairs in same.items():
            if pairs.any():
                yield kind, int(x[pairs.argmax()]) - self.begin, int(y[pairs.argmax()]) - self.begin

    def _barrier(self, kind: str, x: int, y: int) -> str:
        if kind == NAME:
            return _sentence(f"Their names exclude each other: {self.mentions[x].name} and {self.mentions[y].name}")
        if kind == DOCUMENT:
            return _sentence(f"Both are on one document: {self.mentions[x].title or self.mentions[x].mention_id}")
        if kind == PAIR:
            return "The user's pairs call them different."
        return f"Their {kind} differ: {self._identifier(x, kind)} and {self._identifier(y, kind)}."

    def _link(self, kind: str, x: int) -> str:
        if kind == PAIR:
            return "The user's pairs call them the same."
        return f"They have the same {kind}: {self._identifier(x, kind)}."

    def _identifier(self, x: int, kind: str) -> str | None:
        return self.identifiers.get((self.begin + x, kind))


def _sentence(text: str) -> str:
    """The text with one full stop."""
    return text.rstrip(".") + "."


def _are_among(pairs: Integers, x: Integers, y: Integers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which of the pairs x, y, in either order, are among the given pairs."""
    stated = {tuple(sorted(pair)) for pair in pairs.tolist()}
    if not stated:
        return np.zeros(len(x), np.bool_)
    return np.array([tuple(sorted(pair)) in stated for pair in zip(x.tolist(), y.tolist(), strict=True)], np.bool_)
