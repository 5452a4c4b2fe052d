package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
)

// This file places loops, temporaries and assignments: it turns a normal form
// and chosen loop orders into concrete index notation.

// gather builds the nest that computes each result element where its loops
// meet: result loops outside, every reduction in a temporary inside them.
func (nf *normalForm) gather(order []*ir.Index) ir.Stmt {
	return nest(order, nil, nf.reduces, &ir.Assign{LHS: nf.lhs, Value: nf.value})
}

// scatter builds the nest that accumulates into the result: the loops of the
// outermost reduction top and of the result stand in any order.
func (nf *normalForm) scatter(order []*ir.Index, top *ir.Reduce) ir.Stmt {
	var rest []*ir.Reduce
	for _, r := range nf.reduces {
		if r != top {
			rest = append(rest, r)
		}
	}
	return nest(order, nil, rest, &ir.Assign{LHS: nf.lhs, Value: top.Body})
}

// nest runs leaf inside loops. Each pending reduction becomes a Where at the
// outermost place where everything it reads from outside is bound, so that
// nothing is computed more often than it must be.
func nest(loops, bound []*ir.Index, pending []*ir.Reduce, leaf *ir.Assign) ir.Stmt {
	return nestAround(loops, bound, pending, leaf.Value, func([]*ir.Index, []*ir.Reduce) ir.Stmt { return leaf })
}

// nestAround is nest around any statement: inner makes it, given the variables
// bound and the reductions that could not be placed outside it. Value is what it
// computes from the reductions.
func nestAround(loops, bound []*ir.Index, pending []*ir.Reduce, value ir.Expr, inner func([]*ir.Index, []*ir.Reduce) ir.Stmt) ir.Stmt {
	for i, r := range pending {
		if !within(r.FreeVars(), bound) {
			continue
		}
		// A reduction that several others read is computed in each of them.
		inside, outside := refersTo(r.Body, nil), refersTo(value, r)
		var producing, consuming []*ir.Reduce
		for j, p := range pending {
			if j != i && inside[p] {
				producing = append(producing, p)
			}
			if j != i && outside[p] {
				consuming = append(consuming, p)
			}
		}
		return &ir.Where{
			Temp:     r.Temp,
			Producer: nest(r.Order, bound, producing, &ir.Assign{Temp: r.Temp, Value: r.Body}),
			Consumer: nestAround(loops, bound, consuming, value, inner),
		}
	}
	if len(loops) == 0 {
		return inner(bound, pending)
	}
	more := append(append([]*ir.Index(nil), bound...), loops[0])
	return &ir.Forall{Index: loops[0], Body: nestAround(loops[1:], more, pending, value, inner)}
}

func within(vars, bound []*ir.Index) bool {
	for _, v := range vars {
		if !slices.Contains(bound, v) {
			return false
		}
	}
	return true
}

// refersTo is the set of reductions whose results e reads, directly or through
// other reductions; what only done reads does not count.
func refersTo(e ir.Expr, done *ir.Reduce) map[*ir.Reduce]bool {
	set := map[*ir.Reduce]bool{}
	var visit func(ir.Expr)
	visit = func(e ir.Expr) {
		ir.Walk(e, func(x ir.Expr) {
			t, ok := x.(*ir.TempRef)
			if !ok || set[t.Temp.Reduce] {
				return
			}
			set[t.Temp.Reduce] = true
			if t.Temp.Reduce != done {
				visit(t.Temp.Reduce.Body)
			}
		})
	}
	visit(e)
	return set
}
