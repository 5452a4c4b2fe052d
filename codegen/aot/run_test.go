package aot_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file compares programs of every kind, compiled ahead of time, with sessions.

// random makes a tensor of a format in which some elements are stored.
func random(t testing.TB, r *rand.Rand, f tensor.Format, dt tensor.DType, density float64, shape ...int64) *tensor.Tensor {
	t.Helper()
	coords := make([][]int64, len(shape))
	var values []float64
	at := make([]int64, len(shape))
	var visit func(k int)
	visit = func(k int) {
		if k == len(shape) {
			if r.Float64() < density {
				for axis := range at {
					coords[axis] = append(coords[axis], at[axis])
				}
				values = append(values, float64(r.IntN(19)-9))
			}
			return
		}
		for at[k] = 0; at[k] < shape[k]; at[k]++ {
			visit(k + 1)
		}
	}
	visit(0)
	if f.IsDense() {
		density = 1
	}
	vals, err := tensor.ArrayOf(values).Convert(dt)
	if err != nil {
		t.Fatal(err)
	}
	x, err := tensor.FromCoords(shape, f, coords, vals)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func format(t testing.TB, s string, rank int) tensor.Format {
	f, err := tensor.ParseFormat(s, rank)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// operand says how to make an operand of a test.
type operandSpec struct {
	name, format string
	dt           tensor.DType
	shape        []int64
}

func spec(name, format string, shape ...int64) operandSpec {
	return operandSpec{name, format, tensor.Float64, shape}
}

// cases are programs that between them need every part of a driver.
var cases = []struct {
	src      string
	operands []operandSpec
	opts     []lacuna.Option
}{
	{src: "y(i) = A(i,j)*x(j)", operands: []operandSpec{spec("A", "CSR", 40, 30), spec("x", "D", 30)}},
	{src: "y(i) = A(i,j)*x(j)", operands: []operandSpec{spec("A", "CSC", 40, 30), spec("x", "D", 30)}},
	{src: "y(i) = A(i,j)*x(j)", operands: []operandSpec{spec("A", "COO", 40, 30), spec("x", "D", 30)}},
	{src: "y(i) = A(i,j)*x(j)", operands: []operandSpec{spec("A", "DCSR", 40, 30), spec("x", "S", 30)}},
	{src: "C(i,j) = A(i,j) + B(i,j)", operands: []operandSpec{spec("A", "CSR", 20, 30), spec("B", "CSR", 20, 30)}},
	{src: "C(i,j) = A(i,j) + B(i,j)", operands: []operandSpec{spec("A", "CSR", 20, 30), spec("B", "CSC", 20, 30)}},
	{src: "C(i,j) = A(i,j) + B(i,j)", operands: []operandSpec{spec("A", "COO", 20, 30), spec("B", "DCSR", 20, 30)}},
	{src: "C(i,j) = sum_k A(i,k)*B(k,j)", operands: []operandSpec{spec("A", "CSR", 20, 30), spec("B", "CSR", 30, 25)}},
	{src: "C(i,j) = sum_k A(i,k)*B(k,j)", operands: []operandSpec{spec("A", "CSC", 20, 30), spec("B", "CSR", 30, 25)}},
	{src: "s = sum_{i,j} A(i,j)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "s = max_{i,j} A(i,j)", operands: []operandSpec{spec("A", "DCSR", 20, 30)}},
	{src: "m(i) = mean_j A(i,j)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "n = count_{i,j} A(i,j)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "B(i,j) = exp(A(i,j))", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "B(i,j) = A(i,j)*a + b", operands: []operandSpec{spec("A", "CSR", 20, 30), spec("a", "D"), spec("b", "D")}},
	{src: "L(i,j) = cumsum_j A(i,j)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "m(i) = median_j A(i,j)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "S(i,j) = sort_j A(i,j)", operands: []operandSpec{spec("A", "D", 20, 30)}},
	{src: "q(i) = quantile_j(A(i,j), 0.3)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "y(i) = sum_{j in A} A(i,j)*x(j)", operands: []operandSpec{spec("A", "CSR", 20, 30), spec("x", "D", 30)}},
	{src: "y(i) = sum_{j in A} (A(i,j)*0 + x(j))", operands: []operandSpec{spec("A", "CSR", 20, 30), spec("x", "D", 30)}},
	{src: "y(i) = x(i-1) + x(i) + x(i+1)", operands: []operandSpec{spec("x", "D", 30)}},
	{src: "y(i) = x(2*i) - x(2*i+1)", operands: []operandSpec{spec("x", "D", 31)}},
	{src: "y(:) = x(3:20:2)", operands: []operandSpec{spec("x", "D", 31)}},
	{src: "y(i) += A(i,j)*x(j)", operands: []operandSpec{spec("y", "D", 20), spec("A", "CSR", 20, 30), spec("x", "D", 30)}},
	{src: "B(i,j) = A(j,i)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "t(i) = A(i,j)*x(j); s = sum_i t(i)*t(i)", operands: []operandSpec{spec("A", "CSR", 20, 30), spec("x", "D", 30)}},
	{src: "C(i,j,k) = A(i,j,k) * B(k,j)", operands: []operandSpec{spec("A", "CSF", 8, 9, 10), spec("B", "D", 10, 9)}},
	{src: "M(i,r) = sum_{j,k} A(i,j,k) * B(j,r) * C(k,r)", operands: []operandSpec{spec("A", "CSF", 8, 9, 10), spec("B", "D", 9, 4), spec("C", "D", 10, 4)}},
	{src: "C(i,j) = A(i,j,k) * x(k)", operands: []operandSpec{spec("A", "CSF", 8, 9, 10), spec("x", "D", 10)}},
	{src: "C(k,j) = sum_i A(i,j,k)", operands: []operandSpec{spec("A", "CSF", 8, 9, 10)}},
	{src: "B(i,j) = where(A(i,j) > 0, A(i,j), 0.0)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "a(i) = argmax_j A(i,j)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "B(i,j) = floor(A(i,j)/2) + round(A(i,j)*1.5)", operands: []operandSpec{spec("A", "CSR", 20, 30)}},
	{src: "y(i) = x(i)", operands: []operandSpec{spec("x", "S", 50)}},
	{src: "C(i,j) = x(i)*z(j)", operands: []operandSpec{spec("x", "S", 20), spec("z", "S", 30)}},
}

// smallChunks makes chunks of few entries, so that small operands have several.
func smallChunks(t *testing.T) {
	debug.ChunkGrain = 7
	t.Cleanup(func() { debug.ChunkGrain = 0 })
}

// TestRun compares kernels compiled ahead of time with those of a session, bit for bit,
// on one thread and in chunks on several.
func TestRun(t *testing.T) {
	smallChunks(t)
	session := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	for _, c := range cases {
		name := c.src
		opts := c.opts
		for _, o := range c.operands {
			name += " " + o.name + ":" + o.format
			opts = append(opts, lacuna.Format(o.name, format(t, o.format, len(o.shape)), o.dt))
		}
		t.Run(name, func(t *testing.T) {
			k := build(t, c.src, opts...)
			r := rand.New(rand.NewPCG(1, 2))
			for _, scale := range []int64{0, 1, 2} {
				args := map[string]*tensor.Tensor{}
				session2 := lacuna.Args{}
				for _, o := range c.operands {
					var shape []int64
					for _, n := range o.shape {
						shape = append(shape, []int64{0, 1, n}[scale])
					}
					args[o.name] = random(t, r, format(t, o.format, len(o.shape)), o.dt, 0.2, shape...)
					session2[o.name] = args[o.name]
				}
				want, wantErr := session.EvalAll(context.Background(), c.src, session2, c.opts...)
				for _, threads := range []int{0, 3} {
					got, err := k.run(args, threads)
					if wantErr != nil || err != nil {
						if wantErr == nil || err == nil {
							t.Fatalf("scale %d: error %v, want %v", scale, err, wantErr)
						}
						continue
					}
					for name, w := range want {
						same(t, name, got[name], w)
					}
				}
			}
		})
	}
}

// same compares two tensors, values bit by bit.
func same(t *testing.T, name string, got, want *tensor.Tensor) {
	t.Helper()
	if got == nil {
		t.Fatalf("there is no result %s", name)
	}
	if _, err := tensor.New(got.Shape(), got.Format(), got.Levels(), got.Values(), tensor.WithFill(got.Fill())); err != nil {
		t.Errorf("%s is not valid: %v", name, err)
	}
	if d := tensor.Diff(got, want); d != "" {
		t.Errorf("%s: %s", name, d)
	}
}
