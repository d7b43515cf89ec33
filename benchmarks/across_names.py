"""What a user gets on every labelled collection: default settings, no labels, judged across names.

    python -m benchmarks.across_names                 the sets in ../shared/data, a table to the terminal
    python -m benchmarks.across_names DATA AMiner     another directory; only some sets

Beside it: the settings of version 0.7.0, the rule "same full name, same person", and the best of several limits, chosen
with the labels of the set. `make accuracy` puts the table into docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.result import Summary
from homonym.commands.run import Resources
from homonym.evaluation.assessment import Evaluation
from homonym.names.parse import parse_name
from homonym.settings import Settings

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

#: What the defaults were before names were evidence.
BEFORE: dict[str, str | float] = {
    "blocking": "given",
    "coauthor_names": "initials",
    "chance_limit": 0.0,
    "name_trust": 0.0,
}
#: Multiples of the limit that a run finds: the best of them stands for the best limit with labels.
FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)

Judged = Literal["across names", "sizes"]


@dataclass(frozen=True)
class Collection:
    """A labelled collection: its files under the data directory, and how it is judged."""

    title: str
    files: tuple[str, ...]
    judged: Judged = "across names"
    statistics: str | None = None
    mentions_in_collection: int | None = None

    @property
    def gold(self) -> str:
        """The file with the labels."""
        return self.files[0]


COLLECTIONS = (
    Collection("AMiner", ("aminer/documents.jsonl.gz",)),
    Collection("PubMed", ("pubmed/documents.jsonl.gz",)),
    Collection(
        "Web of Science", ("wos/train.jsonl.gz", "wos/unlabelled.jsonl.gz"), "sizes", "wos/statistics.csv.gz", 1_821_295
    ),
    Collection("Chinese names", ("koala/documents.jsonl.gz",)),
    Collection("machine learning", ("openreview/documents.jsonl.gz",)),
    Collection("grants", ("nsf2008/documents.jsonl.gz",)),
)

COLUMNS = (
    "set", "mentions", "labelled", "0.7.0", "precision", "recall", "F1", "same full name", "limit found",
    "best limit with labels", "its F1", "difference", "confidence off by",
)  # fmt: skip


class Measurement:
    """Runs on one collection; what was read is kept between them."""

    def __init__(self, collection: Collection, data: Path, folder: Path) -> None:
        self.collection, self.data, self.folder = collection, data, folder
        self.gold = data / collection.gold

    def run(self, **changes: str | float | None) -> tuple[Summary, Evaluation]:
        """A run as a user would have it, and its result against the labels."""
        one, output = self.collection, self.folder / "authors.parquet"
        call = cluster if one.statistics else disambiguate
        done = call(
            [self.data / file for file in one.files],
            output,
            Settings().changed(**changes),
            statistics=self.data / one.statistics if one.statistics else None,
            mentions_in_collection=one.mentions_in_collection,
            resources=Resources(work=self.folder / "work"),
        )
        return done, evaluate(output, self.gold)

    def same_full_name(self, result: Path) -> float:
        """The figure of one person for each surname and given names, as written."""
        table = pq.read_table(result, columns=["mention_id", "block", "name"])
        key = {name: parse_name(name).full_key for name in set(table["name"].to_pylist()) if name}
        block, name = table["block"].to_pylist(), table["name"].to_pylist()
        people = [key.get(one) or within for one, within in zip(name, block, strict=True)]
        path = self.folder / "same.parquet"
        pq.write_table(pa.table({"mention_id": table["mention_id"], "author_id": pa.array(people, pa.string())}), path)
        return self.figure(evaluate(path, self.gold))

    def figure(self, found: Evaluation) -> float:
        """The F1 that this collection is judged by."""
        if self.collection.judged == "across names":
            return found.bcubed_across_names.f1
        assert found.mean_over_true_sizes_1_to_10 is not None
        return found.mean_over_true_sizes_1_to_10

    def row(self) -> Iterator[str]:
        """The cells of the table."""
        _, before = self.run(**BEFORE)
        done, now = self.run()
        assert done.limit
        same = self.same_full_name(done.output)
        assert done.calibration
        others: dict[str, float | None] = {
            "chance_limit": done.calibration.chance_limit,
            "name_trust": done.calibration.name_trust,
        }
        tried = {factor: self.run(kappa=done.limit.kappa * factor, **others)[1] for factor in FACTORS if factor != 1}
        best, its = max([(1.0, now), *tried.items()], key=lambda pair: self.figure(pair[1]))
        yield from (self.collection.title, f"{done.mentions:,}", f"{now.mentions:,}", short(self.figure(before)))
        yield from (short(now.bcubed_across_names.precision), short(now.bcubed_across_names.recall))
        yield from (f"**{short(self.figure(now))}**", short(same), f"κ = {done.limit.kappa:.1f}")
        yield from (f"κ = {best * done.limit.kappa:.1f}", short(self.figure(its)))
        yield f"{self.figure(now) - self.figure(its):+.3f}".replace("-", "−")
        yield short(now.confidence.mean_error) if now.confidence else "–"


def short(share: float) -> str:
    """A share with three decimals and without the leading zero.

    >>> short(0.9046), short(1.0)
    ('.905', '1.000')
    """
    return f"{share:.3f}".removeprefix("0")


def table(data: Path, titles: list[str] | None = None) -> str:
    """The table as Markdown, with a sentence for each missing set below."""
    lines, missing = [COLUMNS, ("---",) * len(COLUMNS)], []
    for collection in COLLECTIONS:
        if titles and collection.title not in titles:
            continue
        absent = next((data / file for file in collection.files if not (data / file).is_file()), None)
        if absent:
            missing.append(f"\n{collection.title}: not measured, there is no {absent}.")
            continue
        with tempfile.TemporaryDirectory() as folder:
            lines.append(tuple(Measurement(collection, data, Path(folder)).row()))
        print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    return "\n".join([*(f"| {' | '.join(cells)} |" for cells in lines), *missing])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=DATA, metavar="DATA", help="directory with labelled sets")
    parser.add_argument("sets", nargs="*", metavar="SET", help="titles of sets; all if none is given")
    chosen = parser.parse_args()
    print(table(chosen.data, chosen.sets))


if __name__ == "__main__":
    main()
