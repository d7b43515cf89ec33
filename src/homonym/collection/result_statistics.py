"""What a result directory keeps of the whole collection, so that single blocks can be encoded again.

The clustering of a block takes from the rest of the collection: #(f) of its features, n(·) of each type, N, and how
many people are expected to have each full name. `statistics.parquet` has #(f) as it was used, background included,
ordered by type and feature; `statistics.collection.json` has n(·) and N; `names.parquet` has the counts of names.
The first two are also statistics for other collections (`--statistics`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.clustering.arrays import Floats
from homonym.collection.namesakes import namesakes_of
from homonym.errors import InputError
from homonym.io.inputs import unreadable
from homonym.io.outputs import write_atomic
from homonym.io.paths import plain_path
from homonym.io.result_directory import FREQUENCIES, MASSES, NAMES, NEW_FEATURES
from homonym.io.tables import look_up, reading_result_file, write_table
from homonym.schema import NAME_COUNTS, STATISTICS

if TYPE_CHECKING:
    import duckdb


# Least memory of a database, in bytes.
LEAST_MEMORY = 1 << 29


@contextmanager
def result_database(threads: int | None, memory: int | None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory for queries over the tables of a result; it spills to a temporary directory."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="homonym-result-") as folder:
        config: dict[str, Any] = {"temp_directory": folder}
        config |= {"threads": threads} if threads else {}
        config |= {"memory_limit": f"{max(memory, LEAST_MEMORY) // 2**20}MiB"} if memory else {}
        with duckdb.connect(config=config) as connection:
            # Relations print a progress bar to standard output even if enable_progress_bar is off.
            connection.execute("SET enable_progress_bar_print = false")
            yield connection


def write_result_statistics(
    folder: Path,
    features: Iterable[pa.Table],
    mass: Mapping[str, float],
    mentions: int,
    names: Iterable[pa.Table],
) -> None:
    """Write #(f), n(·) and N, and the counts of names; `features` and `names` are in order."""
    write_table(folder / FREQUENCIES, STATISTICS, features)
    counted_over = {"mentions_in_collection": mentions, "mass": dict(mass)}
    write_atomic(folder / MASSES, orjson.dumps(counted_over, option=orjson.OPT_INDENT_2))
    write_table(folder / NAMES, NAME_COUNTS, names)


@dataclass(frozen=True)
class ResultStatistics:
    """The frequencies of a result directory: `mass` has n(·) of each type, in order, and `mentions` is N."""

    folder: Path
    mass: Mapping[str, float]
    mentions: int

    @classmethod
    def read(cls, folder: Path) -> ResultStatistics:
        """Read what is small; tables are searched when they are needed."""
        path = folder / MASSES
        try:
            saved = orjson.loads(path.read_bytes())
            return cls(folder, dict(saved["mass"]), int(saved["mentions_in_collection"]))
        except FileNotFoundError:
            raise InputError(
                f"{folder} lacks {path.name}: names cannot be clustered again. Results of homonym cluster and of "
                "earlier versions have no such file; make the result with homonym disambiguate."
            ) from None
        except OSError as error:
            raise unreadable(path, error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: expected JSON with mentions_in_collection and mass ({error!r}).") from error

    def totals(self, types: Sequence[str], features: Sequence[str]) -> Floats:
        """#(f) of some features, NaN where the result has none.

        Those that came with updates since the statistics were counted are in a table of their own.
        """
        wanted = pa.array(features, pa.string())
        paths = [self.folder / FREQUENCIES, *([new] if (new := self.folder / NEW_FEATURES).exists() else [])]
        rows = pa.concat_tables([look_up(path, "feature", pc.unique(wanted)) for path in paths])
        known = self._keys(rows["type"], rows["feature"])
        place = pc.index_in(self._keys(pa.array(types, pa.string()), wanted), known, skip_nulls=True)
        total: Floats = rows["count"].take(place).to_numpy().copy()  # Arrow's may be read-only
        return total

    def _keys(self, types: pa.Array | pa.ChunkedArray, features: pa.Array | pa.ChunkedArray) -> pa.Array:
        """Features as single texts, with the number of their type."""
        number = pc.index_in(types, pa.array(list(self.mass), pa.string())).cast(pa.string())
        keys = pc.binary_join_element_wise(number, features, ":")
        return keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys

    @cached_property
    def name_counts(self) -> dict[tuple[str, str], int]:
        """The counts of all surnames and given names."""
        path = self.folder / NAMES
        with reading_result_file(path), plain_path(path) as plain:
            rows = pq.read_table(plain).to_pydict()
        return dict(zip(zip(rows["kind"], rows["name"], strict=True), rows["names"], strict=True))

    def namesakes(self, full_names: Iterable[str | None]) -> Floats:
        """E of each full name, NaN where there is none."""
        return np.array([np.nan if name is None else namesakes_of(name, self.name_counts) for name in full_names])
