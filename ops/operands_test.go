package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file has the operands of the tests of this package.

// sessions are one for each engine there is.
func sessions(t *testing.T) map[string]*lacuna.Session {
	list := map[string]*lacuna.Session{}
	for _, e := range testengine.All(t) {
		list[e.Name()] = lacuna.NewSession(lacuna.WithEngine(e))
	}
	return list
}

// each runs a test with many random tensors on every engine: fewer where compiling takes
// most of the time.
func each(t *testing.T, minRank int, test func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option)) {
	for name, s := range sessions(t) {
		cases := map[string]int{"interp": 150, "cpu": 10}[name]
		if cases == 0 {
			cases = 50 // another engine
		}
		if testing.Short() {
			cases /= 10
		}
		t.Run(name, func(t *testing.T) {
			one := func(t *testing.T, seed uint64) {
				r := rand.New(rand.NewPCG(seed, 7))
				A := random(t, r, minRank+r.IntN(5-minRank))
				test(t, r, A, ops.In(s))
				if t.Failed() {
					t.Fatalf("seed %d, %v", seed, A)
				}
			}
			for seed := range uint64(cases) {
				if !testengine.Asked() {
					one(t, seed)
					continue
				}
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					testengine.Parallel(t)
					one(t, seed)
				})
			}
		})
	}
}

var types = []tensor.DType{
	tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64,
	tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128,
}

// value is one of few values, so that explicit entries often equal the fill.
func value(r *rand.Rand, dt tensor.DType) tensor.Scalar {
	if dt.IsComplex() {
		return tensor.Complex(dt, complex([]float64{0, 1, math.NaN(), math.Copysign(0, -1)}[r.IntN(4)], []float64{0, -2, math.Inf(1)}[r.IntN(3)]))
	}
	if dt.IsFloat() {
		return tensor.Float(dt, []float64{0, 0, math.Copysign(0, -1), 1, -2.5, 1e4, math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(9)])
	}
	return tensor.Uint(dt, []uint64{0, 0, 1, 2, math.MaxUint64, 1 << 63, 1<<63 - 1}[r.IntN(7)])
}

// format is a random format.
func format(r *rand.Rand, rank int) tensor.Format {
	levels := make([]tensor.LevelKind, rank)
	sparse := rank
	if r.IntN(2) == 0 {
		sparse = r.IntN(rank + 1)
	}
	for l := range levels {
		switch {
		case l >= sparse:
			levels[l] = tensor.D
		case l == sparse-1:
			levels[l] = tensor.S
		default:
			levels[l] = []tensor.LevelKind{tensor.S, tensor.C, tensor.DC}[r.IntN(3)]
		}
	}
	f, err := tensor.FormatOf(levels, r.Perm(rank))
	if err != nil {
		panic(err)
	}
	return f
}

// random is a small tensor of any format, type and fill, some of whose entries equal the fill.
func random(t *testing.T, r *rand.Rand, rank int) *tensor.Tensor {
	t.Helper()
	shape := make([]int64, rank)
	size := 1
	for axis := range shape {
		shape[axis] = int64(r.IntN(6))
		size *= int(shape[axis])
	}
	dt := types[r.IntN(len(types))]
	fill := tensor.Zero(dt)
	if r.IntN(2) == 0 {
		fill = value(r, dt)
	}
	n := 0
	if size > 0 {
		n = r.IntN(2 + size/2)
	}
	coords := make([][]int64, rank)
	for range n {
		at := make([]int64, rank)
		for axis := range at {
			at[axis] = r.Int64N(shape[axis])
		}
		if repeats(coords, at) {
			continue
		}
		for axis, c := range at {
			coords[axis] = append(coords[axis], c)
		}
	}
	if rank > 0 {
		n = len(coords[0])
	}
	values, err := tensor.MakeArray(dt, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		values.SetScalar(i, value(r, dt))
	}
	A, err := tensor.FromCoords(shape, format(r, rank), coords, values, tensor.WithFill(fill))
	if err != nil {
		t.Fatal(err)
	}
	return A
}

func repeats(coords [][]int64, at []int64) bool {
	if len(coords) == 0 {
		return false
	}
	for i := range coords[0] {
		same := true
		for axis, c := range at {
			same = same && coords[axis][i] == c
		}
		if same {
			return true
		}
	}
	return false
}

// walk calls visit with every coordinate of a shape.
func walk(shape []int64, visit func(at []int64)) {
	at := make([]int64, len(shape))
	var axis func(k int)
	axis = func(k int) {
		if k == len(shape) {
			visit(at)
			return
		}
		for at[k] = 0; at[k] < shape[k]; at[k]++ {
			axis(k + 1)
		}
	}
	axis(0)
}

// check compares a result with what it must be: at each coordinate the element of A that from
// names, or the fill if it names none. If neither tensor has dense blocks, the
// result stores what A stores there and nothing else.
func check(t *testing.T, A, got *tensor.Tensor, err error, shape []int64, from func(at []int64) []int64) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Shape(), shape) || got.DType() != A.DType() || !got.Fill().Same(A.Fill()) {
		t.Fatalf("the result of %v is %v, of shape %v", A, got, shape)
	}
	valid(t, got)
	stored := map[string]bool{}
	coords, _, err := A.ToCoords()
	if err != nil {
		t.Fatal(err)
	}
	for i := range A.Values().Len() {
		at := make([]int64, A.Rank())
		for axis, list := range coords {
			at[axis] = list[i]
		}
		stored[fmt.Sprint(at)] = true
	}
	expected := 0
	walk(shape, func(at []int64) {
		want := A.Fill()
		if c := from(slices.Clone(at)); c != nil {
			want = A.At(c...)
			if stored[fmt.Sprint(c)] {
				expected++
			}
		}
		if x := got.At(at...); !x.Same(want) {
			t.Fatalf("%v at %v is %v, want %v", got, at, x, want)
		}
	})
	if blockless(A) && blockless(got) && got.NNZ() != int64(expected) {
		t.Fatalf("%v of %v: want %d stored", got, A, expected)
	}
}

// blockless reports whether a tensor has no dense blocks.
func blockless(t *tensor.Tensor) bool {
	return t.Rank() > 0 && !slices.Contains(t.Format().Levels(), tensor.D)
}

// valid checks that the arrays of a result are ones.
func valid(t *testing.T, a *tensor.Tensor) {
	t.Helper()
	if _, err := tensor.New(a.Shape(), a.Format(), a.Levels(), a.Values(), tensor.WithFill(a.Fill())); err != nil {
		t.Fatalf("%v: %v", a, err)
	}
}

// options are those of a random case: with a format for the result or without.
func options(r *rand.Rand, in ops.Option, rank int, natural tensor.Format) ([]ops.Option, tensor.Format) {
	if r.IntN(2) == 0 {
		return []ops.Option{in}, natural
	}
	f := format(r, rank)
	return []ops.Option{in, ops.StoredAs(f)}, f
}

func wantFormat(t *testing.T, got *tensor.Tensor, f tensor.Format) {
	t.Helper()
	if got != nil && got.Format() != f {
		t.Fatalf("%v, want the format %v", got, f)
	}
}
