# The SciPy side. side.h tells what a side answers.

import functools
import operator

import numpy as np
import scipy
import scipy.sparse as sparse
from side import array, describe_array, mix, serve


@functools.cache
def matrix(k):
    pos, crd = array(f"A{k}.pos", np.int32), array(f"A{k}.crd", np.int32)
    n = len(pos) - 1
    m = sparse.csr_matrix((array(f"A{k}.val", np.float64), crd, pos), shape=(n, n))
    m.has_canonical_format  # looks once and remembers
    return m


def add_pairs(terms):
    """Pairs, then pairs of pairs."""
    while len(terms) > 1:
        terms = [terms[k] + terms[k + 1] for k in range(0, len(terms), 2)]
    return terms[0]


def add_running(terms):
    return functools.reduce(operator.add, terms)


def multiply_sorted(a):
    c = a @ a
    c.sort_indices()
    return c


def adds(count, way):
    def prepare():
        terms = [matrix(k) for k in range(count)]
        return lambda: way(terms)

    return prepare


def on_matrix(f):
    def prepare():
        a = matrix(0)
        return lambda: f(a)

    return prepare


def from_coordinates(file):
    def prepare():
        place = array(file + ".row", np.int32), array(file + ".col", np.int32)
        c = sparse.coo_matrix((array(file + ".val", np.float64), place), matrix(0).shape)
        return c.tocsr

    return prepare


OPERATIONS = {
    "spgemm": on_matrix(multiply_sorted),
    "spgemm-unsorted": on_matrix(lambda a: a @ a),
    "add": adds(2, add_pairs),
    "add8": adds(8, add_pairs),
    "add8-running": adds(8, add_running),
    "add16": adds(16, add_pairs),
    "add16-running": adds(16, add_running),
    "csc": on_matrix(lambda a: a.tocsc()),
    "coo-shuffled": from_coordinates("shuffled"),
    "coo-sorted": from_coordinates("sorted"),
    "quantile-rows": on_matrix(lambda a: np.quantile(a.toarray(), 0.995, axis=1)),
    "quantile-columns": on_matrix(lambda a: np.quantile(a.toarray(), 0.995, axis=0)),
}


def reduction(fold, axis, stored):
    def prepare():
        a = matrix(0)
        if stored == "coo":
            place = array("sorted.row", np.int32), array("sorted.col", np.int32)
            a = sparse.coo_matrix((array("sorted.val", np.float64), place), a.shape)
            a.has_canonical_format = True
        if fold == "any":
            return lambda: a.astype(bool).max(axis=axis)
        return lambda: getattr(a, fold)(axis=axis)

    return prepare


for fold in "sum", "max", "min", "any":
    for axis, lines in enumerate(("columns", "rows")):
        for stored in "csr", "coo":
            OPERATIONS[f"{fold}-{lines}-{stored}"] = reduction(fold, axis, stored)


def describe(m):
    """nnz, sorted, pattern, sum, weighted sum and sum of magnitudes, as in side.h."""
    pattern, total, weighted, absolute, ordered = np.uint64(0), 0.0, 0.0, 0.0, True
    # Some rows at a time, as there may be very many entries.
    rows = len(m.indptr) - 1
    cuts = np.unique(np.searchsorted(m.indptr, np.arange(0, m.nnz, 1 << 22)).clip(0, rows).tolist() + [0, rows])
    for first, last in zip(cuts[:-1], cuts[1:]):
        lo, hi = m.indptr[first], m.indptr[last]
        outer = np.repeat(np.arange(first, last, dtype=np.uint64), np.diff(m.indptr[first : last + 1]))
        inner = m.indices[lo:hi].astype(np.uint64)
        ordered = ordered and bool(np.all((outer[1:] > outer[:-1]) | (inner[1:] > inner[:-1])))
        place = (inner << np.uint64(32) | outer) if m.format == "csc" else (outer << np.uint64(32) | inner)
        stored = m.data[lo:hi] != 0
        place, v = place[stored], m.data[lo:hi][stored]
        h = mix(place)
        pattern += np.sum(h, dtype=np.uint64)
        total += float(np.sum(v))
        weighted += float(np.sum(v * ((h >> np.uint64(11)).astype(np.float64) * 2.0**-53)))
        absolute += float(np.sum(np.abs(v)))
    return f"{m.nnz} {int(ordered)} {int(pattern):016x} {total!r} {weighted!r} {absolute!r}"


serve(
    f"SciPy {scipy.__version__} with NumPy {np.__version__}",
    OPERATIONS,
    lambda m: describe(m) if sparse.issparse(m) and 1 not in m.shape else describe_array(m),
)
