"""Any method on names whose authors are known: its outcomes measured at every limit, or its result at one."""

from __future__ import annotations

import numpy as np

from homonym.clustering.merging import Integers
from homonym.evaluation.contingency import Codes, Contingency, contingency
from homonym.evaluation.curves import Curves, joined, measure_outcomes
from homonym.evaluation.labelled import LabelledNames
from homonym.evaluation.methods import Labels, Method
from homonym.settings import Limit
from homonym.threads import in_order


def curves_of(method: Method, names: LabelledNames, threads: int) -> Curves:
    """Measure a method at all limits, on several threads."""

    def measured(batch: LabelledNames) -> Curves:
        return measure_outcomes(batch, method.outcomes(batch))

    return joined([curves for _, curves in in_order(measured, names.batches(), threads)])


def labels_of(method: Method, names: LabelledNames, limit: Limit, threads: int) -> Labels:
    """What a method finds at one limit, on several threads: the cluster of each mention inside its name."""

    def labels(batch: LabelledNames) -> Labels:
        return method.labels(batch, *limit)

    return np.concatenate([found for _, found in in_order(labels, names.batches(), threads)])


def compare(names: LabelledNames, label: Integers | Labels) -> Contingency:
    """Count how the clusters of each name and its true authors overlap, over labelled mentions."""
    return contingency(*codes(names, label))


def codes(names: LabelledNames, label: Integers | Labels) -> tuple[Codes, Codes, Codes]:
    """Name, true author and cluster of each labelled mention, as numbers."""
    known, block = names.labelled, names.block
    # A label is smaller than the number of mentions of its name, so this is unique.
    cluster = names.bags.block_start[block] + label
    return block[known], names.author[known], cluster[known]
