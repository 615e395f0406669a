# Everything runs in .venv, which `make install` builds from the pinned, hashed requirements and never touches again until
# they change.
PYTHON ?= python3
BIN := .venv/bin

# The stamp's name tells what it was built from (and where: a virtual environment cannot be moved).
INSTALLED := .venv/installed-$(shell { cat requirements-dev.txt pyproject.toml; pwd; } | cksum | tr ' ' '-')

.PHONY: help install demo test soak lint types contracts check bench oracle e2e picture lock

help:  ## list what can be made
	@sed -nE 's/^([a-z0-9]+):.*## (.*)/\1\t\2/p' Makefile | expand -t 12

install: $(INSTALLED)  ## build .venv with everything in it

demo: install  ## replay real recordings as a month of sessions and open the dashboard on them (PORT=8501)
	@$(BIN)/loopscope demo $(if $(PORT),--port $(PORT))

test: install  ## run the tests
	$(BIN)/pytest -n auto

soak: install  ## kill a hundred ingests at random moments
	LOOPSCOPE_KILLS=100 $(BIN)/pytest -s tests/ingest/test_kills.py

lint: install  ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install  ## strict types
	$(BIN)/mypy

contracts: install  ## which package may import which
	$(BIN)/lint-imports --no-logo

check: lint types contracts test  ## everything that has to hold before a commit

bench: install  ## measure ingest against a floor on a made corpus (MEGABYTES=500) and write bench/RESULTS-500MB.md
	@$(BIN)/python -m bench.run $(or $(MEGABYTES),500) bench/RESULTS-$(or $(MEGABYTES),500)MB.md

oracle: install  ## ask the real client's own functions 200,000 times whether our keys and decisions are theirs (needs npm)
	@$(BIN)/python -m tests.oracle.run

e2e: install  ## run the real client against a scripted model and hold its logs' analysis against what it did (needs npm)
	@$(BIN)/python -m tests.e2e.run
	@$(BIN)/python -m tests.guard_adapter

picture: install  ## take docs/dashboard.png anew, with the browser test of the dashboard
	LOOPSCOPE_PICTURE=docs/dashboard.png $(BIN)/pytest tests/dashboard/test_browser.py

lock:  ## pin the newest releases (needs uv)
	uv pip compile --upgrade $(LOCK) -o requirements.txt
	uv pip compile --upgrade $(LOCK) --group dev -o requirements-dev.txt

# No index address in the files: pip takes the packages from wherever it is set up to, and the hashes say which.
LOCK := pyproject.toml --quiet --universal --generate-hashes --no-emit-index-url --python-version 3.11 \
	--custom-compile-command 'make lock'

$(INSTALLED):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; '$(PYTHON)' is not. Try: make PYTHON=python3.12 install" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
		{ echo "'$(PYTHON)' lacks venv. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	rm -rf .venv
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --no-compile --only-binary :all: --require-hashes -r requirements-dev.txt
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
