package exec

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A program that runs as written whatever its operands' values are has one kernel for all of them; where values forbid another order, these are
// looked at, also if the first operands have such values.
func TestKernelsByValues(t *testing.T) {
	ctx := context.Background()
	const n = 3000
	spread := func(value float64) *tensor.Tensor {
		var coords [2][]int64
		for i := range int64(n) {
			for k := range int64(8) {
				coords[0], coords[1] = append(coords[0], i), append(coords[1], (i*37+k*411)%n)
			}
		}
		a, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, coords[:], tensor.ArrayOf(slices.Repeat([]float64{value}, len(coords[0]))))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	dense := func(value float64, columns int64) *tensor.Tensor {
		shape := []int64{n, columns}[:min(columns, 2)]
		x, err := tensor.FromDense(shape, tensor.Dense(len(shape)), tensor.ArrayOf(slices.Repeat([]float64{value}, int(n*columns))))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	operands := func(a, x float64) Args {
		return Args{"A": spread(a), "B": spread(3), "x": dense(x, 1), "X": dense(x, 64), "Y": dense(2, 64)}
	}
	finite, infinite := operands(3, 2), operands(0, math.Inf(1))
	for _, test := range []struct {
		name, program string
		byValues      bool
		args          []Args // the first are examples
	}{
		{"finite first", "y(i) = A(i,j)*B(j,k)*x(k)", true, []Args{finite, infinite, finite}},
		{"infinite first", "y(i) = A(i,j)*B(j,k)*x(k)", true, []Args{infinite, finite, infinite}},
		{"as written", "y(i,k) = A(i,j)*X(j,k)*Y(j,k)", false, []Args{finite, infinite, finite}},
		{"as written, infinite first", "y(i,k) = A(i,j)*X(j,k)*Y(j,k)", false, []Args{infinite, finite, infinite}},
	} {
		s := NewSession(WithEngine(runtime.Interp()), WithThreads(1))
		var opts []declare.Option
		for name, o := range test.args[0] {
			if strings.Contains(test.program, name+"(") {
				opts = append(opts, declare.Operand(name, o))
			}
		}
		k, err := s.Compile(ctx, test.program, opts...)
		if err != nil {
			t.Fatal(err)
		}
		for i, args := range test.args {
			used, err := k.chooser.kernel(ctx, args)
			if err != nil {
				t.Fatal(err)
			}
			latest := k.chooser.latest.Load()
			if latest.byValues != test.byValues {
				t.Errorf("%s, %d: the kernel depends on values: %v", test.name, i, latest.byValues)
			}
			isFinite := !math.IsInf(args["x"].(*tensor.Tensor).At(0).Float64(), 0)
			if rewritten := used.written != nil; rewritten != (test.byValues && isFinite) {
				t.Errorf("%s, %d: it has another order: %v", test.name, i, rewritten)
			}
		}
	}
}
