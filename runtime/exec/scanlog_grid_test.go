package exec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests running logarithms of sums on grids (lower/prim/scanlogteam.go, scanlogtile.go).

// runningLog is the logarithm of the running sum of exponentials of each of some numbers.
func runningLog(x []float64) []float64 {
	y := make([]float64, len(x))
	m, s := math.Inf(-1), 0.0
	for i, v := range x {
		switch {
		case math.IsNaN(v):
			s = v
		case v == m:
			s++
		case v > m:
			s = s*math.Exp(m-v) + 1
			m = v
		default:
			s += math.Exp(v - m)
		}
		y[i] = m + math.Log(s)
	}
	return y
}

// lineKinds are lines that scans of logarithms go different ways on.
var lineKinds = []struct {
	name string
	at   func(r *rand.Rand, i, n int) float64
}{
	{"normal", func(r *rand.Rand, i, n int) float64 { return r.NormFloat64() }},
	{"wide", func(r *rand.Rand, i, n int) float64 { return 60 * r.NormFloat64() }},
	{"equal", func(r *rand.Rand, i, n int) float64 { return -0.6931472 }},
	{"zeros", func(r *rand.Rand, i, n int) float64 { return 0 }},
	{"nearly zero", func(r *rand.Rand, i, n int) float64 { return math.Ldexp(r.Float64()-0.5, -r.IntN(149)) }},
	{"small sums", func(r *rand.Rand, i, n int) float64 { return -math.Log(float64(n)) + 0.1*r.Float64() }},
	{"far from 0", func(r *rand.Rand, i, n int) float64 { return 5e4 + r.NormFloat64() }},
	{"far below 0", func(r *rand.Rand, i, n int) float64 { return -300 - 20*r.Float64() }},
	{"apart", func(r *rand.Rand, i, n int) float64 { return 1e30 * r.NormFloat64() }},
	{"growing", func(r *rand.Rand, i, n int) float64 { return float64(i) - 200 }},
	{"growing fast", func(r *rand.Rand, i, n int) float64 { return 1000 * float64(i) }},
	{"falling", func(r *rand.Rand, i, n int) float64 { return 150 - float64(i) }},
	{"one above", func(r *rand.Rand, i, n int) float64 {
		if i == n/2 {
			return 700
		}
		return r.Float64()
	}},
	{"begins with -inf", func(r *rand.Rand, i, n int) float64 {
		if i < n/3 {
			return math.Inf(-1)
		}
		return r.NormFloat64()
	}},
	{"begins low", func(r *rand.Rand, i, n int) float64 {
		if i < n/3 {
			return -500
		}
		return r.NormFloat64()
	}},
	{"some -inf", func(r *rand.Rand, i, n int) float64 {
		if r.IntN(3) == 0 {
			return math.Inf(-1)
		}
		return r.NormFloat64()
	}},
	{"all -inf", func(r *rand.Rand, i, n int) float64 { return math.Inf(-1) }},
	{"an inf", func(r *rand.Rand, i, n int) float64 {
		if i == n-n/4 {
			return math.Inf(1)
		}
		return r.NormFloat64()
	}},
	{"a NaN", func(r *rand.Rand, i, n int) float64 {
		if i == n/2 {
			return math.NaN()
		}
		return r.NormFloat64()
	}},
	{"greatest and least", func(r *rand.Rand, i, n int) float64 { return math.MaxFloat32 * float64(2*r.IntN(2)-1) }},
}

// TestGridRunningLogs compares running logs of sums of exponentials by warps and blocks with
// those in f64: what docs/numerics.md says.
func TestGridRunningLogs(t *testing.T) {
	testengine.Interpreted(t)
	for _, run := range []struct {
		grain   int64
		columns []int
	}{{0, []int{1, 16, 33, 512, 515, 1024, 2050, 4100}}, {3, []int{2, 3, 5, 31, 90}}} {
		session := gridSession(t, run.grain)
		rows := 2
		if run.grain > 0 {
			rows = 3 // of which blocks take several
		}
		for k, kind := range lineKinds {
			for c, n := range run.columns {
				if testengine.Thin(4, k, c) || n > 3000 && k%4 != 0 {
					continue
				}
				r := rand.New(rand.NewPCG(uint64(n), uint64(k)))
				x, values := make([][]float64, rows), make([]float32, 0, rows*n)
				for i := range x {
					for j := range n {
						v := float32(kind.at(r, j, n))
						x[i], values = append(x[i], float64(v)), append(values, v)
					}
				}
				A, err := tensor.FromDense([]int64{int64(rows), int64(n)}, tensor.Dense(2), tensor.ArrayOf(values))
				if err != nil {
					t.Fatal(err)
				}
				// Every kind of line is run in all ways, at different lengths.
				options := []string{"", []string{"[exclusive]", "[reverse]", "[reverse, exclusive]"}[(k+c)%3]}
				if n > 600 {
					options = options[(k+c)%2:][:1]
				}
				for _, option := range options {
					y, err := session.Eval(context.Background(), fmt.Sprintf("y(i,j) = logcumsumexp_j%s A(i,j)", option), Args{"A": A})
					if err != nil {
						t.Fatal(err)
					}
					checkLogs(t, fmt.Sprintf("%s%s, %d elements, grain %d", kind.name, option, n, run.grain), option, x, numbers(t, y))
				}
			}
		}
	}
}

// checkLogs compares the results of lines with those in f64.
func checkLogs(t *testing.T, what, option string, x [][]float64, got []float64) {
	t.Helper()
	for i, line := range x {
		n := len(line)
		in := make([]float64, n)
		place := func(j int) int {
			if option == "[reverse]" || option == "[reverse, exclusive]" {
				return n - 1 - j
			}
			return j
		}
		for j := range in {
			in[j] = line[place(j)]
		}
		want := runningLog(in)
		if option == "[exclusive]" || option == "[reverse, exclusive]" {
			want = append([]float64{math.Inf(-1)}, want[:n-1]...)
		}
		for j, w := range want {
			g := got[i*n+place(j)]
			unit := float64(math.Nextafter32(float32(math.Abs(w)), math.MaxFloat32)) - math.Abs(float64(float32(w)))
			allowed := unit
			if math.Abs(w) <= 256 {
				allowed = unit/2 + 0x1p-27
			}
			if g == w || g == float64(float32(w)) || math.IsNaN(g) && math.IsNaN(w) || math.Abs(g-w) <= allowed {
				continue
			}
			t.Errorf("%s: element %d of line %d is %v, want %v", what, j, i, g, w)
			return
		}
	}
}
