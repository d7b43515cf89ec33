"""Several tables out of one task: rows of all of them in one table, told apart by a column, stored in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from homonym.engines.spark.session import settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

TABLE = "table"
"""The column that says which table a row belongs to."""

#: So many files may be open for writing at once; else Spark sorts all rows by their table first.
OPEN_FILES = {"spark.sql.maxConcurrentOutputFileWriters": "16"}

Schemas = Mapping[str, pa.Schema]


def joint_schema(schemas: Schemas) -> pa.Schema:
    """The columns of all tables, each once.

    >>> x, y = ("x", pa.int64()), ("y", pa.int8())
    >>> joint_schema({"a": pa.schema([x]), "b": pa.schema([x, y])}).names
    ['table', 'x', 'y']
    """
    columns: dict[str, pa.DataType] = {TABLE: pa.string()}
    for schema in schemas.values():
        for field in schema:
            assert columns.setdefault(field.name, field.type) == field.type, f"{field.name} has two types"
    return pa.schema(columns)


def rows_of(name: str, table: pa.Table, schemas: Schemas) -> Iterator[pa.RecordBatch]:
    """Rows of one table as rows of the joint one."""
    joint = joint_schema(schemas)
    table = table.select(schemas[name].names).cast(schemas[name]).combine_chunks()
    for batch in table.to_batches():
        columns = [
            batch.column(column.name) if column.name in batch.schema.names else pa.nulls(len(batch), column.type)
            for column in joint
        ]
        columns[0] = pa.repeat(pa.scalar(name), len(batch))
        yield pa.record_batch(columns, schema=joint)


def spark_schema(schema: pa.Schema) -> StructType:
    """A schema as Spark has it."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def store(rows: DataFrame, place: str) -> None:
    """Store rows of a joint table, each table in a folder of its own."""
    with settings(rows.sparkSession, OPEN_FILES):
        rows.write.mode("overwrite").partitionBy(TABLE).parquet(place)


def stored(spark: SparkSession, place: str, name: str, schemas: Schemas) -> DataFrame:
    """One of the tables that are stored at a place; empty if it has no rows."""
    from pyspark.sql.functions import col

    everything = spark.read.schema(spark_schema(joint_schema(schemas))).parquet(place)
    return everything.where(col(TABLE) == name).select(*schemas[name].names)
