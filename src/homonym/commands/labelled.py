"""Names with known authors, read for calibrate, train and study."""

from __future__ import annotations

from homonym.calibration.holdout import NameSplit, split
from homonym.collection.statistics import GivenStatistics
from homonym.commands.run import Run, open_local_engine, require_mentions
from homonym.engines.base import EncodedCollection
from homonym.engines.local import LocalCollection, LocalEngine
from homonym.evaluation.gold import Gold, read_gold, unused_labels
from homonym.evaluation.matching import Labelling, label_names, read_collection
from homonym.io.inputs import require_rereadable
from homonym.io.outputs import Paths, as_paths


def read_labels(run: Run, gold: Paths | None, label: str) -> Gold:
    """The labels in some files, or in the inputs themselves; both must be files that can be read twice."""
    require_rereadable([*run.inputs.files, *(as_paths(gold) if gold else [])])
    labels = read_gold(gold or run.inputs.files, label)
    run.warnings.extend(f"{reason}." for reason in unused_labels(labels.skipped, labels.several))
    return labels


def read_and_encode(run: Run, engine: LocalEngine, given: GivenStatistics | None) -> EncodedCollection[LocalCollection]:
    """Read the inputs of a run, documents or mentions, and encode them."""
    read = read_collection(engine, run.inputs, run.settings)
    require_mentions(read, run)
    return engine.encode(read, given)


def read_labelled(run: Run, gold: Paths | None, label: str, given: GivenStatistics | None = None) -> Labelling:
    """Read a collection and the labels of its mentions, from itself or from other files."""
    labels = read_labels(run, gold, label)
    with open_local_engine(run) as engine:
        collection = read_and_encode(run, engine, given)
        return label_names(engine, collection, run.inputs, labels, gold or run.inputs.files)


def split_names(run: Run, labelling: Labelling, share: float, most: int) -> NameSplit:
    """Split labelled names into training and test names; warns of true sizes that are missing from either."""
    names = split(labelling.names, share=share, most=most)
    run.warnings.extend(names.warnings)
    return names
