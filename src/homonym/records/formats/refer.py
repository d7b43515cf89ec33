"""Refer tags (%A, %T, …), which EndNote, Google Scholar, publishers, CNKI and Wanfang export, mostly as .enw files.

Reads title, abstract, year, venue, keywords, identifiers and the authors with their addresses. The fields are renamed
to RIS tags and read as those of RIS.
"""

from __future__ import annotations

import re

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
    fields = prepared([(_RIS_TAGS[tag], value) for tag, value in found if tag in _RIS_TAGS])
    if any(tag == "TY" and value.strip() == EDITED_BOOK for tag, value in fields):
        fields = [(ris.EDITORS if tag == "AU" else tag, value) for tag, value in fields]
    return ris.parse_renamed(fields)


FORMAT = Format(name="refer", title="EndNote and Refer tags (.enw)", recognises=_recognises, open=_open, parse=_parse)
