"""Stages: their time, memory and facts."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from homonym.runtime.progress import Stages, counted_in, memory_now

# A guard against hanging, not a measurement.
PATIENCE = 120


def test_measures_stages() -> None:
    ended: list[list[str]] = []
    stages = Stages()
    stages.ended = lambda: ended.append(list(stages.seconds))
    for amount in (30, 12):
        with stages.stage("read", 100) as advance:
            advance(amount)
            sum(range(2_000_000))
        stages.note("read", chunks=2, form="ris")
    with pytest.raises(KeyboardInterrupt), stages.stage("cluster"):
        raise KeyboardInterrupt
    cost = stages.costs["read"]
    assert (cost.items, cost.facts) == (42, {"chunks": 4, "form": "ris"})
    assert cost.cpu_seconds > 0
    assert 0 < stages.seconds["read"] == cost.seconds
    assert cost.peak_memory > 10 << 20
    assert ended == [["read"], ["read"], ["read", "cluster"]]


def test_memory_includes_worker_processes() -> None:
    script = "x = bytearray(200 << 20); print(flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout
    child.stdout.readline()
    alone = memory_now()
    with counted_in(child.pid):
        assert memory_now() > alone + (150 << 20)
    assert memory_now() < alone + (150 << 20)
    child.communicate(b"\n", timeout=PATIENCE)


@pytest.mark.slow
def test_samples_the_peak_memory_of_a_stage() -> None:
    stages = Stages()
    with stages.stage("read"):
        pass
    with stages.stage("encode"):
        held = np.ones(40 << 20)
        time.sleep(0.5)
        del held
    assert stages.costs["encode"].peak_memory > stages.costs["read"].peak_memory + (200 << 20)
