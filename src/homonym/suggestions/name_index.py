"""Keys of names, for an inverted index: names that could be variants of each other usually share a key.

SQL makes the keys from the written names. Names in Latin letters are not parsed, because most authors never get a
partner. The keys are the words of a name. If all its words have one or two letters, the key is all words together. If
the given name of one of two authors is abbreviated, their surnames may differ by one letter. Then the first or the last
half of the surnames is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from homonym.clustering.arrays import Integers, starts
from homonym.names.parse import parse_name

if TYPE_CHECKING:
    import duckdb

# Minimum number of letters of a word that is a key, and of a surname with a wrong letter.
SHORTEST_WORD, SHORTEST_SURNAME = 3, 6
# A word that more authors have, as a number and as a share of all authors, is not a key: Wang, Zhang. Variants of such
# names mostly share another word, and only a twentieth of the pairs that share nothing else could be variants.
MIN_COMMON, COMMON_SHARE = 1000, 0.005


class KeyIndex(NamedTuple):
    """The keys of names: those of author a from `start[a]` to `start[a + 1]`."""

    start: Integers
    key: Integers


def read_name_index(connection: duckdb.DuckDBPyConnection, authors: int) -> tuple[KeyIndex, dict[str, int]]:
    """The keys of all authors, and how many authors have each word, from the table `people`."""
    index_names(connection)
    rows = connection.sql("SELECT author, key FROM name_keys ORDER BY author").to_arrow_table()
    words = connection.sql("SELECT word, people FROM name_words").to_arrow_table()
    index = KeyIndex(starts(np.bincount(rows["author"].to_numpy(), minlength=authors)), rows["key"].to_numpy())
    return index, dict(zip(words["word"].to_pylist(), words["people"].to_pylist(), strict=True))


def index_names(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `name_words` (word, people) and `name_keys` (author, key) from `people` (author, name, block).

    Only keys that authors of several blocks have are kept, without the most common words.
    """
    _spell_in_ascii(connection)
    connection.execute(
        f"""CREATE TABLE word_lists AS
            SELECT number, people, plain, string_split(trim(regexp_replace(plain, '[^A-Z]+', ' ', 'g')), ' ') AS words
            FROM plain_names;
            CREATE TABLE written_words AS SELECT number, people, unnest(words) AS word FROM word_lists;
            CREATE TABLE key_texts AS
            SELECT number, word AS key FROM written_words WHERE length(word) >= {SHORTEST_WORD}
            UNION ALL
            SELECT number, array_to_string(list_sort(words), ' ') FROM word_lists
            WHERE len(list_filter(words, lambda word: length(word) >= {SHORTEST_WORD})) = 0;
            CREATE TABLE name_words AS SELECT word, sum(people)::BIGINT AS people FROM written_words GROUP BY word"""
    )
    _add_halves(connection)
    connection.execute(
        f"""CREATE TABLE all_keys AS
           SELECT p.author, p.block, k.key FROM people p JOIN distinct_names n ON n.name = p.name
           JOIN key_texts k ON k.number = n.number;
           CREATE TABLE name_keys AS
           SELECT a.author, s.number AS key FROM all_keys a
           JOIN (SELECT key, row_number() OVER () - 1 AS number FROM all_keys
                 GROUP BY key HAVING min(block) < max(block) AND count(*) <= greatest({MIN_COMMON}, (
                     SELECT count(*) FROM people) * {COMMON_SHARE})) s ON s.key = a.key"""
    )


def _spell_in_ascii(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `distinct_names` (number, people, name) and `plain_names` (number, people, plain), in ASCII."""
    connection.execute(
        """CREATE TABLE distinct_names AS
           SELECT min(author) AS number, count(*) AS people, name FROM people WHERE name <> '' GROUP BY name;
           CREATE TABLE plain_names AS SELECT number, people, upper(strip_accents(name)) AS plain FROM distinct_names"""
    )
    query = "SELECT number, plain FROM plain_names WHERE strlen(plain) <> length(plain)"
    rows = connection.sql(query).to_arrow_table()
    parsed = [parse_name(text) for text in rows["plain"].to_pylist()]
    ascii_text = pa.array([f"{name.surname}, {' '.join(name.given)}" for name in parsed], pa.string())
    connection.register("spelled", pa.table({"number": rows["number"], "plain": ascii_text}))
    connection.execute("UPDATE plain_names SET plain = s.plain FROM spelled s WHERE s.number = plain_names.number")
    connection.unregister("spelled")


def _add_halves(connection: duckdb.DuckDBPyConnection) -> None:
    """Add keys for names with an abbreviated given name: the first initial and half of the surname."""
    size = "(length(surname) + more) // 2"
    connection.execute(
        f"""CREATE TABLE surnames AS
            SELECT number, array_to_string(surname, '') AS surname, given[1][1] AS initial,
                   len(list_filter(given, lambda word: length(word) > 1)) = 0 AS is_short
            FROM (SELECT number, list_slice(words, first, last) AS surname,
                         CASE WHEN first = 1 THEN list_slice(words, last + 1, len(words))
                              ELSE list_slice(words, 1, first - 1) END AS given
                  FROM (SELECT number, words, CASE WHEN comma THEN 1 ELSE len(words) END AS first,
                               CASE WHEN comma THEN before ELSE len(words) END AS last
                        FROM (SELECT number, words, contains(plain, ',') AS comma,
                                     len(regexp_extract_all(split_part(plain, ',', 1), '[A-Z]+')) AS before
                              FROM word_lists)))
            WHERE len(given) > 0;
            CREATE TABLE halves AS
            SELECT DISTINCT number, is_short,
                   unnest([initial || ' ' || left(surname, {size}) || '-', initial || ' -' || right(surname, {size})])
                       AS key
            FROM surnames, (VALUES (0), (1)) t(more)
            WHERE length(surname) >= {SHORTEST_SURNAME} AND EXISTS (SELECT 1 FROM surnames WHERE is_short);
            INSERT INTO key_texts SELECT number, key FROM halves
            WHERE key IN (SELECT key FROM halves WHERE is_short)"""
    )
