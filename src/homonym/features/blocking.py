"""Blocking: only mentions with the same block key are compared. A scheme computes the key from a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from homonym.names.parse import MAX_CACHED_NAMES, Name, encode_name, parse_name, parse_name_uncached
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


def compared_name(name: Name, blocking: str) -> Name:
    """The form of a name that is compared with others of its block.

    >>> mueller = parse_name("Mueller, Anna")
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
    """The names of authors as columns: as written, and the fields of `BlockedName`."""

    written: pa.Array
    key: pa.Array
    spelled_out: pa.Array
    full_name: pa.Array
    encoded: pa.Array
    block: pa.Array


def author_names(written: pa.Array, given_blocks: pa.Array, blocking: str) -> AuthorNames | None:
    """The names of all authors; None if one of them is not a name. `given_blocks` are the block keys in the data."""
    coded = written.dictionary_encode()
    cache = blocked_names(blocking)
    distinct = [cache[text] for text in coded.dictionary.to_pylist()]
    named = [name for name in distinct if name is not None]
    if coded.null_count or len(named) < len(distinct):
        return None
    columns = zip(*named, strict=True) if named else [()] * len(BlockedName._fields)
    names = AuthorNames(written, *(pa.array(column, pa.string()).take(coded.indices) for column in columns))
    return names._replace(block=_with_given(names.block, written, given_blocks, SCHEMES[blocking]))


def _with_given(block: pa.Array, written: pa.Array, given_blocks: pa.Array, scheme: Scheme) -> pa.Array:
    """The block keys, with the scheme applied again where the data has a key."""
    if not pc.any(pc.not_equal(given_blocks, ""), min_count=0).as_py():
        return block
    rows = zip(written.to_pylist(), given_blocks.to_pylist(), block.to_pylist(), strict=True)
    return pa.array([scheme(parse_name(name), own) if own else found for name, own, found in rows], pa.string())
