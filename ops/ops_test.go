package ops_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func TestTranspose(t *testing.T) {
	testengine.Parallel(t)
	each(t, 0, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		perm := r.Perm(A.Rank())
		shape := make([]int64, A.Rank())
		for k, axis := range perm {
			shape[k] = A.Shape()[axis]
		}
		opts, f := options(r, in, A.Rank(), tensor.Format{})
		got, err := ops.Transpose(t.Context(), A, perm, opts...)
		check(t, A, got, err, shape, func(at []int64) []int64 {
			c := make([]int64, len(at))
			for k, axis := range perm {
				c[axis] = at[k]
			}
			return c
		})
		if len(opts) > 1 {
			wantFormat(t, got, f)
		} else if got.Values() != A.Values() {
			t.Fatal("values were copied")
		}
	})
}

func TestPermute(t *testing.T) {
	testengine.Parallel(t)
	each(t, 1, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		axis := r.IntN(A.Rank())
		p := make([]int64, A.Shape()[axis])
		for i, c := range r.Perm(len(p)) {
			p[i] = int64(c)
		}
		opts, f := options(r, in, A.Rank(), A.Format())
		got, err := ops.Permute(t.Context(), A, axis, p, opts...)
		check(t, A, got, err, A.Shape(), func(at []int64) []int64 {
			at[axis] = p[at[axis]]
			return at
		})
		wantFormat(t, got, f)
	})
}

func TestSlice(t *testing.T) {
	testengine.Parallel(t)
	each(t, 0, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		ranges := make([]ops.Range, r.IntN(A.Rank()+1))
		var shape []int64
		lo, step := make([]int64, A.Rank()), make([]int64, A.Rank())
		kept := make([]bool, A.Rank())
		for axis, n := range A.Shape() {
			hi := n
			step[axis], kept[axis] = 1, true
			if axis < len(ranges) {
				ranges[axis], lo[axis], hi, step[axis], kept[axis] = randomRange(r, n)
			}
			if kept[axis] {
				shape = append(shape, (hi-lo[axis]+step[axis]-1)/step[axis])
			}
		}
		opts, f := options(r, in, len(shape), tensor.Format{})
		got, err := ops.Slice(t.Context(), A, ranges, opts...)
		check(t, A, got, err, shape, func(at []int64) []int64 {
			c := slices.Clone(lo)
			for axis := range c {
				if kept[axis] {
					c[axis] += step[axis] * at[0]
					at = at[1:]
				}
			}
			return c
		})
		if len(opts) > 1 {
			wantFormat(t, got, f)
		}
	})
}

// randomRange is a range within n coordinates, and what it means.
func randomRange(r *rand.Rand, n int64) (_ ops.Range, lo, hi, step int64, kept bool) {
	lo = r.Int64N(n + 1)
	hi = lo + r.Int64N(n-lo+1)
	step = 1 + r.Int64N(3)
	fromEnd := func(c int64) int64 { // the same place, maybe counted from the end
		if c < n && r.IntN(2) == 0 {
			return c - n
		}
		return c
	}
	switch {
	case n > 0 && r.IntN(4) == 0:
		lo = r.Int64N(n)
		return ops.At(fromEnd(lo)), lo, lo + 1, 1, false
	case r.IntN(4) == 0:
		return ops.Whole(), 0, n, 1, true
	case r.IntN(3) == 0:
		return ops.From(fromEnd(lo)).Step(step), lo, n, step, true
	case r.IntN(2) == 0:
		return ops.Between(fromEnd(lo), fromEnd(hi)).Step(step), lo, hi, step, true
	}
	return ops.Between(fromEnd(lo), fromEnd(hi)), lo, hi, 1, true
}

func TestDiagonal(t *testing.T) {
	testengine.Parallel(t)
	each(t, 2, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		rank := A.Rank()
		k := r.Int64N(15) - 7
		rows, columns := A.Shape()[rank-2], A.Shape()[rank-1]
		n := int64(0)
		for i := range rows {
			if j := i + k; j >= 0 && j < columns {
				n++
			}
		}
		opts, f := options(r, in, rank-1, tensor.Format{})
		got, err := ops.Diagonal(t.Context(), A, k, opts...)
		check(t, A, got, err, append(A.Shape()[:rank-2], n), func(at []int64) []int64 {
			i := at[rank-2]
			return append(at[:rank-2], i+max(-k, 0), i+max(k, 0))
		})
		if len(opts) > 1 {
			wantFormat(t, got, f)
		} else if got.Format().IsDense() != A.Format().IsDense() && blockless(A) {
			t.Fatalf("%v of %v", got, A)
		}
	})
}

func TestTriangles(t *testing.T) {
	testengine.Parallel(t)
	each(t, 2, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		rank := A.Rank()
		k := r.Int64N(15) - 7
		opts, f := options(r, in, rank, A.Format())
		op, lower := ops.Triu, r.IntN(2) == 0
		if lower {
			op = ops.Tril
		}
		got, err := op(t.Context(), A, k, opts...)
		check(t, A, got, err, A.Shape(), func(at []int64) []int64 {
			if i, j := at[rank-2], at[rank-1]; lower && j > i+k || !lower && j < i+k {
				return nil
			}
			return at
		})
		wantFormat(t, got, f)
	})
}

// TestPackageTensor has the operations that package tensor does, where they are tested, with
// and without a format.
func TestPackageTensor(t *testing.T) {
	testengine.Parallel(t)
	each(t, 1, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		size := int64(1)
		for _, n := range A.Shape() {
			size *= n
		}
		opts, f := options(r, in, 1, tensor.Format{})
		flat, err := ops.Reshape(t.Context(), A, []int64{size}, opts...)
		check(t, A, flat, err, []int64{size}, func(at []int64) []int64 {
			c := make([]int64, A.Rank())
			for axis := A.Rank() - 1; axis >= 0; axis-- {
				c[axis], at[0] = at[0]%A.Shape()[axis], at[0]/A.Shape()[axis]
			}
			return c
		})
		if len(opts) > 1 {
			wantFormat(t, flat, f)
		}

		opts, f = options(r, in, A.Rank(), A.Format())
		double := A.Shape()
		double[0] *= 2
		twice, err := ops.Concat(t.Context(), 0, []*tensor.Tensor{A, A}, opts...)
		check(t, A, twice, err, double, func(at []int64) []int64 {
			at[0] %= A.Shape()[0]
			return at
		})
		wantFormat(t, twice, f)

		opts, f = options(r, in, A.Rank(), A.Format())
		pruned, err := ops.Prune(t.Context(), A, opts...)
		if err != nil {
			t.Fatal(err)
		}
		walk(A.Shape(), func(at []int64) {
			if !pruned.At(at...).Same(A.At(at...)) {
				t.Fatalf("%v at %v", pruned, at)
			}
		})
		wantFormat(t, pruned, f)
	})
}

// TestReshapeFormats has the formats that a result gets when none is asked for.
func TestReshapeFormats(t *testing.T) {
	for _, c := range []struct {
		from  string
		shape []int64
		to    []int64
		want  string
	}{
		{"CSR", []int64{4, 6}, []int64{6, 4}, "CSR"},
		{"CSR", []int64{4, 6}, []int64{24}, "S"},
		{"COO", []int64{4, 6}, []int64{2, 2, 6}, "S-S-S"},
		{"DCSR", []int64{4, 6}, []int64{2, 2, 6}, "CSF"},
		{"D", []int64{4, 6}, []int64{24}, "D"},
		{"C-S-D", []int64{4, 6, 2}, []int64{24, 2}, "S-D"},
		{"C-S-D", []int64{4, 6, 2}, []int64{2, 2, 6, 2}, "DC-DC-S-D"},
		{"C-S-D-D", []int64{4, 6, 2, 3}, []int64{24, 2, 3}, "S-D-D"},
		{"C-S-D[2,1,0]", []int64{2, 6, 4}, []int64{12, 4}, "DCSR"},
		{"CSR", []int64{1, 1}, nil, "D"},
	} {
		f, err := tensor.ParseFormat(c.from, len(c.shape))
		if err != nil {
			t.Fatal(err)
		}
		A, err := tensor.FromCoords(c.shape, f, make([][]int64, len(c.shape)), tensor.ArrayOf([]float64{}))
		if err != nil {
			t.Fatal(err)
		}
		want, err := tensor.ParseFormat(c.want, len(c.to))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ops.Reshape(t.Context(), A, c.to)
		if err != nil {
			t.Fatal(err)
		}
		wantFormat(t, got, want)
	}
}

// TestHuge has extents over which no loop can run.
func TestHuge(t *testing.T) {
	testengine.Parallel(t)
	const n = int64(1) << 40
	in := ops.In(lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp()))))
	for _, f := range []tensor.Format{tensor.DCSR, tensor.DCSC, tensor.COO} {
		rows, columns := []int64{3, 7, n - 2, n - 1}, []int64{3, 8, n - 1, 2}
		A, err := tensor.FromCoords([]int64{n, n}, f, [][]int64{rows, columns}, tensor.ArrayOf([]float64{1, 2, 3, 4}))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			what string
			do   func() (*tensor.Tensor, error)
			want int64
		}{
			{"main diagonal", func() (*tensor.Tensor, error) { return ops.Diagonal(t.Context(), A, 0, in) }, 1},
			{"diagonal above", func() (*tensor.Tensor, error) { return ops.Diagonal(t.Context(), A, 1, in) }, 2},
			{"diagonal below", func() (*tensor.Tensor, error) { return ops.Diagonal(t.Context(), A, 3-n, in) }, 1},
			{"lower triangle", func() (*tensor.Tensor, error) { return ops.Tril(t.Context(), A, 0, in) }, 2},
			{"slice", func() (*tensor.Tensor, error) {
				return ops.Slice(t.Context(), A, []ops.Range{ops.Between(5, n-1), ops.From(1).Step(7)}, in) // 2^40-2 is a multiple of 7
			}, 2},
			{"row", func() (*tensor.Tensor, error) { return ops.Slice(t.Context(), A, []ops.Range{ops.At(-1)}, in) }, 1},
			{"column", func() (*tensor.Tensor, error) {
				return ops.Slice(t.Context(), A, []ops.Range{ops.Whole(), ops.At(8)}, in)
			}, 1},
			{"transpose", func() (*tensor.Tensor, error) { return ops.Transpose(t.Context(), A, nil, ops.StoredAs(f), in) }, 4},
			{"concatenation", func() (*tensor.Tensor, error) { return ops.Concat(t.Context(), 1, []*tensor.Tensor{A, A}, in) }, 8},
		} {
			got, err := c.do()
			if err != nil {
				t.Errorf("%v %s: %v", f, c.what, err)
				continue
			}
			if got.NNZ() != c.want {
				t.Errorf("%v %s: %v, want %d stored", f, c.what, got, c.want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	A := matrix(tensor.CSR)
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	slice := func(r ...ops.Range) error { _, err := ops.Slice(ctx, A, r); return err }
	of := func(_ *tensor.Tensor, err error) error { return err }
	var none context.Context
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{slice(ops.At(3)), "ops.Slice: axis 0: there is no coordinate 3: the extent is 3"},
		{slice(ops.At(-4)), "there is no coordinate -4"},
		{slice(ops.Whole(), ops.Between(1, 5)), "axis 1: a range cannot end at 5: the extent is 4"},
		{slice(ops.From(4)), "a range cannot begin at 4: the extent is 3"},
		{slice(ops.Between(2, 1)), "the range ends at 1, before it begins at 2"},
		{slice(ops.Whole().Step(0)), "the step is 0: it must be 1 or more"},
		{slice(ops.At(1).Step(2)), "a single coordinate cannot have a step"},
		{slice(ops.Whole(), ops.Whole(), ops.Whole()), "3 ranges for the 2 axes"},
		{of(ops.Slice(ctx, A, nil, ops.StoredAs(tensor.CSF(3)))), "ops.Slice: "},
		{of(ops.Transpose(ctx, A, []int{1})), "axis order [1] has 1 axes"},
		{of(ops.Transpose(ctx, A, nil, ops.StoredAs(tensor.CSF(3)))), "has 3 levels"},
		{of(ops.Transpose(ctx, nil, nil)), "an operand is nil"},
		{of(ops.Transpose(none, A, nil)), "the context is nil"},
		{of(ops.Transpose(ctx, A, nil, nil)), "an option is nil"},
		{of(ops.Sum(ctx, A, ops.As(tensor.DType(99)))), "As(99) is no element type"},
		{of(ops.Transpose(ended, A, nil)), "context canceled"},
		{of(ops.Permute(ctx, A, 2, nil)), "axis 2 of a tensor of rank 2"},
		{of(ops.Permute(ctx, A, 0, []int64{0})), "p has 1 elements: it must have one for each of the 3 coordinates of axis 0"},
		{of(ops.Permute(ctx, A, 0, []int64{0, 3, 1})), "p[1] = 3 is not a coordinate of axis 0, whose extent is 3"},
		{of(ops.Permute(ctx, A, 0, []int64{0, 1, 0})), "p has the coordinate 0 twice, the second time at 2"},
		{of(ops.Diagonal(ctx, x, 0)), "the tensor has 1 axes: it must be a matrix"},
		{of(ops.Tril(ctx, x, 0)), "ops.Tril: the tensor has 1 axes"},
		{of(ops.Reshape(ctx, A, []int64{5})), "ops.Reshape: tensor: cannot reshape 3x4, of 12 elements, to 5, of 5 elements"},
		{of(ops.Reshape(ctx, A, make([]int64, 65))), "at most 64"},
		{of(ops.Concat(ctx, 0, nil)), "nothing to concatenate"},
		{of(ops.Concat(ctx, 0, []*tensor.Tensor{A, nil})), "an operand is nil"},
	} {
		var e *ops.Error
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || !errors.As(c.err, &e) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
	var le *lang.Error
	if err := of(ops.Slice(ctx, A, nil, ops.StoredAs(tensor.CSF(3)))); !errors.As(err, &le) {
		t.Errorf("%v does not wrap what the compiler says", err)
	}
	if err := of(ops.Tril(ended, A, 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not the context's error", err)
	}
}
