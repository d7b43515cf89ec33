"""Text for files with one value per line or cell: without line ends and characters that no format allows."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Control characters, separators of lines and paragraphs, surrogates and non-characters. XML allows none of them.
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_SPACES = re.compile(" {2,}")


def one_line(text: str) -> str:
    r"""A text in one line, without control characters.

    >>> one_line(" a\n\tb\x00c\u2028d ")
    'a b c d'
    """
    if text.isprintable() and "  " not in text:  # as nearly always
        return text.strip()
    return _SPACES.sub(" ", _FORBIDDEN.sub(" ", text)).strip()


def joined(texts: Iterable[str], separator: str = "; ") -> str:
    """Texts as one list; a separator inside of a text becomes a comma.

    >>> joined(["a", "b; c", ""])
    'a; b, c'
    """
    mark = separator.strip()
    return separator.join(text for each in texts if (text := one_line(each.replace(mark, ","))))


def distinct(texts: Iterable[str]) -> list[str]:
    """Texts that are not empty, each once, in order."""
    return list(dict.fromkeys(filter(None, texts)))
