package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// FromCoords makes a tensor of entries given by their coordinates: see lacuna's Session.FromCoords.
func (s *Service) FromCoords(ctx context.Context, shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	arrays := append(slices.Clone(coords), values)
	fallBack := func(why string) (*tensor.Tensor, error) {
		if err := s.fetchFor(fmt.Sprintf("make %s of coordinates", format), why, arrays); err != nil {
			return nil, err
		}
		out, err := tensor.FromColumns(shape, format, coords, values, s.within(opts...)...)
		return out, runtime.Refused(fmt.Sprintf("to make %s of coordinates", format), err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rank := len(shape)
	switch {
	case format.Rank() != rank || len(coords) != rank || slices.ContainsFunc(coords, func(c tensor.Array) bool { return !c.DType().IsInteger() }):
		return tensor.FromColumns(shape, format, coords, values, opts...) // which says what is wrong, and reads no array
	case slices.ContainsFunc(coords, func(c tensor.Array) bool { return c.Len() != values.Len() }):
		return fallBack("the arrays differ in length")
	case rank == 0:
		return fallBack("kernels are for tensors with axes")
	case slices.Min(shape) <= 0:
		return fallBack(outsideReason)
	case format.Extended():
		return fallBack("kernels convert no levels of kinds that are registered")
	case format.Relaxed():
		return fallBack(flagsReason(format))
	}
	if values.DType() == tensor.Bool && values.Fetched() && slices.ContainsFunc(tensor.View[uint8](values), func(v uint8) bool { return v > 1 }) {
		return fallBack("a bool is neither 0 nor 1")
	}
	sample, ok := sampleOf(shape, format, values, opts)
	if !ok {
		return fallBack("kernels make index arrays of the usual types")
	}
	list, err := tensor.Coordinates(rank).WithOrder(format.Order())
	if err != nil {
		return nil, err
	}
	levels := make([]tensor.Level, rank)
	for l, axis := range format.Order() {
		levels[l].Crd = coords[axis]
	}
	c := s.begin(s.Options.Resident)
	given := tensor.NewTrusted(shape, list, levels, values, sample.Fill())
	if err := given.Pin(); err != nil { // of arrays that were released
		return nil, err
	}
	defer given.Unpin()
	c.begun = s.placed(given)
	out, err := c.fromCoords(ctx, given, format)
	if err != nil {
		given.Release()
	}
	if errors.Is(err, errFallback) {
		return fallBack(cmp.Or(reasonOf(err), "the result is too large"))
	}
	if err != nil {
		return nil, err
	}
	return renamed(replaced(given, out), sample.Name())
}

// sampleOf makes an empty tensor to see what options ask for. It is not ok if that
// is more than a kernel does.
func sampleOf(shape []int64, format tensor.Format, values tensor.Array, opts []tensor.Option) (*tensor.Tensor, bool) {
	sample, err := Empty(make([]int64, format.Rank()), format, values.DType(), opts...)
	if err != nil {
		return nil, false
	}
	for l, level := range sample.Levels() {
		asked := level.Crd.Len() == 0 && level.Crd.DType().Valid() && level.Crd.DType() != tensor.Uint32 ||
			level.Pos.DType().Valid() && level.Pos.DType() != tensor.Uint32
		if asked || len(opts) > 0 && invoke.CoordinateType(shape[format.Order()[l]]) != tensor.Uint32 {
			return nil, false
		}
	}
	return sample, true
}
