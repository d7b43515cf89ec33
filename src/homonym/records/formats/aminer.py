"""AMiner: citation networks (versions 10 to 14), Open Academic Graph, labelled papers for name disambiguation."""

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
    distinct,
    identifier,
    indexed_text,
    listed,
    load_record,
    orcid,
    plain,
    repeated,
    whole_name,
    without_separators,
)
from homonym.records.parsing.json_stream import names_in, open_json, open_json_members
from homonym.records.parsing.splitting import Raw
from homonym.records.registry import Columns, Format, Records

# How a file of labels begins, also one without authors: {name: [paper, …]}; and what is in no such file.
_LABELS_HEAD = re.compile(rb'\s*\{\s*"[^"]{1,99}"\s*:\s*(?:\{\s*"[^"]{1,99}"\s*:\s*)?\[\s*"\w{6,40}(?:-\d+)?"\s*[,\]]')
_FIELDS = frozenset({"title", "authors", "id", "name", "display_name", "DOI"})
_PLACED = re.compile(r"(.+)-(\d{1,4})", re.DOTALL)

#: Under these names what a paper is called where it stands, and its labels, are put into its record.
KEY, LABELS = "homonym:key", "homonym:labels"


def papers_by_id(source: Source, names: Collection[str]) -> Iterator[Raw]:
    """Papers of an object that has them by their ids, with their labels, where these lie beside.

    By `names`, of which every paper has two, they are found again after damage.
    """
    labels: dict[str, list[Any]] = {}
    for file in _label_files(source.path):
        yield from _read_labels(file, labels)
    for number, name, text, _, broken in open_json_members(source, names):
        if not broken:
            text = orjson.dumps({KEY: name, LABELS: labels.pop(name, [])})[:-1] + b"," + text.lstrip()[1:]
        yield Raw(number, text, broken)


def _label_files(papers: Path) -> list[Path]:
    """The files with the labels of a file of papers, by the names that AMiner gives them."""
    if papers == STANDARD_INPUT:
        return []
    if papers.name.startswith("pubs_raw"):
        return sorted(papers.parent.glob("name_to_pubs_*.json*"))
    front, found, end = papers.name.rpartition("pub")
    names = [f"{front}{kind}{end.removeprefix('s')}" for kind in ("author", "ground_truth")] if found else []
    return [file for file in map(papers.with_name, names) if file.is_file()]


def _read_labels(file: Path, labels: dict[str, list[Any]]) -> Iterator[Raw]:
    """Gather the labels of each paper; yield what is none."""
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
    """Fail if a file of labels was named and no papers lie beside it."""
    files = () if source.path == STANDARD_INPUT else source.path.parent.glob("*pub*.json*")
    if all(file.name.startswith("name_to_pubs") for file in files):
        raise InputError(
            f"{source.name} has labels of AMiner and no papers; put the file of papers (…pub.json, pubs_raw.json) into "
            "the same folder and name that."
        )


def label_authors(authors: list[Author], labels: Any, notes: list[Note]) -> None:
    """Give each label to the author at its place, or to the only one with its name.

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
    """A name as it is compared, the family name first, last or in reverse: "wei_wang" is also "Wang, Wei"."""
    words = [word for word in map(folded, name.replace(",", " ").split()) if word]
    return {"".join(words), "".join(words[-1:] + words[:-1]), "".join(words[1:] + words[:1]), "".join(words[::-1])}


# Keys that only AMiner's papers have, that they have besides others, and that only homonym's own documents have.
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

# A MongoDB shell writes what JSON does not know.
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
        raise BrokenRecordError("neither 'title' nor 'authors': this is no paper of AMiner")
    notes: list[Note] = []
    doi = identifiers.doi(raw["doi"]) if isinstance(raw.get("doi"), str) else None
    document = Document(
        id=_id(raw) or _identifier(raw.get(KEY)),
        authors=_authors(raw["authors"], notes) if raw.get("authors") else [],
        title=plain(raw.get("title")),
        abstract=plain(raw.get("abstract")) or indexed_text(raw.get("indexed_abstract"), "indexed_abstract", notes),
        year=publication_year(_bare(raw.get("year")), notes) if raw.get("year") else None,
        venue=_venue(raw.get("venue")),
        keywords=_keywords(raw),
        references=[*filter(None, map(_identifier, listed(raw.get("references"))))],
        ids={"doi": doi} if doi else {},
    )
    if LABELS in raw:
        label_authors(document.authors, raw[LABELS], notes)
    return document, notes


def _authors(entries: Any, notes: list[Note]) -> list[Author]:
    authors: list[Author] = []
    holders: dict[str, list[Author]] = {}
    for position, entry in enumerate(listed(entries)):
        if not isinstance(entry, dict):
            entry = {"name": entry}
        given = entry.get("name") or entry.get("name_zh")
        name = whole_name(given) if isinstance(given, str) else ""
        if not name:
            authors.append(Author(position, ""))  # an author all the same, who keeps the place in the list
            continue
        affiliations, emails = _affiliations(entry.get("org") or entry.get("orgs"))
        author = Author(position, name, affiliations, [], None, None, _ids(entry, notes))
        if isinstance(address := entry.get("email"), str) and "@" in address:
            author.emails.append(address.strip())
        for email in emails:
            holders.setdefault(email, []).append(author)
        authors.append(author)
    for email, holding in holders.items():
        _give_email(email, holding)
    return authors


def _ids(entry: dict[str, Any], notes: list[Note]) -> dict[str, str]:
    found = {}
    if identifier := _id(entry):
        found["aminer"] = identifier
    if given := entry.get("orcid"):
        found |= orcid(given, notes)
    return found


def _affiliations(value: Any) -> tuple[list[str], list[str]]:
    """Places of one author, and e-mail addresses: several stand in a list, or in one text with semicolons or bars."""
    if not value:
        return [], []
    text = value if isinstance(value, str) else "; ".join(one for one in listed(value) if isinstance(one, str))
    text = without_separators(text)
    if "&" in text:
        text = plain_text(text)  # entities have semicolons too
    return affiliations_and_emails(text.replace("|", ";").split(";"))


def _give_email(email: str, authors: list[Author]) -> None:
    """Give an address to whom it belongs of those in whose places it stands.

    All authors of a paper often have the same text there, with the addresses of all: an address belongs to the one
    whose name is in it, else to the only one who has it.
    """
    owner = 0 if len(authors) == 1 else email_owners([email], [_either_order(author.name) for author in authors])[0]
    if owner is not None:
        authors[owner].emails.append(email)


def _either_order(name: str) -> tuple[str, str]:
    """A name with its last word as the surname, and with its first.

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
    """Keywords and fields of study, a vocabulary so large that it is one of keywords."""
    return distinct(_words(raw.get("keywords")) + _words(raw.get("fos")))


def _words(value: Any) -> list[Any]:
    """A list of texts or of objects with names; or one text parted by semicolons."""
    if not value:
        return []
    if isinstance(value, str):
        return value.split(";")
    return [one.get("name") if isinstance(one, dict) else one for one in listed(value)]


def _id(raw: dict[str, Any]) -> str:
    return _identifier(raw.get("id")) or _identifier(raw.get("_id"))


def _identifier(value: Any) -> str:
    return identifier(_bare(value) if isinstance(value, dict) else value)


def _bare(value: Any) -> Any:
    """A value that MongoDB exported with its type: {"$oid": "53e9"}, {"$numberInt": "2005"}."""
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _recognises(source: Source) -> bool:
    """One key that only AMiner has or two that it has more than others, and none of homonym's own."""
    names = names_in(source.head)
    if "title" not in names or not _OWN.isdisjoint(names):
        return has_labels(source)
    return not _CERTAIN.isdisjoint(names) or len(_LIKELY & names) + bool(_VENUE.search(source.head)) > 1


def _open(source: Source, columns: Columns) -> Records:
    if has_labels(source):
        require_papers(source)
        return Records(iter(()), "record")
    if _MONGO.search(source.head):
        source = _Mended(source)
    if 2 * len(_BY_ID.findall(source.head)) > len(_TITLE.findall(source.head)):
        return Records(papers_by_id(source, _NAMES), "record")
    return open_json(source, _NAMES)


class _Mended(Source):
    """A file of a MongoDB shell as JSON: NumberInt(5) is 5."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.path)
        self.head = _MONGO.sub(rb"\1", source.head)
        self._given = source

    def blocks(self) -> Iterator[bytes]:
        """Yield the whole input; what may be cut by the end of a block, behind its last comma, waits for the next."""
        rest = b""
        for block in self._given.blocks():
            whole, comma, begun = (rest + block).rpartition(b",")
            yield _MONGO.sub(rb"\1", whole + comma)
            rest = begun
        yield _MONGO.sub(rb"\1", rest)


FORMAT = Format(
    name="aminer", title="AMiner citation network JSON", recognises=_recognises, open=_open, parse=parse_record
)
