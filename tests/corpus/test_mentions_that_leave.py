"""What becomes of decisions about mentions that leave, come back, or are on documents that become one."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.commands.check import check
from homonym.commands.decide import decide
from homonym.commands.decisions import decisions
from homonym.commands.disambiguate import disambiguate
from homonym.commands.update import Updated, update
from homonym.corpus.changed_documents import find_renames
from homonym.corpus.decision_store import read_decisions
from homonym.corpus.ids import current_id
from homonym.corpus.intake import DocumentChanges, no_documents
from homonym.corpus.renamed_mentions import (
    GoneMention,
    MentionRenames,
    moved_gone_mentions,
    moved_mentions,
    returned_mentions,
)
from homonym.corpus.update_plan import nullable_rows
from homonym.errors import OutputError
from homonym.schema import AUTHORS
from tests.support.living import SETTINGS, authors, document, make_result, require_consistent, write_documents
from tests.support.profiles import examples

SHOWN = "D0003#1"  # Li, Xu
PARTNER = "D0001#0"  # Doe, J


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_result(tmp_path_factory.mktemp("leaving"), range(8))


@pytest.fixture
def result(first: Path, tmp_path: Path) -> Path:
    place = Path(shutil.copytree(first, tmp_path / "result"))
    decide(place, "same", SHOWN, PARTNER, reason="her page", user="ann")
    update(place)
    assert authors(place)[SHOWN] == authors(place)[PARTNER]
    return place


def correct(result: Path, *names: str, **options: Any) -> Updated:
    """Update a result with another list of authors for the document that a decision is about."""
    record = document(3) | {"authors": [{"name": name} for name in names]}
    return update(result, write_documents(result.parent / "new.jsonl", [record]), keep_epoch=True, **options)


def sound(result: Path) -> dict[str, str]:
    require_consistent(result)
    assert check(result).problems == []
    return authors(result)


@pytest.mark.slow
def test_decision_is_not_applied_to_another_author_at_the_place_of_its_mention(result: Path) -> None:
    correct(result, "Doe, J")
    assert decisions(result).missing == {1: [SHOWN]}
    done = correct(result, "Doe, J", "Zed, Quentin")
    after = sound(result)
    assert after[SHOWN] != after[PARTNER]
    assert decisions(result).missing == {1: [f"{SHOWN} (gone: Li, Xu)"]}
    assert done.mentions["added"] == 1
    correct(result, "Li, Xu", "Zed, Quentin", "Doe, J")
    after = sound(result)
    assert after["D0003#0"] == after[PARTNER] != after[SHOWN]
    assert "in force\tD0003#0 (then D0003#1) same D0001#0" in str(decisions(result))


@pytest.mark.slow
def test_decision_is_not_applied_to_an_author_who_replaces_its_mention(result: Path) -> None:
    before = authors(result)
    done = correct(result, "Doe, J", "Zed, Quentin")
    after = sound(result)
    assert after[SHOWN] not in {*before.values()}
    assert done.mentions["added"] == done.mentions["removed"] == 1
    assert done.events["created"] == 1
    assert "moved" not in done.events
    decisions(result, export=result.parent / "mine.csv")
    with (result.parent / "mine.csv").open(newline="", encoding="utf-8-sig") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["mention_a"], row["name_a"]) == (SHOWN, "Li, Xu")


@pytest.mark.slow
def test_exported_members_that_are_gone_do_not_mean_other_people(first: Path, result: Path) -> None:
    def members(place: Path) -> tuple[str, ...]:
        return next(row.members for row in read_decisions(place) if row.kind == "is-not")

    decide(result, "is-not", "D0000#0", authors(result)[SHOWN], reason="known", user="ann")
    update(result)
    assert SHOWN in (known := members(result))
    correct(result, "Doe, J", "Zed, Quentin")
    assert SHOWN not in (gone := members(result))
    table = result.parent / "mine.csv"
    decisions(result, export=table)
    (result / "decisions.sqlite").unlink()
    decisions(result, table=table, user="ann")
    assert members(result) == gone
    correct(result, "Doe, J", "Li, Xu")
    assert members(result) == known
    decisions(first_again := Path(shutil.copytree(first, result.parent / "again")), table=table, user="ann")
    assert members(first_again) == known, "a result that has them"


@pytest.mark.slow
def test_corrected_letter_of_a_given_name_keeps_its_decision(result: Path) -> None:
    correct(result, "Doe, J", "Li, Xi")
    after = sound(result)
    assert after[SHOWN] == after[PARTNER]


@pytest.mark.slow
@pytest.mark.parametrize("names", [("Doe, J", "Li, Xin"), ("Li, Xin", "Doe, J"), ("Li, Xin",)])
@pytest.mark.parametrize("mode", ["assign", "rebuild"])
def test_decision_is_not_applied_to_an_author_with_other_given_names(
    result: Path, names: tuple[str, ...], mode: Any
) -> None:
    record = document(3) | {"authors": [{"name": name} for name in names]}
    records = write_documents(result.parent / "new.jsonl", [record])
    update(result, records, mode=mode, keep_epoch=mode == "assign")
    after = sound(result)
    assert after[f"D0003#{names.index('Li, Xin')}"] != after[PARTNER]
    assert decisions(result).missing == {1: [f"{SHOWN} (gone: Li, Xu)" if SHOWN in after else SHOWN]}
    correct(result, "Doe, J", "Li, Xu")
    after = sound(result)
    assert after[SHOWN] == after[PARTNER]


@pytest.mark.slow
def test_decision_follows_its_mention_when_the_document_comes_again_with_another_order(result: Path) -> None:
    update(result, remove=["D0003"], keep_epoch=True)
    assert decisions(result).missing == {1: [SHOWN]}
    correct(result, "Li, Xu", "Doe, J")
    after = sound(result)
    assert after["D0003#0"] == after[PARTNER]
    assert decisions(result).rows[0].mention_a == "D0003#0"


@pytest.mark.slow
def test_rebuild_that_makes_one_document_of_two_keeps_decisions_and_ids(tmp_path: Path) -> None:
    title = "Notes on roman silver coins of emperor Hadrian"
    one = document(3) | {"title": title, "ids": {"pmid": "7700001"}}
    other = document(3) | {"id": "E0003", "title": title, "ids": {"doi": "10.1000/b"}, "year": 1950}
    others = [document(number) for number in range(8) if number != 3]
    result = disambiguate(
        write_documents(tmp_path / "in.jsonl", [*others, one, other]), tmp_path / "result", SETTINGS
    ).output
    decide(result, "same", "E0003#1", PARTNER, reason="her page", user="ann")
    decide(result, "different", "E0003#0", "D0003#0", reason="two people", user="ann")
    update(result)
    alone = authors(result)["E0003#0"]
    assert alone != authors(result)["D0003#0"]
    both = one | {"id": "F0003", "ids": one["ids"] | other["ids"]}
    done = update(result, write_documents(tmp_path / "new.jsonl", [both]), mode="rebuild")
    after = sound(result)
    assert "E0003#1" not in after
    assert after["D0003#1"] == after[PARTNER]
    assert current_id(result, alone) in {*after.values()}
    assert "retired" not in done.events
    assert done.mentions["removed"] == 2
    listed = decisions(result)
    assert "D0003#1 (then E0003#1) same D0001#0" in str(listed)
    assert listed.status(listed.rows[1]) == "without effect, because both are one mention now"


@pytest.mark.slow
def test_new_run_does_not_replace_a_result_if_another_author_has_the_place_of_a_decided_mention(
    first: Path, tmp_path: Path
) -> None:
    result = Path(shutil.copytree(first, tmp_path / "result"))
    decide(result, "same", SHOWN, PARTNER, reason="her page", user="ann")
    records = [document(number) for number in range(8)]
    records[3]["authors"].reverse()
    with pytest.raises(OutputError, match="decision 1 is about the mention 'D0003#1', which was 'Li, Xu' and is 'Doe"):
        disambiguate(write_documents(tmp_path / "in.jsonl", records), result, SETTINGS)
    assert authors(result) == authors(first)


@pytest.mark.slow
def test_author_who_left_a_document_before_it_became_part_of_another_one_comes_back_there(tmp_path: Path) -> None:
    title = "Notes on roman silver coins of emperor Hadrian"
    one = document(3) | {"title": title, "ids": {"pmid": "7700001"}}
    other = document(3) | {"id": "E0003", "title": title, "ids": {"doi": "10.1000/b"}, "year": 1950}
    others = [document(number) for number in range(8) if number != 3]
    result = disambiguate(
        write_documents(tmp_path / "in.jsonl", [*others, one, other]), tmp_path / "result", SETTINGS
    ).output
    decide(result, "same", "E0003#1", PARTNER, reason="her page", user="ann")
    new = tmp_path / "new.jsonl"
    less = {"authors": [{"name": "Doe, J"}]}
    update(result, write_documents(new, [one | less, other | less]), keep_epoch=True)
    both = one | less | {"id": "F0003", "ids": one["ids"] | other["ids"]}
    update(result, write_documents(new, [both]), mode="rebuild")
    assert not [mention for mention in sound(result) if mention.startswith("E0003")]
    again = {"authors": [{"name": "Doe, J"}, {"name": "Li, Xu"}]}
    update(result, write_documents(new, [record | again for record in (one, other, both)]), keep_epoch=True)
    after = sound(result)
    assert after["D0003#1"] == after[PARTNER]
    assert decisions(result).missing == {}


def row(mention: str, name: str | None) -> dict[str, Any]:
    return {"mention_id": mention, "position": int(mention.rpartition("#")[2]), "name": name}


def test_mention_comes_back_under_a_compatible_name_only() -> None:
    gone = GoneMention("W1#0", "Doe, J").own_id
    assert returned_mentions({"W1": [row("W1#0", "Roe, R"), row("W1#1", "Doe, Jane")]}, [gone]) == {gone: "W1#1"}
    assert returned_mentions({"W1": [row("W1#0", "Doe, K")]}, [gone, "W1#0"]) == {}
    julia = GoneMention("W1#0", "Doe, Julia").own_id
    assert returned_mentions({"W1": [row("W1#0", "Doe, Jane"), row("W1#1", "Roe, R")]}, [julia]) == {}
    assert returned_mentions({"W2": [row("W2#0", "Doe, J")]}, [gone]) == {}


def test_hostile_names_and_ids_of_mentions_that_are_gone_are_found_again() -> None:
    for mention, name in [("a#1 (gone: x)#0", "y"), ("b\n#2", "x (gone: W1#0)"), ("c#3", ""), ("d#4", "x)\n(y")]:
        gone = GoneMention(mention, name)
        assert GoneMention.parse(gone.own_id) == gone
        assert GoneMention.parse(mention) is None


def test_mentions_of_merged_documents_are_found_by_name() -> None:
    before = [row("E#0", "Roe, R"), row("E#1", "Poe, Max"), row("E#2", "Zed, Q")]
    after = [row("D#0", "Poe, M"), row("D#1", "Roe, Rita")]
    assert moved_mentions(before, after) == {"E#0": "D#1", "E#1": "D#0", "E#2": "E#2 (gone: Zed, Q)"}
    others = [row("D#0", "Roe, R"), row("D#1", "Poe, M"), row("D#2", "Zet, Q")]
    assert moved_mentions(before, others) == {"E#0": "D#0", "E#1": "D#1", "E#2": "D#2"}, "a misspelling"
    before[2]["name"], others[2]["name"] = "Zed, Quentin", "Zed, Rita"
    assert moved_mentions(before, others)["E#2"] == "E#2 (gone: Zed, Quentin)", "another person"
    before[2]["name"], others[2]["name"] = "Zed, Q", "Kim, A"
    assert moved_mentions(before, others)["E#2"] == "E#2 (gone: Zed, Q)"


def test_mentions_that_were_gone_follow_the_document_that_their_own_became_part_of() -> None:
    gone = GoneMention("E#3", "Doe, Jane").own_id
    rows = {"D": [row("D#0", "Roe, R"), row("D#1", "Doe, Jane")]}
    other = GoneMention("F#0", "Roe, R").own_id
    assert moved_gone_mentions([gone, other, "E#1"], {"E", "G"}, "D", rows) == {gone: "D#1"}
    moved = GoneMention("D#3", "Doe, Jane").own_id
    assert moved_gone_mentions([gone], {"E"}, "D", {"D": rows["D"][:1]}) == {gone: moved}


def test_authors_of_one_name_are_found_in_their_order() -> None:
    before = [row("E#0", "Li, Xu"), row("E#1", "Roe, R"), row("E#2", "LI, XU")]
    after = [row("D#0", "Kim, A"), row("D#1", "Li, Xu"), row("D#2", "Li, Xu"), row("D#3", "Roe, R")]
    assert moved_mentions(before, after) == {"E#0": "D#1", "E#1": "D#3", "E#2": "D#2"}
    more = [*after, row("D#4", "Li, Xu")]
    assert moved_mentions(before, more)["E#0"] == "E#0 (gone: Li, Xu)", "which of three is unknown"


def test_authors_of_one_name_come_back_in_their_order_if_all_were_gone() -> None:
    """Positions say nothing: the document may have another first author now."""
    gone = [GoneMention(f"W1#{place}", "Li, Xu").own_id for place in (2, 10)]
    people = [row("W1#0", "Roe, R"), row("W1#3", "Li, Xu"), row("W1#11", "Li, Xu")]
    assert returned_mentions({"W1": people}, gone) == {gone[0]: "W1#3", gone[1]: "W1#11"}
    assert returned_mentions({"W1": people}, gone[:1]) == {}, "which of two is unknown"


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["assign", "rebuild"])
def test_decisions_about_two_authors_of_one_name_follow_them(tmp_path: Path, mode: Any) -> None:
    """The document gets a third author, and with a rebuild, another document of the same authors becomes part of it."""
    title = "Notes on roman silver coins of emperor Hadrian"
    twins = [{"name": "Doe, J"}, {"name": "Doe, J"}]
    one = document(3) | {"title": title, "ids": {"pmid": "7700001"}, "authors": twins}
    other = document(3) | {"id": "E0003", "title": title, "ids": {"doi": "10.1000/b"}, "year": 1950, "authors": twins}
    others = [document(number) for number in range(8) if number != 3]
    records = write_documents(tmp_path / "in.jsonl", [*others, one, *([other] if mode == "rebuild" else [])])
    result = disambiguate(records, tmp_path / "result", SETTINGS).output
    decided = "E0003" if mode == "rebuild" else "D0003"
    decide(result, "same", f"{decided}#1", PARTNER, reason="his page", user="ann")
    decide(result, "different", f"{decided}#0", PARTNER, reason="his son", user="ann")
    update(result)
    new = one | {"authors": [{"name": "Roe, Rita"}, *twins]}
    both = new | {"id": "F0003", "ids": one["ids"] | other["ids"]} if mode == "rebuild" else new
    update(result, write_documents(tmp_path / "new.jsonl", [both]), mode=mode, keep_epoch=mode == "assign")
    after = sound(result)
    assert decisions(result).missing == {}
    assert after["D0003#2"] == after[PARTNER]
    assert after["D0003#1"] != after[PARTNER]


PEOPLE = ["Doe, Jane", "Roe, Rita", "Li, Xu", "Poe, Max", "Zed, Q"]
lists = st.lists(st.sampled_from(PEOPLE), max_size=4, unique=True)


def mention_rows(names: list[str]) -> pa.Table:
    """The rows of the mentions of one document."""
    found = [
        {
            "mention_id": f"W1#{place}",
            "document_id": "W1",
            "position": place,
            "name": name,
            "block": name[:5].upper(),
            "author_id": name,
            "constraint": None,
            "confidence": None,
            "author_confidence": None,
        }
        for place, name in enumerate(names)
    ]
    return nullable_rows(pa.Table.from_pylist(found, schema=AUTHORS))


@given(st.lists(lists, min_size=2, max_size=6), st.data())
@settings(max_examples=examples(300), deadline=None)
def test_decisions_follow_people_through_all_changes_of_a_record(states: list[list[str]], data: st.DataObject) -> None:
    """An empty list of authors means that the document is removed. Each decision is about one person of its time."""
    made: list[tuple[int, str, str]] = []
    steps: list[tuple[int, dict[str, str]]] = []
    before: list[str] = []
    for after in states:
        named = {MentionRenames(steps).current(mention, number) for number, mention, _ in made}
        both = bool(before) and bool(after)
        changes = DocumentChanges(
            no_documents(),
            changed=frozenset({"W1"} if both else ()),
            removed=frozenset({"W1"} if before and not after else ()),
        )
        renamed = find_renames(mention_rows(after), mention_rows(before), changes, named)
        if renamed:
            steps.append((len(made), renamed))
        if after:
            place = data.draw(st.integers(0, len(after) - 1))
            made.append((len(made) + 1, f"W1#{place}", after[place]))
        for number, mention, name in made:
            shown = MentionRenames(steps).current(mention, number)
            expected = f"W1#{after.index(name)}" if name in after else None
            assert shown == expected if expected else GoneMention.parse(shown)
        before = after
