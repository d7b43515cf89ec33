"""Simple names such as "Doe, Jane W.", "J. W. Doe" and "Doe JW", parsed many at once with column operations.

Most names of a collection are simple, and most are on few documents, so that parsing them one by one takes a sixth of
the time of reading. What is simple follows from the shape of a name, which `parse.py` decides with one expression, and
from its words. All other names are left to `parse_name`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.io.word_lists import words_of
from homonym.names import parse
from homonym.names.compatibility import is_chinese
from homonym.names.parse import ACCENTS, COMMON_ENDS_EXCLUDED, SPECIAL_WORDS
from homonym.names.spelling import standard_surname

Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

# The kinds of simple names: the surname is the first word, the last one, or the first before one word of initials.
_OTHER, _SURNAME_FIRST, _SURNAME_LAST, _LETTERS = range(4)

# Small letters are one class. Capitals are vowels or consonants, because a word without vowels may be initials.
_SMALL, _VOWEL, _CONSONANT, _UNUSUAL = b"aEB?"
_SPACE = ord(" ")
# Shapes are cached up to this length: a longer text is hardly a name.
_LONGEST_SHAPE = 100


def _class_of(code: int) -> int:
    sign = chr(code)
    if code > 127 or not (sign.isalpha() or sign in " ,."):
        return _UNUSUAL
    if sign.isupper():
        return _VOWEL if sign in "AEIOUY" else _CONSONANT
    return _SMALL if sign.islower() else code


_CLASSES = bytes(map(_class_of, range(256)))
# Letters as capitals, everything else as a space.
_CAPITALS = bytes(ord(chr(code).upper()) if code < 128 and chr(code).isalpha() else _SPACE for code in range(256))


class SimpleNames(NamedTuple):
    """The parts of simple names as columns, see `Name`; they have no suffix."""

    surname: pa.Array
    initials: pa.Array
    first_initial: pa.Array
    given: pa.Array
    first_given: pa.Array
    has_given_name: pa.Array


def find_simple_names(texts: pa.Array, *, standard: bool) -> tuple[Flags, SimpleNames]:
    """Which of the texts, none of which is null, are simple names, and the parts of these.

    If the names will be put into their normal form, names that might be reversed are not simple.
    """
    texts = _without_accents(texts)
    kind = _kinds(texts)
    simple = kind != _OTHER
    words = _Words.of(texts.filter(pa.array(simple)), kind[simple])
    usable = words.are_simple(standard=standard)
    simple[simple] = usable
    return simple, words.parts(usable)


def standard_surnames(surnames: pa.Array) -> pa.Array:
    """The normal form of surnames, see spelling.py; each distinct one is computed once."""
    coded = surnames.dictionary_encode()
    normal = pa.array([standard_surname(text) for text in coded.dictionary.to_pylist()], pa.string())
    return normal.take(coded.indices)


def _without_accents(texts: pa.Array) -> pa.Array:
    """The texts with plain letters for the accented ones that `parse_name` reads as these."""
    accented = pc.invert(pc.string_is_ascii(texts))
    plain = [text.translate(ACCENTS) for text in texts.filter(accented).to_pylist()]
    return pc.replace_with_mask(texts, accented, pa.array(plain, pa.string())) if plain else texts


def _kinds(texts: pa.Array) -> NDArray[np.int64]:
    """The kind of each name, judged by its shape."""
    text, start = _joined(texts)
    found = np.frombuffer(text.translate(_CLASSES), np.uint8)
    # Runs of small letters become one.
    kept = found != _SMALL
    kept[1:] |= found[:-1] != _SMALL
    kept[start[:-1]] = True
    kept[start[1:] - 1] = False  # the separator behind each name
    shapes = _strings(found[kept], np.concatenate([[0], np.cumsum(kept)])[start]).dictionary_encode()
    distinct = shapes.dictionary.to_pylist()
    kinds = np.array([_kind(shape) if len(shape) <= _LONGEST_SHAPE else _OTHER for shape in distinct], np.int64)
    kind = kinds[shapes.indices.to_numpy()] if len(kinds) else np.zeros(0, np.int64)
    kind[pc.match_substring(texts, " M.D").to_numpy(zero_copy_only=False)] = _OTHER
    return kind


@lru_cache(maxsize=1 << 14)
def _kind(shape: str) -> int:
    found = parse.COMMON.fullmatch(shape)
    if found is None:
        return _OTHER
    surname_last, letters = found.groups()
    if letters:
        return _LETTERS
    return _SURNAME_LAST if surname_last else _SURNAME_FIRST


class _Words(NamedTuple):
    """The words of simple names in capitals: those of name i are `start[i]` to `start[i + 1]`, one is its surname."""

    code: Integers
    distinct: pa.Array
    letter: Bytes
    start: Integers
    surname: Integers

    @staticmethod
    def of(texts: pa.Array, kind: NDArray[np.int64]) -> _Words:
        """The words of texts of some kinds; each initial is a word."""
        text, bounds = _joined(texts)
        capitals = np.frombuffer(text.translate(_CAPITALS), np.uint8)
        is_letter = capitals != _SPACE
        begins = is_letter.copy()
        begins[1:] &= ~is_letter[:-1]
        begins |= is_letter & _behind_surname(begins, bounds, kind == _LETTERS)
        begin, letters = np.flatnonzero(begins), capitals[is_letter]
        place = np.concatenate([[0], np.cumsum(is_letter)])
        words = _strings(letters, np.append(place[begin], len(letters))).dictionary_encode()
        start = np.searchsorted(begin, bounds)
        surname = np.where(kind == _SURNAME_LAST, start[1:] - 1, start[:-1])
        return _Words(words.indices.to_numpy().astype(np.int64), words.dictionary, capitals[begin], start, surname)

    def are_simple(self, *, standard: bool) -> Flags:
        """Which names have only words that are nothing but names."""
        special = np.asarray(pc.is_in(self.distinct, value_set=pa.array(sorted(SPECIAL_WORDS), pa.string())))
        for end in COMMON_ENDS_EXCLUDED:
            special = special | np.asarray(pc.ends_with(self.distinct, pattern=end))
        simple = ~_any_in(special[self.code], self.start)
        return simple & ~self._may_be_reversed() if standard else simple

    def _may_be_reversed(self) -> Flags:
        """Which names are a common Chinese surname, read as a given name, and Chinese syllables; see spelling.py."""
        surname_code, number = self.code[self.surname], np.diff(self.start)
        listed = np.asarray(pc.is_in(self.distinct, value_set=pa.array(sorted(words_of("chinese_surnames")))))
        found: Flags = (number == 2) & listed[self.code[self._first_given()]]
        codes = np.unique(surname_code[found])
        chinese = np.zeros(len(self.distinct), np.bool_)
        chinese[codes] = [is_chinese(text) for text in self.distinct.take(pa.array(codes)).to_pylist()]
        return found & chinese[surname_code]

    def _first_given(self) -> Integers:
        first: Integers = self.start[:-1] + (self.surname == self.start[:-1])
        return first

    def parts(self, usable: Flags) -> SimpleNames:
        """The parts of the names that are marked."""
        is_given = np.ones(len(self.code), np.bool_)
        is_given[self.surname] = False
        is_given &= np.repeat(usable, np.diff(self.start))
        number = np.diff(self.start)[usable] - 1
        bounds = np.concatenate([[0], np.cumsum(number)])
        given = self.distinct.take(pa.array(self.code[is_given]))
        letters = self.letter[is_given]
        first_given = self.distinct.take(pa.array(self.code[self._first_given()[usable]]))
        return SimpleNames(
            surname=self.distinct.take(pa.array(self.code[self.surname[usable]])),
            initials=_strings(letters, bounds),
            first_initial=_strings(letters[bounds[:-1]], np.arange(len(bounds))),
            given=pc.binary_join(pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), given), " "),
            first_given=first_given,
            has_given_name=pc.greater(pc.binary_length(first_given), 1),
        )


def _behind_surname(begins: Flags, bounds: Integers, chosen: Flags) -> Flags:
    """Which bytes come after the first word of its text, in the chosen texts."""
    word = np.cumsum(begins)
    first = word[bounds[:-1]]
    sizes = np.diff(bounds)
    return np.repeat(chosen, sizes) & (word > np.repeat(first, sizes))


def _any_in(flags: Flags, start: Integers) -> Flags:
    """Whether any flag is set in each of some ranges."""
    total = np.concatenate([[0], np.cumsum(flags)])
    return total[start[1:]] > total[start[:-1]]


def _joined(texts: pa.Array) -> tuple[bytes, Integers]:
    """All texts, each followed by a space, and the start of each."""
    ends = np.cumsum(pc.binary_length(texts).to_numpy() + 1, dtype=np.int64)
    lists = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    joined: bytes = pc.binary_join(lists, " ")[0].as_buffer().to_pybytes()
    return joined + b" " if len(texts) else b"", np.concatenate([[0], ends])


def _strings(letters: Bytes, start: Integers) -> pa.Array:
    """An array of strings from their letters and the start of each."""
    buffers = pa.py_buffer(start.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(letters))
    return pa.StringArray.from_buffers(len(start) - 1, *buffers)
