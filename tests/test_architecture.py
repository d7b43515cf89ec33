"""Rules of the house: what is public, what is loaded when, who may touch files, and that docs are not stale."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import homonym

SOURCE = Path(homonym.__file__).parent
ROOT = SOURCE.parent.parent
MODULES = sorted(path for path in SOURCE.rglob("*.py"))


def test_public_names_resolve_and_are_few() -> None:
    assert len(homonym.__all__) <= 16
    for name in homonym.__all__:
        assert getattr(homonym, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        homonym.nonsense  # noqa: B018


@pytest.mark.parametrize(
    "statement", ["import homonym", "import homonym.cli.main", "import homonym; homonym.Settings()"]
)
def test_heavy_libraries_stay_unloaded(statement: str) -> None:
    heavy = ["numba", "duckdb", "pyspark", "matplotlib", "numpy", "pyarrow", "simplemma"]
    check = f"{statement}; import sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_numba_is_in_one_place() -> None:
    using = [path.relative_to(SOURCE).as_posix() for path in MODULES if "numba" in _imports(path)]
    assert using == ["clustering/kernel/compiling.py"]


@pytest.mark.parametrize(
    "room",
    [
        "clustering",
        "features",
        "names.py",
        "compatibility.py",
        "blocking.py",
        "weights.py",
        "constraints/segments.py",
        "constraints/names.py",
        "constraints/clashes.py",
        "constraints/links.py",
        "constraints/rivals.py",
        "constraints/knowledge.py",
        "evaluation/contingency.py",
        "evaluation/scores.py",
        "evaluation/measures.py",
        "evaluation/bootstrap.py",
        "evaluation/curves.py",
        "evaluation/process.py",
        "evaluation/right.py",
        "evaluation/trust.py",
        "calibration/tuning.py",
        "calibration/sampling.py",
        "calibration/candidates.py",
        "calibration/pseudonames.py",
        "calibration/unlabelled.py",
        "calibration/confidence.py",
    ],
)
def test_the_core_touches_no_files(room: str) -> None:
    place = SOURCE / room
    for path in [place] if place.is_file() else place.rglob("*.py"):
        code = path.read_text()
        assert not re.search(r"\bopen\(|read_bytes|write_bytes|read_text|write_text|duckdb", code), path


def test_no_room_reaches_back() -> None:
    """Imports follow the data: a room never imports one that comes after it."""
    order = ["errors", "wording", "machine", "threads", "files", "ledger", "workplace", "sources", "progress", "schema",
             "weights", "settings", "runlog", "names", "compatibility", "records", "blocking",
             "features", "clustering", "collection", "constraints", "results",
             "engines", "run", "evaluation", "calibration", "report", "experiments", "synthetic", "pipeline",
             "distributed", "conversion", "inspection", "demonstration", "bars", "terminal", "options",
             "cli"]  # fmt: skip
    for path in MODULES:
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[0] == "__init__":
            continue
        for imported in re.findall(r"^from homonym\.(\w+)", path.read_text(), flags=re.MULTILINE):
            assert order.index(imported) <= order.index(parts[0]), f"{path} imports {imported}"


def test_command_reference_is_not_stale() -> None:
    rendered = runpy.run_path(str(ROOT / "docs" / "build_commands.py"))["render"]()
    assert (ROOT / "docs" / "commands.md").read_text() == rendered, "run make docs"


def test_changelog_has_this_version() -> None:
    assert f"## {homonym.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def _imports(path: Path) -> set[str]:
    return set(re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(), flags=re.MULTILINE))
