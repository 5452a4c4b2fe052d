package lacuna

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
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
	kept   kept
	// operands keep the patterns, in mapped files or released by the caller: steps know
	// them by address.
	operands []*tensor.Tensor
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
		return fmt.Errorf("%w: other shapes", ErrPattern)
	}
	return nil
}

// keptStep is what is kept of a step.
type keptStep struct {
	variant  *variant // that the symbolic part belongs to
	symbolic runtime.Symbolic
}

// Prepare runs the kernel on args, whose values do not matter, and keeps what
// follows from their patterns. The operands must stay unchanged, as everywhere. Where the
// kernel stores a dense operand again as a sparse one ([Kernel.Conversions]), the
// pattern is that of the elements that do not equal the fill. A prepared kernel runs in the order in which the program is
// written ([AsWritten]), so sums may differ in their last bits from those of the kernel.
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
	if k.restores() { // conversions do not keep what follows from patterns
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

// restores reports whether a result is an operand stored again.
func (k *Kernel) restores() bool {
	return slices.ContainsFunc(k.plan.Steps, func(st ir.Step) bool {
		c, ok := st.(*ir.Convert)
		return ok && c.Restores
	})
}

// whyOtherPattern adds to ErrPattern what dense operands are stored again without their
// zeros: then values decide the pattern that the kernel sees.
func (k *Kernel) whyOtherPattern(err error) error {
	if !errors.Is(err, ErrPattern) {
		return err
	}
	for _, st := range k.steps {
		c, ok := st.plan.(*ir.Convert)
		if !ok || c.Keeps() || !c.From.Format.IsDense() || c.To.Format.IsDense() {
			continue
		}
		err = fmt.Errorf("%w; this kernel stores %s, which is %s, again as %s without the elements that equal its fill, so values decide that pattern",
			err, c.From.Name, c.From.Format, c.To.Format)
		if c.From.Source != nil {
			err = fmt.Errorf("%w: pass it without D levels", err)
		}
	}
	return err
}

// Run is [Kernel.Run] on operands with the patterns of Prepare's. The patterns are
// compared, by address where the arrays are shared and by content where not; where
// one differs, the error wraps [ErrPattern] and nothing is computed.
func (p *Prepared) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	k, values, err := p.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return k.last(values), nil
}

func (p *Prepared) run(ctx context.Context, args Args) (*Kernel, values, error) {
	if p == nil || p.kernel == nil {
		return nil, nil, errors.New("what was prepared is nil or a zero value: make it with Kernel.Prepare")
	}
	return p.kernel.run(ctx, args, &p.kept)
}

// RunAll is [Kernel.RunAll] on operands with the patterns of Prepare's.
func (p *Prepared) RunAll(ctx context.Context, args Args) (Outputs, error) {
	k, values, err := p.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return k.outputs(values), nil
}
