"""Finds the records that are copies of one document, in SQL that DuckDB and Spark both understand.

1. Records with a common identifier, or with the same content, are one document; so are records that are connected by
   others. The id of a record is an identifier among the records of its format. An identifier on records that are
   obviously different documents, such as the DOI of a book on its chapters, connects nothing: see `_find_ambiguous`.
2. Records with such an identifier, the same title and the same first author are one document.
3. Records with the same id, title, year and first author are one document.
4. Records with the same title, year and authors are one document (see identity.py).

Steps 2 to 4 never join documents that have different identifiers of one kind, such as two DOIs. If the documents that
a step would join have some, none of them is joined: it is not known to which of them the others belong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

# Formats whose ids users choose, often as numbers from 1 on in each file.
NUMBERED_BY_USERS = ("table",)

# Maximum number of titles, such as translations, of one document. An identifier with more is a placeholder.
MAX_TITLES = 3


class Database(Protocol):
    """Where the queries run."""

    @property
    def prefix(self) -> str:
        """The beginning of the names of all tables."""

    @property
    def sha256(self) -> str:
        """The SQL for the SHA-256 digest of `{}` in hexadecimal digits."""

    def define(self, table: str, query: str) -> None:
        """Make or replace a view, which is computed when it is used."""

    def save(self, table: str, query: str) -> None:
        """Make or replace a table by the result of a query."""

    def number(self, query: str) -> int:
        """The result of a query with one integer."""


@dataclass(frozen=True)
class Duplicate:
    """A copy of a document: its place, the place of the first copy, and what both have in common."""

    sequence: int
    line: int
    first_sequence: int
    first_line: int
    key: str


def find_copies(database: Database, next_sequence: int) -> int:
    """Make the table `duplicates`: the copies of all documents that have several.

    Returns the number of groups of documents that have the same title, year and authors, but were not joined.

    `first` is the sequence of the first copy, and `key` is what the record has in common with another. The merged
    document will have the sequence `merged`, from `next_sequence` on. Needs the tables `records`, `keys`, `documents`.
    """
    p = database.prefix
    database.define(
        "document_keys",
        f"""SELECT sequence, 'id@' || form AS kind, 'id@' || form || ':' || id AS key FROM {p}records WHERE id_is_key
            UNION ALL SELECT sequence, split_part(key, ':', 1) AS kind, key FROM {p}keys""",
    )
    _find_ambiguous(database)
    equal_ids = f"SELECT id FROM {p}records WHERE NOT id_is_key GROUP BY id HAVING count(*) > 1"
    database.define(
        "contents",
        f"""SELECT r.sequence, 'same:' || {database.sha256.format("d.text")} AS key
            FROM {p}records r JOIN {p}documents d ON d.sequence = r.sequence
            WHERE NOT id_is_key AND id IN ({equal_ids})""",
    )
    _connect(
        database,
        f"""SELECT sequence AS node, key FROM {p}document_keys k
            WHERE k.key IN (SELECT key FROM {p}shared)
              AND NOT EXISTS (SELECT 1 FROM {p}ambiguous a WHERE a.key = k.key)
            UNION ALL SELECT sequence AS node, key FROM {p}contents""",
    )
    database.save(
        "labels", f"SELECT node AS sequence, min(first) AS first, min(key) AS key FROM {p}linked GROUP BY node"
    )
    _join(
        database,
        f"""SELECT r.sequence, 'part:' || k.key || ' ' || CAST(r.title AS STRING) || ' ' || r.first_author AS key
            FROM {p}ambiguous a JOIN {p}document_keys k ON k.key = a.key JOIN {p}records r ON r.sequence = k.sequence
            WHERE r.title IS NOT NULL AND r.first_author IS NOT NULL""",
    )
    repeated_ids = f"SELECT id FROM {p}records GROUP BY id HAVING count(*) > 1"
    # Ids that are made from the content begin with "h:" and are no user's choice.
    _join(
        database,
        f"""SELECT r.sequence, 'name:' || r.id || ' ' || CAST(r.title AS STRING) || ' ' ||
                   coalesce(CAST(r.year AS STRING), '') || ' ' || coalesce(r.first_author, '') AS key FROM {p}records r
            WHERE r.title IS NOT NULL AND r.id NOT LIKE 'h:%' AND r.id IN ({repeated_ids})""",
    )
    undecided = _join(
        database,
        f"SELECT sequence, 'title:' || CAST(work AS STRING) AS key FROM {p}records WHERE work IS NOT NULL",
    )
    database.save(
        "duplicates",
        f"SELECT sequence, first, first + {next_sequence} AS merged, key FROM {p}labels",
    )
    return undecided


def _find_ambiguous(database: Database) -> None:
    """Make the table `ambiguous`: identifiers that are on different documents.

    Their records have several titles, and also several first authors, or several identifiers of another kind, or more
    titles than one document has. For ids that users choose, several titles are enough.
    """
    p = database.prefix
    database.save("shared", f"SELECT key FROM {p}document_keys GROUP BY key HAVING count(DISTINCT sequence) > 1")
    database.define(
        "sharing",
        f"""SELECT k.key, k.kind, k.sequence, r.title, r.first_author FROM {p}document_keys k
            JOIN {p}shared s ON s.key = k.key JOIN {p}records r ON r.sequence = k.sequence""",
    )
    numbered = ", ".join(f"'id@{form}'" for form in NUMBERED_BY_USERS)
    database.save(
        "ambiguous",
        f"""SELECT key FROM {p}sharing GROUP BY key, kind HAVING count(DISTINCT title) > 1
              AND (count(DISTINCT first_author) > 1 OR count(DISTINCT title) > {MAX_TITLES} OR kind IN ({numbered}))
            UNION
            SELECT s.key FROM {p}sharing s JOIN {p}document_keys o ON o.sequence = s.sequence
            GROUP BY s.key, o.kind HAVING count(DISTINCT o.key) > 1 AND count(DISTINCT s.title) > 1""",
    )


def _connect(database: Database, known_by: str) -> None:
    """Make the table `linked`: the nodes that share a key, each with its keys and the first node of its component.

    In each round, all nodes with one `first` take the lowest that any of them finds by its keys, then the `first` of
    that node. So the number of rounds grows with the logarithm of the longest chain.
    """
    p = database.prefix
    database.save("known_by", f"SELECT DISTINCT node, key FROM ({known_by}) nodes")
    database.save(
        "linked",
        f"""SELECT node, key, node AS first, true AS moved FROM {p}known_by
            WHERE key IN (SELECT key FROM {p}known_by GROUP BY key HAVING count(*) > 1)""",
    )
    while database.number(f"SELECT count(*) FROM {p}linked WHERE moved"):
        database.define(
            "stepped",
            f"""SELECT node, key, first, min(lower_first) OVER (PARTITION BY first) AS lowest FROM
                  (SELECT node, key, first, min(first) OVER (PARTITION BY key) AS lower_first FROM {p}linked) by_key""",
        )
        database.save(
            "linked",
            f"""SELECT s.node, s.key, f.lowest AS first, f.lowest < s.first AS moved FROM {p}stepped s
                JOIN (SELECT node, min(lowest) AS lowest FROM {p}stepped GROUP BY node) f ON f.node = s.lowest""",
        )


def _join(database: Database, weak: str) -> int:
    """Join the documents found so far that share a key and have no different identifiers of one kind.

    `weak` is a query for the keys of records. Returns the number of groups that were not joined.
    """
    p = database.prefix
    database.define("weak", weak)
    database.save(
        "candidates",
        f"""SELECT w.sequence, w.key FROM {p}weak w
            WHERE w.key IN (SELECT key FROM {p}weak GROUP BY key HAVING count(*) > 1)""",
    )
    if not database.number(f"SELECT count(*) FROM {p}candidates"):
        return 0
    _connect(
        database,
        f"""SELECT coalesce(l.first, c.sequence) AS node, c.key FROM {p}candidates c
            LEFT JOIN {p}labels l ON l.sequence = c.sequence""",
    )
    database.define("joined", f"SELECT node, min(first) AS first, min(key) AS key FROM {p}linked GROUP BY node")
    _find_conflicts(database)
    database.define(
        "accepted",
        f"""SELECT * FROM {p}joined j WHERE NOT EXISTS (SELECT 1 FROM {p}conflicts c WHERE c.first = j.first)""",
    )
    database.save(
        "labels",
        f"""SELECT l.sequence, coalesce(a.first, l.first) AS first,
                   CASE WHEN l.sequence = l.first AND a.first IS NOT NULL THEN a.key ELSE l.key END AS key
            FROM {p}labels l LEFT JOIN {p}accepted a ON a.node = l.first
            UNION ALL SELECT node AS sequence, first, key FROM {p}accepted n
            WHERE NOT EXISTS (SELECT 1 FROM {p}labels l WHERE l.sequence = n.node)""",
    )
    return database.number(f"SELECT count(*) FROM {p}conflicts")


def _find_conflicts(database: Database) -> None:
    """Make the table `conflicts`: components of `joined` with different identifiers of one kind."""
    p = database.prefix
    database.define(
        "held",
        f"""SELECT DISTINCT j.first, j.node, i.kind, i.key FROM {p}joined j
            LEFT JOIN {p}labels l ON l.first = j.node
            JOIN {p}document_keys i ON i.sequence = coalesce(l.sequence, j.node)""",
    )
    # No conflict if all documents that have an identifier of a kind have one in common.
    database.save(
        "conflicts",
        f"""SELECT DISTINCT h.first FROM
              (SELECT first, kind, count(DISTINCT node) AS holders FROM {p}held GROUP BY first, kind) h
            JOIN (SELECT first, kind, max(holders) AS most FROM
                    (SELECT first, kind, key, count(DISTINCT node) AS holders FROM {p}held
                     GROUP BY first, kind, key) by_key GROUP BY first, kind) m
            ON m.first = h.first AND m.kind = h.kind WHERE m.most < h.holders""",
    )


def repeated_mentions(prefix: str) -> str:
    """The query for `duplicates` of a run over mentions: those whose id an earlier one has. They are not merged."""
    return f"""SELECT sequence, first, CAST(NULL AS BIGINT) AS merged, 'id:' || id AS key FROM
                 (SELECT sequence, id, min(sequence) OVER (PARTITION BY id) AS first FROM {prefix}records
                  WHERE id IN (SELECT id FROM {prefix}records GROUP BY id HAVING count(*) > 1)) several
               WHERE sequence > first"""


def first_duplicates(prefix: str, shown: int) -> str:
    """The query for the first duplicates, in the columns of `Duplicate`."""
    return f"""SELECT d.sequence, r.line, d.first, f.line AS first_line, d.key FROM {prefix}duplicates d
               JOIN {prefix}records r ON r.sequence = d.sequence JOIN {prefix}records f ON f.sequence = d.first
               WHERE d.sequence > d.first ORDER BY d.sequence LIMIT {shown}"""


def copies(prefix: str) -> str:
    """The query for all copies of documents; `merged` is the sequence of the merged document."""
    return f"""SELECT d.merged, d.sequence, r.line, r.form, r.id_is_key, t.text FROM {prefix}duplicates d
               JOIN {prefix}records r ON r.sequence = d.sequence JOIN {prefix}documents t ON t.sequence = d.sequence"""


def renaming(database: Database) -> str:
    """The query for documents that share an id: their sequences and their new ids, which end with a digest.

    The digest is over the whole content, so the id of a document does not depend on the other documents with its id.
    """
    p = database.prefix
    unique = f"NOT EXISTS (SELECT 1 FROM {p}duplicates d WHERE d.sequence = r.sequence)"
    shared = f"SELECT r.id FROM {p}records r WHERE {unique} GROUP BY r.id HAVING count(*) > 1"
    return f"""SELECT sequence, id || '~' ||
                      CASE WHEN count(*) OVER (PARTITION BY id, substr(digest, 1, 8)) > 1 THEN digest
                           ELSE substr(digest, 1, 8) END AS id
               FROM (SELECT r.sequence, r.id, {database.sha256.format("t.text")} AS digest
                     FROM {p}records r JOIN {p}documents t ON t.sequence = r.sequence
                     WHERE {unique} AND r.id IN ({shared})) named"""


def renamed_documents(prefix: str) -> str:
    """The query for the number of documents in the table `renamed`, and for one of the new ids."""
    return f"SELECT count(*) AS number, coalesce(min(id), '') AS new_id FROM {prefix}renamed"
