"""The merges of one block as a tree, and which two clusters each of them compared.

Node x < |X| is a mention; node |X| + k is the result of merge k. A round may join more than two clusters: then a merge
joins unions of clusters, but its score is that of two clusters as they were at the beginning of the round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from homonym.clustering.agglomerative import Clustering
from homonym.clustering.reference import TIE
from homonym.explanation.score_parts import BlockScores, Cluster, ScoreParts


@dataclass(frozen=True)
class Merge:
    """A merge: the round (−1 for must-links), both nodes, and the score (∞ for must-links)."""

    round: int
    left: int
    right: int
    score: float

    @property
    def is_must_link(self) -> bool:
        """Whether a must-link demanded this merge."""
        return self.round < 0


@dataclass(frozen=True, eq=False)
class MergeTree:
    """The merges of a block until convergence; `root[x]` is the node of the author of mention x."""

    mentions: int
    merges: list[Merge]
    root: list[int]

    @classmethod
    def of(cls, clustering: Clustering) -> MergeTree:
        """The tree of a clustering of one block."""
        mentions = int(clustering.block_start[-1])
        node, merges = list(range(mentions)), list[Merge]()
        parent = np.arange(mentions + int((clustering.merge_round != 0).sum()))
        for k in np.flatnonzero(clustering.merge_round != 0).tolist():
            left, right = int(clustering.merge_left[k]), int(clustering.merge_right[k])
            merge = Merge(int(clustering.merge_round[k]), node[left], node[right], float(clustering.merge_score[k]))
            parent[[merge.left, merge.right]] = node[left] = mentions + len(merges)
            merges.append(merge)
        root = list(range(len(parent)))
        for number in reversed(range(len(parent))):
            if parent[number] != number:
                root[number] = root[int(parent[number])]
        return cls(mentions, merges, root[:mentions])

    @cached_property
    def parent(self) -> dict[int, int]:
        """The node that each node was merged into."""
        return {
            side: self.mentions + k for k, merge in enumerate(self.merges) for side in (merge.left, merge.right)
        }  # fmt: skip

    def merge_at(self, node: int) -> Merge | None:
        """The merge of which a node is the result; None for a mention."""
        return self.merges[node - self.mentions] if node >= self.mentions else None

    def members(self, node: int) -> list[int]:
        """The mentions below a node, in order."""
        return sorted(self._mentions_below(node))

    def _mentions_below(self, node: int) -> Iterator[int]:
        waiting = [node]
        while waiting:
            merge = self.merge_at(here := waiting.pop())
            if merge is None:
                yield here
            else:
                waiting += [merge.left, merge.right]

    def ancestors(self, node: int) -> Iterator[int]:
        """A node, the node that it was merged into, and so on."""
        yield node
        while (above := self.parent.get(node)) is not None:
            yield (node := above)

    def joined_at(self, x: int, y: int) -> int | None:
        """The node at which two mentions came together; None if they are two authors."""
        above = set(self.ancestors(x))
        return next((node for node in self.ancestors(y) if node in above), None)

    def compared(self, merge: Merge, scores: BlockScores) -> tuple[Cluster, Cluster, ScoreParts]:
        """The two clusters C, D whose score(C,D) decided a merge, and the parts of this score.

        Which of the clusters of both sides these are follows from the score. Of a must-link, both sides are compared.
        """
        if merge.is_must_link:
            return scores.better(self.members(merge.left), self.members(merge.right))
        best: tuple[float, tuple[Cluster, Cluster, ScoreParts]] | None = None
        for C, D in self._candidates(merge):
            parts = scores.parts(C, D)
            distance = abs(parts.score - merge.score)
            if best is None or distance < best[0]:
                best = distance, (C, D, parts)
            if distance <= TIE * abs(merge.score):
                break
        assert best is not None
        return best[1]

    def _candidates(self, merge: Merge) -> Iterator[tuple[list[int], list[int]]]:
        """All pairs of clusters of both sides at the beginning of the round, in both directions."""
        left, right = (self._parts(node, merge.round) for node in (merge.left, merge.right))
        for one, other in product(left, right):
            C, D = self.members(one), self.members(other)
            yield C, D
            yield D, C

    def _parts(self, node: int, round: int) -> list[int]:
        """The clusters that a node consisted of at the beginning of a round."""
        waiting, found = [node], []
        while waiting:
            merge = self.merge_at(here := waiting.pop())
            if merge is None or merge.round != round:
                found.append(here)
            else:
                waiting += [merge.right, merge.left]
        return found
