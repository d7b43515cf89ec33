"""Paths with unusual characters: shown as escapes, printed as they are, and handed to libraries by a link."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from homonym.errors import InputError
from homonym.io.paths import discard_output, plain_path, print_any_name, printable, require_utf8


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a\x1fb c", "a\\x1fb c"),
        ("\x00\x7f~", "\\x00\\x7f~"),
        ("\x80\x9f\xa0", "\\x80\\x9f\xa0"),
        ("\u2027\u2028\u2029\u202a", "\u2027\\u2028\\u2029\u202a"),
        ("\udc80\udcff", "\\x80\\xff"),
        ("\udc7f\udd00", "\\udc7f\\udd00"),
        ("\ud7ff\ud800\udfff\ue000", "\ud7ff\\ud800\\udfff\ue000"),
        ("a\tb\r\n", "a\\tb\\r\\n"),
    ],
)
def test_unprintable_characters_of_a_path_are_escaped(path: str, shown: str) -> None:
    assert printable(path) == shown


@pytest.mark.parametrize("letter", [*"\ud800\udcff\udfff"])
def test_a_path_that_is_not_utf_8_cannot_be_changed(letter: str) -> None:
    require_utf8("a\ud7ff\ue000")
    with pytest.raises(InputError, match=r"^the path a(\\x|\\u).* is not UTF-8, .*LC_ALL=C\.UTF-8\)\.$"):
        require_utf8(f"a{letter}")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\udc80\udcffb", b"a\x80\xffb"),
        ("\udc7f\udd00", b"??"),
        ("\u00e9\u4e2d", b"\xe9?"),
        ("\udc81\u4e2d", b"\x81?"),
    ],
)
def test_names_of_files_are_printed_as_they_are_in_any_encoding(text: str, written: bytes) -> None:
    content = io.BytesIO()
    stream = io.TextIOWrapper(content, encoding="latin-1")
    print_any_name(stream)
    stream.write(text)
    stream.flush()
    assert content.getvalue() == written


def test_only_writing_is_made_tolerant() -> None:
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("utf-8", errors="homonym-names")
    print_any_name(io.StringIO())  # has no encoding


def test_output_that_cannot_be_written_is_dropped(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w") as stream:
        stream.write("kept")
        stream.flush()
        discard_output(stream)
        stream.write("dropped")
    assert (tmp_path / "a").read_text() == "kept"
    discard_output(io.StringIO())  # has no file
    discard_output(stream)  # is closed


@pytest.mark.parametrize("name", ["a b.csv", "ä.csv", "a~.csv", "a,b;c=d&(e)#%.csv", "a\x80.csv"])
def test_an_ordinary_path_is_used_itself(tmp_path: Path, name: str) -> None:
    with plain_path(tmp_path / name) as path:
        assert path == tmp_path / name


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
@pytest.mark.parametrize("mark", [*"[]*?{}\\'\":", "\x01", "\x1f", "\x7f", "\udcff"])
def test_libraries_get_a_link_to_a_path_that_they_misread(tmp_path: Path, mark: str) -> None:
    (tmp_path / f"a{mark}.csv").write_text("content")
    with plain_path(tmp_path / f"a{mark}.csv") as path:
        assert (path.name, path.read_text()) == ("link.csv", "content")
        assert path.parent.name.startswith("homonym-link-")
    assert not os.path.lexists(path.parent)
    with plain_path(tmp_path / f"a.c{mark}") as path:
        assert path.name == "link"


def test_a_relative_path_gets_a_link_to_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("~a.csv").write_text("content")
    with plain_path(Path("~a.csv")) as path:
        assert path.read_text() == "content"
    with plain_path(tmp_path / "~a.csv") as path:
        assert path == tmp_path / "~a.csv"
