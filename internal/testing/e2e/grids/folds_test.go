package grids_test

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Folds to one number that threads of grids take by entries of a matrix, whatever their rows: with the rest of the value read by the column alone, or searched for in
// other matrices, whose row is then found by search. Rows are full, empty and of a few entries; the values are small
// integers, so that every order of a sum gives the same bits.
func TestFoldsOfEntriesOnGrids(t *testing.T) {
	testengine.Interpreted(t)
	for i, c := range []struct {
		text  string
		wants string // in the loops
	}{
		{"s = A(i,j)*x(j)", "cut0 of A1_pos[A_dim0] "},
		{"s = sum_{i,j} A(i,j)*(x(j) + 1)*x(j)", "cut0 of A1_pos[A_dim0] "},
		{"s = max_{i,j} A(i,j)*x(j)", ""},
		{"s = any_{i,j} (A(i,j)*x(j) > 2)", ""},
		{"s = sum_{i,j} (A(i,j)*x(j) + 1)", ""}, // gaps count
		{"s = sum_{i,j} A(i,j)*x(j)*y(i)", ""},
		{"s = A(i,j)*B(j,k)*A(k,i)", "middle"},
		{"s = A(i,j)*B(j,k)*G(i,k)", "middle"},
		{"s = A(i,j)*B(j,k)*G(i,k)*x(k)*y(i)", "middle"},
		{"s = A(i,j)*A(i,j)*B(j,k)*G(i,k)", ""},
		{"s = A(i,j)*B(j,l)*G(k,l)", "middle"},
		{"s = A(i,j)*B(j,k)*G(j,k)", ""},
		{"s = max_{i,j,k} A(i,j)*B(j,k)*G(i,k)", ""},
		{"s = sum_{i,j,k} A(i,j)*(B(j,k)*G(i,k) + 1)", ""},
		{"s = sum_{i,j,k} (A(i,j) + 1)*B(j,k)*G(i,k)", ""},
		{"s = sum_{i,j,k} where(stored(A(i,j)), B(j,k)*G(i,k), 0)", ""},
	} {
		t.Run(strings.ReplaceAll(c.text, " ", ""), func(t *testing.T) {
			grids := lacuna.NewSession(lacuna.WithEngine(testengine.Or(t, runtime.Simulated())))
			serial := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
			formats := []tensor.Format{tensor.CSR, tensor.CSC, tensor.DCSR, tensor.COO}
			for f, format := range formats {
				opts := []lacuna.Option{lacuna.AsWritten()}
				for name, f := range map[string]tensor.Format{"A": format, "B": format, "G": format, "x": tensor.Dense(1), "y": tensor.Dense(1)} {
					opts = append(opts, lacuna.Format(name, f, tensor.Float64))
				}
				k, err := grids.Compile(t.Context(), c.text, opts...)
				if err != nil {
					t.Fatal(err)
				}
				loops, err := k.Explain("loops")
				if err != nil {
					t.Fatal(err)
				}
				if f == 0 && !strings.Contains(loops, c.wants) {
					t.Errorf("the loops are not by entries:\n%s", loops)
				}
				for s, n := range []int64{0, 1, 5, 31, 40} {
					if f > 0 && testengine.Thin(4, i, f, s) || n == 0 && strings.Contains(c.text, "max") {
						continue
					}
					args := lacuna.Args{}
					for j, name := range []string{"A", "B", "G"} {
						args[name] = sparseIntegers(t, []int64{n, n}, format, tensor.Float64, uint64(j))
					}
					for j, name := range []string{"x", "y"} {
						args[name] = sparseIntegers(t, []int64{n}, tensor.Dense(1), tensor.Float64, uint64(j))
					}
					for name := range args {
						if !strings.Contains(c.text, name+"(") {
							delete(args, name)
						}
					}
					want, err := serial.Eval(t.Context(), c.text, args, lacuna.AsWritten())
					if err != nil {
						t.Fatal(err)
					}
					got, err := grids.Eval(t.Context(), c.text, args, lacuna.AsWritten())
					if err != nil {
						t.Fatal(err)
					}
					if !tensor.Equal(got, want) {
						t.Errorf("%v, %d rows: got %v, want %v", format, n, got, want)
					}
				}
			}
		})
	}
}
