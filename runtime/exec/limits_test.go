package exec

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests that what was measured of a machine (internal/cost/limits.go) changes no bit.

// TestLimitsLeaveBits runs programs as two machines would on which other times were measured, of which one chooses what the other does not: the
// results have the same bits.
func TestLimitsLeaveBits(t *testing.T) {
	const rows, columns, each = 300, 20000, 12
	r := rand.New(rand.NewPCG(3, 4))
	matrix := func(m, n int64) *tensor.Tensor {
		var coords [2][]int64
		var values []float64
		for i := range m {
			for range each {
				coords[0], coords[1] = append(coords[0], i), append(coords[1], r.Int64N(n))
				values = append(values, r.NormFloat64())
			}
		}
		x, err := tensor.FromCoords([]int64{m, n}, tensor.CSR, coords[:], tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	vector := func(n int64, entries int) *tensor.Tensor {
		var at []int64
		var values []float64
		for range entries {
			at, values = append(at, r.Int64N(n)), append(values, r.NormFloat64())
		}
		x, err := tensor.FromCoords([]int64{n}, tensor.CSF(1), [][]int64{at}, tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	args := Args{"A": matrix(rows, rows), "B": matrix(rows, columns), "x": vector(columns, 400)}
	small := cost.Limits{DenseKeys: 1, PlacesPerEntry: 1, Galloping: 1 << 40, HandOver: 1, CompileEntries: 1}
	large := cost.Limits{DenseKeys: 1 << 40, PlacesPerEntry: 1 << 40, Galloping: 1, HandOver: 1 << 40, CompileEntries: 1 << 40}
	for _, test := range []struct{ program, small, large string }{
		{"C(i,k) = A(i,j)*B(j,k)", "workspaces: hash", "workspaces: dense"},
		{"y(i) = B(i,j)*x(j)", "", ""},
		{"C(i,j) = A(i,j) + 2*A(j,i)", "", ""},
	} {
		var results []*tensor.Tensor
		for _, side := range []struct {
			limits *cost.Limits
			chose  string
		}{{&small, test.small}, {&large, test.large}} {
			s := NewSession(WithThreads(2))
			s.env.asked = side.limits
			used := Args{}
			for name, o := range args {
				if strings.Contains(test.program, name) {
					used[name] = o
				}
			}
			k, err := s.kernelFor(context.Background(), test.program, used, nil)
			if err != nil {
				t.Fatalf("%s: %v", test.program, err)
			}
			var out *tensor.Tensor
			for range cost.SmallRuns + 2 { // small runs have a program of their own after a while
				if out, err = k.Run(context.Background(), used); err != nil {
					t.Fatalf("%s: %v", test.program, err)
				}
			}
			if text, err := k.Explain("lattice"); err != nil || !strings.Contains(text, side.chose) {
				t.Errorf("%s with %+v: want %q, %v:\n%s", test.program, *side.limits, side.chose, err, text)
			}
			results = append(results, out)
		}
		if diff := tensor.Diff(results[0], results[1]); diff != "" {
			t.Errorf("%s: %s", test.program, diff)
		}
	}
}
