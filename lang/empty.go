package lang

import "math"

// undefinedOverNothing lists the reductions that have no value over nothing.
var undefinedOverNothing = map[Reduction]bool{
	Min: true, Max: true, ArgMin: true, ArgMax: true, Median: true, Quantile: true, NanQuantile: true,
}

// UndefinedOverNothing reports whether the reduction has no value over nothing.
func (r Reduction) UndefinedOverNothing() bool { return undefinedOverNothing[r] }

// checkEmpty reports reductions that have no value because an index of theirs
// takes none, where a value is needed: a reduction that is evaluated for no element
// at all, because an index around it takes no value either, is fine.
func (sb *stmtBinder) checkEmpty() {
	sb.checkOrders()
	for _, x := range sb.stmt.Indices {
		if x.Free && sb.extentOf(x) == 0 {
			return
		}
	}
	Walk(sb.stmt.RHS, func(e Expr) bool {
		r, ok := e.(*Reduce)
		if !ok {
			return true
		}
		if r.Op == ArgMin || r.Op == ArgMax {
			sb.checkPositions(r)
		}
		for _, v := range r.Vars {
			if sb.extentOf(v.Var) != 0 {
				continue
			}
			switch {
			case v.In != nil:
			case r.Op == Mean || r.Op == Var:
				sb.out.Nothing = append(sb.out.Nothing, r)
			case undefinedOverNothing[r.Op]:
				sb.fail(ErrEmptyReduction, r.Pos, "",
					"%s over index %s, which takes no value: its dimension has size 0", r.Op, v.Var.Name)
			}
			return false // nothing inside is evaluated
		}
		return true
	})
}

// checkOrders reports quantiles without any order: those whose orders are a list of
// none, which an index runs over that nothing else on the right has.
func (sb *stmtBinder) checkOrders() {
	Walk(sb.stmt.RHS, func(e Expr) bool {
		r, ok := e.(*Reduce)
		if !ok || r.Q == nil {
			return true
		}
		for x, uses := range IndexUses(r.Q) {
			if sb.extentOf(x) == 0 && uses == IndexUses(sb.stmt.RHS)[x] {
				sb.fail(ErrEmptyReduction, r.Q.Position(), "give at least one order, from 0 to 1",
					"%s has no orders: the index %s takes no value", r.Op, x.Name)
				return false
			}
		}
		return true
	})
}

// IndexUses counts how often the accesses of an expression use each index variable.
func IndexUses(e Expr) map[*Index]int {
	uses := make(map[*Index]int)
	for _, a := range Accesses(e) {
		for _, x := range a.Indices {
			for _, t := range x.Terms {
				uses[t.Var]++
			}
		}
	}
	return uses
}

// checkPositions reports an argmin or argmax whose row-major positions do not fit
// an i64.
func (sb *stmtBinder) checkPositions(r *Reduce) {
	size := int64(1)
	for _, v := range r.Vars {
		n := sb.extentOf(v.Var)
		if n > 0 && size > math.MaxInt64/n {
			sb.fail(ErrOutOfRange, r.Pos, "take "+r.Op.String()+" over fewer indices",
				"the positions that %s counts over its indices do not fit 63 bits", r.Op)
			return
		}
		size *= max(n, 1)
	}
}
