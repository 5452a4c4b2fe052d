package plan

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/ir"
)

// The orders of loops that the scheduler tries: all of them where they are few and the statement is small, else those in which
// something is stored.

// size is the number of nodes of a statement's expressions. Accesses of many indices count for more: each is looked
// at in each of as many loops.
func (nf *normalForm) size() int {
	n := 0
	count := func(x ir.Expr) {
		n++
		if a, ok := x.(*ir.Access); ok && len(a.Indices) > 8 {
			n += len(a.Indices) * len(a.Indices) / 2
		}
	}
	ir.Walk(nf.value, count)
	for _, r := range nf.reduces {
		ir.Walk(r.Body, count)
	}
	return n
}

// loops is the number of loops of a statement, 1 where there is none.
func (nf *normalForm) loops() int {
	n := 0
	for _, x := range nf.lhs.Indices {
		n += len(x.Vars(nil))
	}
	for _, r := range nf.reduces {
		n += len(r.Vars)
	}
	return max(1, n)
}

// eachOrder calls f with every order of the loops over vars; where they are too many, or the statement is large, with
// those in which an access of reads is stored, which are the ones worth trying.
func (s *scheduler) eachOrder(vars []*ir.Index, reads []*ir.Access, f func([]*ir.Index)) {
	if ordersOf(vars, cost.MostOrders) <= s.most {
		permutations(vars, cost.MostOrders, f)
		return
	}
	for _, order := range s.storageOrders(vars, reads) {
		f(order)
	}
	if order := s.wishes.asked(vars); order != nil {
		f(order)
	}
}

// storageOrders lists vars as they stand, and in the orders in which accesses are stored, each order once and no more
// than are tried. An access of one variable is stored in any order.
func (s *scheduler) storageOrders(vars []*ir.Index, reads []*ir.Access) [][]*ir.Index {
	list := [][]*ir.Index{slices.Clone(vars)}
	for _, a := range reads {
		if len(list) == s.most {
			break
		}
		if len(a.Indices) < 2 {
			continue
		}
		order := storageOrder(a, vars)
		if !slices.ContainsFunc(list, func(x []*ir.Index) bool { return slices.Equal(x, order) }) {
			list = append(list, order)
		}
	}
	return list
}

// ordersOf is how many orders variables have, or limit if it is less.
func ordersOf(vars []*ir.Index, limit int) int {
	n := 1
	for k := 2; k <= len(vars) && n < limit; k++ {
		n *= k
	}
	return min(n, limit)
}

// storageOrder lists vars with those of a first, in a's level order.
func storageOrder(a *ir.Access, vars []*ir.Index) []*ir.Index {
	var order []*ir.Index
	for _, axis := range a.Tensor.Format.Order() {
		for _, v := range a.Indices[axis].Vars(nil) {
			if slices.Contains(vars, v) {
				order = ir.AddIndex(order, v)
			}
		}
	}
	for _, v := range vars {
		order = ir.AddIndex(order, v)
	}
	return order
}

// eachReduceOrder calls f, which returns what a candidate costs, with every combination of orders of the reductions' loops but
// skip's. Where there are too many, orders are chosen for one reduction after the other, with f of the first candidate, and stay.
func (s *scheduler) eachReduceOrder(skip *ir.Reduce, f func() float64) {
	combinations := 1
	for _, r := range s.reduces {
		if r != skip && combinations < s.most {
			combinations *= ordersOf(r.Vars, 24)
		}
	}
	switch {
	case combinations <= max(s.most/4, cost.LeastTrials):
		s.eachCombination(0, skip, f)
	case s.best == nil:
		s.eachInTurn(skip, f)
	default:
		for i, r := range s.reduces {
			if r != skip {
				r.Order = s.best.orders[i]
			}
		}
		f()
		if s.wishes.asked(nil) != nil {
			for _, r := range s.reduces {
				if r != skip {
					r.Order = s.wishes.asked(r.Vars)
				}
			}
			f()
		}
	}
}

// eachCombination is eachReduceOrder for all reductions from the i-th on.
func (s *scheduler) eachCombination(i int, skip *ir.Reduce, f func() float64) {
	if s.tried > s.most && s.best != nil {
		return
	}
	if i == len(s.reduces) {
		f()
		return
	}
	r := s.reduces[i]
	if r == skip {
		s.eachCombination(i+1, skip, f)
		return
	}
	s.ordersOfReduce(r, func(order []*ir.Index) {
		r.Order = order
		s.eachCombination(i+1, skip, f)
	})
}

// eachInTurn tries the orders of one reduction after the other, and keeps the cheapest of each.
func (s *scheduler) eachInTurn(skip *ir.Reduce, f func() float64) {
	for _, r := range s.reduces {
		r.Order = r.Vars
	}
	cost := f()
	for _, r := range s.reduces {
		if r == skip || len(r.Vars) < 2 {
			continue
		}
		best := r.Order
		s.ordersOfReduce(r, func(order []*ir.Index) {
			if slices.Equal(order, r.Vars) {
				return
			}
			r.Order = order
			if c := f(); c < cost {
				cost, best = c, order
			}
		})
		r.Order = best
	}
}

// ordersOfReduce calls f with the orders of a reduction's loops that are worth trying.
func (s *scheduler) ordersOfReduce(r *ir.Reduce, f func([]*ir.Index)) {
	if len(r.Vars) > 4 {
		for _, order := range s.storageOrders(r.Vars, s.accesses) {
			f(order)
		}
		if order := s.wishes.asked(r.Vars); order != nil {
			f(order)
		}
		return
	}
	permutations(r.Vars, 24, func(order []*ir.Index) { f(slices.Clone(order)) })
}
