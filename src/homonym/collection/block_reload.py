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
from homonym.collection.packed_entries import COLUMNS, Entries, PackedEntries, with_packed_entries
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
# The columns of stored bags from which the normalised names of authors are made.
_KEYS = ("own_name", "unlisted_name", "new_features")
# Number of documents whose entries are numbered at once: large arrays take longer, because memory for them is new.
NUMBERED_AT_ONCE = 1 << 11


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
    mentions, numbered = bags.mentions_of(rows), bags.numbered
    total, lacking = numbered.totals(mentions["owner"].to_numpy())
    missing = lacking[np.isnan(total[lacking])]
    if len(missing) and complete:
        kind, name = numbered.features(missing[:1])[0]
        raise changed(bags.statistics.folder, f"its statistics lack a feature of its documents ({kind} {name!r})")
    if len(missing):
        total[missing] = numbered.occurrences(missing, mentions["owner"].to_numpy(), bags.owner)
    counted = dict(zip(numbered.features(missing), total[missing].tolist(), strict=True))
    return ReloadedBlocks(_encoded(bags, mentions, total, folder), rows, counted, bags.result, numbered)


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
    """Stored bags of documents of a result, with the authors of documents they refer to.

    `table` has the columns of schema.STORED_BAGS without the entries, which are in `numbered`.
    """

    result: Path
    statistics: ResultStatistics
    table: pa.Table
    new: _NewEntries
    numbered: _NumberedBags

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
            table = with_packed_entries(look_up(result / BAGS, "document_id", documents))
        else:
            rows = look_up(result / DOCUMENTS, "document_id", documents, ["document_id", "record"])
            table = extracted_bags(rows, settings, statistics)
        table = table.combine_chunks()
        entries = PackedEntries.of(table)
        if (highest := entries.feature.max(initial=-1)) >= len(statistics.counts):
            raise changed(result, f"its statistics lack a feature of its documents (number {highest})")
        cited, new = _CitedAuthors.read(result, table, statistics), _NewEntries.of(table)
        sources = _EntrySources.of(entries, table["references"].combine_chunks(), cited, new, statistics)
        numbered = _NumberedBags.of(table["document_id"].combine_chunks(), sources, statistics)
        return cls(result, statistics, table.drop_columns([*COLUMNS, "references"]), new, numbered)

    @cached_property
    def owner(self) -> Integers:
        """The owners of all mentions of these documents."""
        document, position = _flat(self.table, "position")
        owner: Integers = (document << SLOT_BITS) + 1 + position.to_numpy()
        return owner

    def mentions_of(self, rows: pa.Table) -> pa.Table:
        """What is stored of mentions, with their rows of the table of mentions."""
        document = pc.fill_null(pc.index_in(rows["document_id"], self.numbered.documents), -1).to_numpy()
        owner = (document.astype(np.int64) << SLOT_BITS) + 1 + rows["position"].to_numpy()
        place = np.minimum(np.searchsorted(self.owner, owner), max(len(self.owner) - 1, 0))
        if len(rows) and (not len(self.owner) or (self.owner[place] != owner).any()):
            raise other_mentions(self.result)
        names = ("parsed_name", "full_name", "own_name", "own_full_name")
        columns = {name: pc.list_flatten(self.table[name].combine_chunks()).take(pa.array(place)) for name in names}
        given = {name: rows[name] for name in ("mention_id", "document_id", "position", "name", "block")}
        return pa.table({"owner": owner, **given, **columns, "year": self.table["year"].take(pa.array(document))})

    def own_numbers(self, owner: Integers, own: Integers) -> Integers:
        """The numbers of the own names of mentions, as they are stored; −1 if there is none."""
        order = self.numbered.order
        number = np.where(own >= 0, order.of_statistics(np.maximum(own, 0)), -1)
        others = np.flatnonzero(own < -1)
        if len(others):
            first = np.searchsorted(self.new.owner, (owner[others] >> SLOT_BITS) << SLOT_BITS)
            number[others] = order.of_others(self.new.keys)[first - 2 - own[others]]
        return number

    @cached_property
    def identifiers(self) -> pa.Table:
        """The identifiers of all mentions, one of each kind."""
        document, entries = _flat(self.table, "ids")
        slot, kind, value = (pc.struct_field(entries, name) for name in ("slot", "kind", "id"))
        return pa.table([(document << SLOT_BITS) + slot.to_numpy(), kind, value], schema=IDENTIFIER_ROWS)


def _flat(table: pa.Table, name: str) -> tuple[Integers, pa.Array]:
    """A column of lists: the rows of all entries, and the entries."""
    lists = table[name].combine_chunks()
    return pc.list_parent_indices(lists).to_numpy(), pc.list_flatten(lists)


@dataclass(frozen=True, eq=False)
class _NewEntries:
    """The entries of bags whose features the statistics lack, by owner.

    A key is the type and the name of the feature; `place` says how many features of the statistics come before it.
    """

    owner: Integers
    keys: list[tuple[str, str]]
    count: Floats
    place: list[int]

    @classmethod
    def of(cls, table: pa.Table) -> _NewEntries:
        """The entries of some documents."""
        document, entries = _flat(table, "new_features")
        slot, kind, name, count, place = (
            pc.struct_field(entries, name) for name in ("slot", "type", "feature", "count", "place")
        )
        keys = list(zip(kind.to_pylist(), name.to_pylist(), strict=True))
        return cls((document << SLOT_BITS) + slot.to_numpy(), keys, count.to_numpy(), place.to_pylist())


class _Order:
    """One numbering of the features of the statistics and of others, in the order of type and name.

    `keys` are types and names of the others, and `places` says how many features of the statistics come before each.
    """

    def __init__(self, places: dict[tuple[str, str], int]) -> None:
        self.keys = sorted(places, key=lambda key: (places[key], key[0].encode(), key[1].encode()))
        self.code = {key: code for code, key in enumerate(self.keys)}
        self.places = np.array([places[key] for key in self.keys], np.int64)
        self.others = self.places + np.arange(len(self.keys))

    @classmethod
    def of(cls, new: _NewEntries, cited: _CitedAuthors) -> _Order:
        """The order of all features of some documents."""
        places = dict(zip(new.keys, new.place, strict=True))
        for one in np.flatnonzero(cited.number < 0).tolist():
            places[REFERENCED, cited.names[one]] = int(cited.place[one])
        return cls(places)

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
    """Entries of bags by owner: those of `owners[i]` are from `starts[i]` to `starts[i + 1]`, ordered by feature.

    Features have their numbers in `order`. `others` has the entries whose features the statistics lack.
    """

    owners: Integers
    starts: Integers
    feature: NDArray[np.int32]
    count: Floats
    others: Integers
    order: _Order
    statistics: ResultStatistics
    documents: pa.Array

    @classmethod
    def of(cls, documents: pa.Array, sources: _EntrySources, statistics: ResultStatistics) -> _NumberedBags:
        """The bags of documents and all their mentions, with the authors of documents that these refer to."""
        order = sources.order
        feature, count, end = _new_array(sources.room, np.int32), _new_array(sources.room, np.float64), 0
        owners, begins = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for first in range(0, len(documents), NUMBERED_AT_ONCE):
            owner, features, counts = sources.between(first, min(first + NUMBERED_AT_ONCE, len(documents)))
            begin, here = np.flatnonzero(np.diff(owner, prepend=-1)), slice(end, end + len(owner))
            owners.append(owner[begin])
            begins.append(begin + end)
            feature[here], count[here] = features, counts
            end += len(owner)
        begins.append(np.array([end]))
        feature, count = feature[:end], count[:end]
        is_other = np.zeros(len(statistics.counts) + len(order.keys), np.bool_)
        is_other[order.others] = True
        others = np.flatnonzero(is_other[feature]) if len(order.keys) else np.zeros(0, np.int64)
        return cls(np.concatenate(owners), np.concatenate(begins), feature, count, others, order, statistics, documents)

    def totals(self, mentions: Integers) -> tuple[Floats, Integers]:
        """#(f) of all features, and the features in the bags of some mentions that the statistics lack.

        #(f) of these is NaN where the result has none.
        """
        total = np.insert(self.statistics.counts, self.order.places, np.nan)
        lacking = np.unique(self.feature[self._others_of(mentions)[0]]).astype(np.int64)
        keys = self.features(lacking)
        total[lacking] = self.statistics.new_totals([kind for kind, _ in keys], [name for _, name in keys])
        return total, lacking

    def _others_of(self, mentions: Integers) -> tuple[Integers, Integers]:
        """The entries in the bags of some mentions whose features the statistics lack, and their owners."""
        owner = self.owners[np.searchsorted(self.starts, self.others, side="right") - 1]
        kept = np.isin(owner, mentions) | np.isin(owner, (mentions >> SLOT_BITS) << SLOT_BITS)
        return self.others[kept], owner[kept]

    def features(self, chosen: NDArray[np.integer]) -> list[tuple[str, str]]:
        """Type and name of some features."""
        is_other, number = self.order.split(chosen.astype(np.int64))
        known = iter(self.statistics.features(number[~is_other]))
        return [
            self.order.keys[one] if other else next(known)
            for other, one in zip(is_other.tolist(), number.tolist(), strict=True)
        ]

    def type_starts(self) -> Integers:
        """The number of the first feature of each type, and the number of all features."""
        others = Counter(kind for kind, _ in self.order.keys)
        before = starts(np.array([others[kind] for kind in self.statistics.mass], np.int64))
        first = [*map(self.statistics.first_number, self.statistics.mass), len(self.statistics.counts)]
        return np.array(first, np.int64) + before

    def occurrences(self, chosen: Integers, mentions: Integers, every: Integers) -> Floats:
        """How often some features that the statistics lack occur in the bags of some mentions and of their documents.

        The bag of a document is that of each of its mentions, which are among `every`. Numbers are added in the order
        of the ids of documents.
        """
        entries, owner = self._others_of(mentions)
        order = pc.sort_indices(self.documents.take(pa.array(owner >> SLOT_BITS))).to_numpy()
        entries, owner = entries[order], owner[order]
        known, number = np.unique(every >> SLOT_BITS, return_counts=True)
        of_document = (owner & ((1 << SLOT_BITS) - 1)) == 0
        holders = np.where(of_document, number[np.searchsorted(known, owner >> SLOT_BITS)], 1)
        feature, amount = self.feature[entries], self.count[entries] * holders
        wanted = np.isin(feature, chosen)
        rank = np.searchsorted(chosen, feature[wanted])
        total: Floats = np.bincount(rank, amount[wanted], len(chosen)).astype(np.float64)
        return total


def _new_array(size: int, dtype: type[Any]) -> NDArray[Any]:
    """An array that is not initialised, in memory that Arrow may have kept of other tables: new memory takes longer."""
    return np.frombuffer(pa.allocate_buffer(size * np.dtype(dtype).itemsize), dtype)


@dataclass(frozen=True, eq=False)
class _EntrySources:
    """Where the entries of documents come from.

    The stored feature f has the number `number[f]` in the order; the new entry i is the feature `added[i]`.
    """

    stored: PackedEntries
    number: NDArray[np.int32]
    cited: _CitedEntries
    new: _NewEntries
    added: NDArray[np.int32]
    order: _Order

    @classmethod
    def of(
        cls,
        stored: PackedEntries,
        references: pa.Array,
        authors: _CitedAuthors,
        new: _NewEntries,
        statistics: ResultStatistics,
    ) -> _EntrySources:
        """The sources of the entries of some documents."""
        order = _Order.of(new, authors)
        number = order.of_statistics(np.arange(len(statistics.counts))).astype(np.int32)
        cited = _CitedEntries.of(references, authors, order)
        return cls(stored, number, cited, new, order.of_others(new.keys).astype(np.int32), order)

    @property
    def room(self) -> int:
        """The greatest possible number of entries."""
        return len(self.stored.feature) + self.cited.number + len(self.added)

    def between(self, first: int, last: int) -> Entries:
        """The entries of the documents `first` to `last` - 1, ordered by owner and feature."""
        owner, feature, count = self.stored.between(first, last)
        stored, cited = (owner, self.number[feature], count), self.cited.between(first, last)
        own = slice(*np.searchsorted(self.new.owner, np.array([first, last]) << SLOT_BITS).tolist())
        owner = np.concatenate([cited[0], self.new.owner[own]])
        if not len(owner):
            return stored
        feature, count = np.concatenate([cited[1], self.added[own]]), np.concatenate([cited[2], self.new.count[own]])
        return merged_entries(stored, added_up(owner, feature, count))


@dataclass(frozen=True, eq=False)
class _CitedEntries:
    """The authors of documents that others refer to, as entries of these, without self-citations.

    The references of the document d are those from `begin[d]` to `begin[d + 1]` of `cited`; the name c is the feature
    `feature[c]`. `number` is the number of all entries.
    """

    begin: Integers
    cited: Integers
    authors: _CitedAuthors
    feature: NDArray[np.int32]
    number: int

    @classmethod
    def of(cls, references: pa.Array, authors: _CitedAuthors, order: _Order) -> _CitedEntries:
        """The entries that lists of references lead to; documents that the result does not have are left out."""
        place = pc.index_in(pc.list_flatten(references), authors.documents)
        known = pc.is_valid(place).to_numpy(zero_copy_only=False)
        begin = starts(known)[_starts_of(references)]
        cited = place.drop_null().to_numpy()
        feature = order.of_statistics(authors.number)
        lacking = np.flatnonzero(authors.number < 0)
        feature[lacking] = order.of_others((REFERENCED, authors.names[one]) for one in lacking.tolist())
        number = int((authors.begin[cited + 1] - authors.begin[cited]).sum())
        return cls(begin, cited, authors, feature.astype(np.int32), number)

    def between(self, first: int, last: int) -> Entries:
        """Owner, feature and count of the entries of the documents `first` to `last` - 1, in no order."""
        begin = self.begin[first : last + 1]
        cited = self.cited[begin[0] : begin[-1]]
        start = self.authors.begin[cited]
        number = self.authors.begin[cited + 1] - start
        document = np.repeat(np.repeat(np.arange(first, last), np.diff(begin)), number)
        code = self.authors.code[ranges(start, number)]
        names, own = len(self.feature), self.authors.own
        own = own[slice(*np.searchsorted(own, np.array([first, last]) * names).tolist())]
        is_other = ~np.isin(document * names + code, own)
        feature = self.feature[code[is_other]]
        return document[is_other] << SLOT_BITS, feature, np.ones(len(feature))


def _starts_of(lists: pa.Array) -> Integers:
    """Where the entries of each list begin among all entries, with the end."""
    return starts(pc.fill_null(pc.list_value_length(lists), 0).to_numpy().astype(np.int64))


@dataclass(frozen=True, eq=False)
class _CitedAuthors:
    """The names of the authors of documents; d has those from `begin[d]` to `begin[d + 1]` of `code`.

    The name c is the feature `number[c]` of the statistics, or `names[c]`, which comes after `place[c]` of these.
    `own` has r · the number of names + c for each author c of the r-th document of the table, in ascending order.
    It is empty if the statistics count self-citations.
    """

    documents: pa.Array
    begin: Integers
    code: Integers
    names: list[str]
    number: Integers
    place: Integers
    own: Integers

    @classmethod
    def read(cls, result: Path, table: pa.Table, statistics: ResultStatistics) -> _CitedAuthors:
        """The authors of documents to which those of a table refer; documents that the result lacks are left out."""
        cited = pc.unique(pc.list_flatten(table["references"]))
        if not len(cited) or REFERENCED not in statistics.mass:
            nothing = np.zeros(0, np.int64)
            return cls(pa.array([], pa.string()), nothing, nothing, [], nothing, nothing, nothing)
        if (result / BAGS).exists():
            found = look_up(result / BAGS, "document_id", cited, ["document_id", *_KEYS])
            begin, keys = _stored_keys(found, statistics)
            documents = found["document_id"].combine_chunks()
        else:
            documents, begin, keys = _written_keys(result, cited)
        number, place = statistics.numbers(pa.repeat(pa.scalar(REFERENCED), len(keys.dictionary)), keys.dictionary)
        code, own = keys.indices.to_numpy().astype(np.int64), np.zeros(0, np.int64)
        if not statistics.self_citations:
            own = _own_codes(table, keys.dictionary, statistics)
        return cls(documents, begin, code, keys.dictionary.to_pylist(), number, place, own)


def _own_codes(table: pa.Table, names: pa.Array, statistics: ResultStatistics) -> Integers:
    """The authors of the documents of a table who are among some names, numbered as in `_CitedAuthors.own`."""
    begin, keys = _stored_keys(table, statistics)
    code = pc.fill_null(pc.index_in(keys.dictionary, names), -1).to_numpy()[keys.indices.to_numpy()]
    document = np.repeat(np.arange(len(table)), np.diff(begin))
    own: Integers = (document * len(names) + code)[code >= 0]
    return np.sort(own)


def _stored_keys(found: pa.Table, statistics: ResultStatistics) -> tuple[Integers, Any]:
    """Where the authors of stored documents begin, and the normalised names of all authors, as a dictionary."""
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
    # The name of an author may be listed by one document and not by another.
    distinct = pa.concat_arrays([names, more.dictionary]).dictionary_encode()
    return begin, pa.DictionaryArray.from_arrays(distinct.indices.take(pa.array(code)), distinct.dictionary)


def _with_new_names(others: pa.Array, own: Integers, lists: pa.Array, new: pa.Array) -> pa.Array:
    """Names that are not in the statistics, with those that are new features of their documents."""
    names, document = others.to_pylist(), pc.list_parent_indices(lists).to_numpy()
    features, begin = pc.struct_field(pc.list_flatten(new), "feature"), starts(pc.list_value_length(new).to_numpy())
    for row in np.flatnonzero(own < -1).tolist():
        names[row] = features[int(begin[document[row]] - 2 - own[row])].as_py()
    return pa.array(names, pa.string())


def _written_keys(result: Path, cited: pa.Array) -> tuple[pa.Array, Integers, Any]:
    """Documents, and the same as `_stored_keys`, from the names of the table of documents."""
    found = look_up(result / DOCUMENTS, "document_id", cited, ["document_id", "authors.list.element.name"])
    authors = found["authors"].combine_chunks()
    written = pc.list_flatten(authors).field("name").dictionary_encode()
    keys = pa.array([name_key(text) or None for text in written.dictionary.to_pylist()], pa.string())
    every = keys.take(written.indices)
    number = pc.fill_null(pc.list_value_length(authors), 0).to_numpy()
    named = np.repeat(np.arange(len(number)), number)[pc.is_valid(every).to_numpy(zero_copy_only=False)]
    begin = starts(np.bincount(named, minlength=len(number)))
    return found["document_id"].combine_chunks(), begin, every.drop_null().dictionary_encode()


def _encoded(bags: DocumentBags, mentions: pa.Table, total: NDArray[np.float64], folder: Path) -> Encoded:
    owner, statistics, numbered = mentions["owner"].to_numpy(), bags.statistics, bags.numbered
    own_names = {
        name: bags.own_numbers(owner, mentions[name].to_numpy()).astype(np.int32)
        for name in ("own_name", "own_full_name")
    }
    for name, column in own_names.items():
        mentions = mentions.set_column(mentions.column_names.index(name), name, pa.array(column))
    namesakes = statistics.namesakes(mentions["full_name"].to_pylist())
    mentions = mentions.append_column("namesakes", pa.array(namesakes, pa.float64(), from_pandas=True))
    pq.write_table(mentions, folder / "mentions.parquet")
    identifiers = bags.identifiers
    pq.write_table(identifiers.filter(pc.is_in(identifiers["owner"], pa.array(owner))), folder / "identifiers.parquet")
    block = mentions["block"].combine_chunks().dictionary_encode().indices.to_numpy()
    return Encoded(
        frequencies=Frequencies(
            types=tuple(statistics.mass),
            type_start=numbered.type_starts(),
            total=total,
            mass=np.array(list(statistics.mass.values()), np.float64),
            mentions=statistics.mentions,
        ),
        mentions_file=folder / "mentions.parquet",
        identifiers_file=folder / "identifiers.parquet",
        block_start=np.append(np.flatnonzero(np.diff(block, prepend=-1)), len(block)).astype(np.int64),
        mention_owner=owner,
        **own_names,
        owners=numbered.owners,
        starts=numbered.starts,
        feature=numbered.feature,
        count=numbered.count,
        value=np.zeros(0),
    )
