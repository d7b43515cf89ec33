"""Blocks of a result are clustered again from the result alone: the same authors, for any settings and any block."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.collection import block_reload
from homonym.collection.block_reload import DocumentBags
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.engines.reclustering import ReclusteredBlocks, recluster
from homonym.errors import InputError
from homonym.io.result_directory import DOCUMENTS, FREQUENCIES, MENTIONS, PAIRS
from homonym.settings import Settings, load_settings
from homonym.synthetic.corpus import Corpus
from tests.commands.test_result_directory import RECORDS, write

pytestmark = pytest.mark.slow

SMALL = Corpus(mentions=1500, ambiguity=8.0, seed=3)
LIMIT = Settings(kappa=7)


def blocks_of(result: Path) -> list[str]:
    return sorted(set(pq.read_table(result / MENTIONS, columns=["block"])["block"].to_pylist()))


def again(result: Path, blocks: list[str], folder: Path) -> ReclusteredBlocks:
    """Cluster blocks again; this fails if their authors are not those of the result."""
    work = folder / f"again{len(list(folder.iterdir()))}"
    work.mkdir()
    return recluster(result, blocks, load_settings(result), work)


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(background="none"),
        Settings(variant="max", weights="uniform"),
        Settings(joint=True, gamma=0.5),
        Settings(scope="within", blocking="full-name"),
        Settings(blocking="initials", coauthor_names="initials", affiliation_level="whole", language="none"),
        Settings(constraints="none", weights="only-co", alpha=1e-4),
    ],
    ids=lambda settings: (
        "-".join(f"{value}" for value in settings.model_dump(exclude_unset=True).values()) or "default"
    ),
)
def test_all_blocks_have_the_same_authors(
    settings: Settings, generated: Callable[[Corpus], Path], tmp_path: Path
) -> None:
    result = disambiguate(generated(SMALL), tmp_path / "result", settings).output
    blocks = blocks_of(result)
    found = again(result, blocks, tmp_path)
    assert len(found.reloaded.rows) == pq.read_metadata(result / MENTIONS).num_rows
    for block in blocks[::40]:
        again(result, [block], tmp_path)


def test_statistics_of_another_collection_are_kept(generated: Callable[[Corpus], Path], tmp_path: Path) -> None:
    extract(generated(Corpus(mentions=3000, seed=5)), tmp_path / "m.parquet", save_statistics=tmp_path / "s.csv")
    result = disambiguate(generated(SMALL), tmp_path / "result", statistics=tmp_path / "s.csv").output
    again(result, blocks_of(result), tmp_path)


def test_merged_documents_references_and_equal_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents cite a copy that was merged, documents with one id that got suffixes, and others twice."""
    more: list[dict[str, Any]] = [
        {"id": "x", "title": "First", "authors": ["Doe, J", "Ant, A"], "references": ["copy", "b", "b", "missing"]},
        {"id": "x", "title": "Second", "authors": ["Doe, J", "Bee, B"], "references": ["a", "copy", "c"]},
        {"id": "y", "title": "Third", "authors": ["Doe, J", "Cat, C"], "references": ["x", "x"]},
        {"id": "z", "title": "Fourth", "authors": ["Doe, J", "!!", "Dog, D"], "referenced_authors": ["Ant, A"]},
        {"id": "v", "title": "Fifth", "authors": ["Eel, E"], "references": ["y"]},
    ]
    result = disambiguate(write(tmp_path / "in.jsonl", [*RECORDS, *more]), tmp_path / "result", LIMIT).output
    found = again(result, blocks_of(result), tmp_path)
    encoded = found.reloaded.encoded
    referenced = {name for kind, name in found.reloaded.features(np.unique(encoded.feature)) if kind == "ref"}
    assert {"ANT, A", "BEE, B", "ROE, R", "DOE, J"} <= referenced
    monkeypatch.setattr(block_reload, "NUMBERED_AT_ONCE", 2)
    parts = again(result, blocks_of(result), tmp_path).reloaded.encoded
    for name in ("owners", "starts", "feature", "count"):
        assert np.array_equal(getattr(parts, name), getattr(encoded, name))


def test_pairs_of_the_user_are_kept(generated: Callable[[Corpus], Path], tmp_path: Path) -> None:
    documents = generated(SMALL)
    before = disambiguate(documents, tmp_path / "before", LIMIT).output
    rows = pq.read_table(before / MENTIONS).to_pylist()
    block = max((row["block"] for row in rows), key=[row["block"] for row in rows].count)
    mine = [row for row in rows if row["block"] == block]
    apart = next((a, b) for a in mine for b in mine if a["author_id"] != b["author_id"])
    one = next(((a, b) for a in mine for b in mine if a["author_id"] == b["author_id"] and a is not b), None)
    lines = ["mention_a,mention_b,relation", f"{apart[0]['mention_id']},{apart[1]['mention_id']},same"]
    if one:
        lines.append(f"{one[0]['mention_id']},{one[1]['mention_id']},different")
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    result = disambiguate(documents, tmp_path / "after", LIMIT, pairs=tmp_path / "pairs.csv").output
    assert (result / PAIRS).exists()
    found = again(result, [block], tmp_path)
    assert found.found is not None
    assert len(found.found.evidence.same_pairs) == 1
    again(result, [next(name for name in blocks_of(result) if name != block)], tmp_path)


def test_changed_files_are_noticed(tmp_path: Path) -> None:
    result = disambiguate(write(tmp_path / "in.jsonl", RECORDS), tmp_path / "result", LIMIT).output
    rows = pq.read_table(result / MENTIONS)
    ids = pa.array([f"{row['block']}/{'0' * 12}" for row in rows.to_pylist()])
    pq.write_table(rows.set_column(rows.column_names.index("author_id"), "author_id", ids), result / MENTIONS)
    with pytest.raises(InputError, match="gives other authors than its table of mentions has"):
        again(result, ["DOE, J"], tmp_path)
    pq.write_table(rows, result / MENTIONS)
    documents = pq.read_table(result / DOCUMENTS)
    pq.write_table(documents.slice(1), result / DOCUMENTS)
    with pytest.raises(InputError, match="the mentions in its documents are others"):
        again(result, ["DOE, J"], tmp_path)
    pq.write_table(documents, result / DOCUMENTS)
    pq.write_table(pq.read_table(result / FREQUENCIES).slice(3), result / FREQUENCIES)
    with pytest.raises(InputError, match="its statistics lack a feature of its documents"):
        again(result, blocks_of(result), tmp_path)


def test_statistics_of_a_result_are_those_of_the_run(tmp_path: Path) -> None:
    source = write(tmp_path / "in.jsonl", RECORDS)
    result = disambiguate(source, tmp_path / "result", LIMIT, save_statistics=tmp_path / "s.parquet").output
    assert pq.read_table(result / FREQUENCIES).equals(pq.read_table(tmp_path / "s.parquet"))
    side = orjson.loads((tmp_path / "s.collection.json").read_bytes())
    saved = orjson.loads((result / "statistics.collection.json").read_bytes())
    assert saved == side | {"self_citations": False}


def test_result_of_a_version_that_counted_self_citations_keeps_them(tmp_path: Path) -> None:
    """Its #(f) has them, so its blocks are encoded again with them."""
    papers: list[dict[str, Any]] = [
        {"id": "a", "title": "First", "authors": ["Doe, J", "Ant, A"]},
        {"id": "b", "title": "Second", "authors": ["Doe, J", "Bee, B"], "references": ["a"]},
        {"id": "c", "title": "Third", "authors": ["Cat, C"], "references": ["b"]},
    ]
    result = disambiguate(write(tmp_path / "in.jsonl", papers), tmp_path / "result", LIMIT).output

    def referenced() -> set[str]:
        rows = pq.read_table(result / MENTIONS)
        bags = DocumentBags.read(result, rows["document_id"], load_settings(result))
        return {name for kind, name in bags.numbered.features(np.unique(bags.numbered.feature)) if kind == "ref"}

    assert referenced() == {"ANT, A", "DOE, J", "BEE, B"}
    everything = len(DocumentBags.read(result, pa.array(["b"]), load_settings(result)).numbered.feature)
    side = result / "statistics.collection.json"
    side.write_bytes(orjson.dumps({key: value for key, value in saved_of(side).items() if key != "self_citations"}))
    former = DocumentBags.read(result, pa.array(["b"]), load_settings(result)).numbered.feature
    assert len(former) == everything + 1  # DOE, J


def saved_of(path: Path) -> dict[str, Any]:
    saved: dict[str, Any] = orjson.loads(path.read_bytes())
    return saved
