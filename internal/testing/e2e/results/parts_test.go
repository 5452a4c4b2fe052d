package results_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// pieceSessions are sessions of every engine there is, on one thread and on three.
func pieceSessions(t *testing.T) []*lacuna.Session {
	engines := []runtime.Engine{runtime.Interp()}
	if cpu, err := runtime.CPU(); err == nil {
		engines = append(engines, cpu)
	} else {
		t.Logf("interpreter only: %v", err)
	}
	list := []*lacuna.Session{lacuna.NewSession(lacuna.WithEngine(runtime.Interp()), lacuna.WithThreads(1))}
	for _, e := range engines {
		list = append(list, lacuna.NewSession(lacuna.WithEngine(e), lacuna.WithThreads(3)))
	}
	return list
}

// randomEntries is a tensor with small whole numbers at n random coordinates.
func randomEntries(t *testing.T, seed uint64, shape []int64, n int, f tensor.Format, opts ...tensor.Option) *tensor.Tensor {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	seen := map[string]bool{}
	coords := make([][]int64, len(shape))
	var values []float64
	for range n {
		c := make([]int64, len(shape))
		for axis := range c {
			c[axis] = r.Int64N(shape[axis])
		}
		if seen[fmt.Sprint(c)] {
			continue
		}
		seen[fmt.Sprint(c)] = true
		for axis := range c {
			coords[axis] = append(coords[axis], c[axis])
		}
		values = append(values, float64(1+r.IntN(9)))
	}
	out, err := tensor.FromCoords(shape, f, coords, tensor.ArrayOf(values), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// splitEntries stores the entries of a tensor in parts of the given formats, in turn.
func splitEntries(t *testing.T, a *tensor.Tensor, formats ...tensor.Format) *tensor.Parts {
	t.Helper()
	coords, values, err := a.ToCoords()
	if err != nil {
		t.Fatal(err)
	}
	var parts []*tensor.Tensor
	for k, f := range formats {
		some := make([][]int64, a.Rank())
		var list []float64
		for i := k; i < values.Len(); i += len(formats) {
			for axis := range some {
				some[axis] = append(some[axis], coords[axis][i])
			}
			list = append(list, values.Scalar(i).Float64())
		}
		part, err := tensor.FromCoords(a.Shape(), f, some, tensor.ArrayOf(list), tensor.WithFill(a.Fill()))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	p, err := tensor.NewParts(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameElements compares tensors element by element.
func sameElements(t *testing.T, what string, got, want *tensor.Tensor) {
	t.Helper()
	g, err := got.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	w, err := want.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.Len() {
		if !g.Scalar(i).Same(w.Scalar(i)) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g.Scalar(i), w.Scalar(i))
		}
	}
}

// TestPieces compares programs on operands in pieces with the same on one tensor. The
// numbers are whole, so sums have one value in any order.
func TestPieces(t *testing.T) {
	inf := tensor.WithFill(tensor.Float(tensor.Float64, math.Inf(1)))
	x := randomEntries(t, 1, []int64{9}, 40, tensor.Dense(1))
	v := randomEntries(t, 7, []int64{9}, 4, tensor.CSF(1))
	B := randomEntries(t, 2, []int64{9, 4}, 200, tensor.Dense(2))
	S := randomEntries(t, 3, []int64{9, 9}, 30, tensor.CSR)
	A := randomEntries(t, 4, []int64{9, 9}, 40, tensor.CSR)
	W := randomEntries(t, 5, []int64{9, 9}, 40, tensor.CSR, inf)
	T := randomEntries(t, 6, []int64{9, 9, 9}, 150, tensor.CSF(3))
	half := func(a *tensor.Tensor, s tensor.Structure) (tensor.Operand, *tensor.Tensor) {
		kept, err := lacuna.Eval(context.Background(), "L(i,j) = where(i > j, A(i,j), 0)", lacuna.Args{"A": a}, lacuna.Result("L", a.Format()))
		if err != nil {
			t.Fatal(err)
		}
		if s.Upper() {
			if kept, err = kept.Transpose(nil); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err = kept.WithStructure(s); err != nil {
			t.Fatal(err)
		}
		whole, err := kept.Expand()
		if err != nil {
			t.Fatal(err)
		}
		return kept, whole
	}
	lower, symmetric := half(A, tensor.SymmetricLower)
	upper, symmetric2 := half(A, tensor.SymmetricUpper)
	skew, antisymmetric := half(A, tensor.SkewSymmetricLower)
	mixed, err := tensor.MMCSF(T)
	if err != nil {
		t.Fatal(err)
	}
	hybrid, err := tensor.HBCSF(T, nil)
	if err != nil {
		t.Fatal(err)
	}
	blocked, err := A.Blocked([]int64{2, 4}, tensor.BSR)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := tensor.NewBlocks(blocked, A.Shape())
	if err != nil {
		t.Fatal(err)
	}
	three := splitEntries(t, A, tensor.CSR, tensor.CSC, tensor.COO)
	const restores = -1
	for _, test := range []struct {
		name, program string
		pieces        tensor.Operand
		whole         *tensor.Tensor
		conversions   int // of the plan; -1: some
	}{
		{"parts, SpMV", "y(i) = sum_j A(i,j)*x(j)", three, A, 0},
		{"parts, SpMM", "Y(i,k) = sum_j A(i,j)*B(j,k)", three, A, 0},
		{"parts, norm", "y = norm_{i,j} A(i,j)", three, A, 0},
		{"parts, prod", "y(i) = prod_j (A(i,j)+1)", three, A, 0},
		{"parts, max", "y(i) = max_j A(i,j)", three, A, restores},
		{"parts, SpGEMM", "C(i,k) = sum_j A(i,j)*S(j,k)", three, A, 1}, // of the part by columns
		{"parts, twice", "C(i,k) = sum_j A(i,j)*A(j,k)", three, A, restores},
		{"parts, elementwise", "C(i,j) = A(i,j)*S(i,j) + S(j,i)", three, A, restores},
		{"parts, stored", "y(i) = sum_{j in A} (A(i,j)+1)", three, A, 1},
		{"parts, updated", "A(i,j) += S(i,j)", three, A, 1},
		{"parts, min-plus", "y(i) = min_j (A(i,j)+x(j))", splitEntries(t, W, tensor.CSR, tensor.CSC), W, 0},
		{"parts, fill", "C(i,j) = A(i,j) - S(i,j)", splitEntries(t, W, tensor.CSR, tensor.CSR), W, 0},
		{"one part", "y(i) = sum_j A(i,j)*x(j)", splitEntries(t, A, tensor.CSC), A, 0},
		{"lower, SpMV", "y(i) = sum_j A(i,j)*x(j)", lower, symmetric, 0},
		{"upper, SpMV", "y(i) = sum_j A(i,j)*x(j)", upper, symmetric2, 0},
		{"skew, SpMV", "y(i) = sum_j A(i,j)*x(j)", skew, antisymmetric, 0},
		{"lower, transposed", "y(j) = sum_i A(i,j)*x(i)", lower, symmetric, 0},
		{"lower, SpMM", "Y(i,k) = sum_j A(i,j)*B(j,k)", lower, symmetric, 0},
		{"lower, scaled", "y(i) = x(i)*sum_j A(i,j)*x(j)", lower, symmetric, restores},
		{"lower, weighted", "y(i) = sum_j x(i)*A(i,j)*x(j)", lower, symmetric, 0},
		{"lower, sparse weights", "z(i) = sum_j v(i)*A(i,j)*x(j)", lower, symmetric, 0},
		{"lower, quadratic", "y = sum_{i,j} x(i)*A(i,j)*x(j)", lower, symmetric, 0},
		{"lower, SpGEMM", "C(i,k) = sum_j A(i,j)*S(j,k)", lower, symmetric, restores},
		{"lower, max", "y(i) = max_j A(i,j)", lower, symmetric, restores},
		{"lower, shifted", "y(i) = sum_j A(i,j+1)*x(j)", lower, symmetric, 0},
		{"MM-CSF, mode 0", "Y(i,r) = sum_{j,k} A(i,j,k)*B(j,r)*B(k,r)", mixed, T, 0},
		{"MM-CSF, mode 1", "Y(j,r) = sum_{i,k} A(i,j,k)*B(i,r)*B(k,r)", mixed, T, 0},
		{"MM-CSF, mode 2", "Y(k,r) = sum_{i,j} A(i,j,k)*B(i,r)*B(j,r)", mixed, T, 0},
		{"HB-CSF", "Y(i,r) = sum_{j,k} A(i,j,k)*B(j,r)*B(k,r)", hybrid, T, 0},
		{"blocks", "y(i) = sum_j A(i,j)*x(j)", blocks, A, 0},
	} {
		for _, s := range pieceSessions(t) {
			what := fmt.Sprintf("%s on %s", test.name, s.Engine().Name())
			args := lacuna.Args{"A": test.whole, "x": x, "B": B, "S": S, "v": v}
			for name := range args {
				if !strings.Contains(test.program, name+"(") {
					delete(args, name)
				}
			}
			var opts []lacuna.Option
			switch test.program[0] {
			case 'Y':
				opts = append(opts, lacuna.Result("Y", tensor.Dense(2)))
			case 'z':
				opts = append(opts, lacuna.Result("z", tensor.Dense(1)))
			}
			want, err := s.Eval(context.Background(), test.program, args, opts...)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			args["A"] = test.pieces
			for name, o := range args {
				opts = append(opts, lacuna.Operand(name, o))
			}
			k, err := s.Compile(t.Context(), test.program, opts...)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if n := len(k.Conversions()); n != test.conversions && (test.conversions >= 0 || n == 0) {
				t.Errorf("%s: conversions %q, want %d", what, k.Conversions(), test.conversions)
			}
			for range 2 {
				got, err := k.Run(context.Background(), args)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				sameElements(t, what, got, want)
			}
		}
	}
}

// TestTriangleInOnePass shows the loops of a symmetric matrix and a vector: one walk over
// what is stored.
func TestTriangleInOnePass(t *testing.T) {
	k, err := lacuna.Compile(t.Context(), "y(i) = sum_j A(i,j)*x(j)",
		lacuna.FormatTriangle("A", tensor.CSR, tensor.Float64, tensor.SymmetricLower), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := k.Explain("plan")
	if err != nil {
		t.Fatal(err)
	}
	const want = `tensor A: CSR f64
tensor x: D f64
tensor y: D f64
forall i2
  where t2 = sum over j3
    forall j3
      t2 sum= (A(i2,j3) * x(j3))
      y(j3) sum= where((j3 < i2), (A(i2,j3) * x(i2)), 0)
  y(i2) sum= t2
`
	if plan != want {
		t.Errorf("got\n%s\nwant\n%s", plan, want)
	}
}

// TestTriangleKeepsInfinities checks that what is not stored is not multiplied: 0*inf is
// nan.
func TestTriangleKeepsInfinities(t *testing.T) {
	for _, s := range pieceSessions(t) {
		x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{math.Inf(1), 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		y, err := s.Eval(context.Background(), "y(i) = sum_j A(i,j)*x(j)", lacuna.Args{"A": symmetricOperand(t), "x": x})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []float64{math.Inf(1), math.Inf(1), math.Inf(1)} {
			if got := y.At(int64(i)).Float64(); got != want {
				t.Errorf("y(%d) = %v, want %v", i, got, want)
			}
		}
	}
}

// TestPiecesMismatch runs kernels on operands that are stored otherwise than declared.
func TestPiecesMismatch(t *testing.T) {
	A := randomEntries(t, 1, []int64{4, 4}, 6, tensor.CSR)
	x := randomEntries(t, 2, []int64{4}, 20, tensor.Dense(1))
	parts := splitEntries(t, A, tensor.CSR, tensor.CSC)
	triangle, err := randomEntries(t, 1, []int64{4, 4}, 0, tensor.CSR).WithStructure(tensor.SymmetricLower)
	if err != nil {
		t.Fatal(err)
	}
	const program = "y(i) = sum_j A(i,j)*x(j)"
	inParts := lacuna.FormatParts("A", tensor.Float64, tensor.CSR, tensor.CSC)
	inTriangle := lacuna.FormatTriangle("A", tensor.CSR, tensor.Float64, tensor.SymmetricLower)
	for _, test := range []struct {
		declared lacuna.Option
		arg      tensor.Operand
		want     string // part of the error; "": none
	}{
		{inParts, parts, ""},
		{inParts, A, "has 1 parts, but the kernel was compiled for 2"},
		{inParts, splitEntries(t, A, tensor.CSR, tensor.CSR), "stored as CSR, but the kernel was compiled for CSC"},
		{inParts, (*tensor.Parts)(nil), "operand A is missing"},
		{inTriangle, triangle, ""},
		{inTriangle, A, "has the structure general, but the kernel was compiled for symmetric_lower"},
		{lacuna.Format("A", tensor.CSR, tensor.Float64), parts, ""},
		{lacuna.Format("A", tensor.CSR, tensor.Float64), triangle, ""},
		{lacuna.FormatParts("A", tensor.Float64), parts, "with no format"},
		{lacuna.FormatParts("A", tensor.Float64, tensor.CSR, tensor.CSF(3)), parts, "one rank"},
		{lacuna.FormatTriangle("A", tensor.CSF(3), tensor.Float64, tensor.SymmetricLower), parts, "only a matrix"},
	} {
		k, err := lacuna.Compile(t.Context(), program, test.declared, lacuna.Operand("x", x))
		if err == nil {
			_, err = k.Run(context.Background(), lacuna.Args{"A": test.arg, "x": x})
		}
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%v: %v, want %q", test.arg, err, test.want)
		}
	}
}

// TestGradientOfPieces derives with respect to, and through, operands in pieces.
func TestGradientOfPieces(t *testing.T) {
	ctx := context.Background()
	s := lacuna.NewSession(lacuna.WithEngine(runtime.Interp()))
	A := randomEntries(t, 1, []int64{5, 5}, 12, tensor.CSR)
	x := randomEntries(t, 2, []int64{5}, 30, tensor.Dense(1))
	parts := splitEntries(t, A, tensor.CSR, tensor.CSR)
	for _, wrt := range []string{"A", "x"} {
		const program = "y = sum_{i,j} A(i,j)*A(i,j)*x(i)*x(j)"
		want, err := s.EvalGrad(ctx, program, wrt, lacuna.Args{"A": A, "x": x})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.EvalGrad(ctx, program, wrt, lacuna.Args{"A": parts, "x": x})
		if err != nil {
			t.Fatal(err)
		}
		if d := tensor.Diff(got, want); d != "" {
			t.Errorf("with respect to %s: %s", wrt, d)
		}
	}
}
