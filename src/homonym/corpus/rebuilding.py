"""Replaces a result by one that was clustered from scratch: its authors get the ids of the old authors."""

from __future__ import annotations

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.collection.result_statistics import ResultStatistics
from homonym.corpus.changed_documents import inherited_rows, mentions_by_document
from homonym.corpus.epoch import read_epoch
from homonym.corpus.id_matching import match_authors, weights_of
from homonym.corpus.ids import mint
from homonym.corpus.recomputing import recompute_bags
from homonym.corpus.renamed_mentions import moved_gone_mentions, moved_mentions, rows_by_document
from homonym.corpus.shown_decisions import show_decisions
from homonym.corpus.update_plan import (
    TouchedBlocks,
    UpdatePlan,
    authors_of_mentions,
    new_rows,
    nullable_rows,
    renamed_keys,
    without_decisions,
)
from homonym.corpus.updating import ages_of
from homonym.io.outputs import open_atomic, write_json
from homonym.io.paths import plain_path
from homonym.io.result_directory import (
    BAGS,
    CONFIDENCE,
    CONFLICTS,
    DOCUMENTS,
    FILES,
    FREQUENCIES,
    LOG,
    MARKER,
    MASSES,
    MENTIONS,
    NAMES,
    NEW_FEATURES,
    SETTINGS,
    UNDECIDED,
    VARIANTS,
)
from homonym.io.tables import look_up, reading_result_file, write_table
from homonym.records.model import LOSSES, MAX_LISTED_PROBLEMS, Problems
from homonym.schema import DOCUMENTS as DOCUMENT_ROWS
from homonym.settings import Settings, load_settings


def write_records(folder: Path, path: Path) -> None:
    """Write the documents of a result as JSON lines, which `disambiguate` reads."""
    with open_atomic(path) as stream, pq.ParquetFile(folder / DOCUMENTS) as file:
        for batch in file.iter_batches(columns=["record"]):
            stream.writelines(record.encode() + b"\n" for record in batch["record"].to_pylist())


def _from_log(result: Path, name: str) -> Any:
    """A value in the log of a result; None if it is missing, as in logs of earlier versions."""
    with reading_result_file(result / LOG), suppress(FileNotFoundError, KeyError, TypeError):
        return orjson.loads((result / LOG).read_bytes())["summary"][name]
    return None


def statistics_from_elsewhere(result: Path) -> tuple[Path, int] | None:
    """The file of frequencies that the user gave for a result, and its N; None if the run counted frequencies."""
    path = _from_log(result, "statistics")
    return (Path(path), ResultStatistics.read(result).mentions) if path else None


def given_settings(result: Path) -> Settings:
    """The settings that the user gave for a result, without calibrated values."""
    given = _from_log(result, "given")
    if given is not None:
        return Settings(**given)
    known = load_settings(result)
    values = known.model_dump(exclude_unset=True)
    for name in ("alpha", "beta", "kappa", "chance_limit", "name_trust", "background"):
        values.pop(name, None)
    return Settings(**values)


class NewRecords(NamedTuple):
    """The input files of an update, as a log has them, and the problems with their records."""

    inputs: Sequence[Mapping[str, Any]]
    problems: Problems


def take_files(fresh: Path, folder: Path, new: NewRecords) -> None:
    """Let a copy of a result have the files of a new run, except those that the run does not know."""
    _keep_files_in_log(fresh, folder, new, merges=True)
    for name in (NEW_FEATURES, UNDECIDED, CONFLICTS, VARIANTS, CONFIDENCE):
        (folder / name).unlink(missing_ok=True)
    _keep_record_ids(folder, fresh)
    for name in FILES - {MARKER}:
        if (fresh / name).exists():
            _take_file(fresh, folder, name)


def take_epoch(fresh: Path, folder: Path, new: NewRecords) -> None:
    """Let a copy of a result have what a new run has counted and calibrated, and none of its authors."""
    _keep_files_in_log(fresh, folder, new, merges=False)
    for name in (NEW_FEATURES, CONFIDENCE):
        (folder / name).unlink(missing_ok=True)
    for name in (FREQUENCIES, MASSES, NAMES, SETTINGS, LOG, CONFIDENCE):
        if (fresh / name).exists():
            _take_file(fresh, folder, name)
    _take_bags(fresh, folder)


def _take_bags(fresh: Path, folder: Path) -> None:
    """Let a copy of a result have the bags of a new run, or extract them if the run has merged some documents."""
    with plain_path(folder / DOCUMENTS) as own, plain_path(fresh / DOCUMENTS) as new:
        ours, theirs = (pq.read_table(path, columns=["document_id"]) for path in (own, new))
    if ours.equals(theirs):
        _take_file(fresh, folder, BAGS)
    else:
        recompute_bags(folder, folder)


def _keep_files_in_log(fresh: Path, folder: Path, new: NewRecords, *, merges: bool) -> None:
    """Let the log of a new run name the files of users: those of the result before, and those of the update.

    The run itself has read a temporary file, and has found the problems of old records again. The copies that it has
    found count if it `merges` them.
    """
    log = orjson.loads((fresh / LOG).read_bytes())
    try:
        known = orjson.loads((folder / LOG).read_bytes())
        before, outputs, summary = known["inputs"], known["outputs"], known["summary"]
        formats, problems = summary["formats"], summary["problems"]
    except (OSError, ValueError, KeyError, TypeError):  # a result of an earlier version, or without its log
        before, outputs, formats, problems = [], [], {}, {"counts": {}, "first": []}
    files = {str(one["file"]): one for one in (*before, *new.inputs)}
    log |= {"inputs": list(files.values()), "outputs": outputs}
    merged = log["summary"]["problems"]["counts"].get("duplicate", 0) if merges else 0
    log["summary"] |= {"formats": formats, "problems": _with_problems(problems, new.problems, merged)}
    write_json(fresh / LOG, log)


def _with_problems(before: Mapping[str, Any], new: Problems, merged: int) -> dict[str, Any]:
    """The problems of a log with those of new records; `merged` is the number of copies that a rebuild has found."""
    counts = Counter(before["counts"]) + Counter(new.counts) + Counter({"duplicate": merged})
    first = [*before["first"], *map(asdict, new.first)][:MAX_LISTED_PROBLEMS]
    return {"counts": {loss: counts[loss] for loss in LOSSES}, "first": first}


def _take_file(fresh: Path, folder: Path, name: str) -> None:
    (folder / name).unlink(missing_ok=True)
    try:
        os.link(fresh / name, folder / name)
    except OSError:  # a file system without hard links
        shutil.copyfile(fresh / name, folder / name)


def _keep_record_ids(folder: Path, fresh: Path) -> None:
    """Give the documents of a new run the ids that their records had in the input of the first run."""
    known = pq.read_table(folder / DOCUMENTS, columns=["document_id", "record_ids"])
    pairs = zip(known["document_id"].to_pylist(), known["record_ids"].to_pylist(), strict=True)
    others = {document: names for document, names in pairs if names != [document]}
    if not others:
        return

    def rows() -> Any:
        with pq.ParquetFile(fresh / DOCUMENTS) as file:
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                names = [
                    sorted({name for one in some for name in others.get(one, [one])})
                    for some in table["record_ids"].to_pylist()
                ]
                place = table.column_names.index("record_ids")
                yield table.set_column(place, "record_ids", pa.array(names, pa.list_(pa.string()))).cast(DOCUMENT_ROWS)

    write_table(fresh / "changed.parquet", DOCUMENT_ROWS, rows(), row_group=1 << 10)
    os.replace(fresh / "changed.parquet", fresh / DOCUMENTS)


def renames_by_merging(plan: UpdatePlan, fresh: Path) -> dict[str, str]:
    """The mentions that have another id because a new run has made one document of several."""
    documents = pq.read_table(fresh / DOCUMENTS, columns=["document_id", "record_ids"])
    merged = documents.filter(pc.greater(pc.list_value_length(documents["record_ids"]), 1))
    copies = dict(zip(merged["document_id"].to_pylist(), merged["record_ids"].to_pylist(), strict=True))
    if not copies:
        return {}
    before = mentions_by_document(plan, {one for names in copies.values() for one in names})
    after = rows_by_document(look_up(fresh / MENTIONS, "document_id", merged["document_id"].combine_chunks()))
    renamed: dict[str, str] = {}
    for document, names in copies.items():
        for one in names:
            renamed |= moved_mentions(before.get(one, []), after.get(document, []))
        renamed |= moved_gone_mentions(plan.decided.find_named(), {*names} - {document}, document, after)
    return renamed


def carry_over(plan: UpdatePlan, fresh: Path, merged: Mapping[str, str]) -> tuple[UpdatePlan, TouchedBlocks]:
    """The rows of a new run with the ids of the authors before it, and with decisions.

    `merged` are the mentions that have another id because the run has made one document of several.
    """
    old = pq.read_table(plan.place / MENTIONS)
    new = nullable_rows(pq.read_table(fresh / MENTIONS))
    touched = TouchedBlocks(before=authors_of_mentions(old))
    base_before = authors_of_mentions(without_decisions(plan.place, old))
    touched.renamed = _renamed(plan, old, merged)
    origin = renamed_keys(base_before, touched.renamed)
    mention_ids = new["mention_id"].to_pylist()
    former = [origin.get(mention) for mention in mention_ids]
    coded = new["author_id"].combine_chunks().dictionary_encode()
    cluster = coded.indices.to_pylist()
    kept = match_authors(
        former, cluster, weight=weights_of(mention_ids, plan.decided.curated), age=ages_of(plan.known_ids, former)
    )
    names = _names(coded.dictionary.to_pylist(), kept, plan, new)
    ids = pa.array(names, pa.string()).take(coded.indices)
    touched.base = new.set_column(new.column_names.index("author_id"), "author_id", ids)
    plan = replace(plan, result=fresh, epoch=read_epoch(fresh))
    touched.shown = show_decisions(plan, touched)
    _only_changed(touched, new, plan.decided.names)
    return plan, touched


def _renamed(plan: UpdatePlan, old: pa.Table, merged: Mapping[str, str]) -> dict[str, str]:
    """Mentions of changed and merged documents that have another id now."""
    renamed: dict[str, str] = {}
    if plan.changes.changed:
        documents = pa.array(sorted(plan.changes.changed), pa.string())
        before, after = (rows.filter(pc.is_in(rows["document_id"], documents)) for rows in (old, new_rows(plan)))
        renamed = inherited_rows(after, before, plan.changes.changed)[1]
    return {one: merged.get(new, new) for one, new in ({one: one for one in merged} | renamed).items()}


def _names(fresh: list[str], kept: dict[int, str], plan: UpdatePlan, rows: pa.Table) -> list[str]:
    """The id of each new author: an old id that it keeps, or a new id that was never given before."""
    known = set(plan.known_ids["author_id"].to_pylist())
    taken = known | {*kept.values()}
    names, pending = list(fresh), []
    for number, own in enumerate(fresh):
        if number in kept:
            names[number] = kept[number]
        elif own in taken:
            pending.append(number)
        else:
            taken.add(own)
    if pending:
        members: dict[str, list[str]] = defaultdict(list)
        wanted = {fresh[number] for number in pending}
        for mention, author in authors_of_mentions(rows).items():
            if author in wanted:
                members[author].append(mention)
        for number in pending:
            block = fresh[number].rpartition("/")[0]
            names[number] = mint(block, min(members[fresh[number]]), taken)
            taken.add(names[number])
    return names


def _only_changed(touched: TouchedBlocks, fresh: pa.Table, names: Mapping[str, str]) -> None:
    """Drop the blocks whose rows equal those of the new run, because they need not be written again.

    If any row of an author differs, or if a user named the author, all blocks of the author stay.
    """
    is_named = pc.is_in(fresh["mention_id"], pa.array(sorted(names), pa.string()))
    differs = pc.or_(pc.invert(pc.equal(touched.shown["author_id"], fresh["author_id"])), is_named)
    changed = [pc.is_in(rows["author_id"], pc.unique(rows["author_id"].filter(differs)))
               for rows in (touched.shown, fresh)]  # fmt: skip
    blocks = pc.unique(touched.shown["block"].filter(pc.or_(*changed)))
    touched.after = authors_of_mentions(touched.shown)
    chosen = pc.is_in(fresh["block"], blocks)
    touched.former, touched.base, touched.shown = (rows.filter(chosen) for rows in (fresh, touched.base, touched.shown))
    touched.blocks = blocks.to_pylist()
