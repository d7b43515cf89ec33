"""Tasks of the Spark engine, called without Spark."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from homonym.collection.layout import PART_TABLES
from homonym.engines.spark.encode_tasks import AMENDED, AMENDING, DUPLICATE, NUMBERING, PART, amend, encode
from homonym.engines.spark.part_tables import part_row

EMPTY = {name: schema.empty_table() for name, schema in PART_TABLES.items()}


def rows(schema: pa.Schema, *given: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist([{name: row.get(name) for name in schema.names} for row in given], schema=schema)


def test_amends_a_part_without_features() -> None:
    part = part_row(0, 1, EMPTY).to_pylist()[0]
    about = rows(AMENDING, {"kind": DUPLICATE, "sequence": 0, "part": 0}, {**part, "kind": PART})
    found = pa.Table.from_batches(amend(iter(about.to_batches())))
    assert set(AMENDED) >= {"parts"} == set(found["table"].to_pylist())


def test_encodes_a_part_without_mentions() -> None:
    part = part_row(0, 1, EMPTY).to_pylist()[0]
    about = rows(NUMBERING, {**part, "kind": PART})
    assert list(encode(iter(about.to_batches()), np.array([0]))) == []
