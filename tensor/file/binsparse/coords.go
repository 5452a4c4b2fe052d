package binsparse

import "github.com/lacuna-sparse/lacuna/tensor"

// coordinates lists the coordinates of every value, by logical axis, of levels
// whose arrays may come in any order. Lengths have been checked; pointers and
// the ranges of indices are checked here.
func (r *reader) coordinates(levels []levelArrays) ([]tensor.Array, error) {
	dims := make([][]int64, len(r.Shape)) // by stored dimension
	count := 1                            // positions that dims lists
	var pending []int                     // dense dimensions after those, not listed yet
	for _, l := range levels {
		if l.Kind == DenseLevel {
			for k := range l.Rank {
				pending = append(pending, l.dim+k)
			}
			continue
		}
		parent, err := r.parents(l)
		if err != nil {
			return nil, err
		}
		r.spread(dims, pending, parent, l.dim)
		pending = pending[:0]
		for k, crd := range l.crd {
			if dims[l.dim+k], err = r.checked(l.dim+k, crd); err != nil {
				return nil, err
			}
		}
		count = len(parent)
	}
	if len(pending) > 0 {
		block := 1
		for _, dim := range pending {
			block *= int(r.size(dim)) // the values have been loaded: it fits
		}
		entry := make([]int64, count*block)
		for i := range entry {
			entry[i] = int64(i)
		}
		r.spread(dims, pending, entry, len(dims))
	}
	coords := make([]tensor.Array, len(dims))
	for dim, list := range dims {
		coords[r.Format.Order[dim]] = tensor.ArrayOf(list)
	}
	return coords, nil
}

// parents returns the position of the level before that each position of a
// sparse level is under.
func (r *reader) parents(l levelArrays) ([]int64, error) {
	n := l.crd[0].Len()
	parent := make([]int64, n)
	if l.dim == 0 {
		return parent, nil
	}
	name := pointersTo(l.dim)
	last := int64(0)
	for p := range l.pos.Len() {
		next := l.pos.Scalar(p)
		q := next.Int64()
		switch {
		case q < 0 || q > int64(n): // beyond 2^63-1 it wraps
			return nil, datasetErrorf(name, "element %d is %v, beyond the %d elements of %s", p, next, n, indices(l.dim))
		case p == 0 && q != 0:
			return nil, datasetErrorf(name, "its first element is %d: pointers start at 0", q)
		case q < last:
			return nil, datasetErrorf(name, "element %d is %d, below the %d before it: pointers never fall", p, q, last)
		}
		for ; last < q; last++ {
			parent[last] = int64(p - 1)
		}
	}
	if last != int64(n) {
		return nil, datasetErrorf(name, "it ends with %d, but %s has %d elements", last, indices(l.dim), n)
	}
	return parent, nil
}

// spread brings the lists of the dimensions before end to the positions of the
// next level. Its positions are under those that parent says, which are
// numbered by the listed positions and the pending dense dimensions after them.
func (r *reader) spread(dims [][]int64, pending []int, parent []int64, end int) {
	listed := end - len(pending)
	for k := len(pending) - 1; k >= 0; k-- {
		size := r.size(pending[k])
		list := make([]int64, len(parent))
		for i, p := range parent {
			list[i], parent[i] = p%size, p/size
		}
		dims[pending[k]] = list
	}
	for dim := range listed {
		old := dims[dim]
		list := make([]int64, len(parent))
		for i, p := range parent {
			list[i] = old[p]
		}
		dims[dim] = list
	}
}

// checked returns the indices of a dimension as int64, each within its extent.
func (r *reader) checked(dim int, crd tensor.Array) ([]int64, error) {
	size := r.size(dim)
	list := make([]int64, crd.Len())
	for i := range list {
		v := crd.Scalar(i)
		if list[i] = v.Int64(); list[i] < 0 || list[i] >= size {
			return nil, datasetErrorf(indices(dim), "element %d is %v, out of range: axis %d has the size %d", i, v, r.Format.Order[dim], size)
		}
	}
	return list, nil
}
