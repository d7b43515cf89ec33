"""Writes `variants.csv`: pairs of authors of different blocks who may be one person under two names. Nothing is merged.

A pair is listed if its probability is at least MIN_SCORE. A sentence of evidence says what the two authors share.
"""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path
from typing import NamedTuple

import numpy as np

from homonym.collection.author_summaries import ResultMembers
from homonym.collection.result_statistics import result_database
from homonym.errors import counted, word_list, year_range
from homonym.io.outputs import write_atomic
from homonym.io.paths import plain_path
from homonym.io.table_text import csv_text
from homonym.suggestions.author_bags import (
    AFF,
    CO,
    NO_YEAR,
    TERM,
    VENUE,
    ResultAuthors,
    add_all_features,
    read_authors,
)
from homonym.suggestions.name_index import read_name_index
from homonym.suggestions.variant_candidates import NameTable, find_candidates, strangers
from homonym.suggestions.variant_model import pseudo_variants, score_candidates

COLUMNS = ("author_a", "name_a", "author_b", "name_b", "kind", "score", "evidence")

# The probabilities are low for what they find: 9 of 10 labelled pairs from 0.3 on are right (docs/accuracy.md).
# Minimum probability of a pair in the list, maximum number of pairs, and of shared features in a sentence.
MIN_SCORE, MAX_LISTED, NAMED = 0.3, 100_000, 3
# Maximum number of pairs of strangers to learn from (see variant_model.py).
MAX_STRANGERS = 3_000
# Digits of a score.
_DIGITS = 4


class NameVariant(NamedTuple):
    """Two authors who may be one person, in the order of their ids; `score` is the probability."""

    author_a: str
    name_a: str
    author_b: str
    name_b: str
    kind: str
    score: float
    evidence: str


class VariantSearch(NamedTuple):
    """The listed pairs, how many pairs of names were compared, and the largest #(f) of the features that count as rare.

    `rare` is below MAX_RARE if the work was limited.
    """

    listed: list[NameVariant]
    compared: int
    rare: int


def write_variants(
    result: Path,
    path: Path,
    *,
    threads: int | None = None,
    memory: int | None = None,
    apart: Set[frozenset[str]] = frozenset(),
    found: ResultMembers | None = None,
) -> VariantSearch:
    """Write the list for a result directory that has documents. Without pairs, no file is written.

    `apart` are pairs of authors that users have called different; these are not listed. `found` is what the tables of
    the result were made of, if it was just written.
    """
    search = search_variants(result, threads=threads, memory=memory, apart=apart, found=found)
    if search.listed:
        rows = [COLUMNS, *((*one[:5], f"{one.score:.{_DIGITS}f}", one.evidence) for one in search.listed)]
        write_atomic(path, csv_text(rows))
    return search


def search_variants(
    result: Path,
    *,
    threads: int | None = None,
    memory: int | None = None,
    apart: Set[frozenset[str]] = frozenset(),
    found: ResultMembers | None = None,
) -> VariantSearch:
    """The pairs of authors of a result that may be one person, the most probable first, and how they were found."""
    with plain_path(result) as folder, result_database(threads, memory) as connection:
        authors = read_authors(connection, folder, found)
        index, people = read_name_index(connection, authors.count)
        table = NameTable(authors.name, people)
        candidates = find_candidates(authors, index, table)
        unrelated = strangers(authors, table, candidates.rare, MAX_STRANGERS)
        compared = [candidates.pairs, unrelated, pseudo_variants(authors, candidates.rare)]
        add_all_features(connection, authors, np.unique(np.concatenate(compared)))
    score = score_candidates(authors, candidates, unrelated)
    if score is None:
        return VariantSearch([], candidates.compared, candidates.rare)
    score = score.round(_DIGITS)
    order = np.lexsort((candidates.pairs[:, 1], candidates.pairs[:, 0], -score))
    chosen = order[score[order] >= MIN_SCORE][: MAX_LISTED + len(apart)]
    listed = [
        _variant(authors, a, b, candidates.kind[at], float(score[at]))
        for at, (a, b) in zip(chosen.tolist(), candidates.pairs[chosen].tolist(), strict=True)
        if not apart or frozenset((authors.author_id[a], authors.author_id[b])) not in apart
    ][:MAX_LISTED]
    return VariantSearch(listed, candidates.compared, candidates.rare)


def _variant(authors: ResultAuthors, a: int, b: int, kind: str, score: float) -> NameVariant:
    name_a, name_b = authors.name[a] or "", authors.name[b] or ""
    return NameVariant(
        authors.author_id[a], name_a, authors.author_id[b], name_b, kind, score, _evidence(authors, a, b)
    )


def _evidence(authors: ResultAuthors, a: int, b: int) -> str:
    """What two authors share, as a sentence."""
    parts = []
    for kind, what in ((CO, "co-author"), (AFF, "institution"), (TERM, "word"), (VENUE, "venue")):
        shared = authors.bags[kind].rarest_shared(a, b, len(authors.author_id))
        if shared:
            names = [_feature_name(authors, kind, feature) for feature in shared[:NAMED]]
            more = [f"{len(shared) - NAMED:,} more"] if len(shared) > NAMED else []
            of_titles = " of titles" if kind == TERM else ""
            parts.append(f"{counted(len(shared), what)}{of_titles} ({word_list([*names, *more])})")
    return f"They share {'; '.join(parts)}. {_years(authors, a)} and {_years(authors, b)}."


def _feature_name(authors: ResultAuthors, kind: str, feature: int) -> str:
    if kind == CO:
        return authors.name[feature] or authors.author_id[feature]
    return authors.feature_name[kind][feature].removeprefix("institution: ")


def _years(authors: ResultAuthors, author: int) -> str:
    documents = counted(int(authors.documents.mass[author]), "document")
    first, last = int(authors.first_year[author]), int(authors.last_year[author])
    return documents if first == NO_YEAR else f"{documents} of {year_range(first, last)}"
