"""Programs as functions that PyTorch differentiates:

    from lacuna.torch import function
    spmv = function("y(i) = A(i,j)*x(j)")
    y = spmv(A=A, x=x)          # tensors of PyTorch, on the CPU; sparse ones in the layouts CSR, CSC and COO
    y.sum().backward()          # A.grad is sparse, at the coordinates of A (COO where A is CSC)

The gradients are programs too: lacuna.derive prints them.
"""

import numpy as np
import torch

import lacuna


class _Coordinates:
    """A sparse tensor of PyTorch in the layout COO, as lacuna takes those of pydata/sparse."""

    fill_value = 0

    def __init__(self, t):
        t = t.coalesce()
        self.coords, self.data, self.shape = t.indices().numpy(), t.values().numpy(), tuple(t.shape)
        self.ndim, self.nnz = len(self.shape), self.data.size
        if self.data.ndim != 1:
            raise TypeError("a sparse tensor with dense dimensions is none that lacuna has: to_sparse() makes all sparse")

    def todense(self):
        raise NotImplementedError


def _operand(t):
    if not isinstance(t, torch.Tensor):
        return t
    if t.device.type != "cpu":
        raise TypeError(f"lacuna.torch takes tensors on the CPU, and this one is on {t.device}: call cpu() first")
    t = t.detach()
    if t.layout == torch.sparse_coo:
        return _Coordinates(t)
    if t.layout in (torch.sparse_csr, torch.sparse_csc):
        import scipy.sparse as sp

        csr = t.layout == torch.sparse_csr
        make = sp.csr_array if csr else sp.csc_array
        outer, inner = (t.crow_indices(), t.col_indices()) if csr else (t.ccol_indices(), t.row_indices())
        return make((t.values().numpy(), inner.numpy(), outer.numpy()), shape=tuple(t.shape))
    return t.numpy()


def _tensor(a):
    """A result for PyTorch: dense, or in the layout that the result has."""
    if isinstance(a, lacuna.Tensor):
        a = a.to_scipy() if a.ndim == 2 else a.toarray()
    kind = getattr(a, "format", None)
    if kind is None:
        return torch.from_numpy(np.ascontiguousarray(a)) if np.ndim(a) else torch.tensor(a)
    if kind == "coo":
        at = np.stack([a.row, a.col]).astype(np.int64)
        return torch.sparse_coo_tensor(torch.from_numpy(at), torch.from_numpy(a.data), tuple(a.shape)).coalesce()
    make = torch.sparse_csr_tensor if kind == "csr" else torch.sparse_csc_tensor
    parts = (torch.from_numpy(part) for part in (a.indptr.astype(np.int64), a.indices.astype(np.int64), a.data))
    return make(*parts, tuple(a.shape))


def _layout(t):
    """What SciPy calls the layout of a gradient, which is that of the operand; None if it is dense.
    PyTorch cannot keep gradients in the layout CSC ("do not have is_contiguous"), so these are COO."""
    return {torch.sparse_coo: "coo", torch.sparse_csr: "csr", torch.sparse_csc: "coo"}.get(getattr(t, "layout", None))


class _Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, program, keywords, names, *values):
        ctx.program, ctx.keywords, ctx.names = program, keywords, names
        ctx.others = [None if isinstance(v, torch.Tensor) else v for v in values]
        ctx.save_for_backward(*(v for v in values if isinstance(v, torch.Tensor)))
        return _tensor(lacuna.eval(program, {n: _operand(v) for n, v in zip(names, values)}, **keywords))

    @staticmethod
    def backward(ctx, upstream):
        saved = iter(ctx.saved_tensors)
        values = [next(saved) if v is None else v for v in ctx.others]
        operands = {n: _operand(v) for n, v in zip(ctx.names, values)}
        how = {k: v for k, v in ctx.keywords.items() if k in ("threads", "engine", "as_written", "strict_ieee")}
        grads = []
        for name, value, needed in zip(ctx.names, values, ctx.needs_input_grad[3:]):
            if not needed:
                grads.append(None)
                continue
            g = lacuna.grad(ctx.program, name, _operand(upstream), operands, **how)
            layout = _layout(value)
            if layout:
                g = (g.to_scipy() if isinstance(g, lacuna.Tensor) else g).asformat(layout)
            grads.append(_tensor(g))
        return (None, None, None, *grads)


def function(program, /, **keywords):
    """A function of operands by name that PyTorch differentiates. Keywords are those of lacuna.eval that say how."""

    def call(**operands):
        return _Function.apply(program, keywords, tuple(operands), *operands.values())

    return call
