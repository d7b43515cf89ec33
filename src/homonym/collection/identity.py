"""What tells whether two records without a common identifier are one document: title, year and authors, as digests.

A title is compared without case, accents, punctuation and spaces. Only a title that identifies a document is used
together with year and authors: "Editorial" or "Introduction to the special issue" is on many documents.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from homonym.features.blocking import blocked_names
from homonym.records.fields.people import plain_letters

# A title identifies a document if it has at least this many words and letters, and this many letters outside the words
# of GENERIC.
MIN_WORDS, MIN_LETTERS, MIN_OWN_LETTERS = 4, 20, 12

# Words of titles that many documents have.
GENERIC = frozenset(
    "a an and as at by for from in into no of on or our re the this to with abstract abstracts acknowledgement "
    "acknowledgements acknowledgment acknowledgments address addendum annual announcement announcements answer "
    "appendix article author authors authors' board book books call comment commentary comments conclusion "
    "conference congress contents contributors correction corrections correspondence corrigendum cover "
    "discussion editor editor's editorial editors editors' erratum foreword front full general guest guide "
    "guidelines index information instructions introduction introductory issue issues journal letter letters "
    "list matter meeting meetings memoriam message name news note notes notice obituary opening page papers "
    "part perspective poster posters preface presidential president's proceedings program programme publication "
    "publications reader readers recent remarks reply report reports response retraction review reviewer "
    "reviewers reviews section session special statement summary supplement symposium table thanks theme title "
    "update volume welcome workshop".split()
)


def title_digest(title: str) -> int | None:
    """A number for the letters and digits of a title; None if it has none.

    >>> title_digest("On <Coins>") == title_digest("ON COINS!"), title_digest("?")
    (True, None)
    """
    letters = plain_letters(title)
    return _number(letters) if letters else None


def work_digest(title: str, year: int | None, surnames: str) -> int | None:
    """A number for title, year and the surnames of all authors; None if these do not identify a document.

    >>> one = work_digest("A History of Roman Silver Coins", 2014, "DOE|ROE")
    >>> one == work_digest("A history of Roman silver coins.", 2014, "DOE|ROE")
    True
    >>> work_digest("Introduction to the Special Issue", 2014, "DOE|ROE")
    """
    if year is None or not surnames or not identifies(title):
        return None
    return _number(f"{plain_letters(title)} {year} {plain_letters(surnames)}")


def surnames_of(names: Iterable[str], blocking: str) -> str:
    """The surnames of authors in order, without authors that have no usable name.

    >>> surnames_of(["Doe, Jane", "?", "R. Roe"], "initials")
    'DOE|ROE'
    """
    cache = blocked_names(blocking)  # it has the names of this part already
    return "|".join([found.key.partition(",")[0] for name in names if (found := cache[name])])


def identifies(title: str) -> bool:
    """Whether a title belongs to one document, or at most to one with the same year and authors.

    >>> [identifies(title) for title in ("Editorial", "Letter to the editor: a reply", "A history of Roman coins")]
    [False, False, True]
    """
    words = title.lower().split()
    if len(words) < MIN_WORDS or len(title) < MIN_LETTERS or len(plain_letters(title)) < MIN_LETTERS:
        return False
    own = [word for word in words if word.strip(".,:;!?()[]\"'") not in GENERIC]
    return len(plain_letters("".join(own))) >= MIN_OWN_LETTERS


def _number(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)
