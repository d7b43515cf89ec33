"""The public steps: records to mentions, mentions to authors, and both in one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homonym.commands.run import Resources, Run
from homonym.io.outputs import Paths, side_file, write_atomic
from homonym.records.model import Problems
from homonym.records.reader import Inputs
from homonym.records.registry import Columns
from homonym.runtime.progress import Advance, Listener
from homonym.runtime.run_log import run_log_path
from homonym.settings import Limit, Settings

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from homonym.calibration.confidence import Confidence
    from homonym.calibration.limit import CalibratedLimit
    from homonym.calibration.single_person_names import BlockSample
    from homonym.collection.encoded import Encoded
    from homonym.constraints.conflicts import ConstraintConflict
    from homonym.constraints.evidence import UserPairs
    from homonym.constraints.found_constraints import FoundConstraints
    from homonym.engines.local import LocalEngine


#: Confidence is written with so many decimals: pseudo-names do not tell more.
DECIMALS = 3
#: So many contradictions are kept in a summary; all are counted and listed beside the result.
FIRST_CONFLICTS = 3


@dataclass(frozen=True)
class ConstraintSummary:
    """What constraints did in a run.

    `links` counts by kind the links that were made, `linked` the mentions that these bind, `apart` by kind the pairs of
    mentions that were kept apart. The first few of the `contradictions` are in `first`, all of them in `file`.
    """

    links: dict[str, int]
    linked: int
    apart: dict[str, int]
    contradictions: int
    first: tuple[ConstraintConflict, ...]
    file: Path


@dataclass(frozen=True)
class Summary:
    """What a run did: counts, what it set aside, how long its stages took; `constraints` if it used any.

    `log` is where all that is kept, with the memory that each stage took.

    `limit` is what two clusters had to exceed, `calibration` how it was found if it was not given, `confidence` the
    mean over all mentions.
    """

    output: Path
    records: int
    mentions: int
    blocks: int
    authors: int | None
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str] = field(default_factory=list)
    constraints: ConstraintSummary | None = None
    limit: Limit | None = None
    calibration: CalibratedLimit | None = None
    confidence: float | None = None
    log: Path | None = None


def disambiguate(
    inputs: Paths,
    output: str | Path,
    settings: Settings | None = None,
    *,
    statistics: str | Path | None = None,
    mentions_in_collection: int | None = None,
    save_statistics: str | Path | None = None,
    trace: str | Path | None = None,
    pairs: str | Path | None = None,
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
    order of the records. `rejects` is where to keep what had to be set aside. `pairs` is a table of the user's own
    statements: mention_a, mention_b, and the relation `same` or `different`.
    """
    job = _job(inputs, format, columns, output, settings, strict, rejects, resources=resources, listener=listener)
    job.check(statistics, mentions_in_collection, save_statistics, trace, pairs)
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
    pairs: str | Path | None = None,
    rejects: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Summary:
    """Tell authors apart from mentions that bring their own bags of features, of any types.

    `pairs` is a table of the user's own statements: mention_a, mention_b, and the relation `same` or `different`.
    """
    job = _job(inputs, None, None, output, settings, strict, rejects, resources=resources, listener=listener)
    job.check(statistics, mentions_in_collection, save_statistics, trace, pairs)
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
    from homonym.collection.writers import require_mentions_path, write_mentions_file

    named = Inputs.of(inputs, format, columns)
    job = Job(named, output, settings, strict, rejects, resources=resources, listener=listener)
    require_mentions_path(job.output)
    job.check(None, None, save_statistics, None)
    with job.engine() as engine:
        engine.read_documents(job.inputs, job.settings)
        encoded = job.encode(engine, vocabulary=engine.work / "vocabulary.parquet")
        with job.stages.stage("write", len(encoded.mention_owner)) as advance:
            write_mentions_file(encoded, engine.work / "vocabulary.parquet", job.output, advance)
        return job.finish(engine, encoded)


def _job(
    inputs: Paths, format: str | None, columns: Columns | None, *options: Any, resources: Resources | None, **more: Any
) -> Job:
    """A run on the engine that is asked for."""
    if resources and resources.engine == "spark":
        from homonym.commands.spark_run import SparkJob

        return SparkJob(inputs, format, columns, *options, resources=resources, **more)
    return Job(Inputs.of(inputs, format, columns), *options, resources=resources, **more)


class Job(Run):
    """A run that ends in a table, with what its functions share."""

    def __init__(
        self,
        inputs: Inputs,
        output: str | Path,
        settings: Settings | None,
        strict: bool,
        rejects: str | Path | None,
        *,
        resources: Resources | None,
        listener: Listener | None,
    ) -> None:
        super().__init__(inputs, settings, strict, resources, listener, rejects)
        self.output: Path = Path(output)
        self.pairs: UserPairs | None = None
        self.found_limit: CalibratedLimit | None = None

    def check(
        self,
        statistics: str | Path | None,
        mentions_in_collection: int | None,
        save_statistics: str | Path | None,
        trace: str | Path | None,
        pairs: str | Path | None = None,
    ) -> None:
        """Find what would go wrong later before any work is done."""
        self.check_outputs(trace)
        self.use_statistics(statistics, mentions_in_collection, save_statistics)
        if pairs:
            from homonym.constraints.evidence import read_user_pairs

            self.pairs = read_user_pairs(Path(pairs))

    def check_outputs(self, trace: str | Path | None) -> None:
        """Fail before any work is done if the result or the trace could not be written."""
        from homonym.io.tables import require_table_path

        require_table_path(self.output)
        if trace:
            self.trace = Path(trace)
            require_table_path(self.trace)

    def cluster(self, engine: LocalEngine) -> Summary:
        """Cluster what the engine has read and write the authors."""
        encoded = self.encode(engine)
        knowledge = self.constrain(encoded)
        confidence = self.calibrate(encoded, knowledge)
        found = self.find_authors(engine, encoded, knowledge, confidence)
        self.write(encoded, knowledge, found)
        return self.finish(engine, encoded, knowledge, found)

    def constrain(self, encoded: Encoded) -> FoundConstraints | None:
        """Find out what is known of mentions beside their features."""
        from homonym.constraints.found_constraints import find_constraints

        with self.stages.stage("constrain"):
            knowledge = find_constraints(encoded, self.settings, self.pairs)
        self.warnings += knowledge.warnings if knowledge else []
        return knowledge

    def calibrate(
        self, encoded: Encoded, knowledge: FoundConstraints | None, among: BlockSample | None = None
    ) -> Confidence | None:
        """Find the limit where none is given, and learn how sure one may be; None where there are no pseudo-names.

        `among` says which blocks there are, if only some of them are at hand.
        """
        from homonym.calibration.confidence import DRAWS, learn_confidence
        from homonym.calibration.limit import LimitCalibrator

        with self.stages.stage("calibrate"):
            finder = LimitCalibrator(encoded, self.settings, knowledge, self.threads, sample=among)
            if not self.settings.limit_is_given:
                self.found_limit = finder.find()
                self.settings = self.settings.with_limit(self.found_limit.limit)
                if self.found_limit.why:
                    self.warnings.append(f"{self.found_limit.why}: {_instead(self.settings.limit)}.")
            if finder.unavailable:
                return None
            drawn = finder.draw_pseudonames(self.settings.limit, DRAWS)
            return learn_confidence(drawn, self.settings) if drawn else None

    def find_authors(
        self, engine: LocalEngine, encoded: Encoded, knowledge: FoundConstraints | None, confidence: Confidence | None
    ) -> _Found:
        """Cluster all blocks."""
        import numpy as np

        from homonym.calibration.confidence import author_confidence
        from homonym.engines.result_tables import author_numbers, trace_table

        label = np.empty(len(encoded.mention_owner), np.int32)
        sure = np.empty(len(label))
        rounds: dict[int, pa.Table] = {}
        names = encoded.block_names() if self.trace else None
        for first, answer in engine.cluster(
            encoded, self.settings, knowledge, hypothetical=self.trace is not None, margins=confidence is not None
        ):
            mentions = slice(encoded.block_start[first], encoded.block_start[first] + len(answer.label))
            label[mentions] = answer.label
            if confidence:
                sure[mentions] = confidence.of(answer)
            if self.trace:
                rounds[first] = trace_table(names, first, answer)
        numbers = author_numbers(encoded.block_start, label)
        in_order = [rounds[first] for first in sorted(rounds)]
        if not confidence:
            return _Found(numbers, in_order, None, None)
        return _Found(numbers, in_order, sure, author_confidence(encoded.block_start, label, sure))

    def write(self, encoded: Encoded, knowledge: FoundConstraints | None, found: _Found) -> None:
        """Write the authors and what belongs beside them."""
        import pyarrow as pa

        from homonym.constraints.conflicts import write_conflicts
        from homonym.engines.result_tables import author_batches
        from homonym.io.tables import write_table
        from homonym.schema import AUTHORS, ROUNDS

        columns = {
            "constraint": knowledge.column if knowledge else None,
            "confidence": None if found.sure is None else pa.array(found.sure.round(DECIMALS)),
            "author_confidence": None if found.author_sure is None else pa.array(found.author_sure.round(DECIMALS)),
        }
        with self.stages.stage("write", len(found.numbers)) as advance:
            if self.trace:
                write_table(self.trace, ROUNDS, found.rounds)
            rows = author_batches(encoded.mentions_file, found.numbers, columns)
            write_table(self.output, AUTHORS, _told(rows, advance))
            write_atomic(settings_path(self.output), self.settings.to_toml())
            write_conflicts(conflicts_path(self.output), knowledge.conflicts if knowledge else [])

    def finish(
        self,
        engine: LocalEngine,
        encoded: Encoded,
        knowledge: FoundConstraints | None = None,
        found: _Found | None = None,
    ) -> Summary:
        """Sum up."""
        import numpy as np

        authors = int(np.maximum.reduceat(found.numbers, encoded.block_start[:-1]).sum()) if found else None
        return Summary(
            output=self.output,
            records=engine.records,
            mentions=len(encoded.mention_owner),
            blocks=len(encoded.block_start) - 1,
            authors=authors,
            problems=engine.problems,
            seconds=self.stages.seconds,
            warnings=self.warnings,
            constraints=_summed_up(knowledge, self.output) if knowledge else None,
            limit=self.settings.limit if found else None,
            calibration=self.found_limit,
            confidence=float(found.sure.mean()) if found and found.sure is not None else None,
            log=run_log_path(self.output),
        )


@dataclass(frozen=True, eq=False)
class _Found:
    """For each mention the number of its author inside its block and how sure that is; and the rounds, if wanted."""

    numbers: NDArray[np.int64]
    rounds: list[pa.Table]
    sure: NDArray[np.float64] | None
    author_sure: NDArray[np.float64] | None


def _told(batches: Iterable[pa.Table], advance: Advance) -> Iterator[pa.Table]:
    """The same batches; when one is taken care of, its rows are reported."""
    for batch in batches:
        yield batch
        advance(len(batch))


def _instead(limit: Limit) -> str:
    """What is done where pseudo-names do not say what to do."""
    return f"the limit is {limit.describe()}; labelled names (homonym calibrate --gold) would say more"


def _summed_up(knowledge: FoundConstraints, output: Path) -> ConstraintSummary:
    counts, found = knowledge.counts, knowledge.conflicts
    return ConstraintSummary(
        links=counts.links,
        linked=counts.linked,
        apart=counts.apart,
        contradictions=len(found),
        first=tuple(found[:FIRST_CONFLICTS]),
        file=conflicts_path(output),
    )


def conflicts_path(output: Path) -> Path:
    """Where the contradictions of a run are listed, if there are any."""
    return side_file(output, ".contradictions.csv")


def settings_path(output: Path) -> Path:
    """Where the settings of a result are kept."""
    return side_file(output, ".settings.toml")
