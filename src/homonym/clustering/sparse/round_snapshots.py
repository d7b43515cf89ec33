"""The state of a giant block between two rounds, as named arrays, so that an interrupted run can resume from there.

A snapshot has everything that later rounds depend on, cached rows and partner lists included. So a resumed block ends
with the same result as an uninterrupted one, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from homonym.clustering.arrays import Constraints
from homonym.clustering.sparse.inverted_index import Block
from homonym.runtime.checkpoints import digest

Arrays = Mapping[str, NDArray[Any]]


class RoundStore(Protocol):
    """Keeps the last snapshot of one giant block; `key` is a digest of all that its rounds depend on."""

    def load(self, key: str) -> Arrays | None:
        """The last snapshot with this key, None if there is none."""

    def is_due(self) -> bool:
        """Whether enough time has passed for another snapshot."""

    def save(self, key: str, arrays: Arrays) -> None:
        """Replace the last snapshot."""


class Snapshot(NamedTuple):
    """What changes from round to round; `numbers` are the single ones.

    These are the number of clusters, of merges, of rounds of the row cache, of rounds, and of rounds until convergence.
    """

    index: Any
    items: Any
    members: Any
    clusters: Any
    cached: Any
    last_used: Any
    partners: Any
    smallest: Any
    new: Any
    merges: Any
    label: Any
    numbers: Any


def named_arrays(value: Any, name: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """All arrays of nested NamedTuples, by the path of their fields.

    >>> [name for name, _ in named_arrays(Constraints(*(np.zeros(1),) * 4), "links")][:2]
    ['links.group', 'links.profile']
    """
    if isinstance(value, np.ndarray):
        yield name, value
    else:
        for field in value._fields:
            yield from named_arrays(getattr(value, field), f"{name}.{field}" if name else field)


def with_arrays(like: Any, arrays: Arrays, name: str = "") -> Any:
    """NamedTuples nested like the given ones, with other arrays."""
    if isinstance(like, np.ndarray):
        return arrays[name]
    parts = (with_arrays(getattr(like, field), arrays, f"{name}.{field}" if name else field) for field in like._fields)
    return type(like)(*parts)


def content_key(block: Block, constraints: Constraints | None, limit: float, *, hypothetical: bool) -> str:
    """A digest of everything that the rounds of a block depend on; of all totals, only those of its own features."""
    others = [field.name for field in fields(block) if field.name not in {"total", "collection_model"}]
    values = [getattr(block, name) for name in others]
    values += [block.total[block.feature], *block.collection_model, *(constraints or ()), limit, hypothetical]
    return digest(*(value.tobytes() if isinstance(value, np.ndarray) else value for value in values))
