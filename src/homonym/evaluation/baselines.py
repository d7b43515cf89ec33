"""The baselines: what simple rules and textbook methods make of the same names, for comparison.

A rule looks at what mentions share and has no limit, so that each name has a single outcome; the methods that have one
are in `similarity`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from homonym.clustering.merging import Integers, Outcomes
from homonym.evaluation.methods import Method, Thresholded
from homonym.evaluation.similarity import Tanimoto, TfIdf, numbered
from homonym.names import parse_name

if TYPE_CHECKING:
    from homonym.evaluation.labelled import LabelledNames


class Baseline(Method, Protocol):
    """A method that may ask for more than a collection has."""

    def missing(self, names: LabelledNames) -> str | None:
        """Why these names cannot be clustered, in a sentence, if they cannot."""


class Rule(Thresholded, ABC):
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


def baselines(names: LabelledNames) -> tuple[list[Method], list[str]]:
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
