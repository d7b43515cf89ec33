"""Synthetic corpora: the contract, determinism, names, careers, random draws, files."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from homonym.commands.generate import generate
from homonym.errors import OutputError, SettingsError
from homonym.names.parse import parse_name
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.document_generator import documents, orcid
from homonym.synthetic.population import ASCII_STYLE, MEMBERS, NAMES_BY_AUTHORS, STYLES, Namesakes, write_name
from homonym.synthetic.random_draws import RandomDraws

# Digest of the documents of version 0.8.0 for `Corpus(mentions=3000, seed=3)`.
BEFORE_COLLABORATIONS = "59c747d90711ef34474d30d632eb9d4a3dbaa8c0baaafaa0c0036dbfafe4c659"
# Digest of the documents of version 0.17.0 for `PHYSICS`.
BEFORE_TURNOVER = "c20851074a6c10147ef8bcb441252d188c140d94cc2f2f64c9b1107441d6a6b1"
DEMO = Corpus(mentions=4000, ambiguity=2.0)
DOCUMENT_FIELDS = {
    "id": str,
    "title": str,
    "abstract": str,
    "year": int,
    "venue": str,
    "categories": list,
    "keywords": list,
    "authors": list,
    "references": list,
    "referenced_authors": list,
}
AUTHOR_FIELDS = {"name": str, "affiliations": list, "emails": list, "ids": dict, "author": str}


@pytest.fixture(scope="module")
def demo() -> list[dict[str, Any]]:
    return list(documents(DEMO))


def mentions(corpus: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (author for document in corpus for author in document["authors"])


def authors_by_name(corpus: list[dict[str, Any]]) -> dict[str, set[int]]:
    people: dict[str, set[int]] = defaultdict(set)
    for mention in mentions(corpus):
        people[parse_name(mention["name"]).key].add(int(mention["author"][1:]))
    return people


def read(path: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def digest(corpus: Corpus) -> str:
    return hashlib.sha256(b"\n".join(map(orjson.dumps, documents(corpus)))).hexdigest()


# The contract


def test_documents_follow_the_contract(demo: list[dict[str, Any]]) -> None:
    for number, document in enumerate(demo):
        assert document["id"] == f"d{number:07d}"
        assert document["title"]
        assert document["authors"]
        assert all(isinstance(value, DOCUMENT_FIELDS[field]) and value for field, value in document.items())
        for author in document["authors"]:
            assert author["name"]
            assert author["author"]
            assert all(isinstance(value, AUTHOR_FIELDS[field]) and value for field, value in author.items())


def test_no_author_is_twice_on_one_document(demo: list[dict[str, Any]]) -> None:
    for document in demo:
        labels = [author["author"] for author in document["authors"]]
        assert len(set(labels)) == len(labels)


def test_references_lead_to_earlier_documents_of_the_corpus(demo: list[dict[str, Any]]) -> None:
    years = {document["id"]: document.get("year") for document in demo}
    for document in demo:
        references = document.get("references", [])
        assert all(reference in years and reference < document["id"] for reference in references)
        assert len(set(references)) == len(references)
        cited = [years[reference] or 0 for reference in references]
        assert not cited or max(cited) <= document.get("year", 9999)
    assert sum(len(document.get("references", [])) for document in demo) > 2 * len(demo)


def test_authors_cite_their_own_community(demo: list[dict[str, Any]]) -> None:
    circle = {document["id"]: {int(a["author"][1:]) // MEMBERS for a in document["authors"]} for document in demo}
    shared = [bool(circle[d["id"]] & circle[r]) for d in demo for r in d.get("references", [])]
    assert 0.4 < np.mean(shared) < 0.95


@pytest.mark.parametrize("wanted", [1, 17, 1000])
def test_stops_when_the_mentions_are_complete(wanted: int) -> None:
    corpus = list(documents(Corpus(mentions=wanted)))
    assert len(list(mentions(corpus[:-1]))) < wanted <= len(list(mentions(corpus)))


def test_abstracts_are_of_the_usual_length_and_can_be_left_out(demo: list[dict[str, Any]]) -> None:
    lengths = [len(document["abstract"].split()) for document in demo if "abstract" in document]
    assert 105 < np.mean(lengths) < 135
    assert not any("abstract" in document for document in documents(Corpus(mentions=200, abstracts=False)))


def test_missing_is_the_share_of_missing_abstracts() -> None:
    corpus = list(documents(Corpus(mentions=8000, missing=0.3)))
    assert np.mean(["abstract" in document for document in corpus]) == pytest.approx(0.7, abs=0.03)
    assert all("affiliations" in author for author in mentions(list(documents(Corpus(mentions=500, missing=0)))))
    bare = next(documents(Corpus(mentions=1, missing=1)))
    assert not {"abstract", "keywords", "references"} & bare.keys()


@pytest.mark.slow
def test_documents_and_authors_have_the_asked_means() -> None:
    corpus = list(documents(Corpus(mentions=20_000, authors_per_document=3.0, mentions_per_author=5.0)))
    labels = {mention["author"] for mention in mentions(corpus)}
    assert 20_000 / len(corpus) == pytest.approx(3.0, rel=0.03)
    assert 20_000 / len(labels) == pytest.approx(5.0, rel=0.03)


# Determinism and memory


def test_output_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    generate(tmp_path / "here", DEMO)
    script = (
        "import sys; from homonym import Corpus, generate;"
        f"generate(sys.argv[1], Corpus(mentions={DEMO.mentions}, ambiguity={DEMO.ambiguity}))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "there")], check=True, env=environment)
    for name in ("documents.jsonl.gz", "corpus.json"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_another_seed_gives_another_corpus() -> None:
    assert digest(Corpus(mentions=300)) == digest(Corpus(mentions=300))
    assert digest(Corpus(mentions=300)) != digest(Corpus(mentions=300, seed=1))


def test_output_does_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = digest(Corpus(mentions=3000))
    monkeypatch.setattr("homonym.synthetic.document_generator.BATCH", 77)
    assert digest(Corpus(mentions=3000)) == expected


def peak(mentions: int) -> int:
    tracemalloc.start()
    for _ in documents(Corpus(mentions=mentions, abstracts=False)):
        pass
    _, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return highest


@pytest.mark.slow
def test_memory_does_not_grow_with_the_corpus() -> None:
    # Two batches are alive at a time, which the smaller corpus has too; names and places grow a little.
    assert peak(60_000) < peak(20_000) + 3_000_000


def test_the_first_document_of_a_huge_corpus_comes_at_once() -> None:
    first = list(islice(documents(Corpus(mentions=20_000_000)), 3))
    assert [document["id"] for document in first] == ["d0000000", "d0000001", "d0000002"]


# Names


@pytest.mark.slow
def test_names_have_as_many_authors_as_in_table_1() -> None:
    corpus = list(documents(Corpus(mentions=60_000, abstracts=False, dropped_initials=0)))
    sizes = Counter(len(people) for people in authors_by_name(corpus).values())
    names = sum(sizes.values())
    shares = np.array(NAMES_BY_AUTHORS) / sum(NAMES_BY_AUTHORS)
    assert set(sizes) == set(range(1, 11))
    for size, share in enumerate(shares, 1):
        assert sizes[size] / names == pytest.approx(share, rel=0.1, abs=3 / names)


def test_ambiguity_gives_a_small_corpus_names_of_every_size(demo: list[dict[str, Any]]) -> None:
    sizes = Counter(len(people) for people in authors_by_name(demo).values())
    assert min(sizes[size] for size in range(1, 11)) >= 2
    plain = list(documents(Corpus(mentions=DEMO.mentions)))
    assert len(authors_by_name(plain)) > 1.3 * len(authors_by_name(demo))


def test_homonyms_mostly_come_from_different_communities() -> None:
    corpus = list(documents(Corpus(mentions=20_000, ambiguity=2.0, abstracts=False)))
    homonyms = [people for people in authors_by_name(corpus).values() if len(people) > 1]
    apart = [len({person // MEMBERS for person in people}) / len(people) for people in homonyms]
    assert np.mean(apart) > 0.95


def test_homonyms_may_share_their_given_name(demo: list[dict[str, Any]]) -> None:
    given: dict[str, dict[str, str]] = defaultdict(dict)
    for mention in mentions(demo):
        name = parse_name(mention["name"])
        if name.given and len(name.given[0]) > 1:
            given[name.key][mention["author"]] = name.given[0]
    homonyms = [list(people.values()) for people in given.values() if len(people) == 2]
    same = [first == second for first, second in homonyms]
    assert 0 < sum(same) < len(same)


def test_huge_blocks_have_the_requested_size() -> None:
    corpus = list(documents(Corpus(mentions=12_000, huge_blocks=2, huge_authors=300, dropped_initials=0)))
    sizes = sorted((len(people) for people in authors_by_name(corpus).values()), reverse=True)
    assert sizes[1] > 290
    assert sizes[0] <= 300
    assert sizes[2] <= 10


def test_all_spellings_of_a_name_have_one_key() -> None:
    people = Namesakes(Corpus(), authors=200_000)
    for number, (surname, plain) in enumerate(zip(people.surnames, people.ascii_surnames, strict=True)):
        initials = people.initials[number % len(people.initials)]
        given = next(given for given in people.given_names if given[0] == initials[0])
        written = [write_name(s, plain if s == ASCII_STYLE else surname, given, initials) for s in range(STYLES)]
        assert {parse_name(name).key for name in written} == {f"{plain.upper()}, {initials}"}


def test_different_names_have_different_keys() -> None:
    people = Namesakes(Corpus(), authors=100_000)
    surname, initials = people.key(np.arange(people.names))
    keys = {(people.ascii_surnames[s], i) for s, i in zip(surname.tolist(), initials.tolist(), strict=True)}
    assert len(keys) == people.names
    assert len(set(people.ascii_surnames)) == len(people.ascii_surnames)


def test_dropped_initials_change_the_key_of_some_mentions() -> None:
    def keys_of_authors(corpus: list[dict[str, Any]]) -> dict[str, set[str]]:
        keys: dict[str, set[str]] = defaultdict(set)
        for mention in mentions(corpus):
            keys[mention["author"]].add(parse_name(mention["name"]).key)
        return keys

    assert all(
        len(k) == 1 for k in keys_of_authors(list(documents(Corpus(mentions=2000, dropped_initials=0)))).values()
    )
    changed = keys_of_authors(list(documents(Corpus(mentions=2000, dropped_initials=0.1)))).values()
    assert 0.1 < np.mean([len(keys) > 1 for keys in changed]) < 0.7


def test_variants_is_the_share_of_documents_in_another_style() -> None:
    def written_plainly(variants: float) -> float:
        corpus = documents(Corpus(mentions=4000, variants=variants, dropped_initials=0))
        return float(np.mean([parse_name(d["authors"][0]["name"]).given[0][1:] != "" for d in corpus]))

    assert written_plainly(0) == 1
    assert written_plainly(1) == pytest.approx(1 / (STYLES - 1), abs=0.05)


def test_initials_only_is_the_share_of_documents_without_given_names() -> None:
    def with_initials(share: float) -> float:
        corpus = documents(Corpus(mentions=4000, variants=0.4, initials_only=share))
        return float(np.mean([len(parse_name(d["authors"][0]["name"]).given[0]) == 1 for d in corpus]))

    assert with_initials(1) == 1
    plain = with_initials(0)
    assert with_initials(0.5) == pytest.approx((1 + plain) / 2, abs=0.04)


def test_common_names_are_shared_by_many_people() -> None:
    corpus = list(documents(Corpus(mentions=20_000, common_names=0.3, dropped_initials=0, abstracts=False)))
    people = authors_by_name(corpus)
    by_surname: dict[str, set[int]] = defaultdict(set)
    for name, authors in people.items():
        by_surname[name.split(",")[0]] |= authors
    everyone = sum(map(len, people.values()))
    frequent = sorted(by_surname, key=lambda surname: -len(by_surname[surname]))[:3]
    assert set(frequent) == {"LI", "WANG", "ZHANG"}
    assert 0.05 * everyone < sum(len(by_surname[surname]) for surname in frequent) < 0.12 * everyone
    assert len(people["WANG, Y"]) > 6
    assert not any(name.startswith("WANG, ") and len(name) > len("WANG, Y") for name in people)


def test_all_common_names_have_different_keys() -> None:
    people = Namesakes(Corpus(common_names=0.5, huge_blocks=1), authors=100_000)
    surname, initials = people.key(np.arange(people.names))
    keys = {(people.ascii_surnames[s], i) for s, i in zip(surname.tolist(), initials.tolist(), strict=True)}
    assert len(keys) == people.names
    assert {people.given_names[given][0] for given in people.given(np.arange(9), np.arange(9), initials[:9])} == {
        people.initials[i][0] for i in initials[:9]
    }


def test_titles_only_leaves_nothing_but_titles_and_names() -> None:
    corpus = Corpus(mentions=2000, collaborations=2, collaboration_authors=20, titles_only=True)
    found = list(documents(corpus))
    assert {field for document in found for field in document} == {"id", "title", "year", "venue", "authors"}
    assert {field for mention in mentions(found) for field in mention} == {"name", "author"}
    full = documents(replace(corpus, titles_only=False))
    assert [document["title"] for document in found] == [document["title"] for document in full]


# Careers


def test_people_move_and_drift_and_meet_others(demo: list[dict[str, Any]]) -> None:
    work: dict[str, list[dict[str, Any]]] = defaultdict(list)
    places: dict[str, set[str]] = defaultdict(set)
    for document in demo:
        for author in document["authors"]:
            work[author["author"]].append(document)
            places[author["author"]].update(place.split(", ")[-2] for place in author.get("affiliations", []))
    productive = [author for author, written in work.items() if len(written) >= 8]
    assert np.mean([len(places[author]) > 1 for author in productive]) > 0.3
    fields = [{d["categories"][0] for d in work[author] if "categories" in d} for author in productive]
    assert 0.1 < np.mean([len(f) > 1 for f in fields]) < 1
    pairs = [(work[author][0], work[author][-1]) for author in productive]
    in_common = [len({a["author"] for a in x["authors"]} & {a["author"] for a in y["authors"]}) for x, y in pairs]
    assert 0.1 < np.mean([common == 1 for common in in_common]) < 0.9


def test_an_address_belongs_to_one_person(demo: list[dict[str, Any]]) -> None:
    owners: dict[str, set[str]] = defaultdict(set)
    for mention in mentions(demo):
        for email in mention.get("emails", []):
            assert email.endswith(".example")
            assert email.isascii()
            owners[email].add(mention["author"])
    assert np.mean([len(people) == 1 for people in owners.values()]) > 0.99
    assert len(owners) > len(demo) / 10


def test_orcid_check_digits_follow_the_standard() -> None:
    for author in (0, 1, 42, 9_999_999):
        digits = orcid(author).replace("-", "")
        values = [10 if digit == "X" else int(digit) for digit in digits]
        assert sum(value * 2 ** (15 - place) for place, value in enumerate(values)) % 11 == 1


# Collaborations

PHYSICS = Corpus(mentions=3000, collaborations=3, collaboration_authors=60, collaboration_documents=40, seed=5)


@pytest.fixture(scope="module")
def physics() -> list[dict[str, Any]]:
    return list(documents(PHYSICS))


def collaboration_documents(corpus: list[dict[str, Any]], collaboration: int | None = None) -> list[dict[str, Any]]:
    found = [document for document in corpus if document["id"].startswith("c")]
    return found if collaboration is None else found[collaboration :: PHYSICS.collaborations]


def labels(document: dict[str, Any]) -> set[str]:
    return {author["author"] for author in document["authors"]}


def test_collaborations_write_documents_of_the_asked_size(physics: list[dict[str, Any]]) -> None:
    written = collaboration_documents(physics)
    sizes = [len(document["authors"]) for document in written]
    assert len(written) == 120
    assert np.mean(sizes) == pytest.approx(60, rel=0.1)
    assert max(sizes) > 1.3 * np.mean(sizes)
    assert all(len(labels(document)) == len(document["authors"]) for document in written)


def test_collaborations_come_after_the_ordinary_documents(physics: list[dict[str, Any]]) -> None:
    ordinary = [document for document in physics if document["id"].startswith("d")]
    assert physics == [*ordinary, *collaboration_documents(physics)]
    assert len(list(mentions(ordinary[:-1]))) < PHYSICS.mentions <= len(list(mentions(ordinary)))
    known = {document["id"] for document in collaboration_documents(physics)}
    cited = [(document["id"], other) for document in physics for other in document.get("references", [])]
    assert all(other in known and other < citing for citing, other in cited if citing.startswith("c"))


def test_teams_are_stable_but_change_over_the_years(physics: list[dict[str, Any]]) -> None:
    for collaboration in range(PHYSICS.collaborations):
        team = [labels(document) for document in collaboration_documents(physics, collaboration)]
        next_time = [len(a & b) / len(a) for a, b in pairwise(team)]
        assert 0.8 < np.mean(next_time) < 1  # each document misses a few members
        assert len(team[0] & team[-1]) < 0.6 * len(team[0])
        assert len(set().union(*team)) > 1.8 * len(team[0])


def test_authors_of_collaborations_are_in_alphabetical_order(physics: list[dict[str, Any]]) -> None:
    for document in collaboration_documents(physics):
        surnames = [parse_name(author["name"]).surname for author in document["authors"]]
        assert surnames == sorted(surnames)


def test_members_write_ordinary_documents_too_and_some_join_two_teams(physics: list[dict[str, Any]]) -> None:
    everywhere = [
        set().union(*map(labels, collaboration_documents(physics, number))) for number in range(PHYSICS.collaborations)
    ]
    members = set().union(*everywhere)
    ordinary = {author["author"] for document in physics if document["id"][0] == "d" for author in document["authors"]}
    assert 0.2 < len(members & ordinary) / len(members) < 0.8
    assert len(members) < sum(map(len, everywhere))


def test_homonyms_are_across_and_inside_teams() -> None:
    corpus = Corpus(mentions=500, ambiguity=4.0, collaborations=2, collaboration_authors=100)
    written = collaboration_documents(list(documents(corpus)))
    names: dict[str, set[tuple[int, str]]] = defaultdict(set)
    for number, document in enumerate(written):
        for author in document["authors"]:
            names[parse_name(author["name"]).key].add((number % 2, author["author"]))
    homonyms = [found for found in names.values() if len({label for _, label in found}) > 1]
    assert any(len({team for team, _ in found}) == 1 for found in homonyms)
    assert any(len({team for team, _ in found}) == 2 for found in homonyms)


def test_collaborations_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = digest(PHYSICS)
    monkeypatch.setattr("homonym.synthetic.document_generator.MAX_BATCH_MENTIONS", 100)
    assert digest(PHYSICS) == expected


def test_ordinary_corpora_are_the_same_as_before_collaborations() -> None:
    assert digest(Corpus(mentions=3000, seed=3)) == BEFORE_COLLABORATIONS


def test_collaborations_without_turnover_are_the_same_as_before() -> None:
    assert digest(PHYSICS) == BEFORE_TURNOVER


STABLE = replace(PHYSICS, collaborations=6, collaboration_turnover=0.2)


@pytest.fixture(scope="module")
def stable() -> list[list[set[str]]]:
    """The authors of each document of each stable team."""
    written = [labels(document) for document in documents(STABLE) if document["id"].startswith("c")]
    return [written[team :: STABLE.collaborations] for team in range(STABLE.collaborations)]


def test_members_of_stable_teams_write_most_documents(stable: list[list[set[str]]]) -> None:
    here = np.mean([[len(authors & team[0]) / len(team[0]) for authors in team] for team in stable], axis=0)
    assert np.mean(here[1:5]) > 0.9
    assert 0.65 < np.mean(here[-5:]) < 0.85
    for team in stable:
        assert len(set().union(*team)) < 1.5 * len(team[0])


def test_turnover_is_the_share_of_replaced_members() -> None:
    def people(turnover: float) -> int:
        corpus = replace(STABLE, collaboration_authors=200, collaboration_turnover=turnover)
        return len({author["author"] for author in mentions(collaboration_documents(list(documents(corpus))))})

    assert people(0.5) == pytest.approx(1.5 * people(0.0), rel=0.06)
    assert people(1.0) == pytest.approx(2 * people(0.0), rel=0.06)


def test_stable_teams_differ_in_size_and_documents_have_the_asked_mean(stable: list[list[set[str]]]) -> None:
    sizes = [np.mean([len(authors) for authors in team]) for team in stable]
    assert np.mean(sizes) == pytest.approx(60, rel=0.1)
    assert max(sizes) > 5 * min(sizes)


def test_some_people_are_in_two_stable_teams(stable: list[list[set[str]]]) -> None:
    everywhere = [set().union(*team) for team in stable]
    moved = sum(len(first & second) for first, second in pairwise(everywhere))
    assert 0.02 < moved / sum(map(len, everywhere)) < 0.25


def test_stable_teams_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = digest(STABLE)
    monkeypatch.setattr("homonym.synthetic.document_generator.MAX_BATCH_MENTIONS", 100)
    assert digest(STABLE) == expected


def test_no_author_is_twice_on_a_document_of_a_stable_team() -> None:
    for document in collaboration_documents(list(documents(STABLE))):
        assert len(labels(document)) == len(document["authors"])


@pytest.mark.slow
def test_documents_of_thousands_of_authors_take_little_memory() -> None:
    tracemalloc.start()
    corpus = Corpus(mentions=1, collaborations=1, collaboration_authors=3000, collaboration_documents=20)
    sizes = [len(document["authors"]) for document in documents(corpus)]
    _, highest = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.mean(sizes[1:]) == pytest.approx(3000, rel=0.1)
    assert highest < 60_000_000


# Random draws


@pytest.mark.parametrize("size", [1, 2, 3, 16, 17, 1000, 65_537])
def test_shuffle_is_a_bijection(size: int) -> None:
    places = RandomDraws(3).shuffled(size, "any", np.arange(size))
    assert np.array_equal(np.sort(places), np.arange(size))
    assert size < 1000 or not np.array_equal(places, np.arange(size))


def test_shuffle_checks_its_range() -> None:
    with pytest.raises(IndexError, match="5 is not one of 5"):
        RandomDraws(3).shuffled(5, "any", np.array([5]))


def test_draws_are_uniform() -> None:
    drawn = RandomDraws(0).unit("any", np.arange(100_000))
    assert np.histogram(drawn, bins=10, range=(0, 1))[0] == pytest.approx(10_000, rel=0.05)


# Files


def test_generate_writes_documents_and_their_counts(tmp_path: Path) -> None:
    heard: list[int] = []
    path = generate(tmp_path / "corpus", DEMO, advance=heard.append)
    assert path == tmp_path / "corpus" / "documents.jsonl.gz"
    corpus = read(path)
    assert corpus == list(documents(DEMO))
    counts = orjson.loads((path.parent / "corpus.json").read_bytes())
    labels = {mention["author"] for mention in mentions(corpus)}
    assert counts["parameters"]["ambiguity"] == 2.0
    assert counts["documents"] == len(corpus)
    assert counts["mentions"] == sum(heard) == len(list(mentions(corpus)))
    assert counts["authors"] == len(labels)
    assert sum(int(size) * names for size, names in counts["names_by_authors"].items()) == len(labels)


def test_only_given_parameters_are_described(tmp_path: Path) -> None:
    generate(tmp_path, Corpus(mentions=50, common_names=0.2))
    described = orjson.loads((tmp_path / "corpus.json").read_bytes())["parameters"]
    assert described["common_names"] == 0.2
    assert not {"collaborations", "initials_only", "titles_only"} & described.keys()


def test_counts_agree_with_the_names_in_the_documents(tmp_path: Path) -> None:
    path = generate(tmp_path, Corpus(mentions=3000, ambiguity=2.0, dropped_initials=0))
    counts = orjson.loads((tmp_path / "corpus.json").read_bytes())
    people = authors_by_name(read(path))
    assert counts["names"] == len(people)
    sizes = Counter(str(len(authors)) for authors in people.values())
    assert counts["names_by_authors"] == sizes


def test_generate_creates_no_parent_directories(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be made"):
        generate(tmp_path / "no" / "corpus", DEMO)


# Parameters


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mentions": 0}, "mentions must be a whole number from 1"),
        ({"mentions": 10.5}, "mentions must be a whole number"),
        ({"mentions": True}, "mentions must be a whole number"),
        ({"seed": -1}, "seed must be"),
        ({"ambiguity": 0}, "ambiguity must be a number from 0.2 to 50, got 0"),
        ({"ambiguity": float("nan")}, "ambiguity must be"),
        ({"missing": 1.1}, "missing must be"),
        ({"variants": "some"}, "variants must be a number from 0 to 1, got 'some'"),
        ({"dropped_initials": -0.1}, "dropped_initials must be"),
        ({"huge_authors": 1}, "huge_authors must be"),
        ({"huge_blocks": 10}, "10 huge blocks of 500 authors need at least 30000 mentions, got 10000"),
        ({"authors_per_document": 0.5}, "authors_per_document must be"),
        ({"collaborations": -1}, "collaborations must be a whole number from 0"),
        ({"collaboration_turnover": 1.2}, "collaboration_turnover must be a number from 0 to 1, got 1.2"),
        ({"common_names": -1}, "common_names must be"),
        ({"initials_only": 2}, "initials_only must be"),
        ({"collaboration_authors": 5}, "collaboration_authors must be a whole number from 10"),
        (
            {"collaborations": 10_000, "collaboration_documents": 1_000_000},
            "10000 collaborations with 1000000 documents of 100 authors have more than 2000000000 mentions",
        ),
        ({"authors_per_document": 5, "mentions_per_author": 4}, "must not exceed mentions_per_author"),
    ],
)
def test_rejects_wrong_parameters(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        Corpus(**wrong)
