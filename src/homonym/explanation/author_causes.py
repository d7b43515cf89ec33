"""Why the authors of a result are others than the clustering alone would make: decisions, updates, other names.

The tables of a result show authors in three steps. The clustering of a block gives clusters. Identifiers, the user's
pairs and earlier updates make *undecided* authors of these. Decisions of users make the authors that are shown.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from homonym.collection.author_summaries import main_ids
from homonym.constraints.must_link import PAIR
from homonym.corpus.applied_decisions import AppliedDecisions
from homonym.corpus.decision_conflicts import said
from homonym.corpus.decision_state import RELATIONS, document_of
from homonym.corpus.decision_store import DIFFERENT, SAME, UNDO, UNSURE, WRONG_RECORD, Decision
from homonym.errors import counted, word_list
from homonym.explanation.explained import ExplainedMention
from homonym.io.result_directory import AUTHORS, DOCUMENTS, MENTIONS, UNDECIDED
from homonym.io.tables import look_up, reading_result_file
from homonym.records.fields.identifiers import PERSON_ASSIGNED

# Maximum number of decisions in an answer, and of characters of the reason of one.
LISTED_DECISIONS, LONGEST_REASON = 5, 100


@dataclass(frozen=True)
class AuthorMention:
    """A mention of an author with mentions in several blocks."""

    mention_id: str
    name: str
    block: str
    document_id: str
    constraint: str


@dataclass(frozen=True, eq=False)
class AuthorCauses:
    """What made the authors of some blocks.

    `author` is the author of each mention, for all mentions of these authors, and `undecided` the author without
    decisions, where that is another one. `united` has all mentions of authors with mentions in several blocks, by
    author, and `identifiers` those of such authors that link names, by author and kind. `documents` are theirs.
    `names` are the names that the table of authors has.
    """

    author: Mapping[str, str] = field(default_factory=dict)
    undecided: Mapping[str, str] = field(default_factory=dict)
    decisions: AppliedDecisions = field(default_factory=AppliedDecisions)
    united: Mapping[str, Sequence[AuthorMention]] = field(default_factory=dict)
    identifiers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    documents: Mapping[str, Mapping[str, str | int | None]] = field(default_factory=dict)
    names: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def read(cls, result: Path, authors: pa.ChunkedArray) -> AuthorCauses:
        """Read what made some authors of a result, given by their ids."""
        columns = ["mention_id", "document_id", "name", "block", "author_id", "constraint"]
        rows = look_up(result / MENTIONS, "author_id", pc.unique(authors), columns)
        author = dict(zip(rows["mention_id"].to_pylist(), rows["author_id"].to_pylist(), strict=True))
        united = _of_several_blocks(rows)
        return cls(
            author,
            _undecided(result, author.keys()),
            AppliedDecisions.read(result),
            _by_author(united),
            _identifiers(result, pc.unique(united["author_id"])),
            _documents(result, pc.unique(united["document_id"])),
            _names(result, pc.unique(authors)),
        )

    def undecided_author(self, mention: str) -> str:
        """The author that a mention has without decisions."""
        return self.undecided.get(mention) or self.author[mention]

    def given_name(self, mentions: Iterable[str]) -> str | None:
        """The name that a user gave to the author with these mentions; of several, the newest."""
        wanted = {*mentions}
        return next((name for one, name in reversed(self._names.items()) if one in wanted), None)

    @cached_property
    def _names(self) -> dict[str, str]:
        return self.decisions.state.names

    # Together

    def links(self, C: Sequence[str], D: Sequence[str]) -> tuple[str, ...]:
        """Why mentions of C and D are one author, though the clustering has them apart."""
        ours, theirs = self._undecided_authors(C), self._undecided_authors(D)
        if not ours.isdisjoint(theirs):
            return (self._joined_before(min(ours & theirs), self.author[C[0]]),)
        found = self._decisions_between(ours, theirs, self.author[C[0]])
        return tuple(map(decided, found[:LISTED_DECISIONS])) or ("Decisions of users have joined them.",)

    def _joined_before(self, undecided: str, author: str) -> str:
        """Why mentions that a shown author has under one id, decisions aside, are together."""
        own = (one for one in self.united.get(author, ()) if self.undecided_author(one.mention_id) == undecided)
        if len({one.block for one in own}) > 1:
            return f"They are united by way of another name: by {self._link(author)}."
        return (
            "An earlier update made them one author, with the papers of that time. Update keeps its authors, unless "
            "the mode is rebuild."
        )

    def _decisions_between(self, ours: set[str], theirs: set[str], author: str) -> list[Decision]:
        """The decisions on the shortest way from some undecided authors to others, inside of a shown author."""
        near: dict[str, list[tuple[str, Decision]]] = defaultdict(list)
        for row in self._of_kind(SAME):
            if self.author.get(row.mention_a) == self.author.get(row.mention_b) == author:
                a, b = (self.undecided_author(one) for one in (row.mention_a, row.mention_b))
                near[a].append((b, row))
                near[b].append((a, row))
        way: dict[str, tuple[str, Decision] | None] = dict.fromkeys(sorted(ours))
        waiting = deque(way)
        while waiting:
            here = waiting.popleft()
            if here in theirs:
                return [*_way_back(way, here)]
            for other, row in near[here]:
                if other not in way:
                    way[other] = (here, row)
                    waiting.append(other)
        return []

    def _of_kind(self, relation: str) -> list[Decision]:
        return self._by_relation.get(relation, [])

    @cached_property
    def _by_relation(self) -> dict[str, list[Decision]]:
        """The decisions in force about these authors by what they say, the newest first."""
        found: dict[str, list[Decision]] = defaultdict(list)
        for row in reversed(self.decisions.state.active):
            if row.kind == WRONG_RECORD or row.mention_a in self.author or row.mention_b in self.author:
                found[RELATIONS.get(row.kind, row.kind)].append(row)
        return found

    # Apart

    def barriers(self, C: Sequence[str], D: Sequence[str]) -> tuple[str, ...]:
        """The decisions that keep C and D apart, which may be about mentions of their authors under other names."""
        state, authors = self.decisions.state, [self.author.get(side[0]) for side in (C, D)]
        ours, theirs = (
            {
                *side,
                *(one.mention_id for one in (self.united.get(author or "", ()) if authors[0] != authors[1] else ())),
            }
            for side, author in zip((C, D), authors, strict=True)
        )
        found = [row for row in (*self._of_kind(DIFFERENT), *self._of_kind(SAME)) if self._separates(row, ours, theirs)]
        alone = {document for one in (*C, *D) if state.is_alone(one, document := document_of(one))}
        found += [self._wrong[one] for one in sorted(alone)]
        if not found and authors[0] != authors[1] and self._undecided_authors(C) & self._undecided_authors(D):
            return ("Decisions of users keep them apart.",)
        return tuple(map(decided, found[:LISTED_DECISIONS]))

    def _undecided_authors(self, mentions: Iterable[str]) -> set[str]:
        return {self.undecided_author(one) for one in mentions if one in self.author}

    def _separates(self, row: Decision, C: set[str], D: set[str]) -> bool:
        others = {row.mention_b, *row.members}
        if row.mention_a not in C:
            C, D = D, C
        if row.mention_a not in C:
            return False
        return any(self.decisions.state.are_apart(row.mention_a, one) for one in others & D)

    @cached_property
    def _wrong(self) -> dict[str, Decision]:
        return {row.mention_a: row for row in self._of_kind(WRONG_RECORD)}

    # Other names

    def _elsewhere(self, author: str, block: str) -> list[AuthorMention]:
        return [one for one in self.united.get(author, ()) if one.block != block]

    def mentions_elsewhere(self, author: str, block: str) -> tuple[ExplainedMention, ...]:
        """The mentions of an author in other blocks than this one."""
        found = [
            ExplainedMention(one.mention_id, one.name, known.get("title"), known.get("year"), known.get("venue"))  # type: ignore[arg-type]
            for one in self._elsewhere(author, block)
            for known in (self.documents.get(one.document_id, {}),)
        ]
        return tuple(sorted(found, key=lambda one: (one.year is None, one.year or 0, one.mention_id)))

    def why_elsewhere(self, author: str, block: str, mentions: Sequence[str]) -> str:
        """A sentence about the mentions of an author in other blocks than this one, which has `mentions` of it."""
        others = self._elsewhere(author, block)
        names = "; ".join(sorted({one.block for one in others}))
        text = f"{counted(len(others), 'more mention')} of this author ({names})"
        ours, theirs = self._undecided_authors(mentions), self._undecided_authors(one.mention_id for one in others)
        if ours.isdisjoint(theirs) and (found := self._decisions_between(ours, theirs, author)):
            return f"{text}: united by {'; '.join(map(_cited, found[:LISTED_DECISIONS]))}, not by a score."
        more = [*self._joining(author)] if theirs - ours else []
        by = "; ".join([f"united by {self._link(author)}", *map(_cited, more[:LISTED_DECISIONS])])
        return f"{text}: {by}, not by a score."

    def _joining(self, author: str) -> Iterator[Decision]:
        """The decisions that made an author of several."""
        for row in self._of_kind(SAME):
            if self.author.get(row.mention_a) == self.author.get(row.mention_b) == author:
                yield row

    def _link(self, author: str) -> str:
        """What unites the mentions of an author in several blocks, decisions aside."""
        linked = {word for one in self.united.get(author, ()) for word in one.constraint.split(";")}
        known = self.identifiers.get(author, {})
        reasons = [f"the {kind} {value}" for kind, value in sorted(known.items()) if f"same:{kind}" in linked]
        reasons += ["your pairs (--pairs)"] if f"same:{PAIR}" in linked and not [*self._joining(author)] else []
        return word_list(reasons) or "a document that has left the result"

    def why_one_author(self, C: Sequence[str], D: Sequence[str]) -> tuple[str, ...]:
        """Why mentions of different names are one author."""
        ours, theirs = self._undecided_authors(C), self._undecided_authors(D)
        if ours.isdisjoint(theirs):
            found = self._decisions_between(ours, theirs, self.author[C[0]])
            return (*map(decided, found[:LISTED_DECISIONS]), "Without decisions they are two authors.")
        return (f"They are united by {self._link(self.author[C[0]])}, not by a score.",)

    def why_two_authors(self, C: Sequence[str], D: Sequence[str]) -> tuple[str, ...]:
        """The decisions that keep authors of different names apart; none if nothing else unites them."""
        ours, theirs = self._undecided_authors(C), self._undecided_authors(D)
        found = self.barriers(C, D)
        does = "one author" if not ours.isdisjoint(theirs) else "two authors, too"
        return (*found, f"Without decisions they are {does}.") if found else ()

    # Decisions as they are listed

    def about(self, mentions: Iterable[str]) -> tuple[str, ...]:
        """Sentences about all decisions that concern some mentions, applied and not yet applied."""
        wanted = {*mentions}
        wanted |= {document_of(one) for one in wanted}
        applied = [row for row in self.decisions.state.active if row.kind != UNSURE and _is_about(row, wanted)]
        return self._listed(applied, [row for row in self.decisions.pending if self._is_pending(row, wanted)])

    def about_pair(self, C: Iterable[str], D: Iterable[str]) -> tuple[str, ...]:
        """Sentences about the decisions on a mention of C with one of D, and on their records."""
        ours, theirs = {*C}, {*D}
        records = {document_of(one) for one in ours | theirs}

        def concerns(row: Decision) -> bool:
            if row.kind == UNDO:
                return any(one.number == row.undoes and concerns(one) for one in self.decisions.state.active)
            others = {row.mention_b, *row.members}
            return (
                (row.mention_a in ours and not others.isdisjoint(theirs))
                or (row.mention_a in theirs and not others.isdisjoint(ours))
                or (row.kind == WRONG_RECORD and row.mention_a in records)
            )

        state, pending = self.decisions.state, self.decisions.pending
        return self._listed(list(filter(concerns, state.active)), list(filter(concerns, pending)))

    @staticmethod
    def _listed(applied: Sequence[Decision], waiting: Sequence[Decision]) -> tuple[str, ...]:
        found = [decided(row) for row in applied[-LISTED_DECISIONS:]]
        if len(applied) > LISTED_DECISIONS:
            found.insert(0, f"{counted(len(applied), 'decision')} of users concern these mentions; the last ones are:")
        return (
            *found,
            *(
                f"{_first_upper(_cited(row))}: not applied yet; homonym update does that."
                for row in waiting[:LISTED_DECISIONS]
            ),
        )

    def _is_pending(self, row: Decision, wanted: set[str]) -> bool:
        if row.kind != UNDO:
            return _is_about(row, wanted)
        return any(one.number == row.undoes and _is_about(one, wanted) for one in self.decisions.state.active)


def decided(row: Decision) -> str:
    """A decision as a sentence of its own: who decided what, when and why.

    >>> decided(Decision(7, "2026-11-02T09:00:00Z", "ann", "same", "W1#0", "W2#0", "W1#0", "W2#0", "her page"))
    'Decision 7 (ann, 2026-11-02): W1#0 same W2#0 (“her page”).'
    """
    return f"{_first_upper(_cited(row))}."


def _cited(row: Decision) -> str:
    reason = " ".join(row.reason.split())
    reason = reason if len(reason) <= LONGEST_REASON else f"{reason[: LONGEST_REASON - 1]}…"
    what = (
        f"decision {row.number} ({row.user}, {row.time[:10]}): undo of {row.undoes}" if row.kind == UNDO else said(row)
    )
    return f"{what} (“{reason}”)" if reason else what


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _is_about(row: Decision, wanted: set[str]) -> bool:
    return row.mention_a in wanted or row.mention_b in wanted


def _way_back(way: Mapping[str, tuple[str, Decision] | None], here: str) -> Iterator[Decision]:
    while (step := way[here]) is not None:
        here, row = step
        yield row


def _undecided(result: Path, mentions: Iterable[str]) -> dict[str, str]:
    path = result / UNDECIDED
    if not path.exists():
        return {}
    with reading_result_file(path) as plain:
        rows = pq.read_table(plain, columns=["mention_id", "author_id"])
    wanted = {*mentions}
    pairs = zip(rows["mention_id"].to_pylist(), rows["author_id"].to_pylist(), strict=True)
    return {mention: author for mention, author in pairs if mention in wanted}


def _of_several_blocks(rows: pa.Table) -> pa.Table:
    """The rows of authors with mentions in several blocks."""
    pairs = rows.select(["author_id", "block"]).group_by(["author_id", "block"]).aggregate([])
    counts = pairs.group_by("author_id").aggregate([([], "count_all")])
    several = counts.filter(pc.greater(counts["count_all"], 1))["author_id"]
    return rows.filter(pc.is_in(rows["author_id"], several.combine_chunks()))


def _by_author(rows: pa.Table) -> dict[str, list[AuthorMention]]:
    found: dict[str, list[AuthorMention]] = defaultdict(list)
    for row in rows.to_pylist():
        found[row["author_id"]].append(
            AuthorMention(row["mention_id"], row["name"], row["block"], row["document_id"], row["constraint"] or "")
        )
    return found


def _identifiers(result: Path, authors: pa.Array) -> dict[str, dict[str, str]]:
    """The identifiers of authors that link names, by kind."""
    if not len(authors):
        return {}
    rows = look_up(result / AUTHORS, "author_id", authors, ["author_id", "ids"]).to_pylist()
    found = ((row["author_id"], main_ids(row["ids"])) for row in rows)
    return {author: {kind: ids[kind] for kind in PERSON_ASSIGNED if kind in ids} for author, ids in found}


def _names(result: Path, authors: pa.Array) -> dict[str, str | None]:
    rows = look_up(result / AUTHORS, "author_id", authors, ["author_id", "name"])
    return dict(zip(rows["author_id"].to_pylist(), rows["name"].to_pylist(), strict=True))


def _documents(result: Path, documents: pa.Array) -> dict[str, dict[str, str | int | None]]:
    if not len(documents):
        return {}
    rows = look_up(result / DOCUMENTS, "document_id", documents, ["document_id", "title", "year", "venue"])
    return {row["document_id"]: row for row in rows.to_pylist()}
