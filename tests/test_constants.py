"""Constants have the values that were chosen for them: by measurements, by labels, or by the definition of a format.

Changing one changes results, speed, or what is accepted; so it is changed here, too.
"""

from __future__ import annotations

import os
from importlib import import_module

import pytest

CONSTANTS: dict[str, dict[str, object]] = {
    "names.parse": {"MAX_CACHED_NAMES": 131_072},
    "names.compatibility": {
        "SHORTEST_PREFIX": 3, "_SHORTEST_SLIP": 6, "_MOST_JOINED": 4, "_MOST_SILENT": 2, "MAX_NAMES": 10
    },
    "constraints.across_blocks": {"MAX_BLOCKS": 20, "LISTED_MENTIONS": 100, "LONG_WORD": 6, "COMPARED_NAMES": 50},
    "constraints.incompatible_names": {"STRIPE": 256, "FEW_NAMES": 20, "SMALL_BLOCK_PAIRS": 4_194_304},
    "constraints.known_authors": {"JOINED_SHARE": 0.3},
    "constraints.must_link": {"_COMPARED_NAMES": 200},
    "constraints.name_prior": {"FLOOR": 0.0001, "MANY_PAIRS": 1000, "SAME_MIDDLE": 0.08, "VARYING_MIDDLE": 0.1},
    "measures.bootstrap": {
        "RESAMPLES": 1000, "MAX_UNITS": 10_000, "RESAMPLES_PER_BATCH": 100, "LARGEST_SHOWN": 10
    },
    "measures.methods": {"SWEPT_MENTIONS": 2000, "MIN_BATCHES": 16},
    "clustering.reference": {"TIE": 1e-9, "ROUNDING": 1e-12},
    "io.inputs": {
        "HEAD_BYTES": 65_536, "BLOCK_BYTES": 1_048_576, "MAX_RECORD_BYTES": 67_108_864, "KEPT_BYTES": 1000,
        "MAX_COMPRESSION_RATIO": 2000, "UNCHECKED_BYTES": 1_073_741_824,
        "TOO_LONG": "longer than 64 MiB, the maximum length of a record",
    },
    "io.outputs": {"_ADDED_TO_NAMES": 45},
    "io.result_directory": {
        "BUSY_SECONDS": 30, "MAGIC": b"homonym result, format ", "FORMATS": (b"1\n", b"2\n", b"3\n"),
    },
    "io.row_groups": {
        "MAGIC": b"PAR1", "_STOP": 0, "_TRUE": 1, "_FALSE": 2, "_BYTE": 3, "_DOUBLE": 7, "_BINARY": 8, "_LIST": 9,
        "_SET": 10, "_STRUCT": 12, "_INTEGERS": {4, 5, 6}, "_SCHEMA": 2, "_FILE_ROWS": 3, "_GROUPS": 4, "_COLUMNS": 1,
        "_GROUP_ROWS": 3, "_GROUP_PLACE": 5, "_GROUP_SIZE": 6, "_COLUMN_PLACE": 2, "_CONTENT": 3, "_DATA_PAGE": 9,
        "_INDEX_PAGE": 10, "_DICTIONARY_PAGE": 11, "_BLOOM_FILTER": 14,
    },
    "io.arrow_messages": {
        "_DICTIONARIES": 2, "_RECORD_BATCHES": 3, "_HEADER_TYPE": 1, "_HEADER": 2, "_DATA": 1, "_LENGTH": 0,
        "_BUFFERS": 2, "_COMPRESSION": 3, "_DICTIONARY_BATCH": 2, "_RECORD_BATCH": 3,
    },
    "io.special_files": {"PATIENCE": 30, "NO_LINK": os.O_NONBLOCK | os.O_NOFOLLOW},
    "io.table_text": {"MAX_DEPTH": 50},
    "io.tables": {
        "ROW_GROUP": 65_536, "BATCH_ROWS": 1_048_576, "BATCH_BYTES": 67_108_864, "SMALL_BATCH_ROWS": 1024,
        "_LINES_TO_DETECT": 100, "_PIECE_BYTES": 268_435_456, "_FEW_ROWS": 16, "_USUAL_BYTES": 268_435_456,
        "_LIST_BYTES": 2_147_483_648, "LOOKED_UP_BYTES": 8_388_608,
    },
    "io.xlsx": {
        "MAX_ROWS": 1_048_576, "MAX_COLUMNS": 16_384, "MAX_SHARED_BYTES": 134_217_728, "MAX_PART_BYTES": 16_777_216,
        "MAX_ROW_CHARACTERS": 67_108_864, "MAX_MERGED": 100_000, "MAX_DEPTH": 64, "MAX_ELEMENTS": 200_000,
        "_FIRST_ROWS": 20, "_BLOCK": 65_536, "_LAST_DAY": 2_958_465,
        "_DATE_FORMATS": {str(one) for one in [14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 50, 51, 52,
                                               53, 54, 55, 56, 57, 58]},
    },
    "io.zip_files": {
        "MAX_MEMBERS": 10_000, "MAX_LIST_BYTES": 16_777_216, "_END_BYTES": 22, "_LOCATOR_BYTES": 20,
        "_END_64_BYTES": 56, "_LONGEST_END": 65_557,
    },
    "io.archives": {"_ENCRYPTED": 1},
    "runtime.work_directory": {
        "MAGIC": b"homonym work directory, format 1\n", "PATIENCE": 60, "WORTH_KEEPING": 67_108_864
    },
    "engines.local_checkpoints": {"ROUND_SECONDS": 60, "ROUND_SHARE": 30},
}  # fmt: skip


@pytest.mark.parametrize("module", CONSTANTS)
def test_constants(module: str) -> None:
    found = vars(import_module(f"homonym.{module}"))
    assert {name: found[name] for name in CONSTANTS[module]} == CONSTANTS[module]
