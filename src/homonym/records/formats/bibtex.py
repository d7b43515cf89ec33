"""BibTeX and biblatex files, as reference managers, publishers, DBLP, Scopus and the Web of Science export them.

Reads authors, the title, abstract, year, venue, keywords, categories and identifiers; from the Web of Science and
Scopus also addresses, e-mail addresses, identifiers of authors and cited authors.

An entry reaches from one `@type{key,` at the beginning of a line to the next. BibTeX is parsed here and not by
bibtexparser, which is slower and swallows the field after a missing comma; here damage stays in its entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from homonym.io.inputs import Source
from homonym.records.fields import exported_ids, identifiers
from homonym.records.fields.contributors import note_contributor
from homonym.records.fields.markup import latex_to_text
from homonym.records.fields.people import scopus_cited_authors, wos_cited_authors
from homonym.records.formats.bibtex_entries import NO_ENTRY, NOT_DOCUMENTS, Entry, has_fields, parse_entry
from homonym.records.formats.bibtex_people import add_author_details, authors_of
from homonym.records.model import BrokenRecordError, Document, Note, Parsed, publication_year
from homonym.records.parsing.splitting import Raw, decoded, split_at
from homonym.records.reader import Columns, Format, Records

Fields = dict[str, str]

# Fields that hold the same information, in the order of preference.
_VENUES = (
    "journal journaltitle booktitle fjournal journal-iso abbrev-source-title shortjournal maintitle series school "
    "institution"
).split()
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
    r"""The document that an entry describes.

    >>> parsed, notes = document(Entry("article", "doe14", {"author": r"Doe, J{\"o}rg and others", "date": "2014-05"}))
    >>> parsed.authors[0].name, parsed.year, parsed.id, parsed.id_is_key
    ('Doe, Jörg', 2014, 'doe14', False)
    """
    fields, notes = entry.fields, entry.notes
    authors = authors_of(fields.get("author") or fields.get("authors") or "", notes)
    add_author_details(authors, fields, notes)
    key = _document_key(entry.key, fields)
    ids = _ids(key, fields)
    found = Document(
        id=key,
        authors=authors,
        title=_title(fields),
        abstract=latex_to_text(fields.get("abstract", "")),
        year=_year(fields, notes),
        venue=_venue(fields),
        categories=_categories(fields),
        keywords=_keywords(fields),
        referenced_authors=_referenced_authors(fields),
        ids=ids,
        id_is_key="unique-id" in fields or "wos" in ids or key.startswith("DBLP:"),
    )
    _add_exported(found, fields, notes)
    for name in latex_to_text(fields.get("collaboration", "")).split(","):  # INSPIRE and journals of the APS
        if name.strip():
            note_contributor(name.strip(), notes)
    return found, notes


def _add_exported(document: Document, fields: Fields, notes: list[Note]) -> None:
    """Add the ids and contributors that `homonym export` wrote."""
    names = (exported_ids.DOCUMENT_FIELD, exported_ids.AUTHORS_FIELD, exported_ids.CONTRIBUTORS_FIELD)
    if fields.keys().isdisjoint(names):
        return
    document_id, author_ids, contributors = (latex_to_text(fields.get(name, "")) for name in names)
    exported_ids.add_exported_ids(document, document_id, author_ids, notes)
    exported_ids.note_exported_contributors(contributors, notes)
    if affiliations := fields.get(exported_ids.AFFILIATIONS_FIELD):
        exported_ids.restore_affiliations(document.authors, latex_to_text(affiliations))


def _document_key(key: str, fields: Fields) -> str:
    """The accession number in the Web of Science, otherwise the citation key."""
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
            macro = _MACRO.fullmatch(value)  # such as \apj, which astronomers use for journals
            if venue := macro[1] if macro else latex_to_text(value):
                return venue
    return ""


def _categories(fields: Fields) -> list[str]:
    """Categories, separated by ";" only: "Materials Science, Multidisciplinary" is one."""
    given = [fields[name] for name in _CATEGORIES if name in fields] or [fields.get("research-areas", "")]
    return _distinct(item for value in given for item in latex_to_text(value).split(";"))


def _keywords(fields: Fields) -> list[str]:
    return _distinct(word for name in _KEYWORDS if name in fields for word in _split_list(fields[name], fields))


def _split_list(value: str, fields: Fields) -> list[str]:
    """Terms separated by ";" or, if there is none, by ","; the Web of Science uses only ";"."""
    text = latex_to_text(value)
    return text.split(";" if ";" in text or "unique-id" in fields else ",")


def _distinct(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for item in items if (text := item.strip(" .;"))))


def _referenced_authors(fields: Fields) -> list[str]:
    if cited := fields.get("cited-references"):
        names = wos_cited_authors(cited)
        return list(_without_latex(names)) if "{" in cited or "\\" in cited else names
    if cited := fields.get("references"):
        return scopus_cited_authors(latex_to_text(cited))
    return []


def _without_latex(names: list[str]) -> Iterator[str]:
    """Names as plain text, without {*}WHO and {[}Anonymous], which are recognised only without LaTeX."""
    for given in names:
        name = latex_to_text(given) if "{" in given or "\\" in given else given
        if name[:1] not in "[*(":
            yield name


def _ids(key: str, fields: Fields) -> dict[str, str]:
    if "unique-id" in fields and exported_ids.DOCUMENT_FIELD not in fields:  # the Web of Science has no others
        found = {"doi": _doi(fields, []), "wos": _wos(key, fields), "pmid": _pmid(key, fields)}
        return {kind: value for kind, value in found.items() if value}
    addresses = [
        latex_to_text(value) for name in ("url", "ee", "biburl", "howpublished") if (value := fields.get(name))
    ]
    found = {
        "doi": _doi(fields, addresses),
        "wos": _wos(key, fields),
        "pmid": _pmid(key, fields),
        "arxiv": _arxiv(fields, addresses),
        "dblp": _dblp(key, addresses),
        "scopus": next((identifiers.scopus_document(text) for text in addresses if "eid=" in text), None),
    }
    return {kind: value for kind, value in found.items() if value}


def _doi(fields: Fields, addresses: list[str]) -> str | None:
    if given := fields.get("doi"):
        return identifiers.doi(latex_to_text(given))
    return next((identifiers.doi(address) for address in addresses if _DOI_URL.search(address)), None)


def _wos(key: str, fields: Fields) -> str | None:
    is_one = ("unique-id" in fields and not key.startswith("MEDLINE:")) or _WOS_KEY.match(key)
    return identifiers.web_of_science(key) if is_one else None


def _pmid(key: str, fields: Fields) -> str | None:
    eprint = fields.get("eprint", "") if fields.get("eprinttype", "").lower() in {"pmid", "pubmed"} else ""
    # Records of MEDLINE in the Web of Science have the PubMed number in place of an accession number.
    number = key if key.startswith("MEDLINE:") else ""
    given = fields.get("pmid") or fields.get("pubmed-id") or eprint or number
    return identifiers.number(given) if given else None


def _arxiv(fields: Fields, addresses: list[str]) -> str | None:
    scheme = (fields.get("archiveprefix") or fields.get("eprinttype") or "arxiv").lower()
    given = [fields.get("arxivid"), fields.get("arxiv"), fields.get("eprint") if scheme == "arxiv" else None]
    # Google Scholar and Zotero have it only in a text: "arXiv preprint arXiv:1706.03762".
    texts = [fields.get(name, "") for name in ("journal", "number", "note", "publisher")] + addresses
    given += [text for text in texts if "arxiv" in text.lower()]
    found = _first(_ARXIV, [text for text in given if text])
    return identifiers.arxiv(found) if found else None


def _dblp(key: str, addresses: list[str]) -> str | None:
    return key[5:] if key.startswith("DBLP:") else _first(_DBLP_URL, addresses)


def _first(pattern: re.Pattern[str], texts: Iterable[str]) -> str | None:
    return next((found[1] for text in texts if (found := pattern.search(text))), None)


# An entry of another type is recognised by its key and the comma behind it.
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
# The pattern begins with the one rare character and looks behind only then, which is faster. A single character between
# a closing brace and "@" is a damaged line end.
_MARK = re.compile(rf"@(?:{_INDENTED}|(?<=\}}.@)){_ENTRY}".encode(), re.DOTALL)
_FIRST = re.compile(rf"\s*+@{_ENTRY}".encode())
_STRING = re.compile(rb"\s*+@\s*+string\b", re.IGNORECASE)
_MACRO_USE = re.compile(rb'[=#]\s*+([A-Za-z][^\s,{}()"#=]*+)')
_BEGINS = re.compile(r"\s*+@")

# Maximum number of lines of remarks before the first entry; a text that quotes an entry has more.
_MAX_REMARKS = 30

# Maximum length of the text of an abbreviation; each entry is extended by those that it uses.
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
    return len(remarks) <= _MAX_REMARKS and not any(line.startswith(b"```") for line in remarks)


def _open(source: Source, columns: Columns) -> Records:
    return Records(_raws(source.blocks()))


def _raws(blocks: Iterable[bytes]) -> Iterator[Raw]:
    """Cut a file into entries, each preceded by the abbreviations (@string) that it uses."""
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
        return {}  # reported when the record is parsed


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
        entry.notes.append(("record", "an entry after this one has lost its '@type{key,'"))
    return document(entry)


def _require_remark(text: str) -> None:
    """Raise an error for text outside of entries that is the rest of an entry and not a remark."""
    if has_fields("\n" + text):
        raise BrokenRecordError(NO_ENTRY)


FORMAT = Format(name="bibtex", title="BibTeX", recognises=_recognises, open=_open, parse=_parse)
