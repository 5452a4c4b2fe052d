package tensor

import (
	"iter"
	"math/bits"
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
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	out, err := t.standard()
	if err == nil {
		out, err = out.prune(collect(opts).memory)
	}
	if err != nil {
		return nil, named(err, t.name)
	}
	return out.Convert(t.format, opts...)
}

func (t *Tensor) prune(memory *memoryLimit) (*Tensor, error) {
	if t.format.IsDense() {
		return t, nil
	}
	t, err := t.Listed()
	if err != nil {
		return nil, err
	}
	segments := t.format.segments()
	levels := t.Levels()
	kept := t.keptBlocks()
	if kept.count < kept.n {
		each := t.block()*t.DType().Size() + t.levels[t.format.SparseRank()-1].Crd.dt.Size()
		if err := memory.admit(int64(kept.count), each); err != nil {
			return nil, tensorError("%v", err)
		}
	}
	values, err := kept.blocks(t.values, t.block())
	if err != nil {
		return nil, tensorError("%v", err)
	}
	changed := kept.count < kept.n
	for s := len(segments) - 1; s >= 0; s-- {
		seg, before := segments[s], 0
		if s > 0 {
			before = segments[s-1].last + 1
		}
		parents := allKept(1)
		if s > 0 {
			fanout := blockLen(t.levels[before:seg.first])
			parents = keptParents(t.levels[seg.first].Pos, kept, t.levels[before-1].Crd.n, fanout)
		}
		if err := t.pruneSegment(levels, seg, kept, parents); err != nil {
			return nil, levelError(seg.first, "%v", err)
		}
		kept = parents
		changed = changed || kept.count < kept.n
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

// pruneSegment writes the arrays of a segment's levels of which only some positions, and
// some parents, are kept. The parents are the positions of the segment before; each has as
// many Pos elements as the dense levels between have coordinates.
func (t *Tensor) pruneSegment(levels []Level, seg segment, kept, parents positionSet) (err error) {
	for k := seg.first; k <= seg.last; k++ {
		if levels[k].Crd, err = kept.blocks(t.levels[k].Crd, 1); err != nil {
			return err
		}
	}
	pos := t.levels[seg.first].Pos
	fanout := 0
	if parents.n > 0 {
		fanout = (pos.n - 1) / parents.n
	}
	out, err := MakeArray(pos.dt, parents.count*fanout+1)
	if err != nil {
		return err
	}
	written, next := uint64(0), 1
	for q := range parents.n {
		if !parents.has(q) {
			continue // and so is nothing under it
		}
		for p := q * fanout; p < (q+1)*fanout; p++ {
			written += uint64(kept.countRange(int(pos.At64(p)), int(pos.At64(p+1))))
			setIndex(out, next, written)
			next++
		}
	}
	levels[seg.first].Pos = out
	return nil
}

// keptBlocks are the positions of the last sparse level whose block has a value other than
// the fill.
func (t *Tensor) keptBlocks() positionSet {
	segments := t.format.segments()
	kept := noneKept(t.levels[segments[len(segments)-1].last].Crd.n)
	block, differs := t.block(), t.differsFromFill()
	for p := range kept.n {
		for i := p * block; i < (p+1)*block; i++ {
			if differs(i) {
				kept.add(p)
				break
			}
		}
	}
	return kept
}

// keptParents are, of n positions, those with a kept position under one of their fanout
// Pos elements.
func keptParents(pos Array, kept positionSet, n, fanout int) positionSet {
	parents := noneKept(n)
	for q := range n {
		if kept.countRange(int(pos.At64(q*fanout)), int(pos.At64((q+1)*fanout))) > 0 {
			parents.add(q)
		}
	}
	return parents
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

// positionSet is a set of the positions 0 to n-1 of a level, and how many there are in it.
type positionSet struct {
	n, count int
	bits     bitset
}

func noneKept(n int) positionSet { return positionSet{n: n, bits: makeBitset(n)} }

func allKept(n int) positionSet {
	s := noneKept(n)
	for p := range n {
		s.add(p)
	}
	return s
}

func (s *positionSet) has(p int) bool { return s.bits.has(p) }

// add adds a position that is not in the set.
func (s *positionSet) add(p int) {
	s.bits.set(p)
	s.count++
}

// countRange is the number of positions from lo to hi-1 in the set.
func (s *positionSet) countRange(lo, hi int) int {
	n := 0
	for lo < hi {
		end := min(hi, lo-lo%64+64)
		word := s.bits[lo/64] >> (lo % 64)
		if rest := end - lo; rest < 64 {
			word &= 1<<rest - 1
		}
		n += bits.OnesCount64(word)
		lo = end
	}
	return n
}

// blocks returns the blocks of an array, one for each position, that are in the set: the
// array itself if all are.
func (s *positionSet) blocks(a Array, block int) (Array, error) {
	if s.count == s.n {
		return a, nil
	}
	out, err := MakeArray(a.dt, s.count*block)
	if err != nil {
		return Array{}, err
	}
	switch {
	case block > 1:
		size := block * a.dt.Size()
		from, to := a.Raw(), out.Raw()
		for p := range s.positions() {
			to = to[copy(to, from[p*size:(p+1)*size]):]
		}
	case a.dt.Size() == 1:
		compact[uint8](out, a, s)
	case a.dt.Size() == 2:
		compact[uint16](out, a, s)
	case a.dt.Size() == 4:
		compact[uint32](out, a, s)
	case a.dt.Size() == 8:
		compact[uint64](out, a, s)
	default:
		compact[complex128](out, a, s)
	}
	return out, nil
}

// compact moves the elements at the positions in a set together.
func compact[T Element](out, a Array, s *positionSet) {
	to, from := View[T](out), View[T](a)
	j := 0
	for p := range s.positions() {
		to[j] = from[p]
		j++
	}
}

// positions yields the positions in the set, in order.
func (s *positionSet) positions() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s.bits {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}
