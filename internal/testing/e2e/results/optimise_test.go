package results_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// band is a matrix of n rows with some entries each, of the given value.
func band(t *testing.T, n, each int64, value float64) *tensor.Tensor {
	t.Helper()
	var i, j []int64
	var v []float64
	for r := range n {
		for k := range each {
			i, j, v = append(i, r), append(j, (r*7+k*k+k)%n), append(v, value)
		}
	}
	m, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{i, j}, tensor.ArrayOf(v))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestOptimised runs a chain in another order than written, keeps the intermediate to itself, and goes back to the written order
// for data that is not finite, with one kernel.
func TestOptimised(t *testing.T) {
	ctx := context.Background()
	const n = 3000
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(1))
	values := make([]float64, n)
	for i := range values {
		values[i] = 2
	}
	x, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	A := band(t, n, 8, 3)
	k, err := s.Compile(ctx, "y(i) = A(i,j)*B(j,k)*x(k)", lacuna.Operand("A", A), lacuna.Operand("B", A), lacuna.Operand("x", x))
	if err != nil {
		t.Fatal(err)
	}
	text, err := k.Explain("logic")
	if err != nil || !strings.Contains(text, "t1(j) = sum_k (B(j,k)*x(k))") {
		t.Fatalf("not reordered: %v\n%s", err, text)
	}
	out, err := k.RunAll(ctx, lacuna.Args{"A": A, "B": A, "x": x})
	if err != nil || len(out) != 1 || out["y"].At(5).Float64() != 8*8*3*3*2 {
		t.Fatalf("results %v: %v", out, err)
	}
	// An infinite entry meets a 0 that is stored: NaN in the written order, for row 0 alone.
	values[0] = math.Inf(1)
	infinite, err := tensor.FromDense([]int64{n}, tensor.Dense(1), tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	zeros := band(t, n, 8, 0)
	args := lacuna.Args{"A": zeros, "B": A, "x": infinite}
	got, err := k.Run(ctx, args)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.Eval(ctx, "y(i) = A(i,j)*B(j,k)*x(k)", args, lacuna.AsWritten())
	if err != nil {
		t.Fatal(err)
	}
	if d := tensor.Diff(got, want); d != "" {
		t.Errorf("data that is not finite does not run as written: %s", d)
	}
	// Mistakes are about the program as written.
	_, err = k.Run(ctx, lacuna.Args{"A": A, "B": band(t, 10, 2, 1), "x": x})
	if err == nil || !strings.Contains(err.Error(), "B(j,k)") || strings.Contains(err.Error(), "t1") {
		t.Errorf("want a mistake of shapes, got %v", err)
	}
}
