package ops_test

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// quick runs operations on few numbers without compiling them: that would take longer.
var quick = ops.In(lacuna.NewSession(lacuna.WithEngine(runtime.Interp())))

// waits are minutes that three people waited, of four days; a day without waiting is not stored.
func waits() *tensor.Tensor {
	a, err := tensor.NewCSR([]int64{3, 4}, []int{0, 3, 4, 7}, []int{0, 1, 3, 2, 0, 1, 2}, []float64{4, 12, 8, 30, 5, math.NaN(), 9})
	if err != nil {
		panic(err)
	}
	return a
}

// Days without waiting count as 0 minutes, unless only what is stored is asked for. NaN makes a quantile NaN, unless it is left out.
func ExampleQuantile() {
	ctx, A := context.Background(), waits()
	show := func(q *tensor.Tensor, err error) {
		if err != nil {
			fmt.Println(err)
			return
		}
		x, err := tensor.Elements[float64](q)
		fmt.Println(q.Shape(), x, err)
	}
	show(ops.Quantile(ctx, A, 0.75, ops.Axes(1), quick))
	show(ops.NanQuantile(ctx, A, 0.75, ops.Axes(1), quick))
	show(ops.NanQuantile(ctx, A, 0.75, ops.Axes(1), ops.Stored(), quick))
	show(ops.Quantiles(ctx, A, []float64{0, 0.5, 1}, ops.Axes(1), quick))
	show(ops.NanQuantiles(ctx, A, []float64{0.25, 0.75}, quick)) // of all elements
	// Output:
	// [3] [9 7.5 NaN] <nil>
	// [3] [9 7.5 7] <nil>
	// [3] [10 30 8] <nil>
	// [3 3] [0 0 NaN 6 0 NaN 12 30 NaN] <nil>
	// [2] [0 8.5] <nil>
}

// The median of four numbers lies between two of them. Which number that is, packages do not agree on.
func ExampleWith() {
	x, _ := tensor.NewDense([]float64{1, 2, 4, 8})
	for _, m := range []ops.Method{ops.Linear, ops.Lower, ops.Higher, ops.Midpoint, ops.Weibull, ops.InvertedCDF} {
		q, err := ops.Quantile(context.Background(), x, 0.4, ops.With(m), quick)
		fmt.Printf("%s %.3g %v\n", m, q.At().Float64(), err)
	}
	// Output:
	// linear 2.4 <nil>
	// lower 2 <nil>
	// higher 4 <nil>
	// midpoint 3 <nil>
	// weibull 2 <nil>
	// inverted_cdf 2 <nil>
}

// What is wrong with the arguments can be asked for, whatever the function.
func ExampleError() {
	ctx, A := context.Background(), waits()
	_, err := ops.Sum(ctx, A, ops.Axes(2))
	var of *ops.Error
	fmt.Println(errors.As(err, &of), of.Op)
	for _, e := range []struct {
		want error
		call func() (*tensor.Tensor, error)
	}{
		{ops.ErrAxis, func() (*tensor.Tensor, error) { return ops.Sum(ctx, A, ops.Axes(2)) }},
		{ops.ErrAxisTwice, func() (*tensor.Tensor, error) { return ops.Mean(ctx, A, ops.Axes(1, -1)) }},
		{ops.ErrNoAxis, func() (*tensor.Tensor, error) { return ops.Max(ctx, A, ops.Axes()) }},
		{ops.ErrEmptyReduction, func() (*tensor.Tensor, error) { return ops.Max(ctx, tensor.Vector([]float64{})) }},
		{ops.ErrOrder, func() (*tensor.Tensor, error) { return ops.Quantile(ctx, A, 1.5) }},
		{ops.ErrNoOrder, func() (*tensor.Tensor, error) { return ops.Quantiles(ctx, A, nil) }},
		{ops.ErrMethod, func() (*tensor.Tensor, error) { return ops.Quantile(ctx, A, 0.5, ops.With("best")) }},
		{ops.ErrNotDifferentiable, func() (*tensor.Tensor, error) {
			return ops.AnyGrad(ctx, A, tensor.Vector([]float64{1, 1, 1}), ops.Axes(1))
		}},
	} {
		_, err := e.call()
		fmt.Println(errors.Is(err, e.want), err)
	}
	// Output:
	// true Sum
	// true ops.Sum: there is no such axis: axis 2 of a tensor of rank 2
	// true ops.Mean: an axis is given twice: -1 is axis 1
	// true ops.Max: the list of axes is empty: leave Axes out to take all of them
	// true ops.Max: a reduction over nothing has no value: the axes of shape [0] have no elements
	// true ops.Quantile: the order of a quantile lies between 0 and 1: it is 1.5
	// true ops.Quantiles: there is no order
	// true ops.Quantile: there is no such method: "best" (methods are linear, lower, higher, midpoint, nearest, hazen, weibull, median_unbiased, normal_unbiased, interpolated_inverted_cdf, inverted_cdf, averaged_inverted_cdf, closest_observation)
	// true ops.AnyGrad: not differentiable: its values do not change gradually with its elements: StraightThrough spreads the adjoint over the elements instead
}

// A reduction of a sparse matrix that leaves a vector gives a dense one, so that element i is that of row i. The levels of the
// matrix, or another type or session, are there for who asks.
func ExampleKeepLevels() {
	ctx := context.Background()
	A, _ := tensor.FromCoords([]int64{4, 3}, tensor.DCSR, [][]int{{1, 1, 3}, {0, 2, 1}}, tensor.ArrayOf([]int8{100, 100, 7}))
	one := lacuna.NewSession(lacuna.WithThreads(1), lacuna.WithEngine(runtime.Interp()))
	for _, opts := range [][]ops.Option{nil, {ops.KeepLevels()}, {ops.As(tensor.Float32)}, {ops.In(one), ops.KeepDims()}} {
		s, err := ops.Sum(ctx, A, append(opts, ops.Axes(1))...)
		fmt.Println(s, err)
	}
	// Output:
	// 4 i64 D, 4 stored, fill 0 <nil>
	// 4 i64 S, 2 stored, fill 0 <nil>
	// 4 f32 D, 4 stored, fill 0 <nil>
	// 4x1 i64 DCSR, 2 stored, fill 0 <nil>
}

// The elements where something holds, and one or the other.
func ExampleWhere() {
	ctx, A := context.Background(), small()
	zero, _ := tensor.NewDense([]float64{0}, 1, 1)
	positive, err := lacuna.Eval(ctx, "P(i,j) = A(i,j) > 0", lacuna.Args{"A": A})
	if err != nil {
		fmt.Println(err)
		return
	}
	clipped, err := ops.Where(ctx, positive, A, zero)
	x, _ := tensor.Elements[float64](clipped)
	fmt.Println(x, err)
	chosen, err := ops.MaskedSelect(ctx, A, positive)
	x, _ = tensor.Elements[float64](chosen)
	fmt.Println(x, err)
	middle, err := ops.Slice(ctx, A, []ops.Range{ops.Whole(), ops.Between(1, 3)})
	x, _ = tensor.Elements[float64](middle)
	fmt.Println(x, err)
	// Output:
	// [1 0 4 0 0 0 0 2 0] <nil>
	// [1 4 2] <nil>
	// [0 4 0 0 2 0] <nil>
}

// The different elements of each row by itself, and of all.
func ExampleUniqueAlong() {
	ctx := context.Background()
	u, err := ops.UniqueAlong(ctx, small(), 1, quick)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v", tensor.Formatted(u.Values))
	fmt.Println("0 is", u.Counts.At(1, 0), "times in row 1")
	u, err = ops.Unique(ctx, small(), ops.Inverse(), quick)
	fmt.Println("the element at (0,2) is number", u.Inverse.At(0, 2), "of", tensor.StoredValues[float64](u.Values), err)
	least, places, err := ops.TopK(ctx, small(), 1, ops.Axes(1), ops.Smallest(), quick)
	x, _ := tensor.Elements[float64](least)
	at, _ := tensor.Elements[int](places)
	fmt.Println(x, at, err)
	// Output:
	// 3x3 f64 COO, 7 stored, fill 0
	// (0,0) 0
	// (0,1) 1
	// (0,2) 4
	// (1,0) 0
	// (2,0) -2
	// (2,1) 0
	// (2,2) 2
	// 0 is 3 times in row 1
	// the element at (0,2) is number 4 of [-2 0 1 2 4] <nil>
	// [0 0 -2] [1 0 0] <nil>
}

// Gradients of scans, of what is sorted, and of quantiles, for adjoints that are 1, or 1, 2, 3 where that tells more.
func ExampleSortGrad() {
	ctx, A := context.Background(), small()
	ones, _ := tensor.NewDense([]float64{1, 1, 1, 1, 1, 1, 1, 1, 1}, 3, 3)
	rows, _ := tensor.NewDense([]float64{1, 2, 3})
	column, _ := tensor.NewDense([]float64{1, 2, 3}, 3, 1)
	pair, _ := tensor.NewDense([]float64{1, 1, 1, 2, 2, 2}, 2, 3)
	of := func(f func(context.Context, *tensor.Tensor, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error), up *tensor.Tensor) func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error) {
		return func(ctx context.Context, a *tensor.Tensor, opts ...ops.Option) (*tensor.Tensor, error) {
			return f(ctx, a, up, opts...)
		}
	}
	family{
		{"cumsum", of(ops.CumSumGrad, ones)}, {"cumprod", of(ops.CumProdGrad, ones)}, {"cummax", of(ops.CumMaxGrad, ones)}, {"cummin", of(ops.CumMinGrad, ones)},
		{"logcumsumexp", of(ops.LogCumSumExpGrad, ones)}, {"sort", of(ops.SortGrad, ones)}, {"norm", of(ops.NormGrad, rows)},
	}.print(A, ops.Axes(1), quick)
	for _, g := range []func() (*tensor.Tensor, error){
		func() (*tensor.Tensor, error) { return ops.TopKGrad(ctx, A, 1, column, ops.Axes(1), quick) },
		func() (*tensor.Tensor, error) { return ops.QuantileGrad(ctx, A, 0.75, rows, ops.Axes(1), quick) },
		func() (*tensor.Tensor, error) {
			return ops.QuantilesGrad(ctx, A, []float64{0, 1}, pair, ops.Axes(1), quick)
		},
		func() (*tensor.Tensor, error) { return ops.NanQuantileGrad(ctx, A, 0.75, rows, ops.Axes(1), quick) },
		func() (*tensor.Tensor, error) {
			return ops.NanQuantilesGrad(ctx, A, []float64{0, 1}, pair, ops.Axes(1), quick)
		},
		func() (*tensor.Tensor, error) {
			return ops.AnyGrad(ctx, A, rows, ops.Axes(1), ops.StraightThrough(), quick)
		},
		func() (*tensor.Tensor, error) {
			return ops.AllGrad(ctx, A, rows, ops.Axes(1), ops.StraightThrough(), quick)
		},
	} {
		t, err := g()
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%.3g\n", tensor.StoredValues[float64](t))
	}
	// Output:
	// cumsum [3 0 1 0 0 0 3 2 0]
	// cumprod [1 0 0 0 0 0 3 -2 0]
	// cummax [2 0 1 0 0 0 1 2 0]
	// cummin [1 0 0 0 0 0 3 0 0]
	// logcumsumexp [1.78 0 0.936 0 0 0 1.03 1.85 0]
	// sort [1 0 1 0 0 0 1 1 0]
	// norm [0.243 0 0.97 0 0 0 -2.12 2.12 0]
	// [0 1 0 3]
	// [0.5 0.5 0 1.5]
	// [0 2 1 2]
	// [0.5 0.5 0 1.5]
	// [0 2 1 2]
	// [1 1 3 3]
	// [1 1 3 3]
}
