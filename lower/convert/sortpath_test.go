package convert

import "testing"

// An entry is moved once by grouping, however few bits that looks at, once by buckets or by row, and once in each pass of a word.
func TestPasses(t *testing.T) {
	words := []Word{{Axes: 1, Passes: 2, Bits: 8}, {Axes: 2}}
	for _, c := range []struct {
		path Path
		want int
	}{
		{Path{}, 0},
		{Path{Axes: 1, Buckets: true}, 1},
		{Path{Axes: 1, Buckets: true, Group: 1}, 2},
		{Path{Axes: 1, Words: words}, 2},
		{Path{Axes: 1, Words: words, Group: 1}, 3},
		{Path{Axes: 1, Words: words, Rows: true}, 3},
		{Path{Axes: 1, Words: words, Rows: true, Group: 9}, 4},
	} {
		if got := c.path.Passes(); got != c.want {
			t.Errorf("%s: every entry is moved %d times, want %d", c.path, got, c.want)
		}
	}
}
