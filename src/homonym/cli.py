"""One command per public function: each parses its options and calls the function of its name."""

from __future__ import annotations

import dataclasses
import sys
import typing
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from homonym import __version__
from homonym.errors import HomonymError
from homonym.settings import Settings, load_settings, parse_weights

Command = TypeVar("Command", bound=Callable[..., Any])

EXTRACTION = ("blocking", "year_sigma", "year_reach", "title_weight", "abstract_weight", "language")
CLUSTERING = ("variant", "joint", "scope", "epsilon", "alpha", "beta", "weights")

FILE = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="homonym")
def cli() -> None:
    """Tell authors of the same name apart.

    \b
    Example:
      homonym disambiguate records.jsonl -o authors.csv
    """


def setting_options(*names: str) -> Callable[[Command], Command]:
    """An option for each of the named settings, described by the setting itself."""

    def decorate(command: Command) -> Command:
        command = click.option("--settings", "settings_file", type=FILE, help="Read settings from this TOML file.")(
            command
        )
        for name in reversed(names):
            command = _setting_option(name)(command)
        return command

    return decorate


def _setting_option(name: str) -> Callable[[Command], Command]:
    field = Settings.model_fields[name]
    flag = "--" + name.replace("_", "-")
    default = "the variant's" if field.default is None else field.default
    text = f"{field.description}  [default: {default}]"
    if field.annotation is bool:
        return click.option(f"{flag}/--no-{name}", name, default=None, help=text)
    return click.option(flag, name, type=_option_type(name), default=None, help=text)


def _option_type(name: str) -> Any:
    annotation = Settings.model_fields[name].annotation
    if typing.get_origin(annotation) is Literal:
        return click.Choice(typing.get_args(annotation))
    if name in {"weights", "language"}:
        return str
    return int if annotation is int else float


def run_options(command: Command) -> Command:
    """Options that every run has: what it may use, how much it says, how much it forgives."""
    for option in (
        click.option("--strict", is_flag=True, help="End with the first broken record instead of setting it aside."),
        click.option("--threads", type=click.IntRange(1), help="Cores to use.  [default: all]"),
        click.option("--memory", type=float, help="GiB that the run may use.  [default: half of the machine's]"),
        click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary."),
    ):
        command = option(command)
    return command


def statistics_options(command: Command) -> Command:
    """Options for frequencies that are counted elsewhere, or for elsewhere."""
    for option in (
        click.option("--trace", type=FILE, help="Also write every round of merging, continued to one cluster."),
        click.option("--save-statistics", type=FILE, help="Also write #(f) of this run (.csv, .csv.gz, .parquet)."),
        click.option("--mentions-in-collection", type=int, help="Number of mentions behind --statistics."),
        click.option("--statistics", type=FILE, help="Take #(f) from this table: type, feature, count."),
    ):
        command = option(command)
    return command


def corpus_options(command: Command) -> Command:
    """An option for each parameter of a generated corpus, described by the parameter itself."""
    from homonym.synthetic.corpus import Corpus

    for field in reversed(dataclasses.fields(Corpus)):
        flag = "--" + field.name.replace("_", "-")
        text = f"{field.metadata['help']}  [default: {field.default}]"
        if field.type == "bool":
            flag += f"/--no-{field.name}"
        kind = {"int": int, "float": float, "bool": bool}[str(field.type)]
        command = click.option(flag, field.name, type=kind, default=None, help=text)(command)
    return command


INPUTS = click.argument("inputs", metavar="IN...", nargs=-1, required=True, type=FILE)


@cli.command()
@INPUTS
@click.option("-o", "--output", required=True, type=FILE, help="Authors, as .parquet, .csv[.gz] or .jsonl[.gz].")
@setting_options(*EXTRACTION, *CLUSTERING)
@statistics_options
@run_options
def disambiguate(inputs: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Tell the authors of documents apart: records in, one author id per mention out.

    \b
    Example:
      homonym disambiguate records.jsonl.gz -o authors.parquet --blocking first-initial
    """
    from homonym.pipeline import disambiguate

    _run(disambiguate, inputs, output, options)


@cli.command()
@INPUTS
@click.option("-o", "--output", required=True, type=FILE, help="Authors, as .parquet, .csv[.gz] or .jsonl[.gz].")
@setting_options(*CLUSTERING)
@statistics_options
@run_options
def cluster(inputs: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Tell authors apart from mentions that bring their own bags of features.

    \b
    Example:
      homonym cluster mentions.jsonl.gz -o authors.csv --beta 2.4e-6 \\
        --statistics statistics.csv.gz --mentions-in-collection 1821295
    """
    from homonym.pipeline import cluster

    _run(cluster, inputs, output, options)


@cli.command()
@INPUTS
@click.option("-o", "--output", required=True, type=FILE, help="Mentions, as .jsonl, .jsonl.gz or .parquet.")
@setting_options(*EXTRACTION)
@click.option("--save-statistics", type=FILE, help="Also write #(f) of this run (.csv, .csv.gz, .parquet).")
@run_options
def extract(inputs: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Extract the features of documents: one bag per mention and feature type.

    \b
    Example:
      homonym extract records.jsonl.gz -o mentions.jsonl.gz
    """
    from homonym.pipeline import extract

    _run(extract, inputs, output, options)


@cli.command()
@click.argument("authors", metavar="AUTHORS", type=FILE)
@click.option(
    "--gold", required=True, type=FILE, help="Labels: labelled documents or mentions, or CSV mention_id,author."
)
@click.option("-o", "--output", type=FILE, help="Write a report page (.html).")
@click.option("--json", type=FILE, help="Write all figures as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no table.")
def evaluate(authors: Path, gold: Path, output: Path | None, json: Path | None, quiet: bool) -> None:
    """Compare a result with known labels, by true number of authors and beside trivial baselines.

    \b
    Example:
      homonym evaluate authors.parquet --gold records.jsonl.gz -o report.html --json figures.json
    """
    from rich.console import Console

    from homonym.evaluation.evaluate import evaluate, render_table

    with nullcontext() if quiet else Console(stderr=True).status("Evaluating"):
        found = evaluate(authors, gold, output=output, json=json)
    if not quiet:
        Console().print(render_table(found))


@cli.command()
@click.option("-o", "--output", required=True, type=FILE, help="Directory for documents.jsonl.gz and corpus.json.")
@corpus_options
@click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary.")
def generate(output: Path, quiet: bool, **parameters: Any) -> None:
    """Generate a corpus of documents with known authors.

    \b
    Example:
      homonym generate -o corpus --mentions 100000 --seed 7
    """
    from homonym.progress import Stages
    from homonym.synthetic.corpus import Corpus
    from homonym.synthetic.output import generate
    from homonym.terminal import ProgressBars

    corpus = Corpus(**{name: value for name, value in parameters.items() if value is not None})
    with ProgressBars() as bars, Stages(None if quiet else bars).stage("generate", corpus.mentions) as advance:
        path = generate(output, corpus, advance=advance)
    if not quiet:
        click.echo(path)


@cli.command()
@click.option("-o", "--output", default="demo", type=FILE, show_default=True, help="Directory for all that is made.")
@click.option("--mentions", default=20_000, show_default=True, help="Size of the corpus.")
@click.option("--seed", default=0, show_default=True, help="Another seed, another corpus.")
@click.option("-q", "--quiet", is_flag=True, help="Show only the path of the report.")
def demo(output: Path, mentions: int, seed: int, quiet: bool) -> None:
    """Generate a corpus, tell its authors apart, evaluate the result and draw it.

    \b
    Example:
      homonym demo -o demo
    """
    from rich.console import Console

    from homonym.demonstration import demo
    from homonym.evaluation.evaluate import render_table
    from homonym.terminal import ProgressBars, show_summary

    with ProgressBars() as bars:
        done = demo(output, mentions=mentions, seed=seed, listener=None if quiet else bars)
    if not quiet:
        show_summary(done.summary)
        Console().print(render_table(done.evaluation))
    click.echo(done.report)


def _run(function: Callable[..., Any], inputs: tuple[Path, ...], output: Path, options: dict[str, Any]) -> None:
    """Call one of the pipeline's functions with the options of its command, and show what it did."""
    from homonym.pipeline import Resources
    from homonym.terminal import ProgressBars, show_problems, show_summary

    settings = _settings(options)
    memory = options.pop("memory")
    resources = Resources(threads=options.pop("threads"), memory=int(memory * 2**30) if memory is not None else None)
    quiet = options.pop("quiet")
    with ProgressBars() as bars:
        listener = None if quiet else bars
        summary = function(inputs, output, settings, resources=resources, listener=listener, **options)
    show_problems(summary)
    if not quiet:
        show_summary(summary)


def _settings(options: dict[str, Any]) -> Settings:
    """Take the settings out of a command's options."""
    file = options.pop("settings_file")
    changes = {name: options.pop(name) for name in Settings.model_fields if name in options}
    if changes.get("weights") is not None:
        changes["weights"] = parse_weights(changes["weights"])
    return (load_settings(file) if file else Settings()).changed(**changes)


def main() -> None:
    """Run the command line: 0 if everything asked for was done, 2 with one clear sentence if not, 130 on Ctrl-C."""
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(2)
    except click.exceptions.Exit as wanted:
        sys.exit(wanted.exit_code)
    except HomonymError as wrong:
        click.echo(f"homonym: {wrong}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("homonym: interrupted; no output was written.", err=True)
        sys.exit(130)
