"""Commands do not import libraries that they do not need, and users can still import them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys
from homonym.runtime.unneeded_imports import leave_out_pandas_and_scipy
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


RUN = """
import sys
from homonym.cli import main
sys.argv = ["homonym", "disambiguate", *sys.argv[1:], "--quiet"]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
assert "numba" in sys.modules
assert "pandas" not in sys.modules, "pandas"
assert "scipy.linalg" not in sys.modules, "scipy"
"""


@pytest.mark.slow
def test_pandas_and_scipy_are_left_out_but_can_be_imported() -> None:
    pytest.importorskip("pandas")
    _run(CODE)


@pytest.mark.slow
def test_disambiguate_imports_neither_pandas_nor_scipy(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    authors = [{"name": name} for name in ("Doe, Jane", "Roe, Richard")]
    lines = [json.dumps({"id": f"W{i}", "title": "Graphs", "authors": authors}) for i in range(3)]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    _run(RUN, str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out.csv"))


def _run(code: str, *arguments: str) -> None:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
