"""Makes the HDF5 files of this directory with h5py, compressed, and their descriptions.

    make.py DIRECTORY
"""
import ctypes
import gzip
import json
import os
import struct
import sys
import zlib

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

from describe import describe

out = sys.argv[1]
VERSIONS = {"earliest": "earliest", "v108": ("v108", "v108"), "latest": "latest"}


LIBRARY = ctypes.CDLL("libhdf5_serial.so.103")  # for what h5py has no name for


def files(name, versions=VERSIONS, **kw):
    """A file for each range of versions of the library."""
    for v in versions:
        libver = VERSIONS[v]
        with h5py.File(os.path.join(out, "%s_%s.h5" % (name, v)), "w", libver=libver, **kw) as f:
            yield f


def low(group, name, tid, dims, maxdims=None, data=None, **props):
    """A dataset by way of the low-level interface."""
    dcpl = h5p.create(h5p.DATASET_CREATE)
    rawedges = props.pop("rawedges", False)
    for k, v in props.items():
        getattr(dcpl, "set_" + k)(*(v if isinstance(v, tuple) and k != "chunk" else (v,)))
    if rawedges:
        assert LIBRARY.H5Pset_chunk_opts(ctypes.c_int64(dcpl.id), 2) >= 0
    space = h5s.create_simple(dims, maxdims) if dims is not None else h5s.create(h5s.SCALAR)
    d = h5d.create(group.id, name.encode(), tid, space, dcpl=dcpl)
    if data is not None:
        d.write(h5s.ALL, h5s.ALL, np.ascontiguousarray(data), mtype=tid)
    return h5py.Dataset(d)


def types():
    for f in files("types"):
        for t in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split():
            for order in "<>":
                a = (np.arange(6).reshape(2, 3) * (3 - 1j if t[0] == "c" else 3) - (t[0] != "u") * 4).astype(order + t)
                f.create_dataset(t + ("le" if order == "<" else "be"), data=a)
        f["bool"] = np.array([True, False, True])
        f.create_dataset("enum", data=np.array([1, 2, 1], "u1"), dtype=h5py.enum_dtype({"ONE": 1, "TWO": 2}, basetype="u1"))
        f.create_dataset("enumbe", data=np.array([1000, -2], ">i2"), dtype=h5py.enum_dtype({"K": 1000, "M": -2}, basetype=">i2"))
        f["scalar"] = np.float64(2.5)
        f["one"] = np.arange(1)
        f["empty"] = np.zeros((0,), "i8")
        f["empty2"] = np.zeros((3, 0, 2), "f4")
        f["null"] = h5py.Empty("f8")
        f["vstr"] = np.array(["α", "", "a longer string"], dtype=object)
        f["vstrscalar"] = "scalar"
        f.create_dataset("vascii", data=[b"x", b"yy"], dtype=h5py.string_dtype("ascii"))
        f["fixed"] = np.array([b"ab", b"abcd", b""])
        f.create_dataset("fixedutf8", data=["é".encode(), b"z"], dtype=h5py.string_dtype("utf-8", 5))
        for name, pad in ("nullterm", h5t.STR_NULLTERM), ("nullpad", h5t.STR_NULLPAD), ("spacepad", h5t.STR_SPACEPAD):
            t = h5t.C_S1.copy()
            t.set_size(6)
            t.set_strpad(pad)
            fill = b" " if pad == h5t.STR_SPACEPAD else b"\0"
            low(f, name, t, (2,), data=np.frombuffer(b"abc".ljust(6, fill) + b"x y".ljust(6, fill), "S6"))
        f["compound"] = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<i4"), ("b", ">f8")])
        f["nested"] = np.array([((1, 2), [3, 4, 5])], dtype=[("p", [("x", "u1"), ("y", ">u2")]), ("q", ">i4", (3,))])
        low(f, "array", h5t.array_create(h5t.STD_I32BE, (2, 3)), (2,), data=np.arange(12, dtype=">i4"))
        f["opaque"] = np.array([b"\1\2\3", b"\4\5\6"], dtype="V3")
        f.create_dataset("ref", data=np.array([f["one"].ref], dtype=h5py.ref_dtype), dtype=h5py.ref_dtype)
        v = f.create_dataset("vlen", (2,), dtype=h5py.vlen_dtype("i4"))
        v[0] = [1, 2, 3]
        low(f, "bits", h5t.STD_B16BE, (3,), data=np.array([1, 2, 300], ">u2"))
        odd = h5t.NATIVE_INT32.copy()
        odd.set_precision(20)
        low(f, "odd", odd, (2,))
        f["committed"] = np.dtype(">f4")
        f.create_dataset("usescommitted", data=np.arange(3.0), dtype=f["committed"])
        f["usescommitted"].attrs.create("typed", np.arange(2.0), dtype=f["committed"])


def attributes():
    for f in files("attrs"):
        f.attrs["text"] = "{\"a\": 1}"
        f.attrs["fixed"] = np.bytes_("fixed")
        f.attrs["one"] = np.array([b"one"])
        f.attrs["texts"] = ["a", "bb", ""]
        f.attrs["int"] = 7
        f.attrs["bytes"] = np.arange(5, dtype="u1")
        f.attrs["float"] = np.array([[1.5, -2]], ">f4")
        f.attrs["bool"] = True
        f.attrs["complex"] = 1 + 2j
        f.attrs["null"] = h5py.Empty("i4")
        f.attrs["empty"] = np.zeros((0, 2))
        g = f.create_group("many")
        for i in range(40):
            g.attrs["attribute %d" % i] = i
        g.attrs["large"] = np.arange(2000)
        g.attrs["text"] = "t" * 10000
        d = f.create_dataset("d", data=[1.0])
        d.attrs["unit"] = "m"


def groups():
    for f in files("groups"):
        g = f.create_group("a/b/c")
        g["x"] = 1
        f["a"]["again"] = g
        g["up"] = f["a"]
        f["soft"] = h5py.SoftLink("/a/b")
        f["external"] = h5py.ExternalLink("other.h5", "/x")
        f.create_group("empty")
        many = f.create_group("many")
        for i in range(300):
            many.create_group("group number %d" % i)
        some = f.create_group("some", track_order=True)
        for i in range(20, 0, -1):
            some["d%d" % i] = i
        some["soft"] = h5py.SoftLink("d1")
        few = f.create_group("few", track_order=True)
        few["é"] = 1
        few["b" * 300] = 2


def layouts():
    ints = np.arange(35, dtype=">i4").reshape(5, 7) * 100003
    for f in files("layouts", ["earliest", "latest"]):
        low(f, "compact", h5t.STD_I32BE, (5, 7), data=ints, layout=h5d.COMPACT)
        f["contiguous"] = ints
        f.create_dataset("unallocated", (3, 4), dtype="<i2", fillvalue=-5)
        f.create_dataset("unallocatedbe", (3,), dtype=">f8", fillvalue=1.25)
        f.create_dataset("zeros", (3, 4), dtype="<i2")
        f.create_dataset("chunked", data=ints, chunks=(2, 3))
        f.create_dataset("whole", data=ints, chunks=(5, 7))
        f.create_dataset("rows", data=ints, chunks=(1, 7))
        f.create_dataset("slabs", data=np.arange(64.0).reshape(4, 4, 4), chunks=(2, 4, 4))
        f.create_dataset("larger", data=ints, chunks=(10, 10), maxshape=(None, 10))
        f.create_dataset("wholegzip", data=ints, chunks=(5, 7), compression=4)
        low(f, "early", h5t.STD_I32BE, (5, 7), data=ints, chunk=(2, 3), alloc_time=h5d.ALLOC_TIME_EARLY)
        low(f, "rawedges", h5t.STD_I32BE, (5, 7), data=ints, chunk=(2, 3), deflate=(3,), rawedges=True)
        for i, kw in enumerate([
            dict(compression=1), dict(compression=9, shuffle=True), dict(fletcher32=True), dict(shuffle=True, fletcher32=True, compression=6),
            dict(compression="lzf"), dict(compression="lzf", shuffle=True), dict(shuffle=True), dict(scaleoffset=0),
        ]):
            f.create_dataset("filters%d" % i, data=ints, chunks=(2, 3), **kw)
            f.create_dataset("filters%df8" % i, data=np.arange(100.0), chunks=(30,), **dict(kw, **({"scaleoffset": 4} if "scaleoffset" in kw else {})))
        f.create_dataset("incompressible", data=np.random.default_rng(1).integers(0, 256, 1000, "u1"), chunks=(300,), compression=1, fletcher32=True)
        f.create_dataset("fletcherodd", data=np.arange(9, dtype="u1"), chunks=(3,), fletcher32=True)
        low(f, "fletcherfirst", h5t.STD_I32BE, (5, 7), data=ints, chunk=(2, 3), fletcher32=(), shuffle=(), deflate=(3,))
        d = f.create_dataset("holes", (9, 9), dtype=">i2", chunks=(2, 2), fillvalue=77)
        d[4:6, 4:6] = 1
        d = f.create_dataset("shrunk", (20, 4), maxshape=(None, 4), dtype="i4", chunks=(3, 3))
        d[...] = np.arange(80).reshape(20, 4)
        d.resize((7, 3))


def indexes():
    """Every kind of chunk index, small and large, with and without filters."""
    for f in files("index", ["earliest", "latest"]):
        for kind, kw in ("plain", {}), ("gzip", dict(compression=1)):
            g = f.create_group(kind)
            g.create_dataset("fixed", data=np.arange(100, dtype="i4"), chunks=(3,), **kw)
            g.create_dataset("fixedmax", data=np.arange(24, dtype="i4").reshape(4, 6), chunks=(2, 2), maxshape=(10, 20), **kw)
            d = g.create_dataset("fixedpaged", (5000, 2), dtype="i1", chunks=(1, 2), **kw)
            d[2500] = 5
            d[4999] = 6
            d[:3] = 7
            g.create_dataset("ext", data=np.arange(500, dtype="i2"), chunks=(3,), maxshape=(None,), **kw)
            g.create_dataset("extsecond", data=np.arange(600, dtype="i2").reshape(4, 150), chunks=(3, 2), maxshape=(5, None), **kw)
            d = g.create_dataset("extpaged", (300000,), dtype="i1", chunks=(1,), maxshape=(None,), **kw)
            for at in 0, 1, 200000, 203000, 299999:
                d[at] = at % 97
            g.create_dataset("tree2", data=np.arange(600, dtype="i2").reshape(20, 30), chunks=(3, 4), maxshape=(None, None), **kw)
            d = g.create_dataset("tree2large", (2000, 3), dtype="i1", chunks=(2, 3), maxshape=(None, None), **kw)
            d[...] = np.arange(6000).reshape(2000, 3) % 50


def superblocks():
    for f in files("userblock", ["earliest", "latest"], userblock_size=1024):
        f["x"] = np.arange(10)
        f["chunked"] = np.arange(10)
    fcpl = h5p.create(h5p.FILE_CREATE)
    assert LIBRARY.H5Pset_istore_k(ctypes.c_int64(fcpl.id), 40) >= 0
    fid = h5f.create(os.path.join(out, "superblock1.h5").encode(), h5f.ACC_TRUNC, fcpl=fcpl)
    with h5py.File(fid) as f:
        f.create_dataset("x", data=np.arange(400), chunks=(3,))
    fcpl = h5p.create(h5p.FILE_CREATE)
    fcpl.set_sizes(4, 4)
    fid = h5f.create(os.path.join(out, "sizes4.h5").encode(), h5f.ACC_TRUNC, fcpl=fcpl)
    with h5py.File(fid) as f:
        f.create_dataset("x", data=np.arange(40), chunks=(3,), maxshape=(None,))
        f["text"] = ["a", "b"]
        f.attrs["a"] = "text"


def small():
    """Files of one thing each, for the fuzzer to begin with."""
    def one(name, v="latest"):
        return h5py.File(os.path.join(out, "small_%s.h5" % name), "w", libver=VERSIONS[v])

    numbers = np.arange(40, dtype="i2")
    for name, kw in [
        ("single", dict(chunks=(40,))), ("singlegzip", dict(chunks=(40,), compression=1)), ("fixed", dict(chunks=(3,))),
        ("fixedgzip", dict(chunks=(3,), compression=1)), ("ext", dict(chunks=(3,), maxshape=(None,))),
        ("extgzip", dict(chunks=(3,), maxshape=(None,), compression=1)),
    ]:
        with one(name) as f:
            f.create_dataset("x", data=numbers, **kw)
    with one("implicit") as f:
        low(f, "x", h5t.STD_I16LE, (5, 8), data=numbers, chunk=(2, 3), alloc_time=h5d.ALLOC_TIME_EARLY)
    for name, kw in ("tree2", {}), ("tree2gzip", dict(compression=1, fletcher32=True)):
        with one(name) as f:
            f.create_dataset("x", data=numbers.reshape(5, 8), chunks=(2, 3), maxshape=(None, None), **kw)
    with one("fixedpaged") as f:
        f.create_dataset("x", (1100,), dtype="i1", chunks=(1,))[1050] = 1
    with one("extpaged") as f:
        f.create_dataset("x", (140000,), dtype="i1", chunks=(1,), maxshape=(None,))[135000] = 1
    with one("tree2deep") as f:
        f.create_dataset("x", data=np.zeros((100, 2), "i1"), chunks=(1, 1), maxshape=(None, None))
    with one("tree1", "earliest") as f:
        f.create_dataset("x", data=np.arange(70.0), chunks=(1,))
        f.create_dataset("y", data=numbers.reshape(5, 8), chunks=(2, 3), compression="lzf", shuffle=True, fletcher32=True)
    with one("links1", "earliest") as f:
        for i in range(20):
            f.create_group("g%d" % i)
        f["soft"] = h5py.SoftLink("g1")
    with one("links2") as f:
        for i in range(20):
            f.create_group("g%d" % i)
    with one("attrs1", "earliest") as f:
        f.attrs["text"] = "text"
        f.attrs["one"] = np.array([b"one"])
    with one("attrs2") as f:
        for i in range(10):
            f.attrs["a%d" % i] = i
        f.attrs["large"] = np.zeros(700)
    with one("strings", "earliest") as f:
        f["v"] = ["a", "bb"]
        f["f"] = np.array([b"ab", b"c"])
    with one("compound") as f:
        f["c"] = np.array([(1, 2j, True)], dtype=[("a", ">i4"), ("b", "c8"), ("t", "?")])
        low(f, "array", h5t.array_create(h5t.STD_I32BE, (2, 3)), (2,), data=np.arange(12, dtype=">i4"))
        f["type"] = np.dtype("f4")
        f.create_dataset("typed", data=np.arange(2.0), dtype=f["type"])


def old_layouts():
    """Layout messages of versions 1 and 2, put in the place of version 3, as no library has written them for long."""
    path = os.path.join(out, "oldlayouts.h5")
    with h5py.File(path, "w", libver="earliest") as f:
        f["contiguous"] = np.arange(6, dtype="i4").reshape(2, 3)
        f.create_dataset("chunked", data=np.arange(7, dtype="i2"), chunks=(4,))
        low(f, "compact", h5t.STD_I8LE, (40,), data=np.arange(40, dtype="i1"), layout=h5d.COMPACT)
    with open(path, "rb") as f:
        b = bytearray(f.read())

    def body(version_and_class):
        """Where the body of the only layout message of some class begins."""
        found = [at + 8 for at in range(len(b) - 8) if b[at:at + 2] == b"\x08\0" and b[at + 5:at + 10] == b"\0\0\0" + version_and_class]
        assert len(found) == 1
        return found[0]

    at = body(b"\x03\x01")
    b[at:at + 24] = struct.pack("<BBB5xQII", 2, 2, 1, struct.unpack_from("<Q", b, at + 2)[0], 2, 3)
    at = body(b"\x03\x02")
    b[at:at + 24] = struct.pack("<BBB5xQII", 1, 2, 2, struct.unpack_from("<Q", b, at + 3)[0], 4, 2)
    at = body(b"\x03\x00")  # of the elements, the first 28 remain, as the message has room for no more
    dims = b.rindex(struct.pack("<QQ", 40, 40), 0, at)
    b[dims:dims + 16] = struct.pack("<QQ", 28, 28)
    b[at:at + 44] = struct.pack("<BBB5xII", 2, 1, 0, 28, 28) + bytes(range(28))
    with open(path, "wb") as f:
        f.write(b)
    assert describe(path)["/compact"]["crc"] == zlib.crc32(bytes(range(28)))


for make in old_layouts, small, types, attributes, groups, layouts, indexes, superblocks:
    make()
names = sorted(n for n in os.listdir(out) if n.endswith(".h5"))
with open(os.path.join(out, "expected.json"), "w") as f:
    json.dump({n: describe(os.path.join(out, n)) for n in names}, f, indent=None, separators=(",", ":"), sort_keys=True)
    f.write("\n")
for n in [*names, "expected.json"]:
    path = os.path.join(out, n)
    with open(path, "rb") as f, open(path + ".gz", "wb") as g:
        g.write(gzip.compress(f.read(), mtime=0))
    os.remove(path)
