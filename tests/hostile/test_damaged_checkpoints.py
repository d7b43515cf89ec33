"""Damaged checkpoints: whatever happens to a file in the work directory, the next run ends with the same bytes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from homonym.collection.parts import Chunk, write_documents
from homonym.commands.disambiguate import disambiguate
from homonym.commands.generate import generate
from homonym.commands.result import Summary
from homonym.commands.run import Resources
from homonym.engines import local_checkpoints
from homonym.errors import OutputError
from homonym.records.parsing.splitting import Raw
from homonym.runtime import versions
from homonym.runtime.checkpoints import Manifest, write_with_digest
from homonym.settings import Settings
from homonym.synthetic.corpus import Corpus

pytestmark = pytest.mark.usefixtures("small_chunks")


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("homonym.engines.local.CHUNK_BYTES", 1 << 14)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("corpus"), Corpus(mentions=300, seed=5))


def run(documents: Path, folder: Path) -> Summary:
    """Run in the directory `work`; a given limit saves the calibration."""
    return disambiguate(
        documents, folder / "out.csv", Settings(kappa=7),
        resources=Resources(threads=1, work=folder / "work"), save_statistics=folder / "saved.csv",
    )  # fmt: skip


@pytest.fixture(scope="module")
def finished(documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run, with its work directory."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("homonym.engines.local.CHUNK_BYTES", 1 << 14)
        run(documents, folder)
    assert len(list((folder / "work" / "records").iterdir())) > 3
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of the folder of a finished run."""
    shutil.copytree(finished, tmp_path / "copy")
    return tmp_path / "copy"


def outputs(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("out.csv", "saved.csv", "saved.collection.json")}


def reused(folder: Path) -> tuple[bool, bool]:
    """Whether all chunks and whether the encoded collection were reused."""
    stages = orjson.loads((folder / "out.run.json").read_bytes())["stages"]
    return stages["read"]["reused"] == stages["read"]["chunks"], stages["encode"].get("reused", 0) == 1


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def directory_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link_instead(path: Path) -> None:
    kept = path.parents[1] / f"kept-{path.name}"
    path.rename(kept)
    path.symlink_to(kept)


def pipe_instead(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def swap(path: Path) -> None:
    """Exchange two files of the same folder; both are whole, but in the wrong place."""
    others = (file for file in sorted(path.parent.iterdir()) if file.suffix in {".npy", ".bin", path.suffix})
    other = next(file for file in others if file != path)
    content = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(content)


DAMAGE = [zero, cut, append, empty, Path.unlink, directory_instead, link_instead, pipe_instead, swap]
FILES = [
    "done/read/*.json", "done/encoded.json", "records/*.parquet", "bags/*.parquet", "features/*.parquet", "feature.bin",
    "count.bin", "mention_owner.npy", "frequencies.total.npy", "mentions.parquet", "identifiers.parquet",
    "statistics.csv", "statistics.collection.json",
]  # fmt: skip


@pytest.mark.slow
def test_an_undamaged_copy_is_reused(documents: Path, finished: Path, folder: Path) -> None:
    assert run(documents, folder).warnings == []
    assert outputs(folder) == outputs(finished)
    assert reused(folder) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("what", FILES)
def test_makes_a_changed_checkpoint_again(documents: Path, finished: Path, folder: Path, what: str) -> None:
    flip_a_bit(sorted((folder / "work").glob(what))[-1])
    (warning,) = run(documents, folder).warnings
    assert "work had 1 damaged checkpoint, made again in this run; the first: " in warning
    assert outputs(folder) == outputs(finished)
    assert reused(folder) == ((False, True) if "/*" in what else (True, False))


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("what", ["done/read/*.json", "bags/*.parquet", "count.bin", "owners.npy"])
def test_survives_any_damage(
    documents: Path, finished: Path, folder: Path, what: str, damage: Callable[[Path], None]
) -> None:
    file = sorted((folder / "work").glob(what))[-1]
    damage(file)
    run(documents, folder)
    assert outputs(folder) == outputs(finished)
    assert reused(folder) != (True, True)


def test_a_checkpoint_that_was_made_again_is_whole(documents: Path, finished: Path, folder: Path) -> None:
    for what in FILES:
        zero(sorted((folder / "work").glob(what))[-1])
    run(documents, folder)
    assert reused(folder) == (False, False)
    assert run(documents, folder).warnings == []
    assert outputs(folder) == outputs(finished)
    assert reused(folder) == (True, True)


def test_warns_of_all_damaged_parts_at_once(documents: Path, finished: Path, folder: Path) -> None:
    for file in (folder / "work" / "bags").iterdir():
        flip_a_bit(file)
    (warning,) = run(documents, folder).warnings
    parts = len(list((folder / "work" / "records").iterdir()))
    assert f"work had {parts} damaged checkpoints, made again in this run; the first: bags/" in warning
    assert outputs(folder) == outputs(finished)


def test_warning_names_the_directory_of_the_user_not_a_link_to_it(documents: Path, folder: Path) -> None:
    odd = folder.rename(folder.with_name("odd [1]"))
    flip_a_bit(sorted((odd / "work" / "bags").iterdir())[0])
    (warning,) = run(documents, odd).warnings
    assert warning.startswith(f"{odd / 'work'} had 1 damaged checkpoint")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("what", FILES)
def test_an_unreadable_checkpoint_is_made_again(documents: Path, finished: Path, folder: Path, what: str) -> None:
    sorted((folder / "work").glob(what))[-1].chmod(0)
    assert len(run(documents, folder).warnings) == 1
    assert outputs(folder) == outputs(finished)


def test_a_directory_with_files_in_place_of_a_checkpoint_is_refused(documents: Path, folder: Path) -> None:
    directory_instead(folder / "work" / "feature.bin")
    (folder / "work" / "feature.bin" / "mine").touch()
    with pytest.raises(OutputError, match=r"feature\.bin is a directory, but homonym keeps a file of that name"):
        run(documents, folder)
    assert (folder / "work" / "feature.bin" / "mine").exists()


@pytest.mark.slow
def test_entries_of_another_run_are_not_used(
    documents: Path, finished: Path, folder: Path, tmp_path: Path
) -> None:  # fmt: skip
    """Another corpus, read in the same way: its entries and files have the same names."""
    (tmp_path / "other").mkdir()
    run(generate(tmp_path / "others", Corpus(mentions=300, seed=6)), tmp_path / "other")
    shutil.rmtree(folder / "work" / "done")
    shutil.copytree(tmp_path / "other" / "work" / "done", folder / "work" / "done")
    run(documents, folder)
    assert outputs(folder) == outputs(finished)
    assert reused(folder) == (False, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "facts",
    [
        {"report": {}}, {"report": {"unknown": 1}}, {}, {"report": None}, {"encoded": {}},
        {"encoded": {"feature": {"mapped": "nowhere.bin", "dtype": "<i4"}}, "duplicates": [0, []], "missing": 0},
    ],
)  # fmt: skip
def test_an_entry_that_cannot_be_loaded_is_made_again(
    documents: Path, finished: Path, folder: Path, facts: dict[str, object]
) -> None:
    """Entries with the right key and a valid digest, but other facts, such as an older version might have written."""
    work = folder / "work"
    for entry in (sorted((work / "done" / "read").iterdir())[1], work / "done" / "encoded.json"):
        values = orjson.loads(entry.read_bytes().partition(b"\n")[2])
        write_with_digest(entry, orjson.dumps({**values, "facts": facts}))
    assert len(run(documents, folder).warnings) == 2
    assert outputs(folder) == outputs(finished)


@pytest.mark.parametrize(
    "entry", [b"[]", b"null", b"{}", b"not JSON", b'{"key": "key", "files": {"a": 3}, "facts": {}}']
)
def test_an_entry_of_another_shape_counts_as_absent(tmp_path: Path, entry: bytes) -> None:
    damaged: list[str] = []
    manifest = Manifest(tmp_path, damaged.append)
    (tmp_path / "a").write_bytes(b"123")
    write_with_digest(tmp_path / "done" / "encoded.json", entry)
    assert manifest.load("encoded", "key", dict) is None
    assert len(damaged) == 1


def test_a_file_is_on_the_disk_before_its_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of a checkpoint: content of the files, their names, the entry, its name."""
    synced: list[str] = []
    sync = os.fsync

    def record(number: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{number}")).relative_to(tmp_path).as_posix())
        sync(number)

    (tmp_path / "bags").mkdir()
    (tmp_path / "bags" / "1").write_bytes(b"1")
    monkeypatch.setattr(os, "fsync", record)
    Manifest(tmp_path).add("read/1", "key", {}, ["bags/1"])
    assert synced[:3] == ["bags/1", ".", "bags"]
    assert synced[-2].endswith(".partial")
    assert synced[-1] == "done/read"


@pytest.mark.slow
@pytest.mark.parametrize("small", [True, False])
def test_a_small_run_does_not_wait_for_the_disk_and_its_checkpoints_count(
    documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: bool
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.readlink(f"/proc/self/fd/{number}")))
    if not small:
        monkeypatch.setattr("homonym.engines.local.SMALL_INPUT", 0)
    run(documents, tmp_path)
    names = {Path(path).relative_to(tmp_path / "work").name for path in synced if "/work/" in path}
    assert {"feature.bin", "bags", "read"}.isdisjoint(names) == small
    run(documents, tmp_path)
    assert reused(tmp_path) == (True, True)


@pytest.mark.parametrize("changed", [name for name, _ in versions.library_versions()])
def test_versions_of_libraries_are_part_of_every_key(
    documents: Path, monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    chunk = Chunk("in.jsonl", 0, [Raw(1, b"{}")])

    def keys() -> list[str]:
        return [
            local_checkpoints.chunk_key(chunk, Settings(), write_documents, strict=False),
            local_checkpoints.table_key(documents, 0),
            local_checkpoints.encoding_key(["a"], None),
        ]

    before = keys()
    known = versions.library_versions()
    other = tuple((name, "99" if name == changed else version) for name, version in known)
    monkeypatch.setattr(local_checkpoints, "library_versions", lambda: other)
    assert not set(before) & set(keys())


def test_another_version_of_a_library_reuses_nothing(
    documents: Path, finished: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_checkpoints, "library_versions", lambda: (("duckdb", "99"),))
    assert run(documents, folder).warnings == []
    assert outputs(folder) == outputs(finished)
    assert reused(folder) == (False, False)


def test_versions_cover_every_library_that_shapes_results() -> None:
    """All dependencies, except those that only show results or count cores."""
    text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text()
    required = text.partition("dependencies = [")[2].partition("]")[0]
    names = {line.strip().strip('",').partition(">")[0] for line in required.splitlines() if line.strip()}
    assert names - {"click", "jinja2", "matplotlib", "psutil", "rich"} <= set(versions.LIBRARIES)
    assert all(version for name, version in versions.library_versions() if name != "scikit-learn")
