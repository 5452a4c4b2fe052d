package exec

import (
	"context"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests programs of which some results are wanted.

// TestOnlyWantedResults makes what the wanted results follow from, and gives no others.
func TestOnlyWantedResults(t *testing.T) {
	ctx := context.Background()
	s := NewSession(WithEngine(runtime.Interp()))
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	args := Args{"x": x}
	const text = "a(i) = 2*x(i); b(i) = a(i) + 1; c(i) = a(i)*x(i); a(i) = 0*x(i)"
	for _, c := range []struct {
		only         []string
		steps, first int // the first element of the last result
	}{{nil, 1, 0}, {[]string{"b"}, 2, 3}, {[]string{"c"}, 2, 2}, {[]string{"c", "b"}, 3, 2}, {[]string{"a", "b", "c"}, 4, 0}} {
		k, err := s.Compile(ctx, text, declare.Format("x", tensor.Dense(1), tensor.Float64), declare.Only(c.only...))
		if err != nil {
			t.Fatal(err)
		}
		out, err := k.RunAll(ctx, args)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(len(c.only), 1); len(k.steps) != c.steps || len(out) != want {
			t.Errorf("%v: %d steps and %d results, want %d and %d", c.only, len(k.steps), len(out), c.steps, want)
		}
		y, err := k.Run(ctx, args)
		if err != nil {
			t.Fatal(err)
		}
		if got := y.Values().Scalar(0).Float64(); got != float64(c.first) {
			t.Errorf("%v: the last result begins with %v, want %d", c.only, got, c.first)
		}
	}
	if _, err := s.Compile(ctx, text, declare.Format("x", tensor.Dense(1), tensor.Float64), declare.Only("x")); err == nil || !strings.Contains(err.Error(), "no result of that name") {
		t.Errorf("a result that is none: %v", err)
	}
	// Shapes are checked all the same, and operands belong to the program.
	short, _ := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2}))
	if _, err := s.Eval(ctx, "d(i) = x(i)*z(i); y(i) = x(i)", Args{"x": x, "z": short}); err == nil {
		t.Error("operands of different extents in a statement that is not needed")
	}
}
