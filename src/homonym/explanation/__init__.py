"""Why mentions are one author or several: the exact, additive parts of the scores that decided it.

In: blocks of a result, clustered again (`engines.reclustering`). Out: an `Explanation` with sentences and figures for
readers, and all parts for programs. Open `answers` first; `score_parts` has the mathematics, `merge_tree` the order of
the merges, `wording` the text. Nothing here is approximate: the parts of a score sum to the score of the kernel.
"""
