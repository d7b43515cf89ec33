"""Directories that other users of a machine can write to: nothing in them is run as code or changed."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from homonym.clustering import compiling
from homonym.engines.spark import cluster_tasks
from homonym.engines.spark.session import packed_source, shipped
from tests.support.forked import run_forked

# A guard against hanging, not a measurement.
PATIENCE = 120

needs_spark = pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed")

WORKER = """
import pickle, sys
from pyspark import cloudpickle
task = cloudpickle.loads(sys.stdin.buffer.read())
import pyarrow as pa
[batch] = task(iter([pa.record_batch({"type": ["a"], "feature": ["x"], "count": [0.5], "holders": [3]})]))
import homonym
assert batch.to_pylist() == [{"type": "a", "feature": "x", "count": 1.5}]
print(homonym.__file__)
"""
EVIL = "import pathlib, os; pathlib.Path(os.environ['TMPDIR'], 'evil').touch()\n"


def run_python(code: str, folder: Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run code in a Python that has all libraries but not homonym; its temporary files are in a folder."""
    # Of a directory in PYTHONPATH only the packages count, not the .pth file that names the source of this checkout.
    python = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    environment = {"PYTHONPATH": sysconfig.get_path("purelib"), "TMPDIR": str(folder), "PATH": os.environ["PATH"]}
    command = [str(python), "-c", code]
    return subprocess.run(command, input=given, env=environment, capture_output=True, timeout=PATIENCE)


def run_worker(folder: Path) -> Path:
    """Run a task as a worker without homonym does; returns the folder of the source that it used."""
    from pyspark import cloudpickle

    shipment: Any = shipped("homonym.engines.spark.spark_counting:exact_sums")
    task: bytes = cloudpickle.dumps(shipment)  # type: ignore[no-untyped-call]
    done = run_python(WORKER, folder, task)
    assert done.returncode == 0, done.stderr.decode()
    return Path(done.stdout.decode().strip()).parents[1]


def place_of_source(folder: Path) -> Path:
    return folder / f"homonym-source-{os.geteuid()}-{packed_source()[1][:16]}"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source as a worker has unpacked it."""
    folder = tmp_path_factory.mktemp("unpacked")
    assert run_worker(folder) == place_of_source(folder)
    return place_of_source(folder)


def extra_module(place: Path) -> None:
    (place / "sitecustomize.py").write_text(EVIL)
    (place / "numpy.py").write_text(EVIL)
    (place / "pyarrow").mkdir()
    (place / "pyarrow" / "__init__.py").write_text(EVIL)


def extra_module_in_the_package(place: Path) -> None:
    (place / "homonym" / "orjson.py").write_text(EVIL)


def changed_module(place: Path) -> None:
    with (place / "homonym" / "errors.py").open("a") as stream:
        stream.write(EVIL)


def missing_module(place: Path) -> None:
    (place / "homonym" / "errors.py").unlink()


def open_to_all(place: Path) -> None:
    place.chmod(0o777)


def open_folder(place: Path) -> None:
    (place / "homonym" / "engines").chmod(0o777)


def open_byte_code(place: Path) -> None:
    next((place / "homonym").rglob("*.pyc")).chmod(0o666)


def link(place: Path) -> None:
    place.rename(place.with_name("elsewhere"))
    place.symlink_to("elsewhere")


def linked_package(place: Path) -> None:
    (place / "homonym").rename(place.with_name("elsewhere"))
    (place / "homonym").symlink_to("../elsewhere")


def other_owner(place: Path) -> None:
    os.chown(place, 12345, 12345)


def file_of_other_owner(place: Path) -> None:
    os.chown(next((place / "homonym").rglob("*.pyc")), 12345, 12345)


ATTACKS = [
    extra_module, extra_module_in_the_package, changed_module, missing_module, open_to_all, open_folder, open_byte_code,
    link, linked_package, other_owner, file_of_other_owner,
]  # fmt: skip


@pytest.mark.slow
@needs_spark
def test_a_worker_without_homonym_unpacks_the_source_for_this_user_only_and_uses_it_again(unpacked: Path) -> None:
    assert b"No module named 'homonym'" in run_python("import homonym", unpacked.parent).stderr
    assert stat.S_IMODE(unpacked.stat().st_mode) == 0o700
    assert list(unpacked.rglob("*.pyc"))
    assert run_worker(unpacked.parent) == unpacked
    assert list(unpacked.parent.iterdir()) == [unpacked]


@needs_spark
@pytest.mark.parametrize(
    "attack", [ATTACKS[0], *(pytest.param(attack, marks=pytest.mark.slow) for attack in ATTACKS[1:])]
)
def test_a_worker_does_not_run_what_others_could_have_written(
    unpacked: Path, tmp_path: Path, attack: Callable[[Path], None]
) -> None:
    if attack in {other_owner, file_of_other_owner} and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    place = place_of_source(tmp_path)
    shutil.copytree(unpacked, place)
    attack(place)
    used = run_worker(tmp_path)
    assert used != place
    assert used.parent == tmp_path
    assert stat.S_IMODE(used.stat().st_mode) == 0o700
    assert not (tmp_path / "evil").exists()


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the file that marks the kernel as compiled."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    cluster_tasks._marker().close()
    (path,) = tmp_path.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.unlink()
    return path


def test_a_planted_marker_is_not_written_to(marker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link named as the marker used to get a line appended to its target."""
    (tmp_path / "bashrc").write_text("mine")
    monkeypatch.setattr(cluster_tasks, "_cluster_example", lambda: None)

    def pipe() -> None:
        os.mkfifo(marker)

    attacks: list[Callable[[], Any]] = [
        lambda: marker.symlink_to("bashrc"),
        lambda: marker.hardlink_to(tmp_path / "bashrc"),
        pipe,
    ]
    for attack in attacks:
        attack()
        cluster_tasks.warm_up.__wrapped__()
        with pytest.raises(OSError, match=r"not a file of this user|Too many levels"):
            cluster_tasks._marker()
        marker.unlink()
    marker.mkdir()
    cluster_tasks.warm_up.__wrapped__()
    assert (tmp_path / "bashrc").read_text() == "mine"


KERNEL = """
from homonym.clustering.compiling import compiled
@compiled
def twice(number):
    return 2 * number
assert twice(3) == 6
stats = getattr(twice, "stats")
print(stats.cache_path, sum(stats.cache_hits.values()))
"""
# As if NUMBA_CACHE_DIR were set when numba is imported.
USE_KERNEL = """
import sys, numba
sys.path.insert(0, sys.argv[1])
numba.config.CACHE_DIR = sys.argv[2]
import kernel
"""


def compile_kernel(folder: Path, cache: Path | None = None) -> tuple[str, int]:
    """Compile a small function in a process of its own; returns the directory of its cache and the hits in it."""
    (folder / "kernel").mkdir(exist_ok=True)
    if not (folder / "kernel" / "kernel.py").exists():
        (folder / "kernel" / "kernel.py").write_text(KERNEL)
    done = run_forked(USE_KERNEL, folder / "kernel", str(cache or ""))
    assert done.returncode == 0, done.stderr
    place, _, hits = done.stdout.strip().rpartition(" ")
    return place, int(hits)


PICKLE = b"cposix\nsystem\n(S'touch %s'\ntR."


def plant(folder: Path) -> Path:
    """Replace the index of cached machine code by a pickle that runs a command; returns the file that it creates."""
    (index,) = folder.glob("*.nbi")
    index.unlink()
    index.write_bytes(PICKLE % str(folder.parent / "evil").encode())
    return folder.parent / "evil"


def directory_of_all_users(folder: Path) -> Path:
    """A directory in which every user may create files, as in /tmp."""
    cache = folder / "cache"
    cache.mkdir()
    cache.chmod(0o1777)
    return cache


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_machine_code_is_cached_for_this_user(tmp_path: Path, shared: bool) -> None:
    cache = directory_of_all_users(tmp_path) if shared else None
    place, hits = compile_kernel(tmp_path, cache)
    assert hits == 0
    assert compile_kernel(tmp_path, cache) == (place, 1)
    if shared:
        assert stat.S_IMODE(Path(place).stat().st_mode) == 0o700


@pytest.mark.slow
def test_a_planted_index_would_be_run(tmp_path: Path) -> None:
    """Shows that the attack of the next test works, where nothing prevents it."""
    place, _ = compile_kernel(tmp_path)
    evil = plant(Path(place))
    compile_kernel(tmp_path)
    assert evil.exists()


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False])
def test_machine_code_that_others_could_have_written_is_not_loaded(tmp_path: Path, shared: bool) -> None:
    cache = directory_of_all_users(tmp_path) if shared else None
    place = Path(compile_kernel(tmp_path, cache)[0])
    evil = plant(place)
    place.chmod(0o777)
    assert compile_kernel(tmp_path, cache)[1] == 0
    assert not evil.exists()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("what", ["folder", "file"])
def test_machine_code_of_another_user_is_not_loaded(tmp_path: Path, shared: bool, what: str) -> None:
    cache = directory_of_all_users(tmp_path) if shared else None
    place = Path(compile_kernel(tmp_path, cache)[0])
    evil = plant(place)
    os.chown(place if what == "folder" else next(place.glob("*.nbi")), 12345, 12345)
    assert compile_kernel(tmp_path, cache)[1] == 0
    assert not evil.exists()


@pytest.mark.slow
def test_a_cache_directory_that_others_can_replace_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    for _ in range(2):
        assert compile_kernel(tmp_path, tmp_path / "cache") == ("None", 0)


@pytest.mark.slow
def test_a_linked_cache_directory_is_not_used(tmp_path: Path) -> None:
    place = Path(compile_kernel(tmp_path, tmp_path / "cache")[0])
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert compile_kernel(tmp_path, tmp_path / "cache") == ("None", 0)


def test_the_own_group_may_write_to_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many systems give each user a group and let it write; the cache must work there."""
    source = tmp_path / "kernel.py"
    file = tmp_path / "cached"
    for path in (source, file):
        path.touch()
    tmp_path.chmod(0o755)
    file.chmod(0o664)
    assert compiling._is_safe(file, source)
    group = file.stat().st_gid + 1
    monkeypatch.setattr("os.getegid", lambda: group)
    assert not compiling._is_safe(file, source)
    tmp_path.chmod(0o775)
    assert compiling._is_safe(file, source)
    assert not compiling._is_safe_cache(tmp_path / "missing", SimpleNamespace(parent=tmp_path / "other"))  # type: ignore[arg-type]
