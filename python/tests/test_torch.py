"""lacuna.torch against PyTorch, where that is installed:

    LACUNA_LIBRARY=.../liblacuna.so PYTHONPATH=python python3 -m unittest discover -s python/tests -p test_torch.py -v
"""

import unittest

import numpy as np

try:
    import torch
except ImportError:
    torch = None

if torch is not None:
    from lacuna.torch import function


@unittest.skipIf(torch is None, "PyTorch is not installed")
class Torch(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.dense = torch.rand(6, 5, dtype=torch.float64) * (torch.rand(6, 5) < 0.5)
        self.x = torch.rand(5, dtype=torch.float64, requires_grad=True)

    def test_numerical_gradients(self):
        spmv = function("y(i) = A(i,j)*exp(x(j))")
        a = self.dense.clone().requires_grad_()
        self.assertTrue(torch.autograd.gradcheck(lambda a, x: spmv(A=a, x=x), (a, self.x)))

    def test_sparse_operands(self):
        spmv = function("y(i) = A(i,j)*x(j)")
        weights = torch.arange(6.0, dtype=torch.float64)
        for make in (torch.Tensor.to_sparse_coo, torch.Tensor.to_sparse_csr, torch.Tensor.to_sparse_csc):
            a = make(self.dense).detach().requires_grad_()
            x = self.x.detach().clone().requires_grad_()
            y = spmv(A=a, x=x)
            torch.testing.assert_close(y, self.dense @ x)
            (y * weights).sum().backward()
            torch.testing.assert_close(x.grad, self.dense.T @ weights)
            self.assertEqual(a.grad.layout, torch.sparse_coo if a.layout == torch.sparse_csc else a.layout)
            torch.testing.assert_close(a.grad.to_dense(), torch.outer(weights, x.detach()) * (self.dense != 0))

    def test_scalars_and_other_values(self):
        f = function("s = c*x(i)*x(i)", threads=1)
        s = f(c=3.0, x=self.x)
        s.backward()
        torch.testing.assert_close(self.x.grad, 6 * self.x.detach())

    def test_devices_are_told(self):
        if not torch.cuda.is_available():
            self.skipTest("no GPU")
        with self.assertRaisesRegex(TypeError, "cpu"):
            function("s = x(i)")(x=self.x.cuda())


if __name__ == "__main__":
    unittest.main()
