"""Names of people in records: placeholders, groups, notations, cited authors, and which author a name refers to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from anyascii import anyascii

from homonym.records.fields.markup import ENTITY, plain_text

_NOT_LETTERS = re.compile(r"[^a-z0-9]+")

# What sources write where an author's name is missing, folded; then the same in other languages, also the transcribed
# Cyrillic words. "VV. AA." are various authors, and "N. N." is no name.
_PLACEHOLDERS = frozenset(
    "anon anonymous author authors etal na nana nan noauthor noauthors noauthorlisted noauthorslisted noauthorgiven "
    "noauthornameavailable noauthornamesavailable noauthorsavailable noauthorshipindicated none notavailable "
    "notspecified null others andothers andmore unknown unknownauthor unknownunknown authorunknown various "
    "editor editors editorinchief editorial editorialboard editorialoffice editorialstaff editorialteam guesteditor "
    "guesteditors theeditor theeditors theeditorinchief staff staffreporter staffwriter "
    "aavv anonim anonimo anonym anonyme anonymus anoniem auteurinconnu autordesconhecido autordesconocido "
    "avtorneizvesten bezavtora collectif desconhecido desconocido inconnu neizvestnyyavtor nn nomennescio "
    "ohneautor onbekend redaccion redakcja redaktion redaktsiya redazione sansauteur senzaautore sinautor tba "
    "unbekannt variosautores variousauthors vvaa xxx xxxx".split()
) | {""}
#: The beginning of every placeholder in another language than English: a quick check of many names.
FOREIGN_PLACEHOLDER = (
    r"^\W*(?:an[oó]\W?n|a\W*a\W*v|aut[eo]|collectif|descon|inconn|n\W*n|nomen|ohne|onbek|reda[ckz]|sans|senza|sin"
    r"|tba|unbek|v\W*v|x\W*x|avtor|bez|neizv|redak|аноним|автор|без|неизв|редак|佚|匿|无|無|作者|著者|不|익명|작자)"
)
# The same in Chinese, Japanese and Korean script, where a transcribed word could be a name.
_EAST_ASIAN_PLACEHOLDERS = frozenset(
    "佚名 匿名 无名氏 無名氏 作者不详 作者不詳 作者不明 著者不明 不详 不詳 익명 작자미상".split()
)
_LONGEST_PLACEHOLDER = 60
# Placeholders up to this length may be names when written twice: `Na, Na`.
_LONGEST_NAME_LIKE = 4

# Suffixes of names, in lower case, as they follow a comma.
SUFFIXES = frozenset({"jr", "jr.", "sr", "sr.", "ii", "iii", "iv", "2nd", "3rd"})

# A suffix among the titles of a person.
SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)


def _by_first_letter(words: str) -> str:
    """An expression for any of these expressions; grouped, it is several times as fast as a plain list.

    >>> _by_first_letter("agency alliance bureau")
    '\\\\b(?:a(?:gency|lliance)|b(?:ureau))\\\\b'
    """
    groups: dict[str, list[str]] = {}
    for word in words.split():
        groups.setdefault(word[0], []).append(word[1:])
    branches = (f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items())
    return rf"\b(?:{'|'.join(branches)})\b"


GROUP_WORD = re.compile(
    _by_first_letter(
        r"academ(?:y|ie) agency alliance asociación association associazione associação "
        r"bundes(?:amt|anstalt|institut|ministerium) bureau cent(?:er|re)s? clinic collaborat(?:ion|ive|ors) college "
        r"comisión comissão comité commission committee company conference consortium corporation council department "
        r"federation fondation fondazione forschungsgemeinschaft foundation fundación fundação gesellschaft gmbh "
        r"government group hochschule hospital inc initiative institut[eo]? investigators istituto laboratoire "
        r"laborator(?:y|ies) laboratorio limited ltd minist(?:ère|ere|erio|ério|ero|erium) ministry museum national "
        r"network office organi[sz]ation panel partnership program(?:me)? project registry research school secretariat "
        r"services? sociedade? society società société stiftung stud(?:y|ies) survey task\sforce team trial trust "
        r"union universidade? universit(?:y|é|ät|à|at) universitet uniwersytet working\sparty "
    ),
    re.IGNORECASE,
)
# Words of organisations where people work, which groups of people have rarely in their names.
EMPLOYER_WORD = re.compile(
    _by_first_letter(
        r"academ(?:y|ie) clinic college department dept facult(?:y|é|ad) gmbh hochschule hospital inc institut[eo]? "
        r"istituto laboratoire laborator(?:y|ies) laboratorio ltd museum school univ universidade? "
        r"universit(?:y|é|ät|à|at) universitet uniwersytet "
    ),
    re.IGNORECASE,
)
# The ends of the names of organisations in Chinese and Japanese, which have no blanks; "本刊" is "this journal". In
# the name of a person, a surname of one character comes first: "学会" may be a given name.
EAST_ASIAN_GROUP = re.compile(
    r"^本刊|\S{2}(?:大学|大學|学院|學院|科学院|研究院|研究所|委员会|委員会|公司|中心|学会|學會|协会|協会|医院|病院"
    r"|编辑部|編輯部|编委会|课题组|課題組)$"
)
# Words of groups that are also surnames: "Forrest Council" is a person, unless further words follow.
_ALSO_SURNAMES = frozenset(
    "bureau center centre college council office panel school study survey trial trust union".split()
)
_SMALL_WORDS = (" of ", " for ", " the ", " für ")
_INITIAL = re.compile(r"(?:^|[\s.-])[^\W\d_]\.")
_COUNTRY = ("U.S. ", "U.K. ", "U.N. ")
_INITIALS_FIRST = re.compile(r"((?:[^\W\d_]\.[ -]?){1,5}+)(\S.*)")

# FullNameIndex compares a name with up to this number of authors one by one; with more, it folds all names once.
_FEW_AUTHORS = 30


#: Letters with blanks between them, as PubMed has some names of groups; five and more, most of them in lower case.
SPACED = r"(?:^| )[^\W\d_](?: [^\W\d_]){4}"
_SPACED = re.compile(r"(?:(?<=^)|(?<= ))[^\W\d_](?: [^\W\d_]){4,}(?= |$|[,.;])")
_LOWER = re.compile(r"(?: [^\W\d_A-Z]){3}")
_WORD_BEGIN = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def unspaced(name: str) -> str:
    """A name without blanks between its letters.

    >>> unspaced("T h e A B C I n v e s t i g a t o r s"), unspaced("Doe J A M B C"), unspaced("Kim Y S")
    ('The ABC Investigators', 'Doe J A M B C', 'Kim Y S')
    """
    return _SPACED.sub(_joined_letters, name) if name.count(" ") > 3 and _LOWER.search(name) else name


def _joined_letters(found: re.Match[str]) -> str:
    return _WORD_BEGIN.sub(" ", found[0].replace(" ", "")) if _LOWER.search(found[0]) else found[0]


def is_placeholder(name: str) -> bool:
    """Whether a whole name only says that the name is missing; the Web of Science lists "[Anonymous]" as an author.

    >>> [is_placeholder(name) for name in ("", "[No author name available]", "et al.", "Unknown", "N/A N/A")]
    [True, True, True, True, True]
    >>> [is_placeholder(name) for name in ("[Anonymous]", "Na, Li", "Null, J", "Author, A", "李", "易明")]
    [False, False, False, False, False, False]
    >>> [is_placeholder(name) for name in ("N. N.", "Anónimo", "Unbekannt", "佚名", "Аноним", "VV. AA.")]
    [True, True, True, True, True, True]
    """
    if len(name) > _LONGEST_PLACEHOLDER:
        return False
    if "," in name and not name.startswith("No "):
        return (name[-1] == "," or name.count(name[:4]) > 1) and _is_word_twice(name)  # a quick check first
    if not name.isascii() and name.strip("[](){}【】 ") in _EAST_ASIAN_PLACEHOLDERS:
        return True
    return folded(name) in _PLACEHOLDERS and name != "[Anonymous]"


def _is_word_twice(name: str) -> bool:
    """Whether a name with a comma is a placeholder, alone or twice; "Na, Na" is a person.

    >>> [_is_word_twice(name) for name in ("Anonymous,", "Unknown, Unknown", "Na, Na", "Doe, Jane")]
    [True, True, False, False]
    """
    first, _, second = name.partition(",")
    if second and second.lstrip()[:1] != first[:1]:
        return False
    word = folded(first)
    return word in _PLACEHOLDERS and len(word) > _LONGEST_NAME_LIKE and folded(second) in {"", word}


# "Doe, J, on behalf of the ABC Group", "Doe, Jane for the ATLAS Team": a person, and the group behind the person.
_FOR = re.compile(r"[ (\[](?:of|for the) ", re.IGNORECASE)
_BEHALF = re.compile(r"(?<![\s,;])[\s,;]++[(\[]?(?:on behalf of(?: the)?|for the) ([^)\]]+)[)\]]?\.?$", re.IGNORECASE)


def person_for_group(name: str) -> tuple[str, str] | None:
    """The group and the person of an entry such as "Doe J for the ABC Investigators"; None for other names.

    >>> person_for_group("Doe J for the ABC Investigators"), person_for_group("Society for the Study of Coins")
    (('ABC Investigators', 'Doe J'), None)
    """
    if not _FOR.search(name) or not (found := _BEHALF.search(name)):
        return None
    person, group = name[: found.start()].strip(), found[1].strip()
    names_group = GROUP_WORD.search(group) or "behalf" in found[0].lower()
    is_person = " " in person and not is_placeholder(person) and not is_group(person)
    return (group, person) if names_group and is_person else None


# Maximum number of words of a name before an organisation in brackets.
_MOST_WORDS = 5


def name_and_employer(name: str) -> tuple[str, str] | None:
    """The name and the organisation of an entry such as "Jane Doe (University of Oz)"; None for other names.

    >>> name_and_employer("Jane Doe (University of Oz)"), name_and_employer("Cancer Society (Research Institute)")
    (('Jane Doe', 'University of Oz'), None)
    """
    if name[-1:] != ")":
        return None
    person, bracket, employer = name[:-1].partition("(")
    person = person.strip(" ,")
    if not bracket or not 0 < person.count(" ") < _MOST_WORDS or not EMPLOYER_WORD.search(employer):
        return None
    return None if GROUP_WORD.search(person) or any(map(person.__contains__, _SMALL_WORDS)) else (person, employer)


# The formats ask for each name of a record, and so does the check of all its entries soon after.
@lru_cache(maxsize=1 << 12)
def is_group(name: str) -> bool:
    """Whether the words of a name show an organisation or a group.

    "Surname, Given" is a person, unless the surname has words such as "Department of". "Ann Doe and Bo Roe" are people.

    >>> [is_group(name) for name in ("World Health Organization", "U.S. Geological Survey", "Bank of England,")]
    [True, True, True]
    >>> [is_group(name) for name in ("Doe, Jane", "W. H. Center", "In Ho Kim", "Nguyen The Anh", "ATLAS Team, The")]
    [False, False, False, False, False]
    >>> [is_group(name) for name in ("Forrest Council", "National Research Council", "Cochrane Collaboration")]
    [False, True, True]
    >>> [is_group(name) for name in ("Department of Health, Wales", "Doe, Jane of Oz", "Food and Drug Administration")]
    [True, False, True]
    >>> [is_group(name) for name in ("Ministerio de Salud", "本刊编辑部", "清华大学", "李学会")]
    [True, True, True, False]
    >>> [is_group(name) for name in ("Ann Doe and Bo Roe", "Doe J for the ATLAS Team", "Ann Doe (Oz University)")]
    [False, False, False]
    """
    if person_for_group(name) or name_and_employer(name):
        return False
    surname, comma, _ = name.rstrip(" ,").partition(",")
    has_small_word = name.count(" ") > 1 and any(map(surname.__contains__, _SMALL_WORDS))
    if not name.isascii() and EAST_ASIAN_GROUP.search(name):
        return True
    if comma:
        return has_small_word and GROUP_WORD.search(surname) is not None
    if has_small_word:
        return True
    # "Food and Drug Administration"; "Marie and Pierre Curie" would not be the name of one person, either.
    if name.count(" ") > 1 and " and " in name and not all(" " in part.strip() for part in name.split(" and ")):
        return True
    if " " not in name or not GROUP_WORD.search(name):
        return False
    first, _, last = name.rstrip(" ,").partition(" ")
    if first and last.lower() in _ALSO_SURNAMES:
        return False
    return name.startswith(_COUNTRY) or _INITIAL.search(name) is None


def surname_first(name: str) -> str:
    """A name that begins with initials, with its surname first; any other name unchanged.

    >>> surname_first("J.-P. van Doe"), surname_first("Doe, J.")
    ('van Doe, J.-P.', 'Doe, J.')
    """
    found = _INITIALS_FIRST.fullmatch(name.strip())
    return f"{found[2]}, {found[1].strip()}" if found else name


def plain_letters(text: str) -> str:
    """A text in lower-case ASCII letters and digits, without accents, punctuation and spaces.

    >>> plain_letters("O'Brien-Łukasz, J.")
    'obrienlukaszj'
    """
    return _NOT_LETTERS.sub("", (text if text.isascii() else anyascii(text)).lower())


# For texts that recur, such as names.
folded = lru_cache(maxsize=1 << 14)(plain_letters)


@lru_cache(maxsize=1 << 14)
def surname_and_initial(name: str) -> str:
    """Surname and first initial, folded, of a name that is written surname first.

    >>> surname_and_initial("Müller, Jürgen K."), surname_and_initial("van der Berg J")
    ('muller, j', 'vanderbergj')
    """
    surname, comma, given = name.partition(",")
    return f"{folded(surname)}, {folded(given)[:1]}" if comma else folded(name)


def authors_by_form(forms: Iterable[tuple[int, str]]) -> dict[str, int | None]:
    """The author of each form of a name; None for a form of several authors.

    >>> authors_by_form([(0, "doej"), (1, "roer"), (2, "doej"), (1, "roer")])
    {'doej': None, 'roer': 1}
    """
    found: dict[str, int | None] = {}
    for author, form in forms:
        if found.setdefault(form, author) != author:
            found[form] = None
    return found


class AuthorIndex:
    """The authors of one record, found by every form of their names that the record has, the main form first.

    A name refers to the author whose name is the same apart from case, accents and punctuation; otherwise to the only
    author with its surname and first initial. A name of two authors refers to none of them.

    >>> authors = AuthorIndex([("Müller, Jürgen K.", "Muller, JK"), ("Müller, Ute",), ("Li, X",), ("Li, Xu",)])
    >>> authors.find("MULLER, JÜRGEN K"), authors.find("Muller, J"), authors.find("Li, X."), authors.find("Li, Xin")
    (0, 0, 2, None)
    >>> AuthorIndex([("Li, Xu", "Li, X"), ("Li, Xin", "Li, X"), ("Wu, Y",), ("Wu, Y",)]).find("Li, X") is None
    True
    >>> authors.knows("Li, Xin"), authors.knows("Wu, Y")
    (True, False)
    """

    def __init__(self, names: Sequence[Sequence[str]]) -> None:
        forms = [(author, folded(form)) for author, (_, *others) in enumerate(names) for form in others]
        main = authors_by_form((author, folded(form)) for author, (form, *_) in enumerate(names))
        self._exact = {**authors_by_form(forms), **main} if forms else main
        self._short = authors_by_form(
            (author, surname_and_initial(form)) for author, each in enumerate(names) for form in each
        )

    def find(self, name: str) -> int | None:
        """The number of the author that a name refers to; None if there is none, or more than one."""
        form = folded(name)
        return self._exact[form] if form in self._exact else self._short.get(surname_and_initial(name))

    def knows(self, name: str) -> bool:
        """Whether a name refers to an author, or to more than one."""
        return folded(name) in self._exact or surname_and_initial(name) in self._short


class FullNameIndex(AuthorIndex):
    """The authors of one record that has a full and a short name of each, as those of the Web of Science.

    Mostly a record writes a name the same way everywhere, or abbreviates it; all names are folded only when one is
    written differently. Surname and initial are then compared with full names only: short names leave out accents and
    parts of surnames, so that different people share them more often.

    >>> names = [("Doe, Jane K.", "Doe, JK"), ("Roe, Rita", "Roe, R"), ("Wu, Yi", "Wu, Y"), ("Wu, Yu", "Wu, Y")]
    >>> people = FullNameIndex(names)
    >>> [people.find(name) for name in ("Roe, R", "Doe, J", "Doe, Jane", "DOE, JANE K", "Doe, Jim", "Poe, E", "Wu, Y")]
    [1, 0, 0, 0, 0, None, None]
    """

    def __init__(self, names: list[tuple[str, str]]) -> None:
        self._names = names
        self._is_folded = False
        shorts = authors_by_form((author, short) for author, (_, short) in enumerate(names))
        self._as_written = {**shorts, **authors_by_form((author, full) for author, (full, _) in enumerate(names))}

    def find(self, name: str) -> int | None:
        """The number of the author that a name refers to; None if there is none, or more than one."""
        if name in self._as_written:
            return self._as_written[name]
        found = self._find_abbreviated(name) if len(self._names) <= _FEW_AUTHORS else None
        return self._find_folded(name) if found is None else found

    def find_all(self, names: str) -> list[int]:
        """The numbers of the authors that the names in a list with semicolons refer to."""
        found = [self.find(name) for part in names.split(";") if (name := part.strip())]
        return [author for author in found if author is not None]

    def _find_abbreviated(self, name: str) -> int | None:
        """The only author with that surname and initial, unless the given names contradict each other."""
        surname, comma, given = name.partition(", ")
        beginning = f"{surname}{comma}{given[:1]}"
        found = [author for author, (full, _) in enumerate(self._names) if full.startswith(beginning)]
        if len(found) != 1 or not given:
            return None
        full = self._names[found[0]][0]
        return found[0] if given.isupper() or full.startswith(name) or name.startswith(full) else None

    def _find_folded(self, name: str) -> int | None:
        if not self._is_folded:
            super().__init__([(full,) for full, _ in self._names])
            shorts = authors_by_form((author, folded(short)) for author, (_, short) in enumerate(self._names))
            self._exact = {**shorts, **self._exact}
            self._is_folded = True
        return super().find(name)


# Web of Science: the text before the first comma or number of a reference, unless that is "[Anonymous]", "*WHO" or
# "Law (1999)". Since 2026 some exports put a comma before the initials too: "Doe, JA, 1999, J X"; then a year follows.
_INITIALS = r"(?:, ?(?:[^\W\d_a-z]\.?[ -]?){1,5}(?=, ?[12]\d{3}\b))?+"
_FIRST_AUTHOR = {
    separator: re.compile(rf"{separator} *+([^ \t\n0-9,*(\[][^0-9,(\n]*+{_INITIALS})(?!\()")
    for separator in ("\n", "; ")
}

# Scopus: a name ends with the dot behind its first initial ("Doe J.", "Doe, J.") or with initials without dots
# ("Doe JA"). The names of one reference are written alike, and one match takes all names that follow each other. Half
# of an export is references, so the pattern never backtracks: the first character behind a family name decides.
_FAMILY = r"[^,;.:()\[\]0-9]{2,40}+"
_END = r"(?![^,;])"
_MORE = rf"(?:{_END}|(?:[ -]?\w{{1,2}}\.){{1,5}}+{_END})"
_DOTTED = rf"\.(?:(?<=[ -]\w\.)|(?<= [A-Z][a-z]\.)){_MORE}"
_PLAIN = rf"{_END}(?<=[A-Z])(?:(?<= [A-Z])|(?<= [A-Z]{{2}})|(?<= [A-Z]{{3}}))"
_WITHOUT_COMMA = rf"(?:{_DOTTED}|{_PLAIN})"
_WITH_COMMA = rf", \w[a-z]?\.{_MORE}"
_SCOPUS_NAMES = re.compile(
    rf"; {_FAMILY}(?:{_WITHOUT_COMMA}(?:[,;] {_FAMILY}{_WITHOUT_COMMA})*+"
    rf"|{_WITH_COMMA}(?:[,;] {_FAMILY}{_WITH_COMMA})*+)"
)
_AFTER_PLAIN_NAME = re.compile(r", (?:(?<= [A-Z], )|(?<= [A-Z]{2}, )|(?<= [A-Z]{3}, ))")
_PARTICLES = frozenset("al ben bin da das de del della den der des di do dos du el la le ter van von y zu".split())


def wos_cited_authors(references: str, separator: str = "\n") -> list[str]:
    r"""The first author of each reference of a Web of Science record, where that is a person.

    >>> lines = ["Doe J, 1999, J X, V1", "[Anonymous], 2001, Y", "*WHO, 2000, Z", "2004, A, V2", "Roe R. 1990, B"]
    >>> wos_cited_authors("\n".join(lines)), wos_cited_authors("Doe J, 1999, DOI 10.1000/1;2; Poe E", "; ")
    (['Doe J', 'Roe R.'], ['Doe J', 'Poe E'])
    """
    if "&" in references and ENTITY.search(references):
        references = "\n".join(map(plain_text, references.split("\n")))
    names = _FIRST_AUTHOR[separator].findall(separator + references)
    if not _are_plain(",".join(names)):
        names = list(map(plain_text, names))
    return [name for name in names if " " in name or not is_placeholder(name)]


def _are_plain(names: str) -> bool:
    """Whether no name in a list has markup or needless white space; one check of all is much faster than each alone."""
    return names.isprintable() and "  " not in names and " ," not in f"{names}," and "<" not in names


def scopus_cited_authors(references: str) -> list[str]:
    """The authors at the beginning of each reference of a Scopus record, as they are written there.

    >>> scopus_cited_authors("Doe, J., Roe, A.B., On x (1999) Names, 5, pp. 1-2; The last report, (2020)")
    ['Doe, J.', 'Roe, A.B.']
    >>> scopus_cited_authors("Doe J.; Roe A.B., On x, Names, (2024); Poe EA, Moe J, On y, (2020); Basics of R, (2019)")
    ['Doe J.', 'Roe A.B.', 'Poe EA', 'Moe J']
    """
    names = "".join(_SCOPUS_NAMES.findall("; " + references)).replace("., ", ".; ")
    if ", " in names:
        names = _AFTER_PLAIN_NAME.sub("; ", names)
    found = names.split("; ")[1:]
    if names.count(".; ") + names.endswith(".") == len(found):  # all have dots, as almost always
        return found
    return [name for name in found if name[-1:] == "." or _is_plain_name(name)]


def _is_plain_name(text: str) -> bool:
    """Whether the words before initials without dots are a surname, not a title such as "Basics of R"."""
    if text.count(" ") == 1:
        return text[0].isupper()
    *family, _ = text.split(" ")
    return len(family) <= 3 and all(word[:1].isupper() or word in _PARTICLES for word in family)
