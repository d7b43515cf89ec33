"""The findings of the paper, each confirmed, refuted or left open by the runs of a study.

Differences are between runs on the same test names, averaged over the true sizes 1 to 10, with the 95 % interval from
drawing the names again. A claim that one is better is confirmed where the whole interval is on its side, refuted where
it is on the other; a claim that two are equal is confirmed where the interval stays within two points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from homonym.measures.bootstrap import Estimate, Measure, mean_over_sizes, precision_of, recall_of
from homonym.measures.contingency import Codes
from homonym.measures.scores import NameScores, harmonic
from homonym.study.sentences import signed

Verdict = Literal["confirmed", "refuted", "undecided"]
Values = Mapping[str, Any]

#: Two that differ by less are as good as each other: the paper calls differences of one or two points almost identical.
EQUAL_WITHIN = 0.02


@dataclass(frozen=True)
class Row:
    """One measured difference: between what, how large, and its interval."""

    label: str
    difference: Estimate

    def as_list(self) -> list[Any]:
        """Give the row as plain values."""
        return [self.label, self.difference.value, list(self.difference.interval)]

    def __str__(self) -> str:
        low, high = self.difference.interval
        return f"{self.label} {signed(self.difference.value)} [{signed(low)}, {signed(high)}]"


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, the verdict of this study, and the differences that it rests on."""

    key: str
    claim: str
    verdict: Verdict
    rows: Sequence[Row]

    def as_dict(self) -> dict[str, Any]:
        """Give the finding as plain values."""
        return {
            "key": self.key,
            "claim": self.claim,
            "verdict": self.verdict,
            "measured": "; ".join(map(str, self.rows)),
            "rows": [row.as_list() for row in self.rows],
        }


def findings(
    runs: Sequence[Values], baselines: Sequence[Values], true_size: Codes, types: Sequence[str]
) -> list[Finding]:
    """Judge every finding that the runs allow; `true_size` is that of the test names."""
    compared = _Compared({run["key"]: run for run in [*runs, *baselines]}, true_size)
    made = [
        *_baselines(compared, baselines),
        *_weights(compared),
        *_single_types(compared, types),
        *_variants(compared),
        *_limits(compared),
        *_prob_and_max(compared),
    ]
    return [finding for finding in made if finding.rows]


class _Compared:
    """The runs of a study, ready to be subtracted."""

    def __init__(self, runs: Mapping[str, Values], true_size: Codes) -> None:
        self.runs = runs
        self.true_size = true_size

    def estimate(self, key: str, measure: Measure = harmonic, limit: str | None = None) -> Estimate:
        values = self.runs[key]["by_name"]
        values = values["limits"][limit] if limit else values
        scores = NameScores(np.array(values["precision"]), np.array(values["recall"]))
        return mean_over_sizes(scores, self.true_size, measure)

    def rows(self, pairs: Sequence[tuple[str, str, str]], measure: Measure = harmonic) -> list[Row]:
        """One minus another, for those pairs of which both were run."""
        return [
            Row(label, self.estimate(one, measure) - self.estimate(other, measure))
            for label, one, other in pairs
            if one in self.runs and other in self.runs
        ]

    def extremes(self, pairs: Sequence[tuple[str, str, str]], name: str) -> list[Row]:
        """The same of what the process reached at best: maximum recall or precision."""

        def estimate(key: str) -> Estimate:
            values = np.array(self.runs[key]["by_name"][name])
            return mean_over_sizes(NameScores(values, values), self.true_size, precision_of)

        return [
            Row(label, estimate(one) - estimate(other))
            for label, one, other in pairs
            if one in self.runs and other in self.runs
        ]


def better(rows: Sequence[Row]) -> Verdict:
    """All differences are positive: confirmed if every interval is, refuted if one is negative altogether."""
    intervals = [row.difference.interval for row in rows]
    if all(low > 0 for low, _ in intervals):
        return "confirmed"
    return "refuted" if any(high < 0 for _, high in intervals) else "undecided"


def worse(rows: Sequence[Row]) -> Verdict:
    """All differences are negative."""
    return better([Row(row.label, Estimate(-row.difference.value, -row.difference.replicates)) for row in rows])


def equal(rows: Sequence[Row]) -> Verdict:
    """No difference matters: confirmed if every interval is narrow enough, refuted if one is beyond altogether."""
    intervals = [row.difference.interval for row in rows]
    if all(low > -EQUAL_WITHIN and high < EQUAL_WITHIN for low, high in intervals):
        return "confirmed"
    beyond = any(low > EQUAL_WITHIN or high < -EQUAL_WITHIN for low, high in intervals)
    return "refuted" if beyond else "undecided"


def _baselines(compared: _Compared, baselines: Sequence[Values]) -> Iterator[Finding]:
    pairs = [(f"prob − {one['title']}", "prob-uniform", one["key"]) for one in baselines]
    rows = sorted(compared.rows(pairs), key=lambda row: row.difference.value)
    yield Finding("baselines", "The method is better than every baseline.", better(rows), rows)


def _each(key: str, claim: str, rows: Sequence[Row], judged: Callable[[Sequence[Row]], Verdict]) -> Iterator[Finding]:
    """The same claim for each row by itself: what holds with one variant may not with the other."""
    for row in rows:
        case = row.label.partition(":")[0]
        yield Finding(f"{key}-{case}", f"{claim} ({case})", judged([row]), [row])


def _for_variants(text: str, one: str, other: str) -> list[tuple[str, str, str]]:
    return [(f"{variant}: {text}", f"{variant}-{one}", f"{variant}-{other}") for variant in ("prob", "max")]


def _weights(compared: _Compared) -> Iterator[Finding]:
    rows = compared.rows(_for_variants("uniform − trained", "uniform", "trained"))
    yield from _each("uniform-trained", "Uniform weights do as well as trained ones.", rows, equal)
    rows = compared.rows(_for_variants("opposed − trained", "opposed", "trained"))
    yield from _each("opposed", "Opposed weights are clearly worse than trained ones.", rows, worse)


def _single_types(compared: _Compared, types: Sequence[str]) -> Iterator[Finding]:
    without = [(f"without {kind}", f"prob-without-{kind}", "prob-uniform") for kind in types]
    rows = sorted(compared.rows(without), key=lambda row: row.difference.value)
    claim = "Co-authors are the most important feature type: leaving them out costs most."
    yield Finding("without-co", claim, _first_is("without co", rows), rows)
    others = [row for row in rows if row.label not in {"without co", "without ref"}]
    claim = "Any other feature type, but for referenced authors, can be left out alone."
    yield Finding("droppable", claim, equal(others), others)
    only = [(f"only {kind}", f"prob-only-{kind}", "prob-uniform") for kind in types]
    rows = sorted(compared.rows(only), key=lambda row: -row.difference.value)
    claim = "Of single feature types co-authors do best, and might even be used alone."
    yield Finding("only-co", claim, _first_is("only co", rows), rows)
    rows = compared.rows([("authors − uniform", "prob-authors", "prob-uniform")])
    yield Finding("authors", "Co-authors and referenced authors alone perform well.", equal(rows), rows)
    yield from _document(compared)


def _document(compared: _Compared) -> Iterator[Finding]:
    pair = [("document − uniform", "prob-document", "prob-uniform")]
    rows = compared.rows(pair)
    yield Finding("document", "Without features of the author himself F1 is lower.", worse(rows), rows)
    rows = compared.rows(pair, precision_of)
    yield Finding("document-precision", "But precision stays high.", equal(rows), rows)


def _first_is(label: str, rows: Sequence[Row]) -> Verdict:
    """Whether one row is the first of all, by more than chance."""
    if label not in [row.label for row in rows] or len(rows) < 2:
        return "undecided"
    this = next(row for row in rows if row.label == label)
    rival = rows[1] if rows[0] is this else rows[0]
    low, high = (this.difference - rival.difference).interval
    if low <= 0 <= high:
        return "undecided"
    return "confirmed" if rows[0] is this else "refuted"


def _variants(compared: _Compared) -> Iterator[Finding]:
    rows = compared.rows(_for_variants("within − overall", "uniform-within", "uniform"))
    claim = "Frequencies counted within one name are worse than those of the whole collection."
    yield from _each("within", claim, rows, worse)
    rows = compared.rows(_for_variants("p(C,Ċ) − p(C|Ċ)", "uniform-joint", "uniform"))
    yield from _each("joint", "The joint probability is worse than the conditional one (pc_on).", rows, worse)


def _limits(compared: _Compared) -> Iterator[Finding]:
    for variant, own, other in (("prob", "beta", "alpha"), ("max", "alpha", "beta")):
        key = f"{variant}-uniform"
        if key not in compared.runs:
            continue
        greek = {"alpha": "α", "beta": "β"}
        estimates = {kind: compared.estimate(key, limit=kind) for kind in ("alpha", "beta", "both")}
        rows = [Row(f"{greek[own]} alone − both", estimates[own] - estimates["both"])]
        claim = f"{variant}: tuning {greek[own]} alone is enough."
        yield Finding(f"{variant}-one-limit", claim, equal(rows), rows)
        rows = [Row(f"{greek[own]} − {greek[other]}", estimates[own] - estimates[other])]
        claim = f"{variant}: {greek[own]} is the better of the two parameters of the limit."
        yield Finding(f"{variant}-{own}", claim, better(rows), rows)


def _prob_and_max(compared: _Compared) -> Iterator[Finding]:
    pairs = [(f"{weights}: prob − max", f"prob-{weights}", f"max-{weights}") for weights in ("uniform", "trained")]
    yield from _each("prob-f1", "prob reaches a higher F1 than max.", compared.rows(pairs), better)
    yield from _each("prob-recall", "prob has the higher recall.", compared.rows(pairs, recall_of), better)
    yield from _each("max-precision", "max has the higher precision.", compared.rows(pairs, precision_of), worse)
    claim = "The maximum recall at perfect precision is higher with prob."
    yield from _each("process-max-recall", claim, compared.extremes(pairs, "max_recall"), better)
    claim = "The maximum precision at perfect recall is higher with max."
    yield from _each("process-max-precision", claim, compared.extremes(pairs, "max_precision"), worse)
