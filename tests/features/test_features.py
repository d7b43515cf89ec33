"""Each feature type: bags computed by hand, and the columnar functions against literal definitions."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from anyascii import anyascii
from hypothesis import given
from hypothesis import strategies as st

from homonym.collection.extractor import extract_tables
from homonym.features import types
from homonym.features.blocking import SCHEMES, author_names
from homonym.features.columns import DocumentColumns, PlacedDocument, columns_of
from homonym.features.text import EMAIL, STOP_WORDS, Lemmas, count_words, lemmas_of, plain_words
from homonym.features.types import FEATURE_TYPES, count_texts, describe, feature_type, gaussian_years
from homonym.names.parse import parse_name
from homonym.records.formats.documents import SMALLEST_COUNT
from homonym.records.model import Author, Document
from homonym.settings import PAPER_TYPES, Settings
from tests.features.literal_bags import Bag, bags_of, name_features
from tests.support.words import word_counts

DEFAULTS = Settings()
DOCS = Path(__file__).parents[2] / "docs" / "how-it-works.md"


def document(*names: str, **fields: Any) -> Document:
    return Document(id="W1", authors=[Author(position, name) for position, name in enumerate(names)], **fields)


def author(**fields: Any) -> Document:
    return Document(id="W1", authors=[Author(0, "Doe, J", **fields)])


def columns(*documents: Document) -> DocumentColumns:
    placed = [PlacedDocument(sequence, sequence + 1, one) for sequence, one in enumerate(documents)]
    return columns_of(placed, "initials")


def bags(kind: str, documents: DocumentColumns, settings: Settings = DEFAULTS) -> dict[int, dict[str, float]]:
    """The bags of one type by row; all features have a name and a positive count."""
    counts = FEATURE_TYPES[kind].extract(documents, settings)
    names = counts.names.take(counts.feature).to_pylist()
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for place, name, number in zip(counts.row.tolist(), names, counts.count.tolist(), strict=True):
        assert name not in found[place], "a feature is once in a bag"
        assert name
        assert number > 0
        found[place][name] = number
    return found


def bag(kind: str, read: Document, settings: Settings = DEFAULTS) -> dict[str, float]:
    return bags(kind, columns(read), settings)[0]


def terms(read: Document, settings: Settings = DEFAULTS) -> dict[str, float]:
    return bag("term", read, settings)


# The table of feature types


def test_the_types_of_the_paper_are_registered_in_the_order_of_the_settings() -> None:
    assert tuple(kind for kind in FEATURE_TYPES if kind in PAPER_TYPES) == PAPER_TYPES


@pytest.mark.parametrize("kind", FEATURE_TYPES)
def test_every_feature_type_is_described_by_the_first_sentence_of_its_docstring(kind: str) -> None:
    extract = FEATURE_TYPES[kind].extract
    assert extract.__name__ == kind
    assert extract.__doc__
    assert extract.__doc__.strip().lower().startswith(describe(kind).lower() + ".")
    assert "\n" not in describe(kind)


def test_a_type_that_is_not_registered_has_no_description() -> None:
    assert describe("shoe_size") == ""


def test_the_table_in_the_docs_is_that_of_the_docstrings() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    assert rows == [(kind, describe(kind)) for kind in FEATURE_TYPES]


def test_a_further_feature_type_is_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("homonym.features.types.FEATURE_TYPES", dict(FEATURE_TYPES))
    monkeypatch.setattr("homonym.collection.extractor.FEATURE_TYPES", types.FEATURE_TYPES)

    @feature_type("document")
    def venue(documents: DocumentColumns, settings: Settings) -> types.FeatureCounts:
        """Where the document was published."""
        return count_texts(documents.venue, plain_words)

    assert describe("venue") == "where the document was published"
    read = columns(document("Doe, J", "Roe, R", venue="Proc. JCDL", categories=["CS"]))
    table = extract_tables(read, 0, DEFAULTS)["features"]
    entry = table.filter(pc.equal(table["type"], "venue")).to_pylist()[0]
    assert (entry["feature"], entry["count"], entry["holders"]) == ("proc jcdl", 1.0, 2)


@pytest.mark.parametrize("kind", FEATURE_TYPES)
def test_no_documents_have_no_features(kind: str) -> None:
    assert bags(kind, columns()) == {}


@pytest.mark.parametrize("kind", FEATURE_TYPES)
def test_a_bare_document_has_no_features(kind: str) -> None:
    assert bags(kind, columns(document())) == {}


@pytest.mark.parametrize("kind", ["aff", "email"])
def test_a_bare_author_has_no_features(kind: str) -> None:
    assert bag(kind, author()) == {}


# Terms


@pytest.mark.parametrize(
    ("title", "abstract", "counts"),
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
def test_terms(title: str, abstract: str, counts: dict[str, float]) -> None:
    assert terms(document(title=title, abstract=abstract)) == counts


def test_terms_are_weighted_by_the_settings() -> None:
    read = document(title="graph", abstract="graph tree")
    assert terms(read, Settings(title_weight=5, abstract_weight=2)) == {"graph": 7.0, "tree": 2.0}
    assert terms(read, Settings(title_weight=0)) == {"graph": 1.0, "tree": 1.0}
    assert terms(read, Settings(abstract_weight=0)) == {"graph": 3.0}
    assert terms(read, Settings(title_weight=0, abstract_weight=0)) == {}


@pytest.mark.slow
def test_terms_are_lemmas_of_the_language_in_the_settings() -> None:
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
def test_many_documents_are_counted_like_single_ones(
    texts: list[tuple[str, str]], title_weight: int, abstract_weight: int
) -> None:
    lemmas = lemmas_of("en")
    titles, abstracts = [title for title, _ in texts], [abstract for _, abstract in texts]
    words, place, word, count = count_words(titles, abstracts, title_weight, abstract_weight, lemmas)
    words = words.to_pylist()
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


@given(SIGNS | st.text() | st.text(st.sampled_from("aB1_ .@é\x1f-ß"), max_size=12))
def test_a_label_is_its_words_in_ascii_and_lower_case(text: str) -> None:
    plain = anyascii(EMAIL.sub(" ", text)).lower()
    assert plain_words(text) == re.sub(r"[^a-z0-9]+", " ", plain).strip()


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
    assert plain_words(text).replace(" ", "") == label.replace(" ", "")
    assert plain_words(text) == " ".join(plain_words(text).split()).lower()
    whole = Settings(affiliation_level="whole")
    assert bag("aff", author(affiliations=[text]), whole) == ({plain_words(text): 1.0} if label else {})


@pytest.mark.parametrize(
    "text", ["a" * 300_000 + "@" + "a" * 300_000, "a@" * 300_000, "@" * 300_000, "a@" + "b." * 300_000]
)
def test_long_words_take_linear_time(text: str) -> None:
    # With a backtracking pattern each of these would take hours.
    assert isinstance(plain_words(text), str)


def test_keywords_are_counted() -> None:
    read = document(keywords=["Graph Theory", "graph-theory", "Names", "", "?"])
    assert bag("key", read) == {"graph theory": 2.0, "names": 1.0}


def test_the_venue_replaces_missing_categories() -> None:
    assert bag("cat", document(categories=["CS", "Physics"], venue="JCDL")) == {"cs": 1.0, "physics": 1.0}
    assert bag("cat", document(venue="Proc. JCDL")) == {"proc jcdl": 1.0}
    assert bag("cat", document(categories=["", "--"], venue="JCDL")) == {"jcdl": 1.0}
    assert bag("cat", document(categories=["CS"])) == {"cs": 1.0}
    assert bag("cat", document(venue="  ")) == {}


def test_affiliations_are_counted_without_their_e_mail_addresses() -> None:
    one = author(affiliations=["Univ. of Zürich", "UNIV OF ZURICH; jane@uzh.ch", "Dept. of Physics"])
    whole = {"univ of zurich": 2.0, "dept of physics": 1.0}
    assert bag("aff", one, Settings(affiliation_level="whole")) == whole
    assert bag("aff", one) == {"univ of zurich": 1.0, "institution: univ zurich": 1.0, "dept of physics": 1.0}


def test_several_institutions_of_one_affiliation_share_its_half() -> None:
    assert bag("aff", author(affiliations=["Bonn Univ + MIT Lab"])) == {
        "bonn univ mit lab": 0.5, "institution: bonn univ": 0.25, "institution: lab mit": 0.25,
    }  # fmt: skip


def test_e_mail_addresses_are_lower_cased_and_otherwise_unchanged() -> None:
    emails = [" Jane.Doe+x@UZH.ch", "jane.doe+x@uzh.ch", "J@Y.org", " "]
    assert bag("email", author(emails=emails)) == {"jane.doe+x@uzh.ch": 2.0, "j@y.org": 1.0}


# Names


def test_co_authors_are_normalised_and_counted() -> None:
    read = document("Jane W. Doe", "DOE, J. W.", "Smith, Anna", "Berg, A. van der", "Smith, A")
    full = {"DOE|JANE W": 0.75, "SMITH|ANNA": 0.75}
    assert bag("co", read) == {"DOE, JW": 1.25, "SMITH, A": 1.25, "VAN DER BERG, A": 1.0, **full}
    initials = bag("co", read, Settings(coauthor_names="initials"))
    assert initials == {"DOE, JW": 2.0, "SMITH, A": 2.0, "VAN DER BERG, A": 1.0}


def test_initials_without_dots_are_no_given_name() -> None:
    assert bag("co", document("Lee, HY", "LEE HY", "Lee H. Y.", "Lee, Hy")) == {
        "LEE, HY": 3.0, "LEE, H": 0.25, "LEE|HY": 0.75,
    }  # fmt: skip


def test_texts_that_are_not_names_are_ignored() -> None:
    assert bag("co", document("Doe, J", other_authors=["...", "et al.", "123"])) == {"DOE, J": 1.0}
    assert bag("ref", document(referenced_authors=["...", "", "Smith, A"])) == {"SMITH, A": 1.0}
    names = pa.array(["Doe, J", "..."]).dictionary_encode()
    assert author_names(names, pa.nulls(2, pa.string()), "initials").key.to_pylist() == ["DOE, J", None]


def test_names_that_are_not_mentions_are_co_authors_unless_they_are_authors() -> None:
    read = columns(document("Doe, J", "Roe, R", other_authors=["Jane Doe", "Poe, E", "E. Poe"]))
    counts = FEATURE_TYPES["co"].extract(read, DEFAULTS)
    assert counts.holders is not None
    names = counts.names.take(counts.feature).to_pylist()
    found = dict(zip(names, zip(counts.count.tolist(), counts.holders.tolist(), strict=True), strict=True))
    assert found == {"DOE, J": (1.0, 1), "ROE, R": (1.0, 1), "DOE|JANE": (0.75, 2), "POE, E": (2.0, 2)}


def test_referenced_names_are_normalised_and_counted() -> None:
    read = document("Doe, J", referenced_authors=["Smith, A", "Anna Smith", "Müller, K"], references=["W0", "W2"])
    assert bag("ref", read) == {"SMITH, A": 2.0, "MULLER, K": 1.0}


def test_self_citations_are_no_referenced_authors() -> None:
    read = document("Doe, Jane", "Roe, R", referenced_authors=["J. Doe", "Doe, J", "Roe, Richard", "Doe, K", "Poe, E"])
    assert bag("ref", read) == {"DOE, K": 1.0, "POE, E": 1.0}
    assert not bags("ref", columns(document("Doe, J", referenced_authors=["Doe, Jane"])))


# Years


def test_the_year_is_a_gaussian_of_sigma_two_cut_at_five_years() -> None:
    counts = bag("year", document(year=2014))
    assert list(counts) == [str(year) for year in range(2009, 2020)]
    assert math.fsum(counts.values()) == pytest.approx(1, abs=1e-12)
    heights = [math.exp(-(offset**2) / 8) for offset in range(-5, 6)]
    assert list(counts.values()) == pytest.approx([height / sum(heights) for height in heights], rel=1e-12)
    assert counts["2013"] == counts["2015"]


def test_a_reach_of_zero_is_the_year_itself() -> None:
    assert bag("year", document(year=2014), Settings(year_reach=0)) == {"2014": 1.0}


@given(st.integers(1000, 2200), st.floats(1e-300, 100), st.integers(0, 100))
def test_any_gaussian_has_mass_one_and_counts_that_mentions_may_have(centre: int, sigma: float, reach: int) -> None:
    counts = gaussian_years(centre, sigma, reach)
    assert math.fsum(counts.values()) == pytest.approx(1, abs=1e-12)
    assert min(counts.values()) >= SMALLEST_COUNT
    assert max(counts.values()) == counts[str(centre)]
    assert {2 * centre - int(year) for year in counts} == {int(year) for year in counts}
    assert all(abs(int(year) - centre) <= reach for year in counts)


# Any documents


TEXTS = st.lists(st.text(max_size=12) | st.sampled_from(["Graph", "GRAPH.", "Doe, Jane", "J. Doe", "–"]), max_size=3)
NAMES = st.lists(st.sampled_from(["Doe, Jane", "J. Doe", "Roe, R", "王小明"]), max_size=3)
AUTHORS = st.builds(Author, st.just(0), NAMES.filter(bool).map(lambda names: names[0]), TEXTS, TEXTS)
DOCUMENTS = st.builds(
    Document,
    id=st.just("W1"),
    authors=st.lists(AUTHORS, max_size=3),
    title=st.text(),
    abstract=st.text(),
    year=st.none() | st.integers(1990, 1993),
    venue=st.text(),
    categories=TEXTS,
    keywords=TEXTS,
    referenced_authors=TEXTS,
    other_authors=TEXTS,
)


@given(st.lists(DOCUMENTS, max_size=4))
def test_columns_of_any_documents_give_the_literal_bags(documents: list[Document]) -> None:
    read = columns(*documents)
    found = {kind: bags(kind, read) for kind in FEATURE_TYPES}
    row = 0
    for place, one in enumerate(documents):
        for mention in one.authors:
            names = dict(found["co"][place])
            for own, share in name_features(mention.name, DEFAULTS).items():
                names[own] -= share
            mine: dict[str, Bag] = {"co": {name: count for name, count in names.items() if count}}
            for kind, kind_bags in found.items():
                if kind != "co":
                    mine[kind] = kind_bags[place if FEATURE_TYPES[kind].level == "document" else row]
            assert {kind: bag for kind, bag in mine.items() if bag} == bags_of(one, mention, DEFAULTS)
            row += 1


# Blocking


@pytest.mark.parametrize(
    ("scheme", "block", "key"),
    [
        ("auto", None, "DOE, J"),
        ("auto", "", "DOE, J"),
        ("auto", "jane doe", "jane doe"),
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
