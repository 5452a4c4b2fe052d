package convert

import (
	"context"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"weak"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// copies remembers the canonical form of operands that are stored otherwise: not
// sorted, with several entries per coordinate, as one triangle of a matrix, in parts or
// in blocks. Operands are immutable, so it is made once; the copy goes with the
// operand.
type copies struct {
	known  sync.Map // copyKey to *formCopy
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
	madeCanonical copyWay = iota
	madeSorted
	madeOne   // of parts
	madeWhole // of blocks
)

// formCopy is a copy of one tensor, or of one and others.
type formCopy struct {
	others []weak.Pointer[tensor.Tensor]
	to     *tensor.Tensor
}

// PinnedCanonical is [Service.Canonical] of a tensor that a caller may release.
func (s *Service) PinnedCanonical(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	return s.Canonical(ctx, t)
}

// Canonical returns an operand as kernels take it: see [tensor.Tensor.Canonical].
func (s *Service) Canonical(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.IsCanonical() {
		return t, nil
	}
	return s.copies.copy(ctx, []*tensor.Tensor{t}, copyKey{format: t.Format(), way: madeCanonical}, func(ctx context.Context) (*tensor.Tensor, error) {
		return s.place(fmt.Sprintf("store %s %s sorted and whole", t.Structure(), t.Format()),
			func(c *conversion) (*tensor.Tensor, error) {
				switch {
				case c.resident:
					return c.onDevice(ctx, t, t.Format().Standard())
				case t.Structure() != tensor.General && usuallyTyped(t):
					return c.wholeMatrix(ctx, t, t.Format().Standard())
				}
				return c.sortedList(ctx, t, t.Format().Standard())
			}, func() (*tensor.Tensor, error) {
				bytes := t.Bytes()
				if t.Structure() != tensor.General {
					bytes *= 2 // both triangles
				}
				if err := runtime.Admits("the plain form", bytes, tensor.Uint8, s.Options); err != nil {
					return nil, err
				}
				return t.Canonical()
			}, t)
	})
}

// Sorted returns an operand in a standard format; a triangle stays one.
func (s *Service) Sorted(ctx context.Context, o tensor.Operand) (tensor.Operand, error) {
	t, ok := o.(*tensor.Tensor)
	switch {
	case !ok || !t.Format().Relaxed():
		return o, nil
	case t.Structure() == tensor.General:
		return s.Canonical(ctx, t)
	}
	return s.copies.copy(ctx, []*tensor.Tensor{t}, copyKey{format: t.Format(), way: madeSorted}, func(ctx context.Context) (*tensor.Tensor, error) {
		if err := s.onHost(fmt.Sprintf("sort a triangle in %s", t.Format()), "kernels are for whole matrices", t); err != nil {
			return nil, err
		}
		out, err := t.Convert(t.Format().Standard(), s.within()...)
		return out, runtime.Refused(fmt.Sprintf("to sort a triangle in %s", t.Format()), err)
	})
}

// Joined returns parts as one tensor.
func (s *Service) Joined(ctx context.Context, parts []*tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	return s.copies.copy(ctx, parts, copyKey{format: format, way: madeOne}, func(ctx context.Context) (*tensor.Tensor, error) {
		return s.place(fmt.Sprintf("join %d parts to %s", len(parts), format),
			func(c *conversion) (*tensor.Tensor, error) { return c.joinedParts(ctx, parts, format) },
			func() (*tensor.Tensor, error) { return tensor.NewTrustedParts(parts...).Expand(format, s.within()...) }, parts...)
	})
}

// Unblocked returns a tensor in blocks without them.
func (s *Service) Unblocked(ctx context.Context, b *tensor.Blocks, format tensor.Format) (*tensor.Tensor, error) {
	return s.copies.copy(ctx, []*tensor.Tensor{b.Blocked()}, copyKey{format: format, way: madeWhole, shape: fmt.Sprint(b.Shape())}, func(ctx context.Context) (*tensor.Tensor, error) {
		return s.place(fmt.Sprintf("store blocks in %s as %s", b.Blocked().Format(), format),
			func(c *conversion) (*tensor.Tensor, error) { return c.unblocked(ctx, b, format) },
			func() (*tensor.Tensor, error) { return b.Expand(format, s.within()...) }, b.Blocked())
	})
}

// joinedParts stores disjoint parts as one tensor, by kernels.
func (c *conversion) joinedParts(ctx context.Context, parts []*tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if format.Rank() == 0 {
		return nil, fallback("kernels list no scalars")
	}
	if slices.ContainsFunc(parts, func(t *tensor.Tensor) bool { return t.Format().HasBlocks() }) || format.HasBlocks() || format.Extended() {
		return nil, fallback("kernels leave out what equals the fill in dense blocks")
	}
	out, err := c.appended(ctx, parts, make([]mapping, len(parts)), parts[0].Shape(), format)
	if err != nil {
		return nil, err
	}
	return renamed(out, parts[0].Name())
}

// copy returns the remembered copy of some tensors, or makes it; the key says what it is
// but for what it is of.
func (p *copies) copy(ctx context.Context, from []*tensor.Tensor, key copyKey, make func(context.Context) (*tensor.Tensor, error)) (*tensor.Tensor, error) {
	var others []weak.Pointer[tensor.Tensor]
	for _, t := range from[1:] {
		others = append(others, weak.Make(t))
	}
	key.from = weak.Make(from[0])
	have := func() (*tensor.Tensor, bool) {
		if old, ok := p.known.Load(key); ok && slices.Equal(old.(*formCopy).others, others) {
			return old.(*formCopy).to, true
		}
		return nil, false
	}
	if to, ok := have(); ok {
		return to, nil
	}
	// What is being made keeps its parts, so their addresses name them.
	return p.making.Do(ctx, copyInMaking{key, flight.Pointers(from)}, have, func(ctx context.Context) (*tensor.Tensor, error) {
		to, err := make(ctx)
		if err != nil {
			return nil, err
		}
		if _, seen := p.known.Swap(key, &formCopy{others, to}); !seen {
			goruntime.AddCleanup(from[0], func(key copyKey) { p.known.Delete(key) }, key)
		}
		return to, nil
	})
}

// copyInMaking names a copy of one tensor, or of one and others.
type copyInMaking struct {
	copyKey
	parts string
}
