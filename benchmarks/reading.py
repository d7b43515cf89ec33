"""How fast exports are read to documents, compared with parsing alone.

    python -m benchmarks.reading              synthetic exports of every format
    python -m benchmarks.reading DIRECTORY    the real exports in a directory
    python -m benchmarks.reading --memory     peak memory of converting 100 MB and 1 GB

Reading and parsing alone are timed alternately, in CPU seconds of one core; the best of several runs counts. Parsing
alone means orjson on each record (JSON), lxml over the file (XML) or csv (tables). Text formats have no parsing
library; for them the time per author mention counts.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import psutil
from lxml import etree

from benchmarks.exports import EXPORTS, Export, documents, renumbered
from homonym.io.inputs import Source, expand
from homonym.records.model import Document
from homonym.records.reader import Format, detect_format

MEGABYTES = 35
MENTIONS = 60_000
REPEATS = 3

# Minimum measured time; a small file is read repeatedly.
LEAST_SECONDS = 0.2

LIMITS = {"json": 10.0, "xml": 3.0}
MAX_MICROSECONDS = 25.0

KINDS = {
    "openalex": "json", "crossref": "json", "datacite": "json", "arxiv": "json", "aminer": "json", "s2and": "json",
    "documents": "json", "pubmed": "xml", "dblp": "xml", "arxiv-oai": "xml", "aminer-xml": "xml", "scopus": "csv",
    "wos-tab": "csv", "endnote-xml": "xml", "zotero": "json",
    "europepmc": "json", "europepmc-xml": "xml", "jats": "xml", "semanticscholar": "json",
    "lens": "json", "dimensions": "json", "table": "csv", "services": "json", "marcxml": "xml",
    "mods": "xml", "orcid": "json", "orcid-xml": "xml",
}  # fmt: skip
RECORD_TAGS = {
    "pubmed": ("PubmedArticle", "PubmedBookArticle"),
    "dblp": ("article", "inproceedings", "proceedings", "book", "incollection", "phdthesis", "mastersthesis", "www"),
    "arxiv-oai": ("{*}record",),
    "aminer-xml": ("publication",),
    "endnote-xml": ("record",),
    "europepmc": ("result",),
    "jats": ("article",),
    "marcxml": ("{*}record",),
    "mods": ("{*}mods",),
    "orcid": ("{*}work", "{*}work-summary"),
}

LARGE = ("wos", "pubmed", "openalex")
SIZES = (100, 1000)
LARGE_MENTIONS = 20_000


Step = Callable[[], object]


class Row(NamedTuple):
    """The measurements of one file: sizes, and seconds to read, to read without caches, and to parse only."""

    name: str
    format: str
    bytes: int
    records: int
    mentions: int
    seconds: float
    cold: float | None
    bare: float | None

    @property
    def rate(self) -> float:
        """Speed in MB/s."""
        return self.bytes / self.seconds / 1e6

    @property
    def microseconds(self) -> float:
        """Microseconds per mention."""
        return self.per_mention(self.seconds)

    def per_mention(self, seconds: float) -> float:
        """A time in seconds as microseconds per mention."""
        return 1e6 * seconds / max(1, self.mentions)

    @property
    def ratio(self) -> float | None:
        """Time to read relative to the time to parse only."""
        return self.seconds / self.bare if self.bare else None

    @property
    def limit(self) -> str:
        """The limit for this format."""
        most = LIMITS.get(kind_of(self.name, self.format))
        return f"≤ {most:.0f}×" if most else f"≤ {MAX_MICROSECONDS:.0f} µs"

    @property
    def is_within_limit(self) -> bool:
        """Whether reading is fast enough."""
        most = LIMITS.get(kind_of(self.name, self.format))
        return (self.ratio or 0) <= most if most else self.microseconds <= MAX_MICROSECONDS


def run(megabytes: int = MEGABYTES) -> list[Row]:
    """A row for each synthetic export of this size."""
    written = list(documents(MENTIONS))
    with tempfile.TemporaryDirectory() as directory:
        return [_synthetic(name, export, written, Path(directory), megabytes) for name, export in EXPORTS.items()]


def run_samples(directory: Path) -> list[Row]:
    """A row for each file of a known format in a directory."""
    rows = (_sample(path, str(path.relative_to(directory))) for path in expand(directory)[0])
    return [row for row in rows if row and row.mentions]


def _synthetic(name: str, export: Export, written: list[Document], directory: Path, megabytes: int) -> Row:
    path = directory / f"{name}.{export.suffix}"
    base = [export.record(document) for document in written]
    numbers = [int(document.id[1:]) for document in written]
    _write(path, export.framed(repeated(base, numbers, megabytes * 1_000_000)))
    row = measure(path, name)
    path.unlink()
    assert row is not None, f"{name} is not recognised"
    return row


def repeated(records: list[bytes], numbers: list[int], size: int) -> Iterator[bytes]:
    """Yield the records repeatedly, each time with new identifiers, up to a total size in bytes."""
    for turn in count():
        for record, number in zip(records, numbers, strict=True):
            yield renumbered(record, number, number + turn * 1_000_000) if turn else record
            size -= len(record)
            if size < 0:
                return


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    with path.open("wb") as stream:
        stream.writelines(pieces)


def measure(path: Path, name: str, *, cold: bool = False) -> Row | None:
    """Time the reading of a file; None if its format is not recognised."""
    form = _format(path)
    if form is None:
        return None
    records, mentions = read(path, form)
    bare = _bare(path, form, kind_of(name, form.name))
    steps = [lambda: read(path, form), (lambda: read(path, form, cold=True)) if cold else None, bare]
    times = fastest(steps)
    return Row(name, form.name, path.stat().st_size, records, mentions, *times)


def _sample(path: Path, name: str) -> Row | None:
    try:
        return measure(path, name, cold=True)
    except Exception as broken:  # one unreadable file must not end the benchmark
        print(f"{name}: {broken}", file=sys.stderr)
        return None


def _format(path: Path) -> Format | None:
    with Source(path) as source:
        return detect_format(source)


def read(path: Path, form: Format, *, cold: bool = False) -> tuple[int, int]:
    """The number of documents in a file and of their mentions.

    A small file is read repeatedly, so that after the first pass all its names and addresses are cached, unlike those
    of a large file. A cold reading clears the caches first.
    """
    if cold:
        _clear_caches()
    records = mentions = 0
    with Source(path) as source:
        opened = form.open(source, {})
        for raw in opened.raws:
            if not raw.broken and (parsed := form.parse(raw.text, opened.context)):
                records += 1
                mentions += len(parsed[0].authors)
    return records, mentions


def _clear_caches() -> None:
    for name, module in sys.modules.items():
        if name.startswith("homonym.records."):
            for function in vars(module).values():
                if hasattr(function, "cache_parameters") and function.cache_parameters()["maxsize"] is not None:
                    function.cache_clear()


def fastest(steps: Sequence[Step | None]) -> list[Any]:
    """The best time of each step; they alternate, so that other load on the machine affects all of them."""
    times: list[list[float]] = [[] for _ in steps]
    for _ in range(REPEATS):
        for step, found in zip(steps, times, strict=True):
            if step:
                found.append(_seconds(step))
    return [min(found, default=None) for found in times]


def _seconds(step: Step) -> float:
    began, passes = time.process_time(), 0
    while True:
        step()
        passes += 1
        passed = time.process_time() - began
        if passed > LEAST_SECONDS:
            return passed / passes


def kind_of(name: str, form: str) -> str:
    """What a file is parsed as: "json", "xml", "csv" or "text"; some formats exist in JSON and in XML."""
    return KINDS.get(name) or ("xml" if name.endswith(".xml") else KINDS.get(form, "text"))


def _bare(path: Path, form: Format, kind: str) -> Step | None:
    if kind == "json":
        texts = _texts(path, form)
        return lambda: _parse_json(texts)
    if kind == "xml":
        return lambda: _parse_xml(path, RECORD_TAGS[form.name])
    return (lambda: _parse_table(path, form)) if kind == "csv" else None


def _texts(path: Path, form: Format) -> list[bytes]:
    with Source(path) as source:
        return [raw.text.strip(b" ,\r\n") for raw in form.open(source, {}).raws if not raw.broken]


def _parse_json(texts: list[bytes]) -> None:
    for text in texts:
        orjson.loads(text)


def _parse_xml(path: Path, tags: tuple[str, ...]) -> None:
    for _, element in etree.iterparse(str(path), tag=tags, recover=True, huge_tree=True):
        element.clear()


def _parse_table(path: Path, form: Format) -> None:
    csv.field_size_limit(1 << 30)
    tabs: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if form.name == "wos-tab" else {}
    with Source(path) as source:
        encoding = "utf-16" if source.head[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
    with path.open("rb") as stream:
        for _ in csv.reader(TextIOWrapper(stream, encoding, errors="replace", newline=""), **tabs):
            pass


def run_memory(sizes: Sequence[int] = SIZES) -> list[tuple[str, list[tuple[int, float, float]]]]:
    """For each large format and file size in MB: seconds to convert, and peak memory of all processes in MiB."""
    return [(name, [_converted(name, EXPORTS[name], size) for size in sizes]) for name in LARGE]


def _converted(name: str, export: Export, megabytes: int) -> tuple[int, float, float]:
    written = list(documents(LARGE_MENTIONS))
    numbers = [int(document.id[1:]) for document in written]
    base = [export.record(document) for document in written]
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, f"{name}.{export.suffix}")
        _write(path, export.framed(repeated(base, numbers, megabytes * 1_000_000)))
        del written, base
        return (megabytes, *_watched(["convert", str(path), "-o", str(Path(directory, "documents.jsonl"))]))


def _watched(arguments: list[str]) -> tuple[float, float]:
    """Run homonym; return seconds, and the peak memory of all its processes in MiB."""
    began, peak = time.perf_counter(), 0
    command = [sys.executable, "-m", "homonym", *arguments, "--quiet"]
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                peak = max(peak, _memory(psutil.Process(process.pid)))
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"homonym {' '.join(arguments)} failed")
    return time.perf_counter() - began, peak / (1 << 20)


def _memory(process: psutil.Process) -> int:
    """Memory of a process and all its descendants in bytes; shared memory counts in proportion (PSS)."""
    total = 0
    for member in [process, *process.children(recursive=True)]:
        with suppress(psutil.Error):  # it has just ended
            total += member.memory_full_info().pss
    return total


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| export | MB | mentions | MB/s | µs per mention | cold | times bare parsing | limit | |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]  # fmt: skip
    for row in rows:
        ratio = f"{row.ratio:.1f}" if row.ratio else "–"
        cold = f"{row.per_mention(row.cold):.1f}" if row.cold else "–"
        lines.append(
            f"| {row.name} | {row.bytes / 1e6:.2f} | {row.mentions:,} | {row.rate:.1f} | {row.microseconds:.1f} "
            f"| {cold} | {ratio} | {row.limit} | {'' if row.is_within_limit else 'missed'} |"
        )
    return "\n".join(lines)


def memory_table(rows: list[tuple[str, list[tuple[int, float, float]]]]) -> str:
    """The memory of each format as a Markdown table."""
    columns = [size for size, _, _ in rows[0][1]]
    heads = " | ".join(f"{size:,} MB: MiB | seconds" for size in columns)
    lines = [f"| export | {heads} |", "| --- |" + " ---: |" * 2 * len(columns)]
    for name, sizes in rows:
        cells = " | ".join(f"{memory:,.0f} | {seconds:.0f}" for _, seconds, memory in sizes)
        lines.append(f"| {name} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Run the benchmark that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reading", description="How fast exports are read.")
    parser.add_argument("samples", nargs="?", type=Path, help="a directory with real exports")
    parser.add_argument("--memory", action="store_true", help="measure memory over large files instead")
    given = parser.parse_args()
    if given.memory:
        print(memory_table(run_memory()))
        return
    print(table(run_samples(given.samples) if given.samples else run()))


if __name__ == "__main__":
    main()
