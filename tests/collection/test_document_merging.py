"""Merging the copies of one document: what it keeps, and that the order of the copies does not matter."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.collection.document_merging import PREFERRED, Copy, author_places, merge
from homonym.records.model import Author, Document
from homonym.records.reader import MODULES
from tests.support.profiles import examples

NAMES = ["Doe, Jane", "Doe, J.", "Jane Doe", "Roe, R", "Roe, Rita", "Müller, K", "?", "王小明"]
ORCIDS = ["0000-0002-1825-0097", "0000-0002-1694-233X"]
WORDS = ["Coins", "coins", "gold", "Zürich", "!"]
texts = st.lists(st.sampled_from(WORDS), max_size=3)


def authors_of(names: list[str]) -> st.SearchStrategy[list[Author]]:
    """Authors with these names, and anything else."""
    some = [
        st.builds(
            Author, st.just(position), st.just(name), texts,
            st.lists(st.sampled_from(["a@x.org", "A@x.org"]), max_size=2),
            st.sampled_from([None, "p1", "p2"]), st.sampled_from([None, "b"]),
            st.dictionaries(st.sampled_from(["orcid", "scopus"]), st.sampled_from(ORCIDS), max_size=2),
        )
        for position, name in enumerate(names)
    ]  # fmt: skip
    return st.tuples(*some).map(list)


def documents_of(authors: st.SearchStrategy[list[Author]]) -> st.SearchStrategy[Copy]:
    """Copies of a document with these authors."""
    document = st.builds(
        Document, st.sampled_from(["W1", "W2", "h:1"]), authors, st.sampled_from(WORDS), st.sampled_from(WORDS),
        st.none() | st.integers(2010, 2012), st.sampled_from(WORDS), texts, texts, texts,
        st.lists(st.sampled_from(NAMES), max_size=3), st.lists(st.sampled_from(NAMES), max_size=2),
        st.dictionaries(st.sampled_from(["doi", "pmid"]), st.sampled_from(["1", "2"]), max_size=2), st.booleans(),
    )  # fmt: skip
    return st.builds(Copy, document, st.sampled_from(["wos", "scopus", "bibtex", "new"]))


anything = documents_of(st.lists(st.sampled_from(NAMES), max_size=4).flatmap(authors_of))
same_names = documents_of(authors_of(["Doe, Jane", "Roe, R"]))


@given(st.lists(anything, min_size=1, max_size=4), st.randoms())
@settings(max_examples=examples(200), deadline=None)
def test_the_order_of_copies_does_not_matter(copies, rng) -> None:  # type: ignore[no-untyped-def]
    shuffled = rng.sample(copies, len(copies))
    assert merge(copies).document == merge(shuffled).document


@given(st.lists(anything, min_size=1, max_size=3))
@settings(max_examples=examples(200), deadline=None)
def test_merging_again_changes_nothing(copies: list[Copy]) -> None:
    once = merge(copies).document
    form = min(copies, key=lambda copy: (copy.document.id != once.id,)).form
    again = merge([Copy(once, form), Copy(once, form)])
    assert again.document == once
    assert again.notes == [[], []]


def without_conflicts(copies: list[Copy]) -> list[Copy]:
    """The copies with one value for each kind of identifier: of two, neither is kept, and later copies decide anew."""
    for copy in copies:
        for author in copy.document.authors:
            author.ids = dict.fromkeys(author.ids, ORCIDS[0])
            author.label = author.label and "p1"
    return copies


@given(st.tuples(same_names, same_names, same_names).map(list).map(without_conflicts))
@settings(max_examples=examples(200), deadline=None)
def test_merging_in_two_steps_gives_the_same(copies: list[Copy]) -> None:
    a, b, c = (replace(copy.document, id="W1", id_is_key=True) for copy in copies)
    pair = merge([Copy(a, "wos"), Copy(b, "wos")]).document
    stepwise = merge([Copy(pair, "wos"), Copy(c, "wos")]).document
    assert stepwise == merge([Copy(a, "wos"), Copy(b, "wos"), Copy(c, "wos")]).document


def doc(name: str, *authors: str | Author, **fields: object) -> Document:
    listed = [one if isinstance(one, Author) else Author(i, one) for i, one in enumerate(authors)]
    return Document(name, listed, **fields)  # type: ignore[arg-type]


def test_takes_the_fields_of_both_sources() -> None:
    wos = doc("WOS:1", Author(0, "Doe, Jane", ["MIT"], ids={"researcherid": "A-1009-2008"}), "Roe, R",
              abstract="Short", keywords=["Gold"], year=2015, ids={"wos": "1"})  # fmt: skip
    scopus = doc("2-s2.0-1", Author(0, "Doe J.", ["Yale"], ["j@x.org"], ids={"scopus": "7"}), "Roe, Rita",
                 abstract="Longer text", keywords=["gold", "coins"], year=2014, ids={"doi": "10.1000/x"})  # fmt: skip
    found = merge([Copy(scopus, "scopus"), Copy(wos, "wos")]).document
    assert (found.id, found.year, found.abstract) == ("WOS:1", 2014, "Longer text")
    assert found.keywords == ["coins", "gold"]
    assert found.ids == {"doi": "10.1000/x", "wos": "1"}
    jane, rita = found.authors
    assert (jane.name, jane.affiliations, jane.emails) == ("Doe, Jane", ["MIT", "Yale"], ["j@x.org"])
    assert jane.ids == {"researcherid": "A-1009-2008", "scopus": "7"}
    assert rita.name == "Roe, Rita"


def test_two_orcids_of_one_author_are_both_dropped_and_reported() -> None:
    copies = [Copy(doc("1", Author(0, "Doe, J", ids={"orcid": orcid})), "wos") for orcid in ORCIDS]
    found = merge(copies)
    assert found.document.authors[0].ids == {}
    assert [len(notes) for notes in found.notes] == [1, 1]
    assert "are both the ORCID of Doe, J" in found.notes[0][0][1]


def test_a_shorter_list_is_matched_by_name_and_strangers_are_reported() -> None:
    full = doc("1", "Doe, Jane", "Roe, R", "Poe, Edgar")
    short = doc("2", Author(0, "Poe, E", ["MIT"]), "Stranger, X")
    found = merge([Copy(short, "wos"), Copy(full, "wos")])
    assert [author.name for author in found.document.authors] == ["Doe, Jane", "Roe, R", "Poe, Edgar"]
    assert found.document.authors[2].affiliations == ["MIT"]
    assert found.notes == [[("author", "Stranger, X is not among the authors of the other copies")], []]


def test_a_misspelt_name_among_others_is_found_by_its_position() -> None:
    one = doc("1", "Doe, Jane", "Müller, K", "Poe, E")
    other = doc("2", "Doe, J", Author(1, "Muler, K", ["MIT"]), "Poe, E")
    found = merge([Copy(one, "wos"), Copy(other, "scopus")])
    assert found.document.authors[1].affiliations == ["MIT"]
    assert found.document.authors[1].name == "Müller, K"
    assert found.notes == [[], []]


LISTED = ["Doe, Jane", "Roe, Rita", "Poe, Edgar", "Zoe, Xu", "Loe, Ann"]


@pytest.mark.parametrize("order", [(0, 2, 1, 3, 4), (0, 1, 3, 4, 2), (4, 1, 2, 3, 0)])
def test_authors_in_another_order_keep_their_own_identifiers(order: tuple[int, ...]) -> None:
    def person(position: int, number: int) -> Author:
        return Author(position, LISTED[number], [], [f"{number}@x.org"], f"p{number}", ids={"scopus": str(number)})

    plain = doc("1", *(Author(i, f"{name}.") for i, name in enumerate(LISTED)))
    known = doc("2", *(person(position, number) for position, number in enumerate(order)))
    found = merge([Copy(plain, "wos"), Copy(known, "scopus")])
    for author in found.document.authors:
        number = LISTED.index(author.name.rstrip("."))
        assert (author.ids, author.label, author.emails) == ({"scopus": str(number)}, f"p{number}", [f"{number}@x.org"])
    assert found.notes == [[], []]


def test_an_abbreviated_name_does_not_hide_that_two_authors_are_swapped() -> None:
    one = doc("1", "Wang, J", "Doe, Jane", "Wang, Jun", "Roe, R")
    other = doc("2", *(Author(i, name, ids={"scopus": name}) for i, name in
                       enumerate(["Wang, Jun", "Doe, Jane", "Wang, J", "Roe, R"])))  # fmt: skip
    found = merge([Copy(one, "wos"), Copy(other, "scopus")]).document
    assert [author.ids["scopus"] for author in found.authors] == [author.name for author in found.authors]


def test_identifiers_of_an_author_with_another_name_are_not_taken_but_reported() -> None:
    one = doc("1", "Doe, Jane", "Müller, Karl", "Poe, Edgar")
    other = doc("2", "Doe, J", Author(1, "Stone, B", ["MIT"], ["b@x.org"], "p", ids={"orcid": ORCIDS[0]}), "Poe, E")
    found = merge([Copy(one, "wos"), Copy(other, "scopus")])
    assert found.document.authors[1] == Author(1, "Müller, Karl", ["MIT"])
    ((_, (note,)),) = [found.notes]
    assert note == ("field", "the identifiers of Stone, B are not used, because the same author is Müller, Karl in "
                    "another copy")  # fmt: skip


@given(st.lists(st.sampled_from(NAMES), max_size=6), st.lists(st.sampled_from(NAMES), max_size=6))
@settings(max_examples=examples(200), deadline=None)
def test_no_two_authors_have_one_place(ours: list[str], theirs: list[str]) -> None:
    places = author_places(doc("1", *ours).authors, doc("2", *theirs).authors)
    numbers = [place.number for place in places if place]
    assert len(numbers) == len(set(numbers))
    assert set(numbers) <= set(range(len(theirs)))


def test_all_formats_have_a_rank() -> None:
    assert set(PREFERRED) == set(MODULES)
    assert len(set(PREFERRED)) == len(PREFERRED)


def test_positions_of_the_list_stay() -> None:
    gap = Document("1", [Author(0, "Doe, J"), Author(2, "Roe, R")])
    assert [author.position for author in merge([Copy(gap, "documents")] * 2).document.authors] == [0, 2]


def test_references_that_differ_in_a_sign_are_different() -> None:
    copies = [Copy(doc("1", references=[name]), "documents") for name in ("W1-2", "W12", "W12")]
    assert merge(copies).document.references == ["W1-2", "W12"]


def test_authors_in_another_order_of_names_are_found_in_a_longer_list() -> None:
    wos = Document("WOS:1", [Author(0, "Doe, J", ["MIT"]), Author(1, "Li, X", ["ETH"])], "On coins")
    openalex = Document("W1", [Author(0, "Jane Doe"), Author(1, "Xu Li"), Author(2, "Ann Roe")], "On coins")
    found = merge([Copy(wos, "wos"), Copy(openalex, "openalex")])
    assert [(author.name, author.affiliations) for author in found.document.authors] == [
        ("Jane Doe", ["MIT"]),
        ("Xu Li", ["ETH"]),
        ("Ann Roe", []),
    ]
    assert not any(found.notes)


def test_of_two_authors_who_can_be_one_of_a_list_it_is_the_one_with_the_same_name() -> None:
    places = author_places(doc("1", "Roe, Rita", "Roe, R").authors, doc("2", "Roe, R").authors)
    assert [place and place.number for place in places] == [None, 0]
    neither = author_places(doc("1", "Roe, Rita", "Roe, Ron").authors, doc("2", "Roe, R").authors)
    assert neither == [None, None]


def test_author_with_other_given_names_is_another_person() -> None:
    def places(ours: list[str], theirs: list[str]) -> list[int | None]:
        return [place and place.number for place in author_places(doc("1", *ours).authors, doc("2", *theirs).authors)]

    assert places(["Doe, Jane"], ["Roe, Rita", "Doe, Julia"]) == [None]
    assert places(["Doe, Jane", "Roe, Rita"], ["Doe, Julia", "Roe, Rita"]) == [None, 1]
    assert places(["Doe, Jane", "Doe, Julia"], ["Roe, Rita", "Doe, Julia K", "Poe, E"]) == [None, 1]
    assert places(["Doe, Jane", "Poe, E", "Li, X"], ["Doe, Julia", "Poe, E", "Li, X"]) == [0, 1, 2], "by position"
    assert places(["Doe, Jaen"], ["Roe, Rita", "Doe, Jane"]) == [1], "a letter is wrong"


def test_identifiers_of_an_author_with_other_given_names_are_not_taken() -> None:
    jane = Author(0, "Doe, Jane", ["MIT"], ids={"orcid": ORCIDS[0]})
    one = doc("1", "Doe, Julia", "Roe, Rita", "Poe, Edgar")
    aligned = merge([Copy(one, "wos"), Copy(doc("2", jane, "Roe, Rita", "Poe, Edgar"), "scopus")])
    assert aligned.document.authors[0] == Author(0, "Doe, Julia", ["MIT"]), "found by position"
    one = doc("1", "Doe, Jane", "Roe, Rita", "Poe, Edgar")
    other = doc("2", "Roe, Rita", Author(1, "Doe, Julia", ids={"orcid": ORCIDS[0]}))
    found = merge([Copy(one, "wos"), Copy(other, "scopus")])
    assert [author.ids for author in found.document.authors] == [{}, {}, {}]
    assert found.notes[1] == [("author", "Doe, Julia is not among the authors of the other copies")]
