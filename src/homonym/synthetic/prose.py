"""Topics and what is written about them: titles, abstracts, keywords, venues."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise, product

import numpy as np

from homonym.synthetic import vocabulary
from homonym.synthetic.population import Population
from homonym.synthetic.random_draws import Integers, RandomDraws

TERMS_PER_TOPIC = 48
FIELD_TERMS = 8  # of these are the words that lists.FIELDS gives the field, at scattered ranks
NEW_TERMS = 24  # by which neighbouring topics differ; they share the rest
ZIPF_SLOTS = 1024  # resolution of the table that ranks are drawn from: the rarest of the terms has 4 of them
FOREIGN_TERM = 0.15  # of the terms come from any other topic: texts are never pure
COMMON_WORDS_SKEW = 2.0  # academic words near the start of their list are this much more frequent
KEYWORDS_PER_TOPIC = 16
MOST_KEYWORDS = 6
VENUES_PER_TOPIC = 8  # places in a topic's list of venues, the first ones repeated
# Two sentences each to open and to explain, three of results, one to close: about 120 words.
SECTIONS = (
    vocabulary.TITLES,
    vocabulary.OPENINGS,
    vocabulary.OPENINGS,
    vocabulary.METHODS,
    vocabulary.METHODS,
    vocabulary.RESULTS,
    vocabulary.RESULTS,
    vocabulary.RESULTS,
    vocabulary.CLOSINGS,
)
KINDS = "tTnNavsdg"
NO_SLOT = -1


class Text:
    """Writes about the topics of a population."""

    def __init__(self, population: Population) -> None:
        self._noise = RandomDraws(0)  # vocabulary is the same in every corpus: the language, not the world
        self._draws = population.noise
        self.fields = [line.split("|") for line in vocabulary.FIELDS[: population.fields]]
        self.topics_per_field = population.topics_per_field
        self.topics = population.fields * population.topics_per_field
        self._collect_words()
        self._terms = self._terms_of_topics()
        self._ranks = _zipf_table(TERMS_PER_TOPIC)
        self._patterns, self._kinds = _templates()
        self.keywords = self._keywords()
        self.venues = [self._venues(topic) for topic in range(self.topics)]

    def _collect_words(self) -> None:
        """Lay out all word forms in one list, and where each kind of slot finds its forms."""
        shared = [word for line in vocabulary.FIELDS for word in line.split("|")[2].split()]
        starts, roots, ends = vocabulary.TERM_PARTS
        self._singular = [*shared, *("".join(parts) for parts in product(starts, roots, ends))]
        self._shared_terms = len(shared)
        groups = [
            self._singular,
            _plurals(self._singular),
            vocabulary.NOUNS,
            _plurals(vocabulary.NOUNS),
            vocabulary.ADJECTIVES,
        ]
        groups += [[_verb(verb, ending) for verb in vocabulary.VERBS] for ending in ("", "s", "d", "ing")]
        self._words = [word for group in groups for word in group]
        self._count = np.array([len(group) for group in groups])
        self._first = np.concatenate([[0], np.cumsum(self._count)[:-1]])

    def _terms_of_topics(self) -> Integers:
        """Give each topic its terms, most frequent first; neighbours in a field share all but NEW_TERMS."""
        topic, place = np.arange(self.topics)[:, None], np.arange(TERMS_PER_TOPIC)
        coinages = len(self._singular) - self._shared_terms
        own = self._shared_terms + self._noise.below(coinages, "term", topic * NEW_TERMS + place)
        field = topic // self.topics_per_field
        terms = np.where(place < FIELD_TERMS, field * FIELD_TERMS + place, own)
        scattered = np.argsort(self._noise.unit("rank", topic, place), axis=1)
        return np.take_along_axis(terms, scattered, axis=1)

    def _keywords(self) -> list[list[str]]:
        """Give each topic its keywords: a term, alone or with the next one."""
        words = self._words
        pairs = self._terms[:, : KEYWORDS_PER_TOPIC + 1].tolist()
        return [
            [words[t] if place % 3 else f"{words[t]} {words[n]}" for place, (t, n) in enumerate(pairwise(row))]
            for row in pairs
        ]

    def _venues(self, topic: int) -> list[str]:
        """Give a topic its venues: those of the topic first and most, then the field's and a general one."""
        term, other = (self._words[word].capitalize() for word in self._terms[topic, :2])
        field = self.fields[topic // self.topics_per_field][0]
        own = [form.format(term=term, other=other) for form in vocabulary.TOPIC_VENUES]
        wider = [form.format(field=field) for form in vocabulary.FIELD_VENUES]
        return [*own, own[0], *wider, vocabulary.GENERAL_VENUES[topic % len(vocabulary.GENERAL_VENUES)]]

    def write(self, document: Integers, topic: Integers, *, abstracts: bool) -> tuple[list[str], list[str]]:
        """Write titles and abstracts (empty ones, if not asked for)."""
        sections = len(SECTIONS) if abstracts else 1
        choice = self._choose(document, sections)
        kinds = self._kinds[choice]
        filled = kinds != NO_SLOT
        words = self._fill(document, topic, kinds)
        ends = np.cumsum(filled.sum(axis=(1, 2))).tolist()
        title_ends = (np.array([0, *ends[:-1]]) + filled[:, 0].sum(axis=1)).tolist()
        titles, texts = [], []
        start = 0
        for patterns, middle, end in zip(choice.tolist(), title_ends, ends, strict=True):
            titles.append(_sentence(self._patterns[patterns[0]] % tuple(words[start:middle])))
            text = " ".join([self._patterns[pattern] for pattern in patterns[1:]])
            texts.append(text % tuple(words[middle:end]))
            start = end
        return titles, texts

    def _choose(self, document: Integers, sections: int) -> Integers:
        """Choose a pattern for each sentence of each document."""
        lengths = np.array([len(section) for section in SECTIONS])
        first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        number = np.arange(sections)
        chosen: Integers = first[:sections] + self._draws.below(
            lengths[:sections], "sentence", document[:, None], number
        )
        return chosen

    def _fill(self, document: Integers, topic: Integers, kinds: Integers) -> list[str]:
        """Draw a word for every slot, all documents in one list."""
        row, sentence, slot = np.nonzero(kinds != NO_SLOT)
        kind = kinds[row, sentence, slot]
        place = sentence * kinds.shape[2] + slot
        bits = self._draws.bits("word", document[row], place)
        foreign = self._draws.chance(FOREIGN_TERM, "foreign term", document[row], place)
        about = np.where(foreign, (bits >> np.uint64(40)).astype(np.int64) % self.topics, topic[row])
        term = self._terms[about, self._ranks[(bits % np.uint64(ZIPF_SLOTS)).astype(np.int64)]]
        luck = (bits >> np.uint64(11)) * 2.0**-53
        word = (luck**COMMON_WORDS_SKEW * self._count[kind]).astype(np.int64)
        chosen = self._first[kind] + np.where(kind <= KINDS.index("T"), term, word)
        return list(map(self._words.__getitem__, chosen.tolist()))


def _templates() -> tuple[list[str], Integers]:
    """Turn the sentences into patterns with %s, and the kinds of their slots."""
    sentences = [sentence for section in SECTIONS for sentence in section]
    slots = [[KINDS.index(kind) for kind in re.findall(r"{(\w)}", sentence)] for sentence in sentences]
    kinds = np.full((len(sentences), max(map(len, slots))), NO_SLOT)
    for row, sequence in enumerate(slots):
        kinds[row, : len(sequence)] = sequence
    return [re.sub(r"{\w}", "%s", sentence) for sentence in sentences], kinds


def _zipf_table(ranks: int) -> Integers:
    """Give a table in which rank r stands in proportion to 1/r."""
    share = np.cumsum(1 / np.arange(1, ranks + 1))
    return np.searchsorted(share / share[-1], (np.arange(ZIPF_SLOTS) + 0.5) / ZIPF_SLOTS).astype(np.int64)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _plurals(words: Iterable[str]) -> list[str]:
    return [_plural(word) for word in words]


def _plural(word: str) -> str:
    """Form a regular plural.

    >>> [_plural(word) for word in ("cell", "theory", "class", "analysis", "assay")]
    ['cells', 'theories', 'classes', 'analyses', 'assays']
    """
    if word.endswith("sis"):
        return word[:-2] + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _verb(verb: str, ending: str) -> str:
    """Form a regular verb.

    >>> [_verb(verb, ending) for verb in ("test", "derive") for ending in ("", "s", "d", "ing")]
    ['test', 'tests', 'tested', 'testing', 'derive', 'derives', 'derived', 'deriving']
    """
    stem = verb.removesuffix("e")
    return {"": verb, "s": verb + "s", "d": stem + "ed", "ing": stem + "ing"}[ending]
