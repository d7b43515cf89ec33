"""Export: a result directory as a file of another tool."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from homonym.errors import OutputError, require_type
from homonym.io.inputs import require_files
from homonym.io.outputs import Paths, as_paths, first_within, require_distinct, require_writable

if TYPE_CHECKING:
    from homonym.exports.result_tables import ResultTables


@dataclass(frozen=True)
class Exported:
    """What was exported: the output, the number of authors, and warnings about what could not be written.

    `records` is the number of records that were rewritten, if original files were.
    """

    output: Path
    to: str
    authors: int
    warnings: list[str] = field(default_factory=list)
    records: int | None = None


def export(result: str | Path, to: str, output: str | Path, *, originals: Paths = ()) -> Exported:
    """Write a result directory for another tool.

    `to` is vosviewer, citespace, bibliometrix, bibtex, ris, wos, scopus, csv, excel, gexf, graphml, gephi, s2and,
    quickstatements or jsonld. The output is a file, except for gephi and s2and, which write a directory. It appears
    when it is complete. Each author has one label, and no two authors have the same, also if a tool reduces names to
    surname and initials.

    With `originals`, which are files of the format bibtex, ris, wos or scopus, these files are rewritten: only author
    names change, and ids are added. The output of several files is a directory.
    """
    from homonym.exports.result_tables import open_result
    from homonym.exports.targets import require_suffix, target_named
    from homonym.io.folders import require_folder, written_folder

    require_type("to", to, str, "the name of a tool, such as 'csv'")
    require_type("output", output, (str, os.PathLike), "a path")
    target, path = target_named(to), Path(output)
    tables = open_result(result)
    files = as_paths(originals)
    if len(files) < 2:
        require_suffix(to, target, path)
    _require_outside(path, tables.folder)
    records = None
    if files:
        records = _rewrite(tables, to, files, path)
    elif target.files:
        require_folder(path, target.files)
        with written_folder(path, target.files) as folder:
            target.write(tables, folder)
    else:
        require_writable(path)
        target.write(tables, path)
    return Exported(path, to, len(tables.authors), tables.warnings, records)


def _rewrite(tables: ResultTables, to: str, originals: list[Path], output: Path) -> int:
    """Rewrite original files: one to a file, several to files of the same names in a directory.

    Returns the number of records that were rewritten.
    """
    from homonym.exports.original_files import require_originals, rewrite_files
    from homonym.io.folders import require_folder, written_folder

    require_files(originals)
    require_originals(originals, to)
    if len(originals) == 1:
        require_distinct(originals, [output])
        require_writable(output)
        return rewrite_files(tables, to, originals, [output])
    names = [path.name for path in originals]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise OutputError(f"two files are called {repeated}; rewrite them one after the other.")
    if first_within(output, originals):
        raise OutputError(f"{output} has an original file in it; name a new directory.")
    require_folder(output, names)
    with written_folder(output, names) as folder:
        return rewrite_files(tables, to, originals, [folder / name for name in names])


def _require_outside(path: Path, result: Path) -> None:
    """Fail if the output would be inside of the result, where it could replace a file or be lost with the next run."""
    if first_within(result, [path]) or (os.path.isdir(path) and first_within(path, [result])):
        raise OutputError(f"{path} is inside of the result {result}; name a file outside of it.")
