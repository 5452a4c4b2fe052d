package exec

import (
	"sort"

	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Loops are shared among threads by their outermost coordinates. Where much of an operand lies under one of these, such as
// half of a matrix in one row, a step has a version in which chunks begin and end inside rows (lower/mergepath.go). Every
// row costs it a little more, so it runs where it pays. What it computes are the same bits.

// heavyChunks is so many chunks' work that an outermost coordinate is heavy.
const heavyChunks = 2

// splits reports whether a run of a step cuts loops inside their outermost coordinates.
func (k *Kernel) splits(v *version, vals values) bool {
	if v == nil || !v.Lower.Splits || k.env.Options.MostThreads() == 1 {
		return false
	}
	grain := int64(emit.ChunkGrain)
	if k.env.Grain > 0 {
		grain = k.env.Grain
	}
	for _, t := range tensorsOf(v.Lower.Inputs) {
		if x := vals[t.ID]; x != nil && heavy(x, heavyChunks*grain) {
			return true
		}
	}
	return false
}

// heavy reports whether more than so many elements are stored under one outermost coordinate of a tensor: surely
// if twice as many are, surely not if fewer are.
func heavy(t *tensor.Tensor, limit int64) bool {
	levels, total := t.Levels(), t.NNZ()
	if len(levels) < 2 || total <= limit {
		return false
	}
	roots := levels[0].Size
	if p := levels[0].Pos; p.Len() > 0 {
		if !p.Here() {
			return false
		}
		roots = p.At64(1)
	}
	for _, l := range levels {
		if !l.Pos.Here() {
			return false
		}
	}
	before := func(n int64) int64 { // elements under the first n outermost coordinates
		for _, l := range levels[1:] {
			switch {
			case l.Pos.Len() > 0:
				n = l.Pos.At64(int(n))
			case l.Crd.Len() == 0:
				n *= l.Size
			}
		}
		return n
	}
	last := -1
	for at := limit; at < total; at += limit {
		root := sort.Search(int(roots), func(i int) bool { return before(int64(i)+1) > at })
		if root == last {
			return true
		}
		last = root
	}
	return false
}
