"""Runs a command and watches it from outside: seconds, processor seconds, and memory of all its processes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.scripts.mentions import cpu_of, descendants

#: Short enough to meet every peak that lasts, long enough not to slow down what is watched.
INTERVAL = 0.05


class FailedError(Exception):
    """A command ended badly; the sentence has its last words."""


@dataclass(frozen=True)
class Watched:
    """What a command took."""

    wall: float
    cpu: float
    mebibytes: float


def watch(command: Sequence[str], directory: Path, environment: Mapping[str, str], patience: float) -> Watched:
    """Run a command to its end, but no longer than the given time.

    Processor seconds are summed over all processes that were seen: a pool of workers that is not waited for would be
    missing from what the system adds up itself.
    """
    began, most, seen = time.perf_counter(), 0.0, dict[int, float]()
    log = directory / "log.txt"
    with (
        log.open("wb") as words,
        subprocess.Popen(command, stdout=words, stderr=words, env=environment, start_new_session=True) as process,
    ):
        while (left := os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is None:
            family = [process.pid, *descendants(process.pid)]
            most = max(most, sum(map(_memory, family)))
            seen |= {member: used for member in family if (used := cpu_of(member))}
            if time.perf_counter() - began > patience:
                os.killpg(process.pid, signal.SIGKILL)  # its workers, too
                raise FailedError(f"took longer than {patience:,.0f} s and was stopped")
            time.sleep(INTERVAL)
        _, _, added_up = os.wait4(left.si_pid, 0)
        process.returncode = left.si_status
    if process.returncode:
        last = log.read_text(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise FailedError(f"failed: {last[0][:160]}")
    used = max(sum(seen.values()), added_up.ru_utime + added_up.ru_stime)
    return Watched(time.perf_counter() - began, used, most / 1024)


def _memory(process: int) -> float:
    """KiB of a process; what it shares with others counts in proportion."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.startswith("Pss:")), 0.0)
