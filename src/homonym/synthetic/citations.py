"""What documents cite: earlier documents of the corpus, and authors by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homonym.synthetic.columns import grouped
from homonym.synthetic.noise import Flags, Integers
from homonym.synthetic.population import MEMBERS, Population

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
