package column

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSort compares with a stable sort: keys in any order and in runs, near each other and far apart, one and several.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 1))
	for _, c := range []struct {
		n, columns, runs int // runs 0: in any order
		most             uint64
	}{{0, 1, 0, 9}, {1, 1, 1, 0}, {1000, 1, 1, 300}, {1000, 1, 2, 300}, {1000, 1, 16, 1999}, {1000, 1, 17, 999}, {1000, 1, 2, math.MaxUint32 - 1},
		{1000, 1, 0, 5}, {1000, 1, 0, math.MaxUint64 - 1}, {500, 2, 0, 7}, {500, 2, 3, 1 << 30}, {500, 3, 0, 1 << 40}} {
		keys := make([]Column, c.columns)
		for k := range keys {
			values := make([]uint64, c.n)
			for i := range values {
				values[i] = r.Uint64N(c.most + 1)
			}
			for run := range c.runs {
				slices.Sort(values[run*c.n/c.runs : (run+1)*c.n/c.runs])
			}
			var err error
			if keys[k], err = Make(c.n, c.most); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				keys[k].Set(i, v)
			}
		}
		want := make([]int, c.n)
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int {
			for _, key := range keys {
				if d := cmp.Compare(key.At(a), key.At(b)); d != 0 {
					return d
				}
			}
			return 0
		})
		perm, sorted, err := Sort(c.n, keys)
		if err != nil || len(sorted) == 0 {
			t.Fatalf("%+v: %v, %d columns in order", c, err, len(sorted))
		}
		for i, j := range want {
			if perm.At(i) != j {
				t.Fatalf("%+v: entry %d of the order is %d, want %d", c, i, perm.At(i), j)
			}
			for k, col := range sorted {
				if col.At(i) != keys[k].At(j) {
					t.Fatalf("%+v: column %d has %d at %d, want %d", c, k, col.At(i), i, keys[k].At(j))
				}
			}
		}
	}
}
