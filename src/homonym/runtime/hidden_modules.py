"""Libraries that others import though nothing here uses them: they take a third of a second each.

pyarrow imports pandas, where it is installed, to recognise its objects.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType


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
def hidden_modules(*names: str) -> Iterator[None]:
    """Libraries that are not imported yet cannot be imported meanwhile; later imports work as before."""
    finder = _Hidden(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def leave_out_pandas() -> None:
    """Let pyarrow look for pandas now, and find none."""
    with hidden_modules("pandas"):
        import pyarrow as pa

        pa.array([0])
