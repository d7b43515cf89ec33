"""How good the list of possible name variants is: some labelled people get a second name, which it should find.

    python -m benchmarks.name_variants                  the sets in ../shared/data, a table to the terminal
    python -m benchmarks.name_variants DATA nsf2008     another directory; only some sets

A tenth of the people with two or more labelled documents get another name on the later half of these: another surname
(40 %), one other letter in the surname (30 %), a second surname (15 %), or surname and given name swapped (15 %). The
run has default settings and no labels. A listed pair is right if most labelled mentions of both authors are of one
person; pairs of authors without labels are not judged. A person is found if a listed pair joins two of its authors.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import random
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq

from benchmarks.accuracy import DATA
from homonym.commands.disambiguate import disambiguate
from homonym.features.blocking import SCHEMES
from homonym.names.parse import parse_name
from homonym.suggestions.name_variants import NameVariant, search_variants

SETS = ("nsf2008", "openreview")
SHARE = 0.1
LIMITS = (0.5, 0.7, 0.9, 0.99)

Documents = list[dict[str, Any]]


def read(path: Path) -> Documents:
    """The documents of a set."""
    with gzip.open(path) as file:
        return [orjson.loads(line) for line in file]


def rename(documents: Documents) -> dict[str, str]:
    """Give people other names in place; returns the kind of each renamed person."""
    entries = defaultdict(list)
    for document in documents:
        for author in document["authors"]:
            if author.get("author"):
                entries[author["author"]].append((document.get("year") or 9999, document["id"], author))
    rng, renamed = random.Random(1), {}
    surnames = sorted({parse_name(found[0][2]["name"]).surname for found in entries.values()} - {""})
    for person, found in sorted(entries.items()):
        later = sorted(found, key=lambda entry: entry[:2])[len(found) // 2 :]
        if len({document for _, document, _ in found}) < 2 or not _is_chosen(person):
            continue
        other = _other_name(found[0][2]["name"], surnames, rng)
        if other:
            renamed[person] = other[0]
            for _, _, author in later:
                author["name"] = other[1]
    return renamed


def _is_chosen(person: str) -> bool:
    return hashlib.sha256(person.encode()).digest()[0] < 256 * SHARE


def _other_name(text: str, surnames: list[str], rng: random.Random) -> tuple[str, str] | None:
    """A kind and a name of another block; None if the given name is an initial."""
    name = parse_name(text)
    if not name.given or len(name.given[0]) < 2:
        return None
    given, surname, at = " ".join(name.given), name.surname, rng.randrange(1, max(2, len(name.surname)))
    other = rng.choice(surnames)
    kind, changed = rng.choices(
        [
            ("surname", f"{other}, {given}"),
            ("spelling", f"{surname[:at]}{rng.choice('AEIOULNRST')}{surname[at + 1 :]}, {given}"),
            ("double surname", f"{surname} {other}, {given}"),
            ("swapped order", f"{''.join(name.given)}, {surname}"),
        ],
        [40, 30, 15, 15],
    )[0]
    blocks = {SCHEMES["auto"](one, None) for one in (name, parse_name(changed))}
    return (kind, changed.title()) if len(blocks) == 2 else None


def people_of(result: Path, documents: Documents) -> dict[str, str]:
    """The person that most labelled mentions of each author are of."""
    labels = {
        f"{document['id']}#{position}": author["author"]
        for document in documents
        for position, author in enumerate(document["authors"])
        if author.get("author")
    }
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    rows = pq.read_table(result / "mentions.parquet", columns=["mention_id", "author_id"]).to_pydict()
    for mention, author in zip(rows["mention_id"], rows["author_id"], strict=True):
        if mention in labels:
            counts[author][labels[mention]] += 1
    return {author: count.most_common(1)[0][0] for author, count in counts.items()}


def measure(name: str, data: Path) -> None:
    """Rename, run, and print the figures of one set."""
    documents = read(data / name / "documents.jsonl.gz")
    renamed = rename(documents)
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "documents.jsonl"), Path(folder, "result")
        source.write_bytes(b"\n".join(map(orjson.dumps, documents)))
        done = disambiguate(source, result)
        print(f"{name}: {done.mentions:,} mentions, {len(renamed):,} people renamed, seconds of stages {done.seconds}")
        person = people_of(result, documents)
        listed = search_variants(result).listed
    for limit in LIMITS:
        _print(limit, [one for one in listed if one.score >= limit], person, renamed)


def _print(limit: float, listed: list[NameVariant], person: dict[str, str], renamed: dict[str, str]) -> None:
    judged = [
        (person[one.author_a], person[one.author_b]) for one in listed if {one.author_a, one.author_b} <= {*person}
    ]
    right = [a for a, b in judged if a == b]
    found = {*right} & {*renamed}
    kinds, all_kinds = Counter(renamed[one] for one in found), Counter(renamed.values())
    by_kind = ", ".join(f"{kind} {kinds[kind]}/{number}" for kind, number in sorted(all_kinds.items()))
    print(
        f"  score ≥ {limit}: {len(listed):,} listed, {len(judged):,} judged, precision "
        f"{len(right) / max(len(judged), 1):.3f}, recall {len(found) / max(len(renamed), 1):.3f} ({by_kind})",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=DATA, metavar="DATA", help="directory with labelled sets")
    parser.add_argument("sets", nargs="*", metavar="SET", help="names of sets; both if none is given")
    chosen = parser.parse_args()
    for name in chosen.sets or SETS:
        measure(name, chosen.data)


if __name__ == "__main__":
    main()
