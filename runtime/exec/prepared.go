package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Prepared is a kernel for operands of known patterns. What follows from patterns
// alone, the number and the places of a sparse result's entries, has been computed
// once; each run computes values only. It may be run by several goroutines at once.
type Prepared struct {
	kernel *Kernel
	kept   kept
	// operands keep the patterns, in mapped files or released by the caller: steps know
	// them by address.
	operands []*tensor.Tensor
}

// Prepare runs the kernel on args, whose values do not matter, and keeps what
// follows from their patterns.
func (k *Kernel) Prepare(ctx context.Context, args Args) (*Prepared, error) {
	if err := k.compiled(); err != nil {
		return nil, err
	}
	if k.chooser != nil { // which looks at values too
		var err error
		if k, err = k.chooser.asWritten(ctx, k.chooser.declared(args)); err != nil {
			return nil, err
		}
	}
	if k.assignsConversion() { // conversions do not keep what follows from patterns
		opts := k.plan.Options
		opts.OwnResults = true
		var err error
		if k, err = k.replanned(ctx, opts); err != nil {
			return nil, err
		}
	}
	p := &Prepared{kernel: k}
	pinned, err := pinArgs(args, nil)
	defer unpin(pinned)
	if err != nil {
		return nil, err
	}
	if _, _, err := k.run(ctx, args, &p.kept); err != nil {
		return nil, err
	}
	for _, t := range pinned {
		p.operands = append(p.operands, t.Share())
	}
	return p, nil
}

// assignsConversion reports whether a result is an operand stored again.
func (k *Kernel) assignsConversion() bool {
	return slices.ContainsFunc(k.plan.Steps, func(st ir.Step) bool {
		c, ok := st.(*ir.Convert)
		return ok && c.Assigns
	})
}

// Run is [Kernel.Run] on operands with the patterns of Prepare's. The patterns are
// compared, by address where the arrays are shared and by content where not; where
// one differs, the error wraps [runtime.ErrPattern] and nothing is computed.
func (p *Prepared) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	k, values, err := p.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return k.last(values), nil
}

// RunAll is [Kernel.RunAll] on operands with the patterns of Prepare's.
func (p *Prepared) RunAll(ctx context.Context, args Args) (Outputs, error) {
	k, values, err := p.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return k.outputs(values), nil
}

func (p *Prepared) run(ctx context.Context, args Args) (*Kernel, values, error) {
	if p == nil || p.kernel == nil {
		return nil, nil, errors.New("what was prepared is nil or a zero value: make it with Kernel.Prepare")
	}
	return p.kernel.run(ctx, args, &p.kept)
}
