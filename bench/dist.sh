#!/bin/sh
# Compares products on 1, 2, 4 and 8 ranks of MPI with PETSc's on the same matrices, and prints the table: times, what is sent, and what PETSc sends.
#
#   sh bench/dist.sh [SIDE]     matrices of SIDE squared rows, 1000
#
# It takes about half an hour on 2 processors, and needs Open MPI and petsc4py (Debian: apt-get install openmpi-bin python3-petsc4py). Nothing
# else should be running.
set -eu
cd "$(dirname "$0")/.."
export CGO_ENABLED=0
${PYTHON:-/usr/bin/python3} -c 'import petsc4py' || { echo 'apt-get install python3-petsc4py' >&2; exit 1; }
echo "load $(cut -d' ' -f1-3 /proc/loadavg)"
exec ${GO:-go} run -C bench ./dist -side "${1:-1000}" -ranks 1,2,4,8
