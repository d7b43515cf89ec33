"""Events: what happened to the authors of a result directory in its updates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, overload

from homonym.errors import InputError, SettingsError, counted
from homonym.io.result_directory import require_result

# Kinds of which an update with new papers has very many.
FREQUENT = ("created", "grown")

_SENTENCES = {
    "created": "{author_id} is new",
    "grown": "{author_id} has the new mention {mention_id}",
    "merged": "{author_id} is now {other_id}",
    "split": "{author_id} was split off {other_id}",
    "moved": "{mention_id} moved from {other_id} to {author_id}",
    "retired": "{author_id} has no mentions any more",
    "revived": "{author_id} is an author again, and was {other_id}",
}


@dataclass(frozen=True)
class Events(Sequence[dict[str, Any]]):
    """The events of a result, in order: a sequence of dictionaries with the columns of the table of events.

    `updates` is the number of the last update; 0 if there was none.
    """

    rows: list[dict[str, Any]]
    updates: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self.rows[place]

    def __str__(self) -> str:
        """One line for each event."""
        return "\n".join(map(_line, self.rows))

    def overview(self) -> str:
        """How many authors are new or have new mentions in each update, then one line for each other event."""
        return "\n".join([*self._counts(), *(_line(row) for row in self.rows if row["kind"] not in FREQUENT)])

    def _counts(self) -> Iterator[str]:
        times = {row["update"]: row["time"] for row in reversed(self.rows) if row["kind"] in FREQUENT}
        created = Counter(row["update"] for row in self.rows if row["kind"] == "created")
        grown = Counter(row["update"] for row in self.rows if row["kind"] == "grown")
        known = Counter(
            update for update, _ in {(r["update"], r["author_id"]) for r in self.rows if r["kind"] == "grown"}
        )
        for update, time in sorted(times.items()):
            said = [f"{counted(created[update], 'new author')} (--kind created)"] if created[update] else []
            if grown[update]:
                mentions = counted(grown[update], "new mention")
                said.append(f"{mentions} of {counted(known[update], 'known author')} (--kind grown)")
            yield f"{time}  update {update}: {', '.join(said)}"


def _line(row: dict[str, Any]) -> str:
    return f"{row['time']}  {_SENTENCES[row['kind']].format(**row)} ({row['reason']})"


def events(
    result: str | Path,
    *,
    since: str | date | None = None,
    author: str | None = None,
    kind: str | Collection[str] | None = None,
    update: int | None = None,
) -> Events:
    """The events of a result directory, in order; there are none before the first update.

    `since` chooses those from that day or time on (UTC), `author` those of an author, under its present id and all ids
    that redirect to it, `kind` those of one kind or several, and `update` those of the update with this number.
    """
    from homonym.corpus.epoch import read_note
    from homonym.corpus.event_table import KINDS, read_events

    folder = require_result(result)
    kinds = {kind} if isinstance(kind, str) else None if kind is None else {*kind}
    if unknown := sorted((kinds or set()) - {*KINDS}):
        raise SettingsError(f"kind: unknown kind {unknown[0]!r}; use one of {', '.join(KINDS)}.")
    first = _moment(since) if since is not None else ""
    ids = _ids_of_author(folder, author) if author is not None else None
    rows = [
        row
        for row in read_events(folder).to_pylist()
        if row["time"] >= first
        and (kinds is None or row["kind"] in kinds)
        and (update is None or row["update"] == update)
        and (ids is None or not ids.isdisjoint((row["author_id"], row["other_id"])))
    ]
    return Events(rows, read_note(folder).update)


def _ids_of_author(folder: Path, author: str) -> set[str]:
    """All ids that lead to the same author as this one."""
    from homonym.corpus.ids import REDIRECT, read_ids

    known = read_ids(folder).select(["author_id", "status", "target"]).to_pylist()
    target = {row["author_id"]: row["target"] if row["status"] == REDIRECT else None for row in known}
    author = author.strip()
    if author not in target:
        raise InputError(
            f"{folder} has never given the id {author!r}; homonym explain RESULT NAME shows the ids of a name."
        )

    def end(one: str) -> str:
        passed = {one}
        while (following := target.get(one)) and following not in passed:  # `check` reports redirects in a circle
            passed.add(one := following)
        return one

    return {one for one in target if end(one) == end(author)}


def _moment(since: str | date) -> str:
    """A day or time as events have it.

    >>> _moment("2026-03-01"), _moment("2026-03-01T12:00:00+01:00")
    ('2026-03-01T00:00:00+00:00', '2026-03-01T11:00:00+00:00')
    """
    from datetime import UTC

    try:
        found = datetime.fromisoformat(str(since))
    except ValueError:
        raise SettingsError(f"since: expected a date such as 2026-03-01, got {str(since)!r}.") from None
    found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return found.isoformat(timespec="seconds")
