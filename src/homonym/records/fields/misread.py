"""Text that a program has decoded with the wrong encoding, as "MÃ¼ller" for "Müller".

Spreadsheet programs take UTF-8 without a byte order mark for Windows Latin, and save the result as UTF-8.
"""

from __future__ import annotations

import re

from homonym.io.inputs import WESTERN
from homonym.records.model import Note

# The characters that bytes from 0x80 on become: "Ã" for 0xC3, "¼" for 0xBC.
_BYTES = {bytes([byte]).decode("utf-8", errors=WESTERN): byte for byte in range(0x80, 0x100)}
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def _characters(first: int, last: int, without: str = "") -> str:
    found = (character for character, byte in _BYTES.items() if first <= byte <= last and character not in without)
    return f"[{''.join(map(re.escape, found))}]"


_LATER = _characters(0x80, 0xBF)
# What may follow a capital "Ã" at the end of a Portuguese word in capitals: "AMANHÃ” …".
_SIGNS = "\xa0“”‘’–—…«»·°"
_MISREAD = re.compile(
    rf"Ã{_characters(0x80, 0xBF, _SIGNS)}|(?<=[a-z])[ÃÄÅ]{_LATER}|Ã{_LATER}(?=[a-z])|[ÄÅ][\x80-\x9f]"
    rf"|(?:[ÐÑ]{_LATER}){{3}}"
)
_FIRST_LETTERS = re.compile(rb"\xc3[\x83-\x85\x90\x91]")  # of "Ã", "Ä", "Å", "Ð", "Ñ" in UTF-8, a quick check
_WORD = re.compile(r"[^\s,;:|\"<>{}()\[\]/]+")


def is_misread(text: str) -> bool:
    """Whether a text has been decoded with the wrong encoding.

    >>> [is_misread(text) for text in ("MÃ¼ller, Hans", "MÃœLLER", "Ð˜Ð²Ð°Ð½Ð¾Ð²", "Müller", "5 Å–7 Å", "AMANHÃ”")]
    [True, True, True, False, False, False]
    """
    return _MISREAD.search(text) is not None


def restored(text: str) -> str:
    """A text that has been decoded wrongly, decoded again; what cannot be decoded stays as it is.

    >>> restored("MÃ¼ller, JosÃ© â€“ Łoś"), restored("Müller")
    ('Müller, José – Łoś', 'Müller')
    """
    return _NOT_ASCII.sub(_decoded_again, text)


def _decoded_again(found: re.Match[str]) -> str:
    try:
        return bytes([_BYTES[character] for character in found[0]]).decode()
    except (KeyError, UnicodeDecodeError):
        return found[0]


def restored_record(text: bytes) -> tuple[bytes, Note] | None:
    """A raw record that was decoded wrongly, decoded again, and a note on it; None for all others.

    >>> restored_record("AU  - Müller".encode()), restored_record("AU  - MÃ¼ller".encode())[1][1]
    (None, "'MÃ¼ller' was decoded with the wrong encoding by another program; it was read as 'Müller'")
    """
    if text.isascii() or not _FIRST_LETTERS.search(text):
        return None
    try:
        written = text.decode()
    except UnicodeDecodeError:
        return None
    if not is_misread(written):
        return None
    word = next(filter(is_misread, _WORD.findall(written)), "")[:80]
    reason = f"{word!r} was decoded with the wrong encoding by another program; it was read as {restored(word)!r}"
    return restored(written).encode(), ("warning", reason)
