"""A clustering run on Spark: the steps of pipeline.py where no machine holds the collection."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from homonym.commands.disambiguate import (
    DECIMALS,
    FIRST_CONFLICTS,
    ConstraintSummary,
    Job,
    Summary,
    conflicts_path,
    settings_path,
)
from homonym.commands.run import Resources, machine_failures
from homonym.errors import InputError, SettingsError
from homonym.io.outputs import Paths, as_paths, open_atomic, require_directory, require_writable, write_atomic
from homonym.messages import counted
from homonym.records.reader import Inputs
from homonym.records.registry import Columns
from homonym.runtime.run_log import run_log_path

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from homonym.calibration.confidence import Confidence
    from homonym.clustering.agglomerative import Clustering
    from homonym.constraints.conflicts import ConstraintConflict
    from homonym.engines.spark.engine import SparkEngine
    from homonym.engines.spark.excerpt import BlockPairs


REMOTE = "://"
"""What tells the URL of a place that only Spark sees."""

Found = list[dict[str, Any]]
"""What tasks say about the blocks they have clustered."""


class SparkJob(Job):
    """A run on Spark. Its result is a file, or a directory of Parquet files where one file makes no sense."""

    engines = ("spark",)

    def __init__(
        self,
        inputs: Paths,
        format: str | None,
        columns: Columns | None,
        output: str | Path,
        *options: Any,
        resources: Resources,
        **more: Any,
    ) -> None:
        self.master = resources.master
        self.remote_work = str(resources.work) if REMOTE in str(resources.work) else None
        self.remote_output = str(output) if REMOTE in str(output) else None
        self.is_directory = self.remote_output is not None or str(output).endswith("/") or Path(output).is_dir()
        # What belongs beside a result that only Spark sees is written where this run was started.
        output = Path(PurePosixPath(output).name) if self.remote_output else output
        resources = replace(resources, work=None) if self.remote_work else resources
        super().__init__(_inputs(inputs, format, columns), output, *options, resources=resources, **more)

    def check_outputs(self, trace: str | Path | None) -> None:
        """Fail before any work is done if the result could not be written."""
        if trace:
            raise SettingsError("a trace is not kept by the Spark engine; leave out --trace or use --engine local.")
        if not self.is_directory:
            super().check_outputs(None)
        elif not self.remote_output:
            require_directory(self.output)
        if self.remote_output:
            require_writable(settings_path(self.output))

    @contextmanager
    def engine(self) -> Iterator[SparkEngine]:  # type: ignore[override]
        """An engine in a session, with a directory of its own; failures of machines and of Spark become sentences."""
        from homonym.engines.spark.engine import SparkEngine
        from homonym.engines.spark.session import failures_in_words, session

        with (
            self._workplace() as place,
            self._logged(place),
            machine_failures(place.path),
            session(self.master) as spark,
            failures_in_words(),
            open_atomic(self.rejects) if self.rejects else nullcontext() as rejects,
        ):
            folder = place.path / "spark"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            where = self.remote_work.rstrip("/") + "/spark" if self.remote_work else f"file:{folder.absolute()}"
            try:
                engine = SparkEngine(spark, where, folder, self.stages, self.strict, rejects=rejects)
                yield engine
                self.warnings += engine.warnings
            finally:
                shutil.rmtree(folder, ignore_errors=True)  # nothing of it could be gone on with

    def cluster(self, engine: SparkEngine) -> Summary:  # type: ignore[override]
        """Cluster what the engine has read and write the authors."""
        self.count(engine)
        with self.stages.stage("constrain"):
            pairs = engine.place_pairs(self.pairs)
        confidence = self.find_limit(engine, pairs)
        self.find_all_authors(engine, pairs, confidence)
        notes = engine.notes()
        self.write_all(engine, _contradictions(notes))
        return self.sum_up(engine, notes)

    def count(self, engine: SparkEngine) -> None:
        """Count and encode what the engine has read."""
        if not engine.mentions:
            raise InputError(f"{self.inputs}: {counted(engine.records, 'record')}, but no author to tell from others.")
        engine.connect()
        engine.encode(self.given)
        if self.given:
            self._warn_of_missing(engine.missing_features(), engine.types.features)
        if self.save_statistics:
            engine.save_statistics(self.save_statistics)

    def find_limit(self, engine: SparkEngine, pairs: BlockPairs) -> Confidence | None:
        """Find the limit where none is given and learn how sure one may be, from a few blocks fetched to the driver."""
        from homonym.calibration.limit import blocks_for_calibration
        from homonym.calibration.single_person_names import BlockSample
        from homonym.constraints.found_constraints import find_constraints

        with self.stages.stage("calibrate"):
            blocks = blocks_for_calibration(engine.schedule.size)
            encoded, numbers = engine.fetch(blocks)
            knowledge = find_constraints(encoded, self.settings, pairs.among(numbers))
            among = BlockSample(engine.schedule.size, blocks)
        return self.calibrate(encoded, knowledge, among)

    def find_all_authors(self, engine: SparkEngine, pairs: BlockPairs, confidence: Confidence | None) -> None:
        """Cluster all blocks."""
        from homonym.engines.spark.cluster_tasks import Tasks

        judge = ConfidenceJudge(confidence) if confidence else None
        places = engine.schedule.first_places
        engine.cluster(Tasks(engine.types, self.settings, pairs, judge, places, DECIMALS))

    def write_all(self, engine: SparkEngine, contradictions: list[ConstraintConflict]) -> None:
        """Write the authors and what belongs beside them."""
        from homonym.constraints.conflicts import write_conflicts
        from homonym.io.tables import write_table
        from homonym.schema import AUTHORS

        with self.stages.stage("write"):
            if self.is_directory:
                engine.write_results(self.remote_output or f"file:{self.output.absolute()}")
            else:
                write_table(self.output, AUTHORS, engine.results())
            write_atomic(settings_path(self.output), self.settings.to_toml())
            write_conflicts(conflicts_path(self.output), contradictions)

    def sum_up(self, engine: SparkEngine, notes: Found) -> Summary:
        """Sum up."""
        mentions = int(engine.schedule.size.sum())
        sure = [note["sure"] for note in notes]
        return Summary(
            output=self.output,
            records=engine.records,
            mentions=mentions,
            blocks=len(engine.schedule.size),
            authors=sum(note["authors"] for note in notes),
            problems=engine.problems,
            seconds=self.stages.seconds,
            warnings=self.warnings,
            constraints=self._constraints(notes),
            limit=self.settings.limit,
            calibration=self.found_limit,
            confidence=None if None in sure else math.fsum(sure) / mentions,
            log=run_log_path(self.output),
        )

    def _constraints(self, notes: Found) -> ConstraintSummary | None:
        """What constraints did, all tasks together; None where there were none."""
        from homonym.constraints.must_link import DOCUMENT, NAME, PAIR

        if not any("counts" in note for note in notes):
            return None
        counts = [note["counts"] for note in notes]
        found = _contradictions(notes)
        return ConstraintSummary(
            links=_added([count["links"] for count in counts], [*self.settings.trusted, PAIR]),
            linked=sum(count["linked"] for count in counts),
            apart=_added([count["apart"] for count in counts], [*self.settings.trusted, DOCUMENT, NAME, PAIR]),
            contradictions=len(found),
            first=tuple(found[:FIRST_CONFLICTS]),
            file=conflicts_path(self.output),
        )


@dataclass(frozen=True)
class ConfidenceJudge:
    """How sure an answer is; sent to the tasks."""

    confidence: Confidence

    def __call__(self, answer: Clustering) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The confidence of each mention and of its author."""
        from homonym.calibration.confidence import author_confidence

        sure = self.confidence.of(answer)
        return sure, author_confidence(answer.block_start, answer.label, sure)


def _inputs(inputs: Paths, format: str | None, columns: Columns | None) -> Inputs:
    """The inputs of a run: all of them are seen from here, or none is looked for here."""
    from homonym.engines.spark.inputs import Remote

    given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
    remote = [str(path) for path in given if REMOTE in str(path)]
    if not remote:
        return Inputs.of(inputs, format, columns)
    if len(remote) < len(given):
        here = as_paths([path for path in given if REMOTE not in str(path)])
        raise InputError(f"{here[0]} is a file and {remote[0]} a URL; name all inputs by URL (file:///… for files).")
    return Remote([], frozenset(), format or ("table" if columns else None), columns or {}, tuple(remote))


def _contradictions(notes: Found) -> list[ConstraintConflict]:
    from homonym.constraints.conflicts import ConstraintConflict

    found = (row for note in notes for row in note.get("contradictions", ()))
    return [ConstraintConflict(kind, block, tuple(mentions), what) for kind, block, mentions, what in found]


def _added(counts: list[dict[str, int]], kinds: list[str]) -> dict[str, int]:
    """Counts by kind, added up, in the order of the kinds.

    >>> _added([{"name": 1}, {"orcid": 2, "name": 3}], ["orcid", "pair", "name"])
    {'orcid': 2, 'name': 4}
    """
    sums = {kind: sum(count.get(kind, 0) for count in counts) for kind in kinds}
    return {kind: number for kind, number in sums.items() if number}
