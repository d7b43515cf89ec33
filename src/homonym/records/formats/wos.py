"""Web of Science, plain text: fields of a two-letter tag, records from `PT` to `ER`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from homonym.io.inputs import Source
from homonym.records.fields.markup import collapse_spaces
from homonym.records.formats.wos_document import ENTRIES, WANTED, document_of
from homonym.records.model import BrokenRecordError, Note, Parsed
from homonym.records.parsing.splitting import Raw, decoded, split_at
from homonym.records.registry import Columns, Format, Records

# A record is cut at its first field and again behind its last, so that one whose first line is damaged does not run
# into its neighbour. The patterns begin with letters, which are found much faster than the ends of lines.
_FIRST = re.compile(rb"PT (?<=[\r\n]PT )[^\s-]")
_LAST = re.compile(rb"ER(?<=[\r\n]ER) ?(?=[\r\n])")
_LINE_ENDS = re.compile(r"\r\n?")
_FIELD = re.compile(r"\n(?=[A-Z][A-Z0-9](?:[ \n]|\Z))")
_TAG = re.compile(r"[A-Z][A-Z0-9]\s")
_NOT_INDENTED = re.compile(r"\n(?=\S)")
_ENDED = re.compile(rb"[\r\n]E[RF]\b")

# A line that may have begun with a tag before it was damaged.
_DAMAGED = re.compile(r"..\s|[A-Z][A-Z0-9][^\w,.'’-]", re.DOTALL)

# "XX text", unlike the "XX  - text" of RIS and MEDLINE.
_TAGGED = re.compile(rb"(?:^|[\r\n])([A-Z][A-Z0-9]) [^\s-]")
_FRAME = frozenset({"FN", "VR", "ER", "EF"})
_KNOWN = WANTED | _FRAME
_PASSED_OVER = (
    "PT BE GP CA SE BS LA DT CT CY CL SP HO C3 FU FP FX NR TC Z9 U1 U2 PU PI PA SN EI BN J9 JI PD VL IS PN SU SI MA BP "
    "EP AR D2 PG P2 WE GA OA HC HP DA"
)
_TAGS = {tag + blank: tag for tag in _KNOWN for blank in ("", " ")} | {f"{tag} ": "" for tag in _PASSED_OVER.split()}
_TELLING = frozenset(tag.encode() for tag in _KNOWN | {"PT", "LA", "DT", "J9", "PU", "NR", "TC"})

CUT_OFF = "cut off before its end mark ER"


def _recognises(source: Source) -> bool:
    tags = _TELLING.intersection(_TAGGED.findall(source.head))
    return len(tags) > 2 or {b"PT", b"AU"} <= tags


def _open(source: Source, columns: Columns) -> Records:
    return Records(_raws(source.blocks()))


def _raws(blocks: Iterator[bytes]) -> Iterator[Raw]:
    r"""Cut a stream into records; the last one must have its end.

    >>> for raw in _raws(iter([b"FN x\nVR 1.0\nPT J\nAU A\nER\n\nxx\nAU B\nER\n\nPT J\nAU C"])):
    ...     print(raw)
    Raw(number=1, text=b'FN x\nVR 1.0', broken='')
    Raw(number=3, text=b'PT J\nAU A\nER', broken='')
    Raw(number=7, text=b'xx\nAU B\nER', broken='')
    Raw(number=11, text=b'PT J\nAU C', broken='cut off before its end mark ER')
    """
    previous: Raw | None = None
    for raw in split_at(blocks, _FIRST):
        text = raw.text.rstrip(b"\r\n ")
        is_one = text.endswith((b"\nER", b"\rER")) and not _LAST.search(text)  # as nearly always
        for part in [raw._replace(text=text)] if is_one else _parted(raw):
            if previous is not None:
                yield previous
            previous = part
    if previous is not None:
        is_whole = _ENDED.search(b"\n" + previous.text) or _fields(decoded(previous.text), []).keys() <= _FRAME
        yield previous if is_whole or previous.broken else previous._replace(broken=CUT_OFF)


def _parted(raw: Raw) -> Iterator[Raw]:
    """Cut behind every end of a record."""
    ends = [end.end() for end in _LAST.finditer(raw.text)]
    number = raw.number
    for start, end in pairwise([0, *ends, len(raw.text)]):
        part = raw.text[start:end]
        if part.strip():
            yield from_first_line(Raw(number, part, raw.broken))
        number += len(part.splitlines()) - 1


def from_first_line(raw: Raw) -> Raw:
    r"""Take the ends of other lines from a record.

    >>> from_first_line(Raw(4, b"\r\n\r\nPT J\r\n"))
    Raw(number=6, text=b'PT J', broken='')
    """
    text = raw.text.lstrip(b"\r\n")
    before = raw.text[: len(raw.text) - len(text)]
    return Raw(raw.number + max(before.count(b"\n"), before.count(b"\r")), text.rstrip(b"\r\n"), raw.broken)


def _fields(text: str, notes: list[Note]) -> dict[str, str]:
    """What stands in each field, as far as it is read, and which marks there are."""
    found: dict[str, str] = {}
    for field in _NOT_INDENTED.split(text):
        tag = _TAGS.get(field[:3])
        if tag:
            _add(tag, field[3:], found)
        elif tag is None and not _TAG.match(f"{field}\n"):
            return _uneven_fields(text, notes)
    return found


def _add(tag: str, value: str, found: dict[str, str]) -> None:
    if "\n" in value and tag not in ENTRIES:
        value = value.replace("\n   ", " ")
    found[tag] = f"{found[tag]}\n{value}" if tag in found else value


def _uneven_fields(text: str, notes: list[Note]) -> dict[str, str]:
    """What stands in each field where not all lines that go on with one are indented as they should be."""
    found: dict[str, str] = {}
    for field in _FIELD.split(text):
        tag = field[:2]
        if tag in _KNOWN:
            _add(
                tag, "\n".join(_whole_lines(field[3:], notes)) if tag in ENTRIES else collapse_spaces(field[3:]), found
            )
    return found


def _whole_lines(text: str, notes: list[Note]) -> Iterator[str]:
    first, *others = text.split("\n")
    yield first
    for line in others:
        if not line.startswith((" ", "\t")) and _DAMAGED.match(line):
            notes.append(("field", f"the line {line[:40]!r} begins with no field tag"))
            return
        yield line.strip()


def _unwrapped(addresses: str) -> str:
    r"""Addresses on a line each; those of some old exports go on in the next until a full stop.

    >>> _unwrapped("[Doe, J; Li,\n   X] Univ X, Long Street,\n   Town.\n   Univ Y.")
    '[Doe, J; Li, X] Univ X, Long Street, Town.\nUniv Y.'
    """
    if addresses.startswith("[") and addresses.count("\n   [") == addresses.count("\n"):
        return addresses
    lines = [line.strip() for line in addresses.split("\n")]
    have_stops = lines[-1].endswith(".")
    whole: list[list[str]] = []
    names_open = is_open = False
    for line in lines:
        if line.startswith("[") or not (names_open or is_open):
            whole.append([])
            names_open = line.startswith("[")
        whole[-1].append(line)
        names_open = names_open and "]" not in line
        is_open = have_stops and not line.endswith(".")
    return "\n".join([" ".join(parts) for parts in whole])


def _parse(text: bytes, context: None) -> Parsed | None:
    notes: list[Note] = []
    lines = decoded(text).lstrip("\ufeff")
    fields = _fields(_LINE_ENDS.sub("\n", lines) if "\r" in lines else lines, notes)
    if not fields:
        raise BrokenRecordError("has no field of a Web of Science record")
    if fields.keys() <= _FRAME:
        return None
    if "ER" not in fields:
        if "UT" not in fields:
            raise BrokenRecordError(CUT_OFF)
        notes.append(("field", "the end mark ER is missing"))
    if len(set(fields.get("UT", "").split("\n"))) > 1:
        raise BrokenRecordError("two records have run into each other (several numbers UT)")
    if "C1" in fields:
        fields["C1"] = _unwrapped(fields["C1"])
    return document_of(fields, notes)


FORMAT = Format(name="wos", title="Web of Science, plain text", recognises=_recognises, open=_open, parse=_parse)
