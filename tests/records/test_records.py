"""Documents and mentions with any content: every line is read, or rejected with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from homonym.errors import InputError
from homonym.records.formats.documents import LARGEST_COUNT, SMALLEST_COUNT, Mention, parse_document, parse_mention
from homonym.records.model import MAX_LISTED_PROBLEMS, BrokenRecordError, Document, Note, Problem, Problems

DOE = [{"name": "Doe, J"}]
HUGE = 10**30

Answer = TypeVar("Answer")


def document(**fields: Any) -> tuple[Document, list[Note]]:
    return parse_document(json.dumps({"id": "W1", "authors": DOE, **fields}).encode())


def mention(**fields: Any) -> Mention:
    return parse_mention(json.dumps({"mention_id": "m1", "block": "DOE, J", **fields}).encode())


BROKEN_LINES: list[tuple[bytes, str]] = [
    (b"", "not valid JSON"),
    (b"{", "not valid JSON"),
    (b'{"id": "1"} {"id": "2"}', "not valid JSON"),
    (b'{"id": "1",}', "not valid JSON"),
    (b"{'id': '1'}", "not valid JSON"),
    (b'{"id": NaN}', "not valid JSON"),
    (b'{"id": 1e400}', "not valid JSON"),
    (b'{"id": "\\ud800"}', "not valid JSON"),
    (b'{"id": "\xe4"}', "not UTF-8 text"),
    (b"\x00\x01", "not valid JSON"),
    (b"id,title", "not valid JSON"),
    (b"[" * 100_000, "not valid JSON"),
    (b"[]", "expected a JSON object, got list"),
    (b"null", "expected a JSON object, got NoneType"),
    (b"true", "expected a JSON object, got bool"),
    (b"1", "expected a JSON object, got int"),
    (b'"text"', "expected a JSON object, got str"),
]


@pytest.mark.parametrize("parse", [parse_document, parse_mention])
@pytest.mark.parametrize(("line", "reason"), BROKEN_LINES)
def test_rejects_lines_that_are_not_objects(parse: Any, line: bytes, reason: str) -> None:
    with pytest.raises(BrokenRecordError, match=reason):
        parse(line)


# Documents


def test_a_document_with_everything() -> None:
    fields: dict[str, Any] = {
        "title": "On Graphs",
        "abstract": "A graph.",
        "year": 2014,
        "venue": "JCDL",
        "categories": ["CS"],
        "keywords": ["graph", "name"],
        "references": ["W0"],
        "referenced_authors": ["Smith, A"],
    }
    author = {"name": "Doe, J", "affiliations": ["X"], "emails": ["j@x.org"], "author": "p1", "block": "B", "ids": {}}
    read, notes = document(**fields, authors=[author])
    assert notes == []
    assert {name: getattr(read, name) for name in fields} == fields
    (found,) = read.authors
    assert (found.position, found.name, found.affiliations, found.emails) == (0, "Doe, J", ["X"], ["j@x.org"])
    assert (found.label, found.block) == ("p1", "B")


def test_rules_for_identifiers_of_documents_are_not_those_of_authors() -> None:
    author = {"name": "Doe, J", "ids": {"arxiv": "doe_j_1", "pmcid": "x"}}
    read, notes = document(ids={"arxiv": "arXiv:1207.7214v2"}, authors=[author])
    assert (read.ids, read.authors[0].ids, notes) == ({"arxiv": "1207.7214"}, author["ids"], [])


def test_a_document_with_only_what_is_required() -> None:
    read, notes = document()
    assert notes == []
    assert (read.title, read.abstract, read.venue, read.year) == ("", "", "", None)
    assert (read.categories, read.keywords, read.references, read.referenced_authors) == ([], [], [], [])
    assert (read.authors[0].label, read.authors[0].block) == (None, None)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"id": None}, "'id' is missing"),
        ({"id": ""}, "'id' is missing"),
        ({"id": 1.5}, "'id' must be text, got float"),
        ({"id": HUGE}, "'id' must be text, got float"),
        ({"id": True}, "'id' must be text, got bool"),
        ({"id": ["W1"]}, "'id' must be text, got list"),
        ({"id": {}}, "'id' must be text, got dict"),
        ({"authors": None}, "'authors' is missing or not a list"),
        ({"authors": "Doe, J; Roe, R"}, "'authors' is missing or not a list"),
        ({"authors": {"name": "Doe, J"}}, "'authors' is missing or not a list"),
        ({"authors": 3}, "'authors' is missing or not a list"),
    ],
)
def test_rejected_documents(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(BrokenRecordError, match=reason):
        document(**fields)


@pytest.mark.parametrize(("key", "value"), [("author", 1.5), ("author", True), ("block", [])])
def test_an_unusable_label_or_block_costs_only_itself(key: str, value: Any) -> None:
    line = json.dumps({"id": "1", "authors": [{"name": "Doe, J", key: value}]}).encode()
    document, notes = parse_document(line)
    assert (document.authors[0].label, document.authors[0].block) == (None, None)
    assert notes == [("field", f"'{key}' must be text, got {type(value).__name__}")]


def test_rejects_mentions_among_documents() -> None:
    with pytest.raises(BrokenRecordError, match="use homonym cluster"):
        parse_document(b'{"mention_id": "m1", "block": "B"}')
    with pytest.raises(BrokenRecordError, match="use homonym disambiguate"):
        parse_mention(b'{"id": "W1", "authors": []}')


@pytest.mark.parametrize(("value", "text"), [("W1", "W1"), (7, "7"), (0, "0"), (-1, "-1"), (2**64 - 1, str(2**64 - 1))])
def test_identifiers_become_text(value: Any, text: str) -> None:
    read, _ = document(id=value, authors=[{"name": "Doe, J", "author": value, "block": value}])
    assert (read.id, read.authors[0].label, read.authors[0].block) == (text, text, text)


@pytest.mark.parametrize("value", [None, ""])
def test_labels_and_blocks_may_be_empty(value: Any) -> None:
    read, notes = document(authors=[{"name": "Doe, J", "author": value, "block": value}])
    assert (read.authors[0].label, read.authors[0].block, notes) == (None, None, [])


def test_authors_may_be_plain_names() -> None:
    read, notes = document(authors=["Doe, J", {"name": "Roe, R"}])
    assert [(author.position, author.name) for author in read.authors] == [(0, "Doe, J"), (1, "Roe, R")]
    assert notes == []


def test_a_document_may_have_no_authors() -> None:
    read, notes = document(authors=[])
    assert (read.authors, notes) == ([], [])


@pytest.mark.parametrize(
    "entry",
    [None, 5, True, "", "  \t", [], ["Doe, J"], {}, {"name": None}, {"name": ""}, {"name": " \n"}, {"name": 5},
     {"name": ["Doe, J"]}, {"name": {"last": "Doe"}}, {"label": "Doe, J"}],
)  # fmt: skip
def test_authors_without_a_name_do_not_move_the_others(entry: Any) -> None:
    read, notes = document(authors=[{"name": "Doe, J"}, entry, {"name": "Roe, R"}])
    assert [(author.position, author.name) for author in read.authors] == [(0, "Doe, J"), (2, "Roe, R")]
    assert notes == [("author", "author 1 has no name")]


@pytest.mark.parametrize(
    ("value", "year"),
    [
        (2014, 2014),
        ("2014", 2014),
        (" 2014 ", 2014),
        ("2014-05", 2014),
        ("2014-05-31T00:00:00Z", 2014),
        ("20140531", 2014),
        (2014.0, 2014),
        (1000, 1000),
        (2200, 2200),
    ],
)
def test_years(value: Any, year: int) -> None:
    read, notes = document(year=value)
    assert (read.year, notes) == (year, [])


@pytest.mark.parametrize("value", [None, ""])
def test_a_year_may_be_empty(value: Any) -> None:
    read, notes = document(year=value)
    assert (read.year, notes) == (None, [])


@pytest.mark.parametrize(
    "value",
    ["n.d.", "May 2014", "14", "c1999", "  ", "-2014", "٢٠", 0, 1, 999, 2201, 9999, 99999, -2014, HUGE, -HUGE, 1e308,
     True, False, [2014], [], {}, {"year": 2014}],
)  # fmt: skip
def test_notes_invalid_years(value: Any) -> None:
    read, notes = document(year=value)
    assert read.year is None
    ((lost, reason),) = notes
    assert lost == "field"
    assert reason.endswith("is not a year")


@pytest.mark.parametrize("key", ["title", "abstract", "venue"])
@pytest.mark.parametrize(
    ("value", "kind"),
    [(5, "int"), (1.5, "float"), (True, "bool"), (["x"], "list"), ({"x": 1}, "dict"), ([], "list"), (0, "int")],
)
def test_notes_values_that_are_not_texts(key: str, value: Any, kind: str) -> None:
    read, notes = document(**{key: value})
    assert getattr(read, key) == ""
    assert notes == [("field", f"{key} must be text, got {kind}")]


LISTS = ["categories", "keywords", "references", "referenced_authors"]


@pytest.mark.parametrize("key", LISTS)
@pytest.mark.parametrize(
    ("value", "texts"),
    [(None, []), ("", []), ([], []), ("x", ["x"]), (["x", "y"], ["x", "y"]), ([1, "x"], ["1", "x"]), ([""], [""])],
)
def test_lists_of_texts(key: str, value: Any, texts: list[str]) -> None:
    read, notes = document(**{key: value})
    assert (getattr(read, key), notes) == (texts, [])


@pytest.mark.parametrize("key", LISTS)
@pytest.mark.parametrize(
    "value", [5, 1.5, True, {"x": "y"}, [None], ["x", None], [["x"]], [{"name": "x"}], [1.5], [True], ["x", False]]
)
def test_notes_values_that_are_not_lists(key: str, value: Any) -> None:
    read, notes = document(**{key: value})
    assert getattr(read, key) == []
    assert notes == [("field", f"{key} must be a list of texts")]


@pytest.mark.parametrize("key", ["affiliations", "emails"])
def test_notes_invalid_lists_of_an_author_and_keeps_the_author(key: str) -> None:
    read, notes = document(authors=[{"name": "Doe, J", key: [{"name": "x"}]}])
    assert [author.name for author in read.authors] == ["Doe, J"]
    assert getattr(read.authors[0], key) == []
    assert notes == [("field", f"{key} must be a list of texts")]


def test_ignores_unknown_fields() -> None:
    read, notes = document(pages="1-2", authors=[{"name": "Doe, J", "city": {}}], extra=[{}])
    assert (read.id, notes) == ("W1", [])


# Mentions


def test_a_mention_with_everything() -> None:
    read = mention(
        document_id="d1",
        position=3,
        name="DOE, JW",
        author="p1",
        features={"term": {"graph": 3}, "year": {"2014": 0.2}},
    )
    assert read == Mention(
        "m1", "d1", 3, "DOE, JW", "DOE, J", "p1", {"term": {"graph": 3.0}, "year": {"2014": 0.2}}
    )  # fmt: skip


def test_block_defaults_to_the_name() -> None:
    assert mention(block=None, name="DOE, J").block == "DOE, J"
    assert mention(block="", name="DOE, J").block == "DOE, J"
    assert mention(name="Jane Doe").block == "DOE, J"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"mention_id": None}, "'mention_id' is missing"),
        ({"mention_id": ""}, "'mention_id' is missing"),
        ({"mention_id": 1.5}, "'mention_id' must be text, got float"),
        ({"mention_id": HUGE}, "'mention_id' must be text, got float"),
        ({"mention_id": False}, "'mention_id' must be text, got bool"),
        ({"mention_id": ["m"]}, "'mention_id' must be text, got list"),
        ({"block": None}, "neither 'block' nor 'name'"),
        ({"block": "", "name": ""}, "neither 'block' nor 'name'"),
        ({"block": None, "name": 5}, "neither 'block' nor 'name'"),
        ({"block": ["B"]}, "'block' must be text, got list"),
        ({"document_id": {}}, "'document_id' must be text, got dict"),
        ({"author": 0.5}, "'author' must be text, got float"),
        ({"features": []}, "'features' must map"),
        ({"features": "x"}, "'features' must map"),
        ({"features": 0}, "'features' must map"),
        ({"features": {"co": None}}, "'features' must map"),
        ({"features": {"co": ["SMITH, A"]}}, "'features' must map"),
        ({"features": {"co": "SMITH, A"}}, "'features' must map"),
        ({"features": {"co": 1}}, "'features' must map"),
        ({"features": {"co": {"A": None}}}, "the count of 'A' in 'co' is not a number"),
        ({"features": {"co": {"A": "1"}}}, "the count of 'A' in 'co' is not a number"),
        ({"features": {"co": {"A": True}}}, "the count of 'A' in 'co' is not a number"),
        ({"features": {"co": {"A": False}}}, "the count of 'A' in 'co' is not a number"),
        ({"features": {"co": {"A": [1]}}}, "the count of 'A' in 'co' is not a number"),
        ({"features": {"co": {"A": {"B": 1}}}}, "the count of 'A' in 'co' is not a number"),
        ({"features": {"co": {"A": -1}}}, "the count of 'A' in 'co' is -1, outside"),
        ({"features": {"co": {"A": -1e-300}}}, "outside 1e-9 to 1e9"),
        ({"features": {"co": {"A": 1e-10}}}, "outside 1e-9 to 1e9"),
        ({"features": {"co": {"A": 1e9 + 1}}}, "outside 1e-9 to 1e9"),
        ({"features": {"co": {"A": 2**63}}}, "outside 1e-9 to 1e9"),
        ({"features": {"co": {"A": HUGE}}}, "outside 1e-9 to 1e9"),
        ({"features": {"co": {"A": 1, "B": 1e308}}}, "the count of 'B' in 'co'"),
    ],
)
def test_rejected_mentions(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(BrokenRecordError, match=reason):
        mention(**fields)


@pytest.mark.parametrize(
    ("features", "bags"),
    [
        (None, {}),
        ({}, {}),
        ({"co": {}}, {}),
        ({"co": {"A": 0.5, "B": 2}}, {"co": {"A": 0.5, "B": 2.0}}),
        ({"co": {"A": SMALLEST_COUNT, "B": LARGEST_COUNT}}, {"co": {"A": SMALLEST_COUNT, "B": LARGEST_COUNT}}),
        ({"co": {"A": 0, "B": 1, "C": -0.0}}, {"co": {"B": 1.0}}),
        ({"my type": {"": 1}}, {"my type": {"": 1.0}}),
    ],
)
def test_bags(features: Any, bags: dict[str, dict[str, float]]) -> None:
    assert mention(features=features).features == bags


@pytest.mark.parametrize("value", [0, 1, 2**31 - 1])
def test_positions(value: int) -> None:
    assert mention(position=value).position == value


@pytest.mark.parametrize("value", [None, True, -1, 2**31, HUGE, 1.5, "1", [1], {}])
def test_invalid_positions_are_none(value: Any) -> None:
    assert mention(position=value).position is None


# Anything at all

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
author_entries = values | st.fixed_dictionaries(
    {}, optional=dict.fromkeys(["name", "affiliations", "emails", "author", "block"], values)
)
documents = st.fixed_dictionaries(
    {"id": values | st.just("W1"), "authors": values | st.lists(author_entries, max_size=3)},
    optional=dict.fromkeys(["title", "abstract", "year", "venue", *LISTS, "mention_id"], values),
)
mentions = st.fixed_dictionaries(
    {"mention_id": values | st.just("m1"), "block": values | st.just("B")},
    optional={
        "features": values | st.dictionaries(texts, values | st.dictionaries(texts, values, max_size=3), max_size=3),
        **dict.fromkeys(["document_id", "position", "name", "author", "authors"], values),
    },
)


def answer_or_reason(parse: Callable[[bytes], Answer], line: bytes) -> Answer | str:
    try:
        return parse(line)
    except BrokenRecordError as broken:
        reason = str(broken)
    assert len(reason.splitlines()) == 1
    return reason


def check_document(line: bytes) -> None:
    answer = answer_or_reason(parse_document, line)
    if isinstance(answer, str):
        return
    read, notes = answer
    assert isinstance(read.id, str)
    assert read.id
    assert read.year is None or 1000 <= read.year <= 2200
    assert all(isinstance(text, str) for text in (read.title, read.abstract, read.venue))
    assert all(isinstance(text, str) for key in LISTS for text in getattr(read, key))
    assert all(author.name.strip() for author in read.authors)
    assert all(isinstance(text, str) for author in read.authors for text in [*author.affiliations, *author.emails])
    assert all(lost in {"author", "field"} and len(reason.splitlines()) == 1 for lost, reason in notes)


def check_mention(line: bytes) -> None:
    read = answer_or_reason(parse_mention, line)
    if isinstance(read, str):
        return
    assert read.mention_id
    assert read.block
    assert read.position is None or 0 <= read.position < 2**31
    counts = [count for bag in read.features.values() for count in bag.values()]
    assert all(isinstance(count, float) and SMALLEST_COUNT <= count <= LARGEST_COUNT for count in counts)


@given(documents)
def test_any_document_values_are_read_or_rejected(raw: dict[str, Any]) -> None:
    check_document(json.dumps(raw).encode())


@given(mentions)
def test_any_mention_values_are_read_or_rejected(raw: dict[str, Any]) -> None:
    check_mention(json.dumps(raw).encode())


@given(st.binary() | values.map(json.dumps).map(str.encode))
def test_any_bytes_are_read_or_rejected(line: bytes) -> None:
    check_document(line)
    check_mention(line)


@given(documents | mentions, st.data())
def test_damaged_lines_are_read_or_rejected(raw: dict[str, Any], data: st.DataObject) -> None:
    line = bytearray(json.dumps(raw).encode())
    place = data.draw(st.integers(0, len(line) - 1))
    line[place] = data.draw(st.integers(0, 255))
    for damaged in (bytes(line), bytes(line[:place])):
        check_document(damaged)
        check_mention(damaged)


# Problems


def test_counts_every_problem_and_keeps_the_first() -> None:
    problems = Problems()
    for line in range(MAX_LISTED_PROBLEMS + 5):
        problems.add(Problem("in.jsonl", line, "record", "not valid JSON"))
    problems.add(Problem("in.jsonl", 9, "field", "year 'n.d.' is not a year"))
    assert len(problems) == MAX_LISTED_PROBLEMS + 6
    assert problems.counts == {
        "record": MAX_LISTED_PROBLEMS + 5,
        "author": 0,
        "field": 1,
        "duplicate": 0,
        "contributor": 0,
        "warning": 0,
    }
    assert [problem.line for problem in problems.first] == list(range(MAX_LISTED_PROBLEMS))


def test_problem_message_has_place_and_reason() -> None:
    problem = Problem("in.jsonl", 7, "author", "author 1 has no name")
    assert str(problem) == "in.jsonl, line 7: author 1 has no name; this author was rejected."
    with pytest.raises(InputError, match=r"in\.jsonl, line 7: author 1 has no name; correct it"):
        Problems().add(problem, strict=True)
