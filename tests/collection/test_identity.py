"""Digests of many records are those of single ones."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.collection.identity import authors_of, authors_of_documents, digest_columns, digests, title_digest
from homonym.features.blocking import SCHEMES, blocked_names
from tests.support.profiles import examples

NAMES = ["Doe, Jane W.", "van Doe, J", "R. Roe-Poe", "Plato", "O'Neil, Sam", "Müller, A", "王小明", "Doe JW", "Lee, X"]


@given(st.lists(st.lists(st.sampled_from(NAMES), max_size=4), max_size=6), st.sampled_from(sorted(SCHEMES)))
@settings(max_examples=examples(300))
def test_authors_of_many_documents_are_those_of_each(documents: list[list[str]], blocking: str) -> None:
    cache = blocked_names(blocking)
    keys = pa.array([found.key for names in documents for name in names if (found := cache[name])], pa.string())
    number = np.array([len(names) for names in documents], np.int64)
    assert authors_of_documents(keys, number) == [authors_of(names, blocking) for names in documents]


TITLES = [
    "",
    "Editorial",
    "A History of Roman Silver Coins",
    "Letter to the editor: a reply",
    "– ?",
    "Über (−)-Öl in X",
]
Record = tuple[str, int | None, list[str]]


@given(st.lists(st.tuples(st.sampled_from(TITLES), st.sampled_from([None, 2014]), st.lists(st.sampled_from(NAMES)))))
@settings(max_examples=examples(300))
def test_columns_of_digests_are_those_of_single_records(records: list[Record]) -> None:
    authors = [authors_of(names, "auto") for _, _, names in records]
    columns = digest_columns([title for title, _, _ in records], [year for _, year, _ in records], authors)
    found = list(zip(*(column.to_pylist() for column in columns), strict=True))
    assert found == [tuple(digests(title, year, names, "auto")) for title, year, names in records]
    assert [title for title, _, _ in found] == [title_digest(title) for title, _, _ in records]


@pytest.mark.parametrize(("names", "first"), [(["van Doe, J", "Roe, R"], "VANDOE"), (["Plato"], "PLATO"), ([], None)])
def test_the_digest_of_a_work_has_title_year_and_authors(names: list[str], first: str | None) -> None:
    found = digests("A History of Roman Silver Coins", 2014, names, "initials")
    content = b"ahistoryofromansilvercoins 2014 " + authors_of(names, "initials")
    expected = int.from_bytes(blake2b(content, digest_size=8).digest(), "little", signed=True)
    assert found[1:] == (expected if names else None, first)
