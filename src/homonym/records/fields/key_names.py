"""Names of keys and columns: other names for a known field, and names that are probably misspelled.

A known field may have another case or separator ("Other-Authors"), be in the singular ("affiliation"), or be an
identifier that is given directly ("orcid" instead of "ids": {"orcid": …}). A name that differs from that of a known
field by a typing error is not read, but reported.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from homonym.records.fields.identifiers import DOCUMENT_KINDS, PERSON_KINDS, kind_named
from homonym.records.model import Note

_LANGUAGE = re.compile(r"\[(?:[a-z]{2}(?:_[A-Z]{2})?)?\]$")
_SEPARATORS = re.compile(r"[\W_]+")

# Names with fewer letters are too often those of other things.
_SHORTEST_MISSPELLED = 4
# From this length on, two errors may be in a name.
_LONG = 8


def column_key(name: str) -> str:
    """The letters and digits of the name of a column or key, in lower case, without a language in brackets.

    >>> column_key("Publication Year"), column_key("Author(s)"), column_key("dc.title[en_US]")
    ('publicationyear', 'authors', 'dctitle')
    """
    return _SEPARATORS.sub("", _LANGUAGE.sub("", name)).lower()


def misspelled(name: str, known: Collection[str]) -> str | None:
    """The known name that a name is with a typing error, None if there is none. Names are written as `column_key` does.

    >>> [misspelled(name, ("affiliations", "emails", "year")) for name in ("afilliations", "emials", "yaer", "city")]
    ['affiliations', 'emails', 'year', None]
    """
    if len(name) < _SHORTEST_MISSPELLED:
        return None
    errors = 1 + (len(name) >= _LONG)
    near = [one for one in known if one[:1] == name[:1] and abs(len(one) - len(name)) < 2 and len(one) > 2]
    distance, found = min(((_distance(name, one), one) for one in near), default=(errors + 1, ""))
    return found if distance <= errors else None


def _distance(one: str, other: str) -> int:
    """The number of letters that are added, missing, wrong or swapped (optimal string alignment)."""
    before, row = list[int](), list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]


class Meaning(NamedTuple):
    """What an unknown key means: a field, or a kind of identifiers; or which name it is with a typing error."""

    field: str = ""
    kind: str = ""
    misspelled: str = ""


class KnownKeys:
    """The keys of one sort of objects: their fields, other names for these, and kinds of identifiers."""

    def __init__(self, what: str, fields: Collection[str], singular: Mapping[str, str], kinds: Collection[str]) -> None:
        self.what, self.fields = what, frozenset(fields)
        self._names = {column_key(field): field for field in fields} | dict(singular)
        self._kinds = frozenset(kinds)
        self.meaning = lru_cache(maxsize=1 << 10)(self._meaning)

    def _meaning(self, key: str) -> Meaning | None:
        """What a key means that is not the name of a field; None if it is unknown."""
        plain = column_key(key)
        if plain in self._names:
            return Meaning(field=self._names[plain])
        if (kind := kind_named(plain)) in self._kinds:
            return Meaning(kind=kind)
        wrong = misspelled(plain, [*self._names, *self._kinds])
        return Meaning(misspelled=self._names.get(wrong, wrong)) if wrong else None

    def has_others(self, keys: Collection[str]) -> bool:
        """Whether any of the keys has another meaning than its own name says."""
        return not self.fields.issuperset(keys) and any(key not in self.fields and self.meaning(key) for key in keys)

    def renamed(self, raw: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
        """An object with known keys only where others mean the same; what cannot be used is noted."""
        if self.fields.issuperset(raw):
            return raw
        found = dict(raw)
        for key, value in raw.items():
            if key in self.fields or value in (None, "", [], {}):
                continue
            if meaning := self.meaning(key):
                self._use(found, key, value, meaning, notes)
        return found

    def _use(self, found: dict[str, Any], key: str, value: Any, meaning: Meaning, notes: list[Note]) -> None:
        if meaning.kind:
            ids = found.get("ids") or {}
            if not isinstance(ids, dict):
                return  # which is noted where they are read
            known = ids.get(meaning.kind)
            found["ids"] = {**ids, meaning.kind: known or value}
        elif meaning.field:
            known = found.get(meaning.field)
            found[meaning.field] = known or value
        elif not found.get(meaning.misspelled):
            notes.append(("field", f"unknown key {key!r} of {self.what}, perhaps {meaning.misspelled!r}"))
            return
        else:
            return
        if known and known != value:
            notes.append(
                ("field", f"{key!r} is not used, because the record also has {meaning.kind or meaning.field!r}")
            )


AUTHOR_KEYS = KnownKeys(
    "an author",
    ("name", "affiliations", "emails", "author", "block", "ids"),
    {"affiliation": "affiliations", "email": "emails"},
    frozenset(PERSON_KINDS) - {"email"},
)
DOCUMENT_KEYS = KnownKeys(
    "a document",
    (
        "id", "authors", "title", "abstract", "year", "venue", "categories", "keywords", "references",
        "referenced_authors", "other_authors", "other_contributors", "ids",
    ),
    {
        "category": "categories", "keyword": "keywords", "journal": "venue", "publicationyear": "year",
        "pubyear": "year", "yearpublished": "year",
    },
    (*DOCUMENT_KINDS, "pmcid"),
)  # fmt: skip
