# Everything runs in .venv, which is made on first use and remade when pyproject.toml changes.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check format bench accuracy docs clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 16

$(READY): pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python $(PYTHON) $(VENV) && uv pip install --quiet --python $(BIN)/python -e '.[dev]'; \
	else \
	  $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'; \
	fi
	@touch $@

demo: $(READY)  ## set up, disambiguate a generated corpus, evaluate it, write demo/report.html
	@$(BIN)/homonym demo -o demo

check: $(READY)  ## ruff and mypy --strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check  ## set up, then everything CI runs: lint, types, tests
	$(BIN)/pytest

format: $(READY)  ## apply ruff's fixes and formatting
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)  ## rewrite docs/commands.md from the commands' own --help
	$(BIN)/python docs/build_commands.py

bench: $(READY)  ## run the benchmarks; results go to benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

accuracy: $(READY)  ## measure on the labelled sets in ../shared/data; figures go to docs/accuracy.md
	$(BIN)/python -m benchmarks.accuracy -o docs/accuracy.md

clean:  ## remove the environment and everything generated
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
