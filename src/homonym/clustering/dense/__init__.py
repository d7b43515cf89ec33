"""The formulas of `probability.py`, fast: one compiled call for many blocks. The only place with numba in it.

Flat arrays and scalars in, arrays out. What makes it fast is that clusters add up (METHOD: a merged cluster behaves
as one mention whose bags are the sums of its members' bags): after S(x,y) is known for the mentions of a block,

    score(C,D) = Σ_t w_t(D)·S_t(C,D) + pairs(C,D)·(ε/N)·Σ_t w_t(D) − chance(C,D)

with w_t(D) = λ_t / (n_t(D) + |D|·ε), or λ_t / (n_t(·) + N·ε) for the joint score, and pairs = |C|·|D| for `prob`, 1 for
`max`. What is shared by chance is a product of sums: γ·Σ_t λ_t·n_t(C)/n_t(·), which does not depend on D, or for the
joint score γ·Σ_t λ_t·n_t(C)/n_t(·)·(n_t(D) + |D|·ε)/(n_t(·) + N·ε); a type without occurrences has none.

S is symmetric: only pairs i > j are kept, at i·(i−1)/2 + j, with the feature types innermost. Rivals are kept in such a
triangle, too; clusters that are joined have the rivals of both. For blocks that are too large for triangles there are
`walking.py` and its neighbours, which `homonym.clustering.sparse.giant` calls; they are compiled only where
there is one.
"""

from __future__ import annotations

from homonym.clustering.compiling import compiled
from homonym.clustering.dense.blocks import cluster_blocks, couple_block, sweep_blocks
from homonym.clustering.dense.coupling import gather
from homonym.clustering.dense.merging import KernelConstraints, constrained_blocks, from_highest

__all__ = [
    "KernelConstraints",
    "cluster_blocks",
    "compiled",
    "constrained_blocks",
    "couple_block",
    "from_highest",
    "gather",
    "sweep_blocks",
]
