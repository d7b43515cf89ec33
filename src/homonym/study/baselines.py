"""The baselines: what simple rules and textbook methods make of the same names, for comparison.

A rule looks at what mentions share and has no limit, so that each name has a single outcome; the methods that have one
are in `similarity`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from homonym.clustering.agglomerative import Outcomes, couple
from homonym.clustering.arrays import Bags, Floats, Frequencies, Integers, starts
from homonym.clustering.reference import TIE
from homonym.measures.labelled_names import Labels
from homonym.measures.methods import Method, ThresholdMethod
from homonym.names.parse import parse_name

if TYPE_CHECKING:
    from homonym.measures.labelled_names import LabelledNames


#: Similarities below it count as this one: tuned limits lie above, and the outcomes of a large name stay few.
LEAST_SIMILARITY = 1e-3
#: Similarities are rounded to powers of this.
STEP = 1.04


class Linked(ThresholdMethod, ABC):
    """Average linkage over some similarity of vectors; the subclass says which vectors and which similarity."""

    title: str

    @abstractmethod
    def vectors(self, names: LabelledNames) -> Bags:
        """The bags with v(x) in place of the counts."""

    @abstractmethod
    def similarity(self, dot: Floats, square: Floats, other_square: Floats) -> Floats:
        """How similar two mentions are, from v(x)·v(y), v(x)² and v(y)²."""

    def missing(self, names: LabelledNames) -> str | None:
        """Why these names cannot be clustered, if they cannot."""
        return None if find_spec("scipy") else f"{self.title} needs scipy: install homonym[train]"

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """Cut each name's dendrogram at every similarity, rounded as `rounded` says, at which something is merged."""
        bags = self.vectors(names)
        space, squares = _one_space(names.frequencies), _squares(bags)
        cuts = []
        for block, (first, last) in enumerate(zip(bags.block_start[:-1], bags.block_start[1:], strict=True)):
            dot, square = couple(bags, block, space)[0][:, :, 0], squares[first:last]
            cuts.append(_cut(_average_linkage(self.similarity(dot, square[:, None], square))))
        lowest, label = (np.concatenate(parts) for parts in zip(*cuts, strict=True))
        steps = np.array([len(part) for part, _ in cuts])
        return Outcomes(starts(steps), lowest, starts(np.repeat(names.mentions, steps)), label)


@dataclass(frozen=True)
class TfIdf(Linked):
    """TF-IDF, cosine similarity and average linkage: what most would try first.

    v_f(x) = log(1 + n(f,x)) · log(1 + N/#(f)), similarity = v(x)·v(y) / (|v(x)|·|v(y)|). Counts are damped, as usual:
    bare ones do worse on all three collections that this was tried on. The usual idf counts the documents with a
    feature; of the collection only #(f), the sum of its counts, is known, and stands in for them.
    """

    key: str = "tf-idf"
    title: str = "TF-IDF with average linkage"

    def vectors(self, names: LabelledNames) -> Bags:
        """Damp the counts and weigh them by idf."""
        bags, frequencies = names.bags, names.frequencies
        idf = np.log1p(frequencies.mentions / frequencies.total[bags.feature])
        return replace(bags, count=np.log1p(bags.count) * idf)

    def similarity(self, dot: Floats, square: Floats, other_square: Floats) -> Floats:
        """Cosine of the angle between two vectors, 0 where one is empty.

        >>> TfIdf().similarity(np.array([2.0, 0.0]), np.array([4.0, 0.0]), np.array([4.0, 4.0]))
        array([0.5, 0. ])
        """
        return _ratio(dot, np.sqrt(square) * np.sqrt(other_square))


@dataclass(frozen=True)
class Tanimoto(Linked):
    """The share of common features (Gurney, Horlings & van den Besselaar, Scientometrics 2012) and average linkage.

    T(x,y) = v(x)·v(y) / (v(x)² + v(y)² − v(x)·v(y)) with v_f(x) = min(n(f,x), 1): what both have of what either has.
    Whole counts make it a set; the blurred years keep their fractions, else each mention would have eleven of them.

    There the records are then parted by community detection, which looks for densely connected groups. Average linkage
    also asks for similarity throughout a group, and with it this baseline and TF-IDF differ in the similarity alone.
    Connected components (single linkage) chain two people by one pair of similar records: better on AMiner names, equal
    on those of Web of Science, worse on PubMed's.
    """

    key: str = "tanimoto"
    title: str = "Tanimoto coefficient with average linkage"

    def vectors(self, names: LabelledNames) -> Bags:
        """Count each feature of a mention at most once."""
        return replace(names.bags, count=np.minimum(names.bags.count, 1.0))

    def similarity(self, dot: Floats, square: Floats, other_square: Floats) -> Floats:
        """The Tanimoto coefficient, 0 where both are empty.

        >>> Tanimoto().similarity(np.array([2.0, 0.0]), np.array([2.0, 0.0]), np.array([4.0, 0.0]))
        array([0.5, 0. ])
        """
        return _ratio(dot, square + other_square - dot)


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide, with 0 for 0/0: what has no features is similar to nobody."""
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
    """Scipy's table of merges, one fewer than mentions: both clusters, 1 − similarity, size."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    if len(similarity) == 1:
        return np.empty((0, 4))
    merges: Floats = linkage(squareform(1.0 - similarity, checks=False), method="average")
    return merges


def _cut(merges: Floats) -> tuple[Floats, Labels]:
    """All outcomes of a dendrogram, from the highest limit down: the lowest limit of each, and its labels.

    Drawn as a tree, every cluster is a run of neighbouring leaves, and the similarity of a merge stands in the gap that
    it closes: a limit parts the leaves at the gaps that do not exceed it.

    >>> _cut(np.array([[0, 2, 0.0, 2], [1, 3, 1.0, 3]]))  # 0 and 2 are the same, 1 has nothing in common with them
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
    """The mentions from left to right under a dendrogram, and the similarity at which neighbours are joined."""
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
    """Round to whole powers of STEP, to at least LEAST_SIMILARITY; what is 0 but for its last bits is 0.

    A large name has then at most 179 outcomes instead of thousands. Steps are relative because the best limits of
    sparse vectors are about .02, where steps of .01 cost a point or two of F1. No fraction lies half-way between two
    powers, so that what is equal but for its last bits stays equal.

    >>> rounded(np.array([1.0, 0.99, 0.5, 1e-4, 0.0])).round(4)
    array([1.    , 1.    , 0.4936, 0.001 , 0.    ])
    """
    power = np.round(np.log(np.maximum(similarity, LEAST_SIMILARITY)) / np.log(STEP))
    return np.where(similarity > TIE, STEP**power, 0.0)


def numbered(smallest: Integers, start: Integers) -> Labels:
    """Number the clusters of each block by first occurrence, given the place of the smallest member of each one's.

    >>> numbered(np.array([0, 1, 0, 3, 3]), np.array([0, 3, 5]))
    array([0, 1, 0, 0, 0], dtype=int32)
    """
    before = np.cumsum(smallest == np.arange(len(smallest))) - 1
    label: Labels = (before[smallest] - np.repeat(before[start[:-1]], np.diff(start))).astype(np.int32)
    return label


class Baseline(Method, Protocol):
    """A method that may ask for more than a collection has."""

    def missing(self, names: LabelledNames) -> str | None:
        """Why these names cannot be clustered, in a sentence, if they cannot."""


class Rule(ThresholdMethod, ABC):
    """A clustering without a limit; the subclass says who belongs together."""

    def missing(self, names: LabelledNames) -> str | None:
        """Why these names cannot be clustered, in a sentence, if they cannot."""
        return None

    @abstractmethod
    def smallest(self, names: LabelledNames) -> Integers:
        """The first mention of each mention's cluster."""

    def outcomes(self, names: LabelledNames) -> Outcomes:
        """The one outcome of each name, whatever the limit."""
        block_start = names.bags.block_start
        label = numbered(self.smallest(names), block_start)
        return Outcomes(np.arange(len(names) + 1), np.full(len(names), -np.inf), block_start, label)


@dataclass(frozen=True)
class OneCluster(Rule):
    """Everyone of a name is one person: recall 1."""

    key: str = "one-cluster"
    title: str = "one cluster per name"

    def smallest(self, names: LabelledNames) -> Integers:
        """The first mention of the name."""
        return np.repeat(names.bags.block_start[:-1], names.mentions)


@dataclass(frozen=True)
class Singletons(Rule):
    """Every mention is another person: precision 1."""

    key: str = "singletons"
    title: str = "every mention apart"

    def smallest(self, names: LabelledNames) -> Integers:
        """The mention itself."""
        return np.arange(len(names.author))


@dataclass(frozen=True)
class SameFullName(Rule):
    """Mentions of a name are one person if their given names are spelled alike, as far as they are spelled out.

    A mention without a readable name stays alone.
    """

    key: str = "same-full-name"
    title: str = "same full name"

    def missing(self, names: LabelledNames) -> str | None:
        """Names as they are written."""
        return None if any(names.written) else f"{self.title}: these mentions carry no names"

    def smallest(self, names: LabelledNames) -> Integers:
        """Number the different full names; each is a feature of its mentions."""
        read = [(x, parse_name(written)) for x, written in enumerate(names.written) if written]
        full = [(x, name.full_key) for x, name in read if name.surname]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(name for _, name in full))}
        feature = np.array([numbers[name] for _, name in full], np.int64)
        return connected(names.block, np.array([x for x, _ in full], np.int64), feature)


#: What mentions have or lack, by feature type.
CARRIED = {"email": "e-mail addresses", "aff": "affiliations", "co": "co-authors"}


@dataclass(frozen=True)
class Sharing(Rule):
    """Mentions of a name that share a feature of some types are one person, and so is who is linked through others.

    A mention without such a feature stays alone.
    """

    key: str
    title: str
    types: tuple[str, ...]

    def missing(self, names: LabelledNames) -> str | None:
        """All of its feature types: without one of them it would be another rule under a wrong title."""
        lacking = [CARRIED[kind] for kind in self.types if not _of_types(names, (kind,)).any()]
        return f"{self.title}: these mentions carry no {' or '.join(lacking)}" if lacking else None

    def smallest(self, names: LabelledNames) -> Integers:
        """Connected components over the features of these types."""
        chosen = _of_types(names, self.types)
        holder = np.repeat(np.arange(len(names.author)), np.diff(names.bags.bag_start))
        return connected(names.block, holder[chosen], names.bags.feature[chosen])


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
    """The baselines that these names can be clustered with, and for each of the others a sentence that says why not."""
    missing = [(baseline, baseline.missing(names)) for baseline in BASELINES]
    return [baseline for baseline, why in missing if why is None], [why for _, why in missing if why is not None]


def connected(block: Integers, holder: Integers, feature: Any) -> Integers:
    """The first mention that each mention is linked with, if those of a block that hold the same feature are linked.

    `holder` and `feature` are the occurrences. The first of a component is passed on from mention to mention along
    shared features, and from each to all that have been joined with it so far, so that long chains take few rounds.

    >>> connected(np.zeros(4, np.int64), np.array([1, 2, 2, 3]), np.array([7, 7, 8, 8]))
    array([0, 1, 1, 1])
    """
    holder, group_start = _grouped(block, holder, feature)
    smallest = np.arange(len(block))
    while len(holder):
        root = smallest[holder]
        lowest = np.minimum.reduceat(root, group_start)
        lowest = np.repeat(lowest, np.diff(group_start, append=len(root)))
        if (root == lowest).all():
            break
        np.minimum.at(smallest, root, lowest)
        while (smallest[smallest] != smallest).any():
            smallest = smallest[smallest]
    return smallest


def _grouped(block: Integers, holder: Integers, feature: Any) -> tuple[Integers, Integers]:
    """The holders of the same feature of the same block one after the other, and where each such group begins."""
    order = np.lexsort((feature, block[holder]))
    holder, feature = holder[order], feature[order]
    same = (np.diff(block[holder]) == 0) & (np.diff(feature) == 0)
    return holder, np.flatnonzero(np.concatenate([[True], ~same])[: len(holder)])


def _of_types(names: LabelledNames, kinds: tuple[str, ...]) -> Any:
    """Which occurrences are of some feature types."""
    frequencies, feature = names.frequencies, names.bags.feature
    chosen = np.zeros(len(feature), bool)
    for t, kind in enumerate(frequencies.types):
        if kind in kinds:
            chosen |= (feature >= frequencies.type_start[t]) & (feature < frequencies.type_start[t + 1])
    return chosen
