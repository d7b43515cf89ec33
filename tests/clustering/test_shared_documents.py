"""Documents that are compared once: the same bytes as with the bags of mentions, and the answers of the reference."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering import agglomerative
from homonym.clustering.agglomerative import cluster, dense_bytes, pair_scores
from homonym.clustering.arrays import (
    Bags,
    Constraints,
    Frequencies,
    Integers,
    NamePrior,
    SharedDocuments,
    starts,
)
from homonym.clustering.dense.blocks import StoredBags, gather_bags
from homonym.clustering.shared_documents import pair_documents, share_documents, table_bytes
from homonym.clustering.sparse import remaining_pairs
from homonym.settings import KEY_SHARE, Settings
from tests.clustering.test_giant import (
    assert_identical,
    assert_same_answer,
    changed_constants,
    every_block_is_giant,
)
from tests.support.profiles import examples
from tests.support.small_blocks import FACTORS, Bag, bags, parameters

# Six features of each type. Affiliations belong to the mention, the others to the document.
TYPES = ("aff", "co", "term", "year")
TYPE_START = np.arange(len(TYPES) + 1) * 6
CO = 6
# The first three names are surnames with initials, the others full names.
authors = st.tuples(st.integers(0, 2), st.none() | st.integers(3, 5))


class Author(NamedTuple):
    """An author of a document: block, name, own features, and the full name that the prior knows."""

    block: int
    name: tuple[int, int | None]
    own: Bag
    prior: int


class Document(NamedTuple):
    """A document with its authors, names on it that are no mentions, and its bags."""

    authors: list[Author]
    others: list[tuple[int, int | None]]
    term: Bag
    year: Bag

    def names(self) -> list[tuple[int, int | None]]:
        return [*(author.name for author in self.authors), *self.others]

    def features(self) -> Bag:
        """The bag of the document, by feature."""
        found: Bag = {}
        for key, full in self.names():
            found[CO + key] = found.get(CO + key, 0.0) + (1.0 if full is None else KEY_SHARE)
            if full is not None:
                found[CO + full] = found.get(CO + full, 0.0) + 1 - KEY_SHARE
        found |= {12 + f: count for f, count in self.term.items()} | {18 + f: count for f, count in self.year.items()}
        return dict(sorted(found.items()))


document_authors = st.builds(Author, st.integers(0, 2), authors, bags, st.integers(-1, len(FACTORS) - 1))
documents = st.lists(
    st.builds(Document, st.lists(document_authors, max_size=4), st.lists(authors, max_size=2), bags, bags),
    min_size=1,
    max_size=6,
).filter(lambda found: any(document.authors for document in found))


class Collection(NamedTuple):
    """Mentions in blocks, with bags that contain those of their documents (`whole`), or only their own."""

    whole: Bags
    own: Bags
    documents: Bags
    document: Integers
    own_name: Any
    own_full_name: Any
    names: NamePrior
    frequencies: Frequencies

    def shared(self, threads: int = 1) -> SharedDocuments:
        table = pair_documents(self.documents, self.frequencies, threads)
        return share_documents(table, self.own.block_start, self.document, self.own_name, self.own_full_name)


def flat(found: list[Bag]) -> tuple[Integers, Any, Any]:
    return (
        starts(np.array([len(bag) for bag in found], np.int64)),
        np.array([f for bag in found for f in bag], np.int32),
        np.array([count for bag in found for count in bag.values()], np.float64),
    )


def collected(found: list[Document], rare: float, kept: Any) -> Collection:
    """The blocks of all authors of the documents, gathered as an engine does."""
    mentions = sorted(
        ((author.block, d, author) for d, document in enumerate(found) for author in document.authors),
        key=lambda mention: mention[:2],
    )
    sizes = np.unique([block for block, _, _ in mentions], return_counts=True)[1]
    document = np.array([d for _, d, _ in mentions], np.int64)
    own_name = np.array([CO + author.name[0] for *_, author in mentions], np.int32)
    full = [author.name[1] for *_, author in mentions]
    own_full_name = np.array([-1 if name is None else CO + name for name in full], np.int32)
    start, feature, count = flat([document.features() for document in found])
    own_start, own_feature, own_count = flat([dict(sorted(author.own.items())) for *_, author in mentions])
    first = len(feature)
    ranges = (start[document], start[document + 1], first + own_start[:-1], first + own_start[1:])
    all_features, all_counts = np.concatenate([feature, own_feature]), np.concatenate([count, own_count])

    def gathered(stored: StoredBags, block_start: Integers) -> Bags:
        return Bags(block_start, *gather_bags(stored, all_features, all_counts, np.zeros(0), TYPE_START, kept))

    whole = gathered(StoredBags(*ranges, own_name, own_full_name), starts(sizes))
    nothing, none = np.zeros(len(found), np.int64), np.full(len(found), -1, np.int32)
    total = (np.bincount(whole.feature, whole.count, TYPE_START[-1]) + rare).astype(np.float64)
    return Collection(
        whole,
        gathered(StoredBags(*ranges[2:], ranges[3], ranges[3], own_name, own_full_name), starts(sizes)),
        gathered(StoredBags(start[:-1], start[1:], nothing, nothing, none, none), np.array([0, len(found)])),
        document,
        own_name,
        own_full_name,
        NamePrior(
            np.array([author.prior for *_, author in mentions], np.int32),
            np.array([FACTORS[author.prior] for *_, author in mentions]),
        ),
        Frequencies(TYPES, TYPE_START, total, total.reshape(len(TYPES), 6).sum(axis=1), len(mentions) + int(rare)),
    )


kept_types = st.sampled_from([(True,) * 4, (True,) * 4, (True, False, True, True), (False, True, True, False)])


@settings(max_examples=examples(1000))
@given(found=documents, rare=st.sampled_from([0.0, 0.3, 50.0]), kept=kept_types)
def test_pairs_of_documents_give_the_same_scores_to_the_last_bit(
    found: list[Document], rare: float, kept: tuple[bool, ...]
) -> None:
    collection = collected(found, rare, np.array(kept))
    for block in range(len(collection.whole.block_start) - 1):
        ordinary = pair_scores(collection.whole, block, collection.frequencies)
        looked_up = pair_scores(collection.own, block, collection.frequencies, collection.shared())
        for expected, answer in zip(ordinary, looked_up, strict=True):
            np.testing.assert_array_equal(answer, expected)


@settings(max_examples=examples(600))
@given(
    found=documents,
    run=parameters(),
    rare=st.sampled_from([0.0, 0.3, 50.0]),
    hypothetical=st.booleans(),
    named=st.booleans(),
)
def test_pairs_of_documents_give_the_same_clustering_to_the_last_bit(
    found: list[Document], run: Settings, rare: float, hypothetical: bool, named: bool
) -> None:
    run = run.changed(scope="overall", weights="uniform")
    collection = collected(found, rare, np.ones(len(TYPES), bool))
    options: dict[str, Any] = {"names": collection.names if named else None, "hypothetical": hypothetical}
    expected = cluster(collection.whole, collection.frequencies, run, margins=True, **options)
    for threads in (1, 2):
        answer = cluster(
            collection.own, collection.frequencies, run, margins=True, shared=collection.shared(threads), **options
        )  # fmt: skip
        assert_identical(answer, expected)


def of_one_document(collection: Collection) -> Constraints:
    """Cannot-links between the mentions of a block on one document; a must-link of the first two mentions."""
    sizes, document = np.diff(collection.own.block_start), collection.document
    first = np.repeat(collection.own.block_start[:-1], sizes)
    same = (first[:, None] == first) & (document[:, None] == document) & ~np.eye(len(document), dtype=bool)
    group = np.arange(len(document)) - first
    group[1:2] = 0 if sizes[0] > 1 else group[1:2]
    profile, partner = np.nonzero(same)
    return Constraints(
        group.astype(np.int32),
        np.arange(len(document), dtype=np.int32),
        starts(np.bincount(profile, minlength=len(document))),
        partner.astype(np.int32),
    )


@pytest.mark.slow
@settings(max_examples=examples(600))
@given(
    found=documents,
    run=parameters(),
    rare=st.sampled_from([0.0, 0.3, 50.0]),
    hypothetical=st.booleans(),
    named=st.booleans(),
    constrained=st.booleans(),
    constants=changed_constants(),
    pair_bytes=st.sampled_from([0, *(dense_bytes(clusters, len(TYPES), copied=False) for clusters in range(2, 7))]),
)
def test_rows_looked_up_for_giant_blocks_give_the_same_clustering(
    found: list[Document],
    run: Settings,
    rare: float,
    hypothetical: bool,
    named: bool,
    constrained: bool,
    constants: dict[str, float],
    pair_bytes: int,
) -> None:
    """Also if the pairs of the last clusters are stored, however many these are."""
    run = run.changed(scope="overall", weights="uniform")
    collection = collected(found, rare, np.ones(len(TYPES), bool))
    names = collection.names if named else None
    constraints = of_one_document(collection) if constrained else None
    options: dict[str, Any] = {"names": names, "constraints": constraints, "hypothetical": hypothetical}
    expected = cluster(collection.whole, collection.frequencies, run, margins=True, **options)
    answers = []
    with every_block_is_giant(constants) as patch:
        patch.setattr(agglomerative, "GIANT_BLOCK_OF_LONG_BAGS", 1)
        patch.setattr(remaining_pairs, "PAIR_BYTES", pair_bytes)
        for threads in (1, 2):
            shared, options["threads"] = collection.shared(threads), threads
            answers.append(
                cluster(collection.own, collection.frequencies, run, margins=True, shared=shared, **options)
            )  # fmt: skip
    assert_same_answer(answers[0], expected, run, names)
    assert_identical(*answers)


def test_table_of_many_documents_has_the_scores_of_their_bags_to_the_last_bit() -> None:
    """Rows are filled several at a time, and parts of the table by several threads."""
    random = np.random.default_rng(5)
    count = random.choice([0.0, 0.25, 0.75, 1.0, 3.0], (150, 24), p=[0.6, 0.1, 0.1, 0.1, 0.1])
    count[40], count[64, 6:12] = 0, 0
    owner, feature = np.nonzero(count)
    sizes = np.bincount(owner, minlength=len(count))
    bags = Bags(np.array([0, len(count)]), starts(sizes), feature.astype(np.int32), count[owner, feature])
    total = count.sum(axis=0) + random.random(24)
    frequencies = Frequencies(TYPES, TYPE_START, total, total.reshape(len(TYPES), 6).sum(axis=1), 200)
    expected, n = pair_scores(bags, 0, frequencies)
    d, e = np.tril_indices(len(count))
    different = d != e
    for threads in (1, 2):
        pairs = pair_documents(bags, frequencies, threads).pairs
        np.testing.assert_array_equal(pairs.S[different, :-1], expected[d, e][different])
        np.testing.assert_array_equal(pairs.n, n)


def random_documents(number: int, seed: int) -> tuple[Bags, Frequencies]:
    random = np.random.default_rng(seed)
    count = random.choice([0.0, 0.25, 0.75, 1.0, 3.0], (number, 24), p=[0.6, 0.1, 0.1, 0.1, 0.1])
    count[0, [0, 6, 12, 18]] = 1.0
    owner, feature = np.nonzero(count)
    bags = Bags(
        np.array([0, number]), starts(np.bincount(owner, minlength=number)), feature.astype(np.int32),
        count[owner, feature],
    )  # fmt: skip
    total = count.sum(axis=0) + random.random(24)
    return bags, Frequencies(TYPES, TYPE_START, total, total.reshape(len(TYPES), 6).sum(axis=1), 200)


@pytest.mark.parametrize("kept", [[], [0, 1, 2], [1, 3, 4, 50, 119], list(range(60, 100)), list(range(120))])
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_kept_documents_are_those_of_a_new_table(kept: list[int], threads: int) -> None:
    """The table before is in the same memory, and larger or smaller."""
    bags, frequencies = random_documents(220, 7)
    memory = np.full(table_bytes(220, len(TYPES)) // 8, np.nan)

    def chosen(documents: Integers) -> Bags:
        return bags.select(documents, np.array([len(documents)]))

    before = pair_documents(chosen(np.arange(120)), frequencies, threads, memory)
    for new in (1, 100):
        documents = np.concatenate([np.array(kept, np.int64), np.arange(120, 120 + new)])
        expected = pair_documents(chosen(documents), frequencies)
        found = pair_documents(chosen(documents), frequencies, threads, memory, before.pairs, np.array(kept, np.int64))
        np.testing.assert_array_equal(found.pairs.S, expected.pairs.S)
        np.testing.assert_array_equal(found.pairs.n, expected.pairs.n)
        before = pair_documents(chosen(np.arange(120)), frequencies, threads, memory)


def test_tables_with_other_types_keep_no_rows() -> None:
    bags, frequencies = random_documents(40, 3)
    memory = np.full(table_bytes(40, len(TYPES)) // 8, np.nan)
    kept = np.arange(10, 20)
    others = bags.select(kept, np.array([10]))
    some = others.feature >= CO
    owner = np.repeat(np.arange(10), np.diff(others.bag_start))[some]
    without = Bags(
        others.block_start, starts(np.bincount(owner, minlength=10)), others.feature[some], others.count[some]
    )
    before = pair_documents(bags, frequencies, memory=memory)
    found = pair_documents(without, frequencies, 1, memory, before.pairs, kept)
    np.testing.assert_array_equal(found.pairs.S, pair_documents(without, frequencies).pairs.S)
