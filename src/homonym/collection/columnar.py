"""Mentions with bags from Parquet, column by column."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.collection.parts import MENTION_ROWS, OCCURRENCES, RECORD_ROWS, SLOT_BITS, write_part
from homonym.errors import InputError
from homonym.progress import Advance
from homonym.records.mentions import LARGEST_COUNT, SMALLEST_COUNT
from homonym.schema import MENTIONS

BATCH_ROWS = 20_000


def write_mention_table(path: Path, sequence: int, work: Path, advance: Advance) -> int:
    """Store the rows of a table in the layout of schema.MENTIONS as parts; returns how many there were."""
    try:
        source = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as broken:
        raise InputError(f"{path} is not a Parquet file ({broken}).") from broken
    missing = sorted({"mention_id", "features"} - set(source.schema_arrow.names))
    if missing or not {"block", "name"} & set(source.schema_arrow.names):
        named = ", ".join(missing or ["block"])
        raise InputError(f"{path}: column {named} is missing; it has {', '.join(source.schema_arrow.names)}.")
    rows = 0
    for batch in source.iter_batches(BATCH_ROWS):
        table = _conformed(pa.Table.from_batches([batch]), path, rows)
        _write(table, sequence + rows, rows, work)
        rows += len(table)
        advance(len(table))
    if not rows:
        raise InputError(f"{path} holds no mentions.")
    return rows


def _conformed(table: pa.Table, path: Path, row: int) -> pa.Table:
    """The columns of schema.MENTIONS in their types, absent ones empty, the name standing in for a missing block."""
    columns = []
    for field in MENTIONS:
        present = field.name in table.column_names
        column = table[field.name] if present else pa.nulls(len(table), field.type)
        try:
            columns.append(column.cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as broken:
            raise InputError(f"{path}: column {field.name} must be {field.type}, got {column.type}.") from broken
    conformed = pa.table(columns, names=MENTIONS.names)
    block = pc.coalesce(conformed["block"], conformed["name"])
    for name, column in (("mention_id", conformed["mention_id"]), ("block", block)):
        if column.null_count:
            place = row + pc.index(pc.is_null(column), True).as_py() + 1
            raise InputError(f"{path}, row {place}: {name} is missing; every mention needs one.")
    return conformed.set_column(conformed.column_names.index("block"), "block", block)


def _write(table: pa.Table, sequence: int, row: int, work: Path) -> None:
    places = pa.array(range(sequence, sequence + len(table)), pa.int64())
    owners = pc.add(pc.multiply(places, 1 << SLOT_BITS), 1)
    mentions = table.drop_columns(["features"]).append_column("owner", owners)
    mentions = mentions.append_column("own_name", pa.nulls(len(table), pa.string()))
    write_part(mentions.select(MENTION_ROWS.names).cast(MENTION_ROWS), work, "mentions", sequence)
    lines = pa.array(range(row + 1, row + 1 + len(table)), pa.int64())
    write_part(pa.table([places, lines, table["mention_id"]], schema=RECORD_ROWS), work, "records", sequence)
    occurrences = _occurrences(table["features"].combine_chunks(), owners)
    if len(occurrences):
        write_part(occurrences, work, "occurrences", sequence)


def _occurrences(bags: pa.ListArray, owners: pa.Array) -> pa.Table:
    bags = bags.combine_chunks() if isinstance(bags, pa.ChunkedArray) else bags
    entries = pc.list_flatten(bags)
    counts = pc.struct_field(entries, "count")
    used = pa.table(
        {
            "owner": pc.take(owners, pc.list_parent_indices(bags)),
            "type": pc.struct_field(entries, "type"),
            "feature": pc.struct_field(entries, "feature"),
            "count": counts,
            "holders": pa.repeat(pa.scalar(1, pa.int32()), len(entries)),
        }
    ).filter(pc.not_equal(counts, 0.0))
    if (
        len(used)
        and not SMALLEST_COUNT <= pc.min(used["count"]).as_py() <= pc.max(used["count"]).as_py() <= LARGEST_COUNT
    ):
        raise InputError("some feature counts lie outside 1e-9 to 1e9; scale or mend them.")
    return used.cast(OCCURRENCES)
