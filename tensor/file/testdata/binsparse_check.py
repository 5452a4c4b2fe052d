"""Checks binsparse files against the rules of version 0.1 of the specification.

    binsparse_check.py DIRECTORY

For every FILE.npz, FILE.h5 and FILE.bspnpy in the directory: is the descriptor what the
specification says, are all arrays there, of the declared types and of the right lengths, do
pointers start at 0 and never fall, are indices in range, sorted and unique? Then the tensor is
written out and compared with FILE.values.npy, FILE.pattern.npy and FILE.fill.npy. The rules are
written down here once more, from the specification and not from the Go code.
"""

import itertools
import json
import os
import sys

import numpy as np

PREDEFINED = {
    "DVEC": ([("dense", 1)], [0]),
    "DMATR": ([("dense", 1), ("dense", 1)], [0, 1]),
    "DMAT": ([("dense", 1), ("dense", 1)], [0, 1]),
    "DMATC": ([("dense", 1), ("dense", 1)], [1, 0]),
    "CVEC": ([("sparse", 1)], [0]),
    "CSR": ([("dense", 1), ("sparse", 1)], [0, 1]),
    "CSC": ([("dense", 1), ("sparse", 1)], [1, 0]),
    "DCSR": ([("sparse", 1), ("sparse", 1)], [0, 1]),
    "DCSC": ([("sparse", 1), ("sparse", 1)], [1, 0]),
    "COOR": ([("sparse", 2)], [0, 1]),
    "COO": ([("sparse", 2)], [0, 1]),
    "COOC": ([("sparse", 2)], [1, 0]),
}
PLAIN = {"uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float32", "float64"}
INTEGERS = PLAIN - {"float32", "float64"}
STRUCTURES = {
    s + t for s in ("symmetric", "hermitian", "skew_symmetric") for t in ("_lower", "_upper")
}


def check(ok, *message):
    if not ok:
        raise AssertionError(" ".join(str(m) for m in message))


def open_container(path):
    """The descriptor as text and the arrays by name."""
    if path.endswith(".npz"):
        with np.load(path, allow_pickle=False) as z:
            arrays = {name: z[name] for name in z.files}
        text = arrays.pop("binsparse")
        check(text.ndim == 0 and text.dtype.kind == "U", "the descriptor is", text.dtype, text.shape)
        return text.item(), arrays
    if path.endswith(".h5"):
        import h5py

        with h5py.File(path, "r") as f:
            text = f.attrs["binsparse"]
            check(isinstance(text, str), "the descriptor is", type(text))
            return text, {name: f[name][()] for name in f}
    with open(os.path.join(path, "binsparse.json"), encoding="utf-8") as f:
        text = f.read()
    arrays = {}
    for name in os.listdir(path):
        if name != "binsparse.json":
            check(name.endswith(".npy"), "unexpected file", name)
            arrays[name[:-4]] = np.load(os.path.join(path, name), allow_pickle=False)
    return text, arrays


def levels_of(header, rank):
    """The levels, outermost first, and the transpose."""
    name = header["format"]
    if "custom" not in header:
        check(name in PREDEFINED, "format", name)
        return PREDEFINED[name]
    custom = header["custom"]
    check(set(custom) == {"transpose", "level"}, "custom has", set(custom))
    transpose, level, levels = custom["transpose"], custom["level"], []
    check(sorted(transpose) == list(range(rank)), "transpose", transpose)
    while level["level_desc"] != "element":
        check(set(level) == {"level_desc", "rank", "level"}, "a level has", set(level))
        check(level["level_desc"] in ("dense", "sparse") and level["rank"] >= 1, level)
        levels.append((level["level_desc"], level["rank"]))
        level = level["level"]
    check(set(level) == {"level_desc"}, "the element level has", set(level))
    check(sum(r for _, r in levels) == rank, "the levels", levels, "do not cover", rank)
    check(name == "custom" or PREDEFINED[name] == (levels, transpose), "format", name)
    return levels, transpose


def take(arrays, header, name):
    """An array, decoded, and whether it is iso."""
    check(name in arrays, name, "is missing")
    declared, stored = header["data_types"][name], arrays.pop(name)
    check(stored.ndim == 1, name, "has shape", stored.shape)
    iso = declared.startswith("iso[")
    if iso:
        declared = declared[4:-1]
    if declared.startswith("complex["):
        part = declared[8:-1]
        check(part in ("float32", "float64") and stored.dtype == part, name, declared, stored.dtype)
        stored = stored.view("complex64" if part == "float32" else "complex128")
    elif declared == "bint8":
        check(stored.dtype == "uint8" and (stored <= 1).all(), name, declared, stored.dtype)
        stored = stored.astype(bool)
    else:
        check(declared in PLAIN and stored.dtype == declared, name, declared, stored.dtype)
    check(not iso or len(stored) == 1, name, "is iso and has", len(stored), "elements")
    return stored, iso


def index(arrays, header, name):
    check(header["data_types"][name] in INTEGERS, name, header["data_types"][name])
    stored, _ = take(arrays, header, name)
    check(all(int(v) >= 0 for v in stored), name, "is negative somewhere")
    return [int(v) for v in stored]


def entries_of(header, arrays, shape):
    """The coordinates of every position of the element level, by stored dimension."""
    levels, transpose = levels_of(header, len(shape))
    sizes = [shape[axis] for axis in transpose]
    coords, dim = [()], 0
    for kind, rank in levels:
        if kind == "dense":
            tails = list(itertools.product(*(range(n) for n in sizes[dim : dim + rank])))
            coords = [c + t for c in coords for t in tails]
        else:
            lists = []
            if dim > 0:
                pointers = index(arrays, header, f"pointers_to_{dim}")
            for d in range(dim, dim + rank):
                lists.append(index(arrays, header, f"indices_{d}"))
                check(all(i < sizes[d] for i in lists[-1]), f"indices_{d} out of range")
                check(len(lists[-1]) == len(lists[0]), f"indices_{d} has another length")
            if dim == 0:
                pointers = [0, len(lists[0])]
            check(len(pointers) == len(coords) + 1, f"pointers_to_{dim} has", len(pointers), "elements")
            check(pointers[0] == 0 and pointers[-1] == len(lists[0]), f"pointers_to_{dim} is", pointers)
            tuples, parents, coords = list(zip(*lists)), coords, []
            for p, parent in enumerate(parents):
                lo, hi = pointers[p], pointers[p + 1]
                check(lo <= hi, f"pointers_to_{dim} falls at", p)
                fibre = tuples[lo:hi]
                check(all(a < b for a, b in zip(fibre, fibre[1:])), f"indices_{dim} under", p, "are", fibre)
                coords += [parent + t for t in fibre]
        dim += rank
    return [tuple(c[transpose.index(axis)] for axis in range(len(shape))) for c in coords]


def decode(text, arrays):
    """The tensor written out, which elements of it are stored, and the fill."""
    top = json.loads(text)
    check("binsparse" in top, "no namespace")
    header = top["binsparse"]
    for key in ("version", "format", "shape", "number_of_stored_values", "data_types"):
        check(key in header, key, "is missing")
    known = {"version", "format", "shape", "number_of_stored_values", "data_types", "fill", "structure", "custom"}
    check(set(header) <= known, "unknown keys", set(header) - known)
    check(header["version"] == "0.1", "version", header["version"])
    check(set(header["data_types"]) == set(arrays), "data_types", set(header["data_types"]), "but arrays", set(arrays))
    shape = tuple(header["shape"])
    coords = entries_of(header, arrays, shape)
    count = header["number_of_stored_values"]
    check(count == len(coords), "number_of_stored_values is", count, "but there are", len(coords))
    values, iso = take(arrays, header, "values")
    check(iso or len(values) == count, "values has", len(values), "elements")
    fill = values.dtype.type(0)
    if header.get("fill"):
        fills, _ = take(arrays, header, "fill_value")
        check(len(fills) == 1, "fill_value has", len(fills), "elements")
        fill = fills[0]
    check(not arrays, "unexpected arrays", set(arrays))
    dense = np.full(shape, fill, dtype=values.dtype)
    pattern = np.zeros(shape, dtype=bool)
    structure = header.get("structure")
    check(structure is None or structure in STRUCTURES, "structure", structure)
    for p, c in enumerate(coords):
        v = values[0 if iso else p]
        dense[c], pattern[c] = v, True
        if structure and c[0] != c[1]:
            check((c[0] > c[1]) == structure.endswith("lower"), "an entry at", c, "of", structure)
            if structure.startswith("hermitian"):
                v = np.conj(v)
            elif structure.startswith("skew"):
                v = -v
            dense[c[::-1]], pattern[c[::-1]] = v, True
    return dense, pattern, fill


def same(got, want, what):
    want = np.asarray(want)
    check(got.dtype == want.dtype and got.shape == want.shape, what, got.dtype, got.shape, want.dtype, want.shape)
    check(got.tobytes() == want.tobytes(), what, "is", got, "want", want)


def main(directory):
    done = failed = 0
    for name in sorted(os.listdir(directory)):
        if not name.endswith((".npz", ".h5", ".bspnpy")):
            continue
        path = os.path.join(directory, name)
        base = path.rsplit(".", 1)[0]
        done += 1
        try:
            dense, pattern, fill = decode(*open_container(path))
            same(dense, np.load(base + ".values.npy"), "values")
            same(pattern, np.load(base + ".pattern.npy"), "pattern")
            same(np.asarray(fill), np.load(base + ".fill.npy"), "fill")
        except Exception as e:
            failed += 1
            print(f"{name}: {type(e).__name__}: {e}")
    print(f"{done} files checked, {failed} failed")
    return failed > 0 or done == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
