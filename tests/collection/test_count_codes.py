"""Codes of counts: they lead back to the same bits, also if counts share a place or are too many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.clustering.dense.blocks import StoredBags, gather_bags
from homonym.collection import count_codes
from homonym.collection.count_codes import CountCodes, CountFile, TooManyCountsError

COUNTS = st.sampled_from([1.0, 2.0, 0.25, 0.1, 1 / 3, 7.0, 0.0]) | st.floats(1e-9, 1e9)


@given(parts=st.lists(st.lists(COUNTS, max_size=20), max_size=6))
def test_codes_lead_back_to_the_same_bits(parts: list[list[float]]) -> None:
    codes = CountCodes()
    coded = [codes.encode(np.array(part)) for part in parts]
    for part, code in zip(parts, coded, strict=True):  # decoded when all counts are known
        assert codes.value[code].tobytes() == np.array(part).tobytes()


def test_counts_with_the_same_place_have_different_codes() -> None:
    codes, counts = CountCodes(), np.random.default_rng(1).uniform(0.1, 9, 5000).astype(np.float64)
    first = codes.encode(counts)
    assert len(np.unique(first)) == 5000
    assert 0 not in first
    assert np.array_equal(codes.encode(counts[::-1]), first[::-1])
    assert np.array_equal(codes.value[first], counts)


def test_too_many_counts_have_no_codes() -> None:
    codes, counts = CountCodes(), np.arange(1.0, count_codes.CODES)
    assert np.array_equal(codes.value[codes.encode(counts)], counts)
    with pytest.raises(TooManyCountsError):
        codes.encode(np.array([0.5]))


@pytest.mark.parametrize("distinct", [3, 100_000])
def test_a_file_has_codes_or_the_counts_if_they_are_too_many(tmp_path: Path, distinct: int) -> None:
    parts = [1.0 + np.arange(20_000 * part, 20_000 * (part + 1)) % distinct / 7 for part in range(5)]
    with CountFile(tmp_path / "count.bin") as file:
        for part in parts:
            file.write(part)
    stored, value = file.mapped()
    assert stored.dtype == (np.uint16 if distinct == 3 else np.float64)
    assert np.array_equal(value[stored] if len(value) else stored, np.concatenate(parts))
    assert [path.name for path in tmp_path.iterdir()] == ["count.bin"]


def test_a_file_without_counts_is_empty(tmp_path: Path) -> None:
    with CountFile(tmp_path / "count.bin") as file:
        file.write(np.zeros(0))
    assert not len(file.mapped()[0])


def test_bags_are_gathered_from_codes_as_from_counts() -> None:
    random = np.random.default_rng(3)
    feature, count = np.sort(random.integers(0, 9, 40)).astype(np.int32), random.choice([1.0, 0.25, 0.75, 2.0], 40)
    codes, place = CountCodes(), np.arange(0, 40, 4)
    own = random.integers(-1, 9, 10).astype(np.int32), random.integers(-1, 9, 10).astype(np.int32)
    stored = StoredBags(place, place + 3, place + 3, place + 4, *own)
    start, kept = np.array([0, 4, 9]), np.array([True, True])
    code = codes.encode(count)
    from_codes = gather_bags(stored, feature, code, codes.value, start, kept)
    from_counts = gather_bags(stored, feature, count, np.zeros(0), start, kept)
    for found, expected in zip(from_codes, from_counts, strict=True):
        assert np.array_equal(found, expected)
