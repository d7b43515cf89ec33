"""The values that an explanation consists of: authors with their papers, merges, and compared clusters."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from homonym.errors import year_range

Kind = Literal["name", "author", "pair"]
PartKind = Literal["feature", "smoothing", "chance", "full name"]


@dataclass(frozen=True)
class ExplainedMention:
    """A mention with its name, title, year and venue."""

    mention_id: str
    name: str
    title: str | None
    year: int | None
    venue: str | None


@dataclass(frozen=True)
class ExplainedAuthor:
    """An author with its mentions, by year. `reasons` are sentences about it, if the question is about its name."""

    author_id: str
    name: str
    mentions: tuple[ExplainedMention, ...]
    reasons: tuple[str, ...] = ()

    @property
    def years(self) -> str:
        """The first and the last year, as far as they are known."""
        known = [mention.year for mention in self.mentions if mention.year is not None]
        return year_range(min(known, default=None), max(known, default=None))


@dataclass(frozen=True)
class EvidencePart:
    """One part of a score: `value` is what it adds to it, and `share` the same in multiples of the limit.

    A feature also has its `frequency`, #(f), and its `rarity`, a human-readable frequency.
    """

    kind: PartKind
    type: str
    feature: str
    value: float
    share: float
    frequency: float | None = None
    rarity: str = ""


@dataclass(frozen=True)
class ComparedClusters:
    """Two clusters of mentions, and why they were merged or not. The parts sum to the score.

    The score is that of `left` given `right`. It must exceed `limit` and `chance_limit`; `share` is the score in
    multiples of the higher one. `round` is that of the merge, None if they were not merged. `links` are must-links,
    `barriers` cannot-links between them, and `needed` says without which evidence they would not have been merged.
    `unused` are identifiers that both have, though they were not used.
    """

    left: tuple[str, ...]
    right: tuple[str, ...]
    score: float
    limit: float
    chance_limit: float
    share: float
    factor: float
    round: int | None
    parts: tuple[EvidencePart, ...]
    links: tuple[str, ...] = ()
    barriers: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def limit_name(self) -> str:
        """The limit that matters: the higher one."""
        return "chance limit" if self.chance_limit > self.limit else "limit"


@dataclass(frozen=True)
class OtherAuthor:
    """An author that was not merged with the one in question, and their comparison."""

    author: ExplainedAuthor
    comparison: ComparedClusters


@dataclass(frozen=True)
class TreeMerge:
    """A merge in the tree: each side is a mention id or the number of an earlier merge.

    `score` and `share`, the score in multiples of the limit, are None for must-links.
    """

    number: int
    left: str | int
    right: str | int
    round: int | None
    score: float | None
    share: float | None
    author_id: str


@dataclass(frozen=True)
class Explanation:
    """Why mentions of one name are one author or several.

    `answer` is the short answer. `block` has `mentions` mentions of `authors_of_name` authors. `authors` are those in
    question, and `merges` their tree. `merge` is the decisive comparison: the merge that joined two mentions, the
    last merge of an author, or what keeps two authors apart. `direct` compares two single mentions, unless `merge`
    does. `others` are the best partners that an author was not merged with.
    """

    kind: Kind
    block: str
    answer: str
    mentions: int
    authors_of_name: int
    mentions_in_collection: int
    limit: float
    together: bool | None
    authors: tuple[ExplainedAuthor, ...]
    merges: tuple[TreeMerge, ...]
    merge: ComparedClusters | None = None
    direct: ComparedClusters | None = None
    others: tuple[OtherAuthor, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All values as JSON values; numbers that JSON cannot represent are null."""
        found = _plain(asdict(self))
        assert isinstance(found, dict)
        return found

    def __str__(self) -> str:
        from homonym.explanation.wording import explanation_text

        return explanation_text(self)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
