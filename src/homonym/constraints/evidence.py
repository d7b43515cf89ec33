"""What is known of each mention beside its features, as arrays in the order of the result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.collection.encoded import Encoded
from homonym.constraints.incompatible_names import BlockNames, block_names, no_names
from homonym.constraints.segments import differing
from homonym.errors import InputError
from homonym.io.tables import TableReader, open_table
from homonym.messages import counted
from homonym.settings import LINKING_ONLY, Settings

COLUMNS = ("mention_a", "mention_b", "relation")
SAME, DIFFERENT = "same", "different"


@dataclass(frozen=True)
class UserPairs:
    """Statements about mentions, each of two ids and whether they are the same person."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    same: tuple[bool, ...]


def read_user_pairs(path: Path) -> UserPairs:
    """Read a table of pairs in any format that `io.tables` reads.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pairs.csv").write_text("mention_a,mention_b,relation\\nW1#0,W2#0,same\\n")
    ...     read_user_pairs(Path(folder, "pairs.csv"))
    UserPairs(a=('W1#0',), b=('W2#0',), same=(True,))
    """
    with open_table(path, COLUMNS[0]) as table:
        table.require(COLUMNS)
        rows = (row for batch in table.batches(COLUMNS) for row in zip(*batch.to_pydict().values(), strict=True))
        found = [pair for number, row in enumerate(rows) if (pair := _pair(table, number, row)) is not None]
    return UserPairs(tuple(a for a, _, _ in found), tuple(b for _, b, _ in found), tuple(same for *_, same in found))


def _pair(table: TableReader, number: int, row: tuple[str | None, ...]) -> tuple[str, str, bool] | None:
    """One statement; None for a mention that is the same as itself, and for a repeated header as in joined files."""
    a, b, relation = cells = tuple((cell or "").strip() for cell in row)
    if cells == COLUMNS:
        return None
    same = relation.lower() == SAME
    if not a or not b:
        problem = "a mention is missing; give both mention_a and mention_b"
    elif relation.lower() not in {SAME, DIFFERENT}:
        problem = f"the relation is {relation!r}; write {SAME} or {DIFFERENT}"
    elif a == b and not same:
        problem = f"{a} cannot be different from itself; correct or remove the row"
    else:
        return None if a == b else (a, b, same)
    raise InputError(f"{table.place(number)}: {problem}.")


Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class MentionEvidence:
    """What is known of each mention.

    `ids` has for each trusted kind the number of a mention's identifier, -1 where it has none; `document` a number for
    mentions of one block on one document, -1 where a mention is alone on its own. `same` and `different` are the
    places of mentions that a user has said this of, a row for each pair inside a block.
    """

    block_start: Integers
    block: Integers
    names: BlockNames
    ids: dict[str, Integers]
    document: Integers
    same: Integers
    different: Integers

    @property
    def parting(self) -> dict[str, Integers]:
        """The identifiers that keep mentions apart if they differ."""
        return {kind: ids for kind, ids in self.ids.items() if kind not in LINKING_ONLY}

    def disputed(self) -> NDArray[np.bool_]:
        """Which blocks hold mentions that must be kept apart."""
        found = np.zeros(len(self.block_start) - 1, np.bool_)
        for ids in self.parting.values():
            found |= differing(ids, self.block_start)
        for places in (np.flatnonzero(self.document >= 0), self.different.ravel()):
            found[self.block[places]] = True
        several = np.flatnonzero(self.names.count > 1)
        if len(several):
            found[several] |= np.logical_or.reduceat(self.names.clash, self.names.start[several])
        return found


def collect_evidence(
    encoded: Encoded, settings: Settings, pairs: UserPairs | None, warnings: list[str]
) -> MentionEvidence:
    """Look up what the settings and the user's pairs say about the mentions; adds what cannot be honoured."""
    start = encoded.block_start
    block = np.repeat(np.arange(len(start) - 1), np.diff(start))
    names, document = no_names(len(block), len(start) - 1), np.full(len(block), -1, np.int64)
    if settings.constrained_by("names"):
        names = block_names(start, block, _column(encoded, "parsed_name"))
    if settings.constrained_by("documents"):
        document = _shared_documents(_column(encoded, "document_id"), block)
    mention_ids = _column(encoded, "mention_id").combine_chunks() if pairs else None
    same, different = locate_pairs(mention_ids, block, pairs, warnings)
    return MentionEvidence(start, block, names, _identifiers(encoded, settings.trusted), document, same, different)


def _column(encoded: Encoded, name: str) -> pa.ChunkedArray:
    return pq.read_table(encoded.mentions_file, columns=[name])[name]


def _identifiers(encoded: Encoded, trusted: tuple[str, ...]) -> dict[str, Integers]:
    """The number of each mention's identifier, for each trusted kind that anybody has."""
    numbers = {}
    table = encoded.identifiers() if trusted else None
    for kind in trusted:
        assert table is not None
        of_kind = table.filter(pc.equal(table["kind"], kind))
        if len(of_kind):
            number = np.full(len(encoded.mention_owner), -1, np.int64)
            number[of_kind["place"].to_numpy()] = of_kind["id"].dictionary_encode().combine_chunks().indices.to_numpy()
            numbers[kind] = number
    return numbers


def _shared_documents(document_id: pa.ChunkedArray, block: Integers) -> Integers:
    """Number the documents that have several mentions in one block: these stand one behind the other."""
    as_before = np.zeros(len(block), np.bool_)
    equal = pc.equal(document_id.slice(1), document_id.slice(0, len(block) - 1))
    as_before[1:] = equal.fill_null(False).to_numpy() & (block[1:] == block[:-1])
    shared = as_before | np.append(as_before[1:], False)
    return np.where(shared, np.cumsum(~as_before), -1)


def locate_pairs(
    mention_ids: pa.Array, block: Integers, pairs: UserPairs | None, warnings: list[str]
) -> tuple[Integers, Integers]:
    """The places of the mentions that the user's pairs name: those that are the same, and those that are not."""
    if pairs is None:
        return np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)
    if not pairs.a:
        warnings.append("the file of pairs says nothing; it has no rows.")
    a, b = (pc.index_in(pa.array(ids, pa.string()), mention_ids) for ids in (pairs.a, pairs.b))
    unknown = [side.is_null().to_numpy(zero_copy_only=False) for side in (a, b)]
    known = ~(unknown[0] | unknown[1])
    if not known.all():
        place = int(known.argmin())
        nobody = (pairs.a if unknown[0][place] else pairs.b)[place]
        warnings.append(f"{counted(int((~known).sum()), 'pair')} left out: there is no mention {nobody}, for example.")
    places = np.stack([side.fill_null(0).to_numpy().astype(np.int64) for side in (a, b)], axis=1)
    same, together = np.array(pairs.same, np.bool_), block[places[:, 0]] == block[places[:, 1]]
    if (lost := known & same & ~together).any():
        first = f"{pairs.a[lost.argmax()]} and {pairs.b[lost.argmax()]}"
        warnings.append(
            f"{counted(int(lost.sum()), 'pair')} cannot be linked: blocking separates {first}, for example; "
            "coarser blocks (--blocking) would bring such mentions together."
        )
    usable = known & together
    return _once(places[usable & same]), _once(places[usable & ~same])


def _once(places: Integers) -> Integers:
    """Each pair once, the earlier mention first."""
    return np.unique(np.sort(places, axis=1), axis=0)
