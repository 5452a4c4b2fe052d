package exec

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// pairing compiles programs two at a time: the first waits for the second.
type pairing struct {
	runtime.Engine
	arrived chan struct{}
}

func (e *pairing) Compile(ctx context.Context, p *loop.Program) (*runtime.Executable, error) {
	select {
	case e.arrived <- struct{}{}:
	case <-e.arrived:
	case <-time.After(time.Minute):
		return nil, errors.New("no other program came")
	}
	return e.Engine.Compile(ctx, p)
}

// The steps of a program are compiled at once.
func TestStepsAreCompiledAtOnce(t *testing.T) {
	s := NewSession(WithEngine(&pairing{runtime.Interp(), make(chan struct{})}))
	if _, err := s.Compile(t.Context(), "t(i) = logsumexp_j x(i,j); y(i,j) = exp(x(i,j) - t(i))", Format("x", tensor.Dense(2), tensor.Float64)); err != nil {
		t.Fatal(err)
	}
}

// refusing compiles no program that has a buffer of the given name.
type refusing struct {
	runtime.Engine
	buffer string
}

func (e *refusing) Compile(ctx context.Context, p *loop.Program) (*runtime.Executable, error) {
	for i := range p.Buffers {
		if p.Buffers[i].Name == e.buffer {
			return nil, errors.New("refused")
		}
	}
	return e.Engine.Compile(ctx, p)
}

// An error of any step is the error of the compilation.
func TestErrorsOfSteps(t *testing.T) {
	for _, buffer := range []string{"t_vals", "y_vals"} {
		s := NewSession(WithEngine(&refusing{runtime.Interp(), buffer}))
		_, err := s.Compile(t.Context(), "t(i) = logsumexp_j x(i,j); y(i,j) = exp(x(i,j) - t(i))", Format("x", tensor.Dense(2), tensor.Float64))
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("got %v where %s is refused", err, buffer)
		}
	}
}

// Where a conversion is compiled first, on grids, the rest is compiled meanwhile.
func TestConversionsAreCompiledBesideSteps(t *testing.T) {
	s := NewSession(WithEngine(runtime.Simulated()), WithConversionKernels())
	k, err := s.Compile(t.Context(), "y(j) = sum_i A(i,j)", Format("A", tensor.CSR, tensor.Float64), Format("y", tensor.Dense(1), tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	if len(k.Conversions()) == 0 {
		t.Fatal("there is no conversion")
	}
	values := tensor.ArrayOf([]float64{1, 2, 3})
	a, err := tensor.FromCoords([]int64{2, 3}, tensor.CSR, [][]int64{{0, 0, 1}, {0, 2, 2}}, values)
	if err != nil {
		t.Fatal(err)
	}
	y, err := k.Run(t.Context(), Args{"A": a})
	if err != nil {
		t.Fatal(err)
	}
	if got := tensor.View[float64](y.Values()); got[0] != 1 || got[1] != 0 || got[2] != 5 {
		t.Errorf("y = %v", got)
	}
}
