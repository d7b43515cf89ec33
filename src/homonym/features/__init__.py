"""Features: documents of any format in, a bag of counts for each mention and feature type out.

Open types.py first: it defines the feature types, one function each. They work on columns.py, which json_columns.py
fills directly from homonym's own format. text.py normalises words and labels, blocking.py computes the block keys.
"""
