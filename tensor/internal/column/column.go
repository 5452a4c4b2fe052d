// Package column has coordinates of entries by axis, as lists of tensors go through conversions: columns, orders in which entries stand
// (column.go), and the radix sort that finds one (sort.go).
package column

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"unsafe"
)

// Column is one axis' coordinates of a list of entries, in the narrower of two
// widths that fits the axis. At most one slice is set.
type Column struct {
	U32 []uint32
	U64 []uint64
}

// Make makes a column of n elements, all 0, for values up to max.
func Make(n int, max uint64) (Column, error) { return ofWidth(n, max > math.MaxUint32) }

// ofWidth makes a column of n elements of 64 bits, or 32.
func ofWidth(n int, wide bool) (Column, error) {
	size, name := 4, "u32"
	if wide {
		size, name = 8, "u64"
	}
	if n < 0 || n > (math.MaxInt-Alignment)/size {
		return Column{}, fmt.Errorf("cannot make an array of %d elements of type %s: the size overflows", n, name)
	}
	p, err := Allocate(n * size)
	switch {
	case err != nil:
		return Column{}, fmt.Errorf("cannot make an array of %d elements of type %s: %w", n, name, err)
	case wide:
		return Column{U64: unsafe.Slice((*uint64)(p), n)}, nil
	}
	return Column{U32: unsafe.Slice((*uint32)(p), n)}, nil
}

// At is element i.
func (c Column) At(i int) uint64 {
	if c.U64 != nil {
		return c.U64[i]
	}
	return uint64(c.U32[i])
}

// Set sets element i to a value that fits.
func (c Column) Set(i int, v uint64) {
	if c.U64 != nil {
		c.U64[i] = v
		return
	}
	c.U32[i] = uint32(v)
}

// Put sets the elements from place at on to values that fit.
func (c Column) Put(at int, values []int64) {
	if c.U64 != nil {
		for i, v := range values {
			c.U64[at+i] = uint64(v)
		}
		return
	}
	for i, v := range values {
		c.U32[at+i] = uint32(v)
	}
}

// Len is the number of elements.
func (c Column) Len() int { return len(c.U32) + len(c.U64) }

// Missing reports whether there is no such column.
func (c Column) Missing() bool { return c.U32 == nil && c.U64 == nil }

// Maximum is the largest element, 0 if there is none.
func (c Column) Maximum() uint64 {
	var m32 uint32
	for _, v := range c.U32 {
		m32 = max(m32, v)
	}
	m64 := uint64(m32)
	for _, v := range c.U64 {
		m64 = max(m64, v)
	}
	return m64
}

// Permuted is the column with element perm[i] at i; the column itself for the
// identity.
func (c Column) Permuted(perm Permutation) (Column, error) {
	if perm.Identity() {
		return c, nil
	}
	return c.Gathered(perm)
}

// Gathered is the elements that list names, in its order.
func (c Column) Gathered(list Permutation) (Column, error) {
	out, err := ofWidth(list.Len(), c.U64 != nil)
	if err != nil {
		return out, err
	}
	if out.U64 != nil {
		Gather(out.U64, c.U64, list)
	} else {
		Gather(out.U32, c.U32, list)
	}
	return out, nil
}

// Permutation lists which entry stands at each place. The zero permutation is
// the identity.
type Permutation struct{ Column }

// Identity reports whether every entry stands at its place, as nothing says otherwise.
func (p Permutation) Identity() bool { return p.Missing() }

// At is the number of the entry at place i.
func (p Permutation) At(i int) int {
	if p.U32 != nil {
		return int(p.U32[i])
	}
	if p.U64 != nil {
		return int(p.U64[i])
	}
	return i
}

// Ascending reports whether n entries are in order by the key columns.
func Ascending(n int, keys []Column) bool {
	for i := 1; i < n; i++ {
		for _, key := range keys {
			a, b := key.At(i-1), key.At(i)
			if a > b {
				return false
			}
			if a < b {
				break
			}
		}
	}
	return true
}

// Cumulate replaces each element by the sum of all up to it.
func Cumulate(c Column) {
	for i := 1; i < len(c.U32); i++ {
		c.U32[i] += c.U32[i-1]
	}
	for i := 1; i < len(c.U64); i++ {
		c.U64[i] += c.U64[i-1]
	}
}

// CopyShifted writes the elements of another column, each plus a number, from place at on.
func (c Column) CopyShifted(at int, from Column, shift uint64) {
	if c.U32 != nil && from.U32 != nil {
		to := c.U32[at : at+len(from.U32)]
		for i, v := range from.U32 {
			to[i] = v + uint32(shift)
		}
		return
	}
	for i := range from.Len() {
		c.Set(at+i, from.At(i)+shift)
	}
}

// Gather sets each element of to to the one of from that perm names.
func Gather[T any](to, from []T, perm Permutation) {
	for i, j := range perm.U32 {
		to[i] = from[j]
	}
	for i, j := range perm.U64 {
		to[i] = from[j]
	}
}

// Choose lists those of n places for which keep says so.
func Choose(n int, keep func(i int) bool) (Permutation, error) {
	kept, count := make([]uint64, (n+63)/64), 0
	for i := range n {
		if keep(i) {
			kept[i/64] |= 1 << (i % 64)
			count++
		}
	}
	list, err := Make(count, uint64(n))
	if err != nil {
		return Permutation{}, err
	}
	j := 0
	for i, word := range kept {
		for ; word != 0; word &= word - 1 {
			list.Set(j, uint64(i*64+bits.TrailingZeros64(word)))
			j++
		}
	}
	return Permutation{Column: list}, nil
}

// InOrder is the columns in an order of axes.
func InOrder(cols []Column, order []int) []Column {
	keys := make([]Column, len(order))
	for k, axis := range order {
		keys[k] = cols[axis]
	}
	return keys
}

// Repeated finds two of n entries that have the same keys: the numbers are the same if there are none.
func Repeated(n int, keys []Column) (a, b int, err error) {
	perm, _, err := Sort(n, keys)
	if err != nil {
		return 0, 0, err
	}
	for i := 1; i < n; i++ {
		if a, b := perm.At(i-1), perm.At(i); Same(keys, a, b) {
			return a, b, nil
		}
	}
	return 0, 0, nil
}

// Same reports whether two entries have the same coordinates.
func Same(cols []Column, a, b int) bool {
	for _, c := range cols {
		if c.At(a) != c.At(b) {
			return false
		}
	}
	return true
}

// Coordinate writes the coordinates of an entry, as in "(1,2)".
func Coordinate(cols []Column, i int) string {
	parts := make([]string, len(cols))
	for axis, c := range cols {
		parts[axis] = fmt.Sprint(c.At(i))
	}
	return "(" + strings.Join(parts, ",") + ")"
}
