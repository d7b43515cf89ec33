"""The background of small collections: word and name frequencies that a collection of few names cannot count itself.

A librarian may export one name only. Then #(f) says how often this name has a feature, not how common the feature is.
So the collection is treated as if N_b mentions of other names were added to it:

    N = N_own + N_b,   n_t(·) = n_own · (1 + N_b/N_own),   #(f) = own(f) + N_b · n_own/N_own · p(f)

The other names have as many features per mention as the own ones. p(f) is the share of a feature in their mass:

    p(f) = (1 − a) · b(f) + a · own(f)/n_own,   a = N_own/(N_own + H_t)

b(f) is the background: how common a word or a name is elsewhere (0 for types without one). The own share a says how
much of other mentions is explained by the features of this collection. It is 1 for years and tiny for e-mail addresses.
A name of a co-author is as common as its surname and its given names together, assumed to be independent; both are
counted over the distinct names of the collection and of the background.

N_out is the number of mentions on documents without the most frequent name. Collections with N_out ≥ 10,000 speak for
themselves. With less, N_b = share · max(10,000, 20 · (N_own − N_out)) with share = 1 − N_out/10,000.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from homonym.clustering.arrays import Floats, Frequencies
from homonym.errors import counted
from homonym.io.word_lists import lines_of

# Mentions of other names from which on a collection needs no background. The labelled sets have 11,500 and more.
ENOUGH_OTHERS = 10_000
# Other mentions for each mention of the most frequent name and its co-authors. Chosen with labels in view: the mean F1
# of single AMiner names is lower by .004 with 15 and by .005 with 30, but one large name then loses .47 to .49.
OTHERS_PER_MENTION = 20
# H_t: the number of mentions whose features explain half of those of other mentions. Fitted without author labels, so
# that S summed over a name is about as high alone as inside its whole set: term and co on AMiner and PubMed, aff on
# AMiner, email on PubMed. Most of S is from pairs of one person. For cat (fitted: 27,000) and key (12,500) this is too
# high, because venues and keywords that two people share are common ones. They and year were chosen by F1: first
# 10,000 and 5,000 on AMiner and PubMed, which raised 15 single Chinese names from .82 to .92; then the values below,
# with these and machine learning in view. With 3,000 for cat, a large name of AMiner falls apart. ref is a guess.
HALF_EXPLAINED: Mapping[str, float] = {
    "term": 2e4, "cat": 7e3, "key": 3e3, "aff": 3e5, "co": 4e5, "ref": 1e5, "email": 1e7, "year": 0.0,
}  # fmt: skip
USUAL_HALF = 2e4
# Names of the collection that count as much as the whole background of names.
NAMES_FOR_HALF = 1000
# Types whose features are names of people.
NAME_TYPES = ("co", "ref")


class BackgroundUse(NamedTuple):
    """How much a collection leans on the background: the share, above 0 and up to 1, and N_b as `mentions`."""

    share: float
    mentions: int

    @classmethod
    def of(cls, mentions: int, largest: int) -> BackgroundUse | None:
        """The use in a collection; `largest` mentions are on documents of the most frequent name.

        >>> BackgroundUse.of(300, 300), BackgroundUse.of(6000, 1000), BackgroundUse.of(27_000, 2000)
        (BackgroundUse(share=1.0, mentions=10000), BackgroundUse(share=0.5, mentions=10000), None)
        """
        others = mentions - largest
        share = 1 - others / ENOUGH_OTHERS
        if not mentions or share <= 0:
            return None
        return cls(share, round(share * max(ENOUGH_OTHERS, OTHERS_PER_MENTION * largest)))

    def describe(self) -> str:
        """One sentence on what the result rests on."""
        others = round((1 - self.share) * ENOUGH_OTHERS)
        are = "is" if others == 1 else "are"
        few = f"only {counted(others, 'mention')} {are} on documents without its most frequent name"
        return (
            f"the collection has few other names ({few if others else 'all documents have its most frequent name'}), "
            f"so word and name frequencies of {self.mentions:,} mentions of US research grants (2008) are added, "
            f"and the limits are moved {100 * self.share:.0f} % of the way to the defaults; "
            "--background none turns this off"
        )


def largest_name_query(mentions: str) -> str:
    """SQL for the number of mentions on the documents of the name that has most; `mentions` is a query for all of them.

    Its columns are block and document.
    """
    return f"""
        WITH placed AS ({mentions}),
             sizes AS (SELECT document, count(*) AS mentions FROM placed GROUP BY document),
             names AS (SELECT DISTINCT block, document FROM placed)
        SELECT coalesce(max(covered), 0) AS covered FROM
          (SELECT sum(sizes.mentions) AS covered FROM names JOIN sizes ON sizes.document = names.document
           GROUP BY names.block) by_name"""


def add_background(own: Frequencies, features: Sequence[str], use: BackgroundUse) -> Frequencies:
    """The frequencies of a collection with its background; `features` are the names of all features, by number."""
    total, mass = own.total.copy(), own.mass.copy()
    for t, kind in enumerate(own.types):
        first, last = own.type_start[t : t + 2]
        names, count = features[first:last], own.total[first:last]
        added = use.mentions * float(own.mass[t]) / own.mentions
        half = HALF_EXPLAINED.get(kind, USUAL_HALF)
        a = own.mentions / (own.mentions + half)
        p = (1 - a) * background().shares(kind, names, count) + a * count / float(own.mass[t])
        total[first:last] = count + added * p
        mass[t] += added
    return replace(own, total=total, mass=mass, mentions=own.mentions + use.mentions)


@dataclass(frozen=True)
class NameCounts:
    """How often each surname and each sequence of given names occurs among `names` distinct names."""

    surnames: Mapping[str, int]
    given: Mapping[str, int]
    names: int

    def shares(self, own: NameCounts, name: tuple[str, str]) -> float:
        """The share of a name among all names: that of its surname times that of its given names.

        Own names count as well, except this one.
        """
        weight = own.names / (own.names + NAMES_FOR_HALF)
        share = 1.0
        for known, ours, part in zip((self.surnames, self.given), (own.surnames, own.given), name, strict=True):
            share *= (1 - weight) * known.get(part, 0) / self.names + weight * (ours[part] - 1) / own.names
        return share


@dataclass(frozen=True)
class Background:
    """The counts of package data: words with their total mass, and names."""

    terms: Mapping[str, int]
    mass: int
    people: NameCounts

    @cached_property
    def by_initials(self) -> NameCounts:
        """The same names, with initials instead of given names."""
        initials: Counter[str] = Counter()
        for given, count in self.people.given.items():
            initials["".join(word[0] for word in given.split())] += count
        return replace(self.people, given=initials)

    def shares(self, kind: str, features: Sequence[str], count: Floats) -> Floats:
        """b(f) of the features of one type, `count` times each in the collection."""
        if kind == "term":
            return np.array([self.terms.get(feature, 0) for feature in features]) / self.mass
        if kind in NAME_TYPES:
            return self._name_shares(features, count)
        return np.zeros(len(features))

    def _name_shares(self, features: Sequence[str], count: Floats) -> Floats:
        """The shares of names, those with full given names and those with initials each of their own mass."""
        is_full = np.array(["|" in feature for feature in features], bool)
        shares = np.zeros(len(features))
        for chosen, mark, known in ((is_full, "|", self.people), (~is_full, ", ", self.by_initials)):
            parts = [_split(features[place], mark) for place in np.flatnonzero(chosen).tolist()]
            if parts:
                own = _counted(parts)
                shares[chosen] = [known.shares(own, part) for part in parts]
                shares[chosen] *= count[chosen].sum() / count.sum()
        return shares

    def full_names(self, use: BackgroundUse) -> tuple[pa.Table, int]:
        """How many names have each surname and each first given name (`kind`, `name`, `names`), and how many there are.

        All are multiplied by the share of the background, as integers.
        """
        first: Counter[str] = Counter()
        for given, count in self.people.given.items():
            word = given.split()[0]
            first[word] += count if len(word) > 1 else 0
        rows = [("surname", *row) for row in _scaled(self.people.surnames, use)]
        rows += [("given", *row) for row in _scaled(first, use)]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
        schema = pa.schema([("kind", pa.string()), ("name", pa.string()), ("names", pa.int64())])
        table = pa.table([pa.array(column) for column in columns], schema=schema) if rows else schema.empty_table()
        return table, round(self.people.names * use.share)


def _split(name: str, mark: str) -> tuple[str, str]:
    surname, _, given = name.partition(mark)
    return surname, given


def _counted(parts: Iterable[tuple[str, str]]) -> NameCounts:
    surnames, given = zip(*parts, strict=True)
    return NameCounts(Counter(surnames), Counter(given), len(surnames))


def _scaled(counts: Mapping[str, int], use: BackgroundUse) -> Iterator[tuple[str, int]]:
    for name, count in counts.items():
        if scaled := round(count * use.share):
            yield name, scaled


@cache
def background() -> Background:
    """Read the package data."""
    counts: dict[str, dict[str, int]] = {"term": {}, "surname": {}, "given": {}}
    for line in lines_of("background", "homonym.collection"):
        kind, value, count = line.split("\t")
        counts[kind][value] = int(count)
    totals = {kind: values.pop("") for kind, values in counts.items()}
    return Background(counts["term"], totals["term"], NameCounts(counts["surname"], counts["given"], totals["surname"]))
