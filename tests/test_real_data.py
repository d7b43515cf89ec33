"""Accuracy on real labelled data."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.settings import Settings
from tests.support.real_data import DATA, needs_real_data


@pytest.mark.slow
@needs_real_data
def test_aminer(tmp_path: Path) -> None:
    documents = DATA / "aminer" / "documents.jsonl.gz"
    disambiguate(documents, tmp_path / "authors.parquet", Settings(beta=2.5e-5))
    assert evaluate(tmp_path / "authors.parquet", documents).bcubed.f1 >= 0.87


@pytest.mark.slow
@needs_real_data
def test_web_of_science(tmp_path: Path) -> None:
    mentions = DATA / "wos" / "train.jsonl.gz"
    cluster(
        mentions,
        tmp_path / "authors.parquet",
        Settings(beta=2.4e-6),
        statistics=DATA / "wos" / "statistics.csv.gz",
        mentions_in_collection=1_821_295,
    )
    found = evaluate(tmp_path / "authors.parquet", mentions).mean_over_true_sizes_1_to_10
    assert found is not None
    assert found >= 0.92


@pytest.mark.slow
@needs_real_data
def test_pubmed_in_first_initial_blocks(tmp_path: Path) -> None:
    documents = DATA / "pubmed" / "documents.jsonl.gz"
    disambiguate(documents, tmp_path / "authors.parquet", Settings(beta=2.5e-5, blocking="first-initial"))
    assert evaluate(tmp_path / "authors.parquet", documents).bcubed.f1 >= 0.88
