"""Author names as they are really written -> one normal form, `SURNAME, INITIALS`.

The order of a name is told by its comma, then by its case, then by the length of its words; most family names are
given names elsewhere, so no list of them is asked. Of two honest readings the one more common in exports wins:

- Capitals among small letters are initials up to three ("Smith JAM"), a surname if longer ("DUPONT Jean"). Where all
  is capitals, two letters or a word without vowels are initials ("SMITH JW", "LI X"), the rest are words, given name
  first ("JOHN SMITH", and so "WANG WEI").
- "SMITH, JAM" is also our own key of three initials: three capitals behind a comma are a name only if it is a common
  one ("SMITH, ANN"); four and more with a vowel always are ("SMITH, JOHN").
- Words without a comma begin with the given name unless initials end them, as in PubMed's "Garcia Marquez G".
- "JR", "II", "MD" right behind a surname are initials; a particle in front may be a given name ("Di Wu").
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from anyascii import anyascii

# Maximum number of names in each cache: a name takes some hundred bytes, and most names of a file recur soon.
MAX_CACHED_NAMES = 2**17


class Name(NamedTuple):
    """A person's name in upper-case ASCII; an empty surname means that there is no name."""

    surname: str
    initials: str
    given: tuple[str, ...]
    suffix: str

    @property
    def key(self) -> str:
        """Surname and all initials: `DOE, JW`."""
        return f"{self.surname}, {self.initials}" if self.initials else self.surname

    @property
    def first_initial_key(self) -> str:
        """Surname and first initial: `DOE, J`."""
        return f"{self.surname}, {self.initials[0]}" if self.initials else self.surname

    @property
    def full_key(self) -> str:
        """Surname and given names as far as they are spelled out: `DOE, JANE W`."""
        return f"{self.surname}, {' '.join(self.given)}" if self.given else self.surname


def encode_name(name: Name) -> str:
    """A parsed name as text, the form in which tables store it: decoding is much faster than parsing again.

    >>> encode_name(parse_name("van der Berg, Jan-Willem K., Jr"))
    'VAN DER BERG|JWK|JAN WILLEM K|JR'
    """
    return "|".join((name.surname, name.initials, " ".join(name.given), name.suffix))


def decode_name(text: str) -> Name:
    """The name that `encode_name` wrote.

    >>> decode_name("BERG|JW|JAN W|")
    Name(surname='BERG', initials='JW', given=('JAN', 'W'), suffix='')
    """
    surname, initials, given, suffix = text.split("|")
    return Name(surname, initials, tuple(given.split()), suffix)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NO_NAME = Name("", "", (), "")
_TITLES = _set("DR PROF PROFESSOR SIR DAME MR MRS MS REV")
_HONOURS = dict.fromkeys(_set("PHD MDPHD DPHIL MSC BSC DSC MPH MBBS DVM DDS PHARMD FRCP FRCS FRS ESQ"), "")
_HONOURS |= {"JR": "JR", "JNR": "JR", "JUNIOR": "JR", "SR": "SR", "SNR": "SR", "II": "II", "III": "III", "IV": "IV"}
# What opens a surname: anywhere in a name, only inside it, or only in small letters.
_PARTICLES = _set("DEL DELA DEN DER DES DOS HET IBN LAS LOS MC ST TER VANDEN VANDER VOM VON ZUM ZUR")
_INNER_PARTICLES = _PARTICLES | _set("ABD ABU AL BEN DA DAL DALLA DE DEGLI DELLA DI DU EL LA LE LO SAN VAN")
_SMALL_PARTICLES = _INNER_PARTICLES | _set("AF AUF BIN BINT D DAS DO T TE TEN UND ZU")
_CONNECTORS = _set("y e i")
_JOINED = _set("D L MAC MC O")
_GROUPS = _set("COLLABORATION COMMITTEE CONSORTIUM GROUP INITIATIVE INVESTIGATORS NETWORK SOCIETY TEAM")
_VIETNAMESE = _set("BUI DANG DINH DO HO HOANG HUYNH LE LY NGO NGUYEN PHAM PHAN TRAN TRINH VO VU")
_SHORT_GIVEN = _set(
    "ADA ALI AMY ANA ANN AVI BAO BEN BIN BOB DAN DON EVA EVE FEI GUY HAN HAO HUA HUI HYE IAN IDA INA IRA IVO JAN JAY "
    "JIA JIE JIM JIN JOE JON JOY JUN KAI KAY KEN KIM LAN LEA LEE LEI LEO LEV LIN LIU LUC MAI MAX MAY MEI MIA MIN NAN "
    "NIR OLE PAT PEI PER PIA QIN RAY REN ROB RON ROY RUI SAM SUE TAL TAO TED TIM TOM UTE UWE WEI WEN XIN YAN YUN ZOE"
)
_PLAIN = re.compile(r"[A-Za-z\s.,\-]*")
_LOOKALIKES = str.maketrans(
    "`´ʹʻʼʽˈ‘’‛′＇‐‑‒–—―−－﹣，、،﹐．。“”„«»＂（）［］【】",
    "'" * 12 + "-" * 9 + ",,,,.." + '"' * 6 + "()[][]",
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u2060\ufeff",
)
_ASIDE = re.compile(r"""\([^)]*\)?|\[[^\]]*\]?|"[^"]*"|(?<!\w)'[\w\s]+'(?!\w)""")
_ORDINAL = re.compile(r"\b(?:2 ?n ?d|3 ?r ?d|4 ?t ?h)\b", re.IGNORECASE)
_NOISE = re.compile(r"""[\d()\[\]{}"!#$%&*+/:;<=>?@\\^_|~]+""")
_NOBODY = re.compile(r"(?i)(\b(and others|et\W? al)\W*)+$|^\W*(others|no authors?( name available| listed)?)\W*$")
_NOBODY_ENDS = ("et al", "others", "author", "available", "listed")
_WORD = re.compile(r"[^\s.\-][^\s.]*\.?")
_NOT_LETTERS = re.compile(r"[^A-Z\-]+")
_VOWEL = re.compile(r"[AEIOUY]")
# One initial that takes two Latin letters: "Yu. Ivanov", "Szabo Gy.".
_DIGRAPH = re.compile(r"(?:[B-DF-HJ-NP-TV-Z][b-df-hj-np-tv-z]|[IJY][aeou])\.")
_EAST_ASIAN = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_COMPOUND = _set("欧阳 歐陽 司马 司馬 诸葛 諸葛 上官 司徒 夏侯 皇甫 慕容 令狐 宇文 公孙 公孫 남궁 황보 제갈 선우")
# Capitalised words and initials: the surname in front of a comma or of initials, or last. In capitals only a word with
# a vowel is a surname for certain.
_GIVEN = r"(?:[A-Z][a-z]+|(?:[A-Z]\.)+|[A-Z])"
_COMMON = re.compile(
    rf"[A-Z][a-z]+, {_GIVEN}(?: {_GIVEN})*|[A-Z][a-z]+(?: [A-Z]\.?)+|({_GIVEN}(?: {_GIVEN})* [A-Z][a-z]+)|"
    r"([A-Z][a-z]+,? [A-Z]{2,3}|(?=[A-Z]*[AEIOUY])[A-Z]{3,} [A-Z]{1,2})"
)
_SPECIAL = (_TITLES | _SMALL_PARTICLES | _JOINED | _GROUPS | set(_HONOURS) | _set("MD THI")) - _set("D L O T")
# Latin letters that become one letter of the same case, whatever stands beside them.
_ACCENTS = {
    code: letter
    for code in range(0xC0, 0x180)
    if len(letter := anyascii(chr(code))) == 1 and letter.isalpha() and letter.isupper() == chr(code).isupper()
}


class _NameWord(NamedTuple):
    raw: str  # as written: case and dot are evidence
    name: str  # folded to A-Z and inner hyphens
    capital: bool

    def is_short(self, *, upper: bool) -> bool:
        """Tell initials from words where no comma does."""
        raw, name, capital = self
        size = len(raw.rstrip(".").replace("-", ""))
        if size == 1:
            return raw not in _CONNECTORS
        if not capital:
            return raw[-1] == "." and name not in _SMALL_PARTICLES and _DIGRAPH.fullmatch(raw) is not None
        return size <= (2 if upper else 3) or not _VOWEL.search(name)

    def is_run(self, *, upper: bool, alone: bool, comma: bool) -> bool:
        """Tell initials written together from a given name in capitals."""
        raw, name, capital = self
        if not capital or len(name) == 1 or "-" in name:
            return False
        size = len(raw.rstrip("."))
        if upper and _VOWEL.search(name):
            return alone and (size == 2 or (size == 3 and comma and name not in _SHORT_GIVEN))
        return size <= 3 or not _VOWEL.search(name)

    def is_particle(self, *, upper: bool) -> bool:
        """Tell a particle inside a name; capitals among small letters are initials."""
        raw, name, capital = self
        if name not in _SMALL_PARTICLES or capital > upper:
            return False
        return name in _INNER_PARTICLES or (raw.islower() and raw != "d.")


@lru_cache(maxsize=MAX_CACHED_NAMES)
def parse_name(text: str) -> Name:
    """Normalise one author name; an unusable one gets the surname "".

    >>> [parse_name(text).key for text in ("Jane W. Doe", "Berg, A. van der", "王小明")]
    ['DOE, JW', 'VAN DER BERG, A', 'WANG, X']
    >>> parse_name("Smith, John Paul, III")
    Name(surname='SMITH', initials='JP', given=('JOHN', 'PAUL'), suffix='III')
    """
    return parse_name_uncached(text)


def parse_name_uncached(text: str) -> Name:
    """`parse_name` for callers that have a cache of their own."""
    return _parse_common(text) or _parse(text)


def _parse_common(text: str) -> Name | None:
    """What `_parse` says, for names like "Doe, Jane W.", "J. W. Doe" and "Doe JW"; None for all that needs thought.

    Most names of any collection are such, and this takes a tenth of the time.
    """
    if not text.isascii():
        text = text.translate(_ACCENTS)
    if not (found := _COMMON.fullmatch(text)) or text.endswith(_NOBODY_ENDS):
        return None
    surname_last, letters = found.groups()
    words = text.upper().replace(",", " ").replace(".", " ").split()
    if not _SPECIAL.isdisjoint(words):
        return None
    if letters:
        surname, given = words[0], tuple(words[1])
    elif surname_last:
        surname, given = words[-1], tuple(words[:-1])
    else:
        surname, given = words[0], tuple(words[1:])
    return Name(surname, "".join([name[0] for name in given]), given, "")


def _parse(text: str) -> Name:
    """Read a name with all that names may have."""
    if not _PLAIN.fullmatch(text):
        text = _clean(text)
        if _EAST_ASIAN.search(text):
            return _parse_east_asian(text)
    if text.rstrip().rstrip(" .,").lower().endswith(_NOBODY_ENDS):
        text = _NOBODY.sub("", text)
    # All small says as little about the order as all capitals; "Ph.D." would fall apart at its dots.
    text = text.upper() if text.islower() else text.replace("Ph.D", "PhD").replace("Ph. D", "PhD")
    split = text.split(",")
    parts, suffix = _without_honours([words for part in split if (words := _words(part, comma=len(split) > 1))])
    if len(parts) > 1:
        return _parse_with_comma(parts[0], [word for part in parts[1:] for word in part], suffix)
    return _parse_without_comma(parts[0], suffix) if parts else _NO_NAME


@lru_cache(maxsize=MAX_CACHED_NAMES)
def name_key(text: str) -> str:
    """Surname and all initials of a name as it is written; "" for what is none.

    >>> name_key("Jane W. Doe"), name_key("et al.")
    ('DOE, JW', '')
    """
    name = parse_name_uncached(text)
    return name.key if name.surname else ""


def _clean(text: str) -> str:
    """Unify characters that only look different; drop nicknames, marks and numbers."""
    text = unicodedata.normalize("NFC", text).translate(_LOOKALIKES)
    without_asides = _ASIDE.sub(" ", text)
    text = without_asides if without_asides == text or _fold(without_asides) else text
    text = text.upper() if text.islower() else text
    text = _ORDINAL.sub(lambda found: {"2": "ii", "3": "iii", "4": "iv"}[found[0][0]], text)
    return _NOISE.sub(" ", text).replace("'", "")


def _fold(text: str) -> str:
    """Turn any script into A-Z with hyphens at most between the letters."""
    text = (text if text.isascii() else anyascii(text)).upper().strip(".-")
    return text if text.isalpha() else _NOT_LETTERS.sub("", text).strip("-")


def _words(part: str, *, comma: bool) -> list[_NameWord]:
    """Split into words without the titles in front, which in capitals may be initials ("DR Smith")."""
    words = [_NameWord(raw, name, raw.isupper()) for raw in _WORD.findall(part) if (name := _fold(raw))]
    while words and words[0].name in _TITLES and (not words[0].capital or (len(words) > 2 and not comma)):
        del words[0]
    return words


def _all_capital(words: list[_NameWord]) -> bool:
    return "".join([word.raw for word in words]).isupper()


def _parse_with_comma(family: list[_NameWord], given: list[_NameWord], suffix: str) -> Name:
    family, suffix = _without_suffix(family, suffix)
    given, suffix = _without_suffix(given, suffix)
    upper = _all_capital(family + given)
    particles, given = _without_particles(given, upper=upper)
    return _name(particles + family, given, suffix, upper=upper, comma=True)


def _parse_without_comma(words: list[_NameWord], suffix: str) -> Name:
    # "John Smith III" and "Smith Jr" end in a suffix, "Ivanov II" and "Souza Lima JR" in initials.
    _, last, capital = words[-1]
    plain = not capital or last[0] == "I" or _all_capital(words)
    if last in _HONOURS and plain and (len(words) > 2 or not (capital or last == "JUNIOR")):
        words, suffix = _without_suffix(words, suffix)
    upper = _all_capital(words)
    start, stop = _family(words, [word.is_short(upper=upper) for word in words], upper=upper)
    return _name(words[start:stop], words[:start] + words[stop:], suffix, upper=upper, comma=False)


def _name(family: list[_NameWord], given: list[_NameWord], suffix: str, *, upper: bool, comma: bool) -> Name:
    family, suffix = _without_suffix(family, suffix)
    surname = " ".join([word.name for word in family]).replace("-", " ").split()
    while len(surname) > 1 and surname[0] in _JOINED:
        surname[:2] = [surname[0] + surname[1]]
    alone = sum([len(word.name) > 1 for word in given]) == 1
    names: list[str] = []
    for word in given:
        run = word.is_run(upper=upper, alone=alone, comma=comma)
        names += map(_fold, word.raw) if run else word.name.split("-")
    names = [name for name in names if name]
    return Name(" ".join(surname), "".join([name[0] for name in names]), tuple(names), suffix)


def _without_honours(parts: list[list[_NameWord]]) -> tuple[list[list[_NameWord]], str]:
    """Drop the parts that are only a degree or a suffix, and say which suffix."""
    kept, suffix = parts[:1], ""
    for part in parts[1:]:
        honour = _honour(part, kept)
        if honour is None:
            kept.append(part)
        suffix = suffix or honour or ""
    return kept, suffix


def _honour(part: list[_NameWord], before: list[list[_NameWord]]) -> str | None:
    """Give a suffix, "" for a degree, None for names: "Jane Doe, MD", but "Doe, MD" and "De Souza, MD"."""
    text, capital, first = "".join([word.name for word in part]), _all_capital(part), before[0]
    honour = "" if text == "MD" and capital else _HONOURS.get(text)
    if honour is None or not capital or len(before) > 1:
        return honour
    whole = len(first) > 1 and first[0].name not in _SMALL_PARTICLES and not _all_capital(first)
    return honour if whole and (not honour or (honour[0] == "I" and len(part) == 1)) else None


def _without_suffix(words: list[_NameWord], suffix: str) -> tuple[list[_NameWord], str]:
    while len(words) > 1 and (honour := _HONOURS.get(words[-1].name)) is not None:
        words, suffix = words[:-1], suffix or honour
    return words, suffix


def _without_particles(given: list[_NameWord], *, upper: bool) -> tuple[list[_NameWord], list[_NameWord]]:
    """Part the surname's particles from the given names: "A. van der"."""
    stop = len(given)
    while stop and given[stop - 1].is_particle(upper=upper):
        stop -= 1
    # One capitalised "Van" may be a Vietnamese given name, a lone "DE" two initials.
    moved = (stop and len(given) > stop + 1) or all(word.raw.islower() for word in given[stop:])
    return (given[stop:], given[:stop]) if moved else ([], given)


def _family(words: list[_NameWord], short: list[bool], *, upper: bool) -> tuple[int, int]:
    """Find where the surname starts and stops in a name without a comma."""
    count = len(words)
    if count == 1 or not _GROUPS.isdisjoint([word.name for word in words]):
        return 0, count
    if False not in short:  # "LI X" and "LI XY", but "X LI" and "JW LI"
        first, last = words[0].name, words[-1].name
        ahead = len(first) > 1 and (len(last) == 1 or _VOWEL.search(first) or not _VOWEL.search(last))
        return (0, 1) if ahead else (count - 1, count)
    stop = count - short[::-1].index(False)
    if stop < count and not any(short[i] and words[i].name not in _INNER_PARTICLES for i in range(stop)):
        return 0, stop
    return _family_of_words(words[:stop], short, upper=upper)


def _family_of_words(words: list[_NameWord], short: list[bool], *, upper: bool) -> tuple[int, int]:
    """Find the surname in a name that ends in a word."""
    count, first, second = len(words), words[0], words[1]
    middle = second.name in {"VAN", "THI"} and second.raw[0].isupper() and first.capital == second.capital
    if count > 2 and middle and first.name in _VIETNAMESE:
        return 0, 1
    if not upper and (loud := _capitals(words, short)):
        return loud
    particle = [word.is_particle(upper=upper) for word in words[:-1]]
    if particle[0] and (first.raw.islower() or not _PARTICLES.isdisjoint([first.name, second.name])):
        return 0, [*particle, False].index(False) + 1
    if True in particle[1:]:
        return particle.index(True, 1), count
    connected = [position for position in range(1, count - 1) if words[position].raw in _CONNECTORS]
    return (connected[0] if connected else count) - 1, count


def _capitals(words: list[_NameWord], short: list[bool]) -> tuple[int, int] | None:
    """Find a surname set in capitals at either end: "DUPONT Jean", "Jean DE LA TOUR"."""
    loud = [word.capital and (not short[i] or word.name in _INNER_PARTICLES) for i, word in enumerate(words)]
    if loud[0] == loud[-1]:
        return None
    start, stop = (0, loud.index(False)) if loud[0] else (len(loud) - loud[::-1].index(False), len(loud))
    return (start, stop) if False in short[start:stop] else None


def _parse_east_asian(text: str) -> Name:
    """Read Chinese, Japanese or Korean script: surname first, unless a middle dot marks a foreign name."""
    if re.search("[A-Za-z]", text):
        return parse_name(_EAST_ASIAN.sub(" ", text))
    *given, surname = re.split("[·・]", text)
    if not given:
        surname, *given = text.replace(",", " ").split()
    if not given:
        size = 2 if surname[:2] in _COMPOUND or len(surname) > 3 else 1  # four: Japanese, or two families
        surname, given = surname[:size], [surname[size:]]
    if "\uac00" <= given[0][:1] <= "\ud7a3":
        given = list("".join(given))  # romanised, Korean syllables are given names of their own: "Min-Su"
    family, *rest = (_NameWord(part, _fold(part), capital=False) for part in (surname, *given))
    return _name([family], rest, "", upper=False, comma=True) if family.name else _NO_NAME
