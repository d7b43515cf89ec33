"""Author names as they are really written -> one normal form, `SURNAME, INITIALS`.

The order of surname and given names follows from a comma, else from upper and lower case, else from the length of the
words. There is no list of surnames, because most of them are also given names. Where a name can be read in two ways,
the reading that is more common in exports wins:

- In a name with lower-case letters, up to three capitals are initials ("Smith JAM") and more are a surname ("DUPONT
  Jean"). In a name in capitals, two letters or a word without vowels are initials ("SMITH JW", "LI X"); the others are
  words, given name first ("JOHN SMITH", and so "WANG WEI": both words are surnames, and nothing shows the order).
- "SMITH, JAM" is also our own key with three initials. So three capitals after a comma are a given name only if it is a
  common one ("SMITH, ANN"); four or more with a vowel always are ("SMITH, JOHN").
- Without a comma the given name comes first, unless the name ends in initials as in PubMed's "Garcia Marquez G".
- "JR", "II" and "MD" directly after a surname are initials; a particle in front may be a given name ("Di Wu").
- Titles may have further words in lower case with full stops: "Dr. med. Jane Doe".
- A Cyrillic patronymic at the end shows that the surname is the first word: "Иванов Иван Иванович".
- "MD" or "M.D." after a given name is a degree ("Smith, John M.D."), after an initial it is initials ("Smith, J. MD").
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from anyascii import anyascii

from homonym.io.word_lists import lines_of, words_by_kind, words_of

# Maximum number of names in each cache: a name takes some hundred bytes, and most names of a file recur soon.
MAX_CACHED_NAMES = 2**17


class Name(NamedTuple):
    """A person's name in upper-case ASCII; an empty surname means that the text is not a name."""

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
        """Surname and given names, as far as they are written out: `DOE, JANE W`."""
        return f"{self.surname}, {' '.join(self.given)}" if self.given else self.surname

    @property
    def spelled_out(self) -> str | None:
        """Surname and given names if the first one is spelled out, `DOE|JANE W`; None for initials.

        The bar tells it apart from a key: `LI, JO` are two initials, `LI|JO` is a given name.

        >>> parse_name("Jane W. Doe").spelled_out, parse_name("Lee HY").spelled_out
        ('DOE|JANE W', None)
        """
        return f"{self.surname}|{' '.join(self.given)}" if self._has_given_name else None

    @property
    def full_name(self) -> str | None:
        """Surname and first given name if that is spelled out, `DOE|JANE`; None for initials.

        Unlike `spelled_out`, it does not depend on whether second names are written.
        """
        return f"{self.surname}|{self.given[0]}" if self._has_given_name else None

    @property
    def _has_given_name(self) -> bool:
        return len(self.given) > 0 and len(self.given[0]) > 1


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


_NO_NAME = Name("", "", (), "")
_TITLES = words_of("titles")
# Behind a surname they are no initials: "Santos Jr. A".
_SUFFIX_WITH_STOP = ("Jr.", "Sr.")
# Degrees have the value "", suffixes their normal form.
_HONOURS: dict[str, str] = dict.fromkeys(words_by_kind("degrees", "homonym.records.fields")["anywhere"], "")
_HONOURS |= {line.split()[0]: line.split()[1] for line in lines_of("suffixes")}
# Words that begin a surname: anywhere in a name; also those only inside of it; also those only in lower case.
_PARTICLES = words_by_kind("particles")["anywhere"]
_INNER_PARTICLES = _PARTICLES | words_by_kind("particles")["inside"] | words_by_kind("particles")["also-given"]
_LOWER_CASE_PARTICLES = _INNER_PARTICLES | words_by_kind("particles")["lower-case"]
_CONNECTORS = frozenset("yei")
# Words that are written together with the next one: O'Neil, McDonald.
_PREFIXES = frozenset({"D", "L", "MAC", "MC", "O"})
_GROUP_WORDS = words_of("group_words")
_VIETNAMESE_SURNAMES = words_of("vietnamese_surnames")
_SHORT_GIVEN_NAMES = words_of("short_given_names")
_PLAIN = re.compile(r"[A-Za-z\s.,\-]*")
_LOOKALIKES = str.maketrans(
    "`´ʹʻʼʽˈ‘’‛′＇‐‑‒–—―−－﹣，、،﹐．。“”„«»＂（）［］【】",
    "'" * 12 + "-" * 9 + ",,,,.." + '"' * 6 + "()[][]",
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u2060\ufeff",
)
_ASIDE = re.compile(r"""\([^)]*\)?|\[[^\]]*\]?|"[^"]*"|(?<!\w)'[\w\s]+'(?!\w)""")
_ORDINAL = re.compile(r"\b(?:2 ?n ?d|3 ?r ?d|4 ?t ?h)\b", re.IGNORECASE)
_NOISE = re.compile(r"""[\d()\[\]{}"!#$%&*+/:;<=>?@\\^_|~]+""")
_NO_PERSON = re.compile(r"(?i)(\b(and others|et\W? al)\W*)+$|^\W*(others|no authors?( name available| listed)?)\W*$")
_NO_PERSON_ENDS = ("et al", "others", "author", "available", "listed")
_NOT_COMMON_ENDS = (*_NO_PERSON_ENDS, " M.D.", " M.D")
# The words of `_NO_PERSON_ENDS` with which a simple name may end, in capitals.
COMMON_ENDS_EXCLUDED = tuple(end.upper() for end in _NO_PERSON_ENDS if " " not in end)
_DOTTED_DEGREE = re.compile(r" M\.D\.?(?=\s*$|\s*,| PhD)")
_WORD = re.compile(r"[^\s.\-][^\s.]*\.?")
_NOT_LETTERS = re.compile(r"[^A-Z\-]+")
_VOWEL = re.compile(r"[AEIOUY]")
# One initial that is transliterated with two Latin letters: "Yu. Ivanov", "Szabo Gy.".
_DIGRAPH = re.compile(r"(?:[B-DF-HJ-NP-TV-Z][b-df-hj-np-tv-z]|[IJY][aeou])\.")
_EAST_ASIAN = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_GREEK = re.compile(r"[\u0370-\u03ff]")
_GREEK_DIGRAPHS = (
    (re.compile(r"[οΟ][υύΥΎ]"), "ou"),
    (re.compile(r"([αεΑΕ])[υύΥΎ](?=[θκξπστφχψΘΚΞΠΣΤΦΧΨ]|$)"), r"\1f"),
    (re.compile(r"([αεΑΕ])[υύΥΎ]"), r"\1v"),
    (re.compile(r"\b[μΜ][πΠ]"), "b"),
)
# Hebrew alef and ayin, Arabic hamza, alef and ayin are transliterated to nothing, but an initial needs a letter. Vowel
# signs may follow.
_FIRST_SILENT = re.compile(
    r"(?:^|(?<=-))[\u05d0\u05e2\u0621\u0623\u0625\u0627\u0639\u0671][\u0591-\u05c7\u064b-\u0652]*"
)
# "Иванов Иван Иванович": a patronymic comes last only where the surname comes first.
_CYRILLIC = r"[\u0400-\u052f'’-]+"
_PATRONYMIC = r"(?:[оеё]вич|[вьктм]ич|[оеёії]вна|[иі]чна)"
_SURNAME_GIVEN_PATRONYMIC = re.compile(
    rf"\s*({_CYRILLIC})\s+(?!{_CYRILLIC}{_PATRONYMIC}\s)({_CYRILLIC}\s+{_CYRILLIC}{_PATRONYMIC})\s*", re.IGNORECASE
)
_COMPOUND_SURNAMES = words_of("compound_surnames")
# Capitalised words and initials, with the surname before a comma, before initials, or last. In a name in capitals, only
# a word with a vowel is certainly a surname.
_GIVEN = r"(?:[A-Z][a-z]+|(?:[A-Z]\.)+|[A-Z])"
COMMON = re.compile(
    rf"[A-Z][a-z]+, {_GIVEN}(?: {_GIVEN})*|[A-Z][a-z]+(?: [A-Z]\.?)+|({_GIVEN}(?: {_GIVEN})* [A-Z][a-z]+)|"
    r"([A-Z][a-z]+,? [A-Z]{2,3}|(?=[A-Z]*[AEIOUY])[A-Z]{3,} [A-Z]{1,2})"
)
# Words for which `_parse_common` is too simple.
SPECIAL_WORDS = _TITLES | _LOWER_CASE_PARTICLES | _PREFIXES | _GROUP_WORDS | set(_HONOURS) | {"MD", "THI"}
SPECIAL_WORDS -= set("DLOT")
#: Latin letters that are transliterated to one letter of the same case, whatever their neighbours are.
ACCENTS = {
    code: letter
    for code in range(0xC0, 0x180)
    if len(letter := anyascii(chr(code))) == 1 and letter.isalpha() and letter.isupper() == chr(code).isupper()
}


class _NameWord(NamedTuple):
    raw: str  # as written, with case and dot
    name: str  # folded to A-Z and hyphens between letters
    capital: bool

    def is_short(self, *, upper: bool) -> bool:
        """Whether the word is initials, in a name without a comma."""
        raw, name, capital = self
        size = len(raw.rstrip(".").replace("-", ""))
        if size == 1:
            return raw not in _CONNECTORS
        if not capital:
            return raw[-1] == "." and name not in _LOWER_CASE_PARTICLES and _DIGRAPH.fullmatch(raw) is not None
        return size <= (2 if upper else 3) or not _VOWEL.search(name)

    def is_run(self, *, upper: bool, alone: bool, comma: bool) -> bool:
        """Whether the word is initials written together, not a given name in capitals."""
        raw, name, capital = self
        if not capital or len(name) == 1 or "-" in name:
            return False
        size = len(raw.rstrip("."))
        if upper and _VOWEL.search(name):
            return alone and (size == 2 or (size == 3 and comma and name not in _SHORT_GIVEN_NAMES))
        return size <= 3 or not _VOWEL.search(name)

    def is_particle(self, *, upper: bool) -> bool:
        """Whether the word is a particle inside a name; capitals in a name with lower-case letters are initials."""
        raw, name, capital = self
        if name not in _LOWER_CASE_PARTICLES or capital > upper:
            return False
        return name in _INNER_PARTICLES or (raw.islower() and raw != "d.")


@lru_cache(maxsize=MAX_CACHED_NAMES)
def parse_name(text: str) -> Name:
    """Parse one author name; a text that is not a name gets the surname "".

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
    """The result of `_parse` for simple names such as "Doe, Jane W.", "J. W. Doe" and "Doe JW"; None for all others.

    Most names are simple, and this takes a tenth of the time.
    """
    if not text.isascii():
        text = text.translate(ACCENTS)
    if not (found := COMMON.fullmatch(text)) or text.endswith(_NOT_COMMON_ENDS):
        return None
    surname_last, letters = found.groups()
    words = text.upper().replace(",", " ").replace(".", " ").split()
    if not SPECIAL_WORDS.isdisjoint(words):
        return None
    if letters:
        surname, given = words[0], tuple(words[1])
    elif surname_last:
        surname, given = words[-1], tuple(words[:-1])
    else:
        surname, given = words[0], tuple(words[1:])
    return Name(surname, "".join([name[0] for name in given]), given, "")


def _parse(text: str) -> Name:
    """Parse a name by all rules."""
    if not _PLAIN.fullmatch(text):
        text = _clean(text)
        if _EAST_ASIAN.search(text):
            return _parse_east_asian(text)
        if found := _SURNAME_GIVEN_PATRONYMIC.fullmatch(text):
            text = f"{found[1]}, {found[2]}"
    if text.rstrip().rstrip(" .,").lower().endswith(_NO_PERSON_ENDS):
        text = _NO_PERSON.sub("", text)
    # A name in lower case shows as little about the order as one in capitals. Degrees would be split at their dots.
    text = text.upper() if text.islower() else text.replace("Ph.D", "PhD").replace("Ph. D", "PhD")
    if " M.D" in text:
        text = _DOTTED_DEGREE.sub(" MD", text)
    split = text.split(",")
    parts, suffix = _without_honours([words for part in split if (words := _words(part, comma=len(split) > 1))])
    if len(parts) > 1:
        return _parse_with_comma(parts[0], [word for part in parts[1:] for word in part], suffix)
    return _parse_without_comma(parts[0], suffix) if parts else _NO_NAME


@lru_cache(maxsize=MAX_CACHED_NAMES)
def name_key(text: str) -> str:
    """Surname and all initials of a name as written; "" for a text that is not a name.

    >>> name_key("Jane W. Doe"), name_key("et al.")
    ('DOE, JW', '')
    """
    name = parse_name_uncached(text)
    return name.key if name.surname else ""


def _clean(text: str) -> str:
    """Unify characters that look alike; remove nicknames, symbols and numbers."""
    text = unicodedata.normalize("NFC", text).translate(_LOOKALIKES)
    without_asides = _ASIDE.sub(" ", text)
    text = without_asides if without_asides == text or _fold(without_asides) else text
    text = text.upper() if text.islower() else text
    text = _ORDINAL.sub(lambda found: {"2": "ii", "3": "iii", "4": "iv"}[found[0][0]], text)
    return _NOISE.sub(" ", text).replace("'", "")


def _fold(text: str) -> str:
    """Transliterate any script to A-Z, with hyphens only between letters."""
    if not text.isascii():
        text = anyascii(_FIRST_SILENT.sub("a", _with_greek_digraphs(text)))
    text = text.upper().strip(".-")
    return text if text.isalpha() else _NOT_LETTERS.sub("", text).strip("-")


def _with_greek_digraphs(text: str) -> str:
    """Greek vowels and consonants that make one sound, as they are usually written in Latin letters.

    >>> anyascii(_with_greek_digraphs("Παπαδόπουλος Ευάγγελος"))
    'Papadopoulos Evaggelos'
    """
    if not _GREEK.search(text):
        return text
    for pattern, replacement in _GREEK_DIGRAPHS:
        text = pattern.sub(replacement, text)
    return text


@cache
def _surname_readings() -> dict[str, str]:
    """The usual Latin spelling of surnames in Chinese or Korean script."""
    lines = (line.split() for line in lines_of("surname_readings"))
    return {surname: reading for reading, *surnames in lines for surname in surnames}


def _words(part: str, *, comma: bool) -> list[_NameWord]:
    """Split into words, without titles in front; a title in capitals may be initials ("DR Smith")."""
    words = [_NameWord(raw, name, raw.isupper()) for raw in _WORD.findall(part) if (name := _fold(raw))]
    while words and words[0].name in _TITLES and (not words[0].capital or (len(words) > 2 and not comma)):
        del words[0]
        while len(words) > 1 and _is_field_of_study(words[0]):
            del words[0]
    return words


def _is_field_of_study(word: _NameWord) -> bool:
    """Whether a word behind a title belongs to it: "Dr. med. Doe", "Dr. rer. nat. Doe", "Dr.-Ing. Doe"."""
    if word.raw == "Ing.":
        return True
    return word.raw.islower() and word.raw[-1] == "." and len(word.name) > 1 and word.name not in _LOWER_CASE_PARTICLES


def _all_capital(words: list[_NameWord]) -> bool:
    return "".join([word.raw for word in words]).isupper()


def _parse_with_comma(family: list[_NameWord], given: list[_NameWord], suffix: str) -> Name:
    family, suffix = _without_suffix(family, suffix)
    given, suffix = _without_suffix(given, suffix)
    # "Smith, John MD" ends in a degree, "Rahman, MD" and "Smith, J MD" in initials.
    if given and given[-1].raw == "MD" and any(len(word.name) > 1 and not word.capital for word in given):
        given = given[:-1]
    upper = _all_capital(family + given)
    particles, given = _without_particles(given, upper=upper)
    if particles:  # "Souza, M. Jr. de", "Souza, Jr. de"
        given, suffix = _without_suffix(given, suffix, keep=_all_capital(given))
    return _name(particles + family, given, suffix, upper=upper, comma=True)


def _parse_without_comma(words: list[_NameWord], suffix: str) -> Name:
    # "John Smith III" and "Smith Jr" end in a suffix, "Ivanov II" and "Souza Lima JR" in initials.
    _, last, capital = words[-1]
    plain = not capital or last[0] == "I" or _all_capital(words) or (len(last) > 3 and _HONOURS.get(last) == "")
    if last in _HONOURS and plain and (len(words) > 2 or not (capital or last == "JUNIOR")):
        words, suffix = _without_suffix(words, suffix)
        if not _HONOURS[last] and len(words) > 2 and words[-1].raw == "MD":  # "John Smith MD PhD"
            words = words[:-1]
    upper = _all_capital(words)
    short = [word.is_short(upper=upper) and word.raw not in _SUFFIX_WITH_STOP for word in words]
    start, stop = _family(words, short, upper=upper)
    return _name(words[start:stop], words[:start] + words[stop:], suffix, upper=upper, comma=False)


def _name(family: list[_NameWord], given: list[_NameWord], suffix: str, *, upper: bool, comma: bool) -> Name:
    family, suffix = _without_suffix(family, suffix)
    surname = " ".join([word.name for word in family]).replace("-", " ").split()
    while len(surname) > 1 and surname[0] in _PREFIXES:
        surname[:2] = [surname[0] + surname[1]]
    alone = sum([len(word.name) > 1 for word in given]) == 1
    names: list[str] = []
    for word in given:
        run = word.is_run(upper=upper, alone=alone, comma=comma)
        names += map(_fold, word.raw) if run else word.name.split("-")
    names = [name for name in names if name]
    return Name(" ".join(surname), "".join([name[0] for name in names]), tuple(names), suffix)


def _without_honours(parts: list[list[_NameWord]]) -> tuple[list[list[_NameWord]], str]:
    """Remove parts that are only a degree or a suffix; returns the other parts and the suffix."""
    kept, suffix = parts[:1], ""
    for part in parts[1:]:
        honour = _honour(part, kept)
        if honour is None:
            kept.append(part)
        suffix = suffix or honour or ""
    return kept, suffix


def _honour(part: list[_NameWord], before: list[list[_NameWord]]) -> str | None:
    """The suffix, "" for a degree, None for given names: "Jane Doe, MD", but "Doe, MD" and "De Souza, MD"."""
    text, capital, first = "".join([word.name for word in part]), _all_capital(part), before[0]
    honour = "" if text == "MD" and capital else _HONOURS.get(text)
    if honour is None or not capital or len(before) > 1:
        return honour
    whole = len(first) > 1 and first[0].name not in _LOWER_CASE_PARTICLES and not _all_capital(first)
    return honour if whole and (not honour or (honour[0] == "I" and len(part) == 1)) else None


def _without_suffix(words: list[_NameWord], suffix: str, *, keep: bool = True) -> tuple[list[_NameWord], str]:
    """Remove suffixes and degrees at the end; `keep` means that the first word is a name in any case."""
    while len(words) > keep and (honour := _HONOURS.get(words[-1].name)) is not None:
        words, suffix = words[:-1], suffix or honour
    return words, suffix


def _without_particles(given: list[_NameWord], *, upper: bool) -> tuple[list[_NameWord], list[_NameWord]]:
    """Separate the surname's particles from the given names: "A. van der"."""
    stop = len(given)
    while stop and given[stop - 1].is_particle(upper=upper):
        stop -= 1
    # A capitalised "Van" may be a Vietnamese given name, and "DE" alone may be two initials.
    moved = (stop and len(given) > stop + 1) or all(word.raw.islower() for word in given[stop:])
    return (given[stop:], given[:stop]) if moved else ([], given)


def _family(words: list[_NameWord], short: list[bool], *, upper: bool) -> tuple[int, int]:
    """Start and end of the surname in a name without a comma."""
    count = len(words)
    if count == 1 or not _GROUP_WORDS.isdisjoint([word.name for word in words]):
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
    """Start and end of the surname in a name that ends in a word."""
    count, first, second = len(words), words[0], words[1]
    middle = second.name in {"VAN", "THI"} and second.raw[0].isupper() and first.capital == second.capital
    if count > 2 and middle and first.name in _VIETNAMESE_SURNAMES:
        return 0, 1
    if not upper and (bounds := _capitals(words, short)):
        return bounds
    particle = [word.is_particle(upper=upper) for word in words[:-1]]
    if particle[0] and (first.raw.islower() or not _PARTICLES.isdisjoint([first.name, second.name])):
        return 0, [*particle, False].index(False) + 1
    if True in particle[1:]:
        return particle.index(True, 1), count
    connected = [position for position in range(1, count - 1) if words[position].raw in _CONNECTORS]
    return (connected[0] if connected else count) - 1, count


def _capitals(words: list[_NameWord], short: list[bool]) -> tuple[int, int] | None:
    """Start and end of a surname in capitals at either end: "DUPONT Jean", "Jean DE LA TOUR"."""
    upper = [word.capital and (not short[i] or word.name in _INNER_PARTICLES) for i, word in enumerate(words)]
    if upper[0] == upper[-1]:
        return None
    start, stop = (0, upper.index(False)) if upper[0] else (len(upper) - upper[::-1].index(False), len(upper))
    return (start, stop) if False in short[start:stop] else None


def _parse_east_asian(text: str) -> Name:
    """Parse Chinese, Japanese or Korean script: surname first, unless a middle dot marks a foreign name."""
    if re.search("[A-Za-z]", text):
        return parse_name(_EAST_ASIAN.sub(" ", text))
    *given, surname = re.split("[·・]", text)
    if not given:
        surname, *given = text.replace(",", " ").split()
    if not given:
        # Four characters are a Japanese name, or a name with two surnames.
        size = 2 if surname[:2] in _COMPOUND_SURNAMES or len(surname) > 3 else 1
        surname, given = surname[:size], [surname[size:]]
    if "\uac00" <= given[0][:1] <= "\ud7a3":
        given = list("".join(given))  # each Korean syllable is romanised as a given name of its own: "Min-Su"
    surname = _surname_readings().get(surname, surname)
    family, *rest = (_NameWord(part, _fold(part), capital=False) for part in (surname, *given))
    return _name([family], rest, "", upper=False, comma=True) if family.name else _NO_NAME
