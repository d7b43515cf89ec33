"""Ovid's tagged text (VN, DB, UI, …), which its exports for EndNote, Citavi and other reference managers have.

Reads title, abstract, year, venue, keywords, identifiers and the authors with their addresses. The fields are renamed
to RIS tags and read as those of RIS.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from homonym.io.inputs import Source
from homonym.records.formats import ris
from homonym.records.model import Parsed
from homonym.records.parsing.splitting import split_at
from homonym.records.parsing.tagged_lines import Field, fields_of
from homonym.records.reader import Columns, Format, Records

# The pattern begins with literal characters and looks behind only then, which makes the search much faster.
_BEGINNING = re.compile(rb"VN  - Ovid Technologies(?<![^\r\n].{23})", re.DOTALL)
_TAG = re.compile(r"\n([A-Z][A-Z0-9])  - ?")
# The number before the next record, which the last field of a record ends with: "<3002. >".
_NEXT_NUMBER = re.compile(r"\n<\d{1,9}\. ?>\s*+\Z")

# Ovid tag -> RIS tag. MEDLINE has full names in FA, next to the short ones in AU.
_RIS_TAGS = {
    "UI": "AN", "DB": "DB", "TI": "TI", "AB": "AB", "AU": "AU", "FA": "AU", "CA": ris.GROUPS, "YR": "PY", "DP": "DA",
    "JN": "JF", "JT": "JF", "SO": "SO", "MH": "KW", "KW": "KW", "DO": "DO", "IN": "AD", "AD": "AD", "AI": "AI",
    "PM": "PM",
}  # fmt: skip
_ADDRESS_LINES = re.compile(r"\n\s*+(?=\()")


def _recognises(source: Source) -> bool:
    return _BEGINNING.search(source.head) is not None


def _open(source: Source, columns: Columns) -> Records:
    return Records(split_at(source.blocks(), _BEGINNING))


def _parse(text: bytes, context: None) -> Parsed | None:
    found = fields_of(text, _TAG)
    if not found:
        return None
    tag, value = found[-1]
    found[-1] = tag, _NEXT_NUMBER.sub("\n", value)
    names = [value.strip() for tag, value in found if tag == "AU"]
    unused = "AU" if sum(tag == "FA" for tag, _ in found) == len(names) > 0 else "FA"
    wanted = ((tag, value) for tag, value in found if tag in _RIS_TAGS and tag != unused)
    return ris.parse_renamed([field for tag, value in wanted for field in _renamed(tag, value, names)])


def _renamed(tag: str, value: str, names: list[str]) -> Iterator[Field]:
    """The fields with RIS tags; Embase's "(Doe, Roe) address" is written with whole names, as in its own RIS."""
    if tag == "IN" and value.startswith("("):
        for address in _ADDRESS_LINES.split(value):
            yield "M1", _with_whole_names(address, names)
    else:
        yield _RIS_TAGS[tag], value.partition(". ")[0] if tag == "SO" else value


def _with_whole_names(address: str, names: list[str]) -> str:
    """An address with the names of its authors in brackets, of whom Embase gives the surnames.

    A surname that several authors have is left as it is, and so names none of them.

    >>> _with_whole_names("(Doe, Roe) Univ X", ["Doe J.", "Roe A.", "Roe B."])
    '(Doe J.; Roe) Univ X'
    """
    found = ris.BRACKETED.match(address)
    if found is None:
        return address
    whole: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        whole[name.rpartition(" ")[0]].append(name)
    surnames = [surname.strip() for surname in found[1].split(",")]
    people = [whole[surname][0] if len(whole[surname]) == 1 else surname for surname in surnames]
    return f"({'; '.join(people)}) {address[found.end() :]}"


FORMAT = Format(name="ovid", title="Ovid tagged text", recognises=_recognises, open=_open, parse=_parse)
