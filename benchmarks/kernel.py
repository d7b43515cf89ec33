"""The dense kernel compared with numpy and scipy per block: mentions per second on one thread.

100,000 blocks of about 4 mentions with about 55 features over eight types, as in the Web of Science. The numpy and
scipy versions are the fastest we could write for one block at a time. They are timed on a sample of the blocks, and
must give the same labels as the kernel there.
"""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from homonym.clustering.agglomerative import cluster, limits
from homonym.clustering.arrays import Bags, Frequencies
from homonym.clustering.reference import TIE
from homonym.settings import Settings

BLOCKS = 100_000
SAMPLE = 2_000
# Features per mention and size of the vocabulary by type: about 55 features in all.
TYPES = {"aff": (1, 20_000), "cat": (2, 250), "co": (5, 200_000), "email": (1, 50_000), "key": (6, 60_000),
         "ref": (10, 150_000), "term": (22, 80_000), "year": (9, 60)}  # fmt: skip
REPEATS = 5


def make_blocks(blocks: int = BLOCKS, seed: int = 1) -> tuple[Bags, Frequencies]:
    """Blocks of one to four authors; mentions draw half of their features from a small set of their author."""
    random = np.random.default_rng(seed)
    sizes = np.clip(random.poisson(4, blocks), 1, None)
    mentions = int(sizes.sum())
    author = np.repeat(np.arange(blocks) * 4, sizes) + random.integers(0, 2, mentions) * random.integers(0, 2, mentions)
    features, owners, offset, starts = [], [], 0, [0]
    for per_mention, vocabulary in TYPES.values():
        drawn = np.clip(random.poisson(per_mention, mentions), 0, 3 * per_mention)
        owner = np.repeat(np.arange(mentions), drawn)
        slot = random.integers(0, 3 * per_mention, len(owner))
        own = (author[owner] * 2654435761 + slot * 40503) % vocabulary
        popular = (vocabulary * random.random(len(owner)) ** 3).astype(np.int64)
        features.append(np.where(random.random(len(owner)) < 0.5, own, popular) + offset)
        owners.append(owner)
        offset += vocabulary
        starts.append(offset)
    keys = np.unique(np.concatenate(owners) * offset + np.concatenate(features))
    owner, feature = keys // offset, (keys % offset).astype(np.int32)
    total = np.bincount(feature, minlength=offset).astype(np.float64)
    bags = Bags(
        block_start=np.concatenate([[0], np.cumsum(sizes)]),
        bag_start=np.searchsorted(owner, np.arange(mentions + 1)),
        feature=feature,
        count=np.ones(len(feature)),
    )
    mass = np.add.reduceat(total, starts[:-1])
    return bags, Frequencies(tuple(TYPES), np.array(starts), np.maximum(total, 1), mass, mentions)


def head(bags: Bags, blocks: int) -> Bags:
    """The first few blocks."""
    mentions = bags.block_start[blocks]
    end = bags.bag_start[mentions]
    return Bags(
        bags.block_start[: blocks + 1], bags.bag_start[: mentions + 1], bags.feature[:end], bags.count[:end]
    )  # fmt: skip


def per_block(bags: Bags, frequencies: Frequencies, settings: Settings, pair_scores: Any) -> np.ndarray[Any, Any]:
    """Cluster block by block; `pair_scores` returns S[t, x, y] and n[t, x] of one block."""
    labels = np.zeros(len(bags.bag_start) - 1, np.int32)
    weight = np.array(settings.weights_for(frequencies.types))[:, None]
    smoothing = settings.epsilon / frequencies.mentions
    limit = limits(bags.block_start, settings.limit, frequencies.mentions)
    for block, (first, last) in enumerate(pairwise(bags.block_start)):
        S, n = pair_scores(bags, frequencies, first, last)
        labels[first:last] = merge_block(S, n, weight, limit[block], settings.epsilon, smoothing)
    return labels


def merge_block(S: Any, n: Any, weight: Any, limit: float, epsilon: float, smoothing: float) -> Any:
    """Merge one block by matrix products with the matrix of clusters, as the paper describes."""
    label = np.arange(S.shape[1])
    size = np.ones(S.shape[1])
    while len(size) > 1:
        w = weight / (n + size * epsilon)
        scores = np.einsum("tij,tj->ij", S, w) + np.outer(size, size * w.sum(axis=0) * smoothing)
        np.fill_diagonal(scores, -np.inf)
        least = scores * (1 + TIE)
        chosen = (least >= scores.max(axis=1)[:, None]) & (least >= scores.max(axis=0)) & (scores > limit)
        if not chosen.any():
            break
        group = sparse.csgraph.connected_components(chosen, directed=False)[1]
        joined = np.zeros((len(size), group.max() + 1))
        joined[np.arange(len(size)), group] = 1
        S = joined.T @ S @ joined
        n, size, label = n @ joined, size @ joined, group[label]
    return label


def scores_by_scipy(bags: Bags, frequencies: Frequencies, first: int, last: int) -> tuple[Any, Any]:
    """S by one sparse product per type."""
    begin, end = bags.bag_start[first], bags.bag_start[last]
    counts = sparse.csr_array(
        (bags.count[begin:end], bags.feature[begin:end], bags.bag_start[first : last + 1] - begin),
        shape=(last - first, len(frequencies.total)),
    )
    S, n = [], []
    for t in range(len(frequencies.types)):
        part = counts[:, frequencies.type_start[t] : frequencies.type_start[t + 1]]
        total = frequencies.total[frequencies.type_start[t] : frequencies.type_start[t + 1]]
        shares = sparse.csr_array((part.data / total[part.indices], part.indices, part.indptr), shape=part.shape)
        S.append((shares @ part.T).toarray())
        n.append(np.bincount(np.repeat(np.arange(last - first), np.diff(part.indptr)), part.data, last - first))
    return np.array(S), np.array(n)


def scores_by_numpy(bags: Bags, frequencies: Frequencies, first: int, last: int) -> tuple[Any, Any]:
    """S by dense products over the distinct features of the block."""
    begin, end = bags.bag_start[first], bags.bag_start[last]
    distinct, column = np.unique(bags.feature[begin:end], return_inverse=True)
    row = np.repeat(np.arange(last - first), np.diff(bags.bag_start[first : last + 1]))
    counts = np.zeros((last - first, len(distinct)))
    counts[row, column] = bags.count[begin:end]
    shares = counts / frequencies.total[distinct]
    ends = np.searchsorted(distinct, frequencies.type_start)
    S = np.array([shares[:, a:b] @ counts[:, a:b].T for a, b in pairwise(ends)])
    n = np.array([counts[:, a:b].sum(axis=1) for a, b in pairwise(ends)])
    return S, n


def rate_of_streaming(bags: Bags) -> float:
    """Mentions per second if every number of the bags is only read once: an upper bound for any clustering."""
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        for column in (bags.block_start, bags.bag_start, bags.feature, bags.count):
            column.sum()
        seconds.append(time.perf_counter() - began)
    return (len(bags.bag_start) - 1) / min(seconds)


def run(blocks: int = BLOCKS) -> list[tuple[str, float, float]]:
    """Rows of (name, mentions per second, how many times slower than the kernel)."""
    bags, frequencies = make_blocks(blocks)
    settings = Settings(beta=2e-4, gamma=0.0, weights="uniform")
    cluster(head(bags, 10), frequencies, settings)  # compile
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        labels = cluster(bags, frequencies, settings).label
        seconds.append(time.perf_counter() - began)
    mentions = len(bags.bag_start) - 1
    kernel = mentions / min(seconds)
    print(f"{blocks:,} blocks, {mentions:,} mentions, {len(bags.feature) / mentions:.0f} features each,", end=" ")
    print(f"{len(np.unique(np.repeat(bags.block_start[:-1], np.diff(bags.block_start)) + labels)):,} authors found")
    streaming = rate_of_streaming(bags)
    rows = [("kernel", kernel, 1.0), ("reading all of its arrays once", streaming, kernel / streaming)]
    sample = head(bags, min(SAMPLE, blocks))
    for name, pair_scores in (("numpy, per block", scores_by_numpy), ("scipy, per block", scores_by_scipy)):
        began = time.perf_counter()
        found = per_block(sample, frequencies, settings, pair_scores)
        rate = len(found) / (time.perf_counter() - began)
        assert (found == labels[: len(found)]).all(), f"{name} finds other authors than the kernel"
        rows.append((name, rate, kernel / rate))
    return rows


if __name__ == "__main__":
    for name, rate, ratio in run():
        print(f"{name:20} {rate:12,.0f} mentions/s   {ratio:8.1f}×")
