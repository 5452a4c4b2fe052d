"""A kernel that lacuna build has compiled, called from Python with ctypes alone.

    lacuna build 'y(i) = A(i,j)*x(j)' A:CSR --name spmv -o libspmv.so
    python3 spmv.py ./libspmv.so
"""

import ctypes as c
import sys

U32, F64 = 8, 13  # LACUNA_U32, LACUNA_F64


class Array(c.Structure):
    _fields_ = [("data", c.c_void_p), ("len", c.c_int64), ("cap", c.c_int64), ("type", c.c_int64)]


class Level(c.Structure):
    _fields_ = [("pointers", Array), ("indices", Array)]


class Tensor(c.Structure):
    _fields_ = [
        ("rank", c.c_int64),
        ("format", c.c_char_p),
        ("extents", c.POINTER(c.c_int64)),
        ("levels", c.POINTER(Level)),
        ("values", Array),
        ("fill", c.c_void_p),
    ]


class Args(c.Structure):
    _fields_ = [
        ("abi", c.c_int64),
        ("count", c.c_int64),
        ("tensors", c.POINTER(Tensor)),
        ("allocate", c.c_void_p),
        ("release", c.c_void_p),
        ("user", c.c_void_p),
        ("stop", c.c_void_p),
        ("tensor", c.c_int64),
        ("message", c.c_char_p),
    ]


class Kernel(c.Structure):
    _fields_ = [
        ("abi", c.c_int64),
        ("name", c.c_char_p),
        ("program", c.c_char_p),
        ("signature", c.c_char_p),
        ("operands", c.c_int64),
        ("results", c.c_int64),
        ("state_words", c.c_int64),
        ("stages", c.c_int64),
        ("run", c.c_void_p),
        ("step", c.c_void_p),
        ("chunk", c.c_void_p),
    ]


def array(ctype, code, items):
    """Memory for items, and the structure that tells of it."""
    memory = (ctype * len(items))(*items)
    return memory, Array(c.cast(memory, c.c_void_p), len(items), len(items), code)


def main(path):
    library = c.CDLL(path)
    kernel = Kernel.in_dll(library, "spmv_kernel")
    print(kernel.program.decode(), "|", kernel.signature.decode())

    pointers, pointers_array = array(c.c_uint32, U32, [0, 2, 2, 4])
    indices, indices_array = array(c.c_uint32, U32, [0, 2, 1, 2])
    values, values_array = array(c.c_double, F64, [1, 2, 3, 4])
    x, x_array = array(c.c_double, F64, [1, 10, 100])
    y, y_array = array(c.c_double, F64, [0, 0, 0])

    shape, n, m = (c.c_int64 * 2)(3, 3), (c.c_int64 * 1)(3), (c.c_int64 * 1)()
    levels = (Level * 2)(Level(), Level(pointers_array, indices_array))
    tensors = (Tensor * 3)(
        Tensor(2, b"CSR", shape, levels, values_array, None),
        Tensor(1, b"D", n, None, x_array, None),
        Tensor(1, b"D", m, None, y_array, None),
    )
    args = Args(abi=kernel.abi, count=3, tensors=tensors)
    status = library.spmv(c.byref(args))
    if status != 0:
        sys.exit(f"spmv: {args.message.decode()}")
    print("y =", list(y))

    tensors[0].rank = 3  # a mistake is an error, not a crash
    status = library.spmv(c.byref(args))
    print(status, args.message.decode())


main(sys.argv[1])
