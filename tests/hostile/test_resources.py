"""Numbers of threads and amounts of memory that no machine has."""

from __future__ import annotations

import pytest

from homonym.commands.run import Resources
from homonym.errors import SettingsError


@pytest.mark.parametrize("threads", [0, -1, 1025, 100_000, 10**30])
def test_rejects_threads_that_no_machine_has(threads: int) -> None:
    with pytest.raises(SettingsError, match="--threads"):
        Resources(threads=threads).resolved()


def test_accepts_more_threads_than_this_machine_has() -> None:
    assert Resources(threads=64).resolved()[0] == 64


def test_rejects_less_than_a_mebibyte_of_memory() -> None:
    with pytest.raises(SettingsError, match="--memory"):
        Resources(memory=1000).resolved()
