"""The options that commands share, each described by what it sets."""

from __future__ import annotations

import dataclasses
import re
import typing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from homonym.calibration.defaults import MAX_NAMES_PER_SIZE, TRAINING_SHARE
from homonym.errors import SettingsError
from homonym.records.registry import NAMES
from homonym.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path)


class Place(click.Path):
    """A file, or what the Spark engine takes beside: the URL of a place that it sees, a directory that ends in /.

    These stay as they are written: a path would lose the second slash of a URL and the last one of a directory.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """What was written as a path, unless that would lose something."""
        written = isinstance(value, str) and ("://" in value or value.endswith("/"))
        return value if written else super().convert(value, param, ctx)


PLACE = Place(path_type=Path)


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
    text = f"{field.description}" + ("" if field.default is None else f"  [default: {field.default}]")
    if field.annotation is bool:
        return click.option(f"{flag}/--no-{name}", name, default=None, help=text)
    return click.option(flag, name, type=_option_type(name), default=None, help=text)


def _option_type(name: str) -> Any:
    annotation = Settings.model_fields[name].annotation
    if typing.get_origin(annotation) is Literal:
        return click.Choice(typing.get_args(annotation))
    if name == "weights" or annotation is str:
        return str
    return int if annotation is int else float


def run_options(command: Command) -> Command:
    """Options that every run has: what it may use, how much it says, how much it forgives."""
    for option in (
        click.option("--strict", is_flag=True, help="End with the first broken record instead of setting it aside."),
        click.option("--threads", type=click.IntRange(1), help="Cores to use.  [default: all]"),
        click.option("--memory", type=float, help="GiB that the run may use.  [default: half of the machine's]"),
        click.option(
            "--work",
            type=PLACE,
            help="Keep all steps in this directory: a later run does again only what has changed.  "
            "[default: only until the run has ended well]",
        ),
        click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary."),
    ):
        command = option(command)
    return command


def engine_options(command: Command) -> Command:
    """Options for where the work is done."""
    for option in (
        click.option(
            "--master",
            metavar="URL",
            help="The master of --engine spark: spark://…, yarn, k8s://…, sc://…, local[4].  [default: the session "
            "that is there, as with spark-submit]",
        ),
        click.option(
            "--engine",
            type=click.Choice(["local", "spark"]),
            default="local",
            show_default=True,
            help="Work on this machine, or on a Spark cluster; the result is the same (see docs/cluster.md).",
        ),
    ):
        command = option(command)
    return command


def reading_options(command: Command) -> Command:
    """Options for what records come in, and for what is wrong with them."""
    for option in (
        REJECTS,
        click.option(
            "--columns",
            metavar="FIELD=COLUMN,…",
            multiple=True,
            help="Read tables, with these columns for these fields: id=Key,authors=Names (see docs/formats.md).",
        ),
        click.option(
            "--format",
            type=click.Choice(NAMES),
            help="Read all input as this format.  [default: told by the content of each file]",
        ),
    ):
        command = option(command)
    return command


PAIRS = click.option(
    "--pairs",
    type=FILE,
    help="Your own statements: a table of mention_a, mention_b and the relation, same or different.",
)
REJECTS = click.option("--rejects", type=FILE, help="Keep what is set aside in this file: JSON lines with reasons.")


def parse_columns(texts: Sequence[str]) -> dict[str, str] | None:
    """Read `field=column` pairs, several separated by commas.

    >>> parse_columns(["id=Key,authors=Author, full", "year=PY"])
    {'id': 'Key', 'authors': 'Author, full', 'year': 'PY'}
    """
    columns: dict[str, str] = {}
    for text in texts:
        # A comma ends a pair only where another pair follows: names of columns may have commas too.
        for pair in re.split(r",(?=\s*\w+=)", text):
            field, equals, column = pair.partition("=")
            if not equals or not field.strip():
                raise SettingsError(f"--columns {pair!r} is not of the form field=column.")
            columns[field.strip()] = column.strip() or column
    return columns or None


def statistics_options(command: Command) -> Command:
    """Options for frequencies that are counted elsewhere."""
    for option in (
        click.option("--mentions-in-collection", type=int, help="Number of mentions behind --statistics."),
        click.option("--statistics", type=FILE, help="Take #(f) from this table: type, feature, count."),
    ):
        command = option(command)
    return command


def extra_output_options(command: Command) -> Command:
    """Options for what a clustering run can write besides its result."""
    for option in (
        click.option("--trace", type=FILE, help="Also write every round of merging, continued to one cluster."),
        click.option("--save-statistics", type=FILE, help="Also write #(f) of this run (.csv, .csv.gz, .parquet)."),
    ):
        command = option(command)
    return command


LABEL = click.option(
    "--label",
    default="author",
    show_default=True,
    help="What is the truth: author, or an identifier that authors carry, such as orcid.",
)


def split_options(command: Command) -> Command:
    """Options for the names that parameters are chosen on, and for what is known of them."""
    for option in (
        click.option(
            "--most-names",
            type=int,
            default=MAX_NAMES_PER_SIZE,
            show_default=True,
            help="Use at most so many names of a true size.",
        ),
        click.option(
            "--training-share",
            type=float,
            default=TRAINING_SHARE,
            show_default=True,
            help="Share of the labelled names to choose parameters on; the rest judges them.",
        ),
        LABEL,
    ):
        command = option(command)
    return command


GOLD_TEXT = "Labels: labelled documents or mentions, or a table with mention_id and author. May be given several times."
GOLD = click.option("--gold", required=True, multiple=True, type=FILE, help=GOLD_TEXT)
SETTINGS_OUTPUT = click.option(
    "-o", "--output", type=FILE, help="Write the settings to this TOML file, for --settings."
)


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


INPUTS = click.argument("inputs", metavar="IN...", nargs=-1, required=True, type=PLACE)
AUTHORS = click.option(
    "-o", "--output", required=True, type=PLACE, help="Authors, as .parquet, .csv[.gz] or .jsonl[.gz]."
)
