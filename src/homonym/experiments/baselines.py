"""Baselines: simple rules and textbook methods on the same names, for comparison.

A `Rule` joins mentions that share something; it has no limit, so each name has a single outcome. A `Linked` method is
average linkage over a similarity, with a limit to tune.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from homonym.clustering.agglomerative import Outcomes, pair_scores
from homonym.clustering.arrays import Bags, Floats, Frequencies, Integers, connected_components, equal_keys, starts
from homonym.clustering.reference import TIE
from homonym.measures.methods import Labels, Method, ThresholdMethod
from homonym.names.parse import parse_name

if TYPE_CHECKING:
    from homonym.measures.methods import LabelledNames


# Smaller similarities are raised to this one: tuned limits are larger, and it bounds the outcomes of a large name.
LEAST_SIMILARITY = 1e-3
# Similarities are rounded to powers of this.
STEP = 1.04


class Linked(ThresholdMethod, ABC):
    """Average linkage; a subclass defines the vectors and their similarity."""

    title: str

    @abstractmethod
    def vectors(self, names: LabelledNames) -> Bags:
        """The bags with v(x) in place of the counts."""

    @abstractmethod
    def similarity(self, dot: Floats, square: Floats, other_square: Floats) -> Floats:
        """The similarity of two mentions, from v(x)·v(y), v(x)² and v(y)²."""

    def missing(self, names: LabelledNames) -> str | None:
        """The reason why these names cannot be clustered, or None."""
        return None if find_spec("scipy") else f"{self.title} needs scipy: pip install scipy"

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """Cut the dendrogram of each name at every similarity (see `rounded`) at which clusters are merged."""
        bags = self.vectors(names)
        space, squares = _one_space(names.frequencies), _squares(bags)
        cuts = []
        for block, (first, last) in enumerate(zip(bags.block_start[:-1], bags.block_start[1:], strict=True)):
            dot, square = pair_scores(bags, block, space)[0][:, :, 0], squares[first:last]
            cuts.append(_cut(_average_linkage(self.similarity(dot, square[:, None], square))))
        lowest, label = (np.concatenate(parts) for parts in zip(*cuts, strict=True))
        steps = np.array([len(part) for part, _ in cuts])
        return Outcomes(starts(steps), lowest, starts(np.repeat(names.mentions, steps)), label)


@dataclass(frozen=True)
class TfIdf(Linked):
    """TF-IDF, cosine similarity and average linkage: the obvious first attempt.

    v_f(x) = log(1 + n(f,x)) · log(1 + N/#(f)), similarity = v(x)·v(y) / (|v(x)|·|v(y)|). Counts are damped by the
    logarithm because raw counts did worse on all three collections tried. The usual idf needs the number of documents
    with a feature; only #(f), the sum of its counts, is known and replaces it.
    """

    key: str = "tf-idf"
    title: str = "TF-IDF with average linkage"

    def vectors(self, names: LabelledNames) -> Bags:
        """The damped counts times idf."""
        bags, frequencies = names.bags, names.frequencies
        idf = np.log1p(frequencies.mentions / frequencies.total[bags.feature])
        return replace(bags, count=np.log1p(bags.count) * idf)

    def similarity(self, dot: Floats, square: Floats, other_square: Floats) -> Floats:
        """Cosine of the angle between two vectors; 0 if one is empty.

        >>> TfIdf().similarity(np.array([2.0, 0.0]), np.array([4.0, 0.0]), np.array([4.0, 4.0]))
        array([0.5, 0. ])
        """
        return _ratio(dot, np.sqrt(square) * np.sqrt(other_square))


@dataclass(frozen=True)
class Tanimoto(Linked):
    """The share of common features (Gurney, Horlings & van den Besselaar, Scientometrics 2012) and average linkage.

    T(x,y) = v(x)·v(y) / (v(x)² + v(y)² − v(x)·v(y)) with v_f(x) = min(n(f,x), 1): the features of both divided by the
    features of either. Blurred years keep their fractions; otherwise each mention would have eleven years.

    The cited paper then applies community detection, which looks for densely connected groups. Average linkage also
    requires similarity throughout a group, and makes this baseline differ from TF-IDF in the similarity only.
    Connected components (single linkage) join two people through one pair of similar records: better on AMiner names,
    equal on Web of Science, worse on PubMed.
    """

    key: str = "tanimoto"
    title: str = "Tanimoto coefficient with average linkage"

    def vectors(self, names: LabelledNames) -> Bags:
        """Count each feature of a mention at most once."""
        return replace(names.bags, count=np.minimum(names.bags.count, 1.0))

    def similarity(self, dot: Floats, square: Floats, other_square: Floats) -> Floats:
        """The Tanimoto coefficient; 0 if both are empty.

        >>> Tanimoto().similarity(np.array([2.0, 0.0]), np.array([2.0, 0.0]), np.array([4.0, 0.0]))
        array([0.5, 0. ])
        """
        return _ratio(dot, square + other_square - dot)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide, with 0 for 0/0: a mention without features is similar to none."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _one_space(frequencies: Frequencies) -> Frequencies:
    """All features as one type and #(f) = 1, so that S(x,y) = Σ_f n(f,x)·n(f,y)/#(f) is the plain v(x)·v(y)."""
    size = len(frequencies.total)
    return Frequencies(("all",), np.array([0, size]), np.ones(size), np.array([float(size)]), frequencies.mentions)


def _squares(bags: Bags) -> Floats:
    """v(x)² of each mention."""
    mentions = len(bags.bag_start) - 1
    holder = np.repeat(np.arange(mentions), np.diff(bags.bag_start))
    return np.bincount(holder, weights=bags.count**2, minlength=mentions).astype(np.float64)


def _average_linkage(similarity: Floats) -> Floats:
    """The merges as scipy gives them, one fewer than mentions: both clusters, 1 − similarity, size."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    if len(similarity) == 1:
        return np.empty((0, 4))
    merges: Floats = linkage(squareform(1.0 - similarity, checks=False), method="average")
    return merges


def _cut(merges: Floats) -> tuple[Floats, Labels]:
    """All outcomes of a dendrogram, from the highest limit down: the lowest limit of each, and its labels.

    In a drawn dendrogram, each cluster is a run of neighbouring leaves, and each merge closes the gap between two
    leaves. A limit separates the leaves at the gaps whose similarity does not exceed it.

    >>> _cut(np.array([[0, 2, 0.0, 2], [1, 3, 1.0, 3]]))  # 0 and 2 are equal, 1 shares nothing with them
    (array([  1.,   0., -inf]), array([0, 1, 2, 0, 1, 0, 0, 0, 0], dtype=int32))
    """
    leaf, gap = _leaves(merges)
    lowest = np.append(np.unique(gap)[::-1], -np.inf)
    opens = np.ones((len(lowest), len(leaf)), bool)
    opens[:, 1:] = gap <= lowest[:, None]
    step_start = np.arange(len(lowest) + 1) * len(leaf)
    member = (step_start[:-1, None] + leaf).ravel()
    first = np.flatnonzero(opens)
    smallest = np.empty_like(member)
    smallest[member] = np.repeat(np.minimum.reduceat(member, first), np.diff(first, append=len(member)))
    return lowest, numbered(smallest, step_start)


def _leaves(merges: Floats) -> tuple[Integers, Floats]:
    """The leaves of a dendrogram from left to right, and the similarity at which neighbours are joined."""
    mentions = len(merges) + 1
    size = np.concatenate([np.ones(mentions), merges[:, 3]]).astype(np.int64).tolist()
    position = [0] * (2 * mentions - 1)  # of the leftmost leaf under each cluster
    gap = np.empty(mentions - 1)
    similarity = rounded(1.0 - merges[:, 2])
    pairs = merges[:, :2].astype(np.int64).tolist()
    for merge in reversed(range(len(pairs))):
        left, right = pairs[merge]
        position[left] = position[mentions + merge]
        position[right] = position[left] + size[left]
        gap[position[right] - 1] = similarity[merge]
    return np.argsort(position[:mentions]), gap


def rounded(similarity: Floats) -> Floats:
    """Round to integer powers of STEP, at least LEAST_SIMILARITY; values below the tolerance for ties become 0.

    A large name then has at most 179 outcomes instead of thousands. Steps are relative because the best limits of
    sparse vectors are about .02, where steps of .01 cost a point or two of F1. No fraction lies half-way between two
    powers, so values that differ only in their last bits stay equal.

    >>> rounded(np.array([1.0, 0.99, 0.5, 1e-4, 0.0])).round(4)
    array([1.    , 1.    , 0.4936, 0.001 , 0.    ])
    """
    power = np.round(np.log(np.maximum(similarity, LEAST_SIMILARITY)) / np.log(STEP))
    return np.where(similarity > TIE, STEP**power, 0.0)


def numbered(smallest: Integers, start: Integers) -> Labels:
    """Number the clusters of each block by first occurrence, given the smallest member of each mention's cluster.

    >>> numbered(np.array([0, 1, 0, 3, 3]), np.array([0, 3, 5]))
    array([0, 1, 0, 0, 0], dtype=int32)
    """
    before = np.cumsum(smallest == np.arange(len(smallest))) - 1
    label: Labels = (before[smallest] - np.repeat(before[start[:-1]], np.diff(start))).astype(np.int32)
    return label


class Baseline(Method, Protocol):
    """A method that may need data which a collection does not have."""

    def missing(self, names: LabelledNames) -> str | None:
        """The reason why these names cannot be clustered, or None."""


class Rule(ThresholdMethod, ABC):
    """A clustering without a limit; a subclass defines which mentions belong together."""

    def missing(self, names: LabelledNames) -> str | None:
        """The reason why these names cannot be clustered, or None."""
        return None

    @abstractmethod
    def smallest(self, names: LabelledNames) -> Integers:
        """The first mention of each mention's cluster."""

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """The single outcome of each name, for any limit."""
        block_start = names.bags.block_start
        label = numbered(self.smallest(names), block_start)
        return Outcomes(np.arange(len(names) + 1), np.full(len(names), -np.inf), block_start, label)


@dataclass(frozen=True)
class OneCluster(Rule):
    """All mentions of a name are one person: recall 1."""

    key: str = "one-cluster"
    title: str = "one cluster per name"

    def smallest(self, names: LabelledNames) -> Integers:
        """The first mention of the name."""
        return np.repeat(names.bags.block_start[:-1], names.mentions)


@dataclass(frozen=True)
class Singletons(Rule):
    """Every mention is a different person: precision 1."""

    key: str = "singletons"
    title: str = "every mention apart"

    def smallest(self, names: LabelledNames) -> Integers:
        """The mention itself."""
        return np.arange(len(names.author))


@dataclass(frozen=True)
class SameFullName(Rule):
    """Mentions of a name are one person if their full names are equal.

    A mention without a readable name stays alone.
    """

    key: str = "same-full-name"
    title: str = "same full name"

    def missing(self, names: LabelledNames) -> str | None:
        """Needs names as written."""
        return None if any(names.written) else f"{self.title}: these mentions carry no names"

    def smallest(self, names: LabelledNames) -> Integers:
        """Connected components, with the full name as the only feature."""
        read = [(x, parse_name(written)) for x, written in enumerate(names.written) if written]
        full = [(x, name.full_key) for x, name in read if name.surname]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(name for _, name in full))}
        feature = np.array([numbers[name] for _, name in full], np.int64)
        return linked_by_features(names.block, np.array([x for x, _ in full], np.int64), feature)


# Feature types in messages.
CARRIED = {"email": "e-mail addresses", "aff": "affiliations", "co": "co-authors"}


@dataclass(frozen=True)
class Sharing(Rule):
    """Mentions of a name that share a feature of some types, directly or through other mentions, are one person.

    A mention without such a feature stays alone.
    """

    key: str
    title: str
    types: tuple[str, ...]

    def missing(self, names: LabelledNames) -> str | None:
        """Needs all of its feature types, because the title names them."""
        lacking = [CARRIED[kind] for kind in self.types if not _of_types(names, (kind,)).any()]
        return f"{self.title}: these mentions carry no {' or '.join(lacking)}" if lacking else None

    def smallest(self, names: LabelledNames) -> Integers:
        """Connected components, over the features of these types."""
        chosen = _of_types(names, self.types)
        holder = np.repeat(np.arange(len(names.author)), np.diff(names.bags.bag_start))
        return linked_by_features(names.block, holder[chosen], names.bags.feature[chosen])


BASELINES: tuple[Baseline, ...] = (
    OneCluster(),
    Singletons(),
    SameFullName(),
    Sharing("same-email", "same e-mail address", ("email",)),
    Sharing("same-affiliation", "same affiliation", ("aff",)),
    Sharing("same-email-or-affiliation", "same e-mail address or affiliation", ("email", "aff")),
    Sharing("shared-coauthor", "shared co-author", ("co",)),
    TfIdf(),
    Tanimoto(),
)


def all_baselines(names: LabelledNames) -> tuple[list[Method], list[str]]:
    """The baselines that these names allow, and for each of the others the reason why not."""
    missing = [(baseline, baseline.missing(names)) for baseline in BASELINES]
    return [baseline for baseline, why in missing if why is None], [why for _, why in missing if why is not None]


def linked_by_features(block: Integers, holder: Integers, feature: Any) -> Integers:
    """The first mention of each mention's connected component; mentions of a block with a common feature are linked.

    `holder` and `feature` are the occurrences.

    >>> linked_by_features(np.zeros(4, np.int64), np.array([1, 2, 2, 3]), np.array([7, 7, 8, 8]))
    array([0, 1, 1, 1])
    """
    first, _ = equal_keys(feature, block[holder])
    return connected_components(len(block), holder[first], holder)


def _of_types(names: LabelledNames, kinds: tuple[str, ...]) -> Any:
    """A mask of the occurrences of these feature types."""
    frequencies, feature = names.frequencies, names.bags.feature
    chosen = np.zeros(len(feature), bool)
    for t, kind in enumerate(frequencies.types):
        if kind in kinds:
            chosen |= (feature >= frequencies.type_start[t]) & (feature < frequencies.type_start[t + 1])
    return chosen
