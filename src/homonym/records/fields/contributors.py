"""Entries of author lists that are not people who wrote the document: groups, editors, and words for missing names.

The documents of every format pass through `set_apart_contributors`, so that this is decided in one place. Such entries
are kept in the document as `other_contributors`. They are reported, but they are no mentions. Formats report entries
that the source itself marks as groups, and entries that have no place in their lists, with `note_contributor`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from homonym.records.fields.name_remarks import REMARK, without_remarks
from homonym.records.fields.people import (
    EAST_ASIAN_GROUP,
    FOREIGN_PLACEHOLDER,
    GROUP_WORD,
    SPACED,
    folded,
    is_group,
    is_placeholder,
    person_for_group,
    unspaced,
)
from homonym.records.model import Author, Document, Note

# Identifiers that databases give to every entry of an author list, groups included.
_GIVEN_TO_ALL = frozenset({"aminer", "dimensions", "lens", "mag", "openalex", "s2", "scopus"})

# An e-mail address or the address of a page in the place of a name.
_ONLY_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+|https?://\S+")

# DataCite's codes for missing names begin so: "(:unav)", "(:unkn)", "(:tba)", …
_MISSING_CODE = "(:"

# Words that show a group even in "Collaboration, Planck", as tools write that split all names.
_SURE_GROUP = re.compile(r"\b(?:collaborations?|consortium|investigators|study group|working group)\b", re.IGNORECASE)
# "Doe, Jane (Ed.)", "Jane Doe [editor]", "Doe, J., Eds."; "Doe, Ed." is Edward.
_EDITOR = re.compile(
    r"[(\[] ?(?:eds?|editors?|hrsg|hg|herausgeber(?:in)?|dir|coord)\.? ?[)\]][ .,]*$"
    r"|,[^,]*, ?(?:eds?\.|editors?)[ .]*$",
    re.IGNORECASE,
)
#: What every name has that `set_apart_contributors` changes or removes: a quick check of many names, which few people
#: match.
SUSPICIOUS = (
    rf"(?i){GROUP_WORD.pattern}|{EAST_ASIAN_GROUP.pattern}|{REMARK}|{SPACED}"
    r"|collaborations| (?:of|for|the|and|für) |[(\[:]"
    r"|,[^,]*, ?ed|^\W*(?:anon|auth|and|e\W*d|gues|e\W*t|n\W*a|no|nul|oth|s\W*t\W*a\W*f|the|unk|var)"
    rf"|{FOREIGN_PLACEHOLDER}"
)


# How messages call each kind of entry.
_SHOWN_KIND = {"a group": "a group, not a person", "an editor": "an editor, not an author", "no name": "not a name"}


@lru_cache(maxsize=1 << 15)
def contributor_kind(name: str) -> str:
    """What a name is if it is not that of an author; empty for a person, and for a name without letters.

    >>> [contributor_kind(name) for name in ("Planck Collaboration", "Collaboration, Planck", "Doe, Jane (Ed.)", "N/A")]
    ['a group', 'a group', 'an editor', 'no name']
    >>> [contributor_kind(name) for name in ("Doe, Jane", "Doe, Ed.", "Ann Doe and Bo Roe", "[Anonymous]", ":")]
    ['', '', '', 'no name', 'no name']
    >>> contributor_kind("jane@x.org"), contributor_kind("T h e A B C I n v e s t i g a t o r s")
    ('no name', 'a group')
    """
    if ("@" in name or "://" in name) and _ONLY_ADDRESS.fullmatch(name):
        return "no name"
    name = unspaced(name)
    if name == "[Anonymous]" or name.strip() == ":" or name.startswith(_MISSING_CODE):
        return "no name"
    if is_placeholder(name) and folded(name):
        return "no name"
    if is_group(name) or _SURE_GROUP.search(name):
        return "a group"
    return "an editor" if _EDITOR.search(name) else ""


def editor_name(name: str) -> str:
    """The name of an editor without the word that says so.

    >>> editor_name("Doe, Jane (Ed.)"), editor_name("Doe, J., Eds.")
    ('Doe, Jane', 'Doe, J.')
    """
    found = _EDITOR.search(name)
    if found is None:
        return name
    inside = found[0].rpartition(",")[0] if found[0][0] == "," else ""
    return f"{name[: found.start()]}{inside}".strip(" ,")


def note_contributor(name: str, notes: list[Note]) -> None:
    """Note an entry that the format does not return as an author; `set_apart_contributors` adds it to the document."""
    notes.append(("contributor", name))


def is_marked_person(author: Author) -> bool:
    """Whether the source says that an entry is a person, by a label, a block or an identifier of a person."""
    return author.label is not None or author.block is not None or not author.ids.keys() <= _GIVEN_TO_ALL


def group_and_person(name: str) -> tuple[str, str]:
    """What of a name is another contributor, and what is a person; mostly one of them is empty.

    >>> group_and_person("Planck Collaboration: J. Doe"), group_and_person("Doe, J"), group_and_person("N/A")
    (('Planck Collaboration', 'J. Doe'), ('', 'Doe, J'), ('N/A', ''))
    >>> group_and_person("Doe J, on behalf of the ABC Group"), group_and_person("Doe, Jane for the ATLAS Team")
    (('ABC Group', 'Doe J'), ('ATLAS Team', 'Doe, Jane'))
    >>> group_and_person("Doe, J (for the ABC Group)")
    ('ABC Group', 'Doe, J')
    """
    if found := person_for_group(name):
        return found
    group, colon, person = name.partition(":")
    if colon and person.strip() and contributor_kind(group) == "a group" and not contributor_kind(person.strip()):
        return group.strip(), person.strip()
    return (name, "") if contributor_kind(name) else ("", name)


@lru_cache(maxsize=1 << 15)
def is_plain(name: str) -> bool:
    """Whether `set_apart_contributors` leaves an entry with this name as it is.

    >>> is_plain("Doe, Jane"), is_plain("Jane Doe <j@x.org>"), is_plain("Planck Collaboration")
    (True, False, False)
    """
    return without_remarks(name) is None and group_and_person(name) == ("", name)


def set_apart_contributors(document: Document, notes: list[Note]) -> None:
    """Move entries that are no authors from `authors` to `other_contributors`, each with a note.

    An entry with a label, a block or an identifier of a person stays: the source says that it is a person. Of "Planck
    Collaboration: J. Doe" the person stays. E-mail addresses, ORCIDs and other remarks in names become fields of the
    author. Entries that the format has noted are added to `other_contributors`.
    """
    if notes:
        _add_noted(document, notes)
    for author in document.authors:
        if not is_plain(author.name):
            _move_contributors(document, notes)
            break
    if len(document.other_contributors) > 1:  # a group may be listed as an author and marked elsewhere, too
        document.other_contributors = list(dict.fromkeys(document.other_contributors))


def _move_contributors(document: Document, notes: list[Note]) -> None:
    """Move the entries that are no people to `other_contributors`."""
    kept: list[Author] = []
    for author in document.authors:
        if is_plain(author.name):
            kept.append(author)
            continue
        if remarks := without_remarks(author.name):
            author.name = remarks.name
            author.emails += [email for email in remarks.emails if email not in author.emails]
            if remarks.affiliation and remarks.affiliation not in author.affiliations:
                author.affiliations.append(remarks.affiliation)
            for kind, value in (("orcid", remarks.orcid), ("scopus", remarks.scopus)):
                if value:
                    author.ids.setdefault(kind, value)
        if is_marked_person(author):
            kept.append(author)
            continue
        group, person = group_and_person(author.name)
        if group:
            _note(document, notes, group, contributor_kind(group) or "a group")
        if person or not group:  # entries without any name are rejected later
            author.name = person
            kept.append(author)
    document.authors = kept


def _add_noted(document: Document, notes: list[Note]) -> None:
    """Add each name that the format has noted, once; the source says that a name without other signs is a group."""
    names = dict.fromkeys(name for lost, name in notes if lost == "contributor")
    if names:
        notes[:] = [note for note in notes if note[0] != "contributor"]
        for name in names:
            _note(document, notes, name, contributor_kind(name) or "a group")


def _note(document: Document, notes: list[Note], name: str, kind: str) -> None:
    name = unspaced(name)
    document.other_contributors.append(name)
    notes.append(
        (
            "contributor",
            f"{name[:80]!r} is {_SHOWN_KIND[kind]}: it is listed as another contributor and not disambiguated",
        )
    )
