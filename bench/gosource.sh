#!/bin/sh
# Compares kernels as Go source with machine code and with loops written by hand in Go, and writes
# bench/results/gosource-YYYY-MM-DD.md, with a chart. Nothing else should be running.
#
#   sh bench/gosource.sh
set -eu
cd "$(dirname "$0")/.."
. bench/machine.sh
$go build -o "$bin/lacuna" ./cmd/lacuna
kernel() {
	name=$1 program=$2
	shift 2
	"$bin/lacuna" build "$program" "$@" --go-package kernels --go-source --name "$name" -o bench/gosource/kernels >/dev/null
}
kernel SpMV 'y(i) = A(i,j)*x(j)' A:CSR x:D
kernel SpMM 'C(i,k) = A(i,j)*B(j,k)' A:CSR B:D C:D
kernel Add 'C(i,j) = A(i,j)+B(i,j)' A:CSR B:CSR C:CSR
kernel Mul 'C(i,j) = A(i,j)*B(i,j)' A:CSR B:CSR C:CSR
$go build -C bench -tags gosource -o "$bin/gosource" ./gosource
out=bench/results/gosource-$(date +%F).md
{
	machine 'Kernels as Go source' 'sh bench/gosource.sh'
	"$bin/gosource"
	printf '\nLoad after: %s\n' "$(load)"
} >"$bin/report"
mv "$bin/report" "$out"
drawn "$out"
