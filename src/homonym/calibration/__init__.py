"""The limit, the confidence and the feature weights of a run.

In: an encoded collection, with or without labelled names. Out: without labels, the limit (`limit`) and the calibration
curve of the confidence (`confidence`), both from pseudo-names (`pseudonames`) that are built from names of one person
each (`single_person_names`); from labels, split by `holdout`, the limit (`tuning`) and the weights (`weights`).
Open `limit` first.
"""
