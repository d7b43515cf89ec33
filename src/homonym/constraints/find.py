"""From what is known of mentions to what that means: constraints, a word for each mention, counts, contradictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from homonym.clustering.arrays import Constraints, concatenate_constraints
from homonym.collection.encoded import Encoded
from homonym.constraints.cannot_link import build_constraints
from homonym.constraints.conflicts import ConstraintConflict, describe_conflicts
from homonym.constraints.evidence import MentionEvidence, UserPairs, collect_evidence
from homonym.constraints.must_link import DOCUMENT, NAME, PAIR, MustLinks, find_must_links, name_conflicts
from homonym.constraints.segments import alike
from homonym.settings import Settings

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class ConstraintCounts:
    """How much constraints say: links by kind, the mentions that these bind, pairs of mentions kept apart by kind."""

    links: dict[str, int]
    linked: int
    apart: dict[str, int]


@dataclass(frozen=True, eq=False)
class FoundConstraints:
    """All that is known of the mentions of a run beside their features.

    `words` has for each mention the kinds of constraints that bind it inside its block, null where none does.
    """

    known: MentionEvidence
    links: MustLinks
    disputed: NDArray[np.bool_]
    words: pa.Array
    counts: ConstraintCounts
    contradictions: list[ConstraintConflict]
    warnings: list[str]

    def of_blocks(self, first: int, last: int) -> Constraints | None:
        """The constraints of the blocks from `first` up to `last`; None where there are none."""
        return build_constraints(self.known, self.links.first, self.disputed, (first, last))

    def of_chosen(self, blocks: Integers) -> Constraints:
        """The constraints of some blocks, one after the other."""
        sizes = np.diff(self.known.block_start)
        return concatenate_constraints(
            (int(sizes[block]), self.of_blocks(block, block + 1)) for block in blocks.tolist()
        )


def find_constraints(encoded: Encoded, settings: Settings, pairs: UserPairs | None) -> FoundConstraints | None:
    """Find out who must be one author and who must not; None where nobody asked for it."""
    if settings.constraints == "none" and pairs is None:
        return None
    warnings: list[str] = []
    known = collect_evidence(encoded, settings, pairs, warnings)
    links = find_must_links(known)
    overruled, yielding = name_conflicts(known, links)
    apart = _kept_apart(known, overruled)
    return FoundConstraints(
        known=known,
        links=links,
        disputed=known.disputed(),
        words=_words(links.linked, {kind: number > 0 for kind, number in apart.items()}),
        counts=ConstraintCounts(
            links={kind: count for kind, count in links.links.items() if count},
            linked=int(np.any(list(links.linked.values()), axis=0).sum()),
            apart={kind: total for kind, number in apart.items() if (total := int(number.sum()) // 2)},
        ),
        contradictions=describe_conflicts(links.conflicts + yielding, links, encoded),
        warnings=warnings,
    )


def _kept_apart(known: MentionEvidence, overruled: Integers) -> dict[str, Integers]:
    """By kind, how many other mentions of its block each mention is kept apart from."""
    apart = {kind: _other_identifiers(ids, known) for kind, ids in known.parting.items()}
    shared = np.flatnonzero(known.document >= 0)
    apart[DOCUMENT] = np.zeros(len(known.block), np.int64)
    apart[DOCUMENT][shared] = alike(known.document[shared])[1] - 1
    apart[NAME] = known.names.against(known.block) - overruled
    apart[PAIR] = np.bincount(known.different.ravel(), minlength=len(known.block))
    return apart


def _other_identifiers(ids: Integers, known: MentionEvidence) -> Integers:
    """How many mentions of its block have another identifier of the same kind."""
    having = np.flatnonzero(ids >= 0)
    in_block = np.bincount(known.block[having], minlength=len(known.block_start) - 1)
    others = np.zeros(len(ids), np.int64)
    others[having] = in_block[known.block[having]] - alike(known.block[having], ids[having])[1]
    return others


def _words(linked: dict[str, NDArray[np.bool_]], apart: dict[str, NDArray[np.bool_]]) -> pa.Array:
    """What binds each mention, in a fixed order."""
    holds = {f"same:{kind}": mask for kind, mask in linked.items()} | {f"not:{kind}": m for kind, m in apart.items()}
    code = np.zeros(len(next(iter(holds.values()))), np.int64)
    for bit, mask in enumerate(holds.values()):
        code |= mask.astype(np.int64) << bit
    seen, place = np.unique(code, return_inverse=True)
    spoken = [
        ";".join(word for bit, word in enumerate(holds) if pattern >> bit & 1) or None for pattern in seen.tolist()
    ]
    return pa.array(spoken, pa.string()).take(pa.array(place))
