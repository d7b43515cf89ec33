"""Convert: records of any known format to homonym's own documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homonym.commands.run import Resources, RunFiles, open_local_engine, prepare_run
from homonym.errors import SettingsError, counted
from homonym.io.outputs import Paths
from homonym.records.model import Problems
from homonym.records.reader import Columns
from homonym.runtime.progress import Listener

if TYPE_CHECKING:
    import duckdb

    from homonym.collection.old_ids import FileRange
    from homonym.constraints.evidence import UserPairs


@dataclass(frozen=True)
class Conversion:
    """Counts of what was converted, and problems."""

    output: Path
    records: int
    mentions: int
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str]


def convert(
    inputs: Paths,
    output: str | Path,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    pairs: str | Path | None = None,
    new_pairs: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Conversion:
    """Write records of any known format as documents, one JSON object per line; copies of a document are merged.

    `pairs` of homonym 0.6 and before, which may name mentions by file and line, are written to `new_pairs` with the
    current ids.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.bib").write_text("@article{doe14, author={Doe, J and Roe, R}, title={On}, year=2014}")
    ...     done = convert(Path(folder, "a.bib"), Path(folder, "documents.jsonl"))
    ...     done.records, done.mentions, Path(folder, "documents.jsonl").read_text()
    (1, 2, '{"id":"doe14","title":"On","year":2014,"authors":[{"name":"Doe, J"},{"name":"Roe, R"}]}\\n')
    """
    from homonym.collection.counting import count_authors
    from homonym.collection.writers import require_documents_path, write_converted

    path = Path(output)
    run = prepare_run(
        inputs, format=format, columns=columns, strict=strict, rejects=rejects, resources=resources, listener=listener,
        files=RunFiles.of(path, outputs=[new_pairs], inputs=[pairs]),
    )  # fmt: skip
    require_documents_path(path)
    old_pairs, pairs_path = _check_pairs(pairs, new_pairs)
    with open_local_engine(run) as engine:
        read = engine.convert_documents(run.inputs, run.settings)
        with engine.database(read) as (connection, duplicates):
            read = engine.with_duplicates_merged(read, duplicates)
            with run.stages.stage("write", read.records) as advance:
                write_converted(connection, engine.work, path, advance)
            mentions = count_authors(connection)
            if old_pairs and pairs_path:
                _translate_pairs(connection, old_pairs, pairs_path, read.data.ranges(), run.warnings)
    return Conversion(path, read.records, mentions, read.problems, run.stages.seconds, run.warnings)


def _check_pairs(pairs: str | Path | None, new_pairs: str | Path | None) -> tuple[UserPairs | None, Path | None]:
    from homonym.constraints.evidence import read_user_pairs
    from homonym.io.tables import require_table_path

    if (pairs is None) != (new_pairs is None):
        raise SettingsError("--pairs and --new-pairs go together: the old file of pairs, and the new one.")
    if pairs is None or new_pairs is None:
        return None, None
    require_table_path(Path(new_pairs))
    return read_user_pairs(Path(pairs)), Path(new_pairs)


def _translate_pairs(
    connection: duckdb.DuckDBPyConnection,
    pairs: UserPairs,
    path: Path,
    files: Sequence[FileRange],
    warnings: list[str],
) -> None:
    """Write pairs with the current mention ids; a pair with a mention that is not in the files is left out."""
    from homonym.collection.old_ids import translate
    from homonym.constraints.evidence import UserPairs, write_user_pairs

    ids = translate(connection, [*pairs.a, *pairs.b], files)
    rows = [(ids[a], ids[b], same) for a, b, same in zip(pairs.a, pairs.b, pairs.same, strict=True)]
    known = [(a, b, same) for a, b, same in rows if a and b and a != b]
    if joined := [a for a, b, _ in rows if a and a == b]:
        copies = f"{joined[0]}, for example, was the mention of two copies of one document"
        warnings.append(f"{counted(len(joined), 'pair')} left out: {copies}, which are merged now.")
    write_user_pairs(path, UserPairs(*map(tuple, zip(*known, strict=True)) if known else ((), (), ())))
    if missing := [name for name, found in ids.items() if found is None]:
        lost = counted(sum(not (a and b) for a, b, _ in rows), "pair")
        warnings.append(f"{lost} could not be converted: there is no mention {missing[0]} in these files, for example.")
