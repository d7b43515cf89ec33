"""AMiner's labelled papers for name disambiguation: an object of papers by id, and files that say who wrote which.

{paper: {"title": …, "authors": […]}} and {name: {author: [paper, …]}}; a paper may be followed by the place of the
author on it: "53e9-0".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import orjson

from homonym.errors import InputError
from homonym.records.json_stream import names_in, open_json_members
from homonym.records.model import Author, Note
from homonym.records.people import folded
from homonym.records.splitting import Raw
from homonym.sources import STANDARD_INPUT, Source

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
