package lacuna

import (
	"context"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// ErrPattern is wrapped by the error of a Prepared kernel that is run on operands
// whose patterns or shapes are not those that it was prepared for.
var ErrPattern = runtime.ErrPattern

// Prepared is a kernel for operands of known patterns. What follows from patterns
// alone, the number and the places of a sparse result's entries, has been computed
// once; each run computes values only. It may be run by several goroutines at once.
type Prepared struct {
	kernel *Kernel
	steps  []keptStep
}

// keptStep is what is kept of a step.
type keptStep struct {
	variant  *variant // that the symbolic part belongs to
	symbolic runtime.Symbolic
}

// Prepare runs the kernel on args, whose values do not matter, and keeps what
// follows from their patterns. The operands must stay unchanged, as everywhere.
func (k *Kernel) Prepare(ctx context.Context, args Args) (*Prepared, error) {
	p := &Prepared{kernel: k, steps: make([]keptStep, len(k.steps))}
	if _, err := k.run(ctx, args, p.steps); err != nil {
		return nil, err
	}
	return p, nil
}

// Run is [Kernel.Run] on operands with the patterns of Prepare's. The patterns are
// compared, by address where the arrays are shared and by content where not; where
// one differs, the error wraps [ErrPattern] and nothing is computed.
func (p *Prepared) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	values, err := p.kernel.run(ctx, args, p.steps)
	if err != nil {
		return nil, err
	}
	return p.kernel.last(values), nil
}

// RunAll is [Kernel.RunAll] on operands with the patterns of Prepare's.
func (p *Prepared) RunAll(ctx context.Context, args Args) (Outputs, error) {
	values, err := p.kernel.run(ctx, args, p.steps)
	if err != nil {
		return nil, err
	}
	return p.kernel.outputs(values), nil
}
