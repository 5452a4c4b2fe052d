package aot_test

import (
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/aot"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests chains that are planned for operands of assumed sizes, from the plan to linked code.

// TestAssumed links a chain for operands that are assumed to be large: it is two products with vectors, of which only the last is a result,
// and computes what the chain as it is written does.
func TestAssumed(t *testing.T) {
	large, err := tensor.ParseStatistics("1e5x1e5, 16 per row")
	if err != nil {
		t.Fatal(err)
	}
	const src = "y(i) = A(i,j)*B(j,k)*x(k)"
	options := func(more ...lacuna.Option) []lacuna.Option {
		return append(more, lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("B", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	}
	link := func(opts ...lacuna.Option) *aot.Program {
		p, err := lacuna.Link(t.Context(), src, lacuna.BuildOptions{Name: "k"}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	written, assumed := link(options()...), link(options(lacuna.Assume("A", large), lacuna.Assume("B", large))...)
	inner := func(p *aot.Program) bool { return strings.Contains(p.Loops.String(), "t1_vals") }
	if inner(written) || !inner(assumed) {
		t.Errorf("as written:\n%s\nfor what is assumed:\n%s", written.Loops, assumed.Loops)
	}
	if a, b := written.Signature(), assumed.Signature(); a != b {
		t.Errorf("the signature is %s, and as written %s", b, a)
	}
	if inner(link(options(lacuna.Assume("A", large), lacuna.Assume("B", large), lacuna.AsWritten())...)) {
		t.Error("the order as written is asked for, and not kept")
	}
	l := needLLVM(t)
	sparse := func(values ...float64) *tensor.Tensor {
		x, err := tensor.FromDense([]int64{3, 3}, tensor.CSR, tensor.ArrayOf(values))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	args := map[string]*tensor.Tensor{"A": sparse(1, 0, 2, 0, 0, 0, 0, 3, 0), "B": sparse(0, 4, 0, 5, 0, 6, 0, 0, 7), "x": x}
	// B x = (8, 23, 21), A (B x) = (50, 0, 69).
	out, err := load(t, l, assumed).run(args, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.View[float64](out["y"].Values()); len(out) != 1 || got[0] != 50 || got[1] != 0 || got[2] != 69 {
		t.Errorf("%v, want 50, 0 and 69 alone", out)
	}
}
