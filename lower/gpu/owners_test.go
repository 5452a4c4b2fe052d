package gpu_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
)

// floatScatter folds floats, two of three, into elements that p names.
const floatScatter = `program scatter {
  scalar n bound
  scalar m bound
  buffer p: []u32 input
  buffer x: []f64 input
  buffer y: []f64 output
  stage compute {
    alloc y[m] zero
    run(p, x, y; n, m)
    func compute(readonly p: []u32, readonly x: []f64, y: []f64; n: i64, m: i64) chunk chunk, lo, hi {
      for i = 0 to n {
        let at: i64 = i64(p[i])
        if at >= m {
          fail 0 "outside"
        }
        var t: f64 = x[i]
        if i % 3 != 2 {
          y[at] = y[at] + t
        }
      }
    }
  }
}`

func TestOwnersMapping(t *testing.T) {
	for _, c := range []struct {
		old, new string
		owners   bool
	}{
		{"", "", true},
		{"y[at] + t", "t - y[at]", true},
		{"y[at] + t", "max(y[at] * t, x[0])", true},
		{"y[at] + t", "y[at] + y[0]", false}, // what other iterations store
		{"y[at] + t", "y[at] * y[at]", false},
		{"y[at] + t", "t", false},
		{"y[at] = y[at] + t", "y[at] = y[at + 1] + t", false},
		{"y[at] = y[at] + t", "y[at] = y[at] + t\n          y[0] = y[0] + t", false},
		{"y[at] = y[at] + t", "for k = 0 to 3 {\n            y[at] = y[at] + t\n          }", false},
		{"var t: f64 = x[i]", "var t: f64 = x[i]\n        for k = 0 to 3 {\n          t = t + x[k]\n        }", true},
	} {
		text := mapped(t, strings.Replace(floatScatter, c.old, c.new, 1)).String()
		if got := strings.Contains(text, "stage compute_by_owners {"); got != c.owners {
			t.Errorf("with %q for %q: owners %v, want %v, in\n%s", c.new, c.old, got, c.owners, text)
		}
	}
}

// TestOwners runs scatters on the simulated engine, which finds races: sums have the bits of
// one thread's.
func TestOwners(t *testing.T) {
	e := simulated(t, floatScatter)
	r := rand.New(rand.NewPCG(1, 2))
	for _, m := range []int64{1, 2, 7, 100} {
		for _, n := range []int{0, 1, 31, 32, 33, 255, 256, 257, 1000} {
			p, x, want := make([]uint32, n), make([]float64, n), make([]float64, m)
			for i := range p {
				p[i], x[i] = uint32(r.Int64N(m)), r.NormFloat64()
				if i%3 != 2 {
					want[p[i]] += x[i]
				}
			}
			if got, err := scatterInto(t, e, p, x, m); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d values to %d elements: %v, %v, want %v", n, m, got, err, want)
			}
			if n == 0 {
				continue
			}
			p[n-1] = uint32(m)
			var failed *runtime.KernelError
			if _, err := scatterInto(t, e, p, x, m); !errors.As(err, &failed) || failed.Message != "outside" {
				t.Errorf("%d values, the last outside: %v", n, err)
			}
		}
	}
}
