"""What happened to authors in the updates of a result: an append-only table of events.

Known events are not decoded when new ones come: their row groups are copied. So an update takes no longer after many
other updates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from homonym.io.result_directory import EVENTS
from homonym.io.row_groups import FilePart, UnusualLayoutError, new_parts, splice_row_groups
from homonym.io.tables import parquet_writing, read_or_empty, reading_result_file, rechunked, write_table
from homonym.schema import EVENT_ROWS

# Number of events in a row group: some weeks of nightly updates.
EVENTS_AT_ONCE = 1 << 14

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


def append_events(
    result: Path, folder: Path, events: Sequence[Event], time: str, update: int, epoch: int
) -> list[FilePart]:
    """Write the events of a result, followed by new ones, to a folder. Returns the parts of the new file."""
    if not (result / EVENTS).exists():
        write_table(folder / EVENTS, EVENT_ROWS, [_rows(events, 1, time, update, epoch)], row_group=EVENTS_AT_ONCE)
        return new_parts(folder / EVENTS)
    with reading_result_file(result / EVENTS) as plain, pq.ParquetFile(plain, page_checksum_verification=True) as file:
        new = _rows(events, file.metadata.num_rows + 1, time, update, epoch)
        groups = [*_row_groups(file, new)]  # read now: later, damage would pass for a failure of the output
        try:
            return splice_row_groups(result / EVENTS, folder / EVENTS, groups, parquet_writing(EVENT_ROWS))
        except UnusualLayoutError:  # a file that another program or version has written
            write_table(folder / EVENTS, EVENT_ROWS, [read_events(result), new], row_group=EVENTS_AT_ONCE)
            return new_parts(folder / EVENTS)


def _row_groups(file: pq.ParquetFile, new: pa.Table) -> Iterator[int | pa.Table]:
    """Numbers of the row groups that stay, then tables: the last row group is filled up."""
    number = file.num_row_groups
    is_filled = number > 0 and file.metadata.row_group(number - 1).num_rows < EVENTS_AT_ONCE
    yield from range(number - is_filled)
    last = [file.read_row_group(number - 1).cast(EVENT_ROWS)] if is_filled else []
    yield from rechunked([*last, new], EVENTS_AT_ONCE)


def _rows(events: Sequence[Event], first: int, time: str, update: int, epoch: int) -> pa.Table:
    """Rows of the table for the events of an update; `first` is the number of the first one."""
    size = len(events)
    columns: dict[str, object] = {
        "number": np.arange(first, first + size),
        "time": pa.repeat(pa.scalar(time), size),
        "update": pa.repeat(pa.scalar(update, pa.int32()), size),
        "epoch": pa.repeat(pa.scalar(epoch, pa.int32()), size),
    }
    columns |= {name: [getattr(one, name) for one in events] for name in Event._fields}
    return pa.table([pa.array(columns[one.name], one.type) for one in EVENT_ROWS], schema=EVENT_ROWS)
