package grids_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Grids walk the rows of a list of coordinates only once it is stored by rows: in all of
// them, if another tensor has room for each, else in those that are not empty. The sum of
// a whole list needs no rows.
func TestListsByRowsOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	dense := tensor.Dense(1)
	for _, c := range []struct {
		text    string
		out     tensor.Format
		convert []string
	}{
		{"y(i) = sum_j A(i,j)", dense, []string{"A: COO to CSR"}},
		{"y(i) = max_j A(i,j)", dense, []string{"A: COO to CSR"}},
		{"y(i) = A(i,j)*x(j)", dense, []string{"A: COO to CSR"}},
		{"y(i) = sum_j A(i,j)", tensor.Coordinates(1), []string{"A: COO to DCSR"}},
		{"y(i) = A(i,j)*x(i)", dense, []string{"A: COO to CSR"}},
		{"y(j) = sum_i A(i,j)", dense, []string{"A: COO to DCSC"}},
		{"y = sum_{i,j} A(i,j)", tensor.Dense(0), nil},
		{"y(i,j) = A(i,j) + B(i,j)", tensor.CSR, []string{"A: COO to CSR", "B: COO to CSR"}},
		{"y(i,k) = A(i,j)*D(j,k)", tensor.Dense(2), []string{"A: COO to CSR"}},
		{"y(i) = sum_{j,k} T(i,j,k)", dense, []string{"T: COO to C-DC-S"}},
	} {
		t.Run(c.text+" "+c.out.String(), func(t *testing.T) {
			opts := []lacuna.Option{lacuna.Format("y", c.out, tensor.Float64)}
			formats := map[string]tensor.Format{"A": tensor.COO, "B": tensor.COO, "D": tensor.Dense(2), "T": tensor.Coordinates(3), "x": dense}
			for name, f := range formats {
				if strings.Contains(c.text, " "+name+"(") || strings.Contains(c.text, "*"+name+"(") {
					opts = append(opts, lacuna.Format(name, f, tensor.Float64))
				} else {
					delete(formats, name)
				}
			}
			grids := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())), lacuna.WithConversionKernels())
			k, err := grids.Compile(t.Context(), c.text, opts...)
			if err != nil {
				t.Fatal(err)
			}
			var converted []string
			for _, line := range k.Conversions() {
				converted = append(converted, line[:strings.LastIndex(line, ":")])
			}
			if slices.Sort(converted); !slices.Equal(converted, c.convert) {
				t.Errorf("stored again: %q, want %q", converted, c.convert)
			}
			serial := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
			for _, n := range []int64{1, 2, 31, 32, 33, 90} {
				args := lacuna.Args{}
				for name, f := range formats {
					shape := slices.Repeat([]int64{n}, f.Rank())
					if f.Rank() == 3 {
						shape[2] = 2
					}
					args[name] = similarIntegers(t, shape, f, tensor.Float64, uint64(n), uint64(len(args)))
				}
				got, err := k.Run(context.Background(), args)
				if err != nil {
					t.Fatal(n, err)
				}
				want, err := serial.Eval(context.Background(), c.text, args, opts[0])
				if err != nil {
					t.Fatal(n, err)
				}
				if !tensor.Equal(got, want) {
					t.Errorf("%d rows: got %v, want %v", n, got, want)
				}
			}
		})
	}
}
