"""Makes small.h5ad and zarr.zip with anndata 0.8, zarr 2.13, numcodecs 0.11 and h5py 3.7: run it in this folder.

The arrays of zarr.zip under v2/ are made by zarr; those under v3/ follow the specification of version 3, with the chunks
packed by numcodecs. All of them hold the same 5x7 matrix, whose element (i,j) is 7*i+j, but for the last rows of "holes",
which are the fill value -1.
"""
import json, os, shutil, struct, tempfile, warnings, zipfile
import anndata, numcodecs, numpy as np, pandas as pd, scipy.sparse as sp, zarr

warnings.filterwarnings("ignore")
X = sp.csr_matrix(np.array([[0, 1, 0, 2], [3, 0, 0, 0], [0, 0, 0, 0], [0, 4, 5, 0], [6, 0, 0, 7]], dtype=np.float32))
obs = pd.DataFrame({"kind": pd.Categorical(["b", "a", None, "b", "a"]), "batch": pd.Categorical([10, 20, 10, 20, 20]),
                    "n": np.arange(5), "ok": [True, True, False, True, False]}, index=["cell%d" % i for i in range(5)])
a = anndata.AnnData(X, obs=obs)
a.layers["counts"] = sp.csc_matrix((X * 10).astype(np.int64))
a.obsm["pca"] = np.arange(10.0).reshape(5, 2)
a.write("small.h5ad", compression="gzip")

root = tempfile.mkdtemp()
a.write_zarr(root + "/small.zarr")
M = np.arange(35, dtype="i4").reshape(5, 7)
B = numcodecs.Blosc
compressors = {
    "raw": None, "gzip": numcodecs.GZip(), "zlib": numcodecs.Zlib(), "zstd": numcodecs.Zstd(),
    "lz4": B("lz4", 5, B.SHUFFLE), "lz4plain": B("lz4", 5, B.NOSHUFFLE), "lz4bits": B("lz4", 5, B.BITSHUFFLE),
    "blosczstd": B("zstd", 5, B.SHUFFLE), "blosczlib": B("zlib", 5, B.SHUFFLE),
}
v2 = zarr.open_group(root + "/codecs.zarr/v2", mode="w")
for name, c in compressors.items():
    v2.create_dataset(name, data=M, chunks=(2, 3), compressor=c)
v2.create_dataset("big", data=M.astype(">i4"), chunks=(2, 3), compressor=None)
v2.create_dataset("fortran", data=M, chunks=(2, 3), order="F", compressor=None)
v2.create_dataset("holes", data=M, chunks=(2, 7), fill_value=-1, compressor=None)
os.remove(root + "/codecs.zarr/v2/holes/2.0")
v2.create_dataset("blosclz", data=np.zeros((64, 64), "i4"), chunks=(64, 64), compressor=B("blosclz", 9, B.SHUFFLE))
# Blocks that are split into streams, and several of them.
long = (np.arange(200_000) % 1000).astype("i8")
for name, c in {"longlz4": B("lz4", 5, B.SHUFFLE, 1 << 15), "longbits": B("lz4", 5, B.BITSHUFFLE, 1 << 15), "longzstd": B("zstd", 5, B.SHUFFLE)}.items():
    v2.create_dataset(name, data=long, chunks=(150_000,), compressor=c)

def put3(name, meta):
    os.makedirs(root + "/codecs.zarr/v3/" + name, exist_ok=True)
    json.dump({"zarr_format": 3, **meta}, open(root + "/codecs.zarr/v3/" + name + "/zarr.json", "w"))

def array3(name, codecs, pack, data=M, chunk=(2, 3), dtype="int32", keys=None):
    put3(name, {"node_type": "array", "shape": list(data.shape), "data_type": dtype, "fill_value": 0,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
                "chunk_key_encoding": keys or {"name": "default", "configuration": {"separator": "/"}}, "codecs": codecs, "attributes": {}})
    for i in range(-(-data.shape[0] // chunk[0])):
        for j in range(-(-data.shape[1] // chunk[1])):
            block = np.zeros(chunk, data.dtype)
            part = data[i*chunk[0]:(i+1)*chunk[0], j*chunk[1]:(j+1)*chunk[1]]
            block[:part.shape[0], :part.shape[1]] = part
            path = root + "/codecs.zarr/v3/" + name + ("/c/%d/%d" if keys is None else "/%d.%d") % (i, j)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "wb").write(pack(block))

little = {"name": "bytes", "configuration": {"endian": "little"}}
put3("", {"node_type": "group", "attributes": {}})
array3("raw", [little], lambda b: b.tobytes())
array3("big", [{"name": "bytes", "configuration": {"endian": "big"}}], lambda b: b.astype(">i4").tobytes())
array3("gzip", [little, {"name": "gzip", "configuration": {"level": 5}}], lambda b: bytes(numcodecs.GZip().encode(b)))
array3("zstd", [little, {"name": "zstd", "configuration": {"level": 0, "checksum": False}}], lambda b: bytes(numcodecs.Zstd().encode(b)))
array3("blosc", [little, {"name": "blosc", "configuration": {"cname": "lz4", "typesize": 4}}], lambda b: bytes(B("lz4", 5, B.SHUFFLE).encode(b)))
array3("transposed", [{"name": "transpose", "configuration": {"order": [1, 0]}}, little], lambda b: b.T.tobytes())
array3("keys", [little], lambda b: b.tobytes(), keys={"name": "v2", "configuration": {"separator": "."}})
array3("sharded", [{"name": "sharding_indexed", "configuration": {}}], lambda b: b.tobytes())

shutil.make_archive("zarr", "zip", root)
shutil.rmtree(root)
