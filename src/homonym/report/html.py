"""Parts of a self-contained HTML page: no script, nothing loaded from elsewhere, light and dark.

Every string that comes from data is escaped here; figures are SVG that this package drew itself.
"""

from __future__ import annotations

import re
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
        parts = [f"<h2>{escape(self.heading)}</h2>", paragraphs(*self.paragraphs)]
        if self.svg:
            parts.append(figure(self.svg, self.caption))
        if self.rows:
            parts.append(table(self.header, self.rows, "words" if self.words else "figures"))
        if self.bullets:
            parts.append(bullets(self.bullets))
        return f"<section>{''.join(parts)}</section>"


@dataclass(frozen=True)
class Chapter:
    """A part of a longer page that its list of contents leads to; the parts must be HTML already."""

    anchor: str
    heading: str
    parts: Sequence[str]

    def html(self) -> str:
        """Write the chapter."""
        body = "\n".join(part for part in self.parts if part)
        return f'<section id="{escape(self.anchor)}"><h2>{escape(self.heading)}</h2>\n{body}</section>'


class Markup(str):
    """Text that is HTML already, where a table would take it for text from data."""


def contents(chapters: Iterable[Chapter]) -> str:
    """Write the list of contents of a page."""
    lines = (f'<li><a href="#{escape(part.anchor)}">{escape(part.heading)}</a></li>' for part in chapters)
    return f'<nav aria-label="Contents"><ol>{"".join(lines)}</ol></nav>'


def paragraphs(*texts: str) -> str:
    """Write paragraphs; empty ones are left out.

    >>> paragraphs("a < b", "")
    '<p>a &lt; b</p>'
    """
    return "".join(f"<p>{running(text)}</p>" for text in texts if text)


def running(text: str) -> str:
    r"""Escape running text, and keep the sign for per cent with its figure.

    >>> running("95 % < all")
    '95\xa0% &lt; all'
    """
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", escape(text))


def heading(text: str) -> str:
    """Write a heading inside a chapter."""
    return f"<h3>{escape(text)}</h3>"


def cards(values: Iterable[tuple[str, str]]) -> str:
    """Write headline figures, each with a sentence."""
    lines = (f"<div><strong>{escape(value)}</strong>\n<p>{running(text)}</p></div>" for value, text in values)
    return f'<div class="cards">{"".join(lines)}</div>'


def bullets(texts: Iterable[str]) -> str:
    """Write a list."""
    return f"<ul>{''.join(f'<li>{running(text)}</li>' for text in texts)}</ul>"


def terms(explained: Iterable[tuple[str, str]]) -> str:
    """Write a list of terms, each with its explanation."""
    lines = (f"<dt>{running(term)}</dt><dd>{running(text)}</dd>" for term, text in explained)
    return f"<dl>{''.join(lines)}</dl>"


def figure(svg: str, caption: str) -> str:
    """Write a figure, which must be SVG that this package drew, with its caption."""
    return f"<figure>{svg}<figcaption>{running(caption)}</figcaption></figure>"


def details(summary: str, *parts: str) -> str:
    """Write a part that the reader opens; the parts must be HTML already."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def table(header: Sequence[str], rows: Iterable[Sequence[object]], kind: str = "figures", caption: str = "") -> str:
    """Write a table that scrolls where it is too wide: figures to the right, or words to the left."""
    # Not a <caption>: it would scroll away with a wide table.
    above = f'<p class="above">{running(caption)}</p>' if caption else ""
    head = "".join(f"<th>{running(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    whole = f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'{above}<div class="wide">{whole}</div>'


def _cell(value: object) -> str:
    return f"<td>{value if isinstance(value, Markup) else escape(str(value))}</td>"


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


STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --soft: #5b636e; --line: #dfe3e8; --card: #f5f7f9; --paper: #fff;
  --yes: #0b6e4f; --no: #a8320e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #a3abb6; --line: #333a43; --card: #1e2329; --paper: #14171b;
    --yes: #56c596; --no: #f0936b; }
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
.words td:first-child { min-width: 12rem; }
figure { margin: 1.2rem 0; }
figure svg { display: block; width: 100%; max-width: 37rem; height: auto; margin: 0 auto; }
figure svg text { font-family: inherit !important; }
figcaption { font-size: .86rem; line-height: 1.45; color: var(--soft); margin-top: .5rem; }
ul { padding-left: 1.2rem; }
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: .15em; }
h3 { font-size: 1rem; margin: 1.8rem 0 .4rem; }
nav ol { columns: 2 15rem; column-gap: 2rem; padding: .9rem 1rem .9rem 2.2rem; margin: 1.4rem 0;
  background: var(--card); border: 1px solid var(--line); border-radius: .5rem; font-size: .95rem; }
nav li { break-inside: avoid; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .3rem 1rem; margin: .8rem 0; }
dt { font-weight: 600; overflow-wrap: anywhere; }
dd { margin: 0; }
.above { margin: 1.4rem 0 -.4rem; font-size: .86rem; line-height: 1.45; color: var(--soft); break-after: avoid; }
.scores th, .scores td { padding: .2rem .4rem; }
.scores td:first-child { white-space: normal; min-width: 9.5rem; max-width: 12rem; overflow-wrap: break-word;
  line-height: 1.25; }
.scores th:first-child, .scores td:first-child { position: sticky; left: 0; background: var(--paper);
  padding: .2rem .6rem .2rem 0; }
.threes tr:not(:nth-child(3n)) td { border-bottom: 0; }
.threes tr:nth-child(3n + 1) td { padding-top: .4rem; }
.threes tr:nth-child(3n) td { padding-bottom: .4rem; }
.verdict { white-space: nowrap; font-weight: 600; }
.confirmed { color: var(--yes); }
.refuted { color: var(--no); }
details { border: 1px solid var(--line); border-radius: .5rem; padding: 0 1rem; margin: .5rem 0; }
details[open] { padding-bottom: .6rem; }
summary { cursor: pointer; padding: .55rem 0; }
@media (max-width: 30rem) {
  .scores td:first-child { min-width: 5.5rem; max-width: 8rem; }
  dl { display: block; }
  dd { margin: 0 0 .5rem; }
  details { padding: 0 .7rem; }
}
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #ccc; --card: #fff; --paper: #fff; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; }
  table { font-size: 8pt; }
  .scores th, .scores td { padding: .1rem .22rem; }
  figure, tr, .cards div { break-inside: avoid; }
  figure svg { max-width: 30rem; }
  h2, h3, summary { break-after: avoid; }
}
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
