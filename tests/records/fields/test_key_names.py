"""Other names for known fields are read, misspelled ones are reported, in documents, tables and dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym import Settings, convert, disambiguate
from homonym.features.columns import columns_of_lines
from homonym.records.fields.key_names import column_key, misspelled
from homonym.records.formats.documents import StoredLines, parse_document
from homonym.records.model import Document, Note
from homonym.records.parsing.splitting import Raw
from tests.support.profiles import examples
from tests.support.reading import documents, readings, reasons

ORCID, ISNI = "0000-0002-1825-0097", "0000000121032683"


def parsed(author: dict[str, Any], **fields: Any) -> tuple[Document, list[Note]]:
    return parse_document(orjson.dumps({"id": "a", "authors": [{"name": "Doe, J", **author}], **fields}))


@pytest.mark.parametrize(
    ("key", "value", "kind", "expected"),
    [
        ("orcid", f"https://orcid.org/{ORCID}", "orcid", ORCID),
        ("ORCID iD", ORCID, "orcid", ORCID),
        ("isni", "0000 0001 2103 2683", "isni", ISNI),
        ("researcher_id", "A-1009-2008", "researcherid", "A-1009-2008"),
        ("Scopus ID", 57, "scopus", "57"),
        ("scopus_author_id", "57", "scopus", "57"),
        ("openalex", ["A5", "A6"], "openalex", "A5"),
    ],
)
def test_reads_identifiers_directly_on_an_author(key: str, value: Any, kind: str, expected: str) -> None:
    document, notes = parsed({key: value})
    assert (document.authors[0].ids, notes) == ({kind: expected}, [])


def test_reads_singular_and_capital_names() -> None:
    document, notes = parsed({"affiliation": "MIT", "Email": "j@mit.edu"}, Title="On x", keyword=["a"], DOI="10.1000/X")
    author = document.authors[0]
    assert (author.affiliations, author.emails, notes) == (["MIT"], ["j@mit.edu"], [])
    assert (document.title, document.keywords, document.ids) == ("On x", ["a"], {"doi": "10.1000/x"})


def test_an_invalid_identifier_is_noted() -> None:
    document, notes = parsed({"orcid": "0000-0002-1825-0098"})
    assert (document.authors[0].ids, notes) == ({}, [("field", "'0000-0002-1825-0098' is not a valid ORCID")])


def test_the_known_key_wins_and_a_different_value_is_noted() -> None:
    document, notes = parsed({"affiliation": "ETH", "affiliations": ["MIT"], "ids": {"orcid": ORCID}, "orcid": ORCID})
    assert (document.authors[0].affiliations, document.authors[0].ids) == (["MIT"], {"orcid": ORCID})
    assert notes == [("field", "'affiliation' is not used, because the record also has 'affiliations'")]


def test_notes_misspelled_keys() -> None:
    _, notes = parsed({"afiliations": ["MIT"], "ocrid": ORCID, "city": "Oslo"}, yaer=2010, pages="1-2")
    assert notes == [
        ("field", "unknown key 'yaer' of a document, perhaps 'year'"),
        ("field", "unknown key 'afiliations' of an author, perhaps 'affiliations'"),
        ("field", "unknown key 'ocrid' of an author, perhaps 'orcid'"),
    ]


def test_a_similar_key_next_to_the_known_one_is_not_reported() -> None:
    assert parsed({"names": ["J. Doe"]}, years=[2010], year=2010)[1] == []


def test_empty_values_are_not_reported() -> None:
    assert parsed({"afiliations": [], "orcid": None, "email": ""})[1] == []


def test_the_fast_reader_refuses_other_names() -> None:
    def columns(author: dict[str, Any], **fields: Any) -> object:
        line = orjson.dumps({"id": "a", "authors": [{"name": "Doe, J", **author}], **fields})
        return columns_of_lines([Raw(1, line)], 0, "auto")

    assert columns({"city": "Oslo"}, pages="1-2") is not None
    for author, fields in (({"orcid": ORCID}, {}), ({"afiliations": ["x"]}, {}), ({}, {"doi": "10.1000/x"})):
        assert columns(author, **fields) is None


def test_a_line_with_other_names_is_stored_with_the_known_ones() -> None:
    lines = StoredLines()
    usual = b'{"id": "a", "city": "Oslo", "authors": [{"name": "Doe, J", "pages": 2}]}'
    assert lines.stored(usual, lines.parse(usual)[0]) == usual
    other = b'{"id": "a", "authors": [{"name": "Doe, J", "affiliation": "MIT"}]}'
    stored = orjson.loads(lines.stored(other, lines.parse(other)[0]))
    assert stored["authors"] == [{"name": "Doe, J", "affiliations": ["MIT"]}]


@pytest.mark.slow
def test_one_orcid_of_two_names_unites_them(tmp_path: Path) -> None:
    papers = [
        {"id": "a", "authors": [{"name": "Harrison, Hugo", "orcid": ORCID}]},
        {"id": "b", "authors": [{"name": "Smith-Harrison, H", "orcid": ORCID, "affiliation": "JCU"}]},
    ]
    result = disambiguate(papers, settings=Settings(kappa=7))
    assert len(result.authors) == 1
    assert result.documents["authors"].to_pylist()[1][0]["affiliations"] == ["JCU"]


def test_dictionaries_with_misspelled_keys_are_reported_and_counted(tmp_path: Path) -> None:
    papers = [{"id": name, "authors": [{"name": "Doe, J", "emials": ["x"]}]} for name in "abc"]
    done = disambiguate(papers, settings=Settings(kappa=7)).summary
    assert done.problems.counts["field"] == 3
    assert {problem.reason for problem in done.problems.first} == {
        "unknown key 'emials' of an author, perhaps 'emails'"
    }


def test_rows_of_dictionaries_with_author_objects(tmp_path: Path) -> None:
    table = '[{"name": "Doe, J", "Orcid_ID": "' + ORCID + '", "isni": "' + ISNI + '"}]'
    (document,) = documents(readings(tmp_path, 'id,title,authors\na,On x,"' + table.replace('"', '""') + '"\n'))
    assert document.authors[0].ids == {"orcid": ORCID, "isni": ISNI}


def test_misspelled_columns_are_reported_where_they_have_values(tmp_path: Path) -> None:
    found = readings(tmp_path, "id,title,authors,Afiliations,Pages\na,On x,Doe J; Roe R,MIT;ETH,1\nb,On y,Doe J,,2\n")
    assert reasons(found) == [
        "the column 'Afiliations' is unknown; if it holds affiliations, add --columns affiliations=Afiliations"
    ]


def test_misspelled_columns_of_binary_tables_are_reported(tmp_path: Path) -> None:
    rows = [{"paper_id": name, "title": "On x", "authors": "Doe, J", "Jornal": "Names"} for name in "ab"]
    done = disambiguate(rows, settings=Settings(kappa=7)).summary
    assert done.problems.counts["field"] == 2
    assert "if it holds venue, add --columns venue=Jornal" in done.problems.first[0].reason


def test_columns_of_isni_and_scopus_ids(tmp_path: Path) -> None:
    found = readings(tmp_path, f"id,title,authors,ISNI,Scopus\na,On x,Doe J; Roe R,{ISNI};,5;6\n")
    assert [author.ids for author in documents(found)[0].authors] == [{"isni": ISNI, "scopus": "5"}, {"scopus": "6"}]


def test_strict_runs_stop_at_a_misspelled_key(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "authors": [{"name": "Doe, J"}], "tilte": "On x"}\n')
    with pytest.raises(Exception, match="unknown key 'tilte' of a document, perhaps 'title'; correct it"):
        convert(path, tmp_path / "b.jsonl", strict=True)


@settings(max_examples=examples(300))
@given(st.text(alphabet="abcdef", min_size=4, max_size=9), st.data())
def test_one_typing_error_is_found(name: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(name) - 2))
    swapped = name[:place] + name[place + 1] + name[place] + name[place + 2 :]
    for wrong in (swapped, name[:place] + "z" + name[place:], name[:place] + "z" + name[place + 1 :]):
        assert misspelled(wrong, [name]) == name
    assert misspelled("z" + name[1:], [name]) is None


@settings(max_examples=examples(300))
@given(st.text())
def test_any_text_has_a_key(name: str) -> None:
    assert misspelled(column_key(name), ["affiliations"]) in {None, "affiliations"}


def test_key_of_the_name_may_have_capitals() -> None:
    line = orjson.dumps({"id": "a", "authors": [{"Name": "Doe, J"}]})
    lines = StoredLines()
    document, notes = lines.parse(line)
    assert ([author.name for author in document.authors], notes) == (["Doe, J"], [])
    assert orjson.loads(lines.stored(line, document))["authors"][0]["name"] == "Doe, J"


@pytest.mark.parametrize("empty", [None, ""])
def test_identifier_on_an_author_counts_beside_an_empty_one(empty: str | None) -> None:
    document, notes = parsed({"orcid": ORCID, "ids": {"orcid": empty}})
    assert (document.authors[0].ids, notes) == ({"orcid": ORCID}, [])


def test_exported_table_without_document_ids_is_read(tmp_path: Path) -> None:
    text = 'title,authors,year,homonym_authors\nCoins,"Doe, J",2001,DOE%2C+J%2F1\n'
    (found,) = documents(readings(tmp_path, text))
    assert found.id not in {"", "None"}
