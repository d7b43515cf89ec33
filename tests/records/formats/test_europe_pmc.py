"""Europe PMC: the fields taken from JSON and XML, and results that are damaged or not complete."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homonym.records.formats.europe_pmc import parse_result
from homonym.records.model import BrokenRecordError
from tests.support.reading import detected, documents, readings, reasons

ORCID = "0000-0002-1825-0097"
RESULT: dict[str, Any] = {
    "id": "101",
    "source": "MED",
    "pmid": "101",
    "pmcid": "pmc77",
    "doi": "10.1000/ICE.1",
    "title": "Melting of <i>glacier</i> H<sub>2</sub>O.",
    "authorString": "Nørgård ÅM, Doe J.",
    "authorList": {
        "author": [
            {
                "fullName": "Nørgård ÅM", "firstName": "Åse M", "lastName": "Nørgård", "initials": "ÅM",
                "authorId": {"type": "ORCID", "value": ORCID},
                "authorAffiliationDetailsList": {
                    "authorAffiliation": [
                        {"affiliation": "Ice Lab, Oslo, Norway. ase@ice.example."},
                        {"affiliation": "Snow Lab, Oslo."},
                    ]
                },
            },
            {"collectiveName": "The Ice Group"},
            {"fullName": "Doe J", "lastName": "Doe", "initials": "J", "authorId": {"type": "ORCID", "value": "0"}},
            {"fullName": "Roe"},
            {},
        ]
    },
    "investigatorList": {"investigator": [{"fullName": "Helper H"}]},
    "journalInfo": {"yearOfPublication": 2020, "journal": {"title": "J Ice", "medlineAbbreviation": "JI"}},
    "pubYear": "2019",
    "abstractText": "<h4>Aims</h4>We melt ice.",
    "affiliation": "Ice Lab, Oslo, Norway.",
    "meshHeadingList": {"meshHeading": [{"descriptorName": "Ice Cover", "meshQualifierList": {}}]},
    "keywordList": {"keyword": ["melting", "Ice cover"]},
    "inEPMC": "Y",
}  # fmt: skip


def answer(*results: dict[str, Any]) -> str:
    return json.dumps({"version": "6.9", "hitCount": 2, "resultList": {"result": results}})


def test_reads_a_core_result(tmp_path: Path) -> None:
    found = readings(tmp_path, answer(RESULT))
    (document,) = documents(found)
    assert (document.id, document.ids) == ("101", {"pmid": "101", "pmcid": "PMC77", "doi": "10.1000/ice.1"})
    assert (document.title, document.abstract) == ("Melting of glacier H2O.", "Aims We melt ice.")
    assert (document.year, document.venue, document.keywords) == (2019, "J Ice", ["Ice cover", "melting"])
    assert [author.name for author in document.authors] == ["Nørgård, Åse M", "Doe, J", "Roe"]
    first, second, _ = document.authors
    assert (first.affiliations, first.emails) == (["Ice Lab, Oslo, Norway", "Snow Lab, Oslo"], ["ase@ice.example"])
    assert (first.ids, second.ids, second.affiliations) == ({"orcid": ORCID}, {}, [])
    assert reasons(found) == ["'0' is not a valid ORCID", "author 4 has no name"]


@pytest.mark.parametrize("layout", ["lines", "list", "indented", "one"])
def test_reads_results_in_any_layout(tmp_path: Path, layout: str) -> None:
    results = [RESULT | {"id": str(number), "pmid": str(number)} for number in (1, 2)]
    content = {
        "lines": "\n".join(map(json.dumps, results)),
        "list": json.dumps(results),
        "indented": json.dumps({"resultList": {"result": results}}, indent=2),
        "one": "".join(map(answer, results)),
    }[layout]
    assert detected(tmp_path, content) == "europepmc"
    assert [document.id for document in documents(readings(tmp_path, content))] == ["1", "2"]


def test_reads_answers_without_core(tmp_path: Path) -> None:
    result = {
        "id": "PPR7", "source": "PPR", "doi": "10.1101/x", "title": "T",
        "authorString": "Doe J, Ice Study Group, Roe AB.",
        "journalTitle": "Snow", "pubYear": "2018", "isOpenAccess": "N", "inEPMC": "N",
    }  # fmt: skip
    (document,) = documents(readings(tmp_path, answer(result)))
    assert (document.id, document.venue, document.year) == ("PPR7", "Snow", 2018)
    assert [author.name for author in document.authors] == ["Doe J", "Roe AB"]


def test_affiliation_of_a_result_belongs_to_the_first_author() -> None:
    result = {
        "id": "1",
        "authorList": {"author": [{"fullName": "Doe J"}, {"fullName": "Roe A"}]},
        "affiliation": "Lab.",
    }
    document, _ = parse_result(json.dumps(result).encode())
    assert [author.affiliations for author in document.authors] == [["Lab"], []]


XML = """<?xml version="1.0" encoding="UTF-8"?><responseWrapper xmlns:slx="http://www.scholix.org"><hitCount>2</hitCount>
<resultList><result><id>101</id><source>MED</source><pmid>101</pmid><title>On &lt;i&gt;ice&lt;/i&gt; &amp; snow</title>
<authorList><author><fullName>Doe J</fullName><firstName>Jo</firstName><lastName>Doe</lastName>
<authorId type="ORCID">0000-0002-1825-0097</authorId><authorAffiliationDetailsList><authorAffiliation>
<affiliation>Ice Lab, Oslo.</affiliation></authorAffiliation></authorAffiliationDetailsList></author></authorList>
<authorIdList><authorId type="ORCID">0000-0002-1825-0097</authorId></authorIdList><journalInfo><journal>
<title>J Ice</title></journal></journalInfo><pubYear>2019</pubYear><keywordList><keyword>ice</keyword>
<keyword>snow</keyword></keywordList></result>
<result><id>102</id><title>Broken</titel><inEPMC>N</inEPMC></result>
<result><id>103</id><title>Third</title></result></resultList></responseWrapper>"""


def test_reads_xml(tmp_path: Path) -> None:
    assert detected(tmp_path, XML) == "europepmc"
    found = readings(tmp_path, XML)
    first, third = documents(found)
    assert (first.id, first.title, first.venue, first.year) == ("101", "On ice & snow", "J Ice", 2019)
    assert first.keywords == ["ice", "snow"]
    (author,) = first.authors
    assert (author.name, author.affiliations, author.ids) == ("Doe, Jo", ["Ice Lab, Oslo"], {"orcid": ORCID})
    assert third.id == "103"
    assert [reason.partition(" (")[0] for reason in reasons(found)] == ["not well-formed XML"]


@pytest.mark.parametrize("record", [b"[]", b"{}", b"<result/>", b'{"id": []}'])
def test_rejects_what_is_no_result(record: bytes) -> None:
    with pytest.raises(BrokenRecordError):
        parse_result(record)


@pytest.mark.parametrize("value", [7, [], {}, "x", [None], [[]], {"author": 7}, {"author": ["x", None]}, True, 1e300])
@pytest.mark.parametrize("name", sorted(RESULT))
def test_unusable_values_cost_only_themselves(name: str, value: Any) -> None:
    document, _ = parse_result(json.dumps(RESULT | {name: value, "id": "101"}).encode())
    assert document.id


def test_the_affiliation_of_a_result_is_that_of_the_first_person() -> None:
    authors = [{"collectiveName": "Ice Watch"}, {"lastName": "Doe"}, {"lastName": "Roe"}]
    result = {"id": "7", "affiliation": "Ice Lab", "authorList": {"author": authors}}
    document, _ = parse_result(json.dumps(result).encode())
    assert [(author.position, author.affiliations) for author in document.authors] == [(1, ["Ice Lab"]), (2, [])]
    result["authorList"] = {"author": [{}, {"lastName": "Roe"}]}  # so that it is nobody's
    document, _ = parse_result(json.dumps(result).encode())
    assert [(author.name, author.affiliations) for author in document.authors] == [("Roe", [])]
