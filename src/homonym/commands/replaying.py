"""The replay of a study: a labelled collection, added to a result part by part, in every mode of `update`."""

from __future__ import annotations

import resource
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow.parquet as pq

from homonym.commands.convert import Conversion, convert
from homonym.commands.disambiguate import disambiguate
from homonym.commands.run import Resources
from homonym.commands.update import MODES, Mode, update
from homonym.errors import SettingsError
from homonym.io.result_directory import MENTIONS
from homonym.settings import Settings

if TYPE_CHECKING:
    from homonym.experiments.replay import Part, ReplayStep

BATCH = "batch"


class Replay:
    """A collection of documents with labels, and results that grow with it."""

    def __init__(
        self,
        documents: Sequence[bytes],
        labels: Mapping[str, str],
        settings: Settings,
        resources: Resources,
        work: Path,
    ) -> None:
        self.documents, self.labels, self.work = documents, labels, work
        self.settings, self.resources = settings, resources

    def steps(self, order: str, parts: Sequence[Part], advance: Callable[[int], None]) -> Iterator[ReplayStep]:
        """What every mode gives after each part; the first part is the same run for all of them."""
        from homonym.experiments.replay import measure_step

        places: dict[str, Path] = {mode: self.work / f"{order}-{mode}" for mode in MODES}
        before: dict[str, dict[str, str]] = {key: {} for key in (*MODES, BATCH)}
        so_far: list[int] = []
        for step, part in enumerate(parts):
            so_far += part.documents
            batch_place = self.work / f"{order}-{BATCH}"
            cost = {BATCH: _cpu_of(lambda: self._run(so_far, batch_place))}  # noqa: B023 - called at once
            for mode in MODES:
                if step == 0:
                    shutil.copytree(batch_place, places[mode])
                    cost[mode] = cost[BATCH]
                else:
                    cost[mode] = _cpu_of(lambda: self._update(part, places[mode], mode))  # noqa: B023
                advance(1)
            batch = _authors(batch_place)
            for name in (*MODES, BATCH):
                after = batch if name == BATCH else _authors(places[name])
                redirects = {} if name == BATCH else _redirects(places[name], before[name])
                where = (order, step, part.label, name, len(so_far))
                yield measure_step(where, before[name], after, batch, self.labels, redirects, cost[name])
                before[name] = after

    def _run(self, places: Sequence[int], output: Path) -> None:
        disambiguate(self._file(places), output, self.settings, resources=self.resources)

    def _update(self, part: Part, output: Path, mode: Mode) -> None:
        update(output, self._file(part.documents), mode=mode, resources=self.resources)

    def _file(self, places: Sequence[int]) -> Path:
        path = self.work / "part.jsonl"
        path.write_bytes(b"".join(self.documents[place] + b"\n" for place in sorted(places)))
        return path


def _cpu_of(call: Callable[[], None]) -> float:
    """The CPU seconds of a call, those of processes that it started included."""
    before = _cpu()
    call()
    return _cpu() - before


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _authors(result: Path) -> dict[str, str]:
    columns = pq.read_table(result / MENTIONS, columns=["mention_id", "author_id"]).to_pydict()
    return dict(zip(columns["mention_id"], columns["author_id"], strict=True))


def _redirects(result: Path, before: Mapping[str, str]) -> dict[str, str]:
    """Where the authors of the result before lead to now, if they are redirects."""
    from homonym.corpus.ids import REDIRECT, read_ids

    old = set(before.values())
    rows = read_ids(result).to_pylist()
    target = {row["author_id"]: row["target"] for row in rows if row["status"] == REDIRECT}
    found = {}
    for author in old & target.keys():
        end = target[author]
        while end in target:
            end = target[end]
        found[author] = end
    return found


def replay_steps(
    inputs: Any,
    settings: Settings,
    *,
    gold: Any,
    label: str,
    number: int,
    reading: Mapping[str, Any],
    resources: Resources | None,
    advance: Callable[[int], None],
) -> tuple[list[ReplayStep], Conversion]:
    """All steps of a replay: by year, and in random parts. Also what was read."""
    from homonym.evaluation.gold import read_gold
    from homonym.experiments.replay import RANDOM, YEARS, parts_by_year, random_parts

    if number < 2:
        raise SettingsError("a replay needs at least 2 parts; one is a run.")
    with tempfile.TemporaryDirectory(prefix="homonym-") as folder:
        work = Path(folder)
        converted = convert(inputs, work / "documents.jsonl", resources=resources, **reading)
        rows = read_gold(gold or work / "documents.jsonl", label).table.to_pydict()
        documents = (work / "documents.jsonl").read_bytes().splitlines()
        years = [orjson.loads(line).get("year") for line in documents]
        replay = Replay(
            documents, dict(zip(rows["mention_id"], rows["author"], strict=True)), settings,
            resources or Resources(), work,
        )  # fmt: skip
        orders = ((YEARS, parts_by_year(years, number)), (RANDOM, random_parts(len(documents), number)))
        return [one for order, parts in orders for one in replay.steps(order, parts, advance)], converted


def as_values(steps: Sequence[ReplayStep]) -> list[dict[str, Any]]:
    """The steps as JSON values."""
    return [asdict(step) for step in steps]
