"""Synthetic bibliographic corpora with known authors, of any size.

In: the parameters (`corpus`). Out: documents with gold labels, a batch at a time (`document_generator`). No state is
kept: every property of an author, a community or a document is a function of the seed and its number
(`random_draws`), so that documents can refer to colleagues and earlier papers that are not stored. `population` has
names, communities and careers, `collaborations` the large teams, `prose` the texts, `vocabulary` the word lists. Open
`document_generator` first.
"""
