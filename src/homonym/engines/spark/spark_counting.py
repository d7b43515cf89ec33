"""collection/counting.py for Spark: duplicates, ids, references, #(f), and the numbers of features.

Counts are summed by the same DuckDB expression as locally, inside tasks; Spark itself only adds up integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.collection.counting import EXACT_SUM, UNITS
from homonym.collection.duplicates import Duplicate, copies, first_duplicates
from homonym.collection.statistics import GivenStatistics, use_given_counts
from homonym.engines.spark.part_tables import spark_schema
from homonym.engines.spark.session import Batches, shipped

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import DataFrame, SparkSession


COUNTED = pa.schema([("type", pa.string()), ("feature", pa.string()), ("count", pa.float64())])
# Integers too large for Spark, as decimal digits.
UNITS_ROWS = pa.schema([("type", pa.string()), ("units", pa.string())])


def exact_sums(batches: Batches) -> Batches:
    """#(f) of features whose rows are adjacent: columns type, feature, count and holders."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        for rows in whole_groups(batches, ("type", "feature")):
            connection.register("rows", rows)
            query = f"SELECT type, feature, {EXACT_SUM} AS count FROM rows GROUP BY ALL ORDER BY type, feature"
            yield from connection.sql(query).to_arrow_table().cast(COUNTED).to_batches()
            connection.unregister("rows")


def units(batches: Batches) -> Batches:
    """The counts of each type in integer units, summed over the rows of this task."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        for batch in batches:
            connection.register("rows", pa.Table.from_batches([batch]))
            total = f"sum((count * {UNITS:.0f}.0)::HUGEINT)::VARCHAR"
            found = connection.sql(f"SELECT type, {total} AS units FROM rows GROUP BY type").to_arrow_table()
            yield from found.cast(UNITS_ROWS).to_batches()
            connection.unregister("rows")


def whole_groups(batches: Batches, key: tuple[str, ...], *, one_by_one: bool = False) -> Iterator[pa.Table]:
    """Tables of whole groups: adjacent rows with the same key, which may continue in the next batch."""
    kept: list[pa.Table] = []
    for batch in batches:
        table = pa.Table.from_batches([batch])
        borders = _borders([kept[-1].slice(len(kept[-1]) - 1)] if kept else [], table, key)
        if not len(borders):
            kept += [table] if len(table) else []
            continue
        chosen = borders if one_by_one else borders[-1:]
        for first, last in zip([0, *chosen], chosen, strict=False):
            group = pa.concat_tables([*kept, table.slice(first, last - first)])
            kept = []
            if len(group):
                yield group
        kept = [table.slice(chosen[-1])]
    if kept:
        yield pa.concat_tables(kept)


def _borders(before: list[pa.Table], table: pa.Table, key: tuple[str, ...]) -> list[int]:
    """The positions of rows whose key differs from that of the row before."""
    rows = pa.concat_tables([*before, table]).select(key)
    differs = np.zeros(max(len(rows) - 1, 0), bool)
    for column in rows.columns:
        differs |= pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)).to_numpy()
    found: list[int] = (np.flatnonzero(differs) + 1 - len(before)).tolist()
    return found


TASKS = __name__

# Number of rows of given statistics in a batch for Spark.
GIVEN_ROWS = 1_000_000


@dataclass(frozen=True)
class FeatureTypes:
    """The feature types of a collection: the first feature number and the mass of each, and N as `mentions`.

    Feature numbers rise with type and name, with gaps. `features` is the number of all features.
    """

    names: tuple[str, ...]
    first: NDArray[np.int64]
    features: int
    mass: NDArray[np.float64]
    mentions: int


@dataclass
class SparkQueries:
    """Spark as collection/duplicates.py uses it; tables are stored at `place`.

    Their names have a prefix of this run, because other runs may use the same session at the same time.
    """

    spark: SparkSession
    place: str
    prefix: str = field(default_factory=lambda: f"homonym_{uuid4().hex}_")
    sha256: str = "sha2({}, 256)"
    sorted_list: str = "sort_array(collect_set({0}))"
    flat_pairs: str = "flatten(sort_array(collect_list(array({0}, {1}))))"
    saved: int = 0
    named: set[str] = field(default_factory=set)

    def name(self, table: str, rows: DataFrame) -> None:
        """Make or replace a view of some rows."""
        self.named.add(self.prefix + table)
        rows.createOrReplaceTempView(self.prefix + table)

    def define(self, table: str, query: str) -> None:
        """Make or replace a view."""
        self.name(table, self.spark.sql(query))

    def drop(self) -> None:
        """Drop all views; a session that has ended has none."""
        from pyspark.errors import PySparkException

        with suppress(PySparkException, OSError):
            while self.named:
                self.spark.catalog.dropTempView(self.named.pop())

    def save(self, table: str, query: str) -> None:
        """Make or replace a table by the result of a query."""
        self.saved += 1
        place = f"{self.place}/{table}-{self.saved}"
        self.spark.sql(query).write.mode("overwrite").parquet(place)
        self.name(table, self.spark.read.parquet(place))

    def load(self, table: str, rows: pa.Table) -> None:
        """Make or replace a view of the given rows."""
        self.name(table, self.spark.createDataFrame(rows))

    def number(self, query: str) -> int:
        """The result of a query with one integer."""
        return int(self.spark.sql(query).toArrow()[0][0].as_py())

    def table(self, name: str) -> DataFrame:
        """One of the tables."""
        return self.spark.table(self.prefix + name)


def count_duplicates(queries: SparkQueries, shown: int) -> tuple[int, int, list[Duplicate]]:
    """The number of records that repeat an earlier one, how many only by title, and the first `shown` of them."""
    repeated = f"SELECT count(*) FROM {queries.prefix}duplicates WHERE sequence > first"
    number = queries.number(repeated)
    if not number:
        return 0, 0, []
    rows = queries.spark.sql(first_duplicates(queries.prefix, shown)).toArrow().to_pylist()
    return number, queries.number(f"{repeated} AND key LIKE 'title:%'"), [Duplicate(*row.values()) for row in rows]


def copies_by_document(queries: SparkQueries) -> DataFrame:
    """The copies of all documents that have several, ordered inside partitions."""
    rows = queries.spark.sql(copies(queries.prefix))
    return rows.repartition("merged").sortWithinPartitions("merged", "sequence")


def referenced(references: DataFrame, records: DataFrame, duplicates: DataFrame) -> DataFrame:
    """The authors of the documents of the run that a record refers to, by part and sequence of that record.

    As in collection/counting.py, a merged document is found by the ids of all its copies.
    """
    from pyspark.sql import functions as f

    citing = references.join(duplicates.select("sequence"), "sequence", "left_anti")
    named = records.join(duplicates.select("sequence", "merged"), "sequence", "left")
    target = f.coalesce("merged", "sequence").alias("cited")
    times = citing.join(named.select("id", target).distinct(), "id").groupBy("part", "sequence", "cited", "id")
    most = times.agg(f.count("*").alias("times"), f.max("holders").alias("holders"))
    most = most.groupBy("part", "sequence", "cited").agg(
        f.max("times").alias("times"), f.max("holders").alias("holders")
    )
    cited = records.where("size(names) > 0").selectExpr("sequence AS cited", "names")
    names = "flatten(array_repeat(names, CAST(times AS INT))) AS names"
    return most.join(cited, "cited").selectExpr("part", "sequence", names, "holders")


def count_features(features: DataFrame, given: DataFrame | None) -> DataFrame:
    """All features with #(f), numbered by type and name; `known` if the count was given."""
    from pyspark.sql import functions as f

    summed = features.groupBy("type", "feature", "count").agg(f.sum("holders").alias("holders"))
    exact = shipped(f"{TASKS}:exact_sums")
    schema = spark_schema(COUNTED)
    order = ["type", "feature"]
    if given is None:
        ordered = summed.repartitionByRange(*order).sortWithinPartitions(*order)
        counted = ordered.mapInArrow(exact, schema).withColumn("is_given", f.lit(False))
    else:
        sums = summed.repartition(*order).sortWithinPartitions(*order).mapInArrow(exact, schema)
        elsewhere = given.withColumnRenamed("count", "elsewhere")
        counted = sums.join(elsewhere, order, "left").select(
            *order, f.coalesce("elsewhere", "count").alias("count"), f.col("elsewhere").isNotNull().alias("is_given")
        )
        counted = counted.repartitionByRange(*order).sortWithinPartitions(*order)
    return counted.select(f.monotonically_increasing_id().alias("id"), *order, "count", "is_given")


def types_of(vocabulary: DataFrame, mass: Mapping[str, float] | None, mentions: int) -> FeatureTypes:
    """The feature types of a vocabulary; masses may be given."""
    rows = vocabulary.groupBy("type").agg({"id": "min", "*": "count"}).orderBy("type").toArrow()
    names = tuple(rows["type"].to_pylist())
    if mass is None:
        units = vocabulary.mapInArrow(shipped(f"{TASKS}:units"), spark_schema(UNITS_ROWS)).toArrow()
        mass = masses(units)
    return FeatureTypes(
        names=names,
        first=rows["min(id)"].to_numpy(),
        features=sum(rows["count(1)"].to_pylist()),
        mass=np.array([mass.get(name, 0.0) for name in names], np.float64),
        mentions=mentions,
    )


def masses(units: pa.Table) -> dict[str, float]:
    """The mass of each type from integer units, computed like an exact sum."""
    import duckdb

    total: dict[str, int] = {}
    for row in units.to_pylist():
        total[row["type"]] = total.get(row["type"], 0) + int(row["units"])
    with duckdb.connect() as connection:
        question = f"SELECT (?::HUGEINT / {UNITS:.0f}.0)::DOUBLE"
        return {kind: connection.execute(question, [value]).fetchone()[0] for kind, value in total.items()}  # type: ignore[index]


def take_statistics(
    spark: SparkSession, given: GivenStatistics, connection: duckdb.DuckDBPyConnection, place: str
) -> tuple[DataFrame, dict[str, float]]:
    """Check given statistics as the local engine does; returns them as a Spark table, and the mass of each type."""
    connection.execute("CREATE OR REPLACE TABLE counted (type VARCHAR, feature VARCHAR, count DOUBLE)")
    use_given_counts(connection, given)
    mode = "overwrite"
    for batch in connection.sql("SELECT type, feature, count FROM given").to_arrow_reader(GIVEN_ROWS):
        spark.createDataFrame(pa.Table.from_batches([batch])).write.mode(mode).parquet(place)
        mode = "append"
    exact = EXACT_SUM.replace("holders", "1")
    mass = dict(connection.execute(f"SELECT type, {exact} FROM given GROUP BY type").fetchall())
    return spark.read.parquet(place), mass | (given.mass or {})
