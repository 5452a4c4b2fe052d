package ops_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// identities are the fills that change nothing, of floats.
var identities = map[string]float64{"cumsum": 0, "cumprod": 1, "cummin": math.Inf(1), "cummax": math.Inf(-1), "logcumsumexp": math.Inf(-1)}

var scans = map[string]func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error){
	"cumsum": ops.CumSum, "cumprod": ops.CumProd, "cummin": ops.CumMin, "cummax": ops.CumMax, "logcumsumexp": ops.LogCumSumExp,
}

// TestSteps writes the steps of scans out and compares with the scans.
func TestSteps(t *testing.T) {
	testengine.Parallel(t)
	each(t, 1, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		for A.DType().IsComplex() {
			A = random(t, r, A.Rank())
		}
		names := []string{"cumsum", "cumprod", "cummin", "cummax", "logcumsumexp"}
		name := names[r.IntN(len(names))]
		dt := A.DType()
		fill := tensor.Float(tensor.Float64, identities[name]).Convert(dt)
		if !dt.IsFloat() {
			switch {
			case name == "logcumsumexp":
				name, fill = "cumsum", tensor.Zero(dt)
			case name == "cummin" || name == "cummax":
				name, fill = "cumprod", tensor.One(dt)
			}
		}
		coords, values, err := A.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		if A, err = tensor.FromCoords(A.Shape(), A.Format(), coords, values, tensor.WithFill(fill)); err != nil {
			t.Fatal(err)
		}
		opts := []ops.Option{in}
		axis := r.IntN(A.Rank()+1) - 1
		if axis >= 0 {
			opts = append(opts, ops.Axes(axis))
		}
		if r.IntN(2) == 0 {
			opts = append(opts, ops.Reverse())
		}
		want, err := scans[name](t.Context(), A, opts...)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := scans[name](t.Context(), A, append(slices.Clone(opts), ops.Steps())...)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, steps)
		if axis >= 0 && steps.NNZ() != A.NNZ() {
			t.Fatalf("%s along %d: %v has the steps %v", name, axis, A, steps)
		}
		got, err := ops.Repeat(t.Context(), steps, opts...)
		if err != nil {
			t.Fatal(err)
		}
		walk(want.Shape(), func(at []int64) {
			x, y := got.At(at...), want.At(at...)
			a, b := x.Float64(), y.Float64()
			if close := a == b || math.Abs(a-b) <= 1e-2*math.Abs(b) && A.DType().Size() == 2 || math.Abs(a-b) <= 1e-6*math.Abs(b); !close && !(a != a && b != b) || x.DType() != y.DType() {
				t.Fatalf("%s along %d of %v, at %v: %v, want %v", name, axis, A, at, x, y)
			}
		})
	})
}

// Lines far longer than memory have steps, too.
func TestStepsOfLongLines(t *testing.T) {
	testengine.Parallel(t)
	A, err := tensor.FromCoords([]int64{1 << 40, 1 << 50}, tensor.COO, [][]int64{{5, 5, 1 << 30}, {7, 1 << 40, 3}}, tensor.ArrayOf([]int32{2, 5, -1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions(t) {
		got, err := ops.CumSum(t.Context(), A, ops.Axes(1), ops.Steps(), ops.In(s))
		if err != nil {
			t.Fatal(err)
		}
		if got.NNZ() != 3 || got.DType() != tensor.Int64 || got.At(5, 1<<40).Int64() != 7 || got.At(1<<30, 3).Int64() != -1 {
			t.Errorf("the steps are %v", got)
		}
	}
	if _, err := ops.CumMax(t.Context(), A, ops.Axes(1), ops.Steps()); err == nil {
		t.Error("gaps of 0 change maxima")
	}
	if _, err := ops.CumSum(t.Context(), A, ops.Axes(1), ops.Steps(), ops.Exclusive()); err == nil {
		t.Error("exclusive scans change behind entries")
	}
	if _, err := ops.Repeat(t.Context(), A); err == nil {
		t.Error("there are two axes")
	}
	for _, f := range []func(context.Context, *tensor.Tensor, ...ops.Option) (*tensor.Tensor, error){ops.CumSum, ops.Sort} {
		if out, err := f(t.Context(), A, ops.Stored()); err == nil {
			t.Errorf("one axis of 2^90 elements: %v", out)
		}
	}
	for _, dt := range []tensor.DType{tensor.Bool, tensor.Int8, tensor.Uint16, tensor.Int64, tensor.Uint64, tensor.Float16} {
		for name, f := range map[string]tensor.Scalar{"cummin": greatest(dt), "cummax": least(dt)} {
			one, err := tensor.FromCoords([]int64{4}, tensor.Coordinates(1), [][]int64{{1}}, ones(t, dt), tensor.WithFill(f))
			if err != nil {
				t.Fatal(err)
			}
			steps, err := scans[name](t.Context(), one, ops.Steps())
			if err != nil || steps.NNZ() != 1 || !steps.Fill().Same(f) {
				t.Errorf("%s of %s: %v, %v", name, dt, steps, err)
			}
		}
	}
}

func ones(t *testing.T, dt tensor.DType) tensor.Array {
	t.Helper()
	list, err := tensor.MakeArray(dt, 1)
	if err != nil {
		t.Fatal(err)
	}
	list.SetScalar(0, tensor.One(dt))
	return list
}

func greatest(dt tensor.DType) tensor.Scalar {
	switch dt {
	case tensor.Bool:
		return tensor.Truth(true)
	case tensor.Int8:
		return tensor.Int(dt, math.MaxInt8)
	case tensor.Int64:
		return tensor.Int(dt, math.MaxInt64)
	case tensor.Uint16:
		return tensor.Uint(dt, math.MaxUint16)
	case tensor.Uint64:
		return tensor.Uint(dt, math.MaxUint64)
	}
	return tensor.Float(dt, math.Inf(1))
}

func least(dt tensor.DType) tensor.Scalar {
	switch dt {
	case tensor.Int8:
		return tensor.Int(dt, math.MinInt8)
	case tensor.Int64:
		return tensor.Int(dt, math.MinInt64)
	case tensor.Float16:
		return tensor.Float(dt, math.Inf(-1))
	}
	return tensor.Zero(dt)
}
