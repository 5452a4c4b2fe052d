"""Times PyTorch with torch.distributed, and CuPy with NCCL, on several GPUs, on the matrices that the command gpu writes.

    python3 -m torch.distributed.run --nproc-per-node 2 peers_ranks.py DIR [CASE,...]

Each process has a block of rows of each matrix, and of what is multiplied, which it gathers from all before it multiplies, as
programs with torch.distributed do. Prints a line for each case and peer: case, peer, median milliseconds of a run of which many follow each other.
"""
import os
import sys
import time
import warnings
import numpy as np
import torch
import torch.distributed as dist

warnings.filterwarnings("ignore")
try:
    import cupy
    import cupyx.scipy.sparse as cps
    from cupy.cuda import nccl
except ImportError:
    cupy = None

DIR = sys.argv[1]
ONLY = sys.argv[2].split(",") if len(sys.argv) > 2 else None
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(rank)
dev = torch.device("cuda", rank)
dist.init_process_group("nccl", device_id=dev)


def block(name, dtype):
    """This rank's rows of a matrix."""
    pos = np.fromfile(f"{DIR}/{name}.pos", np.uint32).astype(np.int64)
    n = len(pos) - 1
    lo, hi = n * rank // size, n * (rank + 1) // size
    crd = np.fromfile(f"{DIR}/{name}.crd", np.uint32)[pos[lo]:pos[hi]].astype(np.int32)
    vals = np.fromfile(f"{DIR}/{name}.vals", np.float64)[pos[lo]:pos[hi]].astype(dtype)
    cols = int(np.fromfile(f"{DIR}/{name}.cols", np.uint32)[0])
    return (pos[lo:hi + 1] - pos[lo]).astype(np.int32), crd, vals, (hi - lo, cols)


def torch_csr(name, dtype):
    pos, crd, vals, shape = block(name, dtype)
    return torch.sparse_csr_tensor(torch.from_numpy(pos).to(dev), torch.from_numpy(crd).to(dev), torch.from_numpy(vals).to(dev), size=shape)


def cupy_csr(name, dtype):
    pos, crd, vals, shape = block(name, dtype)
    return cps.csr_matrix((cupy.asarray(vals), cupy.asarray(crd), cupy.asarray(pos)), shape=shape)


def measure(case, peer, run):
    for _ in range(5):
        run()
    times, batch = [], 1
    while len(times) < 7:
        torch.cuda.synchronize()
        dist.barrier()
        start = time.perf_counter()
        for _ in range(batch):
            run()
        torch.cuda.synchronize()
        dist.barrier()
        took = torch.tensor(time.perf_counter() - start, device=dev)
        dist.all_reduce(took, dist.ReduceOp.MAX)
        took = took.item()
        if took < 0.02 and batch < 64:
            batch *= 2
            times = []
            continue
        times.append(took / batch)
    if rank == 0:
        print(case, peer, f"{1000 * sorted(times)[len(times) // 2]:.4f}", flush=True)


def torch_product(name, columns, dtype):
    A = torch_csr(name, dtype)
    n = A.shape[1]
    shape = (n,) if columns == 0 else (n, columns)
    whole = torch.empty(shape, dtype=A.dtype, device=dev)
    mine = torch.rand((n // size,) + shape[1:], dtype=A.dtype, device=dev)

    def run():
        dist.all_gather_into_tensor(whole, mine)
        return A @ whole
    return run


def cupy_product(name, columns, dtype):
    A = cupy_csr(name, dtype)
    n = A.shape[1]
    shape = (n,) if columns == 0 else (n, columns)
    whole = cupy.empty(shape, dtype)
    mine = cupy.random.rand(n // size, *shape[1:]).astype(dtype)
    comm = communicator()
    kind = nccl.NCCL_FLOAT64 if dtype == np.float64 else nccl.NCCL_FLOAT32

    def run():
        comm.allGather(mine.data.ptr, whole.data.ptr, mine.size, kind, cupy.cuda.get_current_stream().ptr)
        return A @ whole
    return run


def communicator():
    ids = [nccl.get_unique_id() if rank == 0 else None]
    dist.broadcast_object_list(ids, 0)
    return nccl.NcclCommunicator(size, ids[0], rank)


def sddmm(name):
    A = torch_csr(name, np.float32)
    rows, n = A.shape
    B = torch.rand(rows, 128, device=dev)
    whole, mine = torch.empty(n, 128, device=dev), torch.rand(n // size, 128, device=dev)

    def run():
        dist.all_gather_into_tensor(whole, mine)
        return torch.sparse.sampled_addmm(A, B, whole.t(), beta=0.0)
    return run


def add(name):
    A = cupy_csr(name, np.float64)
    return lambda: A + A


def sums(name):
    A = cupy_csr(name, np.float64)
    return lambda: A.sum(axis=1)


cases = []
for m in "unif", "rmat", "band":
    cases += [(f"spmv/{m}", "torch", lambda m=m: torch_product(m, 0, np.float64)),
              (f"spmm128f/{m}", "torch", lambda m=m: torch_product(m, 128, np.float32))]
    if m != "band":
        cases.append((f"sddmm128f/{m}", "torch", lambda m=m: sddmm(m)))
    if cupy is not None:
        cases += [(f"spmv/{m}", "cupy", lambda m=m: cupy_product(m, 0, np.float64)),
                  (f"spmm128f/{m}", "cupy", lambda m=m: cupy_product(m, 128, np.float32)),
                  (f"add/{m}", "cupy", lambda m=m: add(m)), (f"coo-sumrows/{m}", "cupy", lambda m=m: sums(m))]
if cupy is not None:
    cupy.cuda.Device(rank).use()
for case, peer, make in cases:
    if ONLY and case not in ONLY:
        continue
    try:
        measure(case, peer, make())
    except Exception as e:  # the other ranks fail, too
        if rank == 0:
            print(case, peer, "failed:", str(e).splitlines()[0][:100], flush=True)
    torch.cuda.empty_cache()
    if cupy is not None:
        cupy.get_default_memory_pool().free_all_blocks()
dist.destroy_process_group()
