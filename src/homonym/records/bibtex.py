"""BibTeX and biblatex, as reference managers, publishers and databases write it, the Web of Science among them.

An entry reaches from one `@type{key,` at the beginning of a line to the next, so that a brace too many or too few
spoils only its own entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from homonym.records.bibtex_entries import NO_ENTRY, NOT_DOCUMENTS, has_fields, parse_entry
from homonym.records.bibtex_fields import document
from homonym.records.formats import Columns, Format, Records
from homonym.records.model import Parsed
from homonym.records.problems import BrokenRecordError
from homonym.records.splitting import Raw, decoded, split_at
from homonym.sources import Source

# An entry of a type that is not here is known by its key and the comma behind it.
_TYPES = (
    "article|artwork|audio|book|bookinbook|booklet|collection|conference|dataset|electronic|image|inbook|incollection"
    "|inproceedings|inreference|journal|jurisdiction|legal|legislation|letter|manual|masterthesis|mastersthesis|misc"
    "|movie|music|mvbook|mvcollection|mvproceedings|mvreference|newspaper|online|patent|performance|periodical"
    "|phdthesis|preprint|presentation|proceedings|reference|report|review|set|software|standard|suppbook"
    "|suppcollection|suppperiodical|techreport|thesis|unpublished|video|webpage|www|xdata"
)
_KEYED = r"[{(]\s{0,4}[^\s,={}\"]{1,150}\s{0,4},"
_ENTRY = (
    rf"(?:(?i:{_TYPES})\s{{0,4}}(?:\{{|{_KEYED})|(?i:string|preamble|comment)\s{{0,4}}[{{(]"
    rf"|[A-Za-z][\w-]{{0,40}}\s{{0,4}}{_KEYED})"
)
_INDENTED = "|".join(rf"(?<=[\n\r}}][ \t]{{{blanks}}}@)" for blanks in range(9))
# It begins with the one character that is rare, and only then looks what stands before it. A single character behind
# a closing brace is a line end that was damaged.
_MARK = re.compile(rf"@(?:{_INDENTED}|(?<=\}}.@)){_ENTRY}".encode(), re.DOTALL)
_FIRST = re.compile(rf"\s*+@{_ENTRY}".encode())
_STRING = re.compile(rb"\s*+@\s*+string\b", re.IGNORECASE)
_MACRO_USE = re.compile(rb'[=#]\s*+([A-Za-z][^\s,{}()"#=]*+)')
_BEGINS = re.compile(r"\s*+@")

#: So many lines of remarks may stand before the first entry; a text with an entry as an example has more.
_MOST_REMARKS = 30

#: What is longer abbreviates nothing; each entry carries those that it uses.
_LONGEST_ABBREVIATION = 1000


def _recognises(source: Source) -> bool:
    head = source.head
    if _FIRST.match(head):
        return True
    found = _MARK.search(head)
    if found is None or head.lstrip()[:1] in {b"<", b"{", b"[", b'"'}:
        return False
    lines = [line.strip() for line in re.split(rb"[\r\n]", head[: found.start()])]
    remarks = [line for line in lines if line and not line.startswith(b"%")]
    return len(remarks) <= _MOST_REMARKS and not any(line.startswith(b"```") for line in remarks)


def _open(source: Source, columns: Columns) -> Records:
    return Records(_raws(source.blocks()))


def _raws(blocks: Iterable[bytes]) -> Iterator[Raw]:
    """Cut a file into entries, and put before each the abbreviations (@string) that it uses."""
    macros: dict[str, str] = {}
    for raw in split_at(blocks, _MARK):
        if raw.broken:
            pass
        elif _STRING.match(raw.text):
            macros |= _abbreviations(raw.text, macros)
        elif macros:
            raw = raw._replace(text=_definitions(raw.text, macros) + raw.text)
        yield raw


def _abbreviations(text: bytes, macros: dict[str, str]) -> dict[str, str]:
    try:
        fields = parse_entry(decoded(text), macros)[0].fields
        return {name: value for name, value in fields.items() if len(value) <= _LONGEST_ABBREVIATION}
    except BrokenRecordError:
        return {}  # it is said when the record is parsed


def _definitions(text: bytes, macros: dict[str, str]) -> bytes:
    names = {name.decode("utf-8", "replace").lower().replace("_", "-") for name in _MACRO_USE.findall(text)}
    return "".join(f"@string{{{name} = {{{macros[name]}}}}}\n" for name in sorted(names & macros.keys())).encode()


def _parse(raw: bytes, context: None) -> Parsed | None:
    text = decoded(raw)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not _BEGINS.match(text):
        _require_remark(text)
        return None
    macros: dict[str, str] = {}
    entry, end = parse_entry(text, macros)
    while entry.kind == "string":
        macros |= entry.fields
        if not _BEGINS.match(text, end):
            return None
        entry, end = parse_entry(text, macros, end)
    if entry.kind in NOT_DOCUMENTS:
        return None
    if has_fields(text, end):
        entry.notes.append(("record", "an entry behind this one has lost its '@type{key,'"))
    return document(entry)


def _require_remark(text: str) -> None:
    """Text outside of entries is a remark, unless it is what is left of one."""
    if has_fields("\n" + text):
        raise BrokenRecordError(NO_ENTRY)


FORMAT = Format(name="bibtex", title="BibTeX", recognises=_recognises, open=_open, parse=_parse)
