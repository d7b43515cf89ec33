"""Authors: their names, and with whom, where, on what and when they work.

Authors belong to communities of equal size, each with a few teams. Documents come in rounds of one document per
community, so that the community and the time of a document follow from its number, and vice versa. Time is
`progress`, from 0 at the first document to 1 at the last.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, product
from typing import NamedTuple

import numpy as np
from anyascii import anyascii

from homonym.synthetic.collaborations import Collaborations
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.random_draws import Flags, Floats, Integers, RandomDraws
from homonym.synthetic.vocabulary import MIDDLE_INITIALS, coined_words, lines, syllables, words

# Number of names with 1, 2, ..., 10 authors in Web of Science: Backes (JCDL 2018), Table 1.
NAMES_BY_AUTHORS = (229653, 14108, 3630, 1657, 860, 557, 322, 260, 174, 141)
# Combinations of surname and initials per name in use. If all were in use, dropping an initial would always give the
# name of another author.
SPARE_NAMES = 1.5
# Share of authors with the most popular given name of their homonyms, beyond coincidence.
POPULAR_GIVEN_NAME = 0.25
STYLES = 6  # number of ways in which `write_name` writes a name
ASCII_STYLE = 3  # that of old databases, in ASCII capitals
# The style that writes initials where each style writes given names.
INITIALS_STYLES = (2, 4, 2, 3, 4, 5)


class Namesakes:
    """Names of authors, by author number.

    Authors are shuffled, then assigned to names in that order: first to the huge names, then to those with ten
    authors, nine, and so on. So homonyms come from any community, and a name is computed without a table.
    """

    def __init__(self, corpus: Corpus, authors: int) -> None:
        self._draws = RandomDraws(corpus.seed)
        self.authors, self._huge_blocks = authors, corpus.huge_blocks
        self._frequent = _frequent_names(round(corpus.common_names * authors))
        plan = list(_names_by_size(corpus, authors, self._frequent.people))
        self._sizes = np.array([size for size, _ in plan])
        counts = np.array([names for _, names in plan])
        self._first_author = np.concatenate([[0], np.cumsum(self._sizes * counts)[:-1]])
        self._first_name = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.names = int(counts.sum())
        self._name_people()

    def _name_people(self) -> None:
        """Set up the lists of surnames, initials and the given names of each initial."""
        by_letter: dict[str, list[str]] = {}
        for given in words("given_names"):
            by_letter.setdefault(given[0], []).append(given)
        self.initials = [letter + middle for letter in by_letter for middle in MIDDLE_INITIALS]
        self.given_names = [given for names in by_letter.values() for given in names]
        self._given_count = np.array([len(names) for names in by_letter.values()])
        self._first_given = np.concatenate([[0], np.cumsum(self._given_count)[:-1]])
        needed = int(self.names * SPARE_NAMES / len(self.initials)) + 1
        frequent = list(dict.fromkeys(self._frequent.surnames))
        listed = [surname for surname in words("surnames") if surname not in frequent]
        coined = coined_words(syllables("surname_parts"), {anyascii(surname) for surname in words("surnames")})
        ordinary = [*listed, *islice(coined, max(0, needed - len(listed)))]
        self._ordinary_surnames = len(ordinary)
        self.surnames = [*ordinary, *frequent]
        self._frequent_surname = np.array([self.surnames.index(x) for x in self._frequent.surnames], np.int64)
        self._frequent_initials = np.array([self.initials.index(x) for x in self._frequent.initials], np.int64)
        self.ascii_surnames = [anyascii(surname) for surname in self.surnames]
        self._surname_rank, self._initials_rank = _rank(self.ascii_surnames), _rank(self.initials)

    def name(self, author: Integers) -> Integers:
        """The number of each author's name."""
        place = self._draws.shuffled(self.authors, "namesakes", author)
        region = np.searchsorted(self._first_author, place, side="right") - 1
        named: Integers = self._first_name[region] + (place - self._first_author[region]) // self._sizes[region]
        return named

    def key(self, name: Integers) -> tuple[Integers, Integers]:
        """The surname and the initials of each name, as indices into their lists."""
        place = self._draws.shuffled(self._ordinary_surnames * len(self.initials), "names", name)
        surname, initials = place // len(self.initials), place % len(self.initials)
        number = name - self._huge_blocks
        frequent = (number >= 0) & (number < len(self._frequent_surname))
        surname[frequent] = self._frequent_surname[number[frequent]]
        initials[frequent] = self._frequent_initials[number[frequent]]
        return surname, initials

    def given(self, author: Integers, name: Integers, initials: Integers) -> Integers:
        """The given name of each author, as an index into its list."""
        letter = initials // len(MIDDLE_INITIALS)
        popular = self._draws.below(self._given_count[letter], "popular given name", name)
        own = self._draws.below(self._given_count[letter], "given name", author)
        shared = self._draws.chance(POPULAR_GIVEN_NAME, "is popular", author)
        chosen: Integers = self._first_given[letter] + np.where(shared, popular, own)
        return chosen

    def alphabetical(self, author: Integers) -> tuple[Integers, Integers, Integers]:
        """Keys that sort authors by the alphabet, the last one first, as in `numpy.lexsort`."""
        surname, initials = self.key(self.name(author))
        return author, self._initials_rank[initials], self._surname_rank[surname]

    def short(self, author: Integers) -> list[str]:
        """Each author as in reference lists: `Doe, JW`."""
        surname, initials = self.key(self.name(author))
        pairs = zip(surname.tolist(), initials.tolist(), strict=True)
        return [f"{self.surnames[s]}, {self.initials[i]}" for s, i in pairs]


def _rank(words: list[str]) -> Integers:
    """The place of each word in the order of the alphabet."""
    rank = np.empty(len(words), np.int64)
    rank[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
    return rank


class FrequentNames(NamedTuple):
    """Surname, initial and number of people of each frequent name."""

    surnames: list[str]
    initials: list[str]
    people: list[int]


def _frequent_names(people: int) -> FrequentNames:
    """Give people surnames and first initials by their frequencies among Chinese and Korean authors.

    >>> _frequent_names(100).surnames[:2], sum(_frequent_names(100).people)
    (['Wang', 'Wang'], 100)
    """
    surnames, initials = (_weights(line) for line in lines("frequent_names"))
    shares = np.cumsum(np.outer(list(surnames.values()), list(initials.values())))
    reached = np.floor(shares / shares[-1] * people + 0.5).astype(np.int64)
    sizes = np.diff(reached, prepend=0).tolist()
    found = [(s, i, size) for (s, i), size in zip(product(surnames, initials), sizes, strict=True) if size]
    return FrequentNames(*(list(column) for column in zip(*found, strict=True))) if found else FrequentNames([], [], [])


def _weights(line: str) -> dict[str, float]:
    """Words with their weights: `Wang 7.1 Li 7.4`."""
    parts = line.split()
    return {word: float(weight) for word, weight in zip(parts[::2], parts[1::2], strict=True)}


def _names_by_size(corpus: Corpus, authors: int, frequent: list[int]) -> Iterator[tuple[int, int]]:
    """Yield (authors per name, number of names) so that every author has a name: huge names, frequent ones, others.

    The weights are Table 1 to the power of 1/ambiguity, which flattens the distribution. Fractions are carried over to
    the next smaller size, so that small corpora have some names of each size.
    """
    yield corpus.huge_authors, corpus.huge_blocks
    yield from ((size, 1) for size in frequent)
    authors = max(0, authors - corpus.huge_authors * corpus.huge_blocks - sum(frequent))
    weights = np.array(NAMES_BY_AUTHORS) ** (1 / corpus.ambiguity)
    shares = weights / (weights * np.arange(1, len(weights) + 1)).sum()
    carried = 0.0
    left = authors
    for size in range(len(weights), 1, -1):
        carried += authors * shares[size - 1]
        names = min(int(carried), left // size)
        carried -= names
        left -= size * names
        yield size, names
    yield 1, left


def write_name(style: int, surname: str, given: str, initials: str) -> str:
    """Write a name in one of the STYLES; all of them have the same normal form.

    >>> [write_name(style, "Doe", "Jane", "JW") for style in range(STYLES)]
    ['Doe, Jane W.', 'Jane W. Doe', 'Doe, J. W.', 'DOE JW', 'J. W. Doe', 'Doe, J.W.']
    """
    middle = initials[1:]
    match style:
        case 0:
            return f"{surname}, {given} {middle}." if middle else f"{surname}, {given}"
        case 1:
            return f"{given} {middle}. {surname}" if middle else f"{given} {surname}"
        case 2:
            return f"{surname}, {initials[0]}. {middle}." if middle else f"{surname}, {initials}."
        case 3:  # ASCII_STYLE
            return f"{surname.upper()} {initials}"
        case 4:
            return f"{initials[0]}. {middle}. {surname}" if middle else f"{initials}. {surname}"
        case _:
            return f"{surname}, {initials[0]}.{middle}." if middle else f"{surname}, {initials}."


MEMBERS = 16  # authors of a community over all years: a chair or a laboratory
TEAMS = 2  # teams of co-authors within a community
MAX_AUTHORS = 12  # maximum authors of a document; fewer than MEMBERS, so that one community suffices
AUTHORS_SPREAD = 2.0  # shape of the negative binomial: many documents of 2-5 authors, a tail of large ones
BISECTIONS = 50  # enough for the precision of a double

# Numbers of fields, topics and institutions. A small corpus is a thin sample of many of them rather than all documents
# of a few. The minima keep tiny corpora diverse, the maxima limit memory.
COMMUNITIES_PER_FIELD, MIN_FIELDS, MAX_FIELDS = 1.0, 6, 40
COMMUNITIES_PER_TOPIC, MIN_TOPICS, MAX_TOPICS = 2.0, 6, 60
COMMUNITIES_PER_INSTITUTION, MIN_INSTITUTIONS, MAX_INSTITUTIONS = 0.5, 12, 20_000

# Careers, in units of progress. About four members are active at a time; a third of the careers last 2–3 years only.
EARLIEST_START = 0.06  # maximum time between the start and the first document that an author leads
SHORTEST_CAREER = 0.03
LONGEST_CAREER = 0.7
CAREER_SKEW = 2.5  # higher: more short careers
FADING = 0.01  # authors appear with falling probability shortly before and after their career
FOUNDERS = 4  # members who are active from the start
PRODUCTIVITY_SKEW = 0.5  # exponent of a Pareto-like law: some authors publish several times as much as others
MAX_PRODUCTIVITY = 8.0

# These decide how difficult the corpus is: the more the work of an author varies and the more homonyms have in common,
# the harder it gets. They are set so that the method scores about as well as on Web of Science (B-cubed F1 of .9 to .97
# for names of 2 to 10 authors); a score on such a corpus shows that the code works, not how good the method is.
CROSS_TEAM = 0.12  # weight of a colleague from another team, relative to the own team
CONTACTS = 3  # outside collaborators of an author
OUTSIDE = 0.25  # share of co-author places given to a contact
NEAR_CONTACT = 0.7  # share of contacts in the same field; the others are anywhere
NEXT_FIELD = 0.3  # share of peers in the next field rather than the own one
GUEST = 0.2  # share of members at another institution than their community
MOVES = 0.45  # share of authors who change their institution once
SECOND_AFFILIATION = 0.1  # share of authors with two institutions at a time
NAME_PLACE = 0.4  # share of moves to the institution that belongs to the name, because names are regional
SECOND_INTEREST = 0.35  # share of documents about a later interest of their leader instead of the team's topic
NAME_INTEREST = 0.3  # share of those interests that belong to the name, so that homonyms share topics
TOPIC_STEPS = 4  # number of neighbouring topics that a team works on over all years


class Population:
    """Authors by number; see the docstring of the module.

    `authors` of them write ordinary documents; `people` also counts those who only write for collaborations.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.draws = RandomDraws(corpus.seed)
        self.communities = math.ceil(corpus.mentions / (corpus.mentions_per_author * MEMBERS))
        self.authors = self.communities * MEMBERS
        self.collaborations = Collaborations(corpus, self.authors)
        self.people = self.authors + self.collaborations.people
        self.namesakes = Namesakes(corpus, self.people)
        self.author_counts = _author_counts(corpus.authors_per_document)
        self.rounds = max(1.0, corpus.mentions / (_mean(self.author_counts) * self.communities))
        self.fields = int(np.clip(self.communities / COMMUNITIES_PER_FIELD, MIN_FIELDS, MAX_FIELDS))
        topics = self.communities / (COMMUNITIES_PER_TOPIC * self.fields)
        self.topics_per_field = int(np.clip(topics, MIN_TOPICS, MAX_TOPICS))
        institutions = self.communities / COMMUNITIES_PER_INSTITUTION
        self.institutions = int(np.clip(institutions, MIN_INSTITUTIONS, MAX_INSTITUTIONS))
        self._debuts = np.ceil(np.arange(MEMBERS) * self.rounds / MEMBERS).astype(np.int64)
        self._leaders = np.full(int(self._debuts[-1]) + 2, -1)
        self._leaders[self._debuts[::-1]] = np.arange(MEMBERS)[::-1]

    # When

    def round_and_community(self, document: Integers) -> tuple[Integers, Integers]:
        """The round and the community of a document."""
        return document // self.communities, document % self.communities

    def progress(self, turn: Integers) -> Floats:
        """The time of a round."""
        return np.minimum(turn / self.rounds, 1.0)

    def debut(self, author: Integers) -> Integers:
        """The number of the first document that each author leads."""
        number: Integers = self._debuts[author % MEMBERS] * self.communities + author // MEMBERS
        return number

    def activity(self, author: Integers, progress: Floats) -> Floats:
        """The productivity of authors, which falls quickly outside their career."""
        first = self._debuts[author % MEMBERS] / self.rounds
        start = first - EARLIEST_START * self.draws.unit("start", author)
        start = np.where(author % MEMBERS < FOUNDERS, 0.0, start)
        end = first + SHORTEST_CAREER + LONGEST_CAREER * self.draws.unit("end", author) ** CAREER_SKEW
        gap = np.maximum(0.0, np.maximum(start - progress, progress - end))
        luck = 1.0 - self.draws.unit("productivity", author)
        weight: Floats = np.minimum(luck**-PRODUCTIVITY_SKEW, MAX_PRODUCTIVITY) * np.exp(-gap / FADING)
        return np.maximum(weight, np.finfo(np.float64).tiny)

    def active(self, author: Integers, progress: Floats) -> Flags:
        """Which authors are in the middle of their career."""
        return self.activity(author, progress) >= 1.0

    # With whom

    def team(self, turn: Integers, community: Integers) -> Integers:
        """The team that writes the document of a community in a round."""
        leader = self._leader(turn)
        drawn = self.draws.below(TEAMS, "team of document", turn, community)
        return np.where(leader >= 0, self._team_of(community * MEMBERS + leader), drawn)

    def _team_of(self, author: Integers) -> Integers:
        return self.draws.below(TEAMS, "team", author)

    def _leader(self, turn: Integers) -> Integers:
        """The member whose turn it is to lead, or -1."""
        leader: Integers = self._leaders[np.minimum(turn, len(self._leaders) - 1)]
        return leader

    def number_of_authors(self, document: Integers) -> Integers:
        """The number of authors of each document."""
        steps = np.cumsum(self.author_counts)[:-1]
        return 1 + np.searchsorted(steps, self.draws.unit("authors", document), side="right").astype(np.int64)

    def writers(self, document: Integers) -> Integers:
        """MAX_AUTHORS candidates for each document, the leader first; the first few of them are its authors.

        Weighted sampling without replacement by exponential waiting times (Efraimidis, Spirakis).
        """
        turn, community = self.round_and_community(document)
        member = community[:, None] * MEMBERS + np.arange(MEMBERS)
        weight = self.activity(member, self.progress(turn)[:, None])
        weight = weight * np.where(self._team_of(member) == self.team(turn, community)[:, None], 1.0, CROSS_TEAM)
        waiting = -np.log1p(-self.draws.unit("writers", document[:, None], member)) / weight
        waiting[np.arange(MEMBERS) == self._leader(turn)[:, None]] = -1.0
        first = np.argsort(waiting, axis=1, kind="stable")[:, :MAX_AUTHORS]
        return self._with_contacts(document, np.take_along_axis(member, first, axis=1))

    def _with_contacts(self, document: Integers, authors: Integers) -> Integers:
        """Give some places after the first to active contacts of the leader, each author at most once."""
        place = np.arange(CONTACTS)
        contact = self._contacts(authors[:, 0])
        progress = self.progress(document // self.communities)[:, None]
        fits = self.draws.chance(OUTSIDE, "outside", document[:, None], place)
        fits &= self.active(contact, progress)
        fits &= contact // MEMBERS != authors[:, :1] // MEMBERS
        for earlier in range(CONTACTS):
            fits[:, earlier + 1 :] &= contact[:, earlier + 1 :] != contact[:, earlier : earlier + 1]
        authors[:, 1 : 1 + CONTACTS] = np.where(fits, contact, authors[:, 1 : 1 + CONTACTS])
        return authors

    def _contacts(self, author: Integers) -> Integers:
        """The outside collaborators of each author."""
        address = author[:, None], np.arange(CONTACTS)
        near = self.peers(author[:, None] // MEMBERS, "contact community", *address)
        anywhere = self.draws.below(self.communities, "far community", *address)
        community = np.where(self.draws.chance(NEAR_CONTACT, "near", *address), near, anywhere)
        return community * MEMBERS + self.draws.below(MEMBERS, "contact", *address)

    def peers(self, community: Integers, purpose: str, *address: Integers) -> Integers:
        """Random communities of the same field, and some of the next one."""
        field = (community + self.draws.chance(NEXT_FIELD, f"{purpose}: next field", *address)) % self.fields
        in_field = -(-self.communities // self.fields)
        peer = field + self.fields * self.draws.below(in_field, purpose, *address)
        return np.where(peer < self.communities, peer, field % self.communities)

    # Where

    def institution(self, author: Integers, progress: Floats) -> Integers:
        """The institution of each author at a time."""
        at_home = self.draws.below(self.institutions, "institution", author // MEMBERS)
        elsewhere = self.draws.below(self.institutions, "guest from", author)
        first = np.where(self.draws.chance(GUEST, "guest", author), elsewhere, at_home)
        moved = self.draws.chance(MOVES, "moves", author) & (progress > self._turning_point(author))
        return np.where(moved, self._next_institution(author), first)

    def _next_institution(self, author: Integers) -> Integers:
        anywhere = self.draws.below(self.institutions, "moves to", author)
        regional = self.draws.below(self.institutions, "name's place", self.namesakes.name(author))
        return np.where(self.draws.chance(NAME_PLACE, "regional", author), regional, anywhere)

    def _turning_point(self, author: Integers) -> Floats:
        """The time at which an author may move or change topics: some time after the first document."""
        first = self._debuts[author % MEMBERS] / self.rounds
        turning: Floats = first + LONGEST_CAREER / 2 * self.draws.unit("turning point", author) ** 2
        return turning

    def second_institution(self, author: Integers) -> Integers:
        """The second institution of an author, or -1."""
        second = self.draws.below(self.institutions, "second institution", author // MEMBERS)
        return np.where(self.draws.chance(SECOND_AFFILIATION, "second affiliation", author), second, -1)

    # On what

    def topic(self, document: Integers, leader: Integers) -> Integers:
        """The topic of each document: the team's, which changes over time, or a later interest of the leader."""
        turn, community = self.round_and_community(document)
        home = self.draws.below(self.topics_per_field, "home topic", community)
        phase = self.draws.unit("phase", community)
        step = np.floor(self.progress(turn) * TOPIC_STEPS + phase).astype(np.int64)
        shared = (home + self.team(turn, community) + step) % self.topics_per_field
        shared = community % self.fields * self.topics_per_field + shared
        later = self.progress(turn) > self._turning_point(leader)
        own = later & self.draws.chance(SECOND_INTEREST, "own interest", document)
        return np.where(own, self._interest(leader), shared)

    def _interest(self, author: Integers) -> Integers:
        topics = self.fields * self.topics_per_field
        anything = self.draws.below(topics, "interest", author)
        regional = self.draws.below(topics, "name's interest", self.namesakes.name(author))
        return np.where(self.draws.chance(NAME_INTEREST, "popular interest", author), regional, anything)


def _author_counts(mean: float) -> Floats:
    """The shares of documents with 1, 2, ..., MAX_AUTHORS authors: one plus a truncated negative binomial.

    >>> round(_mean(_author_counts(4.0)), 6)
    4.0
    """
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        odds = (low + high) / 2
        low, high = (odds, high) if _mean(_negative_binomial(odds)) < mean else (low, odds)
    return _negative_binomial(low)


def _negative_binomial(odds: float) -> Floats:
    more = np.arange(1, MAX_AUTHORS)
    shares = np.cumprod(np.concatenate([[1.0], odds * (AUTHORS_SPREAD + more - 1) / more]))
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def _mean(counts: Floats) -> float:
    return float((counts * np.arange(1, len(counts) + 1)).sum())
