"""The collections that all methods are compared on: documents without labels, each author with a block, and the labels.

Blocks are part of the input, so that all methods compare the same mentions. They are homonym's own keys, written to the
file beforehand; homonym runs with its defaults, which use the block in the data. Labels are in a separate file: no
method can see them by accident.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from homonym.features.blocking import SCHEMES
from homonym.names.parse import parse_name

Document = dict[str, Any]


@dataclass(frozen=True)
class Collection:
    """A collection as all methods get it: where it is, and how much there is to compare."""

    title: str
    documents: Path
    gold: Path
    sizes: tuple[int, ...]

    @property
    def mentions(self) -> int:
        """How many mentions it has."""
        return sum(self.sizes)

    @cached_property
    def pairs(self) -> int:
        """How many pairs of mentions share a block: what a method that compares pairs has to look at."""
        return sum(size * (size - 1) // 2 for size in self.sizes)


def prepare(title: str, documents: Iterable[Document], blocking: str, directory: Path) -> Collection:
    """Write documents with blocks and without labels, and the labels in a separate file."""
    directory.mkdir(parents=True, exist_ok=True)
    made = directory / "documents.jsonl", directory / "gold.csv"
    sizes: Counter[str] = Counter()
    with made[0].open("wb") as stream, made[1].open("w", newline="") as labels:
        table = csv.writer(labels)
        table.writerow(("mention_id", "author", "block"))
        for document in documents:
            blocks = [block_of(author, blocking) for author in document["authors"]]
            sizes.update(blocks)
            table.writerows(
                (f"{document['id']}#{position}", author["author"], block)
                for position, (author, block) in enumerate(zip(document["authors"], blocks, strict=True))
                if author.get("author")
            )
            stream.write(orjson.dumps(_without_labels(document, blocks), option=orjson.OPT_APPEND_NEWLINE))
    return Collection(title, *made, tuple(sizes.values()))


def block_of(author: Document, blocking: str) -> str:
    """The block of an author under one of homonym's schemes.

    >>> block_of({"name": "Doe, Jane W."}, "initials"), block_of({"name": "Jane Doe", "block": "any"}, "given")
    ('DOE, JW', 'any')
    """
    return SCHEMES[blocking](parse_name(author["name"]), author.get("block"))


def _without_labels(document: Document, blocks: list[str]) -> Document:
    authors = [
        {**{field: value for field, value in author.items() if field != "author"}, "block": block}
        for author, block in zip(document["authors"], blocks, strict=True)
    ]
    return {**document, "authors": authors}


def read(path: Path) -> Iterator[Document]:
    """The documents of a packed file."""
    with gzip.open(path) as stream:
        yield from map(orjson.loads, stream)
