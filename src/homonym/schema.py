"""The layout of every table that users get, defined once. Tables of the work directory are in collection/layout.py.

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
"""The result: one row per mention, ordered by block, document, position. In a result directory, mentions.parquet.

`author_id` is the block and a digest of the anchor mention (see collection/author_ids.py).

`confidence` is the probability that a mention belongs to the person who has most mentions of its author; for a lone
mention, that its person has no other mention in the block. `author_confidence` is its mean over the mentions of the
author. Both are null where nothing is known: without pseudo-names, in a block of one mention, without features.

`constraint` lists the constraints on a mention, separated by semicolons: `same:orcid` is a must-link to another mention
of its block, `not:name` a cannot-link.
"""

IDENTIFIERS = pa.list_(pa.struct([pa.field("kind", pa.string()), pa.field("id", pa.string())]))


def _counted(*names: str) -> pa.ListType:
    """A column of lists of values with their counts."""
    return pa.list_(pa.struct([*(pa.field(name, pa.string()) for name in names), pa.field("count", pa.int64())]))


AUTHOR_SUMMARIES = pa.schema(
    [
        pa.field("author_id", pa.string(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("variants", _counted("name")),
        pa.field("mentions", pa.int64(), nullable=False),
        pa.field("documents", pa.int64(), nullable=False),
        pa.field("first_year", pa.int32()),
        pa.field("last_year", pa.int32()),
        pa.field("affiliations", _counted("affiliation")),
        pa.field("coauthors", _counted("author_id", "name")),
        pa.field("ids", _counted("kind", "id")),
        pa.field("confidence", pa.float64()),
    ]
)
"""The authors of a result directory, authors.parquet: one row per author, ordered by author_id.

`name` is the most complete form of the name that most mentions do not contradict, of equally complete ones the most
frequent. Lists are ordered by count, then by text. `variants` has all forms of the name, with the number of mentions;
`ids` all identifiers, with the number of mentions; `affiliations` the ten on most mentions; `coauthors` the ten with
most common documents, of which those with more than a hundred authors are not counted. `documents` is the number of
distinct documents.
"""

DOCUMENTS = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("title", pa.string()),
        pa.field("year", pa.int32()),
        pa.field("venue", pa.string()),
        pa.field(
            "authors",
            pa.list_(
                pa.struct(
                    [
                        pa.field("position", pa.int32()),
                        pa.field("name", pa.string()),
                        pa.field("affiliations", pa.list_(pa.string())),
                    ]
                )
            ),
        ),
        pa.field("ids", IDENTIFIERS),
        pa.field("record_ids", pa.list_(pa.string())),
        pa.field("record", pa.string(), nullable=False),
    ]
)
"""The documents of a result directory, documents.parquet: one row per document, copies merged, ordered by document_id.

Documents that updates have added come after them, until an epoch begins or the result is rebuilt.

`record` is the whole document as one JSON object (see records/formats/documents.py), with the ids of the result.
`record_ids` are the ids that its records had in the input: several if copies were merged, another than `document_id` if
that was changed because different documents had the same id.
"""

STATISTICS = pa.schema(
    [
        pa.field("type", pa.string(), nullable=False),
        pa.field("feature", pa.string(), nullable=False),
        pa.field("count", pa.float64(), nullable=False),
    ]
)
"""#(f) of a collection: the mass of each feature over all its mentions."""

STORED_BAGS = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("year", pa.int32()),
        pa.field("slot", pa.list_(pa.int32())),
        pa.field("size", pa.list_(pa.int32())),
        pa.field("feature", pa.binary()),
        pa.field("feature_high", pa.binary()),
        pa.field("count", pa.binary()),
        pa.field("other_count", pa.binary()),
        pa.field("position", pa.list_(pa.int32())),
        pa.field("parsed_name", pa.list_(pa.string())),
        pa.field("full_name", pa.list_(pa.string())),
        pa.field("own_name", pa.list_(pa.int32())),
        pa.field("own_full_name", pa.list_(pa.int32())),
        pa.field("unlisted_name", pa.list_(pa.string())),
        pa.field("ids", pa.list_(pa.struct([("slot", pa.int32()), ("kind", pa.string()), ("id", pa.string())]))),
        pa.field("references", pa.list_(pa.string())),
        pa.field(
            "new_features",
            pa.list_(
                pa.struct(
                    [("slot", pa.int32()), ("type", pa.string()), ("feature", pa.string()), ("count", pa.float64()),
                     ("place", pa.int32())]
                )
            ),
        ),
    ]
)  # fmt: skip
"""What the clustering takes from a document: see collection/stored_bags.py."""

_FORMER_TYPES = {"feature": pa.list_(pa.int32()), "count": pa.list_(pa.float64())}
FORMER_BAGS = pa.schema(
    pa.field(one.name, _FORMER_TYPES.get(one.name, one.type), one.nullable)
    for one in STORED_BAGS
    if one.name not in {"size", "feature_high", "other_count"}
)
"""The same up to version 0.16, with an element of the lists for each entry."""

NAME_COUNTS = pa.schema(
    [
        pa.field("kind", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("names", pa.int64(), nullable=False),
    ]
)
"""How many full names of a collection have each surname, and each given name: names.parquet of a result directory.

The row of the kind `all` has an empty name, and the number of all full names. In small collections, the names of the
background are included (see collection/background.py).
"""

ID_ROWS = pa.schema(
    [
        pa.field("author_id", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("target", pa.string()),
        pa.field("split_from", pa.string()),
        pa.field("created", pa.int32(), nullable=False),
        pa.field("changed", pa.int32(), nullable=False),
    ]
)
"""Every author id that was ever given, in the order of author_id: ids.parquet of an updated result.

`status` is active, redirect or retired; `target` is where a redirect leads. `split_from` is the author that a new one
was split off. `created` and `changed` are numbers of updates; 0 is the run that wrote the result.
"""

EVENT_ROWS = pa.schema(
    [
        pa.field("number", pa.int64(), nullable=False),
        pa.field("time", pa.string(), nullable=False),
        pa.field("update", pa.int32(), nullable=False),
        pa.field("epoch", pa.int32(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("author_id", pa.string(), nullable=False),
        pa.field("other_id", pa.string()),
        pa.field("mention_id", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
"""What happened to authors, in order: events.parquet of an updated result.

`time` is UTC, `update` the number of the update. The kinds are:

- created: a new author;
- grown: the author `author_id`, which was known, has the new mention `mention_id`;
- merged: `author_id` is now a redirect to `other_id`;
- split: `author_id` is new, and its mentions were those of `other_id`;
- moved: the mention `mention_id` left `other_id` for `author_id`, and no other event says so;
- retired: `author_id` has no mentions any more;
- revived: `author_id` was a redirect to `other_id`, and is an author again, because a decision was undone.
"""

RENAMED_ROWS = pa.schema(
    [
        pa.field("number", pa.int64(), nullable=False),
        pa.field("decision", pa.int64(), nullable=False),
        pa.field("former_id", pa.string(), nullable=False),
        pa.field("mention_id", pa.string(), nullable=False),
    ]
)
"""Mentions that got another id, in order: renamed.parquet of an updated result.

Renames of one update have the same `number` and happen at once. `decision` is the number of the last decision before.
The `mention_id` of a mention that is gone is no mention.
"""

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
