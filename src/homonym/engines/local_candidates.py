"""The authors of an encoded collection that may be one person although they are in different blocks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homonym.clustering.arrays import Integers, equal_keys
from homonym.collection.encoded import Encoded
from homonym.collection.layout import PLACED_IDENTIFIERS
from homonym.constraints.across_blocks import UnitedAuthors, linking_kinds, unite_authors
from homonym.constraints.evidence import UserPairs
from homonym.engines.base import AuthorRows
from homonym.settings import Settings


def unite_blocks(rows: AuthorRows, encoded: Encoded, settings: Settings, pairs: UserPairs | None) -> UnitedAuthors:
    """Unite authors of different blocks, see across_blocks.py."""
    ids = _identifiers(encoded, linking_kinds(settings))
    chosen = rows.ids.author[np.append(_shared(ids, encoded.block_start), _paired(encoded, pairs))]
    wanted = np.zeros(len(rows.ids), np.bool_)
    wanted[chosen] = True
    mentions = np.flatnonzero(wanted[rows.ids.author])
    ids = ids.filter(pc.is_in(ids["place"], pa.array(mentions)))
    return unite_authors(rows.candidates(encoded, mentions), ids, pairs, settings.trusted)


def _identifiers(encoded: Encoded, kinds: tuple[str, ...]) -> pa.Table:
    if not kinds:
        return PLACED_IDENTIFIERS.empty_table()
    ids = encoded.identifiers()
    return ids.filter(pc.is_in(ids["kind"], pa.array(kinds)))


def _shared(ids: pa.Table, block_start: Integers) -> Integers:
    """The mentions with an identifier that mentions of another block have, too."""
    place = ids["place"].to_numpy()
    block = np.searchsorted(block_start, place, side="right")
    kind, value = (ids[name].dictionary_encode().combine_chunks().indices.to_numpy() for name in ("kind", "id"))
    keys = kind.astype(np.int64), value.astype(np.int64)
    _, count = equal_keys(*keys)
    shared: Integers = place[equal_keys(*keys, block)[1] < count]
    return shared


def _paired(encoded: Encoded, pairs: UserPairs | None) -> Integers:
    """The mentions of the user's pairs."""
    if pairs is None or not pairs.a:
        return np.zeros(0, np.int64)
    mention_ids = encoded.read(["mention_id"], np.arange(len(encoded.mention_owner)))["mention_id"]
    found: Integers = np.flatnonzero(pc.is_in(mention_ids, pa.array([*pairs.a, *pairs.b])).to_numpy())
    return found
