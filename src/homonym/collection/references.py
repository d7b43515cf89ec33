"""The authors of documents that are referenced in the same run: features of type `ref` that no part can know.

Names of the referring document's own authors are left out (see features/types.py, `ref`).

DuckDB finds the referenced documents. Their authors are then counted with integers in sorted arrays, because a database
takes several times as long to group millions of texts. A slice of the referring documents is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers, ranges, starts
from homonym.collection.layout import SLOT_BITS

if TYPE_CHECKING:
    import duckdb

# Number of names of referenced authors that are in memory at once, and that are sorted at a time: these fit into the
# cache of a processor.
SLICE, SORTED = 4_000_000, 50_000

# The columns of the table `referenced`.
REFERENCED = pa.schema([("owner", pa.int64()), ("name", pa.int32()), ("count", pa.int32())])


class _Citations(NamedTuple):
    """References ordered by the document that refers, and the number of its authors."""

    citing: Integers
    cited: Integers
    holders: Integers


class _Authors(NamedTuple):
    """The names of the authors of document i, counted from `first`, are `name[start[i]:start[i + 1]]`."""

    name: NDArray[np.int32]
    start: Integers
    first: int

    def number(self, documents: Integers) -> Integers:
        """The number of authors of some documents."""
        return self.start[documents - self.first + 1] - self.start[documents - self.first]

    def of(self, documents: Integers) -> NDArray[np.int32]:
        """The names of all authors of some documents."""
        found: NDArray[np.int32] = self.name[ranges(self.start[documents - self.first], self.number(documents))]
        return found


def count_referenced_authors(connection: duckdb.DuckDBPyConnection, cited: str) -> None:
    """Make the tables `referenced` (owner, name, count), `own_names` (name, feature), `ref_counts` (feature, holders).

    `cited` is a query with one row per reference: `sequence` of the document, `cited`, the sequence of the one that it
    refers to, `holders`, the number of mentions that share the bag, and `times`, how often the reference counts. Names
    are numbered in the order of the features.
    """
    connection.execute(
        """CREATE OR REPLACE TABLE own_names AS
           SELECT (row_number() OVER (ORDER BY own_name) - 1)::INTEGER AS name, own_name AS feature
           FROM (SELECT DISTINCT own_name FROM mentions WHERE own_name IS NOT NULL)"""
    )
    _execute(connection, "CREATE OR REPLACE TABLE referenced AS SELECT * FROM new_rows", REFERENCED.empty_table())
    citations = _citations(connection, cited)
    counts = np.zeros(_number_of_names(connection), np.int64)
    if len(citations.citing):
        for rows, holders in _slices(citations, _authors(connection, citations)):
            counts += _sum_by_name(rows, holders, len(counts))
            _execute(connection, "INSERT INTO referenced SELECT * FROM new_rows", rows)
    _execute(
        connection,
        """CREATE OR REPLACE TABLE ref_counts AS
           SELECT feature, holders FROM new_rows JOIN own_names USING (name) WHERE holders > 0""",
        pa.table({"name": np.arange(len(counts), dtype=np.int32), "holders": counts}),
    )


def _execute(connection: duckdb.DuckDBPyConnection, query: str, rows: pa.Table) -> None:
    """Execute a query that has the rows of a table as `new_rows`."""
    connection.register("new_rows", rows)
    connection.execute(query)
    connection.unregister("new_rows")


def _number_of_names(connection: duckdb.DuckDBPyConnection) -> int:
    return int(connection.execute("SELECT count(*) FROM own_names").fetchall()[0][0])


def _citations(connection: duckdb.DuckDBPyConnection, cited: str) -> _Citations:
    columns = connection.execute(cited).fetchnumpy()
    citing, found, holders, times = (
        np.asarray(columns[name], np.int64) for name in ("sequence", "cited", "holders", "times")
    )
    order = np.argsort(citing, kind="stable")
    if (times != 1).any():
        order = np.repeat(order, times[order])
    return _Citations(citing[order], found[order], holders[order])


def _authors(connection: duckdb.DuckDBPyConnection, citations: _Citations) -> _Authors:
    """The names of the authors of all documents that refer to others or are referenced."""
    first = int(min(citations.citing.min(), citations.cited.min()))
    last = int(max(citations.citing.max(), citations.cited.max()))
    columns = connection.execute(
        f"""SELECT owner >> {SLOT_BITS} AS sequence, n.name FROM mentions m JOIN own_names n ON n.feature = m.own_name
            WHERE owner >> {SLOT_BITS} BETWEEN {first} AND {last}"""
    ).fetchnumpy()
    document, name = np.asarray(columns["sequence"], np.int64) - first, np.asarray(columns["name"], np.int32)
    order = np.argsort(document, kind="stable")
    return _Authors(name[order], starts(np.bincount(document, minlength=last - first + 1)), first)


def _slices(citations: _Citations, authors: _Authors) -> Iterator[tuple[pa.Table, Integers]]:
    """Rows of `referenced` in order, and for each the number of authors of its document."""
    for part in _cut(citations, authors, SLICE):
        counted = [_count(some, authors) for some in _cut(part, authors, SORTED)]
        tables, holders = zip(*counted, strict=True)
        yield pa.concat_tables(tables), np.concatenate(holders)


def _cut(citations: _Citations, authors: _Authors, most: int) -> Iterator[_Citations]:
    """Cut citations into slices with about `most` names; all references of a document are in one slice."""
    filled = starts(authors.number(citations.cited))
    begin, end = 0, len(citations.citing)
    while begin < end:
        last = int(np.searchsorted(filled, filled[begin] + most, side="right")) - 1
        if last < end:
            last = int(np.searchsorted(citations.citing, citations.citing[max(last - 1, begin)], side="right"))
        yield _Citations(*(column[begin:last] for column in citations))
        begin = last


def _count(citations: _Citations, authors: _Authors) -> tuple[pa.Table, Integers]:
    """The rows of `referenced` of some references, without self-citations, and the authors of each row's document."""
    begins = np.flatnonzero(np.diff(citations.citing, prepend=-1))
    rank = np.zeros(len(citations.citing), np.int64)
    rank[begins[1:]] = 1
    bits = int(authors.name.max(initial=0)).bit_length()
    # One number for document and name, which sorts faster than both.
    key = np.repeat(np.cumsum(rank) << bits, authors.number(citations.cited)) | authors.of(citations.cited)
    key.sort()
    first = np.flatnonzero(np.diff(key, prepend=-1))
    found, count = key[first], np.diff(first, append=len(key))
    citing = citations.citing[begins]
    own = np.repeat(np.arange(len(begins)) << bits, authors.number(citing)) | authors.of(citing)
    place = np.searchsorted(found, own)
    place = place[found[np.minimum(place, len(found) - 1)] == own] if len(found) else place[:0]
    found, count = np.delete(found, place), np.delete(count, place)
    place, name = begins[found >> bits], found & ((1 << bits) - 1)
    columns = [citations.citing[place] << SLOT_BITS, name.astype(np.int32), count.astype(np.int32)]
    return pa.table(columns, schema=REFERENCED), citations.holders[place]


def _sum_by_name(rows: pa.Table, holders: Integers, names: int) -> Integers:
    """For each name, the sum of its counts in the bags of all mentions; exact below 2⁵³."""
    weights = rows["count"].to_numpy() * holders
    return np.bincount(rows["name"].to_numpy(), weights, names).astype(np.int64)
