"""The options that commands share. Options for settings and corpus parameters are built from the field descriptions."""

from __future__ import annotations

import dataclasses
import re
import typing
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from homonym.errors import SettingsError
from homonym.records.reader import NAMES
from homonym.settings import EXTRACTION, MAX_NAMES_PER_SIZE, TRAINING_SHARE, Settings

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]

FILE = click.Path(path_type=Path)


class FileOrUrl(click.Path):
    """A path, or a text that the Spark engine needs unchanged: a URL, or a directory that ends in a slash.

    A `Path` would lose the second slash of a URL and the last slash of a directory.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A path, unless the text would change."""
        keep_text = isinstance(value, str) and ("://" in value or value.endswith("/"))
        return value if keep_text else super().convert(value, param, ctx)


FILE_OR_URL = FileOrUrl(path_type=Path)

# The headings of the options in --help, in this order.
_SECTIONS = (
    "Options", "Reading", "Corrections and constraints", "Names and features", "Merge threshold", "Score", "Labels",
    "More output", "Running",
)  # fmt: skip
GENERAL, READING, CORRECTIONS, FEATURES, THRESHOLD, SCORE, LABELS, OUTPUTS, RUNNING = _SECTIONS


class SectionedOption(click.Option):
    """An option with the heading under which --help lists it."""

    def __init__(self, *args: Any, section: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose --help lists the options under headings: a run has forty of them."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each section; those without a section come first."""
        rows: Mapping[str, list[tuple[str, str]]] = defaultdict(list)
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(ctx)):
                rows[getattr(parameter, "section", GENERAL)].append(record)
        for heading in filter(rows.get, _SECTIONS):
            with formatter.section(heading):
                formatter.write_dl(rows[heading])


def option(*flags: str, section: str, **attributes: Any) -> Decorator[Any]:
    """An option that --help lists under this heading."""
    return click.option(*flags, cls=SectionedOption, section=section, **attributes)


def _together(*options: Decorator[Any]) -> Decorator[Any]:
    """One decorator that adds several options, in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def setting_options(*names: str) -> Decorator[Any]:
    """An option for each of these settings, and --settings for a file."""
    file = click.option("--settings", "settings_file", type=FILE, help="Read settings from this TOML file.")
    return _together(*map(_setting_option, names), file)


def _setting_option(name: str) -> Decorator[Any]:
    field = Settings.model_fields[name]
    flag = "--" + name.replace("_", "-")
    text = _help(f"{field.description}", field.default)
    section = _section_of(name)
    if field.annotation is bool:
        return option(f"{flag}/--no-{flag[2:]}", name, section=section, default=None, help=text)
    return option(flag, name, section=section, type=_option_type(name), default=None, help=text)


def _section_of(name: str) -> str:
    """The heading of the option for a setting."""
    if name in EXTRACTION:
        return FEATURES
    if name in {"constraints", "identifiers"}:
        return CORRECTIONS
    is_threshold = name in {"alpha", "beta", "kappa", "target_precision", "chance_limit", "name_trust"}
    return THRESHOLD if is_threshold else SCORE


def _help(description: str, default: object) -> str:
    """A description as a sentence, followed by the default if there is one."""
    sentence = description[0].upper() + description[1:].removesuffix(".") + "."
    return sentence if default is None else f"{sentence}  [default: {default}]"


def _option_type(name: str) -> Any:
    annotation = Settings.model_fields[name].annotation
    if typing.get_origin(annotation) is Literal:
        return click.Choice(typing.get_args(annotation))
    if name == "weights" or annotation is str:
        return str
    return int if annotation is int else float


QUIET = option(
    "-q", "--quiet", section=RUNNING, is_flag=True, help="Show no progress and no summary; problems are still printed."
)

run_options = _together(
    QUIET,
    option(
        "--work",
        section=RUNNING,
        type=FILE_OR_URL,
        help="Keep checkpoints in this directory, so that later runs redo only what has changed.  "
        "[default: a temporary directory next to the output]",
    ),
    option(
        "--memory",
        section=RUNNING,
        type=float,
        help="Memory that the run may use, in GiB.  [default: half of the machine's]",
    ),
    option("--threads", section=RUNNING, type=click.IntRange(1), help="Number of cores to use.  [default: all]"),
    option("--strict", section=READING, is_flag=True, help="Stop at the first broken record instead of rejecting it."),
)

engine_options = _together(
    option(
        "--engine",
        section=RUNNING,
        type=click.Choice(["local", "spark"]),
        default="local",
        show_default=True,
        help="Run on this machine or on a Spark cluster; the results are identical (see docs/cluster.md).",
    ),
    option(
        "--master",
        section=RUNNING,
        metavar="URL",
        help="Spark master for --engine spark: spark://…, yarn, k8s://…, sc://…, local[4].  [default: the current "
        "session, as with spark-submit]",
    ),
)

PAIRS = option(
    "--pairs",
    section=CORRECTIONS,
    type=FILE,
    help="Your own decisions: a table with the columns mention_a, mention_b and relation (same or different).",
)
USER = click.option("--user", metavar="NAME", help="Who decides.  [default: the user of the operating system]")
REJECTS = option(
    "--rejects", section=READING, type=FILE, help="Write rejected records to this file: JSON lines with reasons."
)

reading_options = _together(
    option(
        "--format",
        section=READING,
        type=click.Choice(NAMES),
        metavar="FORMAT",
        help=f"Format of all input files: {', '.join(NAMES)}.  [default: detected from the content of each file]",
    ),
    option(
        "--columns",
        section=READING,
        metavar="FIELD=COLUMN,…",
        multiple=True,
        help="Read tables with these columns for these fields: id=Key,authors=Names (see docs/formats.md).",
    ),
    REJECTS,
)


def parse_columns(texts: Sequence[str]) -> dict[str, str | list[str]] | None:
    """Parse `field=column` pairs, separated by commas; the authors may be in several columns.

    >>> parse_columns(["id=Key,authors=Author, full", "year=PY"])
    {'id': 'Key', 'authors': 'Author, full', 'year': 'PY'}
    >>> parse_columns(["authors=Author 1,authors=Author 2"])
    {'authors': ['Author 1', 'Author 2']}
    """
    columns: dict[str, list[str]] = {}
    for text in texts:
        # A comma separates pairs only if another pair follows: column names may contain commas.
        for pair in re.split(r",(?=\s*\w+=)", text):
            field, equals, column = pair.partition("=")
            if not equals or not field.strip():
                raise SettingsError(f"--columns: {pair!r} is not of the form field=column.")
            columns.setdefault(field.strip(), []).append(column.strip() or column)
    for field, given in columns.items():
        if len(given) > 1 and field != "authors":
            raise SettingsError(f"--columns names {field} twice; only authors may be in several columns.")
    return {field: given if len(given) > 1 else given[0] for field, given in columns.items()} or None


SAVE_STATISTICS = option(
    "--save-statistics",
    section=OUTPUTS,
    type=FILE,
    help="Also write the feature frequencies #(f) (.csv, .csv.gz or .parquet).",
)

statistics_options = _together(
    option(
        "--statistics",
        section=SCORE,
        type=FILE,
        help="Take the feature frequencies #(f) from this table with the columns type, feature and count.",
    ),
    option(
        "--mentions-in-collection", section=SCORE, type=int, help="Number of mentions that --statistics was counted on."
    ),
)

EXCEL = option(
    "--excel",
    section=OUTPUTS,
    is_flag=True,
    help="Write CSV for spreadsheets: with a byte order mark, and an apostrophe before text that would be run as a "
    "formula. homonym reads such files as if they had neither.",
)

extra_output_options = _together(
    SAVE_STATISTICS,
    option(
        "--trace",
        section=OUTPUTS,
        type=FILE,
        help="Also write every round of merging, continued until each block is one cluster.",
    ),
    EXCEL,
)

LABEL = option(
    "--label",
    section=LABELS,
    default="author",
    show_default=True,
    help="The true label: author, or an identifier of authors such as orcid.",
)

split_options = _together(
    LABEL,
    option(
        "--training-share",
        section=LABELS,
        type=float,
        default=TRAINING_SHARE,
        show_default=True,
        help="Share of the labelled names used for training; the others are used for testing.",
    ),
    option(
        "--most-names",
        section=LABELS,
        type=int,
        default=MAX_NAMES_PER_SIZE,
        show_default=True,
        help="Maximum number of names with the same true number of authors.",
    ),
)

GOLD_TEXT = "Labels: labelled documents or mentions, or a table with mention_id and author. May be repeated."
GOLD = click.option("--gold", required=True, multiple=True, type=FILE, help=GOLD_TEXT)
SETTINGS_OUTPUT = click.option("-o", "--output", type=FILE, help="Write the settings to this TOML file.")
INPUTS = click.argument("inputs", metavar="IN...", nargs=-1, required=True, type=FILE_OR_URL)
AUTHORS = click.option(
    "-o",
    "--output",
    required=True,
    type=FILE_OR_URL,
    help="Result: a directory for all tables, or the table of mentions as .parquet, .csv[.gz] or .jsonl[.gz].",
)


def corpus_options(command: Command) -> Command:
    """An option for each parameter of a generated corpus."""
    from homonym.synthetic.corpus import Corpus

    for field in reversed(dataclasses.fields(Corpus)):
        flag = "--" + field.name.replace("_", "-")
        if field.type == "bool":
            flag += flag.replace("--", "/--no-", 1)
        kind = {"int": int, "float": float, "bool": bool}[str(field.type).removesuffix(" | None")]
        text = _help(field.metadata["help"], field.default)
        command = click.option(flag, field.name, type=kind, default=None, help=text)(command)
    return command
