"""Refer tags (%A, %T, …), which EndNote, Google Scholar, publishers, CNKI, Wanfang and ADS export, mostly as .enw.

Reads title, abstract, year, venue, keywords, identifiers and the authors with their addresses. The fields are renamed
to RIS tags and read as those of RIS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from homonym.io.inputs import Source
from homonym.records.formats import ris
from homonym.records.formats.chinese_sources import prepared
from homonym.records.model import Parsed
from homonym.records.parsing.splitting import split_at
from homonym.records.parsing.tagged_lines import fields_of
from homonym.records.reader import Columns, Format, Records

# Each pattern begins with a literal character and looks behind only then, which makes the search much faster. Of
# several types in a row, the last one begins the record.
_TYPE = re.compile(rb"%0 (?<![^\r\n].{3})(?![^\r\n]{0,80}(?:\r\n|\n|\r)%0 )", re.DOTALL)
_AFTER_BLANK_LINE = re.compile(rb"%(?:(?<=\n\n%)|(?<=\n\r\n%)|(?<=\r\r%))[0-9A-Z] ")
_TAG_IN_FILE = re.compile(rb"%([0-9A-Z+@!]) (?<![^\r\n].{3})\S", re.DOTALL)
_TAG = re.compile(r"\n%([0-9A-Z!@+~?<>\[\]()^&=$*])(?: |(?=\n))")

# Refer tag -> RIS tag. Editors (E), translators (Y, ?) and translated names (H) are not read.
_RIS_TAGS = {
    "0": "TY", "A": "AU", "B": "T2", "D": "PY", "F": "LB", "J": "JF", "K": "KW", "M": "AN", "R": "DO", "S": "T3",
    "T": "TI", "U": "UR", "W": "DP", "X": "AB", "Z": "N1", "2": "C2", "8": "DA", "+": "AD", "~": "DB",
    "Q": ris.GROUPS,
}  # fmt: skip

# Tags that ADS uses in another way.
_ADS_TAGS = {"R": "AN", "Y": "DO", "L": "", "C": "", "I": "UR", "P": ""}

# An id of the Astrophysics Data System (ADS), "2014ApJ...780....1D"; its text format has it in %R, affiliations in %F.
_BIBCODE = re.compile(r"(?:1[5-9]|20)\d\d[A-Za-z&.]{5}[\w.]{9}[A-Z.:]")
_ADS_ADDRESS = re.compile(r"(?:^|[;,]\s*)([A-Z]{2})\(")

# In this type of EndNote the authors are editors.
EDITED_BOOK = "Edited Book"


def _recognises(source: Source) -> bool:
    """Whether there are lines with tags of a title, of an author or year, and of anything else."""
    tags = set(_TAG_IN_FILE.findall(source.head))
    return b"T" in tags and len(tags) > 2 and not tags.isdisjoint((b"A", b"D", b"E"))


def _open(source: Source, columns: Columns) -> Records:
    return Records(split_at(source.blocks(), _TYPE if _begins_with_types(source.head) else _AFTER_BLANK_LINE))


def _begins_with_types(head: bytes) -> bool:
    """Whether records begin with their type; otherwise they begin after a blank line."""
    first = [head.lstrip()[:3], *_AFTER_BLANK_LINE.findall(head)]
    return _TYPE.search(head) is not None and 2 * first.count(b"%0 ") >= len(first)


def _parse(text: bytes, context: None) -> Parsed | None:
    found = fields_of(text, _TAG)
    if not found:
        return None
    if any(tag == "R" and _BIBCODE.fullmatch(value.strip()) for tag, value in found):
        return ris.parse_renamed(_ads_fields(found))
    fields = prepared([(_RIS_TAGS[tag], value) for tag, value in found if tag in _RIS_TAGS])
    if any(tag == "TY" and value.strip() == EDITED_BOOK for tag, value in fields):
        fields = [(ris.EDITORS if tag == "AU" else tag, value) for tag, value in fields]
    return ris.parse_renamed(fields)


def _ads_fields(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The fields of a record of ADS as RIS fields: each author is followed by his or her addresses.

    >>> _ads_fields([("A", "Doe, J.; Roe, A."), ("F", "AA(Univ. A), AB(Univ. B; Inst. C)")])
    [('AU', 'Doe, J.'), ('AD', 'Univ. A'), ('AU', 'Roe, A.'), ('AD', 'Univ. B; Inst. C')]
    """
    fields = [(_ADS_TAGS.get(tag, _RIS_TAGS.get(tag, "")), value) for tag, value in found if tag not in "AF"]
    names = [name.strip() for tag, value in found if tag == "A" for name in value.split(";") if name.strip()]
    addresses = dict(_ads_addresses(" ".join(value for tag, value in found if tag == "F")))
    for place, name in enumerate(names):
        fields.append(("AU", name))
        if place in addresses:
            fields.append(("AD", addresses[place]))
    return [(tag, value) for tag, value in fields if tag]


def _ads_addresses(text: str) -> Iterator[tuple[int, str]]:
    """The place of an author, which two letters count (AA, AB, …), and the addresses in the brackets that follow."""
    parts = _ADS_ADDRESS.split(text)
    for letters, address in zip(parts[1::2], parts[2::2], strict=True):
        yield 26 * (ord(letters[0]) - ord("A")) + ord(letters[1]) - ord("A"), address.strip().removesuffix(")")


FORMAT = Format(name="refer", title="EndNote and Refer tags (.enw)", recognises=_recognises, open=_open, parse=_parse)
