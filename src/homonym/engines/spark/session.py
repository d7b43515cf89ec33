"""A session of Spark: started or found, with what a run needs of it, and its failures in words."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from homonym.errors import HomonymError, InputError, SettingsError
from homonym.messages import first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTALL = "pip install 'homonym[spark]'"
#: A master that takes longer to answer is not there.
SECONDS_TO_ANSWER = 5.0

QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}
"""What a session that we start says besides: nothing. Progress and problems are told by homonym itself."""


@contextmanager
def session(master: str | None) -> Iterator[SparkSession]:
    """The session that is there, which stays, or a new one at a master, which ends with the run."""
    _require_spark(master)
    from pyspark.sql import SparkSession

    there = SparkSession.getActiveSession()
    if there is not None:
        yield there
        return
    with failures_in_words("no session of Spark can be started"):
        started = _started(master)
    try:
        yield started
    finally:
        started.stop()


@contextmanager
def failures_in_words(what: str = "Spark could not finish the run") -> Iterator[None]:
    """Turn what Spark throws into one sentence; what homonym itself said in a task, into that."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as broken:
        raise _in_words(str(broken), what) from broken
    except Exception as broken:
        # A client of a remote server does without py4j, so its errors cannot be named here.
        if type(broken).__module__.partition(".")[0] not in {"py4j", "grpc"}:
            raise
        raise _in_words(str(broken), what) from broken


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session for some of its work; what the user has is back afterwards."""
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
    """Knock at the door: Spark itself would knock for a minute and then say a page about it."""
    for place in master.partition("://")[2].partition("/")[0].split(","):
        found = urlsplit(f"//{place.partition(';')[0]}")
        try:
            port = found.port or (7077 if master.startswith("spark") else 15002)
            socket.create_connection((found.hostname or "", port), SECONDS_TO_ANSWER).close()
        except (OSError, ValueError):
            continue
        return
    raise SettingsError(f"nobody answers at {master}; check --master and whether Spark runs there.")


def _started(master: str | None) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("homonym")
    if master is not None and master.startswith("sc://"):
        return builder.remote(master).getOrCreate()
    for name, value in QUIET.items():
        builder = builder.config(name, value)
    if master is not None:
        builder = builder.master(master)
    if master is not None and master.startswith("local"):
        # Workers on this machine use this Python, which has all they need, unless somebody says otherwise.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return builder.getOrCreate()


def _in_words(text: str, what: str) -> HomonymError:
    """The sentence that a task ended with, else the first line of what Spark says.

    >>> print(_in_words("An exception\\nhomonym.errors.InputError: a.ris is empty.\\n", "Spark failed"))
    a.ris is empty.
    >>> print(_in_words("[PATH] not found\\n\\tat org.apache", "Spark failed"))
    Spark failed: [PATH] not found.
    """
    own = re.findall(r"^homonym\.errors\.\w+: (.+)$", text, flags=re.MULTILINE)
    if own:
        return InputError(own[-1])
    python = re.findall(r"^(\w[\w.]*(?:Error|Exception): .+)$", text, flags=re.MULTILINE)
    caused = re.findall(r"^Caused by: (.+)$", text, flags=re.MULTILINE)
    reason = (python or caused or [first_line(Exception(text.strip()))])[-1].strip().rstrip(".")
    return HomonymError(f"{what}: {reason}.")
