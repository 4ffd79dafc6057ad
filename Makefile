# Two commands for everyone: `make demo` and `make test`. Each sets up what it needs in .venv first.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

CHECKED := src tests examples experiments benchmarks

.PHONY: demo test lint reproduce bench clean

demo: $(READY)
	$(BIN)/conseq demo

test: $(READY)
	$(BIN)/pytest -n 2 --dist loadfile
	$(BIN)/python -m benchmarks soak --minutes 1
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 tests/kernels

lint: $(READY)
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/mypy
	$(BIN)/mypy tests/test_typed_calls.py

# What there is and how to run it; python is $(BIN)/python.
reproduce: $(READY)
	@$(BIN)/python -m experiments
	@echo 'Here python is $(BIN)/python.'

bench: $(READY)
	@$(BIN)/python -m benchmarks
	@echo 'Here python is $(BIN)/python.'

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "conseq needs Python 3.11 or newer; name one with: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,lint]'
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
