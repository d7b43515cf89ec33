"""Writers of the XML of PubMed and DBLP."""

from __future__ import annotations

import re
from html import escape
from html.entities import codepoint2name

from benchmarks.writers.parts import Name, known_as, medline_places
from homonym.records.model import Author, Document

_DESCRIPTOR = ' UI="D000001" MajorTopicYN="N"'


def _xml(tag: str, text: str, attributes: str = "") -> str:
    return f"<{tag}{attributes}>{escape(text, quote=False)}</{tag}>" if text else ""


def write_pubmed(document: Document) -> bytes:
    """An article of PubMed on one line, in ASCII with character references."""
    half = (len(document.keywords) + 1) // 2
    pmid, doi = document.ids["pmid"], document.ids["doi"]
    year = _xml("Year", str(document.year)) + "<Month>Mar</Month>" if document.year else ""
    mesh = "".join(
        f"<MeshHeading>{_xml('DescriptorName', word, _DESCRIPTOR)}"
        '<QualifierName UI="Q000032" MajorTopicYN="Y">analysis</QualifierName></MeshHeading>'
        for word in document.keywords[:half]
    )
    words = "".join(_xml("Keyword", word, ' MajorTopicYN="N"') for word in document.keywords[half:])
    cited = "".join(
        "<Reference><Citation>Doe J. On syntheses. Synth Stud. 1999;12:34.</Citation><ArticleIdList>"
        f'<ArticleId IdType="pubmed">{known_as("pmid", other)}</ArticleId></ArticleIdList></Reference>'
        for other in document.references
    )
    parts = [
        '<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM">',
        _xml("PMID", pmid, ' Version="1"'),
        "<DateRevised><Year>2024</Year><Month>11</Month><Day>15</Day></DateRevised>",
        '<Article PubModel="Print"><Journal><ISSN IssnType="Electronic">0000-0000</ISSN>'
        f'<JournalIssue CitedMedium="Internet"><Volume>12</Volume><PubDate>{year}</PubDate></JournalIssue>',
        _xml("Title", document.venue),
        "<ISOAbbreviation>Synth Stud</ISOAbbreviation></Journal>" if document.venue else "</Journal>",
        _xml("ArticleTitle", f"{document.title}." if document.title else ""),
        _xml("ELocationID", doi, ' EIdType="doi" ValidYN="Y"'),
        f"<Abstract>{_xml('AbstractText', document.abstract)}</Abstract>" if document.abstract else "",
        f'<AuthorList CompleteYN="Y">{"".join(map(_pubmed_author, document.authors))}</AuthorList>',
        "<Language>eng</Language></Article>",
        f"<MeshHeadingList>{mesh}</MeshHeadingList>" if mesh else "",
        f'<KeywordList Owner="NOTNLM">{words}</KeywordList>' if words else "",
        '</MedlineCitation><PubmedData><History><PubMedPubDate PubStatus="entrez"><Year>2024</Year><Month>11</Month>'
        "<Day>15</Day></PubMedPubDate></History><PublicationStatus>ppublish</PublicationStatus><ArticleIdList>",
        _xml("ArticleId", pmid, ' IdType="pubmed"') + _xml("ArticleId", doi, ' IdType="doi"') + "</ArticleIdList>",
        f"<ReferenceList>{cited}</ReferenceList>" if cited else "",
        "</PubmedData></PubmedArticle>\n",
    ]
    return "".join(parts).encode("ascii", "xmlcharrefreplace")


def _pubmed_author(author: Author) -> str:
    name = Name.of(author.name).medline
    orcid = _xml("Identifier", author.ids.get("orcid", ""), ' Source="ORCID"')
    places = [f"<AffiliationInfo>{_xml('Affiliation', place)}</AffiliationInfo>" for place in medline_places(author)]
    parts = [_xml("LastName", name.family), _xml("ForeName", name.given), _xml("Initials", name.initials)]
    return f'<Author ValidYN="Y">{"".join([*parts, _xml("Suffix", name.suffix), orcid, *places])}</Author>'


def write_dblp(document: Document) -> bytes:
    """An article of the DBLP dump."""
    key = document.ids["dblp"]
    people = [_dblp_author(author) for author in document.authors]
    parts = [
        f'<article mdate="2024-11-15" key="{key}">',
        *people,
        _xml("title", f"{document.title}." if document.title else ""),
        "<pages>34-56</pages>",
        _xml("year", str(document.year or "")),
        "<volume>12</volume>",
        _xml("journal", document.venue),
        _xml("ee", f"https://doi.org/{document.ids['doi']}"),
        *(_xml("cite", known_as("dblp", other)) for other in document.references),
        f"<url>db/{key.rpartition('/')[0]}/synth12.html#{key.rpartition('/')[2]}</url>",
        "</article>",
    ]
    text = "\n".join(filter(None, parts)) + "\n"
    return (text if text.isascii() else re.sub(r"[^\x00-\x7f]", _entity, text)).encode()


def _dblp_author(author: Author) -> str:
    orcid = f' orcid="{author.ids["orcid"]}"' if "orcid" in author.ids else ""
    return _xml("author", author.ids.get("dblp") or Name.of(author.name).natural, orcid)


def _entity(found: re.Match[str]) -> str:
    """A letter in the notation of DBLP: a named entity for Latin-1, otherwise a character reference."""
    number = ord(found[0])
    return f"&{codepoint2name[number]};" if number < 256 else f"&#{number};"
