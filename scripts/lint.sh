#!/bin/sh
# gofmt, go vet and staticcheck over the module and, beside it, that of the benchmarks.
set -eu
unformatted=$(gofmt -l $(git ls-files '*.go'))
if [ -n "$unformatted" ]; then
	echo "gofmt would change:" >&2
	echo "$unformatted" >&2
	exit 1
fi
go vet ./...
go vet -C bench ./...
go run honnef.co/go/tools/cmd/staticcheck ./...
