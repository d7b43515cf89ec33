"""Explain: why mentions of a result are one author or several."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homonym.errors import InputError, OutputError, counted
from homonym.io.outputs import require_writable, write_atomic
from homonym.io.result_directory import DOCUMENTS, MENTIONS, is_result
from homonym.settings import Settings, load_settings

if TYPE_CHECKING:
    from homonym.explanation.explained import Explanation
    from homonym.names.parse import Name

# Maximum number of mentions, authors or names in a message.
LISTED = 5

PAGE_SUFFIXES = (".svg", ".html")


def explain(
    result: str | Path, what: str, other: str | None = None, *, output: str | Path | None = None
) -> Explanation:
    """Explain a result: why mentions are one author or several, in parts that sum to the scores.

    `result` is a result directory of `disambiguate`. `what` and `other` are each a mention id, an author id, or a name
    such as "Wang, Wei". A name gives its authors with their papers and merges; an author its weakest link and the best
    partner that it was not merged with; two of them what joined them or keeps them apart. `output` is a figure (.svg)
    or a page (.html).
    """
    folder, page = Path(result), Path(output) if output else None
    if page:
        _require_page(page)
    _require_result(folder)
    settings = load_settings(folder)
    found = _answer(folder, settings, what, other)
    if page:
        from homonym.report.explanation_page import draw_explanation, render_explanation

        write_atomic(page, draw_explanation(found) if page.suffix == ".svg" else render_explanation(found))
    return found


def _require_page(page: Path) -> None:
    if page.suffix not in PAGE_SUFFIXES:
        raise OutputError(
            f"{page}: an explanation is written as {' or '.join(PAGE_SUFFIXES)}; choose one of these suffixes."
        )
    require_writable(page)


def _require_result(folder: Path) -> None:
    if not folder.is_dir() or not is_result(folder):
        raise InputError(f"{folder} is not a result directory; name one that homonym disambiguate -o DIR/ has written.")
    if not (folder / DOCUMENTS).exists():
        raise InputError(
            f"{folder} has no {DOCUMENTS}, as results of homonym cluster; explain needs one of homonym disambiguate."
        )


@dataclass(frozen=True)
class _Subject:
    """What a question is about: mentions of one block, by id; `author` if they are all of an author, else a mention.

    A name has neither.
    """

    block: str
    mention_ids: Sequence[str]
    author: str | None = None
    mention: str | None = None

    @property
    def is_name(self) -> bool:
        return self.author is None and self.mention is None


def _answer(folder: Path, settings: Settings, what: str, other: str | None) -> Explanation:
    from homonym.engines.reclustering import recluster
    from homonym.explanation.answers import BlockExplainer

    subject = _find(folder, settings, what)
    rival = _one_author(folder, _find(folder, settings, other), other) if other is not None else None
    if rival:
        subject = _one_author(folder, subject, what)
        if rival.block != subject.block:
            raise InputError(
                f"{what} is of the name {subject.block} and {other} of the name {rival.block}: only mentions of one "
                "name are compared, so they are two authors; coarser blocks (--blocking) would bring names together."
            )
    with tempfile.TemporaryDirectory(prefix="homonym-") as work:
        (block,) = recluster(folder, [subject.block], settings, Path(work))
        explainer = BlockExplainer(block)
        place = {mention.mention_id: x for x, mention in enumerate(explainer.mentions)}
        members = [place[one] for one in subject.mention_ids]
        if rival:
            return explainer.about_pair(members, [place[one] for one in rival.mention_ids])
        if subject.is_name:
            return explainer.about_name(members)
        label = int(explainer.label[members[0]])
        return explainer.about_author(label, members[0] if subject.mention else None)


def _find(folder: Path, settings: Settings, what: str) -> _Subject:
    """The mentions that a question is about; fails if there are none, or several that it might mean."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from homonym.collection.block_reload import rows_of_blocks
    from homonym.io.tables import look_up

    text = what.strip()
    looks_like_id = re.fullmatch(r".+(/[0-9a-f]{12,64}|#\d+)", text) is not None
    if looks_like_id and "/" in text:
        rows = rows_of_blocks(folder, [text.rpartition("/")[0]])
        rows = rows.filter(pc.equal(rows["author_id"], text))
        if len(rows):
            return _Subject(rows["block"][0].as_py(), rows["mention_id"].to_pylist(), author=text)
    if not looks_like_id and (found := _find_name(folder, settings, text)):
        return found
    path = folder / MENTIONS
    rows = look_up(path, "mention_id", pa.array([text]), ["mention_id", "block"])
    if len(rows):
        return _Subject(rows["block"][0].as_py(), [text], mention=text)
    rows = look_up(path, "document_id", pa.array([text]), ["mention_id", "name"])
    if len(rows):
        listed = _listed([f"{row['mention_id']} ({row['name']})" for row in rows.to_pylist()])
        raise InputError(f"{what!r} is a document; name one of its mentions: {listed}.")
    close = _listed(_close_names(path, settings, text))
    advice = f"names like it: {close}" if close else "it is empty"
    raise InputError(f"{folder} has no name, mention id or author id {what!r}; {advice}.")


def _find_name(folder: Path, settings: Settings, text: str) -> _Subject | None:
    """The mentions of a name, as a block key or as it is written; those whose given names exclude it are left out."""
    from homonym.collection.block_reload import rows_of_blocks
    from homonym.features.blocking import SCHEMES, compared_name
    from homonym.names.compatibility import compatible
    from homonym.names.parse import parse_name

    def compared(written: str) -> Name:
        return compared_name(parse_name(written), settings.blocking)

    name = compared(text)
    keys = [text, text.upper()] + ([SCHEMES[settings.blocking](name, None)] if name.surname else [])
    for key in dict.fromkeys(keys):
        rows = rows_of_blocks(folder, [key]).select(["mention_id", "name"]).to_pylist()
        chosen = [row for row in rows if key == text or not name.surname or compatible(name, compared(row["name"]))]
        if chosen:
            return _Subject(key, [row["mention_id"] for row in chosen])
    return None


def _one_author(folder: Path, subject: _Subject, what: str | None) -> _Subject:
    """A mention or an author; a name only if it has one author."""
    from homonym.collection.block_reload import rows_of_blocks

    if not subject.is_name:
        return subject
    wanted = set(subject.mention_ids)
    rows = rows_of_blocks(folder, [subject.block]).select(["mention_id", "author_id"]).to_pylist()
    authors = sorted({row["author_id"] for row in rows if row["mention_id"] in wanted})
    if len(authors) > 1:
        raise InputError(f"{what!r} has {counted(len(authors), 'author')}; name one of them: {_listed(authors)}.")
    members = [row["mention_id"] for row in rows if row["author_id"] == authors[0]]
    return _Subject(subject.block, members, author=authors[0])


def _listed(texts: Sequence[str]) -> str:
    """The first few texts, and how many more there are."""
    more = f" and {len(texts) - LISTED:,} more" if len(texts) > LISTED else ""
    return "; ".join(texts[:LISTED]) + more


def _close_names(path: Path, settings: Settings, text: str) -> list[str]:
    """The blocks whose keys are most like a text."""
    import duckdb

    from homonym.collection.statistics import sql_files
    from homonym.features.blocking import SCHEMES
    from homonym.names.parse import parse_name

    name = parse_name(text)
    key = SCHEMES[settings.blocking](name, None) if name.surname else text.upper()
    query = f"""SELECT block FROM (SELECT DISTINCT block FROM read_parquet({sql_files([path])}))
                ORDER BY jaro_winkler_similarity(block, ?) DESC, block LIMIT {LISTED}"""
    with duckdb.connect() as connection:
        rows: list[tuple[Any]] = connection.execute(query, [key]).fetchall()
    return [block for (block,) in rows]
