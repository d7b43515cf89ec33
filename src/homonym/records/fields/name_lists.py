"""Several names in one text: where a field or a cell for one author lists several, split it at the marks between them.

A text is split only where all its parts are whole names. So "Ortega y Gasset, José" and "von und zu Berg, Karl" stay
one name. Where it is open whether a text lists several people, it stays one name, and `is_doubtful` is true: the reader
reports it.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from itertools import takewhile

from anyascii import anyascii

from homonym.io.word_lists import words_by_kind, words_of
from homonym.records.fields.degrees import is_degree
from homonym.records.fields.markup import ENTITY
from homonym.records.fields.name_remarks import without_remarks
from homonym.records.fields.people import SUFFIXES, is_group, is_placeholder, person_for_group
from homonym.records.model import Author, Document, Note

_SUFFIXES = SUFFIXES | {"junior", "senior"}

# Maximum number of words and of characters of a name.
_MOST_WORDS, _LONGEST_NAME = 7, 80

# Letters of Chinese, Japanese and Korean names. A dot is part of a transcribed name: "卡尔·马克思", "ジョン・スミス".
_HAN = r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_EAST_ASIAN = rf"[{_HAN}\u3040-\u30fa\u30fc-\u30ff\uac00-\ud7a3]"
_EAST_ASIAN_NAME = re.compile(rf"{_EAST_ASIAN}{{1,12}}(?:[ \u3000·•・]{{1,2}}{_EAST_ASIAN}{{1,12}}){{0,3}}")
_HANGUL = re.compile(r"[\uac00-\ud7a3]+")
_KATAKANA = re.compile(r"[\u30a0-\u30fa\u30fc-\u30ff]")

# Words for "and". Those in the second list also join the two parts of a surname: "Ramón y Cajal", "Costa e Silva".
_AND = r"and|und|et(?!\s+al\b)|och|og|en|ve|oraz|és|и|та|&"
_INSIDE_SURNAMES = r"y|e|i"
_CONJUNCTION = re.compile(rf"\s*,?\s(?:{_AND}|AND|UND|ET|({_INSIDE_SURNAMES}))\s+(?!zu\b)")

# Marks that separate whole names, strongest first; the full-width ones only occur between names.
_MARKS = tuple(
    map(
        re.compile,
        (
            r"[;；]",
            r"\|{1,2}",
            r"、",
            r"\s//\s|(?<=\w)//(?=\w)",
            r"\s/\s|(?<=\w)/(?=\w)",
            r"\s*•\s*",
            r"\s[·+]\s",
            r"(?<=\)),\s",
        ),
    )
)

#: The contributor that stands for authors who are left out at the end of a list.
OTHERS = "et al."
# What says that further authors are left out, at the end of a list.
_OTHERS = r"et\.? ?al|and others|(?-i:u\. ?a)|und andere|y otros|e outros|e altri|et autres"
_AND_OTHERS = re.compile(
    rf"[,;，、]?\s*(?:(?:\b|\[)(?:{_OTHERS})\b[\].,; ]*|&\s?al\b\.?|\(?\+\s?\d+\)?"
    r"|(?<=[^\W\da-zA-Z_]{2})\s?(?:等|ほか|他|外))$",
    re.IGNORECASE,
)
# "and" before the last name of a list with other marks.
_LEADING_AND = re.compile(r"(?:and|und|et(?! al\b)|&)\s+(?=[^\W\d_])")
# What lists of names have, and few names: marks, words for "and", "Doe J, ". Each expression begins with one character
# or a set, which makes the search several times as fast.
_MARK = re.compile(r"[;|/&•·+]")
_IN_LISTS = (".,", "et al", "u.a", " u. a", "\nand ", " AND ", " - ", " – ", " — ")
# Dashes between names, which may also be those of a double name.
_DASH = re.compile(r"\s[-–—]\s")
_SHORT_WORD = re.compile(r" [a-zéита]{1,5} ")
_JOINED = re.compile(r" (?:and|und|et|och|og|en|ve|oraz|és|и|та|y|e|i) ")
_TWO_COMMAS = re.compile(r",[^,\n]*,")
_INITIALS_AND_COMMA = re.compile(r" [A-Z]{1,3}, ")
_IN_SCRIPT = re.compile(rf"[；，、]|{_EAST_ASIAN} ?(?:[,・]|[等か他외]$)", re.MULTILINE)
INITIAL_FIRST = re.compile(r"[^\W\d_]{1,2}\.")
MEDLINE_NAME = re.compile(r"[^\W\d_][^,;.\d]{0,60} [A-Z]{1,3}(?: (?:Jr|Sr|2nd|3rd|[45]th|I{2,3}))?\.?")
# A surname with initials in any script: "Иванов И.И.", "Doe J. A.".
_DOTTED_NAME = re.compile(r"[^\W\d_][\w'’-]{1,40} (?:[^\W\d_]\.-? ?){1,3}")
_INITIALS = re.compile(rf"(?:(?!{_EAST_ASIAN})[^\W\d_a-z]\.?[- ]?){{1,4}}")
_NOT_IN_NAMES = re.compile(r"[\d@:<>=\[\]{}?!]")


def is_list_like(names: str) -> bool:
    """Whether a name has marks that lists have, which few names do; of several names in lines, whether any has.

    >>> is_list_like("Doe, Jane\\nAnn Roe"), is_list_like("Doe, J\\nRoe, R; Poe, E"), is_list_like("Doe J, Roe R")
    (False, True, True)
    """
    if _MARK.search(names) or any(map(names.__contains__, _IN_LISTS)):
        return True
    if _SHORT_WORD.search(names) and _JOINED.search(names):
        return True
    if "," in names and (_TWO_COMMAS.search(names) or _INITIALS_AND_COMMA.search(names) or ")," in names):
        return True
    return not names.isascii() and _IN_SCRIPT.search(names) is not None


@lru_cache(maxsize=1 << 14)
def names_in_list(text: str) -> tuple[str, ...]:
    """The names in a text that surely lists several, otherwise the text alone.

    >>> names_in_list("王伟，李娜"), names_in_list("山田太郎・鈴木花子"), names_in_list("山田, 太郎")
    (('王伟', '李娜'), ('山田太郎', '鈴木花子'), ('山田, 太郎',))
    >>> names_in_list("Doe, Jane und Müller, Karl"), names_in_list("J. Doe / W. Wang"), names_in_list("Doe, J; Roe, R")
    (('Doe, Jane', 'Müller, Karl'), ('J. Doe', 'W. Wang'), ('Doe, J', 'Roe, R'))
    >>> names_in_list("Ortega y Gasset, José"), names_in_list("Juan Ramón y Cajal"), names_in_list("A. Paz y M. Gil")
    (('Ortega y Gasset, José',), ('Juan Ramón y Cajal',), ('A. Paz', 'M. Gil'))
    >>> names_in_list("Jane Doe, John Smith, Wei Wang"), names_in_list("García López, María José")
    (('Jane Doe', 'John Smith', 'Wei Wang'), ('García López, María José',))
    >>> names_in_list("Jane Doe • Ann Roe"), names_in_list("Doe, J + Roe, R"), names_in_list("Doe, J (MIT; ETH Zürich)")
    (('Jane Doe', 'Ann Roe'), ('Doe, J', 'Roe, R'), ('Doe, J (MIT; ETH Zürich)',))
    >>> names_in_list("Doe J & al."), names_in_list("Doe, J + 5"), names_in_list("卡尔·马克思")
    (('Doe J',), ('Doe, J',), ('卡尔·马克思',))
    >>> names_in_list("Smith, J.; Rao, U. A."), names_in_list("Smith, J. u. a.")
    (('Smith, J.', 'Rao, U. A.'), ('Smith, J.',))
    """
    text = text.strip()
    if not is_list_like(text) or "://" in text or ENTITY.search(text):
        return (text,)
    text = _AND_OTHERS.sub("", text) or text
    for mark in _MARKS:
        parts = [part for one in mark.split(text) if (part := without_leading_and(one.strip(" ,;")))]
        if len(parts) > 1 and all(_is_entry(part, may_be_one_word=mark in _MARKS[:2]) for part in parts):
            return tuple(name for part in parts for name in names_in_list(part))
    names = _east_asian_names(text) or _names_joined_by_and(text) or _names_between_commas(text)
    return tuple(names) if len(names) > 1 else (text,)


@lru_cache(maxsize=1 << 14)
def is_doubtful(name: str) -> bool:
    """Whether a name that was not split may still be those of several people.

    >>> [is_doubtful(name) for name in ("Ana Paz y López Haro", "Doe, Jan, Roe, Al Jo, Poe", "山吹, 太一")]
    [True, True, False]
    >>> [is_doubtful(name) for name in ("Jane Doe - Richard Roe", "Smith - Jones, Jane", "Jane Smith – Jones")]
    [True, False, False]
    >>> [is_doubtful(name) for name in ("Ortega y Gasset, José", "García López, María", "Doe, Jane, Jr.")]
    [False, False, False]
    """
    if not is_list_like(name) or len(names_in_list(name)) > 1 or is_group(name) or ENTITY.search(name):
        return False
    if any(map(name.__contains__, ";；|")):
        return True
    if len(parts := _DASH.split(name)) > 1 and all(map(is_whole_name, parts)):
        return True
    if "，" in name or "、" in name:
        return len(name) > 4
    found = _CONJUNCTION.split(name)[::2]
    if len(found) > 1 and all(" " in part.strip() for part in found) and len({"," in part for part in found}) == 1:
        return True
    return len(between_commas(name)) > 3


def without_leading_and(text: str) -> str:
    """An entry of a list without "and" before it.

    >>> without_leading_and("and Roe, Ann"), without_leading_and("Anders Doe")
    ('Roe, Ann', 'Anders Doe')
    """
    found = _LEADING_AND.match(text)
    return text[found.end() :] if found else text


_BEFORE_NUMBERS = frozenset("[(0123456789")
_LINE_END = re.compile(r"\s*(?:[\r\n\t]+|<br ?/?>)\s*", re.IGNORECASE)
_COMMA_AT_END = re.compile(r",[ \t]*[\r\n]")
_LIST_MARK = re.compile(r"[;；|]")
_NUMBER = re.compile(r"(?:^|(?<=[\s;,|]))(?:\[(\d{1,3})\]|\(?(\d{1,3})[.)])\s+(?=\D)")


def _has_line_ends(text: str) -> bool:
    return "\n" in text or "\r" in text or "\t" in text or "<" in text


def names_in_lines(text: str) -> list[str]:
    r"""The lines of a text if each is one author, also if they are numbered; otherwise the text in one line.

    >>> names_in_lines("Doe, Jane\nSmith, John"), names_in_lines("Doe, Jane; Roe,\nAnn")
    (['Doe, Jane', 'Smith, John'], ['Doe, Jane; Roe, Ann'])
    >>> names_in_lines("1. Doe, J 2. Roe, R")
    ['Doe, J', 'Roe, R']
    >>> names_in_lines("Jane Doe, John\nSmith, Ann Roe"), names_in_lines("World Health\nOrganization")
    (['Jane Doe, John Smith, Ann Roe'], ['World Health Organization'])
    """
    if text[:1] not in _BEFORE_NUMBERS and not _has_line_ends(text):
        return [text]
    numbers = [int(one or other) for one, other in _NUMBER.findall(text)] if text[:1] in _BEFORE_NUMBERS else []
    if numbers and numbers == list(range(1, len(numbers) + 1)):
        parts = [part.strip(" ,;|\r\n") for part in _NUMBER.split(text)[::3]]
        return [" ".join(part.split()) for part in parts if part]
    lines = [line for one in _LINE_END.split(text) if (line := one.strip(" ,;|"))]
    joined = _LINE_END.sub(" ", text)
    if len(lines) < 2 or any(_LIST_MARK.search(line) or not _is_entry(line, may_be_one_word=False) for line in lines):
        return [joined]
    parts = between_commas(joined)
    is_wrapped = len(parts) > len(lines) and all(" " in part and _begins_with_given_name(part) for part in parts)
    is_wrapped &= not all(_has_two_long_parts(line) for line in lines)
    is_wrapped |= _COMMA_AT_END.search(text.strip()) is not None and len(names_in_list(joined.strip(" ,"))) > 1
    return [joined] if is_wrapped or is_group(joined) else lines


def _has_two_long_parts(line: str) -> bool:
    """Whether a line is a name such as "Martín García, Ana Belén"; wrapped lists are cut anywhere."""
    return line.count(",") == 1 and all(" " in part.strip() for part in line.split(","))


def is_unclear_break(text: str) -> bool:
    """Whether a line break may separate names that are not whole ones, where no other mark does.

    >>> is_unclear_break("Doe\\nSmith"), is_unclear_break("Doe, Jane; Roe,\\nAnn")
    (True, False)
    """
    if not _has_line_ends(text.strip()):
        return False
    found = names_in_lines(text)
    return len(found) == 1 and len(names_in_list(found[0])) == 1 and not is_group(found[0])


def _is_entry(text: str, *, may_be_one_word: bool) -> bool:
    """Whether a text between marks may be an entry of a list: a name, a list of names, a group or "et al."."""
    if (not text[0].isalpha() and not is_placeholder(text)) or text.count("(") != text.count(")"):
        return False
    if may_be_one_word and text.isalpha() and len(text) > 1 and not text[0].islower():
        return True
    if is_whole_name(text) or is_placeholder(text) or is_group(text) or person_for_group(text):
        return True
    plain = without_remarks(text)
    return (plain is not None and is_whole_name(plain.name)) or len(names_in_list(text)) > 1


def is_whole_name(text: str) -> bool:
    """Whether a text may be the whole name of one person: "Surname, Given", "Given Surname", or a name without blanks.

    >>> [is_whole_name(text) for text in ("Doe, J.", "Jane van Doe", "Jo Doe, Jr.", "王伟", "Doe", "Doe, Jr.")]
    [True, True, True, True, False, False]
    """
    if len(text) > _LONGEST_NAME or _NOT_IN_NAMES.search(text) or is_group(text):
        return False
    if _EAST_ASIAN_NAME.fullmatch(text):
        return len(text) > 1
    parts = [part.strip() for part in text.split(",")]
    while len(parts) > 1 and (parts[-1].lower() in SUFFIXES or is_degree(parts[-1], has_given=len(parts) > 2)):
        parts.pop()
    words = " ".join(parts).split()
    if len(parts) > 2 or not 2 <= len(words) <= _MOST_WORDS or not all(part[:1].isalpha() for part in parts):
        return False
    if len(parts) == 2:
        return True
    return not words[-1][:1].islower() and any(word[:1].isupper() or not word.isascii() for word in words)


# Names in Chinese, Japanese and Korean script.

# Maximum number of characters of such a name; transcribed foreign names may be longer, and so are names of groups.
_LONGEST_EAST_ASIAN_NAME = 6


def is_east_asian_name(text: str) -> bool:
    """Whether a text in Chinese, Japanese or Korean script is as short as the name of a person.

    >>> [is_east_asian_name(text) for text in ("王伟", "山田 太郎", "中国科学院自动化研究所", "Jane Doe")]
    [True, True, False, False]
    """
    return 1 < len(text) <= _LONGEST_EAST_ASIAN_NAME and _EAST_ASIAN_NAME.fullmatch(text) is not None


@cache
def _surnames() -> dict[str, frozenset[str]]:
    found = words_by_kind("east_asian_surnames", "homonym.records.fields")
    return {**found, "chinese": frozenset("".join(found["chinese"]))}


def _east_asian_names(text: str) -> list[str]:
    """The names between commas or dots, if each is a whole name; "山田, 太郎" is surname and given name."""
    if text.isascii():
        return []
    for mark, is_whole in (("，", _may_be_whole), (",", _is_whole_in_script), ("・", _is_japanese)):
        parts = [part for one in text.split(mark) if (part := one.strip())]
        if len(parts) > 1 and all(_EAST_ASIAN_NAME.fullmatch(part) and is_whole(part) for part in parts):
            return parts
    return []


def _may_be_whole(name: str) -> bool:
    """Whether a text before or behind a full-width comma, which is rare within names, is a whole name."""
    surnames = _surnames()
    return len(name) > 1 and name not in surnames["two"] and name not in surnames["japanese"]


def _is_whole_in_script(name: str) -> bool:
    """Whether a text before or behind a comma is a whole name, and not a surname or a given name alone."""
    if not _may_be_whole(name):
        return False
    if " " in name or "\u3000" in name or len(name) > 3 or _HANGUL.fullmatch(name):
        return True
    return name[0] in _surnames()["chinese"] or (len(name) > 2 and name[:2] in _surnames()["two"])


def _is_japanese(name: str) -> bool:
    """Whether a name is Japanese, so that a dot behind it is not part of a transcribed name."""
    if _KATAKANA.search(name):
        return False
    surnames = _surnames()["japanese"]
    return " " in name or "\u3000" in name or (len(name) > 2 and (name[:2] in surnames or name[:3] in surnames))


# Names in other scripts.


def _names_joined_by_and(text: str) -> list[str]:
    """The names that "and" joins in some language, if each is a whole name; the first may be a list with commas."""
    first, *rest = _CONJUNCTION.split(text)
    if not rest or is_group(text):
        return []
    connectors, names = rest[::2], [part.strip(" ,") for part in rest[1::2]]
    front = [first.strip(" ,")]
    if "," in front[0] and "," not in names[0]:
        front = between_commas(front[0])  # "Jane Doe, Wei Wang and Ann Roe"
    elif not is_whole_name(front[0]):
        front = _names_between_commas(front[0])
    found = [*front, *names]
    if not front or not all(map(is_whole_name, found)) or len({"," in name for name in found}) > 1:
        return []
    is_open = any(connectors) and "," not in found[0]  # "Ana Paz y López Haro" may have a surname with "y"
    return [] if is_open and not all(map(_begins_with_given_name, names)) else found


def between_commas(text: str) -> list[str]:
    """The texts between commas, with suffixes, and without degrees.

    >>> between_commas("Jane Doe, RN, PhD, Al Roe, Jr., PhD, RN"), between_commas("Doe, RN, PhD")
    (['Jane Doe', 'Al Roe, Jr.'], ['Doe', 'RN'])
    >>> between_commas("Jane Doe, RN, MS, PhD, Al Roe")
    ['Jane Doe', 'Al Roe']
    """
    given = [part for part in map(str.strip, text.split(",")) if part]
    parts: list[str] = []
    is_among = False  # degrees
    for place, part in enumerate(given, 1):
        if parts and part.lower() in _SUFFIXES:
            parts[-1] += f", {part}"
            continue
        is_sure = is_among or _begin_with_degrees(given[place:])
        is_behind_name = len(parts) > 1 or (bool(parts) and is_sure and " " in parts[-1])
        is_among = bool(parts) and is_degree(part, has_given=is_behind_name)
        if not is_among:
            parts.append(part)
    return parts


def _begin_with_degrees(parts: list[str]) -> bool:
    """Whether a list begins with degrees, and one of them is no word of names, such as "MS", "PhD"."""
    return any(map(is_degree, takewhile(partial(is_degree, has_given=True), parts)))


def _names_between_commas(text: str) -> list[str]:
    """The names in "Jane Doe, Wei Wang, Ann Roe", "Doe J, Roe A" or "Doe, J., Roe, A."; none if it is open."""
    parts = between_commas(text)
    if len(parts) < 2 or is_group(text) or any(map(is_group, parts)) or any(map(_EAST_ASIAN_NAME.fullmatch, parts)):
        return []
    if all(map(_DOTTED_NAME.fullmatch, parts)):
        return parts
    if all(map(_is_medline, parts)):
        if text.count(".") == 1:  # PubMed ends its lists with a full stop
            parts[-1] = parts[-1].rstrip(".")
        return parts
    if pairs := paired(parts):
        return pairs
    if len(parts) > 2 and is_placeholder(parts[-1]):
        parts.pop()
    if len(parts) < 3 or not all(map(_may_be_in_list, parts)):
        return []
    # A long list may have some names of one word, or in lower case.
    whole = sum(map(is_whole_name, parts))
    return parts if whole == len(parts) or (len(parts) > 3 and 3 * whole >= 2 * len(parts)) else []


def _may_be_in_list(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and text.count(" ") < _MOST_WORDS and not _NOT_IN_NAMES.search(text)


def _is_medline(text: str) -> bool:
    """Whether a text is a name such as "Doe JA"; "de los Reyes III" is a surname."""
    return MEDLINE_NAME.fullmatch(text) is not None and text.rpartition(" ")[2].lower() not in SUFFIXES


def may_be_two_names(text: str) -> bool:
    """Whether a text such as "Jane Doe, John Smith" may be two names, judged by known given names.

    >>> [may_be_two_names(name) for name in ("Jane Doe, John Smith", "DOE JANE, ROE JOHN", "García López, José María")]
    [True, True, False]
    """
    parts = between_commas(text) if "," in text else []
    are_names = len(parts) == 2 and all(map(is_whole_name, parts))
    return are_names and {*map(_place_of_given_name, parts)} in ({"first"}, {"last"})


def is_surname_and_given_names(parts: list[str]) -> bool:
    """Whether two texts with several words are a surname and given names, such as "García López" and "María José"."""
    family, given = parts
    return not _begins_with_given_name(family) and all(map(_is_given_name, given.replace("-", " ").split()))


def paired(parts: list[str]) -> list[str]:
    """The names in a list in which surnames and given names alternate between commas; none in other lists.

    All given names are initials, or all surnames have one word: otherwise names would have one word each.

    >>> paired(["Doe", "J.", "Roe Poe", "A."]), paired(["Doe", "Jane", "Roe", "Ann"]), paired(["Jane Doe", "Ann Roe"])
    (['Doe, J.', 'Roe Poe, A.'], ['Doe, Jane', 'Roe, Ann'], [])
    """
    families, given = parts[::2], parts[1::2]
    if len(families) != len(given) or any(part.lower() in _SUFFIXES or _NOT_IN_NAMES.search(part) for part in parts):
        return []
    if all(map(_INITIALS.fullmatch, given)):
        alternate = not any(map(_INITIALS.fullmatch, families))
    else:
        alternate = len(parts) > 3 and all(" " not in family and len(family) > 1 for family in families)
    return [f"{family}, {first}" for family, first in zip(families, given, strict=True)] if alternate else []


@cache
def _given_names() -> frozenset[str]:
    return words_of("given_name_forms") | words_of("short_given_names")


def _begins_with_given_name(name: str) -> bool:
    """Whether the first word of a name is an initial or a known given name."""
    word = name.partition(" ")[0]
    return bool(INITIAL_FIRST.match(word)) or _is_given_name(word)


def _place_of_given_name(name: str) -> str:
    """Whether the first or the last word of a name is a known given name; empty if both or none is."""
    words = name.split()
    found = len(words) > 1 and _is_given_name(words[0].rstrip(".")), len(words) > 1 and _is_given_name(words[-1])
    return {(True, False): "first", (False, True): "last"}.get(found, "")


def _is_given_name(word: str) -> bool:
    return anyascii(word).upper() in _given_names()


# Whole documents.


def split_author_lists(document: Document, notes: list[Note]) -> None:
    """Replace each author whose name is a list of names by one author each, and report it; leave out "et al.".

    An affiliation stays with all of them if it is the only one. Entries with a label, an identifier or an e-mail
    address are people.
    """
    if not is_list_like("\n".join([author.name for author in document.authors])):  # as nearly always
        return
    names = [author.name for author in document.authors if is_list_like(author.name)]
    if any(is_doubtful(name) or names_in_list(name) != (name,) for name in names):
        _split(document, notes)


def is_cut(text: str) -> bool:
    """Whether a list of names ends with "et al.", "+ 5" or dots, so that it has more names than it shows.

    >>> [is_cut(text) for text in ("Doe, J et al.", "J Doe, A Roe, ...", "Doe, J & al.", "Doe, J", "Rao, U. A.")]
    [True, True, True, False, False]
    """
    text = text.rstrip(" ,;")
    return text.endswith(("...", "…")) or (is_list_like(text) and _AND_OTHERS.search(text) is not None)


def _split(document: Document, notes: list[Note]) -> None:
    found: list[Author] = []
    for author in document.authors:
        is_person = author.label is not None or author.block is not None or author.ids or author.emails
        names = () if is_person else names_in_list(author.name)
        if names and is_cut(author.name):
            notes.append(("contributor", OTHERS))
        if len(names) > 1:
            notes.append(("warning", split_note(author.name, len(names))))
            common = author.affiliations if len(author.affiliations) == 1 else []
            found += [Author(0, name, list(common)) for name in names]
        else:
            author.name = names[0] if names else author.name
            found.append(author)
            if names and is_doubtful(author.name):
                notes.append(("warning", doubt_note(author.name)))
    for position, author in enumerate(found if len(found) > len(document.authors) else ()):
        author.position = position
    document.authors = found


def split_note(name: str, number: int) -> str:
    """What is reported on an entry that was split."""
    return f"{_shown(name)} was read as {number} authors, because it lists several in one field"


def marks_note(name: str) -> str:
    """What is reported on a list of names with marks of footnotes."""
    return f"{_shown(name)} was read without the marks behind names, which refer to affiliations or footnotes"


def doubt_note(name: str) -> str:
    """What is reported on an entry that may list several authors."""
    return f"{_shown(name)} looks like several authors, but it was read as one"


def _shown(name: str) -> str:
    text = " ".join(name.split())
    return repr(text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…")
