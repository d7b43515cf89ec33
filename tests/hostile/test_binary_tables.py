"""Damaged and hostile Parquet, Arrow and compressed files: one sentence, never a signal, a traceback or all memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.errors import InputError
from homonym.io import inputs
from homonym.io.arrow_messages import _field, read_layout
from homonym.io.tables import open_table
from homonym.records.reader import read_documents

DOCUMENTS = pa.table(
    {
        "id": [f"W{number}" for number in range(40)],
        "title": [f"On wells {number}" for number in range(40)],
        "authors": [["Doe, Jane", "Roe, Amy"]] * 40,
        "year": list(range(1980, 2020)),
    }
)

# Reads every damaged copy of a file, and fails if anything but an InputError comes out.
FUZZ = """
import random, sys
from pathlib import Path
from homonym.errors import InputError
from homonym.records.reader import read_documents
from homonym.io.tables import open_table
copies, paths = int(sys.argv[1]), [Path(path) for path in sys.argv[2:]]
dice = random.Random(7)
for path in paths * copies:
    place, damaged = path.with_name("damaged"), bytearray(path.read_bytes())
    for _ in range(dice.choice([1, 1, 2, 8])):
        damaged[dice.randrange(len(damaged))] = dice.randrange(256)
    if dice.random() < 0.1:
        del damaged[dice.randrange(len(damaged)):]
    place.write_bytes(damaged)
    try:
        for _ in read_documents(place):
            pass
    except InputError:
        pass
    try:
        with open_table(place, "id") as table:
            for batch in table.batches(["id", "authors"]):
                batch.to_pylist()
    except InputError:
        pass
"""


def zstd(content: bytes) -> bytes:
    return bytes(pa.compress(content, "zstd", asbytes=True))


def stored(path: Path, kind: str) -> Path:
    if kind == "parquet":
        pq.write_table(DOCUMENTS, path, row_group_size=10)
    elif kind.startswith("arrow"):
        options = pa.ipc.IpcWriteOptions(compression=kind.partition(" ")[2] or None)
        with pa.ipc.new_file(path, DOCUMENTS.schema, options=options) as writer:
            writer.write_table(DOCUMENTS, max_chunksize=10)
    else:
        text = "".join(f'{{"id": "W{n}", "authors": [{{"name": "Doe, J"}}]}}\n' for n in range(200)).encode()
        compress: dict[str, Callable[[bytes], bytes]] = {
            "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd
        }  # fmt: skip
        path.write_bytes(compress[kind](text))
    return path


KINDS = ["parquet", "arrow", "arrow zstd", "arrow lz4", "gz", "bz2", "xz", "zst"]


@pytest.mark.slow
def test_changed_bytes_give_input_errors_and_no_crash(tmp_path: Path) -> None:
    paths = [stored(tmp_path / kind, kind) for kind in KINDS]
    command = [sys.executable, "-c", FUZZ, "150", *map(str, paths)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr[-2000:]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_every_row_of_a_damaged_part_is_rejected(tmp_path: Path, kind: str) -> None:
    path = stored(tmp_path / "table", kind)
    content = bytearray(path.read_bytes())
    if kind == "parquet":
        place = pq.read_metadata(path).row_group(1).column(1).dictionary_page_offset
    else:
        place = content.rindex(b"On wells 10") - 64  # the offsets of the second record batch
    content[place : place + 40] = b"\xee" * 40
    path.write_bytes(content)
    found = list(read_documents(path, "table"))
    lost = [problem for _, _, problems in found for problem in problems if problem.lost == "record"]
    assert len(lost) + sum(document is not None for _, document, _ in found) == 40
    assert [problem.line for problem in lost] == list(range(11, 21))
    assert "cannot be read" in lost[0].reason
    assert "10 rows are lost" in lost[0].reason


def test_bad_offsets_do_not_crash(tmp_path: Path) -> None:
    offsets = np.array([0, 5, 1 << 30, 7], np.int32)
    broken = pa.StringArray.from_buffers(3, pa.py_buffer(offsets), pa.py_buffer(b"Doe, J Roe, A"))
    table = pa.RecordBatch.from_arrays([pa.array(["1", "2", "3"]), broken], names=["id", "authors"])
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_batch(table)
    code = "import sys\nfrom pathlib import Path\nfrom homonym.records.reader import read_documents\n"
    code += "for _, document, problems in read_documents(Path(sys.argv[1]), 'table'): print(document, problems)"
    found = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "t.arrow")], capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 0, found.stderr
    assert "record batch 1 cannot be read" in found.stdout
    with pytest.raises(InputError, match="cannot be read"), open_table(tmp_path / "t.arrow", "id") as opened:
        list(opened.batches(["id", "authors"]))


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_decompressed_size_is_that_of_all_buffers(tmp_path: Path, compression: str | None) -> None:
    table = pa.table({"a": ["x" * 900] * 5000, "b": pa.array(["y", "z"] * 2500).dictionary_encode()})
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(tmp_path / "t", table.schema, options=options) as writer:
        writer.write_table(table)
    assert read_layout(str(tmp_path / "t")).size == table.get_total_buffer_size()


def write_compressed_bomb(path: Path) -> None:
    table = pa.table({"id": ["1"] * 1000, "authors": ["Doe, J; " * 5000] * 1000})
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)


def test_compressed_arrow_bomb_is_refused_before_it_is_decompressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_compressed_bomb(tmp_path / "bomb")
    monkeypatch.setattr(inputs, "UNCHECKED_BYTES", 1 << 20)
    with pytest.raises(InputError, match="decompresses to more than 2,000 times its size"):
        list(read_documents(tmp_path / "bomb", "table"))


def test_arrow_bomb_with_another_stream_than_its_footer_says_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_compressed_bomb(tmp_path / "bomb")
    content = bytearray((tmp_path / "bomb").read_bytes())
    content[8:16] = b"\xff" * 4 + b"\0" * 4  # the mark of the end of a stream, which Arrow does not read
    (tmp_path / "bomb").write_bytes(content)
    assert read_layout(str(tmp_path / "bomb")).size > 40_000_000
    monkeypatch.setattr(inputs, "UNCHECKED_BYTES", 1 << 20)
    with pytest.raises(InputError, match="decompresses to more than 2,000 times its size"):
        list(read_documents(tmp_path / "bomb", "table"))


def shared(rows: int, value: str) -> pa.Array:
    """A column whose rows all refer to one value."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), [value])


def noise(length: int) -> str:
    return "".join(map(chr, np.random.default_rng(1).integers(33, 127, length).tolist()))


def parquet_bomb(path: Path, kind: str) -> Path:
    """A few bytes for 100,000 rows that all refer to one value of 1 MiB."""
    rows, length = 100_000, 1 << 20
    value = "Doe, J; " * (length // 8) if kind.startswith("repeated") else noise(length)
    columns = {"id": shared(rows, "1"), "authors": shared(rows, value)}
    if kind == "repeated, with noise":
        columns["title"] = pa.array([noise(1 << 22)] + [""] * (rows - 1))
    pq.write_table(pa.table(columns), path, compression="zstd", store_schema=kind == "schema", row_group_size=rows)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["repeated", "repeated, with noise", "noise", "schema", "arrow"])
def test_bomb_of_shared_values_is_refused_in_bounded_memory(tmp_path: Path, kind: str) -> None:
    bomb = tmp_path / "bomb"
    if kind == "arrow":
        table = pa.table({"id": shared(100_000, "1"), "authors": shared(100_000, noise(1 << 20))})
        with pa.ipc.new_file(bomb, table.schema) as writer:
            writer.write_table(table)
    else:
        parquet_bomb(bomb, kind)
    code = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from pathlib import Path
from homonym.errors import InputError
from homonym.io.tables import open_table
with open_table(Path(sys.argv[1]), "id") as table:
    try:
        for batch in table.batches(["id", "authors"]):
            pass
    except InputError as error:
        print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""
    found = subprocess.run([sys.executable, "-c", code, str(bomb)], capture_output=True, text=True, timeout=300)
    sentence, peak = found.stdout.splitlines()
    assert "decompresses to more than 2,000 times its size" in sentence
    assert int(peak) < 2000


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_first_column_with_a_value_counts_of_those_with_the_same_name(tmp_path: Path, kind: str) -> None:
    table = pa.Table.from_arrays(
        [pa.array(["1", "2"]), pa.array(["Doe, J", None]), pa.array(["", "Roe, A"])], names=["id", "authors", "authors"]
    )
    path = tmp_path / "t"
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    found = [document for _, document, _ in read_documents(path, "table") if document]
    assert [author.name for document in found for author in document.authors] == ["Doe, J", "Roe, A"]


def test_field_behind_the_end_of_the_list_of_places_is_absent() -> None:
    # A list of places with one field, which is 4 bytes behind the beginning of the table at place 6.
    table = memoryview(struct.pack("<HHHiI", 6, 8, 4, 6, 7))
    assert [_field(table, 6, number) for number in range(3)] == [10, 0, 0]
