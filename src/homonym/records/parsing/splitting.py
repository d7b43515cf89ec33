"""Files into raw records, without reading them whole and without understanding them.

A record reaches from one mark of a beginning to the next. So a damaged record spoils only itself, and records can be
parsed elsewhere, by several processes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from homonym.io.inputs import MOST_RECORD_BYTES, WESTERN

#: The longest mark of a beginning, which may be cut by the end of a block.
MARK_BYTES = 256

TOO_LONG = f"longer than {MOST_RECORD_BYTES >> 20} MiB, which no record is"


class Raw(NamedTuple):
    """One record as it stands in its file: where it begins, its bytes, and why it is unusable if that is known already.

    The number counts lines or records, as its format says.
    """

    number: int
    text: bytes
    broken: str = ""


def split_at(blocks: Iterable[bytes], beginning: re.Pattern[bytes]) -> Iterator[Raw]:
    r"""Cut a stream where a pattern matches; what stands before the first match comes first.

    Numbers are those of lines, whether these end in \n, \r\n or \r.

    >>> [(raw.number, raw.text) for raw in split_at([b"FN x\nPT a\nER\n\nP", b"T b"], re.compile(rb"^PT ", re.M))]
    [(1, b'FN x\n'), (2, b'PT a\nER\n\n'), (5, b'PT b')]
    """
    buffer, line, searched, overlong = b"", 1, 0, False
    for block in chain(blocks, [None]):
        buffer += block or b""
        start = 0
        # A mark at the very beginning of the buffer begins the record that is being gathered.
        for mark in beginning.finditer(buffer, max(searched, 1)):
            end = mark.start()
            if block is not None and end > len(buffer) - MARK_BYTES:
                break  # it may go on in the next block
            record = buffer[start:end]
            if not record.isspace():
                yield Raw(line, record, TOO_LONG if overlong else "")
            line, start, overlong = line + _lines_in(record), end, False
        buffer = buffer[start:]
        searched = len(buffer) - MARK_BYTES
        if len(buffer) > MOST_RECORD_BYTES:
            line += _lines_in(buffer[MARK_BYTES:-MARK_BYTES])
            buffer = buffer[:MARK_BYTES] + buffer[-MARK_BYTES:]
            searched, overlong = MARK_BYTES, True
    if buffer.strip():
        yield Raw(line, buffer, TOO_LONG if overlong else "")


def _lines_in(record: bytes) -> int:
    ends = record.count(b"\n")
    return ends + record.count(b"\r") - record.count(b"\r\n") if b"\r" in record else ends


def decoded(text: bytes) -> str:
    """Give text as UTF-8; bytes that are not are taken for the letters they are in Western Windows and Latin-1 text.

    >>> decoded("Müller".encode()), decoded("Müller".encode("latin-1")), decoded(b"\\x93x\\x94")
    ('Müller', 'Müller', '“x”')
    """
    return text.decode("utf-8", errors=WESTERN)
