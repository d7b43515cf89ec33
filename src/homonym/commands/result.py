"""The files of a result and the summary of the run that wrote it, the same for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from homonym.commands.run import Resources, Run
from homonym.errors import OutputError, SettingsError
from homonym.io.outputs import require_directory, require_writable, side_file, write_atomic, write_json
from homonym.io.result_directory import (
    CONFIDENCE,
    CONFLICTS,
    LOG,
    MENTIONS,
    PAIRS,
    REPORT,
    SETTINGS,
    VARIANTS,
    names_directory,
    require_result_place,
    written_directory,
)
from homonym.io.urls import is_url, local_path
from homonym.records.model import Problems
from homonym.runtime.own_files import require_spark_table
from homonym.runtime.progress import run_log_path
from homonym.runtime.thread_pool import meanwhile
from homonym.settings import Limit, Settings

if TYPE_CHECKING:
    from homonym.calibration.confidence import Confidence
    from homonym.calibration.limit import CalibratedLimit
    from homonym.collection.author_summaries import ResultMembers
    from homonym.collection.background import BackgroundUse
    from homonym.constraints.conflicts import ConstraintConflict
    from homonym.constraints.evidence import UserPairs
    from homonym.engines.base import AnyEngine, ConstraintOutcome, EncodedCollection, FoundAuthors
    from homonym.report.run_page import PageContent

# Number of conflicts in a summary; all of them are in the file next to the result.
FIRST_CONFLICTS = 3


@dataclass(frozen=True)
class ConstraintSummary:
    """What constraints did in a run.

    `links` has the number of must-links by kind, `linked` the mentions that these bind, `apart` the number of
    cannot-link pairs of mentions by kind, `united` the number of authors that became part of an author of another
    block. `first` has the first of the conflicts, called `contradictions`; all of them
    are in `file`.
    """

    links: dict[str, int]
    linked: int
    apart: dict[str, int]
    contradictions: int
    first: tuple[ConstraintConflict, ...]
    file: Path
    united: int = 0


@dataclass(frozen=True)
class Summary:
    """What a run did: counts, rejected records, seconds of each stage, warnings, constraints if there were any.

    `output` is the table, or the result directory. `limit` is what the score of two clusters had to exceed,
    `calibration` how it was found if it was not given, `confidence` the mean over all mentions. `log` is the file with
    the time and memory of each stage. `background` is given if the collection has few names. `formats` has the number
    of files of each format.
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
    background: BackgroundUse | None = None
    formats: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """What the log of a run keeps of it: everything that its page shows and that is not in the tables."""
        return {
            "records": self.records,
            "formats": self.formats,
            "problems": {
                "counts": dict(self.problems.counts),
                "first": [_as_json(problem) for problem in self.problems.first],
            },
            "warnings": self.warnings,
            "constraints": _as_json(self.constraints, "links", "linked", "apart") if self.constraints else None,
            "limit": self.limit.describe() if self.limit else None,
            "calibration": _as_json(self.calibration, *CALIBRATED) if self.calibration else None,
            "background": self.background.describe() if self.background else None,
        }


# What the log keeps of a calibration; the values that it chose are in the settings.
CALIBRATED = ("precision", "recall", "people", "names", "why")


def _as_json(value: Any, *keys: str) -> dict[str, Any]:
    """Fields of a data class, all of them if none is named."""
    return {part.name: getattr(value, part.name) for part in fields(value) if not keys or part.name in keys}


@dataclass(frozen=True)
class CalibratedRun:
    """The settings with the limit to use, how the limit was found if it was not given, and the confidence model."""

    settings: Settings
    limit: CalibratedLimit | None
    confidence: Confidence | None


@dataclass(frozen=True)
class ResultFiles:
    """The files of a result: a table with side files next to it, or the files of a result directory."""

    table: Path
    settings: Path
    conflicts: Path
    log: Path

    @classmethod
    def beside(cls, table: Path) -> ResultFiles:
        """The files of a result that is a table."""
        return cls(table, settings_path(table), conflicts_path(table), run_log_path(table))

    @classmethod
    def inside(cls, folder: Path) -> ResultFiles:
        """The files of a result directory."""
        return cls(*(folder / name for name in (MENTIONS, SETTINGS, CONFLICTS, LOG)))


@dataclass(frozen=True)
class ResultPlace:
    """Where the result goes: `output` is a table, or a result directory if `is_directory`.

    `url` is the place of a table that Spark writes as a directory of Parquet files.
    """

    output: Path
    is_directory: bool = False
    url: str | None = None
    trace: Path | None = None
    excel: bool = False

    @property
    def files(self) -> ResultFiles:
        """The files of the result."""
        return ResultFiles.inside(self.output) if self.is_directory else ResultFiles.beside(self.output)


def result_place(output: str | Path) -> ResultPlace:
    """What an output names, without any check."""
    path = local_path(output)
    if is_url(output):
        # Side files of a remote result are written to the current directory.
        return ResultPlace(Path(PurePosixPath(path).name) if is_url(path) else Path(path), url=str(output))
    return ResultPlace(Path(output), is_directory=names_directory(output))


def check_result_place(
    output: str | Path, trace: str | Path | None, resources: Resources | None, *, excel: bool = False
) -> ResultPlace:
    """Where the result goes; fails if it could not be written."""
    from homonym.io.tables import TABLE_SUFFIXES, require_excel_path, require_table_path

    place = result_place(output)
    if excel and place.is_directory:
        raise SettingsError(f"--excel is about CSV, but {output} is a result directory; name a file that ends in .csv.")
    if excel:
        require_excel_path(place.output)
    if resources and resources.engine == "spark" and trace:
        raise SettingsError("the Spark engine cannot write a trace; leave out --trace or use --engine local.")
    if place.is_directory:
        require_result_place(place.output)
    elif place.url and resources and resources.engine == "spark":
        _require_spark_place(place)
    else:
        if not str(output).endswith(TABLE_SUFFIXES):
            formats = ", ".join(TABLE_SUFFIXES)
            what = f"{output}: the suffix chooses the format; use one of {formats}, or / for a directory."
            raise OutputError(what + _excel_hint(output))
        require_table_path(Path(output))
    if trace:
        require_table_path(Path(trace))
    return replace(place, trace=Path(trace) if trace else None, excel=excel)


def _excel_hint(output: str | Path) -> str:
    """How to get a spreadsheet, if the name of an output is one."""
    if not str(output).lower().endswith((".xlsx", ".xls", ".ods")):
        return ""
    return " For a spreadsheet, write a result directory (-o result/), then use homonym export result/ --to excel."


def _require_spark_place(place: ResultPlace) -> None:
    """Fail if Spark could not write a table there, or would remove files of others."""
    if is_url(local_path(place.url or "")):
        require_writable(place.files.settings)
        return
    require_directory(place.output)
    require_spark_table(place.output)


class RunOutcome(NamedTuple):
    """What a run has found, and what a result directory keeps of it.

    `pairs` are the user's, `confidence` is the model of the run. `statistics` is the file of frequencies that were
    counted elsewhere; the log keeps its name.
    """

    collection: EncodedCollection[Any]
    found: FoundAuthors[Any]
    settings: Settings
    place: ResultPlace
    summary: Summary
    pairs: UserPairs | None = None
    confidence: Confidence | None = None
    statistics: Path | None = None


def write_result(run: Run, engine: AnyEngine, outcome: RunOutcome) -> None:
    """Write the table of mentions, the settings, conflicts and, in a result directory, all other files."""
    collection, found, place = outcome.collection, outcome.found, outcome.place
    if not place.is_directory:
        _write_files(run, engine, outcome, place.files)
        return
    # Only a result directory needs these; importing them takes a thirtieth of a small run.
    from homonym.corpus.decision_targets import require_decided_mentions
    from homonym.report.run_page import write_run_page

    with written_directory(place.output) as folder:
        with engine.summaries_written(collection, found, folder) as summaries:
            _write_files(run, engine, outcome, ResultFiles.inside(folder))
            run.warnings.extend(require_decided_mentions(place.output, folder))
            with run.stages.stage("summarise"):
                if not collection.of_mentions:
                    _write_kept(engine, outcome, folder)
                members = summaries()
        with run.stages.stage("examine"):
            page = _examine(run, collection, folder, members)
        run.log.summary = _logged_summary(run, outcome)
        with run.stages.stage("report"):
            run.log.write(folder / LOG, finished=False)
            write_run_page(folder, folder / REPORT, found=page)
        run.log.write(folder / LOG, finished=True, durable=True)


def write_epoch(run: Run, engine: AnyEngine, outcome: RunOutcome) -> None:
    """Write what `write_result` writes to a directory, without the authors that were found and without a page.

    An update that begins an epoch keeps its own authors. The log has what constraints did in the clustering.
    """
    with written_directory(outcome.place.output) as folder:
        write_atomic(ResultFiles.inside(folder).settings, _settings_text(outcome))
        with run.stages.stage("summarise"):
            _write_kept(engine, outcome, folder)
        run.log.summary = _logged_summary(run, outcome)
        run.log.write(folder / LOG, finished=True, durable=True)


def _settings_text(outcome: RunOutcome) -> str:
    """The settings of a result as they are written."""
    use = outcome.collection.background
    return (f"# {use.describe()}\n" if use else "") + outcome.settings.to_toml()


def _logged_summary(run: Run, outcome: RunOutcome) -> dict[str, Any]:
    """What the log of a result directory keeps: the summary, the settings as given, and the file of frequencies."""
    given = run.settings.model_dump(mode="json", exclude_unset=True)
    file = str(outcome.statistics.absolute()) if outcome.statistics else None
    return outcome.summary.as_dict() | {"warnings": result_warnings(run), "given": given, "statistics": file}


def _write_kept(engine: AnyEngine, outcome: RunOutcome, folder: Path) -> None:
    """Write the documents, and what else later runs need of a result with documents."""
    from homonym.calibration.confidence import confidence_to_json
    from homonym.constraints.evidence import write_user_pairs

    engine.write_documents(outcome.collection, folder)
    if outcome.pairs:
        write_user_pairs(folder / PAIRS, outcome.pairs)
    if outcome.confidence:
        write_json(folder / CONFIDENCE, confidence_to_json(outcome.confidence))


def _examine(run: Run, collection: EncodedCollection[Any], folder: Path, members: ResultMembers | None) -> PageContent:
    """Read from the tables of a result what its page shows, and at the same time write the list of name variants.

    There is none if the result has no documents. What is in `members` is not read.
    """
    from homonym.report.run_page import read_page_content
    from homonym.suggestions.name_variants import write_variants

    # Each of the two has a database, with half of the memory that one alone would have, and all cores: one of them is
    # often busy with work that uses one core.
    memory = run.memory // 4
    affiliations = members.affiliations if members else None
    content = partial(read_page_content, folder, threads=run.threads, memory=memory, affiliations=affiliations)
    with meanwhile(content) as page:
        if not collection.of_mentions:
            path = folder / VARIANTS
            search = write_variants(folder, path, threads=run.threads, memory=memory, found=members)
            listed = len(search.listed)
            run.stages.note("examine", compared=search.compared, listed=listed, most_common_feature=search.rare)
    return page.result()


def result_warnings(run: Run) -> list[str]:
    """The warnings about the result, in an order that does not depend on the engine; none about the work directory."""
    return sorted({text for text in run.warnings if not text.startswith(f"{run.work_place} ")})


def _write_files(run: Run, engine: AnyEngine, outcome: RunOutcome, files: ResultFiles) -> None:
    """Write the table of mentions, the settings and the conflicts."""
    from homonym.constraints.conflicts import write_conflicts
    from homonym.engines.base import Destination

    found, place, settings = outcome.found, outcome.place, _settings_text(outcome)
    directory = place.url and (place.url if is_url(local_path(place.url)) else f"file:{place.output.absolute()}")
    with run.stages.stage("write", found.mentions) as advance:
        engine.write_authors(found, Destination(files.table, directory, place.trace, place.excel), advance)
        write_atomic(files.settings, settings)
        conflicts = found.constraints.conflicts if found.constraints else []
        write_conflicts(files.conflicts, conflicts, excel=place.excel)


def summarise(
    run: Run,
    collection: EncodedCollection[Any],
    place: ResultPlace,
    found: FoundAuthors[Any] | None = None,
    calibrated: CalibratedRun | None = None,
    formats: Mapping[str, int] | None = None,
) -> Summary:
    """The summary of a run; without `found` of one that ends with the encoded collection.

    It may be made before the result is written: its times and warnings are those of the run, also later ones.
    """
    return Summary(
        output=place.output,
        records=collection.records,
        mentions=collection.mentions,
        blocks=collection.blocks,
        authors=found.authors if found else None,
        problems=collection.problems,
        seconds=run.stages.seconds,
        warnings=run.warnings,
        constraints=_constraint_summary(found.constraints, place) if found and found.constraints else None,
        limit=calibrated.settings.limit if calibrated else None,
        calibration=calibrated.limit if calibrated else None,
        confidence=found.confidence if found else None,
        log=place.files.log,
        background=collection.background,
        formats=dict(sorted((formats or {}).items())),
    )


def _constraint_summary(outcome: ConstraintOutcome, place: ResultPlace) -> ConstraintSummary:
    counts, conflicts = outcome.counts, outcome.conflicts
    return ConstraintSummary(
        links=counts.links,
        linked=counts.linked,
        apart=counts.apart,
        contradictions=len(conflicts),
        first=tuple(conflicts[:FIRST_CONFLICTS]),
        file=place.files.conflicts,
        united=counts.united,
    )


def conflicts_path(output: Path) -> Path:
    """Where the constraint conflicts of a run are listed, if there are any."""
    return side_file(output, ".contradictions.csv")


def settings_path(output: Path) -> Path:
    """Where the settings of a result are written."""
    return side_file(output, ".settings.toml")
