package tensor

import (
	"math"
	"reflect"
	"runtime"
	"testing"
)

// TestStatistics compares statistics with those of the coordinates, in several formats.
func TestStatistics(t *testing.T) {
	coords := [][]int64{{0, 0, 0, 2, 2, 4}, {1, 2, 3, 1, 3, 3}}
	values := ArrayOf([]float64{1, -8, 3, 0.5, 2, 1})
	for _, f := range []Format{CSR, CSC, DCSR, CSF(2), mustFormat([]LevelKind{S, S}, []int{0, 1}), mustFormat([]LevelKind{S, S}, []int{1, 0})} {
		m, err := FromCoords([]int64{5, 4}, f, coords, values)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := m.Statistics()
		if !ok || s.Entries != 6 || !s.Finite || s.NonNegative || s.Exponent != 4 {
			t.Fatalf("%s: %+v", f, s)
		}
		if want := (AxisStatistics{5, 3, 3, 9 + 4 + 1}); s.Axes[0] != want {
			t.Errorf("%s: rows %+v, want %+v", f, s.Axes[0], want)
		}
		if want := (AxisStatistics{4, 3, 3, 4 + 1 + 9}); s.Axes[1] != want {
			t.Errorf("%s: columns %+v, want %+v", f, s.Axes[1], want)
		}
		if again, _ := m.Statistics(); again != s {
			t.Errorf("%s: computed again", f)
		}
		o, _ := m.Outline() // of statistics, and before them
		first, ok := m.Share().Outline()
		if !ok || !reflect.DeepEqual(o, first) || !first.Finite || first.Exponent != 0 || !first.NonNegative || first.Axes[1] != s.Axes[1] || first.Class() == s.Class() {
			t.Errorf("%s: outlines %+v and %+v", f, o, first)
		}
	}
	near, err := FromCoords([]int64{9, 9}, CSR, [][]int64{{0, 1, 2, 3, 8}, {1, 0, 3, 2, 7}}, ArrayOf([]float64{1, 1, 1, 1, 1}))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Format{CSR, CSC, DCSR, mustFormat([]LevelKind{S, S}, []int{0, 1})} { // all one beside the diagonal
		m, err := near.Convert(f)
		if err != nil {
			t.Fatal(err)
		}
		if s, _ := m.Statistics(); math.Abs(s.Band-1-2*math.Sqrt(3)) > 1e-12 || s.Rounded().Band != 4 {
			t.Errorf("%s: a band of %g", f, s.Band)
		}
	}
	d, err := FromDense([]int64{2, 3}, Dense(2), ArrayOf([]float64{1, 2, 3, 4, 5, math.Inf(1)}))
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := d.Statistics(); !ok || s.Finite || s.Axes[0] != (AxisStatistics{2, 2, 3, 18}) || s.Rounded().Axes[1].Extent != 4 {
		t.Errorf("dense: %+v", s)
	}
}

// TestMagnitude: what is infinite or NaN has no bound, and is not taken for numbers that are not negative.
// Lists of all lengths, and long ones that processors share: wherever the largest value and the only sign are, they are found.
func TestLargest(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 11, 3<<18 + 5} {
		step := max(1, n/9)
		for at := 0; at < n; at += step {
			list := make([]float32, n)
			list[at], list[n-1-at] = 5, min(list[n-1-at], float32(math.Copysign(0, -1)))
			if at == n-1-at {
				list[at] = -5
			}
			if all, signs := largest(View[uint32](ArrayOf(list))); math.Float32frombits(all) != 5 || signs>>31 != 1 {
				t.Errorf("of %d with 5 at %d the largest is %v, the signs %x", n, at, math.Float32frombits(all), signs)
			}
		}
		if all, signs := largest(make([]uint64, n)); all != 0 || signs != 0 {
			t.Errorf("of %d zeros the largest is %d, the signs %x", n, all, signs)
		}
	}
}

func TestMagnitude(t *testing.T) {
	type magnitudes struct {
		finite      bool
		exponent    int
		nonNegative bool
	}
	for name, c := range map[string]struct {
		values Array
		want   magnitudes
	}{
		"f64":             {ArrayOf([]float64{0, 3, 0.25}), magnitudes{true, 2, true}},
		"f64 negative":    {ArrayOf([]float64{3, -9}), magnitudes{true, 4, false}},
		"f64 of -0":       {ArrayOf([]float64{math.Copysign(0, -1)}), magnitudes{true, 0, false}},
		"f64 infinite":    {ArrayOf([]float64{1, math.Inf(1)}), magnitudes{false, 1025, false}},
		"f64 NaN":         {ArrayOf([]float64{math.NaN(), 1}), magnitudes{false, 1025, false}},
		"f64 the largest": {ArrayOf([]float64{math.MaxFloat64}), magnitudes{true, 1024, true}},
		"f32":             {ArrayOf([]float32{0, 3, 0.25}), magnitudes{true, 2, true}},
		"f32 negative":    {ArrayOf([]float32{3, -9}), magnitudes{true, 4, false}},
		"f32 infinite":    {ArrayOf([]float32{1, float32(math.Inf(1))}), magnitudes{false, 129, false}},
		"f32 NaN":         {ArrayOf([]float32{float32(math.NaN()), 1}), magnitudes{false, 129, false}},
		"f32 the largest": {ArrayOf([]float32{math.MaxFloat32}), magnitudes{true, 128, true}},
		"i16":             {ArrayOf([]int16{-1}), magnitudes{true, 16, false}},
		"u8":              {ArrayOf([]uint8{1}), magnitudes{true, 8, true}},
		"c64":             {ArrayOf([]complex64{complex(2, 1)}), magnitudes{true, 2, false}},
	} {
		var got magnitudes
		if got.finite, got.exponent, got.nonNegative = magnitude(c.values); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
