"""Random changes of author lists, merged documents, decisions and undos: decisions follow people, not mention ids.

Every name is that of one person, so that a plain model knows where each person of a decision is.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from homonym.commands.check import check
from homonym.commands.decide import decide
from homonym.commands.decisions import decisions
from homonym.commands.disambiguate import disambiguate
from homonym.commands.events import events
from homonym.commands.update import Mode, update
from homonym.corpus.decision_store import add_undo, read_decisions
from homonym.corpus.ids import current_id
from homonym.corpus.renamed_mentions import GoneMention
from tests.support.living import SETTINGS, authors, require_consistent, rows, write_documents
from tests.support.profiles import examples

# Several of a block, who are different people; and names of other blocks.
PEOPLE = ["Doe, Jane", "Doe, John", "Doe, Julia", "Roe, Rita", "Li, Xu", "Poe, Max"]
TITLES = [
    "Roman silver coins of emperor Hadrian", "Membranes of living cells in stress", "Spectra of variable dwarf stars",
    "Growth of roots in dry sandy soil", "Bronze casting in early dynasties", "Migration of arctic sea birds",
]  # fmt: skip


class Said(NamedTuple):
    """A decision in force: two people, each on a document, and whether they are one."""

    a: tuple[int, str]
    b: tuple[int, str]
    same: bool

    def after_merge(self, gone: int, kept: int) -> Said:
        """The same decision after one document became part of another one."""
        a, b = ((kept if number == gone else number, name) for number, name in (self.a, self.b))
        return Said(a, b, self.same)


class LivingPeople(RuleBasedStateMachine):
    """The model: the authors of each document, of its second record if it has one, and what decisions say.

    A second record has other identifiers, and is a document of its own until a rebuild that gets a record with
    the identifiers of both.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="homonym-people-"))
        self.result = self.folder / "result"
        self.lists: dict[int, list[str]] = {}
        self.said: dict[int, Said] = {}
        self.before: dict[str, str] = {}
        self.event_count = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @initialize(data=st.data())
    def first(self, data: st.DataObject) -> None:
        self.lists = {number: data.draw(_LISTS) for number in range(len(TITLES))}
        self.lists[_copy_of(0)] = list(self.lists[0])
        self.lists[_copy_of(1)] = list(reversed(self.lists[1]))
        disambiguate(self._write(self.lists), self.result, SETTINGS)
        self.before = authors(self.result)
        for same in (True, False):
            self.decide_pair(data, same)

    def _write(self, numbers: Any) -> Path:
        return write_documents(self.folder / "records.jsonl", [self._record(number) for number in numbers])

    def _record(self, number: int) -> dict[str, Any]:
        ids = {"pmid": str(7_700_000 + number)} if number < len(TITLES) else {"doi": f"10.1000/{number}"}
        names = self.lists[number]
        return {
            "id": _document_id(number), "title": TITLES[number % len(TITLES)], "ids": ids,
            "year": 2000 if number < len(TITLES) else 1950, "authors": [{"name": name} for name in names],
        }  # fmt: skip

    def _update(self, *args: Any, **options: Any) -> None:
        self.before = authors(self.result)
        update(self.result, *args, keep_epoch=options.get("mode") != "rebuild", **options)

    @rule(data=st.data(), mode=st.sampled_from(["assign", "assign", "grow", "rebuild"]))
    def change_authors(self, data: st.DataObject, mode: Mode) -> None:
        number = self._document(data)
        self.lists[number] = data.draw(_LISTS)
        self._update(self._write([number]), mode=mode)

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

    @rule(data=st.data(), number=st.integers(0, len(TITLES) - 1))
    def add_again(self, data: st.DataObject, number: int) -> None:
        if number not in self.lists:
            self.lists[number] = data.draw(_LISTS)
            self._update(self._write([number]))

    def _mergeable(self) -> list[int]:
        """The documents whose copy is a document of its own, with the same authors."""
        return [
            number
            for number in (0, 1)
            if {number, _copy_of(number)} <= self.lists.keys()
            and {*self.lists[number]} == {*self.lists[_copy_of(number)]}
        ]

    @precondition(lambda self: self._mergeable())
    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        """A rebuild gets a record with the identifiers of two documents, and makes one of them."""
        number = data.draw(st.sampled_from(self._mergeable()))
        other = _copy_of(number)
        both = self._record(number) | {"id": f"both{number}"}
        both["ids"] = self._record(number)["ids"] | self._record(other)["ids"]
        event("merged")
        self._update(write_documents(self.folder / "both.jsonl", [both]), mode="rebuild")
        kept = _document_id(number)  # that of the first document, which has the better identifier
        names = {row["mention_id"]: row["name"] for row in rows(self.result, "mentions")}
        length = sum(mention.rpartition("#")[0] == kept for mention in names)
        self.lists[number] = [names[f"{kept}#{place}"] for place in range(length)]
        del self.lists[other]
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
        made = decide(
            self.result, "same" if same else "different", self._mention(*a), self._mention(*b), reason="x", user="ann"
        )
        self.said[made.decision.number] = Said(a, b, same)
        self._update()

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.said)))
        add_undo(self.result, number, user="ann", reason="")
        del self.said[number]
        self._update()

    @rule()
    def undo_restores(self) -> None:
        """A decision that is taken back at once leaves the authors as they were."""
        found = authors(self.result)
        free = sorted(found.keys() - {self._mention(*one) for said in self.said.values() for one in (said.a, said.b)
                                      if one[1] in self.lists.get(one[0], ())})  # fmt: skip
        if len(free) < 2 or self.said:
            return
        copy = Path(shutil.copytree(self.result, self.folder / "copy"))
        kind = "different" if found[free[0]] == found[free[-1]] else "same"
        made = decide(copy, kind, free[0], free[-1], reason="x", user="ann")
        update(copy)
        assert authors(copy) != found
        add_undo(copy, made.decision.number, user="ann", reason="")
        update(copy)
        pairs = {*zip(authors(copy).values(), found.values(), strict=True)}
        assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
        shutil.rmtree(copy)

    def _mention(self, number: int, name: str) -> str:
        return f"{_document_id(number)}#{self.lists[number].index(name)}"

    @invariant()
    def every_mention_has_one_author(self) -> None:
        if self.lists:
            require_consistent(self.result)
            assert check(self.result).problems == []
            expected = {self._mention(number, name) for number, names in self.lists.items() for name in names}
            assert authors(self.result).keys() == expected

    @invariant()
    def decisions_follow_people(self) -> None:
        """Each is about the mentions of its people now, and without effect if one of them is not there."""
        if not self.said:
            return
        found, names = authors(self.result), {row["mention_id"]: row["name"] for row in rows(self.result, "mentions")}
        stored = {row.number: row for row in read_decisions(self.result)}
        listed = decisions(self.result)
        newest = {frozenset((said.a, said.b)): number for number, said in sorted(self.said.items())}
        for number, said in self.said.items():
            places = []
            for (document, name), mention in zip(
                (said.a, said.b), (stored[number].mention_a, stored[number].mention_b), strict=True
            ):
                if name in self.lists.get(document, ()):
                    places.append(self._mention(document, name))
                    assert mention == places[-1]
                    assert names[mention] == name, "a decision is about another person"
                else:
                    assert GoneMention.parse(mention), "a decision is about a mention that has left"
            if len(places) == 2 and places[0] != places[1] and newest[frozenset((said.a, said.b))] == number:
                assert (found[places[0]] == found[places[1]]) == said.same
                assert number not in listed.missing

    @invariant()
    def no_id_disappears_without_an_event(self) -> None:
        if not self.lists:
            return
        now, before = {*authors(self.result).values()}, {*self.before.values()}
        every = list(events(self.result)) if (self.result / "events.parquet").exists() else []
        named = {
            one["author_id"]: one["kind"] for one in every[self.event_count :] if one["kind"] not in {"moved", "grown"}
        }
        assert all(named[one] in {"merged", "retired"} for one in before - now)
        assert now - before <= named.keys()
        for one in before - now:
            assert current_id(self.result, one) in ({None} if named[one] == "retired" else now)
        self.event_count, self.before = len(every), authors(self.result)


def _copy_of(number: int) -> int:
    return len(TITLES) + number


def _document_id(number: int) -> str:
    return f"D{number:04d}"


_LISTS = st.lists(st.sampled_from(PEOPLE), min_size=1, max_size=4, unique=True)

LivingPeople.TestCase.settings = settings(
    max_examples=examples(25), stateful_step_count=8, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLivingPeople = pytest.mark.slow(LivingPeople.TestCase)
