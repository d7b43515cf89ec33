"""Which blocks calibration looks at: bounded by work, with large and small blocks in proportion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.calibration import block_sample
from homonym.calibration.block_sample import block_work, choose_blocks, within_budget, within_work
from homonym.clustering.arrays import Integers


def chosen(sizes: Integers, bag: int = 100, seed: int = 0) -> tuple[Integers, Integers, float]:
    """The blocks to find people in and to copy, if each mention has `bag` occurrences."""
    return choose_blocks(sizes, lambda blocks: sizes[blocks] * bag, np.random.default_rng(seed))


@given(work=st.lists(st.integers(1, 100), max_size=30), budget=st.integers(1, 1000), least=st.integers(0, 5))
def test_work_is_within_the_budget_unless_too_few_items_are_left(work: list[int], budget: int, least: int) -> None:
    items = np.arange(len(work))
    found = within_budget(items, np.array(work, np.int64), budget, least, largest=1.0)
    assert np.array_equal(found, np.sort(found)), "they are taken in the given order"
    assert len(found) <= least or sum(work[i] for i in found) <= budget
    assert len(found) >= min(least, len(work))


def test_small_collections_are_used_whole() -> None:
    sizes = np.random.default_rng(0).integers(2, 60, 300)
    people, copied, share = chosen(sizes)
    assert np.array_equal(people, np.arange(300))
    assert np.array_equal(copied, np.arange(300))
    assert share == 1.0


@pytest.mark.parametrize("bag", [10, 300, 6000])
def test_work_does_not_grow_with_blocks_or_bags(bag: int) -> None:
    sizes = np.random.default_rng(0).integers(200, 1000, 5000)
    people, copied, share = chosen(sizes, bag)
    work = block_work(sizes[copied], sizes[copied] * bag)
    assert len(copied) <= block_sample.MIN_CLUSTERED_BLOCKS or work.sum() <= block_sample.CLUSTERED_WORK
    if bag < 6000:  # otherwise each block takes more
        assert work.max() <= block_sample.LARGEST_SHARE * block_sample.CLUSTERED_WORK
    most = max(block_sample.PEOPLE_OCCURRENCES, block_sample.MIN_PEOPLE_BLOCKS * sizes.max() * bag)
    assert sizes[people].sum() * bag <= most
    assert (share < 1) == (bag > 10)


def test_long_bags_thin_the_sample_but_leave_its_sizes() -> None:
    sizes = np.random.default_rng(1).integers(10, 100, 400)
    items, least, budget = np.arange(400), 8, 2_000_000_000
    short = within_work(items, sizes, sizes * block_sample.LONG_BAG, budget, least)
    # Sixteen times as many features are sixteen times the work, which also takes four times as long.
    long = within_work(items, sizes, 16 * sizes * block_sample.LONG_BAG, 16 * budget, least)
    assert np.array_equal(long, short[: len(long)])
    assert len(short) > 3.5 * len(long) > 3.5 * least
    assert abs(sizes[long].mean() - sizes[short].mean()) < 8


def test_thinned_sample_has_blocks_of_all_sizes_in_proportion(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = np.repeat([10, 100, 400], [4000, 400, 100])  # as many mentions of each size
    monkeypatch.setattr(block_sample, "MAX_CLUSTERED_BLOCKS", 300)
    whole = np.bincount(np.searchsorted([10, 100, 400], sizes[chosen(sizes)[1]]), minlength=3)
    monkeypatch.setattr(block_sample, "CLUSTERED_WORK", 800_000_000)
    _, copied, share = chosen(sizes)
    thinned = np.bincount(np.searchsorted([10, 100, 400], sizes[copied]), minlength=3)
    assert share < 0.6
    assert thinned.sum() > 30
    assert thinned / thinned.sum() == pytest.approx(whole / whole.sum(), abs=0.12)


def test_sample_depends_on_the_seed_only_for_people() -> None:
    sizes = np.random.default_rng(0).integers(1, 60, 5000)
    first, again, other = chosen(sizes), chosen(sizes), chosen(sizes, seed=1)
    assert np.array_equal(first[0], again[0])
    assert not np.array_equal(first[0], other[0])
    assert np.array_equal(first[1], other[1])


def test_blocks_that_exceed_the_budget_are_left_out() -> None:
    sizes = np.append(np.full(20, 30), 50_000)
    _, copied, _ = chosen(sizes)
    assert copied.tolist() == list(range(20))


def test_no_block_with_several_mentions() -> None:
    people, copied, share = chosen(np.ones(10, np.int64))
    assert (len(people), len(copied), share) == (10, 0, 0.0)
