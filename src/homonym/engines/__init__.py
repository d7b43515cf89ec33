"""Engines: the steps from input files to authors, on this machine or on Spark.

In: `Inputs`, `Settings`, given statistics, the user's pairs. Out: the table of authors, with the same bytes on every
engine. Open `base.py` first: the `Engine` protocol and the values between its steps. `local.py` implements it with
DuckDB, processes and threads, `spark/` with Spark.
"""
