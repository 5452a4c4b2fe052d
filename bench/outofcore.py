# The matrix of bench/outofcore.sh: outofcore.py ROWS ENTRIES FILE writes ROWS rows of ENTRIES each, one column in each of as many strata.

import json
import sys

import h5py
import numpy as np

n, per, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(1)
step = n // per
strata = (np.arange(per) * step).astype("u4")
with h5py.File(path, "w") as f:
    pos = f.create_dataset("pointers_to_1", (n + 1,), "u8")
    crd = f.create_dataset("indices_1", (n * per,), "u4")
    val = f.create_dataset("values", (n * per,), "f8")
    for lo in range(0, n, 50000):
        hi = min(n, lo + 50000)
        pos[lo:hi] = np.arange(lo, hi, dtype="u8") * per
        crd[lo * per : hi * per] = (rng.integers(0, step, (hi - lo, per), dtype="u4") + strata).ravel()
        val[lo * per : hi * per] = rng.random((hi - lo) * per)
    pos[n] = n * per
    types = {"indices_1": "uint32", "pointers_to_1": "uint64", "values": "float64"}
    about = {"version": "0.1", "format": "CSR", "shape": [n, n], "number_of_stored_values": n * per, "data_types": types}
    f.attrs["binsparse"] = json.dumps({"binsparse": about})
