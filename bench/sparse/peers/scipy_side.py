# The SciPy side. side.h tells what a side answers.

import functools
import operator
import sys
import time

import numpy as np
import scipy
import scipy.sparse as sparse

folder, name = sys.argv[1:]


def array(file, dtype):
    return np.fromfile(f"{folder}/{name}.{file}", dtype=dtype)


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


# For each operation, a function that reads the operands and returns what one
# repetition does.
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
}


def mix(x):
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


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


def peak_kb():
    with open("/proc/self/status") as status:
        return next((line.split()[1] for line in status if line.startswith("VmHWM:")), "0")


def once(run):
    """The result, and milliseconds by the clock and of the processor."""
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    result = run()
    wall = time.perf_counter_ns() - wall
    cpu = time.process_time_ns() - cpu
    return result, wall / 1e6, cpu / 1e6


def burst(run, budget_ms):
    walls, cpus, start = [], [], time.perf_counter_ns()
    while True:
        spent = (time.perf_counter_ns() - start) / 1e6
        if walls and spent >= budget_ms and (len(walls) >= 2 or spent >= 4 * budget_ms):
            return sorted(walls), sorted(cpus)
        result, wall, cpu = once(run)
        walls.append(wall)
        cpus.append(cpu)
        del result


np.seterr(over="ignore")
prepared, run = None, None
print("ready SciPy", scipy.__version__, "with NumPy", np.__version__, flush=True)
for line in sys.stdin:
    verb, op, threads, seconds = line.split()
    if prepared != op:
        prepared, run = op, OPERATIONS[op]()
    if verb == "check":
        result, wall, cpu = once(run)
        peak = peak_kb()
        print(op, name, f"{wall:.6f} {wall:.6f} 1 {cpu:.6f}", flush=True)
        print(describe(result), peak, flush=True)
        del result
    else:
        walls, cpus = burst(run, float(seconds) * 1e3)
        middle = len(walls) // 2
        print(op, name, f"{walls[middle]:.6f} {walls[0]:.6f} {len(walls)} {cpus[middle]:.6f}", flush=True)
