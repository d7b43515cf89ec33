"""The Spark session of a run: opened or found, its failures as messages, and how functions reach the workers.

Workers need not have homonym installed: its source travels with each function. A worker that has the same source
installed uses that. Otherwise the source is unpacked once on each machine, next to it the compiled kernel. Not
`addArtifacts(pyfile=True)` or `addPyFile`: Spark puts such files into a new folder for every application, so that every
run would compile the kernel again on every machine (40 CPU seconds), and they cannot be removed from a user's session.

The place of the unpacked source has a name that other users of a machine can guess. So it is used only if it belongs to
this user, other users cannot change it, and it has exactly the files that were sent.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import os
import pickle
import re
import shutil
import socket
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow as pa

from homonym.errors import HomonymError, InputError, SettingsError, first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTALL = "pip install 'pyspark>=4.1,<5' 'pandas>=2.2,<3'"
# Seconds to wait for an answer of a master.
SECONDS_TO_ANSWER = 5.0
# Options of a session that we start: homonym itself shows progress and problems.
QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}

Batches = Iterator[pa.RecordBatch]


@contextmanager
def open_session(master: str | None) -> Iterator[SparkSession]:
    """The active session, which stays open, or a new one at a master, which ends with the run."""
    _require_spark(master)
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    with failures_as_messages("no Spark session can be started"):
        started = _start(master)
    try:
        yield started
    finally:
        started.stop()


@contextmanager
def failures_as_messages(context: str = "Spark could not finish the run") -> Iterator[None]:
    """Turn an exception of Spark into one sentence; a message of homonym in a task stays as it is."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as broken:
        raise _as_message(str(broken), context) from broken
    except Exception as broken:
        # A Connect client may have no py4j, so its error classes cannot be imported here.
        if type(broken).__module__.partition(".")[0] not in {"py4j", "grpc"}:
            raise
        raise _as_message(str(broken), context) from broken


@contextmanager
def changed_settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session while the block runs."""
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, former in before.items():
            if former is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, former)


def _require_spark(master: str | None) -> None:
    if importlib.util.find_spec("pyspark") is None:
        raise SettingsError(f"the Spark engine needs pyspark, which is not installed; {INSTALL} brings it.")
    if importlib.util.find_spec("pandas") is None:
        raise SettingsError(f"pyspark needs pandas, which is not installed; {INSTALL} brings both.")
    is_remote = master is not None and master.startswith("sc://")
    if not is_remote and not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise SettingsError("the Spark engine needs Java 17 or later, and there is none; install it or set JAVA_HOME.")
    if master is not None and master.startswith(("spark://", "sc://")):
        _require_answer(master)


def _require_answer(master: str) -> None:
    """Fail early if the master cannot be reached: Spark itself would try for a minute and print a page."""
    for place in master.partition("://")[2].partition("/")[0].split(","):
        found = urlsplit(f"//{place.partition(';')[0]}")
        try:
            port = found.port or (7077 if master.startswith("spark") else 15002)
            socket.create_connection((found.hostname or "", port), SECONDS_TO_ANSWER).close()
        except (OSError, ValueError):
            continue
        return
    raise SettingsError(f"no answer from {master}; check --master and whether Spark runs there.")


def _start(master: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("homonym")
    if master is not None and master.startswith("sc://"):
        return builder.remote(master).getOrCreate()
    for name, value in QUIET.items():
        builder = builder.config(name, value)
    if master is not None:
        builder = builder.master(master)
    if master is not None and master.startswith("local"):
        # Workers on this machine use this Python, which has all they need, unless the user says otherwise.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return builder.getOrCreate()


def _as_message(text: str, context: str) -> HomonymError:
    """The message of homonym that a task failed with, else the first line of Spark's.

    >>> print(_as_message("An exception\\nhomonym.errors.InputError: a.ris is empty.\\n", "Spark failed"))
    a.ris is empty.
    >>> print(_as_message("[PATH] not found\\n\\tat org.apache", "Spark failed"))
    Spark failed: [PATH] not found.
    """
    own = re.findall(r"^homonym\.errors\.\w+: (.+)$", text, flags=re.MULTILINE)
    if own:
        return InputError(own[-1])
    python = re.findall(r"^(\w[\w.]*(?:Error|Exception): .+)$", text, flags=re.MULTILINE)
    caused = re.findall(r"^Caused by: (.+)$", text, flags=re.MULTILINE)
    reason = (python or caused or [first_line(Exception(text.strip()))])[-1].strip().rstrip(".")
    return HomonymError(f"{context}: {reason}.")


def shipped(task: str, **arguments: Any) -> Callable[[Batches], Batches]:
    """A function for `mapInArrow` that calls `module:function` of homonym on a worker, with these arguments."""
    source, digest = packed_source()
    module, _, name = task.partition(":")
    # Pickled here and not by Spark: a worker cannot unpickle them before it has the source.
    pickled = pickle.dumps(arguments)

    def run(batches: Batches) -> Batches:
        # Self-contained: Spark sends this function without its module.
        import importlib
        import importlib.util
        import io
        import os
        import pickle
        import shutil
        import stat
        import sys
        import tempfile
        import zipfile
        from pathlib import Path

        def has_source(folder: str) -> bool:
            try:
                with zipfile.ZipFile(io.BytesIO(source)) as archive:
                    return all(Path(folder, file).read_bytes() == archive.read(file) for file in archive.namelist())
            except OSError:
                return False

        def is_private(path: str) -> bool:
            """Whether a file or directory belongs to this user, and no other user can change it; links are not."""
            found = os.lstat(path)
            kind = stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)
            return kind and found.st_uid == os.geteuid() and not found.st_mode & 0o022

        def is_exact(folder: str) -> bool:
            """Whether a folder is private and has the source and nothing else, besides machine code of it."""
            try:
                if not is_private(folder) or os.lstat(folder).st_mode & 0o077:
                    return False
                files: set[str] = set()
                for parent, folders, names in os.walk(folder):
                    inside = os.path.relpath(parent, folder)
                    if not all(is_private(os.path.join(parent, name)) for name in folders + names):
                        return False
                    if os.path.basename(parent) != "__pycache__":
                        files.update(os.path.normpath(os.path.join(inside, name)) for name in names)
                    elif folders:
                        return False
            except OSError:
                return False
            with zipfile.ZipFile(io.BytesIO(source)) as archive:
                return files == set(archive.namelist()) and has_source(folder)

        def unpacked() -> str:
            place = os.path.join(tempfile.gettempdir(), f"homonym-source-{os.geteuid()}-{digest[:16]}")
            if is_exact(place):
                return place
            fresh = tempfile.mkdtemp(prefix="homonym-source-")
            with zipfile.ZipFile(io.BytesIO(source)) as archive:
                archive.extractall(fresh)
            for parent, folders, names in os.walk(fresh):
                for name in folders + names:
                    os.chmod(os.path.join(parent, name), 0o700 if name in folders else 0o600)
            try:
                os.rename(fresh, place)
            except OSError:
                if not is_exact(place):
                    return fresh  # files of another user are at that place, or ours were changed
                shutil.rmtree(fresh, ignore_errors=True)
            return place

        def find_source() -> None:
            loaded = sys.modules.get("homonym")
            found = loaded.__spec__ if loaded else importlib.util.find_spec("homonym")
            installed = os.path.dirname(os.path.dirname(found.origin)) if found and found.origin else ""
            if installed and has_source(installed):
                return
            for module in [known for known in sys.modules if known.partition(".")[0] == "homonym"]:
                del sys.modules[module]
            sys.path.insert(0, unpacked())

        if getattr(sys, "homonym_source", None) != digest:
            find_source()
            sys.homonym_source = digest  # type: ignore[attr-defined]
        yield from getattr(importlib.import_module(module), name)(batches, **pickle.loads(pickled))

    return run


@cache
def packed_source() -> tuple[bytes, str]:
    """The package as a ZIP file, and its digest; the same bytes for the same source."""
    root, packed = Path(__file__).parents[3], io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((root / "homonym").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                member = zipfile.ZipInfo(path.relative_to(root).as_posix())
                archive.writestr(member, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue(), hashlib.sha256(packed.getvalue()).hexdigest()
