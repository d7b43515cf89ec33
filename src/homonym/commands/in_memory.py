"""Data of the calling program as input, and results as objects: `homonym.disambiguate(table)` without an output path.

Input and result are files in a private temporary directory, so that a run in memory is the same as any other run.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

from homonym.commands.export import Exported, export
from homonym.commands.result import Summary
from homonym.errors import (
    HomonymError,
    InputError,
    OutputError,
    counted,
    described,
    first_line,
    require_type,
    year_range,
)
from homonym.io.outputs import Paths, sync_file
from homonym.io.result_directory import AUTHORS, DOCUMENTS, MARKER, MENTIONS, names_directory, written_directory

if TYPE_CHECKING:
    import pyarrow as pa

    from homonym.evaluation.assessment import Evaluation
    from homonym.explanation.explained import Explanation
    from homonym.records.reader import Columns


@runtime_checkable
class ArrowStream(Protocol):
    """A table with the Arrow PyCapsule interface: of pandas, polars, pyarrow, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with a stream of Arrow batches."""


Data = str | Path | ArrowStream | Sequence[str | Path | Mapping[str, Any]]
"""Paths, a table, or a list of dictionaries: documents, or rows of a table."""

# What messages call data in memory.
DATA = "the data"
# Authors that a notebook shows.
_SHOWN = 10


class ResultTable:
    """A table of a result. It is an Arrow table for every library that knows the Arrow PyCapsule interface.

    >>> import pyarrow as pa
    >>> table = ResultTable(pa.table({"name": ["Doe, J"], "documents": [2]}))
    >>> len(table), table.column_names, table["name"][0].as_py(), table.to_pandas().shape
    (1, ['name', 'documents'], 'Doe, J', (1, 2))
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def to_arrow(self) -> pa.Table:
        """The table as a pyarrow.Table."""
        return self._table

    def to_pandas(self) -> Any:
        """The table as a pandas.DataFrame."""
        _require("pandas")
        return self._table.to_pandas()

    def to_polars(self) -> Any:
        """The table as a polars.DataFrame."""
        return _require("polars").from_arrow(self._table)

    def to_pylist(self) -> list[dict[str, Any]]:
        """The rows as dictionaries."""
        rows: list[dict[str, Any]] = self._table.to_pylist()
        return rows

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        names: list[str] = self._table.column_names
        return names

    def __getitem__(self, column: str) -> pa.ChunkedArray:
        return self._table[column]

    def __len__(self) -> int:
        return len(self._table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"ResultTable({counted(len(self), 'row')}: {', '.join(self.column_names)})"


def _require(library: str) -> Any:
    from importlib import import_module

    try:
        return import_module(library)
    except ImportError:
        raise HomonymError(f"this needs the package {library}; install it with: pip install {library}") from None


class Result:
    """The result of a run in memory: tables of mentions, authors and documents, and what can be done with them.

    The files of the result are in a temporary directory, which is removed with this object; `save` keeps them.

    >>> import homonym
    >>> papers = [{"id": "a", "title": "Graph kernels", "year": 2010, "authors": ["Doe, Jane", "Roe, R"]},
    ...           {"id": "b", "title": "Kernels of graphs", "year": 2011, "authors": ["Doe, J", "Roe, R"]}]
    >>> result = homonym.disambiguate(papers, settings=homonym.Settings(kappa=7))
    >>> result.authors["name"].to_pylist()
    ['Doe, Jane', 'Roe, R']
    """

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.directory = summary.output
        # A child process that was forked must not remove the files of its parent.
        weakref.finalize(self, _remove, self.directory.parent, os.getpid())

    @cached_property
    def mentions(self) -> ResultTable:
        """One row per mention: mentions.parquet."""
        return self._table(MENTIONS)

    @cached_property
    def authors(self) -> ResultTable:
        """One row per author: authors.parquet."""
        return self._table(AUTHORS)

    @cached_property
    def documents(self) -> ResultTable:
        """One row per document: documents.parquet."""
        return self._table(DOCUMENTS)

    def _table(self, name: str) -> ResultTable:
        import pyarrow.parquet as pq

        return ResultTable(pq.read_table(self.directory / name))

    def export(self, to: str, path: str | Path, *, originals: Paths = ()) -> Exported:
        """Write the result for another tool; see `homonym.export`.

        >>> import homonym, tempfile
        >>> result = homonym.disambiguate([{"id": "a", "authors": ["Doe, J"]}], settings=homonym.Settings(kappa=7))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     result.export("csv", f"{folder}/people.csv").authors
        1
        """
        return export(self.directory, to, path, originals=originals)

    def evaluate(self, gold: Data, **options: Any) -> Evaluation:
        """Compare the result with labels; see `homonym.evaluate`.

        Labels are files, or a table or list of dictionaries with mention_id (or document_id and position) and author.

        >>> import homonym
        >>> papers = [{"id": key, "title": "Graph kernels", "authors": ["Doe, J"]} for key in "ab"]
        >>> result = homonym.disambiguate(papers, settings=homonym.Settings(kappa=7))
        >>> found = result.evaluate([{"mention_id": "a#0", "author": "x"}, {"mention_id": "b#0", "author": "x"}])
        >>> found.mentions, found.bcubed.precision
        (2, 1.0)
        """
        from homonym.commands.evaluate import evaluate

        if isinstance(gold, ArrowStream) or _are_rows(gold):
            table = _arrow_table(gold) if isinstance(gold, ArrowStream) else _table_of_rows(gold)
            with _private_folder() as folder, _named("the table of labels", folder / "gold.parquet") as path:
                return evaluate(self.directory, _write_table(table, path), **options)
        _require_paths(gold, "labels are files, or a table or list of dictionaries with mention_id and author")
        return evaluate(self.directory, gold, **options)  # type: ignore[arg-type]

    def explain(self, what: str, other: str | None = None, **options: Any) -> Explanation:
        """Why mentions are together or apart; see `homonym.explain`.

        >>> import homonym
        >>> papers = [{"id": key, "title": "Graph kernels", "authors": ["Doe, J"]} for key in "ab"]
        >>> result = homonym.disambiguate(papers, settings=homonym.Settings(kappa=7))
        >>> result.explain("Doe").answer
        'DOE, J has 2 mentions of 1 author.'
        """
        from homonym.commands.explain import explain

        with _named("the result", self.directory):
            return explain(self.directory, what, other, **options)

    def save(self, path: str | Path) -> Path:
        """Keep the result as a result directory."""
        require_type("path", path, (str, os.PathLike), "a path")
        if not names_directory(path):
            raise OutputError(f"{path} has a suffix, but a result is a directory; leave it out, or use export.")
        with written_directory(Path(path)) as folder:
            for file in sorted(self.directory.iterdir()):
                if file.name != MARKER:
                    shutil.copyfile(file, folder / file.name)
                    sync_file(folder / file.name)
        return Path(path)

    def __repr__(self) -> str:
        done = self.summary
        authors, mentions = counted(done.authors or 0, "author"), counted(done.mentions, "mention")
        return f"Result({authors}, {mentions}, {counted(done.records, 'document')})"

    def _repr_html_(self) -> str:
        """The largest authors, for notebooks."""
        import pyarrow.compute as pc

        table = self.authors.to_arrow()
        largest = table.take(pc.sort_indices(table["mentions"], sort_keys=[("", "descending")])[:_SHOWN])
        rows = "".join(
            f"<tr><td>{escape(row['name'] or '')}</td><td>{row['documents']:,}</td>"
            f"<td>{year_range(row['first_year'], row['last_year'])}</td><td>{escape(row['author_id'])}</td></tr>"
            for row in largest.to_pylist()
        )
        head = "<tr><th>author</th><th>documents</th><th>years</th><th>author_id</th></tr>"
        return f"<p>{escape(repr(self))}</p><table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


EXPECTED = "expected paths, a list of dictionaries, or a table of pandas, polars, Arrow or DuckDB"


def is_data(inputs: object) -> bool:
    """Whether inputs are data in memory; fails if they are neither that nor paths.

    >>> is_data("a.bib"), is_data(["a.bib", Path("b.bib")]), is_data([{"id": "a", "authors": ["Doe, J"]}])
    (False, False, True)
    """
    if isinstance(inputs, ArrowStream):
        return True
    if _are_rows(inputs):
        return True
    _require_paths(inputs, EXPECTED)
    return False


def _are_rows(inputs: object) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    return isinstance(inputs, list | tuple) and bool(inputs) and all(isinstance(row, Mapping) for row in inputs)


def _require_paths(inputs: object, expected: str) -> None:
    entries = inputs if isinstance(inputs, list | tuple) else [inputs]
    # In a list of dictionaries, the wrong entry is the one that is none.
    allowed = Mapping if entries is inputs and entries and isinstance(entries[0], Mapping) else str | os.PathLike
    for place, entry in enumerate(entries, 1):
        if not isinstance(entry, allowed):
            some = f"a {type(inputs).__name__} with " if entry is not inputs else ""
            where = f" (entry {place})" if some else ""
            raise InputError(
                f"{expected}, but got {some}{described(entry)}{where}{_hint(entry, alone=entry is inputs)}."
            )


def _hint(inputs: object, *, alone: bool) -> str:
    """What to do with an object that is almost an input; `alone` if it is not an entry of a list."""
    if hasattr(inputs, "read"):  # an open file
        return "; pass its path"
    if hasattr(inputs, "collect"):  # tables that are not computed yet, as of polars
        return "; call its method collect() first"
    if isinstance(inputs, Mapping):
        return "; put it in a list" if alone else ""
    return "; wrap it in list(…)" if isinstance(inputs, Iterator) else ""


@contextmanager
def _private_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="homonym-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def destination(output: str | Path | None) -> Iterator[str | Path]:
    """Where a run writes: the output or, if there is none, a private place, which `Result` removes."""
    if output is not None:
        yield output
        return
    folder = Path(tempfile.mkdtemp(prefix="homonym-"))
    try:
        yield folder / "result"
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def files_of(
    inputs: Data, format: str | None, columns: Columns | None = None, *, may_be_empty: bool = False
) -> Iterator[tuple[Paths, str | None]]:
    """The paths of inputs and their format; data in memory are written to files for the time of the run."""
    from homonym.records.reader import require_columns

    require_columns(columns)
    if isinstance(inputs, list | tuple) and not inputs and not may_be_empty:
        raise InputError(f"{EXPECTED}, but the {type(inputs).__name__} is empty.")
    if not is_data(inputs):
        yield inputs, format  # type: ignore[misc]
        return
    with _private_folder() as folder:
        path, known_format = _write_data(inputs, folder, format)
        with _named(DATA, path):
            yield path, known_format


@contextmanager
def _named(name: str, path: Path) -> Iterator[Path]:
    """In messages about a private file, its name for the caller stands instead of its path."""
    try:
        yield path
    except HomonymError as error:
        raise type(error)(str(error).replace(str(path), name)) from error


def name_data(summary: Summary, inputs: Data, paths: Paths) -> None:
    """Let the problems and warnings of a run call data in memory so, and not by the path of a private file."""
    if is_data(inputs):
        problems = summary.problems
        problems.first[:] = [replace(one, file=one.file.replace(str(paths), DATA)) for one in problems.first]
        summary.warnings[:] = [one.replace(str(paths), DATA) for one in summary.warnings]


def _write_data(data: Any, folder: Path, format: str | None) -> tuple[Path, str | None]:
    if isinstance(data, ArrowStream):
        table = _arrow_table(data)
    elif _are_documents(data):
        return _write_documents(data, folder / "documents.jsonl"), format or "documents"
    else:
        table = _table_of_rows(data)
    is_own = {"document_id", "record"} <= set(table.column_names)
    return _write_table(table, folder / "table.parquet"), format or ("documents" if is_own else "table")


def _are_documents(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether dictionaries are documents of our format, which have an id and a list of authors."""
    return all("id" in row and isinstance(row.get("authors"), list | tuple) for row in rows)


def _write_documents(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    import orjson

    with path.open("wb") as stream:
        for number, row in enumerate(rows, 1):
            try:
                line = orjson.dumps(dict(row), default=_json_value, option=orjson.OPT_SERIALIZE_NUMPY)
                stream.write(line + b"\n")
            except TypeError as error:
                raise InputError(
                    f"document {number} cannot be written as JSON ({first_line(error)}); use text, numbers and lists."
                ) from None
    return path


def _table_of_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table with all keys as columns."""
    import pyarrow as pa

    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    return pa.table({name: _column([_without_missing(row.get(name)) for row in rows], name) for name in names})


def _without_missing(value: Any) -> Any:
    """A value, or None if it is a missing value of pandas (NaT or NA)."""
    return None if type(value).__name__ in {"NaTType", "NAType"} else value


def _json_value(value: Any) -> Any:
    """What JSON has in place of a date or a missing value of pandas."""
    if _without_missing(value) is None:
        return None
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError


def _column(values: list[Any], name: str) -> pa.Array:
    """Values as one column; values of different types as text."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, ValueError):
        pass
    try:
        return pa.array([None if value is None else _as_text(value) for value in values], pa.string())
    except (pa.ArrowException, TypeError, UnicodeError) as error:
        raise InputError(
            f"the values of {name!r} cannot be a column ({first_line(error)}); use text, numbers and lists."
        ) from None


def _as_text(value: Any) -> str:
    import orjson

    return value if isinstance(value, str) else orjson.dumps(value, default=_json_value).decode()


def _arrow_table(data: ArrowStream) -> pa.Table:
    """Any table with the Arrow PyCapsule interface, with types that Parquet has."""
    import pyarrow as pa

    # Libraries raise many kinds of exceptions here, some of them their own.
    failures = (pa.ArrowException, TypeError, ValueError, NotImplementedError, OverflowError)
    try:
        table = pa.RecordBatchReader.from_stream(data).read_all()
        views = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary(), pa.null(): pa.string()}
        return table.cast(pa.schema([field.with_type(views.get(field.type, field.type)) for field in table.schema]))
    except failures as error:
        if (found := _pandas_columns(data)) is not None:
            return found
        raise InputError(
            f"{described(data)} cannot be read as a table ({first_line(error)}); give each column one type."
        ) from None


def _pandas_columns(data: Any) -> pa.Table | None:
    """A pandas table in which a column has values of several types, as `read_csv` makes them; else None."""
    import pyarrow as pa

    if not type(data).__module__.startswith("pandas.") or not hasattr(data, "items"):
        return None
    names, columns = [], []  # several columns may have the same name
    for name, column in data.items():
        cells = zip(column.tolist(), column.isna().tolist(), strict=True)
        names.append(str(name))
        columns.append(_column([None if is_missing else value for value, is_missing in cells], str(name)))
    return pa.Table.from_arrays(columns, names=names)


def _write_table(table: pa.Table, path: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if any("view" in str(kind) for kind in table.schema.types):  # inside of lists, which Arrow cannot cast
            table = _table_of_rows(table.to_pylist())
        pq.write_table(_with_parquet_types(table), path)
    except (pa.ArrowException, NotImplementedError, ValueError) as error:
        raise InputError(f"the table cannot be read ({first_line(error)}); give each column one type.") from None
    return path


def _with_parquet_types(table: pa.Table) -> pa.Table:
    """The table with text in columns of types that Parquet lacks, such as intervals of DuckDB."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for place, field in enumerate(table.schema):
        try:
            pq.write_table(table.select([place]).slice(0, 0), pa.BufferOutputStream())
        except (pa.ArrowException, NotImplementedError):
            values = [None if value is None else str(value) for value in table[place].to_pylist()]
            table = table.set_column(place, field.name, pa.array(values, pa.string()))
    return table
