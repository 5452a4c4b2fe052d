package plan

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// depths gives the depth of the loop of each index variable; variables without
// a loop yet are absent.
type depths map[*ir.Index]int

// of is the depth of the innermost loop that x needs, -1 for none.
func (d depths) of(x ir.IndexExpr) int {
	deepest := -1
	for _, v := range x.Vars(nil) {
		deepest = max(deepest, d[v])
	}
	return deepest
}

// concordant reports whether the loops bind the coordinates of every sparse
// level of the access after those of the levels outside it. If not, the access
// has to search where it should walk.
func (d depths) concordant(a *ir.Access) bool {
	order := a.Tensor.Format.Order()
	outer := -1
	for l, level := range a.Tensor.Format.Physical() {
		x := a.Indices[order[l]]
		here := d.of(x)
		if level.Walked() && here < outer && here >= 0 && x.Gather == nil {
			return false
		}
		outer = max(outer, here)
	}
	return true
}

// reordered is the format in which the access follows the loops: its axes in
// loop order, compressed where the original is not dense throughout.
func (d depths) reordered(a *ir.Access) tensor.Format {
	f := a.Tensor.Format
	order := f.Order()
	// Insertion sort by loop depth keeps the storage order of axes that share
	// a loop.
	sorted := append([]int(nil), order...)
	for i := 1; i < len(sorted); i++ {
		for j := i; j > 0 && d.of(a.Indices[sorted[j]]) < d.of(a.Indices[sorted[j-1]]); j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	// Trailing dense axes stay dense as long as they are still the trailing ones.
	sparse := len(sorted)
	for sparse > f.SparseRank() && sorted[sparse-1] == order[sparse-1] {
		sparse--
	}
	dense := tensor.Dense(len(sorted) - sparse)
	if sparse > 1 && f.AllRows() {
		return ir.MustFormat(sorted, tensor.Dense(1), tensor.CSF(sparse-1), dense)
	}
	return ir.MustFormat(sorted, tensor.CSF(sparse), dense)
}

// permutations calls f with every order of vars, at most limit of them.
func permutations(vars []*ir.Index, limit int, f func([]*ir.Index)) {
	order := append([]*ir.Index(nil), vars...)
	count := 0
	var walk func(k int)
	walk = func(k int) {
		if count >= limit {
			return
		}
		if k == len(order) {
			count++
			f(order)
			return
		}
		for i := k; i < len(order); i++ {
			// Rotate rather than swap, so that orders come out
			// lexicographically: the first is vars as written.
			v := order[i]
			copy(order[k+1:i+1], order[k:i])
			order[k] = v
			walk(k + 1)
			copy(order[k:i], order[k+1:i+1])
			order[i] = v
		}
	}
	walk(0)
}
