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

from homonym.clustering.merging import Frequencies
from homonym.collection.parts import PARTS, SLOT_BITS
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


def count_features(connection: duckdb.DuckDBPyConnection, given: GivenStatistics | None) -> Frequencies:
    """Number the features of the run by type and name, with #(f) counted over it or taken from elsewhere."""
    connection.execute(f"CREATE OR REPLACE VIEW used AS SELECT * FROM occurrences WHERE {kept('owner')}")
    resolve_references(connection)
    connection.execute(
        f"CREATE OR REPLACE TABLE counted AS SELECT type, feature, {EXACT_SUM} AS count FROM bags GROUP BY ALL"
    )
    if given:
        take_given(connection, given)
    connection.execute(
        """CREATE OR REPLACE TABLE vocabulary AS
           SELECT (row_number() OVER (ORDER BY type, feature) - 1)::INTEGER AS id, type, feature, count FROM counted"""
    )
    return _frequencies(connection, given)


def resolve_references(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the view `bags`: all occurrences, with the authors of referenced documents of the run among `ref`."""
    if not _value(connection, 'SELECT count(*) FROM "references"'):
        connection.execute("CREATE OR REPLACE VIEW bags AS SELECT * FROM used")
        return
    connection.execute(
        f"""CREATE OR REPLACE TABLE referenced AS
            SELECT owner, type, feature, sum(count) AS count, any_value(holders) AS holders FROM
              (SELECT * FROM used WHERE type = 'ref'
               UNION ALL BY NAME
               SELECT r.sequence << {SLOT_BITS} AS owner, 'ref' AS type, m.own_name AS feature, 1.0::DOUBLE AS count,
                      r.holders
               FROM "references" r
               JOIN records d ON d.id = r.id
               JOIN mentions m ON m.owner >> {SLOT_BITS} = d.sequence
               WHERE {kept(f"r.sequence << {SLOT_BITS}")} AND {kept("m.owner")})
            GROUP BY ALL"""
    )
    connection.execute(
        "CREATE OR REPLACE VIEW bags AS "
        "SELECT * FROM used WHERE type <> 'ref' UNION ALL BY NAME SELECT * FROM referenced"
    )


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


def ordered_bags(connection: duckdb.DuckDBPyConnection) -> Any:
    """Stream all occurrences as (owner, id, count), by owner and feature."""
    return connection.sql(
        "SELECT owner, id, bags.count AS count FROM bags JOIN vocabulary USING (type, feature) ORDER BY owner, id"
    ).to_arrow_reader(1_000_000)


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
