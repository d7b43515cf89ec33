"""What fields of records contain, whatever the format: names, affiliations, e-mail addresses, identifiers, markup.

In: the texts of single fields. Out: plain text, normal forms, and additions to the authors of a record. Open
`people` first: it says which author of a record a name elsewhere in the record refers to. Formats call these modules;
none of them knows a format, except that `people` knows how the Web of Science and Scopus write cited authors.
"""
