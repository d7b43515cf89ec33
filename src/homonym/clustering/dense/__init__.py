"""The compiled kernel for many small blocks: the formulas of `reference.py`, fast.

Bags and a model go in as NamedTuples of arrays, labels, merges and margins come out. Open `blocks.py` first.

It is fast because clusters add up: a merged cluster behaves as one mention whose bags are the sums of its members'
bags. Once S(x,y) is known for the mentions of a block,

    score(C,D) = Σ_t w_t(D)·S_t(C,D) + pairs(C,D)·(ε/N)·Σ_t w_t(D) − chance(C,D)

with w_t(D) = λ_t / (n_t(D) + |D|·ε), or λ_t / (n_t(·) + N·ε) for the joint score, and pairs = |C|·|D| for `prob`, 1 for
`max`. The chance term is a product of sums: γ·Σ_t λ_t·n_t(C)/n_t(·), which does not depend on D, or for the joint score
γ·Σ_t λ_t·n_t(C)/n_t(·)·(n_t(D) + |D|·ε)/(n_t(·) + N·ε); a type without occurrences has none.

The score is multiplied by the factor of a full name that both clusters share. With a chance limit, pairs whose score
does not exceed γ₂ times the chance level of C, weighted by the sizes of both clusters, have the score −∞.

S is symmetric: only pairs i > j are stored, at i·(i−1)/2 + j, with the feature types innermost. Cannot-links are stored
in such a triangle, too. Blocks too large for triangles are clustered by `homonym.clustering.sparse`.
"""
