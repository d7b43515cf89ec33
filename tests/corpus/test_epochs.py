"""Epochs: when frequencies and limit are counted anew, and what that may do to authors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from homonym.cli.app import cli
from homonym.commands.disambiguate import begin_epoch, disambiguate
from homonym.commands.run import Resources
from homonym.commands.update import MODES, Mode, update
from homonym.corpus.epoch import LARGEST_CHANGE, read_note
from homonym.errors import SettingsError
from homonym.io.result_directory import AUTHORS, LOG, MENTIONS, REPORT
from homonym.settings import Settings
from tests.support.living import SETTINGS, authors, document, make_result, require_consistent, tables, write_documents

pytestmark = pytest.mark.slow

FIRST = 40
# The largest number of new documents within an epoch; all documents have two mentions.
WITHIN = int(FIRST * LARGEST_CHANGE)
EPOCH_FILES = ("statistics.parquet", "statistics.collection.json", "names.parquet", "settings.toml", "confidence.json")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_result(tmp_path_factory.mktemp("first"), range(FIRST))


@pytest.fixture
def result(first: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "result"))


def new_file(folder: Path, first: int, number: int) -> Path:
    return write_documents(folder / "new.jsonl", [document(one) for one in range(first, first + number)])


def epoch_files(result: Path) -> dict[str, bytes]:
    return {name: (result / name).read_bytes() for name in EPOCH_FILES if (result / name).exists()}


def test_epoch_ends_after_enough_new_mentions_and_not_before(result: Path, tmp_path: Path) -> None:
    before = epoch_files(result)
    within = update(result, new_file(tmp_path, FIRST, WITHIN))
    assert (within.epoch, within.new_epoch) == (1, None)
    assert epoch_files(result) == before
    beyond = update(result, new_file(tmp_path, FIRST + WITHIN, 1))
    assert beyond.epoch == 2
    assert beyond.new_epoch == "10 mentions came, left or changed, 12% of the 80 before"
    note = read_note(result)
    assert (note.mentions, note.changed) == (90, 0)
    after = update(result, new_file(tmp_path, FIRST + WITHIN + 1, WITHIN))
    assert (after.epoch, after.new_epoch) == (2, None)


def test_epoch_ends_after_enough_mentions_have_left_or_changed(result: Path, tmp_path: Path) -> None:
    changed = [document(number) | {"venue": "Another journal"} for number in range(WITHIN // 2)]
    assert update(result, write_documents(tmp_path / "new.jsonl", changed)).epoch == 1
    leaving = [f"D{number:04d}" for number in range(20, 21 + WITHIN // 2)]
    assert update(result, remove=leaving).epoch == 2
    require_consistent(result)


def test_epoch_has_the_files_of_a_run_without_its_authors(tmp_path: Path) -> None:
    documents = write_documents(tmp_path / "in.jsonl", map(document, range(FIRST)))
    whole = disambiguate(documents, tmp_path / "whole", SETTINGS).output
    found = begin_epoch(
        documents, tmp_path / "epoch", SETTINGS, statistics=None, mentions_in_collection=None, pairs=None,
        resources=Resources(), listener=None,
    ).output  # fmt: skip
    names = {path.name for path in found.iterdir()}
    assert {path.name for path in whole.iterdir()} - names == {AUTHORS, MENTIONS, REPORT}
    for name in names - {LOG}:
        assert (found / name).read_bytes() == (whole / name).read_bytes(), name
    log, expected = (orjson.loads((folder / LOG).read_bytes()) for folder in (found, whole))
    assert log["summary"] == expected["summary"]
    assert log["settings"] == expected["settings"]


@pytest.mark.parametrize("mode", MODES)
def test_frequencies_and_limit_of_a_new_epoch_are_those_of_a_run_on_all_documents(
    result: Path, tmp_path: Path, mode: Mode
) -> None:
    unusual = document(FIRST) | {"title": "Unheardof xylography"}
    update(result, write_documents(tmp_path / "new.jsonl", [unusual]))
    assert (result / "statistics.new.parquet").exists()
    update(result, new_file(tmp_path, FIRST + 1, WITHIN), mode=mode)
    everything = [*map(document, range(FIRST)), unusual, *map(document, range(FIRST + 1, FIRST + 1 + WITHIN))]
    disambiguate(write_documents(tmp_path / "all.jsonl", everything), tmp_path / "whole", SETTINGS)
    assert epoch_files(result) == epoch_files(tmp_path / "whole") != {}
    assert not (result / "statistics.new.parquet").exists()
    require_consistent(result)


def test_limit_is_calibrated_anew(tmp_path: Path) -> None:
    records = write_documents(tmp_path / "records.jsonl", [document(number) for number in range(FIRST)])
    disambiguate(records, tmp_path / "result", Settings())
    before = epoch_files(tmp_path / "result")
    update(tmp_path / "result", new_file(tmp_path, FIRST, FIRST))
    both = write_documents(tmp_path / "records.jsonl", [document(number) for number in range(2 * FIRST)])
    disambiguate(both, tmp_path / "whole", Settings())
    assert epoch_files(tmp_path / "result") == epoch_files(tmp_path / "whole") != before


def test_assign_changes_no_old_author_when_an_epoch_begins(result: Path, tmp_path: Path) -> None:
    before = authors(result)
    done = update(result, new_file(tmp_path, FIRST, FIRST))
    assert done.epoch == 2
    assert done.mentions["other author"] == 0
    assert done.events.keys() <= {"created", "grown"}
    after = authors(result)
    assert {mention: after[mention] for mention in before} == before
    require_consistent(result)


def test_recalibrate_needs_no_new_documents_and_keeps_the_tables(result: Path) -> None:
    before = tables(result)
    done = update(result, recalibrate=True)
    assert (done.epoch, done.update, done.new_epoch) == (2, 1, "asked for")
    assert tables(result) == before
    assert done.events == {}


def test_epoch_that_is_kept_gives_a_warning(result: Path, tmp_path: Path) -> None:
    before = epoch_files(result)
    done = update(result, new_file(tmp_path, FIRST, FIRST), keep_epoch=True)
    assert done.epoch == 1
    assert any("frequencies and limit are too old" in warning for warning in done.warnings)
    assert epoch_files(result) == before
    assert update(result).epoch == 2


@pytest.mark.parametrize("options", [{"recalibrate": True}, {"mode": "rebuild"}])
def test_epoch_cannot_begin_and_be_kept(result: Path, options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="keep_epoch"):
        update(result, keep_epoch=True, **options)


def test_new_epoch_is_announced(result: Path, tmp_path: Path) -> None:
    new = new_file(tmp_path, FIRST, FIRST)
    done = CliRunner().invoke(cli, ["update", str(result), str(new)])
    assert done.exit_code == 0, done.output
    assert "epoch 2: frequencies and limit are new (80 mentions came, left or changed, 100% of the 80" in done.output


def test_frequencies_of_another_collection_stay(tmp_path: Path) -> None:
    records = write_documents(tmp_path / "records.jsonl", [document(number) for number in range(200)])
    disambiguate(records, tmp_path / "large", SETTINGS, save_statistics=tmp_path / "counts.csv")
    few = write_documents(tmp_path / "few.jsonl", [document(number) for number in range(FIRST)])
    result = tmp_path / "result"
    disambiguate(few, result, SETTINGS, statistics=tmp_path / "counts.csv")
    done = update(result, new_file(tmp_path, FIRST, FIRST))
    assert (done.epoch, done.warnings) == (1, [])
    masses = (result / "statistics.collection.json").read_bytes()
    for number, mode in enumerate(("assign", "rebuild"), 2):
        assert update(result, mode=mode, recalibrate=True).epoch == number  # type: ignore[arg-type]
        assert (result / "statistics.collection.json").read_bytes() == masses
        assert not (result / "statistics.new.parquet").exists()


@pytest.mark.parametrize("options", [{"recalibrate": True}, {"mode": "rebuild"}])
def test_page_and_log_of_a_new_epoch_name_problems_by_the_files_of_users(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    documents = [document(number) for number in range(12)]
    documents[2]["year"] = documents[11]["year"] = "19999"
    first = write_documents(tmp_path / "first.jsonl", documents[:10])
    disambiguate(first, tmp_path / "result", SETTINGS)
    update(tmp_path / "result", write_documents(tmp_path / "new.jsonl", documents[10:]), **options)
    problems = orjson.loads((tmp_path / "result" / LOG).read_bytes())["summary"]["problems"]
    places = [(Path(one["file"]).name, one["line"]) for one in problems["first"]]
    assert places == [("first.jsonl", 3), ("new.jsonl", 2)]
    assert problems["counts"]["field"] == 2
    page = (tmp_path / "result" / REPORT).read_text()
    assert "records.jsonl" not in page
    assert "first.jsonl, line 3" in page
    assert "new.jsonl, line 2" in page


def test_copies_that_an_epoch_does_not_merge_are_not_counted(tmp_path: Path) -> None:
    """A new record connects two old documents; only a rebuild merges them."""
    documents = [document(number) for number in range(12)]
    documents[1] = documents[0] | {"id": "D0001", "ids": {"pmid": "12345"}, "year": documents[0]["year"] + 3}
    documents[0]["ids"] = {"doi": "10.1000/a"}
    link = documents[0] | {"id": "D0099", "ids": {"doi": "10.1000/a", "pmid": "12345"}}
    result = tmp_path / "result"
    disambiguate(write_documents(tmp_path / "first.jsonl", documents), result, SETTINGS)
    update(result, write_documents(tmp_path / "new.jsonl", [link]), keep_epoch=True)

    def copies() -> int:
        count: int = orjson.loads((result / LOG).read_bytes())["summary"]["problems"]["counts"]["duplicate"]
        return count

    counts = [copies()]
    for _ in range(2):
        update(result, recalibrate=True)
        counts.append(copies())
    assert len({*counts}) == 1
    update(result, mode="rebuild")
    assert copies() == counts[0] + 1
