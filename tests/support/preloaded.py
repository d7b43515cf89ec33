"""Imports what most runs need: see `forked.py`. It must start no thread, which a fork would lack."""

from __future__ import annotations

import duckdb  # noqa: F401
import pyarrow.parquet  # noqa: F401

import homonym.cli.app
import homonym.collection.counting
import homonym.commands.disambiguate
import homonym.commands.update
import homonym.report.run_page
import homonym.suggestions.name_variants  # noqa: F401
from homonym.clustering.agglomerative import load_kernels

load_kernels()
