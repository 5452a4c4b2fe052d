package main

import "github.com/lacuna-sparse/lacuna/tensor"

// more are programs of which the optimiser's rules were not made: transposes, masks around sums, sparse vectors in stars, rectangular and power-law chains, dense products.
var more = []program{
	{"transposed chain", "y(i) = A(j,i)*B(k,j)*x(k)", map[string]source{"A": uniform, "B": uniform, "x": vector}, "A.T@(B.T@x)", ""},
	{"transposed A*X*W", "Y(i,k) = A(j,i)*X(j,f)*W(f,k)", map[string]source{"A": uniform, "X": dense(n, 64), "W": dense(64, 8)}, "A.T@(X@W)", ""},
	{"there and back", "y(i) = F(i,j)*R(j,k)*F(l,k)*x(l)", map[string]source{"F": sparse(n, 1<<13, 4, tensor.CSR), "R": graph, "x": vector}, "F@(R@(F.T@x))", ""},
	{"sparse chain, wide in the middle", "C(i,l) = A(i,j)*B(j,k)*D(k,l)", map[string]source{"A": sparse(2000, n, 8, tensor.CSR), "B": sparse(n, 2000, 4, tensor.CSR), "D": sparse(2000, 100, 4, tensor.CSR)}, "A@(B@D)", ""},
	{"sum under a mask", "s = sum_{i,j} where(stored(M(i,j)), sum_k A(i,k)*B(k,j), 0)", map[string]source{"M": mask(5000, 250000), "A": sparse(5000, 5000, 16, tensor.CSR), "B": sparse(5000, 5000, 16, tensor.CSR)}, "(A@B).multiply(M).sum()", ""},
	{"k-truss", "C(i,j) = where(stored(R(i,j)), sum_k R(i,k)*R(j,k), 0)", map[string]source{"R": graph}, "(R@R.T).multiply(R)", ""},
	{"star with sparse vectors", "s = R(i,j)*u(j)*R(i,k)*v(k)*R(i,l)*w(l)", map[string]source{"R": graph, "u": sparse1(1<<13, 400), "v": sparse1(1<<13, 800), "w": sparse1(1<<13, 1600)},
		"(lambda f: ((R@f(u))*(R@f(v))*(R@f(w))).sum())(lambda x: (lambda d: (np.put(d, x[0][0], x[1]), d)[1])(np.zeros(R.shape[1])))", ""},
	{"GNN layer of some nodes", "H(i,f) = m(i)*max(sum_j A(i,j)*sum_k X(j,k)*W(k,f), 0)", map[string]source{"A": uniform, "X": dense(n, 128), "W": dense(128, 8), "m": sparse1(n, 200)},
		"(lambda S: (lambda o, h: (np.put(o, (m[0][0][:,None]*8+np.arange(8)).ravel(), h.ravel()), o)[1])(np.zeros((A.shape[0], 8)), m[1][:,None]*np.maximum((S@X)@W, 0)))(A[m[0][0]])", ""},
	{"PageRank by links", "y(i) = 0.85*sum_j (A(j,i)*w(j)*x(j)) + 0.15*s", map[string]source{"A": uniform, "w": vector, "x": vector, "s": dense()}, "0.85*(A.T@(w*x)) + 0.15*s", ""},
	{"logistic gradient", "g(j) = sum_i A(i,j)*(sigmoid(sum_k A(i,k)*x(k)) - y(i))", map[string]source{"A": uniform, "x": vector, "y": vector}, "A.T@(1/(1+np.exp(-(A@x))) - y)", ""},
	{"rows' dot products", "s(i) = A(i,j)*B(i,j)", map[string]source{"A": uniform, "B": uniform}, "np.asarray(A.multiply(B).sum(1)).ravel()", ""},
	{"bilinear, a batch", "y(b) = X(b,i)*A(i,j)*Z(b,j)", map[string]source{"X": dense(16, n), "A": uniform, "Z": dense(16, n)}, "((A@Z.T)*X.T).sum(0)", ""},
	{"both sides", "Y(i,k) = A(i,j)*X(j,l)*B(k,l)", map[string]source{"A": sparse(2000, 2000, 8, tensor.CSR), "X": dense(2000, 400), "B": sparse(400, 400, 8, tensor.CSR)}, "A@(B@X.T).T", ""},
	{"square product", "Y(i,j) = P(i,k)*Q(k,j)", map[string]source{"P": dense(500, 500), "Q": dense(500, 500)}, "P@Q", ""},
	{"tall product", "Y(i,j) = P(i,k)*Q(k,j)", map[string]source{"P": dense(n, 64), "Q": dense(64, 64)}, "P@Q", ""},
	{"tall times thin", "Y(i,j) = P(i,k)*Q(k,j)", map[string]source{"P": dense(n, 128), "Q": dense(128, 3)}, "P@Q", ""},
	{"Gram", "G(k,l) = U(i,k)*U(i,l)", map[string]source{"U": dense(n, 32)}, "U.T@U", ""},
	{"outer product", "Y(i,j) = U(i,k)*V(j,k)", map[string]source{"U": dense(1000, 16), "V": dense(1000, 16)}, "U@V.T", ""},
	{"distances", "D(i,j) = sum_k (U(i,k)-V(j,k))^2", map[string]source{"U": dense(1000, 16), "V": dense(1000, 16)}, "(U*U).sum(1)[:,None] + (V*V).sum(1) - 2*(U@V.T)", ""},
}
