"""JSON objects that have a key twice: parsers silently take the last value, so the record is rejected."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.records.formats.documents import StoredLines, parse_document
from homonym.records.model import BrokenRecordError
from tests.support.command import homonym_command
from tests.support.profiles import examples

SOUND = '{"id": "W%d", "title": "a \\"b\\": c", "authors": [{"name": "Doe, J"}]}'
REPEATED = {
    "authors": '{"id": "W7", "authors": [{"name": "Doe, J"}], "authors": [{"name": "Roe, K"}]}',
    "name": '{"id": "W7", "authors": [{"name": "Doe, J", "name": "Roe, K"}]}',
    "id": '{"id": "W7", "id": "W8", "authors": [{"name": "Doe, J"}]}',
    "orcid": '{"id": "W7", "authors": [{"name": "Doe, J", "ids": {"orcid": "", "orcid": ""}}]}',
    "title": '{"id" : "W7", "title": "x", "authors": [{"name": "Doe, J"}], "title": "D&eacute;cor"}',
    "year": '{"id"\t:"W7","year":2001,"authors":[{"name":"Doe, J"}],"year":2002}',
}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["disambiguate", "convert", "extract"])
@pytest.mark.parametrize("key", REPEATED)
def test_rejects_a_document_with_a_repeated_key(tmp_path: Path, key: str, command: str) -> None:
    lines = [SOUND % number for number in range(6)]
    (tmp_path / "in.jsonl").write_text("\n".join([*lines[:3], REPEATED[key], *lines[3:]]))
    output = "out.csv" if command == "disambiguate" else "out.jsonl"
    more = ["--kappa", "5"] if command == "disambiguate" else []
    ended = homonym_command(command, "in.jsonl", "-o", output, "--rejects", "no.jsonl", *more, cwd=tmp_path)
    assert ended.returncode == 0
    assert f"in.jsonl, line 4: '{key}' is given twice in one object; this record was rejected." in ended.stderr
    assert json.loads((tmp_path / "no.jsonl").read_text())["text"] == REPEATED[key]
    assert "W7" not in (tmp_path / output).read_text()
    assert "W5" in (tmp_path / output).read_text()


def test_rejects_a_mention_with_a_repeated_key(tmp_path: Path) -> None:
    mention = '{"mention_id": "m%d", "name": "Doe, J", "features": {"w": {"x": 1, %s}}}'
    lines = [mention % (1, '"y": 2'), mention % (2, '"x": 2'), mention % (3, '"z": 1')]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    ended = homonym_command("cluster", "in.jsonl", "-o", "out.csv", "--kappa", 5, cwd=tmp_path)
    assert "in.jsonl, line 2: 'x' is given twice in one object; this record was rejected." in ended.stderr
    with (tmp_path / "out.csv").open() as stream:
        assert [row["mention_id"] for row in csv.DictReader(stream)] == ["m1", "m3"]


def test_reading_notices_a_second_list_of_authors() -> None:
    with pytest.raises(BrokenRecordError, match="'authors' is given twice"):
        parse_document(REPEATED["authors"].encode())


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.text('a":\\ \t', max_size=4) | st.integers(0, 9), lambda inner: st.lists(inner, max_size=2), max_leaves=4
)
OBJECTS = st.recursive(
    st.lists(st.tuples(st.sampled_from("abc"), VALUES), max_size=3),
    lambda inner: st.lists(st.tuples(st.sampled_from("abc"), inner | VALUES), max_size=3),
    max_leaves=6,
)


def written(pairs: Any, separator: str) -> str:
    """JSON of an object that is given as a list of pairs, and so can have a key twice."""
    if isinstance(pairs, list) and all(isinstance(pair, tuple) for pair in pairs):
        return "{" + ",".join(f'"{key}"{separator}{written(value, separator)}' for key, value in pairs) + "}"
    return json.dumps(pairs)


def repeats(pairs: Any) -> bool:
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        return False
    return len({key for key, _ in pairs}) < len(pairs) or any(repeats(value) for _, value in pairs)


@settings(max_examples=examples(500))
@given(OBJECTS, st.sampled_from([":", ": ", " : ", "\t:"]))
def test_exactly_the_objects_with_a_repeated_key_are_rejected(pairs: Any, separator: str) -> None:
    line = '{"id": "W1", "authors": [], "other": ' + written(pairs, separator) + "}"
    if repeats(pairs):
        with pytest.raises(BrokenRecordError, match="is given twice"):
            StoredLines().parse(line.encode())
    else:
        StoredLines().parse(line.encode())
