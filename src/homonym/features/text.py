"""Words, affiliations and labels: text made comparable."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from anyascii import anyascii

#: Letters and digits of any script; what is only digits is dropped later.
WORD = re.compile(r"\w{2,}")
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


def word_counts(title: str, abstract: str, title_weight: int, abstract_weight: int, lemmas: Lemmas) -> dict[str, int]:
    """Count the lemmas of title and abstract.

    >>> word_counts("On Graphs", "A graph of the graphs.", 3, 1, Lemmas("en"))
    Counter({'graph': 5})
    """
    bag = Counter(map(lemmas.__getitem__, WORD.findall(abstract.lower())))
    if abstract_weight != 1:
        bag = Counter({lemma: count * abstract_weight for lemma, count in bag.items() if abstract_weight})
    if title_weight:
        for lemma in map(lemmas.__getitem__, WORD.findall(title.lower())):
            bag[lemma] += title_weight
    bag.pop("", None)
    return bag


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
