from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.commands.check import check
from homonym.commands.disambiguate import disambiguate
from homonym.commands.events import events
from homonym.commands.explain import explain
from homonym.commands.export import export
from homonym.commands.run import Resources
from homonym.commands.update import update
from homonym.corpus.decision_store import NewDecision, add_decisions, add_undo
from homonym.corpus.ids import current_id
from homonym.errors import InputError, OutputError, SettingsError
from homonym.exports.targets import TARGETS
from tests.support.living import (
    PEOPLE,
    SETTINGS,
    authors,
    document,
    make_result,
    require_consistent,
    rows,
    tables,
    write_documents,
)

pytestmark = pytest.mark.slow

ORCIDS = ("0000-0002-1825-0097", "0000-0002-1694-233X", "0000-0001-5109-3700")


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_result(tmp_path_factory.mktemp("first"), range(40))


@pytest.fixture
def result(first: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "result"))


def new_file(folder: Path, numbers: range) -> Path:
    return write_documents(folder / f"new{numbers[0]}.jsonl", [document(number) for number in numbers])


@pytest.mark.parametrize("mode", ["assign", "grow", "rebuild"])
def test_new_mentions_get_authors_and_tables_agree(result: Path, tmp_path: Path, mode: str) -> None:
    before = authors(result)
    done = update(result, new_file(tmp_path, range(40, 50)), mode=mode)  # type: ignore[arg-type]
    assert done.documents["added"] == 10
    assert done.mentions["added"] == 20
    assert len(authors(result)) == len(before) + 20
    require_consistent(result)


def test_assign_changes_no_old_author(result: Path, tmp_path: Path) -> None:
    before = authors(result)
    update(result, new_file(tmp_path, range(40, 60)))
    after = authors(result)
    assert {mention: after[mention] for mention in before} == before
    assert {one["kind"] for one in events(result)} <= {"created", "grown"}


def test_new_mentions_join_old_authors(result: Path, tmp_path: Path) -> None:
    before = set(authors(result).values())
    update(result, new_file(tmp_path, range(40, 60)))
    joined = [one for mention, one in authors(result).items() if mention >= "D0040"]
    assert sum(one in before for one in joined) > len(joined) / 2


def test_untouched_blocks_keep_their_rows(result: Path, tmp_path: Path) -> None:
    before = {row["mention_id"]: row for row in rows(result, "mentions")}
    people = {row["author_id"]: row for row in rows(result, "authors")}
    person = PEOPLE.index(("Li, X", "stars", "Observatory of Jena", "Poe, Max"))
    update(result, write_documents(tmp_path / "new.jsonl", [document(70, person)]))
    touched = {"LI, X", "POE, M"}
    for row in rows(result, "mentions"):
        if row["block"] not in touched:
            assert row == before[row["mention_id"]]
    for row in rows(result, "authors"):
        if (
            row["author_id"].split("/")[0] not in touched
            and not {one["author_id"].split("/")[0] for one in row["coauthors"]} & touched
        ):
            assert row == people[row["author_id"]]


def test_same_records_again_change_nothing(result: Path, tmp_path: Path) -> None:
    before, directory = tables(result), os.stat(result).st_ino
    done = update(result, new_file(tmp_path, range(40)))
    assert done.documents == {"added": 0, "changed": 0, "removed": 0, "unchanged": 40}
    assert tables(result) == before
    assert done.update == 0
    assert os.stat(result).st_ino == directory, "an update beside it is not refused because of one that changes nothing"
    assert not [name for name in os.listdir(result.parent) if name.startswith(".")]


@pytest.mark.parametrize("mode", ["assign", "rebuild"])
def test_records_without_identifiers_and_with_short_titles_change_nothing_when_they_come_again(
    tmp_path: Path, mode: str
) -> None:
    lines = [f"Kernels {number},Doe J; Roe A,{2000 + number},Coins" for number in range(6)]
    lines += ["Editorial,Doe J,2010,Coins", "Editorial,Doe J,2010,Cells", ",Doe J,2011,Coins"]
    table = tmp_path / "papers.csv"
    table.write_text("\n".join(["title,authors,year,journal", *lines]))
    result = tmp_path / "result"
    disambiguate(table, result, SETTINGS)
    before = tables(result)
    again = update(result, table, mode=mode)  # type: ignore[arg-type]
    assert (again.documents["added"], again.documents["unchanged"]) == (0, 9)
    assert tables(result) == before
    table.write_text("\n".join(["title,authors,year,journal", "Editorial,Doe J,2010,Stars", *lines]))
    later = update(result, table, mode=mode)  # type: ignore[arg-type]
    assert (later.documents["added"], later.documents["unchanged"]) == (1, 9)
    assert update(result, table, mode=mode).documents["added"] == 0  # type: ignore[arg-type]
    require_consistent(result)


def test_changed_record_replaces_the_old_one(result: Path, tmp_path: Path) -> None:
    before = authors(result)
    changed = document(7) | {"year": 2021, "venue": "Another journal"}
    done = update(result, write_documents(tmp_path / "new.jsonl", [changed]))
    assert done.documents["changed"] == 1
    assert authors(result) == before
    (row,) = (row for row in rows(result, "documents") if row["document_id"] == "D0007")
    assert (row["year"], row["venue"]) == (2021, "Another journal")
    require_consistent(result)


@pytest.mark.parametrize("mode", ["assign", "rebuild"])
def test_record_of_a_poorer_export_loses_nothing(tmp_path: Path, mode: str) -> None:
    full = {
        "id": "7",
        "title": "Roman silver coins of a hoard",
        "abstract": "We …",
        "year": 2010,
        "venue": "Coins",
        "keywords": ["silver"],
        "ids": {"pmid": "7"},
        "authors": [
            {"name": "Doe, Jane", "affiliations": ["MIT"], "emails": ["jd@mit.edu"], "ids": {"orcid": ORCIDS[0]}},
            {"name": "Roe, Al"},
        ],
    }
    records = write_documents(tmp_path / "full.jsonl", [full, *map(document, range(30))])
    disambiguate(records, tmp_path / "result", SETTINGS)
    poor = tmp_path / "pubmed.csv"
    poor.write_text('PMID,Title,Authors,Publication Year\n7,Roman silver coins of hoards,"Doe J, Roe A, Poe M",2011\n')
    done = update(tmp_path / "result", poor, mode=mode)  # type: ignore[arg-type]
    assert done.documents["changed"] == 1
    (changed,) = (one for one in rows(tmp_path / "result", "documents") if one["document_id"] == "7")
    assert orjson.loads(changed["record"]) == full | {
        "title": "Roman silver coins of hoards",
        "year": 2011,
        "authors": [*full["authors"], {"name": "Poe M"}],  # type: ignore[misc]
    }
    require_consistent(tmp_path / "result")


@pytest.mark.parametrize("end", ["; et al.", " et al.", ", ..."])
def test_list_of_authors_that_ends_with_et_al_removes_nobody(result: Path, tmp_path: Path, end: str) -> None:
    before = authors(result)
    title, first = document(7)["title"], document(7)["authors"][0]["name"]
    table = tmp_path / "cut.csv"
    table.write_text(f'id,title,year,authors\nD0007,{title},2021,"{first}{end}"\n')
    assert update(result, table).documents["changed"] == 1
    assert authors(result) == before
    (row,) = (row for row in rows(result, "documents") if row["document_id"] == "D0007")
    assert row["year"] == 2021
    require_consistent(result)


@pytest.mark.parametrize("to", ["ris", "bibtex", "wos", "scopus"])
def test_labels_of_an_exported_file_do_not_become_names(result: Path, tmp_path: Path, to: str) -> None:
    names = {row["mention_id"]: row["name"] for row in rows(result, "mentions")}
    file = tmp_path / f"library{TARGETS[to].suffixes[0]}"
    export(result, to, file)
    assert re.search(r"Doe,? J\.? ?B\b", file.read_text())
    done = update(result, file)
    assert {row["mention_id"]: row["name"] for row in rows(result, "mentions")} == names
    assert done.mentions == {"added": 0, "removed": 0, "renamed": 0, "other author": 0}
    assert not any(one["kind"] == "homonym" for row in rows(result, "authors") for one in row["ids"])


def test_changed_record_changes_what_is_known_of_its_authors(result: Path, tmp_path: Path) -> None:
    shown = authors(result)
    changed = document(7)
    changed["authors"] = [changed["authors"][0] | {"affiliations": ["Academy of Ulm"]}, {"name": "Young, Zoe"}]
    update(result, write_documents(tmp_path / "new.jsonl", [changed | {"year": 2035}]))
    (row,) = (row for row in rows(result, "authors") if row["author_id"] == shown["D0007#0"])
    assert row["last_year"] == 2035
    assert "Academy of Ulm" in {one["affiliation"] for one in row["affiliations"]}
    assert "Young, Zoe" in {one["name"] for one in row["coauthors"]}
    require_consistent(result)


def test_better_name_of_an_author_reaches_lists_of_coauthors(result: Path, tmp_path: Path) -> None:
    shown = authors(result)
    new = document(7) | {"id": "D0900", "title": "Another one"}
    new["authors"] = [new["authors"][0], {"name": new["authors"][1]["name"] + " Wilhelmina"}]
    update(result, write_documents(tmp_path / "new.jsonl", [new]))
    after = authors(result)
    assert after["D0900#1"] == shown["D0007#1"]
    names = {one["name"] for row in rows(result, "authors") for one in row["coauthors"]
             if one["author_id"] == shown["D0007#1"]}  # fmt: skip
    assert names == {new["authors"][1]["name"]}
    require_consistent(result)


def test_mention_at_another_position_keeps_its_author(result: Path, tmp_path: Path) -> None:
    before = authors(result)
    changed = document(7)
    changed["authors"] = [{"name": "Young, Zoe"}, *changed["authors"]]
    update(result, write_documents(tmp_path / "new.jsonl", [changed]))
    after = authors(result)
    assert after["D0007#1"] == before["D0007#0"]
    assert after["D0007#2"] == before["D0007#1"]
    require_consistent(result)


@pytest.mark.parametrize("mode", ["assign", "rebuild"])
def test_decisions_stay_with_mentions_at_other_positions(result: Path, tmp_path: Path, mode: str) -> None:
    before = authors(result)
    largest = max(sorted(set(before.values())), key=list(before.values()).count)
    a, b = sorted(mention for mention, author in before.items() if author == largest)[:2]
    number = int(a[1:5])
    decide(result, "different", a, b)
    add_decisions(
        result,
        [NewDecision(user="ann", kind="name", a=a, b="The Name", mention_a=a, mention_b="", reason="")],
    )
    changed = document(number)
    changed["authors"] = [{"name": "Young, Zoe"}, *changed["authors"]]
    update(result, write_documents(tmp_path / "new.jsonl", [changed]), mode=mode)  # type: ignore[arg-type]
    moved = f"{a[:-1]}{int(a[-1]) + 1}"
    for _ in range(2):
        after = authors(result)
        assert after[moved] != after[b]
        assert {row["author_id"] for row in rows(result, "authors") if row["name"] == "The Name"} == {after[moved]}
        require_consistent(result)
        assert check(result).problems == []
        update(result, mode=mode)  # type: ignore[arg-type]
    # A decision that is made now is about the mention that has the id now.
    decide(result, "same", f"{a[:5]}#0", moved)
    update(result)
    after = authors(result)
    assert after[f"{a[:5]}#0"] == after[moved] != after[b]
    # The mention is gone, and another one has its id.
    changed["authors"] = changed["authors"][:1] + changed["authors"][2:] if a[-1] == "0" else changed["authors"][1:2]
    update(result, write_documents(tmp_path / "less.jsonl", [changed]))
    assert "The Name" not in {row["name"] for row in rows(result, "authors")}
    require_consistent(result)


def test_pairs_stay_with_mentions_at_other_positions(tmp_path: Path) -> None:
    papers = [document(number, 0) | {"authors": [{"name": "Ulm, Ada"}]} for number in (1, 2)]
    others = [document(number) for number in range(10, 30)]
    (tmp_path / "pairs.csv").write_text("mention_a,mention_b,relation\nD0001#0,D0002#0,different\n")
    records, result = write_documents(tmp_path / "records.jsonl", [*others, *papers]), tmp_path / "result"
    disambiguate(records, result, SETTINGS, pairs=tmp_path / "pairs.csv")
    papers[0]["authors"] = [{"name": "Young, Zoe"}, *papers[0]["authors"]]
    new = write_documents(tmp_path / "new.jsonl", papers[:1])
    for mode in ("assign", "rebuild"):
        update(result, new, mode=mode)
        after = authors(result)
        assert after["D0001#1"] != after["D0002#0"]
        require_consistent(result)


def test_removed_documents_leave(result: Path) -> None:
    before = authors(result)
    done = update(result, remove=["D0003", "D0004"])
    assert done.documents["removed"] == 2
    after = authors(result)
    assert after == {mention: one for mention, one in before.items() if mention[:5] not in {"D0003", "D0004"}}
    require_consistent(result)


def test_the_current_directory_is_not_updated(result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(result)
    for place in (Path("."), result):
        with pytest.raises(OutputError, match=r"the current directory is in .*, which is replaced by a changed copy"):
            update(place, remove=["D0003"])
    monkeypatch.chdir(result.parent)
    assert update(result, remove=["D0003"]).documents["removed"] == 1


def test_one_id_of_a_document_that_leaves_may_be_a_text(result: Path) -> None:
    assert update(result, remove="D0003").documents["removed"] == 1
    assert "D0003" not in {row["document_id"] for row in rows(result, "documents")}


def test_full_names_come_to_a_result_that_has_initials_only(tmp_path: Path) -> None:
    old = [document(number, 0) | {"authors": [{"name": "Doe, J"}]} for number in range(6)]
    settings = SETTINGS.changed(background="none")
    disambiguate(write_documents(tmp_path / "old.jsonl", old), tmp_path / "result", settings)
    new = document(90, 0) | {"authors": [{"name": "Doe, Jane"}]}
    update(tmp_path / "result", write_documents(tmp_path / "new.jsonl", [new]))
    assert set(authors(tmp_path / "result")) >= {"D0000#0", "D0090#0"}
    require_consistent(tmp_path / "result")


def test_id_of_an_author_without_mentions_is_retired_and_not_given_again(result: Path, tmp_path: Path) -> None:
    new = document(80) | {"authors": [{"name": "Quill, Ann"}]}
    path = write_documents(tmp_path / "new.jsonl", [new])
    update(result, path)
    first_id = authors(result)["D0080#0"]
    update(result, remove=["D0080"])
    assert [one["kind"] for one in events(result)] == ["created", "retired"]
    assert current_id(result, first_id) is None
    update(result, path)
    assert authors(result)["D0080#0"] != first_id
    require_consistent(result)


def test_grow_merges_authors_that_new_evidence_connects(tmp_path: Path) -> None:
    one, two = document(1, 0), document(2, 1)
    people = [{"name": "Doe, Jane", "ids": {"orcid": "0000-0002-1825-0097"}}]
    one["authors"], two["authors"] = people, [{"name": "Doe, Jane", "emails": ["jane@doe.example"]}]
    others = [document(number, 2 + number % 2) for number in range(10, 30)]  # Doe, John and others
    records = write_documents(tmp_path / "records.jsonl", [one, two, *others])
    disambiguate(records, tmp_path / "result", SETTINGS)
    result = tmp_path / "result"
    before = authors(result)
    assert before["D0001#0"] != before["D0002#0"]
    bridge = document(3, 3)
    bridge["authors"] = [people[0] | {"emails": ["jane@doe.example"]}]
    path = write_documents(tmp_path / "new.jsonl", [bridge])
    assigned = Path(shutil.copytree(result, tmp_path / "assigned"))
    update(assigned, path)
    after = authors(assigned)
    assert {mention: after[mention] for mention in before} == before
    update(result, path, mode="grow")
    after = authors(result)
    assert after["D0001#0"] == after["D0002#0"] == after["D0003#0"]
    gone = ({before["D0001#0"], before["D0002#0"]} - {after["D0001#0"]}).pop()
    assert current_id(result, gone) == after["D0001#0"]
    assert [(one["kind"], one["author_id"]) for one in events(result) if one["kind"] == "merged"] == [("merged", gone)]
    require_consistent(result)


def test_rebuild_equals_a_run_over_all_documents(result: Path, tmp_path: Path) -> None:
    update(result, new_file(tmp_path, range(40, 50)), mode="rebuild")
    whole = make_result(tmp_path, range(50), "whole")
    assert _partition(authors(result)) == _partition(authors(whole))


def _partition(found: dict[str, str]) -> set[frozenset[str]]:
    return {frozenset(one for one, other in found.items() if other == author) for author in set(found.values())}


def test_document_with_the_id_of_a_different_one_gets_a_suffix(result: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text('id,title,authors,year\nD0001,"A different work about nothing at all","Young, Zoe",2001\n')
    done = update(result, table)
    assert done.documents["added"] == 1
    (row,) = (row for row in rows(result, "documents") if row["record_ids"] == ["D0001"] and row["year"] == 2001)
    assert row["document_id"].startswith("D0001~")
    require_consistent(result)


def test_same_decision_merges_and_undo_restores_every_byte(result: Path) -> None:
    before, shown = tables(result), authors(result)
    one = next(iter(sorted({author for author in shown.values() if author.startswith("DOE, J/")})))
    other = next(author for author in sorted(set(shown.values())) if author.startswith("DOE, J/") and author != one)
    a, b = (min(mention for mention, author in shown.items() if author == who) for who in (one, other))
    number = decide(result, "same", a, b)
    update(result)
    after = authors(result)
    assert after[a] == after[b]
    assert [one["kind"] for one in events(result)] == ["merged"]
    assert events(result).rows[0]["reason"].startswith("decision")
    require_consistent(result)
    undo(result, number)
    update(result)
    assert tables(result) == before
    assert [one["kind"] for one in events(result)] == ["merged", "revived"]
    require_consistent(result)


def test_different_decision_splits_and_new_papers_do_not_put_it_back(result: Path, tmp_path: Path) -> None:
    before, shown = tables(result), authors(result)
    largest = max(sorted(set(shown.values())), key=list(shown.values()).count)
    a, b = sorted(mention for mention, author in shown.items() if author == largest)[:2]
    number = decide(result, "different", a, b)
    update(result)
    after = authors(result)
    assert after[a] != after[b]
    assert largest in {after[a], after[b]}
    assert [one["kind"] for one in events(result)] == ["split"]
    require_consistent(result)
    copy = Path(shutil.copytree(result, tmp_path / "copy"))
    update(copy, new_file(tmp_path, range(40, 50)))
    update(copy, mode="rebuild")
    later = authors(copy)
    assert later[a] != later[b]
    require_consistent(copy)
    undo(result, number)
    update(result)
    assert tables(result) == before
    assert events(result).rows[-1]["kind"] == "merged"
    require_consistent(result)


@pytest.mark.parametrize("mode", ["assign", "rebuild"])
def test_parts_of_a_divided_author_keep_their_ids_when_one_grows(tmp_path: Path, mode: str) -> None:
    people = [document(number) for number in range(10, 30)]
    pair = [document(number, 0) | {"authors": [{"name": "Ulm, Ada", "ids": {"orcid": ORCIDS[0]}}]} for number in (1, 2)]
    disambiguate(write_documents(tmp_path / "records.jsonl", [*people, *pair]), tmp_path / "result", SETTINGS)
    result = tmp_path / "result"
    before = tables(result)
    number = decide(result, "different", "D0001#0", "D0002#0")
    update(result)
    shown = authors(result)
    grown = next(one for one in ("D0001#0", "D0002#0") if shown[one] not in before_ids(result))
    new = document(3, 0) | {"authors": pair[0]["authors"]}
    decide(result, "same", "D0003#0", grown)
    path = write_documents(tmp_path / "new.jsonl", [new])
    update(result, path, mode=mode, keep_epoch=mode != "rebuild")  # type: ignore[arg-type]
    after = authors(result)
    assert {one: after[one] for one in ("D0001#0", "D0002#0")} == {one: shown[one] for one in ("D0001#0", "D0002#0")}
    assert after["D0003#0"] == shown[grown]
    require_consistent(result)
    update(result, remove=["D0003"], keep_epoch=True)
    undo(result, number)
    update(result, keep_epoch=True)
    if mode == "assign":
        assert tables(result) == before


def test_redirects_to_a_revived_id_lead_to_it_again(tmp_path: Path) -> None:
    papers = [
        document(number) | {"authors": [{"name": "Ulm, Ada", "ids": {"orcid": ORCIDS[min(number, 3) - 1]}}]}
        for number in range(1, 7)
    ]
    others = [document(number) for number in range(10, 30)]
    disambiguate(write_documents(tmp_path / "records.jsonl", [*others, *papers]), tmp_path / "result", SETTINGS)
    result = tmp_path / "result"
    before = authors(result)
    a, b, c = (before[f"D000{number}#0"] for number in (1, 2, 3))
    assert len({a, b, c}) == 3
    decide(result, "same", "D0001#0", "D0002#0")
    update(result)
    first = authors(result)["D0001#0"]
    gone = ({a, b} - {first}).pop()
    number = decide(result, "same", "D0002#0", "D0003#0")
    update(result)
    assert current_id(result, gone) == current_id(result, first) == c
    undo(result, number)
    update(result)
    assert current_id(result, gone) == first
    assert current_id(result, c) == c
    require_consistent(result)
    assert check(result).problems == []
    update(result, remove=["D0001", "D0002"], keep_epoch=True)
    assert current_id(result, gone) is None
    require_consistent(result)
    assert check(result).problems == []


def test_same_record_again_is_unchanged_if_it_cites_a_merged_document(tmp_path: Path) -> None:
    work = document(1) | {"ids": {"doi": "10.1000/1"}}
    citing = document(2) | {"references": ["D0001", "COPY", "elsewhere"]}
    others = [document(number) for number in range(10, 30)]
    records = [*others, work, work | {"id": "COPY"}, citing]
    disambiguate(write_documents(tmp_path / "records.jsonl", records), tmp_path / "result", SETTINGS)
    done = update(tmp_path / "result", write_documents(tmp_path / "new.jsonl", [citing]))
    assert done.documents == {"added": 0, "changed": 0, "removed": 0, "unchanged": 1}
    more = citing | {"references": ["D0001", "COPY", "elsewhere", "D0010"]}
    assert update(tmp_path / "result", write_documents(tmp_path / "more.jsonl", [more])).documents["changed"] == 1


def reasons(result: Path) -> list[tuple[str, str]]:
    return [(one["kind"], one["reason"]) for one in events(result)]


def test_events_name_the_decision_or_undo_that_caused_them(tmp_path: Path) -> None:
    papers = [
        document(number) | {"authors": [{"name": "Ulm, Ada", "ids": {"orcid": ORCIDS[number // 3]}}]}
        for number in range(1, 7)
    ]
    others = [document(number) for number in range(10, 30)]
    disambiguate(write_documents(tmp_path / "records.jsonl", [*others, *papers]), tmp_path / "result", SETTINGS)
    result = tmp_path / "result"
    assert decide(result, "same", "D0001#0", "D0003#0") == 1
    assert decide(result, "different", "D0001#0", "D0006#0") == 2
    add_decisions(
        result, [NewDecision(user="ann", kind="name", a="", b="N N", mention_a="D0003#0", mention_b="", reason="")]
    )
    update(result)
    assert reasons(result) == [("merged", "decision 1")]
    assert decide(result, "different", "D0004#0", "D0005#0") == 4
    assert decide(result, "unsure", "D0004#0", "D0006#0") == 5
    update(result)
    assert reasons(result)[1:] == [("split", "decision 4")]
    undo(result, 4)
    update(result)
    assert reasons(result)[2:] == [("merged", "decision 6")]
    undo(result, 1)
    update(result)
    assert reasons(result)[3:] == [("revived", "decision 7")]
    add_decisions(
        result, [NewDecision(user="ann", kind="wrong-record", a="", b="", mention_a="D0003", mention_b="", reason="")]
    )
    update(result)
    assert reasons(result)[4:] == [("split", "decision 8")]


def before_ids(result: Path) -> set[str]:
    return {row["author_id"] for row in rows(result, "ids") if row["created"] == 0}


def decide(result: Path, kind: str, a: str, b: str) -> int:
    (row,) = add_decisions(result, [NewDecision(user="ann", kind=kind, a=a, b=b, mention_a=a, mention_b=b, reason="")])
    return row.number


def undo(result: Path, number: int) -> None:
    add_undo(result, number, user="ann", reason="mistake")


def test_new_run_does_not_replace_an_updated_result(result: Path, tmp_path: Path) -> None:
    new = new_file(tmp_path, range(40, 41))
    update(result, new)
    before = tables(result, ("mentions", "ids", "events"))
    with pytest.raises(OutputError, match="was updated"):
        disambiguate(new, result, SETTINGS)
    assert tables(result, ("mentions", "ids", "events")) == before


def test_names_of_an_updated_result_can_be_explained(result: Path, tmp_path: Path) -> None:
    update(result, new_file(tmp_path, range(40, 50)))
    known = authors(result)
    assert known["D0045#0"] in str(explain(result, known["D0045#0"]))


def test_refuses_what_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a result directory"):
        update(tmp_path)


def test_refuses_unknown_mode_and_unknown_documents(result: Path) -> None:
    before = tables(result)
    with pytest.raises(SettingsError, match="unknown mode"):
        update(result, mode="other")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="has no document nothing"):
        update(result, remove=["nothing"])
    assert tables(result) == before


def test_refuses_empty_and_damaged_input(result: Path, tmp_path: Path) -> None:
    before = tables(result)
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "cut.parquet").write_bytes((result / "documents.parquet").read_bytes()[:1000])
    for name in ("empty.jsonl", "cut.parquet"):
        with pytest.raises(InputError):
            update(result, tmp_path / name)
    assert tables(result) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.parquet", "empty.jsonl", "result"]


def test_events_since(result: Path, tmp_path: Path) -> None:
    update(result, new_file(tmp_path, range(40, 45)))
    assert len(events(result, since="2020-01-01")) == len(events(result))
    assert len(events(result, since="2999-01-01")) == 0
    with pytest.raises(SettingsError, match="expected a date"):
        events(result, since="yesterday")


def test_files_of_the_user_stay(result: Path, tmp_path: Path) -> None:
    (result / "notes.txt").write_text("mine")
    (result / "folder").mkdir()
    (result / "folder" / "more.txt").write_text("mine")
    update(result, new_file(tmp_path, range(40, 41)))
    assert (result / "notes.txt").read_text() == (result / "folder" / "more.txt").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new40.jsonl", "result"]


def test_features_that_the_epoch_lacks_are_counted_in_a_table_that_grows(result: Path, tmp_path: Path) -> None:
    frequencies = (result / "statistics.parquet").read_bytes()
    new = [document(number) | {"title": f"Unheardof number {number} xylography"} for number in (90, 91)]
    update(result, write_documents(tmp_path / "new.jsonl", new[:1]))
    count = _new_count(result, "xylography")
    update(result, write_documents(tmp_path / "more.jsonl", new[1:]))
    assert _new_count(result, "xylography") == 2 * count > 0
    assert (result / "statistics.parquet").read_bytes() == frequencies


def _new_count(result: Path, feature: str) -> float:
    table = pq.read_table(result / "statistics.new.parquet")
    chosen = table.filter(pa.compute.equal(table["feature"], feature))
    return float(pa.compute.sum(chosen["count"]).as_py() or 0)


def test_update_does_not_undo_another_one(result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second update has a work directory of its own, so its lock is another one."""
    from homonym.commands import update as command

    apply, file = command._apply, new_file(tmp_path, range(40, 45))

    def late(*given: Any) -> Any:
        monkeypatch.undo()
        update(result, file)
        return apply(*given)

    monkeypatch.setattr(command, "_apply", late)
    with pytest.raises(OutputError, match="was changed by another update meanwhile, so this one changed nothing"):
        update(result, new_file(tmp_path, range(45, 50)), resources=Resources(work=tmp_path / "other"))
    documents = {row["document_id"] for row in rows(result, "documents")}
    assert {f"D{number:04}" for number in range(40, 45)} <= documents
    assert not {f"D{number:04}" for number in range(45, 50)} & documents
    require_consistent(result)


def _full_disk(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "place", ["corpus.table_changes.replace_documents", "corpus.changed_tables.write_changed_tables"]
)
def test_update_leaves_nothing_behind_on_a_full_disk(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    new = write_documents(tmp_path / "new.jsonl", [document(77)])
    before, content = sorted(tmp_path.iterdir()), tables(result)
    monkeypatch.setattr(f"homonym.{place}", _full_disk)
    with pytest.raises(OutputError, match="No space left on device") as full:
        update(result, new)
    assert not getattr(full.value, "__notes__", [])
    assert (sorted(tmp_path.iterdir()), tables(result)) == (before, content)


def test_interrupted_update_resumes(result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    new = write_documents(tmp_path / "new.jsonl", [document(77)])
    with monkeypatch.context() as patch:
        patch.setattr("homonym.corpus.changed_tables.write_changed_tables", interrupted)
        with pytest.raises(KeyboardInterrupt) as ended:
            update(result, new)
    assert "is kept in" in ended.value.__notes__[0]
    assert update(result, new).documents["added"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.jsonl", "result"]
