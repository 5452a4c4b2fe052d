"""Times PyTorch (cuSPARSE) and CuPy on the matrices that the command gpu writes.

    python3 peers.py DIR [CASE,...]

Prints a line for each case and peer: case, peer, median and least milliseconds between
events on the device; of JAX, which has no events, of the clock. Each peer gets the arrays in the
form it is fastest with, that form not counted. Operands smaller than twice the device's cache
take turns with copies of them.
"""
import os
import sys
import time as clock
import warnings
import numpy as np
import torch

warnings.filterwarnings("ignore")
try:
    import cupy
    import cupyx.scipy.sparse as cps
except ImportError:
    cupy = None
try:
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
except ImportError:
    jax = None

DIR = sys.argv[1]
ONLY = sys.argv[2].split(",") if len(sys.argv) > 2 else None
dev = torch.device("cuda")
CACHE = 100 << 20  # as in main.go


def load(name, dtype):
    pos = np.fromfile(f"{DIR}/{name}.pos", np.uint32).astype(np.int32)
    crd = np.fromfile(f"{DIR}/{name}.crd", np.uint32).astype(np.int32)
    vals = np.fromfile(f"{DIR}/{name}.vals", np.float64).astype(dtype)
    cols = int(np.fromfile(f"{DIR}/{name}.cols", np.uint32)[0])
    return pos, crd, vals, (len(pos) - 1, cols)


def torch_csr(name, dtype):
    pos, crd, vals, shape = load(name, dtype)
    return torch.sparse_csr_tensor(torch.from_numpy(pos).to(dev), torch.from_numpy(crd).to(dev),
                                   torch.from_numpy(vals).to(dev), size=shape)


def cupy_csr(name, dtype):
    pos, crd, vals, shape = load(name, dtype)
    return cps.csr_matrix((cupy.asarray(vals), cupy.asarray(crd), cupy.asarray(pos)), shape=shape)


def copies(bytes):
    """How many copies of operands of so many bytes take turns, as in main.go."""
    return 1 if bytes >= CACHE else min((2 * CACHE + bytes - 1) // max(bytes, 1), 32)


class TorchEvent:
    def __init__(self):
        self.event = torch.cuda.Event(enable_timing=True)

    def record(self):
        self.event.record()

    def since(self, start):
        self.event.synchronize()
        return start.event.elapsed_time(self.event)


class CupyEvent:
    def __init__(self):
        self.event = cupy.cuda.Event()

    def record(self):
        self.event.record()

    def since(self, start):
        self.event.synchronize()
        return cupy.cuda.get_elapsed_time(start.event, self.event)


class Clock:
    """For libraries without events: a run waits for the device itself."""

    def record(self):
        self.at = clock.perf_counter()

    def since(self, start):
        return (self.at - start.at) * 1e3


EVENTS = {"torch": TorchEvent, "cupy": CupyEvent, "jax": Clock}


def time(case, peer, make, bytes=CACHE):
    """Times what make makes; its operands have so many bytes."""
    if ONLY and case not in ONLY:
        return
    try:
        runs = [make() for _ in range(copies(bytes))]
        for i in range(3):
            runs[i % len(runs)]()
        torch.cuda.synchronize()
        times = []
        total = 0.0
        event = EVENTS[peer]
        while len(times) < 5 or total < 1000 and len(times) < 200:
            start, end = event(), event()
            start.record()
            runs[len(times) % len(runs)]()
            end.record()
            times.append(end.since(start))
            total += times[-1]
        times.sort()
        print(f"{case} {peer} {times[len(times) // 2]:.4f} {times[0]:.4f}", flush=True)
    except Exception as e:  # a peer that cannot is part of the comparison
        print(f"{case} {peer} failed: {(str(e).splitlines() or [type(e).__name__])[0][:120]}", flush=True)
    runs = None
    torch.cuda.empty_cache()
    if cupy:
        cupy.get_default_memory_pool().free_all_blocks()


def mm(name, dtype, k):
    def make():
        A = torch_csr(name, dtype)
        B = torch.rand(A.shape[1], *((k,) if k else ()), dtype=A.dtype, device=dev)
        return lambda: A @ B
    return make


def cupy_mm(name, dtype, k):
    def make():
        A = cupy_csr(name, dtype)
        B = cupy.random.rand(*((A.shape[1], k) if k else (A.shape[1],))).astype(dtype)
        return lambda: A @ B
    return make


def sddmm(name, k):
    def make():
        A = torch_csr(name, np.float32)
        B = torch.rand(A.shape[0], k, device=dev)
        C = torch.rand(k, A.shape[1], device=dev)
        return lambda: torch.sparse.sampled_addmm(A, B, C, beta=0.0)
    return make


def coo_sum(name, axis):
    def make():
        A = torch_csr(name, np.float64).to_sparse_coo().coalesce()
        return lambda: torch.sparse.sum(A, axis)
    return make


def cupy_binary(name, op):
    def make():
        A = cupy_csr(name, np.float64)
        B = cupy_csr(name, np.float64)
        return lambda: op(A, B)
    return make


def cupy_add_next(name):
    """A plus the matrix with the rows moved up by one, the first one to the end."""
    def make():
        pos, crd, vals, _ = load(name, np.float64)
        A, n, first = cupy_csr(name, np.float64), len(pos) - 1, pos[1]
        moved = np.concatenate([pos[1:] - first, pos[-1:]])
        B = cps.csr_matrix((cupy.asarray(np.roll(vals, -first)), cupy.asarray(np.roll(crd, -first)), cupy.asarray(moved)), shape=(n, n))
        return lambda: A + B
    return make


def cupy_sum(name, axis):
    def make():
        A = cupy_csr(name, np.float64)
        return lambda: A.sum(axis=axis)
    return make


for m in ["unif", "rmat", "band"]:
    time(f"spmv/{m}", "torch", mm(m, np.float64, 0))
    time(f"spmv/{m}", "cupy", cupy_mm(m, np.float64, 0))
for m in ["unif", "rmat"]:
    time(f"spmm32/{m}", "torch", mm(m, np.float64, 32))
    time(f"spmm32f/{m}", "torch", mm(m, np.float32, 32))
    time(f"spmm128f/{m}", "torch", mm(m, np.float32, 128))
    time(f"sddmm32f/{m}", "torch", sddmm(m, 32))
    time(f"sddmm128f/{m}", "torch", sddmm(m, 128))
    time(f"add/{m}", "cupy", cupy_binary(m, lambda A, B: A + B))
    time(f"addnext/{m}", "cupy", cupy_add_next(m))
    time(f"coo-sumrows/{m}", "torch", coo_sum(m, 1))
    time(f"coo-sumcols/{m}", "torch", coo_sum(m, 0))
    time(f"sumrows/{m}", "cupy", cupy_sum(m, 1))
    time(f"sumcols/{m}", "cupy", cupy_sum(m, 0))
    time(f"sumall/{m}", "cupy", cupy_sum(m, None))
    time(f"max/{m}", "cupy", lambda m=m: (lambda A: (lambda: A.max(axis=1)))(cupy_csr(m, np.float64)))
SMALL = 20 << 20
time("spgemm/small", "cupy", cupy_binary("small", lambda A, B: A @ B), SMALL)
time("spgemm/small", "torch", lambda: (lambda A: (lambda: A @ A))(torch_csr("small", np.float64)), SMALL)


def rand(*shape):
    return torch.rand(*shape, device=dev)


def dense(f, *shape):
    return lambda: (lambda a: (lambda: f(a)))(rand(*shape))


ROWS = 4 * 1024 * 16384  # bytes of the smaller dense operand
time("cumsum/dense", "torch", dense(lambda a: torch.cumsum(a, 1), 4096, 65536))
time("logcumsumexp/dense", "torch", dense(lambda a: torch.logcumsumexp(a, 1), 4096, 65536))
time("softmax/dense", "torch", dense(lambda a: torch.softmax(a, 1), 4096, 65536))
time("quantile/dense", "torch", dense(lambda a: torch.quantile(a, 0.5, 1), 1024, 16384), ROWS)
time("sort/dense", "torch", dense(lambda a: torch.sort(a, 1), 1024, 16384), ROWS)


def jax_scan(f):
    def make():
        a = jax.random.uniform(jax.random.key(7), (4096, 65536), dtype="float32")
        compiled = jax.jit(f)
        return lambda: compiled(a).block_until_ready()
    return make


if jax:
    time("cumsum/dense", "jax", jax_scan(lambda a: jax.lax.cumsum(a, axis=1)))
    time("logcumsumexp/dense", "jax", jax_scan(lambda a: jax.lax.cumlogsumexp(a, axis=1)))


def rows_of(pos):
    return np.repeat(np.arange(len(pos) - 1, dtype=np.int32), np.diff(pos))


def coo_arrays(name, shuffled):
    pos, crd, vals, shape = load(name, np.float64)
    rows = rows_of(pos)
    if shuffled:
        order = np.random.default_rng(4).permutation(len(crd))
        rows, crd, vals = rows[order], crd[order], vals[order]
    return rows, crd, vals, shape


def torch_coo(name, shuffled):
    def make():
        rows, crd, vals, shape = coo_arrays(name, shuffled)
        indices = torch.from_numpy(np.stack([rows, crd]).astype(np.int64)).to(dev)
        A = torch.sparse_coo_tensor(indices, torch.from_numpy(vals).to(dev), size=shape, is_coalesced=not shuffled)
        return (lambda: A.coalesce().to_sparse_csr()) if shuffled else (lambda: A.to_sparse_csr())
    return make


def cupy_coo(name, shuffled):
    def make():
        rows, crd, vals, shape = coo_arrays(name, shuffled)
        rows, crd, vals = cupy.asarray(rows), cupy.asarray(crd), cupy.asarray(vals)

        def run():
            A = cps.coo_matrix((vals, (rows, crd)), shape=shape)
            A.has_canonical_format = not shuffled
            return A.tocsr()
        return run
    return make


def torch_csc(name):
    return lambda: (lambda A: (lambda: A.to_sparse_csc()))(torch_csr(name, np.float64))


def cupy_csc(name):
    return lambda: (lambda A: (lambda: A.tocsc()))(cupy_csr(name, np.float64))


for m in ["unif", "rmat"]:
    time(f"coo-csr/{m}", "torch", torch_coo(m, False))
    time(f"coo-csr/{m}", "cupy", cupy_coo(m, False))
    time(f"shuffled-csr/{m}", "torch", torch_coo(m, True))
    time(f"shuffled-csr/{m}", "cupy", cupy_coo(m, True))
    time(f"csr-csc/{m}", "torch", torch_csc(m))
    time(f"csr-csc/{m}", "cupy", cupy_csc(m))


def densified(f, name):
    return lambda: (lambda A: (lambda: f(A.to_dense())))(torch_csr(name, np.float32))


# torch.quantile takes 16 million elements; the median of an even number is its lower one.
time("quantile/percent", "torch", densified(lambda a: torch.quantile(a, 0.5, 1), "percent"), 2 << 20)
time("quantile/percents", "torch", densified(lambda a: torch.quantile(a, 0.5, 1), "percents"), 44 << 20)
time("quantile/percents", "torch", densified(lambda a: torch.median(a, 1), "percents"), 44 << 20)


def scatter(m, n):
    def make():
        y, x = torch.rand(m, dtype=torch.float64, device=dev), torch.rand(n, dtype=torch.float64, device=dev)
        p = torch.randint(m, (n,), device=dev)
        return lambda: y.index_add(0, p, x)
    return make


time("scatter/dense", "torch", scatter(1 << 20, 1 << 22), 75 << 20)
time("spmv/tiny", "torch", mm("tiny", np.float64, 0), 120 << 10)
time("spmv/tiny", "cupy", cupy_mm("tiny", np.float64, 0), 120 << 10)
time("copy/1GiB", "torch", lambda: (lambda a, b: (lambda: b.copy_(a)))(rand(1 << 28), rand(1 << 28)))
