"""Union-find (disjoint sets) for a few items of any kind. For arrays of edges, see `arrays.connected_components`."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)


class UnionFind(Generic[Item]):
    """Connected components of items. An item that was never joined is a component of its own.

    >>> union = UnionFind[str]()
    >>> union.join("a", "b"), union.join("c", "b")
    (None, None)
    >>> union.find("a"), union.find("b"), union.find("x")
    ('c', 'c', 'x')
    """

    def __init__(self) -> None:
        self._parent: dict[Item, Item] = {}

    def find(self, item: Item) -> Item:
        """The representative of the component of an item."""
        parent = self._parent
        while (above := parent.get(item, item)) != item:
            parent[item] = item = parent.get(above, above)  # halves the path for the next search
        return item

    def join(self, a: Item, b: Item) -> None:
        """Join the components of two items. The representative of `a` represents both."""
        first, second = self.find(a), self.find(b)
        if first != second:
            self._parent[second] = first
