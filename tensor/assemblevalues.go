package tensor

import (
	"fmt"
	"math"
)

// place makes the values array: moves the values, or blocks of them, to their
// places, sums those of equal coordinates in the order they were given, and
// fills the rest of the blocks.
func (b *assembler) place() (Array, error) {
	positions := 1
	if sparse := b.format.SparseRank(); sparse > 0 {
		positions = 0
		for i := range b.n {
			if b.startsBlock(i) {
				positions++
			}
		}
	}
	var sizes []int64
	for _, axis := range b.order[b.format.SparseRank():] {
		sizes = append(sizes, b.shape[axis])
	}
	block, _ := product(sizes) // checked with the shape
	total, ok := mulSizes(int64(positions), block)
	if !ok || total > math.MaxInt {
		return Array{}, fmt.Errorf("%d dense blocks of %d elements are more than 2^63-1 values", positions, block)
	}
	if int(total) == b.values.n && b.perm.Identity() && len(b.scatter) == 0 {
		return b.values, nil
	}
	if b.distinct && b.block == 1 && len(b.scatter) == 0 && !b.perm.Identity() {
		if err := b.opts.memory.admit(int64(b.n), b.values.dt.Size()); err != nil {
			return Array{}, err
		}
		return gather(b.values, b.perm)
	}
	if err := b.opts.memory.admit(total, b.values.dt.Size()); err != nil {
		return Array{}, err
	}
	out, err := MakeArray(b.values.dt, int(total))
	if err != nil {
		return Array{}, err
	}
	if int64(b.n)*int64(b.block) < total || len(b.scatter) > 0 {
		fillArray(out, b.fill)
	}
	switch out.dt.Size() {
	case 1:
		placeAs[uint8](b, out)
	case 2:
		placeAs[uint16](b, out)
	case 4:
		placeAs[uint32](b, out)
	case 8:
		placeAs[uint64](b, out)
	default:
		placeAs[complex128](b, out)
	}
	return out, nil
}

// startsBlock reports whether sorted entry i is the first of its block of values.
func (b *assembler) startsBlock(i int) bool {
	sparse := b.format.SparseRank()
	return b.kept <= sparse || b.starts(i, sparse-1)
}

// placeAs is place for elements of one width.
func placeAs[T uint8 | uint16 | uint32 | uint64 | complex128](b *assembler, out Array) {
	to, from := View[T](out), View[T](b.values)
	sparse := b.format.SparseRank()
	sizes := make([]int, len(b.scatter))
	perBlock := 1
	for j, axis := range b.scatter {
		sizes[j] = int(b.shape[axis])
		perBlock *= sizes[j]
	}
	scatterKeys := b.keys[len(b.keys)-len(b.scatter):]
	position := -1
	for i := 0; i < b.n; {
		if i == 0 || sparse > 0 && b.startsBlock(i) {
			position++
		}
		if b.block != 1 {
			copy(to[position*b.block:(position+1)*b.block], from[b.perm.At(i)*b.block:])
			i++
			continue
		}
		slot := 0
		for j, key := range scatterKeys {
			slot = slot*sizes[j] + int(key.At(i))
		}
		slot += position * perBlock
		end := i + 1
		for !b.distinct && end < b.n && !b.startsBlock(end) && int(b.differs[end]) == len(b.keys) {
			end++
		}
		if end == i+1 {
			to[slot] = from[b.perm.At(i)]
		} else {
			b.sum(out, slot, i, end)
		}
		i = end
	}
}

// sum writes the sum (for Bool: the disjunction) of the values of sorted
// entries lo to hi-1 to one element. Half precision sums in Float32 and rounds
// once.
func (b *assembler) sum(out Array, slot, lo, hi int) {
	switch out.dt {
	case Bool:
		v := View[bool](b.values)
		any := false
		for i := lo; i < hi; i++ {
			any = any || v[b.perm.At(i)]
		}
		View[bool](out)[slot] = any
	case Int8, Uint8:
		sumAs[uint8](b, out, slot, lo, hi)
	case Int16, Uint16:
		sumAs[uint16](b, out, slot, lo, hi)
	case Int32, Uint32:
		sumAs[uint32](b, out, slot, lo, hi)
	case Int64, Uint64:
		sumAs[uint64](b, out, slot, lo, hi)
	case Float32:
		sumAs[float32](b, out, slot, lo, hi)
	case Float64:
		sumAs[float64](b, out, slot, lo, hi)
	case Complex64:
		sumAs[complex64](b, out, slot, lo, hi)
	case Complex128:
		sumAs[complex128](b, out, slot, lo, hi)
	default:
		s := math.Float32frombits(uint32(b.values.Scalar(b.perm.At(lo)).lo))
		for i := lo + 1; i < hi; i++ {
			s += math.Float32frombits(uint32(b.values.Scalar(b.perm.At(i)).lo))
		}
		out.SetScalar(slot, Scalar{Float32, uint64(math.Float32bits(s)), 0})
	}
}

// Total is the sum of all elements in their order, for Bool the disjunction, 0 of none: what a tensor stores where these are the values of one coordinate.
func (a Array) Total() Scalar {
	if a.n == 0 {
		return Zero(a.dt)
	}
	out, err := MakeArray(a.dt, 1)
	if err != nil {
		panic("BUG: no room for one element: " + err.Error())
	}
	b := &assembler{entries: entries{values: a}}
	b.sum(out, 0, 0, a.n)
	return out.Scalar(0)
}

// sumAs is sum for types whose Go addition is theirs; integers wrap, so signed
// ones are added as unsigned.
func sumAs[T uint8 | uint16 | uint32 | uint64 | float32 | float64 | complex64 | complex128](b *assembler, out Array, slot, lo, hi int) {
	v := View[T](b.values)
	s := v[b.perm.At(lo)]
	for i := lo + 1; i < hi; i++ {
		s += v[b.perm.At(i)]
	}
	View[T](out)[slot] = s
}

// fillArray sets every element to x.
func fillArray(a Array, x Scalar) {
	if a.n == 0 || x == Zero(a.dt) { // arrays are made zeroed
		return
	}
	a.SetScalar(0, x)
	raw := a.Raw()
	for done := a.dt.Size(); done < len(raw); done *= 2 {
		copy(raw[done:], raw[:done])
	}
}
