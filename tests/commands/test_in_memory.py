"""Data in memory in, a Result out: tables of several libraries, wrong types, and what a Result can do."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest

import homonym
from homonym.commands.disambiguate import disambiguate
from homonym.commands.in_memory import Result
from homonym.commands.result import Summary
from homonym.errors import HomonymError
from homonym.io.result_directory import is_result
from homonym.records.formats.documents import parse_document
from homonym.settings import Settings
from tests.support.html_page import Page

LIMIT = Settings(kappa=7, background="none")
ROWS: list[dict[str, Any]] = [
    {"id": "a", "title": "Graph kernels", "year": 2010, "authors": "Doe, Jane; Roe, R"},
    {"id": "b", "title": "Kernels of graphs", "year": 2011, "authors": "Doe, J; Roe, R"},
]
DOCUMENTS = [{**row, "authors": [{"name": name} for name in row["authors"].split("; ")]} for row in ROWS]
BY_AUTHOR = [
    {"paper_id": row["id"], "title": row["title"], "year": row["year"], "author_name": name}
    for row in ROWS
    for name in row["authors"].split("; ")
]


@pytest.fixture(scope="module")
def result() -> Result:
    return disambiguate(DOCUMENTS, settings=LIMIT)


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: DOCUMENTS,
        lambda: ROWS,
        lambda: tuple(BY_AUTHOR),
        lambda: pd.DataFrame(ROWS),
        lambda: pd.DataFrame(BY_AUTHOR),
        lambda: pl.DataFrame(ROWS),
        lambda: pl.DataFrame(DOCUMENTS),
        lambda: pa.Table.from_pylist(BY_AUTHOR),
        lambda: duckdb.from_arrow(pa.Table.from_pylist(ROWS)),
    ],
    ids=["documents", "rows", "authors", "pandas", "pandas-authors", "polars", "polars-nested", "arrow", "duckdb"],
)
def test_all_kinds_of_tables_give_the_same_authors(make: Any, result: Result) -> None:
    found = disambiguate(make(), settings=LIMIT)
    assert isinstance(found, Result)
    assert found.mentions.to_pylist() == result.mentions.to_pylist()
    assert found.authors["name"].to_pylist() == ["Doe, Jane", "Roe, R"]


def test_data_frame_in_and_out_in_four_lines() -> None:
    papers = pd.DataFrame(ROWS)
    authors = homonym.disambiguate(papers, settings=LIMIT).authors.to_pandas()
    assert authors[["name", "documents"]].values.tolist() == [["Doe, Jane", 2], ["Roe, R", 2]]


@pytest.mark.slow
@pytest.mark.parametrize("column", ["author", "author_name", "Who"])
def test_rows_of_authors_may_be_in_any_order(column: str) -> None:
    rows = [
        {"paper_id": f"p{paper}", "title": f"Wine {paper}", column: name}
        for name in ("Doe, Jane", "Roe, Richard", "Poe, Edgar")
        for paper in (3, 1, 2)
    ]
    columns = {"name": "Who"} if column == "Who" else None
    for data in (rows, pd.DataFrame(rows)):
        found = disambiguate(data, settings=Settings(kappa=7), columns=columns)
        assert found.mentions["mention_id"].to_pylist() == [
            f"p{paper}#{position}" for position in (0, 2, 1) for paper in (1, 2, 3)
        ]
        assert found.authors["name"].to_pylist() == ["Doe, Jane", "Poe, Edgar", "Roe, Richard"]


def test_tables_are_arrow_for_every_library(result: Result) -> None:
    assert result.mentions.to_polars().shape == result.mentions.to_pandas().shape == (4, 9)
    assert pl.DataFrame(result.authors).height == len(result.authors) == 2
    assert result.documents.column_names[0] == "document_id"
    again = disambiguate(result.documents, settings=LIMIT)
    assert again.mentions.to_pylist() == result.mentions.to_pylist()


def test_pandas_columns_of_several_types_are_text() -> None:
    table = pd.DataFrame({**pd.DataFrame(ROWS), "pages": [1, "2-3"], "id": ["a", 7]})
    assert disambiguate(table, settings=LIMIT).mentions["document_id"].to_pylist() == ["7", "a", "7", "a"]


def test_of_pandas_columns_with_one_name_the_first_that_is_not_empty_counts() -> None:
    frame = pd.DataFrame(
        [["On x", "Doe, J", "Roe, R"], ["On y", None, "Poe, E"]], columns=["title", "authors", "authors"]
    )
    found = disambiguate(frame, settings=LIMIT).mentions.to_arrow()["name"].to_pylist()
    assert sorted(found) == ["Doe, J", "Poe, E"]


@pytest.mark.slow
def test_missing_values_of_pandas_are_missing_in_dictionaries() -> None:
    rows = [row | {"year": when} for row, when in zip(ROWS, (pd.Timestamp("2010-05-01"), pd.NaT), strict=True)]
    assert disambiguate(rows, settings=LIMIT).documents["year"].to_pylist() == [2010, None]
    documents = [row | {"year": pd.Timestamp("2010-05-01"), "venue": pd.NA} for row in DOCUMENTS]
    assert disambiguate(documents, settings=LIMIT).documents["year"].to_pylist() == [2010, 2010]


@pytest.mark.slow
def test_columns_of_types_that_parquet_lacks_are_text() -> None:
    rows = duckdb.from_arrow(pa.table({"id": ["a"], "authors": ["Doe, J"]}))
    odd = rows.project("*, INTERVAL 1 DAY AS age, union_value(n := 1) AS other")
    assert disambiguate(odd, settings=LIMIT).mentions["mention_id"].to_pylist() == ["a#0"]
    years = pa.RunEndEncodedArray.from_arrays([2], [2010])
    table = pa.table({"id": ["a", "b"], "authors": ["Doe, J", "Roe, R"], "year": years})
    assert disambiguate(table, settings=LIMIT).documents["year"].to_pylist() == [2010, 2010]


def test_data_with_output_is_written(tmp_path: Path) -> None:
    done = disambiguate(pd.DataFrame(ROWS), tmp_path / "authors.csv", LIMIT)
    assert isinstance(done, Summary)
    assert (tmp_path / "authors.csv").exists()


def test_path_without_output_gives_a_result(tmp_path: Path, result: Result) -> None:
    path = tmp_path / "a.csv"
    path.write_text(pd.DataFrame(ROWS).to_csv(index=False))
    assert disambiguate(path, settings=LIMIT).mentions.to_pylist() == result.mentions.to_pylist()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (5, "expected paths, a list of dictionaries, or a table .* but got an object of the type int"),
        (None, "type NoneType"),
        (b"a.bib", "type bytes"),
        ({"a": 1}, "type dict; put it in a list"),
        ([1], r"but got a list with an object of the type int \(entry 1\)"),
        ([{"id": "a"}, "b.bib"], r"but got a list with an object of the type str \(entry 2\)"),
        ([{"id": "a"}, None], r"but got a list with an object of the type NoneType \(entry 2\)"),
        (["b.bib", {"id": "a"}], r"but got a list with an object of the type dict \(entry 2\)"),
        ((row for row in ROWS), r"type generator; wrap it in list\(…\)"),
        ([], "expected paths, .* but the list is empty"),
        ([{}], "no column is recognised as authors"),
        (pd.DataFrame({"x": [1]}), "the data: no column is recognised as authors; it has 'x'"),
        ([{"id": "a", "authors": [{"name": "\ud800"}]}], "document 1 cannot be written as JSON"),
        ([{"id": "a", "authors": "\ud800"}], "the values of 'authors' cannot be a column"),
        ([{"id": "a", "authors": [object()]}], "document 1 cannot be written as JSON"),
    ],
)
def test_wrong_types_get_one_sentence(wrong: Any, message: str) -> None:
    with pytest.raises(HomonymError, match=message) as caught:
        disambiguate(wrong, settings=LIMIT)
    assert "\n" not in str(caught.value)
    assert "/tmp" not in str(caught.value)


def test_result_exports_evaluates_and_saves(result: Result, tmp_path: Path) -> None:
    result.export("bibtex", tmp_path / "a.bib")
    assert "Doe, Jane and Roe, R" in (tmp_path / "a.bib").read_text()
    gold = result.mentions.to_arrow().select(["mention_id", "author_id"]).rename_columns(["mention_id", "author"])
    assert result.evaluate(gold).as_dict()["bcubed"]["f1"] == 1
    assert result.save(tmp_path / "kept") == tmp_path / "kept"
    assert is_result(tmp_path / "kept")
    for name in ("mentions.parquet", "authors.parquet", "documents.parquet", "settings.toml", "run.json"):
        assert (tmp_path / "kept" / name).read_bytes() == (result.directory / name).read_bytes()
    with pytest.raises(HomonymError, match="has a suffix, but a result is a directory"):
        result.save(tmp_path / "kept.csv")
    with pytest.raises(HomonymError, match="labels are files, or a table"):
        result.evaluate(5)  # type: ignore[arg-type]


def test_labels_may_be_a_list_of_dictionaries(result: Result) -> None:
    rows = result.mentions.to_pylist()
    labels = [{"mention_id": row["mention_id"], "author": row["author_id"]} for row in rows]
    assert result.evaluate(labels).bcubed.f1 == 1
    assert result.evaluate(pl.DataFrame(labels)).mentions == len(rows)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda result: result.explain(5),
            "what must be a name, a mention id or an author id, but is",
        ),
        (lambda result: result.explain("Doe, J", 5), "other must be a name"),
        (lambda result: result.explain("Nobody, Xaver"), "^the result has no name, mention id or author id"),
        (lambda result: result.export("csv", 5), "output must be a path, but is an object of the type int"),
        (lambda result: result.export(None, "x.csv"), "to must be the name of a tool, such as 'csv'"),
        (lambda result: result.save(5), "path must be a path"),
        (lambda result: homonym.update(result, ROWS), "result must be the path of a result directory, but is an obj"),
        (lambda result: homonym.explain(result, "Doe, J"), "result must be the path of a result directory"),
        (lambda result: homonym.update(result.directory, remove=[3]), "remove must be ids of documents, but is an obj"),  # type: ignore[list-item]
        (lambda result: homonym.decide(result.directory, "same", "a#0", "b#0", reason=None), "reason must be a text"),  # type: ignore[arg-type]
        (lambda result: homonym.decide(result.directory, "same", 1, "b#0", reason="x"), "a must be a text"),  # type: ignore[arg-type]
        (
            lambda result: result.evaluate([{"mention_id": "a#0", "author": ["x"]}]),
            "the column author has lists; a men",
        ),
        (lambda result: result.evaluate(pd.DataFrame({"x": [1]})), "^the table of labels has the columns x; expected"),
        (lambda _: disambiguate([{"id": "a"}], settings={"kappa": 7}), "settings must be a value of the class"),  # type: ignore[call-overload]
        (lambda _: disambiguate([{"id": "a"}], columns="Names"), "columns must be a dictionary such as"),  # type: ignore[call-overload]
        (lambda _: disambiguate(pd.DataFrame()), "it has no columns. Name the columns"),
        (lambda _: disambiguate([{"id": "a"}], Settings(kappa=7)), r"output must be a path \(pass settings by name"),  # type: ignore[call-overload]
        (lambda _: disambiguate(pl.LazyFrame({"x": [1]})), r"LazyFrame; call its method collect\(\) first"),  # type: ignore[call-overload]
    ],
)
def test_wrong_arguments_get_one_sentence(call: Any, message: str, result: Result) -> None:
    with pytest.raises(HomonymError, match=message) as found:
        call(result)
    assert "\n" not in str(found.value)


@pytest.mark.slow
def test_problems_name_the_data_and_no_private_file(tmp_path: Path) -> None:
    rows = pd.DataFrame({"id": [1, 1], "name": ["Doe, J", "Roe, R"], "title": "On x", "year": [2001, 2002]})
    expected = "the data, record 1: the rows of the document differ in year: '2001' is used, not '2002'"
    for summary in (disambiguate(rows, settings=LIMIT).summary, disambiguate(rows, tmp_path / "out", LIMIT)):
        assert [str(one).partition(";")[0] for one in summary.problems.first] == [expected]


def test_labels_may_name_documents_and_positions(result: Result) -> None:
    rows = [
        {"document_id": row["document_id"], "position": row["position"], "author": row["author_id"]}
        for row in result.mentions.to_pylist()
    ]
    for gold in (rows, pd.DataFrame(rows), pl.DataFrame(rows)):
        assert result.evaluate(gold).bcubed.f1 == 1


@pytest.mark.slow
def test_files_are_removed_with_the_result() -> None:
    found = disambiguate(DOCUMENTS, settings=LIMIT)
    folder = found.directory.parent
    assert folder.exists()
    del found
    gc.collect()
    assert not folder.exists()


def test_notebook_view_is_escaped() -> None:
    names = ["<script>alert(1)</script>, A", "Doe & Sons, B"]
    found = disambiguate([{"id": "<x>", "title": "On x", "authors": names}], settings=LIMIT)
    page = Page(found._repr_html_())
    assert "script" not in page.tags
    assert names[0] in page.text
    assert repr(found) == "Result(2 authors, 2 mentions, 1 document)"


def test_documents_keep_every_field() -> None:
    document = {"id": "a", "title": "On x", "authors": [{"name": "Doe, J", "ids": {"orcid": "0000-0002-1825-0097"}}],
                "references": ["b"], "keywords": ["k"], "other_authors": ["Roe, R"]}  # fmt: skip
    found = disambiguate([document], settings=LIMIT)
    parsed = parse_document(found.documents["record"][0].as_py().encode())[0]
    assert (parsed.references, parsed.keywords, parsed.other_authors) == (["b"], ["k"], ["Roe, R"])


@pytest.mark.parametrize(("also", "linked"), [(["f@x.org"], None), ([], "same:email")])
def test_an_address_of_several_authors_of_a_document_identifies_none_of_them(
    also: list[str], linked: str | None
) -> None:
    documents = [
        {"id": f"W{i}", "authors": [{"name": "Feng, X", "emails": also}, {"name": "Wang, Xun", "emails": ["F@x.org"]}]}
        for i in range(2)
    ]
    rows = disambiguate(documents, settings=LIMIT).mentions.to_pylist()
    assert {row["constraint"] for row in rows if row["name"] == "Wang, Xun"} == {linked}
