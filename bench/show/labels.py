# What examples/shell/labels.sh does, with h5py and SciPy: labels.py CELLS.h5ad COLUMN
import sys
import h5py, numpy as np, scipy.sparse as sp
with h5py.File(sys.argv[1]) as f:
    X = f["X"]
    A = sp.csr_matrix((X["data"][:], X["indices"][:], X["indptr"][:]), shape=X.attrs["shape"])
    c = f["obs/" + sys.argv[2]]
    codes, labels = c["codes"][:], [x.decode() for x in c["categories"][:]]
pick = sp.csr_matrix((np.ones(len(codes), A.dtype), (codes, np.arange(len(codes)))), shape=(len(labels), len(codes)))
G, n = pick @ A, np.bincount(codes, minlength=len(labels))
for label, row, k in zip(labels, G.toarray(), n):
    print(label, k, row)
