package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
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
	if tensor.CheckReshape(t.Dims(), shape, format) != nil {
		return here() // which says what is wrong
	}
	if shared, ok := t.Reshaped(shape, format); ok {
		return shared, nil
	}
	return s.place(fmt.Sprintf("reshape %s to %s", t.Format(), format), func() (*tensor.Tensor, error) {
		switch {
		case !countable(shape):
			return nil, fallback("the shape has more than 2^63-1 elements")
		case keepsBlocks(t.Format()) && !format.IsDense():
			return nil, fallback("kernels do not keep the dense blocks of %s", t.Format())
		case t.Format().IsDense() || format.IsDense():
			return s.reshapeDense(ctx, t, shape, format)
		}
		l, err := s.listOf(ctx, t)
		if err != nil {
			return nil, err
		}
		defer l.release()
		l.reshape(slices.Clone(shape))
		return l.store(format)
	}, here, t)
}

// reshapeDense is Reshape by way of all elements in row-major order, whose numbers do not change.
func (s *Service) reshapeDense(ctx context.Context, t *tensor.Tensor, shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	all, err := s.onDevice(ctx, t, tensor.Dense(t.Rank()))
	if err != nil {
		return nil, err
	}
	defer all.Release()
	dense := tensor.NewTrusted(shape, tensor.Dense(len(shape)), nil, all.Values(), t.Fill())
	defer dense.Release()
	out, err := s.onDevice(ctx, dense, format)
	if err != nil {
		return nil, err
	}
	return renamed(out, t.Name())
}

// Concat joins tensors along an axis.
func (s *Service) Concat(ctx context.Context, axis int, format tensor.Format, tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	here := func() (*tensor.Tensor, error) { return tensor.ConcatWith(axis, format, tensors, s.within()...) }
	if len(tensors) == 0 || slices.Contains(tensors, nil) {
		return here()
	}
	return s.place(fmt.Sprintf("concatenate %d tensors to %s", len(tensors), format), func() (*tensor.Tensor, error) {
		shape, err := tensor.ConcatShape(axis, tensors)
		switch {
		case err != nil:
			return nil, err
		case len(shape) != format.Rank():
			return nil, errFallback
		case format.IsDense():
			return s.concatDense(ctx, axis, shape, format, tensors)
		case format.HasBlocks() || slices.ContainsFunc(tensors, func(t *tensor.Tensor) bool { return keepsBlocks(t.Format()) }):
			return nil, fallback("kernels do not keep dense blocks")
		}
		begin, next := make([]int64, len(tensors)), int64(0)
		for i, t := range tensors {
			begin[i] = next
			next += t.Dims()[axis]
		}
		return s.appended(ctx, tensors, func(l *coordList, i int) { l.name = ""; l.shift(axis, begin[i]) }, shape, format)
	}, here, tensors...)
}

// concatDense is Concat to a format of D levels: with the axis first, the tensors stand one
// behind the other.
func (s *Service) concatDense(ctx context.Context, axis int, shape []int64, format tensor.Format, tensors []*tensor.Tensor) (*tensor.Tensor, error) {
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
		all, err := s.onDevice(ctx, t, first)
		if err != nil {
			return nil, err
		}
		defer all.Release()
		arrays = append(arrays, all.Values())
	}
	values, err := s.concatVectors(ctx, tensors[0].DType(), arrays...)
	if err != nil {
		return nil, err
	}
	out := tensor.NewTrusted(shape, first, nil, values, tensors[0].Fill())
	defer out.Release()
	return s.onDevice(ctx, out, format)
}

// appended stores the entries of several tensors in one of some shape, after move has given those of
// tensor i their places.
func (s *Service) appended(ctx context.Context, tensors []*tensor.Tensor, move func(l *coordList, i int), shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	var all *coordList
	for i, t := range tensors {
		if t.NNZ() == 0 {
			continue
		}
		l, err := s.listOf(ctx, t)
		if err != nil {
			if all != nil {
				all.release()
			}
			return nil, err
		}
		move(l, i)
		if all == nil {
			all = l
		} else {
			all.add(l)
		}
	}
	if all == nil {
		return Empty(shape, format, tensors[0].DType(), tensor.WithFill(tensors[0].Fill()))
	}
	defer all.release()
	all.shape = shape
	return all.store(format)
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
	return s.place(fmt.Sprintf("prune %s", format), func() (*tensor.Tensor, error) { return s.prunedThere(ctx, t) },
		func() (*tensor.Tensor, error) {
			out, err := s.begin(false).pruned(ctx, t)
			if errors.Is(err, errFallback) {
				return t.Prune(s.within()...)
			}
			return out, err
		}, t)
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

// prunedThere is pruned on the device, for tensors of which no kernel writes the positions as a list.
func (s *Service) prunedThere(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	out, err := s.remote().pruned(ctx, t)
	if !errors.Is(err, errFallback) || keepsBlocks(t.Format()) || !t.IsCanonical() {
		return out, err
	}
	l, err := s.listOf(ctx, t)
	if err != nil {
		return nil, err
	}
	defer l.release()
	kept := l.unequal(l.values, t.Fill())
	if l.err == nil && kept.Shape()[0] == t.NNZ() {
		return t.Share(), nil
	}
	l.choose(kept)
	return l.store(t.Format())
}

// keepsBlocks reports whether a format has dense blocks behind levels that are not.
func keepsBlocks(f tensor.Format) bool { return !f.IsDense() && f.HasBlocks() }

// countable reports whether the elements of a shape have numbers below 2^63.
func countable(shape []int64) bool {
	if slices.Contains(shape, 0) {
		return true
	}
	n := int64(1)
	for _, size := range shape {
		if n > math.MaxInt64/size {
			return false
		}
		n *= size
	}
	return true
}
