"""What every run over a collection has: its inputs, what it may use of the machine, an engine in a work directory."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from homonym.errors import HomonymError, InputError, OutputError, SettingsError
from homonym.files import open_whole, require_writable
from homonym.progress import Listener, Stages
from homonym.records.reading import Inputs
from homonym.settings import Settings
from homonym.wording import counted, first_line

if TYPE_CHECKING:
    from homonym.collection.encoded import Encoded
    from homonym.collection.statistics import GivenStatistics
    from homonym.constraints.knowledge import Knowledge
    from homonym.engines.local import LocalEngine


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What a run may use of this machine; never a matter of results.

    `threads` is by default every core, `memory` (bytes) half of the machine's.
    """

    threads: int | None = None
    memory: int | None = None

    def resolved(self) -> tuple[int, int]:
        """Number of threads and bytes of memory, with defaults filled in."""
        threads = _cores() if self.threads is None else self.threads
        memory = _memory() // 2 if self.memory is None else self.memory
        if threads < 1 or memory < 1 << 20:
            raise SettingsError("a run needs at least 1 thread and 1 MiB of memory; raise --threads or --memory.")
        return threads, memory


class Run:
    """The arguments of one call made plain, and the steps that the calls share."""

    def __init__(
        self,
        inputs: Inputs,
        settings: Settings | None,
        strict: bool,
        resources: Resources | None,
        listener: Listener | None,
        rejects: str | Path | None = None,
    ) -> None:
        self.inputs = inputs
        self.settings = settings or Settings()
        self.strict = strict
        self.threads, self.memory = (resources or Resources()).resolved()
        self.stages = Stages(listener)
        self.given: GivenStatistics | None = None
        self.save_statistics: Path | None = None
        self.knowledge: Knowledge | None = None
        self.warnings: list[str] = []
        self.rejects = Path(rejects) if rejects else None
        if self.rejects:
            require_writable(self.rejects)

    def use_statistics(
        self,
        statistics: str | Path | None,
        mentions_in_collection: int | None,
        save_statistics: str | Path | None = None,
    ) -> None:
        """Take #(f) from elsewhere if it is given, and keep that of this run if a place is."""
        from homonym.collection.statistics import given_statistics, require_statistics_path

        if save_statistics:
            self.save_statistics = Path(save_statistics)
            require_statistics_path(self.save_statistics)
            require_writable(self.save_statistics)
        if statistics:
            self.given = given_statistics(Path(statistics), mentions_in_collection)
        elif mentions_in_collection is not None:
            raise SettingsError("--mentions-in-collection goes with --statistics; give both or neither.")

    @contextmanager
    def engine(self) -> Iterator[LocalEngine]:
        """The engine in a work directory of its own, which is gone afterwards; machine failures become sentences."""
        from homonym.engines.local import LocalEngine

        with (
            tempfile.TemporaryDirectory(prefix="homonym-", ignore_cleanup_errors=True) as work,
            _machine_failures(work),
            open_whole(self.rejects) if self.rejects else nullcontext() as rejects,
        ):
            engine = LocalEngine(Path(work), self.threads, self.memory, self.stages, self.strict, rejects=rejects)
            yield engine
            self.warnings += engine.warnings

    def encode(self, engine: LocalEngine, vocabulary: Path | None = None) -> Encoded:
        """Count and encode what the engine has read; keep the names of the features if a place is given."""
        from homonym.collection.counting import features_missing_from_statistics, write_vocabulary
        from homonym.collection.statistics import save_statistics

        if not engine.mentions:
            raise InputError(f"{self.inputs}: {counted(engine.records, 'record')}, but no author to tell from others.")
        connection = engine.connect()
        try:
            encoded = engine.encode(connection, self.given)
            if vocabulary:
                write_vocabulary(connection, vocabulary)
            if self.given:
                self._warn_of_missing(features_missing_from_statistics(connection), len(encoded.frequencies.total))
            if self.save_statistics:
                save_statistics(connection, encoded.frequencies, self.save_statistics)
        finally:
            connection.close()
        return encoded

    def _warn_of_missing(self, missing: int, features: int) -> None:
        if missing:
            self.warnings.append(
                f"{missing:,} of {features:,} features are not in the statistics; these are counted over this run."
            )


def _cores() -> int:
    # A container may be given fewer cores than the machine has; not every system says so.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@contextmanager
def _machine_failures(work: str) -> Iterator[None]:
    """Turn a full disk or exhausted memory into one sentence, and an interrupted query into the interrupt it is."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except HomonymError:
        raise
    except (RuntimeError, duckdb.InterruptException, pa.ArrowException) as broken:
        if "interrupt" in str(broken).lower():
            raise KeyboardInterrupt from broken
        raise
    except MemoryError as broken:
        raise HomonymError("the memory of this machine is exhausted; use finer blocks or a larger machine.") from broken
    except (duckdb.OutOfMemoryException, duckdb.IOException, OSError) as broken:
        if isinstance(broken, OSError) and broken.errno not in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
            raise
        reason = first_line(broken)
        raise OutputError(
            f"there is not enough room to work in {Path(work).parent} ({reason}); "
            "free some, or set TMPDIR to a directory with more."
        ) from broken
