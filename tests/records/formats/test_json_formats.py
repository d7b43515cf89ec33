"""Splitting JSON files of any shape, damaged or not; and reading works of OpenAlex and Crossref."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.io import inputs
from homonym.io.inputs import HEAD_BYTES, Source
from homonym.records import reader
from homonym.records.fields.contributors import set_apart_contributors
from homonym.records.fields.markup import plain_text
from homonym.records.formats.crossref import parse_work as parse_crossref
from homonym.records.formats.openalex import parse_work as parse_openalex
from homonym.records.model import BrokenRecordError, Document
from homonym.records.parsing import json_stream
from homonym.records.parsing.json_fields import load_record
from homonym.records.parsing.json_stream import names_in, open_json, open_json_members
from homonym.records.parsing.splitting import Raw
from tests.support.profiles import examples

NAMES = ("id", "title", "authors")


class Memory(Source):
    """A source in memory that yields blocks of any size."""

    def __init__(self, content: bytes, size: int = 1 << 20) -> None:
        super().__init__(Path("memory.json"))
        self.content, self.size, self.head = content, size, content[:HEAD_BYTES]

    def blocks(self) -> Iterator[bytes]:
        """Yield the content."""
        for place in range(0, len(self.content), self.size):
            yield self.content[place : place + self.size]


def record(number: int, *, title: str = 'Ein \\ {Titel} ["x"]', nested: int = 2) -> dict[str, Any]:
    """A record with difficulties for splitting: brackets and quotes in texts, nested objects with the same names."""
    authors = [{"id": f"A{number}-{place}", "name": f"Möller, {place}"} for place in range(nested)]
    return {"id": f"W{number}", "doi": None, "title": title, "authors": authors, "ids": {"a": {"b": [[], {}]}}}


RECORDS = [record(1), record(2, title=""), record(3, nested=0), record(4, title="\n")]
MINIFIED = [json.dumps(item, separators=(",", ":"), ensure_ascii=False) for item in RECORDS]
LIST = "[" + ",".join(MINIFIED) + "]"

SHAPES = {
    "lines": "\n".join(MINIFIED),
    "lines that end in CR LF, and blank lines": "\r\n\r\n".join(MINIFIED) + "\r\n",
    "lines that end in CR": "\r".join(MINIFIED),
    "lines with commas behind": ",\n".join(MINIFIED) + ",",
    "lines with commas before, in brackets": "[\n" + "\n,".join(MINIFIED) + "\n]\n",
    "lines with brackets on the first and last": "[" + ",\n".join(MINIFIED) + "]",
    "list": LIST,
    "list, indented": json.dumps(RECORDS, indent=4),
    "list, a record a line, indented": "[\n  " + ",\n  ".join(MINIFIED) + "\n]",
    "list of lists": f"[{LIST[:-1]}],[]]",
    "Crossref answer": '{"status":"ok","message":{"facets":{"x":[{}]},"items":' + LIST + ',"query":{"items":null}}}',
    "OpenAlex page": '{"meta":{"count":4},"results":' + LIST + ',"group_by":[{"key":"x","count":1}]}',
    "dump": json.dumps({"items": RECORDS}, indent=1),
    "wrapper, a record a line": '{"results": [\n' + ",\n".join(MINIFIED) + "\n]}",
    "Solr answer": '{"responseHeader":{"status":0},"response":{"numFound":4,"docs":' + LIST + "}}",
    "search engine": json.dumps({"took": 1, "hits": {"total": 4, "hits": [{"_id": 1, "_source": r} for r in RECORDS]}}),
    "answers of one record": "\n".join('{"status":"ok","message":' + text + "}" for text in MINIFIED),
    "pages one after another": "".join(json.dumps({"data": RECORDS[k : k + 2]}, indent=2) + "\n" for k in (0, 2)),
    "pages, one a line": "\n".join(json.dumps({"meta": {}, "results": RECORDS[k : k + 2]}) for k in (0, 2)),
    "list of pages": json.dumps([{"meta": {}, "results": RECORDS[k : k + 2]} for k in (0, 2)]),
    "records one after another": "\n".join(json.dumps(item, indent=2) for item in RECORDS),
    "records without anything between": "".join(MINIFIED),
    "text sequence": "".join(f"\x1e{text}\n" for text in MINIFIED),
}


def raws(content: bytes | str, names: tuple[str, ...] = NAMES, size: int = 1 << 20) -> list[Raw]:
    """Split a file with this content."""
    return list(open_json(Memory(content.encode() if isinstance(content, str) else content, size), names).raws)


def values(found: list[Raw]) -> list[Any]:
    """The values of the raw records that are valid."""
    sound = []
    for raw in found:
        with suppress(BrokenRecordError):
            sound.append(load_record(raw.text))
    return sound


# Splitting


@pytest.mark.parametrize("shape", SHAPES)
def test_reads_the_records_of_every_shape(shape: str) -> None:
    found = raws(SHAPES[shape])
    assert values(found) == RECORDS
    assert not [raw.broken for raw in found if raw.broken]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 7, 100])
def test_block_size_does_not_change_the_records(shape: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "WINDOW_BYTES", 16)
    assert raws(SHAPES[shape], size=size) == raws(SHAPES[shape])
    assert values(raws(SHAPES[shape], size=size)) == RECORDS


@pytest.mark.parametrize(
    ("shape", "unit", "numbers"),
    [
        ("lines", "line", [1, 2, 3, 4]),
        ("lines with commas before, in brackets", "line", [2, 3, 4, 5]),
        ("list, indented", "record", [1, 2, 3, 4]),
        ("pages, one a line", "record", [1, 2, 3, 4]),
    ],
)
def test_numbers_count_lines_if_records_are_lines(shape: str, unit: str, numbers: list[int]) -> None:
    records = open_json(Memory(SHAPES[shape].encode()), NAMES)
    assert records.unit == unit
    assert [raw.number for raw in records.raws] == numbers


def test_reads_a_first_record_longer_than_the_head() -> None:
    items = [record(1, nested=20_000), record(2), record(3, title="x" * 200_000)]
    text = [json.dumps(item) for item in items]
    for content in "\n".join(text), "[" + ",".join(text) + "]", '{"items":[' + ", ".join(text) + "]}":
        assert values(raws(content)) == items


def test_reads_a_single_record_alone_or_in_a_wrapper() -> None:
    for content in MINIFIED[0], json.dumps(RECORDS[0], indent=2), json.dumps({"data": RECORDS[0]}):
        assert values(raws(content)) == RECORDS[:1]


@pytest.mark.parametrize("indent", [None, 2])
def test_finds_records_and_pages_under_unknown_names(indent: int | None) -> None:
    works = {f"10.1000/{number}": each for number, each in enumerate(RECORDS)}
    pages = {str(number): {"meta": {"count": 1}, "results": [each]} for number, each in enumerate(RECORDS)}
    lists = {"found": RECORDS[:2], "groups": [{"key": "a", "count": 1}], "more": {"old": RECORDS[2:]}}
    for value in works, pages, lists, [lists], {"query": "x", "answer": lists}:
        found = raws(json.dumps(value, indent=indent), NAMES)
        assert (values(found), [raw.broken for raw in found if raw.broken]) == (RECORDS, [])


def test_finds_a_record_far_inside_an_unknown_member(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "WINDOW_BYTES", 64)
    far = {"first": RECORDS[0], "notes": {"log": ["x" * 50] * 9}, "rest": {"log": ["x" * 50] * 9, "found": RECORDS[1:]}}
    assert values(raws(json.dumps(far), NAMES)) == RECORDS


def test_reads_text_that_is_nearly_json() -> None:
    line = b'{"id": NaN, "title": "a\tb", "authors": [], "name": "J\xfcrgen"}'
    assert (
        values(raws(b"[" + line + b", " + line + b"]"))
        == [{"id": None, "title": "a\tb", "authors": [], "name": "Jürgen"}] * 2
    )


DAMAGED_SHAPES = [
    "lines",
    "lines with commas before, in brackets",
    "list",
    "list, indented",
    "Crossref answer",
    "pages one after another",
    "records one after another",
]


@pytest.mark.parametrize("shape", DAMAGED_SHAPES)
def test_wrong_byte_costs_only_its_own_record(shape: str) -> None:
    content = SHAPES[shape].encode()
    spans = {raw.text: content.index(raw.text) for raw in raws(content)}
    for place in range(0, len(content), 3):
        wrong = b'"{}[],x\n'[place % 8 : place % 8 + 1]
        damaged = content[:place] + wrong + content[place + 1 :]
        sound = [text for text, start in spans.items() if not start <= place < start + len(text)]
        found = [raw.text for raw in raws(damaged) if not raw.broken]
        assert [text for text in found if text in sound] == sound, (place, damaged)


@pytest.mark.parametrize("shape", DAMAGED_SHAPES)
def test_lost_byte_costs_only_its_own_record(shape: str) -> None:
    content = SHAPES[shape].encode()
    spans = {raw.text: content.index(raw.text) for raw in raws(content)}
    for place in range(1, len(content), 5):
        sound = [text for text, start in spans.items() if not start <= place < start + len(text)]
        found = [raw.text for raw in raws(content[:place] + content[place + 1 :]) if not raw.broken]
        assert [text for text in found if text in sound] == sound, place


def test_reports_a_damaged_record_with_number_and_text() -> None:
    long = json.dumps(record(3, nested=300))
    text = [MINIFIED[0], MINIFIED[1], long.replace('"A3-7"', '"A3-7', 1), MINIFIED[3], json.dumps(record(5))]
    found = raws("[" + ",".join(text) + "]")
    assert [bool(raw.broken) for raw in found] == [False, False, True, False, False]
    assert found[2].number == 3
    assert found[2].text.rstrip(b",") == text[2].encode()
    assert found[2].broken.startswith("not valid JSON (")


@pytest.mark.parametrize("shape", ["list", "dump", "Crossref answer"])
def test_reports_a_missing_end(shape: str) -> None:
    content = SHAPES[shape].encode()
    last = content.index(b"W4")
    within = raws(content[: last + 9])
    assert values(within) == RECORDS[:3]
    assert within[-1].broken == "cut off by the end of the file"
    behind = raws(content[: content.rindex(b"]")])
    assert values(behind) == RECORDS
    assert "before its list is closed" in behind[-1].broken


def test_reports_values_that_are_not_records() -> None:
    found = raws(f"[1, {MINIFIED[0]}, null, {MINIFIED[1]}]")
    assert [bool(raw.broken) for raw in found] == [True, False, True, False]
    assert values(found) == RECORDS[:2]


@pytest.mark.parametrize("bracket", [",", " ", "[", "]", "x"])
def test_reports_a_record_whose_opening_bracket_is_lost(bracket: str) -> None:
    found = raws("[" + ",".join([MINIFIED[0], bracket + MINIFIED[1][1:], MINIFIED[2]]) + "]")
    assert [bool(raw.broken) for raw in found] == [False, True, False]
    assert values([raw for raw in found if not raw.broken]) == [RECORDS[0], RECORDS[2]]


def test_gives_up_after_too_many_objects_that_are_not_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_MAX_TRIALS", 10)
    junk = '{"a": 1} ' * 20
    found = raws(f'[{MINIFIED[0]}, {{"id": ] {junk} {MINIFIED[1]}]')
    assert [bool(raw.broken) for raw in found] == [False, True]
    assert found[1].text.endswith(MINIFIED[1].encode() + b"]")


def test_splits_lines_that_were_joined() -> None:
    for between in b"X", b"", b"]", b"}", b"\x0b":
        lines = [text.encode() for text in MINIFIED]
        found = raws(b"\n".join([lines[0], lines[1] + between + lines[2], lines[3]]))
        assert values(found) == RECORDS, between


def test_broken_line_is_reported_when_parsed() -> None:
    found = raws("\n".join([MINIFIED[0], MINIFIED[1][:30], MINIFIED[2]]))
    assert [raw.number for raw in found] == [1, 2, 3]
    with pytest.raises(BrokenRecordError, match="not valid JSON"):
        load_record(found[1].text)


@pytest.mark.parametrize(
    "text", ['{"id":"', '{"a":', "[", '"', "{", '}{"', '{"a":[{', '"a{",', "\\", '{"id":1,"title":2}\n{"'], ids=repr
)
def test_junk_like_json_is_read_in_bounded_time(text: str) -> None:
    for before in "", "[" + MINIFIED[0] + ",", MINIFIED[0] + "\n" + MINIFIED[1] + "\n":
        found = raws(before + text * (20_000 // len(text)))
        assert any(raw.broken for raw in found) or len(found) > 2 or text == "["


def test_reports_a_record_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_RECORD_BYTES", 1 << 18)
    content = "[" + MINIFIED[0] + ',{"id": "W2", "title": "' + "x" * (1 << 20) + '"},' + MINIFIED[2] + "]"
    for size in 1 << 14, 1 << 20, 1 << 21:
        found = raws(content, size=size)
        assert values(found) == [RECORDS[0], RECORDS[2]]
        assert "maximum length of a record" in found[1].broken


def test_reads_members_of_an_object_of_objects() -> None:
    content = json.dumps({f"p{number}": item for number, item in enumerate(RECORDS)}, indent=2).encode()
    found = list(open_json_members(Memory(content, 50), NAMES))
    assert [(member.number, member.name, load_record(member.text)) for member in found] == [
        (number + 1, f"p{number}", item) for number, item in enumerate(RECORDS)
    ]
    damaged = content.replace(b'"A1-1"', b'"A1-1', 1)
    assert [(member.name, bool(member.broken)) for member in open_json_members(Memory(damaged), NAMES)] == [
        ("p0", True),
        ("p1", False),
        ("p2", False),
        ("p3", False),
    ]
    assert list(open_json_members(Memory(content[:-9]), NAMES))[-1].broken


@pytest.mark.parametrize("indent", [None, 2])
def test_damage_inside_a_member_costs_only_that_member(indent: int | None) -> None:
    content = json.dumps({f"p{number}": item for number, item in enumerate(RECORDS)}, indent=indent).encode()
    spans = {
        member.name: (content.index(member.text), member.text) for member in open_json_members(Memory(content), NAMES)
    }
    for name, (start, text) in spans.items():
        sound = [(other, text) for other, (_, text) in spans.items() if other != name]
        for place in range(start, start + len(text), 3):
            wrong = b'"{}[],x\n'[place % 8 : place % 8 + 1]
            for damaged in content[:place] + wrong + content[place + 1 :], content[:place] + content[place + 1 :]:
                found = [(member.name, member.text) for member in open_json_members(Memory(damaged), NAMES)]
                assert [member for member in found if member in sound] == sound, (place, damaged)


def test_members_have_text_and_value() -> None:
    content = b'{"a": {"x": 1}, "b": [1], "c": {"x": 2}}'
    found = list(open_json_members(Memory(content)))
    assert [(member.name, member.value, bool(member.broken)) for member in found] == [
        ("a", {"x": 1}, False),
        ("b", {}, True),
        ("c", {"x": 2}, False),
    ]


# Markup


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Nothing to do", "Nothing to do"),
        ("H<sub>2</sub>O and <em class='x'>E. coli</em>", "H2O and E. coli"),
        ("<jats:title>Aims</jats:title><jats:p>We&nbsp;show</jats:p>", "Aims We show"),
        ("<p>one</p><p>two<br/>three</p>", "one two three"),
        ("&lt;p&gt;twice &amp;amp; escaped&lt;/p&gt;", "twice & escaped"),
        ("x <mml:math><mml:mi>a</mml:mi><mml:mo>=</mml:mo></mml:math> y", "x a= y"),
        ("<jats:tex-math>\\documentclass{x}</jats:tex-math><mml:mi>a</mml:mi>", "a"),
        ("if a<b and c>d, <x> stays", "if a<b and c>d, <x> stays"),
        ("<!-- no --><![CDATA[yes]]>", "yes"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
        ("  wide \n\t open  ", "wide open"),
    ],
)
def test_markup_becomes_plain_text(marked: str, plain: str) -> None:
    assert plain_text(marked) == plain


# OpenAlex

WORK: dict[str, Any] = {
    "id": "https://openalex.org/W100",
    "doi": "https://doi.org/10.1000/ABC",
    "title": "On <i>things</i> &amp; others",
    "publication_year": 2021,
    "ids": {"openalex": "https://openalex.org/W100", "pmid": "https://pubmed.ncbi.nlm.nih.gov/123"},
    "primary_location": {"source": {"display_name": "Journal of Things"}},
    "authorships": [
        {
            "author_position": "first",
            "author": {"id": "https://openalex.org/A1", "display_name": "Jane Doe", "orcid": None},
            "raw_author_name": "DOE, Jane",
            "institutions": [{"display_name": "University of X"}],
            "raw_affiliation_strings": ["Dept. of Y, Univ. of X, Z.", "", "Other. E-mail: jane@x.org"],
            "affiliations": [{"raw_affiliation_string": "not this"}],
        },
        {
            "author": {"id": "https://openalex.org/A2", "display_name": " Rick  Roe ", "orcid": "0000-0002-1825-0097"},
            "raw_author_name": None,
            "institutions": [{"display_name": "University of X"}, {"display_name": "Institute"}],
            "raw_affiliation_strings": [],
            "affiliations": [],
        },
        {"author": {"id": None, "display_name": None}},
        {"author": {"id": "https://openalex.org/A9999999999", "display_name": "Li Wei"}, "affiliations": None},
    ],
    "topics": [
        {
            "id": "https://openalex.org/T1",
            "display_name": "Theory of Things",
            "subfield": {"display_name": "Artificial Intelligence"},
            "field": {"display_name": "Computer Science"},
            "domain": {"display_name": "Physical Sciences"},
        }
    ],
    "keywords": [{"display_name": "Thing", "score": 0.5}, {"keyword": "stuff"}],
    "concepts": [
        {"display_name": "Fine thing", "level": 3, "score": 0.4},
        {"display_name": "Art", "level": 0, "score": 0},
    ],
    "mesh": [{"descriptor_name": "Humans"}],
    "referenced_works": ["https://openalex.org/W7", "https://openalex.org/W8"],
    "abstract_inverted_index": {"things": [1, 3], "Some": [0], "and": [2]},
}
OLD_WORK: dict[str, Any] = {
    "id": "https://openalex.org/W5",
    "title": None,
    "display_name": "Old",
    "publication_date": "2019-03-01",
    "host_venue": {"display_name": "Old Journal"},
    "authorships": [
        {
            "author": {
                "id": "https://openalex.org/A3",
                "display_name": "Bülters, Timo",
                "orcid": "https://orcid.org/x",
            },
            "institutions": [{"display_name": "not this"}],
            "raw_affiliation_string": ", Uni Bonn#TAB#",
        }
    ],
    "concepts": [
        {"display_name": "Computer science", "level": 0, "score": "0.8"},
        {"display_name": "Parallel computing", "level": 1, "score": "0.3"},
        {"display_name": "Random forest", "level": 2, "score": "0.4"},
        {"display_name": "Ancestor", "level": 2, "score": "0.0"},
    ],
    "referenced_works": [],
}


def openalex(work: Any) -> tuple[Document, list[Any]]:
    """Parse a work of OpenAlex."""
    return parse_openalex(json.dumps(work).encode())


def test_openalex_work() -> None:
    document, notes = openalex(WORK)
    assert (document.id, document.title, document.year) == ("W100", "On things & others", 2021)
    assert (document.venue, document.abstract) == ("Journal of Things", "Some things and things")
    assert document.ids == {"openalex": "W100", "doi": "10.1000/abc", "pmid": "123"}
    assert document.references == ["W7", "W8"]
    assert document.categories == ["Artificial Intelligence", "Computer Science"]
    assert document.keywords == ["Thing", "stuff", "Theory of Things", "Fine thing", "Humans"]
    assert notes == [("author", "author 2 has no name")]


def test_openalex_authors() -> None:
    first, second, third = openalex(WORK)[0].authors
    assert (first.position, first.name, first.ids) == (0, "DOE, Jane", {"openalex": "A1"})
    assert (first.affiliations, first.emails) == (["Dept. of Y, Univ. of X, Z", "Other"], ["jane@x.org"])
    assert (second.position, second.name) == (1, "Rick Roe")
    assert second.ids == {"openalex": "A2", "orcid": "0000-0002-1825-0097"}
    assert second.affiliations == ["University of X", "Institute"]
    assert (third.position, third.name, third.ids) == (3, "Li Wei", {})


def test_openalex_work_of_2022() -> None:
    document, notes = openalex(OLD_WORK)
    assert (document.title, document.year, document.venue) == ("Old", 2019, "Old Journal")
    assert document.categories == ["Computer science", "Parallel computing"]
    assert document.keywords == ["Random forest"]
    assert [(author.name, author.affiliations, author.ids) for author in document.authors] == [
        ("Bülters, Timo", ["Uni Bonn"], {"openalex": "A3"})
    ]
    assert notes == [("field", "'https://orcid.org/x' is not a valid ORCID")]


@pytest.mark.parametrize(
    ("index", "abstract"),
    [
        (None, ""),
        ({}, ""),
        ({"b": [1], "a": [0], "c": [10**12]}, "a b c"),
        ({"b": [5], "a": ["x", 1]}, "a b"),
        ({"a": 7, "b": [0]}, "b"),
        ({"IndexLength": 2, "InvertedIndex": {"b": [1], "a": [0]}}, "a b"),
        ('{"b": [1], "a": [0]}', "a b"),
        ({"&lt;p&gt;a": [0]}, "a"),
    ],
)
def test_openalex_abstracts(index: Any, abstract: str) -> None:
    assert openalex({**WORK, "abstract_inverted_index": index})[0].abstract == abstract


def boxed(value: Any) -> Any:
    """A value as R writes it: each text and number in a list of its own, nothing as an empty object."""
    if isinstance(value, dict):
        return {name: boxed(inner) for name, inner in value.items()}
    return [boxed(inner) for inner in value] if isinstance(value, list) else {} if value is None else [value]


def test_reads_openalex_works_written_by_r() -> None:
    assert openalex(boxed(WORK)) == openalex(WORK)
    simplified = boxed(WORK) | {"abstract_inverted_index": WORK["abstract_inverted_index"]}
    assert openalex(simplified) == openalex(WORK)


def test_openalex_references_in_any_form() -> None:
    works = ["https://openalex.org/W7", "W8", "http://openalex.org/w9", None, "https://openalex.org/"]
    assert openalex({**WORK, "referenced_works": works})[0].references == ["W7", "W8", "W9"]


def test_openalex_placeholders_are_not_authors() -> None:
    for name in "Anonymous", "[No author name available]", "Unknown", " ":
        work = {**WORK, "authorships": [{"author": {"display_name": name}}, WORK["authorships"][1]]}
        document, notes = openalex(work)
        set_apart_contributors(document, notes)
        assert [author.position for author in document.authors] == [1]
        assert document.other_contributors == [name] * bool(name.strip())


def test_openalex_notes_what_is_missing() -> None:
    notes = openalex({**WORK, "is_authors_truncated": True, "authorships": WORK["authorships"][:1]})[1]
    assert [lost for lost, _ in notes] == ["field"]
    assert openalex({"id": "https://openalex.org/W3"})[0].authors == []
    with pytest.raises(BrokenRecordError, match="not a work"):
        openalex({"id": "https://openalex.org/A5", "display_name": "Jane Doe"})


# Crossref

ARTICLE: dict[str, Any] = {
    "indexed": {"date-parts": [[2025, 1, 1]]},
    "DOI": "10.1000/ABC",
    "title": ["On <i>things</i>", "another title"],
    "subtitle": ["A study"],
    "container-title": ["Journal of Things &amp; More"],
    "short-container-title": ["J. Things"],
    "subject": ["General Things", "Art"],
    "abstract": "<jats:title>Abstract</jats:title><jats:p>We <jats:italic>show</jats:italic></jats:p>",
    "issued": {"date-parts": [[None]]},
    "published-online": {"date-parts": [[2014, 3, 1]]},
    "created": {"date-parts": [[2016, 1, 1]]},
    "author": [
        {"given": "Jane", "family": "Doe", "sequence": "additional", "affiliation": [{"name": "Univ. of X, Y."}]},
        {"name": "The Things Group", "sequence": "first", "affiliation": []},
        {"given": "J&ouml;rg", "family": "M&#252;ller", "suffix": "Jr", "sequence": "first", "affiliation": []},
        {"family": "Plato", "ORCID": "http://orcid.org/0000-0002-1825-0097", "authenticated-orcid": False},
        {"given": "R.", "family": "Roe, III", "ORCID": ["0000-0002-1825-0098"]},
        {"given": "", "family": "", "affiliation": []},
        {"given": "Sukarno"},
    ],
    "editor": [{"given": "Ed", "family": "Itor"}],
    "reference": [
        {"key": "1", "DOI": "10.1000/DEF", "author": "Smith J."},
        {"key": "2", "author": "Smith J.", "unstructured": "Smith J., 1999"},
        {"key": "3", "DOI": "https://doi.org/10.1000/ghi"},
    ],
}


def crossref(work: Any) -> tuple[Document, list[Any]]:
    """Parse a work of Crossref."""
    return parse_crossref(json.dumps(work).encode())


def test_crossref_work() -> None:
    document, notes = crossref(ARTICLE)
    assert (document.id, document.ids) == ("10.1000/abc", {"doi": "10.1000/abc"})
    assert (document.title, document.abstract) == ("On things: A study", "We show")
    assert (document.year, document.venue) == (2014, "Journal of Things & More")
    assert document.categories == ["General Things", "Art"]
    assert document.references == ["10.1000/def", "10.1000/ghi"]
    assert document.referenced_authors == ["Smith J."]
    assert notes == [
        ("contributor", "The Things Group"),
        ("field", "'0000-0002-1825-0098' is not a valid ORCID"),
        ("author", "author 5 has no name"),
    ]


def test_crossref_authors_are_persons_in_order() -> None:
    authors = crossref(ARTICLE)[0].authors
    assert [(author.position, author.name) for author in authors] == [
        (0, "Doe, Jane"),
        (2, "Müller, Jörg, Jr"),
        (3, "Plato"),
        (4, "Roe, R., III"),
        (6, "Sukarno"),
    ]
    assert authors[0].affiliations == ["Univ. of X, Y"]
    assert [author.ids for author in authors[1:4]] == [{}, {"orcid": "0000-0002-1825-0097"}, {}]


@pytest.mark.parametrize(
    ("family", "given", "name"),
    [
        ("Na", "Li", "Na, Li"),
        ("Null", "A.", "Null, A."),
        ("Anonymous", "", ""),
        ("Unknown", "Unknown", ""),
        ("N/A", None, ""),
        ("[Anonymous]", None, ""),
        ("Doe", ["x"], "Doe"),
    ],
)
def test_placeholders_are_not_authors_but_na_and_null_are_surnames(family: str, given: str | None, name: str) -> None:
    document, notes = crossref({"DOI": "10.1000/x", "author": [{"family": family, "given": given}]})
    set_apart_contributors(document, notes)
    assert [author.name for author in document.authors] == [name] * bool(name)
    assert document.other_contributors == [family] * (not name)
    assert [lost for lost, _ in notes] == ["contributor"] * (not name)


@pytest.mark.parametrize(
    ("dates", "year"),
    [
        ({"issued": {"date-parts": [[2012, 1]]}, "published-print": {"date-parts": [[2013]]}}, 2012),
        ({"issued": {"date-parts": [[None]]}, "published-print": {"date-parts": [[2013]]}}, 2013),
        ({"issued": {"date-parts": [[]]}, "created": {"date-parts": [["2015", 2]]}}, 2015),
        ({"issued": {"date-parts": []}, "published-online": None, "created": {"date-time": "2016-01-01"}}, 2016),
        ({"issued": {"raw": 2014}}, 2014),
        ({"issued": {"raw": "March 2014"}}, 2014),
        ({}, None),
    ],
)
def test_crossref_years(dates: dict[str, Any], year: int | None) -> None:
    document, notes = crossref({"DOI": "10.1000/x", **dates})
    assert (document.year, notes) == (year, [])


def test_csl_of_reference_managers() -> None:
    item = {"type": "article-journal", "title": "One", "container-title": "J", "issued": {"date-parts": [["2019"]]}}
    author = {"family": "Beethoven", "given": "L.", "non-dropping-particle": "van"}
    item |= {"id": "beethoven19", "categories": ["Music", "Noise"]}
    document, notes = crossref({**item, "author": [author, {"literal": "A Group"}]})
    assert (document.id, document.title, document.venue, document.year) == ("beethoven19", "One", "J", 2019)
    assert (document.id_is_key, document.keywords) == (False, ["Music", "Noise"])
    assert crossref({**item, "DOI": "10.1000/X"})[0].id_is_key
    assert [author.name for author in document.authors] == ["van Beethoven, L."]
    assert notes == [("contributor", "A Group")]
    chinese = [{"literal": "王伟"}, {"literal": "清华大学"}, {"name": "王伟"}, {"literal": "山田 太郎"}]
    document, notes = crossref({**item, "author": chinese})
    assert [(author.position, author.name) for author in document.authors] == [(0, "王伟"), (3, "山田 太郎")]
    assert notes == [("contributor", "清华大学"), ("contributor", "王伟")]


def test_crossref_rejects_what_is_not_a_work() -> None:
    for line in b'{"status": "failed"}', b"[1]", b'{"DOI": "10.1000/x"', b"":
        with pytest.raises(BrokenRecordError):
            parse_crossref(line)
    assert crossref({"DOI": "10.1000/x"})[0].authors == []


# Both

PARSERS: dict[str, Any] = {"openalex": (parse_openalex, [WORK, OLD_WORK]), "crossref": (parse_crossref, [ARTICLE])}


@pytest.mark.parametrize("name", PARSERS)
def test_detects_the_format_from_the_content(name: str) -> None:
    _, works = PARSERS[name]
    others = [form for form in map(reader.format_named, PARSERS) if form.name != name]
    for work in works:
        line = json.dumps(work).encode()
        pages = [line, b"[" + line + b"]", json.dumps({"meta": {}, "results": [work]}, indent=2).encode()]
        for head in [*pages, b"\n\n" + line, line[:400], b"x" + line[1:], line.replace(b'"id"', b'"ix"'), line[9:]]:
            assert reader.format_named(name).recognises(Memory(head)), head
            assert not any(form.recognises(Memory(head)) for form in others)


def test_does_not_recognise_other_json() -> None:
    document = {"id": "W1", "title": "x", "authors": [{"name": "A", "ids": {"openalex": "A1"}}], "year": 2001}
    author = {"id": "https://openalex.org/A1", "display_name": "Jane Doe", "works_count": 3, "cited_by_count": 7}
    datacite = {"data": [{"id": "10.1/x", "attributes": {"doi": "10.1/x", "creators": [], "publisher": "Z"}}]}
    value: Any
    for value in (document, author, datacite, {}, []):
        for name in PARSERS:
            assert not reader.format_named(name).recognises(Memory(json.dumps(value).encode())), (name, value)
    for text in b"", b"authorships", b"<a>", b"PT J\nAU Doe, J\n", b"@article{a, title={x}}":
        assert not any(reader.format_named(name).recognises(Memory(text)) for name in PARSERS)
        assert not names_in(text)


def test_words_of_an_inverted_index_are_not_field_names() -> None:
    head = b'{"title": "x", "index": {"creators": [1], "titles" : [ 0, 7], "author":[3]}, "date-parts": [[2014]]}'
    assert names_in(head) == {"title", "index", "date-parts"}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield from _places(inner, (*path, key))


def _replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _replaced(value[path[0]], path[1:], by)
    return copy


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=examples(100))
@given(data=st.data())
def test_any_field_value_is_read_or_rejected(name: str, data: st.DataObject) -> None:
    parse, works = PARSERS[name]
    work = data.draw(st.sampled_from(works))
    path = data.draw(st.sampled_from(list(_places(work))))
    line = json.dumps(_replaced(work, path, data.draw(ANYTHING))).encode()
    try:
        document, _ = parse(line)
    except BrokenRecordError:
        return
    texts = [document.id, document.title, document.abstract, document.venue, *document.ids.values()]
    texts += document.categories + document.keywords + document.references + document.referenced_authors
    texts += [text for author in document.authors for text in (author.name, *author.affiliations, *author.ids.values())]
    assert all(isinstance(text, str) for text in texts)


@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=examples(60))
@given(data=st.data())
def test_damaged_bytes_are_read_or_rejected(name: str, data: st.DataObject) -> None:
    parse, works = PARSERS[name]
    line = bytearray(json.dumps(works[0], ensure_ascii=False).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        line[data.draw(st.integers(0, len(line) - 1))] = data.draw(st.integers(0, 255))
    line = line[: data.draw(st.integers(0, len(line)))]
    with suppress(BrokenRecordError):
        parse(bytes(line))


def test_csl_has_numbers_of_pubmed_keywords_in_one_text_and_dates_as_written() -> None:
    document, notes = crossref(
        {"title": "On ice", "PMID": "7", "PMCID": "PMC8", "keyword": "snow, ice", "issued": {"literal": "May 2014"},
         "author": [{"family": "Doe", "given": "J"}]}
    )  # fmt: skip
    assert (document.ids, document.keywords, document.year) == ({"pmid": "7", "pmcid": "PMC8"}, ["snow", "ice"], 2014)
    assert notes == []
