package results_test

import (
	"context"
	"errors"
	goruntime "runtime"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// allocating is every exported operation that allocates, each asked for some result of a gigabyte; A is a matrix of 12000 rows and
// columns with one entry.
func allocating(t *testing.T, s *lacuna.Session) map[string]func() error {
	const n = 12000
	ctx := context.Background()
	one := [][]int64{{n - 1}, {n - 1}}
	A, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, one, tensor.ArrayOf([]float64{1}))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := A.Blocked([]int64{1, 1}, mustParse(t, "DC-S-D-D", 4))
	if err != nil {
		t.Fatal(err)
	}
	inBlocks, err := tensor.NewBlocks(blocks, A.Shape())
	if err != nil {
		t.Fatal(err)
	}
	parts, err := tensor.HBCSF(A, nil)
	if err != nil {
		t.Fatal(err)
	}
	D, C := tensor.Dense(2), mustParse(t, "DC-C-S", 3)
	result := func(_ *tensor.Tensor, err error) error { return err }
	in := ops.In(s)
	return map[string]func() error{
		"Eval": func() error {
			return result(s.Eval(ctx, "R(i,j) = exp(A(i,j))", lacuna.Args{"A": A}, lacuna.Result("R", D)))
		},
		"Eval, stored again": func() error {
			return result(s.Eval(ctx, "R(i,j) = A(i,j)", lacuna.Args{"A": A}, lacuna.Result("R", D)))
		},
		"Eval of blocks": func() error {
			return result(s.Eval(ctx, "R(i,j) = A(i,j)", lacuna.Args{"A": inBlocks}, lacuna.Result("R", D)))
		},
		"Eval of parts": func() error {
			return result(s.Eval(ctx, "R(i,j) = A(i,j)", lacuna.Args{"A": parts}, lacuna.Result("R", D)))
		},
		"EvalAll": func() error {
			_, err := s.EvalAll(ctx, "R(i,j) = exp(A(i,j))", lacuna.Args{"A": A}, lacuna.Result("R", D))
			return err
		},
		"Run": func() error {
			k, err := s.Compile(context.Background(), "R(i,j) = exp(A(i,j))", lacuna.Operand("A", A), lacuna.Result("R", D))
			if err != nil {
				return err
			}
			return result(k.Run(ctx, lacuna.Args{"A": A}))
		},
		"Prepare": func() error {
			k, err := s.Compile(context.Background(), "R(i,j) = exp(A(i,j))", lacuna.Operand("A", A), lacuna.Result("R", D))
			if err != nil {
				return err
			}
			_, err = k.Prepare(ctx, lacuna.Args{"A": A})
			return err
		},
		"Convert": func() error { return result(s.Convert(ctx, A, D)) },
		"Convert to C": func() error {
			B, err := tensor.FromCoords([]int64{1, 1 << 28, 2}, tensor.CSF(3), [][]int64{{0}, {5}, {1}}, tensor.ArrayOf([]float64{1}))
			if err != nil {
				return err
			}
			return result(s.Convert(ctx, B, C))
		},
		"FromCoords": func() error {
			at := tensor.ArrayOf([]int64{n - 1})
			return result(s.FromColumns(ctx, []int64{n, n}, D, []tensor.Array{at, at}, tensor.ArrayOf([]float64{1})))
		},
		"Reshape":       func() error { return result(s.Reshape(ctx, A, []int64{n * n}, tensor.Dense(1))) },
		"Reshape to C":  func() error { return result(s.Reshape(ctx, A, []int64{n * n, 1}, tensor.CSR)) },
		"Concat":        func() error { return result(s.Concat(ctx, 0, D, A, A)) },
		"Concat to C":   func() error { return result(s.Concat(ctx, 0, mustParse(t, "C-C(duplicates)", 2), A, A)) },
		"ops.Reshape":   func() error { return result(ops.Reshape(ctx, A, []int64{n * n}, ops.StoredAs(tensor.Dense(1)), in)) },
		"ops.Concat":    func() error { return result(ops.Concat(ctx, 1, []*tensor.Tensor{A, A}, ops.StoredAs(D), in)) },
		"ops.Transpose": func() error { return result(ops.Transpose(ctx, A, nil, ops.StoredAs(D), in)) },
		"ops.Add":       func() error { return result(ops.Add(ctx, A, A, ops.StoredAs(D), in)) },
		"ops.Softmax":   func() error { return result(ops.Softmax(ctx, A, ops.Axes(1), ops.StoredAs(D), in)) },
		"ops.CumSum":    func() error { return result(ops.CumSum(ctx, A, ops.Axes(0), ops.StoredAs(D), in)) },
		"ops.Sort":      func() error { return result(ops.Sort(ctx, A, ops.Axes(1), ops.StoredAs(D), in)) },
	}
}

// TestMemoryLimitOfEveryOperation has a session of 64 MiB, which refuses before it allocates.
func TestMemoryLimitOfEveryOperation(t *testing.T) {
	const limit = 64 << 20
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithMemoryLimit(limit))
	for name, call := range allocating(t, s) {
		t.Run(name, func(t *testing.T) { refusedWithin(t, limit, call) })
	}
}

// TestMemoryLimitOfCopies has operands that fit the limit of the session alone.
func TestMemoryLimitOfCopies(t *testing.T) {
	const n, limit = 300, 1 << 20 // 703 KiB of values
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithMemoryLimit(limit))
	values := make([]float64, n*n)
	values[0] = 1
	A, err := tensor.FromDense([]int64{n, n}, tensor.Dense(2), tensor.ArrayOf(values))
	if err != nil {
		t.Fatal(err)
	}
	lower, err := A.Triangle(tensor.SymmetricLower)
	if err != nil {
		t.Fatal(err)
	}
	many := make([]int64, 90_000)
	for i := range many {
		many[i] = int64(i)
	}
	list, err := tensor.FromCoords([]int64{int64(len(many))}, tensor.CSF(1), [][]int64{many}, tensor.ArrayOf(make([]float64, len(many))), tensor.WithFill(tensor.Float(tensor.Float64, 1)))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := tensor.FromCoords([]int64{int64(len(many)), 2}, tensor.COO, [][]int64{many, make([]int64, len(many))}, tensor.ArrayOf(make([]float64, len(many))))
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"Canonical":       func() error { _, err := s.Canonical(ctx, lower); return err },
		"Concat":          func() error { _, err := s.Concat(ctx, 0, tensor.CSF(1), list, list); return err },
		"Concat of lists": func() error { _, err := s.Concat(ctx, 1, tensor.COO, twice, twice); return err },
	} {
		t.Run(name, func(t *testing.T) { refusedWithin(t, 2*limit, call) })
	}
}

// refusedWithin requires that a call is refused for the memory that it would take, and takes less than a limit.
func refusedWithin(t *testing.T, limit uint64, call func() error) {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	err := call()
	goruntime.ReadMemStats(&after)
	var refused *runtime.MemoryLimitError
	if !errors.As(err, &refused) {
		t.Errorf("%v, want a *runtime.MemoryLimitError", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > limit {
		t.Errorf("%d bytes were allocated", used)
	}
}
