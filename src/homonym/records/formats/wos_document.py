"""The fields of a Web of Science record, by their tags, to a document: the same for its plain text and its tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from homonym.records.fields import identifiers
from homonym.records.fields.affiliations import address_and_emails, email_owners, emails_in, remove_repeats
from homonym.records.fields.markup import collapse_spaces, plain_text
from homonym.records.fields.people import AuthorIndex, folded, is_placeholder
from homonym.records.model import Author, BrokenRecordError, Document, Note, Parsed, publication_year

Fields = Mapping[str, str]
"""What each field of one record holds; names, addresses and references may be on a line each, which may be indented."""

#: Fields of several entries: names, addresses, cited references.
ENTRIES = frozenset("AU AF BA BF C1 RP CR".split())

#: All fields that are read.
WANTED = ENTRIES | frozenset("TI SO AB DE ID EM RI OI WC SC PY EA DI PM UT".split())

#: A record without any of these has lost what makes it one.
_ESSENTIAL = frozenset({"AU", "AF", "TI", "UT"})

#: What is longer, with the name before it, is damage.
_LONGEST_IDENTIFIER = 500

#: Of so many authors each is looked at for a name; of more, they are all folded at once.
_FEW = 30

_REPRINT = re.compile(r"\((?:corresponding|reprint)\s+authors?\)[\s,]*", re.IGNORECASE)
_YEAR = re.compile(r"\b[12]\d{3}\b")
_ENTITY = re.compile(r"&#?\w{1,30};")

# What stands before the first comma or number of a reference, if that is no "[Anonymous]", "*WHO" or "Law (1999)".
# Since 2026 some exports put a comma before the initials too: "Doe, JA, 1999, J X"; then a year follows.
_INITIALS = r"(?:, ?(?:[^\W\d_a-z]\.?[ -]?){1,5}(?=, ?[12]\d{3}\b))?+"
_FIRST_AUTHOR = {
    mark: re.compile(rf"{mark} *+([^ \t\n0-9,*(\[][^0-9,(\n]*+{_INITIALS})(?!\()") for mark in ("\n", "; ")
}

_IDENTIFIERS = (
    ("RI", "researcherid", "ResearcherID", identifiers.researcher_id),
    ("OI", "orcid", "ORCID", identifiers.orcid),
)


def document_of(fields: Fields, notes: list[Note], reference_mark: str = "\n") -> Parsed:
    """Make a document of the fields of a record; before each reference but the first stands a line end or "; ".

    >>> document, _ = document_of({"AF": "Doe, Jane", "C1": "[Doe, Jane] Univ X, Y.", "UT": "WOS:1"}, [])
    >>> document.id, document.authors[0].name, document.authors[0].affiliations
    ('WOS:1', 'Doe, Jane', ['Univ X, Y'])
    """
    if _ESSENTIAL.isdisjoint(fields):
        raise BrokenRecordError("has neither authors (AU, AF) nor a title (TI) nor a number (UT)")
    number = next(iter(fields.get("UT", "").split()), "")
    document = Document(
        id=number,
        authors=_authors(fields, notes),
        title=plain_text(fields.get("TI", "")),
        abstract=plain_text(fields.get("AB", "")),
        year=_year(fields, notes),
        venue=plain_text(fields.get("SO", "")),
        categories=_listed(fields, "WC") or _listed(fields, "SC"),
        keywords=list(dict.fromkeys(_listed(fields, "DE") + _listed(fields, "ID"))),
        referenced_authors=cited_authors(fields["CR"], reference_mark) if "CR" in fields else [],
        ids=_ids(fields, number, notes),
    )
    return document, notes


def _listed(fields: Fields, tag: str) -> list[str]:
    if tag not in fields:
        return []
    text = plain_text(fields[tag])  # decoded first: the end of an entity is no separator
    return [item for part in text.split(";") if (item := part.strip())]


def _year(fields: Fields, notes: list[Note]) -> int | None:
    if given := fields.get("PY", "").strip():
        return publication_year(given, notes)
    early = _YEAR.search(fields.get("EA", ""))
    return int(early[0]) if early else None


def _ids(fields: Fields, number: str, notes: list[Note]) -> dict[str, str]:
    ids = {}
    if doi := fields.get("DI", "")[:_LONGEST_IDENTIFIER].strip():
        if found := identifiers.doi(doi):
            ids["doi"] = found
        else:
            notes.append(("field", f"{doi!r} is no DOI"))
    if number and (found := identifiers.web_of_science(number)):
        # Records of MEDLINE come with the number of PubMed in place of one of their own.
        ids["pmid" if number.upper().startswith("MEDLINE:") else "wos"] = found
    if found := identifiers.number(fields.get("PM", "")[:_LONGEST_IDENTIFIER]):
        ids["pmid"] = found
    return ids


class People(AuthorIndex):
    """The authors by their full names and, where it is written just so, their short ones.

    Mostly a record writes a name in the same way everywhere, or only leaves a part of it out; all names are folded only
    for one that it does not. The surname that is looked for with an initial must be that of the full name: the short
    forms leave out accents and parts of surnames, and so are alike more often than the people are.

    >>> people = People([("Doe, Jane K.", "Doe, JK"), ("Roe, Rita", "Roe, R")])
    >>> [people.find(name) for name in ("Roe, R", "Doe, J", "Doe, Jane", "DOE, JANE K", "Doe, Jim", "Poe, E")]
    [1, 0, 0, 0, 0, None]
    """

    def __init__(self, names: list[tuple[str, str]]) -> None:
        self._names = names
        self._is_folded = False
        self._written: dict[str, int] = {}
        for author, (full, _) in enumerate(names):
            self._written.setdefault(full, author)
        for author, (_, short) in enumerate(names):
            self._written.setdefault(short, author)

    def find(self, name: str) -> int | None:
        """The number of the author that a name means, if it means one."""
        found = self._written.get(name)
        if found is None and len(self._names) <= _FEW:
            found = self._shortened(name)
        return self._folded(name) if found is None else found

    def _shortened(self, name: str) -> int | None:
        """The only author of that surname and initial, if nothing else in the name speaks against it."""
        surname, comma, given = name.partition(", ")
        beginning = f"{surname}{comma}{given[:1]}"
        found = [author for author, (full, _) in enumerate(self._names) if full.startswith(beginning)]
        if len(found) != 1 or not given:
            return None
        full = self._names[found[0]][0]
        return found[0] if given.isupper() or full.startswith(name) or name.startswith(full) else None

    def _folded(self, name: str) -> int | None:
        if not self._is_folded:
            super().__init__([(full,) for full, _ in self._names])
            for author, (full, short) in enumerate(self._names):
                if short != full and (written := folded(short)):
                    self._exact.setdefault(written, author)
            self._is_folded = True
        return super().find(name)

    def found(self, names: str) -> list[int]:
        """The numbers of all authors in a list that are known."""
        found = [self.find(name) for part in names.split(";") if (name := part.strip())]
        return [author for author in found if author is not None]


def _authors(fields: Fields, notes: list[Note]) -> list[Author]:
    pairs = _paired(fields.get("AU", ""), fields.get("AF", ""))
    pairs = pairs or _paired(fields.get("BA", ""), fields.get("BF", ""))
    authors, names = [], []
    for position, (name, alias) in enumerate(pairs):
        has_letters = name[0].isalpha() or any(map(str.isalpha, name))
        if has_letters and not is_placeholder(name):
            authors.append(Author(position, name))
            names.append((name, alias))
        elif not has_letters or not is_placeholder(alias):
            notes.append(("author", f"author {position} {name!r} is no name"))
    if authors:
        people = People(names)
        reprint = _reprint(fields["RP"], people) if "RP" in fields else []
        _give_addresses(authors, people, fields.get("C1", ""), reprint)
        if "EM" in fields:
            _give_emails(authors, names, emails_in(fields["EM"]), reprint)
        _give_identifiers(authors, people, fields, notes)
    return remove_repeats(authors)


def _paired(short_names: str, full_names: str) -> list[tuple[str, str]]:
    """Each author's name and the other form of it, in the order of the longer list.

    >>> _paired("Doe, J; Li, X", "Doe, Jane; Li, Xu"), _paired("Doe, J; Li, X", "Li, Xu")
    ([('Doe, Jane', 'Doe, J'), ('Li, Xu', 'Li, X')], [('Doe, J', 'Doe, J'), ('Li, Xu', 'Li, X')])
    """
    short, full = _names(short_names), _names(full_names)
    if len(short) == len(full):
        return list(zip(full, short, strict=True))
    if not short or not full:
        return [(name, name) for name in short or full]
    longer, fewer = (short, full) if len(short) > len(full) else (full, short)
    people = AuthorIndex([(name,) for name in longer])
    other = {people.find(name): name for name in fewer}
    pairs = [(name, other.get(number, name)) for number, name in enumerate(longer)]
    return [(full, short) for short, full in pairs] if longer is short else pairs


def _names(text: str) -> list[str]:
    """The names in a field; some programs write them all into one line."""
    text = plain_text(text.replace("\n   ", ";").replace("\n", ";"))
    return [name for part in text.split(";") if (name := part.strip())]


def _reprint(text: str, people: People) -> list[tuple[list[int], str]]:
    r"""Who reprints can be had from, and at which address.

    >>> people = People([(name, name) for name in ("Doe, J", "Li, X", "Roe, R")])
    >>> _reprint("Doe, J; Li, X (corresponding author), Univ X, Y.; Roe, R (corresponding author), Univ Z.", people)
    [([0, 1], 'Univ X, Y'), ([2], 'Univ Z.')]
    >>> _reprint("Doe, J, Univ X, Dept A, Town", people), _reprint("Doe J\n   Univ X, Town", people)
    ([([0], ' Univ X, Dept A, Town')], [([0], '   Univ X, Town')])
    """
    return [(people.found(names), address) for names, address in _reprint_entries(text)]


def _reprint_entries(text: str) -> Iterator[tuple[str, str]]:
    names, *rest = _REPRINT.split(collapse_spaces(text))
    if not rest:
        yield _unmarked(text)
        return
    *inner, last = rest
    for part in inner:  # an address, and after it the next names
        address, following = _address_and_names(part)
        yield names, address
        names = following
    yield names, last


def _unmarked(text: str) -> tuple[str, str]:
    """Name and address in records of old: on lines of their own, or parted by the second comma."""
    name, line_end, address = text.partition("\n")
    if line_end and name.count(",") < 2:
        return name, address
    surname, _, rest = text.partition(",")
    given, _, address = rest.partition(",")
    return f"{surname},{given}", address


def _address_and_names(text: str) -> tuple[str, str]:
    for mark, parted in ((".;", str.partition), (". ", str.rpartition), (";", str.partition)):
        address, found, names = parted(text, mark)
        if found:
            return address, names
    return text, ""


def _give_addresses(
    authors: list[Author], people: People, addresses: str, reprint: list[tuple[list[int], str]]
) -> None:
    entries = [entry.strip() for entry in addresses.split("\n")] if addresses else []
    loose = []
    for entry in entries:
        if not entry.startswith("["):
            loose.append(entry)
            continue
        names, _, address = entry[1:].partition("]")  # one that is cut within its names has no address
        _give(authors, people.found(names), address)
    if len(authors) == 1 or len(loose) == len(entries) == 1:
        for address in loose:
            _give(authors, range(len(authors)), address)
    for numbers, address in reprint:
        _give(authors, numbers, address)


def _give(authors: list[Author], numbers: Iterable[int], text: str) -> None:
    address, emails = address_and_emails(text)
    for number in numbers:
        if address:
            authors[number].affiliations.append(address)
        if emails:
            authors[number].emails.extend(emails)


def _give_emails(
    authors: list[Author], names: list[tuple[str, str]], emails: list[str], reprint: list[tuple[list[int], str]]
) -> None:
    """Hand out e-mail addresses; the only one that tells nobody's name is that of the only reprint author."""
    if len(authors) == 1:
        authors[0].emails.extend(emails)
        return
    reached = {number for numbers, _ in reprint for number in numbers}
    for email, owner in zip(emails, email_owners(emails, names), strict=True):
        if owner is None and len(emails) == len(reached) == 1:
            owner = min(reached)
        if owner is not None:
            authors[owner].emails.append(email)


def _give_identifiers(authors: list[Author], people: People, fields: Fields, notes: list[Note]) -> None:
    """Hand out what stands as `Name/identifier; …`; an author with several of a kind keeps the first."""
    for tag, kind, title, valid in _IDENTIFIERS:
        if tag not in fields:
            continue
        for entry in plain_text(fields[tag]).split(";"):
            name, slash, given = entry.strip()[:_LONGEST_IDENTIFIER].partition("/")
            if not slash or (number := people.find(name)) is None:
                continue
            if identifier := valid(given):
                authors[number].ids.setdefault(kind, identifier)
            else:
                notes.append(("field", f"{given!r} of {name!r} is no {title}"))


def cited_authors(references: str, mark: str = "\n") -> list[str]:
    r"""The first author of each cited reference that has a person for one.

    >>> lines = ["Doe J, 1999, J X, V1", "[Anonymous], 2001, Y", "*WHO, 2000, Z", "2004, A, V2", "Roe R. 1990, B"]
    >>> cited_authors("\n".join(lines)), cited_authors("Doe J, 1999, DOI 10.1000/1;2; Poe E", "; ")
    (['Doe J', 'Roe R.'], ['Doe J', 'Poe E'])
    """
    if "&" in references and _ENTITY.search(references):
        references = "\n".join(map(plain_text, references.split("\n")))
    names = _FIRST_AUTHOR[mark].findall(mark + references)
    if not _are_plain(",".join(names)):
        names = list(map(plain_text, names))
    return [name for name in names if " " in name or not is_placeholder(name)]


def _are_plain(names: str) -> bool:
    """Whether no name in a list has markup or needless white space: for all together this is quickly seen."""
    return names.isprintable() and "  " not in names and " ," not in f"{names}," and "<" not in names
