"""What a user gets who exports one name: every labelled name as a collection of its own, beside the whole set.

    python -m benchmarks.single_names                   AMiner and PubMed in ../shared/data, tables to the terminal
    python -m benchmarks.single_names DATA AMiner       another directory; only some sets
    python -m benchmarks.single_names --names 10        ten names at a time instead of one
    python -m benchmarks.single_names --background none without the background

Default settings, no labels. A name is in a document if one of its labelled authors has it. The figure is B-cubed F1
over the labelled mentions of the name; with several names at a time, over those of all of them.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq

from benchmarks.accuracy import DATA, line, short, signed
from homonym.commands.disambiguate import disambiguate
from homonym.commands.run import Resources
from homonym.measures.agreement import bcubed_across_names
from homonym.names.parse import parse_name
from homonym.settings import Settings

SETS: Mapping[str, str] = {"AMiner": "aminer", "PubMed": "pubmed", "Chinese names": "koala"}
#: The Chinese names are large, and their set takes minutes.
DEFAULT_SETS = ("AMiner", "PubMed")
#: A name alone must be as good as inside its set, up to this much.
AIM = 0.03

Document = dict[str, Any]
People = dict[str, str]
"""The author, true or found, of each mention."""

COLUMNS = (
    "set", "collections", "F1 in the set", "F1 alone", "median difference", "mean", "5 %", "worst", "below aim",
    "above by it",
)  # fmt: skip


def name_of(author: Document) -> str:
    """The name that a labelled author belongs to."""
    return str(author.get("block") or parse_name(author["name"]).first_initial_key)


def by_name(documents: list[Document]) -> dict[str, list[Document]]:
    """The documents of each labelled name."""
    found: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        for name in {name_of(author) for author in document["authors"] if author.get("author")}:
            found[name].append(document)
    return dict(sorted(found.items()))


def labels(documents: list[Document], names: set[str]) -> People:
    """The true authors of the mentions of some names."""
    return {
        f"{document['id']}#{position}": author["author"]
        for document in documents
        for position, author in enumerate(document["authors"])
        if author.get("author") and name_of(author) in names
    }


def run(documents: list[Document], folder: Path, settings: Settings) -> People:
    """The authors that a run with the public function finds."""
    source, result = folder / "documents.jsonl", folder / "authors.parquet"
    source.write_bytes(b"".join(orjson.dumps(document) + b"\n" for document in documents))
    disambiguate(source, result, settings, resources=Resources(work=folder / "work"))
    table = pq.read_table(result, columns=["mention_id", "author_id"])
    return dict(zip(table["mention_id"].to_pylist(), table["author_id"].to_pylist(), strict=True))


def f1(found: People, true: People) -> float:
    """B-cubed F1 over the labelled mentions that a run has."""
    mentions = sorted(true.keys() & found.keys())
    codes = [np.unique([people[mention] for mention in mentions], return_inverse=True)[1] for people in (true, found)]
    return bcubed_across_names(*codes).f1


def measure(path: Path, together: int, settings: Settings) -> Iterator[tuple[str, float, float]]:
    """Each collection with its F1 inside the set and alone."""
    with gzip.open(path) as lines:
        documents = [orjson.loads(text) for text in lines]
    names = by_name(documents)
    with tempfile.TemporaryDirectory() as folder:
        whole = run(documents, Path(folder), Settings())
    keys = list(names)
    for group in (keys[first : first + together] for first in range(0, len(keys), together)):
        # A document may have several of the names.
        chosen = list({document["id"]: document for name in group for document in names[name]}.values())
        true = labels(chosen, set(group))
        with tempfile.TemporaryDirectory() as folder:
            yield " + ".join(group), f1(whole, true), f1(run(chosen, Path(folder), settings), true)


def row(title: str, measured: list[tuple[str, float, float]]) -> str:
    """The line of a set."""
    inside, alone = (np.array([one[place] for one in measured]) for place in (1, 2))
    difference = alone - inside
    return line(
        title,
        str(len(measured)),
        short(inside.mean()),
        short(alone.mean()),
        signed(float(np.median(difference))),
        signed(float(difference.mean())),
        signed(float(np.quantile(difference, 0.05))),
        signed(float(difference.min())),
        str(int((difference < -AIM).sum())),
        str(int((difference > AIM).sum())),
    )


def main() -> None:
    """Measure and print; each collection goes to standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=DATA, metavar="DATA", help="directory with labelled sets")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"some of {', '.join(SETS)}")
    parser.add_argument("--names", type=int, default=1, help="number of names in one collection")
    parser.add_argument("--background", default="auto", help="the setting of the runs on single names")
    chosen = parser.parse_args()
    rows, misses = [line(*COLUMNS), line(*["---"] * len(COLUMNS))], []
    for title in chosen.sets or DEFAULT_SETS:
        measured = []
        path = chosen.data / SETS[title] / "documents.jsonl.gz"
        for name, inside, alone in measure(path, chosen.names, Settings(background=chosen.background)):
            print(title, name, short(inside), short(alone), signed(alone - inside), sep="\t", file=sys.stderr)
            measured.append((name, inside, alone))
        rows.append(row(title, measured))
        worst = sorted((one for one in measured if one[2] < one[1] - AIM), key=lambda one: one[2] - one[1])
        misses.append(f"{title}, below the aim: " + "; ".join(f"{n} {short(i)} → {short(a)}" for n, i, a in worst))
    print(*rows, "", *misses, sep="\n")


if __name__ == "__main__":
    main()
