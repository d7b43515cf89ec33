"""One self-contained HTML page about an evaluation: no script, nothing loaded from elsewhere, light and dark.

Every string that comes from data is escaped here; figures are SVG that this package drew itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from homonym import __version__
from homonym.evaluation.evaluate import LARGEST_SHOWN, Evaluation, TrueSize, overall_rows
from homonym.files import write_whole
from homonym.report.figures import clusters_by_true_size, results_by_true_size
from homonym.wording import counted

TITLE = "How well authors of the same name are told apart"


@dataclass(frozen=True)
class Section:
    """A part of the page: paragraphs, a figure and a table, each optional; only `svg` is taken as markup.

    Cells are set to the right for comparing figures, or to the left where they hold `words`.
    """

    heading: str
    paragraphs: Sequence[str] = ()
    svg: str = ""
    caption: str = ""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    words: bool = False

    def html(self) -> str:
        """Write the section."""
        parts = [f"<h2>{escape(self.heading)}</h2>", *(f"<p>{escape(text)}</p>" for text in self.paragraphs)]
        if self.svg:
            parts.append(f"<figure>{self.svg}<figcaption>{escape(self.caption)}</figcaption></figure>")
        if self.rows:
            parts.append(_table(self.header, self.rows, "words" if self.words else "figures"))
        return f"<section>{''.join(parts)}</section>"


def write_report(
    evaluation: Evaluation | Mapping[str, Any],
    path: Path | str,
    *,
    title: str = TITLE,
    settings: Mapping[str, object] | None = None,
    sections: Sequence[Section] = (),
) -> None:
    """Write the page about an evaluation, whole or not at all; `sections` follow the figures."""
    write_whole(Path(path), render_page(evaluation, title=title, settings=settings, sections=sections))


def render_page(
    evaluation: Evaluation | Mapping[str, Any],
    *,
    title: str = TITLE,
    settings: Mapping[str, object] | None = None,
    sections: Sequence[Section] = (),
) -> str:
    """Give the page about an evaluation as HTML."""
    found = evaluation if isinstance(evaluation, Evaluation) else Evaluation.from_dict(evaluation)
    parts = [by_true_size(found), clusters_found(found), all_measures(found), *sections]
    if settings:
        parts.append(Section("Settings", header=("setting", "value"), rows=list(flattened(settings)), words=True))
    return PAGE.substitute(
        title=escape(title),
        style=STYLE,
        lead=escape(lead(found)),
        cards="".join(_card(*card) for card in cards(found)),
        explanation="".join(f"<p>{escape(text)}</p>" for text in EXPLANATION),
        sections="".join(part.html() for part in parts),
        compared="".join(f"<li>{escape(text)}</li>" for text in compared(found)),
        version=escape(__version__),
    )


def lead(found: Evaluation) -> str:
    """Say in two sentences what was compared and whether the result beats doing nothing."""
    baseline = found.baseline_one_cluster.bcubed.f1
    verdict = "better than" if found.bcubed.f1 > baseline else "no better than"
    return (
        f"The result was compared with {counted(found.mentions, 'mention')} of {counted(found.names, 'name')} whose "
        f"authors are known. With a B-cubed F1 of {percent(found.bcubed.f1)} it is {verdict} taking everyone of a name "
        f"for one person ({percent(baseline)})."
    )


def cards(found: Evaluation) -> list[tuple[str, str]]:
    """Give the headline figures, each with a sentence that needs no prior knowledge."""
    return [
        (
            percent(found.pairwise.precision),
            "of the pairs of mentions that the result puts together are indeed the same person (pair precision).",
        ),
        (
            percent(found.pairwise.recall),
            "of the pairs of mentions that belong to one person are put together (pair recall).",
        ),
        (
            percent(found.bcubed.f1),
            "is precision and recall in one figure, as the average mention sees it (B-cubed F1); "
            f"{percent(found.baseline_one_cluster.bcubed.f1)} if nobody were told apart.",
        ),
    ]


EXPLANATION = (
    "B-cubed asks for each mention how much of the group it was put into is really the same person (precision) and "
    "how much of that person's mentions are in the group (recall), averages over the mentions, and F1 is high only if "
    "both are.",
    "The baseline takes everyone of a name for one person, as counting by name does: it misses nothing (full recall) "
    "and is right wherever a name has one bearer, so any method has to beat it. “All apart” is the opposite: every "
    "mention a person of its own.",
)


def compared(found: Evaluation) -> list[str]:
    """List what was compared and what could not be."""
    lines = [
        f"{counted(found.mentions, 'mention')} with a known author, under {counted(found.names, 'name')}: all figures "
        "are about these.",
        f"{counted(found.mentions_without_label, 'mention')} of the result without a label: left out.",
        f"{counted(found.labels_without_mention, 'label')} whose mention the result lacks: left out of the figures.",
    ]
    if found.gold_lines_skipped:
        lines.append(f"{counted(found.gold_lines_skipped, 'line')} of the labels could not be parsed.")
    return lines


def by_true_size(found: Evaluation) -> Section:
    """Show results by how many people really share the name."""
    paragraphs = ["A name that two people share is an easier problem than one that ten share, so each size is shown."]
    if (mean := found.mean_over_true_sizes_1_to_10) is not None:
        paragraphs.append(f"Averaged over the true sizes 1 to {LARGEST_SHOWN} that occur, F1 is {percent(mean)}.")
    caption = (
        "B-cubed precision and recall are averaged over the names of each true size; F1 is that of the averages. "
        f"The dashed and dotted lines show the baseline. {_left_out(found)}"
    )
    rows = [_size_row(size, row) for size, row in found.folded().items()]
    return Section(
        "By number of people who share the name", paragraphs, results_by_true_size(found), caption, SIZE_HEADER, rows
    )


# F1 stands first, beside what it has to beat: a phone shows the first columns only.
SIZE_HEADER = (
    "true authors",
    "names",
    "F1",
    "baseline F1",
    "precision",
    "recall",
    "pair F1 with self",
    "all apart F1",
    "people found",
)


def _size_row(size: str, row: TrueSize) -> tuple[str, ...]:
    shares = (
        row.bcubed.f1,
        row.baseline_one_cluster.f1,
        row.bcubed.precision,
        row.bcubed.recall,
        row.pairwise_with_self.f1,
        row.baseline_singletons.f1,
    )
    return size, f"{row.names:,}", *map(percent, shares), f"{row.mean_clusters:.1f}"


def clusters_found(found: Evaluation) -> Section:
    """Show how many people are found against how many there are."""
    caption = (
        "Number of people found per name, averaged over the names of each true size. Above the dashed line people are "
        f"split, below it different people are taken for one. {_left_out(found)}"
    )
    return Section("How many people are found", svg=clusters_by_true_size(found), caption=caption)


def all_measures(found: Evaluation) -> Section:
    """Show every overall measure with both baselines."""
    rows = [
        (label, *map(percent, scores.as_dict().values()), *(percent(base.f1) if base else "" for base in baselines))
        for label, scores, *baselines in overall_rows(found)
    ]
    text = (
        "Pairs are the sets of two mentions in one group; with self, each mention also pairs with itself, as some "
        "papers count. Across names, a person who publishes under two names should be found as one: the difference to "
        "plain B-cubed is what grouping by name loses."
    )
    header = ("measure", "precision", "recall", "F1", "baseline F1", "all apart F1")
    return Section("All measures, over all mentions", [text], header=header, rows=rows)


def percent(value: float) -> str:
    r"""Write a share; what is not quite all or nothing is never rounded to it.

    >>> percent(0.9734), percent(0.99996), percent(1.0), percent(0.0001)
    ('97.3\xa0%', '>99.9\xa0%', '100\xa0%', '<0.1\xa0%')
    """
    figure = f"{100 * value:.0f}" if value in (0.0, 1.0) else f"{100 * value:.1f}"
    # A space that does not break keeps the sign with its figure.
    return {"100.0": ">99.9", "0.0": "<0.1"}.get(figure, figure) + "\N{NO-BREAK SPACE}%"


def flattened(settings: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Write nested settings as dotted lines.

    >>> list(flattened({"limit": {"alpha": 0.0, "beta": 7.5e-05}, "variant": "prob"}))
    [('limit.alpha', '0.0'), ('limit.beta', '7.5e-05'), ('variant', 'prob')]
    """
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)


def _left_out(found: Evaluation) -> str:
    beyond = [row.names for size, row in found.by_true_size.items() if size > LARGEST_SHOWN]
    if not beyond:
        return ""
    return f"Not in the figure: {counted(sum(beyond), 'name')} with more than {LARGEST_SHOWN} authors."


def _card(value: str, sentence: str) -> str:
    return f"<div><strong>{escape(value)}</strong>\n<p>{escape(sentence)}</p></div>"


def _table(header: Sequence[str], rows: Iterable[Sequence[object]], kind: str) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5b636e; --line: #dfe3e8; --card: #f5f7f9; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #a3abb6; --line: #333a43; --card: #1e2329; --paper: #14171b; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.1rem 3rem; max-width: 46rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 1.65rem; line-height: 1.25; margin: 0 0 .8rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
p { margin: .5rem 0; }
.lead { font-size: 1.08rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .8rem; margin: 1.4rem 0; }
.cards div { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .8rem 1rem; }
.cards strong { font-size: 1.9rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums; }
.cards p { margin: .2rem 0 0; font-size: .9rem; line-height: 1.4; color: var(--soft); }
.wide { overflow-x: auto; margin: .9rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; line-height: 1.25; }
th, td { padding: .32rem .45rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
td { white-space: nowrap; }
.words th, .words td { text-align: left; white-space: normal; overflow-wrap: anywhere; }
figure { margin: 1.2rem 0; }
figure svg { display: block; width: 100%; max-width: 37rem; height: auto; margin: 0 auto; }
figure svg text { font-family: inherit !important; }
figcaption { font-size: .86rem; line-height: 1.45; color: var(--soft); margin-top: .5rem; }
ul { padding-left: 1.2rem; }
footer { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line); font-size: .82rem;
  color: var(--soft); }
"""

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>$title</title>
<style>$style</style>
</head>
<body>
<header><h1>$title</h1><p class="lead">$lead</p></header>
<main>
<div class="cards">$cards</div>
$explanation
$sections
<section><h2>What was compared</h2><ul>$compared</ul></section>
</main>
<footer>Written by homonym $version.</footer>
</body>
</html>
""")
