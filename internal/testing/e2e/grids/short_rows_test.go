package grids_test

import (
	"fmt"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Where no row is long, products are made otherwise than where one is, which the host learns in the first runs: each run has the
// bits of the first, on the host and on the device. The simulated device takes rows of two entries to be long, so that
// whether sums keep their order is seen on a device alone, where there are more entries.
func TestShortRows(t *testing.T) {
	testengine.Interpreted(t)
	device := testengine.Or(t, runtime.Simulated())
	n := int64(1500) // entries, more than few
	if device.Name() == runtime.CUDAName {
		n = 40_000
	}
	for k, longest := range []int64{0, 1, 1, 2, 9, 9, 300} {
		exact := k%3 != 2 // sums are the same in every order
		coords := make([][]int64, 2)
		var values []float64
		for i := range n {
			row := i
			if i < longest {
				row = 7 // which has as many entries
			} else if longest == 0 {
				break
			}
			coords[0], coords[1] = append(coords[0], row), append(coords[1], i)
			if values = append(values, float64(i%5)-1.5); !exact {
				values[i] = 1 / float64(3+i%97)
			}
		}
		A, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, coords, tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		x, X := make([]float64, n), make([]float64, 3*n)
		for i := range x {
			x[i], X[3*i], X[3*i+1], X[3*i+2] = float64(i%11)-4.25, float64(i%7), -float64(i%3), 0.5
		}
		vector, err := tensor.NewDense(x, n)
		if err != nil {
			t.Fatal(err)
		}
		matrix, err := tensor.NewDense(X, n, 3)
		if err != nil {
			t.Fatal(err)
		}
		serial := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
		grids := lacuna.NewSession(lacuna.WithEngine(device))
		there, err := grids.ToDevice(t.Context(), A)
		if err != nil {
			t.Fatal(err)
		}
		for text, args := range map[string]lacuna.Args{"y(i) = A(i,j)*x(j)": {"x": vector}, "Y(i,k) = A(i,j)*X(j,k)": {"X": matrix}, "z(i) = A(i,j)": {}} {
			args["A"] = A
			want, err := serial.Eval(t.Context(), text, args)
			if err != nil {
				t.Fatal(err)
			}
			var first *tensor.Tensor
			for turn, a := range []*tensor.Tensor{A, there, there, there, A} {
				args["A"] = a
				got, err := grids.Eval(t.Context(), text, args)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s, longest row %d, turn %d", text, longest, turn)
				if exact && !tensor.Equal(got, want) {
					t.Errorf("%s: not what one thread makes", name)
				}
				if first == nil {
					first = got
				} else if !tensor.Equal(got, first) {
					t.Errorf("%s: not the bits of the first turn", name)
				}
			}
		}
	}
}
