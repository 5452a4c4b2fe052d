package exec

import (
	"context"
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"weak"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// memo is a remembered result of a convert step, or the pattern of an operand:
// operands are immutable, so it need not be made again for the same operand.
type memo struct {
	from weak.Pointer[tensor.Tensor]
	to   *tensor.Tensor
}

// remember keeps what was made of an operand until the operand goes.
func remember(in *atomic.Pointer[memo], from, to *tensor.Tensor) {
	c := &memo{weak.Make(from), to}
	in.Store(c)
	goruntime.AddCleanup(from, func(c *memo) { in.CompareAndSwap(c, nil) }, c)
}

// remembered returns what was made of an operand, or makes and remembers it: once for all runs
// that wait for it.
func remembered[K comparable](ctx context.Context, in *atomic.Pointer[memo], making *flight.Group[K, *tensor.Tensor], key K,
	from *tensor.Tensor, make func(context.Context) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	have := func() (*tensor.Tensor, bool) {
		if c := in.Load(); c != nil && c.from.Value() == from {
			return c.to, true
		}
		return nil, false
	}
	if to, ok := have(); ok {
		return to, nil
	}
	return making.Do(ctx, key, have, func(ctx context.Context) (*tensor.Tensor, error) {
		if err := from.Pin(); err != nil { // the run that asked first may leave
			return nil, err
		}
		defer from.Unpin()
		to, err := make(ctx)
		if err == nil {
			remember(in, from, to)
		}
		return to, err
	})
}

// kept is what is kept of a run, by step of the kernel that ran.
type kept struct {
	kernel *Kernel
	steps  []keptStep
}

// of makes the steps of a first run, and checks that a later one is of the same
// kernel: which one runs depends on the shapes.
func (p *kept) of(k *Kernel) error {
	if p.kernel == nil {
		p.kernel, p.steps = k, make([]keptStep, len(k.steps))
	}
	if p.kernel != k {
		return fmt.Errorf("%w: other shapes", runtime.ErrPattern)
	}
	return nil
}

// keptStep is what is kept of a step.
type keptStep struct {
	version  *version // that the symbolic part belongs to
	symbolic runtime.Symbolic
}
