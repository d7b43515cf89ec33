"""The page of a result directory: content, bounds, hostile texts, and the same bytes for the same input."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Callable
from itertools import islice, product
from pathlib import Path
from typing import Any

import lxml.html
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lxml.html import HtmlElement

from homonym.cli.app import cli
from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.run import Resources
from homonym.errors import InputError
from homonym.exports.targets import TARGETS
from homonym.io.result_directory import AUTHORS, DOCUMENTS, LOG, REPORT
from homonym.report import run_content, run_page
from homonym.report.run_page import render_run_page
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus

# Most tests make whole results.
pytestmark = pytest.mark.slow

LIMIT = Settings(kappa=7)
NASTY = "</details><script>alert(1)</script><img src=x onerror=alert(1)> & \"quotes\" 'too' {{ title }} {% raw %}"
HEBREW, OVERRIDE = "מחקר על שמות", "\u202eevil\u0000\u001b[31m title"
DOI = {"doi": "10.1000/1"}
ORCID = {"orcid": "0000-0002-1825-0097"}
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "title": "Graph kernels", "year": 2010,
     "authors": [{"name": "Doe, Jane", "affiliations": ["MIT"], "ids": ORCID}, {"name": "Roe, R"}]},
    {"id": "b", "title": "Kernels of graphs", "year": 2012,
     "authors": [{"name": "Doe, J.", "affiliations": ["MIT", "Harvard"], "ids": ORCID}, "Roe, R", "Poe, E"]},
    {"id": "c", "authors": ["Zoe, Z", None]},
    {"id": "broken"},
]  # fmt: skip


def write(path: Path, documents: list[Any]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(document) + b"\n" for document in documents))
    return path


def made(folder: Path, documents: list[Any], settings: Settings = LIMIT) -> Path:
    return disambiguate(write(folder / "in.jsonl", documents), folder / "result", settings).output


def surnames(number: int) -> list[str]:
    """Different words, because digits are no part of a name."""
    return ["".join(letters) for letters in islice(product("abcdefghij", repeat=5), number)]


def parsed(result: Path) -> HtmlElement:
    return lxml.html.fromstring((result / REPORT).read_text(encoding="utf-8"))


def words(element: HtmlElement) -> str:
    return " ".join(element.text_content().split())


@pytest.fixture
def page(tmp_path: Path) -> HtmlElement:
    return parsed(made(tmp_path, RECORDS))


def test_says_what_was_read_and_found(page: HtmlElement) -> None:
    read = words(page.get_element_by_id("read"))
    assert "4 authors found in 3 documents" in words(page)
    assert "6 mentions of 4 names were found to belong to 4 authors." in words(page)
    assert re.search(r"Formats: .+ \(1 file\)\.", read)
    assert "The documents are from 2010–2012." in read
    assert "1 document without a title" in read
    assert "1 record could not be used." in read
    assert "in.jsonl, line 4: 'authors' is missing or not a list." in read


def test_names_open_to_authors_and_authors_to_papers(page: HtmlElement) -> None:
    name = next(one for one in page.find_class("name") if "DOE, J" in words(one))
    author = name.find_class("author")[0]
    assert "Doe, Jane 2 papers, 2010–2012" in words(author)
    assert "Also written: Doe, J." in words(author)
    assert "Identifiers: ORCID 0000-0002-1825-0097" in words(author)
    latest, first = (words(paper) for paper in author.findall(".//li"))
    assert latest == "2012. Kernels of graphs With Roe, R; Poe, E. MIT; Harvard"
    assert first == "2010. Graph kernels With Roe, R. MIT"
    assert "No year. No title (c)" in words(page)


def test_links_lead_to_names_and_authors_on_the_page(page: HtmlElement) -> None:
    links = [link.get("href") for link in page.iter("a")]
    assert len(links) > 10
    assert all(page.get_element_by_id(link.removeprefix("#")) is not None for link in links)
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_loads_nothing_and_allows_only_its_own_script(page: HtmlElement) -> None:
    assert not [element.tag for element in page.iter("link", "img", "iframe", "object")]
    assert not [element for element in page.iter() if element.get("src")]
    (script,) = page.iter("script")
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    policy = page.find(".//meta[@http-equiv]").get("content")
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_search_is_hidden_unless_the_script_runs(page: HtmlElement) -> None:
    assert page.get_element_by_id("search").get("hidden") is not None
    assert all(name.get("hidden") is None for name in page.find_class("name"))


def test_hostile_texts_are_escaped(tmp_path: Path) -> None:
    author = {"name": NASTY, "affiliations": [NASTY, HEBREW], "ids": {"other": NASTY}}
    documents = [
        {"id": NASTY, "title": NASTY, "year": 2000, "authors": [author, "Doe, J"]},
        {"id": "2", "title": HEBREW, "authors": ["Doe, J", "כהן, דוד"]},
        {"id": "3", "title": OVERRIDE, "authors": ["Doe, J"]},
        {"id": "4", "title": "x", "authors": ["Doe, J"], NASTY: NASTY},
    ]
    source = write(tmp_path / "<b>in.jsonl", [*documents, {"id": NASTY}])
    result = disambiguate(source, tmp_path / "result", LIMIT).output
    page = parsed(result)
    assert len(list(page.iter("script"))) == 1
    assert not list(page.iter("img"))
    assert not [key for element in page.iter() for key in element.attrib if key.startswith("on")]
    assert words(page).count("<script>alert(1)</script>") > 2
    assert "<b>in.jsonl" in words(page.get_element_by_id("read"))
    shown = [bdi.text_content() for bdi in page.iter("bdi")]
    assert HEBREW in shown
    assert "evil [31m title" in shown
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202a-\u202e]", (result / REPORT).read_text(encoding="utf-8"))


def test_largest_authors_have_several_papers_if_any_has(page: HtmlElement, tmp_path: Path) -> None:
    listed = words(page.get_element_by_id("largest"))
    assert "Doe, Jane" in listed
    assert "Zoe, Z" not in listed
    assert "Zoe, Z" in words(parsed(made(tmp_path, [RECORDS[2]])).get_element_by_id("largest"))


def test_many_authors_of_a_document_or_a_name_are_cut(tmp_path: Path) -> None:
    team = [f"{name}, A" for name in surnames(3000)]
    documents = [{"id": "big", "title": "Detector", "year": 2015, "authors": team}]
    documents += [
        {"id": f"d{n}", "title": f"word{n}a word{n}b", "authors": [{"name": f"Wang, W{n}", "block": "WANG"}]}
        for n in range(60)
    ]
    page = parsed(made(tmp_path, documents))
    assert "and 2,989 more" in words(page)
    assert "of 3,001 names: the largest ones" in words(page)
    wang = next(name for name in page.find_class("name") if "WANG 60 mentions, 60 authors" in words(name))
    assert len(wang.find_class("author")) == 50
    assert "10 more authors are in authors.parquet." in words(wang)


def test_page_of_long_texts_is_below_5_megabytes(tmp_path: Path) -> None:
    # Each of these characters takes five bytes of HTML.
    long, people = "&" * 300, surnames(990)
    documents = [
        {"id": f"{long}{n}", "title": f"{n} {long}", "year": 2000 + n % 20,
         "authors": [{"name": f"{long[:95]} {people[(7 * n + k) % 990]}", "affiliations": [f"{k} {long}"],
                      "block": f"{people[(7 * n + k) % 990]} {long}"} for k in range(6)]}
        for n in range(900)
    ]  # fmt: skip
    result = made(tmp_path, documents)
    assert 2_500_000 < (result / REPORT).stat().st_size < 5_000_000


def test_budget_of_bytes_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [{"id": f"d{n}", "title": "t" * 190, "authors": ["Doe, J"]} for n in range(20)]
    result = made(tmp_path, documents)
    whole = render_run_page(result).count("t" * 190)
    monkeypatch.setattr(run_content, "MAX_TEXT_BYTES", 1000)
    cut = render_run_page(result)
    assert (whole, cut.count("t" * 190)) == (20, 5)
    assert "15 more papers are in mentions.parquet." in cut


@pytest.mark.parametrize("documents", [RECORDS[2:3], RECORDS[:1]], ids=["one mention", "one document"])
def test_small_collections(tmp_path: Path, documents: list[Any]) -> None:
    page = parsed(made(tmp_path, documents, Settings()))
    assert len(page.find_class("name")) == len([author for author in documents[0]["authors"] if author])
    assert "There is no such name." in words(page.get_element_by_id("hardest"))


def test_next_steps_are_commands_and_targets_that_exist(page: HtmlElement) -> None:
    steps = [words(code).split() for code in page.get_element_by_id("next").iter("code")]
    named = {step[1] for step in steps if step[0] == "homonym"}
    assert named == {"explain", "decide", "update", "export"} <= cli.commands.keys()
    assert {step[step.index("--to") + 1] for step in steps if "--to" in step and len(step) > 1} <= TARGETS.keys()


def test_results_without_documents_name_their_ids(tmp_path: Path) -> None:
    extract(write(tmp_path / "in.jsonl", RECORDS), tmp_path / "mentions.jsonl")
    page = parsed(cluster(tmp_path / "mentions.jsonl", tmp_path / "result", LIMIT).output)
    assert "authors found in 6 mentions" in words(page)
    doe = next(name for name in page.find_class("name") if "DOE, J" in words(name))
    assert "Document (b) With Roe, R; Poe, E." in words(doe)
    assert "documents.parquet" not in words(page)
    assert "homonym export" not in words(page)


def test_mentions_without_document_or_name(tmp_path: Path) -> None:
    rows = [{"mention_id": f"m{n}", "block": "DOE", "features": {"co": {"x": 1}}} for n in range(3)]
    page = parsed(cluster(write(tmp_path / "in.jsonl", rows), tmp_path / "result", LIMIT).output)
    assert "found in 3 mentions" in words(page)
    assert "Document (m0)" in words(page)


@pytest.fixture(scope="module")
def generated_result(generated: Callable[[Corpus], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = generated(Corpus(mentions=4000, ambiguity=3.0, seed=5))
    return disambiguate(source, tmp_path_factory.mktemp("page") / "result").output


def test_says_what_calibration_found_and_what_to_check(generated_result: Path) -> None:
    page = parsed(generated_result)
    trust = words(page.get_element_by_id("trust"))
    assert "The program tested itself." in trust
    assert re.search(r"made of [\d,]+ people\. Of what it put together there, [\d.]+ % was right \(precision\)", trust)
    hardest = page.get_element_by_id("hardest").findall(".//tbody/tr")
    doubt = [float(row[-1].text_content()) for row in hardest]
    assert doubt == sorted(doubt, reverse=True)
    assert len(doubt) == run_content.LISTED
    papers = [int(row[1].text_content()) for row in page.get_element_by_id("largest").findall(".//tbody/tr")]
    assert papers == sorted(papers, reverse=True)


WINE = [
    {"id": f"w{n}", "title": f"Wine yeast {n} {HEBREW}", "year": 2000 + n,
     "authors": ["Wang, Wei", "Merlot, Anna <b>", "Syrah, Bruno"]} for n in range(3)
] + [
    {"id": f"o{n}", "title": f"Graph kernels {n}", "authors": [{"name": "Wang, W", "ids": ORCID}, f"Edge{'xy'[n]}, C"]}
    for n in range(2)
]  # fmt: skip


def test_authors_have_their_weakest_link(tmp_path: Path) -> None:
    page = parsed(made(tmp_path, WINE))
    wine, graphs = (next(one for one in page.find_class("author") if text in words(one)) for text in ("Wine", "Graph"))
    text = re.sub("[\u2068\u2069]", "", words(wine))
    assert f"The weakest link joins “Wine yeast 0 {HEBREW}” (2000)" in text
    assert re.search(r"co-author MERLOT, ANNA.*Together, this is [\d.]+ times the required evidence\.", text)
    assert "They have the same orcid: 0000-0002-1825-0097" in words(graphs)
    assert "The weakest link" not in render_run_page(tmp_path / "result", reasons=lambda *_: {})


def test_reasons_are_asked_for_names_with_several_mentions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result, asked = made(tmp_path, WINE), dict[str, Any]()

    def reasons(folder: Path, authors: Any) -> dict[str, list[str]]:
        asked.update(authors)
        return {authors[block][0]: ["They share <Roe, R>."] for block in authors}

    html = render_run_page(result, reasons=reasons)
    assert sorted(asked) == ["MERLOT, A", "SYRAH, B", "WANG, W"]
    assert html.count("They share &lt;Roe, R&gt;.") == 3
    assert "homonym explain gives" not in html
    monkeypatch.setattr(run_page, "MAX_REASON_BYTES", 60)
    cut = render_run_page(result, reasons=reasons)
    assert (cut.count("They share"), cut.count("homonym explain gives the reasons of all")) == (2, 1)
    monkeypatch.setattr(run_page, "MAX_WORK", 60)  # WANG, W has 13 entries and 5 mentions, the others 9 and 3
    asked.clear()
    render_run_page(result, reasons=reasons)
    assert len(asked) == 2


def test_page_says_if_reasons_cannot_be_found(tmp_path: Path) -> None:
    result = made(tmp_path, WINE)
    documents = pq.read_table(result / DOCUMENTS)
    pq.write_table(documents.slice(1), result / DOCUMENTS)
    page = render_run_page(result)
    assert "The reasons why papers are together could not be found: " in page
    assert "the mentions in its documents are others" in page


def test_same_bytes_for_any_place_threads_and_order_of_files(tmp_path: Path) -> None:
    pages = []
    for place, threads in (("one", 1), ("another/deep", 2)):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        copy = {**RECORDS[0], "id": "copy", "ids": DOI}
        parts = ([{**RECORDS[0], "ids": DOI}, RECORDS[1]], [*RECORDS[2:], copy])
        files = [write(folder / f"{n}.jsonl", part) for n, part in enumerate(parts)]
        given = files if threads == 1 else files[::-1]
        result = disambiguate(given, folder / "result", LIMIT, resources=Resources(threads=threads)).output
        pages.append((result / REPORT).read_bytes())
    assert pages[0] == pages[1]
    assert str(tmp_path).encode() not in pages[0]


def test_same_bytes_with_damaged_checkpoints(tmp_path: Path) -> None:
    source, work = write(tmp_path / "in.jsonl", RECORDS), Resources(work=tmp_path / "work")
    page = (disambiguate(source, tmp_path / "result", LIMIT, resources=work).output / REPORT).read_bytes()
    for path in (tmp_path / "work").rglob("*.parquet"):
        path.write_bytes(b"damaged")
    again = disambiguate(source, tmp_path / "result", LIMIT, resources=work)
    assert any("damaged checkpoint" in warning for warning in again.warnings)
    assert (again.output / REPORT).read_bytes() == page


def test_page_is_made_of_the_directory_alone(generated_result: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(generated_result, tmp_path / "[moved]*?")
    assert render_run_page(moved) == (generated_result / REPORT).read_text(encoding="utf-8")
    log = orjson.loads((moved / LOG).read_bytes())
    del log["summary"]  # as in results of older versions
    (moved / LOG).write_bytes(orjson.dumps(log))
    assert "The program tested itself." not in render_run_page(moved)
    (moved / AUTHORS).write_bytes(b"PAR1 damaged")
    with pytest.raises(InputError, match="its tables cannot be read"):
        render_run_page(moved)
    (moved / AUTHORS).unlink()
    with pytest.raises(InputError, match="is not a whole result"):
        render_run_page(moved)


def test_authors_with_one_orcid_are_not_to_check(tmp_path: Path) -> None:
    result = made(tmp_path, RECORDS)
    authors = pq.read_table(result / AUTHORS)
    place = authors.schema.get_field_index("confidence")
    low = pa.array([0.5] * len(authors), authors.schema.field(place).type)
    pq.write_table(authors.set_column(place, authors.schema.field(place), low), result / AUTHORS)
    content = run_content.read_content(result)
    assert [author.name for author in content.doubtful] == ["Roe, R"]
    assert (content.totals.doubtful_authors, content.totals.confirmed_authors) == (1, 1)
    page = words(lxml.html.fromstring(render_run_page(result)).get_element_by_id("doubtful"))
    assert "1 author with several mentions has a confidence below" in page
    assert "Not counted: 1 author of whom all mentions have the same ORCID or ISNI." in page
