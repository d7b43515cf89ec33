"""Collaborations: large teams whose documents list nearly all members, as in high-energy physics.

Each collaboration has a fixed list of positions. One person holds a position for some years, so that at any time about
the same number of people are members, while most of them change over the years. Half of the people also write ordinary
documents. Documents come in rounds of one document per collaboration; time is `progress`, as in `population`.
"""

from __future__ import annotations

import numpy as np

from homonym.synthetic.corpus import Corpus
from homonym.synthetic.random_draws import Flags, Floats, Integers, RandomDraws

# Numbers of the documents for random draws: no ordinary document has such a high one.
FIRST_DOCUMENT = 1 << 40
# The smallest and the largest collaboration, in units of the mean.
SMALLEST, LARGEST = 0.5, 2.0
# Memberships, in units of progress: many students and fellows, some who stay nearly all the time.
SHORTEST_TERM, LONGEST_TERM, TERM_SKEW = 0.08, 0.9, 1.5
ABSENT = 0.06  # share of the members that a document misses
MOVED = 0.1  # share of positions whose holder is a member of the collaboration before, too
TOPICS = 5  # neighbouring topics that a collaboration works on


class Collaborations:
    """Members and topics of collaborations, by number.

    `authors` is the number of ordinary authors; people who only write for collaborations have the numbers after them.
    """

    def __init__(self, corpus: Corpus, authors: int) -> None:
        self._draws = RandomDraws(corpus.seed)
        self.count, self._authors = corpus.collaborations, authors
        self.documents = corpus.collaborations * corpus.collaboration_documents
        self._rounds = corpus.collaboration_documents
        self.positions = _positions(corpus)
        self._first = np.concatenate([[0], np.cumsum(self.positions)])
        self._shared = min(authors, int(self._first[-1]) // 2)
        self.people = int(self._first[-1]) - self._shared

    def round_and_collaboration(self, document: Integers) -> tuple[Integers, Integers]:
        """The round and the collaboration of a document."""
        return document // self.count, document % self.count

    def progress(self, document: Integers) -> Floats:
        """The time of a document."""
        time: Floats = document // self.count / self._rounds
        return time

    def writers(self, document: Integers) -> tuple[Integers, Integers]:
        """All authors of some documents, and the number of authors of each document."""
        _, collaboration = self.round_and_collaboration(document)
        positions = self.positions[collaboration]
        owner = np.repeat(np.arange(len(document)), positions)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(positions) - positions, positions)
        team, paper = collaboration[owner], document[owner]
        writes = self._is_member(team, place, self.progress(paper))
        writes &= ~self._draws.chance(ABSENT, "absent", FIRST_DOCUMENT + paper, place)
        return self.person(team[writes], place[writes]), np.bincount(owner[writes], minlength=len(document))

    def _is_member(self, collaboration: Integers, place: Integers, progress: Floats) -> Flags:
        """Whether the person of a position is a member at a time; the probability is the same at any time."""
        term = _term(self._draws.unit("term", collaboration, place))
        first_day = self._draws.unit("first day", collaboration, place) * (1 + term) - term
        member: Flags = (first_day <= progress) & (progress < first_day + term)
        return member

    def person(self, collaboration: Integers, place: Integers) -> Integers:
        """The number of the author who holds a position; no author holds two positions of one collaboration."""
        fits = (collaboration > 0) & (place < self.positions[collaboration - 1])
        moved = fits & self._draws.chance(MOVED, "moved", collaboration, place)
        number = self._first[collaboration - moved] + place
        ordinary = (number % 2 == 1) & (number // 2 < self._shared)
        before = np.minimum(number // 2, self._shared)
        person = self._authors + number - before
        person[ordinary] = self._draws.shuffled(max(1, self._authors), "members", number[ordinary] // 2)
        return person

    def topic(self, document: Integers, fields: int, topics_per_field: int) -> Integers:
        """The topic of each document: one of a few neighbouring ones of the field of its collaboration."""
        _, collaboration = self.round_and_collaboration(document)
        home = self._draws.below(topics_per_field, "collaboration's topic", collaboration)
        step = self._draws.below(TOPICS, "topic", FIRST_DOCUMENT + document)
        return self.field(collaboration, fields) * topics_per_field + (home + step) % topics_per_field

    def field(self, collaboration: Integers, fields: int) -> Integers:
        """The field of research of each collaboration."""
        return self._draws.below(fields, "collaboration's field", collaboration)


def _term(luck: Floats) -> Floats:
    """The time for which positions are held, from uniform random numbers."""
    term: Floats = SHORTEST_TERM + (LONGEST_TERM - SHORTEST_TERM) * luck**TERM_SKEW
    return term


def _positions(corpus: Corpus) -> Integers:
    """The number of positions of each collaboration, so that documents have the wanted mean number of authors."""
    if not corpus.collaborations:
        return np.zeros(0, np.int64)
    place = (np.arange(corpus.collaborations) + 0.5) / corpus.collaborations
    size = SMALLEST + (LARGEST - SMALLEST) * place**2
    term = _term((np.arange(1000) + 0.5) / 1000)
    writing = float((term / (1 + term)).mean()) * (1 - ABSENT)
    positions: Integers = np.ceil(size / size.mean() * corpus.collaboration_authors / writing).astype(np.int64)
    return positions
