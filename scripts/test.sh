#!/bin/sh
# All tests, then the engine tests again on the oldest and the newest LLVM that
# is installed.
set -eu
go test ./...
for version in 14 22 19; do
	if ls /usr/lib/*/libLLVM*"$version"* /usr/lib/llvm-"$version"/lib/libLLVM* >/dev/null 2>&1; then
		tested="${tested:-} $version"
		[ "$version" = 19 ] && [ "${tested# 14 22}" = " 19" ] && continue
		echo "engine tests on LLVM $version"
		LACUNA_LLVM=$version go test -count=1 . ./runtime ./codegen/... ./internal/llvm
	fi
done
