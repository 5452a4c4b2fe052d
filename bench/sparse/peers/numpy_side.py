# The NumPy side: reductions of the arrays of a sparse matrix, in the quickest of the
# ways that one would write, and scans of a dense one. side.h tells what a side answers.

import numpy as np
from side import array, describe_array, serve


def sum_at(index, val, n):
    return np.bincount(index, val, n)


def any_at(index, val, n):
    out = np.zeros(n, bool)
    out[index[val != 0]] = True
    return out


def in_runs(fold, starts, rows, counts, val, n):
    """fold of the entries of the rows, each a run; rows with a gap have a 0 too."""
    found = fold.reduceat(val, starts)
    if fold is not np.add and fold is not np.logical_or:
        found = np.where(counts < n, fold(found, 0), found)
    out = np.zeros(n, found.dtype)
    out[rows] = found
    return out


FOLDS = {"sum": np.add, "max": np.maximum, "min": np.minimum, "any": np.logical_or}


def csr_rows(fold):
    def prepare():
        pos, val = array("A0.pos", np.int32), array("A0.val", np.float64)

        def run():
            counts = np.diff(pos)
            rows = np.flatnonzero(counts)
            return in_runs(FOLDS[fold], pos[rows], rows, counts[rows], val, len(pos) - 1)

        return run

    return prepare


def coo_rows(fold):
    def prepare():
        n = len(array("A0.pos", np.int32)) - 1
        row, val = array("sorted.row", np.int32), array("sorted.val", np.float64)
        if fold == "sum":
            return lambda: sum_at(row, val, n)
        if fold == "any":
            return lambda: any_at(row, val, n)

        def run():
            starts = np.concatenate(([0], np.flatnonzero(np.diff(row)) + 1))
            return in_runs(FOLDS[fold], starts, row[starts], np.diff(starts, append=len(row)), val, n)

        return run

    return prepare


def columns(way):
    def prepare():
        n = len(array("A0.pos", np.int32)) - 1
        crd, val = array("A0.crd", np.int32), array("A0.val", np.float64)
        return lambda: way(crd, val, n)

    return prepare


def on_dense(f):
    def prepare():
        d = array("D.val", np.float64)
        side = int(len(d) ** 0.5)
        d = d.reshape(side, side)
        return lambda: f(d)

    return prepare


OPERATIONS = {f"{fold}-rows-csr": csr_rows(fold) for fold in FOLDS} | {f"{fold}-rows-coo": coo_rows(fold) for fold in FOLDS}
for stored in "csr", "coo":
    OPERATIONS[f"sum-columns-{stored}"] = columns(sum_at)
    OPERATIONS[f"any-columns-{stored}"] = columns(any_at)
for axis, lines in enumerate(("columns", "rows")):
    OPERATIONS[f"cumsum-{lines}"] = on_dense(lambda d, axis=axis: np.cumsum(d, axis=axis))
OPERATIONS["copy"] = on_dense(lambda d: d.copy())

serve(f"NumPy {np.__version__}", OPERATIONS, describe_array)
