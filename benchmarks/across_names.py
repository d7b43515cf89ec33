"""What a user gets on every labelled collection: default settings, no labels, judged across names.

    python -m benchmarks.across_names                 the sets in ../shared/data, a table to the terminal
    python -m benchmarks.across_names DATA AMiner     another directory; only some sets
    python -m benchmarks.across_names -o FILE         the table between its markers in FILE

Beside it: the settings of version 0.7.0, the rule "same full name, same person", and the best of several limits, chosen
with the labels of the set. The largest set has 649,148 mentions and takes most of the time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.accuracy import BEFORE, DATA, SETS, LabelledSet, filled, line, short
from homonym.commands.evaluate import evaluate
from homonym.commands.result import Summary
from homonym.evaluation.assessment import Evaluation
from homonym.names.parse import parse_name
from homonym.settings import Settings

#: Multiples of the limit that a run finds: the best of them stands for the best limit with labels. Results change
#: little between neighbours, and each multiple is a run.
FACTORS = (0.5, 0.7, 1.0, 1.4, 2.0)


def _documents(title: str, folder: str) -> LabelledSet:
    return LabelledSet(title, (file := f"{folder}/documents.jsonl.gz",), file, BEFORE, "mentions")


COLLECTIONS = (
    *(kind for kind in SETS if not kind.title.startswith("PubMed")),  # that is there twice, by blocks
    _documents("PubMed", "pubmed"),
    _documents("Chinese names", "koala"),
    _documents("machine learning", "openreview"),
    _documents("grants", "nsf2008"),
)

COLUMNS = (
    "set", "mentions", "labelled", "0.7.0", "precision", "recall", "F1", "same full name", "limit found",
    "best limit with labels", "its F1", "confidence off by",
)  # fmt: skip


class Measurement:
    """Runs on one collection; what was read is kept between them."""

    def __init__(self, kind: LabelledSet, data: Path, folder: Path) -> None:
        self.kind, self.data, self.folder = kind, data, folder

    def run(self, settings: Settings) -> tuple[Summary, Evaluation]:
        """A run, and its result against the labels."""
        return self.kind.run(self.data, self.folder / "authors.parquet", settings, self.folder / "work")

    def same_full_name(self, result: Path) -> float:
        """The figure of one person for each surname and given names, as written."""
        table = pq.read_table(result, columns=["mention_id", "block", "name"])
        key = {name: parse_name(name).full_key for name in set(table["name"].to_pylist()) if name}
        block, name = table["block"].to_pylist(), table["name"].to_pylist()
        people = [key.get(one) or within for one, within in zip(name, block, strict=True)]
        path = self.folder / "same.parquet"
        pq.write_table(pa.table({"mention_id": table["mention_id"], "author_id": pa.array(people, pa.string())}), path)
        return self.figure(evaluate(path, self.data / self.kind.gold))

    def figure(self, found: Evaluation) -> float:
        """The F1 that this collection is judged by."""
        if self.kind.judged == "mentions":
            return found.bcubed_across_names.f1
        assert found.mean_over_true_sizes_1_to_10 is not None
        return found.mean_over_true_sizes_1_to_10

    def row(self) -> Iterator[str]:
        """The cells of the table."""
        _, before = self.run(BEFORE)
        done, now = self.run(Settings())
        assert done.limit
        assert done.calibration
        same = "–" if self.kind.statistics else exact(self.same_full_name(done.output))
        found = done.calibration.with_trust(Settings())
        limits = {factor: done.limit.scaled(factor) for factor in FACTORS if factor != 1}
        tried = {factor: self.run(found.with_limit(limit))[1] for factor, limit in limits.items()}
        best, its = max([(1.0, now), *tried.items()], key=lambda pair: self.figure(pair[1]))
        yield from (self.kind.title, f"{done.mentions:,}", f"{now.mentions:,}", exact(self.figure(before)))
        yield from (exact(now.bcubed_across_names.precision), exact(now.bcubed_across_names.recall))
        yield from (f"**{exact(self.figure(now))}**", same, f"κ = {done.limit.kappa:.1f}")
        yield from (f"κ = {best * done.limit.kappa:.1f}", exact(self.figure(its)))
        yield short(now.confidence.mean_error) if now.confidence else "–"


def exact(share: float) -> str:
    """A share with four decimals: some sets differ from their baselines in the fourth.

    >>> exact(0.99794)
    '.9979'
    """
    return f"{share:.4f}".removeprefix("0")


def table(data: Path, titles: list[str] | None = None) -> str:
    """The table as Markdown, with a sentence for each missing set below."""
    lines, missing = [COLUMNS, ("---",) * len(COLUMNS)], []
    for kind in COLLECTIONS:
        if titles and kind.title not in titles:
            continue
        if why := kind.missing(data):
            missing.append(f"\n{why}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            lines.append(tuple(Measurement(kind, data, Path(folder)).row()))
        print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    return "\n".join([*(line(*cells) for cells in lines), *missing])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=DATA, metavar="DATA", help="directory with labelled sets")
    parser.add_argument("sets", nargs="*", metavar="SET", help="titles of sets; all if none is given")
    parser.add_argument("-o", "--output", type=Path, help="document that has the markers of the table `across`")
    chosen = parser.parse_args()
    if not chosen.output:
        print(table(chosen.data, chosen.sets))
        return
    filled(chosen.output.read_text(encoding="utf-8"), {"across": ""})  # before measuring: is there a place for it?
    found = {"across": table(chosen.data, chosen.sets)}
    chosen.output.write_text(filled(chosen.output.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
