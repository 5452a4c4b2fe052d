package exec

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/testing/testengine"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// TestRepeatedRuns: a run on a device that is told again gives what it would give by itself, also for other dense operands, and does not stand in for
// one on others.
func TestRepeatedRuns(t *testing.T) {
	engine := testengine.Or(t, runtime.Simulated())
	r := rand.New(rand.NewPCG(5, 6))
	must := must(t)
	matrix := func(n, step int64) *tensor.Tensor {
		var at [2][]int64
		var values []float64
		for i := range n {
			for k := range int64(7) {
				at[0], at[1], values = append(at[0], i), append(at[1], (i*step+k*k)%n), append(values, r.Float64()-0.5)
			}
		}
		return must(tensor.FromCoords([]int64{n, n}, tensor.CSR, at[:], tensor.ArrayOf(values)))
	}
	dense := func(shape ...int64) *tensor.Tensor {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		values := make([]float64, n)
		for i := range values {
			values[i] = r.Float64() - 0.5
		}
		return must(tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(values)))
	}
	const n = 53 // so that a row's columns differ
	for _, c := range []struct {
		program  string
		operands string // the matrices and vectors that it has
		repeats  bool   // the device is told again
	}{
		{"y(i) = A(i,j)*x(j)", "Ax", true},
		{"y(i) = A(i,j)*B(j,k)*x(k)", "ABx", true},
		{"y(j) = A(i,j)*x(i)", "Ax", true}, // A as CSC, which is remembered
		{"y(i) = A(i,j)*x(j)\nz(i) = y(i)*u(i)", "Axu", true},
		{"s = A(i,j)*x(j)*u(i)", "Axu", true},
		{"Y(i,k) = A(i,j)*X(j,k)", "AX", true},
		{"y(i) = x(i) + u(i)", "xu", true},
		{"y(i) = max_j A(i,j)*x(j)", "Ax", true},
		{"C(i,j) = A(i,j)*x(j)", "Ax", false}, // how much C stores is read from the device
		{"C(i,k) = A(i,j)*B(j,k)", "AB", false},
		{"y(i) = cumsum_i x(i)", "x", true},
		{"y(i) = A(i,j)*exp(x(j))", "Ax", true},
	} {
		s := NewSession(WithEngine(engine), WithResidentResults(), WithConversionKernels())
		operands := func() Args {
			args := Args{}
			for _, name := range c.operands {
				switch name {
				case 'A', 'B':
					args[string(name)] = matrix(n, 1+r.Int64N(9))
				case 'X':
					args["X"] = dense(n, 5)
				default:
					args[string(name)] = dense(n)
				}
			}
			return args
		}
		on := func(args Args) Args {
			there := Args{}
			for name, o := range args {
				there[name] = must(s.ToDevice(t.Context(), o.(*tensor.Tensor)))
			}
			return there
		}
		first, other := on(operands()), on(operands())
		mixed := Args{} // the matrices of the first, with other vectors
		for name, o := range first {
			if mixed[name] = o; o.(*tensor.Tensor).Format().IsDense() {
				mixed[name] = other[name]
			}
		}
		alone := NewSession(WithEngine(engine), WithResidentResults(), WithConversionKernels())
		var want [3]*tensor.Tensor // of fewer runs than are recorded
		for i, args := range []Args{first, mixed, other} {
			want[i] = must(alone.Eval(t.Context(), c.program, args))
		}
		var opts []declare.Option
		for name, o := range first {
			opts = append(opts, declare.Operand(name, o))
		}
		k, err := s.Compile(t.Context(), c.program, opts...)
		if err != nil {
			t.Fatalf("%s: %v", c.program, err)
		}
		repeats := func() int64 {
			if c := k.chooser; c != nil {
				return c.latest.Load().kernel.repeats.Load()
			}
			return k.repeats.Load()
		}
		for i, step := range []struct {
			args  Args
			want  *tensor.Tensor
			again bool // it may be told again
		}{
			{first, want[0], false}, {mixed, want[1], false}, {other, want[2], false}, {first, want[0], false},
			{first, want[0], true}, {mixed, want[1], true}, {first, want[0], true}, {other, want[2], false}, {mixed, want[1], true},
		} {
			before := repeats()
			got, err := k.Run(t.Context(), step.args)
			if err != nil {
				t.Fatalf("%s, run %d: %v", c.program, i, err)
			}
			if told := repeats() == before; told != (step.again && c.repeats) && !onlyDense(c.operands) {
				t.Errorf("%s, run %d: the device is told again: %v", c.program, i, told)
			}
			if diff := tensor.Diff(got, step.want); diff != "" {
				t.Errorf("%s, run %d: %s", c.program, i, diff)
			}
			if i%2 == 0 {
				got.Release()
			}
		}
		for _, args := range []Args{first, other} {
			for _, o := range args {
				o.(*tensor.Tensor).Release()
			}
		}
		if _, err := k.Run(t.Context(), first); err == nil {
			t.Errorf("%s: a run on operands that were released", c.program)
		}
	}
}

// onlyDense reports whether all operands are dense, so that any may come in the place of any.
func onlyDense(operands string) bool {
	for _, name := range operands {
		if name == 'A' || name == 'B' {
			return false
		}
	}
	return true
}

// TestSameMemoryAgain: operands that are the same memory, which is somebody else's and which each has an array of its own for, may be others when the run is
// told again.
func TestSameMemoryAgain(t *testing.T) {
	s := NewSession(WithEngine(testengine.Or(t, runtime.Simulated())), WithResidentResults())
	must := must(t)
	vector := func(values ...float64) *tensor.Tensor {
		return must(s.ToDevice(t.Context(), must(tensor.FromDense([]int64{int64(len(values))}, tensor.Dense(1), tensor.ArrayOf(values)))))
	}
	a, b, want := vector(1, 2, 3), vector(10, 20, 30), vector(12, 24, 36)
	foreign := func(x *tensor.Tensor) *tensor.Tensor {
		of := x.Values().Remote().(*runtime.Resident)
		r, err := runtime.ForeignResident(s.Engine(), of.Address(), of.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		return tensor.NewTrusted(x.Shape(), x.Format(), x.Levels(), tensor.RemoteArray(x.DType(), 3, r), x.Fill())
	}
	k, err := s.Compile(t.Context(), "y(i) = 2*x(i) + u(i)", declare.Operand("x", a), declare.Operand("u", b))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * leastRepeats {
		must(k.Run(t.Context(), Args{"x": foreign(a), "u": foreign(a)}))
	}
	if diff := tensor.Diff(must(k.Run(t.Context(), Args{"x": foreign(a), "u": foreign(b)})), want); diff != "" {
		t.Error(diff)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * leastRepeats {
		must(k.Run(t.Context(), Args{"x": a, "u": b}))
		if _, err := k.Run(over, Args{"x": a, "u": b}); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
	}
}
