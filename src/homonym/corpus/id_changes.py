"""What happens to author ids in an update, from the authors of mentions before and after; and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from homonym.corpus.decided import Cause
from homonym.corpus.event_table import CREATED, GROWN, MERGED, MOVED, RETIRED, REVIVED, SPLIT, Event
from homonym.corpus.ids import ACTIVE, ends_of_redirects, rows_of_ids
from homonym.corpus.update_plan import UpdatePlan, renamed_keys


@dataclass
class IdChanges:
    """What happens to ids in an update, and the events that say so."""

    events: list[Event] = field(default_factory=list)
    created: dict[str, str | None] = field(default_factory=dict)
    redirected: dict[str, str] = field(default_factory=dict)
    retired: list[str] = field(default_factory=list)
    revived: list[str] = field(default_factory=list)


def find_id_changes(
    before: dict[str, str], after: Mapping[str, str], renamed: Mapping[str, str], plan: UpdatePlan, reason: str
) -> IdChanges:
    """Compare the authors of mentions before and after; both are by mention id."""
    changes = IdChanges()
    old_ids, new_ids = {*before.values()}, {*after.values()}
    known = rows_of_ids(plan.known_ids, new_ids - old_ids)
    led_to = ends_of_redirects(plan.known_ids, {row["author_id"] for row in known if row["status"] != ACTIVE})
    origin = renamed_keys(before, renamed)
    others = {mention: author for mention, author in after.items() if origin.get(mention) != author}
    if not others and old_ids == new_ids:
        return changes
    sources: dict[str, Counter[str]] = defaultdict(Counter)
    targets: dict[str, Counter[str]] = defaultdict(Counter)
    for mention, author in others.items():
        if (old := origin.get(mention)) is not None:
            sources[author][old] += 1
            targets[old][author] += 1
    for mention, new in renamed.items():  # several mentions may have become one
        if mention in before and new in after and before[mention] not in {origin[new], after[new]}:
            targets[before[mention]][after[new]] += 1
    came_from: dict[str, str | None] = {}
    why = _Reasons(plan.decided.find_causes(), origin, after, reason)
    for author in sorted(new_ids - old_ids):
        former = _most(sources[author])
        if author in led_to:
            changes.revived.append(author)
            came_from[author] = led_to[author]
            changes.events.append(Event(REVIVED, author, led_to[author], reason=why.split(author)))
        elif former is None:
            changes.created[author] = None
            changes.events.append(Event(CREATED, author, reason=reason))
        else:
            changes.created[author] = came_from[author] = former
            changes.events.append(Event(SPLIT, author, former, reason=why.split(author)))
    for author in sorted(old_ids - new_ids):
        target = _most(targets[author])
        if target is None:
            changes.retired.append(author)
            changes.events.append(Event(RETIRED, author, reason="its documents were removed"))
        else:
            changes.redirected[author] = target
            changes.events.append(Event(MERGED, author, target, reason=why.merge(author, target)))
    for mention, author in sorted(others.items()):
        old = origin.get(mention)
        if old is None and author in old_ids:
            changes.events.append(Event(GROWN, author, None, mention, reason))
        if old is None or changes.redirected.get(old) == author:
            continue
        if came_from.get(author) == old:
            continue
        changes.events.append(Event(MOVED, author, old, mention, why.move(old, author)))
    return changes


class _Reasons:
    """The reasons of events: decisions and undos that joined or separated mentions in an update, else another reason.

    `origin` and `after` are the authors of mentions before and after.
    """

    def __init__(
        self, causes: Sequence[Cause], origin: Mapping[str, str], after: Mapping[str, str], reason: str
    ) -> None:
        self._other = reason
        # A decision between both authors comes before one that links an author with a third one.
        self._merges: dict[tuple[str, str], tuple[bool, int]] = {}
        self._splits: dict[str, int] = {}
        moved: dict[str, list[str]] = defaultdict(list)
        if causes:
            for mention, author in after.items():
                if origin.get(mention, author) != author:
                    moved[mention.rpartition("#")[0]].append(mention)
        for cause in causes:
            if not cause.b:
                for mention in moved.get(cause.a, ()):
                    self._add_document(cause, origin[mention], after[mention])
            elif cause.a in after and cause.b in after:
                olds, news = ({where.get(one) for one in (cause.a, cause.b)} for where in (origin, after))
                self._add_pair(cause, olds, news)

    def _add_document(self, cause: Cause, old: str, new: str) -> None:
        if cause.joins:
            self._merges[old, new] = max((True, cause.number), self._merges.get((old, new), (False, 0)))
        else:
            self._splits[new] = max(cause.number, self._splits.get(new, 0))

    def _add_pair(self, cause: Cause, olds: set[str | None], news: set[str | None]) -> None:
        """Note a pair that was of two authors and is of one now, or the reverse."""
        if cause.joins and len(olds) > 1 and len(news) == 1:
            for key in ((old, new) for old in olds if old for new in news if new):
                self._merges[key] = max((key[1] in olds, cause.number), self._merges.get(key, (False, 0)))
        elif not cause.joins and len(olds) == 1 and len(news) > 1:
            for new in filter(None, news):
                self._splits[new] = max(cause.number, self._splits.get(new, 0))

    def merge(self, old: str, new: str) -> str:
        """The reason why an author became part of another one."""
        return self._sentence(self._merges.get((old, new), (False, 0))[1])

    def split(self, new: str) -> str:
        """The reason why an author was separated from another one."""
        return self._sentence(self._splits.get(new, 0))

    def move(self, old: str, new: str) -> str:
        """The reason why a mention moved from one author to another."""
        merged = self._merges.get((old, new), (False, 0))[1]
        return self._sentence(max(merged, self._splits.get(new, 0), self._splits.get(old, 0)))

    def _sentence(self, number: int) -> str:
        return f"decision {number}" if number else self._other


def _most(counts: Counter[str]) -> str | None:
    """The most frequent id, of equally frequent ones the first."""
    return min(counts, key=lambda one: (-counts[one], one)) if counts else None
