package tensor

import (
	"cmp"
	"container/heap"
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
	c := &concat{axis: axis, shape: shape, format: format, tensors: tensors, memory: o.memory}
	if format.IsDense() {
		return c.dense()
	}
	e, err := c.entries()
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

// concat is one concatenation.
type concat struct {
	axis    int
	shape   []int64
	format  Format
	tensors []*Tensor
	memory  *memoryLimit
}

// dense is the result in a format of D levels.
func (c *concat) dense() (*Tensor, error) {
	total, ok := product(c.shape)
	if !ok {
		return nil, tensorError("shape %s has more than 2^63-1 elements: it has no dense form", shapeString(c.shape))
	}
	if err := c.memory.admit(total, c.tensors[0].DType().Size()); err != nil {
		return nil, tensorError("%v", err)
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
	return NewTrusted(c.shape, c.format, nil, out, fill), nil
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
	if len(parts) == 1 {
		return parts[0], nil
	}
	err := cmp.Or(c.memory.admitList(n, c.shape), c.memory.admit(int64(values), c.tensors[0].DType().Size()))
	if err != nil {
		return entries{}, err
	}
	e := entries{n: n, block: parts[0].block, distinct: true, cols: make([]column, len(c.shape))}
	for _, axis := range axes {
		var err error
		if e.cols[axis], err = makeColumn(n, maxCoordinate(c.shape[axis])); err != nil {
			return entries{}, err
		}
	}
	if e.values, err = MakeArray(c.tensors[0].DType(), values); err != nil {
		return entries{}, err
	}
	c.join(&e, axes, parts)
	return e, nil
}

// lister is how the entries of each tensor are listed, and the axes in which the entries
// have coordinates: with their blocks if all tensors and the target have blocks of the
// same axes, else value by value.
func (c *concat) lister() (list func(*Tensor) (entries, error), axes []int) {
	order := c.format.Order()
	sparse := c.format.SparseRank()
	blocks := !slices.Contains(order[sparse:], c.axis)
	for _, t := range c.tensors {
		s := t.format.SparseRank()
		blocks = blocks && s == sparse && slices.Equal(t.format.Order()[s:], order[sparse:])
	}
	if blocks {
		return (*Tensor).blockEntries, order[:sparse]
	}
	return func(t *Tensor) (entries, error) {
		for _, axis := range t.format.Order()[t.format.SparseRank():] {
			if !slices.Contains(order[sparse:], axis) {
				return t.valueEntries()
			}
		}
		return t.elementEntries(permutation{}, t.values.n)
	}, order
}

// join writes the parts to e. Parts that are sorted in one order are merged in it; others
// stand one after the other.
func (c *concat) join(e *entries, axes []int, parts []entries) {
	m := &merge{parts: parts, next: make([]int, len(parts))}
	for k, p := range parts {
		if p.n > 0 {
			m.queue = append(m.queue, k)
		}
	}
	if order, ok := m.commonOrder(); ok {
		e.order = order
		m.keys = order[:slices.Index(order, c.axis)]
		heap.Init(m)
	}
	begin := make([]uint64, len(parts)+1) // of each part, along the axis
	for k, t := range c.tensors {
		begin[k+1] = begin[k] + uint64(t.shape[c.axis])
	}
	size := e.block * e.values.dt.Size()
	to, at := e.values.Raw(), 0
	for len(m.queue) > 0 {
		k, lo, hi := m.run()
		p := &parts[k]
		for _, axis := range axes {
			shift := uint64(0)
			if axis == c.axis {
				shift = begin[k]
			}
			e.cols[axis].copyShifted(at, p.cols[axis], lo, hi, shift)
		}
		at += hi - lo
		to = to[copy(to, p.values.Raw()[lo*size:hi*size]):]
	}
}

// copyShifted writes elements lo to hi-1 of another column, each plus a number, from place at on.
func (c column) copyShifted(at int, from column, lo, hi int, shift uint64) {
	if c.u32 != nil && from.u32 != nil {
		to := c.u32[at : at+hi-lo]
		for i, v := range from.u32[lo:hi] {
			to[i] = v + uint32(shift)
		}
		return
	}
	for i := lo; i < hi; i++ {
		c.set(at+i-lo, from.at(i)+shift)
	}
}

// merge goes through several lists of entries in the order of some key columns; where they
// are equal, in the order of the lists.
type merge struct {
	parts []entries
	next  []int // the entry that is next, by part
	keys  []int // axes
	queue []int // parts that have a next entry, a heap
}

// commonOrder is the order in which all parts with entries are sorted, if there is one.
func (m *merge) commonOrder() ([]int, bool) {
	var order []int
	for i, k := range m.queue {
		if i == 0 {
			order = m.parts[k].order
		}
		if !slices.Equal(order, m.parts[k].order) {
			return nil, false
		}
	}
	return order, order != nil
}

// run takes the next entries of one part with the same keys: those from lo to hi-1 of part k.
func (m *merge) run() (k, lo, hi int) {
	k = m.queue[0]
	p := &m.parts[k]
	lo, hi = m.next[k], p.n
	if len(m.keys) > 0 {
		for hi = lo + 1; hi < p.n && m.compare(k, lo, k, hi) == 0; hi++ {
		}
	}
	m.next[k] = hi
	if hi < p.n {
		heap.Fix(m, 0)
	} else {
		heap.Pop(m)
	}
	return k, lo, hi
}

// compare compares the keys of entry i of part a with those of entry j of part b.
func (m *merge) compare(a, i, b, j int) int {
	for _, axis := range m.keys {
		if c := cmp.Compare(m.parts[a].cols[axis].at(i), m.parts[b].cols[axis].at(j)); c != 0 {
			return c
		}
	}
	return 0
}

// The parts of the queue are a heap by the keys of their next entries.

func (m *merge) Len() int      { return len(m.queue) }
func (m *merge) Swap(i, j int) { m.queue[i], m.queue[j] = m.queue[j], m.queue[i] }
func (m *merge) Push(k any)    { m.queue = append(m.queue, k.(int)) }

func (m *merge) Less(i, j int) bool {
	a, b := m.queue[i], m.queue[j]
	if c := m.compare(a, m.next[a], b, m.next[b]); c != 0 {
		return c < 0
	}
	return a < b
}

func (m *merge) Pop() any {
	last := len(m.queue) - 1
	k := m.queue[last]
	m.queue = m.queue[:last]
	return k
}
