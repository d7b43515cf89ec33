"""NoteExpress text ({Author}: …), which CNKI, Wanfang and VIP export, and CNKI's own text (Author-作者: …).

Reads title, abstract, year, venue, keywords, identifiers and the authors with their addresses. The fields are renamed
to RIS tags and read as those of RIS.
"""

from __future__ import annotations

import re
from contextlib import suppress

from homonym.io.inputs import Source
from homonym.records.formats import ris
from homonym.records.formats.chinese_sources import prepared
from homonym.records.model import Parsed
from homonym.records.parsing.splitting import Raw, is_western, split_at
from homonym.records.parsing.tagged_lines import lines_of, require_header, split_fields
from homonym.records.reader import Columns, Format, Records

# Each pattern begins with literal characters and looks behind only then, which makes the search much faster.
_REFERENCE_TYPE = re.compile(rb"\{Reference Type(?<![^\r\n].{15})\}", re.DOTALL)
_DATABASE = re.compile(rb"SrcDatabase-(?<![^\r\n].{12})", re.DOTALL)

_TAG = re.compile(r"\n\{([A-Z][A-Za-z/ ]{1,30})\} ?[:：] ?")
# The Chinese part of a name is the same in all exports; the English part names the field.
_CNKI_TAG = re.compile(r"\n([A-Z][A-Za-z]{1,20})-(?:[\u3400-\u9fff]{1,8}|DOI|URL) ?[:：] ?")

_CHINESE_WORD = re.compile(r"[\u4e00-\u9fff]{2}")
_IN_LATIN_WORD = re.compile(r"[A-Za-z][\u4e00-\u9fff][A-Za-z]")

# Field -> RIS tag. Editors, supervisors and translated names are not read.
_RIS_TAGS = {
    "Reference Type": "TY", "Author": "AU", "Author Address": "AD", "Title": "TI", "Journal": "JF", "Source": "JF",
    "Secondary Title": "T2", "Year": "PY", "Date": "DA", "Keywords": "KW", "Abstract": "AB", "DOI": "DO", "URL": "UR",
    "Accession Number": "AN", "Database Provider": "DP", "Database": "DB", "Label": "LB", "Publisher": "PB",
}  # fmt: skip
_CNKI_TAGS = {
    "SrcDatabase": "TY", "Author": "AU", "Organ": "AD", "Title": "TI", "Source": "JF", "Year": "PY", "PubTime": "DA",
    "Keyword": "KW", "Summary": "AB", "DOI": "DO", "URL": "UR",
}  # fmt: skip


def _recognises(source: Source) -> bool:
    return any(mark.search(source.head) for mark in (_REFERENCE_TYPE, _DATABASE))


def _open(source: Source, columns: Columns) -> Records:
    mark = _REFERENCE_TYPE if _REFERENCE_TYPE.search(source.head) else _DATABASE
    return Records(map(_in_utf8, split_at(source.blocks(), mark)))


def _in_utf8(raw: Raw) -> Raw:
    """A record in UTF-8; Chinese programs also write GB18030. In Latin-1, accents would be read as single characters.

    >>> _in_utf8(Raw(1, "作者".encode("gb18030"))).text.decode(), _in_utf8(Raw(1, "Gößel".encode("latin-1"))).text
    ('作者', b'G\\xf6\\xdfel')
    """
    if raw.text.isascii() or not is_western(raw.text):
        return raw
    with suppress(UnicodeDecodeError):
        text = raw.text.decode("gb18030")
        if _CHINESE_WORD.search(text) and not _IN_LATIN_WORD.search(text):
            return raw._replace(text=text.encode())
    return raw


def _parse(text: bytes, context: None) -> Parsed | None:
    lines = lines_of(text)
    fields = [(_RIS_TAGS[tag], value) for tag, value in split_fields(lines, _TAG) if tag in _RIS_TAGS]
    if not fields:
        found = split_fields(lines, _CNKI_TAG)
        fields = [(_CNKI_TAGS[tag], value) for tag, value in found if tag in _CNKI_TAGS]
        fields += [("DP", "CNKI")] if fields else []
    if not fields:
        require_header(lines)
        return None
    return ris.parse_renamed(prepared(fields))


FORMAT = Format(name="noteexpress", title="NoteExpress and CNKI text", recognises=_recognises, open=_open, parse=_parse)
