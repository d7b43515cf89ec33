"""One part of a collection while it is filled, record by record."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa

from homonym.blocking import SCHEMES
from homonym.collection.bags import Lists, Weighted, bag_tables, term_occurrences
from homonym.collection.layout import PARTS, ROWS, SLOT_BITS
from homonym.collection.spelling import names_of, spelled
from homonym.features.registry import SHARED, aff, email, others, year
from homonym.names import parse_name
from homonym.records.mentions import Mention
from homonym.records.model import Author, Document
from homonym.records.people import folded
from homonym.settings import Settings


class Part:
    """The columns of one part while it is filled."""

    def __init__(self) -> None:
        self.lists: defaultdict[str, Lists] = defaultdict(Lists)
        self.weighted: defaultdict[str, Weighted] = defaultdict(Weighted)
        self.texts: list[tuple[int, int, str, str]] = []
        self.settings = Settings()
        self.rows: dict[str, list[tuple[Any, ...]]] = {name: [] for name in ROWS}

    def add_record(self, document: Document, sequence: int, line: int) -> None:
        """Note a document and all that it is known by."""
        self.rows["records"].append(
            (sequence, line, document.id, document.id_is_key, document.year, len(document.authors))
        )
        for kind, value in document.ids.items():
            self.rows["keys"].append((sequence, f"{kind}:{value}"))
        if not document.id_is_key and document.title:
            # A name that somebody chose tells a document only together with its title.
            self.rows["keys"].append((sequence, f"name:{document.id} {folded(document.title)}"))

    def add_document(self, document: Document, sequence: int, line: int, settings: Settings) -> list[str]:
        """Add a document with its features; says which of its authors have no name."""
        names, unnamed, owner = names_of(settings.blocking), [], sequence << SLOT_BITS
        authors, keys = [], []
        for author in document.authors:
            if name := names[author.name]:
                authors.append(author)
                keys.append(name[0])
                self._add_author(document.id, author, name, owner, settings)
            else:
                unnamed.append(f"author {author.position} has no name ({author.name.strip()!r})")
        document.authors = authors
        if authors:
            self._add_shared(document, owner, keys, settings)
            for reference in document.references:
                self.rows["references"].append((sequence, reference, len(authors)))
        self.add_record(document, sequence, line)
        return unnamed

    def _add_shared(self, document: Document, owner: int, names: list[str], settings: Settings) -> None:
        """Add the bags of a document, which all of its authors have."""
        holders = len(names)
        for kind, shared in SHARED.items():
            if features := shared(document):
                self.lists[kind].add(owner, features, holders)
        if holders > 1:  # a bag of all names holds each mention's own, which is not its co-author
            self.lists["co"].add(owner, names, holders - 1)
        if document.other_authors and (features := others(document, set(names))):
            self.lists["co"].add(owner, features, holders)
        if document.year is not None:
            self.weighted["year"].add(owner, year(document, settings), holders)
        self.texts.append((owner, holders, document.title, document.abstract))
        self.settings = settings

    def _add_author(
        self, document_id: str, author: Author, name: tuple[str, str, str], owner: int, settings: Settings
    ) -> None:
        """Add a mention with the bags that are its own."""
        position = author.position
        mention = owner + 1 + position
        if author.affiliations and (features := aff(author)):
            self.lists["aff"].add(mention, features, 1)
        if author.emails:
            if features := email(author):
                self.lists["email"].add(mention, features, 1)
            self.rows["identifiers"].append((mention, "email", min(author.emails).lower()))
        key, spelling, block = name
        if author.block:
            block = SCHEMES[settings.blocking](parse_name(author.name), author.block)
        self.rows["mentions"].append(
            (mention, f"{document_id}#{position}", document_id, position, author.name, spelling, key, block,
             author.label)
        )  # fmt: skip
        for kind, value in author.ids.items():
            self.rows["identifiers"].append((mention, kind, value))

    def add_mention(self, mention: Mention, sequence: int, line: int) -> None:
        """Add a mention with the features it brings along."""
        owner = (sequence << SLOT_BITS) + 1
        for kind, bag in mention.features.items():
            if bag:
                self.weighted[kind].add(owner, bag, 1)
        own_name = None  # a bag that is brought along has its own name taken out already
        parsed_name = spelled(parse_name(mention.name)) if mention.name else None
        self.rows["mentions"].append(
            (owner, mention.mention_id, mention.document_id, mention.position, mention.name, parsed_name, own_name,
             mention.block, mention.label)
        )  # fmt: skip
        self.rows["identifiers"] += [(owner, kind, value) for kind, value in mention.ids.items()]
        self.rows["records"].append((sequence, line, mention.mention_id, True, None, 1))

    def tables(self, part: int) -> dict[str, pa.Table]:
        """The tables of the part, which is called by the sequence of its first record; features counted."""
        tables = {name: _table(rows, PARTS[name]) for name, rows in self.rows.items()}
        types = {kind: bags.counted() for kind, bags in self.lists.items()}
        types |= {kind: bags.counted() for kind, bags in self.weighted.items()}
        if self.texts:
            owners, holders, titles, abstracts = zip(*self.texts, strict=True)
            types["term"] = term_occurrences(
                np.array(owners, np.int64), np.array(holders, np.int32), titles, abstracts, self.settings
            )
        tables["features"], tables["bags"] = bag_tables(types, part)
        return tables


def _table(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    return pa.table(list(zip(*rows, strict=True)), schema=schema) if rows else schema.empty_table()
