"""The tables of a part: what reading a chunk of records leaves in the work directory, one folder for each table.

A bag belongs to an owner, `sequence << 20 | slot`: `sequence` is the record's place in the whole input, `slot` is 0 for
the document itself and 1 + position for one of its authors. Owners sort in the order of the input and need no lookup.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SLOT_BITS = 20

# Maximum number of authors of a record in one block; real lists have some dozens. All pairs of a block are compared.
MAX_AUTHORS_IN_BLOCK = 1000

FEATURES = pa.schema(
    [("part", pa.int64()), ("id", pa.int32()), ("type", pa.string()), ("feature", pa.string()), ("count", pa.float64()),
     ("holders", pa.int64()), ("again", pa.bool_())]
)  # fmt: skip
"""The features of a part with what they add to #(f), `count` times `holders`; `id` numbers them within the part.

Whole counts are summed into one row with the count 1. Otherwise a feature has one row for each distinct count, and all
rows but the first are marked `again`.
"""

BAGS = pa.schema([("owner", pa.int64()), ("feature", pa.int32()), ("count", pa.float64()), ("holders", pa.int32())])
"""Bags by owner and feature; `feature` is the id within the part. `holders` mentions have this bag."""

MENTION_ROWS = pa.schema(
    [("owner", pa.int64()), ("mention_id", pa.string()), ("document_id", pa.string()), ("position", pa.int32()),
     ("name", pa.string()), ("parsed_name", pa.string()), ("full_name", pa.string()), ("own_name", pa.string()),
     ("own_full_name", pa.string()), ("block", pa.string()), ("author", pa.string()), ("year", pa.int32())]
)  # fmt: skip
"""Mentions; `year` is that of the document. `parsed_name` is written by `encode_name`, `full_name` is `Name.full_name`.

`own_name` and `own_full_name` are to be removed from the co-authors; the second is null for initials. Both are null if
the bags of mentions are given.
"""

RECORD_ROWS = pa.schema(
    [("sequence", pa.int64()), ("line", pa.int64()), ("id", pa.string()), ("id_is_key", pa.bool_()),
     ("year", pa.int32()), ("authors", pa.int32()), ("form", pa.string()), ("title", pa.int64()), ("work", pa.int64()),
     ("first_author", pa.string())]
)  # fmt: skip
"""Records; `form` is the name of their format. `title`, `work` and `first_author` are `Digests`, see identity.py."""

KEY_ROWS = pa.schema([("sequence", pa.int64()), ("key", pa.string())])
"""Further keys of a record, such as its DOI: two records with one key are one document."""

REFERENCE_ROWS = pa.schema([("sequence", pa.int64()), ("id", pa.string()), ("holders", pa.int32())])
DOCUMENT_ROWS = pa.schema([("sequence", pa.int64()), ("text", pa.binary())])
"""Each record as a line of homonym's own format. It is read again if the record must be merged with another."""

LOSS_ROWS = pa.schema([("sequence", pa.int64()), ("line", pa.int64()), ("lost", pa.string()), ("reason", pa.string())])
"""What merging has lost: the fields of `MergeLoss`, in the order of the merged documents."""

LOSSES = "losses.parquet"
"""The file of a work directory with the table LOSS_ROWS."""

IDENTIFIER_ROWS = pa.schema([("owner", pa.int64()), ("kind", pa.string()), ("id", pa.string())])
"""Identifiers of people, by mention. Kinds are in normal form (settings.identifier_kind)."""

CITED = pa.schema([("owner", pa.int64()), ("feature", pa.int32()), ("count", pa.float64())])
"""Entries of bags that come from the authors of referenced documents, ordered by owner and feature."""

PLACED_IDENTIFIERS = pa.schema([("place", pa.int64()), ("kind", pa.string()), ("id", pa.string())])
"""Identifiers of people, by the place of the mention in the result."""

PART_TABLES = {
    "features": FEATURES,
    "bags": BAGS,
    "mentions": MENTION_ROWS,
    "records": RECORD_ROWS,
    "keys": KEY_ROWS,
    "references": REFERENCE_ROWS,
    "identifiers": IDENTIFIER_ROWS,
    "documents": DOCUMENT_ROWS,
}
"""The tables of a part. An empty table is not written, so a folder may be missing."""

CONVERTED = "converted"
"""The folder of documents converted to JSON lines, one file for each part."""


def part_file(work: Path, table: str, sequence: int) -> Path:
    """The file of one table of a part, whose number is the sequence of its first record."""
    return work / table / f"{sequence:015d}.parquet"


def part_files(work: Path, table: str) -> list[Path]:
    """The files of a table of all parts, in order; other files in its folder do not count."""
    try:
        names = os.listdir(work / table)
    except FileNotFoundError:
        return []
    return [work / table / name for name in sorted(names) if re.fullmatch(r"\d{15}\.(parquet|jsonl)", name)]


def write_part(tables: dict[str, pa.Table], work: Path, sequence: int) -> None:
    """Write the tables of a part."""
    for name, table in tables.items():
        if len(table):
            path = part_file(work, name, sequence)
            path.parent.mkdir(exist_ok=True)
            # The file is read once: most dictionaries and statistics would take longer than they save.
            pq.write_table(
                table, path, compression="lz4", use_dictionary=["type", "kind", "form"], write_statistics=False
            )
