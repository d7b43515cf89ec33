"""Computes tables of a result again: authors from mentions, documents and given names; bags from documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from homonym.collection.block_reload import extracted_bags
from homonym.collection.result_statistics import ResultStatistics
from homonym.collection.stored_bags import ROW_GROUP
from homonym.corpus.epoch import read_note
from homonym.corpus.table_changes import summaries_of
from homonym.io.paths import plain_path
from homonym.io.result_directory import AUTHORS, BAGS, DOCUMENTS, MENTIONS
from homonym.io.tables import SMALL_ROW_GROUP, write_table
from homonym.schema import AUTHOR_SUMMARIES, STORED_BAGS
from homonym.settings import load_settings


def recompute_authors(result: Path, copy: Path) -> None:
    """Write the table of authors to a copy of the result, with the names that the last update applied."""
    mentions = pq.read_table(result / MENTIONS)
    author = dict(zip(mentions["mention_id"].to_pylist(), mentions["author_id"].to_pylist(), strict=True))
    names = {author[one]: name for one, name in read_note(result).named.items() if one in author}
    write_table(copy / AUTHORS, AUTHOR_SUMMARIES, [])  # the names of co-authors are looked up there, if they are known
    with TemporaryDirectory(prefix="homonym-") as work:
        found = summaries_of(copy, mentions, load_settings(result).blocking, Path(work), names, {})
    write_table(copy / AUTHORS, AUTHOR_SUMMARIES, [found], row_group=SMALL_ROW_GROUP)


def recompute_bags(result: Path, copy: Path) -> None:
    """Write the bags of all documents to a copy of the result, extracted from their records."""
    settings, statistics = load_settings(result), ResultStatistics.read(result)

    def rows() -> Iterator[pa.Table]:
        with plain_path(result / DOCUMENTS) as plain, pq.ParquetFile(plain) as file:
            for batch in file.iter_batches(ROW_GROUP, columns=["document_id", "record"]):
                yield extracted_bags(pa.Table.from_batches([batch]), settings, statistics)

    write_table(copy / BAGS, STORED_BAGS, rows(), row_group=ROW_GROUP)
