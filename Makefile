# SPDX-License-Identifier: Apache-2.0
# Entry points; `make` lists them. Under them is plain CMake: cmake --preset release && cmake --build --preset release.

# One compiler process per core, but no more than memory holds (Eigen sources take up to 1.5 GB each).
JOBS ?= $(shell awk -v cores="$$(nproc)" '/^MemAvailable/ {n = int($$2 / 1.5e6); if (n < 1) n = 1; \
          print (n < cores ? n : cores)}' /proc/meminfo)

# The tables of results/results.md, in the order in which they are measured (tools/results/README.md).
TABLES ?= reciprocity noise gradients converters device_gradients parity transformer feedback imperfections device_training digits digits_noise lock_in lock_in_training digits_devices rules advise local local_block resistive resistive_devices resistive_noise parity_large fashion age speed founding_note latent_text forecast optimizers recall masses echo circuits forecast_cosine training_day seeds benchmark trainable

# What the tests of the Python package need from PyPI.
PYTHON_NEEDS ?= nanobind numpy h5py xarray h5netcdf tqdm pytest

# Folders of make asan-share (ASAN_SHARE="sim devices circuits mixers training").
ASAN_SHARE ?= sim

# make fuzz: seconds per target. make kills: SIGKILLs, and the seed of their moments.
SECONDS_EACH ?= 600
KILLS ?= 1000
SEED ?= 1

.PHONY: results results-short docs gallery help demo test slow build bench python python-share wheel setup dev-setup format format-check tidy contracts asan tsan fuzz kills asan-share torture torture-share clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z -]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

demo: setup  ## set up, build the program alone, and run the main job (about 3 minutes after the build)
	@echo "== 1 of 2: building the program alone, build/release/apps/nudge, $(JOBS) at a time: several minutes at first, seconds after"
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target nudge
	@echo "== 2 of 2: the main job, about 3 minutes on two cores"
	@bash examples/demo.sh build/release/apps/nudge

test: build  ## set up, build, run all quick tests and check the examples
	@ctest --preset release --no-tests=error --parallel $(JOBS)
	@bash examples/check.sh build/release/apps/nudge

slow: build  ## run the slow tests
	@ctest --preset slow

build: setup  ## set up and build everything, optimised (build/release)
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS)

bench: build  ## run the benchmarks
	@bash bench/run.sh build/release

python: build  ## build the Python module from the same objects and run its tests, in build/venv (needs PyPI)
	@bash tools/python_venv.sh build/venv $(PYTHON_NEEDS)
	@cmake --preset release -DNUDGE_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/build/venv/bin/python
	@cmake --build --preset release --parallel $(JOBS) --target nudge_python nudge
	@ctest --preset release --no-tests=error -R '^python$$'

python-share: build  ## the same where PyPI can be reached, else a line that says why not: what continuous integration runs of it
	@if PIP_RETRIES=1 PIP_DEFAULT_TIMEOUT=20 bash tools/python_venv.sh build/venv $(PYTHON_NEEDS); then \
	  $(MAKE) --no-print-directory python; \
	else echo "SKIPPED: Python's tests: what they need could not be had (the reason stands above)"; fi

wheel: setup  ## build into dist/ a source distribution and, from it, a wheel of the Python package that carries its libraries (needs PyPI; PYTHON=python3.12 or later: one for all of them)
	@bash tools/python_venv.sh build/venv
	@JOBS=$(JOBS) bash tools/wheel.sh $(or $(PYTHON),python3)

results: build  ## measure the tables of results/results.md again; hours, resumable (TABLES=... for some)
	@for table in $(TABLES); do python3 tools/results/$$table.py && python3 tools/results/probe.py --keep $$table || exit 1; done

results-age: build  ## which tables are older than the program? Runs their shortened forms (TABLES=... for some)
	@python3 tools/results/probe.py --check $(TABLES)

results-short: build  ## the same in a minute with shortened runs, written to results/short only
	@for table in $(TABLES); do RESULTS_SHORT=1 python3 tools/results/$$table.py || exit 1; done

setup:  ## install the missing Debian packages that the build needs
	@bash tools/install_dependencies.sh build

dev-setup:  ## install what developers need as well (clang, sanitizer runtimes, ...)
	@bash tools/install_dependencies.sh dev

format: dev-setup  ## format all C++ files
	@bash tools/format.sh

format-check: dev-setup  ## fail when a C++ file is not formatted
	@bash tools/format.sh --dry-run -Werror

tidy: dev-setup  ## build with clang and clang-tidy; every warning is an error
	@cmake --preset tidy
	@cmake --build --preset tidy --parallel $(JOBS)

contracts: build  ## quick tests with contracts on (and less optimisation)
	@cmake --preset dev
	@cmake --build --preset dev --parallel $(JOBS)
	@ctest --preset dev --no-tests=error --parallel $(JOBS)

asan tsan: dev-setup  ## quick tests under the address and undefined-behaviour, or the thread sanitizer
	@cmake --preset $@
	@cmake --build --preset $@ --parallel $(JOBS)
	@ctest --preset $@ --no-tests=error

asan-share: setup  ## the tests of sim/ alone under the address and undefined-behaviour sanitizer, contracts on: what continuous integration runs of it
	@cmake --preset asan
	@cmake --build --preset asan --parallel $(JOBS) --target $(ASAN_SHARE:%=nudge_tests_%)
	@for folder in $(ASAN_SHARE); do ctest --preset asan --no-tests=error --parallel $(JOBS) -L "^$$folder$$" || exit 1; done

docs:  ## the documentation as a site, build/site/index.html (mkdocs-material from PyPI; the pages fetch nothing)
	@test build/docs-venv/installed -nt tools/docs/requirements.txt || { python3 -m venv build/docs-venv && \
	  build/docs-venv/bin/pip install --quiet -r tools/docs/requirements.txt && touch build/docs-venv/installed; }
	@build/docs-venv/bin/mkdocs build --strict --quiet
	@echo build/site/index.html

gallery: python  ## execute the notebooks of docs/gallery again, from their scripts (jupytext, nbclient, PyTorch from PyPI)
	@build/venv/bin/python -m pip install -q -r tools/docs/gallery_requirements.txt
	@PYTHONPATH=build/release/python build/venv/bin/python tools/docs/gallery.py

fuzz: dev-setup  ## libFuzzer over every kind of input: configs, CSV, samples, HDF5 files, … (SECONDS_EACH=600)
	@cmake --preset fuzz
	@cmake --build --preset fuzz --parallel $(JOBS) --target nudge_fuzz_targets
	@bash tests/fuzz/run.sh build/fuzz $(SECONDS_EACH)

kills: build  ## kill runs at random and take away what they need: the tables of results/reliability.md (KILLS=1000 SEED=1)
	@python3 tools/torture/torture.py --kills $(KILLS) --seed $(SEED) --write results/reliability.md

torture: kills contracts asan tsan tidy fuzz  ## all that may find a fault: kills, contracts, sanitizers, clang-tidy, fuzzing; hours

torture-share: build  ## four minutes of kills, and every other fault: what continuous integration runs of it beside the tests
	@python3 tools/torture/torture.py --kills 1000 --seconds 240 --faults

clean:  ## remove everything built
	@rm -rf build
