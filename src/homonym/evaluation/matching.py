"""Joins results with labels by mention: which labelled mentions every result has, and which of them share a name.

Also joins labels with the mentions of a collection (`label_names`).

A result needs the column mention_id and a column with the author, nothing else. Only the labelled mentions of a result
are kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.agglomerative import dense_bytes
from homonym.clustering.arrays import Bags, Integers, ranges, starts
from homonym.constraints.name_prior import FullNames
from homonym.engines.base import EncodedCollection, RecordsRead
from homonym.engines.local import LocalCollection, LocalEngine, LocalParts, require_memory
from homonym.errors import CapacityError, InputError, counted
from homonym.evaluation.gold import AnnotatedFile, Gold, mentions_of, open_annotated
from homonym.evaluation.reliability import STATED
from homonym.io.outputs import Paths, as_paths
from homonym.io.tables import has_text, open_table, scalar_text, string_batches
from homonym.measures.agreement import Codes, Counts, Values
from homonym.measures.methods import LabelledNames
from homonym.names.parse import parse_name
from homonym.records.model import Problems
from homonym.records.reader import Inputs
from homonym.settings import Settings

if TYPE_CHECKING:
    from homonym.collection.encoded import Encoded
    from homonym.constraints.found_constraints import FoundConstraints


# Memory of a feature in a bag: its number and its count.
FEATURE_BYTES = 4 + 8

CLUSTER_COLUMNS = ("author_id", "author", "cluster")
"""Columns of a result that may hold the author of a mention; the first one present is used."""


@dataclass(frozen=True, eq=False)
class Matched:
    """Codes of the mentions that have a label and are in every result, and counts of the others.

    One entry per result: `clusters`, which mentions are alone in theirs (`lone`, unlabelled mentions included),
    `stated` confidence (by column, NaN where missing), the number of its mentions `without_label`, and of labelled
    mentions `lacking` from it although another result has them. `labels_nowhere` counts labels of mentions that no
    result has. Codes are in the order of the strings that they stand for, so that nothing depends on the order of rows.
    `name_texts` are the names that the codes stand for, none if names are unknown.
    """

    names: Codes
    name_texts: Sequence[str]
    names_known: bool
    authors: Codes
    clusters: list[Codes]
    lone: list[NDArray[np.bool_]]
    stated: list[dict[str, Values]]
    without_label: list[int]
    lacking: list[int]
    labels_nowhere: int


@dataclass(frozen=True, eq=False)
class LabelledResult:
    """The labelled mentions of one result: `row` is their row in the labels, `stated` confidence is text.

    `blocks` is None if blocks were not read.
    """

    path: Path
    row: Counts
    clusters: pa.ChunkedArray
    lone: pa.ChunkedArray
    blocks: pa.ChunkedArray | None
    stated: Mapping[str, pa.ChunkedArray]
    mentions: int
    first: str | None


def match(results: Sequence[Path], gold: Gold, gold_files: Sequence[Path], names: Path | None = None) -> Matched:
    """Join results with labels by mention, and find the name of each mention.

    Names are those of `names`, else the blocks of the first result that has any, else those in the labelled files;
    else all mentions count as one name.
    """
    labelled = gold.table["mention_id"]
    found: list[LabelledResult] = []
    for path in results:
        with_blocks = names is None and not any(result.blocks is not None for result in found)
        found.append(read_result(path, labelled, with_blocks=with_blocks))
    present = np.stack([np.bincount(result.row, minlength=len(labelled)) for result in found])
    common: Counts = np.flatnonzero(present.all(axis=0))
    if not len(common):
        raise InputError(_nothing_in_common(found, gold_files, labelled))
    blocks = _blocks(found, labelled, common, gold_files, names)
    anywhere = int(present.any(axis=0).sum())
    return Matched(
        names=np.zeros(len(common), dtype=np.int64) if blocks is None else ordered_codes(blocks),
        name_texts=[] if blocks is None else sorted_texts(blocks),
        names_known=blocks is not None,
        authors=ordered_codes(gold.table["author"].take(common)),
        clusters=[ordered_codes(_aligned(result.clusters, result.row, common)) for result in found],
        lone=[_aligned(result.lone, result.row, common).to_numpy() for result in found],
        stated=[_stated(result, common) for result in found],
        without_label=[result.mentions - len(result.row) for result in found],
        lacking=[anywhere - len(result.row) for result in found],
        labels_nowhere=len(labelled) - anywhere,
    )


def ordered_codes(column: pa.ChunkedArray) -> Codes:
    """Codes 0, 1, … of strings, in the order of the strings.

    >>> ordered_codes(pa.chunked_array([["b", "a"], ["b", "c"]])).tolist()
    [1, 0, 1, 2]
    """
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    rank = np.empty(len(encoded.dictionary), dtype=np.int64)
    rank[pc.sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(rank))
    codes: Codes = rank[encoded.indices.to_numpy()]
    return codes


def sorted_texts(column: pa.ChunkedArray) -> list[str]:
    """The strings that `ordered_codes` stand for.

    >>> sorted_texts(pa.chunked_array([["b", "a"], ["b", "c"]]))
    ['a', 'b', 'c']
    """
    distinct = pc.unique(column)
    texts: list[str] = distinct.take(pc.sort_indices(distinct)).to_pylist()
    return texts


def read_result(path: Path, labelled: pa.ChunkedArray, *, with_blocks: bool) -> LabelledResult:
    """Read the labelled mentions of a result; each must occur once."""
    rows, kept, unlabelled, mentions, first = [], [], [], 0, None
    with open_table(path, "mention_id") as result:
        columns = _result_columns(result.columns, result.name, with_blocks=with_blocks)
        # A column of another program with such a name may hold anything; it is ignored then (see `shares`).
        for batch in result.batches(columns, unchecked=STATED):
            _require_filled(batch, path)
            row = pc.index_in(batch["mention_id"], value_set=labelled)
            rows.append(row.drop_null())
            kept.append(batch.filter(row.is_valid()))
            unlabelled.append(pc.unique(batch.filter(row.is_null()).column(1)))
            mentions += batch.num_rows
            first = first or (batch["mention_id"][0].as_py() if batch.num_rows else None)
    row = pa.chunked_array(rows, pa.int32()).to_numpy()
    _require_each_once(row, labelled, path)
    if not kept:
        return LabelledResult(
            path, row, pa.chunked_array([], pa.string()), pa.chunked_array([], pa.bool_()), None, {}, 0, None
        )
    table = pa.Table.from_batches(kept)
    blocks = table["block"] if "block" in table.column_names else None
    stated = {column: table[column] for column in STATED if column in table.column_names}
    clusters = table.column(1)
    return LabelledResult(path, row, clusters, _alone(clusters, unlabelled), blocks, stated, mentions, first)


def _alone(clusters: pa.ChunkedArray, unlabelled: list[pa.Array]) -> pa.ChunkedArray:
    """Which labelled mentions are the only ones of their cluster; `unlabelled` are the clusters of other mentions.

    >>> _alone(pa.chunked_array([["a", "b", "c", "c"]]), [pa.array(["b"])]).to_pylist()
    [True, False, False, False]
    """
    code = clusters.dictionary_encode().unify_dictionaries().combine_chunks().indices.to_numpy()
    only = (np.bincount(code) == 1)[code]
    also = pc.is_in(clusters, value_set=pa.chunked_array(unlabelled, clusters.type))
    return pc.and_not(pa.chunked_array([only]), also)


def _result_columns(present: list[str], where: str, *, with_blocks: bool) -> list[str]:
    """The columns to read: mention_id, the author, and if present the confidence and, if wanted, the block."""
    cluster = next((column for column in CLUSTER_COLUMNS if column in present), None)
    if "mention_id" not in present or cluster is None:
        missing = [] if "mention_id" in present else ["mention_id"]
        missing += [] if cluster else ["author_id (or author, or cluster)"]
        raise InputError(
            f"{where} lacks {' and '.join(missing)}, found {', '.join(present) or 'nothing'}; "
            "give a result with one row per mention, as written by disambiguate or cluster."
        )
    optional = ["block", *STATED] if with_blocks else STATED
    return ["mention_id", cluster, *(column for column in optional if column in present)]


def _require_filled(batch: pa.RecordBatch, path: Path) -> None:
    for name in (column for column in batch.schema.names if column not in STATED):
        empty = pc.invert(has_text(batch[name]))
        if pc.any(empty).as_py():
            mention = batch.filter(empty)["mention_id"][0]
            raise InputError(f"{path}: mention {mention} has no {name}; each row of a result needs one.")


def _require_each_once(row: Counts, labelled: pa.ChunkedArray, path: Path) -> None:
    times = np.bincount(row, minlength=1)
    twice = int(times.argmax())
    if times[twice] > 1:
        raise InputError(f"{path} has mention {labelled[twice]} {times[twice]} times; each may have one author only.")


def _nothing_in_common(found: Sequence[LabelledResult], gold_files: Sequence[Path], labelled: pa.ChunkedArray) -> str:
    ids = [(result.path, f"{result.first!r}" if result.first else "none at all") for result in found]
    ids.append((gold_files[0], repr(labelled[0].as_py())))
    shown = "; ".join(f"the first id of {path} is {first}" for path, first in ids)
    files = " and ".join(str(path) for path, _ in ids)
    return (
        f"{files} have no mention in common ({shown}); mention_id must be the same in all "
        "(<document id>#<position> for the authors of documents)."
    )


def _aligned(column: pa.ChunkedArray, row: Counts, common: Counts) -> pa.ChunkedArray:
    """The values of a result for the common mentions, in the order of the labels."""
    order = np.argsort(row, kind="stable")
    return column.take(pa.array(order[np.searchsorted(row[order], common)]))


def _stated(result: LabelledResult, common: Counts) -> dict[str, Values]:
    """The stated confidence of the common mentions, from the columns that hold numbers from 0 to 1."""
    read = {column: shares(_aligned(values, result.row, common)) for column, values in result.stated.items()}
    return {column: values for column, values in read.items() if values is not None}


def shares(column: pa.ChunkedArray) -> Values | None:
    """Parse numbers from 0 to 1, NaN where there is none; None if the column holds anything else.

    A column of another program with the same name may hold words or percentages; such a result is still accepted.

    >>> shares(pa.chunked_array([["0.95", "", None]])), shares(pa.chunked_array([["high"]]))
    (array([0.95,  nan,  nan]), None)
    """
    try:
        values: Values = pc.if_else(has_text(column), column, None).cast(pa.float64()).to_numpy()
    except pa.ArrowException:
        return None
    outside = (values < 0) | (values > 1)
    return None if outside.any() else values


def _blocks(
    found: Sequence[LabelledResult],
    labelled: pa.ChunkedArray,
    common: Counts,
    gold_files: Sequence[Path],
    names: Path | None,
) -> pa.ChunkedArray | None:
    if names is not None:
        return _complete(read_blocks([names], labelled.take(common)), labelled.take(common), [names])
    for result in found:
        if result.blocks is not None:
            return _aligned(result.blocks, result.row, common)
    wanted = labelled.take(common)
    row, blocks = read_blocks(gold_files, wanted)
    return _complete((row, blocks), wanted, gold_files) if len(row) else None


def _complete(found: tuple[Counts, pa.ChunkedArray], wanted: pa.ChunkedArray, files: Sequence[Path]) -> pa.ChunkedArray:
    """The blocks in the order of the mentions; a mention without one is an error."""
    row, blocks = found
    if len(row) < len(wanted):
        lacking = np.setdiff1d(np.arange(len(wanted)), row)
        raise InputError(
            f"{' and '.join(map(str, files))} gives no block or name for {counted(len(lacking), 'labelled mention')}, "
            f"such as {wanted[int(lacking[0])]}; give a file that has all of them with --names."
        )
    return blocks


def read_blocks(files: Sequence[Path], wanted: pa.ChunkedArray) -> tuple[Counts, pa.ChunkedArray]:
    """Read the blocks of wanted mentions: rows of `wanted`, in order and without repetitions, and their blocks.

    Tables have a column `block`. Mentions have `block` or else `name`; authors of documents have `block` or else their
    name, of which surname and all initials are used. Of two entries for one mention the first is used.
    """
    rows, kept = [], []
    for path in files:
        for batch in _name_batches(path):
            row = pc.index_in(batch["mention_id"], value_set=wanted)
            rows.append(row.drop_null())
            kept.append(_keys(batch.filter(row.is_valid())))
    row, first = np.unique(pa.chunked_array(rows, pa.int32()).to_numpy(), return_index=True)
    blocks = pa.chunked_array(kept, pa.string()).take(pa.array(first))
    has_block = has_text(blocks.combine_chunks())
    return row[has_block.to_numpy(zero_copy_only=False)], blocks.filter(has_block)


def _name_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """Yield mention_id, block and, where there is no block, the name as written."""
    with open_annotated(path) as file:
        table = file.columns_table
        if table is None:
            yield from string_batches(_object_names(file), ["mention_id", "block", "name"])
        elif {"mention_id", "block"} <= set(table.columns):
            yield from table.batches(["mention_id", "block"], _ignore)


def _object_names(file: AnnotatedFile) -> Iterator[tuple[str, str, str]]:
    for _, row in file.objects(_ignore):
        try:
            yield from [(mention, *_name_of(author)) for mention, author in mentions_of(row)]
        except ValueError:
            continue  # such a line has no label either, and was counted there


def _ignore(number: int | None, reason: str) -> None:
    """Broken lines were counted when the labels were read."""


def _name_of(author: dict[str, Any]) -> tuple[str, str]:
    """The block of a mention, or else the name from which a block can be made."""
    name = author["name"] if isinstance(author.get("name"), str) else ""
    block = scalar_text(author.get("block"))
    if block is None and "mention_id" in author:
        return name, ""
    return block or "", name


def _keys(batch: pa.RecordBatch) -> pa.Array:
    """The blocks, made from names where there is none."""
    blocks = batch["block"]
    if "name" not in batch.schema.names:
        return blocks
    pairs = zip(blocks.to_pylist(), batch["name"].to_pylist(), strict=True)
    return pa.array([block or parse_name(name).key for block, name in pairs], pa.string())


@dataclass(frozen=True)
class Labelling:
    """Labelled names, the numbers of labels and of labels without a mention, and problems of reading."""

    names: LabelledNames
    labels: int
    labels_without_mention: int
    problems: Problems


def read_collection(engine: LocalEngine, inputs: Inputs, settings: Settings) -> RecordsRead[LocalParts]:
    """Read documents, or mentions that come with their own features, whichever the files hold."""
    kinds = {holds_mentions(path) for path in inputs.files}
    if len(kinds) > 1:
        raise InputError(f"{inputs} are documents and mentions with bags; give files of one kind.")
    return (engine.read_mentions if kinds.pop() else engine.read_documents)(inputs, settings)


def label_names(
    engine: LocalEngine, collection: EncodedCollection[LocalCollection], inputs: Inputs, gold: Gold, gold_files: Paths
) -> Labelling:
    """The names of a collection that have labels, with their constraints if these are known."""
    if not collection.data.encoded.frequencies.types:
        raise InputError(f"no mention of {inputs} has any feature, so its authors cannot be distinguished.")
    names, without = _join(collection.data, gold.table, inputs, gold_files, engine.memory)
    largest = int(names.mentions.max())
    # A sweep keeps the pairs of a block twice, on each thread.
    needed = 2 * engine.threads * dense_bytes(largest, len(names.frequencies.types), copied=True)
    require_memory(largest, needed, engine.memory)
    return Labelling(names, gold.table.num_rows, without, collection.problems)


def holds_mentions(path: Path) -> bool:
    """Whether a file holds mentions with bags, rather than documents."""
    with open_annotated(path) as file:
        if file.table is None or file.table.format == "csv":
            return False
        try:
            return "mention_id" in file.table.columns
        except InputError:  # reading the file reports it
            return False


def _join(
    collection: LocalCollection, labels: pa.Table, inputs: Inputs, gold_files: Paths, memory: int
) -> tuple[LabelledNames, int]:
    """The names that have labels, and the number of labels that belong to no mention."""
    encoded = collection.encoded
    columns = pq.read_table(encoded.mentions_file, columns=["mention_id", "name"])
    row = pc.index_in(columns["mention_id"], value_set=labels["mention_id"])
    known = pc.fill_null(row, -1).to_numpy()
    if not (known >= 0).any():
        files = ", ".join(map(str, as_paths(gold_files)))
        raise InputError(
            f"no label in {files} belongs to a mention of {inputs.files[0]}; mention_id must be the same in both, "
            f"but the first are {labels['mention_id'][0]} and {columns['mention_id'][0]}."
        )
    # Codes in the order of the labels, so that the order of rows in a file does not matter.
    code = ordered_codes(labels["author"])
    author = np.where(known >= 0, code[known], -1).astype(np.int64)
    sizes = np.diff(encoded.block_start)
    labelled = np.unique(np.repeat(np.arange(len(sizes)), sizes)[author >= 0])
    _require_memory_of_bags(encoded, labelled, memory)
    names = _labelled_names(encoded, labelled, author, columns["name"], collection.constraints)
    return names, labels.num_rows - int((known >= 0).sum())


def _require_memory_of_bags(encoded: Encoded, blocks: Integers, memory: int) -> None:
    """Fail if the memory does not suffice for the bags of some blocks, of which the hold-out split makes a copy."""
    mentions = ranges(encoded.block_start[blocks], np.diff(encoded.block_start)[blocks])
    features = int(encoded.occurrences(mentions).sum())
    if (needed := 2 * FEATURE_BYTES * features) > memory:
        raise CapacityError(
            f"the {counted(len(blocks), 'name')} with labels have {len(mentions):,} mentions and {features:,} "
            f"features, which need {needed / 2**30:.1f} GiB, but {memory / 2**30:.1f} may be used; "
            "allow more with --memory, or give labels of fewer names."
        )


def _labelled_names(
    encoded: Encoded,
    blocks: Integers,
    author: Integers,
    written: pa.ChunkedArray,
    constraints: FoundConstraints | None,
) -> LabelledNames:
    """The given blocks with all their mentions; `author` and `written` are those of all mentions of the collection."""
    sizes = np.diff(encoded.block_start)
    chosen = ranges(encoded.block_start[blocks], sizes[blocks])
    kept = np.ones(len(encoded.frequencies.types), bool)
    return LabelledNames(
        key=encoded.block_names().take(pa.array(blocks)).to_pylist(),
        bags=Bags(starts(sizes[blocks]), *encoded.gather_mentions(chosen, kept)),
        frequencies=encoded.frequencies,
        author=author[chosen],
        written=written.take(pa.array(chosen)).to_pylist(),
        constraints=constraints.of_chosen(blocks) if constraints else None,
        full_names=FullNames.read(encoded).select(blocks),
    )
