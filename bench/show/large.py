# An AnnData file of 40,000 columns with 200 entries in each row, in chunks of 8 MB; 10 million rows are 2e9 entries and 16 GB.
# The sums of columns, for comparing, go to FILE.h5ad.npy: large.py FILE.h5ad ROWS
import sys
import h5py, numpy as np
path, rows, cols, per, block = sys.argv[1], int(sys.argv[2]), 40_000, 200, 10_000
rng = np.random.default_rng(7)
indices = (rng.integers(0, 200, size=(block, per)) + np.arange(per) * 200).astype(np.int32).ravel()  # they ascend
data = rng.random(block * per, dtype=np.float32)
with h5py.File(path, "w") as f:
    f.attrs["encoding-type"], f.attrs["encoding-version"] = "anndata", "0.1.0"
    g = f.create_group("X")
    g.attrs["encoding-type"], g.attrs["encoding-version"], g.attrs["shape"] = "csr_matrix", "0.1.0", (rows, cols)
    d = g.create_dataset("data", (rows * per,), np.float32, chunks=(block * per,))
    i = g.create_dataset("indices", (rows * per,), np.int32, chunks=(block * per,))
    g["indptr"] = np.arange(0, rows * per + 1, per)
    for b in range(rows // block):
        at = slice(b * block * per, (b + 1) * block * per)
        d[at], i[at] = data, indices
np.save(path + ".npy", np.bincount(indices, weights=data.astype(np.float64), minlength=cols) * (rows // block))
