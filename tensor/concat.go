package tensor

import (
	"math"
	"slices"
)

// Concat joins tensors along an axis and stores the result in the given format: first come
// the elements of the first tensor, then those of the second, and so on. They must agree in
// element type, in fill and in all other extents; their formats may differ. What is stored is as
// after [Tensor.Convert]; with dense blocks in the target, explicit zeros in blocks of
// the same axes stay too. Index arrays keep their type where all have the same one and it
// holds what it must.
func Concat(axis int, format Format, tensors ...*Tensor) (*Tensor, error) {
	return ConcatWith(axis, format, tensors)
}

// ConcatWith is [Concat] with options, those of [Tensor.Convert] but for the fill.
func ConcatWith(axis int, format Format, tensors []*Tensor, opts ...Option) (*Tensor, error) {
	o := collect(opts)
	out, err := concatenated(axis, format, tensors, o)
	return out, named(err, o.name)
}

func concatenated(axis int, format Format, tensors []*Tensor, o options) (*Tensor, error) {
	shape, err := ConcatShape(axis, tensors)
	if err != nil {
		return nil, err
	}
	unpin, err := pinAll(tensors)
	if err != nil {
		return nil, err
	}
	defer unpin()
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	plain := make([]*Tensor, len(tensors))
	for i, t := range tensors {
		if plain[i], err = t.Canonical(); err != nil {
			return nil, err
		}
	}
	tensors = plain
	if format.IsDense() {
		values, err := scatterDense(shape, format.Order(), o.memory, axis, tensors...)
		if err != nil {
			return nil, err
		}
		return NewTrusted(shape, format, nil, values, tensors[0].fill), nil
	}
	begin, next := make([]uint64, len(tensors)), uint64(0)
	lists, list := make([]entries, len(tensors)), concatLister(axis, format, tensors)
	for k, t := range tensors {
		if lists[k], err = list(t); err != nil {
			return nil, tensorError("%v", err)
		}
		begin[k] = next
		next += uint64(t.shape[axis])
	}
	e, err := joined(shape, o.memory, lists, axis, begin)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	o.keepIndexTypes(format, shape, e.n, tensors...)
	return assemble(e, shape, format, tensors[0].fill, &o)
}

// ConcatShape is the shape of what [Concat] makes of tensors, or the error if they do not fit.
func ConcatShape(axis int, tensors []*Tensor) ([]int64, error) {
	if len(tensors) == 0 {
		return nil, tensorError("there is nothing to concatenate: pass one tensor or more")
	}
	if i := slices.Index(tensors, nil); i >= 0 {
		return nil, tensorError("tensor %d of those to concatenate is nil", i)
	}
	first := tensors[0]
	if axis < 0 || axis >= first.Rank() {
		return nil, tensorError("cannot concatenate along axis %d: the tensors have %d axes, counted from 0", axis, first.Rank())
	}
	shape := first.Shape()
	for i, t := range tensors[1:] {
		switch {
		case t.DType() != first.DType():
			return nil, named(tensorError("tensor %d has elements of type %v and the first has %v: convert one of them", i+1, t.DType(), first.DType()), t.name)
		case !t.fill.Same(first.fill):
			return nil, named(tensorError("tensor %d has the fill %v and the first has %v: the result can have only one", i+1, t.fill, first.fill), t.name)
		case !fitBesides(axis, t.shape, shape):
			return nil, named(tensorError("tensor %d has the shape %s and the first has %s: they must agree but in axis %d", i+1, shapeString(t.shape), shapeString(first.shape), axis), t.name)
		case t.shape[axis] > math.MaxInt64-shape[axis]:
			return nil, named(tensorError("together the tensors have more than 2^63-1 coordinates in axis %d", axis), t.name)
		}
		shape[axis] += t.shape[axis]
	}
	return shape, nil
}

// fitBesides reports whether two shapes differ at most in one axis.
func fitBesides(axis int, a, b []int64) bool {
	return len(a) == len(b) && slices.Equal(a[:axis], b[:axis]) && slices.Equal(a[axis+1:], b[axis+1:])
}

// concatLister is how the entries of each tensor are listed: with their blocks if all tensors and the target have blocks of the
// same axes, else value by value.
func concatLister(axis int, format Format, tensors []*Tensor) func(*Tensor) (entries, error) {
	within := format.Order()[format.SparseRank():]
	if !slices.Contains(within, axis) && !slices.ContainsFunc(tensors, func(t *Tensor) bool { return !t.hasBlocksOf(format) }) {
		return (*Tensor).blockEntries
	}
	return func(t *Tensor) (entries, error) {
		for _, axis := range t.format.Order()[t.format.SparseRank():] {
			if !slices.Contains(within, axis) {
				return t.valueEntries()
			}
		}
		return t.elementEntries()
	}
}
