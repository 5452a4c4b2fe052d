package tensor

import (
	"math"
	"reflect"
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
