"""Tables after changes: each document once, with its newest content, whatever is copied; rows in order."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.collection.identity import letters_of_title, letters_of_titles, title_digest
from homonym.corpus import table_changes
from homonym.corpus.table_changes import replace_documents, replace_rows
from homonym.errors import InputError
from homonym.io.result_directory import DOCUMENTS, MENTIONS
from homonym.io.tables import write_table
from homonym.schema import AUTHORS as MENTION_ROWS
from homonym.schema import DOCUMENTS as SCHEMA
from tests.support.profiles import examples

IDS = [f"D{number}é" if number % 3 else f"D{number}" for number in range(30)]


def rows_of(documents: dict[str, str]) -> pa.Table:
    rows = [
        {"document_id": one, "record": record, "authors": [{"position": 0, "name": "Doe", "affiliations": [one]}]}
        for one, record in documents.items()
    ]
    return pa.Table.from_pylist(rows, schema=SCHEMA).sort_by("document_id")


def contents(folder: Path) -> dict[str, str]:
    table = pq.read_table(folder / DOCUMENTS)
    assert [one[0]["affiliations"] for one in table["authors"].to_pylist()] == [
        [one] for one in table["document_id"].to_pylist()
    ]
    return dict(zip(table["document_id"].to_pylist(), table["record"].to_pylist(), strict=True))


KEYS = st.sampled_from(["a", "aé", "b", "ba", "c", "é", "z"])
MENTION_KEYS = st.lists(st.tuples(KEYS, st.integers(0, 9)), max_size=12, unique=True)


def mentions_of(keys: list[tuple[str, int]], name: str) -> pa.Table:
    rows = [
        {"mention_id": f"{block}{number}", "document_id": f"d{number}", "position": 0, "name": name, "block": block,
         "author_id": block}
        for block, number in sorted(keys, key=lambda key: (key[0].encode(), key[1]))
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=MENTION_ROWS)


@given(old=MENTION_KEYS, new=MENTION_KEYS, leaving=st.sets(KEYS), group=st.integers(1, 5), later=MENTION_KEYS)
@settings(max_examples=examples(200), deadline=None)
def test_rows_are_merged_as_if_all_were_sorted(
    old: list[tuple[str, int]], new: list[tuple[str, int]], leaving: set[str], group: int, later: list[tuple[str, int]]
) -> None:
    """`later` are rows in row groups that are not in order with those before, as in tables of another program.

    No program writes the rows of one block in two row groups that follow each other, but in another order.
    """
    order = [(one, "ascending") for one in ("block", "document_id", "position", "mention_id")]
    last = max((block for block, _ in old), key=str.encode, default=None)
    later = [key for key in later if key not in old and key[0] != last]
    before, added = pa.concat_tables([mentions_of(old, "old"), mentions_of(later, "old")]), mentions_of(new, "new")
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / MENTIONS, MENTION_ROWS, [before], row_group=max(1, len(old)) if later else group)
        replace_rows(folder, folder, MENTIONS, sorted(leaving), added)
        found = pq.read_table(folder / MENTIONS)
    gone = pa.array(sorted({*leaving, *added["block"].to_pylist()}), pa.string())
    kept = before.filter(pc.invert(pc.is_in(before["block"], gone)))
    assert found.equals(pa.concat_tables([kept, added]).sort_by(order))


@given(
    first=st.sets(st.sampled_from(IDS)),
    steps=st.lists(st.dictionaries(st.sampled_from(IDS), st.none() | st.text(max_size=3), max_size=6), max_size=5),
)
@settings(max_examples=examples(100), deadline=None)
def test_documents_are_those_of_a_dictionary(first: set[str], steps: list[dict[str, str | None]]) -> None:
    known = dict.fromkeys(sorted(first), "{}")
    with TemporaryDirectory() as name, patch.object(table_changes, "DOCUMENTS_AT_ONCE", 3):
        folder = Path(name)
        write_table(folder / DOCUMENTS, SCHEMA, [rows_of(known)], row_group=3)
        for step in steps:
            written = {one: record for one, record in step.items() if record is not None}
            leaving = {one for one in step if one in known}
            replace_documents(folder, folder, leaving, rows_of(written))
            known = {one: record for one, record in known.items() if one not in leaving} | written
            assert contents(folder) == known
            assert pq.read_metadata(folder / DOCUMENTS).num_rows == len(known)
        replace_documents(folder, folder, set(), SCHEMA.empty_table(), in_order=True)
        assert list(contents(folder).items()) == sorted(known.items())


def test_new_documents_come_last_and_fill_row_groups(tmp_path: Path) -> None:
    write_table(tmp_path / DOCUMENTS, SCHEMA, [rows_of(dict.fromkeys("bdfhj", ""))], row_group=2)
    with patch.object(table_changes, "DOCUMENTS_AT_ONCE", 2):
        replace_documents(tmp_path, tmp_path, {"d"}, rows_of({"d": "new", "a": "", "c": ""}))
    assert list(contents(tmp_path)) == ["b", "d", "f", "h", "a", "c", "j"]
    metadata = pq.read_metadata(tmp_path / DOCUMENTS)
    assert [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)] == [2, 2, 2, 1]


def test_files_of_other_writers_are_written_again_in_order(tmp_path: Path) -> None:
    pq.write_table(rows_of(dict.fromkeys("bdf", "")), tmp_path / DOCUMENTS, write_page_index=True)
    replace_documents(tmp_path, tmp_path, {"d"}, rows_of({"a": "", "c": ""}))
    assert list(contents(tmp_path)) == ["a", "b", "c", "f"]


def test_damaged_documents_are_named(tmp_path: Path) -> None:
    (tmp_path / DOCUMENTS).write_bytes(b"PAR1" + b"x" * 100)
    with pytest.raises(InputError, match=r"documents\.parquet cannot be read"):
        replace_documents(tmp_path, tmp_path, {"d"}, SCHEMA.empty_table())


@given(st.lists(st.none() | st.text(st.characters(max_codepoint=127), max_size=20), max_size=5))
def test_letters_of_titles_are_computed_at_once_as_one_by_one(titles: list[str | None]) -> None:
    assert letters_of_titles(pa.array(titles, pa.string())) == [letters_of_title(title or "") for title in titles]


@given(st.text(max_size=12), st.text(max_size=12))
def test_titles_with_one_digest_have_the_same_letters(a: str, b: str) -> None:
    for one, other in ((a, b), (a, f"  {a.upper()}. "), (a, a.lower())):
        if title_digest(one) is not None and title_digest(one) == title_digest(other):
            assert letters_of_title(one) == letters_of_title(other)


def test_damage_in_a_row_group_is_an_error_of_the_table(tmp_path: Path) -> None:
    write_table(tmp_path / DOCUMENTS, SCHEMA, [rows_of(dict.fromkeys(IDS, "{}"))], row_group=3)
    content = bytearray((tmp_path / DOCUMENTS).read_bytes())
    content[4:60] = b"\xff" * 56
    (tmp_path / DOCUMENTS).write_bytes(content)
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match=r"documents\.parquet cannot be read") as damage:
        replace_documents(tmp_path, tmp_path / "out", set(sorted(IDS)[:1]), SCHEMA.empty_table())
    assert len(str(damage.value).splitlines()) == 1
    assert not [*(tmp_path / "out").iterdir()]
