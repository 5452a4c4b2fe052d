# make demo   set up what is missing, build, and run a sparse expression on a real matrix
# make test   the tests, in four minutes on two cores
# make test-long   all of them, on optimised code and a second LLVM
# make web    the explorer and the documentation as pages; binaries that are built afterwards have them inside (needs npm)
# make test-gpu   the tests that run on a GPU, if there is one
# make test-arm64   tests of arm64, by qemu-user
# make release   the files of a release, in dist/
#
# These work on a fresh Debian or Ubuntu machine that has Go.

GO ?= go
export CGO_ENABLED = 0

.PHONY: web demo test test-long test-gpu test-arm64 build setup setup-test lint bench release clean

demo: setup build
	@sh scripts/demo.sh

test: setup-test
	@GO="$(GO)" sh scripts/test.sh short

test-long: setup-test
	@GO="$(GO)" sh scripts/test.sh long

test-gpu: build
	@GO="$(GO)" sh scripts/test-gpu.sh

test-arm64:
	@GO="$(GO)" sh scripts/test-arm64.sh

build:
	$(GO) build ./...
	$(GO) build -o bin/lacuna ./cmd/lacuna

web:
	$(GO) run ./web/build

setup:
	@sh scripts/setup.sh run

setup-test:
	@sh scripts/setup.sh test

lint:
	@sh scripts/lint.sh

bench: setup
	@sh bench/run.sh

release:
	@$(GO) run ./scripts/release -o dist

clean:
	rm -rf bin dist
