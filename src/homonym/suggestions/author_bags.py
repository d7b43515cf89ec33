"""Bags of the authors of a result: co-authors, institutions, words of titles, venues.

Co-authors are authors of the result, so that one person counts once, however the name is written. To calibrate the
suggestions, some authors are cut in two by time: the earlier and the later half of their documents are two more
authors, the pseudo-variants, which have bags like the others but do not count for the frequencies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from homonym.clustering.arrays import Floats, Integers, ranges, starts
from homonym.collection.author_summaries import MAX_COAUTHORS
from homonym.collection.statistics import sql_files
from homonym.features.institutions import institutions
from homonym.io.result_directory import AUTHORS, DOCUMENTS, MENTIONS

if TYPE_CHECKING:
    import duckdb

CO, AFF, TERM, VENUE = TYPES = ("co-author", "institution", "word", "venue")

# Number of authors that are cut in two, and the fewest documents of each.
MAX_PSEUDO, MIN_DOCUMENTS = 2000, 2
# Affiliations that are parsed to find their institutions, the most common: one for so many mentions, and at least so many.
# The others, mostly written once, are compared as they are written.
MENTIONS_PER_AFFILIATION, MIN_AFFILIATIONS = 128, 5000
# Maximum #(f) of a rare feature: 9 of 10 renamed authors of the set openreview share a co-author below it.
MAX_RARE = 64
# Words with fewer letters are not features: most are articles and prepositions.
_SHORTEST_WORD = 4


@dataclass(frozen=True, eq=False)
class AuthorBags:
    """The bags of all authors, for one type of features; feature numbers are from 0.

    The entries of author a are those from `start[a]` to `start[a + 1]`, in the order of features. `total[f]` is #(f),
    `mass[a]` is n(a).
    """

    start: Integers
    feature: Integers
    count: Floats
    total: Floats
    mass: Floats

    @cached_property
    def author(self) -> Integers:
        """The author of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def lift(self, a: Integers, b: Integers) -> tuple[Floats, Floats]:
        """How many times as much pairs of authors share as chance lets expect, and the number of shared features.

        The lift is S(a, b) · n(·) / (n(a) · n(b)) with S(a, b) = Σ_f #(f, a) · #(f, b) / #(f): the relative frequency
        p(a|b) of the clustering, divided by what a random author has. It is 0 where one of them has no feature.
        """
        pair, entry, place = self._shared(a, b)
        shared = self.count[entry] * self.count[place] / self.total[self.feature[entry]]
        S = np.bincount(pair, shared, len(a))
        expected = self.mass[a] * self.mass[b] / max(self.total.sum(), 1.0)
        lift = np.divide(S, expected, out=np.zeros(len(a)), where=expected > 0)
        return lift, np.bincount(pair, minlength=len(a)).astype(np.float64)

    def rarity(self, a: Integers, b: Integers) -> Floats:
        """#(f) of the rarest feature that pairs of authors share; infinite if they share none."""
        pair, entry, _ = self._shared(a, b)
        found = np.full(len(a), np.inf)
        np.minimum.at(found, pair, self.total[self.feature[entry]])
        return found

    def _shared(self, a: Integers, b: Integers) -> tuple[Integers, Integers, Integers]:
        """The shared features of pairs: number of the pair, entry of the first author, entry of the second."""
        size = np.diff(self.start)
        entry = ranges(self.start[a], size[a])
        pair = np.repeat(np.arange(len(a)), size[a])
        wanted = b[pair] * max(len(self.total), 1) + self.feature[entry]
        place = np.minimum(np.searchsorted(self._keys, wanted), max(len(self._keys) - 1, 0))
        found = self._keys[place] == wanted if len(self._keys) else np.zeros(len(wanted), bool)
        return pair[found], entry[found], place[found]

    @cached_property
    def _keys(self) -> Integers:
        """Author and feature of each entry as one number; they rise."""
        return self.author * max(len(self.total), 1) + self.feature

    def rarest_shared(self, a: int, b: int, most: int) -> list[int]:
        """The features that two authors share, the rarest first."""
        mine, other = (self.feature[self.start[x] : self.start[x + 1]] for x in (a, b))
        shared = np.intersect1d(mine, other)
        order = np.lexsort((shared, self.total[shared]))
        found: list[int] = shared[order][:most].tolist()
        return found


@dataclass(frozen=True, eq=False)
class ResultAuthors:
    """The authors of a result by number, in the order of their ids, and their bags by type.

    The halves of pseudo-variant k are the authors `count + 2k` and `count + 2k + 1`. `feature_name` has the texts of
    features, except of co-authors, which are numbers of authors.
    """

    author_id: list[str]
    name: list[str | None]
    block: Integers
    documents: AuthorBags
    first_year: Integers
    last_year: Integers
    bags: dict[str, AuthorBags]
    feature_name: dict[str, list[str]]

    @property
    def count(self) -> int:
        """The number of authors of the result."""
        return len(self.author_id)

    @property
    def pseudo(self) -> int:
        """The number of authors that were cut in two."""
        return (len(self.first_year) - self.count) // 2


# A year that authors without years get.
NO_YEAR = -1


def read_authors(connection: duckdb.DuckDBPyConnection, folder: Path) -> ResultAuthors:
    """Read the authors of a result, with institutions and rare co-authors; the rest comes with `add_all_features`."""
    for view, name in (("authors", AUTHORS), ("mentions", MENTIONS), ("documents", DOCUMENTS)):
        connection.execute(f"CREATE VIEW {view} AS SELECT * FROM read_parquet({sql_files([folder / name])})")
    _number(connection)
    _cut_in_two(connection)
    authors = connection.sql("SELECT author_id, name, block FROM people ORDER BY author").to_arrow_table()
    years = connection.sql("SELECT * FROM years ORDER BY author").to_arrow_table()
    _count_people(connection)
    found = {kind: _bags(connection, kind, len(years), len(authors)) for kind in ("document", CO, AFF)}
    found[CO] = replace(found[CO], total=_totals(connection, CO, len(authors)))
    return ResultAuthors(
        authors["author_id"].to_pylist(),
        authors["name"].to_pylist(),
        authors["block"].to_numpy(),
        found["document"],
        years["first_year"].to_numpy(),
        years["last_year"].to_numpy(),
        {kind: found[kind] for kind in (CO, AFF)},
        {AFF: _texts(connection, AFF)},
    )


def _number(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `people` (authors), `papers` (documents) and `members` (which author is on which document)."""
    connection.execute(
        r"""CREATE TABLE people AS
            SELECT row_number() OVER (ORDER BY author_id) - 1 AS author, author_id, name, documents,
                   (hash(regexp_replace(author_id, '/[0-9a-f]+$', '')) >> 1)::BIGINT AS block FROM authors"""
    )
    connection.execute(
        """CREATE TABLE papers AS
           SELECT row_number() OVER (ORDER BY document_id) - 1 AS document, document_id, year, title, venue
           FROM documents"""
    )
    connection.execute(
        """CREATE TABLE members AS
           SELECT p.author, d.document, min(m.position) AS position, any_value(d.year) AS year FROM mentions m
           JOIN people p ON p.author_id = m.author_id JOIN papers d ON d.document_id = m.document_id
           GROUP BY p.author, d.document"""
    )


def _cut_in_two(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `memberships`, of authors and of pseudo-variants, and `years`.

    The authors are chosen by a digest of their ids, so that the choice depends on nothing else.
    """
    connection.execute(
        f"""CREATE TABLE chosen AS
            SELECT author, row_number() OVER (ORDER BY md5(author_id)) - 1 AS place FROM people
            WHERE documents >= {MIN_DOCUMENTS} ORDER BY md5(author_id) LIMIT {MAX_PSEUDO}"""
    )
    connection.execute(
        """CREATE TABLE memberships AS
           SELECT author, document, position, year FROM members
           UNION ALL
           SELECT (SELECT count(*) FROM people) + 2 * c.place + (m.rank * 2 > m.size)::INTEGER, document, position, year
           FROM (SELECT *, row_number() OVER (PARTITION BY author ORDER BY year NULLS LAST, document) AS rank,
                        count(*) OVER (PARTITION BY author) AS size
                 FROM members WHERE author IN (SELECT author FROM chosen)) m
           JOIN chosen c ON c.author = m.author"""
    )
    connection.execute(
        f"""CREATE TABLE years AS
            WITH size AS (SELECT (SELECT count(*) FROM people) + 2 * (SELECT count(*) FROM chosen) AS authors),
                 every AS (SELECT unnest(range(authors)) AS author FROM size)
            SELECT e.author, coalesce(min(m.year), {NO_YEAR})::BIGINT AS first_year,
                   coalesce(max(m.year), {NO_YEAR})::BIGINT AS last_year
            FROM every e LEFT JOIN memberships m ON m.author = e.author GROUP BY e.author"""
    )


def _count_people(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `entries` (kind, author, feature, count), with documents, institutions and rare co-authors.

    `partners` has the co-authors, who are members of documents with few authors, and #(f) of each.
    """
    _read_institutions(connection)
    connection.execute(
        f"""CREATE TABLE entries AS SELECT 'document' AS kind, author, document AS feature, 1::DOUBLE AS count
                FROM memberships;
            INSERT INTO entries SELECT '{AFF}', m.author, n.feature, count(*) FROM memberships m
            JOIN numbered n ON n.document = m.document AND n.position = m.position GROUP BY m.author, n.feature;
            CREATE TABLE sizes AS SELECT document, count(*) AS authors FROM members GROUP BY document;
            CREATE TABLE partners AS
            SELECT m.author, m.document, m.position, sum(s.authors - 1) OVER (PARTITION BY m.author) AS total
            FROM members m JOIN sizes s ON s.document = m.document WHERE s.authors BETWEEN 2 AND {MAX_COAUTHORS}"""
    )
    _count_partners(connection, f"SELECT * FROM partners WHERE total <= {MAX_RARE}", "SELECT * FROM memberships")


def _count_partners(connection: duckdb.DuckDBPyConnection, partners: str, memberships: str) -> None:
    """Add entries for these co-authors of these authors."""
    connection.execute(
        f"""INSERT INTO entries SELECT '{CO}', m.author, o.author, count(*) FROM ({memberships}) m
            JOIN ({partners}) o ON o.document = m.document AND o.position IS DISTINCT FROM m.position
            GROUP BY m.author, o.author"""
    )


def add_all_features(connection: duckdb.DuckDBPyConnection, authors: ResultAuthors, chosen: Integers) -> None:
    """Complete the bags of the chosen authors: all co-authors, words and venues. Others lose their co-authors."""
    connection.register("chosen_authors", pa.table({"author": chosen}))
    connection.execute(
        """CREATE TABLE chosen_members AS SELECT m.* FROM memberships m JOIN chosen_authors c ON c.author = m.author;
           DELETE FROM entries"""
    )
    connection.unregister("chosen_authors")
    _count_partners(connection, "SELECT * FROM partners", "SELECT * FROM chosen_members")
    _count_topics(connection)
    for kind in (CO, TERM, VENUE):
        total = _totals(connection, kind, authors.count)
        authors.bags[kind] = replace(_bags(connection, kind, len(authors.first_year), authors.count), total=total)
        if kind != CO:
            authors.feature_name[kind] = _texts(connection, kind)


def _totals(connection: duckdb.DuckDBPyConnection, kind: str, authors: int) -> Floats:
    """#(f) of all features of a type, at least 1."""
    source = f"totals WHERE kind = '{kind}'" if kind != CO else "(SELECT DISTINCT author AS feature, total FROM partners)"
    rows = connection.sql(f"SELECT feature, total::DOUBLE AS total FROM {source}").to_arrow_table()
    found = np.ones(authors if kind == CO else len(rows))
    found[rows["feature"].to_numpy()] = np.maximum(rows["total"].to_numpy(), 1.0)
    return found


def _count_topics(connection: duckdb.DuckDBPyConnection) -> None:
    """Add entries for words and venues, and make the table `totals` (kind, text, feature, total)."""
    connection.execute(
        f"""CREATE OR REPLACE TABLE written AS
            SELECT '{TERM}' AS kind, document, unnest(list_distinct(
                       regexp_extract_all(lower(title), '[\\p{{L}}]{{{_SHORTEST_WORD},}}'))) AS text FROM papers
            UNION ALL SELECT '{VENUE}', document, lower(venue) FROM papers WHERE venue <> '';
            CREATE OR REPLACE TABLE totals AS
            SELECT kind, text, row_number() OVER (PARTITION BY kind ORDER BY text) - 1 AS feature, total
            FROM (SELECT w.kind, w.text, sum(s.authors) AS total FROM written w
                  JOIN sizes s ON s.document = w.document GROUP BY w.kind, w.text);
            CREATE OR REPLACE TABLE texts AS SELECT kind, text, feature FROM totals;
            CREATE OR REPLACE TABLE numbered AS SELECT w.kind, w.document, t.feature FROM written w
            JOIN totals t ON t.kind = w.kind AND t.text = w.text
            WHERE w.document IN (SELECT document FROM chosen_members);
            INSERT INTO entries SELECT n.kind, m.author, n.feature, count(*)
            FROM chosen_members m JOIN numbered n ON n.document = m.document GROUP BY n.kind, m.author, n.feature"""
    )


def _number_texts(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `texts` (kind, text, feature) and `numbered` of what is in `written`."""
    connection.execute(
        """CREATE OR REPLACE TABLE texts AS
           SELECT kind, text, row_number() OVER (PARTITION BY kind ORDER BY text) - 1 AS feature
           FROM (SELECT DISTINCT kind, text FROM written);
           CREATE OR REPLACE TABLE numbered AS SELECT w.kind, w.document, w.position, t.feature
               FROM written w JOIN texts t ON t.kind = w.kind AND t.text = w.text"""
    )


def _read_institutions(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `written` (kind, document, position, text) with the institutions of authors, and number them."""
    connection.execute(
        """CREATE TABLE written (kind VARCHAR, document BIGINT, position INTEGER, text VARCHAR);
           CREATE TABLE affiliations AS
           SELECT document, position, unnest(affiliations) AS affiliation
           FROM (SELECT p.document, a.position, a.affiliations
                 FROM (SELECT document_id, unnest(authors) AS a FROM documents) s
                 JOIN papers p ON p.document_id = s.document_id)"""
    )
    connection.register("known", _common_institutions(connection))
    connection.execute(
        f"""INSERT INTO written SELECT DISTINCT '{AFF}', a.document, a.position, coalesce(k.text, lower(a.affiliation))
            FROM affiliations a LEFT JOIN known k ON k.affiliation = a.affiliation WHERE k.text <> ''
               OR (k.text IS NULL AND a.affiliation <> '')"""
    )
    connection.unregister("known")
    _number_texts(connection)


def _common_institutions(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """The institutions of the most common affiliations; those without an institution have an empty text."""
    (mentions,) = connection.sql("SELECT count(*) FROM members").fetchall()[0]
    most = max(MIN_AFFILIATIONS, mentions // MENTIONS_PER_AFFILIATION)
    common = connection.sql(
        f"""SELECT affiliation FROM affiliations WHERE affiliation <> ''
            GROUP BY affiliation ORDER BY count(*) DESC, affiliation LIMIT {most}"""
    ).to_arrow_table()
    pairs = [(text, one) for text in common["affiliation"].to_pylist() for one in institutions(text) or ("",)]
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    return pa.table([pa.array(column, pa.string()) for column in columns], names=["affiliation", "text"])


def _bags(connection: duckdb.DuckDBPyConnection, kind: str, authors: int, real: int) -> AuthorBags:
    query = f"SELECT author, feature, count FROM entries WHERE kind = '{kind}' ORDER BY author, feature"
    rows = connection.sql(query).to_arrow_table()
    author, feature, count = (rows[name].to_numpy() for name in ("author", "feature", "count"))
    size = int(feature.max()) + 1 if len(feature) else 0
    is_real = author < real
    return AuthorBags(
        starts(np.bincount(author, minlength=authors)),
        feature,
        count,
        np.maximum(np.bincount(feature[is_real], count[is_real], size), 1.0),
        np.bincount(author, count, authors).astype(np.float64),
    )


def _texts(connection: duckdb.DuckDBPyConnection, kind: str) -> list[str]:
    rows = connection.sql(f"SELECT text FROM texts WHERE kind = '{kind}' ORDER BY feature").to_arrow_table()
    found: list[str] = rows["text"].to_pylist()
    return found
