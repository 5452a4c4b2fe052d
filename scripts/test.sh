#!/bin/sh
# All tests, which use the newest LLVM that is installed; then the tests of the
# engines again on the oldest one that is supported, but for those that only run
# interpreters.
set -eu
go test -timeout 30m ./...
if ls /usr/lib/*/libLLVM-14* >/dev/null 2>&1; then
	echo "the engines again, on LLVM 14"
	LACUNA_LLVM=14 LACUNA_TEST_AGAIN=1 go test -count=1 -timeout 30m . ./runtime/... ./codegen/... ./internal/llvm ./internal/testing/conformance
else
	echo "LLVM 14 is not installed: the engines ran on one LLVM only"
fi
