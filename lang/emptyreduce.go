package lang

import (
	"math"
	"slices"
)

// undefinedOverNothing lists the reductions that have no value over nothing.
var undefinedOverNothing = map[Reduction]bool{
	Min: true, Max: true, ArgMin: true, ArgMax: true, Median: true, Quantile: true, NanQuantile: true,
}

// checkEmpty has reductions that have no value over nothing checked, where a value is
// needed: a reduction that is evaluated for no element at all, because an index around it
// takes no value either, is fine.
func (sb *stmtRules[N]) checkEmpty() {
	one := sb.Const(1)
	all := IndexUses(sb.stmt.RHS)
	Walk(sb.stmt.RHS, func(e Expr) bool {
		r, ok := e.(*Reduce)
		if !ok || r.Q == nil {
			return true
		}
		// Orders are a list of none where an index runs over it that nothing else on the right has.
		own := IndexUses(r.Q)
		for _, x := range sb.stmt.Indices {
			if own[x] > 0 && own[x] == all[x] && !sb.check(Condition[N]{Rule: RuleOrders, X: one, Y: sb.extentOf(x), Reduce: r, Index: x}) {
				return false
			}
		}
		return true
	})
	var free []N
	for _, x := range sb.stmt.Indices {
		if x.Free {
			free = append(free, sb.extentOf(x))
		}
	}
	sb.emptyBelow(sb.stmt.RHS, free)
}

// emptyBelow checks the reductions in an expression that is evaluated if some
// extents are positive.
func (sb *stmtRules[N]) emptyBelow(e Expr, some []N) {
	one := sb.Const(1)
	Walk(e, func(e Expr) bool {
		r, ok := e.(*Reduce)
		if !ok {
			return true
		}
		if r.Op == ArgMin || r.Op == ArgMax {
			size := one
			for _, v := range r.Vars {
				size = sb.Mul(size, sb.Max(sb.extentOf(v.Var), one))
			}
			sb.check(Condition[N]{Rule: RulePositions, If: some, X: size, Y: sb.Const(math.MaxInt64), Reduce: r})
		}
		inner := some
		for _, v := range r.Vars {
			n := sb.extentOf(v.Var)
			c := Condition[N]{If: inner, X: one, Y: n, Reduce: r, Index: v.Var}
			switch {
			case v.In != nil:
			case undefinedOverNothing[r.Op]:
				c.Rule = RuleEmpty
				sb.check(c)
			case r.Op == Mean || r.Op == Var:
				c.Rule = RuleNothing
				sb.check(c)
			}
			inner = append(slices.Clone(inner), n)
		}
		sb.emptyBelow(r.Body, inner)
		if r.Q != nil {
			sb.emptyBelow(r.Q, inner)
		}
		return false
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
