"""Own documents parsed as a whole chunk give the same tables as parsed record by record, or are refused."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import numpy as np
import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from homonym.collection import parts
from homonym.collection.extractor import extract_tables, merged_entries
from homonym.collection.layout import SLOT_BITS
from homonym.collection.parts import Chunk, PartReport
from homonym.features.columns import LINES_PER_EXCEPTION, columns_of, columns_of_lines
from homonym.records.fields.affiliations import is_placeholder, plain_email
from homonym.records.parsing.splitting import Raw
from homonym.settings import Settings
from tests.support.profiles import examples

DEFAULTS = Settings()
FULL = {
    "id": "W1",
    "title": "Graphs of Zürich",
    "abstract": "The graphs – and the trees.",
    "year": 2014,
    "venue": "JCDL",
    "categories": ["CS", "cs", "–"],
    "keywords": ["Graph Theory"],
    "authors": [
        {"name": "Doe, Jane W.", "affiliations": ["Univ. of Zürich", "ETH"], "emails": ["J@x.org ", "A@y.org"],
         "ids": {"orcid": "0000-0002-1825-0097"}, "author": "a1", "block": "doe j"},
        {"name": "J. W. Doe", "author": ""},
    ],
    "references": ["W0"],
    "referenced_authors": ["Smith, A", "Anna Smith", "et al."],
    "other_authors": ["J. W. Doe", "Poe, E", "E Poe"],
    "ids": {"doi": "10.1000/x"},
}  # fmt: skip


def chunk(lines: list[bytes]) -> Chunk:
    return Chunk("in.jsonl", 7, [Raw(number, line) for number, line in enumerate(lines, 3)])


def record_by_record(lines: list[bytes], settings: Settings) -> tuple[dict[str, pa.Table], PartReport]:
    report = PartReport()
    found = parts._named_documents(chunk(lines), report, settings.blocking, strict=False)
    return extract_tables(columns_of([placed for placed, _ in found], settings.blocking), 7, settings), report


def check(lines: list[bytes], settings: Settings = DEFAULTS) -> bool:
    """Compare both ways of parsing; returns whether the chunk could be parsed at once."""
    columns = columns_of_lines(parts._without_markup(chunk(lines).raws), 7, settings.blocking)
    if columns is None:
        return False
    wanted, report = record_by_record(lines, settings)
    assert not report.problems, "problems of a record would not be reported"
    check_tables(extract_tables(columns, 7, settings), wanted)
    return True


def check_tables(found: dict[str, pa.Table], wanted: dict[str, pa.Table]) -> None:
    assert sorted(found) == sorted(wanted)
    for name, table in wanted.items():
        assert found[name].schema == table.schema
        if name in {"keys", "identifiers"}:  # whose order has no meaning
            order = [(column, "ascending") for column in table.column_names]
            assert found[name].sort_by(order) == table.sort_by(order)
        else:
            assert found[name].to_pylist() == table.to_pylist(), name


NO_PERSON = [{"name": "ATLAS Collaboration"}, {"name": "Doe, Jane", "emails": ["j@x.org"]}]
SUSPICIOUS = [{"name": "Andrew Wong"}, {"name": "Nancy An"}]
NAMELESS = [{"name": "Roe, R."}, {"name": "–"}, {"name": "Poe, E."}]


@hypothesis_settings(max_examples=examples(60))
@given(st.lists(st.sampled_from([SUSPICIOUS, NO_PERSON, NAMELESS]), max_size=4), st.randoms(use_true_random=False))
def test_documents_with_groups_and_nameless_authors_are_parsed_alone(exceptions: list[Any], random: Any) -> None:
    authors = [*exceptions, *[FULL["authors"]] * (LINES_PER_EXCEPTION * max(1, len(exceptions)))]
    random.shuffle(authors)
    lines = [json.dumps({**FULL, "id": f"W{i}", "authors": some}).encode() for i, some in enumerate(authors)]
    report = PartReport()
    with mock.patch.object(parts, "_named_documents", wraps=parts._named_documents) as alone:
        columns, texts = parts._columns(chunk(lines), DEFAULTS.blocking, report, strict=False)
    wanted, wanted_report = record_by_record(lines, DEFAULTS)
    check_tables(extract_tables(columns, 7, DEFAULTS), wanted)
    assert (report.problems, report.rejects) == (wanted_report.problems, wanted_report.rejects)
    assert len(texts) == len(lines)
    assert all(len(call.args[0].raws) == 1 for call in alone.call_args_list)
    assert len(alone.call_args_list) == sum(some is not SUSPICIOUS for some in exceptions)


def test_many_documents_with_groups_are_parsed_record_by_record() -> None:
    line = json.dumps({**FULL, "authors": NO_PERSON}).encode()
    with mock.patch.object(parts, "_named_documents", wraps=parts._named_documents) as alone:
        parts._columns(chunk([line] * 3), DEFAULTS.blocking, PartReport(), strict=False)
    assert [len(call.args[0].raws) for call in alone.call_args_list] == [3]


@pytest.mark.parametrize("blocking", ["given", "initials", "first-initial", "full-name"])
def test_a_document_with_all_fields(blocking: Any) -> None:
    settings = Settings(blocking=blocking, year_sigma=1.0, title_weight=2)
    assert check(
        [orjson.dumps(FULL), b' {"id": "W2", "authors": []} ', b'{"id":"W3","authors":[{"name":"Roe, R"}]}'], settings
    )


TEXT = st.text(max_size=8) | st.sampled_from(["Graph", "graphs and trees", "Zürich", "", "–"])
NAME = st.sampled_from(["Doe, Jane", "J. Doe", "DOE J", "王小明", "O'Neil, Þór", "van der Berg, A"])
AUTHOR = st.fixed_dictionaries(
    {"name": NAME},
    optional={
        "affiliations": st.lists(TEXT, max_size=2),
        "emails": st.lists(TEXT, max_size=2),
        "author": st.sampled_from(["", "a1"]) | st.none(),
        "block": st.sampled_from(["", "b"]) | st.none(),
        "ids": st.fixed_dictionaries({}, optional={"orcid": st.just("0000-0002-1825-0097"), "dblp": st.just("x/Y")}),
    },
)
DOCUMENT = st.fixed_dictionaries(
    {"id": st.sampled_from(["W1", "W2", "10"]), "authors": st.lists(AUTHOR, max_size=3)},
    optional={
        "title": TEXT,
        "abstract": TEXT | st.none(),
        "year": st.integers(1990, 1993) | st.none(),
        "venue": TEXT,
        "categories": st.lists(TEXT, max_size=3),
        "keywords": st.lists(TEXT, max_size=2) | st.none(),
        "references": st.lists(st.sampled_from(["W1", "W9"]), max_size=2),
        "referenced_authors": st.lists(NAME, max_size=3),
        "other_authors": st.lists(NAME | TEXT, max_size=2),
        "ids": st.fixed_dictionaries({}, optional={"doi": st.just("10.1000/x"), "pmid": st.just("12")}),
        "unknown": st.integers(0, 3),
    },
)


@given(st.lists(DOCUMENT, min_size=1, max_size=5))
@hypothesis_settings(max_examples=examples(200))
def test_usual_documents_are_parsed_at_once(documents: list[dict[str, Any]]) -> None:
    lines = [json.dumps(document, ensure_ascii=False).encode() for document in documents]
    assert check(lines)


OTHER = {"id": "W9", "title": "Other", "year": 1990, "categories": ["X"], "authors": [{"name": "Poe, E"}],
         "name": "Poe, E", "affiliations": ["Other"], "orcid": "x", "doi": "10.1/y", "ids": {}}  # fmt: skip


@pytest.mark.parametrize("key", sorted(OTHER))
@pytest.mark.parametrize("at_end", [False, True])
def test_a_key_that_occurs_twice_has_its_last_value_or_is_refused(key: str, at_end: bool) -> None:
    line, member = orjson.dumps(FULL), b'"%s":%s' % (key.encode(), orjson.dumps(OTHER[key]))
    place = line.index(b'"%s":' % key.encode())
    twice = line[:-1] + b"," + member + b"}" if at_end else line[:place] + member + b"," + line[place:]
    check([twice, b'{"id":"W3","authors":[{"name":"Roe, R"}]}'])


STRANGE = st.none() | st.booleans() | st.integers() | st.floats() | TEXT | st.lists(TEXT | st.none() | st.integers())
FIELDS = st.sampled_from([*FULL, "other_authors", "mention_id"])


@given(st.lists(DOCUMENT, min_size=1, max_size=3), FIELDS, STRANGE)
@hypothesis_settings(max_examples=examples(300))
def test_odd_fields_give_the_same_tables_or_are_refused(
    documents: list[dict[str, Any]], field: str, value: Any
) -> None:
    documents[-1][field] = value
    check([json.dumps(document, ensure_ascii=False).encode() for document in documents])


@given(st.lists(DOCUMENT, min_size=1, max_size=2), st.integers(0, 10**6), st.binary(max_size=3))
@hypothesis_settings(max_examples=examples(300))
def test_damaged_lines_give_the_same_tables_or_are_refused(
    documents: list[dict[str, Any]], place: int, damage: bytes
) -> None:
    lines = [json.dumps(document, ensure_ascii=False).encode() for document in documents]
    at = place % len(lines[0])
    lines[0] = lines[0][:at] + damage.replace(b"\n", b" ") + lines[0][at + len(damage) :]
    check(lines)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "1", "authors": [{"name": "Doe, J"}]}{"id": "2", "authors": []}',
        b'{"id": "1", "id": "2", "authors": []}',
        b'{"id": "1", "authors": [{"name": " "}]}',
        b'{"id": "1", "authors": [{"name": "..."}]}',
        b'{"id": "1", "authors": [{"name": "Planck Collaboration"}]}',
        b'{"id": "1", "authors": [{"name": "World Health Organization: J. Doe"}]}',
        b'{"id": "1", "authors": [null]}',
        b'{"id": "1", "authors": ["Doe, J"]}',
        b'{"id": "1", "authors": [], "year": 9999}',
        b'{"id": "1", "authors": [], "year": "2014"}',
        b'{"id": "1", "authors": [], "title": "\xff"}',
        b'{"id": "1", "authors": [], "title": "\\ud800"}',
        b'{"id": "1", "authors": [], "x": NaN}',
        b'{"id": "1", "authors": [], "x": {"y": [{"z": [-Infinity]}]}}',
        b'{"id": "", "authors": []}',
        b'{"id": 1, "authors": []}',
        b'{"authors": []}',
        b'{"id": "1"}',
        b'{"id": "1", "authors": [], "ids": {"doi": ["10.1000/x"]}}',
        b'{"id": "1", "authors": [{"name": "Doe, J", "ids": {"orcid": "none"}}]}',
        b'{"id": "1", "authors": [], "other_authors": ["Doe, J", null]}',
        b"null",
        b"{",
    ],
)
def test_refuses_unusual_lines(line: bytes) -> None:
    assert not check([line])
    assert not check([orjson.dumps(FULL), line])


def test_lines_with_html_are_parsed_at_once_as_plain_text() -> None:
    """Names such as "D&#x27;Oro" are in real collections."""
    lines = [
        b'{"id": "a&amp;b", "title": "CO<sub>2</sub> of R&amp;D", "keywords": ["&alpha; decay"], "authors": '
        b'[{"name": "D&#x27;Oro, P", "affiliations": ["AT&amp;T"]}, {"name": "M&uuml;ller, J"}]}',
        b'{"id": "c", "title": "p < 0.05 of <SEG> & co", "authors": [{"name": "Roe, R"}]}',
    ]
    assert check(lines)
    columns, texts = parts._columns(chunk(lines), "first-initial", PartReport(), strict=False)
    assert columns.records.title == ["CO2 of R&D", "p < 0.05 of <SEG> & co"]
    assert columns.authors.names.written.to_pylist() == ["D'Oro, P", "Müller, J", "Roe, R"]
    stored = orjson.loads(texts[0])
    assert (stored["id"], stored["authors"][0]) == ("a&amp;b", {"name": "D'Oro, P", "affiliations": ["AT&T"]})
    by_record = parts._named_documents(chunk(lines), PartReport(), "auto", strict=False)
    assert texts == [text for _, text in by_record]


EMAILS = st.sampled_from(["a@x.org", "A@x.org", "<b@x.org>", "b@x.org", "c@x.org", "none@none", "n/a", "no address"])


@given(st.lists(st.lists(st.lists(EMAILS, max_size=3), max_size=4), max_size=4))
def test_the_first_address_that_no_co_author_has_identifies_an_author(documents: list[list[list[str]]]) -> None:
    lines = [
        orjson.dumps({"id": str(number), "authors": [{"name": "Doe, J", "emails": emails} for emails in authors]})
        for number, authors in enumerate(documents)
    ]
    columns, _ = parts._columns(chunk(lines), "auto", PartReport(), strict=False)
    expected = []
    for number, authors in enumerate(documents, 7):
        own = [{plain_email(text) for text in emails} for emails in authors]
        for position, emails in enumerate(own):
            others = set().union(*own[:position], *own[position + 1 :])
            if usable := [text for text in sorted(emails - others) if not is_placeholder(text)]:
                expected.append({"owner": (number << SLOT_BITS) + 1 + position, "kind": "email", "id": usable[0]})
    assert extract_tables(columns, 7, DEFAULTS)["identifiers"].to_pylist() == expected


bag_entries = st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 9)), st.sampled_from([0.5, 1.0, 2.0]))


@given(known=bag_entries, more=bag_entries)
def test_entries_are_merged_as_they_are_added_up(
    known: dict[tuple[int, int], float], more: dict[tuple[int, int], float]
) -> None:
    def columns(entries: dict[tuple[int, int], float]) -> Any:
        rows = sorted(entries.items())
        owner, feature = np.array([key for key, _ in rows], np.int64).reshape(-1, 2).T
        return owner, feature.astype(np.int32), np.array([count for _, count in rows])

    summed = {key: known.get(key, 0.0) + more.get(key, 0.0) for key in {*known, *more}}
    for found, expected in zip(merged_entries(columns(known), columns(more)), columns(summed), strict=True):
        assert found.tolist() == expected.tolist()
        assert found.dtype == expected.dtype
