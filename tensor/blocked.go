package tensor

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// BSR is the format of blocked matrices (see [Tensor.Blocked]) in block compressed sparse
// rows: C-S-D-D, rows of blocks that are dense.
var BSR = mustStack(nil, CSR, Dense(2))

// HiCOO is the format of blocked tensors of the given rank as hierarchical coordinates
// (Li, Sun, Vuduc: HiCOO, SC 2018): S-…-S-DC over the blocks, then S-…-S over the
// elements of each, whose coordinates are small. The format has two levels for each of the
// rank axes. Ranks outside 1…MaxRank/2 are taken as the nearest of them. Blocks are in
// row-major order; [Tensor.MortonOrder] puts them in that of the paper.
func HiCOO(rank int) Format {
	rank = max(1, min(rank, MaxRank/2))
	return mustStack(nil, Coordinates(rank), Coordinates(rank))
}

// Blocked splits every axis in two: the element at (i, j, …) goes to
// (i/b0, j/b1, …, i%b0, j%b1, …), for blocks of b0×b1×… elements, and the result is
// stored in the given format, such as [BSR] for a matrix or [HiCOO]. Where a block
// reaches beyond the shape it is padded with the fill. What is stored is as after
// [Tensor.Convert]. The options are those of Convert; without types for its indices, a
// level that stores coordinates within blocks has the narrowest type that holds them, u8
// for blocks of up to 256.
func (t *Tensor) Blocked(block []int64, format Format, opts ...Option) (*Tensor, error) {
	return t.derived(opts, func(o options) (*Tensor, error) { return t.blocked(block, format, o) })
}

func (t *Tensor) blocked(block []int64, format Format, o options) (*Tensor, error) {
	rank := t.Rank()
	if len(block) != rank {
		return nil, tensorError("the block %s has %d extents, the tensor %d axes", shapeString(block), len(block), rank)
	}
	for axis, b := range block {
		if b < 1 {
			return nil, tensorError("the block has the extent %d in axis %d: it must be 1 or more", b, axis)
		}
	}
	if o.fill.dt.Valid() {
		return nil, tensorError("the fill of a blocked tensor is that of the tensor: it cannot be set")
	}
	shape := append(blockedShape(t.shape, block), block...)
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	e, err := t.allEntries()
	if err != nil {
		return nil, err
	}
	e.order = nil
	if err := e.regroup(blockAxes(rank), t.shape, shape, identity(2*rank)); err != nil {
		return nil, tensorError("%v", err)
	}
	if !o.asksIndexTypes() {
		o.small = map[int]DType{}
		for k, axis := range format.Order() {
			if axis >= rank {
				o.small[k] = smallestIndex(maxCoordinate(shape[axis]))
			}
		}
	}
	out, err := assembleAny(e, shape, format, t.fill, &o)
	if err != nil {
		return nil, err
	}
	return out.limited(format, &o)
}

// blockedShape is the number of blocks along each axis.
func blockedShape(shape, block []int64) []int64 {
	out := make([]int64, len(shape))
	for axis, n := range shape {
		out[axis] = n / block[axis]
		if n%block[axis] != 0 {
			out[axis]++
		}
	}
	return out
}

// blockAxes has, for each axis of a shape, the axis of blocks and the one within them that stand for it.
func blockAxes(rank int) []axisGroup {
	groups := make([]axisGroup, rank)
	for axis := range groups {
		groups[axis] = axisGroup{[]int{axis}, []int{axis, rank + axis}}
	}
	return groups
}

// smallestIndex is the narrowest unsigned type that holds max.
func smallestIndex(max uint64) DType {
	switch n := bits.Len64(max); {
	case n <= 8:
		return Uint8
	case n <= 16:
		return Uint16
	}
	return narrowestIndex(max)
}

// Unblocked undoes [Tensor.Blocked]: the element at (I, J, …, i, j, …), of a tensor with
// twice as many axes as the shape has, goes to (I*b0+i, J*b1+j, …), where the second half
// of the tensor's extents is the block. What lies beyond the shape is cut off, whatever it
// is. The result is stored in the given format.
func (t *Tensor) Unblocked(shape []int64, format Format, opts ...Option) (*Tensor, error) {
	return t.derived(opts, func(o options) (*Tensor, error) { return t.unblocked(shape, format, o) })
}

func (t *Tensor) unblocked(shape []int64, format Format, o options) (*Tensor, error) {
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	if err := t.checkBlocks(shape); err != nil {
		return nil, err
	}
	if o.fill.dt.Valid() {
		return nil, tensorError("the fill is that of the blocked tensor: it cannot be set")
	}
	e, err := t.allEntries()
	if err != nil {
		return nil, err
	}
	if e, err = joinAxes(e, t.shape, shape); err != nil {
		return nil, tensorError("%v", err)
	}
	out, err := assembleAny(e, shape, format, t.fill, &o)
	if err != nil {
		return nil, err
	}
	return out.limited(format, &o)
}

// checkBlocks reports a tensor that is not one of the given shape in blocks.
func (t *Tensor) checkBlocks(shape []int64) error {
	rank := len(shape)
	if t.Rank() != 2*rank {
		return tensorError("a tensor of rank %d has no blocks for shape %s: that takes the rank %d", t.Rank(), shapeString(shape), 2*rank)
	}
	block := t.shape[rank:]
	for axis, b := range block {
		if b < 1 {
			return tensorError("the blocks have the extent %d in axis %d: it must be 1 or more", b, axis)
		}
	}
	if want := blockedShape(shape, block); !slices.Equal(want, t.shape[:rank]) {
		return tensorError("%s blocks of %s do not make the shape %s, which has %s", shapeString(t.shape[:rank]), shapeString(block), shapeString(shape), shapeString(want))
	}
	return nil
}

// joinAxes gives entries of blocks, in a tensor of some shape, their coordinates in the whole, and leaves out those beyond its shape.
func joinAxes(e entries, from, shape []int64) (entries, error) {
	groups, padded := blockAxes(len(shape)), slices.Clone(shape)
	for axis := range groups {
		g := &groups[axis]
		g.from, g.to = g.to, g.from
		var fits bool
		if padded[axis], fits = mulSizes(from[axis], from[len(shape)+axis]); !fits {
			padded[axis] = math.MaxInt64
		}
	}
	e.order = nil
	if err := e.regroup(groups, from, padded, identity(len(shape))); err != nil || slices.Equal(padded, shape) {
		return e, err
	}
	inside, err := column.Choose(e.n, func(i int) bool {
		for axis, c := range e.cols {
			if c.At(i) >= uint64(shape[axis]) {
				return false
			}
		}
		return true
	})
	if err != nil || inside.Len() == e.n {
		return e, err
	}
	return e.at(inside)
}

// MortonOrder puts the positions of the first levels, up to the first DC, or S before
// values, in Z-order: as if sorted by the coordinates' bits, the highest of all
// coordinates first (Morton 1966). HiCOO orders its blocks so, and neighbours in space are
// near in memory. The format of the result has the flag [Unsorted] on level 0; expressions
// sort such operands again, so it is for data that others read. It is an error if level 0
// is C or D.
func (t *Tensor) MortonOrder() (*Tensor, error) {
	return t.derived(nil, func(options) (*Tensor, error) { return t.mortonOrder() })
}

func (t *Tensor) mortonOrder() (*Tensor, error) {
	if t.Rank() == 0 || t.levels[0].Full() {
		return nil, tensorError("format %v has no coordinates in level 0 to put in Morton order", t.format)
	}
	format, err := t.format.Flag(0, Unsorted)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	if t.format.Extended() {
		return nil, tensorError("format %v has levels that cannot be reordered: convert it to %v first", t.format, t.format.Listed())
	}
	seg := t.format.segments()[0]
	n := t.levels[0].Crd.n
	var keys []column.Column
	for k := range seg.last + 1 {
		key, err := widened(t.levels[k].Crd, maxCoordinate(t.levels[k].Size))
		if err != nil {
			return nil, tensorError("%v", err)
		}
		keys = append(keys, key)
	}
	order := make([]uint64, n)
	for i := range order {
		order[i] = uint64(i)
	}
	slices.SortStableFunc(order, func(a, b uint64) int { return compareMorton(keys, int(a), int(b)) })
	out, err := t.relabelled(format).reordered(column.Permutation{Column: column.Column{U64: order}})
	if err != nil {
		return nil, tensorError("%v", err)
	}
	return out, nil
}

// compareMorton compares two tuples in Z-order: by the key whose values differ in the
// highest bit, the first of several (Chan 2002).
func compareMorton(keys []column.Column, a, b int) int {
	highest, by := 0, 0
	for k, key := range keys {
		if n := bits.Len64(key.At(a) ^ key.At(b)); n > highest {
			highest, by = n, k
		}
	}
	return cmp.Compare(keys[by].At(a), keys[by].At(b))
}

// reordered puts the positions of the first segment in another order, and all that is
// under them with them.
func (t *Tensor) reordered(perm column.Permutation) (*Tensor, error) {
	levels := t.Levels()
	var err error
	for k, l := range t.levels {
		switch {
		case l.Full():
			perm, err = spread(perm, l.Size)
		case l.Ranges() && k > 0:
			levels[k].Pos, perm, err = descend(perm, l.Pos)
		}
		if err != nil {
			return nil, err
		}
		if !l.Full() {
			if levels[k].Crd, err = gather(l.Crd, perm); err != nil {
				return nil, err
			}
		}
		if l.Group.dt != Invalid {
			if levels[k].Group, perm, err = descend(perm, l.Group); err != nil {
				return nil, err
			}
		}
	}
	values, err := gather(t.values, perm)
	return t.with(func(out *Tensor) { out.levels, out.values = levels, values }), err
}
