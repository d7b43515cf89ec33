"""Documents, a batch at a time: numbers drawn in bulk, then put into words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from homonym.synthetic.author_mentions import MISSING, Mentions, grouped, records, thinned
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.population import MEMBERS, Population
from homonym.synthetic.prose import KEYWORDS_PER_TOPIC, MOST_KEYWORDS, VENUES_PER_TOPIC, Text
from homonym.synthetic.random_draws import Flags, Integers

# References, by where they may lead; places in a list, not all of which are filled.
GROUP_REFERENCES, FIELD_REFERENCES = 6, 5
GROUP_RECENCY = 2.0  # higher: younger documents of one's own community
CROSS_TEAM_REFERENCE = 0.3  # of other teams' documents drawn are kept
FIELD_REFERENCE = 0.6  # of the places are filled
SELF_REFERENCE = 0.4  # per author: cites the document that she or he led
NOBODY = NOTHING = -1  # in the place of an author or a document
CITING_AUTHORS = 4  # the first few may cite themselves
# Referenced authors by name, as in exports that do not resolve references.
GROUP_NAMES, FIELD_NAMES = 3, 4
REFERENCED_NAME = 0.6  # of the places are filled


class Citations:
    """Draws reference lists."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.noise = population.noise

    def references(self, number: Integers, authors: Integers) -> list[list[str]]:
        """Cite earlier documents: the authors' own, the community's and the field's."""
        parts = (
            self._own_work(number, authors[:, :CITING_AUTHORS]),
            self._group_work(number),
            self._field_work(number),
        )
        cited = np.concatenate(parts, axis=1)
        return _kept(cited, (cited != NOTHING) & (cited < number[:, None]), document_ids)

    def _own_work(self, number: Integers, authors: Integers) -> Integers:
        cites = self.noise.chance(SELF_REFERENCE, "self-citation", number[:, None], authors) & (authors != NOBODY)
        return np.where(cites, self.population.debut(authors), NOTHING)

    def _group_work(self, number: Integers) -> Integers:
        """Draw earlier rounds of the same community, and keep those of the same team and some others."""
        turn, community = (part[:, None] for part in self.population.round_and_community(number))
        address = number[:, None], np.arange(GROUP_REFERENCES)
        back = self.noise.unit("group reference", *address) ** GROUP_RECENCY * turn
        earlier = turn - 1 - back.astype(np.int64)
        same = self.population.team(earlier, community) == self.population.team(turn, community)
        kept = same | self.noise.chance(CROSS_TEAM_REFERENCE, "other team", *address)
        return np.where(kept & (earlier >= 0), earlier * self.population.communities + community, NOTHING)

    def _field_work(self, number: Integers) -> Integers:
        turn, community = (part[:, None] for part in self.population.round_and_community(number))
        address = number[:, None], np.arange(FIELD_REFERENCES)
        peer = self.population.peers(community, "field reference", *address)
        earlier = self.noise.below(np.maximum(turn, 1), "field round", *address)
        kept = self.noise.chance(FIELD_REFERENCE, "cites field", *address)
        return np.where(kept, earlier * self.population.communities + peer, NOTHING)

    def referenced_authors(self, number: Integers) -> list[list[str]]:
        """Name authors of the community and the field who have begun to publish."""
        turn, community = (part[:, None] for part in self.population.round_and_community(number))
        address = number[:, None], np.arange(GROUP_NAMES + FIELD_NAMES)
        peer = self.population.peers(community, "field name", *address)
        where = np.where(np.arange(GROUP_NAMES + FIELD_NAMES) < GROUP_NAMES, community, peer)
        begun = np.maximum(1, self.population.progress(turn) * MEMBERS).astype(np.int64)
        named = where * MEMBERS + self.noise.below(begun, "named", *address)
        return _kept(named, self.noise.chance(REFERENCED_NAME, "names", *address), self.population.namesakes.short)


def document_ids(number: Integers) -> list[str]:
    """Name documents."""
    return [f"d{n:07d}" for n in number.tolist()]


def _kept(values: Integers, keep: Flags, write: Callable[[Integers], list[str]]) -> list[list[str]]:
    """Write the values kept in each row, each once."""
    rows = grouped(write(values[keep]), keep.sum(axis=1))
    return [list(dict.fromkeys(row)) for row in rows]


BATCH = 1024  # documents: enough to spread the cost of numpy calls, few enough to take little memory
FIRST_YEAR, LAST_YEAR = 1990, 2018
GROWTH = 0.7  # of literature: progress to this power is time, so later years have more documents
SECOND_CATEGORY = 0.3  # of the documents are filed under a neighbouring field too


class DocumentBatch(NamedTuple):
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


def batches(corpus: Corpus, population: Population) -> Iterator[DocumentBatch]:
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

    def batch(self, number: Integers, authors_of: Integers) -> DocumentBatch:
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
        return DocumentBatch(records(columns), authors)

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
