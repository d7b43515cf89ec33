"""The limits that the documentation states are those of the program."""

from __future__ import annotations

from pathlib import Path

from homonym.io.inputs import MAX_COMPRESSION_RATIO, MAX_RECORD_BYTES, UNCHECKED_BYTES
from homonym.io.table_text import MAX_DEPTH
from homonym.io.xlsx import MAX_ROW_CHARACTERS, MAX_SHARED_BYTES
from homonym.io.zip_files import MAX_MEMBERS
from homonym.records.model import MAX_AUTHORS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "formats.md"


def test_limits_of_inputs() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"more than {MAX_MEMBERS:,} members" in text
    assert f"The texts of a workbook may take at most {MAX_SHARED_BYTES >> 20} MiB" in text
    assert f"a row at most {MAX_ROW_CHARACTERS:,} characters" in text
    assert f"at most {MAX_RECORD_BYTES >> 20} MiB, {MAX_AUTHORS:,} authors" in text
    assert f"JSON nested {MAX_DEPTH} levels deep" in text
    assert f"more than {UNCHECKED_BYTES >> 30} GiB and more than {MAX_COMPRESSION_RATIO:,} times its size" in text
