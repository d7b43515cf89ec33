"""Real exports, if they are available: every sample has the counts that the index gives."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from homonym.records.model import Document, Problem
from homonym.records.reader import Inputs, read_documents
from tests.support.real_data import SAMPLES

# Folder of a sample -> format.
FORMATS = {
    "aminer": "aminer", "arxiv_json": "arxiv", "arxiv_oai": "arxiv-oai", "bibtex": "bibtex", "crossref": "crossref",
    "datacite": "datacite", "dblp_xml": "dblp", "medline_nbib": "nbib", "openalex": "openalex", "pubmed_xml": "pubmed",
    "ris": "ris", "s2and": "s2and", "scopus_csv": "scopus", "wos_bibtex": "bibtex", "wos_plaintext": "wos",
    "wos_tab": "wos-tab",
}  # fmt: skip
# Authors of lists without "and", which the index counts as one.
FURTHER_AUTHORS = {"bibtex/zotero_export.bib": 3}
EXTERNAL = {"orcid", "researcherid"}
SOURCE = {"openalex", "scopus", "aminer"}


def index() -> list[dict[str, str]]:
    if not SAMPLES.exists():
        return []
    with (SAMPLES / "INDEX.tsv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


ROWS = {row["path"]: row for row in index()}

if not ROWS:
    pytest.skip("the sample exports are not available", allow_module_level=True)


def read(path: Path) -> tuple[list[Document], list[Problem]]:
    documents, problems = [], []
    for file in Inputs.of(path).files:
        for _, document, found in read_documents(file):
            problems += found
            if document:
                documents.append(document)
    return documents, problems


def holding(documents: Iterable[Document], kinds: set[str]) -> int:
    return sum(bool(kinds & author.ids.keys()) for document in documents for author in document.authors)


def in_index(document: Document, path: str) -> int:
    """The contributors that the index counts: "[Anonymous]" and collaborations, but not PubMed's collective names."""
    return 0 if path.startswith(("medline_nbib", "pubmed_xml")) else len(document.other_contributors)


@pytest.mark.parametrize("path", sorted(ROWS))
def test_sample_has_the_counts_of_the_index(path: str) -> None:
    row, (documents, _) = ROWS[path], read(SAMPLES / path)
    years = [document.year for document in documents if document.year]
    found = {
        "records": len(documents),
        "author_mentions": sum(len(document.authors) + in_index(document, path) for document in documents),
        "mentions_with_external_id": holding(documents, EXTERNAL),
        "mentions_with_source_author_id": holding(documents, SOURCE),
        "years": f"{min(years)}-{max(years)}",
    }
    expected = {name: row[name] if name == "years" else int(row[name] or 0) for name in found}
    expected["author_mentions"] = int(row["author_mentions"]) + FURTHER_AUTHORS.get(path, 0)
    assert found == expected


@pytest.mark.parametrize("path", sorted(ROWS))
def test_sample_format_is_detected_and_no_record_is_rejected(path: str) -> None:
    from homonym.io.inputs import Source
    from homonym.records.reader import detect_format

    for file in Inputs.of(SAMPLES / path).files:
        with Source(file) as source:
            form = detect_format(source)
        assert form is not None
        assert form.name == FORMATS[path.split("/")[0]]
    _, problems = read(SAMPLES / path)
    assert [problem for problem in problems if problem.lost == "record"] == []


@pytest.mark.parametrize("path", sorted(ROWS))
def test_names_and_texts_of_a_sample_are_plain_text(path: str) -> None:
    documents, _ = read(SAMPLES / path)
    for document in documents:
        for text in [document.title, document.venue, *(author.name for author in document.authors)]:
            assert text == " ".join(text.split()), text
            assert not any(mark in text for mark in ("&amp;", "&lt;", "</", "{\\", "\ufffd", "Ã¼", "Ã©")), text
        ids = Counter(author.position for author in document.authors)
        assert max(ids.values(), default=1) == 1
