"""Affiliations of authors, and the e-mail addresses that stand in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from homonym.records.emails import addresses_in, owners, without_addresses
from homonym.records.markup import plain_text
from homonym.records.model import Author

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
    return without_addresses(address).strip(" .,;:"), tuple(addresses_in(address))


# Authors of one document, and documents of one file, share addresses.
_kept_address = lru_cache(maxsize=1 << 13)(_address)


def addresses(values: Iterable[Any]) -> tuple[list[str], list[str]]:
    """The affiliations among values and the e-mail addresses in them, each once.

    >>> addresses(["MIT. jane@x.org", None, "MIT"])
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


def give_address(author: Author, text: str) -> None:
    """Add an address and the e-mail addresses in it to its author."""
    address, emails = address_and_emails(text)
    if address:
        author.affiliations.append(address)
    author.emails.extend(emails)


def give_shared_address(authors: list[Author], text: str) -> None:
    """Add an address to all authors; an e-mail address in it goes to the one whose name it shows."""
    if len(authors) == 1:
        give_address(authors[0], text)
        return
    address, emails = address_and_emails(text)
    for author in authors:
        give_address(author, address)
    for email, owner in zip(
        emails, owners(emails[:MOST_EMAILS], [(author.name, "") for author in authors]), strict=False
    ):
        if owner is not None:
            authors[owner].emails.append(email)


def distinct(authors: list[Author]) -> list[Author]:
    """The authors, each address and e-mail address of theirs once."""
    for author in authors:
        if len(author.affiliations) > 1:
            author.affiliations = list(dict.fromkeys(author.affiliations))
        if len(author.emails) > 1:
            author.emails = list(dict.fromkeys(author.emails))
    return authors
