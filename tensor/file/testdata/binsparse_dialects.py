"""Writes dialects.h5, dialects.h5ad and small.h5 beside this script: tensors as other programs store them, and
broken ones. Each group is one case; bsp_dialects_test.go says what has to be read from it.
"""

import json
import os

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def descriptor(fmt="CSR", shape=(2, 3), n=3, values="float64", **more):
    types = {"pointers_to_1": "uint64", "indices_1": "uint64", "values": values}
    return {"version": "0.1", "format": fmt, "shape": list(shape), "number_of_stored_values": n, "data_types": types, **more}


CSR = {"pointers_to_1": np.array([0, 2, 3], "u8"), "indices_1": np.array([0, 2, 1], "u8"), "values": np.array([1.0, 2, 3])}


def write(f, name, arrays=CSR, attr=None, desc=None, options=None):
    g = f.create_group(name)
    if attr is None:
        attr = json.dumps({"binsparse": desc or descriptor()})
    g.attrs["binsparse"] = attr
    for key, value in arrays.items():
        if isinstance(value, h5py.Empty):
            g.create_dataset(key, data=value)
        else:
            g.create_dataset(key, data=value, **(options or {}))
    return g


def csr(**changed):
    return {k: v for k, v in {**CSR, **changed}.items() if v is not None}


with h5py.File(os.path.join(HERE, "dialects.h5"), "w", libver="earliest") as f:
    text = json.dumps({"binsparse": descriptor()})
    write(f, "attribute of variable length")
    write(f, "attribute of fixed length", attr=np.bytes_(text))
    write(f, "attribute with padding", attr=np.array(text.encode(), dtype="S600"))
    write(f, "attribute with one element", attr=np.array([text.encode()], dtype="S600"))
    write(f, "attribute, variable length, one element", attr=np.array([text], dtype=h5py.string_dtype()))
    write(f, "bare object", attr=json.dumps(descriptor()))
    write(f, "big-endian", {k: v.astype(v.dtype.newbyteorder(">")) for k, v in CSR.items()})
    write(f, "narrow signed indices", csr(pointers_to_1=np.array([0, 2, 3], "i2"), indices_1=np.array([0, 2, 1], "i1")))
    write(f, "chunks, shuffled and compressed", options={"chunks": (2,), "compression": "gzip", "shuffle": True})
    write(f, "bint8 as uint8", csr(values=np.array([1, 0, 1], "u1")), desc=descriptor(values="bint8"))
    write(f, "bint8 as int8", csr(values=np.array([1, 0, 1], "i1")), desc=descriptor(values="bint8"))
    write(f, "bint8 as enum", csr(values=np.array([True, False, True])), desc=descriptor(values="bint8"))
    write(f, "complex pairs", csr(values=np.array([1, 2, 3, -4, 5, 0], ">f4")), desc=descriptor(values="complex[float32]"))
    write(f, "complex compound", csr(values=np.array([1 + 2j, 3 - 4j, 5], "c8")), desc=descriptor(values="complex[float32]"))
    empty = descriptor(n=0)
    zeros = np.zeros(3, "u8")
    write(f, "empty", {"pointers_to_1": zeros, "indices_1": np.zeros(0, "u8"), "values": np.zeros(0)}, desc=empty)
    write(f, "empty, arrays left out", {"pointers_to_1": zeros}, desc=empty)
    write(f, "empty, null arrays", {"pointers_to_1": zeros, "indices_1": h5py.Empty("u8"), "values": h5py.Empty("f8")}, desc=empty)
    level = {"level_desc": "dense", "rank": 1, "level": {"level_desc": "sparse", "rank": 1, "level": {"level_desc": "element"}}}
    no_format = descriptor(custom={"level": level})
    del no_format["format"]
    write(f, "custom without format", desc=no_format)
    g = write(f, "a scalar as fill", desc=descriptor(fill=True))
    d = descriptor(fill=True)
    d["data_types"]["fill_value"] = "float64"
    g.attrs["binsparse"] = json.dumps({"binsparse": d})
    g.create_dataset("fill_value", data=np.float64(7))

    bad = f.create_group("broken")
    write(bad, "wrapped pointers", csr(pointers_to_1=np.array([0, 250, 3], "u1")))
    write(bad, "no pointers", csr(pointers_to_1=None))
    write(bad, "no values", csr(values=None))
    write(bad, "unsorted", csr(indices_1=np.array([2, 0, 1], "u8")))
    write(bad, "index out of range", csr(indices_1=np.array([0, 3, 1], "u8")))
    write(bad, "negative index", csr(indices_1=np.array([0, 2, -1], "i8")))
    write(bad, "indices of floats", csr(indices_1=np.array([0.0, 2, 1])))
    write(bad, "text for values", csr(values=np.array([b"1", b"2", b"3"])))
    write(bad, "two-dimensional indices", csr(indices_1=np.array([[0, 2, 1]], "u8")))
    write(bad, "group for values", csr(values=None)).create_group("values")
    write(bad, "not JSON", attr="{")
    write(bad, "number for a descriptor", attr=3)
    write(bad, "ghost entries", csr(values=None), desc=descriptor(values="iso[float64]", n=1 << 40))
    bad["elsewhere"] = h5py.SoftLink("/empty")

# A file without checksums, for the fuzzer to start from.
with h5py.File(os.path.join(HERE, "small.h5"), "w", libver="earliest") as f:
    f.attrs["binsparse"] = np.bytes_(json.dumps({"binsparse": descriptor()}))
    for key, value in CSR.items():
        f.create_dataset(key, data=value)

with h5py.File(os.path.join(HERE, "dialects.h5ad"), "w", libver="latest") as f:

    def sparse(name, encoding, shape, **arrays):
        g = f.create_group(name)
        g.attrs["encoding-type"], g.attrs["encoding-version"], g.attrs["shape"] = encoding, "0.1.0", shape
        for key, value in arrays.items():
            g.create_dataset(key, data=value)
        return g

    f.attrs["encoding-type"] = "anndata"
    unsorted = {"indptr": np.array([0, 3, 3, 4], "i4"), "indices": np.array([2, 0, 2, 1], "i4"), "data": np.array([1, 2, 4, 8], "f4")}
    sparse("X", "csr_matrix", (3, 4), **unsorted)  # unsorted, and (0,2) twice
    sparse("layers/by columns", "csc_matrix", (4, 3), **unsorted)
    sparse("layers/bad rows", "csr_matrix", (4, 4), **unsorted)
    sparse("layers/bad columns", "csr_matrix", (3, 2), **unsorted)
    sparse("layers/three sizes", "csr_matrix", (3, 4, 1), **unsorted)
    sparse("layers/unknown", "dok_matrix", (3, 4), **unsorted)
    old = sparse("raw", "csr_matrix", (3, 4), **unsorted)
    for name in list(old.attrs):
        del old.attrs[name]
    old.attrs["h5sparse_format"], old.attrs["h5sparse_shape"] = "csr", (3, 4)
    f.create_dataset("obsm/dense", data=np.arange(6, dtype="f8").reshape(2, 3))
