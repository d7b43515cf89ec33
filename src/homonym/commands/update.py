"""Update: new records for a result directory, whose author ids stay valid."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from homonym.commands.in_memory import Data, files_of
from homonym.commands.run import Resources, Run, RunFiles, open_local_engine, prepare_run
from homonym.errors import InputError, SettingsError, counted, require_type
from homonym.io.paths import require_utf8
from homonym.io.result_directory import (
    BAGS,
    CONFLICTS,
    DOCUMENTS,
    EVENTS,
    MASSES,
    MENTIONS,
    PAIRS,
    REPORT,
    VARIANTS,
    ResultState,
    changed_directory,
    recover_missing,
    require_elsewhere,
    require_result,
    require_state,
    result_state,
)
from homonym.records.model import Problems
from homonym.records.reader import Columns
from homonym.runtime.arrow_memory import import_arrow_with_system_memory, memory_given_back
from homonym.runtime.progress import Listener

if TYPE_CHECKING:
    from homonym.corpus.epoch import CorpusNote, EpochChange
    from homonym.corpus.id_changes import IdChanges
    from homonym.corpus.intake import DocumentChanges
    from homonym.corpus.update_plan import TouchedBlocks, UpdatePlan
    from homonym.engines.local import LocalEngine
    from homonym.settings import Settings

Mode = Literal["assign", "grow", "rebuild"]
# A page takes five seconds of CPU for a million mentions, more than all the rest of an update; up to this number of
# mentions it is made again, and so is the list of possible name variants.
PAGE_MENTIONS = 200_000
MODES: tuple[Mode, ...] = ("assign", "grow", "rebuild")


@dataclass(frozen=True)
class Updated:
    """What an update did.

    `documents` counts documents that were added, changed, removed and came again unchanged; `mentions` counts those
    added and removed, and old ones that got another id of their own or another author; `events` has the number of
    events of each kind. `update` is the number of the update; if nothing has changed, that of the one before.
    `new_epoch` says why an epoch began with this update, if one did. `conflicts` is the number of constraint conflicts
    that the result did not have before; conflicts.csv lists them among all others. `grown` is the number of authors
    that the result had before and that got new mentions.
    """

    output: Path
    mode: str
    update: int
    epoch: int
    documents: dict[str, int]
    mentions: dict[str, int]
    events: dict[str, int]
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str] = field(default_factory=list)
    new_epoch: str | None = None
    conflicts: int = 0
    grown: int = 0


def update(
    result: str | Path,
    inputs: Data = (),
    *,
    mode: Mode = "assign",
    remove: str | list[str] | tuple[str, ...] = (),
    recalibrate: bool = False,
    keep_epoch: bool = False,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Updated:
    """Add records to a result directory, and apply the decisions that users made since.

    Authors keep their ids. With the mode `assign`, existing authors never change: new mentions join the best author
    above the limit, or form new authors. With `grow`, authors of names with new mentions may also merge, or be divided
    if the clustering does not unite their mentions any more; authors that users have made decisions about are not
    divided. With `rebuild`, the whole collection is clustered from scratch, and ids are carried over.

    Frequencies and limit are frozen for an epoch. A new one begins if more than a tenth of the mentions have come,
    left or changed since the last one did, with `recalibrate`, and with every rebuild: frequencies are counted and the
    limit is calibrated on all documents. What the mode may do to authors stays the same. `keep_epoch` prevents it.

    Records that come again are recognised as in `disambiguate`. A record that changed replaces the old one. `remove`
    are ids of documents that leave. What happened to authors is in the table of events.

    The directory changes as a whole: if the update is interrupted, it is as before.
    """
    import_arrow_with_system_memory()
    require_type("result", result, (str, os.PathLike), "the path of a result directory")
    removed = [remove] if isinstance(remove, str) else list(remove)
    for one in removed:
        require_type("remove", one, str, "ids of documents")
    folder = Path(result)
    recover_missing(folder)
    require_result(folder, MENTIONS, DOCUMENTS, MASSES)
    require_elsewhere(folder)
    require_utf8(os.path.realpath(folder))
    if mode not in MODES:
        raise SettingsError(f"mode: unknown mode {mode!r}; use assign, grow or rebuild.")
    if keep_epoch and (recalibrate or mode == "rebuild"):
        raise SettingsError("keep_epoch: recalibrate and the mode rebuild begin an epoch; leave one of them out.")
    from homonym.settings import Settings, load_settings

    state = result_state(folder)
    # Without the name of their file, which is in the directory that is changed.
    settings = Settings(**load_settings(folder).model_dump(exclude_unset=True))
    with files_of(inputs, format, may_be_empty=True) as (paths, known_format):
        run = prepare_run(
            paths, settings, format=known_format, columns=columns, strict=strict, rejects=rejects,
            resources=replace(resources, engine="local") if resources else None, listener=listener,
            files=RunFiles.of(folder, directories=[folder], is_directory=True), needs_input=False,
        )  # fmt: skip
        with open_local_engine(run, discards_on_error=True) as engine, memory_given_back():
            task = _Task(folder, mode, recalibrate, keep_epoch, resources, state)
            try:
                return _update(run, engine, task, removed)
            except InputError:
                require_state(folder, state)  # tables of two updates do not fit together
                raise


class _Task(NamedTuple):
    """What the user asks for."""

    folder: Path
    mode: Mode
    recalibrate: bool
    keep_epoch: bool
    resources: Resources | None
    state: ResultState


def _update(run: Run, engine: LocalEngine, task: _Task, remove: list[str]) -> Updated:
    from homonym.collection import counting

    problems, records = Problems(), 0
    if run.inputs.files:
        read = engine.read_compared(run.inputs, run.settings)
        problems, records = read.problems, read.records
    scratch = engine.work / "update"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    try:
        with run.stages.stage("compare"):
            connection = counting.connect(engine.work, min(run.memory // 2, 1 << 29), run.threads, in_memory=True)
            try:
                changes = _find_changes(task.folder, engine, connection, run.settings, remove, records)
            finally:
                connection.close()
        return _apply(run, task, changes, scratch, problems)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _find_changes(
    folder: Path, engine: LocalEngine, connection: object, settings: Settings, remove: list[str], records: int
) -> DocumentChanges:
    from homonym.corpus.intake import DocumentChanges, documents_named, find_changes, no_documents

    if not records:
        return DocumentChanges(no_documents(), removed=documents_named(folder, remove))
    return find_changes(folder, connection, engine.work, settings, remove)  # type: ignore[arg-type]


def _apply(run: Run, task: _Task, changes: DocumentChanges, scratch: Path, problems: Problems) -> Updated:
    """Make the tables of the result anew and swap the directories."""
    from homonym.corpus.applied_decisions import lost_decisions
    from homonym.corpus.changed_documents import follow_renames
    from homonym.corpus.consistency import require_unchanged
    from homonym.corpus.decided import Decided
    from homonym.corpus.epoch import change_since_epoch, read_epoch, read_note
    from homonym.corpus.ids import read_ids
    from homonym.corpus.table_changes import replace_bags, replace_documents
    from homonym.corpus.update_plan import UpdatePlan
    from homonym.corpus.updating import touched_blocks

    folder, mode, note = task.folder, task.mode, read_note(task.folder)
    with run.stages.stage("verify"):
        require_unchanged(folder, note)
    since = change_since_epoch(folder, note, changes)
    reason = _why_new_epoch(run, task, since)
    with changed_directory(folder, task.state) as copy:
        decided = Decided.read(folder)
        if problem := lost_decisions(folder, note, decided.last):
            raise InputError(problem)
        plan = UpdatePlan(
            folder, folder, copy, scratch, read_epoch(folder), note, decided, changes, mode,
            read_ids(folder), run.threads,
        )  # fmt: skip
        if changes.leaving or len(changes.rows):
            with run.stages.stage("documents"):
                plan.copied[DOCUMENTS] = replace_documents(
                    folder, copy, changes.leaving, changes.rows, in_order=bool(reason)
                )
                if not reason and (folder / BAGS).exists():  # a new epoch has the bags of its run
                    plan.copied[BAGS] = replace_bags(folder, copy, changes.leaving, plan.new_bags())
            plan = follow_renames(plan)
        fresh = _run_all(run, plan, task.resources) if reason else None
        if fresh and mode == "rebuild":
            plan, touched = _rebuild(run, plan, fresh, problems)
        else:
            plan = _begin_epoch(run, plan, fresh, problems) if fresh else plan
            with run.stages.stage("cluster"):
                touched = touched_blocks(plan)
        return _finish(run, plan, touched, problems, _EpochState(since, reason))


def _why_new_epoch(run: Run, task: _Task, since: EpochChange) -> str | None:
    """Why a new epoch begins, or None; a warning if the user keeps an old one.

    Frequencies that were counted elsewhere do not depend on the collection: then no epoch ends by itself.
    """
    from homonym.corpus.rebuilding import statistics_from_elsewhere

    mentions = counted(since.changed, "mention")
    changed = f"{mentions} came, left or changed, {since.share:.0%} of the {since.mentions:,} before"
    if task.mode == "rebuild":
        return "rebuild"
    if task.recalibrate:
        return "asked for"
    if not since.ends_epoch or statistics_from_elsewhere(task.folder):
        return None
    if task.keep_epoch:
        run.warnings.append(
            f"frequencies and limit are too old: {changed}. The next update without --keep-epoch counts them anew."
        )
    return None if task.keep_epoch else changed


def _run_all(run: Run, plan: UpdatePlan, resources: Resources | None) -> Path:
    """Run the whole collection again; returns the directory of the result, without authors unless they are used."""
    from homonym.commands.disambiguate import begin_epoch, disambiguate
    from homonym.corpus.rebuilding import given_settings, statistics_from_elsewhere, write_records

    records, fresh = plan.work / "records.jsonl", plan.work / "rebuilt"
    write_records(plan.folder, records)
    pairs = plan.folder / PAIRS
    statistics, mentions = statistics_from_elsewhere(plan.result) or (None, None)
    run_again = disambiguate if plan.mode == "rebuild" else begin_epoch
    summary = run_again(
        records, fresh, given_settings(plan.result), pairs=pairs if pairs.exists() else None,
        statistics=statistics, mentions_in_collection=mentions,
        resources=replace(resources or Resources(), threads=run.threads, memory=run.memory, work=None),
        listener=run.log.stages.listener,
    )  # fmt: skip
    run.warnings.extend(summary.warnings)
    for name, seconds in summary.seconds.items():
        run.stages.seconds[name] = run.stages.seconds.get(name, 0.0) + seconds
    return fresh


def _rebuild(run: Run, plan: UpdatePlan, fresh: Path, problems: Problems) -> tuple[UpdatePlan, TouchedBlocks]:
    """Let the result have the authors of a new run, and carry ids over."""
    from homonym.corpus.changed_documents import with_renames
    from homonym.corpus.rebuilding import NewRecords, carry_over, renames_by_merging, take_files

    with run.stages.stage("match"):
        merged = renames_by_merging(plan, fresh)
        take_files(fresh, plan.folder, NewRecords(run.log.inputs, problems))
        plan.copied.clear()  # of files that the run has replaced
        return carry_over(with_renames(plan, merged), fresh, merged)


def _begin_epoch(run: Run, plan: UpdatePlan, fresh: Path, problems: Problems) -> UpdatePlan:
    """Let the result have the frequencies and the calibration of a new run."""
    from homonym.corpus.epoch import read_epoch
    from homonym.corpus.rebuilding import NewRecords, take_epoch

    take_epoch(fresh, plan.folder, NewRecords(run.log.inputs, problems))
    return replace(plan, epoch=read_epoch(plan.folder))


class _EpochState(NamedTuple):
    """How much has changed since the epoch began that the result had, and why a new one begins with this update."""

    since: EpochChange
    reason: str | None


def _finish(run: Run, plan: UpdatePlan, touched: TouchedBlocks, problems: Problems, state: _EpochState) -> Updated:
    """Write the tables that follow from the authors of the touched blocks, unless nothing has changed."""
    from homonym.corpus.changed_tables import write_changed_tables
    from homonym.corpus.event_table import append_events
    from homonym.corpus.id_changes import find_id_changes
    from homonym.corpus.ids import changed_ids, write_ids

    note, copy = plan.note, plan.folder
    changes = find_id_changes(touched.before, touched.after, touched.renamed, plan, f"update {plan.mode}")
    names = dict(plan.decided.names)
    is_new = bool(plan.changes.leaving or len(plan.changes.rows)) or touched.is_changed or bool(state.reason)
    is_new |= names != note.named or (note.update == 0 and plan.decided.last > 0)
    if is_new:
        time, number = datetime.now(UTC).isoformat(timespec="seconds"), note.update + 1
        epoch = note.epoch + bool(state.reason)
        with run.stages.stage("write"):
            write_changed_tables(plan, touched)
            ids = changed_ids(
                plan.known_ids, number, created=changes.created, redirected=changes.redirected,
                retired=changes.retired, revived=changes.revived,
            )  # fmt: skip
            write_ids(copy, ids)
            plan.copied[EVENTS] = append_events(plan.place, copy, changes.events, time, number, epoch)
        with run.stages.stage("variants"):
            _write_variants(run, plan)
        with run.stages.stage("report"):
            _write_page(run, copy, f"update {number} ({plan.mode}), {time[:10]}")
        note = _write_note(plan, replace(note, epoch=epoch, update=number, time=time, named=names), state)
    elif plan.decided.last != note.decisions:
        note = _write_note(plan, note, state)  # so that it is known which decisions have been applied
    return replace(_updated(run, plan, note, touched, changes, problems), new_epoch=state.reason)


def _write_note(plan: UpdatePlan, note: CorpusNote, state: _EpochState) -> CorpusNote:
    """Write the note of the update, with the number of mentions when its epoch began."""
    import pyarrow.parquet as pq

    from homonym.corpus.epoch import write_note

    mentions, changed = state.since.mentions, state.since.changed
    if state.reason:
        mentions, changed = pq.read_metadata(plan.folder / MENTIONS).num_rows, 0
    note = replace(note, mentions=mentions, changed=changed, decisions=plan.decided.last)
    write_note(plan.place, plan.folder, note, plan.copied)
    return note


def _write_variants(run: Run, plan: UpdatePlan) -> None:
    """Write the list of possible name variants again; that of a large result is removed, with a warning."""
    import pyarrow.parquet as pq

    from homonym.corpus.applied_decisions import authors_apart
    from homonym.suggestions.name_variants import write_variants

    copy = plan.folder
    path = copy / VARIANTS
    had_list = path.exists()
    path.unlink(missing_ok=True)
    if plan.mode == "rebuild" or pq.read_metadata(copy / MENTIONS).num_rows <= PAGE_MENTIONS:
        apart = authors_apart(plan.place, copy)
        write_variants(copy, path, threads=run.threads, memory=run.memory // 2, apart=apart)
    elif had_list:
        run.warnings.append(
            f"{VARIANTS} was removed: its authors may have changed, and it is made again for results of up to "
            f"{PAGE_MENTIONS:,} mentions only; update --mode rebuild makes it."
        )


def _write_page(run: Run, copy: Path, what: str) -> None:
    """Write the page of the result again; that of a large result stays as it is, and says so."""
    import pyarrow.parquet as pq

    from homonym.report.run_page import mark_run_page, mark_updated_page, write_run_page

    path, mentions = copy / REPORT, pq.read_metadata(copy / MENTIONS).num_rows
    if mentions <= PAGE_MENTIONS:
        write_run_page(copy, path, threads=run.threads, memory=run.memory // 2)
        mark_updated_page(path, what)
    elif path.exists():
        mark_run_page(path, f"This page is about the result before {what}; the tables are newer.")


def _updated(
    run: Run, plan: UpdatePlan, note: CorpusNote, touched: TouchedBlocks, changes: IdChanges, problems: Problems
) -> Updated:
    from homonym.constraints.across_blocks import KNOWN
    from homonym.constraints.conflicts import read_conflicts
    from homonym.corpus.event_table import GROWN

    documents, before, after = plan.changes, touched.origin, touched.after
    if documents.bridges:
        run.warnings.append(
            f"{counted(documents.bridges, 'new record')} would make one document of several that the result has; "
            "update --mode rebuild does that."
        )
    if left := sum(one.kind == KNOWN for one in touched.conflicts):
        run.warnings.append(
            f"{counted(left, 'identifier')} would unite authors that the result has, which the mode assign leaves as "
            f"they are ({CONFLICTS} names them); the next update --mode grow with papers of these names unites them."
        )
    return Updated(
        output=plan.place,
        mode=plan.mode,
        update=note.update,
        epoch=note.epoch,
        documents={
            "added": documents.added,
            "changed": len(documents.changed),
            "removed": len(documents.removed),
            "unchanged": documents.unchanged,
        },
        mentions={
            "added": len(after.keys() - before.keys()),
            "removed": len(touched.before) - len(before.keys() & after.keys()),
            "renamed": sum(new in after for new in touched.renamed.values()),
            "other author": sum(after[one] != author for one, author in before.items() if one in after),
        },
        events=dict(sorted(Counter(event.kind for event in changes.events).items())),
        problems=problems,
        seconds=run.stages.seconds,
        warnings=run.warnings,
        conflicts=len({*read_conflicts(plan.folder / CONFLICTS)} - {*read_conflicts(plan.place / CONFLICTS)}),
        grown=len({event.author_id for event in changes.events if event.kind == GROWN}),
    )
