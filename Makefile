# make demo    what Assay does, on the data it ships with
# make test    every check: style, types, layers, tests, coverage, documentation
#
# Both need only Python 3.11 or newer with pip: the first run makes .venv, later runs reuse it.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
PIP    := $(PY) -m pip --disable-pip-version-check
WORKERS ?= 2

# Compiled modules are kept: the tests start many processes, which would compile them again and again.
export PYTHONDONTWRITEBYTECODE :=

# Stamps: an installation is up to date as long as these two files have not changed since.
RUNTIME  := $(VENV)/.runtime-installed
MODELS   := $(VENV)/.models-installed
DEV      := $(VENV)/.dev-installed
DECLARED := pyproject.toml constraints.txt

EXAMPLES := src/assay/examples
SOURCES  := src tests tools $(if $(shell find benchmarks -name '*.py' 2>/dev/null),benchmarks)

# $(call step,NAME) prints what comes next; $(call show,COMMAND) prints a command and runs it.
step = @printf '\n== %s\n' "$(1)"
show = @printf '\n$$ %s\n' "$(1)"; PATH="$(CURDIR)/$(BIN):$$PATH" $(1)

.PHONY: help demo test lint types layers unit nightly mutations docs docs-outputs format benchmarks examples experiment gallery clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile
	@echo "make nightly | mutations | format | docs | docs-outputs | examples | experiment | gallery | benchmarks | clean    see CONTRIBUTING.md"

# ------------------------------------------------------------------------------------------------------ environment

# pip is the last thing a new environment gets, so its presence says that the environment is whole.
# Some systems ship Python without ensurepip: there the pip that is installed fills the environment.
$(BIN)/pip:
	@command -v $(PYTHON) >/dev/null || { echo "There is no '$(PYTHON)'. Install Python 3.11 or newer, or say where it is: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Assay needs Python 3.11 or newer, but $(PYTHON) is " + sys.version.split()[0] + ". Say which one to use, for example: make PYTHON=python3.12")'
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@if $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then $(PYTHON) -m venv $(VENV); \
	else $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(PY) --quiet install pip; fi

$(RUNTIME): $(DECLARED) | $(BIN)/pip
	@echo "Installing Assay (only when pyproject.toml or constraints.txt change)"
	@$(PIP) install --quiet -c constraints.txt -e '.[charts,fast]'
	@touch $@

# torch first and at the pinned version: asked for without it, pip may bring gigabytes for graphics cards.
$(MODELS): $(DECLARED) | $(BIN)/pip
	@echo "Installing Assay and what runs models (only when pyproject.toml or constraints.txt change)"
	@$(PIP) install --quiet "$$(grep '^torch==' constraints.txt)"
	@$(PIP) install --quiet -c constraints.txt -e '.[charts,fast,hf]'
	@touch $(RUNTIME) $@

$(DEV): $(DECLARED) | $(BIN)/pip
	@echo "Installing Assay and its development tools (only when pyproject.toml or constraints.txt change)"
	@$(PIP) install --quiet "$$(grep '^torch==' constraints.txt)"
	@$(PIP) install --quiet -c constraints.txt -e '.[dev,hf,sign,ja,ray]'
	@touch $(RUNTIME) $(MODELS) $@

# ------------------------------------------------------------------------------------------------------------- demo

demo: $(MODELS)
	$(call show,assay demo demo)

# ------------------------------------------------------------------------------------------------------------- test

# Types beside tests: there is work for a core also while a worker of the tests waits for the other.
test: lint layers
	+@$(MAKE) --no-print-directory -j 2 types unit
	+@$(MAKE) --no-print-directory docs
	$(call step,all checks passed)

lint: $(DEV)
	$(call step,ruff check)
	@$(PY) -m ruff check .
	$(call step,ruff format --check)
	@$(PY) -m ruff format --check .

types: $(DEV)
	$(call step,mypy --strict)
	@$(PY) -m mypy -n $(WORKERS) $(SOURCES)

layers: $(DEV)
	$(call step,import-linter)
	@$(BIN)/lint-imports --no-logo

# The workers have the cores for themselves: a library that starts a thread per core would only get in their way.
unit: $(DEV)
	$(call step,pytest: tests and the examples of docstrings and pages)
	@OMP_NUM_THREADS=1 $(PY) -m pytest -q -n $(WORKERS) --dist worksteal -m 'not traced' --doctest-modules tests src/assay
	$(call step,pytest: the statistics under the tracer of coverage)
	@OMP_NUM_THREADS=1 $(PY) -m pytest -q -n $(WORKERS) --dist worksteal -m traced --cov --cov-report= tests/stats
	$(call step,branch coverage of stats: at least 98 %)
	@$(PY) -m coverage report --include='*/assay/stats/*' --fail-under=98

# Every file operation of every writing command, every mutation of every reader, new examples of every property.
nightly: $(DEV)
	$(call step,pytest: faults and mutations, all of them; simulations at full size)
	@OMP_NUM_THREADS=1 $(PY) -m pytest -q -n $(WORKERS) --dist worksteal -m nightly tests
	$(call step,pytest: properties, 100 new examples of each)
	@OMP_NUM_THREADS=1 $(PY) -m pytest -q -n $(WORKERS) --dist worksteal -m hypothesis --hypothesis-profile=nightly tests

# One change at a time to the code that verdicts rest on: is there one that no test notices? From the beginning, for
# mutmut keeps what it found also where tests have changed since. It must not see sources other than those it changed.
mutations: $(DEV)
	$(call step,mutmut: every change of intervals and tests and adjustment)
	@rm -rf mutants
	@env -u PYTHONPATH OMP_NUM_THREADS=1 PATH="$(CURDIR)/$(BIN):$$PATH" mutmut run --max-children $(WORKERS)
	$(call step,every survivor killed or explained in tests/stats/mutants.md)
	@$(PY) -m tools.mutants --out benchmarks/results/mutants.md

docs: $(DEV)
	$(call step,documentation: mkdocs build --strict)
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

# ------------------------------------------------------------------------------------------------------ maintenance

format: $(DEV)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

docs-outputs: $(DEV)
	$(PY) -m tools.docs_outputs

# The pictures of docs/gallery.md, from the pages that the demo makes; needs Chromium.
gallery: $(DEV)
	$(BIN)/assay demo demo
	$(PY) -m tools.gallery demo docs/gallery

examples: $(RUNTIME)
	$(PY) -m tools.make_examples $(EXAMPLES)

experiment: $(MODELS)
	$(PY) -m tools.make_experiment $(EXAMPLES)/tuning/runs

benchmarks: $(DEV)
	@PYTHON=$(PY) benchmarks/run

clean:
	rm -rf $(VENV) site dist mutants .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
