.DEFAULT_GOAL := help
.PHONY: help demo test class lint traces pictures book validate bench mutants soak fuzz lock clean venv locked
PY := .venv/bin/python

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

venv:
	@sh .ci/setup venv

locked: ## Install the locked packages into .venv (once; one to five minutes)
	@sh .ci/setup locked

demo: venv ## Run the first lesson's demo
	@$(PY) -m curriculum.lessons.s01_agent_loop.demo

test: locked ## Run both suites: the learner's and the project's
	@$(PY) -m unittest discover -s curriculum/tests
	@$(PY) -m pytest -n auto

class: locked ## Grade 200 generated submissions, many of them hostile
	@CLASS_SIZE=200 $(PY) -m pytest tests/grading_tool/test_class.py

lint: locked ## Check style, types and the arrows between folders
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) -c 'from importlinter.cli import lint_imports_command as lint; lint()' --no-cache --no-logo

traces: locked ## Write the golden traces anew (refused if one does not validate)
	@$(PY) -m tests.golden --update

pictures: locked ## Draw the pictures of the pages anew, from golden traces and real runs
	@$(PY) -m tests.pictures --update

book: locked ## Build the pages as a site in dist/book, for the browser; offline
	@$(PY) -m lessons.book

validate: locked ## Validate every golden trace
	@$(PY) -m curriculum.trace validate traces/golden/*.jsonl

bench: locked ## Measure everything, beside its peers, in one table (minutes; wants a quiet machine)
	@$(PY) -m tests.benchmarks $(BENCH)

mutants: locked ## Change the code a little at a time, to see whether a test notices (hours)
	@for package in $(or $(PACKAGES),core tools sessions trace); do $(PY) -m tests.mutation $$package $(MUTANTS) || exit 1; done

soak: locked ## Run an hour of turns, compressed; nothing may be left over (half an hour)
	@nice $(PY) -m tests.soak

fuzz: locked ## Make inputs up and hold invariants (TARGET=sse INPUTS=100000)
	@$(PY) -m tests.fuzz $(or $(TARGET),all) --inputs $(or $(INPUTS),100000)

lock: locked ## Pin the newest dependencies
	@$(PY) -m piptools compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	    --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-header --extra trace --extra providers --extra mino --extra grading --extra experiments --extra dask --extra book --extra dev \
	    --output-file requirements.lock pyproject.toml

clean: ## Remove what make has made
	@rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .benchmarks
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
