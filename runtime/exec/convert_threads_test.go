package exec

import (
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests conversions by several threads (lower/convert).

// TestConvertThreads converts as much as several threads share, in the chunks of usual
// sessions: every number of threads gives the arrays of tensor.Tensor.Convert.
func TestConvertThreads(t *testing.T) {
	cpu, err := runtime.CPU()
	if err != nil {
		t.Skip(err) // interpreted it takes long, and TestConvertRandom does it with small chunks
	}
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(7))
	sessions := map[string]*Session{}
	for _, threads := range []int{1, 2, 3, 7} {
		s := NewSession(WithEngine(cpu), WithThreads(threads), WithConversionKernels())
		sessions[fmt.Sprintf("%d threads", threads)] = s
	}
	turn := 0
	// some are the session of one thread and another by turns: compiling is slow.
	some := func() map[string]*Session {
		turn++
		many := fmt.Sprintf("%d threads", []int{2, 3, 7}[turn%3])
		return map[string]*Session{"1 threads": sessions["1 threads"], many: sessions[many]}
	}
	r := rand.New(rand.NewPCG(8, 9))
	const entries = 150_000
	for _, c := range []struct {
		name     string
		n        int64
		distance int64 // of columns from the diagonal
	}{
		{"far", 20_000, 20_000},      // grouped
		{"near", 60_000, 30},         // one pass, many ranges of buckets
		{"one column", 20_000, 0},    // one bucket
		{"repeats", 300, 300},        // of lists: most entries
		{"wide", 1 << 32, 1<<32 - 1}, // no row for each column
	} {
		coords := make([][]int64, 2)
		for range entries {
			i := r.Int64N(c.n)
			j := int64(0)
			if c.distance > 0 {
				j = (i + r.Int64N(c.distance)) % c.n
			}
			coords[0], coords[1] = append(coords[0], i), append(coords[1], j)
		}
		rows, cols := make([]uint32, entries), make([]uint32, entries)
		values := make([]float64, entries)
		for p := range values {
			rows[p], cols[p], values[p] = uint32(coords[0][p]), uint32(coords[1][p]), r.NormFloat64()
		}
		shape := []int64{c.n, c.n}
		formats := []tensor.Format{tensor.CSR, tensor.CSC, tensor.DCSC, tensor.COO}
		if c.n > 1<<30 {
			formats = []tensor.Format{tensor.DCSR, tensor.DCSC, tensor.COO}
		}
		for i, from := range formats {
			a, err := tensor.FromCoords(shape, from, coords, tensor.ArrayOf(values))
			if err != nil {
				t.Fatal(err)
			}
			for name, s := range some() {
				got, err := s.FromCoords(t.Context(), shape, from, []tensor.Array{tensor.ArrayOf(rows), tensor.ArrayOf(cols)}, tensor.ArrayOf(values))
				if err == nil {
					err = sameArrays(got, a)
				}
				if err != nil {
					t.Fatalf("%s, %s: list to %s: %v", c.name, name, from, err)
				}
			}
			for k, to := range formats {
				if testengine.Thin(2, i, k) {
					continue
				}
				want, err := a.Convert(to)
				if err != nil {
					t.Fatal(err)
				}
				for name, s := range some() {
					got, err := s.Convert(t.Context(), a, to)
					if err == nil {
						err = sameArrays(got, want)
					}
					if err != nil {
						t.Fatalf("%s, %s: %s to %s: %v", c.name, name, from, to, err)
					}
				}
			}
		}
	}
	checkKernelsRan(t, sessions)
}
