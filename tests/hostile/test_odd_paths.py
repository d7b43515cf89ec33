"""Paths with pattern characters, quotes, line breaks and bytes that are not UTF-8; pipes and devices."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import orjson
import pytest

from homonym.collection import counting
from homonym.collection.statistics import sql_files
from homonym.commands.check import check
from homonym.commands.cluster import cluster
from homonym.commands.decide import decide
from homonym.commands.decisions import decisions
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.explain import explain
from homonym.commands.export import export
from homonym.commands.extract import extract
from homonym.commands.run import Resources
from homonym.commands.update import update
from homonym.errors import InputError, OutputError
from homonym.io import special_files
from homonym.io.inputs import Source
from homonym.io.outputs import write_atomic
from homonym.io.paths import plain_path, printable
from homonym.settings import Settings
from tests.support.command import homonym_process

NAMES = [
    b"x[1]", b"a*b", b"q?q", b"it's", b'say "hi"', b"new\nline", b"100%", b"bad\xff\xfe", b"back\\slash", b"~",
    b"a:b", b"{a,b}", b"<b>&amp;", b" blank ",
]  # fmt: skip
#: All of it at once, for what takes longer.
WORST = b"w\xff[1]?*'\"\n%\\:{a,b}"
SETTINGS = Settings(beta=0.1)
ONE_THREAD = Resources(threads=1)


def documents(count: int, start: int = 0) -> bytes:
    rows = [
        {"id": f"W{n}", "title": "On things", "authors": [{"name": "Doe, J", "author": "d"}, {"name": f"Roe, {n}X"}]}
        for n in range(start, start + count)
    ]
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The result in a directory with a plain name."""
    folder = tmp_path_factory.mktemp("plain")
    (folder / "in.jsonl").write_bytes(documents(6))
    disambiguate(folder / "in.jsonl", folder / "out.csv", SETTINGS, resources=ONE_THREAD)
    return (folder / "out.csv").read_bytes()


def directory(parent: Path, name: bytes) -> Path:
    path = parent / os.fsdecode(name)
    path.mkdir()
    (path / "in.jsonl").write_bytes(documents(6))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_run_in_any_directory_gives_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: bytes, name: bytes
) -> None:
    directory(tmp_path, name)
    monkeypatch.chdir(tmp_path)  # a relative path may begin with ~
    folder = Path(os.fsdecode(name))
    done = disambiguate(folder / "in.jsonl", folder / "out.csv", SETTINGS, resources=ONE_THREAD)
    assert (folder / "out.csv").read_bytes() == expected
    assert sorted(path.name for path in folder.iterdir()) == [
        "in.jsonl", "out.csv", "out.run.json", "out.settings.toml",
    ]  # fmt: skip
    assert done.output == folder / "out.csv"


def test_never_reads_the_parts_of_another_run(tmp_path: Path, expected: bytes) -> None:
    # As a pattern, x[1] matches x1 and not itself.
    other, folder = directory(tmp_path, b"x1"), directory(tmp_path, b"x[1]")
    (other / "in.jsonl").write_bytes(documents(9, start=100))
    disambiguate(other / "in.jsonl", other / "o.csv", SETTINGS, resources=Resources(threads=1, work=other / "work"))
    done = disambiguate(
        folder / "in.jsonl", folder / "out.csv", SETTINGS, resources=Resources(threads=1, work=folder / "work")
    )
    assert done.records == 6
    assert (folder / "out.csv").read_bytes() == expected


def test_database_reads_the_files_that_are_named(tmp_path: Path) -> None:
    for name in ("a[1].csv", "a1.csv", "a*.csv", "a?.csv"):
        (tmp_path / name).write_text(f"x\n{name}\n")
    for name in ("a[1].csv", "a1.csv", "a*.csv", "a?.csv"):
        rows = duckdb.execute(f"SELECT x FROM read_csv({sql_files([tmp_path / name])}, header=true)").fetchall()
        assert rows == [(name,)]


def test_database_does_not_need_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "q?q"
    folder.mkdir()
    with plain_path(folder) as work, counting.connect(work, 1 << 28, 1) as connection:
        connection.execute("CREATE TABLE t AS SELECT range AS i FROM range(10)")
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_all_files_of_a_run_may_have_the_worst_name(tmp_path: Path) -> None:
    folder = directory(tmp_path, WORST)
    name = os.fsdecode(WORST)
    records, pairs = folder / f"{name}.jsonl", folder / f"p{name}.csv"
    records.write_bytes(documents(6) + b"{broken\n")
    pairs.write_text("mention_a,mention_b,relation\nW1#0,W2#0,same\n")
    out, mentions = folder / f"{name}.parquet", folder / f"m{name}.parquet"
    done = disambiguate(
        records, out, SETTINGS, pairs=pairs, rejects=folder / f"r{name}", trace=folder / f"t{name}.csv",
        save_statistics=folder / f"s{name}.csv", resources=Resources(threads=1, work=folder / f"work{name}"),
    )  # fmt: skip
    assert done.constraints is not None
    assert done.constraints.links
    assert str(done.problems.first[0]).startswith(printable(records))
    rejected = orjson.loads((folder / f"r{name}").read_bytes())
    assert rejected["file"] == printable(records)
    log = orjson.loads(done.log.read_bytes()) if done.log else {}
    assert log["inputs"][0]["file"] == printable(records)
    extract(records, mentions, resources=ONE_THREAD)
    again = cluster(
        mentions, folder / f"c{name}.csv", SETTINGS, statistics=folder / f"s{name}.csv", resources=ONE_THREAD
    )
    assert again.mentions == done.mentions
    page, figures = folder / f"e{name}.html", folder / f"e{name}.json"
    evaluate([out, again.output], records, output=page, json=figures)
    assert orjson.loads(figures.read_bytes())
    assert "<html" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_command_prints_any_name(tmp_path: Path) -> None:
    folder = directory(tmp_path, b"bad\xff[1]")
    done = subprocess.run(
        [sys.executable, "-c", "from homonym.cli import main; main()", "disambiguate", folder / "in.jsonl",
         "-o", folder / "out.csv", "--beta", "0.1"],
        capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(b"bad\xff[1]/out.csv")


@pytest.mark.slow
def test_messages_show_unusual_characters_as_escapes(tmp_path: Path) -> None:
    missing = tmp_path / os.fsdecode(b"no\xff\x1b[31m\n.jsonl")
    done = homonym_process("convert", missing, "-o", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert "no\\xff\\x1b[31m\\n.jsonl" in done.stderr
    assert done.stderr.count("\n") == 1


def test_pipe_without_a_writer_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(special_files, "PATIENCE", 0.2)
    with pytest.raises(
        InputError, match=r"pipe cannot be read: it is a pipe, and no program has opened it for writing"
    ):
        disambiguate(tmp_path / "pipe", tmp_path / "out.csv", SETTINGS)
    assert not any("wait" in thread.name for thread in threading.enumerate())


def test_pipe_without_a_writer_can_be_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = directory(tmp_path, b"in")
    os.mkfifo(tmp_path / "pairs")
    monkeypatch.setattr(special_files, "PATIENCE", 0.2)
    with pytest.raises(InputError, match="no program has opened it for writing"):
        disambiguate(folder / "in.jsonl", tmp_path / "out.csv", SETTINGS, pairs=tmp_path / "pairs")


def test_pipe_with_a_writer_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b"a\n"))
    writer.start()
    with Source(tmp_path / "pipe") as source:
        assert list(source.lines()) == [(1, b"a", "")]
    writer.join()


def test_pipe_as_output_gets_the_content(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_atomic(tmp_path / "pipe", b"content")
    reader.join()
    assert read == [b"content"]
    assert (tmp_path / "pipe").is_fifo()


def test_pipe_as_output_without_a_reader_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(special_files, "PATIENCE", 0.2)
    with pytest.raises(OutputError, match="no program has opened it for reading"):
        write_atomic(tmp_path / "pipe", b"content")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_devices_stay_devices(tmp_path: Path) -> None:
    device = tmp_path / "null"
    device.symlink_to("/dev/null")
    write_atomic(device, b"content")
    assert Path("/dev/null").is_char_device()
    with pytest.raises(OutputError, match="No space left"):
        write_atomic(Path("/dev/full"), b"content")
    assert Path("/dev/full").is_char_device()


def test_empty_device_as_input_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="/dev/null"):
        disambiguate("/dev/null", tmp_path / "out.csv", SETTINGS)


@pytest.mark.slow
def test_standard_output_as_file_is_appended_to(tmp_path: Path) -> None:
    folder = directory(tmp_path, b"in")
    log = tmp_path / "log"
    log.write_text("kept\n")
    with log.open("ab") as stream:
        done = subprocess.run(
            [sys.executable, "-c", "from homonym.cli import main; main()", "inspect", folder / "in.jsonl", "-q",
             "--json", "/dev/stdout"],
            stdout=stream, stderr=subprocess.PIPE,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, rest = log.read_bytes().split(b"\n", 1)
    assert first == b"kept"
    assert orjson.loads(rest)["records"] == 6


@pytest.mark.slow
def test_a_result_directory_may_have_the_worst_name(tmp_path: Path) -> None:
    folder = directory(tmp_path, WORST)
    disambiguate(folder / "in.jsonl", folder / "result", SETTINGS, resources=ONE_THREAD)
    assert explain(folder / "result", "Doe, J").mentions == 6
    with pytest.raises(InputError, match="names like it: DOE, J"):
        explain(folder / "result", "Doo, J")
    export(folder / "result", "bibtex", folder / "a.bib")
    assert (folder / "a.bib").read_text().count("@") == 6


@pytest.mark.slow
def test_check_reads_a_result_under_any_path_and_changes_need_utf8(tmp_path: Path) -> None:
    folder = directory(tmp_path, WORST)
    disambiguate(folder / "in.jsonl", folder / "result", SETTINGS, resources=ONE_THREAD)
    assert check(folder / "result").problems == []
    with pytest.raises(InputError, match=r"w\\xff.*is not UTF-8.*rename the directory"):
        update(folder / "result", folder / "in.jsonl")
    with pytest.raises(InputError, match="is not UTF-8"):
        decide(folder / "result", "same", "W0#0", "W1#0", reason="a test")
    with pytest.raises(InputError, match="is not UTF-8"):
        decisions(folder / "result")


def test_an_output_below_a_file_is_refused_with_the_reason(tmp_path: Path) -> None:
    directory(tmp_path, b"place")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="file is a file, not a directory"):
        disambiguate(tmp_path / "place" / "in.jsonl", tmp_path / "file" / "out.csv", resources=ONE_THREAD)


def test_only_surrogates_that_stand_for_bytes_are_shown_as_bytes() -> None:
    assert printable("\udc7f\udc80\udcff\udd00") == r"\udc7f\x80\xff\udd00"
