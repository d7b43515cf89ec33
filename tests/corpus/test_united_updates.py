"""Authors of several blocks in updates: they stay one, new mentions join them, and grow unites more of them."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

from homonym.commands.check import check
from homonym.commands.decide import decide
from homonym.commands.decisions import decisions
from homonym.commands.disambiguate import disambiguate
from homonym.commands.events import events
from homonym.commands.explain import explain
from homonym.commands.export import export
from homonym.commands.update import update
from homonym.corpus.ids import current_id
from tests.support.living import SETTINGS, authors, document, require_consistent, rows, tables, write_documents

pytestmark = pytest.mark.slow

ORCID, OTHER = "0000-0002-1825-0097", "0000-0002-1694-233X"


def paper(number: int, name: str, orcid: str | None = None, topic: int = 0, **more: Any) -> dict[str, Any]:
    """A document with one author."""
    ids = {"ids": {"orcid": orcid}} if orcid else {}
    return document(number, topic) | {"authors": [{"name": name} | ids | more], "year": 2000 + number}


FIRST = [
    paper(1, "Harrison, Hugo", ORCID),
    paper(2, "Harrison, Hugo"),
    paper(3, "Harrison-Smith, H. B.", ORCID, 3),
    paper(4, "Harrison-Smith, H. B.", OTHER, 2),
    paper(5, "Hughson, Hugo", None, 1, emails=["hugo@example.org"]),
    paper(6, "Smith, Hugo", None, 1, emails=["smith@example.org"]),
    *(document(number) for number in range(20, 40)),
]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("united")
    disambiguate(write_documents(folder / "records.jsonl", FIRST), folder / "result", SETTINGS)
    return folder / "result"


@pytest.fixture
def result(first: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "result"))


def add(result: Path, *new: dict[str, Any], mode: str = "assign") -> dict[str, str]:
    """The authors of mentions after an update with some documents; all tables agree."""
    path = write_documents(result.parent / "new.jsonl", new)
    update(result, path, mode=mode)  # type: ignore[arg-type]
    return sound(result)


def sound(result: Path) -> dict[str, str]:
    require_consistent(result)
    assert check(result).problems == []
    return authors(result)


def kinds(result: Path) -> list[tuple[str, str]]:
    """The events, without those of new mentions of known authors."""
    return [(one["kind"], one["author_id"]) for one in events(result) if one["kind"] != "grown"]


def block_rows(result: Path, block: str) -> list[dict[str, Any]]:
    return [row for row in rows(result, "mentions") if row["block"] == block]


def test_a_run_unites_them(first: Path) -> None:
    found = sound(first)
    assert found["D0001#0"] == found["D0003#0"] != found["D0004#0"]
    assert found["D0005#0"] not in {found["D0001#0"], found["D0006#0"]}


@pytest.mark.parametrize("mode", ["assign", "grow", "rebuild"])
@pytest.mark.parametrize("name", ["Harrison, Hugo", "Harrison-Smith, H. B."])
def test_a_paper_of_one_of_the_names_leaves_the_author_one(result: Path, mode: str, name: str) -> None:
    before, untouched = authors(result), "HARRISON, H" if "Smith" in name else "HARRISON SMITH, H"
    former = block_rows(result, untouched)
    assert len(former) == 2
    after = add(result, paper(50, name, ORCID), mode=mode)
    assert {one: after[one] for one in before} == before
    assert after["D0050#0"] == before["D0001#0"]
    assert block_rows(result, untouched) == former
    (row,) = (row for row in rows(result, "authors") if row["author_id"] == before["D0001#0"])
    assert row["mentions"] == list(after.values()).count(row["author_id"]) == row["documents"]
    assert {one["name"] for one in row["variants"]} == {"Harrison, Hugo", "Harrison-Smith, H. B."}
    assert [one for one in kinds(result) if one[1] in before.values()] == []
    constraint = {row["mention_id"]: row["constraint"] for row in rows(result, "mentions")}
    assert (constraint["D0001#0"], constraint["D0003#0"]) == ("same:orcid", "same:orcid;not:orcid")


@pytest.mark.parametrize("mode", ["assign", "grow", "rebuild"])
def test_a_mention_of_a_third_name_joins_the_author(result: Path, mode: str) -> None:
    before = authors(result)
    after = add(result, paper(50, "Harrison Jones, Hugo", ORCID), mode=mode)
    assert after.pop("D0050#0") == before["D0001#0"]
    assert after == before
    assert kinds(result) == []


def bridge() -> list[dict[str, Any]]:
    """Papers that bring one ORCID to two authors of different names."""
    hugo = paper(50, "Hughson, Hugo", "0000-0001-5109-3700", 1, emails=["hugo@example.org"])
    return [hugo, paper(51, "Smith, Hugo", "0000-0001-5109-3700", 1, emails=["smith@example.org"])]


def test_assign_leaves_two_authors_whom_an_orcid_would_unite_and_says_so(result: Path) -> None:
    before = authors(result)
    found = update(result, write_documents(result.parent / "new.jsonl", bridge()))
    after = sound(result)
    assert {one: after[one] for one in before} == before
    assert after["D0050#0"] == before["D0005#0"]
    assert after["D0051#0"] == before["D0006#0"]
    with (result / "conflicts.csv").open(newline="") as stream:
        (row,) = [row for row in csv.DictReader(stream) if row["kind"] == "known authors"]
    assert "mode assign leaves as they are" in row["what"]
    assert any("grow" in text for text in found.warnings)
    assert found.conflicts == 1
    assert set(row["mentions"].split(";")) & {"D0050#0", "D0051#0"}
    copy = Path(shutil.copytree(result, result.parent / "copy"))
    update(copy, remove=["D0050", "D0051"], keep_epoch=True)
    assert not (copy / "conflicts.csv").exists() or "D005" not in (copy / "conflicts.csv").read_text()
    after = add(result, paper(52, "Smith, Hugo", "0000-0001-5109-3700", 1), mode="grow")
    assert after["D0005#0"] == after["D0006#0"] == after["D0052#0"]
    assert not (result / "conflicts.csv").exists() or "known authors" not in (result / "conflicts.csv").read_text()


def test_grow_unites_two_authors_with_an_event(result: Path) -> None:
    before = authors(result)
    after = add(result, *bridge(), mode="grow")
    assert after["D0050#0"] == after["D0051#0"] == after["D0005#0"] == after["D0006#0"]
    (gone,) = {before["D0005#0"], before["D0006#0"]} - {after["D0005#0"]}
    assert kinds(result) == [("merged", gone)]
    assert current_id(result, gone) == after["D0005#0"]


@pytest.mark.parametrize("mode", ["assign", "grow"])
def test_author_stays_one_without_the_paper_of_its_anchor(result: Path, mode: str) -> None:
    before = authors(result)
    update(result, remove=["D0001"], mode=mode)  # type: ignore[arg-type]
    after = sound(result)
    assert after == {one: author for one, author in before.items() if one != "D0001#0"}
    after = add(result, paper(50, "Harrison, Hugo"), mode=mode)
    assert after["D0002#0"] == after["D0003#0"] == before["D0001#0"]


def test_rebuild_without_the_linking_paper_splits_the_author(result: Path) -> None:
    before = authors(result)
    update(result, remove=["D0001"], mode="rebuild")
    after = sound(result)
    assert after["D0002#0"] != after["D0003#0"]
    assert before["D0001#0"] in {after["D0002#0"], after["D0003#0"]}
    assert [kind for kind, _ in kinds(result)] == ["split"]


@pytest.mark.parametrize("by_author", [False, True])
def test_same_joins_authors_of_two_names_and_undo_restores_every_byte(result: Path, by_author: bool) -> None:
    before, found = tables(result), authors(result)
    a, b = (found[one] if by_author else one for one in ("D0005#0", "D0006#0"))
    done = decide(result, "same", a, b, reason="homepage", user="ann")
    update(result)
    after = sound(result)
    assert after["D0005#0"] == after["D0006#0"]
    assert [kind for kind, _ in kinds(result)] == ["merged"]
    assert events(result).rows[0]["reason"] == f"decision {done.decision.number}"
    said = f"united by decision {done.decision.number} (ann, "
    assert said in str(explain(result, found["D0005#0"]))
    assert said in str(explain(result, found["D0006#0"])), "one of both is a redirect"
    later = Path(shutil.copytree(result, result.parent / "later"))
    for mode in ("assign", "grow", "rebuild"):
        after = add(later, paper({"assign": 60, "grow": 61, "rebuild": 62}[mode], "Smith, Hugo", topic=2), mode=mode)
        assert after["D0005#0"] == after["D0006#0"]
    decisions(result, undo=done.decision.number, user="ann", reason="mistake")
    update(result)
    assert tables(result) == before
    sound(result)


def test_different_keeps_authors_of_two_names_apart_forever(result: Path) -> None:
    before, found = tables(result), authors(result)
    done = decide(result, "different", "D0001#0", "D0003#0", reason="two people", user="ann")
    update(result)
    after = sound(result)
    assert after["D0001#0"] == after["D0002#0"] != after["D0003#0"]
    assert found["D0001#0"] in {after["D0001#0"], after["D0003#0"]}
    later = Path(shutil.copytree(result, result.parent / "later"))
    for number, mode in enumerate(("assign", "grow", "rebuild"), 60):
        after = add(later, paper(number, "Harrison, Hugo", ORCID), mode=mode)
        assert after["D0001#0"] != after["D0003#0"]
    decisions(result, undo=done.decision.number, user="ann", reason="mistake")
    update(result)
    assert tables(result) == before
    sound(result)


def test_rebuild_keeps_the_name_that_a_user_gave(result: Path) -> None:
    found = authors(result)
    decide(result, "name", found["D0001#0"], "Harrison, Hugo Bertrand", reason="homepage", user="ann")
    update(result, mode="rebuild")
    update(result, mode="rebuild")
    after = sound(result)
    (row,) = (row for row in rows(result, "authors") if row["author_id"] == after["D0001#0"])
    assert row["name"] == "Harrison, Hugo Bertrand"


def test_is_not_takes_one_mention_of_another_name_out(result: Path) -> None:
    found = authors(result)
    decide(result, "is-not", "D0003#0", found["D0001#0"], reason="two people", user="ann")
    update(result)
    after = sound(result)
    assert after["D0001#0"] == after["D0002#0"] == found["D0001#0"] != after["D0003#0"]


def test_united_authors_of_an_updated_result_are_explained(result: Path) -> None:
    after = add(result, paper(50, "Harrison Jones, Hugo", ORCID))
    assert after["D0050#0"] in str(explain(result, after["D0050#0"]))


STALE = "author_a,name_a,author_b,name_b,kind,score,evidence\nA/000000000000,A,B/000000000000,B,spelling,0.9,none\n"


def test_update_makes_the_list_of_name_variants_again(result: Path) -> None:
    (result / "variants.csv").write_text(STALE)
    assert "variants.csv: it cannot be read ('A/000000000000' is not an author" in check(result).problems[0]
    add(result, paper(50, "Harrison, Hugo"))
    assert not (result / "variants.csv").exists(), "this small collection has no such list"


def test_update_of_a_large_result_removes_the_list_of_name_variants(
    result: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("homonym.commands.update.PAGE_MENTIONS", 0)
    (result / "variants.csv").write_text(STALE)
    done = update(result, write_documents(result.parent / "new.jsonl", [paper(50, "Harrison, Hugo")]))
    assert any(text.startswith("variants.csv was removed") for text in done.warnings)
    sound(result)


def test_check_makes_the_list_of_name_variants_again(result: Path) -> None:
    (result / "variants.csv").write_text(STALE)
    assert check(result, repair=True).repaired == ["variants.csv", "report.html"]
    sound(result)


@pytest.mark.parametrize("mode", ["assign", "grow"])
def test_papers_of_both_names_in_one_update(result: Path, mode: str) -> None:
    before = authors(result)
    after = add(result, paper(50, "Harrison, Hugo"), paper(51, "Harrison-Smith, H. B.", ORCID), mode=mode)
    assert {one: after[one] for one in before} == before
    assert after["D0051#0"] == before["D0001#0"]
    found = explain(result, before["D0001#0"])
    assert f"2 more mentions of this author (HARRISON SMITH, H): united by the orcid {ORCID}" in str(found)
    assert "more mentions of this author (HARRISON, H)" in str(explain(result, "D0051#0"))


def test_united_authors_of_an_updated_result_are_exported(result: Path, tmp_path: Path) -> None:
    after = add(result, paper(50, "Harrison Jones, Hugo", ORCID))
    export(result, "jsonld", tmp_path / "out.jsonld")
    assert after["D0050#0"] in (tmp_path / "out.jsonld").read_text()
