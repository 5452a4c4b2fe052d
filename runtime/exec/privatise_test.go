package exec

import (
	"math"
	"math/rand/v2"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// withCoords is a tensor of so many entries, of integers or of values that round.
func withCoords(t *testing.T, r *rand.Rand, f tensor.Format, entries int, rounds bool, shape ...int64) *tensor.Tensor {
	t.Helper()
	coords := make([][]int64, len(shape))
	values := make([]float64, entries)
	for e := range values {
		for axis, n := range shape {
			coords[axis] = append(coords[axis], r.Int64N(n))
		}
		if values[e] = float64(r.IntN(9) - 4); rounds {
			values[e] = r.NormFloat64()
		}
	}
	a, err := tensor.FromCoords(shape, f, coords, tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPrivate compares sums of floats over an index outside the result's, which are cut into parts, with the same in the interpreter in
// one part if numbers do not round, and one number of threads with another if they do.
func TestPrivate(t *testing.T) {
	defer goruntime.GOMAXPROCS(goruntime.GOMAXPROCS(8))
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	}
	for _, test := range []struct {
		src, format string
		parts       int64
	}{
		{"y(j) = A(i,j) * x(i)", "CSR", 16},
		{"y(j) = A(i,j) * x(i)", "COO", 16},
		{"y(j) = A(i,j) * x(i)", "DCSR", 16},
		{"y(i) = A(i,j) * x(j)", "CSC", 16},
		{"y(j) = sum_i A(i,j)", "CSR", 16},
		{"y(j) = sum_i(A(i,j) * x(i)) + sum_i(B(i,j) * x(i))", "CSR", 0},
		{"y(j,k) = A(i,j) * X(i,k)", "CSR", 16},
		{"y(j) = 2*x(j); y(p(j)) += x(j)", "CSR", 16},
		{"y(j) = A(i,j) + B(i,j)", "CSR", 16},
		{"y(i) = A(i,j) * x(j)", "CSR", 0},
	} {
		t.Run(test.src+" "+test.format, func(t *testing.T) {
			for _, rounds := range []bool{false, true} {
				r := rand.New(rand.NewPCG(7, 11))
				f := mustParse(t, test.format, 2)
				all := Args{
					"A": withCoords(t, r, f, 900, rounds, 53, 41), "B": withCoords(t, r, f, 700, rounds, 53, 41),
					"x": withCoords(t, r, tensor.Dense(1), 53, rounds, 53), "X": withCoords(t, r, tensor.Dense(2), 200, rounds, 53, 3),
				}
				places := make([]int64, 53)
				for i := range places {
					places[i] = r.Int64N(53)
				}
				p, err := tensor.NewDense(places)
				if err != nil {
					t.Fatal(err)
				}
				all["p"] = p
				if strings.HasPrefix(test.src, "y(i) = A(i,j) * x(j)") {
					all["x"] = withCoords(t, r, tensor.Dense(1), 41, rounds, 41)
				}
				args := Args{}
				for name, a := range all {
					if strings.Contains(test.src, name+"(") {
						args[name] = a
					}
				}
				run := func(e runtime.Engine, threads int, grain int64) *tensor.Tensor {
					s := NewSession(WithEngine(e), WithThreads(threads))
					s.env.Grain = grain
					options := []Option{Result("y", tensor.Dense(1+strings.Count(test.src[:6], ",")))}
					for name, a := range args {
						options = append(options, Operand(name, a))
					}
					k, err := s.Compile(t.Context(), test.src, options...)
					if err != nil {
						t.Fatal(err)
					}
					y, err := k.Run(t.Context(), args)
					if err != nil {
						t.Fatal(err)
					}
					if parts := k.steps[len(k.steps)-1].latest.Load().private; grain > 0 && parts != test.parts {
						t.Errorf("%d parts, want %d", parts, test.parts)
					}
					return y
				}
				want := run(runtime.Interp(), 1, 0)
				if rounds {
					want = run(runtime.Interp(), 1, 3)
				}
				for _, e := range engines {
					for _, threads := range []int{1, 2, 7} {
						if err := sameArrays(run(e, threads, 3), want); err != nil {
							t.Errorf("%s, %d threads, rounding %v: %.150v", e.Name(), threads, rounds, err)
						}
					}
				}
			}
		})
	}
}

// What no update touches keeps its sign.
func TestPrivateKeepsSigns(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()), WithThreads(2))
	s.env.Grain = 1
	y, err := tensor.NewDense([]float64{math.Copysign(0, -1), 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	p, x := tensor.Vector(make([]int64, 64)), tensor.Vector(make([]float64, 64))
	for k := range 64 {
		tensor.View[int64](p.Values())[k], tensor.View[float64](x.Values())[k] = int64(1+k%2), 0.5
	}
	args := Args{"y": y, "p": p, "x": x}
	k, err := s.Compile(t.Context(), "y(p(j)) += x(j)", Operand("y", y), Operand("p", p), Operand("x", x))
	if err != nil {
		t.Fatal(err)
	}
	out, err := k.Run(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	if parts := k.steps[len(k.steps)-1].latest.Load().private; parts < 2 {
		t.Fatalf("%d parts", parts)
	}
	if v := tensor.StoredValues[float64](out); !math.Signbit(v[0]) || v[1] != 17 || v[2] != 18 {
		t.Errorf("%v, want -0, 17 and 18", v)
	}
}

// Kernels that are planned again keep sums in the written order, too.
func TestPrivateAsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	A, x := withCoords(t, r, tensor.CSR, 900, true, 53, 41), withCoords(t, r, tensor.Dense(1), 53, true, 53)
	s := NewSession(WithEngine(runtime.Interp()), WithThreads(2))
	s.env.Grain = 3
	k, err := s.Compile(t.Context(), "y(j) = A(i,j)*x(i); C(j,i) = A(i,j)", Operand("A", A), Operand("x", x), Result("C", tensor.CSR), AsWritten())
	if err != nil {
		t.Fatal(err)
	}
	args := Args{"A": A, "x": x}
	want, err := k.RunAll(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	again, err := k.Prepare(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.RunAll(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	if err := sameArrays(got["y"], want["y"]); err != nil {
		t.Errorf("prepared: %v", err)
	}
}
