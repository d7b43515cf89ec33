"""Mentions that got another id: an append-only table that lets decisions follow their mentions.

The id of a mention contains its position on the document. If a document comes again with an additional first author,
its mentions get new ids, and an old id may now belong to another mention. Decisions store the mention ids of their
time, so each rename has the number of the last decision before it.

A mention that is gone gets an id with its name, which no other mention can have. If its document has an author of that
name again, the mention gets the id of this author.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from homonym.collection.document_merging import Place, author_places
from homonym.collection.same_names import can_be_misspelt, have_other_names
from homonym.io.result_directory import RENAMED
from homonym.io.tables import read_or_empty, write_table
from homonym.records.fields.people import folded
from homonym.records.model import Author
from homonym.schema import RENAMED_ROWS

_GONE = re.compile(r"(?P<mention>.*#[0-9]+) \(gone: (?P<name>.*)\)", re.DOTALL)


Row = Mapping[str, Any]
"""A row of the table of mentions."""


class GoneMention(NamedTuple):
    """A mention that the result lacks: the id and the name that it had."""

    mention_id: str
    name: str

    @property
    def own_id(self) -> str:
        """The id that decisions about the mention have now.

        >>> GoneMention("W1#0", "Doe, J").own_id
        'W1#0 (gone: Doe, J)'
        """
        return f"{self.mention_id} (gone: {self.name})"

    @classmethod
    def parse(cls, text: str) -> GoneMention | None:
        """The mention with this own id; None for a mention that is not gone.

        >>> GoneMention.parse("W1#0 (gone: Doe, J)"), GoneMention.parse("W1#0")
        (GoneMention(mention_id='W1#0', name='Doe, J'), None)
        """
        found = _GONE.fullmatch(text)
        return cls(found["mention"], found["name"]) if found else None


def rows_by_document(rows: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """Rows of the table of mentions by document, in the order of the authors."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows.to_pylist():
        found[row["document_id"]].append(row)
    for mentions in found.values():
        mentions.sort(key=position_of)
    return found


def position_of(row: Mapping[str, Any]) -> int:
    """The position of a mention on its document."""
    return int(row["position"])


def people_of(rows: Iterable[Row]) -> list[Author]:
    """The authors of rows of the table of mentions."""
    return [Author(row["position"], row["name"]) for row in rows]


def places_of(rows: Sequence[Row], others: Sequence[Row]) -> list[Place | None]:
    """The place of each mention of a document among other mentions, found as in `author_places`.

    Authors of one name cannot be told apart. If both lists have as many of them, they are taken in their order.
    """
    places = author_places(people_of(rows), people_of(others))
    free = _by_name(others, {*range(len(others))} - {place.number for place in places if place})
    for name, numbers in _by_name(rows, {number for number, place in enumerate(places) if place is None}).items():
        if len(numbers) == len(free.get(name, ())):
            for number, other in zip(numbers, free[name], strict=True):
                places[number] = Place(other, by_name=True)
    return places


def _by_name(rows: Sequence[Row], chosen: Set[int]) -> dict[str, list[int]]:
    """The numbers of some rows by their names, in order."""
    found: dict[str, list[int]] = defaultdict(list)
    for number in sorted(chosen):
        found[folded(rows[number]["name"] or "")].append(number)
    return found


def gone_mentions(rows: Iterable[Row], names: Mapping[str, str] = {}, taken: Set[str] = frozenset()) -> dict[str, str]:
    """The own ids of mentions that are gone, because their places are empty or have other people now.

    `names` are those that mention ids have now, and `taken` the ids that belong to mentions from other places.
    """
    return {
        own: GoneMention(own, row["name"] or "").own_id
        for row in rows
        if (own := row["mention_id"]) in taken or own not in names or have_other_names(names[own], row["name"])
    }


def returned_mentions(rows: Mapping[str, Sequence[Row]], known: Iterable[str]) -> dict[str, str]:
    """The mentions that were gone, and are among new rows again. They are found by their names.

    Authors of one name are found if as many were gone, in their order. `rows` are those of each document in the order
    of its authors, and `known` may be own ids of mentions that are gone.
    """
    gone: dict[str, list[GoneMention]] = defaultdict(list)
    for one in sorted(known):
        if found := GoneMention.parse(one):
            gone[found.mention_id.rpartition("#")[0]].append(found)
    renamed: dict[str, str] = {}
    for document in gone.keys() & rows.keys():
        former = sorted(gone[document], key=lambda one: int(one.mention_id.rpartition("#")[2]))
        places = places_of(rows[document], [{"position": at, "name": one.name} for at, one in enumerate(former)])
        for row, place in zip(rows[document], places, strict=True):
            if place and place.by_name:
                renamed[former[place.number].own_id] = row["mention_id"]
    return renamed


def moved_mentions(before: Sequence[Row], after: Sequence[Row]) -> dict[str, str]:
    """The mentions of a document that have another id in the document that it became part of, or that are gone."""
    places = places_of(before, after) if after else [None] * len(before)
    pairs = zip(before, places, strict=True)
    found = {
        row["mention_id"]: after[place.number]["mention_id"]
        for row, place in pairs
        if place and (place.by_name or can_be_misspelt(row["name"], after[place.number]["name"]))
    }
    gone = gone_mentions(row for row in before if row["mention_id"] not in found)
    return {one: new for one, new in (found | gone).items() if one != new}


def moved_gone_mentions(
    known: Iterable[str], parts: Set[str], document: str, rows: Mapping[str, Sequence[Row]]
) -> dict[str, str]:
    """The new ids of mentions that were gone from documents that became part of another one, which may have them."""
    moved = {}
    for one in known:
        found = GoneMention.parse(one)
        part, _, position = found.mention_id.rpartition("#") if found else ("", "", "")
        if found and part in parts:
            moved[one] = GoneMention(f"{document}#{position}", found.name).own_id
    back = returned_mentions({document: rows.get(document, [])}, {*moved.values()})
    return {one: back.get(new, new) for one, new in moved.items()}


def _read(result: Path) -> pa.Table:
    return read_or_empty(result / RENAMED, RENAMED_ROWS)


def append_renames(folder: Path, decision: int, renamed: Mapping[str, str]) -> None:
    """Add the renames of one update, after the decision with this number."""
    known = _read(folder)
    number = 1 + max(known["number"].to_pylist(), default=0)
    rows = [
        {"number": number, "decision": decision, "former_id": old, "mention_id": new}
        for old, new in sorted(renamed.items())
    ]
    write_table(folder / RENAMED, RENAMED_ROWS, [known, pa.Table.from_pylist(rows, schema=RENAMED_ROWS)])


class _Rename(NamedTuple):
    """The new id of a mention, the number of the update among those with renames, and the last decision before it."""

    step: int
    decision: int
    mention_id: str


class MentionRenames:
    """All renames of a result: for each update with renames the last decision before it, and new ids by the old ones.

    They are looked up by mention, so the time for a decision does not depend on the number of updates.
    """

    def __init__(self, steps: Iterable[tuple[int, Mapping[str, str]]] = ()) -> None:
        self._renames: dict[str, list[_Rename]] = defaultdict(list)
        for step, (decision, renamed) in enumerate(steps):
            for old, new in renamed.items():
                self._renames[old].append(_Rename(step, decision, new))

    @classmethod
    def read(cls, result: Path) -> MentionRenames:
        """The renames of a result; none if no mention got another id."""
        steps: dict[int, tuple[int, dict[str, str]]] = {}
        for row in _read(result).to_pylist():
            steps.setdefault(row["number"], (row["decision"], {}))[1][row["former_id"]] = row["mention_id"]
        return cls(steps.values())

    def __bool__(self) -> bool:
        return bool(self._renames)

    def current(self, mention: str, decision: int) -> str:
        """The current id of the mention that had this id when a decision was made.

        >>> renames = MentionRenames([(1, {"W1#0": "W1#1"}), (5, {"W1#1": "W1#2"})])
        >>> renames.current("W1#0", 1), renames.current("W1#0", 2), renames.current("W1#1", 2)
        ('W1#2', 'W1#0', 'W1#2')
        """
        step = -1
        while found := self._next(mention, decision, step):
            step, mention = found.step, found.mention_id
        return mention

    def _next(self, mention: str, decision: int, step: int) -> _Rename | None:
        """The first rename of a mention after a step that came after a decision."""
        known = self._renames.get(mention, ())
        return next((one for one in known if one.step > step and one.decision >= decision), None)
