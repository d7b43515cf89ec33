"""homonym events: filters, and what it prints; homonym update: what it says."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest

from homonym.commands.decide import decide
from homonym.commands.disambiguate import disambiguate
from homonym.commands.events import events
from homonym.commands.update import update
from homonym.errors import InputError, SettingsError
from tests.support.command import homonym_command
from tests.support.living import SETTINGS, authors, document, write_documents


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two authors, D0001 and D0005, whom a decision joins in update 2; in update 1 the first gets a paper."""
    folder = tmp_path_factory.mktemp("events")
    papers = [document(number, 0) for number in (1, 2, 3)] + [document(number, 1) for number in (5, 6)]
    papers += [document(number, 3) for number in range(10, 30)]
    result = disambiguate(write_documents(folder / "in.jsonl", papers), folder / "result", SETTINGS).output
    stranger = document(41) | {"authors": [{"name": "Quill, Ann"}]}
    update(result, write_documents(folder / "new.jsonl", [document(40, 0), stranger]), keep_epoch=True)
    decide(result, "same", "D0001#0", "D0005#0", reason="known", user="ann")
    update(result)
    return result


@pytest.mark.slow
def test_known_authors_with_new_mentions_have_events(first: Path) -> None:
    found = events(first, kind="grown")
    assert ("D0040#0", authors(first)["D0001#0"]) in {(one["mention_id"], one["author_id"]) for one in found}
    assert {one["update"] for one in found} == {1}
    assert not {one["mention_id"] for one in found} & {"D0041#0"}, "its author is new"


def test_events_of_an_author_are_those_of_all_its_ids(first: Path) -> None:
    (merged,) = events(first, kind=["merged"])
    for one in (merged["author_id"], merged["other_id"]):
        kinds = [row["kind"] for row in events(first, author=one)]
        assert kinds == [row["kind"] for row in events(first, author=merged["other_id"])]
        assert {"grown", "merged"} <= {*kinds}
    with pytest.raises(InputError, match="has never given the id 'DOE, J/0'"):
        events(first, author="DOE, J/0")


def test_events_of_an_update(first: Path) -> None:
    assert [one["kind"] for one in events(first, update=2)] == ["merged"]
    assert len(events(first, update=1)) + 1 == len(events(first))


def test_unknown_kind_is_refused(first: Path) -> None:
    with pytest.raises(SettingsError, match="unknown kind 'born'; use one of created, grown, merged"):
        events(first, kind="born")


def test_command_counts_new_authors_and_lists_other_events(first: Path) -> None:
    lines = homonym_command("events", first, check=True).stdout.splitlines()
    created, grown = (len(events(first, kind=kind)) for kind in ("created", "grown"))
    assert len(lines) == 2
    assert f"  update 1: {created} new author" in lines[0]
    assert f", {grown} new mention" in lines[0]
    assert " is now " in lines[1]
    assert len(homonym_command("events", first, "--all", check=True).stdout.splitlines()) == len(events(first))
    only = homonym_command("events", first, "--kind", "grown", "--update", "1", "--json", check=True).stdout
    assert [orjson.loads(line) for line in only.splitlines()] == list(events(first, kind="grown"))


@pytest.mark.slow
def test_update_says_in_words_what_changed(first: Path, tmp_path: Path) -> None:
    result = Path(shutil.copytree(first, tmp_path / "result"))
    new = write_documents(tmp_path / "new.jsonl", [document(50, 0), document(1, 0)])
    said = homonym_command("update", result, new, "--keep-epoch", check=True).stdout
    assert "documents: 1 added, 1 known already\n" in said
    assert " with new mentions" in said
    decide(result, "different", "D0001#0", "D0005#0", reason="known", user="ann")
    said = homonym_command("update", result, check=True).stdout
    assert "mentions: 2 moved to another author\n" in said
    assert "authors: 1 separate again\n" in said


def test_export_of_decisions_says_where_they_are(first: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    said = homonym_command("decisions", first, "--export", path, check=True).stdout
    assert said == f"1 decision in force → {path}\n"
