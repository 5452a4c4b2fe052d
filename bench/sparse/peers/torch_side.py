# The PyTorch side. side.h tells what a side answers.

import numpy as np
import torch
from side import array, describe_array, serve

torch.set_num_threads(1)


def scattered(fold, axis):
    """Entries are added, or put, into a dense vector: torch's sparse tensors have only sum, which is slower."""

    def prepare():
        n = len(array("A0.pos", np.int32)) - 1
        index = torch.from_numpy(array(("sorted.col", "sorted.row")[axis], np.int32)).long()
        val = torch.from_numpy(array("sorted.val", np.float64))
        if fold == "sum":
            return lambda: torch.zeros(n, dtype=torch.float64).index_add_(0, index, val)
        return lambda: torch.zeros(n, dtype=torch.float64).scatter_reduce_(0, index, val, "a" + fold)

    return prepare


def on_dense(f):
    def prepare():
        d = array("D.val", np.float64)
        side = int(len(d) ** 0.5)
        d = torch.from_numpy(d.reshape(side, side))
        return lambda: f(d)

    return prepare


OPERATIONS = {}
for axis, lines in enumerate(("columns", "rows")):
    for fold in "sum", "max", "min":
        OPERATIONS[f"{fold}-{lines}-coo"] = scattered(fold, axis)
    OPERATIONS[f"cumsum-{lines}"] = on_dense(lambda d, axis=axis: torch.cumsum(d, axis))
    OPERATIONS[f"logcumsumexp-{lines}"] = on_dense(lambda d, axis=axis: torch.logcumsumexp(d, axis))

serve(f"PyTorch {torch.__version__} with NumPy {np.__version__}", OPERATIONS, lambda m: describe_array(m.numpy()))
