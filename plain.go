package lacuna

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"weak"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// plainCopies remembers the plain form of operands that are stored otherwise: not
// sorted, with several entries per coordinate, as one triangle of a matrix, in parts or
// in blocks. Operands are immutable, so one is made plain once; the copy goes with the
// operand.
type plainCopies struct {
	copies sync.Map // copyKey to *plainCopy
	making flight.Group[copyInMaking, *tensor.Tensor]
}

// copyKey names a copy: of what, and in which format it is asked for.
type copyKey struct {
	from   weak.Pointer[tensor.Tensor] // the first part
	format tensor.Format
	way    copyWay
	shape  string // of a tensor in blocks
}

// copyWay is how a copy is made.
type copyWay uint8

const (
	madePlain copyWay = iota
	madeSorted
	madeOne   // of parts
	madeWhole // of blocks
)

// plainCopy is a copy of one tensor, or of one and others.
type plainCopy struct {
	others []weak.Pointer[tensor.Tensor]
	to     *tensor.Tensor
}

// plainOperand returns an operand as kernels take it: see [tensor.Tensor.Plain].
func (s *Session) plainOperand(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.IsPlain() {
		return t, nil
	}
	return s.plain.copy(ctx, []*tensor.Tensor{t}, copyKey{format: t.Format(), way: madePlain}, func(ctx context.Context) (*tensor.Tensor, error) {
		return s.moved(fmt.Sprintf("store %s %s sorted and whole", t.Structure(), t.Format()),
			func(s *Session) (*tensor.Tensor, error) { return s.there(ctx, t, t.Format().Standard()) },
			func() (*tensor.Tensor, error) {
				c := &converting{session: s, options: s.options.Here()}
				plain, err := c.sortedList(ctx, t, t.Format().Standard())
				if !errors.Is(err, errPlain) {
					return plain, err
				}
				bytes := t.Bytes()
				if t.Structure() != tensor.General {
					bytes *= 2 // both triangles
				}
				if err := runtime.Affords("the plain form", bytes, tensor.Uint8, s.options); err != nil {
					return nil, err
				}
				return t.Plain()
			}, t)
	})
}

// sortedOperand returns an operand in a standard format; a triangle stays one.
func (s *Session) sortedOperand(ctx context.Context, o tensor.Operand) (tensor.Operand, error) {
	t, ok := o.(*tensor.Tensor)
	switch {
	case !ok || !t.Format().Relaxed():
		return o, nil
	case t.Structure() == tensor.General:
		return s.plainOperand(ctx, t)
	}
	return s.plain.copy(ctx, []*tensor.Tensor{t}, copyKey{format: t.Format(), way: madeSorted}, func(ctx context.Context) (*tensor.Tensor, error) {
		if err := s.onHost(fmt.Sprintf("sort a triangle in %s", t.Format()), "kernels are for whole matrices", t); err != nil {
			return nil, err
		}
		out, err := t.Convert(t.Format().Standard(), s.within()...)
		return out, runtime.Refused(fmt.Sprintf("to sort a triangle in %s", t.Format()), err)
	})
}

// joined returns parts as one tensor.
func (s *Session) joined(ctx context.Context, parts []*tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	return s.plain.copy(ctx, parts, copyKey{format: format, way: madeOne}, func(ctx context.Context) (*tensor.Tensor, error) {
		return s.moved(fmt.Sprintf("join %d parts to %s", len(parts), format),
			func(s *Session) (*tensor.Tensor, error) { return s.joinedThere(ctx, parts, format) },
			func() (*tensor.Tensor, error) { return tensor.AssembleParts(parts...).Expand(format, s.within()...) }, parts...)
	})
}

// unblocked returns a tensor in blocks without them.
func (s *Session) unblocked(ctx context.Context, b *tensor.Blocks, format tensor.Format) (*tensor.Tensor, error) {
	return s.plain.copy(ctx, []*tensor.Tensor{b.Blocked()}, copyKey{format: format, way: madeWhole, shape: fmt.Sprint(b.Shape())}, func(ctx context.Context) (*tensor.Tensor, error) {
		return s.moved(fmt.Sprintf("store blocks in %s as %s", b.Blocked().Format(), format),
			func(s *Session) (*tensor.Tensor, error) { return s.unblockedThere(ctx, b, format) },
			func() (*tensor.Tensor, error) { return b.Expand(format, s.within()...) }, b.Blocked())
	})
}

// join runs a join step of a plan.
func (s *Session) join(ctx context.Context, step *ir.Join, vals values) (*tensor.Tensor, error) {
	var parts []*tensor.Tensor
	for _, t := range step.Operand.Pieces {
		parts = append(parts, vals[t.ID])
	}
	if len(parts) == 1 {
		return s.plainOperand(ctx, parts[0])
	}
	return s.joined(ctx, parts, step.To.Format)
}

// copy returns the remembered copy of some tensors, or makes it; the key says what it is
// but for what it is of.
func (p *plainCopies) copy(ctx context.Context, from []*tensor.Tensor, key copyKey, make func(context.Context) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	var others []weak.Pointer[tensor.Tensor]
	for _, t := range from[1:] {
		others = append(others, weak.Make(t))
	}
	key.from = weak.Make(from[0])
	have := func() (*tensor.Tensor, bool) {
		if old, ok := p.copies.Load(key); ok && slices.Equal(old.(*plainCopy).others, others) {
			return old.(*plainCopy).to, true
		}
		return nil, false
	}
	if to, ok := have(); ok {
		return to, nil
	}
	// What is being made keeps its parts, so their addresses name them.
	return p.making.Do(ctx, copyInMaking{key, pointers(from)}, have, func(ctx context.Context) (*tensor.Tensor, error) {
		to, err := make(ctx)
		if err != nil {
			return nil, err
		}
		if _, seen := p.copies.Swap(key, &plainCopy{others, to}); !seen {
			goruntime.AddCleanup(from[0], func(key copyKey) { p.copies.Delete(key) }, key)
		}
		return to, nil
	})
}

// copyInMaking names a copy of one tensor, or of one and others.
type copyInMaking struct {
	copyKey
	parts string
}

// sortedList stores a list of coordinates, in any order and with duplicates, in a standard
// format, by kernels where that pays: sorting is most of the work. It says errPlain of
// other tensors.
func (c *converting) sortedList(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	switch {
	case format.Relaxed():
		return nil, notForKernels("%s", flagsReason(format))
	case t.Structure() != tensor.General:
		return nil, notForKernels("kernels convert whole matrices, not one triangle (%s)", t.Structure())
	case slices.Contains(t.Dims(), 0) && bytesAway(t) > 0: // positions
		return emptyOf(t.Shape(), format, t.DType(), t.Fill())
	}
	if c.begun && runtime.OnGrids(c.session.engine) && expands(t) {
		list, err := c.expanded(ctx, t)
		if err != nil {
			return nil, err
		}
		defer list.Release()
		t = list
	}
	levels := t.Format().Levels()
	if len(levels) == 0 || slices.Contains(t.Dims(), 0) || slices.ContainsFunc(levels, func(k tensor.LevelKind) bool { return k != tensor.S }) {
		return nil, notForKernels("kernels sort lists of coordinates, not %s", t.Format())
	}
	order, err := tensor.Coordinates(t.Rank()).WithOrder(format.Order())
	if err != nil {
		return nil, err
	}
	list := make([]tensor.Level, t.Rank())
	for l, axis := range format.Order() {
		list[l].Crd = t.LevelAt(slices.Index(t.Format().Order(), axis)).Crd
	}
	c.unordered = t.Format().Flags()[0]&tensor.Unsorted != 0
	entries := tensor.Assemble(t.Shape(), order, list, t.Values(), t.Fill())
	out, err := c.fromCoords(ctx, entries, format)
	if err != nil {
		entries.Release()
		return nil, err
	}
	return replaced(entries, out), nil
}

// expands reports whether a tensor that is not sorted has a sorted counterpart with the same arrays,
// of which a kernel can make a list.
func expands(t *tensor.Tensor) bool {
	levels := t.Format().Levels()
	return t.Structure() == tensor.General && !slices.Contains(t.Dims(), 0) && !slices.Contains(levels, tensor.D) &&
		slices.ContainsFunc(levels, func(k tensor.LevelKind) bool { return k != tensor.S }) &&
		!slices.ContainsFunc(t.Levels(), func(l tensor.Level) bool { return l.Group.Len() > 0 })
}

// expanded lists the entries of such a tensor in the order in which they are stored: the kernel goes
// by positions, and compares no coordinates.
func (c *converting) expanded(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	order, err := tensor.Coordinates(t.Rank()).WithOrder(t.Format().Order())
	if err != nil {
		return nil, err
	}
	given := tensor.Assemble(t.Shape(), t.Format().Standard(), t.Levels(), t.Values(), t.Fill())
	defer given.Release()
	there := *c
	there.options.Resident = true
	return there.kernel(ctx, given, order, convert.Stored)
}
