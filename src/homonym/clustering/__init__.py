"""Agglomerative clustering of the mentions of each block into authors.

Bags, frequencies and constraints (`arrays.py`) go in, labels, merges and margins come out. Open `agglomerative.py`
first: it checks the input and calls compiled code. `reference.py` is the slow, literal definition that tests compare
with; `dense` is the compiled kernel for many small blocks, `sparse` the one for giant blocks.
"""
