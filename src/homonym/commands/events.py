"""Events: what happened to the authors of a result directory in its updates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from homonym.errors import SettingsError
from homonym.io.result_directory import require_result

_SENTENCES = {
    "created": "{author_id} is new",
    "merged": "{author_id} is now {other_id}",
    "split": "{author_id} was split off {other_id}",
    "moved": "{mention_id} moved from {other_id} to {author_id}",
    "retired": "{author_id} has no mentions any more",
    "revived": "{author_id} is an author again, and was {other_id}",
}


@dataclass(frozen=True)
class Events:
    """The events of a result, in order: a sequence of dictionaries with the columns of the table of events."""

    rows: Sequence[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __str__(self) -> str:
        """One line for each event."""
        return "\n".join(
            f"{row['time']}  {_SENTENCES[row['kind']].format(**row)} ({row['reason']})" for row in self.rows
        )


def events(result: str | Path, *, since: str | date | None = None) -> Events:
    """The events of a result directory, in order; with `since` those from that day or time on (UTC).

    There are none before the first update.
    """
    from homonym.corpus.event_table import read_events

    rows = read_events(require_result(result)).to_pylist()
    if since is not None:
        first = _moment(since)
        rows = [row for row in rows if row["time"] >= first]
    return Events(rows)


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
