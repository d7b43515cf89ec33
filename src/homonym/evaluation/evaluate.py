"""A result against known labels: overall, by true size, with baselines; as JSON, table or page.

>>> found = assess(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 2]), np.array([0, 0, 1, 2]))
>>> found.names, found.mentions, found.bcubed.f1, found.baseline_one_cluster.bcubed.precision
(2, 4, 1.0, 0.6666666666666666)
>>> list(found.as_dict()["by_true_size"])
['1', '2']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from homonym.errors import InputError
from homonym.evaluation.measures import (
    Codes,
    Contingency,
    Measures,
    Scores,
    bcubed_across_names,
    bcubed_by_name,
    contingency,
    mean_by,
    measure,
    one_cluster_per_name,
    pairwise_by_name,
    singletons,
)
from homonym.files import require_files, require_writable, write_whole
from homonym.wording import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

LARGEST_SHOWN = 10
"""True sizes up to here have a row of their own in tables, as in the paper; the larger ones share one."""


@dataclass(frozen=True)
class TrueSize:
    """Results of the names with one true number of authors: precision and recall are averaged over those names."""

    names: int
    mean_clusters: float
    bcubed: Scores
    pairwise_with_self: Scores
    baseline_one_cluster: Scores
    baseline_singletons: Scores

    def as_dict(self) -> dict[str, Any]:
        """Give the values under their names in the evaluation JSON."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True)
class Evaluation:
    """How a result agrees with the labels; values outside `by_true_size` are over all labelled mentions.

    `mentions` have both a label and an author. `mentions_without_label` are in the result only and do not count,
    nor do they count into the size of a cluster; `labels_without_mention` are labels whose mention the result lacks.
    """

    names: int
    mentions: int
    mentions_without_label: int
    labels_without_mention: int
    bcubed: Scores
    pairwise: Scores
    pairwise_with_self: Scores
    bcubed_across_names: Scores
    baseline_one_cluster: Measures
    baseline_singletons: Measures
    by_true_size: Mapping[int, TrueSize]
    gold_lines_skipped: int = 0

    @property
    def mean_over_true_sizes_1_to_10(self) -> float | None:
        """B-cubed F1 averaged over those of the true sizes 1 to 10 that occur: each problem size counts the same."""
        found = [row.bcubed.f1 for size, row in self.by_true_size.items() if size <= LARGEST_SHOWN]
        return sum(found) / len(found) if found else None

    def as_dict(self) -> dict[str, Any]:
        """Give the evaluation JSON."""
        written = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        del written["gold_lines_skipped"]
        written["mean_over_true_sizes_1_to_10"] = self.mean_over_true_sizes_1_to_10
        written["by_true_size"] = written.pop("by_true_size")
        return written

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Evaluation:
        """Read the evaluation JSON back, to render it again."""
        parts: dict[str, Any] = {key: written[key] for key in COUNTS}
        parts |= {key: _scores(written[key]) for key in SCORES}
        parts |= {key: _measures(written[key]) for key in BASELINES}
        sizes = {int(size): _true_size(row) for size, row in written["by_true_size"].items()}
        return cls(**parts, by_true_size=sizes)

    def folded(self) -> dict[str, TrueSize]:
        """Give the rows of a readable table: true sizes 1 to 10, and the mean over the names beyond them as "11+"."""
        rows = {str(size): row for size, row in self.by_true_size.items() if size <= LARGEST_SHOWN}
        beyond = [row for size, row in self.by_true_size.items() if size > LARGEST_SHOWN]
        return rows | ({f"{LARGEST_SHOWN + 1}+": _mean_row(beyond)} if beyond else {})


COUNTS = ("names", "mentions", "mentions_without_label", "labels_without_mention")
SCORES = ("bcubed", "pairwise", "pairwise_with_self", "bcubed_across_names")
BASELINES = ("baseline_one_cluster", "baseline_singletons")
SIZE_SCORES = ("bcubed", "pairwise_with_self", *BASELINES)


def evaluate(
    authors: Path | str, gold: Path | str, *, output: Path | str | None = None, json: Path | str | None = None
) -> Evaluation:
    """Compare a result with known labels; write the figures to `json` and a page to `output` if named.

    `authors` is a result with mention_id, block and author_id (Parquet, CSV or JSON lines); `gold` any file that
    `read_gold` knows. Names are the blocks of the result.
    """
    from homonym.evaluation.gold import match, read_gold

    authors, gold = Path(authors), Path(gold)
    require_files([authors, gold])
    for path in (output, json):
        if path is not None:
            require_writable(Path(path))
    labels = read_gold(gold)
    matched = match(authors, labels)
    if not len(matched.names):
        raise InputError(
            f"{authors} and {gold} have no mention in common; mention_id must be the same in both "
            "(<document id>#<position> for the authors of documents)."
        )
    found = replace(
        assess(matched.names, matched.authors, matched.clusters),
        mentions_without_label=matched.mentions_without_label,
        labels_without_mention=matched.labels_without_mention,
        gold_lines_skipped=labels.skipped,
    )
    if json is not None:
        _write_json(found, Path(json))
    if output is not None:
        _write_page(found, Path(output), authors, gold)
    return found


def assess(names: Codes, authors: Codes, clusters: Codes) -> Evaluation:
    """Evaluate a clustering given as integer codes per mention: name, true author, cluster.

    A cluster code that occurs under two names counts as two clusters within names, as one across names.
    """
    system, together, alone = (
        contingency(names, authors, found) for found in (clusters, one_cluster_per_name(names), singletons(names))
    )
    overall = measure(system)
    return Evaluation(
        names=system.names,
        mentions=len(names),
        mentions_without_label=0,
        labels_without_mention=0,
        bcubed=overall.bcubed,
        pairwise=overall.pairwise,
        pairwise_with_self=overall.pairwise_with_self,
        bcubed_across_names=bcubed_across_names(authors, clusters),
        baseline_one_cluster=measure(together),
        baseline_singletons=measure(alone),
        by_true_size=_by_true_size(system, together, alone),
    )


def _by_true_size(system: Contingency, together: Contingency, alone: Contingency) -> dict[int, TrueSize]:
    sizes, group, names = np.unique(system.true_size, return_inverse=True, return_counts=True)
    rows = zip(
        names.tolist(),
        mean_by(group, system.clusters).tolist(),
        bcubed_by_name(system).averaged(group),
        pairwise_by_name(system, with_self=True).averaged(group),
        bcubed_by_name(together).averaged(group),
        bcubed_by_name(alone).averaged(group),
        strict=True,
    )
    return {size: TrueSize(*row) for size, row in zip(sizes.tolist(), rows, strict=True)}


def _write_json(found: Evaluation, path: Path) -> None:
    import orjson

    write_whole(path, orjson.dumps(found.as_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _write_page(found: Evaluation, path: Path, authors: Path, gold: Path) -> None:
    from homonym.report.page import write_report

    settings = {"result": str(authors), "labels": str(gold)}
    write_report(found, path, title=f"How well {authors.name} tells authors apart", settings=settings)


def render_table(evaluation: Evaluation) -> RenderableType:
    """Lay the evaluation out for the terminal: overall with the baselines beside, then by true size."""
    from rich.console import Group
    from rich.text import Text

    return Group(Text(summary(evaluation)), _overall_table(evaluation), _size_table(evaluation))


def summary(evaluation: Evaluation) -> str:
    """Say in one line what was compared and what was not.

    >>> summary(assess(np.array([0, 0]), np.array([0, 1]), np.array([0, 0])))
    '2 labelled mentions of 1 name'
    """
    parts = [f"{counted(evaluation.mentions, 'labelled mention')} of {counted(evaluation.names, 'name')}"]
    if evaluation.mentions_without_label:
        parts.append(f"{counted(evaluation.mentions_without_label, 'mention')} without a label left out")
    if evaluation.labels_without_mention:
        parts.append(f"{counted(evaluation.labels_without_mention, 'label')} whose mention the result lacks")
    if evaluation.gold_lines_skipped:
        parts.append(f"{counted(evaluation.gold_lines_skipped, 'line')} of the labels could not be parsed")
    return "; ".join(parts)


def _overall_table(evaluation: Evaluation) -> RenderableType:
    columns = ("measure", "precision", "recall", "F1", "F1 if one\nper name", "F1 if\nall apart")
    table = _empty_table("Over all labelled mentions", columns)
    for label, scores, together, alone in overall_rows(evaluation):
        baselines = (_figure(baseline.f1) if baseline else "" for baseline in (together, alone))
        table.add_row(label, *_figures(scores), *baselines)
    return table


def overall_rows(evaluation: Evaluation) -> list[tuple[str, Scores, Scores | None, Scores | None]]:
    """Name each overall measure, with its value and those of the baselines one cluster per name and all apart."""
    together, alone = evaluation.baseline_one_cluster, evaluation.baseline_singletons
    return [
        ("B-cubed", evaluation.bcubed, together.bcubed, alone.bcubed),
        ("pairs", evaluation.pairwise, together.pairwise, alone.pairwise),
        ("pairs with self", evaluation.pairwise_with_self, together.pairwise_with_self, alone.pairwise_with_self),
        ("B-cubed across names", evaluation.bcubed_across_names, None, None),
    ]


def _size_table(evaluation: Evaluation) -> RenderableType:
    columns = (
        *("true\nauthors", "names", "mean\nfound", "precision", "recall", "F1"),
        *("pair F1\nwith self", "F1 if one\nper name"),
    )
    table = _empty_table("B-cubed by true number of authors, averaged over names", columns)
    if (mean := evaluation.mean_over_true_sizes_1_to_10) is not None:
        table.caption = f"F1 averaged over true sizes 1 to {LARGEST_SHOWN}: {_figure(mean)}"
    for size, row in evaluation.folded().items():
        others = (_figure(row.pairwise_with_self.f1), _figure(row.baseline_one_cluster.f1))
        table.add_row(size, f"{row.names:,}", f"{row.mean_clusters:.1f}", *_figures(row.bcubed), *others)
    return table


def _empty_table(title: str, columns: tuple[str, ...]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left")
    return table


def _figures(scores: Scores) -> tuple[str, str, str]:
    return _figure(scores.precision), _figure(scores.recall), _figure(scores.f1)


def _figure(value: float) -> str:
    return f"{value:.3f}"


def _plain(value: Any) -> Any:
    """Give a value of the evaluation as JSON knows it."""
    if isinstance(value, Mapping):
        return {str(size): row.as_dict() for size, row in sorted(value.items())}
    return value.as_dict() if hasattr(value, "as_dict") else value


def _scores(written: Mapping[str, float]) -> Scores:
    return Scores(written["precision"], written["recall"])


def _measures(written: Mapping[str, Any]) -> Measures:
    return Measures(**{key: _scores(written[key]) for key in SCORES[:3]})


def _true_size(written: Mapping[str, Any]) -> TrueSize:
    scores = {key: _scores(written[key]) for key in SIZE_SCORES}
    return TrueSize(written["names"], written["mean_clusters"], **scores)


def _mean_row(rows: list[TrueSize]) -> TrueSize:
    """Average rows over their names."""
    names = sum(row.names for row in rows)

    def mean(values: Iterator[float]) -> float:
        return sum(row.names * value for row, value in zip(rows, values, strict=True)) / names

    def mean_scores(key: str) -> Scores:
        scores = [getattr(row, key) for row in rows]
        return Scores(mean(score.precision for score in scores), mean(score.recall for score in scores))

    scores = {key: mean_scores(key) for key in SIZE_SCORES}
    return TrueSize(names, mean(row.mean_clusters for row in rows), **scores)
