"""Columns of documents to the tables of a part: one extractor for every format.

The feature types are defined in features/types.py. This module turns rows into owners, counts and numbers the bags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from homonym.collection.identity import authors_of_documents, digest_columns
from homonym.collection.layout import (
    BAGS,
    FEATURES,
    IDENTIFIER_ROWS,
    KEY_ROWS,
    MENTION_ROWS,
    RECORD_ROWS,
    REFERENCE_ROWS,
    SLOT_BITS,
)
from homonym.features.columns import AuthorColumns, DocumentColumns, RecordColumns
from homonym.features.text import Integers
from homonym.features.types import FEATURE_TYPES, FeatureCounts
from homonym.records.fields.affiliations import is_placeholder, plain_email
from homonym.settings import Settings, identifier_kind

IntegerType = TypeVar("IntegerType", bound="np.integer[Any]")
Number = TypeVar("Number", bound=np.generic)

# Sums of whole counts below this are exact in floating point.
LARGEST_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Occurrences:
    """The bags of one feature type: entry i counts `name[feature[i]]`, and each feature is once in a bag."""

    name: pa.Array
    owner: NDArray[np.int64]
    feature: NDArray[np.int64]
    count: NDArray[np.float64]
    holders: NDArray[np.int32]


def occurrences_of_mentions(owner: NDArray[np.int64], feature: pa.Array, count: NDArray[np.float64]) -> Occurrences:
    """The entries of bags that belong to one mention each."""
    coded = feature.dictionary_encode()
    indices = coded.indices.to_numpy().astype(np.int64)
    return Occurrences(coded.dictionary, owner, indices, count, np.ones(len(owner), np.int32))


def bag_tables(types: Mapping[str, Occurrences], part: int) -> tuple[pa.Table, pa.Table]:
    """The features of a part, numbered, and its bags by owner: tables of the schemas FEATURES and BAGS."""
    features, bags, numbered = [FEATURES.empty_table()], [], 0
    for kind, bag in sorted(types.items()):
        order = pc.sort_indices(bag.name)
        rank = np.empty(len(order), np.int64)
        rank[order.to_numpy()] = np.arange(len(order))
        feature = rank[bag.feature]
        features.append(_feature_rows(kind, bag, bag.name.take(order), feature, (part, numbered)))
        bags.append((bag.owner, feature + numbered, bag.count, bag.holders))
        numbered += len(order)
    columns = [np.concatenate(column) for column in zip(*bags, strict=True)]
    return pa.concat_tables(features), _ordered_bags(columns)


def _feature_rows(
    kind: str, bag: Occurrences, name: pa.Array, feature: NDArray[np.int64], part_and_first: tuple[int, int]
) -> pa.Table:
    """The rows of one type. `name` are its features in order, and `feature` is the index of each entry among them."""
    part, first_id = part_and_first
    summed = np.bincount(feature, bag.count * bag.holders, len(name))
    if (np.floor(bag.count) == bag.count).all() and summed.max(initial=0.0) < LARGEST_EXACT:
        feature, count, holders = np.arange(len(name)), np.ones(len(name)), summed.astype(np.int64)
    else:
        order = np.lexsort((bag.count, feature))
        feature, count = feature[order], bag.count[order]
        first = np.flatnonzero((np.diff(feature, prepend=-1) != 0) | (np.diff(count, prepend=-1.0) != 0))
        holders = np.add.reduceat(bag.holders[order].astype(np.int64), first)
        feature, count = feature[first], count[first]
    columns = [
        np.full(len(feature), part, np.int64),
        (feature + first_id).astype(np.int32),
        pa.repeat(pa.scalar(kind), len(feature)),
        name.take(pa.array(feature)),
        count,
        holders,
        np.diff(feature, prepend=-1) == 0,
    ]
    return pa.table(columns, schema=FEATURES)


def _ordered_bags(columns: list[NDArray[Any]]) -> pa.Table:
    if not columns or not len(columns[0]):
        return BAGS.empty_table()
    owner, feature, count, holders = columns
    order = order_by_owner(owner, feature)
    return pa.table([owner[order], feature[order].astype(np.int32), count[order], holders[order]], schema=BAGS)


def order_by_owner(owner: NDArray[np.int64], feature: NDArray[np.integer]) -> NDArray[np.int64]:
    """The indices that sort entries by owner, then by feature.

    >>> order_by_owner(np.array([7, 5, 7]), np.array([1, 2, 0]))
    array([1, 2, 0])
    """
    if not len(owner):
        return np.zeros(0, np.int64)
    relative, bits = owner - owner.min(), int(feature.max()).bit_length()
    if int(relative.max()).bit_length() + bits > 63:
        return np.lexsort((feature, owner))
    # Sorting one combined column is several times as fast, above all where it consists of a few sorted runs.
    return np.argsort((relative << bits) | feature, kind="stable")


def added_up(
    owner: NDArray[np.int64], feature: NDArray[IntegerType], count: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[IntegerType], NDArray[np.float64]]:
    """Entries of bags by owner and feature; counts of one feature in one bag are added up.

    >>> added_up(np.array([7, 5, 7]), np.array([1, 2, 1]), np.array([0.5, 1.0, 2.0]))
    (array([5, 7]), array([2, 1]), array([1. , 2.5]))
    """
    order = order_by_owner(owner, feature)
    owner, feature = owner[order], feature[order]
    first = np.flatnonzero((np.diff(owner, prepend=-1) != 0) | (np.diff(feature, prepend=-1) != 0))
    return owner[first], feature[first], np.add.reduceat(count[order], first)


def merged_entries(
    entries: tuple[NDArray[np.int64], NDArray[IntegerType], NDArray[np.float64]],
    more: tuple[NDArray[np.int64], NDArray[IntegerType], NDArray[np.float64]],
) -> tuple[NDArray[np.int64], NDArray[IntegerType], NDArray[np.float64]]:
    """The same as `added_up` of both, but faster if both are in order, as `added_up` returns them, and `more` are few.

    >>> entries = np.array([5, 7, 7]), np.array([2, 1, 4]), np.array([1.0, 2.0, 1.0])
    >>> merged_entries(entries, (np.array([7, 7]), np.array([3, 4]), np.array([0.5, 1.0])))
    (array([5, 7, 7, 7]), array([2, 1, 3, 4]), array([1. , 2. , 0.5, 2. ]))
    """
    if not len(entries[0]) or not len(more[0]):
        return entries if len(entries[0]) else more
    keys = _sort_keys(entries[:2], more[:2])
    if keys is None:
        owner, feature = np.concatenate([entries[0], more[0]]), np.concatenate([entries[1], more[1]])
        return added_up(owner, feature, np.concatenate([entries[2], more[2]]))
    known, new = keys
    place = np.searchsorted(known, new)
    is_known = known[np.minimum(place, len(known) - 1)] == new
    count, added = entries[2].copy(), ~is_known
    count[place[is_known]] += more[2][is_known]
    # As `numpy.insert`, which would sort the places again for each column.
    place = place[added] + np.arange(added.sum())
    is_old = np.ones(len(known) + len(place), np.bool_)
    is_old[place] = False
    return (
        _inserted(entries[0], more[0][added], place, is_old),
        _inserted(entries[1], more[1][added], place, is_old),
        _inserted(count, more[2][added], place, is_old),
    )


def _inserted(
    old: NDArray[Number], new: NDArray[Number], place: Integers, is_old: NDArray[np.bool_]
) -> NDArray[Number]:
    """A column with new values at some places, and the old values in order at all others."""
    both = np.empty(len(is_old), old.dtype)
    both[is_old], both[place] = old, new
    return both


def _sort_keys(*entries: tuple[NDArray[np.int64], NDArray[Any]]) -> list[NDArray[np.int64]] | None:
    """For each entry one number, by owner and feature; None if it is too large, or if the entries are in no order.

    The arguments are owners and features, at least one of each.
    """
    first = min(int(owner.min()) for owner, _ in entries)
    bits = max(int(feature.max()) for _, feature in entries).bit_length()
    if (max(int(owner.max()) for owner, _ in entries) - first).bit_length() + bits > 63:
        return None
    keys = [((owner - first) << bits) | feature for owner, feature in entries]
    return None if any((key[1:] <= key[:-1]).any() for key in keys) else keys


def extract_tables(
    documents: DocumentColumns, part: int, settings: Settings, form: str = "documents"
) -> dict[str, pa.Table]:
    """All tables of a part, whose number is the sequence of its first record; `form` is the format of its records."""
    return _record_tables(documents, form) | mention_tables(documents, part, settings)


def comparison_tables(documents: DocumentColumns, form: str) -> dict[str, pa.Table]:
    """The tables of a part by which its documents are compared with others."""
    return _record_tables(documents, form) | {"references": _references(documents)}


def _record_tables(documents: DocumentColumns, form: str) -> dict[str, pa.Table]:
    authors = authors_of_documents(documents.authors.names.key, documents.records.authors)
    return record_tables(documents.records, authors, form)


def mention_tables(documents: DocumentColumns, part: int, settings: Settings) -> dict[str, pa.Table]:
    """The tables of a part about mentions: what they are, and what they have."""
    records, authors = documents.records, documents.authors
    document_owner = records.sequence << SLOT_BITS
    mention = document_owner[authors.document] + 1 + authors.position
    rows = {"document": (document_owner, records.authors), "author": (mention, np.ones(len(mention), np.int64))}
    types = {
        name: _occurrences(kind.extract(documents, settings), *rows[kind.level]) for name, kind in FEATURE_TYPES.items()
    }
    features, bags = bag_tables(types, part)
    return {
        "mentions": _mentions(records, authors, mention, settings),
        "references": _references(documents),
        "identifiers": _identifiers(authors, mention),
        "features": features,
        "bags": bags,
    }


def record_tables(records: RecordColumns, authors: Sequence[bytes], form: str) -> dict[str, pa.Table]:
    """The tables by which duplicates are found: records, and the keys that a record has in addition to its id.

    `authors` are those of each record as `authors_of` writes them.
    """
    keys = [f"{kind}:{value}" for kind, value in zip(records.ids.kind, records.ids.value, strict=True)]
    title, work, first_author = digest_columns(records.title, records.year.to_pylist(), authors)
    columns = [
        records.sequence,
        records.line,
        records.id,
        records.id_is_key,
        records.year,
        records.authors.astype(np.int32),
        pa.repeat(pa.scalar(form), len(records.sequence)),
        title,
        work,
        first_author,
    ]
    return {
        "records": pa.table(columns, schema=RECORD_ROWS),
        "keys": pa.table([records.sequence[records.ids.row], pa.array(keys, pa.string())], schema=KEY_ROWS),
    }


def _occurrences(counts: FeatureCounts, owner: Integers, holders: Integers) -> Occurrences:
    """The bags of one feature type by owner, without entries that no mention has, and names without entries."""
    names, row, feature, count = counts.names, counts.row, counts.feature, counts.count
    entry_holders = holders[row] if counts.holders is None else counts.holders
    held = entry_holders > 0
    if not held.all():
        row, feature, count, entry_holders = row[held], feature[held], count[held], entry_holders[held]
    used = np.zeros(len(names), bool)
    used[feature] = True
    if not used.all():
        names, feature = names.filter(pa.array(used)), (np.cumsum(used) - 1)[feature]
    return Occurrences(names, owner[row], feature, count, entry_holders.astype(np.int32))


def _mentions(records: RecordColumns, authors: AuthorColumns, mention: Integers, settings: Settings) -> pa.Table:
    document_id = records.id.take(pa.array(authors.document))
    position = pa.array(authors.position, pa.int32())
    mention_id = pc.binary_join_element_wise(document_id, position.cast(pa.string()), "#")
    names = authors.names
    own_full = names.spelled_out if settings.coauthor_names == "full" else pa.nulls(len(names.key), pa.string())
    columns = [
        mention, mention_id, document_id, position, names.written, names.encoded, names.full_name, names.key, own_full,
        names.block, authors.label, records.year.take(pa.array(authors.document)),
    ]  # fmt: skip
    return pa.table(columns, schema=MENTION_ROWS)


def _references(documents: DocumentColumns) -> pa.Table:
    """The documents that documents with mentions refer to."""
    row, cited = documents.references
    holders = documents.records.authors[row]
    held = holders > 0
    columns = [documents.records.sequence[row[held]], cited.filter(pa.array(held)), holders[held].astype(np.int32)]
    return pa.table(columns, schema=REFERENCE_ROWS)


def _identifiers(authors: AuthorColumns, mention: Integers) -> pa.Table:
    """The identifiers of all authors; of several e-mail addresses the first in alphabetical order.

    An address that several authors of one document have is that of the corresponding author, given with each of them.
    It identifies none of them, and neither does a placeholder such as none@none.
    """
    row, email = _own_emails(authors)
    rows = np.concatenate([authors.ids.row, row])
    kinds = [*map(identifier_kind, authors.ids.kind), *["email"] * len(row)]
    values = [*authors.ids.value, *email]
    columns = [mention[rows], pa.array(kinds, pa.string()), pa.array(values, pa.string())]
    return pa.table(columns, schema=IDENTIFIER_ROWS)


def _own_emails(authors: AuthorColumns) -> tuple[Integers, list[str]]:
    """The authors with an address that no other author of their document has, and the first of each."""
    plain = [plain_email(text) for text in authors.emails.texts]
    texts = sorted(set(plain))
    place = {text: number for number, text in enumerate(texts)}
    code = np.array([place[text] for text in plain], np.int64)[authors.emails.code]
    row, code = np.divmod(np.unique(authors.emails.row * max(1, len(texts)) + code), max(1, len(texts)))
    in_document = authors.document[row] * max(1, len(texts)) + code
    _, same, holders = np.unique(in_document, return_inverse=True, return_counts=True)
    usable = np.array([not is_placeholder(text) for text in texts], np.bool_)
    own = (holders[same] == 1) & usable[code]
    row, first = np.unique(row[own], return_index=True)
    return row, [texts[number] for number in code[own][first].tolist()]
