"""Random updates, decisions, undos, removals and rebuilds, compared with a plain model of ids and events.

Some people have an ORCID and write under two names, so that there are authors of several blocks.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from homonym.commands.check import check
from homonym.commands.decide import decide
from homonym.commands.disambiguate import disambiguate
from homonym.commands.events import events
from homonym.commands.explain import explain
from homonym.commands.update import update
from homonym.corpus.decision_store import add_undo
from homonym.corpus.ids import current_id
from tests.support.living import PEOPLE, SETTINGS, authors, document, require_consistent, rows, write_documents
from tests.support.profiles import examples

_FIRST: list[Path] = []
ORCIDS = ("0000-0002-1825-0097", "0000-0002-1694-233X", "0000-0001-5109-3700", "0000-0001-5000-0007")


def paper(number: int) -> dict[str, Any]:
    """A document of one of the people; some have the ORCID of its first author, under one of two names."""
    found, chance = document(number), random.Random(number)
    person = chance.randrange(len(PEOPLE))  # as in document()
    if person < len(ORCIDS) and number % 3:
        found["authors"][0]["ids"] = {"orcid": ORCIDS[person]}
    if number % 3 == 1:
        surname, given = found["authors"][0]["name"].split(", ")
        found["authors"][0]["name"] = f"{surname}-Smith, {given}"
    return found


def first_result() -> Path:
    if not _FIRST:
        folder = Path(tempfile.mkdtemp(prefix="homonym-living-"))
        disambiguate(write_documents(folder / "records.jsonl", map(paper, range(12))), folder / "result", SETTINGS)
        _FIRST.append(folder / "result")
    return _FIRST[0]


class LivingCorpus(RuleBasedStateMachine):
    """The model: documents that the result has, all ids ever seen, and what decisions in force say, by number."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="homonym-living-"))
        self.result = Path(shutil.copytree(first_result(), self.folder / "result"))
        self.documents = set(range(12))
        self.following = 12
        self.ids = set(authors(self.result).values())
        self.pairs: dict[int, list[tuple[str, str, bool]]] = {}
        self.names: dict[int, tuple[str, str]] = {}
        self.wrong: dict[int, int] = {}
        self.event_count = 0
        self.before = authors(self.result)

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _update(self, numbers: list[int], mode: str = "assign", remove: list[int] | None = None) -> None:
        self.before = authors(self.result)
        new = write_documents(self.folder / "new.jsonl", [paper(one) for one in numbers]) if numbers else ()
        removed = [f"D{number:04d}" for number in remove or []]
        update(self.result, new, mode=mode, remove=removed)  # type: ignore[arg-type]
        self.documents |= {*numbers}
        self.documents -= {*(remove or [])}

    @rule(number=st.integers(1, 3), mode=st.sampled_from(["assign", "assign", "grow", "rebuild"]))
    def add(self, number: int, mode: str) -> None:
        new = list(range(self.following, self.following + number))
        self.following += number
        self._update(new, mode)
        if mode == "assign" and not self.decided():
            after = authors(self.result)
            assert all(after[mention] == author for mention, author in self.before.items())

    @rule()
    def add_again(self) -> None:
        self._update(sorted(self.documents)[:3])

    @precondition(lambda self: len(self.documents) > 4)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(sorted(self.documents)))
        if chosen not in self.decided():
            self._update([], remove=[chosen])

    def decided(self) -> set[int]:
        """The documents that decisions in force are about. Chains of decisions are tested elsewhere."""
        mentions = {mention for pairs in self.pairs.values() for a, b, _ in pairs for mention in (a, b)}
        mentions |= {mention for mention, _ in self.names.values()}
        return {int(mention[1:5]) for mention in mentions} | {*self.wrong.values()}

    def mentions(self, data: st.DataObject) -> list[str]:
        """Mentions of documents without decisions: of one block, or of all."""
        decided, found = self.decided(), rows(self.result, "mentions")
        block = data.draw(st.sampled_from(["DOE, J", "LI, X", "POE, M", "ROE, R", None]))
        return [
            row["mention_id"]
            for row in found
            if block in {row["block"], None} and int(row["mention_id"][1:5]) not in decided
        ]

    @rule(data=st.data(), same=st.booleans())
    def decide_pair(self, data: st.DataObject, same: bool) -> None:
        mentions = self.mentions(data)
        if len(mentions) < 2:
            return
        a, b = sorted(data.draw(st.lists(st.sampled_from(mentions), min_size=2, max_size=2, unique=True)))
        done = decide(self.result, "same" if same else "different", a, b, reason="known", user="ann")
        self.pairs[done.decision.number] = [(a, b, same)]
        self._update([])

    @rule(data=st.data())
    def decide_is_not(self, data: st.DataObject) -> None:
        mentions = self.mentions(data)
        if not mentions:
            return
        mention, found = data.draw(st.sampled_from(mentions)), authors(self.result)
        others = [one for one, author in found.items() if author == found[mention] and one != mention]
        if others and not self.decided() & {int(one[1:5]) for one in others}:
            done = decide(self.result, "is-not", mention, found[mention], reason="known", user="ann")
            self.pairs[done.decision.number] = [(mention, other, False) for other in others]
            self._update([])

    @rule(data=st.data())
    def decide_is(self, data: st.DataObject) -> None:
        mentions, found = self.mentions(data), authors(self.result)
        if not mentions:
            return
        mention, other = (data.draw(st.sampled_from(some)) for some in (mentions, sorted(found)))
        concerned = [
            one for one, author in found.items() if author in {found[mention], found[other]} and one != mention
        ]
        if found[mention] != found[other] and not self.decided() & {int(one[1:5]) for one in concerned}:
            done = decide(self.result, "is", mention, found[other], reason="known", user="ann")
            self.pairs[done.decision.number] = [(mention, one, found[one] == found[other]) for one in concerned]
            self._update([])

    @rule(data=st.data())
    def decide_name(self, data: st.DataObject) -> None:
        if mentions := self.mentions(data):
            mention = data.draw(st.sampled_from(mentions))
            done = decide(self.result, "name", mention, f"Name of {mention}", reason="known", user="ann")
            self.names[done.decision.number] = (mention, f"Name of {mention}")
            self._update([])

    @rule(data=st.data())
    def decide_wrong_record(self, data: st.DataObject) -> None:
        if mentions := self.mentions(data):
            document_id = data.draw(st.sampled_from(mentions))[:5]
            done = decide(self.result, "wrong-record", document_id, reason="known", user="ann")
            self.wrong[done.decision.number] = int(document_id[1:])
            self._update([])

    @rule(data=st.data(), at_once=st.booleans(), same_is_undone=st.booleans())
    def undo_one_of_two_decisions(self, data: st.DataObject, at_once: bool, same_is_undone: bool) -> None:
        """In a copy of the result two authors are joined, and a record of one of them is wrong; one is undone."""
        found, free = authors(self.result), self.mentions(data)
        chosen = self._two_authors_and_a_record(data, found, free)
        if chosen is None:
            return
        joined, partner, wrong = chosen
        made = [("same", joined, partner), ("wrong-record", wrong[:5], None)]
        both, one = (Path(shutil.copytree(self.result, self.folder / name)) for name in ("both", "one"))
        numbers = [self._decide(both, *made[0])]
        if not at_once:
            update(both)
        numbers.append(self._decide(both, *made[1]))
        update(both)
        kept = {author for mention, author in found.items() if mention[:5] != wrong[:5]}
        assert kept.isdisjoint(author for mention, author in authors(both).items() if mention[:5] == wrong[:5])
        add_undo(both, numbers[0 if same_is_undone else 1], user="ann", reason="")
        self._decide(one, *made[1 if same_is_undone else 0])
        for copy in (both, one):
            update(copy)
            assert check(copy).problems == []
        if same_is_undone:
            assert all(rows(both, name) == rows(one, name) for name in ("mentions", "authors"))
        pairs = {*zip(authors(both).values(), authors(one).values(), strict=True)}
        assert len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs})
        for copy in (both, one):
            shutil.rmtree(copy)

    def _two_authors_and_a_record(
        self, data: st.DataObject, found: dict[str, str], free: list[str]
    ) -> tuple[str, str, str] | None:
        """Mentions of two authors that no decision is about, and another mention of the first author."""
        decided = {author for mention, author in found.items() if int(mention[1:5]) in self.decided()}
        free = [mention for mention in free if found[mention] not in decided]
        for joined in data.draw(st.permutations(free)) if free else ():
            partners = [one for one in free if found[one] != found[joined]]
            others = [one for one in free if found[one] == found[joined] and one[:5] != joined[:5]]
            for wrong in others:
                if partners := [one for one in partners if one[:5] != wrong[:5]]:
                    return joined, data.draw(st.sampled_from(partners)), wrong
        return None

    @staticmethod
    def _decide(result: Path, kind: str, a: str, b: str | None) -> int:
        return decide(result, kind, a, b, reason="known", user="ann").decision.number

    @precondition(lambda self: self.decided())
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted({**self.pairs, **self.names, **self.wrong})))
        add_undo(self.result, number, user="ann", reason="")
        for decided in (self.pairs, self.names, self.wrong):
            decided.pop(number, None)
        self._update([])

    @invariant()
    def tables_agree(self) -> None:
        require_consistent(self.result)
        after = authors(self.result)
        assert {mention[:5] for mention in after} == {f"D{number:04d}" for number in self.documents}
        assert check(self.result).problems == []
        for pairs in self.pairs.values():
            for a, b, same in pairs:
                assert (after[a] == after[b]) == same
        wrong = {mention for mention in after if int(mention[1:5]) in self.wrong.values()}
        for mention in wrong:
            assert list(after.values()).count(after[mention]) == 1
        shown = {row["author_id"]: row["name"] for row in rows(self.result, "authors")}
        for mention, _ in self.names.values():
            names = {name for other, name in self.names.values() if after[other] == after[mention]}
            assert shown[after[mention]] in names

    @rule(data=st.data())
    def explain_says_what_the_tables_have(self, data: st.DataObject) -> None:
        after = authors(self.result)
        a, b = data.draw(st.lists(st.sampled_from(sorted(after)), min_size=2, max_size=2, unique=True))
        block = {row["mention_id"]: row["block"] for row in rows(self.result, "mentions")}
        if block[a] != block[b] and after[a] != after[b]:
            return  # explained only if decisions keep them apart
        found = explain(self.result, a, b)
        assert found.together == (after[a] == after[b])
        assert found.answer.startswith("They are one author" if found.together else "They are two authors")
        shown = explain(self.result, a)
        (author,) = shown.authors
        mentions = {one.mention_id for one in (*author.mentions, *author.elsewhere)}
        assert mentions == {one for one, other in after.items() if other == after[a]}
        name = explain(self.result, shown.block)
        for one in name.authors:
            assert {after[mention.mention_id] for mention in (*one.mentions, *one.elsewhere)} == {one.author_id}

    @invariant()
    def ids_are_never_lost_nor_given_to_others(self) -> None:
        after = authors(self.result)
        now = set(after.values())
        found = list(events(self.result))
        new_events = found[self.event_count :]
        assert [one["number"] for one in found] == list(range(1, len(found) + 1))
        named = {one["author_id"]: one for one in new_events if one["kind"] not in {"moved", "grown"}}
        before = set(self.before.values())
        grown = {(one["mention_id"], one["author_id"]) for one in new_events if one["kind"] == "grown"}
        assert all(after[mention] == author in before for mention, author in grown)
        new = {mention for mention, author in after.items() if mention not in self.before and author in before}
        assert new <= {mention for mention, _ in grown}
        assert before - now <= named.keys()
        assert now - before <= named.keys()
        assert all(named[one]["kind"] in {"merged", "retired"} for one in before - now)
        for one in now - before:
            assert (named[one]["kind"] == "revived") == (one in self.ids)
        for one in before - now:
            target = current_id(self.result, one)
            assert (target is None) == (named[one]["kind"] == "retired")
            assert target is None or target in now
        self.ids |= now
        known = (
            {row["author_id"] for row in rows(self.result, "ids")} if (self.result / "ids.parquet").exists() else now
        )
        assert self.ids <= known | now
        self.event_count, self.before = len(found), after


LivingCorpus.TestCase.settings = settings(
    max_examples=examples(30), stateful_step_count=8, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLivingCorpus = pytest.mark.slow(LivingCorpus.TestCase)
