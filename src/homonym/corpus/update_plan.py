"""What an update is to do, the blocks that it touches, and rows of the table of mentions that all its steps use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.collection.block_reload import DocumentBags, extract_records
from homonym.collection.result_statistics import ResultStatistics
from homonym.collection.stored_bags import rows_of_part
from homonym.constraints.conflicts import ConstraintConflict
from homonym.corpus.assignment import Epoch
from homonym.corpus.decided import Decided
from homonym.corpus.epoch import CorpusNote
from homonym.corpus.intake import DocumentChanges
from homonym.engines.base import DECIMALS
from homonym.io.result_directory import DOCUMENTS, MENTIONS, UNDECIDED
from homonym.io.row_groups import FilePart
from homonym.io.tables import look_up
from homonym.schema import AUTHORS as MENTION_ROWS

# Number of mentions that are clustered at once, unless a block is larger.
ROWS_AT_ONCE = 20_000
# Number of such batches whose documents are read together: all row groups have some of them.
BATCHES_AT_ONCE = 8
ORDER = [("block", "ascending"), ("document_id", "ascending"), ("position", "ascending"), ("mention_id", "ascending")]


@dataclass
class TouchedBlocks:
    """The mentions of the blocks that an update works on.

    `before` and `after` are the authors that the result shows, by mention id; `base` are the rows with undecided
    authors after the update, and `shown` those with decisions. `renamed` maps mentions that got another id to it.
    `conflicts` are those of the blocks with new mentions.
    """

    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    base: pa.Table = field(default_factory=MENTION_ROWS.empty_table)
    shown: pa.Table = field(default_factory=MENTION_ROWS.empty_table)
    renamed: dict[str, str] = field(default_factory=dict)
    blocks: list[str] = field(default_factory=list)
    former: pa.Table = field(default_factory=MENTION_ROWS.empty_table)
    conflicts: list[ConstraintConflict] = field(default_factory=list)

    @property
    def origin(self) -> dict[str, str]:
        """The authors that the result has shown so far, by the mention ids that hold now."""
        return renamed_keys(self.before, self.renamed)

    @property
    def is_changed(self) -> bool:
        """Whether any row has changed."""
        return not self.shown.cast(MENTION_ROWS).equals(self.former.cast(MENTION_ROWS))


@dataclass(frozen=True)
class UpdatePlan:
    """What an update is to do, and where.

    `place` is the result, `folder` the copy of it that is changed. Rows that do not change are read from `result`: that
    is `place`, or the directory of a new run if the collection is clustered from scratch.
    """

    place: Path
    result: Path
    folder: Path
    work: Path
    epoch: Epoch
    note: CorpusNote
    decided: Decided
    changes: DocumentChanges
    mode: str
    known_ids: pa.Table
    threads: int = 1
    # The identifiers of mentions by kind, filled where documents are read anyway.
    identifiers: dict[str, Mapping[str, str]] = field(default_factory=dict)
    # The parts of files of which some were copied from the result.
    copied: dict[str, list[FilePart]] = field(default_factory=dict)

    @cached_property
    def new_part(self) -> dict[str, pa.Table]:
        """The tables of a part for new and changed documents."""
        return extract_records(self.changes.rows["record"], self.epoch.settings)

    @cached_property
    def statistics(self) -> ResultStatistics:
        """The frequencies of the epoch, read once: they are used for new documents and for all batches of blocks."""
        return ResultStatistics.read(self.folder)

    def new_bags(self) -> pa.Table:
        """What a result stores of the features of new and changed documents."""
        document_id = self.changes.rows["document_id"].combine_chunks()
        return rows_of_part(self.new_part, document_id, self.statistics)


def authors_among(rows: pa.Table) -> set[str]:
    """The authors of some mentions."""
    return set(pc.unique(rows["author_id"].drop_null()).to_pylist())


def rows_without_authors(mentions: pa.Table) -> pa.Table:
    """Rows of the table of mentions for those of a part."""
    columns = {name: mentions[name] for name in ("mention_id", "document_id", "position", "name", "block")}
    missing = {name: pa.nulls(len(mentions), MENTION_ROWS.field(name).type) for name in MENTION_ROWS.names[5:]}
    return nullable_rows(pa.table(columns | missing).select(MENTION_ROWS.names))


NULLABLE_ROWS = pa.schema([one.with_nullable(True) for one in MENTION_ROWS])


def nullable_rows(rows: pa.Table) -> pa.Table:
    """Rows of the table of mentions, which may lack an author."""
    return rows.cast(NULLABLE_ROWS)


def undecided_rows(plan: UpdatePlan, column: str, values: Sequence[str]) -> pa.Table:
    """Rows of the table of mentions with undecided authors."""
    return without_decisions(plan.result, look_up(plan.result / MENTIONS, column, pa.array(values, pa.string())))


def without_decisions(result: Path, rows: pa.Table) -> pa.Table:
    """Rows of the table of mentions with undecided authors."""
    path = result / UNDECIDED
    if not path.exists():
        return nullable_rows(rows)
    undecided = pq.read_table(path)
    place = pc.index_in(rows["mention_id"], undecided["mention_id"].combine_chunks())
    found = undecided.take(place)
    for name in ("author_id", "constraint", "confidence", "author_confidence"):
        column = pc.if_else(pc.is_valid(place), found[name], rows[name])
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return nullable_rows(rows)


def authors_of_mentions(rows: pa.Table) -> dict[str, str]:
    """The author of each mention."""
    return dict(zip(rows["mention_id"].to_pylist(), rows["author_id"].to_pylist(), strict=True))


def renamed_keys(authors: dict[str, str], renamed: Mapping[str, str]) -> dict[str, str]:
    """Authors of mentions, by the ids that the mentions have now.

    If several mentions have become one, the author is that of the mention that kept its id.
    """
    if not renamed:
        return authors
    kept = {one: author for one, author in authors.items() if one not in renamed}
    return {renamed[one]: author for one, author in authors.items() if one in renamed} | kept


def new_rows(plan: UpdatePlan) -> pa.Table:
    """The rows of the mentions of new and changed documents, without authors."""
    return rows_without_authors(plan.new_part["mentions"]) if len(plan.changes.rows) else no_rows()


def no_rows() -> pa.Table:
    """No rows of the table of mentions."""
    return nullable_rows(MENTION_ROWS.empty_table())


def batches_of_blocks(plan: UpdatePlan, rows: pa.Table) -> Iterator[tuple[pa.Table, DocumentBags]]:
    """Whole blocks of about ROWS_AT_ONCE rows, with the bags of their documents, which are read for several batches."""
    batches = list(_whole_blocks(rows))
    for first in range(0, len(batches), BATCHES_AT_ONCE):
        some = batches[first : first + BATCHES_AT_ONCE]
        documents = pa.chunked_array([one for batch in some for one in batch["document_id"].chunks], pa.string())
        bags = DocumentBags.read(plan.folder, documents, plan.epoch.settings, plan.statistics)
        yield from ((batch, bags) for batch in some)


def _whole_blocks(rows: pa.Table) -> Iterator[pa.Table]:
    """Whole blocks of about ROWS_AT_ONCE rows."""
    blocks = rows["block"].combine_chunks().dictionary_encode().indices.to_numpy()
    begins = np.append(np.flatnonzero(np.diff(blocks, prepend=-1)), len(rows))
    first = 0
    while first < len(rows):
        full = int(np.searchsorted(begins, first + ROWS_AT_ONCE, side="right")) - 1
        following = int(np.searchsorted(begins, first, side="right"))
        last = int(begins[max(full, following)])
        yield rows.slice(first, last - first).combine_chunks()
        first = last


def years_of(plan: UpdatePlan, rows: pa.Table, places: Sequence[int] | None = None) -> list[int | None]:
    """The year of each row's document; of some rows only, if their places are given."""
    documents = rows["document_id"] if places is None else rows["document_id"].take(pa.array(places, pa.int64()))
    found = look_up(plan.folder / DOCUMENTS, "document_id", pc.unique(documents), ["document_id", "year"])
    year = dict(zip(*found.to_pydict().values(), strict=True))
    return [year.get(one) for one in rows["document_id"].to_pylist()]


def mean_confidence(rows: pa.Table, authors: set[str]) -> pa.Table:
    """The same rows with the mean confidence of some authors computed again."""
    ids, values = rows["author_id"].to_pylist(), rows["confidence"].to_pylist()
    known: dict[str, list[float]] = defaultdict(list)
    for one, value in zip(ids, values, strict=True):
        if one in authors and value is not None:
            known[one].append(value)
    mean = {one: round(sum(some) / len(some), DECIMALS) for one, some in known.items()}
    former = rows["author_confidence"].to_pylist()
    column = [mean.get(one) if one in authors else value for one, value in zip(ids, former, strict=True)]
    place = rows.column_names.index("author_confidence")
    return rows.set_column(place, "author_confidence", pa.array(column, pa.float64()))
