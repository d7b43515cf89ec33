"""Documents, a batch at a time: numbers drawn in bulk, then put into words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from homonym.synthetic.citations import NOBODY, Citations, document_ids
from homonym.synthetic.columns import MISSING, grouped, records, thinned
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.mentions import Mentions
from homonym.synthetic.noise import Integers
from homonym.synthetic.population import Population
from homonym.synthetic.text import KEYWORDS_PER_TOPIC, MOST_KEYWORDS, VENUES_PER_TOPIC, Text

BATCH = 1024  # documents: enough to spread the cost of numpy calls, few enough to take little memory
FIRST_YEAR, LAST_YEAR = 1990, 2018
GROWTH = 0.7  # of literature: progress to this power is time, so later years have more documents
SECOND_CATEGORY = 0.3  # of the documents are filed under a neighbouring field too


class Batch(NamedTuple):
    """Some documents, with the numbers of all their authors one after the other."""

    documents: list[dict[str, Any]]
    authors: Integers


def documents(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Yield documents one by one until they have as many mentions as asked for.

    >>> first = next(documents(Corpus(mentions=1000)))
    >>> first["id"], first["year"], sorted(first["authors"][0])[:2]
    ('d0000000', 1990, ['author', 'name'])
    """
    for batch in batches(corpus, Population(corpus)):
        yield from batch.documents


def batches(corpus: Corpus, population: Population) -> Iterator[Batch]:
    """Yield documents a batch at a time; the last one ends where the corpus has its mentions."""
    press = Press(corpus, population)
    start, left = 0, corpus.mentions
    while left > 0:
        number = np.arange(start, start + BATCH)
        authors_of = population.number_of_authors(number)
        needed = int(np.searchsorted(np.cumsum(authors_of), left)) + 1
        batch = press.batch(number[:needed], authors_of[:needed])
        yield batch
        start, left = start + BATCH, left - len(batch.authors)


class Press:
    """Puts documents into words."""

    def __init__(self, corpus: Corpus, population: Population) -> None:
        self.corpus, self.population = corpus, population
        self.noise = population.noise
        self.text = Text(population)
        self.mentions = Mentions(corpus, population)
        self.citations = Citations(population)

    def batch(self, number: Integers, authors_of: Integers) -> Batch:
        """Make the documents of these numbers, with so many authors each."""
        writers = self.population.writers(number)
        chosen = np.arange(writers.shape[1]) < authors_of[:, None]
        authors, owner = writers[chosen], np.repeat(number, authors_of)
        topic = self.population.topic(number, writers[:, 0])
        turn, _ = self.population.round_and_community(number)
        titles, abstracts = self.text.write(number, topic, abstracts=self.corpus.abstracts)
        columns: dict[str, Iterable[Any]] = {
            "id": document_ids(number),
            "title": titles,
            "abstract": abstracts,
            "year": self._years(turn),
            "venue": self._venues(number, topic),
            "categories": self._categories(number, topic),
            "keywords": self._keywords(number, topic),
            "authors": grouped(self.mentions.write(authors, owner), authors_of),
            "references": self.citations.references(number, np.where(chosen, writers, NOBODY)),
            "referenced_authors": self.citations.referenced_authors(number),
        }
        for name in [name for name in columns if name in MISSING]:
            gone = self.noise.chance(self.corpus.missing * MISSING[name], f"missing {name}", number)
            columns[name] = thinned(columns[name], gone)
        return Batch(records(columns), authors)

    def _years(self, turn: Integers) -> list[int]:
        passed = self.population.progress(turn) ** GROWTH * (LAST_YEAR + 1 - FIRST_YEAR)
        years: list[int] = np.minimum(FIRST_YEAR + passed.astype(np.int64), LAST_YEAR).tolist()
        return years

    def _venues(self, number: Integers, topic: Integers) -> list[str]:
        place = self.noise.below(VENUES_PER_TOPIC, "venue", number)
        return [self.text.venues[t][p] for t, p in zip(topic.tolist(), place.tolist(), strict=True)]

    def _categories(self, number: Integers, topic: Integers) -> list[list[str]]:
        """File each document under its field, and some under the topic's neighbouring field."""
        names = [field[0] for field in self.text.fields]
        first = topic // self.text.topics_per_field
        second = (first + 1 + topic % 3) % len(names)
        both = self.noise.chance(SECOND_CATEGORY, "second category", number) & (first != second)
        rows = zip(first.tolist(), second.tolist(), both.tolist(), strict=True)
        return [[names[f], names[s]] if b else [names[f]] for f, s, b in rows]

    def _keywords(self, number: Integers, topic: Integers) -> list[list[str]]:
        """Choose different keywords of each topic, the first of its list more often."""
        place = np.arange(MOST_KEYWORDS)
        drawn = self.noise.unit("keyword", number[:, None], place) ** 2 * KEYWORDS_PER_TOPIC
        rows = zip(topic.tolist(), drawn.astype(np.int64).tolist(), strict=True)
        return [[self.text.keywords[t][k] for k in dict.fromkeys(row)] for t, row in rows]
