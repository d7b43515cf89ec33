"""Libraries that others import though a command has no use for them: they take half a second.

pyarrow imports pandas, where it is installed, to recognise its objects; commands and worker processes have none. numba
imports scipy to compile products of matrices, which our kernels do not have. In a Python session, users may need both,
so only commands and worker processes leave them out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType

_left_out = False


def leave_out_pandas_and_scipy() -> None:
    """Let pyarrow look for pandas now, and numba for scipy when it is imported, and find none.

    Explicit imports work as before.
    """
    global _left_out
    _left_out = True
    with not_found("pandas"):
        import pyarrow as pa

        pa.array([0])


def scipy_is_left_out() -> bool:
    """Whether numba must be imported without scipy."""
    return _left_out


class _Hidden:
    """A finder that does not let some libraries be found."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = frozenset(names)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in self._names:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)
        return None


@contextmanager
def not_found(*names: str) -> Iterator[None]:
    """Libraries that are not imported yet cannot be imported meanwhile."""
    finder = _Hidden(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
