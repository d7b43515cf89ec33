"""Reads the text of a file in any format, for tests of formats."""

from __future__ import annotations

from pathlib import Path

from homonym.io.inputs import Source
from homonym.records.model import Document
from homonym.records.reader import Reading, detect_format, read_documents


def readings(folder: Path, content: str | bytes, name: str | None = None) -> list[Reading]:
    """The readings of a file with this content; its format is detected unless it is named."""
    path = folder / "records"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_documents(path, name))


def documents(found: list[Reading]) -> list[Document]:
    """The documents that were read."""
    return [reading.document for reading in found if reading.document is not None]


def reasons(found: list[Reading]) -> list[str]:
    """The reasons why something was lost; test_contributors.py checks what was set apart."""
    return [problem.reason for reading in found for problem in reading.problems if problem.lost != "contributor"]


def documents_and_problems(folder: Path, content: str | bytes) -> tuple[list[Document], list[str]]:
    """The documents of a file whose format is detected, and what was lost in which line."""
    found = readings(folder, content)
    lost = [problem for reading in found for problem in reading.problems if problem.lost != "contributor"]
    return documents(found), [f"{problem.line}: {problem.lost}: {problem.reason}" for problem in lost]


def detected(folder: Path, content: str | bytes) -> str | None:
    """The name of the format that is detected from the content."""
    path = folder / "unnamed"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with Source(path) as source:
        form = detect_format(source)
    return form.name if form else None
