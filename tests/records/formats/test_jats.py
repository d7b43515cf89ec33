"""JATS: the fields taken from each element, layouts of different publishers, and damaged articles."""

from __future__ import annotations

from pathlib import Path

import pytest

from homonym.records.formats.jats import parse_article
from homonym.records.model import BrokenRecordError, Document
from tests.support.reading import detected, documents, readings, reasons

ORCID = "0000-0002-1825-0097"

ARTICLE = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.2//EN" "JATS.dtd" [<!ENTITY e SYSTEM "/etc/passwd">]>
<article xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML">
<front><journal-meta><journal-id journal-id-type="nlm-ta">J Ice</journal-id><journal-title-group>
<journal-title>Journal
of Ice</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="pmid">101</article-id><article-id pub-id-type="pmc">77</article-id>
<article-id pub-id-type="doi">10.1000/ICE.1</article-id><article-id pub-id-type="publisher-id">x</article-id>
<article-categories><subj-group subj-group-type="heading"><subject>Original Research Article</subject>
<subj-group><subject>Glaciology</subject></subj-group></subj-group></article-categories>
<title-group><article-title>Melting of H<sub>2</sub>O<xref ref-type="fn" rid="fn1">*</xref></article-title>
<subtitle>a &e; study</subtitle></title-group>
<contrib-group content-type="authors">
<contrib contrib-type="author" corresp="yes">
<contrib-id contrib-id-type="orcid" >https://orcid.org/{ORCID}
</contrib-id><name><surname>Nørgård</surname><given-names>Åse M</given-names><suffix>Jr</suffix></name>
<xref ref-type="aff" rid="a1 a2">1,2</xref><xref ref-type="corresp" rid="c1">*</xref></contrib>
<contrib contrib-type="author"><name-alternatives><name name-style="eastern"><surname>王</surname>
<given-names>伟</given-names>
</name><name><surname>Wang</surname><given-names>Wei</given-names></name></name-alternatives>
<xref ref-type="aff" rid="a2"/><xref ref-type="corresp" rid="c1"/></contrib>
<contrib contrib-type="author"><string-name>Jo Doe</string-name><aff>Own <institution>Lab</institution></aff>
</contrib>
<contrib contrib-type="author"><collab>The Ice Group<contrib-group><contrib><name><surname>Member</surname></name>
</contrib>
</contrib-group></collab></contrib>
<contrib contrib-type="author"><name><surname/></name></contrib>
<contrib contrib-type="editor"><name><surname>Editor</surname></name></contrib>
<aff id="a1"><label>1</label><institution-wrap>
<institution-id institution-id-type="ror">https://ror.org/1</institution-id>
<institution content-type="dept">Dept. of Ice</institution>, <institution>University of Oslo</institution>
</institution-wrap>
<country>Norway</country></aff>
<aff id="a2"><sup>2</sup>Snow Lab, Bergen</aff></contrib-group>
<contrib-group content-type="editors"><contrib><name><surname>Reviewer</surname></name></contrib></contrib-group>
<author-notes><corresp id="c1">E-mail: <email xlink:href="mailto:x">Ase.Norgard@ice.example</email>,
<email>wei.wang@snow.example</email></corresp></author-notes>
<pub-date pub-type="pmc-release"><year>2010</year></pub-date><pub-date pub-type="epub"><year>2018</year></pub-date>
<pub-date pub-type="ppub"><year>2019</year></pub-date>
<abstract abstract-type="executive-summary"><p>Short.</p></abstract>
<abstract><title>Abstract</title><sec><title>Aims</title><p>We melt ice.</p></sec><sec><p>It is <inline-formula>
<alternatives>
<tex-math>\\documentclass x</tex-math><mml:math><mml:mi>E</mml:mi></mml:math></alternatives></inline-formula>.</p>
</sec>
</abstract><kwd-group><kwd>ice</kwd><kwd>snow</kwd><kwd>ice</kwd></kwd-group></article-meta></front>
<body><p>Text with <article-title>no article</article-title>.</p></body>
<back><ref-list><ref id="r1"><element-citation><person-group person-group-type="author"><name><surname>Roe</surname>
<given-names>A</given-names></name></person-group><person-group person-group-type="editor"><name>
<surname>Ed</surname></name>
</person-group><pub-id pub-id-type="doi">10.1000/CITED</pub-id></element-citation></ref><ref><mixed-citation>
<string-name><surname>Poe</surname> <given-names>E</given-names></string-name> 1999.</mixed-citation></ref>
</ref-list></back>
<sub-article><front-stub><contrib-group><contrib><name><surname>Sub</surname></name></contrib></contrib-group>
</front-stub>
</sub-article></article>
"""


def only(found: list[Document]) -> Document:
    (document,) = found
    return document


def test_reads_an_article(tmp_path: Path) -> None:
    assert detected(tmp_path, ARTICLE) == "jats"
    found = readings(tmp_path, ARTICLE)
    document = only(documents(found))
    assert (document.id, document.ids) == ("10.1000/ice.1", {"pmid": "101", "pmcid": "PMC77", "doi": "10.1000/ice.1"})
    assert (document.title, document.venue, document.year) == ("Melting of H2O: a &e; study", "Journal of Ice", 2018)
    assert document.abstract == "Aims We melt ice. It is E."
    assert (document.categories, document.keywords) == (["Glaciology"], ["ice", "snow"])
    assert (document.references, document.referenced_authors) == (["10.1000/cited"], ["Roe, A", "Poe, E"])
    assert reasons(found) == ["author 4 has no name"]
    assert [author.name for author in document.authors] == ["Nørgård, Åse M, Jr", "Wang, Wei", "Jo Doe"]
    first, second, third = document.authors
    assert first.affiliations == ["Dept. of Ice, University of Oslo, Norway", "Snow Lab, Bergen"]
    assert (first.ids, first.emails) == ({"orcid": ORCID}, ["ase.norgard@ice.example"])
    assert (second.affiliations, second.emails) == (["Snow Lab, Bergen"], ["wei.wang@snow.example"])
    assert third.affiliations == ["Own Lab"]


def test_reads_prefixed_and_default_namespaces(tmp_path: Path) -> None:
    plain = ARTICLE.replace("<article ", '<article xmlns="http://jats.nlm.nih.gov" ')
    tags = "article front article-meta contrib-group contrib name surname".split()
    opening = "".join(f"<j:{tag}>" for tag in tags).replace(">", " xmlns:j='http://jats.nlm.nih.gov'>", 1)
    prefixed = opening + "Doe" + "".join(f"</j:{tag}>" for tag in reversed(tags))
    assert only(documents(readings(tmp_path, plain))).id == "10.1000/ice.1"
    assert only(documents(readings(tmp_path, prefixed))).authors[0].name == "Doe"


def test_damage_costs_one_article_or_its_references(tmp_path: Path) -> None:
    body = ARTICLE[ARTICLE.index("<article ") :]
    broken = [body.replace("</surname>", "</surnam>", 1), body.replace("</ref-list>", ""), body.replace("</front>", "")]
    found = readings(tmp_path, f"<pmc-articleset>{body}{''.join(broken)}{body}{body[:1500]}")
    read = documents(found)
    assert [len(document.references) for document in read] == [1, 0, 1]
    lost = [reason for reason in reasons(found) if "has no name" not in reason]
    assert [reason.partition(" (")[0] for reason in lost] == [
        "not well-formed XML",
        "the list of references is not well-formed XML",
        "cut off before </front>",
        "cut off before </article>",
    ]


def test_one_affiliation_without_references_belongs_to_all_authors() -> None:
    meta = (
        "<contrib-group><contrib><name><surname>A</surname></name></contrib><contrib><name><surname>B</surname></name>"
    )
    text = f"<article><front><article-meta>{meta}</contrib></contrib-group>%s</article-meta></front></article>"
    one, _ = parse_article((text % "<aff>MIT</aff>").encode())
    two, _ = parse_article((text % "<aff>MIT</aff><aff>ETH</aff>").encode())
    assert [author.affiliations for author in one.authors] == [["MIT"], ["MIT"]]
    assert [author.affiliations for author in two.authors] == [[], []]


@pytest.mark.parametrize(
    "record",
    [
        "<article/>",
        "<article><front/></article>",
        "<article><front></front></article>",
        "<article><front>&lol9;" + "<b>" * 5000 + "</front></article>",
    ],
)
def test_rejects_articles_without_front_matter(record: str) -> None:
    with pytest.raises(BrokenRecordError):
        parse_article(record.encode())


@pytest.mark.parametrize(
    "other",
    [
        "<dblp><article mdate='2020' key='x'><author>A</author><title>T</title></article></dblp>",
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>1</PMID><Article/></MedlineCitation></PubmedArticle>",
        "<html><body><article><h1>News</h1></article></body></html>",
        '{"abstract": "<article><front><article-meta>"}',
    ],
)
def test_recognises_no_other_articles(tmp_path: Path, other: str) -> None:
    assert detected(tmp_path, other) != "jats"


def test_an_e_mail_address_in_a_shared_affiliation_belongs_to_one_author() -> None:
    people = "".join(
        f"<contrib><name><surname>{name}</surname><given-names>Jo</given-names></name>%s</contrib>"
        for name in ("Norgard", "Wang")
    )
    text = f"<article><front><article-meta><contrib-group>{people}</contrib-group>%s</article-meta></front></article>"
    place = "<aff id='a1'>Ice Lab, Oslo. Email: <email>jo.wang@ice.example</email></aff>"
    for mark in ("<xref ref-type='aff' rid='a1 a1'/>", ""):
        document, _ = parse_article((text % (mark, mark, place)).encode())
        assert [author.affiliations for author in document.authors] == [["Ice Lab, Oslo"], ["Ice Lab, Oslo"]]
        assert [author.emails for author in document.authors] == [[], ["jo.wang@ice.example"]]


def test_a_long_affiliation_of_many_authors_is_read_once() -> None:
    place = f"<aff id='a1'>{'Ice Lab, Oslo; ' * 50_000}</aff>"
    person = f"<contrib><name><surname>Doe</surname></name><xref rid='{'a1 ' * 100}'/></contrib>"
    meta = f"<article-meta><contrib-group>{person * 2000}</contrib-group>{place}</article-meta>"
    document, _ = parse_article(f"<article><front>{meta}</front></article>".encode())
    assert len(document.authors) == 2000
    assert all(len(author.affiliations) == 1 for author in document.authors)
