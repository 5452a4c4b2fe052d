#!/bin/sh
# Compares operations with sparse results with SciPy, Eigen, GraphBLAS and C
# loops, and writes bench/results/sparse-YYYY-MM-DD.md.
#
#   sh bench/sparse.sh [SECONDS]     SECONDS: how long to repeat each operation on
#                                    each input, for each side, 0.5 by default
#
# LIMIT in the environment is how long one repetition may take, 30s by default.
# It needs gcc, g++, LLVM, about 10 GB of memory and 1 GB of disk in $TMPDIR;
# and python3-scipy, libeigen3-dev and libgraphblas-dev if the tables are to be
# complete. Nothing else should be running.
set -eu
cd "$(dirname "$0")/.."
. bench/machine.sh
seconds=${1:-0.5}
limit=${LIMIT:-30s}

$go build -o "$bin/sparse" ./bench/sparse
$go build -o "$bin/lacuna" ./cmd/lacuna

out=bench/results/sparse-$(date +%F).md
mkdir -p bench/results
{
	machine 'Sparse results' "LIMIT=$limit sh bench/sparse.sh $seconds"
	"$bin/sparse" -seconds "$seconds" -limit "$limit" -python "$python" || echo 1 >"$bin/failed"
	printf 'Load after: %s\n' "$(load)"
} >"$bin/report"
mv "$bin/report" "$out"
echo "wrote $out"
[ ! -e "$bin/failed" ]
