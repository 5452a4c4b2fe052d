"""Operands: what Python has, as requests say it. Arrays are not copied if their memory can be shared."""

import re

import numpy as np

from . import _native
from ._tensor import Tensor

# Arrays of fewer bytes are copied: that takes less time than to share them.
_SMALL = 4096

# A format and, in brackets, an element type. An order of axes has brackets too.
_DECLARED = re.compile(r"(.*?)(?:\[([a-z]\w*)\])?", re.DOTALL)


def _ultimate(a):
    """The array that owns the memory of an array, and the tensor of ours if it is ours."""
    while True:
        base = a.base
        if isinstance(base, np.ndarray):
            a = base
        else:
            return a, base.handle if isinstance(base, _native.Memory) else None


def array(a, keep):
    """An array as a request says it; keep is a list of what must live until the request is served."""
    a = np.ascontiguousarray(a.reshape(-1))
    if not a.dtype.isnative or not a.flags.aligned:
        a = np.require(a, a.dtype.newbyteorder("="), ["A", "C"])
    keep.append(a)
    out = {"type": _native.type_name(a.dtype), "len": a.size, "address": a.ctypes.data}
    owner, handle = _ultimate(a)
    if handle is not None:
        out["owner"] = handle.number
    elif a.nbytes >= _SMALL:
        low, high = np.lib.array_utils.byte_bounds(owner) if hasattr(np.lib, "array_utils") else np.byte_bounds(owner)
        out.update(base=low, bytes=high - low, token=_native.library.lend(a))
    return out


def scalar(x, dtype=None):
    a = np.asarray(x, dtype)
    return {"type": _native.type_name(a.dtype), "bytes": a.astype(a.dtype.newbyteorder("=")).tobytes().hex()}


def _dense(a, keep):
    order = sorted(range(a.ndim), key=lambda i: -abs(a.strides[i]))  # of the axes in memory, outermost first
    if not a.transpose(order).flags.c_contiguous:
        order = list(range(a.ndim))
    flat = a.transpose(order)
    if not flat.flags.c_contiguous:
        flat = np.ascontiguousarray(flat)
    fmt = "D" if a.ndim == 0 else "-".join("D" * a.ndim) + str(order).replace(" ", "")
    return {"shape": list(a.shape), "format": fmt, "values": array(flat, keep)}


def _compressed(indptr, indices, data, shape, column, canonical, keep, fill=None):
    out = {
        "shape": [int(n) for n in shape],
        "format": "C-S" + ("" if canonical else "(unsorted,duplicates)") + ("-C" if column else ""),
        "arrays": {"pointers_0": array(indptr, keep), "indices_1": array(indices, keep)},
        "values": array(data, keep),
    }
    if fill is not None:
        out["fill"] = scalar(fill, data.dtype)
    return out


def _coordinates(coords, data, shape, canonical, keep, fill=None):
    n = len(shape)
    levels = ["S"] * n
    if not canonical:
        levels[-1] = "S(duplicates)"
        levels[0] = "S(unsorted)" if n > 1 else "S(unsorted,duplicates)"
    out = {
        "shape": [int(n) for n in shape],
        "format": "-".join(levels),
        "arrays": {f"indices_{k}": array(c, keep) for k, c in enumerate(coords)},
        "values": array(data, keep),
    }
    if fill is not None:
        out["fill"] = scalar(fill, data.dtype)
    return out


def _blocks(a, keep):
    r, c = a.blocksize
    n, m = a.shape
    if not a.has_canonical_format and not _sorted_blocks(a):
        return _scipy(a.tocsr(), keep)
    return {
        "shape": [n // r, m // c, r, c],
        "whole": [n, m],
        "format": "C-S-D-D",
        "arrays": {"pointers_0": array(a.indptr, keep), "indices_1": array(a.indices, keep)},
        "values": array(np.ascontiguousarray(a.data), keep),
    }


def _sorted_blocks(a):
    """Whether the blocks of each row of blocks are in order, none twice."""
    steps = np.diff(a.indices.astype(np.int64)) > 0
    starts = a.indptr[1:-1]
    steps[starts[(starts > 0) & (starts < a.indices.size)] - 1] = True
    return bool(steps.all())


def _scipy(a, keep):
    kind = a.format
    if kind in ("csr", "csc"):
        return _compressed(a.indptr, a.indices, a.data, a.shape, kind == "csc", bool(a.has_canonical_format), keep)
    if kind == "coo":
        coords = a.coords if hasattr(a, "coords") else (a.row, a.col)
        return _coordinates(coords, a.data, a.shape, False, keep)
    if kind == "bsr" and a.indices.size:
        return _blocks(a, keep)
    return _scipy(a.tocsr(), keep)  # bsr without blocks, dia, dok, lil: Lacuna has no such format


def _pydata(a, keep):
    if hasattr(a, "coords"):
        if a.ndim == 0:
            return _dense(np.asarray(a.todense()), keep)
        return _coordinates(list(a.coords), a.data, a.shape, True, keep, a.fill_value)
    if not hasattr(a, "indptr"):
        return _pydata(a.asformat("coo"), keep)  # dok
    axes = tuple(a.compressed_axes or ())
    if a.ndim == 2 and axes in ((0,), (1,)):
        return _compressed(a.indptr, a.indices, a.data, a.shape, axes == (1,), True, keep, a.fill_value)
    return _pydata(a.tocoo(), keep)


def operand(name, a, keep):
    """An operand as a request says it."""
    if isinstance(a, Tensor):
        keep.append(a)
        return {"handle": a._handle.number}
    module = type(a).__module__.partition(".")[0]
    if hasattr(a, "format") and hasattr(a, "tocsr") and module != "sparse":
        return _scipy(a, keep)
    if hasattr(a, "fill_value") and hasattr(a, "todense") and hasattr(a, "nnz"):
        return _pydata(a, keep)
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array, and there are no missing values here: give its filled(value)")
    a = np.asarray(a)
    if a.dtype == object:
        raise TypeError(f"{name} is not a tensor: give a NumPy or sparse array, a number or a lacuna.Tensor")
    return _dense(a, keep)


def request(op, operands, **more):
    """A request with operands, and what it refers to. Operands that are formats, such as "CSR[f32]", are declared."""
    keep, args, declare = [], {}, {}
    for name, a in operands.items():
        if isinstance(a, str):
            fmt, dtype = _DECLARED.fullmatch(a).groups()
            declare[name] = {"format": fmt or "D", "type": dtype or ""}
        else:
            args[name] = operand(name, a, keep)
    r = {"op": op, **{k: v for k, v in more.items() if v}}
    if args:
        r["args"] = args
    if declare:
        r["declare"] = declare
    return r, keep
