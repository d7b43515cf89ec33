"""What tells whether two records without a common identifier are one document: title, year and authors, as digests.

A title is compared without case, accents, punctuation and spaces. Only a title that identifies a document is used
together with year and authors: "Editorial" or "Introduction to the special issue" is on many documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from anyascii import anyascii

from homonym.features.blocking import blocked_names

# A title identifies a document if it has at least this many words and letters, and this many letters outside the words
# of GENERIC.
MIN_WORDS, MIN_LETTERS, MIN_OWN_LETTERS = 4, 20, 12

# Words of titles that many documents have.
GENERIC = frozenset(
    word.encode()
    for word in (
        "a an and as at by for from in into no of on or our re the this to with abstract abstracts acknowledgement "
        "acknowledgements acknowledgment acknowledgments address addendum annual announcement announcements answer "
        "appendix article author authors board book books call comment commentary comments conclusion "
        "conference congress contents contributors correction corrections correspondence corrigendum cover "
        "discussion editor editorial editors erratum foreword front full general guest guide "
        "guidelines index information instructions introduction introductory issue issues journal letter letters "
        "list matter meeting meetings memoriam message name news note notes notice obituary opening page papers "
        "part perspective poster posters preface presidential proceedings program programme publication "
        "publications reader readers recent remarks reply report reports response retraction review reviewer "
        "reviewers reviews section session special statement summary supplement symposium table thanks theme title "
        "update volume welcome workshop"
    ).split()
)


# ASCII letters in lower case and digits; every other sign becomes a space.
_LETTERS = bytes(ord(sign.lower()) if sign.isalnum() else ord(" ") for sign in map(chr, range(128))) + b" " * 128


Digests = tuple[int | None, int | None]
"""Numbers for the title of a record, and for its title, year and authors; None if they identify nothing."""


def digests(title: str, year: int | None, names: Sequence[str], blocking: str) -> Digests:
    """The digests of a record; a title without letters and digits has none.

    >>> one = digests("A History of Roman Silver Coins", 2014, ["Doe, Jane", "R. Roe"], "initials")
    >>> one == digests("A history of <Roman> silver coins.", 2014, ["Doe, J.", "?", "Roe, R"], "initials")
    True
    >>> digests("Introduction to the Special Issue", 2014, ["Doe, J"], "initials")[1]
    """
    words = (title if title.isascii() else anyascii(title)).encode(errors="replace").translate(_LETTERS).split()
    if not words:
        return None, None
    letters = b"".join(words)
    digest = blake2b(letters, digest_size=8)
    number = int.from_bytes(digest.digest(), "little", signed=True)
    if year is None or len(words) < MIN_WORDS or len(letters) < MIN_LETTERS or _is_generic(words):
        return number, None
    if not (surnames := surnames_of(names, blocking)):
        return number, None
    digest.update(b" %d %b" % (year, surnames))
    return number, int.from_bytes(digest.digest(), "little", signed=True)


def _is_generic(words: Sequence[bytes]) -> bool:
    """Whether a title has too few words of its own.

    >>> _is_generic(b"letter to the editor a reply".split()), _is_generic(b"a history of roman coins".split())
    (True, False)
    """
    own = 0
    for word in words:
        if word not in GENERIC:
            own += len(word)
            if own >= MIN_OWN_LETTERS:  # mostly after two or three words
                return False
    return True


def surnames_of(names: Iterable[str], blocking: str) -> bytes:
    """The surnames of authors in order, without authors that have no usable name.

    >>> surnames_of(["van Doe, Jane", "?", "R. Roe-Poe"], "initials")
    b'VANDOE|ROEPOE'
    """
    cache = blocked_names(blocking)  # it has the names of this part already
    keys = [found.key for name in names if (found := cache[name])]
    return "|".join([key[: key.find(",")] if "," in key else key for key in keys]).encode().translate(None, b" -'.")
