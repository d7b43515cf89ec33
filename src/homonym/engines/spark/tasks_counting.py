"""Tasks that count: what Spark has grouped, summed up exactly as the local engine does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homonym.collection.counting import EXACT_SUM, UNITS
from homonym.engines.spark.shipping import Batches

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
