"""The command line. Each command parses its options and calls the public function of the same name."""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from homonym import __version__
from homonym import cli as command_line
from homonym.cli.environment import missing_resource, require_memory
from homonym.cli.options import (
    AUTHORS,
    EXCEL,
    FILE,
    GOLD,
    GOLD_TEXT,
    INPUTS,
    LABEL,
    PAIRS,
    QUIET,
    REJECTS,
    SAVE_STATISTICS,
    SETTINGS_OUTPUT,
    USER,
    SectionedCommand,
    corpus_options,
    engine_options,
    extra_output_options,
    parse_columns,
    reading_options,
    run_options,
    setting_options,
    split_options,
    statistics_options,
)
from homonym.cli.signals import signals_as_interrupts
from homonym.errors import HomonymError, SettingsError, reason_of
from homonym.io.paths import discard_output, print_any_name, printable
from homonym.io.special_files import is_special
from homonym.settings import CLUSTERING, EXTRACTION, UNTUNED, WEIGHT_SEEDS, Settings, load_settings, parse_weights

if TYPE_CHECKING:
    from homonym import Resources


# The number of the signal that other programs get if they print to a closed pipe.
SIGPIPE = 13


class _CommandList(click.Group):
    """Commands in the order of definition, each with the whole first paragraph of its help."""

    command_class = SectionedCommand

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of definition."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands. click itself would cut long descriptions."""
        rows = [(name, (command.help or "").split("\n\n")[0]) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=_CommandList, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="homonym")
def cli() -> None:
    """Tell authors of the same name apart.

    \b
    Example:
      homonym disambiguate records.jsonl -o authors.csv
    """
    if not {"-h", "--help"} & set(sys.argv):
        require_memory()


@cli.command()
@INPUTS
@AUTHORS
@setting_options(*EXTRACTION, *CLUSTERING)
@PAIRS
@statistics_options
@extra_output_options
@reading_options
@engine_options
@run_options
def disambiguate(inputs: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Find the authors of documents: assign an author id to every mention.

    IN are files of any supported format, compressed or not. A directory means all files in it, - means standard input.
    The result is a directory with tables of mentions, authors and documents, or one table of mentions.

    \b
    Example:
      homonym disambiguate savedrecs*.txt scopus.csv -o result/
      homonym disambiguate savedrecs*.txt -o authors.csv
      homonym disambiguate exports/ more.bib.zst -o authors.parquet --blocking first-initial --rejects broken.jsonl
      zcat works.gz | homonym disambiguate - -o authors.parquet --format openalex
      homonym disambiguate records.jsonl.gz -o authors.csv --target-precision 0.98 --pairs mine.csv
    """
    from homonym import disambiguate
    from homonym.cli.terminal import show_summary

    _call(disambiguate, show_summary, inputs, options, output=output)


@cli.command()
@click.argument("result", type=FILE)
@click.argument("what")
@click.argument("other", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
@click.option("-o", "--output", type=FILE, help="Write a figure (.svg) or a page (.html).")
def explain(result: Path, what: str, other: str | None, as_json: bool, output: Path | None) -> None:
    """Explain a result: why mentions are one author, or several.

    RESULT is a result directory of disambiguate. WHAT is a name such as "Wang, Wei", a mention id, or an author id. A
    name gives its authors with their papers and how they were merged. An author gives its weakest link and the best
    partner that it was not merged with. WHAT and OTHER together give what joined them, or what keeps them apart. The
    parts of a score sum to the score.

    \b
    Example:
      homonym explain result/ "Wang, Wei"
      homonym explain result/ "WANG, W/6f0c41d27a93" -o author.html
      homonym explain result/ pmid:7#0 pmid:12#3 --json
    """
    from homonym import explain
    from homonym.cli.terminal import show_text
    from homonym.runtime.unneeded_imports import leave_out_pandas_and_scipy

    leave_out_pandas_and_scipy()
    found = explain(result, what, other, output=output)
    if as_json:
        import orjson

        click.echo(orjson.dumps(found.to_json(), option=orjson.OPT_INDENT_2).decode())
    elif output:
        from homonym.explanation.wording import answer_lines

        show_text("\n".join(answer_lines(found)))
        click.echo(output)
    else:
        show_text(str(found))


@cli.command()
@click.argument("result", metavar="RESULT", type=FILE)
@click.argument("inputs", metavar="[IN]...", nargs=-1, type=FILE)
@click.option(
    "--mode",
    type=click.Choice(["assign", "grow", "rebuild"]),
    default="assign",
    show_default=True,
    help="Old authors never change (assign), may merge or be divided where their names have new papers (grow), or are "
    "all clustered again and keep their ids (rebuild).",
)
@click.option("--remove", multiple=True, metavar="ID", help="Remove a document; @FILE has one id per line.")
@click.option(
    "--recalibrate",
    is_flag=True,
    help="Count frequencies and calibrate the limit again; automatic after a tenth of all mentions has changed.",
)
@click.option("--keep-epoch", is_flag=True, help="Keep frequencies and limit, however much has changed.")
@reading_options
@engine_options
@run_options
def update(result: Path, inputs: tuple[Path, ...], **options: Any) -> None:
    """Add new records to a result directory; author ids stay valid.

    RESULT is a result directory of disambiguate, IN are files of any supported format. Records that come again are
    recognised; if they changed, they replace the old ones. New decisions are applied, even without
    new records. The directory changes as a whole or not at all. `homonym events` shows what happened to authors.

    \b
    Example:
      homonym update result/ march.ris
      homonym update result/ april/ --mode grow --remove pmid:7
      homonym update result/ --mode rebuild
    """
    from homonym import update
    from homonym.cli.terminal import show_update
    from homonym.runtime.arrow_memory import import_arrow_with_system_memory

    import_arrow_with_system_memory()  # before anything else imports it

    def call(inputs: tuple[Path, ...], **arguments: Any) -> Any:
        return update(result, inputs, **arguments)

    options["remove"] = _removed_ids(options["remove"])
    _call(call, show_update, inputs, options)


def _removed_ids(values: tuple[str, ...]) -> list[str]:
    """The ids of an option that may name files of ids."""
    from homonym.io.special_files import open_input

    found: list[str] = []
    for value in values:
        if value.startswith("@"):
            with open_input(Path(value[1:])) as stream:
                lines = stream.read().decode("utf-8-sig", errors="replace").splitlines()
            found += [line.strip() for line in lines if line.strip()]
        else:
            found.append(value)
    return found


@cli.command()
@click.argument("result", metavar="RESULT", type=FILE)
@click.option("--since", metavar="DATE", help="Only events from this day or time on (UTC), such as 2026-03-01.")
@click.option("--author", metavar="ID", help="Only events of this author, under all ids that it has had.")
@click.option(
    "--kind",
    multiple=True,
    type=click.Choice(["created", "grown", "merged", "split", "moved", "retired", "revived"]),
    help="Only events of this kind; may be given several times. grown: known authors with new mentions.",
)
@click.option("--update", type=int, metavar="NUMBER", help="Only events of this update.")
@click.option("--all", "every", is_flag=True, help="List new authors and new mentions, too, instead of counting them.")
@click.option("--json", "as_json", is_flag=True, help="Print all events, one JSON object per line.")
def events(result: Path, every: bool, as_json: bool, kind: tuple[str, ...], **options: Any) -> None:
    """Show what happened to the authors of a result in its updates.

    New authors, and new mentions of known authors, are counted. --kind, --author and --all list them.

    \b
    Example:
      homonym events result/
      homonym events result/ --since 2026-03-01 --json
      homonym events result/ --update 3 --kind grown
      homonym events result/ --author "WANG, W/94b9869240ef"
    """
    from homonym import events

    found = events(result, kind=kind or None, **options)
    if as_json:
        import orjson

        for row in found:
            click.echo(orjson.dumps(row).decode())
    elif len(found):
        click.echo(str(found) if every or kind or options["author"] else found.overview())
    if not len(found):
        chosen = kind or any(value is not None for value in options.values())
        so_far = (
            "that match" if chosen and found.updates else "so far" if found.updates else "yet: it was never updated"
        )
        click.echo(f"{result} has no events {so_far}.", err=True)


@cli.command()
@click.argument("result", type=FILE)
@click.argument("kind", metavar="WHAT")
@click.argument("a")
@click.argument("b", required=False)
@click.option("--reason", required=True, help="Why; for other users.")
@USER
def decide(result: Path, kind: str, a: str, b: str | None, reason: str, user: str | None) -> None:
    """Record a decision about a result, so that it stays corrected.

    RESULT is a result directory. A and B are ids of mentions or authors, as explain shows them. Every later
    update applies the decision. Of several decisions, the newest wins.

    \b
    WHAT is one of
      same A B, different A B, unsure A B     two mentions or authors
      is MENTION AUTHOR, is-not MENTION AUTHOR
      name AUTHOR NAME                        the name to show
      wrong-record DOCUMENT                   its mentions are kept apart from all authors

    \b
    Example:
      homonym decide result/ different pmid:7#0 pmid:12#3 --reason "other field, other country"
      homonym decide result/ is-not pmid:7#0 "WANG, W/6f0c41d27a93" --reason "says so on her page"
      homonym decide result/ name "WANG, W/6f0c41d27a93" "Wang, Wei (Physics)" --reason "her request"
    """
    from homonym import decide
    from homonym.cli.terminal import show_decided

    show_decided(decide(result, kind, a, b, reason=reason, user=user))


@cli.command()
@click.argument("result", type=FILE)
@click.option("--undo", type=int, metavar="NUMBER", help="Undo a decision, or an undo.")
@click.option("--export", type=FILE, help="Write the decisions in force to this file (.csv), as for --pairs.")
@click.option("--import", "table", type=FILE, help="Add the decisions of a table: exported ones, or pairs.")
@click.option("--reason", help="Reason for the undo, and for imported decisions without one.")
@USER
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def decisions(result: Path, as_json: bool, **options: Any) -> None:
    """List the decisions about a result: number, time, user, status, what, reason. Undo, export and import them.

    \b
    Example:
      homonym decisions result/
      homonym decisions result/ --undo 3 --reason "wrong mention"
      homonym decisions result/ --export mine.csv
      homonym decisions result/ --import pairs.csv --user ann
    """
    from homonym import decisions
    from homonym.cli.terminal import show_decisions

    show_decisions(decisions(result, **options), as_json=as_json)


@cli.command()
@click.argument("result", type=FILE)
@click.option(
    "--repair",
    is_flag=True,
    help="Rebuild files that can be derived from others: authors.parquet, bags.parquet, variants.csv, report.html.",
)
def check(result: Path, repair: bool) -> None:
    """Verify a result directory: files, tables, ids, events, redirects and decisions.

    Prints one line for each problem, with what to do. The exit status is 0 only if nothing is wrong.

    \b
    Example:
      homonym check result/
      homonym check result/ --repair
    """
    from homonym import check
    from homonym.cli.terminal import show_check

    found = check(result, repair=repair)
    show_check(found)
    if not found.is_sound:
        raise click.exceptions.Exit(1)


@cli.command()
@INPUTS
@AUTHORS
@setting_options(*CLUSTERING)
@PAIRS
@statistics_options
@extra_output_options
@REJECTS
@engine_options
@run_options
def cluster(inputs: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Find the authors of mentions that come with their own bags of features.

    \b
    Example:
      homonym cluster mentions.jsonl.gz -o authors.csv \\
        --statistics statistics.csv.gz --mentions-in-collection 1821295
    """
    from homonym import cluster
    from homonym.cli.terminal import show_summary

    _call(cluster, show_summary, inputs, options, output=output)


@cli.command()
@INPUTS
@click.option("-o", "--output", required=True, type=FILE, help="Mentions, as .jsonl, .jsonl.gz or .parquet.")
@setting_options(*EXTRACTION)
@SAVE_STATISTICS
@reading_options
@run_options
def extract(inputs: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Extract the features of documents: one bag per mention and feature type.

    \b
    Example:
      homonym extract records.jsonl.gz -o mentions.jsonl.gz
    """
    from homonym import extract
    from homonym.cli.terminal import show_summary

    _call(extract, show_summary, inputs, options, output=output)


@cli.command()
@INPUTS
@click.option("-o", "--output", required=True, type=FILE, help="Documents, as .jsonl or .jsonl.gz.")
@click.option("--pairs", type=FILE, help="Pairs of an older homonym, which may name mentions by file and line.")
@click.option("--new-pairs", type=FILE, help="Write the same pairs with the current mention ids.")
@reading_options
@run_options
def convert(inputs: tuple[Path, ...], output: Path, **options: Any) -> None:
    """Convert records of any supported format to documents; copies of a document are merged.

    \b
    Example:
      homonym convert savedrecs*.txt scopus.csv -o documents.jsonl.gz --rejects broken.jsonl
      homonym convert table.csv -o documents.jsonl --columns id=Key,authors=Names
    """
    from homonym import convert
    from homonym.cli.terminal import show_conversion

    _call(convert, show_conversion, inputs, options, output=output)


@cli.command()
@INPUTS
@click.option("--json", type=FILE, help="Write all figures as JSON.")
@setting_options("blocking")
@reading_options
@run_options
def inspect(inputs: tuple[Path, ...], **options: Any) -> None:
    """Show what files contain: records, features, identifiers, duplicates, broken records.

    \b
    Example:
      homonym inspect exports/ library.bib
    """
    from homonym import inspect
    from homonym.cli.terminal import show_inspection

    _call(inspect, show_inspection, inputs, options)


@cli.command()
@click.argument("authors", metavar="AUTHORS...", nargs=-1, required=True, type=FILE)
@GOLD
@LABEL
@click.option(
    "--names",
    type=FILE,
    help="Which mentions share a name: documents, mentions, or a table with mention_id and block.  [default: the "
    "blocks of the results, else the names in the labelled file]",
)
@click.option("-o", "--output", type=FILE, help="Write a report page (.html).")
@click.option("--json", type=FILE, help="Write all figures as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no table.")
def evaluate(authors: tuple[Path, ...], gold: tuple[Path, ...], quiet: bool, **options: Any) -> None:
    """Compare results with known labels and with trivial baselines.

    A result is a result directory, or any table with the columns mention_id and author_id. Measures are also given by
    true number of authors. Several results are compared on the mentions that all of them contain, with the differences
    from the first.

    \b
    Example:
      homonym evaluate result/ --gold records.jsonl.gz -o report.html --json figures.json
      homonym evaluate ours.parquet theirs.csv --gold records.jsonl.gz --label orcid -o comparison.html
    """
    from rich.console import Console

    from homonym import evaluate
    from homonym.cli.terminal import show_warnings
    from homonym.commands.evaluate import circular_labels
    from homonym.evaluation.assessment import Comparison, Evaluation
    from homonym.evaluation.rendering import render_table

    found: Evaluation | Comparison
    with nullcontext() if quiet else Console(stderr=True).status("Evaluating"):
        found = evaluate(authors[0], gold, **options) if len(authors) == 1 else evaluate(authors, gold, **options)
    show_warnings(circular_labels(authors, options["label"]))
    if not quiet:
        Console().print(render_table(found))
        _show_paths(options["json"], options["output"])


def _show_paths(*paths: Path | None) -> None:
    """Print where files were written."""
    for path in paths:
        if path is not None and not is_special(path):
            click.echo(printable(path))


@cli.command()
@click.argument("result", metavar="RESULT", type=FILE)
@click.argument("originals", metavar="[ORIGINAL]...", nargs=-1, type=FILE)
@click.option("--to", required=True, metavar="WHAT", help="What to write; see the list above.")
@click.option(
    "-o", "--output", required=True, type=FILE, help="The file; for gephi, s2and and several ORIGINALs a directory."
)
@click.option("-q", "--quiet", is_flag=True, help="Show no summary.")
def export(result: Path, originals: tuple[Path, ...], to: str, output: Path, quiet: bool) -> None:
    """Write a result directory for another tool, with one unique name per author.

    ORIGINAL are files that were disambiguated, in the format bibtex, ris, wos or scopus. They are rewritten: only
    author names change, and ids are added. Several are written to a directory.

    \b
    WHAT is one of
      vosviewer, citespace           names to merge: thesaurus (.txt), alias file (.alias)
      bibtex, ris, wos, scopus       the documents, with author names and ids (.bib, .ris, .txt, .csv)
      bibliometrix                   data frame of the R package (.csv)
      csv, excel                     people with their papers (.csv, .xlsx)
      gexf, graphml, gephi           co-author network (.gexf, .graphml, directory of CSV files)
      s2and                          data set of S2AND (directory)
      quickstatements, jsonld        Wikidata (.txt), schema.org (.jsonld)

    \b
    Example:
      homonym export result/ --to wos -o authors.txt
      homonym export result/ savedrecs1.txt savedrecs2.txt --to wos -o rewritten/
      homonym export result/ --to vosviewer -o thesaurus.txt
      homonym export result/ --to excel -o people.xlsx
    """
    from homonym import export
    from homonym.cli.terminal import show_export

    show_export(export(result, to, output, originals=originals), quiet=quiet)


@cli.command()
@INPUTS
@click.option("--gold", multiple=True, type=FILE, help=GOLD_TEXT + "  [default: none]")
@SETTINGS_OUTPUT
@split_options
@setting_options(*EXTRACTION, *UNTUNED, "target_precision", "constraints", "identifiers")
@statistics_options
@reading_options
@run_options
def calibrate(inputs: tuple[Path, ...], gold: tuple[Path, ...], **options: Any) -> None:
    """Calibrate the merge threshold (limit) of a collection, with or without labels.

    Without labels, the limit is calibrated on pseudo-names: the mentions of several names, each of which is likely to
    be one person, are mixed into one block, so that the true authors are known. With labels, some of the labelled names
    choose the limit (and γ, unless it is given), and the others test it. Both maximise B-cubed F1, averaged over the
    true numbers of authors.

    \b
    Example:
      homonym calibrate records.jsonl.gz -o settings.toml
      homonym calibrate records.jsonl.gz --gold records.jsonl.gz -o settings.toml
      homonym disambiguate records.jsonl.gz -o authors.csv --settings settings.toml
    """
    from homonym import calibrate
    from homonym.cli.terminal import show_calibration

    _call(calibrate, show_calibration, inputs, options, gold=gold or None)


@cli.command()
@INPUTS
@GOLD
@SETTINGS_OUTPUT
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=WEIGHT_SEEDS,
    show_default=True,
    help="Number of repetitions, for the spread.",
)
@split_options
@setting_options(*EXTRACTION, "variant", "epsilon")
@statistics_options
@reading_options
@run_options
def train(inputs: tuple[Path, ...], gold: tuple[Path, ...], **options: Any) -> None:
    """Learn the weights of the feature types from labelled names.

    Calibrate the limit afterwards: it depends on the weights. Needs scikit-learn (pip install scikit-learn).

    \b
    Example:
      homonym train records.jsonl.gz --gold records.jsonl.gz -o weights.toml
      homonym calibrate records.jsonl.gz --gold records.jsonl.gz --settings weights.toml -o settings.toml
    """
    from homonym import train
    from homonym.cli.terminal import show_training

    _call(train, show_training, inputs, options, gold=gold)


@cli.command()
@INPUTS
@click.option("-o", "--output", required=True, type=FILE, help="Directory for the page, tables and figures.")
@click.option("--gold", multiple=True, type=FILE, help="Labels, if they are not in IN.  [default: IN]")
@split_options
@setting_options(*EXTRACTION, "epsilon")
@statistics_options
@EXCEL
@click.option("--replay", is_flag=True, help="Add the documents part by part instead, with every mode of update.")
@click.option("--parts", type=click.IntRange(2), default=10, show_default=True, help="Number of parts of --replay.")
@reading_options
@run_options
def study(inputs: tuple[Path, ...], output: Path, gold: tuple[Path, ...], **options: Any) -> None:
    """Repeat the paper's evaluation on labelled documents or mentions.

    Variants, weights and limits are tuned on some of the names and tested on the others, by true number of authors and
    next to baselines. Writes the paper's tables and figures, which of its findings hold, and a page that explains them.
    Run the same command again to resume an interrupted study.

    With --replay, labelled documents are added year by year, and in random parts: F1, changed ids, redirects and cost
    after each part, for every mode of update and for a run on all documents so far.

    \b
    Example:
      homonym study mentions.jsonl.gz -o study
      homonym study records.jsonl.gz -o replay --replay --parts 5
      homonym study records.jsonl.gz --label orcid -o study
    """
    from homonym import study
    from homonym.cli.terminal import show_study

    try:
        _call(study, show_study, inputs, options, output=output, gold=gold or None)
    except KeyboardInterrupt as stopped:
        if not options.get("replay"):
            stopped.args = (f"finished runs are in {output}. Run the same command to resume.",)
        raise click.Abort from stopped


@cli.command()
@click.option("-o", "--output", required=True, type=FILE, help="Directory for documents.jsonl.gz and corpus.json.")
@corpus_options
@QUIET
def generate(output: Path, quiet: bool, **parameters: Any) -> None:
    """Generate a corpus of documents with known authors.

    \b
    Example:
      homonym generate -o corpus --mentions 100000 --seed 7
      homonym generate -o physics --collaborations 10 --collaboration-authors 125 --collaboration-documents 950
      homonym generate -o stable --collaborations 50 --collaboration-turnover 0.2 --initials-only 0.8 --common-names 0.1
    """
    from homonym import Corpus, generate
    from homonym.cli.terminal import ProgressBars
    from homonym.runtime.progress import Stages

    corpus = Corpus(**{name: value for name, value in parameters.items() if value is not None})
    with ProgressBars() as bars, Stages(None if quiet else bars).stage("generate", corpus.expected_mentions) as advance:
        path = generate(output, corpus, advance=advance)
    if not quiet:
        click.echo(path)


@cli.command()
@click.option("-o", "--output", default="demo", type=FILE, show_default=True, help="Directory for all output.")
@click.option("--mentions", default=20_000, show_default=True, help="Size of the corpus.")
@click.option("--seed", default=0, show_default=True, help="Seed of the random numbers.")
@click.option("-q", "--quiet", is_flag=True, help="Show only the path of the report.")
def demo(output: Path, mentions: int, seed: int, quiet: bool) -> None:
    """Generate a corpus, disambiguate it, and write a report that evaluates the result.

    The result directory is DIR/result, with the page that a normal run writes.

    \b
    Example:
      homonym demo -o demo
    """
    from rich.console import Console

    from homonym import demo
    from homonym.cli.terminal import ProgressBars, show_summary
    from homonym.evaluation.rendering import render_table
    from homonym.runtime.unneeded_imports import leave_out_pandas_and_scipy

    leave_out_pandas_and_scipy()
    with ProgressBars() as bars:
        done = demo(output, mentions=mentions, seed=seed, listener=None if quiet else bars)
    if not quiet:
        show_summary(done.summary)
        Console().print(render_table(done.evaluation))
    click.echo(done.report)


def _call(
    function: Callable[..., Any],
    show: Callable[[Any], None],
    inputs: tuple[Path, ...],
    options: dict[str, Any],
    **arguments: Any,
) -> None:
    """Call the public function of a command, then show its summary, warnings and problems."""
    from homonym.cli.terminal import ProgressBars, show_problems
    from homonym.runtime.process_pool import allow_forks
    from homonym.runtime.unneeded_imports import leave_out_pandas_and_scipy

    quiet = options.pop("quiet")
    arguments["resources"] = resources = _resources(options)
    if resources.engine != "spark":  # pyspark needs pandas
        leave_out_pandas_and_scipy()
    if command_line.is_own_process:
        allow_forks()
    if "settings_file" in options:
        arguments["settings"] = _settings(options)
    if "columns" in options:
        options["columns"] = parse_columns(options["columns"])
    with nullcontext() if quiet else ProgressBars() as bars:
        found = function(inputs, listener=bars, **arguments, **options)
    show_problems(found)
    if not quiet:
        show(found)


def _resources(options: dict[str, Any]) -> Resources:
    """Take the options about resources out of a command's options."""
    from homonym import Resources

    memory = options.pop("memory")
    if memory is not None and not math.isfinite(memory):
        raise SettingsError(f"the memory is {memory}; give --memory a number of GiB.")
    return Resources(
        threads=options.pop("threads"),
        memory=int(memory * 2**30) if memory is not None else None,
        work=options.pop("work"),
        **{name: options.pop(name) for name in ("engine", "master") if name in options},
    )


def _settings(options: dict[str, Any]) -> Settings:
    """Take the settings out of a command's options."""
    file = options.pop("settings_file")
    changes = {name: options.pop(name) for name in Settings.model_fields if name in options}
    if changes.get("weights") is not None:
        changes["weights"] = parse_weights(changes["weights"])
    return (load_settings(file) if file else Settings()).changed(**changes)


def main() -> None:
    """Run the command line and exit.

    Exit status: 0 if everything was done, 1 if a check found problems, 2 for wrong usage, input or output, 130 after
    Ctrl-C, 143 after SIGTERM, 129 after SIGHUP, 141 if its standard output is a closed pipe.
    """
    if sys.stdout is not None:  # it may be closed
        print_any_name(sys.stdout)
    with signals_as_interrupts() as signals:
        status = _status(signals)
    sys.exit(status)


def _status(signals: list[int]) -> int:
    """Run the command, report what went wrong, and return the exit status; `signals` gets those that came."""
    try:
        status = cli.main(standalone_mode=False)  # a number if a command ended with an exit status
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.ClickException as wrong:
        wrong.show()
        return 2
    except click.exceptions.Exit as wanted:
        return wanted.exit_code
    except SystemExit as ended:
        if ended.code == 1:  # click's answer to a closed pipe; the status 1 would mean that a check failed
            return 128 + SIGPIPE
        raise
    except (click.Abort, KeyboardInterrupt) as stopped:
        # click.Abort wraps the interrupt, which carries the notes.
        return _stopped(signals, stopped.__cause__ or stopped)
    except Exception as broken:
        if signals:  # it is a consequence of the signal, such as an import that was interrupted
            return _stopped(signals, broken)
        return _failed(broken)
    return int(status or 0)


def _failed(broken: Exception) -> int:
    """Report an error that a user can fix; returns the exit status. Others are errors of this program."""
    if isinstance(broken, HomonymError):
        _report(f"{broken}", broken)
    elif reason := missing_resource(broken):
        _report(reason, broken)
    elif isinstance(broken, OSError):
        where = f": {broken.filename}" if broken.filename else ""
        reason = f"{reason_of(broken)}{where}"
        if _is_about_printing(broken):
            reason = f"standard output cannot be written ({reason}); files that the command has written are complete"
        _report(f"{reason}.", broken)
        if sys.stdout is not None:
            discard_output(sys.stdout)
    else:
        raise broken
    return 2


def _is_about_printing(error: OSError) -> bool:
    """Whether an error comes from writing to standard output: from click, rich, or the last flush of this module."""
    modules = [frame.f_globals.get("__name__", "") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return error.filename is None and (modules[-1] == __name__ or modules[-1].startswith(("click.", "rich.")))


def _stopped(signals: list[int], stopped: BaseException) -> int:
    """Report that the run was stopped by Ctrl-C or a signal; returns the exit status that shells expect."""
    outcome = str(stopped) if isinstance(stopped, KeyboardInterrupt) else ""
    _report(f"{'terminated' if signals else 'interrupted'}; {outcome or 'the run did not finish.'}", stopped)
    return 128 + signals[0] if signals else 130


def _report(message: str, error: BaseException) -> None:
    """Print a message and the notes of its exception, such as where checkpoints are, each on one line."""
    lines = [f"homonym: {message}", *getattr(error, "__notes__", ())]
    with suppress(OSError):  # the terminal is gone
        click.echo("\n".join(map(printable, lines)), err=True)
