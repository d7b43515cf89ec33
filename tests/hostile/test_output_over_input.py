"""No command replaces an input by an output, or one output by another."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from homonym.cli.app import cli
from homonym.commands.convert import convert
from homonym.commands.demo import demo
from homonym.commands.disambiguate import disambiguate
from homonym.commands.generate import generate
from homonym.commands.run import Resources
from homonym.errors import OutputError
from homonym.io.outputs import require_distinct
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus

DOCUMENTS = "".join(
    f'{{"id": "W{n}", "title": "On {n}", "authors": [{{"name": "Doe, J", "author": "{n % 2}"}}]}}\n' for n in range(6)
)

#: Every option and argument of a command that names files, and whether the command reads or writes it. A new option
#: with a path must be added here, and is then tested with all others.
READ = {"inputs", "authors", "settings_file", "pairs", "statistics", "gold", "names", "table"}
WRITTEN = {"output", "trace", "rejects", "save_statistics", "json", "new_pairs", "export"}
DIRECTORIES = {"work", "result"}
#: Files that belong to a result, which has a test of its own: tests/exports/test_original_files.py.
OF_RESULTS = {"originals"}
#: Commands whose output is a directory of files with names of their own.
WRITES_DIRECTORY = {"study", "generate", "demo"}
#: Commands that need a result to work on; they have a test of their own below.
CHANGE_A_RESULT = {"update", "decisions"}


def path_parameters(command: click.Command) -> dict[str, click.Parameter]:
    return {one.name or "": one for one in command.params if isinstance(one.type, click.Path)}


def test_every_path_of_every_command_is_known() -> None:
    for command in cli.commands.values():
        assert set(path_parameters(command)) <= READ | WRITTEN | DIRECTORIES | OF_RESULTS


COMBINATIONS = [
    (name, read, written)
    for name, command in cli.commands.items()
    for read in sorted(READ & set(path_parameters(command)))
    for written in sorted(WRITTEN & set(path_parameters(command)))
    if not (name in WRITES_DIRECTORY and written == "output") and name not in CHANGE_A_RESULT
]

#: A file that is usable for an option, and so is not refused for another reason.
CONTENT = {
    "settings_file": ("s.toml", "beta = 0.1\n"),
    "pairs": ("p.csv", "mention_a,mention_b,relation\nW1#0,W2#0,same\n"),
    "statistics": ("f.csv", "type,feature,count\nterm,on,6\n"),
    "authors": ("a.csv", "mention_id,author_id\nW1#0,1\n"),
}


def arguments_of(command: click.Command, values: dict[str, Path]) -> list[str]:
    """The arguments that give some paths to a command."""
    given: list[str] = []
    for name, parameter in path_parameters(command).items():
        if name in values:
            given += [*([] if isinstance(parameter, click.Argument) else parameter.opts[:1]), str(values[name])]
    return given


@pytest.mark.parametrize(("name", "read", "written"), COMBINATIONS)
def test_refuses_an_output_that_is_an_input(tmp_path: Path, name: str, read: str, written: str) -> None:
    command = cli.commands[name]
    values = {}
    for parameter in path_parameters(command):
        file, content = CONTENT.get(parameter, ("in.jsonl", DOCUMENTS))
        needed = parameter in {"inputs", "authors", "gold", read}
        if parameter in READ and needed:
            values[parameter] = tmp_path / file
            values[parameter].write_text(content)
    path = values[read]
    if written in {"output", "trace"} and name != "evaluate" and path.suffix not in {".csv", ".jsonl"}:
        path = path.rename(path.with_suffix(".csv"))
    if "output" in path_parameters(command):
        values["output"] = tmp_path / ("out.jsonl" if name in {"extract", "convert"} else "out.csv")
    values |= {read: path, written: path}
    before = path.read_bytes()
    more = ["--mentions-in-collection", "6"] if read == "statistics" else []
    done = CliRunner().invoke(cli, [name, *arguments_of(command, values), *more])
    assert isinstance(done.exception, OutputError), done.output
    assert f"{path} is an input and would be overwritten" in str(done.exception)
    assert path.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in values.values() if file.exists()}


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["update", "result", "in.jsonl", "--rejects", "in.jsonl"], "in.jsonl"),
        (["decisions", "result", "--import", "pairs.csv", "--export", "pairs.csv"], "pairs.csv"),
    ],
)
def test_commands_that_change_a_result_refuse_an_output_that_is_an_input(
    tmp_path: Path, records: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], file: str
) -> None:
    monkeypatch.chdir(tmp_path)
    disambiguate(records, "result", Settings(beta=0.1))
    (tmp_path / "pairs.csv").write_text(CONTENT["pairs"][1])
    before = (tmp_path / file).read_bytes()
    done = CliRunner().invoke(cli, arguments)
    assert isinstance(done.exception, OutputError), done.output
    assert f"{file} is an input and would be overwritten" in str(done.exception)
    assert (tmp_path / file).read_bytes() == before


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text(DOCUMENTS)
    return path


def symbolic(path: Path) -> Path:
    (path.parent / "link.jsonl").symlink_to(path.name)
    return path.parent / "link.jsonl"


def hard(path: Path) -> Path:
    (path.parent / "hard.jsonl").hardlink_to(path)
    return path.parent / "hard.jsonl"


def through_linked_directory(path: Path) -> Path:
    (path.parent / "folder").symlink_to(".")
    return path.parent / "folder" / path.name


@pytest.mark.parametrize("other_name", [symbolic, hard, through_linked_directory])
def test_finds_the_same_file_under_another_name(records: Path, other_name: Callable[[Path], Path]) -> None:
    other = other_name(records)
    for source, target in ((records, other), (other, records)):
        with pytest.raises(OutputError, match="the same file as the input"):
            convert(source, target)
    assert records.read_text() == DOCUMENTS


def test_refuses_relative_and_absolute_spelling(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(records.parent)
    with pytest.raises(OutputError, match="the same file as the input"):
        convert(records, f"../{records.parent.name}/in.jsonl")


def test_refuses_the_file_that_standard_input_comes_from(records: Path) -> None:
    saved = os.dup(0)
    try:
        with records.open("rb") as stream:
            os.dup2(stream.fileno(), 0)
        with pytest.raises(OutputError, match="the same file as standard input"):
            require_distinct([Path("-")], [records])
    finally:
        os.dup2(saved, 0)
        os.close(saved)


def test_refuses_a_file_of_an_input_directory(records: Path) -> None:
    with pytest.raises(OutputError, match="is an input"):
        convert(records.parent, records)
    with pytest.raises(OutputError, match="is an input"):
        convert(str(records.parent / "*.jsonl"), records)


def test_refuses_side_files_that_are_inputs(records: Path) -> None:
    for name in ("out.settings.toml", "out.run.json", "out.contradictions.csv"):
        shutil.copy(records, records.with_name(name))
        with pytest.raises(OutputError, match=f"{name} is an input"):
            disambiguate([records, records.with_name(name)], records.with_name("out.csv"))


def test_refuses_two_outputs_in_one_file(records: Path) -> None:
    out = records.with_name("out.csv")
    for options in (
        {"trace": out},
        {"rejects": out},
        {"save_statistics": out},
        {"rejects": out.with_suffix(".run.json")},
    ):
        with pytest.raises(OutputError, match="is named for two outputs"):
            disambiguate(records, out, **options)  # type: ignore[call-overload]
    assert not out.exists()


def test_side_file_of_given_statistics_is_an_input(records: Path) -> None:
    given = records.with_name("s.csv")
    given.write_text("type,feature,count\nterm,on,6\n")
    with pytest.raises(OutputError, match=r"s\.collection\.json is an input"):
        disambiguate(
            records, records.with_name("out.csv"), statistics=given, mentions_in_collection=6,
            save_statistics=records.with_name("s.parquet"),
        )  # fmt: skip


def test_refuses_a_work_directory_with_inputs_or_outputs_or_inside_an_input(tmp_path: Path) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    (folder / "in.jsonl").write_text(DOCUMENTS)
    out = tmp_path / "out.jsonl"
    for inputs, output, work in (
        (folder / "in.jsonl", out, folder),
        (folder / "in.jsonl", out, tmp_path),
        (folder / "in.jsonl", tmp_path / "work" / "out.jsonl", tmp_path / "work"),
        (folder, out, folder / "work"),
    ):
        with pytest.raises(OutputError, match="work directory"):
            convert(inputs, output, resources=Resources(work=work))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["exports", "in.jsonl"]


def test_devices_may_be_named_twice() -> None:
    require_distinct([Path(os.devnull)], [Path(os.devnull), Path(os.devnull)])


def test_output_through_a_symbolic_link_replaces_its_target(records: Path) -> None:
    (records.parent / "results").mkdir()
    link, target = records.with_name("latest.jsonl"), records.parent / "results" / "today.jsonl"
    link.symlink_to(target)
    convert(records, link)
    assert link.is_symlink()
    assert target.read_text().count("\n") == 6


@pytest.mark.parametrize(
    ("named", "found"), [("papers.json", "clusters.json"), ("train_pub.json", "train_author.json")]
)
def test_files_that_are_found_next_to_an_input_are_inputs(tmp_path: Path, named: str, found: str) -> None:
    for name in (named, found):
        (tmp_path / name).write_text("{}")
    with pytest.raises(OutputError, match=f"{found} is an input and would be overwritten"):
        convert(tmp_path / named, tmp_path / "out.jsonl", rejects=tmp_path / found)
    assert (tmp_path / found).read_text() == "{}"


def small_corpus(output: Path) -> Path:
    return generate(output, Corpus(mentions=50))


@pytest.mark.parametrize("command", [small_corpus, demo])
def test_a_generated_corpus_replaces_no_files_of_others(
    command: Callable[[Path], object], tmp_path: Path, records: Path
) -> None:
    result = disambiguate(records, tmp_path / "result", Settings(kappa=7)).output
    page = (result / "report.html").read_bytes()
    with pytest.raises(OutputError, match="is a result directory; name another"):
        command(result)
    assert (result / "report.html").read_bytes() == page
    assert not (result / "documents.jsonl.gz").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "documents.jsonl.gz").write_bytes(b"labelled by hand")
    with pytest.raises(OutputError, match="was not made by homonym generate"):
        command(tmp_path / "mine")
    assert (tmp_path / "mine" / "documents.jsonl.gz").read_bytes() == b"labelled by hand"


def test_a_demonstration_replaces_no_page_of_others(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(OutputError, match=r"report\.html was not made by"):
        demo(tmp_path, mentions=50)


def test_a_generated_corpus_replaces_its_own_files(tmp_path: Path) -> None:
    assert small_corpus(tmp_path / "own") == small_corpus(tmp_path / "own")


def test_message_about_two_outputs_names_the_other_spelling_only_if_it_differs(tmp_path: Path) -> None:
    out, link = tmp_path / "out.csv", tmp_path / "link.csv"
    link.symlink_to(out)
    with pytest.raises(OutputError, match=r"out.csv is named for two outputs; name a file"):
        require_distinct([], [out, out])
    with pytest.raises(OutputError, match=r"link.csv is named for two outputs \(also as .*out.csv\); name a file"):
        require_distinct([], [out, link])
