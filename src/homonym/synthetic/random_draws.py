"""Random numbers by address (counter-based): the same seed, purpose and numbers always give the same draw.

A generator with a state would have to run from the start to repeat its draw for author 7 000 000. Hashing the address
gives any draw at once, in bulk and in any order.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Bits = NDArray[np.uint64]

# SplitMix64 (Steele, Lea, Flood 2014): its increment, and the multipliers and shifts of its finaliser.
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
FIRST_SHIFT, SECOND_SHIFT, THIRD_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)
HALF = np.uint64(32)  # the upper half of a word is mixed better
MANTISSA = np.uint64(11)  # 64 - 53: bits that a double cannot hold
FEISTEL_ROUNDS = 4  # a Feistel network of four rounds is a pseudorandom permutation (Luby, Rackoff 1988)


def mix(bits: Bits) -> Bits:
    """Mix the bits of each number, one to one."""
    bits = (bits ^ (bits >> FIRST_SHIFT)) * FIRST_FACTOR
    bits = (bits ^ (bits >> SECOND_SHIFT)) * SECOND_FACTOR
    return bits ^ (bits >> THIRD_SHIFT)


class RandomDraws:
    """Random draws by purpose and address.

    >>> draws = RandomDraws(seed=0)
    >>> authors = np.arange(3)
    >>> bool((draws.unit("luck", authors) == draws.unit("luck", authors[::-1])[::-1]).all())
    True
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._keys: dict[str, Bits] = {}

    def _key(self, purpose: str) -> Bits:
        """The key of a purpose; an array of length 1, because numpy scalars warn when they overflow."""
        if purpose not in self._keys:
            digest = hashlib.blake2b(f"{self._seed}/{purpose}".encode(), digest_size=8).digest()
            self._keys[purpose] = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
        return self._keys[purpose]

    def bits(self, purpose: str, *address: Integers) -> Bits:
        """64 random bits for each address; coordinates broadcast."""
        state = self._key(purpose)
        for coordinate in address:
            state = mix(state + coordinate.astype(np.uint64) * STEP)
        return state

    def unit(self, purpose: str, *address: Integers) -> Floats:
        """A number in [0, 1) for each address."""
        return (self.bits(purpose, *address) >> MANTISSA).astype(np.float64) * 2.0**-53

    def below(self, limit: int | Integers, purpose: str, *address: Integers) -> Integers:
        """A whole number in [0, limit) for each address; the limit may differ between addresses."""
        drawn = (self.bits(purpose, *address) >> HALF) * np.asarray(limit, dtype=np.uint64)
        return (drawn >> HALF).astype(np.int64)

    def chance(self, probability: float | Floats, purpose: str, *address: Integers) -> Flags:
        """Whether an event of this probability happens, for each address."""
        return self.unit(purpose, *address) < probability

    def shuffled(self, size: int, purpose: str, index: Integers) -> Integers:
        """The position of each index in a random permutation of range(size), without computing all of it.

        A Feistel network permutes the next power of four; positions outside the range are permuted again.

        >>> sorted(RandomDraws(seed=1).shuffled(10, "places", np.arange(10)).tolist())
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        """
        if index.size and index.max() >= size:
            raise IndexError(f"{index.max()} is not one of {size}")
        half_width = max(1, ((size - 1).bit_length() + 1) // 2)
        place = self._feistel(half_width, purpose, index.astype(np.uint64))
        while (outside := place >= size).any():
            place[outside] = self._feistel(half_width, purpose, place[outside])
        return place.astype(np.int64)

    def _feistel(self, half_width: int, purpose: str, value: Bits) -> Bits:
        """A pseudorandom permutation of the numbers of 2 * half_width bits."""
        width, mask = np.uint64(half_width), np.uint64((1 << half_width) - 1)
        left, right = value >> width, value & mask
        for step in range(FEISTEL_ROUNDS):
            left, right = right, left ^ (mix(self._key(f"{purpose}/{step}") + right * STEP) >> HALF & mask)
        return (left << width) | right
