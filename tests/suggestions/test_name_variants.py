"""The list of possible name variants of a result."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym import cluster, disambiguate, extract
from homonym.clustering.arrays import starts
from homonym.collection.document_table import WrittenAffiliations
from homonym.commands.run import Resources
from homonym.io.result_directory import REPORT, VARIANTS
from homonym.suggestions import author_bags, variant_candidates
from homonym.suggestions.author_bags import MAX_RARE, AuthorBags, Memberships, common_institutions
from homonym.suggestions.name_variants import COLUMNS, MIN_SCORE, search_variants
from homonym.suggestions.variant_model import VariantModel

# Most tests make whole results.
pytestmark = pytest.mark.slow

SURNAMES = [
    a + b for a in ("Bar", "Cor", "Del", "Fin", "Gor", "Hal") for b in ("bano", "dini", "gutz", "kow", "mst", "rup")
]
FIRST = ("Al", "Bel", "Cam", "Dor", "Eve", "Fab", "Gil", "Hed", "Iso", "Jul", "Kar", "Lev", "Mar", "Nor")
GIVEN = [a + b for a in FIRST for b in ("bert", "dina", "gus", "lotte", "mira", "ton", "vin", "zek")]
PLACES = [a + b for a in ("Ober", "Nieder", "Neu", "Alt") for b in ("burg", "dorf", "feld", "hausen", "stadt")]


def _people(rng: random.Random) -> list[str]:
    pairs = [(surname, given) for surname in SURNAMES for given in GIVEN]
    return [f"{surname}, {given}" for surname, given in rng.sample(pairs, 300)]


def _documents(renamed: dict[int, str], seed: int = 1) -> Iterator[dict[str, Any]]:
    """Documents of people with teams, institutions and topics; people of `renamed` have another name since 2010."""
    rng = random.Random(seed)
    people = _people(rng)
    for team in range(60):
        members = range(5 * team, 5 * team + 5)
        topic = [f"{PLACES[team % 20]}{SURNAMES[team % 36]}{letter}" for letter in "abcdef"]
        for paper in range(8):
            year = 2004 + paper * 2
            here = sorted(rng.sample(members, 3))
            yield {
                "id": f"D{team}-{paper}",
                "title": " ".join(["study", *rng.sample(topic, 4)]),
                "year": year,
                "venue": f"Journal {team % 7}",
                "authors": [
                    {
                        "name": renamed.get(person, people[person]) if year >= 2010 else people[person],
                        "affiliations": [f"University of {PLACES[team % 20]}"],
                    }
                    for person in here
                ],
            }


def _write(path: Path, documents: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, documents)))
    return path


RENAMED = {2: "Otherwise, {given}", 31: "Zweig, {given}", 77: "{surname} Vogel, {given}", 160: "{given}, {surname}"}


@pytest.fixture(scope="module")
def renamed() -> dict[int, str]:
    """New names of some people, by number."""
    people = _people(random.Random(1))
    parts = {number: people[number].split(", ") for number in RENAMED}
    return {number: text.format(surname=parts[number][0], given=parts[number][1]) for number, text in RENAMED.items()}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory, renamed: dict[int, str]) -> Path:
    """A result in which some people have two names."""
    folder = tmp_path_factory.mktemp("variants")
    documents = [*_documents(renamed)]
    disambiguate(_write(folder / "documents.jsonl", documents), folder / "result")
    return folder / "result"


def test_finds_people_with_two_names(result: Path, renamed: dict[int, str]) -> None:
    people = _people(random.Random(1))
    found = {frozenset((one.name_a, one.name_b)): one for one in search_variants(result).listed}
    expected = [frozenset((people[number], text)) for number, text in renamed.items()]
    assert sum(pair in found for pair in expected) >= 3
    assert len(found) <= 2 * len(expected)
    for one in found.values():
        assert MIN_SCORE <= one.score <= 1
        assert one.author_a < one.author_b
        assert one.evidence.startswith("They share ")


def test_list_is_a_file_of_the_result_and_on_its_page(result: Path) -> None:
    with (result / VARIANTS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [row[0] for row in rows[1:]] == [one.author_a for one in search_variants(result).listed]
    scores = [float(row[5]) for row in rows[1:]]
    assert scores == sorted(scores, reverse=True)
    assert "Possible name variants" in (result / REPORT).read_text(encoding="utf-8")


def test_only_the_most_common_affiliations_are_parsed(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    authors = pq.read_table(result / "documents.parquet", columns=["authors"])["authors"].to_pylist()
    number = Counter(one for entries in authors for entry in entries for one in entry["affiliations"])
    common = sorted(number, key=lambda text: (-number[text], text))[:2]
    monkeypatch.setattr(author_bags, "MIN_AFFILIATIONS", 2)
    monkeypatch.setattr(author_bags, "MENTIONS_PER_AFFILIATION", 10**9)
    written = WrittenAffiliations.read(result / "documents.parquet")
    rows = common_institutions(written, 1).to_pylist()
    assert [written.texts[row["affiliation"]].as_py() for row in rows] == common


def test_authors_are_not_merged(result: Path) -> None:
    import pyarrow.parquet as pq

    authors = set(pq.read_table(result / "authors.parquet")["author_id"].to_pylist())
    listed = {author for one in search_variants(result).listed for author in (one.author_a, one.author_b)}
    assert listed <= authors


def test_order_of_input_and_threads_do_not_matter(result: Path, renamed: dict[int, str], tmp_path: Path) -> None:
    documents = [*_documents(renamed)]
    random.Random(5).shuffle(documents)
    disambiguate(_write(tmp_path / "shuffled.jsonl", documents), tmp_path / "again", resources=Resources(threads=1))
    assert (tmp_path / "again" / VARIANTS).read_bytes() == (result / VARIANTS).read_bytes()


def test_documents_without_authors_do_not_matter(result: Path, renamed: dict[int, str], tmp_path: Path) -> None:
    nobody = {"id": "N", "title": "Aaaa Zzzz", "venue": "Aaaa", "year": 2001, "authors": ["Aaaa Study Group"]}
    disambiguate(_write(tmp_path / "more.jsonl", [*_documents(renamed), nobody]), tmp_path / "more")
    expected = {(one.author_a, one.author_b) for one in search_variants(result).listed}
    assert {(one.author_a, one.author_b) for one in search_variants(tmp_path / "more").listed} == expected


def test_limited_work_compares_fewer_pairs_and_says_so(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = search_variants(result)
    monkeypatch.setattr(variant_candidates, "MIN_WORK", before.compared // 2)
    monkeypatch.setattr(variant_candidates, "ROWS_PER_MENTION", 1e9)
    monkeypatch.setattr(variant_candidates, "PAIRS_PER_MENTION", 0.0)
    after = search_variants(result)
    assert before.rare == MAX_RARE
    assert after.rare < MAX_RARE
    assert after.compared <= before.compared // 2


def test_coauthors_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(2)
    on = {(int(a), int(d)) for a, d in zip(rng.integers(0, 8, 60), rng.integers(0, 12, 60), strict=True)}
    rows = np.array(sorted(on))
    found = Memberships(rows[:, 0], rows[:, 1], rows[:, 0], rows[:, 1], 8, 8)
    counts = {
        (a, b): float(sum((a, d) in on and (b, d) in on for d in range(12)))
        for a in range(8)
        for b in range(8)
        if a != b
    }
    total = [sum(counts[a, b] for a in range(8) if a != b) for b in range(8)]
    for rare in (None, 20):
        bags = found.coauthors(None, rare)
        entries = dict(zip(zip(bags.author.tolist(), bags.feature.tolist(), strict=True), bags.count, strict=True))
        kept = {pair: n for pair, n in counts.items() if n and (rare is None or total[pair[1]] <= rare)}
        assert entries == kept
        assert bags.total.tolist() == [max(one, 1) for one in total]


def test_no_list_without_examples(tmp_path: Path) -> None:
    documents = [{"id": "D1", "title": "Alone", "year": 2001, "authors": [{"name": "Doe, Jane"}]}]
    disambiguate(_write(tmp_path / "one.jsonl", documents), tmp_path / "result")
    assert not (tmp_path / "result" / VARIANTS).exists()
    assert search_variants(tmp_path / "result").listed == []


def test_no_list_without_documents(tmp_path: Path, renamed: dict[int, str]) -> None:
    source = _write(tmp_path / "documents.jsonl", [*_documents(renamed)][:40])
    extract(source, tmp_path / "mentions.jsonl")
    cluster(tmp_path / "mentions.jsonl", tmp_path / "result")
    assert (tmp_path / "result" / "mentions.parquet").exists()
    assert not (tmp_path / "result" / VARIANTS).exists()


def test_older_list_is_removed_with_its_result(tmp_path: Path, result: Path) -> None:
    documents = [{"id": "D1", "title": "Alone", "year": 2001, "authors": [{"name": "Doe, Jane"}]}]
    source = _write(tmp_path / "one.jsonl", documents)
    disambiguate(source, tmp_path / "result")
    (tmp_path / "result" / VARIANTS).write_bytes((result / VARIANTS).read_bytes())
    disambiguate(source, tmp_path / "result")
    assert not (tmp_path / "result" / VARIANTS).exists()


HOSTILE = (
    "=cmd()|'/c calc'!A1, Anna",
    "O'Neil; DROP TABLE people; --, Anna",
    "\u202eevil, Anna",
    "%s/{0}, Anna",
    "'', ''",
)


def test_hostile_names_and_titles_are_text(tmp_path: Path, renamed: dict[int, str]) -> None:
    documents = [*_documents(renamed)]
    for number, document in enumerate(documents):
        document["authors"].append({"name": HOSTILE[number % len(HOSTILE)], "affiliations": ["'; --", ""]})
        document["title"] += " '); DROP TABLE papers; -- \\p{L}{4,}"
        document["year"] = None if number % 9 == 0 else document["year"]
        document["venue"] = "" if number % 5 == 0 else "'\"; -- \x00"
    disambiguate(_write(tmp_path / "documents.jsonl", documents), tmp_path / "result")
    assert all(one.author_a < one.author_b for one in search_variants(tmp_path / "result").listed)


def _bags(rows: list[dict[int, float]]) -> AuthorBags:
    entries = [(author, feature, row[feature]) for author, row in enumerate(rows) for feature in sorted(row)]
    author, feature, count = (np.array(column) for column in zip(*entries, strict=True))
    return AuthorBags(
        starts(np.bincount(author, minlength=len(rows))),
        feature,
        count.astype(float),
        np.bincount(feature, count).astype(float),
        np.bincount(author, count, len(rows)).astype(float),
    )


def test_lift_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(3)
    rows = [{int(f): float(rng.integers(1, 4)) for f in rng.choice(9, rng.integers(1, 6), False)} for _ in range(8)]
    bags = _bags([*rows, {}])
    a, b = (part.ravel() for part in np.meshgrid(np.arange(9), np.arange(9)))
    lift, shared = bags.lift(a, b)
    rows.append({})
    total = {f: sum(row.get(f, 0) for row in rows) for f in range(9)}
    for x, y, one, number in zip(a, b, lift, shared, strict=True):
        both = rows[x].keys() & rows[y].keys()
        s = sum(rows[x][f] * rows[y][f] / total[f] for f in both)
        masses = sum(rows[x].values()) * sum(rows[y].values())
        assert number == len(both)
        assert one == pytest.approx(s * sum(total.values()) / masses if masses else 0)


def test_model_separates_and_estimates_the_rate() -> None:
    rng = np.random.default_rng(1)

    def rows(mean: float, number: int) -> np.ndarray[Any, Any]:
        return np.stack([np.ones(number), rng.normal(mean, 1, number)], axis=1)

    model = VariantModel.learn(rows(3, 1000), rows(0, 3000))
    candidates = np.concatenate([rows(3, 50), rows(0, 2000)])
    probability = model.probabilities(candidates, np.full(len(candidates), 1e-2))
    assert probability.sum() == pytest.approx(50, rel=0.4)
    assert probability[:50].mean() > 0.5
    assert probability[50:].mean() < 0.02


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 8), st.integers(1, 50))
def test_groups_of_several_rows_are_kept_with_any_number_of_buckets(groups: list[int], per_row: int, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variant_candidates, "_BUCKETS_PER_ROW", per_row)
        patch.setattr(variant_candidates, "_BUCKETS", most)
        rows = np.arange(len(groups))
        kept, group = variant_candidates._without_most_singletons(rows, np.array(groups, np.int64))
    assert [groups[row] for row in kept.tolist()] == group.tolist()
    assert {row for row in rows.tolist() if groups.count(groups[row]) > 1} <= {*kept.tolist()}
