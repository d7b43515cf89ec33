"""Splink on DuckDB: Fellegi-Sunter weights by expectation maximisation, without labels; connected components.

Pairs are those of a block. The threshold is a match weight, log2 of the odds: 4.25 is a probability of .95, 0 of .5.
u-probabilities come from random pairs, the prior from two rules that are nearly always right, m-probabilities from
expectation maximisation over all pairs of the blocks; this is the way that Splink's own documentation goes. Words of
abstracts are left out. On PubMed, over the same thresholds, they cost twice the processor time; F1 at the best one
was .874 with and .877 without them (all initials), .842 and .857 (first initial); at a probability of .95 they helped,
.816 against .773 and .784 against .734, but both are below what a threshold of .5 gives without them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.scripts import mentions as shared
from benchmarks.peers.scripts.mentions import Clock, Compared, Mention

#: Lists that are compared by how much two mentions have in common: the numbers at which a level begins.
COMMON: Mapping[str, tuple[int, ...]] = {
    "co_authors": (3, 2, 1),
    "title_words": (4, 3, 2, 1),
    "affiliation_words": (6, 4, 2, 1),
    "keywords": (6, 3, 2, 1),
    "emails": (1,),
    "ids": (1,),
    "sources": (3, 1),
}
#: What the two rules behind the prior find of all true pairs; Splink asks for a guess and corrects it while learning.
GUESSED_RECALL = 0.5
#: Random pairs for u, Splink's default.
RANDOM_PAIRS = 1_000_000
SEED = 1
#: Initials agree with the names that they begin.
BEGINS = "starts_with(given_l, given_r) or starts_with(given_r, given_l)"


def record(mention: Mention, place: int) -> dict[str, Any]:
    """A mention as a row; an empty list is a missing value."""
    document = mention.document
    lists = {
        "co_authors": mention.co_authors,
        "title_words": shared.words(document.get("title")),
        "affiliation_words": [word for line in mention.affiliations for word in shared.words(line)],
        "keywords": [value.lower() for value in document.get("keywords", ())],
        "emails": mention.emails,
        "ids": mention.ids,
        "sources": [*document.get("references", ()), *document.get("referenced_authors", ())],
    }
    return {
        "unique_id": place,
        "block": mention.block,
        "given": mention.given or None,
        "venue": (document.get("venue") or "").lower() or None,
        "category": "; ".join(document.get("categories", ())) or None,
        "year": document.get("year"),
        **{name: sorted(set(values)) or None for name, values in lists.items()},
    }


def comparisons(columns: Mapping[str, Sequence[Any]]) -> list[Any]:
    """How pairs are compared, for the columns that hold anything at all."""
    import splink.comparison_level_library as levels  # type: ignore[import-not-found]
    import splink.comparison_library as library  # type: ignore[import-not-found]

    made = [
        library.ArrayIntersectAtSizes(name, list(sizes)) for name, sizes in COMMON.items() if _varies(columns[name])
    ]
    if _varies(columns["given"]):
        made.append(
            library.CustomComparison(
                output_column_name="given",
                comparison_levels=[
                    levels.NullLevel("given"),
                    levels.ExactMatchLevel("given"),
                    levels.CustomLevel(BEGINS, "one begins the other"),
                    levels.JaroWinklerLevel("given", 0.9),
                    levels.ElseLevel(),
                ],
            )
        )
    made += [
        library.ExactMatch(name).configure(term_frequency_adjustments=True)
        for name in ("venue", "category")
        if _varies(columns[name])
    ]
    if _varies(columns["year"]):
        steps = [levels.CustomLevel(f"abs(year_l - year_r) <= {years}", f"within {years}") for years in (1, 3, 7)]
        made.append(
            library.CustomComparison(
                output_column_name="year", comparison_levels=[levels.NullLevel("year"), *steps, levels.ElseLevel()]
            )
        )
    return made


def _varies(values: Sequence[Any]) -> bool:
    present = [str(value) for value in values if value is not None]
    return len(present) >= 2 and len(set(present)) > 1


def compare(documents: Path, clock: Clock) -> Compared:
    """Read, estimate, score all pairs of each block; what is above the threshold is linked."""
    import pyarrow as pa
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    logging.getLogger("splink").setLevel(logging.ERROR)
    with clock.phase("read"):
        mentions = list(shared.read_mentions(documents))
        blocks = shared.by_block(mentions)
        rows = [record(mention, place) for place, mention in enumerate(mentions)]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        del rows
        compared = comparisons(columns)
        used = {comparison.get_comparison("duckdb").output_column_name for comparison in compared}
        table = pa.table({name: values for name, values in columns.items() if name in {"unique_id", "block"} | used})
    with clock.phase("estimate"):
        settings = SettingsCreator(
            link_type="dedupe_only", comparisons=compared, blocking_rules_to_generate_predictions=[block_on("block")]
        )
        linker = Linker(table, settings, DuckDBAPI())
        sure = ["l.block = r.block and len(list_intersect(l.co_authors, r.co_authors)) >= 2"]
        sure += ["l.block = r.block and len(list_intersect(l.emails, r.emails)) >= 1"] if "emails" in used else []
        linker.training.estimate_probability_two_random_records_match(sure, recall=GUESSED_RECALL)
        linker.training.estimate_u_using_random_sampling(max_pairs=RANDOM_PAIRS, seed=SEED)
        linker.training.estimate_parameters_using_expectation_maximisation(block_on("block"))
    with clock.phase("score"):
        scored = linker.inference.predict()

    def cut(threshold: float) -> Sequence[int]:
        linked = linker.clustering.cluster_pairwise_predictions_at_threshold(scored, threshold_match_weight=threshold)
        cluster = linked.as_duckdbpyrelation().select("unique_id, cluster_id").fetchall()
        return [number for _, number in sorted(cluster)]

    return Compared(mentions, shared.pairs_within(blocks.values()), cut)


if __name__ == "__main__":
    shared.run(compare, shared.parser("Splink, unsupervised, on the pairs of each block.").parse_args())
