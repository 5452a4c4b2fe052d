# make demo   set up what is missing, build, and run a sparse expression on a real matrix
# make test   the whole test suite
#
# Both work on a fresh Debian or Ubuntu machine that has Go.

GO ?= go
export CGO_ENABLED = 0

.PHONY: demo test build setup setup-test lint bench clean

demo: setup build
	@sh scripts/demo.sh

test: setup-test build
	@sh scripts/test.sh

build:
	$(GO) build ./...
	$(GO) build -o bin/lacuna ./cmd/lacuna

setup:
	@sh scripts/setup.sh run

setup-test:
	@sh scripts/setup.sh test

lint:
	@sh scripts/lint.sh

bench: setup
	@sh bench/run.sh

clean:
	rm -rf bin
