"""Text that another program has decoded with the wrong encoding."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.io.inputs import WESTERN
from homonym.records.fields.misread import is_misread, restored, restored_record
from tests.support.profiles import examples
from tests.support.reading import documents, readings

CSV = 'Title,Authors,Affiliations,Year\nÜber – “{}”,"Müller, Jürgen; {}",Universität Łódź,2014\n'


def misread(text: str) -> str:
    """UTF-8, read as Windows Latin."""
    return "".join(bytes([byte]).decode(errors=WESTERN) if byte > 0x7F else chr(byte) for byte in text.encode())


@pytest.mark.parametrize("name", ["García, Ana", "Žižek, Č.", "Иванов, Иван", "Núñez, É.", "Łukasz, Ł.", "Niccolò"])
def test_misread_records_are_restored_and_reported(tmp_path: Path, name: str) -> None:
    text = CSV.format("Dinge", name)
    right, found = readings(tmp_path, text), readings(tmp_path, misread(text))
    assert documents(found) == documents(right)
    assert [problem for reading in right for problem in reading.problems] == []
    (problem,) = [problem for reading in found for problem in reading.problems]
    assert problem.lost == "warning"
    assert problem.reason.endswith("was decoded with the wrong encoding by another program; it was read as 'Über'")


@pytest.mark.parametrize(
    "text",
    [
        "Müller", "JOÃO", "AMANHÃ, E", "“MANHÃ” – MAÇÃ…", "5 Å–7 Å³", "Ångström", "ÄÖÜ", "Nguyễn Văn Á", "Иванов",
        "王伟", "ÐÑ", "Ðorðe",
    ],
)  # fmt: skip
def test_other_text_is_not_misread(text: str) -> None:
    assert not is_misread(text)
    assert restored_record(text.encode()) is None


LETTERS = st.characters(categories=("Ll", "Lu"), max_codepoint=0x17F)


@settings(max_examples=examples(300))
@given(st.text(LETTERS | st.sampled_from(" ,.-"), max_size=20))
def test_restored_text_is_what_it_was(text: str) -> None:
    assert restored(misread(text)) == text
    if all(ord(character) < 0x100 for character in text):
        assert not is_misread(text)
