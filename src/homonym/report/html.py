"""Parts of a self-contained HTML page: no script, nothing loaded from elsewhere, light and dark.

Every string that comes from data is escaped here; figures are SVG that this package drew itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from string import Template

from homonym import __version__


@dataclass(frozen=True)
class Section:
    """A part of the page: paragraphs, a figure, a table and a list, each optional; only `svg` is taken as markup.

    Cells are set to the right for comparing figures, or to the left where they hold `words`.
    """

    heading: str
    paragraphs: Sequence[str] = ()
    svg: str = ""
    caption: str = ""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    words: bool = False
    bullets: Sequence[str] = ()

    def html(self) -> str:
        """Write the section."""
        parts = [f"<h2>{escape(self.heading)}</h2>", *(f"<p>{escape(text)}</p>" for text in self.paragraphs)]
        if self.svg:
            parts.append(f"<figure>{self.svg}<figcaption>{escape(self.caption)}</figcaption></figure>")
        if self.rows:
            parts.append(_table(self.header, self.rows, "words" if self.words else "figures"))
        if self.bullets:
            parts.append(f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in self.bullets)}</ul>")
        return f"<section>{''.join(parts)}</section>"


def html_page(title: str, lead: str, body: str) -> str:
    """Put a body, which must be HTML already, into a page with a title and a leading sentence."""
    return PAGE.substitute(title=escape(title), style=STYLE, lead=escape(lead), body=body, version=escape(__version__))


def percent(value: float) -> str:
    r"""Write a share; what is not quite all or nothing is never rounded to it.

    >>> percent(0.9734), percent(0.99996), percent(1.0), percent(0.0001)
    ('97.3\xa0%', '>99.9\xa0%', '100\xa0%', '<0.1\xa0%')
    """
    figure = f"{100 * value:.0f}" if value in (0.0, 1.0) else f"{100 * value:.1f}"
    # A space that does not break keeps the sign with its figure.
    return {"100.0": ">99.9", "0.0": "<0.1"}.get(figure, figure) + "\N{NO-BREAK SPACE}%"


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
$body
</main>
<footer>Written by homonym $version.</footer>
</body>
</html>
""")
