"""An encoded collection that stays on disk: what is in memory is written beside the files that it has there anyway."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.merging import Frequencies
from homonym.collection.encoded import Encoded

Stored = dict[str, Any]
"""Where a value is, or what it is: one entry, named by its kind."""


def save(encoded: Encoded, work: Path) -> tuple[Stored, list[str]]:
    """Store a collection; gives what `load` needs, to be kept as JSON, and the files that it is made of."""
    files: list[str] = []
    return {"encoded": _saved_fields(encoded, work, "", files)}, files


def load(stored: Stored, work: Path) -> Encoded:
    """A collection as it was saved."""
    values = {name: _loaded(value, work) for name, value in stored["encoded"].items()}
    return Encoded(**values)


def _saved_fields(value: Any, work: Path, prefix: str, files: list[str]) -> Stored:
    return {field.name: _saved(getattr(value, field.name), work, prefix + field.name, files) for field in fields(value)}


def _saved(value: Any, work: Path, name: str, files: list[str]) -> Stored:
    if isinstance(value, Frequencies):
        return {"frequencies": _saved_fields(value, work, f"{name}.", files)}
    if isinstance(value, Path):
        files.append(str(value.relative_to(work)))
        return {"path": files[-1]}
    if isinstance(value, np.ndarray):
        if (mapped := _file_of(value, work)) is not None:
            files.append(mapped)
            return {"mapped": mapped, "dtype": value.dtype.str}
        files.append(f"{name}.npy")
        np.save(work / files[-1], value, allow_pickle=False)
        return {"array": files[-1]}
    if isinstance(value, tuple):
        return {"tuple": list(value)}
    return {"value": value}


def _file_of(array: NDArray[Any], work: Path) -> str | None:
    """The file that is this array, byte by byte; None for an array that is a part of one, or in memory."""
    if not isinstance(array, np.memmap) or array.filename is None or array.offset != 0 or array.ndim != 1:
        return None
    path = Path(array.filename)
    whole = array.flags.c_contiguous and path.stat().st_size == array.nbytes and path.is_relative_to(work.resolve())
    return str(path.relative_to(work.resolve())) if whole else None


def _loaded(stored: Stored, work: Path) -> Any:
    ((kind, value), *more) = stored.items()
    if kind == "frequencies":
        return Frequencies(**{name: _loaded(part, work) for name, part in value.items()})
    if kind == "path":
        return work / value
    if kind == "mapped":
        return np.memmap(work / value, np.dtype(more[0][1]), "r")
    if kind == "array":
        return np.load(work / value, allow_pickle=False)
    return tuple(value) if kind == "tuple" else value
