"""What tells whether two records without a common identifier are one document: title, year and authors, as digests.

A title is compared without case, accents, punctuation and spaces, but with signs that tell compounds and numbers apart:
(+)-menthol is not (-)-menthol. Only a title that identifies a document is used together with year and authors:
"Editorial" or "Introduction to the special issue" is on many documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from anyascii import anyascii
from numpy.typing import NDArray

from homonym.features.blocking import blocked_names
from homonym.io.word_lists import words_of
from homonym.names.parse import MAX_CACHED_NAMES

# A title identifies a document if it has at least this many words and letters, and this many letters outside the words
# of GENERIC.
MIN_WORDS, MIN_LETTERS, MIN_OWN_LETTERS = 4, 20, 12

# Words of titles that many documents have.
GENERIC = frozenset(word.encode() for word in words_of("generic_title_words", "homonym.collection"))

# A minus sign: in brackets, at the end of a word, in pairs as "-/-", or before a number. Other dashes mean nothing.
_MINUS = re.compile(rb"-(?:(?<=[0-9A-Za-z(\[{/+>]-)(?=[\s,.;:)\]}/+<]|$)|(?<![0-9A-Za-z)\]}>/-]-)(?=[0-9]))")
_KEPT_MINUS = b"\x01"  # stands for a minus sign until all other dashes are removed

# ASCII letters in lower case, digits and signs; everything else becomes a space.
_LETTERS = bytearray(ord(sign.lower()) if sign.isalnum() else ord(" ") for sign in map(chr, range(128)))
_LETTERS += b" " * 128
_LETTERS[ord("+")], _LETTERS[ord(_KEPT_MINUS)] = b"+-"

# Characters that short forms of names do not have, and which bytes they have.
_LEFT_OUT = b" -'."
_IN_SHORT_KEYS = ~np.isin(np.arange(256), list(_LEFT_OUT))
# The end of the surname of the first author.
_SURNAME_END = re.compile(rb"[|,]|$")

_DIGEST_BYTES = 8
_NO_DIGEST = bytes(_DIGEST_BYTES)

# What is no letter, digit or line end; and letters in lower case.
_OTHERS = bytes(code for code in range(256) if not (code < 128 and chr(code).isalnum()) and code != ord("\n"))
_LOWER = bytes(range(256)).lower()


class Digests(NamedTuple):
    """Numbers for the title of a record, and for its title, year and authors; None if they identify nothing.

    `first_author` is the surname of the first author.
    """

    title: int | None
    work: int | None
    first_author: str | None


def digests(title: str, year: int | None, names: Sequence[str], blocking: str) -> Digests:
    """The digests of a record; a title without letters and digits has none.

    >>> one = digests("A History of Roman Silver Coins", 2014, ["Doe, Jane", "R. Roe"], "initials")
    >>> one == digests("A history of <Roman> silver coins.", 2014, ["Doe, J.", "?", "Roe, R"], "initials")
    True
    >>> digests("Introduction to the Special Issue", 2014, ["Doe, J"], "initials")[1:]
    (None, 'DOE')
    """
    columns = digest_columns([title], [year], [authors_of(names, blocking)])
    return Digests(*(column[0].as_py() for column in columns))


def digest_columns(
    titles: Iterable[str], years: Iterable[int | None], authors: Sequence[bytes]
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """The fields of `Digests` as columns, for records with these titles, years and authors (see `authors_of`)."""
    title_digests: list[bytes | None] = []
    work_digests: list[bytes | None] = []
    for title, year, names in zip(titles, years, authors, strict=True):
        words = words_of_title(title)
        if not words:
            title_digests.append(None)
            work_digests.append(None)
            continue
        letters = b"".join(words)
        digest = blake2b(letters, digest_size=_DIGEST_BYTES)
        title_digests.append(digest.digest())
        if not names or year is None or len(words) < MIN_WORDS or len(letters) < MIN_LETTERS or _is_generic(words):
            work_digests.append(None)
            continue
        digest.update(b" %d %b" % (year, names))
        work_digests.append(digest.digest())
    first = [names[: _SURNAME_END.search(names).start()].decode() or None for names in authors]  # type: ignore[union-attr]
    return _number_column(title_digests), _number_column(work_digests), pa.array(first, pa.string())


def _number_column(digests: list[bytes | None]) -> pa.Array:
    """The digests as numbers, see `_number`."""
    numbers = np.frombuffer(b"".join([digest or _NO_DIGEST for digest in digests]), "<i8")
    return pa.array(numbers, pa.int64(), mask=np.array([digest is None for digest in digests], np.bool_))


def title_digest(title: str) -> int | None:
    """The digest of a title alone, as in `digests`; None if it has no letters and digits.

    >>> title_digest("Roman coins.") == digests("ROMAN COINS", None, [], "initials").title
    True
    """
    words = words_of_title(title)
    return _number(blake2b(b"".join(words), digest_size=_DIGEST_BYTES)) if words else None


def letters_of_title(title: str) -> bytes:
    """The letters and digits of a title; titles with the same digest have the same.

    >>> letters_of_title("X-ray of 2 (+)-Öl")
    b'xrayof2ol'
    """
    return b"".join(words_of_title(title)).translate(None, b"+-")


def letters_of_titles(titles: pa.Array) -> list[bytes]:
    """The letters and digits of titles in ASCII, as `letters_of_title` has them, computed at once."""
    if not len(titles):
        return []
    texts = pc.replace_substring(pc.fill_null(titles, ""), "\n", " ")
    lines = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    return pc.binary_join(lines, "\n")[0].as_buffer().to_pybytes().translate(_LOWER, _OTHERS).split(b"\n")  # type: ignore[no-any-return]


def _number(digest: blake2b) -> int:
    return int.from_bytes(digest.digest(), "little", signed=True)


def words_of_title(title: str) -> list[bytes]:
    """The words of a title in ASCII and lower case, without punctuation.

    >>> words_of_title("X-ray of (±)-Öl"), words_of_title("Na⁺, Cl⁻ – and (−)-oil")
    ([b'x', b'ray', b'of', b'+-', b'ol'], [b'na+', b'cl-', b'and', b'-', b'oil'])
    """
    text = (title if title.isascii() else anyascii(title)).encode(errors="replace")
    if b"-" in text:
        text = _MINUS.sub(_KEPT_MINUS, text)
    return text.translate(_LETTERS).split()


def _is_generic(words: Sequence[bytes]) -> bool:
    """Whether a title has too few words of its own.

    >>> _is_generic(b"letter to the editor a reply".split()), _is_generic(b"a history of roman coins".split())
    (True, False)
    """
    own = 0
    for word in words:
        if word not in GENERIC:
            own += len(word)
            if own >= MIN_OWN_LETTERS:  # mostly after two or three words
                return False
    return True


def authors_of(names: Iterable[str], blocking: str) -> bytes:
    """Surnames and first initials of authors in order, without authors that have no usable name.

    >>> authors_of(["van Doe, Jane W.", "?", "R. Roe-Poe", "Plato"], "initials")
    b'VANDOE,J|ROEPOE,R|PLATO'
    """
    keys = _author_keys(blocking)
    return b"|".join([key for name in names if (key := keys[name])])


def authors_of_documents(keys: pa.Array, number: NDArray[np.int64]) -> list[bytes]:
    """The result of `authors_of` for many documents: the names of all their authors as `Name.key`, and their number.

    >>> authors_of_documents(pa.array(["VAN DOE, JW", "ROE-POE, R", "PLATO"]), np.array([2, 0, 1]))
    [b'VANDOE,J|ROEPOE,R', b'', b'PLATO']
    """
    if not len(keys):
        return [b""] * len(number)
    lists = pa.ListArray.from_arrays(pa.array([0, len(keys)], pa.int32()), keys)
    text = np.frombuffer(pc.binary_join(lists, "|")[0].as_buffer().to_pybytes() + b"|", np.uint8)
    end = np.cumsum(pc.binary_length(keys).to_numpy() + 1, dtype=np.int64)
    comma = np.flatnonzero(text == ord(","))[::-1]
    cut = end.copy()
    cut[np.searchsorted(end, comma, side="right")] = comma + 3  # the first comma of a key is the last one here
    kept = _IN_SHORT_KEYS[text]
    kept &= np.arange(len(text)) < np.repeat(cut, np.diff(end, prepend=0))
    kept[end - 1] = True
    short, bounds = text[kept].tobytes(), np.concatenate([[0], np.cumsum(kept)[end - 1]])
    start = bounds[np.concatenate([[0], np.cumsum(number)])].tolist()
    return [short[first:last].removesuffix(b"|") for first, last in pairwise(start)]


class _AuthorKeys(dict[str, bytes]):
    """A cache from names to surname and first initial; empty for a text that is not a name."""

    def __init__(self, blocking: str) -> None:
        super().__init__()
        self._names = blocked_names(blocking)

    def __missing__(self, name: str) -> bytes:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        found = self._names[name]
        key = found.key if found else ""
        if "," in key:  # surname, comma, space and initials
            key = key[: key.find(",") + 3]
        self[name] = short = key.encode().translate(None, _LEFT_OUT)
        return short


@lru_cache(maxsize=8)
def _author_keys(blocking: str) -> _AuthorKeys:
    """The cache of this process for a blocking scheme."""
    return _AuthorKeys(blocking)
