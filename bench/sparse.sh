#!/bin/sh
# Compares operations with sparse results with SciPy, Eigen, GraphBLAS and C
# loops, and writes bench/results/sparse-PROCESSOR-YYYY-MM-DD.md.
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
compare sparse 'Sparse results' results "${1:-0.5}" "${LIMIT:-30s}"
