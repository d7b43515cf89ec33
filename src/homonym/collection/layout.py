"""The tables that a collection is kept in while it is worked on, in a directory with a folder for each.

Every bag has an owner: `sequence << 20 | slot`, the record's place in the whole input and 0 for the document itself or
1 + position for one of its authors. Owners sort like the input and need no lookup.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from homonym.collection.bags import BAGS, FEATURES

SLOT_BITS = 20
MOST_AUTHORS = (1 << SLOT_BITS) - 2

MENTION_ROWS = pa.schema(
    [("owner", pa.int64()), ("mention_id", pa.string()), ("document_id", pa.string()), ("position", pa.int32()),
     ("name", pa.string()), ("parsed_name", pa.string()), ("own_name", pa.string()), ("block", pa.string()),
     ("author", pa.string())]
)  # fmt: skip
"""Mentions; `own_name` is the normalised name to take out of the document's names, `parsed_name` see `spelled`."""

RECORD_ROWS = pa.schema(
    [
        ("sequence", pa.int64()),
        ("line", pa.int64()),
        ("id", pa.string()),
        ("id_is_key", pa.bool_()),
        ("year", pa.int32()),
        ("authors", pa.int32()),
    ]
)
KEY_ROWS = pa.schema([("sequence", pa.int64()), ("key", pa.string())])
"""What else a record is known by: two with one key are one document."""

REFERENCE_ROWS = pa.schema([("sequence", pa.int64()), ("id", pa.string()), ("holders", pa.int32())])
IDENTIFIER_ROWS = pa.schema([("owner", pa.int64()), ("kind", pa.string()), ("id", pa.string())])
"""Identifiers of people, by mention."""

PARTS = {
    "features": FEATURES,
    "bags": BAGS,
    "mentions": MENTION_ROWS,
    "records": RECORD_ROWS,
    "keys": KEY_ROWS,
    "references": REFERENCE_ROWS,
    "identifiers": IDENTIFIER_ROWS,
}
"""The tables of a part, each in a folder of its own; a folder that no part has filled is not there."""

ROWS = tuple(name for name in PARTS if name not in {"features", "bags"})
"""The tables that are filled row by row."""

CONVERTED = "converted"
"""The folder of documents as lines, one file for each part, beside its records."""


def part_file(work: Path, table: str, sequence: int) -> Path:
    """Where one table of a part is kept."""
    return work / table / f"{sequence:015d}.parquet"


def write_part(table: pa.Table, work: Path, name: str, sequence: int) -> None:
    """Store one table of a part."""
    path = part_file(work, name, sequence)
    path.parent.mkdir(exist_ok=True)
    # What passes from one stage to the next is read once: dictionaries and statistics would take longer than they save.
    pq.write_table(table, path, compression="lz4", use_dictionary=["type", "kind"], write_statistics=False)
