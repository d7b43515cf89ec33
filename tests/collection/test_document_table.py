"""The table of documents: the same whether Arrow reads the records at once or they are parsed one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.collection import document_table
from homonym.collection.document_table import CHOSEN, WrittenAffiliations, document_rows
from homonym.schema import DOCUMENTS
from tests.support.profiles import examples

TEXTS = st.text(st.sampled_from('aZ é,"\\\n文\u0000'), max_size=4)
NAMES = st.sampled_from(
    ["Doe, J", "Müller, Ä.", "文", " x", "WHO Team", "Planck Collaboration: J. Doe", "Doe, Jane1 (AUTHOR) jane@x.org"]
)
USUAL_AUTHORS = st.fixed_dictionaries(
    {"name": NAMES}, optional={"affiliations": st.lists(TEXTS, max_size=2), "author": TEXTS, "emails": st.just(["a@b"])}
)
UNUSUAL_AUTHORS = st.sampled_from(
    ["Doe, J", None, {"name": ""}, {"name": "\u3000\u00a0 "}, {"name": 7}, {"name": "A", "affiliations": "MIT"}, {}]
)
IDS = st.dictionaries(st.sampled_from(["doi", "pmid", "wos"]), st.sampled_from(["10.1000/1", "77", ""]))


def documents(authors: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"id": st.sampled_from(["a", "b#1"]), "authors": st.lists(authors, max_size=3)},
        optional={"title": TEXTS, "venue": TEXTS, "year": st.just(2001), "ids": IDS, "unknown": st.just({"x": [1]})},
    )


def chosen(texts: list[bytes], **columns: Any) -> pa.Table:
    ids = [orjson.loads(text)["id"] for text in texts]
    values = {"document_id": ids, "id": ids, "year": [None] * len(ids), "text": texts}
    values |= {name: [None] * len(ids) for name in ("keys", "record_ids", "cited")} | columns
    return pa.table(values, schema=CHOSEN)


@given(st.lists(documents(USUAL_AUTHORS) | documents(USUAL_AUTHORS | UNUSUAL_AUTHORS), min_size=1, max_size=4))
@settings(max_examples=examples(300))
def test_one_by_one_and_all_at_once_are_the_same(records: list[dict[str, Any]]) -> None:
    texts = [orjson.dumps(record) + b"\n" for record in records]
    together = document_rows(chosen(texts))
    parsed = [document_table._parsed_fields(pa.array([text.decode().strip()])) for text in texts]
    for name in ("title", "venue", "authors"):
        expected = [value for fields in parsed for value in fields[name].to_pylist()]
        assert together[name].to_pylist() == expected
    assert together.schema.equals(DOCUMENTS)
    assert together["record"].to_pylist() == [text.decode().strip() for text in texts]


def test_usual_records_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(document_table, "_parsed_fields")
    record = {"id": "a", "title": "On", "authors": [{"name": "Doe, J", "affiliations": ["MIT"]}, {"name": "Roe, R"}]}
    (row,) = document_rows(chosen([orjson.dumps(record)], keys=[["doi:10.1000/1:2", "pmid:77"]])).to_pylist()
    assert row["authors"] == [
        {"position": 0, "name": "Doe, J", "affiliations": ["MIT"]},
        {"position": 1, "name": "Roe, R", "affiliations": []},
    ]
    assert row["ids"] == [{"kind": "doi", "id": "10.1000/1:2"}, {"kind": "pmid", "id": "77"}]
    assert (row["title"], row["venue"], row["record_ids"]) == ("On", None, ["a"])


def test_records_get_the_ids_of_the_result() -> None:
    record = {"id": "a", "authors": [], "references": ["b", "c", "b"], "more": 1}
    table = chosen([orjson.dumps(record)], document_id=["a~1"], record_ids=[["a", "z"]], cited=[["b", "B", "b", "B2"]])
    (row,) = document_rows(table).to_pylist()
    assert orjson.loads(row["record"]) == record | {"id": "a~1", "references": ["B", "B", "B2", "B2", "c"]}
    assert row["record_ids"] == ["a", "z"]


WRITTEN = st.lists(
    st.lists(st.lists(st.sampled_from(["MIT", "Ünï", "a", "", "文"]), max_size=3), max_size=3), max_size=6
)


@given(WRITTEN, st.integers(1, 3))
@settings(max_examples=examples(100))
def test_affiliations_are_read_with_row_position_and_text(
    tmp_path_factory: pytest.TempPathFactory, written: list[list[list[str]]], rows_at_once: int
) -> None:
    path: Path = tmp_path_factory.mktemp("documents") / "documents.parquet"
    rows = [
        {
            "document_id": str(row),
            "record": "",
            # The positions of authors may have gaps.
            "authors": [{"position": 2 * n, "name": "A", "affiliations": one} for n, one in enumerate(authors)],
        }
        for row, authors in enumerate(written)
    ]
    pq.write_table(pa.Table.from_pylist(rows, DOCUMENTS), path, row_group_size=2)
    with mock.patch.object(document_table, "_ROWS_AT_ONCE", rows_at_once):
        found = WrittenAffiliations.read(path)
    expected = [
        (row, 2 * n, text) for row, authors in enumerate(written) for n, one in enumerate(authors) for text in one
    ]
    texts = found.texts.to_pylist()
    assert texts == sorted({text for _, _, text in expected})
    entries = zip(*found.entries.to_pydict().values(), strict=True)
    assert [(row, at, texts[number]) for row, at, number in entries] == expected
