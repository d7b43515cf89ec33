"""Names of authors in cited references, as the Web of Science and Scopus write these."""

from __future__ import annotations

import re

from homonym.records.fields.markup import ENTITY, plain_text
from homonym.records.fields.people import is_placeholder

# Web of Science: the text before the first comma or number of a reference, unless that is "[Anonymous]", "*WHO" or
# "Law (1999)". Since 2026 some exports put a comma before the initials too: "Doe, JA, 1999, J X"; then a year follows.
_INITIALS = r"(?:, ?(?:[^\W\d_a-z]\.?[ -]?){1,5}(?=, ?[12]\d{3}\b))?+"
_FIRST_AUTHOR = {
    separator: re.compile(rf"{separator} *+([^ \t\n0-9,*(\[][^0-9,(\n]*+{_INITIALS})(?!\()")
    for separator in ("\n", "; ")
}

# Scopus: a name ends with the dot behind its first initial ("Doe J.", "Doe, J.") or with initials without dots
# ("Doe JA"). The names of one reference are written alike, and one match takes all names that follow each other. Half
# of an export is references, so the pattern never backtracks: the first character behind a family name decides.
_FAMILY = r"[^,;.:()\[\]0-9]{2,40}+"
_END = r"(?![^,;])"
_MORE = rf"(?:{_END}|(?:[ -]?\w{{1,2}}\.){{1,5}}+{_END})"
_DOTTED = rf"\.(?:(?<=[ -]\w\.)|(?<= [A-Z][a-z]\.)){_MORE}"
_PLAIN = rf"{_END}(?<=[A-Z])(?:(?<= [A-Z])|(?<= [A-Z]{{2}})|(?<= [A-Z]{{3}}))"
_WITHOUT_COMMA = rf"(?:{_DOTTED}|{_PLAIN})"
_WITH_COMMA = rf", \w[a-z]?\.{_MORE}"
_SCOPUS_NAMES = re.compile(
    rf"; {_FAMILY}(?:{_WITHOUT_COMMA}(?:[,;] {_FAMILY}{_WITHOUT_COMMA})*+"
    rf"|{_WITH_COMMA}(?:[,;] {_FAMILY}{_WITH_COMMA})*+)"
)
_AFTER_PLAIN_NAME = re.compile(r", (?:(?<= [A-Z], )|(?<= [A-Z]{2}, )|(?<= [A-Z]{3}, ))")
_PARTICLES = frozenset("al ben bin da das de del della den der des di do dos du el la le ter van von y zu".split())


def wos_cited_authors(references: str, separator: str = "\n") -> list[str]:
    r"""The first author of each reference of a Web of Science record, where that is a person.

    >>> lines = ["Doe J, 1999, J X, V1", "[Anonymous], 2001, Y", "*WHO, 2000, Z", "2004, A, V2", "Roe R. 1990, B"]
    >>> wos_cited_authors("\n".join(lines)), wos_cited_authors("Doe J, 1999, DOI 10.1000/1;2; Poe E", "; ")
    (['Doe J', 'Roe R.'], ['Doe J', 'Poe E'])
    """
    if "&" in references and ENTITY.search(references):
        references = "\n".join(map(plain_text, references.split("\n")))
    names = _FIRST_AUTHOR[separator].findall(separator + references)
    if not _are_plain(",".join(names)):
        names = list(map(plain_text, names))
    return [name for name in names if " " in name or not is_placeholder(name)]


def _are_plain(names: str) -> bool:
    """Whether no name in a list has markup or needless white space; one check of all is much faster than each alone."""
    return names.isprintable() and "  " not in names and " ," not in f"{names}," and "<" not in names


def scopus_cited_authors(references: str) -> list[str]:
    """The authors at the beginning of each reference of a Scopus record, as they are written there.

    >>> scopus_cited_authors("Doe, J., Roe, A.B., On x (1999) Names, 5, pp. 1-2; The last report, (2020)")
    ['Doe, J.', 'Roe, A.B.']
    >>> scopus_cited_authors("Doe J.; Roe A.B., On x, Names, (2024); Poe EA, Moe J, On y, (2020); Basics of R, (2019)")
    ['Doe J.', 'Roe A.B.', 'Poe EA', 'Moe J']
    """
    names = "".join(_SCOPUS_NAMES.findall("; " + references)).replace("., ", ".; ")
    if ", " in names:
        names = _AFTER_PLAIN_NAME.sub("; ", names)
    found = names.split("; ")[1:]
    if names.count(".; ") + names.endswith(".") == len(found):  # all have dots, as almost always
        return found
    return [name for name in found if name[-1:] == "." or _is_plain_name(name)]


def _is_plain_name(text: str) -> bool:
    """Whether the words before initials without dots are a surname, not a title such as "Basics of R"."""
    if text.count(" ") == 1:
        return text[0].isupper()
    *family, _ = text.split(" ")
    return len(family) <= 3 and all(word[:1].isupper() or word in _PARTICLES for word in family)
