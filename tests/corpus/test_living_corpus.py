"""Random updates, decisions, undos, removals and rebuilds, compared with a plain model of ids and events."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from homonym.commands.events import events
from homonym.commands.update import update
from homonym.corpus.decision_store import NewDecision, add_decisions, add_undo
from homonym.corpus.ids import current_id
from tests.support.living import authors, document, make_result, require_consistent, rows, write_documents
from tests.support.profiles import examples

_FIRST: list[Path] = []


def first_result() -> Path:
    if not _FIRST:
        _FIRST.append(make_result(Path(tempfile.mkdtemp(prefix="homonym-living-")), range(12)))
    return _FIRST[0]


class LivingCorpus(RuleBasedStateMachine):
    """The model: documents that the result has, all ids ever seen, pairs of mentions in force, and merged ids."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="homonym-living-"))
        self.result = Path(shutil.copytree(first_result(), self.folder / "result"))
        self.documents = set(range(12))
        self.following = 12
        self.ids = set(authors(self.result).values())
        self.gone: set[str] = set()
        self.pairs: dict[int, tuple[str, str, bool]] = {}
        self.event_count = 0
        self.before = authors(self.result)

    def teardown(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _update(self, numbers: list[int], mode: str = "assign", remove: list[int] | None = None) -> None:
        self.before = authors(self.result)
        new = write_documents(self.folder / "new.jsonl", [document(one) for one in numbers]) if numbers else ()
        removed = [f"D{number:04d}" for number in remove or []]
        update(self.result, new, mode=mode, remove=removed)  # type: ignore[arg-type]
        self.documents |= {*numbers}
        self.documents -= {*(remove or [])}

    @rule(number=st.integers(1, 3), mode=st.sampled_from(["assign", "assign", "grow", "rebuild"]))
    def add(self, number: int, mode: str) -> None:
        new = list(range(self.following, self.following + number))
        self.following += number
        self._update(new, mode)
        if mode == "assign" and not self.pairs:
            after = authors(self.result)
            assert all(after[mention] == author for mention, author in self.before.items())

    @rule()
    def add_again(self) -> None:
        self._update(sorted(self.documents)[:3])

    @precondition(lambda self: len(self.documents) > 4)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sampled_from(sorted(self.documents)))
        decided = {mention[1:5] for a, b, _ in self.pairs.values() for mention in (a, b)}
        if f"{chosen:04d}" not in decided:
            self._update([], remove=[chosen])

    @rule(data=st.data(), same=st.booleans())
    def decide(self, data: st.DataObject, same: bool) -> None:
        block = data.draw(st.sampled_from(["DOE, J", "LI, X", "POE, M", "ROE, R"]))
        mentions = [row["mention_id"] for row in rows(self.result, "mentions") if row["block"] == block]
        if len(mentions) < 2:
            return
        a, b = sorted(data.draw(st.lists(st.sampled_from(mentions), min_size=2, max_size=2, unique=True)))
        kind = "same" if same else "different"
        known = {mention for pair in self.pairs.values() for mention in pair[:2]}
        if {a, b} & known:  # what newer decisions do to older ones is tested elsewhere
            return
        (row,) = add_decisions(self.result, [NewDecision(kind, a, b, a, b, "", "ann")])
        self.pairs[row.number] = (a, b, same)
        self._update([])

    @precondition(lambda self: self.pairs)
    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.pairs)))
        add_undo(self.result, number, user="ann", reason="")
        del self.pairs[number]
        self._update([])

    @invariant()
    def tables_agree(self) -> None:
        require_consistent(self.result)
        after = authors(self.result)
        assert {mention[:5] for mention in after} == {f"D{number:04d}" for number in self.documents}
        for a, b, same in self.pairs.values():
            assert (after[a] == after[b]) == same

    @invariant()
    def ids_are_never_lost_nor_given_to_others(self) -> None:
        after = authors(self.result)
        now = set(after.values())
        found = list(events(self.result))
        new_events = found[self.event_count :]
        assert [one["number"] for one in found] == list(range(1, len(found) + 1))
        named = {one["author_id"]: one for one in new_events if one["kind"] != "moved"}
        before = set(self.before.values())
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
