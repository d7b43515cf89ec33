"""The Spark engine: the steps of the local engine on many machines, with the same kernel and the same bytes.

In: files or URLs. Out: a result file, or a directory of Parquet files. Open `engine.py` first. Tasks on Arrow batches
do the work that needs Python (`read_tasks.py`, `encode_tasks.py`, `cluster_tasks.py`), Spark SQL does the rest.
Bags pass through Spark as cells of bytes, one part at a time; only what is joined or counted becomes rows.
"""
