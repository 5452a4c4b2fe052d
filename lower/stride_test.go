package lower_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/testing/difftest"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests loops along indices like 2*i+1 (iterator.go), by whole programs.

func engines(t *testing.T) []*lacuna.Session {
	list := []*lacuna.Session{lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(1))}
	if cpu, err := runtime.CPU(); err == nil {
		list = append(list, lacuna.NewSession(lacuna.WithEngine(cpu), lacuna.WithThreads(3)))
	} else {
		t.Logf("interpreter only: %v", err)
	}
	return list
}

// TestStridedLoops pins how loops over c*i + k run: by the operand's entries
// wherever a plain index would be.
func TestStridedLoops(t *testing.T) {
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	for _, test := range []struct{ text, want string }{
		{"y(i) = x(2*i)", "i: x, by entries"},
		{"y(i) = x(3*i+1) * z(2*i)", "i: x ∩ z, by merge, galloping where sizes differ"},
		{"y(i) = x(3*i+1) + z(i)", "i: x ∪ z, by merge"},
		{"y = max_i x(2*i)", "i: x, by entries"},
		{"y(i) = x(2*i) * (z(3*i) + 1)", "i: x, by entries"},
		{"y(:) = x(1:9:2)", "s0: x, by entries"},
		{"y(i) = sum_j A(2*i, 3*j+1)", "i: ⊤, by whole dimension\nj: A, by entries"},
		{"y(i) = sum_j A(i, 2*j+i)", "i: ⊤, by whole dimension\nj: A, by entries"},
		// A negative coefficient would walk the entries backwards.
		{"y(i) = x(9-2*i)", "i: ⊤, by whole dimension"},
	} {
		opts := []lacuna.Option{}
		for name, f := range map[string]tensor.Format{"x": tensor.CSF(1), "z": tensor.CSF(1), "A": tensor.CSR} {
			if strings.Contains(test.text, name+"(") {
				opts = append(opts, lacuna.Format(name, f, tensor.Float64))
			}
		}
		k, err := s.Compile(t.Context(), test.text, opts...)
		if err != nil {
			t.Fatalf("%s: %v", test.text, err)
		}
		got, err := k.Explain("lattice")
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(got) != test.want {
			t.Errorf("%s runs as %q, want %q", test.text, got, test.want)
		}
	}
}

// TestStridesAgainstOracle compares programs whose indices have random strides
// and offsets, alone, in unions and in intersections, with the oracle.
func TestStridesAgainstOracle(t *testing.T) {
	sessions := engines(t)
	programs := []string{
		"R(i) = x(§i)",
		"R(i) = x(§i) * z(§i)",
		"R(i) = x(§i) + z(§i)",
		"R(i) = x(§i) + z(§i) * w(§i)",
		"R(i) = x(§i) * z(§i) + w(§i)",
		"R(i) = max(x(§i), z(§i)) * v(i)",
		"R(i) = x(§i) * (z(§i) + 1)",
		"R(i) = where(x(§i) == 0, z(§i), w(§i))",
		"R(i) = x(§i) + x(§i) + v(i)",
		"R = max_i x(§i)",
		"R = argmin_i x(§i)",
		"R = sum_i x(§i) * z(§i)",
		"R = prod_i (x(§i) + z(§i))",
		"R = any_i (x(§i) > z(§i))",
		"R(i,j) = A(§i,§j)",
		"R(i,j) = A(§i,§j) + B(§i,§j)",
		"R(i,j) = A(§i,§j) * B(§i,§j) * x(§j)",
		"R(i) = sum_j A(§i,§j) * u(j)",
		"R(i) = sum_j A(§i,§j+2*i)",
		"R(i) = argmax_j A(§i,§j)",
		"R(i) = max_j (A(§i,§j) + B(§j,§i))",
		"R(j) = sum_i A(§i,§j) * B(§i,§j)",
		"R(i) = A(§i,§i)",
	}
	rapid.Check(t, func(r *rapid.T) {
		draw := func(label string, lo, hi int) int64 { return int64(rapid.IntRange(lo, hi).Draw(r, label)) }
		n := map[string]int64{"i": draw("n_i", 1, 9), "j": draw("n_j", 1, 9)}
		text := rapid.SampledFrom(programs).Draw(r, "program")
		for strings.Contains(text, "§") {
			term := rapid.SampledFrom([]string{"", "2*", "3*", "4*"}).Draw(r, "stride")
			at := strings.Index(text, "§") + len("§")
			v := text[at : at+1]
			least := 0
			if term == "" {
				least = 1 // a bare index would have to fit the extent exactly
			}
			text = strings.Replace(text, "§"+v, fmt.Sprintf("%s%s+%d", term, v, draw("offset", least, 3)), 1)
		}
		c := &difftest.Case{Text: text, Operands: map[string]*tensor.Tensor{}}
		result := difftest.Result{Shape: []int64{}}
		lhs, _, _ := strings.Cut(text, "=")
		for _, v := range []string{"i", "j"} {
			if strings.Contains(lhs, v) {
				result.Shape = append(result.Shape, n[v])
			}
		}
		const extent = 4*8 + 3 + 2*8 + 1 // of the largest index
		for _, operand := range []struct {
			name  string
			shape []int64
		}{
			{"x", []int64{extent}}, {"z", []int64{extent}}, {"w", []int64{extent}}, {"v", []int64{n["i"]}}, {"u", []int64{n["j"]}},
			{"A", []int64{extent, extent}}, {"B", []int64{extent, extent}},
		} {
			if strings.Contains(text, operand.name+"(") {
				c.Operands[operand.name] = drawStored(r, operand.name, operand.shape)
			}
		}
		if rank := len(result.Shape); rank > 0 && rapid.Bool().Draw(r, "sparse result") {
			result.Format, result.HasFormat = drawFormat(r, rank), true
		}
		c.Results = map[string]difftest.Result{"R": result}
		if _, err := c.Compare(context.Background(), sessions...); err != nil {
			r.Fatal(err)
		}
	})
}

func drawFormat(r *rapid.T, rank int) tensor.Format {
	if rank == 1 {
		return tensor.CSF(1)
	}
	return rapid.SampledFrom([]tensor.Format{tensor.CSR, tensor.CSC, tensor.DCSR, tensor.COO}).Draw(r, "format")
}

// drawStored draws a sparse tensor of small integers.
func drawStored(r *rapid.T, name string, shape []int64) *tensor.Tensor {
	rank := len(shape)
	seen := map[[2]int64]bool{}
	coords := make([][]int64, rank)
	for d := range coords {
		coords[d] = []int64{}
	}
	vals := []float64{}
	for range rapid.IntRange(0, 40).Draw(r, "entries of "+name) {
		var c [2]int64
		for d := range coords {
			c[d] = int64(rapid.IntRange(0, int(shape[d])-1).Draw(r, "coordinate"))
		}
		if seen[c] {
			continue
		}
		seen[c] = true
		for d := range coords {
			coords[d] = append(coords[d], c[d])
		}
		vals = append(vals, float64(rapid.IntRange(-3, 3).Draw(r, "value")))
	}
	fill := tensor.Float(tensor.Float64, float64(rapid.SampledFrom([]int{0, 0, 1, -2}).Draw(r, "fill")))
	x, err := tensor.FromCoords(shape, drawFormat(r, rank), coords, tensor.ArrayOf(vals), tensor.WithFill(fill))
	if err != nil {
		r.Fatal(err)
	}
	return x
}
