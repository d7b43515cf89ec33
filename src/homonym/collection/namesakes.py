"""Estimates how many other people have the same full name, in SQL that DuckDB and Spark both understand.

Surnames and given names are assumed to be independent. Of M distinct full names, S have the surname and G the given
name, this one included, so E = (S − 1)·(G − 1)/M others are expected to be written like this one. Distinct names are
counted, not mentions, so that people with many documents count once.
"""

from __future__ import annotations

from homonym.collection.duplicates import Database


def count_namesakes(database: Database, full_names: str) -> None:
    """Make the table `namesakes`: E of each full name. `full_names` is a query for the full names of all mentions.

    E is a quotient of two integers, so that it is the same double on every engine.
    """
    p = database.prefix
    database.save(
        "full_names",
        f"""SELECT full_name, split_part(full_name, '|', 1) AS surname, split_part(full_name, '|', 2) AS given
            FROM (SELECT DISTINCT full_name FROM ({full_names}) every WHERE full_name IS NOT NULL) once""",
    )
    database.save(
        "namesakes",
        f"""SELECT n.full_name, CAST((s.names - 1) * (g.names - 1) AS DOUBLE) / CAST(m.names AS DOUBLE) AS namesakes
            FROM {p}full_names n
            JOIN (SELECT surname, count(*) AS names FROM {p}full_names GROUP BY surname) s ON s.surname = n.surname
            JOIN (SELECT given, count(*) AS names FROM {p}full_names GROUP BY given) g ON g.given = n.given
            CROSS JOIN (SELECT count(*) AS names FROM {p}full_names) m""",
    )
