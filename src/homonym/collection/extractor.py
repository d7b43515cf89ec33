"""Columns of documents to the tables of a part: one extractor for every format.

The feature types are defined in features/types.py. This module only turns rows into owners and adds up the bags.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from homonym.collection.bags import Occurrences, bag_tables
from homonym.collection.layout import IDENTIFIER_ROWS, KEY_ROWS, MENTION_ROWS, RECORD_ROWS, REFERENCE_ROWS, SLOT_BITS
from homonym.features.columns import AuthorColumns, DocumentColumns, RecordColumns
from homonym.features.text import Integers
from homonym.features.types import FEATURE_TYPES, FeatureCounts
from homonym.records.fields.people import folded
from homonym.settings import Settings


def extract_tables(documents: DocumentColumns, part: int, settings: Settings) -> dict[str, pa.Table]:
    """All tables of a part, whose number is the sequence of its first record."""
    records, authors = documents.records, documents.authors
    document_owner = records.sequence << SLOT_BITS
    mention = document_owner[authors.document] + 1 + authors.position
    rows = {"document": (document_owner, records.authors), "author": (mention, np.ones(len(mention), np.int64))}
    types = {
        name: _occurrences(kind.extract(documents, settings), *rows[kind.level]) for name, kind in FEATURE_TYPES.items()
    }
    features, bags = bag_tables(types, part)
    return {
        **record_tables(records),
        "mentions": _mentions(records, authors, mention),
        "references": _references(documents),
        "identifiers": _identifiers(authors, mention),
        "features": features,
        "bags": bags,
    }


def record_tables(records: RecordColumns) -> dict[str, pa.Table]:
    """The tables by which duplicates are found: records, and the keys that a record has in addition to its id."""
    ids = records.ids
    row = ids.row.tolist()
    keys = [f"{kind}:{value}" for kind, value in zip(ids.kind, ids.value, strict=True)]
    for chosen in np.flatnonzero(~records.id_is_key.to_numpy(zero_copy_only=False)).tolist():
        if records.title[chosen]:
            # An id that a user chose identifies a document only together with the title.
            row.append(chosen)
            keys.append(f"name:{records.id[chosen].as_py()} {folded(records.title[chosen])}")
    columns = [records.sequence, records.line, records.id, records.id_is_key, records.year]
    return {
        "records": pa.table([*columns, records.authors.astype(np.int32)], schema=RECORD_ROWS),
        "keys": pa.table([records.sequence[np.array(row, np.int64)], pa.array(keys, pa.string())], schema=KEY_ROWS),
    }


def _occurrences(counts: FeatureCounts, owner: Integers, holders: Integers) -> Occurrences:
    """The bags of one feature type by owner, without entries that no mention has."""
    names, row, feature, count = counts.names, counts.row, counts.feature, counts.count
    entry_holders = holders[row] if counts.holders is None else counts.holders
    held = entry_holders > 0
    if not held.all():
        row, feature, count, entry_holders = row[held], feature[held], count[held], entry_holders[held]
        used = np.zeros(len(names), bool)
        used[feature] = True
        names, feature = names.filter(pa.array(used)), (np.cumsum(used) - 1)[feature]
    return Occurrences(names, owner[row], feature, count, entry_holders.astype(np.int32))


def _mentions(records: RecordColumns, authors: AuthorColumns, mention: Integers) -> pa.Table:
    document_id = records.id.take(pa.array(authors.document))
    position = pa.array(authors.position, pa.int32())
    mention_id = pc.binary_join_element_wise(document_id, position.cast(pa.string()), "#")
    written, key, encoded, block = authors.names
    columns = [mention, mention_id, document_id, position, written, encoded, key, block, authors.label]
    return pa.table(columns, schema=MENTION_ROWS)


def _references(documents: DocumentColumns) -> pa.Table:
    row, cited = documents.references
    holders = documents.records.authors[row]
    held = holders > 0
    columns = [documents.records.sequence[row[held]], cited.filter(pa.array(held)), holders[held].astype(np.int32)]
    return pa.table(columns, schema=REFERENCE_ROWS)


def _identifiers(authors: AuthorColumns, mention: Integers) -> pa.Table:
    """The identifiers of all authors; of several e-mail addresses the first in alphabetical order."""
    first: dict[int, str] = {}
    emails = authors.emails
    for row, code in zip(emails.row.tolist(), emails.code.tolist(), strict=True):
        text = emails.texts[code]
        first[row] = min(first.get(row, text), text)
    rows = np.concatenate([authors.ids.row, np.array(list(first), np.int64)])
    kinds = [*authors.ids.kind, *["email"] * len(first)]
    values = [*authors.ids.value, *(text.lower() for text in first.values())]
    columns = [mention[rows], pa.array(kinds, pa.string()), pa.array(values, pa.string())]
    return pa.table(columns, schema=IDENTIFIER_ROWS)
