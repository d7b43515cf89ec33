"""Headers, JSON objects, cells that are no formulas, and CSV as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.io import table_text
from homonym.io.table_text import (
    csv_text,
    is_separator_hint,
    is_too_deep,
    json_object,
    line_end,
    protected,
    read_header,
    unprotected,
)


@pytest.mark.parametrize(
    ("line", "names", "separator"),
    [
        ("a,b", ("a", "b"), ","),
        ("a;b", ("a", "b"), ";"),
        ("a\tb", ("a", "b"), "\t"),
        ("a|b", ("a", "b"), "|"),
        ("\ufeffa , b\r\n", ("a", "b"), ","),
        ("a,b;c,d", ("a", "b;c", "d"), ","),
        ("a,b;c", ("a", "b;c"), ","),  # in case of a tie the first separator
        ("a,b;c;d", ("a,b", "c", "d"), ";"),
        ("a,b;c;d;e|f|g", ("a,b", "c", "d", "e|f|g"), ";"),
        ('"a;x";b', ("a;x", "b"), ";"),
        ('"a,x,y";"b"', ("a,x,y", "b"), ";"),
        ('"a", "b"', ("a", "b"), ","),
        ("a,,", ("a", "", ""), ","),
    ],
)
def test_the_separator_of_a_header_gives_most_columns(line: str, names: tuple[str, ...], separator: str) -> None:
    assert read_header(line, lambda names: True) == (names, separator)


def test_a_header_has_several_columns_that_are_accepted() -> None:
    assert read_header("a,b,c;d", lambda names: "d" in names) == (("a,b,c", "d"), ";")
    assert read_header("a", lambda names: True) is None
    assert read_header("", lambda names: True) is None
    assert read_header("a,b", lambda names: False) is None
    assert read_header('"a\0,"b"' + "x" * (csv.field_size_limit() + 1) + ",c", lambda names: True) is None


@pytest.mark.parametrize(
    ("head", "end"), [(b"a\nb", b"\n"), (b"a\r\nb", b"\n"), (b"a\rb", b"\r"), (b"a", b"\n"), (b"", b"\n")]
)
def test_line_ends(head: bytes, end: bytes) -> None:
    assert line_end(head) == end


@pytest.mark.parametrize(
    ("line", "expected"),
    [(b"sep=;", True), (b' "SEP=,"\r', True), (b"sep=", False), (b"sep=;;", False), (b"xsep=;", False), (b"a", False)],
)
def test_notes_about_the_separator(line: bytes, expected: bool) -> None:
    assert is_separator_hint(line) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"[" * 50 + b"]" * 50, False),
        (b"[" * 51 + b"]" * 51, True),
        (b'{"a":' * 50 + b"1" + b"}" * 50, False),
        (b'{"a":' * 51 + b"1" + b"}" * 51, True),
        (b'[{"a":' * 25 + b"1" + b"}]" * 25, False),
        (b'[{"a":' * 26 + b"1" + b"}]" * 26, True),
        (b"[" * 51, True),
        (b"[" * 50, False),
        (b"[]" * 99, False),
        (b"[]" + b"[" * 50, False),
        (b"[]" + b"[" * 51, True),
        (b"[]" * 60 + b"]" * 300 + b"[", False),
        (b'["' + b"[" * 99 + b'"]', False),
        (b'["\\"' + b"[" * 99 + b'"]', False),
        (b'["\\\\",' + b"[" * 50 + b"]" * 51, True),
        (b'["\\\\\\"' + b"[" * 99 + b'"]', False),
        (b"]" * 60 + b"[" * 50, False),
        (b"]" * 60 + b"[" * 51, True),
        (b"[" + b"[]," * 60 + b"[" * 49 + b"]" * 50, False),
        (b"[" + b"[]," * 60 + b"[" * 50 + b"]" * 51, True),
    ],
)
def test_json_may_be_nested_fifty_levels_deep(text: bytes, expected: bool) -> None:
    assert is_too_deep(text) is expected


def test_limit_of_nesting_is_named() -> None:
    assert table_text.MAX_DEPTH == 50
    assert table_text.TOO_DEEP == "not valid JSON for a record (nested more than 50 levels deep)"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"[" * 51 + b"]" * 51, r"not valid JSON for a record \(nested more than 50 levels deep\)"),
        (b'{"a": "\xff"}', r"not UTF-8 text \(save the file in that encoding\)"),
        (b'{"a" 1}', r"not valid JSON \(.+ at character 6\)"),
        (b"[1]", "expected a JSON object, got list"),
        (b'"a"', "expected a JSON object, got str"),
    ],
)
def test_reasons_why_a_line_is_no_object(line: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        json_object(line)


def test_objects() -> None:
    assert json_object('{"a": ["é", null]}'.encode()) == {"a": ["é", None]}


# A cell, and what is written for spreadsheets.
CELLS = [(mark + "1", f"'{mark}1") for mark in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")]
CELLS += [("'=1", "''=1"), ("''+1", "'''+1"), ("'a", "'a"), ("a=1", "a=1"), ("", ""), (" =1", " =1"), ("'", "'")]


@pytest.mark.parametrize(("cell", "written"), CELLS)
def test_cells_are_no_formulas(cell: str, written: str) -> None:
    assert protected(cell) == written
    assert unprotected(written) == cell


@given(st.text("'=+a\n", max_size=5))
def test_protection_of_cells_can_be_undone(cell: str) -> None:
    assert unprotected(protected(cell)) == cell


def test_csv_is_quoted_where_it_must_be() -> None:
    rows: list[Sequence[object]] = [["a", 1, None], ["b,c", 'd"e', "f\ng"], ["h\ri", 2, "=j"], [], ("-1", -1)]
    assert csv_text(rows) == 'a,1,\n"b,c","d""e","f\ng"\n"h\ri","2","=j"\n\n-1,-1\n'
    assert csv_text(rows, excel=True) == '\ufeffa,1,\n"b,c","d""e","f\ng"\n"h\ri","2","\'=j"\n\n\'-1,-1\n'
    assert csv_text([]) == ""
    read = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    assert read == [["a", "1", ""], ["b,c", 'd"e', "f\ng"], ["h\ri", "2", "=j"], [], ["-1", "-1"]]
