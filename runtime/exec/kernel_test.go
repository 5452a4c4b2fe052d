package exec

import (
	"context"
	"errors"
	"math"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// both are sessions of the two engines, or of one where there is no LLVM.
func both(t *testing.T, opts ...SessionOption) []*Session {
	t.Helper()
	list := []*Session{NewSession(append(opts, WithEngine(runtime.Interp()))...)}
	if cpu, err := runtime.CPU(); err == nil {
		list = append(list, NewSession(append(opts, WithEngine(cpu))...))
	} else {
		t.Logf("interpreter only: %v", err)
	}
	return list
}

func vector(t *testing.T, vals ...float64) *tensor.Tensor {
	t.Helper()
	v, err := tensor.FromDense([]int64{int64(len(vals))}, tensor.Dense(1), tensor.ArrayOf(vals))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func matrix(t *testing.T, f tensor.Format, shape [2]int64, entries ...[3]float64) *tensor.Tensor {
	t.Helper()
	var r, c []int64
	var v []float64
	for _, e := range entries {
		r, c, v = append(r, int64(e[0])), append(c, int64(e[1])), append(v, e[2])
	}
	m, err := tensor.FromCoords(shape[:], f, [][]int64{r, c}, tensor.ArrayOf(v))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func floats(t *testing.T, x *tensor.Tensor) []float64 {
	t.Helper()
	d, err := x.ToDense()
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, d.Len())
	for i := range out {
		out[i] = d.Scalar(i).Float64()
	}
	return out
}

func equal(x, y []float64) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !(math.IsNaN(x[i]) && math.IsNaN(y[i])) {
			return false
		}
	}
	return true
}

// TestSmallPrograms holds programs whose answers a person can check.
func TestSmallPrograms(t *testing.T) {
	ctx := context.Background()
	A := matrix(t, tensor.CSR, [2]int64{3, 4}, [3]float64{0, 1, 1}, [3]float64{0, 3, 2}, [3]float64{2, 0, -3})
	x := vector(t, 1, 2, 3, 4)
	p, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]int32{3, 0, 3}))
	if err != nil {
		t.Fatal(err)
	}
	lse := func(v ...float64) float64 {
		s := 0.0
		for _, x := range v {
			s += math.Exp(x)
		}
		return math.Log(s)
	}
	for _, test := range []struct {
		text string
		args Args
		want []float64
	}{
		{"y(i) = sum_j A(i,j) * x(j)", Args{"A": A, "x": x}, []float64{10, 0, -3}},
		{"y(i) = A(i,j)*x(j) + 1", Args{"A": A, "x": x}, []float64{11, 1, -2}},
		{"s = A(i,j)", Args{"A": A}, []float64{0}},
		{"y(i) = max_j A(i,j)", Args{"A": A}, []float64{2, 0, 0}},
		{"y(i) = min_j A(i,j)", Args{"A": A}, []float64{0, 0, -3}},
		{"y(i) = max_{j in A} A(i,j)", Args{"A": A}, []float64{2, math.Inf(-1), -3}},
		{"y(i) = sum_{j in A} 1", Args{"A": A}, nil},
		{"y(i) = sum_{j in A} (A(i,j) + 1)", Args{"A": A}, []float64{5, 0, -2}},
		{"y(i) = mean_j A(i,j)", Args{"A": A}, []float64{0.75, 0, -0.75}},
		{"y(i) = var_j A(i,j)", Args{"A": A}, []float64{0.6875, 0, 1.6875}},
		{"y(i) = norm_j A(i,j)", Args{"A": A}, []float64{math.Sqrt(5), 0, 3}},
		{"y(i) = count_j A(i,j)", Args{"A": A}, []float64{2, 0, 1}},
		{"y(i) = any_j A(i,j)", Args{"A": A}, []float64{1, 0, 1}},
		{"y(i) = all_j (A(i,j) > -1)", Args{"A": A}, []float64{1, 1, 0}},
		{"y(i) = prod_j (A(i,j) + 1)", Args{"A": A}, []float64{6, 1, -2}},
		{"y(i) = argmax_j A(i,j)", Args{"A": A}, []float64{3, 0, 1}},
		{"y(i) = argmin_j A(i,j)", Args{"A": A}, []float64{0, 0, 0}},
		{"k = argmax_{i,j} A(i,j)", Args{"A": A}, []float64{3}},
		{"k = argmin_{j,i} A(i,j)", Args{"A": A}, []float64{2}},
		{"y(i) = logsumexp_j A(i,j)", Args{"A": A}, []float64{lse(0, 1, 0, 2), math.Log(4), lse(-3, 0, 0, 0)}},
		{"y(i) = x(p(i))", Args{"x": x, "p": p}, []float64{4, 1, 4}},
		{"y(i) = x(i+1) - x(i)", Args{"x": x}, []float64{1, 1, 1, -4}},
		{"y(:) = x(1:3) + x(0:2)", Args{"x": x}, []float64{3, 5}},
		{"y(:) = x(::2)", Args{"x": x}, []float64{1, 3}},
		{"y(i) = A(0,i)", Args{"A": A}, []float64{0, 1, 0, 2}},
		{"m = mean_i x(i); y(i) = x(i) - m", Args{"x": x}, []float64{-1.5, -0.5, 0.5, 1.5}},
		{"s = 2^10", nil, []float64{1024}},
		{"y(i) = where(x(i) > 2, x(i), 0)", Args{"x": x}, []float64{0, 0, 3, 4}},
	} {
		for _, s := range both(t) {
			got, err := s.Eval(ctx, test.text, test.args)
			if test.want == nil {
				if err == nil {
					t.Errorf("%s: no error, got %v", test.text, floats(t, got))
				}
				continue
			}
			if err != nil {
				t.Errorf("%s on %s: %v", test.text, s.Engine().Name(), err)
				continue
			}
			have := floats(t, got)
			for i := range have {
				if i < len(test.want) && math.Abs(have[i]-test.want[i]) <= 4e-16*math.Abs(test.want[i]) {
					have[i] = test.want[i]
				}
			}
			if !equal(have, test.want) {
				t.Errorf("%s on %s: got %v, want %v", test.text, s.Engine().Name(), have, test.want)
			}
		}
	}
}

// TestErrors checks that what is wrong is said, by type where there is one.
func TestErrors(t *testing.T) {
	ctx := context.Background()
	s := NewSession(WithEngine(runtime.Interp()))
	A := matrix(t, tensor.CSR, [2]int64{2, 3}, [3]float64{0, 1, 1})
	empty := matrix(t, tensor.CSR, [2]int64{2, 0})
	bad, err := tensor.FromDense([]int64{1}, tensor.Dense(1), tensor.ArrayOf([]int64{7}))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		args Args
		want string
	}{
		{"y(i) = A(i,j) * z(j)", Args{"A": A}, "unknown tensor z"},
		{"y(i) = A(i)", Args{"A": A}, "A"},
		{"y(i) = A(i,j) * x(j)", Args{"A": A, "x": vector(t, 1, 2)}, "3"},
		{"y(i) = max_j A(i,j)", Args{"A": empty}, "index j"},
		{"y(i) = x(p(i))", Args{"x": vector(t, 1, 2), "p": bad}, "p(0) is 7"},
		{"y = sum_{i in A, j in B} A(i,j)*B(i,j)", Args{"A": A, "B": A}, "not supported yet"},
		{"y(i) = A(i,j)", Args{"A": A, "B": A}, "no operand B"},
		{"y(i) =", nil, "1:7"},
	} {
		_, err := s.Eval(ctx, test.text, test.args)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.text, err, test.want)
		}
	}
	_, err = s.Eval(ctx, "y = sum_{i in A, j in B} A(i,j)*B(i,j)", Args{"A": A, "B": A})
	var le *lang.Error
	if !errors.As(err, &le) || le.Code != lang.ErrUnsupported {
		t.Errorf("a reduction over what two tensors store gives %v, want a lang.Error with code %s", err, lang.ErrUnsupported)
	}
	_, err = s.Eval(ctx, "y(i) = x(p(i))", Args{"x": vector(t, 1, 2), "p": bad})
	var ke *runtime.KernelError
	if !errors.As(err, &ke) {
		t.Errorf("a gather out of range gives %T %v", err, err)
	}
}

// TestMismatchedArguments runs a kernel on operands it was not compiled for.
func TestMismatchedArguments(t *testing.T) {
	ctx := context.Background()
	k, err := NewSession(WithEngine(runtime.Interp())).Compile(t.Context(), "y(i) = sum_j A(i,j)", Format("A", tensor.CSR, tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	csc := matrix(t, tensor.CSC, [2]int64{2, 2}, [3]float64{0, 1, 1})
	ints, err := tensor.FromDense([]int64{1, 1}, tensor.CSR, tensor.ArrayOf([]int64{7}))
	if err != nil {
		t.Fatal(err)
	}
	filled, err := tensor.FromCoords([]int64{1, 1}, tensor.CSR, [][]int64{{}, {}}, tensor.ArrayOf([]float64{}), tensor.WithFill(tensor.Float(tensor.Float64, 2)))
	if err != nil {
		t.Fatal(err)
	}
	for want, arg := range map[string]*tensor.Tensor{
		"missing": nil, "rank 1": vector(t, 1), "stored as CSC": csc, "holds i64": ints, "fill 2": filled,
	} {
		if _, err := k.Run(ctx, Args{"A": arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestIndexWidths runs one program on operands with every width of index.
func TestIndexWidths(t *testing.T) {
	ctx := context.Background()
	widths := []tensor.DType{tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Int32, tensor.Int64}
	x := vector(t, 1, 2, 3)
	for _, s := range both(t) {
		k, err := s.Compile(t.Context(), "C(i,j) = A(i,j) * x(j) + A(i,j)", Format("A", tensor.DCSR, tensor.Float64), Format("x", tensor.Dense(1), tensor.Float64))
		if err != nil {
			t.Fatal(err)
		}
		for _, pos := range widths {
			for _, crd := range widths {
				A, err := tensor.FromCoords([]int64{3, 3}, tensor.DCSR, [][]int64{{0, 2, 2}, {1, 0, 2}}, tensor.ArrayOf([]float64{1, 2, 3}), tensor.WithIndexTypes(pos, crd))
				if err != nil {
					t.Fatal(err)
				}
				got, err := k.Run(ctx, Args{"A": A, "x": x})
				if err != nil {
					t.Fatalf("%s/%s: %v", pos, crd, err)
				}
				if have := floats(t, got); !equal(have, []float64{0, 3, 0, 0, 0, 0, 4, 0, 12}) {
					t.Errorf("%s/%s: got %v", pos, crd, have)
				}
			}
		}
	}
}

// TestHugeDimensions works on vectors of 10^12 elements of which a few are stored.
func TestHugeDimensions(t *testing.T) {
	ctx := context.Background()
	const n = 1_000_000_000_000
	sparse := func(coords []int64, vals ...float64) *tensor.Tensor {
		v, err := tensor.FromCoords([]int64{n}, tensor.CSF(1), [][]int64{coords}, tensor.ArrayOf(vals))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a := sparse([]int64{5, 1 << 33, n - 1}, 1, 2, 3)
	b := sparse([]int64{5, 1 << 34, n - 1}, 10, 20, 30)
	for _, s := range both(t) {
		sum, err := s.Eval(ctx, "c(i) = a(i) + b(i)", Args{"a": a, "b": b})
		if err != nil {
			t.Fatal(err)
		}
		if sum.NNZ() != 4 || sum.At(5).Float64() != 11 || sum.At(1<<34).Float64() != 20 || sum.At(n-1).Float64() != 33 {
			t.Errorf("sum is %v with %d entries", sum, sum.NNZ())
		}
		for text, want := range map[string]float64{
			"s = sum_i a(i)*b(i)": 100, "s = max_i a(i)": 3, "s = min_i a(i)": 0, "s = sum_i (a(i) + 1)": n + 6,
			"s = argmax_i a(i)": n - 1, "s = count_i a(i)": 3, "s = prod_i (1 + a(i)*0)": 1,
		} {
			got, err := s.Eval(ctx, text, pick(text, Args{"a": a, "b": b}))
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if v := got.At().Float64(); v != want {
				t.Errorf("%s = %v, want %v", text, v, want)
			}
		}
		dense := NewSession(WithEngine(s.Engine()), WithMemoryLimit(1<<20))
		_, err = dense.Eval(ctx, "d(i) = a(i)", Args{"a": a}, Result("d", tensor.Dense(1)))
		var limit *runtime.MemoryLimitError
		if !errors.As(err, &limit) {
			t.Errorf("a dense result of 8 TB: %v, want a MemoryLimitError", err)
		}
	}
}

// pick keeps the operands that a program uses.
func pick(text string, args Args) Args {
	out := Args{}
	for name, v := range args {
		if strings.Contains(text, name+"(") {
			out[name] = v
		}
	}
	return out
}

// TestThreads checks that results are the same bits for any number of threads.
func TestThreads(t *testing.T) {
	ctx := context.Background()
	const n = 3000
	var r, c []int64
	var v []float64
	for i := int64(0); i < n; i++ {
		for k := int64(0); k < 40; k++ {
			r, c, v = append(r, i), append(c, (i*k*k+7*k)%n), append(v, 1/float64(i+k+1))
		}
	}
	A, err := tensor.FromCoords([]int64{n, n}, tensor.CSR, [][]int64{r, c}, tensor.ArrayOf(v))
	if err != nil {
		t.Fatal(err)
	}
	coo, err := A.Convert(tensor.COO)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range both(t) {
		for _, text := range []string{"s = sum_{i,j} A(i,j)", "y(i) = sum_j A(i,j)", "C(i,j) = A(i,j) * A(i,j)", "s = logsumexp_{i,j} A(i,j)", "s = prod_{i,j} (A(i,j) + 1)", "C(i,j) = A(i,j) + B(i,j)"} {
			var first *tensor.Tensor
			for _, threads := range []int{1, 2, 7} {
				session := NewSession(WithEngine(s.Engine()), WithThreads(threads))
				got, err := session.Eval(ctx, text, pick(text, Args{"A": A, "B": coo}))
				if err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if first == nil {
					first = got
				} else if d := tensor.Diff(first, got); d != "" {
					t.Errorf("%s with %d threads: %s", text, threads, d)
				}
			}
		}
	}
}

// TestConcurrentRuns shares one kernel between goroutines.
func TestConcurrentRuns(t *testing.T) {
	A := matrix(t, tensor.CSC, [2]int64{3, 4}, [3]float64{0, 1, 1}, [3]float64{0, 3, 2}, [3]float64{2, 0, -3})
	for _, s := range both(t) {
		k, err := s.Compile(t.Context(), "y(i) = max_j A(i,j) * x(j)", Operand("A", A), Format("x", tensor.Dense(1), tensor.Float64))
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := 0; g < 8; g++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				x := vector(t, 1, float64(g), 1, 1)
				for n := 0; n < 50; n++ {
					y, err := k.Run(context.Background(), Args{"A": A, "x": x})
					if err != nil {
						t.Error(err)
						return
					}
					if got := y.At(0).Float64(); got != max(2, float64(g)) {
						t.Errorf("goroutine %d: %v", g, got)
						return
					}
				}
			}()
		}
		wg.Wait()
	}
}

// TestCancelled runs with a context that has ended.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	A := matrix(t, tensor.CSR, [2]int64{1, 1}, [3]float64{0, 0, 1})
	if _, err := NewSession(WithEngine(runtime.Interp())).Eval(ctx, "s = A(i,j)", Args{"A": A}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A kernel is compiled for its first operands, and does not keep them.
func TestKernelsKeepNoOperands(t *testing.T) {
	s := NewSession(WithEngine(runtime.Interp()))
	gone := func() weak.Pointer[tensor.Tensor] {
		x, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2, 3}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Eval(t.Context(), "s = x(i)", Args{"x": x}); err != nil {
			t.Fatal(err)
		}
		return weak.Make(x)
	}()
	for range 100 {
		if goruntime.GC(); gone.Value() == nil {
			break
		}
	}
	if gone.Value() != nil {
		t.Error("the operand that a kernel was compiled for is kept")
	}
	goruntime.KeepAlive(s)
}
