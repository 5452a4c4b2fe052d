package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"log"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// program is one to measure: its text, its operands, and the same in SciPy and NumPy in the best order.
type program struct {
	name, text string
	data       map[string]source
	scipy      string
	// sql, unless empty, is the same in SQL, for DuckDB: a count or a join.
	sql string
}

// source makes an operand.
type source func(r *rand.Rand) *tensor.Tensor

const n = 20000

var (
	uniform = sparse(n, n, 16, tensor.CSR)
	columns = sparse(n, n, 16, tensor.CSC)
	graph   = rmat(13, 8)
	vector  = dense(n)
)

var programs = []program{
	// The table of the issue.
	{"A*B*x", "y(i) = A(i,j)*B(j,k)*x(k)", map[string]source{"A": uniform, "B": uniform, "x": vector}, "A@(B@x)", ""},
	{"paths of 3", "s = R(i,j)*R(j,k)*R(k,l)", map[string]source{"R": graph}, "(R@(R@(R@np.ones(R.shape[1])))).sum()", "select sum(a.v*b.v*c.v) from R a join R b on b.i = a.j join R c on c.i = b.j"},
	{"low rank", "s = sum_{i,j} (A(i,j) - sum_k U(i,k)*V(j,k))^2", map[string]source{"A": uniform, "U": dense(n, 16), "V": dense(n, 16)},
		"A.data@A.data - 2*np.vdot(U, A@V) + np.vdot(U.T@U, V.T@V)", ""},
	{"A*X*W", "Y(i,k) = A(i,j)*X(j,f)*W(f,k)", map[string]source{"A": uniform, "X": dense(n, 128), "W": dense(128, 8)}, "A@(X@W)", ""},
	{"GNN layer", "H(i,f) = max(sum_j A(i,j)*sum_k X(j,k)*W(k,f), 0)", map[string]source{"A": uniform, "X": dense(n, 128), "W": dense(128, 8)}, "np.maximum(A@(X@W), 0)", ""},
	{"nested MTTKRP", "M(i,r) = sum_j B(j,r)*sum_k T(i,j,k)*C(k,r)", map[string]source{"T": sparse3(1000, 1000, 1000, 1000000), "B": dense(1000, 16), "C": dense(1000, 16)}, "(lambda c, v, s: sp.csr_matrix((v, (c[0], np.arange(len(v)))), shape=(s[0], len(v)))@(B[c[1]]*C[c[2]]))(*T)", ""},
	{"(A+B)*x", "y(i) = (A(i,j)+B(i,j))*x(j)", map[string]source{"A": uniform, "B": columns, "x": vector}, "A@x + B@x", ""},
	// Others.
	{"chain of 4", "y(i) = A(i,j)*B(j,k)*A(k,l)*x(l)", map[string]source{"A": uniform, "B": uniform, "x": vector}, "A@(B@(A@x))", ""},
	{"chain of 8", "y(i) = A(i,j)*B(j,k)*A(k,l)*B(l,m)*A(m,n)*B(n,o)*A(o,p)*x(p)", map[string]source{"A": uniform, "B": uniform, "x": vector}, "A@(B@(A@(B@(A@(B@(A@x))))))", ""},
	{"from the left", "y(l) = x(i)*A(i,j)*B(j,k)*A(k,l)", map[string]source{"A": uniform, "B": uniform, "x": vector}, "A.T@(B.T@(A.T@x))", ""},
	{"dense chain", "Y(i,l) = P(i,j)*Q(j,k)*S(k,l)", map[string]source{"P": dense(500, 20), "Q": dense(20, 500), "S": dense(500, 20)}, "P@(Q@S)", ""},
	{"rectangular chain", "Y(i,l) = A(i,j)*X(j,k)*W(k,l)", map[string]source{"A": sparse(n, 2000, 16, tensor.CSR), "X": sparse(2000, 500, 8, tensor.CSR), "W": dense(500, 8)}, "A@(X@W)", ""},
	{"power-law chain", "y(i) = R(i,j)*R(j,k)*x(k)", map[string]source{"R": graph, "x": dense(1 << 13)}, "R@(R@x)", ""},
	{"bilinear", "s = x(i)*A(i,j)*y(j)", map[string]source{"A": uniform, "x": vector, "y": vector}, "x@(A@y)", ""},
	{"bilinear of a product", "s = x(i)*A(i,j)*B(j,k)*y(k)", map[string]source{"A": uniform, "B": uniform, "x": vector, "y": vector}, "(A.T@x)@(B@y)", ""},
	{"quadratic of factors", "s = x(i)*U(i,k)*V(j,k)*x(j)", map[string]source{"x": vector, "U": dense(n, 32), "V": dense(n, 32)}, "(x@U)@(V.T@x)", ""},
	{"sum of a product", "s = A(i,j)*B(j,k)", map[string]source{"A": uniform, "B": uniform}, "(A.T@np.ones(A.shape[0]))@(B@np.ones(B.shape[1]))", "select sum(A.v*B.v) from A join B on B.i = A.j"},
	{"trace of a product", "s = A(i,j)*B(j,i)", map[string]source{"A": uniform, "B": columns}, "A.multiply(B.T).sum()", "select sum(A.v*B.v) from A join B on B.i = A.j and B.j = A.i"},
	{"low-rank trace", "s = A(i,j)*U(j,k)*V(i,k)", map[string]source{"A": uniform, "U": dense(n, 16), "V": dense(n, 16)}, "np.vdot(A@U, V)", ""},
	{"GNN layer, narrow in", "Y(i,k) = A(i,j)*X(j,f)*W(f,k)", map[string]source{"A": uniform, "X": dense(n, 8), "W": dense(8, 64)}, "(A@X)@W", ""},
	{"ALS gradient", "G(i,r) = sum_j (A(i,j) - sum_k U(i,k)*V(j,k))*V(j,r)", map[string]source{"A": uniform, "U": dense(n, 16), "V": dense(n, 16)}, "A@V - U@(V.T@V)", ""},
	{"Gram of a product", "G(k,l) = U(i,k)*A(i,j)*V(j,l)", map[string]source{"A": uniform, "U": dense(n, 8), "V": dense(n, 8)}, "U.T@(A@V)", ""},
	{"masked low rank", "s = sum_{i,j} where(stored(A(i,j)), sum_k U(i,k)*V(j,k), 0)", map[string]source{"A": uniform, "U": dense(n, 16), "V": dense(n, 16)}, "np.vdot(sp.csr_matrix((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)@V, U)", ""},
	{"star of 3", "s = R(i,j)*R(i,k)*R(i,l)", map[string]source{"R": graph}, "np.sum((R@np.ones(R.shape[1]))**3)", "select sum(d*d*d) from (select sum(v) d from R group by i)"},
	{"cycles of 3", "s = R(i,j)*R(j,k)*R(k,i)", map[string]source{"R": graph}, "(R@R).multiply(R.T).sum()", "select sum(a.v*b.v*c.v) from R a join R b on b.i = a.j join R c on c.i = b.j and c.j = a.i"},
	{"cycles of 4", "s = R(i,j)*R(j,k)*R(k,l)*R(l,i)", map[string]source{"R": rmat(10, 8)}, "(lambda S: S.multiply(S.T).sum())(R@R)", "select sum(a.v*b.v*c.v*d.v) from R a join R b on b.i = a.j join R c on c.i = b.j join R d on d.i = c.j and d.j = a.i"},
	{"snowflake", "s = F(a,b)*A(a,c)*x(c)*B(b,d)*y(d)", map[string]source{"F": uniform, "A": sparse(n, 1000, 2, tensor.CSR), "B": sparse(n, 1000, 2, tensor.CSR), "x": dense(1000), "y": dense(1000)}, "(A@x)@(F@(B@y))", "select sum(F.v*A.v*x.v*B.v*y.v) from F join A on A.i = F.i join x on x.i = A.j join B on B.i = F.j join y on y.i = B.j"},
	{"PageRank", "y(i) = 0.85*sum_j (A(i,j)*w(j)*x(j)) + 0.15*s*sum_k x(k)", map[string]source{"A": uniform, "w": vector, "x": vector, "s": dense()}, "0.85*(A@(w*x)) + 0.15*s*x.sum()", ""},
	{"sum of products", "y(i) = (A(i,j)+B(i,j))*C(j,k)*x(k)", map[string]source{"A": uniform, "B": uniform, "C": uniform, "x": vector}, "(lambda t: A@t + B@t)(C@x)", ""},
	// Sparse vectors. By columns the best by hand is to take those that are stored, by rows to make x dense.
	{"10 columns", "y(i) = A(i,j)*x(j)", map[string]source{"A": columns, "x": sparse1(n, 10)}, "A[:,x[0][0]]@x[1]", ""},
	{"5000 columns", "y(i) = A(i,j)*x(j)", map[string]source{"A": columns, "x": sparse1(n, 5000)}, "A[:,x[0][0]]@x[1]", ""},
	{"rows, x of 10", "y(i) = A(i,j)*x(j)", map[string]source{"A": uniform, "x": sparse1(n, 10)}, scattered, ""},
	{"rows, x of 5000", "y(i) = A(i,j)*x(j)", map[string]source{"A": uniform, "x": sparse1(n, 5000)}, scattered, ""},
	// Masks: where they have little, what they mask is computed there only; where they have much, everywhere.
	sampled("0.01 %", 400), sampled("0.1 %", 4000), sampled("1 %", 40000), sampled("10 %", 400000), sampled("50 %", 2000000),
	masked("0.01 %", 2500), masked("0.1 %", 25000), masked("1 %", 250000), masked("10 %", 2500000), masked("50 %", 12500000),
	{"Tucker", "G(p,q,r) = T(i,j,k)*U(i,p)*V(j,q)*W(k,r)", map[string]source{"T": sparse3(300, 300, 300, 200000), "U": dense(300, 8), "V": dense(300, 8), "W": dense(300, 8)},
		"(lambda c, v, s: np.einsum('ijr,ip,jq->pqr', (sp.csr_matrix((v, (c[0]*s[1]+c[1], c[2])), shape=(s[0]*s[1], s[2]))@W).reshape(s[0], s[1], -1), U, V, optimize=True))(*T)", ""},
}

// sampled is a product of dense factors where a mask of 2000 x 2000 has so many entries. By hand, each of them is computed by itself, or all are.
func sampled(share string, entries int) program {
	by := "np.einsum('ek,ek->e', U[i], V[j])"
	if entries > 100000 {
		by = "(U@V.T)[i, j]"
	}
	return program{"factors masked " + share, "C(i,j) = where(stored(M(i,j)), sum_k U(i,k)*V(j,k), 0)",
		map[string]source{"M": mask(2000, entries), "U": dense(2000, 16), "V": dense(2000, 16)}, fmt.Sprintf(entrywise, by), ""}
}

// masked is a product of sparse matrices where a mask of 5000 x 5000 has so many entries. By hand, rows are multiplied with columns where it has one,
// or all is computed.
func masked(share string, entries int) program {
	hand := "(A@B).multiply(M)"
	if entries < 100000 {
		hand = fmt.Sprintf(entrywise, "np.asarray(A[i].multiply(B.T.tocsr()[j]).sum(1)).ravel()")
	}
	return program{"product masked " + share, "C(i,k) = where(stored(M(i,k)), sum_j A(i,j)*B(j,k), 0)",
		map[string]source{"M": mask(5000, entries), "A": sparse(5000, 5000, 16, tensor.CSR), "B": sparse(5000, 5000, 16, tensor.CSR)}, hand, ""}
}

// entrywise is a matrix that stores what M does, with values that are computed from its rows i and columns j.
const entrywise = "(lambda i, j: sp.csr_matrix((%s, j, M.indptr), shape=M.shape))(rows(M), M.indices)"

// mask has ones at random places.
func mask(size int64, entries int) source {
	return func(r *rand.Rand) *tensor.Tensor {
		places := make([]bool, size*size)
		for left := entries; left > 0; {
			if at := r.Int64N(size * size); !places[at] {
				places[at] = true
				left--
			}
		}
		var i, j []int64
		for at, in := range places {
			if in {
				i, j = append(i, int64(at)/size), append(j, int64(at)%size)
			}
		}
		v := make([]float64, len(i))
		for k := range v {
			v[k] = 1
		}
		return must(tensor.FromCoords([]int64{size, size}, tensor.CSR, [][]int64{i, j}, tensor.ArrayOf(v)))
	}
}

// scattered is A*x for x of coordinates and values.
const scattered = "(lambda d: (np.put(d, x[0][0], x[1]), A@d)[1])(np.zeros(A.shape[1]))"

// made makes an operand, the same each time for the same name.
func made(name string, make source) *tensor.Tensor {
	h := fnv.New64()
	h.Write([]byte(name))
	return make(rand.New(rand.NewPCG(h.Sum64(), 1)))
}

func dense(shape ...int64) source {
	return func(r *rand.Rand) *tensor.Tensor {
		size := int64(1)
		for _, n := range shape {
			size *= n
		}
		values := make([]float64, size)
		for i := range values {
			values[i] = r.Float64()
		}
		if len(shape) == 0 {
			return tensor.ScalarTensor(tensor.Float(tensor.Float64, values[0]))
		}
		return must(tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(values)))
	}
}

// sparse has some random entries in each row.
func sparse(rows, cols int64, each int, f tensor.Format) source {
	return func(r *rand.Rand) *tensor.Tensor {
		var i, j []int64
		var v []float64
		for row := range rows {
			seen := map[int64]bool{}
			for len(seen) < each {
				if c := r.Int64N(cols); !seen[c] {
					seen[c] = true
					i, j, v = append(i, row), append(j, c), append(v, r.Float64())
				}
			}
		}
		return must(must(tensor.FromCoords([]int64{rows, cols}, tensor.CSR, [][]int64{i, j}, tensor.ArrayOf(v))).Convert(f))
	}
}

// sparse1 is a vector of so many random entries.
func sparse1(size int64, entries int) source {
	return func(r *rand.Rand) *tensor.Tensor {
		at := r.Perm(int(size))[:entries]
		slices.Sort(at)
		v := make([]float64, entries)
		for i := range v {
			v[i] = r.Float64()
		}
		return must(tensor.FromCoords([]int64{size}, must(tensor.FormatOf([]tensor.LevelKind{tensor.S}, []int{0})), [][]int{at}, tensor.ArrayOf(v)))
	}
}

// sparse3 has entries at random coordinates.
func sparse3(a, b, c int64, entries int) source {
	return func(r *rand.Rand) *tensor.Tensor {
		var at [3][]int64
		seen := map[[3]int64]bool{}
		var v []float64
		for len(seen) < entries {
			k := [3]int64{r.Int64N(a), r.Int64N(b), r.Int64N(c)}
			if !seen[k] {
				seen[k] = true
				at[0], at[1], at[2], v = append(at[0], k[0]), append(at[1], k[1]), append(at[2], k[2]), append(v, r.Float64())
			}
		}
		return must(tensor.FromCoords([]int64{a, b, c}, tensor.CSF(3), at[:], tensor.ArrayOf(v)))
	}
}

// rmat is a random graph with a power law (Chakrabarti, Zhan and Faloutsos, R-MAT, 2004).
func rmat(scale, edges int) source {
	return func(r *rand.Rand) *tensor.Tensor {
		nodes := int64(1) << scale
		seen := map[[2]int64]bool{}
		for range int(nodes) * edges {
			var i, j int64
			for range scale {
				x := r.Float64()
				i, j = 2*i, 2*j
				if x >= 0.76 {
					i++
				}
				if x >= 0.57 && x < 0.76 || x >= 0.95 {
					j++
				}
			}
			seen[[2]int64{i, j}] = true
		}
		return matrixAt(nodes, seen, func() float64 { return 1 })
	}
}

// matrixAt is a square matrix with entries at some places.
func matrixAt(n int64, places map[[2]int64]bool, value func() float64) *tensor.Tensor {
	list := slices.SortedFunc(maps.Keys(places), func(x, y [2]int64) int { return slices.Compare(x[:], y[:]) })
	var i, j []int64
	v := make([]float64, len(list))
	for k, at := range list {
		i, j, v[k] = append(i, at[0]), append(j, at[1]), value()
	}
	return must(tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{i, j}, tensor.ArrayOf(v)))
}

func must[T any](x T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return x
}

func writeRaw(b *bytes.Buffer, list any) {
	if err := binary.Write(b, binary.LittleEndian, list); err != nil {
		log.Fatal(err)
	}
}
