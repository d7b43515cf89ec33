"""The process of merging against brute force: every state measured mention by mention, in exact fractions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.clustering.agglomerative import Clustering, cluster
from homonym.experiments.process import Process, concatenate_processes, follow
from homonym.measures.methods import LabelledNames
from homonym.settings import Settings
from tests.support.labelled_blocks import Authors, Collection, labelled_collections, labelled_names, measured
from tests.support.profiles import examples
from tests.support.small_blocks import Mention, literal, names_of, parameters


def expected_states(names: LabelledNames, collection: Collection, authors: Authors, run: Settings) -> Any:
    """The states of each name, and how many rounds the method itself makes."""
    states, rounds = [], []
    for block, author in zip(collection, authors, strict=True):
        steps = literal(block, names.frequencies, run)
        partitions = [[[x] for x in range(len(block))], *(step.clusters for step in steps)]
        states.append([measured(clusters, author) for clusters in partitions])
        rounds.append(sum(step.before_convergence for step in steps))
    return states, rounds


def followed(names: LabelledNames, collection: Collection, run: Settings) -> Process:
    prior = names_of(collection)
    return follow(names, cluster(names.bags, names.frequencies, run, names=prior, hypothetical=True))


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(labelled=labelled_collections(), run=parameters())
def test_states_equal_the_reference(labelled: tuple[Collection, Authors], run: Settings) -> None:
    names = labelled_names(*labelled)
    process = followed(names, labelled[0], run)
    states, rounds = expected_states(names, *labelled, run)
    flat_states = [state for name in states for state in name]
    assert process.names == len(names)
    assert process.name.tolist() == [b for b, name in enumerate(states) for _ in name]
    assert process.clusters.tolist() == [state.clusters for state in flat_states]
    assert process.precision == pytest.approx([float(state.precision) for state in flat_states], rel=1e-12)
    assert process.recall == pytest.approx([float(state.recall) for state in flat_states], rel=1e-12)
    assert process.f1 == pytest.approx([float(state.f1) for state in flat_states], rel=1e-12)
    first = np.cumsum([0] + [len(name) for name in states[:-1]])
    assert process.stop.tolist() == (first + rounds).tolist()


@settings(max_examples=examples(150))
@given(labelled=labelled_collections(), run=parameters())
def test_extremes_equal_exact_fractions(labelled: tuple[Collection, Authors], run: Settings) -> None:
    names, run = labelled_names(*labelled), run.changed(chance_limit=0.0)  # otherwise it may end in several clusters
    process = followed(names, labelled[0], run)
    states, _ = expected_states(names, *labelled, run)
    whole = [max(state.recall for state in name if state.precision == 1) for name in states]
    complete = [max(state.precision for state in name if state.recall == 1) for name in states]
    assert process.max_recall() == pytest.approx([float(value) for value in whole], rel=1e-12)
    assert process.max_precision() == pytest.approx([float(value) for value in complete], rel=1e-12)
    first = np.cumsum([0] + [len(name) for name in states[:-1]])
    f1 = [[state.f1 for state in name] for name in states]
    assert process.oracle().tolist() == [int(start) + v.index(max(v)) for start, v in zip(first, f1, strict=True)]


@settings(max_examples=examples(100))
@given(labelled=labelled_collections(), run=parameters(), data=st.data())
def test_concatenated_batches_equal_the_undivided_process(
    labelled: tuple[Collection, Authors], run: Settings, data: st.DataObject
) -> None:
    names = labelled_names(*labelled)
    cuts = sorted(data.draw(st.sets(st.integers(1, max(len(names) - 1, 1)))) - {len(names)})
    bounds = [0, *cuts, len(names)]
    collection = labelled[0]
    parts = [
        followed(names.select(np.arange(first, last)), collection[first:last], run) for first, last in pairwise(bounds)
    ]
    together, whole = concatenate_processes(parts), followed(names, collection, run)
    for field in ("name", "clusters", "precision", "recall", "stop"):
        assert getattr(together, field).tolist() == getattr(whole, field).tolist()
    assert together.oracle().tolist() == whole.oracle().tolist()
    assert together.max_recall().tolist() == whole.max_recall().tolist()


def test_clusters_without_labels_are_not_counted() -> None:
    """Mentions 2 and 3 have no label: what they do alone changes nothing."""
    merges = [(1, 2, 3), (2, 0, 2), (3, 0, 1)]  # round, left, right
    step, left, right = (np.array([*column, 0], np.int32) for column in zip(*merges, strict=True))
    scores = np.array([0.4, 0.3, 0.2, 0.0])
    label, rounds = np.array([0, 1, 0, 0], np.int32), np.array([2], np.int32)
    clustering = Clustering(np.array([0, 4]), np.array([0.25]), label, rounds, step, left, right, scores)
    mention: Mention = {"co": {0: 1.0}, "term": {}, "year": {}}
    process = follow(labelled_names([[mention] * 4], [[7, 7, -1, -1]]), clustering)
    assert process.clusters.tolist() == [2, 2, 2, 1]
    assert process.precision.tolist() == [1.0, 1.0, 1.0, 1.0]
    assert process.recall.tolist() == [0.5, 0.5, 0.5, 1.0]
    assert (process.stop.tolist(), process.oracle().tolist()) == ([2], [3])


def test_oracle_takes_the_first_of_equal_states() -> None:
    """The two mentions of different people are no better together than the two of one person apart."""
    process = Process(
        name=np.array([0, 0, 0, 1, 1]),
        clusters=np.array([3, 2, 1, 2, 1]),
        precision=np.array([1.0, 0.5, 0.5, 0.2, 0.8]),
        recall=np.array([0.5, 1.0, 1.0, 0.9, 1.0]),
        stop=np.array([1, 4]),
    )
    assert process.oracle().tolist() == [0, 4]
    assert process.max_recall().tolist() == [0.5, 0.0]
    assert process.max_precision().tolist() == [0.5, 0.8]
