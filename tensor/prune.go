package tensor

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// Prune returns the tensor without the stored entries that equal its fill, in the same
// format and with index arrays of the same types. Operations keep explicit zeros, so that
// what a result stores does not depend on values; this is the operation that drops
// them. What equals the fill is as for [FromDense]: -0.0 differs from a fill of 0, and
// every NaN equals a fill of NaN. An entry that is a dense block goes when all of it
// equals the fill, and a coordinate of a DC level when nothing is left under it. The
// arrays are shared if nothing goes, as in a tensor of D levels alone. The values of
// one coordinate are summed before.
//
// The options are those of [Tensor.Convert].
func (t *Tensor) Prune(opts ...Option) (*Tensor, error) {
	return t.derived(opts, func(o options) (*Tensor, error) {
		out, err := t.standard()
		if err == nil {
			out, err = out.prune(o.memory)
		}
		if err != nil {
			return nil, err
		}
		return out.Convert(t.format, opts...)
	})
}

func (t *Tensor) prune(memory *memoryLimit) (*Tensor, error) {
	if t.format.IsDense() {
		return t, nil
	}
	t, err := t.Listed()
	if err != nil {
		return nil, err
	}
	sparse := t.format.SparseRank()
	block, n := t.block(), t.levels[sparse-1].Crd.n
	kept, err := column.Choose(n, t.differFromFill(block))
	if err != nil {
		return nil, tensorError("%v", err)
	}
	levels, values, changed := t.Levels(), t.values, kept.Len() < n
	if changed {
		if err := memory.admit(int64(kept.Len()), block*t.DType().Size()+t.levels[sparse-1].Crd.dt.Size()); err != nil {
			return nil, tensorError("%v", err)
		}
		if values, err = gatherBlocks(t.values, kept, block); err != nil {
			return nil, tensorError("%v", err)
		}
	}
	segments := t.format.segments()
	for s, seg := range slices.Backward(segments) {
		if kept, err = t.pruneSegment(levels, s, kept); err != nil {
			return nil, levelError(seg.first, "%v", err)
		}
		changed = changed || s > 0 && kept.Len() < t.levels[segments[s-1].last].Crd.n
	}
	if !changed {
		return t, nil
	}
	out := NewTrusted(t.shape, t.format, levels, values, t.fill)
	out.name = t.name
	out.structure = t.structure
	out.attributes = t.attributes.without(PatternSymmetric | DiagonalKnown)
	return out, nil
}

// pruneSegment writes the arrays of a segment's levels of which only some positions are kept. It returns which positions of
// the segment before are: those with something under them. Each has as many Pos elements as the dense levels between have coordinates.
func (t *Tensor) pruneSegment(levels []Level, s int, kept column.Permutation) (parents column.Permutation, err error) {
	segments := t.format.segments()
	seg, n, fanout := segments[s], 1, 0
	if s > 0 {
		n = t.levels[segments[s-1].last].Crd.n
	}
	pos := t.levels[seg.first].Pos
	if n > 0 {
		fanout = (pos.n - 1) / n
	}
	ends, err := countBelow(kept, pos)
	if err != nil {
		return parents, err
	}
	parents, err = column.Choose(n, func(q int) bool { return s == 0 || ends.At(q*fanout) < ends.At((q+1)*fanout) })
	if err != nil || kept.Len() == t.levels[seg.last].Crd.n && parents.Len() == n {
		return parents, err
	}
	for k := seg.first; k <= seg.last; k++ {
		if levels[k].Crd, err = gather(t.levels[k].Crd, kept); err != nil {
			return parents, err
		}
	}
	list, err := spread(parents, int64(fanout))
	if err != nil {
		return parents, err
	}
	if levels[seg.first].Pos, err = MakeArray(pos.dt, list.Len()+1); err != nil {
		return parents, err
	}
	for i := range list.Len() {
		setIndex(levels[seg.first].Pos, i+1, ends.At(list.At(i)+1))
	}
	return parents, err
}

// gatherBlocks returns the blocks of so many elements that a list names.
func gatherBlocks(a Array, list column.Permutation, block int) (Array, error) {
	if block == 1 {
		return gather(a, list)
	}
	out, err := MakeArray(a.dt, list.Len()*block)
	if err != nil {
		return out, err
	}
	size := block * a.dt.Size()
	from, to := a.Raw(), out.Raw()
	for i, n := 0, list.Len(); i < n; { // what stands side by side goes at once
		first, j := list.At(i), i+1
		for j < n && list.At(j) == first+j-i {
			j++
		}
		copy(to[i*size:j*size], from[first*size:])
		i = j
	}
	return out, nil
}

// setIndex writes v, which fits, to an element of an array of integers.
func setIndex(a Array, i int, v uint64) {
	switch a.dt.Size() {
	case 1:
		View[uint8](a)[i] = uint8(v)
	case 2:
		View[uint16](a)[i] = uint16(v)
	case 4:
		View[uint32](a)[i] = uint32(v)
	default:
		View[uint64](a)[i] = v
	}
}
