"""Tasks of the Spark engine, called without Spark."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from homonym.collection.layout import PART_TABLES
from homonym.engines.spark.encode_tasks import AMENDED, AMENDING, DUPLICATE, NUMBERING, PART, amend, encode
from homonym.engines.spark.input_plan import plan_files
from homonym.engines.spark.part_tables import part_row
from homonym.engines.spark.read_tasks import read_files
from homonym.records.reader import Inputs
from homonym.settings import Settings
from tests.support.workbooks import write_rows

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


def test_reads_a_spreadsheet_as_the_local_engine_does(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.xlsx", [["id", "title", "authors"], ["w1", "On ice", "Doe, J; Roe, A"]])
    plan = plan_files(Inputs.of(path), [], mentions=False)
    assert [(file.form, file.by_lines) for file in plan.files] == [("table", False)]
    files = pa.table({"url": [f"file://{path}"], "content": [path.read_bytes()]})
    found = pa.Table.from_batches(read_files(iter(files.to_batches()), plan, Settings()))
    assert found["table"].to_pylist().count("records") == 1
    assert "problems" not in found["table"].to_pylist()
