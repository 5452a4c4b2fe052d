"""The package against NumPy and SciPy:  python3 -m unittest discover -s python/tests"""

import gc
import os
import signal
import threading
import time
import unittest
import weakref

import numpy as np
import scipy.sparse as sp

import lacuna

SPMV = "y(i) = A(i,j)*x(j)"


def random_matrix(n=60, m=40, density=0.1, seed=1, dtype=np.float64):
    rng = np.random.default_rng(seed)
    a = sp.random(n, m, density, format="csr", random_state=seed)
    a.data = rng.integers(1, 100, a.nnz).astype(dtype)  # sums are exact
    return sp.csr_matrix((a.data, a.indices, a.indptr), shape=a.shape)


def settle(holds, seconds=10):
    """Waits until something holds that the garbage collectors of both sides bring about."""
    end = time.monotonic() + seconds
    big = np.zeros(1 << 23)
    while not holds():
        if time.monotonic() > end:
            return False
        lacuna.eval("s = x(i)", x=big.copy())  # enough memory that the engine looks for what is free
        gc.collect()
        time.sleep(0.01)
    return True


class Operands(unittest.TestCase):
    def test_every_format_of_scipy(self):
        a, x = random_matrix(), np.arange(40.0)
        for kind in "csr csc coo bsr dia dok lil".split():
            for b in (a.tobsr((6, 4)) if kind == "bsr" else a.asformat(kind), sp.csr_array(a).asformat(kind)):
                with self.subTest(type(b).__name__):
                    np.testing.assert_array_equal(lacuna.eval(SPMV, A=b, x=x), a @ x)

    def test_every_type(self):
        for dtype in "?bhilqBHILQefdFD":
            a = random_matrix(dtype=dtype) if dtype != "e" else random_matrix()
            values = a.data.astype(dtype)
            s = lacuna.eval("s(i) = max_j A(i,j)" if dtype not in "FD" else "s(i) = sum_j A(i,j)", A=values.reshape(1, -1))
            want = values.max() if dtype not in "FD" else values.sum()
            with self.subTest(np.dtype(dtype)):
                self.assertEqual(s[0], want)
                self.assertEqual(s.dtype, np.dtype(dtype))

    def test_duplicates_and_order_do_not_matter(self):
        rows, cols = np.array([2, 0, 2, 1, 2]), np.array([1, 3, 1, 0, 0])
        coo = sp.coo_matrix((np.arange(1.0, 6), (rows, cols)), shape=(3, 4))
        csr = sp.csr_matrix((np.arange(1.0, 6), np.array([3, 0, 1, 1, 0]), np.array([0, 1, 2, 5])), shape=(3, 4))
        for a in (coo, csr):
            np.testing.assert_array_equal(lacuna.eval("y(i) = A(i,j)", A=a), np.asarray(a.sum(axis=1)).ravel())

    def test_strides(self):
        a = np.arange(24.0).reshape(2, 3, 4)
        for b in (a, a.T, a.transpose(1, 0, 2), a[::-1, :, ::2], np.asfortranarray(a), a.astype(">f8"), a[:, :0]):
            with self.subTest(b.strides):
                np.testing.assert_array_equal(lacuna.eval("B(i,j,k) = 2*A(i,j,k)", A=b), 2 * b)

    def test_numbers(self):
        y = lacuna.eval("y(i) = a*x(i)", a=3, x=np.arange(4))
        np.testing.assert_array_equal(y, 3 * np.arange(4))
        self.assertEqual(y.dtype, np.int64)
        s = lacuna.eval("s = x(i)", x=np.arange(4.0))
        self.assertEqual((s, type(s)), (6.0, np.float64))
        self.assertEqual(lacuna.eval("s = a*b", a=True, b=1.5j), 1.5j)

    def test_names_that_are_options(self):
        np.testing.assert_array_equal(lacuna.eval("y(i) = out(i)*shape", {"out": np.arange(3), "shape": 2}), [0, 2, 4])

    def test_overlapping_views(self):
        a = np.arange(3000.0)
        got = lacuna.eval("y(i) = a(i) + b(i) + c(i)", a=a[:2000], b=a[500:2500], c=a[1000:])
        np.testing.assert_array_equal(got, a[:2000] + a[500:2500] + a[1000:])
        raw = bytes(range(256)) * 100
        b, c = np.frombuffer(raw, np.uint8)[:20000], np.frombuffer(raw, np.uint8, offset=300)[:20000]
        np.testing.assert_array_equal(lacuna.eval("y(i) = bitor(b(i), c(i))", b=b, c=c), b | c)

    def test_pydata(self):
        try:
            import sparse
        except ImportError:
            self.skipTest("pydata/sparse is not installed (apt-get install python3-sparse)")
        a = random_matrix()
        x = np.arange(40.0)
        coo = sparse.COO.from_scipy_sparse(a)
        for b in (coo, sparse.GCXS(coo, compressed_axes=(0,)), sparse.GCXS(coo, compressed_axes=(1,)), sparse.DOK.from_coo(coo)):
            np.testing.assert_array_equal(lacuna.eval(SPMV, A=b, x=x, out="D"), a @ x)
            y = lacuna.eval(SPMV, A=b, x=x)
            np.testing.assert_array_equal(y if isinstance(y, np.ndarray) else y.todense(), a @ x)
        t = sparse.random((4, 5, 6), density=0.3, random_state=1)
        for b in (t, sparse.GCXS(t)):
            got = lacuna.eval("B(i,j,k) = 2*A(i,j,k)", A=b)
            self.assertIsInstance(got, sparse.COO)
            np.testing.assert_array_equal(got.todense(), 2 * t.todense())
        inf = sparse.COO(np.array([[0, 1]]), np.array([1.0, 2.0]), shape=(4,), fill_value=np.inf)
        got = lacuna.eval("y(i) = min(a(i), 5)", a=inf)
        np.testing.assert_array_equal(got.todense() if hasattr(got, "todense") else got, [1, 2, 5, 5])

    def test_what_is_no_tensor(self):
        with self.assertRaisesRegex(TypeError, "x is not a tensor"):
            lacuna.eval("s = x(i)", x=[object()])
        with self.assertRaisesRegex(TypeError, "no element type"):
            lacuna.eval("s = x(i)", x=np.array(["a"]))
        with self.assertRaisesRegex(TypeError, "x is a masked array"):
            lacuna.eval("s = x(i)", x=np.ma.array([1.0, 2.0], mask=[False, True]))

    def test_arrays_that_are_wrong(self):
        a = random_matrix()
        a.indices[3] = 1000  # as a program may do by mistake
        a.has_canonical_format = True
        with self.assertRaisesRegex(lacuna.FormatError, "A.*1000"):
            lacuna.eval(SPMV, A=a, x=np.zeros(40))


class Results(unittest.TestCase):
    def test_formats(self):
        a = random_matrix()
        b = lacuna.eval("C(i,j) = A(i,k)*B(k,j)", A=a, B=a.T.tocsr())
        self.assertIsInstance(b, sp.csr_matrix)
        self.assertEqual(abs(b - a @ a.T).nnz, 0)
        self.assertIsInstance(lacuna.eval("B(i,j) = 2*A(i,j)", A=sp.csr_array(a)), sp.csr_array)
        for out, kind in [("CSR", sp.csr_matrix), ("CSC", sp.csc_matrix), ("COO", sp.coo_matrix), ("D", np.ndarray), ("DCSR", lacuna.Tensor)]:
            got = lacuna.eval("B(i,j) = 2*A(i,j)", A=a, out=out)
            self.assertIsInstance(got, kind)
            dense = got if isinstance(got, np.ndarray) else got.toarray()
            np.testing.assert_array_equal(dense, 2 * a.toarray())

    def test_all_results(self):
        got = lacuna.eval_all("B(i,j) = 2*A(i,j); y(i) = B(i,j)", A=random_matrix(), out={"B": "CSC"}, dtype={"y": np.float32})
        self.assertEqual(sorted(got), ["B", "y"])
        self.assertEqual((got["B"].format, got["y"].dtype), ("csc", np.float32))

    def test_a_result_is_its_users(self):
        a = random_matrix(200, 200)
        before = a.toarray()
        for program in ("B(i,j) = A(i,j)", "B(i,j) = 2*A(i,j)"):
            b = lacuna.eval(program, A=a)
            for part in (b.data, b.indices, b.indptr):
                self.assertFalse(any(np.shares_memory(part, p) for p in (a.data, a.indices, a.indptr)))
            b.data[:] = 7
        np.testing.assert_array_equal(a.toarray(), before)
        x = lacuna.eval("y(i) = A(i,j)", A=a)
        y = lacuna.eval("y(i) = x(i)", x=x)
        y[:] = 1
        np.testing.assert_array_equal(x, before.sum(axis=1))

    def test_results_outlive_all_else(self):
        y = lacuna.eval("y(i) = x(i) + 1", x=np.arange(100000.0))[5:]
        gc.collect()
        for _ in range(20):
            lacuna.eval("y(i) = x(i) + 2", x=np.arange(100000.0))
        np.testing.assert_array_equal(y, np.arange(6.0, 100001))

    def test_options(self):
        a, x = random_matrix(), np.arange(40.0)
        for engine in ("interp", "auto"):
            for threads in (1, 2):
                got = lacuna.eval(SPMV, A=a, x=x, engine=engine, threads=threads, as_written=True, strict_ieee=True)
                np.testing.assert_array_equal(got, a @ x)
        with self.assertRaises(lacuna.Error):
            lacuna.eval(SPMV, A=a, x=x, engine="abacus")
        with self.assertRaises(lacuna.MemoryLimitError):
            lacuna.eval("C(i,j) = x(i)*x(j)", x=np.ones(5000), memory_limit=1 << 20)
        np.testing.assert_array_equal(lacuna.eval("y(i) = 2.0", shape=(3,)), [2, 2, 2])
        for option in ({"out": "CSR"}, {"dtype": "f32"}, {"shape": (3,)}, {"fill": 1.0}):
            with self.assertRaisesRegex(lacuna.Error, "no tensor z"):
                lacuna.eval("y(i) = 2*x(i)", x=x, **{k: {"z": v} for k, v in option.items()})

    def test_bfloat16_is_told(self):
        t = lacuna.eval("y(i) = bf16(x(i))", x=np.arange(3.0))
        if isinstance(t, lacuna.Tensor):
            with self.assertRaisesRegex(TypeError, "bfloat16"):
                t.toarray()


class Memory(unittest.TestCase):
    def test_nothing_is_copied(self):
        a = random_matrix(2000, 2000)
        t = lacuna.tensor(a)
        self.assertTrue(np.shares_memory(t.values, a.data))
        self.assertTrue(np.shares_memory(t.arrays["indices_1"], a.indices))
        f = np.asfortranarray(np.arange(10000.0).reshape(100, 100))
        self.assertTrue(np.shares_memory(lacuna.tensor(f).values, f))
        with self.assertRaises(ValueError):
            t.values[0] = 1

    def test_operands_are_let_go(self):
        x = np.arange(1e6)
        gone = weakref.ref(x)
        lacuna.eval("s = x(i)", x=x)
        del x
        self.assertTrue(settle(lambda: gone() is None), "an operand is kept for good")

    def test_tensors_keep_operands(self):
        x = np.arange(1e6)
        gone = weakref.ref(x)
        t = lacuna.tensor(x)
        v = t.values
        del x, t
        self.assertFalse(settle(lambda: gone() is None, 0.5))
        self.assertEqual(v[-1], 1e6 - 1)
        del v
        self.assertTrue(settle(lambda: gone() is None), "the operand of a tensor is kept for good")

    def test_results_are_let_go(self):
        lacuna.eval("y(i) = x(i)", x=np.ones(1000))
        for _ in range(80):  # 6.4 GB, if they were kept
            lacuna.eval("y(i) = x(i)*2", x=np.ones(10000000))
        with open("/proc/self/status") as f:
            kib = next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))
        self.assertLess(kib, 4 << 20)


class Programs(unittest.TestCase):
    def test_errors_have_a_caret(self):
        with self.assertRaises(lacuna.ProgramError) as e:
            lacuna.eval("y(i) = A(i,j)*z(j)", A=random_matrix())
        self.assertEqual(e.exception.code, "E201")
        line, caret = str(e.exception).splitlines()[1:3]
        self.assertEqual(line[caret.index("^")], "z")
        self.assertIn("hint: pass operands by their names", str(e.exception))
        self.assertIsInstance(e.exception, ValueError)
        with self.assertRaisesRegex(lacuna.ProgramError, r"\(shape=\(10, 20\)\)"):
            lacuna.eval("y(i) = 3")

    def test_kernels(self):
        a, x = random_matrix(), np.arange(40.0)
        k = lacuna.compile(SPMV, A="CSR", x="D")
        np.testing.assert_array_equal(k(A=random_matrix(dtype=np.float64), x=x), a @ x)
        k = lacuna.compile("y(i) = A(i,j)*x(j); s = y(i)", A=a, x=x)
        self.assertEqual(k.all(A=a, x=x)["s"], (a @ x).sum())
        with self.assertRaisesRegex(lacuna.Error, "A is stored as CSC"):
            k(A=a.tocsc(), x=x)
        k = lacuna.compile("y(i) = s*x(i)", s="D[f64]", x="D")
        np.testing.assert_array_equal(k(s=2.0, x=x), 2 * x)
        with self.assertRaisesRegex(lacuna.Error, "no tensor w"):
            lacuna.compile(SPMV, A="CSR", x="D", w="D")
        self.assertIn("forall i", k.explain())
        self.assertIsInstance(k.conversions, list)

    def test_explain(self):
        text = lacuna.explain(SPMV, A="CSR[f32]", x=np.zeros(3))
        self.assertIn("tensor A: CSR f32", text)
        self.assertIn("<pre", text._repr_html_())
        self.assertNotIn("<3", lacuna.explain("y(i) = where(x(i) <3, 1, 0)", x="D", stage="syntax")._repr_html_())

    def test_gradients(self):
        a, x, dy = random_matrix(), np.arange(40.0), np.arange(60.0)
        np.testing.assert_array_equal(lacuna.grad(SPMV, "x", dy, A=a, x=x), a.T @ dy)
        ga = lacuna.grad(SPMV, "A", dy, A=a, x=x)
        np.testing.assert_array_equal(ga.toarray(), (a.toarray() != 0) * np.outer(dy, x))
        np.testing.assert_array_equal(lacuna.grad("s = x(i)*x(i)", "x", x=x), 2 * x)
        self.assertIn("dy(i)", lacuna.derive(SPMV, "x", A=a, x=x))

    def test_tensors_and_notebooks(self):
        a = random_matrix()
        t = lacuna.tensor(a, "DCSR")
        self.assertEqual((t.shape, t.nnz, t.format, t.dtype, t.fill_value), (a.shape, a.nnz, "DCSR", np.float64, 0))
        np.testing.assert_array_equal(lacuna.eval(SPMV, A=t, x=np.ones(40)), a @ np.ones(40))
        self.assertIn("DCSR", t._repr_html_())
        self.assertIn("DCSR", repr(t))
        self.assertEqual(abs(t.to_scipy() - a).nnz, 0)
        np.testing.assert_array_equal(np.asarray(t), a.toarray())
        cube = lacuna.eval("C(i,j,k) = A(i,j)*x(k)", A=a, x=np.ones(2))
        self.assertEqual(np.asarray(cube).shape, (60, 40, 2))


class Processes(unittest.TestCase):
    slow = dict(args={"A": np.ones((1500, 1500)), "B": np.ones((1500, 1500))}, program="C(i,j) = A(i,k)*B(k,j)")

    def test_interrupt(self):
        # A shell that runs the tests in the background has it ignored.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        main = threading.get_ident()
        threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        begin = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            lacuna.eval(self.slow["program"], self.slow["args"], engine="interp", threads=1)
        self.assertLess(time.monotonic() - begin, 10)
        self.assertEqual(lacuna.eval("s = x(i)", x=np.ones(3)), 3)  # it goes on

    def test_other_threads_run(self):
        done = threading.Event()
        count = 0

        def work():
            try:
                lacuna.eval(self.slow["program"], {k: v[:400, :400] for k, v in self.slow["args"].items()}, engine="interp", threads=1)
            finally:
                done.set()

        threading.Thread(target=work).start()
        while not done.wait(0.001):
            count += 1
        self.assertGreater(count, 10)

    def test_many_threads(self):
        a, x = random_matrix(300, 300), np.arange(300.0)
        want, wrong = a @ x, []

        def work():
            for _ in range(50):
                if not np.array_equal(lacuna.eval(SPMV, A=a, x=x), want):
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    @unittest.skipUnless(hasattr(os, "fork"), "no fork here")
    def test_fork_is_refused(self):
        lacuna.eval("s = x(i)", x=np.ones(3))
        pid = os.fork()
        if pid == 0:
            try:
                lacuna.eval("s = x(i)", x=np.ones(3))
            except lacuna.Error as e:
                os._exit(0 if "forked" in str(e) else 2)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
