"""The HTML page of a result directory, which needs no labels: what was read, whom the run found, what to check.

Everything on it comes from the tables, `run.json`, `conflicts.csv` and `variants.csv`. Times and directories are left
out, so that the same input and settings give the same page.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from homonym.collection.document_table import WrittenAffiliations
from homonym.errors import HomonymError, InputError, counted, first_line, word_list, year_range
from homonym.explanation.author_reasons import author_reasons
from homonym.io.outputs import write_atomic
from homonym.io.result_directory import AUTHORS, CONFLICTS, FREQUENCIES, LOG, MENTIONS, VARIANTS
from homonym.records.fields.identifiers import TITLES
from homonym.report.page import NAME_LENGTH, Table, dotted, percent, render_template, shortened, template_text
from homonym.report.run_content import (
    DOUBTFUL,
    ID_LENGTH,
    SIZES,
    ResultTotals,
    RunContent,
    ShownAuthor,
    ShownName,
    ShownPaper,
    read_content,
    text_bytes,
)

Reasons = Callable[[Path, Mapping[str, Sequence[str]]], Mapping[str, Sequence[str]]]
"""Gives for a result and author ids by block the reasons why the mentions of each are together, as sentences."""

# Maximum number of files, problems, warnings and conflicts on the page, and of characters of each.
LISTED_LINES, LINE_LENGTH = 50, 500
# Names are clustered again for their reasons, which takes time for each document and each of its authors. An author
# entry counts once, a mention MENTION_WORK times; about two seconds in all.
MAX_WORK, MENTION_WORK = 16_000, 4
# What a line about two authors who may be one person has.
_VARIANT_COLUMNS = ("name_a", "name_b", "kind", "score", "evidence")
# Maximum number of bytes of all reasons.
MAX_REASON_BYTES = 700_000


class PageContent(NamedTuple):
    """What takes time to find for a page: what it shows of the tables, and the reasons of authors."""

    tables: RunContent
    why: _FoundReasons


def read_page_content(
    result: Path,
    *,
    reasons: Reasons = author_reasons,
    threads: int | None = None,
    memory: int | None = None,
    affiliations: WrittenAffiliations | None = None,
) -> PageContent:
    """Read what the page of a result directory shows; needs no list of variants and no log.

    `affiliations` are those of its documents, if they are known.
    """
    tables = _read_tables(result, threads, memory, affiliations)
    return PageContent(tables, _find_reasons(result, tables, reasons))


def write_run_page(
    result: Path,
    path: Path,
    *,
    threads: int | None = None,
    memory: int | None = None,
    found: PageContent | None = None,
) -> None:
    """Write the page of a result directory atomically; `found` has what was read before."""
    write_atomic(path, _render(result, found or read_page_content(result, threads=threads, memory=memory)))


# Where the sentence about an update stands on a page.
_MARK, _MARKED = "<main>\n", '<main>\n<p id="update"><strong>'


def mark_run_page(path: Path, sentence: str) -> None:
    """Put a sentence at the top of a page, in place of one that was put there before."""
    text = path.read_text(encoding="utf-8")
    head, mark, rest = text.partition(_MARK)
    if rest.startswith(_MARKED.removeprefix(_MARK)):
        rest = rest.partition("\n")[2]
    write_atomic(path, f"{head}{_MARKED}{html.escape(sentence)}</strong></p>\n{rest}" if mark else text)


def mark_updated_page(path: Path, what: str) -> None:
    """Put the sentence at the top of a page that was written after an update, which is named by `what`."""
    mark_run_page(path, f"After {what}. Files, problems and calibration are those of the last whole run.")


def render_run_page(
    result: Path, *, reasons: Reasons = author_reasons, threads: int | None = None, memory: int | None = None
) -> str:
    """The page of a result directory as HTML."""
    return _render(result, read_page_content(result, reasons=reasons, threads=threads, memory=memory))


def _render(result: Path, found: PageContent) -> str:
    log = _read_log(result / LOG)
    conflicts = [f"{row.get('block') or ''}: {row.get('what') or ''}" for row in _read_csv(result / CONFLICTS)]
    content, why = found
    totals, links = content.totals, _links(content)
    summary = log.get("summary") or {}
    view = {
        "title": f"{counted(totals.authors, 'author')} found in {_extent(content)}",
        "lead": _lead(content),
        "cards": _cards(content),
        "script": template_text("run.js"),
        "script_digest": _script_digest(),
        "read": _read_sentences(content, summary),
        "files": _files(log),
        "problems": _problems(summary, log),
        "warnings": _lines(summary.get("warnings", []), _directory(log)),
        "test": _test_sentences(summary, totals),
        "constraints": _constraint_sentences(summary.get("constraints")),
        "sizes": _sizes(content),
        "hardest": _hardest(content, links),
        "has_confidence": totals.confidence is not None,
        "largest": [_author_row(author, links) for author in content.largest],
        "doubtful": [_author_row(author, links) for author in content.doubtful],
        "doubtful_sentence": _doubtful_sentence(totals, len(content.doubtful)),
        "conflicts": _lines(conflicts, ""),
        "variants": _lines([_variant_sentence(row) for row in _read_csv(result / VARIANTS)], ""),
        "names_sentence": _names_sentence(content),
        "reasons_sentence": why.sentence,
        "names": [_name_view(name, links, why.by_author) for name in content.names],
        "has_documents": content.has_documents,
        "settings": Table(("setting", "value"), list(dotted(log.get("settings", {})))),
    }
    return render_template("run.html.j2", view)


def _read_tables(
    result: Path, threads: int | None, memory: int | None, affiliations: WrittenAffiliations | None
) -> RunContent:
    import duckdb

    for name in (MENTIONS, AUTHORS):
        if not (result / name).exists():
            raise InputError(f"{result / name} is missing, so {result} is not a whole result; run the command again.")
    try:
        return read_content(result, threads, memory, affiliations)
    except (duckdb.BinderException, duckdb.InvalidInputException, duckdb.ConversionException) as broken:
        reason = first_line(broken)
        raise InputError(f"{result}: its tables cannot be read ({reason}); run the command again.") from broken


def _read_log(path: Path) -> dict[str, Any]:
    """The log of the run; what it lacks, as the log of an older version does, is not on the page."""
    import orjson

    try:
        found = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as broken:
        raise InputError(f"{path} cannot be read ({first_line(broken)}); run the command again.") from broken
    return found if isinstance(found, dict) else {}


def _variant_sentence(row: Mapping[str, str | None]) -> str:
    """A pair of authors who may be one person, as a line of the page."""
    name_a, name_b, kind, score, evidence = (row.get(key) or "" for key in _VARIANT_COLUMNS)
    return f"{name_a} / {name_b} ({kind}, probability {score}). {evidence}"


def _read_csv(path: Path) -> list[dict[str, str | None]]:
    """The rows of a CSV file of the result; the file is missing if there are none."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.DictReader(file))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, csv.Error) as broken:
        raise InputError(f"{path} cannot be read ({first_line(broken)}); run the command again.") from broken


@cache
def _script_digest() -> str:
    """The digest by which the page allows its own script, and no other."""
    return base64.b64encode(hashlib.sha256(template_text("run.js").encode()).digest()).decode()


# The beginning of the page.


def _extent(content: RunContent) -> str:
    totals = content.totals
    return counted(totals.documents, "document") if content.has_documents else counted(totals.mentions, "mention")


def _lead(content: RunContent) -> str:
    totals = content.totals
    text = (
        f"{counted(totals.mentions, 'mention')} of {counted(totals.names, 'name')} were found to belong to "
        f"{counted(totals.authors, 'author')}."
    )
    if totals.confidence is not None:
        text += f" The mean confidence is {percent(totals.confidence)}."
    return f"{text} This page says what was read, how far the result can be trusted, and what to check first."


def _cards(content: RunContent) -> list[tuple[str, str]]:
    totals = content.totals
    cards = [(f"{totals.documents:,}", "documents, copies of one document counted once.")]
    cards += [
        (f"{totals.mentions:,}", "mentions: a document with three authors has three."),
        (f"{totals.names:,}", "names. Only mentions of one name are compared."),
        (f"{totals.authors:,}", "authors: mentions that are taken for one person."),
    ]
    return cards if content.has_documents else cards[1:]


# What was read.


def _read_sentences(content: RunContent, summary: Mapping[str, Any]) -> list[str]:
    totals = content.totals
    lines = []
    if formats := summary.get("formats"):
        lines.append(f"Formats: {word_list([_format_text(name, number) for name, number in sorted(formats.items())])}.")
    if content.has_documents and totals.documents:
        if totals.first_year is not None:
            lines.append(f"The documents are from {year_range(totals.first_year, totals.last_year)}.")
        for number, what in ((totals.without_year, "year"), (totals.without_title, "title")):
            if number:
                lines.append(f"{counted(number, 'document')} without a {what}: the authors are harder to tell apart.")
    return lines


def _format_text(name: str, files: int) -> str:
    from homonym.errors import SettingsError
    from homonym.records.reader import format_named

    try:
        title = format_named(name).title
    except SettingsError:  # mentions are no format of records
        title = name
    return f"{title} ({counted(files, 'file')})"


def _directory(log: Mapping[str, Any]) -> str:
    """The directory that all inputs share: names of files are shown without it, so the page is the same elsewhere."""
    paths = [str(one.get("file", "")) for one in log.get("inputs", [])]
    try:
        return os.path.commonpath([os.path.dirname(path) for path in paths])
    except ValueError:  # there is none
        return ""


def _within(text: str, directory: str) -> str:
    """A text in which files are named without the directory.

    >>> _within("/data/in/a.txt, line 3: no author", "/data/in"), _within("a.txt", "")
    ('a.txt, line 3: no author', 'a.txt')
    """
    return text.replace(f"{directory.rstrip('/')}/", "") if directory else text


class _Lines(NamedTuple):
    """The first lines of a list; `rest` is the number of the others."""

    shown: Sequence[str]
    rest: int


def _lines(lines: Sequence[str], directory: str) -> _Lines:
    shown = [shortened(_within(line, directory), LINE_LENGTH) for line in lines[:LISTED_LINES]]
    return _Lines(shown, len(lines) - len(shown))


def _files(log: Mapping[str, Any]) -> _Lines:
    files = sorted(_within(str(one.get("file", "")), _directory(log)) for one in log.get("inputs", []))
    return _lines(files, "")


LOST = {
    "record": ("record", "could not be used."),
    "author": ("author entry", "author entries", "could not be used."),
    "field": ("field", "could not be used."),
    "duplicate": ("copy", "copies", "of another record, merged with it."),
    "contributor": ("author entry is", "author entries are", "a group, an editor or no name, and no mention."),
    "warning": ("field", "may have been read wrongly."),
}


def _lost(kind: str, number: int) -> str:
    """How many of a kind were lost.

    >>> _lost("record", 1), _lost("author", 2000)
    ('1 record could not be used.', '2,000 author entries could not be used.')
    """
    *nouns, what = LOST[kind]
    noun = nouns[0] if number == 1 else nouns[-1] if len(nouns) > 1 else f"{nouns[0]}s"
    return f"{number:,} {noun} {what}"


def _problems(summary: Mapping[str, Any], log: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of problems by kind, and the first ones with file and line."""
    found = summary.get("problems") or {"counts": {}, "first": []}
    counts = [_lost(kind, number) for kind, number in found["counts"].items() if number]
    first = sorted(
        (
            str(one["file"]),
            int(one["line"]),
            f"{one['file']}, {one['unit']} {one['line']}: {one['reason'].rstrip('.')}.",
        )
        for one in found["first"]
        if one["lost"] != "duplicate"
    )
    total = sum(number for lost, number in found["counts"].items() if lost != "duplicate")
    lines = _lines([text for *_, text in first], _directory(log))
    return {"counts": counts, "lines": lines.shown, "rest": total - len(lines.shown)}


# How far the result can be trusted.


def _test_sentences(summary: Mapping[str, Any], totals: ResultTotals) -> list[str]:
    """What the calibration found."""
    found, lines = summary.get("calibration"), []
    if found and found["precision"] is not None and found["recall"] is not None:
        lines.append(
            "The program tested itself. It put papers of people with different names under one invented name, and "
            f"told them apart again: {counted(found['names'], 'invented name')}, made of {found['people']:,} people. "
            f"Of what it put together there, {percent(found['precision'])} was right (precision). Of what belongs "
            f"together, it found {percent(found['recall'])} (recall). Real names may be harder."
        )
    if found and found["why"]:
        lines.append(f"The program could not adapt to this collection in full: {found['why']}.")
    if limit := summary.get("limit"):
        whence = "found from the collection itself, without labels" if found else "given by the user"
        if found and found["precision"] is None:
            whence = "the default"
        lines.append(
            "The limit, which the evidence for joining two groups of papers must exceed, is "
            f"{_plain_limit(limit)}: {whence}."
        )
    if background := summary.get("background"):
        # The page is not the place for an option of the command line, which browsers break after its hyphens.
        reason = background.partition("; --")[0]
        lines.append(f"{reason[0].upper()}{reason[1:]}.")
    if totals.confidence is None:
        lines.append("There is no confidence: there was too little to learn from how often mistakes happen.")
    return lines


def _plain_limit(limit: str) -> str:
    """The limit as a number, if only one parameter has a value.

    >>> _plain_limit("kappa 7.12"), _plain_limit("alpha 0.5, kappa 7"), _plain_limit("κ = 7")
    ('7.12 (kappa)', 'alpha 0.5, kappa 7', 'κ = 7')
    """
    name, _, value = limit.partition(" ")
    return f"{value} ({name})" if value.replace(".", "").isdigit() else limit


TOGETHER = {"document": "document", "pair": "decision of the user", "name": "full name"}
APART = {
    "document": "they are on one document",
    "name": "their names contradict each other",
    "pair": "the user decided so",
}


def _constraint_sentences(found: Mapping[str, Any] | None) -> list[str]:
    """What joined or separated mentions regardless of other evidence."""
    if not found:
        return []
    lines = []
    if found["links"]:
        kinds = [f"{number:,} by {_kind(kind, TOGETHER)}" for kind, number in sorted(found["links"].items())]
        lines.append(
            f"{counted(found['linked'], 'mention')} share something that only one person has, and were joined for that "
            f"reason alone. Links: {word_list(kinds)}."
        )
    if found["apart"]:
        kinds = [
            f"{number:,} because {APART.get(kind) or f'their {_kind(kind, {})} differs'}"
            for kind, number in sorted(found["apart"].items())
        ]
        lines.append(f"Pairs of mentions of one name that cannot be one person: {word_list(kinds)}.")
    return lines


def _kind(kind: str, known: Mapping[str, str]) -> str:
    return known.get(kind) or TITLES.get(kind, kind)


# Tables.


def _sizes(content: RunContent) -> Table:
    following = dict(pairwise(SIZES))
    rows = [
        (
            _range(row.least, following.get(row.least)),
            f"{row.names:,}",
            f"{row.mentions:,}",
            f"{row.authors:,}",
            f"{row.authors / row.names:.1f}",
        )
        for row in content.sizes
    ]
    return Table(("mentions of the name", "names", "mentions", "authors", "authors per name"), rows)


def _range(least: int, following: int | None) -> str:
    """A class of sizes.

    >>> _range(1, 2), _range(5, 10), _range(1000, None)
    ('1', '5 to 9', '1,000 or more')
    """
    if following is None:
        return f"{least:,} or more"
    return f"{least:,}" if following == least + 1 else f"{least:,} to {following - 1:,}"


class _Links(NamedTuple):
    """Anchors on the page of names, by block, and of authors, by id."""

    names: Mapping[str, str]
    authors: Mapping[str, str]


def _links(content: RunContent) -> _Links:
    authors = [author.author_id for name in content.names for author in name.people]
    return _Links(
        {name.block: f"n{number}" for number, name in enumerate(content.names, 1)},
        {author_id: f"a{number}" for number, author_id in enumerate(authors, 1)},
    )


def _hardest(content: RunContent, links: _Links) -> list[dict[str, Any]]:
    return [
        {
            "link": links.names[name.block],
            "name": shortened(name.block, NAME_LENGTH),
            "mentions": f"{name.mentions:,}",
            "authors": f"{name.authors:,}",
            "confidence": _share(name.confidence),
            "doubt": _expected(name.doubt),
        }
        for name in content.hardest
    ]


def _author_row(author: ShownAuthor, links: _Links) -> dict[str, Any]:
    return {
        "link": links.authors[author.author_id],
        "name": author.name,
        "documents": f"{author.documents:,}",
        "years": year_range(author.first_year, author.last_year),
        "confidence": _share(author.confidence),
        "doubt": _expected(author.doubt),
        "affiliation": author.affiliations[0] if author.affiliations else "",
    }


def _share(value: float | None) -> str:
    return "" if value is None else percent(value)


def _expected(number: float | None) -> str:
    """An expected number of mentions.

    >>> _expected(None), _expected(0.02), _expected(0.31), _expected(12.6)
    ('', '< 0.1', '0.3', '13')
    """
    if number is None:
        return ""
    return "< 0.1" if number < 0.05 else f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def _doubtful_sentence(totals: ResultTotals, shown: int) -> str:
    below = f"a confidence below {100 * DOUBTFUL:.0f} %"
    confirmed = ""
    if totals.confirmed_authors:
        number = counted(totals.confirmed_authors, "author")
        confirmed = f" Not counted: {number} of whom all mentions have the same ORCID or ISNI."
    if not totals.doubtful_authors:
        return f"No author with several mentions has {below}.{confirmed}"
    number = counted(totals.doubtful_authors, "author")
    has = "has" if totals.doubtful_authors == 1 else "have"
    text = f"{number} with several mentions {has} {below}. Papers of several people may be mixed there."
    if shown < totals.doubtful_authors:
        text += f" The table has the {shown:,} with most doubtful mentions; the rest is in authors.parquet."
    return text + confirmed


# Reasons.


class _FoundReasons(NamedTuple):
    """Sentences by author id, and which authors have none."""

    by_author: Mapping[str, Sequence[str]]
    sentence: str


def _find_reasons(result: Path, content: RunContent, reasons: Reasons) -> _FoundReasons:
    """The reasons of the authors of the names that are worth the work; none for results that cannot give them."""
    if not content.has_documents or not (result / FREQUENCIES).exists():
        return _FoundReasons({}, "")
    several = [name for name in content.names if name.mentions > 1]
    chosen = _worth_reasons(content)
    try:
        found = reasons(result, {name.block: [author.author_id for author in name.people] for name in chosen})
    except HomonymError as problem:
        text = _within(str(problem), str(result)).replace(str(result), "this result")
        return _FoundReasons({}, f"The reasons why papers are together could not be found: {text}")
    left_out, room, kept = len(several) - len(chosen), MAX_REASON_BYTES, {}
    for author_id, sentences in found.items():
        room -= text_bytes(sentences)
        if room < 0:
            break
        kept[author_id] = sentences
    is_whole = left_out == 0 and len(kept) == len(found)
    return _FoundReasons(kept, "" if is_whole else _OTHER_REASONS)


_OTHER_REASONS = (
    "Some authors have a reason why their papers are together. The command homonym explain gives the reasons of all."
)


def _worth_reasons(content: RunContent) -> list[ShownName]:
    """The names whose reasons are shown: first those of the tables, then the largest that are not too much work."""
    known = {name.block: name for name in content.names}
    doubtful, largest = ([known[author.block] for author in some] for some in (content.doubtful, content.largest))
    ordered = {name.block: name for name in (*doubtful, *content.hardest, *largest, *content.names)}
    chosen, room = [], MAX_WORK
    for name in ordered.values():
        work = name.entries + MENTION_WORK * name.mentions
        if name.mentions > 1 and work <= room:
            chosen.append(name)
            room -= work
    return chosen


# Names with their authors and papers.


def _names_sentence(content: RunContent) -> str:
    number, total = len(content.names), content.totals.names
    if number == total:
        return f"All {counted(total, 'name')}, the largest first." if total > 1 else ""
    return (
        f"{number:,} of {total:,} names: the largest ones, and those of the tables above. The others are in "
        "authors.parquet and mentions.parquet."
    )


def _name_view(name: ShownName, links: _Links, why: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    return {
        "anchor": links.names[name.block],
        "name": shortened(name.block, NAME_LENGTH),
        "facts": f"{counted(name.mentions, 'mention')}, {counted(name.authors, 'author')}",
        "authors": [_author_view(author, links, why) for author in name.people],
        "rest": _rest(name.authors - len(name.people), "author", "authors.parquet"),
    }


def _author_view(author: ShownAuthor, links: _Links, why: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    years = year_range(author.first_year, author.last_year)
    facts = [counted(author.documents or author.mentions, "paper"), *([years] if years else [])]
    if author.confidence is not None:
        facts.append(f"confidence {percent(author.confidence)}")
    return {
        "anchor": links.authors[author.author_id],
        "name": author.name,
        "facts": ", ".join(facts),
        "id": shortened(author.author_id, ID_LENGTH),
        "lists": [
            (label, values)
            for label, values in (
                ("Also written", author.variants),
                ("Affiliations", author.affiliations),
                ("Identifiers", author.ids),
            )
            if values
        ],
        "reasons": why.get(author.author_id, ()),
        "papers": [_paper_view(paper) for paper in author.papers],
        "rest": _rest((author.documents or author.mentions) - len(author.papers), "paper", "mentions.parquet"),
    }


def _paper_view(paper: ShownPaper) -> dict[str, Any]:
    others = f" and {paper.others:,} more" if paper.others > 0 else ""
    return {
        "title": paper.title,
        "id": paper.document_id,
        "year": "" if paper.year is None else str(paper.year),
        "coauthors": paper.coauthors,
        "others": others,
        "affiliation": paper.affiliation,
    }


def _rest(number: int, noun: str, table: str) -> str:
    """What is left out, and where it is.

    >>> _rest(1, "author", "authors.parquet"), _rest(30, "paper", "mentions.parquet"), _rest(0, "paper", "")
    ('1 more author is in authors.parquet.', '30 more papers are in mentions.parquet.', '')
    """
    if number <= 0:
        return ""
    return f"{number:,} more {noun}{'' if number == 1 else 's'} {'is' if number == 1 else 'are'} in {table}."
