package tensor

import (
	"math"
	"math/bits"
	"slices"
)

// column is one axis' coordinates of a list of entries, in the narrower of two
// widths that fits the axis. At most one slice is set.
type column struct {
	u32 []uint32
	u64 []uint64
}

// makeColumn makes a column of n elements for values up to max.
func makeColumn(n int, max uint64) (column, error) {
	a, err := MakeArray(narrowestIndex(max), n)
	if err != nil {
		return column{}, err
	}
	return columnOf(a), nil
}

// columnOf views an array of Uint32 or Uint64.
func columnOf(a Array) column {
	if a.dt == Uint32 {
		return column{u32: View[uint32](a)}
	}
	return column{u64: View[uint64](a)}
}

// widened returns an index array with elements up to max as a column, without
// copying if it is as wide as the column has to be.
func widened(a Array, max uint64) (column, error) {
	if a.dt.Size() == narrowestIndex(max).Size() {
		if a.dt.Size() == 4 {
			return column{u32: View[uint32](a)}, nil
		}
		return column{u64: View[uint64](a)}, nil
	}
	c, err := makeColumn(a.n, max)
	if err != nil {
		return column{}, err
	}
	for i := range a.n {
		c.set(i, uint64(a.At64(i)))
	}
	return c, nil
}

func (c column) at(i int) uint64 {
	if c.u64 != nil {
		return c.u64[i]
	}
	return uint64(c.u32[i])
}

func (c column) set(i int, v uint64) {
	if c.u64 != nil {
		c.u64[i] = v
		return
	}
	c.u32[i] = uint32(v)
}

func (c column) len() int { return len(c.u32) + len(c.u64) }

// missing reports whether there is no such column.
func (c column) missing() bool { return c.u32 == nil && c.u64 == nil }

// array is the column as an array that shares its memory.
func (c column) array() Array {
	if c.u64 != nil {
		return ArrayOf(c.u64)
	}
	return ArrayOf(c.u32)
}

// typed is the column as an array of integer type dt, which holds all its
// values; without copying if the width is the same.
func (c column) typed(dt DType) (Array, error) {
	a := c.array()
	if a.dt.Size() == dt.Size() {
		a.dt = dt
		return a, nil
	}
	return a.Convert(dt)
}

// maximum is the largest element, 0 if there is none.
func (c column) maximum() uint64 {
	var m32 uint32
	for _, v := range c.u32 {
		m32 = max(m32, v)
	}
	m64 := uint64(m32)
	for _, v := range c.u64 {
		m64 = max(m64, v)
	}
	return m64
}

// permuted is the column with element perm[i] at i; the column itself for the
// identity.
func (c column) permuted(perm permutation) (column, error) {
	if perm.identity() {
		return c, nil
	}
	return c.gathered(perm)
}

// gathered is the elements that list names, in its order.
func (c column) gathered(list permutation) (column, error) {
	out := column{}
	a, err := MakeArray(c.array().dt, list.len())
	if err != nil {
		return out, err
	}
	out = columnOf(a)
	if out.u64 != nil {
		gatherSlice(out.u64, c.u64, list)
	} else {
		gatherSlice(out.u32, c.u32, list)
	}
	return out, nil
}

// permutation lists which entry stands at each place. The zero permutation is
// the identity.
type permutation struct{ column }

func (p permutation) identity() bool { return p.missing() }

func (p permutation) at(i int) int {
	if p.u32 != nil {
		return int(p.u32[i])
	}
	if p.u64 != nil {
		return int(p.u64[i])
	}
	return i
}

// radixBits is the most bits that one pass of the radix sort distinguishes: its
// counters fit in the first-level cache.
const radixBits = 11

// sortedPermutation is the stable order of n entries by the key columns, the
// first the most significant. It is a radix sort from the least significant
// digit, over as many columns at once as fit in a machine word. It also returns
// the leading columns in that order: those of the last word sorted by, which
// need no gathering; there is at least one.
func sortedPermutation(n int, keys []column) (permutation, []column, error) {
	perm, err := makeColumn(n, uint64(n))
	if err != nil {
		return permutation{}, nil, err
	}
	if len(keys) == 1 && keys[0].u32 != nil && perm.u32 != nil && inLongRuns(keys[0].u32) {
		sorted, err := mergedRuns(keys[0].u32, perm.u32)
		return permutation{perm}, []column{{u32: sorted}}, err
	}
	for i := range perm.u32 {
		perm.u32[i] = uint32(i)
	}
	for i := range perm.u64 {
		perm.u64[i] = uint64(i)
	}
	var sorted []column
	for last := len(keys); last > 0; {
		first, width := last, 0
		for first > 0 {
			w := bits.Len64(keys[first-1].maximum())
			if width+w > 64 {
				break
			}
			first, width = first-1, width+w
		}
		order := permutation{perm}
		if last == len(keys) {
			order = permutation{} // as they are
		}
		word, err := packColumns(order, keys[first:last], n, width)
		if err != nil {
			return permutation{}, nil, err
		}
		if err := sortWord(&word, &perm, width); err != nil {
			return permutation{}, nil, err
		}
		if first == 0 {
			if sorted, err = unpackColumns(word, keys[:last]); err != nil {
				return permutation{}, nil, err
			}
		}
		last = first
	}
	return permutation{perm}, sorted, nil
}

// inLongRuns reports whether keys are a few lists in ascending order one after the other, of numbers that are not many more than
// the keys: counting them then goes through memory in order, once, where a digit at a time takes several passes.
func inLongRuns(keys []uint32) bool {
	runs, most := 1, uint32(0)
	for i, key := range keys {
		if i > 0 && key < keys[i-1] {
			if runs++; runs > 16 {
				return false
			}
		}
		most = max(most, key)
	}
	return uint64(most) < 2*uint64(len(keys))
}

// mergedRuns are keys in order, and sets perm to where each was.
func mergedRuns(keys, perm []uint32) ([]uint32, error) {
	begin := make([]uint32, int(slices.Max(keys))+2)
	sorted, err := makeColumn(len(keys), math.MaxUint32)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		begin[int(key)+1]++
	}
	cumulate(column{u32: begin})
	for i, key := range keys {
		to := begin[key]
		begin[key] = to + 1
		sorted.u32[to], perm[to] = key, uint32(i)
	}
	return sorted.u32, nil
}

// widthMax is the largest number of the given number of bits.
func widthMax(width int) uint64 {
	if width == 0 {
		return 0
	}
	return 1<<uint(width-1)<<1 - 1
}

// packColumns joins key columns, in the order of perm, into one of width bits,
// the first column uppermost.
func packColumns(perm permutation, keys []column, n, width int) (column, error) {
	word, err := makeColumn(n, widthMax(width))
	if err != nil {
		return column{}, err
	}
	if len(keys) == 1 && perm.identity() {
		word.copyShifted(0, keys[0], 0)
		return word, nil
	}
	for k, key := range keys {
		shift := uint(bits.Len64(key.maximum()))
		for i := range word.u32 {
			v := uint32(key.at(perm.at(i)))
			if k > 0 {
				v |= word.u32[i] << shift
			}
			word.u32[i] = v
		}
		for i := range word.u64 {
			v := key.at(perm.at(i))
			if k > 0 {
				v |= word.u64[i] << shift
			}
			word.u64[i] = v
		}
	}
	return word, nil
}

// unpackColumns splits a word of joined columns into columns like keys.
func unpackColumns(word column, keys []column) ([]column, error) {
	if len(keys) == 1 && (word.u32 == nil) == (keys[0].u32 == nil) {
		return []column{word}, nil
	}
	out := make([]column, len(keys))
	shift := uint(0)
	for k := len(keys) - 1; k >= 0; k-- {
		a, err := MakeArray(keys[k].array().dt, word.len())
		if err != nil {
			return nil, err
		}
		out[k] = columnOf(a)
		width := bits.Len64(keys[k].maximum())
		mask := widthMax(width)
		for i := range out[k].u32 {
			out[k].u32[i] = uint32(word.at(i) >> shift & mask)
		}
		for i := range out[k].u64 {
			out[k].u64[i] = word.at(i) >> shift & mask
		}
		shift += uint(width)
	}
	return out, nil
}

// sortWord stably sorts a column of width bits, and perm along with it.
func sortWord(word, perm *column, width int) error {
	if width == 0 {
		return nil
	}
	n := perm.len()
	otherPerm, err := makeColumn(n, uint64(n))
	if err != nil {
		return err
	}
	other, err := makeColumn(n, widthMax(width))
	if err != nil {
		return err
	}
	passes := (width + radixBits - 1) / radixBits
	digit := (width + passes - 1) / passes
	for pass := range passes {
		shift := uint(pass * digit)
		switch {
		case perm.u32 != nil && word.u32 != nil:
			radixPass(word.u32, other.u32, perm.u32, otherPerm.u32, shift, digit)
		case perm.u32 != nil:
			radixPass(word.u64, other.u64, perm.u32, otherPerm.u32, shift, digit)
		case word.u32 != nil:
			radixPass(word.u32, other.u32, perm.u64, otherPerm.u64, shift, digit)
		default:
			radixPass(word.u64, other.u64, perm.u64, otherPerm.u64, shift, digit)
		}
		*word, other = other, *word
		*perm, otherPerm = otherPerm, *perm
	}
	return nil
}

// radixPass moves keys and the permutation with them to a stable order by the
// digit of the given number of bits at shift.
func radixPass[K, I uint32 | uint64](keys, keysOut []K, perm, permOut []I, shift uint, digit int) {
	var next [1 << radixBits]int
	mask := K(1)<<digit - 1
	for _, key := range keys {
		next[key>>shift&mask]++
	}
	sum := 0
	for d := range 1 << digit {
		sum, next[d] = sum+next[d], sum
	}
	for i, key := range keys {
		d := key >> shift & mask
		to := next[d]
		next[d]++
		keysOut[to] = key
		permOut[to] = perm[i]
	}
}

// ascending reports whether n entries are in order by the key columns.
func ascending(n int, keys []column) bool {
	for i := 1; i < n; i++ {
		for _, key := range keys {
			a, b := key.at(i-1), key.at(i)
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

// positionType is the default type of an array that counts up to n.
func positionType(n int) DType { return narrowestIndex(uint64(min(n, math.MaxInt))) }
