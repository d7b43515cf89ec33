"""The compiled kernel for giant blocks: the results of `dense`, in memory linear in the feature occurrences of a block.

No pair of clusters is stored. The scores of a cluster with all others are computed through an inverted index of the
features that it has, and only its few best partners are kept. Open `giant_blocks.py` first: it runs the rounds. The
compiled steps are in `row_scores.py` (scores of one cluster) and `giant_merging.py` (best partners, merges).
"""
