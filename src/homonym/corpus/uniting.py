"""Authors of several blocks in an update: which other blocks are affected, and which authors are united.

The rules are those of a run (see constraints/across_blocks.py). Authors that were united before stay united, even if
the mentions that linked them have left. With `assign`, two authors of the result are never united.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.clustering.arrays import Integers, connected_components
from homonym.collection.layout import PLACED_IDENTIFIERS
from homonym.constraints.across_blocks import CANDIDATE_ROWS, UnitedAuthors, unite_authors
from homonym.constraints.evidence import UserPairs
from homonym.io.result_directory import AUTHORS, MENTIONS
from homonym.io.tables import look_up, reading_result_file

# Maximum number of authors that are read for one identifier. An identifier of more authors is a placeholder; it links
# nothing.
MAX_AUTHORS = 200

Identifier = tuple[str, str]
"""The kind and the value of an identifier."""


class BlockLinks(NamedTuple):
    """The identifiers that link mentions of different blocks, and the authors of the result that have them."""

    identifiers: set[Identifier]
    authors: set[str]


def shared_identifiers(result: Path, blocks: Mapping[Identifier, Set[str]]) -> BlockLinks:
    """The identifiers that are on mentions of several blocks, and the authors of the result that have them.

    `blocks` has, for each identifier, its blocks among the mentions that an update works on.
    """
    having = _authors_having(result, blocks.keys())
    of_author = _blocks_by_author(result, {author for authors in having.values() for author in authors})
    shared = {
        one
        for one, own in blocks.items()
        if len(set(own).union(*(of_author[author] for author in having.get(one, ())))) > 1
    }
    return BlockLinks(shared, {author for one in shared for author in having.get(one, ())})


def blocks_of_authors(result: Path, authors: Set[str]) -> set[str]:
    """The blocks that have mentions of some authors."""
    return set[str]().union(*_blocks_by_author(result, authors).values())


def _blocks_by_author(result: Path, authors: Set[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    if authors:
        wanted = pa.array(sorted(authors, key=str.encode), pa.string())
        rows = look_up(result / MENTIONS, "author_id", wanted, ["author_id", "block"])
        for author, block in set(zip(rows["author_id"].to_pylist(), rows["block"].to_pylist(), strict=True)):
            found[author].add(block)
    return found


def _authors_having(result: Path, identifiers: Set[Identifier]) -> dict[Identifier, list[str]]:
    """The authors of a result with each of these identifiers, the first MAX_AUTHORS."""
    found: dict[Identifier, list[str]] = defaultdict(list)
    if not identifiers:
        return found
    wanted = pa.array(sorted({value for _, value in identifiers}), pa.string())
    with reading_result_file(result / AUTHORS) as path, pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=["author_id", "ids"]).combine_chunks()
            for author, identifier in _having(table, wanted):
                if identifier in identifiers and len(found[identifier]) < MAX_AUTHORS:
                    found[identifier].append(author)
    return found


def _having(table: pa.Table, values: pa.Array) -> Iterable[tuple[str, Identifier]]:
    """The authors with an identifier of one of these values, and the identifier."""
    ids = table["ids"].combine_chunks()
    flat, author = pc.list_flatten(ids), table["author_id"].take(pc.list_parent_indices(ids))
    value = pc.struct_field(flat, "id")
    chosen = pc.is_in(value, values)
    columns = author, pc.struct_field(flat, "kind"), value
    authors, kinds, texts = (column.filter(chosen).to_pylist() for column in columns)
    return zip(authors, zip(kinds, texts, strict=True), strict=True)


def authors_of_several_blocks(result: Path, authors: Set[str]) -> set[str]:
    """Those of some authors of a result that have mentions of several blocks."""
    return {author for author, blocks in _blocks_by_author(result, authors).items() if len(blocks) > 1}


def joined_clusters(author_id: pa.ChunkedArray, block: pa.ChunkedArray, cluster: Sequence[int | None]) -> Integers:
    """A number for each row; rows of one cluster, or of one author of the result, have the same number.

    A row has a cluster, or an author, or both. An author with several clusters in one block was divided: its rows are
    joined by clusters only. The number is the first row of all that are connected.

    >>> blocks = pa.chunked_array([["x", "x", "y", "y", "y"]])
    >>> joined_clusters(pa.chunked_array([["a", None, "a", "b", "b"]]), blocks, [0, 0, None, None, 5]).tolist()
    [0, 0, 0, 3, 3]
    >>> joined_clusters(pa.chunked_array([["a", "a", "b", "b", "c"]]), blocks, [0, 0, 2, 3, 3]).tolist()
    [0, 0, 2, 3, 3]
    """
    authors = author_id.to_pylist()
    divided = _divided_authors(authors, block.to_pylist(), cluster)
    keys: dict[tuple[str, object], int] = {}
    left, right = [], []
    for row, (author, number) in enumerate(zip(authors, cluster, strict=True)):
        for key in (("author", None if author in divided else author), ("cluster", number)):
            if key[1] is not None and (first := keys.setdefault(key, row)) != row:
                left.append(first)
                right.append(row)
    return connected_components(len(cluster), np.array(left, np.int64), np.array(right, np.int64))


def _divided_authors(
    authors: Sequence[str | None], blocks: Sequence[str], cluster: Sequence[int | None]
) -> set[str | None]:
    """The authors that have several clusters in one block."""
    known: dict[tuple[str | None, str], int] = {}
    return {
        author
        for author, block, number in zip(authors, blocks, cluster, strict=True)
        if author is not None and number is not None and known.setdefault((author, block), number) != number
    }


class Candidates(NamedTuple):
    """Rows that may be united, with the columns of mentions.parquet, and the identifiers of their mentions by kind.

    `group` is the author of each row, by number. `known` has the groups that are authors of the result; no two of them
    are united.
    """

    rows: pa.Table
    group: Integers
    identifiers: Mapping[str, Mapping[str, str]]
    kinds: Sequence[str]
    known: Set[int]


def unite_groups(found: Candidates, pairs: UserPairs | None, trusted: Sequence[str]) -> UnitedAuthors:
    """Unite groups of different blocks. The returned author ids are numbers of groups, as text."""
    rows, number = found.rows, len(found.rows)
    columns = {
        "place": pa.array(np.arange(number)),
        "year": pa.nulls(number, pa.int32()),
        "author_id": pa.array([str(one) for one in found.group.tolist()], pa.string()),
    } | {name: rows[name] for name in ("mention_id", "document_id", "name", "block", "constraint", "confidence")}
    table = pa.table(columns).select(CANDIDATE_ROWS.names).cast(CANDIDATE_ROWS)
    ids = [
        (place, kind, value)
        for place, mention in enumerate(rows["mention_id"].to_pylist())
        for kind, value in found.identifiers.get(mention, {}).items()
        if kind in found.kinds
    ]
    places, kinds, values = zip(*ids, strict=True) if ids else ((), (), ())
    identifiers = pa.table([list(places), list(kinds), list(values)], schema=PLACED_IDENTIFIERS)
    return unite_authors(table, identifiers, pairs, trusted, {str(one) for one in found.known})
