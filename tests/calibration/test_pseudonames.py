"""Calibration without labels: single-person names, pseudo-names, the limit, and collections that are too small."""

from __future__ import annotations

import gzip
import math
import random
import string
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.calibration import block_sample, pseudonames, single_person_names
from homonym.calibration import limit as calibrated
from homonym.calibration.limit import (
    F1_ERROR,
    FULL_WEIGHT_NAMES,
    PARTS,
    PRIOR_DEVIATION,
    USUAL_SAMPLING_ERROR,
    CalibratedLimit,
    LimitCalibrator,
    LimitScores,
)
from homonym.calibration.pseudonames import (
    BlockComposition,
    SampledBlocks,
    build_pseudonames,
    composition_of_clusters,
    constrained_only,
)
from homonym.calibration.single_person_names import PersonPool, find_people
from homonym.clustering.agglomerative import cluster, limits, pair_scores
from homonym.clustering.arrays import Bags, Constraints, Floats, Frequencies, Integers, starts
from homonym.collection.encoded import Encoded
from homonym.commands.cluster import cluster as cluster_file
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.generate import generate
from homonym.commands.result import Summary, settings_path
from homonym.commands.run import Resources, open_local_engine, prepare_run
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.constraints.name_prior import FullNames
from homonym.measures.agreement import bcubed, contingency
from homonym.measures.methods import LabelledNames
from homonym.settings import DEFAULT_GAMMA, Limit, Settings, load_settings
from homonym.synthetic.corpus import Corpus
from tests.support.command import homonym_command
from tests.support.profiles import examples


@dataclass(frozen=True, eq=False)
class Ready:
    """An encoded collection with its constraints and, if it has labels, the author of each mention."""

    encoded: Encoded
    constraints: FoundConstraints | None
    author: Integers

    @property
    def blocks(self) -> int:
        return len(self.encoded.block_start) - 1

    def f1(self, run: Settings, limit: Limit) -> float:
        """B-cubed F1 over mentions."""
        sizes = np.diff(self.encoded.block_start)
        bags = self.encoded.gather(0, self.blocks, np.ones(len(self.encoded.frequencies.types), bool))
        constraints = self.constraints.of_blocks(0, self.blocks) if self.constraints else None
        label = cluster(bags, self.encoded.frequencies, run.with_limit(limit), constraints=constraints).label
        first = np.repeat(self.encoded.block_start[:-1], sizes)
        return bcubed(contingency(np.repeat(np.arange(self.blocks), sizes), self.author, first + label)).overall().f1


@contextmanager
def ready(path: Path, run_settings: Settings | None = None, *, documents: bool = True) -> Iterator[Ready]:
    run = prepare_run(path, run_settings, strict=True, resources=Resources(threads=2))
    with open_local_engine(run) as engine:
        read = (engine.read_documents if documents else engine.read_mentions)(run.inputs, run.settings)
        encoded = engine.encode(read, None).data.encoded
        author = _labels(encoded, path) if documents else np.zeros(0, np.int64)
        yield Ready(encoded, find_constraints(encoded, run.settings, None), author)


def _labels(encoded: Encoded, path: Path) -> Integers:
    documents = [orjson.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    label = {f"{one['id']}#{place}": who["author"] for one in documents for place, who in enumerate(one["authors"])}
    mentions = pq.read_table(encoded.mentions_file, columns=["mention_id"])["mention_id"].to_pylist()
    return np.unique([label[mention] for mention in mentions], return_inverse=True)[1].astype(np.int64)


def write(path: Path, lines: list[Any]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def corpus(generated: Callable[[Corpus], Path]) -> Path:
    return generated(Corpus(mentions=1500, ambiguity=2.0, seed=2))


@pytest.fixture(scope="module")
def small(corpus: Path) -> Iterator[Ready]:
    with ready(corpus) as collection:
        yield collection


# Single-person names.


def word(number: int) -> str:
    """A unique name for each number."""
    letters = [string.ascii_lowercase[number // 26**place % 26] for place in range(3)]
    return "Q" + "".join(letters) + "o"


def mentions_of(name: str, topics: list[int], generator: np.random.Generator) -> Iterator[dict[str, Any]]:
    """The mentions of one name, four of each topic, with terms and co-authors of the topic and with common terms."""
    for place, topic in enumerate(topics * 4):
        own, common = generator.choice(12, 5, replace=False), generator.choice(40, 5, replace=False)
        yield {
            "mention_id": f"{name} {place}",
            "document_id": f"{name} {place}",
            "name": name,
            "features": {
                "term": {f"own {topic} {i}": 1 for i in own} | {f"common {i}": 1 for i in common},
                "co": {f"colleague {topic} {i}": 1 for i in generator.choice(6, 2, replace=False)},
            },
        }


def probability_by_name(collection: Ready) -> dict[str, float]:
    """The probability that each name is one person; 0 for those that are left out."""
    pool = find_people(collection.encoded, Settings(), np.random.default_rng(0))
    names = collection.encoded.block_names().to_pylist()
    probability = dict.fromkeys(names, 0.0)
    for block, value in zip(pool.source_block.tolist(), pool.probability.tolist(), strict=True):
        probability[names[block]] = value
    return probability


@pytest.mark.slow
def test_names_of_two_people_have_a_lower_probability(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    lines: list[dict[str, Any]] = []
    for number in range(200):
        topics = [number] if number < 140 else [number, 1000 + number]
        lines += mentions_of(f"{word(number)}, {word(5000 + number)}", topics, generator)
    with ready(write(tmp_path / "m.jsonl", lines), documents=False) as collection:
        probability = probability_by_name(collection)
    assert len(probability) == 200
    one = np.mean([probability[f"{word(number)}, {word(5000 + number)}"] for number in range(140)])
    two = np.mean([probability[f"{word(number)}, {word(5000 + number)}"] for number in range(140, 200)])
    assert one > 0.8
    assert one > two + 0.4


def test_common_names_have_a_lower_probability(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    common = [f"{word(surname)}, {word(given)}" for surname, given in product(range(10), range(10))]
    rare = [f"{word(100 + number)}, {word(300 + number)}" for number in range(100)]
    lines = [line for topic, name in enumerate(common + rare) for line in mentions_of(name, [topic], generator)]
    with ready(write(tmp_path / "m.jsonl", lines), documents=False) as collection:
        probability = probability_by_name(collection)
    # Of 200 people, 9 others have the surname and 9 the given name: 81/200 are expected to have both.
    means = [np.mean([probability[name] for name in names]) for names in (common, rare)]
    assert means[0] / means[1] == pytest.approx(np.exp(-81 / 200), rel=0.1)


def test_pool_limits_people_and_mentions(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(single_person_names, "MAX_PEOPLE", 25)
    generator = np.random.default_rng(3)
    lines = [line for topic in range(60) for line in mentions_of(f"{word(topic)}, A", [topic], generator)]
    lines += mentions_of("Large, B", [70] * 50, generator)
    for number in range(30):
        lines += list(mentions_of(f"{word(200 + number)}, C", [100 + number], generator))[:1]
    with ready(write(tmp_path / "m.jsonl", lines), documents=False) as collection:
        pools = [find_people(collection.encoded, Settings(), np.random.default_rng(seed)) for seed in range(6)]
        monkeypatch.setattr(single_person_names, "MAX_PEOPLE", 1000)
        all_people = find_people(collection.encoded, Settings(), np.random.default_rng(0))
    assert {len(pool.sizes) for pool in pools} == {25}
    assert all_people.sizes.max() == single_person_names.MAX_PERSON_MENTIONS
    assert (all_people.probability > 0).all()
    for pool in [*pools, all_people]:
        assert len(pool.probability) == len(pool.source_block) == len(pool.similarity) == len(pool.sizes)
        assert len(pool.document) == pool.sizes.sum()
        assert pool.similarity == pytest.approx(pool.similarity.T)
        assert (pool.probability <= 1).all()


@pytest.mark.slow
def test_samples_a_limited_number_of_blocks(small: Ready, monkeypatch: Any) -> None:
    monkeypatch.setattr(block_sample, "MAX_LARGER_BLOCKS", 20)
    monkeypatch.setattr(block_sample, "MAX_SINGLETON_BLOCKS", 2)
    pool = find_people(small.encoded, Settings(), np.random.default_rng(0))
    assert 5 < len(np.unique(pool.source_block)) <= 22


def test_pool_depends_on_the_seed_only(small: Ready) -> None:
    first, again, other = (find_people(small.encoded, Settings(), np.random.default_rng(seed)) for seed in (4, 4, 5))
    for name in ("document", "source_block", "probability", "similarity"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert np.array_equal(first.bags.feature, again.bags.feature)
    assert not np.array_equal(first.probability, other.probability)


def test_pool_does_not_depend_on_threads_and_batches(small: Ready, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = find_people(small.encoded, Settings(), np.random.default_rng(0))
    monkeypatch.setattr(single_person_names, "GROUPS_PER_BATCH", 3)
    parts = find_people(small.encoded, Settings(), np.random.default_rng(0), threads=3)
    assert np.array_equal(whole.probability, parts.probability)
    assert np.array_equal(whole.source_block, parts.source_block)


def test_similarity_is_that_of_whole_people(small: Ready) -> None:
    """As its definition says, over the square of all pairs."""
    pool = find_people(small.encoded, Settings(), np.random.default_rng(0))
    people = len(pool.sizes)
    S, n = pair_scores(
        pool.bags.summed(np.repeat(np.arange(people), pool.sizes), np.array([people])), 0, pool.frequencies
    )
    root = np.sqrt(np.maximum(n, np.finfo(float).tiny))
    assert people > 20
    assert np.array_equal(pool.similarity, np.einsum("ijt,it,jt->ij", S, 1 / root, 1 / root))


def test_pool_splits_blocks_by_written_name(small: Ready) -> None:
    """Different written names of a block may be different people."""
    pool = find_people(small.encoded, Settings(), np.random.default_rng(0))
    assert len(np.unique(pool.source_block)) < len(pool.source_block)
    sizes = np.diff(small.encoded.block_start)
    used = np.bincount(pool.source_block, pool.sizes, len(sizes))
    assert (used <= sizes).all()


# Pseudo-names. Each mention of these pools has a feature of its own, which identifies it in a pseudo-name.


def pool_of(
    sizes: list[int], source_block: list[int], document: list[int], probability: list[float] | None = None
) -> PersonPool:
    mentions = sum(sizes)
    similarity = np.random.default_rng(len(sizes)).uniform(size=(len(sizes), len(sizes)))
    return PersonPool(
        bags=Bags(
            starts(np.array(sizes)), np.arange(mentions + 1), np.arange(mentions, dtype=np.int32), np.ones(mentions)
        ),
        frequencies=Frequencies(
            ("term",), np.array([0, mentions]), np.ones(mentions), np.array([float(mentions)]), mentions
        ),
        document=np.array(document),
        source_block=np.array(source_block),
        probability=np.array(probability or [1.0] * len(sizes)),
        similarity=similarity + similarity.T,
    )


def composition_of(blocks: list[list[int]]) -> tuple[BlockComposition, list[tuple[int, int, int]]]:
    """A composition with a profile and a full name for each mention, and the block, author and position of each.

    Both have the number of the mention. Profiles of different authors of a block have cannot-links.
    """
    places = [(-1, -1, -1)]
    composition: list[list[Integers]] = []
    cannot_links: list[list[int]] = [[]]
    for block, authors in enumerate(blocks):
        first = len(places)
        bounds = first + starts(np.array(authors))
        for author, (begin, end) in enumerate(pairwise(bounds.tolist())):
            places += [(block, author, place) for place in range(end - begin)]
            others = [p for p in range(first, int(bounds[-1])) if not begin <= p < end]
            cannot_links += [others] * (end - begin)
        composition.append([np.arange(begin, end) for begin, end in pairwise(bounds.tolist())])
    start = starts(np.array([len(each) for each in cannot_links]))
    cannot_link = np.array([p for each in cannot_links for p in each], np.int32)
    number = np.arange(len(places), dtype=np.int32)
    # The groups of mentions are not used: pseudo-names have their own.
    constraints = Constraints(np.zeros(0, np.int32), number, start, cannot_link)
    full_names = FullNames(np.array([0, len(places)]), number, number / 100)
    return BlockComposition(composition, constraints, full_names), places


def composition_found(
    collection: Ready, settings: Settings, constraints: FoundConstraints | None, threads: int = 1
) -> BlockComposition:
    sampled = SampledBlocks.draw(collection.encoded, settings, constraints)
    return composition_of_clusters(sampled, sampled.clusters(collection.encoded.frequencies, settings, threads))


def calibrate_limit(collection: Ready, settings: Settings, seeds: int = 3) -> CalibratedLimit:
    return LimitCalibrator(collection.encoded, settings, collection.constraints, threads=2, seeds=seeds).find()


@pytest.mark.slow
def test_limit_is_the_same_if_people_are_found_later(small: Ready, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = calibrate_limit(small, Settings())
    monkeypatch.setattr(calibrated, "FEW_OCCURRENCES", 0)
    assert vars(calibrate_limit(small, Settings())) == vars(at_once)
    assert at_once.names


def cannot_links_of(composition: BlockComposition) -> list[set[int]]:
    """The cannot-links of each profile."""
    start, cannot_link = composition.constraints.cannot_link_start, composition.constraints.cannot_link
    assert (start[0], start[-1]) == (0, len(cannot_link))
    return [set(cannot_link[begin:end].tolist()) for begin, end in pairwise(start.tolist())]


def people_of(names: LabelledNames, pool: PersonPool, name: int) -> list[tuple[int, Integers]]:
    """The person and the mentions of each author of a pseudo-name, in order."""
    first, last = names.bags.block_start[name : name + 2]
    owner = np.repeat(np.arange(len(pool.sizes)), pool.sizes)
    found = []
    for author in np.unique(names.author[first:last]):
        mentions = names.bags.feature[first:last][names.author[first:last] == author].astype(np.int64)
        assert len(set(mentions.tolist())) == len(mentions), "no mention is used twice"
        (person,) = set(owner[mentions].tolist())
        found.append((person, mentions))
    return found


def documents_of(pool: PersonPool, person: int) -> set[int]:
    return set(pool.document[slice(*pool.bags.block_start[person : person + 2])].tolist())


def assert_sound(
    names: LabelledNames, pool: PersonPool, composition: BlockComposition, places: list[tuple[int, int, int]]
) -> None:
    assert names.constraints is not None
    assert np.array_equal(names.constraints.cannot_link_start, composition.constraints.cannot_link_start)
    assert np.array_equal(names.constraints.cannot_link, composition.constraints.cannot_link)
    assert (np.diff(names.author) >= 0).all()
    assert np.array_equal(np.unique(names.author), np.arange(names.true_size.sum())), "each person is in one name only"
    for name in range(len(names)):
        first, last = names.bags.block_start[name : name + 2]
        assert np.array_equal(names.constraints.group[first:last], np.arange(last - first)), "there are no must-links"
        found = people_of(names, pool, name)
        blocks = [pool.source_block[person] for person, _ in found]
        assert len(set(blocks)) == len(blocks)
        documents = Counter(document for person, _ in found for document in documents_of(pool, person))
        assert set(documents.values()) <= {1}
        assert last - first <= pseudonames.MAX_NAME_MENTIONS
        profile = names.constraints.profile[first:last]
        assert_constrained(name, profile, names.author[first:last], places)
        assert names.full_names is not None
        assert np.array_equal(names.full_names.full_name[first:last], np.where(profile > 0, profile, -1))
        assert (names.full_names.namesakes[first:last] == profile / 100)[profile > 0].all()


def assert_constrained(name: int, profile: Any, author: Integers, places: list[tuple[int, int, int]]) -> None:
    """Every third pseudo-name has no cannot-links; in the others, people have the profiles of one real block."""
    if name % pseudonames.UNCONSTRAINED == 0:
        assert not profile.any()
        return
    taken = [[places[p] for p in profile[author == one]] for one in np.unique(author)]
    assert len({block for each in taken for block, _, _ in each}) == 1
    authors = [{author for _, author, _ in each} for each in taken]
    assert all(len(each) == 1 for each in authors)
    assert len(set.union(*authors)) == len(taken)
    for each in taken:
        assert [place for _, _, place in each] == list(range(len(each)))


@st.composite
def pools(draw: st.DrawFn) -> PersonPool:
    """People of few or many blocks on few or many documents."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=60))
    source_block = st.integers(0, draw(st.sampled_from([0, 3, 200])))
    document = st.integers(0, draw(st.sampled_from([0, 10, 5000])))
    several = len(sizes)
    return pool_of(
        sizes,
        draw(st.lists(source_block, min_size=several, max_size=several)),
        draw(st.lists(document, min_size=sum(sizes), max_size=sum(sizes))),
        draw(st.lists(st.sampled_from([1e-9, 0.5, 1.0]), min_size=several, max_size=several)),
    )


compositions = st.lists(st.lists(st.integers(1, 8), min_size=1, max_size=6), max_size=8)


@settings(max_examples=examples(150))
@given(pool=pools(), blocks=compositions, seed=st.integers(0, 9))
def test_pseudonames_satisfy_their_invariants(pool: PersonPool, blocks: list[list[int]], seed: int) -> None:
    composition, places = composition_of(blocks)
    names = build_pseudonames(pool, composition, np.random.default_rng(seed))
    assert (names is None) == (not blocks)
    if names:
        assert_sound(names, pool, composition, places)
        cluster(names.bags, names.frequencies, Settings(), constraints=names.constraints)
        again = build_pseudonames(pool, composition, np.random.default_rng(seed))
        assert again
        assert again.constraints
        assert names.constraints
        assert np.array_equal(names.bags.feature, again.bags.feature)
        assert np.array_equal(names.author, again.author)
        assert np.array_equal(names.constraints.profile, again.constraints.profile)


def large_pool(probability: list[float] | None = None) -> PersonPool:
    """Sixty people of each size up to 9, all of different blocks and documents."""
    sizes = [size for size in range(1, 10) for _ in range(60)]
    return pool_of(sizes, list(range(len(sizes))), list(range(sum(sizes))), probability)


def sizes_of(names: LabelledNames) -> list[list[int]]:
    """The number of mentions of each person of each pseudo-name, in falling order."""
    return [
        sorted(np.unique(names.author[first:last], return_counts=True)[1].tolist(), reverse=True)
        for first, last in pairwise(names.bags.block_start.tolist())
    ]


@settings(max_examples=examples(50))
@given(blocks=compositions.filter(bool), seed=st.integers(0, 9))
def test_pseudoname_has_the_composition_of_a_real_block(blocks: list[list[int]], seed: int) -> None:
    names = build_pseudonames(large_pool(), composition_of(blocks)[0], np.random.default_rng(seed))
    assert names
    assert sorted(sizes_of(names)) == sorted(sorted(authors, reverse=True) for authors in blocks)


@pytest.mark.parametrize("number", [1, 2, 7])
def test_confidence_is_learnt_from_names_with_constraints_unless_there_are_none(number: int) -> None:
    names = build_pseudonames(large_pool(), composition_of([[3, 1]] * number)[0], np.random.default_rng(0))
    assert names
    found = constrained_only(names)
    assert found.constraints
    assert len(found) == (number - -(-number // pseudonames.UNCONSTRAINED) or 1)
    assert found.constraints.profile.all() == (number > 1)


def test_numbers_of_people_are_equally_frequent() -> None:
    blocks = [[2]] * 50 + [[3, 1]] * 20 + [[1] * 12] * 3 + [[1] * 15] * 40
    names = build_pseudonames(large_pool(), composition_of(blocks)[0], np.random.default_rng(0))
    assert names
    found = Counter(min(len(sizes), 11) for sizes in sizes_of(names))
    assert found == {1: pseudonames.NAMES_PER_SIZE, 2: pseudonames.NAMES_PER_SIZE, 11: pseudonames.NAMES_PER_SIZE}


def test_too_large_block_loses_people() -> None:
    blocks = [[9] * 50, [9, 8, 7]]
    names = build_pseudonames(large_pool(), composition_of(blocks)[0], np.random.default_rng(0))
    assert names
    assert sorted(sizes_of(names)) == [[9, 8, 7], [9] * (pseudonames.MAX_NAME_MENTIONS // 9)]


def test_blocks_of_few_authors_with_many_mentions_are_copied() -> None:
    pool = pool_of([150] * 50, list(range(50)), list(range(50 * 150)))
    names = build_pseudonames(pool, composition_of([[400, 350, 20]] * 3)[0], np.random.default_rng(0))
    assert names
    assert {size for sizes in sizes_of(names) for size in sizes} <= {150, 20}
    assert all(150 in sizes for sizes in sizes_of(names))


def test_large_blocks_stop_when_there_are_enough_pairs(monkeypatch: Any) -> None:
    monkeypatch.setattr(pseudonames, "PAIRS_PER_SIZE", 100)
    monkeypatch.setattr(pseudonames, "MIN_NAMES_DRAWN", 0)
    blocks = [[9, 8]] * 5 + [[1, 1]] * 5 + [[9, 9, 9]] * 5
    names = build_pseudonames(large_pool(), composition_of(blocks)[0], np.random.default_rng(0))
    assert names
    by_people = Counter(len(sizes) for sizes in sizes_of(names))
    assert by_people[3] == 1, "there is at least one of each number of people"
    assert 1 <= by_people[2] <= 6


def test_large_blocks_of_few_sizes_give_several_pseudonames() -> None:
    pool = pool_of([150] * 50, list(range(50)), list(range(50 * 150)))
    names = build_pseudonames(pool, composition_of([[900]] * 20)[0], np.random.default_rng(0))
    assert names
    assert len(names) == pseudonames.NAMES_PER_SIZE


def test_pseudoname_has_the_limit_of_all_mentions_of_its_authors() -> None:
    pool = pool_of([150] * 50, list(range(50)), list(range(50 * 150)))
    names = build_pseudonames(pool, composition_of([[400, 20]])[0], np.random.default_rng(0))
    assert names
    assert names.mentions.tolist() == [170]
    assert names.limit_sizes.tolist() == [420]
    assert names.select(np.array([0])).limit_sizes.tolist() == [420]


def test_people_of_a_pseudoname_are_more_similar_than_average() -> None:
    pool = large_pool()
    names = build_pseudonames(pool, composition_of([[4, 3]] * 15)[0], np.random.default_rng(0))
    assert names
    found = [[person for person, _ in people_of(names, pool, name)] for name in range(len(names))]
    partners = np.mean([pool.similarity[left, right] for left, right in found])
    assert partners > pool.similarity.mean() + 0.1


def test_improbable_people_are_seldom_drawn() -> None:
    pool = large_pool([0.01, 1.0] * 270)
    names = build_pseudonames(pool, composition_of([[4, 3, 2, 1]] * 15)[0], np.random.default_rng(0))
    assert names
    drawn = [person for name in range(len(names)) for person, _ in people_of(names, pool, name)]
    assert len(drawn) == 4 * pseudonames.NAMES_PER_SIZE
    assert np.mean(pool.probability[drawn] < 0.5) < 0.1


@pytest.mark.parametrize("where", ["one document", "one block"])
def test_people_of_one_block_or_document_are_not_combined(where: str) -> None:
    sizes = [3] * 50
    block, document = ([0] * 50, list(range(150))) if where == "one block" else (list(range(50)), [0] * 150)
    names = build_pseudonames(
        pool_of(sizes, block, document), composition_of([[3, 2, 1]] * 9)[0], np.random.default_rng(0)
    )
    assert names
    assert names.true_size.tolist() == [1] * 9


def test_no_pseudonames_without_blocks() -> None:
    assert build_pseudonames(large_pool(), composition_of([])[0], np.random.default_rng(0)) is None


def test_composition_is_that_of_the_clustered_blocks(corpus: Path) -> None:
    unlinked = Settings(blocking="first-initial", constraints="names,documents", kappa=5.0)
    with ready(corpus, unlinked) as collection:
        composition = composition_found(collection, unlinked, collection.constraints, threads=2)
        free = composition_found(collection, unlinked, None)
        sizes = np.diff(collection.encoded.block_start)
    for each in (composition, free):
        assert sorted(sum(map(len, block)) for block in each.blocks) == sorted(sizes[sizes > 1].tolist())
    unbound = {
        int(profile) for block in free.blocks for author in block for profile in free.constraints.profile[author]
    }
    assert not any(cannot_links_of(free)[profile] for profile in unbound)
    cannot_links = cannot_links_of(composition)
    assert sum(map(len, cannot_links)) > 100
    assert all(mine in cannot_links[theirs] for mine, each in enumerate(cannot_links) for theirs in each)
    profiles = composition.constraints.profile
    for author in (set(profiles[author].tolist()) for block in composition.blocks for author in block):
        assert all(cannot_links[profile].isdisjoint(author) for profile in author)
    assert (composition.full_names.full_name >= 0).any()
    assert sum(map(len, composition.blocks)) > sum(map(len, free.blocks))


def test_profiles_of_one_person_never_conflict(tmp_path: Path) -> None:
    """An identifier can link incompatible names, but pseudo-names have no identifiers."""
    lines: list[dict[str, Any]] = []
    for number in range(40):
        family, check = word(number), "0000-0007-0000-0002"
        for name in (f"{family}, Jane", f"{family}, Robert"):
            mentions = list(mentions_of(name, [number], np.random.default_rng(number)))
            lines += [mention | {"block": family, "ids": {"orcid": check}} for mention in mentions]
    with ready(write(tmp_path / "m.jsonl", lines), documents=False) as collection:
        composition = composition_found(collection, Settings(), collection.constraints)
    assert {len(block) for block in composition.blocks} == {1}
    cannot_links = cannot_links_of(composition)
    for (author,) in composition.blocks:
        profile = set(composition.constraints.profile[author].tolist())
        assert all(cannot_links[one].isdisjoint(profile) for one in profile)


# The limit.


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ready]:
    with ready(generate(tmp_path_factory.mktemp("large"), Corpus(mentions=5000, ambiguity=2.0, seed=7))) as collection:
        yield collection


@pytest.mark.slow
def test_limit_is_nearly_optimal(large: Ready) -> None:
    found = calibrate_limit(large, Settings())
    reached = large.f1(Settings(), found.limit)
    grid = [large.f1(Settings(), Limit(kappa=7 * 1.5**step)) for step in range(-8, 7)]
    assert found.why is None
    assert found.people > 100
    assert found.spread is not None
    assert max(grid) > min(grid) + 0.1, "otherwise the test checks nothing"
    assert reached > max(grid) - 0.03


def test_full_names_and_chance_limit_are_calibrated_without_people(small: Ready, monkeypatch: Any) -> None:
    monkeypatch.setattr(calibrated, "MIN_PEOPLE", 10**6)
    found = calibrate_limit(small, Settings())
    assert found.why
    assert found.why.startswith("too few names")
    assert found.limit == Settings().limit
    assert found.name_trust
    assert found.chance_limit


@pytest.mark.slow
def test_higher_target_precision_gives_a_higher_limit(small: Ready) -> None:
    before = 0.0
    for target in (0.7, 0.9, 0.98):
        found = calibrate_limit(small, Settings(target_precision=target), seeds=2)
        assert found.precision is not None
        assert found.precision >= target or found.why
        assert found.limit.kappa >= before
        before = found.limit.kappa
    assert before > Settings().limit.kappa


@st.composite
def limit_scores(draw: st.DrawFn) -> LimitScores:
    """Precision and recall of any names, monotone or not."""
    names, factors = draw(st.integers(1, 12)), draw(st.integers(1, 15))
    generator = np.random.default_rng(draw(st.integers(0, 10**6)))
    precision, recall = generator.uniform(0.01, 1, (2, names, factors))
    if draw(st.booleans()):
        precision, recall = np.sort(precision, axis=1), -np.sort(-recall, axis=1)
    seed = np.sort(generator.integers(0, 3, names))
    return LimitScores(np.power(1.1, np.arange(factors)), precision, recall, generator.integers(1, 12, names), seed)


def averages(scores: LimitScores) -> tuple[list[float], list[float]]:
    """Mean precision and F1 at each multiple of the default limit."""
    columns = range(len(scores.factors))
    found = [scores.result(column, Settings(), people=1) for column in columns]
    return [float(one.precision or 0) for one in found], [float(one.f1 or 0) for one in found]


@given(scores=limit_scores(), targets=st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)))
def test_target_precision_holds_from_the_chosen_limit_on(scores: LimitScores, targets: tuple[float, float]) -> None:
    precision, _ = averages(scores)
    low, high = sorted(targets)
    assert scores.lowest_with_precision(low) <= scores.lowest_with_precision(high)
    choice = scores.lowest_with_precision(high)
    found = scores.result(choice, Settings(), people=1, target=high)
    assert found.limit.kappa == pytest.approx(Settings().limit.kappa * scores.factors[choice])
    if found.why:
        assert precision[-1] < high, "the highest limit does not reach it"
        assert f"{high:g}" in found.why
    else:
        assert min(precision[choice:]) >= high
        assert choice == 0 or precision[choice - 1] < high, "the lowest one that does"


def error_of_the_mean(people: list[int]) -> float:
    """Of a mean over numbers of people, each with the mean of its names; a name has the error 1."""
    names = Counter(people).values()
    weights = [min(1, number / FULL_WEIGHT_NAMES) for number in names]
    variance = sum((weight / sum(weights)) ** 2 / number for weight, number in zip(weights, names, strict=True))
    return math.sqrt(variance)


@given(scores=limit_scores())
def test_limit_is_the_posterior_mean(scores: LimitScores) -> None:
    _, f1 = averages(scores)
    log = [math.log(factor) for factor in scores.factors.tolist()]
    error = F1_ERROR * max(1, error_of_the_mean(scores.people.tolist()) / USUAL_SAMPLING_ERROR)
    weight = [
        math.exp((one - max(f1)) / error - (x / PRIOR_DEVIATION) ** 2 / 2) for one, x in zip(f1, log, strict=True)
    ]
    mean = sum(w * x for w, x in zip(weight, log, strict=True)) / sum(weight)
    choice = scores.expected()
    assert abs(log[choice] - mean) <= min(abs(x - mean) for x in log) + 1e-9
    found = scores.result(choice, Settings(), people=5)
    assert found.spread is not None
    assert found.spread[0].kappa <= found.spread[1].kappa
    assert (found.people, found.names) == (5, len(scores.seed))


def scores_with_f1(f1: list[float], prior_deviation: float = PRIOR_DEVIATION, names: int = 100) -> LimitScores:
    """Some names with this F1 at multiples around the default limit."""
    return LimitScores(
        factors=np.power(1.1, np.arange(len(f1)) - len(f1) // 2),
        precision=np.tile(f1, (names, 1)),
        recall=np.tile(f1, (names, 1)),
        people=np.full(names, 2),
        seed=np.zeros(names, np.int64),
        prior_deviation=prior_deviation,
    )


@pytest.mark.parametrize(
    ("f1", "choice"),
    [
        ([0.9] * 21, 10),  # nothing speaks against the default
        ([0.9] * 10 + [0.5] * 11, 6),  # the default is worse: lower limits, but not the lowest
        ([0.5] * 11 + [0.9] * 10, 14),
        ([0.5] * 20 + [0.9], 20),  # clear evidence is followed
        ([0.9 + 0.0001 * step for step in range(21)], 10),  # differences below the error are not
    ],
)
def test_limit_leaves_the_default_where_pseudonames_are_clear(f1: list[float], choice: int) -> None:
    assert scores_with_f1(f1).expected() == choice


def test_no_limit_above_a_lowered_start_is_chosen() -> None:
    """Neither the limit nor its spread, although pseudo-names speak for higher ones."""
    scores = scores_with_f1([0.9 + 0.005 * step for step in range(21)])
    assert scores.expected() > scores.start() == 10
    found = scores.result(scores.start(), Settings(), people=5, highest=scores.start())
    assert found.spread is not None
    assert found.limit == found.spread[1] == Settings().limit


def test_few_pseudonames_move_the_limit_less() -> None:
    f1 = [0.9 + 0.002 * step for step in range(21)]
    default = 10
    assert default < scores_with_f1(f1, names=10).expected() < scores_with_f1(f1, names=100).expected()


def test_without_a_prior_the_middle_of_the_best_limits_is_taken() -> None:
    assert scores_with_f1([0.9] * 5 + [0.5] * 16, np.inf).expected() == 2


def test_a_small_change_of_f1_changes_the_limit_little() -> None:
    """The best limit jumps with every draw of pseudo-names where F1 is flat; the expected one does not."""
    generator = np.random.default_rng(0)
    flat = [scores_with_f1((0.93 + generator.normal(0, 0.002, 41)).tolist()).expected() for _ in range(50)]
    assert max(flat) - min(flat) <= 3


def test_numbers_of_people_have_equal_weight() -> None:
    scores = LimitScores(
        factors=np.ones(1),
        precision=np.array([[1.0]] * 50 + [[0.5]] * 5),
        recall=np.ones((55, 1)),
        people=np.array([1] * 50 + [2] * 5),
        seed=np.zeros(55, np.int64),
    )
    assert averages(scores)[0] == [0.75]


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", [{"variant": "max"}, {"scope": "within"}, {"joint": True}, {"joint": True, "variant": "max"}]
)
def test_every_variant_gets_a_usable_limit(large: Ready, values: dict[str, Any]) -> None:
    run = Settings(**values)
    found = calibrate_limit(large, run, seeds=2)
    assert found.why is None
    reached = large.f1(run, found.limit)
    assert reached > large.f1(run, Limit(alpha=1e9)) + 0.3, "better than singletons"
    assert reached > max(large.f1(run, found.limit.scaled(10**step)) for step in (-2, -1.5, -1, -0.5, 0.5)) - 0.05


@pytest.mark.slow
def test_found_limit_is_reproducible_and_can_be_given(corpus: Path, tmp_path: Path) -> None:
    lines = gzip.decompress(corpus.read_bytes()).splitlines(keepends=True)
    random.Random(3).shuffle(lines)
    shuffled = tmp_path / "shuffled.jsonl"
    shuffled.write_bytes(b"".join(lines))
    kept = tmp_path / "kept.settings.toml"
    results: list[bytes] = []
    for source, threads, again in ((corpus, 1, False), (shuffled, 2, False), (corpus, 2, True)):
        output = tmp_path / f"authors-{len(results)}.csv"
        run = load_settings(kept) if again else None
        summary = disambiguate(source, output, run, resources=Resources(threads=threads))
        results.append(output.read_bytes())
        kept.write_bytes(settings_path(output).read_bytes())
        assert (summary.calibration is None) == again
        assert summary.confidence is not None
        assert load_settings(kept).limit == summary.limit
    assert results[0] == results[1] == results[2]


def test_given_limit_is_not_changed(corpus: Path, tmp_path: Path) -> None:
    summary = disambiguate(corpus, tmp_path / "authors.parquet", Settings(beta=1e-4))
    assert (summary.limit, summary.calibration) == (Limit(beta=1e-4), None)
    assert load_settings(settings_path(summary.output)).limit == Limit(beta=1e-4)
    table = pq.read_table(summary.output)
    blocks_of_one = sum(count == 1 for count in Counter(table["block"].to_pylist()).values())
    assert table["confidence"].null_count == blocks_of_one


# Collections that are too small.


def paper(number: int, *names: str, **more: Any) -> dict[str, Any]:
    return {"id": str(number), "authors": [{"name": name} for name in names], **more}


def titled(number: int, *names: str) -> dict[str, Any]:
    return paper(number, *names, title=f"Kernels of {word(number)} and {word(number % 7)}", year=2000 + number % 9)


TOO_SMALL: dict[str, list[dict[str, Any]]] = {
    "three records": [titled(number, "Doe, Jane", "Smith, A") for number in range(3)],
    "no name twice": [titled(number, f"{word(number)}, A") for number in range(80)],
    "one block": [titled(number, "Doe, Jane") for number in range(80)],
    "one document": [titled(0, *(f"{word(number)}, A" for number in range(60) for _ in range(3)))],
    "no features": [paper(number, f"{word(number % 40)}, A") for number in range(120)],
    "few people": [titled(number, f"{word(number % 25)}, A") for number in range(75)],
}


def assert_default(summary: Summary) -> None:
    assert summary.limit == Settings().limit
    assert summary.calibration
    assert summary.calibration.why
    (warning,) = summary.warnings
    assert warning.startswith(summary.calibration.why)
    assert warning.endswith(".")
    assert "\n" not in warning
    assert "kappa 7" in warning
    assert summary.confidence is None
    table = pq.read_table(summary.output)
    for column in ("confidence", "author_confidence"):
        assert table[column].null_count == len(table) == summary.mentions


@pytest.mark.parametrize("case", TOO_SMALL)
def test_too_small_collections_get_the_default_limit(tmp_path: Path, case: str) -> None:
    source = write(tmp_path / "in.jsonl", TOO_SMALL[case])
    assert_default(disambiguate(source, tmp_path / "out.parquet"))


@pytest.mark.slow
def test_too_large_blocks_give_the_default_limit(corpus: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(block_sample, "CLUSTERED_WORK", 1)
    assert_default(disambiguate(corpus, tmp_path / "out.parquet"))
    assert disambiguate(corpus, tmp_path / "given.parquet", Settings(kappa=4.0)).confidence is None


def test_target_precision_without_pseudonames_gives_the_default_limit(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", TOO_SMALL["three records"])
    done = disambiguate(source, tmp_path / "out.parquet", Settings(target_precision=0.9))
    assert_default(done)
    assert any("the target precision of 0.9 is not applied" in warning for warning in done.warnings)


@pytest.mark.slow
def test_recall_and_confidence_are_honest_at_a_high_target_precision(tmp_path: Path) -> None:
    """At a strict limit most authors are fragments of people; pseudo-names must not take fragments for people."""
    corpus = generate(tmp_path, Corpus(mentions=8000, ambiguity=2.0, seed=3))
    done = disambiguate(corpus, tmp_path / "out.parquet", Settings(target_precision=0.9999, name_trust=0))
    found = evaluate(tmp_path / "out.parquet", gold=corpus)
    assert done.calibration is not None
    assert found.bcubed.recall < 0.8, "otherwise the test checks nothing"
    assert done.calibration.recall == pytest.approx(found.bcubed.recall, abs=0.3)
    assert found.confidence is not None
    assert found.confidence.stated == pytest.approx(found.confidence.true, abs=0.1)


def test_mentions_on_one_document_give_the_default_limit(tmp_path: Path) -> None:
    """No two people can be combined, so that no pseudo-name has two people."""
    generator = np.random.default_rng(0)
    lines = [line for topic in range(60) for line in mentions_of(f"{word(topic)}, A", [topic], generator)]
    source = write(tmp_path / "m.jsonl", [line | {"document_id": "the only one"} for line in lines])
    assert_default(cluster_file(source, tmp_path / "out.parquet"))
    summary = cluster_file(source, tmp_path / "unbound.parquet", Settings(constraints="none"))
    assert summary.limit == Settings().limit
    assert summary.confidence is None


@pytest.mark.slow
def test_calibration_reports_all_of_its_parts(corpus: Path, tmp_path: Path) -> None:
    class Heard:
        def __init__(self) -> None:
            self.total, self.parts, self.stage = 0, [0], ""

        def begin(self, stage: str, total: int | None) -> None:
            self.stage = stage
            self.total = total or 0 if stage == "calibrate" else self.total

        def advance(self, amount: int) -> None:
            if self.stage == "calibrate":
                self.parts.append(amount)

        def end(self) -> None:
            pass

    heard = Heard()
    disambiguate(corpus, tmp_path / "out.parquet", listener=heard)
    assert len(heard.parts) > 4
    assert sum(heard.parts) == heard.total == PARTS


# The command line.


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--target-precision", "0.9", "--beta", "1e-4"), "do not give alpha, beta or kappa as well"),
        (("--target-precision", "1.5"), "target_precision: Input should be less than 1"),
        (("--kappa", "-1"), "kappa: Input should be greater than or equal to 0"),
    ],
)
def test_rejects_wrong_options_in_one_sentence(tmp_path: Path, options: tuple[str, ...], says: str) -> None:
    source = write(tmp_path / "in.jsonl", TOO_SMALL["three records"])
    done = homonym_command("disambiguate", source, "-o", tmp_path / "out.csv", *options)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out.csv").exists()


def test_command_line_limit_is_used_unchanged(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", TOO_SMALL["three records"])
    done = homonym_command("disambiguate", source, "-o", tmp_path / "out.csv", "--kappa", "5.25")
    assert done.returncode == 0, done.stderr
    assert load_settings(tmp_path / "out.settings.toml").limit == Limit(kappa=5.25)
    assert "too small" not in done.stderr


@pytest.mark.slow
def test_too_small_collection_is_a_warning(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", TOO_SMALL["three records"])
    done = homonym_command("disambiguate", source, "-o", tmp_path / "out.csv")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("too small to calibrate the limit") == 1
    assert "Traceback" not in done.stderr
    header, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert header.endswith(',"confidence","author_confidence"')
    assert len(rows) == 6
    assert all(row.endswith(",,") for row in rows)


# Settings that calibration relies on.

parts = st.floats(0, 1e6)


@given(limit=st.builds(Limit, parts, parts, parts), factor=st.floats(1e-6, 1e6))
def test_scaled_limit_is_higher_by_the_factor_in_every_block(limit: Limit, factor: float) -> None:
    block_start = np.array([0, 1, 5, 400])
    scaled: Floats = limits(block_start, limit.scaled(factor), 1234)
    assert scaled == pytest.approx(factor * limits(block_start, limit, 1234))


@given(limit=st.builds(Limit, parts, parts, parts), target=st.none() | st.floats(0.01, 0.99))
def test_limit_round_trips_through_the_settings_file(
    tmp_path_factory: pytest.TempPathFactory, limit: Limit, target: float | None
) -> None:
    found = Settings(target_precision=target, epsilon=0.25, weights="uniform").with_limit(limit)
    assert (found.target_precision, found.epsilon, found.weights) == (None, 0.25, "uniform")
    path = tmp_path_factory.getbasetemp() / "limit.toml"
    path.write_text(found.to_toml())
    assert load_settings(path).limit == found.limit == limit
    assert load_settings(path).limit_is_given


@pytest.mark.parametrize("variant", ["prob", "max"])
def test_default_gamma_depends_on_the_variant(variant: str) -> None:
    assert Settings(variant=variant).chance_weight == DEFAULT_GAMMA[variant]
    assert Settings(variant=variant).with_limit(Limit(kappa=1.0)).chance_weight == DEFAULT_GAMMA[variant]
    assert Settings(variant=variant, gamma=1.5).with_limit(Limit(kappa=1.0)).chance_weight == 1.5
