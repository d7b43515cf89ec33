"""Blocks with labelled mentions, ready to be clustered: for tuning, training and studies.

Only blocks with at least one label are kept, but these completely: unlabelled mentions are clustered too, as in a real
run, and ignored when the result is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.clustering.arrays import Bags, Integers, ranges, starts
from homonym.engines.base import EncodedCollection, RecordsRead
from homonym.engines.local import LocalCollection, LocalEngine, LocalParts, require_memory
from homonym.errors import InputError
from homonym.evaluation.gold import Gold, open_annotated
from homonym.evaluation.matching import ordered_codes
from homonym.io.outputs import Paths, as_paths
from homonym.measures.labelled_names import LabelledNames
from homonym.records.model import Problems
from homonym.records.reader import Inputs
from homonym.settings import Settings

if TYPE_CHECKING:
    from homonym.collection.encoded import Encoded
    from homonym.constraints.found_constraints import FoundConstraints


@dataclass(frozen=True)
class Labelling:
    """Labelled names, the numbers of labels and of labels without a mention, and problems of reading."""

    names: LabelledNames
    labels: int
    labels_without_mention: int
    problems: Problems


def read_collection(engine: LocalEngine, inputs: Inputs, settings: Settings) -> RecordsRead[LocalParts]:
    """Read documents, or mentions that bring their own features, whichever the files hold."""
    kinds = {holds_mentions(path) for path in inputs.files}
    if len(kinds) > 1:
        raise InputError(f"{inputs} are documents and mentions with bags; give files of one kind.")
    return (engine.read_mentions if kinds.pop() else engine.read_documents)(inputs, settings)


def label_names(
    engine: LocalEngine, collection: EncodedCollection[LocalCollection], inputs: Inputs, gold: Gold, gold_files: Paths
) -> Labelling:
    """The names of a collection that have labels, with their constraints if these are known."""
    if not collection.data.encoded.frequencies.types:
        raise InputError(f"no mention of {inputs} has any feature to tell authors apart by.")
    names, without = _join(collection.data, gold.table, inputs, gold_files)
    # A sweep keeps the pairs of a block twice, on each thread.
    require_memory(
        int(names.mentions.max()), len(names.frequencies.types), engine.memory, copies=2 * engine.threads
    )  # fmt: skip
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
    collection: LocalCollection, labels: pa.Table, inputs: Inputs, gold_files: Paths
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
    names = _labelled_names(encoded, author, columns["name"], collection.constraints)
    return names, labels.num_rows - int((known >= 0).sum())


def _labelled_names(
    encoded: Encoded, author: Integers, written: pa.ChunkedArray, knowledge: FoundConstraints | None
) -> LabelledNames:
    sizes = np.diff(encoded.block_start)
    block = np.repeat(np.arange(len(sizes)), sizes)
    blocks = np.unique(block[author >= 0])
    chosen = ranges(encoded.block_start[blocks], sizes[blocks])
    kept = np.ones(len(encoded.frequencies.types), bool)
    return LabelledNames(
        key=encoded.block_names().take(pa.array(blocks)).to_pylist(),
        bags=Bags(starts(sizes[blocks]), *encoded.gather_mentions(chosen, kept)),
        frequencies=encoded.frequencies,
        author=author[chosen],
        written=written.take(pa.array(chosen)).to_pylist(),
        constraints=knowledge.of_chosen(blocks) if knowledge else None,
    )
