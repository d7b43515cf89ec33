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
    """The identifiers that link mentions of different blocks, and the authors of the result that have them.

    `blocks` are those of these authors, and of the authors that an update works on.
    """

    identifiers: set[Identifier]
    authors: set[str]
    blocks: set[str]


def find_links(result: Path, blocks: Mapping[Identifier, Set[str]], authors: Set[str], former: pa.Table) -> BlockLinks:
    """The identifiers that are on mentions of several blocks, and the authors of the result that have them.

    `authors` are those that an update works on, and `blocks` has, for each identifier, its blocks among their mentions.
    `former` are rows of the result, as in `_blocks_by_author`.
    """
    having = _authors_having(result, blocks.keys())
    of_author = _blocks_by_author(result, {*authors}.union(*having.values()), former)
    shared = {
        one
        for one, own in blocks.items()
        if len(set(own).union(*(of_author[author] for author in having.get(one, ())))) > 1
    }
    linked = {author for one in shared for author in having.get(one, ())}
    return BlockLinks(shared, linked, set[str]().union(*(of_author[author] for author in authors | linked)))


def _blocks_by_author(result: Path, authors: Set[str], former: pa.Table) -> dict[str, set[str]]:
    """The blocks that have mentions of each of some authors.

    `former` are rows of the result. An author who has all mentions there is not looked for in the table of mentions.
    """
    rows = former.select(["author_id", "block"])
    others = authors - _complete_authors(result, authors, rows)
    if others:
        wanted = pa.array(sorted(others, key=str.encode), pa.string())
        further = look_up(result / MENTIONS, "author_id", wanted, rows.column_names)
        rows = pa.concat_tables([rows, further.cast(rows.schema)])
    found: dict[str, set[str]] = defaultdict(set)
    pairs = rows.group_by(rows.column_names).aggregate([])
    for author, block in zip(pairs["author_id"].to_pylist(), pairs["block"].to_pylist(), strict=True):
        if author in authors:
            found[author].add(block)
    return found


def _complete_authors(result: Path, authors: Set[str], rows: pa.Table) -> set[str]:
    """Those of some authors all of whose mentions are among these rows of the result."""
    known = rows["author_id"].value_counts()
    number = dict(zip(known.field("values").to_pylist(), known.field("counts").to_pylist(), strict=True))
    wanted = pa.array(sorted(authors & number.keys(), key=str.encode), pa.string())
    table = look_up(result / AUTHORS, "author_id", wanted, ["author_id", "mentions"])
    sizes = zip(table["author_id"].to_pylist(), table["mentions"].to_pylist(), strict=True)
    return {author for author, mentions in sizes if number[author] == mentions}


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


def authors_of_several_blocks(result: Path, authors: Set[str], former: pa.Table) -> set[str]:
    """Those of some authors of a result that have mentions of several blocks; `former` as in `_blocks_by_author`."""
    return {author for author, blocks in _blocks_by_author(result, authors, former).items() if len(blocks) > 1}


def joined_clusters(author_id: pa.ChunkedArray, block: pa.ChunkedArray, cluster: pa.ChunkedArray) -> Integers:
    """A number for each row; rows of one cluster, or of one author of the result, have the same number.

    A row has a cluster, or an author, or both. An author with several clusters in one block was divided: its rows are
    joined by clusters only. The number is the first row of all that are connected.

    >>> blocks = pa.chunked_array([["x", "x", "y", "y", "y"]])
    >>> clusters = pa.chunked_array([[0, 0, None, None, 5]])
    >>> joined_clusters(pa.chunked_array([["a", None, "a", "b", "b"]]), blocks, clusters).tolist()
    [0, 0, 0, 3, 3]
    >>> clusters = pa.chunked_array([[0, 0, 2, 3, 3]])
    >>> joined_clusters(pa.chunked_array([["a", "a", "b", "b", "c"]]), blocks, clusters).tolist()
    [0, 0, 2, 3, 3]
    """
    author, number = codes_of(author_id), codes_of(cluster)
    author[np.isin(author, _divided_authors(author, codes_of(block), number))] = -1
    edges = [_to_first(one) for one in (author, number)]
    left, right = (np.concatenate(side) for side in zip(*edges, strict=True))
    return connected_components(len(author), left, right)


def codes_of(column: pa.ChunkedArray) -> Integers:
    """A number for each value, −1 for null."""
    coded = column.combine_chunks().dictionary_encode()
    codes: Integers = pc.fill_null(coded.indices, -1).to_numpy().astype(np.int64)
    return codes


def _divided_authors(author: Integers, block: Integers, cluster: Integers) -> Integers:
    """The authors that have several clusters in one block."""
    chosen = (author >= 0) & (cluster >= 0)
    author, block, cluster = author[chosen], block[chosen], cluster[chosen]
    blocks, clusters = int(block.max(initial=0)) + 1, int(cluster.max(initial=0)) + 1
    pairs, place = np.unique(author * blocks + block, return_inverse=True)
    pair = np.unique(place * clusters + cluster) // clusters
    divided: Integers = pairs[pair[1:][np.diff(pair) == 0]] // blocks
    return divided


def _to_first(code: Integers) -> tuple[Integers, Integers]:
    """Pairs of rows: the first row of each code that is not negative, and every other row of it."""
    rows = np.flatnonzero(code >= 0)
    _, first, inverse = np.unique(code[rows], return_index=True, return_inverse=True)
    return rows[first][inverse], rows


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
