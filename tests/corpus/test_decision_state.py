"""What decisions mean: the newest wins, contradictions are found, undo restores."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.corpus.decision_state import RELATIONS, DecisionState, decision_state
from homonym.corpus.decision_store import Decision, NewDecision, add_decisions, add_undo, read_decisions
from tests.support.profiles import examples

MENTIONS = [f"W{number}#0" for number in range(6)]


def ordered(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a <= b else (b, a)


def row(number: int, kind: str, a: str, b: str, members: tuple[str, ...] = (), user: str = "ann") -> Decision:
    return Decision(number, "2026-01-01T00:00:00Z", user, kind, a, b, a, b, "", None, members)


def undo(number: int, of: int) -> Decision:
    return Decision(number, "2026-01-01T00:00:00Z", "ann", "undo", "", "", "", "", "", of)


def test_newest_decision_on_a_pair_wins() -> None:
    found = decision_state([row(1, "same", "x", "y"), row(2, "different", "y", "x")])
    assert found.pairs == {("x", "y"): False}
    assert [one.number for one in found.active] == [2]
    assert found.replaced[1].number == 2


def test_unsure_takes_back_what_was_decided() -> None:
    found = decision_state([row(1, "same", "x", "y"), row(2, "unsure", "x", "y")])
    assert found.pairs == {}
    assert [one.kind for one in found.active] == ["unsure"]


def test_older_decision_that_contradicts_newer_ones_is_overruled() -> None:
    rows = [row(1, "different", "x", "z", user="eve"), row(2, "same", "x", "y"), row(3, "same", "y", "z", user="bob")]
    found = decision_state(rows)
    assert found.pairs == {("x", "y"): True, ("y", "z"): True}
    assert {one.user for one in found.overruled[1].by} == {"ann", "bob"}


def test_undone_undo_makes_a_decision_valid_again() -> None:
    rows = [row(1, "same", "x", "y"), undo(2, 1), undo(3, 2)]
    assert decision_state(rows[:2]).pairs == {}
    assert decision_state(rows).pairs == {("x", "y"): True}


def test_undo_of_the_newest_decision_restores_the_one_before() -> None:
    rows = [row(1, "same", "x", "y"), row(2, "different", "x", "y"), undo(3, 2)]
    assert decision_state(rows).pairs == decision_state(rows[:1]).pairs


def test_mention_that_is_not_an_author_is_kept_from_all_its_mentions() -> None:
    found = decision_state([row(1, "is-not", "m", "a", members=("a", "b", "m"))])
    assert found.pairs == {("a", "m"): False, ("b", "m"): False}


def test_two_mentions_removed_from_one_author_may_be_one_author() -> None:
    rows = [row(1, "is-not", "m", "a", members=("a", "b", "c")), row(2, "is-not", "b", "a", members=("a", "c"))]
    assert ("b", "m") not in decision_state(rows).pairs


def test_newer_link_to_a_member_leaves_the_rest_of_the_removal() -> None:
    rows = [row(1, "is-not", "m", "a", members=("a", "b", "c")), row(2, "same", "m", "b")]
    assert decision_state(rows).pairs == {("a", "m"): False, ("c", "m"): False, ("b", "m"): True}


def test_repeated_removal_keeps_members_of_the_first() -> None:
    rows = [row(1, "is-not", "m", "a", members=("a", "b")), row(2, "different", "m", "a")]
    assert decision_state(rows).pairs == {("a", "m"): False, ("b", "m"): False}


def components(pairs: dict[tuple[str, str], bool]) -> list[set[str]]:
    """Connected components of the must-links, by repeated union of sets."""
    found = [{one} for one in {mention for pair in pairs for mention in pair}]
    for (a, b), same in pairs.items():
        if same:
            joined = [part for part in found if part & {a, b}]
            found = [part for part in found if not part & {a, b}] + [set().union(*joined)]
    return found


def is_consistent(pairs: dict[tuple[str, str], bool]) -> bool:
    return all(pairs.get(ordered(a, b), True) for part in components(pairs) for a, b in combinations(sorted(part), 2))


def plain_state(rows: list[Decision]) -> dict[tuple[str, str], bool]:
    """What holds, by trying every decision on its own: a plain model for decisions without members."""
    undone: set[int] = set()
    for one in reversed(rows):
        if one.undoes is not None and one.number not in undone:
            undone.add(one.undoes)
    pairs: dict[tuple[str, str], bool] = {}
    seen = set()
    for one in reversed(rows):
        pair = ordered(one.mention_a, one.mention_b)
        if one.kind == "undo" or one.number in undone or pair in seen:
            continue
        seen.add(pair)
        tried = pairs | {pair: RELATIONS[one.kind] == "same"}
        if one.kind != "unsure" and is_consistent(tried):
            pairs = tried
    return pairs


@st.composite
def histories(draw: st.DrawFn) -> list[Decision]:
    rows: list[Decision] = []
    for number in range(1, draw(st.integers(1, 14)) + 1):
        open_rows = [one.number for one in rows if one.number not in {row.undoes for row in rows}]
        if open_rows and draw(st.integers(0, 4)) == 0:
            rows.append(undo(number, draw(st.sampled_from(open_rows))))
            continue
        a, b = draw(st.lists(st.sampled_from(MENTIONS), min_size=2, max_size=2, unique=True))
        rows.append(row(number, draw(st.sampled_from(["same", "different", "unsure"])), a, b))
    return rows


@given(histories())
@settings(max_examples=examples(600))
def test_state_is_that_of_the_plain_model(rows: list[Decision]) -> None:
    found = decision_state(rows)
    assert found.pairs == plain_state(rows)
    decided = [one for one in rows if one.kind != "undo"]
    parts = ({one.number for one in found.active}, found.replaced, found.overruled, found.undone)
    assert all(sum(one.number in part for part in parts) == 1 for one in decided)
    for number, overruled in found.overruled.items():
        assert overruled.by
        assert all(one.number > number for one in overruled.by)


@given(histories())
@settings(max_examples=examples(200))
def test_undo_of_the_last_row_restores_the_state_before(rows: list[Decision]) -> None:
    after = decision_state([*rows, undo(len(rows) + 1, len(rows))])
    before = decision_state(rows[:-1])
    assert (after.pairs, after.active) == (before.pairs, before.active)


def new(kind: str, a: str, b: str, user: str = "ann") -> NewDecision:
    return NewDecision(kind, a, b, a, "" if kind in {"name", "wrong-record"} else b, "why", user)


def test_absent_file_means_no_decisions(tmp_path: Path) -> None:
    assert decision_state(read_decisions(tmp_path)) == DecisionState()
    assert list(tmp_path.iterdir()) == []


def test_names_records_and_curated_mentions(tmp_path: Path) -> None:
    decisions = [new("name", "x", "Old"), new("name", "x", "New"), new("wrong-record", "W9", ""), new("is", "m", "x")]
    add_decisions(tmp_path, decisions)
    found = decision_state(read_decisions(tmp_path))
    assert found.names == {"x": "New"}
    assert found.wrong_records == {"W9"}
    assert found.curated == {"x", "m"}
    add_undo(tmp_path, 2, user="bob", reason="")
    assert decision_state(read_decisions(tmp_path)).names == {"x": "Old"}


def test_the_smaller_id_of_a_pair_is_first(tmp_path: Path) -> None:
    add_decisions(tmp_path, [new("same", "z", "y"), new("different", "b", "a")])
    assert decision_state(read_decisions(tmp_path)).pairs == {("y", "z"): True, ("a", "b"): False}
