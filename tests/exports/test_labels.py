"""Labels of authors: unique after every usual reduction, with the surname that our parser finds."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.exports.labels import display_name, dotted_name, reductions, short_name, unique_labels
from homonym.names.parse import parse_name
from tests.support.profiles import examples

WORDS = st.sampled_from(
    ["Wang", "Wei", "W.", "W", "de", "la", "Cruz", "Jr", "III", "And", "O'Neil", "Łuk", "Jan-Ole", "JW"]
)
WITH_COMMA = st.builds("{}, {}".format, WORDS, st.lists(WORDS, min_size=1, max_size=3).map(" ".join))
NAME = st.one_of(WITH_COMMA, st.lists(WORDS, min_size=1, max_size=4).map(" ".join), st.text(max_size=12))


def initials_only(label: str) -> str:
    """How bibliometrix abbreviates: the surname, and the first letter of each given name."""
    surname, _, given = label.upper().partition(",")
    return f"{surname.strip()} {''.join(word[0] for word in given.split())}"


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(NAME, st.integers(1, 3)), max_size=40))
def test_labels_differ_after_every_reduction(people: list[tuple[str, int]]) -> None:
    people = [(name, number) for name, number in people if parse_name(name).surname]
    labels = unique_labels(
        [name for name, _ in people], [n for _, n in people], [f"a{i:03}" for i in range(len(people))]
    )
    for form in (str.lower, short_name, dotted_name, initials_only):
        assert len({form(label) for label in labels}) == len(people)
    for label in labels:
        assert not re.search(r"[;\t\n{}\[\]/|=\"<>&\d]", label)
        assert label.count(",") <= 1
    seen: dict[str, str] = {}
    for label in labels:
        for reduced in reductions(label):
            assert seen.setdefault(reduced, label) == label


@settings(max_examples=examples(300))
@given(WITH_COMMA)
def test_display_name_is_read_as_the_name(name: str) -> None:
    parsed = parse_name(name)
    if parsed.surname and parsed.initials:  # a surname of several words alone looks like a whole name
        shown = parse_name(display_name(name))
        assert shown.surname.replace(" ", "") == parsed.surname.replace(" ", "")


def test_addition_is_read_as_initial_of_the_same_surname() -> None:
    labels = unique_labels(["Wang, Wei"] * 800, [1] * 800, [f"a{i:03}" for i in range(800)])
    assert labels[:3] == ["Wang, Wei", "Wang, Wei B", "Wang, Wei C"]
    assert {parse_name(label).surname for label in labels} == {"WANG"}
    assert {parse_name(label).given[0] for label in labels} == {"WEI"}
    assert len({parse_name(label).key for label in labels}) == 800


def test_most_frequent_author_has_no_addition() -> None:
    assert unique_labels(["Li, X", "Li, Xu"], [1, 5], ["a", "b"]) == ["Li, X B", "Li, Xu"]
