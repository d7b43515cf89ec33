"""What collection/counting.py asks of DuckDB, asked of Spark: duplicates, names, references, #(f), numbers.

Sums of counts are made by the same expression of DuckDB as locally, inside of tasks: Spark only adds up whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.collection.counting import EXACT_SUM, UNITS, Duplicate
from homonym.collection.statistics import GivenStatistics, use_given_counts
from homonym.engines.spark.part_tables import spark_schema
from homonym.engines.spark.shipping import Batches, shipped

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import DataFrame, SparkSession


COUNTED = pa.schema([("type", pa.string()), ("feature", pa.string()), ("count", pa.float64())])
UNITS_ROWS = pa.schema([("type", pa.string()), ("units", pa.string())])
"""Whole numbers too large for Spark, in digits."""


def exact_sums(batches: Batches) -> Batches:
    """#(f) of features whose rows stand together: columns type, feature, count and holders."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        for rows in whole_groups(batches, ("type", "feature")):
            connection.register("rows", rows)
            query = f"SELECT type, feature, {EXACT_SUM} AS count FROM rows GROUP BY ALL ORDER BY type, feature"
            yield from connection.sql(query).to_arrow_table().cast(COUNTED).to_batches()
            connection.unregister("rows")


def units(batches: Batches) -> Batches:
    """The counts of each type in whole units, summed up over what this task sees."""
    import duckdb

    with duckdb.connect(config={"threads": 1}) as connection:
        for batch in batches:
            connection.register("rows", pa.Table.from_batches([batch]))
            total = f"sum((count * {UNITS:.0f}.0)::HUGEINT)::VARCHAR"
            found = connection.sql(f"SELECT type, {total} AS units FROM rows GROUP BY type").to_arrow_table()
            yield from found.cast(UNITS_ROWS).to_batches()
            connection.unregister("rows")


def whole_groups(batches: Batches, key: tuple[str, ...], *, one_by_one: bool = False) -> Iterator[pa.Table]:
    """Tables of whole groups, a group being rows of one key that stand together; one may go on in the next batch."""
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
    """The rows of a table whose key differs from that of the row before."""
    rows = pa.concat_tables([*before, table]).select(key)
    differs = np.zeros(max(len(rows) - 1, 0), bool)
    for column in rows.columns:
        differs |= pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)).to_numpy()
    found: list[int] = (np.flatnonzero(differs) + 1 - len(before)).tolist()
    return found


TASKS = __name__

#: Rows of given statistics that are handed to Spark at once.
GIVEN_ROWS = 1_000_000


@dataclass(frozen=True)
class Types:
    """The feature types of a collection: where the numbers of each begin, how many it has, and its mass.

    Numbers rise by type and name, but not one by one; N is the number of mentions.
    """

    names: tuple[str, ...]
    first: NDArray[np.int64]
    features: int
    mass: NDArray[np.float64]
    mentions: int


def find_duplicates(records: DataFrame, keys: DataFrame, place: str) -> DataFrame:
    """The records of documents that came before, with the first one and what shows it; stored at a place."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    spark = records.sparkSession
    by_id = records.where("id_is_key").select("sequence", f.concat(f.lit("id:"), "id").alias("key"))
    known_by = by_id.unionByName(keys)
    shared = known_by.groupBy("key").count().where("count > 1").select("key")
    linked = known_by.join(shared, "key").distinct().select("sequence", "key", f.col("sequence").alias("first"))
    linked.withColumn("moved", f.lit(True)).write.mode("overwrite").parquet(f"{place}-0")
    linked, step = spark.read.parquet(f"{place}-0"), 0
    while not linked.where("moved").isEmpty():
        lower = linked.withColumn("lower", f.min("first").over(Window.partitionBy("key")))
        lowest = lower.withColumn("lowest", f.min("lower").over(Window.partitionBy("sequence")))
        moved = (f.col("lowest") < f.col("first")).alias("moved")
        step += 1
        found = lowest.select("sequence", "key", f.col("lowest").alias("first"), moved)
        found.write.mode("overwrite").parquet(f"{place}-{step}")
        linked = spark.read.parquet(f"{place}-{step}")
    again = linked.where("sequence > first").groupBy("sequence")
    return again.agg(f.min("first").alias("first"), f.min("key").alias("key"))


def first_duplicates(duplicates: DataFrame, records: DataFrame, shown: int) -> list[Duplicate]:
    """The first of the duplicates, with the lines of both records."""
    again = records.selectExpr("sequence", "line")
    first = records.selectExpr("sequence AS first", "line AS first_line")
    rows = duplicates.join(again, "sequence").join(first, "first").orderBy("sequence").limit(shown)
    found = rows.select("sequence", "line", "first", "first_line", "key").toArrow().to_pylist()
    return [Duplicate(*row.values()) for row in found]


def renamed(records: DataFrame, duplicates: DataFrame) -> DataFrame:
    """New ids for different documents that somebody gave the same id, by part and sequence."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    chosen = records.where("NOT id_is_key").select("id").distinct()
    among = records.join(chosen, "id").join(duplicates.select("sequence"), "sequence", "left_anti")
    place = f.row_number().over(Window.partitionBy("id").orderBy(f.desc("id_is_key"), "sequence"))
    numbered = among.withColumn("place", place).where("place > 1")
    return numbered.selectExpr("part", "sequence", "concat(id, '~', place) AS id")


def referenced(references: DataFrame, records: DataFrame, duplicates: DataFrame) -> DataFrame:
    """The authors of each document of the run that a record refers to, by the part and sequence of the latter."""
    lost = duplicates.select("sequence")
    citing = references.join(lost, "sequence", "left_anti")
    cited = records.join(lost, "sequence", "left_anti").where("size(names) > 0").select("id", "names")
    return citing.join(cited, "id").select("part", "sequence", "names", "holders")


def count_features(features: DataFrame, given: DataFrame | None) -> DataFrame:
    """All features with #(f), numbered in the order of type and name; `known` says whether the number was given."""
    from pyspark.sql import functions as f

    summed = features.groupBy("type", "feature", "count").agg(f.sum("holders").alias("holders"))
    exact = shipped(f"{TASKS}:exact_sums")
    schema = spark_schema(COUNTED)
    order = ["type", "feature"]
    if given is None:
        ordered = summed.repartitionByRange(*order).sortWithinPartitions(*order)
        counted = ordered.mapInArrow(exact, schema).withColumn("known", f.lit(False))
    else:
        sums = summed.repartition(*order).sortWithinPartitions(*order).mapInArrow(exact, schema)
        elsewhere = given.withColumnRenamed("count", "elsewhere")
        counted = sums.join(elsewhere, order, "left").select(
            *order, f.coalesce("elsewhere", "count").alias("count"), f.col("elsewhere").isNotNull().alias("known")
        )
        counted = counted.repartitionByRange(*order).sortWithinPartitions(*order)
    return counted.select(f.monotonically_increasing_id().alias("id"), *order, "count", "known")


def types_of(vocabulary: DataFrame, mass: Mapping[str, float] | None, mentions: int) -> Types:
    """Sum up a vocabulary by type; masses may be given."""
    rows = vocabulary.groupBy("type").agg({"id": "min", "*": "count"}).orderBy("type").toArrow()
    names = tuple(rows["type"].to_pylist())
    if mass is None:
        units = vocabulary.mapInArrow(shipped(f"{TASKS}:units"), spark_schema(UNITS_ROWS)).toArrow()
        mass = masses(units)
    return Types(
        names=names,
        first=rows["min(id)"].to_numpy(),
        features=sum(rows["count(1)"].to_pylist()),
        mass=np.array([mass.get(name, 0.0) for name in names], np.float64),
        mentions=mentions,
    )


def masses(units: pa.Table) -> dict[str, float]:
    """The mass of each type from whole numbers of units, put together as an exact sum is."""
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
    """Check given statistics as the local engine does and hand them to Spark; with the masses that belong to them."""
    connection.execute("CREATE OR REPLACE TABLE counted (type VARCHAR, feature VARCHAR, count DOUBLE)")
    use_given_counts(connection, given)
    mode = "overwrite"
    for batch in connection.sql("SELECT type, feature, count FROM given").to_arrow_reader(GIVEN_ROWS):
        spark.createDataFrame(pa.Table.from_batches([batch])).write.mode(mode).parquet(place)
        mode = "append"
    exact = EXACT_SUM.replace("holders", "1")
    mass = dict(connection.execute(f"SELECT type, {exact} FROM given GROUP BY type").fetchall())
    return spark.read.parquet(place), mass | (given.mass or {})
