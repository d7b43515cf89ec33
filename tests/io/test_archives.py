"""ZIP archives as inputs: members of any format, odd names, and archives that are damaged or made to harm."""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
import zipfile
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import orjson
import pytest
from benchmarks.exports import EXPORTS
from benchmarks.exports import documents as generated

from homonym.commands.convert import Conversion, convert
from homonym.commands.run import Resources
from homonym.engines.spark.input_plan import plan_files
from homonym.errors import InputError
from homonym.io import inputs, zip_files
from homonym.io.archives import is_archive, sources_of
from homonym.records.reader import Inputs, read_documents
from tests.support.command import homonym_command
from tests.support.workbooks import write_rows

BIB = "@article{doe%d, author={Doe, Jo and Roe, Al}, title={On the melting of ice, part %d}, year=2014}\n"
ONE_THREAD = Resources(threads=1)


def archive(path: Path, members: Mapping[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in members.items():
            written.writestr(name, content)
    return path


def converted(path: Path, **options: str) -> tuple[Conversion, list[str]]:
    output = path.parent / "documents.jsonl"
    done = convert(path, output, resources=ONE_THREAD, **options)  # type: ignore[arg-type]
    return done, [orjson.loads(line)["id"] for line in output.read_bytes().splitlines()]


@pytest.mark.slow
def test_reads_members_of_all_formats(tmp_path: Path) -> None:
    given = list(islice(generated(400), 3))
    members = {f"{name}.{export.suffix}": b"".join(export.write(given)) for name, export in EXPORTS.items()}
    path = archive(tmp_path / "a.zip", members)
    assert is_archive(path)
    with sources_of(path) as sources:
        assert [source.name for source in sources] == [f"{path}/{name}" for name in members]
    assert sum(reading.document is not None for reading in read_documents(path)) == 3 * len(EXPORTS)
    done, _ = converted(path)
    assert done.records == 3  # all of them are copies


def test_members_may_be_compressed_and_spreadsheets(tmp_path: Path) -> None:
    table = write_rows(tmp_path / "t.xlsx", [["id", "title", "authors"], ["w1", "T", "Doe, J; Roe, A"]]).read_bytes()
    path = archive(tmp_path / "a.zip", {"a.bib.gz": gzip.compress((BIB % (1, 1)).encode()), "t.xlsx": table})
    assert sorted(converted(path)[1]) == ["doe1", "w1"]


def test_problems_name_the_member_and_its_line(tmp_path: Path) -> None:
    broken = b'{"id": "w1", "authors": [{"name": "Doe, J"}]}\n{"id": "w2"}\n'
    path = archive(tmp_path / "a.zip", {"in/x.jsonl": broken, "y.bib": BIB % (1, 1)})
    done, ids = converted(path)
    assert sorted(ids) == ["doe1", "w1"]
    assert [problem.place for problem in done.problems.first] == [f"{path}/in/x.jsonl, line 2"]


def test_skips_hidden_members_and_reports_unknown_ones(tmp_path: Path) -> None:
    members = {"a.bib": BIB % (1, 1), "__MACOSX/._a.bib": "x", ".DS_Store": "x", "sub/": "", "readme.txt": "Hello."}
    members |= {"sub\\.x.bib": "x"}
    done, ids = converted(archive(tmp_path / "a.zip", members))
    assert ids == ["doe1"]
    assert [warning for warning in done.warnings if "skipped" in warning] == [
        f"1 member of archives skipped, because the format was not recognised: {tmp_path}/a.zip/readme.txt."
    ]


@pytest.mark.parametrize("name", ["./a.bib", "../a.bib", ".\\a.bib", "..\\..\\a.bib"])
def test_members_that_only_begin_with_dots_are_read(tmp_path: Path, name: str) -> None:
    assert converted(archive(tmp_path / "a.zip", {name: BIB % (1, 1)}))[1] == ["doe1"]


@pytest.mark.parametrize(
    "name", ["../../etc/x", "/etc/passwd", "C:\\x\\..\\y", "new\nline", "a" * 300, "%s {} \x00", "..", "ü\udcff.bib"]
)
def test_names_of_members_are_only_shown(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.zip"
    member = zipfile.ZipInfo("x")
    member.filename = name.encode("utf-8", "surrogateescape").decode("latin-1")
    with zipfile.ZipFile(path, "w") as written:
        written.writestr(member, BIB % (1, 1))
    assert converted(path)[1] == ["doe1"]
    assert {file.name for file in tmp_path.iterdir()} == {"a.zip", "documents.jsonl", "documents.run.json"}


def test_two_members_may_have_one_name(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as written:
        written.writestr("a.bib", BIB % (1, 1))
        with pytest.warns(UserWarning, match="Duplicate name"):
            written.writestr("a.bib", BIB % (2, 2))
    assert sorted(converted(path)[1]) == ["doe1", "doe2"]


def test_archives_in_a_directory_are_read_or_skipped(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    archive(folder / "a.zip", {"a.bib": BIB % (1, 1)})
    archive(folder / "b.zip", {"readme": "Hello."})
    (folder / "c.zip").write_bytes(b"PK\x03\x04 damaged")
    archive(folder / "d.zip", {"inner.zip": archive(tmp_path / "x.zip", {"a": "b"}).read_bytes()})
    done, ids = converted(folder)
    assert ids == ["doe1"]
    assert any("3 files skipped" in warning for warning in done.warnings)


def encrypted(path: Path) -> bytes:
    """An archive whose only member is marked as encrypted."""
    content = bytearray(archive(path, {"secret.bib": BIB % (1, 1)}).read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + place] |= 1
    return bytes(content)


def test_refuses_encrypted_nested_and_empty_archives(tmp_path: Path) -> None:
    inner = archive(tmp_path / "inner.zip", {"a.bib": BIB % (1, 1)}).read_bytes()
    (tmp_path / "locked.zip").write_bytes(encrypted(tmp_path / "plain.zip"))
    archive(tmp_path / "nested.zip", {"a.bib": BIB % (1, 1), "inner.zip": inner})
    archive(tmp_path / "empty.zip", {".hidden": "x"})
    archive(tmp_path / "parquet.zip", {"a.parquet": b"PAR1...."})
    archive(tmp_path / "unknown.zip", {"a.txt": "Hello.", "b.txt": "Bye."})
    for name, reason in [
        ("locked.zip", "locked.zip/secret.bib is encrypted; extract the archive with its password"),
        ("nested.zip", "nested.zip/inner.zip is an archive; extract it"),
        ("empty.zip", "empty.zip is an archive without files"),
        ("parquet.zip", "a.parquet is a Parquet or Arrow file in an archive"),
        ("unknown.zip", "the format of none of its 2 files was recognised"),
    ]:
        done = homonym_command("convert", tmp_path / name, "-o", tmp_path / "out.jsonl")
        assert (done.returncode, done.stdout) == (2, "")
        assert reason in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr


def test_refuses_unusual_compression(tmp_path: Path) -> None:
    content = bytearray(archive(tmp_path / "a.zip", {"a.bib": BIB % (1, 1)}).read_bytes())
    content[content.index(b"PK\x01\x02") + 10] = 9  # Deflate64
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(InputError, match="compressed in an unusual way"):
        converted(tmp_path / "a.zip")


@pytest.mark.slow
def test_bounds_members_and_ratio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = archive(tmp_path / "a.zip", {f"{number}.bib": BIB % (number, number) for number in range(20)})
    with monkeypatch.context() as patched:
        patched.setattr(zip_files, "MAX_MEMBERS", 10)
        with pytest.raises(InputError, match="has more than 10 members; extract it"):
            converted(path)
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_LZMA) as written:
        written.writestr("zeros.txt", b"0" * (64 << 20))
    monkeypatch.setattr(inputs, "UNCHECKED_BYTES", 1 << 20)
    with pytest.raises(InputError, match=r"zeros\.txt decompresses to more than 2,000 times its size"):
        converted(bomb)


def test_refuses_members_that_overlap(tmp_path: Path) -> None:
    """All members of the list are the same bytes, so that a small archive is read as a large one."""
    content = archive(tmp_path / "a.zip", {"a.bib": "".join(BIB % (n, n) for n in range(99))}).read_bytes()
    start, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    entry = content[start:end]
    closing = bytearray(content[end:])
    struct.pack_into("<HHL", closing, 8, 50, 50, 50 * len(entry))
    (tmp_path / "a.zip").write_bytes(content[:start] + entry * 50 + closing)
    with pytest.raises(InputError, match="members overlap"):
        converted(tmp_path / "a.zip")


@pytest.mark.parametrize("stated", [1 << 20, 0xFFFFFFFF])
def test_list_of_members_is_bounded_before_it_is_read(tmp_path: Path, stated: int) -> None:
    content = bytearray(archive(tmp_path / "a.zip", {"a.bib": BIB % (1, 1)}).read_bytes())
    struct.pack_into("<L", content, len(content) - 10, stated)
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(InputError, match=r"members|damaged"):
        converted(tmp_path / "a.zip")


def test_damaged_archives_are_input_errors(tmp_path: Path) -> None:
    members = {f"{part}.bib": "".join(BIB % (n, n) for n in range(part, part + 20)) for part in (0, 20)}
    content = archive(tmp_path / "a.zip", members).read_bytes()
    rng = random.Random(0)
    for _ in range(200):
        damaged = bytearray(content[: rng.randrange(len(content))] if rng.random() < 0.3 else content)
        for _ in range(rng.randrange(1, 4)):
            if damaged:
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        (tmp_path / "a.zip").write_bytes(damaged)
        try:
            found = [reading.document for reading in read_documents(tmp_path / "a.zip") if reading.document]
        except InputError as error:
            assert len(str(error).splitlines()) == 1  # noqa: PT017
        else:
            assert len(found) <= 40


def test_pipes_and_spark_refuse_archives(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.zip", {"a.bib": BIB % (1, 1)})
    with pytest.raises(InputError, match=r"a\.zip is an archive; extract it and name the files in it"):
        plan_files(Inputs.of(path), [], mentions=False)


@pytest.mark.parametrize("comment", [b"", b"made by a test", b"\0\0"])
@pytest.mark.parametrize("is_large", [True, False])
def test_size_of_the_list_of_members_is_found_in_small_and_large_archives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_large: bool, comment: bytes
) -> None:
    """Archives of more than 4 GiB or 65,535 members state it in another place."""
    path = tmp_path / "a.zip"
    with monkeypatch.context() as patched, zipfile.ZipFile(path, "w") as archive:
        if is_large:
            patched.setattr(zipfile, "ZIP64_LIMIT", 10)
        for number in range(20):
            archive.writestr(f"{number}.txt", "text")
        archive.comment = comment
        archive.close()
        start = archive.start_dir
    content = path.read_bytes()
    assert (b"PK\x06\x06" in content) == is_large
    end = content.index(b"PK\x06\x06" if is_large else b"PK\x05\x06", start)
    if is_large:  # the usual place says that it is in the other one
        usual = content.index(b"PK\x05\x06", start)
        content = content[: usual + 12] + b"\xff" * 4 + content[usual + 16 :]
        path.write_bytes(content)
    with path.open("rb") as stream, zip_files.open_zip(stream, "a.zip") as opened:
        assert len(opened.namelist()) == 20
        assert zip_files._list_bytes(stream, len(content)) == end - start


@pytest.mark.parametrize(
    "content",
    [b"", b"x" * 21, b"x" * 500, b"x" * 40 + b"PK\5\6" + b"x" * 17, b"PK\5\6" + b"x" * 17, b"\xff" * 22],
)
def test_without_a_whole_end_there_is_no_list_of_members(content: bytes) -> None:
    assert zip_files._list_bytes(io.BytesIO(content), len(content)) == 0


def test_the_list_of_members_of_a_small_end_is_stated_in_it() -> None:
    end = b"PK\5\6" + bytes(8) + (77).to_bytes(4, "little") + bytes(6)
    for before in (b"", b"x", b"x" * 75, b"x" * 76, b"x" * 77, b"x" * 100_000):
        for comment in (b"", b"c", b"c" * 65_535):
            content = before + end + comment
            assert zip_files._list_bytes(io.BytesIO(content), len(content)) == 77
    assert zip_files._list_bytes(io.BytesIO(end + b"x" * 65_536 + b"x" * 76), len(end) + 65_612) == 0
    large = b"PK\6\6" + bytes(36) + (99).to_bytes(8, "little") + bytes(8) + bytes(20)
    for before in (b"", b"x"):
        for comment in (b"", b"c" * 65_535):
            content = before + large + end + comment
            assert zip_files._list_bytes(io.BytesIO(content), len(content)) == 99


def test_archives_in_a_pipe_are_refused() -> None:
    read, write = os.pipe()
    os.close(write)
    with (
        os.fdopen(read, "rb") as stream,
        pytest.raises(InputError, match=r"^a is a ZIP archive or a spreadsheet in a pipe; save"),
    ):
        zip_files.open_zip(stream, "a")


def test_archives_are_known_by_their_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    archive(Path("a.zip"), {"a.bib": "x"})
    archive(Path("-"), {"a.bib": "x"})  # a file, but `-` means standard input
    write_rows(Path("a.xlsx"), [["a"]])
    for name, content in (("a.csv", b"AAAA"), ("z.csv", b"zzzz"), ("empty", b"")):
        Path(name).write_bytes(content)
    os.mkfifo("pipe")
    names = ["a.zip", "-", "a.xlsx", "a.csv", "z.csv", "empty", "pipe", "missing", "."]
    assert [name for name in names if is_archive(Path(name))] == ["a.zip"]


@pytest.mark.parametrize("text", ["", "x", "x" * 10_000])
def test_the_position_in_a_member_is_about_that_in_the_archive(tmp_path: Path, text: str) -> None:
    path = archive(tmp_path / "a.zip", {"a.txt": text})
    with zipfile.ZipFile(path) as opened:
        size = opened.getinfo("a.txt").compress_size
    with sources_of(path) as (member,), member:
        positions = [member.position, *(member.position for _ in member.blocks())]
    assert positions[-1] == (size if text else 0)


def test_the_mark_of_the_end_may_be_in_it_as_a_number() -> None:
    content = b"PK\5\6" + bytes(8) + b"PK\5\6" + bytes(6)
    assert zip_files._list_bytes(io.BytesIO(content), len(content)) == int.from_bytes(b"PK\5\6", "little")


def test_archives_with_exactly_the_maximum_of_members_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}", "text")
    listed = zip_files._list_bytes(content, len(content.getvalue()))
    for most, listable, fits in ((3, listed, True), (2, listed, False), (3, listed - 1, False)):
        monkeypatch.setattr(zip_files, "MAX_MEMBERS", most)
        monkeypatch.setattr(zip_files, "MAX_LIST_BYTES", listable)
        if fits:
            assert len(zip_files.open_zip(content, "a.zip").namelist()) == 3
            continue
        with pytest.raises(
            InputError, match=rf"^a\.zip has more than {most} members; extract it and name the folder\.$"
        ):
            zip_files.open_zip(content, "a.zip")
