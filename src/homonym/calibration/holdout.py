"""Names divided into those that parameters are chosen on and those that they are judged on, as in the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from homonym.calibration import MOST_NAMES, TRAINING_SHARE
from homonym.clustering.arrays import Integers
from homonym.errors import InputError, SettingsError
from homonym.measures.bootstrap import group_name, size_groups
from homonym.measures.contingency import Codes
from homonym.measures.methods import LabelledNames
from homonym.messages import counted, listed

#: With fewer training names the choice is a matter of luck: eleven of PubMed's chose a limit worse than the paper's.
FEW_NAMES = 20


@dataclass(frozen=True, eq=False)
class NameSplit:
    """The names for training and for testing, of which there are none if all were wanted for training.

    Names beyond the most of a size are in neither.
    """

    training: LabelledNames
    test: LabelledNames
    warnings: list[str]


def split(names: LabelledNames, *, share: float = TRAINING_SHARE, most: int = MOST_NAMES) -> NameSplit:
    """Divide names into training and test names, and say which true sizes are missing from either."""
    training, test = divide(names.key, names.true_size, share=share, most=most)
    if not len(training) or (not len(test) and share < 1):
        raise InputError(
            f"a training share of {share:g} leaves none of {counted(len(names), 'labelled name')} for "
            f"{'testing' if len(training) else 'training'}; label more names or change --training-share."
        )
    said = _warnings(size_groups(names.true_size), training, test, share)
    return NameSplit(names.select(training), names.select(test), said)


def divide(keys: Sequence[str], true_size: Codes, *, share: float, most: int) -> tuple[Integers, Integers]:
    """Divide names by the hash of their key, which needs no seed and does not depend on their order.

    Each true size gives its share to the training names, rounded up or down so that the whole comes out right; sizes
    above 10 are one group.

    >>> training, test = divide(list("abcdefgh"), np.array([1, 1, 1, 1, 2, 2, 2, 2]), share=0.25, most=1000)
    >>> len(training), len(test)
    (2, 6)
    """
    if not 0 < share <= 1:
        raise SettingsError(f"the training share must be above 0 and at most 1, got {share:g}.")
    if most < 1:
        raise SettingsError(f"at least 1 name of each true size is needed, got {most}.")
    group = size_groups(true_size)
    order = sorted(range(len(keys)), key=lambda i: (group[i], _hash(keys[i]), keys[i]))
    used = _at_most(order, group, most)
    # Every so many-th name in this order: each size gets its share, and all of them together get theirs.
    chosen = np.diff(np.floor(np.arange(len(used) + 1) * share + 0.5)) > 0
    return np.sort(used[chosen]), np.sort(used[~chosen])


def _hash(key: str) -> bytes:
    return blake2b(key.encode(errors="surrogatepass"), digest_size=16).digest()


def _at_most(order: list[int], group: Codes, most: int) -> Integers:
    seen: Counter[int] = Counter()
    used = []
    for i in order:
        seen[int(group[i])] += 1
        if seen[int(group[i])] <= most:
            used.append(i)
    return np.array(used, np.int64)


def _warnings(group: Codes, training: Integers, test: Integers, share: float) -> list[str]:
    def lacking(part: Integers) -> list[str]:
        return [group_name(size) for size in sorted(set(group.tolist()) - set(group[part].tolist()))]

    said = []
    if len(training) < FEW_NAMES:
        said.append(f"{counted(len(training), 'name')} to choose parameters on: too few to rely on; label more names.")
    if without := lacking(training):
        said.append(
            f"a training share of {share:g} leaves no name for training of true size {listed(without)}: "
            "this has no say in the choice."
        )
    if share < 1 and (without := lacking(test)):
        said.append(f"a training share of {share:g} leaves no name for testing of true size {listed(without)}.")
    return said
