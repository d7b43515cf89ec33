"""Frequencies of small collections with the background, against a literal computation, and through whole runs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.clustering.arrays import Frequencies
from homonym.collection.background import (
    ENOUGH_OTHERS,
    HALF_EXPLAINED,
    NAMES_FOR_HALF,
    OTHERS_PER_MENTION,
    BackgroundUse,
    add_background,
    background,
)
from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.result import settings_path
from homonym.commands.run import Resources
from homonym.experiments.runs import paper_settings
from homonym.runtime.progress import run_log_path
from homonym.settings import PAPER_LIMIT, Limit, Settings, load_settings

USE = BackgroundUse(1.0, 10_000)


def frequencies(mentions: int, **bags: dict[str, float]) -> tuple[Frequencies, list[str]]:
    types = sorted(bags)
    counts = [list(bags[kind].values()) for kind in types]
    start = np.cumsum([0, *map(len, counts)])
    mass = np.array([sum(values) for values in counts])
    names = [feature for kind in types for feature in bags[kind]]
    return Frequencies(tuple(types), start, np.concatenate(counts), mass, mentions), names


def by_type(found: Frequencies, names: list[str]) -> dict[str, dict[str, float]]:
    pairs = list(zip(names, found.total.tolist(), strict=True))
    return {
        kind: dict(pairs[first:last])
        for kind, first, last in zip(found.types, found.type_start[:-1], found.type_start[1:], strict=True)
    }


def test_masses_keep_their_relation_to_the_number_of_mentions() -> None:
    own, names = frequencies(100, term={"network": 30.0}, email={"a@b.org": 2.0}, mine={"x": 5.0})
    found = add_background(own, names, USE)
    assert found.mentions == 10_100
    assert found.mass / found.mentions == pytest.approx(own.mass / own.mentions)
    assert (found.total >= own.total).all()
    assert (found.total <= found.mass[[0, 1, 2]]).all()


def test_common_words_and_names_become_more_frequent_than_rare_ones() -> None:
    own, names = frequencies(
        100,
        term={"system": 3.0, "xyzzyite": 3.0},
        co={"WANG, J": 1.0, "XYZZYX, Q": 1.0, "SMITH|JOHN": 1.0, "XYZZYX|QUUX": 1.0},
    )
    found = by_type(add_background(own, names, USE), names)
    assert found["term"]["system"] > 1.3 * found["term"]["xyzzyite"]
    assert found["co"]["WANG, J"] > found["co"]["XYZZYX, Q"] + 0.01
    assert found["co"]["SMITH|JOHN"] > found["co"]["XYZZYX|QUUX"]


def test_venues_and_keywords_of_one_name_count_as_more_common_than_words_that_the_background_lacks() -> None:
    own, names = frequencies(100, term={"xyzzyite": 3.0}, cat={"VLDB": 3.0}, key={"HUMANS": 3.0})
    found = by_type(add_background(own, names, USE), names)
    assert found["key"]["HUMANS"] > found["cat"]["VLDB"] > 2 * own.total[0]
    assert found["cat"]["VLDB"] > 1.5 * found["term"]["xyzzyite"]


def test_years_scale_with_the_collection_and_addresses_hardly_at_all() -> None:
    own, names = frequencies(100, year={"1999": 60.0, "2000": 40.0}, email={"a@b.org": 2.0})
    found = by_type(add_background(own, names, USE), names)
    assert found["year"] == pytest.approx({"1999": 6060.0, "2000": 4040.0})
    assert found["email"]["a@b.org"] == pytest.approx(2, rel=0.01)


def literal(own: Frequencies, names: list[str], use: BackgroundUse) -> list[float]:
    """The formula of the module, feature by feature."""
    known, total = background(), []
    for kind, bag in by_type(own, names).items():
        mass, a = sum(bag.values()), own.mentions / (own.mentions + HALF_EXPLAINED[kind])
        for feature, count in bag.items():
            b = known.terms.get(feature, 0) / known.mass if kind == "term" else 0.0
            if kind == "co":
                b = literal_name(feature, list(bag)) * sum(
                    n for other, n in bag.items() if ("|" in other) == ("|" in feature)
                ) / mass  # fmt: skip
            added = use.mentions * mass / own.mentions
            total.append(count + added * ((1 - a) * b + a * count / mass))
    return total


def literal_name(feature: str, features: list[str]) -> float:
    mark = "|" if "|" in feature else ", "
    alike = [other.split(mark) for other in features if ("|" in other) == ("|" in feature)]
    weight, people = len(alike) / (len(alike) + NAMES_FOR_HALF), background().people
    surname, given = feature.split(mark)
    if mark == "|":
        same_given = people.given.get(given, 0)
    else:
        same_given = sum(n for text, n in people.given.items() if "".join(w[0] for w in text.split()) == given)
    shares = [
        (1 - weight) * known / people.names + weight * (sum(other[place] == part for other in alike) - 1) / len(alike)
        for place, (known, part) in enumerate([(people.surnames.get(surname, 0), surname), (same_given, given)])
    ]
    return shares[0] * shares[1]


counts = st.floats(0.25, 100)
words = st.dictionaries(st.sampled_from(["system", "network", "xyzzyite", "plant", "of"]), counts, min_size=1)
people = st.dictionaries(
    st.builds(
        "{}{}".format,
        st.sampled_from(["WANG", "SMITH", "XYZZYX"]),
        st.sampled_from([", J", ", JW", "|JOHN", "|WEI", "|JOHN W"]),
    ),
    counts,
    min_size=1,
)


@given(words, people, st.integers(1, 10**6), st.integers(1, 10**6))
def test_agrees_with_a_literal_computation(
    term: dict[str, float], co: dict[str, float], mentions: int, more: int
) -> None:
    own, names = frequencies(mentions, term=term, co=co)
    use = BackgroundUse(0.5, more)
    assert add_background(own, names, use).total == pytest.approx(literal(own, names, use))


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_collections_with_enough_other_names_stay_as_they_are(largest: int, others: int) -> None:
    use = BackgroundUse.of(largest + others, largest)
    assert (use is None) == (others >= ENOUGH_OTHERS or not largest + others)
    if use:
        assert 0 < use.share <= 1
        assert use.mentions <= max(ENOUGH_OTHERS, OTHERS_PER_MENTION * largest)
        assert "\n" not in use.describe()


def test_package_data_is_small_and_complete() -> None:
    known = background()
    assert sum(known.terms.values()) <= known.mass
    for counted in (known.people.surnames, known.people.given):
        assert sum(counted.values()) <= known.people.names
        assert all(name == name.upper() and count > 0 for name, count in counted.items())
    path = Path(__file__).parents[2] / "src/homonym/collection/data/background.txt"
    assert path.stat().st_size < 2_000_000


# Whole runs.


def one_name(documents: int = 60) -> list[dict[str, Any]]:
    """Documents of one name: three people with topics and co-authors of their own."""
    generator = random.Random(0)
    topics = [
        "plant soil root leaf forest seed crop water nitrogen carbon climate species".split(),
        "network protocol router traffic wireless packet channel routing mobile security internet bandwidth".split(),
        "surgery patient cancer tumor clinical therapy diagnosis disease hospital outcome risk liver".split(),
    ]
    found = []
    for number in range(documents):
        person = number % 3
        title = " ".join([*generator.sample(topics[person], k=5), generator.choice(["system", "model"])])
        others = [f"{['Anders', 'Bertol', 'Chandr'][person]}{generator.choice('aeio')}, Given"]
        authors = [{"name": "Wang, Wei", "author": str(person)}, *({"name": name} for name in others)]
        found.append(
            {"id": f"d{number:03}", "title": title, "year": 1985 + 10 * person + number % 5, "authors": authors}
        )
    return found


def write(path: Path, documents: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(document) + b"\n" for document in documents))
    return path


def people_of(path: Path) -> set[frozenset[str]]:
    rows = pq.read_table(path).to_pylist()
    found: dict[str, set[str]] = {}
    for row in rows:
        if row["block"] == "WANG, W":
            found.setdefault(row["author_id"], set()).add(row["document_id"])
    return {frozenset(documents) for documents in found.values()}


@pytest.mark.slow
def test_run_says_what_it_rests_on_and_can_be_repeated_from_its_settings(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", one_name())
    summary = disambiguate(source, tmp_path / "out.parquet")
    assert summary.background
    assert summary.background.share == 1
    says = summary.background.describe()
    assert settings_path(summary.output).read_text().startswith(f"# {says}\n")
    assert json.loads(run_log_path(summary.output).read_text())["stages"]["calibrate"]["background"] == says
    settings = load_settings(settings_path(summary.output))
    assert (settings.background, settings.name_trust) == ("on", 1.0)
    again = disambiguate(source, tmp_path / "again.parquet", settings)
    columns = ["mention_id", "author_id"]
    assert pq.read_table(again.output, columns=columns) == pq.read_table(summary.output, columns=columns)


def test_background_finds_the_people_of_one_name(tmp_path: Path) -> None:
    """Without it, the chance limit of the only name is out of reach."""
    documents = one_name()
    source = write(tmp_path / "in.jsonl", [
        document | {"authors": [document["authors"][0] | {"name": "Wang, W"}, *document["authors"][1:]]}
        for document in documents
    ])  # fmt: skip
    true = {frozenset(one["id"] for one in documents if one["authors"][0]["author"] == person) for person in "012"}
    disambiguate(source, tmp_path / "out.parquet")
    assert people_of(tmp_path / "out.parquet") == true
    without = disambiguate(source, tmp_path / "none.parquet", Settings(background="none"))
    assert without.background is None
    assert people_of(without.output) != true


@pytest.mark.slow
def test_given_frequencies_and_given_limits_have_no_background(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", one_name())
    kept = tmp_path / "statistics.csv"
    assert disambiguate(source, tmp_path / "limit.parquet", Settings(kappa=7.0)).background is None
    assert disambiguate(source, tmp_path / "on.parquet", Settings(kappa=7.0, background="on")).background
    disambiguate(source, tmp_path / "kept.parquet", save_statistics=kept)
    assert disambiguate(source, tmp_path / "given.parquet", statistics=kept).background is None


def test_saved_statistics_are_those_of_the_collection_alone(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", one_name())
    for kind in ("on", "none"):
        settings = Settings(background=kind)
        disambiguate(source, tmp_path / f"{kind}.parquet", settings, save_statistics=tmp_path / f"{kind}.csv")
    assert (tmp_path / "on.csv").read_bytes() == (tmp_path / "none.csv").read_bytes()
    sides = [(tmp_path / f"{kind}.collection.json").read_bytes() for kind in ("on", "none")]
    assert sides[0] == sides[1]


@pytest.mark.slow
def test_extracted_mentions_give_the_same_result_as_documents(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", one_name())
    extract(source, tmp_path / "mentions.jsonl")
    summaries = (
        disambiguate(source, tmp_path / "a.parquet"),
        cluster(tmp_path / "mentions.jsonl", tmp_path / "b.parquet"),
    )
    assert summaries[0].background == summaries[1].background
    assert people_of(tmp_path / "a.parquet") == people_of(tmp_path / "b.parquet")


@pytest.mark.slow
def test_checkpoint_of_another_background_is_not_used(tmp_path: Path) -> None:
    source, resources = write(tmp_path / "in.jsonl", one_name()), Resources(work=tmp_path / "work")
    results: dict[str, bytes] = {}
    for number, kind in enumerate(("on", "none", "on", "on")):
        output = tmp_path / f"{number}.parquet"
        summary = disambiguate(source, output, Settings(background=kind), resources=resources)
        assert bool(summary.background) == (kind == "on")
        assert output.read_bytes() == results.setdefault(kind, output.read_bytes())
    assert results["on"] != results["none"]


def test_paper_has_no_background() -> None:
    assert not paper_settings(Settings()).uses_background
    assert paper_settings(Settings(background="on")).uses_background
    assert not Settings(scope="within").uses_background
    assert Settings().with_limit(Limit(kappa=5.0)).background == "on"
    assert Settings(beta=1e-4).with_limit(PAPER_LIMIT["prob"]).background == "none"
