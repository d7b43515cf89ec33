from __future__ import annotations

import pytest

from homonym.collection.document_replacing import replaced, without_labels
from homonym.records.fields.exported_ids import KIND
from homonym.records.model import Author, Document


def document(*names: str, **more: dict[str, str]) -> Document:
    return Document("1", [Author(place, name, ids=more.get("ids", {})) for place, name in enumerate(names)], "On coins")


def names_of(one: Document) -> list[str]:
    return [author.name for author in one.authors]


@pytest.mark.parametrize(
    ("known", "record", "expected"),
    [
        (["Doe J", "Roe A"], ["Doe JK", "Roe A"], ["Doe JK", "Roe A"]),
        (["MULLER J"], ["Müller J"], ["Müller J"]),
        (["Doe, Jane", "Roe A"], ["Doe J", "Roe AB"], ["Doe, Jane", "Roe AB"]),
        (["Doe, Jane", "Roe, Ann"], ["Doe, Janet", "Roe A"], ["Doe, Janet", "Roe A"]),
    ],
)
def test_a_record_corrects_names_but_only_initials_shorten_none(
    known: list[str], record: list[str], expected: list[str]
) -> None:
    assert names_of(replaced(document(*known), document(*record))) == expected


def test_other_contributors_are_kept_if_a_record_has_none() -> None:
    known, record = document("Doe, J"), document("Doe, J")
    known.other_contributors = ["WHO"]
    assert replaced(known, record).other_contributors == ["WHO"]
    record.other_contributors = ["UN"]
    assert replaced(known, record).other_contributors == ["UN"]


def test_identifiers_keep_the_order_of_the_document() -> None:
    known = document("Doe, J", ids={"orcid": "1", "scopus": "7"})
    found = replaced(known, document("Doe, J", ids={"scopus": "7"}))
    assert list(found.authors[0].ids.items()) == [("orcid", "1"), ("scopus", "7")]


@pytest.mark.parametrize(
    ("known", "label", "id", "expected"),
    [
        ("Mueller, J", "Müller, Jürgen", "MULLER, J/1", "Mueller, J"),
        ("Smith, Jane", "Doe, Jane", "DOE, J/1", "Smith, Jane"),
        ("Doe, J", "Doe, Jane B", "DOE, JB/1", "Doe, J"),
        ("Doe, J", "Roe, Ann", "DOE, J/1", "Roe, Ann"),
    ],
)
def test_labels_of_exported_files_are_no_names(known: str, label: str, id: str, expected: str) -> None:
    found = without_labels(document(label, ids={KIND: id}), document(known))
    assert names_of(found) == [expected]
    assert found.authors[0].ids == {}
