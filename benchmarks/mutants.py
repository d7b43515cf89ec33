"""Mutation testing: change one operator, constant or condition at random, and see whether a test fails.

    python -m benchmarks.mutants --mutants 120 --seed 1

Mutants that no test notices are listed with their diff. cosmic-ray makes the mutants. A sample is tested instead of all
of them, which would take days; each one only with the tests of its package. Work is done in copies of the project.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/homonym")
COPIES = ROOT / "build" / "mutants"

# The modules that are mutated and the tests that must notice, fast ones first. Doctests of a module come with it.
CHECKPOINTS = ["tests/runtime", "tests/hostile", "tests/engines/test_resume.py"]
TESTS = {
    "names/parse.py": ["tests/names"],
    "names/compatibility.py": ["tests/names", "tests/constraints"],
    "constraints/*.py": ["tests/constraints"],
    "measures/*.py": ["tests/measures", "tests/evaluation", "tests/calibration/test_confidence.py"],
    "clustering/reference.py": ["tests/clustering"],
    "io/*.py": ["tests/io", "tests/hostile", "tests/evaluation/test_gold.py", "tests/cli", "tests/records"],
    "runtime/work_directory.py": CHECKPOINTS,
    "runtime/checkpoints.py": CHECKPOINTS,
    "engines/local_checkpoints.py": CHECKPOINTS,
}
# The status of pytest if the marks leave no test.
NO_TESTS = 5
# Seconds after which tests count as hanging, which is noticed, too.
PATIENCE = 900


@dataclass(frozen=True)
class Mutant:
    """A module with one change, and the tests that should notice it."""

    module: Path
    original: str
    mutated: str
    tests: list[str]

    @property
    def diff(self) -> str:
        """The changed lines."""
        lines = difflib.unified_diff(self.original.splitlines(), self.mutated.splitlines(), lineterm="", n=1)
        return "\n".join(list(lines)[2:])


def draw_mutants(number: int, seed: int) -> list[Mutant]:
    """A random sample of all places that can be changed, each with one of the changes that are possible there."""
    places = [
        (module, tests, operators, occurrence)
        for pattern, tests in TESTS.items()
        for module in sorted((ROOT / SOURCE).glob(pattern))
        for operators, occurrences in _occurrences(module.read_text())
        for occurrence in range(occurrences)
    ]
    generator = random.Random(seed)
    generator.shuffle(places)
    drawn: list[Mutant] = []
    for module, tests, operators, occurrence in places:
        if len(drawn) == number:
            break
        original = module.read_text()
        mutated = _mutate(original, generator.choice(operators), occurrence)
        if mutated and _behaviour(mutated) not in {None, _behaviour(original)}:
            drawn.append(Mutant(module.relative_to(ROOT), original, mutated, tests))
    return drawn


def _mutate(code: str, operator: str, occurrence: int) -> str | None:
    """The changed code; None if there is nothing to change."""
    try:
        mutated: str | None = mutate_code(code, get_operator(operator)(), occurrence)
    except AttributeError:  # cosmic-ray cannot replace an exception with a dotted name
        return None
    return mutated


def _occurrences(code: str) -> Iterator[tuple[list[str], int]]:
    """How often a part of the code can be changed by operators of cosmic-ray, for each group of operators.

    The operators of a group change the same places: `a + b` to `a - b`, to `a * b`, and so on.
    """
    tree = get_ast(code)
    usable = [name for name in sorted(operator_names()) if not get_operator(name).arguments()]
    for _, group in groupby(usable, lambda name: name.rpartition("_")[0] or name):
        names = list(group)
        operator = get_operator(names[0])()
        yield names, sum(1 for node in ast_nodes(tree) for _ in operator.mutation_positions(node))


class _WithoutTypes(ast.NodeTransformer):
    """Removes annotations, which do nothing at run time."""

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant("")
        return self.generic_visit(node)


def _behaviour(code: str) -> str | None:
    """The code without annotations, as text that can be compared; None if it is not Python."""
    try:
        return ast.dump(_WithoutTypes().visit(ast.parse(code)))
    except SyntaxError:  # cosmic-ray takes the star between parameters for an operator
        return None


def is_noticed(mutant: Mutant, copy: Path) -> bool:
    """Whether a test fails in a copy of the project with this change; fast tests come first."""
    module = copy / mutant.module
    status = module.stat()
    module.write_text(mutant.mutated)
    # Most mutants are noticed by the first tests, so the others are not even collected.
    stages = [[str(mutant.module), *mutant.tests[:1]], *([mutant.tests[1:]] if mutant.tests[1:] else [])]
    marks = ("not slow and not spark", "slow and not spark")
    try:
        return any(_run_tests(copy, tests, mark) for mark in marks for tests in stages)
    finally:
        module.write_text(mutant.original)
        os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))  # or the compiled kernel would count as stale


def _run_tests(copy: Path, tests: list[str], marks: str) -> bool:
    """Whether a test fails, or hangs."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-m", marks, "--hypothesis-profile", "quick"]
    command += ["-p", "no:cacheprovider", *(test for test in tests if (copy / test).exists())]
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in {0, NO_TESTS}


def copy_project(number: int) -> Path:
    """A fresh copy of the project, with the compiled kernel if there is one."""
    copy = COPIES / str(number)
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("src", "tests", "docs", "benchmarks"):
        shutil.copytree(ROOT / folder, copy / folder)
    for file in ("pyproject.toml", "README.md", "Makefile", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy2(ROOT / file, copy / file)
    return copy


def main() -> None:
    """Draw mutants, test them on all cores, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=120, help="size of the sample")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives another sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of mutants tested at a time")
    chosen = parser.parse_args()
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(chosen.jobs):
        copies.put(copy_project(number))
    mutants = draw_mutants(chosen.mutants, chosen.seed)

    def test(mutant: Mutant) -> bool:
        copy = copies.get()
        try:
            return is_noticed(mutant, copy)
        finally:
            copies.put(copy)

    survivors = 0
    with ThreadPoolExecutor(chosen.jobs) as pool:
        for number, (mutant, noticed) in enumerate(zip(mutants, pool.map(test, mutants), strict=True), 1):
            print(f"{number}/{len(mutants)} {mutant.module} {'noticed' if noticed else 'SURVIVED'}", flush=True)
            if not noticed:
                survivors += 1
                print(mutant.diff, flush=True)
    print(f"{survivors} of {len(mutants)} mutants survived ({survivors / max(1, len(mutants)):.1%}).")


if __name__ == "__main__":
    main()
