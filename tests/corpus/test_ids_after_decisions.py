"""Ids after decisions and undos, in a plain model: undecided authors that stay as they are, and updates without papers.

Whole results are updated in test_living_corpus.py and test_decisions_applied.py.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from homonym.collection.author_ids import anchor_digest
from homonym.constraints.evidence import UserPairs
from homonym.corpus.decided import Decided, apply_decisions, complete_parts, consistent_parts
from homonym.corpus.decision_state import decision_state
from homonym.corpus.decision_store import SAME, WRONG_RECORD, Decision
from homonym.corpus.ids import GivenIds

Said = tuple[str, str, str]
"""The kind of a decision and its mentions; a wrong record has its document, and no second mention."""


def author_id(anchor: str) -> str:
    return f"DOE, J/{anchor_digest(anchor)[:12]}"


# The first author has the mentions 0 to 3, the second one 4 to 9.
MENTIONS = [f"D{number}#0" for number in range(10)]
UNDECIDED = {one: author_id(MENTIONS[0 if number < 4 else 4]) for number, one in enumerate(MENTIONS)}
FIRST, SECOND = UNDECIDED[MENTIONS[0]], UNDECIDED[MENTIONS[9]]


def split(rows: pa.Table, author: Sequence[int], pairs: UserPairs) -> list[int]:
    """The parts of authors without any evidence: as large as the pairs allow."""
    mention_ids: list[str] = rows["mention_id"].to_pylist()
    stated = [
        (mention_ids.index(a), mention_ids.index(b), same)
        for a, b, same in zip(pairs.a, pairs.b, pairs.same, strict=True)
    ]
    parts = consistent_parts(author, stated)
    apart = [(a, b) for a, b, same in stated if not same]
    apart += [(a, b) for a in range(len(author)) for b in range(a) if author[a] != author[b]]
    return complete_parts(parts, apart)


class PlainCorpus:
    """The decisions about ten mentions, the authors that they are shown under, and where ids redirect to."""

    def __init__(self) -> None:
        self.rows: list[Decision] = []
        self.shown = dict(UNDECIDED)
        self.given = {*UNDECIDED.values()}
        self.redirects: dict[str, str] = {}

    def decide(self, said: Said) -> None:
        kind, a, b = said
        self.rows.append(Decision(len(self.rows) + 1, "2026-01-01T00:00:00Z", "ann", kind, a, b, a, b, "known"))

    def undo(self, number: int) -> None:
        row = Decision(len(self.rows) + 1, "2026-01-01T00:00:00Z", "ann", "undo", "", "", "", "", "", undoes=number)
        self.rows.append(row)

    def update(self) -> dict[str, str]:
        """Apply the decisions; returns the authors before."""
        state, before = decision_state(self.rows), self.shown
        pairs = tuple((a, b, same) for (a, b), same in state.pairs.items())
        decided = Decided(pairs, wrong=frozenset(state.wrong_records), curated=frozenset(state.curated))
        columns = {
            "mention_id": MENTIONS,
            "document_id": [one.partition("#")[0] for one in MENTIONS],
            "block": ["DOE, J"] * len(MENTIONS),
            "author_id": list(UNDECIDED.values()),
        }
        given = GivenIds(self.given, self._leading_to())
        years = [2000] * len(MENTIONS)
        ids = apply_decisions(pa.table(columns), years, decided, split, before, given)
        self.shown = dict(zip(MENTIONS, ids, strict=True))
        for gone in {*before.values()} - {*ids}:
            counts = Counter(self.shown[one] for one in MENTIONS if before[one] == gone)
            self.redirects[gone] = min(counts, key=lambda one: (-counts[one], one))
        for one in ids:
            self.redirects.pop(one, None)
        self.given |= {*ids}
        return before

    def _leading_to(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for one in self.redirects:
            end = one
            while end in self.redirects:
                end = self.redirects[end]
            found[end].add(one)
        return found

    def authors(self) -> set[frozenset[str]]:
        """The authors as sets of mentions."""
        members: dict[str, set[str]] = defaultdict(set)
        for mention, author in self.shown.items():
            members[author].add(mention)
        return {frozenset(some) for some in members.values()}


def corpus_after(decisions: Sequence[Said], *, at_once: bool) -> PlainCorpus:
    corpus = PlainCorpus()
    for said in decisions:
        corpus.decide(said)
        if not at_once:
            corpus.update()
    corpus.update()
    return corpus


JOINED, WRONG = (SAME, MENTIONS[1], MENTIONS[4]), (WRONG_RECORD, "D3", "")
booleans = st.booleans()


# The record of the first mention, which the id was made from, or another one.
@given(at_once=booleans, same_first=booleans, wrong=st.sampled_from(["D0", "D3"]))
def test_wrong_record_does_not_take_the_id_of_an_author_that_is_joined(
    at_once: bool, same_first: bool, wrong: str
) -> None:
    said = (WRONG_RECORD, wrong, "")
    corpus = corpus_after([JOINED, said] if same_first else [said, JOINED], at_once=at_once)
    assert {corpus.shown[one] for one in MENTIONS if one[:2] != wrong} == {SECOND}
    assert corpus.shown[f"{wrong}#0"] not in {FIRST, SECOND}
    assert corpus.redirects[FIRST] == SECOND


@given(at_once=booleans, same_first=booleans, wrong_is_undone=booleans)
def test_undo_gives_the_same_ids_as_without_the_decision(
    at_once: bool, same_first: bool, wrong_is_undone: bool
) -> None:
    decisions = [JOINED, WRONG] if same_first else [WRONG, JOINED]
    undone = WRONG if wrong_is_undone else JOINED
    corpus = corpus_after(decisions, at_once=at_once)
    corpus.undo(decisions.index(undone) + 1)
    corpus.update()
    assert corpus.shown == corpus_after([one for one in decisions if one != undone], at_once=at_once).shown
    assert all(len(one) < 30 for one in corpus.shown.values())


def test_id_of_a_wrong_record_returns_to_a_record_that_is_wrong_no_more() -> None:
    corpus = PlainCorpus()
    for number in range(4):
        corpus.decide((WRONG_RECORD, f"D{number}", ""))
        corpus.update()
    assert corpus.shown["D3#0"] == FIRST
    corpus.undo(2)
    corpus.update()
    assert corpus.shown["D1#0"] == FIRST
    assert corpus.shown["D3#0"] != FIRST


mentions = st.sampled_from(MENTIONS)
pairs = st.tuples(st.sampled_from(["same", "different"]), mentions, mentions).filter(lambda said: said[1] != said[2])
wrong_records = mentions.map(lambda one: (WRONG_RECORD, one.partition("#")[0], ""))


@given(st.lists(st.tuples(pairs | wrong_records, booleans), min_size=1, max_size=6), st.data())
def test_no_id_is_given_to_strangers_and_undo_restores_all_authors(
    history: list[tuple[Said, bool]], data: st.DataObject
) -> None:
    corpus, number = PlainCorpus(), data.draw(st.integers(1, len(history)))
    for said, is_applied in history:
        corpus.decide(said)
        if is_applied:
            require_no_strangers(corpus.update(), corpus.shown)
    corpus.undo(number)
    require_no_strangers(corpus.update(), corpus.shown)
    without = [said for place, (said, _) in enumerate(history, 1) if place != number]
    assert corpus.authors() == corpus_after(without, at_once=True).authors()


def require_no_strangers(before: dict[str, str], after: dict[str, str]) -> None:
    """An id that authors had before and after has a mention in common, or returns to its own undecided author."""
    for author in {*before.values()} & {*after.values()}:
        assert any(after[one] == author in {before[one], UNDECIDED[one]} for one in MENTIONS), author
