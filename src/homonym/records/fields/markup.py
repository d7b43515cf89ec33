"""Titles, abstracts and names with HTML, JATS, MathML or LaTeX in them, as plain text."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

# Maximum number of times that a text is unescaped: systems escape what others have escaped already.
_ROUNDS = 3

# From this length on, it is faster to look for white space that must be collapsed than to collapse it.
_LONG = 200
_UNEVEN = ("\n", "  ", "\t", "\r", "\xa0", "\u2009", "\u3000", "\x0b", "\x0c", "\x1f", "\u2028", "\u2003", "\u2002")

# Tags that occur inside of words: x<sub>2</sub> is x2. All other tags separate words.
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

# A tag ends before the next "<", so that text full of unclosed tags costs no more than any other.
_TAG = re.compile(r"<(?:!\[CDATA\[|[/A-Za-z?!][^<>]*+>)")
_REST = r"(?:\s+[\w:-]+\s*=[^<>]*|\s*/?\s*)>"
_WITHIN = re.compile(rf"</?(?:{_MATHS}|(?:[a-z]+:)?(?:{_INLINE})){_REST}", re.IGNORECASE)
_BETWEEN = re.compile(
    rf"</?(?:(?:[a-z]+:)?(?:{_BLOCK})|(?:jats|ce|sb|xhtml):[\w-]+){_REST}|<!--.*>|<!\[CDATA\[|<\?.*>",
    re.IGNORECASE | re.DOTALL,
)
# The same formula follows in MathML; the TeX has the whole preamble of a LaTeX document.
_TEX = re.compile(r"<(?:jats:)?tex-math\b[^<>]*+>[^<]*+</(?:jats:)?tex-math\s*>", re.IGNORECASE)


def plain_text(text: str) -> str:
    """Text without tags, with entities decoded and white space collapsed.

    Only known tags are removed: angle brackets have other uses.

    >>> plain_text("<jats:title>On  CO<sub>2</sub></jats:title><jats:p>J&uuml;rgen &amp;amp; S&#246;hne</jats:p>")
    'On CO2 Jürgen & Söhne'
    >>> plain_text("p < 0.05 where <x> > 1 &lt;i&gt;in vivo&lt;/i&gt; for R&D")
    'p < 0.05 where <x> > 1 in vivo for R&D'
    """
    if "<" in text or "&" in text:
        text = _without_markup(text)
    return collapse_spaces(text)


def collapse_spaces(text: str) -> str:
    """Text with its white space collapsed.

    >>> collapse_spaces(" On\\n  air ")
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
    """The replacement of a tag; the text itself if it is not a known tag."""
    if _WITHIN.fullmatch(tag):
        return ""
    return " " if _BETWEEN.fullmatch(tag) else tag


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a character number of thousands of digits
        return text


# Macros that only separate words.
_SPACES = frozenset("hfill linebreak newline par quad qquad sep space".split())

# Escaped braces, dollars and tildes, until those of the markup are removed.
_OPEN, _CLOSE, _DOLLAR, _TILDE = "\ue000", "\ue001", "\ue002", "\ue003"
_CHARACTERS = {"{": _OPEN, "}": _CLOSE, "$": _DOLLAR, "~": _TILDE, "#": "#"} | dict.fromkeys(" \t\n\\,;:", " ")

_LETTER = r"(\\[ij](?![A-Za-z])[ \t]*+|[^\W\d_])"
_ACCENT = re.compile(rf"""\\(?:(["'`^~=.])\s*+|([cvuHdbrkGU])(?:\s++|(?=[{{\\])))(\{{?)\s*+{_LETTER}(?:\s*+(\}}))?""")
# The characters that exports escape in ordinary sentences; most texts have no other macros.
_ESCAPED = re.compile(r"\\([&%_])")
_MACRO = re.compile(r"\\(?:([A-Za-z]++)\*?+[ \t]*+(?:\n[ \t]*+)?(?:\{\})?|(.)|$)", re.DOTALL)
ENTITY = re.compile(r"&#?\w{1,30};")


def unescaped(text: str) -> str:
    r"""Text with entities decoded, whose semicolons would separate entries of lists; all else stays as it is.

    >>> unescaped("[O&apos;Neil, P; Roe, R] A&amp;M Univ\n   [Poe, E] R&D; Lab")
    "[O'Neil, P; Roe, R] A&M Univ\n   [Poe, E] R&D; Lab"
    """
    return ENTITY.sub(lambda found: _unescaped(found[0]), text) if "&" in text else text


_SINGLE = re.compile(r"\{([^\x00-\x7f])\}")
_LATEX_MATHS = re.compile(r"\$([^$]*+)\$")
_SCRIPTS = re.compile(r"[_^]")


def latex_to_text(value: str) -> str:
    r"""Plain text without LaTeX macros, braces, HTML and line ends.

    >>> latex_to_text(r"{\"U}ber {{GaN}} \& H$_2$O:~Core\textendash{}Shell {\v Z}i\v{z}ek, \O{}rsted, S{\'{\i}}")
    'Über GaN & H2O: Core–Shell Žižek, Ørsted, Sí'
    >>> latex_to_text("``Quoted{''} pages 5--10 of R&amp;D, <i>in vivo</i>")
    '“Quoted” pages 5–10 of R&D, in vivo'
    >>> latex_to_text(r"Univ~X, \textasciitilde{}70\%, {\~{}}user, $\sim$5, ma\~nana")
    'Univ X, ~70%, ~user, ~5, mañana'
    """
    text = without_braces(without_macros(value)) if _is_latex(value) else value
    if "\n" in text:  # wrapped as in the Web of Science; this is faster than collapsing all white space
        text = text.replace("\n   ", " ")
    if "<" in text or "&" in text or "\n" in text or "\t" in text or "  " in text or not text.isascii():
        return plain_text(text)
    return text.strip()


def _is_latex(text: str) -> bool:
    """Whether a text may have LaTeX in it; these tests are faster than any pattern."""
    return (
        "\\" in text
        or "{" in text
        or "}" in text
        or "$" in text
        or "~" in text
        or "`" in text
        or "--" in text
        or "''" in text
    )


def without_macros(value: str) -> str:
    r"""Text with macros replaced by characters; braces that group remain.

    >>> without_macros(r"{S{\'a}nchez}, M. and {\'A}d{\'a}m Jr")
    '{Sánchez}, M. and Ádám Jr'
    """
    if "\\" in value:
        value = _ESCAPED.sub(r"\1", value)
        if "\\" in value:
            value = _SINGLE.sub(r"\1", _MACRO.sub(_macro, _ACCENT.sub(_accent, value)))
    if "$" in value:
        value = _LATEX_MATHS.sub(_maths, value)
    if "~" in value:
        value = value.replace("~", " ")
    if "--" in value:
        value = value.replace("---", "—").replace("--", "–")
    if "`" in value:
        value = value.replace("``", "“")
    if "'" in value:
        value = value.replace("''", "”")
    return value


def without_braces(text: str) -> str:
    """The result of `without_macros` without its braces."""
    text = text.replace("{", "").replace("}", "")
    if text.isascii():
        return text
    return text.replace(_OPEN, "{").replace(_CLOSE, "}").replace(_DOLLAR, "$").replace(_TILDE, "~")


def latex_lines(value: str) -> list[str]:
    r"""The lines of a value that has one item per line, as plain text.

    >>> latex_lines("A \\& B.\n   C.\n  ")
    ['A & B.', 'C.']
    """
    text = without_braces(without_macros(value))
    if "<" in text or ENTITY.search(text):
        return [line for each in text.splitlines() if (line := plain_text(each))]
    return [line for each in text.splitlines() if (line := each.strip())]


def _accent(found: re.Match[str]) -> str:
    mark, word, opening, letter, closing = found.groups()
    accented = _accented(mark or word, letter.strip("\\ \t"))
    # An accent before a longer group belongs to its first letter; the group keeps its braces.
    return accented if opening and closing else f"{opening}{accented}{closing or ''}"


@cache
def _accented(mark: str, letter: str) -> str:
    return unicodedata.normalize("NFC", letter + chr(int(_macro_table("accent")[mark], 16)))


def _macro(found: re.Match[str]) -> str:
    name, character = found.groups()
    return _symbol(name) if name else _CHARACTERS.get(character, "")


@lru_cache(maxsize=1 << 12)
def _symbol(name: str) -> str:
    """The text that a macro without arguments stands for; empty if it only changes how text looks."""
    if name in _SPACES:
        return " "
    if own := _macro_table("symbol").get(name):
        return own.replace("~", _TILDE)  # a tilde of the markup is a space
    meaning = getattr(_library().get_macro_spec(name), "simplify_repl", None)
    return meaning if isinstance(meaning, str) and len(meaning) <= 3 and "%" not in meaning else ""


@cache
def _macro_table(kind: str) -> dict[str, str]:
    """Accents (as code points), or symbols that pylatexenc lacks or has with a text that does not suit us."""
    from importlib.resources import files  # slow to import, and rarely needed

    table = files("homonym.records.fields").joinpath("latex_macros.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines())
    return {macro: text for row_kind, macro, text in rows if row_kind == kind}


@cache
def _library() -> Any:
    from pylatexenc.latex2text import get_default_latex_context_db  # slow to import, and rarely needed

    return get_default_latex_context_db()


def _maths(found: re.Match[str]) -> str:
    return _SCRIPTS.sub("", found[1])
