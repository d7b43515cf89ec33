"""Files at the edge of the program: everything that opens, decodes or writes one.

In: paths. Out: decoded blocks and lines (`inputs`), Arrow tables and batches (`tables`), files that appear complete or
not at all (`outputs`). `table_text` has the conventions of CSV and JSON lines that need no Arrow. Open `inputs` first.
"""
