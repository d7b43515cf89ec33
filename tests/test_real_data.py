"""Figures on real labelled data, where it is present beside the project; skipped, visibly, where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.settings import Settings

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

present = pytest.mark.skipif(not DATA.is_dir(), reason="labelled data is not beside the project (../shared/data)")


@present
def test_aminer(tmp_path: Path) -> None:
    documents = DATA / "aminer" / "documents.jsonl.gz"
    disambiguate(documents, tmp_path / "authors.parquet", Settings(beta=2.5e-5))
    assert evaluate(tmp_path / "authors.parquet", documents).bcubed.f1 >= 0.87


@present
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


@present
def test_pubmed_in_first_initial_blocks(tmp_path: Path) -> None:
    documents = DATA / "pubmed" / "documents.jsonl.gz"
    disambiguate(documents, tmp_path / "authors.parquet", Settings(beta=2.5e-5, blocking="first-initial"))
    assert evaluate(tmp_path / "authors.parquet", documents).bcubed.f1 >= 0.88
