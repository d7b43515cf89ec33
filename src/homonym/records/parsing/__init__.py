"""What formats share: splitting files into raw records, and reading the fields of one record.

In: blocks of bytes of a file. Out: raw records with their place in the file. `splitting` defines `Raw` and is the
module to open first; `json_stream`, `xml_stream`, `tagged_lines` and `delimited` handle one syntax each.
"""
