"""The collection against brute force with dictionaries: N, #(f), n_t(·) and every bag."""

from __future__ import annotations

import gzip
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck
from hypothesis import given as hypothesis_given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.clustering.arrays import Frequencies
from homonym.collection import counting, encoded, references
from homonym.collection.document_merging import Copy, merge
from homonym.collection.encoded import Encoded
from homonym.collection.extractor import added_up
from homonym.collection.statistics import GivenStatistics, given_statistics, statistics_side_file
from homonym.commands.cluster import cluster
from homonym.commands.extract import extract
from homonym.commands.run import Resources
from homonym.engines import local
from homonym.engines.local import LocalEngine
from homonym.errors import HomonymError, InputError, OutputError, SettingsError
from homonym.names.parse import parse_name
from homonym.records.formats.documents import parse_document
from homonym.records.model import Document
from homonym.records.reader import Inputs
from homonym.runtime.progress import Stages
from homonym.schema import MENTIONS
from homonym.settings import Settings
from tests.features.literal_bags import bags_of, referenced
from tests.support.profiles import examples

Bags = dict[str, dict[str, float]]
Raw = dict[str, Any]

DEFAULTS = Settings()
ONE = Resources(threads=1)


@dataclass
class Collection:
    """The output of the engine, with features as text."""

    frequencies: Frequencies
    vocabulary: list[tuple[str, str]]
    mentions: list[Raw]
    bags: list[Bags]
    blocks: list[int]
    stored: int
    records: int
    problems: list[str]
    missing: int

    def counts(self) -> Bags:
        found: Bags = defaultdict(dict)
        for (kind, feature), count in zip(self.vocabulary, self.frequencies.total.tolist(), strict=True):
            found[kind][feature] = count
        return dict(found)

    def mass(self) -> dict[str, float]:
        return dict(zip(self.frequencies.types, self.frequencies.mass.tolist(), strict=True))

    def bags_by_id(self) -> dict[str, Bags]:
        return {row["mention_id"]: bags for row, bags in zip(self.mentions, self.bags, strict=True)}

    def comparable(self) -> tuple[Any, ...]:
        """Everything that must not depend on how the data was read."""
        known = self.frequencies
        frequencies = known.types, known.type_start.tolist(), known.total.tolist(), known.mass.tolist(), known.mentions
        return frequencies, self.vocabulary, self.mentions, self.bags, self.blocks


def collect(
    *paths: Path,
    mentions: bool = False,
    given: GivenStatistics | None = None,
    settings: Settings = DEFAULTS,
    threads: int = 1,
    gathered: int | None = None,
) -> Collection:
    """Run the engine; bags are gathered for all mentions, or for the first few."""
    with tempfile.TemporaryDirectory() as work:
        engine = LocalEngine(Path(work), threads, 1 << 30, Stages())
        read = (engine.read_mentions if mentions else engine.read_documents)(Inputs.of(list(paths)), settings)
        with engine.database(read) as (connection, duplicates):
            read = engine.with_duplicates_merged(read, duplicates)
            answer = engine.count_and_encode(connection, given)
            vocabulary = connection.execute("SELECT type, feature FROM vocabulary ORDER BY id").fetchall()
            missing = counting.features_missing_from_statistics(connection) if given else 0
        columns = ["owner", "own_name", "own_full_name", "parsed_name"]
        rows = pq.read_table(answer.mentions_file).drop_columns(columns).to_pylist()
        return Collection(
            frequencies=answer.frequencies,
            vocabulary=vocabulary,
            mentions=rows,
            bags=spelled_out(answer, vocabulary, len(rows) if gathered is None else gathered),
            blocks=answer.block_start.tolist(),
            stored=len(answer.feature),
            records=read.records,
            problems=[str(problem) for problem in read.problems.first],
            missing=missing,
        )


def spelled_out(answer: Encoded, vocabulary: list[tuple[str, str]], mentions: int) -> list[Bags]:
    kept = np.ones(len(answer.frequencies.types), bool)
    start, features, counts = answer.gather_mentions(slice(0, mentions), kept)
    spelled = []
    for first, last in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        words = [vocabulary[feature] for feature in features[first:last].tolist()]
        assert len(words) == len(set(words)), "a feature stands once in a bag"
        bags: Bags = defaultdict(dict)
        for (kind, feature), count in zip(words, counts[first:last].tolist(), strict=True):
            bags[kind][feature] = count
        spelled.append(dict(bags))
    return spelled


def written(folder: Path, raws: Iterable[Raw | str], name: str = "in.jsonl") -> Path:
    path = folder / name
    content = "".join((raw if isinstance(raw, str) else json.dumps(raw)) + "\n" for raw in raws).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


# The same by brute force


def names_of(document: Document) -> dict[int, str]:
    """The authors with a usable name: position and normalised name."""
    parsed = {author.position: parse_name(author.name) for author in document.authors}
    return {position: name.key for position, name in parsed.items() if name.surname}


def brute_force(raws: Iterable[Raw], settings: Settings = DEFAULTS) -> tuple[dict[str, Bags], dict[str, Raw]]:
    """The bags of each mention and its row, from dictionaries alone."""
    copies: dict[str, list[Copy]] = {}
    for raw in raws:
        document, _ = parse_document(json.dumps(raw).encode())
        copies.setdefault(document.id, []).append(Copy(document, "documents"))
    documents = {name: merge(found).document if len(found) > 1 else found[0].document for name, found in copies.items()}
    bags: dict[str, Bags] = {}
    rows: dict[str, Raw] = {}
    for document in documents.values():
        names = names_of(document)
        cited: Counter[str] = Counter()
        for reference in document.references:
            if reference in documents:
                cited.update(names_of(documents[reference]).values())
        for author in document.authors:
            if author.position not in names:
                continue
            all_bags: dict[str, Any] = bags_of(document, author, settings)
            all_bags["ref"] = referenced(document, cited + Counter(all_bags.get("ref", {})))
            mention_id = f"{document.id}#{author.position}"
            bags[mention_id] = {kind: dict(bag) for kind, bag in all_bags.items() if bag}
            rows[mention_id] = {
                "mention_id": mention_id,
                "document_id": document.id,
                "position": author.position,
                "name": author.name,
                "full_name": parse_name(author.name).full_name,
                "block": author.block or parse_name(author.name).first_initial_key,
                "author": author.label,
                "year": document.year,
            }
    add_namesakes(list(rows.values()))
    return bags, rows


def add_namesakes(rows: list[Raw]) -> None:
    """Add E = (S − 1)·(G − 1)/M to each row, where M is the number of distinct full names."""
    distinct = {row["full_name"] for row in rows} - {None}
    for row in rows:
        row["namesakes"] = None
        if row["full_name"]:
            surname, given = row["full_name"].split("|")
            with_surname = sum(name.split("|")[0] == surname for name in distinct)
            with_given = sum(name.split("|")[1] == given for name in distinct)
            row["namesakes"] = (with_surname - 1) * (with_given - 1) / len(distinct)


def check_against(found: Collection, bags: dict[str, Bags], rows: dict[str, Raw]) -> None:
    """N, the rows and their order, all bags, #(f) and n_t(·)."""
    assert found.frequencies.mentions == len(bags)
    order = sorted(rows.values(), key=lambda row: (row["block"].encode(), row["document_id"].encode(), row["position"]))
    assert found.mentions == order
    assert found.bags_by_id() == bags
    blocks = [row["block"] for row in order]
    assert found.blocks == [i for i in range(len(blocks)) if i == 0 or blocks[i] != blocks[i - 1]] + [len(blocks)]
    total: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for mention in bags.values():
        for kind, bag in mention.items():
            for feature, count in bag.items():
                total[kind, feature] += Fraction(count)
    assert found.vocabulary == sorted(total, key=lambda word: (word[0].encode(), word[1].encode()))
    # The sums are exact; that they become floating-point numbers in the end may cost the last bit.
    assert found.frequencies.total.tolist() == pytest.approx(
        [float(total[word]) for word in found.vocabulary], rel=1e-15
    )
    mass: dict[str, Fraction] = defaultdict(Fraction)
    for (kind, _), summed in total.items():
        mass[kind] += summed
    assert found.frequencies.types == tuple(sorted(mass))
    assert found.mass() == pytest.approx({kind: float(summed) for kind, summed in mass.items()}, rel=1e-15)


# Random corpora of few names, words and ids, so that all combinations occur

NAMES = [
    "Doe, Jane W.",
    "Doe, J. W.",
    "Jane Doe",
    "Smith, A",
    "Smith, Anna",
    "王小明",
    "Müller, K",
    "...",
    "et al.",
    "42",
]
WORDS = ["graph", "graphs", "tree", "The", "names", "Zürich", "2014", "x"]
IDS = ["1", "2", "3", "W4", "é", 5, 1]
some_words = st.lists(st.sampled_from(WORDS), max_size=4)
authors = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(NAMES)},
        optional={
            "affiliations": some_words,
            "emails": st.lists(st.sampled_from(["J@x.org", "j@x.org", "a@y.org"]), max_size=2),
            "author": st.sampled_from(["p1", "p2", None]),
            "block": st.sampled_from(["B", "é", "", None]),
        },
    ),
    max_size=5,
)
documents = st.fixed_dictionaries(
    {"id": st.sampled_from(IDS), "authors": authors},
    optional={
        "title": some_words.map(" ".join),
        "abstract": some_words.map(" ".join),
        "year": st.integers(2010, 2016),
        "venue": st.sampled_from(WORDS),
        "categories": some_words,
        "keywords": some_words,
        "references": st.lists(st.sampled_from([*IDS, "unknown"]), max_size=5),
        "referenced_authors": st.lists(st.sampled_from(NAMES), max_size=4),
        "other_authors": st.lists(st.sampled_from(NAMES), max_size=2),
    },
)


def with_one_title_per_id(corpus: list[Raw]) -> list[Raw]:
    """The same records. Those with one id have one title: they would be different documents if all else differed."""
    titles = {str(raw["id"]): raw.get("title", "") for raw in corpus}
    return [raw | {"title": titles[str(raw["id"])]} for raw in corpus]


corpora = st.lists(documents, min_size=1, max_size=8).map(with_one_title_per_id)
one_usable: Raw = {"id": "one", "authors": [{"name": "Doe, J"}]}
bounded = hypothesis_settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@hypothesis_given(corpora, st.sampled_from(["full", "initials"]), st.sampled_from(["institution", "whole"]))
@bounded
def test_random_corpora_agree_with_brute_force(tmp_path: Path, corpus: list[Raw], names: str, level: str) -> None:
    corpus = [*corpus, one_usable]
    settings = Settings(coauthor_names=names, affiliation_level=level)
    found = collect(written(tmp_path, corpus), settings=settings)
    check_against(found, *brute_force(corpus, settings))
    ids = [str(raw["id"]) for raw in corpus]
    assert found.records == len(set(ids))
    assert sum("which has the same id" in problem for problem in found.problems) == len(ids) - len(set(ids))


@pytest.mark.slow
@hypothesis_given(st.lists(documents, min_size=1, max_size=7), st.randoms())
@bounded
def test_the_order_of_the_input_does_not_matter(tmp_path: Path, corpus: list[Raw], rng: random.Random) -> None:
    corpus = [*corpus, one_usable]
    shuffled = rng.sample(corpus, len(corpus))
    first, second = collect(written(tmp_path, corpus)), collect(written(tmp_path, shuffled))
    assert first.comparable() == second.comparable()


def corpus_of(size: int, seed: int = 7) -> list[Raw]:
    """A larger corpus, without duplicates."""
    rng = random.Random(seed)

    def some(words: Sequence[Any], most: int) -> list[Any]:
        return rng.choices(words, k=rng.randrange(most + 1))

    return [
        {
            "id": f"W{number}",
            "title": " ".join(some(WORDS, 5)),
            "year": rng.choice([None, 2012, 2014]),
            "venue": rng.choice(WORDS),
            "keywords": some(WORDS, 3),
            "authors": [
                {"name": name, "emails": some(["a@x.org", "b@x.org"], 1), "author": rng.choice([None, "p"])}
                for name in ["Roe, R", *some(NAMES, 6)]
            ],
            "references": [f"W{rng.randrange(size + 5)}" for _ in range(rng.randrange(5))],
            "referenced_authors": some(NAMES, 2),
        }
        for number in range(size)
    ]


@pytest.mark.slow
def test_many_parts_and_processes_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of(300)
    path = written(tmp_path, corpus)
    whole = collect(path)
    check_against(whole, *brute_force(corpus))
    monkeypatch.setattr(local, "CHUNK_BYTES", 3_000)
    assert collect(path).comparable() == whole.comparable()
    monkeypatch.setattr(local, "SMALL_INPUT", 0)
    assert collect(path, threads=2).comparable() == whole.comparable()


@pytest.mark.parametrize("small", [True, False])
def test_only_the_database_of_a_large_input_has_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool
) -> None:
    if not small:
        monkeypatch.setattr(local, "INPUT_IN_MEMORY", 0)
    path = written(tmp_path, corpus_of(10))
    (tmp_path / "work").mkdir()
    engine = LocalEngine(tmp_path / "work", 1, 1 << 30, Stages())
    with engine.database(engine.read_documents(Inputs.of([path]), Settings())):
        assert (tmp_path / "work" / "collection.duckdb").exists() != small


def test_large_inputs_are_read_in_chunks_of_twice_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, corpus_of(40))
    monkeypatch.setattr(local, "CHUNK_BYTES", 1_000)
    parts = {}
    for bound in (1 << 30, 0):
        monkeypatch.setattr(local, "LARGE_INPUT", bound)
        (work := tmp_path / f"work-{bound}").mkdir()
        read = LocalEngine(work, 1, 1 << 30, Stages()).read_documents(Inputs.of([path]), Settings())
        parts[bound] = len(read.data.keys)
    assert 1.5 * parts[0] < parts[1 << 30] < 2.5 * parts[0]


def test_released_bags_are_read_again(tmp_path: Path) -> None:
    file = tmp_path / "count.bin"
    np.arange(4 << 20, dtype=np.float64).tofile(file)
    count = np.memmap(file, np.float64, "r")
    fields: dict[str, Any] = dict.fromkeys(Encoded.__dataclass_fields__)
    collection = Encoded(**fields | {"feature": np.zeros(1, np.int32), "count": count})
    total, held = count.sum(), psutil.Process().memory_info().rss
    collection.release_bags()
    if sys.platform == "linux":
        assert psutil.Process().memory_info().rss < held - (16 << 20)
    assert count.sum() == total


@pytest.mark.slow
def test_references_are_counted_in_slices_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = corpus_of(40)
    path = written(tmp_path, corpus)
    whole = collect(path)
    check_against(whole, *brute_force(corpus))
    for size in (1, 7, 50):
        monkeypatch.setattr(references, "SLICE", size)
        assert collect(path).comparable() == whole.comparable()


Entries = list[tuple[int, int, float]]
OWNED = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 5), st.sampled_from([0.5, 1.0, 3.0])), unique_by=lambda entry: entry[:2]
)


@hypothesis_given(OWNED, OWNED, st.booleans())
@hypothesis_settings(max_examples=examples(300))
def test_bags_in_order_are_merged_as_if_sorted(one: Entries, other: Entries, far: bool) -> None:
    parts = [
        encoded._OwnedBags(
            np.array([(owner << (60 if far else 20)) for owner, _, _ in sorted(rows)], np.int64),
            np.array([feature for _, feature, _ in sorted(rows)], np.int32),
            np.array([count for _, _, count in sorted(rows)], np.float64),
        )
        for rows in (one, other)
    ]
    merged = parts[0].merged_with(parts[1])
    owner, feature, count = added_up(
        np.concatenate([part.owner for part in parts]),
        np.concatenate([part.feature for part in parts]),
        np.concatenate([part.count for part in parts]),
    )
    np.testing.assert_array_equal(merged.owner, owner)
    np.testing.assert_array_equal(merged.feature, feature)
    np.testing.assert_array_equal(merged.count, count)


@pytest.mark.slow
def test_several_files_are_one_collection(tmp_path: Path) -> None:
    corpus = corpus_of(30)
    whole = collect(written(tmp_path, corpus))
    files = [written(tmp_path, corpus[:10], "a.jsonl"), written(tmp_path, corpus[10:], "b.jsonl.gz")]
    assert collect(*files).comparable() == collect(*reversed(files)).comparable() == whole.comparable()


# Single cases


def named(*names: str) -> list[Raw]:
    return [{"name": name} for name in names]


def test_authors_of_one_name_on_one_document_are_co_authors(tmp_path: Path) -> None:
    found = collect(written(tmp_path, [{"id": "1", "authors": named("Doe, J", "Doe, John", "Roe, R")}]))
    assert found.bags_by_id() == {
        "1#0": {"co": {"DOE, J": 0.25, "DOE|JOHN": 0.75, "ROE, R": 1}},
        "1#1": {"co": {"DOE, J": 1, "ROE, R": 1}},
        "1#2": {"co": {"DOE, J": 1.25, "DOE|JOHN": 0.75}},
    }
    assert found.counts() == {"co": {"DOE, J": 2.5, "DOE|JOHN": 1.5, "ROE, R": 2}}
    assert found.mass() == {"co": 6}


def test_a_single_author_has_no_co_authors(tmp_path: Path) -> None:
    corpus = [{"id": "1", "authors": named("Doe, J")}, {"id": "2", "authors": named("Doe, J", "Roe, R")}]
    found = collect(written(tmp_path, corpus))
    assert found.bags_by_id() == {"1#0": {}, "2#0": {"co": {"ROE, R": 1}}, "2#1": {"co": {"DOE, J": 1}}}


def test_bags_contain_only_the_feature_types_asked_for(tmp_path: Path) -> None:
    engine = LocalEngine(tmp_path, 1, 1 << 30, Stages())
    read = engine.read_documents(Inputs.of(written(tmp_path, corpus_of(9))), DEFAULTS)
    with engine.database(read) as (connection, _):
        answer = engine.count_and_encode(connection, None)
    types, starts = answer.frequencies.types, answer.frequencies.type_start
    kept = np.array([kind in {"co", "email"} for kind in types])
    _, every, counts = answer.gather_mentions(slice(None), np.ones(len(types), bool))
    _, some, fewer = answer.gather_mentions(slice(None), kept)
    of_kept_type = kept[np.searchsorted(starts, every, side="right") - 1]
    assert some.tolist() == every[of_kept_type].tolist()
    assert fewer.tolist() == counts[of_kept_type].tolist()


def test_mentions_without_features_are_counted(tmp_path: Path) -> None:
    found = collect(written(tmp_path, [{"id": "1", "authors": named("Doe, J")}]))
    assert (found.frequencies.mentions, found.frequencies.types, found.vocabulary) == (1, (), [])
    assert (found.bags, found.blocks, found.stored) == ([{}], [0, 1], 0)


def test_authors_of_referenced_documents_are_features(tmp_path: Path) -> None:
    corpus: list[Raw] = [
        {"id": "1", "authors": named("Doe, J", "..."), "references": ["1"]},
        {"id": "2", "authors": named("Roe, R"), "references": ["1", "unknown", "3"], "referenced_authors": ["J Doe"]},
        {"id": "3", "authors": [], "references": ["1", "2"]},
        {"id": "4", "authors": named("Poe, E"), "references": ["2", "2"]},
        {"id": "5", "authors": named("Moe, M"), "references": ["unknown"]},
    ]
    found = collect(written(tmp_path, corpus))
    assert found.bags_by_id() == {
        "1#0": {},  # a self-citation is no evidence
        "2#0": {"ref": {"DOE, J": 2}},
        "4#0": {"ref": {"ROE, R": 2}},
        "5#0": {},
    }
    assert found.counts() == {"ref": {"DOE, J": 2, "ROE, R": 2}}


def test_references_are_resolved_across_files(tmp_path: Path) -> None:
    first = written(tmp_path, [{"id": "1", "authors": named("Doe, J"), "references": ["2"]}], "a.jsonl")
    second = written(tmp_path, [{"id": "2", "authors": named("Roe, R"), "references": ["1"]}], "b.jsonl")
    assert collect(first, second).counts() == {"ref": {"DOE, J": 1, "ROE, R": 1}}


def test_copies_of_a_document_are_merged(tmp_path: Path) -> None:
    first = [{"id": "1", "authors": named("Doe, Jane", "Roe, R"), "title": "graph"}]
    again: list[Raw | str] = [
        "",
        {"id": 1, "authors": named("Roe, Rita", "Poe"), "title": "Graph", "references": ["2"]},
        {"id": "2", "authors": named("Moe, M"), "references": ["1"]},
    ]
    found = collect(written(tmp_path, first, "a.jsonl"), written(tmp_path, again, "b.jsonl"))
    assert found.counts() == {
        "co": {"DOE, J": 0.25, "DOE|JANE": 0.75, "ROE, R": 0.25, "ROE|RITA": 0.75},
        "ref": {"DOE, J": 1, "MOE, M": 2, "ROE, R": 1},
        "term": {"graph": 6},
    }
    assert found.frequencies.mentions == 3
    assert found.records == 2
    assert found.problems == [
        f"{tmp_path / 'b.jsonl'}, line 2: merged with line 1 of {tmp_path / 'a.jsonl'}, which has the same id '1'.",
        f"{tmp_path / 'b.jsonl'}, line 2: Poe is not among the authors of the other copies; this author was rejected.",
    ]


def test_a_record_that_occurs_three_times_is_two_duplicates(tmp_path: Path) -> None:
    found = collect(written(tmp_path, [one_usable] * 3))
    assert (found.frequencies.mentions, found.records, len(found.problems)) == (1, 1, 2)


def test_a_duplicate_is_reported_with_its_file(tmp_path: Path) -> None:
    blank = written(tmp_path, [" "], "z.jsonl")
    found = collect(blank, written(tmp_path, [one_usable, one_usable], "a.jsonl"))
    assert found.problems[0].startswith(str(tmp_path / "a.jsonl"))


def test_reports_broken_records_and_authors_and_uses_the_rest(tmp_path: Path) -> None:
    corpus: list[Raw | str] = [
        "{",
        {"id": "1", "authors": [{"name": "..."}, {}, {"name": "Doe, J"}, {"name": "Roe, R"}], "year": "n.d."},
        {"id": "2"},
    ]
    found = collect(written(tmp_path, corpus))
    assert found.bags_by_id() == {"1#2": {"co": {"ROE, R": 1}}, "1#3": {"co": {"DOE, J": 1}}}
    assert found.records == 1
    assert [problem.removeprefix(str(tmp_path / "in.jsonl")).split(":")[0] for problem in found.problems] == [
        ", line 1", ", line 2", ", line 2", ", line 2", ", line 3"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("raws", "reason"),
    [
        ([{"id": "1", "authors": []}], "1 record, but no author"),
        ([{"id": "1", "authors": named("...")}], "1 record, but no author"),
        (["{"], "none of the formats"),
        (['{"authors": '], "no usable documents"),
        ([" "], "no usable documents"),
    ],
)
def test_rejects_input_without_mentions_with_one_line(tmp_path: Path, raws: list[Raw | str], reason: str) -> None:
    path = written(tmp_path, raws)
    with pytest.raises(InputError, match=reason) as caught:
        extract(path, tmp_path / "out.jsonl", resources=ONE)
    assert str(path) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_a_document_with_many_authors_is_stored_once(tmp_path: Path) -> None:
    size = 5_000
    everybody = [f"{chr(65 + n // 676)}{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}ovic, Q" for n in range(size)]
    corpus = [{"id": "1", "title": "graph tree", "authors": named(*everybody)}, one_usable]
    found = collect(written(tmp_path, corpus), gathered=3)
    assert len({parse_name(name).key for name in everybody}) == size
    assert found.frequencies.mentions == size + 1
    assert found.stored == size + 2
    assert set(found.counts()["co"].values()) == {size - 1}
    assert found.mass() == {"co": size * (size - 1), "term": 6 * size}
    for row, bags in zip(found.mentions[:3], found.bags, strict=True):
        assert set(bags["co"]) == {parse_name(name).key for name in everybody if name != row["name"]}


def test_the_tenth_author_comes_after_the_ninth(tmp_path: Path) -> None:
    found = collect(written(tmp_path, [{"id": "1", "authors": named(*["Doe, J"] * 12)}]))
    assert [row["position"] for row in found.mentions] == list(range(12))
    assert found.bags == [{"co": {"DOE, J": 11}}] * 12


def test_blocks_continue_across_chunks() -> None:
    chunks = [["a", "a"], ["a", "b"], [], ["b"], ["c"]]
    assert encoded._block_starts(pa.chunked_array(chunks, pa.string())).tolist() == [0, 3, 5, 6]
    assert encoded._block_starts(pa.chunked_array([], pa.string())).tolist() == [0]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_numbers_of_features_come_in_any_order(size: int) -> None:
    rows = [(8, 1, 3), (0, 2, 4), (5, 0, 1), (0, 0, 7), (8, 0, 2), (0, 1, 9)]
    table = pa.table([pa.array(column, pa.int32()) for column in zip(*rows, strict=True)], ["part", "id", "number"])
    numbers, place = encoded._numbers(table.to_reader(max_chunksize=size), {0: 3, 5: 1, 8: 2})
    assert numbers.tolist() == [7, 9, 4, 1, 2, 3]
    assert place == {0: 0, 5: 3, 8: 4}


@pytest.mark.parametrize(
    ("blocking", "blocks"),
    [
        ("given", ["B", "DOE, JW", "DOE, JW"]),
        ("initials", ["DOE, J", "DOE, JW", "DOE, JW"]),
        ("first-initial", ["DOE, J", "DOE, J", "DOE, J"]),
        ("full-name", ["DOE, JANE W", "DOE, JOHN", "DOE, JOHN W"]),
    ],
)
def test_blocks_are_those_of_the_scheme(tmp_path: Path, blocking: Any, blocks: list[str]) -> None:
    authors = [{"name": "Doe, John", "block": "B"}, *named("Doe, Jane W", "Doe, John W")]
    found = collect(written(tmp_path, [{"id": "1", "authors": authors}]), settings=Settings(blocking=blocking))
    assert [row["block"] for row in found.mentions] == blocks


# Mentions with bags


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mentions.jsonl", "mentions.jsonl.gz", "mentions.parquet"])
@pytest.mark.parametrize("settings", [DEFAULTS, Settings(year_sigma=0.4), Settings(year_sigma=1e-9, year_reach=100)])
def test_extracted_mentions_give_the_same_collection(tmp_path: Path, name: str, settings: Settings) -> None:
    source = written(tmp_path, corpus_of(40))
    summary = extract(source, tmp_path / name, settings, resources=ONE)
    original = collect(source, settings=settings)
    again = collect(tmp_path / name, mentions=True)
    assert again.problems == []
    assert again.comparable() == original.comparable()
    assert summary.mentions == again.records == len(original.mentions)


@pytest.mark.slow
@hypothesis_given(corpora)
@hypothesis_settings(bounded, max_examples=examples(10))
def test_extracted_mentions_of_random_corpora_give_the_same_collection(tmp_path: Path, corpus: list[Raw]) -> None:
    source = written(tmp_path, [*corpus, one_usable])
    original = collect(source)
    for name in ("mentions.jsonl", "mentions.parquet"):
        extract(source, tmp_path / name, resources=ONE)
        assert collect(tmp_path / name, mentions=True).comparable() == original.comparable()


any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
any_bags = st.dictionaries(any_text, st.dictionaries(any_text, st.floats(2**-10, 1e9), max_size=4), max_size=3)
any_mentions = st.lists(
    st.fixed_dictionaries(
        {"mention_id": any_text.filter(bool), "block": any_text.filter(bool), "features": any_bags},
        optional={"document_id": any_text, "position": st.integers(0, 2**31 - 1), "name": any_text},
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda raw: raw["mention_id"],
)


def as_row(raw: Raw) -> Raw:
    entries = [
        {"type": kind, "feature": feature, "count": count}
        for kind, bag in raw.get("features", {}).items()
        for feature, count in bag.items()
    ]
    return {**dict.fromkeys(MENTIONS.names), **raw, "features": entries}


def parquet(folder: Path, raws: Iterable[Raw], name: str = "in.parquet") -> Path:
    pq.write_table(pa.Table.from_pylist([as_row(raw) for raw in raws], MENTIONS), folder / name)
    return folder / name


@pytest.mark.slow
@hypothesis_given(any_mentions)
@hypothesis_settings(bounded, max_examples=examples(25))
def test_any_mentions_are_the_same_from_json_lines_and_parquet(tmp_path: Path, raws: list[Raw]) -> None:
    found = collect(written(tmp_path, raws), mentions=True)
    assert found.comparable() == collect(parquet(tmp_path, raws), mentions=True).comparable()
    assert found.problems == []
    assert found.bags_by_id() == {
        raw["mention_id"]: {kind: bag for kind, bag in raw["features"].items() if bag} for raw in raws
    }
    total: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for raw in raws:
        for kind, bag in raw["features"].items():
            for feature, count in bag.items():
                total[kind, feature] += Fraction(count)
    assert found.vocabulary == sorted(total, key=lambda word: (word[0].encode(), word[1].encode()))
    assert found.frequencies.total.tolist() == pytest.approx(
        [float(total[word]) for word in found.vocabulary], rel=1e-15
    )


def mention(number: int, **features: dict[str, float]) -> Raw:
    return {"mention_id": f"m{number}", "block": "B", "features": features}


def test_json_lines_and_parquet_can_be_combined(tmp_path: Path) -> None:
    lines = written(tmp_path, [mention(1, co={"A": 1}), mention(2, co={"A": 2})])
    table = parquet(tmp_path, [mention(3, co={"A": 3}), mention(1, co={"A": 9})])
    found = collect(table, lines, mentions=True)
    assert (found.counts(), found.frequencies.mentions) == ({"co": {"A": 6}}, 3)
    assert found.problems == [
        f"{table}, line 2: 'm1' is already the id of line 1 of {lines}; this duplicate was rejected."
    ]


def test_sums_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    rng = random.Random(3)
    raws = [mention(n, co={"A": 10 ** rng.uniform(-9, 9), "B": rng.random()}) for n in range(200)]
    totals = {
        tuple(collect(written(tmp_path, rng.sample(raws, len(raws))), mentions=True).frequencies.total.tolist())
        for _ in range(4)
    }
    assert len(totals) == 1
    ((first, second),) = totals
    exact = [sum(Fraction(raw["features"]["co"][name]) for raw in raws) for name in ("A", "B")]
    assert [first, second] == pytest.approx([float(total) for total in exact], rel=1e-10)


def entries(*rows: tuple[Any, Any, Any]) -> list[Raw]:
    return [dict(zip(("type", "feature", "count"), row, strict=True)) for row in rows]


def test_entries_of_one_feature_are_added_up(tmp_path: Path) -> None:
    rows = [
        {"mention_id": "m1", "block": "B", "features": entries(("co", "A", 1.0), ("co", "B", 1.0), ("co", "A", 2.0))}
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    found = collect(tmp_path / "in.parquet", mentions=True)
    assert found.bags == [{"co": {"A": 3.0, "B": 1.0}}]


def test_reads_parquet_files_of_other_tools(tmp_path: Path) -> None:
    bag = pa.large_list(pa.struct([("count", pa.int16()), ("feature", pa.large_string()), ("type", pa.string())]))
    columns = {
        "extra": pa.array([1.5, 2.5, 3.5]),
        "mention_id": pa.array([7, 8, 9]),
        "block": pa.array(["B", "", None]).dictionary_encode(),
        "name": pa.array(["x", "N", "N"], pa.large_string()),
        "features": pa.array([entries(("co", "A", 0), ("co", "B", 2)), None, []], bag),
    }
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")
    found = collect(tmp_path / "in.parquet", mentions=True)
    assert found.bags_by_id() == {"7": {"co": {"B": 2.0}}, "8": {}, "9": {}}
    assert [row["block"] for row in found.mentions] == ["B", "N", "N"]


def test_reads_parquet_files_larger_than_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raws = [mention(n, co={f"A{n % 7}": 1.0 + n}) for n in range(50)]
    whole = collect(parquet(tmp_path, raws), mentions=True)
    monkeypatch.setattr("homonym.collection.parts.BATCH_ROWS", 8)
    assert collect(tmp_path / "in.parquet", mentions=True).comparable() == whole.comparable()


ROW: Raw = {"mention_id": "m", "block": "B", "features": entries(("co", "A", 1.0))}


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([ROW, {**ROW, "mention_id": None}], "row 2: mention_id is missing"),
        ([ROW, {**ROW, "mention_id": ""}], "row 2: mention_id is missing"),
        ([ROW, {**ROW, "block": None}], "row 2: block is missing"),
        ([{**ROW, "features": entries(("co", "A", float("nan")))}], "row 1: the feature"),
        ([{**ROW, "features": entries(("co", "A", float("inf")))}], "row 1: the feature"),
        ([ROW, {**ROW, "features": entries(("co", "A", 1.0), ("co", "B", -1.0))}], "row 2: the feature .*'B'"),
        ([{**ROW, "features": entries(("co", "A", 1e-10))}], "1e-9 to 1e9"),
        ([{**ROW, "features": entries(("co", "A", 1e10))}], "1e-9 to 1e9"),
        ([ROW, {**ROW, "features": entries(("co", "A", None))}], "row 2: the feature"),
        ([ROW, {**ROW, "features": entries(("co", None, 1.0))}], "row 2: the feature"),
        ([ROW, {**ROW, "features": entries((None, "A", 1.0))}], "row 2: the feature"),
        ([ROW, {**ROW, "features": [None]}], "row 2: the feature"),
        ([{"mention_id": "m", "features": []}], "column block is missing"),
        ([{"mention_id": "m", "block": "B"}], "column features is missing"),
        ([{"block": "B", "features": []}], "column mention_id is missing"),
        ([{**ROW, "features": "co"}], "column features must be list"),
        ([{**ROW, "features": ["co"]}], "column features must be list"),
        ([{**ROW, "features": {"co": {"A": 1.0}}}], "column features must be list"),
        ([{**ROW, "features": [{"type": "co", "feature": "A"}]}], "column features must be list"),
        ([{**ROW, "features": entries(("co", "A", "much"))}], "column features must be list"),
        ([{**ROW, "position": 2**40}], "column position must be int32"),
        ([{**ROW, "mention_id": [1]}], "column mention_id must be string"),
    ],
)
def test_rejects_wrong_parquet_files_with_one_line(tmp_path: Path, rows: list[Raw], says: str) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    with pytest.raises(InputError, match=says) as caught:
        collect(path, mentions=True)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value).splitlines()) == 1


def test_rejects_damaged_parquet_files_with_one_line(tmp_path: Path) -> None:
    path = parquet(tmp_path, [mention(n, co={f"A{n}": 1.0}) for n in range(5_000)])
    content = path.read_bytes()
    for damaged in (b"", b"PAR1", b"PAR1" * 10, content[:-9], content[:200] + b"\xab" * 5_000 + content[5_200:]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"is not a Parquet file|is damaged|is empty") as caught:
            collect(path, mentions=True)
        assert str(caught.value).startswith(str(path))
        assert len(str(caught.value).splitlines()) == 1
    pq.write_table(MENTIONS.empty_table(), path)
    with pytest.raises(InputError, match="holds no mentions"):
        collect(path, mentions=True)


# Given statistics

HEADER = "type,feature,count\n"


@pytest.fixture
def two_names(tmp_path: Path) -> Path:
    return written(tmp_path, [mention(1, co={"A": 1, "B": 2}, term={"x": 3})])


def statistics(folder: Path, content: str | bytes, name: str = "given.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_given_counts_replace_those_of_the_run(tmp_path: Path, two_names: Path) -> None:
    path = statistics(tmp_path, HEADER + "co,A,50.5\nco,Z,9\nterm,y,7\n")
    found = collect(two_names, mentions=True, given=given_statistics(path, 100))
    assert found.counts() == {"co": {"A": 50.5, "B": 2.0}, "term": {"x": 3.0}}
    assert found.frequencies.mentions == 100
    assert found.mass() == {"co": 59.5, "term": 7.0}
    assert found.missing == 2
    assert found.bags == [{"co": {"A": 1, "B": 2}, "term": {"x": 3}}]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (HEADER.replace("\n", "\r\n") + "co,A,5\r\n", "given.csv"),
        ('"type","feature","count"\n"co","A","5"\n', "given.csv"),
        (b"\xef\xbb\xbf" + HEADER.encode() + b"co,A,5\n", "given.csv"),
        (HEADER + "co,A,5", "given.csv"),
        (gzip.compress((HEADER + "co,A,5\n").encode(), mtime=0), "given.csv.gz"),
        (HEADER + "co,A,5\n", "gi[v]en.csv"),
        (HEADER + "co,A,5\n", "gi'ven.csv"),
    ],
)
def test_reads_statistics_of_other_tools(tmp_path: Path, two_names: Path, content: str | bytes, name: str) -> None:
    path = statistics(tmp_path, content, name)
    found = collect(two_names, mentions=True, given=given_statistics(path, 100))
    assert found.counts()["co"] == {"A": 5.0, "B": 2.0}


def test_columns_of_a_csv_file_are_found_by_name(tmp_path: Path, two_names: Path) -> None:
    path = statistics(tmp_path, "more,count,feature,type\nx,5,A,co\n")
    assert collect(two_names, mentions=True, given=given_statistics(path, 100)).counts()["co"] == {"A": 5.0, "B": 2.0}


def test_columns_of_a_parquet_file_are_found_by_name(tmp_path: Path, two_names: Path) -> None:
    path = tmp_path / "given.parquet"
    pq.write_table(pa.table({"count": [5], "feature": ["A"], "type": ["co"], "extra": [1]}), path)
    assert collect(two_names, mentions=True, given=given_statistics(path, 100)).counts()["co"] == {"A": 5.0, "B": 2.0}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (HEADER + "co,A,-5\n", "every count must be a positive number"),
        (HEADER + "co,A,0\n", "every count must be a positive number"),
        (HEADER + "co,A,\n", "every count must be a positive number"),
        (HEADER + "co,A,inf\n", "every count must be a positive number"),
        (HEADER + "co,A,nan\n", "every count must be a positive number"),
        (HEADER + "co,A,1e300\n", "count"),
        (HEADER + "co,A,5\nco,A,6\n", "some features occur twice"),
        (HEADER + "co,A,many\n", "cannot be read: .*invalid value 'many'"),
        (HEADER + "co,A,5\nco,B\n", "line 3: expected 3 columns, got 2; correct or remove the row"),
        ("type,feature\nco,A\n", "has the columns type, feature; expected type, feature, count"),
        ("co,A,5\nco,B,6\n", "has the columns co, A, 5; expected type, feature, count"),
        ("\n\n", "nothing but blank lines"),
        (b"\x00\x01\xff" * 99, "expected type, feature, count"),
    ],
)
def test_rejects_wrong_statistics_with_one_line(
    tmp_path: Path, two_names: Path, content: str | bytes, says: str
) -> None:
    path = statistics(tmp_path, content)
    given = given_statistics(path, 100)
    with pytest.raises(InputError, match=says) as caught:
        collect(two_names, mentions=True, given=given)
    assert str(caught.value).startswith(str(path))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "table",
    [{"type": ["co"], "feature": ["A"]}, {"type": ["co"], "feature": ["A"], "count": ["many"]}, {"a": [1]}],
)
def test_rejects_wrong_parquet_statistics_with_one_line(
    tmp_path: Path, two_names: Path, table: dict[str, list[Any]]
) -> None:
    path = tmp_path / "given.parquet"
    pq.write_table(pa.table(table), path)
    with pytest.raises(InputError, match=r"expected type, feature, count|cannot be read: .*'many'") as caught:
        collect(two_names, mentions=True, given=given_statistics(path, 100))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (gzip.compress((HEADER + "co,A,5\n" * 999).encode(), mtime=0)[:-9], "given.csv.gz"),
        (b"PAR1", "given.parquet"),
    ],
)
def test_rejects_truncated_statistics(tmp_path: Path, two_names: Path, content: Any, name: str) -> None:
    path = statistics(tmp_path, content, name)
    with pytest.raises(InputError, match=r"truncated or damaged|cannot be read") as caught:
        collect(two_names, mentions=True, given=given_statistics(path, 100))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (HEADER + "co,A,5\n", "given.csv.gz"),
        (gzip.compress((HEADER + "co,A,5\n").encode(), mtime=0), "given.csv"),
        ((HEADER + "co,A,5\n").encode("utf-16"), "given.csv"),
        ((HEADER + "co,A,5\nco,Ä,6\n").encode("latin-1"), "given.csv"),
    ],
)
def test_detects_the_format_of_statistics_from_the_content(
    tmp_path: Path, two_names: Path, content: Any, name: str
) -> None:
    path = statistics(tmp_path, content, name)
    assert collect(two_names, mentions=True, given=given_statistics(path, 100)).counts()["co"] == {"A": 5.0, "B": 2.0}


def test_statistics_need_a_file_and_a_number_of_mentions(tmp_path: Path) -> None:
    path = statistics(tmp_path, HEADER + "co,A,5\n")
    assert given_statistics(path, 7) == GivenStatistics(path, 7, None)
    empty = statistics(tmp_path, "", "empty.csv")
    wrong: list[tuple[Path, int | None, type[HomonymError], str]] = [
        (path, None, SettingsError, "give the number of mentions .* with --mentions-in-collection"),
        (path, 0, SettingsError, "must be at least 1, got 0"),
        (path, -1, SettingsError, "must be at least 1, got -1"),
        (tmp_path / "missing.csv", 7, InputError, "cannot be read"),
        (tmp_path, 7, InputError, "is a directory"),
        (empty, 7, InputError, "is empty"),
    ]
    for place, number, error, says in wrong:
        with pytest.raises(error, match=says) as caught:
            given_statistics(place, number)
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "kept",
    [
        "{", "[]", "5", "null", "{}", '{"mentions_in_collection": null}', '{"mentions_in_collection": "many"}',
        '{"mentions_in_collection": 5, "mass": 5}', '{"mentions_in_collection": 5, "mass": "co"}', "\x00",
        '{"mentions_in_collection": 5, "mass": {"co": "much"}}',
        '{"mentions_in_collection": 5, "mass": {"co": -1}}',
    ],
)  # fmt: skip
def test_rejects_wrong_metadata_of_statistics_with_one_line(tmp_path: Path, kept: str) -> None:
    path = statistics(tmp_path, HEADER + "co,A,5\n")
    statistics_side_file(path).write_text(kept)
    with pytest.raises(InputError, match="expected JSON with mentions_in_collection and mass") as caught:
        given_statistics(path, None)
    assert str(caught.value).startswith(str(statistics_side_file(path)))
    assert len(str(caught.value).splitlines()) == 1


def test_a_given_number_of_mentions_overrides_the_metadata(tmp_path: Path) -> None:
    path = statistics(tmp_path, HEADER + "co,A,5\n")
    statistics_side_file(path).write_text('{"mentions_in_collection": 5, "mass": {"co": 8.5}}')
    assert given_statistics(path, None) == GivenStatistics(path, 5, {"co": 8.5})
    assert given_statistics(path, 7) == GivenStatistics(path, 7, {"co": 8.5})


def test_rejects_zero_mentions_even_with_metadata(tmp_path: Path) -> None:
    path = statistics(tmp_path, HEADER + "co,A,5\n")
    statistics_side_file(path).write_text('{"mentions_in_collection": 5}')
    with pytest.raises(SettingsError, match="must be at least 1, got 0"):
        given_statistics(path, 0)


def test_two_statistics_do_not_share_one_note() -> None:
    assert statistics_side_file(Path("stats.2023.csv")) != statistics_side_file(Path("stats.2024.csv"))


# Saved statistics

SUFFIXES = ["statistics.csv", "statistics.csv.gz", "statistics.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SUFFIXES)
def test_saved_statistics_reproduce_the_run(tmp_path: Path, name: str) -> None:
    source = written(tmp_path, corpus_of(60))
    extract(source, tmp_path / "mentions.jsonl", save_statistics=tmp_path / name, resources=ONE)
    original = collect(source)
    again = collect(source, given=given_statistics(tmp_path / name, None))
    assert again.comparable() == original.comparable()
    assert again.missing == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", SUFFIXES)
def test_equal_runs_save_equal_bytes(tmp_path: Path, name: str) -> None:
    corpus = corpus_of(60)
    saved = []
    for order in (corpus, corpus[::-1]):
        source = written(tmp_path, order)
        extract(source, tmp_path / "mentions.jsonl", save_statistics=tmp_path / name, resources=ONE)
        saved.append([(tmp_path / name).read_bytes(), statistics_side_file(tmp_path / name).read_bytes()])
    assert saved[0] == saved[1]


def saved_and_used_again(folder: Path, features: Iterable[str], name: str) -> int:
    """How many features of a run its own statistics do not know."""
    source = written(folder, [mention(1, co=dict.fromkeys(features, 1.5))])
    cluster(source, folder / "authors.csv", save_statistics=folder / name, resources=ONE)
    return collect(source, mentions=True, given=given_statistics(folder / name, None)).missing


ODD_FEATURES = [
    " x ",
    "a,b",
    'a"b',
    "a\nb",
    "a\r\nb",
    "#x",
    "x;y;z",
    "a\tb",
    "NULL",
    "\\N",
    "\0",
    "1.5",
    "é",
    "😀",
    '"',
    "\\",
]


@pytest.mark.parametrize("name", SUFFIXES)
def test_odd_features_survive_in_saved_statistics(tmp_path: Path, name: str) -> None:
    assert saved_and_used_again(tmp_path, [*ODD_FEATURES, "x" * 100_000], name) == 0


@pytest.mark.slow
@pytest.mark.parametrize("feature", ODD_FEATURES)
def test_a_single_odd_feature_survives_in_saved_statistics(tmp_path: Path, feature: str) -> None:
    assert saved_and_used_again(tmp_path, [feature], "statistics.csv") == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["statistics.csv", "statistics.csv.gz"])
@pytest.mark.parametrize("features", [["'t Hooft'"], [""]])
def test_quotes_are_not_guessed_in_saved_statistics(tmp_path: Path, name: str, features: list[str]) -> None:
    assert saved_and_used_again(tmp_path, features, name) == 0


@pytest.mark.parametrize("name", ["statistics.txt", "statistics", "statistics.json", "statistics.csv.zip"])
def test_rejects_unknown_formats_of_statistics(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match="choose one of these suffixes"):
        saved_and_used_again(tmp_path, ["A"], name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]


@pytest.mark.slow
def test_rejects_documents_with_too_many_authors(tmp_path: Path) -> None:
    crowd: Raw = {"id": "1", "authors": [""] * (2**20 + 1) + named("Doe, J")}
    found = collect(written(tmp_path, [crowd, {"id": "2", "title": "Graphs", "authors": named("Roe, R")}]))
    assert list(found.bags_by_id()) == ["2#0"]
    assert "more than" in found.problems[-1]
