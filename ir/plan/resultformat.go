package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// naturalFormat is the format of a result that the user did not choose: dense
// when the result has a value of its own at every coordinate, else the levels
// that its operands' levels suggest, in the axis order that suits most of them.
func (nf *normalForm) naturalFormat(alg ir.Algebra, background ir.Expr) tensor.Format {
	rank := nf.lhs.Tensor.Rank
	dense := tensor.Dense(rank)
	if _, ok := ir.ConstValue(background); !ok || rank == 0 {
		return dense
	}
	vars := make([]*ir.Index, rank)
	for axis, x := range nf.lhs.Indices {
		v := x.Plain()
		if v == nil || slices.Contains(vars, v) {
			return dense
		}
		vars[axis] = v
	}
	var best *naturalLevels
	for _, order := range nf.naturalOrders(vars) {
		if n := nf.naturalLevels(alg, vars, order); best == nil || n.before(best) {
			best = n
		}
	}
	if best.sparse < 0 {
		return dense
	}
	return best.format(nf.allCoordinates())
}

// naturalLevels are the levels that operands suggest for a result in some order.
type naturalLevels struct {
	order  []int
	full   []bool // levels that have every coordinate
	sparse int    // innermost level that is cut short, -1 for none
	// disorder is the number of operands whose axes are in another order.
	disorder int
	// filled is the number of levels that are dense below a sparse one although
	// their variables index sparse operands.
	filled int
}

// before reports whether n suits the operands better than m: fewer of them are
// out of order, and less of what they leave out is filled in.
func (n *naturalLevels) before(m *naturalLevels) bool {
	if n.disorder != m.disorder {
		return n.disorder < m.disorder
	}
	return n.filled < m.filled
}

// format has a block below each entry of the innermost level that is cut short. Beside lists alone, the levels
// before the first that has every coordinate are a list, where there are no blocks.
func (n *naturalLevels) format(lists bool) tensor.Format {
	rank, list := len(n.order), 0
	if lists && n.sparse == rank-1 {
		if list = slices.Index(n.full, true); list < 0 {
			list = rank
		}
	}
	parts := []tensor.Format{tensor.Coordinates(list)}
	for _, full := range n.full[list : n.sparse+1] {
		part := tensor.CSF(1)
		if full {
			part = tensor.Dense(1)
		}
		parts = append(parts, part)
	}
	return ir.MustFormat(n.order, append(parts, tensor.Dense(rank-1-n.sparse))...)
}

func (nf *normalForm) naturalLevels(alg ir.Algebra, vars []*ir.Index, order []int) *naturalLevels {
	rank := len(order)
	n := &naturalLevels{order: order, full: make([]bool, rank), sparse: -1}
	at := depths{}
	for d, axis := range order {
		at[vars[axis]] = d
	}
	for _, r := range nf.reduces {
		for k, v := range r.Vars {
			// A reduction may stand outside the result's loops where there is
			// a workspace. A vector of sums is dense in the dimension of rows
			// or columns, whichever way the matrix is stored.
			if at[v] = -1; rank == 1 {
				at[v] = rank + k
			}
		}
	}
	var converted []*ir.Access
	nf.eachAccess(func(a *ir.Access) {
		if !at.concordant(a) {
			converted = append(converted, a)
		}
	})
	n.disorder = len(converted)
	stored := at.convert(converted)
	for l, axis := range order {
		s := alg.Stored(nf.value, dryLeaves{alg: alg, v: vars[axis], at: at, converted: stored})
		if n.full[l] = s.Set.IsAll() || s.Background == nil; !n.full[l] {
			n.sparse = l
		}
	}
	if n.sparse < 0 && rank > 1 && nf.crosses(alg, vars, vars[order[rank-1]]) {
		n.sparse = rank - 1
	}
	if n.sparse < 0 {
		return n
	}
	n.full[n.sparse] = false
	for l := n.sparse + 1; l < rank; l++ {
		if nf.indexesSparse(vars[order[l]]) {
			n.filled++
		}
	}
	return n
}

// indexesSparse reports whether v is an index of a sparse operand.
func (nf *normalForm) indexesSparse(v *ir.Index) bool {
	found := false
	nf.eachAccess(func(a *ir.Access) {
		found = found || !a.Tensor.Format.IsDense() && slices.Contains(a.Vars(nil), v)
	})
	return found
}

// crosses reports whether v, which no operand cuts short, meets the result's
// other variables only through sparse operands that have not all of them, as the
// columns of a matrix stored by columns meet the rows of another: most elements of
// such a result have nothing behind them.
func (nf *normalForm) crosses(alg ir.Algebra, vars []*ir.Index, v *ir.Index) bool {
	if s := alg.Stored(nf.value, ir.GlobalLeaves(alg)); s.Set.IsAll() || s.Background == nil {
		return false
	}
	crossing := false
	nf.eachAccess(func(a *ir.Access) {
		reads := a.Vars(nil)
		if a.Tensor.Format.IsDense() || !slices.Contains(reads, v) {
			return
		}
		for _, w := range vars {
			crossing = crossing || !slices.Contains(reads, w)
		}
	})
	return crossing
}

// naturalOrders are the axis orders worth looking at: as written, and as some
// operand is stored.
func (nf *normalForm) naturalOrders(vars []*ir.Index) [][]int {
	written := make([]int, len(vars))
	for axis := range written {
		written[axis] = axis
	}
	list := [][]int{written}
	nf.eachAccess(func(a *ir.Access) {
		var order []int
		for _, v := range storageOrder(a, vars) {
			for axis, w := range vars {
				if v == w {
					order = append(order, axis)
				}
			}
		}
		if !slices.ContainsFunc(list, func(o []int) bool { return slices.Equal(o, order) }) {
			list = append(list, order)
		}
	})
	return list
}

// allCoordinates reports whether every sparse operand is a coordinate list.
func (nf *normalForm) allCoordinates() bool {
	lists, others := 0, 0
	nf.eachAccess(func(a *ir.Access) {
		f := a.Tensor.Format
		switch {
		case f.IsDense() || f.Rank() == 1:
		case beginsList(f):
			lists++
		default:
			others++
		}
	})
	return lists > 0 && others == 0
}

// beginsList reports whether the outermost level has an entry for each of the next level, or of the values.
func beginsList(f tensor.Format) bool {
	levels := f.Physical()
	return levels[0].Ranges() && (f.SparseRank() == 1 || levels[1].Branchless())
}

func (nf *normalForm) eachAccess(f func(*ir.Access)) { eachAccess(f, nf.read()...) }

// read are the expressions whose elements the statement reads.
func (nf *normalForm) read() []ir.Expr {
	list := []ir.Expr{nf.value}
	for _, r := range nf.reduces {
		list = append(list, r.Body)
		if r.In != nil {
			list = append(list, r.In)
		}
	}
	return list
}

// eachAccess visits the accesses of expressions once.
func eachAccess(f func(*ir.Access), in ...ir.Expr) {
	seen := map[*ir.Access]bool{}
	for _, e := range in {
		ir.Walk(e, func(x ir.Expr) {
			if a, ok := x.(*ir.Access); ok && !seen[a] {
				seen[a] = true
				f(a)
			}
		})
	}
}
