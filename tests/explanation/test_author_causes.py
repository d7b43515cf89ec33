"""explain of a result with decisions: what the tables have, who decided it, and what the clustering alone does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from homonym.commands.decide import decide
from homonym.commands.decisions import decisions
from homonym.commands.disambiguate import disambiguate
from homonym.commands.explain import explain
from homonym.commands.update import update
from homonym.errors import InputError
from homonym.report.run_page import write_run_page
from tests.support.living import SETTINGS, authors, document, write_documents

# Most tests make whole results.
pytestmark = pytest.mark.slow

ORCID = "0000-0002-1825-0097"


def paper(number: int, person: int, **changes: Any) -> dict[str, Any]:
    found = document(number, person)
    found["authors"][0] |= changes
    return found


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Doe of coins (D0001 to D0004; the last as Doe-Smith with an ORCID) and Doe of cells (D0005, D0006)."""
    folder = tmp_path_factory.mktemp("causes")
    papers = [paper(1, 0, ids={"orcid": ORCID}), paper(2, 0), paper(3, 0)]
    papers += [paper(4, 0, name="Doe-Smith, J", ids={"orcid": ORCID}), paper(5, 1), paper(6, 1)]
    papers += [paper(number, 3) for number in range(10, 30)]
    return disambiguate(write_documents(folder / "in.jsonl", papers), folder / "result", SETTINGS).output


@pytest.fixture
def result(first: Path, tmp_path: Path) -> Path:
    found = authors(first)
    assert found["D0001#0"] == found["D0002#0"] == found["D0003#0"] == found["D0004#0"] != found["D0005#0"]
    assert found["D0005#0"] == found["D0006#0"]
    return Path(shutil.copytree(first, tmp_path / "result"))


def decided(result: Path, kind: str, a: str, b: str | None = None) -> str:
    """Make and apply a decision; returns how an answer begins to cite it."""
    done = decide(result, kind, a, b, reason="her page", user="ann").decision
    update(result)
    return f"ecision {done.number} (ann, {done.time[:10]})"


def test_different_is_the_cause(result: Path) -> None:
    cited = decided(result, "different", "D0005#0", "D0006#0")
    found = explain(result, "D0005#0", "D0006#0")
    assert found.together is False
    assert cited in found.answer
    assert "“her page”" in found.answer
    assert "The clustering alone makes them one author." in found.answer
    assert len(found.authors) == 2
    assert cited in str(explain(result, "D0005#0"))
    assert cited in str(explain(result, "Doe, J"))


def test_same_is_the_cause(result: Path) -> None:
    cited = decided(result, "same", "D0002#0", "D0005#0")
    for a, b in (("D0002#0", "D0005#0"), ("D0003#0", "D0006#0")):
        found = explain(result, a, b)
        assert found.together is True
        assert cited in found.answer
        assert "The clustering alone keeps them apart. Their score is" in found.answer
    author = explain(result, authors(result)["D0006#0"])
    assert cited in author.answer
    assert len(author.authors[0].mentions) == 5
    assert [merge.is_clustered for merge in author.merges].count(False) == 1
    assert "+ joined" in str(author)


def test_is_not_is_the_cause_and_the_others_keep_their_merges(result: Path) -> None:
    before = authors(result)["D0001#0"]
    cited = decided(result, "is-not", "D0003#0", before)
    found = explain(result, "D0002#0", "D0003#0")
    assert found.together is False
    assert cited in found.answer
    rest = explain(result, "D0001#0", "D0002#0")
    assert rest.together is True
    assert rest.merge
    assert not rest.merge.links, "a score has joined them"


def test_wrong_record_is_the_cause(result: Path) -> None:
    cited = decided(result, "wrong-record", "D0006")
    found = explain(result, "D0005#0", "D0006#0")
    assert found.together is False
    assert cited in found.answer
    assert cited in str(explain(result, "D0006#0"))


def test_decisions_across_names(result: Path) -> None:
    cited = decided(result, "different", "D0001#0", "D0004#0")
    found = explain(result, "D0001#0", "D0004#0")
    assert found.together is False
    assert cited in found.answer
    assert "Without decisions they are one author." in found.answer
    decisions(result, undo=1, user="ann", reason="typing error")
    cited = decided(result, "same", "D0004#0", "D0005#0")
    found = explain(result, "D0004#0", "D0006#0")
    assert found.together is True
    assert cited in found.answer
    assert "Without decisions they are two authors." in found.answer


def test_orcid_across_names_is_the_cause(result: Path) -> None:
    found = explain(result, "D0002#0", "D0004#0")
    assert found.together is True
    assert f"the orcid {ORCID}" in found.answer
    with pytest.raises(InputError, match="only mentions of one name are compared"):
        explain(result, "D0005#0", "D0004#0")


def test_name_shows_mentions_of_its_authors_under_other_names(result: Path) -> None:
    found = explain(result, "Doe, J")
    (coins,) = (one for one in found.authors if one.author_id == authors(result)["D0001#0"])
    assert [one.mention_id for one in coins.elsewhere] == ["D0004#0"]
    assert "1 more mention under other names" in str(found)
    assert "Doe-Smith, J; D0004#0" in str(found)


def test_says_which_decisions_are_not_applied(result: Path) -> None:
    decide(result, "different", "D0005#0", "D0006#0", reason="her page", user="ann")
    found = explain(result, "D0005#0", "D0006#0")
    assert found.together is True
    assert "not applied yet" in str(explain(result, "D0005#0"))
    update(result)
    decisions(result, undo=1, user="bob", reason="mistake")
    found = explain(result, "D0005#0", "D0006#0")
    assert found.together is False
    assert "undo of 1 (“mistake”): not applied yet" in str(explain(result, "D0005#0"))


def test_shows_the_name_that_a_user_gave(result: Path) -> None:
    decided(result, "name", authors(result)["D0005#0"], "Doe, Jane")
    assert explain(result, "D0006#0").authors[0].name == "Doe, Jane"


def test_page_of_a_result_with_decisions_cites_them(result: Path, tmp_path: Path) -> None:
    cited = decided(result, "different", "D0001#0", "D0003#0")
    write_run_page(result, tmp_path / "page.html")
    assert cited in (tmp_path / "page.html").read_text()


def test_decision_under_another_name_is_the_cause(tmp_path: Path) -> None:
    other = "0000-0001-5109-3700"
    papers = [paper(1, 0, ids={"orcid": ORCID}), paper(2, 0, ids={"orcid": ORCID}), paper(3, 0, name="Doe-Smith, J")]
    papers += [paper(4, 0, name="Doe-Smith, J", ids={"orcid": ORCID}), paper(5, 3, ids={"orcid": other})]
    papers += [paper(number, 3) for number in range(10, 30)]
    made = disambiguate(write_documents(tmp_path / "in.jsonl", papers), tmp_path / "result", SETTINGS).output
    found = authors(made)
    assert found["D0001#0"] == found["D0002#0"] == found["D0003#0"] == found["D0004#0"]
    cited = decided(made, "is-not", "D0002#0", found["D0001#0"])
    for one in ("D0001#0", "D0003#0", "D0004#0"):
        answer = explain(made, "D0002#0", one)
        assert answer.together is False
        assert cited in answer.answer


def test_pair_cites_decisions_that_agree_with_the_clustering(result: Path) -> None:
    cited = decided(result, "same", "D0005#0", "D0006#0")
    found = explain(result, "D0005#0", "D0006#0")
    assert found.together is True
    assert [cited in note for note in found.notes] == [True]
    decide(result, "unsure", "D0006#0", "D0005#0", reason="asked again", user="bob")
    notes = explain(result, "D0005#0", "D0006#0").notes
    assert len(notes) == 2
    assert "bob" in notes[1]
    assert "not applied yet" in notes[1]
    assert not explain(result, "D0001#0", "D0002#0").notes


def test_name_given_by_a_user_is_found(result: Path) -> None:
    author = authors(result)["D0005#0"]
    decided(result, "name", "D0006#0", "Zoë Doe of Basel")
    found = explain(result, " zoë doe of  BASEL")
    assert found.kind == "author"
    assert [one.author_id for one in found.authors] == [author]
    decided(result, "name", "D0010#0", "Zoë Doe of Basel")
    with pytest.raises(InputError, match=r"is the name of 2 authors; choose one: DOE, J/\w+; ROE, R/"):
        explain(result, "Zoë Doe of Basel")
    decisions(result, undo=1)
    assert explain(result, "Zoë Doe of Basel").authors[0].author_id == authors(result)["D0010#0"]


def test_name_that_mentions_have_says_who_was_given_it(result: Path) -> None:
    cited = decided(result, "name", "D0010#0", "Doe, J")
    found = explain(result, "Doe, J")
    assert found.kind == "name"
    (note,) = found.notes
    assert note.startswith(f"{authors(result)['D0010#0']} has this name, too. D{cited}")


def test_author_with_a_name_from_a_user_comes_first(result: Path) -> None:
    smaller = authors(result)["D0005#0"]
    assert explain(result, "Doe, J").authors[0].author_id != smaller
    cited = decided(result, "name", smaller, "Doe, J")
    found = explain(result, "Doe, J")
    assert found.authors[0].author_id == smaller
    assert f"{smaller} has this name from a user. D{cited}" in found.notes[0]


def test_redirect_says_which_decision_joined_both_authors(result: Path) -> None:
    first, second = (authors(result)[one] for one in ("D0001#0", "D0005#0"))
    cited = decided(result, "same", first, second)
    found = explain(result, first, second)
    assert found.together
    assert found.answer.startswith(f"They are one author. {second} became {first} on 2")
    assert f"D{cited}: {first} same {second}" in found.answer


def test_retired_id_says_what_became_of_it(result: Path) -> None:
    gone = authors(result)["D0005#0"]
    decided(result, "same", "D0005#0", "D0006#0")
    update(result, remove=["D0005", "D0006"])
    message = rf"'{gone}' has no mentions any more since 2\d\d\d-\d\d-\d\d \(.+\); homonym events"
    with pytest.raises(InputError, match=message):
        explain(result, gone)
    with pytest.raises(InputError, match="has no mentions any more since"):
        decide(result, "same", gone, "D0001#0", reason="her page")
