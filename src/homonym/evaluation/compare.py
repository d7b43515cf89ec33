"""Several clusterings on the same mentions, side by side, with paired differences.

>>> import numpy as np
>>> names, authors = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 2])
>>> found = compare(names, authors, {"good": authors, "lumped": names})
>>> found.differences["lumped"].bcubed_f1 < 0
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from homonym.evaluation.assessment import Evaluation, Interval, assess, f1_replicates, one_group
from homonym.evaluation.bootstrap import Resamples, interval
from homonym.evaluation.contingency import Codes, contingency
from homonym.evaluation.measures import bcubed_sums


@dataclass(frozen=True)
class Difference:
    """By how much B-cubed F1 is above that of the first result, with a 95 % interval from the same names drawn again.

    Differences vary less than either figure does, because a hard name is hard for both.
    """

    bcubed_f1: float
    interval: Interval

    def as_dict(self) -> dict[str, Any]:
        """Give the values under their names in the JSON."""
        return {"bcubed_f1": self.bcubed_f1, "interval": list(self.interval)}


@dataclass(frozen=True)
class Comparison:
    """Results judged on the same mentions: those that have a label and are in every result.

    `left_out` says for each result how many labelled mentions it lacks although another has them;
    `labels_without_mention` are labels whose mention none of them has.
    """

    results: Mapping[str, Evaluation]
    differences: Mapping[str, Difference]
    left_out: Mapping[str, int] = field(default_factory=dict)
    labels_without_mention: int = 0

    @property
    def first(self) -> Evaluation:
        """The result that the others are compared with."""
        return next(iter(self.results.values()))

    @property
    def mentions(self) -> int:
        """Number of mentions that all results are judged on."""
        return self.first.mentions

    def as_dict(self) -> dict[str, Any]:
        """Give the comparison as JSON knows it."""
        return {
            "results": {label: found.as_dict() for label, found in self.results.items()},
            "mentions": self.mentions,
            "left_out": dict(self.left_out),
            "labels_without_mention": self.labels_without_mention,
            "differences": {label: found.as_dict() for label, found in self.differences.items()},
        }


def compare(names: Codes, authors: Codes, clusterings: Mapping[str, Codes]) -> Comparison:
    """Evaluate clusterings given as integer codes per mention; each is compared with the first."""
    tables = {label: contingency(names, authors, clusters) for label, clusters in clusterings.items()}
    sums = {label: bcubed_sums(table) for label, table in tables.items()}
    resamples = Resamples(one_group(next(iter(tables.values()))))
    first, *others = sums
    replicates = {label: f1_replicates(sums[label], resamples) for label in sums}
    differences = {
        label: Difference(
            sums[label].overall().f1 - sums[first].overall().f1, interval(replicates[label] - replicates[first])
        )
        for label in others
    }
    return Comparison({label: assess(names, authors, found) for label, found in clusterings.items()}, differences)


def distinct_labels(paths: Sequence[Path]) -> list[str]:
    """Name results by their files, with as many directories as it takes to tell them apart.

    >>> distinct_labels([Path("runs/a/authors.csv"), Path("runs/b/authors.csv"), Path("max.csv")])
    ['a/authors.csv', 'b/authors.csv', 'max.csv']
    >>> distinct_labels([Path("a.csv"), Path("a.csv")])
    ['a.csv', 'a.csv (2)']
    """
    labels = [_shortest(path, paths) for path in paths]
    numbered = [label if labels.index(label) == i else None for i, label in enumerate(labels)]
    for i, label in enumerate(labels):
        if numbered[i] is None:
            numbered[i] = next(name for n in count(2) if (name := f"{label} ({n})") not in numbered)
    return [label for label in numbered if label is not None]


def _shortest(path: Path, paths: Sequence[Path]) -> str:
    """The shortest end of a path that no other path has."""
    others = [other.parts for other in paths if other != path]
    for length in range(1, len(path.parts)):
        end = path.parts[-length:]
        if all(other[-length:] != end for other in others):
            return Path(*end).as_posix()
    return path.as_posix()
