"""AMiner JSON: citation networks (versions 10 to 14), Open Academic Graph, and labelled papers for name disambiguation.

The files are downloaded from aminer.cn. Reads title, abstract, year, venue, keywords, references, DOI, and per
author name, affiliations, e-mail, AMiner id and ORCID. Labels are read from the files of labels in the same folder.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import orjson

from homonym.errors import InputError
from homonym.io.inputs import STANDARD_INPUT, Source
from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import affiliations_and_emails, email_owners
from homonym.records.fields.markup import plain_text
from homonym.records.fields.people import folded
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.json_fields import (
    as_list,
    distinct,
    identifier,
    indexed_text,
    load_record,
    orcid,
    repeated,
    text_or_empty,
    whole_name,
    without_separators,
)
from homonym.records.parsing.json_stream import names_in, open_json, open_json_members
from homonym.records.parsing.splitting import Raw
from homonym.records.reader import Columns, Format, Records

# How a file of labels begins, also one without authors: {name: [paper, …]}; and names that no such file has.
_LABELS_HEAD = re.compile(rb'\s*\{\s*"[^"]{1,99}"\s*:\s*(?:\{\s*"[^"]{1,99}"\s*:\s*)?\[\s*"\w{6,40}(?:-\d+)?"\s*[,\]]')
_FIELDS = frozenset({"title", "authors", "id", "name", "display_name", "DOI"})
_PLACED = re.compile(r"(.+)-(\d{1,4})", re.DOTALL)

# Names under which the key and the labels of a paper are added to its record.
KEY, LABELS = "homonym:key", "homonym:labels"


def papers_by_id(source: Source, names: Collection[str]) -> Iterator[Raw]:
    """The papers of an object {id: paper}, with their labels from the files of labels in the same folder.

    Every paper has at least two of `names`, see `open_json_members`.
    """
    labels: dict[str, list[Any]] = {}
    for file in label_files(source.path):
        yield from _read_labels(file, labels)
    for number, name, text, _, broken in open_json_members(source, names):
        if not broken:
            text = orjson.dumps({KEY: name, LABELS: labels.pop(name, [])})[:-1] + b"," + text.lstrip()[1:]
        yield Raw(number, text, broken)


def label_files(papers: Path) -> list[Path]:
    """The files of labels that belong to a file of papers, by AMiner's file names."""
    if papers == STANDARD_INPUT:
        return []
    if papers.name.startswith("pubs_raw"):
        return sorted(papers.parent.glob("name_to_pubs_*.json*"))
    front, found, end = papers.name.rpartition("pub")
    names = [f"{front}{kind}{end.removeprefix('s')}" for kind in ("author", "ground_truth")] if found else []
    return [file for file in map(papers.with_name, names) if file.is_file()]


def _read_labels(file: Path, labels: dict[str, list[Any]]) -> Iterator[Raw]:
    """Collect the labels of each paper; yield broken ones."""
    with Source(file) as source:
        for number, name, text, authors, broken in open_json_members(source):
            if broken:
                yield Raw(number, text, f"{file.name}, record {number}: {broken}")
                continue
            for author, papers in authors.items():
                for paper in papers if isinstance(papers, list) else ():
                    placed = _PLACED.fullmatch(str(paper))
                    key, place = (placed[1], int(placed[2])) if placed else (str(paper), None)
                    labels.setdefault(key, []).append((name, author, place))


def has_labels(source: Source) -> bool:
    """Whether this is a file of labels."""
    return _LABELS_HEAD.match(source.head) is not None and _FIELDS.isdisjoint(names_in(source.head))


def require_papers(source: Source) -> None:
    """Raise InputError if a file of labels is read and there is no file of papers in its folder."""
    files = () if source.path == STANDARD_INPUT else source.path.parent.glob("*pub*.json*")
    if all(file.name.startswith("name_to_pubs") for file in files):
        raise InputError(
            f"{source.name} has labels of AMiner and no papers; put the file of papers (…pub.json, pubs_raw.json) into "
            "the same folder and read that file."
        )


def label_authors(authors: list[Author], labels: Any, notes: list[Note]) -> None:
    """Assign each label to the author at its place, or to the only author with its name.

    >>> authors = [Author(0, "Wang, Wei"), Author(1, "Li Guo")]
    >>> label_authors(authors, [("wei_wang", "a1", None), ("guo_li", "a2", 1), ("jo_doe", "a3", None)], notes := [])
    >>> [author.label for author in authors], notes
    (['a1', 'a2'], [('field', "the label 'a3' of 'jo_doe' fits 0 authors")])
    """
    for entry in labels if isinstance(labels, list) else ():
        match entry:
            case [str(name), str(label), None]:
                forms = _forms(name.replace("_", " "))
                found = [author for author in authors if not forms.isdisjoint(_forms(author.name))]
            case [str(name), str(label), int(place)]:
                found = [author for author in authors if author.position == place]
            case _:
                continue
        if len(found) == 1:
            found[0].label = label
        else:
            notes.append(("field", f"the label {label!r} of {name!r} fits {len(found)} authors"))


def _forms(name: str) -> set[str]:
    """Comparable forms of a name with the family name first, last or in reverse: "wei_wang" is also "Wang, Wei"."""
    words = [word for word in map(folded, name.replace(",", " ").split()) if word]
    return {"".join(words), "".join(words[-1:] + words[:-1]), "".join(words[1:] + words[:1]), "".join(words[::-1])}


# Names that only AMiner's papers have, names typical of them, and names of homonym's own documents.
_CERTAIN = frozenset(
    {"n_citation", "fos", "indexed_abstract", "InvertedIndex", "org", "orgs", "name_d", "page_start", "page_end"}
)
_LIKELY = frozenset({"lang", "doc_type", "volume", "issue", "issn", "isbn"})
_OWN = frozenset(
    {"affiliations", "emails", "ids", "author", "block", "referenced_authors", "other_authors", "mention_id"}
)
_VENUE = re.compile(rb'"venue"\s*+:\s*+\{\s*+"(?:raw|_id|id)"\s*+:')
_TITLE = re.compile(rb'"title"\s*:')
_BY_ID = re.compile(
    rb'"(?!venue"|InvertedIndex"|data"|_source")\w{1,40}"\s*:\s*\{\s*"(?:id|title|authors|abstract|keywords|venue|year)"\s*:'
)
_NAMES = ("title", "authors", "year", "venue", "abstract", "keywords", "n_citation", "references", "lang", "doc_type")

# Calls that a MongoDB shell writes, which are not JSON.
_MONGO = re.compile(rb'\b(?:NumberInt|NumberLong|ObjectId|ISODate)\(\s*("[^"()]*"|[-\d.]+)\s*\)')


def parse_record(text: bytes, context: object = None) -> Parsed:
    """Read one paper.

    >>> document, notes = parse_record(
    ...     b'{"_id": "53e9", "title": "On ice", "year": {"$numberInt": "2005"}, "fos": ["Ice"],'
    ...     b'"authors": [{"_id": "53f4", "name": "Jo Doe", "org": "Ice Lab#TAB#; Snow Lab;"}, {"name": ""}]}'
    ... )
    >>> document.authors[0].ids, document.authors[0].affiliations, document.year, document.keywords
    ({'aminer': '53f4'}, ['Ice Lab', 'Snow Lab'], 2005, ['Ice'])
    >>> document.authors[1].name, notes
    ('', [])
    """
    raw = load_record(text)
    if "title" not in raw and "authors" not in raw:
        raise BrokenRecordError("neither 'title' nor 'authors': not a paper of AMiner")
    notes: list[Note] = []
    doi = identifiers.doi(raw["doi"]) if isinstance(raw.get("doi"), str) else None
    document = Document(
        id=_id(raw) or _identifier(raw.get(KEY)),
        authors=_authors(raw["authors"], notes) if raw.get("authors") else [],
        title=text_or_empty(raw.get("title")),
        abstract=text_or_empty(raw.get("abstract"))
        or indexed_text(raw.get("indexed_abstract"), "indexed_abstract", notes),
        year=publication_year(_bare(raw.get("year")), notes) if raw.get("year") else None,
        venue=_venue(raw.get("venue")),
        keywords=_keywords(raw),
        references=[*filter(None, map(_identifier, as_list(raw.get("references"))))],
        ids={"doi": doi} if doi else {},
    )
    if LABELS in raw:
        label_authors(document.authors, raw[LABELS], notes)
    return document, notes


def _authors(entries: Any, notes: list[Note]) -> list[Author]:
    authors: list[Author] = []
    holders: dict[str, list[Author]] = {}
    for position, entry in enumerate(as_list(entries)):
        if not isinstance(entry, dict):
            entry = {"name": entry}
        given = entry.get("name") or entry.get("name_zh")
        name = whole_name(given) if isinstance(given, str) else ""
        if not name:
            authors.append(Author(position, ""))  # keeps the place in the list
            continue
        affiliations, emails = _affiliations(entry.get("org") or entry.get("orgs"))
        author = Author(position, name, affiliations, [], None, None, _ids(entry, notes))
        if isinstance(address := entry.get("email"), str) and "@" in address:
            author.emails.append(address.strip())
        for email in emails:
            holders.setdefault(email, []).append(author)
        authors.append(author)
    for email, holding in holders.items():
        _assign_email(email, holding)
    return authors


def _ids(entry: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    found = {}
    if identifier := _id(entry):
        found["aminer"] = identifier
    if given := entry.get("orcid"):
        found |= orcid(given, notes)
    return found


def _affiliations(value: Any) -> tuple[list[str], list[str]]:
    """Affiliations and e-mail addresses of one author, from a list or from a text with semicolons or bars."""
    if not value:
        return [], []
    text = value if isinstance(value, str) else "; ".join(one for one in as_list(value) if isinstance(one, str))
    text = without_separators(text)
    if "&" in text:
        text = plain_text(text)  # entities contain semicolons
    return affiliations_and_emails(text.replace("|", ";").split(";"))


def _assign_email(email: str, authors: list[Author]) -> None:
    """Assign an e-mail address to its owner among the authors whose affiliations contain it.

    Often all authors of a paper have the same text, with the addresses of all. The owner is the author whose name is in
    the address, or the only author who has it.
    """
    owner = 0 if len(authors) == 1 else email_owners([email], [_either_order(author.name) for author in authors])[0]
    if owner is not None:
        authors[owner].emails.append(email)


def _either_order(name: str) -> tuple[str, str]:
    """A name with its last word as the surname, and with its first word as the surname.

    >>> _either_order("Wei Wang"), _either_order("Doe, Jo")
    (('Wang, Wei', 'Wei, Wang'), ('Doe, Jo', 'Doe, Jo'))
    """
    if "," in name or " " not in name:
        return name, name
    (given, _, last), (first, _, rest) = name.rpartition(" "), name.partition(" ")
    return f"{last}, {given}", f"{first}, {rest}"


def _venue(value: Any) -> str:
    if isinstance(value, str):
        return repeated(value)
    names = distinct([value.get(key) for key in ("name_d", "name", "raw")]) if isinstance(value, dict) else []
    return names[0] if names else ""


def _keywords(raw: dict[str, Any]) -> list[str]:
    """Keywords, and fields of study, which are as specific as keywords."""
    return distinct(_words(raw.get("keywords")) + _words(raw.get("fos")))


def _words(value: Any) -> list[Any]:
    """The items of a list of texts or of objects with names, or of one text with semicolons."""
    if not value:
        return []
    if isinstance(value, str):
        return value.split(";")
    return [one.get("name") if isinstance(one, dict) else one for one in as_list(value)]


def _id(raw: dict[str, Any]) -> str:
    return _identifier(raw.get("id")) or _identifier(raw.get("_id"))


def _identifier(value: Any) -> str:
    return identifier(_bare(value) if isinstance(value, dict) else value)


def _bare(value: Any) -> Any:
    """A value without its MongoDB type: {"$oid": "53e9"}, {"$numberInt": "2005"}."""
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _recognises(source: Source) -> bool:
    """One name that only AMiner has, or two typical ones; and none of homonym's own."""
    names = names_in(source.head)
    if "title" not in names or not _OWN.isdisjoint(names):
        return has_labels(source)
    return not _CERTAIN.isdisjoint(names) or len(_LIKELY & names) + bool(_VENUE.search(source.head)) > 1


def _open(source: Source, columns: Columns) -> Records:
    if has_labels(source):
        require_papers(source)
        return Records(iter(()), "record")
    if _MONGO.search(source.head):
        source = _MongoSource(source)
    if 2 * len(_BY_ID.findall(source.head)) > len(_TITLE.findall(source.head)):
        return Records(papers_by_id(source, _NAMES), "record")
    return open_json(source, _NAMES)


class _MongoSource(Source):
    """A file from a MongoDB shell, converted to JSON: NumberInt(5) becomes 5."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.path)
        self.head = _MONGO.sub(rb"\1", source.head)
        self._given = source

    def blocks(self) -> Iterator[bytes]:
        """Yield the converted input. Text after the last comma of a block waits for the next one: it may be cut."""
        rest = b""
        for block in self._given.blocks():
            whole, comma, begun = (rest + block).rpartition(b",")
            yield _MONGO.sub(rb"\1", whole + comma)
            rest = begun
        yield _MONGO.sub(rb"\1", rest)


FORMAT = Format(
    name="aminer", title="AMiner citation network JSON", recognises=_recognises, open=_open, parse=parse_record
)
