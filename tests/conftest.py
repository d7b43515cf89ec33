"""Fixtures and Hypothesis profiles that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import profiles
from tests.support.real_data import DATA

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


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The directory with the labelled collections; a test that needs it is skipped visibly where it is missing."""
    if not DATA.exists():
        pytest.skip(f"{DATA} does not exist")
    return DATA
