package exec

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests what scatters leave out (lower/scatter/gap.go) and loops over all entries (lower/allentries.go).

// TestColumnsCountGaps reduces columns of matrices stored by rows: what is not stored
// is counted and folded in the end, or looked for beforehand in some of the rows. Columns
// of the input are full, full but for one row, empty, and in between; the results are
// exact in any order.
func TestColumnsCountGaps(t *testing.T) {
	const columns = 90
	r := rand.New(rand.NewPCG(7, 7))
	nan := math.NaN()
	sessions := lineSessions(t)
	turn := 0
	for k, fill := range []float64{0, 2, -1, nan} {
		rows := []int{7, 30}[k%2]
		dense := make([]float64, rows*columns)
		var coords [2][]int64
		var values []float64
		for p := range dense {
			dense[p] = fill
			i, j := int64(p/columns), int64(p%columns)
			if j == 1 || j == 3 && i != 20 || j != 2 && r.IntN(3) == 0 {
				dense[p] = float64(r.IntN(5) - 2)
				switch {
				case j == 1:
					dense[p] = -3 // with max, nothing that is not stored may come in
				case r.IntN(40) == 0:
					dense[p] = []float64{nan, math.Inf(1), math.Inf(-1)}[r.IntN(3)]
				}
				coords[0], coords[1], values = append(coords[0], i), append(coords[1], j), append(values, dense[p])
			}
		}
		folds := map[string]func(x, y float64) float64{
			"sum":  func(x, y float64) float64 { return x + y },
			"prod": func(x, y float64) float64 { return x * y },
			"max":  func(x, y float64) float64 { return max(x, y) }, // NaN if one is
			"min":  func(x, y float64) float64 { return min(x, y) },
		}
		start := map[string]float64{"sum": 0, "prod": 1, "max": math.Inf(-1), "min": math.Inf(1)}
		for _, f := range []tensor.Format{tensor.CSR, tensor.COO, tensor.DCSR, tensor.CSC} {
			a, err := tensor.FromCoords([]int64{int64(rows), columns}, f, coords[:], tensor.ArrayOf(values), tensor.WithFill(tensor.Float(tensor.Float64, fill)))
			if err != nil {
				t.Fatal(err)
			}
			for name, fold := range folds {
				for term, apply := range map[string]func(float64) float64{
					"A(i,j)":         func(v float64) float64 { return v },
					"max(A(i,j), 1)": func(v float64) float64 { return max(v, 1) },
				} {
					if turn++; testengine.Thin(3, turn) {
						continue
					}
					want := make([]float64, columns)
					for j := range want {
						want[j] = start[name]
						for i := range rows {
							want[j] = fold(want[j], apply(dense[i*columns+j]))
						}
					}
					text := fmt.Sprintf("y(j) = %s_i %s", name, term)
					for _, opts := range [][]Option{nil, {Result("y", tensor.Dense(1))}} {
						got := numbers(t, evalAll(t, sessions, text, Args{"A": a}, opts...))
						if !slices.EqualFunc(got, want, func(x, y float64) bool { return x == y || x != x && y != y }) {
							t.Errorf("%s, A %v with fill %v:\n got %v\nwant %v", text, f, fill, got, want)
						}
					}
				}
			}
		}
	}
}

// TestColumnsOfNothing reduces columns without rows, and rows without columns.
func TestColumnsOfNothing(t *testing.T) {
	sessions := lineSessions(t)
	for _, shape := range [][]int64{{0, 3}, {3, 0}, {0, 0}} {
		a, err := tensor.FromCoords(shape, tensor.CSR, [][]int64{{}, {}}, tensor.ArrayOf([]float64{}), tensor.WithFill(tensor.Float(tensor.Float64, 2)))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range numbers(t, evalAll(t, sessions, "y(j) = sum_i A(i,j)", Args{"A": a})) {
			if v != 0 {
				t.Errorf("%v: a sum over no rows is %v", shape, v)
			}
		}
	}
}

// TestManyRows counts rows in a column of more than 2^32 that are not stored.
func TestManyRows(t *testing.T) {
	sessions := lineSessions(t)
	a, err := tensor.FromCoords([]int64{1 << 40, 2}, tensor.DCSR, [][]int64{{5, 1 << 39}, {0, 0}}, tensor.ArrayOf([]float64{-3, -4}), tensor.WithFill(tensor.Float(tensor.Float64, -1)))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][2]float64{
		"y(j) = max_i A(i,j)": {-1, -1},
		"y(j) = min_i A(i,j)": {-4, -1},
		"y(j) = sum_i A(i,j)": {-7 - (1<<40 - 2), -(1 << 40)},
	} {
		if got := numbers(t, evalAll(t, sessions, text, Args{"A": a})); !slices.Equal(got, want[:]) {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
}

// TestLogScanInPasses compares lines that are run in passes with the same lines side by
// side, which are run step by step: bits must agree. Pieces begin and end among numbers,
// maxima, infinities and NaN.
func TestLogScanInPasses(t *testing.T) {
	sessions := lineSessions(t)
	const lines, length = 9, 1000
	r := rand.New(rand.NewPCG(8, 8))
	inf := math.Inf(1)
	rows, columns := make([]float64, lines*length), make([]float64, lines*length)
	for g := range lines {
		for k := range length {
			v := 3 * r.NormFloat64()
			switch g {
			case 1: // a new maximum at every step
				v = float64(k)
			case 2:
				v = -float64(k)
			case 3:
				v = math.Inf(-1)
			case 4:
				v = []float64{v, -inf}[k%2]
			case 5:
				v = []float64{v, inf}[min(1, k/256)]
			case 6:
				v = []float64{v, math.NaN()}[min(1, k/255)]
			case 7:
				v = []float64{v, math.NaN(), inf, -inf}[r.IntN(300)%4*(k/700)]
			case 8:
				v *= 300
			}
			rows[g*length+k], columns[k*lines+g] = v, v
		}
	}
	a, err1 := tensor.FromDense([]int64{lines, length}, tensor.Dense(2), tensor.ArrayOf(rows))
	b, err2 := tensor.FromDense([]int64{length, lines}, tensor.Dense(2), tensor.ArrayOf(columns))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, options := range []string{"", "[exclusive]", "[reverse]", "[exclusive, reverse]"} {
		x := numbers(t, evalAll(t, sessions, "y(i,j) = logcumsumexp_j"+options+" A(i,j)", Args{"A": a}))
		y := numbers(t, evalAll(t, sessions, "y(i,j) = logcumsumexp_i"+options+" A(i,j)", Args{"A": b}))
		for g := range lines {
			for k := range length {
				v, w := x[g*length+k], y[k*lines+g]
				if math.Float64bits(v) != math.Float64bits(w) && (v == v || w == w) {
					t.Fatalf("logcumsumexp%s: element %d of line %d is %v in passes, %v step by step", options, k, g, v, w)
				}
			}
		}
		if g := 1; options == "" {
			if want := 999 + math.Log(1/(1-math.Exp(-1))); math.Abs(x[g*length+999]-want) > 1e-12*want {
				t.Errorf("the last of an ascending line is %v, want %v", x[g*length+999], want)
			}
		}
	}
}

// TestRowsOfCoordinates compares programs over a list of coordinates, whose rows are
// walked without a search for their ends where nobody needs those, with the same over
// rows that have pointers. Sums are exact in any order.
func TestRowsOfCoordinates(t *testing.T) {
	sessions := lineSessions(t)
	const rows, columns = 30, 30
	r := rand.New(rand.NewPCG(9, 9))
	for _, fill := range []float64{0, -1} {
		var coords [2][]int64
		var values []float64
		for i := range int64(rows) {
			for j := range int64(columns) {
				if i%7 == 3 && j == 5 || i%5 == 0 && r.IntN(3) > 0 || i == 11 {
					coords[0], coords[1], values = append(coords[0], i), append(coords[1], j), append(values, float64(r.IntN(33)-16)/4)
				}
			}
		}
		vector := make([]float64, columns)
		for j := range vector {
			vector[j] = float64(r.IntN(33)-16) / 4
		}
		x, err := tensor.FromDense([]int64{columns}, tensor.Dense(1), tensor.ArrayOf(vector))
		if err != nil {
			t.Fatal(err)
		}
		some, err := tensor.FromCoords([]int64{columns}, tensor.CSF(1), [][]int64{{2, 5, 17}}, tensor.ArrayOf([]float64{1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		of := func(f tensor.Format) *tensor.Tensor {
			a, err := tensor.FromCoords([]int64{rows, columns}, f, coords[:], tensor.ArrayOf(values), tensor.WithFill(tensor.Float(tensor.Float64, fill)))
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		for _, text := range []string{
			"y(i) = sum_j A(i,j)",
			"y(i) = max_j A(i,j)",
			"y(i) = any_j (A(i,j) > 1)",
			"y(i) = logsumexp_j A(i,j)",
			"y(i) = argmax_j A(i,j)",
			"y(i) = sum_{j in A} A(i,j)",
			"y(i) = sum_j A(i,j) * x(j)",
			"y(i) = sum_j (A(i,j) + x(j))",
			"y(i) = sum_j A(i,j) * v(j)",
			"y(i) = sum_j (A(i,j) + v(j))",
			"y(i) = sum_j A(i,j) * A(i,j) + i",
			"y(i) = sum_j A(i,j) * x(j) + max_j A(i,j)",
			"y(i) = sum_j A(i,2*j)",
			"y(j) = sum_i A(i,j)",
			"y(j) = sum_i A(i,j) * i",
			"y(j) = max_i A(i,j) * x(j)",
			"y(j) = sum_i A(i,j) * v(j)",
			"y(j) = min_i A(i,j) * x(i)",
			"y(j) = sum_i A(i,j) * sum_k A(i,k)",
			"Y(i,j) = A(i,j) * 2",
			"Y(i,j) = A(i,j) + x(j)",
			"Y(j,i) = A(i,j) * x(j)",
		} {
			// Results are dense for both, so that it is the loops that differ.
			name := text[:1]
			rank := 1
			if name == "Y" {
				rank = 2
			}
			var first *tensor.Tensor
			for _, f := range []tensor.Format{tensor.CSR, tensor.COO, tensor.DCSR} {
				args, options := Args{"A": of(f)}, []Option{Operand("A", of(f)), Result(name, tensor.Dense(rank))}
				if strings.Contains(text, "x(j)") || strings.Contains(text, "x(i)") {
					args["x"], options = x, append(options, Operand("x", x))
				}
				if strings.Contains(text, "v(") {
					args["v"], options = some, append(options, Operand("v", some))
				}
				for s, session := range sessions {
					k, err := session.Compile(t.Context(), text, options...)
					if err != nil {
						t.Fatalf("%s: %v", text, err)
					}
					got, err := k.Run(context.Background(), args)
					if err != nil {
						t.Fatalf("%s: %v", text, err)
					}
					if first == nil {
						first = got
					} else if d := tensor.Diff(first, got); d != "" {
						t.Errorf("%s, A %v with fill %v, session %d: %s", text, f, fill, s, d)
					}
				}
			}
		}
	}
}
