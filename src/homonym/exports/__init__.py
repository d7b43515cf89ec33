"""Results for other tools: a result directory in, files of other programs out.

`targets.py` has the table of targets; open it first. `labels.py` gives each author a name that no other author has,
`result_tables.py` reads a result in constant memory, and the other modules have one function per target.
"""
