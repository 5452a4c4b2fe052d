package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// bench is a case: an expression and its operands, or a conversion of A.
type bench struct {
	name    string
	text    string
	to      tensor.Format // where there is no text
	options []lacuna.Option
	args    func(dir string, scale float64) (map[string]*tensor.Tensor, error)
	// bytes is what a run must move at least: each array once.
	bytes func(args map[string]*tensor.Tensor, out *tensor.Tensor) int64
}

var (
	f32, f64 = tensor.Float32, tensor.Float64
	d1, d2   = tensor.Dense(1), tensor.Dense(2)
)

// matrices lists the test matrices, by the names that cases use.
var matrices = []struct {
	name string
	make func(scale float64) *csr
}{
	{"unif", func(s float64) *csr { return uniform(int64(4e6*s), int64(4e6*s), 16, 1) }},
	{"rmat", func(s float64) *csr { return rmat(log2(float64(1<<20)*s), 16, 2) }},
	{"band", func(s float64) *csr { return banded(int64(4e6*s), 16) }},
	{"small", func(s float64) *csr { return uniform(int64(2e5*s), int64(2e5*s), 8, 3) }},
	{"percent", func(s float64) *csr { return percent(1024, 16384, s) }},
	{"percents", func(s float64) *csr { return percent(8192, 65536, s) }},
	{"tiny", func(float64) *csr { return uniform(1000, 1000, 8, 5) }},
}

// percent stores one element of a hundred, as many in each row.
func percent(rows, cols int64, scale float64) *csr {
	rows, cols = max(int64(float64(rows)*scale), 1), max(int64(float64(cols)*scale), 100)
	return uniform(rows, cols, int(cols/100), 6)
}

// csrF64 says of a result C that it is stored as A and B are.
var csrF64 = lacuna.Format("C", tensor.CSR, f64)

func added(name, text string, args func(dir string, scale float64) (map[string]*tensor.Tensor, error), options ...lacuna.Option) bench {
	return bench{name: name, text: text, options: options, args: args, bytes: eachOnce}
}

// ofMatrix lists the cases of a matrix but for products with a vector.
func ofMatrix(m string) (list []bench) {
	add := func(name, text string, args func(dir string, scale float64) (map[string]*tensor.Tensor, error), options ...lacuna.Option) {
		list = append(list, added(name, text, args, options...))
	}
	add("spmm32/"+m, "C(i,k) = A(i,j)*B(j,k)", with(m, tensor.CSR, f64, dense{"B", []int{cols, 32}, f64}))
	add("spmm32f/"+m, "C(i,k) = A(i,j)*B(j,k)", with(m, tensor.CSR, f32, dense{"B", []int{cols, 32}, f32}))
	add("spmm128f/"+m, "C(i,k) = A(i,j)*B(j,k)", with(m, tensor.CSR, f32, dense{"B", []int{cols, 128}, f32}))
	for _, k := range []int{32, 128} {
		add(fmt.Sprintf("sddmm%df/%s", k, m), "D(i,j) = A(i,j)*sum_k B(i,k)*C(j,k)",
			with(m, tensor.CSR, f32, dense{"B", []int{rows, k}, f32}, dense{"C", []int{cols, k}, f32}), lacuna.Format("D", tensor.CSR, f32))
	}
	add("add/"+m, "C(i,j) = A(i,j)+B(i,j)", twice(m, tensor.CSR), csrF64)
	add("addnext/"+m, "C(i,j) = A(i,j)+B(i,j)", besideNext(m), csrF64)
	add("sumrows/"+m, "y(i) = sum_j A(i,j)", with(m, tensor.CSR, f64), lacuna.Format("y", d1, f64))
	add("sumcols/"+m, "y(j) = sum_i A(i,j)", with(m, tensor.CSR, f64), lacuna.Format("y", d1, f64))
	add("sumall/"+m, "y = sum_{i,j} A(i,j)", with(m, tensor.CSR, f64))
	add("coo-sumrows/"+m, "y(i) = sum_j A(i,j)", with(m, tensor.COO, f64), lacuna.Format("y", d1, f64))
	add("coo-sumcols/"+m, "y(j) = sum_i A(i,j)", with(m, tensor.COO, f64), lacuna.Format("y", d1, f64))
	add("max/"+m, "y(i) = max_j A(i,j)", with(m, tensor.CSR, f64), lacuna.Format("y", d1, f64))
	return list
}

var cases = func() []bench {
	var list []bench
	add := func(name, text string, args func(dir string, scale float64) (map[string]*tensor.Tensor, error), options ...lacuna.Option) {
		list = append(list, added(name, text, args, options...))
	}
	convert := func(name, matrix string, from, to tensor.Format) {
		list = append(list, bench{name: name, to: to, args: with(matrix, from, f64), bytes: eachOnce})
	}
	shuffled, err := tensor.ParseFormat("COO(unsorted)", 2)
	if err != nil {
		panic(err)
	}
	for _, m := range []string{"unif", "rmat", "band"} {
		add("spmv/"+m, "y(i) = A(i,j)*x(j)", with(m, tensor.CSR, f64, dense{"x", []int{cols}, f64}))
	}
	list = append(append(list, ofMatrix("unif")...), ofMatrix("rmat")...)
	add("spgemm/small", "C(i,k) = A(i,j)*B(j,k)", twice("small", tensor.CSR), csrF64)
	add("cumsum/dense", "y(i,j) = cumsum_j x(i,j)", only(dense{"x", []int{4096, 65536}, f32}))
	add("logcumsumexp/dense", "y(i,j) = logcumsumexp_j x(i,j)", only(dense{"x", []int{4096, 65536}, f32}))
	add("quantile/dense", "y(i) = quantile_j(x(i,j), 0.5)", only(dense{"x", []int{1024, 16384}, f32}))
	add("sort/dense", "y(i,j) = sort_j x(i,j)", only(dense{"x", []int{1024, 16384}, f32}))
	add("softmax/dense", "t(i) = logsumexp_j x(i,j); y(i,j) = exp(x(i,j) - t(i))", only(dense{"x", []int{4096, 65536}, f32}))
	for _, m := range []string{"unif", "rmat"} {
		convert("coo-csr/"+m, m, tensor.COO, tensor.CSR)
		convert("shuffled-csr/"+m, m, shuffled, tensor.CSR)
		convert("csr-csc/"+m, m, tensor.CSR, tensor.CSC)
	}
	for _, m := range []string{"percent", "percents"} {
		add("quantile/"+m, "y(i) = quantile_j(A(i,j), 0.5)", with(m, tensor.CSR, f32))
	}
	add("scatter/dense", "y(p(i)) += x(i)", scatter(1<<20, 1<<22))
	add("scale/tiny", "y(i) = 2*x(i)", only(dense{"x", []int{1000}, f64}))
	add("spmv/tiny", "y(i) = A(i,j)*x(j)", with("tiny", tensor.CSR, f64, dense{"x", []int{cols}, f64}))
	return list
}()

// scatter is n values, the places in y, of m elements, that they are added to, and y.
func scatter(m, n int) func(string, float64) (map[string]*tensor.Tensor, error) {
	return func(_ string, scale float64) (map[string]*tensor.Tensor, error) {
		args, err := only(dense{"y", []int{m}, f64}, dense{"x", []int{n}, f64})("", scale)
		if err != nil {
			return nil, err
		}
		rng := rand.New(rand.NewPCG(9, 9))
		places := make([]int64, args["x"].Dims()[0])
		for i := range places {
			places[i] = rng.Int64N(args["y"].Dims()[0])
		}
		args["p"], err = tensor.FromDense([]int64{int64(len(places))}, d1, tensor.ArrayOf(places))
		return args, err
	}
}

// Extents of dense operands that are those of the matrix.
const (
	rows = -1
	cols = -2
)

// dense is a dense operand of random values from 0 to 1.
type dense struct {
	name  string
	shape []int
	dt    tensor.DType
}

// make makes the operand that goes with a matrix, or one of its own extents if m is nil.
func (d dense) make(m *csr, scale float64) (*tensor.Tensor, error) {
	shape, total := make([]int64, len(d.shape)), int64(1)
	for i, x := range d.shape {
		shape[i] = int64(x)
		switch {
		case x == rows:
			shape[i] = m.rows
		case x == cols:
			shape[i] = m.cols
		case m == nil:
			shape[i] = max(int64(float64(x)*scale), 1)
		}
		total *= shape[i]
	}
	format := d1
	if len(shape) == 2 {
		format = d2
	}
	rng := rand.New(rand.NewPCG(7, 7))
	if d.dt == f32 {
		values := make([]float32, total)
		for i := range values {
			values[i] = rng.Float32()
		}
		return tensor.FromDense(shape, format, tensor.ArrayOf(values))
	}
	values := make([]float64, total)
	for i := range values {
		values[i] = rng.Float64()
	}
	return tensor.FromDense(shape, format, tensor.ArrayOf(values))
}

// with is a matrix A and dense operands.
func with(name string, format tensor.Format, dt tensor.DType, list ...dense) func(string, float64) (map[string]*tensor.Tensor, error) {
	return func(dir string, scale float64) (map[string]*tensor.Tensor, error) {
		m, err := load(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		A, err := m.tensor(format, dt)
		if err != nil {
			return nil, err
		}
		args := map[string]*tensor.Tensor{"A": A}
		for _, d := range list {
			if args[d.name], err = d.make(m, scale); err != nil {
				return nil, err
			}
		}
		return args, nil
	}
}

// twice is a matrix as A and B.
func twice(name string, format tensor.Format) func(string, float64) (map[string]*tensor.Tensor, error) {
	one := with(name, format, f64)
	return func(dir string, scale float64) (map[string]*tensor.Tensor, error) {
		args, err := one(dir, scale)
		if err == nil {
			args["B"] = args["A"]
		}
		return args, err
	}
}

// besideNext is a matrix as A, and as B the same with its rows moved up by one, the first
// one to the end: other patterns in most rows.
func besideNext(name string) func(string, float64) (map[string]*tensor.Tensor, error) {
	one := with(name, tensor.CSR, f64)
	return func(dir string, scale float64) (map[string]*tensor.Tensor, error) {
		args, err := one(dir, scale)
		if err != nil {
			return nil, err
		}
		m, err := load(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		args["B"], err = m.rotated().tensor(tensor.CSR, f64)
		return args, err
	}
}

// only is dense operands alone.
func only(list ...dense) func(string, float64) (map[string]*tensor.Tensor, error) {
	return func(dir string, scale float64) (map[string]*tensor.Tensor, error) {
		args := map[string]*tensor.Tensor{}
		for _, d := range list {
			t, err := d.make(nil, scale)
			if err != nil {
				return nil, err
			}
			args[d.name] = t
		}
		return args, nil
	}
}

// eachOnce is the bytes of all operands and of the result.
func eachOnce(args map[string]*tensor.Tensor, out *tensor.Tensor) int64 {
	total := size(out)
	for _, t := range args {
		total += size(t)
	}
	return total
}

func size(t *tensor.Tensor) int64 {
	total := t.Values().Bytes()
	for _, l := range t.Levels() {
		total += l.Pos.Bytes() + l.Crd.Bytes()
	}
	return total
}
