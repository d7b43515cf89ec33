"""Deeply nested JSON, XML and BibTeX: the record is rejected with its place, its neighbours are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.errors import InputError
from homonym.io.table_text import MAX_DEPTH, is_too_deep
from homonym.io.tables import open_table
from homonym.records.reader import read_documents
from tests.support.command import homonym_process
from tests.support.profiles import examples

DEPTHS = [MAX_DEPTH + 1, 600, 5_000, 100_000]


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    return opening * depth + "1" + closing * depth


def document(number: int, more: str = "") -> str:
    return f'{{"id": "W{number}", "title": "On x", "authors": [{{"name": "Doe, J"}}]{more}}}'


def read(path: Path, content: str, name: str | None = None) -> list[str]:
    """The ids of documents, and the reasons of rejected records, in order."""
    path.write_text(content)
    return [found.id if found else problems[0].reason for _, found, problems in read_documents(path, name)]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("form", ["lines", "list"])
@pytest.mark.parametrize("is_first", [False, True])
def test_rejects_nested_json_and_keeps_neighbours(
    tmp_path: Path, depth: int, brackets: tuple[str, str], form: str, is_first: bool
) -> None:
    deep = document(2, f', "other": {nested(depth, *brackets)}')
    records = [deep, document(1), document(3)] if is_first else [document(1), deep, document(3)]
    content = "\n".join(records) if form == "lines" else f"[{','.join(records)}]"
    found = read(tmp_path / "a.json", content, "documents")
    assert [entry for entry in found if "nested" not in entry] == ["W1", "W3"]
    assert len(found) == 3


@pytest.mark.parametrize("is_first", [False, True])
def test_finds_the_next_record_after_brackets_that_are_never_closed(tmp_path: Path, is_first: bool) -> None:
    deep = '{"id": "W2", "title": "x", "other": ' + '{"a":' * 300
    records = [deep, document(1), document(3)] if is_first else [document(1), deep, document(3)]
    found = read(tmp_path / "a.json", f"[{','.join(records)}]", "documents")
    assert [entry for entry in found if "nested" not in entry] == ["W1", "W3"]


def test_brackets_in_strings_do_not_count() -> None:
    assert not is_too_deep(json.dumps({"title": "[" * 1000, "b": '\\"[' * 500}).encode())
    assert is_too_deep(('{"a": "}]", "b": ' * (MAX_DEPTH + 1)).encode())


@pytest.mark.parametrize("depth", [0, 1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1])
def test_depth_is_exact_among_many_siblings(depth: int) -> None:
    text = f"[{','.join([nested(max(0, depth - 1))] * 200)}]" if depth else "1"
    assert is_too_deep(text.encode()) == (depth > MAX_DEPTH)


STRINGS = st.text('ab[]{}"\\,:\n', max_size=6)
VALUES = st.recursive(
    st.integers(0, 9) | STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRINGS, inner, max_size=3),
    max_leaves=20,
)


def depth_of(value: Any) -> int:
    if isinstance(value, list | dict):
        return 1 + max(map(depth_of, value.values() if isinstance(value, dict) else value), default=0)
    return 0


@given(VALUES, st.integers(MAX_DEPTH - 8, MAX_DEPTH + 2), STRINGS)
@settings(max_examples=examples(200))
def test_depth_is_that_of_the_parsed_value(value: Any, levels: int, name: str) -> None:
    for level in range(levels):
        value = [name, value, name] if level % 2 else {name: value, name + "x": [name]}
    assert is_too_deep(json.dumps(value).encode()) == (depth_of(value) > MAX_DEPTH)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [600, 100_000])
def test_disambiguate_ends_without_a_signal(tmp_path: Path, depth: int) -> None:
    """Arrow's JSON reader crashed."""
    deep = document(2, f', "other": {nested(depth)}')
    (tmp_path / "a.jsonl").write_text(f"{document(1)}\n{deep}\n{document(3)}\n")
    (tmp_path / "b.jsonl").write_text(document(4, f', "other": {nested(depth)}') + "\n" + document(5) + "\n")
    done = homonym_process("disambiguate", tmp_path / "a.jsonl", tmp_path / "b.jsonl", "-o", tmp_path / "o.csv")
    assert done.returncode == 0, done.stderr
    assert "b.jsonl, line 1: not valid JSON for a record (nested more than 50 levels deep)" in done.stderr
    assert "Rejected: 2 records" in done.stderr


@pytest.mark.slow
def test_mentions_and_tables_name_the_line(tmp_path: Path) -> None:
    mention = '{"mention_id": "%s", "name": "Doe, J", "features": {}%s}\n'
    content = mention % ("a", "") + mention % ("b", f', "x": {nested(5000)}') + mention % ("c", "")
    (tmp_path / "m.jsonl").write_text(content)
    done = homonym_process("cluster", tmp_path / "m.jsonl", "-o", tmp_path / "o.csv")
    assert done.returncode == 0, done.stderr
    assert "m.jsonl, line 2: not valid JSON for a record" in done.stderr
    with (
        pytest.raises(InputError, match="line 2: not valid JSON"),
        open_table(tmp_path / "m.jsonl", "mention_id") as table,
    ):
        list(table.batches(["mention_id"]))


@pytest.mark.parametrize("depth", [1000, 100_000])
def test_nested_xml_is_rejected(tmp_path: Path, depth: int) -> None:
    article = "<PubmedArticle><MedlineCitation><PMID>{}</PMID><Article><ArticleTitle>{}</ArticleTitle></Article>"
    article += "</MedlineCitation></PubmedArticle>"
    texts = ["x", nested(depth, "<i>", "</i>"), "y"]
    content = "".join(article.format(number, text) for number, text in enumerate(texts, 1))
    found = read(tmp_path / "a.xml", f"<PubmedArticleSet>{content}</PubmedArticleSet>")
    assert (found[0], found[2]) == ("1", "3")
    assert "Excessive depth" in found[1]


@pytest.mark.parametrize("braces", [("{", "}"), ("\\emph{", "}"), ("$", "$"), ("\\'", "")])
def test_nested_bibtex_is_read(tmp_path: Path, braces: tuple[str, str]) -> None:
    entry = "@article{%s, author = {Doe, J}, title = {%s}}\n"
    content = entry % ("a", nested(20_000, *braces)) + entry % ("b", "y")
    assert read(tmp_path / "a.bib", content)[-1] == "b"
