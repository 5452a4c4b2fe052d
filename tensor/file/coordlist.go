package file

import (
	"math"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// coordList gathers the entries of all blocks, in the types that a tensor has them
// in: 4 bytes for a coordinate and as many as its type has for a value, so that what
// is gathered can become a tensor without being copied.
type coordList struct {
	memory Memory
	coords []indexList
	value  *valueSpec
	values tensor.Array // with room beyond n
	n      int
}

// newCoordList returns an empty list with room for n entries.
func newCoordList(m Memory, s *entrySpec, n int64) (*coordList, error) {
	c := &coordList{memory: m, coords: make([]indexList, s.rank), value: &s.value}
	var err error
	if c.values, err = m.MakeArray(s.value.dtype, 0); err != nil {
		return nil, err
	}
	return c, c.reserve(int(n))
}

// reserve makes room for n more entries.
func (c *coordList) reserve(n int) (err error) {
	for k := range c.coords {
		if err = c.coords[k].reserve(c.memory, n); err != nil {
			return err
		}
	}
	c.values, err = arrayWithRoom(c.memory, c.values, c.n, n)
	return err
}

// add appends the entries of a batch.
func (c *coordList) add(b *batch) error {
	if err := c.reserve(b.stored); err != nil {
		return err
	}
	for k := range c.coords {
		if err := c.coords[k].add(c.memory, b.coords[k][:b.stored]); err != nil {
			return err
		}
	}
	c.value.put(c.values.Slice(c.n, c.n+b.stored), b.words)
	c.n += b.stored
	return nil
}

// extents are the sizes that the coordinates need.
func (c *coordList) extents() []int64 {
	shape := make([]int64, len(c.coords))
	for k := range shape {
		if c.n > 0 {
			shape[k] = c.coords[k].max() + 1
		}
	}
	return shape
}

// columns returns the coordinates as arrays and drops them from the list.
func (c *coordList) columns() []tensor.Array {
	arrays := make([]tensor.Array, len(c.coords))
	for k := range c.coords {
		arrays[k] = c.coords[k].array()
		c.coords[k] = indexList{}
	}
	return arrays
}

// indexList is a list of coordinates that is as narrow as they allow.
type indexList struct {
	narrow []uint32
	wide   []uint64 // if not nil, all of them
}

// reserve makes room for n more coordinates.
func (l *indexList) reserve(m Memory, n int) (err error) {
	if l.wide != nil {
		l.wide, err = withRoom(m, l.wide, tensor.Uint64, n)
		return err
	}
	l.narrow, err = withRoom(m, l.narrow, tensor.Uint32, n)
	return err
}

// add appends coordinates that there is room for.
func (l *indexList) add(m Memory, list []int64) error {
	if l.wide == nil {
		to := l.narrow[len(l.narrow) : len(l.narrow)+len(list)]
		all := int64(0)
		for i, c := range list {
			to[i] = uint32(c)
			all |= c
		}
		if all <= math.MaxUint32 {
			l.narrow = l.narrow[:len(l.narrow)+len(list)]
			return nil
		}
		if err := l.widen(m, len(list)); err != nil {
			return err
		}
	}
	for _, c := range list {
		l.wide = append(l.wide, uint64(c))
	}
	return nil
}

// widen gives the list 8 bytes for each coordinate and room for n more.
func (l *indexList) widen(m Memory, n int) error {
	wide, err := withRoom[uint64](m, nil, tensor.Uint64, max(cap(l.narrow), len(l.narrow)+n))
	if err != nil {
		return err
	}
	wide = wide[:len(l.narrow)]
	for i, c := range l.narrow {
		wide[i] = uint64(c)
	}
	l.narrow, l.wide = nil, wide
	return nil
}

// max returns the largest coordinate of a list that is not empty.
func (l *indexList) max() int64 {
	largest := uint64(0)
	for _, c := range l.narrow {
		largest = max(largest, uint64(c))
	}
	for _, c := range l.wide {
		largest = max(largest, c)
	}
	return int64(largest)
}

// array is the list as an array that shares its memory.
func (l *indexList) array() tensor.Array {
	if l.wide != nil {
		return tensor.ArrayOf(l.wide)
	}
	return tensor.ArrayOf(l.narrow)
}

// withRoom returns s with room for n more elements, of type dt. More than the
// machine has memory for is an error, where append would end the program.
func withRoom[T uint32 | uint64](m Memory, s []T, dt tensor.DType, n int) ([]T, error) {
	if n <= cap(s)-len(s) {
		return s, nil
	}
	a, err := m.MakeArray(dt, max(len(s)+n, len(s)+len(s)/2))
	if err != nil {
		return s, err
	}
	return append(tensor.View[T](a)[:0], s...), nil
}

// arrayWithRoom is withRoom for an array of which the first n elements are used; it
// makes room for more of them.
func arrayWithRoom(m Memory, a tensor.Array, n, more int) (tensor.Array, error) {
	if more <= a.Len()-n {
		return a, nil
	}
	longer, err := m.MakeArray(a.DType(), max(n+more, n+n/2))
	if err != nil {
		return a, err
	}
	copy(longer.Raw(), a.Slice(0, n).Raw())
	return longer, nil
}

// buildCoords makes the tensor of a coordinate text: COO unless asked otherwise.
func buildCoords(in *input, shape []int64, list *coordList) (*tensor.Tensor, error) {
	rank := len(shape)
	format, err := in.format(rank, tensor.Coordinates(rank))
	if err != nil {
		return nil, err
	}
	values := list.values.Slice(0, list.n)
	if rank == 0 {
		switch values.Len() {
		case 0:
			return tensor.ScalarTensor(tensor.Zero(values.DType())), nil
		case 1:
			return tensor.ScalarTensor(values.Scalar(0)), nil
		}
		return nil, in.errorf(0, "%d values for a tensor of rank 0, which has one", values.Len())
	}
	return in.cfg.builder.FromColumns(shape, format, list.columns(), values, tensor.WithName(in.name))
}
