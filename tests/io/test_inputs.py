"""Inputs: decompression, decoding, directories and patterns, and limits on size."""

from __future__ import annotations

import bz2
import codecs
import errno
import gzip
import io
import os
import re
import stat
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.errors import InputError
from homonym.io import inputs
from homonym.io.inputs import BLOCK_BYTES, Source, expand
from homonym.io.result_directory import DOCUMENTS, MARKER, MARKER_TEXT
from homonym.records.parsing.splitting import decoded, split_at

TEXT = "".join(f"AU Müller, J{i}\n" for i in range(20_000))


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, codec="zstd", asbytes=True))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes, "gzip": gzip.compress, "bz2": bz2.compress, "zstd": zstd,
    "two gzip members": lambda content: gzip.compress(content[:1000]) + gzip.compress(content[1000:]),
    "two zstd frames": lambda content: zstd(content[:1000]) + zstd(content[1000:]),
}  # fmt: skip


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_reads_every_compression_and_encoding(tmp_path: Path, packer: str, encoding: str) -> None:
    path = tmp_path / "records"
    path.write_bytes(PACKERS[packer](TEXT.encode(encoding)))
    with Source(path) as source:
        assert TEXT.encode().startswith(source.head[:1000])
        assert b"".join(source.blocks()) == TEXT.encode()
        assert source.position == path.stat().st_size


@pytest.mark.parametrize("declared", ["ISO-8859-1", "windows-1252", "utf-16"])
def test_uses_the_encoding_that_xml_declares(tmp_path: Path, declared: str) -> None:
    text = f"<?xml version='1.0' encoding=\"{declared}\"?><author>Müller</author>"
    (tmp_path / "a.xml").write_bytes(text.encode(declared))
    with Source(tmp_path / "a.xml") as source:
        assert "Müller".encode() in source.head


@pytest.mark.parametrize("packer", ["gzip", "bz2", "zstd"])
def test_rejects_truncated_compression_with_the_line(tmp_path: Path, packer: str) -> None:
    packed = PACKERS[packer](TEXT.encode())
    (tmp_path / "a").write_bytes(packed[: len(packed) // 2])
    with (
        pytest.raises(
            InputError,
            match=r"a: the compressed data is truncated or damaged after line \d+ .* download the file again",
        ),
        Source(tmp_path / "a") as source,
    ):
        list(source.blocks())


def test_damage_is_behind_the_last_line_that_was_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(b"a\nb\nc") + b"\x1f\x8b damaged")
    with (
        pytest.raises(InputError, match=r"a: the compressed data is truncated or damaged after line 2 \("),
        Source(tmp_path / "a"),
    ):
        pass


def test_rejects_archives_of_several_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(InputError, match="extract it"), Source(tmp_path / "a.zip"):
        pass


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("a.xlsx", b"PK\x03\x04", "a.xlsx is a ZIP archive or a spreadsheet, and damaged"),
        ("savedrecs.xls", b"\xd0\xcf\x11\xe0\xa1", "open it and save it as XLSX or CSV"),
    ],
)
def test_rejects_spreadsheets_with_advice(tmp_path: Path, name: str, content: bytes, advice: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=advice), Source(tmp_path / name):
        pass


def test_stops_decompression_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "UNCHECKED_BYTES", 1 << 20)
    (tmp_path / "bomb").write_bytes(zstd(b"0" * (64 << 20)))
    with (
        pytest.raises(InputError, match="decompresses to more than 2,000 times its size"),
        Source(tmp_path / "bomb") as source,
    ):
        for _ in source.blocks():
            pass


def test_marks_endless_lines_as_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_RECORD_BYTES", 3 << 20)
    (tmp_path / "long").write_bytes(b"x" * (20 << 20) + b"\nnext\n")
    with Source(tmp_path / "long") as source:
        first, second = source.lines()
    assert first == (1, b"x" * 1000, inputs.TOO_LONG)
    assert second == (2, b"next", "")


def test_a_directory_that_cannot_be_read_is_an_error_and_a_vanished_one_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.ris").touch()
    scan = os.scandir

    def scandir(folder: str) -> Iterator[os.DirEntry[str]]:
        if str(folder).endswith("sub"):
            raise failure
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    failure: OSError = FileNotFoundError(errno.ENOENT, "No such file or directory", str(tmp_path / "sub"))
    assert expand(tmp_path)[0] == [tmp_path / "a.ris"]
    failure = PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "sub"))
    with pytest.raises(InputError, match="sub cannot be read: Permission denied; get access to it"):
        expand(tmp_path)


@pytest.mark.parametrize("end", [b"", b"\n", b"\nnext"])
@pytest.mark.parametrize("before", [b"", b"a\n", b"\n\n"])
def test_a_line_may_have_the_maximum_size_and_not_a_byte_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: bytes, end: bytes
) -> None:
    most = 3 * BLOCK_BYTES // 2
    monkeypatch.setattr(inputs, "MAX_RECORD_BYTES", most)
    for size, broken in ((most, ""), (most + 1, inputs.TOO_LONG)):
        (tmp_path / "long").write_bytes(before + b"x" * size + end)
        with Source(tmp_path / "long") as source:
            found = list(source.lines())
        number = 1 + before.count(b"\n")
        expected = [(1, b"a", "")] if before == b"a\n" else []
        expected += [(number, b"x" * (inputs.KEPT_BYTES if broken else size), broken)]
        expected += [(number + 1, b"next", "")] if end == b"\nnext" else []
        assert found == expected


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, BLOCK_BYTES + 65_536])
@pytest.mark.parametrize("packer", ["plain", "gzip", "bz2", "zstd"])
def test_files_of_any_size_are_read_whole(tmp_path: Path, packer: str, size: int) -> None:
    text = (b"ab\n" * size)[:size]
    (tmp_path / "in").write_bytes(PACKERS[packer](text))
    with Source(tmp_path / "in") as source:
        assert text.startswith(source.head)
        assert len(source.head) == min(size, 65_536)
        assert b"".join(source.blocks()) == text


@pytest.mark.parametrize(
    ("letters", "encoding", "is_known"),
    [
        ("a" * 80 + "語" * 20, "utf-16-le", True),  # two fifths of the bytes are 0
        ("a" * 79 + "語" * 21, "utf-16-le", False),
        ("a" * 80 + "語" * 9999, "utf-16-le", True),  # of the first 200 bytes
        ("a" * 20 + "語" * 30, "utf-32-le", True),  # three fifths
        ("a" * 50, "utf-32-be", True),
        ("a" * 99 + "語", "utf-16-be", True),
        ("ab", "utf-16-le", True),
        ("a", "utf-16-le", False),
        ("\0a\0", "ascii", True),  # three bytes are too few to tell
    ],
)
def test_wide_encodings_are_known_by_the_share_of_zeros(
    tmp_path: Path, letters: str, encoding: str, is_known: bool
) -> None:
    (tmp_path / "in").write_bytes(letters.encode(encoding))
    with Source(tmp_path / "in") as source:
        assert (source.head == letters.encode()) == is_known


def test_the_first_gigabyte_may_be_compressed_as_much_as_it_can() -> None:
    inputs.require_plausible_size("name", 1 << 30, 1)
    inputs.require_plausible_size("name", 2_000_000_000, 1_000_000)
    for decompressed, size in ((2_000_000_001, 1_000_000), ((1 << 30) + 1, 1)):
        with pytest.raises(InputError, match="name decompresses to more than 2,000 times its size"):
            inputs.require_plausible_size("name", decompressed, size)


def test_expands_directories_and_patterns(tmp_path: Path) -> None:
    for name in ("b.txt", "a.bib", "deep/er/c.ris", ".hidden", "deep/.git/d"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    files, incidental = expand(tmp_path)
    assert [str(file.relative_to(tmp_path)) for file in files] == ["a.bib", "b.txt", "deep/er/c.ris"]
    assert incidental == set(files)
    files, incidental = expand([tmp_path / "*.txt", tmp_path / "b.txt", f"{tmp_path}/**/*.ris"])
    assert [file.name for file in files] == ["b.txt", "c.ris"]
    assert not incidental


def test_prefers_a_file_to_a_pattern_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "savedrecs [1].txt").write_text("x")
    assert [file.name for file in expand(tmp_path / "savedrecs [1].txt")[0]] == ["savedrecs [1].txt"]


def test_rejects_inputs_without_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without files"):
        expand(tmp_path)
    with pytest.raises(InputError, match="matches no file"):
        expand(tmp_path / "*.txt")


def blocks_of(text: bytes, size: int) -> Iterator[bytes]:
    return (text[start : start + size] for start in range(0, len(text), size))


@given(
    st.lists(st.sampled_from([b"PT", b"PT x", b"AU y", b"\n", b"\r\n", b"\r", b"ER", b"z" * 300])), st.integers(1, 700)
)
def test_splitting_loses_nothing_and_does_not_depend_on_blocks(pieces: list[bytes], size: int) -> None:
    text, beginning = b"".join(pieces), re.compile(rb"^PT ", re.MULTILINE)
    raws = list(split_at(blocks_of(text, size), beginning))
    assert raws == list(split_at([text], beginning))
    assert b"".join(raw.text for raw in raws).split() == text.split()
    assert all(not beginning.search(raw.text, 1) for raw in raws)
    for raw in raws:
        before = text[: text.index(raw.text)] if text.count(raw.text) == 1 else None
        if before is not None:
            assert raw.number == 1 + len(re.findall(rb"\r\n|\n|\r", before))


def test_cuts_endless_records_and_finds_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_RECORD_BYTES", 10_000)
    text = b"PT a\n" + b"AB x\n" * 20_000 + b"PT b\nER\n"
    first, second = split_at(blocks_of(text, 4096), re.compile(rb"^PT ", re.MULTILINE))
    assert "longer than" in first.broken
    assert len(first.text) < 10_000
    assert second == (20_002, b"PT b\nER\n", "")


@given(st.text())
def test_decoding_keeps_utf8(text: str) -> None:
    assert decoded(text.encode("utf-8", errors="ignore")) == text.encode("utf-8", errors="ignore").decode()


@given(st.binary())
def test_decoding_accepts_any_bytes(content: bytes) -> None:
    assert isinstance(decoded(content), str)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_reads_wide_encodings_without_a_byte_order_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes('{"id": "größe"}\n'.encode(encoding))
    with Source(path) as source:
        assert [line for _, line, _ in source.lines()] == ['{"id": "größe"}'.encode()]


@pytest.mark.parametrize("declared", ["nonsense", "utf-8", "US-ASCII", "iso-8859-1", "windows-1252", "koi8-r"])
def test_a_declared_encoding_is_used_if_it_is_known(tmp_path: Path, declared: str) -> None:
    encoding = {"nonsense": "utf-8", "US-ASCII": "utf-8"}.get(declared, declared)
    text = f'<?xml version="1.0" encoding="{declared}"?>\n<a>{"Ж" if encoding == "koi8-r" else "é"}</a>\n'
    (tmp_path / "in.xml").write_bytes(text.encode(encoding))
    with Source(tmp_path / "in.xml") as source:
        assert source.head == text.encode()


def test_counts_blank_lines_of_whole_blocks(tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(b"a\n" + b"\n" * (3 * BLOCK_BYTES) + b"  b\n")
    with Source(path) as source:
        assert list(source.lines()) == [(1, b"a", ""), (3 * BLOCK_BYTES + 2, b"  b", "")]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1 << 16])
@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_lines_do_not_depend_on_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes, size: int) -> None:
    monkeypatch.setattr(inputs, "HEAD_BYTES", size)
    monkeypatch.setattr(inputs, "BLOCK_BYTES", size)
    for text in (b"a  b", b"a| |b|", b"a||b", b"||a|||b||", b"a| | |bc| d", b"  |a ", b"|", b"", b"ab |  | |cd|e"):
        (tmp_path / "in").write_bytes(text.replace(b"|", end))
        with Source(tmp_path / "in") as source:
            found = list(source.lines(end))
        assert found == [(number, line, "") for number, line in enumerate(text.split(b"|"), 1) if line.strip()]


MARK = codecs.BOM_UTF8


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\n" + MARK + b"b", b"a\nb"),
        (b"a\r" + MARK + b"b", b"a\rb"),
        (b"a" + MARK + b"b", b"a" + MARK + b"b"),
        (MARK + MARK + b"a", b"a"),
        (b"a\n" + MARK[:2], b"a\n" + MARK[:2]),
        (b"a\n" + MARK, b"a\n"),
        (b"abc" + MARK + b"d", b"abc" + MARK + b"d"),
        (b"ab\n" + MARK + b"d", b"ab\nd"),
        (b"abc" + MARK[:1] + MARK + b"\n" + MARK, b"abc" + MARK[:1] + MARK + b"\n"),
    ],
)
@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 1 << 16])
def test_marks_where_files_were_joined_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, expected: bytes, size: int
) -> None:
    monkeypatch.setattr(inputs, "HEAD_BYTES", size)
    monkeypatch.setattr(inputs, "BLOCK_BYTES", size)
    (tmp_path / "a").write_bytes(content)
    with Source(tmp_path / "a") as source:
        found = list(source.blocks())
    assert b"".join(found) == expected
    with Source(tmp_path / "a") as source:
        assert source.has_mark is content.startswith(MARK)
        assert b"".join(source.unchanged_blocks()) == content.removeprefix(MARK)


def test_a_mark_may_be_cut_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each member of the file is read as a block."""
    monkeypatch.setattr(inputs, "HEAD_BYTES", 3)
    for begin, expected in ((b"abc", b"abc" + MARK + b"d"), (b"ab\n", b"ab\nd")):
        parts = [begin, MARK[:1], MARK[1:2], MARK[2:], b"d"]
        (tmp_path / "a").write_bytes(b"".join(map(gzip.compress, parts)))
        with Source(tmp_path / "a") as source:
            assert b"".join(source.blocks()) == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "latin-1"])
def test_bytes_are_unchanged_except_those_of_wide_encodings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setattr(inputs, "BLOCK_BYTES", 7)
    text = "Müller\n" * 20
    (tmp_path / "a").write_bytes(gzip.compress(text.encode(encoding)))
    with Source(tmp_path / "a") as source:
        found = b"".join(source.unchanged_blocks())
    assert found == text.encode("latin-1" if encoding == "latin-1" else "utf-8")


def test_an_input_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for change in (lambda: path.write_bytes(b"ab"), lambda: os.utime(path, ns=(1, 1)), None):
        path.write_bytes(b"a")
        if change is None:
            with Source(path):
                pass
            continue
        message = r"a changed while it was read; run the command again when no program writes to it\.$"
        with pytest.raises(InputError, match=message), Source(path):
            change()


def test_closed_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(
        InputError, match=r"^standard input is closed; name a file, or send the records through a pipe\.$"
    ):
        Source(inputs.STANDARD_INPUT).__enter__()


def test_standard_input_is_read_but_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"a\nb\n"))))
    with Source(inputs.STANDARD_INPUT) as source:
        assert (source.name, list(source.lines())) == ("standard input", [(1, b"a", ""), (2, b"b", "")])
        assert not sys.stdin.buffer.closed
    assert not sys.stdin.buffer.closed
    assert inputs.size_of(inputs.STANDARD_INPUT) is None
    inputs.require_files([inputs.STANDARD_INPUT])
    with pytest.raises(InputError, match=r"^- is a pipe, but its data is read twice; save it to a file first\.$"):
        inputs.require_rereadable([inputs.STANDARD_INPUT])


def test_bytes_of_no_encoding_are_western_letters() -> None:
    assert b"a\xe9 \x80\x81 \xff".decode(errors=inputs.WESTERN) == "aé €\x81 ÿ"
    with pytest.raises(UnicodeEncodeError):
        "é".encode("ascii", errors=inputs.WESTERN)


@pytest.mark.parametrize("packed", [True, False])
def test_errors_of_the_disk_are_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    class Broken(io.BytesIO):
        def peek(self, size: int) -> bytes:
            return self.getvalue()[:size]

        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

        def fileno(self) -> int:
            return opened.fileno()

    path = tmp_path / "a"
    path.write_bytes(gzip.compress(b"text") if packed else b"text")
    monkeypatch.setattr(inputs, "open_input", lambda path: Broken(path.read_bytes()))
    reason = (
        "a: the compressed data is truncated or damaged" if packed else "a cannot be read: Input/output error; check"
    )
    with path.open("rb") as opened, pytest.raises(InputError, match=reason), Source(path):
        pass


def test_standard_input_is_not_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "-").mkdir()
    monkeypatch.chdir(tmp_path)
    assert expand("-") == ([Path("-")], set())


def test_all_inputs_are_checked(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    missing, result = tmp_path / "missing", tmp_path / "result"
    for before in (inputs.STANDARD_INPUT, tmp_path / "pipe"):
        with pytest.raises(InputError, match="missing cannot be read: No such file or directory; check the path"):
            inputs.require_files([before, missing])
    result.mkdir()
    (result / MARKER).write_bytes(MARKER_TEXT)
    (result / DOCUMENTS).touch()
    assert expand([result, missing])[0] == [result / DOCUMENTS, missing]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("S_IFIFO", True),
        ("S_IFSOCK", True),
        ("S_IFCHR", True),
        ("S_IFREG", False),
        ("S_IFDIR", False),
        ("S_IFBLK", False),
    ],
)
def test_what_can_be_read_only_once(kind: str, expected: bool) -> None:
    assert inputs._is_pipe(getattr(stat, kind)) is expected


def test_errors_without_a_reason_are_shown_as_they_are(tmp_path: Path) -> None:
    assert str(inputs.unreadable(Path("a"), OSError("no reason"))) == "a cannot be read: no reason; check the path."
    assert str(inputs.unreadable(Path("a"), OSError(1, "why"))) == "a cannot be read: why; check the path."
    assert str(inputs.unreadable(tmp_path, OSError(1, "why"))) == f"{tmp_path} is a directory; name the files in it."


def test_pipes_have_no_size(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_bytes(b"abc")
    assert [inputs.size_of(tmp_path / name) for name in ("pipe", "a")] == [None, 3]
    inputs.require_files([tmp_path / "pipe", tmp_path / "a"])
    inputs.require_rereadable([tmp_path / "a", tmp_path / "missing"])
    with pytest.raises(InputError, match="pipe is a pipe, but its data is read twice"):
        inputs.require_rereadable([tmp_path / "a", tmp_path / "pipe"])
