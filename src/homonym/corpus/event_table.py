"""What happened to authors in the updates of a result: an append-only table of events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from homonym.errors import InputError, first_line
from homonym.io.result_directory import EVENTS
from homonym.io.tables import write_table

CREATED, MERGED, SPLIT, MOVED, RETIRED, REVIVED = "created", "merged", "split", "moved", "retired", "revived"

EVENT_ROWS = pa.schema(
    [
        pa.field("number", pa.int64(), nullable=False),
        pa.field("time", pa.string(), nullable=False),
        pa.field("update", pa.int32(), nullable=False),
        pa.field("epoch", pa.int32(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("author_id", pa.string(), nullable=False),
        pa.field("other_id", pa.string()),
        pa.field("mention_id", pa.string()),
        pa.field("reason", pa.string(), nullable=False),
    ]
)
"""All events in order. `time` is UTC, `update` the number of the update.

- created: a new author;
- merged: `author_id` is now a redirect to `other_id`;
- split: `author_id` is new, and its mentions were those of `other_id`;
- moved: the mention `mention_id` left `other_id` for `author_id`, and no other event says so;
- retired: `author_id` has no mentions any more;
- revived: `author_id` was a redirect to `other_id`, and is an author again, because a decision was undone.
"""


class Event(NamedTuple):
    """Something that happened to an author, before it has a number and a time."""

    kind: str
    author_id: str
    other_id: str | None = None
    mention_id: str | None = None
    reason: str = ""


def read_events(result: Path) -> pa.Table:
    """The events of a result; none before its first update."""
    path = result / EVENTS
    if not path.exists():
        return EVENT_ROWS.empty_table()
    try:
        return pq.read_table(path, schema=EVENT_ROWS)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path} cannot be read: {first_line(error)}.") from error


def append_events(result: Path, folder: Path, events: Sequence[Event], time: str, update: int, epoch: int) -> None:
    """Write the events of a result with further ones to a folder."""
    known = read_events(result)
    first = len(known) + 1
    rows = [
        {"number": number, "time": time, "update": update, "epoch": epoch, **event._asdict()}
        for number, event in enumerate(events, first)
    ]
    write_table(folder / EVENTS, EVENT_ROWS, [known, pa.Table.from_pylist(rows, schema=EVENT_ROWS)])
