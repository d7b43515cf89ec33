"""Cuts a stream of bytes into raw records without parsing them.

A record reaches from one match of a pattern to the next. So damage stays in its record, and records can be parsed in
other processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from homonym.io import inputs
from homonym.io.inputs import TOO_LONG, WESTERN

# Maximum length of a match, which the end of a block may cut.
MARK_BYTES = 256


class Raw(NamedTuple):
    """One record as in its file: its number, its bytes, and why it is broken.

    The number counts lines or records, see `records.reader.Unit`. `broken` is empty for records that can be parsed.
    """

    number: int
    text: bytes
    broken: str = ""


def split_at(blocks: Iterable[bytes], beginning: re.Pattern[bytes]) -> Iterator[Raw]:
    r"""Cut a stream before each match of a pattern; the text before the first match comes first.

    Records are numbered by their first lines, whether these end with \n, \r\n or \r.

    >>> [(raw.number, raw.text) for raw in split_at([b"FN x\nPT a\nER\n\nP", b"T b"], re.compile(rb"^PT ", re.M))]
    [(1, b'FN x\n'), (2, b'PT a\nER\n\n'), (5, b'PT b')]
    """
    buffer, line, searched, overlong = b"", 1, 0, False
    for block in chain(blocks, [None]):
        buffer += block or b""
        start = 0
        # A match at the very beginning of the buffer begins the record that is already in it.
        for mark in beginning.finditer(buffer, max(searched, 1)):
            end = mark.start()
            if block is not None and end > len(buffer) - MARK_BYTES:
                break  # it may continue in the next block
            record = buffer[start:end]
            if not record.isspace():
                yield _limited(line, record, overlong=overlong)
            line, start, overlong = line + _lines_in(record), end, False
        buffer = buffer[start:]
        searched = len(buffer) - MARK_BYTES
        if len(buffer) > inputs.MAX_RECORD_BYTES:
            line += _lines_in(buffer[MARK_BYTES:-MARK_BYTES])
            buffer = buffer[:MARK_BYTES] + buffer[-MARK_BYTES:]
            searched, overlong = MARK_BYTES, True
    if buffer.strip():
        yield _limited(line, buffer, overlong=overlong)


def _limited(line: int, record: bytes, *, overlong: bool) -> Raw:
    """A record, which is broken if it was longer than the maximum or still is."""
    if overlong or len(record) > inputs.MAX_RECORD_BYTES:
        return Raw(line, record[: inputs.KEPT_BYTES], TOO_LONG)
    return Raw(line, record)


def _lines_in(record: bytes) -> int:
    ends = record.count(b"\n")
    return ends + record.count(b"\r") - record.count(b"\r\n") if b"\r" in record else ends


def is_western(text: bytes) -> bool:
    """Whether `decoded` would read some bytes as Windows-1252 or Latin-1, because they are not valid UTF-8.

    >>> is_western("Müller".encode()), is_western("Müller".encode("latin-1"))
    (False, True)
    """
    if text.isascii():
        return False
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


def decoded(text: bytes) -> str:
    """Text decoded as UTF-8; bytes that are not valid UTF-8 are decoded as Windows-1252 or Latin-1.

    >>> decoded("Müller".encode()), decoded("Müller".encode("latin-1")), decoded(b"\\x93x\\x94")
    ('Müller', 'Müller', '“x”')
    """
    return text.decode("utf-8", errors=WESTERN)
