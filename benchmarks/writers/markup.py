"""Writers of the XML of PubMed and DBLP."""

from __future__ import annotations

import re
from html import escape
from html.entities import codepoint2name

from benchmarks.writers.parts import Name, known_as, medline_places
from homonym.records.model import Author, Document

_DESCRIPTOR = ' UI="D000001" MajorTopicYN="N"'


def xml_element(tag: str, text: str, attributes: str = "") -> str:
    """An element with this text; nothing if there is no text."""
    return f"<{tag}{attributes}>{escape(text, quote=False)}</{tag}>" if text else ""


def write_pubmed(document: Document) -> bytes:
    """An article of PubMed on one line, in ASCII with character references."""
    half = (len(document.keywords) + 1) // 2
    pmid, doi = document.ids["pmid"], document.ids["doi"]
    year = xml_element("Year", str(document.year)) + "<Month>Mar</Month>" if document.year else ""
    mesh = "".join(
        f"<MeshHeading>{xml_element('DescriptorName', word, _DESCRIPTOR)}"
        '<QualifierName UI="Q000032" MajorTopicYN="Y">analysis</QualifierName></MeshHeading>'
        for word in document.keywords[:half]
    )
    words = "".join(xml_element("Keyword", word, ' MajorTopicYN="N"') for word in document.keywords[half:])
    cited = "".join(
        "<Reference><Citation>Doe J. On syntheses. Synth Stud. 1999;12:34.</Citation><ArticleIdList>"
        f'<ArticleId IdType="pubmed">{known_as("pmid", other)}</ArticleId></ArticleIdList></Reference>'
        for other in document.references
    )
    parts = [
        '<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">',
        xml_element("PMID", pmid, ' Version="1"'),
        "<DateRevised><Year>2024</Year><Month>11</Month><Day>15</Day></DateRevised>",
        '<Article PubModel="Print"><Journal><ISSN IssnType="Electronic">0000-0000</ISSN>'
        f'<JournalIssue CitedMedium="Internet"><Volume>12</Volume><PubDate>{year}</PubDate></JournalIssue>',
        xml_element("Title", document.venue),
        "<ISOAbbreviation>Synth Stud</ISOAbbreviation></Journal>" if document.venue else "</Journal>",
        xml_element("ArticleTitle", f"{document.title}." if document.title else ""),
        xml_element("ELocationID", doi, ' EIdType="doi" ValidYN="Y"'),
        f"<Abstract>{xml_element('AbstractText', document.abstract)}</Abstract>" if document.abstract else "",
        f'<AuthorList CompleteYN="Y">{"".join(map(_pubmed_author, document.authors))}</AuthorList>',
        "<Language>eng</Language></Article>",
        f"<MeshHeadingList>{mesh}</MeshHeadingList>" if mesh else "",
        f'<KeywordList Owner="NOTNLM">{words}</KeywordList>' if words else "",
        '</MedlineCitation><PubmedData><History><PubMedPubDate PubStatus="entrez"><Year>2024</Year><Month>11</Month>'
        "<Day>15</Day></PubMedPubDate></History><PublicationStatus>ppublish</PublicationStatus><ArticleIdList>",
        xml_element("ArticleId", pmid, ' IdType="pubmed"')
        + xml_element("ArticleId", doi, ' IdType="doi"')
        + "</ArticleIdList>",
        f"<ReferenceList>{cited}</ReferenceList>" if cited else "",
        "</PubmedData></PubmedArticle>\n",
    ]
    return "".join(parts).encode("ascii", "xmlcharrefreplace")


def _pubmed_author(author: Author) -> str:
    name = Name.of(author.name).medline
    orcid = xml_element("Identifier", author.ids.get("orcid", ""), ' Source="ORCID"')
    places = [
        f"<AffiliationInfo>{xml_element('Affiliation', place)}</AffiliationInfo>" for place in medline_places(author)
    ]
    parts = [
        xml_element("LastName", name.family),
        xml_element("ForeName", name.given),
        xml_element("Initials", name.initials),
    ]
    return f'<Author ValidYN="Y">{"".join([*parts, xml_element("Suffix", name.suffix), orcid, *places])}</Author>'


def write_dblp(document: Document) -> bytes:
    """An article of the DBLP dump."""
    key = document.ids["dblp"]
    people = [_dblp_author(author) for author in document.authors]
    parts = [
        f'<article mdate="2024-11-15" key="{key}">',
        *people,
        xml_element("title", f"{document.title}." if document.title else ""),
        "<pages>34-56</pages>",
        xml_element("year", str(document.year or "")),
        "<volume>12</volume>",
        xml_element("journal", document.venue),
        xml_element("ee", f"https://doi.org/{document.ids['doi']}"),
        *(xml_element("cite", known_as("dblp", other)) for other in document.references),
        f"<url>db/{key.rpartition('/')[0]}/synth12.html#{key.rpartition('/')[2]}</url>",
        "</article>",
    ]
    text = "\n".join(filter(None, parts)) + "\n"
    return (text if text.isascii() else re.sub(r"[^\x00-\x7f]", _entity, text)).encode()


def _dblp_author(author: Author) -> str:
    orcid = f' orcid="{author.ids["orcid"]}"' if "orcid" in author.ids else ""
    return xml_element("author", author.ids.get("dblp") or Name.of(author.name).natural, orcid)


def _entity(found: re.Match[str]) -> str:
    """A letter in the notation of DBLP: a named entity for Latin-1, otherwise a character reference."""
    number = ord(found[0])
    return f"&{codepoint2name[number]};" if number < 256 else f"&#{number};"
