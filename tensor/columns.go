package tensor

import (
	"math"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// Columns of coordinates as arrays, and the other way round.

// columnOf views an array of Uint32 or Uint64.
func columnOf(a Array) column.Column {
	if a.dt == Uint32 {
		return column.Column{U32: View[uint32](a)}
	}
	return column.Column{U64: View[uint64](a)}
}

// widened returns an index array with elements up to max as a column, without
// copying if it is as wide as the column has to be.
func widened(a Array, max uint64) (column.Column, error) {
	if a.dt.Size() == narrowestIndex(max).Size() {
		if a.dt.Size() == 4 {
			return column.Column{U32: View[uint32](a)}, nil
		}
		return column.Column{U64: View[uint64](a)}, nil
	}
	c, err := column.Make(a.n, max)
	if err != nil {
		return column.Column{}, err
	}
	for i := range a.n {
		c.Set(i, uint64(a.At64(i)))
	}
	return c, nil
}

// arrayOf is a column as an array that shares its memory.
func arrayOf(c column.Column) Array {
	if c.U64 != nil {
		return ArrayOf(c.U64)
	}
	return ArrayOf(c.U32)
}

// typed is a column as an array of integer type dt, which holds all its
// values; without copying if the width is the same.
func typed(c column.Column, dt DType) (Array, error) {
	a := arrayOf(c)
	if a.dt.Size() == dt.Size() {
		a.dt = dt
		return a, nil
	}
	return a.Convert(dt)
}

// positionType is the default type of an array that counts up to n.
func positionType(n int) DType { return narrowestIndex(uint64(min(n, math.MaxInt))) }

// spread is the permutation of the positions of a dense level under permuted parents.
func spread(p column.Permutation, size int64) (column.Permutation, error) {
	n := p.Len() * int(size)
	out, err := column.Make(n, uint64(n))
	if err != nil {
		return column.Permutation{}, err
	}
	for i := range n {
		out.Set(i, uint64(p.At(i/int(size))*int(size)+i%int(size)))
	}
	return column.Permutation{Column: out}, nil
}

// descend is the Pos array of permuted parents, and the permutation of what is under them.
func descend(p column.Permutation, pos Array) (Array, column.Permutation, error) {
	moved, err := MakeArray(pos.dt, pos.n)
	if err != nil {
		return Array{}, column.Permutation{}, err
	}
	n := int(pos.At64(pos.n - 1))
	out, err := column.Make(n, uint64(n))
	if err != nil {
		return Array{}, column.Permutation{}, err
	}
	j := 0
	for i := range p.Len() {
		for q := pos.At64(p.At(i)); q < pos.At64(p.At(i)+1); q++ {
			out.Set(j, uint64(q))
			j++
		}
		setIndex(moved, i+1, uint64(j))
	}
	return moved, column.Permutation{Column: out}, nil
}

// countBelow is how many of the places that a list names in ascending order are below each element of an ascending array.
func countBelow(p column.Permutation, pos Array) (column.Column, error) {
	out, err := column.Make(pos.n, uint64(p.Len()))
	if err != nil {
		return out, err
	}
	j, n := 0, p.Len()
	for i := range pos.n {
		for end := int(pos.At64(i)); j < n && p.At(j) < end; j++ {
		}
		out.Set(i, uint64(j))
	}
	return out, nil
}
