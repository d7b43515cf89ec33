"""The public steps: records to mentions, mentions to authors, and both in one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from homonym.files import Paths, beside, write_whole
from homonym.progress import Listener
from homonym.records.formats import Columns
from homonym.records.problems import Problems
from homonym.records.reading import Inputs
from homonym.run import Resources, Run
from homonym.settings import Settings

if TYPE_CHECKING:
    import pyarrow as pa

    from homonym.collection.encoded import Encoded
    from homonym.engines.local import LocalEngine


@dataclass(frozen=True)
class Summary:
    """What a run did: counts, what it set aside, how long its stages took."""

    output: Path
    records: int
    mentions: int
    blocks: int
    authors: int | None
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str] = field(default_factory=list)


def disambiguate(
    inputs: Paths,
    output: str | Path,
    settings: Settings | None = None,
    *,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    save_statistics: str | Path | None = None,
    trace: str | Path | None = None,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary:
    """Tell the authors of documents apart: records in, one author id for every mention out.

    Records may come in any of the known formats, told by content or named by `format`; `columns` says which column of
    a table holds which field. The same input and settings give the same bytes, whatever the number of threads and the
    order of the records. `rejects` is where to keep what had to be set aside.
    """
    job = _Job(Inputs.of(inputs, format, columns), output, settings, strict, resources, listener, rejects)
    job.check(statistics, mentions_in_collection, save_statistics, trace)
    with job.engine() as engine:
        engine.read_documents(job.inputs, job.settings)
        return job.cluster(engine)


def cluster(
    inputs: Paths,
    output: str | Path,
    settings: Settings | None = None,
    *,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    save_statistics: str | Path | None = None,
    trace: str | Path | None = None,
    rejects: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary:
    """Tell authors apart from mentions that bring their own bags of features, of any types."""
    job = _Job(Inputs.of(inputs), output, settings, strict, resources, listener, rejects)
    job.check(statistics, mentions_in_collection, save_statistics, trace)
    with job.engine() as engine:
        engine.read_mentions(job.inputs, job.settings)
        return job.cluster(engine)


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
    """Extract the features of documents: mentions with their bags out, for `cluster` or for other tools."""
    from homonym.collection.extraction import require_mentions_path, write_mentions_file

    job = _Job(Inputs.of(inputs, format, columns), output, settings, strict, resources, listener, rejects)
    require_mentions_path(job.output)
    job.check(None, None, save_statistics, None)
    with job.engine() as engine:
        engine.read_documents(job.inputs, job.settings)
        encoded = job.encode(engine, vocabulary=engine.work / "vocabulary.parquet")
        with job.stages.stage("write", len(encoded.mention_owner)) as advance:
            write_mentions_file(encoded, engine.work / "vocabulary.parquet", job.output, advance)
        return job.finish(engine, encoded, authors=None)


class _Job(Run):
    """A run that ends in a table, with what its functions share."""

    def __init__(
        self,
        inputs: Inputs,
        output: str | Path,
        settings: Settings | None,
        strict: bool,
        resources: Resources | None,
        listener: Listener | None,
        rejects: str | Path | None,
    ) -> None:
        super().__init__(inputs, settings, strict, resources, listener, rejects)
        self.output = Path(output)
        self.trace: Path | None = None

    def check(
        self,
        statistics: str | Path | None,
        mentions_in_collection: int | None,
        save_statistics: str | Path | None,
        trace: str | Path | None,
    ) -> None:
        """Find what would go wrong later before any work is done."""
        from homonym.results import require_table_path

        require_table_path(self.output)
        if trace:
            self.trace = Path(trace)
            require_table_path(self.trace)
        self.use_statistics(statistics, mentions_in_collection, save_statistics)

    def cluster(self, engine: LocalEngine) -> Summary:
        """Cluster what the engine has read and write the authors."""
        import numpy as np

        from homonym.results import author_batches, author_numbers, trace_table, write_table
        from homonym.schema import AUTHORS, ROUNDS

        encoded = self.encode(engine)
        label = np.empty(len(encoded.mention_owner), np.int32)
        rounds: list[pa.Table] = []
        names = encoded.block_names() if self.trace else None
        for first, answer in engine.cluster(encoded, self.settings, hypothetical=self.trace is not None):
            start = encoded.block_start[first]
            label[start : start + len(answer.label)] = answer.label
            if self.trace:
                rounds.append(trace_table(names, first, answer))
        numbers = author_numbers(encoded.block_start, label)
        with self.stages.stage("write"):
            if self.trace:
                write_table(self.trace, ROUNDS, rounds)
            write_table(self.output, AUTHORS, author_batches(encoded.mentions_file, numbers))
            write_whole(settings_beside(self.output), self.settings.to_toml())
        authors = int(np.maximum.reduceat(numbers, encoded.block_start[:-1]).sum())
        return self.finish(engine, encoded, authors)

    def finish(self, engine: LocalEngine, encoded: Encoded, authors: int | None) -> Summary:
        """Sum up."""
        return Summary(
            output=self.output,
            records=engine.records,
            mentions=len(encoded.mention_owner),
            blocks=len(encoded.block_start) - 1,
            authors=authors,
            problems=engine.problems,
            seconds=self.stages.seconds,
            warnings=self.warnings,
        )


def settings_beside(output: Path) -> Path:
    """Where the settings of a result are kept."""
    return beside(output, ".settings.toml")
