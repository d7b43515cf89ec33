"""Web of Science, plain text: files from "Export > Plain Text File" (savedrecs.txt), with full records or less.

A record extends from the field `PT` to the end mark `ER`; each field begins with a two-letter tag. Reads authors
with full names, addresses, e-mail addresses, ORCIDs and ResearcherIDs, the title, abstract, source, categories,
keywords, year and identifiers, and the first authors of cited references. `document_of` also serves the tables of the
Web of Science (`wos_tab`), which have the same fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from homonym.io.inputs import Source
from homonym.records.fields import exported_ids, identifiers
from homonym.records.fields.affiliations import add_address, add_emails, emails_in, remove_repeats
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.exported_ids import WOS_AUTHORS, WOS_CONTRIBUTORS, WOS_DOCUMENT
from homonym.records.fields.markup import collapse_spaces, plain_text, unescaped
from homonym.records.fields.people import AuthorIndex, FullNameIndex, is_placeholder, wos_cited_authors
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.splitting import Raw, decoded, split_at
from homonym.records.reader import Columns, Format, Records

Fields = Mapping[str, str]
"""Tag to value of one record; names, addresses and references may have one line each, which may be indented."""

Reprint = tuple[list[int], str]
"""The numbers of corresponding authors, and their address."""

# Fields with several entries: names, addresses, cited references.
_ENTRIES = frozenset("AU AF BA BF CA GP C1 RP CR".split())

# Groups that are authors of an article or of a book.
_GROUP_TAGS = ("CA", "GP")

# All fields that are read.
WANTED = _ENTRIES | frozenset("TI SO AB DE ID EM RI OI WC SC PY EA DI PM UT".split()) | {
    WOS_DOCUMENT, WOS_AUTHORS, WOS_CONTRIBUTORS
}  # fmt: skip

# A record without any of these is unusable.
_ESSENTIAL = frozenset({"AU", "AF", "TI", "UT"})

# Maximum length of an identifier with the name before it; anything longer is damage.
_LONGEST_IDENTIFIER = 500

# A record is cut before its first field and again after its last, so that a record whose first line is damaged does not
# swallow its neighbour. The patterns begin with letters, which are found much faster than the ends of lines.
_FIRST_FIELD = re.compile(rb"PT (?<=[\r\n]PT )[^\s-]")
_LAST_FIELD = re.compile(rb"ER(?<=[\r\n]ER) ?(?=[\r\n])")
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
_IGNORED = (
    "PT BE SE BS LA DT CT CY CL SP HO C3 FU FP FX NR TC Z9 U1 U2 PU PI PA SN EI BN J9 JI PD VL IS PN SU SI MA BP "
    "EP AR D2 PG P2 WE GA OA HC HP DA"
)
_TAGS = {tag + blank: tag for tag in _KNOWN for blank in ("", " ")} | {f"{tag} ": "" for tag in _IGNORED.split()}
_TYPICAL = frozenset(tag.encode() for tag in _KNOWN | {"PT", "LA", "DT", "J9", "PU", "NR", "TC"})

_REPRINT = re.compile(r"\((?:corresponding|reprint)\s+authors?\)[\s,]*", re.IGNORECASE)
_YEAR = re.compile(r"\b[12]\d{3}\b")

_AUTHOR_IDS = {"RI": "researcherid", "OI": "orcid"}

CUT_OFF = "the record is cut off: the end mark ER is missing"


def _recognises(source: Source) -> bool:
    tags = _TYPICAL.intersection(_TAGGED.findall(source.head))
    return len(tags) > 2 or {b"PT", b"AU"} <= tags


def _open(source: Source, columns: Columns) -> Records:
    return Records(_raws(source.blocks()))


def _raws(blocks: Iterator[bytes]) -> Iterator[Raw]:
    r"""Cut a stream into records; the last one is broken if it has no end mark.

    >>> for raw in _raws(iter([b"FN x\nVR 1.0\nPT J\nAU A\nER\n\nxx\nAU B\nER\n\nPT J\nAU C"])):
    ...     print(raw)
    Raw(number=1, text=b'FN x\nVR 1.0', broken='')
    Raw(number=3, text=b'PT J\nAU A\nER', broken='')
    Raw(number=7, text=b'xx\nAU B\nER', broken='')
    Raw(number=11, text=b'PT J\nAU C', broken='the record is cut off: the end mark ER is missing')
    """
    previous: Raw | None = None
    for raw in split_at(blocks, _FIRST_FIELD):
        text = raw.text.rstrip(b"\r\n ")
        is_one = text.endswith((b"\nER", b"\rER")) and not _LAST_FIELD.search(text)  # as nearly always
        for part in [raw._replace(text=text)] if is_one else _cut_after_ends(raw):
            if previous is not None:
                yield previous
            previous = part
    if previous is not None:
        is_whole = _ENDED.search(b"\n" + previous.text) or _fields(decoded(previous.text), []).keys() <= _FRAME
        yield previous if is_whole or previous.broken else previous._replace(broken=CUT_OFF)


def _cut_after_ends(raw: Raw) -> Iterator[Raw]:
    ends = [end.end() for end in _LAST_FIELD.finditer(raw.text)]
    number = raw.number
    for start, end in pairwise([0, *ends, len(raw.text)]):
        part = raw.text[start:end]
        if part.strip():
            yield from_first_line(Raw(number, part, raw.broken))
        number += len(part.splitlines()) - 1


def from_first_line(raw: Raw) -> Raw:
    r"""A record without the line ends around it, numbered by its first line.

    >>> from_first_line(Raw(4, b"\r\n\r\nPT J\r\n"))
    Raw(number=6, text=b'PT J', broken='')
    """
    text = raw.text.lstrip(b"\r\n")
    before = raw.text[: len(raw.text) - len(text)]
    return Raw(raw.number + max(before.count(b"\n"), before.count(b"\r")), text.rstrip(b"\r\n"), raw.broken)


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
        notes.append(
            ("field", "the record is cut off: its end mark ER is missing. It was kept, but fields may be missing.")
        )
    if len(set(fields.get("UT", "").split("\n"))) > 1:
        raise BrokenRecordError("two records have run together (several accession numbers UT)")
    if "C1" in fields:
        fields["C1"] = _unwrapped(fields["C1"])
    return document_of(fields, notes)


def _fields(text: str, notes: list[Note]) -> dict[str, str]:
    """The values of the fields that are read, and of the tags that frame files and records."""
    found: dict[str, str] = {}
    for field in _NOT_INDENTED.split(text):
        tag = _TAGS.get(field[:3])
        if tag:
            _add_field(tag, field[3:], found)
        elif tag is None and not _TAG.match(f"{field}\n"):
            return _badly_indented_fields(text, notes)
    return found


def _add_field(tag: str, value: str, found: dict[str, str]) -> None:
    if "\n" in value and tag not in _ENTRIES:
        value = value.replace("\n   ", " ")
    found[tag] = f"{found[tag]}\n{value}" if tag in found else value


def _badly_indented_fields(text: str, notes: list[Note]) -> dict[str, str]:
    """The values of the fields of a record in which some continuation lines are not indented."""
    found: dict[str, str] = {}
    for field in _FIELD.split(text):
        tag = field[:2]
        if tag in _KNOWN:
            lines = _undamaged_lines(field[3:], notes) if tag in _ENTRIES else [collapse_spaces(field[3:])]
            _add_field(tag, "\n".join(lines), found)
    return found


def _undamaged_lines(text: str, notes: list[Note]) -> Iterator[str]:
    first, *others = text.split("\n")
    yield first
    for line in others:
        if not line.startswith((" ", "\t")) and _DAMAGED.match(line):
            notes.append(("field", f"the line {line[:40]!r} begins with no field tag"))
            return
        yield line.strip()


def _unwrapped(addresses: str) -> str:
    r"""One address per line; in some old exports an address continues on the next lines until a full stop.

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


def document_of(fields: Fields, notes: list[Note], reference_separator: str = "\n") -> Parsed:
    """The document that the fields of a record describe; references are separated by line ends or by "; ".

    >>> document, _ = document_of({"AF": "Doe, Jane", "C1": "[Doe, Jane] Univ X, Y.", "UT": "WOS:1"}, [])
    >>> document.id, document.authors[0].name, document.authors[0].affiliations
    ('WOS:1', 'Doe, Jane', ['Univ X, Y'])
    """
    if _ESSENTIAL.isdisjoint(fields):
        raise BrokenRecordError("has neither authors (AU, AF) nor a title (TI) nor an accession number (UT)")
    number = next(iter(fields.get("UT", "").split()), "")
    document = Document(
        id=number,
        authors=_authors(fields, notes),
        title=plain_text(fields.get("TI", "")),
        abstract=plain_text(fields.get("AB", "")),
        year=_year(fields, notes),
        venue=plain_text(fields.get("SO", "")),
        categories=_terms(fields, "WC") or _terms(fields, "SC"),
        keywords=list(dict.fromkeys(_terms(fields, "DE") + _terms(fields, "ID"))),
        referenced_authors=wos_cited_authors(fields["CR"], reference_separator) if "CR" in fields else [],
        ids=_ids(fields, number, notes),
    )
    exported_ids.add_exported_ids(document, fields.get(WOS_DOCUMENT, ""), fields.get(WOS_AUTHORS, ""), notes)
    exported_ids.note_exported_contributors(fields.get(WOS_CONTRIBUTORS, ""), notes)
    return document, notes


def _terms(fields: Fields, tag: str) -> list[str]:
    if tag not in fields:
        return []
    text = plain_text(fields[tag])  # before the split: entities end with a semicolon, too
    return [item for part in text.split(";") if (item := part.strip())]


def _year(fields: Fields, notes: list[Note]) -> int | None:
    if given := fields.get("PY", "").strip():
        return publication_year(given, notes)
    early = _YEAR.search(fields.get("EA", ""))
    return int(early[0]) if early else None


def _ids(fields: Fields, number: str, notes: list[Note]) -> dict[str, str]:
    ids: dict[str, str] = {}
    identifiers.add(ids, "doi", fields.get("DI", "")[:_LONGEST_IDENTIFIER].strip(), notes)
    is_own = number.startswith(exported_ids.PREFIX)
    if number and not is_own and (found := identifiers.web_of_science(number)):
        # Records of MEDLINE have the PubMed number in place of an accession number.
        ids["pmid" if number.upper().startswith("MEDLINE:") else "wos"] = found
    if found := identifiers.number(fields.get("PM", "")[:_LONGEST_IDENTIFIER]):
        ids["pmid"] = found
    return ids


def _authors(fields: Fields, notes: list[Note]) -> list[Author]:
    pairs = _full_and_short_names(fields.get("AU", ""), fields.get("AF", ""))
    pairs = pairs or _full_and_short_names(fields.get("BA", ""), fields.get("BF", ""))
    authors, names = [], []
    for tag in _GROUP_TAGS:
        if tag in fields:
            for group in _names(fields[tag]):
                note_contributor(group, notes)
    for position, (name, short) in enumerate(pairs):
        has_letters = name[0].isalpha() or any(map(str.isalpha, name))
        if has_letters and not is_placeholder(name):
            authors.append(Author(position, name))
            names.append((name, short))
        elif has_letters and is_placeholder(short):
            note_contributor(name, notes)
        else:
            notes.append(("author", f"author {position} {name!r} is not a name"))
    if authors:
        index = FullNameIndex(names)
        reprints = _reprints(unescaped(fields["RP"]), index) if "RP" in fields else []
        _add_addresses(authors, index, unescaped(fields.get("C1", "")), reprints)
        if "EM" in fields:
            add_emails(
                authors, emails_in(fields["EM"]), names, {number for numbers, _ in reprints for number in numbers}
            )
        _add_author_ids(authors, index, fields, notes)
    return remove_repeats(authors)


def _full_and_short_names(short_names: str, full_names: str) -> list[tuple[str, str]]:
    """The full and the short name of each author, in the order of the longer list.

    >>> _full_and_short_names("Doe, J; Li, X", "Doe, Jane; Li, Xu")
    [('Doe, Jane', 'Doe, J'), ('Li, Xu', 'Li, X')]
    >>> _full_and_short_names("Doe, J; Li, X", "Li, Xu")
    [('Doe, J', 'Doe, J'), ('Li, Xu', 'Li, X')]
    """
    short, full = _names(short_names), _names(full_names)
    if len(short) == len(full):
        return list(zip(full, short, strict=True))
    if not short or not full:
        return [(name, name) for name in short or full]
    longer, fewer = (short, full) if len(short) > len(full) else (full, short)
    index = AuthorIndex([(name,) for name in longer])
    other = {index.find(name): name for name in fewer}
    pairs = [(name, other.get(number, name)) for number, name in enumerate(longer)]
    return [(full, short) for short, full in pairs] if longer is short else pairs


def _names(text: str) -> list[str]:
    """The names in a field, one per line; some programs write all of them into one line."""
    text = plain_text(text.replace("\n   ", ";").replace("\n", ";"))
    return [name for part in text.split(";") if (name := part.strip())]


def _reprints(text: str, index: FullNameIndex) -> list[Reprint]:
    r"""The corresponding authors in a field RP, with their addresses.

    >>> index = FullNameIndex([(name, name) for name in ("Doe, J", "Li, X", "Roe, R")])
    >>> _reprints("Doe, J; Li, X (corresponding author), Univ X, Y.; Roe, R (corresponding author), Univ Z.", index)
    [([0, 1], 'Univ X, Y'), ([2], 'Univ Z.')]
    >>> _reprints("Doe, J, Univ X, Dept A, Town", index), _reprints("Doe J\n   Univ X, Town", index)
    ([([0], ' Univ X, Dept A, Town')], [([0], '   Univ X, Town')])
    """
    return [(index.find_all(names), address) for names, address in _reprint_entries(text)]


def _reprint_entries(text: str) -> Iterator[tuple[str, str]]:
    names, *rest = _REPRINT.split(collapse_spaces(text))
    if not rest:
        yield _unmarked_reprint(text)
        return
    *inner, last = rest
    for part in inner:  # an address, then the names before the next one
        address, following = _address_and_next_names(part)
        yield names, address
        names = following
    yield names, last


def _unmarked_reprint(text: str) -> tuple[str, str]:
    """Name and address in old records: on separate lines, or separated by the second comma."""
    name, line_end, address = text.partition("\n")
    if line_end and name.count(",") < 2:
        return name, address
    surname, _, rest = text.partition(",")
    given, _, address = rest.partition(",")
    return f"{surname},{given}", address


def _address_and_next_names(text: str) -> tuple[str, str]:
    for separator, cut in ((".;", str.partition), (". ", str.rpartition), (";", str.partition)):
        address, found, names = cut(text, separator)
        if found:
            return address, names
    return text, ""


def _add_addresses(authors: list[Author], index: FullNameIndex, addresses: str, reprints: list[Reprint]) -> None:
    """Add the addresses "[Doe, J; Li, X] Univ X" to their authors; without names, only where there is no choice."""
    entries = [entry.strip() for entry in addresses.split("\n")] if addresses else []
    named, unnamed = [], []
    for entry in entries:
        if entry.startswith("["):
            names, _, address = entry[1:].partition("]")  # an entry that is cut within its names has no address
            named.append((index.find_all(names), address))
        else:
            unnamed.append(entry)
    if len(authors) == 1 or len(unnamed) == len(entries) == 1:
        named += [(list(range(len(authors))), address) for address in unnamed]
    for numbers, address in named + reprints:
        for number in numbers:
            add_address(authors[number], address)


def _add_author_ids(authors: list[Author], index: FullNameIndex, fields: Fields, notes: list[Note]) -> None:
    """Add identifiers from "Name/identifier; …"."""
    for tag, kind in _AUTHOR_IDS.items():
        for entry in plain_text(fields.get(tag, "")).split(";"):
            name, slash, given = entry.strip()[:_LONGEST_IDENTIFIER].partition("/")
            if not slash or (number := index.find(name)) is None:
                continue
            identifiers.add(authors[number].ids, kind, given, notes, of=name)


FORMAT = Format(name="wos", title="Web of Science, plain text", recognises=_recognises, open=_open, parse=_parse)
