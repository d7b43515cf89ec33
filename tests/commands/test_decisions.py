"""homonym decide and homonym decisions: what they record, refuse and report, and tables of decisions."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from homonym.commands.check import check
from homonym.commands.cluster import cluster
from homonym.commands.decide import decide
from homonym.commands.decisions import decisions
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.update import update
from homonym.constraints.evidence import read_user_pairs
from homonym.corpus.decision_state import decision_state
from homonym.corpus.decision_store import NewDecision, add_decisions, read_decisions
from homonym.errors import HomonymError, InputError, OutputError
from homonym.io.result_directory import AUTHORS, DECISIONS, MENTIONS
from homonym.settings import Settings
from tests.commands.test_explain import FILLERS, ORCID, OTHER_ORCID, PAPERS, paper
from tests.commands.test_result_directory import write
from tests.support.command import homonym_command
from tests.support.profiles import examples

RECORDS = [*PAPERS, paper(7, {"name": "Wang, Wei", "ids": OTHER_ORCID}, ["Wang, Wu"], "Steel"), *FILLERS]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("decisions")
    return disambiguate(write(folder / "in.jsonl", RECORDS), folder / "result", Settings(kappa=7)).output


@pytest.fixture
def result(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "result"))


def author_of(result: Path, mention: str) -> str:
    rows = pq.read_table(result / MENTIONS).to_pylist()
    return next(str(row["author_id"]) for row in rows if row["mention_id"] == mention)


@pytest.mark.slow
def test_decision_between_mentions(result: Path) -> None:
    found = decide(result, "different", "d1#0", "d2#0", reason="two people", user="ann")
    assert found.decision.number == 1
    assert (found.decision.user, found.decision.reason) == ("ann", "two people")
    assert decision_state(read_decisions(result)).pairs == {("d1#0", "d2#0"): False}


def test_author_is_represented_by_its_anchor(result: Path) -> None:
    wine, graph = author_of(result, "d2#0"), author_of(result, "d4#0")
    row = decide(result, "same", wine, graph, reason="moved").decision
    assert (row.a, row.b) == (wine, graph)
    assert (row.mention_a, row.mention_b) == ("d1#0", "d4#0")


def test_mention_is_not_an_author(result: Path) -> None:
    author = author_of(result, "d1#0")
    row = decide(result, "is-not", "d1#0", author, reason="other person").decision
    assert (row.mention_a, row.mention_b) == ("d1#0", "d2#0")  # the anchor left, so another mention stands for it
    assert row.members == ("d2#0",)
    row = decide(result, "is", "d6#0", author, reason="same person").decision
    assert row.mention_b == "d1#0"


def test_name_and_wrong_record(result: Path) -> None:
    row = decide(result, "name", author_of(result, "d1#0"), "  Wang,  Wei (wine) ", reason="her wish").decision
    assert (row.mention_a, row.b) == ("d1#0", "Wang, Wei (wine)")
    assert decide(result, "wrong-record", "d1", reason="retracted").decision.mention_a == "d1"
    assert decide(result, "wrong-record", "d2#0", reason="not a paper").decision.mention_a == "d2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("same", "d1#0", "d9#0"), "has no mention and no author 'd9#0'"),
        (("same", "d1#0", "d1#99"), "and no #99: d1#0 ("),
        (("same", "d1#0", "WANG, W/000000000000"), "has no author 'WANG, W/000000000000'"),
        (("same", "d1", "d2#0"), "'d1' is a document; name one of its mentions: d1#0 (Wang, Wei); d1#1"),
        (("same", "d1#0", "d1#0"), "are the same mention;"),
        (("same", "d1#0"), "same needs two arguments"),
        (("is", "d1#0", "d2#0"), "is needs a mention and an author"),
        (("wrong-record", "d999"), "has no document 'd999'"),
        (("wrong-record", "d1", "d2"), "takes one document"),
        (("name", "d1#0", "\x1b[31m"), "printable characters"),
        (("equal", "d1#0", "d2#0"), "cannot be decided; use one of same"),
    ],
)
def test_refuses_with_one_sentence(arguments: tuple[str, ...], message: str, result: Path) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        decide(result, *arguments, reason="x")
    assert "\n" not in str(caught.value)
    assert not (result / DECISIONS).exists()


def test_refuses_empty_reasons_and_lonely_authors(result: Path) -> None:
    with pytest.raises(InputError, match="needs a reason"):
        decide(result, "same", "d1#0", "d2#0", reason="  ")
    with pytest.raises(InputError, match="the only mention of"):
        decide(result, "is-not", "d6#0", author_of(result, "d6#0"), reason="x")
    with pytest.raises(InputError, match="not a result directory"):
        decide(result.parent, "same", "d1#0", "d2#0", reason="x")


def test_reports_what_speaks_against_a_decision(result: Path) -> None:
    def against(kind: str, a: str, b: str) -> str:
        return " ".join(decide(result, kind, a, b, reason="x", user="ann").warnings)

    assert "their orcid differ: 0000-0002-1825-0097 and 0000-0001-5109-3700" in against("same", "d3#0", "d7#0")
    assert "both have the orcid 0000-0002-1825-0097" in against("different", "d3#0", "d4#0")
    assert "both are on document d7" in against("same", "d7#0", "d7#1")
    assert "their names exclude each other: Wang, Wei and Wang, Wenli" in against("same", "d1#0", "d5#0")
    assert against("different", "d1#0", "d6#0") == ""
    orcids = against("same", author_of(result, "d3#0"), author_of(result, "d7#0"))
    assert "their orcid differ" in orcids


def test_reports_who_is_overruled(result: Path) -> None:
    decide(result, "same", "d1#0", "d2#0", reason="x", user="ann")
    decide(result, "same", "d2#0", "d3#0", reason="x", user="bob")
    found = decide(result, "different", "d1#0", "d3#0", reason="x", user="eve")
    assert found.warnings == [f"it overrules decision 1 (ann, {found.decision.time[:10]}): d1#0 same d2#0."]
    listed = decisions(result)
    assert "decision 1 (ann" in listed.warnings[0]
    assert "decision 3 (eve" in listed.warnings[0]
    assert "decision 2 (bob" in listed.warnings[0]
    assert [listed.status(row) for row in listed.rows] == ["overruled by 3, 2", "in force", "in force"]
    again = decide(result, "same", "d3#0", "d1#0", reason="x", user="ann")
    assert any("it replaces decision 3 (eve" in text for text in again.warnings)


def test_undo_and_status(result: Path) -> None:
    decide(result, "same", "d1#0", "d2#0", reason="x")
    listed = decisions(result, undo=1, user="bob", reason="mistake")
    assert [listed.status(row) for row in listed.rows] == ["undone by 2", "in force"]
    assert decision_state(read_decisions(result)).pairs == {}
    assert "0 decisions in force, of 2 rows" in str(listed)


def test_exported_table_is_usable_as_pairs_and_for_import(result: Path, made: Path, tmp_path: Path) -> None:
    author, table = author_of(result, "d1#0"), tmp_path / "mine.csv"
    decide(result, "is-not", "d2#0", author, reason='=HYPERLINK("http://x")', user="@ann")
    decide(result, "same", "d3#0", "d4#0", reason='"quoted", \n new line; \u202eright to left', user="'=bob")
    decide(result, "unsure", "d1#0", "d6#0", reason="-", user="+eve")
    decide(result, "name", author, "Wang, Wei", reason="x", user="ann")
    decide(result, "wrong-record", "d5", reason="x", user="ann")
    exported = decisions(result, export=table)
    pairs = read_user_pairs(table)
    assert set(zip(pairs.a, pairs.b, pairs.same, strict=True)) == {("d2#0", "d1#0", False), ("d3#0", "d4#0", True)}
    other = Path(shutil.copytree(made, tmp_path / "other"))
    imported = decisions(other, table=table)
    assert imported.imported == 5
    assert imported.rows == exported.rows
    assert decisions(other, table=table).imported == 0
    for row in csv.reader(table.read_text("utf-8-sig").splitlines()):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)


def test_a_row_with_two_other_people_is_one_row(result: Path, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text('mention_a,mention_b,relation,name_a,name_b\nd1#0,d2#0,different,"Other, Olga","Roe, Rita"\n')
    with pytest.raises(InputError, match="; 1 row of the table cannot be used"):
        decisions(result, table=table)


def test_table_is_not_imported_where_an_id_means_another_person(result: Path, tmp_path: Path) -> None:
    decide(result, "different", "d1#0", "d2#0", reason="x")
    decisions(result, export=tmp_path / "mine.csv")
    changed = [dict(one) for one in PAPERS]
    changed[1]["authors"] = [{"name": "Other, Olga"}, *changed[1]["authors"]]
    other = disambiguate(write(tmp_path / "in.jsonl", changed), tmp_path / "other", Settings(kappa=7)).output
    with pytest.raises(
        InputError, match=r"line 2: d2#0 is .* in the table, but 'Other, Olga' in .*; 1 row of the table"
    ):
        decisions(other, table=tmp_path / "mine.csv")
    assert not (other / DECISIONS).exists()
    text = (tmp_path / "mine.csv").read_text("utf-8-sig").replace("d2#0", "d2#1")
    (tmp_path / "mine.csv").write_text(text)
    assert decisions(other, table=tmp_path / "mine.csv").imported == 1


def test_exported_table_of_ids_with_blanks_is_imported(tmp_path: Path) -> None:
    records = [dict(one) for one in RECORDS]
    records[0]["id"] = " d1 "
    result = disambiguate(write(tmp_path / "in.jsonl", records), tmp_path / "spaced", Settings(kappa=7)).output
    copy = Path(shutil.copytree(result, tmp_path / "copy"))
    decide(result, "unsure", " d1 #0", "d2#0", reason="x", user="ann")
    table = tmp_path / "mine.csv"
    exported = decisions(result, export=table)
    assert decisions(copy, table=table).rows == exported.rows


def test_update_goes_on_with_an_imported_table_if_the_file_of_decisions_is_lost(result: Path, tmp_path: Path) -> None:
    decide(result, "different", "d1#0", "d2#0", reason="x", user="ann")
    decide(result, "name", "d1#0", "Shown, Name", reason="x", user="ann")
    update(result)
    table = tmp_path / "mine.csv"
    decisions(result, export=table)
    lines = table.read_text("utf-8-sig").splitlines(keepends=True)
    table.write_text("".join(line for line in lines if "Shown, Name" not in line))
    (result / DECISIONS).unlink()
    with pytest.raises(InputError, match=r"row 2 was applied, but .* missing; .* import an exported table"):
        update(result)
    imported = decisions(result, table=table)
    assert [(row.number, row.kind) for row in imported.rows] == [(3, "different")]
    assert imported.pending == {3}
    assert any("the next update takes back those that are not decided again" in text for text in imported.warnings)
    update(result)
    assert check(result).problems == []
    assert "Shown, Name" not in pq.read_table(result / AUTHORS)["name"].to_pylist()
    assert author_of(result, "d1#0") != author_of(result, "d2#0")


def test_lost_decisions_follow_authors_who_have_another_place_now(result: Path, tmp_path: Path) -> None:
    decide(result, "different", "d1#0", "d2#0", reason="x", user="ann")
    table = tmp_path / "mine.csv"
    decisions(result, export=table)
    changed = dict(RECORDS[0]) | {"authors": [{"name": "Zulu, Zoe"}, *RECORDS[0]["authors"]]}
    update(result, write(tmp_path / "changed.jsonl", [changed]))
    (result / DECISIONS).unlink()
    imported = decisions(result, table=table)
    assert [(row.mention_a, row.mention_b) for row in imported.rows] == [("d1#1", "d2#0")]
    update(result)
    assert author_of(result, "d1#1") != author_of(result, "d2#0")
    other = tmp_path / "other.csv"
    other.write_text(table.read_text("utf-8-sig").replace("d1#0", "unknown#0"))
    with pytest.raises(InputError, match="has no mention 'unknown#0'"):
        decisions(result, table=other)


def test_lost_decisions_are_reported_and_do_not_replace_an_exported_table(result: Path, tmp_path: Path) -> None:
    decide(result, "different", "d1#0", "d2#0", reason="x", user="ann")
    update(result)
    table = tmp_path / "mine.csv"
    decisions(result, export=table)
    before = table.read_bytes()
    (result / DECISIONS).unlink()
    with pytest.raises(InputError, match=r"row 1 was applied, .* Nothing was exported"):
        decisions(result, export=table)
    assert table.read_bytes() == before
    assert any("row 1 was applied" in text for text in decisions(result).warnings)


def test_lost_decisions_about_removed_documents_and_authors_are_imported_again(result: Path, tmp_path: Path) -> None:
    decide(result, "different", "d1#0", "d2#0", reason="x", user="ann")
    decide(result, "wrong-record", "d3", reason="x", user="ann")
    update(result, remove=["d1", "d3"])
    table = tmp_path / "mine.csv"
    decisions(result, export=table)
    (result / DECISIONS).unlink()
    imported = decisions(result, table=table)
    assert [(row.kind, row.mention_a, row.mention_b) for row in imported.rows] == [
        ("different", f"d1#0 (gone: {RECORDS[0]['authors'][0]['name']})", "d2#0"),
        ("wrong-record", "d3", ""),
    ]
    assert imported.missing == {3: ["d1#0"], 4: ["d3"]}
    assert decisions(result, table=table).known == 2
    update(result)
    update(result, write(tmp_path / "again.jsonl", [RECORDS[0], RECORDS[2]]))
    assert author_of(result, "d1#0") != author_of(result, "d2#0")
    assert decisions(result).missing == {}
    assert check(result).problems == []


def test_table_about_unknown_mentions_is_refused_although_decisions_were_lost(result: Path, tmp_path: Path) -> None:
    decide(result, "different", "d1#0", "d2#0", reason="x", user="ann")
    update(result)
    (result / DECISIONS).unlink()
    table = tmp_path / "pairs.csv"
    table.write_text("mention_a,mention_b,relation\nd1#0,d99#0,different\n")
    with pytest.raises(InputError, match="has no mention 'd99#0'"):
        decisions(result, table=table)


def test_new_decision_after_lost_ones_is_about_the_present_mentions(result: Path, tmp_path: Path) -> None:
    """It follows the lost rows, so that renames of mentions before it do not move it to another person."""
    decide(result, "different", "d1#0", "d2#0", reason="x", user="ann")
    update(result)
    (result / DECISIONS).unlink()
    found = decide(result, "name", "d1#0", "Shown, Name", reason="x", user="ann")
    assert found.decision.number == 2
    assert any("rows up to 1 were applied and are lost" in text for text in found.warnings)
    update(result)
    assert check(result).problems == []
    assert "Shown, Name" in pq.read_table(result / AUTHORS)["name"].to_pylist()


def test_table_of_pairs_is_imported(result: Path, tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("mention_a;mention_b;relation\nd1#0;d2#0;different\nd3#0;d4#0;SAME\nd1#0;d1#0;same\n")
    found = decisions(result, table=table, user="ann")
    assert [(row.kind, row.user, row.reason) for row in found.rows] == [
        ("different", "ann", "imported from pairs.csv"),
        ("same", "ann", "imported from pairs.csv"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mention_a,mention_b,relation\nd1#0,d2#0,same\nd1#0,d99#0,same\n", "line 3: .* has no mention 'd99#0'; 1 row"),
        ("mention_a,mention_b,relation\nd1#0,d2#0,maybe\n", "line 2: the relation is 'maybe'"),
        ("mention_a,mention_b,relation\nd1#0,,same\n", "line 2: a mention is missing"),
        ("mention_a,mention_b,relation\nd1#0,d1#0,different\n", "cannot be different from itself"),
        ("mention_a,mention_b,relation,kind\nd1#0,d2#0,same,is-not\n", "contradict each other"),
        ("mention_a,mention_b,relation,time\nd1#0,d2#0,same,yesterday\n", "the time is 'yesterday'"),
        ("mention_a,mention_b,relation,kind,members\nd1#0,d2#0,different,is-not,{\n", "members is not a list"),
        ("mention_a,mention_b,relation,kind\nd99,,wrong-record,wrong-record\n", "has no document 'd99'"),
        ("mention_a,mention_b,relation,kind,b\nd1#0,,name,name,\n", "a name is missing"),
        ("mention_a,mention_b\nd1#0,d2#0\n", "has the columns"),
    ],
)
def test_bad_tables_are_refused_as_a_whole(text: str, message: str, result: Path, tmp_path: Path) -> None:
    table = tmp_path / "bad.csv"
    table.write_text(text)
    with pytest.raises(InputError, match=message):
        decisions(result, table=table)
    assert not (result / DECISIONS).exists()


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)


@example(reason="0", user="0", a="\r")
@given(reason=TEXTS, user=TEXTS, a=TEXTS)
@settings(max_examples=examples(60))
def test_round_trip_of_hostile_text(
    reason: str, user: str, a: str, made: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile")
    one, two = (Path(shutil.copytree(made, folder / name)) for name in ("one", "two"))
    add_decisions(one, [NewDecision("same", a, "d2#0", "d1#0", "d2#0", reason, user)])
    decisions(one, export=folder / "out.csv")
    decisions(two, table=folder / "out.csv")
    assert read_decisions(two) == read_decisions(one)


def test_export_is_refused_where_it_would_do_harm(result: Path, tmp_path: Path) -> None:
    decide(result, "same", "d1#0", "d2#0", reason="x")
    table = tmp_path / "t.csv"
    decisions(result, export=table)
    for path, extra in ((result / "x.csv", None), (tmp_path / "x.txt", None), (table, table)):
        with pytest.raises(HomonymError):
            decisions(result, export=path, table=extra)


def test_result_of_cluster_can_be_decided(tmp_path: Path) -> None:
    mentions = extract(write(tmp_path / "in.jsonl", RECORDS), tmp_path / "mentions.jsonl").output
    made = cluster(mentions, tmp_path / "result", Settings(kappa=7)).output
    assert decide(made, "same", "d3#0", "d7#0", reason="x").decision.number == 1
    assert decide(made, "wrong-record", "d3", reason="x").decision.mention_a == "d3"


def test_decisions_survive_a_run_that_replaces_the_result(result: Path, tmp_path: Path) -> None:
    decide(result, "same", "d1#0", "d2#0", reason="x")
    before = read_decisions(result)
    done = disambiguate(write(tmp_path / "in.jsonl", RECORDS[:-5]), result, Settings(kappa=7))
    assert read_decisions(result) == before
    assert any("keeps 1 decision; this run does not apply them" in text for text in done.warnings)


def test_commands(result: Path, tmp_path: Path) -> None:
    ann = ("--user", "ann", "--reason", "x\ny")
    done = homonym_command("decide", result, "different", "d1#0", "d2#0", *ann, check=True)
    assert "decision 1 is recorded" in done.stdout
    done = homonym_command("decide", result, "same", "d2#0", "d1#0", "--reason", "x", check=True)
    assert "warning: it replaces decision 1 (ann" in done.stderr
    done = homonym_command("decisions", result, check=True)
    assert "ann\treplaced by 2\td1#0 different d2#0\tx\\ny" in done.stdout
    rows = orjson.loads(homonym_command("decisions", result, "--json", "--undo", 2, check=True).stdout)
    assert [row["status"] for row in rows] == ["in force", "undone by 3", "in force"]
    homonym_command("decisions", result, "--export", tmp_path / "out.csv", check=True)
    done = homonym_command("decisions", result, "--import", tmp_path / "out.csv", check=True)
    assert done.stdout.startswith("0 decisions imported; 1 row decided so already")
    failed = homonym_command("decisions", result, "--undo", 9)
    assert (failed.returncode, failed.stderr.count("\n")) == (2, 1)


def test_identifiers_are_those_of_the_mention(result: Path) -> None:
    assert ORCID["orcid"] in " ".join(decide(result, "different", "d4#0", "d3#0", reason="x").warnings)
    assert decide(result, "different", "d4#1", "d3#1", reason="x").warnings == []


def test_a_new_run_does_not_replace_mentions_with_decisions(result: Path) -> None:
    decide(result, "different", "d1#0", "d2#0", reason="two people")
    before = {path.name: path.read_bytes() for path in result.iterdir()}
    with pytest.raises(OutputError, match=r"decisions of users.*about the mention 'd1#0'.*name another directory"):
        disambiguate(write(result.parent / "in.jsonl", RECORDS[2:]), result, Settings(kappa=7))
    assert {path.name: path.read_bytes() for path in result.iterdir()} == before


@pytest.mark.slow
def test_check_names_decisions_about_mentions_that_are_gone(result: Path) -> None:
    decide(result, "different", "d1#0", "d2#0", reason="two people")
    assert check(result).problems == []
    # Older versions replaced the tables of a result that had decisions.
    other = disambiguate(
        write(result.parent / "in.jsonl", RECORDS[2:]), result.parent / "other", Settings(kappa=7)
    ).output
    shutil.copy(result / DECISIONS, other / DECISIONS)
    [problem] = check(other).problems
    assert re.search(r"decision 1 is about the mention 'd1#0', which the result does not have, and 1 more", problem)
    decisions(other, undo=1, reason="made again")
    assert check(other).problems == []
