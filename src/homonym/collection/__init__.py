"""The collection: documents in, encoded bags of all mentions out, ordered by block for clustering. All on disk.

parts.py turns chunks of records into part tables (layout.py), with features from extractor.py. duplicates.py finds the
copies of one document, document_merging.py merges them. counting.py counts #(f) over all parts with DuckDB. encoded.py
numbers all features and has the result that the other packages read. statistics.py saves and reads frequencies,
writers.py writes documents and mentions. Open layout.py first.
"""
