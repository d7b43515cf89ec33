"""Hold-out split: training names to choose parameters on and test names to judge them on, as in the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from homonym.clustering.arrays import Integers
from homonym.errors import InputError, SettingsError, counted, word_list
from homonym.measures.agreement import Codes
from homonym.measures.bootstrap import group_name, size_groups
from homonym.measures.methods import LabelledNames
from homonym.settings import MAX_NAMES_PER_SIZE, TRAINING_SHARE

# With fewer training names there is a warning: eleven names of PubMed chose a limit worse than the paper's.
FEW_TRAINING_NAMES = 20


@dataclass(frozen=True, eq=False)
class NameSplit:
    """Training names and test names; there are no test names if all were wanted for training.

    Names beyond the maximum number of a true size are in neither.
    """

    training: LabelledNames
    test: LabelledNames
    warnings: list[str]


# Largest number that the notes of a study can hold.
_LARGEST = 2**63 - 1


def split(names: LabelledNames, *, share: float = TRAINING_SHARE, most: int = MAX_NAMES_PER_SIZE) -> NameSplit:
    """Split names into training and test names; warns of true sizes that are missing from either."""
    training, test = divide(names.key, names.true_size, share=share, most=most)
    if not len(training) or (not len(test) and share < 1):
        raise InputError(
            f"a training share of {share:g} leaves none of {counted(len(names), 'labelled name')} for "
            f"{'testing' if len(training) else 'training'}; label more names or change --training-share."
        )
    warnings = _warnings(size_groups(names.true_size), training, test, share)
    return NameSplit(names.select(training), names.select(test), warnings)


def divide(keys: Sequence[str], true_size: Codes, *, share: float, most: int) -> tuple[Integers, Integers]:
    """Split names by the hash of their key, so that no seed is needed and their order does not matter.

    Of each true size, the given share becomes training names, rounded so that the share over all sizes is right, too;
    sizes above 10 are one group. Returns the numbers of the training names and of the test names.

    >>> training, test = divide(list("abcdefgh"), np.array([1, 1, 1, 1, 2, 2, 2, 2]), share=0.25, most=1000)
    >>> len(training), len(test)
    (2, 6)
    """
    if not 0 < share <= 1:
        raise SettingsError(f"the training share must be above 0 and at most 1, got {share:g}.")
    if most < 1:
        raise SettingsError(f"the number of names of each true size must be at least 1, got {most}.")
    if most > _LARGEST:
        raise SettingsError(f"the number of names of each true size must be at most {_LARGEST}; choose a smaller one.")
    group = size_groups(true_size)
    order = sorted(range(len(keys)), key=lambda i: (group[i], _hash(keys[i]), keys[i]))
    used = _at_most(order, group, most)
    # Evenly spaced names in this order, so that each size and all sizes together get their share.
    chosen = np.diff(np.floor(np.arange(len(used) + 1) * share + 0.5)) > 0
    return np.sort(used[chosen]), np.sort(used[~chosen])


def _hash(key: str) -> bytes:
    return blake2b(key.encode(errors="surrogatepass"), digest_size=16).digest()


def _at_most(order: list[int], group: Codes, most: int) -> Integers:
    count: Counter[int] = Counter()
    used = []
    for i in order:
        count[int(group[i])] += 1
        if count[int(group[i])] <= most:
            used.append(i)
    return np.array(used, np.int64)


def _warnings(group: Codes, training: Integers, test: Integers, share: float) -> list[str]:
    def missing_sizes(part: Integers) -> list[str]:
        return [group_name(size) for size in sorted(set(group.tolist()) - set(group[part].tolist()))]

    warnings = []
    if len(training) < FEW_TRAINING_NAMES:
        warnings.append(
            f"{counted(len(training), 'name')} to choose parameters on: too few to rely on; label more names."
        )
    if missing := missing_sizes(training):
        warnings.append(
            f"a training share of {share:g} leaves no name for training of true size {word_list(missing)}: "
            "this size has no influence on the choice."
        )
    if share < 1 and (missing := missing_sizes(test)):
        warnings.append(f"a training share of {share:g} leaves no name for testing of true size {word_list(missing)}.")
    return warnings
