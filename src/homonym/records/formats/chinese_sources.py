"""What exports of CNKI and Wanfang have in common, whatever their format: lists of names, addresses in order.

The fields have RIS tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from homonym.records.parsing.tagged_lines import Field

# Letters of Chinese names, with the dots inside transcribed names. Japanese and Korean names have other separators.
_CHINESE = r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff·•・]"
_CHINESE_LIST = re.compile(rf"{_CHINESE}++(?:\s*+[,，、;；]\s*+{_CHINESE}++)++[,，、;；]?\s*")
_SEPARATOR = re.compile(r"[,，、;；]")
_MARK = re.compile(r"\[[\d,，\s]{1,20}\]")
_TWO_WORDS = re.compile(r"([A-Z][A-Za-z'’-]+) ([A-Z][A-Za-z'’-]{2,})")

_CNKI = ("CNKI", "中国知网", "同方知网")
_WANFANG = ("万方", "WANFANG", "Wanfang", "wanfang")


def prepared(fields: list[Field]) -> list[Field]:
    """The fields of a record, with the lists of names of Chinese databases split and their addresses by their authors.

    >>> prepared([("AU", "余敏[1]，朱江;"), ("AD", "北京"), ("AD", "北京")])
    [('AU', '余敏'), ('AD', '北京'), ('AU', '朱江'), ('AD', '北京')]
    >>> prepared([("DP", "CNKI"), ("AU", "Doe Jane;Roe Ann")])
    [('DP', 'CNKI'), ('AU', 'Doe, Jane'), ('AU', 'Roe, Ann')]
    """
    source = " ".join(value for tag, value in fields if tag in ("DP", "DB"))
    is_cnki = any(map(source.__contains__, _CNKI))
    is_wanfang = any(map(source.__contains__, _WANFANG))
    split = [part for field in fields for part in (_names(field, is_cnki) if field[0] == "AU" else [field])]
    return _addresses_by_author(_split_keywords(split) if is_wanfang else split, is_wanfang)


def _names(field: Field, is_cnki: bool) -> Iterator[Field]:
    """One field for each name. CNKI writes foreign names with the surname first, but without a comma."""
    tag, value = field
    value = _MARK.sub("", value).strip()
    names = _SEPARATOR.split(value) if _CHINESE_LIST.fullmatch(value) else value.split(";" if is_cnki else "\n")
    for name in [name.strip() for name in names if name.strip()] or [value]:
        words = _TWO_WORDS.fullmatch(name) if is_cnki else None
        yield tag, f"{words[1]}, {words[2]}" if words else name


def _split_keywords(fields: list[Field]) -> list[Field]:
    """The fields with semicolons between the keywords of one field, where Wanfang may write blanks."""
    given = [value for tag, value in fields if tag == "KW"]
    if len(given) != 1 or ";" in given[0] or not re.search(_CHINESE, given[0]):
        return fields
    return [(tag, ";".join(value.split()) if tag == "KW" else value) for tag, value in fields]


def _addresses_by_author(fields: list[Field], is_wanfang: bool) -> list[Field]:
    """The fields with each address after its author, if there is one address for each author.

    Wanfang has one for each author. So have others if an address is repeated: a list of different addresses has no
    repetition.
    """
    addresses = [value.strip() for tag, value in fields if tag == "AD"]
    authors = [value for tag, value in fields if tag == "AU"]
    if len(authors) < 2 or len(addresses) != len(authors):
        return fields
    if not is_wanfang and len({*addresses}) == len(addresses):
        return fields
    return list(_interleaved(fields, iter(addresses)))


def _interleaved(fields: Iterable[Field], addresses: Iterator[str]) -> Iterator[Field]:
    for tag, value in fields:
        if tag != "AD":
            yield tag, value
        if tag == "AU":
            yield "AD", next(addresses)
