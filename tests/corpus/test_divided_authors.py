"""Authors that turn out to be two people: `grow` divides them, with `assign` they get new papers of one person only."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from homonym.commands.check import check
from homonym.commands.decide import decide
from homonym.commands.disambiguate import disambiguate
from homonym.commands.events import events
from homonym.commands.update import update
from homonym.io.result_directory import PAIRS
from tests.support.living import SETTINGS, authors, document, require_consistent, write_documents

pytestmark = pytest.mark.slow

ORCID = "0000-0002-1825-0097"
# Documents of the first and of the second Doe, and of others.
COINS, CELLS, OTHERS = range(100, 108), range(200, 202), range(300, 340)
NEW_COINS, NEW_CELLS = range(110, 112), range(210, 212)


def papers(coins: range, cells: range) -> list[dict[str, Any]]:
    return [document(one, 0) for one in coins] + [document(one, 1) for one in cells]


def mixed_result(folder: Path, documents: list[dict[str, Any]]) -> Path:
    """A result in which both Does are one author, but nothing says so any more: pairs have made them one."""
    records = [*documents, *(document(one, 2 + one % 3) for one in OTHERS)]
    same = [f"{documents[0]['id']}#0,{one['id']}#0,same\n" for one in documents[1:]]
    pairs = folder / "pairs.csv"
    pairs.write_text("".join(["mention_a,mention_b,relation\n", *same]))
    result = folder / "result"
    disambiguate(write_documents(folder / "records.jsonl", records), result, SETTINGS, pairs=pairs)
    (result / PAIRS).unlink()
    return result


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mixed_result(tmp_path_factory.mktemp("mixed"), papers(COINS, CELLS))


@pytest.fixture
def result(mixed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(mixed, tmp_path / "result"))


def authors_of(result: Path, numbers: range) -> set[str]:
    """The authors of the first mentions of some documents."""
    found = authors(result)
    return {found[f"D{number:04d}#0"] for number in numbers}


def add(result: Path, folder: Path, mode: str) -> None:
    new = write_documents(folder / "new.jsonl", papers(NEW_COINS, NEW_CELLS))
    update(result, new, mode=mode, keep_epoch=True)  # type: ignore[arg-type]
    require_consistent(result)
    assert check(result).problems == []


def test_grow_divides_an_author_whose_papers_the_clustering_does_not_unite(result: Path, tmp_path: Path) -> None:
    (both,) = authors_of(result, COINS) | authors_of(result, CELLS)
    add(result, tmp_path, "grow")
    (coins,), (cells,) = (
        authors_of(result, old) | authors_of(result, new) for old, new in ((COINS, NEW_COINS), (CELLS, NEW_CELLS))
    )
    assert coins == both != cells  # the larger part keeps the id
    split = [(one["author_id"], one["other_id"]) for one in events(result) if one["kind"] == "split"]
    assert (cells, both) in split


def test_assign_keeps_it_and_gives_it_the_new_papers_of_one_person(result: Path, tmp_path: Path) -> None:
    before = authors(result)
    (both,) = authors_of(result, COINS) | authors_of(result, CELLS)
    add(result, tmp_path, "assign")
    after = authors(result)
    assert {mention: after[mention] for mention in before} == before
    assert authors_of(result, NEW_COINS) == {both}
    (cells,) = authors_of(result, NEW_CELLS)
    assert cells != both
    assert {one["kind"] for one in events(result)} == {"created", "grown"}


def test_grow_does_not_divide_an_author_that_users_have_made_decisions_about(result: Path, tmp_path: Path) -> None:
    (both,) = authors_of(result, COINS) | authors_of(result, CELLS)
    decide(result, "same", "D0100#0", "D0101#0", reason="known", user="ann")
    add(result, tmp_path, "grow")
    assert authors_of(result, COINS) == authors_of(result, CELLS) == {both}


def test_grow_does_not_divide_an_author_of_several_names(tmp_path: Path) -> None:
    documents = papers(COINS, CELLS)
    documents[0]["authors"][0]["ids"] = {"orcid": ORCID}
    other = document(120, 0)
    other["authors"][0] = {"name": "Doe-Smith, J", "ids": {"orcid": ORCID}}
    result = mixed_result(tmp_path, [*documents, other])
    (both,) = authors_of(result, COINS) | authors_of(result, CELLS) | authors_of(result, range(120, 121))
    add(result, tmp_path, "grow")
    assert authors_of(result, COINS) == authors_of(result, CELLS) == authors_of(result, range(120, 121)) == {both}


def test_grow_leaves_authors_of_other_names_as_they_are(result: Path, tmp_path: Path) -> None:
    new = document(400, 3)
    new["authors"] = new["authors"][:1]  # of another name than Doe
    before = authors(result)
    update(result, write_documents(tmp_path / "new.jsonl", [new]), mode="grow", keep_epoch=True)
    after = authors(result)
    assert {one: after[one] for one in before if one[:3] in {"D01", "D02"} and one.endswith("#0")} == {
        one: author for one, author in before.items() if one[:3] in {"D01", "D02"} and one.endswith("#0")
    }


def groups(result: Path) -> set[frozenset[str]]:
    """The mentions of each author."""
    found: dict[str, set[str]] = {}
    for mention, author in authors(result).items():
        found.setdefault(author, set()).add(mention)
    return {frozenset(mentions) for mentions in found.values()}


def test_grow_with_papers_of_all_names_in_a_new_epoch_gives_the_authors_of_a_run(result: Path, tmp_path: Path) -> None:
    new = [*papers(NEW_COINS, NEW_CELLS), *(document(one, 2 + one % 3) for one in range(340, 360))]
    update(result, write_documents(tmp_path / "new.jsonl", new), mode="grow", recalibrate=True)
    every = [*papers(COINS, CELLS), *(document(one, 2 + one % 3) for one in OTHERS), *new]
    disambiguate(write_documents(tmp_path / "every.jsonl", every), tmp_path / "run", SETTINGS)
    assert groups(result) == groups(tmp_path / "run")
