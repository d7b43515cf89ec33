"""Commands do not import libraries that they do not need, and users can still import them."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
from homonym.cli.unneeded_imports import leave_out_pandas_and_scipy
leave_out_pandas_and_scipy()
import numpy as np
import pyarrow as pa
from homonym.clustering import reference
from homonym.clustering.compiling import compiled
@compiled
def total(values):
    return values.sum()
assert total(np.arange(4.0)) == 6
assert pa.array(["a", None]).to_pylist() == ["a", None]
assert "pandas" not in sys.modules, "pandas"
assert "scipy.linalg" not in sys.modules, "scipy"
import pandas
assert pa.table({"a": [1]}).to_pandas()["a"].tolist() == [1]
"""


def test_pandas_and_scipy_are_left_out_but_can_be_imported() -> None:
    pytest.importorskip("pandas")
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
