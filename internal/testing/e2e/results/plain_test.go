package results_test

import (
	"context"
	"math/rand/v2"
	"strings"
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
		k, err := lacuna.Compile(t.Context(), program, opt, lacuna.Operand("x", x))
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

// TestRelaxedOperands compares programs on operands with flags with the same on their
// standard form, and conversions with those of package tensor.
func TestRelaxedOperands(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 40
	coords := make([][]int64, 2)
	var list []float64
	for range 300 {
		coords[0], coords[1] = append(coords[0], rng.Int64N(n)), append(coords[1], rng.Int64N(n))
		list = append(list, float64(rng.IntN(9)-4))
	}
	unsorted := make([]tensor.Level, 2) // as drawn
	for axis := range unsorted {
		unsorted[axis].Crd = tensor.ArrayOf(coords[axis])
	}
	x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(list[:n]))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*lacuna.Session{lacuna.NewSession(), lacuna.NewSession(lacuna.WithConversionKernels())} {
		for _, text := range []string{"COO(unsorted,duplicates)", "CSR(duplicates)", "C-C(duplicates)", "DC-DC(duplicates)", "DC(duplicates)-S", "S(unsorted)-DC(duplicates)"} {
			format, err := tensor.ParseFormat(text, 2)
			if err != nil {
				t.Fatal(err)
			}
			var a *tensor.Tensor
			if text == "COO(unsorted,duplicates)" {
				a, err = tensor.New([]int64{n, n}, format, unsorted, tensor.ArrayOf(list))
			} else {
				a, err = tensor.FromCoords([]int64{n, n}, format, coords, tensor.ArrayOf(list))
			}
			if err != nil {
				t.Fatal(err)
			}
			plain, err := a.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			made, err := s.FromColumns(ctx, []int64{n, n}, format, []tensor.Array{unsorted[0].Crd, unsorted[1].Crd}, tensor.ArrayOf(list))
			if err != nil {
				t.Fatal(err)
			}
			want, err := tensor.FromCoords([]int64{n, n}, format, coords, tensor.ArrayOf(list))
			if err != nil {
				t.Fatal(err)
			}
			if d := tensor.Diff(made, want); d != "" {
				t.Errorf("of coordinates: %s", d)
			}
			for _, program := range []string{
				"y(i) = sum_j A(i,j)*x(j)", "y(i) = max_j A(j,i)", "y(i,j) = sum_k A(i,k)*A(k,j)", "y = sum_{i,j} A(i,j)*A(i,j)", "y(i) = sum_j where(stored(A(i,j)), 1.0, 0.0)", "y(i,j) = exp(A(j,i)) + x(i)",
			} {
				operands := func(a *tensor.Tensor) lacuna.Args {
					args := lacuna.Args{"A": a}
					if strings.Contains(program, "x(") {
						args["x"] = x
					}
					return args
				}
				got, err := s.Eval(ctx, program, operands(a))
				if err != nil {
					t.Fatalf("%s of %v: %v", program, a, err)
				}
				want, err := s.Eval(ctx, program, operands(plain))
				if err != nil {
					t.Fatal(err)
				}
				if d := tensor.Diff(got, want); d != "" {
					t.Errorf("%s of %v: %s", program, a, d)
				}
			}
			loss := "y = sum_{i,j} A(i,j)*A(i,j)*x(i)"
			got, err := s.EvalGrad(ctx, loss, "x", lacuna.Args{"A": a, "x": x})
			if err != nil {
				t.Fatal(err)
			}
			if want, err = s.EvalGrad(ctx, loss, "x", lacuna.Args{"A": plain, "x": x}); err != nil {
				t.Fatal(err)
			}
			if d := tensor.Diff(got, want); d != "" {
				t.Errorf("gradient of %s for %v: %s", loss, a, d)
			}
			for _, to := range []tensor.Format{tensor.CSR, tensor.CSC, tensor.COOC, tensor.Dense(2), format} {
				got, err := s.Convert(ctx, a, to)
				if err != nil {
					t.Fatal(err)
				}
				want, err := a.Convert(to)
				if err != nil {
					t.Fatal(err)
				}
				if d := tensor.Diff(got, want); d != "" {
					t.Errorf("%v to %v: %s", a, to, d)
				}
			}
		}
	}
	multigraph, err := tensor.ParseFormat("CSR(duplicates)", 2)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lacuna.Compile(t.Context(), "R(i,j) = A(j,i)", lacuna.Format("A", multigraph, tensor.Float64), lacuna.Result("R", multigraph))
	if err == nil || !strings.Contains(err.Error(), "declare CSR, and convert it") {
		t.Errorf("a result with duplicates: %v", err)
	}
}
