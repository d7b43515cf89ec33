"""The co-authors of authors: the same as the query for them."""

from __future__ import annotations

from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.collection import author_summaries, coauthors
from homonym.collection.author_summaries import _query_partners
from homonym.collection.coauthors import first_partners
from homonym.collection.counting import Queries
from tests.support.profiles import examples

MEMBERS = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=60)


@given(MEMBERS, st.integers(1, 4), st.integers(1, 5), st.integers(1, 40))
@settings(max_examples=examples(200))
def test_partners_are_those_of_the_query(members: set[tuple[int, int]], most: int, largest: int, at_once: int) -> None:
    author, document = np.array(sorted(members), np.int64).reshape(-1, 2).T
    with (
        mock.patch.multiple(author_summaries, MOST=most, MAX_COAUTHORS=largest),
        mock.patch.object(coauthors, "PAIRS_AT_ONCE", at_once),
        duckdb.connect() as connection,
    ):
        connection.register("facts", pa.table({"author": author, "document": document}))
        _query_partners(Queries(connection))
        query = "SELECT author, other, count FROM partners ORDER BY author, count DESC, other"
        expected = connection.sql(query).fetchall()
        found = first_partners(author, document, most, largest)
    assert [tuple(row.values()) for row in found.to_pylist()] == expected
