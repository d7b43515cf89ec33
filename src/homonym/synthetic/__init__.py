"""Bibliographic corpora with known authors, of any size.

Nothing is remembered while a corpus is written. Every property of a person, a community or a document is a function
of the seed and its number, so a document can name a colleague, cite an earlier paper or follow a career without
anybody having stored them. The modules read from the ground up:

    noise.py         random numbers by address, and a shuffle by formula
    lists.py         words and names to draw from
    corpus.py        the parameters
    namesakes.py     which authors share a name, and how they write it
    population.py    communities, careers, moves
    text.py          topics, titles, abstracts, keywords, venues
    mentions.py      names, affiliations, addresses
    citations.py     references
    columns.py       from columns to records, some values missing
    records.py       documents, a batch at a time
    output.py        files
"""
