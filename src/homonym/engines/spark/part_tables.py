"""Parts as rows of Spark tables: bags, mentions and identifiers are cells of bytes that only tasks open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.collection.extractor import Occurrences, bag_tables
from homonym.collection.layout import BAGS, CITED, FEATURES, IDENTIFIER_ROWS, MENTION_ROWS, PART_TABLES, SLOT_BITS
from homonym.engines.spark.session import changed_settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


# The tables of a part that are packed into cells.
# `cited` has the entries of bags that come from references; it is empty until a part is amended.
PACKED = {
    "features": FEATURES,
    "bags": BAGS,
    "mentions": MENTION_ROWS,
    "identifiers": IDENTIFIER_ROWS,
    "cited": CITED,
}
# One row for each part: the number of raw records it was made of, of those that were not UTF-8, and its tables.
PART_ROWS = pa.schema(
    [("part", pa.int64()), ("read", pa.int64()), ("western", pa.int64()), *((name, pa.binary()) for name in PACKED)]
)
# The feature type of the authors of referenced documents.
REFERENCES = "ref"


@dataclass(frozen=True, eq=False)
class Amendments:
    """Changes to the records of a part that only the whole collection shows.

    `duplicates` are the sequence numbers of records to drop; `renamed` has the new ids of some documents; a row of
    `referenced` says that an author named `feature` is on a document that the record `sequence` refers to.
    """

    duplicates: NDArray[np.int64]
    renamed: Mapping[int, str]
    referenced: pa.Table


def read_tables(folder: Path, sequence: int) -> dict[str, pa.Table]:
    """The tables of a part that was written to a folder."""
    tables = {}
    for name, schema in PART_TABLES.items():
        path = folder / name / f"{sequence:015d}.parquet"
        tables[name] = pq.read_table(path, schema=schema) if path.exists() else schema.empty_table()
    return tables


def part_row(part: int, read: int, tables: Mapping[str, pa.Table], western: int = 0) -> pa.Table:
    """A part as one row."""
    numbers = [pa.array([number], pa.int64()) for number in (part, read, western)]
    cells = [pa.array([_packed(tables.get(name, nothing.empty_table()))], pa.binary())
             for name, nothing in PACKED.items()]  # fmt: skip
    return pa.table([*numbers, *cells], schema=PART_ROWS)


def unpacked(cell: bytes) -> pa.Table:
    """The table in a cell."""
    with pa.ipc.open_stream(cell) as stream:
        return stream.read_all()


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as stream:
        stream.write_table(table.combine_chunks())
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def amended(tables: Mapping[str, pa.Table], part: int, amendments: Amendments) -> dict[str, pa.Table]:
    """The tables of a part without duplicates, with new ids and referenced authors; features are numbered again."""
    lost = amendments.duplicates
    bags, mentions, identifiers = (_without(tables[name], lost) for name in ("bags", "mentions", "identifiers"))
    types = _occurrences(tables["features"], bags)
    referenced = _without_self_citations(amendments.referenced, mentions)
    if len(referenced):
        types[REFERENCES] = _with_referenced(types.get(REFERENCES), referenced)
    features, bags = bag_tables(types, part)
    return {
        "features": features,
        "bags": bags,
        "mentions": _renamed(mentions, amendments.renamed),
        "identifiers": identifiers,
        "cited": _cited(referenced, features),
    }


def _without_self_citations(referenced: pa.Table, mentions: pa.Table) -> pa.Table:
    """Referenced authors that are not authors of the referring document, as in collection/references.py."""
    named = mentions.filter(mentions["own_name"].is_valid())
    names = named["own_name"].combine_chunks().dictionary_encode()
    number = pc.fill_null(pc.index_in(referenced["feature"], names.dictionary), -1).to_numpy()
    width = len(names.dictionary)
    own = (named["owner"].to_numpy() >> SLOT_BITS) * width + names.indices.to_numpy()
    is_own = (number >= 0) & np.isin(referenced["sequence"].to_numpy() * width + number, own)
    return referenced.filter(pa.array(~is_own))


def _cited(referenced: pa.Table, features: pa.Table) -> pa.Table:
    """The entries of bags that come from references, by owner and feature; features have their ids in the part."""
    known = features.filter(pc.and_(pc.equal(features["type"], REFERENCES), pc.invert(features["again"])))
    place = pc.index_in(referenced["feature"], known["feature"].combine_chunks())
    owner, feature = referenced["sequence"].to_numpy() << SLOT_BITS, known["id"].take(place).to_numpy()
    entries = pa.table([owner, feature, np.ones(len(owner))], schema=CITED)
    summed = entries.group_by(["owner", "feature"], use_threads=False).aggregate([("count", "sum")])
    return summed.rename_columns(CITED.names).cast(CITED).sort_by([("owner", "ascending"), ("feature", "ascending")])


def _without(table: pa.Table, lost: NDArray[np.int64]) -> pa.Table:
    kept = ~np.isin(table["owner"].to_numpy() >> SLOT_BITS, lost)
    return table if kept.all() else table.filter(pa.array(kept))


def _occurrences(features: pa.Table, bags: pa.Table) -> dict[str, Occurrences]:
    """The bags by type, without features that are in no bag."""
    named = features.filter(pc.invert(features["again"]))
    kinds = pc.run_end_encode(named["type"].combine_chunks())  # features are in the order of their types
    ends = kinds.run_ends.to_numpy()
    feature = bags["feature"].to_numpy()
    owner, count, holders = (bags[name].to_numpy() for name in ("owner", "count", "holders"))
    types = {}
    for kind, low, high in zip(kinds.values.to_pylist(), [0, *ends][: len(ends)], ends, strict=True):
        of_kind = np.flatnonzero((feature >= low) & (feature < high))
        used, place = np.unique(feature[of_kind], return_inverse=True)
        if len(used):
            name = named["feature"].take(pa.array(used)).combine_chunks()
            types[kind] = Occurrences(name, owner[of_kind], place, count[of_kind], holders[of_kind])
    return types


def _with_referenced(own: Occurrences | None, referenced: pa.Table) -> Occurrences:
    """Referenced authors that records name, and those of the documents they refer to, counted together."""
    names = [referenced["feature"].combine_chunks()] + ([own.name] if own else [])
    coded = pa.chunked_array([pa.concat_arrays(names).dictionary_encode()])
    code = coded.combine_chunks().indices.to_numpy().astype(np.int64)
    new = len(referenced)
    owner, feature = referenced["sequence"].to_numpy() << SLOT_BITS, code[:new]
    count, holders = np.ones(new), referenced["holders"].to_numpy()
    if own:
        owner, feature = np.append(owner, own.owner), np.append(feature, code[new:][own.feature])
        count, holders = np.append(count, own.count), np.append(holders, own.holders)
    order = np.lexsort((feature, owner))
    first = np.flatnonzero((np.diff(owner[order], prepend=-1) != 0) | (np.diff(feature[order], prepend=-1) != 0))
    summed = np.add.reduceat(count[order], first)
    chosen = order[first]
    return Occurrences(
        coded.combine_chunks().dictionary, owner[chosen], feature[chosen], summed, holders[chosen].astype(np.int32)
    )


def _renamed(mentions: pa.Table, renamed: Mapping[int, str]) -> pa.Table:
    """Mentions with the new ids of their documents."""
    if not renamed:
        return mentions
    rows = mentions.to_pylist()
    for row in rows:
        if (name := renamed.get(row["owner"] >> SLOT_BITS)) is not None:
            row["document_id"], row["mention_id"] = name, f"{name}#{row['position']}"
    return pa.Table.from_pylist(rows, schema=mentions.schema)


# The column that says which table a row belongs to.
TABLE = "table"
# Maximum number of files open for writing; with too few, Spark sorts all rows by table first.
OPEN_FILES = {"spark.sql.maxConcurrentOutputFileWriters": "16"}

Schemas = Mapping[str, pa.Schema]


def joint_schema(schemas: Schemas) -> pa.Schema:
    """One schema with the columns of all tables.

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
    """Rows of one table as rows of the joint schema."""
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
    """A schema in Spark's types."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def store(rows: DataFrame, place: str) -> None:
    """Store rows of a joint schema, each table in its own folder."""
    with changed_settings(rows.sparkSession, OPEN_FILES):
        rows.write.mode("overwrite").partitionBy(TABLE).parquet(place)


def stored(spark: SparkSession, place: str, name: str, schemas: Schemas) -> DataFrame:
    """One of the tables stored at `place`; empty if it has no rows."""
    from pyspark.sql.functions import col

    everything = spark.read.schema(spark_schema(joint_schema(schemas))).parquet(place)
    return everything.where(col(TABLE) == name).select(*schemas[name].names)
