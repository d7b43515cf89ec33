"""Libraries that others import though a command has no use for them: they take half a second.

pyarrow imports pandas, where it is installed, to recognise its objects; a command has none. numba imports scipy to
compile products of matrices, which our kernels do not have. Only `explain` on the command line leaves them out: in a
Python session, users may need both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType


def leave_out_pandas_and_scipy() -> None:
    """Let pyarrow and numba look for pandas and scipy now, and find none. Explicit imports work as before."""
    with _not_found("pandas", "scipy"):
        import pyarrow as pa

        from homonym.clustering.compiling import load_compiler

        pa.array([0])
        load_compiler()


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
def _not_found(*names: str) -> Iterator[None]:
    """Libraries that are not imported yet cannot be imported meanwhile."""
    finder = _Hidden(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
