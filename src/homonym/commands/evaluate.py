"""Evaluate: a result, or several, against known labels; as objects, JSON or a page."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

from homonym.errors import HomonymError, InputError
from homonym.evaluation.assessment import Comparison, Evaluation, assess, compare, distinct_labels, worst_names
from homonym.evaluation.reliability import Reliability, measure_reliability
from homonym.io.inputs import expand, require_files
from homonym.io.outputs import Paths, as_paths, require_distinct, require_page_path, require_writable, write_json
from homonym.io.paths import printable
from homonym.io.result_directory import MENTIONS, SETTINGS, file_of, require_no_file_of_result
from homonym.measures.agreement import is_right

if TYPE_CHECKING:
    from homonym.evaluation.gold import Gold
    from homonym.evaluation.matching import Matched


@overload
def evaluate(
    authors: Path | str,
    gold: Paths,
    *,
    output: Path | str | None = None,
    json: Path | str | None = None,
    label: str = "author",
    names: Path | str | None = None,
) -> Evaluation: ...


@overload
def evaluate(
    authors: list[Path] | list[str] | tuple[Path | str, ...],
    gold: Paths,
    *,
    output: Path | str | None = None,
    json: Path | str | None = None,
    label: str = "author",
    names: Path | str | None = None,
) -> Comparison: ...


def evaluate(
    authors: Paths,
    gold: Paths,
    *,
    output: Path | str | None = None,
    json: Path | str | None = None,
    label: str = "author",
    names: Path | str | None = None,
) -> Evaluation | Comparison:
    """Compare a result, or several on the same mentions, with known labels.

    A result is a result directory, or a table with mention_id and author_id (or author, or cluster), as Parquet, CSV
    or JSON lines. If it has a column
    `confidence`, with numbers from 0 to 1, its reliability is measured. `gold` are the files with the labels; `label`
    is the field author or a kind of identifier such as orcid. `names` says which mentions share a name; without it
    names are the blocks of the first result that has blocks, else the names in labelled documents. The figures are
    written to `json` and a page to `output` if these are named. One path gives an Evaluation, a list a Comparison.
    """
    from homonym.evaluation.gold import read_gold
    from homonym.evaluation.matching import match

    paths, (gold_files, _) = as_paths(authors), expand(gold)
    tables = [file_of(path, MENTIONS) for path in paths]
    names_file = file_of(Path(names), MENTIONS) if names is not None else None
    if not paths or not gold_files:
        raise InputError("at least one result and one file of labels are needed; name them.")
    read = [*tables, *gold_files, *([names_file] if names_file else [])]
    require_files(read)
    written = [Path(path) for path in (output, json) if path is not None]
    require_distinct(read, written)
    require_no_file_of_result(written)
    if output is not None:
        require_page_path(Path(output))
    if json is not None:
        require_writable(Path(json))
    labels = read_gold(gold_files, label)
    matched = match(tables, labels, gold_files, names_file)
    found = _one(matched, labels) if isinstance(authors, Path | str) else _several(matched, labels, paths)
    if json is not None:
        write_json(Path(json), found.as_dict())
    if output is not None:
        sources = {"labels": ", ".join(map(printable, gold_files)), "label": label}
        _write_page(found, matched, Path(output), paths, sources)
    return found


def circular_labels(authors: Paths, label: str) -> list[str]:
    """A sentence for each result whose run linked mentions by the identifier that is now the label.

    Such a result contains the labels, so its figures are too good. The settings of a run are in its result directory,
    or next to its table; results without readable settings are from elsewhere.
    """
    from homonym.commands.result import settings_path
    from homonym.settings import identifier_kind, load_settings

    found = []
    for path in as_paths(authors):
        file = file_of(path, SETTINGS) if path.is_dir() else settings_path(path)
        with suppress(HomonymError):
            if file.is_file() and identifier_kind(label) in load_settings(file).trusted:
                found.append(
                    f"{printable(path)} was made with {label} as a constraint, so it contains the labels, and its "
                    "figures are too good; for a fair test, disambiguate with --constraints names,documents."
                )
    return found


def _one(matched: Matched, labels: Gold) -> Evaluation:
    return _counted(assess(matched.names, matched.authors, matched.clusters[0]), 0, matched, labels)


def _several(matched: Matched, labels: Gold, paths: list[Path]) -> Comparison:
    order = distinct_labels(paths)
    found = compare(matched.names, matched.authors, dict(zip(order, matched.clusters, strict=True)))
    return replace(
        found,
        results={label: _counted(found.results[label], i, matched, labels) for i, label in enumerate(order)},
        left_out=dict(zip(order, matched.lacking, strict=True)),
        labels_without_mention=matched.labels_nowhere,
    )


def _counted(found: Evaluation, i: int, matched: Matched, labels: Gold) -> Evaluation:
    """Add to the figures of result i what was left out, and how reliable its confidence is."""
    found = replace(
        found,
        confidence=_reliability(i, matched),
        mentions_without_label=matched.without_label[i],
        labels_without_mention=matched.labels_nowhere + matched.lacking[i],
        gold_lines_skipped=labels.skipped,
        mentions_with_several_labels=labels.several,
    )
    return found if matched.names_known else found.without_names()


def _reliability(i: int, matched: Matched) -> Reliability | None:
    if not matched.stated[i]:
        return None
    lone = matched.lone[i]
    right = is_right(matched.names, matched.authors, matched.clusters[i], lone)
    return measure_reliability(right, matched.stated[i], lone)


def _write_page(
    found: Evaluation | Comparison, matched: Matched, path: Path, results: list[Path], sources: dict[str, str]
) -> None:
    from homonym.report.evaluation_page import WORST_NAMES, write_comparison, write_report

    if isinstance(found, Comparison):
        write_comparison(found, path, settings=sources)
        return
    settings = {"result": printable(results[0]), **sources}
    title = f"How well {printable(results[0].name)} tells authors apart"
    worst = []
    if matched.names_known:
        worst = worst_names(matched.names, matched.authors, matched.clusters[0], matched.name_texts, WORST_NAMES)
    write_report(found, path, title=title, settings=settings, worst=worst)
