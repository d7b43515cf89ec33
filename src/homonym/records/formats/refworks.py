"""RefWorks tagged text (RT, A1, T1, …), which RefWorks, CNKI, ProQuest, EBSCO and publishers export.

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
from homonym.records.parsing.tagged_lines import Field, fields_of
from homonym.records.reader import Columns, Format, Records

# The pattern begins with literal characters and looks behind only then, which makes the search much faster.
_BEGINNING = re.compile(rb"RT (?<![^\r\n].{3})[A-Z][a-z]", re.DOTALL)
_OTHER_TAG = re.compile(rb"(SR|ID|A1|T1|JF|JO|YR|FD|K1|AB|UL) (?<![^\r\n].{3})[^\s-]", re.DOTALL)

# Only known tags count: lines of an abstract may begin with two capitals.
_TAG = re.compile(
    r"\n(RT|SR|ID|A[1-6]|T[1-3]|JF|JO|YR|FD|[Vv]O|vo|IS|SP|OP|K1|AB|NO|PB|PP|ED|SN|AV|AD|AN|LA|CL|SF|OT|LK|DO|CN|DB|DS"
    r"|IP|RD|ST|U\d{1,2}|UL|SL|LL|CR|WT|WV|WP|OL|PM|PMID)(?: |(?=\n))"
)

# RefWorks tag -> RIS tag. A2 to A6 are editors, translators and others, and not read.
_RIS_TAGS = {
    "RT": "TY", "ID": "ID", "A1": "AU", "T1": "TI", "T2": "T2", "T3": "T3", "JF": "JF", "JO": "JO", "YR": "PY",
    "FD": "DA", "K1": "KW", "AB": "AB", "AD": "AD", "AN": "AN", "DO": "DO", "DB": "DB", "DS": "DP", "UL": "UR",
    "LK": "L2", "NO": "N1", "PM": "PM", "PMID": "PM",
}  # fmt: skip
_NARROW_COMMA = re.compile(r",(?=\S)")


def _recognises(source: Source) -> bool:
    return _BEGINNING.search(source.head) is not None and len(set(_OTHER_TAG.findall(source.head))) > 2


def _open(source: Source, columns: Columns) -> Records:
    return Records(split_at(source.blocks(), _BEGINNING))


def _parse(text: bytes, context: None) -> Parsed | None:
    found = fields_of(text, _TAG)
    if not found:
        return None
    return ris.parse_renamed(prepared([_renamed(tag, value) for tag, value in found if tag in _RIS_TAGS]))


def _renamed(tag: str, value: str) -> Field:
    """The field with its RIS tag; names as "Doe,J." get a blank after the comma."""
    return _RIS_TAGS[tag], _NARROW_COMMA.sub(", ", value) if tag == "A1" else value


FORMAT = Format(name="refworks", title="RefWorks tagged text", recognises=_recognises, open=_open, parse=_parse)
