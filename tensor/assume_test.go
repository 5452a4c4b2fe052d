package tensor

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestParseStatistics reads assumptions, and refuses what is none.
func TestParseStatistics(t *testing.T) {
	for _, test := range []struct {
		text             string
		entries          float64
		extents, longest []float64
		exponent         int
	}{
		{"1e6x1e6, 16 per row", 16e6, []float64{1e6, 1e6}, []float64{33, 33}, 10},
		{"100 x 50", 5000, []float64{100, 50}, []float64{50, 100}, 10},
		{"1000x2000, 4 per row, at most 500 per column", 4000, []float64{1000, 2000}, []float64{13, 500}, 10},
		{"300x300x300, 2e5 in all, values below 1e9", 2e5, []float64{300, 300, 300}, []float64{771, 771, 771}, 31},
		{"10x20x30, 8 per slice of axis 2", 240, []float64{10, 20, 30}, []float64{45, 26, 21}, 10},
		{"1_000_000", 1e6, []float64{1e6}, []float64{1}, 10},
	} {
		s, err := ParseStatistics(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if s.Entries != test.entries || !s.Finite || s.Exponent != test.exponent || s.Class() == "" {
			t.Errorf("%s: %+v", test.text, s)
		}
		for i, a := range s.Axes {
			if a.Extent != test.extents[i] || math.Abs(a.Longest-test.longest[i]) > 1 || a.NonEmpty > a.Extent || a.Squares < s.Entries*s.Entries/a.Extent-1e-6 {
				t.Errorf("%s: axis %d: %+v", test.text, i, a)
			}
		}
	}
	for _, text := range []string{"", "x", "0x3", "-1", "1e6, 3", "1e6x1e6, 3 per line", "10x10, 11 per row", "10, 3 per column", "10x10, 1 per slice of axis 2", "nanx3", "1e300", "10x10, at most 3 in all", "10, values below 0"} {
		if s, err := ParseStatistics(text); err == nil || !strings.Contains(err.Error(), "write 1e6x1e6, 16 per row") {
			t.Errorf("%q: %+v, %v", text, s, err)
		} else if at := new(*ParseError); !errors.As(err, at) {
			t.Errorf("%q: a %T", text, err)
		}
	}
}
