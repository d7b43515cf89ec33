"""The claims of the paper, each confirmed, refuted or undecided by the runs of a study.

Differences are between runs on the same test names, averaged over the true sizes 1 to 10, with a 95 % interval from
resampled names. The claim that one run is better is confirmed if the whole interval is positive, and refuted if the
whole interval is negative. The claim that two runs are equal is confirmed if the interval stays within two points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from homonym.experiments.sentences import signed, signed_interval
from homonym.experiments.study_tables import RunResults
from homonym.measures.agreement import Codes, NameScores, harmonic
from homonym.measures.bootstrap import Estimate, Measure, mean_over_sizes, precision_of, recall_of

Verdict = Literal["confirmed", "refuted", "undecided"]
Pair = tuple[str, str, str]
"""A label, the key of a run, and the key of the run that is subtracted from it."""

# Smaller differences count as equal: the paper calls differences of one or two points almost identical.
EQUAL_WITHIN = 0.02


@dataclass(frozen=True)
class RunDifference:
    """One measured difference between two runs, with a label that names them."""

    label: str
    estimate: Estimate

    def as_list(self) -> list[Any]:
        """The difference as plain values."""
        return [self.label, self.estimate.value, list(self.estimate.interval)]

    def __str__(self) -> str:
        return f"{self.label} {signed(self.estimate.value)} {signed_interval(self.estimate.interval)}"


@dataclass(frozen=True)
class Finding:
    """A claim of the paper, the verdict of this study, and the differences behind it."""

    key: str
    claim: str
    verdict: Verdict
    rows: Sequence[RunDifference]

    def as_dict(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "key": self.key,
            "claim": self.claim,
            "verdict": self.verdict,
            "measured": "; ".join(map(str, self.rows)),
            "rows": [row.as_list() for row in self.rows],
        }


def findings(
    runs: Sequence[RunResults], baselines: Sequence[RunResults], true_size: Codes, types: Sequence[str]
) -> list[Finding]:
    """Test every claim for which the runs exist; `true_size` is that of the test names."""
    compared = _Runs({run["key"]: run for run in [*runs, *baselines]}, true_size)
    made = [
        *_baselines(compared, baselines),
        *_weights(compared),
        *_single_types(compared, types),
        *_variants(compared),
        *_limits(compared),
        *_prob_and_max(compared),
    ]
    return [finding for finding in made if finding.rows]


class _Runs:
    """The runs of a study by key, for computing differences."""

    def __init__(self, runs: Mapping[str, RunResults], true_size: Codes) -> None:
        self.runs = runs
        self.true_size = true_size

    def estimate(self, key: str, measure: Measure = harmonic, limit: str | None = None) -> Estimate:
        values = self.runs[key]["by_name"]
        values = values["limits"][limit] if limit else values
        scores = NameScores(np.array(values["precision"]), np.array(values["recall"]))
        return mean_over_sizes(scores, self.true_size, measure)

    def rows(self, pairs: Sequence[Pair], measure: Measure = harmonic) -> list[RunDifference]:
        """The difference of each pair of runs of which both exist."""
        return self._differences(pairs, lambda key: self.estimate(key, measure))

    def extremes(self, pairs: Sequence[Pair], name: str) -> list[RunDifference]:
        """The same for an extreme of the process: "max_recall" or "max_precision"."""

        def estimate(key: str) -> Estimate:
            values = np.array(self.runs[key]["by_name"][name])
            return mean_over_sizes(NameScores(values, values), self.true_size, precision_of)

        return self._differences(pairs, estimate)

    def _differences(self, pairs: Sequence[Pair], estimate: Callable[[str], Estimate]) -> list[RunDifference]:
        return [
            RunDifference(label, estimate(one) - estimate(other))
            for label, one, other in pairs
            if one in self.runs and other in self.runs
        ]


def better(rows: Sequence[RunDifference]) -> Verdict:
    """The verdict on "all differences are positive": refuted if one whole interval is negative."""
    intervals = [row.estimate.interval for row in rows]
    if all(low > 0 for low, _ in intervals):
        return "confirmed"
    return "refuted" if any(high < 0 for _, high in intervals) else "undecided"


def worse(rows: Sequence[RunDifference]) -> Verdict:
    """The verdict on "all differences are negative"."""
    return better([RunDifference(row.label, Estimate(-row.estimate.value, -row.estimate.replicates)) for row in rows])


def equal(rows: Sequence[RunDifference]) -> Verdict:
    """The verdict on "no difference matters": refuted if one whole interval is outside ±EQUAL_WITHIN."""
    intervals = [row.estimate.interval for row in rows]
    if all(low > -EQUAL_WITHIN and high < EQUAL_WITHIN for low, high in intervals):
        return "confirmed"
    beyond = any(low > EQUAL_WITHIN or high < -EQUAL_WITHIN for low, high in intervals)
    return "refuted" if beyond else "undecided"


def _baselines(compared: _Runs, baselines: Sequence[RunResults]) -> Iterator[Finding]:
    pairs = [(f"prob − {one['title']}", "prob-uniform", one["key"]) for one in baselines]
    rows = sorted(compared.rows(pairs), key=lambda row: row.estimate.value)
    yield Finding("baselines", "The method is better than every baseline.", better(rows), rows)


def _each(
    key: str, claim: str, rows: Sequence[RunDifference], judged: Callable[[Sequence[RunDifference]], Verdict]
) -> Iterator[Finding]:
    """A separate finding for each difference: a claim may hold for one variant and not for the other."""
    for row in rows:
        case = row.label.partition(":")[0]
        yield Finding(f"{key}-{case}", f"{claim} ({case})", judged([row]), [row])


def _for_variants(text: str, one: str, other: str) -> list[Pair]:
    return [(f"{variant}: {text}", f"{variant}-{one}", f"{variant}-{other}") for variant in ("prob", "max")]


def _weights(compared: _Runs) -> Iterator[Finding]:
    rows = compared.rows(_for_variants("uniform − trained", "uniform", "trained"))
    yield from _each("uniform-trained", "Uniform weights do as well as trained ones.", rows, equal)
    rows = compared.rows(_for_variants("opposed − trained", "opposed", "trained"))
    yield from _each("opposed", "Opposed weights are clearly worse than trained ones.", rows, worse)


def _single_types(compared: _Runs, types: Sequence[str]) -> Iterator[Finding]:
    without = [(f"without {kind}", f"prob-without-{kind}", "prob-uniform") for kind in types]
    rows = sorted(compared.rows(without), key=lambda row: row.estimate.value)
    claim = "Co-authors are the most important feature type: leaving them out costs most."
    yield Finding("without-co", claim, _first_is("without co", rows), rows)
    others = [row for row in rows if row.label not in {"without co", "without ref"}]
    claim = "Any other feature type, but for referenced authors, can be left out alone."
    yield Finding("droppable", claim, equal(others), others)
    only = [(f"only {kind}", f"prob-only-{kind}", "prob-uniform") for kind in types]
    rows = sorted(compared.rows(only), key=lambda row: -row.estimate.value)
    claim = "Of single feature types co-authors do best, and might even be used alone."
    yield Finding("only-co", claim, _first_is("only co", rows), rows)
    rows = compared.rows([("authors − uniform", "prob-authors", "prob-uniform")])
    yield Finding("authors", "Co-authors and referenced authors alone perform well.", equal(rows), rows)
    yield from _document(compared)


def _document(compared: _Runs) -> Iterator[Finding]:
    pair = [("document − uniform", "prob-document", "prob-uniform")]
    rows = compared.rows(pair)
    yield Finding("document", "Without features of the author himself F1 is lower.", worse(rows), rows)
    rows = compared.rows(pair, precision_of)
    yield Finding("document-precision", "But precision stays high.", equal(rows), rows)


def _first_is(label: str, rows: Sequence[RunDifference]) -> Verdict:
    """The verdict on "this difference comes first in the sorted rows", by more than chance."""
    if label not in [row.label for row in rows] or len(rows) < 2:
        return "undecided"
    this = next(row for row in rows if row.label == label)
    other = rows[1] if rows[0] is this else rows[0]
    low, high = (this.estimate - other.estimate).interval
    if low <= 0 <= high:
        return "undecided"
    return "confirmed" if rows[0] is this else "refuted"


def _variants(compared: _Runs) -> Iterator[Finding]:
    rows = compared.rows(_for_variants("within − overall", "uniform-within", "uniform"))
    claim = "Frequencies counted within one name are worse than those of the whole collection."
    yield from _each("within", claim, rows, worse)
    rows = compared.rows(_for_variants("p(C,Ċ) − p(C|Ċ)", "uniform-joint", "uniform"))
    yield from _each("joint", "The joint probability is worse than the conditional one (pc_on).", rows, worse)


def _limits(compared: _Runs) -> Iterator[Finding]:
    for variant, own, other in (("prob", "beta", "alpha"), ("max", "alpha", "beta")):
        key = f"{variant}-uniform"
        if key not in compared.runs:
            continue
        greek = {"alpha": "α", "beta": "β"}
        estimates = {kind: compared.estimate(key, limit=kind) for kind in ("alpha", "beta", "both")}
        rows = [RunDifference(f"{greek[own]} alone − both", estimates[own] - estimates["both"])]
        claim = f"{variant}: tuning {greek[own]} alone is enough."
        yield Finding(f"{variant}-one-limit", claim, equal(rows), rows)
        rows = [RunDifference(f"{greek[own]} − {greek[other]}", estimates[own] - estimates[other])]
        claim = f"{variant}: {greek[own]} is the better of the two parameters of the limit."
        yield Finding(f"{variant}-{own}", claim, better(rows), rows)


def _prob_and_max(compared: _Runs) -> Iterator[Finding]:
    pairs = [(f"{weights}: prob − max", f"prob-{weights}", f"max-{weights}") for weights in ("uniform", "trained")]
    yield from _each("prob-f1", "prob reaches a higher F1 than max.", compared.rows(pairs), better)
    yield from _each("prob-recall", "prob has the higher recall.", compared.rows(pairs, recall_of), better)
    yield from _each("max-precision", "max has the higher precision.", compared.rows(pairs, precision_of), worse)
    claim = "The maximum recall at perfect precision is higher with prob."
    yield from _each("process-max-recall", claim, compared.extremes(pairs, "max_recall"), better)
    claim = "The maximum precision at perfect recall is higher with max."
    yield from _each("process-max-precision", claim, compared.extremes(pairs, "max_precision"), worse)
