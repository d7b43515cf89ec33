"""Affiliations of authors, and the e-mail addresses that stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from anyascii import anyascii

from homonym.records.fields.markup import plain_text
from homonym.records.model import Author

#: So many pairs of address and author are compared; beyond that nobody has written the list by hand.
MOST_PAIRS = 1_000_000

#: A shorter word stands by chance in other words, as "li" does in "elisa".
TELLING_LETTERS = 4

#: A shorter login fits by chance too many names.
_LOGIN_LETTERS = 3

#: The length to which systems of old cut the names of their users.
_CUT_LETTERS = 8

# Bounded and possessive, so that no text makes the search slow; what stands before is no part of a longer word.
_PATTERN = r"(?<![\w.+@-])[\w.+&/=~'-]{0,63}[\w+-]@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,8}+(?!@)"
_EMAIL = re.compile(_PATTERN)
_ANNOUNCED = re.compile(
    r"[(\[<{]?+(?:\b(?:electronic address|e-?mails?(?: address(?:es)?)?|correspondence)\s?+:?+\s?+)?+"
    rf"{_PATTERN}[)\]>}}]?+[.,;]*+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")


class _Words(NamedTuple):
    """A name in small letters: its surname in one piece, the long words of both its parts, all given names."""

    surname: str
    surnames: tuple[str, ...]
    telling: tuple[str, ...]
    given: tuple[str, ...]


def emails_in(text: str) -> list[str]:
    """The e-mail addresses in a text, each once.

    >>> emails_in("a.b@x.org; <c@y.edu>., a.b@x.org, nobody@")
    ['a.b@x.org', 'c@y.edu']
    """
    return list(dict.fromkeys(_EMAIL.findall(text))) if "@" in text else []


def without_emails(text: str) -> str:
    """A text without the e-mail addresses in it and the words that announce them.

    >>> without_emails("Univ Lodz, Poland. Electronic address: m.nowak@uni.example.")
    'Univ Lodz, Poland. '
    """
    return _ANNOUNCED.sub("", text)


def email_owners(addresses: Sequence[str], names: Sequence[tuple[str, str]]) -> list[int | None]:
    """The author of each address: the only one of whose name most letters stand in it, if there is such a one.

    Every author has a full name and a short one. What counts are surnames, parts of them and given names of four and
    more letters, and shorter surnames that stand alone. Where several authors are alike, short given names and the
    usual logins decide (initials and surname in either order, cut to eight letters or not); where no name stands in
    the address, only the logins.

    >>> names = [("Wang, Xin", "Wang, X"), ("Wang, Li", "Wang, L"), ("Kovac, Marina", "Kovac, M"), ("Marin, U", "")]
    >>> email_owners(["xwang2@x.edu", "wang@x.edu", "marina.k@x.edu", "office@x.edu"], names)
    [0, None, 2, None]
    >>> email_owners(["jpw@x.edu", "shisw@x.edu"], [("Walker, Jeffrey P.", "Walker, JP"), ("Shi, Shaowei", "Shi, SW")])
    [0, 1]
    """
    if len(addresses) * len(names) > MOST_PAIRS:
        return [None] * len(addresses)
    authors = [_words(full) for full, _ in names]
    return [_owner(address.partition("@")[0], authors, names) for address in addresses]


def _owner(local: str, authors: Sequence[_Words], names: Sequence[tuple[str, str]]) -> int | None:
    tokens = _WORD.findall(_ascii(local))
    letters = "".join(tokens)
    if not letters:
        return None
    scores = _letters_found(authors, letters, tokens)
    most = max(scores, default=0)
    if most and scores.count(most) == 1:
        return scores.index(most)
    best = [number for number, score in enumerate(scores) if score == most]
    short = tokens if most else []
    details = [_most_details(names[number], letters, short) for number in best]
    finest = max(details, default=0)
    return best[details.index(finest)] if finest and details.count(finest) == 1 else None


def _most_details(names: tuple[str, str], letters: str, tokens: list[str]) -> int:
    full, short = names
    found = _details_found(_words(full), letters, tokens)
    return max(found, _details_found(_words(short), letters, tokens)) if short and short != full else found


def _letters_found(authors: Sequence[_Words], letters: str, tokens: list[str]) -> list[int]:
    scores = []
    for surname, surnames, telling, _ in authors:
        found = 0
        if len(surname) < TELLING_LETTERS:
            found = TELLING_LETTERS if surname in tokens else 0
        elif surname in letters:
            found = len(surname)
        elif surnames:
            found = sum([len(word) for word in surnames if word in letters])
        for word in telling:
            if word in letters:
                found += len(word)
        scores.append(found)
    return scores


def _details_found(author: _Words, letters: str, tokens: list[str]) -> int:
    if _is_login(author, letters):
        return 2 * len(letters)
    return sum(len(word) for word in author.given if 1 < len(word) < TELLING_LETTERS and word in tokens)


def _is_login(author: _Words, letters: str) -> bool:
    surname, given = author.surname, author.given
    if not surname or not given or len(letters) < _LOGIN_LETTERS:
        return False
    if letters in given:
        return True
    if letters[0] != surname[0] and letters[0] != given[0][0]:
        return False
    return letters in _logins(surname, given)


@lru_cache(maxsize=1 << 13)
def _logins(surname: str, given: tuple[str, ...]) -> frozenset[str]:
    """The names under which systems know a person."""
    initials = "".join([word[0] for word in given])
    logins = []
    for front in (initials, initials[0], "".join(given), given[0]):
        logins += [front + surname, surname + front, front + surname[0], surname[0] + front]
        logins += [(front + surname)[:_CUT_LETTERS], surname[: _CUT_LETTERS - len(front)] + front]
    return frozenset(logins)


@lru_cache(maxsize=1 << 14)
def _words(name: str) -> _Words:
    """The words of a name; without a comma all of them may be the surname."""
    front, _, back = _ascii(name).partition(",")
    surnames, given = _WORD.findall(front), _WORD.findall(back)
    telling = tuple([word for word in given if len(word) >= TELLING_LETTERS])
    long = tuple([word for word in surnames if len(word) >= TELLING_LETTERS]) if len(surnames) > 1 else ()
    return _Words("".join(surnames), long, telling, tuple(given))


def _ascii(text: str) -> str:
    return (text if text.isascii() else anyascii(text)).lower()


#: Of one address; beyond, it is a list that says nothing of whose each is.
MOST_EMAILS = 20

#: Longer ones do not repeat.
_REPEATING = 1000

_NUMBERED = re.compile(r"\[?\b\d{1,2}\] ?")


def address_and_emails(text: str) -> tuple[str, tuple[str, ...]]:
    """An address without the e-mail addresses in it, and these.

    >>> address_and_emails("Univ Lodz, Poland. Electronic address: m.nowak@uni.example.")
    ('Univ Lodz, Poland', ('m.nowak@uni.example',))
    """
    return _kept_address(text) if len(text) < _REPEATING else _address(text)


def _address(text: str) -> tuple[str, tuple[str, ...]]:
    address = plain_text(text)
    if "@" not in address:
        return address.strip(" .,;:"), ()
    return without_emails(address).strip(" .,;:"), tuple(emails_in(address))


# Authors of one document, and documents of one file, share addresses.
_kept_address = lru_cache(maxsize=1 << 13)(_address)


def affiliations_and_emails(values: Iterable[Any]) -> tuple[list[str], list[str]]:
    """The affiliations among values and the e-mail addresses in them, each once.

    >>> affiliations_and_emails(["MIT. jane@x.org", None, "MIT"])
    (['MIT'], ['jane@x.org'])
    """
    affiliations: dict[str, None] = {}
    emails: dict[str, None] = {}
    for value in values:
        if isinstance(value, str):
            address, found = address_and_emails(value)
            if address:
                affiliations[address] = None
            for email in found:
                emails[email] = None
    return list(affiliations), list(emails)


def numbered_addresses(text: str) -> list[str]:
    """The addresses in one line that numbers them.

    >>> numbered_addresses("1] Univ A, Rome. [2] Univ B, Bari."), numbered_addresses("Univ A [3] Rome")
    (['Univ A, Rome. ', 'Univ B, Bari.'], ['Univ A [3] Rome'])
    """
    return _NUMBERED.split(text)[1:] if text.startswith(("1]", "[1]")) else [text]


def add_address(author: Author, text: str) -> None:
    """Add an address and the e-mail addresses in it to its author."""
    address, emails = address_and_emails(text)
    if address:
        author.affiliations.append(address)
    author.emails.extend(emails)


def add_shared_address(authors: list[Author], text: str) -> None:
    """Add an address to all authors; an e-mail address in it goes to the one whose name it shows."""
    if len(authors) == 1:
        add_address(authors[0], text)
        return
    address, emails = address_and_emails(text)
    for author in authors:
        add_address(author, address)
    for email, owner in zip(
        emails, email_owners(emails[:MOST_EMAILS], [(author.name, "") for author in authors]), strict=False
    ):
        if owner is not None:
            authors[owner].emails.append(email)


def remove_repeats(authors: list[Author]) -> list[Author]:
    """The authors, each address and e-mail address of theirs once."""
    for author in authors:
        if len(author.affiliations) > 1:
            author.affiliations = list(dict.fromkeys(author.affiliations))
        if len(author.emails) > 1:
            author.emails = list(dict.fromkeys(author.emails))
    return authors
