package exec

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares what the optimiser estimates (ir/logic/estimate.go) with what is.

// patterns make matrices of n by n with about so many entries.
var patterns = map[string]func(r *rand.Rand, n, entries int64) [2]int64{
	"uniform": func(r *rand.Rand, n, _ int64) [2]int64 { return [2]int64{r.Int64N(n), r.Int64N(n)} },
	"power":   func(r *rand.Rand, n, _ int64) [2]int64 { return rmatEdge(r, n) },
	"banded": func(r *rand.Rand, n, entries int64) [2]int64 {
		i, width := r.Int64N(n), 2*entries/n
		return [2]int64{i, min(max(i+r.Int64N(width)-width/2, 0), n-1)}
	},
	"blocks": func(r *rand.Rand, n, entries int64) [2]int64 {
		size := 2 * entries / n
		b := r.Int64N(n / size)
		return [2]int64{b*size + r.Int64N(size), b*size + r.Int64N(size)}
	},
}

// rmatEdge is an edge of a graph with a power law (Chakrabarti, Zhan and Faloutsos, R-MAT, 2004).
func rmatEdge(r *rand.Rand, n int64) [2]int64 {
	var at [2]int64
	for size := int64(1); size < n; size *= 2 {
		x := r.Float64()
		at[0], at[1] = 2*at[0], 2*at[1]
		if x >= 0.76 {
			at[0]++
		}
		if x >= 0.57 && x < 0.76 || x >= 0.95 {
			at[1]++
		}
	}
	return at
}

// TestEstimates compares the entries that are estimated of intermediates with those that they have, for programs that are run as they are written, on data of
// four kinds. Nine of ten are within a factor of four; -v prints all.
func TestEstimates(t *testing.T) {
	n, entries := int64(1<<10), int64(8<<10)
	if testing.Short() {
		n, entries = n/2, entries/2
	}
	ctx := context.Background()
	s := NewSession(WithEngine(runtime.Interp()))
	var ratios []float64
	for _, kind := range []string{"uniform", "power", "banded", "blocks"} {
		r := rand.New(rand.NewPCG(7, 7))
		args := Args{}
		for _, name := range []string{"A", "B"} {
			var coords [2][]int64
			for range entries {
				at := patterns[kind](r, n, entries)
				coords[0], coords[1] = append(coords[0], at[0]), append(coords[1], at[1])
			}
			ones := make([]float64, entries)
			for i := range ones {
				ones[i] = 1
			}
			x, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, coords[:], tensor.ArrayOf(ones))
			if err != nil {
				t.Fatal(err)
			}
			args[name] = x
		}
		for _, text := range []string{
			"C(i,k) = A(i,j)*B(j,k)",
			"C(i,k) = A(i,j)*A(j,k)",
			"C(i,k) = A(i,j)*A(k,j)",
			"C(i,j) = A(i,j)+B(i,j)",
			"C(i,j) = A(i,j)*B(i,j)",
			"C(i,j) = A(i,j)*A(i,j)",
			"C(i,j) = A(i,j)+A(j,i)",
			"C(i,k) = A(i,j)*B(j,k); D(i,l) = C(i,k)*A(k,l)",
			"C(i,k) = A(i,j)*B(j,k); E(i,k) = C(i,k)*A(i,k)",
			"C(i,j) = A(i,j)+B(i,j); D(i,k) = C(i,j)*B(j,k)",
			"y(i) = A(i,j); C(i,j) = A(i,j)*y(j)",
		} {
			used := Args{"A": args["A"]}
			opts := []declare.Option{declare.AsWritten()}
			for _, name := range []string{"B", "C", "D", "E"} {
				switch {
				case !strings.Contains(text, name):
				case name == "B":
					used[name] = args[name]
				default:
					opts = append(opts, declare.Result(name, tensor.CSR))
				}
			}
			k, err := s.kernelFor(ctx, text, used, opts)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			p, _, err := k.Profile(ctx, used)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			for _, step := range p.Steps {
				if step.Estimate == nil {
					continue
				}
				ratio := step.Estimate.Entries / float64(max(step.Entries, 1))
				ratios = append(ratios, max(ratio, 1/ratio))
				t.Logf("%-8s %-30s %8.0f estimated, %8d entries: %.2f", kind, step.What, step.Estimate.Entries, step.Entries, ratio)
			}
		}
	}
	slices.Sort(ratios)
	within, _ := slices.BinarySearch(ratios, math.Nextafter(4, 5))
	share := float64(within) / float64(len(ratios))
	t.Logf("%d intermediates, %.0f %% within a factor of 4, the worst off by %.1f", len(ratios), 100*share, ratios[len(ratios)-1])
	if len(ratios) < 48 || share < 0.9 {
		t.Errorf("%.0f %% of %d estimates are within a factor of 4", 100*share, len(ratios))
	}
}
