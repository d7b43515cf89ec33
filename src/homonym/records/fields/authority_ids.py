"""Identifiers of people in library catalogues: ORCID, ISNI, VIAF, GND, Library of Congress, as addresses or codes."""

from __future__ import annotations

import re
from functools import lru_cache

from homonym.records.fields import identifiers
from homonym.records.model import Note

# Marks of the kinds: the agency code in brackets, the name of the scheme, or the address.
_MARKS = {
    "orcid": re.compile(r"orcid", re.IGNORECASE),
    "isni": re.compile(r"isni", re.IGNORECASE),
    "viaf": re.compile(r"viaf", re.IGNORECASE),
    "gnd": re.compile(r"\(DE-588\)|d-nb\.info/gnd/|^gnd$|\bgnd\b", re.IGNORECASE),
    "lccn": re.compile(r"\(DLC\)|id\.loc\.gov/authorities/names/|^(?:naf|lcnaf|lccn)$", re.IGNORECASE),
    "scopus": re.compile(r"scopus", re.IGNORECASE),
    "researcherid": re.compile(r"researcher-?id", re.IGNORECASE),
}
_VALUES = {
    "viaf": re.compile(r"\d{3,22}"),
    "gnd": re.compile(r"\d[\dXx-]{5,12}"),
    "lccn": re.compile(r"n[a-z]{0,2}\s*\d{6,10}"),
}
_NOT_VALUES = re.compile(r"^\([^()]*\)|https?://[^/\s]++/(?:[a-z]++/)*+", re.IGNORECASE)


@lru_cache(maxsize=1 << 12)
def _kind_of(text: str) -> str | None:
    return next((kind for kind, mark in _MARKS.items() if mark.search(text)), None)


def add_authority_id(ids: dict[str, str], scheme: str, written: str, notes: list[Note]) -> None:
    """Add the identifier of a person in a text, whose kind is in the scheme or in the text; other kinds are ignored.

    >>> ids = {}
    >>> add_authority_id(ids, "", "https://d-nb.info/gnd/118540238", notes := [])
    >>> add_authority_id(ids, "isni", "0000 0001 2103 2683", notes)
    >>> add_authority_id(ids, "", "(orcid)0000-0002-1825-0098", notes)
    >>> ids, notes
    ({'gnd': '118540238', 'isni': '0000000121032683'}, [('field', "'(orcid)0000-0002-1825-0098' is not a valid ORCID")])
    """
    kind = _kind_of(scheme) or _kind_of(written)
    if kind is None or kind in ids or not written:
        return
    if kind in _VALUES:
        value = _VALUES[kind].search(_NOT_VALUES.sub("", written))
        normal = value[0].upper().replace(" ", "") if value else None
        normal = normal.lower() if normal and kind == "lccn" else normal
    else:
        normal = identifiers.isni(written) if kind == "isni" else identifiers.normalise(kind, written)
    if normal:
        ids[kind] = normal
    else:
        notes.append(("field", f"{written!r:.100} is not a valid {identifiers.TITLES.get(kind, kind)}"))
