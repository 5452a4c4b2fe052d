"""Describes HDF5 files as h5py sees them, in JSON, for the tests to compare with.

    describe.py FILE...        prints one JSON object: file name to description
"""
import json
import sys
import zlib

import h5py
import numpy as np


def type_name(dtype, tid):
    string = h5py.check_string_dtype(dtype)
    if string is not None:
        return "string"
    if isinstance(tid, h5py.h5t.TypeBitfieldID):
        return "bitfield%d" % (8 * tid.get_size())
    if isinstance(tid, h5py.h5t.TypeEnumID):
        return "bool" if dtype == np.bool_ else "enum of %s" % np.dtype(dtype.base).newbyteorder("=").name
    if isinstance(tid, h5py.h5t.TypeArrayID):
        base, dims = tid.dtype.subdtype
        return "array [%s] of %s" % (" ".join(map(str, dims)), type_name(base, tid.get_super()))
    if isinstance(tid, h5py.h5t.TypeOpaqueID):
        return "opaque of %d bytes" % tid.get_size()
    if dtype.kind == "V":
        fields = ", ".join("%s %s" % (n, type_name(dtype.fields[n][0], tid.get_member_type(i))) for i, n in enumerate(dtype.names))
        return "compound {%s}" % fields
    return dtype.newbyteorder("=").name


def value(obj, dtype):
    """The strings, or a checksum of the little-endian bytes, of a dataset or attribute."""
    if h5py.check_string_dtype(dtype) is not None:
        flat = np.asarray(obj, dtype=object).reshape(-1)
        return {"strings": [s.decode() if isinstance(s, bytes) else s for s in flat]}
    a = np.asarray(obj)
    data = a.astype(a.dtype.newbyteorder("<")).tobytes()
    return {"crc": zlib.crc32(data), "bytes": len(data)}


def describe_array(tid, space, read):
    out = {"dims": [] if space.get_simple_extent_type() == h5py.h5s.NULL else list(space.shape)}
    out["null"] = space.get_simple_extent_type() == h5py.h5s.NULL
    try:
        dtype = tid.dtype
        unreadable = h5py.check_vlen_dtype(dtype) not in (None, str, bytes) or h5py.check_ref_dtype(dtype) is not None
    except TypeError:
        unreadable = True
    if unreadable:
        out["type"] = "unreadable"
        return out
    out["type"] = type_name(dtype, tid)
    if not out["null"]:
        out.update(value(read(), dtype))
    return out


def describe_attrs(obj):
    out = {}
    for name in obj.attrs:
        aid = obj.attrs.get_id(name)

        def read(aid=aid):
            if h5py.check_string_dtype(aid.dtype) is not None and aid.shape == ():
                return obj.attrs[name]
            a = np.empty(aid.shape, dtype=aid.dtype)
            aid.read(a)
            return a

        out[name] = describe_array(aid.get_type(), aid.get_space(), read)
    return out


def describe(path):
    objects, seen = {}, set()
    with h5py.File(path, "r") as f:

        def visit(name, obj):
            key = h5py.h5o.get_info(obj.id).addr
            if key in seen:
                return
            seen.add(key)
            if isinstance(obj, h5py.Group):
                objects[name] = {"kind": "group", "attrs": describe_attrs(obj), "names": sorted(obj, key=str.encode)}
                for child in sorted(obj, key=str.encode):
                    link = obj.get(child, getlink=True)
                    if isinstance(link, h5py.HardLink):
                        visit(name.rstrip("/") + "/" + child, obj[child])
                    else:
                        objects[name.rstrip("/") + "/" + child] = {"kind": "refused"}
            elif isinstance(obj, h5py.Dataset):
                d = describe_array(obj.id.get_type(), obj.id.get_space(), lambda: obj[()])
                d["kind"] = "dataset"
                d["attrs"] = describe_attrs(obj)
                objects[name] = d
            else:
                objects[name] = {"kind": "refused"}

        visit("/", f["/"])
    return objects


if __name__ == "__main__":
    json.dump({p: describe(p) for p in sys.argv[1:]}, sys.stdout, indent=1, sort_keys=True)
    print()
