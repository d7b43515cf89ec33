"""Authors of different blocks that share an identifier of a person: united, or reported why not."""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.collection.layout import PLACED_IDENTIFIERS
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.explain import explain
from homonym.commands.run import Resources
from homonym.constraints.across_blocks import CANDIDATE_ROWS, MAX_BLOCKS, UnitedAuthors, unite_authors
from homonym.constraints.evidence import UserPairs
from homonym.engines.reclustering import recluster
from homonym.io.result_directory import AUTHORS, CONFLICTS, DOCUMENTS, MENTIONS
from homonym.settings import Settings, load_settings
from tests.support.profiles import examples

LIMIT = Settings(kappa=7)
ORCIDS = ("0000-0002-1825-0097", "0000-0002-1694-233X", "0000-0001-5109-3700")
Row = dict[str, Any]


def mention(author: str, name: str, document: str, **ids: str) -> Row:
    """A mention of an author, whose id begins with its block."""
    return {"author_id": author, "name": name, "document_id": document, "block": author[0], "ids": ids}


def united(
    rows: list[Row], pairs: UserPairs | None = None, known: frozenset[str] = frozenset()
) -> tuple[list[str], UnitedAuthors]:
    """The author of each mention afterwards; mention i is m<i>, of the year 2000 + i unless it has another."""
    columns: dict[str, list[Any]] = {"place": [*range(len(rows))], "mention_id": [f"m{i}" for i in range(len(rows))]}
    defaults = {"year": None, "constraint": None, "confidence": 0.5}
    table = pa.table(
        {
            field.name: pa.array(
                columns.get(field.name) or [row.get(field.name, defaults.get(field.name)) for row in rows], field.type
            )
            for field in CANDIDATE_ROWS
        }
    )
    ids = [(place, kind, value) for place, row in enumerate(rows) for kind, value in row["ids"].items()]
    found = unite_authors(
        table,
        pa.table([*zip(*ids, strict=True)], schema=PLACED_IDENTIFIERS) if ids else PLACED_IDENTIFIERS.empty_table(),
        pairs,
        known=known,
    )
    new = dict(zip(found.rows["place"].to_pylist(), found.rows["author_id"].to_pylist(), strict=True))
    return [str(new.get(place, row["author_id"])) for place, row in enumerate(rows)], found


def reasons(found: UnitedAuthors) -> list[str]:
    return [conflict.what for conflict in found.conflicts]


@pytest.mark.parametrize(
    "names",
    [
        ("Harrison, Hugo", "Harrison, Hugo B."),
        ("Mueller, Jan", "Müller-Schmidt, Jan"),
        ("Müller, J", "Mueller, J"),
        ("Smith, Jane", "Doe, Jane"),
        ("Wang, Wei", "Wei, Wang"),
        ("Harrison, H", "Harison, H"),
        ("García Márquez, G", "Garcia, G"),
    ],
    ids=" / ".join,
)
def test_an_orcid_unites_forms_of_a_name(names: tuple[str, str]) -> None:
    authors, found = united([mention("A1", names[0], "d", orcid="1"), mention("B1", names[1], "e", orcid="1")])
    assert authors == ["A1", "A1"]
    assert not found.conflicts
    assert (found.gone, found.linked, found.links) == (1, 2, {"orcid": 1})
    assert found.rows["constraint"].to_pylist() == ["same:orcid"] * 2


def test_given_names_that_exclude_each_other_are_reported_but_stay_linked() -> None:
    authors, found = united([mention("A1", "Wang, Wei", "d", orcid="1"), mention("B1", "Wang, David", "e", orcid="1")])
    assert authors == ["A1", "A1"]
    (reason,) = reasons(found)
    assert "their names exclude each other: Wang, Wei and Wang, David; they stay linked" in reason


@pytest.mark.parametrize(
    "names", [("Cheigh, Chan-Ick", "Mun, Ji-Hye"), ("Smith, J", "Doe, J"), ("Zhang, Q", "Zheng, Q")]
)
def test_entirely_different_names_stay_apart(names: tuple[str, str]) -> None:
    authors, found = united([mention("A1", names[0], "d", orcid="1"), mention("B1", names[1], "e", orcid="1")])
    assert authors == ["A1", "B1"]
    assert reasons(found)[0].startswith("m0 and m1 have the orcid 1, but their names have no word in common: ")


def test_an_identifier_of_all_authors_of_a_paper_links_none_of_these() -> None:
    rows = [mention(f"{block}1", f"Doe, {block}", "d", orcid="1") for block in "ABC"]
    authors, found = united(
        [*rows, mention("A2", "Doe, Ann", "e", orcid="1"), mention("D1", "Doe, Anna", "f", orcid="1")]
    )
    assert authors == ["A1", "B1", "C1", "A2", "A2"]
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.mentions) == ("document", ("m0", "m1", "m2"))


def test_united_authors_are_on_no_document_together() -> None:
    rows = [
        mention("A1", "Doe, Ann", "d", orcid="1"),
        mention("A1", "Doe, A", "e"),
        mention("B1", "Doe, Anna", "f", orcid="1"),
    ]
    assert united(rows)[0] == ["A1", "A1", "A1"]
    authors, found = united([*rows, mention("B1", "Doe, Anna", "e")])
    assert authors == ["A1", "A1", "B1", "B1"]
    assert "both are on document e; none of the links of these authors by orcid is made" in reasons(found)[0]


def test_different_orcids_outrank_an_isni() -> None:
    rows = [mention("A1", "Doe, Ann", "d", orcid="1", isni="7"), mention("B1", "Doe, Ann", "e", orcid="2", isni="7")]
    authors, found = united(rows)
    assert authors == ["A1", "B1"]
    assert [conflict.kind for conflict in found.conflicts] == ["orcid"]
    _, found = united([*rows, mention("A1", "Doe, Ann", "f", orcid="1")])
    (reason,) = reasons(found)
    assert reason.startswith("m0 and m1 are of authors linked by isni, but their orcid differ")


def test_three_authors_with_different_orcids_share_an_isni() -> None:
    rows = [mention(f"{block}1", "Doe, Ann", f"d{block}", orcid=block, isni="7") for block in "ABC"]
    authors, found = united([mention("B1", "Doe, Ann", "e", orcid="B"), *rows])
    assert authors == ["B1", "A1", "B1", "C1"]
    (reason,) = reasons(found)
    assert reason.startswith("m1 and m0 are of authors linked by isni, but their orcid differ; none of the links")


def test_two_orcids_of_one_author_are_no_conflict_with_another() -> None:
    rows = [mention("A1", "Doe, Ann", "d", orcid="1", isni="7"), mention("A1", "Doe, Ann", "e", orcid="2"),
            mention("B1", "Doe, Ann", "f", isni="7")]  # fmt: skip
    authors, found = united(rows)
    assert (authors, found.conflicts) == (["A1"] * 3, [])


def test_messages_name_the_first_mentions_of_different_parts() -> None:
    names = {"A1": "Doe, Ann", "B1": "Roe, Ann", "C1": "Poe, Eve", "D1": "Poe, Eva"}
    rows = [mention(author, name, f"of {author}", orcid="1") for author, name in names.items()]
    authors, found = united(rows)
    assert authors == ["A1", "A1", "C1", "C1"]
    assert reasons(found) == [
        "m0 and m2 have the orcid 1, but their names have no word in common: Doe, Ann and Poe, Eve; "
        "they are not linked by it."
    ]
    twice = [mention("A1", "Doe, Ann", "e"), mention("B1", "Doe, Anna", "e"), mention("A1", "Doe, A", "e")]
    authors, found = united(
        [mention("A1", "Doe, Ann", "d", orcid="1"), mention("B1", "Doe, Ann", "f", orcid="1"), *twice]
    )
    assert authors == ["A1", "B1", "A1", "B1", "A1"]
    assert reasons(found)[0].startswith("m2 and m3 are of authors linked by orcid, but both are on document e; none of")


def test_an_identifier_of_one_name_unites_nothing() -> None:
    authors, found = united([mention("A1", "Doe, Ann", "d", orcid="1"), mention("A2", "Doe, Ann", "e", orcid="1")])
    assert (authors, found.conflicts, found.links) == (["A1", "A2"], [], {})


def test_two_authors_of_one_name_are_not_united_by_way_of_another_name() -> None:
    rows = [mention("A1", "Doe, Jo", "d", orcid="1"), mention("A2", "Doe, J", "e", isni="7"),
            mention("B1", "Doe, Jo Jan", "f", orcid="1"), mention("B1", "Doe, Jo Jan", "g", isni="7")]  # fmt: skip
    authors, found = united(rows)
    assert authors == ["A1", "A2", "A1", "A1"]
    assert [conflict.kind for conflict in found.conflicts] == ["block"]


def test_pairs_of_the_user_unite_names_and_keep_them_apart() -> None:
    rows = [mention("A1", "Smith, J", "d"), mention("B1", "Doe, K", "e")]
    assert united(rows, UserPairs(("m0",), ("m1",), (True,)))[0] == ["A1", "A1"]
    elsewhere = UserPairs(("m0", "m9", "m8"), ("m9", "m1", "m9"), (True, True, False))
    assert united(rows, elsewhere)[0] == ["A1", "B1"], "pairs with mentions of other authors do nothing"
    rows = [mention("A1", "Doe, Ann", "d", orcid="1"), mention("B1", "Doe, Anna", "e", orcid="1")]
    authors, found = united(rows, UserPairs(("m1",), ("m0",), (False,)))
    assert authors == ["A1", "B1"]
    assert "the user's pairs call them different" in reasons(found)[0]


@pytest.mark.parametrize("other", ["m2", "m3"])
def test_pairs_inside_an_author_and_with_other_authors_do_not_keep_authors_apart(other: str) -> None:
    rows = [mention("A1", "Doe, Ann", "d", orcid="1"), mention("B1", "Doe, Anna", "e", orcid="1"),
            mention("A1", "Doe, Ann", "f"), mention("C1", "Roe, Bob", "g")]  # fmt: skip
    for a, b in (("m0", other), (other, "m0")):
        authors, found = united(rows, UserPairs((a,), (b,), (False,)))
        assert authors == ["A1", "A1", "A1", "C1"]
        assert not found.conflicts


def test_the_earliest_mention_gives_the_id_and_all_mentions_the_confidence() -> None:
    rows = [mention("A1", "Doe, Ann", "d", orcid="1") | {"confidence": 0.25},
            mention("B1", "Doe, Anna", "e", orcid="1") | {"year": 1990, "confidence": None},
            mention("B1", "Doe, Anna", "f") | {"year": 1980, "confidence": 1.0, "constraint": "not:name"}]  # fmt: skip
    authors, found = united(rows)
    assert authors == ["B1"] * 3
    assert found.rows["author_confidence"].to_pylist() == [0.625] * 3
    assert found.rows["constraint"].to_pylist() == ["same:orcid", "same:orcid", "not:name"]


@pytest.mark.parametrize(
    ("years", "kept"), [((2000, 1990), "B1"), ((1990, 2000), "A1"), ((1990, 1990), "A1"), ((None, 2000), "B1")]
)
def test_the_earlier_year_gives_the_id(years: tuple[int | None, int], kept: str) -> None:
    rows = [mention(f"{block}1", "Doe, Ann", f"d{block}", orcid="1") | {"year": year}
            for block, year in zip("AB", years, strict=True)]  # fmt: skip
    assert united(rows)[0] == [kept, kept]


@pytest.mark.parametrize(
    ("confidences", "mean"), [((1.0, 1.0), 1.0), ((0.001, 0.002, 0.003), 0.002), ((None, float("nan")), None)]
)
def test_confidence_of_a_united_author_is_the_mean_of_its_mentions(
    confidences: tuple[float | None, ...], mean: float | None
) -> None:
    rows = [
        mention(f"{block}1", "Doe, Ann", f"d{block}", orcid="1") | {"confidence": confidence}
        for block, confidence in zip("ABC", confidences, strict=False)
    ]
    assert united(rows)[1].rows["author_confidence"].to_pylist() == [mean] * len(rows)


@pytest.mark.slow
def test_an_orcid_on_a_hundred_thousand_names_links_none_and_is_reported_once() -> None:
    rows = [mention(f"{chr(0x4E00 + i % 20_000)}{i}", f"Name{i}, Ann", f"d{i}", orcid="1") for i in range(100_000)]
    _, found = united(rows)
    assert not len(found.rows)
    (conflict,) = found.conflicts
    assert f"so have mentions of 20,000 names, more than {MAX_BLOCKS}" in conflict.what
    assert len(conflict.mentions) == 100


@pytest.mark.parametrize(("blocks", "is_united"), [(MAX_BLOCKS, True), (MAX_BLOCKS + 1, False)])
def test_an_identifier_links_at_most_twenty_names(blocks: int, is_united: bool) -> None:
    rows = [mention(f"{chr(0x4E00 + i)}1", "Doe, Ann", f"d{i}", orcid="1") for i in range(blocks)]
    authors, found = united(rows)
    assert len({*authors}) == (1 if is_united else blocks)
    assert bool(found.conflicts) != is_united
    pairs = UserPairs(("m0",) * (blocks - 1), tuple(f"m{i}" for i in range(1, blocks)), (True,) * (blocks - 1))
    assert len({*united(rows, pairs)[0]}) == 1, "the user may link more"


@pytest.mark.parametrize(("name", "is_united"), [("Wager, K", True), ("Waner, K", True), ("Wage, K", False)])
def test_one_letter_may_be_missing_in_a_word_of_six_letters(name: str, is_united: bool) -> None:
    authors, _ = united([mention("A1", "Wagner, J", "d", orcid="1"), mention("B1", name, "e", orcid="1")])
    assert (len({*authors}) == 1) == is_united


def test_one_letter_may_not_be_missing_in_a_word_of_five_letters() -> None:
    authors, _ = united([mention("A1", "Wager, J", "d", orcid="1"), mention("B1", "Wagr, K", "e", orcid="1")])
    assert authors == ["A1", "B1"]


def test_an_identifier_of_two_mentions_of_one_name_on_a_document_is_no_conflict_of_names() -> None:
    rows = [mention("A1", "Doe, Ann", "d", orcid="1"), mention("A2", "Doe, A", "d", orcid="1")]
    authors, found = united(rows)
    assert authors == ["A1", "A2"]
    assert not found.conflicts


def test_of_known_authors_only_the_one_with_most_mentions_is_united() -> None:
    rows = [
        mention("A1", "Doe, Ann", "d", orcid="1"),
        mention("B1", "Doe, Anna", "e", orcid="1"),
        mention("B1", "Doe, Anna", "f", orcid="1"),
        mention("C1", "Doe, Ann B", "g", orcid="1"),
    ]
    assert united(rows)[0] == ["A1"] * 4
    authors, found = united(rows, known=frozenset({"A1", "B1"}))
    assert authors == ["A1", "B1", "B1", "B1"]
    (conflict,) = found.conflicts
    assert (conflict.kind, conflict.mentions) == ("known authors", ("m0", "m1", "m2", "m3"))
    assert conflict.what.startswith("m1 and m0 have the orcid 1, but are of two authors")
    authors, found = united(rows, known=frozenset({"B1"}))
    assert authors == ["A1"] * 4
    assert not found.conflicts


def test_known_authors_are_not_united_by_the_user_or_by_way_of_another_author() -> None:
    rows = [mention("A1", "Doe, Ann", "d"), mention("B1", "Doe, Anna", "e")]
    pairs = UserPairs(("m0",), ("m1",), (True,))
    authors, found = united(rows, pairs, known=frozenset({"A1", "B1"}))
    assert authors == ["A1", "B1"]
    (conflict,) = found.conflicts
    assert conflict.kind == "known authors"
    assert conflict.what.startswith("m0 and m1 are of authors linked by pair, but the mode assign leaves their authors")
    assert united(rows, pairs, known=frozenset({"A1"}))[0] == ["A1", "A1"]


def test_conflicts_of_kinds_with_a_higher_rank_come_first() -> None:
    rows = [mention("A1", "Smith, J", "d", isni="0", orcid="1"), mention("B1", "Doe, K", "e", isni="0", orcid="1")]
    assert ["orcid" in reason for reason in reasons(united(rows)[1])] == [True, False]


def test_conflicts_of_one_kind_are_in_the_order_of_identifiers() -> None:
    rows = [mention("A1", "Smith, J", "d", orcid="2"), mention("B1", "Doe, K", "e", orcid="2"),
            mention("A2", "Smith, L", "f", orcid="1"), mention("B2", "Doe, M", "g", orcid="1")]  # fmt: skip
    assert ["the orcid 1," in reason for reason in reasons(united(rows)[1])] == [True, False]


def test_a_chain_of_identifiers_does_not_join_all_blocks() -> None:
    """Author i shares an ISNI with the one before and an ORCID with the one after it."""
    ids: list[list[tuple[str, str]]] = [[] for _ in range(2000)]
    for i in range(1999):
        kind = ("orcid", "isni")[i % 2]
        ids[i].append((kind, f"{i}"))
        ids[i + 1].append((kind, f"{i}"))
    rows = [mention(f"{chr(0x4E00 + i)}1", "Doe, Ann", f"d{i}", **dict(own)) for i, own in enumerate(ids)]
    authors, found = united(rows)
    assert max(Counter(authors).values()) == 2, "ORCIDs link pairs; ISNIs would link different ORCIDs"
    assert {conflict.kind for conflict in found.conflicts} == {"name"}
    assert "they have 2000 names, more than 20" in reasons(found)[0]


blocks = st.sampled_from("ABCD")
candidates = st.lists(
    st.builds(
        lambda block, number, name, document, ids: mention(f"{block}{number}", name, document, **ids),
        blocks,
        st.integers(1, 2),
        st.sampled_from(["Doe, Ann", "Doe, A", "Roe, Ann", "Roe, Bob"]),
        st.sampled_from("defghijk"),
        st.dictionaries(st.sampled_from(["orcid", "isni"]), st.sampled_from(["1", "2"]), max_size=2),
    ),
    max_size=12,
)
statements = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.booleans()), max_size=3)


def pairs_of(stated: list[tuple[int, int, bool]]) -> UserPairs:
    a, b = ([f"m{one[side]}" for one in stated] for side in (0, 1))
    return UserPairs(tuple(a), tuple(b), tuple(same for *_, same in stated))


@given(candidates, statements)
@hypothesis_settings(max_examples=examples(300))
def test_united_authors_violate_no_constraint(rows: list[Row], stated: list[tuple[int, int, bool]]) -> None:
    stated = [(a, b, same) for a, b, same in stated if a != b and max(a, b) < len(rows)]
    authors, found = united(rows, pairs_of(stated))
    groups = {author: [i for i, one in enumerate(authors) if one == author] for author in authors}
    for i, j in combinations(range(len(rows)), 2):
        before, after = rows[i]["author_id"] == rows[j]["author_id"], authors[i] == authors[j]
        assert after or not before, "no author is split"
        if before or not after:
            continue
        assert rows[i]["block"] != rows[j]["block"]
        assert rows[i]["document_id"] != rows[j]["document_id"]
        assert (i, j, False) not in stated
        assert (j, i, False) not in stated
    for author, members in groups.items():
        assert author in {rows[i]["author_id"] for i in members}
    assert found.gone == len({row["author_id"] for row in rows}) - len(groups)
    _assert_links_are_made_or_reported(rows, authors, found)


def _assert_links_are_made_or_reported(rows: list[Row], authors: list[str], found: UnitedAuthors) -> None:
    """An identifier of several blocks unites its authors unless a conflict says why not."""
    for kind, value in {(kind, value) for row in rows for kind, value in row["ids"].items()}:
        having = [i for i, row in enumerate(rows) if row["ids"].get(kind) == value]
        in_blocks = {rows[i]["block"] for i in having}
        if len(in_blocks) > 1 and len({authors[i] for i in having}) > 1:
            assert found.conflicts, "an identifier that does not link is never silent"


@given(candidates, statements, st.randoms(use_true_random=False))
@hypothesis_settings(max_examples=examples(100))
def test_the_order_of_pairs_and_identifiers_does_not_matter(
    rows: list[Row], stated: list[tuple[int, int, bool]], chance: random.Random
) -> None:
    stated = [(a, b, same) for a, b, same in stated if a != b and max(a, b) < len(rows)]

    first = united(rows, pairs_of(stated))[1]
    chance.shuffle(stated)
    again = united([row | {"ids": dict(reversed(row["ids"].items()))} for row in rows], pairs_of(stated))[1]
    assert first.rows.equals(again.rows)
    assert first[1:] == again[1:]


# Whole runs


def person(name: str, **ids: str) -> dict[str, Any]:
    return {"name": name, "ids": ids}


def paper(number: int, *authors: dict[str, Any], topic: str = "Coral reefs") -> dict[str, Any]:
    people = [*authors, {"name": f"Filler{number}, Q"}]
    return {"id": f"d{number:03}", "title": f"{topic} {number}", "year": 1990 + number % 30, "authors": people}


PAPERS = [
    paper(3, person("Harrison, Hugo", orcid=ORCIDS[0])),
    paper(2, person("Harrison-Smith, Hugo B.", orcid=ORCIDS[0])),
    paper(4, person("Harrison, Hugo")),
    paper(5, person("Müller, Jan", orcid=ORCIDS[1]), person("Other, Ann", orcid=ORCIDS[1])),
    paper(6, person("Muller-Schmidt, Jan", orcid=ORCIDS[1])),
    paper(7, person("Müller, Jan", orcid=ORCIDS[1])),
    paper(8, person("Wang, Wei", orcid=ORCIDS[2])),
    paper(9, person("Kovacs, Ildiko", orcid=ORCIDS[2])),
    *(paper(20 + i, person(f"Someone{i % 7}, A")) for i in range(40)),
]


def write(path: Path, records: Iterable[Any]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in records))
    return path


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("across")
    return disambiguate(write(folder / "in.jsonl", PAPERS), folder / "result", LIMIT).output


@pytest.mark.slow
def test_a_run_unites_names_and_reports_what_it_does_not(result: Path) -> None:
    rows = {row["mention_id"]: row for row in pq.read_table(result / MENTIONS).to_pylist()}
    assert rows["d003#0"]["author_id"] == rows["d002#0"]["author_id"] == rows["d004#0"]["author_id"]
    assert rows["d003#0"]["author_id"].startswith("HARRISON SMITH, H/"), "the block of the earliest mention"
    assert rows["d003#0"]["block"] == "HARRISON, H"
    assert rows["d003#0"]["constraint"] == "same:orcid"
    assert rows["d006#0"]["author_id"] == rows["d007#0"]["author_id"]
    assert rows["d008#0"]["author_id"] != rows["d009#0"]["author_id"]
    conflicts = list(csv.DictReader((result / CONFLICTS).read_text().splitlines()))
    assert [row["kind"] for row in conflicts] == ["name", "document"]
    people = {row["author_id"]: row for row in pq.read_table(result / AUTHORS).to_pylist()}
    hugo = people[rows["d003#0"]["author_id"]]
    assert (hugo["mentions"], hugo["documents"], hugo["first_year"]) == (3, 3, 1992)
    assert set(people) == {row["author_id"] for row in rows.values()}


def test_blocks_of_united_authors_are_clustered_again_with_the_same_authors(result: Path, tmp_path: Path) -> None:
    blocks = sorted(set(pq.read_table(result / MENTIONS)["block"].to_pylist()))
    for number, some in enumerate((["HARRISON, H"], ["HARRISON SMITH, H"], blocks)):
        (tmp_path / str(number)).mkdir()
        recluster(result, some, load_settings(result), tmp_path / str(number))


def test_explain_names_the_identifier(result: Path) -> None:
    found = explain(result, "d003#0", "d002#0")
    assert found.together
    assert f"united by the orcid {ORCIDS[0]}" in found.answer
    about = explain(result, "d002#0")
    assert any("2 more mentions of this author (HARRISON, H)" in note for note in about.notes)
    author = pq.read_table(result / MENTIONS).to_pylist()[0]["author_id"]
    assert explain(result, author).authors[0].author_id == author


def test_evaluate_counts_united_authors_across_names(result: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text("mention_id,author\nd003#0,hugo\nd002#0,hugo\nd008#0,wei\nd009#0,ildiko\n")
    assert evaluate(result, gold).bcubed_across_names.f1 == 1


@pytest.mark.slow
def test_same_bytes_for_any_threads_and_order(result: Path, tmp_path: Path) -> None:
    shuffled = list(PAPERS)
    random.Random(4).shuffle(shuffled)
    for threads, records in ((1, shuffled), (2, PAPERS[::-1])):
        path = write(tmp_path / "in.jsonl", records)
        again = disambiguate(path, tmp_path / "result", LIMIT, resources=Resources(threads=threads)).output
        for name in (MENTIONS, AUTHORS, DOCUMENTS, CONFLICTS):
            assert (again / name).read_bytes() == (result / name).read_bytes(), name


def test_without_identifiers_nothing_is_united(tmp_path: Path) -> None:
    path = write(tmp_path / "in.jsonl", PAPERS)
    for settings in (Settings(kappa=7, constraints="names,documents"), Settings(kappa=7, identifiers="email")):
        rows = pq.read_table(disambiguate(path, tmp_path / "out.parquet", settings).output).to_pylist()
        assert all(row["author_id"].startswith(f"{row['block']}/") for row in rows)


def test_conflict_inside_a_block_names_two_mentions_of_different_authors() -> None:
    rows = [mention("A1", "Doe, J", "d1", orcid=ORCIDS[0]), mention("A2", "Doe, J", "d2", orcid=ORCIDS[0]),
            mention("B1", "Doe Smith, J", "d3", orcid=ORCIDS[0])]  # fmt: skip
    authors, found = united(rows)
    assert authors == ["A1", "A2", "B1"]
    assert any(what.startswith("m0 and m1 ") and "different authors of the name A" in what for what in reasons(found))


def test_order_of_identifiers_does_not_matter() -> None:
    rows = [mention(f"{block}1", "Doe, J", f"d{block}", orcid=ORCIDS[0]) for block in "ABC"]
    rows += [mention("D1", "Poe, E", "dD", orcid=ORCIDS[0]), mention("E1", "Doe, J", "dA", orcid=ORCIDS[0])]
    table = pa.table(
        [
            pa.array([*range(5)], pa.int64()), [f"m{n}" for n in range(5)],
            *([row[name] for row in rows] for name in ("document_id", "name", "block")),
            pa.nulls(5, pa.int32()), [row["author_id"] for row in rows], pa.nulls(5, pa.string()), [0.5] * 5,
        ],
        schema=CANDIDATE_ROWS,
    )  # fmt: skip
    ids = pa.table([[*range(5)], ["orcid"] * 5, [ORCIDS[0]] * 5], schema=PLACED_IDENTIFIERS)
    first, second = (unite_authors(table, ids.take(order), None) for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0]))
    assert first == second
    assert first.gone


@pytest.mark.parametrize(("third", "named"), [("b1", "m0 and m2 have"), ("a3", "m0 and m1 have")])
def test_conflict_on_a_document_names_mentions_of_two_blocks_if_there_are_any(third: str, named: str) -> None:
    rows = [mention(author, "Doe, Jane", "d", orcid=ORCIDS[0]) for author in ("a1", "a2", third)]
    _, found = united([*rows, mention("c1", "Doe, Jane", "e", orcid=ORCIDS[0])])
    assert next(reason for reason in reasons(found) if "on document d" in reason).startswith(named)
