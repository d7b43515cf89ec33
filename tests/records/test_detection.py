"""Detection of formats: JSON files are not tried as tagged text or XML."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.io.inputs import Source
from homonym.records import reader
from homonym.records.reader import MODULES, NAMES, detect_format, format_named

MARKS = {
    "wos": "FN Clarivate\\nVR 1.0\\nPT J\\nAU Doe, J\\nER",
    "ris": "TY  - JOUR\\nAU  - Doe, J\\nER  - ",
    "nbib": "PMID- 1\\nFAU - Doe, J",
    "bibtex": "@article{doe, author = {Doe, J}}",
    "pubmed": "<PubmedArticleSet><PubmedArticle>",
    "endnote": "%0 Journal Article\\n%A Doe, J",
}
HEADS = [
    '{"id": "d", "title": %s, "authors": []}\n', '\ufeff \n{ "title" :%s}', "[\n%s]", "[[%s]]", '[{"a": %s}]', "{}%s",
]  # fmt: skip


def test_formats_that_are_left_out_for_json_exist_and_read_no_json() -> None:
    assert set(NAMES) > reader._NOT_JSON
    assert {name for name in NAMES if "json" in MODULES[name]}.isdisjoint(reader._NOT_JSON)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("mark", MARKS.values(), ids=MARKS)
def test_a_file_that_begins_like_json_has_the_format_that_all_formats_find(
    tmp_path: Path, head: str, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text(head % f'"{mark}"', encoding="utf-8")
    with Source(path) as source:
        found = detect_format(source)
    monkeypatch.setattr(reader, "_NOT_JSON", frozenset())
    with Source(path) as source:
        assert detect_format(source) == found


@pytest.mark.parametrize("name", sorted(reader._NOT_JSON))
def test_formats_that_are_left_out_never_accept_the_beginning_of_json(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b'{"title": "a"}\n{"title": "b"}\n')
    with Source(path) as source:
        assert not format_named(name).recognises(source)
