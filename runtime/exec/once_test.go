package exec

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests that many who ask for a kernel or a conversion at once wait for one (memo.go, internal/flight).

// counting compiles programs one after the other, and counts them. The first waits until it is let go, where
// letGo is not nil.
type counting struct {
	runtime.Engine
	compiled atomic.Int64
	begun    chan struct{} // gets one for each compilation
	letGo    chan struct{}
}

func (e *counting) Compile(ctx context.Context, p *loop.Program) (*runtime.Executable, error) {
	e.compiled.Add(1)
	if e.letGo != nil {
		e.begun <- struct{}{}
		select {
		case <-e.letGo:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return e.Engine.Compile(ctx, p)
}

// Of many who compile, run and convert the same thing for the first time at once, one does it: all get
// the same kernel, and the same converted operand.
func TestDoneOnceForAll(t *testing.T) {
	e := &counting{Engine: runtime.Interp()}
	s := NewSession(WithEngine(e), WithConversionKernels())
	A := must(t)(tensor.FromCoords([]int64{2, 3}, tensor.CSC, [][]int64{{0, 1, 1}, {2, 0, 1}}, tensor.ArrayOf([]float64{1, 2, 3})))
	B := must(t)(A.Convert(tensor.CSR))
	args := Args{"A": A, "B": B}
	const text = "C(i,j) = A(i,j) + B(i,j)"
	result := Result("C", tensor.CSR)
	var all sync.WaitGroup
	kernels := make([]*Kernel, 16)
	begin := make(chan struct{})
	for i := range kernels {
		all.Go(func() {
			<-begin
			k, err := s.Compile(t.Context(), text, Operand("A", A), Operand("B", B), result)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := k.Run(t.Context(), args); err != nil {
				t.Error(err)
			}
			kernels[i] = k
		})
	}
	close(begin)
	all.Wait()
	for _, k := range kernels {
		if k != kernels[0] {
			t.Fatal("two got different kernels")
		}
	}
	// The addition, as it is compiled ahead and as one thread or several run it, and the conversion.
	alone := &counting{Engine: runtime.Interp()}
	one := NewSession(WithEngine(alone), WithConversionKernels())
	if _, err := one.Eval(t.Context(), text, args, result); err != nil {
		t.Fatal(err)
	}
	if got, want := e.compiled.Load(), alone.compiled.Load(); got != want {
		t.Errorf("16 callers compile %d programs, one compiles %d", got, want)
	}
}

// What is remembered of an operand is made once for all runs that need it, also where the run that
// came first is given up.
func TestRememberedOnce(t *testing.T) {
	from := must(t)(tensor.FromDense([]int64{2}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 2})))
	var st step
	var made atomic.Int64
	begun, letGo := make(chan struct{}, 2), make(chan struct{})
	ask := func(ctx context.Context) (*tensor.Tensor, error) {
		return remembered(ctx, &st.converted, &st.converting, from, from, func(ctx context.Context) (*tensor.Tensor, error) {
			made.Add(1)
			begun <- struct{}{}
			<-letGo
			return from.Share(), ctx.Err()
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() { _, err := ask(ctx); gone <- err }()
	<-begun
	got := make(chan *tensor.Tensor, 8)
	for range cap(got) {
		go func() {
			to, err := ask(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- to
		}()
	}
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the run that was given up got %v", err)
	}
	close(letGo)
	first := <-got
	for range cap(got) - 1 {
		if to := <-got; to != first {
			t.Error("two runs got different tensors")
		}
	}
	// The one that was given up may have been alone when it left: then its work was stopped, and done once more.
	if n := made.Load(); n > 2 {
		t.Errorf("it was made %d times", n)
	}
}

// A context that ends stops a compilation, and who comes later is not refused for it.
func TestCompileStops(t *testing.T) {
	e := &counting{Engine: runtime.Interp(), begun: make(chan struct{}, 10), letGo: make(chan struct{})}
	s := NewSession(WithEngine(e))
	compile := func(ctx context.Context) error {
		_, err := s.Compile(ctx, "y(i) = x(i)+1", Format("x", tensor.Dense(1), tensor.Float64))
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error)
	go func() { stopped <- compile(ctx) }()
	<-e.begun
	cancel()
	if err := <-stopped; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	close(e.letGo)
	if err := compile(t.Context()); err != nil {
		t.Errorf("after it was stopped: %v", err)
	}
	if err := compile(nil); err == nil || !strings.Contains(err.Error(), "context is nil") {
		t.Errorf("got %v for a nil context", err)
	}
}

// An engine that panics is an error of everybody who waits, with the place where it did.
func TestPanicIsAnErrorOfAll(t *testing.T) {
	s := NewSession(WithEngine(&panicking{Engine: runtime.Interp()}))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, err := s.Compile(t.Context(), "y(i) = x(i)+1", Format("x", tensor.Dense(1), tensor.Float64))
			var internal *runtime.InternalError
			if !errors.As(err, &internal) || internal.Panic != "broken" || !strings.Contains(string(internal.Stack), "panicking") {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
}

type panicking struct{ runtime.Engine }

func (*panicking) Compile(context.Context, *loop.Program) (*runtime.Executable, error) {
	panic("broken")
}

// must is the tensor of a constructor that does not fail.
func must(t *testing.T) func(*tensor.Tensor, error) *tensor.Tensor {
	return func(made *tensor.Tensor, err error) *tensor.Tensor {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
}
