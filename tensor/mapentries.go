package tensor

import (
	"cmp"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// What is done with lists of entries between listing them (listentries.go) and putting them into levels (assemble.go):
// some are chosen, lists are joined, and coordinates become others.

// at is those of entries that a list names.
func (e entries) at(list column.Permutation) (_ entries, err error) {
	cols := make([]column.Column, len(e.cols))
	for axis, col := range e.cols {
		if col.Missing() {
			continue // within the blocks
		}
		if cols[axis], err = col.Gathered(list); err != nil {
			return e, err
		}
	}
	e.n, e.cols = list.Len(), cols
	e.values, err = gatherBlocks(e.values, list, e.block)
	return e, err
}

// joined is the entries of several lists, which have coordinates for the same axes, one list after the other. Those of list k
// are moved by begin[k] along an axis if there are such numbers: then a tensor's entries stay different from each
// other's, and all that is left to sort by are the axes before.
func joined(shape []int64, memory *memoryLimit, lists []entries, axis int, begin []uint64) (entries, error) {
	all := lists[0]
	if len(lists) == 1 {
		return all, nil
	}
	values := 0
	all.n = 0
	for _, e := range lists {
		if all.n == 0 {
			all.order = e.order
		} else if e.n > 0 && !slices.Equal(all.order, e.order) {
			all.order = nil
		}
		all.n += e.n
		values += e.values.n
	}
	dt := all.values.dt
	err := cmp.Or(memory.admitList(all.n, shape), memory.admit(int64(values), dt.Size()))
	if err == nil {
		all.values, err = MakeArray(dt, values)
	}
	if err != nil {
		return all, err
	}
	to := all.values.Raw()
	for _, e := range lists {
		to = to[copy(to, e.values.Raw()):]
	}
	all.cols = make([]column.Column, len(shape))
	for a, size := range shape {
		if lists[0].cols[a].Missing() {
			continue // within the blocks
		}
		if all.cols[a], err = column.Make(all.n, maxCoordinate(size)); err != nil {
			return all, err
		}
		at := 0
		for k, e := range lists {
			shift := uint64(0)
			if a == axis && begin != nil {
				shift = begin[k]
			}
			all.cols[a].CopyShifted(at, e.cols[a], shift)
			at += e.n
		}
	}
	if all.unsorted = slices.Index(all.order, axis); begin == nil || all.unsorted < 0 {
		all.order, all.unsorted = nil, 0
	}
	return all, nil
}

// axisGroup is a run of axes of one shape and the run of axes of another that stand for them, in row-major
// order: coordinates change only within. A run that is one axis before and after keeps
// its coordinates. In a reshape an axis of size 1 is a run by itself, and has none on the other side.
type axisGroup struct{ from, to []int }

// regroup gives the entries, of a tensor of one shape, the coordinates of another one's axes, as far as these are stored.
func (e *entries) regroup(groups []axisGroup, from, to []int64, stored []int) error {
	cols := make([]column.Column, len(to))
	for _, g := range groups {
		if len(g.from) == 1 && len(g.to) == 1 {
			cols[g.to[0]] = e.cols[g.from[0]]
			continue
		}
		if len(g.to) == 0 || !slices.Contains(stored, g.to[0]) {
			continue // nothing, or within the block
		}
		for _, axis := range g.to {
			var err error
			if cols[axis], err = column.Make(e.n, maxCoordinate(to[axis])); err != nil {
				return err
			}
		}
		if len(g.from) == 0 {
			continue // of size 1: zeros
		}
		old, made := column.InOrder(e.cols, g.from), column.InOrder(cols, g.to)
		first, last := made[0], len(made)-1
		for i := range e.n {
			at := old[0].At(i) // in row-major order over the group
			for k := 1; k < len(old); k++ {
				at = at*uint64(from[g.from[k]]) + old[k].At(i)
			}
			for k := last; k > 0; k-- {
				size := uint64(to[g.to[k]])
				rest := at / size
				made[k].Set(i, at-rest*size)
				at = rest
			}
			first.Set(i, at)
		}
	}
	e.cols = cols
	return nil
}
