"""Parts to frequencies: duplicates found, references resolved, #(f) counted, features numbered. DuckDB does the work.

Results must not depend on the order in which rows arrive, and sums of floating-point numbers do. So counts are summed
as integers in units of 2⁻⁶⁴, which is exact for every double above 2⁻¹¹ and off by less than 1e-10 of the value for
the smallest count that is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from homonym.clustering.arrays import Frequencies
from homonym.collection.encoded import Encoded
from homonym.collection.layout import PARTS, SLOT_BITS, part_file
from homonym.collection.statistics import GivenStatistics, quoted, take_given

if TYPE_CHECKING:
    import duckdb


UNITS = 2.0**64
EXACT_SUM = f"(sum((count * {UNITS:.0f}.0)::HUGEINT * holders) / {UNITS:.0f}.0)::DOUBLE"


def connect(work: Path, memory: int, threads: int) -> duckdb.DuckDBPyConnection:
    """Open the work directory's database under a memory limit; what does not fit spills beside it."""
    import duckdb

    connection = duckdb.connect(work / "collection.duckdb")
    connection.execute(f"SET memory_limit = '{memory // 2**20}MiB'")
    connection.execute(f"SET threads = {threads}")
    connection.execute("SET preserve_insertion_order = false")
    # Relations show a bar on standard output, whatever enable_progress_bar says.
    connection.execute("SET enable_progress_bar_print = false")
    connection.execute("SET temp_directory = ?", [str(work / "spill")])
    return connection


def read_parts(connection: duckdb.DuckDBPyConnection, work: Path) -> None:
    """Make the parts visible, tables that no part has filled included."""
    for name, schema in PARTS.items():
        if (work / name).is_dir():
            files = quoted(work / name / "*.parquet")
            connection.execute(f"CREATE VIEW \"{name}\" AS SELECT * FROM read_parquet('{files}')")
        else:
            connection.register("empty", schema.empty_table())
            connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM empty')
            connection.unregister("empty")


@dataclass(frozen=True)
class Duplicate:
    """A record that came before: where it stands, where the first one does, and what shows that they are one."""

    sequence: int
    line: int
    first_sequence: int
    first_line: int
    key: str


def find_duplicates(connection: duckdb.DuckDBPyConnection, shown: int) -> tuple[int, list[Duplicate]]:
    """Find records of documents that came before; they are left out from here on. Gives their number, and the first.

    Records with a key in common are one document, also where the key that links them is on a third.
    """
    connection.execute(
        """CREATE OR REPLACE VIEW known_by AS
           SELECT sequence, 'id:' || id AS key FROM records WHERE id_is_key UNION ALL SELECT sequence, key FROM keys"""
    )
    connection.execute(
        """CREATE OR REPLACE TABLE linked AS
           SELECT DISTINCT sequence, key, sequence AS first FROM known_by
           WHERE key IN (SELECT key FROM known_by GROUP BY key HAVING count(*) > 1)"""
    )
    while _link(connection):
        pass
    connection.execute(
        """CREATE OR REPLACE TABLE duplicates AS
           SELECT sequence, any_value(first) AS first, min(key) AS key FROM linked
           WHERE sequence > first GROUP BY sequence"""
    )
    rows = connection.execute(
        """SELECT d.sequence, r.line, d.first, f.line, d.key FROM duplicates d
           JOIN records r ON r.sequence = d.sequence JOIN records f ON f.sequence = d.first
           ORDER BY d.sequence LIMIT ?""",
        [shown],
    ).fetchall()
    return int(_value(connection, "SELECT count(*) FROM duplicates")), [Duplicate(*row) for row in rows]


def _link(connection: duckdb.DuckDBPyConnection) -> bool:
    """Give each linked record the first of those that it shares a key with; says whether that changed anything."""
    before = _value(connection, "SELECT sum(first) FROM linked")
    connection.execute(
        """CREATE OR REPLACE TABLE linked AS
           SELECT sequence, key, min(first) OVER (PARTITION BY sequence) AS first
           FROM (SELECT sequence, key, min(first) OVER (PARTITION BY key) AS first FROM linked)"""
    )
    return bool(_value(connection, "SELECT sum(first) FROM linked") != before)


def tell_names_apart(connection: duckdb.DuckDBPyConnection) -> None:
    """Number different documents that somebody gave the same id: the second `smith2020` is `smith2020~2`."""
    connection.execute(
        f"""CREATE OR REPLACE TABLE renamed AS
            SELECT sequence, id || '~' || place AS id FROM
              (SELECT sequence, id, row_number() OVER (PARTITION BY id ORDER BY id_is_key DESC, sequence) AS place
               FROM records
               WHERE id IN (SELECT id FROM records WHERE NOT id_is_key) AND {first_only("sequence")})
            WHERE place > 1"""
    )
    query = "SELECT * FROM mentions"
    if _value(connection, "SELECT count(*) FROM renamed"):
        query = f"""SELECT m.* REPLACE (coalesce(r.id || '#' || position, mention_id) AS mention_id,
                                        coalesce(r.id, document_id) AS document_id)
                    FROM mentions m LEFT JOIN renamed r ON r.sequence = m.owner >> {SLOT_BITS}"""
    connection.execute(f"CREATE OR REPLACE VIEW named_mentions AS {query}")


def count_features(connection: duckdb.DuckDBPyConnection, given: GivenStatistics | None, work: Path) -> Frequencies:
    """Number the features of the run by type and name, with #(f) counted over it or taken from elsewhere.

    What the parts have counted is added up; what duplicate records have added there is taken off again.
    """
    resolve_references(connection)
    find_counted_twice(connection, work)
    connection.execute(
        f"""CREATE OR REPLACE TABLE counted AS SELECT type, feature, {EXACT_SUM} AS count FROM
              (SELECT type, feature, count, holders FROM features
               UNION ALL BY NAME SELECT 'ref' AS type, feature, count, holders FROM referenced
               UNION ALL BY NAME SELECT type, feature, count, -holders AS holders FROM counted_twice)
            GROUP BY ALL HAVING {EXACT_SUM} > 0"""
    )
    if given:
        take_given(connection, given)
    connection.execute(
        """CREATE OR REPLACE TABLE vocabulary AS
           SELECT (row_number() OVER (ORDER BY type, feature) - 1)::INTEGER AS id, type, feature, count FROM counted"""
    )
    return _frequencies(connection, given)


def find_counted_twice(connection: duckdb.DuckDBPyConnection, work: Path) -> None:
    """Make the table `counted_twice`: what duplicate records have added to the counts of their parts."""
    connection.execute(
        "CREATE OR REPLACE TABLE counted_twice (type VARCHAR, feature VARCHAR, count DOUBLE, holders BIGINT)"
    )
    if not _value(connection, "SELECT count(*) FROM duplicates") or not (work / "bags").is_dir():
        return
    # Parts are named by the sequence of their first record, so that only those with duplicates have to be read.
    parts = sorted(int(path.stem) for path in (work / "bags").iterdir())
    for part, following in zip(parts, [*parts[1:], 1 << 62], strict=True):
        among = f"SELECT sequence << {SLOT_BITS} FROM duplicates WHERE sequence BETWEEN {part} AND {following - 1}"
        if _value(connection, f"SELECT count(*) FROM ({among})"):
            bags, features = (quoted(part_file(work, name, part)) for name in ("bags", "features"))
            connection.execute(
                f"""INSERT INTO counted_twice
                    SELECT f.type, f.feature, b.count, b.holders
                    FROM read_parquet('{bags}') b JOIN read_parquet('{features}') f ON f.id = b.feature AND NOT f.again
                    WHERE (b.owner >> {SLOT_BITS}) << {SLOT_BITS} IN ({among})"""
            )


def resolve_references(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the table `referenced`: the authors of documents of the run that documents refer to, as features `ref`."""
    connection.execute(
        f"""CREATE OR REPLACE TABLE referenced AS
            SELECT r.sequence << {SLOT_BITS} AS owner, m.own_name AS feature, count(*)::DOUBLE AS count,
                   any_value(r.holders)::BIGINT AS holders
            FROM "references" r
            JOIN records d ON d.id = r.id
            JOIN mentions m ON m.owner >> {SLOT_BITS} = d.sequence
            WHERE m.own_name IS NOT NULL AND {kept(f"r.sequence << {SLOT_BITS}")} AND {kept("m.owner")}
            GROUP BY ALL"""
    )


def renumbered_features(connection: duckdb.DuckDBPyConnection) -> Any:
    """Stream (part, id, number): what each feature of each part is called there and in the whole collection."""
    return connection.sql(
        """SELECT part, f.id AS id, coalesce(v.id, -1)::INTEGER AS number
           FROM features f LEFT JOIN vocabulary v USING (type, feature) WHERE NOT again ORDER BY part, f.id"""
    ).to_arrow_reader(1_000_000)


def referenced_bags(connection: duckdb.DuckDBPyConnection) -> Any:
    """The resolved references as (owner, number, count), by owner and feature."""
    return connection.sql(
        """SELECT owner, v.id AS number, r.count FROM referenced r JOIN vocabulary v ON v.type = 'ref' AND
           v.feature = r.feature ORDER BY owner, number"""
    ).to_arrow_table()


def count_mentions(connection: duckdb.DuckDBPyConnection) -> int:
    """N: the mentions of the run, those of duplicate records left out."""
    return int(_value(connection, f"SELECT count(*) FROM mentions WHERE {kept('owner')}"))


def count_authors(connection: duckdb.DuckDBPyConnection) -> int:
    """The author entries of all documents, those of duplicate records left out."""
    query = f"SELECT coalesce(sum(authors), 0) FROM records WHERE {first_only('sequence')}"
    return int(_value(connection, query))


def features_missing_from_statistics(connection: duckdb.DuckDBPyConnection) -> int:
    """How many features of the run the given statistics do not know."""
    return int(_value(connection, "SELECT count(*) FROM counted WHERE NOT known"))


def write_ordered_mentions(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the mentions in the order of the result, each with the feature id of its own name."""
    connection.execute(
        f"""COPY (SELECT m.owner, coalesce(v.id, -1)::INTEGER AS own_name, mention_id, document_id, position, name,
                         parsed_name, block, author
                  FROM named_mentions m LEFT JOIN vocabulary v ON v.type = 'co' AND v.feature = m.own_name
                  WHERE {kept("m.owner")}
                  ORDER BY block, document_id NULLS FIRST, position NULLS FIRST, mention_id)
            TO '{quoted(path)}' (FORMAT parquet, COMPRESSION lz4)"""
    )


def write_identifiers(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write the identifiers of all mentions, one of each kind: "Researcher-ID" and "researcherid" are one kind."""
    connection.execute(
        f"""COPY (SELECT owner, lower(regexp_replace(kind, '[-_\\s]', '', 'g')) AS kind, min(id) AS id
                  FROM identifiers WHERE {kept("owner")} GROUP BY ALL ORDER BY owner, kind)
            TO '{quoted(path)}' (FORMAT parquet, COMPRESSION lz4)"""
    )


def write_vocabulary(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write type and name of every feature, in the order of their ids."""
    connection.execute(f"COPY (SELECT type, feature FROM vocabulary ORDER BY id) TO '{quoted(path)}' (FORMAT parquet)")


def _frequencies(connection: duckdb.DuckDBPyConnection, given: GivenStatistics | None) -> Frequencies:
    mass_source = "given" if given else "vocabulary"
    rows = connection.execute("SELECT type, count(*) FROM vocabulary GROUP BY type ORDER BY type").fetchall()
    exact = EXACT_SUM.replace("holders", "1")
    mass = dict(connection.execute(f"SELECT type, {exact} FROM {mass_source} GROUP BY type").fetchall())
    if given and given.mass:
        mass |= given.mass
    total = connection.execute("SELECT count FROM vocabulary ORDER BY id").fetchnumpy()["count"]
    return Frequencies(
        types=tuple(kind for kind, _ in rows),
        type_start=np.cumsum([0] + [size for _, size in rows], dtype=np.int64),
        total=np.ascontiguousarray(total, np.float64),
        mass=np.array([mass.get(kind, 0.0) for kind, _ in rows], np.float64),
        mentions=given.mentions if given else count_mentions(connection),
    )


def kept(owner: str) -> str:
    """A condition: what belongs to this owner is not that of a duplicate."""
    return first_only(f"({owner}) >> {SLOT_BITS}")


def first_only(sequence: str) -> str:
    """A condition: the record of this sequence is no duplicate."""
    return f"{sequence} NOT IN (SELECT sequence FROM duplicates)"


def _value(connection: duckdb.DuckDBPyConnection, query: str) -> Any:
    row: Iterable[Any] = connection.execute(query).fetchone() or (None,)
    return next(iter(row))


#: Mentions whose bags are looked at together.
BATCH_MENTIONS = 100_000


@dataclass(frozen=True)
class Inventory:
    """Counts over the documents of a run, duplicates left out.

    `years` are the first, the middle and the last one; `identifiers` the mentions that carry each kind and how many
    different values there are; `document_ids` the documents that carry each kind; `frequent` the names with most
    mentions, and how many documents these are on.
    """

    records: int
    without_authors: int
    mentions: int
    names: int
    labelled: int
    with_year: int
    years: tuple[int, int, int] | None
    document_ids: dict[str, int]
    identifiers: dict[str, tuple[int, int]]
    frequent: list[tuple[str, int, int]]


def take_inventory(connection: duckdb.DuckDBPyConnection, most_frequent: int) -> Inventory:
    """Count what the parts of a run hold."""
    connection.execute(f"CREATE OR REPLACE VIEW kept_mentions AS SELECT * FROM mentions WHERE {kept('owner')}")
    connection.execute(f"CREATE OR REPLACE VIEW kept_records AS SELECT * FROM records WHERE {first_only('sequence')}")
    records, without_authors, with_year, first, middle, last = _row(
        connection,
        """SELECT count(*), count(*) FILTER (authors = 0), count(year), min(year), quantile_disc(year, 0.5), max(year)
           FROM kept_records""",
    )
    mentions, names, labelled = _row(
        connection, "SELECT count(*), count(DISTINCT block), count(author) FROM kept_mentions"
    )
    return Inventory(
        records=records,
        without_authors=without_authors,
        mentions=mentions,
        names=names,
        labelled=labelled,
        with_year=with_year,
        years=(first, middle, last) if with_year else None,
        document_ids=dict(_document_ids(connection)),
        identifiers={kind: (holders, values) for kind, holders, values in _identifiers(connection)},
        frequent=_frequent(connection, most_frequent),
    )


def share_with_features(encoded: Encoded) -> dict[str, float]:
    """The share of mentions that have each feature type, as `disambiguate` would see them."""
    types, type_start = encoded.frequencies.types, encoded.frequencies.type_start
    mentions = len(encoded.mention_owner)
    having = np.zeros(len(types), np.int64)
    everything = np.ones(len(types), bool)
    for start in range(0, mentions, BATCH_MENTIONS):
        bag_start, feature, _ = encoded.gather_mentions(slice(start, start + BATCH_MENTIONS), everything)
        mention = np.repeat(np.arange(len(bag_start) - 1), np.diff(bag_start))
        kind = np.searchsorted(type_start, feature, side="right") - 1
        having += np.bincount(np.unique(mention * len(types) + kind) % len(types), minlength=len(types))
    return {kind: count / mentions for kind, count in zip(types, having.tolist(), strict=True)}


def _document_ids(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    return connection.execute(
        f"""SELECT split_part(key, ':', 1) AS kind, count(DISTINCT sequence) FROM keys
            WHERE kind <> 'name' AND {first_only("sequence")} GROUP BY kind ORDER BY 2 DESC, 1"""
    ).fetchall()


def _identifiers(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    # Addresses are among them because they link people; they are counted with the features.
    return connection.execute(
        f"""SELECT kind, count(DISTINCT owner), count(DISTINCT id) FROM identifiers
            WHERE kind <> 'email' AND {kept("owner")} GROUP BY kind ORDER BY 2 DESC, 1"""
    ).fetchall()


def _frequent(connection: duckdb.DuckDBPyConnection, most: int) -> list[Any]:
    return connection.execute(
        f"""SELECT block, count(*), count(DISTINCT owner >> {SLOT_BITS}) FROM kept_mentions
            GROUP BY block ORDER BY 2 DESC, 1 LIMIT ?""",
        [most],
    ).fetchall()


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row
