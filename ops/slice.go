package ops

import (
	"context"
	"errors"
	"fmt"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Range says which coordinates of an axis a slice takes. The zero Range is [Whole].
// Coordinates below 0 count from the end: -1 is the last.
type Range struct {
	lo, hi     int64
	toEnd      bool // hi is not set
	step       int64
	kind       rangeKind
	withStride bool
}

type rangeKind uint8

const (
	whole rangeKind = iota
	between
	single
)

// Whole is every coordinate.
func Whole() Range { return Range{} }

// Between is the coordinates from lo to hi-1.
func Between(lo, hi int64) Range { return Range{kind: between, lo: lo, hi: hi} }

// From is the coordinates from lo to the end.
func From(lo int64) Range { return Range{kind: between, lo: lo, toEnd: true} }

// At is one coordinate. The result does not have the axis.
func At(i int64) Range { return Range{kind: single, lo: i} }

// Step is every n-th coordinate of the range, beginning with its first.
func (r Range) Step(n int64) Range {
	r.step, r.withStride = n, true
	return r
}

// Slice takes part of a tensor: ranges has a Range for each axis; axes for which it has none, at the
// end, are taken whole. The result has the levels of A, but for those of axes taken
// [At] one coordinate.
func Slice(ctx context.Context, A *tensor.Tensor, ranges []Range, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginMoving(ctx, "Slice", opts, A)
	if err != nil {
		return nil, err
	}
	if A, err = op.plain(A); err != nil {
		return nil, err
	}
	if len(ranges) > A.Rank() {
		return nil, op.failf("there are %d ranges for the %d axes of the tensor", len(ranges), A.Rank())
	}
	var left []string
	right := make([]string, A.Rank())
	kept := make([]bool, A.Rank())
	for axis, n := range A.Shape() {
		var r Range
		if axis < len(ranges) {
			r = ranges[axis]
		}
		if right[axis], err = r.text(n); err != nil {
			return nil, op.failf("axis %d: %w", axis, err)
		}
		if kept[axis] = r.kind != single; kept[axis] {
			left = append(left, ":")
		}
	}
	program := access("R", left) + " = " + access("A", right)
	return op.eval(program, lacuna.Args{"A": A}, lacuna.Result("R", A.Format().Keep(kept)))
}

// text writes the range of an axis with n coordinates as expressions have it.
func (r Range) text(n int64) (string, error) {
	lo, hi, step := r.lo, r.hi, int64(1)
	if lo < 0 {
		lo += n
	}
	switch {
	case r.kind == whole || r.toEnd:
		hi = n
	case hi < 0:
		hi += n
	}
	if r.withStride {
		step = r.step
	}
	switch {
	case r.kind == single && r.withStride:
		return "", errors.New("a single coordinate cannot have a step")
	case r.kind == single && (lo < 0 || lo >= n):
		return "", fmt.Errorf("there is no coordinate %d: the extent is %d", r.lo, n)
	case r.kind == single:
		return fmt.Sprint(lo), nil
	case lo < 0 || lo > n:
		return "", fmt.Errorf("a range cannot begin at %d: the extent is %d", r.lo, n)
	case hi < 0 || hi > n:
		return "", fmt.Errorf("a range cannot end at %d: the extent is %d", r.hi, n)
	case hi < lo:
		return "", fmt.Errorf("the range ends at %d, before it begins at %d", hi, lo)
	case step < 1:
		return "", fmt.Errorf("the step is %d: it must be 1 or more", step)
	case step > 1:
		// A step past the end takes the first coordinate, as one up to it does.
		return fmt.Sprintf("%d:%d:%d", lo, hi, min(step, max(n, 1))), nil
	case lo == 0 && hi == n:
		return ":", nil
	}
	return fmt.Sprintf("%d:%d", lo, hi), nil
}
