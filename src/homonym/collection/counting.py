"""Parts to frequencies with DuckDB: find duplicates, resolve references, count #(f), number the features.

Results must not depend on the order of rows, but floating-point sums do. So counts are summed as integers in units of
2⁻⁶⁴. That is exact for every double above 2⁻¹¹, with a relative error below 1e-10 for the smallest count accepted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from homonym.clustering.arrays import Frequencies
from homonym.collection import document_table, duplicates, namesakes
from homonym.collection.background import BackgroundUse, largest_name_query
from homonym.collection.duplicates import Duplicate
from homonym.collection.layout import PART_TABLES, SLOT_BITS, part_file, part_files
from homonym.collection.references import count_referenced_authors
from homonym.collection.statistics import GivenStatistics, sql_files, sql_quoted, use_given_counts

if TYPE_CHECKING:
    import duckdb


UNITS = 2.0**64
# Rows of a file of mentions that are read at once.
ROWS_PER_GROUP = 122_880
EXACT_SUM = f"(sum((count * {UNITS:.0f}.0)::HUGEINT * holders) / {UNITS:.0f}.0)::DOUBLE"


def connect(work: Path, memory: int, threads: int, *, in_memory: bool = False) -> duckdb.DuckDBPyConnection:
    """Open the database of the work directory with a memory limit; it spills to disk in the same directory.

    With `in_memory`, the database has no file. Its tables can spill, too, but are not compressed.
    """
    import duckdb

    # DuckDB resolves links in the path of a database and misreads these characters.
    in_memory = in_memory or bool(set("?\\") & set(os.path.realpath(work)))
    connection = duckdb.connect(":memory:" if in_memory else work / "collection.duckdb")
    connection.execute(f"SET memory_limit = '{memory // 2**20}MiB'")
    connection.execute(f"SET threads = {threads}")
    connection.execute("SET preserve_insertion_order = false")
    # Relations print a progress bar to standard output even if enable_progress_bar is off.
    connection.execute("SET enable_progress_bar_print = false")
    connection.execute("SET temp_directory = ?", [str(work / "spill")])
    return connection


def read_parts(connection: duckdb.DuckDBPyConnection, work: Path) -> None:
    """Create a view of each table over all parts; a table that no part has is empty."""
    for name, schema in PART_TABLES.items():
        if files := part_files(work, name):
            connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM read_parquet({sql_files(files)})')
        else:
            connection.register("empty", schema.empty_table())
            connection.execute(f'CREATE OR REPLACE TABLE "no {name}" AS SELECT * FROM empty')
            connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM "no {name}"')
            connection.unregister("empty")


@dataclass(frozen=True)
class Queries:
    """The database as duplicates.py uses it."""

    connection: duckdb.DuckDBPyConnection
    prefix: str = ""
    sha256: str = "sha256({})"
    sorted_list: str = "list(DISTINCT {0} ORDER BY {0})"
    flat_pairs: str = "flatten(list([{0}, {1}] ORDER BY {0}, {1}))"

    def define(self, table: str, query: str) -> None:
        """Make or replace a view."""
        self.connection.execute(f"CREATE OR REPLACE VIEW {table} AS {query}")

    def save(self, table: str, query: str) -> None:
        """Make or replace a table by the result of a query."""
        self.connection.execute(f"CREATE OR REPLACE TABLE {table} AS {query}")

    def load(self, table: str, rows: pa.Table) -> None:
        """Make or replace a table by the given rows."""
        self.connection.register("loaded", rows)
        self.save(table, "SELECT * FROM loaded")
        self.connection.unregister("loaded")

    def number(self, query: str) -> int:
        """The result of a query with one integer."""
        return int(_value(self.connection, query))


def find_repeated_mentions(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `duplicates` of a run over mentions: those whose id an earlier one has."""
    Queries(connection).save("duplicates", duplicates.repeated_mentions(""))


def find_copies(connection: duckdb.DuckDBPyConnection, next_sequence: int) -> int:
    """Make the table `duplicates` of a run over documents, see duplicates.py."""
    return duplicates.find_copies(Queries(connection), next_sequence)


def count_duplicates(connection: duckdb.DuckDBPyConnection, shown: int) -> tuple[int, int, list[Duplicate]]:
    """The number of records that repeat an earlier one, how many only by title, and the first `shown` of them."""
    number, by_title = _row(
        connection, "SELECT count(*), count(*) FILTER (key LIKE 'title:%') FROM duplicates WHERE sequence > first"
    )
    rows = connection.execute(duplicates.first_duplicates("", shown)).fetchall()
    return number, by_title, [Duplicate(*row) for row in rows]


def copies_by_document(connection: duckdb.DuckDBPyConnection) -> Any:
    """Stream the copies of all documents that have several; those of one document follow each other."""
    return connection.sql(f"{duplicates.copies('')} ORDER BY d.merged, d.sequence").to_arrow_reader(10_000)


def rename_equal_ids(connection: duckdb.DuckDBPyConnection) -> tuple[int, str]:
    """Rename different documents that have the same id: both `smith2020` get a suffix, see duplicates.py.

    Returns the number of renamed documents, and one of the new ids.
    """
    queries = Queries(connection)
    queries.save("renamed", duplicates.renaming(queries))
    query = "SELECT * FROM mentions"
    number, new_id = _row(connection, duplicates.renamed_documents(""))
    if number:
        query = f"""SELECT m.* REPLACE (coalesce(r.id || '#' || position, mention_id) AS mention_id,
                                        coalesce(r.id, document_id) AS document_id)
                    FROM mentions m LEFT JOIN renamed r ON r.sequence = m.owner >> {SLOT_BITS}"""
    connection.execute(f"CREATE OR REPLACE VIEW named_mentions AS {query}")
    return number, new_id


def count_features(connection: duckdb.DuckDBPyConnection, given: GivenStatistics | None, work: Path) -> Frequencies:
    """Number the features of the run by type and name, with #(f) counted or taken from given statistics.

    #(f) is the sum over the parts, minus what duplicate records have added to them.
    """
    name_documents(connection)
    resolve_references(connection)
    find_duplicate_counts(connection, work)
    connection.execute(
        f"""CREATE OR REPLACE TABLE counted AS SELECT type, feature, {EXACT_SUM} AS count FROM
              (SELECT type, feature, count, holders FROM features
               UNION ALL BY NAME SELECT 'ref' AS type, feature, 1.0 AS count, holders FROM ref_counts
               UNION ALL BY NAME SELECT type, feature, count, -holders AS holders FROM counted_twice)
            GROUP BY ALL HAVING {EXACT_SUM} > 0"""
    )
    if given:
        use_given_counts(connection, given)
    connection.execute(
        """CREATE OR REPLACE TABLE vocabulary AS
           SELECT (row_number() OVER (ORDER BY type, feature) - 1)::INTEGER AS id, type, feature, count FROM counted"""
    )
    return _frequencies(connection, given)


def find_duplicate_counts(connection: duckdb.DuckDBPyConnection, work: Path) -> None:
    """Make the table `counted_twice`: what duplicate records have added to the counts of their parts."""
    connection.execute(
        "CREATE OR REPLACE TABLE counted_twice (type VARCHAR, feature VARCHAR, count DOUBLE, holders BIGINT)"
    )
    if not _value(connection, "SELECT count(*) FROM duplicates") or not (work / "bags").is_dir():
        return
    # The number of a part is the sequence of its first record, so only parts with duplicates have to be read.
    parts = [int(path.stem) for path in part_files(work, "bags")]
    for part, following in zip(parts, [*parts[1:], 1 << 62], strict=True):
        among = f"SELECT sequence << {SLOT_BITS} FROM duplicates WHERE sequence BETWEEN {part} AND {following - 1}"
        if _value(connection, f"SELECT count(*) FROM ({among})"):
            bags, features = (sql_files([part_file(work, name, part)]) for name in ("bags", "features"))
            connection.execute(
                f"""INSERT INTO counted_twice
                    SELECT f.type, f.feature, b.count, b.holders
                    FROM read_parquet({bags}) b JOIN read_parquet({features}) f ON f.id = b.feature AND NOT f.again
                    WHERE (b.owner >> {SLOT_BITS}) << {SLOT_BITS} IN ({among})"""
            )


def resolve_references(connection: duckdb.DuckDBPyConnection) -> None:
    """Find the authors of referenced documents of the run, which are features of type `ref`; see references.py.

    A merged document is found by the ids of all its copies. If a document refers to it by several, the one that occurs
    most often counts.
    """
    if not _value(connection, "SELECT count(*) FROM duplicates"):
        count_referenced_authors(
            connection,
            """SELECT r.sequence, d.sequence AS cited, r.holders, 1 AS times
               FROM "references" r JOIN document_names d ON d.id = r.id""",
        )
        return
    connection.execute(
        f"""CREATE OR REPLACE VIEW cited AS
            SELECT r.sequence, r.id, d.sequence AS cited, any_value(r.holders) AS holders, count(*) AS times
            FROM "references" r JOIN document_names d ON d.id = r.id
            WHERE {is_unique("r.sequence")} GROUP BY ALL"""
    )
    count_referenced_authors(
        connection,
        """SELECT sequence, cited, any_value(holders) AS holders, max(times) AS times FROM cited
           GROUP BY sequence, cited""",
    )


def keep_ids(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the view `named_mentions` of a run that renames no document."""
    connection.execute("CREATE OR REPLACE VIEW named_mentions AS SELECT * FROM mentions")


def name_documents(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the view `document_names`: all ids by which a document may be cited, with its sequence."""
    connection.execute(
        """CREATE OR REPLACE VIEW document_names AS
           SELECT DISTINCT r.id, coalesce(d.merged, r.sequence) AS sequence
           FROM records r LEFT JOIN duplicates d ON d.sequence = r.sequence"""
        if _value(connection, "SELECT count(*) FROM duplicates")
        else "CREATE OR REPLACE VIEW document_names AS SELECT id, sequence FROM records"
    )


def name_changed_documents(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `changed_names`, see document_table.py."""
    document_table.name_changed_documents(Queries(connection))


def chosen_documents(connection: duckdb.DuckDBPyConnection) -> Iterator[pa.RecordBatch]:
    """Stream the documents of the result in order, in the columns of CHOSEN (see document_table.py).

    The query runs when its first row is asked for. It has a connection of its own, so that this may be on another
    thread.
    """
    connection.execute('CREATE OR REPLACE VIEW document_references AS SELECT sequence, id FROM "references"')
    query = document_table.choose_documents(Queries(connection))
    return _streamed(connection.cursor(), f"{query} ORDER BY document_id")


def _streamed(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[pa.RecordBatch]:
    """The rows of a query; the connection is closed afterwards."""
    with connection:
        yield from connection.sql(query).to_arrow_reader(2_000)


def renumbered_features(connection: duckdb.DuckDBPyConnection) -> Any:
    """Stream (part, id, number) in any order: the id of each feature in its part, and its number in the collection."""
    return connection.sql(
        """SELECT part, f.id AS id, coalesce(v.id, -1)::INTEGER AS number
           FROM features f LEFT JOIN vocabulary v USING (type, feature) WHERE NOT again"""
    ).to_arrow_reader(1_000_000)


def features_of_parts(connection: duckdb.DuckDBPyConnection) -> dict[int, int]:
    """The number of features of each part that has any, in the order of the parts."""
    return dict(connection.execute("SELECT part, max(id) + 1 FROM features GROUP BY part ORDER BY part").fetchall())


def referenced_bags(connection: duckdb.DuckDBPyConnection) -> Any:
    """The authors of referenced documents as (owner, number, count), ordered by owner and feature."""
    return connection.sql(
        """SELECT owner, v.id AS number, r.count::DOUBLE AS count FROM referenced r JOIN own_names n USING (name)
           JOIN vocabulary v ON v.type = 'ref' AND v.feature = n.feature ORDER BY owner, number"""
    ).to_arrow_table()


def count_mentions(connection: duckdb.DuckDBPyConnection) -> int:
    """N: the number of mentions of the run, without duplicate records."""
    return int(_value(connection, f"SELECT count(*) FROM mentions WHERE {is_unique_owner('owner')}"))


def count_authors(connection: duckdb.DuckDBPyConnection) -> int:
    """The number of authors of all documents, without duplicate records."""
    query = f"SELECT coalesce(sum(authors), 0) FROM records WHERE {is_unique('sequence')}"
    return int(_value(connection, query))


def features_missing_from_statistics(connection: duckdb.DuckDBPyConnection) -> int:
    """The number of features of the run that the given statistics lack."""
    return int(_value(connection, "SELECT count(*) FROM counted WHERE NOT is_given"))


def background_use(connection: duckdb.DuckDBPyConnection) -> BackgroundUse | None:
    """How much the collection leans on the background, see background.py."""
    document = "coalesce(document_id, mention_id) AS document"
    unique = f"SELECT block, {document} FROM mentions WHERE {is_unique_owner('owner')}"
    largest = Queries(connection).number(largest_name_query(unique))
    return BackgroundUse.of(count_mentions(connection), largest)


def feature_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The names of all features, by number."""
    names: list[str] = connection.sql("SELECT feature FROM vocabulary ORDER BY id").to_arrow_table()[0].to_pylist()
    return names


def count_namesakes(connection: duckdb.DuckDBPyConnection, use: BackgroundUse | None = None) -> None:
    """Make the table `namesakes`, see namesakes.py."""
    full_names = f"SELECT full_name FROM mentions WHERE {is_unique_owner('owner')}"
    namesakes.count_namesakes(Queries(connection), full_names, use)


def write_name_counts(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write how many full names have each surname and each given name; needs `count_namesakes`."""
    query = namesakes.ordered_name_counts("")
    connection.execute(f"COPY ({query}) TO '{sql_quoted(path)}' (FORMAT parquet)")


def write_ordered_mentions(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the mentions in the order of the result, each with the feature ids of its own name, and its namesakes."""
    rows = connection.sql(
        f"""SELECT m.owner, coalesce(v.id, -1)::INTEGER AS own_name, coalesce(w.id, -1)::INTEGER AS own_full_name,
                   mention_id, document_id, position, name, parsed_name, m.full_name, n.namesakes, block, author, year
            FROM named_mentions m
            LEFT JOIN namesakes n ON n.full_name = m.full_name
            LEFT JOIN vocabulary v ON v.type = 'co' AND v.feature = m.own_name
            LEFT JOIN vocabulary w ON w.type = 'co' AND w.feature = m.own_full_name
            WHERE {is_unique_owner("m.owner")}
            ORDER BY block, document_id NULLS FIRST, position NULLS FIRST, mention_id"""
    ).to_arrow_reader(ROWS_PER_GROUP)
    # Arrow writes and reads the texts in half of the time that DuckDB takes with its dictionaries.
    with pq.ParquetWriter(path, rows.schema, compression="lz4", use_dictionary=False, write_statistics=False) as writer:
        for batch in rows:
            writer.write_batch(batch)


def write_identifiers(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the identifiers of all mentions, one of each kind."""
    connection.execute(
        f"""COPY (SELECT owner, kind, min(id) AS id
                  FROM identifiers WHERE {is_unique_owner("owner")} GROUP BY ALL ORDER BY owner, kind)
            TO '{sql_quoted(path)}' (FORMAT parquet, COMPRESSION lz4)"""
    )


def write_vocabulary(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write type and name of every feature, in the order of their ids."""
    connection.execute(
        f"COPY (SELECT type, feature FROM vocabulary ORDER BY id) TO '{sql_quoted(path)}' (FORMAT parquet)"
    )


def _frequencies(connection: duckdb.DuckDBPyConnection, given: GivenStatistics | None) -> Frequencies:
    mass_source = "given" if given else "vocabulary"
    rows = connection.execute("SELECT type, count(*) FROM vocabulary GROUP BY type ORDER BY type").fetchall()
    exact = EXACT_SUM.replace("holders", "1")
    mass = dict(connection.execute(f"SELECT type, {exact} FROM {mass_source} GROUP BY type").fetchall())
    if given and given.mass:
        mass |= given.mass
    total = connection.execute("SELECT count FROM vocabulary ORDER BY id").fetchnumpy()["count"]
    return Frequencies(
        types=tuple(kind for kind, _ in rows),
        type_start=np.cumsum([0] + [size for _, size in rows], dtype=np.int64),
        total=np.ascontiguousarray(total, np.float64),
        mass=np.array([mass.get(kind, 0.0) for kind, _ in rows], np.float64),
        mentions=given.mentions if given else count_mentions(connection),
    )


def is_unique_owner(owner: str) -> str:
    """The SQL condition that the record of an owner is not a duplicate."""
    return is_unique(f"({owner}) >> {SLOT_BITS}")


def is_unique(sequence: str) -> str:
    """The SQL condition that the record of a sequence is not a duplicate."""
    return f"{sequence} NOT IN (SELECT sequence FROM duplicates)"


def _value(connection: duckdb.DuckDBPyConnection, query: str) -> Any:
    return _row(connection, query)[0]


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    # All rows are fetched: DuckDB registers no table while a result is unfinished.
    row: tuple[Any, ...] = connection.execute(query).fetchall()[0]
    return row


@dataclass(frozen=True)
class Inventory:
    """Counts over the documents of a run, without duplicates.

    `years` are minimum, median and maximum. `identifiers` are the number of mentions and of distinct values for each
    kind, `document_ids` the number of documents for each kind. `frequent` are the most frequent names with their
    numbers of mentions and documents.
    """

    records: int
    without_authors: int
    mentions: int
    names: int
    labelled: int
    with_year: int
    years: tuple[int, int, int] | None
    document_ids: dict[str, int]
    identifiers: dict[str, tuple[int, int]]
    frequent: list[tuple[str, int, int]]


def take_inventory(connection: duckdb.DuckDBPyConnection, most_frequent: int) -> Inventory:
    """Count the records, mentions, names and identifiers of a run."""
    connection.execute(
        f"CREATE OR REPLACE VIEW unique_mentions AS SELECT * FROM mentions WHERE {is_unique_owner('owner')}"
    )
    connection.execute(f"CREATE OR REPLACE VIEW unique_records AS SELECT * FROM records WHERE {is_unique('sequence')}")
    records, without_authors, with_year, first, middle, last = _row(
        connection,
        """SELECT count(*), count(*) FILTER (authors = 0), count(year), min(year), quantile_disc(year, 0.5), max(year)
           FROM unique_records""",
    )
    mentions, names, labelled = _row(
        connection, "SELECT count(*), count(DISTINCT block), count(author) FROM unique_mentions"
    )
    return Inventory(
        records=records,
        without_authors=without_authors,
        mentions=mentions,
        names=names,
        labelled=labelled,
        with_year=with_year,
        years=(first, middle, last) if with_year else None,
        document_ids=dict(_document_ids(connection)),
        identifiers={kind: (holders, values) for kind, holders, values in _identifiers(connection)},
        frequent=_frequent(connection, most_frequent),
    )


def _document_ids(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    return connection.execute(
        f"""SELECT split_part(key, ':', 1) AS kind, count(DISTINCT sequence) FROM keys
            WHERE {is_unique("sequence")} GROUP BY kind ORDER BY 2 DESC, 1"""
    ).fetchall()


def _identifiers(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    # E-mail addresses are must-link identifiers, too, but they are reported as features.
    return connection.execute(
        f"""SELECT kind, count(DISTINCT owner), count(DISTINCT id) FROM identifiers
            WHERE kind <> 'email' AND {is_unique_owner("owner")} GROUP BY kind ORDER BY 2 DESC, 1"""
    ).fetchall()


def _frequent(connection: duckdb.DuckDBPyConnection, most: int) -> list[Any]:
    return connection.execute(
        f"""SELECT block, count(*), count(DISTINCT owner >> {SLOT_BITS}) FROM unique_mentions
            GROUP BY block ORDER BY 2 DESC, 1 LIMIT ?""",
        [most],
    ).fetchall()
