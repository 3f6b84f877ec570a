# Two commands on a fresh machine: `make quickstart` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: quickstart test lint types browser unit test-slow test-gpu test-kernels clean

quickstart: $(VENV)/.installed
	$(BIN)/conceptlab run quickstart

test: lint types unit

lint: $(VENV)/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.developer
	$(BIN)/pyright

# For the tests of the studio and the report: installed where apt and root are there; elsewhere they are skipped.
browser:
	@command -v chromedriver >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	  && { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null; }; } \
	  || echo "no browser could be installed: tests/browser will be skipped (needs chromium and chromium-driver)"

unit: browser $(VENV)/.developer
	$(BIN)/pytest -n auto --dist worksteal

test-slow: $(VENV)/.developer
	$(BIN)/pytest -m slow -n auto --dist worksteal

test-gpu: $(VENV)/.developer
	$(BIN)/pytest -m gpu

# Without a GPU: what kernels compute, in Triton's interpreter, and whether they compile for one. Triton takes 1 GB, so
# that it is installed for this only.
test-kernels: $(VENV)/.developer
	$(BIN)/pip install --quiet --constraint constraints.txt triton
	TRITON_INTERPRET=1 $(BIN)/pytest tests/kernels -n auto
	$(BIN)/pytest tests/kernels/test_hopper.py -n auto

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
	  || (echo "conceptlab needs Python 3.11 to 3.13: make PYTHON=python3.12 …"; exit 1)
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.developer: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build dist
