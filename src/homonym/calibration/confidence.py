"""The confidence of a mention, learnt without labels from pseudo-names, whose authors are known.

For a mention of an author with several mentions it is the probability that the mention is correct: that it belongs to
the person who has most mentions of the author. For a lone mention, the only one of its author, it is the probability
that nothing is missing: that its person has no other mention in the block.

Both are read from calibration curves over the margin: how far a mention's fit to its own author exceeds both the limit
and the fit to the second-best author; for a lone mention, how far the fit to the best author stays below the limit.
Where real blocks are harder than pseudo-names (see `find_doubt`), confidence is pulled towards ½.

Nothing is known of a mention that was compared with no other: the only mention of a block, which is complete by
definition, and a mention without features. Its confidence is NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Floats, Integers
from homonym.measures.agreement import is_right
from homonym.measures.methods import LabelledNames, labelled_codes
from homonym.runtime.thread_pool import map_in_order
from homonym.settings import Settings

# Margins are logarithms of ratios; larger ones are cut to this.
LARGEST_MARGIN = 20.0
# Number of draws of pseudo-names: more than for the limit, because each bin of mentions has to be estimated.
DRAWS = 10
# Minimum number of mentions per bin.
MIN_BIN_MENTIONS = 50
# Share of missing mentions that have no more in common with the rest of their author than mentions of other people
# have. The people of pseudo-names are chosen because their mentions hold together, so these are not among them.
UNRELATED = 0.2
# Number of lone mentions that the average of all pseudo-names counts as much as, beside those of the block.
USUAL_LONE = 1.0
# Lowest prior probability that a lone mention of a block is complete, before its margin is used.
LOWEST_PRIOR = 0.02
# A run warns from this doubt on, and if this share of the mentions is in blocks larger than all pseudo-names.
MUCH_DOUBT, MANY_MENTIONS = 0.03, 0.25
# Quantiles of closeness, on pseudo-names, from which on an author counts as close.
CLOSE_QUANTILES = np.linspace(0.5, 0.99, 50)

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """A step function that rises with the margin: `share[i]` from `margin[i]` on, the first one also below."""

    margin: Floats
    share: Floats

    def at(self, margin: Floats) -> Floats:
        """The share for each margin."""
        shares: Floats = self.share[self.step_of(margin)]
        return shares

    def step_of(self, margin: Floats) -> Integers:
        """The step of each margin."""
        step: Integers = np.maximum(np.searchsorted(self.margin, margin, side="right") - 1, 0)
        return step


@dataclass(frozen=True, eq=False)
class LoneMentions:
    """What pseudo-names say about lone mentions.

    `curve` is the share of complete ones, those whose person has no other mention, by margin, and `complete` their
    share at all margins. Of all mentions of pseudo-names, `lone` are found alone, and `missing` are found alone
    although they are not complete.
    """

    curve: CalibrationCurve
    complete: float
    lone: float
    missing: float

    def at(self, margin: Floats, prior: Floats) -> Floats:
        """The probability of being complete, from the margin and the share that is expected in the block.

        By Bayes' rule on the odds. Of the missing mentions, the share `UNRELATED` has margins like complete ones.
        """
        likelihood_ratio = _odds(self.curve.at(margin)) / _odds(self.complete)
        odds = _odds(prior) / ((1 - UNRELATED) / likelihood_ratio + UNRELATED)
        shares: Floats = odds / (1 + odds)
        return shares

    def prior(self, mentions: Integers, lone: Integers) -> Floats:
        """The share of complete mentions that is expected among the lone mentions of each block.

        A block in which few mentions are alone has few people with one mention, so these are rather fragments. But
        many lone mentions may also be the fragments of a few people, so the share is not raised.
        """
        missing = self.missing * (mentions + USUAL_LONE / self.lone) / (lone + USUAL_LONE)
        shares: Floats = np.minimum(self.complete, np.maximum(1 - missing, LOWEST_PRIOR))
        return shares


@dataclass(frozen=True, eq=False)
class Confidence:
    """The curve of mentions in clusters of two or more, and of lone mentions; None where pseudo-names have none.

    `doubt` is the share of mentions to which pseudo-names do not apply: these count as right in half of the cases.
    """

    clustered: CalibrationCurve | None
    lone: LoneMentions | None
    doubt: float = 0.0

    def of(self, clustering: Clustering) -> Floats:
        """The confidence of each mention of a clustering with margins, NaN if nothing is known."""
        margin, is_lone = margins(clustering)
        share = np.full(len(margin), np.nan)
        if self.clustered:
            share[~is_lone] = self.clustered.at(margin[~is_lone])
        if self.lone:
            block, mentions = _block_of_mentions(clustering.block_start)
            prior = self.lone.prior(mentions, np.bincount(block, is_lone, len(mentions)))
            share[is_lone] = self.lone.at(margin[is_lone], prior[block[is_lone]])
        share[~is_compared(clustering)] = np.nan
        return share + self.doubt * (0.5 - share)


def confidence_to_json(confidence: Confidence) -> dict[str, Any]:
    """A confidence model as values of JSON, so that later updates of a result use the same."""
    lone = confidence.lone
    return {
        "doubt": confidence.doubt,
        "clustered": _curve_to_json(confidence.clustered) if confidence.clustered else None,
        "lone": lone
        and {
            "curve": _curve_to_json(lone.curve),
            "complete": lone.complete,
            "lone": lone.lone,
            "missing": lone.missing,
        },
    }


def _curve_to_json(curve: CalibrationCurve) -> dict[str, list[float]]:
    return {"margin": curve.margin.tolist(), "share": curve.share.tolist()}


def confidence_from_json(values: Mapping[str, Any]) -> Confidence:
    """The model that `confidence_to_json` has given.

    >>> curve = CalibrationCurve(np.array([0.0, 1.5]), np.array([0.25, 0.75]))
    >>> model = Confidence(curve, LoneMentions(curve, 0.5, 0.25, 0.125), doubt=0.01)
    >>> confidence_to_json(confidence_from_json(confidence_to_json(model))) == confidence_to_json(model)
    True
    """
    clustered, lone = values["clustered"], values["lone"]
    return Confidence(
        _curve_from_json(clustered) if clustered else None,
        LoneMentions(_curve_from_json(lone["curve"]), lone["complete"], lone["lone"], lone["missing"])
        if lone
        else None,
        values["doubt"],
    )


def _curve_from_json(values: Mapping[str, list[float]]) -> CalibrationCurve:
    return CalibrationCurve(np.array(values["margin"], np.float64), np.array(values["share"], np.float64))


def margins(clustering: Clustering) -> tuple[Floats, Mask]:
    """The margin of each mention, and whether it is a lone mention."""
    limit = _log(np.repeat(clustering.limit, np.diff(clustering.block_start)))
    own, other, is_lone = _log(clustering.own), _log(clustering.other), np.isnan(clustering.own)
    margin = np.where(is_lone, limit - other, np.minimum(own - limit, own - other))
    return np.clip(margin, -LARGEST_MARGIN, LARGEST_MARGIN), is_lone


def is_compared(clustering: Clustering) -> Mask:
    """Which mentions can be compared: they have features, and their block has other mentions."""
    block, mentions = _block_of_mentions(clustering.block_start)
    compared: Mask = clustering.has_features & (mentions[block] > 1)
    return compared


class Observed(NamedTuple):
    """Mentions of pseudo-names: margin, lone or not, number of the name, and whether its confidence should be high."""

    margin: Floats
    is_lone: Mask
    name: Integers
    right: Mask

    def select(self, chosen: Mask) -> Observed:
        """Some of the mentions."""
        margin, is_lone, name, right = self
        return Observed(margin[chosen], is_lone[chosen], name[chosen], right[chosen])


ClusteredNames = tuple[LabelledNames, Clustering]


def cluster_names(drawn: Iterable[LabelledNames], settings: Settings, threads: int = 1) -> list[ClusteredNames]:
    """Cluster pseudo-names with the settings of the run, with margins, while the next ones are drawn."""

    def clustered(names: LabelledNames) -> Clustering:
        return cluster(
            names.bags, names.frequencies, settings, constraints=names.constraints,
            names=names.name_prior_for(settings), margins=True, limit_sizes=names.limit_mentions,
        )  # fmt: skip

    return list(map_in_order(clustered, drawn, threads))


def learn_confidence(drawn: Sequence[ClusteredNames], real: Sequence[Clustering] = ()) -> Confidence:
    """Learn from clustered pseudo-names; `real` are real blocks to compare them with."""
    parts = [_observe(number, *found) for number, found in enumerate(drawn)]
    observed = Observed(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    clustered, lone = observed.select(~observed.is_lone), observed.select(observed.is_lone)
    return Confidence(
        _learn_clustered(clustered) if len(clustered.margin) else None,
        _learn_lone(lone, len(observed.margin)) if len(lone.margin) else None,
        find_doubt(real, [clustering for _, clustering in drawn]),
    )


def _observe(draw: int, names: LabelledNames, clustering: Clustering) -> Observed:
    """What one draw of pseudo-names shows, of all mentions that can be compared; all of them have labels."""
    margin, is_lone = margins(clustering)
    name, author, found = labelled_codes(names, clustering.label)
    right = is_right(name, author, found, is_lone)
    return Observed(margin, is_lone, draw << 32 | name, right).select(is_compared(clustering))


def learn_curve(observed: Observed, usual: float = 0.5) -> CalibrationCurve:
    """The isotonic regression of the share that is right, smoothed towards the `usual` share.

    A wrong merge concerns many mentions of a name at once, so names are counted: of n names with the share p, (n·p +
    2·usual)/(n + 2) are expected to be right; with ½ this is the rule of succession. No share is higher than that of a
    larger margin, of which pseudo-names may show few.
    """
    curve = isotonic_regression(observed.margin, observed.right)
    step_of_name = np.unique(np.stack([curve.step_of(observed.margin), observed.name]), axis=1)[0]
    names = np.bincount(step_of_name, minlength=len(curve.margin))
    share = (names * curve.share + 2 * usual) / (names + 2)
    return CalibrationCurve(curve.margin, np.minimum.accumulate(share[::-1])[::-1])


def _learn_clustered(clustered: Observed) -> CalibrationCurve:
    """Shares of margins that few names have are smoothed towards the share of all, by the rule of succession.

    Lone mentions are not: there, pseudo-names say too much already (see UNRELATED).
    """
    names = len(np.unique(clustered.name))
    return learn_curve(clustered, (names * clustered.right.mean() + 1) / (names + 2))


def _learn_lone(lone: Observed, mentions: int) -> LoneMentions:
    count, complete = len(lone.right), int(lone.right.sum())
    return LoneMentions(
        learn_curve(lone), (complete + 1) / (count + 2), count / mentions, (count - complete) / mentions
    )


def find_doubt(real: Sequence[Clustering], pseudo: Sequence[Clustering]) -> float:
    """The share of mentions in real blocks that are closer to another author than pseudo-names allow for; 0 or more.

    The closeness of a clustered mention is its fit to the best other author, compared with the limit. The doubt is how
    many more of the real mentions are close (one-sided Kolmogorov–Smirnov distance over the upper half of closeness);
    mentions that no other author can be joined with do not count.
    """
    there, here = closeness(pseudo), closeness(real)
    there, near = there[np.isfinite(there)], here[np.isfinite(here)]
    if not len(near):
        return 0.0
    more = 1.0
    if len(there):
        bounds = np.quantile(there, CLOSE_QUANTILES)
        more = max(0.0, float((_share_above(near, bounds) - _share_above(there, bounds)).max()))
    return more * len(near) / len(here)


def closeness(clusterings: Sequence[Clustering]) -> Floats:
    """How close the best other author of each clustered mention comes to the limit, as a logarithm; −∞ without one."""
    found = [np.zeros(0)]
    for clustering in clusterings:
        limit = np.repeat(clustering.limit, np.diff(clustering.block_start))
        clustered = is_compared(clustering) & ~np.isnan(clustering.own)
        close = _log(clustering.other[clustered]) - _log(limit[clustered])
        found.append(np.where(clustering.other[clustered] > 0, close, -np.inf))
    return np.concatenate(found)


def confidence_warnings(confidence: Confidence, drawn: Sequence[LabelledNames], sizes: Integers) -> list[str]:
    """Where pseudo-names differ from real blocks, whose sizes are given, so that confidence may be too high."""
    warnings = []
    if confidence.doubt >= MUCH_DOUBT:
        warnings.append(
            "people of the same name are unusually similar in this collection "
            f"({confidence.doubt:.1%} of the mentions): confidence was lowered, and it may still be too high."
        )
    largest = max(int(names.mentions.max()) for names in drawn)
    beyond = sizes[sizes > largest].sum() / sizes.sum()
    if beyond > MANY_MENTIONS:
        warnings.append(
            f"{beyond:.0%} of the mentions have names with more mentions than confidence was learnt on "
            f"({largest:,}): their confidence may be too high."
        )
    return warnings


def _share_above(values: Floats, bounds: Floats) -> Floats:
    """The share of the values above each bound."""
    shares: Floats = 1 - np.searchsorted(np.sort(values), bounds, side="right") / len(values)
    return shares


def isotonic_regression(margin: Floats, correct: NDArray[np.bool_]) -> CalibrationCurve:
    """The best fit that never falls as the margin rises, by pool adjacent violators on bins of `MIN_BIN_MENTIONS`.

    At least one margin is needed. Own code, because scikit-learn is only an optional extra.

    >>> curve = isotonic_regression(np.arange(300.0), np.arange(300) >= 150)
    >>> curve.at(np.array([-1.0, 160.0, 400.0]))
    array([0., 1., 1.])
    """
    values, position, mentions = np.unique(margin, return_inverse=True, return_counts=True)
    correct_count = np.bincount(position, correct)
    # Equal margins stay in one bin, so a bin may be larger than the minimum.
    before = np.append(0, np.cumsum(mentions))
    first = [0]
    while (after := int(np.searchsorted(before, before[first[-1]] + MIN_BIN_MENTIONS))) < len(values) and (
        len(margin) - before[after] >= MIN_BIN_MENTIONS
    ):
        first.append(after)
    bins = values[first], np.add.reduceat(mentions, first), np.add.reduceat(correct_count, first)
    pools: list[tuple[float, int, float]] = []  # the first margin, the mentions, the correct ones of them
    for pool in zip(*bins, strict=True):
        while pools and pool[2] * pools[-1][1] <= pools[-1][2] * pool[1]:
            last = pools.pop()
            pool = (last[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    lowest, size, right = np.array(pools).T
    return CalibrationCurve(lowest, right / size)


def _log(score: Floats) -> Floats:
    """The logarithm, finite for all values: NaN, −∞ and values that are not positive count as a tiny positive one."""
    tiny = np.exp(-4 * LARGEST_MARGIN)
    return np.log(np.maximum(np.nan_to_num(score, nan=tiny), tiny))


def _block_of_mentions(block_start: Integers) -> tuple[Integers, Integers]:
    """The block of each mention, and the number of mentions of each block."""
    mentions = np.diff(block_start)
    return np.repeat(np.arange(len(mentions)), mentions), mentions


def _odds(share: Floats | float) -> Any:
    return share / (1 - share)


def author_confidence(block_start: Integers, label: NDArray[np.int32], confidence: Floats) -> Floats:
    """The confidence of each mention's author: the mean over its mentions with a confidence, NaN if there is none.

    >>> author_confidence(np.array([0, 4]), np.array([0, 0, 1, 2], np.int32), np.array([1.0, 0.5, 0.8, np.nan]))
    array([0.75, 0.75, 0.8 ,  nan])
    """
    author = np.repeat(block_start[:-1], np.diff(block_start)) + label
    known = ~np.isnan(confidence)
    count = np.bincount(author, known)[author]
    total = np.bincount(author, np.where(known, confidence, 0.0))[author]
    mean: Floats = np.divide(total, count, out=np.full(len(author), np.nan), where=count > 0)
    return mean
