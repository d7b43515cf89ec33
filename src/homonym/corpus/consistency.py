"""Verifies a result directory: files can be read, tables agree with each other, ids and events are complete.

Most rules are SQL queries over the tables. Each gives the number of violations and one of them, and has a sentence that
says what is wrong. A result that was never updated has no tables of ids and events, so their rules are skipped.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import NamedTuple

import duckdb
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from homonym.collection import counting
from homonym.collection.packed_entries import is_packed
from homonym.collection.statistics import sql_files
from homonym.constraints.evidence import read_user_pairs
from homonym.corpus.applied_decisions import ids_of_wrong_records, lost_decisions
from homonym.corpus.decision_store import Decision, integrity_problem, read_decisions
from homonym.corpus.decision_targets import missing_mentions
from homonym.corpus.epoch import CorpusNote, changed_files, read_note, was_updated
from homonym.errors import HomonymError, InputError, counted, first_line
from homonym.io.paths import plain_path
from homonym.io.result_directory import (
    AUTHORS,
    BAGS,
    CONFIDENCE,
    CORPUS,
    DECISIONS,
    DOCUMENTS,
    EVENTS,
    FREQUENCIES,
    IDS,
    LOG,
    MASSES,
    MENTIONS,
    NAMES,
    NEW_FEATURES,
    PAIRS,
    RENAMED,
    REPORT,
    SETTINGS,
    UNDECIDED,
    VARIANTS,
    has_format_with_bags,
)
from homonym.io.tables import columnar_batches, look_up
from homonym.schema import AUTHOR_SUMMARIES, EVENT_ROWS, FORMER_BAGS, ID_ROWS, RENAMED_ROWS, STORED_BAGS
from homonym.schema import AUTHORS as MENTION_ROWS
from homonym.schema import DOCUMENTS as DOCUMENT_ROWS
from homonym.settings import load_settings

# Memory in bytes for the queries; they spill to disk beyond it.
_MEMORY = 1 << 29
_BATCH_ROWS = 1 << 16

# Files that can be computed again from the others.
RECOMPUTABLE = (AUTHORS, BAGS, REPORT, VARIANTS)

_LAYOUTS = {
    MENTIONS: MENTION_ROWS,
    AUTHORS: AUTHOR_SUMMARIES,
    DOCUMENTS: DOCUMENT_ROWS,
    BAGS: STORED_BAGS,
    IDS: ID_ROWS,
    EVENTS: EVENT_ROWS,
    RENAMED: RENAMED_ROWS,
}


# The name in rules for a table of bags whose entries are packed, as in the present version.
_PACKED = "packed bags"

# Files that updates write again without reading them.
_NOT_READ = frozenset({REPORT, VARIANTS})


class Inconsistency(NamedTuple):
    """Something that is wrong with a file of a result."""

    file: str
    what: str

    @property
    def is_repairable(self) -> bool:
        """Whether the file can be computed again from the others."""
        return self.file in RECOMPUTABLE

    def sentence(self, result: Path) -> str:
        """What is wrong, and what to do."""
        if self.is_repairable and (self.file == REPORT or (result / DOCUMENTS).exists()):
            advice = "homonym check --repair makes it again"
        elif self.file == DECISIONS:
            return self.what
        else:
            advice = "restore a copy of the directory, or make the result again with homonym disambiguate"
        return f"{result / self.file}: {self.what}; {advice}."


def require_unchanged(result: Path, note: CorpusNote) -> None:
    """Fail if a file that an update builds on was changed since the last one; it would become part of the result.

    Files are not read if size and time are as they were. Damage of the disk is found where rows are read, by the
    checksums of pages; rows that are copied keep their digests, so `homonym check` finds damage of these.
    """
    for name, what in changed_files(result, note, quick=True):
        if name not in _NOT_READ:
            raise InputError(Inconsistency(name, what).sentence(result))


class ConsistencyRule(NamedTuple):
    """A query that returns the number of violations and an example, which replaces `{}` in the sentence.

    The tables of a query are named like their files, without suffix. `file` is the file that is wrong.
    """

    file: str
    tables: tuple[str, ...]
    sentence: str
    query: str


def _distinct(table: str, key: str) -> str:
    repeated = f"SELECT {key} AS x FROM {table} GROUP BY {key} HAVING count(*) > 1 OR {key} IS NULL"
    return f"SELECT count(*), min(x) FROM ({repeated})"


def _missing(key: str, table: str, other: str, where: str = "true") -> str:
    """Keys of one table that another table lacks."""
    return f"""SELECT count(*), min(x) FROM (SELECT DISTINCT {key} AS x FROM {table} WHERE {key} IS NOT NULL AND {where}
               EXCEPT SELECT {other})"""


RULES = (
    ConsistencyRule(MENTIONS, (MENTIONS,), "has several rows for the mention {}", _distinct("mentions", "mention_id")),
    ConsistencyRule(
        MENTIONS, (MENTIONS,), "has the mention {} without an author",
        "SELECT count(*), min(mention_id) FROM mentions WHERE author_id IS NULL OR author_id = ''",
    ),
    ConsistencyRule(
        DOCUMENTS, (DOCUMENTS,), "has several rows for the document {}", _distinct("documents", "document_id")
    ),
    ConsistencyRule(
        DOCUMENTS, (MENTIONS, DOCUMENTS), "lacks the document {}, which has mentions",
        _missing("document_id", "mentions", "document_id FROM documents"),
    ),
    ConsistencyRule(
        DOCUMENTS, (MENTIONS, DOCUMENTS), "has no author at the place of the mention {}",
        """SELECT count(*), min(mention_id) FROM (SELECT mention_id, document_id, position, name FROM mentions EXCEPT
           SELECT document_id || '#' || a.position, document_id, a.position, a.name
           FROM (SELECT document_id, unnest(authors) AS a FROM documents))""",
    ),
    ConsistencyRule(BAGS, (BAGS,), "has several rows for the document {}", _distinct("bags", "document_id")),
    ConsistencyRule(
        BAGS, (BAGS, MENTIONS), "has other mentions for the document {} than the table of mentions",
        """SELECT count(*), min(document_id) FROM (
           (SELECT document_id, position FROM mentions EXCEPT
            SELECT document_id, unnest(position) FROM bags) UNION ALL
           (SELECT document_id, unnest(position) FROM bags EXCEPT SELECT document_id, position FROM mentions))""",
    ),
    ConsistencyRule(
        BAGS, (BAGS, _PACKED), "has lists of different lengths for the document {}",
        """SELECT count(*), min(document_id) FROM bags WHERE octet_length(feature) <> 2 * octet_length(count)
           OR octet_length(feature_high) <> octet_length(feature)
           OR len(slot) <> len(size) OR octet_length(count) <> coalesce(list_sum(size), 0)"""
    ),
    ConsistencyRule(
        BAGS, (BAGS,), "has lists of different lengths for the document {}",
        """SELECT count(*), min(document_id) FROM bags WHERE
           len(position) <> len(parsed_name) OR len(position) <> len(full_name)
           OR len(position) <> len(own_name) OR len(position) <> len(own_full_name)
           OR len(position) <> len(unlisted_name)""",
    ),
    ConsistencyRule(AUTHORS, (AUTHORS,), "has several rows for the author {}", _distinct("authors", "author_id")),
    ConsistencyRule(
        AUTHORS, (AUTHORS, MENTIONS), "lacks the author {}",
        _missing("author_id", "mentions", "author_id FROM authors"),
    ),
    ConsistencyRule(
        AUTHORS, (AUTHORS, MENTIONS), "has the author {}, who has no mention",
        _missing("author_id", "authors", "author_id FROM mentions"),
    ),
    ConsistencyRule(
        AUTHORS, (AUTHORS, MENTIONS), "has the wrong number of mentions or documents for the author {}",
        """SELECT count(*), min(author_id) FROM (
           SELECT author_id, count(*) AS mentions, count(DISTINCT document_id) AS documents FROM mentions
           GROUP BY author_id) m JOIN authors a USING (author_id)
           WHERE a.mentions <> m.mentions OR a.documents <> m.documents""",
    ),
    ConsistencyRule(
        AUTHORS, (AUTHORS, MENTIONS), "has the wrong names for the author {}",
        """SELECT count(*), min(x) FROM (
           (SELECT DISTINCT author_id AS x, name FROM mentions WHERE name IS NOT NULL EXCEPT
            SELECT author_id, v.name FROM (SELECT author_id, unnest(variants) AS v FROM authors)) UNION ALL
           (SELECT author_id AS x, v.name FROM (SELECT author_id, unnest(variants) AS v FROM authors) EXCEPT
            SELECT author_id, name FROM mentions))""",
    ),
    ConsistencyRule(
        AUTHORS, (AUTHORS, MENTIONS, DOCUMENTS), "has the wrong years for the author {}",
        """SELECT count(*), min(author_id) FROM (
           SELECT m.author_id, min(d.year) AS first_year, max(d.year) AS last_year
           FROM mentions m JOIN documents d USING (document_id) GROUP BY m.author_id) f JOIN authors a USING (author_id)
           WHERE a.first_year IS DISTINCT FROM f.first_year OR a.last_year IS DISTINCT FROM f.last_year""",
    ),
    ConsistencyRule(IDS, (IDS,), "has several rows for the id {}", _distinct("ids", "author_id")),
    ConsistencyRule(
        IDS, (IDS,), "has an unknown status or a wrong target for the id {}",
        """SELECT count(*), min(author_id) FROM ids WHERE status NOT IN ('active', 'redirect', 'retired')
           OR (status = 'redirect') <> (target IS NOT NULL)""",
    ),
    ConsistencyRule(
        IDS, (IDS, MENTIONS), "does not list the author {} as active",
        _missing("author_id", "mentions", "author_id FROM ids WHERE status = 'active'"),
    ),
    ConsistencyRule(
        IDS, (IDS, MENTIONS), "lists the id {} as active, but no mention has it",
        _missing("author_id", "ids", "author_id FROM mentions", "status = 'active'"),
    ),
    ConsistencyRule(
        IDS, (IDS,), "redirects to the id {}, which is not in it",
        _missing("target", "ids", "author_id FROM ids"),
    ),
    ConsistencyRule(
        IDS, (IDS,), "has a redirect from the id {} that leads neither to an author nor to a retired id",
        # A redirect ends after a few steps. A thousand steps mean a cycle.
        """WITH RECURSIVE chain(author_id, target, steps) AS (
             SELECT author_id, target, 0 FROM ids WHERE status = 'redirect' UNION ALL
             SELECT c.author_id, i.target, steps + 1 FROM chain c JOIN ids i ON i.author_id = c.target
             WHERE i.status = 'redirect' AND steps < 1000)
           SELECT count(DISTINCT c.author_id), min(c.author_id) FROM chain c LEFT JOIN ids i ON i.author_id = c.target
           WHERE steps >= 1000 OR i.status IS NULL OR i.status NOT IN ('redirect', 'active', 'retired')""",
    ),
    ConsistencyRule(
        IDS, (IDS,), "says that an author was split off {}, which is not in it",
        _missing("split_from", "ids", "author_id FROM ids"),
    ),
    ConsistencyRule(
        EVENTS, (EVENTS,), "has a gap in its numbers 1, 2, 3, …, near {}",
        """SELECT count(*), min(number) FROM (SELECT number, row_number() OVER (ORDER BY number) AS place FROM events)
           WHERE number <> place""",
    ),
    ConsistencyRule(
        EVENTS, (EVENTS, IDS), "names the id {}, which is not in the table of ids",
        _missing("author_id", "events", "author_id FROM ids"),
    ),
    ConsistencyRule(
        EVENTS, (EVENTS, IDS), "has no event for the redirect of {}",
        _missing("author_id", "ids", "author_id FROM events WHERE kind = 'merged'", "status = 'redirect'"),
    ),
    ConsistencyRule(
        EVENTS, (EVENTS, IDS), "has no event for the id {}, which is gone",
        _missing("author_id", "ids", "author_id FROM events WHERE kind IN ('retired', 'merged')", "status = 'retired'"),
    ),
    ConsistencyRule(
        EVENTS, (EVENTS, IDS), "has no event for the new id {}",
        _missing("author_id", "ids", "author_id FROM events WHERE kind IN ('created', 'split')", "created > 0"),
    ),
)  # fmt: skip


def find_inconsistencies(result: Path) -> list[Inconsistency]:
    """Everything that is wrong with a result directory."""
    with plain_path(result) as plain:
        return _find_inconsistencies(plain)


def _find_inconsistencies(result: Path) -> list[Inconsistency]:
    found = list(_broken_files(result))
    broken = {one.file for one in found}
    with tempfile.TemporaryDirectory(prefix="homonym-") as work:
        found += _violated_rules(result, broken, Path(work))
    wrong = {one.file for one in found}
    found += [one for one in _wrong_digests(result) if one.file not in wrong]
    problem = integrity_problem(result)
    if not problem and CORPUS not in broken:
        rows = read_decisions(result)
        problem = lost_decisions(result, read_note(result), max((row.number for row in rows), default=0))
        if not problem and not (result / CORPUS).exists() and MENTIONS not in wrong:
            problem = _decisions_without_mentions(result, rows)
    if problem:
        found.append(Inconsistency(DECISIONS, problem))
    elif not wrong & {CORPUS, MENTIONS, UNDECIDED}:
        found += [Inconsistency(DECISIONS, one) for one in ids_of_wrong_records(result)[:1]]
    return list(dict.fromkeys(found))


def _decisions_without_mentions(result: Path, rows: Sequence[Decision]) -> str | None:
    """Decisions about mentions that a result lacks though it was never updated: an older version has made it again."""
    if not (missing := missing_mentions(result, rows)):
        return None
    return (
        f"{result / DECISIONS}: {missing}, because the result was made again; restore the former one, or undo such "
        "decisions with homonym decisions --undo."
    )


def _broken_files(result: Path) -> Iterator[Inconsistency]:
    """Files that are missing, have another layout, or cannot be read to the end."""
    readers: dict[str, Callable[[Path], object]] = {
        CORPUS: lambda path: read_note(path.parent),
        SETTINGS: load_settings,
        LOG: _read_json,
        MASSES: _read_json,
        CONFIDENCE: _read_json,
        PAIRS: read_user_pairs,
        REPORT: _read_page,
        VARIANTS: _read_variants,
        **{name: partial(_read_rows, layout=layout) for name, layout in _LAYOUTS.items()},
        **dict.fromkeys((FREQUENCIES, NAMES, NEW_FEATURES, UNDECIDED), _read_rows),
    }
    required = {SETTINGS, LOG, REPORT, MENTIONS, AUTHORS}
    if (result / DOCUMENTS).exists() or (result / FREQUENCIES).exists():
        required |= {MASSES, DOCUMENTS, FREQUENCIES, NAMES}
    if was_updated(result):
        required |= {CORPUS, IDS, EVENTS}
    elif FREQUENCIES in required and has_format_with_bags(result):
        required.add(BAGS)  # later, the note of the last update says whether it must be there
    for name, read in readers.items():
        path = result / name
        if not os.path.lexists(path):
            if name in required:
                yield Inconsistency(name, "it is missing")
            continue
        try:
            read(path)
        except _WrongLayoutError:
            yield Inconsistency(name, "its columns are not those of such a table")
        except (HomonymError, OSError, pa.ArrowException, ValueError) as error:
            yield Inconsistency(name, f"it cannot be read ({first_line(error)})")


class _WrongLayoutError(Exception):
    """A table has other columns than it should have."""


def _read_json(path: Path) -> None:
    if not isinstance(orjson.loads(path.read_bytes()), dict):
        raise ValueError("not a JSON object")


def _read_variants(path: Path) -> None:
    """Fail if an author of the list is not in the table of authors."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.DictReader(stream))
    named = {row.get(column) or "" for row in rows for column in ("author_a", "author_b")}
    # A file for spreadsheets has an apostrophe before texts that could be formulas.
    wanted = named | {text.removeprefix("'") for text in named}
    try:
        found = look_up(path.parent / AUTHORS, "author_id", pa.array(sorted(wanted), pa.string()), ["author_id"])
    except InputError:
        return  # the table is damaged, and that is reported elsewhere
    known = set(found["author_id"].to_pylist())
    if unknown := [text for text in sorted(named) if not known & {text, text.removeprefix("'")}]:
        raise ValueError(f"{unknown[0]!r} is not an author of the result")


def _read_page(path: Path) -> None:
    content = path.read_bytes().strip().lower()
    if not content.startswith(b"<!doctype html") or not content.endswith(b"</html>"):
        raise ValueError("not a whole page")


def _read_rows(path: Path, layout: pa.Schema | None = None) -> None:
    """Read a table to the end; fails if it has another layout than given."""
    schema = pq.read_schema(path)
    if layout is not None and not schema.equals(layout) and not (layout is STORED_BAGS and schema.equals(FORMER_BAGS)):
        raise _WrongLayoutError
    for _ in columnar_batches(str(path), schema.names, _BATCH_ROWS):
        pass


def _wrong_digests(result: Path) -> Iterator[Inconsistency]:
    """Files that were changed or removed after the last update."""
    try:
        note = read_note(result)
    except HomonymError:
        return  # the note is damaged, and that is reported elsewhere
    yield from starmap(Inconsistency, changed_files(result, note))


def _violated_rules(result: Path, broken: set[str], work: Path) -> Iterator[Inconsistency]:
    present = {name for name in _LAYOUTS if (result / name).is_file()} - broken
    with closing(counting.connect(work, _MEMORY, 2, in_memory=True)) as connection:
        for name in present:
            view = name.removesuffix(".parquet")
            connection.execute(f"CREATE VIEW {view} AS SELECT * FROM read_parquet({sql_files([result / name])})")
        if BAGS in present and is_packed(pq.read_schema(result / BAGS).names):
            present.add(_PACKED)
        for rule in RULES:
            if present.issuperset(rule.tables):
                yield from _violations(rule, connection)


def _violations(rule: ConsistencyRule, connection: duckdb.DuckDBPyConnection) -> Iterator[Inconsistency]:
    row = connection.execute(rule.query).fetchone()
    number, example = row or (0, None)
    if number:
        more = f" (and {counted(number - 1, 'other')})" if number > 1 else ""
        yield Inconsistency(rule.file, f"it {rule.sentence.format(repr(example))}{more}")
