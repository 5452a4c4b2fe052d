package gpu_test

import (
	"slices"
	"strings"
	"testing"
)

const scatter = `program scatter {
  scalar n bound
  scalar m bound
  buffer p: []u32 input
  buffer x: []i64 input
  buffer y: []i64 output
  stage compute {
    alloc y[m] zero
    run(p, x, y; n, m)
    func compute(readonly p: []u32, readonly x: []i64, y: []i64; n: i64, m: i64) chunk chunk, lo, hi {
      for i = 0 to n {
        let at: i64 = i64(p[i])
        if at >= m {
          fail 0 "outside"
        }
        var t: i64 = x[i]
        if t > 100 {
          t = 100
        }
        y[at] = y[at] + t
      }
    }
  }
}`

func TestAtomicsMapping(t *testing.T) {
	for _, c := range []struct {
		old, new string
		atomic   bool
	}{
		{"", "", true},
		{"y[at] + t", "max(t, y[at])", true},
		{"y[at] + t", "y[at] * t", false}, // there is no such atomic
		{"y[at] + t", "y[at] - t", false},
		{"y[at] + t", "y[at] + y[0]", false}, // depends on the order
		{"y[at] + t", "t", false},
		{"y[at] = y[at] + t", "y[at] = y[at + 1] + t", false},
		{"y[at] = y[at] + t", "y[at] = y[at] + t\n        y[at] = min(y[at], t)", false},
	} {
		text := mapped(t, strings.Replace(scatter, c.old, c.new, 1)).String()
		if got := strings.Contains(text, "stage compute_by_atomics {"); got != c.atomic {
			t.Errorf("with %q for %q: atomics %v, want %v, in\n%s", c.new, c.old, got, c.atomic, text)
		}
	}
	floats := strings.ReplaceAll(strings.ReplaceAll(scatter, "[]i64", "[]f64"), "var t: i64 = x[i]\n        if t > 100 {\n          t = 100\n        }", "let t: f64 = x[i]")
	if text := mapped(t, floats).String(); strings.Contains(text, "by_atomics") {
		t.Errorf("floats are added by atomics in\n%s", text)
	}
}

// TestAtomics runs a scatter on the simulated engine, which finds races.
func TestAtomics(t *testing.T) {
	e := simulated(t, scatter)
	for _, n := range []int{0, 1, 31, 32, 33, 1000} {
		p, x, want := make([]uint32, n), make([]int64, n), make([]int64, 7)
		for i := range p {
			p[i], x[i] = uint32(i*i%7), int64(i-20)
			want[p[i]] += min(x[i], 100)
		}
		if got, err := scatterInto(t, e, p, x, 7); err != nil || !slices.Equal(got, want) {
			t.Errorf("%d values: %v, %v, want %v", n, got, err, want)
		}
	}
}
