"""Confidence: calibration curves, margins, lone mentions, the comparison with real blocks, and the result."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from homonym.calibration.confidence import (
    LARGEST_MARGIN,
    MIN_BIN_MENTIONS,
    MUCH_DOUBT,
    CalibrationCurve,
    Confidence,
    LoneMentions,
    Observed,
    author_confidence,
    cluster_names,
    confidence_to_json,
    confidence_warnings,
    find_doubt,
    is_compared,
    isotonic_regression,
    learn_confidence,
    learn_curve,
    margins,
)
from homonym.calibration.pseudonames import build_pseudonames
from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Bags, Floats, Frequencies, starts
from homonym.commands.disambiguate import disambiguate
from homonym.commands.generate import generate
from homonym.measures.agreement import correctly_clustered, is_right
from homonym.measures.methods import LabelledNames, labelled_codes
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus
from tests.calibration.test_pseudonames import composition_of, large_pool
from tests.support.profiles import examples

Answers = tuple[Floats, NDArray[np.bool_]]


@st.composite
def answers(draw: st.DrawFn) -> Answers:
    """Margins with or without ties, and which mentions are correct: at random, or more often with a larger margin."""
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    mentions = draw(st.integers(1, 12 * MIN_BIN_MENTIONS))
    margin = generator.uniform(-5, 5, mentions)
    if draw(st.booleans()):
        margin = margin.round(draw(st.integers(0, 1)))
    slope = draw(st.floats(0, 2))
    right = generator.uniform(size=mentions) < 1 / (1 + np.exp(-slope * margin))
    order = draw(st.sampled_from(["any", "wrong ones first"]))
    if order == "wrong ones first":
        first = np.argsort(right, kind="stable")
        margin, right = margin[first], right[first]
    return margin, right


@settings(max_examples=examples(200))
@given(answers())
def test_isotonic_regression_never_falls_and_stays_between_0_and_1(answer: Answers) -> None:
    steps = isotonic_regression(*answer)
    assert (np.diff(steps.margin) > 0).all(), "each margin has one share"
    assert (np.diff(steps.share) > 0).all()
    assert 0 <= steps.share.min() <= steps.share.max() <= 1
    everywhere = steps.at(np.linspace(-30, 30, 500))
    assert (np.diff(everywhere) >= 0).all()
    assert everywhere[0] == steps.share[0]
    assert everywhere[-1] == steps.share[-1]


@settings(max_examples=examples(200))
@given(answers())
def test_isotonic_regression_keeps_the_total(answer: Answers) -> None:
    margin, right = answer
    assert isotonic_regression(margin, right).at(margin).sum() == pytest.approx(right.sum())


@given(answers(), st.integers(0, 100))
def test_isotonic_regression_does_not_depend_on_order(answer: Answers, seed: int) -> None:
    margin, right = answer
    order = np.random.default_rng(seed).permutation(len(margin))
    first, again = isotonic_regression(margin, right), isotonic_regression(margin[order], right[order])
    assert first.at(margin) == pytest.approx(again.at(margin))


@given(st.lists(st.integers(0, MIN_BIN_MENTIONS), min_size=1, max_size=6, unique=True))
def test_isotonic_regression_of_rising_data_is_exact(held: list[int]) -> None:
    """The minimum number of mentions at each margin, more and more of them correct."""
    held.sort()
    margin = np.repeat(np.arange(float(len(held))), MIN_BIN_MENTIONS) + np.tile(
        np.linspace(0, 0.5, MIN_BIN_MENTIONS), len(held)
    )
    right = np.concatenate([np.arange(MIN_BIN_MENTIONS) < number for number in held])
    steps = isotonic_regression(margin, right)
    assert steps.share == pytest.approx(np.array(held) / MIN_BIN_MENTIONS)
    assert steps.margin.tolist() == list(range(len(held)))


def test_equal_margins_have_one_share() -> None:
    """Half of the mentions with this margin are correct, in whatever order."""
    right = np.arange(4 * MIN_BIN_MENTIONS) >= 2 * MIN_BIN_MENTIONS
    assert isotonic_regression(np.full(len(right), 3.0), right).at(np.array([3.0])) == pytest.approx(0.5)


@settings(max_examples=examples(200))
@given(answers())
def test_each_step_has_the_minimum_number_of_mentions(answer: Answers) -> None:
    margin, right = answer
    first = np.searchsorted(np.sort(margin), isotonic_regression(margin, right).margin)
    assert np.diff(np.append(first, len(margin))).min() >= min(MIN_BIN_MENTIONS, len(margin))


def observed(margin: Floats, right: NDArray[np.bool_], name: NDArray[np.int64]) -> Observed:
    return Observed(margin, np.zeros(len(margin), bool), name, right)


@settings(max_examples=examples(200))
@given(answers(), st.integers(1, 40))
def test_smoothed_curve_never_falls_and_is_never_certain(answer: Answers, names: int) -> None:
    margin, right = answer
    curve = learn_curve(observed(margin, right, np.arange(len(margin)) % names))
    assert (np.diff(curve.share) >= 0).all()
    assert curve.share.min() >= 1 / (names + 2) - 1e-12
    assert curve.share.max() <= 1 - 1 / (names + 2) + 1e-12


def test_smoothing_counts_names_not_mentions() -> None:
    margin, right = np.zeros(400), np.ones(400, bool)
    of_one, of_many = (learn_curve(observed(margin, right, name)) for name in (np.zeros(400, np.int64), np.arange(400)))
    assert of_one.share.tolist() == [2 / 3]
    assert of_many.share.tolist() == [401 / 402]


def test_a_margin_that_few_names_show_has_nearly_the_usual_share() -> None:
    margin, right = np.zeros(400), np.ones(400, bool)
    assert learn_curve(observed(margin, right, np.zeros(400, np.int64)), usual=0.9).share.tolist() == [2.8 / 3]


members = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(members)
def test_correctly_clustered_equals_its_literal_definition(mentions: list[tuple[int, int, int]]) -> None:
    expected = []
    for name, author, group in mentions:
        authors = Counter(a for n, a, c in mentions if (n, c) == (name, group))
        main = min(authors, key=lambda one: (-authors[one], one))
        expected.append(author == main)
    found = correctly_clustered(*np.array(mentions).T)
    assert found.tolist() == expected


@given(members, st.integers(0, 100))
def test_correctly_clustered_does_not_depend_on_order(mentions: list[tuple[int, int, int]], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(mentions))
    whole = np.array(mentions)
    assert correctly_clustered(*whole[order].T).tolist() == correctly_clustered(*whole.T)[order].tolist()


def answered(limit: list[float], own: list[float], other: list[float]) -> Clustering:
    """A clustering with one mention in each block."""
    count = len(own)
    none = np.zeros(count, np.int32)
    return Clustering(
        block_start=np.arange(count + 1),
        limit=np.array(limit),
        label=none,
        rounds=none,
        merge_round=none,
        merge_left=none,
        merge_right=none,
        merge_score=np.zeros(count),
        own=np.array(own),
        other=np.array(other),
        has_features=np.ones(count, bool),
    )


def one_block(limit: float, own: list[float], other: list[float]) -> Clustering:
    """The same mentions in one block."""
    found = answered([limit] * len(own), own, other)
    return replace(found, block_start=np.array([0, len(own)]), limit=np.array([limit]))


scores = st.floats(1e-12, 1.0)


@given(limit=scores, own=scores, other=scores)
def test_margin_is_positive_if_own_exceeds_limit_and_other(limit: float, own: float, other: float) -> None:
    (margin,), (singleton,) = margins(answered([limit], [own], [other]))
    assert not singleton
    assert margin == pytest.approx(np.clip(np.log(own / max(limit, other)), -LARGEST_MARGIN, LARGEST_MARGIN), abs=1e-9)
    (without_other,), _ = margins(answered([limit], [own], [-np.inf]))
    assert without_other >= margin
    assert without_other == pytest.approx(np.clip(np.log(own / limit), -LARGEST_MARGIN, LARGEST_MARGIN), abs=1e-9)


anything = st.floats(allow_nan=True, allow_infinity=True)


CURVE = CalibrationCurve(np.array([-1.0, 0.5]), np.array([0.25, 0.75]))
LONE = LoneMentions(CURVE, complete=0.6, lone=0.2, missing=0.08)


@given(st.floats(0, 1e300), st.lists(st.tuples(anything, anything), min_size=2, max_size=20), st.floats(0, 1))
def test_margins_are_finite_and_confidence_is_a_probability(
    limit: float, values: list[tuple[float, float]], doubt: float
) -> None:
    own, other = (list(column) for column in zip(*values, strict=True))
    clustering = one_block(limit, own, other)
    margin, lone = margins(clustering)
    assert np.isfinite(margin).all()
    assert (np.abs(margin) <= LARGEST_MARGIN).all()
    assert lone.tolist() == [np.isnan(score) for score in own]
    sure, unsure = (Confidence(CURVE, LONE, part).of(clustering) for part in (0.0, doubt))
    assert set(sure[~lone].tolist()) <= {0.25, 0.75}
    assert ((sure > 0) & (sure < 1)).all()
    assert (np.abs(unsure - 0.5) <= np.abs(sure - 0.5) + 1e-12).all()
    assert unsure == pytest.approx((1 - doubt) * sure + doubt / 2)


def test_nothing_is_known_of_a_mention_that_is_compared_with_none() -> None:
    """The only mention of a block, and a mention without features; and no curve if pseudo-names have no such case."""
    alone = answered([0.1, 0.1], [np.nan, np.nan], [-np.inf, -np.inf])
    assert np.isnan(Confidence(CURVE, LONE).of(alone)).all()
    block = one_block(0.1, [0.5, 0.5, np.nan, np.nan], [0.01] * 4)
    featureless = replace(block, has_features=np.array([True, False, True, False]))
    assert np.isnan(Confidence(CURVE, LONE).of(featureless)).tolist() == [False, True, False, True]
    assert np.isnan(Confidence(CURVE, None).of(block)).tolist() == [False, False, True, True]
    assert np.isnan(Confidence(None, LONE).of(block)).tolist() == [True, True, False, False]


@given(limit=scores, near=scores, far=scores)
def test_a_lone_mention_is_surer_the_less_it_fits_others(limit: float, near: float, far: float) -> None:
    near, far = max(near, far), min(near, far)
    confidence = Confidence(CURVE, LONE).of(one_block(limit, [np.nan, np.nan, 1.0, 1.0], [near, far, 0.0, 0.0]))
    assert confidence[0] <= confidence[1]


@given(st.integers(1, 50), st.integers(0, 50), st.integers(1, 50))
def test_lone_mentions_are_surer_where_many_are_alone(lone: int, clustered: int, more: int) -> None:
    few, many = LONE.prior(np.full(2, lone + clustered + more), np.array([lone, lone + more]))
    assert few <= many


def test_lone_mentions_of_an_average_block_have_the_share_of_pseudonames() -> None:
    """With the mentions and lone mentions of pseudo-names, .6 = 1 − .08 / .2 are complete."""
    assert LONE.prior(np.array([1000]), np.array([200])) == pytest.approx(0.6)


def cluster_of(closeness: Floats) -> Clustering:
    """A block of clustered mentions whose best other author has these logarithms of score and limit."""
    return one_block(1.0, [1.0] * len(closeness), np.exp(closeness).tolist())


def test_doubt_is_the_share_of_mentions_that_are_closer_to_others_than_in_pseudonames() -> None:
    pseudo = np.linspace(-4, 0, 1000)
    assert find_doubt([], [cluster_of(pseudo)]) == 0
    assert find_doubt([cluster_of(pseudo)], [cluster_of(pseudo)]) == 0
    assert find_doubt([cluster_of(pseudo - 1)], [cluster_of(pseudo)]) == 0, "easier blocks raise no doubt"
    closer = np.where(np.arange(1000) % 5 == 0, -0.01, pseudo)
    assert find_doubt([cluster_of(closer)], [cluster_of(pseudo)]) == pytest.approx(0.2, abs=0.02)
    without_others = np.concatenate([closer, np.full(1000, -np.inf)])
    assert find_doubt([cluster_of(without_others)], [cluster_of(pseudo)]) == pytest.approx(0.1, abs=0.01)


def test_doubt_and_large_blocks_are_warnings() -> None:
    names = [topical(4, 6, seed=1)]  # names of 12 mentions
    small, large = np.array([5, 12]), np.array([5, 200])
    sure, unsure = Confidence(CURVE, LONE), Confidence(CURVE, LONE, MUCH_DOUBT)
    assert confidence_warnings(sure, names, small) == []
    (similar,) = confidence_warnings(unsure, names, small)
    assert "3.0% of the mentions" in similar
    (larger,) = confidence_warnings(sure, names, large)
    assert larger.startswith("98% of the mentions have names with more mentions than confidence was learnt on")
    assert len(confidence_warnings(unsure, names, large)) == 2


known_or_not = st.one_of(st.floats(0, 1), st.just(math.nan))


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), known_or_not), min_size=1, max_size=6), min_size=1))
def test_author_confidence_is_the_mean_over_known_mentions(blocks: list[list[tuple[int, float]]]) -> None:
    label = [[members.index(author) for author in members] for members in ([a for a, _ in block] for block in blocks)]
    confidence = [[value for _, value in block] for block in blocks]
    found = author_confidence(
        starts(np.array([len(block) for block in blocks])),
        np.concatenate(label).astype(np.int32),
        np.concatenate(confidence),
    )
    expected = []
    for labels, values in zip(label, confidence, strict=True):
        by_author: dict[int, list[float]] = defaultdict(list)
        for author, value in zip(labels, values, strict=True):
            by_author[author] += [] if math.isnan(value) else [value]
        expected += [float(np.mean(by_author[author])) if by_author[author] else math.nan for author in labels]
    assert found == pytest.approx(np.array(expected), nan_ok=True)


def topical(people: int, mentions: int, seed: int) -> LabelledNames:
    """Names of two people each; how many of their words are shared with others differs between names."""
    generator = np.random.default_rng(seed)
    names, words = people // 2, 6
    author = np.repeat(np.arange(people), mentions)
    own = generator.integers(0, words, (len(author), 3)) + words * author[:, None]
    strange = generator.uniform(size=own.shape) < generator.uniform(0, 0.9, names)[author // 2][:, None]
    feature = np.where(strange, generator.integers(0, words * people, own.shape), own)
    total = np.bincount(feature.ravel(), minlength=words * people).astype(np.float64)
    return LabelledNames(
        key=[str(name) for name in range(names)],
        bags=Bags(
            starts(np.full(names, 2 * mentions)),
            3 * np.arange(len(author) + 1),
            feature.ravel().astype(np.int32),
            np.ones(feature.size),
        ),
        frequencies=Frequencies(("term",), np.array([0, len(total)]), total, np.array([total.sum()]), len(author)),
        author=author,
        written=[None] * len(author),
    )


def answers_of(names: LabelledNames, run: Settings, confidence: Confidence) -> tuple[Floats, NDArray[np.bool_], Any]:
    """The stated confidence of each mention, whether it is right, and whether it is alone."""
    answer = cluster(names.bags, names.frequencies, run, margins=True)
    lone = np.isnan(answer.own)
    assert is_compared(answer).all()
    return confidence.of(answer), is_right(*labelled_codes(names, answer.label), lone), lone


def test_confidence_is_near_the_correct_share_on_the_training_names() -> None:
    run = Settings(kappa=3.0)
    drawn = [topical(200, 6, seed) for seed in (1, 2)]
    confidence = learn_confidence(cluster_names(drawn, run))
    assert confidence.doubt == 0
    parts = [answers_of(names, run, confidence) for names in drawn]
    predicted, right, lone = (np.concatenate(part) for part in zip(*parts, strict=True))
    assert 0.3 < right[~lone].mean() < 0.98, "otherwise the test checks nothing"
    assert len(np.unique(predicted[~lone])) > 3
    for share in np.unique(predicted[~lone]):
        assert right[~lone & (predicted == share)].mean() == pytest.approx(share, abs=0.06)


def test_confidence_does_not_depend_on_the_number_of_threads() -> None:
    run = Settings(kappa=3.0)
    drawn = [topical(200, 6, seed) for seed in (1, 2, 3)]
    one, several = (confidence_to_json(learn_confidence(cluster_names(drawn, run, threads))) for threads in (1, 3))
    assert one == several


def test_confidence_is_learnt_at_the_limit_of_the_copied_blocks() -> None:
    names = topical(200, 6, 1)
    of_larger_blocks = replace(names, limit_mentions=4 * names.mentions)
    twice_the_limit = learn_confidence(cluster_names([names], Settings(kappa=6.0)))
    found = learn_confidence(cluster_names([of_larger_blocks], Settings(kappa=3.0)))
    assert confidence_to_json(found) == confidence_to_json(twice_the_limit)


def test_confidence_is_calibrated_on_other_names() -> None:
    """The expected calibration error over ten bins is small on names like those of the training."""
    run = Settings(kappa=3.0)
    confidence = learn_confidence(cluster_names([topical(400, 6, seed) for seed in (1, 2, 3)], run))
    predicted, right, _ = answers_of(topical(400, 6, seed=9), run, confidence)
    bins = np.minimum((predicted * 10).astype(int), 9)
    off = [abs(predicted[bins == one].mean() - right[bins == one].mean()) for one in np.unique(bins)]
    weights = np.bincount(bins)[np.unique(bins)]
    assert np.average(off, weights=weights) < 0.05


def test_real_blocks_that_are_harder_lower_the_confidence() -> None:
    run = Settings(kappa=3.0)
    drawn = [topical(200, 6, seed) for seed in (1, 2)]
    harder = cluster(drawn[0].bags, drawn[0].frequencies, run, margins=True)
    harder = replace(harder, other=np.where(np.isnan(harder.own), harder.other, harder.limit[0]))
    confidence = learn_confidence(cluster_names(drawn, run), [harder])
    assert confidence.doubt > MUCH_DOUBT
    stated, _, _ = answers_of(drawn[0], run, confidence)
    surer, _, _ = answers_of(drawn[0], run, replace(confidence, doubt=0.0))
    assert (np.abs(stated - 0.5) < np.abs(surer - 0.5)).all()


def test_lone_mentions_whose_person_has_others_have_a_low_confidence() -> None:
    """All mentions are found alone, and no person has a single one."""
    names = build_pseudonames(large_pool(), composition_of([[3, 2], [4]])[0], np.random.default_rng(0))
    assert names
    run = Settings(alpha=1e9)
    answer = cluster(names.bags, names.frequencies, run, constraints=names.constraints, margins=True)
    confidence = learn_confidence(cluster_names([names], run))
    assert confidence.clustered is None
    assert (confidence.of(answer) < 0.3).all()


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("result")
    source = generate(folder, Corpus(mentions=1500, ambiguity=2.0, seed=2))
    return disambiguate(source, folder / "authors.parquet", Settings(kappa=4.0)).output


@pytest.mark.slow
def test_result_has_confidence_columns(result: Path) -> None:
    rows = pq.read_table(result).to_pylist()
    by_author = defaultdict(list)
    for row in rows:
        by_author[row["author_id"]].append(row["confidence"])
    in_block = Counter(row["block"] for row in rows)
    assert len({row["confidence"] for row in rows}) > 1
    for row in rows:
        mine = by_author[row["author_id"]]
        if in_block[row["block"]] == 1:
            assert (row["confidence"], row["author_confidence"]) == (None, None)
            continue
        assert 0 < row["confidence"] < 1
        assert row["confidence"] == round(row["confidence"], 3)
        assert row["author_confidence"] == pytest.approx(np.mean(mine), abs=0.00101)
    assert min(in_block.values()) == 1, "otherwise no mention is without confidence"


@pytest.mark.slow
def test_every_format_leaves_the_same_confidence_empty(result: Path, tmp_path: Path) -> None:
    expected = pq.read_table(result).select(["mention_id", "confidence", "author_confidence"]).to_pylist()
    source = next(path for path in result.parent.iterdir() if path.name.endswith(".jsonl.gz"))
    for name in ("a.csv", "a.jsonl"):
        written = disambiguate(source, tmp_path / name, Settings(kappa=4.0)).output
        found = rows_of_text(written)
        for row, told in zip(expected, found, strict=True):
            for column, value in row.items():
                assert told[column] == ("" if value is None else str(value))


def rows_of_text(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV or JSON lines file as text, empty for null or missing values."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    columns = {column for row in rows for column in row}
    return [{column: "" if row.get(column) is None else str(row[column]) for column in columns} for row in rows]
