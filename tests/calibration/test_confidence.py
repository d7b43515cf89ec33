"""Confidence: the isotonic regression, margins, correctly clustered mentions, and the confidence in a result."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from homonym.calibration.confidence import (
    LARGEST_MARGIN,
    MIN_BIN_MENTIONS,
    CalibrationCurve,
    Confidence,
    author_confidence,
    isotonic_regression,
    learn_confidence,
    margins,
)
from homonym.calibration.pseudonames import build_pseudonames
from homonym.clustering.agglomerative import Clustering, cluster
from homonym.clustering.arrays import Bags, Floats, Frequencies, starts
from homonym.commands.disambiguate import disambiguate
from homonym.commands.generate import generate
from homonym.measures.agreement import correctly_clustered
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


def test_share_is_1_without_any_data() -> None:
    assert isotonic_regression(np.zeros(0), np.zeros(0, bool)).at(np.array([-3.0, 3.0])).tolist() == [1.0, 1.0]


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
    )


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


@given(st.lists(st.tuples(st.floats(0, 1e300), anything, anything), min_size=1, max_size=20))
def test_margins_are_finite_for_any_score(values: list[tuple[float, float, float]]) -> None:
    limit, own, other = (list(column) for column in zip(*values, strict=True))
    margin, singleton = margins(answered(limit, own, other))
    assert np.isfinite(margin).all()
    assert (np.abs(margin) <= LARGEST_MARGIN).all()
    assert singleton.tolist() == [np.isnan(score) for score in own]
    curve = CalibrationCurve(np.array([-1.0, 0.5]), np.array([0.25, 0.75]))
    confidence = Confidence(curve).of(answered(limit, own, other))
    assert set(confidence.tolist()) <= {0.25, 0.75, 1.0}
    assert (confidence[singleton] == 1).all()
    assert (confidence[~singleton] < 1).all()


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), min_size=1, max_size=6), min_size=1))
def test_author_confidence_is_the_mean_over_mentions(blocks: list[list[tuple[int, float]]]) -> None:
    label = [[members.index(author) for author in members] for members in ([a for a, _ in block] for block in blocks)]
    confidence = [[value for _, value in block] for block in blocks]
    found = author_confidence(
        starts(np.array([len(block) for block in blocks])),
        np.concatenate(label).astype(np.int32),
        np.concatenate(confidence),
    )
    expected = []
    for labels, values in zip(label, confidence, strict=True):
        by_author = defaultdict(list)
        for author, value in zip(labels, values, strict=True):
            by_author[author].append(value)
        expected += [float(np.mean(by_author[author])) for author in labels]
    assert found == pytest.approx(np.array(expected))


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


def test_confidence_equals_the_correct_share_on_the_training_names() -> None:
    run = Settings(kappa=3.0)
    drawn = [topical(200, 6, seed) for seed in (1, 2)]
    confidence = learn_confidence(drawn, run)
    stated, true = [], []
    for names in drawn:
        answer = cluster(names.bags, names.frequencies, run, margins=True)
        clustered = ~np.isnan(answer.own)
        stated.append(confidence.of(answer)[clustered])
        true.append(correctly_clustered(*labelled_codes(names, answer.label))[clustered])
        assert (confidence.of(answer)[~clustered] == 1).all()
    predicted, right = np.concatenate(stated), np.concatenate(true)
    assert 0.3 < right.mean() < 0.98, "otherwise the test checks nothing"
    assert len(np.unique(predicted)) > 3
    for share in np.unique(predicted):
        assert right[predicted == share].mean() == pytest.approx(share)


def test_confidence_is_calibrated_on_other_names() -> None:
    """The expected calibration error over ten bins is small on names like those of the training."""
    run = Settings(kappa=3.0)
    confidence = learn_confidence([topical(400, 6, seed) for seed in (1, 2, 3)], run)
    others = topical(400, 6, seed=9)
    answer = cluster(others.bags, others.frequencies, run, margins=True)
    predicted, right = confidence.of(answer), correctly_clustered(*labelled_codes(others, answer.label))
    bins = np.minimum((predicted * 10).astype(int), 9)
    off = [abs(predicted[bins == one].mean() - right[bins == one].mean()) for one in np.unique(bins)]
    weights = np.bincount(bins)[np.unique(bins)]
    assert np.average(off, weights=weights) < 0.05


def test_singletons_have_confidence_1() -> None:
    names = build_pseudonames(large_pool(), composition_of([[3, 2], [4]])[0], np.random.default_rng(0))
    assert names
    run = Settings(alpha=1e9)
    answer = cluster(names.bags, names.frequencies, run, constraints=names.constraints, margins=True)
    assert learn_confidence([names], run).of(answer).tolist() == [1.0] * 9


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("result")
    source = generate(folder, Corpus(mentions=1500, ambiguity=2.0, seed=2))
    return disambiguate(source, folder / "authors.parquet", Settings(kappa=4.0)).output


def test_result_has_confidence_columns(result: Path) -> None:
    rows = pq.read_table(result).to_pylist()
    by_author = defaultdict(list)
    for row in rows:
        by_author[row["author_id"]].append(row["confidence"])
    assert len({row["confidence"] for row in rows}) > 1
    for row in rows:
        mine = by_author[row["author_id"]]
        assert 0 <= row["confidence"] <= 1
        assert row["confidence"] == round(row["confidence"], 3)
        assert row["author_confidence"] == pytest.approx(np.mean(mine), abs=0.00101)
        assert len(mine) > 1 or row["confidence"] == 1
