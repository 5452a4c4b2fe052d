package exec

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests sums of matrices of one pattern (lower/meshsum.go).

// TestSumsOfOnePattern adds up matrices of 700 rows that store the same but for one row, or but for one column in a row of the same length: blocks of
// rows are added up as a whole where they can be. Every element is the sum in the order of the terms, from 0 on, so that a sum of -0 is 0.
func TestSumsOfOnePattern(t *testing.T) {
	const rows, columns, terms = 700, 90, 6
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	}
	for _, c := range []struct {
		name string
		odd  func(term int, row, entry int64) int64 // the column in place of the usual, -1 for none
	}{
		{"all alike", func(_ int, row, entry int64) int64 { return (row + 7*entry) % columns }},
		{"one entry less", func(term int, row, entry int64) int64 {
			if term == 3 && row == 300 && entry == 2 {
				return -1
			}
			return (row + 7*entry) % columns
		}},
		{"another column", func(term int, row, entry int64) int64 {
			if term == 5 && row == 0 && entry == 0 {
				return columns - 1
			}
			return (row + 7*entry) % columns
		}},
		{"empty rows", func(term int, row, entry int64) int64 {
			if row%3 != 0 || row > 500 {
				return -1
			}
			return (row + 7*entry) % columns
		}},
	} {
		args := Args{}
		want := map[[2]int64]float64{}
		text := "C(i,j) = "
		for term := range terms {
			var coords [2][]int64
			var vals []float64
			for row := range int64(rows) {
				for entry := range int64(4) {
					column := c.odd(term, row, entry)
					if column < 0 {
						continue
					}
					x := math.Sin(float64(row*100+entry*7) + float64(term))
					if row == 5 {
						x = math.Copysign(0, -1)
					}
					coords[0], coords[1], vals = append(coords[0], row), append(coords[1], column), append(vals, x)
					want[[2]int64{row, column}] += x
				}
			}
			name := fmt.Sprint("A", term)
			a, err := tensor.FromCoords([]int64{rows, columns}, tensor.CSR, coords[:], tensor.ArrayOf(vals))
			if err != nil {
				t.Fatal(err)
			}
			args[name] = a
			if term > 0 {
				text += " + "
			}
			text += name + "(i,j)"
		}
		for _, engine := range engines {
			for _, how := range []string{"", " with assemble(counted)", " with assemble(joined)"} {
				for _, threads := range []int{1, 3} {
					got, err := NewSession(WithEngine(engine), WithThreads(threads)).Eval(context.Background(), text+how, args, Result("C", tensor.CSR))
					if err != nil {
						t.Fatalf("%s%s: %v", c.name, how, err)
					}
					if _, err := tensor.New(got.Shape(), got.Format(), got.Levels(), got.Values()); err != nil || got.NNZ() != int64(len(want)) {
						t.Fatalf("%s%s, engine %s: %v, %v, want %d entries", c.name, how, engine.Name(), got, err, len(want))
					}
					for at, x := range want {
						if y := got.At(at[0], at[1]).Float64(); math.Float64bits(x) != math.Float64bits(y) {
							t.Fatalf("%s%s, engine %s: element %v is %v, want %v", c.name, how, engine.Name(), at, y, x)
						}
					}
				}
			}
		}
	}
}
