"""Random changes of author lists, merged documents, decisions and undos: decisions follow people, not mention ids.

Every name is that of one person, so that a plain model knows where each person of a decision is. Four people share a
surname and initial. The examples are always the same ones.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from homonym.commands.check import check
from homonym.commands.decide import decide
from homonym.commands.disambiguate import disambiguate
from homonym.commands.events import events
from homonym.commands.update import Mode, update
from homonym.corpus.decision_store import add_undo, read_decisions
from homonym.corpus.ids import current_id
from homonym.corpus.renamed_mentions import GoneMention
from tests.support.living import SETTINGS, authors, require_consistent, rows, write_documents
from tests.support.profiles import examples

PEOPLE = ["Doe, Jane", "Doe, John", "Doe, Julia", "Doe, Jasper", "Roe, Rita", "Li, Xu", "Poe, Max"]
TITLES = [
    "Roman silver coins of emperor Hadrian", "Membranes of living cells in stress", "Spectra of variable dwarf stars",
    "Growth of roots in dry sandy soil", "Bronze casting in early dynasties", "Migration of arctic sea birds",
]  # fmt: skip
#: Titles of which there are two documents, which a record with the identifiers of both makes one.
DOUBLE = (0, 1)

Person = tuple[int, str]
"""The number of a document and a name."""


class Said(NamedTuple):
    """A decision in force: two people, and whether they are one."""

    a: Person
    b: Person
    same: bool

    def after_merge(self, gone: int, kept: int) -> Said:
        """The same decision after one document became part of another one."""
        a, b = ((kept if number == gone else number, name) for number, name in (self.a, self.b))
        return Said(a, b, self.same)


def holding(said: Iterable[Said]) -> list[Said]:
    """The decisions that hold, of all whose people are there, the newest first: those that contradict no newer one."""
    groups: dict[Person, frozenset[Person]] = {}
    apart: list[tuple[Person, Person]] = []
    found = []
    for one in said:
        a, b = (groups.get(person, frozenset({person})) for person in (one.a, one.b))
        if one.same and any((x in a and y in b) or (x in b and y in a) for x, y in apart):
            continue
        if not one.same and a == b:
            continue
        if one.same:
            groups |= dict.fromkeys(a | b, a | b)
        else:
            apart.append((one.a, one.b))
        found.append(one)
    return found


class LivingPeople(RuleBasedStateMachine):
    """The model: the authors of each document, the documents that became part of it, and what decisions say."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="homonym-people-"))
        self.result = self.folder / "result"
        self.lists: dict[int, list[str]] = {}
        self.merged: set[int] = set()
        self.said: dict[int, Said] = {}
        self.before: dict[str, str] = {}
        self.event_count = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @initialize(data=st.data())
    def first(self, data: st.DataObject) -> None:
        self.lists = {number: data.draw(_LISTS) for number in range(len(TITLES))}
        for number in DOUBLE:
            self.lists[_copy_of(number)] = data.draw(st.permutations(self.lists[number]))
        disambiguate(self._write([self._record(number) for number in self.lists]), self.result, SETTINGS)
        self.before = authors(self.result)
        for same in (True, False, True):
            self.decide_pair(data, same)

    # Records

    def _write(self, records: Iterable[dict[str, Any]]) -> Path:
        return write_documents(self.folder / "records.jsonl", records)

    def _record(self, number: int, names: list[str] | None = None) -> dict[str, Any]:
        return {
            "id": _document_id(number), "title": TITLES[number % len(TITLES)], "ids": _identifiers(number),
            "year": 2000 if number < len(TITLES) else 1950,
            "authors": [{"name": name} for name in names or self.lists[number]],
        }  # fmt: skip

    def _records(self, number: int) -> list[dict[str, Any]]:
        """All records of a document; they replace it, because it was made of no other ones."""
        if number not in self.merged:
            return [self._record(number)]
        return [self._record(number), self._record(_copy_of(number), self.lists[number]), self._joined(number)]

    def _joined(self, number: int) -> dict[str, Any]:
        """A record with the identifiers of a document and of its copy."""
        identifiers = _identifiers(number) | _identifiers(_copy_of(number))
        return self._record(number) | {"id": f"both{number}", "ids": identifiers}

    # Steps

    def _update(self, *args: Any, **options: Any) -> None:
        self.before = authors(self.result)
        update(self.result, *args, keep_epoch=options.get("mode") != "rebuild", **options)

    @rule(data=st.data(), mode=st.sampled_from(["assign", "assign", "grow", "rebuild"]))
    def change_authors(self, data: st.DataObject, mode: Mode) -> None:
        number = self._document(data)
        self.lists[number] = data.draw(_LISTS)
        self._update(self._write(self._records(number)), mode=mode)

    @rule(data=st.data(), mode=st.sampled_from(["assign", "grow", "rebuild"]))
    def replace_a_decided_author(self, data: st.DataObject, mode: Mode) -> None:
        """Somebody else takes the place of an author whom a decision is about."""
        present = [one for said in self.said.values() for one in (said.a, said.b) if one[1] in self._names(one[0])]
        if present:
            number, name = data.draw(st.sampled_from(sorted(present)))
            names = self.lists[number]
            others = [one for one in PEOPLE if one not in names]
            names[names.index(name)] = data.draw(st.sampled_from(others))
            self._update(self._write(self._records(number)), mode=mode)

    def _names(self, number: int) -> list[str]:
        return self.lists.get(number, [])

    def _document(self, data: st.DataObject) -> int:
        """A document of the result, mostly one that a decision is about."""
        decided = {number for said in self.said.values() for number, _ in (said.a, said.b)} & self.lists.keys()
        is_decided = bool(decided) and data.draw(st.integers(0, 3)) > 0
        return data.draw(st.sampled_from(sorted(decided if is_decided else self.lists)))

    @precondition(lambda self: len(self.lists) > 3)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        number = self._document(data)
        del self.lists[number]
        self._update(remove=[_document_id(number)])

    @precondition(lambda self: {*range(len(TITLES))} - self.lists.keys())
    @rule(data=st.data())
    def add_again(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted({*range(len(TITLES))} - self.lists.keys())))
        self.lists[number] = data.draw(_LISTS)
        self._update(self._write(self._records(number)))

    def _mergeable(self) -> list[int]:
        return [number for number in DOUBLE if {number, _copy_of(number)} <= self.lists.keys()]

    @precondition(lambda self: self._mergeable())
    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        """A rebuild gets a record with the identifiers of two documents, and makes one of them.

        The authors of both are changed before, so that the document has all of them.
        """
        number = data.draw(st.sampled_from(self._mergeable()))
        other = _copy_of(number)
        names = sorted({*self.lists[number], *self.lists[other]})
        self.lists[number] = self.lists[other] = names
        self._update(self._write([self._record(number), self._record(other)]))
        self._require_all()
        self._update(self._write([self._joined(number)]), mode="rebuild")
        del self.lists[other]
        self.merged.add(number)
        self.said = {row: said.after_merge(other, number) for row, said in self.said.items()}

    @rule(data=st.data(), same=st.booleans())
    def decide(self, data: st.DataObject, same: bool) -> None:
        self.decide_pair(data, same)

    def decide_pair(self, data: st.DataObject, same: bool) -> None:
        everyone = [(number, name) for number in sorted(self.lists) for name in self.lists[number]]
        decided = {one for said in self.said.values() for one in (said.a, said.b)}
        free = [one for one in everyone if one not in decided]
        if len(free) < 2:
            return
        a, b = data.draw(st.lists(st.sampled_from(free), min_size=2, max_size=2, unique=True))
        made = self._decide(self.result, same, self._mention(a), self._mention(b))
        self.said[made] = Said(a, b, same)
        self._update()

    def _decide(self, result: Path, same: bool, a: str, b: str) -> int:
        return decide(result, "same" if same else "different", a, b, reason="x", user="ann").decision.number

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.said)))
        add_undo(self.result, number, user="ann", reason="")
        del self.said[number]
        self._update()

    @rule(data=st.data())
    def decide_and_undo(self, data: st.DataObject) -> None:
        """A decision that is taken back leaves the authors as they were."""
        found = authors(self.result)
        decided = {self._mention(one) for said in self.said.values() for one in (said.a, said.b) if self._has(one)}
        if len(free := sorted(found.keys() - decided)) < 2:
            return
        a, b = data.draw(st.lists(st.sampled_from(free), min_size=2, max_size=2, unique=True))
        copy = Path(shutil.copytree(self.result, self.folder / "copy"))
        made = self._decide(copy, found[a] != found[b], a, b)
        update(copy, keep_epoch=True)
        after = authors(copy)
        assert (after[a] == after[b]) == (found[a] != found[b]), "the decision was not applied"
        add_undo(copy, made, user="ann", reason="")
        update(copy, keep_epoch=True)
        assert _clusters(authors(copy)) == _clusters(found), "the undo did not restore the authors"
        shutil.rmtree(copy)

    # What always holds

    def _has(self, one: Person) -> bool:
        return one[1] in self._names(one[0])

    def _mention(self, one: Person) -> str:
        number, name = one
        return f"{_document_id(number)}#{self.lists[number].index(name)}"

    def _require_all(self) -> None:
        self.every_mention_has_one_author()
        self.decisions_follow_people()
        self.no_id_disappears_without_an_event()

    @invariant()
    def every_mention_has_one_author(self) -> None:
        if self.lists:
            require_consistent(self.result)
            assert check(self.result).problems == []
            expected = {self._mention((number, name)): name for number, names in self.lists.items() for name in names}
            assert {row["mention_id"]: row["name"] for row in rows(self.result, "mentions")} == expected

    @invariant()
    def decisions_follow_people(self) -> None:
        """Each is about the mentions of its people now, and without effect if one of them is not there."""
        if not self.said:
            return
        found = authors(self.result)
        stored = {row.number: row for row in read_decisions(self.result)}
        for number, said in self.said.items():
            row = stored[number]
            for one, mention in ((said.a, row.mention_a), (said.b, row.mention_b)):
                if self._has(one):
                    assert mention == self._mention(one), f"decision {number} is about another author than {one}"
                else:
                    assert GoneMention.parse(mention), f"decision {number} is about an author, although {one} has left"
        present = [said for _, said in sorted(self.said.items(), reverse=True)
                   if self._has(said.a) and self._has(said.b) and said.a != said.b]  # fmt: skip
        for said in holding(present):
            is_same = found[self._mention(said.a)] == found[self._mention(said.b)]
            assert is_same == said.same, f"{said} is not applied"

    @invariant()
    def no_id_disappears_without_an_event(self) -> None:
        if not self.lists:
            return
        now, before = {*authors(self.result).values()}, {*self.before.values()}
        every = list(events(self.result)) if (self.result / "events.parquet").exists() else []
        kinds: dict[str, set[str]] = {}
        for row in every[self.event_count :]:
            kinds.setdefault(row["author_id"], set()).add(row["kind"])
        for one in before - now:
            assert kinds.get(one, set()) & {"merged", "retired"}, f"{one} has disappeared"
            assert current_id(self.result, one) in ({None} if "retired" in kinds[one] else now), f"where is {one}?"
        for one in now - before:
            assert kinds.get(one, set()) & {"created", "split", "revived"}, f"{one} has no event"
        self.event_count, self.before = len(every), authors(self.result)


def _clusters(found: dict[str, str]) -> set[frozenset[str]]:
    """The mentions of each author."""
    people: dict[str, set[str]] = {}
    for mention, author in found.items():
        people.setdefault(author, set()).add(mention)
    return {frozenset(mentions) for mentions in people.values()}


def _copy_of(number: int) -> int:
    return len(TITLES) + number


def _document_id(number: int) -> str:
    return f"D{number:04d}"


def _identifiers(number: int) -> dict[str, str]:
    return {"pmid": str(7_700_000 + number)} if number < len(TITLES) else {"doi": f"10.1000/{number}"}


_LISTS = st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=4, unique=True)

# A failing example is shown as it is: making it shorter takes minutes.
LivingPeople.TestCase.settings = settings(
    max_examples=examples(30), stateful_step_count=10, deadline=None, derandomize=True, database=None,
    phases=[Phase.generate], suppress_health_check=list(HealthCheck),
)  # fmt: skip
TestLivingPeople = pytest.mark.slow(LivingPeople.TestCase)
