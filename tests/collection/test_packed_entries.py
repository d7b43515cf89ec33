"""Entries of bags as bytes: the same entries are read, whatever their counts, in any rows of a table."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.collection.layout import SLOT_BITS
from homonym.collection.packed_entries import COLUMNS, PackedEntries, is_packed, packed_entries, with_packed_entries
from homonym.schema import FORMER_BAGS, STORED_BAGS
from tests.support.profiles import examples

counts = st.integers(0, 300).map(float) | st.sampled_from([0.25, 0.75, 1e-300, 254.5, 1e15, -1.0, 2.0**60])
entry = st.tuples(st.integers(0, 4) | st.just((1 << SLOT_BITS) - 1), st.integers(0, 2**31 - 1), counts)
documents = st.lists(st.lists(entry, max_size=9).map(lambda some: sorted(some, key=lambda one: one[:2])), max_size=9)

Document = list[tuple[int, int, float]]


def former_table(bags: list[Document]) -> pa.Table:
    rows = [
        {"document_id": f"d{number}", **{name: list(column) for name, column in zip(("slot", "feature", "count"),
         zip(*bag, strict=True) if bag else ([], [], []), strict=True)}}
        for number, bag in enumerate(bags)
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=FORMER_BAGS)


def read(table: pa.Table, first: int, last: int) -> list[Document]:
    owner, feature, count = PackedEntries.of(table).between(first, last)
    found: list[Document] = [[] for _ in range(len(table))]
    for one, number, value in zip(owner.tolist(), feature.tolist(), count.tolist(), strict=True):
        found[one >> SLOT_BITS].append((one & ((1 << SLOT_BITS) - 1), number, value))
    return found[first:last]


@given(bags=documents, data=st.data())
@settings(max_examples=examples(200), deadline=None)
def test_packed_entries_are_those_of_lists(bags: list[Document], data: st.DataObject) -> None:
    former = former_table(bags)
    table = with_packed_entries(former)
    assert (is_packed(former.column_names), is_packed(table.column_names)) == (False, True)
    assert table.schema.names == STORED_BAGS.names
    assert table.cast(STORED_BAGS).drop_columns([*COLUMNS]).equals(former.drop_columns(["slot", "feature", "count"]))
    assert with_packed_entries(table) is table
    bounds = st.integers(0, len(bags))
    first, last = sorted((data.draw(bounds), data.draw(bounds)))
    assert read(table, first, last) == bags[first:last]
    chosen = data.draw(st.lists(st.booleans(), min_size=len(bags), max_size=len(bags)))
    some = table.filter(pa.array(chosen, pa.bool_())).combine_chunks()
    assert read(some, 0, len(some)) == [bag for bag, is_chosen in zip(bags, chosen, strict=True) if is_chosen]
    part = table.slice(first, last - first).combine_chunks()
    assert read(part, 0, len(part)) == bags[first:last]


def test_entries_take_a_byte_for_usual_counts_and_nine_for_others() -> None:
    owner, feature = np.zeros(4, np.int64), np.array([0, 1, 2, 3 + (5 << 16)])
    columns = packed_entries(owner, feature, np.array([1.0, 254.0, 255.0, 0.5]), np.array([4]))
    assert columns["count"].to_pylist() == [b"\x01\xfe\xff\xff"]
    assert columns["feature"].to_pylist() == [bytes([0, 0, 1, 0, 2, 0, 3, 0])]
    assert columns["feature_high"].to_pylist() == [bytes([0, 0, 0, 0, 0, 0, 5, 0])]
    assert columns["other_count"].to_pylist() == [np.array([255.0, 0.5], "<f8").tobytes()]
