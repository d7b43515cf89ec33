"""Damaged exports: nothing crashes or hangs, and damage costs only the damaged record.

The files are generated exports of all formats, and real samples if they are available.
"""

from __future__ import annotations

import random
import tempfile
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from benchmarks.exports import EXPORTS, documents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from homonym.errors import InputError
from homonym.io.inputs import Source
from homonym.records.formats.documents import document_object
from homonym.records.model import Document
from homonym.records.reader import detect_format, read_documents
from tests.support.profiles import examples
from tests.support.real_data import SAMPLES

# Generous: a file of 140 kB is read in 20 ms.
bounded = settings(
    max_examples=examples(20),
    deadline=timedelta(seconds=5),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def _cases() -> Iterator[Any]:
    for name in EXPORTS:
        yield pytest.param(name, id=f"generated {name}")
    for path in sorted(SAMPLES.glob("*/*")):
        if path.is_file() and path.suffix != ".dtd" and path.parent != SAMPLES:
            yield pytest.param(path, id=f"{path.parent.name}/{path.name}")


CASES = list(_cases())


def test_real_samples_are_available() -> None:
    if not SAMPLES.is_dir():
        pytest.skip("the sample exports are not available: only generated ones are damaged")


@cache
def content_of(case: str | Path) -> tuple[str, bytes]:
    """The name of a case's format, and its bytes as they are read: unpacked, UTF-8."""
    if isinstance(case, str):
        return EXPORTS[case].format, b"".join(EXPORTS[case].write(islice(documents(400), 20))).removeprefix(BOM_UTF8)
    with Source(case) as source:
        form = detect_format(source)
        assert form is not None
        return form.name, b"".join(source.blocks())


@cache
def spans_of(case: str | Path) -> list[tuple[int, int, str]]:
    """Start and end of each record of a case, and its document as text."""
    name, content = content_of(case)
    spans, place = [], 0
    for raw_text, document in readings(name, content):
        start = content.find(raw_text, place)
        assert start >= 0
        place = start + len(raw_text)
        if document:
            spans.append((start, place, described(document)))
    return spans


def readings(name: str | None, content: bytes) -> list[tuple[bytes, Document | None]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "damaged")
        path.write_bytes(content)
        found = []
        for raw, document, problems in read_documents(path, name):
            assert not any(problem.reason.startswith("not understood as") for problem in problems), problems
            found.append((raw.text, document))
        return found


def described(document: Document) -> str:
    """A document as text, without an id that was made from its place: damage before it may change that."""
    said = document_object(document)
    if not document.id_is_key and ":" in document.id:
        del said["id"]
    return str(said)


def read_as(name: str, content: bytes) -> list[str]:
    try:
        return [described(document) for _, document in readings(name, content) if document]
    except InputError:
        return []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
@bounded
def test_damage_costs_only_the_damaged_record(case: str | Path, data: st.DataObject) -> None:
    name, content = content_of(case)
    spans = spans_of(case)
    chosen = data.draw(st.integers(0, len(spans) - 1))
    start, end, _ = spans[chosen]
    # Damage between two records may cost both.
    inner = range(start + min(60, (end - start) // 3), end - min(60, (end - start) // 3))
    if not inner:
        return
    damaged = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.sampled_from(inner))] = data.draw(st.integers(0, 255))
    found = read_as(name, bytes(damaged))
    lost = [said for place, (*_, said) in enumerate(spans) if place != chosen and said not in found]
    assert not lost


@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
@bounded
def test_reads_all_records_before_a_cut(case: str | Path, data: st.DataObject) -> None:
    name, content = content_of(case)
    cut = data.draw(st.integers(0, len(content)))
    found = read_as(name, content[:cut])
    assert not [said for _, end, said in spans_of(case) if end < cut and said not in found]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(), encoding=st.sampled_from(["utf-8", "latin-1", "utf-16", "cp1252", "ascii", "utf-32"]))
@bounded
def test_any_damage_raises_only_input_errors(case: str | Path, seed: int, encoding: str) -> None:
    rng = random.Random(seed)
    name, content = content_of(case)
    lines = content.splitlines(keepends=True)
    ways = {
        "shuffled": lambda: b"".join(rng.sample(lines, len(lines))),
        "lines dropped": lambda: b"".join(line for line in lines if rng.random() < 0.9),
        "torn": lambda: b"".join(
            line[: rng.randrange(len(line) + 1)] if rng.random() < 0.1 else line for line in lines
        ),
        "doubled": lambda: content[rng.randrange(len(content)) :] + content,
        "flipped": lambda: bytes(rng.randrange(256) if rng.random() < 0.002 else byte for byte in content),
        "beheaded": lambda: content[rng.randrange(len(content)) :],
    }
    damaged = ways[rng.choice(list(ways))]().decode("utf-8", errors="replace").encode(encoding, errors="replace")
    read_as(name, damaged)
    with suppress(InputError):
        readings(None, damaged)


@pytest.mark.parametrize("case", CASES)
def test_detects_the_format(case: str | Path, tmp_path: Path) -> None:
    name, content = content_of(case)
    assert spans_of(case)
    (tmp_path / "unnamed").write_bytes(content)
    with Source(tmp_path / "unnamed") as source:
        form = detect_format(source)
    assert form is not None
    assert form.name == name
