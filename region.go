package lacuna

import "github.com/lacuna-sparse/lacuna/ir"

// regionOf tells which coordinates the left side of an assignment names: those for
// which each axis has the coordinate of its index expression, for some values of
// the variables. An axis of a left side has at most one variable.
func regionOf(lhs *ir.Access, extents []int64) func(coords []int64) bool {
	const unbound = -1
	values := make([]int64, len(extents)) // of the variables, by ID
	return func(coords []int64) bool {
		for _, x := range lhs.Indices {
			for _, t := range x.Terms {
				values[t.Var.ID] = unbound
			}
		}
		for axis, x := range lhs.Indices {
			rest := coords[axis] - x.Const
			if len(x.Terms) == 0 {
				if rest != 0 {
					return false
				}
				continue
			}
			t := x.Terms[0]
			v := rest / t.Coef
			switch known := values[t.Var.ID]; {
			case rest%t.Coef != 0 || v < 0 || v >= extents[t.Var.ID]:
				return false
			case known != unbound && known != v:
				return false
			}
			values[t.Var.ID] = v
		}
		return true
	}
}
