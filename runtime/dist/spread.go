package dist

import (
	"math"
	"math/bits"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Count is how many entries the rank's part has: of one axis, at each coordinate; of two, at each distance from the diagonal, by its length in bits (1 is a distance
// of 1, 2 one of 2 or 3, …). The diagonal goes from corner to corner whatever the shape is, and distances are those along the second axis.
// Those of all parts add up to those of the whole.
func (t *Tensor) Count(axes ...int) []int64 {
	first := t.Sets[axes[0]]
	if len(axes) == 1 {
		counts := make([]int64, t.Shape[axes[0]])
		eachEntry(t.Part, func(at [][]int64, k int) { counts[first.At(at[axes[0]][k])]++ })
		return counts
	}
	counts, second := make([]int64, 64), t.Sets[axes[1]]
	slope := float64(t.Shape[axes[1]]) / float64(max(1, t.Shape[axes[0]]))
	eachEntry(t.Part, func(at [][]int64, k int) {
		far := second.At(at[axes[1]][k]) - int64(float64(first.At(at[axes[0]][k]))*slope)
		counts[bits.Len64(uint64(max(far, -far)))]++
	})
	return counts
}

// Weights are the entries that a tensor stores at each coordinate of an axis.
func Weights(t *tensor.Tensor, axis int) ([]int64, error) {
	whole, err := Whole(t)
	if err != nil {
		return nil, err
	}
	return whole.Count(axis), nil
}

// knowSpreads has the statement's operands know how far from the diagonal their entries are.
func (s *statement) knowSpreads(of func(name string, a, b int) spread, given func(string) bool) {
	for _, u := range s.uses {
		if given(u.name) && !u.tensor.Format.IsDense() {
			u.spread = func(a, b int) spread { return of(u.name, a, b) }
		}
	}
}

// spread is how far entries are from the diagonal: Count of two axes.
type spread []int64

// touched estimates at how many coordinates of the second axis a block of the first has entries, of which there are so many: in the block of that axis at the same place, and
// outside. An entry at some distance leaves its block with a probability that is that distance over the block's length, and then it is among as many coordinates on either side as
// its distance at most.
func (s spread) touched(extent float64, parts int, entries float64) (own, out float64) {
	total, length, stay := 0.0, extent/float64(parts), 0.0
	for _, n := range s {
		total += float64(n)
	}
	for k, n := range s {
		if n == 0 {
			continue
		}
		n, far := entries*float64(n)/total, math.Exp2(float64(k)) // the distances are below it
		leave := min(1, 0.75*far/length)
		if k == 0 {
			leave = 0
		}
		stay += n * (1 - leave)
		if room := min(extent-length, 2*far); room > 0 {
			out += room * -math.Expm1(-n*leave/room)
		}
	}
	if length > 0 {
		own = length * -math.Expm1(-stay/length)
	}
	return own, out
}

// diagonal estimates which part of the entries is in the blocks on the diagonal, where both axes are cut into blocks, the second of so long ones.
func (s spread) diagonal(length float64) float64 {
	total, stay := 0.0, 0.0
	for k, n := range s {
		leave := min(1, 0.75*math.Exp2(float64(k))/length)
		if k == 0 {
			leave = 0
		}
		total, stay = total+float64(n), stay+float64(n)*(1-leave)
	}
	if total == 0 {
		return 1
	}
	return stay / total
}
