"""The files that homonym writes to a work directory, by name: only these are ever removed.

Whatever else is in the directory belongs to another program and stays. Symbolic links are never followed: where one has
a name of ours, only the link is removed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from homonym.errors import OutputError

Names = Mapping[str, Any]
"""Patterns of names in a folder; a pattern maps to None for a file, and to the names inside for a folder."""

# Unfinished files of atomic writes: see `write_file` and `atomic_path`.
UNFINISHED: Names = {r"\.\d+-\d+\..+\.partial": None, r"\.\d+(-\w+)?\.partial\..+": None}

_PARTS: Names = {
    "(features|bags|mentions|records|keys|references|identifiers|documents)": {r"\d{15}\.parquet": None},
    "converted": {r"\d{15}\.jsonl": None},
}
_ENCODED: Names = {
    r"(mentions|identifiers|vocabulary|documents|names|cited|references)\.parquet": None,
    r"feature\.bin|count\.(bin|codes)": None,
    r"(block_start|mention_owner|own_name|own_full_name|owners|starts|feature|count|value)\.npy": None,
    r"frequencies\.(mass|total|type_start)\.npy": None,
    r"statistics\.(csv|csv\.gz|parquet|collection\.json)": None,
}
# The bags and statistics of a result directory.
_STORED: Names = {
    "stored": {r"(bags|statistics|names)\.parquet|statistics\.collection\.json": None, **UNFINISHED},
}
_LOSSES: Names = {r"losses\.parquet": None}
_ROUNDS: Names = {r"rounds-\d{12}-[01]\.npz": None}
_DATABASE: Names = {
    r"(collection|given|statistics)\.duckdb(\.wal(\.\w+)?|\.tmp)?": None,
    "spill": {"duckdb_temp_.*": None},
}
# Spark writes a table as a folder of files, perhaps with a folder for each value of a column.
_SPARK_TABLE: dict[str, Any] = {r"\.?(part-|_(SUCCESS|metadata|common_metadata|started|committed)).*": None}
_SPARK_TABLE[r"_temporary|\w+=.*|\d+|task_.*|attempt_.*"] = _SPARK_TABLE
_SPARK: Names = {
    "found|united|read|merged|amended|blocks|given|vocabulary|with_background|encoded": _SPARK_TABLE,
    "document_rows|author_numbers|document_numbers": _SPARK_TABLE,
    "duplicates": {r"\w+-\d+": _SPARK_TABLE},
    **_ENCODED,
    **_DATABASE,
}

# What an update of a result works with: tables in folders, and the work directory of a run on all documents.
_UPDATE: dict[str, Any] = {r".+\.(parquet|jsonl?|csv|html|toml|npy|bin)|homonym-result|lock": None}
_UPDATE[r"[^.]+"] = _UPDATE

# A table of authors, written by Spark to a directory that the user names.
_SPARK_RESULT: Names = {
    r"\.?part-\d+.*\.parquet(\.crc)?|\.?_(SUCCESS|metadata|common_metadata|started|committed).*": None,
    "_temporary": _SPARK_TABLE,
}

# The groups of names that are removed during a run, and the two files that make a directory one of ours.
GROUPS: dict[str, Names] = {
    "unfinished": {
        "writing": {r"\d+": _PARTS},
        **UNFINISHED,
        "done": {**UNFINISHED, "read": UNFINISHED, "rounds": UNFINISHED},
    },
    "encoded": _ENCODED,
    "stored": _STORED,
    "losses": _LOSSES,
    "rounds": {**_ROUNDS, "done": {"rounds": {r"\d{12}\.json": None, **UNFINISHED}}},
    "database": _DATABASE,
    "spark": {"spark": _SPARK},
}
MARKER, LOCK = "homonym-work-directory", "lock"
ALL: Names = {
    **_PARTS, **_ENCODED, **_STORED, **_LOSSES, **_ROUNDS, **_DATABASE, **GROUPS["unfinished"], **GROUPS["spark"],
    "done": {r"encoded\.json": None, **UNFINISHED, "(read|rounds)": {r"\d+\.json": None, **UNFINISHED}},
    "update": _UPDATE, r"run\.json": None, LOCK: None, MARKER: None,
}  # fmt: skip
_UPDATE[r"\.\w+\.work"] = ALL


def remove_own(folder: Path, names: Names, *, keep: frozenset[str] = frozenset()) -> None:
    """Remove the files with these names, and the folders that are empty then; `keep` has names that stay."""
    for entry, inside in _own(folder, names):
        if entry.name in keep:
            continue
        if entry.is_dir(follow_symlinks=False):
            if inside is not None:
                remove_own(Path(entry.path), inside)
                with suppress(OSError):  # it has files of another program
                    os.rmdir(entry.path)
        elif inside is None or entry.is_symlink():
            Path(entry.path).unlink(missing_ok=True)


def require_own(folder: Path, names: Names = ALL) -> None:
    """Make sure that each name of ours is free or a file or folder, as it should be, and no link to another place.

    Links and special files are removed; a folder in place of a file is removed if it is empty.
    """
    for entry, inside in _own(folder, names):
        if entry.is_symlink():
            os.unlink(entry.path)
        elif inside is None and entry.is_dir():
            with suppress(OSError):
                os.rmdir(entry.path)
                continue
            raise OutputError(f"{entry.path} is a directory, but homonym keeps a file of that name; move it away.")
        elif inside is None and not entry.is_file():
            os.unlink(entry.path)
        elif inside is not None and not entry.is_dir():
            raise OutputError(f"{entry.path} is a file, but homonym keeps a directory of that name; move it away.")
        elif inside is not None:
            require_own(Path(entry.path), inside)


def require_spark_table(folder: Path) -> None:
    """Fail if a directory has anything but the files of a table that Spark wrote: Spark removes all that is in it."""
    own = {entry.name for entry, _ in _own(folder, _SPARK_RESULT)}
    if foreign := sorted(set(os.listdir(folder)) - own if os.path.isdir(folder) else ()):
        raise OutputError(
            f"{folder} has files that Spark did not write ({', '.join(foreign[:3])}) and would remove; "
            "name a new or empty directory for the output."
        )


def _own(folder: Path, names: Names) -> Iterator[tuple[os.DirEntry[str], Names | None]]:
    """The entries of a folder that have one of these names, each with the names inside it."""
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except FileNotFoundError:
        return
    for entry in entries:
        for pattern, inside in names.items():
            if re.fullmatch(pattern, entry.name):
                yield entry, inside
                break
