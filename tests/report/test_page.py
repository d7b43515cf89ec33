"""Texts on a page: cut to one line, and escaped."""

from __future__ import annotations

from html import escape

from hypothesis import example, given
from hypothesis import strategies as st
from jinja2 import Environment
from markupsafe import Markup

from homonym.report import page
from homonym.report.page import shortened
from homonym.report.run_content import text_bytes

TEXTS = st.text(st.one_of(st.sampled_from(" \n\x00\u2028\u202e%&<9é\u3000\ufffe"), st.characters()), max_size=30)


@given(TEXTS, st.integers(1, 25))
@example("a b", 3)
@example("a  b", 25)
@example("\u3000a", 25)
def test_shortened_text_is_one_line_without_control_characters(text: str, length: int) -> None:
    plain = page._CONTROL.sub(" ", text[: 4 * length]).strip()
    assert shortened(text, length) == (plain if len(plain) <= length else f"{plain[: length - 1].rstrip()}…")


@given(st.lists(TEXTS.map(lambda text: shortened(text, 20)), min_size=1, max_size=4))
@example(["9", "% of", "a\u202eb", "9 %"])
def test_isolated_texts_are_escaped_like_single_values(texts: list[str]) -> None:
    template = "{% for text in texts %}<bdi>{{ text }}</bdi>{{ '; ' if not loop.last }}{% endfor %}"
    expected = Environment(autoescape=True, finalize=page._finished).from_string(template).render(texts=texts)
    found = page._isolated(texts)
    assert isinstance(found, Markup)
    assert str(found) == expected


@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]))))
def test_bytes_of_texts_are_those_of_each(texts: list[str | None]) -> None:
    assert text_bytes(texts) == sum(len(escape(text or "").encode()) for text in texts)
