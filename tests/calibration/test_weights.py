"""Weight learning: sampled examples against the formula by brute force, and weights learnt from generated data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.calibration import weights
from homonym.calibration.weights import PAIRS_PER_NAME, learn_weights, possible_sizes, sample_examples
from homonym.clustering.arrays import Bags, Frequencies
from homonym.commands.run import Resources
from homonym.commands.train import train
from homonym.errors import InputError, SettingsError
from homonym.measures.methods import LabelledNames
from homonym.settings import Settings, load_settings
from tests.support.command import homonym_command, homonym_process
from tests.support.profiles import examples

TYPES = ("good", "noise")
WIDTH = 400

Bag = dict[int, float]
"""Counts by feature; type t has the features from t · WIDTH on."""
Mention = tuple[int, Bag]
"""The author, −1 if unknown, and the bag."""


def labelled(blocks: Sequence[Sequence[Mention]], types: tuple[str, ...] = TYPES) -> LabelledNames:
    mentions = [mention for block in blocks for mention in block]
    total = np.ones(WIDTH * len(types))
    for _, bag in mentions:
        for feature, count in bag.items():
            total[feature] += count
    return LabelledNames(
        key=[f"name {number}" for number in range(len(blocks))],
        bags=Bags(
            block_start=np.cumsum([0, *map(len, blocks)]),
            bag_start=np.cumsum([0, *(len(bag) for _, bag in mentions)]),
            feature=np.array([feature for _, bag in mentions for feature in bag], np.int32),
            count=np.array([count for _, bag in mentions for count in bag.values()], np.float64),
        ),
        frequencies=Frequencies(
            types, np.arange(len(types) + 1) * WIDTH, total, total.reshape(-1, WIDTH).sum(axis=1), 3 * len(mentions)
        ),
        author=np.array([author for author, _ in mentions], np.int64),
        written=[None] * len(mentions),
    )


def separated(names: int = 12, types: tuple[str, ...] = TYPES) -> LabelledNames:
    """Three authors of each name: one feature type has a feature for each of them, the other has random features."""
    random = np.random.default_rng(0)

    def mention(person: int) -> Mention:
        return person, {person: 2.0, WIDTH + int(random.integers(9)): 1.0}

    blocks = [[mention(3 * name + person) for person in range(3) for _ in range(5)] for name in range(names)]
    return labelled(blocks, types)


# Few features, so that mentions share some; authors by number, −1 for unlabelled mentions; each name has a label.
bags = st.dictionaries(st.sampled_from([0, 1, 2, WIDTH, WIDTH + 1]), st.sampled_from([0.5, 1.0, 3.0]), max_size=4)
mentions = st.tuples(st.sampled_from([-1, 0, 0, 1, 1, 2]), bags)
blocks = st.lists(mentions, min_size=2, max_size=9).filter(lambda block: any(author >= 0 for author, _ in block))
collections = st.lists(blocks, min_size=1, max_size=3).map(labelled)


Drawn = list[tuple[int, list[int], list[int]]]


def observed(monkeypatch: pytest.MonkeyPatch) -> Drawn:
    """Records all draws: a mention, a cluster of its author and a cluster of another author."""
    drawn: Drawn = []
    original = weights._draw_clusters

    def draw(*arguments: Any) -> Any:
        x, right, wrong = original(*arguments)
        drawn.append((x, right.tolist(), wrong.tolist()))
        return x, right, wrong

    monkeypatch.setattr(weights, "_draw_clusters", draw)
    return drawn


def dense(names: LabelledNames, name: int) -> Any:
    """#(f, x) of the mentions of one name."""
    first, last = names.bags.block_start[name : name + 2]
    counts = np.zeros((last - first, len(names.frequencies.total)))
    for x in range(first, last):
        for k in range(names.bags.bag_start[x], names.bags.bag_start[x + 1]):
            counts[x - first, names.bags.feature[k]] = names.bags.count[k]
    return counts


def p_of(counts: Any, x: int, C: list[int], names: LabelledNames, settings: Settings) -> list[float]:
    """p_t(x|C) = ( S_t(x,C) + |C|·ε/N ) / ( n_t(C) + |C|·ε ); the largest single S_t(x,ẋ) + ε/N for max."""
    frequencies, epsilon, found = names.frequencies, settings.epsilon, []
    for t in range(len(TYPES)):
        of_type = range(t * WIDTH, (t + 1) * WIDTH)
        terms = [
            sum(counts[x, f] * counts[y, f] / frequencies.total[f] for f in of_type if counts[x, f] and counts[y, f])
            + epsilon / frequencies.mentions
            for y in C
        ]
        n = sum(counts[y, f] for y in C for f in of_type)
        found.append((max(terms) if settings.variant == "max" else sum(terms)) / (n + len(C) * epsilon))
    return found


@pytest.mark.parametrize("variant", ["prob", "max"])
@hypothesis_settings(max_examples=examples(25))
@given(names=collections, seed=st.integers(0, 9))
def test_examples_follow_the_formula(variant: str, names: LabelledNames, seed: int) -> None:
    settings = Settings(variant=variant, epsilon=0.01)
    with pytest.MonkeyPatch.context() as patched:
        drawn = observed(patched)
        examples = sample_examples(names, settings, seed)
    assert len(examples.probability) == len(examples.same_author) == len(examples.name) == 2 * len(drawn)
    counts = {name: dense(names, name) for name in set(examples.name.tolist())}
    for pair, (x, right, wrong) in enumerate(drawn[::7]):
        for row, cluster in ((14 * pair, right), (14 * pair + 1, wrong)):
            name = examples.name[row]
            expected = p_of(counts[name], x, cluster, names, settings)
            assert examples.probability[row] == pytest.approx(expected)
            assert bool(examples.same_author[row]) == (cluster is right)


@hypothesis_settings(max_examples=examples(50))
@given(names=collections, seed=st.integers(0, 9))
def test_examples_pair_equal_numbers_of_own_and_other_mentions(names: LabelledNames, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        drawn = observed(patched)
        examples = sample_examples(names, Settings(), seed)
    for (x, right, wrong), name in zip(drawn, examples.name[::2].tolist(), strict=True):
        first, last = names.bags.block_start[name : name + 2]
        author = names.author[first:last].tolist()
        assert author[x] >= 0  # never an unlabelled mention
        assert {author[y] for y in right} == {author[x]}
        assert x not in right
        (other,) = {author[y] for y in wrong}
        assert other >= 0
        assert other != author[x]
        assert len(right) == len(set(right)) == len(wrong) == len(set(wrong))


@given(st.lists(st.integers(1, 7), max_size=5))
def test_possible_sizes_are_those_with_two_authors(people: list[int]) -> None:
    allowed = {
        size
        for size in range(1, 8)
        for i, own in enumerate(people)
        for j, other in enumerate(people)
        if i != j and own > size and other >= size
    }
    assert possible_sizes(people) == sorted(allowed)


def test_all_possible_sizes_and_authors_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = observed(monkeypatch)
    sizes = [2, 4, 6]
    sample_examples(
        labelled([[(who, {who: 1.0}) for who, size in enumerate(sizes) for _ in range(size)]]), Settings(), 0
    )
    assert {len(right) for _, right, _ in drawn} == {1, 2, 3, 4}
    assert {x for x, _, _ in drawn} >= {0, 1}
    assert {y for _, _, wrong in drawn for y in wrong} == set(range(12))


def test_every_name_of_two_authors_gives_as_many_examples() -> None:
    single, singletons = [(7, {0: 1.0})] * 3, [(8, {0: 1.0}), (9, {0: 1.0})]
    shared, large = [(0, {0: 1.0})] * 2 + [(1, {0: 1.0})], [(who % 2, {0: 1.0}) for who in range(40)]
    examples = sample_examples(labelled([single, shared, singletons, large]), Settings(), 0)
    assert dict(zip(*np.unique(examples.name, return_counts=True), strict=True)) == {
        1: 2 * PAIRS_PER_NAME,
        3: 2 * PAIRS_PER_NAME,
    }
    assert examples.same_author.sum() * 2 == len(examples.same_author)


def test_examples_depend_on_the_seed_only() -> None:
    names = separated()
    one, again, other = (sample_examples(names, Settings(), seed).probability for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.slow
def test_separating_type_gets_nearly_all_the_weight() -> None:
    learnt = learn_weights(separated(), Settings())
    assert learnt.weights["good"] > 0.9
    assert learnt.coefficients["good"] > 10 * abs(learnt.coefficients["noise"])
    assert learnt.accuracy > 0.99
    assert (learnt.names, learnt.seeds, learnt.pairs) == (12, 10, 12 * 10 * PAIRS_PER_NAME)


@pytest.mark.parametrize("variant", ["prob", "max"])
@pytest.mark.parametrize("seed", range(3))
def test_weights_sum_to_1_and_are_not_negative(seed: int, variant: str) -> None:
    random = np.random.default_rng(seed)
    chance = [
        [(who, {int(f): 1.0 for f in random.choice(2 * WIDTH, 90)}) for who in range(3) for _ in range(4)]
        for _ in range(6)
    ]
    learnt = learn_weights(labelled(chance), Settings(variant=variant), seeds=3)
    assert tuple(learnt.weights) == tuple(learnt.sd) == tuple(learnt.coefficients) == TYPES
    assert sum(learnt.weights.values()) == pytest.approx(1, abs=1e-12)
    assert min(learnt.weights.values()) >= 0
    assert min(learnt.coefficients.values()) < 0.5
    assert 0.2 < learnt.accuracy < 0.8
    assert Settings(weights=learnt.weights).weights == learnt.weights


def test_type_without_features_changes_nothing() -> None:
    without = learn_weights(separated(), Settings(), seeds=3)
    learnt = learn_weights(separated(types=(*TYPES, "elsewhere")), Settings(), seeds=3)
    assert learnt.accuracy == pytest.approx(without.accuracy)
    assert learnt.weights == pytest.approx({**without.weights, "elsewhere": 0}, abs=0.01)


def test_weights_are_equal_if_no_type_separates() -> None:
    nothing = labelled([[(0, {})] * 4 + [(1, {})] * 4] * 2)
    learnt = learn_weights(nothing, Settings(), seeds=2)
    assert list(learnt.weights.values()) == pytest.approx([0.5, 0.5])
    assert learnt.accuracy == pytest.approx(0.5)


def test_learning_is_reproducible() -> None:
    names = separated(4)
    assert learn_weights(names, Settings(), seeds=2) == learn_weights(names, Settings(), seeds=2)


@pytest.mark.parametrize(
    "block",
    [[(0, {0: 1.0})] * 4, [(0, {0: 1.0}), (1, {0: 1.0})], [(0, {0: 1.0}), (-1, {0: 1.0}), (-1, {0: 1.0})]],
    ids=["one person", "one mention each", "the others have no label"],
)
def test_rejects_names_without_usable_pairs(block: list[Mention]) -> None:
    with pytest.raises(InputError) as refused:
        learn_weights(labelled([block] * 5), Settings())
    assert str(refused.value) == (
        "weights need at least two names with two authors each, one of them with two mentions; label more names."
    )


def test_missing_scikit_learn_error_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(SettingsError) as refused:
        learn_weights(separated(2), Settings())
    assert str(refused.value) == "learning weights needs scikit-learn; install it with: pip install scikit-learn"


@pytest.fixture(scope="module")
def mentions_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty names of two authors, each with one constant co-author and random terms."""
    random = np.random.default_rng(5)
    rows = [
        {
            "mention_id": f"{name}-{person}-{number}",
            "block": f"N{name}",
            "author": f"{name}-{person}",
            "features": {"co": {f"C{name}-{person}": 1}, "term": {f"t{random.integers(6)}": 1}},
        }
        for name in range(20)
        for person in range(2)
        for number in range(4)
    ]
    path = tmp_path_factory.mktemp("learning") / "mentions.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return path


def test_train_writes_settings_with_learnt_weights(mentions_file: Path, tmp_path: Path) -> None:
    start = Settings(variant="max", epsilon=1e-3)
    found = train(mentions_file, mentions_file, start, output=tmp_path / "weights.toml", training_share=0.5, seeds=3)
    loaded = load_settings(tmp_path / "weights.toml")
    assert loaded.weights == found.learnt.weights == found.settings.weights
    assert (loaded.variant, loaded.epsilon) == ("max", 1e-3)
    assert found.learnt.weights["co"] > 0.9
    assert (found.labels, found.labels_without_mention, found.learnt.names) == (160, 0, 10)


def backwards(path: Path, directory: Path) -> Path:
    mixed = directory / "backwards.jsonl"
    mixed.write_bytes(b"\n".join(reversed(path.read_bytes().splitlines())))
    return mixed


def test_train_does_not_depend_on_threads_or_order_of_mentions(mentions_file: Path, tmp_path: Path) -> None:
    one = train(mentions_file, mentions_file, seeds=2, resources=Resources(threads=1))
    other = train(backwards(mentions_file, tmp_path), mentions_file, seeds=2, resources=Resources(threads=2))
    assert one.learnt == other.learnt


def test_train_does_not_depend_on_order_of_labels(mentions_file: Path, tmp_path: Path) -> None:
    one = train(mentions_file, mentions_file, seeds=2)
    assert one.learnt == train(mentions_file, backwards(mentions_file, tmp_path), seeds=2).learnt


@pytest.mark.slow
def test_command_line_trains(mentions_file: Path, tmp_path: Path) -> None:
    options = ["--gold", str(mentions_file), "-o", "weights.toml", "--seeds", "2"]
    done = homonym_command("train", mentions_file, *options, cwd=tmp_path)
    assert done.returncode == 0
    assert "label more names" in done.stderr
    weights = load_settings(tmp_path / "weights.toml").weights
    assert isinstance(weights, dict)
    assert f"{weights['co']:.3f}" in done.stdout
    assert "of the pairs are classified correctly" in done.stdout


@pytest.mark.slow
def test_command_line_reports_missing_scikit_learn(mentions_file: Path, tmp_path: Path) -> None:
    options = ["--gold", str(mentions_file), "-o", "weights.toml"]
    done = homonym_process("train", mentions_file, *options, before="sys.modules['sklearn'] = None", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("homonym: learning weights needs scikit-learn; ")
    assert "pip install scikit-learn" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
