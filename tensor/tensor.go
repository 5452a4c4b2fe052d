package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// Level is one physical level of a tensor.
type Level struct {
	LevelType
	// Size is the extent of the dimension that the level stores.
	Size int64
	// Pos, of a compressed level, has one element more than the parent level
	// has positions: the positions under parent p are Pos[p] to Pos[p+1]-1.
	Pos Array
	// Crd, of a compressed or singleton level, has the coordinate of each
	// position.
	Crd Array
	// Group, of the last level before the D levels where that is C or DC (see
	// [Duplicates]), has one element more than the level has positions: the values,
	// or blocks of values, at position p are Group[p] to Group[p+1]-1.
	Group Array
}

// Tensor is a stored tensor: shape, format, element type, fill, index arrays
// and values. It is immutable and safe for concurrent use, to the end that Release
// makes of it.
type Tensor struct {
	name       string
	shape      []int64
	format     Format
	fill       Scalar
	levels     []Level
	values     Array
	structure  Structure
	attributes Attributes
	state      int64 // see Pin; atomic
	statistics statisticsCell
	overlay    *overlay // of a tensor that Update made
}

// statisticsCell holds the statistics of a tensor, once somebody has asked for them.
type statisticsCell struct {
	sync.Mutex
	of      *Statistics
	outline *Statistics
	asked   bool // a device that has the tensor was asked for them
}

// NewTrusted makes a tensor of arrays that are known to be right, without
// looking at them: it is for results that kernels wrote. Only Pos, Crd and Group of
// the levels are read; a missing Pos of a compressed level 0 is supplied. The
// arrays are shared. Anything else must use [New].
func NewTrusted(shape []int64, format Format, levels []Level, values Array, fill Scalar) *Tensor {
	var t *Tensor
	switch rank := format.Rank(); rank { // vectors and matrices are one piece of memory
	case 1:
		v := new(struct {
			of     Tensor
			shape  [1]int64
			levels [1]Level
		})
		t, v.of.shape, v.of.levels = &v.of, v.shape[:], v.levels[:]
	case 2:
		m := new(struct {
			of     Tensor
			shape  [2]int64
			levels [2]Level
		})
		t, m.of.shape, m.of.levels = &m.of, m.shape[:], m.levels[:]
	default:
		t = &Tensor{shape: make([]int64, rank), levels: make([]Level, rank)}
	}
	copy(t.shape, shape)
	t.format, t.fill, t.values = format, fill.Convert(values.DType()), values
	if format.IsDense() {
		// Small dense results come often: nothing is allocated for them here.
		for k := range t.levels {
			t.levels[k] = Level{LevelType: denseType, Size: shape[format.order[k]]}
		}
		return holding(t)
	}
	order := format.Order()
	for k, physical := range format.Physical() {
		level := Level{LevelType: physical, Size: shape[order[k]]}
		if physical.HasCrd() {
			level.Crd = levels[k].Crd
		}
		if physical.HasPos() {
			level.Pos = levels[k].Pos
			if k == 0 && level.Pos.DType() == Invalid {
				level.Pos = rootPos(level.Crd.Len())
			}
		}
		t.levels[k] = level
	}
	if format.grouped() {
		last := format.SparseRank() - 1
		t.levels[last].Group = levels[last].Group
	}
	return holding(t)
}

// rootPos is the Pos array [0, n] of a compressed level 0.
func rootPos(n int) Array {
	if narrowestIndex(uint64(n)) == Uint32 {
		return ArrayOf([]uint32{0, uint32(n)})
	}
	return ArrayOf([]uint64{0, uint64(n)})
}

// ScalarTensor is the tensor of rank 0 that holds x.
func ScalarTensor(x Scalar) *Tensor {
	if !x.dt.Valid() {
		x = Zero(Float64)
	}
	values, err := MakeArray(x.dt, 1)
	if err != nil {
		panic("BUG: no room for one element: " + err.Error())
	}
	values.SetScalar(0, x)
	return NewTrusted(nil, Format{}, nil, values, Zero(x.dt))
}

// Name is the name given by WithName, or "".
func (t *Tensor) Name() string { return t.name }

// Shape is the extent of each logical axis.
func (t *Tensor) Shape() []int64 { return slices.Clone(t.shape) }

// Rank is the number of dimensions.
func (t *Tensor) Rank() int { return len(t.shape) }

// DType is the element type.
func (t *Tensor) DType() DType { return t.values.dt }

// Format is how the tensor is stored.
func (t *Tensor) Format() Format { return t.format }

// Fill is the value at coordinates that are not stored, of the element type.
func (t *Tensor) Fill() Scalar { return t.fill }

// NNZ is the number of stored values: explicit zeros and every element of a
// dense block count.
func (t *Tensor) NNZ() int64 { return int64(t.Values().n) }

// Levels returns the physical levels in storage order.
func (t *Tensor) Levels() []Level {
	levels := slices.Clone(t.levels)
	if t.Released() {
		for k := range levels {
			levels[k] = levels[k].gone()
		}
	}
	return levels
}

// Values returns the stored values in storage order, shared.
func (t *Tensor) Values() Array {
	if t.Released() {
		return t.values.gone()
	}
	return t.values
}

// Bytes is the memory that values and index arrays take, in bytes.
func (t *Tensor) Bytes() int64 {
	if t.Released() {
		return 0
	}
	n := t.values.Bytes()
	for _, l := range t.levels {
		n += l.Pos.Bytes() + l.Crd.Bytes() + l.Group.Bytes()
	}
	return n
}

// Indices returns indices_k, the index array of spelled level k, shared; false
// if that level is C or D and so stores none.
func (t *Tensor) Indices(k int) (Array, bool) {
	if k < 0 || k >= len(t.levels) || !t.levels[k].HasCrd() {
		return Array{}, false
	}
	return t.LevelAt(k).Crd, true
}

// Pointers returns pointers_k, the array that groups the positions of spelled
// level k+1, or the values, by those of level k, shared; false if level k stores
// none: it is S or D, or the level after it is C.
func (t *Tensor) Pointers(k int) (Array, bool) {
	if t.format.grouped() && k == t.format.SparseRank()-1 {
		return t.LevelAt(k).Group, true
	}
	if k < 0 || k+1 >= len(t.levels) || !t.levels[k+1].HasPos() {
		return Array{}, false
	}
	return t.LevelAt(k + 1).Pos, true
}

// block is the number of values of each position of the last sparse level:
// the product of the trailing dense sizes.
func (t *Tensor) block() int { return blockLen(t.levels[t.format.SparseRank():]) }

// blockLen is the product of the levels' sizes, known not to overflow.
func blockLen(levels []Level) int {
	n := 1
	for _, l := range levels {
		n *= int(l.Size)
	}
	return n
}

// At returns the value at a coordinate given by its logical axes: the stored
// one, the sum of several, or the fill; for a tensor with a [Structure], of the
// whole matrix. With the wrong number of coordinates, or one outside the
// shape, and of a tensor that was released, it returns the zero Scalar, whose type is Invalid. It searches every
// level and is meant for looking at single elements.
func (t *Tensor) At(coord ...int64) Scalar {
	if len(coord) != len(t.shape) {
		return Scalar{}
	}
	for axis, c := range coord {
		if c < 0 || c >= t.shape[axis] {
			return Scalar{}
		}
	}
	if t.pin() != nil {
		return Scalar{}
	}
	defer t.Unpin()
	if b := t.overlay.pinnedBase(); b != nil {
		defer b.Unpin()
		if x, edited := t.overlay.lookUp(t, coord); edited {
			return x
		}
		t = b
	}
	if t.structure != General && !t.structure.Stores(coord[0], coord[1]) {
		x, stored := t.lookUp(coord[1], coord[0])
		if !stored { // the fill as it is: -0 would be another
			return x
		}
		return t.structure.Mirror(x)
	}
	x, _ := t.lookUp(coord...)
	return x
}

// lookUp returns the stored value at a coordinate within the shape, or the
// fill and false.
func (t *Tensor) lookUp(coord ...int64) (Scalar, bool) {
	if t.format.Relaxed() {
		return t.lookUpAll(coord)
	}
	order := t.format.order
	lo, hi := 0, 1 // candidate positions of the level before
	for k, l := range t.levels {
		c := coord[order[k]]
		if lo, hi = l.schema().Locate(&t.levels[k], lo, hi, c); lo == hi {
			return t.fill, false
		}
	}
	return t.values.Scalar(lo), true
}

// searchRange returns the part of crd[lo:hi], which ascends, that equals c.
func searchRange(crd Array, lo, hi int, c int64) (int, int) {
	first := searchIndex(lo, hi, func(i int) bool { return uint64(crd.At64(i)) >= uint64(c) })
	return first, searchIndex(first, hi, func(i int) bool { return uint64(crd.At64(i)) > uint64(c) })
}

// searchIndex is the first i in [lo, hi) that holds, or hi; holds is false and
// then true as i grows.
func searchIndex(lo, hi int, holds func(int) bool) int {
	for lo < hi {
		middle := lo + (hi-lo)/2
		if holds(middle) {
			hi = middle
		} else {
			lo = middle + 1
		}
	}
	return lo
}

// String describes the tensor in a few words, such as
// "3x4 f64 CSR, 5 stored, fill 0".
func (t *Tensor) String() string {
	var b strings.Builder
	if t.name != "" {
		b.WriteString(t.name + ": ")
	}
	b.WriteString(shapeString(t.shape))
	fmt.Fprintf(&b, " %v %v, %d stored, fill %v", t.DType(), t.format, t.NNZ(), t.fill)
	if t.structure != General {
		fmt.Fprintf(&b, ", %v", t.structure)
	}
	if t.Released() {
		b.WriteString(", released")
	}
	return b.String()
}

// shapeString writes a shape as "3x4"; "scalar" for rank 0.
func shapeString(shape []int64) string {
	if len(shape) == 0 {
		return "scalar"
	}
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, "x")
}

// mulSizes multiplies two sizes that are not negative; false on overflow of
// int64.
func mulSizes(a, b int64) (int64, bool) {
	if a != 0 && b > math.MaxInt64/a {
		return 0, false
	}
	return a * b, true
}

// product multiplies sizes; false on overflow, unless one of them is 0.
func product(sizes []int64) (int64, bool) {
	if slices.Contains(sizes, 0) {
		return 0, true
	}
	n, ok := int64(1), true
	for _, size := range sizes {
		if n, ok = mulSizes(n, size); !ok {
			return 0, false
		}
	}
	return n, true
}
