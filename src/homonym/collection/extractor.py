"""One part of a collection while it is filled, record by record."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
from numpy.typing import NDArray

from homonym.collection.bags import Lists, Occurrences, Weighted, bag_tables, counted_pairs, term_occurrences
from homonym.collection.layout import MOST_AUTHORS, PARTS, ROWS, SLOT_BITS
from homonym.features.blocking import SCHEMES, encode_name, names_of
from homonym.features.text import plain
from homonym.features.types import SHARED, address, aff, email, gaussian_years, others, year
from homonym.names.parse import name_key, parse_name
from homonym.records.fields import identifiers
from homonym.records.fields.people import folded
from homonym.records.formats.documents import Mention
from homonym.records.model import FIRST_YEAR, LAST_YEAR, Author, Document
from homonym.records.parsing.splitting import Raw
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
        parsed_name = encode_name(parse_name(mention.name)) if mention.name else None
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


Integers = NDArray[np.int64]

_TEXTS = pa.list_(pa.string())
_AUTHOR = pa.struct(
    [("name", pa.string()), ("affiliations", _TEXTS), ("emails", _TEXTS), ("author", pa.string()),
     ("block", pa.string())]
)  # fmt: skip
#: Identifiers may be of any kind: what kinds there are is found out from the chunk.
_DOCUMENT = pa.schema(
    [("id", pa.string()), ("title", pa.string()), ("abstract", pa.string()), ("year", pa.int64()),
     ("venue", pa.string()), ("categories", _TEXTS), ("keywords", _TEXTS), ("references", _TEXTS),
     ("referenced_authors", _TEXTS), ("other_authors", _TEXTS), ("authors", pa.list_(_AUTHOR))]
)  # fmt: skip


# What JSON does not have and Arrow's reader takes for numbers.
_NO_NUMBER = re.compile(rb"[:,\[]\s*-?(?:NaN|Inf)")


class UnusualError(Exception):
    """A chunk is not for this reader."""


def tables_at_once(raws: list[Raw], sequence: int, settings: Settings) -> dict[str, pa.Table] | None:
    """The tables of a part from the lines of a chunk; None if anything about it is unusual."""
    try:
        return _Columns(_read(raws), sequence, settings).tables([raw.number for raw in raws])
    except (UnusualError, pa.ArrowException, UnicodeDecodeError):
        return None


def _read(raws: list[Raw]) -> pa.Table:
    lines = [raw.text.strip() for raw in raws]
    # Then each holds one object at least, and as many rows as lines are one document on each.
    if not all(line[:1] == b"{" and line[-1:] == b"}" for line in lines) or any(raw.broken for raw in raws):
        raise UnusualError
    text = b"\n".join(lines)
    table = pyarrow.json.read_json(
        pa.BufferReader(text),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=pyarrow.json.ParseOptions(explicit_schema=_DOCUMENT, unexpected_field_behavior="infer"),
    )
    table.validate(full=True)
    if len(table) != len(raws) or "mention_id" in table.column_names:
        raise UnusualError
    if any(_has_floats(field.type) for field in table.schema) and _NO_NUMBER.search(text):
        raise UnusualError
    return table.combine_chunks()


class _Features(NamedTuple):
    """Entries of lists: which list each stands in, and which of the names it is."""

    place: Integers
    code: NDArray[np.integer]
    name: pa.Array

    @staticmethod
    def read(place: Integers, entry: pa.Array, read: Callable[[str], str]) -> _Features:
        """Read each distinct text once; what is no feature is left out."""
        coded = entry.dictionary_encode()
        numbers: dict[str, int] = {"": -1}
        texts = coded.dictionary.to_pylist()
        number = np.array([numbers.setdefault(read(text), len(numbers) - 1) for text in texts], np.int64)
        del numbers[""]
        code = number[coded.indices.to_numpy()] if texts else np.zeros(0, np.int64)
        used = code >= 0
        return _Features(place[used], code[used], pa.array(numbers, pa.string()))

    def and_also(self, other: _Features) -> _Features:
        """These and others, which have names of their own."""
        both = pa.concat_arrays([self.name, other.name]).dictionary_encode()
        code = both.indices.to_numpy()[np.concatenate([self.code, other.code + len(self.name)])]
        return _Features(np.concatenate([self.place, other.place]), code, both.dictionary)


class _Columns:
    """A chunk of documents, column by column."""

    def __init__(self, table: pa.Table, sequence: int, settings: Settings) -> None:
        self.settings = settings
        self.column = {name: _whole(table[name]) for name in table.column_names}
        self.sequence = np.arange(sequence, sequence + len(table), dtype=np.int64)
        authors = self.column["authors"]
        self._require(self.column["id"].null_count == 0 and not pc.any(pc.equal(self.column["id"], "")).as_py())
        self._require(authors.null_count == 0)
        self.holders = np.diff(authors.offsets.to_numpy()).astype(np.int64)
        self._require(self.holders.max(initial=0) < MOST_AUTHORS)
        self.author = authors.flatten()
        self._require(self.author.null_count == 0 and pc.all(self._year_in_range(), min_count=0).as_py())
        self._require(not len(_parts(self.column["other_authors"])[0]))
        self.document = np.repeat(np.arange(len(table)), self.holders)
        first = np.cumsum(self.holders) - self.holders
        self.position = np.arange(len(self.document)) - first[self.document]
        self.owner = self.sequence << SLOT_BITS
        self.mention = self.owner[self.document] + 1 + self.position
        self.types: dict[str, Occurrences] = {}

    def _year_in_range(self) -> pa.Array:
        year = self.column["year"]
        return pc.and_(pc.greater_equal(year, FIRST_YEAR), pc.less_equal(year, LAST_YEAR))

    @staticmethod
    def _require(usual: bool) -> None:
        if not usual:
            raise UnusualError

    def tables(self, lines: list[int]) -> dict[str, pa.Table]:
        """All tables of the part."""
        key = self._read_names()
        self._add_co_authors(key)
        self._add_lists()
        self._add_years()
        self._add_terms()
        tables = {
            "mentions": self._mentions(key),
            "records": self._records(lines),
            "keys": self._keys(),
            "references": self._references(),
            "identifiers": self._identifiers(),
        }
        tables["features"], tables["bags"] = bag_tables(self.types, int(self.sequence[0]))
        return tables

    def _read_names(self) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Key, spelling and block of all authors."""
        coded = self.author.field("name").dictionary_encode()
        self._require(coded.null_count == 0)
        known = names_of(self.settings.blocking)
        read = [known[name] for name in coded.dictionary.to_pylist()]
        self._require(None not in read)
        keys, spellings, blocks = zip(*read, strict=True) if read else ((), (), ())
        return tuple(pa.array(values, pa.string()).take(coded.indices) for values in (keys, spellings, blocks))

    def _add_co_authors(self, names: tuple[pa.Array, pa.Array, pa.Array]) -> None:
        several = self.holders[self.document] > 1
        coded = names[0].filter(pa.array(several)).dictionary_encode()
        features = _Features(self.document[several], coded.indices.to_numpy(), coded.dictionary)
        # All names of a document are in its bag, so a mention's own is one too many.
        self._add("co", self.owner, self.holders - 1, features)

    def _add_lists(self) -> None:
        documents, mentions = (self.owner, self.holders), (self.mention, np.ones(len(self.mention), np.int64))
        self._add("key", *documents, self._features(self.column["keywords"], plain))
        self._add("ref", *documents, self._features(self.column["referenced_authors"], name_key))
        self._add("cat", *documents, self._categories())
        self._add("aff", *mentions, self._features(self.author.field("affiliations"), plain))
        self._add("email", *mentions, self._features(self.author.field("emails"), address))

    def _categories(self) -> _Features:
        """Categories, and the venue where a document has none."""
        found = self._features(self.column["categories"], plain)
        without = np.ones(len(self.sequence), bool)
        without[found.place] = False
        place = np.flatnonzero(without)
        return found.and_also(_Features.read(place, self.column["venue"].fill_null("").take(pa.array(place)), plain))

    def _features(self, lists: pa.Array, read: Callable[[str], str]) -> _Features:
        place, entry = _parts(lists)
        self._require(entry.null_count == 0)
        return _Features.read(place, entry, read)

    def _add(self, kind: str, owner: Integers, holders: Integers, features: _Features) -> None:
        """Count the features of lists, each of which has an owner and holders."""
        place, code, name = features.place, features.code, features.name
        held = holders[place] > 0
        if not held.all():
            place, code = place[held], code[held]
        if not len(place):
            return
        if len(held) > len(place):  # names that nobody holds must not be numbered
            used, code = np.unique(code, return_inverse=True)
            name = name.take(pa.array(used))
        place, code, count = counted_pairs(place, code, len(name))
        self.types[kind] = Occurrences(
            name, owner[place], code, count.astype(np.float64), holders[place].astype(np.int32)
        )

    def _add_years(self) -> None:
        year = self.column["year"]
        place = np.flatnonzero(year.is_valid().to_numpy(zero_copy_only=False) & (self.holders > 0))
        if not len(place):
            return
        coded = year.take(pa.array(place)).dictionary_encode()
        sigma, reach = self.settings.year_sigma, self.settings.year_reach
        bags = [gaussian_years(centre, sigma, reach) for centre in coded.dictionary.to_pylist()]
        sizes = np.array([len(bag) for bag in bags])
        names = pa.array([name for bag in bags for name in bag], pa.string()).dictionary_encode()
        weights = np.array([weight for bag in bags for weight in bag.values()])
        centre = coded.indices.to_numpy()
        lengths = sizes[centre]
        ends = np.cumsum(lengths)
        entry = np.arange(ends[-1]) + np.repeat((np.cumsum(sizes) - sizes)[centre] - (ends - lengths), lengths)
        owner, holders = self.owner[place], self.holders[place].astype(np.int32)
        self.types["year"] = Occurrences(
            names.dictionary,
            np.repeat(owner, lengths),
            names.indices.to_numpy()[entry].astype(np.int64),
            weights[entry],
            np.repeat(holders, lengths),
        )

    def _add_terms(self) -> None:
        place = np.flatnonzero(self.holders > 0)
        titles, abstracts = (
            self.column[name].fill_null("").take(pa.array(place)).to_pylist() for name in ("title", "abstract")
        )
        holders = self.holders[place].astype(np.int32)
        self.types["term"] = term_occurrences(self.owner[place], holders, titles, abstracts, self.settings)

    def _mentions(self, names: tuple[pa.Array, pa.Array, pa.Array]) -> pa.Table:
        key, spelling, block = names
        name, label = self.author.field("name"), _or_null(self.author.field("author"))
        document_id = self.column["id"].take(pa.array(self.document))
        position = pa.array(self.position, pa.int32())
        mention_id = pc.binary_join_element_wise(document_id, position.cast(pa.string()), "#")
        columns = [
            self.mention, mention_id, document_id, position, name, spelling, key, self._blocks(name, block), label
        ]  # fmt: skip
        return pa.table(columns, schema=PARTS["mentions"])

    def _blocks(self, name: pa.Array, block: pa.Array) -> pa.Array:
        """The blocks of all authors, those that the data names itself by the scheme."""
        given = _or_null(self.author.field("block"))
        if given.null_count == len(given):
            return block
        scheme = SCHEMES[self.settings.blocking]
        return pa.array(
            [
                scheme(parse_name(written), own) if own else found
                for written, own, found in zip(name.to_pylist(), given.to_pylist(), block.to_pylist(), strict=True)
            ],
            pa.string(),
        )

    def _records(self, lines: list[int]) -> pa.Table:
        columns = [
            self.sequence,
            np.array(lines, np.int64),
            self.column["id"],
            pa.repeat(pa.scalar(True), len(lines)),
            self.column["year"].cast(pa.int32()),
            self.holders.astype(np.int32),
        ]
        return pa.table(columns, schema=PARTS["records"])

    def _keys(self) -> pa.Table:
        place, kind, value = self._ids(self.column.get("ids"))
        keys = [f"{one}:{text}" for one, text in zip(kind, value, strict=True)]
        return pa.table([self.sequence[place], pa.array(keys, pa.string())], schema=PARTS["keys"])

    def _references(self) -> pa.Table:
        document, entry = _parts(self.column["references"])
        self._require(entry.null_count == 0)
        held = self.holders[document] > 0
        document, entry = document[held], entry.filter(pa.array(held))
        columns = [self.sequence[document], entry, self.holders[document].astype(np.int32)]
        return pa.table(columns, schema=PARTS["references"])

    def _identifiers(self) -> pa.Table:
        fields = [field.name for field in self.author.type]
        place, kind, value = self._ids(self.author.field("ids") if "ids" in fields else None)
        owner, addresses = _parts(self.author.field("emails"))
        first: dict[int, str] = {}
        for at, text in zip(owner.tolist(), addresses.to_pylist(), strict=True):
            first[at] = min(first.get(at, text), text)
        places = np.concatenate([place, np.array(list(first), np.int64)])
        kinds, values = [*kind, *["email"] * len(first)], [*value, *(text.lower() for text in first.values())]
        columns = [self.mention[places], pa.array(kinds, pa.string()), pa.array(values, pa.string())]
        return pa.table(columns, schema=PARTS["identifiers"])

    def _ids(self, ids: pa.Array | None) -> tuple[Integers, list[str], list[str]]:
        """The identifiers by kind: places, kinds and values."""
        places, kinds, values = [np.zeros(0, np.int64)], [], []
        if ids is None or pa.types.is_null(ids.type):
            return places[0], [], []
        self._require(pa.types.is_struct(ids.type))
        for field, column in zip(ids.type, ids.flatten(), strict=True):
            if pa.types.is_null(field.type):
                continue
            self._require(pa.types.is_string(field.type))
            column = _or_null(column)
            found = [identifiers.normalise(field.name, text) for text in column.drop_null().to_pylist()]
            self._require(None not in found)
            places.append(np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)))
            kinds += [field.name] * len(found)
            values += [str(text) for text in found]
        return np.concatenate(places), kinds, values


def _has_floats(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind) or any(_has_floats(kind.field(i).type) for i in range(kind.num_fields))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _parts(lists: pa.Array) -> tuple[Integers, pa.Array]:
    """Which list each entry stands in, and the entries."""
    return pc.list_parent_indices(lists).to_numpy().astype(np.int64), pc.list_flatten(lists)


def _or_null(texts: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(texts, ""), None, texts)
