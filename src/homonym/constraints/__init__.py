"""Must-link and cannot-link constraints between the mentions of a block.

In: encoded mentions with their identifiers, documents and names, and optionally a user's pairs of mentions.
Out: for each block the mentions that must be one author (`must_link`) and those that must not (`cannot_link`), and the
conflicts between the two (`conflicts`). Open `found_constraints` first; `evidence` has what each mention carries.
`name_prior` is no constraint: it says how much a shared full name counts in the score.
"""
