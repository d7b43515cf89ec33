"""Names whose authors are known, with all that is needed to cluster them: for tuning, training and studies.

Of a collection only the blocks with at least one label are kept, but these whole: what has no label is clustered along,
as it would be in a real run, and left out when the result is measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.clustering.constraints import Constraints
from homonym.clustering.merging import Bags, Frequencies, Integers, ranges, starts
from homonym.engines.local import require_memory
from homonym.errors import InputError
from homonym.evaluation.gold import read_gold, unusable
from homonym.evaluation.matching import ordered_codes
from homonym.evaluation.tabular import columns_of, is_export
from homonym.files import Paths, as_paths
from homonym.records.documents import load_object
from homonym.records.problems import BrokenRecordError, Problems
from homonym.sources import read_lines, require_rereadable

if TYPE_CHECKING:
    from homonym.collection.encoded import Encoded
    from homonym.constraints.knowledge import Knowledge
    from homonym.engines.local import LocalEngine
    from homonym.run import Run

#: Batches of names have about this many mentions, but there are at least so many: enough for every core, and enough
#: work in each to keep a call's overhead out of sight.
BATCH_MENTIONS, FEWEST_BATCHES = 2_000, 16


@dataclass(frozen=True, eq=False)
class LabelledNames:
    """Blocks of mentions with their bags, and who is known to be who.

    `author[x]` is the code of a mention's true author, −1 where it is not known; every block has one that is.
    `written[x]` is the name as the record gives it, if it does. `constraints` bind what is to be clustered.
    """

    key: Sequence[str]
    bags: Bags
    frequencies: Frequencies
    author: Integers
    written: Sequence[str | None]
    constraints: Constraints | None = None
    true_size: Integers = field(init=False)
    """|C_cor| of each name: how many different people its labels name."""

    def __post_init__(self) -> None:
        pairs = np.unique(np.stack([self.block, self.author])[:, self.labelled], axis=1)
        object.__setattr__(self, "true_size", np.bincount(pairs[0], minlength=len(self)))
        if (self.true_size == 0).any():
            raise ValueError("each name needs a labelled mention")

    def __len__(self) -> int:
        return len(self.bags.block_start) - 1

    @property
    def mentions(self) -> Integers:
        """|X| of each name, with or without labels."""
        return np.diff(self.bags.block_start)

    @property
    def block(self) -> Integers:
        """The name that each mention belongs to, by number."""
        return np.repeat(np.arange(len(self)), self.mentions)

    @property
    def labelled(self) -> Any:
        """Which mentions have a label."""
        return self.author >= 0

    def select(self, names: Integers) -> LabelledNames:
        """Some of the names, in the given order."""
        chosen = ranges(self.bags.block_start[names], self.mentions[names])
        return replace(
            self,
            key=[self.key[i] for i in names.tolist()],
            bags=self.bags.select(chosen, self.mentions[names]),
            author=self.author[chosen],
            written=[self.written[x] for x in chosen.tolist()],
            constraints=self.constraints.of(chosen) if self.constraints else None,
        )

    def batches(self) -> Iterator[LabelledNames]:
        """The names in order, in parts that take about equally long: time grows with the square of |X|."""
        parts = max(FEWEST_BATCHES, len(self.author) // BATCH_MENTIONS)
        work = np.cumsum(self.mentions**2)
        part = (work - 1) * parts // work[-1]
        for number in np.unique(part):
            yield self.select(np.flatnonzero(part == number))


@dataclass(frozen=True)
class Labelling:
    """Labelled names, how many labels there are and how many belong to no mention; and what could not be read."""

    names: LabelledNames
    labels: int
    labels_without_mention: int
    problems: Problems


def read_labelled(run: Run, gold: Paths | None, label: str) -> Labelling:
    """Read a collection of documents or mentions and the labels of its mentions, from itself or from other files."""
    require_rereadable([*run.inputs.files, *(as_paths(gold) if gold else [])])
    found = read_gold(gold or run.inputs.files, label)
    run.warnings += [f"{part}." for part in unusable(found.skipped, found.several)]
    with run.engine() as engine:
        read_collection(engine, run)
        encoded = run.encode(engine)
        if not encoded.frequencies.types:
            raise InputError(f"no mention of {run.inputs} has any feature to tell authors apart by.")
        names, without = _join(encoded, found.table, run, gold)
    # A sweep keeps the pairs of a block twice, on each thread.
    require_memory(int(names.mentions.max()), len(names.frequencies.types), run.memory, copies=2 * run.threads)
    return Labelling(names, found.table.num_rows, without, engine.problems)


def read_collection(engine: LocalEngine, run: Run) -> None:
    """Read documents, or mentions that bring their own features, whichever the files hold."""
    kinds = {holds_mentions(path) for path in run.inputs.files}
    if len(kinds) > 1:
        raise InputError(f"{run.inputs} are documents and mentions with bags; give files of one kind.")
    read = engine.read_mentions if kinds.pop() else engine.read_documents
    read(run.inputs, run.settings)


def holds_mentions(path: Path) -> bool:
    """Tell mentions with bags from documents by the beginning of a file."""
    if path.suffix == ".parquet":
        return "mention_id" in columns_of(path)
    if is_export(path):
        return False
    for line in islice(read_lines(path), 100):
        try:
            return "mention_id" in load_object(line.text)
        except BrokenRecordError:
            continue
    return False


def _join(encoded: Encoded, labels: pa.Table, run: Run, gold: Paths | None) -> tuple[LabelledNames, int]:
    """Keep the names that have labels; also count the labels that belong to no mention."""
    columns = pq.read_table(encoded.mentions_file, columns=["mention_id", "name"])
    row = pc.index_in(columns["mention_id"], value_set=labels["mention_id"])
    known = pc.fill_null(row, -1).to_numpy()
    if not (known >= 0).any():
        files = ", ".join(map(str, as_paths(gold or run.inputs.files)))
        raise InputError(
            f"no label in {files} belongs to a mention of {run.inputs.files[0]}; mention_id must be the same in both, "
            f"but the first are {labels['mention_id'][0]} and {columns['mention_id'][0]}."
        )
    # Numbered in the order of the labels themselves: in which order a file gives them must not matter.
    code = ordered_codes(labels["author"])
    author = np.where(known >= 0, code[known], -1).astype(np.int64)
    names = _labelled_names(encoded, author, columns["name"], run.knowledge)
    return names, labels.num_rows - int((known >= 0).sum())


def _labelled_names(
    encoded: Encoded, author: Integers, written: pa.ChunkedArray, knowledge: Knowledge | None
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
