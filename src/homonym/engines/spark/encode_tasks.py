"""Tasks that encode: amend the parts, give features their final numbers, and make one row per mention with its bag.

The rows of a part come together, those about the part before the part itself (see `kind`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.clustering.arrays import ranges, starts
from homonym.collection import document_table
from homonym.collection.document_table import CHOSEN, ROWS
from homonym.collection.layout import CITED, FEATURES, SLOT_BITS
from homonym.collection.stored_bags import NEW_ENTRIES, BagArrays, DocumentFacts, bag_rows, first_identifiers
from homonym.engines.spark.part_tables import PACKED, PART_ROWS, Amendments, amended, part_row, rows_of, unpacked
from homonym.engines.spark.session import Batches
from homonym.engines.spark.spark_counting import whole_groups
from homonym.schema import STORED_BAGS

# What a row says about its part: the record `sequence` is a duplicate; its new id is `text`; it refers to a document by
# `names`; the feature `sequence` has the number `number` and the total `total`; the block `text` has the number
# `number`; the full name `text` has `total` namesakes; and, last, this is the part.
DUPLICATE, RENAMED, REFERENCED, NUMBER, BLOCK, NAMESAKES, PART = range(7)

# Rows about parts and the parts themselves: amendments, and numbers.
_ABOUT = [("kind", pa.int32()), ("sequence", pa.int64()), ("text", pa.string())]
AMENDING = pa.schema([*_ABOUT, ("names", pa.list_(pa.string())), ("holders", pa.int32()), *PART_ROWS])
NUMBERING = pa.schema([*_ABOUT, ("number", pa.int64()), ("total", pa.float64()), *PART_ROWS])

# The tables that amending gives: parts, and what their features add to #(f).
AMENDED = {"parts": PART_ROWS, "features": FEATURES}

# Mentions with their bags: first the `shared` features of the document, then their own, as bytes of arrays. `own_name`
# and `own_full_name` are the features of the mention's own name among the names of the document, −1 if there is none.
ENCODED = pa.schema(
    [("task", pa.int32()), ("block_number", pa.int64()), ("block", pa.string()), ("document_id", pa.string()),
     ("position", pa.int32()), ("mention_id", pa.string()), ("name", pa.string()), ("parsed_name", pa.string()),
     ("full_name", pa.string()), ("namesakes", pa.float64()), ("own_name", pa.int64()), ("own_full_name", pa.int64()),
     ("shared", pa.int32()), ("year", pa.int32()),
     ("feature", pa.binary()), ("count", pa.binary()), ("total", pa.binary()), ("identifiers", pa.binary())]
)  # fmt: skip

# Rows of schema.STORED_BAGS without references; names of columns differ from those of mentions, which have other types.
BAG_PREFIX = "bag_"
BAG_ROWS = pa.schema([pa.field(BAG_PREFIX + one.name, one.type) for one in STORED_BAGS if one.name != "references"])

# The tables that encoding gives.
ENCODING = {"mentions": ENCODED, "bags": BAG_ROWS}

# Documents with their references, and their numbers in the order of the table.
NUMBERED_DOCUMENTS = pa.schema([*(field.with_nullable(True) for field in ROWS), ("number", pa.int64())])

# Bits of the numbers of features that say which feature of its partition one is; the others are the partition's.
ID_BITS = 33

# Maximum number of occurrences in a batch for Spark: a paper with thousands of authors has millions.
MAX_OCCURRENCES = 4_000_000


def amend(batches: Batches) -> Batches:
    """Amend the parts that need it, and count their features."""
    for about, part, read, tables in _parts(batches):
        kind = about["kind"].to_numpy()
        if (kind < PART).any():
            tables = amended(tables, part, _amendments(about, kind))
        yield from rows_of("parts", part_row(part, read, tables), AMENDED)
        yield from rows_of("features", tables["features"], AMENDED)


def _amendments(about: pa.Table, kind: NDArray[np.int32]) -> Amendments:
    duplicate, renamed, referenced = (about.filter(pa.array(kind == what)) for what in (DUPLICATE, RENAMED, REFERENCED))
    return Amendments(
        duplicates=duplicate["sequence"].to_numpy(),
        renamed=dict(zip(renamed["sequence"].to_pylist(), renamed["text"].to_pylist(), strict=True)),
        referenced=_row_per_author(referenced),
    )


def _row_per_author(referenced: pa.Table) -> pa.Table:
    """One row for each author of each document that records refer to."""
    names = referenced["names"].combine_chunks()
    row = pc.list_parent_indices(names)
    columns = {name: referenced[name].take(row) for name in ("sequence", "holders")}
    return pa.table({**columns, "feature": pc.list_flatten(names)})


def encode(
    batches: Batches, first_blocks: NDArray[np.int64], first_features: NDArray[np.int64] | None = None
) -> Batches:
    """One row per mention: its bag, the number of its block, and its task; tasks begin at `first_blocks`.

    If the result is to have the bags of documents, also one row per document. `first_features` has the number of
    features before those of each partition of the vocabulary.
    """
    for about, _, _, tables in _parts(batches):
        kind = about["kind"].to_numpy()
        numbers, blocks, names = (about.filter(pa.array(kind == what)) for what in (NUMBER, BLOCK, NAMESAKES))
        bags = _MentionBags(tables, numbers)
        number_of = dict(zip(blocks["text"].to_pylist(), blocks["number"].to_pylist(), strict=True))
        identifiers = _by_mention(tables["identifiers"])
        for mentions in bags.slices(tables["mentions"]):
            block = np.array([number_of[name] for name in mentions["block"].to_pylist()], np.int64)
            own = [identifiers.get(owner) for owner in mentions["owner"].to_pylist()]
            columns = {
                "task": pa.array(np.searchsorted(first_blocks, block, side="right") - 1, pa.int32()),
                "block_number": pa.array(block),
                "namesakes": names["total"].take(pc.index_in(mentions["full_name"], names["text"])),
                **{name: mentions[name] for name in ENCODED.names if name in mentions.column_names},
                **{name: bags.own_names(mentions[name]) for name in ("own_name", "own_full_name")},
                "identifiers": pa.array(own, pa.binary()),
                **bags.of(mentions["owner"].to_numpy()),
            }
            yield from rows_of("mentions", pa.table(columns), ENCODING)
        if first_features is not None and len(tables["mentions"]):
            yield from rows_of("bags", _bags_of_documents(tables, bags, first_features), ENCODING)


def _bags_of_documents(tables: dict[str, pa.Table], bags: _MentionBags, first_features: NDArray[np.int64]) -> pa.Table:
    """The bags of the documents of a part, as a result directory has them."""
    number = first_features[bags.number >> ID_BITS] + (bags.number & ((1 << ID_BITS) - 1))
    mentions = tables["mentions"].sort_by("owner")
    for name in ("own_name", "own_full_name"):
        own = bags.own_names(mentions[name]).to_numpy()
        known = np.where(own < 0, -1, first_features[own >> ID_BITS] + (own & ((1 << ID_BITS) - 1)))
        mentions = mentions.set_column(mentions.column_names.index(name), name, pa.array(known, pa.int32()))
    cited = tables["cited"]
    cited = cited.set_column(1, CITED.field("feature"), pa.array(number[cited["feature"].to_numpy()], pa.int32()))
    facts = DocumentFacts(
        BagArrays.of_entries(bags.owner, number[bags.feature].astype(np.int32), bags.count),
        mentions.combine_chunks(),
        first_identifiers(tables["identifiers"]),
        cited,
        NEW_ENTRIES.empty_table(),
    )
    sequence, first = np.unique(mentions["owner"].to_numpy() >> SLOT_BITS, return_index=True)
    document_id = mentions["document_id"].take(pa.array(first)).combine_chunks()
    rows = bag_rows(document_id, pa.nulls(len(sequence), pa.list_(pa.string())), sequence, facts)
    return rows.rename_columns([BAG_PREFIX + name for name in rows.column_names])


def document_rows(batches: Batches) -> Batches:
    """Rows of the table of documents, from rows of CHOSEN with a column `number`."""
    for batch in batches:
        if len(batch):
            chosen = pa.Table.from_batches([batch]).select(CHOSEN.names).cast(CHOSEN)
            rows = document_table.rows_with_references(chosen)
            yield from rows.append_column("number", batch["number"]).cast(NUMBERED_DOCUMENTS).to_batches()


def _parts(batches: Batches) -> Iterator[tuple[pa.Table, int, int, dict[str, pa.Table]]]:
    """The rows about each part, its number, the number of raw records it was made of, and its tables."""
    for group in whole_groups(batches, ("part",), one_by_one=True):
        row = group.slice(len(group) - 1).to_pylist()[0]
        tables = {name: unpacked(row[name]) for name in PACKED}
        yield group.drop_columns([*PACKED, "part", "read", "western"]), row["part"], row["read"], tables


def _by_mention(identifiers: pa.Table) -> dict[int, bytes]:
    """The identifiers of each mention, as JSON."""
    found: dict[int, list[list[str]]] = {}
    for owner, kind, value in zip(*(column.to_pylist() for column in identifiers.columns), strict=True):
        found.setdefault(owner, []).append([kind, value])
    return {owner: orjson.dumps(values) for owner, values in found.items()}


class _MentionBags:
    """The bags of a part with the final numbers of their features."""

    def __init__(self, tables: dict[str, pa.Table], numbers: pa.Table) -> None:
        features = tables["features"].filter(pc.invert(tables["features"]["again"]))
        names = features.filter(pc.equal(features["type"], "co"))
        self.co_names, self.co_ids = names["feature"], names["id"].to_numpy()
        self.number = np.full(len(features), -1, np.int64)
        self.total = np.zeros(len(features))
        self.number[numbers["sequence"].to_numpy()] = numbers["number"].to_numpy()
        self.total[numbers["sequence"].to_numpy()] = numbers["total"].to_numpy()
        bags = tables["bags"]
        self.owner, self.feature, self.count = (bags[name].to_numpy() for name in ("owner", "feature", "count"))

    def slices(self, mentions: pa.Table) -> Iterator[pa.Table]:
        """The mentions in slices of at most MAX_OCCURRENCES occurrences, or of one mention."""
        filled = np.cumsum(self._lengths(mentions["owner"].to_numpy()).sum(axis=0)) // MAX_OCCURRENCES
        cuts = [*np.flatnonzero(np.diff(filled, prepend=-1)).tolist(), len(mentions)]
        for first, last in pairwise(cuts):
            yield mentions.slice(first, last - first)

    def of(self, owner: NDArray[np.int64]) -> dict[str, pa.Array]:
        """The bags of some mentions, one cell for each."""
        begin, lengths = self._begin(owner), self._lengths(owner)
        occurrences = ranges(begin.T.ravel(), lengths.T.ravel())
        feature, length = self.feature[occurrences], lengths.sum(axis=0)
        return {
            "shared": pa.array(lengths[0], pa.int32()),
            "feature": _cells(self.number[feature], length),
            "count": _cells(self.count[occurrences], length),
            "total": _cells(self.total[feature], length),
        }

    def own_names(self, names: pa.ChunkedArray) -> pa.Array:
        """The numbers of some names among the co-authors, −1 if they are missing."""
        place = pc.index_in(names, self.co_names).to_numpy(zero_copy_only=False)
        known = ~np.isnan(place.astype(np.float64))
        number = np.full(len(place), -1, np.int64)
        number[known] = self.number[self.co_ids[place[known].astype(np.int64)]]
        return pa.array(number)

    def _owners(self, owner: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.stack([(owner >> SLOT_BITS) << SLOT_BITS, owner])

    def _begin(self, owner: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self.owner, self._owners(owner))

    def _lengths(self, owner: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self.owner, self._owners(owner), side="right") - self._begin(owner)


def _cells(values: NDArray[np.generic], lengths: NDArray[np.int64]) -> pa.Array:
    """Consecutive slices of an array as cells of bytes."""
    offsets = (8 * starts(lengths)).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(lengths), [None, pa.py_buffer(offsets), pa.py_buffer(values)])
