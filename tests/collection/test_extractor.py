"""A chunk read at once gives what its documents give one after the other, or is left to the reader of single ones."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.collection import parts
from homonym.collection.extractor import Part, tables_at_once
from homonym.collection.parts import Chunk, PartReport
from homonym.records.model import Problem
from homonym.records.parsing.splitting import Raw
from homonym.settings import Settings

DEFAULTS = Settings()
FULL = {
    "id": "W1",
    "title": "Graphs of Zürich",
    "abstract": "The graphs – and the trees.",
    "year": 2014,
    "venue": "JCDL",
    "categories": ["CS", "cs", "–"],
    "keywords": ["Graph Theory"],
    "authors": [
        {"name": "Doe, Jane W.", "affiliations": ["Univ. of Zürich", "ETH"], "emails": ["J@x.org ", "A@y.org"],
         "ids": {"orcid": "0000-0002-1825-0097"}, "author": "a1", "block": "doe j"},
        {"name": "J. W. Doe", "author": ""},
    ],
    "references": ["W0"],
    "referenced_authors": ["Smith, A", "Anna Smith", "et al."],
    "ids": {"doi": "10.1000/x"},
}  # fmt: skip


def chunk(lines: list[bytes]) -> Chunk:
    return Chunk("in.jsonl", 7, [Raw(number, line) for number, line in enumerate(lines, 3)])


def one_by_one(lines: list[bytes], settings: Settings) -> tuple[dict[str, pa.Table], PartReport]:
    part, report = Part(), PartReport()
    for sequence, raw, document in parts._documents(chunk(lines), report, strict=False):
        for reason in part.add_document(document, sequence, raw.number, settings):
            report.add([Problem("in.jsonl", raw.number, "author", reason)], raw)
    return part.tables(7), report


def check(lines: list[bytes], settings: Settings = DEFAULTS) -> bool:
    """Compare both ways; says whether the chunk could be read at once."""
    found = tables_at_once(chunk(lines).raws, 7, settings)
    if found is None:
        return False
    wanted, report = one_by_one(lines, settings)
    assert not report.problems, "what is wrong with a record would not be said"
    assert sorted(found) == sorted(wanted)
    for name, table in wanted.items():
        assert found[name].schema == table.schema
        if name in {"keys", "identifiers"}:  # whose order says nothing
            order = [(column, "ascending") for column in table.column_names]
            assert found[name].sort_by(order) == table.sort_by(order)
        else:
            assert found[name].to_pylist() == table.to_pylist(), name
    return True


@pytest.mark.parametrize("blocking", ["given", "initials", "first-initial", "full-name"])
def test_a_document_with_everything(blocking: Any) -> None:
    settings = Settings(blocking=blocking, year_sigma=1.0, title_weight=2)
    assert check(
        [orjson.dumps(FULL), b' {"id": "W2", "authors": []} ', b'{"id":"W3","authors":[{"name":"Roe, R"}]}'], settings
    )


TEXT = st.text(max_size=8) | st.sampled_from(["Graph", "graphs and trees", "Zürich", "", "–"])
NAME = st.sampled_from(["Doe, Jane", "J. Doe", "DOE J", "王小明", "O'Neil, Þór", "van der Berg, A"])
AUTHOR = st.fixed_dictionaries(
    {"name": NAME},
    optional={
        "affiliations": st.lists(TEXT, max_size=2),
        "emails": st.lists(TEXT, max_size=2),
        "author": st.sampled_from(["", "a1"]) | st.none(),
        "block": st.sampled_from(["", "b"]) | st.none(),
        "ids": st.fixed_dictionaries({}, optional={"orcid": st.just("0000-0002-1825-0097"), "dblp": st.just("x/Y")}),
    },
)
DOCUMENT = st.fixed_dictionaries(
    {"id": st.sampled_from(["W1", "W2", "10"]), "authors": st.lists(AUTHOR, max_size=3)},
    optional={
        "title": TEXT,
        "abstract": TEXT | st.none(),
        "year": st.integers(1990, 1993) | st.none(),
        "venue": TEXT,
        "categories": st.lists(TEXT, max_size=3),
        "keywords": st.lists(TEXT, max_size=2) | st.none(),
        "references": st.lists(st.sampled_from(["W1", "W9"]), max_size=2),
        "referenced_authors": st.lists(NAME, max_size=3),
        "ids": st.fixed_dictionaries({}, optional={"doi": st.just("10.1000/x"), "pmid": st.just("12")}),
        "unknown": st.integers(0, 3),
    },
)


@given(st.lists(DOCUMENT, min_size=1, max_size=5))
@hypothesis_settings(deadline=None, max_examples=200)
def test_usual_documents_are_read_at_once(documents: list[dict[str, Any]]) -> None:
    lines = [json.dumps(document, ensure_ascii=False).encode() for document in documents]
    assert check(lines)


STRANGE = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.lists(TEXT | st.none() | st.integers())
FIELDS = st.sampled_from([*FULL, "other_authors", "mention_id"])


@given(st.lists(DOCUMENT, min_size=1, max_size=3), FIELDS, STRANGE)
@hypothesis_settings(deadline=None, max_examples=300)
def test_strange_fields_are_never_taken_for_usual_ones(documents: list[dict[str, Any]], field: str, value: Any) -> None:
    documents[-1][field] = value
    check([json.dumps(document, ensure_ascii=False).encode() for document in documents])


@given(st.lists(DOCUMENT, min_size=1, max_size=2), st.integers(0, 10**6), st.binary(max_size=3))
@hypothesis_settings(deadline=None, max_examples=300)
def test_damaged_lines_are_never_taken_for_whole_ones(
    documents: list[dict[str, Any]], place: int, damage: bytes
) -> None:
    lines = [json.dumps(document, ensure_ascii=False).encode() for document in documents]
    at = place % len(lines[0])
    lines[0] = lines[0][:at] + damage.replace(b"\n", b" ") + lines[0][at + len(damage) :]
    check(lines)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "1", "authors": [{"name": "Doe, J"}]}{"id": "2", "authors": []}',
        b'{"id": "1", "id": "2", "authors": []}',
        b'{"id": "1", "authors": [{"name": " "}]}',
        b'{"id": "1", "authors": [{"name": "..."}]}',
        b'{"id": "1", "authors": [null]}',
        b'{"id": "1", "authors": ["Doe, J"]}',
        b'{"id": "1", "authors": [], "year": 9999}',
        b'{"id": "1", "authors": [], "year": "2014"}',
        b'{"id": "1", "authors": [], "title": "\xff"}',
        b'{"id": "1", "authors": [], "title": "\\ud800"}',
        b'{"id": "1", "authors": [], "x": NaN}',
        b'{"id": "1", "authors": [], "x": {"y": [{"z": [-Infinity]}]}}',
        b'{"id": "", "authors": []}',
        b'{"id": 1, "authors": []}',
        b'{"authors": []}',
        b'{"id": "1"}',
        b'{"id": "1", "authors": [], "ids": {"doi": ["10.1000/x"]}}',
        b'{"id": "1", "authors": [{"name": "Doe, J", "ids": {"orcid": "none"}}]}',
        b'{"id": "1", "authors": [], "other_authors": ["Doe, J"]}',
        b"null",
        b"{",
    ],
)
def test_what_is_unusual_is_left_to_the_other_reader(line: bytes) -> None:
    assert not check([line])
    assert not check([orjson.dumps(FULL), line])
