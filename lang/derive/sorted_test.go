package derive_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestChosenGradients compares gradients of running extremes and sorts, of matrices with ties, NaNs, explicit
// zeros and gaps, with a loop over the line: differences say nothing about ties.
func TestChosenGradients(t *testing.T) {
	testengine.Parallel(t)
	s := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Interp())))
	formats := []tensor.Format{tensor.Dense(2), tensor.CSR, tensor.CSC, tensor.DCSR, tensor.COO}
	words := []string{"cummax", "cummin", "sort"}
	for n := range 300 {
		r := rand.New(rand.NewPCG(uint64(n), 3))
		rows, cols := r.Int64N(4), 1+r.Int64N(5)
		a := few(t, r, rows, cols, formats[r.IntN(len(formats))])
		var weights []float64
		for range rows * cols {
			weights = append(weights, float64(1+r.IntN(9)))
		}
		up, err := tensor.FromDense([]int64{rows, cols}, tensor.Dense(2), tensor.ArrayOf(weights))
		must(err)
		word := words[r.IntN(3)]
		var options []string
		within, flattened := "", r.IntN(3) == 0
		switch {
		case word == "sort" && r.IntN(2) == 0:
			options = []string{"descending"}
		case word != "sort":
			for _, o := range []string{"exclusive", "reverse"} {
				if r.IntN(2) == 0 {
					options = append(options, o)
				}
			}
			if !flattened && r.IntN(2) == 0 {
				within = " in A"
			}
		}
		over := "j" + within
		if flattened {
			over = "i,j"
		}
		brackets := ""
		if len(options) > 0 {
			brackets = "[" + strings.Join(options, ", ") + "]"
		}
		src := fmt.Sprintf("y(i,j) = %s_{%s}%s A(i,j)", word, over, brackets)
		got, err := s.EvalGrad(context.Background(), src, "A", lacuna.Args{"A": a, "dy": up})
		if err != nil {
			t.Fatalf("%s, %v: %v", src, a, err)
		}
		if got.Format() != a.Format() || got.NNZ() != a.NNZ() {
			t.Errorf("%s: the gradient is %v, the operand %v", src, got, a)
		}
		want := chosen(a, weights, word, options, within != "", flattened)
		for i := range rows {
			for j := range cols {
				if x := got.At(i, j).Float64(); x != want[i*cols+j] {
					t.Fatalf("%s, %d: the gradient at (%d,%d) is %v, want %v\n%v", src, n, i, j, x, want[i*cols+j], a)
				}
			}
		}
	}
}

// few is a matrix of few different values.
func few(t *testing.T, r *rand.Rand, rows, cols int64, f tensor.Format) *tensor.Tensor {
	t.Helper()
	coords := [][]int64{{}, {}}
	values := []float64{}
	for i := range rows {
		for j := range cols {
			if !f.IsDense() && r.IntN(3) == 0 {
				continue
			}
			coords[0], coords[1] = append(coords[0], i), append(coords[1], j)
			values = append(values, []float64{0, 1, -1, 2, 0, 1, math.NaN()}[r.IntN(7)])
		}
	}
	a, err := tensor.FromCoords([]int64{rows, cols}, f, coords, tensor.ArrayOf(values))
	must(err)
	return a
}

// chosen hands out weights line by line; elements that are not stored get nothing.
func chosen(a *tensor.Tensor, weights []float64, word string, options []string, stored, flattened bool) []float64 {
	pattern, err := tensor.Pattern(a)
	must(err)
	rows, cols := a.Shape()[0], a.Shape()[1]
	grad := make([]float64, rows*cols)
	is := func(p int64) bool { return pattern.At(p/cols, p%cols).Bool() }
	var lines [][]int64
	for i := range rows {
		var line []int64
		for p := i * cols; p < (i+1)*cols; p++ {
			if !stored || is(p) {
				line = append(line, p)
			}
		}
		if flattened && i > 0 {
			lines[0] = append(lines[0], line...)
			continue
		}
		lines = append(lines, line)
	}
	value := func(p int64) float64 { return a.At(p/cols, p%cols).Float64() }
	for _, line := range lines {
		if word == "sort" {
			from := slices.Clone(line)
			slices.SortStableFunc(from, func(p, q int64) int {
				c := compareNaNLast(value(p), value(q))
				if slices.Contains(options, "descending") {
					return -c
				}
				return c
			})
			for k, p := range line {
				grad[from[k]] += weights[p]
			}
			continue
		}
		if slices.Contains(options, "reverse") {
			slices.Reverse(line)
		}
		best := int64(-1)
		for _, p := range line {
			before := best
			x := value(p)
			if best < 0 || math.IsNaN(x) || word == "cummax" && x >= value(best) || word == "cummin" && x <= value(best) {
				best = p
			}
			to := best
			if slices.Contains(options, "exclusive") {
				to = before
			}
			if to >= 0 {
				grad[to] += weights[p]
			}
		}
	}
	for p := range grad {
		if !is(int64(p)) {
			grad[p] = 0
		}
	}
	return grad
}

// compareNaNLast orders numbers, and NaN behind them.
func compareNaNLast(x, y float64) int {
	switch {
	case math.IsNaN(x) || math.IsNaN(y):
		switch {
		case math.IsNaN(x) && math.IsNaN(y):
			return 0
		case math.IsNaN(x):
			return 1
		}
		return -1
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
