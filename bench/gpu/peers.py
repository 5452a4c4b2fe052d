"""Times PyTorch (cuSPARSE) and CuPy on the matrices that the command gpu writes.

    python3 peers.py DIR [CASE,...]

Prints a line for each case and peer: case, peer, median and least milliseconds between
events on the device. Each peer gets the arrays in the form it is fastest with, that form
not counted.
"""
import sys
import warnings
import numpy as np
import torch

warnings.filterwarnings("ignore")
try:
    import cupy
    import cupyx.scipy.sparse as cps
except ImportError:
    cupy = None

DIR = sys.argv[1]
ONLY = sys.argv[2].split(",") if len(sys.argv) > 2 else None
dev = torch.device("cuda")


def load(name, dtype):
    pos = np.fromfile(f"{DIR}/{name}.pos", np.uint32).astype(np.int32)
    crd = np.fromfile(f"{DIR}/{name}.crd", np.uint32).astype(np.int32)
    vals = np.fromfile(f"{DIR}/{name}.vals", np.float64).astype(dtype)
    return pos, crd, vals


def torch_csr(name, dtype):
    pos, crd, vals = load(name, dtype)
    n = len(pos) - 1
    return torch.sparse_csr_tensor(torch.from_numpy(pos).to(dev), torch.from_numpy(crd).to(dev),
                                   torch.from_numpy(vals).to(dev), size=(n, n))


def cupy_csr(name, dtype):
    pos, crd, vals = load(name, dtype)
    n = len(pos) - 1
    return cps.csr_matrix((cupy.asarray(vals), cupy.asarray(crd), cupy.asarray(pos)), shape=(n, n))


def time(case, peer, make):
    if ONLY and case not in ONLY:
        return
    try:
        run = make()
        for _ in range(3):
            run()
        torch.cuda.synchronize()
        times = []
        total = 0.0
        while len(times) < 5 or total < 1000 and len(times) < 200:
            a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            if peer == "cupy":
                ca, cb = cupy.cuda.Event(), cupy.cuda.Event()
                ca.record()
                run()
                cb.record()
                cb.synchronize()
                t = cupy.cuda.get_elapsed_time(ca, cb)
            else:
                a.record()
                run()
                b.record()
                b.synchronize()
                t = a.elapsed_time(b)
            times.append(t)
            total += t
        times.sort()
        print(f"{case} {peer} {times[len(times) // 2]:.4f} {times[0]:.4f}", flush=True)
    except Exception as e:  # a peer that cannot is part of the comparison
        print(f"{case} {peer} failed: {str(e).splitlines()[0][:120]}", flush=True)
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
        pos, crd, vals = load(name, np.float64)
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
    time(f"add/{m}", "cupy", cupy_binary(m, lambda A, B: A + B))
    time(f"addnext/{m}", "cupy", cupy_add_next(m))
    time(f"coo-sumrows/{m}", "torch", coo_sum(m, 1))
    time(f"coo-sumcols/{m}", "torch", coo_sum(m, 0))
    time(f"sumrows/{m}", "cupy", cupy_sum(m, 1))
    time(f"sumcols/{m}", "cupy", cupy_sum(m, 0))
    time(f"sumall/{m}", "cupy", cupy_sum(m, None))
    time(f"max/{m}", "cupy", lambda m=m: (lambda A: (lambda: A.max(axis=1)))(cupy_csr(m, np.float64)))
time("spgemm/small", "cupy", cupy_binary("small", lambda A, B: A @ B))
time("spgemm/small", "torch", lambda: (lambda A: (lambda: A @ A))(torch_csr("small", np.float64)))
x = lambda *shape: torch.rand(*shape, device=dev)
time("cumsum/dense", "torch", lambda: (lambda a: (lambda: torch.cumsum(a, 1)))(x(4096, 65536)))
time("logcumsumexp/dense", "torch", lambda: (lambda a: (lambda: torch.logcumsumexp(a, 1)))(x(4096, 65536)))
time("quantile/dense", "torch", lambda: (lambda a: (lambda: torch.quantile(a, 0.5, 1)))(x(1024, 16384)))
time("sort/dense", "torch", lambda: (lambda a: (lambda: torch.sort(a, 1)))(x(1024, 16384)))
time("copy/1GiB", "torch", lambda: (lambda a, b: (lambda: b.copy_(a)))(x(1 << 28), x(1 << 28)))
