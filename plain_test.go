package lacuna_test

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// symmetricOperand is a matrix of which one triangle is stored.
func symmetricOperand(t *testing.T) *tensor.Tensor {
	t.Helper()
	half, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int64{{0, 1, 2, 2}, {0, 0, 0, 2}}, tensor.ArrayOf([]float64{1, 2, 3, 4}))
	if err != nil {
		t.Fatal(err)
	}
	a, err := half.WithStructure(tensor.SymmetricLower)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTriangleMultipliesAsWhole(t *testing.T) {
	ctx := context.Background()
	a := symmetricOperand(t)
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 10, 100}))
	if err != nil {
		t.Fatal(err)
	}
	const program = "y(i) = sum_j A(i,j)*x(j)"
	want := []float64{321, 2, 403}
	check := func(what string, y *tensor.Tensor, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for i, w := range want {
			if got := y.At(int64(i)).Float64(); got != w {
				t.Errorf("%s: y(%d) = %v, want %v", what, i, got, w)
			}
		}
	}
	args := lacuna.Args{"A": a, "x": x}
	for range 2 {
		y, err := lacuna.Eval(ctx, program, args)
		check("Eval", y, err)
	}
	for what, opt := range map[string]lacuna.Option{
		"declared":   lacuna.Format("A", tensor.CSR, tensor.Float64),
		"by example": lacuna.Operand("A", a),
	} {
		k, err := lacuna.Compile(program, opt, lacuna.Operand("x", x))
		if err != nil {
			t.Fatal(err)
		}
		y, err := k.Run(ctx, args)
		check(what, y, err)
		p, err := k.Prepare(ctx, args)
		if err != nil {
			t.Fatal(err)
		}
		y, err = p.Run(ctx, args)
		check(what+", prepared", y, err)
	}
	b, err := lacuna.Convert(ctx, a, tensor.CSC)
	if err != nil || b.Structure() != tensor.SymmetricLower || b.NNZ() != 4 {
		t.Errorf("converted to %v, %v", b, err)
	}
}
