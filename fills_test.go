package lacuna_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestFillsDoNotDependOnFormats reads results beyond their ends: what is there is
// what the right side is where operands have their fills, however they are stored.
func TestFillsDoNotDependOnFormats(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"T(i) = x(i) + 1; R(i) = T(i+1)", "[1 3 1]"},
		{"T(i) = x(i)*i + 1; R(i) = T(i+1)", "[1 5 1]"},
		{"T(i) = min(x(i), 4) - 2; R(i) = T(i-1)", "[-2 -1 -2]"},
		{"T(0:2) = x(0:2) + 1; R(i) = T(i+1)", "[1 0 0]"},
	} {
		for _, f := range []tensor.Format{tensor.Dense(1), tensor.CSF(1)} {
			x, err := tensor.FromDense([]int64{3}, f, tensor.ArrayOf([]float64{1, 0, 2}))
			if err != nil {
				t.Fatal(err)
			}
			r, err := lacuna.Eval(context.Background(), c.text, lacuna.Args{"x": x}, lacuna.Shape("R", 3), lacuna.Shape("T", 3))
			if err != nil {
				t.Fatal(err)
			}
			dense, err := r.ToDense()
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(tensor.View[float64](dense)); got != c.want {
				t.Errorf("%s with x stored as %s: %s, want %s", c.text, f, got, c.want)
			}
		}
	}
}

// TestGapOfEarlierResult folds a gap whose value an earlier stage computed: it
// counts as stored where that value does.
func TestGapOfEarlierResult(t *testing.T) {
	ones, err := tensor.FromCoords([]int64{3}, tensor.CSF(1), [][]int64{{}}, tensor.ArrayOf([]float64{}), tensor.WithFill(tensor.Float(tensor.Float64, 1)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromCoords([]int64{3}, tensor.CSF(1), [][]int64{{0, 2}}, tensor.ArrayOf([]float64{1, 4}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := lacuna.Eval(context.Background(), "R(i) = u(p) * (x(q) * max_k (x(k) + 1))",
		lacuna.Args{"u": ones, "x": x}, lacuna.Shape("R", 2), lacuna.Result("R", tensor.CSF(1)))
	if err != nil {
		t.Fatal(err)
	}
	dense, err := r.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(tensor.View[float64](dense)); got != "[75 75]" { // 3 * (1+4) * 5
		t.Errorf("got %s, want [75 75]", got)
	}
}
