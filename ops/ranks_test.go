package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests reductions and scans of tensors of all ranks.

// folded are the reductions and quantiles with their gradients; scans keep the axis.
var folded = []struct {
	name  string
	f     reducer
	grad  func(context.Context, *tensor.Tensor, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error)
	scans bool
}{
	{"sum", ops.Sum, ops.SumGrad, false}, {"prod", ops.Prod, ops.ProdGrad, false},
	{"min", ops.Min, ops.MinGrad, false}, {"max", ops.Max, ops.MaxGrad, false},
	{"any", ops.Any, nil, false}, {"all", ops.All, nil, false}, {"count", ops.Count, nil, false},
	{"mean", ops.Mean, ops.MeanGrad, false}, {"var", ops.Var, ops.VarGrad, false}, {"norm", ops.Norm, ops.NormGrad, false},
	{"logsumexp", ops.LogSumExp, ops.LogSumExpGrad, false}, {"argmin", ops.ArgMin, nil, false}, {"argmax", ops.ArgMax, nil, false},
	{"median", ops.Median, ops.MedianGrad, false},
	{"quantile", func(ctx context.Context, A *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
		return ops.Quantile(ctx, A, 0.3, append(opts, ops.With(ops.Hazen))...)
	}, func(ctx context.Context, A, up *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
		return ops.QuantileGrad(ctx, A, 0.3, up, append(opts, ops.With(ops.Hazen))...)
	}, false},
	{"cumsum", ops.CumSum, ops.CumSumGrad, true}, {"cumprod", ops.CumProd, ops.CumProdGrad, true}, {"cummax", ops.CumMax, ops.CumMaxGrad, true},
	{"cummin", ops.CumMin, ops.CumMinGrad, true}, {"logcumsumexp", ops.LogCumSumExp, ops.LogCumSumExpGrad, true},
	{"sort", ops.Sort, ops.SortGrad, true},
}

// TestRanks compares reductions, scans and their gradients of tensors of rank 0 to 10, in random formats, types
// and fills, along random axes, with those of the same elements as a list of coordinates of rank 2, whose rows are the groups.
func TestRanks(t *testing.T) {
	testengine.Parallel(t)
	in := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	cases := 150
	if testing.Short() {
		cases = 15
	}
	for seed := range uint64(cases) {
		r := rand.New(rand.NewPCG(seed, 11))
		g := newGrouped(t, r)
		op := folded[r.IntN(len(folded))]
		options := []ops.Option{in}
		if g.axes != nil {
			options = append(options, ops.Axes(g.axes...))
			if op.scans && len(g.axes) > 1 {
				continue
			}
		}
		if dt := []tensor.DType{tensor.Invalid, tensor.Invalid, tensor.Float32, tensor.Float64, tensor.Int32}[r.IntN(5)]; dt.Valid() {
			options = append(options, ops.As(dt))
		}
		if op.name != "sort" && r.IntN(2) == 0 && slices.Equal(g.A.Format().Levels(), slices.Repeat([]tensor.LevelKind{tensor.S}, g.A.Rank())) {
			options = append(options, ops.Stored())
		}
		keep := !op.scans && r.IntN(2) == 0
		mine := options
		if keep {
			mine = append(slices.Clone(options), ops.KeepDims())
		}
		name := fmt.Sprintf("seed %d, %s of %v along %v, keep %v", seed, op.name, g.A, g.axes, keep)
		theirs := []ops.Option{in, ops.Axes(1)}
		theirs = append(theirs, options[1:]...)
		if g.axes != nil {
			theirs = append([]ops.Option{in}, options[2:]...)
			theirs = append(theirs, ops.Axes(1))
		}
		got, err := op.f(t.Context(), g.A, mine...)
		want, err2 := op.f(t.Context(), g.rows, theirs...)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%s: %v; as rows: %v", name, err, err2)
		}
		if err != nil {
			continue
		}
		if got.DType() != want.DType() {
			t.Errorf("%s: %v, as rows %v", name, got, want)
		}
		g.same(t, name, got, want, op.scans)
		if op.grad == nil || !g.A.DType().IsFloat() {
			continue
		}
		up, upRows := ones64(t, got), ones64(t, want)
		grad, err := op.grad(t.Context(), g.A, up, mine...)
		if e := (*lang.Error)(nil); errors.As(err, &e) && e.Code == lang.ErrGradientForm {
			continue // cummin and cummax over what several axes store
		}
		gradRows, err2 := op.grad(t.Context(), g.rows, upRows, theirs...)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("gradient, %s: %v; as rows: %v", name, err, err2)
		}
		if err == nil {
			if grad.Format() != g.A.Format() || grad.DType() != g.A.DType() {
				t.Errorf("gradient, %s: %v", name, grad)
			}
			g.sameGrad(t, "gradient, "+name, grad, gradRows)
		}
	}
}

// ones64 is a dense tensor of ones of the shape and type of another.
func ones64(t *testing.T, like *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	n := 1
	for _, d := range like.Shape() {
		n *= int(d)
	}
	values, err := tensor.MakeArray(like.DType(), n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		values.SetScalar(i, tensor.One(like.DType()))
	}
	out, err := tensor.FromDense(like.Shape(), tensor.Dense(like.Rank()), values)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// grouped is a tensor, the axes of its groups, and the groups as rows of a matrix.
type grouped struct {
	A, rows *tensor.Tensor
	axes    []int // nil for all
	reduced []bool
}

func newGrouped(t *testing.T, r *rand.Rand) grouped {
	t.Helper()
	g := grouped{}
	rank := r.IntN(11)
	shape := make([]int64, rank)
	size := int64(1)
	for axis := range shape {
		shape[axis] = 1
		if size < 60 {
			shape[axis] = 1 + r.Int64N(3)
		}
		size *= shape[axis]
	}
	g.reduced = make([]bool, rank)
	if rank == 0 || r.IntN(4) == 0 {
		for axis := range g.reduced {
			g.reduced[axis] = true
		}
	} else {
		for _, axis := range r.Perm(rank)[:1+r.IntN(rank)] {
			g.reduced[axis] = true
			if r.IntN(2) == 0 {
				axis -= rank
			}
			g.axes = append(g.axes, axis)
		}
	}
	dt := []tensor.DType{tensor.Float64, tensor.Float64, tensor.Float32, tensor.Float16, tensor.BFloat16, tensor.Int32, tensor.Uint8, tensor.Bool}[r.IntN(8)]
	number := func() tensor.Scalar {
		return tensor.Float(tensor.Float64, []float64{0, 1, 2, 0.5, 3, 1.5}[r.IntN(6)]).Convert(dt)
	}
	fill := tensor.Zero(dt)
	if r.IntN(3) == 0 {
		fill = number()
	}
	coords, rowCoords := make([][]int64, rank), make([][]int64, 2)
	var list []tensor.Scalar
	walk(shape, func(at []int64) {
		if rank > 0 && r.IntN(2) == 0 {
			return
		}
		for axis, c := range at {
			coords[axis] = append(coords[axis], c)
		}
		row, column := g.place(shape, at)
		rowCoords[0], rowCoords[1] = append(rowCoords[0], row), append(rowCoords[1], column)
		list = append(list, number())
	})
	values, err := tensor.MakeArray(dt, len(list))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range list {
		values.SetScalar(i, x)
	}
	f := format(r, rank)
	if r.IntN(2) == 0 {
		f = tensor.Coordinates(rank)
	}
	if rank == 0 {
		g.A = tensor.ScalarTensor(list[0])
	} else if g.A, err = tensor.FromCoords(shape, f, coords, values, tensor.WithFill(fill)); err != nil {
		t.Fatal(err)
	}
	rows, columns := int64(1), int64(1)
	for axis, n := range shape {
		if g.reduced[axis] {
			columns *= n
		} else {
			rows *= n
		}
	}
	if g.rows, err = tensor.FromCoords([]int64{rows, columns}, tensor.COO, rowCoords, values, tensor.WithFill(fill)); err != nil {
		t.Fatal(err)
	}
	return g
}

// place is the group of a coordinate, and where it stands there.
func (g grouped) place(shape, at []int64) (row, column int64) {
	for axis, c := range at {
		if g.reduced[axis] {
			column = column*shape[axis] + c
		} else {
			row = row*shape[axis] + c
		}
	}
	return row, column
}

// same compares a result with that of the rows, and where neither stores anything with the fill.
func (g grouped) same(t *testing.T, name string, got, want *tensor.Tensor, scans bool) {
	t.Helper()
	shape := g.A.Shape()
	walk(shape, func(at []int64) {
		row, column := g.place(shape, at)
		var mine []int64
		for axis, c := range at {
			switch {
			case scans || !g.reduced[axis]:
				mine = append(mine, c)
			case got.Rank() == len(at):
				mine = append(mine, 0)
			}
		}
		theirs := []int64{row}
		if scans {
			theirs = append(theirs, column)
			if g.axes == nil { // the result is one axis long
				mine = []int64{column}
			}
		}
		equal(t, name, got.At(mine...), want.At(theirs...), at)
	})
}

func (g grouped) sameGrad(t *testing.T, name string, got, want *tensor.Tensor) {
	t.Helper()
	shape := g.A.Shape()
	pattern, err := tensor.Pattern(g.A)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := tensor.Pattern(g.rows)
	if err != nil {
		t.Fatal(err)
	}
	walk(shape, func(at []int64) {
		row, column := g.place(shape, at)
		if !pattern.At(at...).Bool() || !stored.At(row, column).Bool() {
			return // blocks store more
		}
		equal(t, name, got.At(at...), want.At(row, column), at)
	})
}

func equal(t *testing.T, name string, x, y tensor.Scalar, at []int64) {
	t.Helper()
	a, b := x.Float64(), y.Float64()
	tolerance := map[tensor.DType]float64{tensor.Float16: 2e-3, tensor.BFloat16: 2e-2, tensor.Float32: 1e-5, tensor.Float64: 1e-12}[x.DType()]
	if a != b && !(a != a && b != b) && !(math.Abs(a-b) <= tolerance*math.Max(1, math.Abs(b))) {
		t.Fatalf("%s: %v at %v, as rows %v", name, x, at, y)
	}
}
