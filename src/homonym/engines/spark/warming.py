"""The kernel compiled once on each machine: whoever comes first compiles, the others wait and use what it kept."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np

from homonym.clustering.constraints import Constraints
from homonym.clustering.merging import Bags, Frequencies, cluster
from homonym.settings import Settings


@cache
def warm_up() -> None:
    """Have the kernel compiled, unless a process of this machine has done so; while one is at it, wait."""
    try:
        import fcntl

        note = _note()
    except (ImportError, OSError):
        return  # then each process compiles for itself, when its turn comes
    with note:
        fcntl.flock(note, fcntl.LOCK_EX)
        note.seek(0)
        if not note.read(1):
            _cluster_something()
            note.write(b"compiled\n")


def _note() -> IO[bytes]:
    """The file that says whether this source was compiled here; it belongs to this user and this Python."""
    source = getattr(sys, "homonym_source", "")[:16]
    name = f"homonym-compiled-{os.getuid()}-{source}-{sys.version_info.major}{sys.version_info.minor}"
    return Path(tempfile.gettempdir(), name).open("a+b")


def _cluster_something() -> None:
    """Two mentions that share a feature, as free ones and as rivals: what tasks call is compiled for that."""
    bags = Bags(np.array([0, 2]), np.array([0, 1, 2]), np.zeros(2, np.int32), np.ones(2))
    frequencies = Frequencies(("term",), np.array([0, 1]), np.array([2.0]), np.array([2.0]), 2)
    group, profile, rival = (np.array(values, np.int32) for values in ([0, 1], [0, 1], [1, 0]))
    for constraints in (None, Constraints(group, profile, np.array([0, 1, 2]), rival)):
        cluster(bags, frequencies, Settings(), constraints=constraints, margins=True)
