"""Entries of author lists that are not people: recognised in every format, kept in the document, reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.commands.convert import convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.inspect import inspect
from homonym.names.parse import parse_name
from homonym.records.fields.contributors import SUSPICIOUS, contributor_kind
from homonym.records.fields.people import _PLACEHOLDERS
from homonym.records.formats.documents import parse_document
from homonym.records.reader import read_documents
from homonym.settings import Settings

GROUPS = (
    "Planck Collaboration", "The ATLAS Collaboration", "Collaboration, LIGO Scientific", "World Health Organization",
    "Alzheimer's Disease Neuroimaging Initiative", "ENCODE Project Consortium", "U.S. Geological Survey",
)  # fmt: skip
EDITORS = ("Doe, Jane (Ed.)", "Jane Doe (eds)", "Doe, Jane [editor]", "Doe, J., Ed.")
MISSING = ("Anonymous", "[Anonymous]", "N/A", "et al.", "No author listed", ":", "unknown")
PEOPLE = (
    "Doe, Jane", "Jane Doe", "Doe, Ed.", "Nguyen The Anh", "W. H. Center", "In Ho Kim", "Na, Li",
    "Peter Hirsch and Dagmar Kain", "Duke of Wellington, Arthur",
    "van der Berg, A.", "Groupe, Anne", "Anon, A", "Park, National", "LI Xiaoming", "王小明", "Doe, Jane (Janie)",
)  # fmt: skip


def test_tells_people_from_groups_editors_and_missing_names() -> None:
    assert {contributor_kind(name) for name in GROUPS} == {"a group"}
    assert {contributor_kind(name) for name in EDITORS} == {"an editor"}
    assert {contributor_kind(name) for name in MISSING} == {"no name"}
    assert {contributor_kind(name) for name in PEOPLE} == {""}


WORDS = st.sampled_from(
    [*GROUPS, *EDITORS, *MISSING, *PEOPLE, *sorted(_PLACEHOLDERS), *"aN/.,:([)] ", "And", "of", "the"]
)


@given(st.lists(WORDS, max_size=4).map(" ".join) | st.lists(WORDS, max_size=4).map("".join))
def test_the_quick_check_misses_no_contributor(name: str) -> None:
    """The fast path of homonym's own documents looks only at names that match this expression."""
    if contributor_kind(name):
        assert pc.match_substring_regex(pa.array([name]), SUSPICIOUS).to_pylist() == [True]


def written(authors: list[Any]) -> bytes:
    return orjson.dumps({"id": "a", "title": "Cosmology", "year": 2015, "authors": authors}) + b"\n"


def test_contributors_leave_a_gap_and_are_read_back_without_complaint(tmp_path: Path) -> None:
    document, notes = parse_document(written(["Planck Collaboration", {"name": "Ade, P. A. R."}, "et al."]))
    assert [(author.position, author.name) for author in document.authors] == [(1, "Ade, P. A. R.")]
    assert document.other_contributors == ["Planck Collaboration", "et al."]
    assert [lost for lost, _ in notes] == ["contributor"] * 2
    (tmp_path / "in.jsonl").write_bytes(written(["Planck Collaboration", {"name": "Ade, P. A. R."}, "et al."]))
    done = convert(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    again, notes = parse_document((tmp_path / "out.jsonl").read_bytes())
    assert (again, notes) == (document, [])
    assert done.problems.counts["contributor"] == 2


def test_a_labelled_entry_is_a_person() -> None:
    entries = [{"name": "Worlds Team", "author": "x"}, {"name": "ACME Group", "ids": {"orcid": "0000-0002-1825-0097"}}]
    document, _ = parse_document(written(entries))
    assert len(document.authors) == 2


def test_a_person_after_the_colon_of_a_collaboration_stays() -> None:
    document, _ = parse_document(written(["Planck Collaboration: N. Aghanim", "Y. Akrami"]))
    assert [author.name for author in document.authors] == ["N. Aghanim", "Y. Akrami"]
    assert document.other_contributors == ["Planck Collaboration"]


FILES = {
    "a.ris": "TY  - JOUR\nTI  - Cosmology\nAU  - Collaboration, Planck\nAU  - Ade, P.\nPY  - 2015\nER  - \n",
    "a.bib": "@article{a, title={Cosmology}, author={Collaboration, Planck and Ade, P.}, year=2015}\n",
    "a.csv": 'title,year,authors\nCosmology,2015,"Collaboration, Planck; Ade, P."\n',
    "a.txt": "FN Clarivate\nVR 1.0\nPT J\nAU Collaboration, P\n   Ade, P\nAF Collaboration, Planck\n   Ade, P.\n"
    "TI Cosmology\nPY 2015\nUT WOS:000123456700001\nER\n\nEF\n",
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_sets_groups_apart(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FILES[name])
    (found,) = [reading for reading in read_documents(tmp_path / name) if reading.document]
    _, document, problems = found
    assert document is not None
    assert [author.name for author in document.authors] == ["Ade, P."]
    assert document.other_contributors == ["Collaboration, Planck"]
    assert [problem.lost for problem in problems] == ["contributor"]
    assert str(problems[0]).endswith("is a group, so it is kept as another contributor and is no mention.")


def test_a_run_counts_and_keeps_them_also_if_it_is_strict(tmp_path: Path) -> None:
    (tmp_path / "a.ris").write_text(FILES["a.ris"])
    done = disambiguate(tmp_path / "a.ris", tmp_path / "result", Settings(kappa=7), strict=True)
    assert (done.mentions, done.problems.counts["contributor"]) == (1, 1)
    (record,) = pq.read_table(done.output / "documents.parquet")["record"].to_pylist()
    assert orjson.loads(record)["other_contributors"] == ["Collaboration, Planck"]
    assert inspect(tmp_path / "a.ris").as_dict()["other_contributors"] == 1


def test_degrees_and_titles_are_no_initials() -> None:
    written_names = ("Smith, John MD", "Smith, John, PhD", "Smith, John, MD, PhD", "Dr. John Smith", "Smith, Dr. John")
    assert {parse_name(name).full_key for name in written_names} == {"SMITH, JOHN"}
    assert parse_name("Smith Jr., J") == parse_name("Smith, J, Jr.")
    assert [parse_name(name).initials for name in ("Rahman, MD", "Smith, J MD", "Rahman, Md Abdul")] == [
        "MD",
        "JMD",
        "MA",
    ]
