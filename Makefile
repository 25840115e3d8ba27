# The two commands:  make demo   make test
# Both install what is missing (scripts/setup.sh), build, and run. Everything else is CMake: see CMakePresets.json.
.DEFAULT_GOAL := build
.PHONY: setup build demo test check-all check-format search-bench sanitize gpu-bundle wheel package install docs format clean

setup:
	@scripts/setup.sh

build/build.ninja: CMakePresets.json
	@cmake --preset release $(if $(VERBOSE),,--log-level=WARNING)

build: setup build/build.ninja
	@cmake --build --preset release $(if $(VERBOSE),,-- --quiet)

demo: build
	@scripts/demo.sh build

test: build
	@scripts/python-env.sh
	@ctest --preset release --parallel $$(nproc)

# Tests, sanitizers, fuzzers, format, check-*: scripts/check-all.sh names the steps, CONTRIBUTING.md says how long they take.
check-all: build
	@scripts/check-all.sh

check-format:
	@scripts/check-format.sh

# Times of searches, and Table 5 of the paper: some twenty minutes, on an idle machine (test/bench/README.md).
search-bench: build
	@python3 test/bench/search/search_bench.py --bin build/bin

sanitize: setup
	@cmake --preset sanitize --log-level=WARNING
	@cmake --build --preset sanitize -- --quiet
	@ctest --preset sanitize

gpu-bundle: setup
	@scripts/gpu-bundle.sh

# The Python package for machines without LLVM: dist/wheel.
wheel: setup
	@scripts/wheel.sh

# A .deb and a .tar.gz of tools, library and headers: build/packages.
package: docs
	@cmake --build --preset release --target package

# make install PREFIX=/where
install: build
	@cmake --install build --prefix $(or $(PREFIX),/usr/local)

# Reference pages of dialects and passes: build/docs.
docs: build
	@cmake --build --preset release --target mirage-docs

format:
	@git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format-22 -i

clean:
	@rm -rf build build-*
