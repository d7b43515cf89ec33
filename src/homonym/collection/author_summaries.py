"""The authors of a result directory: names, years, affiliations, co-authors and identifiers of each author.

The queries are SQL that DuckDB and Spark both understand, as in duplicates.py. They need four tables, in which authors
and documents are numbers, because these are joined several times as fast as texts:

- `facts`: schema FACTS, one row per mention of the result;
- `author_numbers`: author and author_id; the numbers rise with the ids, and may have gaps;
- `mention_ids`: place, kind and id, the identifiers of mentions;
- `mention_affiliations`: document, position and affiliation: a text, or a number that rises with the text.

They make one table for each column of lists, and `authors` for all other columns. In DuckDB, co-authors are not counted
by a query (see coauthors.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homonym.clustering.arrays import Integers
from homonym.collection.coauthors import first_partners
from homonym.collection.counting import Queries
from homonym.collection.document_table import WrittenAffiliations
from homonym.collection.duplicates import Database
from homonym.collection.statistics import sql_files
from homonym.io.tables import SMALL_ROW_GROUP, write_table
from homonym.runtime.thread_pool import map_in_order, meanwhile
from homonym.schema import AUTHOR_SUMMARIES

if TYPE_CHECKING:
    import duckdb

FACTS = pa.schema(
    [
        ("place", pa.int64()), ("author", pa.int64()), ("document", pa.int64()), ("position", pa.int32()),
        ("name", pa.string()), ("completeness", pa.int32()), ("initials", pa.string()), ("year", pa.int32()),
        ("author_confidence", pa.float64()),
    ]
)  # fmt: skip
"""What the queries need of a mention; `place` is its row in the result."""

# Number of affiliations and of co-authors in the table.
MOST = 10
# Documents with more authors do not count for co-authors: the number of pairs grows with the square.
MAX_COAUTHORS = 100

# For each table of lists its columns, besides author, and the order of the rows of an author.
LISTS: dict[str, tuple[tuple[str, ...], str]] = {
    "variants": (("name", "count"), "count DESC, name"),
    "affiliations": (("affiliation", "count"), "count DESC, affiliation"),
    "coauthors": (("author_id", "name", "count"), "count DESC, other"),
    "ids": (("kind", "id", "count"), "count DESC, kind, id"),
}
# The columns of `authors`.
SINGLE = tuple(name for name in AUTHOR_SUMMARIES.names if name not in LISTS)


def completeness(parsed_name: pa.Array) -> pa.Array:
    """How complete names are: first the number of given names that are written out, then that of all given names.

    >>> from homonym.names.parse import encode_name, parse_name
    >>> names = ["Doe, J.", "Doe, J. W.", "Doe, Jane", "Doe, Jane W.", "Doe, Jane Wilma", "Doe"]
    >>> completeness(pa.array([encode_name(parse_name(name)) for name in names])).to_pylist()
    [1, 2, 101, 102, 202, 0]
    """
    coded = parsed_name.dictionary_encode()  # names of one block are often the same
    given = _given_names(coded.dictionary)
    written_out, all_names = (pc.count_substring_regex(given, word) for word in ("[^ ]{2,}", "[^ ]+"))
    return pc.add(pc.multiply(written_out, 100), all_names).cast(pa.int32()).take(coded.indices)


def initials(parsed_name: pa.Array) -> pa.Array:
    """The initials of the first two given names.

    >>> from homonym.names.parse import encode_name, parse_name
    >>> names = ["Doe, J.", "Doe, Jane W. A.", "Doe"]
    >>> initials(pa.array([encode_name(parse_name(name)) for name in names])).to_pylist()
    ['J', 'JW', '']
    """
    coded = parsed_name.dictionary_encode()
    letters = pc.replace_substring_regex(_given_names(coded.dictionary), r"([^ ])[^ ]*( |$)", r"\1")
    return pc.utf8_slice_codeunits(letters, 0, 2).take(coded.indices)


def _given_names(parsed_name: pa.Array) -> pa.Array:
    return pc.extract_regex(parsed_name, r"^[^|]*\|[^|]*\|(?P<given>[^|]*)\|").field("given")


def summarise_authors(database: Database, find_partners: Callable[[], None] | None = None) -> None:
    """Make all tables of this module; `find_partners` makes `partners` in place of the query for it."""
    p = database.prefix
    database.save(
        "variants",
        f"""SELECT author, name, count(*) AS count, max(completeness) AS completeness,
                   coalesce(max(initials), '') AS initials FROM {p}facts
            WHERE name IS NOT NULL GROUP BY author, name""",
    )
    _choose_names(database)
    database.save(
        "totals",
        f"""SELECT author, count(*) AS mentions, count(DISTINCT document) AS documents, min(year) AS first_year,
                   max(year) AS last_year, max(author_confidence) AS confidence FROM {p}facts GROUP BY author""",
    )
    database.save(
        "authors",
        f"""SELECT n.author_id, d.name, t.* FROM {p}totals t JOIN {p}author_numbers n ON n.author = t.author
            LEFT JOIN {p}display_names d ON d.author = t.author""",
    )
    database.save(
        "affiliations",
        _first(
            f"""SELECT f.author, a.affiliation, count(DISTINCT f.place) AS count FROM {p}facts f
                JOIN {p}mention_affiliations a ON a.document = f.document AND a.position = f.position
                GROUP BY f.author, a.affiliation""",
            "affiliation",
        ),
    )
    database.save(
        "ids",
        f"""SELECT f.author, i.kind, i.id, count(*) AS count FROM {p}facts f
            JOIN {p}mention_ids i ON i.place = f.place GROUP BY f.author, i.kind, i.id""",
    )
    if find_partners:
        find_partners()
    else:
        _query_partners(database)
    database.define(
        "coauthors",
        f"""SELECT c.author, c.other, o.author_id, o.name, c.count FROM {p}partners c
            JOIN {p}authors o ON o.author = c.other""",
    )


def _choose_names(database: Database) -> None:
    """Make the table `display_names`: of each author the most complete form that most mentions do not contradict.

    A form contradicts another if the first two initials of both differ: one wrong given name of many does not become
    the name of the author.
    """
    p = database.prefix
    several = f"SELECT author FROM {p}variants GROUP BY author HAVING count(DISTINCT initials) > 1"
    database.save("mixed_variants", f"SELECT v.* FROM {p}variants v JOIN ({several}) s ON s.author = v.author")
    agree = """substr(a.initials, 1, length(b.initials)) = b.initials
               OR substr(b.initials, 1, length(a.initials)) = a.initials"""
    database.save(
        "unusual_names",
        f"""SELECT a.author, a.name FROM {p}mixed_variants a JOIN {p}mixed_variants b ON b.author = a.author
            GROUP BY a.author, a.name HAVING 2 * sum(CASE WHEN {agree} THEN b.count ELSE 0 END) <= sum(b.count)""",
    )
    # Of two forms that are equally good, the last in code point order has lower case and accents.
    order = "CASE WHEN u.name IS NULL THEN 0 ELSE 1 END, v.completeness DESC, v.count DESC, v.name DESC"
    ranked = f"""SELECT v.author, v.name, row_number() OVER (PARTITION BY v.author ORDER BY {order}) AS rank
                 FROM {p}variants v LEFT JOIN {p}unusual_names u ON u.author = v.author AND u.name = v.name"""
    database.save("display_names", f"SELECT author, name FROM ({ranked}) ranked WHERE rank = 1")


def _query_partners(database: Database) -> None:
    """Make the table `partners`; an author who is twice on a document is once among its authors."""
    p = database.prefix
    database.save("members", f"SELECT DISTINCT document, author FROM {p}facts WHERE document IS NOT NULL")
    database.save(
        "large_documents",
        f"SELECT document FROM {p}members GROUP BY document HAVING count(*) > {MAX_COAUTHORS}",
    )
    database.save(
        "partners",
        _first(
            f"""SELECT a.author, b.author AS other, count(*) AS count FROM {p}members a
                JOIN {p}members b ON b.document = a.document AND b.author <> a.author
                WHERE NOT EXISTS (SELECT 1 FROM {p}large_documents l WHERE l.document = a.document)
                GROUP BY a.author, b.author""",
            "other",
        ),
    )


def _first(counts: str, text: str) -> str:
    """The rows of a query with the largest counts of each author, at most MOST; of equal counts the first by text."""
    rank = f"row_number() OVER (PARTITION BY author ORDER BY count DESC, {text})"
    return f"SELECT * FROM (SELECT *, {rank} AS rank FROM ({counts}) counted) ranked WHERE rank <= {MOST}"


Fetch = Callable[[str, str, str, int, int], pa.Table]
"""Fetches columns of a table in an order, for authors from one number to below another; all these are SQL."""


def summary_tables(fetch: Fetch, ranges: Iterable[tuple[int, int]]) -> Iterator[pa.Table]:
    """The rows of schema.AUTHOR_SUMMARIES, for each range of authors."""
    return (_summary_table(fetch, one) for one in ranges)


def _summary_table(fetch: Fetch, span: tuple[int, int]) -> pa.Table:
    """The rows for the authors from one number to below another."""
    authors = fetch("authors", ", ".join(["author", *SINGLE]), "author", *span)
    numbers = authors["author"].to_numpy()
    columns = {name: authors[name] for name in SINGLE}
    for name, (fields, order) in LISTS.items():
        rows = fetch(name, ", ".join(["author", *fields]), f"author, {order}", *span)
        columns[name] = _lists(rows, name, numbers)
    return pa.table(columns).select(AUTHOR_SUMMARIES.names).cast(AUTHOR_SUMMARIES)


def _lists(rows: pa.Table, name: str, authors: Integers) -> pa.Array:
    """The rows of each author as a list."""
    kind = AUTHOR_SUMMARIES.field(name).type.value_type
    columns = [rows[field.name].cast(field.type).combine_chunks() for field in kind]
    entries = pa.StructArray.from_arrays([_one_array(column) for column in columns], fields=list(kind))
    number = rows["author"].to_numpy()
    offsets = np.append(np.searchsorted(number, authors), len(number)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), entries)


def _one_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


# Number of authors whose rows are in memory at once.
AUTHORS_AT_ONCE = 1 << 16


class ResultMembers(NamedTuple):
    """What the table of authors was made of, for those who need it afterwards.

    `members` are the authors of documents: author, document, position (the first one) and year, ordered by author and
    document. Both are numbers: places in the table of authors and in that of documents. `affiliations` are those of the
    documents.
    """

    members: pa.Table
    affiliations: WrittenAffiliations


def load_facts(
    connection: duckdb.DuckDBPyConnection, facts: Iterable[pa.Table], ids: pa.Table, documents: Path | None
) -> WrittenAffiliations:
    """Make the tables that the queries need, except `author_numbers`, in DuckDB; returns the affiliations.

    `facts` have the schema NAMED_FACTS, `ids` are those of mentions, and `documents` is a table of documents.
    """
    with meanwhile(partial(WrittenAffiliations.read, documents) if documents else WrittenAffiliations.none) as written:
        _load_mentions(connection, facts, ids, documents)
    connection.register("mention_affiliations", written.result().entries)
    connection.register("affiliation_texts", written.result().numbered_texts())
    return written.result()


def _load_mentions(
    connection: duckdb.DuckDBPyConnection, facts: Iterable[pa.Table], ids: pa.Table, documents: Path | None
) -> None:
    batches = (batch for table in facts for batch in table.to_batches())
    connection.register("rows", pa.RecordBatchReader.from_batches(NAMED_FACTS, batches))
    connection.register("mention_ids", ids)
    named_facts = "rows"
    if documents:
        source = f"read_parquet({sql_files([documents])}, file_row_number = true)"
        numbers = f"SELECT document_id, file_row_number AS document FROM {source}"
    else:  # the rows are read twice
        named_facts = "named_facts"
        connection.execute("CREATE OR REPLACE TABLE named_facts AS SELECT * FROM rows")
        distinct = "SELECT DISTINCT document_id FROM named_facts"
        numbers = f"SELECT document_id, row_number() OVER () AS document FROM ({distinct})"
    connection.execute(f"CREATE OR REPLACE TABLE document_numbers AS {numbers}")
    connection.execute(
        f"""CREATE OR REPLACE TABLE facts AS SELECT f.* EXCLUDE (document_id), d.document
            FROM {named_facts} f LEFT JOIN document_numbers d ON d.document_id = f.document_id"""
    )
    connection.unregister("rows")


NAMED_FACTS = pa.schema([pa.field("document_id", pa.string()) if one.name == "document" else one for one in FACTS])
"""Facts before documents have numbers."""


def main_ids(ids: Iterable[dict[str, str]] | None) -> dict[str, str]:
    """The identifier of each kind that counts as that of an author: the most frequent one.

    `ids` is the column of the table of authors, where the most frequent ones come first, equally frequent ones by
    kind and id.

    >>> main_ids([{"kind": "orcid", "id": "0000-1"}, {"kind": "orcid", "id": "0000-2"}]), main_ids(None)
    ({'orcid': '0000-1'}, {})
    """
    found: dict[str, str] = {}
    for each in ids or ():
        found.setdefault(each["kind"], each["id"])
    return found


def summarise_loaded(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Make the tables of authors from what `load_facts` has loaded and `author_numbers`; returns the members.

    These are the rows of `ResultMembers`.
    """
    members = connection.sql(
        """SELECT author, document, min(position) AS position, min(year) AS year FROM facts
           WHERE document IS NOT NULL GROUP BY author, document ORDER BY author, document"""
    ).to_arrow_table()
    summarise_with_members(connection, members["author"].to_numpy(), members["document"].to_numpy())
    return members


def summarise_with_members(connection: duckdb.DuckDBPyConnection, author: Integers, document: Integers) -> None:
    """Make the tables of authors, given the authors of documents, ordered by author and document; each pair once.

    The documents may have authors besides those that `load_facts` has loaded, who are co-authors only.
    """
    queries = Queries(connection)
    with meanwhile(partial(first_partners, author, document, MOST, MAX_COAUTHORS)) as partners:
        summarise_authors(queries, lambda: queries.load("partners", partners.result()))
    connection.execute("ALTER TABLE affiliations RENAME TO numbered_affiliations")
    connection.execute(
        """CREATE VIEW affiliations AS SELECT n.author, t.text AS affiliation, n.count FROM numbered_affiliations n
           JOIN affiliation_texts t ON t.affiliation = n.affiliation"""
    )


def write_author_summaries(connection: duckdb.DuckDBPyConnection, author_ids: pa.Array, path: Path) -> pa.Table:
    """Write the table of authors, from what `load_facts` has loaded; `author_ids` are in the order of their numbers.

    Returns the members, as `summarise_loaded` does.
    """
    connection.register("author_numbers", pa.table({"author": np.arange(len(author_ids)), "author_id": author_ids}))
    members = summarise_loaded(connection)

    def fetch(table: str, columns: str, order: str, first: int, following: int) -> pa.Table:
        chosen = f"author >= {first} AND author < {following}"
        return connection.sql(f"SELECT {columns} FROM {table} WHERE {chosen} ORDER BY {order}").to_arrow_table()

    firsts = range(0, len(author_ids), AUTHORS_AT_ONCE)
    ranges = ((first, first + AUTHORS_AT_ONCE) for first in firsts)
    # While one table is written, the next one is fetched.
    tables = map_in_order(partial(_summary_table, fetch), ranges, threads=1)
    write_table(path, AUTHOR_SUMMARIES, (table for _, table in tables), row_group=SMALL_ROW_GROUP)
    return members
