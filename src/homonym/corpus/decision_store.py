"""The file of decisions, decisions.sqlite in a result directory: an append-only table in SQLite.

Rows are added and never changed: triggers refuse changes, and an undo is a further row. A decision that was confirmed
is on the disk (WAL with synchronous=FULL). Two processes may write: the second waits for the first. No update swaps the
directory meanwhile (see `locked_decisions`). The file is not trusted: a damaged file, a file of another program and a
symbolic link are refused with one sentence.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import orjson

from homonym.constraints.evidence import mention_list
from homonym.corpus.renamed_mentions import MentionRenames
from homonym.errors import HomonymError, InputError, OutputError, first_line
from homonym.io.outputs import sync_directory
from homonym.io.result_directory import BUSY_SECONDS, DECISIONS, locked_decisions

SAME, DIFFERENT, UNSURE, IS, IS_NOT = "same", "different", "unsure", "is", "is-not"
NAME, WRONG_RECORD, UNDO = "name", "wrong-record", "undo"
KINDS = (SAME, DIFFERENT, UNSURE, IS, IS_NOT, NAME, WRONG_RECORD)
"""What a user can decide. A row that undoes another one has the kind `undo`."""

# Maximum number of characters of a text that a user gives.
MAX_TEXT = 10_000
# Marks the file as one of homonym: "homo" in ASCII.
_APPLICATION, _VERSION = 0x686F6D6F, 1

_KIND_LIST = ", ".join(f"'{kind}'" for kind in (*KINDS, UNDO))
_SCHEMA = (
    f"""CREATE TABLE decisions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        time TEXT NOT NULL,
        user TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ({_KIND_LIST})),
        a TEXT NOT NULL,
        b TEXT NOT NULL,
        mention_a TEXT NOT NULL,
        mention_b TEXT NOT NULL,
        members TEXT NOT NULL,
        reason TEXT NOT NULL,
        undoes INTEGER REFERENCES decisions (number),
        CHECK ((kind = 'undo') = (undoes IS NOT NULL)),
        CHECK (kind = 'undo' OR mention_a <> mention_b)
    ) STRICT""",
    """CREATE TRIGGER no_update BEFORE UPDATE ON decisions
        BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END""",
    """CREATE TRIGGER no_delete BEFORE DELETE ON decisions
        BEGIN SELECT RAISE(ABORT, 'decisions are never deleted'); END""",
    # INSERT OR REPLACE deletes without the trigger above.
    """CREATE TRIGGER no_replace BEFORE INSERT ON decisions
        WHEN EXISTS (SELECT 1 FROM decisions WHERE number = NEW.number)
        BEGIN SELECT RAISE(ABORT, 'decisions are never replaced'); END""",
)


class Decision(NamedTuple):
    """One row of the file.

    `a` and `b` are what the user gave. `mention_a` and `mention_b` are the mentions that the decision rests on: the
    mention itself, or the anchor of the author at the time of the decision. A name has its text in `b`; a wrong record
    has the document id in `mention_a`. `members` has all mentions of the author in an is-not, and of the author that a
    mention leaves in an is.
    `undoes` is the number of the row that an undo takes back.
    """

    number: int
    time: str
    user: str
    kind: str
    a: str
    b: str
    mention_a: str
    mention_b: str
    reason: str
    undoes: int | None = None
    members: tuple[str, ...] = ()


class NewDecision(NamedTuple):
    """A decision that has no number and time yet; an imported one may have a time."""

    kind: str
    a: str
    b: str
    mention_a: str
    mention_b: str
    reason: str
    user: str
    members: tuple[str, ...] = ()
    time: str | None = None


_COLUMNS = "number, time, user, kind, a, b, mention_a, mention_b, reason, undoes, members"


def read_decisions(result: Path, renames: Path | None = None) -> list[Decision]:
    """All rows of the file of a result, in the order of their numbers; none if there is no file.

    Mentions have their current ids. `renames` is the folder of the table of renamed mentions, if it is another one.
    """
    path = result / DECISIONS
    if not os.path.lexists(path):
        return []
    with _opened(path, writing=False) as connection:
        rows = _rows(connection, path)
    known = MentionRenames.read(renames or result)
    return [_with_current_mentions(row, known) for row in rows] if known else rows


def _with_current_mentions(row: Decision, renames: MentionRenames) -> Decision:
    if row.kind == WRONG_RECORD:  # about a document
        return row
    a, b, *members = (renames.current(one, row.number) for one in (row.mention_a, row.mention_b, *row.members))
    return row._replace(mention_a=a, mention_b=b, members=tuple(members))


def _rows(connection: sqlite3.Connection, path: Path) -> list[Decision]:
    if not _has_tables(connection):
        return []
    rows = connection.execute(f"SELECT {_COLUMNS} FROM decisions ORDER BY number").fetchall()
    try:
        return [Decision._make((*row[:-1], mention_list(row[-1]))) for row in rows]
    except ValueError as error:
        raise _damaged(path, f"a list of mentions cannot be read: {first_line(error)}") from error


def add_decisions(result: Path, new: Iterable[NewDecision], *, after: int = 0) -> list[Decision]:
    """Append decisions in one transaction, and return them with their numbers when they are on the disk.

    The first gets the number after the last row, and one that is larger than `after`.
    """
    chosen = [(one, *_texts(one)) for one in new]
    now = _now()
    with _writing(result) as connection:
        first = max(_last_number(connection), after) + 1
        added = [
            Decision(
                first + place, one.time or now, user, one.kind, a, b, one.mention_a, one.mention_b, reason, None,
                one.members,
            )
            for place, (one, user, a, b, reason) in enumerate(chosen)
        ]  # fmt: skip
        _insert(connection, added)
    return added


def add_undo(result: Path, number: int, *, user: str, reason: str) -> Decision:
    """Append a row that undoes another one; fails if there is no such row, or if it is undone already."""
    user, reason = _text(user, "the user"), _text(reason, "the reason")
    with _writing(result) as connection:
        rows = _rows(connection, result / DECISIONS)
        if not any(row.number == number for row in rows):
            last = f"the last one is {rows[-1].number}" if rows else "there are none yet"
            raise InputError(f"{result} has no decision {number}; {last}.")
        if by := undone_rows(rows).get(number):
            raise InputError(
                f"decision {number} is undone already, by {by.number} ({by.user}, {by.time}); to make it valid "
                f"again, undo {by.number}."
            )
        added = Decision(rows[-1].number + 1, _now(), user, UNDO, "", "", "", "", reason, number)
        _insert(connection, [added])
    return added


def undone_rows(rows: Iterable[Decision]) -> dict[int, Decision]:
    """The numbers of rows that are undone, each with the row that undoes it. An undo may be undone, too."""
    undone: dict[int, Decision] = {}
    for row in sorted(rows, key=lambda row: -row.number):
        if row.undoes is not None and row.number not in undone:
            undone.setdefault(row.undoes, row)
    return undone


def integrity_problem(result: Path) -> str | None:
    """What SQLite's full integrity check finds wrong in the file of a result; None if all is well."""
    path = result / DECISIONS
    if not os.path.lexists(path):
        return None
    try:
        with _opened(path, writing=False) as connection:
            found = [text for (text,) in connection.execute("PRAGMA integrity_check(3)")]
            found += [f"row {row[1]} names a row that does not exist" for row in _orphans(connection)]
            _rows(connection, path)
    except HomonymError as error:
        return str(error)
    found = [text for text in found if text != "ok"]
    return str(_damaged(path, "; ".join(found))) if found else None


def _orphans(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    return connection.execute("PRAGMA foreign_key_check").fetchall() if _has_tables(connection) else []


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _texts(one: NewDecision) -> tuple[str, str, str, str]:
    return (
        _text(one.user, "the user"),
        _text(one.a, "the first of both"),
        _text(one.b, "the second of both"),
        _text(one.reason, "the reason"),
    )


def _text(text: str, what: str) -> str:
    """A text that can be stored; fails if it is too long, or has characters that no text has."""
    if len(text) > MAX_TEXT:
        raise InputError(f"{what} has {len(text):,} characters; at most {MAX_TEXT:,} are allowed.")
    if "\0" in text or not _is_unicode(text):
        raise InputError(f"{what} has characters that are not text; write it in UTF-8, without zero bytes.")
    return text


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _last_number(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM decisions").fetchone()[0])


def _insert(connection: sqlite3.Connection, rows: Iterable[Decision]) -> None:
    marks = ", ".join("?" * len(Decision._fields))
    values = ((*row[:-1], orjson.dumps(row.members).decode() if row.members else "") for row in rows)
    connection.executemany(f"INSERT INTO decisions ({_COLUMNS}) VALUES ({marks})", values)


@contextmanager
def _writing(result: Path) -> Iterator[sqlite3.Connection]:
    """One write transaction: after the block, either all of it is on the disk or nothing."""
    path = result / DECISIONS
    is_new = not os.path.lexists(path)
    with _opened(path, writing=True) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not _has_tables(connection):
                for statement in _SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")
            yield connection
            connection.execute("COMMIT")
            # Move the rows from the WAL into the file, so that a copy of the file alone has all decisions.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    if is_new:
        sync_directory(result)


@contextmanager
def _opened(path: Path, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """A connection to a checked file of decisions; errors of SQLite become one sentence."""
    with locked_decisions(path.parent, shared=not writing):
        _require_own_files(path)
        if writing and not os.access(path.parent, os.W_OK):
            raise OutputError(f"{path} cannot be written: no permission to write in {path.parent}.")
        try:
            with closing(_connect(path, writing=writing)) as connection:
                connection.execute("PRAGMA trusted_schema = OFF")
                _require_ours(connection, path)
                if writing:
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = FULL")
                yield connection
        except sqlite3.Error as error:
            raise _sentence(path, error, writing=writing) from error
        except UnicodeDecodeError as error:  # SQLite's own message has bytes of the file in it
            raise _damaged(path, "its text is not UTF-8") from error


def _connect(path: Path, *, writing: bool) -> sqlite3.Connection:
    """A connection without implicit transactions. Nothing is written next to a file that cannot be written."""
    if writing:
        return _connection(path, "mode=rwc")
    if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
        connection = _connection(path, "mode=rw")
        if _can_read(connection) or _has_wal(path):
            return connection
        connection.close()
    # SQLite needs to create an index of the WAL, unless the file cannot change. That fails if the disk is full.
    return _connection(path, "mode=ro" if _has_wal(path) else "mode=ro&immutable=1")


def _has_wal(path: Path) -> bool:
    """Whether rows may be in the WAL and not yet in the file."""
    try:
        return os.path.getsize(f"{path}-wal") > 0
    except FileNotFoundError:  # another process may remove it at any time
        return False


def _connection(path: Path, options: str) -> sqlite3.Connection:
    place = f"file:{quote(os.path.abspath(path))}?{options}"
    return sqlite3.connect(place, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def _can_read(connection: sqlite3.Connection) -> bool:
    """Whether SQLite can create the files that it needs for reading."""
    try:
        _has_tables(connection)
    except sqlite3.OperationalError as error:
        return not error.sqlite_errorname.startswith(("SQLITE_IOERR", "SQLITE_FULL", "SQLITE_CANTOPEN"))
    except (sqlite3.Error, UnicodeDecodeError):
        pass  # a damaged file is reported where it is read
    return True


def _require_own_files(path: Path) -> None:
    """Fail if the file or one that SQLite keeps next to it is not a plain file."""
    for one in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        if os.path.lexists(one) and not stat.S_ISREG(os.lstat(one).st_mode):
            raise InputError(f"{one} is not a plain file; put the file of decisions itself there, or move it away.")


def _has_tables(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])


def _require_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Fail unless the file is empty or has exactly our tables and triggers, and its pages are sound."""
    if not _has_tables(connection):
        return
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == _APPLICATION and version > _VERSION:
        raise InputError(f"{path} was written by a newer homonym; install that version to read it.")
    if application != _APPLICATION or _definitions(connection) != _own_definitions():
        raise InputError(f"{path} is not a file of decisions of homonym; move it away.")
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise _damaged(path, found)


def _definitions(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    return connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()


def _own_definitions() -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in _SCHEMA:
            connection.execute(statement)
        return _definitions(connection)


def _sentence(path: Path, error: sqlite3.Error, *, writing: bool) -> HomonymError:
    """An error of SQLite as one sentence about the file."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return OutputError(
            f"{path} has been in use by another process for {BUSY_SECONDS:.0f} seconds; try again later."
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_FULL", "SQLITE_IOERR")):
        kind = OutputError if writing else InputError
        return kind(f"{path} cannot be {'written' if writing else 'read'}: {first_line(error)}; nothing was changed.")
    if name == "SQLITE_NOTADB":
        return InputError(f"{path} is not a file of decisions of homonym; move it away.")
    return _damaged(path, first_line(error))


def _damaged(path: Path, why: str) -> InputError:
    what = " ".join(why.split())
    return InputError(
        f"{path} is damaged ({what}); restore a copy of it, or move it away and import an exported table of decisions."
    )
