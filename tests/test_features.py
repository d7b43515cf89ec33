"""Each feature type against bags worked out by hand, and the decisions of the method."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.blocking import SCHEMES
from homonym.features import registry
from homonym.features.registry import OWN, SHARED, gaussian_years
from homonym.features.text import STOP_WORDS, Lemmas, lemmas_of, plain, word_counts
from homonym.names import parse_name
from homonym.records.mentions import SMALLEST_COUNT
from homonym.records.model import Author, Document
from homonym.settings import Settings
from homonym.weights import FEATURE_TYPES

DEFAULTS = Settings()


def document(*names: str, **fields: Any) -> Document:
    return Document(id="W1", authors=[Author(position, name) for position, name in enumerate(names)], **fields)


def author(**fields: Any) -> Author:
    return Author(0, "Doe, J", **fields)


def test_the_eight_types_are_registered_once() -> None:
    assert sorted([*SHARED, *OWN]) == sorted(FEATURE_TYPES)
    assert len(FEATURE_TYPES) == len(set(FEATURE_TYPES)) == 8


@pytest.mark.parametrize(("kind", "function"), [*SHARED.items(), *OWN.items()])
def test_every_feature_type_is_documented_under_its_own_name(kind: str, function: Callable[..., Any]) -> None:
    assert function.__name__ == kind
    assert function.__doc__
    assert function.__doc__.strip().endswith(".")


@pytest.mark.parametrize("kind", SHARED)
def test_a_bare_document_has_no_features(kind: str) -> None:
    assert SHARED[kind](document(), DEFAULTS) == {}


@pytest.mark.parametrize("kind", OWN)
def test_a_bare_author_has_no_features(kind: str) -> None:
    assert OWN[kind](author(), DEFAULTS) == {}


# Terms


@pytest.mark.parametrize(
    ("title", "abstract", "bag"),
    [
        ("Graph", "", {"graph": 3.0}),
        ("", "Graph", {"graph": 1.0}),
        ("Graphs", "graph GRAPH", {"graph": 5.0}),
        ("Graph graph", "", {"graph": 6.0}),
        ("The name of the rose", "", {"name": 3.0, "rose": 3.0}),
        ("A study of 2014", "12 3", {"study": 3.0}),
        ("p53, the guardian", "", {"p53": 3.0, "guardian": 3.0}),
        ("x y z", "", {}),
        ("author-name disambiguation", "", {"author": 3.0, "name": 3.0, "disambiguation": 3.0}),
        ("Zürich", "", {"zürich": 3.0}),
        ("", "The system of computer research", {"system": 1.0, "computer": 1.0, "research": 1.0}),
        ("  ", "...!?", {}),
    ],
)
def test_terms(title: str, abstract: str, bag: dict[str, float]) -> None:
    assert registry.term(document(title=title, abstract=abstract), DEFAULTS) == bag


def test_terms_are_weighted_as_the_settings_say() -> None:
    read = document(title="graph", abstract="graph tree")
    assert registry.term(read, Settings(title_weight=5, abstract_weight=2)) == {"graph": 7.0, "tree": 2.0}
    assert registry.term(read, Settings(title_weight=0)) == {"graph": 1.0, "tree": 1.0}
    assert registry.term(read, Settings(abstract_weight=0)) == {"graph": 3.0}
    assert registry.term(read, Settings(title_weight=0, abstract_weight=0)) == {}


def test_terms_are_lemmas_of_the_language_that_the_settings_name() -> None:
    read = document(title="Häuser studies")
    assert registry.term(read, Settings(language="en")) == {"häuser": 3.0, "study": 3.0}
    assert registry.term(read, Settings(language="de,en")) == {"haus": 3.0, "study": 3.0}
    assert registry.term(read, Settings(language="none")) == {"häuser": 3.0, "studies": 3.0}


@pytest.mark.parametrize("word", sorted(STOP_WORDS))
def test_stop_words_are_dropped_in_every_language(word: str) -> None:
    assert word_counts(word.upper(), word, 3, 1, lemmas_of("en")) == {}
    assert word_counts(word.upper(), word, 3, 1, lemmas_of("none")) == {}


def test_a_lemma_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter("12")
    monkeypatch.setattr(Lemmas, "_lemma", lambda self, word: word + next(numbers))
    lemmas = Lemmas("en")
    assert [lemmas["graphs"], lemmas["trees"], lemmas["graphs"]] == ["graphs1", "trees2", "graphs1"]


# Labels


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Physics", "physics"),
        ("  Physics,  Applied ", "physics applied"),
        ("Informatique & Société", "informatique societe"),
        ("Łódź University/Dept. of Ökonomie", "lodz university dept of okonomie"),
        ("a_b-c", "a b c"),
        ("Univ. X, jane.doe@uni-x.co.uk.", "univ x"),
        ("jane@x.org, joe@y.org", ""),
        ("<jane@x.org>;Dept. of (joe@y.org) Physics", "dept of physics"),
        ("at @ home", "at home"),
        ("a@b", "a b"),
        ("北京大学", "bei jing da xue"),
        ("--", ""),
        ("", ""),
    ],
)
def test_labels_are_plain(text: str, label: str) -> None:
    assert plain(text).replace(" ", "") == label.replace(" ", "")
    assert plain(text) == " ".join(plain(text).split()).lower()
    assert registry.aff(author(affiliations=[text]), DEFAULTS) == ({plain(text): 1.0} if label else {})


@pytest.mark.parametrize(
    "text", ["a" * 300_000 + "@" + "a" * 300_000, "a@" * 300_000, "@" * 300_000, "a@" + "b." * 300_000]
)
def test_endless_words_are_read_in_linear_time(text: str) -> None:
    # With a backtracking pattern each of these would take hours.
    assert isinstance(plain(text), str)


def test_keywords_are_counted() -> None:
    read = document(keywords=["Graph Theory", "graph-theory", "Names", "", "?"])
    assert registry.key(read, DEFAULTS) == {"graph theory": 2.0, "names": 1.0}


def test_categories_go_before_the_venue() -> None:
    assert registry.cat(document(categories=["CS", "Physics"], venue="JCDL"), DEFAULTS) == {"cs": 1.0, "physics": 1.0}
    assert registry.cat(document(venue="Proc. JCDL"), DEFAULTS) == {"proc jcdl": 1.0}
    assert registry.cat(document(categories=["", "--"], venue="JCDL"), DEFAULTS) == {"jcdl": 1.0}
    assert registry.cat(document(categories=["CS"]), DEFAULTS) == {"cs": 1.0}
    assert registry.cat(document(venue="  "), DEFAULTS) == {}


def test_affiliations_are_counted_without_their_e_mail_addresses() -> None:
    affiliations = ["Univ. of Zürich", "UNIV OF ZURICH; jane@uzh.ch", "ETH"]
    assert registry.aff(author(affiliations=affiliations), DEFAULTS) == {"univ of zurich": 2.0, "eth": 1.0}


def test_e_mail_addresses_are_lower_cased_and_otherwise_kept() -> None:
    emails = [" Jane.Doe+x@UZH.ch", "jane.doe+x@uzh.ch", "J@Y.org", " "]
    assert registry.email(author(emails=emails), DEFAULTS) == {"jane.doe+x@uzh.ch": 2.0, "j@y.org": 1.0}


# Names


def test_co_authors_are_normalised_and_counted() -> None:
    read = document("Jane W. Doe", "DOE, J. W.", "Smith, Anna", "Berg, A. van der", "Smith, A")
    assert registry.co(read, DEFAULTS) == {"DOE, JW": 2.0, "SMITH, A": 2.0, "VAN DER BERG, A": 1.0}


def test_names_that_are_none_are_ignored() -> None:
    assert registry.co(document("Doe, J", "...", "et al.", "123"), DEFAULTS) == {"DOE, J": 1.0}
    assert registry.ref(document(referenced_authors=["...", "", "Smith, A"]), DEFAULTS) == {"SMITH, A": 1.0}


def test_referenced_names_are_normalised_and_counted() -> None:
    read = document("Doe, J", referenced_authors=["Smith, A", "Anna Smith", "Müller, K"], references=["W0", "W2"])
    assert registry.ref(read, DEFAULTS) == {"SMITH, A": 2.0, "MULLER, K": 1.0}


# Years


def test_the_year_is_a_gaussian_of_sigma_two_cut_at_five_years() -> None:
    bag = registry.year(document(year=2014), DEFAULTS)
    assert list(bag) == [str(year) for year in range(2009, 2020)]
    assert math.fsum(bag.values()) == pytest.approx(1, abs=1e-12)
    heights = [math.exp(-(offset**2) / 8) for offset in range(-5, 6)]
    assert list(bag.values()) == pytest.approx([height / sum(heights) for height in heights], rel=1e-12)
    assert bag["2013"] == bag["2015"]


def test_a_reach_of_zero_is_the_year_itself() -> None:
    assert registry.year(document(year=2014), Settings(year_reach=0)) == {"2014": 1.0}


@given(st.integers(1000, 2200), st.floats(1e-300, 100), st.integers(0, 100))
def test_any_gaussian_has_mass_one_and_counts_that_mentions_may_have(centre: int, sigma: float, reach: int) -> None:
    bag = gaussian_years(centre, sigma, reach)
    assert math.fsum(bag.values()) == pytest.approx(1, abs=1e-12)
    assert min(bag.values()) >= SMALLEST_COUNT
    assert max(bag.values()) == bag[str(centre)]
    assert {2 * centre - int(year) for year in bag} == {int(year) for year in bag}
    assert all(abs(int(year) - centre) <= reach for year in bag)


# Anything at all


@given(st.text(), st.text())
@hypothesis_settings(deadline=None)
def test_any_text_gives_bags_of_positive_counts(first: str, second: str) -> None:
    read = document(
        first, second, title=first, abstract=second, venue=first, keywords=[first, second], referenced_authors=[second]
    )
    bags = [function(read, DEFAULTS) for function in SHARED.values()]
    bags += [function(author(affiliations=[first], emails=[second]), DEFAULTS) for function in OWN.values()]
    assert all(feature and count >= 1 for bag in bags for feature, count in bag.items())


# Blocking


@pytest.mark.parametrize(
    ("scheme", "block", "key"),
    [
        ("given", None, "DOE, JW"),
        ("given", "", "DOE, JW"),
        ("given", "jane doe", "jane doe"),
        ("initials", "jane doe", "DOE, JW"),
        ("first-initial", "jane doe", "DOE, J"),
        ("full-name", "jane doe", "DOE, JANE W"),
    ],
)
def test_blocking(scheme: str, block: str | None, key: str) -> None:
    assert SCHEMES[scheme](parse_name("Doe, Jane W."), block) == key
