"""Estimates how many other people have the same full name, in SQL that DuckDB and Spark both understand.

Surnames and given names are assumed to be independent. Of M distinct full names, S have the surname and G the given
name, this one included, so E = (S − 1)·(G − 1)/M others are expected to be written like this one. Distinct names are
counted, not mentions, so that people with many documents count once. In small collections, S, G and M include the
names of the background (see background.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from homonym.collection.background import BackgroundUse, background
from homonym.collection.duplicates import Database

# The kinds of rows of `name_counts`.
SURNAME, GIVEN, ALL = "surname", "given", "all"


class NameDatabase(Database, Protocol):
    """A database that also takes rows."""

    def load(self, table: str, rows: pa.Table) -> None:
        """Make or replace a table by the given rows."""


def count_namesakes(database: NameDatabase, full_names: str, use: BackgroundUse | None = None) -> None:
    """Make the table `namesakes`: E of each full name. `full_names` is a query for the full names of all mentions.

    E is a quotient of two integers, so that it is the same double on every engine. The table `name_counts` has S, G and
    M, in the columns of schema.NAME_COUNTS.
    """
    p, others = database.prefix, 0
    if use:
        known, others = background().full_names(use)
        database.load("background_names", known)
    database.save(
        "full_names",
        f"""SELECT full_name, split_part(full_name, '|', 1) AS surname, split_part(full_name, '|', 2) AS given
            FROM (SELECT DISTINCT full_name FROM ({full_names}) every WHERE full_name IS NOT NULL) once""",
    )
    database.save(
        "name_counts",
        f"""SELECT '{SURNAME}' AS kind, surname AS name, names FROM ({_names_by("surname", p, use)}) s
            UNION ALL SELECT '{GIVEN}' AS kind, given AS name, names FROM ({_names_by("given", p, use)}) g
            UNION ALL SELECT '{ALL}' AS kind, '' AS name, count(*) + {others} AS names FROM {p}full_names""",
    )
    database.save(
        "namesakes",
        f"""SELECT n.full_name, CAST((s.names - 1) * (g.names - 1) AS DOUBLE) / CAST(m.names AS DOUBLE) AS namesakes
            FROM {p}full_names n
            JOIN {p}name_counts s ON s.kind = '{SURNAME}' AND s.name = n.surname
            JOIN {p}name_counts g ON g.kind = '{GIVEN}' AND g.name = n.given
            JOIN {p}name_counts m ON m.kind = '{ALL}'""",
    )


def ordered_name_counts(prefix: str) -> str:
    """The query for the rows of `name_counts` in the order of the table of a result directory."""
    return f"SELECT kind, name, CAST(names AS BIGINT) AS names FROM {prefix}name_counts ORDER BY kind, name"


def namesakes_of(full_name: str, counts: Mapping[tuple[str, str], int]) -> float:
    """E of one full name, as in the table `namesakes`; `counts` has the rows of `name_counts` by kind and name.

    >>> namesakes_of("DOE|JANE", {("surname", "DOE"): 3, ("given", "JANE"): 6, ("all", ""): 20})
    0.5

    A surname or given name that was not counted, because it came with an update, is that of this full name alone. No
    full name was counted if all names had initials only.

    >>> namesakes_of("DOE|JANE", {("all", ""): 0})
    0.0
    """
    surname, given = full_name.split("|")[:2]
    others = (counts.get((SURNAME, surname), 1) - 1) * (counts.get((GIVEN, given), 1) - 1)
    return float(others) / float(counts[ALL, ""] or 1)


def _names_by(part: str, prefix: str, use: BackgroundUse | None) -> str:
    """The query for how many full names have each surname, or each given name."""
    own = f"SELECT {part}, count(*) AS names FROM {prefix}full_names GROUP BY {part}"
    if not use:
        return own
    known = f"SELECT name, names FROM {prefix}background_names WHERE kind = '{part}'"
    return f"""SELECT o.{part}, o.names + coalesce(b.names, 0) AS names FROM ({own}) o
               LEFT JOIN ({known}) b ON b.name = o.{part}"""
