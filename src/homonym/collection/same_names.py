"""Whether two names on copies of a document, or on a document before and after a change, are those of one person.

There are five answers:

- `can_be_one_name`: the same surname and compatible given names. It finds an author among those of a copy of the
  document, where other people of the same surname may be.
- `surname_and_initial` (records/fields/people.py): equal texts. It finds authors in large indices, and a misspelling is
  a name whose surname and initial no other author of either list has.
- `have_other_given_names`: Jane and Julia, who are two people, but not *Xu* and *Xi*, where one letter may be wrong.
- `have_other_names` is false for parts of surnames, too. It says whether a decision about the mention of one name may
  be applied to that of the other: *Doe* and *Doe-Smith* may be one person who has married.
- `can_be_misspelt`: not both surname and initial differ. It is asked of a name that was not found, where most other
  authors are the same.

`have_other_names` and `can_be_misspelt` compare given names as `have_other_given_names` does.
"""

from __future__ import annotations

from homonym.names.compatibility import compatible, given_compatible, language_of
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


def have_other_given_names(one: str, other: str) -> bool:
    """Whether given names are those of two people, and not only misspelt by one letter. Surnames are not compared.

    >>> [have_other_given_names("Doe, Jane", other) for other in ("Doe, J", "Doe, Janet", "Doe, Jaen", "Doe, Julia")]
    [False, False, False, True]
    >>> have_other_given_names("Doe, J, Jr", "Doe, J, III")
    True
    """
    return _have_other_given_names(_standard(one), _standard(other))


def have_other_names(one: str | None, other: str | None) -> bool:
    """Whether two names are those of two people: other given names, or neither surname contains the other.

    >>> have_other_names("Müller, Jürgen", "Mueller J K"), have_other_names("Doe, Jane", "Doe-Smith, J")
    (False, False)
    >>> have_other_names("Doe", "Doe, J")
    False
    >>> have_other_names("Li, Xu", "Li, Wei"), have_other_names("Doe, J", "Roe, J")
    (True, True)
    >>> have_other_names("Doe, Jane", "Doe, John"), have_other_names("Li, Xu", "Li, Xi")
    (True, False)
    """
    a, b = (_standard(name) for name in (one, other))
    words, others = {*a.surname.split()}, {*b.surname.split()}
    is_part = a.surname == b.surname or (words and words <= others) or (others and others <= words)
    return not is_part or _have_other_initials(a, b) or _have_other_given_names(a, b)


def can_be_misspelt(one: str | None, other: str | None) -> bool:
    """Whether a name may be a misspelling of one that has its place.

    It is not if both surname and initial differ, or given names by more than a letter.

    >>> can_be_misspelt("Zed, Q", "Zet, Q"), can_be_misspelt("Zed, Q", "Zed, R"), can_be_misspelt("Zed, Q", "Kim, A")
    (True, True, False)
    >>> can_be_misspelt("Zed, Quentin", "Zet, Q"), can_be_misspelt("Zed, Quentin", "Zed, Rita")
    (True, False)
    """
    a, b = (_standard(name) for name in (one, other))
    return (a.surname == b.surname or not _have_other_initials(a, b)) and not _have_other_given_names(a, b)


def _standard(name: str | None) -> Name:
    return standard_name(parse_name(name or ""))


def _have_other_initials(one: Name, other: Name) -> bool:
    """Whether both names have initials, and the first ones differ."""
    return bool(one.initials and other.initials) and one.initials[0] != other.initials[0]


def _have_other_given_names(one: Name, other: Name) -> bool:
    has_other_suffix = bool(one.suffix and other.suffix) and one.suffix != other.suffix
    is_misspelt = _differ_by_a_letter("".join(one.given), "".join(other.given)) and not has_other_suffix
    return not (is_misspelt or compatible(one, other))


def _differ_by_a_letter(one: str, other: str) -> bool:
    """Whether one letter is wrong, missing, or swapped with its neighbour; or none.

    >>> [_differ_by_a_letter("JANE", other) for other in ("JANE", "JAN", "JUNE", "JNAE", "JEAN", "JO")]
    [True, True, True, True, False, False]
    """
    short, long = sorted((one, other), key=len)
    if len(long) - len(short) > 1:
        return False
    start = next((place for place, letter in enumerate(short) if letter != long[place]), len(short))
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swapped = short[start : start + 2][::-1] + short[start + 2 :]
    return short[start + 1 :] == long[start + 1 :] or swapped == long[start:]
