package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// twoRows is 2x3: the first row 1, a gap, 4; the second row a gap, an explicit zero, -2.
func twoRows(t testing.TB, f tensor.Format) *tensor.Tensor {
	t.Helper()
	A, err := tensor.FromCoords([]int64{2, 3}, f, [][]int64{{0, 0, 1, 1}, {0, 2, 1, 2}}, tensor.ArrayOf([]float64{1, 4, 0, -2}))
	if err != nil {
		t.Fatal(err)
	}
	return A
}

// text writes a tensor: its shape, type, format and elements, with a dot for what is not stored.
func text(t testing.TB, A *tensor.Tensor) string {
	t.Helper()
	stored, err := tensor.Pattern(A)
	if err != nil {
		t.Fatal(err)
	}
	values, err := A.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	is, err := stored.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	s := fmt.Sprintf("%v %v %v:", A.Shape(), A.DType(), A.Format())
	for i := range values.Len() {
		if is.Scalar(i).Bool() {
			s += " " + values.Scalar(i).String()
		} else {
			s += " ."
		}
	}
	return s
}

type reducer = func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)

func TestReductions(t *testing.T) {
	testengine.Parallel(t)
	tests := []struct {
		name string
		f    reducer
		in   tensor.Format
		opts []ops.Option
		want string
	}{
		{"all axes", ops.Sum, tensor.CSR, nil, "[] f64 D: 3"},
		{"rows", ops.Sum, tensor.CSR, []ops.Option{ops.Axes(-1), ops.KeepLevels()}, "[2] f64 S: 5 -2"},
		{"rows of DCSR", ops.Sum, tensor.DCSR, []ops.Option{ops.Axes(1), ops.KeepLevels()}, "[2] f64 S: 5 -2"},
		{"columns", ops.Sum, tensor.COO, []ops.Option{ops.Axes(0), ops.KeepLevels()}, "[3] f64 S: 1 0 2"},
		{"rows, dense", ops.Sum, tensor.CSR, []ops.Option{ops.Axes(-1)}, "[2] f64 D: 5 -2"},
		{"rows of DCSR, dense", ops.Sum, tensor.DCSR, []ops.Option{ops.Axes(1)}, "[2] f64 D: 5 -2"},
		{"columns, dense", ops.Max, tensor.COO, []ops.Option{ops.Axes(0)}, "[3] f64 D: 1 0 4"},
		{"stored, dense", ops.All, tensor.COO, []ops.Option{ops.Axes(0), ops.Stored()}, "[3] bool D: true false true"},
		{"kept", ops.Sum, tensor.CSR, []ops.Option{ops.Axes(1), ops.KeepDims()}, "[2 1] f64 CSR: 5 -2"},
		{"all kept", ops.Sum, tensor.CSR, []ops.Option{ops.KeepDims()}, "[1 1] f64 CSR: 3"},
		{"converted first", ops.Sum, tensor.CSR, []ops.Option{ops.Axes(1), ops.As(tensor.Int32), ops.StoredAs(tensor.Dense(1))}, "[2] i32 D: 5 -2"},
		{"max counts gaps", ops.Max, tensor.CSC, []ops.Option{ops.Axes(1), ops.StoredAs(tensor.Dense(1))}, "[2] f64 D: 4 0"},
		{"max of what is stored", ops.Min, tensor.CSR, []ops.Option{ops.Axes(1), ops.Stored(), ops.StoredAs(tensor.Dense(1))}, "[2] f64 D: 1 -2"},
		{"any", ops.Any, tensor.COO, []ops.Option{ops.Axes(0), ops.KeepLevels()}, "[3] bool S: true false true"},
		{"all", ops.All, tensor.COO, []ops.Option{ops.Axes(0), ops.Stored(), ops.KeepLevels()}, "[3] bool S: true false true"},
		{"count", ops.Count, tensor.CSR, nil, "[] i64 D: 3"},
		{"mean", ops.Mean, tensor.CSR, nil, "[] f64 D: 0.5"},
		{"mean of what is stored", ops.Mean, tensor.CSR, []ops.Option{ops.Stored()}, "[] f64 D: 0.75"},
		{"norm", ops.Norm, tensor.CSR, []ops.Option{ops.Axes(0), ops.StoredAs(tensor.Dense(1))}, "[3] f64 D: 1 0 4.47213595499958"},
		{"argmax over all axes", ops.ArgMax, tensor.CSC, nil, "[] i64 D: 2"},
		{"prod", ops.Prod, tensor.CSR, []ops.Option{ops.Stored()}, "[] f64 D: -0"},
	}
	for name, s := range sessions(t) {
		for _, test := range tests {
			out, err := test.f(t.Context(), twoRows(t, test.in), append(test.opts, ops.In(s))...)
			if err != nil {
				t.Errorf("%s, %s: %v", name, test.name, err)
				continue
			}
			if got := text(t, out); got != test.want {
				t.Errorf("%s, %s: got %s, want %s", name, test.name, got, test.want)
			}
		}
	}
}

func TestReductionsOfNothing(t *testing.T) {
	testengine.Parallel(t)
	s := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	empty, err := tensor.FromCoords([]int64{2, 0}, tensor.CSR, [][]int64{nil, nil}, tensor.ArrayOf([]float64{}))
	if err != nil {
		t.Fatal(err)
	}
	dense := ops.StoredAs(tensor.Dense(1))
	for name, want := range map[string]struct {
		f    reducer
		want string
	}{
		"sum": {ops.Sum, "[2] f64 D: 0 0"}, "prod": {ops.Prod, "[2] f64 D: 1 1"}, "any": {ops.Any, "[2] bool D: false false"},
		"all": {ops.All, "[2] bool D: true true"}, "mean": {ops.Mean, "[2] f64 D: nan nan"}, "var": {ops.Var, "[2] f64 D: nan nan"},
		"logsumexp": {ops.LogSumExp, "[2] f64 D: -inf -inf"},
	} {
		out, err := want.f(t.Context(), empty, ops.Axes(1), dense, s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := text(t, out); got != want.want {
			t.Errorf("%s: got %s, want %s", name, got, want.want)
		}
	}
	if _, err := ops.Max(t.Context(), empty, ops.Axes(1), s); !errors.Is(err, ops.ErrEmptyReduction) {
		t.Errorf("the maximum of nothing: %v", err)
	}
	if out, err := ops.Max(t.Context(), empty, ops.Axes(0), s); err != nil || out.Shape()[0] != 0 {
		t.Errorf("no maxima: %v, %v", out, err)
	}
	// Of nothing that is stored there is the identity, however many gaps there are.
	gaps, err := tensor.FromCoords([]int64{2, 3}, tensor.CSR, [][]int64{nil, nil}, tensor.ArrayOf([]float64{}))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		f    reducer
		want string
	}{
		"min": {ops.Min, "[2] f64 D: inf inf"}, "max": {ops.Max, "[2] f64 D: -inf -inf"}, "argmin": {ops.ArgMin, "[2] i64 D: -1 -1"},
		"argmax": {ops.ArgMax, "[2] i64 D: -1 -1"}, "median": {ops.Median, "[2] f64 D: nan nan"},
	} {
		for _, a := range []*tensor.Tensor{empty, gaps} {
			out, err := test.f(t.Context(), a, ops.Axes(1), ops.Stored(), dense, s)
			if err != nil {
				t.Errorf("stored %s of %v: %v", name, a, err)
				continue
			}
			if got := text(t, out); got != test.want {
				t.Errorf("stored %s of %v: got %s, want %s", name, a, got, test.want)
			}
		}
	}
	for name, f := range map[string]reducer{"Min": ops.Min, "ArgMax": ops.ArgMax} {
		if out, err := f(t.Context(), empty, ops.Axes(0), ops.As(tensor.Complex128), s); err == nil {
			t.Errorf("%s of no complex numbers: %v", name, out)
		}
	}
	number := tensor.ScalarTensor(tensor.Int(tensor.Int32, -3))
	for f, want := range map[string]reducer{"[] i64 D: -3": ops.Sum, "[] i32 D: -3": ops.Max, "[] bool D: true": ops.Any, "[] f64 D: -3": ops.Mean, "[] i64 D: 0": ops.ArgMin} {
		out, err := want(t.Context(), number, s)
		if err != nil {
			t.Errorf("of a number: %v", err)
			continue
		}
		if got := text(t, out); got != f {
			t.Errorf("of a number: got %s, want %s", got, f)
		}
	}
}

func TestReductionArguments(t *testing.T) {
	A := twoRows(t, tensor.CSR)
	for _, test := range []struct {
		opts []ops.Option
		want error
	}{
		{[]ops.Option{ops.Axes(2)}, ops.ErrAxis},
		{[]ops.Option{ops.Axes(-3)}, ops.ErrAxis},
		{[]ops.Option{ops.Axes(0, -2)}, ops.ErrAxisTwice},
		{[]ops.Option{ops.Axes()}, ops.ErrNoAxis},
	} {
		_, err := ops.Sum(t.Context(), A, test.opts...)
		var e *ops.Error
		if !errors.Is(err, test.want) || !errors.As(err, &e) || e.Op != "Sum" {
			t.Errorf("got %v, want %v", err, test.want)
		}
	}
	if _, err := ops.AnyGrad(t.Context(), A, A); !errors.Is(err, ops.ErrNotDifferentiable) {
		t.Errorf("the gradient of any: %v", err)
	}
}

// Broadcasting and products against loops.
func TestArithmetic(t *testing.T) {
	testengine.Parallel(t)
	s := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	A := twoRows(t, tensor.CSR)
	row, err := tensor.FromDense([]int64{1, 3}, tensor.Dense(2), tensor.ArrayOf([]float64{10, 20, 30}))
	if err != nil {
		t.Fatal(err)
	}
	vector, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	dense := ops.StoredAs(tensor.Dense(2))
	one := ops.StoredAs(tensor.Dense(1))
	check := func(want string, out *tensor.Tensor, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", want, err)
		} else if got := text(t, out); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	of := func(out *tensor.Tensor, err error) func(string) {
		return func(want string) { t.Helper(); check(want, out, err) }
	}
	of(ops.Add(t.Context(), A, row, s, dense))("[2 3] f64 D: 11 20 34 10 20 28")
	of(ops.Mul(t.Context(), vector, A, s))("[2 3] f64 CSR: 1 . 12 . 0 -6")
	of(ops.Sub(t.Context(), A, tensor.ScalarTensor(tensor.Float(tensor.Float64, 1)), s, dense))("[2 3] f64 D: 0 -1 3 -1 -1 -3")
	of(ops.Where(t.Context(), A, row, A, s, dense))("[2 3] f64 D: 10 0 30 0 0 30")
	of(ops.MatMul(t.Context(), A, vector, s, one))("[2] f64 D: 13 -6")
	of(ops.MatMul(t.Context(), row, vector, s, one))("[1] f64 D: 140")
	transposed, err := ops.Transpose(t.Context(), A, nil)
	if err != nil {
		t.Fatal(err)
	}
	of(ops.MatMul(t.Context(), A, transposed, s, dense))("[2 2] f64 D: 17 -8 -8 4")
	of(ops.Einsum(t.Context(), "ij,kj -> ik", []*tensor.Tensor{A, A}, s, dense))("[2 2] f64 D: 17 -8 -8 4")
	of(ops.Einsum(t.Context(), "ij", []*tensor.Tensor{A}, s))("[2 3] f64 CSR: 1 . 4 . 0 -2")
	of(ops.Einsum(t.Context(), "ij->", []*tensor.Tensor{A}, s))("[] f64 D: 3")
	of(ops.Einsum(t.Context(), "...j,j", []*tensor.Tensor{A, vector}, s, one))("[2] f64 D: 13 -6")
	square, err := ops.MatMul(t.Context(), A, transposed, s, dense)
	if err != nil {
		t.Fatal(err)
	}
	of(ops.Einsum(t.Context(), "ii->i", []*tensor.Tensor{square}, s))("[2] f64 D: 17 4")
	of(ops.Einsum(t.Context(), "ii", []*tensor.Tensor{square}, s))("[] f64 D: 21")
	mask, err := tensor.FromCoords([]int64{2, 3}, tensor.CSC, [][]int64{{0, 1, 0}, {2, 2, 1}}, tensor.ArrayOf([]bool{true, true, false}))
	if err != nil {
		t.Fatal(err)
	}
	of(ops.MaskedSelect(t.Context(), A, mask, s))("[2] f64 D: 4 -2")

	for _, bad := range []func() (*tensor.Tensor, error){
		func() (*tensor.Tensor, error) { return ops.Add(t.Context(), A, square, s) },
		func() (*tensor.Tensor, error) { return ops.MatMul(t.Context(), A, A, s) },
		func() (*tensor.Tensor, error) {
			return ops.MatMul(t.Context(), A, tensor.ScalarTensor(tensor.Int(tensor.Int64, 1)), s)
		},
		func() (*tensor.Tensor, error) { return ops.MaskedSelect(t.Context(), A, square, s) },
		func() (*tensor.Tensor, error) { return ops.Einsum(t.Context(), "ij,jk", []*tensor.Tensor{A}, s) },
		func() (*tensor.Tensor, error) { return ops.Einsum(t.Context(), "ijk", []*tensor.Tensor{A}, s) },
		func() (*tensor.Tensor, error) { return ops.Einsum(t.Context(), "ij->ik", []*tensor.Tensor{A}, s) },
		func() (*tensor.Tensor, error) { return ops.Einsum(t.Context(), "ij->ii", []*tensor.Tensor{A}, s) },
		func() (*tensor.Tensor, error) { return ops.Einsum(t.Context(), "i1", []*tensor.Tensor{A}, s) },
		func() (*tensor.Tensor, error) { return ops.Einsum(t.Context(), "", nil, s) },
	} {
		var e *ops.Error
		if out, err := bad(); !errors.As(err, &e) {
			t.Errorf("got %v, %v", out, err)
		}
	}
}

// TestSoftmaxFarFromZero: the logarithm of a sum far from 0 has few digits behind the point, or none.
func TestSoftmaxFarFromZero(t *testing.T) {
	testengine.Parallel(t)
	s := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	for _, c := range []struct {
		dt  tensor.DType
		x   float64
		ulp float64
	}{{tensor.Float64, 1e17, 1e-15}, {tensor.Float64, 1e6, 1e-15}, {tensor.Float32, 1e7, 1e-6}, {tensor.Float16, 1000, 1e-3}, {tensor.BFloat16, 1000, 1e-2}} {
		values, err := tensor.ArrayOf([]float64{c.x, c.x, c.x, math.Inf(-1)}).Convert(c.dt)
		if err != nil {
			t.Fatal(err)
		}
		A, err := tensor.FromDense([]int64{4}, tensor.Dense(1), values)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ops.Softmax(t.Context(), A, ops.Axes(0), s)
		if err != nil {
			t.Fatal(err)
		}
		l, err := ops.LogSoftmax(t.Context(), A, ops.Axes(0), s)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{1.0 / 3, 1.0 / 3, 1.0 / 3, 0} {
			if got := p.At(int64(i)).Float64(); math.Abs(got-want) > c.ulp || p.DType() != c.dt {
				t.Errorf("%v %g: softmax %v, want %v", c.dt, c.x, got, want)
			}
			if got, want := l.At(int64(i)).Float64(), math.Log(want); math.Abs(got-want) > 3*c.ulp {
				t.Errorf("%v %g: log of it %v, want %v", c.dt, c.x, got, want)
			}
		}
	}
}

func TestSoftmax(t *testing.T) {
	testengine.Parallel(t)
	s := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	A := twoRows(t, tensor.CSR)
	all, err := ops.Softmax(t.Context(), A, ops.Axes(1), s, ops.StoredAs(tensor.Dense(2)))
	if err != nil {
		t.Fatal(err)
	}
	z := math.E + 1 + math.Exp(4)
	for j, want := range []float64{math.E / z, 1 / z, math.Exp(4) / z} {
		if got := all.At(0, int64(j)).Float64(); math.Abs(got-want) > 1e-15 {
			t.Errorf("with gaps: %v, want %v", got, want)
		}
	}
	stored, err := ops.LogSoftmax(t.Context(), A, ops.Axes(1), ops.Stored(), s)
	if err != nil {
		t.Fatal(err)
	}
	want := 1 - math.Log(math.E+math.Exp(4))
	if got := stored.At(0, 0).Float64(); stored.NNZ() != 4 || stored.Format() != tensor.CSR || math.Abs(got-want) > 1e-14 || !math.IsInf(stored.At(0, 1).Float64(), -1) {
		t.Errorf("without gaps: %v with %v, want %v", stored, got, want)
	}
}
