package exec

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests scatters on grids (lower/gpu/scatter.go).

// Scatters of floats on grids have the bits of those on one thread: what falls to an
// element is folded in order.
func TestScatterOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	r := rand.New(rand.NewPCG(3, 5))
	grid, one := gridSession(t, 0), NewSession(WithEngine(runtime.Interp()))
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.Float16, tensor.Complex128} {
		numbers := func(n int64) *tensor.Tensor {
			x := randomLines(t, 1, n, tensor.Float64, nil)
			array, err := tensor.ArrayOf(tensor.View[float64](x.Values())).Convert(dt)
			if err != nil {
				t.Fatal(err)
			}
			v, err := tensor.FromDense([]int64{n}, tensor.Dense(1), array)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for _, text := range []string{"y(p(i)) += x(i)/3", "y(p(i)) *= x(i)", "y(p(i)) min= x(i)", "B(i,p(j)) += x(i)*x(j)"} {
			if dt.IsComplex() && text == "y(p(i)) min= x(i)" {
				continue // which have no order
			}
			for _, n := range []int64{0, 1, 31, 32, 33, 1000} {
				places := make([]int64, n)
				for i := range places {
					places[i] = r.Int64N(9)
				}
				args := Args{"x": numbers(n), "p": indices(places...), "y": numbers(9)}
				if text[0] == 'B' {
					if n > 33 {
						continue // simulated long enough
					}
					delete(args, "y")
					array, err := tensor.ArrayOf(make([]float64, n*9)).Convert(dt)
					if err != nil {
						t.Fatal(err)
					}
					if args["B"], err = tensor.FromDense([]int64{n, 9}, tensor.Dense(2), array); err != nil {
						t.Fatal(err)
					}
				}
				want, err := one.Eval(t.Context(), text, args)
				if err != nil {
					t.Fatal(err)
				}
				got, err := grid.Eval(t.Context(), text, args)
				if err != nil {
					t.Fatal(err)
				}
				if err := sameArrays(got, want); err != nil {
					t.Errorf("%s of %v, %d: %v", text, dt, n, err)
				}
			}
		}
	}
}

// Scatters of rows, of two indices and of entries that are stored have those bits too.
func TestScattersOfMatricesOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	r := rand.New(rand.NewPCG(7, 5))
	grid, one := gridSession(t, 0), NewSession(WithEngine(runtime.Interp()), WithThreads(1))
	for d, dt := range []tensor.DType{tensor.Float64, tensor.BFloat16, tensor.Complex64, tensor.Int8, tensor.Bool} {
		for s, shape := range [][2]int64{{0, 3}, {3, 0}, {1, 1}, {31, 33}, {200, 5}} {
			places := func(n, below int64) *tensor.Tensor {
				list := make([]int64, n)
				for i := range list {
					list[i] = r.Int64N(below)
				}
				return indices(list...)
			}
			matrix := randomLines(t, shape[0], shape[1], dt, nil)
			zeros := func(shape ...int64) *tensor.Tensor {
				n := int64(1)
				for _, d := range shape {
					n *= d
				}
				array, err := tensor.ArrayOf(make([]float64, n)).Convert(dt)
				if err != nil {
					t.Fatal(err)
				}
				x, err := tensor.FromDense(shape, tensor.Dense(len(shape)), array)
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			all := Args{"p": places(shape[0], 7), "q": places(shape[1], 90)}
			for k, test := range []struct {
				text string
				y    *tensor.Tensor
			}{
				{"y(p(i),q(j)) += A(i,j)", zeros(7, 90)},
				{"y(p(i),j) += A(i,j)", zeros(7, shape[1])},
				{"y(i,q(j)) += A(i,j)", zeros(shape[0], 90)},
				{"y(p(i)) += A(i,j)*A(i,j)", zeros(7)},
				{"y(q(j)) max= A(i,j)", zeros(90)},
				{"y(q(j)) *= 2+A(i,j)", zeros(90)},
			} {
				for f, format := range []tensor.Format{tensor.Dense(2), tensor.CSR, tensor.COO} {
					if testengine.Thin(5, d, s, k, f) || dt.IsComplex() && strings.Contains(test.text, "max") || dt == tensor.Bool && strings.ContainsAny(test.text, "2*x") {
						continue
					}
					a, err := matrix.Convert(format)
					if err != nil {
						t.Fatal(err)
					}
					args := Args{"A": a, "y": test.y}
					for name, x := range all {
						if strings.Contains(test.text, name+"(") {
							args[name] = x
						}
					}
					want, err := one.Eval(t.Context(), test.text, args)
					if err != nil {
						t.Fatal(test.text, dt, format, err)
					}
					got, err := grid.Eval(t.Context(), test.text, args)
					if err != nil {
						t.Fatal(test.text, dt, format, err)
					}
					if err := sameArrays(got, want); err != nil {
						t.Errorf("%s of a %s matrix of %v, %d x %d: %v", test.text, format, dt, shape[0], shape[1], err)
					}
				}
			}
		}
	}
}

// A scatter whose other operand is a sparse vector makes no table of it on grids, where one thread would
// have to go through all: its updates are sorted as others are, and folded in the same order.
func TestScatterOfProductsOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	r := rand.New(rand.NewPCG(4, 5))
	grid, one := gridSession(t, 0), NewSession(WithEngine(runtime.Interp()))
	for _, rows := range []int64{0, 1, 31, 33, 200} {
		for _, stored := range []int{0, 1, 33} {
			vector := func(n int64, entries int) *tensor.Tensor {
				coords, values := make([]int64, entries), make([]float64, entries)
				for i := range coords {
					coords[i], values[i] = r.Int64N(n), r.Float64()
				}
				x, err := tensor.FromCoords([]int64{n}, tensor.Coordinates(1), [][]int64{coords}, tensor.ArrayOf(values))
				if err != nil {
					t.Fatal(err)
				}
				return x
			}
			places, coords := make([]int64, rows), make([][]int64, 2)
			var values []float64
			for i := range places {
				places[i] = r.Int64N(9)
				for range r.IntN(6) {
					coords[0], coords[1] = append(coords[0], int64(i)), append(coords[1], r.Int64N(50))
					values = append(values, r.Float64())
				}
			}
			A, err := tensor.FromCoords([]int64{rows, 50}, tensor.CSR, coords, tensor.ArrayOf(values))
			if err != nil {
				t.Fatal(err)
			}
			y, err := tensor.FromDense([]int64{9}, tensor.Dense(1), tensor.ArrayOf(make([]float64, 9)))
			if err != nil {
				t.Fatal(err)
			}
			args := Args{"A": A, "x": vector(50, stored), "p": indices(places...), "y": y}
			const text = "y(p(i)) += A(i,j)*x(j)"
			want, err := one.Eval(t.Context(), text, args)
			if err != nil {
				t.Fatal(err)
			}
			got, err := grid.Eval(t.Context(), text, args)
			if err != nil {
				t.Fatal(err)
			}
			if d := tensor.Diff(got, want); d != "" {
				t.Errorf("%d rows, %d stored: %s", rows, stored, d)
			}
			k, err := grid.Compile(t.Context(), text, Operand("A", A), Operand("x", args["x"]), Operand("p", args["p"]), Operand("y", y))
			if err != nil {
				t.Fatal(err)
			}
			grids, err := k.Explain("grids")
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(grids, "compute_by_one_thread") || !strings.Contains(grids, "compute_by_runs") {
				t.Error("one thread makes the updates")
			}
		}
	}
}
