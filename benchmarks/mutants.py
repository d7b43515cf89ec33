"""Mutation testing: change one operator, constant or condition at random, and see whether a test fails.

    python -m benchmarks.mutants --mutants 120 --seed 1

Mutants that no test notices are listed with their diff. cosmic-ray makes the mutants. A sample is tested instead of all
of them, which would take days. First, all tests run once to record which of them enter which function, and how long
they take; a mutant is tested only with tests that enter the changed function, fast ones first. Work is done in copies
of the project. The same command resumes a sample that was interrupted. After tests were added, only their files are
recorded again.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, groupby, islice
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, NewType

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from benchmarks import entered_functions

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/homonym")
COPIES = ROOT / "build" / "mutants"
RECORDS = COPIES / "records"
PLUGIN = Path(entered_functions.__file__)

# Groups of modules that are mutated, and the tests that are made for them. These run first.
GROUPS = {
    "names/parse.py": ["tests/names"],
    "names/compatibility.py": ["tests/names", "tests/constraints"],
    "constraints/*.py": ["tests/constraints"],
    "measures/*.py": ["tests/measures", "tests/evaluation"],
    "clustering/reference.py": ["tests/clustering"],
    "io/*.py": ["tests/io"],
    "runtime/work_directory.py": ["tests/runtime", "tests/hostile"],
    "runtime/checkpoints.py": ["tests/runtime", "tests/hostile"],
    "engines/local_checkpoints.py": ["tests/engines/test_resume.py", "tests/hostile/test_damaged_checkpoints.py"],
}
# Tests of constants, which enter no function.
CONSTANTS = "tests/test_constants.py"
# Other tests that run if they enter the changed function.
MORE_TESTS = [CONSTANTS, "tests/hostile", "tests/records", "tests/cli", "tests/commands", "tests/corpus",
              "tests/engines", "tests/calibration/test_confidence.py"]  # fmt: skip
# Minimum number of mutants of a group in a sample of `SAMPLE`.
MIN_OF_GROUP = 7
SAMPLE = 120
# Seconds that the tests of one mutant may take in the run that is recorded. Slower tests are left out.
SECONDS = 200
# Tests of a mutant count as hanging, which is noticed, if they take this many times as long as recorded, and a minute.
PATIENCE = 4
MINUTE = 60
# Tests of one file share fixtures, so they run in one process.
LOADFILE = ["--dist", "loadfile", "--no-loadscope-reorder"]
RECORDING = ["-m", "not spark", "--hypothesis-profile", "quick"]


# What the tests of a mutant do: one fails, they hang, or all pass.
Outcome = NewType("Outcome", str)
FAILED, HUNG, SURVIVED = Outcome("failed"), Outcome("hung"), Outcome("SURVIVED")


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    module: Path
    original: str
    mutated: str

    @property
    def diff(self) -> str:
        """The changed lines."""
        lines = difflib.unified_diff(self.original.splitlines(), self.mutated.splitlines(), lineterm="", n=1)
        return "\n".join(list(lines)[2:])

    @property
    def function(self) -> str | None:
        """The function that is changed, as `entered_functions` names it; None if it is code outside of functions."""
        pairs = zip(self.original.splitlines(), self.mutated.splitlines(), strict=False)
        line = next((number for number, (old, new) in enumerate(pairs, 1) if old != new), 1)
        around = [node for node in _functions(ast.parse(self.original))
                  if node.body[0].lineno <= line <= (node.end_lineno or 0)]  # fmt: skip
        return _function_name(self.module, around[-1]) if around else None

    @property
    def key(self) -> str:
        """Identifies the mutant in the file of finished ones."""
        return hashlib.sha256(f"{self.module}\0{self.original}\0{self.mutated}".encode()).hexdigest()[:16]


class Tests(NamedTuple):
    """What the run without changes recorded."""

    seconds: dict[str, float]
    """How long each test takes. Tests that did not pass are left out."""
    entering: dict[str, set[str]]
    """The tests that enter a function, the files of tests of which a fixture does, and "" if an import does."""

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that may notice a mutant, those of its group first, then by file, fast files first."""
        module = mutant.module.relative_to(SOURCE)
        own = next(tests for pattern, tests in GROUPS.items() if module.match(pattern))
        names, always = [mutant.function or ""], list[str]()
        if not mutant.function or "" in self.entering.get(mutant.function, ()):  # it runs when it is imported
            names = [function for function in self.entering if function.startswith(f"{module}:")]
            always = [str(mutant.module), *own, CONSTANTS]
        entering = set().union(*(self.entering.get(name, set()) for name in names)) - {""}
        chosen = [test for test in self.seconds if {test, _file(test)} & entering or test.startswith(tuple(always))]
        chosen.sort(key=self.seconds.__getitem__)
        total = accumulate(self.seconds[test] for test in chosen)
        chosen = [test for test, seconds in zip(chosen, total, strict=True) if seconds <= SECONDS]
        of_file: dict[str, float] = defaultdict(float)
        for test in chosen:
            of_file[_file(test)] += self.seconds[test]
        return sorted(chosen, key=lambda test: (not test.startswith(("src", *own)), of_file[_file(test)], _file(test)))


def _file(test: str) -> str:
    return test.partition("::")[0]


def draw_mutants(number: int, seed: int) -> list[Mutant]:
    """A random sample of all places that can be changed, each with one of the changes that are possible there.

    A group has as large a share of the sample as of the places, and at least `MIN_OF_GROUP` of `SAMPLE` mutants; the
    largest group makes up for it. The mutants of a group do not depend on the code of other groups.
    """
    smallest = max(1, MIN_OF_GROUP * number // SAMPLE)
    sizes = {pattern: len(_places(pattern)) for pattern in GROUPS}
    shares = {pattern: max(smallest, number * size // sum(sizes.values())) for pattern, size in sizes.items()}
    shares[max(shares, key=shares.__getitem__)] -= sum(shares.values()) - number
    return [mutant for pattern in GROUPS
            for mutant in islice(_mutants(pattern, random.Random(f"{seed} {pattern}")), shares[pattern])]  # fmt: skip


def _places(pattern: str) -> list[tuple[Path, list[str], int]]:
    """Every place of a group that can be changed: module, operators that change it, rank among their places."""
    return [
        (module, operators, occurrence)
        for module in sorted((ROOT / SOURCE).glob(pattern))
        for operators, occurrences in _occurrences(module.read_text())
        for occurrence in range(occurrences)
    ]


def _mutants(pattern: str, generator: random.Random) -> Iterator[Mutant]:
    """Mutants of a group, in random order."""
    places = _places(pattern)
    generator.shuffle(places)
    for module, operators, occurrence in places:
        original = module.read_text()
        mutated = _mutate(original, generator.choice(operators), occurrence)
        if mutated and _behaviour(mutated) not in {None, _behaviour(original)}:
            yield Mutant(module.relative_to(ROOT), original, mutated)


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


class _EffectiveCode(ast.NodeTransformer):
    """Removes annotations, which do nothing at run time, and the sizes of caches, which change no result."""

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant("")
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "lru_cache":
            node.keywords = []
        return self.generic_visit(node)


def _behaviour(code: str) -> str | None:
    """The code without what has no effect, as text that can be compared; None if it is not Python."""
    try:
        return ast.dump(_EffectiveCode().visit(ast.parse(code)))
    except SyntaxError:  # cosmic-ray takes the star between parameters for an operator
        return None


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Functions of a module; a function comes after the one that it is defined in."""
    return sorted((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), key=lambda node: node.lineno)


def _function_name(module: Path, function: ast.FunctionDef) -> str:
    return f"{module.relative_to(SOURCE)}:{function.lineno}"


def _with_record(module: Path, code: str) -> str:
    """The code of a module of which every function records that it is entered."""
    tree = ast.parse(code)
    for function in _functions(tree):
        first = 1 if ast.get_docstring(function) else 0
        call = f"__import__('{PLUGIN.stem}').entered({_function_name(module, function)!r})"
        function.body[first:first] = ast.parse(call).body
    return ast.unparse(tree)


def record_tests(jobs: int) -> Tests:
    """Run the tests once without a change, and record what they enter; records of files that are as before are kept.

    A file is also recorded again if the program or what tests share has changed. A file that uses another file of tests
    is not; then mutants may be tested with too few tests, never with wrong ones.
    """
    records = {file: RECORDS / f"{_digest_of(file)}.jsonl" for file in _files_of_tests()}
    if missing := [file for file, record in records.items() if not record.exists()]:
        RECORDS.mkdir(exist_ok=True)
        found = _record(missing, jobs)
        for file in missing:
            records[file].write_text("".join(found[file]))
    return _read_records(records.values())


def _mutated_modules() -> list[Path]:
    return [module.relative_to(ROOT) for pattern in GROUPS for module in sorted((ROOT / SOURCE).glob(pattern))]


def _files_of_tests() -> list[str]:
    """All files of tests that may notice a mutant, and the modules with doctests."""
    folders = sorted({*MORE_TESTS, *(test for own in GROUPS.values() for test in own)})
    files = {file for test in folders for file in [ROOT / test, *(ROOT / test).rglob("test_*.py")] if file.is_file()}
    return [*sorted(str(file.relative_to(ROOT)) for file in files), *map(str, _mutated_modules())]


def _digest_of(file: str) -> str:
    """What a record of a file of tests depends on."""
    return hashlib.sha256(f"{file}\0{_digest_of_program()}\0".encode() + (ROOT / file).read_bytes()).hexdigest()[:16]


@cache
def _digest_of_program() -> str:
    """The program, and what tests share."""
    files = [file for folder in ("src", "tests") for file in sorted((ROOT / folder).rglob("*.py"))]
    shared = (file.read_bytes() for file in files if not file.name.startswith("test_"))
    return hashlib.sha256(b"\0".join(shared)).hexdigest()


def _record(files: list[str], jobs: int) -> dict[str, list[str]]:
    """What the tests of some files enter, and how long they take: lines of JSON. All get what imports enter."""
    copy = copy_project("recorded")
    for module in _mutated_modules():
        (copy / module).write_text(_with_record(module, (copy / module).read_text()))
    record = COPIES / "unfinished.jsonl"
    record.unlink(missing_ok=True)
    _run_tests(copy, files, {entered_functions.RECORD: str(record)}, *RECORDING, "-n", str(jobs), *LOADFILE)
    found: dict[str, list[str]] = defaultdict(list)
    for line in record.read_text().splitlines(keepends=True):
        found[_file(json.loads(line)[0])].append(line)
    if not any(len(json.loads(line)) > 2 for lines in found.values() for line in lines):
        raise SystemExit("No test ran that should be recorded; run pytest to see why.")
    imported = found.pop("", [])
    return {file: found[file] + imported for file in files}


def _read_records(records: Iterable[Path]) -> Tests:
    seconds: dict[str, float] = defaultdict(float)
    failed = set()
    entering: dict[str, set[str]] = defaultdict(set)
    for line in (line for record in records for line in record.read_text().splitlines()):
        test, *rest = json.loads(line)
        if len(rest) == 1:
            entering[rest[0]].add(test)
        else:
            seconds[test] += rest[0]
            failed |= set() if rest[1] else {test}
    return Tests({test: spent for test, spent in seconds.items() if test not in failed}, entering)


def outcome(mutant: Mutant, tests: Tests, copy: Path) -> Outcome:
    """What the tests of a mutant do in a copy of the project with this change.

    If none notices it, property tests run again, with as many examples as in `make test`.
    """
    chosen = tests.of(mutant)
    patience = MINUTE + PATIENCE * sum(tests.seconds[test] for test in chosen)
    module = copy / mutant.module
    status = module.stat()
    module.write_text(mutant.mutated)
    try:
        properties = [test for test in chosen if "hypothesis" in (copy / _file(test)).read_text()]
        found = _run_chosen(copy, chosen, "quick", patience)
        return _run_chosen(copy, properties, "full", 4 * patience) if found == SURVIVED else found
    finally:
        module.write_text(mutant.original)
        os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))  # or the compiled kernel would count as stale


def _run_chosen(copy: Path, chosen: list[str], profile: str, timeout: float) -> Outcome:
    """What these tests do."""
    if not chosen:
        return SURVIVED
    list_of_tests = copy / "chosen.json"
    list_of_tests.write_text(json.dumps(chosen))
    files = list(dict.fromkeys(map(_file, chosen)))
    only = {entered_functions.CHOSEN: str(list_of_tests)}
    return _run_tests(copy, files, only, "-x", "--hypothesis-profile", profile, timeout=timeout)


def _run_tests(
    copy: Path, tests: list[str], variables: dict[str, str], *options: str, timeout: float | None = None
) -> Outcome:
    """What the tests do, run in a process of their own."""
    # Python warns of `is` with a literal, which would count as a failed test.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore::SyntaxWarning"]
    # The first file has no tests; it makes sure that conftest.py is loaded, also for doctests alone.
    command += ["-p", PLUGIN.stem, *options, "tests/__init__.py", *(test for test in tests if (copy / test).exists())]
    environment = os.environ | variables | {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return HUNG
    return FAILED if done.returncode else SURVIVED


def copy_project(name: str) -> Path:
    """A fresh copy of the project, with the compiled kernel if there is one."""
    copy = COPIES / name
    shutil.rmtree(copy, ignore_errors=True)
    for folder in ("src", "tests", "docs", "benchmarks"):
        shutil.copytree(ROOT / folder, copy / folder)
    for file in ("pyproject.toml", "README.md", "Makefile", "CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy2(ROOT / file, copy / file)
    shutil.copy2(PLUGIN, copy / "src")
    return copy


def test_all(mutants: list[Mutant], jobs: int, finished: Path) -> Iterator[tuple[Mutant, Outcome]]:
    """Each mutant and what its tests do; those in the file of finished mutants are not tested again."""
    known = dict(json.loads(line) for line in finished.read_text().splitlines()) if finished.exists() else {}
    copies: SimpleQueue[Path] = SimpleQueue()
    for number in range(jobs):
        copies.put(copy_project(str(number)))
    tests = record_tests(jobs)

    def test(mutant: Mutant) -> Outcome:
        if mutant.key in known:
            return Outcome(known[mutant.key])
        copy = copies.get()
        try:
            found = outcome(mutant, tests, copy)
        finally:
            copies.put(copy)
        with finished.open("a") as file:
            file.write(json.dumps([mutant.key, found]) + "\n")
        return found

    with ThreadPoolExecutor(jobs) as pool:
        yield from zip(mutants, pool.map(test, mutants), strict=True)


def main() -> None:
    """Draw mutants, test them on all cores, and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=SAMPLE, help="size of the sample")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives another sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of mutants tested at a time")
    chosen = parser.parse_args()
    COPIES.mkdir(parents=True, exist_ok=True)
    mutants = draw_mutants(chosen.mutants, chosen.seed)
    found: Counter[Outcome] = Counter()
    for number, (mutant, result) in enumerate(test_all(mutants, chosen.jobs, COPIES / "outcomes.jsonl"), 1):
        found[result] += 1
        print(f"{number}/{len(mutants)} {mutant.module} {result}", flush=True)
        if result != FAILED:  # on a busy machine, slow tests may count as hanging
            print(mutant.diff, flush=True)
    share = found[SURVIVED] / max(1, len(mutants))
    print(f"{found[SURVIVED]} of {len(mutants)} mutants survived ({share:.1%}); the tests of {found[HUNG]} hung.")


if __name__ == "__main__":
    main()
