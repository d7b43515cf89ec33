"""Replay of a labelled collection as a living corpus: its parts in time, and what is measured after each of them.

The documents come in parts: by year, where years are joined until a part is large enough, or at random. After each
part, the result of every mode is compared with the labels and with the result before it.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from homonym.measures.agreement import bcubed_across_names

YEARS, RANDOM = "years", "random"

# The seed of the random parts.
SEED = 20


class Part(NamedTuple):
    """Documents that come at the same time: their places in the collection, and how the part is called."""

    label: str
    documents: list[int]


def parts_by_year(years: Sequence[int | None], number: int) -> list[Part]:
    """Parts of consecutive years, each of at least 1/`number` of all documents; those without a year come first.

    >>> [(part.label, part.documents) for part in parts_by_year([2001, None, 2003, 2002, 2003], 2)]
    [('–2002', [0, 1, 3]), ('2003', [2, 4])]
    """
    order = sorted(range(len(years)), key=lambda place: (years[place] is not None, years[place] or 0, place))
    parts: list[Part] = []
    waiting: list[int] = []
    for place, following in zip(order, [*order[1:], None], strict=True):
        waiting.append(place)
        is_last_of_year = following is None or years[following] != years[place]
        if is_last_of_year and (len(waiting) * number >= len(years) or following is None):
            parts.append(Part(_label(years, waiting, is_first=not parts), waiting))
            waiting = []
    if len(parts) > 1 and len(parts[-1].documents) * number < len(years) / 2:  # a short rest belongs to the part before
        rest, last = parts.pop(), parts.pop()
        joined = [*last.documents, *rest.documents]
        parts.append(Part(_label(years, joined, is_first=not parts), joined))
    return [Part(part.label, sorted(part.documents)) for part in parts]


def _label(years: Sequence[int | None], places: Sequence[int], *, is_first: bool) -> str:
    known = [year for place in places if (year := years[place]) is not None]
    if not known:
        return "no year"
    first, last = min(known), max(known)
    return f"–{last}" if is_first else f"{first}–{last}" if first < last else f"{last}"


def random_parts(documents: int, number: int) -> list[Part]:
    """Equal parts in a random order, which is always the same.

    >>> parts = random_parts(10, 3)
    >>> [len(part.documents) for part in parts], sorted(place for part in parts for place in part.documents)
    ([4, 3, 3], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    order = list(range(documents))
    random.Random(SEED).shuffle(order)
    return [Part(f"part {first + 1}", sorted(order[first::number])) for first in range(min(number, documents))]


Authors = Mapping[str, str]
"""The author id of each mention."""


@dataclass(frozen=True)
class ReplayStep:
    """What one mode gave after one part.

    `churn` is the share of old mentions whose author id changed. A redirect is wrong if most labelled mentions of both
    authors have different labels. `lost` counts mentions that a run on all documents so far has, and this one has not.
    `is_batch` says whether the mentions are grouped exactly as in that run.
    """

    order: str
    step: int
    part: str
    mode: str
    documents: int
    mentions: int
    authors: int
    precision: float
    recall: float
    f1: float
    churn: float
    redirects: int
    wrong_redirects: int
    lost: int
    is_batch: bool
    cpu_seconds: float


def measure_step(
    place: tuple[str, int, str, str, int],
    before: Authors,
    after: Authors,
    batch: Authors,
    labels: Mapping[str, str],
    redirects: Mapping[str, str],
    cpu_seconds: float,
) -> ReplayStep:
    """Measure one result; `place` are order, step, part, mode and number of documents.

    `before` is the result of the mode before this part, `batch` that of a run on all documents so far.
    """
    labelled = sorted(mention for mention in after if mention in labels)
    scores = bcubed_across_names(*(_codes([one[mention] for mention in labelled]) for one in (labels, after)))
    kept = [mention for mention in before if mention in after]
    changed = sum(before[mention] != after[mention] for mention in kept)
    return ReplayStep(
        *place,
        mentions=len(after),
        authors=len(set(after.values())),
        precision=scores.precision,
        recall=scores.recall,
        f1=scores.f1,
        churn=changed / len(kept) if kept else 0.0,
        redirects=len(redirects),
        wrong_redirects=sum(_is_wrong(redirects, before, after, labels)),
        lost=len(batch.keys() - after.keys()),
        is_batch=_same_groups(after, batch),
        cpu_seconds=cpu_seconds,
    )


def _codes(texts: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.unique(np.array(texts, str), return_inverse=True)[1].astype(np.int64)


def _is_wrong(
    redirects: Mapping[str, str], before: Authors, after: Authors, labels: Mapping[str, str]
) -> Iterator[bool]:
    old, new = _main_labels(before, labels), _main_labels(after, labels)
    for author, target in redirects.items():
        yield author in old and target in new and old[author] != new[target]


def _main_labels(authors: Authors, labels: Mapping[str, str]) -> dict[str, str]:
    """The most frequent label of each author; of equally frequent ones the first."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for mention, author in authors.items():
        if mention in labels:
            counts[author][labels[mention]] += 1
    return {author: min(found, key=lambda label: (-found[label], label)) for author, found in counts.items()}


def _same_groups(a: Authors, b: Authors) -> bool:
    """Whether two results group the same mentions in the same way.

    >>> _same_groups({"x": "1", "y": "1", "z": "2"}, {"x": "7", "y": "7", "z": "8"})
    True
    >>> _same_groups({"x": "1", "y": "1"}, {"x": "7", "y": "8"})
    False
    """
    if a.keys() != b.keys():
        return False
    pairs = {(a[mention], b[mention]) for mention in a}
    return len(pairs) == len(set(a.values())) == len(set(b.values()))
