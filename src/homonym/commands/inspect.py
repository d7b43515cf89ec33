"""Inspect: what files of records hold, counted as `disambiguate` reads them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from homonym.commands.run import Resources, RunFiles, open_local_engine, prepare_run
from homonym.io.outputs import Paths, require_writable, write_json
from homonym.records.model import HARMLESS, Problems
from homonym.records.reader import Columns
from homonym.runtime.progress import Listener
from homonym.settings import Settings

if TYPE_CHECKING:
    import duckdb

    from homonym.collection.counting import Inventory
    from homonym.engines.local import LocalEngine

# Number of names in the list of the most frequent ones.
MOST_FREQUENT = 10


@dataclass(frozen=True)
class Inspection:
    """Number of files by format, counts, the share of mentions that have each feature type, and problems.

    `without_authors` has the files of which no record has an author, and the number of their records.
    """

    formats: dict[str, int]
    inventory: Inventory
    features: dict[str, float]
    problems: Problems
    without_authors: dict[str, int]
    seconds: dict[str, float]
    warnings: list[str]

    def as_dict(self) -> dict[str, Any]:
        """All figures, for JSON."""
        counts = self.problems.counts
        return {
            "formats": self.formats,
            **asdict(self.inventory),
            "features": self.features,
            "files_without_authors": self.without_authors,
            "duplicates": counts["duplicate"],
            "other_contributors": counts["contributor"],
            "rejects": {lost: count for lost, count in counts.items() if lost not in {"duplicate", *HARMLESS}},
            "warnings": counts["warning"],
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
    """Count what files of records hold: records, names, features, identifiers, and problems.

    The figures are written to `json` if it is named.
    """
    run = prepare_run(
        inputs, settings, format=format, columns=columns, strict=strict, rejects=rejects, resources=resources,
        listener=listener, files=RunFiles.of(outputs=[json]),
    )  # fmt: skip
    if json is not None:
        require_writable(Path(json))
    with open_local_engine(run) as engine:
        read = engine.read_documents(run.inputs, run.settings)
        with engine.database(read) as (connection, duplicates):
            read = engine.with_duplicates_merged(read, duplicates)
            inventory, features = _counted(engine, connection)
    without_authors = dict(read.without_authors)
    found = Inspection(
        dict(read.formats), inventory, features, read.problems, without_authors, run.stages.seconds, run.warnings
    )
    if json is not None:
        write_json(Path(json), found.as_dict())
    return found


def _counted(engine: LocalEngine, connection: duckdb.DuckDBPyConnection) -> tuple[Inventory, dict[str, float]]:
    from homonym.collection.counting import take_inventory
    from homonym.collection.encoded import share_with_features
    from homonym.features.types import FEATURE_TYPES

    inventory = take_inventory(connection, MOST_FREQUENT)
    shares = share_with_features(engine.count_and_encode(connection, None)) if inventory.mentions else {}
    return inventory, {kind: shares.get(kind, 0.0) for kind in FEATURE_TYPES}
