"""Bags of the authors of a result: co-authors, institutions, words of titles, venues.

Co-authors are authors of the result, so that one person counts once, however the name is written. To calibrate the
suggestions, some authors are cut in two by time: the earlier and the later half of their documents are two more
authors, the pseudo-variants, which have bags like the others but do not count for the frequencies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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

    @property
    def author(self) -> Integers:
        """The author of each entry."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def lift(self, a: Integers, b: Integers) -> tuple[Floats, Floats]:
        """How many times as much pairs of authors share as chance lets expect, and the number of shared features.

        The lift is S(a, b) · n(·) / (n(a) · n(b)) with S(a, b) = Σ_f #(f, a) · #(f, b) / #(f): the relative frequency
        p(a|b) of the clustering, divided by what a random author has. It is 0 where one of them has no feature.
        """
        size = np.diff(self.start)
        entry = ranges(self.start[a], size[a])
        pair = np.repeat(np.arange(len(a)), size[a])
        features = max(len(self.total), 1)
        keys = self.author * features + self.feature
        wanted = b[pair] * features + self.feature[entry]
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        found = keys[place] == wanted if len(keys) else np.zeros(len(wanted), bool)
        pair, entry, place = pair[found], entry[found], place[found]
        shared = self.count[entry] * self.count[place] / self.total[self.feature[entry]]
        S = np.bincount(pair, shared, len(a))
        expected = self.mass[a] * self.mass[b] / max(self.total.sum(), 1.0)
        lift = np.divide(S, expected, out=np.zeros(len(a)), where=expected > 0)
        return lift, np.bincount(pair, minlength=len(a)).astype(np.float64)

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
    """Read the authors of a result with documents; words and venues come with `add_topics`."""
    for view, name in (("authors", AUTHORS), ("mentions", MENTIONS), ("documents", DOCUMENTS)):
        connection.execute(f"CREATE VIEW {view} AS SELECT * FROM read_parquet({sql_files([folder / name])})")
    _number(connection)
    _cut_in_two(connection)
    authors = connection.sql("SELECT author_id, name, block FROM people ORDER BY author").to_arrow_table()
    years = connection.sql("SELECT * FROM years ORDER BY author").to_arrow_table()
    _count_people(connection)
    found = {kind: _bags(connection, kind, len(years), len(authors)) for kind in ("document", CO, AFF)}
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
                   dense_rank() OVER (ORDER BY regexp_replace(author_id, '/[0-9a-f]+$', '')) AS block FROM authors"""
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
                        count(*) OVER (PARTITION BY author) AS size FROM members) m
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
    """Make the table `entries` (kind, author, feature, count) with documents, co-authors and institutions."""
    _read_institutions(connection)
    connection.execute(
        f"""CREATE TABLE entries AS SELECT 'document' AS kind, author, document AS feature, 1::DOUBLE AS count
                FROM memberships;
            INSERT INTO entries SELECT '{AFF}', m.author, n.feature, count(*) FROM memberships m
            JOIN numbered n ON n.document = m.document AND n.position = m.position GROUP BY m.author, n.feature;
            INSERT INTO entries
            WITH small AS (SELECT document FROM members GROUP BY document HAVING count(*) <= {MAX_COAUTHORS})
            SELECT '{CO}', m.author, o.author, count(*) FROM memberships m
            JOIN small s ON s.document = m.document
            JOIN members o ON o.document = m.document AND o.position IS DISTINCT FROM m.position
            GROUP BY m.author, o.author"""
    )


def add_topics(connection: duckdb.DuckDBPyConnection, authors: ResultAuthors, chosen: Integers) -> None:
    """Add the bags of words and venues; only the chosen authors get entries, but all count for the frequencies."""
    connection.register("chosen_authors", pa.table({"author": chosen}))
    connection.execute(
        f"""INSERT INTO written SELECT DISTINCT '{TERM}', document, NULL,
                unnest(regexp_extract_all(lower(title), '[\\p{{L}}]{{{_SHORTEST_WORD},}}')) FROM papers;
            INSERT INTO written SELECT '{VENUE}', document, NULL, lower(venue) FROM papers WHERE venue <> '';
            CREATE OR REPLACE TABLE written AS SELECT * FROM written WHERE kind <> '{AFF}'"""
    )
    _number_texts(connection)
    connection.execute(
        """CREATE OR REPLACE TABLE entries AS SELECT n.kind, m.author, n.feature, count(*)::DOUBLE AS count
           FROM memberships m JOIN chosen_authors c ON c.author = m.author JOIN numbered n ON n.document = m.document
           GROUP BY n.kind, m.author, n.feature;
           CREATE OR REPLACE TABLE totals AS
           SELECT n.kind, n.feature, coalesce(sum(s.authors), 0)::DOUBLE AS count FROM numbered n
           LEFT JOIN (SELECT document, count(*) AS authors FROM members GROUP BY document) s ON s.document = n.document
           GROUP BY n.kind, n.feature"""  # features of documents without mentions, too, as the place is the number
    )
    connection.unregister("chosen_authors")
    for kind in (TERM, VENUE):
        rows = connection.sql(f"SELECT count FROM totals WHERE kind = '{kind}' ORDER BY feature").to_arrow_table()
        total = np.maximum(rows["count"].to_numpy(), 1.0)
        authors.bags[kind] = replace(_bags(connection, kind, len(authors.first_year), authors.count), total=total)
        authors.feature_name[kind] = _texts(connection, kind)


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
    distinct = connection.sql("SELECT DISTINCT affiliation FROM affiliations ORDER BY affiliation").to_arrow_table()
    pairs = [(text, one) for text in distinct["affiliation"].to_pylist() if text for one in institutions(text)]
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    known = pa.table([pa.array(column, pa.string()) for column in columns], names=["affiliation", "text"])
    connection.register("known", known)
    connection.execute(
        f"""INSERT INTO written SELECT DISTINCT '{AFF}', a.document, a.position, k.text
            FROM affiliations a JOIN known k ON k.affiliation = a.affiliation"""
    )
    connection.unregister("known")
    _number_texts(connection)


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
