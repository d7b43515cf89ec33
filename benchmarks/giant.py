"""Giant blocks of 1,000 to 50,000 mentions: the sparse kernel, and the dense kernel if its pairs fit into memory.

Authors of Zipf sizes with eight feature types: Zipf terms, the years of a career, categories of a small vocabulary,
groups of co-authors, references, affiliations, keywords and e-mail addresses. And real bags: all mentions of a set of
PubMed articles in one block. Each block is clustered in a separate process, to measure its peak memory. Both kernels
must find the same authors.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from homonym.clustering import agglomerative
from homonym.clustering.agglomerative import Clustering, cluster, dense_bytes
from homonym.clustering.arrays import Bags, Frequencies, starts
from homonym.clustering.sparse.giant_blocks import Agglomeration
from homonym.runtime.progress import cpu_seconds, peak_memory
from homonym.settings import Settings

SIZES = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
# Real bags; skipped if this file does not exist.
REAL = Path(__file__).parents[2] / "shared" / "data" / "pubmed" / "documents.jsonl.gz"
# Maximum memory in bytes for the pairs of the dense kernel.
DENSE_MOST = 6 << 30
THREADS = 2
# One limit for all sizes. It is not the best one for large blocks: at 20,000 mentions B-cubed precision is 0.97 and
# recall 0.56, and with half of it 50,000 mentions become one author in 16,009 rounds.
KAPPA = 60.0
# The same for the real block, which is the whole collection.
REAL_KAPPA = 10.0
# Mentions of the whole collection, of which the block is one name.
COLLECTION = 2_000_000
# Draws per mention, size of the vocabulary, share of draws from the author's own features, number of these.
TYPES: dict[str, tuple[float, int, float, int]] = {
    "aff": (1.5, 20_000, 0.9, 3), "cat": (2, 250, 0.8, 3), "co": (5, 300_000, 0.7, 25), "email": (0.3, 60_000, 1.0, 1),
    "key": (5, 60_000, 0.5, 25), "ref": (20, 400_000, 0.5, 120), "term": (90, 60_000, 0.4, 250),
}  # fmt: skip
Array = NDArray[Any]
COLUMNS = ("mentions", "occurrences", "rounds", "authors", "rows", "seconds", "CPU seconds", "GiB",
           "compiling", "dense seconds", "dense GiB")  # fmt: skip


def make_block(mentions: int, seed: int = 1) -> tuple[Bags, Frequencies]:
    """One block, and the frequencies of a collection that it is one name of."""
    random = np.random.default_rng(seed)
    person = _people(mentions, random)
    owners: list[Array] = []
    features: list[Array] = []
    counts: list[Array] = []
    totals: list[Array] = []
    starts = [0]
    for per_mention, vocabulary, own_share, stock in TYPES.values():
        owner = np.repeat(np.arange(mentions), np.clip(random.poisson(per_mention, mentions), 0, None))
        popular = _zipf(vocabulary, random.random(len(owner)))
        slot = person[owner] * 1000 + (stock * random.random(len(owner)) ** 1.5).astype(np.int64)
        mixed = (slot * 0x9E3779B1) % (1 << 32) / float(1 << 32)
        own = _zipf(vocabulary, mixed)
        feature = np.where(random.random(len(owner)) < own_share, own, popular)
        key, count = np.unique(owner * vocabulary + feature, return_counts=True)
        everywhere = np.diff(_zipf_share(vocabulary)) * per_mention * COLLECTION
        inside = np.bincount(key % vocabulary, count, vocabulary)
        owners.append(key // vocabulary)
        features.append(key % vocabulary + starts[-1])
        counts.append(count.astype(np.float64))
        totals.append(inside + everywhere)
        starts.append(starts[-1] + vocabulary)
    owner, feature, count, total = _years(person, random)
    owners.append(owner)
    features.append(feature + starts[-1])
    counts.append(count)
    totals.append(total)
    starts.append(starts[-1] + len(total))
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    bags = Bags(
        np.array([0, mentions]),
        np.searchsorted(owner[order], np.arange(mentions + 1)),
        np.concatenate(features)[order].astype(np.int32),
        np.concatenate(counts)[order],
    )
    mass = np.array([part.sum() for part in totals])
    return bags, Frequencies((*TYPES, "year"), np.array(starts), np.concatenate(totals), mass, COLLECTION)


def _people(mentions: int, random: np.random.Generator) -> Array:
    sizes: list[int] = []
    while sum(sizes) < mentions:
        sizes.append(min(int(random.zipf(1.7)), mentions // 20 + 1))
    return random.permutation(np.repeat(np.arange(len(sizes)), sizes)[:mentions])


def _zipf_share(vocabulary: int) -> Array:
    """Cumulative shares of the features by rank; the first few ranks are flat, as without stop words."""
    share = np.cumsum(1.0 / (np.arange(vocabulary) + 20.0))
    return np.concatenate([[0.0], share / share[-1]])


def _zipf(vocabulary: int, uniform: Array) -> Array:
    return np.minimum(np.searchsorted(_zipf_share(vocabulary), uniform, side="right") - 1, vocabulary - 1)


def _years(person: Array, random: np.random.Generator) -> tuple[Array, ...]:
    """Gaussian bags over eleven years around a year of the author's career."""
    career = random.integers(8, 38, person.max() + 1)
    year = np.clip(career[person] + random.integers(-6, 7, len(person)), 5, 44)
    shape = np.exp(-(np.arange(-5, 6) ** 2) / 8)
    shape /= shape.sum()
    owner = np.repeat(np.arange(len(person)), 11)
    feature = (year[:, None] + np.arange(-5, 6)).ravel()
    count = np.tile(shape, len(person))
    return owner, feature, count, np.bincount(feature, count, 50) + COLLECTION / 50


def real_block(documents: Path = REAL) -> tuple[Bags, Frequencies]:
    """All mentions of a set of documents as one block, extracted by homonym."""
    from homonym import extract

    with tempfile.TemporaryDirectory() as directory:
        extract(documents, Path(directory) / "mentions.jsonl.gz")
        with gzip.open(Path(directory) / "mentions.jsonl.gz") as lines:
            mentions = [orjson.loads(line)["features"] for line in lines]
    types = sorted({kind for bags in mentions for kind in bags})
    names = {kind: sorted({f for bags in mentions for f in bags.get(kind, ())}) for kind in types}
    offsets = starts(np.array([len(names[kind]) for kind in types]))
    place = {kind: {f: offsets[t] + k for k, f in enumerate(names[kind])} for t, kind in enumerate(types)}
    flat = [[(place[kind][f], c) for kind in types for f, c in bags.get(kind, {}).items()] for bags in mentions]
    feature = np.array([f for bag in flat for f, _ in bag], np.int32)
    count = np.array([c for bag in flat for _, c in bag], np.float64)
    total: Array = np.bincount(feature, count, offsets[-1])
    bags = Bags(np.array([0, len(flat)]), starts(np.array([len(bag) for bag in flat])), feature, count)
    return bags, Frequencies(tuple(types), offsets, total, np.add.reduceat(total, offsets[:-1]), len(flat))


def run(sizes: Sequence[int | str] = (*SIZES, "pubmed")) -> list[dict[str, float]]:
    """One row per block; the real one is left out if its file does not exist."""
    wanted = [size for size in sizes if size != "pubmed" or REAL.exists()]
    return [_own_process(size) for size in wanted]


def _own_process(size: int | str) -> dict[str, float]:
    row: dict[str, float] = {}
    for kernel in ("sparse", "dense"):
        command = [sys.executable, "-m", "benchmarks.giant", str(size), kernel]
        done = subprocess.run(command, check=True, capture_output=True).stdout
        row |= orjson.loads(done.splitlines()[-1])
    if "dense digest" in row and row["dense digest"] != row["digest"]:
        raise AssertionError(f"block {size}: the sparse kernel finds other authors than the dense kernel")
    return row


def measure(size: str, kernel: str, **changes: Any) -> dict[str, Any]:
    """Cluster one block with one kernel and measure it."""
    bags, frequencies = real_block() if size == "pubmed" else make_block(int(size))
    mentions, types = len(bags.bag_start) - 1, len(frequencies.types)
    if kernel == "dense" and dense_bytes(mentions, types) > DENSE_MOST:
        return {}
    settings = Settings(**{"kappa": REAL_KAPPA if size == "pubmed" else KAPPA, **changes})
    agglomerative.GIANT_BLOCK = 1 if kernel == "sparse" else mentions + 1
    began = time.perf_counter()
    cluster(*make_block(50), settings)
    compiling = time.perf_counter() - began
    rows: list[int] = []
    compute_rows = Agglomeration.compute_rows

    def counted(process: Agglomeration, numbers: Array, *, offering: bool) -> None:
        rows.append(len(numbers))
        compute_rows(process, numbers, offering=offering)

    setattr(Agglomeration, "compute_rows", counted)  # noqa: B010  # mypy refuses an assignment
    began, worked = time.perf_counter(), cpu_seconds()
    answer = cluster(bags, frequencies, settings, threads=THREADS)
    seconds, worked = time.perf_counter() - began, cpu_seconds() - worked
    gib = peak_memory() / 2**30
    if kernel == "dense":
        return {"dense seconds": seconds, "dense GiB": gib, "dense digest": _digest(answer)}
    return {
        "mentions": mentions, "occurrences": len(bags.feature), "rounds": int(answer.rounds[0]),
        "authors": int(answer.label.max()) + 1, "rows": sum(rows), "seconds": seconds, "CPU seconds": worked,
        "GiB": gib, "compiling": compiling, "digest": _digest(answer),
    }  # fmt: skip


def _digest(answer: Clustering) -> str:
    from hashlib import sha256

    return sha256(answer.label.tobytes() + answer.rounds.tobytes() + answer.merge_round.tobytes()).hexdigest()


def table(rows: list[dict[str, float]]) -> str:
    """The rows as a Markdown table; a dash if the dense kernel was not run."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + " ---: |" * len(COLUMNS)]
    for row in rows:
        cells = [f"{row[name]:,.1f}" if isinstance(row.get(name), float) else f"{row.get(name, '–'):,}" if name in row
                 else "–" for name in COLUMNS]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        changes = dict(pair.split("=") for pair in sys.argv[3:])
        sys.stdout.buffer.write(orjson.dumps(measure(sys.argv[1], sys.argv[2], **changes)))
    else:
        print(table(run()))
