"""Lacuna compiles sparse tensor algebra.

    import lacuna
    y = lacuna.eval("y(i) = A(i,j)*x(j)", A=A, x=x)     # A: scipy.sparse, x: NumPy

An expression means what it would mean if every tensor were written out densely: formats change the cost, never the
answer. See docs/language.md for the language and docs/python.md for this package.
"""

import html as _html

from . import _native, _operands
from ._native import Error, FormatError, InternalError, MemoryLimitError, ProgramError, UnavailableError
from ._tensor import Tensor
from ._tensor import result as _result

__all__ = [
    "Error", "Explanation", "FormatError", "InternalError", "Kernel", "MemoryLimitError", "ProgramError", "Tensor", "UnavailableError",
    "compile", "derive", "eval", "eval_all", "explain", "grad", "tensor",
]  # fmt: skip


# What the keywords of calls mean that are not operands.
_OPTIONS = ("out", "dtype", "shape", "fill", "threads", "engine", "memory_limit", "as_written", "strict_ieee")
_OF_RESULTS = {
    "out": ("format", str),
    "dtype": ("type", _native.type_name),
    "shape": ("shape", lambda s: [-1 if n is None else int(n) for n in s]),
    "fill": ("fill", _operands.scalar),
}


class _Call:
    """The arguments of a call: operands, and options as requests have them."""

    def __init__(self, args, keywords):
        options = {k: keywords.pop(k) for k in _OPTIONS if k in keywords}
        self.operands = {**(args or {}), **keywords}
        self.out = options.get("out")
        self.options = {k: v for k, v in options.items() if k not in _OF_RESULTS}
        results = self.options["results"] = {}
        for option, (key, said) in _OF_RESULTS.items():
            wish = options.get(option)
            if wish is not None:
                for name, value in (wish if isinstance(wish, dict) else {"": wish}).items():
                    results.setdefault(name, {})[key] = said(value)

    def serve(self, op, **more):
        """Have the library do it."""
        request, keep = _operands.request(op, self.operands, **self.options, **more)
        try:
            return _native.library.call(request)
        finally:
            del keep  # what the request refers to

    def one(self, answer):
        """The only result of an answer."""
        (described,) = answer["tensors"].values()
        return _result(described, self.out is not None, self.operands.values())

    def all(self, answer):
        """The results of an answer, by name."""
        asked = self.out if isinstance(self.out, dict) else ()
        return {name: _result(t, name in asked, self.operands.values()) for name, t in answer["tensors"].items()}


def eval(program, args=None, /, **keywords):
    """Run a program and return the result of its last statement.

    Operands are NumPy arrays, arrays of scipy.sparse and of pydata/sparse, numbers and lacuna.Tensor, by name:

        eval("C(i,j) = A(i,k)*B(k,j)", A=A, B=B, out="CSC")

    Other keywords say how: out (the format of the result), dtype, shape and fill of the result, or a dict of those of several by
    name; threads, engine ("cpu", "interp", "cuda"), memory_limit (bytes), as_written and strict_ieee (see
    docs/optimiser.md and docs/language.md). Operands with such names are given in a dict, args.
    """
    call = _Call(args, keywords)
    return call.one(call.serve("eval", program=program))


def eval_all(program, args=None, /, **keywords):
    """Run a program and return all its results, by name. The arguments are those of eval."""
    call = _Call(args, keywords)
    return call.all(call.serve("eval", program=program, all=True))


class Kernel:
    """A compiled program: for the formats and element types that it was compiled for, and any extents."""

    def __init__(self, program, answer, out):
        self.program = program
        self.conversions = answer.get("notes") or []
        self.warnings = answer.get("warnings") or []
        self._handle = _native.Handle(answer["kernel"])
        self._out = out

    def _call(self, args, operands):
        call = _Call(args, {})
        call.operands.update(operands)
        call.out = self._out
        return call

    def __call__(self, args=None, /, **operands):
        """Run the kernel and return the result of the last statement."""
        call = self._call(args, operands)
        return call.one(call.serve("run", kernel=self._handle.number))

    def all(self, args=None, /, **operands):
        """Run the kernel and return all results, by name."""
        call = self._call(args, operands)
        return call.all(call.serve("run", kernel=self._handle.number, all=True))

    def explain(self, stage="plan"):
        """The program at one stage of its compilation."""
        return Explanation(self._call(None, {}).serve("explain", kernel=self._handle.number, stage=stage)["text"])

    def __repr__(self):
        return f"<lacuna.Kernel {self.program!r}>"

    def _repr_html_(self):
        return self.explain("plan")._repr_html_()


def compile(program, args=None, /, **keywords):
    """Compile a program for operands like the ones given: examples, whose values do not matter, or formats and
    element types such as "CSR[f32]". Other keywords are those of eval."""
    call = _Call(args, keywords)
    return Kernel(program, call.serve("compile", program=program), call.out)


class Explanation(str):
    """Text that shows a program, as it is also in a notebook."""

    def _repr_html_(self):
        return f"<pre style='line-height:1.2'>{_html.escape(self)}</pre>"

    def __repr__(self):
        return str(self)


def explain(program, args=None, /, *, stage="plan", **keywords):
    """Show what becomes of a program: stage is "syntax", "logic", "plan", "lattice", "loops", "llvm", "optimised" or "asm".
    Operands are examples or formats, as for compile."""
    return Explanation(_Call(args, keywords).serve("explain", program=program, stage=stage)["text"])


def grad(program, wrt, upstream=None, args=None, /, **keywords):
    """The gradient of a program with respect to the operand named wrt: how much some quantity changes with each of its
    elements, if it changes by upstream with those of the result. upstream may be left out if the result is a number: then
    it is 1. The gradient of a sparse operand is sparse, at the coordinates that the operand stores."""
    call = _Call(args, keywords)
    more, keep = {}, []
    if upstream is not None:
        more["upstream"] = _operands.operand("upstream", upstream, keep)
    try:
        return call.one(call.serve("grad", program=program, wrt=wrt, **more))
    finally:
        del keep


def derive(program, wrt, args=None, /, **keywords):
    """The program that computes a gradient. Its operand for the adjoint of the result y is named dy."""
    return _Call(args, keywords).serve("derive", program=program, wrt=wrt)["text"]


def tensor(a, /, format=None):
    """A lacuna.Tensor of an array, which must not change as long as the tensor is used, or of one of Lacuna's own; in
    another format if one is given. What kernels find out about a tensor they remember, so it pays to make one of what is
    used often."""
    return Tensor(_Call({"A": a}, {}).serve("tensor", format=format)["tensors"]["A"])
