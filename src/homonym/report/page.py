"""HTML pages from the Jinja2 templates in `templates/`: self-contained, for light and dark screens.

Page modules compute plain values (rows, cards, sentences); templates hold the prose and lay the values out. Templates
escape every value. Only two things are marked as safe: the SVG figures that this package draws (`macros.html.j2`), and
the script of the page of a run (`run.js`), the only page that has one. The filter `isolated` escapes what it marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from homonym import __version__

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


class Section(NamedTuple):
    """An additional section of a page: a heading and paragraphs of plain text."""

    heading: str
    paragraphs: Sequence[str]


class Table(NamedTuple):
    """A table of a page: column names and rows of values, which are written as they are."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]


class PageFigure(NamedTuple):
    """A figure of a page: an <svg> element drawn by this package, and its caption."""

    svg: str
    caption: str


def render_template(template: str, values: Mapping[str, Any]) -> str:
    """Render the page `templates/<template>` with these values."""
    return _environment().get_template(template).render(values)


def template_text(name: str) -> str:
    """The text of the file `templates/<name>`."""
    return files("homonym.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    # Imported here because most commands write no page.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("homonym.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finished,
    )
    environment.globals["version"] = __version__
    environment.filters["isolated"] = _isolated
    return environment


# Characters that reverse the text after them. Isolates, which pages use themselves, end with their element.
_REVERSING = re.compile("[\u202a-\u202e]")
# Stands between texts that are escaped together: `shortened` leaves no control character.
_SEPARATOR = "\x1f"


def _finished(value: object) -> object:
    r"""A value as a page shows it; markup is left alone.

    A no-break space is put between a number and its percent sign, and characters that reverse text are removed.

    >>> _finished("95 % of 7 names"), _finished("Doe\u202e, Jane")
    ('95\xa0% of 7 names', 'Doe, Jane')
    """
    if type(value) is not str:
        return value
    text = value if value.isascii() else _REVERSING.sub("", value)
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text) if " %" in text else text


def _isolated(texts: Sequence[str]) -> Markup:
    """Texts in one line, each in an element that isolates its writing direction; a page may have thousands of them.

    They are escaped together, which takes a tenth of the time. They are as `shortened` returns them.

    >>> str(_isolated(["Doe, J", "<b>"]))
    '<bdi>Doe, J</bdi>; <bdi>&lt;b&gt;</bdi>'
    """
    from markupsafe import Markup, escape

    return Markup(f"<bdi>{escape(_finished(_SEPARATOR.join(texts)))}</bdi>".replace(_SEPARATOR, "</bdi>; <bdi>"))


def percent(value: float) -> str:
    r"""Write a share in percent; only exactly 0 and 1 are written as 0 and 100.

    >>> percent(0.9734), percent(0.99996), percent(1.0), percent(0.0001)
    ('97.3\xa0%', '>99.9\xa0%', '100\xa0%', '<0.1\xa0%')
    """
    number = f"{100 * value:.0f}" if value in (0.0, 1.0) else f"{100 * value:.1f}"
    return {"100.0": ">99.9", "0.0": "<0.1"}.get(number, number) + "\N{NO-BREAK SPACE}%"


# Maximum length of a name on a page, in characters.
NAME_LENGTH = 100
# Control characters, line breaks included, and halves of characters, which no page can hold.
_CONTROL = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")


def shortened(text: str | None, length: int) -> str:
    """A text on one line without control characters, cut to a number of characters.

    >>> shortened(" Graph\\n kernels", 100), shortened("Kernels of graphs", 8), shortened(None, 8)
    ('Graph kernels', 'Kernels…', '')
    """
    if text and len(text) <= length and text.isprintable() and "  " not in text and " " not in (text[0], text[-1]):
        return text  # as most are: a space is the only printable character that `_CONTROL` has
    plain = _CONTROL.sub(" ", (text or "")[: 4 * length]).strip()
    return plain if len(plain) <= length else f"{plain[: length - 1].rstrip()}…"


def dotted(settings: Mapping[str, object], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield nested settings as pairs of dotted name and value.

    >>> list(dotted({"limit": {"alpha": 0.0, "beta": 7.5e-05}, "variant": "prob"}))
    [('limit.alpha', '0.0'), ('limit.beta', '7.5e-05'), ('variant', 'prob')]
    """
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", str(value)
