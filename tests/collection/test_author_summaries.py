"""The table of authors against a literal computation, and the rule for the display name."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.collection import author_summaries
from homonym.collection.author_summaries import NAMED_FACTS, completeness, load_facts, write_author_summaries
from homonym.names.parse import encode_name, parse_name
from homonym.schema import AUTHOR_SUMMARIES, DOCUMENTS
from tests.support.profiles import examples

NAMES = ["Doe, J.", "Doe, Jane", "DOE, JANE", "Doe, Jane W.", "Doe, Jo Ann", "Döe, Jane", "Doe", None]
PLACES = ["MIT", "Ünï", "a"]

MENTIONS = st.lists(
    st.fixed_dictionaries(
        {
            "author_id": st.sampled_from(["A/1", "A B/1", "B/2", "B/1"]),
            "document_id": st.sampled_from(["d1", "d2", "d3", None]),
            "name": st.sampled_from(NAMES),
            "year": st.sampled_from([None, 1999, 2001]),
            "affiliations": st.lists(st.sampled_from(PLACES), max_size=2),
            "ids": st.lists(st.sampled_from([("orcid", "1"), ("email", "a"), ("email", "b")]), max_size=2, unique=True),
        }
    ),
    min_size=1,
    max_size=12,
)


def completeness_of(name: str | None) -> int:
    encoded = encode_name(parse_name(name)) if name else None
    return completeness(pa.array([encoded], pa.string()))[0].as_py() or 0


def initials_of(name: str | None) -> str:
    return "".join(word[0] for word in parse_name(name).given[:2]) if name else ""


def is_usual(name: str, forms: Counter[str]) -> bool:
    """Whether most mentions have initials that begin with those of a name, or the reverse."""
    own = initials_of(name)
    agreeing = sum(n for other, n in forms.items() if own.startswith(i := initials_of(other)) or i.startswith(own))
    return 2 * agreeing > forms.total()


def by_count(values: list[Any], most: int | None = None) -> list[tuple[Any, int]]:
    return sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))[:most]


def literal(mentions: list[dict[str, Any]], most: int, largest: int) -> list[dict[str, Any]]:
    """The rows by the definition in schema.py."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for mention in mentions:
        groups.setdefault(mention["author_id"], []).append(mention)
    display = {}
    for author, group in groups.items():
        forms = Counter(mention["name"] for mention in group if mention["name"])
        display[author] = max(
            forms, key=lambda name: (is_usual(name, forms), completeness_of(name), forms[name], name), default=None
        )
    members: dict[str, set[str]] = {}
    for mention in mentions:
        members.setdefault(mention["document_id"], set()).add(mention["author_id"])
    rows = []
    for author, group in sorted(groups.items()):
        years = [mention["year"] for mention in group if mention["year"]]
        documents = {mention["document_id"] for mention in group} - {None}
        others = [o for d in documents if len(members[d]) <= largest for o in members[d] if o != author]
        places = [place for mention in group for place in set(mention["affiliations"]) if mention["document_id"]]
        rows.append({
            "author_id": author,
            "name": display[author],
            "variants": [{"name": n, "count": c} for n, c in by_count([m["name"] for m in group if m["name"]])],
            "mentions": len(group),
            "documents": len(documents),
            "first_year": min(years, default=None),
            "last_year": max(years, default=None),
            "affiliations": [{"affiliation": p, "count": c} for p, c in by_count(places, most)],
            "coauthors": [{"author_id": o, "name": display[o], "count": c} for o, c in by_count(others, most)],
            "ids": [{"kind": k, "id": i, "count": c} for (k, i), c in by_count([i for m in group for i in m["ids"]])],
            "confidence": 0.5,
        })  # fmt: skip
    return rows


def author_ids(facts: list[dict[str, Any]]) -> pa.Array:
    return pa.array(sorted({fact["author_id"] for fact in facts}))


def fact_table(facts: list[dict[str, Any]]) -> pa.Table:
    order = author_ids(facts).to_pylist()
    return pa.Table.from_pylist([{**fact, "author": order.index(fact["author_id"])} for fact in facts], NAMED_FACTS)


def id_table(rows: list[tuple[int, str, str]]) -> pa.Table:
    schema = pa.schema([("place", pa.int64()), ("kind", pa.string()), ("id", pa.string())])
    return pa.table(list(zip(*rows, strict=True)), schema=schema) if rows else schema.empty_table()


@given(MENTIONS)
@settings(max_examples=examples(60))
def test_summaries_follow_their_definition(tmp_path_factory: Any, mentions: list[dict[str, Any]]) -> None:
    folder: Path = tmp_path_factory.mktemp("summaries")
    facts = [
        {**mention, "place": place, "position": place, "completeness": completeness_of(mention["name"]),
         "initials": initials_of(mention["name"]), "author_confidence": 0.5}
        for place, mention in enumerate(mentions)
    ]  # fmt: skip
    ids = id_table([(place, *one) for place, mention in enumerate(mentions) for one in mention["ids"]])
    documents: dict[str, list[Any]] = {}
    for fact in facts:
        entry = {name: fact[name] for name in ("position", "name", "affiliations")}
        documents.setdefault(fact["document_id"] or "none", []).append(entry)
    rows = [{"document_id": name, "authors": authors, "record": ""} for name, authors in documents.items()]
    pq.write_table(pa.Table.from_pylist(rows, DOCUMENTS), folder / "documents.parquet")
    with (
        mock.patch.multiple(author_summaries, MOST=2, MAX_COAUTHORS=3, AUTHORS_AT_ONCE=2),
        duckdb.connect() as connection,
    ):
        load_facts(connection, [fact_table(facts)], ids, folder / "documents.parquet")
        write_author_summaries(connection, author_ids(facts), folder / "authors.parquet")
    table = pq.read_table(folder / "authors.parquet")
    assert table.schema.equals(AUTHOR_SUMMARIES)
    assert table.to_pylist() == literal(mentions, 2, 3)


def test_hundreds_of_authors_on_a_document_are_no_coauthors(tmp_path: Path) -> None:
    facts = [
        {"place": place, "author_id": f"A/{place:03d}", "document_id": "d", "position": place, "name": "Doe, J"}
        for place in range(101)
    ]
    facts += [{**fact, "place": 200 + n, "document_id": "e"} for n, fact in enumerate(facts[:100])]
    with duckdb.connect() as connection:
        load_facts(connection, [fact_table(facts)], id_table([]), None)
        write_author_summaries(connection, author_ids(facts), tmp_path / "authors.parquet")
    rows = pq.read_table(tmp_path / "authors.parquet").to_pylist()
    assert [len(row["coauthors"]) for row in rows] == [10] * 100 + [0]
    assert {one["count"] for row in rows for one in row["coauthors"]} == {1}
