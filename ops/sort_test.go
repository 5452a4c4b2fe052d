package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// before is the order in which elements are sorted: NaN comes last.
func before(x, y tensor.Scalar) bool {
	dt := x.DType()
	switch {
	case dt.IsFloat():
		a, b := x.Float64(), y.Float64()
		return a < b || a == a && b != b
	case dt == tensor.Uint64:
		return x.Uint64() < y.Uint64()
	}
	return x.Int64() < y.Int64()
}

// lineAt lists the elements along an axis of a line of A; axis -1 is all of them in row-major order.
func lineAt(A *tensor.Tensor, at []int64, axis int) []tensor.Scalar {
	var list []tensor.Scalar
	if axis < 0 {
		walk(A.Shape(), func(at []int64) { list = append(list, A.At(at...)) })
		return list
	}
	c := slices.Clone(at)
	for c[axis] = 0; c[axis] < A.Shape()[axis]; c[axis]++ {
		list = append(list, A.At(c...))
	}
	return list
}

// inOrder are the places of a list in sorted order.
func inOrder(list []tensor.Scalar, descending bool) []int64 {
	places := make([]int64, len(list))
	for i := range places {
		places[i] = int64(i)
	}
	slices.SortStableFunc(places, func(i, j int64) int {
		x, y := list[i], list[j]
		if descending {
			x, y = y, x
		}
		switch {
		case before(x, y):
			return -1
		case before(y, x):
			return 1
		}
		return 0
	})
	return places
}

func sameValue(x, y tensor.Scalar) bool {
	return x.DType() == y.DType() && !before(x, y) && !before(y, x)
}

// ordered is a random tensor of a type that has an order, and an axis, -1 for none.
func ordered(t *testing.T, r *rand.Rand, A *tensor.Tensor) (*tensor.Tensor, int, []ops.Option) {
	for A.DType().IsComplex() {
		A = random(t, r, A.Rank())
	}
	axis := r.IntN(A.Rank()+1) - 1
	if axis < 0 {
		return A, axis, nil
	}
	return A, axis, []ops.Option{ops.Axes(axis - A.Rank()*r.IntN(2))}
}

func TestTopK(t *testing.T) {
	testengine.Parallel(t)
	each(t, 1, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		A, axis, opts := ordered(t, r, A)
		opts = append(opts, in)
		largest := r.IntN(2) == 0
		if !largest {
			opts = append(opts, ops.Smallest())
		}
		shape := A.Shape()
		if axis < 0 {
			shape = []int64{int64(len(lineAt(A, nil, -1)))}
		}
		along := max(axis, 0)
		k := r.Int64N(shape[along] + 1)
		shape[along] = k
		values, places, err := ops.TopK(t.Context(), A, k, opts...)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, values)
		valid(t, places)
		if !slices.Equal(values.Shape(), shape) || !slices.Equal(places.Shape(), shape) || values.DType() != A.DType() || places.DType() != tensor.Int64 {
			t.Fatalf("the first %d along %d: %v and %v", k, axis, values, places)
		}
		walk(shape, func(at []int64) {
			line := lineAt(A, at, axis)
			want := inOrder(line, largest)[at[along]]
			if !sameValue(values.At(at...), line[want]) || places.At(at...).Int64() != want {
				t.Fatalf("the first %d along %d, at %v: %v at %v, want %v at %d", k, axis, at, values.At(at...), places.At(at...), line[want], want)
			}
		})
	})
}

// TestTopKOfManyElements takes few elements of many: in orders in which only those at the beginning are among them, or each
// is for a while, with many equal ones. Signs of zeros count.
func TestTopKOfManyElements(t *testing.T) {
	testengine.Parallel(t)
	const rows, n = 2, 90
	r := rand.New(rand.NewPCG(3, 7))
	few := []float64{0, math.Copysign(0, -1), 1, 1, -2, math.NaN(), math.Inf(1), math.Inf(-1)}
	orders := map[string]func(j int64) float64{
		"ascending":  func(j int64) float64 { return float64(j / 2) },
		"descending": func(j int64) float64 { return float64(-j / 2) },
		"random":     func(int64) float64 { return few[r.IntN(len(few))] },
	}
	for engine, s := range sessions(t) {
		for _, f := range []tensor.Format{tensor.Dense(2), tensor.CSR} {
			for order, value := range orders {
				coords, values := make([][]int64, 2), []float64(nil)
				for p := range int64(rows * n) {
					if f.IsDense() || r.IntN(3) > 0 {
						coords[0], coords[1], values = append(coords[0], p/n), append(coords[1], p%n), append(values, value(p%n))
					}
				}
				A, err := tensor.FromCoords([]int64{rows, n}, f, coords, tensor.ArrayOf(values))
				if err != nil {
					t.Fatal(err)
				}
				for k, opts := range map[int64][]ops.Option{3: nil, 25: {ops.Smallest()}} {
					values, places, err := ops.TopK(t.Context(), A, k, append(opts, ops.Axes(1), ops.In(s))...)
					if err != nil {
						t.Fatal(err)
					}
					for i := range int64(rows) {
						line := lineAt(A, []int64{i, 0}, 1)
						for j, want := range inOrder(line, opts == nil)[:k] {
							v, place := values.At(i, int64(j)), places.At(i, int64(j)).Int64()
							if !v.Same(line[want]) || place != want {
								t.Fatalf("%s, %s, %s, element %d of the first %d of line %d: %v at %d, want %v at %d", engine, f, order, j, k, i, v, place, line[want], want)
							}
						}
					}
				}
			}
		}
	}
}

func TestSort(t *testing.T) {
	testengine.Parallel(t)
	each(t, 1, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		A, axis, opts := ordered(t, r, A)
		opts = append(opts, in)
		descending := r.IntN(2) == 0
		if descending {
			opts = append(opts, ops.Descending())
		}
		values, err := ops.Sort(t.Context(), A, opts...)
		if err != nil {
			t.Fatal(err)
		}
		places, err := ops.ArgSort(t.Context(), A, opts...)
		if err != nil {
			t.Fatal(err)
		}
		walk(values.Shape(), func(at []int64) {
			line := lineAt(A, at, axis)
			want := inOrder(line, descending)[at[max(axis, 0)]]
			if !sameValue(values.At(at...), line[want]) || places.At(at...).Int64() != want {
				t.Fatalf("along %d, at %v: %v at %v, want %v at %d", axis, at, values.At(at...), places.At(at...), line[want], want)
			}
		})
	})
}

// The gradients of the k first elements and of all of them in order, against a loop.
func TestSortGradients(t *testing.T) {
	testengine.Parallel(t)
	each(t, 1, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		for A.DType() != tensor.Float64 && A.DType() != tensor.Float32 {
			A = random(t, r, A.Rank())
		}
		A, axis, opts := ordered(t, r, A)
		opts = append(opts, in)
		shape := A.Shape()
		if axis < 0 {
			shape = []int64{int64(len(lineAt(A, nil, -1)))}
		}
		along := max(axis, 0)
		top := r.IntN(2) == 0
		k := shape[along]
		if top {
			k = r.Int64N(k + 1)
		}
		shape[along] = k
		size := int64(1)
		for _, n := range shape {
			size *= n
		}
		weights, err := tensor.MakeArray(A.DType(), int(size))
		if err != nil {
			t.Fatal(err)
		}
		for i := range int(size) {
			weights.SetScalar(i, tensor.Int(tensor.Int64, r.Int64N(9)).Convert(A.DType()))
		}
		up, err := tensor.FromDense(shape, tensor.Dense(len(shape)), weights)
		if err != nil {
			t.Fatal(err)
		}
		var got *tensor.Tensor
		if top {
			got, err = ops.TopKGrad(t.Context(), A, k, up, opts...)
		} else {
			got, err = ops.SortGrad(t.Context(), A, up, opts...)
		}
		if err != nil {
			t.Fatalf("along %d: %v", axis, err)
		}
		valid(t, got)
		if got.NNZ() != A.NNZ() || got.Format() != A.Format() || got.DType() != A.DType() {
			t.Fatalf("the gradient is %v", got)
		}
		pattern, err := tensor.Pattern(A)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{}
		walk(shape, func(at []int64) {
			place := inOrder(lineAt(A, at, axis), top)[at[along]]
			c := slices.Clone(at)
			c[along] = place
			if axis < 0 {
				n := int64(0)
				walk(A.Shape(), func(at []int64) {
					if n == place {
						c = slices.Clone(at)
					}
					n++
				})
			}
			want[fmt.Sprint(c)] += up.At(at...).Float64()
		})
		walk(A.Shape(), func(at []int64) {
			w := want[fmt.Sprint(at)]
			if !pattern.At(at...).Bool() {
				w = 0
			}
			if g := got.At(at...).Float64(); g != w {
				t.Fatalf("%v, the first %d of all (%v) along %d, at %v: %v, want %v", A, k, top, axis, at, g, w)
			}
		})
	})
}

// Lines far longer than memory take the time and the memory of their entries.
func TestTopKOfLongLines(t *testing.T) {
	testengine.Parallel(t)
	A, err := tensor.FromCoords([]int64{2, 1 << 50}, tensor.CSR, [][]int64{{0, 0, 1}, {7, 1 << 40, 3}}, tensor.ArrayOf([]float64{2, 5, -1}))
	if err != nil {
		t.Fatal(err)
	}
	up, err := tensor.FromDense([]int64{2, 2}, tensor.Dense(2), tensor.ArrayOf([]float64{10, 20, 30, 40}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions(t) {
		values, places, err := ops.TopK(t.Context(), A, 2, ops.Axes(1), ops.In(s))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(t, values), "[2 2] f64 D: 5 2 0 0"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := text(t, places), "[2 2] i64 D: 1099511627776 7 0 1"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		g, err := ops.TopKGrad(t.Context(), A, 2, up, ops.Axes(1), ops.In(s))
		if err != nil {
			t.Fatal(err)
		}
		if g.NNZ() != 3 || g.At(0, 1<<40).Float64() != 10 || g.At(0, 7).Float64() != 20 || g.At(1, 3).Float64() != 0 {
			t.Errorf("the gradient is %v", g)
		}
	}
}

func TestTopKArguments(t *testing.T) {
	A := twoRows(t, tensor.CSR)
	for name, f := range map[string]func() error{
		"more than there are": func() error { _, _, err := ops.TopK(t.Context(), A, 4, ops.Axes(1)); return err },
		"less than none":      func() error { _, _, err := ops.TopK(t.Context(), A, -1, ops.Axes(1)); return err },
		"two axes":            func() error { _, _, err := ops.TopK(t.Context(), A, 1, ops.Axes(0, 1)); return err },
		"descending":          func() error { _, _, err := ops.TopK(t.Context(), A, 1, ops.Descending()); return err },
		"stored":              func() error { _, err := ops.Sort(t.Context(), A, ops.Stored()); return err },
		"keep":                func() error { _, err := ops.ArgSort(t.Context(), A, ops.KeepDims()); return err },
		"whole numbers": func() error {
			_, err := ops.TopKGrad(t.Context(), A, 3, A, ops.Axes(1), ops.As(tensor.Int32))
			return err
		},
		"another upstream": func() error { _, err := ops.TopKGrad(t.Context(), A, 1, A, ops.Axes(1)); return err },
		"too many elements": func() error {
			long, err := tensor.FromCoords([]int64{1 << 40, 1 << 40}, tensor.COO, [][]int64{{}, {}}, tensor.ArrayOf([]float64{}))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = ops.TopK(t.Context(), long, 1)
			return err
		},
	} {
		if err := f(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// TestSortKeepsSigns: zeros of either sign stay in the order of their coordinates, gaps among them, as in a dense tensor.
func TestSortKeepsSigns(t *testing.T) {
	testengine.Parallel(t)
	minus := math.Copysign(0, -1)
	places := [][]int64{{0, 0, 0, 0, 0, 1, 1, 2, 2, 2}, {1, 2, 4, 5, 7, 0, 3, 0, 1, 2}}
	values := tensor.ArrayOf([]float64{minus, 3, minus, -1, 0, minus, math.NaN(), 5, minus, 6})
	for _, fill := range []float64{0, minus} {
		A, err := tensor.FromCoords([]int64{4, 8}, tensor.CSR, places, values, tensor.WithFill(tensor.Float(tensor.Float64, fill)))
		if err != nil {
			t.Fatal(err)
		}
		D, err := A.Convert(tensor.Dense(2))
		if err != nil {
			t.Fatal(err)
		}
		same := func(what string, X, Y *tensor.Tensor, err, errD error) {
			if err != nil || errD != nil {
				t.Fatal(err, errD)
			}
			walk(X.Shape(), func(at []int64) {
				if x, y := X.At(at...), Y.At(at...); !x.Same(y) {
					t.Errorf("%s, fill %v: %v is %v, and %v in a dense tensor", what, fill, at, x, y)
				}
			})
		}
		for what, opts := range map[string][]ops.Option{"sort": {ops.Axes(1)}, "sort of columns": {ops.Axes(0)}, "descending": {ops.Axes(1), ops.Descending()}, "f32": {ops.Axes(1), ops.As(tensor.Float32)}} {
			X, err := ops.Sort(t.Context(), A, opts...)
			Y, errD := ops.Sort(t.Context(), D, opts...)
			same(what, X, Y, err, errD)
		}
		for _, f := range []tensor.Format{tensor.CSR, tensor.DCSR} { // which has lines that store nothing
			B, err := A.Convert(f)
			if err != nil {
				t.Fatal(err)
			}
			X, _, err := ops.TopK(t.Context(), B, 4, ops.Axes(1))
			Y, _, errD := ops.TopK(t.Context(), D, 4, ops.Axes(1))
			same("topk of "+f.String(), X, Y, err, errD)
		}
	}
}
