"""homonym check: a sound result passes, every kind of damage is one line, and what can be made again is."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from homonym.commands.check import check
from homonym.commands.cluster import cluster
from homonym.commands.decide import decide
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.update import update
from homonym.corpus import epoch, table_changes
from homonym.corpus.epoch import file_digest
from homonym.errors import InputError, OutputError
from homonym.io.result_directory import (
    AUTHORS,
    BAGS,
    CORPUS,
    DECISIONS,
    DOCUMENTS,
    EVENTS,
    IDS,
    LOG,
    MARKER,
    MENTIONS,
    REPORT,
    SETTINGS,
)
from homonym.runtime.own_files import LOCK
from homonym.runtime.work_directory import work_directory
from homonym.schema import EVENT_ROWS, ID_ROWS
from homonym.settings import Settings
from tests.commands.test_explain import FILLERS, PAPERS
from tests.commands.test_result_directory import write
from tests.support.command import homonym_command

RECORDS = [*PAPERS, *FILLERS[:8]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    return disambiguate(write(folder / "in.jsonl", RECORDS), folder / "result", Settings(kappa=7)).output


@pytest.fixture
def result(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "result"))


def only_problem(result: Path) -> str:
    (problem,) = check(result).problems
    assert "\n" not in problem
    return problem


def change(path: Path, how: Callable[[list[dict[str, Any]]], object]) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    how(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


@pytest.mark.slow
def test_sound_results_have_no_problems(result: Path, tmp_path: Path) -> None:
    assert check(result).is_sound
    decide(result, "same", "d1#0", "d6#0", reason="x")
    assert check(result, repair=True).repaired == []
    mentions = extract(write(tmp_path / "in.jsonl", RECORDS), tmp_path / "mentions.jsonl").output
    assert check(cluster(mentions, tmp_path / "other", Settings(kappa=7)).output).problems == []


def test_refuses_what_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a result directory"):
        check(tmp_path)


@pytest.mark.parametrize("name", [MENTIONS, AUTHORS, DOCUMENTS, SETTINGS, LOG, REPORT, "statistics.parquet"])
def test_missing_and_cut_files(name: str, result: Path) -> None:
    content = (result / name).read_bytes()
    (result / name).write_bytes(content[: len(content) // 2] + b"\0")
    assert f"{name}: it cannot be read" in only_problem(result)
    (result / name).unlink()
    assert f"{name}: it is missing" in only_problem(result)


def test_missing_bags_of_a_fresh_result_are_found_and_made_again(result: Path, made: Path) -> None:
    (result / BAGS).unlink()
    assert only_problem(result).endswith("bags.parquet: it is missing; homonym check --repair makes it again.")
    assert BAGS in check(result, repair=True).repaired
    assert (result / BAGS).read_bytes() == (made / BAGS).read_bytes()


def test_results_of_an_older_format_need_no_bags(result: Path) -> None:
    (result / BAGS).unlink()
    (result / MARKER).write_bytes(b"homonym result, format 1\n")
    assert check(result).is_sound


def test_repair_removes_what_a_killed_repair_has_left(result: Path) -> None:
    work = result.with_name(".result.work")
    with work_directory(work, lasting=True):
        pass
    (work / LOCK).write_text("4194305\n")  # no process has this number
    left = result.with_name(".4194305-0badcafe.partial.result")
    shutil.copytree(result, left)
    (result / BAGS).unlink()
    check(result, repair=True)
    assert sorted(path.name for path in result.parent.iterdir()) == ["result"]


def test_changed_settings_of_a_fresh_result_are_found(result: Path, tmp_path: Path) -> None:
    text = (result / SETTINGS).read_text()
    (result / SETTINGS).write_text("# a remark\n" + text)
    assert check(result).is_sound
    (result / SETTINGS).write_text(text.replace("kappa = 7.0", "kappa = 8.0"))
    assert "settings.toml: kappa is another one than in run.json" in only_problem(result)
    with pytest.raises(InputError, match=r"settings\.toml: kappa is another one than in run\.json"):
        update(result, write(tmp_path / "new.jsonl", FILLERS[8:10]))


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        (MENTIONS, lambda rows: rows.append(dict(rows[0])), "several rows for the mention"),
        (MENTIONS, lambda rows: rows[0].update(author_id=""), "without an author"),
        (DOCUMENTS, lambda rows: rows.append(dict(rows[0])), "several rows for the document"),
        (DOCUMENTS, lambda rows: rows.pop(0), "lacks the document 'd1'"),
        (DOCUMENTS, lambda rows: rows[0].update(authors=rows[0]["authors"][1:]), "the place of the mention 'd1#0'"),
        (AUTHORS, lambda rows: rows.append(dict(rows[0])), "several rows for the author"),
        (AUTHORS, lambda rows: rows.pop(0), "authors.parquet: it lacks the author"),
        (AUTHORS, lambda rows: rows.append(rows[0] | {"author_id": "ZOE, Z/000000000000"}), "who has no mention"),
        (AUTHORS, lambda rows: rows[0].update(mentions=9), "the wrong number of mentions or documents"),
        (AUTHORS, lambda rows: rows[0].update(first_year=1066), "the wrong years for the author"),
        (AUTHORS, lambda rows: rows[0].update(variants=[]), "the wrong names for the author"),
    ],
)
def test_tables_that_disagree(name: str, how: Callable[[Any], object], message: str, result: Path) -> None:
    change(result / name, how)
    problems = check(result).problems
    assert any(message in one and name in one for one in problems)
    assert all("\n" not in one for one in problems)


def test_other_columns(result: Path) -> None:
    pq.write_table(pq.read_table(result / AUTHORS).drop_columns(["name"]), result / AUTHORS)
    assert "its columns are not" in only_problem(result)


def living(result: Path) -> None:
    """Add tables of ids and events, as `update` writes them."""
    authors = sorted(pc.unique(pq.read_table(result / MENTIONS)["author_id"]).to_pylist())
    kept = [
        {"author_id": one, "status": "active", "target": None, "split_from": None, "created": 0, "changed": 0}
        for one in authors
    ]
    gone = {"author_id": "OLD, A/000000000000", "status": "redirect", "target": authors[0], "created": 0, "changed": 1}
    left = {"author_id": "OLD, B/000000000000", "status": "retired", "target": None, "created": 0, "changed": 1}
    pq.write_table(pa.Table.from_pylist([*kept, gone, left], schema=ID_ROWS), result / IDS)
    event = {"time": "2026-01-01T00:00:00Z", "update": 1, "epoch": 1, "reason": "x"}
    events = [
        event | {"number": 1, "kind": "merged", "author_id": gone["author_id"], "other_id": authors[0]},
        event | {"number": 2, "kind": "retired", "author_id": left["author_id"]},
    ]
    pq.write_table(pa.Table.from_pylist(events, schema=EVENT_ROWS), result / EVENTS)
    note_digests(result)


def test_redirect_to_a_retired_id(result: Path) -> None:
    living(result)
    rows = pq.read_table(result / IDS).to_pylist()
    rows[-2]["target"] = rows[-1]["author_id"]
    pq.write_table(pa.Table.from_pylist(rows, schema=ID_ROWS), result / IDS)
    note_digests(result)
    assert check(result).problems == []


def note_digests(result: Path) -> None:
    files = {name: file_digest(result / name) for name in (MENTIONS, AUTHORS, DOCUMENTS, IDS, EVENTS)}
    note = {"epoch": 1, "update": 1, "time": "2026-01-01T00:00:00Z", "named": {}, "files": files}
    (result / CORPUS).write_bytes(orjson.dumps(note))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        (IDS, lambda rows: rows.append(dict(rows[0])), "several rows for the id"),
        (IDS, lambda rows: rows.pop(0), "does not list the author"),
        (IDS, lambda rows: rows[-1].update(status="active"), "as active, but no mention has it"),
        (IDS, lambda rows: rows[-2].update(target="NO, N/000000000000"), "redirects to the id 'NO, N/000000000000'"),
        (IDS, lambda rows: rows[-2].update(target="OLD, A/000000000000"), "leads neither to an author"),
        (IDS, lambda rows: rows[-2].update(target=None), "unknown status or a wrong target"),
        (IDS, lambda rows: rows[0].update(split_from="NO, N/000000000000"), "split off 'NO, N/000000000000'"),
        (IDS, lambda rows: rows[0].update(created=1), "has no event for the new id"),
        (EVENTS, lambda rows: rows.pop(0), "no event for the redirect of"),
        (EVENTS, lambda rows: rows.pop(0), "numbers 1, 2, 3"),
        (EVENTS, lambda rows: rows.pop(1), "which is gone"),
        (EVENTS, lambda rows: rows[0].update(author_id="NO, N/000000000000"), "not in the table of ids"),
    ],
)
def test_ids_and_events(name: str, how: Callable[[Any], object], message: str, result: Path) -> None:
    living(result)
    assert check(result).problems == []
    change(result / name, how)
    note_digests(result)
    assert any(message in one for one in check(result).problems)


def test_changed_after_the_last_update(result: Path) -> None:
    living(result)
    change(result / DOCUMENTS, lambda rows: rows[0].update(title="forged"))
    assert "documents.parquet: it was changed after the last update" in only_problem(result)
    (result / EVENTS).unlink()
    assert any("events.parquet: it is missing" in one for one in check(result).problems)


def silently_read(path: Path, intact: pa.Table) -> bool:
    try:
        return not pq.read_table(path).equals(intact)
    except (OSError, pa.ArrowException):
        return False


@pytest.mark.slow
@pytest.mark.parametrize("name", [MENTIONS, DOCUMENTS])
def test_a_flipped_bit_in_a_fresh_result_is_found(name: str, result: Path) -> None:
    """Values that cannot be compressed are stored as they are: other values would be read without an error."""
    path = result / name
    intact, table = path.read_bytes(), pq.read_table(path)
    found = 0
    for place in range(4, len(intact) - 8):
        path.write_bytes(intact[:place] + bytes([intact[place] ^ 1]) + intact[place + 1 :])
        if found < 3 and silently_read(path, table):
            found += 1
            assert f"{name}: it cannot be read" in check(result).problems[0], place
    assert found


def test_an_update_refuses_files_that_were_changed_after_the_last_one(result: Path, tmp_path: Path) -> None:
    living(result)
    change(result / MENTIONS, lambda rows: rows[0].update(author_id=rows[1]["author_id"]))
    with pytest.raises(InputError, match=r"mentions\.parquet: it was changed after the last update; restore a copy"):
        update(result, write(tmp_path / "new.jsonl", FILLERS[8:10]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "column"), [(DOCUMENTS, "record"), (MENTIONS, "mention_id"), (AUTHORS, "name")])
def test_damage_that_an_update_copies_is_found_afterwards(
    name: str, column: str, result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flipped bit on the disk changes neither the size nor the time of a file."""
    monkeypatch.setattr(table_changes, "DOCUMENTS_AT_ONCE", 2)  # the last row group is full, so it is copied
    monkeypatch.setattr("homonym.commands.update.PAGE_MENTIONS", 0)  # the page would read all rows
    for table in (MENTIONS, AUTHORS):
        monkeypatch.setitem(table_changes._ORDER, table, (*table_changes._ORDER[table][:2], 2))
    update(result, write(tmp_path / "new.jsonl", FILLERS[8:10]), keep_epoch=True)
    assert check(result).problems == []
    more = [
        {"id": f"more {one}", "title": f"Novelty {one} of all", "authors": [{"name": "Zeta, Q"}]} for one in range(2)
    ]
    group = pq.read_metadata(result / name).row_group(0)  # the rows of other names
    (chunk,) = (one for one in map(group.column, range(group.num_columns)) if one.path_in_schema == column)
    flip(result / name, chunk.data_page_offset + chunk.total_compressed_size - 1)
    assert update(result, write(tmp_path / "more.jsonl", more), keep_epoch=True).documents["added"] == 2
    assert f"{name}: " in check(result).problems[0]
    digest = epoch.read_note(result).files[name]
    now = file_digest(result / name, [(size, None) for size in digest["sizes"]])
    differs = [one != other for one, other in zip(digest["parts"], now["parts"], strict=True)]
    assert (digest["bytes"], differs.count(True)) == (now["bytes"], 1)


def test_damage_is_found_where_a_note_has_digests_of_other_parts(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to version 0.16, parts of files had 4 MiB each."""
    monkeypatch.setattr(table_changes, "DOCUMENTS_AT_ONCE", 2)
    update(result, write(tmp_path / "new.jsonl", FILLERS[8:10]), keep_epoch=True)
    note = orjson.loads((result / CORPUS).read_bytes())
    note["files"] = {name: file_digest(result / name) for name in note["files"]}
    (result / CORPUS).write_bytes(orjson.dumps(note))
    group = pq.read_metadata(result / DOCUMENTS).row_group(0)
    more = [one | {"id": f"more {number}"} for number, one in enumerate(FILLERS[10:12])]
    (chunk,) = (one for one in map(group.column, range(group.num_columns)) if one.path_in_schema == "record")
    flip(result / DOCUMENTS, chunk.data_page_offset + chunk.total_compressed_size - 1)
    with pytest.raises(InputError, match=r"documents\.parquet was changed after the last update"):
        update(result, write(tmp_path / "more.jsonl", more), keep_epoch=True)


def test_digests_of_copied_parts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(epoch, "_PART", 10)
    path = tmp_path / "file"
    path.write_bytes(bytes(range(95)))
    parts = [(7, None), (30, None)]
    known = epoch.file_digest(path, parts)
    assert (known["sizes"], len(known["parts"])) == ([7, 30], 2 + 6)
    path.write_bytes(bytes(range(37)) + b"other" * 20)
    kept = list(zip(known["sizes"], known["parts"], strict=False))
    assert epoch.file_digest(path, kept) == epoch.file_digest(path, parts)
    assert epoch.file_digest(path, parts)["parts"][:2] == known["parts"][:2]
    flip(path, 3)
    assert epoch.file_digest(path, kept)["parts"] != epoch.file_digest(path, parts)["parts"]


def flip(path: Path, place: int) -> None:
    """Flip a bit of a file, which keeps its time."""
    content, known = bytearray(path.read_bytes()), path.stat()
    content[place] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


@pytest.mark.slow
def test_notes_of_earlier_versions_have_one_digest_of_a_file(result: Path, tmp_path: Path) -> None:
    living(result)
    note = orjson.loads((result / CORPUS).read_bytes())
    for name in note["files"]:
        content = (result / name).read_bytes()
        note["files"][name] = {"bytes": len(content), "blake2b": hashlib.blake2b(content, digest_size=16).hexdigest()}
    (result / CORPUS).write_bytes(orjson.dumps(note))
    assert check(result).problems == []
    update(result, write(tmp_path / "new.jsonl", FILLERS[8:10]))
    assert check(result).problems == []
    note["files"][MENTIONS]["blake2b"] = "0" * 32
    (result / CORPUS).write_bytes(orjson.dumps(note))
    with pytest.raises(InputError, match=r"mentions\.parquet: it was changed after the last update"):
        update(result, write(tmp_path / "new.jsonl", FILLERS[8:10]))


@pytest.mark.parametrize("digest", [None, "text", {}, {"bytes": 1}, {"bytes": 1, "parts": "ab"}, {"blake2b": "ab"}])
def test_a_note_with_broken_digests_is_one_sentence(tmp_path: Path, digest: object) -> None:
    note = {"epoch": 1, "update": 1, "time": "", "named": {}, "files": {MENTIONS: digest}}
    (tmp_path / CORPUS).write_bytes(orjson.dumps(note))
    with pytest.raises(InputError, match="expected JSON with epoch, update, time, named and files"):
        epoch.read_note(tmp_path)


@pytest.mark.slow
def test_an_update_does_not_need_the_page(result: Path, tmp_path: Path) -> None:
    living(result)
    (result / REPORT).write_text("<!doctype html>mine</html>")
    assert update(result, write(tmp_path / "new.jsonl", FILLERS[8:10])).update == 2


def test_damaged_decisions(result: Path) -> None:
    (result / DECISIONS).write_bytes(b"SQLite format 3\0 and then nothing of that kind" * 99)
    assert "decisions.sqlite is not a file of decisions" in only_problem(result)


def test_command_has_exit_status_of_the_check(result: Path) -> None:
    assert homonym_command("check", result).stdout == "no problems\n"
    (result / SETTINGS).unlink()
    failed = homonym_command("check", result)
    assert (failed.returncode, failed.stdout.splitlines()[-1]) == (1, "1 problem")
    assert homonym_command("check", result.parent).returncode == 2


@pytest.mark.parametrize("damage", ["cut", "missing", "wrong"])
def test_repair_restores_the_same_bytes(damage: str, result: Path, made: Path) -> None:
    living(result)
    if damage == "wrong":
        change(result / AUTHORS, lambda rows: rows[0].update(mentions=9))
    for name in (AUTHORS, REPORT):
        if damage == "cut":
            (result / name).write_bytes((result / name).read_bytes()[:500])
        elif damage == "missing":
            (result / name).unlink()
    done = homonym_command("check", result, "--repair")
    assert (done.returncode, done.stdout) == (0, "made again: authors.parquet\nmade again: report.html\nno problems\n")
    assert (result / AUTHORS).read_bytes() == (made / AUTHORS).read_bytes()
    page = (result / REPORT).read_bytes()
    assert (
        page.replace(
            b'<p id="update"><strong>After update 1, 2026-01-01. Files, problems and calibration are those '
            b"of the last whole run.</strong></p>\n",
            b"",
        )
        == (made / REPORT).read_bytes()
    )
    assert sorted(path.name for path in result.parent.iterdir()) == ["result"]


def test_repair_leaves_what_follows_from_nothing(result: Path) -> None:
    (result / AUTHORS).unlink()
    change(result / MENTIONS, lambda rows: rows.append(dict(rows[0])))
    done = check(result, repair=True)
    assert done.repaired == []
    assert any("several rows for the mention" in one for one in done.problems)


@pytest.mark.slow
def test_updated_and_decided_results_are_sound(result: Path, tmp_path: Path) -> None:
    decide(result, "name", "d1#0", "Wang, Wei (wine)", reason="x")
    decide(result, "same", "d1#0", "d6#0", reason="x")
    update(result, write(tmp_path / "new.jsonl", FILLERS[8:10]))
    assert check(result).problems == []
    before = (result / AUTHORS).read_bytes()
    decide(result, "name", "d1#0", "not applied yet", reason="x")
    (result / AUTHORS).unlink()
    assert "<strong>After update 1 (" in (result / REPORT).read_text()
    assert check(result, repair=True).problems == []
    assert "<strong>After update 1, 20" in (result / REPORT).read_text()
    assert (result / AUTHORS).read_bytes() == before


def test_updated_result_without_its_note_is_refused(result: Path, tmp_path: Path) -> None:
    update(result, write(tmp_path / "more.jsonl", FILLERS[8:9]), keep_epoch=True)
    (result / CORPUS).unlink()
    assert only_problem(result).startswith(f"{result / CORPUS}: it is missing; ")
    with pytest.raises(InputError, match=r"corpus.json is missing; restore a copy"):
        update(result)
    with pytest.raises(OutputError, match="was updated, and a new run would lose its author ids"):
        disambiguate(tmp_path / "more.jsonl", result, Settings(kappa=7))
