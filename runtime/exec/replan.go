package exec

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// Plans to fall back on where that of a kernel does not do for what a run brings.

// fallback is the kernel that does what this one cannot do with these operands, nil if it can.
func (k *Kernel) fallback(ctx context.Context, b *binding, vals values, kept *kept) (*Kernel, error) {
	if nothing := b.extents.Nothing; !slices.Equal(k.plan.Options.Nothing, nothing) {
		return k.emptied(ctx, nothing)
	}
	if b.tooManyKeys || k.tooManyRows(vals) || k.tooWide.Load() && (kept == nil || kept.kernel != k) {
		return k.narrowed(ctx)
	}
	return nil, nil
}

// emptied returns the kernel for operands with means and variances of nothing.
func (k *Kernel) emptied(ctx context.Context, nothing []*lang.Reduce) (n *Kernel, err error) {
	opts := k.plan.Options
	opts.Nothing = slices.Clone(nothing)
	return k.other(ctx, &k.empty, flight.Pointers(nothing), opts)
}

// narrowed is the kernel for the same program whose workspaces have one dimension
// each.
func (k *Kernel) narrowed(ctx context.Context) (n *Kernel, err error) {
	opts := k.plan.Options
	opts.NarrowWorkspaces = true
	n, err = k.other(ctx, &k.narrow, "narrow", opts)
	var e *lang.Error
	if errors.As(err, &e) && e.Code == lang.ErrSchedule { // it holds for operands that are smaller
		said := *e
		said.Hint = "a workspace over several indices would be larger than these operands, so there is none"
		err = &said
	}
	return n, err
}

// other is the kernel for the same program with another plan, kept in a place; the key tells
// it from other ones that are made at the same time.
func (k *Kernel) other(ctx context.Context, in *atomic.Pointer[Kernel], key string, opts ir.Options) (n *Kernel, err error) {
	defer runtime.Caught(k.source, &err)
	have := func() (*Kernel, bool) {
		n := in.Load()
		return n, n != nil && slices.Equal(n.plan.Options.Nothing, opts.Nothing)
	}
	if n, ok := have(); ok {
		return n, nil
	}
	return k.others.Do(ctx, key, have, func(ctx context.Context) (*Kernel, error) {
		n, err := k.replanned(ctx, opts)
		if err == nil {
			in.Store(n)
		}
		return n, err
	})
}

// replanned is the kernel for the same program and operands with another plan.
func (k *Kernel) replanned(ctx context.Context, opts ir.Options) (n *Kernel, err error) {
	defer runtime.Caught(k.source, &err)
	n = &Kernel{
		planned: &planned{env: k.env, program: k.checked, alg: k.alg, types: k.types, inOrder: k.inOrder},
		source:  k.source, file: k.file, checked: k.checked, literals: k.literals,
		written: k.written, rewritten: k.rewritten, intermediates: k.intermediates, notes: k.notes,
	}
	if err := n.compile(ctx, opts); err != nil {
		return nil, withSource(err, k.source)
	}
	return n, nil
}

// manyRows is how many rows may have a place each in an operand that is stored again.
const manyRows = 1 << 32

// tooManyRows reports whether an operand would be stored again with a place for each of
// more rows than that, which the other plan does not do.
func (k *Kernel) tooManyRows(vals values) bool {
	if k.plan.Options.NarrowWorkspaces {
		return false
	}
	for _, st := range k.steps {
		c, ok := st.plan.(*ir.Convert)
		if !ok || vals[c.From.ID] == nil {
			continue
		}
		if f := c.To.Format; f.AllRows() {
			axis := f.Order()[0]
			if c.Axes != nil {
				axis = c.Axes[axis]
			}
			if vals[c.From.ID].Shape()[axis] > manyRows {
				return true
			}
		}
	}
	return false
}
