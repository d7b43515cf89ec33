"""The features of documents as a result directory keeps them, so that blocks are encoded without reading texts again.

`bags.parquet` has one row for each document with mentions (schema.STORED_BAGS), in the order of the table of documents.
The entries of their bags are packed (see packed_entries.py). Each counts a feature for an owner: the slot 0 is the
document, which all its mentions share, and 1 + position is one of its authors (see layout.py). Features have the
numbers of their rows in `statistics.parquet`. Authors of referenced documents are not in the bags: they depend on the
documents that the result has, so `references` has the ids.

A document that came with an update may have features that the statistics lack. These are in `new_features` with their
names; `place` is the number of features of the statistics that come before. `own_name` and `own_full_name` are the
features of a mention's own name in the bag of its document, −1 if it is not in it, as in a document of one author, and
−2 − k for the entry k of `new_features`. `unlisted_name` is the normalised name where `own_name` is −1.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers, ranges, starts
from homonym.collection.encoded import Encoded
from homonym.collection.layout import CITED, IDENTIFIER_ROWS, SLOT_BITS
from homonym.collection.packed_entries import packed_entries
from homonym.collection.result_statistics import ResultStatistics
from homonym.io.paths import plain_path
from homonym.names.parse import name_key
from homonym.schema import STORED_BAGS

# Rows in a row group: few enough to look up some documents, many enough to read all of them quickly.
ROW_GROUP = 1 << 11

NEW_ENTRIES = pa.schema([("owner", pa.int64()), *STORED_BAGS.field("new_features").type.value_type])
"""Entries of bags whose features the statistics lack, ordered by owner; `slot` is that of the owner."""

_SLOT = (1 << SLOT_BITS) - 1


class BagArrays(NamedTuple):
    """Bags by owner: those of `owners[i]` are `feature[begin[i]:begin[i + 1]]` with the same range of `counts`."""

    owners: Integers
    begin: Integers
    feature: NDArray[np.int32]
    counts: NDArray[Any]
    value: NDArray[np.float64] | None = None
    """The table of which `counts` are rows, if they are coded (see count_codes.py)."""

    @classmethod
    def of_entries(cls, owner: Integers, feature: NDArray[np.int32], count: NDArray[np.float64]) -> BagArrays:
        """The same of entries that are ordered by owner."""
        begin = np.flatnonzero(np.diff(owner, prepend=-1))
        return cls(owner[begin], np.append(begin, len(owner)), feature, count)


class DocumentFacts(NamedTuple):
    """What rows are made of, for documents that are known by their sequence numbers.

    `mentions` are rows of a table of mentions, ordered by owner, whose own names are numbers of features. `cited`,
    `identifiers` and `new` are ordered by owner, too; a mention has one identifier of each kind. `feature_names` are
    the names of all features; names of mentions that are not among them are parsed.
    """

    bags: BagArrays
    mentions: pa.Table
    identifiers: pa.Table
    cited: pa.Table
    new: pa.Table
    feature_names: pa.Array | None = None


def bag_rows(document_id: pa.Array, references: pa.Array, sequence: Integers, facts: DocumentFacts) -> pa.Table:
    """Rows of schema.STORED_BAGS for some documents, all of which have mentions."""
    owner, feature, count, size = _own_entries(sequence, facts.bags, facts.cited)
    chosen, mentions = _rows_of(sequence, facts.mentions)
    named = facts.mentions.take(pa.array(chosen))
    bag = _DocumentEntries(owner, feature, size)
    own = {name: bag.listed(named[name].to_numpy(), mentions) for name in ("own_name", "own_full_name")}
    columns = {
        "document_id": document_id,
        "year": named["year"].take(pa.array(starts(mentions)[:-1])),
        **packed_entries(owner, feature, count, size),
        "ids": _structs(sequence, facts.identifiers, "ids"),
        "references": references,
        "new_features": _structs(sequence, facts.new, "new_features"),
        **{name: _lists(mentions, named[name]) for name in ("position", "parsed_name", "full_name")},
        **{name: _lists(mentions, pa.array(numbers, pa.int32())) for name, numbers in own.items()},
        "unlisted_name": _lists(mentions, _unlisted_names(named, own["own_name"], facts.feature_names)),
    }
    return pa.table(columns).select(STORED_BAGS.names).cast(STORED_BAGS)


class _DocumentEntries(NamedTuple):
    """Entries of the bags of documents, which are ordered by document, owner and feature."""

    owner: Integers
    feature: NDArray[np.int32]
    size: Integers

    def listed(self, own: NDArray[np.integer], mentions: Integers) -> NDArray[np.integer]:
        """The features of own names, −1 where the bag of the document lacks one.

        `mentions` has the number of mentions of each document. A document that has different names lists all of them,
        because the bag of a document has all names that are of another author than one of its mentions.
        """
        begin = starts(mentions)[:-1]
        same = np.minimum.reduceat(own, begin) == np.maximum.reduceat(own, begin) if len(own) else own
        suspects = np.flatnonzero(np.repeat(same, mentions) & (own >= 0)) if len(own) else np.zeros(0, np.int64)
        if not len(suspects):
            return own
        place = self.places(np.repeat(np.arange(len(mentions)), mentions)[suspects], own[suspects])
        own = own.copy()
        own[suspects[place < 0]] = -1
        return own

    def places(self, document: Integers, feature: NDArray[np.integer]) -> Integers:
        """The entries of some features in the bags of documents, −1 where there is none."""
        # Most entries are of other types, whose features come before or after these.
        least, most = int(feature.min()), int(feature.max())
        entry = np.flatnonzero((self.feature >= least) & (self.feature <= most))
        entry = entry[self.owner[entry] & _SLOT == 0]
        if not len(entry):
            return np.full(len(feature), -1)
        owner = np.searchsorted(starts(self.size), entry, side="right") - 1
        key = owner * (most + 1 - least) + self.feature[entry] - least
        wanted = document * (most + 1 - least) + feature - least
        place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
        return np.where(key[place] == wanted, entry[place], -1)


def _unlisted_names(mentions: pa.Table, listed: NDArray[np.integer], feature_names: pa.Array | None) -> pa.Array:
    """The normalised names where a document does not list the name of its author; null elsewhere."""
    number = pa.array(np.where(listed == -1, mentions["own_name"].to_numpy(), -1))
    keys = pa.nulls(len(listed), pa.string())
    if feature_names is not None:
        keys = feature_names.take(pc.if_else(pc.less(number, 0), None, number))
    rows = np.flatnonzero((listed == -1) & pc.is_null(keys).to_numpy(zero_copy_only=False))
    if len(rows):
        mask = np.zeros(len(listed), np.bool_)
        mask[rows] = True
        parsed = [name_key(name) for name in mentions["name"].take(pa.array(rows)).to_pylist()]
        keys = pc.replace_with_mask(keys, pa.array(mask), pa.array(parsed, pa.string()))
    return keys


def _own_entries(
    sequence: Integers, bags: BagArrays, cited: pa.Table
) -> tuple[Integers, NDArray[np.int32], NDArray[np.float64], Integers]:
    """Owner, feature and count of the entries of some documents, without what comes from references; and their number.

    Counts of references are whole numbers, so that what is left is exact.
    """
    first, last = (np.searchsorted(bags.owners, one << SLOT_BITS) for one in (sequence, sequence + 1))
    owners = ranges(first, last - first)
    begin, size = bags.begin[first], bags.begin[last] - bags.begin[first]
    entries = ranges(begin, size)
    owner = np.repeat(bags.owners[owners], bags.begin[owners + 1] - bags.begin[owners])
    feature = bags.feature[entries]
    count = bags.counts[entries] if bags.value is None else bags.value[bags.counts[entries]]
    chosen, number = _rows_of(sequence, cited)
    if not len(chosen):
        return owner, feature, count, size
    document = np.repeat(np.arange(len(sequence)), number)
    place = _DocumentEntries(owner, feature, size).places(document, _numbers(cited, "feature")[chosen])
    count[place] -= _numbers(cited, "count")[chosen]
    is_gone = count[place] == 0
    kept = np.ones(len(count), np.bool_)
    kept[place[is_gone]] = False
    size = size - np.bincount(document[is_gone], minlength=len(sequence))
    return owner[kept], feature[kept], count[kept], size


def _rows_of(sequence: Integers, table: pa.Table) -> tuple[Integers, Integers]:
    """The rows of a table that is ordered by owner that are of some documents, and their number in each of these."""
    owner = _numbers(table, "owner")
    first, last = (np.searchsorted(owner, one << SLOT_BITS) for one in (sequence, sequence + 1))
    return ranges(first, last - first), last - first


def _numbers(table: pa.Table, name: str) -> NDArray[Any]:
    """A column of numbers, without a copy if it is in one piece."""
    column = table[name]
    numbers: NDArray[Any] = column.chunk(0).to_numpy() if column.num_chunks == 1 else column.to_numpy()
    return numbers


def _lists(size: Integers, values: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return pa.ListArray.from_arrays(pa.array(starts(size), pa.int32()), values)


def _structs(sequence: Integers, table: pa.Table, name: str) -> pa.Array:
    """Rows of a table with an owner as a column of lists of structures."""
    chosen, size = _rows_of(sequence, table)
    fields = list(STORED_BAGS.field(name).type.value_type)
    rows = table.take(pa.array(chosen))
    slot = pa.array(rows["owner"].to_numpy() & _SLOT, pa.int32())
    rows = pa.table({"slot": slot} | {one.name: rows[one.name] for one in fields[1:]})
    values = [rows[one.name].combine_chunks().cast(one.type) for one in fields]
    return _lists(size, pa.StructArray.from_arrays(values, fields=fields))


def first_identifiers(identifiers: pa.Table) -> pa.Table:
    """One identifier of each kind for each mention, as counting.py chooses them, ordered by owner and kind."""
    first = identifiers.group_by(["owner", "kind"]).aggregate([("id", "min")]).select(["owner", "kind", "id_min"])
    return first.rename_columns(IDENTIFIER_ROWS.names).sort_by([("owner", "ascending"), ("kind", "ascending")])


def stored_bags(encoded: Encoded, references: Path, cited: Path, statistics: Path) -> Iterator[pa.Table]:
    """The bags of an encoded collection in tables of schema.STORED_BAGS; `cited` is a table of CITED.

    `statistics` is the table of #(f), and `references` has the references of documents, in the order of the table of
    documents (see document_table.py).
    """
    order = np.argsort(encoded.mention_owner)
    mentions = _mentions(encoded, order)
    sequence = mentions["owner"].to_numpy() >> SLOT_BITS
    first = np.flatnonzero(np.diff(sequence, prepend=-1))
    ids = pq.read_table(encoded.mentions_file, columns=["document_id"])["document_id"]
    known, known_sequence = ids.take(pa.array(order[first])), sequence[first]
    value = encoded.value if len(encoded.value) else None
    bags = BagArrays(encoded.owners, encoded.starts, encoded.feature, encoded.count, value)
    with plain_path(statistics) as plain:
        feature_names = pq.read_table(plain, columns=["feature"])["feature"].combine_chunks()
    facts = DocumentFacts(
        bags,
        mentions.combine_chunks(),
        pq.read_table(encoded.identifiers_file).sort_by([("owner", "ascending")]).combine_chunks(),
        pq.read_table(cited).combine_chunks(),
        NEW_ENTRIES.empty_table(),
        feature_names,
    )
    with pq.ParquetFile(references) as file:
        ids = file.read(columns=["document_id"])["document_id"]
        place, done = pc.index_in(ids, known.combine_chunks()), 0
        for batch in file.iter_batches(ROW_GROUP):
            own = place.slice(done, len(batch))
            done += len(batch)
            chosen = batch.filter(pc.is_valid(own).combine_chunks())
            documents = known_sequence[own.drop_null().to_numpy()]
            yield bag_rows(chosen["document_id"], chosen["references"], documents, facts)


def _mentions(encoded: Encoded, order: Integers) -> pa.Table:
    """The mentions of an encoded collection in an order, with the columns that rows are made of."""
    names = ["parsed_name", "full_name"]
    columns = ["owner", "year", "position", *names, "own_name", "own_full_name"]
    if (encoded.own_name < 0).any():  # the names of these are parsed
        columns.append("name")
    mentions = pq.read_table(encoded.mentions_file, columns=columns, read_dictionary=names)
    return mentions.take(pa.array(order)).unify_dictionaries()


def rows_of_part(part: dict[str, pa.Table], document_id: pa.Array, statistics: ResultStatistics) -> pa.Table:
    """Rows of schema.STORED_BAGS for the documents of a part with mentions; `document_id[s]` has the sequence s."""
    features = part["features"].filter(pc.invert(part["features"]["again"]))
    number, place = statistics.numbers(features["type"], features["feature"])
    bags = part["bags"]
    owner, local, count = (bags[name].to_numpy() for name in ("owner", "feature", "count"))
    is_known = number[local] >= 0
    used = place[local] >= 0  # types that the statistics lack have no weight
    new = _new_entries(bags.filter(pa.array(~is_known & used)), features, place)
    mentions, sequence = part["mentions"], np.unique(part["mentions"]["owner"].to_numpy() >> SLOT_BITS)
    for column in ("own_name", "own_full_name"):
        own = _own_names(mentions, column, new, statistics)
        mentions = mentions.set_column(mentions.column_names.index(column), column, own)
    facts = DocumentFacts(
        BagArrays.of_entries(owner[is_known], number[local[is_known]].astype(np.int32), count[is_known]),
        mentions.combine_chunks(),
        first_identifiers(part["identifiers"]),
        CITED.empty_table(),
        new,
        statistics.feature_names,
    )
    return bag_rows(document_id.take(pa.array(sequence)), _references(part["references"], sequence), sequence, facts)


def _new_entries(bags: pa.Table, features: pa.Table, place: Integers) -> pa.Table:
    """Entries of bags whose features the statistics lack; `place` is that of each feature."""
    local = bags["feature"].to_numpy()
    named = features.take(pa.array(local))
    columns = {
        "owner": bags["owner"],
        "slot": pa.array(bags["owner"].to_numpy() & _SLOT, pa.int32()),
        "type": named["type"],
        "feature": named["feature"],
        "count": bags["count"],
        "place": pa.array(place[local], pa.int32()),
    }
    return pa.table(columns).select(NEW_ENTRIES.names).cast(NEW_ENTRIES)


def _own_names(mentions: pa.Table, column: str, new: pa.Table, statistics: ResultStatistics) -> pa.Array:
    """The features of the own names of mentions: numbers of the statistics, or places among new features."""
    number, _ = statistics.numbers(pa.repeat(pa.scalar("co"), len(mentions)), mentions[column])
    places, first = dict[tuple[int, str], int](), dict[int, int]()
    rows = zip(*(new[name].to_pylist() for name in ("owner", "type", "feature")), strict=True)
    for row, (owner, kind, name) in enumerate(rows):
        begin = first.setdefault(owner >> SLOT_BITS, row)
        if kind == "co" and owner & _SLOT == 0:
            places[owner >> SLOT_BITS, name] = -2 - (row - begin)
    if places:
        document = (mentions["owner"].to_numpy() >> SLOT_BITS).tolist()
        keys = zip(number.tolist(), document, mentions[column].to_pylist(), strict=True)
        found = [places.get((one, name), -1) if known < 0 else known for known, one, name in keys]
        return pa.array(found, pa.int32())
    return pa.array(number, pa.int32())


def _references(references: pa.Table, sequence: Integers) -> pa.Array:
    """The ids that some documents refer to, as lists; rows are ordered by sequence."""
    own = references["sequence"].to_numpy()
    first, last = np.searchsorted(own, sequence), np.searchsorted(own, sequence, side="right")
    return _lists(last - first, references["id"].take(pa.array(ranges(first, last - first))))
