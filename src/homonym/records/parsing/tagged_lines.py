"""Records of tagged lines (RIS, MEDLINE): a tag at the beginning of a line, and a value that may take several lines."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from homonym.records.fields.markup import plain_text
from homonym.records.model import BrokenRecordError, Note
from homonym.records.parsing.splitting import Raw, decoded

Field = tuple[str, str]
"""A tag and its value, including line ends."""

Tags = dict[str, list[str]]
"""The values of each tag."""

_LINE_END = re.compile(rb"\r\n|\n|\r")

# Maximum length of a text without tags before the records of a file.
LONGEST_HEADER = 2000

# Maximum length of a name; the longest real ones, of nobles and of Brazilians, have about 100 letters.
LONGEST_NAME = 300


def cut_at(raw: Raw, places: Iterable[int]) -> Iterator[Raw]:
    r"""Cut a raw record at places where other records begin in it.

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
    r"""The decoded text of a record, with \n before each line and after the last one.

    >>> lines_of(b"TY  - JOUR\r\nWE  - a\rAN  - b")
    '\nTY  - JOUR\nWE  - a\nAN  - b\n'
    """
    lines = decoded(text)
    if "\r" in lines:
        lines = lines.replace("\r\n", "\n").replace("\r", "\n")
    return f"\n{lines}\n"


def split_fields(lines: str, tag: re.Pattern[str]) -> list[Field]:
    r"""The fields in a text; the pattern of a tag begins with a line end and has one group for the tag.

    >>> split_fields("\n1.\nTI  - On\n names\nER  - \n", re.compile(r"\n([A-Z]{2})  - ?"))
    [('TI', 'On\n names'), ('ER', '\n')]
    """
    parts = tag.split(lines)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def fields_of(text: bytes, tag: re.Pattern[str]) -> list[Field]:
    """The fields of a raw record; none in the few lines without tags that exports begin and end with."""
    lines = lines_of(text)
    fields = split_fields(lines, tag)
    if not fields:
        require_header(lines)
    return fields


def by_tag(fields: Iterable[Field]) -> Tags:
    """The values of each tag."""
    tags: defaultdict[str, list[str]] = defaultdict(list)
    for tag, value in fields:
        tags[tag].append(value)
    return tags


def first(tags: Tags, *wanted: str) -> str:
    """The first value that is not empty, as plain text, of the first of the wanted tags that has one.

    >>> first({"T2": [" Nature"], "JF": ["  "], "JO": ["Nat."]}, "JF", "T2", "JO")
    'Nature'
    """
    for tag in wanted:
        for value in tags.get(tag, ()):
            if text := plain_text(value):
                return text
    return ""


def without_cut_line(fields: list[Field], raw: bytes) -> list[Field]:
    """The fields of a record without an end mark; the last one is dropped if the file ends within it."""
    return fields if raw.endswith((b"\n", b"\r")) else fields[:-1]


def check_unfinished(mark: str, title: str, names: int, notes: list[Note]) -> None:
    """Note that a record has no end mark; without title and authors, it is broken."""
    if not title or not names:
        raise BrokenRecordError(f"the record is cut off: it has no end mark {mark}, and title or authors are missing")
    notes.append(
        ("field", f"the record is cut off: its end mark {mark} is missing. It was kept, but fields may be missing.")
    )


def require_header(text: str) -> None:
    """Raise an error for a long text without tags; exports begin and end with a few such lines."""
    if len(text) > LONGEST_HEADER:
        raise BrokenRecordError("text without any tag")


def is_name(text: str) -> bool:
    """Whether a text may be a name: it has letters and is not too long."""
    return len(text) <= LONGEST_NAME and (text[:1].isalpha() or any(map(str.isalpha, text)))
