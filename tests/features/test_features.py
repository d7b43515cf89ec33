"""Each feature type against bags worked out by hand, and the decisions of the method."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.features import types
from homonym.features.blocking import SCHEMES
from homonym.features.text import STOP_WORDS, Lemmas, count_words, lemmas_of, plain
from homonym.features.types import SHARED, gaussian_years
from homonym.names.parse import parse_name
from homonym.records.formats.documents import SMALLEST_COUNT
from homonym.records.model import Author, Document
from homonym.settings import FEATURE_TYPES, Settings
from tests.support.words import word_counts

DEFAULTS = Settings()


def terms(read: Document, settings: Settings = DEFAULTS) -> dict[str, float]:
    words, _, word, count = types.term([read.title], [read.abstract], settings)
    return dict(zip([words[place] for place in word], count.tolist(), strict=True))


def document(*names: str, **fields: Any) -> Document:
    return Document(id="W1", authors=[Author(position, name) for position, name in enumerate(names)], **fields)


def author(**fields: Any) -> Author:
    return Author(0, "Doe, J", **fields)


def test_the_eight_types_are_registered_once() -> None:
    assert len(FEATURE_TYPES) == len(set(FEATURE_TYPES)) == 8


@pytest.mark.parametrize("kind", FEATURE_TYPES)
def test_every_feature_type_is_documented_under_its_own_name(kind: str) -> None:
    function = getattr(types, kind)
    assert function.__name__ == kind
    assert function.__doc__
    assert function.__doc__.strip().endswith(".")


@pytest.mark.parametrize("kind", ["cat", "key", "co", "ref"])
def test_a_bare_document_has_no_features(kind: str) -> None:
    assert getattr(types, kind)(document()) == []


@pytest.mark.parametrize("kind", ["aff", "email"])
def test_a_bare_author_has_no_features(kind: str) -> None:
    assert getattr(types, kind)(author()) == []


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
    assert terms(document(title=title, abstract=abstract)) == bag


def test_terms_are_weighted_as_the_settings_say() -> None:
    read = document(title="graph", abstract="graph tree")
    assert terms(read, Settings(title_weight=5, abstract_weight=2)) == {"graph": 7.0, "tree": 2.0}
    assert terms(read, Settings(title_weight=0)) == {"graph": 1.0, "tree": 1.0}
    assert terms(read, Settings(abstract_weight=0)) == {"graph": 3.0}
    assert terms(read, Settings(title_weight=0, abstract_weight=0)) == {}


def test_terms_are_lemmas_of_the_language_that_the_settings_name() -> None:
    read = document(title="Häuser studies")
    assert terms(read, Settings(language="en")) == {"häuser": 3.0, "study": 3.0}
    assert terms(read, Settings(language="de,en")) == {"haus": 3.0, "study": 3.0}
    assert terms(read, Settings(language="none")) == {"häuser": 3.0, "studies": 3.0}


@pytest.mark.parametrize("word", sorted(STOP_WORDS))
def test_stop_words_are_dropped_in_every_language(word: str) -> None:
    for language in ("en", "none"):
        assert terms(document(title=word.upper(), abstract=word), Settings(language=language)) == {}


SIGNS = st.text(st.sampled_from("aAbZ0_ -.,\n\tÄßıİςé–“µα中文٣\u0307\u00ad\ud800"), max_size=20)


@given(st.lists(st.tuples(SIGNS | st.text(), SIGNS | st.text()), max_size=6), st.integers(0, 3), st.integers(0, 3))
@hypothesis_settings(deadline=None)
def test_many_documents_are_counted_like_single_ones(
    texts: list[tuple[str, str]], title_weight: int, abstract_weight: int
) -> None:
    lemmas = lemmas_of("en")
    titles, abstracts = [title for title, _ in texts], [abstract for _, abstract in texts]
    words, place, word, count = count_words(titles, abstracts, title_weight, abstract_weight, lemmas)
    assert len(words) == len(set(words))
    found: list[dict[str, float]] = [{} for _ in texts]
    for document_place, lemma, number in zip(place.tolist(), word.tolist(), count.tolist(), strict=True):
        assert words[lemma] not in found[document_place]
        found[document_place][words[lemma]] = number
    assert found == [word_counts(*both, title_weight, abstract_weight, lemmas) for both in texts]


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
    assert Counter(types.aff(author(affiliations=[text]))) == ({plain(text): 1.0} if label else {})


@pytest.mark.parametrize(
    "text", ["a" * 300_000 + "@" + "a" * 300_000, "a@" * 300_000, "@" * 300_000, "a@" + "b." * 300_000]
)
def test_endless_words_are_read_in_linear_time(text: str) -> None:
    # With a backtracking pattern each of these would take hours.
    assert isinstance(plain(text), str)


def test_keywords_are_counted() -> None:
    read = document(keywords=["Graph Theory", "graph-theory", "Names", "", "?"])
    assert Counter(types.key(read)) == {"graph theory": 2.0, "names": 1.0}


def test_categories_go_before_the_venue() -> None:
    assert Counter(types.cat(document(categories=["CS", "Physics"], venue="JCDL"))) == {"cs": 1.0, "physics": 1.0}
    assert Counter(types.cat(document(venue="Proc. JCDL"))) == {"proc jcdl": 1.0}
    assert Counter(types.cat(document(categories=["", "--"], venue="JCDL"))) == {"jcdl": 1.0}
    assert Counter(types.cat(document(categories=["CS"]))) == {"cs": 1.0}
    assert Counter(types.cat(document(venue="  "))) == {}


def test_affiliations_are_counted_without_their_e_mail_addresses() -> None:
    affiliations = ["Univ. of Zürich", "UNIV OF ZURICH; jane@uzh.ch", "ETH"]
    assert Counter(types.aff(author(affiliations=affiliations))) == {"univ of zurich": 2.0, "eth": 1.0}


def test_e_mail_addresses_are_lower_cased_and_otherwise_kept() -> None:
    emails = [" Jane.Doe+x@UZH.ch", "jane.doe+x@uzh.ch", "J@Y.org", " "]
    assert Counter(types.email(author(emails=emails))) == {"jane.doe+x@uzh.ch": 2.0, "j@y.org": 1.0}


# Names


def test_co_authors_are_normalised_and_counted() -> None:
    read = document("Jane W. Doe", "DOE, J. W.", "Smith, Anna", "Berg, A. van der", "Smith, A")
    assert Counter(types.co(read)) == {"DOE, JW": 2.0, "SMITH, A": 2.0, "VAN DER BERG, A": 1.0}


def test_names_that_are_none_are_ignored() -> None:
    assert Counter(types.co(document("Doe, J", "...", "et al.", "123"))) == {"DOE, J": 1.0}
    assert Counter(types.ref(document(referenced_authors=["...", "", "Smith, A"]))) == {"SMITH, A": 1.0}


def test_referenced_names_are_normalised_and_counted() -> None:
    read = document("Doe, J", referenced_authors=["Smith, A", "Anna Smith", "Müller, K"], references=["W0", "W2"])
    assert Counter(types.ref(read)) == {"SMITH, A": 2.0, "MULLER, K": 1.0}


# Years


def test_the_year_is_a_gaussian_of_sigma_two_cut_at_five_years() -> None:
    bag = types.year(document(year=2014), DEFAULTS)
    assert list(bag) == [str(year) for year in range(2009, 2020)]
    assert math.fsum(bag.values()) == pytest.approx(1, abs=1e-12)
    heights = [math.exp(-(offset**2) / 8) for offset in range(-5, 6)]
    assert list(bag.values()) == pytest.approx([height / sum(heights) for height in heights], rel=1e-12)
    assert bag["2013"] == bag["2015"]


def test_a_reach_of_zero_is_the_year_itself() -> None:
    assert types.year(document(year=2014), Settings(year_reach=0)) == {"2014": 1.0}


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
    lists = [function(read) for function in (*SHARED.values(), types.co)]
    lists += [function(author(affiliations=[first], emails=[second])) for function in (types.aff, types.email)]
    assert all(feature for features in lists for feature in features)
    assert all(feature and count >= 1 for feature, count in terms(read).items())


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
