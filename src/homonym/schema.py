"""The layout of every table, defined once.

Column names are a contract: scripts of users read these tables.
"""

from __future__ import annotations

import pyarrow as pa

AUTHORS = pa.schema(
    [
        pa.field("mention_id", pa.string(), nullable=False),
        pa.field("document_id", pa.string()),
        pa.field("position", pa.int32()),
        pa.field("name", pa.string()),
        pa.field("block", pa.string(), nullable=False),
        pa.field("author_id", pa.string(), nullable=False),
        pa.field("constraint", pa.string()),
        pa.field("confidence", pa.float64()),
        pa.field("author_confidence", pa.float64()),
    ]
)
"""The result: one row per mention, ordered by block, document, position.

`confidence` is the share of correctly clustered pseudo-name mentions with a similar margin, `author_confidence` its
mean over the mentions of the author; both are null if the collection has no pseudo-names.

`constraint` lists the constraints on a mention, separated by semicolons: `same:orcid` is a must-link to another mention
of its block, `not:name` a cannot-link.
"""

STATISTICS = pa.schema(
    [
        pa.field("type", pa.string(), nullable=False),
        pa.field("feature", pa.string(), nullable=False),
        pa.field("count", pa.float64(), nullable=False),
    ]
)
"""#(f) of a collection: the mass of each feature over all its mentions."""

GOLD = pa.schema(
    [
        pa.field("mention_id", pa.string(), nullable=False),
        pa.field("author", pa.string(), nullable=False),
    ]
)
"""Gold labels: which mention belongs to which person."""

BAG = pa.list_(
    pa.struct(
        [
            pa.field("type", pa.string()),
            pa.field("feature", pa.string()),
            pa.field("count", pa.float64()),
        ]
    )
)

IDENTIFIERS = pa.list_(pa.struct([pa.field("kind", pa.string()), pa.field("id", pa.string())]))

MENTIONS = pa.schema(
    [
        pa.field("mention_id", pa.string(), nullable=False),
        pa.field("document_id", pa.string()),
        pa.field("position", pa.int32()),
        pa.field("name", pa.string()),
        pa.field("block", pa.string(), nullable=False),
        pa.field("year", pa.int32()),
        pa.field("author", pa.string()),
        pa.field("ids", IDENTIFIERS),
        pa.field("features", BAG),
    ]
)
"""Mentions with their bags, as `extract` writes them to Parquet and `cluster` reads them."""

ROUNDS = pa.schema(
    [
        pa.field("block", pa.string(), nullable=False),
        pa.field("mentions", pa.int32(), nullable=False),
        pa.field("round", pa.int32(), nullable=False),
        pa.field("clusters", pa.int32(), nullable=False),
        pa.field("merges", pa.int32(), nullable=False),
        pa.field("lowest_score", pa.float64(), nullable=False),
        pa.field("highest_score", pa.float64(), nullable=False),
        pa.field("limit", pa.float64(), nullable=False),
        pa.field("before_convergence", pa.bool_(), nullable=False),
    ]
)
"""The trace: one row per round of merging; `clusters` is the number after the round."""
