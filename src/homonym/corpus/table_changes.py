"""Tables of a result with some rows replaced: row groups without any of them are copied byte by byte.

Rows of the tables of mentions and authors stay in order. New documents come after all others, so that the row groups of
these are copied: their records are most of what a result has. The update that begins an epoch puts all documents in
order again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.clustering.arrays import Integers, starts
from homonym.collection import counting
from homonym.collection.author_summaries import (
    NAMED_FACTS,
    completeness,
    initials,
    load_facts,
    summarise_with_members,
    summary_tables,
)
from homonym.collection.document_table import ROW_GROUP as DOCUMENTS_AT_ONCE
from homonym.collection.layout import PLACED_IDENTIFIERS
from homonym.collection.packed_entries import is_packed, with_packed_entries
from homonym.collection.stored_bags import ROW_GROUP as BAGS_AT_ONCE
from homonym.features.blocking import blocked_names
from homonym.io.paths import plain_path
from homonym.io.result_directory import AUTHORS, BAGS, DOCUMENTS, MENTIONS
from homonym.io.row_groups import FilePart, UnusualLayoutError, new_parts, splice_row_groups
from homonym.io.tables import (
    SMALL_ROW_GROUP,
    column_limits,
    look_up,
    parquet_writing,
    reading_result_file,
    rechunked,
    row_groups_with,
    write_table,
)
from homonym.records.fields.affiliations import is_placeholder, plain_email
from homonym.records.formats.documents import parse_document
from homonym.schema import AUTHOR_SUMMARIES, STORED_BAGS
from homonym.schema import AUTHORS as MENTION_ROWS
from homonym.schema import DOCUMENTS as DOCUMENT_ROWS
from homonym.settings import identifier_kind

# The order of the rows of each table: the first column decides which rows are replaced.
_ORDER = {
    MENTIONS: (MENTION_ROWS, ("block", "document_id", "position", "mention_id"), SMALL_ROW_GROUP),
    AUTHORS: (AUTHOR_SUMMARIES, ("author_id",), SMALL_ROW_GROUP),
    DOCUMENTS: (DOCUMENT_ROWS, ("document_id",), DOCUMENTS_AT_ONCE),
}
# Rows of which row groups are read at once when most of them change.
_ROWS_READ_AT_ONCE = 1 << 14
# Memory in bytes for the database of summaries.
_MEMORY = 1 << 29


def replace_documents(
    result: Path, folder: Path, leaving: Collection[str], rows: pa.Table, *, in_order: bool = False
) -> list[FilePart]:
    """Write the table of documents to a folder without some, and with changed and new ones.

    Changed documents stay where they are, and new ones come last, unless all are to be `in_order` again. Returns the
    parts of the file, some of which were copied.
    """
    path = result / DOCUMENTS
    if not in_order:
        try:
            with reading_result_file(path) as plain, pq.ParquetFile(plain, page_checksum_verification=True) as file:
                gone, rows = pa.array(sorted(leaving), pa.string()), rows.cast(DOCUMENT_ROWS)
                is_changed = pc.is_in(rows["document_id"], gone)
                changed, new = rows.filter(is_changed), rows.filter(pc.invert(is_changed))
                return _splice(file, path, folder / DOCUMENTS, _RowChanges(gone, changed, new, DOCUMENTS_AT_ONCE))
        except UnusualLayoutError:
            pass  # a file that another program or version has written
    return _write_in_order(result, folder, DOCUMENTS, _MergedRows.of(DOCUMENTS, sorted(leaving), rows))


def replace_bags(result: Path, folder: Path, leaving: Collection[str], rows: pa.Table) -> list[FilePart]:
    """Write the bags of documents to a folder without those of some, and with further rows, which come last.

    Returns the parts of the file, as `replace_documents` does.
    """
    path, gone = result / BAGS, pa.array(sorted(leaving), pa.string())
    try:
        with reading_result_file(path) as plain, pq.ParquetFile(plain, page_checksum_verification=True) as file:
            if not is_packed(file.schema_arrow.names):
                raise UnusualLayoutError
            changes = _RowChanges(gone, STORED_BAGS.empty_table(), rows.sort_by("document_id"), BAGS_AT_ONCE)
            return _splice(file, path, folder / BAGS, changes)
    except UnusualLayoutError:
        tables = _readable(path, _bags_again(path, gone, rows.sort_by("document_id")))
        write_table(folder / BAGS, STORED_BAGS, tables, row_group=BAGS_AT_ONCE)
        return new_parts(folder / BAGS)


def _bags_again(path: Path, gone: pa.Array, rows: pa.Table) -> Iterator[pa.Table]:
    """The bags that another program or version has written, without those of some documents, and further rows."""
    with plain_path(path) as plain, pq.ParquetFile(plain, page_checksum_verification=True) as file:
        for group in range(file.num_row_groups):
            table = with_packed_entries(file.read_row_group(group)).select(STORED_BAGS.names)
            yield _without(table, "document_id", gone).cast(STORED_BAGS)
    yield rows


class _RowChanges(NamedTuple):
    """Documents that leave, changed rows, new rows, and the largest number of rows in a row group."""

    leaving: pa.Array
    changed: pa.Table
    new: pa.Table
    at_once: int


def _splice(file: pq.ParquetFile, source: Path, target: Path, changes: _RowChanges) -> list[FilePart]:
    """Write a table with changes; row groups without any are copied. Returns the parts of the new file."""
    groups = _readable(source, _changed_groups(file, changes))  # the writer takes an OSError for one of the output
    return splice_row_groups(source, target, groups, parquet_writing(changes.new.schema))


_Group = TypeVar("_Group")


def _readable(path: Path, groups: Iterator[_Group]) -> Iterator[_Group]:
    """The same row groups; damage of the file that they are read from is an InputError."""
    with reading_result_file(path):
        yield from groups


def _changed_groups(file: pq.ParquetFile, changes: _RowChanges) -> Iterator[int | pa.Table]:
    """The row groups of a table of documents after a change: numbers of those that stay, and tables."""
    leaving, changed, new, at_once = changes
    touched = {*row_groups_with(file, "document_id", leaving)} if len(leaving) else set()
    number = file.num_row_groups
    # The last row group is filled up, so that many small updates do not make many small row groups.
    is_filled = bool(len(new)) and number > 0 and file.metadata.row_group(number - 1).num_rows < at_once
    for group in range(number - is_filled):
        yield _changed_group(file, group, leaving, changed) if group in touched else group
    if is_filled:
        new = pa.concat_tables([_changed_group(file, number - 1, leaving, changed), new]).sort_by("document_id")
    yield from rechunked([new], at_once)


def _changed_group(file: pq.ParquetFile, group: int, leaving: pa.Array, changed: pa.Table) -> pa.Table:
    """The rows of a row group that stay, and those of its documents that have changed."""
    table = file.read_row_group(group).cast(changed.schema)
    kept = table.filter(pc.invert(pc.is_in(table["document_id"], leaving)))
    own = changed.filter(pc.is_in(changed["document_id"], table["document_id"].combine_chunks()))
    return pa.concat_tables([kept, own]).sort_by("document_id")


def replace_rows(result: Path, folder: Path, name: str, leaving: Sequence[str], rows: pa.Table) -> list[FilePart]:
    """Write a table of a result to a folder without the rows of some keys, and with other rows, in order.

    The key is the block of a mention, and the id of an author. Returns the parts of the file, as `replace_documents`.
    """
    return _write_merged(result, folder, name, _MergedRows.of(name, leaving, rows))


def replace_authors(
    result: Path, folder: Path, leaving: Sequence[str], rows: pa.Table, names: Mapping[str, str | None]
) -> list[FilePart]:
    """Write the table of authors to a folder with other rows, and with new names of some authors in lists of others.

    Returns the parts of the file, as `replace_documents`.
    """
    return _write_merged(result, folder, AUTHORS, _MergedRows.of(AUTHORS, leaving, rows, names))


def _with_names(authors: pa.Table, names: Mapping[str, str | None]) -> pa.Table:
    """Rows of the table of authors with new names of some co-authors."""
    lists = authors["coauthors"].combine_chunks()
    entries = lists.flatten()
    place = pc.index_in(entries.field("author_id"), pa.array(list(names), pa.string()))
    is_renamed = pc.is_valid(place)
    if not pc.any(is_renamed, min_count=0).as_py():
        return authors
    new = pa.array(list(names.values()), pa.string()).take(place.drop_null())
    fields = {one.name: entries.field(one.name) for one in entries.type}
    fields["name"] = pc.replace_with_mask(fields["name"], is_renamed, new)
    renamed = pa.StructArray.from_arrays(list(fields.values()), fields=list(entries.type))
    begin = pa.array(starts(pc.fill_null(pc.list_value_length(lists), 0).to_numpy()), pa.int32())
    column = pa.ListArray.from_arrays(begin, renamed, type=lists.type, mask=pc.is_null(lists))
    return authors.set_column(authors.column_names.index("coauthors"), authors.schema.field("coauthors"), column)


class _MergedRows(NamedTuple):
    """Rows that replace those of the keys `gone`; `order` are the columns by which a table is ordered, the key first.

    `names` are new names of authors in lists of co-authors, for rows that stay.
    """

    order: Sequence[str]
    gone: pa.Array
    added: pa.Table
    names: Mapping[str, str | None]

    @classmethod
    def of(cls, name: str, leaving: Sequence[str], rows: pa.Table, names: Mapping[str, str | None] = {}) -> _MergedRows:
        """The rows of a table of a result; the keys of all of them leave."""
        schema, order, _ = _ORDER[name]
        gone = pa.array(sorted({*leaving, *pc.unique(rows[order[0]]).to_pylist()}), pa.string())
        added = rows.select(schema.names).cast(schema).sort_by([(one, "ascending") for one in order])
        return cls(order, gone, added, names)

    @property
    def key(self) -> str:
        """The column that decides which rows leave."""
        return self.order[0]

    def kept(self, table: pa.Table) -> pa.Table:
        """Rows of the table, with new names."""
        return _with_names(table, self.names) if self.names else table


def _write_merged(result: Path, folder: Path, name: str, rows: _MergedRows) -> list[FilePart]:
    """Write a table with other rows. Row groups without any of them are copied, unless these are only a few.

    Returns the parts of the new file, as `replace_documents`.
    """
    path, (schema, _, at_once) = result / name, _ORDER[name]
    with reading_result_file(path) as plain, pq.ParquetFile(plain, page_checksum_verification=True) as file:
        if _is_in_order(file, rows.key) and _is_mostly_unchanged(ranges := _added_ranges(file, rows)):
            ranges = _with_renamed(file, rows, ranges)
            if _is_mostly_unchanged(ranges):
                with suppress(UnusualLayoutError):  # a file that another program or version has written
                    groups = _readable(path, _evenly_divided(_merged(file, rows, ranges), at_once))
                    return splice_row_groups(path, folder / name, groups, parquet_writing(schema))
    return _write_in_order(result, folder, name, rows)


def _is_mostly_unchanged(ranges: Sequence[tuple[int, int] | None]) -> bool:
    """Whether copying the row groups in which nothing changes is faster than writing a whole table."""
    return 2 * ranges.count(None) > len(ranges)


def _write_in_order(result: Path, folder: Path, name: str, rows: _MergedRows) -> list[FilePart]:
    """Write a whole table with other rows in order; returns the parts of the file."""
    schema, _, row_group = _ORDER[name]
    write_table(folder / name, schema, _all_merged(result / name, rows), row_group=row_group)
    return new_parts(folder / name)


def _all_merged(path: Path, rows: _MergedRows) -> Iterator[pa.Table]:
    """All rows of a file that stay, merged with further rows, in order."""
    with reading_result_file(path) as plain, pq.ParquetFile(plain, page_checksum_verification=True) as file:
        if _is_in_order(file, rows.key):
            yield from _merged_at_once(file, rows, _added_ranges(file, rows))
            return
        kept = rows.kept(_without(file.read(), rows.key, rows.gone))  # another program has written it
        yield pa.concat_tables([kept, rows.added]).sort_by([(one, "ascending") for one in rows.order])


def _added_ranges(file: pq.ParquetFile, rows: _MergedRows) -> list[tuple[int, int] | None]:
    """Which of the added rows each row group of a table in order gets; None if nothing about it changes.

    The last row group also gets the rows that come after all others. New names of co-authors are no change here.
    """
    number, done, ranges = file.num_row_groups, 0, list[tuple[int, int] | None]()
    keys, gone = rows.added[rows.key].to_pylist(), rows.gone.to_pylist()
    for group in range(number):
        limits = column_limits(file, group, rows.key)
        assert limits is not None
        lowest, highest = (one.decode() for one in limits)
        end = bisect_right(keys, highest, done) if group < number - 1 else len(keys)
        leaves = bisect_left(gone, lowest) < bisect_right(gone, highest)
        ranges.append((done, end) if end > done or leaves else None)
        done = end
    return ranges


def _with_renamed(
    file: pq.ParquetFile, rows: _MergedRows, ranges: Sequence[tuple[int, int] | None]
) -> list[tuple[int, int] | None]:
    """The same ranges, where row groups with new names of co-authors change, too."""
    renamed = _groups_with_coauthors(file, rows.names) if rows.names else frozenset[int]()
    return [(0, 0) if one is None and group in renamed else one for group, one in enumerate(ranges)]


def _merged(
    file: pq.ParquetFile, rows: _MergedRows, ranges: Sequence[tuple[int, int] | None]
) -> Iterator[int | pa.Table]:
    """The row groups of a table after a change: numbers of those that stay, and tables in place of others."""
    for group, added in enumerate(ranges):
        if added is None:
            yield group
        else:
            begin, end = added
            table = rows.kept(file.read_row_group(group))
            yield _with_rows(table, rows.key, rows.gone, rows.added.slice(begin, end - begin))
    if not ranges:
        yield rows.added


def _merged_at_once(
    file: pq.ParquetFile, rows: _MergedRows, ranges: Sequence[tuple[int, int] | None]
) -> Iterator[pa.Table]:
    """The rows of the same row groups, many read at once, because each read has a fixed cost."""
    groups, size = list[int](), 0
    for group in range(len(ranges)):
        groups.append(group)
        size += file.metadata.row_group(group).num_rows
        if size < _ROWS_READ_AT_ONCE and group < len(ranges) - 1:
            continue
        table = rows.kept(file.read_row_groups(groups))
        if added := [one for one in (ranges[number] for number in groups) if one]:
            begin, end = added[0][0], added[-1][1]
            table = _with_rows(table, rows.key, rows.gone, rows.added.slice(begin, end - begin))
        yield table
        groups, size = [], 0
    if not ranges:
        yield rows.added


def _groups_with_coauthors(file: pq.ParquetFile, names: Collection[str]) -> frozenset[int]:
    """The row groups of a table of authors that have some authors in lists of co-authors."""
    wanted, found = pa.array(list(names), pa.string()), set[int]()
    for group in range(file.num_row_groups):
        table = file.read_row_group(group, columns=["coauthors.list.element.author_id"])
        known = pc.struct_field(pc.list_flatten(table["coauthors"].combine_chunks()), "author_id")
        if pc.any(pc.is_in(known, wanted), min_count=0).as_py():
            found.add(group)
    return frozenset(found)


# Changed row groups that are divided together.
_GROUPS_AT_ONCE = 32


def _evenly_divided(groups: Iterable[int | pa.Table], rows: int) -> Iterator[int | pa.Table]:
    """The same row groups, where tables that follow each other are divided into equal parts of about `rows` rows.

    So a row group that gets a few rows is not followed by one of these rows alone.

    >>> [one if isinstance(one, int) else len(one) for one in _evenly_divided([0, pa.table({"x": range(7)}), 2], 4)]
    [0, 3, 4, 2]
    """
    waiting = list[pa.Table]()
    for one in groups:
        if isinstance(one, int):
            yield from _equal_parts(waiting, rows)
            waiting = []
            yield one
        else:
            waiting.append(one)
            if len(waiting) == _GROUPS_AT_ONCE:
                yield from _equal_parts(waiting, rows)
                waiting = []
    yield from _equal_parts(waiting, rows)


def _equal_parts(tables: Sequence[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The rows of tables in equal parts of about `rows` rows."""
    if not any(map(len, tables)):
        return
    together = pa.concat_tables(tables)
    bounds = np.linspace(0, len(together), max(1, round(len(together) / rows)) + 1).astype(np.int64).tolist()
    for begin, end in pairwise(bounds):
        yield together.slice(begin, end - begin).combine_chunks()


def _without(table: pa.Table, key: str, gone: pa.Array) -> pa.Table:
    return table.filter(pc.invert(pc.is_in(table[key], gone))) if len(gone) else table


def _with_rows(table: pa.Table, key: str, gone: pa.Array, added: pa.Table) -> pa.Table:
    """A table in the order of a key without some keys, and with the rows of others, which it does not have then.

    >>> table = pa.table({"key": ["a", "a", "b", "d"], "row": [1, 2, 3, 4]})
    >>> rows = _with_rows(table, "key", pa.array(["b", "c", "d"]), pa.table({"key": ["b", "b", "c"], "row": [5, 6, 7]}))
    >>> rows.to_pydict()
    {'key': ['a', 'a', 'b', 'b', 'c'], 'row': [1, 2, 5, 6, 7]}
    """
    code = pc.index_in(table[key], gone)
    kept = np.flatnonzero(pc.is_null(code).to_numpy())
    if len(kept) == len(table) and not len(added):
        return table
    # Kept row r gets the number 2r + 1; a row that is inserted before row r gets 2r.
    rank = np.concatenate([2 * kept + 1, 2 * _places_in(table[key], code, added[key], gone)])
    row = np.concatenate([kept, np.arange(len(table), len(table) + len(added))])
    return pa.concat_tables([table, added]).combine_chunks().take(pa.array(row[np.argsort(rank, kind="stable")]))


def _places_in(known: pa.ChunkedArray, code: pa.ChunkedArray, keys: pa.ChunkedArray, gone: pa.Array) -> Integers:
    """The row of `known`, which is in order, before which each of `keys` is inserted.

    `code` has the place of each known key in `gone`.
    """
    first: Integers = np.full(len(gone), -1)
    leaving = np.flatnonzero(pc.is_valid(code).to_numpy())[::-1]
    first[code.take(pa.array(leaving)).to_numpy()] = leaving  # of several rows of one key, the first one stays
    own = pc.index_in(keys, gone).to_numpy()
    for one in np.unique(own[first[own] < 0]).tolist():
        first[one] = bisect_left(range(len(known)), gone[one].as_py(), key=lambda row: known[row].as_py())
    places: Integers = first[own]
    return places


def _is_in_order(file: pq.ParquetFile, key: str) -> bool:
    """Whether the row groups of a file follow each other in the order of a column."""
    last = b""
    for number in range(file.num_row_groups):
        limits = column_limits(file, number, key)
        if limits is None or limits[0] < last:
            return False
        last = limits[1]
    return True


def summaries_of(
    folder: Path,
    rows: pa.Table,
    blocking: str,
    work: Path,
    names: Mapping[str, str],
    known: Mapping[str, str | None],
    identifiers: Mapping[str, Mapping[str, str]] = {},
) -> pa.Table:
    """The rows of the table of authors for some authors; `rows` has all their mentions.

    `folder` has the new tables of mentions and documents. `names` has the names that users gave to authors, and `known`
    the names of other authors; further names are looked up in the table of authors. `identifiers` has the identifiers
    of some mentions by kind; those of other mentions are read from their documents.
    """
    if not len(rows):
        return AUTHOR_SUMMARIES.empty_table()
    documents = look_up(folder / DOCUMENTS, "document_id", pc.unique(rows["document_id"]), _READ)
    people = _People.on_documents(folder, rows, names, known)
    facts = _facts(rows, people, documents, blocking)
    return _summarise(facts, _identifier_rows(folder, rows, identifiers), documents, people, work)


def with_new_coauthors(
    authors: pa.Table, folder: Path, rows: pa.Table, work: Path, known: Mapping[str, str | None]
) -> pa.Table:
    """Rows of the table of authors with new lists of co-authors, if nothing else about these authors has changed.

    `rows` has all mentions of the authors; `folder` and `known` are as in `summaries_of`.
    """
    authors = authors.sort_by("author_id").cast(AUTHOR_SUMMARIES)
    names = dict(zip(authors["author_id"].to_pylist(), authors["name"].to_pylist(), strict=True))
    people = _People.on_documents(folder, rows, names, known)
    facts = people.bare_facts()
    found = _summarise(facts, PLACED_IDENTIFIERS.empty_table(), None, people, work)
    number = authors.column_names.index("coauthors")
    return authors.set_column(number, AUTHOR_SUMMARIES.field("coauthors"), found["coauthors"])


class _People(NamedTuple):
    """Authors `own`, and the other authors of their documents.

    `members` has the author and the document of all mentions of these documents, and `names` the names that are known.
    The number of an author is its place in `numbers`.
    """

    own: pa.Array
    members: pa.Table
    numbers: pa.Array
    names: dict[str, str | None]

    @classmethod
    def on_documents(
        cls, folder: Path, rows: pa.Table, names: Mapping[str, str | None], known: Mapping[str, str | None]
    ) -> _People:
        """The authors of rows, and those on their documents; see `summaries_of`."""
        own, columns = pc.unique(rows["author_id"]), ["document_id", "author_id"]
        members = look_up(folder / MENTIONS, "document_id", pc.unique(rows["document_id"]), columns)
        every = pc.unique(members["author_id"])
        others = every.filter(pc.invert(pc.is_in(every, own)))
        missing = [one for one in others.to_pylist() if one not in known]
        found = look_up(folder / AUTHORS, "author_id", pa.array(missing, pa.string()), ["author_id", "name"])
        shown = {**known, **dict(zip(*found.to_pydict().values(), strict=True)), **names}
        fixed = {one: shown.get(one) for one in (*others.to_pylist(), *names)}
        return cls(own, members, pa.concat_arrays([own, others]).sort(), fixed)

    def bare_facts(self) -> pa.Table:
        """Facts of the authors themselves that have only the author and the document."""
        members = self.members.filter(pc.is_in(self.members["author_id"], self.own))
        columns = {field.name: pa.nulls(len(members), field.type) for field in NAMED_FACTS} | {
            "place": pa.array(np.arange(len(members))),
            "author": pc.index_in(members["author_id"], self.numbers),
            "document_id": members["document_id"],
        }
        return pa.table(columns).select(NAMED_FACTS.names).cast(NAMED_FACTS)

    def pairs(self) -> tuple[Integers, Integers]:
        """The authors of documents and the documents, both as numbers, ordered by author and document."""
        author = pc.index_in(self.members["author_id"], self.numbers).to_numpy().astype(np.int64)
        document = self.members["document_id"].combine_chunks().dictionary_encode().indices.to_numpy()
        pairs = np.unique(author << 32 | document)
        return pairs >> 32, pairs & ((1 << 32) - 1)


_READ = [
    "document_id", "year", "authors.list.element.position", "authors.list.element.affiliations.list.element"
]  # fmt: skip


def _facts(rows: pa.Table, people: _People, documents: pa.Table, blocking: str) -> pa.Table:
    """What the queries need of each mention."""
    cache = blocked_names(blocking)
    year = dict(zip(documents["document_id"].to_pylist(), documents["year"].to_pylist(), strict=True))
    encoded = [found.encoded if (found := cache[name]) else None for name in rows["name"].to_pylist()]
    parsed = pa.array(encoded, pa.string())
    facts = {
        "place": pa.array(np.arange(len(rows))),
        "author": pc.index_in(rows["author_id"], people.numbers),
        "document_id": rows["document_id"],
        "position": rows["position"],
        "name": rows["name"],
        "completeness": completeness(parsed),
        "initials": initials(parsed),
        "year": pa.array([year.get(one) for one in rows["document_id"].to_pylist()], pa.int32()),
        "author_confidence": rows["author_confidence"],
    }
    return pa.table(facts).select(NAMED_FACTS.names).cast(NAMED_FACTS)


def _identifier_rows(folder: Path, rows: pa.Table, known: Mapping[str, Mapping[str, str]]) -> pa.Table:
    """The identifiers of mentions, one of each kind, as in a run (see collection/counting.py)."""
    ids = dict(known)
    mention_ids = rows["mention_id"].to_pylist()
    unknown = rows.filter(pa.array([mention not in ids for mention in mention_ids], pa.bool_()))
    if len(unknown):
        ids.update(read_identifiers(folder, pc.unique(unknown["document_id"])))
    found = [
        (place, kind, value)
        for place, mention in enumerate(mention_ids)
        for kind, value in sorted(ids.get(mention, {}).items())
    ]
    schema = PLACED_IDENTIFIERS
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in found], schema=schema)


def read_identifiers(folder: Path, documents: pa.Array) -> dict[str, dict[str, str]]:
    """The identifiers of the mentions of some documents, by mention id."""
    if (folder / BAGS).exists():
        return _stored_identifiers(look_up(folder / BAGS, "document_id", documents, ["document_id", "position", "ids"]))
    rows = look_up(folder / DOCUMENTS, "document_id", documents, ["document_id", "record"])
    found = {}
    for document_id, record in zip(rows["document_id"].to_pylist(), rows["record"].to_pylist(), strict=True):
        document, _ = parse_document(record.encode())
        for author in document.authors:
            found[f"{document_id}#{author.position}"] = _of_author(author.ids, author.emails)
    return found


def _stored_identifiers(rows: pa.Table) -> dict[str, dict[str, str]]:
    """The same from the bags of documents."""
    found: dict[str, dict[str, str]] = {}
    for document_id, positions, ids in zip(*(column.to_pylist() for column in rows.columns), strict=True):
        found |= {f"{document_id}#{position}": {} for position in positions}
        for one in ids:
            found[f"{document_id}#{one['slot'] - 1}"][one["kind"]] = one["id"]
    return found


def _of_author(ids: Mapping[str, str], emails: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    named = [text for text in map(plain_email, emails) if not is_placeholder(text)]
    pairs = [*ids.items(), *([("email", min(named))] if named else [])]
    for kind, value in pairs:
        kind = identifier_kind(kind)
        found[kind] = min(found.get(kind, value), value)
    return found


def _summarise(
    facts: pa.Table, identifiers: pa.Table, documents: pa.Table | None, people: _People, work: Path
) -> pa.Table:
    """The summaries of some people; without documents, they have no affiliations."""
    numbers, own, names = people.numbers, people.own, people.names
    path = work / "some_documents.parquet" if documents is not None else None
    if documents is not None:
        pq.write_table(documents.select(["document_id", "authors"]), path)
    connection = counting.connect(work, _MEMORY, 1, in_memory=True)
    try:
        load_facts(connection, [facts], identifiers, path)
        every = numbers.to_pylist()
        connection.register("author_numbers", pa.table({"author": np.arange(len(every)), "author_id": numbers}))
        summarise_with_members(connection, *people.pairs())
        connection.execute(
            """INSERT INTO authors BY NAME SELECT author, author_id FROM author_numbers
               WHERE author NOT IN (SELECT author FROM authors)"""
        )
        fixed = [(number, names[one]) for number, one in enumerate(every) if one in names]
        schema = pa.schema([("author", pa.int64()), ("name", pa.string())])
        given = pa.table([list(column) for column in zip(*fixed, strict=True)] or [[], []], schema=schema)
        connection.register("given_names", given)
        connection.execute("UPDATE authors SET name = g.name FROM given_names g WHERE g.author = authors.author")
        connection.register("chosen", pa.table({"author": pc.index_in(own, numbers).cast(pa.int64())}))

        def fetch(table: str, columns: str, order: str, first: int, following: int) -> pa.Table:
            chosen = f"author >= {first} AND author < {following} AND author IN (SELECT author FROM chosen)"
            return connection.sql(f"SELECT {columns} FROM {table} WHERE {chosen} ORDER BY {order}").to_arrow_table()

        return pa.concat_tables(summary_tables(fetch, [(0, len(every))]))
    finally:
        connection.close()
