"""The shared library: requests and answers, handles, and memory that the two sides share."""

import atexit
import ctypes
import json
import os
import pathlib
import sys
import threading

import numpy as np


class Error(Exception):
    """What every error of Lacuna is."""

    code = ""


class ProgramError(Error, ValueError):
    """Something is wrong in a program, or operands do not fit it. The message shows the place; `code` is
    listed in docs/errors.md."""


class FormatError(Error, ValueError):
    """The arrays of an operand are not those of a tensor, or a format or type is not one."""


class MemoryLimitError(Error, MemoryError):
    """A run would need more memory than it may have."""


class UnavailableError(Error, RuntimeError):
    """There is no such engine on this machine."""


class InternalError(Error, RuntimeError):
    """A mistake of Lacuna itself."""


_KINDS = {
    "program": ProgramError,
    "tensor": FormatError,
    "memory": MemoryLimitError,
    "unavailable": UnavailableError,
    "internal": InternalError,
}

# How long a call waits in the library before Python looks for signals, in milliseconds.
_SLICE = 50


def _library_path():
    suffix = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
    return os.environ.get("LACUNA_LIBRARY") or str(pathlib.Path(__file__).with_name("liblacuna" + suffix))


class Library:
    """The library in this process. It is loaded when it is first asked for something."""

    def __init__(self):
        self._lock = threading.Lock()
        self._lib = None
        self._forked = False
        self._lent = {}  # token -> the array that the library refers to
        self._last = 0
        os.register_at_fork(after_in_child=self._in_child)

    def _in_child(self):
        self._forked = self._lib is not None
        self._lock = threading.Lock()

    def _load(self):
        if self._forked:
            raise Error(
                "lacuna cannot be used in a process that was forked after its first use: its threads are not there. "
                'Use multiprocessing.get_context("spawn"), or call lacuna only in the children.'
            )
        if self._lib is None:
            with self._lock:
                if self._lib is None:
                    self._lib = self._open()
        return self._lib

    def _open(self):
        path = _library_path()
        try:
            lib = ctypes.CDLL(path)
        except OSError as e:
            raise Error(f"the library of lacuna does not load: {e}. Install the package (pip install ./python), or name the library in LACUNA_LIBRARY.") from None
        released = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
        for name, result, args in [
            ("open", None, [released]),
            ("start", ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_int64]),
            ("wait", ctypes.c_void_p, [ctypes.c_uint64, ctypes.c_int64]),
            ("cancel", None, [ctypes.c_uint64]),
            ("release", None, [ctypes.c_uint64]),
            ("close", None, []),
            ("free", None, [ctypes.c_void_p]),
        ]:
            f = getattr(lib, "lacuna_" + name)
            f.restype, f.argtypes = result, args
        self._released = released(self._take_back)  # kept: the library calls it
        lib.lacuna_open(self._released)
        atexit.register(lib.lacuna_close)
        return lib

    def _take_back(self, token):
        self._lent.pop(token, None)

    def lend(self, array):
        """A token under which an array stays until the library does not refer to it any more."""
        with self._lock:
            self._last += 1
            token = self._last
        self._lent[token] = array
        return token

    def call(self, request):
        """Serve a request. Other threads run meanwhile, and signals are handled: what their handlers raise, such as
        KeyboardInterrupt, ends the job."""
        lib = self._load()
        text = json.dumps(request, allow_nan=False).encode()
        job = lib.lacuna_start(text, len(text))
        try:
            address = lib.lacuna_wait(job, _SLICE)
            while not address:
                address = lib.lacuna_wait(job, _SLICE)
        except BaseException:
            lib.lacuna_cancel(job)
            while not (address := lib.lacuna_wait(job, _SLICE)):
                pass
            self._discard(self._read(lib, address))
            raise
        answer = self._read(lib, address)
        error = answer.get("error")
        if error:
            e = _KINDS.get(error["kind"], Error)(error["message"])
            e.code = error.get("code", "")
            raise e
        return answer

    def _read(self, lib, address):
        try:
            answer = json.loads(ctypes.string_at(address))
        finally:
            lib.lacuna_free(address)
        for token in answer.get("returned", ()):
            self._take_back(token)
        return answer

    def _discard(self, answer):
        for t in answer.get("tensors", {}).values():
            self.release(t["handle"])
        if answer.get("kernel"):
            self.release(answer["kernel"])

    def release(self, handle):
        if self._lib is not None and not self._forked:
            self._lib.lacuna_release(handle)


library = Library()


class Handle:
    """A tensor or a kernel in the library, released when nothing in Python refers to it any more."""

    __slots__ = ("number", "__weakref__")

    def __init__(self, number):
        self.number = number

    def __del__(self, release=library.release):
        release(self.number)


class Memory:
    """An array of a tensor in the library, as NumPy takes it: arrays over it keep the tensor."""

    __slots__ = ("handle", "__array_interface__")

    def __init__(self, handle, address, length, dtype, writable):
        self.handle = handle
        self.__array_interface__ = {"version": 3, "shape": (length,), "typestr": dtype.str, "data": (address, not writable)}


_TYPES = {
    "bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
    "f16": "f2", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16",
}  # fmt: skip
_DTYPES = {name: np.dtype("=" + code) for name, code in _TYPES.items()}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def type_name(dtype):
    """Lacuna's name of an element type: of a NumPy dtype, of one of Lacuna's names, or of anything np.dtype takes."""
    if isinstance(dtype, str) and (dtype in _DTYPES or dtype == "bf16"):
        return dtype
    d = np.dtype(dtype)
    if d.name == "bfloat16":  # of ml_dtypes
        return "bf16"
    name = _NAMES.get(d.newbyteorder("="))
    if name is None:
        raise TypeError(f"Lacuna has no element type {d}: it has bool, integers and floats of all widths, complex64 and complex128")
    return name


def numpy_type(name):
    """The NumPy dtype of an element type."""
    if name == "bf16":
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError("NumPy has no bfloat16: install ml_dtypes, or ask for dtype='f32'") from None
        return np.dtype(ml_dtypes.bfloat16)
    return _DTYPES[name]


def view(described, handle, writable=False):
    """The NumPy array over an array of a tensor."""
    dtype = numpy_type(described["type"])
    if described["len"] == 0:
        return np.empty(0, dtype)
    if dtype.kind == "V":  # bfloat16 has no type string
        raw = Memory(handle, described["address"], described["len"], np.dtype("=u2"), writable)
        return np.asarray(raw).view(dtype)
    return np.asarray(Memory(handle, described["address"], described["len"], dtype, writable))
