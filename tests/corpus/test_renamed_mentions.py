"""Which id a mention has now that had another one when a decision was made."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from homonym.corpus.renamed_mentions import GoneMention, MentionRenames, append_renames

IDS = st.sampled_from(["W1#0", "W1#1", "W1#2", "W2#0"])
STEPS = st.lists(st.tuples(st.integers(0, 4), st.dictionaries(IDS, IDS)), max_size=6)


def one_after_the_other(steps: list[tuple[int, dict[str, str]]], mention: str, decision: int) -> str:
    for last, renamed in steps:
        if decision <= last:
            mention = renamed.get(mention, mention)
    return mention


@given(STEPS, IDS, st.integers(1, 5))
def test_renames_hold_in_their_order(steps: list[tuple[int, dict[str, str]]], mention: str, decision: int) -> None:
    assert MentionRenames(steps).current(mention, decision) == one_after_the_other(steps, mention, decision)


def test_renames_of_several_updates_are_read_in_order(tmp_path: Path) -> None:
    assert not MentionRenames.read(tmp_path)
    gone = GoneMention("W1#1", "Doe, J").own_id
    append_renames(tmp_path, 1, {"W1#0": "W1#1", "W1#1": gone})
    append_renames(tmp_path, 2, {"W1#1": "W1#0"})
    found = MentionRenames.read(tmp_path)
    assert found
    assert [found.current(*asked) for asked in (("W1#0", 1), ("W1#1", 1), ("W1#1", 2), ("W1#0", 2))] == [
        "W1#0", gone, "W1#0", "W1#0",
    ]  # fmt: skip
