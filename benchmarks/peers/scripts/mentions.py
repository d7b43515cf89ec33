"""What all peers share: documents in, mentions by block, authors out, and a clock by phase.

Whatever homonym makes a feature of, a peer gets as well: words of title and abstract, venue, categories, keywords,
co-authors, affiliations, e-mail addresses, identifiers, year, references. Nothing is read that homonym does not read.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")
WORD = re.compile(r"[^\W\d_][\w-]+")

#: Short, as people have it: words that are everywhere weigh next to nothing in TF-IDF anyway.
STOP_WORDS = frozenset(
    "a an and are as at be been by can for from had has have in into is it its not of on or our over such than that "
    "the their these this those to under using was we were which with".split()
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One author on one document, with what the document says about them."""

    mention_id: str
    block: str
    name: str
    family: str
    given: str
    co_authors: tuple[str, ...]
    affiliations: tuple[str, ...]
    emails: tuple[str, ...]
    ids: tuple[str, ...]
    document: Mapping[str, Any]


def read_mentions(path: Path) -> Iterator[Mention]:
    """All mentions of a file of documents, whose authors carry their block."""
    import orjson

    with path.open("rb") as stream:
        for line in stream:
            yield from mentions_of(orjson.loads(line))


def mentions_of(document: Mapping[str, Any]) -> Iterator[Mention]:
    """The mentions of one document; the others of its authors are the co-authors of each.

    >>> authors = [{"name": "Doe, Jane", "block": "DOE, J"}, {"name": "A. Roe", "block": "ROE, A"}]
    >>> made = mentions_of({"id": "W1", "authors": authors})
    >>> [(one.mention_id, one.family, one.given, one.co_authors) for one in made]
    [('W1#0', 'doe', 'jane', ('a roe',)), ('W1#1', 'roe', 'a', ('jane doe',))]
    """
    authors = document["authors"]
    split = [split_name(author["name"]) for author in authors]
    plain = [f"{given} {family}".strip() for family, given in split]
    for position, (author, (family, given)) in enumerate(zip(authors, split, strict=True)):
        yield Mention(
            mention_id=f"{document['id']}#{position}",
            block=author["block"],
            name=author["name"],
            family=family,
            given=given,
            co_authors=tuple(plain[:position] + plain[position + 1 :]),
            affiliations=tuple(author.get("affiliations", ())),
            emails=tuple(email.lower() for email in author.get("emails", ())),
            ids=tuple(f"{kind}:{value}" for kind, value in author.get("ids", {}).items()),
            document=document,
        )


def split_name(name: str) -> tuple[str, str]:
    """Family name and given names, lower-cased, without full stops.

    >>> split_name("Doe, Jane W."), split_name("Jane W. Doe"), split_name("Madonna")
    (('doe', 'jane w'), ('doe', 'jane w'), ('madonna', ''))
    """
    clean = name.lower().replace(".", " ")
    if "," in clean:
        family, given = clean.split(",", 1)
    else:
        given, _, family = clean.strip().rpartition(" ")
    return " ".join(family.split()), " ".join(given.replace(",", " ").split())


def words(text: str | None) -> list[str]:
    """The words of a text that say something.

    >>> words("On the Theory of Graphs")
    ['theory', 'graphs']
    """
    return [word for word in WORD.findall((text or "").lower()) if word not in STOP_WORDS]


def by_block(mentions: Sequence[Mention]) -> dict[str, list[int]]:
    """The places of the mentions of each block."""
    blocks: dict[str, list[int]] = defaultdict(list)
    for place, mention in enumerate(mentions):
        blocks[mention.block].append(place)
    return blocks


def pairs_within(blocks: Iterable[Sequence[int]]) -> int:
    """How many pairs of mentions share a block.

    >>> pairs_within([[0, 1, 2], [3]])
    3
    """
    return sum(len(places) * (len(places) - 1) // 2 for places in blocks)


class Clock:
    """Seconds by phase: on the wall, and of the processor in this process and in those it has waited for."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = {}
        self.cpu: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add what happens inside to a phase."""
        wall, cpu = time.perf_counter(), processor_seconds()
        yield
        self.wall[name] = self.wall.get(name, 0.0) + time.perf_counter() - wall
        self.cpu[name] = self.cpu.get(name, 0.0) + processor_seconds() - cpu


def processor_seconds() -> float:
    """Processor seconds so far, of this process, of children that ended, and of those that still work for it."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used) + sum(map(cpu_of, descendants(os.getpid())))


def descendants(process: int) -> Iterator[int]:
    """The processes that a process has started and those that they have, as far as they are alive."""
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has just ended
        return
    for child in children:
        yield child
        yield from descendants(child)


def cpu_of(process: int) -> float:
    """Processor seconds of one process alone."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


#: Where to cut in, the number of each mention's cluster inside its block out.
Cut = Callable[[float], Sequence[int]]


class Compared(NamedTuple):
    """What a method knows before it decides on a threshold."""

    mentions: Sequence[Mention]
    pairs: int
    cut: Cut


#: A method: everything up to the point where a threshold is needed.
Method = Callable[[Path, Clock], Compared]

SWEEP = "sweep"


def run(method: Method, arguments: argparse.Namespace) -> None:
    """Run a method and write what it found at each threshold, and what it took.

    What the first threshold takes is what the method takes. The others are there to see what labels would give, and
    have a phase of their own that is left out of all totals.
    """
    clock, (first, *others) = Clock(), arguments.threshold
    mentions, pairs, cut = method(arguments.documents, clock)
    with clock.phase("cluster"):
        clusters = cut(first)
    with clock.phase("write"):
        write_authors(arguments.output / "authors-0.csv", mentions, clusters)
    with clock.phase(SWEEP):
        for number, threshold in enumerate(others, 1):
            write_authors(arguments.output / f"authors-{number}.csv", mentions, cut(threshold))
    write_figures(arguments.output, clock.wall, clock.cpu, pairs)


def write_figures(output: Path, wall: Mapping[str, float], cpu: Mapping[str, float], pairs: int) -> None:
    """What a run took, by phase."""
    (output / "figures.json").write_text(json.dumps({"wall": wall, "cpu": cpu, "pairs": pairs}))


def write_authors(path: Path, mentions: Sequence[Mention], clusters: Sequence[int]) -> None:
    """A table of mention_id, block and author_id."""
    with path.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(("mention_id", "block", "author_id"))
        table.writerows(
            (mention.mention_id, mention.block, f"{mention.block}/{cluster}")
            for mention, cluster in zip(mentions, clusters, strict=True)
        )


def parser(description: str) -> argparse.ArgumentParser:
    """What every peer's script is given."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("documents", type=Path, help="documents, JSON lines, each author with a block")
    made.add_argument("output", type=Path, help="directory for authors-<number of the threshold>.csv and figures.json")
    made.add_argument("--threshold", type=float, action="append", required=True, help="where to cut; may be repeated")
    return made


def components(size: int, linked: Iterable[tuple[int, int]]) -> list[int]:
    """Number the connected components of mentions 0 to size - 1.

    >>> components(4, [(0, 2), (2, 3)])
    [0, 1, 0, 0]
    """
    root = list(range(size))

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    for left, right in linked:
        root[find(right)] = find(left)
    return [find(place) for place in range(size)]
