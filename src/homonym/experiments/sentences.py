"""Numbers and sentences about a study's results; every number in a sentence is computed from the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from homonym.errors import counted
from homonym.experiments.study_figures import AveragedProcess, best_point, stops_of
from homonym.experiments.study_tables import (
    RunResults,
    StudyResults,
    by_size,
    interval_of,
    lookup,
    mean_f1,
    oracle_mean,
)
from homonym.report.page import percent

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def decimal(value: float | None) -> str:
    """Write a score between 0 and 1; only exactly 0 and 1 are written as such.

    >>> decimal(0.9351), decimal(0.99996), decimal(1.0), decimal(0.0001), decimal(None)
    ('.935', '>.999', '1', '<.001', '–')
    """
    if value is None:
        return "–"
    if value in (0.0, 1.0):
        return f"{value:.0f}"
    return {"1.000": ">.999", "0.000": "<.001"}.get(f"{value:.3f}", f"{value:.3f}".removeprefix("0"))


def signed(value: float | None) -> str:
    """Write a difference with its sign.

    >>> signed(0.0041), signed(-0.002), signed(0.0), signed(None)
    ('+.004', '−.002', '±.000', '–')
    """
    if value is None:
        return "–"
    number = f"{abs(value):.3f}".removeprefix("0")
    sign = "±" if number == ".000" else "+" if value > 0 else "−"
    return f"{sign}{number}"


def signed_interval(interval: Sequence[float] | None) -> str:
    """Write the interval of a difference; empty if there is none."""
    return f"[{signed(interval[0])}, {signed(interval[1])}]" if interval else ""


def small(value: float | None) -> str:
    """Write a part of a limit, which may be very small.

    >>> small(0.0), small(0.0125), small(2.4e-06), small(0.0005), small(None)
    ('0', '0.0125', '2.4·10⁻⁶', '5·10⁻⁴', '–')
    """
    if value is None:
        return "–"
    if value == 0 or abs(value) >= 0.001:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{float(mantissa):g}·10{str(int(exponent)).translate(SUPERSCRIPTS)}"


def limit_text(limit: Mapping[str, float]) -> str:
    """Write a limit by its parts that are not 0.

    >>> limit_text({"alpha": 0.0, "beta": 2.4e-6}), limit_text({"alpha": 0.0, "beta": 0.0})
    ('β 2.4·10⁻⁶', '0')
    """
    parts = (("α", limit["alpha"]), ("β", limit["beta"]))
    return ", ".join(f"{sign} {small(value)}" for sign, value in parts if value) or "0"


def interval_text(low: float | None, high: float | None) -> str:
    """Write an interval of scores; empty if there is none."""
    return "" if low is None or high is None else f"[{decimal(low)}, {decimal(high)}]"


def f1_with_interval(scores: Any) -> str:
    """Write an F1 with its interval.

    >>> f1_with_interval({"f1": 0.93, "interval": [0.921, 0.94]})
    '.930 [.921, .940]'
    """
    return f"{decimal(lookup(scores, 'f1'))} {interval_text(*interval_of(scores))}".rstrip()


def true_authors(size: str) -> str:
    """Write a true size with its noun.

    >>> true_authors("1"), true_authors("10"), true_authors("11+")
    ('1 author', '10 authors', '11 or more authors')
    """
    return "11 or more authors" if size.endswith("+") else counted(int(size), "author")


def quoted_title(run: RunResults) -> str:
    """The title of a run in quotation marks."""
    return f"“{run['title']}”"


def short_title(run: RunResults) -> str:
    """The title of a run in a table, where it is clear that weights are meant.

    >>> short_title({"title": "prob, uniform weights"})
    'prob, uniform'
    """
    title: str = run["title"]
    return title.removesuffix(" weights")


def best_of(runs: Sequence[RunResults]) -> RunResults | None:
    """The run with the highest mean F1; the first one if several share it."""
    return max((run for run in runs if mean_f1(run) is not None), key=lambda run: mean_f1(run) or 0.0, default=None)


def best_sentence(study: StudyResults) -> str:
    """Which run is best, which is worst, and what the baselines reach."""
    ranked = sorted((run for run in study["runs"] if mean_f1(run) is not None), key=lambda run: -(mean_f1(run) or 0.0))
    if not ranked:
        return "No run has test names with ten authors or fewer, so there is no mean F1 to compare."
    text = f"The best of {counted(len(ranked), 'run')} is {_with_mean(ranked[0])}"
    text += f"; the worst is {_with_mean(ranked[-1])}." if len(ranked) > 1 else "."
    bases = [f"{quoted_title(base)} reaches {decimal(mean_f1(base))}" for base in study["baselines"]]
    return f"{text} For comparison: {'; '.join(bases)}." if bases else text


def _with_mean(run: RunResults) -> str:
    return f"{quoted_title(run)} with a mean F1 of {f1_with_interval(run['test'].get('mean_over_sizes'))}"


def finding_sentence(study: StudyResults, key: str) -> str:
    """A finding with its verdict; empty if the study does not have it."""
    one = next((finding for finding in study["findings"] if finding["key"] == key), None)
    return f"“{one['claim']}” Here this is {one['verdict']}: {one['measured']}." if one else ""


def by_size_sentences(run: RunResults) -> str:
    """What the figure of a run's results shows: both ends of the F1 line, its balance, and what the stop loses."""
    rows = by_size(run)
    if not rows:
        return "This run has no test names."
    first, last = next(iter(rows)), list(rows)[-1]
    text = f"F1 is {decimal(rows[first]['bcubed']['f1'])} for names with {true_authors(first)}"
    if last != first:
        text += f" and {decimal(rows[last]['bcubed']['f1'])} for names with {true_authors(last)}"
    return f"{text}. {_balance(rows)} {_lost(rows)}".rstrip()


def _balance(rows: Mapping[str, Mapping[str, Any]]) -> str:
    shared = {size: row["bcubed"] for size, row in rows.items() if size != "1"}
    higher = sum(scores["precision"] > scores["recall"] for scores in shared.values())
    if not shared:
        return ""
    if higher == len(shared):
        return "At every size above 1, precision is higher than recall: authors are split rather than mixed."
    if higher == 0:
        return "At every size above 1, recall is at least as high as precision: authors are mixed rather than split."
    return f"Precision is higher than recall at {higher} of the {counted(len(shared), 'size')} above 1."


def _lost(rows: Mapping[str, Mapping[str, Any]]) -> str:
    lost = {size: row["oracle_f1"] - row["bcubed"]["f1"] for size, row in rows.items() if row.get("oracle_f1")}
    if not lost:
        return ""
    most = max(lost, key=lambda size: lost[size])
    return f"The best possible stop would gain most for names with {true_authors(most)}: {signed(lost[most])}."


def process_sentences(part: AveragedProcess) -> str:
    """Where the names of one true size stopped, and where F1 is highest."""
    total = sum(part["stops"].values())
    best = best_point(part)
    text = f"Mean F1 is highest at {counted(best[0], 'cluster')} ({decimal(best[1])}). " if best else ""
    stops = stops_of(part)
    if stops is None or not total:
        return f"{text}The bars show where {counted(total, 'name')} stopped."
    return (
        f"{text}Of {counted(total, 'name')}, {stops.exact:,} ({percent(stops.exact / total)}) stopped at the true "
        f"number, {stops.too_many:,} before it (authors are split), and {stops.too_few:,} after it (authors are mixed)."
    )


def stopping_sentences(runs: Sequence[RunResults]) -> str:
    """How much F1 the best possible stops would gain for each run."""
    gains = [
        f"{quoted_title(run)}: {decimal(mean)} at our stop, {decimal(best)} at the best possible stop "
        f"({signed(best - mean)})"
        for run in runs
        if (mean := mean_f1(run)) is not None and (best := oracle_mean(run)) is not None
    ]
    return f"Averaged over the true sizes 1 to 10: {'; '.join(gains)}." if gains else ""


def tuning_sentence(runs: Sequence[RunResults]) -> str:
    """What tuning both parts of the limit gains over the better single part, on test names."""
    gains = {}
    for run in runs:
        f1 = {kind: lookup(run, "tuning", kind, "test_f1") for kind in ("alpha", "beta", "both")}
        if None not in f1.values():
            gains[quoted_title(run)] = f1["both"] - max(f1["alpha"], f1["beta"])
    each = "; ".join(f"{title}: {signed(gain)}" for title, gain in gains.items())
    return f"Gain on test names from tuning both parts instead of the better one alone: {each}." if gains else ""


def weights_sentence(study: StudyResults) -> str:
    """What the training of the weights found."""
    learned, trained = study.get("training"), study["weights"].get("trained")
    if not learned or not trained:
        return "No weights were trained in this study."
    most, least = max(trained, key=lambda kind: trained[kind]), min(trained, key=lambda kind: trained[kind])
    return (
        f"The trained weights come from {counted(learned['pairs'], 'pair')} of mentions of training names, sampled "
        f"{counted(learned['seeds'], 'time')}. The classifier decides {percent(learned['accuracy'])} of the pairs "
        f"correctly (standard deviation over samples {percent(learned['accuracy_sd'])}). The largest weight is that of "
        f"{most} ({decimal(trained[most])}), the smallest that of {least} ({decimal(trained[least])})."
    )
