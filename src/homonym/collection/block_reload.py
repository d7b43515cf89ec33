"""Some blocks of a result directory, encoded again exactly as in the run that wrote it.

The documents of the blocks are read from `documents.parquet` and their features are extracted once more. Everything
that a block takes from the rest of the collection comes from the statistics of the result (`result_statistics.py`), and
the authors of referenced documents from the table of documents. The rest of the collection is not read. Features are
numbered in the same order as in the whole collection, so that sums are computed in the same order.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Frequencies, Integers, starts
from homonym.collection.encoded import Encoded
from homonym.collection.extractor import order_by_owner
from homonym.collection.layout import IDENTIFIER_ROWS, SLOT_BITS
from homonym.collection.parts import Chunk, extract_mentions
from homonym.collection.result_statistics import ResultStatistics
from homonym.errors import InputError
from homonym.io.result_directory import DOCUMENTS, MENTIONS
from homonym.io.tables import look_up
from homonym.names.parse import name_key
from homonym.records.parsing.splitting import Raw
from homonym.settings import Settings

# The feature type that also has the authors of referenced documents.
REFERENCED = "ref"


@dataclass(frozen=True, eq=False)
class ReloadedBlocks:
    """Encoded blocks, the rows of the result for their mentions in the same order, and their documents by id.

    Feature f has the type `feature_type[f]` and the name `feature_name[f]`. `counted` has the features that the
    statistics lack, and #(f) that was used instead.
    """

    encoded: Encoded
    rows: pa.Table
    documents: dict[str, dict[str, Any]]
    feature_type: Sequence[str]
    feature_name: Sequence[str]
    counted: dict[tuple[str, str], float]


def reload_blocks(result: Path, blocks: Iterable[str], settings: Settings, folder: Path) -> ReloadedBlocks:
    """Encode some blocks of a result again; `settings` are those of the result, and files go to an empty `folder`."""
    return reload_rows(result, rows_of_blocks(result, blocks), settings, folder)


def reload_rows(
    result: Path, rows: pa.Table, settings: Settings, folder: Path, *, complete: bool = True, whole_blocks: bool = True
) -> ReloadedBlocks:
    """Encode the blocks of these rows, which are all rows of their blocks, in the order of the table of mentions.

    Unless they are `whole_blocks`, any rows with any blocks are encoded, in their order.
    Unless the statistics are `complete`, features that they lack get the number of their occurrences in the documents
    of these rows, and are returned with it.
    """
    statistics = ResultStatistics.read(result)
    chosen = pc.unique(rows["document_id"])
    documents = look_up(result / DOCUMENTS, "document_id", chosen, ["document_id", "title", "year", "venue", "record"])
    documents = documents.sort_by("document_id")
    part = extract_records(documents["record"], settings)
    if whole_blocks:
        mentions = _in_order_of_result(part["mentions"], pc.unique(rows["block"]))
    else:
        mentions = _with_blocks(part["mentions"], rows)
    if not mentions["mention_id"].equals(rows["mention_id"]):
        raise changed(result, "the mentions in its documents are others than those in its table of mentions")
    bags = _OwnedFeatures.of(part, mentions, statistics).with_references(part, result, statistics)
    total = statistics.totals(bags.types, bags.names)
    missing = np.flatnonzero(np.isnan(total))
    if len(missing) and complete:
        feature = f"{bags.types[missing[0]]} {bags.names[missing[0]]!r}"
        raise changed(statistics.folder, f"its statistics lack a feature of its documents ({feature})")
    total[missing] = bags.occurrences(part["mentions"])[missing]
    return ReloadedBlocks(
        _encoded(mentions, part["identifiers"], bags, total, statistics, folder),
        rows,
        {row["document_id"]: row for row in documents.drop_columns("record").to_pylist()},
        bags.types,
        bags.names,
        {(bags.types[f], bags.names[f]): float(total[f]) for f in missing.tolist()},
    )


def changed(result: Path, how: str) -> InputError:
    """The error that a result is not as its run wrote it."""
    return InputError(
        f"{result}: {how}. Its files were changed, or written by another version of homonym or of its libraries; make "
        "the result again with homonym disambiguate."
    )


def rows_of_blocks(result: Path, blocks: Iterable[str]) -> pa.Table:
    """The rows of the table of mentions that are in these blocks, in its order."""
    columns = ["mention_id", "document_id", "name", "block", "author_id"]
    return look_up(result / MENTIONS, "block", pa.array(list(blocks), pa.string()), columns)


def extract_records(records: pa.ChunkedArray, settings: Settings) -> dict[str, pa.Table]:
    """The tables of a part about the mentions of these documents, one record after the other."""
    raws = [Raw(number, record) for number, record in enumerate(records.cast(pa.binary()).to_pylist(), 1)]
    return extract_mentions(Chunk(DOCUMENTS, 0, raws), settings)


def _in_order_of_result(mentions: pa.Table, blocks: pa.Array) -> pa.Table:
    """The mentions of some blocks, ordered like the table of mentions."""
    chosen = mentions.filter(pc.is_in(mentions["block"], blocks))
    order = [("block", "ascending"), ("document_id", "ascending"), ("position", "ascending")]
    return chosen.sort_by(order).combine_chunks()


def _with_blocks(mentions: pa.Table, rows: pa.Table) -> pa.Table:
    """The mentions of some rows in their order, with the blocks of the rows."""
    place = pc.index_in(rows["mention_id"], mentions["mention_id"].combine_chunks())
    found = mentions.take(place.drop_null())
    if len(found) < len(rows):
        return found  # which the caller refuses
    return found.set_column(found.column_names.index("block"), "block", rows["block"]).combine_chunks()


@dataclass(frozen=True, eq=False)
class _OwnedFeatures:
    """Entries of bags, ordered by owner and feature; feature f is `names[f]` of the type `types[f]`, in order."""

    types: list[str]
    names: list[str]
    owner: Integers
    feature: Integers
    count: NDArray[np.float64]

    @classmethod
    def of(cls, part: dict[str, pa.Table], mentions: pa.Table, statistics: ResultStatistics) -> _OwnedFeatures:
        """The bags of these mentions and of all documents; features that none of these has are left out.

        So are types that the statistics lack, as in a collection that had no keywords: they have no weight there.
        """
        bags, features = part["bags"], part["features"]
        features = features.filter(pc.invert(features["again"]))
        owner, number = bags["owner"].to_numpy(), bags["feature"].to_numpy()
        kept = (owner % (1 << SLOT_BITS) == 0) | np.isin(owner, mentions["owner"].to_numpy())
        is_known = pc.is_in(features["type"], pa.array(list(statistics.mass), pa.string()))
        kept &= is_known.to_numpy(zero_copy_only=False)[number] if len(features) else kept
        used, feature = np.unique(number[kept], return_inverse=True)
        features = features.take(pa.array(used))
        types, names = features["type"].to_pylist(), features["feature"].to_pylist()
        return cls(types, names, owner[kept], feature, bags["count"].to_numpy()[kept])

    def with_references(self, part: dict[str, pa.Table], result: Path, statistics: ResultStatistics) -> _OwnedFeatures:
        """With the authors of the documents that these documents refer to."""
        references = part["references"]
        if not len(references) or REFERENCED not in statistics.mass:
            return self
        cited = _CitedAuthors.read(result, pc.unique(references["id"]))
        row, code = cited.of(references["id"])
        if not len(row):
            return self
        owner = references["sequence"].to_numpy()[row] << SLOT_BITS
        return self._joined(
            _OwnedFeatures([REFERENCED] * len(cited.names), cited.names, owner, code, np.ones(len(row)))
        )

    def _joined(self, others: _OwnedFeatures) -> _OwnedFeatures:
        """Both together; the others are of the type REFERENCED, and counts of one feature in one bag are added up."""
        first, last = bisect_left(self.types, REFERENCED), bisect_right(self.types, REFERENCED)
        known = pa.array(self.names[first:last], pa.string())
        names = pc.unique(pa.concat_arrays([known, pa.array(others.names, pa.string())])).sort()
        shift = np.arange(len(self.types))
        shift[first:last] = first + pc.index_in(known, names).to_numpy()
        shift[last:] += len(names) - len(known)
        added = first + pc.index_in(pa.array(others.names, pa.string()), names).to_numpy()
        owner = np.concatenate([self.owner, others.owner])
        feature = np.concatenate([shift[self.feature], added[others.feature]])
        order = order_by_owner(owner, feature)
        owner, feature = owner[order], feature[order]
        start = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(feature, prepend=-1) != 0))
        count = np.add.reduceat(np.concatenate([self.count, others.count])[order], start)
        return _OwnedFeatures(
            [*self.types[:first], *[REFERENCED] * len(names), *self.types[last:]],
            [*self.names[:first], *names.to_pylist(), *self.names[last:]],
            owner[start],
            feature[start],
            count,
        )

    def occurrences(self, mentions: pa.Table) -> NDArray[np.float64]:
        """How often each feature occurs in the bags of all mentions: the bag of a document is that of each of them."""
        document = mentions["owner"].to_numpy() >> SLOT_BITS
        of_document = self.owner % (1 << SLOT_BITS) == 0
        known, number = np.unique(document, return_counts=True)
        place = np.minimum(np.searchsorted(known, self.owner >> SLOT_BITS), max(len(known) - 1, 0))
        holders = np.where(of_document, number[place], 1) if len(known) else np.ones(len(self.owner))
        total: NDArray[np.float64] = np.bincount(self.feature, self.count * holders, len(self.types)).astype(np.float64)
        return total


@dataclass(frozen=True, eq=False)
class _CitedAuthors:
    """The normalised names of the authors of documents; d has `names[c]` for c in `code[begin[d]:begin[d + 1]]`."""

    documents: pa.Array
    names: list[str]
    begin: Integers
    code: Integers

    @classmethod
    def read(cls, result: Path, documents: pa.Array) -> _CitedAuthors:
        """The authors of documents of a result; documents that it does not have are left out."""
        columns = ["document_id", "authors.list.element.name"]
        found = look_up(result / DOCUMENTS, "document_id", documents, columns)
        authors = found["authors"].combine_chunks()
        written = pc.list_flatten(authors).field("name").dictionary_encode()
        keys = pa.array([name_key(text) for text in written.dictionary.to_pylist()], pa.string())
        names = pc.unique(keys.filter(pc.not_equal(keys, "")))
        code = pc.index_in(keys, names).take(written.indices)
        number = pc.fill_null(pc.list_value_length(authors), 0).to_numpy()
        has_name = pc.is_valid(code).to_numpy(zero_copy_only=False)
        named = np.bincount(np.repeat(np.arange(len(number)), number)[has_name], minlength=len(number))
        return cls(
            found["document_id"].combine_chunks(),
            names.to_pylist(),
            starts(named),
            code.drop_null().to_numpy().astype(np.int64),
        )

    def of(self, cited: pa.ChunkedArray) -> tuple[Integers, Integers]:
        """The authors of cited documents: for each, the number of the reference, and the code of the name."""
        place = pc.index_in(cited, self.documents)
        row = np.flatnonzero(pc.is_valid(place).to_numpy())
        document = place.drop_null().to_numpy()
        number = self.begin[document + 1] - self.begin[document]
        within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        return np.repeat(row, number), self.code[np.repeat(self.begin[document], number) + within]


def _encoded(
    mentions: pa.Table,
    identifiers: pa.Table,
    bags: _OwnedFeatures,
    total: NDArray[np.float64],
    statistics: ResultStatistics,
    folder: Path,
) -> Encoded:
    owner = mentions["owner"].to_numpy()
    coauthor = {name: f for f, (kind, name) in enumerate(zip(bags.types, bags.names, strict=True)) if kind == "co"}
    own_names = {
        column: np.array([coauthor.get(name, -1) for name in mentions[column].to_pylist()], np.int32)
        for column in ("own_name", "own_full_name")
    }
    _write_mentions(mentions, own_names, statistics, folder / "mentions.parquet")
    _write_identifiers(identifiers, owner, folder / "identifiers.parquet")
    begin = np.flatnonzero(np.diff(bags.owner, prepend=-1))
    block = mentions["block"].to_numpy(zero_copy_only=False)
    is_new = np.append(True, block[1:] != block[:-1])
    return Encoded(
        frequencies=_frequencies(bags, total, statistics),
        mentions_file=folder / "mentions.parquet",
        identifiers_file=folder / "identifiers.parquet",
        block_start=np.append(np.flatnonzero(is_new), len(block)).astype(np.int64),
        mention_owner=owner,
        **own_names,
        owners=bags.owner[begin],
        starts=np.append(begin, len(bags.owner)).astype(np.int64),
        feature=bags.feature.astype(np.int32),
        count=bags.count,
    )


def _frequencies(bags: _OwnedFeatures, total: NDArray[np.float64], statistics: ResultStatistics) -> Frequencies:
    """#(f) of these features in the whole collection, and all types of the collection."""
    types, numbers = tuple(statistics.mass), Counter(bags.types)
    return Frequencies(
        types=types,
        type_start=starts(np.array([numbers[kind] for kind in types], np.int64)),
        total=total,
        mass=np.array([statistics.mass[kind] for kind in types], np.float64),
        mentions=statistics.mentions,
    )


def _write_mentions(
    mentions: pa.Table, own_names: dict[str, NDArray[np.int32]], statistics: ResultStatistics, path: Path
) -> None:
    namesakes = statistics.namesakes(mentions["full_name"].to_pylist())
    columns = {name: mentions[name] for name in mentions.column_names} | own_names
    columns["namesakes"] = pa.array(namesakes, pa.float64(), from_pandas=True)
    pq.write_table(pa.table(columns), path)


def _write_identifiers(identifiers: pa.Table, owner: Integers, path: Path) -> None:
    """Write one identifier of each kind for each mention, as counting.py does."""
    chosen = identifiers.filter(pc.is_in(identifiers["owner"], pa.array(owner)))
    first = chosen.group_by(["owner", "kind"]).aggregate([("id", "min")]).select(["owner", "kind", "id_min"])
    pq.write_table(
        first.rename_columns(IDENTIFIER_ROWS.names).sort_by([("owner", "ascending"), ("kind", "ascending")]), path
    )
