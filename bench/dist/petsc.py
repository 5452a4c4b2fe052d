# The PETSc side of bench/dist: under mpirun of Open MPI, one process a rank.
#
#   petsc.py DIR ROWS COLUMNS TIMES ROUNDS     A and x are the raw arrays in DIR
#
# It multiplies A, cut into blocks of rows, with a vector (COLUMNS 0) or a dense matrix, TIMES times in each of ROUNDS. Rank 0
# writes y to DIR and prints, as JSON, the seconds of one product in each round, and the messages and bytes that all ranks sent for it,
# as PETSc's own log has them. The log counts each message at both its ends.

import json
import sys
import time

import numpy as np
import petsc4py

folder, rows, columns, times, rounds = sys.argv[1], *map(int, sys.argv[2:6])
petsc4py.init([sys.argv[0]])
from petsc4py import PETSc  # noqa: E402

comm = PETSc.COMM_WORLD
PETSc.Log.begin()
pos = np.memmap(folder + "/pos", np.int32, "r")
crd = np.memmap(folder + "/crd", np.int32, "r")
vals = np.memmap(folder + "/vals", np.float64, "r")
place = PETSc.Vec().createMPI(rows, comm=comm)
first, last = place.getOwnershipRange()
lo, hi = pos[first], pos[last]
A = PETSc.Mat().createAIJ((rows, rows), csr=(np.array(pos[first : last + 1]) - lo, np.array(crd[lo:hi]), np.array(vals[lo:hi])), comm=comm)
values = np.memmap(folder + "/x", np.float64, "r")
if columns == 0:
    x, y = place, place.duplicate()
    x.setArray(values[first:last])
    event = PETSc.Log.Event("MatMult")
    product = lambda: A.mult(x, y)  # noqa: E731
else:
    local = np.asfortranarray(values.reshape(rows, columns)[first:last])
    x = PETSc.Mat().createDense(((last - first, rows), (PETSc.DECIDE, columns)), array=local, comm=comm)
    y = A.matMult(x)
    event = PETSc.Log.Event("MatMatMultNum")
    product = lambda: A.matMult(x, result=y)  # noqa: E731


def sent():
    log = event.getPerfInfo()
    return np.array([log["numMessages"], log["messageLength"]])


product()
before = sent()
product()
mine = sent() - before
total = PETSc.Vec().createMPI((2, 2 * comm.size), comm=comm)
total.setArray(mine)
scatter, everyones = PETSc.Scatter.toZero(total)
scatter.scatter(total, everyones)
seconds = []
for _ in range(rounds):
    comm.barrier()
    start = time.perf_counter()
    for _ in range(times):
        product()
    comm.barrier()
    seconds.append((time.perf_counter() - start) / times)
out = y.getArray() if columns == 0 else np.ascontiguousarray(y.getDenseArray())
if comm.rank == 0:
    out.tofile(folder + "/petsc")
    logged = everyones.getArray().reshape(-1, 2).sum(axis=0) / 2
    print(json.dumps({"seconds": seconds, "messages": int(logged[0]), "bytes": int(logged[1])}))
