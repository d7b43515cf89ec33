"""Explain: why mentions of a result are one author or several."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homonym.errors import InputError, OutputError, counted, require_type
from homonym.io.outputs import require_writable, write_atomic
from homonym.io.paths import plain_path
from homonym.io.result_directory import (
    DOCUMENTS,
    MENTIONS,
    REPORT,
    require_no_file_of_result,
    require_result,
)
from homonym.settings import Settings, load_settings

if TYPE_CHECKING:
    from homonym.corpus.decision_store import Decision
    from homonym.explanation.explained import Explanation
    from homonym.names.parse import Name

# Maximum number of mentions, authors or names in a message.
LISTED = 5
# Least Jaro-Winkler similarity of a name that is listed for an unknown one.
SIMILAR = 0.8

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
    require_type("what", what, str, "a name, a mention id or an author id")
    require_type("other", other, (str, type(None)), "a name, a mention id or an author id")
    page = Path(output) if output else None
    if page:
        _require_page(page)
    folder = require_result(result, DOCUMENTS)
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
    require_no_file_of_result([page])
    require_writable(page)


@dataclass(frozen=True)
class _Subject:
    """What a question is about: mentions of one block, by id; `author` if they are all of an author, else a mention.

    A name has neither. `notes` are sentences about what else the question might mean. `first` are the authors that come
    first: users gave them the name.
    """

    block: str
    mention_ids: Sequence[str]
    author: str | None = None
    mention: str | None = None
    notes: tuple[str, ...] = ()
    first: frozenset[str] = frozenset()

    @property
    def is_name(self) -> bool:
        return self.author is None and self.mention is None


def _answer(folder: Path, settings: Settings, what: str, other: str | None) -> Explanation:
    from homonym.engines.reclustering import recluster
    from homonym.explanation.answers import BlockExplainer
    from homonym.explanation.author_causes import AuthorCauses
    from homonym.explanation.author_reasons import with_reasons

    subject = _find(folder, settings, what)
    rival = _one_author(folder, _find(folder, settings, other), other) if other is not None else None
    if rival:
        subject = _one_author(folder, subject, what)
        if rival.block != subject.block:
            return _across_names(folder, settings, subject, rival, f"{what} is of the name {subject.block} and {other}")
    with tempfile.TemporaryDirectory(prefix="homonym-") as work:
        (block,) = recluster(folder, [subject.block], settings, Path(work))
        explainer = BlockExplainer(block, AuthorCauses.read(folder, block.rows["author_id"]))
        members = [explainer.place[one] for one in subject.mention_ids]
        if rival:
            found = explainer.about_pair(members, [explainer.place[one] for one in rival.mention_ids])
            merged = _why_redirected(folder, what, other or "") if subject.author and rival.author else ()
            cited = explainer.decisions_about(int(explainer.label[members[0]])) if merged else ()
            answer = " ".join(["They are one author.", *merged, *cited])
            return replace(found, answer=answer, merge=None) if merged and found.together else found
        if subject.is_name:
            found = explainer.about_name(members, subject.first)
            return with_reasons(replace(found, notes=(*found.notes, *subject.notes)), explainer)
        return explainer.about_author(int(explainer.label[members[0]]), members[0] if subject.mention else None)


def _across_names(folder: Path, settings: Settings, subject: _Subject, rival: _Subject, what: str) -> Explanation:
    """The answer about two mentions or authors of different names, which no score compares."""
    from homonym.collection.block_reload import rows_of_blocks
    from homonym.explanation.author_causes import AuthorCauses

    names = f"{what} of the name {rival.block}"
    causes = AuthorCauses.read(folder, rows_of_blocks(folder, [subject.block, rival.block])["author_id"])
    authors = [causes.author[one.mention_ids[0]] for one in (subject, rival)]
    if authors[0] == authors[1]:
        why, together = causes.why_one_author(subject.mention_ids, rival.mention_ids), True
    else:
        sides = [[one for one, author in causes.author.items() if author == chosen] for chosen in authors]
        why, together = causes.why_two_authors(*sides), False
    if not why:
        raise InputError(
            f"{names}: only mentions of one name are compared, so they are two authors; an identifier of the "
            "person, your pairs (--pairs) or a decision would unite them, and coarser blocks (--blocking) bring "
            "names together."
        )
    about = _answer(folder, settings, subject.mention_ids[0], None)
    number = "one author" if together else "two authors"
    return replace(about, kind="pair", together=together, answer=f"They are {number}: {names}. {' '.join(why)}")


def _find(folder: Path, settings: Settings, what: str) -> _Subject:
    """The mentions that a question is about; fails if there are none, or several that it might mean."""
    import pyarrow as pa

    from homonym.corpus.decision_targets import unknown_position
    from homonym.corpus.ids import retired_text
    from homonym.io.tables import look_up

    text = what.strip()
    if not text:
        raise InputError("nothing to explain; give a name, a mention id or an author id.")
    looks_like_id = re.fullmatch(r".+(/[0-9a-f]{12,64}|#\d+)", text) is not None
    if looks_like_id and "/" in text and (found := _find_author(folder, text)):
        return found
    named = [] if looks_like_id else _named_by_users(folder, text)
    if not looks_like_id and (found := _find_name(folder, settings, text)):
        return _with_named(folder, found, named)
    path = folder / MENTIONS
    rows = look_up(path, "mention_id", pa.array([text]), ["mention_id", "block"])
    if len(rows):
        return _Subject(rows["block"][0].as_py(), [text], mention=text)
    if problem := unknown_position(folder, text):
        raise InputError(problem)
    rows = look_up(path, "document_id", pa.array([text]), ["mention_id", "name"])
    if len(rows):
        listed = _listed([f"{row['mention_id']} ({row['name']})" for row in rows.to_pylist()])
        raise InputError(f"{what!r} is a document; name one of its mentions: {listed}.")
    if named:
        return _chosen_of_named(folder, text, named)
    if not looks_like_id and (found := _find_surname(folder, settings, text)):
        return found
    if looks_like_id and (gone := retired_text(folder, text)):
        raise InputError(f"{gone}; homonym events RESULT has all that happened to it.")
    close = _close_names(path, settings, text)
    advice = f"names like it: {_listed(close)}" if close else f"no name is like it; {REPORT} has the largest names"
    raise InputError(f"{folder} has no name, mention id or author id {what!r}; {advice}.")


def _find_author(folder: Path, text: str) -> _Subject | None:
    """The mentions of an author in the block that has most of them; a redirect is followed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from homonym.corpus.ids import current_id
    from homonym.io.tables import look_up

    author = current_id(folder, text)
    rows = look_up(folder / MENTIONS, "author_id", pa.array([author], pa.string()), ["mention_id", "block"])
    if not len(rows):
        return None
    counts, own = Counter(rows["block"].to_pylist()), text.rpartition("/")[0]
    block = max(counts, key=lambda one: (counts[one], one == own))
    chosen = rows.filter(pc.equal(rows["block"], block))
    return _Subject(block, chosen["mention_id"].to_pylist(), author=author)


def _named_by_users(folder: Path, text: str) -> list[tuple[str, Decision]]:
    """The authors that users gave this name to, each with the decision; capitals and blanks do not matter."""
    import pyarrow as pa

    from homonym.corpus.decision_state import decision_state
    from homonym.corpus.decision_store import NAME, read_decisions
    from homonym.io.tables import look_up

    def normal(name: str) -> str:
        return " ".join(name.split()).casefold()

    rows = [row for row in read_decisions(folder) if row.kind == NAME or row.undoes is not None]
    chosen = {
        row.mention_a: row for row in decision_state(rows).active if row.kind == NAME and normal(row.b) == normal(text)
    }
    found = look_up(
        folder / MENTIONS, "mention_id", pa.array(sorted(chosen), pa.string()), ["mention_id", "author_id"]
    ).to_pylist()
    return sorted((row["author_id"], chosen[row["mention_id"]]) for row in found)


def _chosen_of_named(folder: Path, text: str, named: Sequence[tuple[str, Decision]]) -> _Subject:
    """The only author with a name that a user gave; fails if there are several."""
    authors = sorted({author for author, _ in named})
    if len(authors) > 1:
        raise InputError(f"{text!r} is the name of {len(authors):,} authors; choose one: {_listed(authors)}.")
    found = _find_author(folder, authors[0])
    assert found is not None
    return found


def _with_named(folder: Path, found: _Subject, named: Sequence[tuple[str, Decision]]) -> _Subject:
    """Mentions of a name, with the authors that users gave this name to: first, or in notes if of another block."""
    from homonym.collection.block_reload import rows_of_blocks
    from homonym.explanation.author_causes import decided

    if not named:
        return found
    rows = rows_of_blocks(folder, [found.block]).select(["mention_id", "author_id"]).to_pylist()
    own, first = {row["author_id"] for row in rows}, frozenset(author for author, _ in named)
    mentions = [row["mention_id"] for row in rows if row["author_id"] in first]
    notes = [
        f"{author} has this name{' from a user' if author in own else ', too'}. {decided(row)}" for author, row in named
    ]
    return replace(
        found, mention_ids=[*dict.fromkeys([*found.mention_ids, *mentions])], notes=(*found.notes, *notes), first=first
    )


def _find_name(folder: Path, settings: Settings, text: str) -> _Subject | None:
    """The mentions of a name, as a block key or as it is written; those whose given names exclude it are left out.

    If blocks are given by the data, several may have mentions of the name. Then the block with this very key is meant,
    else the one with most of these mentions, and notes name the others.
    """
    from homonym.collection.block_reload import rows_of_blocks
    from homonym.features.blocking import SCHEMES, compared_name
    from homonym.names.compatibility import compatible
    from homonym.names.parse import parse_name

    def compared(written: str) -> Name:
        return compared_name(parse_name(written), settings.blocking)

    def key_of(name: Name) -> str | None:
        return SCHEMES[settings.blocking](name, None) if name.surname else None

    name = compared(text)
    key = key_of(name)
    blocks = [text, text.upper(), *([key] if key else [])]
    blocks += _blocks_with_name(folder / MENTIONS, text, lambda one: key_of(compared(one)) == key) if key else []
    found: dict[str, list[dict[str, Any]]] = {}
    for block in dict.fromkeys(blocks):
        rows = rows_of_blocks(folder, [block]).select(["mention_id", "name", "author_id"]).to_pylist()
        chosen = [row for row in rows if block == text or not key or compatible(name, compared(row["name"]))]
        if chosen:
            found[block] = chosen
    if not found:
        return None
    best = min(found, key=lambda block: (block != text, -len(found[block]), block))
    notes = [
        f"{counted(len(rows), 'mention')} of {counted(len({row['author_id'] for row in rows}), 'author')} under the "
        f"name {block} can have this name, too: homonym explain RESULT {block!r}."
        for block, rows in found.items()
        if block != best
    ]
    return _Subject(best, [row["mention_id"] for row in found[best]], notes=tuple(notes))


def _blocks_with_name(path: Path, text: str, is_same: Callable[[str], bool]) -> list[str]:
    """The blocks with mentions that have the surname of a text, and a name for which the function holds."""
    from homonym.names.parse import parse_name

    word = max(parse_name(text).surname.lower().split(), key=len, default="")
    query = "SELECT DISTINCT block, name FROM {} WHERE contains(lower(strip_accents(name)), ?) ORDER BY block"
    return list(dict.fromkeys(block for block, name in _query(path, query, word) if is_same(name)))


def _why_redirected(folder: Path, *ids: str) -> tuple[str, ...]:
    """When and why ids became redirects, one sentence for each."""
    from homonym.corpus.event_table import MERGED, read_events

    merged = {row["author_id"]: row for row in read_events(folder).to_pylist() if row["kind"] == MERGED}
    return tuple(
        f"{one} became {row['other_id']} on {row['time'][:10]} ({row['reason']})."
        for one in ids
        if (row := merged.get(one.strip())) is not None
    )


def _find_surname(folder: Path, settings: Settings, text: str) -> _Subject | None:
    """The mentions of the only name with a surname; fails if it has several names."""
    from homonym.names.parse import parse_name

    name = parse_name(text)
    if not name.surname or name.initials:
        return None
    query = """SELECT block, count(*) AS mentions FROM {} WHERE starts_with(block, ?) GROUP BY block
               ORDER BY mentions DESC, block"""
    found = _query(folder / MENTIONS, query, f"{name.surname}, ")
    if len(found) > 1:
        names = _listed([f"{block} ({counted(mentions, 'mention')})" for block, mentions in found])
        raise InputError(f"{text!r} is the surname of {len(found):,} names; choose one: {names}.")
    return _find_name(folder, settings, found[0][0]) if found else None


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
    from homonym.features.blocking import SCHEMES
    from homonym.names.parse import parse_name

    name = parse_name(text)
    key = SCHEMES[settings.blocking](name, None) if name.surname else text.upper()
    query = f"""SELECT block FROM (SELECT DISTINCT block, jaro_winkler_similarity(block, ?) AS similarity FROM {{}})
                WHERE similarity >= {SIMILAR} ORDER BY similarity DESC, block LIMIT {LISTED}"""
    return [block for (block,) in _query(path, query, key)]


def _query(path: Path, query: str, value: str) -> list[Any]:
    """The rows of a query about a table, which stands for {} in the query; `value` stands for ?."""
    import duckdb

    from homonym.collection.statistics import sql_files

    with plain_path(path) as plain, duckdb.connect() as connection:
        rows: list[Any] = connection.execute(query.format(f"read_parquet({sql_files([plain])})"), [value]).fetchall()
    return rows
