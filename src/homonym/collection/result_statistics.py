"""What a result directory keeps of the whole collection, so that single blocks can be encoded again.

The clustering of a block takes from the rest of the collection: #(f) of its features, n(·) of each type, N, and how
many people are expected to have each full name. `statistics.parquet` has #(f) as it was used, background included,
ordered by type and feature; `statistics.collection.json` has n(·) and N; `names.parquet` has the counts of names.
The first two are also statistics for other collections (`--statistics`).
"""

from __future__ import annotations

import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.clustering.arrays import Floats, Integers
from homonym.collection.namesakes import namesakes_of
from homonym.errors import InputError
from homonym.io.inputs import unreadable
from homonym.io.outputs import write_atomic
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
    counted_over = {"mentions_in_collection": mentions, "mass": dict(mass), "self_citations": False}
    write_atomic(folder / MASSES, orjson.dumps(counted_over, option=orjson.OPT_INDENT_2))
    write_table(folder / NAMES, NAME_COUNTS, names)


class NumberedFeatures(NamedTuple):
    """The numbers of features, −1 where the statistics lack one, and the number of features that come before.

    The second is −1 for features of a type that the statistics lack.
    """

    number: Integers
    place: Integers


def _numbers_among(known: pa.Array, names: pa.Array | pa.ChunkedArray) -> Integers:
    """The places of some names among all known ones, −1 where there is none; only the few names are hashed.

    >>> _numbers_among(pa.array(["a", "b", "c"]), pa.array(["c", "x", None, "a", "c"])).tolist()
    [2, -1, -1, 0, 2]
    """
    coded = (names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names).dictionary_encode()
    place = np.full(len(coded.dictionary) + 1, -1, np.int64)  # the last one is that of nulls
    code = pc.index_in(known, coded.dictionary)
    rows = np.flatnonzero(pc.is_valid(code).to_numpy(zero_copy_only=False))
    place[code.drop_null().to_numpy()] = rows
    found: Integers = place[pc.fill_null(coded.indices, -1).to_numpy()]
    return found


def _place_in(names: pa.Array, name: str) -> int:
    """How many of these names, which are in order, come before another one."""
    return bisect_left(range(len(names)), name.encode(), key=lambda row: names[row].as_py().encode())


@dataclass(frozen=True)
class ResultStatistics:
    """The frequencies of a result directory: `mass` has n(·) of each type, in order, and `mentions` is N.

    With `self_citations`, authors of a document were counted among those that it refers to, as up to version 0.16.
    """

    folder: Path
    mass: Mapping[str, float]
    mentions: int
    self_citations: bool = False

    @classmethod
    def read(cls, folder: Path) -> ResultStatistics:
        """Read what is small; tables are searched when they are needed."""
        path = folder / MASSES
        try:
            saved = orjson.loads(path.read_bytes())
            mentions, self_citations = int(saved["mentions_in_collection"]), bool(saved.get("self_citations", True))
            return cls(folder, dict(saved["mass"]), mentions, self_citations)
        except FileNotFoundError:
            raise InputError(
                f"{folder} lacks {path.name}: names cannot be clustered again. Results of homonym cluster and of "
                "earlier versions have no such file; make the result with homonym disambiguate."
            ) from None
        except OSError as error:
            raise unreadable(path, error) from error
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: expected JSON with mentions_in_collection and mass ({error!r}).") from error

    @cached_property
    def counts(self) -> Floats:
        """#(f) of all features by their numbers: the rows of the table, which is ordered by type and feature."""
        found: Floats = self._column("count").to_numpy()
        return found

    @cached_property
    def feature_names(self) -> pa.Array:
        """The names of all features by their numbers."""
        return self._column("feature")

    @cached_property
    def first_numbers(self) -> dict[str, tuple[int, int]]:
        """For each type, the number of its first feature and the number after its last one."""
        runs = pc.run_end_encode(self._column("type"), run_end_type=pa.int64())
        ends = runs.run_ends.to_pylist()
        return dict(zip(runs.values.to_pylist(), zip([0, *ends][: len(ends)], ends, strict=True), strict=True))

    def features(self, numbers: Integers) -> list[tuple[str, str]]:
        """Type and name of some features."""
        kinds, ends = list(self.first_numbers), [end for _, end in self.first_numbers.values()]
        kind = [kinds[place] for place in np.searchsorted(ends, numbers, side="right").tolist()]
        return list(zip(kind, self.feature_names.take(pa.array(numbers)).to_pylist(), strict=True))

    def _column(self, name: str) -> pa.Array:
        path = self.folder / FREQUENCIES
        with reading_result_file(path) as plain:
            return pq.read_table(plain, columns=[name], page_checksum_verification=True)[name].combine_chunks()

    def numbers(self, types: pa.Array | pa.ChunkedArray, features: pa.Array | pa.ChunkedArray) -> NumberedFeatures:
        """The numbers of some features, and where those would be that the result does not have."""
        number, place = np.full(len(features), -1, np.int64), np.full(len(features), -1, np.int64)
        coded = (types.combine_chunks() if isinstance(types, pa.ChunkedArray) else types).dictionary_encode()
        kinds, code = coded.dictionary.to_pylist(), coded.indices.to_numpy()
        for kind in filter(self.mass.__contains__, kinds):
            chosen = np.flatnonzero(code == kinds.index(kind))
            begin, end = self.first_numbers.get(kind) or (self.first_number(kind),) * 2
            names, known = features.take(pa.array(chosen)), self.feature_names.slice(begin, end - begin)
            found = _numbers_among(known, names)
            number[chosen] = np.where(found < 0, -1, found + begin)
            place[chosen] = number[chosen]
            for row in chosen[found < 0].tolist():
                if (name := features[row].as_py()) is not None:
                    place[row] = begin + _place_in(known, name)
        return NumberedFeatures(number, place)

    def first_number(self, kind: str) -> int:
        """The number of the first feature of a type, which is the number of features of types that come before."""
        if kind in self.first_numbers:
            return self.first_numbers[kind][0]
        return max((end for other, (_, end) in self.first_numbers.items() if other < kind), default=0)

    def new_totals(self, types: Sequence[str], features: Sequence[str]) -> Floats:
        """#(f) of some features that came with updates since the statistics were counted, NaN where there is none."""
        path = self.folder / NEW_FEATURES
        if not path.exists() or not features:
            return np.full(len(features), np.nan)
        rows = look_up(path, "feature", pa.array(features, pa.string())).to_pydict()
        known = dict(zip(zip(rows["type"], rows["feature"], strict=True), rows["count"], strict=True))
        return np.array([known.get(key, np.nan) for key in zip(types, features, strict=True)])

    @cached_property
    def name_counts(self) -> dict[tuple[str, str], int]:
        """The counts of all surnames and given names."""
        path = self.folder / NAMES
        with reading_result_file(path) as plain:
            rows = pq.read_table(plain, page_checksum_verification=True).to_pydict()
        return dict(zip(zip(rows["kind"], rows["name"], strict=True), rows["names"], strict=True))

    def namesakes(self, full_names: Sequence[str | None]) -> Floats:
        """E of each full name, NaN where there is none."""
        known = {name: namesakes_of(name, self.name_counts) for name in set(full_names) if name is not None}
        return np.array([np.nan if name is None else known[name] for name in full_names])
