#!/bin/sh
# Compares reductions, scans and quantiles with SciPy, NumPy, PyTorch and C
# loops, and writes bench/results/reduce-PROCESSOR-YYYY-MM-DD.md.
#
#   sh bench/reduce.sh [SECONDS]     SECONDS: how long to repeat each operation on
#                                    each input, for each side, 0.5 by default
#
# LIMIT in the environment is how long one repetition may take, 30s by default.
# It needs gcc, LLVM, about 2 GB of memory and 1 GB of disk in $TMPDIR; and
# python3-scipy and python3-torch if the tables are to be complete. Nothing else
# should be running.
set -eu
cd "$(dirname "$0")/.."
. bench/machine.sh
compare reduce 'Reductions, scans and quantiles' reductions "${1:-0.5}" "${LIMIT:-30s}"
