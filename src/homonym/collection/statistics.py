"""Statistics: the feature frequencies of a collection, saved as a table for use with another collection.

A JSON file next to the table has the number of mentions and the mass of each feature type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from homonym.clustering.arrays import Frequencies
from homonym.errors import InputError, OutputError, SettingsError
from homonym.features.institutions import PREFIX as INSTITUTION
from homonym.io.inputs import require_files, unreadable
from homonym.io.outputs import atomic_path, side_file, write_atomic
from homonym.io.tables import open_table
from homonym.schema import STATISTICS

if TYPE_CHECKING:
    import duckdb

# Maximum count of a feature: sums must stay well below 2⁶³, where exact sums end (see counting.py).
LARGEST_TOTAL = 1e15


@dataclass(frozen=True)
class GivenStatistics:
    """Frequencies counted elsewhere: a table `type, feature, count` and what it was counted over."""

    path: Path
    mentions: int
    mass: dict[str, float] | None = None


def given_statistics(path: Path, mentions: int | None) -> GivenStatistics:
    """Statistics from a file; the number of mentions is given or saved next to it."""
    require_files([path])
    mass = None
    if statistics_side_file(path).is_file():
        saved, mass = _read_collection(statistics_side_file(path))
        mentions = saved if mentions is None else mentions
    if mentions is None:
        raise SettingsError(f"give the number of mentions that {path} was counted over with --mentions-in-collection.")
    if mentions < 1:
        raise SettingsError(f"--mentions-in-collection must be at least 1, got {mentions}.")
    return GivenStatistics(path, mentions, mass)


def _read_collection(path: Path) -> tuple[int, dict[str, float]]:
    try:
        saved = orjson.loads(path.read_bytes())
        mentions, mass = int(saved["mentions_in_collection"]), dict(saved.get("mass") or {})
        if not all(isinstance(value, int | float) and value > 0 for value in mass.values()):
            raise ValueError("a mass is not a positive number")
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: expected JSON with mentions_in_collection and mass ({error!r}).") from error
    return mentions, mass


def save_statistics(connection: duckdb.DuckDBPyConnection, frequencies: Frequencies, path: Path) -> None:
    """Save the frequencies of a run, for use with other collections."""
    with atomic_path(path) as partial:
        _copy_table(connection, partial)
    counted_over = {
        "mentions_in_collection": frequencies.mentions,
        "mass": dict(zip(frequencies.types, frequencies.mass.tolist(), strict=True)),
    }
    write_atomic(statistics_side_file(path), orjson.dumps(counted_over, option=orjson.OPT_INDENT_2))


def statistics_side_file(path: Path) -> Path:
    """The file next to a statistics table that has the number of mentions and the masses."""
    return side_file(path, ".collection.json")


def require_statistics_path(path: Path) -> None:
    """Fail before any work is done if statistics cannot be written in the format of the suffix."""
    if not path.name.endswith((".csv", ".csv.gz", ".parquet")):
        raise OutputError(f"{path}: statistics are written as .csv, .csv.gz or .parquet; choose one of these suffixes.")


def _copy_table(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write #(f) as CSV or Parquet, by suffix. DuckDB writes it, because the table may be larger than memory."""
    options = "FORMAT parquet"
    if not path.name.endswith(".parquet"):
        options = "FORMAT csv, HEADER" + (", COMPRESSION gzip" if path.suffix == ".gz" else "")
    options += ", USE_TMP_FILE false"  # the path is a temporary file already
    query = "SELECT type, feature, count FROM vocabulary ORDER BY id"
    connection.execute(f"COPY ({query}) TO '{sql_quoted(path)}' ({options})")


def use_given_counts(connection: duckdb.DuckDBPyConnection, given: GivenStatistics) -> None:
    """Replace counts in the table `counted` by given ones where there are any; the column `is_given` marks them."""
    _read_table(connection, given.path)
    if _exists(connection, f"FROM given WHERE (count > 0 AND count <= {LARGEST_TOTAL}) IS NOT TRUE"):
        raise InputError(
            f"{given.path}: every count must be a positive number up to {LARGEST_TOTAL:g}; correct the other rows."
        )
    if _exists(connection, "FROM given GROUP BY type, feature HAVING count(*) > 1"):
        raise InputError(f"{given.path}: some features occur twice; sum their counts into one row each.")
    connection.execute(
        """CREATE OR REPLACE TABLE counted AS
           SELECT type, feature, coalesce(g.count, c.count) AS count, g.count IS NOT NULL AS is_given
           FROM counted c LEFT JOIN given g USING (type, feature)"""
    )


class CountedFeatures(NamedTuple):
    """Which kinds of features statistics count: full names of co-authors, and institutions if there are affiliations.

    Those of homonym 0.7 and earlier have neither, those of 0.8 have full names.
    """

    full_names: bool
    institutions: bool


def counted_features(given: GivenStatistics) -> CountedFeatures:
    """Read which kinds of features the statistics count."""
    full_names = institutions = has_affiliations = False
    with open_table(given.path, "feature") as table:
        table.require(STATISTICS.names)
        for batch in table.batches(["type", "feature"]):
            kind, feature = batch["type"], batch["feature"]
            coauthors, affiliations = (feature.filter(pc.equal(kind, one)) for one in ("co", "aff"))
            full_names |= pc.any(pc.match_substring(coauthors, "|"), min_count=0).as_py()
            institutions |= pc.any(pc.starts_with(affiliations, INSTITUTION), min_count=0).as_py()
            has_affiliations |= len(affiliations) > 0
            if full_names and institutions:
                break
    return CountedFeatures(full_names, institutions or not has_affiliations)


def _read_table(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Load a statistics table into the table `given`."""
    import duckdb

    schema = pa.schema([field.with_nullable(True) for field in STATISTICS])
    with open_table(path, "feature") as table:
        table.require(STATISTICS.names)
        batches = table.batches(STATISTICS.names, types={"count": pa.float64()})
        refused: list[InputError] = []
        connection.register("given_file", pa.RecordBatchReader.from_batches(schema, _noting(batches, refused)))
        try:
            connection.execute("CREATE OR REPLACE TABLE given AS SELECT type, feature, count FROM given_file")
        except duckdb.Error:
            if refused:
                raise refused[0] from None
            raise
        connection.unregister("given_file")


def _noting(batches: Iterator[pa.RecordBatch], refused: list[InputError]) -> Iterator[pa.RecordBatch]:
    """The same batches; an error is also noted, because DuckDB turns it into one of its own."""
    try:
        yield from batches
    except InputError as error:
        refused.append(error)
        raise


def _exists(connection: duckdb.DuckDBPyConnection, rows: str) -> bool:
    return connection.execute(f"SELECT 1 {rows} LIMIT 1").fetchone() is not None


def sql_quoted(path: Path) -> str:
    """A path for use inside a quoted SQL string."""
    return str(path).replace("'", "''")


def sql_files(paths: Sequence[Path]) -> str:
    """A list of files as SQL, for reading. DuckDB would expand patterns even here, so they are written as classes.

    >>> sql_files([Path("a[1].csv"), Path("it's.csv")])
    "['a[[]1].csv', 'it''s.csv']"
    """
    escaped = [re.sub(r"[\[*?]", lambda found: f"[{found[0]}]", sql_quoted(path)) for path in paths]
    return "[" + ", ".join(f"'{path}'" for path in escaped) + "]"
