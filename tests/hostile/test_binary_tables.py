"""Damaged and hostile Parquet, Arrow and compressed files: one sentence, never a signal, a traceback or all memory."""

from __future__ import annotations

import bz2
import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from homonym.errors import InputError
from homonym.io import inputs
from homonym.io.arrow_messages import decompressed_size
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
path, copies = Path(sys.argv[1]), int(sys.argv[2])
content, place = path.read_bytes(), path.with_name("damaged")
dice = random.Random(7)
for copy in range(copies):
    damaged = bytearray(content)
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


def stored(path: Path, kind: str) -> Path:
    if kind == "parquet":
        pq.write_table(DOCUMENTS, path, row_group_size=10)
    elif kind.startswith("arrow"):
        options = pa.ipc.IpcWriteOptions(compression=kind.partition(" ")[2] or None)
        with pa.ipc.new_file(path, DOCUMENTS.schema, options=options) as writer:
            writer.write_table(DOCUMENTS, max_chunksize=10)
    else:
        text = "".join(f'{{"id": "W{n}", "authors": [{{"name": "Doe, J"}}]}}\n' for n in range(200)).encode()
        zstd = pa.compress(text, "zstd", asbytes=True)
        path.write_bytes({"gz": gzip.compress(text), "bz2": bz2.compress(text), "zst": zstd}[kind])
    return path


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrow zstd", "arrow lz4", "gz", "bz2", "zst"])
def test_changed_bytes_give_input_errors_and_no_crash(tmp_path: Path, kind: str) -> None:
    path = stored(tmp_path / "table", kind)
    command = [sys.executable, "-c", FUZZ, str(path), "150"]
    found = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr[-2000:]


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
    assert decompressed_size(str(tmp_path / "t")) == table.get_total_buffer_size()


def test_compressed_arrow_bomb_is_refused_before_it_is_decompressed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pa.table({"id": ["1"] * 1000, "authors": ["Doe, J; " * 5000] * 1000})
    with pa.ipc.new_file(tmp_path / "bomb", table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    monkeypatch.setattr(inputs, "UNCHECKED_BYTES", 1 << 20)
    with pytest.raises(InputError, match="decompresses to more than 2,000 times its size"):
        list(read_documents(tmp_path / "bomb", "table"))


def parquet_bomb(path: Path, rows: int, length: int) -> Path:
    """A few bytes for many rows that all refer to one long value."""
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), ["Doe, J; " * (length // 8)])
    ids = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), ["1"])
    table = pa.table({"id": ids, "authors": column})
    pq.write_table(table, path, compression="zstd", store_schema=False, row_group_size=rows)
    return path


def test_parquet_bomb_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    bomb = parquet_bomb(tmp_path / "bomb", 100_000, 1 << 20)  # 100 GB
    code = """
import resource, sys
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
    assert int(peak) < 1500


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
