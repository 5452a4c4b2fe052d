package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	lowerconvert "github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Reshape gives the elements of a tensor, in row-major order, another shape: see lacuna's Session.Reshape.
func (s *Service) Reshape(ctx context.Context, t *tensor.Tensor, shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	here := func() (*tensor.Tensor, error) { return t.Reshape(shape, format, s.within()...) }
	runs, err := tensor.ReshapeGroups(t.Dims(), shape, format)
	if err != nil {
		return here() // which says what is wrong
	}
	if shared, ok := t.Reshaped(shape, format); ok {
		return shared, nil
	}
	m := lowerconvert.Map{}
	for _, g := range runs {
		m.Groups = append(m.Groups, lowerconvert.Group{From: g[0], To: g[1]})
	}
	return s.place(fmt.Sprintf("reshape %s to %s", t.Format(), format),
		func(c *conversion) (*tensor.Tensor, error) {
			return c.reshaped(ctx, t, mapping{Map: &m, extents: slices.Clone(shape)}, format)
		}, here, t)
}

// plainly is a tensor that is sorted and whole where the conversion is: it may make one on the device. The result is the caller's to release.
func (c *conversion) plainly(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if c.resident {
		return c.onDevice(ctx, t, t.Format().Standard())
	}
	return t.Share(), nil
}

// reshaped is a tensor in another shape, by a kernel.
func (c *conversion) reshaped(ctx context.Context, t *tensor.Tensor, m mapping, format tensor.Format) (*tensor.Tensor, error) {
	switch {
	case keepsBlocks(t.Format()) && !format.IsDense():
		return nil, fallback("kernels do not keep the dense blocks of %s", t.Format())
	case !c.resident && !usuallyTyped(t):
		return nil, errFallback
	}
	name, to := t.Name(), format
	t, err := c.plainly(ctx, t)
	if err != nil {
		return nil, err
	}
	defer t.Release()
	if m.Map != nil {
		own := *m.Map // to which groups are added
		own.Groups, m.Map = slices.Clone(own.Groups), &own
	}
	// A scalar is a vector of one element to kernels.
	if t.Rank() == 0 {
		t = tensor.NewTrusted([]int64{1}, tensor.Dense(1), nil, t.Values(), t.Fill())
		m.Groups = append(m.Groups, lowerconvert.Group{From: []int{0}})
	}
	if format.Rank() == 0 {
		m.extents, to = []int64{1}, tensor.Dense(1)
		m.Groups = append(m.Groups, lowerconvert.Group{To: []int{0}})
	}
	out, err := c.mapped(ctx, t, m, to)
	if err != nil {
		return nil, err
	}
	if to != format {
		out = replaced(out, tensor.NewTrusted(nil, format, nil, out.Values(), out.Fill()))
	}
	return renamed(out, name)
}

// usuallyTyped reports whether index arrays have the type that those of small tensors have, which a reshape then keeps.
func usuallyTyped(t *tensor.Tensor) bool {
	usual := func(a tensor.Array) bool { return !a.DType().Valid() || a.DType() == tensor.Uint32 }
	return !slices.ContainsFunc(t.Levels(), func(l tensor.Level) bool { return !usual(l.Pos) || !usual(l.Crd) })
}

// unblocked stores a tensor in blocks without them, by a kernel.
func (c *conversion) unblocked(ctx context.Context, b *tensor.Blocks, format tensor.Format) (*tensor.Tensor, error) {
	t, err := c.plainly(ctx, b.Blocked())
	if err != nil {
		return nil, err
	}
	defer t.Release()
	out, err := c.mapped(ctx, t, unblocking(t.Dims(), b.Shape()), format)
	if err != nil {
		return nil, err
	}
	return renamed(out, b.Name())
}

// Concat joins tensors along an axis.
func (s *Service) Concat(ctx context.Context, axis int, format tensor.Format, tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	here := func() (*tensor.Tensor, error) { return tensor.ConcatWith(axis, format, tensors, s.within()...) }
	if len(tensors) == 0 || slices.Contains(tensors, nil) {
		return here()
	}
	return s.place(fmt.Sprintf("concatenate %d tensors to %s", len(tensors), format),
		func(c *conversion) (*tensor.Tensor, error) { return c.concatenated(ctx, axis, format, tensors) }, here, tensors...)
}

// concatenated is Concat by kernels.
func (c *conversion) concatenated(ctx context.Context, axis int, format tensor.Format, tensors []*tensor.Tensor) (*tensor.Tensor, error) {
	shape, err := tensor.ConcatShape(axis, tensors)
	switch {
	case err != nil:
		return nil, err
	case len(shape) != format.Rank():
		return nil, errFallback
	case !c.resident && (format.IsDense() || format.Relaxed() || slices.ContainsFunc(tensors, func(t *tensor.Tensor) bool { return !usuallyTyped(t) })):
		return nil, errFallback
	case format.IsDense():
		return c.concatDense(ctx, axis, shape, format, tensors)
	case format.HasBlocks() || format.Extended() || slices.ContainsFunc(tensors, func(t *tensor.Tensor) bool { return keepsBlocks(t.Format()) }):
		return nil, fallback("kernels do not keep dense blocks")
	}
	maps, next := make([]mapping, len(tensors)), int64(0)
	for i, t := range tensors {
		if next > 0 || invoke.CoordinateType(shape[axis]) != invoke.CoordinateType(t.Dims()[axis]) {
			maps[i] = shifting(len(shape), axis, next)
		}
		next += t.Dims()[axis]
	}
	return c.appended(ctx, tensors, maps, shape, format)
}

// concatDense is Concat to a format of D levels: with the axis first, the tensors stand one
// behind the other.
func (c *conversion) concatDense(ctx context.Context, axis int, shape []int64, format tensor.Format, tensors []*tensor.Tensor) (*tensor.Tensor, error) {
	order := []int{axis}
	for k := range shape {
		if k != axis {
			order = append(order, k)
		}
	}
	first, err := tensor.Dense(len(shape)).WithOrder(order)
	if err != nil {
		return nil, err
	}
	var arrays []tensor.Array
	for _, t := range tensors {
		all, err := c.onDevice(ctx, t, first)
		if err != nil {
			return nil, err
		}
		defer all.Release()
		arrays = append(arrays, all.Values())
	}
	values, err := c.joined(ctx, arrays)
	if err != nil {
		return nil, err
	}
	out := tensor.NewTrusted(shape, first, nil, values, tensors[0].Fill())
	defer out.Release()
	return c.onDevice(ctx, out, format)
}

// Prune drops the stored entries that equal the fill.
func (s *Service) Prune(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	format := t.Format()
	if format.IsDense() {
		return t.Prune()
	}
	if t.NNZ() == 0 {
		return t.Share(), nil
	}
	return s.place(fmt.Sprintf("prune %s", format), func(c *conversion) (*tensor.Tensor, error) {
		out, err := c.pruned(ctx, t)
		if errors.Is(err, errFallback) && c.resident && !keepsBlocks(format) && t.IsCanonical() {
			return c.prunedList(ctx, t)
		}
		return out, err
	}, func() (*tensor.Tensor, error) { return t.Prune(s.within()...) }, t)
}

// pruned is a tensor without the stored entries that equal the fill, by a kernel.
func (c *conversion) pruned(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if f := t.Format(); keepsBlocks(f) || f.Extended() || !t.IsCanonical() {
		return nil, fallback("kernels prune sorted tensors without dense blocks, not %s %s", t.Structure(), f)
	}
	positions := tensor.Invalid
	if t.LevelAt(0).Pos.DType().Valid() {
		positions = invoke.CoordinateType(t.NNZ() + 1) // those of a first level are not the kernel's to write
	}
	for _, l := range t.Levels() {
		dt := l.Pos.DType()
		if dt.Valid() && positions.Valid() && dt != positions {
			return nil, fallback("kernels write positions of one type, not of %v and %v", positions, dt)
		}
		positions = cmp.Or(positions, dt)
	}
	c.prune, c.options.Resident = true, c.resident
	out, err := c.kernel(ctx, t, t.Format(), lowerconvert.Stored)
	if err != nil {
		return nil, err
	}
	if out.NNZ() == t.NNZ() {
		out.Release()
		return t.Share(), nil
	}
	kept := t.Attributes()
	kept.Properties &^= tensor.PatternSymmetric | tensor.DiagonalKnown
	claimed, err := out.WithAttributes(kept)
	if err != nil {
		return nil, err
	}
	return renamed(replaced(out, claimed), t.Name())
}

// prunedList is pruned by way of a list, for tensors whose positions no kernel writes.
func (c *conversion) prunedList(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	order, err := tensor.Coordinates(t.Rank()).WithOrder(t.Format().Order())
	if err != nil {
		return nil, err
	}
	c.prune, c.options.Resident = true, c.resident
	kept, err := c.kernel(ctx, t, order, lowerconvert.Stored)
	if err != nil {
		return nil, err
	}
	if kept.NNZ() == t.NNZ() {
		kept.Release()
		return t.Share(), nil
	}
	c.prune = false
	out, err := c.fromSorted(ctx, kept, t.Format())
	if err != nil {
		kept.Release()
		return nil, err
	}
	return renamed(replaced(kept, out), t.Name())
}

// keepsBlocks reports whether a format has dense blocks behind levels that are not.
func keepsBlocks(f tensor.Format) bool { return !f.IsDense() && f.HasBlocks() }
