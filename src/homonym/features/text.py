"""Words, affiliations and labels: text made comparable."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
from anyascii import anyascii
from numpy.typing import NDArray

Integers = NDArray[np.int64]

#: What separates words beyond ASCII; inside of it a table does, which is ten times as fast as a regular expression.
_FOREIGN_SIGNS = re.compile(r"[^\x00-\x7f\w]+")
_SPACE = ord(" ")
_LETTERS = bytes(
    ord(sign.lower()) if sign.isalnum() or sign == "_" else _SPACE for sign in map(chr, range(128))
) + bytes(range(128, 256))
NOT_A_WORD_CHARACTER = re.compile(r"[\W_]+")
#: Possessive, and begun only where a run of characters begins: else a long run without white space takes forever.
EMAIL = re.compile(r"(?<![^\s,;<>()\[\]@])[^\s,;<>()\[\]@]++@(?:[\w-]++\.)+\w++")

#: Function words and the phrases of every abstract. Short on purpose: the usual lists also drop "system", "computer"
#: and "research", and rare words decide while frequent ones weigh little anyway.
STOP_WORDS = frozenset(
    """a about above after again against all also although among an and another any are as at be because been before
    being below between both but by can cannot could did do does doing down due during each either et al few for from
    further had has have having he her here hers him his how however if in into is it its itself may me might more most
    must my no nor not of off on once only or other our out over own per same she should since so some such than that
    the their them then there therefore these they this those through thus to too under until up upon us very via was
    we well were what when where whether which while who whom why will with within without would you your""".split()
)

#: Distinct words whose lemma is remembered; more than any abstract collection has frequent ones.
REMEMBERED_WORDS = 1_000_000


class Lemmas(dict[str, str]):
    """Words to lemmas, each distinct word looked up once; "" for what is dropped.

    >>> lemmas = Lemmas("en")
    >>> lemmas["networks"], lemmas["the"], lemmas["2014"], lemmas["p53"]
    ('network', '', '', 'p53')
    """

    def __init__(self, language: str) -> None:
        super().__init__()
        self.languages = tuple(language.split(",")) if language != "none" else ()

    def __missing__(self, word: str) -> str:
        if len(self) >= REMEMBERED_WORDS:
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
    """The one dictionary of lemmas of this process for a language."""
    return Lemmas(language)


def count_words(
    titles: Sequence[str], abstracts: Sequence[str], title_weight: int, abstract_weight: int, lemmas: Lemmas
) -> tuple[list[str], Integers, Integers, Integers]:
    """Count the lemmas of many titles and abstracts at once.

    Gives the lemmas, and as columns which document has which lemma how often, by document.

    >>> titles, abstracts = ["On Graphs", ""], ["A graph of trees.", "Graphs"]
    >>> words, document, lemma, count = count_words(titles, abstracts, 3, 1, Lemmas("en"))
    >>> [(d, words[w], n) for d, w, n in zip(document.tolist(), lemma.tolist(), count.tolist())]
    [(0, 'graph', 4), (0, 'tree', 1), (1, 'graph', 1)]
    """
    documents = len(titles)
    texts = [*(titles if title_weight else [""] * documents), *(abstracts if abstract_weight else [""] * documents)]
    text, word, known = _words(texts)
    numbers: dict[str, int] = {"": -1}
    number = np.array([numbers.setdefault(lemmas[word] if len(word) > 1 else "", len(numbers) - 1) for word in known])
    del numbers[""]
    lemma = number[word] if len(known) else word
    used = lemma >= 0
    text, lemma = text[used], lemma[used]
    # Whether a word is of the title is the last digit, so that one sort does for both; small numbers sort faster.
    key = ((text % max(documents, 1)) * max(len(numbers), 1) + lemma) * 2 + (text < documents)
    key = np.sort(key.astype(np.int32) if 2 * documents * len(numbers) < 1 << 31 else key)
    first = np.flatnonzero(np.diff(key >> 1, prepend=-1))
    of_title = np.add.reduceat(key & 1, first) if len(first) else key
    occurrences = np.diff(np.append(first, len(key)))
    document, lemma = np.divmod(key[first].astype(np.int64) >> 1, max(len(numbers), 1))
    return list(numbers), document, lemma, of_title * title_weight + (occurrences - of_title) * abstract_weight


def _words(texts: list[str]) -> tuple[Integers, Integers, list[str]]:
    """The words of all texts in order: which text each is in, its number, and the distinct words.

    A word is a run of letters and digits of any script, in small letters.
    """
    encoded = [text.encode() if text.isascii() else _of_any_script(text) for text in texts]
    letters = np.frombuffer(b" ".join([*encoded, b""]).translate(_LETTERS), np.uint8)
    is_letter = np.append(letters != _SPACE, False)
    edges = np.flatnonzero(np.diff(is_letter, prepend=False))
    begin, length = edges[::2], edges[1::2] - edges[::2]
    offsets = np.zeros(len(begin) + 1, np.int32)
    np.cumsum(length, out=offsets[1:])
    kept = np.ascontiguousarray(letters[is_letter[:-1]])
    words = pa.StringArray.from_buffers(len(begin), pa.py_buffer(offsets), pa.py_buffer(kept)).dictionary_encode()
    ends = np.cumsum([len(text) + 1 for text in encoded])
    in_text = np.diff(np.searchsorted(begin, ends), prepend=0)
    text = np.repeat(np.arange(len(texts)), in_text)
    return text, words.indices.to_numpy().astype(np.int64), words.dictionary.to_pylist()


def _of_any_script(text: str) -> bytes:
    """Text in small letters in which nothing but letters and digits is beyond ASCII."""
    return _FOREIGN_SIGNS.sub(" ", text.lower()).encode(errors="replace")


@lru_cache(maxsize=1 << 18)
def plain(text: str) -> str:
    """Text without case, accents, punctuation and surplus white space; e-mail addresses are taken out.

    >>> plain("Univ. of Zürich,  Dept. of Physics. jane@uzh.ch")
    'univ of zurich dept of physics'
    """
    if "@" in text:
        text = EMAIL.sub(" ", text)
    if not text.isascii():
        text = anyascii(text)
    return NOT_A_WORD_CHARACTER.sub(" ", text.lower()).strip()
