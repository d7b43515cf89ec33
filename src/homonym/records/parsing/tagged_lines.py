"""Records of tagged lines: a tag at the beginning of a line, then a value, which may go on in the next lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from homonym.records.fields.markup import plain_text
from homonym.records.model import BrokenRecordError, Note
from homonym.records.parsing.splitting import Raw, decoded

Field = tuple[str, str]
"""A tag and its value, line ends and all."""

Tags = dict[str, list[str]]
"""The values of each tag."""

_LINE_END = re.compile(rb"\r\n|\n|\r")

#: What has no tag at all and is longer than this is no header of a file.
LONGEST_HEADER = 2000

#: The longest real ones, of nobles and of Brazilians, have about 100 letters.
LONGEST_NAME = 300


def cut_at(raw: Raw, places: Iterable[int]) -> Iterator[Raw]:
    r"""Cut a raw record where others begin in it, as far as that is known only from its inside.

    >>> [part[:2] for part in cut_at(Raw(7, b"TY a\r\nER\r\nAU b"), [10])]
    [(7, b'TY a\r\nER\r\n'), (9, b'AU b')]
    """
    number, text, broken = raw
    start = 0
    for place in places:
        if place > start:
            yield Raw(number, text[start:place], broken)
            number += len(_LINE_END.findall(text, start, place))
            start = place
    yield Raw(number, text[start:], broken)


def lines_of(text: bytes) -> str:
    r"""The text of a record with one kind of line end, one before its first line and one behind its last.

    >>> lines_of(b"TY  - JOUR\r\nWE  - a\rAN  - b")
    '\nTY  - JOUR\nWE  - a\nAN  - b\n'
    """
    lines = decoded(text)
    if "\r" in lines:
        lines = lines.replace("\r\n", "\n").replace("\r", "\n")
    return f"\n{lines}\n"


def split_fields(lines: str, tag: re.Pattern[str]) -> list[Field]:
    r"""Cut lines where a pattern, which begins with a line end and has one group for the tag, matches.

    >>> split_fields("\n1.\nTI  - On\n names\nER  - \n", re.compile(r"\n([A-Z]{2})  - ?"))
    [('TI', 'On\n names'), ('ER', '\n')]
    """
    parts = tag.split(lines)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def by_tag(fields: Iterable[Field]) -> Tags:
    """The values of each tag."""
    tags: defaultdict[str, list[str]] = defaultdict(list)
    for tag, value in fields:
        tags[tag].append(value)
    return tags


def first(tags: Tags, *wanted: str) -> str:
    """The first value that is not empty, as plain text: all values of the first tag that has one come before others.

    >>> first({"T2": [" Nature"], "JF": ["  "], "JO": ["Nat."]}, "JF", "T2", "JO")
    'Nature'
    """
    for tag in wanted:
        for value in tags.get(tag, ()):
            if text := plain_text(value):
                return text
    return ""


def without_cut_line(fields: list[Field], raw: bytes) -> list[Field]:
    """The fields of a record that has no end mark, less a last one that ends with the file: it may be cut."""
    return fields if raw.endswith((b"\n", b"\r")) else fields[:-1]


def check_unfinished(mark: str, title: str, names: int, notes: list[Note]) -> None:
    """Take a record without its end mark if it has the most important things, and say so; else it is broken."""
    if not title or not names:
        raise BrokenRecordError(f"cut off before its end mark {mark}")
    notes.append(("field", f"the end mark {mark} is missing, what stood before it may be lost"))


def require_header(text: str) -> None:
    """Accept text without any tag between records if it is short: exports begin and end with a few such lines."""
    if len(text) > LONGEST_HEADER:
        raise BrokenRecordError("text without any tag")


def is_name(text: str) -> bool:
    """Tell a name, which has letters and is not endless."""
    return len(text) <= LONGEST_NAME and (text[:1].isalpha() or any(map(str.isalpha, text)))
