"""Topics, and the titles, abstracts, keywords and venues of documents about them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise, product

import numpy as np

from homonym.synthetic.population import Population
from homonym.synthetic.random_draws import Integers, RandomDraws
from homonym.synthetic.vocabulary import (
    FIELD_VENUES,
    GENERAL_VENUES,
    TOPIC_VENUES,
    lines,
    research_fields,
    syllables,
    words,
)

TERMS_PER_TOPIC = 48
FIELD_TERMS = 8  # number of these that are words of the field, at random ranks
NEW_TERMS = 24  # number of terms by which neighbouring topics differ
ZIPF_SLOTS = 1024  # size of the table that ranks are drawn from: the rarest term has 4 entries
FOREIGN_TERM = 0.15  # share of terms from any other topic
COMMON_WORDS_SKEW = 2.0  # higher: academic words near the start of their list are more frequent
KEYWORDS_PER_TOPIC = 16
MAX_KEYWORDS = 6
VENUES_PER_TOPIC = 8  # length of a topic's list of venues, in which the first one is repeated
# Lists of sentences. Two each for opening and methods, three for results, one to close: about 120 words.
SECTIONS = ("titles", *["openings"] * 2, *["methods"] * 2, *["results"] * 3, "closings")
KINDS = "tTnNavsdg"  # kinds of slots in sentences, as the lists of sentences explain
NO_SLOT = -1


class TextWriter:
    """Writes texts about the topics of a population."""

    def __init__(self, population: Population) -> None:
        self._language = RandomDraws(0)  # topics have the same terms in every corpus
        self._draws = population.draws
        self.fields = research_fields()[: population.fields]
        self.topics_per_field = population.topics_per_field
        self.topics = population.fields * population.topics_per_field
        self._collect_words()
        self._terms = self._terms_of_topics()
        self._ranks = _zipf_table(TERMS_PER_TOPIC)
        self._patterns, self._kinds = _templates()
        self.keywords = self._keywords()
        self.venues = [self._venues(topic) for topic in range(self.topics)]

    def _collect_words(self) -> None:
        """Collect all word forms in one list, and where the forms of each kind of slot begin."""
        shared = [word for _, _, terms in research_fields() for word in terms.split()]
        starts, roots, ends = syllables("term_parts")
        self._singular = [*shared, *("".join(parts) for parts in product(starts, roots, ends))]
        self._shared_terms = len(shared)
        groups = [
            self._singular,
            _plurals(self._singular),
            words("nouns"),
            _plurals(words("nouns")),
            words("adjectives"),
        ]
        groups += [[_verb(verb, ending) for verb in words("verbs")] for ending in ("", "s", "d", "ing")]
        self._words = [word for group in groups for word in group]
        self._count = np.array([len(group) for group in groups])
        self._first = np.concatenate([[0], np.cumsum(self._count)[:-1]])

    def _terms_of_topics(self) -> Integers:
        """The terms of each topic, most frequent first; neighbours in a field share all but NEW_TERMS."""
        topic, place = np.arange(self.topics)[:, None], np.arange(TERMS_PER_TOPIC)
        coinages = len(self._singular) - self._shared_terms
        own = self._shared_terms + self._language.below(coinages, "term", topic * NEW_TERMS + place)
        field = topic // self.topics_per_field
        terms = np.where(place < FIELD_TERMS, field * FIELD_TERMS + place, own)
        scattered = np.argsort(self._language.unit("rank", topic, place), axis=1)
        return np.take_along_axis(terms, scattered, axis=1)

    def _keywords(self) -> list[list[str]]:
        """The keywords of each topic: a term, alone or with the next one."""
        forms = self._words
        pairs = self._terms[:, : KEYWORDS_PER_TOPIC + 1].tolist()
        return [
            [forms[t] if place % 3 else f"{forms[t]} {forms[n]}" for place, (t, n) in enumerate(pairwise(row))]
            for row in pairs
        ]

    def _venues(self, topic: int) -> list[str]:
        """The venues of a topic: mostly its own, then those of the field and a general one."""
        term, other = (self._words[word].capitalize() for word in self._terms[topic, :2])
        field = self.fields[topic // self.topics_per_field][0]
        own = [form.format(term=term, other=other) for form in TOPIC_VENUES]
        wider = [form.format(field=field) for form in FIELD_VENUES]
        return [*own, own[0], *wider, GENERAL_VENUES[topic % len(GENERAL_VENUES)]]

    def write(self, document: Integers, topic: Integers, *, abstracts: bool) -> tuple[list[str], list[str]]:
        """Titles and abstracts; the latter are empty unless asked for."""
        sections = len(SECTIONS) if abstracts else 1
        choice = self._choose(document, sections)
        kinds = self._kinds[choice]
        filled = kinds != NO_SLOT
        chosen = self._fill(document, topic, kinds)
        ends = np.cumsum(filled.sum(axis=(1, 2))).tolist()
        title_ends = (np.array([0, *ends[:-1]]) + filled[:, 0].sum(axis=1)).tolist()
        titles, texts = [], []
        start = 0
        for patterns, middle, end in zip(choice.tolist(), title_ends, ends, strict=True):
            titles.append(_sentence(self._patterns[patterns[0]] % tuple(chosen[start:middle])))
            text = " ".join([self._patterns[pattern] for pattern in patterns[1:]])
            texts.append(text % tuple(chosen[middle:end]))
            start = end
        return titles, texts

    def _choose(self, document: Integers, sections: int) -> Integers:
        """A pattern for each sentence of each document."""
        lengths = np.array([len(lines(section)) for section in SECTIONS])
        first = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        number = np.arange(sections)
        chosen: Integers = first[:sections] + self._draws.below(
            lengths[:sections], "sentence", document[:, None], number
        )
        return chosen

    def _fill(self, document: Integers, topic: Integers, kinds: Integers) -> list[str]:
        """A word for every slot, all documents in one list."""
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
    """The sentences as patterns with %s, and the kinds of their slots."""
    sentences = [sentence for section in SECTIONS for sentence in lines(section)]
    slots = [[KINDS.index(kind) for kind in re.findall(r"{(\w)}", sentence)] for sentence in sentences]
    kinds = np.full((len(sentences), max(map(len, slots))), NO_SLOT)
    for row, sequence in enumerate(slots):
        kinds[row, : len(sequence)] = sequence
    return [re.sub(r"{\w}", "%s", sentence) for sentence in sentences], kinds


def _zipf_table(ranks: int) -> Integers:
    """A table in which rank r occurs in proportion to 1/r (Zipf's law)."""
    share = np.cumsum(1 / np.arange(1, ranks + 1))
    return np.searchsorted(share / share[-1], (np.arange(ZIPF_SLOTS) + 0.5) / ZIPF_SLOTS).astype(np.int64)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _plurals(nouns: Iterable[str]) -> list[str]:
    return [_plural(noun) for noun in nouns]


def _plural(word: str) -> str:
    """The regular plural of a noun.

    >>> [_plural(word) for word in ("cell", "theory", "class", "analysis", "assay")]
    ['cells', 'theories', 'classes', 'analyses', 'assays']
    """
    if word.endswith("sis"):
        return word[:-2] + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _verb(verb: str, ending: str) -> str:
    """A form of a regular verb.

    >>> [_verb(verb, ending) for verb in ("test", "derive") for ending in ("", "s", "d", "ing")]
    ['test', 'tests', 'tested', 'testing', 'derive', 'derives', 'derived', 'deriving']
    """
    stem = verb.removesuffix("e")
    return {"": verb, "s": verb + "s", "d": stem + "ed", "ing": stem + "ing"}[ending]
