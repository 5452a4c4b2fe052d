package exec

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests merges of rows that begin alike (lower/merge.go).

// Rows of several operands that are alike, begin alike, or differ from the first
// coordinate on, of all lengths: unions of them have the entries that any has, and the
// values of the dense expression, bit for bit.
func TestUnionsOfRowsThatBeginAlike(t *testing.T) {
	const rows, cols = 300, 40
	rng := rand.New(rand.NewPCG(7, 11))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1)}
	pattern := make([][]int64, rows)
	for i := range pattern {
		for j := range int64(cols) {
			if i%10 != 0 && rng.Float64() < 0.2 {
				pattern[i] = append(pattern[i], j)
			}
		}
	}
	// like gives a row the coordinates of the common pattern, most often: without one of
	// them, with others, up to one, or none.
	like := func(i int) []int64 {
		row := slices.Clone(pattern[i])
		switch k := rng.IntN(10); {
		case k == 0 && len(row) > 0:
			at := rng.IntN(2) * rng.IntN(len(row))
			row = slices.Delete(row, at, at+1)
		case k == 1:
			row = append(row, rng.Int64N(cols), rng.Int64N(cols))
		case k == 2 && len(row) > 0:
			row = row[:rng.IntN(len(row))]
		case k == 3:
			row = nil
		}
		slices.Sort(row)
		return slices.Compact(row)
	}
	args := Args{}
	stored, dense := map[string][]bool{}, map[string][]float64{}
	for _, name := range []string{"A", "B", "D", "E"} {
		has, values := make([]bool, rows*cols), make([]float64, rows*cols)
		coords, entries := make([][]int64, 2), []float64{}
		for i := range rows {
			for _, j := range like(i) {
				x := rng.Float64() - 0.5
				if rng.IntN(20) == 0 {
					x = special[rng.IntN(len(special))]
				}
				coords[0], coords[1], entries = append(coords[0], int64(i)), append(coords[1], j), append(entries, x)
				has[i*cols+int(j)], values[i*cols+int(j)] = true, x
			}
		}
		x, err := tensor.FromCoords([]int64{rows, cols}, tensor.CSR, coords, tensor.ArrayOf(entries))
		if err != nil {
			t.Fatal(err)
		}
		args[name], stored[name], dense[name] = x, has, values
	}
	for _, test := range []struct {
		text  string
		names []string
		value func(x []float64) float64
	}{
		{"C(i,j) = A(i,j) + B(i,j)", []string{"A", "B"}, func(x []float64) float64 { return x[0] + x[1] }},
		{"C(i,j) = A(i,j) - A(i,j)*B(i,j) + B(i,j)", []string{"A", "B"}, nil},
		{"C(i,j) = A(i,j) + B(i,j) + D(i,j)", []string{"A", "B", "D"}, func(x []float64) float64 { return x[0] + x[1] + x[2] }},
		{"C(i,j) = A(i,j) + B(i,j) + D(i,j) - E(i,j)", []string{"A", "B", "D", "E"}, func(x []float64) float64 { return x[0] + x[1] + x[2] - x[3] }},
		{"C(i,j) = (A(i,j) != B(i,j))", []string{"A", "B"}, nil},
		{"C(i) = sum_j abs(A(i,j) - B(i,j))", []string{"A", "B"}, nil},
		{"C(i) = max_j (A(i,j) + B(i,j) + D(i,j))", []string{"A", "B", "D"}, nil},
		{"C(i) = argmin_j (A(i,j) - 2*B(i,j))", []string{"A", "B"}, nil},
		{"C(i) = count_{j in A} (A(i,j) > B(i,j))", []string{"A", "B"}, nil},
	} {
		now := Args{}
		for _, name := range test.names {
			now[name] = args[name]
		}
		var first *tensor.Tensor
		for _, threads := range []int{1, 3} {
			debug.ChunkGrain = 16
			sessions := both(t, WithThreads(threads))
			debug.ChunkGrain = 0
			for _, s := range sessions {
				got, err := s.Eval(context.Background(), test.text, now)
				if err != nil {
					t.Fatalf("%s: %v", test.text, err)
				}
				if first == nil {
					first = got
				}
				if diff := tensor.Diff(first, got); diff != "" {
					t.Errorf("%s, %d threads: another result than the first: %s", test.text, threads, diff)
				}
			}
		}
		if test.value == nil { // compared with the oracle elsewhere
			continue
		}
		at := 0
		values := tensor.View[float64](first.Values())
		coords, _, err := first.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		for p := range rows * cols {
			var x []float64
			in := false
			for _, name := range test.names {
				x, in = append(x, dense[name][p]), in || stored[name][p]
			}
			if !in {
				continue
			}
			if at == len(values) || coords[0][at] != int64(p/cols) || coords[1][at] != int64(p%cols) {
				t.Fatalf("%s: entry %d is not (%d,%d)", test.text, at, p/cols, p%cols)
			}
			if want := test.value(x); math.Float64bits(want) != math.Float64bits(values[at]) && !(math.IsNaN(want) && math.IsNaN(values[at])) {
				t.Errorf("%s: (%d,%d) is %v, want %v", test.text, p/cols, p%cols, values[at], want)
			}
			at++
		}
		if at != len(values) {
			t.Errorf("%s: %d entries, want %d", test.text, len(values), at)
		}
	}
}
