"""What each mention carries besides its features: identifiers, document, name, and the user's pairs, as arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from homonym.clustering.arrays import Integers, has_different_values
from homonym.collection.encoded import Encoded
from homonym.constraints.incompatible_names import BlockNames, block_names, no_names
from homonym.errors import InputError, SettingsError, counted
from homonym.io.tables import TableReader, open_table, write_table
from homonym.records.fields.identifiers import DOCUMENT_KINDS, PERSON_KINDS
from homonym.settings import LINKING_ONLY, Settings

COLUMNS = ("mention_a", "mention_b", "relation")
SAME, DIFFERENT = "same", "different"
# Other kinds of decisions in exported tables; they say nothing about pairs.
NO_RELATION = ("unsure", "name", "wrong-record")
# The column of an exported table with the mentions of an author that mention_a is not or has left, as a list in JSON.
MEMBERS = "members"


@dataclass(frozen=True)
class UserPairs:
    """A user's pairs of mention ids, and for each pair whether both are the same person."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    same: tuple[bool, ...]

    def among(self, mention_ids: Iterable[str]) -> UserPairs:
        """The pairs of which both mentions are among these.

        >>> UserPairs(("m1", "m1"), ("m2", "m3"), (True, False)).among(["m1", "m3"])
        UserPairs(a=('m1',), b=('m3',), same=(False,))
        """
        known = set(mention_ids)
        chosen = [row for row in zip(self.a, self.b, self.same, strict=True) if row[0] in known and row[1] in known]
        a, b, same = zip(*chosen, strict=True) if chosen else ((), (), ())
        return UserPairs(a, b, same)


# Mention ids of homonym 0.6 and earlier for records without an id: file, line, position. Ids such as `pmid:7` do not
# match. Other valid ids may look the same, so only ids that do not exist are refused.
_NAMED_BY_LINE = re.compile(rf"(?!(?i:h|{'|'.join(DOCUMENT_KINDS)}):).+:\d+#\d+", re.DOTALL)


def read_user_pairs(path: Path) -> UserPairs:
    """Read a table of pairs in any format that `io.tables` reads, or an exported table of decisions.

    The column of members has mentions that the first mention is different from: those of the author that it is not.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pairs.csv").write_text("mention_a,mention_b,relation\\nW1#0,W2#0,same\\n")
    ...     read_user_pairs(Path(folder, "pairs.csv"))
    UserPairs(a=('W1#0',), b=('W2#0',), same=(True,))
    """
    with open_table(path, COLUMNS[0]) as table:
        table.require(COLUMNS)
        columns = [*COLUMNS, *([MEMBERS] if MEMBERS in table.columns else [])]
        rows = (row for batch in table.batches(columns) for row in zip(*batch.to_pydict().values(), strict=True))
        found = [pair for number, row in enumerate(rows) for pair in _pairs(table, number, row)]
    return UserPairs(tuple(a for a, _, _ in found), tuple(b for _, b, _ in found), tuple(same for *_, same in found))


def _pairs(table: TableReader, number: int, row: tuple[str | None, ...]) -> Iterator[tuple[str, str, bool]]:
    """The statements of a row: that about both mentions, and one for each member."""
    pair = _pair(table, number, row[: len(COLUMNS)])
    if pair is None:
        return
    yield pair
    a, first, _ = pair
    if len(row) > len(COLUMNS):
        try:
            others = mention_list(row[-1] or "")
        except ValueError as error:
            raise InputError(f"{table.place(number)}: {error}.") from None
        yield from ((a, other, False) for other in dict.fromkeys(others) if other not in {a, first})


def mention_list(text: str) -> tuple[str, ...]:
    """A list of mention ids, which is JSON; a ValueError says what is wrong with it.

    >>> mention_list('["W1#0"]'), mention_list("")
    (('W1#0',), ())
    """
    try:
        found = orjson.loads(text) if text.strip() else []
    except orjson.JSONDecodeError as error:
        raise ValueError(f"{MEMBERS} is not a list in JSON ({error.msg})") from None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"{MEMBERS} is not a list of mention ids")
    return tuple(found)


def _pair(table: TableReader, number: int, row: tuple[str | None, ...]) -> tuple[str, str, bool] | None:
    """One statement; None for a mention that is the same as itself, and for a repeated header in joined files.

    Decisions that are not about pairs are also None.
    """
    a, b, relation = cells = tuple((cell or "").strip() for cell in row)
    if cells == COLUMNS or relation.lower() in NO_RELATION:
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


@dataclass(frozen=True, eq=False)
class MentionEvidence:
    """What each mention carries besides its features; mentions are in the order of the result.

    `ids` maps each trusted kind of identifier to the number of each mention's identifier, -1 where it has none.
    `shared_document` numbers the documents with several mentions of one block; it is -1 for all other mentions.
    `same_pairs` and `different_pairs` hold the user's pairs inside a block, one row of two mention numbers each.
    """

    block_start: Integers
    block: Integers
    names: BlockNames
    ids: dict[str, Integers]
    shared_document: Integers
    same_pairs: Integers
    different_pairs: Integers

    @property
    def separating_ids(self) -> dict[str, Integers]:
        """The kinds of identifiers whose different values mean different people."""
        return {kind: ids for kind, ids in self.ids.items() if kind not in LINKING_ONLY}

    def without_identifiers(self, unusable: Mapping[str, NDArray[np.bool_]]) -> MentionEvidence:
        """The same evidence without the identifiers of some mentions; kinds that are not named keep all."""
        return replace(self, ids=self.ids | {kind: np.where(of, -1, self.ids[kind]) for kind, of in unusable.items()})

    def blocks_with_cannot_links(self) -> NDArray[np.bool_]:
        """For each block, whether it has any cannot-link."""
        found = np.zeros(len(self.block_start) - 1, np.bool_)
        for ids in self.separating_ids.values():
            found |= has_different_values(ids, self.block_start)
        for mentions in (np.flatnonzero(self.shared_document >= 0), self.different_pairs.ravel()):
            found[self.block[mentions]] = True
        several = np.flatnonzero(self.names.count > 1)
        if len(several):
            found[several] |= np.logical_or.reduceat(self.names.incompatible, self.names.start[several])
        return found


def require_known_identifiers(settings: Settings, occurs: Callable[[str], bool]) -> None:
    """Fail if a trusted kind of identifiers is unknown and no mention has it, because it may be misspelled.

    >>> require_known_identifiers(Settings(identifiers="orcid,staff"), {"staff"}.__contains__)
    >>> try:
    ...     require_known_identifiers(Settings(identifiers="orchid"), {"staff"}.__contains__)
    ... except SettingsError as wrong:
    ...     print(str(wrong).partition("; ")[2])
    use orcid, or a kind that the data has.
    """
    for kind in settings.trusted:
        if kind not in PERSON_KINDS and not occurs(kind):
            close = get_close_matches(kind, PERSON_KINDS, 1) or PERSON_KINDS[:5]
            raise SettingsError(
                f"setting identifiers: no mention has an identifier of the kind {kind!r}, which homonym does not know; "
                f"use {', '.join(close)}, or a kind that the data has."
            )


def collect_evidence(
    encoded: Encoded, settings: Settings, pairs: UserPairs | None, warnings: list[str]
) -> MentionEvidence:
    """Read what the settings and the user's pairs ask for; pairs that cannot be used are added to `warnings`."""
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
    """The number of each mention's identifier, for each trusted kind that occurs."""
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
    """Number the documents that have several mentions in one block; such mentions are consecutive."""
    as_before = np.zeros(len(block), np.bool_)
    equal = pc.equal(document_id.slice(1), document_id.slice(0, len(block) - 1))
    as_before[1:] = equal.fill_null(False).to_numpy() & (block[1:] == block[:-1])
    shared = as_before | np.append(as_before[1:], False)
    return np.where(shared, np.cumsum(~as_before), -1)


def locate_pairs(
    mention_ids: pa.Array, block: Integers, pairs: UserPairs | None, warnings: list[str]
) -> tuple[Integers, Integers]:
    """Look up the mentions of the user's pairs: the pairs that are the same person, and those that are not.

    Pairs of different blocks are left out: see across_blocks.py.
    """
    if pairs is None:
        return np.empty((0, 2), np.int64), np.empty((0, 2), np.int64)
    if not pairs.a:
        warnings.append("the file of pairs has no rows.")
    a, b = (pc.index_in(pa.array(ids, pa.string()), mention_ids) for ids in (pairs.a, pairs.b))
    missing = [side.is_null().to_numpy(zero_copy_only=False) for side in (a, b)]
    exists = ~(missing[0] | missing[1])
    if not exists.all():
        _refuse_old_ids(pairs, missing)
        row = int(exists.argmin())
        unknown_id = (pairs.a if missing[0][row] else pairs.b)[row]
        warnings.append(
            f"{counted(int((~exists).sum()), 'pair')} ignored: there is no mention {unknown_id}, for example."
        )
    mentions = np.stack([side.fill_null(0).to_numpy().astype(np.int64) for side in (a, b)], axis=1)
    same, in_one_block = np.array(pairs.same, np.bool_), block[mentions[:, 0]] == block[mentions[:, 1]]
    usable = exists & in_one_block
    return _distinct_pairs(mentions[usable & same]), _distinct_pairs(mentions[usable & ~same])


def _refuse_old_ids(pairs: UserPairs, missing: Sequence[NDArray[np.bool_]]) -> None:
    """Fail if a missing mention is named by file and line, as older versions did."""
    for ids, unknown in zip((pairs.a, pairs.b), missing, strict=True):
        for row in np.flatnonzero(unknown).tolist():
            if _NAMED_BY_LINE.fullmatch(ids[row]):
                raise InputError(
                    f"there is no mention {ids[row]}. If it was named by file and line, as in homonym 0.6, convert the "
                    "pairs with: homonym convert FILES -o documents.jsonl --pairs PAIRS --new-pairs NEW.csv. Otherwise "
                    "remove the pair."
                )


def _distinct_pairs(pairs: Integers) -> Integers:
    """Each pair once, the smaller mention first."""
    return np.unique(np.sort(pairs, axis=1), axis=0)


def write_user_pairs(path: Path, pairs: UserPairs) -> None:
    """Write a table that `read_user_pairs` reads."""
    relations = [SAME if same else DIFFERENT for same in pairs.same]
    schema = pa.schema([(name, pa.string()) for name in COLUMNS])
    write_table(path, schema, [pa.table([list(pairs.a), list(pairs.b), relations], schema=schema)])
