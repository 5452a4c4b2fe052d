#!/bin/sh
# test.sh short: the tests as "make test" runs them, with -short: engines compile in a hurry, and of products of
# cases those run that cover the pairs. vet is lint.sh's.
# test.sh long: all tests, on code that is optimised as users have it, with the newest LLVM that is installed; then
# those of the engines again on the oldest one that is supported, but for those that only run interpreters; then the Python
# package's, and that of releases.
set -eu
case ${1:-short} in
short)
	# Collections take a fifth of the time of what reads files otherwise. The packages that take longest are begun first, so
	# that no processor waits for one of them at the end.
	export GOGC="${GOGC:-400}"
	exec "${GO:-go}" test -short -vet=off -timeout 10m ./runtime/exec ./internal/testing/difftest ./...
	;;
long)
	"${GO:-go}" test -timeout 30m ./...
	if ls /usr/lib/*/libLLVM-14* >/dev/null 2>&1; then
		echo "the engines again, on LLVM 14"
		LACUNA_LLVM=14 LACUNA_TEST_AGAIN=1 "${GO:-go}" test -count=1 -timeout 30m \
			. ./runtime/... ./codegen/... ./internal/llvm ./internal/testing/conformance ./internal/testing/e2e/aot ./internal/testing/e2e/grids ./internal/testing/e2e/levels ./internal/testing/e2e/results
	else
		echo "LLVM 14 is not installed: the engines ran on one LLVM only"
	fi
	sh scripts/test-python.sh
	sh scripts/test-release.sh
	;;
*)
	echo "usage: test.sh short|long" >&2
	exit 2
	;;
esac
