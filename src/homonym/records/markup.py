"""Titles, abstracts and names with HTML, JATS or MathML in them, as plain text."""

from __future__ import annotations

import html
import re
from functools import lru_cache

#: Text that was escaped by one system and then again by the next has been seen; more than this has not.
_ROUNDS = 3

_LONG = 200
_UNEVEN = ("\n", "  ", "\t", "\r", "\xa0", "\u2009", "\u3000", "\x0b", "\x0c", "\x1f", "\u2028", "\u2003", "\u2002")

# Tags that stand inside of words: x<sub>2</sub> is x2. All other tags part words.
_INLINE = (
    r"a|abbr|b|bdi|big|bold|cite|code|em|emph|ext-link|fn|font|i|inf|ins|it|italic|monospace|named-content|overline"
    r"|mfrac|mi|mn|mo|mrow|msqrt|msub|msubsup|msup|mtext|roman|rm|s|sans-serif|sc|scp|small|smallcap|smallcaps|span|strike|strong|styled-content|sub|sup|tt|u|underline"
    r"|underlined|xref"
)
_BLOCK = (
    r"abstract|alternatives|annotation|blockquote|body|br|break|caption|center|dd|def|def-item|def-list|disp-formula"
    r"|div|dl|dt|fig|formula|graphic|h[1-6]|head|hr|html|img|inline-formula|inline-graphic|label|li|list|list-item"
    r"|math|ol|p|para|pre|q|sec|section|semantics|speech|statement|table|tbody|td|term|tex-math|th|thead"
    r"|title|tr|ul|verse-group|verse-line"
)
_MATHS = r"(?:mml|m|ns\d{1,2}):[a-z]+"

# What may be a tag ends before the next "<", so that text full of unclosed tags costs no more than any other.
_TAG = re.compile(r"<(?:!\[CDATA\[|[/A-Za-z?!][^<>]*+>)")
_REST = r"(?:\s+[\w:-]+\s*=[^<>]*|\s*/?\s*)>"
_WITHIN = re.compile(rf"</?(?:{_MATHS}|(?:[a-z]+:)?(?:{_INLINE})){_REST}", re.IGNORECASE)
_BETWEEN = re.compile(
    rf"</?(?:(?:[a-z]+:)?(?:{_BLOCK})|(?:jats|ce|sb|xhtml):[\w-]+){_REST}|<!--.*>|<!\[CDATA\[|<\?.*>",
    re.IGNORECASE | re.DOTALL,
)
# TeX comes beside the same formula in MathML, with the whole preamble of a LaTeX document.
_TEX = re.compile(r"<(?:jats:)?tex-math\b[^<>]*+>[^<]*+</(?:jats:)?tex-math\s*>", re.IGNORECASE)


def plain_text(text: str) -> str:
    """Text without tags, its entities decoded and its white space collapsed.

    Only what is known as a tag is taken for one: other things stand between angle brackets too.

    >>> plain_text("<jats:title>On  CO<sub>2</sub></jats:title><jats:p>J&uuml;rgen &amp;amp; S&#246;hne</jats:p>")
    'On CO2 Jürgen & Söhne'
    >>> plain_text("p < 0.05 where <x> > 1 &lt;i&gt;in vivo&lt;/i&gt; for R&D")
    'p < 0.05 where <x> > 1 in vivo for R&D'
    """
    if "<" in text or "&" in text:
        text = _without_markup(text)
    return even(text)


def even(text: str) -> str:
    """Text with its white space collapsed. Most abstracts are so already, and to see that takes a tenth of the time.

    >>> even(" On\\n  air ")
    'On air'
    """
    if len(text) < _LONG:
        return " ".join(text.split())
    text = text.strip()
    return " ".join(text.split()) if any(map(text.__contains__, _UNEVEN)) else text


def _without_markup(text: str) -> str:
    for _ in range(_ROUNDS):
        if "<" in text:
            text = _without_tags(text)
        if "&" not in text:
            break
        text, before = _unescaped(text), text
        if text == before:
            break
    return text


def _without_tags(text: str) -> str:
    if "tex-math" in text:
        text = _TEX.sub(" ", text)
    return _TAG.sub(_replacement, text).replace("]]>", " ")


def _replacement(found: re.Match[str]) -> str:
    return _spacing(found[0])


@lru_cache(maxsize=1 << 10)
def _spacing(tag: str) -> str:
    """What stands in the place of a tag; itself if it is none."""
    if _WITHIN.fullmatch(tag):
        return ""
    return " " if _BETWEEN.fullmatch(tag) else tag


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a character number of thousands of digits
        return text
