package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares conversions (runtime/convert) with those of package tensor.

// convertingSessions are sessions that convert with kernels whatever the size, on
// every engine there is: with usual chunks on one thread, with tiny ones on three,
// and by the paths that large tensors take.
func convertingSessions(t testing.TB) map[string]*Session {
	engines := map[string]runtime.Engine{"interp": runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines["cpu"] = cpu
	}
	sessions := map[string]*Session{}
	for name, e := range engines {
		compiled := runtime.NewCache(cachedPrograms)
		add := func(what string, threads int, grain int64, data func(convert.Data) convert.Data) {
			s := NewSession(WithEngine(e), WithThreads(threads), sharing(compiled))
			s.env.Grain, s.env.convert.Always, s.env.convert.Data = grain, true, data
			sessions[name+" "+what] = s
		}
		add("usual", 1, 0, nil)
		add("grain 1", 3, 1, nil)
		add("grain 3", 3, 3, nil)
		// As for large axes: radix sorts.
		add("radix", 3, 2, func(d convert.Data) convert.Data {
			d.Shape = slices.Clone(d.Shape)
			for axis := range d.Shape {
				d.Shape[axis] = d.Shape[axis] * 5000
			}
			return d
		})
		// As for many entries far apart: grouped first.
		add("grouped", 3, 4, func(d convert.Data) convert.Data {
			d.Entries, d.Spread = 1<<20, func(int) int64 { return 1 << 20 }
			return d
		})
	}
	return sessions
}

// randomFormat is a format of the given rank: sparse levels that end in S, then
// dense ones, in any order of axes.
func randomFormat(r *rand.Rand, rank int) tensor.Format {
	levels := make([]tensor.LevelKind, rank)
	sparse := r.IntN(rank + 1)
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

// randomScalars are values of every kind: few, so that they meet the fill, with
// zeros of both signs, infinities and NaNs.
func randomScalar(r *rand.Rand, dt tensor.DType) tensor.Scalar {
	x := tensor.Float(tensor.Float64, []float64{0, math.Copysign(0, -1), 1, 2, -3, math.Inf(1), math.NaN(), 0.5}[r.IntN(8)])
	if dt.IsComplex() {
		return tensor.Complex(dt, complex([]float64{0, 1, math.NaN()}[r.IntN(3)], []float64{0, math.Copysign(0, -1), 2}[r.IntN(3)]))
	}
	return x.Convert(dt)
}

func randomValues(t testing.TB, r *rand.Rand, dt tensor.DType, n int) tensor.Array {
	a, err := tensor.MakeArray(dt, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		a.SetScalar(i, randomScalar(r, dt))
	}
	if dt == tensor.Float32 && n > 0 {
		tensor.View[uint32](a)[r.IntN(n)] = 0x7fa00001 // a NaN with a payload
	}
	return a
}

// randomNumbers are values that may be summed: which NaN a sum of NaNs is, nobody promises.
func randomNumbers(t testing.TB, r *rand.Rand, dt tensor.DType, n int) tensor.Array {
	a, err := tensor.MakeArray(dt, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		a.SetScalar(i, tensor.Float(tensor.Float64, []float64{0, 1, -2, 0.1, 1e5, 300}[r.IntN(6)]).Convert(dt))
	}
	return a
}

var allDTypes = []tensor.DType{tensor.Bool, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8,
	tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64,
	tensor.Complex64, tensor.Complex128}

// randomTensor makes a tensor of random shape, format, type, fill and index types.
func randomTensor(t testing.TB, r *rand.Rand, rank int) *tensor.Tensor {
	shape := make([]int64, rank)
	for axis := range shape {
		shape[axis] = []int64{1, 2, 3, 4, 5, 7, 17}[r.IntN(7)]
		if r.IntN(40) == 0 {
			shape[axis] = 0
		}
	}
	if rank > 1 && r.IntN(3) == 0 { // so many coordinates that sorting by two axes takes digits
		for axis := range shape { // short ones, as the format may store all
			shape[axis] = min(shape[axis], 2)
		}
		axes := r.Perm(rank)
		shape[axes[0]], shape[axes[1]] = 300, 70
	}
	f := randomFormat(r, rank)
	if rank > 0 && r.IntN(4) == 0 { // an axis of more than 32 bits, where the format can have one
		axis := f.Order()[0]
		if l := f.Levels()[0]; l == tensor.S || l == tensor.DC {
			shape[axis] = 1<<33 + 5
		}
	}
	n := []int{0, 1, 5, 30, 100}[r.IntN(5)]
	coords := make([][]int64, rank)
	if slices.Contains(shape, 0) {
		n = 0
	}
	for axis, size := range shape {
		for range n {
			c := r.Int64N(max(size, 1))
			if size > 100 && r.IntN(2) == 0 {
				c = size - 1 - c%3
			}
			coords[axis] = append(coords[axis], c)
		}
	}
	dt := allDTypes[r.IntN(len(allDTypes))]
	opts := []tensor.Option{tensor.WithFill(randomScalar(r, dt))}
	index := func() tensor.DType {
		return []tensor.DType{tensor.Invalid, tensor.Invalid, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Int64}[r.IntN(7)]
	}
	a, err := tensor.FromCoords(shape, f, coords, randomValues(t, r, dt, n), append(opts, tensor.WithIndexTypes(index(), index()))...)
	if err != nil { // an index type that is too narrow
		if a, err = tensor.FromCoords(shape, f, coords, randomValues(t, r, dt, n), opts...); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// hugeDense reports whether a format has a dense level for an axis of more than
// 32 bits, for which no machine has memory.
func hugeDense(shape []int64, f tensor.Format) bool {
	for l, kind := range f.Levels() {
		if shape[f.Order()[l]] > 1<<32 && (kind == tensor.C || kind == tensor.D) {
			return true
		}
	}
	return false
}

// sameArrays compares two tensors to the bit.
func sameArrays(got, want *tensor.Tensor) error {
	if got.Format() != want.Format() || !got.Fill().Same(want.Fill()) || fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	same := func(what string, l int, x, y tensor.Array) error {
		if x.DType() != y.DType() || x.Len() != y.Len() || string(x.Raw()) != string(y.Raw()) {
			return fmt.Errorf("%s %d: got %v %d %v, want %v %d %v", what, l, x.DType(), x.Len(), x.Raw(), y.DType(), y.Len(), y.Raw())
		}
		return nil
	}
	for l := range want.Rank() {
		if err := same("pos", l, got.LevelAt(l).Pos, want.LevelAt(l).Pos); err != nil {
			return err
		}
		if err := same("crd", l, got.LevelAt(l).Crd, want.LevelAt(l).Crd); err != nil {
			return err
		}
	}
	return same("values", 0, got.Values(), want.Values())
}

// TestConvertRandom compares compiled conversions with tensor.Convert.
func TestConvertRandom(t *testing.T) {
	sessions := convertingSessions(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 120 {
		rank := []int{0, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 5, 6}[r.IntN(13)]
		a := randomTensor(t, r, rank)
		to := randomFormat(r, rank)
		for hugeDense(a.Shape(), to) {
			to = randomFormat(r, rank)
		}
		want, wantErr := a.Convert(to)
		for name, s := range sessions {
			if s.env.Engine.Name() == runtime.CPUName && (i+int(s.env.Grain))%24 != 0 {
				continue // compiling is slow
			}
			got, err := s.Convert(t.Context(), a, to)
			if wantErr != nil {
				if err == nil {
					t.Fatalf("%d: %v to %v: no error, want %v", i, a, to, wantErr)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%d, %s: %v to %v: %v", i, name, a, to, err)
			}
			if err := sameArrays(got, want); err != nil {
				t.Fatalf("%d, %s: %v to %v: %v", i, name, a, to, err)
			}
		}
	}
	checkKernelsRan(t, sessions)
}

// TestPruneRandom compares compiled pruning with tensor.Prune.
func TestPruneRandom(t *testing.T) {
	sessions := convertingSessions(t)
	r := rand.New(rand.NewPCG(13, 14))
	pruned := 0
	for i := range 80 {
		a := randomTensor(t, r, 1+i%4)
		want, err := a.Prune()
		if err != nil {
			t.Fatal(err)
		}
		if want.NNZ() < a.NNZ() {
			pruned++
		}
		for name, s := range sessions {
			if s.env.Engine.Name() == runtime.CPUName && (i+int(s.env.Grain))%24 != 0 {
				continue // compiling is slow
			}
			got, err := s.env.convert.Prune(t.Context(), a)
			if err == nil {
				err = sameArrays(got, want)
			}
			if err != nil {
				t.Fatalf("%d, %s: %v: %v", i, name, a, err)
			}
		}
	}
	if pruned < 10 {
		t.Errorf("entries went in %d tensors, which tells little", pruned)
	}
	checkKernelsRan(t, sessions)
}

// TestFromCoordsRandom compares building from coordinates with tensor.FromCoords:
// lists in and out of order, with and without repeats, of every integer type.
func TestFromCoordsRandom(t *testing.T) {
	sessions := convertingSessions(t)
	r := rand.New(rand.NewPCG(3, 4))
	rounds := 100
	if testing.Short() {
		rounds = 40
	}
	for i := range rounds {
		rank := []int{1, 1, 2, 2, 2, 3, 4}[r.IntN(7)]
		shape := make([]int64, rank)
		for axis := range shape {
			shape[axis] = []int64{1, 2, 5, 17, 100}[r.IntN(5)]
		}
		f := randomFormat(r, rank)
		if l := f.Levels()[0]; r.IntN(4) == 0 && (l == tensor.S || l == tensor.DC) {
			shape[f.Order()[0]] = 1<<40 + 3
		}
		coords, arrays := randomCoords(t, r, f, shape)
		n := arrays[0].Len()
		dt := allDTypes[r.IntN(len(allDTypes))]
		values := randomNumbers(t, r, dt, n)
		opts := []tensor.Option{tensor.WithFill(randomScalar(r, dt)), tensor.WithName("A")}
		want, err := tensor.FromCoords(shape, f, coords, values, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for name, s := range sessions {
			if s.env.Engine.Name() == runtime.CPUName && (i+int(s.env.Grain))%24 != 0 {
				continue // compiling is slow
			}
			got, err := s.FromCoords(t.Context(), shape, f, arrays, values, opts...)
			if err == nil {
				err = sameArrays(got, want)
			}
			if err != nil {
				t.Fatalf("%d, %s: %d entries %v as %v: %v", i, name, n, arrays[0].DType(), want, err)
			}
			if got.Name() != "A" {
				t.Fatalf("%d: the name is %q", i, got.Name())
			}
		}
	}
	checkKernelsRan(t, sessions)
}

// randomCoords makes coordinates in one of the orders that matter.
func randomCoords(t *testing.T, r *rand.Rand, f tensor.Format, shape []int64) (coords [][]int64, arrays []tensor.Array) {
	n := []int{0, 1, 2, 40, 200}[r.IntN(5)]
	list := make([][]int64, n)
	for i := range list {
		for _, size := range shape {
			c := r.Int64N(size)
			if size > 1<<32 && r.IntN(2) == 0 {
				c = size - 1 - c%3
			}
			list[i] = append(list[i], c)
		}
	}
	order := f.Order()
	compare := func(x, y []int64) int {
		for _, axis := range order {
			if x[axis] != y[axis] {
				return cmp.Compare(x[axis], y[axis])
			}
		}
		return 0
	}
	if kind := r.IntN(3); kind > 0 {
		slices.SortFunc(list, compare)
		if kind > 1 {
			list = slices.CompactFunc(list, func(x, y []int64) bool { return compare(x, y) == 0 })
		}
	}
	coords = make([][]int64, len(shape))
	for axis, size := range shape {
		coords[axis] = []int64{}
		for _, c := range list {
			coords[axis] = append(coords[axis], c[axis])
		}
		types := []tensor.DType{tensor.Int64, tensor.Uint64}
		if size <= 1<<31 {
			types = append(types, tensor.Uint32, tensor.Uint32, tensor.Int32, tensor.Uint16)
		}
		if size <= 128 {
			types = append(types, tensor.Int8)
		}
		a, err := tensor.ArrayOf(coords[axis]).Convert(types[r.IntN(len(types))])
		if err != nil {
			t.Fatal(err)
		}
		arrays = append(arrays, a)
	}
	return coords, arrays
}

// checkKernelsRan fails if sessions fell back on conversions without kernels.
func checkKernelsRan(t *testing.T, sessions map[string]*Session) {
	t.Helper()
	for name, s := range sessions {
		if s.env.Cache.Stats().Misses == 0 {
			t.Errorf("%s: no kernel was compiled", name)
		}
	}
}

// TestFromCoordsErrors: what is wrong with a list is said as tensor.FromCoords
// says it.
func TestFromCoordsErrors(t *testing.T) {
	for name, s := range convertingSessions(t) {
		rows, cols := tensor.ArrayOf([]int32{0, 2, 1}), tensor.ArrayOf([]int64{1, 0, 3})
		values := tensor.ArrayOf([]float64{1, 2, 3})
		for _, c := range []struct {
			shape  []int64
			coords []tensor.Array
			values tensor.Array
			want   string
		}{
			{[]int64{3, 3}, []tensor.Array{rows, cols}, values, "coordinate 3 of entry 2 is out of range: axis 1 has the size 3"},
			{[]int64{3, 4}, []tensor.Array{tensor.ArrayOf([]int8{0, -1, 0}), cols}, values, "coordinate -1 of entry 1 is out of range"},
			{[]int64{3, 4}, []tensor.Array{rows}, values, "coordinates for 1 axes are given"},
			{[]int64{3, 4}, []tensor.Array{rows, rows}, tensor.ArrayOf([]float64{1}), "axis 0 has 3 coordinates, there are 1 values"},
			{[]int64{3, 4}, []tensor.Array{rows, values}, values, "it must be an integer type"},
			{[]int64{3, 4}, []tensor.Array{rows, rows}, notBools(t), "values[1] is the byte 2: a bool is 0 or 1"},
		} {
			_, err := s.FromCoords(t.Context(), c.shape, tensor.CSR, c.coords, c.values)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %q", name, err, c.want)
			}
		}
		if _, err := s.FromCoords(t.Context(), []int64{3, 4}, tensor.CSR, []tensor.Array{rows, cols}, values); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestConvertLimits: a conversion obeys the session's limit and its context, also
// as a step of a program.
func TestConvertLimits(t *testing.T) {
	n := int64(1000)
	rows, cols := make([]int64, n), make([]int64, n)
	for i := range n {
		rows[i], cols[i] = i, n-1-i
	}
	a, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{rows, cols}, tensor.ArrayOf(make([]float64, n)))
	if err != nil {
		t.Fatal(err)
	}
	s := NewSession(WithEngine(runtime.Interp()), WithConversionKernels(), WithMemoryLimit(1000))
	var limit *runtime.MemoryLimitError
	if _, err := s.Convert(t.Context(), a, tensor.CSC); !errors.As(err, &limit) {
		t.Errorf("got %v, want a MemoryLimitError", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Convert(ctx, a, tensor.CSC); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if _, err := s.FromCoords(ctx, []int64{n, n}, tensor.CSR, []tensor.Array{tensor.ArrayOf(rows), tensor.ArrayOf(cols)}, a.Values()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if _, err := s.Eval(t.Context(), "y(i) = A(i,j) + B(i,j)", Args{"A": a, "B": mustConvert(t, a, tensor.CSC)}); !errors.As(err, &limit) {
		t.Errorf("got %v, want a MemoryLimitError", err)
	}
}

func mustConvert(t *testing.T, a *tensor.Tensor, f tensor.Format) *tensor.Tensor {
	t.Helper()
	b, err := a.Convert(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// notBools are three values of type Bool, of which one is none.
func notBools(t *testing.T) tensor.Array {
	t.Helper()
	a, err := tensor.MakeArray(tensor.Bool, 3)
	if err != nil {
		t.Fatal(err)
	}
	tensor.View[uint8](a)[1] = 2
	return a
}
