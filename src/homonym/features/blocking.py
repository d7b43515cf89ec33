"""Blocking: only mentions with the same block key are compared. A scheme computes the key from a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homonym.names.parse import MAX_CACHED_NAMES, Name, encode_name, name_key, parse_name_uncached
from homonym.names.simple_names import SimpleNames, find_simple_names, standard_surnames
from homonym.names.spelling import standard_name

Scheme = Callable[[Name, str | None], str]


def auto(name: Name, block: str | None) -> str:
    """The block key in the data, else surname and first initial: all mentions that may be one person meet.

    The surname is that of the normal form (names/spelling.py), so that Müller, Mueller and Muller meet.
    """
    return block or standard_name(name).first_initial_key


def given(name: Name, block: str | None) -> str:
    """The block key in the data, else surname and all initials."""
    return block or name.key


def initials(name: Name, block: str | None) -> str:
    """Surname and all initials, as in the paper: John W. Doe and Jane W. Doe share the block DOE, JW."""
    return name.key


def first_initial(name: Name, block: str | None) -> str:
    """Surname and first initial: larger blocks that also contain mentions with fewer initials."""
    return name.first_initial_key


def full_name(name: Name, block: str | None) -> str:
    """Surname and all given names as written."""
    return name.full_key


SCHEMES: Mapping[str, Scheme] = {
    "auto": auto,
    "given": given,
    "initials": initials,
    "first-initial": first_initial,
    "full-name": full_name,
}


# Schemes that compare names in the normal form of names/spelling.py.
STANDARD = frozenset({"auto"})
# Schemes that take the block key in the data, if there is one.
GIVEN = frozenset({"auto", "given"})


def compared_name(name: Name, blocking: str) -> Name:
    """The form of a name that is compared with others of its block.

    >>> mueller = parse_name_uncached("Mueller, Anna")
    >>> [compared_name(mueller, blocking).key for blocking in ("auto", "initials")]
    ['MULLER, A', 'MUELLER, A']
    """
    return standard_name(name) if blocking in STANDARD else name


class BlockedName(NamedTuple):
    """What the collection stores of a name: some of its forms (see `Name`), all of it encoded, its block.

    `key` and `spelled_out` are features of co-authors: they are of the name as written, whatever the scheme. The others
    are of the compared name.
    """

    key: str
    spelled_out: str | None
    full_name: str | None
    encoded: str
    block: str


class BlockedNames(dict[str, BlockedName | None]):
    """A cache from names as written; None for a text that is not a name."""

    def __init__(self, blocking: str) -> None:
        super().__init__()
        self.blocking = blocking

    def __missing__(self, text: str) -> BlockedName | None:
        if len(self) >= MAX_CACHED_NAMES:
            self.clear()
        name = parse_name_uncached(text)
        blocked = None
        if name.surname:
            block, compared = SCHEMES[self.blocking](name, None), compared_name(name, self.blocking)
            blocked = BlockedName(name.key, name.spelled_out, compared.full_name, encode_name(compared), block)
        self[text] = blocked
        return blocked


@lru_cache(maxsize=8)
def blocked_names(blocking: str) -> BlockedNames:
    """The cache of this process for a blocking scheme."""
    return BlockedNames(blocking)


class AuthorNames(NamedTuple):
    """Names as columns: as written, and the fields of `BlockedName`, which are null for a text that is no name."""

    written: pa.Array
    key: pa.Array
    spelled_out: pa.Array
    full_name: pa.Array
    encoded: pa.Array
    block: pa.Array

    def slice(self, first: int, number: int) -> AuthorNames:
        """Some of the names."""
        return AuthorNames(*(column.slice(first, number) for column in self))


def author_names(written: pa.DictionaryArray, given_blocks: pa.Array, blocking: str) -> AuthorNames:
    """The names of all authors. `given_blocks` are the block keys in the data."""
    distinct = blocked_columns(written.dictionary, blocking)
    names = AuthorNames(*(column.take(written.indices) for column in distinct))
    return names._replace(block=_with_given(names.block, given_blocks, blocking))


def blocked_columns(texts: pa.Array, blocking: str) -> AuthorNames:
    """The columns of `BlockedName` for some texts: of simple names all at once, of the others one by one."""
    is_simple, parts = find_simple_names(texts, standard=blocking in STANDARD)
    simple = _simple_columns(parts, blocking)
    cache = blocked_names(blocking)
    found = [cache[text] or _NO_NAME for text in texts.filter(pa.array(~is_simple)).to_pylist()]
    if not found:
        return AuthorNames(texts, *simple)
    place = np.where(is_simple, np.cumsum(is_simple) - 1, is_simple.sum() + np.cumsum(~is_simple) - 1)
    others = [pa.array(column, pa.string()) for column in zip(*found, strict=True)]
    columns = [pa.concat_arrays(both).take(pa.array(place)) for both in zip(simple, others, strict=True)]
    return AuthorNames(texts, *columns)


_NO_NAME = (None,) * len(BlockedName._fields)


def _simple_columns(names: SimpleNames, blocking: str) -> list[pa.Array]:
    """The fields of `BlockedName` for simple names."""
    key = _concatenated(names.surname, names.initials, ", ")
    surname = standard_surnames(names.surname) if blocking in STANDARD else names.surname
    spelled_out = _concatenated(names.surname, names.given, "|")
    full_name = _concatenated(surname, names.first_given, "|")
    return [
        key,
        pc.if_else(names.has_given_name, spelled_out, None),
        pc.if_else(names.has_given_name, full_name, None),
        pc.binary_join_element_wise(surname, names.initials, names.given, "", "|"),
        _simple_block(names._replace(surname=surname), key, blocking),
    ]


def _simple_block(names: SimpleNames, key: pa.Array, blocking: str) -> pa.Array:
    """The block keys of simple names, as the functions of SCHEMES compute them."""
    if blocking in {"given", "initials"}:
        return key
    return _concatenated(names.surname, names.given if blocking == "full-name" else names.first_initial, ", ")


def keys_of_names(texts: Sequence[str]) -> list[str]:
    """The results of `name_key`: of simple names all at once, of the others one by one.

    >>> keys_of_names(["Jane W. Doe", "et al.", "Müller-Lüdenscheidt, A"])
    ['DOE, JW', '', 'MULLER LUDENSCHEIDT, A']
    """
    is_simple, parts = find_simple_names(pa.array(texts, pa.string()), standard=False)
    keys = iter(_concatenated(parts.surname, parts.initials, ", ").to_pylist())
    return [next(keys) if simple else name_key(text) for text, simple in zip(texts, is_simple.tolist(), strict=True)]


def _concatenated(first: pa.Array, second: pa.Array, separator: str) -> pa.Array:
    return pc.binary_join_element_wise(first, second, separator)


def _with_given(found: pa.Array, given_blocks: pa.Array, blocking: str) -> pa.Array:
    """The block keys, those in the data first if the scheme takes them."""
    if blocking not in GIVEN:
        return found
    return pc.if_else(pc.fill_null(pc.not_equal(given_blocks, ""), False), given_blocks, found)
