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
	shape, err := concatShape(axis, tensors)
	if err != nil {
		return nil, err
	}
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	c := &concat{axis: axis, shape: shape, format: format, tensors: tensors}
	if format.IsDense() {
		return c.dense()
	}
	e, err := c.entries()
	if err != nil {
		return nil, tensorError("%v", err)
	}
	var o options
	o.keepIndexTypes(format, shape, e.n, tensors...)
	return build(e, shape, format, tensors[0].fill, &o)
}

// concatShape is the shape of the result, or why there is none.
func concatShape(axis int, tensors []*Tensor) ([]int64, error) {
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

// concat is one concatenation.
type concat struct {
	axis    int
	shape   []int64
	format  Format
	tensors []*Tensor
}

// dense is the result in a format of D levels.
func (c *concat) dense() (*Tensor, error) {
	total, ok := product(c.shape)
	if !ok {
		return nil, tensorError("shape %s has more than 2^63-1 elements: it has no dense form", shapeString(c.shape))
	}
	out, err := MakeArray(c.tensors[0].DType(), int(total))
	if err != nil {
		return nil, tensorError("%v", err)
	}
	fill := c.tensors[0].fill
	if total > 0 {
		fillArray(out, fill)
		strides := make([]int, len(c.shape)) // by logical axis
		stride := 1
		order := c.format.Order()
		for k := len(order) - 1; k >= 0; k-- {
			strides[order[k]] = stride
			stride *= int(c.shape[order[k]])
		}
		begin := 0
		for _, t := range c.tensors {
			e, err := t.blockEntries()
			if err != nil {
				return nil, tensorError("%v", err)
			}
			if t.values.n > 0 {
				t.scatter(out.Slice(begin*strides[c.axis], out.n), e, strides)
			}
			begin += int(t.shape[c.axis])
		}
	}
	return Assemble(c.shape, c.format, nil, out, fill), nil
}

// entries are those of all tensors, at their coordinates in the result.
func (c *concat) entries() (entries, error) {
	list, axes := c.lister()
	var parts []entries
	n, values := 0, 0
	for _, t := range c.tensors {
		e, err := list(t)
		if err != nil {
			return entries{}, err
		}
		parts = append(parts, e)
		n += e.n
		values += e.values.n
	}
	e := entries{n: n, block: parts[0].block, distinct: true, order: c.order(parts)}
	e.cols = make([]column, len(c.shape))
	for _, axis := range axes {
		var err error
		if e.cols[axis], err = c.column(axis, n, parts); err != nil {
			return entries{}, err
		}
	}
	if len(parts) == 1 {
		e.values = parts[0].values
		return e, nil
	}
	var err error
	if e.values, err = MakeArray(c.tensors[0].DType(), values); err != nil {
		return entries{}, err
	}
	to := e.values.Raw()
	for _, p := range parts {
		to = to[copy(to, p.values.Raw()):]
	}
	return e, nil
}

// lister is how the entries of each tensor are listed, and the axes in which the entries
// have coordinates: with their blocks if all tensors and the target have blocks of the
// same axes, else value by value.
func (c *concat) lister() (list func(*Tensor) (entries, error), axes []int) {
	order := c.format.Order()
	sparse := c.format.sparseRank()
	blocks := !slices.Contains(order[sparse:], c.axis)
	for _, t := range c.tensors {
		s := t.format.sparseRank()
		blocks = blocks && s == sparse && slices.Equal(t.format.Order()[s:], order[sparse:])
	}
	if blocks {
		return (*Tensor).blockEntries, order[:sparse]
	}
	return func(t *Tensor) (entries, error) {
		for _, axis := range t.format.Order()[t.format.sparseRank():] {
			if !slices.Contains(order[sparse:], axis) {
				return t.valueEntries()
			}
		}
		return t.elementEntries(permutation{}, t.values.n)
	}, order
}

// order is the order of axes in which the joined entries are sorted, nil if they are not known
// to be.
func (c *concat) order(parts []entries) []int {
	var order []int
	for _, p := range parts {
		switch {
		case p.n == 0:
		case order == nil:
			order = p.order
		case !slices.Equal(order, p.order) || order[0] != c.axis:
			return nil
		}
	}
	return order
}

// column joins the coordinates of one axis.
func (c *concat) column(axis, n int, parts []entries) (column, error) {
	if len(parts) == 1 {
		return parts[0].cols[axis], nil
	}
	col, err := makeColumn(n, maxCoordinate(c.shape[axis]))
	if err != nil {
		return column{}, err
	}
	i, begin := 0, uint64(0)
	for k, p := range parts {
		for j := range p.n {
			col.set(i, begin+p.cols[axis].at(j))
			i++
		}
		if axis == c.axis {
			begin += uint64(c.tensors[k].shape[axis])
		}
	}
	return col, nil
}
