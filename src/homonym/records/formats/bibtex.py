"""BibTeX and biblatex, as reference managers, publishers and databases write it, the Web of Science among them.

An entry reaches from one `@type{key,` at the beginning of a line to the next, so that a brace too many or too few
spoils only its own entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from homonym.io.inputs import Source
from homonym.records.fields import identifiers
from homonym.records.fields.markup import latex_to_text
from homonym.records.formats import scopus_names
from homonym.records.formats.bibtex_entries import NO_ENTRY, NOT_DOCUMENTS, Entry, has_fields, parse_entry
from homonym.records.formats.bibtex_people import add_people, authors_of
from homonym.records.formats.wos_document import cited_authors
from homonym.records.model import BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.splitting import Raw, decoded, split_at
from homonym.records.registry import Columns, Format, Records

Fields = dict[str, str]

_VENUES = (
    "journal",
    "journaltitle",
    "booktitle",
    "fjournal",
    "journal-iso",
    "abbrev-source-title",
    "shortjournal",
    "maintitle",
    "series",
    "school",
    "institution",
)
_DATES = ("year", "date", "issue-date", "earlyaccessdate", "early-access-date")
_KEYWORDS = ("author-keywords", "keywords", "keyword", "keywords-plus", "mendeley-tags")
_CATEGORIES = ("web-of-science-categories", "mrclass", "primaryclass", "arxiv-primaryclass")

_YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20|21)\d\d(?!\d)")
_MACRO = re.compile(r"\\([A-Za-z]+)")
_WOS_KEY = re.compile(r"(?:WOS|ISI):\S+")
_DOI_URL = re.compile(r"doi\.(?:org|acm\.org)/", re.IGNORECASE)
_ARXIV = re.compile(r"(?<![\w.])(\d{4}\.\d{4,5}|[a-z][a-z-]{1,10}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?(?![\w.]*\d)")
_DBLP_URL = re.compile(
    r"dblp\.(?:org|uni-trier\.de|dagstuhl\.de)/rec/(?:bib\d?/)?([a-z]+/[^\s?#]+?)(?:\.(?:bib|html))?$"
)


def document(entry: Entry) -> Parsed:
    r"""Make a document of an entry.

    >>> parsed, notes = document(Entry("article", "doe14", {"author": r"Doe, J{\"o}rg and others", "date": "2014-05"}))
    >>> parsed.authors[0].name, parsed.year, parsed.id, parsed.id_is_key
    ('Doe, Jörg', 2014, 'doe14', False)
    """
    fields, notes = entry.fields, entry.notes
    authors, others = authors_of(fields.get("author") or fields.get("authors") or "", notes)
    add_people(authors, fields, notes)
    name = _name(entry.key, fields)
    ids = _ids(name, fields)
    found = Document(
        id=name,
        authors=authors,
        title=_title(fields),
        abstract=latex_to_text(fields.get("abstract", "")),
        year=_year(fields, notes),
        venue=_venue(fields),
        categories=_categories(fields),
        keywords=_keywords(fields),
        referenced_authors=_referenced_authors(fields),
        other_authors=others,
        ids=ids,
        id_is_key="unique-id" in fields or "wos" in ids or name.startswith("DBLP:"),
    )
    return found, notes


def _name(key: str, fields: Fields) -> str:
    """What people call the record: its number in the Web of Science, else its citation key."""
    return latex_to_text(fields["unique-id"]) if fields.get("unique-id") else key


def _title(fields: Fields) -> str:
    title, subtitle = latex_to_text(fields.get("title", "")), fields.get("subtitle")
    return f"{title}: {latex_to_text(subtitle)}" if subtitle else title


def _year(fields: Fields, notes: list[Note]) -> int | None:
    given = [value for name in _DATES if (value := fields.get(name))]
    for value in given:
        if found := _YEAR.search(value):
            return publication_year(found[0], notes)
    return publication_year(latex_to_text(given[0]), notes) if given else None


def _venue(fields: Fields) -> str:
    for name in _VENUES:
        if value := fields.get(name):
            macro = _MACRO.fullmatch(value)  # astronomers' \apj: the abbreviation says what it is
            if venue := macro[1] if macro else latex_to_text(value):
                return venue
    return ""


def _categories(fields: Fields) -> list[str]:
    """Only ";" parts them: "Materials Science, Multidisciplinary" is one."""
    given = [fields[name] for name in _CATEGORIES if name in fields] or [fields.get("research-areas", "")]
    return _distinct(item for value in given for item in latex_to_text(value).split(";"))


def _keywords(fields: Fields) -> list[str]:
    return _distinct(word for name in _KEYWORDS if name in fields for word in _listed(fields[name], fields))


def _listed(value: str, fields: Fields) -> list[str]:
    """Words parted by ";" or, where there is none, by ","; the Web of Science knows only ";"."""
    text = latex_to_text(value)
    return text.split(";" if ";" in text or "unique-id" in fields else ",")


def _distinct(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for item in items if (text := item.strip(" .;"))))


def _referenced_authors(fields: Fields) -> list[str]:
    if cited := fields.get("cited-references"):
        names = cited_authors(cited)
        return list(_without_latex(names)) if "{" in cited or "\\" in cited else names
    if cited := fields.get("references"):
        return scopus_names.referenced(latex_to_text(cited))
    return []


def _without_latex(names: list[str]) -> Iterator[str]:
    """Names as plain text; only now {*}WHO and {[}Anonymous] show what they are."""
    for given in names:
        name = latex_to_text(given) if "{" in given or "\\" in given else given
        if name[:1] not in "[*(":
            yield name


def _ids(name: str, fields: Fields) -> dict[str, str]:
    """What other sources know the document by."""
    if "unique-id" in fields:  # the Web of Science has no others
        found = {"doi": _doi(fields, []), "wos": _wos(name, fields), "pmid": _pmid(name, fields)}
        return {kind: value for kind, value in found.items() if value}
    addresses = [
        latex_to_text(value) for name in ("url", "ee", "biburl", "howpublished") if (value := fields.get(name))
    ]
    found = {
        "doi": _doi(fields, addresses),
        "wos": _wos(name, fields),
        "pmid": _pmid(name, fields),
        "arxiv": _arxiv(fields, addresses),
        "dblp": _dblp(name, addresses),
        "scopus": next((identifiers.scopus_document(text) for text in addresses if "eid=" in text), None),
    }
    return {kind: value for kind, value in found.items() if value}


def _doi(fields: Fields, addresses: list[str]) -> str | None:
    if given := fields.get("doi"):
        return identifiers.doi(latex_to_text(given))
    return next((identifiers.doi(address) for address in addresses if _DOI_URL.search(address)), None)


def _wos(name: str, fields: Fields) -> str | None:
    is_one = ("unique-id" in fields and not name.startswith("MEDLINE:")) or _WOS_KEY.match(name)
    return identifiers.web_of_science(name) if is_one else None


def _pmid(name: str, fields: Fields) -> str | None:
    eprint = fields.get("eprint", "") if fields.get("eprinttype", "").lower() in {"pmid", "pubmed"} else ""
    # Records of MEDLINE in the Web of Science have no number of their own.
    number = name if name.startswith("MEDLINE:") else ""
    given = fields.get("pmid") or fields.get("pubmed-id") or eprint or number
    return identifiers.number(given) if given else None


def _arxiv(fields: Fields, addresses: list[str]) -> str | None:
    scheme = (fields.get("archiveprefix") or fields.get("eprinttype") or "arxiv").lower()
    given = [fields.get("arxivid"), fields.get("arxiv"), fields.get("eprint") if scheme == "arxiv" else None]
    # Google Scholar and Zotero have it only in words: "arXiv preprint arXiv:1706.03762".
    words = [fields.get(name, "") for name in ("journal", "number", "note", "publisher")] + addresses
    given += [text for text in words if "arxiv" in text.lower()]
    return _first(_ARXIV, [text for text in given if text])


def _dblp(name: str, addresses: list[str]) -> str | None:
    return name[5:] if name.startswith("DBLP:") else _first(_DBLP_URL, addresses)


def _first(pattern: re.Pattern[str], texts: Iterable[str]) -> str | None:
    return next((found[1] for text in texts if (found := pattern.search(text))), None)


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
