"""Fixtures and Hypothesis profiles that all tests share."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from homonym.commands.generate import generate
from homonym.synthetic.corpus import Corpus
from tests.support import profiles
from tests.support.kernels import compile_kernels

#: Loads the kernel when it is imported, which the search for doctests would do.
collect_ignore = ["support/preloaded.py"]

#: Markers of tests that take long: they run first, so that no core is idle at the end.
LONG = ("spark", "slow")


def pytest_configure(config: pytest.Config) -> None:
    """Register the Hypothesis profiles before tests are collected."""
    profiles.register(config.getoption("--hypothesis-profile", default=None))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with long tests first."""
    long_files = {item.path: rank for rank, mark in reversed(list(enumerate(LONG))) for item in items
                  if item.get_closest_marker(mark)}  # fmt: skip
    items.sort(key=lambda item: long_files.get(item.path, len(LONG)))


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from modules and tests, which stay until the end: hundreds of thousands."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_sync() -> Iterator[None]:
    """Do not wait for the disk: a run syncs dozens of small files. Tests of power failures start processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let the workers of pytest-xdist share the work of compiling, instead of each compiling all."""
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        compile_kernels(tmp_path_factory.getbasetemp().parent, int(worker.removeprefix("gw")))


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Corpus], Path]:
    """Generates a corpus and returns the path of its documents; equal parameters give the same file."""

    @cache
    def corpus_of(parameters: Corpus) -> Path:
        return generate(tmp_path_factory.mktemp("corpus") / "corpus", parameters)

    return corpus_of
