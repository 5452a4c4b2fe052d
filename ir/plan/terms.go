package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
)

// This file plans a dense result that is a sum of several terms by adding one term
// after the other to it: each has loops of its own, in an order that suits its
// operands, where loops around all terms would have to suit every operand at once.
// Two terms that read the same sparse operand share their loops: a symmetric matrix
// stored as one triangle multiplies with one pass over what is stored.

// summand is one term, with index variables of its own.
type summand struct {
	lhs   *ir.Access
	value ir.Expr
	free  []*ir.Index // of the result, in its order
	// top is the reduction that the term is, if it can be accumulated into the
	// result directly; else nil.
	top *ir.Reduce
	// body is what accumulates: that of top, or the term's value.
	body ir.Expr
	// inner are the reductions that body refers to, all those of value.
	inner, all []*ir.Reduce
}

// maxShared is the number of terms up to which pairs are tried in one nest: their number
// grows with its square.
const maxShared = 8

// tryTerms tries accumulating the terms of the right side one after the other.
func (s *scheduler) tryTerms(free []*ir.Index) {
	f, values := chainOf(s.value)
	if len(values) < 2 || len(free) == 0 || !s.covers() || ir.TypeOf(s.value) != s.lhs.Tensor.DType {
		return
	}
	var list []*summand
	tops := 0
	for _, v := range values {
		t := s.summand(v, f, free)
		if t.top != nil {
			tops++
		}
		list = append(list, t)
	}
	if tops == 0 {
		return
	}
	body := &ir.Sequence{}
	done := make([]bool, len(list))
	for i, t := range list {
		if done[i] {
			continue
		}
		best := s.bestTerm(t, f)
		for j := i + 1; j < len(list) && len(list) <= maxShared; j++ {
			if done[j] {
				continue
			}
			both := s.bestShared(t, list[j], f)
			if both != nil && both.cost <= best.cost+s.bestTerm(list[j], f).cost {
				best, done[j] = both, true
				break
			}
		}
		best.restore()
		body.Stmts = append(body.Stmts, best.body)
	}
	s.consider(&candidate{body: body, order: free, accumulate: true, fold: f})
}

// chainOf lists the arguments of a repeated function, as written, and the fold that it
// is.
func chainOf(e ir.Expr) (ir.Fold, []ir.Expr) {
	first, ok := e.(*ir.Call)
	if !ok {
		return 0, nil
	}
	f, ok := chains[first.Fn]
	if !ok {
		return 0, nil
	}
	var values []ir.Expr
	for {
		c, ok := e.(*ir.Call)
		if !ok || c.Fn != first.Fn || c.Typ != first.Typ {
			break
		}
		values = append(values, c.Args[1])
		e = c.Args[0]
	}
	values = append(values, e)
	slices.Reverse(values)
	return f, values
}

// summand gives a term index variables of its own.
func (s *scheduler) summand(e ir.Expr, f ir.Fold, free []*ir.Index) *summand {
	n := newRenaming(s.builder)
	t := &summand{free: n.bind(free)}
	for _, v := range t.free {
		// Terms never see each other's variables: names may be used again.
		delete(s.builder.names, v.Name)
	}
	t.lhs = n.access(s.lhs)
	t.value = s.copied(n, e)
	t.body = t.value
	if ref, ok := t.value.(*ir.TempRef); ok {
		if r := ref.Temp.Reduce; r.Fold == f && r.In == nil && r.Typ == s.lhs.Tensor.DType {
			t.top, t.body = r, r.Body
		}
	}
	t.inner, t.all = s.inOrder(refersTo(t.body, nil)), s.inOrder(refersTo(t.value, nil))
	for _, r := range t.all {
		if r.Order == nil {
			r.Order = r.Vars
		}
	}
	return t
}

// copied renames an expression; the copies of reductions are not the statement's.
func (s *scheduler) copied(n *renaming, e ir.Expr) ir.Expr {
	before := len(s.builder.reduces)
	e = n.expr(e)
	s.builder.reduces = s.builder.reduces[:before:before]
	return e
}

// nested is a nest of loops with its cost, and the orders of its reductions' loops.
type nested struct {
	body   ir.Stmt
	cost   float64
	orders map[*ir.Reduce][]*ir.Index
}

// restore sets the orders that the nest was made with.
func (n *nested) restore() {
	for r, order := range n.orders {
		r.Order = order
	}
}

// cheaper is a nest of the given body if it costs less than best; factor weighs it.
func (s *scheduler) cheaper(best *nested, body ir.Stmt, factor float64, reduces []*ir.Reduce) *nested {
	s.tried++
	cost, _ := s.assess(body, depths{}, readsOf(body))
	cost *= factor * s.weigh(body)
	if best != nil && best.cost <= cost {
		return best
	}
	best = &nested{body: body, cost: cost, orders: map[*ir.Reduce][]*ir.Index{}}
	for _, r := range reduces {
		best.orders[r] = r.Order
	}
	return best
}

// bestTerm is the cheapest way to accumulate a term: its reduction inside the
// result's loops, or all its loops in any order around an accumulation into memory.
func (s *scheduler) bestTerm(t *summand, f ir.Fold) *nested {
	var best *nested
	s.tried = 0
	s.eachOrder(t.free, readsIn(t.value), func(order []*ir.Index) {
		order = slices.Clone(order)
		s.eachOrders(t.all, func() {
			best = s.cheaper(best, nest(order, nil, t.all, &ir.Assign{LHS: t.lhs, Value: t.value}), 1, t.all)
		})
	})
	if t.top == nil {
		return best
	}
	s.tried = 0
	joint := slices.Concat(t.free, t.top.Vars)
	scatter := func(order []*ir.Index) {
		order = slices.Clone(order)
		t.top.Order = t.top.Vars
		s.eachOrders(t.inner, func() {
			best = s.cheaper(best, nest(order, nil, t.inner, &ir.Assign{LHS: t.lhs, Value: t.body}), cost.ScatterFactor, t.all)
		})
	}
	s.eachOrder(joint, nil, scatter)
	for _, a := range readsIn(t.body) {
		scatter(storageOrder(a, joint))
	}
	return best
}

// eachOrders calls f with every combination of orders of reductions' loops, up to a
// limit.
func (s *scheduler) eachOrders(list []*ir.Reduce, f func()) {
	if s.tried > s.most {
		return
	}
	if len(list) == 0 {
		f()
		return
	}
	r := list[0]
	limit := 24
	if len(r.Vars) > 4 {
		limit = 1
	}
	permutations(r.Vars, limit, func(order []*ir.Index) {
		r.Order = slices.Clone(order)
		s.eachOrders(list[1:], f)
	})
}

// bestShared is the cheapest nest for two terms at once, nil if they do not read the
// same sparse operand along all their loops. Where it stores nothing, neither term
// may have anything to add.
func (s *scheduler) bestShared(t, u *summand, f ir.Fold) *nested {
	if t.top == nil || u.top == nil || len(t.inner)+len(u.inner) > 0 {
		return nil
	}
	joint := slices.Concat(t.free, t.top.Vars)
	for _, a := range readsIn(t.body) {
		for _, b := range readsIn(u.body) {
			to := s.along(a, b, joint, slices.Concat(u.free, u.top.Vars))
			if to == nil || !s.absentWithout(f, t.body, a) || !s.absentWithout(f, u.body, b) {
				continue
			}
			n := newRenaming(s.builder)
			n.to = to
			lhs := n.access(u.lhs)
			n.unify(u.body, readsIn(t.body))
			second := &ir.Assign{LHS: lhs, Value: s.copied(n, u.body)}
			return s.bestTogether(t, joint, second)
		}
	}
	return nil
}

// along maps the variables of one term to those of another such that two accesses
// become one; nil if they cannot.
func (s *scheduler) along(a, b *ir.Access, vars, others []*ir.Index) map[*ir.Index]*ir.Index {
	if a.Tensor != b.Tensor || a.Tensor.Format.IsDense() || len(vars) != len(others) {
		return nil
	}
	to := map[*ir.Index]*ir.Index{}
	var taken []*ir.Index
	for axis, x := range a.Indices {
		v, w := x.Plain(), b.Indices[axis].Plain()
		if v == nil || w == nil || slices.Contains(taken, v) || to[w] != nil || !slices.Contains(vars, v) || !slices.Contains(others, w) {
			return nil
		}
		to[w], taken = v, append(taken, v)
	}
	for _, w := range others {
		if to[w] != nil {
			continue
		}
		// Copies of one variable share its extent.
		at := slices.IndexFunc(vars, func(v *ir.Index) bool { return v.ID == w.ID && !slices.Contains(taken, v) })
		if at < 0 {
			return nil
		}
		to[w], taken = vars[at], append(taken, vars[at])
	}
	return to
}

// absentWithout reports whether e is the fold's identity where an operand stores
// nothing, whatever the others are.
func (s *scheduler) absentWithout(f ir.Fold, e ir.Expr, a *ir.Access) bool {
	if !a.Tensor.FillKnown {
		return false
	}
	without := s.alg.Stored(e, maskLeaves{a})
	return without.Set.IsNone() && f.IsNeutral(without.Background)
}

// unify makes the renaming turn accesses of e into the given ones where those read the
// same element.
func (n *renaming) unify(e ir.Expr, known []*ir.Access) {
	for _, b := range readsIn(e) {
		c := n.access(b)
		for _, a := range known {
			if sameElement(a, c) {
				n.accesses[b] = a
			}
		}
	}
}

// sameElement reports whether two accesses are written alike.
func sameElement(a, b *ir.Access) bool {
	if a.Tensor != b.Tensor {
		return false
	}
	for axis, x := range a.Indices {
		y := b.Indices[axis]
		if x.Gather != nil || y.Gather != nil || x.Const != y.Const || x.Literal != y.Literal || x.Slice != y.Slice || x.Open != y.Open || !slices.Equal(x.Terms, y.Terms) {
			return false
		}
	}
	return true
}

// bestTogether is the cheapest nest of a term with a second accumulation at its
// leaf.
func (s *scheduler) bestTogether(t *summand, joint []*ir.Index, second *ir.Assign) *nested {
	var best *nested
	top := []*ir.Reduce{t.top}
	t.top.Order = t.top.Vars
	permutations(joint, cost.MostOrders, func(order []*ir.Index) {
		leaf := &ir.Sequence{Stmts: []ir.Stmt{&ir.Assign{LHS: t.lhs, Value: t.body}, second}}
		best = s.cheaper(best, foralls(order, leaf), cost.ScatterFactor, top)
	})
	permutations(t.free, 24, func(free []*ir.Index) {
		free = slices.Clone(free)
		permutations(t.top.Vars, 24, func(order []*ir.Index) {
			t.top.Order = slices.Clone(order)
			leaf := &ir.Sequence{Stmts: []ir.Stmt{&ir.Assign{Temp: t.top.Temp, Value: t.body}, second}}
			best = s.cheaper(best, foralls(free, &ir.Where{
				Temp: t.top.Temp, Producer: foralls(order, leaf), Consumer: &ir.Assign{LHS: t.lhs, Value: t.value},
			}), 1, top)
		})
	})
	return best
}

// foralls runs a statement inside loops.
func foralls(order []*ir.Index, st ir.Stmt) ir.Stmt {
	for i := len(order) - 1; i >= 0; i-- {
		st = &ir.Forall{Index: order[i], Body: st}
	}
	return st
}

// readsIn lists the accesses of an expression, each once, without those of
// reductions that it refers to.
func readsIn(e ir.Expr) []*ir.Access {
	return readsOf(&ir.Assign{Value: e})
}
