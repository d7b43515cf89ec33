"""Formats of reference managers and of databases that write for them: what is read, damage, and recognition."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from benchmarks.exports import documents
from benchmarks.writers.reference_managers import write_endnote_xml

from homonym.io.inputs import Source
from homonym.records.formats import endnote_xml
from homonym.records.model import Document
from homonym.records.reader import detect_format, read_documents

Read = Callable[..., tuple[list[Document], list[str]]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Write a file, check its format and read it."""

    def documents_and_problems(text: str, form: str) -> tuple[list[Document], list[str]]:
        path = tmp_path / "export"
        path.write_text(text)
        with Source(path) as source:
            detected = detect_format(source)
        assert detected is not None
        assert detected.name == form
        found, problems = [], []
        for _, document, wrong in read_documents(path):
            found += [document] if document else []
            problems += [
                f"{problem.line}: {problem.lost}: {problem.reason}"
                for problem in wrong
                if problem.lost != "contributor"
            ]
        return found, problems

    return documents_and_problems


def one(read: Read, text: str, form: str) -> Document:
    (document,), problems = read(text, form)
    assert problems == []
    return document


def names(document: Document) -> list[str]:
    return [author.name for author in document.authors]


# Refer

ENDNOTE = """%0 Journal Article
%A Doe, Jane W.
%A World Health Organization,
%A van der Roe, Ann, Jr.
%E Editor, Ed
%Y Translator, Tim
%T On <i>names</i>
%J Journal of Names
%D 2020
%8 May 4
%K names
people
%X First part.

Second part, 5 % of it.
%M WOS:000123456789012
%2 PMC1234567
%R https://doi.org/10.1000/ABC
%+ Univ A, Rome. jane.doe@a.example
"""


def test_refer_full_record(read: Read) -> None:
    document = one(read, ENDNOTE, "refer")
    assert (document.id, document.title, document.venue) == ("WOS:000123456789012", "On names", "Journal of Names")
    assert (document.year, document.keywords) == (2020, ["names", "people"])
    assert document.abstract == "First part. Second part, 5 % of it."
    assert document.ids == {"wos": "000123456789012", "doi": "10.1000/abc", "pmcid": "PMC1234567"}
    assert names(document) == ["Doe, Jane W.", "van der Roe, Ann, Jr."]
    assert [author.affiliations for author in document.authors] == [["Univ A, Rome"]] * 2
    assert [author.emails for author in document.authors] == [["jane.doe@a.example"], []]


def test_refer_editors_of_an_edited_book_are_not_authors(read: Read) -> None:
    document = one(read, ENDNOTE.replace("Journal Article", "Edited Book"), "refer")
    assert (document.title, document.authors) == ("On names", [])


def test_refer_records_without_types_begin_after_blank_lines(read: Read) -> None:
    text = "%T Corn\n%A Newman, W. H.\n%D 1891\n%X Corn.\n\nMore corn.\n\n%T Rye\n%A Poe, E.\n%D 1892\n\n"
    documents, problems = read(text, "refer")
    assert [(document.title, document.abstract) for document in documents] == [
        ("Corn", "Corn. More corn."),
        ("Rye", ""),
    ]
    assert problems == []


def test_refer_of_google_scholar_without_blank_lines(read: Read) -> None:
    record = "%0 Journal Article\n%T {}\n%A Doe, Jane\n%J Names\n%D 2020\n"
    documents, _ = read("".join(record.format(title) for title in "ABC"), "refer")
    assert [document.title for document in documents] == ["A", "B", "C"]


def test_refer_of_wanfang_gives_each_author_an_address(read: Read) -> None:
    text = (
        "%0 Journal Article\n%A 余敏\n%A 朱江\n%A 丁照蕾\n%H Yu Min\n%+ 图书馆,成都;研究生院,北京\n%+ 图书馆,成都\n"
        "%+ 四川大学\n%T 参考文献管理工具研究\n%J 现代情报\n%J MODERN\n%D 2009\n%K 参考文献 文献管理 Zotero\n"
        "%W 北京万方数据股份有限公司\n"
    )
    document = one(read, text, "refer")
    assert names(document) == ["余敏", "朱江", "丁照蕾"]
    assert [author.affiliations for author in document.authors] == [
        ["图书馆,成都", "研究生院,北京"],
        ["图书馆,成都"],
        ["四川大学"],
    ]
    assert (document.venue, document.keywords) == ("现代情报", ["参考文献", "文献管理", "Zotero"])


def test_refer_rejects_a_record_without_title_and_authors(read: Read) -> None:
    documents, problems = read(ENDNOTE + "\n%0 Journal Article\n%D 2020\n", "refer")
    assert len(documents) == 1
    assert problems == ["21: record: neither title nor authors"]


# RefWorks

REFWORKS = """RT Journal Article
SR Print(0)
ID 12
A1 Doe,John A.,Jr.
A1 Roe,A.
A2 Editor,E.
T1 On x
JF Journal of Names
YR 2005
FD Jan 2005
K1 alpha
K1 beta
AB They were asked.
US patients answered.
AD Univ A
DO 10.1000/abc
"""


def test_refworks_full_record(read: Read) -> None:
    document = one(read, REFWORKS, "refworks")
    assert names(document) == ["Doe, John A., Jr.", "Roe, A."]
    assert (document.id, document.title, document.year) == ("10.1000/abc", "On x", 2005)
    assert (document.venue, document.keywords) == ("Journal of Names", ["alpha", "beta"])
    assert document.abstract == "They were asked. US patients answered."
    assert [author.affiliations for author in document.authors] == [["Univ A"]] * 2


def test_refworks_of_cnki(read: Read) -> None:
    text = (
        "RT Journal Article\nSR 1\nA1 张三;李四\nAD 北京大学;\nT1 系统设计\nJF 杂志\nYR 2022\nIS 06\nvo 23\n"
        "K1 养老;智能\nDS CNKI\n\n"
        "RT Journal Article\nSR 1\nA1 Sharma Ashutosh;van der Berg Jan\nT1 Smart fields\nYR 2022\nDS CNKI\n"
    )
    (chinese, foreign), problems = read(text, "refworks")
    assert problems == []
    assert names(chinese) == ["张三", "李四"]
    assert [author.affiliations for author in chinese.authors] == [["北京大学"]] * 2
    assert chinese.keywords == ["养老", "智能"]
    assert names(foreign) == ["Sharma, Ashutosh", "van der Berg Jan"]


# NoteExpress and CNKI


def test_noteexpress_of_cnki(read: Read) -> None:
    text = (
        "{Reference Type}: Journal Article\n{Title}: 导航技术\n{Author}: 潘紫麟;刘庆鹏;\n{Author Address}: 医科大学;\n"
        "{Journal}: 医学综述\n{Year}: 2021\n{Keywords}: 疾病;导航\n{Abstract}: 随着\n发展\n{DOI}: 10.1000/x\n"
        "{Database Provider}: CNKI\n\n{Reference Type}: Thesis\n{Title}: 研究\n{Author}: 张三\n"
        "{Tertiary Author}: 导师\n{Publisher}: 清华大学\n{Year}: 2020\n"
    )
    (article, thesis), problems = read(text, "noteexpress")
    assert problems == []
    assert (names(article), names(thesis)) == (["潘紫麟", "刘庆鹏"], ["张三"])
    assert [author.affiliations for author in article.authors] == [["医科大学"]] * 2
    assert (article.id, article.venue, article.year) == ("10.1000/x", "医学综述", 2021)
    assert (article.keywords, article.abstract) == (["疾病", "导航"], "随着 发展")


def test_noteexpress_assigns_addresses_only_if_unambiguous(read: Read) -> None:
    record = "{{Reference Type}}: Journal Article\n{{Title}}: 研究\n{{Author}}: 张三\n{{Author}}: 李四\n{}"
    place = "{{Author Address}}: {}\n".format
    repeated = one(read, record.format(place("甲") + place("甲")), "noteexpress")
    assert [author.affiliations for author in repeated.authors] == [["甲"], ["甲"]]
    different = one(read, record.format(place("甲") + place("乙")), "noteexpress")
    assert [author.affiliations for author in different.authors] == [[], []]


def test_cnki_text(read: Read) -> None:
    text = (
        "SrcDatabase-来源库: 期刊\nTitle-题名: 学习\nAuthor-作者: 张三[1],李四[1,2]\nOrgan-单位: 北京大学\n"
        "Source-文献来源: 学报\nKeyword-关键词: 学习;;网络\nSummary-摘要: 本文\nPubTime-发表时间: 2021-03-15\n"
        "DOI-DOI: 10.1000/X\nFirstDuty-第一责任人: 张三;\n\n"
        "SrcDatabase-来源库: 期刊\nTitle-题名: 网络\nAuthor-作者: 王五\nYear-年: 2020\n"
    )
    (first, second), problems = read(text, "noteexpress")
    assert problems == []
    assert (names(first), first.title, first.year, first.venue) == (["张三", "李四"], "学习", 2021, "学报")
    assert (first.keywords, first.abstract, first.ids) == (["学习", "网络"], "本文", {"doi": "10.1000/x"})
    assert (names(second), second.year) == (["王五"], 2020)


# Cochrane Library

COCHRANE = """Record #1 of 2
ID: CD015877
AU: Huey, SL
AU: Mehta, NH
TI: Precision nutrition
SO: Cochrane Database of Systematic Reviews
YR: 2025
NO: 1
KY: *Pediatric Obesity [diet therapy, therapy]; Child, Preschool; Humans
DOI: 10.1002/14651858.CD015877
AB: Background: short.
US: http://dx.doi.org/10.1002/14651858.CD015877

Record #2 of 2
ID: CN-01234567
AU: Smith J, van Doe AB
TI: A trial
SO: Lancet
YR: 2019
PM: PUBMED 31234567
XR: EMBASE 200
US: https://www.cochranelibrary.com/central/doi/10.1002/central/CN-01234567/full
"""


def test_cochrane_reviews_and_trials(read: Read) -> None:
    (review, trial), problems = read(COCHRANE, "cochrane")
    assert problems == []
    assert (names(review), names(trial)) == (["Huey, SL", "Mehta, NH"], ["Smith J", "van Doe AB"])
    assert review.keywords == ["Pediatric Obesity", "Child, Preschool", "Humans"]
    assert (review.ids, review.year) == ({"doi": "10.1002/14651858.cd015877"}, 2025)
    assert (trial.id, trial.ids, trial.venue) == ("31234567", {"pmid": "31234567"}, "Lancet")


def test_other_exports_of_the_cochrane_library_are_not_taken_for_text(read: Read) -> None:
    header = "Record #1 of 1\nProvider: John Wiley\nContent: text/plain\n\n"
    assert one(read, header + "TY  - JOUR\nAU  - Doe, J\nTI  - x\nER  - \n", "ris").title == "x"
    assert one(read, "Record #1 of 1\n@article{a,\nauthor = {Doe, J},\ntitle = {x}\n}\n", "bibtex").title == "x"


# EndNote XML


def endnote_record(content: str, kind: str = '<ref-type name="Journal Article">17</ref-type>') -> str:
    return f'<?xml version="1.0"?><xml><records><record>{kind}{content}</record></records></xml>'


def test_endnote_xml_full_record(read: Read) -> None:
    style = '<style face="normal" font="default" size="100%">'
    text = endnote_record(
        f"<rec-number>5</rec-number><contributors><authors><author>{style}Doe, Jane</style></author><author>Roe, R."
        "</author><author>World Health Organization,</author></authors><secondary-authors><author>Ed, E.</author>"
        "</secondary-authors></contributors><auth-address>Univ A, Rome.&#xD;Univ B, Bari.</auth-address><titles>"
        f"<title>{style}On </style><style face='italic'>E. coli</style></title><secondary-title>Nature"
        "</secondary-title></titles><keywords><keyword>a</keyword><keyword>b</keyword></keywords><dates><year>2015"
        "</year></dates><accession-num>25647015</accession-num><urls><related-urls><url>http://www.ncbi.nlm.nih.gov/"
        "pubmed/25647015</url></related-urls></urls><custom2>PMC123</custom2><abstract>p &lt; 0.05</abstract>"
        "<electronic-resource-num>10.1000/X</electronic-resource-num>"
    )
    document = one(read, text, "endnote-xml")
    assert names(document) == ["Doe, Jane", "Roe, R."]
    assert [author.affiliations for author in document.authors] == [[], []]  # it is not known whose they are
    assert (document.title, document.venue, document.year) == ("On E. coli", "Nature", 2015)
    assert (document.keywords, document.abstract) == (["a", "b"], "p < 0.05")
    assert document.ids == {"doi": "10.1000/x", "pmid": "25647015", "pmcid": "PMC123"}


def test_endnote_xml_is_read_the_same_with_and_without_parser() -> None:
    for document in islice(documents(400), 20):
        record = write_endnote_xml(document)
        with_comment = record.replace(b"</titles>", b"<!-- a comment --></titles>")
        assert endnote_xml.parse_record(with_comment) == endnote_xml.parse_record(record)


def test_endnote_xml_numbers_of_a_library_are_ids(read: Read) -> None:
    people = "<contributors><authors><author>Doe, J</author></authors></contributors>"
    key = '<foreign-keys><key app="EN" db-id="wp9z" timestamp="1">7</key></foreign-keys>'
    numbered = one(read, endnote_record(f"<rec-number>7</rec-number>{key}{people}"), "endnote-xml")
    assert (numbered.id, numbered.id_is_key) == ("wp9z/7", False)
    assert one(read, endnote_record(f"<rec-number>7</rec-number>{people}"), "endnote-xml").id == "7"


def test_endnote_xml_editors_of_an_edited_book_are_not_authors(read: Read) -> None:
    kind = '<ref-type name="Edited Book">28</ref-type>'
    content = "<contributors><authors><author>Ed, E.</author></authors></contributors><titles><title>x</title></titles>"
    assert one(read, endnote_record(content, kind), "endnote-xml").authors == []


# Zotero


def item(**fields: Any) -> dict[str, Any]:
    data = {
        "key": "ABCD2345",
        "version": 1,
        "itemType": "journalArticle",
        "title": "On x",
        "dateAdded": "2020",
        **fields,
    }
    links = {"self": {"href": "x"}}
    return {
        "key": data["key"],
        "version": 1,
        "library": {"id": 1, "links": links},
        "links": links,
        "meta": {},
        "data": data,
    }


PEOPLE = [
    {"creatorType": "author", "firstName": "Jo", "lastName": "Doe"},
    {"creatorType": "editor", "firstName": "Ed", "lastName": "Editor"},
    {"creatorType": "author", "name": "余敏"},
    {"creatorType": "author", "name": "UNESCO"},
    {"creatorType": "author", "name": "World Health Organization"},
    {"creatorType": "inventor", "name": "Jane Roe"},
    {"creatorType": "author", "firstName": "", "lastName": "Plato"},
]


@pytest.mark.parametrize("form", ["list", "lines", "one", "sorted", "fields", "plug-in"])
def test_zotero_in_every_shape(read: Read, form: str) -> None:
    full = item(
        creators=PEOPLE, DOI="10.1000/X", date="May 2014", extra="x: y\nPMID: 7\nPMCID: PMC123", tags=[{"tag": "a"}]
    )
    items = [full, item(itemType="note", key="NOTE2345", title="", note="<p>x</p>")]
    text = {
        "list": json.dumps(items, indent=2),
        "lines": "\n".join(map(json.dumps, items)),
        "one": json.dumps(full),
        "sorted": json.dumps(items, sort_keys=True),
        "fields": json.dumps([each["data"] for each in items]),
        "plug-in": json.dumps({"config": {"label": "x"}, "items": [each["data"] for each in items]}),
    }
    document = one(read, text[form], "zotero")
    assert names(document) == ["Doe, Jo", "余敏", "Jane Roe", "Plato"]
    assert (document.id, document.id_is_key, document.year, document.keywords) == ("ABCD2345", True, 2014, ["a"])
    assert document.ids == {"doi": "10.1000/x", "pmid": "7", "pmcid": "PMC123"}


def test_zotero_notes_what_cannot_be_used(read: Read) -> None:
    people: list[Any] = [{"creatorType": "author", "firstName": "", "lastName": ""}, PEOPLE[0], "Roe"]
    (document,), problems = read(json.dumps([item(creators=people, date="in press", title=7)]), "zotero")
    assert [(author.position, author.name) for author in document.authors] == [(1, "Doe, Jo")]
    assert sorted(problems) == [
        "1: author: author 0 has no name",
        "1: author: author 2 has no name",
        "1: field: title must be text, got int",
        "1: field: year 'in press' is not a year",
    ]


def test_zotero_preprints(read: Read) -> None:
    preprint = item(
        itemType="preprint", archiveID="arXiv:2001.00001", repository="arXiv", url="https://x.example", date=""
    )
    document = one(read, json.dumps([preprint]), "zotero")
    assert (document.ids, document.venue, document.year) == ({"arxiv": "2001.00001"}, "arXiv", None)


def test_cnki_text_in_gb18030(tmp_path: Path) -> None:
    text = "SrcDatabase-来源库: 期刊\nTitle-题名: 关于冰的研究\nAuthor-作者: 张三;李四\nYear-年: 2014\n\n"
    path = tmp_path / "cnki.txt"
    path.write_bytes(text.encode("gb18030"))
    (reading,) = read_documents(path)
    assert reading.document is not None
    assert (reading.document.title, names(reading.document)) == ("关于冰的研究", ["张三", "李四"])


# Ovid

EMBASE_OF_OVID = """<3001. >
VN  - Ovid Technologies
DB  - Embase
UI  - 621000001
TI  - On ice.
SO  - Ice Proceedings. Conference: 2nd Ice Conference. Oslo. 12 (Supplement 3), 2018. Date of Publication: 2018.
AU  - Doe J.
AU  - Roe A.B.
AU  - Poe E.
AU  - Poe F.
IN  - (Doe, Roe, Poe) Ice Lab, Oslo, Norway
      (Doe) Snow Lab, Bergen, Norway
AD  - J. Doe, Ice Lab, Oslo, Norway. E-mail: j.doe@ice.example
MH  - *glacier
MH  - human
DO  - http://dx.doi.org/10.1000/ice
YR  - 2018

<3002. >
VN  - Ovid Technologies
DB  - Embase
UI  - 621000002
TI  - On snow.
AU  - Moe K.
IN  - (Moe) Snow Lab, Bergen, Norway
YR  - 2019
CR  - Copyright 2018.

"""


def test_ovid_text_of_embase_names_surnames_before_addresses(read: Read) -> None:
    (first, second), problems = read(EMBASE_OF_OVID, "ovid")
    assert problems == []
    assert (first.id, first.title, first.venue, first.year) == ("10.1000/ice", "On ice.", "Ice Proceedings", 2018)
    assert first.keywords == ["glacier", "human"]
    ice, snow = "Ice Lab, Oslo, Norway", "Snow Lab, Bergen, Norway"
    # Two authors are called Poe, so that the address cannot be theirs.
    assert [author.affiliations for author in first.authors] == [[ice, snow], [ice], [], []]
    assert [author.emails for author in first.authors] == [["j.doe@ice.example"], [], [], []]
    assert (second.id, second.year, names(second)) == ("621000002", 2019, ["Moe K."])
    assert second.authors[0].affiliations == [snow]


# Other text


@pytest.mark.parametrize(
    "text",
    [
        "% A comment\n% The title\n\\documentclass{article}\n",
        "%!PS-Adobe-3.0\n%%Title: x\n%%Creator: y\n",
        "{Title}: no type\n",
        "Record #1 of 5\nis a sentence.\n",
        "RT was the channel.\nAB negative\n",
        "1. First item\n\n2. Second item\n",
        "<record><title>x</title></record>",
        '{"itemType": "x"}',
    ],
)
def test_other_text_is_of_none_of_these_formats(text: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(text)
    with Source(tmp_path / "text") as source:
        found = detect_format(source)
    assert found is None or found.name in {"table", "documents"}
