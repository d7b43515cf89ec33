"""PubMed, DBLP, OAI-PMH and AMiner XML: the fields taken from each element, and damaged files."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.io.inputs import Source
from homonym.records.formats import dblp
from homonym.records.model import BrokenRecordError, Document
from homonym.records.parsing.xml_stream import LeafReader, element_of, leaf_text
from homonym.records.reader import Reading, format_named, read_documents
from tests.support.profiles import examples

ORCID = "0000-0002-1825-0097"
XML_FORMATS = ("pubmed", "dblp", "arxiv-oai", "aminer-xml")


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Reading]]:
    def read_text(text: str | bytes, name: str | None = None, file: str = "records.xml") -> list[Reading]:
        path = tmp_path / file
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return list(read_documents(path, name))

    return read_text


def documents(readings: list[Reading]) -> list[Document]:
    return [reading.document for reading in readings if reading.document is not None]


def reasons(readings: list[Reading]) -> list[str]:
    """The reasons why something was lost; test_contributors.py checks those that are kept."""
    problems = [problem for reading in readings for problem in reading.problems]
    return [problem.reason for problem in problems if problem.lost != "contributor"]


def recognised_by(path: Path) -> list[str]:
    with Source(path) as source:
        return [name for name in XML_FORMATS if format_named(name).recognises(source)]


# --- PubMed ---------------------------------------------------------------------------------------------------------

ARTICLE = f"""<PubmedArticle>
  <MedlineCitation Status="MEDLINE" Owner="NLM">
    <PMID Version="2">101</PMID>
    <DateCompleted><Year>2021</Year></DateCompleted>
    <Article PubModel="Print">
      <Journal>
        <JournalIssue><PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue>
        <Title>Journal of Ice &amp; Snow</Title><ISOAbbreviation>J Ice</ISOAbbreviation>
      </Journal>
      <ArticleTitle>Melting of <i>glacier</i> H<sub>2</sub>O at p&lt;0.05.</ArticleTitle>
      <ELocationID EIdType="doi" ValidYN="N">10.1000/wrong</ELocationID>
      <ELocationID EIdType="doi" ValidYN="Y">10.1000/ICE.1</ELocationID>
      <Abstract>
        <AbstractText Label="AIMS">We <b>melt</b> ice.</AbstractText>
        <AbstractText Label="RESULTS">It
          is water.</AbstractText>
        <CopyrightInformation>Nobody</CopyrightInformation>
      </Abstract>
      <AuthorList CompleteYN="Y">
        <Author ValidYN="Y"><LastName>Nørgård</LastName><ForeName>Åse  M</ForeName><Initials>ÅM</Initials>
          <Suffix>Jr</Suffix><Identifier Source="ORCID">https://orcid.org/{ORCID}</Identifier>
          <AffiliationInfo><Affiliation>Ice Lab, Oslo, Norway. Electronic address: ase@ice.example.</Affiliation>
            <Identifier Source="ROR">https://ror.org/1</Identifier></AffiliationInfo>
          <AffiliationInfo><Affiliation>Snow Lab, Oslo.</Affiliation></AffiliationInfo></Author>
        <Author ValidYN="N"><LastName>Norgard</LastName><ForeName>Ase</ForeName></Author>
        <Author ValidYN="Y"><CollectiveName>The Ice Group</CollectiveName></Author>
        <Author ValidYN="Y"><LastName>Doe</LastName><Initials>J</Initials>
          <Identifier Source="ORCID">0000-0002-1825-0098</Identifier></Author>
        <Author ValidYN="Y"><ForeName>Sukarno</ForeName></Author>
        <Author ValidYN="Y"><Initials></Initials></Author>
        <Author ValidYN="Y"><LastName>Last</LastName></Author>
      </AuthorList>
      <ArticleDate><Year>2001</Year></ArticleDate>
    </Article>
    <MedlineJournalInfo><MedlineTA>J Ice TA</MedlineTA></MedlineJournalInfo>
    <CommentsCorrectionsList>
      <CommentsCorrections RefType="Cites"><PMID Version="1">55</PMID></CommentsCorrections>
      <CommentsCorrections RefType="CommentIn"><PMID Version="1">66</PMID></CommentsCorrections>
    </CommentsCorrectionsList>
    <MeshHeadingList><MeshHeading><DescriptorName UI="D1">Ice Cover</DescriptorName>
      <QualifierName>chemistry</QualifierName></MeshHeading></MeshHeadingList>
    <KeywordList Owner="NOTNLM"><Keyword>melting</Keyword><Keyword>Ice Cover</Keyword></KeywordList>
    <InvestigatorList><Investigator><LastName>Helper</LastName></Investigator></InvestigatorList>
  </MedlineCitation>
  <PubmedData>
    <ArticleIdList><ArticleId IdType="pubmed">101</ArticleId><ArticleId IdType="doi">10.1000/second</ArticleId>
      <ArticleId IdType="pmc">PMC77</ArticleId></ArticleIdList>
    <ReferenceList><Reference><Citation>Roe A.</Citation><ArticleIdList><ArticleId IdType="pubmed">44</ArticleId>
      <ArticleId IdType="doi">10.1000/cited</ArticleId></ArticleIdList></Reference>
      <ReferenceList><Reference><ArticleIdList><ArticleId IdType="pubmed">55</ArticleId></ArticleIdList></Reference>
      </ReferenceList></ReferenceList>
  </PubmedData>
</PubmedArticle>"""

SECOND = """<PubmedArticle Note="x"><MedlineCitation><PMID>102</PMID><Article><Journal><JournalIssue><PubDate>
<Season>Summer</Season></PubDate></JournalIssue></Journal><ArticleTitle>[Not Available].</ArticleTitle>
<VernacularTitle>Is og sne.</VernacularTitle><AuthorList><Author><LastName>Roe</LastName><ForeName>Al</ForeName>
<Affiliation>Old Lab, Rome. roe@old.example</Affiliation></Author></AuthorList><ArticleDate><Year>2003</Year>
</ArticleDate></Article><MedlineJournalInfo><MedlineTA>Acta Nix</MedlineTA></MedlineJournalInfo></MedlineCitation>
</PubmedArticle>"""


def pubmed_set(*articles: str) -> str:
    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://dtd.example/pubmed.dtd">\n'
        + "<PubmedArticleSet>\n"
        + "\n".join(articles)
        + "\n<DeleteCitation><PMID Version='1'>9</PMID></DeleteCitation></PubmedArticleSet>\n"
    )


def test_pubmed_article(read: Callable[..., list[Reading]]) -> None:
    (document, second), found = documents(read(pubmed_set(ARTICLE, SECOND))), reasons(read(pubmed_set(ARTICLE)))
    assert document.id == "101"
    assert document.ids == {"pmid": "101", "doi": "10.1000/ice.1", "pmcid": "PMC77"}
    assert document.title == "Melting of glacier H2O at p<0.05."
    assert document.abstract == "We melt ice. It is water."
    assert (document.year, document.venue) == (1998, "Journal of Ice & Snow")
    assert document.keywords == ["Ice Cover", "melting"]
    assert document.references == ["44", "55"]
    assert [author.name for author in document.authors] == ["Nørgård, Åse M, Jr", "Doe, J", "Sukarno", "Last"]
    first = document.authors[0]
    assert (first.ids, first.emails) == ({"orcid": ORCID}, ["ase@ice.example"])
    assert first.affiliations == ["Ice Lab, Oslo, Norway", "Snow Lab, Oslo"]
    assert found == ["'0000-0002-1825-0098' is not a valid ORCID", "author 4 has no name"]
    assert (second.title, second.year, second.venue) == ("Is og sne.", 2003, "Acta Nix")
    assert second.authors[0].affiliations == ["Old Lab, Rome"]
    assert second.authors[0].emails == ["roe@old.example"]


def test_pubmed_books_and_old_sets(read: Callable[..., list[Reading]]) -> None:
    book = """<PubmedBookArticle><BookDocument><PMID Version="1">201</PMID><ArticleIdList>
      <ArticleId IdType="doi">10.1000/book.1</ArticleId></ArticleIdList><Book><BookTitle>All of Ice</BookTitle>
      <PubDate><Year>2009</Year></PubDate><AuthorList Type="editors"><Author><LastName>Editor</LastName></Author>
      </AuthorList></Book><ArticleTitle>Chapter on Snow</ArticleTitle><AuthorList Type="authors"><Author>
      <LastName>Poe</LastName><ForeName>Ed</ForeName></Author></AuthorList><Abstract><AbstractText>Snow.</AbstractText>
      </Abstract><KeywordList><Keyword>snow</Keyword></KeywordList></BookDocument></PubmedBookArticle>"""
    (chapter,) = documents(read(pubmed_set(book)))
    assert (chapter.id, chapter.title, chapter.venue) == ("201", "Chapter on Snow", "All of Ice")
    assert (chapter.year, chapter.abstract, chapter.keywords) == (2009, "Snow.", ["snow"])
    assert chapter.ids == {"pmid": "201", "doi": "10.1000/book.1"}
    assert [author.name for author in chapter.authors] == ["Poe, Ed"]
    citation = SECOND[SECOND.index("<MedlineCitation>") : SECOND.index("</PubmedArticle>")]
    old = f"<MedlineCitationSet>{citation}{citation.replace('102', '103')}</MedlineCitationSet>"
    assert [document.id for document in documents(read(old))] == ["102", "103"]


def test_pubmed_before_2014(read: Callable[..., list[Reading]]) -> None:
    old = """<MedlineCitationSet><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>Ice</ArticleTitle>
      <Affiliation>Ice Lab, Oslo. doe@ice.example</Affiliation><AuthorList><Author><LastName>Doe</LastName>
      <FirstName>Jo</FirstName><MiddleName>B</MiddleName><Suffix>Jr</Suffix></Author><Author><LastName>Roe</LastName>
      <FirstName>Al</FirstName></Author></AuthorList></Article><MeshHeadingList><MeshHeading>
      <Descriptor>Snow</Descriptor></MeshHeading></MeshHeadingList></MedlineCitation></MedlineCitationSet>"""
    (document,) = documents(read(old))
    first, second = document.authors
    assert (first.name, first.affiliations, first.emails) == ("Doe, Jo B, Jr", ["Ice Lab, Oslo"], ["doe@ice.example"])
    assert (second.name, second.affiliations, document.keywords) == ("Roe, Al", [], ["Snow"])
    nobody = re.sub("<LastName>Doe.*?</Suffix>", "", old, flags=re.DOTALL)  # so that the address is nobody's
    assert [(author.name, author.affiliations) for author in documents(read(nobody))[0].authors] == [("Roe, Al", [])]


def test_the_address_of_an_article_is_that_of_the_first_person(read: Callable[..., list[Reading]]) -> None:
    article = (
        "<PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>T</ArticleTitle><Affiliation>Ice Lab"
        "</Affiliation><AuthorList><Author><CollectiveName>Ice Watch</CollectiveName></Author><Author><LastName>Doe"
        "</LastName></Author><Author><LastName>Roe</LastName></Author></AuthorList></Article></MedlineCitation>"
        "</PubmedArticle>"
    )
    (document,) = documents(read(pubmed_set(article)))
    assert [(author.position, author.affiliations) for author in document.authors] == [(1, ["Ice Lab"]), (2, [])]


def test_pubmed_damage(read: Callable[..., list[Reading]]) -> None:
    broken = ARTICLE.replace("</AuthorList>", "</AuthorLst>")
    readings = read(pubmed_set(broken, SECOND, SECOND.replace("<PubmedArticle ", "<PubmdArticle "), ARTICLE)[:-1500])
    assert [document.id for document in documents(readings)] == ["102"]
    mismatch, lost, cut = reasons(readings)
    assert mismatch.startswith("not well-formed XML (Opening and ending tag mismatch: AuthorList")
    assert lost == "the rest of a record whose beginning is missing or damaged"
    assert cut == "cut off before </PubmedArticle>"
    lines = [problem.line for reading in readings for problem in reading.problems]
    second = 4 + broken.count("\n") + 1
    assert lines == [4, second + SECOND.count("\n"), second + 2 * (SECOND.count("\n") + 1)]


def test_pubmed_rejects_an_article_without_its_parts(read: Callable[..., list[Reading]]) -> None:
    citation = "<MedlineCitation><PMID>1</PMID></MedlineCitation>"
    articles = f"<PubmedArticle></PubmedArticle><PubmedArticle>{citation}</PubmedArticle>"
    assert reasons(read(f"<PubmedArticleSet>{articles}<PubmedBookArticle></PubmedBookArticle></PubmedArticleSet>")) == [
        "no MedlineCitation",
        "no Article",
        "no BookDocument",
    ]


# --- DBLP -----------------------------------------------------------------------------------------------------------

DBLP = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE dblp SYSTEM "dblp.dtd">
<dblp>
<article mdate="2020-01-01" key="journals/ice/DoeW20">
<author orcid="0000-0002-1825-0097">J&ouml;rg D&oslash;e</author>
<author>Wei Wang 0012</author>
<author orcid="0000-0002-1825-0098">Al Roe 1</author>
<title>On H<sub>2</sub>O &amp; <i>ice</i>: &#8734; &nobody;.</title>
<year>2020</year><journal>Ice J.</journal><volume>7</volume>
<ee type="oa">https://ice.example/7</ee><ee>https://doi.org/10.1000/ICE.7</ee>
<ee>http://arxiv.org/abs/2001.00007</ee>
<cite>conf/snow/Poe99</cite><cite>...</cite>
</article><inproceedings key="conf/snow/Poe99" mdate="1999-01-01">
<author pid="12/3456">Ed Poe</author><title>Snow.</title><booktitle>SNOW</booktitle><year>1999</year>
<crossref>conf/snow/1999</crossref></inproceedings>
<proceedings key="conf/snow/1999"><editor>Ann Editor</editor><title>Proc. of SNOW</title><year>1999</year></proceedings>
<phdthesis key="phd/Poe98"><author>Ed Poe</author><title>Cold.</title><school>Univ. of Thul\xe9</school></phdthesis>
<www key="homepages/12/3456"><author>Ed Poe</author><author>Edgar Poe</author><title>Home Page</title>
<note type="affiliation">Ice Lab, Oslo</note><note>a remark</note></www>
</dblp>
"""


def test_dblp_records(read: Callable[..., list[Reading]]) -> None:
    readings = read(DBLP.encode("latin-1"))
    article, paper, proceedings, thesis, page = documents(readings)
    assert article.id == "journals/ice/DoeW20"
    assert article.ids == {"dblp": article.id, "doi": "10.1000/ice.7", "arxiv": "2001.00007"}
    assert article.title == "On H2O & ice: ∞ &nobody;."
    assert (article.year, article.venue, article.references) == (2020, "Ice J.", ["conf/snow/Poe99"])
    assert [author.name for author in article.authors] == ["Jörg Døe", "Wei Wang", "Al Roe 1"]
    assert [author.ids for author in article.authors] == [{"orcid": ORCID}, {"dblp": "Wei Wang 0012"}, {}]
    assert reasons(readings) == ["'0000-0002-1825-0098' is not a valid ORCID"]
    assert (paper.venue, paper.authors[0].ids) == ("SNOW", {"dblp-pid": "12/3456"})
    assert (proceedings.authors, proceedings.title) == ([], "Proc. of SNOW")
    assert thesis.authors[0].affiliations == ["Univ. of Thulé"]
    assert (page.title, [author.name for author in page.authors]) == ("", ["Ed Poe", "Edgar Poe"])
    assert page.authors[1].affiliations == ["Ice Lab, Oslo"]


def test_dblp_person_page(read: Callable[..., list[Reading]]) -> None:
    page = """<?xml version="1.0"?><dblpperson name="Ed Poe" pid="12/3456" n="1"><person key="homepages/12/3456">
    <author pid="12/3456">Ed Poe</author></person><r><article key="journals/ice/Poe1"><author>Ed Poe</author>
    <title>Ice</title></article>
    </r><r><article key="journals/ice/Poe2"><title>Ice</title></article>
    </r><coauthors n="1"><co c="0"><na pid="1/2">Al Roe</na></co></coauthors></dblpperson>"""
    readings = read(page)
    assert [document.id for document in documents(readings)] == [
        "homepages/12/3456",
        "journals/ice/Poe1",
        "journals/ice/Poe2",
    ]
    assert reasons(readings) == []


def test_dblp_page_of_persons_of_one_name_is_not_a_record(read: Callable[..., list[Reading]]) -> None:
    page = '<www publtype="disambiguation" key="homepages/1"><author>Ed Poe</author><title>Home Page</title></www>'
    readings = read(f'<dblp>{page}<www key="homepages/2"><author>Ed Poe 0001</author></www></dblp>')
    assert [document.id for document in documents(readings)] == ["homepages/2"]
    assert reasons(readings) == []


HITS = """<?xml version="1.0" encoding="UTF-8"?><result><query id="1">ice*</query><hits total="2" sent="2" first="0">
<hit score="3" id="11"><info><authors><author pid="1/2">Ed Poe 0001</author><author pid="3/4">Al R&#246;e</author>
</authors><title>Ice &amp; snow.</title><venue>J. Ice</venue><year>2017</year><key>journals/ice/PoeR17</key>
<doi>10.1000/ICE.1</doi><ee>https://doi.org/10.1000/ICE.1</ee><url>https://dblp.org/rec/journals/ice/PoeR17</url></info><url>URL#11</url></hit>
<hit score="1" id="12"><info><authors><author pid="5/6">Jo Doe</author></authors><title>Fog.</title><year>2018</year>
<key>conf/fog/Doe18</key><ee>http://arxiv.org/abs/1801.00001</ee></info><url>URL#12</url></hit></hits></result>"""

JSON_HITS = """{"result": {"query": "ice*", "completions": {"c": {"@id": "3", "text": "ice"}}, "hits": {"hit": [
{"@score": "3", "@id": "11", "info": {"authors": {"author": [{"@pid": "1/2", "text": "Ed Poe 0001"},
{"@pid": "3/4", "text": "Al Röe"}]}, "title": "Ice &amp; snow.", "venue": ["J. Ice", "X"], "year": "2017",
"key": "journals/ice/PoeR17", "doi": "10.1000/ICE.1", "ee": ["https://doi.org/10.1000/ICE.1"]}, "url": "URL#11"},
{"@score": "1", "@id": "12", "info": {"authors": {"author": {"@pid": "5/6", "text": "Jo Doe"}}, "title": "Fog.",
"year": "2018", "key": "conf/fog/Doe18", "ee": "http://arxiv.org/abs/1801.00001"}, "url": "URL#12"}]}}}"""


@pytest.mark.parametrize("text", [HITS, JSON_HITS])
def test_dblp_search_answers(read: Callable[..., list[Reading]], text: str) -> None:
    readings = read(text)
    first, second = documents(readings)
    assert (first.id, first.title, first.venue, first.year) == ("journals/ice/PoeR17", "Ice & snow.", "J. Ice", 2017)
    assert first.ids == {"dblp": "journals/ice/PoeR17", "doi": "10.1000/ice.1"}
    assert [(author.name, author.ids) for author in first.authors] == [
        ("Ed Poe", {"dblp": "Ed Poe 0001", "dblp-pid": "1/2"}),
        ("Al Röe", {"dblp-pid": "3/4"}),
    ]
    assert ([author.name for author in second.authors], second.ids["arxiv"]) == (["Jo Doe"], "1801.00001")
    assert reasons(readings) == []


def test_dblp_hits_that_are_damaged_or_persons(read: Callable[..., list[Reading]]) -> None:
    broken = read(HITS.replace("</title><venue>", "<venue>"))
    assert [document.id for document in documents(broken)] == ["conf/fog/Doe18"]
    assert "not well-formed" in reasons(broken)[0]
    person = '{"result": {"hits": {"hit": [{"@score": "1", "@id": "2", "info": {"author": "Ed Poe", "url": "x"}}]}}}'
    assert reasons(read(person)) == ["a person or a venue, not a publication (search for publications)"]


def test_dblp_damage(read: Callable[..., list[Reading]]) -> None:
    whole = '<article key="journals/x/{0}">\n<author>A B</author>\n<title>T</title>\n</article>\n'
    damaged = [
        whole.format(1).replace("</title>", "</titl>"),
        whole.format(2).replace("</article>", ""),
        whole.format(3).replace("<article ", "<artikle "),
        whole.format(4).replace("A B", "A < B"),
        whole.format(5).replace("A B", "A & B"),
    ]
    text = "<dblp>\n" + "".join(part + whole.format(f"ok{n}") for n, part in enumerate(damaged)) + "</dblp>"
    readings = read(text)
    assert [document.id for document in documents(readings)] == [f"journals/x/ok{n}" for n in range(5)]
    assert [(problem.line, problem.reason.partition(" (")[0]) for r in readings for problem in r.problems] == [
        (2, "not well-formed XML"),
        (10, "cut off before </article>"),
        (17, "the rest of a record whose beginning is missing or damaged"),
        (26, "not well-formed XML"),
        (34, "not well-formed XML"),
    ]


TEXTS = st.text(st.sampled_from("aZ é&;<>/#x1\n\t-'\""), max_size=20)


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.sampled_from(["author", "title", "year", "note"]), TEXTS), max_size=5))
def test_dblp_is_read_the_same_with_and_without_a_parser(elements: list[tuple[str, str]]) -> None:
    inside = "".join(f"<{name}>{text}</{name}>" for name, text in elements)
    record = f'<article key="journals/x/1">{inside}</article>'.encode()
    plain = dblp.plain_fields(record)
    if plain is None:
        return
    key, fields = dblp.parsed_fields(record)
    assert plain[0] == key
    assert [(name, leaf_text(text)) for name, _, text in plain[1]] == [
        (name, leaf_text(text.replace("&", "&amp;"))) for name, _, text in fields
    ]


@pytest.mark.parametrize("text", ["&1;", "&#x;", "&#Z1;", "&é;", "R&D"])
def test_dblp_stray_ampersands_are_left_to_the_parser(text: str) -> None:
    assert dblp.plain_fields(f'<article key="journals/x/1"><title>{text}</title></article>'.encode()) is None


# --- OAI-PMH --------------------------------------------------------------------------------------------------------


def harvest(*records: str, root: str = 'xmlns="http://www.openarchives.org/OAI/2.0/"', prefix: str = "oai_dc") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH {root}>\n<responseDate>2024-01-01</responseDate>'
        f'<request verb="ListRecords" metadataPrefix="{prefix}">http://x.example</request>\n<ListRecords>\n'
        + "\n".join(records)
        + "\n<resumptionToken>next</resumptionToken></ListRecords>\n</OAI-PMH>\n"
    )


def oai_record(identifier: str, metadata: str, status: str = "") -> str:
    return (
        f"<record>\n<header{status}><identifier>{identifier}</identifier><datestamp>2023-01-01</datestamp>"
        f"<setSpec>x</setSpec></header>\n<metadata>{metadata}</metadata></record>"
    )


ARXIV = """<arXiv xmlns="http://arxiv.org/OAI/arXiv/" xmlns:xsi="http://x" xsi:schemaLocation="a b">
<id>hep-th/9901001</id><created>1999-01-04</created><updated>2001-05-05</updated><authors>
<author><keyname>Müller</keyname><forenames>J. K.</forenames><suffix>II</suffix>
<affiliation>Ice Lab, Oslo</affiliation><affiliation>Snow Lab</affiliation></author>
<author><keyname>Erd\\H{o}s</keyname><forenames>P.</forenames></author>
<author><keyname>The Ice Collaboration</keyname></author></authors>
<title>On Gr\\"obner bases
  &amp; more</title><categories>hep-th math.AC</categories><doi>10.1000/ICE.9</doi>
<journal-ref>J. Ice 7 (1999) 1</journal-ref><abstract>  We show
that a &lt; b.
</abstract></arXiv>"""


def dublin_core(*fields: tuple[str, str]) -> str:
    inside = "".join(f"<dc:{name}>{text}</dc:{name}>" for name, text in fields)
    return f'<oai_dc:dc xmlns:oai_dc="http://o" xmlns:dc="http://purl.org/dc/elements/1.1/">{inside}</oai_dc:dc>'


def test_arxiv_format(read: Callable[..., list[Reading]]) -> None:
    deleted = '<record><header status="deleted"><identifier>oai:arXiv.org:1</identifier></header></record>'
    record = oai_record("oai:arXiv.org:hep-th/9901001", ARXIV)
    readings = read(harvest(deleted, record, prefix="arXiv"))
    (document,) = documents(readings)
    assert reasons(readings) == []
    assert document.other_contributors == ["The Ice Collaboration"]
    assert document.ids == {"arxiv": "hep-th/9901001", "doi": "10.1000/ice.9"}
    assert (document.id, document.year) == ("hep-th/9901001", 1999)
    assert (document.title, document.abstract) == ("On Gröbner bases & more", "We show that a < b.")
    assert (document.venue, document.categories) == ("J. Ice 7 (1999) 1", ["hep-th", "math.AC"])
    assert [author.name for author in document.authors] == ["Müller, J. K., II", "Erdős, P."]
    assert document.authors[0].affiliations == ["Ice Lab, Oslo", "Snow Lab"]


def test_arxiv_raw_and_api(read: Callable[..., list[Reading]]) -> None:
    raw = """<arXivRaw xmlns="http://arxiv.org/OAI/arXivRaw/"><id>0704.0001</id>
    <version version="v1"><date>Mon, 2 Apr 2007 19:18:42 GMT</date><size>1kb</size></version>
    <version version="v2"><date>Tue, 1 Jan 2008 00:00:00 GMT</date></version><title>Ice</title>
    <authors>J. Doe (Ice Lab), C. P\\'oe and A. Roe</authors><categories>hep-ph cs.AI</categories>
    <abstract>Cold &lt; hot.</abstract></arXivRaw>"""
    (document,) = documents(read(harvest(oai_record("oai:arXiv.org:0704.0001", raw), prefix="arXivRaw")))
    assert (document.id, document.year, document.categories) == ("0704.0001", 2007, ["hep-ph", "cs.AI"])
    assert [author.name for author in document.authors] == ["J. Doe", "C. Póe", "A. Roe"]
    assert document.authors[0].affiliations == ["Ice Lab"]
    feed = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title><entry>
    <id>http://arxiv.org/abs/1706.00002v3</id><updated>2019-01-01T00:00:00Z</updated>
    <published>2017-06-01T00:00:00Z</published><title>Snow</title><summary>White.</summary>
    <author><name>Jo Doe</name><arxiv:affiliation xmlns:arxiv="http://arxiv.org/schemas/atom">Ice Lab
    </arxiv:affiliation></author><author><name>Al Roe</name></author><link href="http://x"/>
    <category term="cs.LG" scheme="http://arxiv.org/schemas/atom"/></entry></feed>"""
    (entry,) = documents(read(feed))
    assert (entry.id, entry.year, entry.categories) == ("1706.00002", 2017, ["cs.LG"])
    assert [(author.name, author.affiliations) for author in entry.authors] == [("Jo Doe", ["Ice Lab"]), ("Al Roe", [])]


def test_dublin_core(read: Callable[..., list[Reading]]) -> None:
    paper = dublin_core(
        ("title", "On ice"),
        ("creator", "Doe, Jo"),
        ("creator", "Roe, Al"),
        ("subject", "Mathematics - Logic"),
        ("subject", "03E75"),
        ("description", "Comment: 7 pages"),
        ("description", "We melt."),
        ("date", "2012-05-05"),
        ("date", "2010-09-06"),
        ("identifier", "http://arxiv.org/abs/1009.0001"),
        ("identifier", "Journal of Ice, 7 (2011)"),
        ("identifier", "doi:10.1000/ICE.3"),
    )
    article = dublin_core(
        ("title", "Nieve &amp;amp; &lt;i&gt;hielo&lt;/i&gt;"),
        ("creator", "Gómez, Ana; Universidad de Thule"),
        ("creator", f"Poe, Ed [{ORCID}]"),
        ("creator", "Doe, Jo; Roe, Al"),
        ("creator", "Anonymous"),
        ("creator", "Old, Ann, 1850-1920"),
        ("contributor", "Editor, E."),
        ("date", "20140502"),
        ("source", "Revista de Nieve; Vol. 1 (2014); 1-9"),
        ("subject", "snow"),
    )
    records = oai_record("oai:arXiv.org:1009.0001", paper), oai_record("oai:nieve.example:7", article)
    first, second = documents(read(harvest(*records)))
    assert (first.id, first.year, first.venue) == ("1009.0001", 2010, "Journal of Ice, 7 (2011)")
    assert (first.categories, first.keywords) == (["Mathematics - Logic"], ["03E75"])
    assert (first.abstract, first.ids["doi"]) == ("We melt.", "10.1000/ice.3")
    assert [author.name for author in first.authors] == ["Doe, Jo", "Roe, Al"]
    assert (second.id, second.year, second.venue) == ("oai:nieve.example:7", 2014, "Revista de Nieve")
    assert (second.title, second.keywords) == ("Nieve & hielo", ["snow"])
    assert [author.name for author in second.authors] == ["Gómez, Ana", "Poe, Ed", "Doe, Jo", "Roe, Al", "Old, Ann"]
    assert [author.position for author in second.authors] == [0, 1, 2, 3, 5]
    assert second.other_contributors == ["Anonymous"]
    assert second.authors[0].affiliations == ["Universidad de Thule"]
    assert second.authors[1].ids == {"orcid": ORCID}


def test_prefixes_that_only_the_root_declares(read: Callable[..., list[Reading]]) -> None:
    fields = "<dc:title>On <dc:b>ice</dc:b></dc:title><dc:creator>Doe, Jo</dc:creator>"
    text = harvest(
        oai_record("oai:x:1", f"<oai_dc:dc>{fields}</oai_dc:dc>"),
        root='xmlns:oai_dc="http://o" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:oai="http://oai"',
    )
    prefixed = re.sub(r"<(/?)(record|header|metadata)", r"<\1oai:\2", text)
    for changed in (text, text.replace("xmlns:dc=", "xmlns:cd="), prefixed):
        (document,) = documents(read(changed))
        assert (document.id, document.title, document.authors[0].name) == ("oai:x:1", "On ice", "Doe, Jo")


def test_dublin_core_without_a_harvest(read: Callable[..., list[Reading]]) -> None:
    text = """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
      xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>On ice</dc:title><dc:creator>Doe, Jo</dc:creator>
      <dc:subject>ice; snow</dc:subject><dc:subject>snow</dc:subject></oai_dc:dc>"""
    for written in text, text.replace("<dc:creator>Doe, Jo</dc:creator>", ""):
        (document,) = documents(read(written))
        assert (document.title, document.keywords) == ("On ice", ["ice", "snow"])
        assert len(document.authors) == written.count("creator>") // 2
    remark, abstract = "ix, 295 leaves : ill.", "We studied the ice. " * 10
    described = text.replace("<dc:subject>ice", f"<dc:description>{remark}</dc:description><dc:subject>ice")
    assert documents(read(described))[0].abstract == remark
    both = described.replace("</oai", f"<dc:description>{abstract}</dc:description></oai")
    assert documents(read(both))[0].abstract == abstract.strip()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('<error code="noRecordsMatch">none</error>', "answered with an error: noRecordsMatch"),
        ("<ListIdentifiers><header><identifier>oai:x:1</identifier></header></ListIdentifiers>", "verb=ListRecords"),
    ],
)
def test_reports_answers_without_records(read: Callable[..., list[Reading]], content: str, reason: str) -> None:
    request = '<request verb="ListRecords" metadataPrefix="oai_dc">http://x</request>'
    (said,) = reasons(read(f'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">{request}{content}</OAI-PMH>'))
    assert reason in said


def test_harvest_damage(read: Callable[..., list[Reading]]) -> None:
    whole = [oai_record(f"oai:x:{n}", dublin_core(("title", "T"), ("creator", "Doe, Jo"))) for n in range(5)]
    whole[1] = whole[1].replace("</dc:title>", "</dc:titel>")
    whole[3] = (
        whole[3].replace("<metadata>", "<metadata><marc/>").replace("creator", "author").replace("dc:title", "dc:t")
    )
    text = harvest(*whole)
    readings = read(text[: text.index("oai:x:4") + 80])
    assert [document.id for document in documents(readings)] == ["oai:x:0", "oai:x:2"]
    mismatch, unknown, cut = reasons(readings)
    assert mismatch.startswith("not well-formed XML (Opening and ending tag mismatch: title")
    assert unknown == "metadata format marc is neither arXiv nor Dublin Core (harvest as oai_dc)"
    assert cut == "cut off before </record>"


# --- AMiner ---------------------------------------------------------------------------------------------------------


def person(name: str, *publications: str) -> str:
    return f"<person><personID>7</personID><FullName>{name}</FullName>\n{''.join(publications)}</person>\n"


def publication(number: int, authors: str = "Al Roe,Jo Doe", **fields: str) -> str:
    given = {
        "title": f"R&D of a<b & <x> {number}",
        "year": "2001",
        "authors": authors,
        "jconf": "ICE",
        "id": str(number),
    }
    given |= {"label": str(number % 3), "organization": "null"} | fields
    inside = "".join(f"\t<{name}>{value}</{name}>\n" for name, value in given.items())
    return f"<publication>\n{inside}</publication>\n"


def test_aminer_xml(read: Callable[..., list[Reading]]) -> None:
    text = person(
        "Jo Doe", publication(4, organization="Université de Thulé."), publication(5, "J. Doe, JO DOE,Jo Doe")
    )
    first, second = documents(read(text.encode("latin-1"), file="Jo Doe.xml"))
    assert (first.id, first.title, first.year, first.venue) == ("Jo Doe/4", "R&D of a<b & <x> 4", 2001, "ICE")
    assert [(author.name, author.label, author.block) for author in first.authors] == [
        ("Al Roe", None, None),
        ("Jo Doe", "Jo Doe/1", "Jo Doe"),
    ]
    assert first.authors[1].affiliations == ["Université de Thulé"]
    assert first.ids == {}
    assert [author.label for author in second.authors] == [None, "Jo Doe/2", None]
    assert second.authors[1].affiliations == []


def test_aminer_xml_of_several_names_in_one_stream(read: Callable[..., list[Reading]]) -> None:
    text = person("Jo Doe", publication(1)) + '<?xml version="1.0"?>' + person("Al Roe", publication(1), publication(2))
    labels = [[author.label for author in document.authors] for document in documents(read(text))]
    assert labels == [[None, "Jo Doe/1"], ["Al Roe/1", None], ["Al Roe/2", None]]
    assert [document.id for document in documents(read(text))] == ["Jo Doe/1", "Al Roe/1", "Al Roe/2"]


def test_aminer_xml_damage(read: Callable[..., list[Reading]]) -> None:
    nameless = publication(2, "Xu Li,Al Roe")
    text = person("Jo Doe", publication(1).replace("</title>", "</titel>"), nameless, publication(3))[:-60]
    readings = read(text)
    first, second = documents(readings)
    assert (first.authors[1].label, first.year) == ("Jo Doe/1", 2001)
    assert [author.label for author in second.authors] == [None, None]
    assert reasons(readings) == ["label 2 is for Jo Doe, who is not among the authors", "cut off before </publication>"]
    assert reasons(read(person("Jo Doe", "<publication><id>1</id></publication>"))) == ["neither title nor authors"]
    assert reasons(read(text.replace("<publication>", "<publicashion>", 1)))[0].startswith("the rest of a record")


def test_aminer_xml_takes_the_name_from_the_file_name(read: Callable[..., list[Reading]]) -> None:
    text = f"<person><personID>7</personID>{publication(1)}</person>"
    (document,) = documents(read(text, file="Jo Doe.xml"))
    assert document.authors[1].label == "Jo Doe/1"


# --- all ------------------------------------------------------------------------------------------------------------

EXAMPLES = {
    "pubmed": pubmed_set(ARTICLE, SECOND),
    "dblp": DBLP,
    "arxiv-oai": harvest(oai_record("oai:arXiv.org:hep-th/9901001", ARXIV)),
    "aminer-xml": person("Jo Doe", publication(1), publication(2)),
}


def test_each_format_recognises_only_its_own_files(tmp_path: Path) -> None:
    path = tmp_path / "file.xml"
    for name, text in EXAMPLES.items():
        for changed in (text, "\n\n<!-- made by hand -->\n" + text, text.replace("\n", "\r"), text[40:]):
            path.write_bytes(changed.encode("latin-1" if name == "dblp" else "utf-8"))
            assert recognised_by(path) == [name]


@pytest.mark.parametrize(
    "text",
    [
        '<!ELEMENT dblp (article|inproceedings|www)*>\n<!ENTITY ouml "&#246;">\n<!ELEMENT author (#PCDATA)>',
        '<article article-type="research-article"><front><article-title>Ice</article-title></front></article>',
        "<xml><records><record><title>EndNote</title><author>Doe, Jo</author></record></records></xml>",
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><Identify><repositoryName>x</repositoryName></Identify></OAI-PMH>',
        "<html><head><title>Not found</title></head><body>publication</body></html>",
        "<feed><entry><id>http://x.example/1</id></entry></feed>",
        '{"abstract": "a paper about PubmedArticle, dblp and arXiv"}',
    ],
)
def test_other_files_are_not_recognised(text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.xml"
    path.write_text(text)
    assert recognised_by(path) == []


def test_external_and_recursive_entities_are_not_expanded(read: Callable[..., list[Reading]], tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    bomb = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<!DOCTYPE dblp [<!ENTITY l0 "ha"><!ENTITY f SYSTEM "{tmp_path}/secret.txt">{bomb}]>\n<dblp>'
    record = '<article key="journals/x/1"><author>A &f; &l9;</author><title>On <b>&l9;</b></title></article>'
    (document,) = documents(read(f"{head}{record}</dblp>"))
    assert document.authors[0].name == "A &f; &l9;"
    assert document.title == "On &l9;"
    assert element_of(f'<!DOCTYPE a [<!ENTITY f SYSTEM "{tmp_path}/secret.txt">]><a>&f;</a>'.encode()).text == "&f;"


def test_reads_bytes_that_are_not_utf8_and_characters_that_xml_forbids(read: Callable[..., list[Reading]]) -> None:
    article = SECOND.replace("Roe", "Bj\xf6rn").replace("Is og", "Is\x0b &#11;&#x1F;og").encode("latin-1")
    (document,) = documents(read(b"<PubmedArticleSet>" + article + b"</PubmedArticleSet>"))
    assert (document.authors[0].name, document.title) == ("Björn, Al", "Is og sne.")


def test_rejects_a_deeply_nested_record(read: Callable[..., list[Reading]]) -> None:
    deep = "<metadata>" + "<x>" * 5000 + "</x>" * 5000 + "</metadata>"
    assert reasons(read(harvest(f"<record>{deep}</record>"))).pop().startswith("not well-formed XML")


def test_reads_tags_cut_by_the_end_of_a_block(read: Callable[..., list[Reading]]) -> None:
    record = '<article key="journals/x/{0}"><author>A B</author><title>{1}</title></article>'
    text = "<dblp>" + "".join(record.format(n, "x" * (n * 37 % 1900)) for n in range(1500)) + "</dblp>"
    assert [document.id for document in documents(read(text))] == [f"journals/x/{n}" for n in range(1500)]


@settings(max_examples=examples(100))
@given(st.sampled_from(sorted(EXAMPLES)), st.data())
def test_damage_never_raises_anything_but_broken_records(name: str, data: st.DataObject) -> None:
    text = EXAMPLES[name].encode("latin-1" if data.draw(st.booleans()) else "utf-8", errors="replace")
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 200)))
    damaged = text[:start] + data.draw(st.binary(max_size=8)) + text[stop:]
    context = {"arxiv-oai": b'<records xmlns:x="y">', "aminer-xml": "Jo Doe"}.get(name)
    beginning = re.search(rb"<(PubmedArticle|article|record|publication)\b", damaged)
    for record in (damaged, damaged[beginning.start() :] if beginning else b""):
        with suppress(BrokenRecordError):
            format_named(name).parse(record, context)


def test_leaves_are_the_same_with_and_without_a_parser() -> None:
    reader = LeafReader("record", "group")
    written = b"<a x='1'>J&#252;rgen &amp; &lt;b</a>"
    plain = reader.read(b"<record>" + written + b"<group><c>2</c></group></record>")
    parsed = reader.read(b"<record>" + written + b"<group><c>2</c></group><d><e>3</e></d></record>")
    assert [(name, leaf_text(text)) for name, _, text in plain if name] == [("a", "Jürgen & <b"), ("c", "2")]
    assert [(name, leaf_text(text)) for name, _, text in parsed] == [("a", "Jürgen & <b"), ("c", "2"), ("d", "3")]
