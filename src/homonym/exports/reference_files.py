"""Documents as files of reference managers and databases: BibTeX, RIS, Web of Science and Scopus.

Every file is made from the records of the result, so it does not depend on the input files. Each author has the same
label on all documents. The ids of the result are in separate fields, which our readers understand
(records/fields/exported_ids.py). Data that a format has no field for is left out: see docs/export.md.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from homonym.errors import counted
from homonym.exports.labels import dotted_name, short_name
from homonym.exports.plain_lines import distinct, joined, one_line
from homonym.exports.result_tables import ExportedDocument, ResultTables
from homonym.io.outputs import open_atomic
from homonym.records.fields import exported_ids
from homonym.records.fields.contributors import contributor_kind, editor_name
from homonym.records.fields.exported_ids import encoded, written_author_ids, written_contributors
from homonym.records.fields.people import is_group, is_placeholder
from homonym.records.formats import ris
from homonym.records.formats.bibtex_people import authors_of

_LINKS = {
    "scopus": "https://www.scopus.com/inward/record.uri?eid={}",
    "arxiv": "https://arxiv.org/abs/{}",
    "openalex": "https://openalex.org/{}",
    "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/{}",
}


def write_bibtex(result: ResultTables, path: Path) -> None:
    """BibTeX, with addresses and identifiers of authors as the Web of Science writes them."""
    keys: set[str] = set()
    ids = WrittenIds(READERS["bibtex"])
    _write(path, (_bibtex_entry(found, _citation_key(found.document.id, keys), ids) for found in result.documents()))
    ids.warn(result)


def write_ris(result: ResultTables, path: Path) -> None:
    """RIS, one record per document."""
    ids = WrittenIds(READERS["ris"])
    _write(path, (_ris_record(found, ids) for found in result.documents()))
    ids.warn(result)


def write_wos(result: ResultTables, path: Path) -> None:
    """Plain text as the Web of Science exports it."""
    head = "\ufeffFN Clarivate Analytics Web of Science\nVR 1.0\n"
    ids = WrittenIds(READERS["wos"])
    _write(path, (_wos_record(found, ids) for found in result.documents()), head, "EF\n")
    ids.warn(result)


def write_scopus(result: ResultTables, path: Path) -> None:
    """CSV as Scopus exports it."""
    ids = WrittenIds(READERS["scopus"])
    _write(path, (_csv_line(_scopus_row(found, ids)) for found in result.documents()), "\ufeff" + _csv_line(_SCOPUS))
    ids.warn(result)


def _write(path: Path, records: Iterable[str], head: str = "", end: str = "") -> None:
    with open_atomic(path) as stream:
        stream.write(head.encode())
        stream.writelines(record.encode() for record in records)
        stream.write(end.encode())


# What all formats share


def labels_of(found: ExportedDocument) -> list[str]:
    """The labels of the authors of a document."""
    return [mention.person.label for mention in found.mentions]


class WrittenIds:
    """Writes the ids of the authors of a document. Names that the reader of a format leaves out get none.

    Readers leave out organisations, for example; the other authors of the document keep their ids.
    """

    def __init__(self, is_read: Callable[[str], bool]) -> None:
        self._is_read = lru_cache(maxsize=1 << 16)(is_read)
        self._left_out = 0

    def of(self, found: ExportedDocument) -> str:
        """The ids as text, by position."""
        read = [mention for mention in found.mentions if self._is_read(mention.person.label)]
        self._left_out += len(found.mentions) - len(read)
        return written_author_ids({mention.entry.position: mention.person.author_id for mention in read})

    def warn(self, result: ResultTables) -> None:
        """Report the mentions without an id."""
        if self._left_out:
            result.warnings.append(
                f"{counted(self._left_out, 'mention')} written without id: readers of this format leave out "
                "organisations and missing names."
            )


def _bibtex_reads(label: str) -> bool:
    return len(authors_of(bibtex_label(label), [])) == 1


def bibtex_label(label: str) -> str:
    """A label in a list of authors, where "and" separates names."""
    return _AND.sub(r"{\g<0>}", label)


# Whether the reader of a format takes a label for a person.
READERS: dict[str, Callable[[str], bool]] = {
    "bibtex": _bibtex_reads,
    "ris": lambda label: bool(ris.authors_of([], {"AU": [label]}, [])),
    "wos": lambda label: not is_placeholder(label),
    "scopus": lambda label: not is_placeholder(label),
    "excel": lambda label: not is_placeholder(label) and not is_group(label),
}


def groups_of(found: ExportedDocument) -> list[str]:
    """The groups of a document, and names that only its source says are groups."""
    kinds = ((name, contributor_kind(name)) for name in found.document.other_contributors)
    return [one_line(name) for name, kind in kinds if kind in {"", "a group"}]


def editors_of(found: ExportedDocument) -> list[str]:
    """The names of the editors of a document."""
    names = found.document.other_contributors
    return [one_line(editor_name(name)) for name in names if contributor_kind(name) == "an editor"]


def addresses_of(found: ExportedDocument) -> dict[str, list[str]]:
    """Address to the labels of its authors, in the order of the authors."""
    addresses: dict[str, list[str]] = {}
    for mention in found.mentions:
        for text in mention.entry.affiliations:
            if address := one_line(text).rstrip(" ."):
                addresses.setdefault(address, []).append(mention.person.label)
    return {address: distinct(labels) for address, labels in addresses.items()}


def emails_of(found: ExportedDocument) -> list[str]:
    """All e-mail addresses of a document."""
    return distinct(one_line(email) for mention in found.mentions for email in mention.entry.emails)


def identified(found: ExportedDocument, kind: str) -> list[tuple[str, str]]:
    """Label and identifier of the authors that have one of a kind."""
    pairs = ((mention.person.label, mention.entry.ids.get(kind, "")) for mention in found.mentions)
    return [(label, one_line(value)) for label, value in pairs if value]


def accession_number(found: ExportedDocument) -> str:
    """The accession number in the Web of Science, or a number of our own, because tools drop records without one."""
    own = found.document.ids.get("wos")
    return f"WOS:{own}" if own else f"{exported_ids.PREFIX}{encoded(found.document.id)}"


def cited_authors(found: ExportedDocument) -> list[str]:
    """Names of cited authors, without comma, as they begin a reference: "Doe J"."""
    return [name for text in found.document.referenced_authors if (name := one_line(text.replace(",", " ")))]


# BibTeX

_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
}  # fmt: skip
_SPECIAL = re.compile(r"[\\{}~^&%$#_]")
_LIGATURE = re.compile(r"(?<=-)-|(?<=')'|(?<=`)`")
_BRACE, _ROUND = re.compile("[{}]"), str.maketrans("{}", "()")
_KEY = re.compile(r"[^\w:.+/-]+")
_AND = re.compile(r"(?i)\band\b")


def latex(text: str) -> str:
    r"""A text in one line, with the characters escaped that mean something in LaTeX.

    BibTeX counts escaped braces, too. So a text in which they do not match gets round brackets.

    >>> latex("R&D of {x}: 5--7 %"), latex("}{")
    ('R\\&D of \\{x\\}: 5-{}-7 \\%', ')(')
    """
    if not _braces_match(text):
        text = text.translate(_ROUND)
    return _LIGATURE.sub(lambda found: "{}" + found[0], _SPECIAL.sub(lambda found: _LATEX[found[0]], one_line(text)))


def _braces_match(text: str) -> bool:
    depth = 0
    for brace in _BRACE.findall(text):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _citation_key(document_id: str, keys: set[str]) -> str:
    """A key that BibTeX accepts, made from the id of the document. A field has the id itself."""
    base = key = _KEY.sub("-", document_id).strip("-")[:100] or "document"
    number = 1
    while key.lower() in keys:  # BibTeX ignores case
        number += 1
        key = f"{base}-{number}"
    keys.add(key.lower())
    return key


def _bibtex_entry(found: ExportedDocument, key: str, ids: WrittenIds) -> str:
    fields = {name: value for name, value in _bibtex_fields(found, ids) if value}
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
    return f"@{'article' if found.document.venue else 'misc'}{{{key},\n{lines}}}\n\n"


def _bibtex_fields(found: ExportedDocument, author_ids: WrittenIds) -> Iterator[tuple[str, str]]:
    document, ids = found.document, found.document.ids
    yield "author", " and ".join([*map(bibtex_label, labels_of(found)), *_corporate_authors(found)])
    yield "editor", " and ".join(bibtex_label(latex(name)) for name in editors_of(found))
    yield "title", latex(document.title)
    yield "journal", latex(document.venue)
    yield "year", str(document.year or "")
    yield "abstract", latex(document.abstract)
    yield "keywords", latex(_ended(joined(document.keywords)))
    yield "web-of-science-categories", latex(joined(document.categories))
    yield (
        "affiliation",
        "\n    ".join(
            f"{'; '.join(labels)}, {latex(joined([address]))}." for address, labels in addresses_of(found).items()
        ),
    )
    yield "author-email", latex(joined(emails_of(found)))
    for field, kind in (("orcid-numbers", "orcid"), ("researcherid-numbers", "researcherid")):
        yield field, "\n    ".join(f"{label}/{latex(value)}" for label, value in identified(found, kind))
    yield "doi", latex(ids.get("doi", ""))
    yield "pmid", latex(ids.get("pmid", ""))
    yield "unique-id", latex(f"WOS:{ids['wos']}" if "wos" in ids else "")
    yield "archiveprefix", "arXiv" if "arxiv" in ids else ""
    yield "eprint", latex(ids.get("arxiv", ""))
    yield "url", latex(_LINKS["scopus"].format(ids["scopus"]) if "scopus" in ids else "")
    yield "biburl", latex(f"https://dblp.org/rec/{ids['dblp']}" if "dblp" in ids else "")
    yield "cited-references", "\n    ".join(latex(name) for name in cited_authors(found))
    yield exported_ids.DOCUMENT_FIELD, latex(encoded(document.id))
    yield exported_ids.AUTHORS_FIELD, latex(author_ids.of(found))
    affiliations = (one_line(text) for mention in found.mentions for text in mention.entry.affiliations)
    yield exported_ids.AFFILIATIONS_FIELD, latex(exported_ids.written_affiliations(affiliations))
    yield exported_ids.CONTRIBUTORS_FIELD, latex(written_contributors(document.other_contributors))


def _corporate_authors(found: ExportedDocument) -> list[str]:
    """The groups in braces, unless readers would take one for a person."""
    written = [f"{{{latex(name)}}}" for name in groups_of(found)]
    return [name for name in written if not authors_of(name, [])]


def _ended(keywords: str) -> str:
    """A list that readers split at semicolons, even if it is a single keyword with a comma."""
    return f"{keywords};" if "," in keywords and ";" not in keywords else keywords


# RIS


def _ris_record(found: ExportedDocument, ids: WrittenIds) -> str:
    lines = (f"{tag}  - {value}\n" for tag, value in _ris_fields(found, ids) if value)
    return f"TY  - {'JOUR' if found.document.venue else 'GEN'}\n{''.join(lines)}ER  - \n\n"


def _ris_fields(found: ExportedDocument, author_ids: WrittenIds) -> Iterator[tuple[str, str]]:
    document, ids = found.document, found.document.ids
    yield from (("AU", label) for label in labels_of(found))
    yield from (("AU", name) for name in _ris_groups(found))
    yield from (("A2", name) for name in editors_of(found))
    yield "TI", one_line(document.title)
    yield "T2", one_line(document.venue)
    yield "PY", str(document.year or "")
    yield "AB", one_line(document.abstract)
    yield from (("KW", joined([keyword])) for keyword in document.keywords)
    yield from (("AD", line) for line in _ris_addresses(found))
    yield from (("OI", f"{label}; ORCID: {orcid}") for label, orcid in identified(found, "orcid"))
    yield "DO", one_line(ids.get("doi", ""))
    yield "AN", one_line(f"WOS:{ids['wos']}" if "wos" in ids else "")
    yield "PM", one_line(ids.get("pmid", ""))
    yield "C2", one_line(ids.get("pmcid", ""))
    yield from (("UR", one_line(link.format(ids[kind]))) for kind, link in _LINKS.items() if kind in ids)
    if cited := joined(document.referenced_authors):
        yield "N1", f"References: {cited}"
    yield "N1", f"{exported_ids.DOCUMENT_FIELD}: {encoded(document.id)}"
    if written := author_ids.of(found):
        yield "N1", f"{exported_ids.AUTHORS_FIELD}: {written}"
    if contributors := written_contributors(document.other_contributors):
        yield "N1", f"{exported_ids.CONTRIBUTORS_FIELD}: {contributors}"


def _ris_groups(found: ExportedDocument) -> list[str]:
    """The groups with a comma at the end, as EndNote asks for, unless readers would take one for a person."""
    written = [f"{name.rstrip(' ,')}," for name in groups_of(found)]
    return [name for name in written if not ris.authors_of([], {"AU": [name]}, [])]


def _ris_addresses(found: ExportedDocument) -> Iterator[str]:
    """The addresses with the author before each, because RIS has one list of addresses for all authors."""
    for mention in found.mentions:
        emails = " ".join(map(one_line, mention.entry.emails))
        for number, address in enumerate(mention.entry.affiliations or [""]):
            if text := joined([address if number else f"{address} {emails}"]):
                yield f"{mention.person.label}: {text}"


# Web of Science


def _wos_record(found: ExportedDocument, ids: WrittenIds) -> str:
    fields = (f"{tag} " + "\n   ".join(values) + "\n" for tag, *values in _wos_fields(found, ids) if any(values))
    return f"PT J\n{''.join(fields)}ER\n\n"


def _wos_fields(found: ExportedDocument, author_ids: WrittenIds) -> Iterator[tuple[str, ...]]:
    """Tag and lines of each field."""
    document, ids = found.document, found.document.ids
    yield "AU", *map(short_name, labels_of(found))
    yield "AF", *labels_of(found)
    yield "BE", *editors_of(found)
    yield "CA", *(joined([name]) for name in groups_of(found))
    yield "TI", one_line(document.title)
    yield "SO", one_line(document.venue)
    yield "DE", joined(document.keywords)
    yield "AB", one_line(document.abstract)
    yield "C1", *(f"[{'; '.join(labels)}] {address}." for address, labels in addresses_of(found).items())
    yield "EM", joined(emails_of(found))
    for tag, kind in (("RI", "researcherid"), ("OI", "orcid")):
        yield tag, "; ".join(f"{label}/{value}" for label, value in identified(found, kind))
    yield "CR", *cited_authors(found)
    yield "PY", str(document.year or "")
    yield "DI", one_line(ids.get("doi", ""))
    yield "WC", joined(document.categories)
    yield "PM", one_line(ids.get("pmid", ""))
    yield "UT", accession_number(found)
    yield exported_ids.WOS_AUTHORS, author_ids.of(found)
    yield exported_ids.WOS_DOCUMENT, encoded(document.id)
    yield exported_ids.WOS_CONTRIBUTORS, written_contributors(document.other_contributors)


# Scopus

_SCOPUS = (
    "Authors", "Author full names", "Author(s) ID", "Title", "Year", "Source title", "DOI", "Link", "Affiliations",
    "Authors with affiliations", "Abstract", "Author Keywords", "References", "Correspondence Address", "PubMed ID",
    "Editors", "Document Type", "EID", "Homonym authors", "Homonym id", "Homonym contributors",
)  # fmt: skip


def _csv_line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _scopus_row(found: ExportedDocument, author_ids: WrittenIds) -> list[str]:
    document, ids = found.document, found.document.ids
    numbers = [mention.entry.ids.get("scopus", "") for mention in found.mentions]
    values = {
        "Authors": "; ".join(map(dotted_name, labels_of(found))),
        "Author full names": "; ".join(
            f"{label} ({number})" if number else label for label, number in zip(labels_of(found), numbers, strict=True)
        ),
        "Author(s) ID": "; ".join(numbers) if all(numbers) else "",
        "Title": one_line(document.title),
        "Year": str(document.year or ""),
        "Source title": one_line(document.venue),
        "DOI": one_line(ids.get("doi", "")),
        "Link": _LINKS["scopus"].format(one_line(ids["scopus"])) if "scopus" in ids else "",
        "Affiliations": joined(addresses_of(found)),
        "Authors with affiliations": "; ".join(_with_affiliations(found)),
        "Abstract": one_line(document.abstract),
        "Author Keywords": joined(document.keywords),
        "References": joined(document.referenced_authors),
        "Correspondence Address": "; ".join(_corresponding(found)),
        "PubMed ID": one_line(ids.get("pmid", "")),
        "Editors": joined(editors_of(found)),
        "Document Type": "Article" if document.venue else "",
        "EID": one_line(ids.get("scopus", "")) or f"{exported_ids.PREFIX}{encoded(document.id)}",
        "Homonym authors": author_ids.of(found),
        "Homonym id": encoded(document.id),
        "Homonym contributors": written_contributors(document.other_contributors),
    }
    return [values[column] for column in _SCOPUS]


def _with_affiliations(found: ExportedDocument) -> Iterator[str]:
    """Each author, followed by the author's affiliations."""
    if any(mention.entry.affiliations for mention in found.mentions):
        for mention in found.mentions:
            addresses = (joined([text]).rstrip(" .") for text in mention.entry.affiliations)
            yield ", ".join([dotted_name(mention.person.label), *distinct(addresses)])


def _corresponding(found: ExportedDocument) -> Iterator[str]:
    for mention in found.mentions:
        for email in mention.entry.emails:
            yield f"{dotted_name(mention.person.label)}; email: {joined([email])}"
