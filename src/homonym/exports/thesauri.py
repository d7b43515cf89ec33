"""Lists of names that a tool merges: the thesaurus of VOSviewer and the alias file of CiteSpace.

They contain the labels in all forms that exported files use, and the name variants of the original files. A variant
that several authors share cannot be in such a list: only an exported file tells these authors apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from homonym.errors import counted
from homonym.exports.labels import clean_name, dotted_name, short_name
from homonym.exports.plain_lines import one_line
from homonym.exports.result_tables import ResultTables
from homonym.io.outputs import open_atomic


def write_vosviewer(result: ResultTables, path: Path) -> None:
    """A thesaurus of VOSviewer: label, tab, replace by. VOSviewer shows the names of authors in lower case."""
    with open_atomic(path) as stream:
        stream.write(b"label\treplace by\n")
        pairs = ((form.lower(), label) for form, label in _forms(result))
        stream.writelines(f"{form}\t{label}\n".encode() for form, label in pairs if form != label.lower())


def write_citespace(result: ResultTables, path: Path) -> None:
    """An alias file of CiteSpace: the name to keep, #, the name to merge with it."""
    with open_atomic(path) as stream:
        pairs = ((form.replace("#", " "), label) for form, label in _forms(result))
        stream.writelines(f"{label}#{form}\n".encode() for form, label in pairs if form != label)


class _Owner(NamedTuple):
    """The author that a form of a name belongs to, None for several, and the form as it is written."""

    author: int | None
    form: str


def _forms(result: ResultTables) -> Iterator[tuple[str, str]]:
    """Each form of a name with the label of the only author that has it, ordered by author."""
    owners: dict[str, _Owner] = {}
    for number, label in enumerate(result.labels):
        owners.update((form.lower(), _Owner(number, form)) for form in _written(label))
    for number, row in enumerate(result.author_rows()):
        for variant in row["variants"] or ():
            for form in _written(one_line(variant["name"] or "")):
                _claim(owners, number, form, result.labels)
    shared = sum(owner.author is None for owner in owners.values())
    if shared:
        result.warnings.append(
            f"{counted(shared, 'name form')} left out, because each belongs to several authors; only an exported "
            "file (--to wos, scopus or ris) tells these authors apart."
        )
    known = [(owner.author, owner.form) for owner in owners.values() if owner.author is not None]
    yield from ((form, result.labels[author]) for author, form in sorted(known))


def _claim(owners: dict[str, _Owner], author: int, form: str, labels: list[str]) -> None:
    """Record that an author has a form of a name. The label of an author always belongs to that author."""
    owner = owners.setdefault(form.lower(), _Owner(author, form))
    if owner.author is None or owner.author == author:
        return
    if form.lower() not in map(str.lower, _written(labels[owner.author])):
        owners[form.lower()] = _Owner(None, form)


def _written(name: str) -> tuple[str, ...]:
    """The forms of a name in files: in full, with initials, with dotted initials."""
    clean = clean_name(name)
    return tuple(dict.fromkeys(filter(None, (name, short_name(clean), dotted_name(clean)))))
