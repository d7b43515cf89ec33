"""Affiliations of authors, the e-mail addresses in them, and which author of a record an e-mail address belongs to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from anyascii import anyascii

from homonym.records.fields.markup import plain_text
from homonym.records.model import Author

# Maximum number of pairs of e-mail address and author that are compared.
MAX_PAIRS = 1_000_000

# Minimum length of a word that counts anywhere in an e-mail address; shorter ones occur by chance ("li" in "elisa").
_LONG_WORD = 4

# Minimum length of a login; shorter ones match too many names by chance.
_LOGIN_LETTERS = 3

# Old systems cut user names to this length.
_CUT_LETTERS = 8

# Maximum number of e-mail addresses that are read from one address shared by several authors.
_MAX_SHARED_EMAILS = 20

# Addresses up to this length are cached: authors of one document, and documents of one file, share them.
_CACHED_LENGTH = 1000

# Bounded and possessive, so that no text makes the search slow; the lookbehind excludes parts of longer words.
_PATTERN = r"(?<![\w.+@-])[\w.+&/=~'-]{0,63}[\w+-]@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,8}+(?!@)"
_EMAIL = re.compile(_PATTERN)
_ANNOUNCED = re.compile(
    r"[(\[<{]?+(?:\b(?:electronic address|e-?mails?(?: address(?:es)?)?|correspondence)\s?+:?+\s?+)?+"
    rf"{_PATTERN}[)\]>}}]?+[.,;]*+",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")
_NO_LETTER = re.compile(r"[\W_]+")
# What stands before the @ of placeholders, without other characters than letters and digits.
_NO_ADDRESS = frozenset(
    ["", "anonymous", "donotreply", "empty", "na", "nil", "no", "noaddress", "noemail", "nomail", "none", "noreply",
     "notavailable", "notknown", "notprovided", "null", "unknown", "xxx"]
)  # fmt: skip
_NUMBERED = re.compile(r"\[?\b\d{1,2}\] ?")


def emails_in(text: str) -> list[str]:
    """The distinct e-mail addresses in a text.

    >>> emails_in("a.b@x.org; <c@y.edu>., a.b@x.org, nobody@")
    ['a.b@x.org', 'c@y.edu']
    """
    return list(dict.fromkeys(_EMAIL.findall(text))) if "@" in text else []


def plain_email(text: str) -> str:
    """An e-mail address in lower case, without what stands around it.

    >>> plain_email("Jane@X.org."), plain_email("<mailto:jane@x.org>"), plain_email("jane at x.org ")
    ('jane@x.org', 'jane@x.org', 'jane at x.org')
    """
    found = emails_in(text.lower())
    return found[0] if len(found) == 1 else text.strip().lower()


def is_placeholder(email: str) -> bool:
    """Whether a plain e-mail address stands for none, so that it identifies no person.

    >>> [is_placeholder(text) for text in ("none@none", "n/a", "no-email@x.org", "****@x.org", "nona@x.org")]
    [True, True, True, True, False]
    """
    return _NO_LETTER.sub("", email.partition("@")[0]) in _NO_ADDRESS


def address_and_emails(text: str) -> tuple[str, tuple[str, ...]]:
    """An address without the e-mail addresses in it, and the e-mail addresses.

    >>> address_and_emails("Univ Lodz, Poland. Electronic address: m.nowak@uni.example.")
    ('Univ Lodz, Poland', ('m.nowak@uni.example',))
    """
    return _cached_address(text) if len(text) < _CACHED_LENGTH else _address(text)


def _address(text: str) -> tuple[str, tuple[str, ...]]:
    address = plain_text(text)
    if "@" not in address:
        return address.strip(" .,;:"), ()
    return _ANNOUNCED.sub("", address).strip(" .,;:"), tuple(emails_in(address))


_cached_address = lru_cache(maxsize=1 << 13)(_address)


def affiliations_and_emails(values: Iterable[Any]) -> tuple[list[str], list[str]]:
    """The distinct affiliations among values, and the distinct e-mail addresses in them; only texts are used.

    >>> affiliations_and_emails(["MIT. jane@x.org", None, "MIT"])
    (['MIT'], ['jane@x.org'])
    """
    found = [address_and_emails(value) for value in values if isinstance(value, str)]
    affiliations = dict.fromkeys(address for address, _ in found if address)
    return list(affiliations), list(dict.fromkeys(email for _, emails in found for email in emails))


def numbered_addresses(text: str) -> list[str]:
    """The addresses in one line that numbers them.

    >>> numbered_addresses("1] Univ A, Rome. [2] Univ B, Bari."), numbered_addresses("Univ A [3] Rome")
    (['Univ A, Rome. ', 'Univ B, Bari.'], ['Univ A [3] Rome'])
    """
    return _NUMBERED.split(text)[1:] if text.startswith(("1]", "[1]")) else [text]


def add_address(author: Author, text: str) -> None:
    """Add an address to the affiliations of an author, and the e-mail addresses in it to the author's e-mails."""
    address, emails = address_and_emails(text)
    if address:
        author.affiliations.append(address)
    if emails:
        author.emails.extend(emails)


def add_shared_address(authors: list[Author], text: str) -> None:
    """Add an address to all authors; an e-mail address in it is added to the author it is named after."""
    if len(authors) == 1:
        add_address(authors[0], text)
        return
    address, emails = address_and_emails(text)
    for author in authors:
        add_address(author, address)
    add_emails(authors, emails[:_MAX_SHARED_EMAILS], [(author.name, "") for author in authors])


def add_emails(
    authors: list[Author],
    emails: Sequence[str],
    names: Sequence[tuple[str, str]],
    corresponding: Collection[int] = (),
) -> None:
    """Add each e-mail address to the author it is named after.

    The only address of a record that matches no author is added to the only corresponding author. `names` are the full
    and the short name of each author, `corresponding` the numbers of the corresponding authors.
    """
    if len(authors) == 1:
        authors[0].emails.extend(emails)
        return
    for email, owner in zip(emails, email_owners(emails, names), strict=True):
        if owner is None and len(emails) == len(corresponding) == 1:
            owner = min(corresponding)
        if owner is not None:
            authors[owner].emails.append(email)


def remove_repeats(authors: list[Author]) -> list[Author]:
    """The authors, with each affiliation and e-mail address of an author once."""
    for author in authors:
        if len(author.affiliations) > 1:
            author.affiliations = list(dict.fromkeys(author.affiliations))
        if len(author.emails) > 1:
            author.emails = list(dict.fromkeys(author.emails))
    return authors


class _NameWords(NamedTuple):
    """A name in lower case: its surname in one piece, the long words of surname and given names, all given names."""

    surname: str
    long_surnames: tuple[str, ...]
    long_given: tuple[str, ...]
    given: tuple[str, ...]


def email_owners(emails: Sequence[str], names: Sequence[tuple[str, str]]) -> list[int | None]:
    """The author each e-mail address belongs to: the only one with the most letters of the name in the address.

    Every author has a full name and a short one. Surnames, parts of them and given names count if they have four or
    more letters; a shorter surname counts as a separate word. Ties are broken by short given names and by the usual
    logins (initials and surname in either order, possibly cut to eight letters). If no name occurs in the address, only
    the logins count.

    >>> names = [("Wang, Xin", "Wang, X"), ("Wang, Li", "Wang, L"), ("Kovac, Marina", "Kovac, M"), ("Marin, U", "")]
    >>> email_owners(["xwang2@x.edu", "wang@x.edu", "marina.k@x.edu", "office@x.edu"], names)
    [0, None, 2, None]
    >>> email_owners(["jpw@x.edu", "shisw@x.edu"], [("Walker, Jeffrey P.", "Walker, JP"), ("Shi, Shaowei", "Shi, SW")])
    [0, 1]
    """
    if len(emails) * len(names) > MAX_PAIRS:
        return [None] * len(emails)
    authors = [_name_words(full) for full, _ in names]
    return [_email_owner(email.partition("@")[0], authors, names) for email in emails]


def _email_owner(mailbox: str, authors: Sequence[_NameWords], names: Sequence[tuple[str, str]]) -> int | None:
    words = _WORD.findall(_ascii(mailbox))
    letters = "".join(words)
    if not letters:
        return None
    scores = _letters_found(authors, letters, words)
    most = max(scores, default=0)
    if most and scores.count(most) == 1:
        return scores.index(most)
    tied = [number for number, score in enumerate(scores) if score == most]
    details = [_details_found(names[number], letters, words if most else []) for number in tied]
    finest = max(details, default=0)
    return tied[details.index(finest)] if finest and details.count(finest) == 1 else None


def _letters_found(authors: Sequence[_NameWords], letters: str, words: list[str]) -> list[int]:
    """For each author, the number of letters of long words of the name that occur in an e-mail address."""
    scores = []
    for surname, long_surnames, long_given, _ in authors:
        found = 0
        if len(surname) < _LONG_WORD:
            found = _LONG_WORD if surname in words else 0
        elif surname in letters:
            found = len(surname)
        elif long_surnames:
            found = sum([len(word) for word in long_surnames if word in letters])
        for word in long_given:
            if word in letters:
                found += len(word)
        scores.append(found)
    return scores


def _details_found(names: tuple[str, str], letters: str, words: list[str]) -> int:
    """The score of an author by login and short given names: of the full name or the short one, whichever is more."""
    scores = []
    for name in names if names[1] else names[:1]:
        author = _name_words(name)
        short_words = (word for word in author.given if 1 < len(word) < _LONG_WORD and word in words)
        scores.append(2 * len(letters) if _is_login(author, letters) else sum(map(len, short_words)))
    return max(scores)


def _is_login(author: _NameWords, letters: str) -> bool:
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
    """The usual user names of a person."""
    initials = "".join([word[0] for word in given])
    logins = []
    for front in (initials, initials[0], "".join(given), given[0]):
        logins += [front + surname, surname + front, front + surname[0], surname[0] + front]
        logins += [(front + surname)[:_CUT_LETTERS], surname[: _CUT_LETTERS - len(front)] + front]
    return frozenset(logins)


@lru_cache(maxsize=1 << 14)
def _name_words(name: str) -> _NameWords:
    """The words of a name; without a comma all of them count as surname."""
    front, _, back = _ascii(name).partition(",")
    surnames, given = _WORD.findall(front), _WORD.findall(back)
    long_given = tuple([word for word in given if len(word) >= _LONG_WORD])
    long_surnames = tuple([word for word in surnames if len(word) >= _LONG_WORD]) if len(surnames) > 1 else ()
    return _NameWords("".join(surnames), long_surnames, long_given, tuple(given))


def _ascii(text: str) -> str:
    return (text if text.isascii() else anyascii(text)).lower()
