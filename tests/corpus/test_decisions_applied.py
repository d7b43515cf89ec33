"""What becomes of decisions in later updates: which are applied, which ids authors get, and what tables say of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from homonym.commands.check import check
from homonym.commands.decide import decide
from homonym.commands.decisions import decisions
from homonym.commands.disambiguate import disambiguate
from homonym.commands.events import events
from homonym.commands.explain import explain
from homonym.commands.update import update
from homonym.constraints.evidence import read_user_pairs
from homonym.corpus.applied_decisions import authors_apart
from homonym.corpus.decided import Decided, apply_decisions
from homonym.errors import InputError
from homonym.io.result_directory import LOG, REPORT
from tests.support.command import homonym_command
from tests.support.living import (
    SETTINGS,
    authors,
    document,
    make_result,
    require_consistent,
    rows,
    tables,
    write_documents,
)

# Most tests make whole results.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_result(tmp_path_factory.mktemp("applied"), range(20))


@pytest.fixture
def result(first: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "result"))


def decided(result: Path, kind: str, a: str, b: str | None = None) -> dict[str, str]:
    """The authors after a decision was made and applied."""
    decide(result, kind, a, b, reason="known", user="ann")
    update(result)
    return sound(result)


def sound(result: Path) -> dict[str, str]:
    require_consistent(result)
    assert check(result).problems == []
    return authors(result)


def members(result: Path, least: int = 3) -> list[str]:
    """The mentions of an author with enough mentions."""
    found = authors(result)
    by_author: dict[str, list[str]] = {}
    for mention, author in sorted(found.items()):
        by_author.setdefault(author, []).append(mention)
    return next(some for some in by_author.values() if len(some) >= least)


def pending(result: Path) -> list[int]:
    return sorted(decisions(result).pending)


def test_decisions_since_the_last_update_are_not_yet_applied(result: Path) -> None:
    a, b, c, *_ = members(result)
    decide(result, "same", a, b, reason="known", user="ann")
    assert pending(result) == [1]
    text = str(decisions(result))
    assert "in force, not yet applied" in text
    assert "1 row not yet applied; homonym update RESULT does that" in text
    update(result)
    assert pending(result) == [], "the decision changed no author, but it is applied"
    sound(result)
    decide(result, "different", a, c, reason="known", user="ann")
    assert [row["applied"] for row in decisions(result).to_json()] == [True, False]
    update(result)
    decide(result, "unsure", a, b, reason="known", user="ann")
    assert pending(result) == [1, 3], "one holds no more, and one is new"
    update(result)
    decisions(result, undo=2, user="ann", reason="mistake")
    assert pending(result) == [2, 4]
    decisions(result, undo=4, user="ann", reason="mistake")
    assert pending(result) == [], "nothing is left to apply"


def test_exported_is_not_separates_from_all_mentions_of_the_author(result: Path, tmp_path: Path) -> None:
    mention, *others = members(result)
    decide(result, "is-not", mention, authors(result)[mention], reason="known", user="ann")
    decisions(result, export=tmp_path / "mine.csv")
    pairs = read_user_pairs(tmp_path / "mine.csv")
    assert {*zip(pairs.a, pairs.b, pairs.same, strict=True)} == {(mention, other, False) for other in others}
    records = write_documents(tmp_path / "records.jsonl", map(document, range(20)))
    again = disambiguate(records, tmp_path / "again", SETTINGS, pairs=tmp_path / "mine.csv").output
    found = authors(again)
    assert all(found[other] != found[mention] for other in others)
    update(result)
    decide(result, "same", mention, others[-1], reason="known", user="ann")
    decisions(result, export=tmp_path / "newer.csv")
    pairs = read_user_pairs(tmp_path / "newer.csv")
    assert (mention, others[-1], False) not in {*zip(pairs.a, pairs.b, pairs.same, strict=True)}


@pytest.mark.parametrize("cell", ['"[""a"""', "7"])
def test_bad_members_of_exported_tables_are_refused(cell: str, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text(f"mention_a,mention_b,relation,members\na,b,different,{cell}\n")
    with pytest.raises(InputError, match=r"line 2: members is not a list"):
        read_user_pairs(tmp_path / "p.csv")


def test_imported_names_are_as_short_as_others(result: Path, tmp_path: Path) -> None:
    mention = members(result)[0]
    (tmp_path / "n.csv").write_text(f"mention_a,mention_b,relation,kind,b\n{mention},,name,name,{'x' * 501}\n")
    with pytest.raises(InputError, match="line 2: a name has 1 to 500 printable characters"):
        decisions(result, table=tmp_path / "n.csv")


def test_log_of_a_new_epoch_names_the_files_of_the_user(result: Path, tmp_path: Path) -> None:
    before = orjson.loads((result / LOG).read_bytes())
    new = write_documents(tmp_path / "new.jsonl", map(document, range(20, 30)))
    done = update(result, new)
    assert done.new_epoch
    log = orjson.loads((result / LOG).read_bytes())
    assert [one["file"] for one in log["inputs"]] == [*(one["file"] for one in before["inputs"]), str(new)]
    assert log["outputs"] == before["outputs"]
    assert log["summary"]["records"] == 30
    assert "calibrate" in done.seconds
    update(result, mode="rebuild")
    assert orjson.loads((result / LOG).read_bytes())["inputs"] == log["inputs"]


def test_retired_id_is_not_given_to_the_part_of_a_split(tmp_path: Path) -> None:
    # The author with the anchor D0001#0 is retired; then its paper comes again, in an author that is split.
    papers: list[dict[str, Any]] = [document(number, 0) for number in range(1, 4)]
    papers[0]["year"] = 1950
    others = [document(number, 3) for number in range(10, 30)]
    result = disambiguate(
        write_documents(tmp_path / "in.jsonl", [papers[0], *others]), tmp_path / "result", SETTINGS
    ).output
    retired = authors(result)["D0001#0"]
    update(result, remove=["D0001"], keep_epoch=True)
    update(result, write_documents(tmp_path / "more.jsonl", papers[1:]), keep_epoch=True)
    update(result, write_documents(tmp_path / "again.jsonl", papers[:1]), keep_epoch=True)
    together = sound(result)
    assert together["D0001#0"] == together["D0002#0"] == together["D0003#0"]
    after = decided(result, "is-not", "D0001#0", together["D0001#0"])
    assert after["D0001#0"] != after["D0002#0"]
    assert retired not in after.values()
    assert {row["author_id"]: row["status"] for row in rows(result, "ids")}[retired] == "retired"


def test_part_that_is_split_again_gets_its_id_back(result: Path) -> None:
    a, b, *_ = members(result)
    split = decided(result, "different", a, b)
    decisions(result, undo=1, user="ann", reason="mistake")
    update(result)
    decisions(result, undo=2, user="ann", reason="no mistake")
    update(result)
    assert sound(result) == split
    assert events(result)[-1]["kind"] == "revived"


def test_authors_that_users_call_different_are_no_name_variants(result: Path) -> None:
    found = authors(result)
    a, b = "D0000#0", next(one for one, author in sorted(found.items()) if author != found["D0000#0"])
    decide(result, "different", a, b, reason="two people", user="ann")
    assert authors_apart(result, result) == {frozenset((found[a], found[b]))}


def test_mentions_at_other_positions_are_counted_as_renamed(result: Path, tmp_path: Path) -> None:
    record = document(3)
    record["authors"].insert(0, {"name": "New, Nora"})
    done = update(result, write_documents(tmp_path / "new.jsonl", [record]), keep_epoch=True)
    assert done.mentions == {"added": 1, "removed": 0, "renamed": 2, "other author": 0}


def test_decisions_show_the_current_ids_of_their_mentions(result: Path, tmp_path: Path) -> None:
    decide(result, "same", "D0003#0", "D0004#0", reason="her page", user="ann")
    record = document(3)
    record["authors"].insert(0, {"name": "New, Nora"})
    update(result, write_documents(tmp_path / "new.jsonl", [record]), keep_epoch=True)
    listed = str(decisions(result))
    assert "\tD0003#1 (then D0003#0) same D0004#0\t" in listed
    assert "D0003#1 (then D0003#0) same D0004#0" in " ".join(explain(result, "D0003#1").notes)


def test_events_are_a_sequence_and_none_is_said(result: Path, tmp_path: Path) -> None:
    done = homonym_command("events", result, check=True)
    assert done.stdout == ""
    assert done.stderr == f"{result} has no events yet: it was never updated.\n"
    new = document(77) | {"authors": [{"name": "New, Nora"}]}
    update(result, write_documents(tmp_path / "new.jsonl", [new]), keep_epoch=True)
    found = events(result)
    assert found[0]["number"] == 1
    assert found[-1] == found[len(found) - 1]
    assert found[:1] == [found[0]]
    done = homonym_command("events", result, "--since", "2999-01-01", check=True)
    assert done.stderr == f"{result} has no events that match.\n"


def test_shared_e_mail_speaks_against_different(tmp_path: Path) -> None:
    papers = [document(number, 0) for number in range(3)]
    for one in papers:
        one["authors"][0]["emails"] = ["Jane@wien.example"]
    result = disambiguate(write_documents(tmp_path / "in.jsonl", papers), tmp_path / "result", SETTINGS).output
    done = decide(result, "different", "D0000#0", "D0001#0", reason="known", user="ann")
    assert done.warnings == ["both have the email jane@wien.example; the decision holds nevertheless."]


@pytest.mark.parametrize("mode", ["assign", "grow", "rebuild"])
def test_combined_decisions_hold_and_undo_restores_every_byte(result: Path, mode: Any) -> None:
    # rebuild begins an epoch, so the tables to restore are those after one
    update(result, mode=mode)
    before, found = tables(result), authors(result)
    mention, other, *_ = members(result)
    stranger = next(one for one, author in sorted(found.items()) if author != found[mention])
    steps: list[tuple[str, str, str | None]] = [
        ("is-not", mention, found[mention]), ("wrong-record", other.partition("#")[0], None),
        ("is", mention, found[stranger]), ("name", found[stranger], "Shown, Name"),
    ]  # fmt: skip
    for kind, a, b in steps:
        decide(result, kind, a, b, reason="known", user="ann")
        update(result, mode=mode)
        sound(result)
        assert "weakest link" in (result / REPORT).read_text()
    after = authors(result)
    assert after[mention] == after[stranger]
    assert list(after.values()).count(after[other]) == 1
    for number in range(len(steps), 0, -1):
        decisions(result, undo=number, user="ann", reason="mistake")
        update(result, mode=mode)
        sound(result)
    assert authors(result) == found
    assert tables(result) == before


def test_is_moves_the_mention_and_not_its_author(result: Path) -> None:
    before, found = tables(result), authors(result)
    mention, *others = members(result)
    stranger = next(one for one, author in sorted(found.items()) if author != found[mention])
    after = decided(result, "is", mention, found[stranger])
    assert after == found | {mention: found[stranger]}
    assert [(one["kind"], one["mention_id"]) for one in events(result)] == [("moved", mention)]
    again = decided(result, "is", others[0], found[stranger])
    assert again == after | {others[0]: found[stranger]}, "both have left the author"
    for number in (2, 1):
        decisions(result, undo=number, user="ann", reason="mistake")
    update(result)
    assert tables(result) == before


def test_two_mentions_move_to_two_authors_that_stay_two(result: Path) -> None:
    found = authors(result)
    a, b, *_ = members(result)
    others = [one for one in dict.fromkeys(found[mention] for mention in sorted(found)) if one != found[a]]
    decide(result, "is", a, others[0], reason="known", user="ann")
    after = decided(result, "is", b, others[1])
    assert after == found | {a: others[0], b: others[1]}


def test_mention_that_is_not_the_author_leaves_the_id(tmp_path: Path) -> None:
    papers = [document(1, 0), document(2, 0), *(document(number, 3) for number in range(10, 20))]
    result = disambiguate(write_documents(tmp_path / "in.jsonl", papers), tmp_path / "result", SETTINGS).output
    author = authors(result)["D0001#0"]
    for number, (leaving, staying) in enumerate((("D0001#0", "D0002#0"), ("D0002#0", "D0001#0"))):
        after = decided(result, "is-not", leaving, author)
        assert after[staying] == author != after[leaving]
        again = decided(result, "is", leaving, author)
        assert again[leaving] == again[staying] == author
        decisions(result, undo=2 + 4 * number, user="ann", reason="mistake")
        decisions(result, undo=1 + 4 * number, user="ann", reason="mistake")
        update(result)
        assert sound(result)[leaving] == author
    decided(result, "is-not", "D0001#0", author)
    with pytest.raises(InputError, match=r"D0002#0 is the only mention of .*; there is nothing to decide"):
        decide(result, "is", "D0002#0", author, reason="known")


def test_wrong_record_leaves_the_id_and_a_newer_decision_takes_a_mention_back(result: Path) -> None:
    found = authors(result)
    mention, *_ = members(result)
    record = mention.partition("#")[0]
    after = decided(result, "wrong-record", record)
    assert found[mention] in after.values()
    assert after[mention] != found[mention]
    done = decide(result, "is", mention, found[mention], reason="known", user="ann")
    assert done.warnings[-1].startswith("it holds against decision 1 (ann, ")
    update(result)
    again = sound(result)
    assert again == after | {mention: found[mention]}, "the other mentions of the record stay alone, with their ids"
    done = decide(result, "wrong-record", record, reason="known", user="bob")
    assert any(text.startswith("it overrules decision 2 (ann, ") for text in done.warnings)
    update(result)
    assert authors(result)[mention] != found[mention]


def test_decisions_about_documents_that_left_are_listed_and_hold_again_when_these_come_again(
    result: Path, tmp_path: Path
) -> None:
    mention, other, *_ = members(result)
    number = int(mention[1:5])
    record = mention.partition("#")[0]
    after = decided(result, "different", mention, other)
    assert after[mention] != after[other]
    decided(result, "wrong-record", record)
    assert not decisions(result).missing
    update(result, remove=[record])
    found = decisions(result)
    assert found.missing == {1: [mention], 2: [record]}
    assert f"in force, but the result has no {mention}\t" in str(found)
    assert "2 decisions without effect, because their documents or authors are missing from the result" in str(found)
    assert [row["missing"] for row in found.to_json()] == [[mention], [record]]
    update(result, write_documents(tmp_path / "again.jsonl", [document(number)]))
    assert not decisions(result).missing
    again = sound(result)
    assert again[mention] != again[other]


def test_decision_about_an_author_is_not_stored_with_a_mention_of_a_wrong_record(result: Path) -> None:
    found, own = authors(result), members(result)
    author = found[own[0]]
    stranger = next(one for one, other in sorted(found.items()) if other != author)
    anchor = decide(result, "unsure", author, stranger, reason="known").decision.mention_a
    others = [one for one in own if one != anchor]
    decide(result, "wrong-record", anchor.partition("#")[0], reason="not a paper")
    done = decide(result, "same", author, stranger, reason="known")
    assert done.decision.mention_a == others[0]
    assert not any("holds against" in text for text in done.warnings)
    update(result)
    after = sound(result)
    assert after[anchor] not in {after[stranger], *(after[one] for one in others)}
    assert {after[one] for one in others} == {after[stranger]}


def test_authors_that_same_joins_are_not_divided_otherwise(result: Path) -> None:
    """A decision that divides one author does not regroup the mentions of another one that it is joined with."""
    found = authors(result)
    mention, other, *_ = members(result)
    stranger = next(one for one, author in sorted(found.items()) if author != found[mention])
    decide(result, "different", mention, other, reason="known", user="ann")
    after = decided(result, "same", other, stranger)
    assert {after[one] for one, author in found.items() if author == found[stranger]} == {after[stranger]}
    assert after[mention] != after[other] == after[stranger]


def test_author_with_two_mentions_on_one_document_can_be_divided(tmp_path: Path) -> None:
    papers = [document(number, 0) for number in range(6)]
    papers[2]["authors"].append({"name": "Doe, Jack"})
    result = disambiguate(write_documents(tmp_path / "in.jsonl", papers), tmp_path / "result", SETTINGS).output
    found = authors(result)
    assert found["D0001#0"] == found["D0002#0"] != found["D0002#2"]
    after = decided(result, "different", "D0001#0", "D0002#0")
    assert after["D0001#0"] != after["D0002#0"]


def test_mention_that_is_not_two_authors_takes_the_id_of_neither(tmp_path: Path) -> None:
    papers = [document(1, 0), document(2, 0), *(document(number, 4) for number in range(3, 6))]
    result = disambiguate(write_documents(tmp_path / "in.jsonl", papers), tmp_path / "result", SETTINGS).output
    mention, other = "D0001#0", "D0002#0"
    author, second = (authors(result)[one] for one in (mention, "D0003#0"))
    assert authors(result)[other] == author
    for one in (author, second):
        decide(result, "is-not", mention, one, reason="known", user="ann")
    update(result)
    found = sound(result)
    assert found[other] == author
    assert found[mention] not in {author, second}


def test_mention_that_was_not_shown_before_has_no_id_to_leave() -> None:
    """It came again: it is not the author with x, which no decision changes otherwise, and the same as z."""
    columns = {
        "mention_id": ["m#0", "x#0", "z#0"],
        "document_id": ["m", "x", "z"],
        "block": ["DOE, J"] * 3,
        "author_id": ["DOE, J/1", "DOE, J/2", "DOE, J/3"],
    }
    said = Decided((("m#0", "x#0", False), ("m#0", "z#0", True)), left={"m#0": ["x#0"]})
    shown = {"x#0": "DOE, J/2", "z#0": "DOE, J/3"}
    found = apply_decisions(pa.table(columns), [2000] * 3, said, lambda *_: [], shown)
    assert found == ["DOE, J/3", "DOE, J/2", "DOE, J/3"]


def test_lost_decisions_are_noticed_and_not_taken_back(result: Path) -> None:
    a, _, c, *_ = members(result)
    before = decided(result, "different", a, c)
    (result / "decisions.sqlite").unlink()
    (problem,) = check(result).problems
    assert "lacks decisions: row 1 was applied" in problem
    with pytest.raises(InputError, match="lacks decisions: row 1 was applied, but the last row is missing; restore"):
        update(result)
    assert authors(result) == before


def test_author_that_a_mention_is_keeps_its_id(tmp_path: Path) -> None:
    papers = [document(number, number) for number in (1, 4)]
    result = disambiguate(write_documents(tmp_path / "in.jsonl", papers), tmp_path / "result", SETTINGS).output
    for mention, other in (("D0001#0", "D0004#0"), ("D0004#0", "D0001#0")):
        again = Path(shutil.copytree(result, tmp_path / f"of {mention[:5]}"))
        author = authors(again)[other]
        assert authors(again)[mention] != author
        found = decided(again, "is", mention, author)
        assert found[mention] == found[other] == author
