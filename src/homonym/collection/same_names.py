"""Whether two names on copies of a document, or on a document before and after a change, are those of one person.

There are four answers, from the strictest to the most lenient:

- `can_be_one_name`: the same surname and compatible given names. It finds an author among those of a copy of the
  document, where other people of the same surname may be.
- `surname_and_initial` (records/fields/people.py): equal texts. It finds authors in large indices, and a misspelling is
  a name whose surname and initial no other author of either list has.
- `have_other_names` is false for parts of surnames, too. It says whether a decision about the mention of one name may
  be applied to that of the other: *Doe* and *Doe-Smith* may be one person who has married.
- `can_be_misspelt`: not both surname and initial differ. It is asked of a name that was not found, where most other
  authors are the same.
"""

from __future__ import annotations

from homonym.names.compatibility import given_compatible, language_of
from homonym.names.parse import Name, parse_name
from homonym.names.spelling import standard_name
from homonym.records.fields.people import plain_letters


def can_be_one_name(one: str, other: str) -> bool:
    """Whether two names can be those of one person: the same surname and compatible given names, or both swapped.

    >>> [can_be_one_name("Doe, Jane", other) for other in ("Doe J.", "JANE DOE", "Jane, Doe", "Doe, John", "Roe, Jane")]
    [True, True, True, False, False]
    """
    if one == other:
        return True
    a, b = parse_name(one), parse_name(other)
    surnames = plain_letters(a.surname), plain_letters(b.surname)
    if surnames[0] == surnames[1]:
        return bool(surnames[0]) and given_compatible(a.given, b.given, language_of(a.surname))
    return surnames == (plain_letters("".join(b.given)), plain_letters("".join(a.given)))


def have_other_names(one: str | None, other: str | None) -> bool:
    """Whether two names are those of two people: other first initials, or neither surname contains the other.

    >>> have_other_names("Müller, Jürgen", "Mueller J K"), have_other_names("Doe, Jane", "Doe-Smith, J")
    (False, False)
    >>> have_other_names("Doe", "Doe, J")
    False
    >>> have_other_names("Li, Xu", "Li, Wei"), have_other_names("Doe, J", "Roe, J")
    (True, True)
    """
    a, b = (_standard(name) for name in (one, other))
    words, others = {*a.surname.split()}, {*b.surname.split()}
    is_part = a.surname == b.surname or (words and words <= others) or (others and others <= words)
    return not is_part or _have_other_initials(a, b)


def can_be_misspelt(one: str | None, other: str | None) -> bool:
    """Whether a name may be a misspelling of one that has its place: not if both surname and initial differ.

    >>> can_be_misspelt("Zed, Q", "Zet, Q"), can_be_misspelt("Zed, Q", "Zed, R"), can_be_misspelt("Zed, Q", "Kim, A")
    (True, True, False)
    """
    a, b = (_standard(name) for name in (one, other))
    return a.surname == b.surname or not _have_other_initials(a, b)


def _standard(name: str | None) -> Name:
    return standard_name(parse_name(name or ""))


def _have_other_initials(one: Name, other: Name) -> bool:
    """Whether both names have initials, and the first ones differ."""
    return bool(one.initials and other.initials) and one.initials[0] != other.initials[0]
