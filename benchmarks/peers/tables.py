"""The comparison as Markdown: a table per collection, and whether each target was reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.peers.measuring import Measured
from benchmarks.peers.methods import FASTCLUSTER, HOMONYM, S2AND, SPLINK, Method
from benchmarks.peers.sets import Collection

#: Target speed-ups: over TF-IDF from file to file, and per pair over methods that score pairs.
END_TO_END, PER_PAIR = 3.0, 500.0

HEAD = (
    "method", "labels used", "threshold", "P", "R", "F1", "F1, best threshold", "wall s", "CPU s", "MiB",
    "pairs/s", "comparing CPU s", "pairs per comparing s", "CPU ÷ homonym's", "comparing ÷ homonym's",
)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """All methods on one collection."""

    collection: Collection
    measured: Sequence[Measured]

    def of(self, method: Method) -> Measured | None:
        """What a method did, if it did anything."""
        return next((one for one in self.measured if one.method == method and one.trials), None)


def section(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """The lines of the whole section; each table as soon as its collection is measured, as that takes a while."""
    yield from (
        "P, R and F1 are B-cubed within names over labelled mentions, by `homonym evaluate`. *Best threshold* is the",
        "one with the highest F1 on all labels of the set, which users do not have. *Comparing* is the CPU time to",
        "score pairs and to cluster, without start, reading, vectors and finding parameters (for homonym: without",
        "calibration). Other figures are from start to end of the process. Pairs are pairs of mentions in one block.",
        "",
    )
    done = []
    for comparison in comparisons:
        yield from table(comparison)
        done.append(comparison)
    yield from notes(done)
    yield from aims(done)


def table(comparison: Comparison) -> Iterator[str]:
    """The methods on one collection."""
    collection, homonym = comparison.collection, comparison.of(HOMONYM)
    yield f"### {collection.title}"
    yield ""
    yield (
        f"{collection.mentions:,} mentions in {len(collection.sizes):,} blocks, the largest of "
        f"{max(collection.sizes):,}; {collection.pairs:,} pairs within blocks."
    )
    yield ""
    yield f"| {' | '.join(HEAD)} |"
    yield "| --- | --- |" + " ---: |" * (len(HEAD) - 2)
    for measured in comparison.measured:
        yield row(measured, collection, homonym)
    yield ""


def row(measured: Measured, collection: Collection, homonym: Measured | None) -> str:
    """A method as a line of the table; what could not be measured says why."""
    method = measured.method
    if measured.problem or measured.found is None:
        return f"| {method.title} | {method.labels} | {measured.problem} |" + " |" * (len(HEAD) - 3)
    found, best = measured.found, measured.best
    cells = [
        method.title,
        method.labels,
        "–" if method is HOMONYM else f"{method.fixed:g}",
        *(short(value) for value in (found.precision, found.recall, found.f1)),
        f"{short(best.found.f1)} ({best.threshold:g})" if best else "–",
        f"{measured.wall():.1f}",
        f"{measured.cpu():.1f}",
        f"{measured.mebibytes():,.0f}",
        rate(collection.pairs, measured.wall()),
        f"{measured.comparing():.2f}",
        rate(collection.pairs, measured.comparing()),
        ratio(measured.cpu(), homonym.cpu()) if homonym else "–",
        ratio(measured.comparing(), homonym.comparing()) if homonym else "–",
    ]
    return f"| {' | '.join(cells)} |"


def notes(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What has to be known about each method."""
    for method in dict.fromkeys(one.method for comparison in comparisons for one in comparison.measured):
        if method.notes:
            yield f"- {method.title}: {method.notes}."
    yield ""


def aims(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What was to be shown, and whether it was."""
    yield "| aim | set | measured | |"
    yield "| --- | --- | ---: | --- |"
    for comparison in comparisons:
        homonym = comparison.of(HOMONYM)
        if homonym is not None:
            yield from _speed_aims(comparison, homonym)
            yield from _quality_aim(comparison, homonym)
    yield ""


def _speed_aims(comparison: Comparison, homonym: Measured) -> Iterator[str]:
    title = comparison.collection.title
    if peer := comparison.of(FASTCLUSTER):
        aim = f"≥ {END_TO_END:g}× as fast as {FASTCLUSTER.title}, end to end"
        yield _aim(f"{aim}, wall", title, peer.wall() / homonym.wall(), END_TO_END)
        yield _aim(f"{aim}, CPU", title, peer.cpu() / homonym.cpu(), END_TO_END)
    for method in (SPLINK, S2AND):
        if peer := comparison.of(method):
            aim = f"≥ {PER_PAIR:g}× as fast per pair as {method.title}"
            yield _aim(f"{aim}, end to end, CPU", title, peer.cpu() / homonym.cpu(), PER_PAIR)
            yield _aim(f"{aim}, comparing only, CPU", title, peer.comparing() / homonym.comparing(), PER_PAIR)


def _quality_aim(comparison: Comparison, homonym: Measured) -> Iterator[str]:
    """Judged by F1 against peers without labels: at their fixed thresholds, and at the best where others were tried."""
    peers = [one for one in comparison.measured if one.method != HOMONYM and one.method.labels == "none"]
    fixed = [(one.found.f1, one.method.title) for one in peers if one.found]
    tuned = [(one.best.found.f1, one.method.title) for one in peers if one.best]
    for what, theirs in (("at fixed thresholds", fixed), ("even if labels choose theirs", tuned)):
        if homonym.found is None or not theirs:
            continue
        ours, (best, title) = homonym.found.f1, max(theirs)
        against = f"{short(ours)} against {short(best)} ({title})"
        verdict = "reached" if ours > best else "**missed**"
        yield f"| F1 above every unsupervised peer, {what} | {comparison.collection.title} | {against} | {verdict} |"


def _aim(what: str, title: str, measured: float, aim: float) -> str:
    return f"| {what} | {title} | {measured:.1f}× | {'reached' if measured >= aim else '**missed**'} |"


def short(value: float) -> str:
    """A share of one.

    >>> short(0.8831), short(1.0)
    ('.883', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def rate(number: int, seconds: float) -> str:
    """How many a second.

    >>> rate(1000, 0.5), rate(1000, 0)
    ('2,000', '–')
    """
    return f"{number / seconds:,.0f}" if seconds else "–"


def ratio(one: float, other: float) -> str:
    """How many times as much, with as many digits as mean anything.

    >>> ratio(3, 2), ratio(300, 2), ratio(3, 0)
    ('1.5', '150', '–')
    """
    if not other:
        return "–"
    return f"{one / other:.1f}" if one < 100 * other else f"{one / other:,.0f}"
