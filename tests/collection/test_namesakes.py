"""The expected number of other people with the same full name, against a literal computation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from homonym.collection import counting
from homonym.collection.layout import SLOT_BITS
from tests.collection.test_collection import collect, parquet, written

full_names = st.none() | st.builds(
    "{}|{}".format, st.sampled_from(["DOE", "VAN DER BERG", "LI"]), st.text("AB", min_size=2)
)


def literal(names: list[str | None]) -> dict[str, float]:
    distinct = [name.split("|") for name in set(names) - {None} if name]
    return {
        f"{surname}|{given}": (sum(s == surname for s, _ in distinct) - 1) * (sum(g == given for _, g in distinct) - 1)
        / len(distinct)
        for surname, given in distinct
    }  # fmt: skip


@given(st.lists(full_names), st.sets(st.integers(0, 5)))
def test_namesakes_agree_with_a_literal_computation(names: list[str | None], duplicates: set[int]) -> None:
    sequence = np.arange(len(names)) // 2  # two mentions of each document
    with duckdb.connect() as connection:
        owner = sequence << SLOT_BITS | 1
        connection.register("mentions", pa.table({"owner": owner, "full_name": pa.array(names, pa.string())}))
        connection.register("duplicates", pa.table({"sequence": pa.array(sorted(duplicates), pa.int64())}))
        counting.count_namesakes(connection)
        found = dict(connection.execute("SELECT full_name, namesakes FROM namesakes").fetchall())
    assert found == literal([name for name, of in zip(names, sequence, strict=True) if of not in duplicates])


def named(*names: str | None) -> list[dict[str, Any]]:
    return [
        {"mention_id": f"m{i}", "block": "B", "features": {"co": {"x": 1.0}}} | ({"name": name} if name else {})
        for i, name in enumerate(names)
    ]


NAMES = ["Doe, Jane", "Doe, Jane W.", None, "Doe, John", "Roe, John", "Roe, J.", "...", "Poe, Jane"]
EXPECTED = [
    ("DOE|JANE", 0.25), ("DOE|JANE", 0.25), (None, None), ("DOE|JOHN", 0.25), ("ROE|JOHN", 0.0), (None, None),
    (None, None), ("POE|JANE", 0.0),
]  # fmt: skip


def names_in(rows: list[dict[str, Any]]) -> list[tuple[str | None, float | None]]:
    return [(row["full_name"], row["namesakes"]) for row in rows]


def test_mentions_with_bags_have_full_names_if_they_have_names(tmp_path: Path) -> None:
    path = written(tmp_path, named(*NAMES))
    assert names_in(collect(path, mentions=True).mentions) == EXPECTED
    table = parquet(tmp_path, named(*NAMES))
    assert names_in(collect(table, mentions=True).mentions) == EXPECTED


def test_repeated_mentions_do_not_count(tmp_path: Path) -> None:
    again = named(*NAMES)[0] | {"name": "Doe, Jill"}
    assert names_in(collect(written(tmp_path, [*named(*NAMES), again]), mentions=True).mentions) == EXPECTED
