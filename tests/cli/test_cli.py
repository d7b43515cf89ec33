"""The command line: what it prints, how it ends, and that it is the library's twin."""

from __future__ import annotations

import dataclasses
import gzip
import inspect
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import orjson
import pytest

import homonym
from homonym.cli.app import cli
from homonym.settings import CLUSTERING, EXTRACTION, Settings
from homonym.synthetic.corpus import Corpus
from tests.support.command import homonym_command, homonym_process

COMMANDS = {name: command for name, command in cli.commands.items() if isinstance(command, click.Command)}
#: Options that are about the terminal, and parameters that are objects there and several options here.
ONLY_TERMINAL = {"quiet", "settings_file", "as_json", "every"}
GATHERED = {"settings", "resources", "listener", "advance", "corpus"}


@pytest.fixture(scope="module")
def corpus(generated: Callable[[Corpus], Path]) -> Path:
    return generated(Corpus(mentions=2000, seed=3))


def test_commands_are_the_public_functions() -> None:
    functions = {name for name in homonym.__all__ if inspect.isfunction(getattr(homonym, name))}
    assert set(COMMANDS) == functions


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_options_are_the_functions_parameters(name: str) -> None:
    options = {parameter.name for parameter in COMMANDS[name].params} - ONLY_TERMINAL
    options -= set(Settings.model_fields) | {"threads", "memory", "work", "engine", "master"}
    parameters = set(inspect.signature(getattr(homonym, name)).parameters)
    if "corpus" in parameters:
        options -= {field.name for field in dataclasses.fields(Corpus)}
    assert options == parameters - GATHERED


def test_every_setting_has_an_option() -> None:
    assert sorted(EXTRACTION + CLUSTERING) == sorted(Settings.model_fields)
    assert {parameter.name for parameter in COMMANDS["disambiguate"].params} >= set(Settings.model_fields)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_lists_every_option_once(name: str) -> None:
    command = COMMANDS[name]
    # click keeps the help option of a command, so its names must be those of the program.
    names = cli.context_settings["help_option_names"]
    text = command.get_help(
        click.Context(command, terminal_width=1000, max_content_width=1000, help_option_names=names)
    )
    listed = [line.split()[0].rstrip(",") for line in text.splitlines() if line.startswith("  -")]
    options = [parameter.opts[0] for parameter in command.params if isinstance(parameter, click.Option)]
    assert sorted(listed) == sorted([names[0], *options])


def test_help_of_a_run_has_headings_for_its_options() -> None:
    lines = homonym_command("disambiguate", "--help").stdout.splitlines()
    headings = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert headings[:3] == ["Options:", "Reading:", "Corrections and constraints:"]
    assert next(line for line in lines[lines.index("Merge threshold:") :] if "--kappa" in line)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_has_an_example(name: str) -> None:
    done = homonym_command(name, "--help")
    assert done.returncode == 0
    assert "Example:" in done.stdout
    assert f"homonym {name}" in done.stdout


@pytest.mark.slow
def test_the_whole_way(corpus: Path, tmp_path: Path) -> None:
    authors = tmp_path / "authors.csv"
    done = homonym_command("disambiguate", corpus, "-o", authors, "--weights", "co=.5,term=.5", "--threads", 1)
    assert done.returncode == 0, done.stderr
    assert "mentions" in done.stdout
    assert str(authors) in done.stdout
    assert "[weights]" in (tmp_path / "authors.settings.toml").read_text()
    again = tmp_path / "again.csv"
    done = homonym_command("disambiguate", corpus, "-o", again, "--settings", tmp_path / "authors.settings.toml", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert again.read_bytes() == authors.read_bytes()
    done = homonym_command(
        "evaluate", authors, "--gold", corpus, "--json", tmp_path / "e.json", "-o", tmp_path / "r.html"
    )
    assert done.returncode == 0, done.stderr
    assert "B-cubed" in done.stdout
    assert orjson.loads((tmp_path / "e.json").read_bytes())["bcubed"]["f1"] > 0.5
    assert "<svg" in (tmp_path / "r.html").read_text()


RIS = "TY  - JOUR\nAU  - Doe, Jane\nAU  - Roe, R\nTI  - On coins\nPY  - 2014\nDO  - 10.1000/x\nER  - \n"


@pytest.mark.slow
def test_exports_of_several_formats_are_inspected_and_converted(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ris").write_text(RIS)
    (tmp_path / "in" / "b.bib").write_text("@article{doe15, author={Doe, J.}, title={On trees}}\n@article{broken,\n")
    done = homonym_command("inspect", "in", "--rejects", "rejects.jsonl", "--json", "found.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line in ("files 1 RIS", "files 1 BibTeX", "records 2 0 without authors", "mentions 3", "records rejected 1"):
        assert line in " ".join(done.stdout.split())
    assert "DOE, J" in done.stdout
    assert "in/b.bib, line 2" in done.stderr
    assert orjson.loads((tmp_path / "found.json").read_bytes())["mentions"] == 3
    assert b"@article{broken" in (tmp_path / "rejects.jsonl").read_bytes()
    done = homonym_command("convert", "in/*.ris", "in/b.bib", "in", "-o", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 records, 3 mentions" in done.stdout
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("command", ["disambiguate", "convert", "extract"])
def test_standard_input_is_read(tmp_path: Path, command: str) -> None:
    done = homonym_process(command, "-", "-o", "out.jsonl", "-q", cwd=tmp_path, input=RIS)
    assert (done.returncode, done.stdout) == (0, "")
    assert all(
        line.startswith("warning: the collection is too small to calibrate the limit")
        for line in done.stderr.splitlines()
    )
    assert b"Doe, Jane" in (tmp_path / "out.jsonl").read_bytes()


def test_columns_of_a_table_are_named(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text('Key,Names in full,When\nk1,"Doe, J; Roe, R",2014\n')
    columns = "id=Key,authors=Names in full,year=When"
    done = homonym_command("convert", "in.csv", "-o", "out.jsonl", "--columns", columns, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert orjson.loads((tmp_path / "out.jsonl").read_bytes()) == {
        "id": "k1", "year": 2014, "authors": [{"name": "Doe, J"}, {"name": "Roe, R"}]
    }  # fmt: skip


@pytest.mark.slow
def test_demo_ends_with_the_path_of_its_report(tmp_path: Path) -> None:
    done = homonym_command("demo", "-o", tmp_path / "demo", "--mentions", 2000)
    assert done.returncode == 0, done.stderr
    report = Path(done.stdout.strip().splitlines()[-1])
    assert report == tmp_path / "demo" / "report.html"
    assert "they say nothing about how well it does on real records" in report.read_text()
    people = homonym_command("export", tmp_path / "demo" / "result", "--to", "csv", "-o", tmp_path / "people.csv")
    assert people.returncode == 0, people.stderr
    assert (tmp_path / "demo" / "result" / "report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["disambiguate", "missing.jsonl", "-o", "out.csv"], "missing.jsonl cannot be read"),
        (["disambiguate", "{corpus}", "-o", "nowhere/out.csv"], "nowhere does not exist"),
        (["disambiguate", "{corpus}", "-o", "out.csv", "--weights", "co=.5"], "sum to 0.5"),
        (["disambiguate", "{corpus}", "-o", "out.csv", "--weights", "co=x"], "not of the form"),
        (["disambiguate", "{corpus}", "-o", "out.csv", "--weights", "shoe=1"], "unknown feature type 'shoe'"),
        (["disambiguate", "{corpus}", "-o", "out.csv", "--epsilon", "0"], "epsilon"),
        (["disambiguate", "{corpus}", "-o", "out.csv", "--statistics", "{corpus}"], "--mentions-in-collection"),
        (["disambiguate", "{corpus}", "-o", "out.csv", "--mentions-in-collection", "5"], "goes with --statistics"),
        (["disambiguate", "{corpus}", "-o", "out.csv", "--settings", "none.toml"], "none.toml cannot be read"),
        (["cluster", "{corpus}", "-o", "out.csv"], "use homonym disambiguate"),
        (["disambiguate", "{corpus}"], "Missing option"),
        (["disambiguate", "{corpus}", "-o", "out.csv", "--variant", "sum"], "'prob', 'max'"),
        (["evaluate", "{corpus}", "--gold", "{corpus}"], "author_id"),
        (["generate", "-o", "out", "--missing", "7"], "missing must be"),
        (["convert", "{corpus}", "-o", "out.csv"], "choose one of these suffixes"),
        (["convert", "{corpus}", "-o", "out.jsonl", "--format", "marc"], "'openalex'"),
        (["convert", "{corpus}", "-o", "out.jsonl", "--columns", "id"], "not of the form field=column"),
        (["inspect", "*.nothing"], "matches no file"),
        (["inspect", "{corpus}", "--format", "ris"], "no usable documents"),
        (["calibrate", "-", "--gold", "{corpus}"], "is read twice"),
    ],
)
def test_wrong_usage_is_one_sentence_and_status_2(
    corpus: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = homonym_command(*(word.format(corpus=corpus) for word in arguments), cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_broken_lines_are_shown_with_their_place(tmp_path: Path) -> None:
    lines = [b'{"id": %d, "authors": [{"name": "Doe, J"}]}' % i for i in range(30)]
    lines[16] = b'{"id": 16, "authors"'
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    done = homonym_command("disambiguate", "in.jsonl", "-o", "out.csv", cwd=tmp_path)
    assert done.returncode == 0
    assert "in.jsonl, line 17: not valid JSON" in done.stderr
    assert "Rejected: 1 record." in done.stderr
    done = homonym_command("disambiguate", "in.jsonl", "-o", "strict.csv", "--strict", cwd=tmp_path)
    assert done.returncode == 2
    assert "line 17" in done.stderr
    assert not (tmp_path / "strict.csv").exists()


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from homonym.cli import main; main()",
        "generate",
        "-o",
        "out",
        "--mentions",
        "5000000",
    ]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    waited = 0.0
    while not list(tmp_path.glob("out/.*partial*")) and waited < 60:
        time.sleep(0.1)
        waited += 0.1
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert errors.strip() == "homonym: interrupted; the run did not finish."
    assert not list((tmp_path / "out").iterdir())


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("large")
    assert homonym_command("generate", "-o", directory, "--mentions", 80_000, "-q").returncode == 0
    plain = directory / "documents.jsonl"
    plain.write_bytes(gzip.decompress((directory / "documents.jsonl.gz").read_bytes()))
    return plain


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["done/read/*.json", "identifiers.parquet", "mentions.parquet", "feature.bin"])
def test_ctrl_c_leaves_only_the_work_at_any_stage(large: Path, tmp_path: Path, stage: str) -> None:
    command = [
        sys.executable,
        "-c",
        "from homonym.cli import main; main()",
        "disambiguate",
        str(large),
        "-o",
        "out.csv",
    ]
    running = subprocess.Popen(
        [*command, "--threads", "2"], cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    waited = 0.0
    while not list(tmp_path.glob(f".out.csv.work/{stage}")) and waited < 60:
        time.sleep(0.02)
        waited += 0.02
    os.killpg(running.pid, signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    assert errors.strip().splitlines()[-2:] == [
        "homonym: interrupted; the run did not finish.",
        "Finished work is kept in .out.csv.work: the same command resumes there, or delete it.",
    ]
    assert [path.name for path in tmp_path.iterdir()] == [".out.csv.work"]
    assert not orjson.loads((tmp_path / ".out.csv.work" / "run.json").read_bytes())["finished"]


@pytest.mark.slow
def test_a_full_disk_is_one_sentence(corpus: Path, tmp_path: Path) -> None:
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    done = homonym_process("disambiguate", corpus, "-o", tmp_path / "out.csv", preexec_fn=little_room)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "not enough memory or disk space" in done.stderr
    assert not (tmp_path / "out.csv").exists()
