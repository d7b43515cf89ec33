"""Lists of names in one cell of a table: what stands between the names, and the names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from homonym.records.markup import plain_text
from homonym.records.ris_authors import is_group

#: In one text, commas between "Doe JA", and semicolons only before and behind groups, as PubMed writes its lists.
COMMAS = ", "

#: No separator at all, as SpringerLink writes its lists: "Jane DoeRichard Roe".
FUSED = "fused"

_SEPARATORS = (";", "|", "//", " and ")
_SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv", "2nd", "3rd"})
_INITIALS = re.compile(r"(?:[^\W\d_a-z]\.?[- ]?){1,4}")
_PUBMED_END = re.compile(r"\s[A-Z]{1,4}\.$")  # its lists end with a full stop
_MEDLINE_NAME = re.compile(r"[^\W\d_][^,;.\d]{0,60} [A-Z]{1,3}(?: (?:Jr|Sr|2nd|3rd|[45]th|I{2,3}))?\.?")
_FUSED = re.compile(
    r"(?<=[^\W\d_A-Z])(?<!\bMc)(?<!\bMac)(?<!\bDe)(?<!\bDi)(?<!\bLa)(?<!\bLe)(?<!\bVan)(?<!\bFitz)"
    r"(?=[A-ZÀ-ÖØ-ÞČĆĐŁŚŞŠŽŻİ]\w{0,30}[.\s-])"
)
_AND = re.compile(r",?\s&\s")
_ELLIPSIS = re.compile(r"\s?(?:…|\.{3})$")


def separator_in(cells: Iterable[Any]) -> str | None:
    """What parts the names in a column of lists, as far as its first cells show; None if only commas can.

    >>> separator_in(["Doe, J", "Doe, J; Roe, A"]), separator_in(["Doe, J and Roe, A"]), separator_in(["J Doe, A Roe"])
    (';', ' and ', None)
    """
    texts = [cell.strip(" ;|") for cell in cells if isinstance(cell, str) and cell[:1] not in {"[", "{"}]
    with_semicolon = [text for text in texts if ";" in text]
    if with_semicolon and 2 * sum(map(_is_medline_list, with_semicolon)) < len(with_semicolon):
        return ";"
    if sum(map(_is_medline_list, texts)) > sum(not _is_medline_list(text) for text in with_semicolon):
        return COMMAS if with_semicolon else None
    return next((mark for mark in _SEPARATORS if any(mark in text and "://" not in text for text in texts)), None)


def _is_medline_list(text: str) -> bool:
    """Whether commas part the names, though there may be groups before or behind semicolons."""
    return any("," in part and _all_medline(part.split(",")) for part in text.split(";"))


def _all_medline(parts: list[str]) -> bool:
    return all(_MEDLINE_NAME.fullmatch(part.strip()) for part in parts)


def names_in(cell: str, separator: str | None) -> list[str]:
    """The names in one text.

    >>> names_in("Doe, Jane", None), names_in("J. Doe, A. B. Roe", None), names_in("Doe J, Roe AB.", None)
    (['Doe, Jane'], ['J. Doe', 'A. B. Roe'], ['Doe J', 'Roe AB'])
    >>> names_in("Doe, J., Roe, A.", None), names_in("Doe, J and Roe, A", " and ")
    (['Doe, J.', 'Roe, A.'], ['Doe, J', 'Roe, A'])
    >>> names_in("Doe J, Roe AB; Study Group.", COMMAS), names_in("Jane McDoeRichard RoeXiao-Li Wu", FUSED)
    (['Doe J', 'Roe AB', 'Study Group'], ['Jane McDoe', 'Richard Roe', 'Xiao-Li Wu'])
    """
    text = _ELLIPSIS.sub("", plain_text(cell))
    if separator == COMMAS:
        return [name for part in text.rstrip(".").split(";") for name in _parted_by_commas(part.strip())]
    if separator == FUSED:
        return _FUSED.split(text)
    if separator == " and " and _is_comma_list(text):
        separator, text = None, text.replace(", and ", ", ").replace(" and ", ", ")
    elif separator is None:
        separator = next((mark for mark in (";", "|") if mark in text), None)
    names = text.split(separator) if separator else _parted_by_commas(text)
    return [name.strip(" ,;") for name in names]


def _is_comma_list(text: str) -> bool:
    """Whether "and" only stands before the last name: "J. Doe, A. Roe and B. Poe"; not so "Doe, J and Roe, A"."""
    first, *others = text.split(" and ")
    if not others:
        return "," in text and _all_medline(text.split(","))
    return len(others) == 1 and "," not in others[0] and ("," in first) and " " in others[0].strip()


def _parted_by_commas(text: str) -> list[str]:
    if "&" in text and not is_group(text):
        text = _AND.sub(", ", text)
    if text.count(".") == 1 and _PUBMED_END.search(text):
        text = text[:-1]
    parts: list[str] = []
    for part in text.split(","):
        part = part.strip()
        if parts and part.lower() in _SUFFIXES:
            parts[-1] += f", {part}"
        elif part:
            parts.append(part)
    if len(parts) == 2 and not all(" " in part for part in parts):
        return [", ".join(parts)]
    if len(parts) % 2 == 0 and all(_INITIALS.fullmatch(part) for part in parts[1::2]):
        return _paired(parts)
    if len(parts) > 3 and len(parts) % 2 == 0 and all(" " not in family for family in parts[::2]):
        return _paired(parts)  # "Doe, Jane, Roe, Richard": as a list of names they would be of one word each
    return parts


def _paired(parts: list[str]) -> list[str]:
    return [f"{family}, {given}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
