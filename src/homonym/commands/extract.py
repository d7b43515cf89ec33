"""Extract: documents in, mentions with their bags of features out, for `cluster` or for other tools."""

from __future__ import annotations

from pathlib import Path

from homonym.commands.result import ResultPlace, Summary, summarise
from homonym.commands.run import (
    Resources,
    RunFiles,
    check_statistics_output,
    open_local_engine,
    prepare_run,
    require_mentions,
    statistics_files,
)
from homonym.io.outputs import Paths
from homonym.records.reader import Columns
from homonym.runtime.progress import Listener
from homonym.settings import Settings


def extract(
    inputs: Paths,
    output: str | Path,
    settings: Settings | None = None,
    *,
    save_statistics: str | Path | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary:
    """Extract the features of documents and write mentions with their bags."""
    from homonym.collection.writers import require_mentions_path, write_mentions_file
    from homonym.engines.local import VOCABULARY
    from homonym.io.tables import require_table_path

    path = Path(output)
    run = prepare_run(
        inputs, settings, format=format, columns=columns, strict=strict, rejects=rejects, resources=resources,
        listener=listener, files=RunFiles.of(path, outputs=statistics_files(save_statistics)),
    )  # fmt: skip
    require_mentions_path(path)
    require_table_path(path)
    save_to = check_statistics_output(save_statistics)
    with open_local_engine(run) as engine:
        read = engine.read_documents(run.inputs, run.settings)
        require_mentions(read, run)
        collection = engine.encode(read, None, save_to, vocabulary=True)
        with run.stages.stage("write", collection.mentions) as advance:
            write_mentions_file(collection.data.encoded, engine.work / VOCABULARY, path, advance)
        return summarise(run, collection, ResultPlace(path))
