"""Rules of the code base: public names, layering, unique names, lazy imports, and docs that are up to date."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import homonym

SOURCE = Path(homonym.__file__).parent
ROOT = SOURCE.parent.parent
MODULES = sorted(SOURCE.rglob("*.py"))

#: Packages and modules of pure functions on arrays and tables: they must not open files.
PURE = [
    "clustering",
    "features",
    "measures",
    "names/compatibility.py",
    "constraints/must_link.py",
    "constraints/cannot_link.py",
    "constraints/incompatible_names.py",
    "calibration/confidence.py",
    "calibration/limit.py",
    "calibration/pseudonames.py",
    "calibration/tuning.py",
]


def test_public_names_resolve_and_are_documented() -> None:
    assert len(homonym.__all__) <= 26
    for name in homonym.__all__:
        assert getattr(homonym, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        homonym.nonsense  # noqa: B018


@pytest.mark.parametrize(
    "statement", ["import homonym", "import homonym.cli.app", "import homonym; homonym.Settings()"]
)
def test_heavy_libraries_are_imported_lazily(statement: str) -> None:
    heavy = ["numba", "duckdb", "pyspark", "matplotlib", "numpy", "pyarrow", "simplemma", "jinja2", "psutil"]
    check = f"{statement}; import sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_one_module_imports_numba() -> None:
    using = [path.relative_to(SOURCE).as_posix() for path in MODULES if "numba" in _imported_packages(path)]
    assert using == ["clustering/compiling.py"]


@pytest.mark.parametrize("place", PURE)
def test_pure_code_opens_no_files(place: str) -> None:
    path = SOURCE / place
    assert path.exists()
    for module in [path] if path.is_file() else path.rglob("*.py"):
        assert not re.search(r"\bopen\(|read_bytes|write_bytes|write_text|duckdb", module.read_text()), module


def test_layers_are_respected() -> None:
    done = _lint_imports(SOURCE.parent)
    assert done.returncode == 0, done.stdout


def test_layering_check_sees_lazy_imports(tmp_path: Path) -> None:
    """A forbidden import inside a function breaks the contract."""
    shutil.copytree(SOURCE, tmp_path / "homonym", ignore=shutil.ignore_patterns("__pycache__"))
    with (tmp_path / "homonym" / "errors.py").open("a") as module:
        module.write("\n\ndef _forbidden() -> None:\n    import homonym.cli.app  # noqa: F401\n")
    done = _lint_imports(tmp_path)
    assert done.returncode == 1
    assert "homonym.errors -> homonym.cli.app" in done.stdout


def _lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    command = (
        "import sys; sys.path.insert(0, sys.argv.pop(1)); from importlinter.cli import lint_imports_command as run"
    )
    return subprocess.run(
        [
            sys.executable,
            "-c",
            f"{command}; run()",
            str(source),
            "--no-cache",
            "--config",
            str(ROOT / "pyproject.toml"),
        ],
        capture_output=True,
        text=True,
        cwd=source,
        timeout=120,
    )


def test_file_names_are_unique() -> None:
    stems = Counter(path.stem for path in MODULES if path.stem != "__init__")
    assert [stem for stem, number in stems.items() if number > 1] == []


@pytest.mark.slow
def test_class_names_are_unique() -> None:
    trees = [ast.parse(path.read_text()) for path in MODULES]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, number in names.items() if number > 1] == []


def test_root_has_few_modules() -> None:
    assert len(list(SOURCE.glob("*.py"))) <= 5


def test_packages_say_what_they_do() -> None:
    for package in SOURCE.rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(package.read_text()))
        assert text, package
        assert "TODO" not in text, package


def test_command_reference_is_up_to_date() -> None:
    rendered = runpy.run_path(str(ROOT / "docs" / "build_commands.py"))["render"]()
    assert (ROOT / "docs" / "commands.md").read_text() == rendered, "run make docs"


def test_changelog_has_this_version() -> None:
    assert f"## {homonym.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def _imported_packages(path: Path) -> set[str]:
    return set(re.findall(r"^\s*(?:import|from) (\w+)", path.read_text(), flags=re.MULTILINE))
