"""What the page of a run shows of the tables of a result directory: counts, and a bounded choice of names and papers.

Most is found by queries over the Parquet files, so that memory grows with the number of affiliations only. Orders are
by content, and sums are of whole numbers, so that the same tables give the same values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from homonym.io.paths import plain_path
from homonym.io.result_directory import AUTHORS, DOCUMENTS, MENTIONS
from homonym.records.fields.identifiers import PERSON_ASSIGNED, TITLES
from homonym.report.page import NAME_LENGTH, shortened

if TYPE_CHECKING:
    import duckdb

    from homonym.collection.document_table import WrittenAffiliations

# A collection with no more names than this is shown with all of them, else the largest ones are.
ALL_NAMES, LARGEST_NAMES = 1000, 200
# Maximum number of rows of the other tables.
LISTED = 30
# Maximum numbers of authors and papers: of one name or author, and on the page.
AUTHORS_PER_NAME, MAX_AUTHORS_SHOWN = 50, 1500
PAPERS_PER_AUTHOR, MAX_PAPERS_SHOWN = 25, 5000
# Maximum numbers of forms of a name, affiliations, identifiers and co-authors.
VARIANTS_SHOWN, AFFILIATIONS_SHOWN, IDS_SHOWN, COAUTHORS_SHOWN = 5, 3, 5, 10
# Maximum lengths of texts, in characters.
TITLE_LENGTH, AFFILIATION_LENGTH, ID_LENGTH = 200, 120, 200
# Maximum number of bytes of the facts about authors and papers on the page, without tags: the page has less than 5 MB.
MAX_TEXT_BYTES = 2_000_000
# Least mentions of each class of names by size.
SIZES = (1, 2, 5, 10, 50, 100, 500, 1000)
# Confidence is summed in millionths, because sums of fractions would depend on their order.
MILLION = 1_000_000


# An author with a lower confidence is called doubtful.
DOUBTFUL = 0.9
# Least number of mentions of a name that must be expected to be wrong, for the list of hard names.
LEAST_DOUBT = 0.05


class SizeClass(NamedTuple):
    """Names with a similar number of mentions."""

    least: int
    names: int
    mentions: int
    authors: int


@dataclass
class ShownPaper:
    """A document of an author; `coauthors` are the first ones, `others` the number of the rest."""

    document_id: str | None
    title: str
    year: int | None
    affiliation: str
    coauthors: Sequence[str]
    others: int


@dataclass
class ShownAuthor:
    """An author with some of the papers; `doubt` is the expected number of mentions that belong to other people."""

    author_id: str
    block: str
    name: str
    mentions: int
    documents: int
    first_year: int | None
    last_year: int | None
    confidence: float | None
    doubt: float | None
    variants: Sequence[str] = ()
    affiliations: Sequence[str] = ()
    ids: Sequence[str] = ()
    papers: list[ShownPaper] = field(default_factory=list)


@dataclass
class ShownName:
    """A name with some of its authors; `confidence` is the mean over the mentions that have one.

    `entries` is the number of authors on the documents of its mentions, 0 if there are no documents.
    """

    block: str
    mentions: int
    authors: int
    confidence: float | None
    doubt: float | None
    entries: int = 0
    people: list[ShownAuthor] = field(default_factory=list)


@dataclass(frozen=True)
class ResultTotals:
    """Counts over the whole result."""

    documents: int
    mentions: int
    names: int
    authors: int
    first_year: int | None
    last_year: int | None
    without_year: int
    without_title: int
    confidence: float | None
    doubtful_authors: int
    confirmed_authors: int


@dataclass(frozen=True)
class RunContent:
    """What the page shows; `hardest`, `largest` and `doubtful` are in the order of their tables."""

    totals: ResultTotals
    sizes: Sequence[SizeClass]
    names: Sequence[ShownName]
    hardest: Sequence[ShownName]
    largest: Sequence[ShownAuthor]
    doubtful: Sequence[ShownAuthor]
    has_documents: bool


def read_content(
    result: Path,
    threads: int | None = None,
    memory: int | None = None,
    affiliations: WrittenAffiliations | None = None,
) -> RunContent:
    """Read from a result directory what its page shows; `affiliations` are those of its documents, if known."""
    from homonym.collection.document_table import WrittenAffiliations
    from homonym.collection.result_statistics import result_database

    with plain_path(result) as folder, result_database(threads, memory) as connection:
        has_documents = (result / DOCUMENTS).exists()
        if affiliations is None:
            known = WrittenAffiliations
            affiliations = known.read(folder / DOCUMENTS) if has_documents else known.none()
        _define_tables(connection, folder, has_documents=has_documents)
        _choose(connection)
        authors = _shown_authors(connection)
        _add_papers(connection, authors, affiliations)
        names = [ShownName(*row) for row in _rows(connection, f"SELECT {_NAME} FROM shown_names ORDER BY place")]
        by_block = {name.block: name for name in names}
        for author in authors.values():
            by_block[author.block].people.append(author)
        for block, entries in _entries(connection, affiliations):
            by_block[block].entries = entries
        return RunContent(
            totals=_totals(connection),
            sizes=_size_classes(connection),
            names=names,
            hardest=[by_block[block] for (block,) in _rows(connection, "SELECT block FROM hardest ORDER BY place")],
            largest=_listed(connection, "largest", authors),
            doubtful=_listed(connection, "doubtful", authors),
            has_documents=has_documents,
        )


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(query).fetchall()


def _define_tables(connection: duckdb.DuckDBPyConnection, folder: Path, *, has_documents: bool) -> None:
    """Make the tables `people` and `names`, and views of the files."""
    from homonym.collection.statistics import sql_files

    for view, name in (("authors", AUTHORS), ("mentions", MENTIONS), ("documents", DOCUMENTS)):
        source = f"SELECT * FROM read_parquet({sql_files([folder / name])}, file_row_number = true)"
        if name == DOCUMENTS and not has_documents:
            source = _NO_DOCUMENTS
        connection.execute(f"CREATE VIEW {view} AS {source}")
    # An author id is the block and a digest.
    connection.execute(
        rf"""CREATE TABLE people AS
             SELECT author_id, regexp_replace(author_id, '/[0-9a-f]+$', '') AS block, name, mentions, documents,
                    first_year, last_year, confidence,
                    CAST(round(mentions * (1 - confidence) * {MILLION}) AS BIGINT) AS doubt,
                    coalesce(mentions > 1 AND confidence < {DOUBTFUL}, false) AS is_doubtful
             FROM authors"""
    )
    # Confidence is about clustering. Authors whose mentions all have one ORCID or one ISNI need no check.
    linked = " OR ".join(
        f"bool_and(list_contains(string_split(coalesce(\"constraint\", ''), ';'), 'same:{kind}'))"
        for kind in PERSON_ASSIGNED
    )
    connection.execute(
        f"""CREATE TABLE confirmed AS SELECT author_id FROM mentions
            WHERE author_id IN (SELECT author_id FROM people WHERE is_doubtful) GROUP BY author_id HAVING {linked}"""
    )
    connection.execute(
        """CREATE TABLE names AS
           SELECT block, CAST(sum(mentions) AS BIGINT) AS mentions, count(*) AS authors,
                  CAST(sum(doubt) AS BIGINT) AS doubt,
                  CAST(sum(mentions) FILTER (confidence IS NOT NULL) AS BIGINT) AS known
           FROM people GROUP BY block"""
    )


_NO_DOCUMENTS = """SELECT NULL::VARCHAR AS document_id, NULL::VARCHAR AS title, NULL::INTEGER AS year,
    NULL::BIGINT AS file_row_number WHERE false"""

_NAME = f"""block, mentions, authors, 1 - doubt / (known * {MILLION}.0), doubt / {MILLION}.0"""


def _entries(connection: duckdb.DuckDBPyConnection, affiliations: WrittenAffiliations) -> list[tuple[str, int]]:
    """For each name that is shown the number of authors on the documents of its mentions."""
    authors = pa.table({"row": np.arange(len(affiliations.authors)), "number": affiliations.authors})
    connection.register("author_entries", authors)
    return _rows(
        connection,
        """SELECT m.block, CAST(sum(e.number) AS BIGINT)
           FROM mentions m JOIN shown_names n ON n.block = m.block JOIN documents d ON d.document_id = m.document_id
           JOIN author_entries e ON e.row = d.file_row_number GROUP BY m.block""",
    )


def _choose(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables of what is shown: `hardest` names, `largest` and `doubtful` authors, `shown_names`, `shown`."""
    by_doubt = "doubt DESC NULLS LAST, authors DESC, mentions DESC, block"
    hard = f"SELECT * FROM names WHERE mentions > 1 AND coalesce(doubt, {MILLION}) >= {round(LEAST_DOUBT * MILLION)}"
    _save(connection, "hardest", hard, by_doubt, LISTED)
    large = "SELECT * FROM people WHERE documents >= least((SELECT max(documents) FROM people), 2)"
    _save(connection, "largest", large, "documents DESC, mentions DESC, author_id", LISTED)
    doubtful = "SELECT * FROM people WHERE is_doubtful AND author_id NOT IN (SELECT author_id FROM confirmed)"
    _save(connection, "doubtful", doubtful, "doubt DESC, confidence, author_id", LISTED)
    number = _rows(connection, "SELECT count(*) FROM names")[0][0]
    limit = number if number <= ALL_NAMES else LARGEST_NAMES
    connection.execute(
        f"""CREATE TABLE chosen_blocks AS
            SELECT block FROM (SELECT block FROM names ORDER BY mentions DESC, authors DESC, block LIMIT {limit})
            UNION SELECT block FROM hardest UNION SELECT block FROM largest UNION SELECT block FROM doubtful"""
    )
    chosen = "SELECT * FROM names WHERE block IN (SELECT block FROM chosen_blocks)"
    _save(connection, "shown_names", chosen, "mentions DESC, authors DESC, block")
    # Each name gets its first author, then each its second one, and so on; those of the tables come first.
    listed = "author_id IN (SELECT author_id FROM largest UNION SELECT author_id FROM doubtful)"
    ranked = f"""SELECT p.*, n.place AS name_place, {listed} AS is_listed,
                        row_number() OVER (PARTITION BY p.block ORDER BY p.mentions DESC, p.author_id) AS rank
                 FROM people p JOIN shown_names n ON n.block = p.block"""
    ranked = f"SELECT * FROM ({ranked}) WHERE is_listed OR rank <= {AUTHORS_PER_NAME}"
    _save(connection, "shown", ranked, "is_listed DESC, rank, name_place", MAX_AUTHORS_SHOWN)


def _save(connection: duckdb.DuckDBPyConnection, table: str, query: str, order: str, limit: int | None = None) -> None:
    """Make a table of the first rows of a query; `place` is their number."""
    first = f"SELECT * FROM ({query}) ORDER BY {order} LIMIT {limit}" if limit is not None else query
    connection.execute(
        f"CREATE TABLE {table} AS SELECT *, row_number() OVER (ORDER BY {order}) AS place FROM ({first})"
    )


_AUTHOR = f"""author_id, block, name, mentions, documents, first_year, last_year, confidence, doubt / {MILLION}.0"""


def _shown_authors(connection: duckdb.DuckDBPyConnection) -> dict[str, ShownAuthor]:
    """The authors that are shown, by id; those of one name are ordered by size."""
    rows = _rows(connection, f"SELECT {_AUTHOR} FROM shown ORDER BY name_place, rank")
    authors = {row[0]: ShownAuthor(*row) for row in rows}
    query = """SELECT author_id, a.variants, a.affiliations, a.ids FROM authors a
               WHERE author_id IN (SELECT author_id FROM shown)"""
    for author_id, variants, affiliations, ids in _rows(connection, query):
        author = authors[author_id]
        author.name = shortened(author.name or author.block, NAME_LENGTH)
        forms = (shortened(one["name"], NAME_LENGTH) for one in variants or ())
        author.variants = _first(dict.fromkeys(form for form in forms if form != author.name), VARIANTS_SHOWN)
        author.affiliations = _first(
            (shortened(one["affiliation"], AFFILIATION_LENGTH) for one in affiliations or ()), AFFILIATIONS_SHOWN
        )
        named = (f"{TITLES.get(one['kind'], one['kind'])} {one['id']}" for one in ids or ())
        author.ids = _first((shortened(text, NAME_LENGTH) for text in named), IDS_SHOWN)
    return authors


def _first(values: Iterable[str], number: int) -> list[str]:
    return list(values)[:number]


def _add_papers(
    connection: duckdb.DuckDBPyConnection, authors: Mapping[str, ShownAuthor], affiliations: WrittenAffiliations
) -> None:
    """Add papers to authors, the latest first: one to each, then another to each, as long as there is room."""
    room = MAX_TEXT_BYTES
    for author in authors.values():
        room -= text_bytes([author.name, author.author_id[:ID_LENGTH]])
    for author in authors.values():
        room -= text_bytes([*author.variants, *author.affiliations, *author.ids])
        if room < 0:
            author.variants = author.affiliations = author.ids = ()
    _choose_papers(connection)
    names = _names_on_papers(connection)
    query = "SELECT author_id, document_id, own, title, year, row, position FROM papers ORDER BY rank, place"
    papers = _rows(connection, query)
    places = (np.array([-1 if paper[at] is None else paper[at] for paper in papers], np.int64) for at in (5, 6))
    written = affiliations.of_authors(*places)
    for (author_id, document_id, own, title, year, *_), own_affiliations in zip(papers, written, strict=True):
        total, first = names.get(document_id, (own, []))
        coauthors = [shortened(name, NAME_LENGTH) for other, name in first if other != author_id]
        paper = ShownPaper(
            document_id=shortened(document_id, NAME_LENGTH),
            title=shortened(title, TITLE_LENGTH),
            year=year,
            affiliation=shortened("; ".join(own_affiliations), AFFILIATION_LENGTH),
            coauthors=coauthors[:COAUTHORS_SHOWN],
            others=total - own - len(coauthors[:COAUTHORS_SHOWN]),
        )
        room -= text_bytes([paper.document_id, paper.title, paper.affiliation, *paper.coauthors])
        if room < 0:
            return
        authors[author_id].papers.append(paper)


def _choose_papers(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `papers`, a row per author and paper; `row` is that of the document in its table."""
    connection.execute(
        """CREATE TABLE written AS
           SELECT s.place, m.author_id, coalesce(m.document_id, m.mention_id) AS document_id,
                  min(m.position) AS position, count(*) AS own
           FROM mentions m JOIN shown s ON s.author_id = m.author_id GROUP BY ALL"""
    )
    rank = "row_number() OVER (PARTITION BY w.place ORDER BY d.year DESC NULLS LAST, w.document_id)"
    connection.execute(
        f"""CREATE TABLE papers AS SELECT * FROM
              (SELECT w.*, d.title, d.year, d.file_row_number AS row, {rank} AS rank
               FROM written w LEFT JOIN documents d ON d.document_id = w.document_id)
            WHERE rank <= {PAPERS_PER_AUTHOR} ORDER BY rank, place LIMIT {MAX_PAPERS_SHOWN}"""
    )


def _names_on_papers(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[int, list[tuple[str, str]]]]:
    """For each paper the number of its mentions, and authors and names of the first ones."""
    number = COAUTHORS_SHOWN + 1
    query = f"""SELECT document_id, count(*) AS total,
                       list({{'author': author_id, 'name': name}} ORDER BY position, mention_id)[:{number}] AS names
                FROM mentions WHERE document_id IN (SELECT document_id FROM papers) GROUP BY document_id"""
    return {
        document_id: (total, [(one["author"], one["name"] or "") for one in names])
        for document_id, total, names in _rows(connection, query)
    }


def _totals(connection: duckdb.DuckDBPyConnection) -> ResultTotals:
    documents = _rows(
        connection,
        """SELECT count(*), min(year), max(year), count(*) FILTER (year IS NULL),
                  count(*) FILTER (coalesce(title, '') = '') FROM documents""",
    )[0]
    names = _rows(
        connection,
        f"""SELECT coalesce(CAST(sum(mentions) AS BIGINT), 0), count(*), coalesce(CAST(sum(authors) AS BIGINT), 0),
                   1 - CAST(sum(doubt) AS BIGINT) / (CAST(sum(known) AS BIGINT) * {MILLION}.0) FROM names""",
    )[0]
    low = _rows(connection, "SELECT count(*) FILTER (is_doubtful), (SELECT count(*) FROM confirmed) FROM people")[0]
    return ResultTotals(
        documents=documents[0],
        mentions=names[0],
        names=names[1],
        authors=names[2],
        first_year=documents[1],
        last_year=documents[2],
        without_year=documents[3],
        without_title=documents[4],
        confidence=names[3],
        doubtful_authors=low[0] - low[1],
        confirmed_authors=low[1],
    )


def _size_classes(connection: duckdb.DuckDBPyConnection) -> list[SizeClass]:
    least = " ".join(f"WHEN mentions >= {size} THEN {size}" for size in reversed(SIZES))
    query = f"""SELECT CASE {least} END AS least, count(*), CAST(sum(mentions) AS BIGINT), CAST(sum(authors) AS BIGINT)
                FROM names GROUP BY least ORDER BY least"""
    return [SizeClass(*row) for row in _rows(connection, query)]


def _listed(connection: duckdb.DuckDBPyConnection, table: str, authors: Mapping[str, ShownAuthor]) -> list[ShownAuthor]:
    return [authors[author_id] for (author_id,) in _rows(connection, f"SELECT author_id FROM {table} ORDER BY place")]


def text_bytes(texts: Iterable[str | None]) -> int:
    """Number of bytes of texts on a page, where some characters are written as references."""
    return len(escape("".join([text or "" for text in texts])).encode())
