package exec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests conversions by which entries get other coordinates: reshape and concatenate (runtime/convert/mapped.go).

// reshapedAtRandom is a shape with as many elements as another one, which must have some.
func reshapedAtRandom(r *rand.Rand, shape []int64) []int64 {
	var factors []int64
	for _, n := range shape {
		for d := int64(2); d < 1000 && n > 1; {
			if n%d == 0 {
				factors, n = append(factors, d), n/d
			} else {
				d++
			}
		}
		if n > 1 {
			factors = append(factors, n)
		}
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(factors), func(i, j int) { factors[i], factors[j] = factors[j], factors[i] })
	}
	to := []int64{1}
	for _, f := range factors {
		if len(to) < 5 && r.IntN(3) == 0 {
			to = append(to, 1)
		}
		if to[len(to)-1] > 1<<40/f { // more than a shape may have
			to = append(to, 1)
		}
		to[len(to)-1] *= f
	}
	for len(to) < 5 && r.IntN(3) == 0 {
		to = slices.Insert(to, r.IntN(len(to)+1), 1)
	}
	if len(to) == 1 && to[0] == 1 && r.IntN(2) == 0 {
		return nil
	}
	return to
}

// halvesOf are the entries of a tensor in two, in formats of their own.
func halvesOf(t *testing.T, r *rand.Rand, a *tensor.Tensor) []*tensor.Tensor {
	coords, values, err := a.ToCoords()
	if err != nil {
		t.Fatal(err)
	}
	halves := make([]*tensor.Tensor, 2)
	for k, cut := range [][2]int{{0, values.Len() / 2}, {values.Len() / 2, values.Len()}} {
		some := make([][]int64, len(coords))
		for axis := range coords {
			some[axis] = coords[axis][cut[0]:cut[1]]
		}
		f := randomFormat(r, a.Rank())
		for hugeDense(a.Shape(), f) {
			f = randomFormat(r, a.Rank())
		}
		if halves[k], err = tensor.FromCoords(a.Shape(), f, some, values.Slice(cut[0], cut[1]), tensor.WithFill(a.Fill())); err != nil {
			t.Fatal(err)
		}
	}
	return halves
}

// TestMovedRandom compares reshapes, concatenations and tensors made of parts and of blocks by kernels with those of package tensor.
func TestMovedRandom(t *testing.T) {
	sessions := convertingSessions(t)
	r := rand.New(rand.NewPCG(21, 22))
	rounds := 120
	if testing.Short() {
		rounds = 30
	}
	for i := range rounds {
		a := randomTensor(t, r, []int{0, 1, 1, 2, 2, 2, 3, 3, 4}[r.IntN(9)])
		if slices.Contains(a.Shape(), 0) {
			continue
		}
		shape := reshapedAtRandom(r, a.Shape())
		to := randomFormat(r, len(shape))
		for hugeDense(shape, to) {
			to = randomFormat(r, len(shape))
		}
		if flagged, err := to.Flag(0, tensor.Unsorted); err == nil && r.IntN(4) == 0 {
			to = flagged
		}
		block := make([]int64, a.Rank())
		for axis := range block {
			block[axis] = 1 + r.Int64N(4)
		}
		var joined *tensor.Blocks
		back := randomFormat(r, a.Rank())
		halves := halvesOf(t, r, a)
		if blocked, err := a.Blocked(block, tensor.Coordinates(2*a.Rank())); err == nil && a.Rank() > 0 && !hugeDense(a.Shape(), back) {
			if joined, err = tensor.NewBlocks(blocked, a.Shape()); err != nil {
				t.Fatal(err)
			}
		}
		for name, s := range sessions {
			if s.env.Engine.Name() == runtime.CPUName && (i+int(s.env.Grain))%24 != 0 {
				continue // compiling is slow
			}
			compare := func(what any, moved, plain func() (*tensor.Tensor, error)) {
				want, wrong := plain()
				got, err := moved()
				if wrong != nil {
					if err == nil {
						t.Fatalf("%d, %s: %v: no error, want %v", i, name, what, wrong)
					}
					return
				}
				if err == nil {
					err = sameArrays(got, want)
				}
				if err != nil {
					t.Fatalf("%d, %s: %v to %v: %v", i, name, a, what, err)
				}
			}
			compare([]any{shape, to}, func() (*tensor.Tensor, error) { return s.env.convert.Reshape(t.Context(), a, shape, to) },
				func() (*tensor.Tensor, error) { return a.Reshape(shape, to) })
			axis := r.IntN(max(a.Rank(), 1))
			compare([]any{"three times", axis, back}, func() (*tensor.Tensor, error) {
				return s.env.convert.Concat(t.Context(), axis, back, a, a, a)
			}, func() (*tensor.Tensor, error) { return tensor.Concat(axis, back, a, a, a) })
			compare([]any{"of halves", back}, func() (*tensor.Tensor, error) { return s.env.convert.Joined(t.Context(), halves, back) },
				func() (*tensor.Tensor, error) { return tensor.NewTrustedParts(halves...).Expand(back) })
			if joined != nil {
				compare([]any{block, back}, func() (*tensor.Tensor, error) { return s.env.convert.Unblocked(t.Context(), joined, back) },
					func() (*tensor.Tensor, error) { return joined.Expand(back) })
			}
		}
	}
	checkKernelsRan(t, sessions)
}

// TestWholeMatrices compares the matrices that devices and processors make of triangles with those of package tensor, for every type of
// elements.
func TestWholeMatrices(t *testing.T) {
	testengine.Interpreted(t)
	s := NewSession(WithEngine(testengine.Or(t, runtime.Simulated())), WithConversionKernels(), WithResidentResults())
	host := NewSession(WithEngine(runtime.Interp()), WithConversionKernels())
	s.env.Grain, host.env.Grain = 3, 3
	if err := host.open(); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(23, 24))
	for _, dt := range allDTypes {
		for structure := tensor.SymmetricLower; structure <= tensor.SkewSymmetricUpper; structure++ {
			var coords [2][]int64
			for i := int64(0); i < 6; i++ {
				for j := int64(0); j < i; j++ {
					if r.IntN(2) == 0 {
						continue
					}
					row, col := i, j
					if structure.Upper() {
						row, col = j, i
					}
					coords[0], coords[1] = append(coords[0], row), append(coords[1], col)
				}
			}
			for _, f := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.COO, tensor.Dense(2)} {
				a, err := tensor.FromCoords([]int64{6, 6}, f, coords[:], randomValues(t, r, dt, len(coords[0])))
				if err != nil {
					t.Fatal(err)
				}
				triangle, err := a.WithStructure(structure)
				if err != nil {
					continue // no such structure for the type
				}
				want, err := triangle.Canonical()
				if err != nil {
					t.Fatal(err)
				}
				check := func(s *Session, triangle *tensor.Tensor) {
					got, err := s.env.convert.Canonical(t.Context(), triangle)
					if err == nil {
						err = got.Fetch()
					}
					if err == nil {
						err = sameArrays(got, want)
					}
					if err != nil {
						t.Errorf("%s, %v: %v", s.env.Engine.Name(), triangle, err)
					}
				}
				check(s, there(t, s, triangle))
				check(host, triangle)
			}
		}
	}
}

// TestConcatPast32Bits joins lists whose coordinates take 32 bits to one whose coordinates take more.
func TestConcatPast32Bits(t *testing.T) {
	const n = 3_000_000_000
	part := func(at ...int64) *tensor.Tensor {
		ones := make([]float64, len(at))
		for k := range ones {
			ones[k] = float64(k + 1)
		}
		v, err := tensor.FromCoords([]int64{n, 4}, tensor.COO, [][]int64{at, make([]int64, len(at))}, tensor.ArrayOf(ones))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a, b := part(1, 5, n-1), part(0, 7)
	want, err := tensor.Concat(0, tensor.COO, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range convertingSessions(t) {
		got, err := s.env.convert.Concat(t.Context(), 0, tensor.COO, a, b)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, i := range []int64{1, 5, n - 1, n, n + 7} {
			if x, y := got.At(i, 0).Float64(), want.At(i, 0).Float64(); x != y || x == 0 {
				t.Errorf("%v: element %d is %v, want %v", name, i, x, y)
			}
		}
		if got.NNZ() != want.NNZ() {
			t.Errorf("%v: %d entries, want %d", name, got.NNZ(), want.NNZ())
		}
	}
}
