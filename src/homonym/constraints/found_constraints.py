"""All constraints of a run: found once from the evidence, then handed out block by block."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from homonym.clustering.arrays import Constraints, Integers, concatenate_constraints, equal_keys
from homonym.collection.encoded import Encoded
from homonym.constraints.cannot_link import build_constraints
from homonym.constraints.conflicts import ConstraintConflict, describe_conflicts
from homonym.constraints.evidence import MentionEvidence, UserPairs, collect_evidence
from homonym.constraints.must_link import (
    DOCUMENT,
    NAME,
    PAIR,
    Mask,
    MustLinks,
    find_must_links,
    find_name_conflicts,
    find_placeholders,
)
from homonym.settings import Settings


@dataclass(frozen=True)
class ConstraintCounts:
    """Number of must-links by kind, of mentions that these link, and of separated pairs of mentions by kind.

    `united` is the number of authors that became part of an author of another block.
    """

    links: dict[str, int]
    linked: int
    apart: dict[str, int]
    united: int = 0


@dataclass(frozen=True, eq=False)
class FoundConstraints:
    """The constraints of all mentions of a run.

    `column` is the column `constraint` of the result: the kinds of constraints of each mention, null where it has none.
    """

    evidence: MentionEvidence
    must_links: MustLinks
    has_cannot_links: Mask
    column: pa.Array
    counts: ConstraintCounts
    conflicts: list[ConstraintConflict]
    warnings: list[str]

    def of_blocks(self, first: int, last: int) -> Constraints | None:
        """The constraints of the blocks `first` to `last` - 1; None where there are none."""
        return build_constraints(self.evidence, self.must_links.representative, self.has_cannot_links, (first, last))

    def of_chosen(self, blocks: Integers) -> Constraints:
        """The constraints of any blocks, in the given order."""
        sizes = np.diff(self.evidence.block_start)
        return concatenate_constraints(
            (int(sizes[block]), self.of_blocks(block, block + 1)) for block in blocks.tolist()
        )


def find_constraints(encoded: Encoded, settings: Settings, pairs: UserPairs | None) -> FoundConstraints | None:
    """Find all must-links and cannot-links; None if the settings turn constraints off and there are no pairs."""
    if settings.constraints == "none" and pairs is None:
        return None
    warnings: list[str] = []
    evidence = collect_evidence(encoded, settings, pairs, warnings)
    placeholders, placeholder_conflicts = find_placeholders(evidence)
    evidence = evidence.without_identifiers(placeholders)
    links = find_must_links(evidence)
    overruled, name_conflicts = find_name_conflicts(evidence, links)
    outliers = _outliers(links.representative, overruled)
    if len(outliers):
        evidence = replace(evidence, names=evidence.names.without(outliers, evidence.block))
        overruled, _ = find_name_conflicts(evidence, links)
    apart = _separated_mentions(evidence, links.representative, overruled)
    return FoundConstraints(
        evidence=evidence,
        must_links=links,
        has_cannot_links=evidence.blocks_with_cannot_links(),
        column=_constraint_column(links.linked, {kind: number > 0 for kind, number in apart.items()}),
        counts=ConstraintCounts(
            links={kind: count for kind, count in links.link_counts.items() if count},
            linked=int(np.any(list(links.linked.values()), axis=0).sum()),
            apart={kind: total for kind, number in apart.items() if (total := int(number.sum()) // 2)},
        ),
        conflicts=describe_conflicts(placeholder_conflicts + links.conflicts + name_conflicts, links, encoded),
        warnings=warnings,
    )


def _outliers(linked: Integers, overruled: Integers) -> Integers:
    """The mentions whose name contradicts most of the other mentions that they are linked with, of at least two.

    The name is wrong, or that of another person: it says nothing about which names the author can have. `linked` and
    `overruled` are as in `_separated_mentions`.

    >>> _outliers(np.array([0, 0, 0, 3, 3]), np.array([2, 1, 1, 1, 1])).tolist()
    [0]
    """
    # Measured: PubMed rises from .921 to .923 across names (41 such mentions); the other labelled sets have none.
    others = np.bincount(linked, minlength=len(linked))[linked] - 1
    return np.flatnonzero((others > 1) & (2 * overruled > others))


def _separated_mentions(evidence: MentionEvidence, linked: Integers, overruled: Integers) -> dict[str, Integers]:
    """By kind of cannot-link, from how many mentions of its block each mention is separated.

    Mentions with the same `linked` must be one author; `overruled` is the number of these with an incompatible name.
    """
    apart = {
        kind: _other_identifiers(ids, evidence.block) - _other_identifiers(ids, linked)
        for kind, ids in evidence.separating_ids.items()
    }
    shared = np.flatnonzero(evidence.shared_document >= 0)
    apart[DOCUMENT] = np.zeros(len(evidence.block), np.int64)
    apart[DOCUMENT][shared] = equal_keys(evidence.shared_document[shared])[1] - 1
    apart[NAME] = evidence.names.count_incompatible(evidence.block) - overruled
    apart[PAIR] = np.bincount(evidence.different_pairs.ravel(), minlength=len(evidence.block))
    return apart


def _other_identifiers(ids: Integers, group: Integers) -> Integers:
    """For each mention with an identifier, the mentions of its group that have a different one of the same kind."""
    having = np.flatnonzero(ids >= 0)
    in_group = np.bincount(group[having], minlength=len(ids))
    others = np.zeros(len(ids), np.int64)
    others[having] = in_group[group[having]] - equal_keys(group[having], ids[having])[1]
    return others


def _constraint_column(linked: dict[str, Mask], apart: dict[str, Mask]) -> pa.Array:
    """For each mention, its kinds of constraints in a fixed order, such as "same:orcid;not:name"."""
    masks = {f"same:{kind}": mask for kind, mask in linked.items()} | {f"not:{kind}": m for kind, m in apart.items()}
    bits = np.zeros(len(next(iter(masks.values()))), np.int64)
    for bit, mask in enumerate(masks.values()):
        bits |= mask.astype(np.int64) << bit
    patterns, position = np.unique(bits, return_inverse=True)
    texts = [
        ";".join(kind for bit, kind in enumerate(masks) if pattern >> bit & 1) or None for pattern in patterns.tolist()
    ]
    return pa.array(texts, pa.string()).take(pa.array(position))
