package gpu_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestExtremes compares what atomics make of floats with one thread's.
func TestExtremes(t *testing.T) {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), math.MaxFloat64, 5e-324, -5e-324, -1, 1, -2, 3}
	r := rand.New(rand.NewPCG(1, 2))
	for op, fold := range map[string]func(x, y float64) float64{
		"min": func(x, y float64) float64 { return min(x, y) }, "max": func(x, y float64) float64 { return max(x, y) },
	} {
		for _, order := range []string{"(y[at], t)", "(t, y[at])"} {
			program := strings.Replace(floatScatter, "y[at] + t", op+order, 1)
			text := mapped(t, program).String()
			for _, stage := range []string{"compute_by_keys", "compute_by_extremes", "compute_by_values"} {
				if !strings.Contains(text, "stage "+stage+" {") {
					t.Fatalf("no stage %s in\n%s", stage, text)
				}
			}
			e := simulated(t, program)
			for _, kinds := range []int{len(special), 5, 1} {
				n, m := int64(300), int64(40)
				p, x, want := make([]uint32, n), make([]float64, n), make([]float64, m)
				for i := range p {
					p[i], x[i] = uint32(r.Int64N(m)), special[len(special)-1-r.IntN(kinds)]
					if i%3 != 2 {
						want[p[i]] = fold(want[p[i]], x[i])
					}
				}
				y, err := scatterInto(t, e, p, x, m)
				if err != nil {
					t.Fatal(err)
				}
				for i, got := range y {
					if got != want[i] && !(math.IsNaN(got) && math.IsNaN(want[i])) {
						t.Errorf("%s%s, element %d: %v, want %v", op, order, i, got, want[i])
					}
				}
			}
		}
	}
}
