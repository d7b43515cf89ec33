"""Bags of the authors of a result: co-authors, institutions, words of titles, venues.

Co-authors are authors of the result, so one person counts once, however the name is written. To calibrate the
suggestions, some authors are cut in two by time. The earlier and the later half of their documents form two additional
authors, called pseudo-variants. These have bags like the others but do not count for the frequencies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.clustering.arrays import Floats, Integers, ranges, starts
from homonym.collection.author_summaries import MAX_COAUTHORS, ResultMembers
from homonym.collection.document_table import WrittenAffiliations
from homonym.collection.statistics import sql_files
from homonym.features.institutions import institutions
from homonym.io.result_directory import AUTHORS, DOCUMENTS, MENTIONS

if TYPE_CHECKING:
    import duckdb

CO, AFF, TERM, VENUE = TYPES = ("co-author", "institution", "word", "venue")

# The year of authors without years.
NO_YEAR = -1
# Maximum number of authors that are cut in two, and minimum number of documents of each.
MAX_PSEUDO, MIN_DOCUMENTS = 2000, 2
# Only the most common affiliations are parsed to find their institutions: one per this number of mentions, and at least
# this number. The others mostly occur once and are compared as they are written.
MENTIONS_PER_AFFILIATION, MIN_AFFILIATIONS = 128, 5000
# Maximum #(f) of a rare feature: 9 of 10 renamed authors of the set openreview share a co-author below it.
MAX_RARE = 64
# Words with fewer letters are not features: most are articles and prepositions.
_SHORTEST_WORD = 4


@dataclass(frozen=True, eq=False)
class AuthorBags:
    """The bags of all authors, for one type of features. Features are numbered from 0.

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
        """The lift of pairs of authors, and their number of shared features.

        The lift is S(a, b) · n(·) / (n(a) · n(b)) with S(a, b) = Σ_f #(f, a) · #(f, b) / #(f): the relative frequency
        p(a|b) of the clustering, divided by that of a random author. It is 0 if one of them has no feature.
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
        """Author and feature of each entry as one number, in ascending order."""
        return self.author * max(len(self.total), 1) + self.feature

    def rarest_shared(self, a: int, b: int, most: int) -> list[int]:
        """The features that two authors share, the rarest first."""
        mine, other = (self.feature[self.start[x] : self.start[x + 1]] for x in (a, b))
        shared = np.intersect1d(mine, other)
        order = np.lexsort((shared, self.total[shared]))
        found: list[int] = shared[order][:most].tolist()
        return found


@dataclass(frozen=True, eq=False)
class Memberships:
    """The authors of documents, in the order of authors and documents; only the first `count` authors are real.

    Documents without a year have NO_YEAR, mentions without a position -1.
    """

    author: Integers
    document: Integers
    position: Integers
    year: Integers
    count: int
    authors: int

    @classmethod
    def read(cls, connection: duckdb.DuckDBPyConnection) -> Memberships:
        """Read the table `memberships`."""
        query = f"""SELECT author::BIGINT AS author, document, coalesce(position, -1)::BIGINT AS position,
                           coalesce(year, {NO_YEAR})::BIGINT AS year FROM memberships ORDER BY author, document"""
        rows = connection.sql(query).to_arrow_table()
        numbers = connection.sql("SELECT (SELECT count(*) FROM people), (SELECT count(*) FROM chosen)").fetchall()[0]
        author, document, position, year = (column.to_numpy() for column in rows.columns)
        return cls(author, document, position, year, numbers[0], numbers[0] + 2 * numbers[1])

    def years(self) -> tuple[Integers, Integers]:
        """The first and the last year of each author."""
        known = self.year != NO_YEAR
        first, last = np.full(self.authors, np.iinfo(np.int64).max), np.full(self.authors, NO_YEAR)
        np.minimum.at(first, self.author[known], self.year[known])
        np.maximum.at(last, self.author[known], self.year[known])
        return np.where(last == NO_YEAR, NO_YEAR, first), last

    def documents(self) -> AuthorBags:
        """The documents of authors as bags."""
        return _make_bags(self.author, self.document, np.ones(len(self.author)), self.authors, self.count)

    def coauthors(self, chosen: NDArray[np.bool_] | None, rare: int | None) -> AuthorBags:
        """The co-authors of the chosen authors as bags; with `rare` only those with at most this #(f).

        Documents with more than MAX_COAUTHORS authors do not count.
        """
        is_real = self.author < self.count
        size = np.bincount(self.document[is_real], minlength=int(self.document.max(initial=-1)) + 1)
        is_partner = is_real & (size[self.document] <= MAX_COAUTHORS)
        total = np.bincount(self.author[is_partner], size[self.document[is_partner]] - 1.0, self.count)
        if rare is not None:
            is_partner &= np.append(total <= rare, np.zeros(self.authors - self.count, bool))[self.author]
        author, feature = self._together(is_partner, chosen)
        key = np.sort(author * max(self.count, 1) + feature)
        first = np.flatnonzero(np.diff(key, prepend=-1))
        count = np.diff(np.append(first, len(key))).astype(np.float64)
        author, feature = np.divmod(key[first], max(self.count, 1))
        bags = _make_bags(author, feature, count, self.authors, self.count)
        return replace(bags, total=np.maximum(total, 1.0))

    def _together(self, is_partner: NDArray[np.bool_], chosen: NDArray[np.bool_] | None) -> tuple[Integers, Integers]:
        """Author and co-author for each document of the chosen authors and of these rows."""
        # In the order of documents, what belongs together lies together in memory.
        author, document, position = (
            column[self._by_document] for column in (self.author, self.document, self.position)
        )
        rows = np.flatnonzero(chosen[author]) if chosen is not None else np.arange(len(author))
        partner = np.flatnonzero(is_partner[self._by_document])
        size = np.bincount(document[rows], minlength=int(document.max(initial=-1)) + 1)
        begin, size = starts(size)[:-1][document[partner]], size[document[partner]]
        row, other = rows[ranges(begin, size)], np.repeat(partner, size)
        differ = position[row] != position[other]
        return author[row[differ]], author[other[differ]]

    @cached_property
    def _by_document(self) -> Integers:
        """The rows in the order of documents."""
        # Numbers are sorted several times as fast as they are ordered by others.
        return np.sort(self.document << 32 | np.arange(len(self.document))) & (2**32 - 1)


@dataclass(frozen=True, eq=False)
class ResultAuthors:
    """The authors of a result by number, in the order of their ids, and their bags by type.

    The halves of pseudo-variant k are the authors `count + 2k` and `count + 2k + 1`. `feature_name` has the texts of
    features, except of co-authors, which are numbers of authors.
    """

    author_id: list[str]
    name: list[str | None]
    block: Integers
    memberships: Memberships
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


def common_institutions(affiliations: WrittenAffiliations, members: int) -> pa.Table:
    """The institutions of the most common affiliations, given the number of authors of all documents.

    The rows have the number of an affiliation and an institution; the text is empty for affiliations without one.
    """
    number = np.bincount(affiliations.entries["affiliation"].to_numpy(), minlength=len(affiliations.texts))
    number[pc.equal(affiliations.texts, "").to_numpy(zero_copy_only=False)] = 0
    common = np.argsort(-number, kind="stable")[: min(_common(members), np.count_nonzero(number))]
    texts = affiliations.texts.take(pa.array(common)).to_pylist()
    rows = [
        (affiliation, one)
        for affiliation, text in zip(common.tolist(), texts, strict=True)
        for one in institutions(text) or ("",)
    ]
    columns = list(zip(*rows, strict=True)) or [(), ()]
    return pa.table([*map(list, columns)], schema=_INSTITUTIONS)


_INSTITUTIONS = pa.schema([("affiliation", pa.int32()), ("text", pa.string())])


def _common(mentions: int) -> int:
    """How many affiliations are parsed if this number of mentions count."""
    return max(MIN_AFFILIATIONS, mentions // MENTIONS_PER_AFFILIATION)


def read_authors(
    connection: duckdb.DuckDBPyConnection, folder: Path, found: ResultMembers | None = None
) -> ResultAuthors:
    """Read the authors of a result, with institutions and rare co-authors; the rest comes with `add_all_features`.

    `found` has the members and affiliations of a result that was just written: they need not be read.
    """
    for view, name in (("authors", AUTHORS), ("mentions", MENTIONS), ("documents", DOCUMENTS)):
        source = f"read_parquet({sql_files([folder / name])}, file_row_number = true)"
        connection.execute(f"CREATE VIEW {view} AS SELECT * FROM {source}")
    _number(connection, found.members if found else None)
    _cut_in_two(connection)
    authors = connection.sql("SELECT author_id, name, block FROM people ORDER BY author").to_arrow_table()
    memberships = Memberships.read(connection)
    _count_institutions(connection, found.affiliations if found else WrittenAffiliations.read(folder / DOCUMENTS))
    return ResultAuthors(
        authors["author_id"].to_pylist(),
        authors["name"].to_pylist(),
        authors["block"].to_numpy(),
        memberships,
        memberships.documents(),
        *memberships.years(),
        {
            CO: memberships.coauthors(None, MAX_RARE),
            AFF: _bags(connection, AFF, memberships.authors, memberships.count),
        },
        {AFF: _texts(connection, AFF)},
    )


def _number(connection: duckdb.DuckDBPyConnection, members: pa.Table | None) -> None:
    """Make the tables `people` (authors), `papers` (documents) and `members` (which author is on which document).

    If `members` are given, the tables are those of a run, so that the order of documents is that of their ids.
    """
    connection.execute(
        r"""CREATE TABLE people AS
            SELECT row_number() OVER (ORDER BY author_id) - 1 AS author, author_id, name, documents,
                   (hash(regexp_replace(author_id, '/[0-9a-f]+$', '')) >> 1)::BIGINT AS block FROM authors"""
    )
    if members is not None:
        connection.execute(
            "CREATE VIEW papers AS SELECT *, file_row_number AS document, file_row_number AS row FROM documents"
        )
        connection.register("members", members)
        return
    connection.execute(
        """CREATE TABLE papers AS
           SELECT row_number() OVER (ORDER BY document_id) - 1 AS document, document_id, year, file_row_number AS row
           FROM documents"""
    )
    connection.execute(
        """CREATE TABLE members AS
           SELECT p.author, d.document, min(m.position) AS position, any_value(d.year) AS year FROM mentions m
           JOIN people p ON p.author_id = m.author_id JOIN papers d ON d.document_id = m.document_id
           GROUP BY p.author, d.document"""
    )


def _cut_in_two(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `memberships`, of authors and of pseudo-variants.

    Authors are chosen by a digest of their ids, so the choice depends on the ids only.
    """
    connection.execute(
        f"""CREATE TABLE chosen AS
            SELECT author, row_number() OVER (ORDER BY digest) - 1 AS place
            FROM (SELECT author, md5(author_id) AS digest FROM people WHERE documents >= {MIN_DOCUMENTS}
                  ORDER BY digest LIMIT {MAX_PSEUDO})"""
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


def _count_institutions(connection: duckdb.DuckDBPyConnection, written: WrittenAffiliations) -> None:
    """Make the table `entries` (kind, author, feature, count) with the institutions of authors."""
    _number_institutions(connection, written)
    connection.execute(
        f"""CREATE TABLE entries AS
            SELECT '{AFF}' AS kind, m.author, n.feature, count(*)::DOUBLE AS count FROM memberships m
            JOIN numbered n ON n.document = m.document AND n.position = m.position GROUP BY m.author, n.feature"""
    )


def add_all_features(connection: duckdb.DuckDBPyConnection, authors: ResultAuthors, chosen: Integers) -> None:
    """Complete the bags of the chosen authors: all co-authors, words and venues. Others lose their co-authors."""
    is_chosen = np.zeros(authors.memberships.authors, bool)
    is_chosen[chosen] = True
    authors.bags[CO] = authors.memberships.coauthors(is_chosen, None)
    connection.register("chosen_authors", pa.table({"author": chosen}))
    _count_topics(connection)
    connection.unregister("chosen_authors")
    for kind in (TERM, VENUE):
        rows = connection.sql(f"SELECT total FROM totals WHERE kind = '{kind}' ORDER BY feature").to_arrow_table()
        bags = _bags(connection, kind, authors.memberships.authors, authors.count)
        authors.bags[kind] = replace(bags, total=np.maximum(rows["total"].to_numpy(), 1.0))
        authors.feature_name[kind] = _texts(connection, kind)


def _count_topics(connection: duckdb.DuckDBPyConnection) -> None:
    """Add entries for words and venues, and make the table `totals` (kind, text, feature, total).

    The frequencies are those of the documents of the chosen authors: reading all titles takes several times as long.
    """
    connection.execute(
        f"""CREATE TABLE chosen_members AS
            SELECT m.author, m.document FROM memberships m JOIN chosen_authors c ON c.author = m.author;
            CREATE TABLE chosen_papers AS
            SELECT p.document, d.title, d.venue FROM papers p JOIN documents d ON d.file_row_number = p.row
            WHERE p.document IN (SELECT document FROM chosen_members);
            CREATE OR REPLACE TABLE written AS
            SELECT '{TERM}' AS kind, document,
                   unnest(regexp_extract_all(lower(title), '[a-z]{{{_SHORTEST_WORD},}}')) AS text
            FROM chosen_papers WHERE strlen(title) = length(title)
            UNION ALL
            SELECT '{TERM}', document, unnest(regexp_extract_all(lower(title), '\\p{{L}}{{{_SHORTEST_WORD},}}'))
            FROM chosen_papers WHERE strlen(title) <> length(title)
            UNION ALL SELECT '{VENUE}', document, lower(venue) FROM chosen_papers WHERE venue <> '';
            CREATE OR REPLACE TABLE totals AS
            SELECT kind, text, row_number() OVER (PARTITION BY kind ORDER BY text) - 1 AS feature, total
            FROM (SELECT w.kind, w.text, sum(s.authors)::DOUBLE AS total FROM written w
                  JOIN (SELECT document, count(*) AS authors FROM members GROUP BY document) s
                  ON s.document = w.document GROUP BY w.kind, w.text);
            CREATE OR REPLACE TABLE texts AS SELECT kind, text, feature FROM totals;
            CREATE OR REPLACE TABLE numbered AS SELECT w.kind, w.document, t.feature FROM written w
            JOIN totals t ON t.kind = w.kind AND t.text = w.text;
            CREATE OR REPLACE TABLE entries AS SELECT n.kind, m.author, n.feature, count(*)::DOUBLE AS count
            FROM chosen_members m JOIN numbered n ON n.document = m.document GROUP BY n.kind, m.author, n.feature"""
    )


def _number_institutions(connection: duckdb.DuckDBPyConnection, written: WrittenAffiliations) -> None:
    """Make the tables `texts` (kind, text, feature) and `numbered` (document, position, feature) of institutions.

    Most affiliations are written the same way many times, so texts are compared once for each spelling.
    """
    connection.register("spellings", written.numbered_texts())
    connection.register("written", written.entries)
    (members,) = connection.sql("SELECT count(*) FROM members").fetchall()[0]
    connection.register("known", common_institutions(written, members))
    connection.execute(
        f"""CREATE TABLE spelled AS
            SELECT s.affiliation, coalesce(k.text, lower(s.text)) AS text
            FROM spellings s LEFT JOIN known k ON k.affiliation = s.affiliation
            WHERE s.text <> '' AND (k.text IS NULL OR k.text <> '');
            CREATE TABLE texts AS
            SELECT '{AFF}' AS kind, text, row_number() OVER (ORDER BY text) - 1 AS feature
            FROM (SELECT DISTINCT text FROM spelled);
            CREATE TABLE numbered AS
            SELECT DISTINCT p.document, w.position, n.feature FROM written w JOIN papers p ON p.row = w.document
            JOIN (SELECT s.affiliation, t.feature FROM spelled s JOIN texts t ON t.text = s.text) n
            ON n.affiliation = w.affiliation"""
    )
    for name in ("spellings", "written", "known"):
        connection.unregister(name)


def _bags(connection: duckdb.DuckDBPyConnection, kind: str, authors: int, real: int) -> AuthorBags:
    query = f"SELECT author, feature, count FROM entries WHERE kind = '{kind}' ORDER BY author, feature"
    rows = connection.sql(query).to_arrow_table()
    author, feature, count = (rows[name].to_numpy() for name in ("author", "feature", "count"))
    return _make_bags(author, feature, count, authors, real)


def _make_bags(author: Integers, feature: Integers, count: Floats, authors: int, real: int) -> AuthorBags:
    """The bags with these entries, which are in order; the first `real` authors count for the frequencies."""
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
