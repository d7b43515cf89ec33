"""Files of ids for `update --remove @FILE`."""

from __future__ import annotations

from pathlib import Path

from homonym.cli.app import _removed_ids


def test_byte_order_mark_and_blank_lines_are_no_part_of_an_id(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_bytes("\ufeffpmid:7\r\n\r\n doi:10.1/x \r\n".encode())
    assert _removed_ids((f"@{path}", "W1")) == ["pmid:7", "doi:10.1/x", "W1"]
