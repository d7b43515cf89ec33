"""Keys of names: which pairs of names are brought together."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from homonym.suggestions import name_index
from homonym.suggestions.name_index import read_name_index


def _keys(names: list[str]) -> list[set[int]]:
    """The keys of each name; all are of different blocks."""
    people = pa.table({"author": range(len(names)), "name": names, "block": range(len(names))})
    with duckdb.connect() as connection:
        connection.register("given", people)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
        index, _ = read_name_index(connection, len(names))
    return [{*index.key[index.start[at] : index.start[at + 1]].tolist()} for at in range(len(names))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wang, Wei", "Wei, Wang"),
        ("Li, Na", "Na Li"),
        ("Doe, Jane W.", "Jane Roe"),
        ("Chebyshev, P.", "Chebyshov, Pafnuty"),
        ("P. Chebyshev", "Pafnuty Chebyshov"),
        ("Garcia Marquez, Gabriel", "Garcia, G."),
        ("Smith, Bill", "Smith, William"),
        ("Łukasiewicz, Jan", "Lukasiewicz-Nowak, J"),
        ("Müller, Jörg", "Muller, Peter"),
        ("王伟", "Wang, Wei"),
    ],
)
def test_names_that_could_be_variants_share_a_key(one: str, other: str) -> None:
    first, second = _keys([one, other])
    assert first & second


@pytest.mark.parametrize(
    ("one", "other"), [("Doe, Jane", "Roe, John"), ("Chebyshev, Pavel", "Chebyshov, Pafnuty"), ("", "Doe, J"), ("", "")]
)
def test_other_names_share_none(one: str, other: str) -> None:
    first, second = _keys([one, other])
    assert not first & second


@pytest.fixture
def few_are_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words of more than three authors are common."""
    monkeypatch.setattr(name_index, "MIN_COMMON", 3)


@pytest.mark.usefixtures("few_are_common")
def test_common_words_are_no_keys() -> None:
    found = _keys(["Wang, Wei", "Wang, Fang", "Wang, Hong", "Wang, Ming", "Smith, Hong"])
    assert [len(keys) for keys in found] == [0, 0, 1, 0, 1]


def test_words_are_counted_by_authors() -> None:
    people = pa.table({"author": range(3), "name": ["Doe, Jane", "Doe, Jane", "Roe, Jäne"], "block": [1, 1, 2]})
    with duckdb.connect() as connection:
        connection.register("given", people)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
        _, counts = read_name_index(connection, 3)
    assert counts == {"DOE": 2, "ROE": 1, "JANE": 3}
