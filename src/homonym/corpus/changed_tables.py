"""Writes the tables of mentions and authors of a result, with the rows that an update has changed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc

from homonym.corpus.decided import Decided
from homonym.corpus.table_changes import (
    replace_authors,
    replace_rows,
    summaries_of,
    with_new_coauthors,
)
from homonym.corpus.update_plan import TouchedBlocks, UpdatePlan, authors_among, authors_of_mentions
from homonym.io.result_directory import AUTHORS, MENTIONS, UNDECIDED
from homonym.io.row_groups import FilePart
from homonym.io.tables import look_up, write_table
from homonym.schema import AUTHORS as MENTION_ROWS


def write_changed_tables(plan: UpdatePlan, touched: TouchedBlocks) -> int:
    """Write the tables of mentions and authors, and the undecided rows; returns the number of changed authors."""
    folder = plan.folder
    if touched.is_changed:
        _note_parts(plan, MENTIONS, replace_rows(plan.result, folder, MENTIONS, touched.blocks, touched.shown))
    write_undecided(folder, touched.base, touched.shown)
    return write_changed_authors(plan, touched.former, touched.shown)


def write_undecided(folder: Path, base: pa.Table, shown: pa.Table) -> None:
    """Write the rows without decisions, where decisions change them."""
    path = folder / UNDECIDED
    differs = None
    for name in ("author_id", "constraint", "confidence", "author_confidence"):
        other = pc.invert(_are_equal(base[name], shown[name]))
        differs = other if differs is None else pc.or_(differs, other)
    rows = base.filter(differs)
    if len(rows):
        write_table(path, MENTION_ROWS, [rows.cast(MENTION_ROWS)])
    else:
        path.unlink(missing_ok=True)


def write_changed_authors(plan: UpdatePlan, former: pa.Table, shown: pa.Table) -> int:
    """Write the table of authors with the rows of changed authors, and of those on whose documents they are."""
    changed = _changed_ids(former, shown) | _named_ids(plan, shown) | _on_changed_documents(plan, shown)
    gone = {*former["author_id"].to_pylist()} - {*shown["author_id"].to_pylist()}
    if not changed and not gone:
        return 0
    names = _given_names(plan.decided, shown)
    rows = shown.filter(pc.is_in(shown["author_id"], pa.array(sorted(changed), pa.string())))
    blocking = plan.epoch.settings.blocking
    with TemporaryDirectory(dir=plan.work) as work:
        found = summaries_of(plan.folder, rows, blocking, Path(work), names, {}, plan.identifiers)
    known = dict(zip(found["author_id"].to_pylist(), found["name"].to_pylist(), strict=True))
    others = _coauthors_of_moved(plan, former, shown) - changed
    if others:
        more = look_up(plan.folder / MENTIONS, "author_id", pa.array(sorted(others), pa.string()))
        former_rows = look_up(plan.result / AUTHORS, "author_id", pa.array(sorted(others), pa.string()))
        with TemporaryDirectory(dir=plan.work) as work:
            found = pa.concat_tables([found, with_new_coauthors(former_rows, plan.folder, more, Path(work), known)])
    parts = replace_authors(plan.result, plan.folder, sorted(gone), found, _new_names(plan, known))
    _note_parts(plan, AUTHORS, parts)
    return len(changed)


def _note_parts(plan: UpdatePlan, name: str, parts: list[FilePart]) -> None:
    """Note the parts of a file that were copied from the result, and not from a new run."""
    if plan.result == plan.place:
        plan.copied[name] = parts


def _new_names(plan: UpdatePlan, names: Mapping[str, str | None]) -> dict[str, str | None]:
    """The names of authors that have another name than the result shows."""
    wanted = pa.array(sorted(names), pa.string())
    known = look_up(plan.result / AUTHORS, "author_id", wanted, ["author_id", "name"]).to_pydict()
    before = zip(known["author_id"], known["name"], strict=True)
    return {one: names[one] for one, name in before if name != names[one]}


def _changed_ids(former: pa.Table, shown: pa.Table) -> set[str]:
    """The authors that have rows which were others before, or have lost some."""
    place = pc.index_in(shown["mention_id"], former["mention_id"].combine_chunks())
    differs = pc.is_null(place)
    for name in ("author_id", "name", "author_confidence"):
        before = former[name].take(place)
        differs = pc.or_(differs, pc.invert(_are_equal(before, shown[name])))
    left = pc.invert(pc.is_in(former["mention_id"], shown["mention_id"].combine_chunks()))
    authors = authors_among(shown.filter(differs)) | authors_among(former.take(place.filter(differs).drop_null()))
    return (authors | authors_among(former.filter(left))) & authors_among(shown)


def _are_equal(a: pa.ChunkedArray, b: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which values are equal, or both null."""
    return pc.or_(pc.fill_null(pc.equal(a, b), False), pc.and_(pc.is_null(a), pc.is_null(b)))


def _on_changed_documents(plan: UpdatePlan, shown: pa.Table) -> set[str]:
    """The authors of documents that have changed: their years, affiliations or co-authors may be others.

    A new run of the whole collection has read these documents itself.
    """
    if plan.mode == "rebuild":
        return set()
    wanted = pa.array(sorted(plan.changes.changed), pa.string())
    return set(shown.filter(pc.is_in(shown["document_id"], wanted))["author_id"].to_pylist())


def _named_ids(plan: UpdatePlan, shown: pa.Table) -> set[str]:
    """The authors that users named, or whose names users took back."""
    wanted = pa.array(sorted({*plan.decided.names, *plan.note.named}), pa.string())
    return set(shown.filter(pc.is_in(shown["mention_id"], wanted))["author_id"].to_pylist()) if len(wanted) else set()


def _given_names(decided: Decided, shown: pa.Table) -> dict[str, str]:
    """The names that users gave, by author."""
    if not decided.names:
        return {}
    authors = authors_of_mentions(shown)
    return {authors[one]: name for one, name in decided.names.items() if one in authors}  # the newest is last


def _coauthors_of_moved(plan: UpdatePlan, former: pa.Table, shown: pa.Table) -> set[str]:
    """The authors on documents of which a mention has another author now: their lists of co-authors change.

    Authors of new and of leaving documents have changed themselves.
    """
    place = pc.index_in(shown["mention_id"], former["mention_id"].combine_chunks())
    is_moved = pc.fill_null(pc.not_equal(former["author_id"].take(place), shown["author_id"]), False)
    documents = pc.unique(shown["document_id"].filter(is_moved))
    if not len(documents):
        return set()
    rows = look_up(plan.folder / MENTIONS, "document_id", documents, ["document_id", "author_id"])
    return set(rows["author_id"].to_pylist())
