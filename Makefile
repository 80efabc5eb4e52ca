# `make` lists the commands. Everything needed is set up on first use, in .venv.
PYTHON ?= python3
UV := .venv/bin/uv
RUN := $(UV) run --frozen --no-sync

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-lowest check lint types rooms bench lock clean

help:            ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

setup: .venv/ready   ## make .venv with everything in uv.lock

.venv/ready: pyproject.toml uv.lock
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@test -x $(UV) || .venv/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(UV) sync --frozen --quiet --inexact --extra dask --extra polars --python .venv/bin/python
	@touch $@

demo: setup      ## train on built-in data, compare, explain one decision
	@$(RUN) seminaive demo

test: setup      ## all fast tests
	@$(RUN) pytest -n 2

test-all: setup  ## all tests, the slow ones too
	@$(RUN) pytest -n 2 -m "slow or not slow"

test-lowest: setup  ## the tests with the lowest supported versions
	@$(UV) venv --quiet --clear --python .venv/bin/python .venv-lowest
	@$(UV) pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct -e ".[dask,polars]" "pytest>=8.2" "pytest-xdist>=3.6" "hypothesis>=6.100" "threadpoolctl>=3.5"
	@.venv-lowest/bin/python -m pytest -n 2 -W default tests/contract tests/table tests/evidence tests/statistics tests/kernels tests/cli tests/reproduce tests/models tests/search tests/selection tests/evaluate tests/show

lint: setup      ## formatting and style
	@$(RUN) ruff format --check .
	@$(RUN) ruff check .

types: setup     ## strict types
	@$(RUN) mypy

rooms: setup     ## the direction of imports
	@$(RUN) lint-imports

check: lint types rooms test  ## what CI runs

bench: setup     ## side-by-side ratios against peers; writes benchmarks/RESULTS.md
	@$(RUN) python -m benchmarks

lock:            ## renew uv.lock after changing dependencies
	@$(UV) lock

clean:           ## remove everything that can be made again
	rm -rf .venv .venv-lowest .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
