# Everything runs in .venv. `make demo` installs only what the program needs, all other targets also the tools.
# Both are installed on first use, and again when pyproject.toml changes.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
PROGRAM := $(VENV)/.program
TOOLS := $(VENV)/.tools

# Tests of one file share fixtures, so they run in one process; conftest.py puts the longest files first.
PYTEST := $(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder

# Some machines tell Python to write no bytecode. Each of the many processes of a test run would compile all modules.
export PYTHONDONTWRITEBYTECODE :=
# mypy uses all cores, too.
export MYPY_NUM_WORKERS := auto

.DEFAULT_GOAL := help
.PHONY: help demo test thorough quick check format bench accuracy mutants docs clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

$(PROGRAM): pyproject.toml
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(TOOLS): pyproject.toml
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(PROGRAM) $@

demo: $(PROGRAM)  ## disambiguate a generated corpus, evaluate the result, write demo/report.html
	@$(BIN)/homonym demo -o demo

check: $(TOOLS)  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

test: check  ## all checks and all tests, on all cores; this is what CI runs
	$(PYTEST) --hypothesis-profile full

thorough: check  ## like test, with five times as many examples of the property tests; run it after changes of the kernel
	$(PYTEST) --hypothesis-profile thorough

quick: $(TOOLS)  ## all tests except slow ones, with few Hypothesis examples: less than two minutes
	$(PYTEST) -q -m "not slow and not spark" --hypothesis-profile quick

format: $(TOOLS)  ## apply the fixes and the formatting of ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(TOOLS)  ## rewrite docs/commands.md from the --help of the commands
	$(BIN)/python docs/build_commands.py

bench: $(TOOLS)  ## run the benchmarks, twenty minutes; results go to benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

accuracy: $(TOOLS)  ## measure on the labelled sets in ../shared/data; figures go to docs/accuracy.md
	$(BIN)/python -m benchmarks.across_names -o docs/accuracy.md
	$(BIN)/python -m benchmarks.accuracy -o docs/accuracy.md

mutants: $(TOOLS)  ## mutation testing: change the code at random, and list the changes that no test notices
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,mutants]'
	$(BIN)/python -m benchmarks.mutants

clean:  ## remove the environment and everything that was generated
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
