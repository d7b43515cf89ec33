"""Export: a result directory as a file of another tool."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from homonym.errors import OutputError
from homonym.io.outputs import first_within, require_writable


@dataclass(frozen=True)
class Exported:
    """What was exported: the output, the number of authors, and warnings about what could not be written."""

    output: Path
    to: str
    authors: int
    warnings: list[str] = field(default_factory=list)


def export(result: str | Path, to: str, output: str | Path) -> Exported:
    """Write a result directory for another tool.

    `to` is vosviewer, citespace, bibliometrix, bibtex, ris, wos, scopus, csv, excel, gexf, graphml, gephi, s2and,
    quickstatements or jsonld. The output is a file, except for gephi and s2and, which write a directory. It appears
    when it is complete. Each author has one label, and no two authors have the same, also if a tool reduces names to
    surname and initials.
    """
    from homonym.exports.result_tables import open_result
    from homonym.exports.targets import require_suffix, target_named
    from homonym.io.folders import require_folder, written_folder

    target, path = target_named(to), Path(output)
    tables = open_result(result, needs_documents=True)
    require_suffix(to, target, path)
    _require_outside(path, tables.folder)
    if target.files:
        require_folder(path, target.files)
        with written_folder(path, target.files) as folder:
            target.write(tables, folder)
    else:
        require_writable(path)
        target.write(tables, path)
    return Exported(path, to, len(tables.authors), tables.warnings)


def _require_outside(path: Path, result: Path) -> None:
    """Fail if the output would be inside of the result, where it could replace a file or be lost with the next run."""
    if first_within(result, [path]) or (os.path.isdir(path) and first_within(path, [result])):
        raise OutputError(f"{path} is inside of the result {result}; name a file outside of it.")
