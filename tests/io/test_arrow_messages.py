"""The layout of Arrow files, read without Arrow: the same rows and sizes as Arrow's own, and no crash on damage."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homonym.io.arrow_messages import read_layout
from tests.support.profiles import examples

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("text", pa.string()),
        ("words", pa.list_(pa.string())),
        ("kind", pa.dictionary(pa.int32(), pa.string())),
    ]
)


def batch(rows: int, start: int = 0) -> pa.RecordBatch:
    columns = {
        "id": [*range(start, start + rows)],
        "text": [None if number % 3 == 0 else "x" * (number % 50) for number in range(rows)],
        "words": [["word"] * (number % 4) for number in range(rows)],
        "kind": pa.DictionaryArray.from_arrays(
            pa.array([number % 2 for number in range(rows)], pa.int32()), ["a", "b"]
        ),
    }
    return pa.RecordBatch.from_pydict(columns, schema=SCHEMA)


def written(path: Path, sizes: list[int], compression: str | None = None) -> list[pa.RecordBatch]:
    batches = [batch(size, number) for number, size in enumerate(sizes)]
    with pa.ipc.new_file(path, SCHEMA, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        for one in batches:
            writer.write_batch(one)
    return batches


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("sizes", [[], [0], [1], [7, 0, 300], [5000, 1, 5000]])
def test_rows_and_sizes_are_those_that_arrow_finds(tmp_path: Path, sizes: list[int], compression: str | None) -> None:
    written(tmp_path / "t", sizes, compression)
    found = read_layout(str(tmp_path / "t"))
    assert found.rows == sizes
    with pa.memory_map(str(tmp_path / "t")) as stream, pa.ipc.open_file(stream) as reader:
        batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        arrays = [array for one in batches for array in one.columns]
        buffers = {buffer.address: buffer.size for array in arrays for buffer in array.buffers() if buffer}
        dictionaries = [one["kind"].dictionary for one in batches[:1]]
        buffers |= {buffer.address: buffer.size for one in dictionaries for buffer in one.buffers() if buffer}
        if compression is None:
            assert found.size == sum(buffers.values())
        else:
            assert found.size == read_size_of(tmp_path, sizes)


def read_size_of(folder: Path, sizes: list[int]) -> int:
    """The size of the same batches without compression."""
    written(folder / "plain", sizes)
    return read_layout(str(folder / "plain")).size


def test_a_damaged_batch_does_not_hide_the_others(tmp_path: Path) -> None:
    written(tmp_path / "t", [10, 20, 30])
    content = (tmp_path / "t").read_bytes()
    mark = b"\xff" * 4  # before each message: schema, dictionary, batches
    place = content.index(mark, content.index(mark, content.index(mark, content.index(mark) + 4) + 4) + 4)
    damaged = content[: place + 4] + b"\xff" * 4 + content[place + 8 :]  # the length of the message
    (tmp_path / "t").write_bytes(damaged)
    assert read_layout(str(tmp_path / "t")).rows == [10, None, 30]


@pytest.mark.parametrize(("offset", "length"), [(-1, None), (None, 0), (None, -1)])
def test_impossible_places_of_batches_are_damage_of_the_footer(
    tmp_path: Path, offset: int | None, length: int | None
) -> None:
    written(tmp_path / "t", [10, 20])
    content = (tmp_path / "t").read_bytes()
    mark = b"\xff" * 4  # before each message: schema, dictionary, batches
    place = content.index(mark, content.index(mark, content.index(mark) + 4) + 4)
    block = content.rindex(struct.pack("<q", place))  # with the length of the metadata
    found = struct.unpack_from("<qi", content, block)
    new = struct.pack("<qi", found[0] if offset is None else offset, found[1] if length is None else length)
    (tmp_path / "t").write_bytes(content[:block] + new + content[block + len(new) :])
    with pytest.raises(pa.ArrowInvalid, match="its footer or a dictionary is damaged"):
        read_layout(str(tmp_path / "t"))


@pytest.mark.parametrize("kept", [0, 6, 9, 10, 100, -1, -10, -11])
def test_a_file_that_was_cut_is_damaged(tmp_path: Path, kept: int) -> None:
    written(tmp_path / "t", [10, 20])
    content = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(content[:kept])
    with pytest.raises(pa.ArrowInvalid, match="its footer or a dictionary is damaged"):
        read_layout(str(tmp_path / "t"))


@settings(max_examples=examples(500))
@given(place=st.integers(0, 10_000), value=st.integers(0, 255), compression=st.sampled_from([None, "zstd"]))
def test_any_changed_byte_gives_a_layout_or_an_error_of_arrow(place: int, value: int, compression: str | None) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "t")
        written(path, [10, 20], compression)
        content = bytearray(path.read_bytes())
        content[-1 - place % len(content)] = value
        path.write_bytes(content)
        with suppress(pa.ArrowInvalid):  # damage in the footer or a dictionary
            found = read_layout(str(path))
            assert all(rows is None or isinstance(rows, int) for rows in found.rows)
