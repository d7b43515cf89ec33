"""Directories and URLs as outputs remove nothing of the user, and the same command works again after a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from homonym.cli.app import cli
from homonym.commands.calibrate import calibrate
from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.run import Resources
from homonym.commands.study import study
from homonym.errors import OutputError
from homonym.io.urls import is_within, local_path
from homonym.runtime.own_files import require_spark_table
from homonym.settings import Settings, load_settings
from tests.support.command import homonym_command

DOCUMENTS = "".join(
    f'{{"id": "W{n}", "title": "On {n}", "authors": [{{"name": "Doe, J", "author": "{n % 2}"}}]}}\n' for n in range(6)
)
SPARK = Resources(engine="spark")
LIMIT = Settings(beta=0.1)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text(DOCUMENTS)
    return path


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name", ["notes.txt", "part-1.jsonl.gz", "authors.parquet", ".git", "part-00000.parquet.bak", "_thesis"]
)
@pytest.mark.parametrize("spelled", ["{}", "{}/", "file://{}", "file://localhost{}/"])
def test_spark_does_not_replace_a_directory_with_files_of_others(records: Path, name: str, spelled: str) -> None:
    results = records.parent / "results"
    results.mkdir()
    (results / "_SUCCESS").touch()
    (results / name).write_text("precious")
    reason = r"has files that Spark did not write \(.*\) and would remove"
    if not spelled.startswith("file:"):
        reason = "is not empty and not a result of homonym"
    with pytest.raises(OutputError, match=f"results {reason}"):
        disambiguate(records, spelled.format(results), resources=SPARK)
    assert tree(results) == {"_SUCCESS": b"", name: b"precious"}


def test_spark_replaces_its_own_table(tmp_path: Path) -> None:
    require_spark_table(tmp_path / "new")
    require_spark_table(tmp_path)
    for name in ("part-00000-8a-c000.snappy.parquet", ".part-00000-8a-c000.snappy.parquet.crc", "_SUCCESS",
                 "._SUCCESS.crc", "_committed_12"):  # fmt: skip
        (tmp_path / name).touch()
    (tmp_path / "_temporary").mkdir()
    require_spark_table(tmp_path)


@pytest.mark.parametrize("spelled", ["{}/", "file://{}"])
@pytest.mark.parametrize(
    "option",
    [
        lambda inside: {"save_statistics": inside / "s.csv"},
        lambda inside: {"rejects": inside / "r.jsonl"},
        lambda inside: {"resources": Resources(engine="spark", work=inside / "w")},
        lambda inside: {"resources": Resources(engine="spark", work=f"file://{inside}/w")},
    ],
)
def test_nothing_else_of_a_run_is_in_the_directory_that_spark_replaces(
    records: Path, spelled: str, option: Callable[[Path], dict[str, Any]]
) -> None:
    results = records.parent / "results"
    results.mkdir()
    with pytest.raises(OutputError, match="results, which this run replaces"):
        disambiguate(records, spelled.format(results), **{"resources": SPARK, **option(results)})
    assert tree(results) == {}


@pytest.mark.parametrize("engine", ["spark", "local"])
def test_settings_file_is_an_input(records: Path, engine: str) -> None:
    results = records.parent / "results"
    results.mkdir()
    file = results / "s.toml"
    file.write_text("beta = 0.1\n")
    output = f"{results}/" if engine == "spark" else results / "s.csv"
    for name in ("s.toml", "s.settings.toml", "s.contradictions.csv", "s.run.json"):
        file = file.rename(results / name)
        if engine == "local" and name == "s.toml":
            continue
        done = CliRunner().invoke(
            cli, ["disambiguate", str(records), "-o", str(output), "--settings", str(file), "--engine", engine]
        )
        assert isinstance(done.exception, OutputError), done.output
        assert f"{file} is an input" in str(done.exception)
        assert tree(results) == {name: b"beta = 0.1\n"}


def test_settings_remember_their_file_and_are_equal_without_it(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("beta = 0.1\n")
    loaded = load_settings(tmp_path / "s.toml")
    assert loaded == LIMIT
    assert hash(loaded) == hash(LIMIT)
    assert loaded.changed(epsilon=0.1).file == loaded.with_limit(loaded.limit).file == tmp_path / "s.toml"
    assert LIMIT.file is None
    assert loaded.changed(epsilon=0.1) != LIMIT


@pytest.mark.parametrize("folder", ["runs", "tables", "figures"])
@pytest.mark.parametrize("what", ["inputs", "gold", "settings", "statistics", "rejects", "work"])
def test_study_has_no_other_file_in_the_directories_that_it_fills(records: Path, folder: str, what: str) -> None:
    inside = records.parent / "study" / folder
    inside.mkdir(parents=True)
    (inside / "file").write_text("beta = 0.1\n" if what == "settings" else DOCUMENTS)
    choices: dict[str, dict[str, Any]] = {
        "inputs": {"inputs": inside / "file"},
        "gold": {"gold": inside / "file"},
        "settings": {"settings": load_settings(inside / "file") if what == "settings" else None},
        "statistics": {"statistics": inside / "file", "mentions_in_collection": 6},
        "rejects": {"rejects": inside / "file"},
        "work": {"resources": Resources(work=inside / "work")},
    }
    before = tree(records.parent)
    with pytest.raises(OutputError, match=folder):
        study(**{"inputs": records, "output": records.parent / "study", **choices[what]})
    assert tree(records.parent) == before


@pytest.mark.parametrize(
    ("inputs", "output", "work"),
    [
        ("hdfs:///d/a.jsonl", "hdfs:///d/", None),
        ("hdfs:///d/a.jsonl", "hdfs:///d/a.jsonl", None),
        ("hdfs:///d/sub/*.jsonl", "HDFS://head:9000/d", None),
        ("hdfs:///d/x/../a.jsonl", "hdfs:///./d", None),
        ("s3a://bucket/d/a.jsonl", "s3://bucket/d/", None),
        ("hdfs:///{a,b}/c.jsonl", "hdfs:///a", None),
        ("hdfs:///d/", "hdfs:///d/authors/", None),
        ("hdfs:///d/*", "hdfs:///d/authors/", None),
        ("hdfs:///d/a.jsonl", "hdfs:///out/", "hdfs:///d"),
        ("hdfs:///d/", "hdfs:///out/", "hdfs:///d/work"),
        ("hdfs:///d/", "hdfs:///out/", "hdfs:///out/work"),
        ("hdfs:///d/", "hdfs:///out/authors", "hdfs:///out"),
    ],
)
def test_urls_of_inputs_output_and_work_do_not_overlap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inputs: str, output: str, work: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="overlaps with"):
        disambiguate(inputs, output, resources=Resources(engine="spark", work=work))
    assert tree(tmp_path) == {}


def test_urls_of_neighbours_do_not_overlap() -> None:
    for one, other in (("hdfs:///data/a", "hdfs:///d"), ("hdfs://a/d", "hdfs://b/d"), ("s3a://b/d", "gs://b/d"),
                       ("hdfs:///d/*.jsonl", "hdfs:///d/authors")):  # fmt: skip
        assert not is_within(one, other)
        assert not is_within(other, one)


@pytest.mark.parametrize("source", ["{}/in.jsonl", "{}/*.jsonl", "{}", "{}/"])
@pytest.mark.parametrize("target", ["{}/", "file://{}", "file:///proc/self/root{}/"])
def test_file_urls_are_compared_as_paths(records: Path, source: str, target: str) -> None:
    folder = records.parent
    with pytest.raises(OutputError, match=r"in\.jsonl is an input, but this run writes into"):
        disambiguate(f"file://{source.format(folder)}", target.format(folder), resources=SPARK)
    with pytest.raises(OutputError, match=r"is an input|the same file as the input"):
        disambiguate(f"file://{source.format(folder)}", folder / "in.jsonl", resources=SPARK)
    assert tree(folder) == {"in.jsonl": DOCUMENTS.encode()}
    assert local_path(f"file://{folder}") == str(folder)


def same_twice(folder: Path, run: Callable[[], Any], *, logs: int = 1) -> None:
    first = run()
    before = tree(folder)
    second = run()
    after = tree(folder)
    assert len([name for name in before if name.endswith("run.json")]) == logs
    for name in before:
        if not name.endswith("run.json"):  # has the times of the run
            assert after[name] == before[name], name
    assert before.keys() == after.keys()
    assert not [warning for warning in first.warnings if "not read" in warning]
    assert [warning for warning in second.warnings if "not read: outputs of this command" in warning]


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "in.jsonl").write_text(DOCUMENTS + "{broken\n")
    return folder


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_same_command_works_again_with_all_outputs_in_the_input_directory(exports: Path, suffix: str) -> None:
    def run() -> Any:
        return disambiguate(
            exports, exports / f"authors{suffix}", LIMIT, rejects=exports / "rejects.jsonl", trace=exports / "t.csv",
            save_statistics=exports / "s.csv",
        )  # fmt: skip

    same_twice(exports, run)
    read = orjson.loads((exports / "authors.run.json").read_bytes())["inputs"]
    assert [Path(one["file"]).name for one in read] == ["in.jsonl"]


def test_convert_into_the_input_directory_works_again(exports: Path) -> None:
    same_twice(exports, lambda: convert(exports, exports / "all.jsonl"))


@pytest.mark.slow
def test_outputs_that_are_no_records_need_no_log(exports: Path) -> None:
    same_twice(exports, lambda: calibrate(exports, output=exports / "limit.toml"), logs=0)


def test_records_of_the_user_are_never_taken_for_an_output(exports: Path) -> None:
    disambiguate(exports, exports / "authors.csv", LIMIT)
    (exports / "more.jsonl").write_text(DOCUMENTS.replace("W", "V"))
    before = tree(exports)
    with pytest.raises(OutputError, match=r"more\.jsonl is an input and would be overwritten"):
        disambiguate(exports, exports / "authors.csv", LIMIT, rejects=exports / "more.jsonl")
    with pytest.raises(OutputError, match=r"more\.jsonl is an input and would be overwritten"):
        convert(exports, exports / "more.jsonl")
    with pytest.raises(OutputError, match=r"authors\.csv is an input and would be overwritten"):
        disambiguate([exports / "in.jsonl", exports / "authors.csv"], exports / "authors.csv", LIMIT)
    assert tree(exports) == before


KILLED_AFTER_RESULT = """
import os, signal
from pathlib import Path
from homonym.commands import result
result.write_atomic = lambda path, content: os.kill(os.getpid(), signal.SIGKILL)
from homonym.cli import main
main()
"""


@pytest.mark.slow
def test_resumes_after_a_kill_between_the_result_and_its_settings(exports: Path, tmp_path: Path) -> None:
    arguments = ["disambiguate", str(exports), "-o", str(exports / "authors.csv"), "--beta", "0.1"]
    killed = subprocess.run([sys.executable, "-c", KILLED_AFTER_RESULT, *arguments], capture_output=True, timeout=120)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (exports / "authors.csv").exists()
    assert not (exports / "authors.settings.toml").exists()
    assert os.path.isdir(exports / ".authors.csv.work")
    summary = disambiguate(exports, exports / "authors.csv", LIMIT)
    assert "1 file not read: outputs of this command (authors.csv)." in summary.warnings
    expected = disambiguate(exports / "in.jsonl", tmp_path / "authors.csv", LIMIT)
    for ending in (".csv", ".settings.toml"):
        assert (exports / f"authors{ending}").read_bytes() == expected.output.with_suffix(ending).read_bytes()


@pytest.fixture
def result(records: Path) -> Path:
    disambiguate(records, records.parent / "result", LIMIT)
    return records.parent / "result"


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("disambiguate", "in.jsonl", "-o", "result/mentions.parquet"),
        ("disambiguate", "in.jsonl", "-o", "a.csv", "--rejects", "result/run.json"),
        ("convert", "in.jsonl", "-o", "link.jsonl"),
        ("evaluate", "result", "--gold", "in.jsonl", "-o", "result/report.html"),
        ("explain", "result", "Doe, J", "-o", "result/report.html"),
    ],
)
def test_no_output_replaces_a_single_file_of_a_result(
    result: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(result.parent)
    (result.parent / "link.jsonl").symlink_to(result / "settings.toml")
    before = tree(result)
    ended = homonym_command(*arguments)
    assert ended.returncode == 2
    assert "is a file of a result directory and would be overwritten; name another file." in ended.stderr
    assert tree(result) == before


@pytest.mark.slow
def test_other_files_may_be_written_into_a_result(result: Path) -> None:
    homonym_command("explain", result, "Doe, J", "-o", result / "doe.html", check=True)
    assert (result / "doe.html").exists()


@pytest.mark.parametrize("output", [".", "..", "/", "deeper/.."])
def test_the_current_directory_and_those_above_are_not_replaced(records: Path, output: str) -> None:
    deeper = records.parent / "empty" / "deeper"
    deeper.mkdir(parents=True)
    ended = homonym_command("disambiguate", records, "-o", output, cwd=deeper.parent)
    assert ended.returncode == 2
    assert ended.stderr.startswith("homonym: ")
    assert "name another" in ended.stderr
    assert [path.name for path in deeper.parent.rglob("*")] == ["deeper"]


@pytest.mark.parametrize("name", ["n" * 230 + ".csv", "n" * 240, "ü" * 120 + ".parquet"])
def test_refuses_a_name_too_long_for_temporary_files(records: Path, name: str) -> None:
    with pytest.raises(OutputError, match="choose a shorter name"):
        disambiguate(records, records.with_name(name))
    assert list(records.parent.iterdir()) == [records]
