"""The prior of full names: its factors against a literal computation, and that every clustering of a run gets it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.calibration import pseudonames
from homonym.calibration.pseudonames import SampledBlocks
from homonym.clustering.arrays import NamePrior, starts
from homonym.collection.encoded import Encoded
from homonym.commands.disambiguate import disambiguate
from homonym.constraints.name_prior import NAME_COLUMNS, FullNames, name_prior
from homonym.engines import local
from homonym.engines.local import LocalEngine
from homonym.experiments.runs import paper_settings
from homonym.measures import methods
from homonym.measures.methods import LabelledNames, RelativeFrequencies
from homonym.names.parse import parse_name
from homonym.records.reader import Inputs
from homonym.runtime.progress import Stages
from homonym.settings import Settings

# Names of mentions in blocks; None stands for initials.
blocks_of_names = st.lists(st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=6), max_size=5)
expected_namesakes = st.lists(st.sampled_from([0.0, 1e-9, 0.25, 3.0, 1e6]), min_size=4, max_size=4)


def prior_of(blocks: list[list[int | None]], E: list[float], trust: float = 1.0) -> NamePrior:
    names = [name for block in blocks for name in block]
    number = np.array([-1 if name is None else name for name in names], np.int32)
    namesakes = np.array([np.nan if name is None else E[name] for name in names])
    sizes = np.array([len(block) for block in blocks], np.int64)
    return name_prior(number, namesakes, starts(sizes), trust)


@given(blocks_of_names, expected_namesakes, st.sampled_from([0.25, 0.9, 1.0]))
def test_factors_agree_with_a_literal_computation(
    blocks: list[list[int | None]], E: list[float], trust: float
) -> None:  # fmt: skip
    found = prior_of(blocks, E, trust)
    assert found.name.dtype == np.int32
    assert found.factor.dtype == np.float64
    place, numbers = 0, set()
    for block in blocks:
        label = dict(zip(range(place, place + len(block)), block, strict=True))
        for x, name in label.items():
            n = block.count(name)
            if name is None or n == 1:
                assert (found.name[x], found.factor[x]) == (-1, 1)
                continue
            pairs = n * (n - 1) / 2
            q = E[name] / (1 + E[name])
            q = 1 - trust * (1 - q) * (1 - (pairs / (pairs + 1000)) ** 2)
            h = math.sqrt(min(n, n * q + 1e-4) / len(block))
            assert found.factor[x] == pytest.approx(1 / h, rel=1e-12)
            same = {y for y, other in label.items() if other == name}
            assert set(np.flatnonzero(found.name == found.name[x]).tolist()) == same
            numbers.add(found.name[x])
        place += len(block)
    assert len(found.name) == place
    assert all(0 <= number < place for number in numbers)


def test_a_name_without_namesakes_has_the_floor() -> None:
    found = prior_of([[0, 0, None, None]], [0.0] * 4)
    assert found.factor[:2] == pytest.approx(1 / math.sqrt(1e-4 / 4), rel=1e-2)


def test_a_rare_name_with_many_mentions_has_little_effect() -> None:
    assert prior_of([[0] * 500], [0.0] * 4).factor[0] == pytest.approx(1, rel=0.01)


@given(blocks_of_names.filter(len), expected_namesakes, st.data())
def test_ranges_of_blocks_and_chosen_blocks_have_the_same_prior(
    blocks: list[list[int | None]], E: list[float], data: st.DataObject
) -> None:
    names = [name for block in blocks for name in block]
    full_names = FullNames(
        starts(np.array([len(block) for block in blocks])),
        np.array([-1 if name is None else name for name in names], np.int32),
        np.array([np.nan if name is None else E[name] for name in names]),
    )
    first = data.draw(st.integers(0, len(blocks) - 1))
    last = data.draw(st.integers(first + 1, len(blocks)))
    trust = data.draw(st.sampled_from([0.5, 1.0]))
    wanted = prior_of(blocks[first:last], E, trust)
    assert_same(full_names.of_blocks(first, last, trust), wanted)
    assert_same(full_names.select(np.arange(first, last)).prior(trust), wanted)
    order = data.draw(st.permutations(range(len(blocks))))
    assert_same(full_names.select(np.array(order)).prior(trust), prior_of([blocks[i] for i in order], E, trust))
    assert full_names.prior(0.0) is None


def assert_same(found: NamePrior | None, expected: NamePrior | None) -> None:
    if found is None or expected is None:
        given = found or expected
        assert given is None or (given.name < 0).all()
        return
    assert np.array_equal(found.name, expected.name)
    assert np.array_equal(found.factor, expected.factor)


NAMES = [*["Doe, Jane"] * 3, "Doe, John", "Doe, J.", "Roe, Jane", "Roe, R.", *["Poe, Edgar A.", "Poe, Edgar"]]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    rows: list[dict[str, Any]] = [
        {"id": f"W{i}", "title": f"graph {i}", "authors": [{"name": name}]} for i, name in enumerate(NAMES)
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def encoded(documents: Path, tmp_path: Path) -> Encoded:
    (tmp_path / "work").mkdir()
    engine = LocalEngine(tmp_path / "work", 1, 1 << 30, Stages())
    return engine.encode(engine.read_documents(Inputs.of([documents]), Settings()), None).data.encoded


def test_full_names_are_read_from_a_collection(encoded: Encoded) -> None:
    names = FullNames.read(encoded)
    written = pq.read_table(encoded.mentions_file, columns=["name"])["name"].to_pylist()
    full = [parse_name(name).full_name for name in written]
    assert [number < 0 for number in names.full_name.tolist()] == [name is None for name in full]
    assert len({number for number in names.full_name.tolist() if number >= 0}) == len(set(full) - {None})
    whole = names.prior(1.0)
    assert whole is not None
    shared = [full[x] for x in np.flatnonzero(whole.name >= 0)]
    assert shared == ["DOE|JANE"] * 3 + ["POE|EDGAR"] * 2
    roe = encoded.block_names().to_pylist().index("ROE, R")
    assert names.of_blocks(roe, roe + 1, 1.0) is None


def test_reading_by_batches_and_chosen_mentions_gives_the_same_names(encoded: Encoded) -> None:
    whole, table = FullNames.read(encoded), pq.read_table(encoded.mentions_file, columns=list(NAME_COLUMNS))
    for rows in (1, 2, 100):
        found = FullNames.of(encoded.block_start, table.to_batches(max_chunksize=rows))
        assert_same(found.prior(1.0), whole.prior(1.0))
        assert np.array_equal(found.namesakes, whole.namesakes, equal_nan=True)
    assert FullNames.of(np.zeros(1, np.int64), []).prior(1.0) is None


@pytest.mark.parametrize(
    ("initials", "namesakes"),
    [
        (["JW", "JW"], 2 * 0.08),
        (["J", "J"], 2),
        (["JW", "J"], (2 + 0.1) / 0.9),
        (["JW", "JA"], (2 + 0.1) / 0.9),
    ],
)
def test_more_namesakes_are_expected_if_middle_initials_vary_and_fewer_if_they_agree(
    initials: list[str], namesakes: float
) -> None:
    rows = {
        "full_name": ["DOE|JANE"] * 2 + ["DOE|JOHN", None],
        "namesakes": [2.0, 2.0, 2.0, None],
        "parsed_name": [f"DOE|{one}|JANE|" for one in initials] + ["DOE|J|JOHN|", None],
        "block": ["DOE, J"] * 4,
    }
    found = FullNames.of(np.array([0, 4]), pa.table(rows).to_batches())
    assert found.namesakes[:3].tolist() == pytest.approx([namesakes, namesakes, 2])
    assert np.isnan(found.namesakes[3])


def test_names_do_not_count_in_blocks_that_the_data_defines(tmp_path: Path) -> None:
    authors = [{"name": "Doe, Jane W.", "block": block} for block in ("DOE, J", "DOE, JW", "jane doe", "DOE, JANE W")]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": f"W{i}", "authors": [a]}) + "\n" for i, a in enumerate(authors)))
    (tmp_path / "work").mkdir()
    engine = LocalEngine(tmp_path / "work", 1, 1 << 30, Stages())
    encoded = engine.encode(engine.read_documents(Inputs.of([path]), Settings()), None).data.encoded
    counts = dict(zip(encoded.block_names().to_pylist(), FullNames.read(encoded).full_name >= 0, strict=True))
    assert counts == {"DOE, J": True, "DOE, JW": True, "jane doe": False, "DOE, JANE W": False}


def names_given_to(module: ModuleType, function: str, monkeypatch: pytest.MonkeyPatch) -> list[NamePrior | None]:
    """A list that every call of a function adds its argument `names` to."""
    given: list[NamePrior | None] = []
    original = getattr(module, function)

    def watched(*arguments: Any, **options: Any) -> Any:
        given.append(options["names"])
        return original(*arguments, **options)

    monkeypatch.setattr(module, function, watched)
    return given


@pytest.mark.parametrize("trust", [0.0, 1.0])
def test_sampled_blocks_are_clustered_with_the_prior_if_names_are_trusted(
    encoded: Encoded, monkeypatch: pytest.MonkeyPatch, trust: float
) -> None:
    given = names_given_to(pseudonames, "cluster", monkeypatch)
    settings = Settings(name_trust=trust)
    sampled = SampledBlocks.draw(encoded, settings, None)
    sampled.clusters(encoded.frequencies, settings, 1)
    assert {prior is not None for prior in given} == {trust > 0}


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("trace", [True, False])
def test_a_run_clusters_with_the_prior_unless_it_is_off(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, on: bool, trace: bool
) -> None:
    given = names_given_to(local, "cluster", monkeypatch)
    rounds = tmp_path / "rounds.csv" if trace else None
    disambiguate(documents, tmp_path / "out.csv", Settings(kappa=7, name_trust=float(on)), trace=rounds)
    # A batch whose mentions share no full name has no prior.
    assert any(prior is not None for prior in given) == on


@pytest.mark.parametrize("on", [True, False])
def test_labelled_names_are_clustered_with_the_prior_unless_it_is_off(
    encoded: Encoded, monkeypatch: pytest.MonkeyPatch, *, on: bool
) -> None:
    full_names = FullNames.read(encoded)
    everything = np.ones(len(encoded.frequencies.types), bool)
    names = LabelledNames(
        key=encoded.block_names().to_pylist(),
        bags=encoded.gather(0, len(encoded.block_start) - 1, everything),
        frequencies=encoded.frequencies,
        author=np.zeros(len(NAMES), np.int64),
        written=[None] * len(NAMES),
        full_names=full_names,
    )
    given, swept = (names_given_to(methods, function, monkeypatch) for function in ("cluster", "sweep"))
    method = RelativeFrequencies(Settings(name_trust=float(on)))
    method.outcomes(names)
    method.labels(names, 0.0, 0.0, 7.0)
    assert (len(given), len(swept)) == (1, 1)
    for found in [*given, *swept]:
        assert_same(found, full_names.prior(1.0) if on else None)
        assert (found is None) == (not on)
    chosen = names.select(np.array([1, 0]))
    assert chosen.full_names is not None
    assert len(chosen.full_names.full_name) == len(chosen.author)


def test_a_study_uses_no_prior_unless_asked() -> None:
    assert paper_settings(Settings()).trust_in_names == 0
    assert paper_settings(Settings(name_trust=0.5)).trust_in_names == 0.5


@pytest.mark.parametrize("middle", ["A", "B", "Z"])
def test_every_middle_initial_that_all_mentions_have_makes_namesakes_rarer(middle: str) -> None:
    columns = {
        "full_name": ["DOE|JANE"] * 2,
        "namesakes": [3.0] * 2,
        "parsed_name": [f"DOE|J{middle}|JANE {middle}|"] * 2,
        "block": ["DOE, J"] * 2,
    }
    found = FullNames.of(np.array([0, 2]), [pa.RecordBatch.from_pydict(columns)])
    assert found.namesakes.tolist() == pytest.approx([3 * 0.08] * 2)
