"""MARCXML, MODS and ORCID records: the fields taken from each element, what is around records, and damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from homonym.records.fields.authority_ids import add_authority_id
from homonym.records.formats import marcxml, mods, orcid_record
from homonym.records.formats.orcid_record import Owner
from homonym.records.model import BrokenRecordError, Note
from tests.support.reading import detected, documents, readings, reasons

ORCID = "0000-0002-1825-0097"
OTHER = "0000-0001-5109-3700"

# --- Identifiers of people ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "written", "expected"),
    [
        ("", f"https://orcid.org/{ORCID}", {"orcid": ORCID}),
        ("", f"(orcid){ORCID}", {"orcid": ORCID}),
        ("ORCID", ORCID, {"orcid": ORCID}),
        ("", "(DE-588)118540238", {"gnd": "118540238"}),
        ("gnd", "https://d-nb.info/gnd/1021-x", {"gnd": "1021-X"}),
        ("", "http://viaf.org/viaf/24602065", {"viaf": "24602065"}),
        ("", "https://isni.org/isni/0000000121032683", {"isni": "0000000121032683"}),
        ("isni", "0000 0001 2103 2683", {"isni": "0000000121032683"}),
        ("", "http://id.loc.gov/authorities/names/n79022889", {"lccn": "n79022889"}),
        ("", "(DLC)n  79022889", {"lccn": "n79022889"}),
        ("", "(DE-627)077395867", {}),
        ("", "", {}),
        ("local", "12345", {}),
    ],
)
def test_identifiers_of_people(scheme: str, written: str, expected: dict[str, str]) -> None:
    ids: dict[str, str] = {}
    notes: list[Note] = []
    add_authority_id(ids, scheme, written, notes)
    assert (ids, notes) == (expected, [])


@pytest.mark.parametrize("written", ["(orcid)0000-0002-1825-0098", "https://viaf.org/viaf/", "(isni)12"])
def test_notes_invalid_identifiers_of_people(written: str) -> None:
    notes: list[Note] = []
    add_authority_id({}, "", written, notes)
    assert len(notes) == 1


# --- MARCXML --------------------------------------------------------------------------------------------------------


def field(tag: str, first: str = " ", second: str = " ", **parts: str) -> str:
    given = "".join(f'<subfield code="{code.strip("_")}">{text}</subfield>' for code, text in parts.items())
    return f'<datafield tag="{tag}" ind1="{first}" ind2="{second}">{given}</datafield>'


MARC = (
    "<record xmlns='http://www.loc.gov/MARC21/slim'>\n  <leader>00000cam a2200000 i 4500</leader>"
    "<controlfield tag='001'>on 77</controlfield><controlfield tag='003'>OCoLC</controlfield>"
    "<controlfield tag='008'>140305s2013    no |||||||||||||||||eng|d</controlfield>"
    + field("024", "7", a="10.1000/ICE", _2="doi")
    + field("035", a="(OCoLC)ocn000077")
    + field(
        "100", "1", a="Nørgård, Åse M.,", c="Jr.,", d="1950-2010,", e="author.", _0=f"(orcid){ORCID}", u="Ice Lab, Oslo"
    )
    + field("245", "1", "4", a="The ice :", b="a study of H2O /", c="Åse Nørgård.")
    + field("264", " ", "1", a="Oslo :", b="Ice Press,", c="[2014], ©2014.")
    + field("490", "1", a="Studies in ice ;", v="7")
    + field("520", a="We melt ice.")
    + field("650", " ", "0", a="Ice", x="Melting.")
    + field("653", a="snow.")
    + field("700", "1", a="Doe, Jo", _4="aut", _1="http://viaf.org/viaf/123456", m="jo.doe@ice.example")
    + field("700", "1", a="Roe, A.", e="editor.")
    + field("700", "1", a="Poe, E.", _4="http://id.loc.gov/vocabulary/relators/ill")
    + field("700", "1", a="Related, R.", t="Another work")
    + field("700", "3", a="Nørgård family")
    + field("700", "1", a="Doe, Jo", e="co-author")
    + field("700", "1", a="")
    + field("710", "2", a="Ice Society")
    + "</record>"
)


def test_reads_a_record_of_a_catalogue(tmp_path: Path) -> None:
    content = f"<?xml version='1.0'?><collection>{MARC}</collection>"
    assert detected(tmp_path, content) == "marcxml"
    found = readings(tmp_path, content)
    (document,) = documents(found)
    assert (document.id, document.ids) == ("(OCoLC)on 77", {"doi": "10.1000/ice", "oclc": "77"})
    assert (document.title, document.year, document.venue) == ("The ice: a study of H2O", 2014, "Studies in ice")
    assert (document.abstract, document.keywords) == ("We melt ice.", ["Ice", "snow"])
    assert [author.name for author in document.authors] == ["Nørgård, Åse M., Jr.", "Doe, Jo"]
    first, second = document.authors
    assert (first.ids, first.affiliations) == ({"orcid": ORCID}, ["Ice Lab, Oslo"])
    assert (second.ids, second.emails) == ({"viaf": "123456"}, ["jo.doe@ice.example"])
    assert reasons(found) == ["field 700 has no name"]


def test_positions_in_marc_are_places_among_the_people() -> None:
    fields = [
        field("110", "2", a="Ice Society"),
        field("700", "3", a="Doe family"),
        field("700", "1", a="Doe, Jo"),
        field("700", "1", a="Doe, Jo"),
        field("710", "2", a="Snow Society"),
        field("700", "1", a=""),
        field("700", "1", a="Roe, A."),
    ]
    start = "<record xmlns='http://www.loc.gov/MARC21/slim'><leader>00000cam a2200000 i 4500</leader>"
    parsed = marcxml.parse_record(f"{start}{field('245', a='T')}{''.join(fields)}</record>".encode())
    assert parsed is not None
    assert [(author.position, author.name) for author in parsed[0].authors] == [(1, "Doe, Jo"), (3, "Roe, A.")]


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><ListRecords><record><header><identifier>oai:x:1</identifier>"
        "</header><metadata>{}</metadata></record><record><header status='deleted'/></record></ListRecords></OAI-PMH>",
        "<zs:searchRetrieveResponse xmlns:zs='z'><zs:records><zs:record><zs:recordData>{}</zs:recordData></zs:record>"
        "</zs:records></zs:searchRetrieveResponse>",
    ],
)
def test_reads_records_of_marc_in_harvests_and_answers(tmp_path: Path, around: str) -> None:
    prefixed = MARC.replace("<", "<marc:").replace("<marc:/", "</marc:").replace("xmlns=", "xmlns:marc=")
    for record in (MARC, prefixed):
        content = around.format(record)
        assert detected(tmp_path, content) == "marcxml"
        assert [document.ids["doi"] for document in documents(readings(tmp_path, content))] == ["10.1000/ice"]


def test_skips_authority_records(tmp_path: Path) -> None:
    person = "<record><leader>00000nz  a2200000n  4500</leader>" + field("100", "1", a="Doe, Jo") + "</record>"
    assert marcxml.parse_record(person.encode()) is None


@pytest.mark.parametrize(
    ("parts", "year"),
    [({"c": "c1999."}, 1999), ({"c": "MCMXC [1990]"}, 1990), ({"c": "[n.d.]"}, 2013), ({"c": "19--?"}, 2013)],
)
def test_years_of_catalogues(parts: dict[str, str], year: int) -> None:
    start = "<record><controlfield tag='008'>140305s2013    no</controlfield>"
    document, _ = marcxml.parse_record(f"{start}{field('245', a='T')}{field('260', **parts)}</record>".encode()) or (
        None,
        [],
    )
    assert document
    assert document.year == year


# --- MODS -----------------------------------------------------------------------------------------------------------

MODS = f"""<mods xmlns="http://www.loc.gov/mods/v3" xmlns:xlink="http://www.w3.org/1999/xlink" ID="m7" version="3.7">
<titleInfo type="alternative"><title>Alt</title></titleInfo>
<titleInfo><nonSort>The</nonSort><title>ice</title><subTitle>a study</subTitle></titleInfo>
<name type="personal" authority="viaf" valueURI="http://viaf.org/viaf/123456">
<namePart type="family">Nørgård</namePart>
<namePart type="given">Åse</namePart><namePart type="given">M.</namePart>
<namePart type="termsOfAddress">Jr.</namePart>
<namePart type="date">1950-</namePart><role><roleTerm type="text">Author</roleTerm></role><affiliation>Ice Lab, Oslo.
ase@ice.example</affiliation><nameIdentifier type="orcid">https://orcid.org/{ORCID}</nameIdentifier></name>
<name><namePart>Doe, Jo</namePart></name>
<name type="personal"><namePart>Roe, Al</namePart><role><roleTerm type="code">edt</roleTerm></role></name>
<name type="corporate"><namePart>Ice Society</namePart></name>
<name type="personal"><namePart/><role><roleTerm>aut</roleTerm></role></name>
<originInfo><publisher>Ice Press</publisher><dateIssued encoding="w3cdtf">2014-03</dateIssued></originInfo>
<abstract>We melt ice.</abstract><classification authority="ddc">551</classification>
<subject><topic>Ice</topic><geographic>Norway</geographic></subject>
<relatedItem type="host"><titleInfo><title>Journal of Ice</title></titleInfo><name><namePart>Editor, E</namePart>
</name>
</relatedItem><identifier type="doi">https://doi.org/10.1000/ICE</identifier>
<identifier type="issn">0000-0000</identifier>
<recordInfo><recordIdentifier>r7</recordIdentifier></recordInfo></mods>"""


@pytest.mark.parametrize("around", ["{}", "<modsCollection>{}</modsCollection>", "<metadata>{}</metadata>"])
def test_reads_mods(tmp_path: Path, around: str) -> None:
    content = around.format(MODS)
    assert detected(tmp_path, content) == "mods"
    found = readings(tmp_path, content)
    (document,) = documents(found)
    assert (document.id, document.ids) == ("r7", {"doi": "10.1000/ice"})
    assert (document.title, document.year, document.venue) == ("The ice: a study", 2014, "Journal of Ice")
    assert (document.abstract, document.categories, document.keywords) == ("We melt ice.", ["551"], ["Ice", "Norway"])
    assert [author.name for author in document.authors] == ["Nørgård, Åse M., Jr.", "Doe, Jo"]
    first = document.authors[0]
    assert first.ids == {"orcid": ORCID, "viaf": "123456"}
    assert (first.affiliations, first.emails) == (["Ice Lab, Oslo"], ["ase@ice.example"])
    assert reasons(found) == ["author 3 has no name"]


def test_mods_with_a_prefix_and_without_host() -> None:
    text = (
        "<m:mods xmlns:m='mods/v3' ID='m7'><m:titleInfo><m:title>T</m:title></m:titleInfo><m:originInfo>"
        "<m:publisher>Ice Press</m:publisher><m:dateIssued>undated</m:dateIssued></m:originInfo></m:mods>"
    )
    document, notes = mods.parse_record(text.encode())
    assert (document.id, document.title, document.venue, document.year) == ("m7", "T", "Ice Press", None)
    assert notes == [("field", "year 'undated' is not a year")]


# --- ORCID ----------------------------------------------------------------------------------------------------------


def value(text: str | None) -> dict[str, str] | None:
    return {"value": text} if text else None


def summary(title: str, doi: str, owner: str = ORCID) -> dict[str, Any]:
    numbers = [
        ("doi", doi, "self"),
        ("isbn", "1", "part-of"),
        ("doi", "10.1000/whole", "part-of"),
        ("eid", "2-s2.0-7", "self"),
    ]
    return {
        "put-code": 1, "created-date": {"value": 1},
        "source": {"source-client-id": {"path": "x"}, "source-name": value("S")},
        "title": {"title": value(title), "subtitle": value("a study"), "translated-title": None},
        "external-ids": {"external-id": [
            {"external-id-type": kind, "external-id-value": number, "external-id-relationship": relation,
             "external-id-normalized": {"value": number, "transient": True}} for kind, number, relation in numbers
        ]},
        "type": "journal-article", "publication-date": {"year": value("2014"), "month": None},
        "journal-title": value("Ice"),
        "visibility": "public", "path": f"/{owner}/work/1", "display-index": "0",
    }  # fmt: skip


def person(
    orcid: str = ORCID, name: tuple[str, str] | None = ("Åse", "Nørgård"), *works: dict[str, Any]
) -> dict[str, Any]:
    names = name and {"created-date": {"value": 1}, "given-names": value(name[0]), "family-name": value(name[1]),
                      "credit-name": None, "path": orcid}  # fmt: skip
    employment = {"put-code": 3, "department-name": "Ice", "external-ids": None, "organization": {"name": "Oslo"}}
    return {
        "orcid-identifier": {"uri": f"https://orcid.org/{orcid}", "path": orcid, "host": "orcid.org"},
        "preferences": {"locale": "EN"}, "history": {"claimed": True},
        "person": {"name": names, "biography": {"content": "title"}, "keywords": {"keyword": []}},
        "activities-summary": {
            "employments": {"affiliation-group": [{"summaries": [{"employment-summary": employment}]}]},
            "fundings": {"group": [{"funding-summary": [{"title": {"title": value("Grant")}, "put-code": 2}]}]},
            "works": {"group": [{"external-ids": {}, "work-summary": [work]} for work in works]},
        },
        "path": f"/{orcid}",
    }  # fmt: skip


RECORD = person(ORCID, ("Åse", "Nørgård"), summary("On ice", "10.1000/ICE"), summary("On snow", "10.1000/SNOW"))


@pytest.mark.parametrize("indent", [None, 2])
def test_reads_the_record_of_a_person(tmp_path: Path, indent: int | None) -> None:
    content = json.dumps(RECORD, indent=indent)
    assert detected(tmp_path, content) == "orcid"
    found = readings(tmp_path, content)
    first, second = documents(found)
    assert (first.id, first.ids) == ("doi:10.1000/ice", {"doi": "10.1000/ice", "scopus": "2-s2.0-7"})
    assert (first.title, first.year, first.venue) == ("On ice: a study", 2014, "Ice")
    assert (second.title, second.authors[0].name) == ("On snow: a study", "Nørgård, Åse")
    assert [(author.name, author.ids) for author in first.authors] == [("Nørgård, Åse", {"orcid": ORCID})]
    assert [reading.raw.number for reading in found] == [1, 2]


@pytest.mark.parametrize("joined", ["list", "lines", "concatenated"])
def test_each_work_belongs_to_its_person(tmp_path: Path, joined: str) -> None:
    people = [RECORD, person(OTHER, ("Jo", "Doe"), summary("On fog", "10.1000/FOG", OTHER))]
    content = {
        "list": json.dumps(people),
        "lines": "\n".join(map(json.dumps, people)),
        "concatenated": "".join(json.dumps(one, indent=1) for one in people),
    }[joined]
    found = documents(readings(tmp_path, content))
    assert [(document.authors[0].name, document.authors[0].ids["orcid"]) for document in found] == [
        ("Nørgård, Åse", ORCID),
        ("Nørgård, Åse", ORCID),
        ("Doe, Jo", OTHER),
    ]


def test_works_without_a_name_are_rejected(tmp_path: Path) -> None:
    works = person(ORCID, None, summary("On ice", "10.1000/ICE"))["activities-summary"]["works"]
    for content in (json.dumps(works), json.dumps(person(ORCID, None, summary("On ice", "10.1000/ICE")))):
        assert detected(tmp_path, content) == "orcid"
        assert reasons(readings(tmp_path, content)) == [
            "the name of the person is missing: download the whole record of the person"
        ]


def contributor(name: str, orcid: str = "", role: str = "author") -> dict[str, Any]:
    own = {"uri": f"https://orcid.org/{orcid}", "path": orcid} if orcid else None
    return {"contributor-orcid": own, "credit-name": value(name), "contributor-attributes": {"contributor-role": role}}


@pytest.mark.parametrize(
    ("people", "expected"),
    [
        ([contributor("Å. Nørgård", ORCID), contributor("Jo Doe", OTHER)], [("Å. Nørgård", ORCID), ("Jo Doe", OTHER)]),
        ([contributor("Jo Doe"), contributor("Åse Nørgård")], [("Jo Doe", ""), ("Åse Nørgård", ORCID)]),
        ([contributor("Jo Doe"), contributor("Ed Itor", role="editor")], [("Jo Doe", ""), ("Nørgård, Åse", ORCID)]),
        ([contributor("Åse Nørgård", OTHER)], [("Åse Nørgård", OTHER), ("Nørgård, Åse", ORCID)]),
        ([], [("Nørgård, Åse", ORCID)]),
    ],
)
def test_the_person_is_one_of_the_contributors(people: list[dict[str, Any]], expected: list[tuple[str, str]]) -> None:
    work = summary("On ice", "10.1000/ICE") | {"contributors": {"contributor": people}}
    document, notes = orcid_record.parse_work(json.dumps(work).encode(), Owner(ORCID, "Nørgård, Åse"))
    assert [(author.name, author.ids.get("orcid", "")) for author in document.authors] == expected
    assert notes == []


ORCID_XML = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<record:record path="/{ORCID}" xmlns:record="http://www.orcid.org/ns/record" xmlns:common="http://www.orcid.org/ns/common"
 xmlns:person="http://www.orcid.org/ns/person" xmlns:personal-details="http://www.orcid.org/ns/personal-details"
 xmlns:activities="http://www.orcid.org/ns/activities" xmlns:work="http://www.orcid.org/ns/work">
<common:orcid-identifier><common:path>{ORCID}</common:path></common:orcid-identifier>
<person:person path="/{ORCID}/person"><person:name visibility="public" path="{ORCID}">
<personal-details:given-names>Åse
</personal-details:given-names><personal-details:family-name>Nørgård</personal-details:family-name></person:name>
</person:person>
<activities:activities-summary><activities:employments><common:organization><common:name>Oslo</common:name>
</common:organization>
</activities:employments><activities:works path="/{ORCID}/works"><activities:group>
<work:work-summary put-code="1" path="/{ORCID}/work/1" visibility="public"><work:title>
<common:title>On ice &amp; snow</common:title>
</work:title><common:external-ids><common:external-id><common:external-id-type>doi</common:external-id-type>
<common:external-id-value>10.1000/ICE</common:external-id-value>
<common:external-id-relationship>self</common:external-id-relationship></common:external-id></common:external-ids>
<common:publication-date><common:year>2014</common:year></common:publication-date>
<work:journal-title>Ice</work:journal-title>
</work:work-summary></activities:group><activities:group><work:work-summary path="/{ORCID}/work/2"><work:title>
<common:title>Broken</common:titel></work:title></work:work-summary><work:work-summary path="/{ORCID}/work/3">
<work:title>
<common:title>On fog</common:title></work:title></work:work-summary></activities:group></activities:works>
</activities:activities-summary></record:record>"""


def test_reads_the_record_of_a_person_in_xml(tmp_path: Path) -> None:
    assert detected(tmp_path, ORCID_XML) == "orcid"
    found = readings(tmp_path, ORCID_XML)
    first, second = documents(found)
    assert (first.title, first.year, first.venue, first.ids) == ("On ice & snow", 2014, "Ice", {"doi": "10.1000/ice"})
    assert (first.authors[0].name, first.authors[0].ids, second.title) == ("Nørgård, Åse", {"orcid": ORCID}, "On fog")
    assert [reason.partition(" (")[0] for reason in reasons(found)] == ["not well-formed XML"]
    both = ORCID_XML + ORCID_XML.replace(ORCID, OTHER).replace("Nørgård", "Doe")
    names = [document.authors[0].name for document in documents(readings(tmp_path, both))]
    assert names == ["Nørgård, Åse"] * 2 + ["Doe, Åse"] * 2


@pytest.mark.parametrize(
    "wrong", [7, [], {}, "x", [None], [[]], {"value": []}, True, 1e300, {"external-id": [{"a": []}]}]
)
@pytest.mark.parametrize("name", [*sorted(summary("T", "10.1000/x")), "contributors"])
def test_unusable_values_of_works_cost_only_themselves(name: str, wrong: Any) -> None:
    work = summary("T", "10.1000/x") | {name: wrong}
    try:
        document, _ = orcid_record.parse_work(json.dumps(work).encode(), Owner(ORCID, "Doe, J"))
    except BrokenRecordError as broken:
        assert name == "path", broken  # noqa: PT017
    else:
        assert document.authors


# --- Damage and bombs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "record",
    [
        b"<record/>",
        b"<record><leader/></record>",
        b"<mods/>",
        b"<a>",
        b"",
        b"<record>" + b"<a>" * 9999,
        b"<!DOCTYPE a [<!ENTITY b 'c'>]><record>&b;</record>",
    ],
)
@pytest.mark.parametrize("parse", [marcxml.parse_record, mods.parse_record, orcid_record.parse_work])
def test_rejects_other_records(parse: Any, record: bytes) -> None:
    with pytest.raises(BrokenRecordError):
        parse(record)


@pytest.mark.parametrize(
    "other",
    [
        "<OAI-PMH xmlns='http://www.openarchives.org/OAI/2.0/'><ListRecords><record><header/><metadata><oai_dc:dc><dc:title>T"
        "</dc:title></oai_dc:dc></metadata></record></ListRecords></OAI-PMH>",
        "<records><record><title>T</title><contributors><authors><author>Doe</author></authors></contributors></record></records>",
        "<xml><records><record><ref-type name='Journal Article'>17</ref-type></record></records></xml>",
    ],
)
def test_recognises_no_other_records(tmp_path: Path, other: str) -> None:
    assert detected(tmp_path, other) not in {"marcxml", "mods", "orcid"}
