"""Writer of JATS articles."""

from __future__ import annotations

from benchmarks.writers.markup import xml_element
from benchmarks.writers.parts import Name, addresses, known_as
from homonym.records.model import Author, Document

# A section of the full text, which is several times as long as the front matter.
_PARAGRAPH = (
    '<p>Synthetic text about <italic>syntheses</italic> of all kinds <xref ref-type="bibr" rid="R1">1</xref>.</p>'
)
_SECTION = f"<sec><title>Results</title>{_PARAGRAPH * 10}</sec>"


def write_jats(document: Document) -> bytes:
    """An article as PubMed Central gives it, with a short full text."""
    places = {place: f"aff{number}" for number, place in enumerate(addresses(document), 1)}
    people = "".join(_contributor(author, places) for author in document.authors)
    affiliations = "".join(
        f'<aff id="{number}"><label>{number[3:]}</label>{xml_element("institution", place)}</aff>'
        for place, number in places.items()
    )
    subjects = "".join(xml_element("subject", name) for name in document.categories)
    words = "".join(xml_element("kwd", word) for word in document.keywords)
    date = f'<pub-date pub-type="ppub"><month>3</month>{xml_element("year", str(document.year or ""))}</pub-date>'
    parts = [
        '<article xmlns:mml="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink" '
        'article-type="research-article"><front><journal-meta><journal-id journal-id-type="iso">Synth</journal-id>',
        f"<journal-title-group>{xml_element('journal-title', document.venue)}</journal-title-group>"
        if document.venue
        else "",
        '<issn pub-type="ppub">0000-0000</issn></journal-meta><article-meta>',
        xml_element("article-id", document.ids["pmid"], ' pub-id-type="pmid"'),
        xml_element("article-id", document.ids["doi"], ' pub-id-type="doi"'),
        '<article-categories><subj-group subj-group-type="heading"><subject>Research Article</subject></subj-group>',
        f"<subj-group>{subjects}</subj-group>" if subjects else "",
        f"</article-categories><title-group>{xml_element('article-title', document.title)}</title-group>",
        f"<contrib-group>{people}</contrib-group>{affiliations}",
        date if document.year else "",
        "<permissions><copyright-year>1999</copyright-year></permissions>",
        f"<abstract><title>Abstract</title>{xml_element('p', document.abstract)}</abstract>"
        if document.abstract
        else "",
        f'<kwd-group kwd-group-type="author">{words}</kwd-group>' if words else "",
        f"</article-meta></front><body>{_SECTION * 12}</body>",
        f"<back><ref-list>{_references(document)}</ref-list></back></article>\n",
    ]
    return "".join(parts).encode()


def _contributor(author: Author, places: dict[str, str]) -> str:
    name = Name.of(author.name)
    marks = (f'<xref ref-type="aff" rid="{places[place]}">{places[place][3:]}</xref>' for place in author.affiliations)
    parts = [
        xml_element("contrib-id", f"https://orcid.org/{author.ids['orcid']}", ' contrib-id-type="orcid"')
        if "orcid" in author.ids
        else "",
        f'<name name-style="western">{xml_element("surname", name.family)}{xml_element("given-names", name.given)}',
        xml_element("suffix", name.suffix) + "</name>",
        *(xml_element("email", email) for email in author.emails),
        *marks,
    ]
    return f'<contrib contrib-type="author">{"".join(parts)}</contrib>'


def _references(document: Document) -> str:
    cited = [
        f'<ref><element-citation><person-group person-group-type="author"><name>{xml_element("surname", name.family)}'
        f"{xml_element('given-names', name.given)}</name></person-group></element-citation></ref>"
        for name in map(Name.of, document.referenced_authors)
    ]
    works = [
        f'<ref><mixed-citation><pub-id pub-id-type="doi">{known_as("doi", other)}</pub-id></mixed-citation></ref>'
        for other in document.references
    ]
    return "".join(cited + works)
