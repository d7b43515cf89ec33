"""Functions on their way to the workers, which need not have homonym: its source travels with each of them.

A worker that has the very same source installed uses that. Else the source is unpacked once on each machine, where the
compiled kernel is kept beside it, so that not every task compiles it anew.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

Batches = Iterator[pa.RecordBatch]

#: Files of the package that workers need; what is compiled is not among them.
SUFFIXES = frozenset({".py", ".json", ".txt", ".csv", ".toml", ".typed"})


def shipped(task: str, **arguments: Any) -> Callable[[Batches], Batches]:
    """A function for `mapInArrow` that calls `module:function` of homonym on a worker, with these arguments."""
    source, digest = packed_source()
    module, _, name = task.partition(":")
    # Pickled here and not by Spark: a worker cannot read them before it has the source.
    pickled = pickle.dumps(arguments)

    def run(batches: Batches) -> Batches:
        # All by itself: Spark sends this function as it stands, without the module around it.
        import hashlib
        import importlib
        import importlib.util
        import io
        import os
        import pickle
        import shutil
        import sys
        import tempfile
        import zipfile

        def digest_of(folder: str) -> str:
            made = hashlib.sha256()
            with zipfile.ZipFile(io.BytesIO(source)) as archive:
                for member in archive.namelist():
                    try:
                        with open(os.path.join(folder, member), "rb") as stream:
                            content = stream.read()
                    except OSError:
                        return ""
                    made.update(f"{member} {len(content)}\n".encode() + content)
            return made.hexdigest()

        def unpacked() -> str:
            owner = os.getuid() if hasattr(os, "getuid") else 0
            place = os.path.join(tempfile.gettempdir(), f"homonym-source-{owner}-{digest[:16]}")
            if digest_of(place) != digest:
                fresh = tempfile.mkdtemp(prefix="homonym-source-")
                with zipfile.ZipFile(io.BytesIO(source)) as archive:
                    archive.extractall(fresh)
                try:
                    os.rename(fresh, place)
                except OSError:
                    if digest_of(place) != digest:
                        return fresh  # what is at that place is not ours to use
                    shutil.rmtree(fresh, ignore_errors=True)
            return place

        def find_source() -> None:
            loaded = sys.modules.get("homonym")
            found = loaded.__spec__ if loaded else importlib.util.find_spec("homonym")
            installed = os.path.dirname(os.path.dirname(found.origin)) if found and found.origin else ""
            if installed and digest_of(installed) == digest:
                return
            for module in [known for known in sys.modules if known.partition(".")[0] == "homonym"]:
                del sys.modules[module]
            sys.path.insert(0, unpacked())

        if getattr(sys, "homonym_source", None) != digest:
            find_source()
            sys.homonym_source = digest  # type: ignore[attr-defined]
        yield from getattr(importlib.import_module(module), name)(batches, **pickle.loads(pickled))

    return run


@cache
def packed_source() -> tuple[bytes, str]:
    """The package as a ZIP file, the same for the same source, and a digest of what is in it."""
    root = Path(__file__).parents[3]
    made, packed = hashlib.sha256(), io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((root / "homonym").rglob("*")):
            if path.suffix in SUFFIXES and "__pycache__" not in path.parts:
                member, content = path.relative_to(root).as_posix(), path.read_bytes()
                archive.writestr(zipfile.ZipInfo(member), content, zipfile.ZIP_DEFLATED)
                made.update(f"{member} {len(content)}\n".encode() + content)
    return packed.getvalue(), made.hexdigest()
