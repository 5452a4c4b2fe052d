package exec

import (
	"context"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests declarations that make no sense (runtime/declare).

// What makes no sense is an error that says what to write, not a panic.
func TestNilsAreErrors(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()), nil)
	x := vector(t, 1, 2)
	ctx := context.Background()
	var none context.Context
	k, err := s.Compile(t.Context(), "y(i) = 2 * x(i)", Operand("x", x))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, want string
		f          func() error
	}{
		{"Eval without context", "context.Background()", func() error { _, err := s.Eval(none, "y(i) = x(i)", Args{"x": x}); return err }},
		{"EvalAll without context", "context.Background()", func() error { _, err := s.EvalAll(none, "y(i) = x(i)", Args{"x": x}); return err }},
		{"Run without context", "context.Background()", func() error { _, err := k.Run(none, Args{"x": x}); return err }},
		{"RunAll without context", "context.Background()", func() error { _, err := k.RunAll(none, Args{"x": x}); return err }},
		{"Eval with a nil option", "option is nil", func() error { _, err := s.Eval(ctx, "y(i) = x(i)", Args{"x": x}, nil); return err }},
		{"Compile with a nil option", "option is nil", func() error { _, err := s.Compile(t.Context(), "y(i) = x(i)", Operand("x", x), nil); return err }},
		{"Eval with a nil operand", "operand x is nil", func() error { _, err := s.Eval(ctx, "y(i) = x(i)", Args{"x": nil}); return err }},
		{"Run with a nil operand", "operand x is missing", func() error { _, err := k.Run(ctx, Args{"x": nil}); return err }},
		{"a nil example", "operand x is nil", func() error { _, err := s.Compile(t.Context(), "y(i) = x(i)", Operand("x", nil)); return err }},
		{"a fill that is no value", "zero Scalar", func() error {
			_, err := s.Compile(t.Context(), "y(i) = x(i)", Operand("x", x), Fill("y", tensor.Scalar{}))
			return err
		}},
	} {
		if err := test.f(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
}

// Options that contradict an operand are refused, in whatever order they come;
// those that repeat what it is are not.
func TestContradictingOptions(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	seven, zero := tensor.Float(tensor.Float64, 7), tensor.Int(tensor.Int64, 0)
	x := vector(t, 1, 2)
	sp, err := x.Convert(tensor.CSF(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		y    *tensor.Tensor
		opt  Option
		want string // "": allowed
	}{
		{"y(i) += x(i)", sp, Fill("y", seven), "fill 7"},
		{"y(i) += x(i)", sp, Fill("y", zero), ""},
		{"y(i) += x(i)", x, Fill("y", seven), "fill 7"},
		{"y(i) += x(i)", sp, Result("y", tensor.Dense(1)), "stored as S f64"},
		{"y(i) += x(i)", sp, Result("y", tensor.CSF(1)), ""},
		{"y(i) += x(i)", sp, ResultType("y", tensor.Float32), "stored as S f64"},
		{"y(i) += x(i)", sp, ResultType("y", tensor.Float64), ""},
		{"y(i) += x(i)", sp, Format("y", tensor.CSF(1), tensor.Float32), "stored as S f64"},
		{"z(i) = x(i) + y(i)", sp, Fill("y", seven), "fill 7"},
		{"z(i) = y(i-1)", x, Fill("y", seven), ""}, // what lies outside a dense tensor
	} {
		for _, opts := range [][]Option{
			{Operand("x", x), Operand("y", test.y), test.opt},
			{test.opt, Operand("y", test.y), Operand("x", x)},
		} {
			_, err := s.Compile(t.Context(), test.text, opts...)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%s: %v", test.text, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%s: error %v, want one with %q", test.text, err, test.want)
			}
		}
	}
}

// BenchmarkEval is the cost of evaluating a small program again.
func BenchmarkEval(b *testing.B) {
	A, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int64{{0, 1, 2}, {2, 1, 0}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		b.Fatal(err)
	}
	x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{runtime.InterpName, runtime.CPUName} {
		e, err := runtime.EngineByName(name, nil)
		if err != nil {
			continue
		}
		s := NewSession(WithEngine(e))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Eval(ctx, "y(i) = sum_j A(i,j) * x(j)", Args{"A": A, "x": x}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
