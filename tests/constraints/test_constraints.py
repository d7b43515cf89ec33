"""Must-links and cannot-links: against a literal implementation of the rules, in whole runs, and on bad input."""

from __future__ import annotations

import csv
import gzip
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.clustering.arrays import Frequencies, connected_components, pairs_within_groups
from homonym.collection.encoded import Encoded
from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.generate import generate
from homonym.commands.result import Summary, conflicts_path
from homonym.commands.run import Resources
from homonym.constraints.conflicts import write_conflicts
from homonym.constraints.evidence import UserPairs, read_user_pairs
from homonym.constraints.found_constraints import FoundConstraints, find_constraints
from homonym.errors import InputError, SettingsError
from homonym.names.compatibility import compatible
from homonym.names.parse import encode_name, parse_name
from homonym.records.formats.documents import parse_mention
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus
from tests.support.author_ids import author_id
from tests.support.command import homonym_command
from tests.support.profiles import examples

ONE = Resources(threads=1)
ORCIDS = ("0000-0002-1825-0097", "0000-0002-1694-233X", "0000-0001-5109-3700")
NAMES = ("Doe, J", "Doe, Jane", "Doe, John", "Doe, J. W.", "Doe, Jane H.", None)


@dataclass(frozen=True)
class Row:
    """One mention of a small collection."""

    block: str
    name: str | None = "Doe, J"
    document: str | None = None
    ids: dict[str, str] = field(default_factory=dict)


Statement = tuple[int, int, bool]

rows = st.builds(
    Row,
    block=st.sampled_from(["A", "B"]),
    name=st.sampled_from(NAMES),
    document=st.sampled_from([None, *"abcdefgh"]),
    ids=st.dictionaries(
        st.sampled_from(["orcid", "isni", "researcherid", "scopus"]), st.sampled_from(ORCIDS[:2]), max_size=3
    ),
)
collections = st.lists(rows, min_size=1, max_size=12)
statements = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.booleans()), max_size=4)


def in_order(collection: list[Row]) -> list[Row]:
    return sorted(collection, key=lambda row: (row.block, row.document is not None, row.document or ""))


def pairs_of(statements_made: list[Statement], mentions: int) -> UserPairs:
    chosen = [(a, b, same) for a, b, same in statements_made if a < mentions and b < mentions and a != b]
    return UserPairs(
        tuple(f"m{a}" for a, _, _ in chosen), tuple(f"m{b}" for _, b, _ in chosen), tuple(same for *_, same in chosen)
    )


def encoded_of(collection: list[Row], folder: Path) -> Encoded:
    """Encoded mentions without features; mention i of the collection has the id m<i>."""
    owner = np.arange(len(collection)) * 7 % 1009  # not in order
    columns = {
        "owner": owner,
        "mention_id": [f"m{i}" for i in range(len(collection))],
        "document_id": pa.array([row.document for row in collection], pa.string()),
        "name": pa.array([row.name for row in collection], pa.string()),
        "parsed_name": pa.array([row.name and encode_name(parse_name(row.name)) for row in collection], pa.string()),
        "block": [row.block for row in collection],
    }
    ids = sorted((int(owner[i]), kind, value) for i, row in enumerate(collection) for kind, value in row.ids.items())
    schema = pa.schema([("owner", pa.int64()), ("kind", pa.string()), ("id", pa.string())])
    table = pa.table(list(zip(*ids, strict=True)), schema=schema) if ids else schema.empty_table()
    pq.write_table(pa.table(columns), folder / "mentions.parquet")
    pq.write_table(table, folder / "identifiers.parquet")
    sizes = Counter(row.block for row in collection)
    nothing = np.empty(0, np.int64)
    return Encoded(
        frequencies=Frequencies((), np.zeros(1, np.int64), np.empty(0), np.empty(0), len(collection)),
        mentions_file=folder / "mentions.parquet",
        identifiers_file=folder / "identifiers.parquet",
        block_start=np.cumsum([0, *(sizes[block] for block in sorted(sizes))]),
        mention_owner=owner,
        own_name=np.full(len(collection), -1, np.int32),
        own_full_name=np.full(len(collection), -1, np.int32),
        owners=nothing,
        starts=np.zeros(1, np.int64),
        feature=np.empty(0, np.int32),
        count=np.empty(0),
    )


def constraints_of(collection: list[Row], pairs: UserPairs | None = None, **values: Any) -> FoundConstraints | None:
    with tempfile.TemporaryDirectory() as folder:
        return find_constraints(encoded_of(collection, Path(folder)), Settings(**values), pairs)


class Literal:
    """The rules, applied literally to every pair of mentions."""

    def __init__(self, collection: list[Row], pairs: UserPairs, trusted: tuple[str, ...]) -> None:
        self.collection, self.trusted = collection, trusted
        self.stated = {
            (min(a, b), max(a, b), same)
            for a, b, same in zip((int(a[1:]) for a in pairs.a), (int(b[1:]) for b in pairs.b), pairs.same, strict=True)
            if collection[a].block == collection[b].block
        }
        self.inside = [(i, j) for i, j in combinations(range(len(collection)), 2) if self.together(i, j)]
        self.found: set[tuple[str, frozenset[int]]] = set()
        self.components = {i: frozenset([i]) for i in range(len(collection))}
        for step in ("pair", *sorted(trusted, key=("orcid", "isni", "researcherid").index)):
            self.apply(step)

    def apply(self, step: str) -> None:
        """Join components by one kind of must-links, unless that joins mentions which something above it separates."""
        before = self.components
        joined = self.closed({pair for pair in self.inside if step in self.same(*pair)}, before)
        for component in set(joined.values()):
            new = [pair for pair in combinations(sorted(component), 2) if before[pair[0]] != before[pair[1]]]
            conflicts = set().union(*(self.apart(*pair) for pair in new)) & self.above(step)
            self.found |= {(kind, component) for kind in conflicts}
            if not conflicts:
                self.components = self.components | dict.fromkeys(component, component)

    def above(self, step: str) -> set[str]:
        """The cannot-links that prevent a kind of must-links."""
        ranked = ("orcid", "isni", "researcherid")
        return {"document", "pair", *(ranked[: ranked.index(step)] if step != "pair" else ())}

    def together(self, i: int, j: int) -> bool:
        return self.collection[i].block == self.collection[j].block

    def same(self, i: int, j: int) -> set[str]:
        x, y = self.collection[i], self.collection[j]
        kinds = {kind for kind in self.trusted if kind in x.ids and x.ids[kind] == y.ids.get(kind)}
        return kinds | ({"pair"} if (i, j, True) in self.stated else set())

    def apart(self, i: int, j: int) -> set[str]:
        x, y = self.collection[i], self.collection[j]
        kinds = {kind for kind in self.trusted if kind in x.ids and kind in y.ids and x.ids[kind] != y.ids[kind]}
        kinds |= {"document"} if x.document is not None and x.document == y.document else set()
        kinds |= {"pair"} if (i, j, False) in self.stated else set()
        clash = x.name and y.name and not compatible(parse_name(x.name), parse_name(y.name))
        return kinds | ({"name"} if clash else set())

    def separates(self, i: int, j: int) -> set[str]:
        """The same, without the names of outliers."""
        return self.apart(i, j) - ({"name"} if self.is_outlier(i) or self.is_outlier(j) else set())

    def is_outlier(self, i: int) -> bool:
        """Whether a name contradicts most of the others that it is linked with, of at least two."""
        others = self.group(i) - {i}
        clashing = [j for j in others if "name" in self.apart(min(i, j), max(i, j))]
        return len(others) > 1 and 2 * len(clashing) > len(others)

    def closed(self, links: set[tuple[int, int]], before: dict[int, frozenset[int]]) -> dict[int, frozenset[int]]:
        components = dict(before)
        for i, j in links:
            merged = components[i] | components[j]
            components |= dict.fromkeys(merged, merged)
        return components

    def group(self, i: int) -> frozenset[int]:
        return self.components[i]

    def conflicts(self) -> set[tuple[str, frozenset[int]]]:
        """Conflicts that drop must-links, and identifiers and names that must-links outrank."""
        found = set(self.found)
        for component in set(self.components.values()):
            kinds = set().union(*(self.apart(*pair) for pair in combinations(sorted(component), 2)))
            found |= {(kind, component) for kind in kinds}
        return found

    def kept_apart(self) -> list[tuple[int, int, set[str]]]:
        """Separated pairs; a name does not separate must-linked mentions."""
        return [(i, j, self.separates(i, j)) for i, j in self.inside if self.group(i) != self.group(j)]

    def column(self, i: int) -> str | None:
        same, apart = set(), set()
        for a, b in self.inside:
            if i in (a, b):
                same |= self.same(a, b) if self.group(a) == self.group(b) else set()
                apart |= self.separates(a, b) if self.group(a) != self.group(b) else set()
        order = (*self.trusted, "pair"), (*self.trusted, "document", "name", "pair")
        words = [f"same:{kind}" for kind in order[0] if kind in same]
        return ";".join(words + [f"not:{kind}" for kind in order[1] if kind in apart]) or None


ONE_ORCID = [Row("A", document=one, ids={"orcid": ORCIDS[0], "isni": ORCIDS[i]}) for i, one in enumerate("ab")]
OTHER_ISNI = [Row("A", document=one, ids={"isni": one}) for one in "cde"]


TWO_ORCIDS = [Row("A", document=one, ids={"orcid": ORCIDS[i]}) for i, one in enumerate("ab")]
ONE_ISNI = [Row("A", document=one, ids={"isni": ORCIDS[2]} | ids) for one, ids in (("c", TWO_ORCIDS[0].ids), ("d", {}))]


@example(ONE_ORCID + OTHER_ISNI, [])
@example(TWO_ORCIDS + ONE_ISNI, [(0, 1, True), (1, 2, True)])
@example([*TWO_ORCIDS, ONE_ISNI[1], ONE_ISNI[1]], [(0, 1, True), (1, 2, True)])
@example([*ONE_ORCID, *OTHER_ISNI, *OTHER_ISNI], [(2, 6, True), (0, 3, False)])
@given(collections, statements)
@hypothesis_settings(max_examples=examples(200))
def test_constraints_follow_the_literal_rules(collection: list[Row], statements_made: list[Statement]) -> None:
    collection = in_order(collection)
    pairs = pairs_of(statements_made, len(collection))
    constraints = constraints_of(collection, pairs)
    assert constraints is not None
    literal = Literal(collection, pairs, ("orcid", "researcherid", "isni"))
    assert constraints.column.to_pylist() == [literal.column(i) for i in range(len(collection))]
    listed = {(c.kind, frozenset(int(m[1:]) for m in c.mentions)) for c in constraints.conflicts}
    assert listed == literal.conflicts()
    apart = Counter(kind for *_, kinds in literal.kept_apart() for kind in kinds)
    assert Counter(constraints.counts.apart) == apart
    assert constraints.counts.linked == sum("same:" in (word or "") for word in constraints.column.to_pylist())


@given(collections, statements)
@hypothesis_settings(max_examples=examples(200))
def test_groups_and_profiles_follow_the_literal_rules(collection: list[Row], statements_made: list[Statement]) -> None:
    """Must-link groups and cannot-links, for all blocks at once and for each block alone."""
    collection = in_order(collection)
    pairs = pairs_of(statements_made, len(collection))
    constraints = constraints_of(collection, pairs)
    assert constraints is not None
    literal = Literal(collection, pairs, ("orcid", "researcherid", "isni"))
    start = constraints.evidence.block_start.tolist()
    for first, last in [(0, len(start) - 1), *((b, b + 1) for b in range(len(start) - 1))]:
        begin, end = start[first], start[last]
        found = constraints.of_blocks(first, last)
        if found is None:
            assert all(literal.group(i) == {i} for i in range(begin, end))
            assert not any(literal.separates(i, j) for i, j in literal.inside if begin <= i < end)
            continue
        blocks = [b for b in range(first, last) for _ in range(start[b], start[b + 1])]
        assert found.group.dtype == found.profile.dtype == found.cannot_link.dtype == np.int32
        firsts = [min(literal.group(i)) for i in range(begin, end)]
        assert found.group.tolist() == [i - start[b] for i, b in zip(firsts, blocks, strict=True)]
        cannot_links = [
            set(found.cannot_link[s:e].tolist())
            for s, e in zip(found.cannot_link_start, found.cannot_link_start[1:], strict=False)
        ]
        for i, j in combinations(range(begin, end), 2):
            p, q = int(found.profile[i - begin]), int(found.profile[j - begin])
            assert (q in cannot_links[p]) == (p in cannot_links[q])
            if literal.together(i, j):
                assert (q in cannot_links[p]) == bool(literal.separates(i, j))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40))
def test_connected_components_are_transitive_closures(links: list[tuple[int, int]]) -> None:
    components = {i: {i} for i in range(31)}
    for i, j in links:
        merged = components[i] | components[j]
        components |= dict.fromkeys(merged, merged)
    left, right = np.array(links, np.int64).reshape(-1, 2).T
    assert connected_components(31, left, right).tolist() == [min(components[i]) for i in range(31)]


@given(st.lists(st.integers(1, 6), max_size=8), st.integers(1, 20))
def test_pairs_within_groups_are_complete_in_any_batch_size(sizes: list[int], most: int) -> None:
    part = [p for p, size in enumerate(sizes) for _ in range(size)]
    expected = [(i, j) for i, a in enumerate(part) for j, b in enumerate(part) if a == b]
    found = [
        pair
        for row, column in pairs_within_groups(np.array(sizes, np.int64), most)
        for pair in zip(row, column, strict=True)
    ]
    assert found == expected


def test_mentions_with_the_same_evidence_share_a_profile() -> None:
    constraints = constraints_of([Row("A", "Doe, Jane")] * 50 + [Row("A", "Doe, John")] * 50 + [Row("B")] * 100)
    assert constraints is not None
    found = constraints.of_blocks(0, 2)
    assert found is not None
    assert len(found.cannot_link) == 2
    assert len(set(found.profile.tolist())) == 3
    assert constraints.of_blocks(1, 2) is None
    assert constraints.counts.apart == {"name": 2500}


def test_name_that_contradicts_those_it_is_linked_with_separates_no_others() -> None:
    same = {"orcid": ORCIDS[0]}
    rows = [Row("A", "Doe, Jane E", "a", same), Row("A", "Doe, JE", "b", same), Row("A", "Doe, Julia A", "c", same)]
    rows += [Row("A", "Doe, JE", "d"), Row("A", "Doe, John", "e")]
    constraints = constraints_of(rows)
    assert constraints is not None
    assert constraints.column.to_pylist() == [
        "same:orcid;not:name", "same:orcid", "same:orcid", None, "not:name",
    ]  # fmt: skip
    (conflict,) = constraints.conflicts
    assert conflict.kind == "name"
    two = constraints_of([rows[0], rows[2], rows[3]])
    assert two is not None
    assert two.column.to_pylist() == ["same:orcid", "same:orcid;not:name", "not:name"], "either of two may be right"


def test_only_enabled_constraints_are_found() -> None:
    collection = [Row("A", "Doe, Jane", "d"), Row("A", "Doe, John", "d")]
    assert constraints_of(collection, constraints="none") is None
    for enabled, kind in (("names", "not:name"), ("documents", "not:document"), ("identifiers", None)):
        constraints = constraints_of(collection, constraints=enabled)
        assert constraints is not None
        assert constraints.column.to_pylist() == [kind, kind]
    constraints = constraints_of(collection, UserPairs(("m0",), ("m1",), (True,)), constraints="none")
    assert constraints is not None
    assert constraints.column.to_pylist() == ["same:pair"] * 2


def test_untrusted_identifiers_are_ignored() -> None:
    collection = [Row("A", ids={"scopus": "1"}), Row("A", ids={"scopus": "1"}), Row("A", ids={"scopus": "2"})]
    constraints = constraints_of(collection)
    assert constraints is not None
    assert constraints.column.null_count == 3
    constraints = constraints_of(collection, identifiers="orcid,Scopus")
    assert constraints is not None
    assert constraints.column.to_pylist() == ["same:scopus;not:scopus"] * 2 + ["not:scopus"]


@pytest.mark.slow
def test_refuses_misspelled_kinds_of_identifiers(tmp_path: Path) -> None:
    document = {"id": "1", "authors": [{"name": "Doe, Jane", "ids": {"Staff-ID": "7"}}]}
    path = write_lines(tmp_path / "documents.jsonl", [document, {**document, "id": "2"}])
    with pytest.raises(SettingsError, match="the kind 'orchid', which homonym does not know; use orcid, or"):
        disambiguate(path, tmp_path / "out.csv", Settings(identifiers="isni,orchid"))
    assert disambiguate(path, tmp_path / "out.csv", Settings(identifiers="isni,staff_id")).authors == 1


def test_conflicts_are_described_in_sentences() -> None:
    same = {"orcid": ORCIDS[0]}
    constraints = constraints_of([Row("A", "Doe, Jane", "d", same), Row("A", "Doe, John", "e", same)])
    assert constraints is not None
    (found,) = constraints.conflicts
    assert (found.kind, found.block, found.mentions) == ("name", "A", ("m0", "m1"))
    assert found.what == (
        "m0 and m1 are linked by orcid, but their names exclude each other: Doe, Jane and Doe, John; they stay linked."
    )
    constraints = constraints_of([Row("A", None, "d", same), Row("A", None, "d", same), Row("A", None, "e", same)])
    assert constraints is not None
    (found,) = constraints.conflicts
    assert "both are on document d; none of the links of these 3 mentions by orcid is made" in found.what
    other = {"orcid": ORCIDS[1]}
    constraints = constraints_of(
        [Row("A", None, "d", same), Row("A", None, "e", other)], UserPairs(("m1",), ("m0",), (True,))
    )
    assert constraints is not None
    (found,) = constraints.conflicts
    assert f"linked by pair, but their orcid differ: {ORCIDS[0]} and {ORCIDS[1]}; they stay linked" in found.what
    constraints = constraints_of([Row("A", ids=same)] * 2, UserPairs(("m1",), ("m0",), (False,)))
    assert constraints is not None
    assert "the user's pairs call them different" in constraints.conflicts[0].what


def test_links_all_mentions_of_one_identifier() -> None:
    collection = [Row("A", "Doe, J", f"d{i:03}", {"orcid": ORCIDS[0]}) for i in range(500)]
    constraints = constraints_of(collection, constraints="identifiers,documents")
    assert constraints is not None
    assert (constraints.counts.links, constraints.counts.linked) == ({"orcid": 499}, 500)
    found = constraints.of_blocks(0, 1)
    assert found is not None
    assert not found.group.any()
    assert not len(found.cannot_link)


def test_separates_all_mentions_on_one_document() -> None:
    constraints = constraints_of([Row("A", "Doe, J", "d")] * 40)
    assert constraints is not None
    assert constraints.counts.apart == {"document": 40 * 39 // 2}
    found = constraints.of_blocks(0, 1)
    assert found is not None
    assert len(found.cannot_link) == 40 * 39


# Pairs of a user


PAIRS = "mention_a,mention_b,relation\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "mention_a;mention_b\na;b\n",
            r"has the columns mention_a, mention_b; expected mention_a, mention_b, relation",
        ),
        (PAIRS + "a,b,same\na,c,maybe\n", r"pairs.csv, line 3: the relation is 'maybe'; write same or different"),
        (PAIRS + "a,,same\n", r"line 2: a mention is missing; give both"),
        (PAIRS + "a,b\n", r"line 2: expected 3 columns, got 2; correct or remove the row"),
        (PAIRS + "a,a,different\n", r"line 2: a cannot be different from itself"),
        ("", "pairs.csv"),
    ],
)
def test_rejects_unusable_pairs_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(InputError, match=message) as refused:
        read_user_pairs(tmp_path / "pairs.csv")
    assert len(str(refused.value).splitlines()) == 1
    assert str(refused.value).endswith(".")


def test_reads_pairs_from_tsv_gzip_and_parquet(tmp_path: Path) -> None:
    wanted = UserPairs(("a", "b"), ("b", "c"), (True, False))
    text = "relation\tmention_b\tmention_a\tnote\nSame\tb\ta\tx\n\ndifferent\tc\tb\t\nsame\tc\tc\t\n"
    (tmp_path / "pairs.tsv").write_text(text)
    (tmp_path / "pairs.csv.gz").write_bytes(gzip.compress((PAIRS + "a,b,same\nb,c,different\n").encode()))
    columns = {"mention_a": ["a", "b"], "mention_b": ["b", "c"], "relation": ["same", "different"]}
    pq.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    assert [read_user_pairs(tmp_path / f"pairs{end}") for end in (".tsv", ".csv.gz", ".parquet")] == [wanted] * 3
    pq.write_table(pa.table({"mention_a": ["a"]}), tmp_path / "pairs.parquet")
    with pytest.raises(InputError, match="has the columns mention_a; expected"):
        read_user_pairs(tmp_path / "pairs.parquet")


def test_warns_about_pairs_that_cannot_be_used() -> None:
    collection = [Row("A"), Row("B")]
    pairs = UserPairs(("m0", "m0", "m9", "m0"), ("m1", "m8", "m0", "m1"), (True, True, False, False))
    constraints = constraints_of(collection, pairs)
    assert constraints is not None
    assert constraints.warnings == ["2 pairs ignored: there is no mention m8, for example."]
    constraints = constraints_of(collection, UserPairs((), (), ()))
    assert constraints is not None
    assert constraints.warnings == ["the file of pairs has no rows."]


# Whole runs


def write_lines(path: Path, values: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(value) + b"\n" for value in values))
    return path


def mentions_of(collection: list[Row], features: list[int]) -> list[dict[str, Any]]:
    return [
        {"mention_id": f"m{i}", "document_id": row.document, "name": row.name, "block": row.block, "ids": row.ids,
         "features": {"colour": {f"c{feature}": 1}, "size": {"9": 0.5}}}
        for i, (row, feature) in enumerate(zip(collection, features, strict=False))
    ]  # fmt: skip


def result_of(summary: Summary) -> dict[str, tuple[str, str | None]]:
    rows = pq.read_table(summary.output).to_pylist()
    return {row["mention_id"]: (row["author_id"], row["constraint"]) for row in rows}


@pytest.mark.slow
@given(
    collections, statements, st.lists(st.integers(0, 2), min_size=12, max_size=12), st.sampled_from([0.0, 0.2, 0.45])
)
@hypothesis_settings(max_examples=examples(25), suppress_health_check=[HealthCheck.too_slow])
def test_no_run_violates_a_constraint(
    collection: list[Row], statements_made: list[Statement], features: list[int], alpha: float
) -> None:
    collection = in_order(collection)
    collection = [Row(row.block, row.name, row.document, _valid(row.ids)) for row in collection]
    pairs = pairs_of(statements_made, len(collection))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = write_lines(folder / "in.jsonl", mentions_of(collection, features))
        with (folder / "pairs.csv").open("w") as stream:
            table = csv.writer(stream)
            table.writerow(["mention_a", "mention_b", "relation"])
            relations = ["same" if same else "different" for same in pairs.same]
            table.writerows(zip(pairs.a, pairs.b, relations, strict=True))
        settings = Settings(alpha=alpha)
        summary = cluster(source, folder / "out.parquet", settings, pairs=folder / "pairs.csv", resources=ONE)
        result = result_of(summary)
        listed = conflicts_path(summary.output)
        rows = list(csv.DictReader(listed.read_text().splitlines())) if listed.exists() else []
    literal = Literal(collection, pairs, ("orcid", "researcherid", "isni"))
    author = [result[f"m{i}"][0] for i in range(len(collection))]
    for i, j in literal.inside:
        if literal.group(i) == literal.group(j):
            assert author[i] == author[j], "must-linked mentions are one author"
        elif literal.separates(i, j):
            assert author[i] != author[j], "mentions with a cannot-link are not, not even through a third mention"
    conflicts = {(kind, len(component)) for kind, component in literal.conflicts()}
    assert {
        (row["kind"], row["mentions"].count(";") + 1) for row in rows if " are linked by " in row["what"]
    } == conflicts
    assert summary.constraints is not None
    assert summary.constraints.contradictions == len(rows)


def _valid(ids: dict[str, str]) -> dict[str, str]:
    """The identifiers as records may have them."""
    found = {kind: value if kind == "orcid" else value.replace("-", "") for kind, value in ids.items()}
    return {kind: f"A-{value[-4:-1]}0-2010" if kind == "researcherid" else value for kind, value in found.items()}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents; some authors have an ORCID, right or wrong."""
    folder = tmp_path_factory.mktemp("corpus")
    path = generate(folder, Corpus(mentions=2000, ambiguity=3.0, seed=7))
    choose, documents = random.Random(1), []
    for line in gzip.decompress(path.read_bytes()).splitlines():
        document = orjson.loads(line)
        for author in document["authors"]:
            if choose.random() < 0.3:
                number = sum(map(ord, author["author"])) % len(ORCIDS)
                author["ids"] = {"ORCID": ORCIDS[number], "openalex": f"A{number}"}
        documents.append(document)
    return write_lines(folder / "with_ids.jsonl", documents)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize("blocking", ["initials", "first-initial"])
def test_extract_then_cluster_equals_disambiguate(corpus: Path, tmp_path: Path, suffix: str, blocking: str) -> None:
    settings = Settings(blocking=blocking, beta=1e-4)
    whole = disambiguate(corpus, tmp_path / "whole.parquet", settings)
    extract(corpus, tmp_path / f"mentions{suffix}", settings)
    steps = cluster(tmp_path / f"mentions{suffix}", tmp_path / "steps.parquet", settings)
    assert whole.output.read_bytes() == steps.output.read_bytes()
    files = [conflicts_path(summary.output).read_bytes() for summary in (whole, steps)]
    assert files[0] == files[1]
    assert whole.constraints is not None
    assert {"orcid", "name"} <= set(whole.constraints.apart)
    assert "orcid" in whole.constraints.links


@pytest.mark.slow
def test_results_do_not_depend_on_order_or_threads(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = corpus.read_bytes().splitlines(keepends=True)
    random.Random(3).shuffle(lines)
    (tmp_path / "shuffled.jsonl").write_bytes(b"".join(lines))
    monkeypatch.setattr("homonym.engines.local.BATCH_OCCURRENCES", 5_000)
    monkeypatch.setattr("homonym.engines.local.CHUNK_BYTES", 50_000)
    results: list[tuple[bytes, bytes]] = []
    for source, threads in ((corpus, 1), (corpus, 2), (tmp_path / "shuffled.jsonl", 2)):
        output = tmp_path / f"authors-{len(results)}.csv"
        disambiguate(source, output, Settings(blocking="first-initial"), resources=Resources(threads=threads))
        results.append((output.read_bytes(), conflicts_path(output).read_bytes()))
    assert results[0] == results[1] == results[2]


@pytest.mark.slow
def test_untrusted_identifiers_do_not_change_the_result(corpus: Path, tmp_path: Path) -> None:
    bare = [orjson.loads(line) for line in corpus.read_bytes().splitlines()]
    for document in bare:
        for author in document["authors"]:
            author.pop("ids", None)
    source = write_lines(tmp_path / "bare.jsonl", bare)
    disambiguate(source, tmp_path / "bare.csv", Settings(identifiers="isni"))
    disambiguate(corpus, tmp_path / "ids.csv", Settings(identifiers="isni"))
    assert (tmp_path / "bare.csv").read_bytes() == (tmp_path / "ids.csv").read_bytes()


def test_deletes_the_conflicts_of_an_earlier_run(tmp_path: Path) -> None:
    same = {"orcid": ORCIDS[0]}
    documents = [
        {"id": i, "authors": [{"name": name, "ids": same}]} for i, name in enumerate(["Doe, Jane", "Doe, John"])
    ]
    source = write_lines(tmp_path / "in.jsonl", documents)
    summary = disambiguate(source, tmp_path / "out.parquet")
    assert summary.constraints is not None
    assert summary.constraints.first[0].mentions == ("0#0", "1#0")
    assert summary.constraints.file.read_text().startswith("kind,block,mentions,what\nname,")
    assert result_of(summary) == dict.fromkeys(["0#0", "1#0"], (author_id("DOE, J", "0#0"), "same:orcid"))
    disambiguate(source, tmp_path / "out.parquet", Settings(constraints="none"))
    assert not summary.constraints.file.exists()
    write_conflicts(summary.constraints.file, [])


def test_validates_the_identifiers_of_mentions(tmp_path: Path) -> None:
    mention = parse_mention(b'{"mention_id": 1, "block": "b", "ids": {"orcid": "0000-0002-1825-0098", "scopus": 5}}')
    assert mention.ids == {"scopus": "5"}
    assert mention.notes == [("field", "'0000-0002-1825-0098' is not a valid ORCID")]
    assert (
        parse_mention(b'{"mention_id": 1, "block": "b", "ids": [1]}').notes[0][1] == "ids must be an object, got list"
    )
    rows = [{"mention_id": "m", "block": "b", "features": {}, "ids": {"orcid": "nonsense"}}]
    source = write_lines(tmp_path / "in.jsonl", rows)
    assert cluster(source, tmp_path / "out.csv").problems.counts["field"] == 1
    with pytest.raises(InputError, match=r"line 1: 'nonsense' is not a valid ORCID"):
        cluster(source, tmp_path / "out.csv", strict=True)
    table = {"mention_id": ["m"], "block": ["b"], "features": [None], "ids": [[{"kind": "orcid", "id": "nonsense"}]]}
    pq.write_table(pa.table(table), tmp_path / "in.parquet")
    with pytest.raises(InputError, match=r"row 1: 'nonsense' is not a valid ORCID; correct or remove it"):
        cluster(tmp_path / "in.parquet", tmp_path / "out.csv")
    pq.write_table(pa.table(table | {"ids": ["x"]}), tmp_path / "in.parquet")
    with pytest.raises(InputError, match="column ids must be list"):
        cluster(tmp_path / "in.parquet", tmp_path / "out.csv")


def test_command_line_reports_constraints(tmp_path: Path) -> None:
    same = {"orcid": ORCIDS[0]}
    documents = [{"id": i, "authors": [{"name": name, "ids": same}, {"name": "Roe, R"}]}
                 for i, name in enumerate(["Doe, Jane", "Doe, John"])]  # fmt: skip
    write_lines(tmp_path / "in.jsonl", documents)
    (tmp_path / "pairs.csv").write_text(PAIRS + "0#1,1#1,different\n0#1,nobody,same\n")
    done = homonym_command("disambiguate", "in.jsonl", "-o", "out.csv", "--pairs", "pairs.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "must-link: 2 mentions linked (1 by orcid)" in done.stdout
    assert "cannot-link, in pairs of mentions: 1 by pair" in done.stdout
    assert "1 constraint conflict, listed in out.contradictions.csv" in done.stdout
    assert "there is no mention nobody" in done.stderr
    (tmp_path / "pairs.csv").write_text(PAIRS + "0#1,1#1,perhaps\n")
    done = homonym_command("disambiguate", "in.jsonl", "-o", "new.csv", "--pairs", "pairs.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2, "homonym: pairs.csv, line 2: the relation is 'perhaps'; write same or different.\n",
    )  # fmt: skip
    assert not (tmp_path / "new.csv").exists()
    done = homonym_command("disambiguate", "in.jsonl", "-o", "new.csv", "--constraints", "surnames", cwd=tmp_path)
    assert done.returncode == 2
    assert "unknown constraint source 'surnames'; use none, names, identifiers, documents" in done.stderr


def test_the_users_pair_outranks_an_orcid() -> None:
    """m0 is the same as m1 for the user and as m2 by ORCID, but m1 and m2 are on one document."""
    orcid = {"orcid": ORCIDS[0]}
    collection = [Row("D", document="1", ids=orcid), Row("D", document="2"), Row("D", document="2", ids=orcid)]
    found = constraints_of(collection, UserPairs(("m0",), ("m1",), (True,)))
    assert found is not None
    assert found.must_links.representative.tolist() == [0, 0, 2]


def one_identifier_of(folder: Path, *given: str, email: bool = False) -> tuple[list[str], str]:
    """The authors of mentions of these given names with one ORCID or e-mail address, and the conflicts of the run."""
    identifier: dict[str, object] = {"emails": ["smith@x.edu"]} if email else {"ids": {"orcid": ORCIDS[0]}}
    documents = [
        {"id": f"d{place}", "title": f"title{place} word{place}",
         "authors": [{"name": f"Smith, {name}", **identifier}]}
        for place, name in enumerate(given)
    ]  # fmt: skip
    source, output = folder / "documents.jsonl", folder / "authors.csv"
    source.write_bytes(b"\n".join(map(orjson.dumps, documents)))
    disambiguate(source, output, resources=ONE)
    with output.open(newline="", encoding="utf-8") as stream:
        authors = [row["author_id"] for row in csv.DictReader(stream)]
    conflicts = conflicts_path(output)
    return authors, conflicts.read_text() if conflicts.exists() else ""


def test_identifier_of_three_people_links_none_and_is_reported(tmp_path: Path) -> None:
    authors, conflicts = one_identifier_of(tmp_path, "John", "James", "Julia", "J.", "Julia")
    assert len({*authors[:3]}) == 3
    assert "Smith, John and Smith, James; none of the links of these 5 mentions by orcid is made" in conflicts


def test_identifier_with_one_wrong_name_links_all(tmp_path: Path) -> None:
    authors, conflicts = one_identifier_of(tmp_path, "John", "John", "James", "J.", "John W.")
    assert len({*authors}) == 1
    assert "they stay linked" in conflicts


def test_an_address_of_three_names_links_them(tmp_path: Path) -> None:
    authors, conflicts = one_identifier_of(tmp_path, "John", "James", "Julia", email=True)
    assert len({*authors}) == 1
    assert "they stay linked" in conflicts
