# The SciPy side of the SpMV benchmark: a process that the Go program drives,
# so that both take turns on the same machine at the same time.
#
#   scipy.py DIR ROWS COLS     A and x are the raw arrays in DIR
#
# It writes y to DIR, says "ready VERSION", and then answers each line of its
# input with the nanoseconds that one product took by the clock and of the
# processor.

import sys
import time

import numpy as np
import scipy
import scipy.sparse

folder, rows, cols = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
pos = np.fromfile(folder + "/pos", dtype=np.int32)
crd = np.fromfile(folder + "/crd", dtype=np.int32)
vals = np.fromfile(folder + "/vals", dtype=np.float64)
x = np.fromfile(folder + "/x", dtype=np.float64)
A = scipy.sparse.csr_matrix((vals, crd, pos), shape=(rows, cols))
(A @ x).tofile(folder + "/y")
print("ready", scipy.__version__, flush=True)
for line in sys.stdin:
    cpu = time.process_time_ns()
    start = time.perf_counter_ns()
    A @ x
    wall = time.perf_counter_ns() - start
    print(wall, time.process_time_ns() - cpu, flush=True)
