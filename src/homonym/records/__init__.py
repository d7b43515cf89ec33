"""Data: files of bibliographic records in, documents out.

`reader.read_documents` reads one file record by record and reports what it had to reject. `reader` also lists the
formats and says how to add one; `model` defines what every format returns. `formats` has the format modules, `parsing`
the code that splits files into raw records, `fields` the code that reads names, affiliations and identifiers. Open
`reader` first.
"""
