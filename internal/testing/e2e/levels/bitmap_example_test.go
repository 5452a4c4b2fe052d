package levels_test

import (
	"fmt"
	"math/bits"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// A bitmap has a bit for each coordinate under each parent, and positions for those that are set. Bits stand 16 to a
// word, and each word has the position of its first bit above them, so that a coordinate is located in one step (an interleaved rank
// directory, as of Vigna, Broadword Implementation of Rank/Select Queries, WEA 2008). A word more than there are bits for ends the last parent.
const bitsOfWord = 16

var _, bitmap = tensor.RegisterLevel(tensor.LevelSchema{
	LevelProperties: tensor.LevelProperties{Name: "bitmap", Spelling: "B", HasCrd: true},
	Length:          func(l *tensor.Level, parents int64) (int64, bool) { return bitmapLength(l, parents) },
	Locate: func(l *tensor.Level, lo, _ int, c int64) (first, end int) {
		word := uint64(l.Crd.At64(lo*int(wordsOf(l)) + int(c/bitsOfWord)))
		first = int(word>>bitsOfWord) + bits.OnesCount64(word&(1<<(c%bitsOfWord)-1))
		return first, first + int(word>>(c%bitsOfWord)&1)
	},
	Ascend: func(l *tensor.Level, positions, coords []int64) {
		if len(positions) == 0 {
			return
		}
		at := int64(-1)
		var first, word uint64
		for i, p := range positions {
			for at < 0 || uint64(p) >= first+uint64(bits.OnesCount64(word)) {
				at++
				word = uint64(l.Crd.At64(int(at)))
				first, word = word>>bitsOfWord, word&(1<<bitsOfWord-1)
			}
			rest := word
			for range uint64(p) - first {
				rest &= rest - 1
			}
			coords[i] = at%wordsOf(l)*bitsOfWord + int64(bits.TrailingZeros64(rest))
			positions[i] = at / wordsOf(l)
		}
	},
	Positions: func(l *tensor.Level, _ int64) (int64, bool) {
		return l.Crd.At64(l.Crd.Len()-1) >> bitsOfWord, true
	},
	Check: func(t *tensor.Tensor, k int, parents int64) error {
		l := t.LevelAt(k)
		n, ok := bitmapLength(&l, parents)
		if !ok || n != int64(l.Crd.Len()) {
			return fmt.Errorf("level %d: a bitmap of %d parents has %d words, not %d", k, parents, n, l.Crd.Len())
		}
		set := uint64(0)
		for i := range l.Crd.Len() {
			word := uint64(l.Crd.At64(i))
			room := int64(0)
			if int64(i) < n-1 {
				room = min(l.Size-int64(i)%wordsOf(&l)*bitsOfWord, bitsOfWord)
			}
			if word>>bitsOfWord != set || word&(1<<bitsOfWord-1)>>room != 0 {
				return fmt.Errorf("level %d: word %d of a bitmap is %#x after %d coordinates", k, i, word, set)
			}
			set += uint64(bits.OnesCount64(word & (1<<bitsOfWord - 1)))
		}
		return nil
	},
	List: func(l *tensor.Level, parents int64) (pos, crd tensor.Array, err error) {
		ends, coords := []uint64{0}, []uint64{}
		for p := range parents {
			for w := range wordsOf(l) {
				word := uint64(l.Crd.At64(int(p*wordsOf(l)+w))) & (1<<bitsOfWord - 1)
				for ; word != 0; word &= word - 1 {
					coords = append(coords, uint64(w*bitsOfWord)+uint64(bits.TrailingZeros64(word)))
				}
			}
			ends = append(ends, uint64(len(coords)))
		}
		return tensor.ArrayOf(ends), tensor.ArrayOf(coords), nil
	},
	Pack: func(l *tensor.Level, parents int64) (tensor.Array, error) {
		n, _ := bitmapLength(l, parents)
		crd, err := tensor.MakeArray(tensor.Uint64, int(n))
		if err != nil {
			return crd, err
		}
		words := tensor.View[uint64](crd)
		for p := range parents {
			for q := l.Pos.At64(int(p)); q < l.Pos.At64(int(p)+1); q++ {
				c := l.Crd.At64(int(q))
				words[p*wordsOf(l)+c/bitsOfWord] |= 1 << (c % bitsOfWord)
			}
		}
		set := uint64(0)
		for i, word := range words {
			words[i] = set<<bitsOfWord | word
			set += uint64(bits.OnesCount64(word))
		}
		return crd, nil
	},
})

// wordsOf is how many words the bits under one parent take.
func wordsOf(l *tensor.Level) int64 { return (l.Size + bitsOfWord - 1) / bitsOfWord }

func bitmapLength(l *tensor.Level, parents int64) (int64, bool) {
	if words := wordsOf(l); words == 0 || parents <= (1<<62)/words {
		return parents*words + 1, true
	}
	return 0, false
}

// A kind of level that a program registers when it starts is spelled in formats like any other, here rows of bitmaps. Programs compute with
// it where its code is registered too (package lower/level); everything else takes the compressed levels that it lists.
func Example() {
	f, err := tensor.ParseFormat("C-B-D", 3)
	fmt.Println(f, f.Extended(), f.Listed(), len(tensor.LevelKinds()), err)
	A, err := tensor.FromCoords([]int64{2, 20, 1}, f, [][]int{{0, 0, 1}, {3, 17, 5}, {0, 0, 0}}, tensor.ArrayOf([]float64{1, 2, 3}))
	fmt.Println(A, A.At(0, 17, 0), err)
	listed, err := A.Listed()
	fmt.Println(listed, err)
	// Output:
	// C-B-D true C-S-D 5 <nil>
	// 2x20x1 f64 C-B-D, 3 stored, fill 0 2 <nil>
	// 2x20x1 f64 C-S-D, 3 stored, fill 0 <nil>
}
