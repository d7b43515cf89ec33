"""The features that a result stores are those that its documents have, and using them changes nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.collection.layout import SLOT_BITS
from homonym.collection.packed_entries import PackedEntries
from homonym.commands.check import check
from homonym.commands.disambiguate import disambiguate
from homonym.commands.explain import explain
from homonym.commands.update import update
from homonym.corpus.recomputing import recompute_bags
from homonym.io.result_directory import BAGS, FORMATS, MAGIC, MARKER, has_present_format
from homonym.io.tables import write_table
from homonym.schema import FORMER_BAGS
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus
from tests.commands.test_result_directory import RECORDS, write
from tests.support.living import document, make_result, require_consistent, tables, write_documents

pytestmark = pytest.mark.slow

MORE = [
    {"id": "x", "title": "First", "authors": ["Doe, J", "Ant, A"], "references": ["copy", "b", "b", "missing"]},
    {"id": "x", "title": "Second", "authors": ["Doe, J", "Bee, B"], "references": ["a", "copy", "c"]},
    {"id": "y", "title": "Third", "authors": ["Doe, J", "Cat, C"], "references": ["x", "x"]},
    {"id": "z", "title": "Fourth", "authors": ["Doe, J", "!!", "Dog, D"], "referenced_authors": ["Ant, A"]},
    {"id": "v", "title": "Fifth", "authors": ["Solo, Han"], "references": ["z"]},
    {"id": "w", "title": "Sixth", "authors": ["Twin, Tom", "Twin, Tom"], "references": ["v", "z"]},
    {"id": "u", "title": "Seventh", "authors": []},
]


def recomputed(result: Path, folder: Path) -> bytes:
    recompute_bags(result, folder)
    return (folder / BAGS).read_bytes()


def test_are_those_of_the_stored_documents(tmp_path: Path) -> None:
    """With documents that were merged or renamed, with references to them, and with one author or none."""
    result = disambiguate(write(tmp_path / "in.jsonl", [*RECORDS, *MORE]), tmp_path / "result", Settings(kappa=7))
    assert (result.output / BAGS).read_bytes() == recomputed(result.output, tmp_path)
    found = {row["document_id"]: row for row in pq.read_table(result.output / BAGS).to_pylist()}
    assert "u" not in found
    assert (found["v"]["own_name"], found["v"]["unlisted_name"]) == ([-1], ["SOLO, H"])
    assert found["v"]["references"] == ["z"]


@pytest.mark.parametrize(
    "settings", [Settings(), Settings(blocking="initials", coauthor_names="initials"), Settings(background="none")]
)
def test_generated_documents(settings: Settings, generated: Callable[[Corpus], Path], tmp_path: Path) -> None:
    result = disambiguate(generated(Corpus(mentions=1500, seed=3)), tmp_path / "result", settings).output
    assert (result / BAGS).read_bytes() == recomputed(result, tmp_path)


@pytest.mark.parametrize("mode", ["assign", "grow"])
def test_update_gives_the_same_tables_without_them(mode: str, tmp_path: Path) -> None:
    """A result of an earlier version has no such file: its documents are read again."""
    first = make_result(tmp_path, range(40))
    without = Path(shutil.copytree(first, tmp_path / "without"))
    (without / BAGS).unlink()
    changed = document(3) | {"title": "Quite another title with unknown words", "references": ["D0050", "D0004"]}
    rounds = [
        [*map(document, range(40, 50)), changed],
        [*map(document, range(50, 55)), changed | {"abstract": "Neologisms abound", "authors": ["Novel, Nora"]}],
    ]
    for number, documents in enumerate(rounds):
        new = write_documents(tmp_path / f"new{number}.jsonl", documents)
        for result in (first, without):
            update(result, new, mode=mode, remove=[["D0007"], ["D0045"]][number], keep_epoch=True)  # type: ignore[arg-type]
    require_consistent(first)
    names = ("mentions", "authors", "documents", "ids", "statistics.new")
    assert tables(first, names) == tables(without, names)
    stored = [row for row in pq.read_table(first / BAGS).to_pylist() if row["new_features"]]
    assert stored, "no document has a feature that the statistics lack"


def former_layout(result: Path) -> None:
    """Give a result the bags that version 0.16 would have written."""
    table = pq.read_table(result / BAGS)
    entries, documents = PackedEntries.of(table.combine_chunks()), range(len(table))
    columns: dict[str, Any] = {"slot": [], "feature": [], "count": []}
    for one in documents:
        owner, feature, count = entries.between(one, one + 1)
        columns["slot"].append((owner & ((1 << SLOT_BITS) - 1)).tolist())
        columns["feature"].append(feature.tolist())
        columns["count"].append(count.tolist())
    rows = {one.name: pa.array(columns[one.name], one.type) if one.name in columns else table[one.name]
            for one in FORMER_BAGS}  # fmt: skip
    write_table(result / BAGS, FORMER_BAGS, [pa.table(rows, schema=FORMER_BAGS)])
    (result / MARKER).write_bytes(MAGIC + FORMATS[1])


@pytest.mark.parametrize("mode", ["assign", "grow"])
def test_a_result_of_version_16_is_read_and_updated(mode: str, tmp_path: Path) -> None:
    first = make_result(tmp_path, range(40))
    former = Path(shutil.copytree(first, tmp_path / "former"))
    former_layout(former)
    assert check(former).problems == []
    author = pq.read_table(first / "authors.parquet")["author_id"][0].as_py()
    assert str(explain(former, author)) == str(explain(first, author)).replace(str(first), str(former))
    new = write_documents(tmp_path / "new.jsonl", [*map(document, range(40, 50)), document(3) | {"title": "Other"}])
    for result in (first, former):
        update(result, new, mode=mode, remove=["D0007"], keep_epoch=True)  # type: ignore[arg-type]
        require_consistent(result)
    names = ("mentions", "authors", "documents", "ids")
    assert tables(first, names) == tables(former, names)
    ours, theirs = (pq.read_table(result / BAGS).sort_by("document_id") for result in (first, former))
    assert ours.equals(theirs)
    assert check(former).problems == []
    assert has_present_format(former)


def test_check_finds_entries_of_different_lengths(tmp_path: Path) -> None:
    result = make_result(tmp_path, range(20))
    rows = pq.read_table(result / BAGS)
    counts = [one[1:] for one in rows["count"].to_pylist()]
    place = rows.column_names.index("count")
    write_table(result / BAGS, rows.schema, [rows.set_column(place, "count", pa.array(counts, pa.binary()))])
    assert any("bags.parquet: it has lists of different lengths" in problem for problem in check(result).problems)


def test_check_restores_a_damaged_file(tmp_path: Path) -> None:
    result = make_result(tmp_path, range(20))
    sound = (result / BAGS).read_bytes()
    rows = pq.read_table(result / BAGS)
    pq.write_table(rows.slice(1), result / BAGS)
    assert any("bags.parquet: it has other mentions" in problem for problem in check(result).problems)
    assert BAGS in check(result, repair=True).repaired
    assert (result / BAGS).read_bytes() == sound
    (result / BAGS).write_bytes(sound[: len(sound) // 2])
    assert check(result, repair=True).problems == []
    assert (result / BAGS).read_bytes() == sound
