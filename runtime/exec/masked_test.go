package exec

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests products under masks (lower/workspacemask.go, lower/workspace/masked.go).

// TestMaskedWorkspaces compares products under masks with the numbers that they have one by one: where the loop that reads the workspace
// goes through the mask's entries alone, and where it also goes through others.
func TestMaskedWorkspaces(t *testing.T) {
	ctx := context.Background()
	const n = 37
	A := sparseLine(t, n*n, []int64{n, n}, tensor.CSR, tensor.Float64, 0)
	B := sparseLine(t, n*n+1, []int64{n, n + 1}, tensor.CSR, tensor.Float64, 0)
	X := sparseLine(t, n*(n+1), []int64{n, n + 1}, tensor.CSR, tensor.Float64, 0)
	a, b, x := numbers(t, A), numbers(t, B), numbers(t, X)
	product := func(i, k int) float64 {
		sum := 0.0
		for j := range n {
			sum += a[i*n+j] * b[j*(n+1)+k]
		}
		return sum
	}
	for _, format := range []tensor.Format{tensor.CSR, tensor.DCSR, tensor.CSC} {
		M := sparseLine(t, n*(n+1)-5, []int64{n, n + 1}, format, tensor.Float64, 0)
		mask, stored := numbers(t, M), make([]bool, n*(n+1))
		coords, _, err := M.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		for p := range coords[0] {
			stored[coords[0][p]*(n+1)+coords[1][p]] = true
		}
		for _, test := range []struct {
			text string
			want func(i, k int, masked float64) float64
		}{
			{"C(i,k) = where(stored(M(i,k)), sum_j A(i,j)*B(j,k), 0)", func(_, _ int, masked float64) float64 { return masked }},
			{"C(i,k) = M(i,k)*(sum_j A(i,j)*B(j,k))", func(i, k int, masked float64) float64 { return mask[i*(n+1)+k] * masked }},
			{"C(i,k) = where(stored(M(i,k)), X(i,k) + sum_j A(i,j)*B(j,k), 0)", func(i, k int, masked float64) float64 {
				if !stored[i*(n+1)+k] {
					return 0
				}
				return x[i*(n+1)+k] + masked
			}},
			{"C(i,k) = where(stored(M(i,k)), sum_j A(i,j)*B(j,k), 0) + X(i,k)", func(i, k int, masked float64) float64 { return masked + x[i*(n+1)+k] }},
		} {
			for _, s := range []*Session{NewSession(WithEngine(runtime.Interp()), WithThreads(1)), NewSession(WithEngine(runtime.Interp()), WithThreads(3)), NewSession(WithEngine(runtime.Simulated()))} {
				for _, how := range [][]Option{{Result("C", tensor.CSR)}, {Result("C", tensor.CSR), AsWritten()}, {Result("C", tensor.Dense(2))}} {
					args := Args{"A": A, "B": B, "M": M}
					if test.text != "C(i,k) = where(stored(M(i,k)), sum_j A(i,j)*B(j,k), 0)" && test.text != "C(i,k) = M(i,k)*(sum_j A(i,j)*B(j,k))" {
						args["X"] = X
					}
					C, err := s.Eval(ctx, test.text, args, how...)
					if err != nil {
						t.Fatalf("%s, M in %s: %v", test.text, format, err)
					}
					got := numbers(t, C)
					for i := range n {
						for k := range n + 1 {
							masked := 0.0
							if stored[i*(n+1)+k] {
								masked = product(i, k)
							}
							if want := test.want(i, k, masked); math.Abs(got[i*(n+1)+k]-want) > 1e-12 {
								t.Fatalf("%s, M in %s: C(%d,%d) is %g, want %g", test.text, format, i, k, got[i*(n+1)+k], want)
							}
						}
					}
				}
			}
		}
	}
}

// TestMaskedLookups says which loops look a masked workspace up, and which list its entries.
func TestMaskedLookups(t *testing.T) {
	ctx := context.Background()
	s := NewSession(WithEngine(runtime.Interp()))
	args := Args{"X": sparseLine(t, 400, []int64{20, 20}, tensor.CSR, tensor.Float64, 0)}
	for _, name := range []string{"A", "B", "M"} {
		args[name] = args["X"]
	}
	for text, looks := range map[string]bool{
		"C(i,k) = where(stored(M(i,k)), sum_j A(i,j)*B(j,k), 0)":          true,
		"C(i,k) = where(stored(M(i,k)), X(i,k) + sum_j A(i,j)*B(j,k), 0)": true,
		"C(i,k) = M(i,k)*(sum_j A(i,j)*B(j,k))":                           false, // it merges
	} {
		some := Args{}
		for name, a := range args {
			if name != "X" || strings.Contains(text, "X(") {
				some[name] = a
			}
		}
		k, err := s.kernelFor(ctx, text, some, []Option{Result("C", tensor.CSR), AsWritten()})
		if err != nil {
			t.Fatal(err)
		}
		loops, err := k.Explain("loops")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(loops, "let has_w0: bool = w0_marks["); got != looks || !strings.Contains(loops, "w0_marks") {
			t.Errorf("%s: looks entries up: %v, want %v", text, got, looks)
		}
	}
}
