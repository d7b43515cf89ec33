"""What is in a collection: counted with the database over its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from homonym.collection.counting import first_only, kept
from homonym.collection.encoded import Encoded
from homonym.collection.layout import SLOT_BITS

if TYPE_CHECKING:
    import duckdb

#: Mentions whose bags are looked at together.
BATCH_MENTIONS = 100_000


@dataclass(frozen=True)
class Inventory:
    """Counts over the documents of a run, duplicates left out.

    `years` are the first, the middle and the last one; `identifiers` the mentions that carry each kind and how many
    different values there are; `document_ids` the documents that carry each kind; `frequent` the names with most
    mentions, and how many documents these are on.
    """

    records: int
    without_authors: int
    mentions: int
    names: int
    labelled: int
    with_year: int
    years: tuple[int, int, int] | None
    document_ids: dict[str, int]
    identifiers: dict[str, tuple[int, int]]
    frequent: list[tuple[str, int, int]]


def take_inventory(connection: duckdb.DuckDBPyConnection, most_frequent: int) -> Inventory:
    """Count what the parts of a run hold."""
    connection.execute(f"CREATE OR REPLACE VIEW kept_mentions AS SELECT * FROM mentions WHERE {kept('owner')}")
    connection.execute(f"CREATE OR REPLACE VIEW kept_records AS SELECT * FROM records WHERE {first_only('sequence')}")
    records, without_authors, with_year, first, middle, last = _row(
        connection,
        """SELECT count(*), count(*) FILTER (authors = 0), count(year), min(year), quantile_disc(year, 0.5), max(year)
           FROM kept_records""",
    )
    mentions, names, labelled = _row(
        connection, "SELECT count(*), count(DISTINCT block), count(author) FROM kept_mentions"
    )
    return Inventory(
        records=records,
        without_authors=without_authors,
        mentions=mentions,
        names=names,
        labelled=labelled,
        with_year=with_year,
        years=(first, middle, last) if with_year else None,
        document_ids=dict(_document_ids(connection)),
        identifiers={kind: (holders, values) for kind, holders, values in _identifiers(connection)},
        frequent=_frequent(connection, most_frequent),
    )


def share_with_features(encoded: Encoded) -> dict[str, float]:
    """The share of mentions that have each feature type, as `disambiguate` would see them."""
    types, type_start = encoded.frequencies.types, encoded.frequencies.type_start
    mentions = len(encoded.mention_owner)
    having = np.zeros(len(types), np.int64)
    everything = np.ones(len(types), bool)
    for start in range(0, mentions, BATCH_MENTIONS):
        bag_start, feature, _ = encoded.gather_mentions(slice(start, start + BATCH_MENTIONS), everything)
        mention = np.repeat(np.arange(len(bag_start) - 1), np.diff(bag_start))
        kind = np.searchsorted(type_start, feature, side="right") - 1
        having += np.bincount(np.unique(mention * len(types) + kind) % len(types), minlength=len(types))
    return {kind: count / mentions for kind, count in zip(types, having.tolist(), strict=True)}


def _document_ids(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    return connection.execute(
        f"""SELECT split_part(key, ':', 1) AS kind, count(DISTINCT sequence) FROM keys
            WHERE kind <> 'name' AND {first_only("sequence")} GROUP BY kind ORDER BY 2 DESC, 1"""
    ).fetchall()


def _identifiers(connection: duckdb.DuckDBPyConnection) -> list[Any]:
    # Addresses are among them because they link people; they are counted with the features.
    return connection.execute(
        f"""SELECT kind, count(DISTINCT owner), count(DISTINCT id) FROM identifiers
            WHERE kind <> 'email' AND {kept("owner")} GROUP BY kind ORDER BY 2 DESC, 1"""
    ).fetchall()


def _frequent(connection: duckdb.DuckDBPyConnection, most: int) -> list[Any]:
    return connection.execute(
        f"""SELECT block, count(*), count(DISTINCT owner >> {SLOT_BITS}) FROM kept_mentions
            GROUP BY block ORDER BY 2 DESC, 1 LIMIT ?""",
        [most],
    ).fetchall()


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    row = connection.execute(query).fetchone()
    assert row is not None
    return row
