package lacuna_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

func spmvFunc(t testing.TB, s *lacuna.Session) (*lacuna.Kernel, *tensor.Tensor) {
	t.Helper()
	a, err := tensor.NewCSR([]int64{3, 3}, []int32{0, 1, 1, 3}, []int32{0, 0, 2}, []float64{2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	k, err := s.Compile(t.Context(), "y(i) = A(i,j) * x(j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	return k, a
}

// TestFuncsAreTheirKernels: a function returns what Kernel.Run does, with one operand after the other, of other kinds among
// them, and whatever the kind of program.
func TestFuncsAreTheirKernels(t *testing.T) {
	k, a := spmvFunc(t, lacuna.NewSession())
	f, err := lacuna.Bind[float64](k, "x", "A")
	if err != nil {
		t.Fatal(err)
	}
	y := make([]float64, 3)
	wide, err := tensor.NewCSR([]int64{3, 3}, []int64{0, 0, 1, 2}, []int64{1, 0}, []float64{5, 6})
	if err != nil {
		t.Fatal(err)
	}
	changed, err := tensor.Update(a, tensor.Set(7, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, m := range []*tensor.Tensor{a, wide, changed, a} {
			for _, x := range [][]float64{{1, 2, 3}, {4, 5, 6}} {
				want, err := k.Run(t.Context(), lacuna.Args{"A": m, "x": tensor.Vector(x)})
				if err != nil {
					t.Fatal(err)
				}
				got, err := f.Run(t.Context(), tensor.Vector(x), m)
				if err != nil || fmt.Sprint(got) != fmt.Sprint(tensor.StoredValues[float64](want)) {
					t.Fatal(got, want, err)
				}
				if err := f.RunInto(t.Context(), y, tensor.Vector(x), m); err != nil || fmt.Sprint(got) != fmt.Sprint(y) {
					t.Fatal(got, y, err)
				}
			}
		}
	}
	other, err := tensor.NewCSR([]int64{1, 2}, []int32{0, 1}, []int32{1}, []float64{9})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.RunInto(t.Context(), y[:1], tensor.Vector([]float64{1, 2}), other); err != nil || y[0] != 18 {
		t.Error(y[0], err)
	}
	for _, src := range []string{ // several steps; a workspace; an order that is chosen; operands stored otherwise
		"z(j) = A(i,j); y(i) = A(i,j)*x(j) + sum_k z(k)", "y(j) = A(i,j)*x(i)", "y(i) = A(i,k)*A(k,j)*x(j)", "y(i) = cumsum_i (A(i,j)*x(j))",
	} {
		k, err := lacuna.Compile(t.Context(), src, lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
		if err != nil {
			t.Fatal(src, err)
		}
		f, err := lacuna.Bind[float64](k, "A", "x")
		if err != nil {
			t.Fatal(src, err)
		}
		x := tensor.Vector([]float64{1, 2, 3})
		want, err := k.Run(t.Context(), lacuna.Args{"A": a, "x": x})
		if err != nil {
			t.Fatal(src, err)
		}
		for range 2 {
			if err := f.RunInto(t.Context(), y, a, x); err != nil || fmt.Sprint(y) != fmt.Sprint(tensor.StoredValues[float64](want)) {
				t.Errorf("%s: %v, and it should be %v: %v", src, y, tensor.StoredValues[float64](want), err)
			}
		}
	}
}

func TestFuncsFromManyGoroutines(t *testing.T) {
	k, a := spmvFunc(t, lacuna.NewSession())
	f, err := lacuna.Bind[float64](k, "A", "x")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			y := make([]float64, 3)
			for i := range 50 {
				x := float64(g*100 + i)
				if err := f.RunInto(t.Context(), y, a, tensor.Vector([]float64{x, 0, 1})); err != nil || y[0] != 2*x || y[2] != 3*x+4 {
					t.Error(y, x, err)
				}
			}
		})
	}
	all.Wait()
}

func TestFuncsRefuse(t *testing.T) {
	k, a := spmvFunc(t, lacuna.NewSession())
	for _, names := range [][]string{{"A"}, {"A", "A"}, {"A", "x", "y"}, {"A", "z"}} {
		if _, err := lacuna.Bind[float64](k, names...); err == nil || !strings.Contains(err.Error(), "[A x]") {
			t.Errorf("%v: %v", names, err)
		}
	}
	if _, err := lacuna.Bind[float32](k, "A", "x"); err == nil || !strings.Contains(err.Error(), "f64") {
		t.Error(err)
	}
	sparse, err := lacuna.Compile(t.Context(), "B(i,j) = 2*A(i,j)", lacuna.Format("A", tensor.CSR, tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lacuna.Bind[float64](sparse, "A"); err == nil || !strings.Contains(err.Error(), "CSR") {
		t.Error(err)
	}
	f, err := lacuna.Bind[float64](k, "A", "x")
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{1, 2, 3}
	gone := tensor.Vector([]float64{1, 2, 3})
	gone.Release()
	y := make([]float64, 3)
	for range 2 { // before and after a call has bound operands
		for want, call := range map[string]func() error{
			"3 elements, and the slice for it 2":               func() error { return f.RunInto(t.Context(), y[:2], a, tensor.Vector(x)) },
			"1 operands are given":                             func() error { return f.RunInto(t.Context(), y, a) },
			"operand x is missing: what is passed in place 2 ": func() error { return f.RunInto(t.Context(), y, a, nil) },
			"released": func() error { return f.RunInto(t.Context(), y, a, gone) },
			"overlaps": func() error { return f.RunInto(t.Context(), x, a, tensor.Vector(x)) },
			"f32":      func() error { return f.RunInto(t.Context(), y, a, tensor.Vector([]float32{1, 2, 3})) },
			"extent":   func() error { return f.RunInto(t.Context(), y, a, tensor.Vector([]float64{1, 2})) },
			"canceled": func() error {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				return f.RunInto(ctx, y, a, tensor.Vector(x))
			},
		} {
			if err := call(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		}
		if err := f.RunInto(t.Context(), y, a, tensor.Vector(x)); err != nil || y[2] != 15 {
			t.Error(y, err)
		}
	}
}

// BenchmarkCalls of a small product: in turns, as the machine is shared.
func BenchmarkCalls(b *testing.B) {
	engines := []runtime.Engine{runtime.Interp()}
	if e, err := runtime.CPU(); err == nil {
		engines = append(engines, e)
	}
	ctx := context.Background()
	for _, e := range engines {
		k, a := spmvFunc(b, lacuna.NewSession(lacuna.WithEngine(e), lacuna.WithThreads(1)))
		f, err := lacuna.Bind[float64](k, "A", "x")
		if err != nil {
			b.Fatal(err)
		}
		x, y := tensor.Vector([]float64{1, 2, 3}), make([]float64, 3)
		args := lacuna.Args{"A": a, "x": x}
		b.Run("Kernel.Run/"+e.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := k.Run(ctx, args); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Func.RunInto/"+e.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f.RunInto(ctx, y, a, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A solver multiplies with one matrix again and again: nothing is looked up by name, and the result is a slice that is there.
func ExampleBind() {
	ctx := context.Background()
	k, err := lacuna.Compile(ctx, "y(i) = A(i,j) * x(j)",
		lacuna.Format("A", tensor.CSR, tensor.Float64), lacuna.Format("x", tensor.Dense(1), tensor.Float64))
	if err != nil {
		fmt.Println(err)
		return
	}
	product, err := lacuna.Bind[float64](k, "A", "x")
	if err != nil {
		fmt.Println(err)
		return
	}
	A, _ := tensor.NewCSR([]int64{2, 2}, []int{0, 1, 2}, []int{0, 1}, []float64{0.5, 0.25})
	x, y := []float64{16, 16}, make([]float64, 2)
	for range 3 {
		if err := product.RunInto(ctx, y, A, tensor.Vector(x)); err != nil {
			fmt.Println(err)
			return
		}
		x, y = y, x
	}
	fmt.Println(x)
	z, err := product.Run(ctx, A, tensor.Vector(x))
	fmt.Println(z, err)
	// Output:
	// [2 0.25]
	// [1 0.0625] <nil>
}
