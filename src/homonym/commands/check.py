"""Check: verify that the files of a result directory are whole and agree with each other, and repair some."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from homonym.io.result_directory import (
    AUTHORS,
    BAGS,
    CORPUS,
    DECISIONS,
    DOCUMENTS,
    FREQUENCIES,
    LOG,
    MASSES,
    MENTIONS,
    REPORT,
    SETTINGS,
    VARIANTS,
    changed_directory,
    recover_directory,
    require_elsewhere,
    require_result,
)


@dataclass(frozen=True)
class CheckedResult:
    """What is wrong with a result, one sentence each, and the files that were made again."""

    problems: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check(result: str | Path, *, repair: bool = False) -> CheckedResult:
    """Verify a result directory.

    All files can be read and are as the last update left them. Every mention has exactly one author. Authors, mentions,
    documents, ids and events agree with each other. Redirects lead to authors. The file of decisions is sound. With
    `repair`, files that follow from others are made again: the table of authors, the bags of documents, name
    variants and the page.
    """
    from homonym.corpus.consistency import find_inconsistencies

    folder = require_result(result)
    found = find_inconsistencies(folder)
    repaired: list[str] = []
    if repair and any(one.is_repairable for one in found):
        repaired = _repair(folder, {one.file for one in found})
        found = find_inconsistencies(folder)
    return CheckedResult([one.sentence(folder) for one in found], repaired)


def _repair(folder: Path, wrong: set[str]) -> list[str]:
    """Make files again that follow from sound ones; returns their names. Updates have to wait meanwhile."""
    from homonym.runtime.work_directory import work_directory

    require_elsewhere(folder)
    place = Path(os.path.realpath(folder))
    with work_directory(place.with_name(f".{place.name}.work")) as work:
        if work.former is not None:
            recover_directory(place, work.former)
        with changed_directory(folder) as copy:
            return _write_again(folder, copy, wrong)


def _write_again(folder: Path, copy: Path, wrong: set[str]) -> list[str]:
    """Make files of a copy again that follow from sound ones; returns their names."""
    from homonym.corpus.applied_decisions import authors_apart
    from homonym.corpus.epoch import read_note, write_note
    from homonym.corpus.recomputing import recompute_authors, recompute_bags
    from homonym.report.run_page import mark_updated_page, write_run_page
    from homonym.suggestions.name_variants import write_variants

    names: list[str] = []
    note = read_note(folder) if (folder / CORPUS).exists() and CORPUS not in wrong else None
    if BAGS in wrong and not wrong & {DOCUMENTS, SETTINGS, FREQUENCIES, MASSES}:
        recompute_bags(folder, copy)
        names.append(BAGS)
    sound = not wrong.difference(names) & {MENTIONS, DOCUMENTS, SETTINGS, BAGS}
    if AUTHORS in wrong and sound and (folder / DOCUMENTS).exists():
        recompute_authors(folder, copy)
        names.append(AUTHORS)
    if not wrong & {MENTIONS, DOCUMENTS, SETTINGS, LOG} and not {AUTHORS, BAGS} & wrong.difference(names):
        if VARIANTS in wrong and (folder / DOCUMENTS).exists():
            (copy / VARIANTS).unlink(missing_ok=True)
            apart = authors_apart(folder, copy) if DECISIONS not in wrong else set()
            write_variants(copy, copy / VARIANTS, apart=apart)
            names.append(VARIANTS)
        write_run_page(copy, copy / REPORT)
        if note and note.update:
            mark_updated_page(copy / REPORT, f"update {note.update}, {note.time[:10]}")
        names.append(REPORT)
    if names and note:
        write_note(folder, copy, note)
    return names
