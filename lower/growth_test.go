package lower_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests that code grows with the program, and no faster.

// TestCodeGrowsLinearly adds up n operands: each further one adds the same number
// of lines, whether they are matrices, one vector at many offsets, or products.
func TestCodeGrowsLinearly(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	for _, test := range []struct{ lhs, term string }{
		{"C(i,j)", "A%d(i,j)"},
		{"y(i)", "x(i+%d)"},
		{"y(i)", "x%[1]d(i)*z%[1]d(i)"},
		{"y(i)", "sum_j A%d(i,j)"},
	} {
		lines := func(n int) int {
			var terms []string
			opts := []lacuna.Option{lacuna.Format("x", tensor.CSF(1), tensor.Float64)}
			if !strings.HasPrefix(test.term, "x(") {
				opts = nil
			}
			for k := 1; k <= n; k++ {
				terms = append(terms, fmt.Sprintf(test.term, k))
				for name, f := range map[string]tensor.Format{"A": tensor.CSR, "x": tensor.CSF(1), "z": tensor.CSF(1)} {
					if strings.Contains(test.term, name+"%") {
						opts = append(opts, lacuna.Format(fmt.Sprintf("%s%d", name, k), f, tensor.Float64))
					}
				}
			}
			k, err := s.Compile(t.Context(), test.lhs+" = "+strings.Join(terms, " + "), opts...)
			if err != nil {
				t.Fatal(err)
			}
			text, err := k.Explain("loops")
			if err != nil {
				t.Fatal(err)
			}
			return strings.Count(text, "\n")
		}
		// A few operands are merged, which may cost lines for each pair.
		eight, sixteen, many := lines(8), lines(16), lines(64)
		each := (sixteen - eight) / 8
		if many-sixteen != 48*each {
			t.Errorf("%s = sum of %s: %d, %d and %d lines for 8, 16 and 64 operands", test.lhs, test.term, eight, sixteen, many)
		}
	}
}
