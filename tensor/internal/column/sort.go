package column

import "math/bits"

// radixBits is the most bits that one pass of the radix sort distinguishes: its
// counters fit in the first-level cache.
const radixBits = 11

// Sort is the stable order of n entries by the key columns, the
// first the most significant. It is a radix sort from the least significant
// digit, over as many columns at once as fit in a machine word. It also returns
// the leading columns in that order: those of the last word sorted by, which
// need no gathering; there is at least one.
func Sort(n int, keys []Column) (Permutation, []Column, error) {
	perm, err := Make(n, uint64(n))
	if err != nil {
		return Permutation{}, nil, err
	}
	for i := range perm.U32 {
		perm.U32[i] = uint32(i)
	}
	for i := range perm.U64 {
		perm.U64[i] = uint64(i)
	}
	var sorted []Column
	for last := len(keys); last > 0; {
		first, width := last, 0
		for first > 0 {
			w := bits.Len64(keys[first-1].Maximum())
			if width+w > 64 {
				break
			}
			first, width = first-1, width+w
		}
		order := Permutation{Column: perm}
		if last == len(keys) {
			order = Permutation{} // as they are
		}
		word, err := packColumns(order, keys[first:last], n, width)
		if err != nil {
			return Permutation{}, nil, err
		}
		if err := sortWord(&word, &perm, width); err != nil {
			return Permutation{}, nil, err
		}
		if first == 0 {
			if sorted, err = unpackColumns(word, keys[:last]); err != nil {
				return Permutation{}, nil, err
			}
		}
		last = first
	}
	return Permutation{Column: perm}, sorted, nil
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
func packColumns(perm Permutation, keys []Column, n, width int) (Column, error) {
	word, err := Make(n, widthMax(width))
	if err != nil {
		return Column{}, err
	}
	if len(keys) == 1 && perm.Identity() {
		word.CopyShifted(0, keys[0], 0)
		return word, nil
	}
	for _, key := range keys {
		shift := uint(bits.Len64(key.Maximum()))
		pack(word.U32, key, perm, shift)
		pack(word.U64, key, perm, shift)
	}
	return word, nil
}

// pack moves words, which begin as 0, up by shift bits, and puts the elements of a key, in the order of perm, below.
func pack[T uint32 | uint64](words []T, key Column, perm Permutation, shift uint) {
	for i, w := range words {
		words[i] = w<<shift | T(key.At(perm.At(i)))
	}
}

// unpackColumns splits a word of joined columns into columns like keys.
func unpackColumns(word Column, keys []Column) ([]Column, error) {
	if len(keys) == 1 && (word.U32 == nil) == (keys[0].U32 == nil) {
		return []Column{word}, nil
	}
	out := make([]Column, len(keys))
	shift := uint(0)
	for k := len(keys) - 1; k >= 0; k-- {
		var err error
		if out[k], err = ofWidth(word.Len(), keys[k].U64 != nil); err != nil {
			return nil, err
		}
		width := bits.Len64(keys[k].Maximum())
		mask := widthMax(width)
		for i := range out[k].U32 {
			out[k].U32[i] = uint32(word.At(i) >> shift & mask)
		}
		for i := range out[k].U64 {
			out[k].U64[i] = word.At(i) >> shift & mask
		}
		shift += uint(width)
	}
	return out, nil
}

// sortWord stably sorts a column of width bits, and perm along with it.
func sortWord(word, perm *Column, width int) error {
	if width == 0 {
		return nil
	}
	n := perm.Len()
	otherPerm, err := Make(n, uint64(n))
	if err != nil {
		return err
	}
	other, err := Make(n, widthMax(width))
	if err != nil {
		return err
	}
	passes := (width + radixBits - 1) / radixBits
	digit := (width + passes - 1) / passes
	for pass := range passes {
		shift := uint(pass * digit)
		switch {
		case perm.U32 != nil && word.U32 != nil:
			radixPass(word.U32, other.U32, perm.U32, otherPerm.U32, shift, digit)
		case perm.U32 != nil:
			radixPass(word.U64, other.U64, perm.U32, otherPerm.U32, shift, digit)
		case word.U32 != nil:
			radixPass(word.U32, other.U32, perm.U64, otherPerm.U64, shift, digit)
		default:
			radixPass(word.U64, other.U64, perm.U64, otherPerm.U64, shift, digit)
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
