"""One module (or small group of modules) per file format; `homonym.records.reader` lists them all.

In: the bytes of one raw record. Out: a `Document`, and notes on the authors and fields that could not be used.
`documents` is the simplest format with all fields; open it first.
"""
