"""homonym compared with other tools: `python -m benchmarks.peers`.

    python -m benchmarks.peers                       the sets in ../shared/data and a generated one, to the terminal
    python -m benchmarks.peers DATA --rounds 3       another directory
    python -m benchmarks.peers --only tfidf          homonym and the methods whose script has this name

Peers are installed on first use, under build/; what cannot be installed has a line that says why, and the others go on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.peers.measuring import measure
from benchmarks.peers.methods import HOMONYM, METHODS, Method
from benchmarks.peers.sets import Collection, prepare, read
from benchmarks.peers.tables import Comparison, section

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


class Labelled(NamedTuple):
    """A labelled set: its file under the data directory, and homonym's blocking scheme that makes the blocks."""

    title: str
    file: str
    blocking: str


LABELLED = (
    Labelled("AMiner", "aminer/documents.jsonl.gz", "given"),
    Labelled("PubMed, first initial", "pubmed/documents.jsonl.gz", "first-initial"),
    Labelled("PubMed, all initials", "pubmed/documents.jsonl.gz", "initials"),
)
#: Small sets measure how fast libraries are loaded; this one has documents with abstracts, and small blocks.
GENERATED = 200_000
ROUNDS = 2


def chosen(scripts: Sequence[str]) -> list[Method]:
    """Homonym and the methods with these scripts, all if there are none."""
    return [method for method in METHODS if method is HOMONYM or not scripts or method.script in scripts]


def run(
    data: Path = DATA, rounds: int = ROUNDS, generated: int = GENERATED, methods: Sequence[Method] = METHODS
) -> Iterator[str]:
    """The lines of the section."""
    present = [one for one in LABELLED if (data / one.file).is_file()]
    for absent in [one for one in LABELLED if one not in present]:
        yield f"{absent.title}: not measured, there is no {absent.file} in the data directory."
        yield ""
    with tempfile.TemporaryDirectory() as directory:
        yield from section(_comparisons(data, present, rounds, generated, methods, Path(directory)))


def _comparisons(
    data: Path, sets: Sequence[Labelled], rounds: int, generated: int, methods: Sequence[Method], work: Path
) -> Iterator[Comparison]:
    for title, file, blocking in sets:
        collection = prepare(title, read(data / file), blocking, work / title)
        yield Comparison(collection, measure(methods, collection, work / title, rounds))
    if generated:
        collection = _generated(generated, work / "generated")
        large = [method for method in methods if method.large]
        yield Comparison(collection, measure(large, collection, work / "generated", rounds, sweep=False))


def _generated(mentions: int, directory: Path) -> Collection:
    from homonym import Corpus, generate

    directory.mkdir(parents=True, exist_ok=True)
    documents = generate(directory / "corpus", Corpus(mentions=mentions))
    return prepare(f"Generated, {mentions:,} mentions", read(documents), "given", directory)


def main() -> None:
    """Measure what is asked for and show it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("data", nargs="?", type=Path, default=DATA, help="directory with the labelled sets")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each method runs")
    parser.add_argument("--generated", type=int, default=GENERATED, help="mentions of the generated set; 0: none")
    parser.add_argument("--only", action="append", help="the script of a method; may be repeated; homonym always runs")
    given = parser.parse_args()
    unknown = set(given.only or ()) - {method.script for method in METHODS}
    if unknown:
        sys.exit(f"There is no method {', '.join(sorted(unknown))}; see benchmarks/peers/methods.py.")
    for line in run(given.data, given.rounds, given.generated, chosen(given.only or ())):
        print(line, flush=True)


if __name__ == "__main__":
    main()
