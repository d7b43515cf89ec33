"""Text exports of the Cochrane Library (Record #1 of 20, ID: …, AU: …): reviews, protocols and trials (CENTRAL).

Reads title, abstract, year, venue, keywords, identifiers and the names of the authors; the format has no addresses.
The fields are renamed to RIS tags and read as those of RIS.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from homonym.io.inputs import Source
from homonym.records.formats import ris
from homonym.records.model import Parsed
from homonym.records.parsing.splitting import split_at
from homonym.records.parsing.tagged_lines import Field, fields_of
from homonym.records.reader import Columns, Format, Records

# The pattern begins with literal characters and looks behind only then, which makes the search much faster.
_BEGINNING = re.compile(rb"Record #(?<![^\r\n].{8})\d{1,9} of \d{1,9}", re.DOTALL)
_FIRST_FIELD = re.compile(_BEGINNING.pattern + rb"[ \t\r\n]{1,8}(?:ID|AU|TI): ", re.DOTALL)
_TAG = re.compile(r"\n(AB|AD|AU|CC|CRG|DOI|ID|KY|LA|NO|PB|PG|PM|PT|SN|SO|TI|US|VL|XR|YR):(?: |(?=\n))")

_RIS_TAGS = {
    "ID": "ID", "AU": "AU", "TI": "TI", "SO": "JF", "YR": "PY", "KY": "KW", "AB": "AB", "DOI": "DO", "PM": "PM",
    "XR": "N1", "US": "UR",
}  # fmt: skip
_SHORT_NAME = re.compile(r"(?:[^\s,;.]+ ){1,4}(?:[^\W\d_a-z]|-){1,5}")
_QUALIFIERS = re.compile(r" ?\[[^\[\];]*\]")

# Addresses of trials, which contain a number that looks like a DOI; publishers do not know it.
_TRIAL = "/central/CN-"


def _recognises(source: Source) -> bool:
    return _FIRST_FIELD.search(source.head) is not None


def _open(source: Source, columns: Columns) -> Records:
    return Records(split_at(source.blocks(), _BEGINNING))


def _parse(text: bytes, context: None) -> Parsed | None:
    found = fields_of(text, _TAG)
    if not found:
        return None
    return ris.parse_renamed([field for tag, value in found if tag in _RIS_TAGS for field in _renamed(tag, value)])


def _renamed(tag: str, value: str) -> Iterator[Field]:
    """The fields with RIS tags, without the qualifiers of keywords; names of trials are split.

    >>> list(_renamed("AU", "Doe J, van Roe AB")), list(_renamed("KY", "*Obesity [diet therapy]; Child, Preschool"))
    ([('AU', 'Doe J'), ('AU', 'van Roe AB')], [('KW', '*Obesity; Child, Preschool')])
    """
    names = [name.strip() for name in value.split(",")] if tag == "AU" else []
    if len(names) > 1 and all(map(_SHORT_NAME.fullmatch, names)):
        yield from (("AU", name) for name in names)
    elif tag == "KY":
        yield "KW", _QUALIFIERS.sub("", value)
    elif tag not in ("US", "DOI") or _TRIAL not in value:
        yield _RIS_TAGS[tag], value


FORMAT = Format(name="cochrane", title="Cochrane Library text", recognises=_recognises, open=_open, parse=_parse)
