# Makes what bench/show.sh measures on: data.py FOLDER
import sys
import h5py, numpy as np, scipy.sparse as sp
folder, rng = sys.argv[1], np.random.default_rng(22)
users, films, ratings = 10_000, 1_000, 300_000
u, f = rng.integers(0, users, ratings), (films * rng.random(ratings) ** 2).astype(int)
with open(folder + "/ratings.csv", "w") as out:
    out.writelines(f"user{a},film{b},{s}\n" for a, b, s in zip(u, f, rng.integers(1, 6, ratings)))
nodes, edges = 20_000, 200_000
pairs = np.unique(np.stack([rng.integers(0, nodes, edges), rng.integers(0, nodes, edges)]), axis=1)
with open(folder + "/edges.csv", "w") as out:
    out.write("from,to,weight\n")
    out.writelines(f"{a},{b},{w}\n" for a, b, w in zip(*pairs, rng.integers(1, 10, pairs.shape[1])))
cells, genes = 20_000, 2_000
X = sp.random(cells, genes, 0.05, format="csr", dtype=np.float32, random_state=22)
text = h5py.string_dtype()
with h5py.File(folder + "/cells.h5ad", "w") as out:
    def group(name, kind, version="0.1.0"):
        g = out.require_group(name)
        g.attrs["encoding-type"], g.attrs["encoding-version"] = kind, version
        return g
    group("/", "anndata")
    g = group("X", "csr_matrix")
    g.attrs["shape"] = X.shape
    for name in ("data", "indices", "indptr"):
        g[name] = getattr(X, name)
    o = group("obs", "dataframe", "0.2.0")
    o.attrs["_index"], o.attrs["column-order"] = "_index", np.array(["cell_type"], dtype=text)
    o.create_dataset("_index", data=[f"cell{i}" for i in range(cells)], dtype=text)
    c = group("obs/cell_type", "categorical", "0.2.0")
    c.attrs["ordered"] = False
    c["codes"] = rng.integers(0, 12, cells).astype(np.int8)
    c.create_dataset("categories", data=[f"type {i}" for i in range(12)], dtype=text)
