"""Mentions with bags: for users who bring their own features, of any types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from homonym.records import identifiers
from homonym.records.documents import identifier, load_object, optional_identifier
from homonym.records.model import Note
from homonym.records.problems import BrokenRecordError

#: Counts outside are not frequencies; inside, sums over a collection are exact (see collection/counting.py).
SMALLEST_COUNT, LARGEST_COUNT = 1e-9, 1e9

#: What the column of positions holds.
LARGEST_POSITION = 2**31 - 1


@dataclass(slots=True)
class Mention:
    """One author mention with its bag of features for each type; `notes` say what of it could not be used."""

    mention_id: str
    document_id: str | None
    position: int | None
    name: str | None
    block: str
    label: str | None
    features: dict[str, dict[str, float]]
    ids: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)


def parse_mention(line: bytes) -> Mention:
    """Read one line.

    >>> parse_mention(b'{"mention_id": "m1", "name": "DOE, J", "features": {"co": {"SMITH, A": 1}}}').block
    'DOE, J'
    """
    raw = load_object(line)
    if "authors" in raw and "mention_id" not in raw:
        raise BrokenRecordError("this is a document, not a mention with bags (use homonym disambiguate)")
    name = raw.get("name") if isinstance(raw.get("name"), str) else None
    block = optional_identifier(raw, "block") or name
    if not block:
        raise BrokenRecordError("neither 'block' nor 'name' says which mentions it is to be compared with")
    notes: list[Note] = []
    return Mention(
        mention_id=identifier(raw, "mention_id"),
        document_id=optional_identifier(raw, "document_id"),
        position=_position(raw.get("position")),
        name=name,
        block=block,
        label=optional_identifier(raw, "author"),
        features=_bags(raw.get("features")),
        ids=_ids(raw.get("ids"), notes),
        notes=notes,
    )


def _position(value: Any) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_POSITION
    return value if usable else None


def _ids(raw: Any, notes: list[Note]) -> dict[str, str]:
    """The identifiers of the person by kind; those that are none are noted."""
    if raw is not None and not isinstance(raw, dict):
        notes.append(("field", f"ids must be an object, got {type(raw).__name__}"))
        return {}
    found = {}
    for kind, value in (raw or {}).items():
        valid = identifiers.valid(kind, value)
        if valid is not None:
            found[kind] = valid
        elif value not in (None, ""):
            notes.append(("field", f"{value!r} is no {kind}"))
    return found


def _bags(raw: Any) -> dict[str, dict[str, float]]:
    if raw is None:
        return {}
    if not isinstance(raw, dict) or not all(isinstance(bag, dict) for bag in raw.values()):
        raise BrokenRecordError("'features' must map each feature type to an object of counts")
    return {kind: _bag(kind, bag) for kind, bag in raw.items() if bag}


def _bag(kind: str, bag: dict[str, Any]) -> dict[str, float]:
    for feature, count in bag.items():
        if isinstance(count, bool) or not isinstance(count, int | float):
            raise BrokenRecordError(f"the count of {feature!r} in {kind!r} is not a number")
        if count != 0 and not SMALLEST_COUNT <= count <= LARGEST_COUNT:
            raise BrokenRecordError(f"the count of {feature!r} in {kind!r} is {count:g}, outside 1e-9 to 1e9")
    return {feature: float(count) for feature, count in bag.items() if count}
