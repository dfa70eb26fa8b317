.DEFAULT_GOAL := help
.PHONY: help demo test lint traces validate bench lock clean setup
PY := .venv/bin/python

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

setup:
	@sh .ci/setup

demo: setup ## Run the first lesson's demo
	@$(PY) -m curriculum.lessons.s01_agent_loop.demo

test: setup ## Run both suites: the learner's and the project's
	@$(PY) -m unittest discover -s curriculum/tests
	@$(PY) -m pytest

lint: setup ## Check style, types and the arrows between folders
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@.venv/bin/lint-imports --no-cache

traces: setup ## Write the golden traces anew (refused if one does not validate)
	@$(PY) -m tests.golden --update

validate: setup ## Validate every golden trace
	@$(PY) -m curriculum.trace validate traces/golden/*.jsonl

bench: setup ## Measure, as ratios within one run
	@for bench in tests/benchmarks/bench_*.py; do $(PY) "$$bench" || exit 1; done

lock: setup ## Pin the newest dependencies
	@$(PY) -m piptools compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras \
	    --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-header --extra trace --extra dev \
	    --output-file requirements.lock pyproject.toml

clean: ## Remove what make has made
	@rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
