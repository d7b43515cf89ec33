"""homonym explain: what it answers, in text, JSON, figures and pages, and how it refuses."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import lxml.html
import orjson
import pytest

from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.explain import explain
from homonym.commands.extract import extract
from homonym.errors import InputError, OutputError
from homonym.explanation.explained import ComparedClusters, Explanation
from homonym.report.explanation_figures import dendrogram_of, waterfall_bars
from homonym.settings import Settings
from tests.commands.test_result_directory import write
from tests.support.command import homonym_command

HOSTILE = '<script>alert(1)</script> \u05e9\u05dc\u05d5\u05dd \x1b[31mred & \u202e"quoted"'
ORCID = {"orcid": "0000-0002-1825-0097"}
OTHER_ORCID = {"orcid": "0000-0001-5109-3700"}


def paper(number: int, author: Any, team: list[str], topic: str, **more: Any) -> dict[str, Any]:
    people = [author, *({"name": name} for name in team)]
    return {"id": f"d{number}", "title": f"{topic} {number}", "year": 2000 + number, "authors": people, **more}


# Wei of the wine team, two Weis of the graph team, one of whom is linked by ORCID, and Wenli of the wine team.
PAPERS = [
    paper(1, {"name": "Wang, Wei"}, ["Merlot, Anna", "Syrah, Bruno"], "Wine yeast fermentation"),
    paper(2, {"name": "Wang, Wei"}, ["Merlot, Anna", "Syrah, Bruno"], "Yeast strains in wine"),
    paper(3, {"name": "Wang, Wei", "ids": ORCID}, ["Edge, Carl"], "Graph kernels", year=1980),
    paper(4, {"name": "Wang, W", "ids": ORCID}, ["Node, Dora"], HOSTILE, year=1960),
    paper(5, {"name": "Wang, Wenli"}, ["Merlot, Anna", "Syrah, Bruno"], "Wine yeast fermentation"),
    paper(6, {"name": "Wang, W"}, ["Lonely, Zoe"], "Ceramics", year=1940),
]
FILLERS = [
    paper(100 + n, {"name": f"Author{n}, A"}, [f"Other{n}, B"], f"Subject{n} matter", year=2001) for n in range(40)
]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explain")
    return disambiguate(write(folder / "in.jsonl", [*PAPERS, *FILLERS]), folder / "result", Settings(kappa=7)).output


def assert_parts_sum(compared: ComparedClusters) -> None:
    assert math.fsum(part.value for part in compared.parts) == pytest.approx(compared.score, rel=1e-9, abs=1e-15)
    if compared.parts and math.isfinite(compared.share):
        last = waterfall_bars(compared)[-1]
        assert last.start + last.length == pytest.approx(compared.share, rel=1e-9, abs=1e-12)


def comparisons(found: Explanation) -> list[ComparedClusters]:
    some = [found.merge, found.direct, *(other.comparison for other in found.others)]
    return [one for one in some if one]


@pytest.mark.slow
def test_name_has_its_authors_with_papers_and_tree(result: Path) -> None:
    found = explain(result, "Wang, Wei")
    assert found.kind == "name"
    assert {mention.mention_id for author in found.authors for mention in author.mentions} >= {"d1#0", "d2#0", "d3#0"}
    assert "d5#0" not in {mention.mention_id for author in found.authors for mention in author.mentions}
    assert found.mentions == 6
    everybody = explain(result, "WANG, W")
    assert sum(len(author.mentions) for author in everybody.authors) == 6
    text = str(everybody)
    assert "Wine yeast fermentation 1" in text
    assert "must-link" in text
    drawn = dendrogram_of(everybody)
    assert len(drawn.labels) == 6 + len(everybody.authors)
    assert len(drawn.lines) == len(everybody.merges)


def test_authors_of_a_name_have_reasons(result: Path) -> None:
    found = explain(result, "WANG, W")
    wine = next(author for author in found.authors if author.mentions[0].mention_id == "d1#0")
    assert wine.reasons[0].startswith("The weakest link joins ")
    assert "co-author" in wine.reasons[0]
    assert "The weakest link joins “Wine yeast fermentation 1” (2001)" in str(found)
    lone = next(author for author in found.authors if author.mentions[0].mention_id == "d6#0")
    assert not lone.reasons, "it has less in common with the others than is expected by chance"


@pytest.mark.slow
def test_says_which_shared_identifiers_were_not_used(tmp_path: Path) -> None:
    scopus = {"name": "Doe, J", "ids": {"scopus": "7006438074"}}
    papers = [paper(1, scopus, ["Roe, A"], "Wine"), paper(2, scopus, ["Poe, B"], "Graphs", year=1950)]
    written = disambiguate(write(tmp_path / "in.jsonl", [*papers, *FILLERS]), tmp_path / "result", Settings(kappa=7))
    sentence = "Both have the scopus id 7006438074, but this kind of identifier was not used (--identifiers)."
    assert sentence in explain(written.output, "d1#0", "d2#0").answer
    assert sentence in str(explain(written.output, "d1#0"))
    trusted = Settings(kappa=7, identifiers="scopus")
    again = disambiguate(tmp_path / "in.jsonl", tmp_path / "again", trusted)
    assert sentence not in str(explain(again.output, "d1#0", "d2#0"))


def test_author_that_only_a_constraint_excludes_is_named_with_the_reason(result: Path) -> None:
    wine = next(one for one in explain(result, "WANG, W").authors if one.mentions[0].mention_id == "d1#0")
    (excluded,) = (one for one in wine.reasons if one.startswith("A constraint excludes "))
    assert re.search(r"Wang, Wenli.+ times the required evidence\. .*Their names exclude each other", excluded)


@pytest.mark.slow
def test_name_is_found_in_blocks_that_the_data_gives(tmp_path: Path) -> None:
    papers = [paper(n, {"name": "Lei Wang", "block": "Lei Wang"}, ["Roe, A"], "Wine") for n in range(3)]
    papers.append(paper(7, {"name": "Wang, L"}, ["Poe, B"], "Graphs", year=1950))
    written = disambiguate(write(tmp_path / "in.jsonl", [*papers, *FILLERS]), tmp_path / "result", Settings(kappa=7))
    for text in ("Wang, Lei", "Lei Wang"):
        found = explain(written.output, text)
        assert (found.block, found.mentions) == ("Lei Wang", 3)
        (note,) = found.notes
        assert note.startswith("1 mention of 1 author under the name WANG, L can have this name, too")
    assert explain(written.output, "WANG, L").mentions == 1


def test_surname_alone_means_its_only_name(result: Path) -> None:
    assert explain(result, "wang").block == "WANG, W"


def test_surname_of_several_names_lists_them(tmp_path: Path) -> None:
    papers = [paper(n, {"name": name}, [], "Wine") for n, name in enumerate(["Doe, Ann", "Doe, Bob", "Doe, Bert"])]
    written = disambiguate(write(tmp_path / "in.jsonl", papers), tmp_path / "result", Settings(kappa=7)).output
    with pytest.raises(
        InputError, match=r"surname of 2 names; choose one: DOE, B \(2 mentions\); DOE, A \(1 mention\)"
    ):
        explain(written, "Doe")


def test_figure_leaves_only_the_answer_on_the_terminal(result: Path, tmp_path: Path) -> None:
    done = homonym_command("explain", result, "d1#0", "d2#0", "-o", tmp_path / "why.svg", check=True)
    assert done.stdout.splitlines()[0].startswith("They are one author.")
    assert done.stdout.splitlines()[-1] == str(tmp_path / "why.svg")
    assert "co-author" not in done.stdout


def test_two_mentions_together_show_their_evidence(result: Path) -> None:
    found = explain(result, "d1#0", "d2#0")
    assert found.together
    assert found.merge
    assert found.merge.round == 1
    assert found.merge.share > 1
    best = found.merge.parts[0]
    assert (best.type, best.rarity) == ("co", f"on 6 of {found.mentions_in_collection:,} mentions")
    assert {best.feature} <= {"MERLOT|ANNA", "SYRAH|BRUNO"}
    assert "co-author" in str(found)
    for compared in comparisons(found):
        assert_parts_sum(compared)


def test_must_link_names_the_identifier(result: Path) -> None:
    found = explain(result, "d3#0", "d4#0")
    assert found.merge
    assert found.merge.links == ("They have the same orcid: 0000-0002-1825-0097.",)
    assert "must-link" in found.answer
    assert found.merges[0].score is None


def test_cannot_link_names_the_reason(result: Path) -> None:
    found = explain(result, "d1#0", "d5#0")
    assert found.together is False
    assert found.merge
    assert found.merge.barriers == ("Their names exclude each other: Wang, Wei and Wang, Wenli.",)
    assert "a constraint takes precedence" in found.answer


def test_apart_says_what_is_missing(result: Path) -> None:
    found = explain(result, "d1#0", "d6#0")
    assert found.merge
    assert found.merge.share < 1
    assert "is missing" in found.answer
    assert not found.merge.barriers
    assert found.direct
    for compared in comparisons(found):
        assert_parts_sum(compared)


def test_author_has_last_merge_and_next_author(result: Path) -> None:
    author = explain(result, "d1#0").authors[0]
    found = explain(result, author.author_id)
    assert found.kind == "author"
    assert found.merge
    assert {*found.merge.left, *found.merge.right} == {mention.mention_id for mention in author.mentions}
    assert found.others
    assert found.notes
    assert found.merge.needed
    for compared in comparisons(found):
        assert_parts_sum(compared)


def test_needed_evidence_is_necessary(result: Path) -> None:
    found = explain(result, "d1#0", "d2#0")
    assert found.merge
    single = [part for part in found.merge.parts if part.kind == "feature"]
    for part in single:
        rest = found.merge.score - found.merge.factor * part.value
        named = any(part.feature.replace("|", ", ") in text for text in found.merge.needed)
        assert named == (rest <= max(found.merge.limit, found.merge.chance_limit))


def test_lone_mention_has_no_merge(result: Path) -> None:
    found = explain(result, "d6#0")
    assert found.merge is None
    assert "not merged" in found.answer
    assert found.others


def test_command_prints_text_or_one_json_object(result: Path) -> None:
    done = homonym_command("explain", result, "d1#0", "d2#0", check=True)
    assert "They are one author." in done.stdout
    printed = homonym_command("explain", result, "WANG, W", "--json", check=True).stdout
    assert orjson.loads(printed) == explain(result, "WANG, W").to_json()


@pytest.mark.parametrize("what", [["WANG, W"], ["d3#0"], ["d3#0", "d4#0"], ["d1#0", "d6#0"]])
def test_pages_and_figures_escape_what_titles_contain(what: list[str], result: Path, tmp_path: Path) -> None:
    for name in ("why.html", "why.svg"):
        homonym_command("explain", result, *what, "-o", tmp_path / name, check=True)
    page = (tmp_path / "why.html").read_text()
    assert "<script" not in page
    assert page.count("<svg") >= 1
    assert ET.fromstring((tmp_path / "why.svg").read_bytes()).tag.endswith("svg")
    assert "\x1b" not in homonym_command("explain", result, *what).stdout
    assert "\x1b" not in (tmp_path / "why.svg").read_text()


@pytest.mark.slow
def test_page_names_the_papers_that_were_compared(result: Path, tmp_path: Path) -> None:
    explain(result, "d1#0", "d2#0", output=tmp_path / "together.html")
    page = lxml.html.parse(tmp_path / "together.html").getroot().text_content()
    assert re.search(r"Joined: .*d\d#0\).* with .*d\d#0\)", page)
    explain(result, "d1#0", "d4#0", output=tmp_path / "apart.html")
    page = lxml.html.parse(tmp_path / "apart.html").getroot().text_content()
    assert re.search(r"Compared: .*d\d#0\).* with .*d4#0\)", page)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (["Wanq, Wei"], "has no name, mention id or author id 'Wanq, Wei'; names like it: WANG, W"),
        (["d1"], "'d1' is a document; name one of its mentions: "),
        (["WANG, W", "d1#0"], "'WANG, W' has"),
        (["WANG, W/000000000000"], "has no name, mention id or author id"),
        (["d1#0", "d1#1"], "only mentions of one name are compared"),
        (["Quixotic, Zoltan"], "'Quixotic, Zoltan'; no name is like it"),
        (["d1#9"], "'d1' has authors #0 to #2, and no #9: d1#0 (Wang, Wei); d1#1 (Merlot, Anna)"),
        ([" "], "nothing to explain; give a name, a mention id or an author id."),
    ],
)
def test_refuses_what_it_cannot_find_with_one_sentence(what: list[str], message: str, result: Path) -> None:
    done = homonym_command("explain", result, *what)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not done.stdout


def test_refuses_other_results(result: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a result directory"):
        explain(tmp_path, "Wang, Wei")
    source = write(tmp_path / "in.jsonl", PAPERS)
    extract(source, tmp_path / "m.jsonl")
    bags = cluster(tmp_path / "m.jsonl", tmp_path / "bags", Settings(kappa=7)).output
    with pytest.raises(InputError, match=r"has no documents.parquet: results of homonym cluster have no documents"):
        explain(bags, "Wang, Wei")
    with pytest.raises(OutputError, match=r"is written as .svg or .html"):
        explain(result, "Wang, Wei", output=tmp_path / "why.png")
    (tmp_path / "old").mkdir()
    for path in result.iterdir():
        if not path.name.startswith("statistics"):
            (tmp_path / "old" / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="earlier versions have no such file"):
        explain(tmp_path / "old", "Wang, Wei")


@pytest.mark.slow
def test_different_identifiers_and_documents_are_reasons(tmp_path: Path) -> None:
    two = [
        paper(1, {"name": "Roe, R", "ids": ORCID}, ["Ant, A", "Roe, R"], "Wine"),
        paper(2, {"name": "Roe, R", "ids": OTHER_ORCID}, ["Ant, A"], "Wine"),
    ]
    result = disambiguate(write(tmp_path / "in.jsonl", two), tmp_path / "result", Settings(kappa=7)).output
    found = explain(result, "d1#0", "d2#0")
    assert found.merge
    assert any(
        "Their orcid differ: 0000-0002-1825-0097 and 0000-0001-5109-3700." in one for one in found.merge.barriers
    )
    same = explain(result, "d1#0", "d1#2")
    assert same.merge
    assert any("Both are on one document: Wine 1." in one for one in same.merge.barriers)
