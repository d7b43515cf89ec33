"""How accurate the results are on labelled collections, with and without labels; writes the tables of docs/accuracy.md.

    python -m benchmarks.accuracy                        the sets in ../shared/data, tables to the terminal
    python -m benchmarks.accuracy DATA -o FILE           another directory; tables between the markers of FILE

"Best with labels" is the best limit over all labels of a set, tested on the same labels: an upper bound.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from homonym.calibration.tuning import PAPER_PART, Part
from homonym.clustering.agglomerative import limits
from homonym.clustering.arrays import Floats, Integers
from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.evaluate import evaluate
from homonym.commands.labelled import read_and_encode, read_labels
from homonym.commands.result import Summary
from homonym.commands.run import Resources, check_given_statistics, open_local_engine, prepare_run
from homonym.evaluation.assessment import Evaluation, assess
from homonym.evaluation.matching import label_names
from homonym.experiments.baselines import all_baselines
from homonym.measures.agreement import NameScores, bcubed, harmonic
from homonym.measures.bootstrap import LARGEST_SHOWN
from homonym.measures.methods import (
    LabelledNames,
    Labels,
    LimitCurves,
    Method,
    RelativeFrequencies,
    compare_labels,
    curves_of,
    labelled_codes,
    labels_of,
)
from homonym.names.compatibility import compatible
from homonym.names.parse import parse_name
from homonym.settings import PAPER_LIMIT, Limit, Settings

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
THREADS, _ = Resources().resolved()

Judged = Literal["mentions", "sizes"]
"""What a set is judged by: F1 over mentions, or its mean over the true sizes 1 to 10."""

TARGETS = (0.95, 0.98, 0.99)
PARTS: Mapping[Part, str] = {"alpha": "α", "beta": "β", "kappa": "κ"}
#: Limits that are looked up in a sweep, and those around the best one that are clustered at, as sweeps are coarser.
GRID, AROUND = 400, 1.02 ** np.arange(-5, 6)


@dataclass(frozen=True)
class LabelledSet:
    """A labelled collection: which files under the data directory, how they are blocked, how it is judged.

    `settings` are those of the baselines and of the paper's variants, `defaults` those of a user.
    """

    title: str
    inputs: tuple[str, ...]
    gold: str
    settings: Settings
    judged: Judged
    statistics: str | None = None
    mentions_in_collection: int | None = None
    defaults: Settings = field(default_factory=Settings)

    def missing(self, data: Path) -> str | None:
        """Which of the files is not there, in a sentence."""
        files = [*self.inputs, self.gold, *([self.statistics] if self.statistics else [])]
        absent = next((data / file for file in files if not (data / file).is_file()), None)
        return f"{self.title}: not measured, there is no {absent}." if absent else None

    def run(self, data: Path, output: Path, settings: Settings, work: Path | None = None) -> tuple[Summary, Evaluation]:
        """A run with the public functions, as a user would have it, and its result against the labels."""
        call = cluster if self.statistics else disambiguate
        done = call(
            [data / file for file in self.inputs],
            output,
            settings,
            statistics=data / self.statistics if self.statistics else None,
            mentions_in_collection=self.mentions_in_collection,
            resources=Resources(work=work),
        )
        return done, evaluate(output, data / self.gold)


PUBMED = "pubmed/documents.jsonl.gz"
#: The settings of baselines and of the paper's variants, and the defaults of version 0.7.0: names are no evidence.
BEFORE = Settings(
    blocking="given", coauthor_names="initials", affiliation_level="whole", chance_limit=0.0, name_trust=0.0
)
SETS = (
    LabelledSet("AMiner", ("aminer/documents.jsonl.gz",), "aminer/documents.jsonl.gz", BEFORE, "mentions"),
    LabelledSet("PubMed, first initial", (PUBMED,), PUBMED, BEFORE.changed(blocking="first-initial"), "mentions"),
    LabelledSet("PubMed, all initials", (PUBMED,), PUBMED, BEFORE, "mentions", defaults=Settings(blocking="given")),
    LabelledSet(
        "Web of Science",
        ("wos/train.jsonl.gz", "wos/unlabelled.jsonl.gz"),
        "wos/train.jsonl.gz",
        BEFORE,
        "sizes",
        "wos/statistics.csv.gz",
        1_821_295,
    ),
)


class Tuned(NamedTuple):
    """The best limit of a method, and what it finds there."""

    limit: Limit
    found: Evaluation


@dataclass(frozen=True, eq=False)
class Measured:
    """A labelled set that has been read, and the measurements on it that several tables need."""

    kind: LabelledSet
    data: Path
    work: Path
    names: LabelledNames
    mentions: int

    @staticmethod
    def of(kind: LabelledSet, data: Path, work: Path) -> Measured:
        """Read a set once."""
        run = prepare_run([data / file for file in kind.inputs], kind.settings)
        given = check_given_statistics(data / kind.statistics if kind.statistics else None, kind.mentions_in_collection)
        labels = read_labels(run, data / kind.gold, "author")
        with open_local_engine(run) as engine:
            collection = read_and_encode(run, engine, given)
            names = label_names(engine, collection, run.inputs, labels, data / kind.gold).names
        return Measured(kind, data, work, names, collection.mentions)

    def figure(self, found: Evaluation) -> float:
        """The figure that this set is judged by."""
        f1 = found.bcubed.f1 if self.kind.judged == "mentions" else found.mean_over_true_sizes_1_to_10
        assert f1 is not None
        return f1

    def tuned(self, settings: Settings, part: Part) -> Tuned:
        """The best limit of one parameter, over all labels: looked up in a sweep, then clustered around it."""
        names, judged, method = self.names, self.kind.judged, RelativeFrequencies(settings)
        start = best_limit(curves_of(method, names, THREADS), names, part, judged)
        tried = [start.scaled(factor) for factor in AROUND.tolist()]
        labels = [labels_of(method, names, limit, THREADS) for limit in tried]
        f1 = [float(f1_at(scores_of(names, found), names, judged)[0]) for found in labels]
        best = int(np.argmax(f1))
        return Tuned(tried[best], assess(*labelled_codes(names, labels[best])))

    def baseline(self, method: Method) -> tuple[str, Evaluation]:
        """What a baseline finds, with its best threshold if it has one."""
        curves = curves_of(method, self.names, THREADS)
        tunable = bool(np.isfinite(curves.lowest).any())
        limit = best_limit(curves, self.names, "alpha", self.kind.judged) if tunable else Limit()
        found = assess(*labelled_codes(self.names, labels_of(method, self.names, limit, THREADS)))
        return (f"best threshold {limit.alpha:.2g}" if tunable else "–"), found

    def run(self, **changes: str | float) -> tuple[Summary, Evaluation]:
        """A run with today's defaults, as a user would have it, and its result against the labels."""
        return self.kind.run(self.data, self.work / "authors.parquet", self.kind.defaults.changed(**changes))


def best_limit(curves: LimitCurves, names: LabelledNames, part: Part, judged: Judged) -> Limit:
    """The value of one parameter that does best on the labels, from a grid over all that make a difference."""
    one = Limit(**{part: 1.0})
    unit = limits(names.bags.block_start, one, curves.collection)
    values = (curves.lowest / np.repeat(unit, np.diff(curves.start)))[curves.lowest > 0]
    grid = np.geomspace(np.quantile(values, 0.01), values.max() * 1.01, GRID)
    at = np.stack([curves.steps_at(name, grid * unit[name]) for name in range(len(names))])
    f1 = f1_at(NameScores(curves.precision[at], curves.recall[at]), names, judged)
    return one.scaled(float(grid[np.argmax(f1)]))


def f1_at(scores: NameScores, names: LabelledNames, judged: Judged) -> Floats:
    """The figure of a set at each limit (columns), from precision and recall of each name (rows)."""
    if judged == "mentions":
        share = np.bincount(names.block[names.labelled], minlength=len(names)).astype(np.float64)
        share /= share.sum()
        return harmonic(share @ scores.precision, share @ scores.recall)
    sizes = [names.true_size == size for size in np.unique(names.true_size[names.true_size <= LARGEST_SHOWN])]
    means: Floats = np.mean(
        [harmonic(scores.precision[of].mean(axis=0), scores.recall[of].mean(axis=0)) for of in sizes], axis=0
    )
    return means


def scores_of(names: LabelledNames, label: Labels) -> NameScores:
    """Precision and recall of each name (rows), in one column."""
    scores = bcubed(compare_labels(names, label)).by_name()
    return NameScores(scores.precision[:, None], scores.recall[:, None])


Lines = Iterator[str]

FIGURES = ("precision", "recall", "F1 over mentions", "mean F1 over sizes 1–10")


def sets_table(measured: Measured) -> Lines:
    """What a set consists of."""
    names = measured.names
    labelled, people = int(names.labelled.sum()), int(names.true_size.sum())
    collection = names.frequencies.mentions
    yield line(
        measured.kind.title,
        f"{measured.mentions:,}",
        f"{collection:,}",
        f"{labelled:,}",
        f"{len(names):,}",
        f"{people:,}",
        f"{int(np.median(names.mentions)):,}",
        f"{names.mentions.max():,}",
        ", ".join(names.frequencies.types),
    )


def baselines_table(measured: Measured) -> Lines:
    """Simple rules and textbook methods; thresholds are the best with labels."""
    usable, missing = all_baselines(measured.names)
    for method in usable:
        limit, found = measured.baseline(method)
        yield method_row(measured, method.title, limit, found)
    for why in missing:
        yield line(measured.kind.title, why, *["–"] * (1 + len(FIGURES)))


def paper_table(measured: Measured) -> Lines:
    """The paper's two variants at the paper's limits, and at the best ones."""
    for variant, part in PAPER_PART.items():
        settings = as_in_the_paper(measured.kind.settings).changed(variant=variant)
        limit = PAPER_LIMIT[variant]
        labels = labels_of(RelativeFrequencies(settings), measured.names, limit, THREADS)
        found = assess(*labelled_codes(measured.names, labels))
        yield method_row(measured, f"`{variant}`, the paper's limit", shown(limit), found)
        best = measured.tuned(settings, part)
        yield method_row(measured, f"`{variant}`, best with labels", shown(best.limit), best.found)


def target_table(measured: Measured) -> Lines:
    """Runs that aim at a precision: what they reach on pseudo-names, and what on the labels."""
    for target in TARGETS:
        done, found = measured.run(target_precision=target)
        assert done.calibration
        assert done.calibration.precision is not None
        sizes = [of.bcubed.precision for size, of in found.by_true_size.items() if size <= LARGEST_SHOWN]
        yield line(
            measured.kind.title,
            short(target),
            limit_and_spread(done),
            short(done.calibration.precision),
            short(float(np.mean(sizes))),
            *figures(measured, found),
        )


def confidence_table(measured: Measured) -> Lines:
    """Stated confidence against the share of mentions that are among their own."""
    _, found = measured.run()
    assert found.confidence
    bins = found.confidence.bins
    yield line(
        measured.kind.title,
        " ".join(short(part.stated) for part in bins),
        " ".join(short(part.true) for part in bins),
        short(found.confidence.mean_error),
        short(found.confidence.largest_error),
        *((short(authors.mean_error), short(authors.largest_error)) if (authors := found.confidence.authors) else ()),
    )


def labels_table(measured: Measured) -> Lines:
    """What the labels themselves say about given names and about e-mail addresses."""
    pairs, people = excluded_pairs(measured.names)
    same, sharing = address_pairs(measured.names)
    yield line(
        measured.kind.title,
        f"{pairs:,}",
        f"{people:,}",
        f"{same:,} of {sharing:,}" if sharing else "no addresses",
    )


Columns = tuple[str, ...]
TABLES: Mapping[str, tuple[Columns, Callable[[Measured], Lines]]] = {
    "sets": (
        ("set", "mentions", "N", "labelled", "names", "people", "median size", "largest size", "feature types"),
        sets_table,
    ),
    "labels": (
        (
            "set",
            "pairs of one person whose names exclude each other",
            "people with such pairs",
            "pairs with one e-mail address that are one person",
        ),
        labels_table,
    ),
    "baselines": (("set", "baseline", "limit", *FIGURES), baselines_table),
    "paper": (("set", "variant", "limit", *FIGURES), paper_table),
    "target": (
        ("set", "target", "κ found", "precision on pseudo-names", "mean precision over sizes 1–10", *FIGURES),
        target_table,
    ),
    "confidence": (
        (
            "set",
            "stated, from the least sure tenth to the surest",
            "true",
            "mean difference",
            "largest",
            "mean, authors",
            "largest, authors",
        ),
        confidence_table,
    ),
}


def as_in_the_paper(settings: Settings) -> Settings:
    """Equal weights, nothing subtracted."""
    return settings.changed(weights="uniform", gamma=0.0)


def method_row(measured: Measured, what: str, limit: str, found: Evaluation) -> str:
    """A line of a table: a method, its limit and its figures."""
    return line(measured.kind.title, what, limit, *figures(measured, found))


def figures(measured: Measured, found: Evaluation) -> list[str]:
    """Precision and recall over mentions, F1 over mentions and over sizes; what the set is judged by is bold."""
    sizes = found.mean_over_true_sizes_1_to_10
    assert sizes is not None
    shown = [short(found.bcubed.precision), short(found.bcubed.recall), short(found.bcubed.f1), short(sizes)]
    place = 2 if measured.kind.judged == "mentions" else 3
    shown[place] = f"**{shown[place]}**"
    return shown


def limit_and_spread(done: Summary) -> str:
    """The limit that a run found, and between which its draws of pseudo-names lie."""
    assert done.limit
    if done.calibration is None or done.calibration.spread is None:
        return shown(done.limit)
    low, high = done.calibration.spread
    return f"{shown(done.limit)} ({low.kappa:.1f}–{high.kappa:.1f})"


def shown(limit: Limit) -> str:
    """A limit of one parameter.

    >>> shown(Limit(beta=7.5e-5)), shown(Limit(kappa=4.09))
    ('β = 7.5e-05', 'κ = 4.1')
    """
    ((part, value),) = [(PARTS[part], value) for part, value in zip(PARTS, limit, strict=True) if value]
    return f"{part} = {value:.1f}" if part == "κ" else f"{part} = {value:.2g}"


def short(share: float) -> str:
    """A share with three decimals and without the leading zero.

    >>> short(0.9046), short(1.0)
    ('.905', '1.000')
    """
    return f"{share:.3f}".removeprefix("0")


def signed(difference: float) -> str:
    """A difference with its sign.

    >>> signed(-0.0031), signed(0.002), signed(0.0001)
    ('−.003', '+.002', '±.000')
    """
    sign = "±" if round(difference, 3) == 0 else "−" if difference < 0 else "+"
    return sign + short(abs(difference))


def line(*cells: str) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def excluded_pairs(names: LabelledNames) -> tuple[int, int]:
    """Pairs of mentions under one label and one name whose written names exclude each other, and such labels."""
    pairs, people = 0, set()
    known = np.flatnonzero(names.labelled)
    for key, places in grouped(names.block[known], names.author[known]).items():
        written = Counter(text for place in places if (text := names.written[known[place]]))
        parsed = [(parse_name(text), count) for text, count in written.items()]
        apart = sum(m * n for (a, m), (b, n) in combinations(parsed, 2) if not compatible(a, b))
        pairs += apart
        people |= {key[1]} if apart else set()
    return pairs, len(people)


def address_pairs(names: LabelledNames) -> tuple[int, int]:
    """Pairs of labelled mentions of a name that share an e-mail address: those under one label, and all."""
    sharing: set[tuple[int, int]] = set()
    if "email" in names.frequencies.types:
        t = names.frequencies.types.index("email")
        low, high = names.frequencies.type_start[t : t + 2]
        holder = np.repeat(np.arange(len(names.author)), np.diff(names.bags.bag_start))
        used = (names.bags.feature >= low) & (names.bags.feature < high) & names.labelled[holder]
        holder, feature = holder[used], names.bags.feature[used]
        for places in grouped(names.block[holder], feature).values():
            sharing.update(combinations(sorted(holder[places].tolist()), 2))
    return sum(names.author[a] == names.author[b] for a, b in sharing), len(sharing)


def grouped(first: Integers, second: Integers) -> dict[tuple[int, int], list[int]]:
    """The places of each pair of values.

    >>> grouped(np.array([1, 1, 2]), np.array([5, 5, 5]))
    {(1, 5): [0, 1], (2, 5): [2]}
    """
    places: dict[tuple[int, int], list[int]] = {}
    for place, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        places.setdefault(pair, []).append(place)
    return places


def measure(data: Path) -> dict[str, str]:
    """All tables by name, with a sentence below them for each missing set."""
    lines: dict[str, list[str]] = {table: [] for table in TABLES}
    missing = [why for kind in SETS if (why := kind.missing(data))]
    for kind in SETS:
        if not kind.missing(data):
            with tempfile.TemporaryDirectory() as work:
                measured = Measured.of(kind, data, Path(work))
                for table, (_, rows) in TABLES.items():
                    for row in rows(measured):
                        print(table, row, file=sys.stderr, flush=True)
                        lines[table].append(row)
    return {table: _rendered(columns, lines[table], missing) for table, (columns, _) in TABLES.items()}


def _rendered(columns: Columns, lines: list[str], missing: list[str]) -> str:
    head = [line(*columns), line(*["---"] * len(columns))] if lines else []
    return "\n".join([*head, *lines, *(f"\n{why}" for why in missing)])


def filled(text: str, tables: Mapping[str, str]) -> str:
    """Put tables between the markers that name them.

    >>> filled("<!-- table a -->old<!-- end -->", {"a": "new"})
    '<!-- table a -->\\nnew\\n<!-- end -->'
    """
    for table, content in tables.items():
        marked = rf"(<!-- table {table} -->).*?(<!-- end -->)"
        text, times = re.subn(marked, lambda found: f"{found[1]}\n{content}\n{found[2]}", text, flags=re.DOTALL)  # noqa: B023
        if times != 1:
            raise SystemExit(f"there must be one place for the table {table}, but there are {times}.")
    return text


def main() -> None:
    """Measure, then write or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, default=DATA, metavar="DATA", help="directory with labelled sets")
    parser.add_argument("-o", "--output", type=Path, help="document that has the tables' markers")
    chosen = parser.parse_args()
    if not chosen.output:
        print("\n\n".join(measure(chosen.data).values()))
        return
    # Measuring takes minutes: whether there is a place for everything is asked before, the words are read after.
    filled(chosen.output.read_text(encoding="utf-8"), dict.fromkeys(TABLES, ""))
    tables = measure(chosen.data)
    chosen.output.write_text(filled(chosen.output.read_text(encoding="utf-8"), tables), encoding="utf-8")


if __name__ == "__main__":
    main()
