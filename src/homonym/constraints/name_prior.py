"""The prior of full names: two mentions with the same rare full name are more likely to be one person.

In a block of m mentions, n of them have the full name g (surname and first given name). If E other people are
expected to have this name (see collection/namesakes.py), they have a share q = E/(1 + E) of its mentions. If all
mentions of the name have the same middle initial, few namesakes have it, too, and E is multiplied by SAME_MIDDLE. If
some have a middle initial and others none, or another one, the name is that of several people more often: E becomes
(E + v)/(1 − v), which multiplies 1 − q by 1 − v. A name with many mentions may have several people although it looks
rare: names are often collected because they are ambiguous. So q is raised to 1 − τ·(1 − q)·(1 − (p/(p + 1000))²), where
p is the number of pairs of its mentions and τ the trust in names (calibration/name_trust.py). Then n·q mentions are
foreign to a cluster of this name, and not m as in the block as a whole. The limit κ·√m becomes κ·√(n·q + φ), where
φ > 0 keeps it positive. Scores are multiplied by 1/h with h = √(min(n, n·q + φ)/m) instead, which is the same for this
part of the limit. In blocks that are defined by the data, and not by surname and initials, names say nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from string import ascii_uppercase

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Floats, Integers, NamePrior, equal_keys, ranges, starts
from homonym.collection.encoded import Encoded

# φ: number of foreign mentions of even the rarest name; and the number of pairs above which a name may be several
# people. Both were chosen with labels. A tenth of this φ gives the same results; with ten times as many, mentions of a
# name that nobody else has are not merged if they share no more than by chance.
FLOOR, MANY_PAIRS = 1e-4, 1000
# The probability that two people have the same middle initial: Σ p² of the initials of American given names.
SAME_MIDDLE = 0.08
# v: the probability that a name is two people because its middle initial differs between mentions. Mentions of rare
# names have less in common if one of them has no middle initial: by a quarter on grants, by half on machine learning,
# by four fifths on PubMed. A cautious value: persons who drop their middle initial are common in other collections.
VARYING_MIDDLE = 0.1


def name_prior(
    full_name: NDArray[np.integer], namesakes: Floats, block_start: Integers, trust: float = 1.0
) -> NamePrior:
    """The factor of each name in its block; a name that occurs once in a block gets the number −1.

    `full_name` has the number of each mention's full name, −1 if it has none, and `namesakes` its E. The number of a
    name in the result is the position of its first mention. `trust` is the share of rare names that are one person.

    >>> found = name_prior(np.array([7, 7, -1, 5]), np.array([1, 1, np.nan, 0]), np.array([0, 4]))
    >>> found.name.tolist(), found.factor.round(2).tolist()
    ([0, 0, -1, -1], [2.0, 2.0, 1.0, 1.0])
    """
    sizes = np.diff(block_start)
    block = np.repeat(np.arange(len(sizes)), sizes)
    named = np.flatnonzero(full_name >= 0)
    first, n = equal_keys(block[named], full_name[named].astype(np.int64))
    several = n > 1
    shared, n, m = named[several], n[several], sizes[block[named[several]]]
    name, factor = np.full(len(block), -1, np.int32), np.ones(len(block))
    name[shared] = named[first[several]]
    pairs = n * (n - 1) / 2
    q = namesakes[shared] / (1 + namesakes[shared])
    q = 1 - trust * (1 - q) * (1 - np.square(pairs / (pairs + MANY_PAIRS)))
    factor[shared] = 1 / np.sqrt(np.minimum(n, n * q + FLOOR) / m)
    return NamePrior(name, factor)


#: The columns of the mentions that their full names are read from.
NAME_COLUMNS = ("full_name", "namesakes", "parsed_name", "block")


@dataclass(frozen=True, eq=False)
class FullNames:
    """The full names of all mentions of a run, by number, −1 where there is none, and E of each."""

    block_start: Integers
    full_name: NDArray[np.int32]
    namesakes: Floats

    @cached_property
    def block(self) -> Integers:
        """The block of each mention."""
        sizes = np.diff(self.block_start)
        return np.repeat(np.arange(len(sizes)), sizes)

    @classmethod
    def read(cls, encoded: Encoded) -> FullNames:
        """Read the full names of a collection; only numbers and distinct names of all mentions are in memory."""
        file = pq.ParquetFile(encoded.mentions_file, read_dictionary=["full_name"])
        batches = file.iter_batches(columns=list(NAME_COLUMNS))
        return cls.of(encoded.block_start, batches)

    @classmethod
    def of(cls, block_start: Integers, batches: Iterable[pa.RecordBatch]) -> FullNames:
        """The full names of mentions with the NAME_COLUMNS; those in blocks that the data defines do not count."""
        coded, used, namesakes, middle = [], [], [], []
        for batch in batches:
            name = batch["full_name"]
            coded.append(name if pa.types.is_dictionary(name.type) else name.dictionary_encode())
            surname, initials = _surname_and_initials(batch["parsed_name"])
            used.append(_is_named_block(batch["block"], surname, initials))
            namesakes.append(batch["namesakes"].to_numpy(zero_copy_only=False))
            middle.append(_middle_initial(initials))
        if not coded:
            return cls(block_start, np.zeros(0, np.int32), np.zeros(0))
        indices = pa.chunked_array(coded).unify_dictionaries().combine_chunks().indices
        number = indices.fill_null(-1).to_numpy().astype(np.int32)
        number[~np.concatenate(used)] = -1
        found = cls(block_start, number, np.concatenate(namesakes))
        return replace(found, namesakes=found._with_middle(np.concatenate(middle)))

    def _with_middle(self, middle: NDArray[np.int8]) -> Floats:
        """E of each mention, given its middle initial and those of all mentions of its name in the block."""
        named = np.flatnonzero(self.full_name >= 0)
        first, n = equal_keys(self.block[named], self.full_name[named].astype(np.int64))
        initial = middle[named]
        agree = np.bincount(first, initial == initial[first], len(named))[first] == n
        namesakes, varying = self.namesakes.copy(), named[~agree]
        namesakes[named[agree & (initial >= 0)]] *= SAME_MIDDLE
        namesakes[varying] = (namesakes[varying] + VARYING_MIDDLE) / (1 - VARYING_MIDDLE)
        return namesakes

    def select(self, blocks: Integers) -> FullNames:
        """The full names of some blocks, in the given order."""
        sizes = np.diff(self.block_start)[blocks]
        mentions = ranges(self.block_start[blocks], sizes)
        return FullNames(starts(sizes), self.full_name[mentions], self.namesakes[mentions])

    def of_blocks(self, first: int, last: int, trust: float) -> NamePrior | None:
        """The prior of the blocks `first` to `last` - 1; None if no name occurs twice in one of them."""
        return self.select(np.arange(first, last)).prior(trust)

    def prior(self, trust: float) -> NamePrior | None:
        """The prior of all blocks; None if names are not trusted, or no name occurs twice in a block."""
        if trust <= 0:
            return None
        found = name_prior(self.full_name, self.namesakes, self.block_start, trust)
        return found if (found.name >= 0).any() else None


def _surname_and_initials(parsed_name: pa.Array) -> tuple[pa.Array, pa.Array]:
    parts = pc.split_pattern(parsed_name.fill_null("|||"), "|")
    return pc.list_element(parts, 0), pc.list_element(parts, 1)


def _middle_initial(initials: pa.Array) -> NDArray[np.int8]:
    """The number of the second initial of each mention in the alphabet, −1 if there is none."""
    number = pc.index_in(pc.utf8_slice_codeunits(initials, 1, 2), pa.array(list(ascii_uppercase)))
    found: NDArray[np.int8] = number.fill_null(-1).to_numpy().astype(np.int8)
    return found


def _is_named_block(block: pa.Array, surname: pa.Array, initials: pa.Array) -> NDArray[np.bool_]:
    """Which mentions are in the block of their surname with its first initial, or with all initials."""
    keys = (
        pc.binary_join_element_wise(surname, some, ", ") for some in (pc.utf8_slice_codeunits(initials, 0, 1), initials)
    )
    return np.asarray(pc.or_(*(pc.equal(block, key) for key in keys)))
