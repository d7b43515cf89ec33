"""The merges of one block as a tree, and which two clusters each of them compared.

Node x < |X| is a mention; node |X| + k is the result of merge k. A round may join more than two clusters: then a merge
joins unions of clusters, but its score is that of two clusters as they were at the beginning of the round.

The authors of a result may be others than the clusters: decisions divide and join them, and updates keep them. The tree
of such authors has the merges of the clustering without the mentions of other authors; what is left is joined.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import inf, isnan, nan

import numpy as np

from homonym.clustering.agglomerative import Clustering
from homonym.clustering.reference import TIE
from homonym.explanation.score_parts import BlockScores, Cluster, ScoreParts

# The round of merges that the clustering did not make.
ADDED = -2


@dataclass(frozen=True)
class Merge:
    """A merge: the round (−1 for must-links, −2 if the clustering did not make it), both nodes, and the score.

    The score is ∞ in the first two cases, and NaN if a side lacks mentions that it had when it was merged.
    """

    round: int
    left: int
    right: int
    score: float

    @property
    def is_must_link(self) -> bool:
        """Whether something else than a score demanded this merge."""
        return self.round < 0

    @property
    def is_clustered(self) -> bool:
        """Whether the clustering made this merge."""
        return self.round != ADDED


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
        for k in np.flatnonzero(clustering.merge_round != 0).tolist():
            left, right = int(clustering.merge_left[k]), int(clustering.merge_right[k])
            merge = Merge(int(clustering.merge_round[k]), node[left], node[right], float(clustering.merge_score[k]))
            node[left] = mentions + len(merges)
            merges.append(merge)
        return cls(mentions, merges, _roots(mentions, merges))

    def of_authors(self, author: Sequence[int]) -> MergeTree:
        """The tree of authors that may be others than the clusters; `author` has the number of each mention's author.

        The parts of an author that merges do not connect are joined in the end: the largest with each other one.
        """
        merges, size = list[Merge](), dict.fromkeys(range(self.mentions), 1)
        # For each node the nodes of the new tree that are below it, by author.
        below = {x: {one: x} for x, one in enumerate(author)}

        def join(merge: Merge) -> int:
            merges.append(merge)
            node = self.mentions + len(merges) - 1
            size[node] = size[merge.left] + size[merge.right]
            return node

        whole = self._sizes()
        for k, merge in enumerate(self.merges):
            left, right = below.pop(merge.left), below.pop(merge.right)
            for one in sorted(left.keys() & right.keys()):
                a, b = left[one], right[one]
                is_whole = size[a] == whole[merge.left] and size[b] == whole[merge.right]
                score = merge.score if is_whole or merge.is_must_link else nan
                left[one] = right[one] = join(Merge(merge.round, a, b, score))
            below[self.mentions + k] = left | right
        self._join_parts(below.values(), size, join)
        return MergeTree(self.mentions, merges, _roots(self.mentions, merges))

    @staticmethod
    def _join_parts(found: Iterable[Mapping[int, int]], size: Mapping[int, int], join: Callable[[Merge], int]) -> None:
        parts: dict[int, list[int]] = defaultdict(list)
        for nodes in found:
            for one, node in nodes.items():
                parts[one].append(node)
        for one in sorted(parts):
            first, *others = sorted(parts[one], key=lambda node: (-size[node], node))
            for node in others:
                first = join(Merge(ADDED, first, node, inf))

    def _sizes(self) -> list[int]:
        """The number of mentions below each node."""
        sizes = [1] * self.mentions
        for merge in self.merges:
            sizes.append(sizes[merge.left] + sizes[merge.right])
        return sizes

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
        if merge.is_must_link or isnan(merge.score):
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


def _roots(mentions: int, merges: Sequence[Merge]) -> list[int]:
    """The last node of each mention."""
    root = list(range(mentions + len(merges)))
    for k in reversed(range(len(merges))):
        for side in (merges[k].left, merges[k].right):
            root[side] = root[mentions + k]
    return root[:mentions]
