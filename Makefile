# Two commands for a fresh clone with only python3 and make:
#   make run    the suites against a simulated lab made from the testbed file; prints where the report is
#   make test   the project's own tests; of those that run whole labs or programs some, drawn (all: ARGS=--whole)
#   make lab    the suites against real sshd, iperf3 and queues in network namespaces of this machine (root); ARGS="-k ..."
#   make validate   the packet network against reference results and closed forms (ARGS=--quick: some of each kind)
#   make healthy  every suite on labs in which nothing is wrong, drawn from seeds (ARGS="--seeds 1-30")
#   make platforms  every suite on every testbed of testbeds/, simulated: a line each (ARGS="--seeds 2")
#   make tune     thresholds searched for a small network, the whole way (a minute; docs/studies.md)
#   make break  runs broken in every way at steps of their change journal; points tried and survived (ARGS="--seed 2")
#   make faults   the catalogue of faults: each has to turn its suites red, in its words (half an hour on two CPUs; goes on where it was; ARGS="--family hosts")
#   make mutations  what green runs asked, mutated 10 000 times a suite and judged again: no loss stays a pass (ARGS="--each 1000")
# uv is used when it is there, otherwise venv and pip; versions are pinned with hashes in requirements*.txt.

PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
TESTBED ?= testbeds/h3c-s6550-cx4.yaml
LAB     ?= testbeds/linux-lab.yaml
ARGS    ?=
# tests wait more than they compute: three processes more than there are CPUs; a process that dies is
# red at once (with another in its place xdist 3.8 waits for ever for what the first had still to do)
SHARED  := -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 3) --dist loadgroup --no-loadscope-reorder --max-worker-restart 0
# else each of some hundred processes would compile all modules anew
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test lab healthy platforms break mutations faults validate tune lint setup clean
.DEFAULT_GOAL := run

run: $(VENV)/.run-ready
	$(BIN)/python -m pytest suites --testbed $(TESTBED) --dry-run $(ARGS)

# Whatever happens in between, Ctrl-C too, the lab is taken down; a failed `up` takes itself down.
# What an earlier one that was killed has left goes first.
lab: $(VENV)/.installed
	@$(BIN)/python -m labtests linuxlab down $(LAB) || exit $$?
	@$(BIN)/python -m labtests linuxlab up $(LAB) || exit $$?; \
	trap '$(BIN)/python -m labtests linuxlab down $(LAB)' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP; \
	$(BIN)/python -m pytest suites --testbed $(LAB) $(ARGS)

test: $(VENV)/.dev-ready
ifneq (,$(findstring tests/,$(ARGS)))
	env -u LABTESTS_TESTBED $(BIN)/python -m pytest $(ARGS)
else
	env -u LABTESTS_TESTBED $(BIN)/python -m pytest tests $(SHARED) $(ARGS)
endif

break: $(VENV)/.dev-ready
	env -u LABTESTS_TESTBED $(BIN)/python tests/recovery/breaking.py $(ARGS)

healthy: $(VENV)/.dev-ready
	env -u LABTESTS_TESTBED $(BIN)/python tests/healthy/healthy.py $(ARGS)

platforms: $(VENV)/.dev-ready
	env -u LABTESTS_TESTBED $(BIN)/python tests/healthy/healthy.py $(patsubst testbeds/%.yaml,--lab %,$(wildcard testbeds/*.yaml)) $(ARGS)

mutations: $(VENV)/.dev-ready
	env -u LABTESTS_TESTBED $(BIN)/python tests/mutations/mutations.py $(ARGS)

faults: $(VENV)/.run-ready
	env -u LABTESTS_TESTBED $(BIN)/python -m labtests faults run $(ARGS)

validate: $(VENV)/.run-ready
	$(BIN)/python -m labtests network validate $(ARGS)

# a dozen patterns; some settings that are published, some that are searched
SOME := incast-2-local,incast-4-remote,incast-6-mixed,incast-2-4k,incast-4-qps-4,targets-2-by-4,burst-8-16k,cable-2km-incast-4,all-to-all-4,ring-6,victim-of-4,failed-1-all-to-all-8
tune: $(VENV)/.dev-ready
	env -u LABTESTS_TESTBED $(BIN)/python -m labtests tune docs/studies/small-profile.yaml --case docs/studies/small.yaml --patterns $(SOME) --trials 4 $(ARGS)

lint: $(VENV)/.tools-ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

setup: $(VENV)/.dev-ready

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "labtests needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 run"; exit 1; }
	@if command -v uv >/dev/null 2>&1; then uv venv --quiet --python $(PYTHON) $(VENV); \
	else $(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "python3 -m venv failed: on Debian or Ubuntu run 'apt-get install python3-venv', then make again"; exit 1; }; fi

install = if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python $(1); \
	else $(BIN)/python -m pip install --quiet --disable-pip-version-check $(1); fi

$(VENV)/.installed: $(VENV)/bin/python requirements.txt pyproject.toml
	@echo "installing requirements.txt (once)"
	@$(call install,-r requirements.txt)
	@$(call install,--no-deps --no-build-isolation -e .)
	@touch $@

$(VENV)/.run-ready: $(VENV)/.installed
	@echo "compiling the packet network (once)"
	@$(BIN)/python -m labtests simlab warm
	@touch $@

$(VENV)/.tools-ready: $(VENV)/.installed requirements-dev.txt
	@echo "installing requirements-dev.txt (once)"
	@$(call install,-r requirements-dev.txt)
	@touch $@

$(VENV)/.dev-ready: $(VENV)/.tools-ready $(VENV)/.run-ready
	@touch $@
