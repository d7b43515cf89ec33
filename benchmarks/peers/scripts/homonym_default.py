"""homonym as users run it: the public function, default settings, no labels; its limit is calibrated without labels.

A threshold that is given is ignored: there is none to give.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.peers.scripts import mentions as shared


def main() -> None:
    """Run once and write down what it took, by homonym's own stages."""
    from homonym import disambiguate

    arguments = shared.parser("homonym with default settings.").parse_args()
    clock = Stages()
    disambiguate(arguments.documents, arguments.output / "authors-0.csv", listener=clock)
    shared.write_figures(arguments.output, clock.wall, clock.cpu, _pairs(arguments.output / "authors-0.csv"))


class Stages(shared.Clock):
    """Listens to homonym's own stages, where others would draw progress, and takes their time."""

    def begin(self, stage: str, total: int | None) -> None:
        """A stage begins."""
        self.under_way = self.phase(stage)
        self.under_way.__enter__()

    def advance(self, amount: int) -> None:
        """How far it is does not matter here."""

    def end(self) -> None:
        """It has ended."""
        self.under_way.__exit__(None, None, None)


def _pairs(authors: Path) -> int:
    import csv

    with authors.open(newline="") as stream:
        sizes = Counter(row["block"] for row in csv.DictReader(stream))
    return sum(size * (size - 1) // 2 for size in sizes.values())


if __name__ == "__main__":
    main()
