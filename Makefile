# make demo   install into .venv and run the reference examiners over the bundled cases
# make test   install and run the tests, without those on downloaded data (make real) and in a browser (make browser)
# make lint   ruff and mypy
# make install-quickumls   the approximate matcher too; its tests are skipped without it
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# The constraints hold for the build backend too, so that an installation is the same every time.
PIP    := PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install -q --only-binary=:all:

.PHONY: demo test lint browser real postgres bench clean install install-dev install-quickumls

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml constraints.txt
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.installed

install: $(VENV)/.installed
install-dev: $(VENV)/.installed-dev

# medspaCy and its QuickUMLS are sources without wheels; both are pure Python, so no compiler is needed.
install-quickumls: $(VENV)/.installed-dev
	$(PIP) --no-binary=medspacy,medspacy_quickumls -e '.[dev,quickumls]'

demo: install
	$(BIN)/bedside demo

# One process a core, each with the files it takes, since a file's tests share what they have played.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile

test: install-dev
	$(PYTEST) --ignore=tests/real

real: install-dev
	BEDSIDE_REQUIRE_REAL_DATA=1 $(PYTEST) tests/real

postgres: install-dev
	BEDSIDE_REQUIRE_POSTGRES=1 $(BIN)/python -m pytest tests/simulator/index

browser: install-dev
	BEDSIDE_REQUIRE_BROWSER=1 $(BIN)/python -m pytest tests/browser

bench: install-dev
	$(BIN)/python tests/bench

lint: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
