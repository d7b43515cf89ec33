"""Identifiers of people and documents: every pattern that finds one, and its normal form.

Each function takes a text that holds an identifier and returns the normal form, or None if there is no valid one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from urllib.parse import unquote

from homonym.records.fields.people import plain_letters
from homonym.records.model import Document, Note
from homonym.settings import identifier_kind

# An ORCID has four groups of four digits. The last digit is a check digit, where X means ten.
_ORCID_GROUPS = (r"\d{4}", r"\d{4}", r"\d{4}", r"\d{3}[\dXx]")
_ORCID = re.compile(r"[-\s‐‑–]?".join(f"({group})" for group in _ORCID_GROUPS) + r"(?!\d)")
_HYPHENATED_ORCID = "-".join(_ORCID_GROUPS)
_ORCID_IN_PROSE = re.compile(rf"((?=000){_HYPHENATED_ORCID})")
_ORCID_LABEL = re.compile(r"(?:ORCID(?: iD)?:?|https?://(?:www\.)?orcid\.org/)", re.IGNORECASE)
_ONLY_ORCID = re.compile(rf"(?:(?:https?://)?(?:www\.)?orcid\.org/|orcid:)?({_HYPHENATED_ORCID})/?", re.IGNORECASE)

# An ORCID behind a name, with its label, address and brackets: "Doe, Jane (ORCID: 0000-0002-1825-0097)".
LABELLED_ORCID = re.compile(
    r"[\s,;(\[]{0,4}+(?:orcid(?: id)?[:\s]{0,4}+)?(?:https?://)?(?:orcid\.org/)?"
    rf"\b{'-?'.join(_ORCID_GROUPS)}\b[)\]\s]{{0,4}}+",
    re.IGNORECASE,
)

_RESEARCHER_ID = re.compile(r"\b([A-Z]{1,4}-\d{4}-(?:19|20)\d{2})\b")
# The lookbehind follows the digits it is about: a pattern that begins with literal characters is searched much faster.
_DOI = re.compile(r"10\.(?<![\w.]10\.)\d{4,9}(?:\.\d{1,9}){0,4}/\S+")
_EID = re.compile(r"(?<!\d)2-s2\.0-\d+")
_DIGITS = re.compile(r"\d+")
_DIMENSIONS = re.compile(r"\b(?:ur|pub)(?:\.\d++)++", re.IGNORECASE)

# The number of a document in arXiv, without its version, in both notations; to be compiled with IGNORECASE.
ARXIV_NUMBER = r"\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z-]{2,9})?/\d{7}"

_ARXIV = re.compile(
    rf"(?:^|[/:.\s])(?!arxiv\.)({ARXIV_NUMBER})(?:v\d{{1,3}})?(?:\.pdf)?(?:[?#]\S*|\s*\[[^\]]*\])?[.,;/\s]*+$",
    re.IGNORECASE,
)
_SUBJECT_CLASS = re.compile(r"\.[a-z-]+(?=/)")

# Prefix of the identifiers in tables and dumps of OpenAlex.
OPENALEX_PREFIX = "https://openalex.org/"


@lru_cache(maxsize=1 << 14)
def orcid(text: str) -> str | None:
    """The first ORCID in a text, with hyphens, if its check digit is right.

    >>> orcid("https://orcid.org/0000-0002-1825-0097"), orcid("0000-0002-1694-233x"), orcid("0000-0002-1825-0098")
    ('0000-0002-1825-0097', '0000-0002-1694-233X', None)
    """
    found = _ORCID.search(text)
    if found is None:
        return None
    digits = "".join(found.groups()).upper()
    total = 0
    for digit in digits[:15]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return "-".join(found.groups()).upper() if digits[15] == ("X" if check == 10 else str(check)) else None


def bare_orcid(text: str) -> str | None:
    """The ORCID that a whole text is, with or without its address; the check digit is not checked.

    >>> bare_orcid("https://orcid.org/0000-0002-1825-009x"), bare_orcid("see 0000-0002-1825-0097")
    ('0000-0002-1825-009X', None)
    """
    found = _ONLY_ORCID.fullmatch(text)
    return found[1].upper() if found else None


def split_at_orcids(text: str) -> list[tuple[str, str]]:
    """Each hyphenated ORCID in a text, as it is written there, with the text before it.

    >>> split_at_orcids("Doe, J; ORCID: 0000-0002-1825-0097, Roe, A 0000-0002-1694-233x")
    [('Doe, J; ORCID: ', '0000-0002-1825-0097'), (', Roe, A ', '0000-0002-1694-233x')]
    """
    parts = _ORCID_IN_PROSE.split(text) if "000" in text else []
    return list(zip(parts[:-1:2], parts[1::2], strict=True))


def without_orcid_label(text: str) -> str:
    """The text before an ORCID without the label, address, brackets and punctuation that announce the ORCID.

    >>> without_orcid_label("Doe, Jane (ORCID: ")
    'Doe, Jane'
    """
    return _ORCID_LABEL.sub("", text).strip(" ,;:/()[]")


@lru_cache(maxsize=1 << 14)
def researcher_id(text: str) -> str | None:
    """The ResearcherID in a text.

    >>> researcher_id("http://www.researcherid.com/rid/a-1009-2008"), researcher_id("Smith, J")
    ('A-1009-2008', None)
    """
    found = _RESEARCHER_ID.search(text.upper())
    return found[1] if found else None


def number(text: str) -> str | None:
    """The first number in a text without leading zeros, such as that of an author in Scopus or an article in PubMed.

    >>> number("https://pubmed.ncbi.nlm.nih.gov/0031712796"), number("PMID: 7"), number("none")
    ('31712796', '7', None)
    """
    found = _DIGITS.search(text)
    return (found[0].lstrip("0") or None) if found else None


def pmcid(text: str) -> str:
    """The identifier of an article in PubMed Central, which some sources give as a number.

    >>> pmcid("12345"), pmcid("pmc12345")
    ('PMC12345', 'PMC12345')
    """
    return f"PMC{text.upper().removeprefix('PMC')}"


def _numbered_pmcid(text: str) -> str | None:
    found = number(text)
    return pmcid(found) if found else None


def scopus_document(text: str) -> str | None:
    """The identifier (EID) of a document in Scopus.

    >>> scopus_document("https://www.scopus.com/record.uri?eid=2-s2.0-0022268505&x=1"), scopus_document("57094712500")
    ('2-s2.0-0022268505', None)
    """
    found = _EID.search(text)
    return found[0] if found else None


def scopus(text: str) -> str | None:
    """The identifier (EID) of a document in Scopus, or the number of an author.

    >>> scopus("AU-ID(57094712500)"), scopus("eid=2-s2.0-0022268505"), scopus("-")
    ('57094712500', '2-s2.0-0022268505', None)
    """
    return scopus_document(text) or number(text)


def doi(text: str) -> str | None:
    """The first DOI in a text, without its address and in lower case.

    >>> doi("https://doi.org/10.1000/ABC.123"), doi("doi: 10.1000/x;"), doi("(10.1000/y(1))."), doi("11.1000/x")
    ('10.1000/abc.123', '10.1000/x', '10.1000/y(1)', None)
    >>> doi("https://doi.org/10.1000%2Fx%281%29"), doi("10.1002/1&lt;2::aid&gt;3")
    ('10.1000/x(1)', '10.1002/1<2::aid>3')
    >>> doi("10.1002/1%3C2"), doi("10.1000/50%"), doi("10.1000/a%zz%e9")
    ('10.1002/1<2', '10.1000/50%', '10.1000/a%zz%e9')
    """
    if "%" in text and "\ufffd" not in (unquoted := unquote(text)):
        text = unquoted
    if "&" in text:
        text = html.unescape(text)
    found = _DOI.search(text)
    if found is None:
        return None
    bare = found[0].rstrip(".,;\"'>").lower()
    # A DOI may contain brackets, or be enclosed in them.
    return bare[:-1] if bare.endswith(")") and bare.count(")") > bare.count("(") else bare


def arxiv(text: str) -> str | None:
    """The number of a document in arXiv in lower case, without its version and subject class.

    >>> arxiv("https://arxiv.org/abs/hep-th/9901001v3"), arxiv("arXiv:1207.7214"), arxiv("10.48550/arxiv.1207.7214v1")
    ('hep-th/9901001', '1207.7214', '1207.7214')
    >>> arxiv("math.GT/0309136"), arxiv("arXiv: 1207.7214 [hep-ex]"), arxiv("12345")
    ('math/0309136', '1207.7214', None)
    >>> arxiv("http://arxiv.org/abs/1207.7214v2?x")
    '1207.7214'
    """
    found = _ARXIV.search(text)
    return _SUBJECT_CLASS.sub("", found[1].lower()) if found else None


def arxiv_of_doi(text: str) -> str | None:
    """The number in arXiv of a preprint with this DOI.

    >>> arxiv_of_doi("10.48550/arxiv.1207.7214"), arxiv_of_doi("10.1000/x")
    ('1207.7214', None)
    >>> arxiv_of_doi("10.48550/arxiv.hep-th/9901001"), arxiv_of_doi("10.48550/arxiv.math.gt/0309136")
    ('hep-th/9901001', 'math/0309136')
    """
    return arxiv(text) if text.startswith("10.48550/arxiv.") else None


def web_of_science(text: str) -> str | None:
    """The accession number of a Web of Science record, without the name of its database.

    >>> web_of_science("WOS:001309723000001"), web_of_science("ISI:A1997XU12300001"), web_of_science("")
    ('001309723000001', 'A1997XU12300001', None)
    """
    return text.strip().rpartition(":")[2].upper() or None


def isni(text: str) -> str | None:
    """The ISNI in a text, as 16 digits; it has the same digits and the same check digit as an ORCID.

    >>> isni("https://isni.org/isni/0000000121032683"), isni("ISNI 0000 0001 2103 2684")
    ('0000000121032683', None)
    """
    found = orcid(text)
    return found.replace("-", "") if found else None


def dimensions(text: str) -> str | None:
    """The identifier of a researcher or a publication in Dimensions.

    >>> dimensions("https://app.dimensions.ai/details/entities/publication/author/ur.01234567.89"), dimensions("ur.")
    ('ur.01234567.89', None)
    """
    found = _DIMENSIONS.search(text)
    return found[0].lower() if found else None


_KINDS: dict[str, Callable[[str], str | None]] = {
    "orcid": orcid,
    "researcherid": researcher_id,
    "scopus": scopus,
    "doi": doi,
    "pmid": number,
    "wos": web_of_science,
    "dimensions": dimensions,
    "isni": isni,
}
# Kinds with a rule for documents only: the same names may stand for other identifiers of people, such as warner_s_1.
_DOCUMENT_RULES: dict[str, Callable[[str], str | None]] = _KINDS | {"pmcid": _numbered_pmcid, "arxiv": arxiv}
# How messages and pages call the kinds of identifiers; others are shown as they are.
TITLES = {
    "orcid": "ORCID", "researcherid": "ResearcherID", "scopus": "Scopus id", "doi": "DOI", "pmid": "PubMed id",
    "dimensions": "Dimensions id", "isni": "ISNI", "viaf": "VIAF id", "gnd": "GND id", "lccn": "LCCN",
    "openalex": "OpenAlex id", "arxiv": "arXiv number", "pmcid": "PMCID", "email": "e-mail address",
}  # fmt: skip


def normalise(kind: str, value: object, *, of_document: bool = False) -> str | None:
    """The normal form of an identifier of a kind, None if it is invalid; the text itself for kinds without a rule.

    >>> normalise("ORCID", "0000-0002-1825-0098"), normalise("dblp", "Wei Wang 0012"), normalise("scopus", 7003)
    (None, 'Wei Wang 0012', '7003')
    >>> normalise("arxiv", "warner_s_1"), normalise("arxiv", "1207.7214v1", of_document=True)
    ('warner_s_1', '1207.7214')
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    rules = _DOCUMENT_RULES if of_document else _KINDS
    rule = rules.get(kind) or rules.get(identifier_kind(kind))
    return (rule(text) if rule else text) or None


def kind_named(name: str) -> str:
    """The kind of identifiers that a key or column is named after, given in lower case without separators.

    >>> kind_named("orcidid"), kind_named("scopusauthorid"), kind_named("researcherid"), kind_named("city")
    ('orcid', 'scopus', 'researcherid', 'city')
    """
    kinds = {*PERSON_KINDS, *DOCUMENT_KINDS}
    for ending in ("", "authorid", "id"):
        if name.endswith(ending) and (kind := name.removesuffix(ending)) in kinds:
            return kind
    return name


def add(ids: dict[str, str], kind: str, text: str, notes: list[Note], *, of: str = "") -> None:
    """Add the normal form of an identifier to `ids`; note a text that is not valid, and ignore an empty one.

    Of several valid ones of a kind, the first is kept: this is the rule of all formats.

    >>> add(ids := {}, "doi", "https://doi.org/10.1000/X", []), ids
    (None, {'doi': '10.1000/x'})
    >>> add({}, "orcid", "0000-0002-1825-0098", notes := []), notes
    (None, [('field', "'0000-0002-1825-0098' is not a valid ORCID")])
    >>> add(ids, "doi", "10.1000/y", []), ids
    (None, {'doi': '10.1000/x'})
    """
    text = text.removeprefix(OPENALEX_PREFIX)
    if not text:
        return
    # Dimensions calls its own identifiers Researcher IDs.
    if kind == "researcherid" and "." in text and dimensions(text):
        kind = "dimensions"
    # No format has a kind of people that has a rule for documents only.
    if normal := normalise(kind, text, of_document=True):
        ids.setdefault(kind, normal)
    else:
        owner = f" of {of!r}" if of else ""
        notes.append(("field", f"{text!r}{owner} is not a valid {TITLES.get(kind, kind)}"))


# Kinds of identifiers of people that sources give. Tables and homonym's own documents may have others.
PERSON_KINDS = (
    "orcid", "researcherid", "isni", "email", "scopus", "openalex", "dblp", "dblppid", "aminer", "mag", "dimensions",
    "gnd", "googlescholar", "homonym", "idref", "lens", "semanticscholar", "viaf", "wikidata",
)  # fmt: skip

# Kinds of identifiers of people by rank. The first two are registered for a person, not for a name, so they also link
# names that are written differently. A person may have several ResearcherIDs, and people share e-mail addresses.
PERSON_ASSIGNED = ("orcid", "isni")
_RANKED = (*PERSON_ASSIGNED, "researcherid")
_LAST = ("email",)


def identifier_rank(kind: str) -> int:
    """The rank of a kind of identifiers; where two kinds contradict each other, the one with the lower number wins.

    >>> sorted(("email", "scopus", "researcherid", "isni", "orcid"), key=identifier_rank)
    ['orcid', 'isni', 'researcherid', 'scopus', 'email']
    """
    if kind in _RANKED:
        return _RANKED.index(kind)
    return len(_RANKED) + (kind in _LAST)


# Kinds of identifiers that name a document without an id of its own, the first one that it has.
DOCUMENT_KINDS = ("doi", "pmid", "wos", "scopus", "openalex", "arxiv", "dblp")
# Hexadecimal digits of a hash of content.
_HASH_DIGITS = 16


def content_id(document: Document) -> str:
    """The id of a document that has none of its own: an identifier in another source, else a hash of its content.

    The hash is over title, year and the first word of the authors, which does not depend on how a list of authors is
    split; of a document without title it is over everything.

    >>> content_id(Document("", [], ids={"pmid": "7", "doi": "10.1000/x"})), content_id(Document("", [], "On", year=1))
    ('doi:10.1000/x', 'h:08d460d1758f52ec')
    """
    kinds = [*DOCUMENT_KINDS, *sorted(document.ids.keys() - set(DOCUMENT_KINDS))]
    if found := next((f"{kind}:{document.ids[kind]}" for kind in kinds if kind in document.ids), None):
        return found
    if title := plain_letters(document.title):
        words = document.authors[0].name.replace(",", " ").split() if document.authors else []
        first = plain_letters(words[0]) if words else ""
        content = repr((title, document.year, first))
    else:
        content = repr(_filled(asdict(document)))
    return "h:" + blake2b(content.encode(errors="surrogatepass"), digest_size=_HASH_DIGITS // 2).hexdigest()


def _filled(value: Any) -> Any:
    """The value without empty fields, so that a field that is added to the model later does not change it."""
    if isinstance(value, dict):
        return {name: _filled(entry) for name, entry in sorted(value.items()) if entry not in (None, "", [], {})}
    return list(map(_filled, value)) if isinstance(value, list) else value
