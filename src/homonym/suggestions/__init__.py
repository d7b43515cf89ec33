"""Suggestions about a result: pairs of authors of different blocks who may be one person under two names.

The tables of a result directory go in, `variants.csv` comes out. Nothing is merged. Open name_variants.py first; it
calls author_bags.py (what authors share), name_index.py and variant_candidates.py (which pairs are compared) and
variant_model.py (how probable each of them is).
"""
