"""The table of events: new rows come last, and known ones are copied as they are."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.corpus import event_table
from homonym.corpus.event_table import CREATED, GROWN, Event, append_events, read_events
from homonym.errors import InputError
from homonym.io.result_directory import EVENTS
from homonym.io.row_groups import new_parts
from homonym.schema import EVENT_ROWS


def events(first: int, number: int) -> list[Event]:
    return [
        Event(GROWN if one % 2 else CREATED, f"DOE, J/{one}", None, f"m{one}", "é")
        for one in range(first, first + number)
    ]


def test_many_updates_give_the_table_of_all_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_table, "EVENTS_AT_ONCE", 10)
    expected, written = [], 0
    for update, size in enumerate([3, 0, 7, 1, 25, 9, 1], 1):
        before = (tmp_path / EVENTS).read_bytes() if written else b""
        parts = append_events(tmp_path, tmp_path, events(written, size), "2026-01-01", update, 1)
        place, after = 0, (tmp_path / EVENTS).read_bytes()
        for part in parts:
            if part.origin is not None:
                assert after[place : place + part.size] == before[part.origin : part.origin + part.size]
            place += part.size
        expected += [(number, update, f"m{number - 1}") for number in range(written + 1, written + size + 1)]
        written += size
        found = read_events(tmp_path)
        assert found.schema.equals(EVENT_ROWS)
        assert [
            *zip(*(found[name].to_pylist() for name in ("number", "update", "mention_id")), strict=True)
        ] == expected
    metadata = pq.read_metadata(tmp_path / EVENTS)
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [10, 10, 10, 10, 6]
    assert [part.origin is not None for part in parts] == [
        True,
        True,
        True,
        True,
        True,
        False,
    ]  # the magic number first


def test_table_of_another_program_is_written_again(tmp_path: Path) -> None:
    append_events(tmp_path, tmp_path, events(0, 5), "2026-01-01", 1, 1)
    pq.write_table(read_events(tmp_path), tmp_path / EVENTS, compression="snappy", write_page_index=True)
    assert append_events(tmp_path, tmp_path, events(5, 2), "2026-01-02", 2, 1) == new_parts(tmp_path / EVENTS)
    assert read_events(tmp_path)["number"].to_pylist() == [*range(1, 8)]


def test_damaged_table_is_no_failure_of_the_output(tmp_path: Path) -> None:
    append_events(tmp_path, tmp_path, events(0, 500), "2026-01-01", 1, 1)
    content = bytearray((tmp_path / EVENTS).read_bytes())
    content[100:140] = bytes(40)
    (tmp_path / EVENTS).write_bytes(content)
    with pytest.raises(InputError, match=r"events\.parquet cannot be read"):
        append_events(tmp_path, tmp_path, events(500, 2), "2026-01-02", 2, 1)
    assert isinstance(pq.read_schema(tmp_path / EVENTS), pa.Schema)
