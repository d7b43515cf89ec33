"""Collections in which all mentions are alike, or none has a namesake: they end, and both kernels agree."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from homonym import Settings, disambiguate
from homonym.clustering.agglomerative import cluster
from homonym.clustering.arrays import Bags, Frequencies


@pytest.mark.parametrize("others", [0, 10**6], ids=["nothing else in the collection", "rare features"])
def test_identical_bags_of_a_giant_block_are_clustered_as_in_a_dense_one(others: int) -> None:
    mentions, features = 1200, 5
    bags = Bags(
        np.array([0, mentions]),
        np.arange(mentions + 1) * features,
        np.tile(np.arange(features, dtype=np.int32), mentions),
        np.ones(mentions * features),
    )
    total = np.append(np.full(features, float(mentions)), float(others))
    frequencies = Frequencies(("term",), np.array([0, features + 1]), total, np.array([total.sum()]), mentions + others)
    settings = Settings(kappa=1.0, chance_limit=0.0, gamma=0.25)
    giant, dense = (cluster(bags, frequencies, settings, giant=np.array([is_giant])) for is_giant in (True, False))
    assert np.array_equal(giant.label, dense.label)
    assert np.array_equal(giant.merge_left, dense.merge_left)
    # What all mentions of a collection have says nothing; what only they have says that they are one author.
    assert giant.label.max() == (0 if others else mentions - 1)


def test_collection_without_namesakes_has_one_author_per_mention(tmp_path: Path) -> None:
    number = 3000
    with (tmp_path / "in.jsonl").open("w") as stream:
        for i in range(number):
            surname = "".join(chr(97 + i // 26**k % 26) for k in range(3))
            document = {"id": f"W{i}", "title": f"On {surname}", "authors": [{"name": f"Mc{surname}, Anna"}]}
            stream.write(json.dumps(document) + "\n")
    done = disambiguate(tmp_path / "in.jsonl", tmp_path / "out.csv")
    assert (done.mentions, done.authors) == (number, number)
