"""Documents are written in the layout of each source and read back; every field that the format has must be equal."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from benchmarks.exports import EXPORTS, documents
from benchmarks.writers.parts import Name, corresponding, known_as
from benchmarks.writers.scopus import scopus_comma, scopus_reference
from benchmarks.writers.tagged import ovid_name

from homonym.io.inputs import Source
from homonym.records.model import Author, Document
from homonym.records.reader import format_of, read_documents

# The first documents of a corpus cite nothing.
FIRST, HOW_MANY = 700, 60

TEXT = (
    "wos", "wos-tab", "wos-bibtex", "bibtex", "ovid-ris", "ovid", "scopus-ris", "nbib", "scopus", "refer", "refworks",
    "noteexpress", "cochrane", "pubmed-text",
    "dimensions-csv",
)  # fmt: skip


class Carried(NamedTuple):
    """The fields and identifiers of a document that an export has, and their notation."""

    fields: str
    ids: str
    id: str
    person_ids: str = ""
    of_authors: str = ""
    name: Callable[[Name], str] = str
    cited: Callable[[str], str] = str
    title: str = "{}"
    venue: Callable[[str], str] = str
    own_order: bool = True
    only_corresponding: str = ""
    without_owners: bool = False
    key: bool = True
    one_affiliation: bool = False


def medline_name(name: Name) -> str:
    family, given, suffix = name.medline
    return f"{family}, {given} {suffix}".strip()


def without_comma(name: str) -> str:
    return name.replace(", ", " ")


WOS = Carried(
    "title abstract year venue categories keywords referenced_authors", "doi pmid wos", "WOS:{wos}",
    "orcid researcherid", "affiliations emails", cited=without_comma, venue=str.upper, own_order=False,
)  # fmt: skip
# Reference managers know which addresses a document has, but not whose they are.
MANAGED = Carried("title abstract year venue keywords", "doi pmid", "{doi}", without_owners=True)
ORCID = Carried("title abstract year venue", "doi pmid", "doi:{doi}", "orcid", key=False)
EUROPE_PMC = Carried(
    "title abstract year venue keywords", "doi pmid", "{pmid}", "orcid", "affiliations emails",
    name=lambda name: str(name.medline), title="{}.",
)  # fmt: skip
CARRIED = {
    "wos": WOS,
    "wos-tab": WOS,
    "wos-bibtex": WOS._replace(ids="doi wos"),
    "bibtex": Carried("title abstract year venue keywords", "doi pmid", ""),
    "ovid-ris": Carried(
        "title abstract year venue keywords referenced_authors", "doi", "{doi}", "orcid", "affiliations emails",
        name=lambda name: ovid_name(str(name)), only_corresponding="affiliations emails",
    ),
    "ovid": Carried(
        "title abstract year venue keywords", "doi pmid", "{doi}", "", "affiliations emails",
        name=lambda name: ovid_name(str(name)),
    ),
    "scopus-ris": Carried(
        "title abstract year venue keywords", "doi pmid scopus", "{scopus}", name=scopus_comma, without_owners=True,
    ),
    "nbib": Carried(
        "title abstract year venue keywords", "doi pmid", "{pmid}", "orcid", "affiliations emails",
        name=medline_name, title="{}.",
    ),
    "pubmed": Carried(
        "title abstract year venue keywords references", "doi pmid", "{pmid}", "orcid", "affiliations emails",
        name=lambda name: str(name.medline), title="{}.",
    ),
    "dblp": Carried(
        "title year venue references", "doi dblp", "{dblp}", "orcid dblp", name=lambda name: name.natural, title="{}.",
    ),
    "openalex": Carried(
        "title abstract year venue categories keywords references", "doi pmid openalex", "{openalex}",
        "orcid openalex", "affiliations", name=lambda name: name.natural,
    ),
    "crossref": Carried(
        "title abstract year venue categories references referenced_authors", "doi", "{doi}", "orcid", "affiliations",
        cited=without_comma,
    ),
    "datacite": Carried(
        "title abstract year venue categories keywords references", "doi", "{doi}", "orcid researcherid",
        "affiliations",
    ),
    "scopus": Carried(
        "title abstract year venue keywords referenced_authors", "doi pmid scopus", "{scopus}", "scopus",
        "affiliations emails", cited=scopus_reference, only_corresponding="emails",
    ),
    "refer": MANAGED,
    "refworks": MANAGED._replace(ids="doi"),
    "noteexpress": MANAGED._replace(ids="doi", of_authors="affiliations", without_owners=False),
    "cochrane": MANAGED._replace(name=lambda name: f"{name.family}, {name.initials}"),
    "pubmed-text": Carried(
        "title abstract year venue", "doi pmid", "{pmid}", "", "affiliations emails",
        name=lambda name: str(name.medline._replace(given=name.initials)), title="{}.",
    ),
    "endnote-xml": MANAGED,
    "zotero": MANAGED._replace(id="{pmid}"),
    "europepmc": EUROPE_PMC,
    "europepmc-xml": EUROPE_PMC,
    "dimensions-csv": Carried(
        "title abstract year venue categories keywords", "doi pmid dimensions", "{dimensions}", "", "affiliations",
    ),
    "inspire": Carried(
        "title abstract year venue categories keywords references", "doi", "inspire:{pmid}", "orcid",
        "affiliations emails",
    ),
    "doaj": Carried(
        "title abstract year venue categories keywords", "doi", "{lens}", "orcid", "affiliations",
        name=lambda name: name.natural, one_affiliation=True,
    ),
    "scopus-search": Carried(
        "title abstract year venue keywords", "doi pmid scopus", "{scopus}", "scopus", "affiliations",
        name=lambda name: f"{name.family}, {name.given}",
    ),
    "marcxml": Carried(
        "title abstract year venue keywords", "doi", "(DE-1){lens}", "orcid", "affiliations emails",
    ),
    "mods": Carried("title abstract year venue keywords", "doi", "{lens}", "orcid", "affiliations"),
    "orcid": ORCID,
    "orcid-xml": ORCID,
    "semanticscholar": Carried(
        "title abstract year venue categories references", "doi pmid s2", "{paper}", "s2 orcid dblp", "affiliations",
        name=lambda name: name.natural,
    ),
    "semanticscholar-lines": Carried(
        "title year venue categories", "doi pmid s2", "{s2}", "s2", name=lambda name: name.natural,
    ),
    "lens": Carried(
        "title abstract year venue categories keywords references", "doi pmid lens", "{lens}", "orcid mag",
        "affiliations",
    ),
    "dimensions": Carried(
        "title abstract year venue categories keywords references", "doi pmid dimensions", "{dimensions}",
        "orcid dimensions", "affiliations",
    ),
    "jats": Carried(
        "title abstract year venue categories keywords references referenced_authors", "doi pmid", "{doi}", "orcid",
        "affiliations emails",
    ),
}  # fmt: skip

# The kind of id by which a source refers to other documents.
REFERENCES = {
    "pubmed": "pmid", "dblp": "dblp", "openalex": "openalex", "crossref": "doi", "datacite": "doi",
    "jats": "doi", "inspire": "doi", "semanticscholar": "paper", "lens": "lens", "dimensions": "dimensions",
}  # fmt: skip


@cache
def originals() -> tuple[Document, ...]:
    return tuple(islice(documents(10_000), FIRST, FIRST + HOW_MANY))


def expected(document: Document, export: str) -> Document:
    """The document that should be read back."""
    carried = CARRIED[export]
    result = Document("", [_author(author, document, carried) for author in document.authors])
    for field in carried.fields.split():
        setattr(result, field, getattr(document, field))
    result.id = carried.id.format(**document.ids) or document.id
    result.id_is_key = bool(carried.id) and carried.key
    result.ids = {kind: document.ids[kind] for kind in carried.ids.split()}
    result.title = carried.title.format(result.title) if result.title else ""
    result.venue = carried.venue(result.venue)
    result.referenced_authors = [carried.cited(name) for name in result.referenced_authors]
    if result.references:
        result.references = [known_as(REFERENCES[export], other) for other in result.references]
    if export == "pubmed-text":  # which ends each list of authors with a group
        result.other_contributors = ["SYNTH Trial"]
    return result


def _author(author: Author, document: Document, carried: Carried) -> Author:
    name = carried.name(Name.of(author.name))
    result = Author(author.position, name, ids={k: v for k, v in author.ids.items() if k in carried.person_ids.split()})
    for field in carried.of_authors.split():
        if field not in carried.only_corresponding.split() or author is corresponding(document):
            setattr(result, field, list(getattr(author, field)))
    if carried.one_affiliation:
        result.affiliations = result.affiliations[:1]
    return result


def comparable(document: Document, export: str) -> Document:
    """A document without information that its export lacks: owners of affiliations, or their order."""
    for author in document.authors:
        if CARRIED[export].without_owners:
            author.affiliations = []
        elif not CARRIED[export].own_order:
            author.affiliations = sorted(author.affiliations)
    return document


def check(path: Path, export: str, given: Sequence[Document] | None = None) -> None:
    readings = list(read_documents(path))
    problems = [problem for reading in readings for problem in reading.problems]
    assert {problem.lost for problem in problems} <= ({"contributor"} if export == "pubmed-text" else set())
    read = [comparable(reading.document, export) for reading in readings if reading.document]
    wanted = [comparable(expected(document, export), export) for document in given or originals()]
    assert [document.id for document in read] == [document.id for document in wanted]
    for original, back in zip(wanted, read, strict=True):
        assert back == original


def written(export: str) -> bytes:
    return b"".join(EXPORTS[export].write(originals()))


def test_generated_documents_have_all_tested_fields() -> None:
    names = [author.name for document in originals() for author in document.authors]
    assert any(not name.isascii() for name in names)
    assert any(name.count(",") == 2 for name in names)
    assert any("-" in name for name in names)
    for field in ("title", "abstract", "year", "venue", "categories", "keywords", "references", "referenced_authors"):
        assert any(getattr(document, field) for document in originals()), field
    authors = [author for document in originals() for author in document.authors]
    assert {"orcid", "researcherid", "dblp"} <= {kind for author in authors for kind in author.ids}
    assert any(len(author.affiliations) > 1 for author in authors)
    assert sum(bool(author.emails) for author in authors) > 9


@pytest.mark.parametrize("export", CARRIED)
def test_reads_written_documents(export: str, tmp_path: Path) -> None:
    path = tmp_path / f"export.{EXPORTS[export].suffix}"
    path.write_bytes(written(export))
    with Source(path) as source:
        assert format_of(source).name == EXPORTS[export].format
    check(path, export)


@pytest.mark.slow
@pytest.mark.parametrize("export", CARRIED)
def test_reads_compressed_files_without_suffix(export: str, tmp_path: Path) -> None:
    for pack in (gzip.compress, bz2.compress, lzma.compress, zstd):
        path = tmp_path / "export"
        path.write_bytes(pack(written(export)))
        check(path, export)


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
@pytest.mark.parametrize("export", TEXT)
def test_reads_utf_16(export: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(written(export).decode("utf-8-sig").encode(encoding))
    check(path, export)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
@pytest.mark.parametrize("export", TEXT)
def test_reads_western_encodings(export: str, encoding: str, tmp_path: Path) -> None:
    form = EXPORTS[export]
    western = [document for document in originals() if is_western(form.record(document))]
    assert len(western) > HOW_MANY / 3
    path = tmp_path / "export"
    path.write_bytes(b"".join(form.write(western)).decode("utf-8-sig").encode(encoding))
    check(path, export, western)


def is_western(record: bytes) -> bool:
    return all(ord(letter) < 256 for letter in record.decode())


@pytest.mark.parametrize("export", TEXT)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_reads_any_line_ends(export: str, end: bytes, tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(written(export).replace(b"\r\n", b"\n").replace(b"\n", end))
    check(path, export)
