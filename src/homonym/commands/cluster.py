"""Cluster: mentions with their own bags of features in, one author id for every mention out."""

from __future__ import annotations

from pathlib import Path

from homonym.commands.disambiguate import check_files, clustering_files, find_authors
from homonym.commands.result import Summary
from homonym.commands.run import Resources, open_engine, prepare_run
from homonym.io.outputs import Paths
from homonym.runtime.progress import Listener
from homonym.settings import Settings


def cluster(
    inputs: Paths,
    output: str | Path,
    settings: Settings | None = None,
    *,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    save_statistics: str | Path | None = None,
    trace: str | Path | None = None,
    pairs: str | Path | None = None,
    rejects: str | Path | None = None,
    excel: bool = False,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary:
    """Find the authors of mentions that come with their own bags of features, of any types.

    `pairs` is a table of the user's decisions: mention_a, mention_b, and the relation `same` or `different`.
    `excel` writes CSV for spreadsheets.
    """
    run = prepare_run(
        inputs, settings, strict=strict, rejects=rejects, resources=resources, listener=listener,
        engines=("local", "spark"), files=clustering_files(output, trace, save_statistics, statistics, pairs),
    )  # fmt: skip
    files = check_files(
        output, trace, save_statistics, statistics, mentions_in_collection, pairs, resources, excel=excel
    )
    with open_engine(run) as engine:
        read = engine.read_mentions(run.inputs, run.settings)
        return find_authors(run, engine, read, files)
