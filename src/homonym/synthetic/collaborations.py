"""Collaborations: large teams whose documents list nearly all members, as in high-energy physics.

Each collaboration has a fixed list of positions. By default one person holds a position for some years, so that at any
time about the same number of people are members, while most of them change over the years. With a turnover, every
position is always held: by one person, or by one after the other. Half of the people also write ordinary documents.
Documents come in rounds of one document per collaboration; time is `progress`, as in `population`.
"""

from __future__ import annotations

import numpy as np

from homonym.synthetic.corpus import Corpus
from homonym.synthetic.random_draws import Flags, Floats, Integers, RandomDraws

# Numbers of the documents for random draws: no ordinary document has such a high one.
FIRST_DOCUMENT = 1 << 40
# The smallest and the largest collaboration, in units of the mean.
SMALLEST, LARGEST, SIZE_SKEW = 0.5, 2.0, 2.0
# The same for stable collaborations.
SMALLEST_STABLE, LARGEST_STABLE, STABLE_SIZE_SKEW = 0.15, 2.5, 1.1
# Memberships, in units of progress: many students and fellows, some who stay nearly all the time.
SHORTEST_TERM, LONGEST_TERM, TERM_SKEW = 0.08, 0.9, 1.5
ABSENT, ABSENT_STABLE = 0.06, 0.04  # share of the members that a document misses
MOVED = 0.1  # share of positions whose holder is a member of the collaboration before, too
TOPICS = 5  # neighbouring topics that a collaboration works on


class Collaborations:
    """Members and topics of collaborations, by number.

    `authors` is the number of ordinary authors; people who only write for collaborations have the numbers after them.
    With a turnover, memory holds one number per position.
    """

    def __init__(self, corpus: Corpus, authors: int) -> None:
        self._draws = RandomDraws(corpus.seed)
        self.count, self._authors = corpus.collaborations, authors
        self.documents = corpus.collaborations * corpus.collaboration_documents
        self._rounds = corpus.collaboration_documents
        self._turnover = corpus.collaboration_turnover
        self.positions = _positions(corpus)
        self._first = np.concatenate([[0], np.cumsum(self.positions)])
        self._first_holder = self._number_holders()
        holders = int(self._first[-1] if self._first_holder is None else self._first_holder[-1])
        self._shared = min(authors, holders // 2)
        self.people = holders - self._shared

    def _number_holders(self) -> Integers | None:
        """The number of the first person who holds each position, and the number of all; None without a turnover."""
        if self._turnover is None:
            return None
        numbers = [
            1 + self._is_replaced(np.full(positions, collaboration), np.arange(positions))
            for collaboration, positions in enumerate(self.positions.tolist())
        ]
        return np.concatenate([[0], np.cumsum(np.concatenate([[], *numbers]))]).astype(np.int64)

    def _is_replaced(self, collaboration: Integers, place: Integers) -> Flags:
        """Whether a second person follows the first one in a position."""
        return self._draws.chance(self._turnover or 0.0, "replaced", collaboration, place)

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
        writes = ~self._draws.chance(self._absent, "absent", FIRST_DOCUMENT + paper, place)
        if self._first_holder is None:
            writes &= self._is_member(team, place, self.progress(paper))
        authors = self.person(team[writes], place[writes], self.progress(paper[writes]))
        return authors, np.bincount(owner[writes], minlength=len(document))

    def _is_member(self, collaboration: Integers, place: Integers, progress: Floats) -> Flags:
        """Whether the person of a position is a member at a time; the probability is the same at any time."""
        term = _term(self._draws.unit("term", collaboration, place))
        first_day = self._draws.unit("first day", collaboration, place) * (1 + term) - term
        member: Flags = (first_day <= progress) & (progress < first_day + term)
        return member

    @property
    def _absent(self) -> float:
        return ABSENT if self._first_holder is None else ABSENT_STABLE

    def person(self, collaboration: Integers, place: Integers, progress: Floats) -> Integers:
        """The author who holds a position at a time; no author holds two positions of one collaboration."""
        fits = (collaboration > 0) & (place < self.positions[collaboration - 1])
        moved = fits & self._draws.chance(MOVED, "moved", collaboration, place)
        number = self._holder(self._first[collaboration - moved] + place, collaboration, place, progress)
        ordinary = (number % 2 == 1) & (number // 2 < self._shared)
        before = np.minimum(number // 2, self._shared)
        person = self._authors + number - before
        person[ordinary] = self._draws.shuffled(max(1, self._authors), "members", number[ordinary] // 2)
        return person

    def _holder(self, position: Integers, collaboration: Integers, place: Integers, progress: Floats) -> Integers:
        """The number among all holders of the person who has a position at a time.

        `position` is that of the previous collaboration if its holders moved; they come at the new one's times.
        """
        if self._first_holder is None:
            return position
        second = self._is_replaced(collaboration, place)
        second &= self._draws.unit("replaced at", collaboration, place) <= progress
        number: Integers = np.minimum(self._first_holder[position] + second, self._first_holder[position + 1] - 1)
        return number

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
    if corpus.collaboration_turnover is None:
        size = SMALLEST + (LARGEST - SMALLEST) * place**SIZE_SKEW
        term = _term((np.arange(1000) + 0.5) / 1000)
        writing = float((term / (1 + term)).mean()) * (1 - ABSENT)
    else:
        size = SMALLEST_STABLE + (LARGEST_STABLE - SMALLEST_STABLE) * place**STABLE_SIZE_SKEW
        writing = 1 - ABSENT_STABLE
    positions: Integers = np.ceil(size / size.mean() * corpus.collaboration_authors / writing).astype(np.int64)
    return positions
