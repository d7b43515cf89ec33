"""Features: documents of any format in, a bag of counts for each mention and feature type out.

Open types.py first: it defines the feature types, one function each. They work on the columns of columns.py, which are
filled from parsed documents, or directly from JSON lines of homonym's own format. text.py normalises words and labels,
blocking.py computes the block keys.
"""
