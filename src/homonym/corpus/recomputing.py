"""Computes the table of authors of a result again, from its mentions, its documents and names given by users."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from homonym.corpus.epoch import read_note
from homonym.corpus.table_changes import summaries_of
from homonym.io.result_directory import AUTHORS, MENTIONS
from homonym.io.tables import write_table
from homonym.schema import AUTHOR_SUMMARIES
from homonym.settings import load_settings


def recompute_authors(result: Path, copy: Path) -> None:
    """Write the table of authors to a copy of the result, with the names that the last update applied."""
    mentions = pq.read_table(result / MENTIONS)
    author = dict(zip(mentions["mention_id"].to_pylist(), mentions["author_id"].to_pylist(), strict=True))
    names = {author[one]: name for one, name in read_note(result).named.items() if one in author}
    write_table(copy / AUTHORS, AUTHOR_SUMMARIES, [])  # the names of co-authors are looked up there, if they are known
    with TemporaryDirectory(prefix="homonym-") as work:
        found = summaries_of(copy, mentions, load_settings(result).blocking, Path(work), names, {})
    write_table(copy / AUTHORS, AUTHOR_SUMMARIES, [found])
