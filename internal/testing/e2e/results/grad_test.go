package results_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The gradient of a sparse operand has its coordinates and its format.
func gradOperands(t *testing.T) lacuna.Args {
	t.Helper()
	a, err := tensor.FromCoords([]int64{2, 3}, tensor.DCSR, [][]int64{{0, 0, 1}, {0, 2, 1}}, tensor.ArrayOf([]float64{1, 0, 3}))
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 4}))
	if err != nil {
		t.Fatal(err)
	}
	return lacuna.Args{"A": a, "x": x}
}

// An upstream adjoint with gaps leaves zeros in the gradient, not gaps.
func TestGradKeepsPattern(t *testing.T) {
	args := gradOperands(t)
	up, err := tensor.FromCoords([]int64{2}, mustParse(t, "S", 1), [][]int64{{1}}, tensor.ArrayOf([]float64{10}))
	if err != nil {
		t.Fatal(err)
	}
	args["dy"] = up
	got, err := lacuna.EvalGrad(context.Background(), "y(i) = sum_j A(i,j)*x(j)", "A", args)
	if err != nil {
		t.Fatal(err)
	}
	if got.Format() != tensor.DCSR || got.NNZ() != 3 || got.At(0, 0).Float64() != 0 || got.At(1, 1).Float64() != 20 {
		t.Errorf("got %v", got)
	}
}

func TestGradErrors(t *testing.T) {
	ctx, args := context.Background(), gradOperands(t)
	if _, err := lacuna.EvalGrad(ctx, "y(i) = sum_j A(i,j)*x(j)", "A", args); err == nil || !strings.Contains(err.Error(), "pass a tensor of its shape as dy") {
		t.Errorf("without an upstream adjoint: %v", err)
	}
	args["dy"] = args["x"]
	if _, err := lacuna.EvalGrad(ctx, "y(i) = sum_j A(i,j)*x(j)", "A", args); err == nil || !strings.Contains(err.Error(), "dy has shape [3]") {
		t.Errorf("with one of another shape: %v", err)
	}
	args = gradOperands(t)
	args["x"] = tensor.ScalarTensor(tensor.Float(tensor.Float64, 1))
	if _, err := lacuna.EvalGrad(ctx, "y = sum_{i,j} A(i,j)*x(j)", "A", args); err == nil {
		t.Error("an operand of another rank is accepted")
	}
	args["x"] = nil
	if _, err := lacuna.EvalGrad(ctx, "y = sum_{i,j} A(i,j)*x(j)", "A", args); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("a nil operand: %v", err)
	}
}

// Where the program has a tensor called dy the adjoint of y is dy1, in Args too.
func TestGradAdjointName(t *testing.T) {
	vector := func(list ...float64) *tensor.Tensor {
		v, err := tensor.FromDense([]int64{int64(len(list))}, tensor.Dense(1), tensor.ArrayOf(list))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	args := lacuna.Args{"x": vector(1, 2), "dy": vector(3, 5), "dy1": vector(7, 11)}
	got, err := lacuna.EvalGrad(context.Background(), "y(i) = x(i)*dy(i)", "x", args)
	if err != nil {
		t.Fatal(err)
	}
	if got.At(0).Float64() != 21 || got.At(1).Float64() != 55 {
		t.Errorf("got %v, want 21, 55", got)
	}
}

// A program derived twice: the Hessian of sum x^3 is diag(6x).
func TestGradTwice(t *testing.T) {
	ctx, args := context.Background(), gradOperands(t)
	g, err := lacuna.Grad(t.Context(), "y = sum_i x(i)^3", "x", lacuna.Operand("x", args["x"]))
	if err != nil {
		t.Fatal(err)
	}
	direction, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 0, 1}))
	if err != nil {
		t.Fatal(err)
	}
	one := tensor.ScalarTensor(tensor.Float(tensor.Float64, 1))
	got, err := lacuna.EvalGrad(ctx, g.Source, "x", lacuna.Args{"x": args["x"], "dy": one, "ddx": direction})
	if err != nil {
		t.Fatal(err)
	}
	if got.At(0).Float64() != 6 || got.At(1).Float64() != 0 || got.At(2).Float64() != 24 {
		t.Errorf("got %v %v %v", got.At(0), got.At(1), got.At(2))
	}
}

func mustParse(t *testing.T, s string, rank int) tensor.Format {
	t.Helper()
	f, err := tensor.ParseFormat(s, rank)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The gradient of an operand whose entries are in another order, or several to a coordinate, has the same entries.
func TestGradOfUnsortedOperands(t *testing.T) {
	values := tensor.ArrayOf([]float64{1, 2, 3, 4, 5})
	coords := [][]int64{{2, 0, 2, 2, 1}, {0, 0, 1, 1, 0}}
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"CSR(unsorted,duplicates)", "CSR(unsorted)", "COO(duplicates)", "C-C(duplicates)", "DC(unsorted)-DC(duplicates)", "DC(duplicates)-S", "CSR"} {
		in, v := coords, values
		if !strings.Contains(format, "duplicates") {
			in, v = [][]int64{{2, 0, 2, 1}, {1, 0, 0, 0}}, tensor.ArrayOf([]float64{1, 2, 3, 4})
		}
		a, err := tensor.FromCoords([]int64{3, 3}, mustParse(t, format, 2), in, v)
		if err != nil {
			t.Fatal(err)
		}
		g, err := lacuna.EvalGrad(context.Background(), "y = sum_{i,j} A(i,j)^2*x(j)", "A", lacuna.Args{"A": a, "x": x})
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if _, err := tensor.New(g.Shape(), g.Format(), g.Levels(), g.Values()); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		from, _, err := a.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		to, list, err := g.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		if g.Format() != a.Format() || fmt.Sprint(from) != fmt.Sprint(to) {
			t.Errorf("the gradient is %v with entries at %v, the operand %v with entries at %v", g, to, a, from)
			continue
		}
		for e := range list.Len() {
			i, j := from[0][e], from[1][e]
			plain, err := a.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := list.Scalar(e).Float64(), 2*plain.At(i, j).Float64()*x.At(j).Float64(); got != want {
				t.Errorf("%s: at (%d,%d): %v, want %v", format, i, j, got, want)
			}
		}
	}
}

// TestGradWithDeclaredFill: what a result holds where it is not assigned moves the gradient.
func TestGradWithDeclaredFill(t *testing.T) {
	x, err := tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{3, 5}))
	if err != nil {
		t.Fatal(err)
	}
	opts := []lacuna.Option{lacuna.Result("t", tensor.Dense(1)), lacuna.Fill("t", tensor.Float(tensor.Float64, 2)), lacuna.ResultType("t", tensor.Float64)}
	for src, want := range map[string]float64{
		"t(2) = x(0); y = prod_i t(i)":                4,
		"t(2) = x(0); t(1) *= x(0); y = sum_i t(i)^2": 30,
	} {
		got, err := lacuna.EvalGrad(context.Background(), src, "x", lacuna.Args{"x": x}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		if got.At(0).Float64() != want {
			t.Errorf("%s: the gradient is %v, want %v", src, got.At(0), want)
		}
	}
}
