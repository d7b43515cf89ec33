"""What is in files of records: counted as `disambiguate` would read them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homonym.commands.run import Resources, Run
from homonym.io.outputs import Paths, require_writable, write_json
from homonym.records.model import Problems
from homonym.records.reader import Inputs
from homonym.records.registry import Columns
from homonym.runtime.progress import Listener
from homonym.settings import Settings

if TYPE_CHECKING:
    from homonym.collection.counting import Inventory
    from homonym.engines.local import LocalEngine


MOST_FREQUENT = 10


@dataclass(frozen=True)
class Inspection:
    """What `inspect` found: files by format, counts, the share of mentions with each feature type, problems."""

    formats: dict[str, int]
    inventory: Inventory
    features: dict[str, float]
    problems: Problems
    seconds: dict[str, float]
    warnings: list[str]

    def as_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        counts = self.problems.counts
        return {
            "formats": self.formats,
            **asdict(self.inventory),
            "features": self.features,
            "duplicates": counts["duplicate"],
            "rejects": {lost: count for lost, count in counts.items() if lost != "duplicate"},
        }


def inspect(
    inputs: Paths,
    settings: Settings | None = None,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    rejects: str | Path | None = None,
    json: str | Path | None = None,
    strict: bool = False,
    resources: Resources | None = None,
    listener: Listener | None = None,
) -> Inspection:
    """Say what is in files of records: how many, whose, with which features and identifiers, and what is wrong.

    Figures go to `json` if it is named.
    """
    run = Run(Inputs.of(inputs, format, columns), settings, strict, resources, listener, rejects)
    if json is not None:
        require_writable(Path(json))
    with run.engine() as engine:
        engine.read_documents(run.inputs, run.settings)
        inventory, features = _counted(engine)
    found = Inspection(engine.formats, inventory, features, engine.problems, run.stages.seconds, run.warnings)
    if json is not None:
        write_json(Path(json), found.as_dict())
    return found


def _counted(engine: LocalEngine) -> tuple[Inventory, dict[str, float]]:
    from homonym.collection.counting import share_with_features, take_inventory
    from homonym.features.types import FEATURE_TYPES

    connection = engine.connect()
    try:
        inventory = take_inventory(connection, MOST_FREQUENT)
        found = share_with_features(engine.encode(connection, None)) if inventory.mentions else {}
    finally:
        connection.close()
    return inventory, {kind: found.get(kind, 0.0) for kind in FEATURE_TYPES}
