"""Resumed runs: whatever a run was doing when it was killed, the next one reuses its checkpoints, to the same bytes."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from homonym.collection.parts import Chunk, write_documents
from homonym.commands.cluster import cluster
from homonym.commands.disambiguate import disambiguate
from homonym.commands.extract import extract
from homonym.commands.generate import generate
from homonym.commands.result import Summary
from homonym.commands.run import Resources
from homonym.engines import local_checkpoints
from homonym.errors import HomonymError, InputError, OutputError, SettingsError
from homonym.records.parsing.splitting import Raw
from homonym.runtime.checkpoints import Manifest, digest
from homonym.settings import CLUSTERING, EXTRACTION, Settings
from homonym.synthetic.corpus import Corpus
from tests.support.forked import run_forked

# A guard against hanging, not a measurement.
PATIENCE = 120
MENTIONS = 1500

# Small chunks and batches, so that a small corpus has many of them.
SMALL = """
import os, signal
from homonym.collection import counting, encoded
from homonym.engines import local_checkpoints, local
import homonym.io.outputs
local.CHUNK_BYTES, local.SMALL_INPUT, local.BATCH_OCCURRENCES = 1 << 15, 0, 10_000

def killed():
    os.kill(os.getpid(), signal.SIGKILL)

def killed_at(times, function):
    def call(*arguments, **options):
        global times_left
        times_left -= 1
        if times_left == 0:
            killed()
        return function(*arguments, **options)
    global times_left
    times_left = times
    return call
"""
RUN = "\nfrom homonym.cli import main; main()"

# The moment at which a run is killed, as a patch; some moments have parts read or the collection encoded.
MOMENTS = {
    "while reading": "local._PartReader._add = killed_at(5, local._PartReader._add)",
    "between two files of a part": """
def moved(temporary, work):
    part = next(temporary.rglob("*.parquet"))
    (work / part.parent.name).mkdir()
    part.replace(work / part.parent.name / part.name)
    return killed()
local_checkpoints._move_into_place = moved
local.SMALL_INPUT = 1 << 40
""",
    "before a part is in the manifest": """
Manifest = local_checkpoints.Manifest
Manifest.add = killed_at(7, Manifest.add)
local.SMALL_INPUT = 1 << 40
""",
    "while counting": "counting.write_vocabulary = counting.count_features = killed_at(1, None)",
    "before saving the encoded collection": "local_checkpoints.save_encoded = killed_at(1, None)",
    "while clustering": "local.cluster = killed_at(4, local.cluster)",
    "while writing": """
replace = os.replace
homonym.io.outputs.os.replace = lambda a, b: killed() if str(b).endswith("out.csv") else replace(a, b)
""",
}


def run(
    script: str, documents: Path, folder: Path, *options: str, threads: int = 1
) -> subprocess.CompletedProcess[str]:
    arguments = ("disambiguate", documents, "-o", "out.csv", "-q", "--kappa", "7", "--threads", str(threads))
    return run_forked(script, *arguments, *options, cwd=folder)


def results(folder: Path) -> dict[str, bytes]:
    """All outputs of a run except its log, which has times."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    files.pop("out.run.json")
    return files


def log(folder: Path, name: str = "out.run.json") -> dict[str, Any]:
    read: dict[str, Any] = orjson.loads((folder / name).read_bytes())
    return read


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resume")
    packed = generate(folder / "corpus", Corpus(mentions=MENTIONS, seed=5))
    plain = folder / "documents.jsonl"
    lines = gzip.decompress(packed.read_bytes()).splitlines()
    # A record to reject, and a duplicate.
    plain.write_bytes(b"\n".join([*lines[:50], b'{"id": "broken"', lines[7], *lines[50:]]) + b"\n")
    return plain


@pytest.fixture(scope="module")
def expected(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("expected")
    options = ("--rejects", "rejects.jsonl", "--save-statistics", "statistics.csv.gz")
    done = run(SMALL + RUN, documents, folder, *options, threads=2)
    assert done.returncode == 0, done.stderr
    assert not (folder / ".out.csv.work").exists()
    files = results(folder)
    assert len(files) == 5, list(files)
    return {**files, "errors": done.stderr.encode()}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_resumes_a_killed_run_with_the_same_bytes(
    documents: Path, expected: dict[str, bytes], tmp_path: Path, moment: str
) -> None:
    options = ("--rejects", "rejects.jsonl", "--save-statistics", "statistics.csv.gz")
    # Processes that read take long to start, and matter while reading only.
    threads = 2 if moment == "while reading" else 1
    killed = run(SMALL + MOMENTS[moment] + RUN, documents, tmp_path, *options, threads=threads)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (tmp_path / "out.csv").exists()
    done = run(SMALL + RUN, documents, tmp_path, *options)
    assert done.returncode == 0, done.stderr
    assert {**results(tmp_path), "errors": done.stderr.encode()} == expected
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    stages, chunks = log(tmp_path)["stages"], log(tmp_path)["stages"]["read"]["chunks"]
    read, encoded = stages["read"]["reused"], stages["encode"].get("reused", 0)
    assert chunks > 9
    assert stages["cluster"]["batches"] > 5
    if moment == "between two files of a part":
        assert read == 0
    elif moment == "before a part is in the manifest":
        assert read == 6
    elif moment == "while reading":
        assert 4 <= read < chunks
    else:
        assert read == chunks
    assert encoded == (moment in {"while clustering", "while writing"})


# A giant block that is saved after each round, and killed when it is saved for the second time.
GIANT = """
from homonym.clustering import agglomerative
agglomerative.GIANT_BLOCK, local_checkpoints.ROUND_SECONDS, local_checkpoints.ROUND_SHARE = 20, 0.0, 0.0
local.ALONE_PAIRS = 300
"""
SAVED = "local_checkpoints.RoundCheckpoint.save = killed_at(3, local_checkpoints.RoundCheckpoint.save)"


@pytest.mark.slow
def test_a_giant_block_resumes_from_its_last_rounds(documents: Path, tmp_path: Path) -> None:
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    for folder in (whole, resumed):
        folder.mkdir()
    options = ("--trace", "trace.csv")
    assert run(SMALL + GIANT + RUN, documents, whole, *options).returncode == 0
    killed = run(SMALL + GIANT + SAVED + RUN, documents, resumed, *options)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    work = resumed / ".out.csv.work"
    assert list(work.glob("rounds-*.npz"))
    loaded = """
load = local_checkpoints.RoundCheckpoint.load
def watched(self, key):
    found = load(self, key)
    if found is not None:
        open("loaded", "a").write("1")
    return found
local_checkpoints.RoundCheckpoint.load = watched
"""
    done = run(SMALL + GIANT + loaded + RUN, documents, resumed, *options)
    assert done.returncode == 0, done.stderr
    assert (resumed / "loaded").read_text()
    (resumed / "loaded").unlink()
    assert results(resumed) == results(whole)
    assert not work.exists()


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("homonym.engines.local.CHUNK_BYTES", 1 << 15)
    monkeypatch.setattr("homonym.engines.local.BATCH_OCCURRENCES", 10_000)


def run_in_work(documents: Path, folder: Path, settings: Settings, **options: Any) -> dict[str, Any]:
    """Run in the directory `work`, compare with a run without one, and return the stages of the log."""
    resources = Resources(threads=1, work=folder / "work")
    done = disambiguate(documents, folder / "out.csv", settings, resources=resources, **options)
    assert outcome(done) == plain(documents, settings, **options)
    assert (folder / "work" / "run.json").exists()
    stages: dict[str, Any] = log(folder)["stages"]
    return stages


def outcome(done: Summary) -> tuple[Any, ...]:
    return done.output.read_bytes(), done.problems, done.warnings, done.records, done.mentions


PLAIN: dict[str, tuple[Any, ...]] = {}


def plain(documents: Path | list[Path], settings: Settings, **options: Any) -> tuple[Any, ...]:
    """The outcome of a run that reuses nothing."""
    files = [*(documents if isinstance(documents, list) else [documents]), *options.values()]
    key = digest(*((str(file), file.read_bytes()) for file in files), settings)
    if key not in PLAIN:
        with TemporaryDirectory() as folder:
            PLAIN[key] = outcome(
                disambiguate(documents, Path(folder, "out.csv"), settings, resources=Resources(threads=1), **options)
            )
    return PLAIN[key]


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_changed_settings_redo_only_dependent_steps(documents: Path, tmp_path: Path) -> None:
    first = run_in_work(documents, tmp_path, Settings(kappa=7))
    assert (first["read"]["reused"], "seconds" in first["count"]) == (0, True)
    same = run_in_work(documents, tmp_path, Settings(kappa=7))
    assert same["read"]["reused"] == same["read"]["chunks"] == first["read"]["chunks"]
    assert (same["encode"]["reused"], "count" in same) == (1, False)
    for settings in (Settings(kappa=5), Settings(kappa=5, constraints="none")):
        other = run_in_work(documents, tmp_path, settings)
        assert other["read"]["reused"] == other["read"]["chunks"]
        assert other["encode"]["reused"] == 1
    other = run_in_work(documents, tmp_path, Settings(kappa=5, blocking="first-initial"))
    assert other["read"]["reused"] == 0
    assert "count" in other


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_rereads_only_changed_chunks(documents: Path, tmp_path: Path) -> None:
    lines = documents.read_bytes().splitlines(keepends=True)
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(lines))
    chunks = run_in_work(path, tmp_path, Settings(kappa=7))["read"]["chunks"]
    changed = next(line for line in lines[200:] if b'"title":"' in line)
    path.write_bytes(b"".join(lines).replace(changed, changed.replace(b'"title":"', b'"title":"Zebra ', 1)))
    after = run_in_work(path, tmp_path, Settings(kappa=7))
    assert chunks - 2 <= after["read"]["reused"] < chunks
    assert "count" in after
    path.write_bytes(b"".join(lines[:-150]))
    shorter = run_in_work(path, tmp_path, Settings(kappa=7))["read"]
    assert 0 < shorter["reused"] < shorter["chunks"] < chunks
    # Merged copies of documents are parts, too, numbered after the records of the input.
    records = [file for file in (tmp_path / "work" / "records").iterdir() if int(file.stem) < len(lines) - 150]
    assert len(records) == shorter["chunks"] == len(list(Manifest(tmp_path / "work").names("read")))


@pytest.mark.slow
def test_another_order_of_files_is_read_again(documents: Path, tmp_path: Path) -> None:
    lines = documents.read_bytes().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join(lines[:100]))
    (tmp_path / "b.jsonl").write_bytes(b"".join(lines[100:200]))
    paths: Any = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    assert run_in_work(paths, tmp_path, Settings(kappa=7))["read"]["reused"] == 0
    assert run_in_work(paths[::-1], tmp_path, Settings(kappa=7))["read"]["reused"] == 0
    assert run_in_work(paths[::-1], tmp_path, Settings(kappa=7))["read"]["reused"] == 2


@pytest.mark.slow
def test_a_resumed_run_writes_the_same_trace(documents: Path, tmp_path: Path) -> None:
    work = Resources(work=tmp_path / "work")
    settings = Settings(kappa=7)
    disambiguate(documents, tmp_path / "plain.csv", settings, trace=tmp_path / "plain_trace.csv")
    disambiguate(documents, tmp_path / "a.csv", settings, resources=work)
    disambiguate(documents, tmp_path / "b.csv", settings, trace=tmp_path / "trace.csv", resources=work)
    assert log(tmp_path, "b.run.json")["stages"]["encode"]["reused"] == 1
    assert (tmp_path / "trace.csv").read_bytes() == (tmp_path / "plain_trace.csv").read_bytes()


@pytest.mark.slow
def test_pairs_apply_to_a_resumed_run(documents: Path, tmp_path: Path) -> None:
    run_in_work(documents, tmp_path, Settings(kappa=7))
    rows = (tmp_path / "out.csv").read_text().splitlines()[1:]
    first, second = (row.split(",")[0].strip('"') for row in rows[:2])
    (tmp_path / "pairs.csv").write_text(f"mention_a,mention_b,relation\n{first},{second},different\n")
    assert run_in_work(documents, tmp_path, Settings(kappa=7), pairs=tmp_path / "pairs.csv")["encode"]["reused"] == 1


@pytest.mark.slow
def test_given_statistics_are_part_of_the_key_of_the_encoding(documents: Path, tmp_path: Path) -> None:
    given = tmp_path / "given.csv"
    disambiguate(documents, tmp_path / "first.csv", Settings(kappa=7), save_statistics=given)
    assert run_in_work(documents, tmp_path, Settings(kappa=7), statistics=given)["encode"].get("reused") is None
    assert run_in_work(documents, tmp_path, Settings(kappa=7), statistics=given)["encode"]["reused"] == 1
    lines = given.read_text().splitlines()
    given.write_text("\n".join(lines[:-5]) + "\n")
    after = run_in_work(documents, tmp_path, Settings(kappa=7), statistics=given)
    assert after["encode"].get("reused") is None
    run_in_work(
        documents, tmp_path, Settings(kappa=7), statistics=given
    )  # which warns of the features that are missing


@pytest.mark.slow
def test_reuses_parts_of_mention_files_and_tables(documents: Path, tmp_path: Path) -> None:
    lines, table = tmp_path / "mentions.jsonl", tmp_path / "mentions.parquet"
    work = Resources(work=tmp_path / "work")
    extract(documents, lines, resources=work)
    extract(documents, table, resources=work)
    plain = extract(documents, tmp_path / "plain.parquet")
    assert table.read_bytes() == plain.output.read_bytes()
    assert log(tmp_path, "mentions.run.json")["stages"]["encode"]["reused"] == 1
    half = len(lines.read_bytes().splitlines()) // 2
    lines.write_bytes(b"".join(line for line in lines.read_bytes().splitlines(keepends=True)[:half]))
    pq.write_table(pq.read_table(table).slice(half), table)
    for known in (False, True):
        done = cluster([lines, table], tmp_path / "out.csv", Settings(kappa=7), resources=work)
        read = log(tmp_path)["stages"]["read"]
        assert read["reused"] == (read["chunks"] if known else 0)
        assert done.mentions == plain.mentions
    expected = (tmp_path / "out.csv").read_bytes()
    cluster([lines, table], tmp_path / "out.csv", Settings(kappa=7))
    assert (tmp_path / "out.csv").read_bytes() == expected
    pq.write_table(pq.read_table(table).slice(5), table)
    cluster([lines, table], tmp_path / "out.csv", Settings(kappa=7), resources=work)
    assert log(tmp_path)["stages"]["read"]["reused"] == read["chunks"] - 1
    assert (tmp_path / "out.csv").read_bytes() != expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failure", "says"),
    [
        (
            partial(OSError, 28, "No space left on device"),
            "not enough memory or disk space to work in .*No space left on device.* --work",
        ),
        (MemoryError, "memory of this machine is exhausted"),
        (KeyboardInterrupt, None),
    ],
)
@pytest.mark.parametrize("place", ["homonym.collection.encoded._write_bags", "homonym.engines.local.cluster"])
def test_keeps_checkpoints_after_machine_failures(
    documents: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    failure: Callable[[], BaseException],
    says: str | None,
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise failure()

    def go() -> Summary:
        return disambiguate(documents, tmp_path / "out.csv", Settings(kappa=7), resources=Resources(threads=2))

    with monkeypatch.context() as patch:
        patch.setattr(place, fails)
        with pytest.raises((HomonymError, KeyboardInterrupt), match=says) as ended:
            go()
    (note,) = ended.value.__notes__
    assert note == (
        f"Finished work is kept in {tmp_path / '.out.csv.work'}: the same command resumes there, or delete it."
    )
    assert [path.name for path in tmp_path.iterdir()] == [".out.csv.work"]
    left = log(tmp_path / ".out.csv.work", "run.json")
    assert not left["finished"]
    assert left["stages"]["read"]["chunks"] > 0
    go()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.run.json", "out.settings.toml"]
    now = log(tmp_path)
    assert now["finished"]
    assert [run["stages"]["read"]["reused"] for run in now["earlier"]] == [0]
    assert now["stages"]["read"]["reused"] == now["stages"]["read"]["chunks"]


@pytest.mark.slow
def test_removes_little_work_after_a_user_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "1", "title": "Coins", "authors": [{"name": "Doe, J"}]}\n')
    wrong = Settings(weights={"shoe": 1.0})
    with pytest.raises(SettingsError):
        disambiguate(source, tmp_path / "out.csv", wrong)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    monkeypatch.setattr("homonym.runtime.work_directory.WORTH_KEEPING", 100)
    with pytest.raises(SettingsError) as mistake:
        disambiguate(source, tmp_path / "out.csv", wrong)
    assert "is kept in" in mistake.value.__notes__[0]
    disambiguate(source, tmp_path / "out.csv")
    assert log(tmp_path)["stages"]["encode"]["reused"] == 1


def test_a_resumed_strict_run_fails_the_same_way(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "1", "title": "Coins", "authors": [{"name": "Doe, J"}]}\n{"id"\n')
    for _ in range(2):
        with pytest.raises(InputError, match="line 2"):
            disambiguate(source, tmp_path / "out.csv", strict=True, resources=Resources(work=tmp_path / "work"))
    done = disambiguate(source, tmp_path / "out.csv", resources=Resources(work=tmp_path / "work"))
    assert len(done.problems) == 1


@pytest.mark.slow
def test_refuses_two_runs_in_one_directory(documents: Path, tmp_path: Path) -> None:
    def listener_run() -> None:
        with pytest.raises(OutputError, match=rf"out\.csv\.work is in use by another run \(process {os.getpid()}\)"):
            disambiguate(documents, tmp_path / "out.csv", Settings(kappa=7))
        refused.append(True)

    class Second:
        """Starts another run while the first one reads."""

        def begin(self, stage: str, total: int | None) -> None:
            if stage == "read":
                listener_run()

        def advance(self, amount: int) -> None: ...

        def end(self) -> None: ...

    refused: list[bool] = []
    disambiguate(documents, tmp_path / "out.csv", Settings(kappa=7), listener=Second())
    assert refused == [True]


def test_every_setting_of_extraction_is_part_of_the_key_of_a_part() -> None:
    """A setting that is missing from the key would let a run reuse parts that were made with other settings."""
    changes: dict[str, Any] = {
        "blocking": "initials", "coauthor_names": "initials", "affiliation_level": "whole",
        "year_sigma": 3.0, "year_reach": 3, "title_weight": 2, "abstract_weight": 0,
        "language": "de", "variant": "max", "joint": True, "scope": "within", "epsilon": 0.1, "gamma": 0.5,
        "chance_limit": 2.0, "weights": "uniform", "name_trust": 0.5, "background": "on", "alpha": 0.1,
        "beta": 0.1, "kappa": 3.0,
    }  # fmt: skip
    others = {"target_precision", "constraints", "identifiers"}
    assert set(changes) | others == set(Settings.model_fields) == {*EXTRACTION, *CLUSTERING}
    chunk = Chunk("in.jsonl", 0, [Raw(1, b"{}")])

    def key(settings: Settings) -> str:
        return local_checkpoints.chunk_key(chunk, settings, write_documents, strict=False)

    for name, value in changes.items():
        assert (key(Settings(**{name: value})) != key(Settings())) == (name in EXTRACTION), name


@pytest.mark.parametrize(
    "other",
    [
        Chunk("other.jsonl", 0, [Raw(1, b"ab"), Raw(2, b"c")]),
        Chunk("in.jsonl", 1, [Raw(1, b"ab"), Raw(2, b"c")]),
        Chunk("in.jsonl", 0, [Raw(1, b"a"), Raw(2, b"bc")]),
        Chunk("in.jsonl", 0, [Raw(1, b"ab"), Raw(3, b"c")]),
        Chunk("in.jsonl", 0, [Raw(1, b"ab"), Raw(2, b"d")]),
        Chunk("in.jsonl", 0, [Raw(1, b"ab"), Raw(2, b"c", "too long")]),
        Chunk("in.jsonl", 0, [Raw(1, b"ab")]),
        Chunk("in.jsonl", 0, [Raw(1, b"ab"), Raw(2, b"c")], form="ris"),
        Chunk("in.jsonl", 0, [Raw(1, b"ab"), Raw(2, b"c")], context=("a",)),
        Chunk("in.jsonl", 0, [Raw(1, b"ab"), Raw(2, b"c")], unit="record"),
    ],
)
def test_the_whole_chunk_is_part_of_its_key(other: Chunk) -> None:
    def key(chunk: Chunk, **options: Any) -> str:
        return local_checkpoints.chunk_key(chunk, Settings(), **{"writer": write_documents, "strict": False, **options})

    usual = Chunk("in.jsonl", 0, [Raw(1, b"ab"), Raw(2, b"c")])
    assert key(usual) == key(Chunk("in.jsonl", 0, [Raw(1, b"ab"), Raw(2, b"c")]))
    assert key(other) != key(usual)
    assert len({key(usual), key(usual, strict=True), key(usual, writer=local_checkpoints.find_part)}) == 3


def test_which_records_are_broken_and_why_is_part_of_the_key() -> None:
    reasons = [("", ""), ("long", ""), ("", "long"), ("long", "long"), ("deep", "")]
    chunks = [Chunk("in.jsonl", 0, [Raw(1, b"ab", first), Raw(2, b"c", second)]) for first, second in reasons]
    keys = {local_checkpoints.chunk_key(chunk, Settings(), write_documents, strict=False) for chunk in chunks}
    assert len(keys) == len(reasons)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("in.csv", 'id,authors,year,title\nk1,"Doe, J; Roe, R",2014,On coins\n'),
        ("in.ris", "TY  - JOUR\nAU  - Doe, Jane\nTI  - On coins\nPY  - 2014\nER  - \n"),
        ("in.tsv", "PT\tAU\tAF\tTI\tUT\tPY\nJ\tDoe, J\tDoe, Jane\tOn coins\tWOS:1\t2014\n"),
    ],
)
def test_keys_are_the_same_in_another_process(tmp_path: Path, name: str, text: str) -> None:
    """The context that parses a table is part of the key, so it must be the same in each process."""
    (tmp_path / name).write_text(text)
    command = [sys.executable, "-c", RUN, "convert", name, "-o", "out.jsonl", "--work", "work", "-q"]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, env=environment)
        assert done.returncode == 0, done.stderr
    assert log(tmp_path)["stages"]["read"] | {"reused": 1, "chunks": 1} == log(tmp_path)["stages"]["read"]
