"""Synthetic documents as files of every format, with which the readers are tested and timed.

Layouts follow real exports: their headers and trailers, wrapped lines, abbreviated names, escapes. The contents are
generated.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import orjson
from anyascii import anyascii

from benchmarks.writers.answers import write_doaj, write_inspire, write_scopus_search
from benchmarks.writers.articles import write_jats
from benchmarks.writers.bibtex import write_bibtex
from benchmarks.writers.catalogues import write_marcxml, write_mods, write_orcid, write_orcid_xml
from benchmarks.writers.markup import write_dblp, write_pubmed
from benchmarks.writers.objects import write_crossref, write_datacite, write_openalex
from benchmarks.writers.parts import DOCUMENT_IDS, FIRST_NUMBER, Name, known_as
from benchmarks.writers.reference_managers import (
    write_cochrane,
    write_endnote_xml,
    write_noteexpress,
    write_pubmed_text,
    write_refer,
    write_refworks,
    write_zotero,
)
from benchmarks.writers.scopus import SCOPUS_COLUMNS, row, write_scopus
from benchmarks.writers.services import (
    DIMENSIONS_COLUMNS,
    write_dimensions,
    write_dimensions_row,
    write_europe_pmc,
    write_europe_pmc_xml,
    write_lens,
    write_semantic_scholar,
    write_semantic_scholar_line,
)
from benchmarks.writers.tagged import write_nbib, write_ovid, write_ovid_text, write_scopus_ris
from benchmarks.writers.wos import WOS_COLUMNS, write_wos, write_wos_bibtex, write_wos_row
from homonym.records.formats.documents import parse_document
from homonym.records.model import Author, Document
from homonym.synthetic.corpus import Corpus
from homonym.synthetic.document_generator import documents as generated
from homonym.synthetic.document_generator import orcid

# Maximum number of works that a document cites.
REFERENCES = 30

SENTENCE = ' Effects of 5% and more (p < 0.05) were found at 37 °C for "early" models & x_max of Ångström.'
SECOND_FAMILIES = ("Nuñez", "O'Brien", "Łukaszewicz", "Gößling", "Şengör", "Ångström", "Őry", "d'Août")
PARTICLES = ("van der ", "de la ", "Al ", "von ")
SUFFIXES = ("Jr.", "III", "II")


@dataclass(frozen=True)
class Export:
    """How one source writes its files: a header, the records, a trailer."""

    format: str
    suffix: str
    record: Callable[[Document], bytes]
    header: bytes = b""
    between: bytes = b""
    trailer: bytes = b""

    def write(self, documents: Iterable[Document]) -> Iterator[bytes]:
        """Yield the pieces of a file."""
        return self.framed(map(self.record, documents))

    def framed(self, records: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the pieces of a file from records that are already written."""
        yield self.header
        for place, record in enumerate(records):
            yield self.between + record if place else record
        yield self.trailer


def documents(mentions: int, seed: int = 0) -> Iterator[Document]:
    """Yield generated documents, with more identifiers and more unusual names than the generator gives them.

    No document has two authors with the same surname and first initial, because formats cannot tell these apart.

    >>> document = next(documents(1000))
    >>> document.ids["wos"], document.authors[0].name
    ('000000010000000', 'Karlsson, Daniel J.')
    """
    cited: deque[str] = deque(maxlen=REFERENCES)
    for given in generated(Corpus(mentions=mentions, seed=seed, variants=0)):
        document, _ = parse_document(orjson.dumps(given))
        if document.referenced_authors:  # the generator gives only a few
            cited.extend(document.referenced_authors)
            document.referenced_authors = list(dict.fromkeys(cited))
        yield _completed(document)


def renumbered(record: bytes, old: int, new: int) -> bytes:
    """A written record with the identifiers of another document."""
    return record.replace(b"%d" % (FIRST_NUMBER + old), b"%d" % (FIRST_NUMBER + new))


def _completed(document: Document) -> Document:
    number = int(document.id[1:])
    document.ids = {kind: known_as(kind, document.id) for kind in DOCUMENT_IDS}
    if number % 3 == 0 and document.title:
        document.title += ": theory & practice"
    if number % 4 == 0 and document.abstract:
        document.abstract += SENTENCE
    people: dict[str, Author] = {}
    for author in document.authors:
        _complete(author, int((author.label or "a0")[1:]))
        name = Name.of(author.name)
        people.setdefault(anyascii(name.family).lower() + name.given[0], author)
    document.authors = list(people.values())
    for position, author in enumerate(document.authors):
        author.position = position
    return document


def _complete(author: Author, person: int) -> None:
    """Add identifiers to an author, and make some names unusual, with the e-mail address to match."""
    name = Name.of(author.name)
    if person % 13 == 1:
        name = name._replace(family=f"{name.family}-{SECOND_FAMILIES[person % len(SECOND_FAMILIES)]}")
    if person % 17 == 3:
        name = name._replace(family=PARTICLES[person % len(PARTICLES)] + name.family)
    if person % 11 == 2:
        name = name._replace(given=f"Jean-{name.given}")
    if person % 19 == 4:
        name = name._replace(suffix=SUFFIXES[person % len(SUFFIXES)])
    author.name = str(name)
    if author.emails:
        author.emails = [f"{_mailbox(name)}@{email.partition('@')[2]}" for email in author.emails]
    if person % 3 == 0:
        author.ids["orcid"] = orcid(person)
    if person % 5 == 0:
        author.ids["researcherid"] = f"{'ABCDEFGH'[person % 8]}-{1000 + person // 8 % 9000}-{2008 + person % 10}"
    author.ids["scopus"] = str(57_000_000_000 + person)
    author.ids["openalex"] = f"A{5_000_000_000 + person}"
    author.ids["s2"] = str(144_000_000 + person)
    author.ids["dimensions"] = f"ur.0{100_000_000 + person}.{person % 90 + 10}"
    author.ids["mag"] = str(2_100_000_000 + person)
    if person % 6 == 0:
        author.ids["dblp"] = f"{name.natural} {person % 90 + 1:04d}"


def _mailbox(name: Name) -> str:
    letters = anyascii(f"{name.given.split()[0]}.{name.family}").lower()
    return re.sub(r"[^a-z.]", "", letters)


_MARK = b"\xef\xbb\xbf"
EXPORTS = {
    "wos": Export("wos", "txt", write_wos, _MARK + b"FN Clarivate Analytics Web of Science\nVR 1.0\n", trailer=b"EF"),
    "wos-tab": Export("wos-tab", "txt", write_wos_row, _MARK + "\t".join(WOS_COLUMNS).encode() + b"\r\n"),
    "wos-bibtex": Export("bibtex", "bib", write_wos_bibtex, _MARK),
    "bibtex": Export("bibtex", "bib", write_bibtex),
    "ovid-ris": Export("ris", "ris", write_ovid),
    "ovid": Export("ovid", "txt", write_ovid_text),
    "scopus-ris": Export("ris", "ris", write_scopus_ris),
    "nbib": Export("nbib", "nbib", write_nbib, b"\n"),
    "pubmed": Export(
        "pubmed",
        "xml",
        write_pubmed,
        b'<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
        b'"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n<PubmedArticleSet>\n',
        trailer=b"</PubmedArticleSet>\n",
    ),
    "dblp": Export(
        "dblp",
        "xml",
        write_dblp,
        b'<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE dblp SYSTEM "dblp.dtd">\n<dblp>\n',
        trailer=b"</dblp>\n",
    ),
    "openalex": Export("openalex", "jsonl", write_openalex),
    "crossref": Export(
        "crossref",
        "json",
        write_crossref,
        b'{"status":"ok","message-type":"work-list","message-version":"1.0.0","message":{"facets":{},'
        b'"total-results":150000000,"items":[',
        b",",
        b'],"items-per-page":1000,"query":{"start-index":0,"search-terms":null}}}',
    ),
    "datacite": Export("datacite", "json", write_datacite, b'{"data": [', b", ", b'], "meta": {"total": 50000000}}'),
    "scopus": Export("scopus", "csv", write_scopus, _MARK + row(SCOPUS_COLUMNS)),
    "refer": Export("refer", "enw", write_refer),
    "refworks": Export("refworks", "txt", write_refworks),
    "noteexpress": Export("noteexpress", "txt", write_noteexpress, _MARK),
    "cochrane": Export("cochrane", "txt", write_cochrane, _MARK),
    "pubmed-text": Export("pubmed-text", "txt", write_pubmed_text),
    "endnote-xml": Export(
        "endnote-xml",
        "xml",
        write_endnote_xml,
        b'<?xml version="1.0" encoding="UTF-8" ?><xml><records>',
        trailer=b"</records></xml>",
    ),
    "zotero": Export("zotero", "json", write_zotero, b"[\n", b",\n", b"\n]"),
    "europepmc": Export(
        "europepmc",
        "json",
        write_europe_pmc,
        b'{"version":"6.9","hitCount":99999,"nextCursorMark":"AoJ","request":{"queryString":"x","resultType":"core"},'
        b'"resultList":{"result":[',
        b",",
        b"]}}",
    ),
    "europepmc-xml": Export(
        "europepmc",
        "xml",
        write_europe_pmc_xml,
        b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?><responseWrapper '
        b'xmlns:slx="http://www.scholix.org"><version>6.9</version><hitCount>99999</hitCount><request>'
        b"<resultType>core</resultType></request><resultList>",
        trailer=b"</resultList></responseWrapper>",
    ),
    "jats": Export(
        "jats", "xml", write_jats, b'<?xml version="1.0"?>\n<pmc-articleset>', trailer=b"</pmc-articleset>\n"
    ),
    "semanticscholar": Export(
        "semanticscholar", "json", write_semantic_scholar, b'{"total":99999,"offset":0,"next":100,"data":[', b",", b"]}"
    ),
    "semanticscholar-lines": Export("semanticscholar", "jsonl", write_semantic_scholar_line),
    "lens": Export("lens", "json", write_lens, b'{"total":99999,"max_score":1.0,"data":[', b",", b'],"results":100}'),
    "dimensions": Export(
        "dimensions", "json", write_dimensions, b'{"_stats":{"total_count":99999},"publications":[', b",", b"]}"
    ),
    "dimensions-csv": Export(
        "table",
        "csv",
        write_dimensions_row,
        b"\"About the data: Exported on Nov 15, 2024. Criteria: 'x' in title.\"\r\n" + row(DIMENSIONS_COLUMNS),
    ),
    "inspire": Export("services", "json", write_inspire, b'{"hits":{"total":99999,"hits":[', b",", b']},"links":{}}'),
    "doaj": Export("services", "json", write_doaj, b'{"total":99999,"page":1,"results":[', b",", b"]}"),
    "scopus-search": Export(
        "services",
        "json",
        write_scopus_search,
        b'{"search-results":{"opensearch:totalResults":"99999","entry":[',
        b",",
        b"]}}",
    ),
    "marcxml": Export(
        "marcxml",
        "xml",
        write_marcxml,
        b'<?xml version="1.0" encoding="UTF-8"?>\n<collection xmlns="http://www.loc.gov/MARC21/slim">\n',
        trailer=b"</collection>\n",
    ),
    "mods": Export(
        "mods",
        "xml",
        write_mods,
        b'<?xml version="1.0" encoding="UTF-8"?>\n<mods:modsCollection xmlns:mods="http://www.loc.gov/mods/v3">\n',
        trailer=b"</mods:modsCollection>\n",
    ),
    "orcid": Export("orcid", "json", write_orcid, b'{"bulk":[', b",", b"]}"),
    "orcid-xml": Export(
        "orcid",
        "xml",
        write_orcid_xml,
        b'<?xml version="1.0" encoding="UTF-8"?>\n<bulk:bulk xmlns:bulk="http://www.orcid.org/ns/bulk" '
        b'xmlns:common="http://www.orcid.org/ns/common" xmlns:work="http://www.orcid.org/ns/work">\n',
        trailer=b"</bulk:bulk>\n",
    ),
}
