"""Convert: records of any known format to homonym's own documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from homonym.commands.run import Resources, open_local_engine, prepare_run
from homonym.io.outputs import Paths
from homonym.records.model import Problems
from homonym.records.reader import Columns
from homonym.runtime.progress import Listener


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
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Conversion:
    """Write records of any known format as documents, one JSON object per line, without duplicates.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.bib").write_text("@article{doe14, author={Doe, J and Roe, R}, title={On}, year=2014}")
    ...     done = convert(Path(folder, "a.bib"), Path(folder, "documents.jsonl"))
    ...     done.records, done.mentions, Path(folder, "documents.jsonl").read_text()
    (1, 2, '{"id":"doe14","title":"On","year":2014,"authors":[{"name":"Doe, J"},{"name":"Roe, R"}]}\\n')
    """
    from homonym.collection.counting import count_authors
    from homonym.collection.writers import require_documents_path, write_converted

    run = prepare_run(
        inputs, format=format, columns=columns, strict=strict, rejects=rejects, resources=resources, listener=listener
    )
    path = Path(output)
    require_documents_path(path)
    with open_local_engine(run, path) as engine:
        read = engine.convert_documents(run.inputs, run.settings)
        with engine.database(read) as (connection, duplicates):
            read = engine.with_duplicates_merged(read, duplicates)
            with run.stages.stage("write", read.records) as advance:
                write_converted(connection, engine.work, path, advance)
            mentions = count_authors(connection)
    return Conversion(path, read.records, mentions, read.problems, run.stages.seconds, run.warnings)
