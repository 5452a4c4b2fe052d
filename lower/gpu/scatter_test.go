package gpu_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// listedScatter folds floats, in rows of several.
const listedScatter = `program scatter {
  scalar n bound
  scalar m bound
  buffer p: []u32 input
  buffer x: []f64 input
  buffer y: []f64 output
  stage compute {
    alloc y[m] zero
    run(p, x, y; n, m)
    func compute(readonly p: []u32, readonly x: []f64, y: []f64; n: i64, m: i64) chunk chunk, lo, hi {
      for row = 0 to (n + 6) / 7 {
        for i = row * 7 to min(n, row * 7 + 7) {
          let at: i64 = i64(p[i])
          if at >= m {
            fail 0 "outside"
          }
          if i % 3 != 2 {
            y[at] = y[at] + x[i]
          }
        }
      }
    }
  }
}`

func TestScattersMapping(t *testing.T) {
	for _, c := range []struct {
		text   string
		stages []string
	}{
		{floatScatter, []string{"compute_by_keys symbolic", "compute_by_digits symbolic", "compute_by_moves symbolic", "compute_by_runs", "compute_by_owners"}},
		{listedScatter, []string{"compute_counts_by_elements", "compute_list_by_elements", "compute_by_runs", "compute_by_one_thread"}},
	} {
		text := mapped(t, c.text).String()
		for _, stage := range c.stages {
			if !strings.Contains(text, "stage "+stage+" {") {
				t.Errorf("no stage %s in\n%s", stage, text)
			}
		}
	}
}

// TestScatters runs scatters on the simulated engine, which finds races: sums have the bits
// of one thread's, however the elements are spread.
func TestScatters(t *testing.T) {
	for name, text := range map[string]string{"plain": floatScatter, "listed": listedScatter} {
		e := simulated(t, text)
		r := rand.New(rand.NewPCG(1, 2))
		spread := []struct {
			kind string
			at   func(m int64) int64
		}{
			{"evenly", func(m int64) int64 { return r.Int64N(m) }},
			{"one", func(m int64) int64 { return m - 1 }},
			{"powers", func(m int64) int64 { return r.Int64N(1<<(r.IntN(20)+1)) % m }},
			{"few", func(m int64) int64 { return r.Int64N(min(m, 3)) * (m - 1) / 2 }},
			{"mostly 1", func(m int64) int64 { return max(0, r.Int64N(40)-38) * (m - 1) }},
		}
		for i, m := range []int64{1, 2, 17, 100, 300, 5000, 1 << 17} {
			for j, s := range spread {
				for k, n := range []int{0, 1, 8, 31, 33, 511, 512, 513, 1500, 3000} {
					if testengine.Thin(3, i, j, k) {
						continue
					}
					p, x, want := make([]uint32, n), make([]float64, n), make([]float64, m)
					for i := range p {
						p[i], x[i] = uint32(s.at(m)), r.NormFloat64()
						if i%3 != 2 {
							want[p[i]] += x[i]
						}
					}
					if n > 600 && m > 5000 && s.kind != "evenly" {
						continue
					}
					same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
					if got, err := scatterInto(t, e, p, x, m); err != nil || !slices.EqualFunc(got, want, same) {
						t.Errorf("%s: %d values to %d elements, %s: %v, differ", name, n, m, s.kind, err)
					}
					if n == 0 || m > 100 {
						continue
					}
					p[n-1] = uint32(m)
					var failed *runtime.KernelError
					if _, err := scatterInto(t, e, p, x, m); !errors.As(err, &failed) || failed.Message != "outside" {
						t.Errorf("%s: %d values, the last outside: %v", name, n, err)
					}
				}
			}
		}
	}
}
