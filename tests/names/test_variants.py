"""Names of different blocks that could be one person's."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.names.parse import Name, parse_name
from homonym.names.spelling import standard_name
from homonym.names.variants import KINDS, variant_kind
from tests.support.profiles import examples


def name(text: str) -> Name:
    """The name in the form that is compared."""
    return standard_name(parse_name(text))


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Wang, Wei", "Wei, Wang", "swapped order"),
        ("Doe, Jane", "Roe, Jane", "surname"),
        ("Doe, Jane W.", "Roe, Jane", "surname"),
        ("Doe, Jane W.", "Roe, Jane H.", None),
        ("Doe, J.", "Roe, J.", None),
        ("Tchebycheff, P.", "Tschebyscheff, Pafnuty", "spelling"),
        ("Chebyshev, P.", "Chebyshov, Pafnuty", "spelling"),
        ("Satoh, Ken", "Sato, Ken", "surname"),
        ("Itoh, K", "Ito, K", None),
        ("Garcia Marquez, Gabriel", "Garcia, G.", "double surname"),
        ("Smith, Ann", "Smith-Jones, Ann", "double surname"),
        ("Smith, Bill", "Smith, William", "given name"),
        ("Smith, J. William", "Smith, William", "given name"),
        ("Smith, John", "Smith, William", None),
        ("Smith, John", "Smith, Jack", None),
        ("Smith, John", "Smith, John", None),
        ("Li, Wei", "Liu, Wei", "surname"),
        ("Doe, Jane, Jr", "Roe, Jane, III", None),
        ("Plato", "Plata", None),
        ("Doe, Li Na", "Roe, Lina", "surname"),
        ("Doe, A Aa", "Roe, Aaa", "surname"),
    ],
)
def test_kind_of_two_names(one: str, other: str, kind: str | None) -> None:
    assert variant_kind(name(one), name(other)) == kind


WORDS = st.text("ABEILMNOSTW", min_size=1, max_size=7)
NAMES = st.builds(
    lambda surname, given, suffix: Name(" ".join(surname), "".join(word[0] for word in given), tuple(given), suffix),
    st.lists(WORDS, min_size=1, max_size=2),
    st.lists(WORDS, max_size=2),
    st.sampled_from(["", "", "JR", "III"]),
)


@st.composite
def similar_names(draw: st.DrawFn) -> tuple[Name, Name]:
    """Two names that often share words."""
    one = draw(NAMES)
    other = draw(NAMES)
    surname = draw(st.sampled_from([other.surname, one.surname, one.surname + "A", "".join(one.given) or "X"]))
    given_names = draw(st.sampled_from([other.given, one.given, (one.surname.replace(" ", ""),)]))
    return one, Name(surname, "".join(word[0] for word in given_names), given_names, other.suffix)


@given(similar_names())
@settings(max_examples=examples(1000))
def test_relation_is_symmetric(names: tuple[Name, Name]) -> None:
    one, other = names
    kind = variant_kind(one, other)
    assert kind == variant_kind(other, one)
    assert kind is None or kind in KINDS


@given(st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=examples(300))
def test_any_text_can_be_compared(one: str, other: str) -> None:
    assert variant_kind(name(one), name(other)) == variant_kind(name(other), name(one))
    assert variant_kind(name(one), name(one)) is None
