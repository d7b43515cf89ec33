"""Documents, a batch at a time: authors as documents print them, references, and the documents themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from homonym.synthetic.collaborations import FIRST_DOCUMENT
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.population import ASCII_STYLE, INITIALS_STYLES, MEMBERS, STYLES, Population, write_name
from homonym.synthetic.prose import KEYWORDS_PER_TOPIC, MAX_KEYWORDS, VENUES_PER_TOPIC, TextWriter
from homonym.synthetic.random_draws import Flags, Floats, Integers
from homonym.synthetic.vocabulary import coined_words, lines, research_fields, syllables, words

# Share of documents without each field, as a multiple of `Corpus.missing`, as in library data.
MISSING = {
    "abstract": 1.0,
    "year": 0.05,
    "venue": 0.2,
    "categories": 0.5,
    "keywords": 3.0,
    "affiliations": 2.0,
    "references": 1.5,
    "referenced_authors": 2.5,
}
# Fields of a corpus of titles only.
TITLE_FIELDS = ("id", "title", "year", "venue", "authors")


def without_missing(values: Iterable[Any], missing: Flags) -> list[Any]:
    """The values, with None where one is missing."""
    return [None if absent else value for absent, value in zip(missing.tolist(), values, strict=True)]


def as_records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """Columns as records, without empty fields."""
    rows = zip(*columns.values(), strict=True)
    return [{name: value for name, value in zip(columns, row, strict=True) if value} for row in rows]


def split_by_counts(values: list[Any], counts: Integers) -> list[list[Any]]:
    """Split a list into consecutive parts of these lengths."""
    ends = np.cumsum(counts).tolist()
    return [values[start:end] for start, end in zip([0, *ends], ends, strict=False)]


# Authors as documents print them

WITH_DEPARTMENT = 0.4  # share of documents that print departments
CORRESPONDING_EMAIL = 0.35  # share of documents with the e-mail address of one author
LAST_CORRESPONDS = 0.4  # share of those where it is the last author's, otherwise the first's
MAIL_DIGITS = 10  # half of the addresses have a digit, so that homonyms at one place rarely share an address
IDENTIFIED = 0.1  # share of authors with an ORCID iD
IDENTIFIED_DOCUMENT = 0.5  # share of their documents that print it


class MentionWriter:
    """Writes the authors of documents: names, affiliations, e-mail addresses, identifiers."""

    def __init__(self, corpus: Corpus, population: Population) -> None:
        self.corpus, self.population = corpus, population
        self.draws = population.draws
        cities = list(islice(coined_words(syllables("city_parts"), set()), population.institutions))
        order = self.draws.shuffled(len(cities), "cities", np.arange(len(cities))).tolist()
        self.cities = [cities[place] for place in order]
        self.institutions = [_institution(number, city) for number, city in enumerate(self.cities)]
        self.departments = [department for _, department, _ in research_fields()]

    def write(self, authors: Integers, owner: Integers, progress: Floats, field: Integers) -> list[dict[str, Any]]:
        """Write one record per mention: the number of its document, and its time and field of research."""
        if self.corpus.titles_only:
            return as_records({"name": self._names(authors, owner), "author": author_ids(authors)})
        place = self.population.institution(authors, progress)
        share = self.corpus.missing * MISSING["affiliations"]
        missing = self.draws.chance(share, "missing affiliations", owner, authors)
        columns = {
            "name": self._names(authors, owner),
            "affiliations": without_missing(self._affiliations(authors, owner, place, field), missing),
            "emails": self._emails(authors, owner, place),
            "ids": self._ids(authors, owner),
            "author": author_ids(authors),
        }
        return as_records(columns)

    def _names(self, authors: Integers, owner: Integers) -> list[str]:
        """Names in the style of the document; some without their middle initial."""
        namesakes = self.population.namesakes
        name = namesakes.name(authors)
        surname, initials = namesakes.key(name)
        given = namesakes.given(authors, name, initials)
        varied = self.draws.chance(self.corpus.variants, "varied", owner)
        style = np.where(varied, 1 + self.draws.below(STYLES - 1, "style", owner), 0)
        short_form = self.draws.chance(self.corpus.initials_only, "initials only", owner)
        style = np.where(short_form, np.array(INITIALS_STYLES)[style], style)
        dropped = self.draws.chance(self.corpus.dropped_initials, "dropped", owner, authors)
        rows = zip(style.tolist(), surname.tolist(), given.tolist(), initials.tolist(), dropped.tolist(), strict=True)
        written = []
        for s, family, first, letters, short in rows:
            key = namesakes.initials[letters]
            spelling = namesakes.ascii_surnames if s == ASCII_STYLE else namesakes.surnames
            written.append(write_name(s, spelling[family], namesakes.given_names[first], key[0] if short else key))
        return written

    def _affiliations(self, authors: Integers, owner: Integers, place: Integers, field: Integers) -> list[list[str]]:
        second = self.population.second_institution(authors)
        printed = self.draws.chance(WITH_DEPARTMENT, "department", owner)
        rows = zip(place.tolist(), second.tolist(), field.tolist(), printed.tolist(), strict=True)
        return [self._affiliation(*row) for row in rows]

    def _affiliation(self, place: int, second: int, field: int, department: bool) -> list[str]:
        first = self.institutions[place]
        if department:
            first = f"Department of {self.departments[field]}, {first}"
        return [first, self.institutions[second]] if second >= 0 and second != place else [first]

    def _emails(self, authors: Integers, owner: Integers, place: Integers) -> list[list[str] | None]:
        """The e-mail address of the corresponding author, if the document prints one."""
        first = np.concatenate([[True], owner[1:] != owner[:-1]])
        last = np.concatenate([first[1:], [True]])
        corresponds = np.where(self.draws.chance(LAST_CORRESPONDS, "last corresponds", owner), last, first)
        corresponds &= self.draws.chance(CORRESPONDING_EMAIL, "e-mail", owner)
        emails: list[list[str] | None] = [None] * len(authors)
        where = np.flatnonzero(corresponds)
        for mention, address in zip(where.tolist(), self._addresses(authors[where], place[where]), strict=True):
            emails[mention] = [address]
        return emails

    def _addresses(self, authors: Integers, place: Integers) -> list[str]:
        """Each author's e-mail address at an institution; an author always uses the same form."""
        namesakes = self.population.namesakes
        name = namesakes.name(authors)
        surname, initials = namesakes.key(name)
        given = namesakes.given(authors, name, initials)
        digit = self.draws.below(2 * MAIL_DIGITS, "digit", authors)
        rows = zip(surname.tolist(), given.tolist(), digit.tolist(), place.tolist(), strict=True)
        addresses = []
        for s, g, d, p in rows:
            family, first = namesakes.ascii_surnames[s], namesakes.given_names[g]
            local = f"{first}.{family}" if d >= MAIL_DIGITS else f"{first[0]}{family}{d}"
            addresses.append(f"{local}@{self.cities[p]}.example".lower())
        return addresses

    def _ids(self, authors: Integers, owner: Integers) -> list[dict[str, str] | None]:
        given = self.draws.chance(IDENTIFIED, "identified", authors)
        given &= self.draws.chance(IDENTIFIED_DOCUMENT, "identified here", authors, owner)
        rows = zip(given.tolist(), authors.tolist(), strict=True)
        return [{"orcid": orcid(author)} if has else None for has, author in rows]


def author_ids(authors: Integers) -> list[str]:
    """The gold labels of authors."""
    return [f"a{author:06d}" for author in authors.tolist()]


def orcid(author: int) -> str:
    """The ORCID iD of an author, with a valid check digit (ISO 7064), in a range that is not assigned.

    >>> orcid(0)
    '0000-0007-0000-0002'
    """
    digits = f"00000007{author % 10**7:07d}"
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    text = digits + ("X" if check == 10 else str(check))
    return "-".join(text[start : start + 4] for start in range(0, 16, 4))


def _institution(number: int, city: str) -> str:
    forms, countries = lines("institutions"), words("countries")
    return forms[number % len(forms)].format(city=city, country=countries[number % len(countries)])


# References

# Number of candidate references to documents of the community and of the field; not all of them are cited.
GROUP_REFERENCES, FIELD_REFERENCES = 6, 5
GROUP_RECENCY = 2.0  # higher: more recent documents of the own community
CROSS_TEAM_REFERENCE = 0.3  # share of candidates by other teams that are cited
FIELD_REFERENCE = 0.6  # share of candidates of the field that are cited
SELF_REFERENCE = 0.4  # probability that an author cites the document that he or she led
NO_AUTHOR = NO_DOCUMENT = -1
CITING_AUTHORS = 4  # number of authors, from the first, who may cite themselves
# Number of candidates for referenced authors, given by name as in exports that do not resolve references.
GROUP_NAMES, FIELD_NAMES = 3, 4
REFERENCED_NAME = 0.6  # share of candidates that are named


class Citations:
    """Draws reference lists."""

    def __init__(self, population: Population) -> None:
        self.population = population
        self.draws = population.draws

    def references(self, number: Integers, authors: Integers) -> list[list[str]]:
        """Ids of cited earlier documents: by the authors themselves, their community and their field."""
        parts = (
            self._own_work(number, authors[:, :CITING_AUTHORS]),
            self._group_work(number),
            self._field_work(number),
        )
        cited = np.concatenate(parts, axis=1)
        return _selected(cited, (cited != NO_DOCUMENT) & (cited < number[:, None]), document_ids)

    def _own_work(self, number: Integers, authors: Integers) -> Integers:
        cites = self.draws.chance(SELF_REFERENCE, "self-citation", number[:, None], authors) & (authors != NO_AUTHOR)
        return np.where(cites, self.population.debut(authors), NO_DOCUMENT)

    def _group_work(self, number: Integers) -> Integers:
        """Earlier documents of the same community: all of the same team, some of other teams."""
        turn, community = (part[:, None] for part in self.population.round_and_community(number))
        address = number[:, None], np.arange(GROUP_REFERENCES)
        back = self.draws.unit("group reference", *address) ** GROUP_RECENCY * turn
        earlier = turn - 1 - back.astype(np.int64)
        same = self.population.team(earlier, community) == self.population.team(turn, community)
        kept = same | self.draws.chance(CROSS_TEAM_REFERENCE, "other team", *address)
        return np.where(kept & (earlier >= 0), earlier * self.population.communities + community, NO_DOCUMENT)

    def _field_work(self, number: Integers) -> Integers:
        turn, community = (part[:, None] for part in self.population.round_and_community(number))
        address = number[:, None], np.arange(FIELD_REFERENCES)
        peer = self.population.peers(community, "field reference", *address)
        earlier = self.draws.below(np.maximum(turn, 1), "field round", *address)
        kept = self.draws.chance(FIELD_REFERENCE, "cites field", *address)
        return np.where(kept, earlier * self.population.communities + peer, NO_DOCUMENT)

    def between_collaborations(self, document: Integers) -> list[list[str]]:
        """Ids of cited earlier documents of collaborations: of the same one, and of any."""
        collaborations = self.population.collaborations
        turn, collaboration = (part[:, None] for part in collaborations.round_and_collaboration(document))
        address = FIRST_DOCUMENT + document[:, None], np.arange(GROUP_REFERENCES)
        earlier = turn - 1 - (self.draws.unit("group reference", *address) ** GROUP_RECENCY * turn).astype(np.int64)
        own = np.where(earlier >= 0, earlier * collaborations.count + collaboration, NO_DOCUMENT)
        address = FIRST_DOCUMENT + document[:, None], np.arange(FIELD_REFERENCES)
        any_one = self.draws.below(np.maximum(document[:, None], 1), "field reference", *address)
        kept = self.draws.chance(FIELD_REFERENCE, "cites field", *address) & (any_one < document[:, None])
        cited = np.concatenate([own, np.where(kept, any_one, NO_DOCUMENT)], axis=1)
        return _selected(cited, cited != NO_DOCUMENT, collaboration_ids)

    def referenced_authors(self, number: Integers) -> list[list[str]]:
        """Names of authors of the community and the field who have published already."""
        turn, community = (part[:, None] for part in self.population.round_and_community(number))
        address = number[:, None], np.arange(GROUP_NAMES + FIELD_NAMES)
        peer = self.population.peers(community, "field name", *address)
        where = np.where(np.arange(GROUP_NAMES + FIELD_NAMES) < GROUP_NAMES, community, peer)
        begun = np.maximum(1, self.population.progress(turn) * MEMBERS).astype(np.int64)
        named = where * MEMBERS + self.draws.below(begun, "named", *address)
        return _selected(named, self.draws.chance(REFERENCED_NAME, "names", *address), self.population.namesakes.short)


def document_ids(number: Integers) -> list[str]:
    """The ids of ordinary documents."""
    return [f"d{n:07d}" for n in number.tolist()]


def collaboration_ids(document: Integers) -> list[str]:
    """The ids of documents of collaborations."""
    return [f"c{n:07d}" for n in document.tolist()]


def _selected(values: Integers, chosen: Flags, write: Callable[[Integers], list[str]]) -> list[list[str]]:
    """Write the chosen values of each row, each once."""
    rows = split_by_counts(write(values[chosen]), chosen.sum(axis=1))
    return [list(dict.fromkeys(row)) for row in rows]


# Documents

BATCH = 1024  # documents per batch: enough to make numpy calls cheap, few enough to take little memory
MAX_BATCH_MENTIONS = 8192  # mentions per batch of documents with many authors
FIRST_YEAR, LAST_YEAR = 1990, 2018
GROWTH = 0.7  # time is progress to this power, so that later years have more documents
SECOND_CATEGORY = 0.3  # share of documents with a neighbouring field as second category


class DocumentBatch(NamedTuple):
    """Some documents, and the numbers of all their authors in order."""

    documents: list[dict[str, Any]]
    authors: Integers


def documents(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Yield documents until they have the required number of mentions.

    >>> first = next(documents(Corpus(mentions=1000)))
    >>> first["id"], first["year"], sorted(first["authors"][0])[:2]
    ('d0000000', 1990, ['author', 'name'])
    """
    for batch in batches(corpus, Population(corpus)):
        yield from batch.documents


def batches(corpus: Corpus, population: Population) -> Iterator[DocumentBatch]:
    """Yield documents in batches: the ordinary ones, then those of collaborations."""
    writer = DocumentWriter(corpus, population)
    yield from _ordinary_batches(corpus, writer)
    size = max(1, MAX_BATCH_MENTIONS // corpus.collaboration_authors)
    last = population.collaborations.documents
    for start in range(0, last, size):
        yield writer.collaboration_batch(np.arange(start, min(start + size, last)))


def _ordinary_batches(corpus: Corpus, writer: DocumentWriter) -> Iterator[DocumentBatch]:
    """Yield ordinary documents in batches; the last document completes the required number of mentions."""
    start, left = 0, corpus.mentions
    while left > 0:
        number = np.arange(start, start + BATCH)
        authors_of = writer.population.number_of_authors(number)
        needed = int(np.searchsorted(np.cumsum(authors_of), left)) + 1
        batch = writer.batch(number[:needed], authors_of[:needed])
        yield batch
        start, left = start + BATCH, left - len(batch.authors)


class DocumentWriter:
    """Writes documents."""

    def __init__(self, corpus: Corpus, population: Population) -> None:
        self.corpus, self.population = corpus, population
        self.draws = population.draws
        self.text = TextWriter(population)
        self.mentions = MentionWriter(corpus, population)
        self.citations = Citations(population)

    def batch(self, number: Integers, authors_of: Integers) -> DocumentBatch:
        """The ordinary documents with these numbers and these numbers of authors."""
        writers = self.population.writers(number)
        chosen = np.arange(writers.shape[1]) < authors_of[:, None]
        authors = writers[chosen]
        turn, _ = self.population.round_and_community(number)
        progress = self.population.progress(turn)
        field = authors // MEMBERS % self.population.fields
        columns = {
            "id": document_ids(number),
            **self._about(number, progress, self.population.topic(number, writers[:, 0])),
            "authors": self._mentions(number, authors, authors_of, progress, field),
            "references": self.citations.references(number, np.where(chosen, writers, NO_AUTHOR)),
            "referenced_authors": self.citations.referenced_authors(number),
        }
        return DocumentBatch(self._with_missing(number, columns), authors)

    def collaboration_batch(self, document: Integers) -> DocumentBatch:
        """Documents of collaborations, their authors in the order of the alphabet."""
        collaborations, fields = self.population.collaborations, self.text.fields
        authors, authors_of = collaborations.writers(document)
        owner = np.repeat(np.arange(len(document)), authors_of)
        authors = authors[np.lexsort((*self.population.namesakes.alphabetical(authors), owner))]
        number, progress = FIRST_DOCUMENT + document, collaborations.progress(document)
        topic = collaborations.topic(document, len(fields), self.text.topics_per_field)
        columns = {
            "id": collaboration_ids(document),
            **self._about(number, progress, topic),
            "authors": self._mentions(
                number, authors, authors_of, progress, np.repeat(topic // self.text.topics_per_field, authors_of)
            ),
            "references": self.citations.between_collaborations(document),
        }
        return DocumentBatch(self._with_missing(number, columns), authors)

    def _about(self, number: Integers, progress: Floats, topic: Integers) -> dict[str, Iterable[Any]]:
        """Texts, year, venue, categories and keywords of documents."""
        titles, abstracts = self.text.write(
            number, topic, abstracts=self.corpus.abstracts and not self.corpus.titles_only
        )
        return {
            "title": titles,
            "abstract": abstracts,
            "year": self._years(progress),
            "venue": self._venues(number, topic),
            "categories": self._categories(number, topic),
            "keywords": self._keywords(number, topic),
        }

    def _mentions(
        self, number: Integers, authors: Integers, authors_of: Integers, progress: Floats, field: Integers
    ) -> list[list[dict[str, Any]]]:
        """The records of the authors of each document."""
        owner, time = np.repeat(number, authors_of), np.repeat(progress, authors_of)
        return split_by_counts(self.mentions.write(authors, owner, time, field), authors_of)

    def _with_missing(self, number: Integers, columns: dict[str, Iterable[Any]]) -> list[dict[str, Any]]:
        """The documents, some of them without some of the fields."""
        if self.corpus.titles_only:
            columns = {name: columns[name] for name in TITLE_FIELDS}
        for name in [name for name in columns if name in MISSING]:
            missing = self.draws.chance(self.corpus.missing * MISSING[name], f"missing {name}", number)
            columns[name] = without_missing(columns[name], missing)
        return as_records(columns)

    def _years(self, progress: Floats) -> list[int]:
        passed = progress**GROWTH * (LAST_YEAR + 1 - FIRST_YEAR)
        years: list[int] = np.minimum(FIRST_YEAR + passed.astype(np.int64), LAST_YEAR).tolist()
        return years

    def _venues(self, number: Integers, topic: Integers) -> list[str]:
        place = self.draws.below(VENUES_PER_TOPIC, "venue", number)
        return [self.text.venues[t][p] for t, p in zip(topic.tolist(), place.tolist(), strict=True)]

    def _categories(self, number: Integers, topic: Integers) -> list[list[str]]:
        """The field of each document, and for some a neighbouring field."""
        names = [field[0] for field in self.text.fields]
        first = topic // self.text.topics_per_field
        second = (first + 1 + topic % 3) % len(names)
        both = self.draws.chance(SECOND_CATEGORY, "second category", number) & (first != second)
        rows = zip(first.tolist(), second.tolist(), both.tolist(), strict=True)
        return [[names[f], names[s]] if b else [names[f]] for f, s, b in rows]

    def _keywords(self, number: Integers, topic: Integers) -> list[list[str]]:
        """Distinct keywords of each topic; those early in its list are more frequent."""
        place = np.arange(MAX_KEYWORDS)
        drawn = self.draws.unit("keyword", number[:, None], place) ** 2 * KEYWORDS_PER_TOPIC
        rows = zip(topic.tolist(), drawn.astype(np.int64).tolist(), strict=True)
        return [[self.text.keywords[t][k] for k in dict.fromkeys(row)] for t, row in rows]
