"""Encodes some blocks of a result directory again, exactly as they were in the whole collection.

The features of their documents are stored in the result (see stored_bags.py). A result of an earlier version does not
have them, so they are extracted from the documents. What blocks take from the rest of the collection is read. Features
are numbered in the same order as in the whole collection, so that sums are computed in the same order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Floats, Frequencies, Integers, ranges, starts
from homonym.collection.encoded import Encoded
from homonym.collection.extractor import added_up, merged_entries
from homonym.collection.layout import IDENTIFIER_ROWS, SLOT_BITS
from homonym.collection.parts import Chunk, extract_mentions
from homonym.collection.result_statistics import ResultStatistics
from homonym.collection.stored_bags import rows_of_part
from homonym.errors import InputError
from homonym.io.result_directory import BAGS, DOCUMENTS, MENTIONS
from homonym.io.tables import look_up
from homonym.names.parse import name_key
from homonym.records.parsing.splitting import Raw
from homonym.settings import Settings

# The feature type that also has the authors of referenced documents.
REFERENCED = "ref"


@dataclass(frozen=True, eq=False)
class ReloadedBlocks:
    """Encoded blocks, and the rows of the result for their mentions in the same order.

    `counted` has the features that the statistics lack, and #(f) that was used instead.
    """

    encoded: Encoded
    rows: pa.Table
    counted: dict[tuple[str, str], float]
    result: Path
    numbered: _NumberedBags

    @cached_property
    def documents(self) -> dict[str, dict[str, Any]]:
        """Id, title, year and venue of the documents of all mentions, by id."""
        columns = ["document_id", "title", "year", "venue"]
        found = look_up(self.result / DOCUMENTS, "document_id", pc.unique(self.rows["document_id"]), columns)
        return {row["document_id"]: row for row in found.to_pylist()}

    def features(self, numbers: NDArray[np.integer]) -> list[tuple[str, str]]:
        """Type and name of some features."""
        return self.numbered.features(numbers)


def reload_blocks(result: Path, rows: pa.Table, settings: Settings, folder: Path) -> ReloadedBlocks:
    """Encode some blocks of a result again, of which these are the `rows_of_blocks`.

    `settings` are those of the result, and files go to an empty `folder`.
    """
    found = reload_rows(DocumentBags.read(result, rows["document_id"], settings), rows, folder)
    if len(found.documents) < len(pc.unique(rows["document_id"])):
        raise other_mentions(result)
    return found


def reload_rows(bags: DocumentBags, rows: pa.Table, folder: Path, *, complete: bool = True) -> ReloadedBlocks:
    """Encode mentions of a result: rows of its table of mentions, those of a block one after the other.

    Unless the statistics are `complete`, features that they lack get the number of their occurrences in the documents
    of these rows, and are returned with it.
    """
    own, statistics = bags.of(rows["document_id"]), bags.statistics
    mentions = own.mentions_of(rows)
    numbered = _NumberedBags.of(own, own.order(), mentions["owner"].to_numpy())
    total = numbered.totals()
    missing = np.flatnonzero(np.isnan(total))
    if len(missing) and complete:
        kind, name = numbered.features(missing[:1])[0]
        raise changed(statistics.folder, f"its statistics lack a feature of its documents ({kind} {name!r})")
    if len(missing):
        total[missing] = numbered.occurrences(missing, own.owner)
    counted = dict(zip(numbered.features(missing), total[missing].tolist(), strict=True))
    return ReloadedBlocks(_encoded(own, mentions, numbered, total, folder), rows, counted, bags.result, numbered)


def changed(result: Path, how: str) -> InputError:
    """The error that a result is not as its run wrote it."""
    return InputError(
        f"{result}: {how}. Its files were changed, or written by another version of homonym or of its libraries; make "
        "the result again with homonym disambiguate."
    )


def other_mentions(result: Path) -> InputError:
    """The error that the documents of a result do not have the mentions of its table."""
    return changed(result, "the mentions in its documents are others than those in its table of mentions")


def rows_of_blocks(result: Path, blocks: Iterable[str]) -> pa.Table:
    """The rows of the table of mentions that are in these blocks, in its order."""
    columns = ["mention_id", "document_id", "position", "name", "block", "author_id"]
    return look_up(result / MENTIONS, "block", pa.array(list(blocks), pa.string()), columns)


def extract_records(records: pa.ChunkedArray, settings: Settings) -> dict[str, pa.Table]:
    """The tables of a part about the mentions of these documents, one record after the other."""
    raws = [Raw(number, record) for number, record in enumerate(records.cast(pa.binary()).to_pylist(), 1)]
    return extract_mentions(Chunk(DOCUMENTS, 0, raws), settings)


def extracted_bags(documents: pa.Table, settings: Settings, statistics: ResultStatistics) -> pa.Table:
    """Rows of schema.STORED_BAGS from the records of documents; documents without mentions are left out."""
    part = extract_records(documents["record"], settings)
    return rows_of_part(part, documents["document_id"].combine_chunks(), statistics)


@dataclass(frozen=True, eq=False)
class DocumentBags:
    """Stored bags of documents of a result, and the authors of documents they refer to."""

    result: Path
    statistics: ResultStatistics
    table: pa.Table
    cited: _CitedAuthors

    @classmethod
    def read(
        cls,
        result: Path,
        documents: pa.Array | pa.ChunkedArray,
        settings: Settings,
        statistics: ResultStatistics | None = None,
    ) -> DocumentBags:
        """The bags of some documents, from the file of the result, or extracted if it has none.

        `statistics` are those of the result, if they were read already.
        """
        statistics = statistics or ResultStatistics.read(result)
        if (result / BAGS).exists():
            table = look_up(result / BAGS, "document_id", documents)
            highest = pc.max(pc.list_flatten(table["feature"])).as_py()
            if highest is not None and highest >= len(statistics.counts):
                raise changed(result, f"its statistics lack a feature of its documents (number {highest})")
        else:
            rows = look_up(result / DOCUMENTS, "document_id", documents, ["document_id", "record"])
            table = extracted_bags(rows, settings, statistics)
        table = table.combine_chunks()
        return cls(result, statistics, table, _CitedAuthors.read(result, table["references"], statistics))

    def of(self, documents: pa.ChunkedArray) -> DocumentBags:
        """The bags of some of these documents, in the order of their ids."""
        place = pc.index_in(pc.unique(documents).sort(), self.table["document_id"].combine_chunks()).drop_null()
        if np.array_equal(place.to_numpy(), np.arange(len(self.table))):
            return self
        return DocumentBags(self.result, self.statistics, self.table.take(place).combine_chunks(), self.cited)

    def flat(self, name: str) -> tuple[Integers, pa.Array]:
        """A column of lists: the documents of all entries, and the entries."""
        lists = self.table[name].combine_chunks()
        return pc.list_parent_indices(lists).to_numpy(), pc.list_flatten(lists)

    @cached_property
    def owner(self) -> Integers:
        """The owners of all mentions of these documents."""
        document, position = self.flat("position")
        owner: Integers = (document << SLOT_BITS) + 1 + position.to_numpy()
        return owner

    def mentions_of(self, rows: pa.Table) -> pa.Table:
        """What is stored of mentions, with their rows of the table of mentions."""
        document = pc.index_in(rows["document_id"], self.table["document_id"].combine_chunks())
        owner = (pc.fill_null(document, -1).to_numpy().astype(np.int64) << SLOT_BITS) + 1 + rows["position"].to_numpy()
        place = np.minimum(np.searchsorted(self.owner, owner), max(len(self.owner) - 1, 0))
        if len(rows) and (not len(self.owner) or (self.owner[place] != owner).any()):
            raise other_mentions(self.result)
        names = ("parsed_name", "full_name", "own_name", "own_full_name")
        columns = {name: self.flat(name)[1].take(pa.array(place)) for name in names}
        given = {name: rows[name] for name in ("mention_id", "document_id", "position", "name", "block")}
        return pa.table({"owner": owner, **given, **columns, "year": self.table["year"].take(document)})

    @cached_property
    def new_entries(self) -> pa.Table:
        """The entries of all bags whose features the statistics lack: owner, type, feature, count and place."""
        document, entries = self.flat("new_features")
        columns = {name: pc.struct_field(entries, name) for name in ("slot", "type", "feature", "count", "place")}
        return pa.table({"owner": (document << SLOT_BITS) + columns.pop("slot").to_numpy(), **columns})

    @cached_property
    def new_keys(self) -> list[tuple[str, str]]:
        """Type and name of the feature of each new entry."""
        return list(zip(self.new_entries["type"].to_pylist(), self.new_entries["feature"].to_pylist(), strict=True))

    def own_numbers(self, owner: Integers, own: Integers, order: _Order) -> Integers:
        """The numbers of the own names of mentions, as they are stored; −1 if there is none."""
        number = np.where(own >= 0, order.of_statistics(np.maximum(own, 0)), -1)
        others = np.flatnonzero(own < -1)
        if len(others):
            first = np.searchsorted(self.new_entries["owner"].to_numpy(), (owner[others] >> SLOT_BITS) << SLOT_BITS)
            number[others] = order.of_others(self.new_keys)[first - 2 - own[others]]
        return number

    @cached_property
    def _references(self) -> tuple[Integers, Integers]:
        """For each author of each document that a document refers to: the owner, and the code of the author's name."""
        document, cited = self.flat("references")
        row, code = self.cited.of(cited)
        return document[row] << SLOT_BITS, code

    def cited_entries(self, order: _Order) -> tuple[Integers, Integers, Floats]:
        """Owner, feature and count of the authors of documents that these documents refer to."""
        owner, code = self._references
        number = self.cited.number
        feature = order.of_statistics(number)
        lacking = _used_codes(number < 0, code)
        feature[lacking] = order.of_others((REFERENCED, self.cited.names[one]) for one in lacking.tolist())
        return owner, feature[code], np.ones(len(code))

    def order(self) -> _Order:
        """The order of all features."""
        places = dict(zip(self.new_keys, self.new_entries["place"].to_pylist(), strict=True))
        _, code = self._references
        for one in _used_codes(self.cited.number < 0, code).tolist():
            places[REFERENCED, self.cited.names[one]] = int(self.cited.place[one])
        return _Order(places)

    def identifiers(self) -> pa.Table:
        """The identifiers of all mentions, one of each kind."""
        document, entries = self.flat("ids")
        slot, kind, value = (pc.struct_field(entries, name) for name in ("slot", "kind", "id"))
        return pa.table([(document << SLOT_BITS) + slot.to_numpy(), kind, value], schema=IDENTIFIER_ROWS)


def _used_codes(chosen: NDArray[np.bool_], code: Integers) -> Integers:
    """Which of the chosen codes occur in a list of codes."""
    occurs = np.zeros(len(chosen), np.bool_)
    occurs[code] = True
    return np.flatnonzero(chosen & occurs)


class _Order:
    """One numbering of the features of the statistics and of others, in the order of type and name.

    `keys` are types and names of the others, and `places` says how many features of the statistics come before each.
    """

    def __init__(self, places: dict[tuple[str, str], int]) -> None:
        self.keys = sorted(places, key=lambda key: (places[key], key[0].encode(), key[1].encode()))
        self.code = {key: code for code, key in enumerate(self.keys)}
        self.places = np.array([places[key] for key in self.keys], np.int64)
        self.others = self.places + np.arange(len(self.keys))

    def of_statistics(self, number: NDArray[np.integer]) -> Integers:
        """The numbers of features of the statistics."""
        found = number.astype(np.int64)
        return found + np.searchsorted(self.places, number, side="right") if len(self.keys) else found

    def of_others(self, keys: Iterable[tuple[str, str]]) -> Integers:
        """The numbers of other features."""
        return self.others[np.array([self.code[key] for key in keys], np.int64)]

    def split(self, number: Integers) -> tuple[NDArray[np.bool_], Integers]:
        """Which features are others; and the number of each in the statistics, or its place among the others."""
        before = np.searchsorted(self.others, number)
        if not len(self.keys):
            return np.zeros(len(number), np.bool_), number
        is_other = np.isin(number, self.others)
        return is_other, np.where(is_other, before, number - before)


@dataclass(frozen=True, eq=False)
class _NumberedBags:
    """Entries of bags, ordered by owner and feature; feature f has the number `used[f]` in `order`."""

    owner: Integers
    feature: Integers
    count: Floats
    used: Integers
    order: _Order
    statistics: ResultStatistics

    @classmethod
    def of(cls, bags: DocumentBags, order: _Order, mentions: Integers) -> _NumberedBags:
        """The bags of these mentions and of all documents, with the authors of documents that these refer to."""
        document, slot = bags.flat("slot")
        owner = document << SLOT_BITS
        owner += slot.to_numpy()
        kept = _are_kept(owner, mentions)
        number = order.of_statistics(np.arange(len(bags.statistics.counts)))
        owner, feature = owner[kept], number[bags.flat("feature")[1].to_numpy()[kept]]
        count = bags.flat("count")[1].to_numpy()[kept]
        new = bags.new_entries
        kept = _are_kept(new["owner"].to_numpy(), mentions)
        added = new["owner"].to_numpy()[kept], order.of_others(bags.new_keys)[kept], new["count"].to_numpy()[kept]
        others, names, counts = map(np.concatenate, zip(added, bags.cited_entries(order), strict=True))
        if len(others):
            owner, feature, count = merged_entries((owner, feature, count), added_up(others, names, counts))
        is_used = np.zeros(len(bags.statistics.counts) + len(order.keys), np.bool_)
        is_used[feature] = True
        rank = np.cumsum(is_used) - 1
        return cls(owner, rank[feature], count, np.flatnonzero(is_used), order, bags.statistics)

    def totals(self) -> Floats:
        """#(f) of all features, NaN where the result has none."""
        is_other, number = self.order.split(self.used)
        total = np.empty(len(self.used))
        total[~is_other] = self.statistics.counts[number[~is_other]]
        keys = [self.order.keys[code] for code in number[is_other].tolist()]
        total[is_other] = self.statistics.new_totals([kind for kind, _ in keys], [name for _, name in keys])
        return total

    def features(self, chosen: NDArray[np.integer]) -> list[tuple[str, str]]:
        """Type and name of some features."""
        is_other, number = self.order.split(self.used[chosen])
        known = iter(self.statistics.features(number[~is_other]))
        return [
            self.order.keys[one] if other else next(known)
            for other, one in zip(is_other.tolist(), number.tolist(), strict=True)
        ]

    def numbers(self, own: Integers) -> NDArray[np.int32]:
        """The features that have these numbers in `order`, −1 where no bag has one."""
        place = np.minimum(np.searchsorted(self.used, own), max(len(self.used) - 1, 0))
        is_used = self.used[place] == own if len(self.used) else np.zeros(len(own), np.bool_)
        return np.where(is_used, place, -1).astype(np.int32)

    def features_by_type(self) -> Integers:
        """The number of features of each type."""
        is_other, number = self.order.split(self.used)
        others = Counter(self.order.keys[code][0] for code in number[is_other].tolist())
        known, bounds = number[~is_other], self.statistics.first_numbers
        found = [np.searchsorted(known, bounds.get(kind, (0, 0))) for kind in self.statistics.mass]
        size = [last - first for first, last in found]
        return np.array(size, np.int64) + np.array([others[kind] for kind in self.statistics.mass], np.int64)

    def occurrences(self, chosen: NDArray[np.integer], mentions: Integers) -> Floats:
        """How often some features occur in the bags of all mentions: the bag of a document is that of each of them."""
        known, number = np.unique(mentions >> SLOT_BITS, return_counts=True)
        rank = np.full(len(self.used), -1)
        rank[chosen] = np.arange(len(chosen))
        entries = np.flatnonzero(rank[self.feature] >= 0)
        owner, feature = self.owner[entries], rank[self.feature[entries]]
        of_document = (owner & ((1 << SLOT_BITS) - 1)) == 0
        place = np.minimum(np.searchsorted(known, owner >> SLOT_BITS), max(len(known) - 1, 0))
        holders = np.where(of_document, number[place], 1) if len(known) else np.ones(len(owner))
        total: Floats = np.bincount(feature, self.count[entries] * holders, len(chosen)).astype(np.float64)
        return total


def _are_kept(owner: Integers, mentions: Integers) -> NDArray[np.bool_]:
    """Which owners are documents or some mentions."""
    kept: NDArray[np.bool_] = (owner & ((1 << SLOT_BITS) - 1)) == 0
    others = np.flatnonzero(~kept)
    kept[others] = np.isin(owner[others], mentions)
    return kept


@dataclass(frozen=True, eq=False)
class _CitedAuthors:
    """The names of the authors of documents; d has those from `begin[d]` to `begin[d + 1]` of `code`.

    The name c is the feature `number[c]` of the statistics, or `names[c]`, which comes after `place[c]` of these.
    """

    documents: pa.Array
    begin: Integers
    code: Integers
    names: list[str]
    number: Integers
    place: Integers

    @classmethod
    def read(cls, result: Path, references: pa.ChunkedArray, statistics: ResultStatistics) -> _CitedAuthors:
        """The authors of documents of a result that others refer to; documents that it does not have are left out."""
        cited = pc.unique(pc.list_flatten(references))
        if not len(cited) or REFERENCED not in statistics.mass:
            nothing = np.zeros(0, np.int64)
            return cls(pa.array([], pa.string()), nothing, nothing, [], nothing, nothing)
        stored = (result / BAGS).exists()
        documents, begin, keys = _stored_keys(result, cited, statistics) if stored else _written_keys(result, cited)
        number, place = statistics.numbers(pa.repeat(pa.scalar(REFERENCED), len(keys.dictionary)), keys.dictionary)
        code = keys.indices.to_numpy().astype(np.int64)
        return cls(documents, begin, code, keys.dictionary.to_pylist(), number, place)

    def of(self, cited: pa.Array) -> tuple[Integers, Integers]:
        """The authors of cited documents: for each, the number of the reference, and the code of the name."""
        place = pc.index_in(cited, self.documents)
        row = np.flatnonzero(pc.is_valid(place).to_numpy(zero_copy_only=False))
        document = place.drop_null().to_numpy()
        number = self.begin[document + 1] - self.begin[document]
        return np.repeat(row, number), self.code[ranges(self.begin[document], number)]


def _stored_keys(result: Path, cited: pa.Array, statistics: ResultStatistics) -> tuple[pa.Array, Integers, Any]:
    """Documents, where their authors begin, and the normalised names of all authors, as a dictionary."""
    columns = ["document_id", "own_name", "unlisted_name", "new_features"]
    found = look_up(result / BAGS, "document_id", cited, columns)
    lists = found["own_name"].combine_chunks()
    own = pc.list_flatten(lists).to_numpy()
    others = pc.list_flatten(found["unlisted_name"].combine_chunks())
    if (own < -1).any():
        others = _with_new_names(others, own, lists, found["new_features"].combine_chunks())
    used, code = np.unique(own, return_inverse=True)
    first = int(np.searchsorted(used, 0))
    names = statistics.feature_names.take(pa.array(used[first:]))
    more = others.drop_null().dictionary_encode()
    code = code - first
    code[own < 0] = more.indices.to_numpy() + len(names)
    begin = starts(pc.list_value_length(lists).to_numpy().astype(np.int64))
    keys = pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), pa.concat_arrays([names, more.dictionary]))
    return found["document_id"].combine_chunks(), begin, keys


def _with_new_names(others: pa.Array, own: Integers, lists: pa.Array, new: pa.Array) -> pa.Array:
    """Names that are not in the statistics, with those that are new features of their documents."""
    names, document = others.to_pylist(), pc.list_parent_indices(lists).to_numpy()
    features, begin = pc.struct_field(pc.list_flatten(new), "feature"), starts(pc.list_value_length(new).to_numpy())
    for row in np.flatnonzero(own < -1).tolist():
        names[row] = features[int(begin[document[row]] - 2 - own[row])].as_py()
    return pa.array(names, pa.string())


def _written_keys(result: Path, cited: pa.Array) -> tuple[pa.Array, Integers, Any]:
    """The same from the names of the table of documents."""
    found = look_up(result / DOCUMENTS, "document_id", cited, ["document_id", "authors.list.element.name"])
    authors = found["authors"].combine_chunks()
    written = pc.list_flatten(authors).field("name").dictionary_encode()
    keys = pa.array([name_key(text) or None for text in written.dictionary.to_pylist()], pa.string())
    every = keys.take(written.indices)
    number = pc.fill_null(pc.list_value_length(authors), 0).to_numpy()
    named = np.repeat(np.arange(len(number)), number)[pc.is_valid(every).to_numpy(zero_copy_only=False)]
    begin = starts(np.bincount(named, minlength=len(number)))
    return found["document_id"].combine_chunks(), begin, every.drop_null().dictionary_encode()


def _encoded(
    bags: DocumentBags, mentions: pa.Table, numbered: _NumberedBags, total: NDArray[np.float64], folder: Path
) -> Encoded:
    owner, statistics = mentions["owner"].to_numpy(), bags.statistics
    own_names = {
        name: numbered.numbers(bags.own_numbers(owner, mentions[name].to_numpy(), numbered.order))
        for name in ("own_name", "own_full_name")
    }
    for name, column in own_names.items():
        mentions = mentions.set_column(mentions.column_names.index(name), name, pa.array(column))
    namesakes = statistics.namesakes(mentions["full_name"].to_pylist())
    mentions = mentions.append_column("namesakes", pa.array(namesakes, pa.float64(), from_pandas=True))
    pq.write_table(mentions, folder / "mentions.parquet")
    identifiers = bags.identifiers()
    pq.write_table(identifiers.filter(pc.is_in(identifiers["owner"], pa.array(owner))), folder / "identifiers.parquet")
    begin = np.flatnonzero(np.diff(numbered.owner, prepend=-1))
    block = mentions["block"].combine_chunks().dictionary_encode().indices.to_numpy()
    return Encoded(
        frequencies=Frequencies(
            types=tuple(statistics.mass),
            type_start=starts(numbered.features_by_type()),
            total=total,
            mass=np.array(list(statistics.mass.values()), np.float64),
            mentions=statistics.mentions,
        ),
        mentions_file=folder / "mentions.parquet",
        identifiers_file=folder / "identifiers.parquet",
        block_start=np.append(np.flatnonzero(np.diff(block, prepend=-1)), len(block)).astype(np.int64),
        mention_owner=owner,
        **own_names,
        owners=numbered.owner[begin],
        starts=np.append(begin, len(numbered.owner)).astype(np.int64),
        feature=numbered.feature.astype(np.int32),
        count=numbered.count,
    )
