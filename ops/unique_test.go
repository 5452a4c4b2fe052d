package ops_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// different lists the different elements of a list in order, and how often each occurs.
func different(list []tensor.Scalar) (values []tensor.Scalar, counts []int64) {
	for _, place := range inOrder(list, false) {
		if n := len(values); n > 0 && sameValue(values[n-1], list[place]) {
			counts[n-1]++
			continue
		}
		values, counts = append(values, list[place]), append(counts, 1)
	}
	return values, counts
}

func TestUnique(t *testing.T) {
	testengine.Parallel(t)
	each(t, 0, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		for A.DType().IsComplex() {
			A = random(t, r, A.Rank())
		}
		u, err := ops.Unique(t.Context(), A, ops.Inverse(), in)
		if err != nil {
			t.Fatal(err)
		}
		values, counts := different(lineAt(A, nil, -1))
		if n := []int64{int64(len(values))}; !slices.Equal(u.Values.Shape(), n) || !slices.Equal(u.Counts.Shape(), n) || u.Values.DType() != A.DType() {
			t.Fatalf("got %v and %v, want %d", u.Values, u.Counts, n)
		}
		for i, want := range values {
			if v, n := u.Values.At(int64(i)), u.Counts.At(int64(i)).Int64(); !sameValue(v, want) || n != counts[i] {
				t.Fatalf("value %d is %v, %d times; want %v, %d times", i, v, n, want, counts[i])
			}
		}
		valid(t, u.Inverse)
		if u.Inverse.NNZ() != A.NNZ() || u.Inverse.Format() != A.Format() {
			t.Fatalf("the places are %v", u.Inverse)
		}
		walk(A.Shape(), func(at []int64) {
			place := u.Inverse.At(at...).Int64()
			if place < 0 || place >= int64(len(values)) || !sameValue(values[place], A.At(at...)) {
				t.Fatalf("%v at %v has the place %d", A.At(at...), at, place)
			}
		})
	})
}

func TestUniqueAlong(t *testing.T) {
	testengine.Parallel(t)
	each(t, 1, func(t *testing.T, r *rand.Rand, A *tensor.Tensor, in ops.Option) {
		for A.DType().IsComplex() {
			A = random(t, r, A.Rank())
		}
		axis := r.IntN(A.Rank())
		u, err := ops.UniqueAlong(t.Context(), A, axis-A.Rank()*r.IntN(2), in)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, u.Values)
		valid(t, u.Counts)
		longest, stored := 0, 0
		one := A.Shape()
		one[axis] = 1
		walk(one, func(at []int64) {
			values, counts := different(lineAt(A, at, axis))
			longest = max(longest, len(values))
			stored += len(values)
			at = slices.Clone(at)
			for i, want := range values {
				at[axis] = int64(i)
				if at[axis] >= u.Values.Shape()[axis] {
					t.Fatalf("along %d: %v is too short for %v", axis, u.Values, values)
				}
				if v, n := u.Values.At(at...), u.Counts.At(at...).Int64(); !sameValue(v, want) || n != counts[i] {
					t.Fatalf("along %d, at %v: %v, %d times; want %v, %d times", axis, at, v, n, want, counts[i])
				}
			}
		})
		one[axis] = int64(longest)
		if !slices.Equal(u.Values.Shape(), one) || !slices.Equal(u.Counts.Shape(), one) || u.Values.NNZ() != int64(stored) || u.Values.DType() != A.DType() {
			t.Fatalf("along %d: got %v, want %d values of shape %v", axis, u.Values, stored, one)
		}
	})
}

// Gaps of any number count, and cost nothing.
func TestUniqueOfLargeTensors(t *testing.T) {
	testengine.Parallel(t)
	A, err := tensor.FromCoords([]int64{3, 1 << 60}, tensor.CSR, [][]int64{{0, 0, 2}, {7, 1 << 40, 3}}, tensor.ArrayOf([]float32{0, -1, -1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions(t) {
		u, err := ops.Unique(t.Context(), A, ops.In(s), ops.As(tensor.Int32), ops.Inverse())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(t, u.Values), "[2] i32 D: -1 0"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if n := u.Counts.At(1).Int64(); n != 3<<60-2 || u.Inverse.At(2, 2).Int64() != 1 || u.Inverse.NNZ() != 3 {
			t.Errorf("%d gaps, places %v", n, u.Inverse)
		}
		u, err = ops.UniqueAlong(t.Context(), A, 1, ops.In(s), ops.StoredAs(tensor.CSR))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := text(t, u.Values), "[3 2] f32 CSR: -1 0 0 . -1 0"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if n := u.Counts.At(1, 0).Int64(); n != 1<<60 {
			t.Errorf("an empty row counts %d", n)
		}
	}
	huge, err := tensor.FromCoords([]int64{math.MaxInt64, 2}, tensor.COO, [][]int64{{1}, {1}}, tensor.ArrayOf([]float32{1}))
	if err != nil {
		t.Fatal(err)
	}
	if u, err := ops.Unique(t.Context(), huge); err == nil {
		t.Errorf("counts over 2^63: %v", u.Counts)
	}
	if u, err := ops.UniqueAlong(t.Context(), huge, 1); err == nil {
		t.Errorf("2^63 lines: %v", u.Counts)
	}
	for name, bad := range map[string]error{
		"axes":    second(ops.Unique(t.Context(), A, ops.Axes(0))),
		"axis":    second(ops.UniqueAlong(t.Context(), A, 2)),
		"inverse": second(ops.UniqueAlong(t.Context(), A, 1, ops.Inverse())),
		"stored":  second(ops.Unique(t.Context(), A, ops.Stored())),
	} {
		if bad == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func second(_ ops.Uniques, err error) error { return err }
