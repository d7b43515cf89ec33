"""Engines: where the steps run. The local one uses this machine's cores, DuckDB and files."""
