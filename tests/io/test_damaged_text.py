"""Characters that are cut between blocks of a table."""

from __future__ import annotations

import pytest

from homonym.io.tables import _valid_utf8


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ([b"M\xc3", b"\xbcller"], "Müller"),
        ([b"M\xc3", b"ller"], "MÃller"),  # the rest of the character is missing: the byte is read as Windows Latin
        ([b"M\xc3", b"", b"ller"], "MÃller"),
        ([b"ller", b"M\xc3"], "llerMÃ"),
    ],
)
def test_no_byte_is_lost_or_moved_between_blocks(blocks: list[bytes], text: str) -> None:
    assert b"".join(_valid_utf8(blocks)).decode() == text
