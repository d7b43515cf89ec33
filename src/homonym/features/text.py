"""Normalised text: lemmas of titles and abstracts, and labels such as affiliations and keywords."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from anyascii import anyascii
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# Separators of words beyond ASCII. For ASCII there is a translation table, ten times as fast as a regular expression.
_OTHER_SEPARATORS = re.compile(r"[^\x00-\x7f\w]+")
_SPACE = ord(" ")
_LETTERS = bytes(
    ord(sign.lower()) if sign.isalnum() or sign == "_" else _SPACE for sign in map(chr, range(128))
) + bytes(range(128, 256))
_SEPARATORS = bytes(code for code, letter in enumerate(_LETTERS) if letter == _SPACE)
# ASCII letters in lower case and digits; everything else becomes a space.
_WORD_LETTERS = _LETTERS[:128].replace(b"_", b" ") + b" " * 128
# With possessive quantifiers, and only at the start of a run of characters: otherwise long runs take quadratic time.
EMAIL = re.compile(r"(?<![^\s,;<>()\[\]@])[^\s,;<>()\[\]@]++@(?:[\w-]++\.)+\w++")

# Function words and phrases of every abstract. The list is short, because the usual ones also drop "system", "computer"
# and "research", and frequent words have little weight anyway.
STOP_WORDS = frozenset(
    """a about above after again against all also although among an and another any are as at be because been before
    being below between both but by can cannot could did do does doing down due during each either et al few for from
    further had has have having he her here hers him his how however if in into is it its itself may me might more most
    must my no nor not of off on once only or other our out over own per same she should since so some such than that
    the their them then there therefore these they this those through thus to too under until up upon us very via was
    we well were what when where whether which while who whom why will with within without would you your""".split()
)

# Maximum number of lemmas in the cache, more than the frequent words of any collection.
MAX_CACHED_WORDS = 1_000_000


class Lemmas(dict[str, str]):
    """A cache from words to lemmas; "" for words that are dropped.

    >>> lemmas = Lemmas("en")
    >>> lemmas["networks"], lemmas["the"], lemmas["2014"], lemmas["p53"]
    ('network', '', '', 'p53')
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self.languages = tuple(language.split(",")) if language != "none" else ()

    def load(self) -> None:
        """Load the dictionaries, which otherwise the first word does: this takes a tenth of a second per language."""
        if self.languages:
            from simplemma import lemmatize

            lemmatize("dictionaries", lang=self.languages)

    def __missing__(self, word: str) -> str:
        if len(self) >= MAX_CACHED_WORDS:
            self.clear()
        lemma = self[word] = self._lemma(word)
        return lemma

    def _lemma(self, word: str) -> str:
        if word in STOP_WORDS or word.isdigit():
            return ""
        if not self.languages:
            return word
        from simplemma import lemmatize

        lemma: str = lemmatize(word, lang=self.languages).lower()
        return "" if lemma in STOP_WORDS else lemma


@lru_cache(maxsize=8)
def lemmas_of(language: str) -> Lemmas:
    """The cache of this process for a language."""
    return Lemmas(language)


def count_words(
    titles: Sequence[str], abstracts: Sequence[str], title_weight: int, abstract_weight: int, lemmas: Lemmas
) -> tuple[pa.Array, Integers, Integers, Integers]:
    """Count the lemmas of many titles and abstracts at once.

    Returns the distinct lemmas, and three columns ordered by document: document, index of the lemma, count.

    >>> titles, abstracts = ["On Graphs", ""], ["A graph of trees.", "Graphs"]
    >>> words, document, lemma, count = count_words(titles, abstracts, 3, 1, Lemmas("en"))
    >>> [(d, words[w].as_py(), n) for d, w, n in zip(document.tolist(), lemma.tolist(), count.tolist())]
    [(0, 'graph', 4), (0, 'tree', 1), (1, 'graph', 1)]
    """
    documents = len(titles)
    texts = [*(titles if title_weight else [""] * documents), *(abstracts if abstract_weight else [""] * documents)]
    in_text, word, distinct = _words(texts)
    names, number = numbered([lemmas[word] if len(word) > 1 else "" for word in distinct])
    # Document, lemma and a bit for words of titles are one number, so that one sort is enough; 32 bits sort faster.
    bits = len(names).bit_length()
    end = documents << bits + 1
    dtype = np.int32 if 2 * end < 1 << 31 else np.int64
    of_document = np.arange(documents) << bits + 1
    of_text = np.concatenate([of_document + 1, of_document]).astype(dtype)
    of_word = np.where(number < 0, end, number << 1).astype(dtype)  # words that are dropped come last
    key = np.repeat(of_text, in_text) + of_word[word]
    key.sort()
    key = key[: np.searchsorted(key, end)]
    entry = key >> 1
    new = np.ones(len(key), np.bool_)
    np.not_equal(entry[1:], entry[:-1], out=new[1:])
    first = np.flatnonzero(new)
    of_title = np.add.reduceat(key & 1, first) if len(first) else key
    count = np.diff(first, append=len(key)) * abstract_weight + of_title * (title_weight - abstract_weight)
    entry = entry[first].astype(np.int64)
    return names, entry >> bits, entry & (1 << bits) - 1, count


def numbered(texts: list[str]) -> tuple[pa.Array, Integers]:
    """The distinct texts, in the order of their first occurrence, and the number of each text among them.

    An empty text has the number −1 and is not among the distinct ones.

    >>> distinct, number = numbered(["b", "", "a", "b"])
    >>> distinct.to_pylist(), number.tolist()
    (['b', 'a'], [0, -1, 1, 0])
    """
    coded = pa.array(texts, pa.string()).dictionary_encode()
    distinct, number = coded.dictionary, coded.indices.to_numpy().astype(np.int64)
    empty = pc.index(distinct, "").as_py()
    if empty < 0:
        return distinct, number
    number = np.where(number == empty, -1, number - (number > empty))
    return pa.concat_arrays([distinct[:empty], distinct[empty + 1 :]]), number


def _words(texts: list[str]) -> tuple[Integers, NDArray[np.int32], list[str]]:
    """All words in order: their number in each text, the index of each word, and the list of distinct words.

    A word is a run of letters and digits of any script, in lower case.
    """
    encoded = [text.encode() if text.isascii() else _without_separators(text) for text in texts]
    joined = b" ".join([b"", *encoded, b""])
    is_letter = np.frombuffer(joined.translate(_LETTERS), np.uint8) != _SPACE
    edges = np.flatnonzero(is_letter[1:] != is_letter[:-1])  # without the first space
    begin, length = edges[::2], edges[1::2] - edges[::2]
    offsets = np.zeros(len(begin) + 1, np.int32)
    np.cumsum(length, out=offsets[1:])
    letters = pa.py_buffer(joined.translate(_LETTERS, _SEPARATORS))
    words = pa.StringArray.from_buffers(len(begin), pa.py_buffer(offsets), letters).dictionary_encode()
    ends = np.cumsum([len(text) + 1 for text in encoded])
    in_text = np.diff(np.searchsorted(begin, ends), prepend=0)
    return in_text, words.indices.to_numpy(), words.dictionary.to_pylist()


def _without_separators(text: str) -> bytes:
    """Text in lower case, without separators beyond ASCII."""
    return _OTHER_SEPARATORS.sub(" ", text.lower()).encode(errors="replace")


def plain_words(text: str) -> str:
    """Text in lower case without accents, punctuation, surplus white space and e-mail addresses.

    >>> plain_words("Univ. of Zürich,  Dept. of Physics. jane@uzh.ch")
    'univ of zurich dept of physics'
    """
    if "@" in text:
        text = EMAIL.sub(" ", text)
    return " ".join(ascii_words(text))


def ascii_words(text: str) -> list[str]:
    """The words of a text in ASCII and lower case: runs of letters and digits.

    >>> ascii_words("Univ. of Zürich (d_1)")
    ['univ', 'of', 'zurich', 'd', '1']
    """
    text = text if text.isascii() else anyascii(text)
    # A translation table is five times as fast as a regular expression.
    return text.encode().translate(_WORD_LETTERS).decode().split()
