package main

import (
	"math/rand/v2"
	"path/filepath"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// bench is a case: an expression and its operands.
type bench struct {
	name    string
	text    string
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
	{"unif", func(s float64) *csr { return uniform(int64(4e6*s), 16, 1) }},
	{"rmat", func(s float64) *csr { return rmat(log2(float64(1<<20)*s), 16, 2) }},
	{"band", func(s float64) *csr { return banded(int64(4e6*s), 16) }},
	{"small", func(s float64) *csr { return uniform(int64(2e5*s), 8, 3) }},
}

var cases = func() []bench {
	var list []bench
	add := func(name, text string, args func(dir string, scale float64) (map[string]*tensor.Tensor, error), options ...lacuna.Option) {
		list = append(list, bench{name, text, options, args, eachOnce})
	}
	csrF64 := lacuna.Format("C", tensor.CSR, f64)
	for _, m := range []string{"unif", "rmat", "band"} {
		add("spmv/"+m, "y(i) = A(i,j)*x(j)", with(m, tensor.CSR, f64, dense{"x", []int{cols}, f64}))
	}
	for _, m := range []string{"unif", "rmat"} {
		add("spmm32/"+m, "C(i,k) = A(i,j)*B(j,k)", with(m, tensor.CSR, f64, dense{"B", []int{cols, 32}, f64}))
		add("spmm32f/"+m, "C(i,k) = A(i,j)*B(j,k)", with(m, tensor.CSR, f32, dense{"B", []int{cols, 32}, f32}))
		add("spmm128f/"+m, "C(i,k) = A(i,j)*B(j,k)", with(m, tensor.CSR, f32, dense{"B", []int{cols, 128}, f32}))
		add("sddmm32f/"+m, "D(i,j) = A(i,j)*sum_k B(i,k)*C(j,k)",
			with(m, tensor.CSR, f32, dense{"B", []int{rows, 32}, f32}, dense{"C", []int{cols, 32}, f32}), lacuna.Format("D", tensor.CSR, f32))
		add("add/"+m, "C(i,j) = A(i,j)+B(i,j)", twice(m, tensor.CSR), csrF64)
		add("addnext/"+m, "C(i,j) = A(i,j)+B(i,j)", besideNext(m), csrF64)
		add("sumrows/"+m, "y(i) = sum_j A(i,j)", with(m, tensor.CSR, f64), lacuna.Format("y", d1, f64))
		add("sumcols/"+m, "y(j) = sum_i A(i,j)", with(m, tensor.CSR, f64), lacuna.Format("y", d1, f64))
		add("sumall/"+m, "y = sum_{i,j} A(i,j)", with(m, tensor.CSR, f64))
		add("coo-sumrows/"+m, "y(i) = sum_j A(i,j)", with(m, tensor.COO, f64), lacuna.Format("y", d1, f64))
		add("coo-sumcols/"+m, "y(j) = sum_i A(i,j)", with(m, tensor.COO, f64), lacuna.Format("y", d1, f64))
		add("max/"+m, "y(i) = max_j A(i,j)", with(m, tensor.CSR, f64), lacuna.Format("y", d1, f64))
	}
	add("spgemm/small", "C(i,k) = A(i,j)*B(j,k)", twice("small", tensor.CSR), csrF64)
	add("cumsum/dense", "y(i,j) = cumsum_j x(i,j)", only(dense{"x", []int{4096, 65536}, f32}))
	add("logcumsumexp/dense", "y(i,j) = logcumsumexp_j x(i,j)", only(dense{"x", []int{4096, 65536}, f32}))
	add("quantile/dense", "y(i) = quantile_j(x(i,j), 0.5)", only(dense{"x", []int{1024, 16384}, f32}))
	add("sort/dense", "y(i,j) = sort_j x(i,j)", only(dense{"x", []int{1024, 16384}, f32}))
	return list
}()

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

func (d dense) make(n int64, scale float64) (*tensor.Tensor, error) {
	shape, total := make([]int64, len(d.shape)), int64(1)
	for i, x := range d.shape {
		shape[i] = int64(x)
		switch {
		case x < 0:
			shape[i] = n
		case n == 0:
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
			if args[d.name], err = d.make(m.n, scale); err != nil {
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
			t, err := d.make(0, scale)
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
