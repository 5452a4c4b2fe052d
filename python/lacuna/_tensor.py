"""Tensors of the library, and results as NumPy and SciPy have them."""

import html

import numpy as np

from . import _native


class Tensor:
    """A tensor in Lacuna's memory, in any of its formats. It does not change; its arrays are NumPy arrays over the
    same memory that cannot be written to. `lacuna.tensor` makes one."""

    def __init__(self, described):
        self._handle = _native.Handle(described["handle"])
        self._is = described

    @property
    def shape(self):
        return tuple(self._is["shape"])

    @property
    def ndim(self):
        return len(self._is["shape"])

    @property
    def dtype(self):
        return _native.numpy_type(self._is["type"])

    @property
    def format(self):
        """How it is stored, such as "CSR" or "DC-DC-S"."""
        return self._is["format"]

    @property
    def nnz(self):
        """The number of values that it stores."""
        return self._is["stored"]

    @property
    def fill_value(self):
        """The value of the coordinates that it does not store."""
        return np.frombuffer(bytes.fromhex(self._is["fill"]["bytes"]), self.dtype)[0]

    @property
    def values(self):
        """The values that it stores, in storage order."""
        return _native.view(self._is["values"], self._handle)

    @property
    def arrays(self):
        """Its index arrays by name: indices_k and pointers_k for level k of the format."""
        return {name: _native.view(a, self._handle) for name, a in self._is["arrays"].items()}

    def toarray(self):
        """The tensor as a NumPy array with every element."""
        return numpy_array(self, writable=False) if self._dense() else numpy_array(self.to("D"), writable=True)

    def to(self, format):
        """The tensor in another format."""
        from . import tensor

        return tensor(self, format)

    def to_scipy(self):
        """A matrix as scipy.sparse.csr_array, csc_array or coo_array: in the format that it has, else as CSR."""
        if self.ndim != 2:
            raise TypeError(f"scipy.sparse has matrices, and this tensor has {self.ndim} axes: see to_sparse and toarray")
        self._zero_fill("scipy.sparse")
        t = self if self.format in _SCIPY else self.to("CSR")
        return scipy_array(t, writable=False)

    def to_sparse(self):
        """The tensor as sparse.COO of pydata/sparse."""
        import sparse

        t = self.to("COO")
        coords = np.array([t.arrays[f"indices_{k}"] for k in range(t.ndim)], dtype=np.int64).reshape(t.ndim, -1)
        return sparse.COO(coords, np.array(t.values), shape=t.shape, fill_value=t.fill_value, has_duplicates=False, sorted=True)

    def _dense(self):
        return all(level == "D" for level in self._is["levels"])

    def _zero_fill(self, where):
        if self.fill_value != 0:
            raise TypeError(f"what {where} does not store is 0, and the fill of this tensor is {self.fill_value}: see toarray and to_sparse")

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.toarray(), dtype)

    def __repr__(self):
        return f"<lacuna.Tensor {self._is['text']}>"

    def _repr_html_(self):
        rows = [
            ("shape", " × ".join(map(str, self.shape)) or "scalar"),
            ("type", self._is["type"]),
            ("format", self.format),
            ("stored", f"{self.nnz:,}"),
            ("fill", str(self.fill_value)),
            ("values", np.array2string(self.values[:8], threshold=8) + (" …" if self.nnz > 8 else "")),
        ]
        cells = "".join(f"<tr><th style='text-align:left'>{k}</th><td style='text-align:left'>{html.escape(v)}</td></tr>" for k, v in rows)
        return f"<table><caption>lacuna.Tensor</caption>{cells}</table>"


_SCIPY = {"CSR": "csr", "CSC": "csc", "COO": "coo"}


def numpy_array(t, writable):
    """A dense tensor as a NumPy array over its memory."""
    flat = _native.view(t._is["values"], t._handle, writable)
    order = t._is["order"]
    stored = flat.reshape([t.shape[axis] for axis in order])
    return stored.transpose(np.argsort(order)) if order else stored.reshape(())


def _index(a):
    """An index array as SciPy has them: signed, in the same memory."""
    if a.dtype.kind != "u" or a.dtype.itemsize < 4:
        return a
    signed = np.dtype(f"=i{a.dtype.itemsize}")
    if a.dtype.itemsize == 4 and a.size and a.max() > np.iinfo(np.int32).max:
        return a.astype(np.int64)
    return a.view(signed)


def scipy_array(t, writable, matrix=False):
    """A matrix in a format that SciPy has, over its memory."""
    import scipy.sparse as sp

    kind = _SCIPY[t.format]
    make = getattr(sp, kind + ("_matrix" if matrix else "_array"))
    view = {name: _index(_native.view(a, t._handle, writable)) for name, a in t._is["arrays"].items()}
    values = _native.view(t._is["values"], t._handle, writable)
    if kind == "coo":
        out = make((values, (view["indices_0"], view["indices_1"])), shape=t.shape, copy=False)
        out.has_canonical_format = True
        return out
    out = make((values, view["indices_1"], view["pointers_0"]), shape=t.shape, copy=False)
    out.has_sorted_indices = out.has_canonical_format = True
    return out


def result(described, asked, operands):
    """A result as its users have it. asked says that its format was asked for. What SciPy cannot say is a Tensor."""
    t = Tensor(described)
    if described["type"] == "bf16" and not _has_bfloat16():
        return t
    if t._dense():
        a = numpy_array(t, writable=True)
        return a[()] if t.ndim == 0 else a
    if asked and t.format not in _SCIPY:
        return t
    sparse_like = [a for a in operands if not isinstance(a, Tensor) and hasattr(a, "nnz")]
    if any(type(a).__module__.partition(".")[0] == "sparse" for a in sparse_like) and not asked:
        return t.to_sparse()
    if t.ndim == 1:
        return t.toarray()
    if t.ndim != 2 or t.fill_value != 0 or t.dtype == np.float16:
        return t
    try:
        import scipy.sparse as sp
    except ImportError:
        return t
    matrix = bool(sparse_like) and all(isinstance(a, sp.spmatrix) and not _is_array(a) for a in sparse_like)
    return scipy_array(t if t.format in _SCIPY else t.to("CSR"), writable=True, matrix=matrix)


def _has_bfloat16():
    try:
        _native.numpy_type("bf16")
    except TypeError:
        return False
    return True


def _is_array(a):
    """Whether SciPy has it as a sparse array, of which * is by elements, rather than as a matrix."""
    return type(a).__name__.endswith("_array")
