"""Numbered lines of inputs, and atomic writes of outputs."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from itertools import starmap
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pytest

from homonym.errors import InputError, OutputError, SettingsError
from homonym.io import outputs
from homonym.io.inputs import InputLine, Source, require_files, require_rereadable
from homonym.io.outputs import (
    atomic_path,
    file_identity,
    first_within,
    is_hidden,
    open_atomic,
    random_token,
    remove_partial,
    require_directory,
    require_distinct,
    require_page_path,
    require_short_name,
    require_writable,
    side_file,
    sync_file,
    write_atomic,
    write_json,
)

RECORDS = b'{"id": "1"}\n{"id": "2"}\n{"id": "3"}\n'


def read_lines(path: Path) -> Iterator[InputLine]:
    with Source(path) as source:
        yield from starmap(InputLine, source.lines())


def lines(path: Path) -> list[tuple[int, bytes]]:
    return [(line.number, line.text.strip()) for line in read_lines(path)]


def write_and_raise(path: Path, broken: type[BaseException]) -> None:
    with open_atomic(path) as stream:
        stream.write(RECORDS)
        raise broken


def write_to_full_device(path: Path) -> None:
    with atomic_path(path) as partial:
        partial.unlink()
        partial.symlink_to("/dev/full")
        partial.write_bytes(RECORDS)


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a\nb\n", [(1, b"a"), (2, b"b")]),
        (b"a\nb", [(1, b"a"), (2, b"b")]),
        (b"a\r\nb\r\n", [(1, b"a"), (2, b"b")]),
        (b"\n\na\n  \n\t\r\nb\n\n", [(3, b"a"), (6, b"b")]),
        (b"\xef\xbb\xbfa\nb\n", [(1, b"a"), (2, b"b")]),
        (b"\xef\xbb\xbf\nb\n", [(2, b"b")]),
        (b"", []),
        (b"\n \n", []),
        (b"\x1f", [(1, b"\x1f")]),
        ("a\n\nb".encode("utf-16"), [(1, b"a"), (3, b"b")]),
        (b"\xff\xfe\n", [(1, "\ufffd".encode())]),  # byte order mark of UTF-16 and half a character
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_numbers_lines_and_skips_blank_ones(
    tmp_path: Path, content: bytes, expected: list[tuple[int, bytes]], packed: bool
) -> None:
    path = tmp_path / "records.jsonl"
    path.write_bytes(gzip.compress(content) if packed else content)
    assert lines(path) == expected


def test_detects_compression_from_content_not_suffix(tmp_path: Path) -> None:
    plain, packed = tmp_path / "plain.jsonl.gz", tmp_path / "packed.jsonl"
    plain.write_bytes(RECORDS)
    packed.write_bytes(gzip.compress(RECORDS))
    assert lines(plain) == lines(packed) == [(1, b'{"id": "1"}'), (2, b'{"id": "2"}'), (3, b'{"id": "3"}')]


def test_reads_concatenated_gzip_members(tmp_path: Path) -> None:
    path = tmp_path / "joined.jsonl.gz"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert lines(path) == [(1, b"a"), (2, b"b")]


@pytest.mark.parametrize("packed", [False, True])
def test_position_never_decreases_and_ends_at_the_file_size(tmp_path: Path, packed: bool) -> None:
    content = b"".join(b"%d %s\n" % (number, os.urandom(40).hex().encode()) for number in range(5_000))
    path = tmp_path / "records.jsonl"
    path.write_bytes(gzip.compress(content) if packed else content)
    with Source(path) as source:
        read = [source.position for _ in source.lines()]
    assert read == sorted(read)
    assert read[-1] == path.stat().st_size


def test_truncated_gzip_names_file_and_line(tmp_path: Path) -> None:
    # Stored without compression, so that the number of remaining lines is known.
    content = gzip.compress(b"".join(b"%07d\n" % number for number in range(100_000)), compresslevel=0)
    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(content[: len(content) // 2])
    seen = [0]
    with pytest.raises(InputError) as caught:
        seen.extend(line.number for line in read_lines(path))
    assert 0 < seen[-1] < 100_000
    assert str(path) in str(caught.value)
    assert f"after line {seen[-1]} " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8b",
        b"\x1f\x8b\x08\x00",
        b"\x1f\x8b" + b"garbage" * 100,
        gzip.compress(RECORDS, mtime=0)[:-8],  # without checksum and length
        gzip.compress(RECORDS, mtime=0)[:-8] + b"\0" * 8,  # with wrong ones
        gzip.compress(RECORDS, mtime=0)[:10] + b"\xff" * 50,  # a header and nonsense
        gzip.compress(RECORDS, mtime=0) + b"not gzip",
    ],
)
def test_rejects_damaged_gzip_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "records.jsonl.gz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="download the file again") as caught:
        lines(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [lines, lambda path: require_files([path])])
def test_unreadable_inputs_say_why(tmp_path: Path, read: Callable[[Path], object]) -> None:
    for path, reason in (
        (tmp_path / "missing.jsonl", "No such file"),
        (tmp_path, "is a directory"),
        (tmp_path / ("x" * 5000), "cannot be read"),
    ):
        with pytest.raises(InputError, match=reason) as caught:
            read(path)
        assert str(path) in str(caught.value)


def test_rejects_empty_inputs(tmp_path: Path) -> None:
    full, empty = tmp_path / "full", tmp_path / "empty"
    full.write_bytes(b"x")
    empty.touch()
    require_files([full])
    with pytest.raises(InputError, match="is empty"):
        require_files([full, empty])


def test_reads_a_pipe_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    require_files([pipe])
    writer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(RECORDS)))
    writer.start()
    assert lines(pipe) == [(1, b'{"id": "1"}'), (2, b'{"id": "2"}'), (3, b'{"id": "3"}')]
    writer.join()
    with pytest.raises(InputError, match="is a pipe, but its data is read twice"):
        require_rereadable([pipe])


def test_output_needs_an_existing_directory(tmp_path: Path) -> None:
    require_writable(tmp_path / "out.csv")
    with pytest.raises(OutputError, match="is a directory"):
        require_writable(tmp_path)
    with pytest.raises(OutputError, match="does not exist"):
        require_writable(tmp_path / "missing" / "out.csv")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="is a file, not a directory"):
        require_writable(tmp_path / "file" / "out.csv")


def test_output_needs_a_writable_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not (path == tmp_path and mode == os.W_OK))
    with pytest.raises(OutputError, match="no permission"):
        require_writable(tmp_path / "out.csv")


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz"])
def test_output_appears_complete(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with open_atomic(path) as stream:
        stream.write(RECORDS)
        assert not path.exists()
    assert entries(tmp_path) == [name]
    assert lines(path) == [(1, b'{"id": "1"}'), (2, b'{"id": "2"}'), (3, b'{"id": "3"}')]
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz"])
@pytest.mark.parametrize("broken", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_failed_write_leaves_nothing_or_the_old_file(tmp_path: Path, name: str, broken: type[BaseException]) -> None:
    path = tmp_path / name
    for expected in ([], [name]):
        with pytest.raises(broken):
            write_and_raise(path, broken)
        assert entries(tmp_path) == expected
        path.write_bytes(b"old")
    assert path.read_bytes() == b"old"


def test_write_whose_temporary_file_is_gone_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="nothing was kept"), atomic_path(tmp_path / "out.csv") as partial:
        partial.unlink()
    assert entries(tmp_path) == []


def test_content_is_on_the_disk_before_the_rename_and_the_name_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    replace = os.replace

    def record_sync(number: int) -> None:
        done.append("sync " + Path(os.readlink(f"/proc/self/fd/{number}")).name)

    def record_rename(source: Path, target: Path) -> None:
        done.append(f"rename to {Path(target).name}")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", record_sync)
    monkeypatch.setattr(os, "replace", record_rename)
    with atomic_path(tmp_path / "out.csv") as partial:
        partial.touch()
    assert done == [f"sync {partial.name}", "rename to out.csv", f"sync {tmp_path.name}"]
    done.clear()
    write_atomic(tmp_path / "log", b"", durable=False)
    assert done == ["rename to log"]


def test_writes_to_a_directory_that_cannot_be_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems refuse to sync directories."""
    sync = os.fsync

    def refuse(number: int) -> None:
        if stat.S_ISDIR(os.fstat(number).st_mode):
            raise OSError(22, "Invalid argument")
        sync(number)

    monkeypatch.setattr(os, "fsync", refuse)
    write_atomic(tmp_path / "note.txt", "text")
    assert (tmp_path / "note.txt").read_text() == "text"


def test_temporary_path_keeps_the_suffixes(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "out.csv.gz") as partial:
        assert partial.parent == tmp_path
        assert partial.suffixes[-2:] == [".csv", ".gz"]
        partial.touch()


@pytest.mark.parametrize("content", ["Zürich", "Zürich".encode()])
def test_writes_small_files_atomically(tmp_path: Path, content: str | bytes) -> None:
    write_atomic(tmp_path / "note.txt", content)
    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "Zürich"
    assert entries(tmp_path) == ["note.txt"]


def test_equal_content_gives_equal_compressed_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    for name, now in (("one.csv.gz", 1.0), ("two.csv.gz", 2e9)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        with open_atomic(tmp_path / name) as stream:
            stream.write(RECORDS)
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


def test_compressed_files_name_no_file_and_no_time_and_have_the_usual_level(tmp_path: Path) -> None:
    content = b"".join(b"%d\n" % (number * number % 10007 % 100) for number in range(20_000))
    with open_atomic(tmp_path / "a.csv.gz") as stream:
        stream.write(content)
    written = (tmp_path / "a.csv.gz").read_bytes()
    bodies = {level: zlib.compress(content, level, wbits=-15) for level in (5, 6, 7)}
    assert len(set(bodies.values())) == 3
    assert (written[:8], written[10:-8]) == (b"\x1f\x8b\x08\0\0\0\0\0", bodies[6])


def test_links_are_not_followed_to_sync_a_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "other")
    (tmp_path / "other").touch()
    sync_file(tmp_path / "other")
    with pytest.raises(OSError, match="link"):
        sync_file(tmp_path / "link")


def test_failed_rename_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(source: Path, target: Path) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    path = tmp_path / "out.csv"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(OutputError, match="cross-device"):
        write_atomic(path, b"new")
    assert entries(tmp_path) == ["out.csv"]
    assert path.read_bytes() == b"old"


# A limit on file sizes, which looks like a full file system to this process.
FULL_DISK = """
import os, resource, signal, sys
from pathlib import Path
from homonym.errors import OutputError
from homonym.io.outputs import open_atomic
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with open_atomic(Path(sys.argv[1])) as stream:
        for _ in range(int(sys.argv[2])):
            stream.write(os.urandom(1000))
except OutputError as full:
    print(full)
"""


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz"])
@pytest.mark.parametrize("kilobytes", [101, 1000])
def test_full_disk_leaves_the_old_file(tmp_path: Path, name: str, kilobytes: int) -> None:
    # 101 kB are too much only when the last buffer is written, on closing.
    path = tmp_path / name
    path.write_bytes(b"old")
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL_DISK, path, str(kilobytes)], capture_output=True, text=True
    )
    assert run.stderr == ""
    assert run.stdout == f"{path} cannot be written: {os.strerror(errno.EFBIG)}; nothing was kept.\n"
    assert entries(tmp_path) == [name]
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_full_device_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with pytest.raises(OutputError, match="No space left"):
        write_to_full_device(path)
    assert entries(tmp_path) == []


@pytest.mark.parametrize(("name", "reason"), [("file", "is a file"), ("nothing", "does not exist")])
def test_a_directory_needs_a_directory_above_it(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=f"work cannot be a directory: .*{name} {reason}"):
        require_directory(tmp_path / name / "work")


def test_the_longest_name_leaves_room_for_all_files_next_to_it(tmp_path: Path) -> None:
    """The temporary file of the longest side file is the longest name; the next longer name is refused."""
    most = os.pathconf(tmp_path, "PC_NAME_MAX")
    length = next(n for n in range(most, 0, -1) if _has_room(tmp_path / ("é" * (n // 2) + "a" * (n % 2))))
    longest = side_file(tmp_path / ("a" * length), ".contradictions.csv").name
    assert len(f".4194304-01234567.partial.{longest}") == most
    with pytest.raises(
        OutputError, match=rf"its name has {length + 1} bytes, and the file system has room for {length}"
    ):
        require_short_name(tmp_path / ("a" * (length + 1)))
    require_short_name(tmp_path / "missing" / ("a" * (length + 1)))


@pytest.mark.parametrize(("most", "is_short"), [(-1, True), (45, True), (46, False), (47, True)])
def test_a_name_may_be_as_long_as_the_file_system_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, is_short: bool
) -> None:
    """Temporary and side files take 45 bytes. A system that states less has no limit."""
    monkeypatch.setattr(os, "pathconf", lambda path, name: most)
    assert _has_room(tmp_path / "ab") is is_short


def test_only_the_beginning_of_a_long_name_is_shown(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=f"^{'a' * 20}{'b' * 20}… cannot be written: its name has 1,040 bytes"):
        require_short_name(tmp_path / ("a" * 20 + "b" * 20 + "c" * 1000))


def _has_room(path: Path) -> bool:
    try:
        require_short_name(path)
    except OutputError:
        return False
    return True


@pytest.mark.parametrize(("name", "is_page"), [("a.html", True), ("a.HTM", True), ("a", False), ("a.csv", False)])
def test_a_page_has_the_suffix_of_one(tmp_path: Path, name: str, is_page: bool) -> None:
    if is_page:
        require_page_path(tmp_path / name)
    else:
        with pytest.raises(OutputError, match=r"the output is a page, so its name must end in \.html"):
            require_page_path(tmp_path / name)
    with pytest.raises(OutputError, match="is a directory; name the file to write"):
        require_page_path(tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "a.x"),
        ("a.csv.gz", "a.x"),
        ("a.v2.parquet", "a.v2.x"),
        ("a.jsonl.gz", "a.x"),
        ("a.txt", "a.txt.x"),
        ("a.gz.csv", "a.gz.x"),
        ("a", "a.x"),
    ],
)
def test_side_files_have_the_name_without_the_suffix_of_the_table(name: str, expected: str) -> None:
    assert side_file(Path("out", name), ".x") == Path("out", expected)


def test_partial_files_are_found_behind_a_link_and_under_names_with_patterns(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out[1].csv").symlink_to("disk/real.csv")
    (tmp_path / "disk" / "real.csv").touch()
    left = [".7-ab.partial.out[1].csv", "disk/.7-ab.partial.real.settings.toml", "disk/.7-ab.partial.real.csv"]
    kept = [".7-ab.partial.out1.csv", "disk/.8-ab.partial.real.csv"]
    for name in (*left, *kept):
        (tmp_path / name).touch()
    (tmp_path / ".7-ab.partial.out[1].work").mkdir()
    remove_partial(tmp_path / "out[1].csv", 7)
    assert [name for name in (*left, *kept) if (tmp_path / name).exists()] == kept
    assert (tmp_path / ".7-ab.partial.out[1].work").is_dir()


def test_a_partial_file_may_vanish_while_it_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / ".7-ab.partial.out.csv"
    left.touch()
    unlink = os.unlink

    def unlink_after_another(path: Path) -> None:
        unlink(path)
        unlink(path)

    monkeypatch.setattr(os, "unlink", unlink_after_another)
    remove_partial(tmp_path / "out.csv", 7)
    assert not os.path.lexists(left)


def test_standard_input_is_an_input(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.touch()
    before = os.dup(0)
    try:
        with path.open("rb") as stream:
            os.dup2(stream.fileno(), 0)
        with pytest.raises(OutputError, match="is the same file as standard input and would be overwritten"):
            require_distinct([Path("-")], [path])
        require_distinct([Path("-")], [tmp_path / "b.csv"])
        os.close(0)
        require_distinct([Path("-")], [path])
    finally:
        os.dup2(before, 0)
        os.close(before)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [(stat.S_IFREG, (6, 5, "")), (stat.S_IFIFO, (6, 5, "")), (stat.S_IFCHR, None), (stat.S_IFBLK, None)],
)
def test_devices_have_no_identity(kind: int, expected: tuple[int, int, str] | None) -> None:
    assert outputs._status_identity(os.stat_result([kind | 0o600, 5, 6, *[0] * 7])) == expected


def test_work_needs_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_directory(tmp_path / "work")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    for path, place in ((tmp_path / "work", tmp_path), (tmp_path, tmp_path)):
        with pytest.raises(OutputError, match=rf"^{path} cannot be written: no permission to write in {place}\.$"):
            require_directory(path)


def test_pipes_need_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    require_writable(tmp_path / "pipe")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(OutputError, match=r"pipe cannot be written: no permission to write to it\.$"):
        require_writable(tmp_path / "pipe")


def test_devices_may_be_named_any_number_of_times(tmp_path: Path) -> None:
    require_distinct([Path("/dev/null")], [Path("/dev/null"), Path("/dev/null")])
    assert file_identity(Path("/dev/null")) is None
    assert file_identity(tmp_path / "missing" / "a.csv") is None
    assert file_identity(tmp_path / "a.csv") == (tmp_path.stat().st_dev, tmp_path.stat().st_ino, "a.csv")


def test_the_first_path_in_a_directory_is_found_at_any_depth(tmp_path: Path) -> None:
    folder, link = tmp_path / "a", tmp_path / "link"
    (folder / "b").mkdir(parents=True)
    link.symlink_to(folder)
    outside, inside = tmp_path / "x.csv", folder / "b" / "c.csv"
    assert first_within(folder, [outside, tmp_path / "ab" / "c"]) is None
    assert first_within(folder, [outside, inside, folder / "d"]) == inside
    assert first_within(folder, [link / "b" / "c.csv"]) == link / "b" / "c.csv"
    assert first_within(link, [inside]) == inside
    assert first_within(folder, [folder]) == folder
    assert first_within(tmp_path / "new", [tmp_path / "new" / "b" / "c", inside]) == tmp_path / "new" / "b" / "c"
    assert first_within(tmp_path / "new", [inside]) is None


@pytest.mark.parametrize(
    ("path", "expected"), [("a/.b/c", True), ("a/b/.c", True), ("a/b/c", False), (".a/b", True), ("a/b.c", False)]
)
def test_hidden_paths_have_a_part_that_begins_with_a_dot(tmp_path: Path, path: str, expected: bool) -> None:
    assert is_hidden(tmp_path / path, tmp_path) == expected
    hidden = tmp_path / ".hidden"
    assert is_hidden(hidden / path, hidden) == expected, "only parts below the directory count"


def test_messages_about_equal_paths_name_both_spellings_if_they_differ(tmp_path: Path) -> None:
    one, link = tmp_path / "a.csv", tmp_path / "b.csv"
    one.touch()
    link.symlink_to(one)
    require_distinct([one], [tmp_path / "c.csv", tmp_path / "d.csv"])
    for read, written, message in (
        ([one], [one], f"{one} is an input and would be overwritten"),
        ([one], [link], f"{link} is the same file as the input {one} and would be overwritten"),
        ([], [one, one], f"{one} is named for two outputs; name a file of its own"),
        ([], [one, link], f"{link} is named for two outputs (also as {one}); name"),
        ([], [tmp_path / "new", tmp_path / "." / "new"], "is named for two outputs; name"),
    ):
        with pytest.raises(OutputError) as caught:
            require_distinct(read, written)
        assert message in str(caught.value)


def test_json_is_written_for_people(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": [1], "a": "é"})
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "b": [\n    1\n  ],\n  "a": "é"\n}\n'


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o117])
def test_an_output_gets_the_usual_permissions(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_atomic(tmp_path / "new", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask


def test_names_of_temporary_files_have_eight_random_characters() -> None:
    tokens = {random_token() for _ in range(100)}
    assert len(tokens) == 100
    assert {len(token) for token in tokens} == {8}


def test_a_temporary_file_never_replaces_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda size: "f" * 2 * size)
    partial = tmp_path / f".{os.getpid()}-ffffffff.partial.new"
    partial.write_text("of another program")
    with pytest.raises(OutputError, match="new cannot be written: File exists; nothing was kept"):
        write_atomic(tmp_path / "new", "text")
    assert partial.read_text() == "of another program"


@pytest.mark.parametrize("given", [pd.DataFrame({"a.csv": [1]}), {"a.csv": 1}, b"a.csv", ["a.csv", None], 5])
def test_what_is_no_path_is_refused(given: object) -> None:
    with pytest.raises(SettingsError, match="expected a path or a list of paths, but got"):
        outputs.as_paths(given)  # type: ignore[arg-type]


def test_paths_may_come_from_any_list() -> None:
    assert outputs.as_paths(["a", Path("b")]) == outputs.as_paths(("a", "b")) == [Path("a"), Path("b")]
    assert outputs.as_paths(iter(["a"])) == [Path("a")]  # type: ignore[arg-type]
