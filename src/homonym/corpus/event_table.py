"""What happened to authors in the updates of a result: an append-only table of events."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from homonym.io.result_directory import EVENTS
from homonym.io.tables import read_or_empty, write_table
from homonym.schema import EVENT_ROWS

CREATED, MERGED, SPLIT, MOVED, RETIRED, REVIVED = "created", "merged", "split", "moved", "retired", "revived"
# A new mention of an author that the result had before.
GROWN = "grown"
KINDS = (CREATED, GROWN, MERGED, SPLIT, MOVED, RETIRED, REVIVED)


class Event(NamedTuple):
    """An event of an author that has no number and time yet."""

    kind: str
    author_id: str
    other_id: str | None = None
    mention_id: str | None = None
    reason: str = ""


def read_events(result: Path) -> pa.Table:
    """The events of a result; none before its first update."""
    return read_or_empty(result / EVENTS, EVENT_ROWS)


def append_events(result: Path, folder: Path, events: Sequence[Event], time: str, update: int, epoch: int) -> None:
    """Write the events of a result, followed by new ones, to a folder."""
    known = read_events(result)
    first = len(known) + 1
    size = len(events)
    columns: dict[str, object] = {
        "number": np.arange(first, first + size),
        "time": pa.repeat(pa.scalar(time), size),
        "update": pa.repeat(pa.scalar(update, pa.int32()), size),
        "epoch": pa.repeat(pa.scalar(epoch, pa.int32()), size),
    }
    columns |= {name: [getattr(one, name) for one in events] for name in Event._fields}
    rows = pa.table([pa.array(columns[one.name], one.type) for one in EVENT_ROWS], schema=EVENT_ROWS)
    write_table(folder / EVENTS, EVENT_ROWS, [known, rows])
