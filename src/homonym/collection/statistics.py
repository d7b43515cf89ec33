"""Statistics: the frequencies of one collection saved for use in another, as a table and a JSON file next to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from homonym.clustering.arrays import Frequencies
from homonym.errors import InputError, OutputError, SettingsError
from homonym.io.inputs import require_files, unreadable
from homonym.io.outputs import atomic_path, side_file, write_atomic
from homonym.messages import first_line
from homonym.schema import STATISTICS

if TYPE_CHECKING:
    import duckdb

# Maximum count in given statistics: sums are exact only below 2⁶³ (see counting.py).
LARGEST_TOTAL = 1e15


@dataclass(frozen=True)
class GivenStatistics:
    """Frequencies of another collection: a table `type, feature, count`, its number of mentions, and its masses."""

    path: Path
    mentions: int
    mass: dict[str, float] | None = None


def given_statistics(path: Path, mentions: int | None) -> GivenStatistics:
    """Statistics from a file; the number of mentions is given, or read from the JSON file next to it."""
    require_files([path])
    mass = None
    if statistics_metadata_path(path).is_file():
        kept, mass = _read_collection(statistics_metadata_path(path))
        mentions = kept if mentions is None else mentions
    if mentions is None:
        raise SettingsError(f"how many mentions was {path} counted over? Say so with --mentions-in-collection.")
    if mentions < 1:
        raise SettingsError(f"--mentions-in-collection must be at least 1, got {mentions}.")
    return GivenStatistics(path, mentions, mass)


def _read_collection(path: Path) -> tuple[int, dict[str, float]]:
    try:
        kept = orjson.loads(path.read_bytes())
        mentions, mass = int(kept["mentions_in_collection"]), dict(kept.get("mass") or {})
        if not all(isinstance(value, int | float) and value > 0 for value in mass.values()):
            raise ValueError("a mass is not a positive number")
    except OSError as broken:
        raise unreadable(path, broken) from broken
    except (ValueError, KeyError, TypeError, AttributeError) as broken:
        raise InputError(f"{path}: expected JSON with mentions_in_collection and mass ({broken!r}).") from broken
    return mentions, mass


def save_statistics(connection: duckdb.DuckDBPyConnection, known: Frequencies, path: Path) -> None:
    """Save the frequencies of a run."""
    with atomic_path(path) as partial:
        _write_table(connection, partial)
    counted_over = {
        "mentions_in_collection": known.mentions,
        "mass": dict(zip(known.types, known.mass.tolist(), strict=True)),
    }
    write_atomic(statistics_metadata_path(path), orjson.dumps(counted_over, option=orjson.OPT_INDENT_2))


def statistics_metadata_path(path: Path) -> Path:
    """The JSON file next to a statistics table, with the number of mentions and the masses."""
    return side_file(path, ".collection.json")


def require_statistics_path(path: Path) -> None:
    """Raise OutputError if the suffix is not that of a statistics table."""
    if not path.name.endswith((".csv", ".csv.gz", ".parquet")):
        raise OutputError(f"{path}: statistics are written as .csv, .csv.gz or .parquet; choose one of these suffixes.")


def _write_table(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Write #(f) as CSV or Parquet, chosen by suffix."""
    options = "FORMAT parquet"
    if not path.name.endswith(".parquet"):
        options = "FORMAT csv, HEADER" + (", COMPRESSION gzip" if path.suffix == ".gz" else "")
    query = "SELECT type, feature, count FROM vocabulary ORDER BY id"
    connection.execute(f"COPY ({query}) TO '{quoted(path)}' ({options})")


def use_given_counts(connection: duckdb.DuckDBPyConnection, given: GivenStatistics) -> None:
    """Replace the counts of the table `counted` by given ones; the column `known` marks features that have one."""
    import duckdb

    try:
        connection.register("given_file", _statistics_reader(given.path))
        connection.execute("CREATE OR REPLACE TABLE given AS SELECT type, feature, count FROM given_file")
        connection.unregister("given_file")
    except (duckdb.Error, pa.ArrowException, KeyError, OSError) as broken:
        raise InputError(
            f"{given.path}: expected a table with the columns type, feature, count ({first_line(broken)})."
        ) from broken
    if _exists(connection, f"FROM given WHERE (count > 0 AND count <= {LARGEST_TOTAL}) IS NOT TRUE"):
        raise InputError(
            f"{given.path}: every count must be a positive number up to {LARGEST_TOTAL:g}; correct the other rows."
        )
    if _exists(connection, "FROM given GROUP BY type, feature HAVING count(*) > 1"):
        raise InputError(f"{given.path}: some features occur twice; add their counts up into one row each.")
    connection.execute(
        """CREATE OR REPLACE TABLE counted AS
           SELECT type, feature, coalesce(g.count, c.count) AS count, g.count IS NOT NULL AS known
           FROM counted c LEFT JOIN given g USING (type, feature)"""
    )


def _statistics_reader(path: Path) -> Any:
    """Stream a statistics table; columns are found by name, and no type in a CSV file is guessed."""
    if path.name.endswith(".parquet"):
        source = pq.ParquetFile(path)
        names, batches = source.schema_arrow.names, source.iter_batches(columns=STATISTICS.names)
    else:
        source = pyarrow.csv.open_csv(
            pa.input_stream(path, compression="detect"),
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(column_types=STATISTICS, strings_can_be_null=False),
        )
        names, batches = source.schema.names, source
    if not set(names) >= set(STATISTICS.names):
        raise KeyError(f"it has {', '.join(names)}")
    rows = (pa.record_batch([batch[name].cast(STATISTICS.field(name).type) for name in STATISTICS.names],
                            names=STATISTICS.names) for batch in batches)  # fmt: skip
    return pa.RecordBatchReader.from_batches(pa.schema([field.with_nullable(True) for field in STATISTICS]), rows)


def _exists(connection: duckdb.DuckDBPyConnection, rows: str) -> bool:
    return connection.execute(f"SELECT 1 {rows} LIMIT 1").fetchone() is not None


def quoted(path: Path) -> str:
    """A path escaped for an SQL string."""
    return str(path).replace("'", "''")
